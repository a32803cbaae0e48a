"""The kernels of ``swiglu_linear`` and ``attention``, and which of them a device and a shape get.

Data and arithmetic only: the build reads it without torch, the operator without a compiler.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

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


#: By the dimension of a head: queries of a tile.
TILES: Final = {64: 192, 128: 128, 256: 128}
#: What the parts of :mod:`pipelink.components.attention` are there for.
FULL: Final = ("dense", "causal", "window", "varlen", "varlen-causal")  # of all dimensions
LISTS: Final = ("blocks", "blocks-causal", "plan", "plan-causal")
SPLIT: Final = ("split", "split-causal", "split-lengths", "split-lengths-causal")
PAGED: Final = ("paged", "paged-causal")
ELEMENTS: Final = ("bf16", "f16")
SCORES: Final = ("plain", "softcap", "alibi", "bias_f32", "bias_bf16", "bias_f16")
SINKS: Final = ("none", "f32", "bf16", "f16")
PACKS: Final = (1, 2, 4, 8, 16)  # heads as rows of a query, of variants that split
PAGES: Final = (16, 64, 256)  # keys of a page
#: By score and dimension: variants whose core would spill.
_SPILLING_BIAS: Final = {
    **{(score, 64): ("window",) for score in SCORES if score.startswith("bias")},
    ("bias_f32", 128): ("dense", "varlen-causal", "blocks", "blocks-causal"),
    ("bias_f32", 256): ("dense", "causal", "varlen", "varlen-causal"),
}
_NAME: Final = re.compile(
    rf"attention-({'|'.join((*FULL, *LISTS, *SPLIT, *PAGED))})-({'|'.join(map(str, TILES))})(?:-(f16))?"
    rf"(?:-p({'|'.join(map(str, PACKS[1:]))}))?(?:-page({'|'.join(map(str, PAGES))}))?"
    rf"(?:-({'|'.join(SCORES[1:])}))?(?:-sinks_({'|'.join(SINKS[1:])}))?"
)


@dataclass(frozen=True)
class AttentionEntry(Packaged):
    """A linked kernel of :mod:`pipelink.components.attention`: what ``add_attention`` takes, and the architectures of
    its package."""

    variant: str
    dimension: int
    element: str = "bf16"
    pack: int = 1
    page: int | None = None
    score: str = "plain"
    sink: str = "none"
    archs: tuple[str, ...] = ("sm_90a",)

    @property
    def name(self) -> str:
        """``attention-VARIANT-DIMENSION[-f16][-pPACK][-pagePAGE][-SCORE][-sinks_T]``."""
        parts = [f"attention-{self.variant}-{self.dimension}"]
        parts += [self.element] * (self.element != "bf16") + [f"p{self.pack}"] * (self.pack != 1)
        parts += [f"page{self.page}"] * (self.page is not None)
        parts += [self.score] * (self.score != "plain") + [f"sinks_{self.sink}"] * (self.sink != "none")
        return "-".join(parts)

    @property
    def file(self) -> str:
        return f"{self.name}.plk"

    def parts(self) -> dict[str, Any]:
        """As ``add_attention`` takes them."""
        names = ("variant", "dimension", "element", "pack", "page", "score", "sink")
        return {name: getattr(self, name) for name in names}

    @staticmethod
    def named(name: str) -> AttentionEntry | None:
        """The kernel of a name, with or without ``.plk``; None where it is none or has no parts."""
        found = _NAME.fullmatch(name.removesuffix(".plk"))
        if found is None:
            return None
        variant, dimension, element, pack, page, score, sink = found.groups()
        entry = AttentionEntry(
            variant, int(dimension), element or "bf16", int(pack or 1), int(page) if page else None,
            score or "plain", sink or "none",
        )  # fmt: skip
        return None if entry.lacking() else entry

    def lacking(self) -> str | None:
        """What there are no parts for, None where all are there."""
        if self.dimension == 256 and self.variant not in FULL:
            return f"heads of 256 in variant {self.variant}"
        if self.page is None and self.variant in PAGED:
            return f"variant {self.variant} without pages"
        if self.page is not None and self.variant not in (*PAGED, "split-lengths", "split-lengths-causal"):
            return f"pages in variant {self.variant}"
        if self.page is not None and self.element != "bf16":
            return f"pages of {self.element}"
        if self.pack != 1 and self.variant not in SPLIT:
            return f"heads as rows in variant {self.variant}"
        if self.variant in SPLIT and self.score not in ("plain", "softcap"):
            return f"score {self.score} in variant {self.variant}"
        return self._spilled()

    def _spilled(self) -> str | None:
        """What there are parts for, but no register in the core."""
        if self.page is not None and self.variant in SPLIT and self.dimension == 64:
            return f"pages with heads of 64 in variant {self.variant}"
        sunk = self.score == "softcap" and self.sink != "none"
        if sunk and self.dimension == 128 and self.variant in ("blocks", "blocks-causal"):
            return f"softcap and sinks with heads of 128 in variant {self.variant}"
        if self.variant in _SPILLING_BIAS.get((self.score, self.dimension), ()):
            return f"{self.score} with heads of {self.dimension} in variant {self.variant}"
        return None


#: What ``python -m pipelink.torch build`` links; every other one is linked when it is first used.
ATTENTION: tuple[AttentionEntry, ...] = (
    *(AttentionEntry(variant, d) for variant in ("dense", "causal", "window") for d in (64, 128)),
    *(
        AttentionEntry(variant, d, pack=p)
        for variant in ("split", "split-lengths")
        for d in (64, 128)
        for p in (1, 4, 8)
    ),
    *(AttentionEntry("split-lengths", 128, pack=p, page=page) for p in (4, 8) for page in PAGES),
)
