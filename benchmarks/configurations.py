"""The configurations: composition × tile × shape × element type × architecture, as one list.

Adding a configuration is one entry of ``CONFIGURATIONS``.  The mainloop's entry in
:mod:`pipelink.components.gemm` (or here, where it is no part of the library) says tile, element type and the
architecture that is linked for unless ``arch`` names another.  ``python -m benchmarks`` links, compares and runs them.
Data only; imported on machines without a compiler.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from pipelink import components
from pipelink.components import gemm
from pipelink.components.gemm import Mainloop, Objects, wgmma

if TYPE_CHECKING:
    from pipelink import Kernel

ROOT = Path(__file__).resolve().parent.parent
CUTE = ROOT / "examples" / "cute_mainloop"
#: Where the components' sources are.
FOLDERS = (components.FOLDER, CUTE)
#: Architectures whose images a Hopper GPU runs.
RUN_ON_HOPPER = ("sm_90a",)

#: Mainloops of the library and of the examples.
MAINLOOPS: dict[str, Mainloop] = {
    **gemm.MAINLOOPS,
    "cute_128x256x64": wgmma("128x256x64", ("mainloop", "cute_mainloop")),
}

Shape = tuple[int, int, int]  # M, N, K; N is the output's width, of which a gated weight has twice as many rows

#: Multiplications of language models: M tokens by (K, N) of 8B, 70B and 1B models.
MODELS: tuple[Shape, ...] = tuple(
    (m, n, k) for k, n in ((4096, 14336), (8192, 28672), (2048, 8192)) for m in (128, 512, 2048, 4096, 8192)
)
SMALL: tuple[Shape, ...] = tuple(shape for shape in MODELS if shape[0] < 2048)
LARGE: tuple[Shape, ...] = tuple(shape for shape in MODELS if shape[0] >= 2048)
#: One shape, where only the comparison with the monolith is asked for.
ONE: tuple[Shape, ...] = ((2048, 4096, 4096),)


@dataclass(frozen=True)
class Configuration:
    """One kernel and what it is timed on.  ``explained`` says why its machine code differs from its monolith's."""

    mainloop: str
    epilogue: str
    scheduler: str = "grouped_tiles"
    arch: str = ""
    shapes: tuple[Shape, ...] = ONE
    explained: str = ""

    @property
    def parts(self) -> Mainloop:
        return MAINLOOPS[self.mainloop]

    @property
    def target(self) -> str:
        """The architecture that is linked for."""
        return self.arch or self.parts.target

    @cached_property
    def name(self) -> str:
        """``MAINLOOP-EPILOGUE-SCHEDULER-ARCH``."""
        return f"{self.mainloop}-{self.epilogue}-{self.scheduler}-{self.target}"

    @property
    def gated(self) -> bool:
        return gemm.EPILOGUES[self.epilogue].gated

    @property
    def cute(self) -> bool:
        """Whether a component is written with CuTe."""
        return self.mainloop.startswith("cute")

    @property
    def runs(self) -> bool:
        """Whether it is run and timed; what is not is only linked and disassembled."""
        return self.target in RUN_ON_HOPPER

    def compose(self, objects: Objects) -> Kernel:
        """The kernel, of objects that are compiled when they are first needed."""
        import pipelink

        kernel = pipelink.Kernel("gemm", target=self.target)
        gemm.add_gemm(gemm.Composer(kernel, objects), self.parts, self.epilogue, self.scheduler)
        return kernel


