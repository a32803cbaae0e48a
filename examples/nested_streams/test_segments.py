"""Each component alone, on a GPU: ``pytest examples/nested_streams``."""

from pathlib import Path

import numpy as np

from pipelink.testing import Bench

SOURCE = Path(__file__).with_name("segments.cu")
ITEM = np.dtype([("what", "i4"), ("number", "f4")])
VALUE, CLOSE = 0, 1
VALUES = np.array([1, 2, 3, 4, 5], np.float32)
#: Of three segments, the second without a value.
ITEMS = np.array([(VALUE, 1), (VALUE, 2), (CLOSE, 0), (CLOSE, 0), (VALUE, 3), (VALUE, 4), (VALUE, 5), (CLOSE, 0)], ITEM)


def test_segments_are_sent_value_by_value() -> None:
    lengths = np.array([2, 0, 3], np.int32)
    got = Bench(SOURCE, "segments").link().run(values=VALUES, lengths=lengths, items=20)
    assert got["items"].reshape(-1).view(ITEM).tolist() == ITEMS.tolist()


def test_each_segment_is_added_up() -> None:
    bench = Bench(SOURCE, "segment_sum").link()
    assert bench.run(items=ITEMS)["sums"].tolist() == [3, 0, 12]
    assert bench.run(items=ITEMS[:0])["sums"].tolist() == []


def test_sums_are_written_in_order() -> None:
    got = Bench(SOURCE, "sum_writer").link().run(sums=VALUES, out=np.zeros(6, np.float32))
    assert got["out"].tolist() == [1, 2, 3, 4, 5, 0]
