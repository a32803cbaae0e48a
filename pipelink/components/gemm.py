"""The GEMMs that the component library makes: a mainloop, an epilogue and a scheduler become a composed kernel.

``MAINLOOPS`` and ``EPILOGUES`` are the tables; a mainloop is one entry, whatever it consists of.  Tests, benchmarks and
``pipelink.torch`` compose from here, so that each means the same kernel by the same name.  :class:`Objects` compiles
sources with ``pl-cc`` when they are first asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from pipelink.components import FOLDER, SOURCES

if TYPE_CHECKING:
    from pipelink.api import Instance, Kernel, Reference


@dataclass
class Objects:
    """Objects of component sources, by the source's name; each is compiled once into ``folder``.  ``sources`` are the
    folders that are searched, ``arch`` the architecture of what is not of this library."""

    folder: Path
    sources: Sequence[Path] = (FOLDER,)
    arch: str = "sm_90a"
    made: dict[str, Path] = field(default_factory=dict[str, Path])

    def __getitem__(self, name: str) -> Path:
        if name not in self.made:
            from pipelink.tools import pl_cc

            source = next(folder / f"{name}.cu" for folder in self.sources if (folder / f"{name}.cu").is_file())
            output = self.folder / f"{name}.o"
            archs = [f"--arch={arch}" for arch in SOURCES.get(name, (self.arch,))]
            options = ["--include-cutlass"] if "<cute/" in source.read_text() else []
            options += [f"-I{FOLDER}"] if source.parent != FOLDER else []
            if not output.exists() and pl_cc.main([str(source), "-o", str(output), *archs, *options]):
                raise RuntimeError(f"pl-cc failed on {source}")
            self.made[name] = output
        return self.made[name]


@dataclass
class Composer:
    """A kernel under composition, and where its objects come from."""

    kernel: Kernel
    objects: Objects

    def add(self, source: str, component: str | None = None, name: str | None = None, **renames: str) -> Instance:
        return self.kernel.add(self.objects[source], component, name, **renames)


@dataclass(frozen=True)
class Ports:
    """What a mainloop leaves to connect: each of ``work`` to the scheduler, ``store`` to the epilogue."""

    work: tuple[Reference, ...]
    store: Reference


@dataclass(frozen=True)
class Mainloop:
    """A mainloop with the loader that it needs.

    ``build`` adds both to the kernel; its second argument says whether B's columns come gated.  ``tile`` is rows,
    accumulator columns and the K of one stage; ``element`` is that of A and B.  ``target`` is the architecture that the
    composition is linked for unless another is asked for."""

    build: Callable[[Composer, bool], Ports]
    tile: tuple[int, int, int]
    element: str = "bf16"
    target: str = "sm_90a"


@dataclass(frozen=True)
class Epilogue:
    """``gated`` epilogues take the columns of a gate and of what it gates side by side, and write half of them.
    ``element`` is that of the output, ``source`` the component's, where it does not have its name."""

    gated: bool = False
    element: str = "bf16"
    source: str = ""


def wgmma(shape: str, mainloop: tuple[str, str] | None = None, *, cluster: bool = False) -> Mainloop:
    """TMA loader and wgmma mainloop of one tile shape; ``mainloop`` is (source, component) of another mainloop.
    ``cluster``: two CTAs share each tile of B, which takes scheduler ``paired_tiles``."""
    source, component = mainloop or ("wgmma_mainloop", f"wgmma_mainloop_{shape}")

    def build(c: Composer, gated: bool) -> Ports:
        load = c.add("tma_loader", f"tma_loader_{'gated_' if gated else ''}{shape}")
        mma = c.add(source, component)
        if cluster:
            c.kernel.connect(load.ab, mma.ab, transfer="cluster", shared=[1])
        else:
            c.kernel.connect(load.ab, mma.ab)
        return Ports((load.work, mma.work), mma.store)

    m, n, k = map(int, shape.split("x"))
    return Mainloop(build, (m, n, k))


def _tma(shape: str, loader: str, mainloop: str, *, source: str = "", element: str = "bf16", **more: str) -> Mainloop:
    """A TMA loader and the mainloop that reads its ring.  Their components are ``loader`` and ``mainloop`` with the
    shape behind, and ``gated_`` before that; the loader's is in ``source`` where that has another name.  A mainloop
    that need not know of gates is given as ``NAME*``."""

    def build(c: Composer, gated: bool) -> Ports:
        name, mark = mainloop.rstrip("*"), "gated_" if gated else ""
        load = c.add(source or loader, f"{loader}_{mark}{shape}")
        mma = c.add(name, f"{name}_{'' if mainloop.endswith('*') else mark}{shape}")
        c.kernel.connect(load.ab, mma.ab)
        return Ports((load.work, mma.work), mma.store)

    m, n, k = map(int, shape.split("x"))
    return Mainloop(build, (m, n, k), element, **more)


