"""The CUDA compiler in the process: NVRTC, its headers, and where the binary tools are.

Source text in; LTO-IR or a cubin out.  Everything comes from PyPI wheels, so neither a toolkit nor a host
compiler is needed.
"""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

from pipelink.backend import libraries
from pipelink.support import crash
from pipelink.support.diagnostics import Diagnostic, Diagnostics, LinkError, Location, Note, error
from pipelink.support.outputs import encoded

_MESSAGE = re.compile(r"^(?P<file>[^\s(][^(\n]*)\((?P<line>\d+)\): (?:catastrophic )?error(?: #[\w-]+)?: (?P<text>.*)$")
_WARNING = re.compile(r"^(?P<file>[^\s(][^(\n]*)\((?P<line>\d+)\): warning(?: #[\w-]+)?: (?P<text>.*)$", re.MULTILINE)
_ASSERTION = re.compile(r'^static assertion failed with "(.*)"$')
# What EDG says where a PL_ declaration, which begins with a namespace, stands in a class or function.
_TAKEN = "has already been declared in the current scope"
_SCOPE_ERRORS = ("expected a declaration", "namespace definition is not allowed")
_MISPLACED = (
    "PL_ declarations stand directly in PL_COMPONENT, not in a class, function or template; docs/contracts.md shows "
    "how to declare variants of one template"
)
_NO_HEADER = re.compile(r'^cannot open source file "([\w/.+-]+)"')
_BUILTIN_HEADERS = ("cassert", "assert.h", "cstdio", "stdio.h", "cmath", "math.h")
_CONTEXT = re.compile(r"at line (?P<line>\d+)(?: of (?P<file>\S.*))?$")


def _package(*parts: str) -> Path | None:
    """A file or folder of the ``nvidia`` wheels, or None."""
    spec = importlib.util.find_spec("nvidia")
    for root in (spec.submodule_search_locations or []) if spec else []:
        path = Path(root, "cu13", *parts)
        if path.exists():
            return path
    return None


@lru_cache(maxsize=1)
def include_dirs() -> tuple[Path, ...]:
    """PipeLink's own headers, then CUDA's and CCCL's from the wheels.  LinkError ``toolchain-missing``."""
    cuda = _package("include")
    if cuda is None:
        raise error("toolchain-missing", "CUDA's headers are missing", hint="pip install nvidia-cuda-runtime")
    return (Path(__file__).parents[1] / "include", cuda, cuda / "cccl")


@lru_cache(maxsize=1)
def cutlass_include_dir() -> Path:
    """CUTLASS's headers, of the wheel ``nvidia-cutlass``.  LinkError ``toolchain-missing``."""
    spec = importlib.util.find_spec("cutlass_library")
    for root in (spec.submodule_search_locations or []) if spec else []:
        path = Path(root, "source", "include")
        if path.is_dir():
            return path
    raise error("toolchain-missing", "CUTLASS's headers are missing", hint="pip install nvidia-cutlass==4.2.0.0")


def transfer_dir() -> Path:
    """The folder of the transfers' sources, which a monolith includes."""
    return Path(__file__).parents[1] / "transfers"


def _binary(name: str) -> Path:
    path = _package("bin", name)
    found = str(path) if path else shutil.which(name)
    if not found:
        raise error("toolchain-missing", f"{name} is missing", hint=f"pip install nvidia-cuda-{name}")
    return Path(found)


def nvdisasm() -> Path:
    """The disassembler: the wheel's, else the one on PATH.  LinkError ``toolchain-missing``."""
    return _binary("nvdisasm")


def cuobjdump() -> Path:
    """The object dumper: the wheel's, else the one on PATH.  LinkError ``toolchain-missing``."""
    return _binary("cuobjdump")


@lru_cache(maxsize=1)
def toolkit_version() -> str:
    """NVRTC's version, such as ``13.0``: what images of :func:`compile_ltoir` carry as their toolkit."""
    _, major, minor = libraries.load("nvrtc").nvrtcVersion()
    return f"{major}.{minor}"


def compile_ltoir(
    source: str | bytes,
    name: str,
    arch: str,
    *,
    include_dirs: Sequence[str | Path] = (),
    defines: Sequence[str] = (),
    std: str = "c++17",
    options: Sequence[str] = (),
    diagnostics: Diagnostics | None = None,
) -> bytes:
    """LTO-IR of relocatable device code for ``arch`` (``sm_90a``).  ``name`` is the file name in diagnostics; the
    toolchain's own include folders come last.  Warnings go to ``diagnostics``.  LinkError ``compile-error`` at the
    first error, with the log."""
    return _compile(
        source, name, arch, "ltoir", ("-rdc=true", "-dlto", *options), include_dirs, defines, std, diagnostics
    )


def compile_cubin(
    source: str | bytes,
    name: str,
    arch: str,
    *,
    include_dirs: Sequence[str | Path] = (),
    defines: Sequence[str] = (),
    std: str = "c++17",
    options: Sequence[str] = (),
    diagnostics: Diagnostics | None = None,
) -> bytes:
    """A whole program's cubin for ``arch``, without LTO.  Arguments and errors as :func:`compile_ltoir`."""
    return _compile(source, name, arch, "cubin", tuple(options), include_dirs, defines, std, diagnostics)