CONFIGURATIONS: tuple[Configuration, ...] = (
    # Hopper, wgmma: tiles for many rows, and for few
    Configuration("wgmma_128x256x64", "store", shapes=MODELS),
    Configuration("wgmma_256x128x64", "store", shapes=LARGE),
    Configuration("wgmma_128x192x64", "store", shapes=SMALL),
    Configuration("wgmma_128x128x64", "store", shapes=SMALL),
    Configuration("wgmma_128x64x64", "store", shapes=SMALL),
    Configuration("wgmma_64x256x64", "store", shapes=SMALL),
    Configuration("wgmma_128x256x64", "swiglu", shapes=MODELS),
    Configuration("wgmma_256x128x64", "swiglu", shapes=LARGE),
    Configuration("wgmma_128x192x64", "swiglu", shapes=SMALL),
    Configuration("wgmma_128x128x64", "swiglu", shapes=SMALL),
    Configuration("wgmma_128x64x64", "swiglu", shapes=SMALL),
    Configuration("wgmma_64x256x64", "swiglu", shapes=SMALL),
    # two CTAs that share what they load of B
    Configuration("cluster_128x256x64", "store", "paired_tiles", shapes=LARGE),
    Configuration("cluster_128x256x64", "swiglu", "paired_tiles", shapes=LARGE),
    Configuration("cluster_128x128x64", "store", "paired_tiles"),
    # every epilogue
    Configuration("wgmma_128x256x64", "bias_relu"),
    Configuration("wgmma_128x256x64", "gelu"),
    Configuration("wgmma_128x256x64", "residual_add"),
    Configuration("wgmma_128x256x64", "geglu"),
    Configuration("wgmma_128x256x64", "store", "static_tiles"),
    Configuration("wgmma_128x256x64", "store_f16"),
    Configuration("wgmma_128x256x64", "swiglu_f16"),
    Configuration("wgmma_128x128x64", "bias_relu"),
    Configuration("wgmma_128x128x64", "gelu"),
    Configuration("wgmma_128x128x64", "residual_add"),
    Configuration("wgmma_128x128x64", "geglu"),
    # outputs through shared memory and TMA
    Configuration("wgmma_128x256x64", "store_tma"),
    Configuration("wgmma_128x256x64", "swiglu_tma"),
    Configuration("wgmma_128x256x64", "store_tma_f16"),
    Configuration("cp_async", "store_tma", arch="sm_90a"),
    # Hopper, the mainloop written with CuTe
    Configuration("cute_128x256x64", "store"),
    Configuration("cute_128x256x64", "bias_relu"),
    Configuration("cute_128x256x64", "gelu"),
    Configuration("cute_128x256x64", "residual_add"),
    Configuration("cute_128x256x64", "swiglu"),
    # Hopper, e4m3: a scale for each tensor, and for blocks
    Configuration("fp8_128x256x128", "store", shapes=MODELS),
    Configuration("fp8_128x256x128", "bias_relu"),
    Configuration("fp8_128x256x128", "swiglu", shapes=MODELS),
    Configuration("fp8_128x128x128", "store", shapes=SMALL),
    Configuration("fp8_128x128x128", "swiglu", shapes=SMALL),
    Configuration("fp8_block_128x128x128", "store"),
    Configuration("fp8_block_128x128x128", "gelu"),
    Configuration("fp8_block_128x128x128", "swiglu"),
    # Blackwell, tcgen05 into tensor memory
    Configuration("tcgen05_128x256x64", "store"),
    Configuration("tcgen05_128x256x64", "bias_relu"),
    Configuration("tcgen05_128x256x64", "gelu"),
    Configuration("tcgen05_128x256x64", "residual_add"),
    Configuration("tcgen05_128x256x64", "swiglu"),
    Configuration("tcgen05_128x128x64", "store"),
    Configuration("tcgen05_pair_256x256x64", "store", "paired_tiles"),
    Configuration("tcgen05_pair_256x256x64", "swiglu", "paired_tiles"),
    Configuration("tcgen05_pair_256x256x64", "swiglu", "paired_tiles", "sm_103a"),
    Configuration("tcgen05_128x256x64", "store", arch="sm_103a"),
    Configuration("tcgen05_128x256x64", "swiglu", arch="sm_103a"),
    # TMA and mma.sync: for sm_120a, and run on Hopper
    Configuration("sm120_128x128x64", "store"),
    Configuration("sm120_128x128x64", "residual_add"),
    Configuration("sm120_128x128x64", "swiglu"),
    Configuration("sm120_128x128x64", "store", arch="sm_90a"),
    Configuration("sm120_128x128x64", "swiglu", arch="sm_90a"),
    # cp.async and mma.sync: for sm_80, and what is newer
    Configuration("cp_async", "store"),
    Configuration("cp_async", "bias_relu"),
    Configuration("cp_async", "gelu"),
    Configuration("cp_async", "residual_add"),
    Configuration("cp_async", "swiglu"),
    Configuration("cp_async", "store", "static_tiles"),
    Configuration("cp_async", "store", arch="sm_89"),
    Configuration("cp_async", "store", arch="sm_90a"),
    Configuration("cp_async", "swiglu", arch="sm_90a"),
    Configuration("cp_async", "store", "static_tiles", "sm_90a"),
    Configuration("cp_async", "swiglu", arch="sm_100a"),
    Configuration("cp_async", "swiglu", arch="sm_120a"),
)
BY_NAME = {configuration.name: configuration for configuration in CONFIGURATIONS}
