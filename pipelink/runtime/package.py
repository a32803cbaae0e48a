"""Reading a ``.plk``: a zip of ``manifest.json`` and one cubin per architecture (docs/package-format.md).

Input: a path, or bytes.  Output: :class:`Package`, with every cubin's hash checked.  Sizes are bounded before
anything is inflated, names inside the zip are never used as paths.
"""

from __future__ import annotations

import hashlib
import io
import json
import re
import zipfile
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from pipelink.runtime.contract import LaunchContract
from pipelink.support.diagnostics import Location, error

VERSION = 1
MANIFEST = "manifest.json"
_MAX_MANIFEST = 16 << 20  # bytes
_MAX_CUBIN = 1 << 30  # bytes


@dataclass(frozen=True)
class PackageTarget:
    """One architecture of a package."""

    arch: str
    cubin: bytes
    contract: LaunchContract


@dataclass(frozen=True)
class Package:
    """A linked kernel; ``manifest`` is the whole JSON document."""

    name: str
    targets: tuple[PackageTarget, ...]
    manifest: dict[str, Any]

    def choose(self, capability: tuple[int, int]) -> PackageTarget | None:
        """The image for a device of that compute capability, the most specific first: the very architecture
        (``sm_90a``), its family (``sm_100f``), a plain one of the same major version that is not newer."""
        number = capability[0] * 10 + capability[1]
        ranked: list[tuple[int, int, PackageTarget]] = []
        for target in self.targets:
            found = re.fullmatch(r"sm_(\d+)([af]?)", target.arch)
            if not found:
                continue
            image, suffix = int(found[1]), found[2]
            if suffix == "a" and image == number:
                ranked.append((2, image, target))
            elif image // 10 == number // 10 and image <= number and suffix != "a":
                ranked.append((1 if suffix == "f" else 0, image, target))
        return max(ranked, key=lambda entry: entry[:2])[2] if ranked else None


def read(source: str | Path | bytes) -> Package:
    """Raises LinkError ``unreadable-input`` or ``bad-package``."""
    if isinstance(source, bytes):
        data, where = source, Location("<bytes>")
    else:
        where = Location(str(source))
        try:
            data = Path(source).read_bytes()
        except OSError as problem:
            raise error(
                "unreadable-input", f"cannot read '{source}': {problem.strerror or problem}", where
            ) from problem
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            manifest: Any = json.loads(_member(archive, MANIFEST, _MAX_MANIFEST, where))
            return _package(archive, manifest, where)
    except (zipfile.BadZipFile, zlib.error, json.JSONDecodeError, UnicodeDecodeError, RecursionError) as problem:
        raise error("bad-package", f"not a linked kernel: {problem}", where) from problem
    except (EOFError, NotImplementedError, RuntimeError, OSError, ValueError) as problem:  # damaged or encrypted zips
        raise error("bad-package", f"damaged package: {problem}", where) from problem


def _member(archive: zipfile.ZipFile, name: str, limit: int, where: Location) -> bytes:
    try:
        info = archive.getinfo(name)
    except KeyError as problem:
        raise error("bad-package", f"the package holds no '{name}'", where) from problem
    if info.file_size > limit:
        raise error("bad-package", f"'{name}' is {info.file_size} B, expected at most {limit}", where)
    with archive.open(info) as stream:
        return stream.read(limit + 1)


def _package(archive: zipfile.ZipFile, manifest: Any, where: Location) -> Package:
    if not isinstance(manifest, dict) or "pipelink_package" not in manifest:
        raise error("bad-package", "the manifest is not a PipeLink package's", where)
    document = cast(dict[str, Any], manifest)
    version = document["pipelink_package"]
    if version != VERSION:
        raise error("bad-package", f"package version {version!r}, expected {VERSION}", where)
    targets: list[PackageTarget] = []
    try:
        for entry in document["targets"]:
            cubin = _member(archive, str(entry["cubin"]), _MAX_CUBIN, where)
            digest = hashlib.sha256(cubin).hexdigest()
            if digest != entry["sha256"]:
                raise error("bad-package", f"'{entry['cubin']}' is damaged: its hash is not the manifest's", where)
            targets.append(PackageTarget(str(entry["arch"]), cubin, LaunchContract.from_json(entry["launch"])))
        return Package(str(document["name"]), tuple(targets), document)
    except (KeyError, TypeError, AttributeError) as problem:
        raise error("bad-package", f"the manifest is malformed: {problem!r}", where) from problem
