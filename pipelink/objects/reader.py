"""Reads component objects: ELF files, whoever's compiler wrote them, and ``ar`` archives of them.

Bytes in, :class:`Object` values out.  Nothing of the input is executed, and everything read is bounded.  An object that
``ld -r`` merged holds several fatbins, of which nvJitLink would read the first only: they are split here.
"""

from __future__ import annotations

from pathlib import Path

from pipelink.objects import archive, elf, fatbin, records
from pipelink.objects.model import ContractComponent, Image, Object
from pipelink.support import limits
from pipelink.support.diagnostics import Diagnostics, Location, Note, error
from pipelink.support.inputs import read_input

SECTION = ".pipelink.contract"
_FLAGS = "nvcc -dc -gencode arch=compute_90a,code=lto_90a"


def read_objects(path: str | Path, *, diagnostics: Diagnostics | None = None) -> list[Object]:
    """The objects of a file: one for an ELF object, one per member with a contract or LTO-IR for an archive.  Objects
    without a contract are helpers: their functions are there for components to call.

    Warnings go to ``diagnostics``.  Raises LinkError, located at the file or at the C++ declaration:
    ``unreadable-input``, ``oversized-input``, ``empty-input``, ``not-an-object``, ``truncated-object``,
    ``corrupt-object``, ``oversized-object``, ``no-contract``, ``corrupt-contract``, ``future-contract``, ``no-ltoir``,
    ``duplicate-component``, ``missing-definition``.
    """
    return parse_objects(read_input(path, limits.OBJECT_BYTES), str(path), diagnostics=diagnostics)


def parse_objects(data: bytes, path: str, *, diagnostics: Diagnostics | None = None) -> list[Object]:
    """As :func:`read_objects`, of bytes that came from ``path``."""
    found = diagnostics if diagnostics is not None else Diagnostics()
    where = Location(path)
    if not data:
        raise error("empty-input", f"'{path}' is empty", where)
    if not data.startswith((archive.MAGIC, archive.THIN_MAGIC)):
        return [_object(data, path, "", found)]
    objects: list[Object] = []
    first: dict[str, tuple[Object, ContractComponent]] = {}
    for member, content in archive.members(data, path, where):
        item = _object(content, path, member, found)
        if not item.components and not item.ltoir:
            continue
        for component in item.components:
            if component.name in first:
                raise duplicate(first[component.name], (item, component))
            first[component.name] = (item, component)
        objects.append(item)
    if not objects:
        raise error("no-contract", f"no member of '{path}' carries a contract or LTO-IR", where)
    return objects


def duplicate(first: tuple[Object, ContractComponent], second: tuple[Object, ContractComponent]) -> Exception:
    """The error that two objects define one component: names both."""
    return error(
        "duplicate-component",
        f"component '{first[1].name}' is in '{first[0].name}' and in '{second[0].name}'",
        first[1].location,
        notes=[Note("declared again here", second[1].location)],
        hint="link one of them, or give one component another name",
    )


def _object(data: bytes | memoryview, path: str, member: str, diagnostics: Diagnostics) -> Object:
    name = f"{path}({member})" if member else path
    where = Location(path)
    parsed = elf.ElfObject(data, name, where)
    sections = [section.data for section in parsed.named(SECTION)]
    records.refuse_oversized(sum(map(len, sections)), name, where)
    contract = b"".join(sections)
    components = records.parse(contract, name, where, diagnostics) if contract else ()
    images = _images(parsed, len(data), components[0].toolkit if components else "", name, where)
    lto = any(section.name.startswith(".gnu.lto_") for section in parsed.sections)
    if not components and not member and (lto or not images):
        hint = "the host compiler's -flto hides the contract: compile components without it" if lto else None
        message = f"'{name}' carries no contract and no device code; a component includes <pipelink/component.cuh>"
        if lto and images:
            message = f"'{name}' carries no contract; a component includes <pipelink/component.cuh>"
        raise error("no-contract", message, where, hint=hint)
    if components or not member:
        _require_ltoir(images, components[0] if components else None, name, where)
    return Object(path, member, components, images)


def _require_ltoir(images: tuple[Image, ...], component: ContractComponent | None, name: str, where: Location) -> None:
    """Every translation unit of an object that was named has LTO-IR."""
    for unit in sorted({image.unit for image in images}) or [0]:
        mine = [image for image in images if image.unit == unit]
        if any(image.kind == "ltoir" for image in mine):
            continue
        kinds = ", ".join(sorted({f"{image.kind} for {image.arch}" for image in mine}))
        has = f"holds {kinds} but no LTO-IR" if kinds else "holds no device code"
        notes = [Note("nothing of it would be inlined, and register reallocation would be lost")]
        hint = f"compile it with pl-cc, or with {_FLAGS} and without -G"
        what = f"object '{name}'" + (f" of component '{component.name}'" if component is not None else "")
        message = f"{what} {has}"
        raise error("no-ltoir", message, where, notes=notes, hint=hint)


def _images(parsed: elf.ElfObject, size: int, toolkit: str, name: str, where: Location) -> tuple[Image, ...]:
    images: list[Image] = []
    unit = taken = 0
    for section in parsed.named(".nvFatBinSegment"):
        pointers = parsed.pointers(section)
        for at in range(0, len(section.data), fatbin.WRAPPER_BYTES):
            magic = int.from_bytes(section.data[at : at + 4], "little")
            if magic != fatbin.WRAPPER_MAGIC or at + fatbin.WRAPPER_BYTES > len(section.data):
                raise error("corrupt-object", f"'{name}' is corrupt: entry {unit} of .nvFatBinSegment", where)
            if at + 8 not in pointers:
                raise error("corrupt-object", f"'{name}' is corrupt: fatbin {unit} has no relocation", where)
            target, offset = pointers[at + 8]
            if not 0 <= offset <= len(target.data):
                raise error("truncated-object", f"'{name}' ends before fatbin {unit} does", where)
            found = fatbin.split(target.data[offset:], toolkit, unit, name, where)
            images += found
            taken += sum(len(image.data) for image in found)
            unit += 1
            if taken > size + len(images) * fatbin.HEADER_BYTES or unit > limits.UNITS:
                message = f"'{name}' has more code than bytes, or more than {limits.UNITS} fatbins"
                raise error("oversized-object", message, where)
    return tuple(images)
