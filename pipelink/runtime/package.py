"""Reading a ``.plk``: a zip of ``manifest.json`` and a cubin of every kernel for each architecture
(docs/package-format.md).

Input: a path, or bytes.  Output: :class:`Package`, with the manifest held to its table and every cubin to its hash.
Whatever the file says of itself, reading it takes less than 2 GiB: its size, its directory and all that is unpacked
are bounded before they are read (:mod:`pipelink.support.limits`).  Names inside the zip are never used as paths.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import re
import struct
import zipfile
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, cast

from pipelink.runtime.manifest import LaunchContract
from pipelink.runtime.schema import MANIFEST, VERSION, Malformed
from pipelink.support.diagnostics import LinkError, Location, error, nearest, shown
from pipelink.support.inputs import read_input
from pipelink.support.limits import MANIFEST_BYTES, PACKAGE_BYTES, PACKAGE_CODE, PACKAGE_DIRECTORY

MEMBER: Final = "manifest.json"
#: End of a zip's directory: signature, disks, members, the directory's bytes and place, length of the comment
#: (PKWARE APPNOTE 4.3.16); zip64's locator stands before it.
_END: Final = struct.Struct("<4s4H2LH")
_END_SIGNATURE: Final = b"PK\x05\x06"
_ZIP64: Final = struct.Struct("<4sLQL")
_ZIP64_SIGNATURE: Final = b"PK\x06\x07"


@dataclass(frozen=True)
class PackageTarget:
    """One architecture of a kernel."""

    arch: str
    cubin: bytes
    contract: LaunchContract


@dataclass(frozen=True)
class PackageKernel:
    """A linked kernel; ``manifest`` is its object of the JSON document."""

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


@dataclass(frozen=True)
class Package:
    """One linked kernel or several, of different names."""

    kernels: tuple[PackageKernel, ...]

    def __getitem__(self, name: str) -> PackageKernel:
        """Raises LinkError ``no-kernel``."""
        found = next((kernel for kernel in self.kernels if kernel.name == name), None)
        if found is None:
            names = [kernel.name for kernel in self.kernels]
            message = f"the package holds no kernel {shown(name)}; it has {', '.join(names)}"
            raise error("no-kernel", message, hint=nearest(name, names))
        return found


def read(source: str | os.PathLike[str] | bytes) -> Package:
    """Raises LinkError ``unreadable-input``, ``oversized-input`` or ``bad-package``."""
    where = Location("<bytes>" if isinstance(source, bytes) else os.fspath(source))
    data = source if isinstance(source, bytes) else read_input(os.fspath(source), PACKAGE_BYTES)
    try:
        _check_end(data)
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            return _package(_Members(archive))
    except Malformed as problem:
        raise error("bad-package", str(problem), where) from problem
    except LinkError as problem:
        raise error("bad-package", problem.diagnostics[0].message, where) from problem
    except (zipfile.BadZipFile, zlib.error, UnicodeDecodeError, RecursionError) as problem:
        raise error("bad-package", f"not a linked kernel: {problem}", where) from problem
    except (EOFError, NotImplementedError, RuntimeError, OSError, ValueError) as problem:  # damaged or encrypted zips
        raise error("bad-package", f"damaged package: {problem}", where) from problem


def _check_end(data: bytes) -> None:
    """Hold the zip to a small directory at the end of the file, before anybody reads it.  Raises Malformed."""
    if len(data) > PACKAGE_BYTES:
        raise Malformed(f"{len(data)} B, expected at most {PACKAGE_BYTES}")
    if len(data) < _END.size or not data.endswith(b"\0\0") or data[-_END.size :][:4] != _END_SIGNATURE:
        raise Malformed("not a linked kernel: no directory of a zip at its end")
    before = data[-_END.size - _ZIP64.size : -_END.size]
    size = _END.unpack(data[-_END.size :])[5]
    if before.startswith(_ZIP64_SIGNATURE) or size > PACKAGE_DIRECTORY:
        raise Malformed(f"a zip with a directory of more than {PACKAGE_DIRECTORY} B")


class _Members:
    """The members of an archive, each unpacked once, and no more of them than the limits allow."""

    def __init__(self, archive: zipfile.ZipFile) -> None:
        self._archive = archive
        self._left = PACKAGE_CODE
        self._cubins: dict[str, bytes] = {}
        names = archive.namelist()
        if len(set(names)) < len(names):
            raise Malformed("two members have one name")

    def manifest(self) -> Any:
        text = self._read(MEMBER, MANIFEST_BYTES)
        try:
            return json.loads(text, object_pairs_hook=_object, parse_constant=_no_constant, parse_int=_integer)
        except json.JSONDecodeError as problem:
            raise Malformed(f"not a linked kernel: {problem}") from problem

    def cubin(self, name: str) -> bytes:
        found = self._cubins.get(name)
        if found is None:
            found = self._cubins[name] = self._read(name, self._left)
            self._left -= len(found)
        return found

    def _read(self, name: str, limit: int) -> bytes:
        try:
            info = self._archive.getinfo(name)
        except KeyError as problem:
            raise Malformed(f"the package holds no '{name}'") from problem
        if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise Malformed(f"'{name}' is packed in a way other than stored and deflated")
        if info.file_size > limit:
            raise Malformed(f"'{name}' is {info.file_size} B, expected at most {limit}")
        with self._archive.open(info) as stream:
            return stream.read(limit + 1)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        seen: set[str] = set()
        again = next(key for key, _ in pairs if key in seen or seen.add(key))
        raise Malformed(f"the manifest is malformed: two values of key {shown(again)}")
    return found


def _no_constant(text: str) -> None:
    raise Malformed(f"the manifest is malformed: {text} is no number")


def _integer(text: str) -> int:
    if len(text) > 20:
        raise Malformed(f"the manifest is malformed: a number of {len(text)} digits")
    return int(text)


def _package(members: _Members) -> Package:
    document = members.manifest()
    if not isinstance(document, dict) or "pipelink_package" not in document:
        raise Malformed("the manifest is not a PipeLink package's")
    given = cast(dict[str, Any], document)
    version = given["pipelink_package"]
    if version != VERSION:
        raise Malformed(f"package version {shown(version)}, expected {VERSION}")
    try:
        found = MANIFEST.read(given, "")
    except Malformed as problem:
        raise Malformed(f"the manifest is malformed: {problem}") from problem
    names = [kernel["name"] for kernel in found["kernels"]]
    if len(set(names)) < len(names):
        raise Malformed("the manifest is malformed: two kernels have one name")
    for kernel in found["kernels"]:
        archs = [target["arch"] for target in kernel["targets"]]
        if len(set(archs)) < len(archs):
            raise Malformed(f"the manifest is malformed: kernel '{kernel['name']}' has two targets of one architecture")
    kernels = [
        PackageKernel(name, tuple(_target(entry, members) for entry in kernel["targets"]), original)
        for name, kernel, original in zip(names, found["kernels"], given["kernels"], strict=True)
    ]
    for kernel in kernels:
        first, *others = (target.contract.operations for target in kernel.targets)
        if any(operations != first for operations in others):
            message = f"the manifest is malformed: two targets of kernel '{kernel.name}' have other operations"
            raise Malformed(message)
    return Package(tuple(kernels))


def _target(entry: Mapping[str, Any], members: _Members) -> PackageTarget:
    cubin = members.cubin(entry["cubin"])
    if hashlib.sha256(cubin).hexdigest() != entry["sha256"]:
        raise Malformed(f"'{entry['cubin']}' is damaged: its hash is not the manifest's")
    return PackageTarget(entry["arch"], cubin, LaunchContract.from_json(entry["launch"]))
