"""GEMMs: mainloop × epilogue × scheduler × architecture, of the component library and of examples/cute_mainloop.

Adding a configuration is one entry of ``CONFIGURATIONS``.  The mainloop's entry in :mod:`pipelink.components.gemm` (or
here, where it is no part of the library) says tile, element type and the architecture that is linked for unless
``arch`` names another.  Data only; operands, references and peers are in gemm_problem.py, which needs torch.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.families.base import Configuration, Family, Kind, Problem, Shape
from pipelink import components
from pipelink.components import gemm
from pipelink.components.gemm import Mainloop, Objects, wgmma

if TYPE_CHECKING:
    from pipelink import Kernel

ROOT = Path(__file__).resolve().parents[2]
CUTE = ROOT / "examples" / "cute_mainloop"

#: Mainloops of the library and of the examples.
MAINLOOPS: dict[str, Mainloop] = {
    **gemm.MAINLOOPS,
    "cute_128x256x64": wgmma("128x256x64", ("mainloop", "cute_mainloop")),
}

# Shapes are M, N, K; N is the output's width, of which a gated weight has twice as many rows.
#: Multiplications of language models: M tokens by (K, N) of 8B, 70B and 1B models.
MODELS: tuple[Shape, ...] = tuple(
    (m, n, k) for k, n in ((4096, 14336), (8192, 28672), (2048, 8192)) for m in (128, 512, 2048, 4096, 8192)
)
SMALL: tuple[Shape, ...] = tuple(shape for shape in MODELS if shape[0] < 2048)
LARGE: tuple[Shape, ...] = tuple(shape for shape in MODELS if shape[0] >= 2048)
#: One shape, where only the comparison with the monolith is asked for.
ONE: tuple[Shape, ...] = ((2048, 4096, 4096),)
AUTOTUNED: tuple[Shape, ...] = ((2048, 14336, 4096), (2048, 28672, 8192), (2048, 8192, 2048))
_NEEDS = {"tcgen05": ("tensor", "tensor_memory", "tma"), "wgmma": ("tensor", "tma"), "cp": ("tensor", "cp_async")}


@dataclass(frozen=True)
class Gemm(Configuration):
    """One GEMM.  ``arch`` is the architecture that is linked for, where it is not the mainloop's own."""

    mainloop: str
    epilogue: str
    scheduler: str = "grouped_tiles"
    arch: str = ""
    timed: tuple[Shape, ...] = ONE
    difference: str = ""

    @property
    def parts(self) -> Mainloop:
        return MAINLOOPS[self.mainloop]

    @property
    def target(self) -> str:
        return self.arch or self.parts.target

    @cached_property
    def name(self) -> str:
        """``MAINLOOP-EPILOGUE-SCHEDULER-ARCH``."""
        return f"{self.mainloop}-{self.epilogue}-{self.scheduler}-{self.target}"

    @property
    def title(self) -> str:
        return f"`{self.mainloop}`, `{self.epilogue}`, `{self.scheduler}`"

    @property
    def variant(self) -> str:
        return f"`{self.mainloop}`"

    @property
    def shapes(self) -> tuple[Shape, ...]:
        return self.timed

    @property
    def autotuned(self) -> tuple[Shape, ...]:
        fits = self.gated and self.parts.element != "e4m3"
        return tuple(shape for shape in self.timed if shape in AUTOTUNED) if fits else ()

    @property
    def explained(self) -> str:
        return self.difference

    @property
    def gated(self) -> bool:
        return gemm.EPILOGUES[self.epilogue].gated

    @property
    def cute(self) -> bool:
        return self.mainloop.startswith("cute")

    @property
    def needs(self) -> tuple[str, ...]:
        return _NEEDS.get(self.mainloop.partition("_")[0], ())

    def compose(self, objects: Objects) -> Kernel:
        import pipelink

        kernel = pipelink.Kernel("gemm", target=self.target)
        gemm.add_gemm(gemm.Composer(kernel, objects), self.parts, self.epilogue, self.scheduler)
        return kernel

    def problem(self, shape: Shape, *, guarded: bool = True) -> Problem:
        from benchmarks.families.gemm_problem import GemmProblem

        return GemmProblem(self, shape, guarded=guarded)