def _compile(
    source: str | bytes,
    name: str,
    arch: str,
    result: Literal["ltoir", "cubin"],
    flags: Sequence[str],
    dirs: Sequence[str | Path],
    defines: Sequence[str],
    std: str,
    diagnostics: Diagnostics | None,
) -> bytes:
    nvrtc = libraries.load("nvrtc")
    options = [f"-arch={arch}", f"-std={std}", *flags]
    options += [f"-D{define}" for define in defines]
    options += [f"-I{folder}" for folder in (*dirs, *include_dirs())]
    status, program = nvrtc.nvrtcCreateProgram(encoded(source), name.encode(), 0, [], [])
    _require(nvrtc, status)
    try:
        with crash.calling("NVRTC", "compile-error", [name]):
            (status,) = nvrtc.nvrtcCompileProgram(program, len(options), [encoded(option) for option in options])
        if int(status):
            raise _failure(name, _log(nvrtc, program) or _text(nvrtc, status))
        if diagnostics is not None and (log := _log(nvrtc, program)):
            _warn(name, log, diagnostics)
        sizes = {"ltoir": nvrtc.nvrtcGetLTOIRSize, "cubin": nvrtc.nvrtcGetCUBINSize}
        reads = {"ltoir": nvrtc.nvrtcGetLTOIR, "cubin": nvrtc.nvrtcGetCUBIN}
        status, size = sizes[result](program)
        _require(nvrtc, status)
        data = bytearray(size)
        (status,) = reads[result](program, data)
        _require(nvrtc, status)
        return bytes(data)
    finally:
        nvrtc.nvrtcDestroyProgram(program)


def _text(nvrtc: Any, status: Any) -> str:
    _, text = nvrtc.nvrtcGetErrorString(status)
    return text.decode("utf-8", "replace")


def _require(nvrtc: Any, status: Any) -> None:
    if int(status):
        raise error("compile-error", f"NVRTC failed: {_text(nvrtc, status)}")


def _log(nvrtc: Any, program: Any) -> str:
    status, size = nvrtc.nvrtcGetProgramLogSize(program)
    _require(nvrtc, status)
    data = bytearray(size)
    nvrtc.nvrtcGetProgramLog(program, data)
    return data.decode("utf-8", "replace").strip("\0 \n")


def _warn(name: str, log: str, diagnostics: Diagnostics) -> None:
    """The first warning of the log of a compilation that succeeded, with the log."""
    notes = [Note(f"the compiler's log:\n{log}")]
    match = _WARNING.search(log)
    where = Location(match["file"], int(match["line"])) if match else Location(name)
    diagnostics.warning("compile-warning", match["text"] if match else log.splitlines()[0], where, notes=notes)


def _absent_header(text: str) -> str | None:
    """What to do about a header that was not found."""
    found = _NO_HEADER.match(text)
    if found is None:
        return None
    name = found[1]
    if name.startswith(("cute/", "cutlass/")):
        return "pl-cc takes CUTLASS's headers with --include-cutlass"
    if name in _BUILTIN_HEADERS:
        return "leave it out: printf, assert and the functions of math need no header in device code"
    stem = name.removesuffix(".h")
    standard = next(
        (n for n in (name, f"c{stem}") if any(os.path.isfile(f / "cuda" / "std" / n) for f in include_dirs())), None
    )
    return f"device code has it as <cuda/std/{standard}>" if standard else None


def _failure(name: str, log: str) -> LinkError:
    """The first error of the log, at the author's own line: an error inside a header, or in the function that a PL_
    macro declares, is reported where the source uses it, with the first line as a note.  The log is the last note."""
    lines = log.splitlines()
    for number, line in enumerate(lines):
        match = _MESSAGE.match(line)
        if not match:
            continue
        where = Location(match["file"], int(match["line"]))
        # the compiler shows the source line above a caret
        carets = [at for at, text in enumerate(lines) if at > number + 1 and text.strip() == "^"]
        declared = bool(carets) and "PL_" in lines[carets[0] - 1]
        notes: list[Note] = []
        if match["file"] != name or declared:
            # in the author's own file a context may leave the file's name out
            own = (name,) if match["file"] != name else (name, None)
            for context in lines[number + 1 :]:
                if _MESSAGE.match(context):
                    break
                at = _CONTEXT.search(context)
                if at and at["file"] in own:
                    notes.append(Note("declared here" if declared else "stated here", where))
                    where = Location(name, int(at["line"]))
                    break
        notes.append(Note(f"the compiler's log:\n{log}"))
        text = _ASSERTION.sub(r"\1", match["text"])
        hint = _MISPLACED if declared and text in _SCOPE_ERRORS else _absent_header(text)
        if text.endswith(_TAKEN) and declared and "PL_COMPONENT(" in lines[carets[0] - 1]:
            hint = (
                "a component without a namespace shares its name with CUDA's functions: write PL_COMPONENT(yours::name)"
            )
        return LinkError([Diagnostic("error", "compile-error", text, where, tuple(notes), hint)])
    first = lines[0] if lines else "the compiler gave no log"
    return error("compile-error", first, Location(name), notes=[Note(f"the compiler's log:\n{log}")])
