"""Writes linked kernels as ``.plk`` files: a zip of ``manifest.json`` and each kernel's cubin per architecture.

Input: the linked images with their launch contracts.  Output: bytes, the same for the same input (fixed times, fixed
order).  The format is docs/package-format.md; :mod:`pipelink.runtime.package` reads it.
"""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Any

from pipelink.support.diagnostics import error

if TYPE_CHECKING:
    from pipelink.link import LinkedTarget

PACKAGE_VERSION = 2
_EPOCH = (1980, 1, 1, 0, 0, 0)  # the earliest time that a zip can state


@dataclass(frozen=True)
class PackageImage:
    """One architecture of a kernel: the cubin, its resolved launch contract, registers a thread at entry, and the
    toolkit whose nvJitLink made it (``13.0``)."""

    arch: str
    cubin: bytes
    launch: Mapping[str, Any]
    registers: int
    toolkit: str


@dataclass(frozen=True)
class PackageEntry:
    """One kernel of a package.  ``details`` are further keys of its object, which the runtime ignores."""

    name: str
    images: tuple[PackageImage, ...]
    details: Mapping[str, Any]


def package_bytes(name: str, images: Sequence[PackageImage], details: Mapping[str, Any] | None = None) -> bytes:
    """The package of one kernel."""
    return package_kernels([PackageEntry(name, tuple(images), details or {})])


def package_kernels(entries: Sequence[PackageEntry]) -> bytes:
    """The package of these kernels.  Raises LinkError ``duplicate-name`` where two have one name."""
    names = [entry.name for entry in entries]
    if again := next((name for number, name in enumerate(names) if name in names[:number]), None):
        raise error("duplicate-name", f"a package would hold two kernels named '{again}'")
    for entry in entries:
        archs = [image.arch for image in entry.images]
        if len(set(archs)) < len(archs):
            raise error("duplicate-name", f"a package would hold kernel '{entry.name}' twice for one architecture")
    kernels: list[dict[str, Any]] = []
    members: dict[str, bytes] = {}
    for entry in entries:
        targets: list[dict[str, Any]] = []
        for image in entry.images:
            member = f"{image.arch}.cubin" if len(entries) == 1 else f"{entry.name}.{image.arch}.cubin"
            members[member] = image.cubin
            targets.append(
                {
                    "arch": image.arch,
                    "cubin": member,
                    "sha256": hashlib.sha256(image.cubin).hexdigest(),
                    "launch": dict(image.launch),
                    "registers": image.registers,
                    "toolkit": image.toolkit,
                }
            )
        kernels.append({"name": entry.name, "targets": targets, **entry.details})
    manifest = {"pipelink_package": PACKAGE_VERSION, "kernels": kernels}
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        _add(archive, "manifest.json", json.dumps(manifest, indent=1).encode())
        for member, data in members.items():
            _add(archive, member, data)
    return buffer.getvalue()


def package_linked(targets: Sequence[LinkedTarget]) -> bytes:
    """The package of linked targets, those of one kernel beside each other, with each audit in the manifest.
    Raises LinkError ``duplicate-name``."""
    kernels = [list(of) for _, of in groupby(targets, key=lambda target: target.name)]
    return package_kernels(
        [
            PackageEntry(
                of[0].name,
                tuple(PackageImage(t.arch, t.cubin, t.launch, t.registers, t.toolkit) for t in of),
                {"audit": {target.arch: target.audit.to_json() for target in of}},
            )
            for of in kernels
        ]
    )


def _add(archive: zipfile.ZipFile, name: str, data: bytes) -> None:
    info = zipfile.ZipInfo(name, _EPOCH)
    info.compress_type = zipfile.ZIP_DEFLATED
    info.external_attr = 0o644 << 16
    archive.writestr(info, data)