CONFIGURATIONS: tuple[Gemm, ...] = (
    # Hopper, wgmma: tiles for many rows, and for few
    Gemm("wgmma_128x256x64", "store", timed=MODELS),
    Gemm("wgmma_256x128x64", "store", timed=LARGE),
    Gemm("wgmma_128x192x64", "store", timed=SMALL),
    Gemm("wgmma_128x128x64", "store", timed=SMALL),
    Gemm("wgmma_128x64x64", "store", timed=SMALL),
    Gemm("wgmma_64x256x64", "store", timed=SMALL),
    Gemm("wgmma_128x256x64", "swiglu", timed=MODELS),
    Gemm("wgmma_256x128x64", "swiglu", timed=LARGE),
    Gemm("wgmma_128x192x64", "swiglu", timed=SMALL),
    Gemm("wgmma_128x128x64", "swiglu", timed=SMALL),
    Gemm("wgmma_128x64x64", "swiglu", timed=SMALL),
    Gemm("wgmma_64x256x64", "swiglu", timed=SMALL),
    # two CTAs that share what they load of B
    Gemm("cluster_128x256x64", "store", "paired_tiles", timed=LARGE),
    Gemm("cluster_128x256x64", "swiglu", "paired_tiles", timed=LARGE),
    Gemm("cluster_128x128x64", "store", "paired_tiles"),
    # every epilogue
    Gemm("wgmma_128x256x64", "bias_relu"),
    Gemm("wgmma_128x256x64", "gelu"),
    Gemm("wgmma_128x256x64", "residual_add"),
    Gemm("wgmma_128x256x64", "geglu"),
    Gemm("wgmma_128x256x64", "store", "static_tiles"),
    Gemm("wgmma_128x256x64", "store_f16"),
    Gemm("wgmma_128x256x64", "swiglu_f16"),
    Gemm("wgmma_128x128x64", "bias_relu"),
    Gemm("wgmma_128x128x64", "gelu"),
    Gemm("wgmma_128x128x64", "residual_add"),
    Gemm("wgmma_128x128x64", "geglu"),
    # outputs through shared memory and TMA
    Gemm("wgmma_128x256x64", "store_tma"),
    Gemm("wgmma_128x256x64", "swiglu_tma"),
    Gemm("wgmma_128x256x64", "store_tma_f16"),
    Gemm("cp_async", "store_tma", arch="sm_90a"),
    # Hopper, the mainloop written with CuTe
    Gemm("cute_128x256x64", "store"),
    Gemm("cute_128x256x64", "bias_relu"),
    Gemm("cute_128x256x64", "gelu"),
    Gemm("cute_128x256x64", "residual_add"),
    Gemm("cute_128x256x64", "swiglu"),
    # Hopper, e4m3: a scale for each tensor, and for blocks
    Gemm("fp8_128x256x128", "store", timed=MODELS),
    Gemm("fp8_128x256x128", "bias_relu"),
    Gemm("fp8_128x256x128", "swiglu", timed=MODELS),
    Gemm("fp8_128x128x128", "store", timed=SMALL),
    Gemm("fp8_128x128x128", "swiglu", timed=SMALL),
    Gemm("fp8_block_128x128x128", "store"),
    Gemm("fp8_block_128x128x128", "gelu"),
    Gemm("fp8_block_128x128x128", "swiglu"),
    # Blackwell, tcgen05 into tensor memory
    Gemm("tcgen05_128x256x64", "store"),
    Gemm("tcgen05_128x256x64", "bias_relu"),
    Gemm("tcgen05_128x256x64", "gelu"),
    Gemm("tcgen05_128x256x64", "residual_add"),
    Gemm("tcgen05_128x256x64", "swiglu"),
    Gemm("tcgen05_128x128x64", "store"),
    Gemm("tcgen05_pair_256x256x64", "store", "paired_tiles"),
    Gemm("tcgen05_pair_256x256x64", "swiglu", "paired_tiles"),
    Gemm("tcgen05_pair_256x256x64", "swiglu", "paired_tiles", "sm_103a"),
    Gemm("tcgen05_128x256x64", "store", arch="sm_103a"),
    Gemm("tcgen05_128x256x64", "swiglu", arch="sm_103a"),
    # TMA and mma.sync: for sm_120a, and run on Hopper
    Gemm("sm120_128x128x64", "store"),
    Gemm("sm120_128x128x64", "residual_add"),
    Gemm("sm120_128x128x64", "swiglu"),
    Gemm("sm120_128x128x64", "store", arch="sm_90a"),
    Gemm("sm120_128x128x64", "swiglu", arch="sm_90a"),
    # cp.async and mma.sync: for sm_80, and what is newer
    Gemm("cp_async", "store"),
    Gemm("cp_async", "bias_relu"),
    Gemm("cp_async", "gelu"),
    Gemm("cp_async", "residual_add"),
    Gemm("cp_async", "swiglu"),
    Gemm("cp_async", "store", "static_tiles"),
    Gemm("cp_async", "store", arch="sm_89"),
    Gemm("cp_async", "store", arch="sm_90a"),
    Gemm("cp_async", "swiglu", arch="sm_90a"),
    Gemm("cp_async", "store", "static_tiles", "sm_90a"),
    Gemm("cp_async", "swiglu", arch="sm_100a"),
    Gemm("cp_async", "swiglu", arch="sm_120a"),
)

_PEERS = {
    "product": "cuBLAS, product alone",
    "compiled": "cuBLAS + torch.compile",
    "autotuned": "torch.compile, max-autotune",
}


def _kind(element: str, epilogue: str, peers: tuple[str, ...], plotted: Mapping[str, str]) -> Kind:
    """The GEMMs of one element type and epilogue; scales for blocks of e4m3 are another computation."""

    def fits(c: Gemm) -> bool:
        blocks = c.mainloop.startswith("fp8_block")
        return c.parts.element == element and c.epilogue == epilogue and not blocks

    product = "torch._scaled_mm" if element == "e4m3" else "cuBLAS"
    named = {peer: _PEERS[peer].replace("cuBLAS", product) for peer in peers}
    return Kind(f"{element}, `{epilogue}`", fits, named, plotted)


GEMM = Family(
    name="gemm",
    configurations=CONFIGURATIONS,
    sources=(components.FOLDER, CUTE),
    tails=((127, 248, 80), (1000, 1224, 528)),
    shapes=MODELS,
    about="shapes of language models",
    axes="M × N × K",
    variants="mainloop",
    groups={"GEMM": lambda c: not c.gated, "gated GEMM": lambda c: c.gated},
    kinds=(
        _kind("bf16", "store", ("product",), {"product": "store / cuBLAS"}),
        _kind(
            "bf16",
            "swiglu",
            ("product", "compiled", "autotuned"),
            {"product": "swiglu / cuBLAS's product alone", "compiled": "swiglu / cuBLAS + torch.compile"},
        ),
        _kind("e4m3", "store", ("product",), {}),
        _kind("e4m3", "swiglu", ("product", "compiled"), {"compiled": "e4m3 swiglu / _scaled_mm + torch.compile"}),
    ),
    plot="speed.svg",
)