def _tcgen05(shape: str, *, pair: bool = False) -> Mainloop:
    """TMA loader, the thread that multiplies, and the warps that read its accumulators.  ``pair``: two CTAs
    multiply together, which takes scheduler ``paired_tiles``."""

    def build(c: Composer, gated: bool) -> Ports:
        source, mark = "pair_loader" if pair else "tma_loader", "gated_" if gated else ""
        load = c.add(source, f"{source}_{mark}{shape}")
        mma = c.add("sm100_mainloop", f"sm100_{'pair_' if pair else ''}mainloop_{shape}")
        read = c.add("tmem_reader", f"tmem_{'pair_' if pair else ''}reader_{shape.rpartition('x')[0]}")
        c.kernel.connect(load.ab, mma.ab)
        c.kernel.connect(mma.acc, read.acc)
        return Ports((load.work, mma.work, read.work), read.store)

    m, n, k = map(int, shape.split("x"))
    return Mainloop(build, (m, n, k), target="sm_100a")


def _cp_async(c: Composer, gated: bool) -> Ports:
    mma = c.add("cp_async_mainloop", "cp_async_mainloop_gated" if gated else "cp_async_mainloop")
    return Ports((mma.work,), mma.store)


MAINLOOPS: dict[str, Mainloop] = {
    "wgmma_128x256x64": wgmma("128x256x64"),
    "wgmma_256x128x64": wgmma("256x128x64"),
    "wgmma_128x192x64": wgmma("128x192x64"),
    "wgmma_128x128x64": wgmma("128x128x64"),
    "wgmma_128x64x64": wgmma("128x64x64"),
    "wgmma_64x256x64": wgmma("64x256x64"),
    "cluster_128x256x64": wgmma("128x256x64", cluster=True),
    "cluster_128x128x64": wgmma("128x128x64", cluster=True),
    "fp8_128x256x128": _tma("128x256x128", "fp8_loader", "fp8_mainloop*", element="e4m3"),
    "fp8_128x128x128": _tma("128x128x128", "fp8_loader", "fp8_mainloop*", element="e4m3"),
    "fp8_block_128x128x128": _tma(
        "128x128x128", "fp8_block_loader", "fp8_block_mainloop", source="fp8_loader", element="e4m3"
    ),
    "sm120_128x128x64": _tma("128x128x64", "sm120_loader", "sm120_mainloop*", target="sm_120a"),
    "tcgen05_128x256x64": _tcgen05("128x256x64"),
    "tcgen05_128x128x64": _tcgen05("128x128x64"),
    "tcgen05_pair_256x256x64": _tcgen05("256x256x64", pair=True),
    "cp_async": Mainloop(_cp_async, (128, 128, 32), target="sm_80"),
}
_BF16 = {
    "store": Epilogue(),
    "bias_relu": Epilogue(),
    "gelu": Epilogue(),
    "residual_add": Epilogue(),
    "swiglu": Epilogue(gated=True),
    "geglu": Epilogue(gated=True),
}
EPILOGUES: dict[str, Epilogue] = {
    **_BF16,
    **{f"{name}_f16": Epilogue(epilogue.gated, "f16", "epilogues_f16") for name, epilogue in _BF16.items()},
    "store_tma": Epilogue(source="epilogues_tma"),
    "store_tma_f16": Epilogue(element="f16", source="epilogues_tma"),
    "swiglu_tma": Epilogue(gated=True, source="epilogues_tma"),
    "swiglu_tma_f16": Epilogue(gated=True, element="f16", source="epilogues_tma"),
}
SCHEDULERS = ("static_tiles", "grouped_tiles")


def add_gemm(c: Composer, mainloop: Mainloop, epilogue: str, scheduler: str) -> None:
    """Add one GEMM to a kernel and connect it."""
    finish, tiles = c.add(EPILOGUES[epilogue].source or epilogue, epilogue), c.add(scheduler)
    ports = mainloop.build(c, EPILOGUES[epilogue].gated)
    for work in ports.work:
        c.kernel.connect(work, tiles.next)
    c.kernel.connect(ports.store, finish.store)
