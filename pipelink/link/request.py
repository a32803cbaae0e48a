"""What a caller hands to a link: what to link and how, and who watches it."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from pipelink.support import limits
from pipelink.support.inputs import read_input

if TYPE_CHECKING:
    from pipelink.objects import Object

PASSES = "check,place,fuse"
HANG_LIMIT = 2000  # milliseconds of a wait in a debug link, where nothing else is said


@dataclass(frozen=True)
class File:
    """An object or archive that has been read: what ``path`` held."""

    path: str
    data: bytes


@dataclass(frozen=True)
class Request:
    """What to link.  ``text`` is the kernel's IR, ``path`` where it came from (for diagnostics); ``objects`` are
    files, read or not, or objects in memory.  ``kernel`` names one of several kernels, ``target`` overrides the
    kernel's own.  ``passes`` is the pipeline, ``options`` go to nvJitLink.  ``debug_hangs`` (milliseconds that a wait
    may take, 0: no limit), ``timeline`` and ``debug_print`` make a debug link (docs/debugging.md)."""

    text: bytes
    objects: tuple[Path | File | Object, ...] = ()
    path: str = "<memory>"
    kernel: str | None = None
    target: str | None = None
    passes: str = PASSES
    lineinfo: bool = False
    options: tuple[str, ...] = ()
    debug_hangs: int = 0
    timeline: bool = False
    debug_print: bool = False

    def loaded(self) -> Request:
        """The same with every file read: what is hashed is what is linked.  Raises LinkError ``unreadable-input`` and
        ``oversized-input``."""
        read = [File(str(o), read_input(o, limits.OBJECT_BYTES)) if isinstance(o, Path) else o for o in self.objects]
        return replace(self, objects=tuple(read))

    @property
    def source_path(self) -> str:
        """Where a debugger finds the kernel's IR."""
        return self.path if self.path.startswith("<") else str(Path(self.path).absolute())


@dataclass
class Observer:
    """Watches a link: ``times`` collects (step, seconds); ``step`` is called when one begins; ``keep`` is given
    intermediate results by name (``sm_90a.placed.mlir``, ``sm_90a.entry.ltoir``, …) and turns the cache's reading
    off."""

    step: Callable[[str], object] | None = None
    keep: Callable[[str, str | bytes], object] | None = None
    times: list[tuple[str, float]] = field(default_factory=list[tuple[str, float]])

    def begun(self, name: str) -> None:
        """A step begins."""
        if self.step is not None:
            self.step(name)

    @contextmanager
    def timed(self, name: str) -> Generator[None]:
        """A step, from its beginning to its end."""
        self.begun(name)
        start = time.perf_counter()
        yield
        self.times.append((name, time.perf_counter() - start))

    def kept(self, name: str, data: str | bytes) -> None:
        """An intermediate result."""
        if self.keep is not None:
            self.keep(name, data)
