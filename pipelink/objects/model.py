"""What an object is, once read: code images, and components with their contract records.

Everything is immutable and plain; a reader makes it from bytes, :func:`pipelink.objects.from_ltoir` from memory.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, TypeAlias

from pipelink.support.diagnostics import Location, Note, error
from pipelink.support.inputs import FATBIN_MAGIC
from pipelink.target import TARGETS, Target

Value: TypeAlias = "int | str | bool | list[Value] | dict[str, Value]"
ImageKind = Literal["ltoir", "cubin", "ptx"]


@dataclass(frozen=True)
class Image:
    """Code for one architecture (``sm_90a``; PTX and LTO-IR of a virtual one use the same spelling).

    ``data`` is bare LTO-IR, a cubin or PTX text; or, where the compiler packed it, a fatbin of this one image
    (:attr:`packed`), which nvJitLink takes as it is.  ``toolkit`` is ``13.0``, or empty where the object does not say.
    ``unit`` numbers the translation units of an object that ``ld -r`` merged: a link takes one image of each.
    """

    arch: str
    kind: ImageKind
    toolkit: str
    data: bytes
    unit: int = 0

    @property
    def version(self) -> tuple[int, ...]:
        """``toolkit`` as numbers, to compare; empty where it is unknown."""
        return tuple(int(part) for part in re.findall(r"\d+", self.toolkit)[:2])

    @cached_property
    def sha256(self) -> str:
        """Hash of ``data``, in hex."""
        return hashlib.sha256(self.data).hexdigest()

    @property
    def packed(self) -> bool:
        """Whether ``data`` is a fatbin rather than the bare image."""
        return self.data.startswith(FATBIN_MAGIC)


@dataclass(frozen=True)
class Record:
    """One declaration: its operation, the component (C++ name), its name, where it was written, and its other keys.
    ``text`` is the record as it stands in the object."""

    op: str
    component: str
    name: str
    file: str
    line: int
    values: Mapping[str, Value]
    text: bytes

    @property
    def location(self) -> Location:
        """The declaration's place in the C++ source (the file's name without its folder)."""
        return Location(self.file, self.line)


@dataclass(frozen=True)
class ContractComponent:
    """One component's contract; ``records[0]`` is its ``component`` record, the rest are in source order."""

    name: str
    records: tuple[Record, ...]

    @property
    def symbol(self) -> str:
        """The IR symbol: ``acme.tma_loader`` for ``acme::tma_loader``."""
        return self.name.replace("::", ".")

    @property
    def location(self) -> Location:
        """Where the component is declared."""
        return self.records[0].location

    @property
    def toolkit(self) -> str:
        """Version of the compiler that wrote the contract, such as ``13.0``; empty if it does not say."""
        return str(self.records[0].values.get("toolkit", ""))


@dataclass(frozen=True)
class Object:
    """A component object: a file, or a member of an archive (``member`` is then its name).

    ``components`` is empty for a helper, which holds device code but no contract: its functions are there for others
    to call.
    """

    path: str
    member: str
    components: tuple[ContractComponent, ...]
    images: tuple[Image, ...]

    @property
    def name(self) -> str:
        """``lib.a(member.o)`` or the path."""
        return f"{self.path}({self.member})" if self.member else self.path

    @property
    def ltoir(self) -> tuple[Image, ...]:
        """The images that can be linked."""
        return tuple(image for image in self.images if image.kind == "ltoir")

    def select(self, target: Target) -> tuple[Image, ...]:
        """The LTO-IR to link for ``target``: one image of each translation unit, by the target's own rule.
        Raises LinkError ``missing-arch``."""
        chosen: list[Image] = []
        for unit in sorted({image.unit for image in self.images}):
            known = {image.arch: image for image in self.ltoir if image.unit == unit}
            arch = target.choose(known)
            if arch is None:
                raise error(
                    "missing-arch",
                    f"object '{self.name}' has no LTO-IR that links for {target.name}, only for "
                    f"{', '.join(known) or 'nothing'}",
                    Location(self.path),
                    notes=[Note(f"component '{c.name}' is declared here", c.location) for c in self.components],
                    hint=f"compile it for {target.name} too, or for an older architecture without a suffix",
                )
            chosen.append(known[arch])
        return tuple(chosen)

    def reachable(self, arch: str) -> list[Image]:
        """The LTO-IR that code for ``arch`` can call: one image of each translation unit that has one."""
        goal = TARGETS.get(arch)
        found: list[Image] = []
        for unit in sorted({image.unit for image in self.ltoir}):
            known = {image.arch: image for image in self.ltoir if image.unit == unit}
            chosen = arch if arch in known else goal.choose(known) if goal is not None else None
            if chosen is not None:
                found.append(known[chosen])
        return found
