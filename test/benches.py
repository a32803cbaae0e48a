"""The components that are tested alone: what :class:`pipelink.testing.Bench` is given for each, by the bench's name."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pipelink import testing
from test.compositions import Objects

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"
EXAMPLE = EXAMPLES / "component_test" / "doubler.cu"
SEGMENTS = EXAMPLES / "nested_streams" / "segments.cu"


@dataclass(frozen=True)
class Alone:
    """A component of ``test/components`` or of the library; ``source`` is the file's stem, or a path."""

    source: str | Path
    component: str
    settings: dict[str, Any] = field(default_factory=dict[str, Any])

    def bench(self, objects: Objects) -> testing.Bench:
        """The bench, to be linked."""
        source = objects[self.source] if isinstance(self.source, str) else self.source
        return testing.Bench(source, self.component, **self.settings)


BENCHES: dict[str, Alone] = {
    "doubler": Alone(EXAMPLE, "doubler"),
    "doubler_threads": Alone(EXAMPLE, "doubler", {"feed": "threads"}),
    **{name: Alone(SEGMENTS, name) for name in ("segments", "segment_sum", "sum_writer")},
    "running_mean": Alone("streams", "running_mean", {"threads": 64}),
    "series": Alone("streams", "series"),
    "weigh": Alone("streams", "weigh"),
    "items": Alone("streams", "items"),
    "column_max": Alone("streams", "column_max"),
    "swizzled_reader": Alone("rings", "swizzled_reader", {"feed": "threads"}),
    "swizzled_writer": Alone("rings", "swizzled_writer"),
    "turn": Alone("rings", "turn"),
    "weight_stream": Alone("matvec", "weight_stream"),
    "mainloop": Alone("wgmma_mainloop", "wgmma_mainloop_128x128x64"),
    "bias_relu": Alone("bias_relu", "bias_relu"),
    "static_tiles": Alone("static_tiles", "static_tiles"),
    "staged_store": Alone("staged_store", "staged_store", {"threads": 256}),
}
