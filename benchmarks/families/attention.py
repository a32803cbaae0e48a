"""Attention: variant × head dimension × core, with scores, sinks and outputs, of the component library and of
examples/attention/cute_core.

Adding a configuration is one entry of ``CONFIGURATIONS``; its parts are keys of the tables in
:mod:`pipelink.components.attention`.  Data only; operands and references are in attention_problem.py, which needs
torch.  What else computes attention stands beside these kernels in benchmarks/attention.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.families.base import Configuration, Family, Problem, Shape
from pipelink import components
from pipelink.components import attention

if TYPE_CHECKING:
    from pipelink import Kernel
    from pipelink.components.gemm import Objects

ROOT = Path(__file__).resolve().parents[2]
CUTE = ROOT / "examples" / "attention" / "cute_core"
#: Cores of the examples.
CORES = {
    "cute": attention.Shape(128, source="attention_core_cute", core="attention_core_cute_{d}"),
    "cute_few": attention.Shape(16, source="attention_core_cute_few_{d}", core="attention_core_cute_few_{d}"),
}

# Shapes are batches, heads of Q, heads of K and V, queries, keys; of sequences that stand one behind another, batches
# is how many there are, and queries and keys are those of the longest.
LONG: tuple[Shape, ...] = ((4, 16, 16, 4096, 4096),)
LARGE_HEADS: tuple[Shape, ...] = ((4, 8, 8, 4096, 4096),)
DECODING: tuple[Shape, ...] = ((8, 32, 8, 1, 8192),)


@dataclass(frozen=True)
class Attention(Configuration):
    """One attention.  ``core`` is one of ``CORES``, where it is not the library's; the fields behind ``dimension`` and
    before it are those of :func:`pipelink.components.attention.add_attention`, and so are their defaults."""

    kind: str
    dimension: int
    element: str = "bf16"
    pack: int = 1
    page: int | None = None
    score: str = "plain"
    sink: str = "none"
    output: str = "o"
    core: str = ""

    @property
    def _changes(self) -> tuple[str, ...]:
        """What is not as usual, in words that name it."""
        return (
            *([self.core] if self.core else []),
            *([self.element] if self.element != "bf16" else []),
            *([f"p{self.pack}"] if self.pack != 1 else []),
            *([f"page{self.page}"] if self.page else []),
            *([self.score] if self.score != "plain" else []),
            *([f"sinks_{self.sink}"] if self.sink != "none" else []),
            *([self.output] if self.output != "o" else []),
        )

    @cached_property
    def name(self) -> str:
        """``attention_VARIANT-DIMENSION-CHANGES-ARCH``."""
        return "-".join((f"attention_{self.kind}", str(self.dimension), *self._changes, self.target))

    @property
    def parts(self) -> attention.Shape:
        return CORES[self.core] if self.core else attention.SHAPES[self.dimension]

    @property
    def title(self) -> str:
        changes = (word for word in self._changes if word not in (self.element, self.core))
        return ", ".join((self.variant, *(f"`{part}`" for part in (self.kind, *changes))))

    @property
    def variant(self) -> str:
        element = "" if self.element == "bf16" else f"_{self.element}"
        return f"`{self.parts.core.format(d=self.dimension, e=element)}`"

    @property
    def target(self) -> str:
        return "sm_90a"

    @property
    def shapes(self) -> tuple[Shape, ...]:
        return DECODING if self.kind.startswith("split") else LARGE_HEADS if self.dimension == 256 else LONG

    @property
    def cute(self) -> bool:
        return self.core.startswith("cute")

    @property
    def needs(self) -> tuple[str, ...]:
        return ("tensor", "tma")

    def compose(self, objects: Objects) -> Kernel:
        import pipelink
        from pipelink.components.gemm import Composer

        kernel = pipelink.Kernel("attention", target=self.target)
        attention.add_attention(
            Composer(kernel, objects),
            self.kind,
            self.dimension,
            element=self.element,
            shape=self.parts,
            pack=self.pack,
            page=self.page,
            score=self.score,
            sink=self.sink,
            output=self.output,
        )
        return kernel

    def problem(self, shape: Shape, *, guarded: bool = True) -> Problem:
        from benchmarks.families.attention_problem import AttentionProblem

        return AttentionProblem(self, shape, guarded=guarded)


CONFIGURATIONS: tuple[Attention, ...] = (
    # every core
    Attention("dense", 128),
    Attention("causal", 128),
    Attention("dense", 64),
    Attention("causal", 64),
    Attention("dense", 256),
    Attention("causal", 256),
    Attention("dense", 128, "f16"),
    Attention("causal", 64, "f16"),
    Attention("causal", 256, "f16"),
    # the core written with CuTe
    Attention("dense", 128, core="cute"),
    Attention("causal", 128, core="cute"),
    Attention("window", 128, core="cute"),
    Attention("plan", 128, core="cute"),
    # sliding windows
    Attention("window", 128),
    Attention("window", 64),
    Attention("window", 256, output="lse"),
    # lists of blocks
    Attention("blocks", 128),
    Attention("blocks-causal", 64),
    Attention("plan", 128),
    Attention("plan", 64),
    Attention("plan-causal", 128),
    # sequences one behind another
    Attention("varlen", 128, output="lse"),
    Attention("varlen-causal", 128),
    Attention("varlen-causal", 64),
    # keys that CTAs share, for decoding
    Attention("split", 128, pack=4),
    Attention("split", 64, "f16", pack=4),
    Attention("split-causal", 128, pack=4, output="lse"),
    Attention("split-lengths", 128, pack=4),
    Attention("split-lengths-causal", 64, pack=4),
    # the core of 16 rows written with CuTe
    Attention("split", 128, pack=4, core="cute_few"),
    Attention("split-lengths", 64, pack=4, core="cute_few"),
    # keys and values in pages
    Attention("paged", 128, page=16),
    Attention("paged-causal", 128, page=64),
    Attention("split-lengths", 128, pack=4, page=64),
    # scores and sinks
    Attention("causal", 128, score="softcap"),
    Attention("causal", 128, score="alibi"),
    Attention("dense", 64, score="bias_bf16"),
    Attention("dense", 256, score="softcap"),
    Attention("causal", 128, sink="bf16", output="lse"),
)

ATTENTION = Family(
    name="attention",
    configurations=CONFIGURATIONS,
    sources=(components.FOLDER, CUTE),
    tails=((2, 8, 2, 130, 515), (1, 4, 4, 515, 129)),
    shapes=(*LONG, *LARGE_HEADS, *DECODING),
    about="long sequences and decoding",
    axes="B × H × HK × SQ × SK",
    variants="core",
    groups={"attention": lambda c: True},
)
