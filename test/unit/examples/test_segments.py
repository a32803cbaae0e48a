"""The cookbook's streams within a stream: linked and proved, without a word."""

from pathlib import Path

import pipelink
from pipelink.testing.bench import compile_object

SOURCE = Path(__file__).resolve().parents[3] / "examples" / "nested_streams" / "segments.cu"


def test_nothing_is_taken_for_granted() -> None:
    item = compile_object(SOURCE.read_text(), str(SOURCE), "sm_90a")
    kernel = pipelink.Kernel("segment_sums")
    send, add, write = (kernel.add(item, name) for name in ("segments", "segment_sum", "sum_writer"))
    kernel.connect(send.items, add.items)
    kernel.connect(add.sums, write.sums)
    linked = kernel.link().targets[0]
    assert linked.warnings == ()
    assert linked.audit.ok


def test_the_page_shows_the_component_as_it_is() -> None:
    page = (SOURCE.parents[2] / "docs" / "cookbook.md").read_text()
    shown = page[page.index("PL_COMPONENT(acme::segment_sum)") : page.index("- `PL_TYPE` names")]
    source = SOURCE.read_text()
    written = source[source.index("PL_COMPONENT(acme::segment_sum)") : source.index("PL_COMPONENT(acme::sum_writer)")]

    def plain(text: str) -> list[str]:
        lines = [line.partition("//")[0].strip() for line in text.splitlines()]
        return [line for line in lines if line and line != "```"]

    assert plain(shown) == plain(written)
