"""What comes out of a link, and its form in the cache."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from pipelink.audit.report import KernelReport
from pipelink.backend.cache import Parts
from pipelink.support.diagnostics import Diagnostic, render_json, render_text

T = TypeVar("T")


@dataclass(frozen=True, repr=False)
class LinkedTarget:
    """One linked cubin.  ``placement`` has ``kernel``, ``instances`` and ``connections`` as the ``place`` pass wrote
    them; ``launch`` is the launch contract; ``log`` is nvJitLink's and ptxas's; ``warnings`` were reported on the way;
    ``map_svg`` and ``map_text`` draw the placement."""

    name: str
    arch: str
    cubin: bytes
    launch: dict[str, Any]
    placement: dict[str, Any]
    audit: KernelReport
    log: str
    toolkit: str
    warnings: tuple[Diagnostic, ...]
    map_svg: str
    map_text: str
    cached: bool = False

    def __repr__(self) -> str:
        return f"<linked kernel {self.name} for {self.arch} ({len(self.cubin):,} bytes)>"

    @property
    def registers(self) -> int:
        """Registers a thread at entry."""
        return self.audit.registers


@dataclass(frozen=True)
class Emitted:
    """A stage before the cubin: its ``content``, and of the placed kernel what :class:`LinkedTarget` has too.  A
    monolith includes ``sources``."""

    content: str | bytes
    arch: str
    warnings: tuple[Diagnostic, ...]
    map_svg: str
    map_text: str
    sources: tuple[Path, ...] = ()


def encode(linked: LinkedTarget) -> Parts:
    """A result as the cache keeps it."""
    meta = {
        "name": linked.name,
        "arch": linked.arch,
        "launch": linked.launch,
        "placement": linked.placement,
        "audit": linked.audit.to_json(),
        "toolkit": linked.toolkit,
        "warnings": [item.to_json() for item in linked.warnings],
    }
    return {
        "cubin": linked.cubin,
        "log": linked.log.encode(),
        "meta.json": json.dumps(meta).encode(),
        "map.svg": linked.map_svg.encode(),
        "map.txt": linked.map_text.encode(),
    }


def decode(parts: Parts) -> LinkedTarget:
    """The result that :func:`encode` was given.  Raises ValueError where the parts are something else."""
    try:
        meta: dict[str, Any] = json.loads(parts["meta.json"])
        linked = LinkedTarget(
            name=_typed(meta["name"], str),
            arch=_typed(meta["arch"], str),
            cubin=parts["cubin"],
            launch=_typed(meta["launch"], dict),
            placement=_typed(meta["placement"], dict),
            audit=KernelReport.from_json(meta["audit"]),
            log=parts["log"].decode(),
            toolkit=_typed(meta["toolkit"], str),
            warnings=tuple(Diagnostic.from_json(item) for item in meta["warnings"]),
            map_svg=parts["map.svg"].decode(),
            map_text=parts["map.txt"].decode(),
        )
        linked.audit.render()
        render_json(linked.warnings)
        for warning in linked.warnings:
            render_text(warning)
    except (KeyError, TypeError, AttributeError, RecursionError, IndexError) as problem:
        raise ValueError(f"not a linked kernel: {problem}") from problem
    if not linked.cubin.startswith(b"\x7fELF"):
        raise ValueError("not a linked kernel: no cubin")
    return linked


def _typed(value: Any, kind: type[T]) -> T:
    if not isinstance(value, kind):
        raise TypeError(f"{value!r:.40} is no {kind.__name__}")
    return value
