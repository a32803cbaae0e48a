"""Whether an object's contract is the one that its device code was compiled with.

The header compiles every record into each architecture's code as well, as a variable that no code reads.  nvJitLink
turns one image into PTX, where variables stand with their names and bytes; the records there are compared with the
contract section, which the host compiler wrote.  A link drops the variables, so they cost nothing.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

from pipelink.backend import nvjitlink
from pipelink.objects.model import Image, Object, Record
from pipelink.objects.records import parse_record
from pipelink.support.diagnostics import UNKNOWN, Diagnostics, Location, Note

_RECORD = re.compile(rb"\.b8\s+\w*pl_record_\w+_text\w*\[\d+\]\s*=\s*\{([^}]*)\}")


def device_records(image: Image, name: str = "component", where: Location = UNKNOWN) -> tuple[bytes, ...]:
    """The records (JSON texts) in one LTO-IR image; ``name`` is its origin in messages, ``where`` its file.
    Raises LinkError ``nvjitlink-failed`` or ``toolchain-missing``."""
    found: list[bytes] = []
    code = nvjitlink.translate(nvjitlink.Image(name, image.data), image.arch, where)
    for match in _RECORD.finditer(code):
        try:
            data = bytes(int(byte) & 255 for byte in match.group(1).split(b","))
        except ValueError:
            continue
        found.append(data.split(b"\0")[0])
    return tuple(found)


def verify(item: Object, diagnostics: Diagnostics | None = None, *, images: Sequence[Image] | None = None) -> None:
    """Compare the contract with what the device code says: of ``images``, or of every architecture.

    Raises LinkError ``contract-mismatch``, one error per record and architecture that differ.  Code that was compiled
    without the header cannot be compared: that is a warning, ``unverified-contract``, in ``diagnostics``.  Of an object
    without a contract there is nothing to compare.
    """
    if not item.components:
        return
    found = diagnostics if diagnostics is not None else Diagnostics()
    chosen = sorted(item.ltoir if images is None else images, key=lambda image: image.unit)
    merged = len({image.unit for image in item.ltoir}) > 1  # then some units may hold helpers alone
    silent = [image.arch for image in chosen if not _compare(item, image, found)]
    for arch in silent if not merged or len(silent) == len(chosen) else ():
        message = f"the code for {arch} of '{item.name}' carries no records to compare the contract with"
        found.warning("unverified-contract", message, Location(item.path))
    found.raise_if_errors()


def _compare(item: Object, image: Image, found: Diagnostics) -> bool:
    """Whether the image has records to compare with."""
    where = Location(item.path)
    read = [parse_record(text, item.name, where, Diagnostics()) for text in device_records(image, item.name, where)]
    device = {_key(record): record for record in read if record is not None}
    if not device:
        return False
    names = {record.component for record in device.values()}
    single = len({other.unit for other in item.ltoir}) == 1
    notes = [Note(f"contract and code are in '{item.name}'", where)]
    contract = {
        _key(record): record
        for component in item.components
        # an object of several translation units holds a component in one of them
        if single or component.name in names
        for record in component.records
    }
    for key, record in contract.items():
        other = device.get(key)
        if other is None:
            message = f"{_what(record)} is in the contract but not in the code for {image.arch}"
            found.error("contract-mismatch", message, record.location, notes=notes)
        elif not _agree(record, other):
            message = f"{_what(record)} differs in the code for {image.arch}: {differences(record, other)}"
            hint = "a contract must not depend on __CUDA_ARCH__"
            found.error("contract-mismatch", message, record.location, notes=notes, hint=hint)
    for key, record in device.items():
        if key not in contract:
            message = f"{_what(record)} is in the code for {image.arch} but not in the contract"
            found.error("contract-mismatch", message, record.location, notes=notes)
    return True


def _key(record: Record) -> tuple[str, str, str]:
    return (record.component, record.op, record.name)


def _agree(first: Record, second: Record) -> bool:
    """Whether two records of one declaration say the same, however they are spelled."""
    return (first.values, first.location) == (second.values, second.location)


def _what(record: Record) -> str:
    return f"{record.op} '{record.name}' of component '{record.component}'"


def differences(first: Record, second: Record) -> str:
    """What two records of one declaration say differently, such as ``bytes is 4096, there 2048``."""
    keys = [
        key for key in dict.fromkeys((*first.values, *second.values)) if first.values.get(key) != second.values.get(key)
    ]
    if not keys:
        return f"declared at {first.location}, there at {second.location}"

    def shown(record: Record, key: str) -> str:
        return json.dumps(record.values[key]) if key in record.values else "absent"

    return ", ".join(f"{key} is {shown(first, key)}, there {shown(second, key)}" for key in keys)


def same_contract(by_arch: Sequence[tuple[str, Sequence[Record]]]) -> None:
    """Whether compilations of one source for several architectures declare the same.
    Raises LinkError ``arch-dependent-contract``, one error per declaration that differs."""
    found = Diagnostics()
    arch, first = by_arch[0]
    expected = {_key(record): record for record in first}
    for other, records in by_arch[1:]:
        actual = {_key(record): record for record in records}
        for key in dict.fromkeys((*expected, *actual)):
            one, two = expected.get(key), actual.get(key)
            known = one or two
            assert known is not None
            if one is None or two is None:
                there = arch if two is None else other
                message = f"{_what(known)} is declared for {there} but not for {other if two is None else arch}"
            elif not _agree(one, two):
                message = f"{_what(known)} differs between {arch} and {other}: {differences(one, two)}"
            else:
                continue
            hint = "a contract must not depend on __CUDA_ARCH__"
            found.error("arch-dependent-contract", message, known.location, hint=hint)
    found.raise_if_errors()
