"""The compositions that tests link: every shipped GEMM, and small kernels that use every transfer.

``COMPOSITIONS`` is the table; :func:`compose` builds one as a :class:`pipelink.Kernel` from objects that
:func:`objects` compiles with ``pl-cc`` (once per process and folder).  Used by the tests that compare machine code with
the monolith's, and by the ones that run on a GPU.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

import pipelink
from pipelink.api import Instance, Kernel
from pipelink.tools import pl_cc

ROOT = Path(__file__).resolve().parent.parent
COMPONENTS = ROOT / "pipelink" / "components"
TEST_COMPONENTS = ROOT / "test" / "components"

EPILOGUES = ("store", "bias_relu", "gelu", "residual_add")
SCHEDULERS = ("static_tiles", "grouped_tiles")
MAINLOOPS = ("wgmma_128x256x64", "wgmma_128x128x64", "cp_async")

Add = Callable[..., Instance]


@dataclass(frozen=True)
class Composition:
    """``archs`` gives the architecture that each source is compiled for; ``build`` adds instances and connections."""

    name: str
    archs: dict[str, str]  # source file -> architecture
    build: Callable[[Kernel, Callable[..., Instance]], None]
    folder: Path = COMPONENTS
    target: str = "sm_90a"


def _gemm(epilogue: str, scheduler: str, mainloop: str) -> Composition:
    archs = {f"{epilogue}.cu": "sm_80", f"{scheduler}.cu": "sm_80"}
    if mainloop == "cp_async":
        archs["cp_async_mainloop.cu"] = "sm_80"
    else:
        archs |= {"tma_loader.cu": "sm_90a", "wgmma_mainloop.cu": "sm_90a"}

    def build(kernel: Kernel, add: Callable[..., Instance]) -> None:
        schedule = add(f"{scheduler}.cu", name="schedule")
        finish = add(f"{epilogue}.cu", name="epilogue")
        if mainloop == "cp_async":
            mma = add("cp_async_mainloop.cu", name="mma")
        else:
            tile = mainloop.removeprefix("wgmma_")
            load = add("tma_loader.cu", f"tma_loader_{tile}", name="load")
            mma = add("wgmma_mainloop.cu", f"wgmma_mainloop_{tile}", name="mma")
            kernel.connect(load.ab, mma.ab)
            kernel.connect(load.work, schedule.next)
        kernel.connect(mma.work, schedule.next)
        kernel.connect(mma.store, finish.store)

    return Composition(f"gemm_{mainloop}_{epilogue}_{scheduler}", archs, build)


GEMMS = tuple(_gemm(e, s, m) for m in MAINLOOPS for e in EPILOGUES for s in SCHEDULERS)

_STREAMS = {"streams.cu": "sm_90"}


def _streams(name: str) -> Callable[[Callable[[Kernel, Callable[..., Instance]], None]], Composition]:
    def make(build: Callable[[Kernel, Callable[..., Instance]], None]) -> Composition:
        return Composition(name, _STREAMS, build, TEST_COMPONENTS)

    return make


@_streams("ring_one_consumer")
def ring_one_consumer(kernel: Kernel, add: Add) -> None:
    kernel.connect(add("streams.cu", "pages").x, add("streams.cu", "column_sum").x)
    kernel.grid(1, 1, 1)


@_streams("ring_two_consumers")
def ring_two_consumers(kernel: Kernel, add: Add) -> None:
    pages = add("streams.cu", "pages")
    kernel.connect(pages.x, add("streams.cu", "column_sum").x)
    kernel.connect(pages.x, add("streams.cu", "column_max").x)
    kernel.grid(1, 1, 1)


@_streams("two_instances")
def two_instances(kernel: Kernel, add: Add) -> None:
    """One object twice: two rings, two barriers, two scratch buffers."""
    for which in "ab":
        pages = add("streams.cu", "pages", name=f"pages_{which}", input=f"input_{which}")
        maxima = add("streams.cu", "column_max", name=f"max_{which}", maximum=f"maximum_{which}")
        kernel.connect(pages.x, maxima.x)
    kernel.grid(1, 1, 1)


@_streams("ending_stream")
def ending_stream(kernel: Kernel, add: Add) -> None:
    kernel.connect(add("streams.cu", "items").work, add("streams.cu", "weigh").work)


@_streams("conversion")
def conversion(kernel: Kernel, add: Add) -> None:
    kernel.connect(add("streams.cu", "rows").x, add("streams.cu", "unswizzle").x)
    kernel.grid(1, 1, 1)


@_streams("state")
def state(kernel: Kernel, add: Add) -> None:
    series, mean = add("streams.cu", "series"), add("streams.cu", "running_mean")
    kernel.connect(series.reset, mean.reset)
    kernel.connect(series.add, mean.add)
    kernel.grid(1, 1, 1)


@_streams("tokens")
def tokens(kernel: Kernel, add: Add) -> None:
    first, second = add("streams.cu", "starter", name="first"), add("streams.cu", "player", name="second")
    kernel.connect(first.next, second.turn)
    kernel.connect(second.next, first.turn)
    kernel.tensor("order_first", "i32", ["rounds"], "write")
    kernel.tensor("order_second", "i32", ["rounds"], "write")
    kernel.tensor("counter", "i32", [1], "readwrite")
    for player, order in ((first, "order_first"), (second, "order_second")):
        kernel.bind(player.order, order)
        kernel.bind(player.counter, "counter")
    kernel.grid(1, 1, 1)


@_streams("bound_value")
def bound_value(kernel: Kernel, add: Add) -> None:
    """A trip count that is known at link time."""
    pages, sums = add("streams.cu", "pages"), add("streams.cu", "column_sum")
    kernel.connect(pages.x, sums.x)
    kernel.bind(pages.pages, 6)
    kernel.bind(sums.pages, 6)
    kernel.grid(1, 1, 1)


SMALL = (
    ring_one_consumer, ring_two_consumers, two_instances, ending_stream, conversion, state, tokens, bound_value,
)  # fmt: skip
COMPOSITIONS = {composition.name: composition for composition in (*GEMMS, *SMALL)}


def objects(folder: Path, sources: Iterable[tuple[Path, str]]) -> dict[str, Path]:
    """Compile sources with pl-cc into ``folder``; what is there already is kept."""
    made: dict[str, Path] = {}
    for source, arch in sources:
        target = folder / f"{source.stem}.{arch}.o"
        if not target.exists() and pl_cc.main([str(source), "-o", str(target), "--arch", arch]):
            raise RuntimeError(f"pl-cc failed on {source}")
        made[source.name] = target
    return made


def compose(composition: Composition, folder: Path) -> Kernel:
    """The kernel of a composition; objects are made in ``folder``."""
    made = objects(folder, ((composition.folder / name, arch) for name, arch in composition.archs.items()))
    kernel = pipelink.Kernel(composition.name, target=composition.target)

    def add(source: str, component: str | None = None, name: str | None = None, **renames: str) -> Instance:
        return kernel.add(made[source], component, name, **renames)

    composition.build(kernel, add)
    return kernel
