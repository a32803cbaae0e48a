"""Writes linked kernels as ``.plk`` files: a zip of ``manifest.json`` and a cubin per architecture.

Input: the linked images with their launch contracts.  Output: bytes, the same for the same input (fixed times, fixed
order).  The format is docs/package-format.md; :mod:`pipelink.runtime.package` reads it.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import tempfile
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pipelink.support.diagnostics import Location, error

if TYPE_CHECKING:
    from pipelink.link import LinkedTarget

PACKAGE_VERSION = 1
_EPOCH = (1980, 1, 1, 0, 0, 0)  # the earliest time that a zip can state


@dataclass(frozen=True)
class PackageImage:
    """One architecture: the cubin, its resolved launch contract, registers a thread at entry, and the toolkit whose
    nvJitLink made it (``13.0``)."""

    arch: str
    cubin: bytes
    launch: Mapping[str, Any]
    registers: int
    toolkit: str


def package_bytes(name: str, images: Sequence[PackageImage], details: Mapping[str, Any] | None = None) -> bytes:
    """The package of kernel ``name``.  ``details`` are further keys of the manifest, which the runtime ignores."""
    manifest: dict[str, Any] = {
        "pipelink_package": PACKAGE_VERSION,
        "name": name,
        "targets": [
            {
                "arch": image.arch,
                "cubin": f"{image.arch}.cubin",
                "sha256": hashlib.sha256(image.cubin).hexdigest(),
                "launch": dict(image.launch),
                "registers": image.registers,
                "toolkit": image.toolkit,
            }
            for image in images
        ],
        **(details or {}),
    }
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        _add(archive, "manifest.json", json.dumps(manifest, indent=1).encode())
        for image in images:
            _add(archive, f"{image.arch}.cubin", image.cubin)
    return buffer.getvalue()


def package_linked(name: str, targets: Sequence[LinkedTarget]) -> bytes:
    """The package of linked targets, with each audit in the manifest."""
    images = [PackageImage(t.arch, t.cubin, t.launch, t.registers, t.toolkit) for t in targets]
    return package_bytes(name, images, {"audit": {target.arch: target.audit.to_json() for target in targets}})


def _add(archive: zipfile.ZipFile, name: str, data: bytes) -> None:
    info = zipfile.ZipInfo(name, _EPOCH)
    info.compress_type = zipfile.ZIP_DEFLATED
    info.external_attr = 0o644 << 16
    archive.writestr(info, data)


def write_package(path: Path, data: bytes) -> None:
    """Write a package file; it appears whole or not at all.  Raises LinkError ``unwritable-output``."""
    temporary: Path | None = None
    try:
        descriptor, name = tempfile.mkstemp(prefix=".new-", suffix=".plk", dir=path.parent)
        temporary = Path(name)
        with os.fdopen(descriptor, "wb") as handle:
            handle.write(data)
        temporary.chmod(0o644)
        temporary.replace(path)
    except (OSError, ValueError) as problem:
        if temporary is not None:
            temporary.unlink(missing_ok=True)
        reason = getattr(problem, "strerror", None) or str(problem)
        raise error("unwritable-output", f"cannot write '{path}': {reason.lower()}", Location(str(path))) from problem
