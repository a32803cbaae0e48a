"""What a family of kernels says of itself, so that everything else need not know what its kernels compute.

A :class:`Configuration` is one kernel: how it is composed, and what it is timed on.  A :class:`Problem` is its operands
on one shape, its reference and its peers, in torch.  A :class:`Family` holds the configurations, and says which of them
stand beside each other in the tables.  Imported on machines without a compiler, and without torch.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    import torch

    from pipelink import Kernel
    from pipelink.components.gemm import Objects

#: Extents, in the order of the family's ``axes``.
Shape = tuple[int, ...]

#: Architectures whose images a Hopper GPU runs.
RUN_ON_HOPPER = ("sm_90a",)


#: What the name of a result ends with that is max-autotune's alone.
AUTOTUNED = "/autotuned"


def shape_text(shape: Shape) -> str:
    """``128x14336x4096``."""
    return "x".join(map(str, shape))


#: A launch of a linked kernel or of what stands beside it, by the kernel's arguments.
Launch = Callable[[Mapping[str, Any]], object]


class Problem(Protocol):
    """Operands of one configuration on one shape, on the GPU."""

    @property
    def work(self) -> float:
        """TFLOP of one launch."""
        ...

    @property
    def expected_ms(self) -> float:
        """About how long one launch takes, in milliseconds."""
        ...

    def arguments(self) -> dict[str, Any]:
        """What the linked kernel takes."""
        ...

    def rotation(self, most: int) -> Sequence[dict[str, Any]]:
        """Arguments of launches that follow each other, at most so many: together larger than the L2 cache."""
        ...

    def poison(self) -> None:
        """Fill the outputs with NaN."""
        ...

    def outputs(self) -> list[torch.Tensor]:
        """Copies of what the last launch wrote."""
        ...

    def check(self) -> float:
        """The relative error of what the last launch wrote.  Raises AssertionError where it is wrong."""
        ...

    def peers(self, *, autotuned: bool = False) -> dict[str, Launch]:
        """What a torch user would run instead, by the peer's name; with ``autotuned`` only what ``torch.compile`` makes
        of the whole in mode max-autotune."""
        ...


class Configuration(ABC):
    """One kernel and what it is timed on."""

    @property
    @abstractmethod
    def name(self) -> str:
        """Unique among all configurations."""

    @property
    @abstractmethod
    def title(self) -> str:
        """Its parts, as Markdown."""

    @property
    @abstractmethod
    def variant(self) -> str:
        """What tells it from others of its kind, as Markdown."""

    @property
    @abstractmethod
    def target(self) -> str:
        """The architecture that is linked for."""

    @property
    @abstractmethod
    def shapes(self) -> tuple[Shape, ...]:
        """What it is timed on."""

    @property
    def autotuned(self) -> tuple[Shape, ...]:
        """Those of ``shapes`` on which max-autotune is timed when it is asked for: its search takes a minute each."""
        return ()

    @property
    def explained(self) -> str:
        """Why the machine code differs from its monolith's; empty where it must not."""
        return ""

    @property
    def cute(self) -> bool:
        """Whether a component is written with CuTe."""
        return False

    @property
    def needs(self) -> tuple[str, ...]:
        """The hardware's units that its machine code must use, by their names in inspection.py."""
        return ()

    @property
    def runs(self) -> bool:
        """Whether it is run and timed; what is not is only linked and disassembled."""
        return self.target in RUN_ON_HOPPER

    def entry(self, shape: Shape) -> str:
        """The name of its result on one shape."""
        return f"{self.name}/{shape_text(shape)}"

    @abstractmethod
    def compose(self, objects: Objects) -> Kernel:
        """The kernel, of objects that are compiled when they are first needed."""

    @abstractmethod
    def problem(self, shape: Shape, *, guarded: bool = True) -> Problem:
        """Operands on one shape.  ``guarded`` puts outputs inside larger buffers.  Needs torch and a GPU."""


@dataclass(frozen=True)
class Kind:
    """Configurations that compute the same: the fastest of each shape stands in the tables.

    ``peers`` names what stands beside them; ``plotted`` those that are in the plot, with the series' names."""

    title: str
    fits: Callable[[Any], bool]
    peers: Mapping[str, str]
    plotted: Mapping[str, str]


@dataclass(frozen=True)
class Family:
    """``sources`` are the folders of the components' sources; ``tails`` what every configuration is checked on first;
    ``shapes`` the rows of its tables, which ``about`` describes, with extents named by ``axes``; ``variants`` is
    what tells configurations of a kind apart; ``plot`` the file of its plot in docs/, if it has kinds.  ``groups`` are
    the rows that its configurations stand in where links are compared with their monoliths, by title: each in one."""

    name: str
    configurations: tuple[Configuration, ...]
    sources: tuple[Path, ...]
    tails: tuple[Shape, ...]
    shapes: tuple[Shape, ...]
    about: str
    axes: str
    variants: str
    groups: Mapping[str, Callable[[Any], bool]]
    kinds: tuple[Kind, ...] = ()
    plot: str = ""
