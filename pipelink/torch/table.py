"""The kernels of ``swiglu_linear`` and ``attention``, and which of them a device and a shape get.

Data and arithmetic only: the build reads it without torch, the operator without a compiler.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

#: Where ``python -m pipelink.torch build`` writes by default, and the operators look.
FOLDER = Path(__file__).parent / "kernels"


class Packaged:
    """A linked kernel in a package of its own, ``file``, for the architectures ``archs``."""

    archs: tuple[str, ...]

    @property
    def file(self) -> str:
        raise NotImplementedError

    def runs_on(self, capability: tuple[int, int]) -> bool:
        """Whether one of its images runs on a device of that compute capability."""
        number = capability[0] * 10 + capability[1]
        for arch in self.archs:
            image = int("".join(filter(str.isdigit, arch)))
            if number == image or (arch[-1].isdigit() and image // 10 == capability[0] and image <= number):
                return True
        return False


@dataclass(frozen=True)
class Entry(Packaged):
    """A linked kernel: mainloop and epilogue of :mod:`pipelink.components.gemm`, and the architectures of its package.

    ``tile`` is rows and accumulator columns, of which a gated epilogue writes half.  ``rate`` is the work per SM and
    time on full tiles, relative to the fastest entry of the same architecture."""

    mainloop: str
    epilogue: str
    archs: tuple[str, ...]
    tile: tuple[int, int]
    rate: float
    element: str = "bf16"
    scheduler: str = "grouped_tiles"

    @property
    def file(self) -> str:
        return f"{self.epilogue}-{self.mainloop}-{self.scheduler}.plk"

    def cost(self, m: int, n: int, k: int, sms: int) -> float:
        """Time of M x N outputs over K, in an arbitrary unit: whole waves of tiles, one CTA an SM."""
        tiles = -(-m // self.tile[0]) * -(-2 * n // self.tile[1])
        return -(-tiles // sms) * self.tile[0] * self.tile[1] * k / self.rate


ENTRIES: tuple[Entry, ...] = (
    # rates: benchmarks/gemm/NOTES.md
    Entry("wgmma_128x256x64", "swiglu", ("sm_90a",), (128, 256), 1.0),
    Entry("wgmma_128x192x64", "swiglu", ("sm_90a",), (128, 192), 1.0),
    Entry("wgmma_128x128x64", "swiglu", ("sm_90a",), (128, 128), 0.99),
    Entry("wgmma_64x256x64", "swiglu", ("sm_90a",), (64, 256), 0.9),
    Entry("wgmma_128x64x64", "swiglu", ("sm_90a",), (128, 64), 0.61),
    # linked and disassembled, not run
    Entry("tcgen05_128x256x64", "swiglu", ("sm_100a", "sm_103a", "sm_110a"), (128, 256), 1.0),
    Entry("sm120_128x128x64", "swiglu", ("sm_120a", "sm_121a"), (128, 128), 1.0),
    # every other device
    Entry("cp_async", "swiglu", ("sm_80", "sm_90a", "sm_100a", "sm_110a", "sm_120a", "sm_121a"), (128, 128), 0.5),
)


def choose(
    entries: Sequence[Entry], capability: tuple[int, int], sms: int, element: str, m: int, n: int, k: int
) -> Entry | None:
    """The entry with the least cost for M x N outputs over K on such a device; None if none runs there."""
    fitting = [e for e in entries if e.element == element and e.runs_on(capability)]
    return min(fitting, key=lambda entry: entry.cost(m, n, k, sms), default=None)


@dataclass(frozen=True)
class AttentionEntry(Packaged):
    """A linked kernel of :mod:`pipelink.components.attention`: a variant, the dimension of a head, and the
    architectures of its package."""

    variant: str
    dimension: int
    archs: tuple[str, ...] = ("sm_90a",)

    @property
    def file(self) -> str:
        return f"attention-{self.variant}-{self.dimension}.plk"


ATTENTION: tuple[AttentionEntry, ...] = tuple(
    AttentionEntry(variant, dimension) for variant in ("dense", "causal") for dimension in (64, 128)
)
