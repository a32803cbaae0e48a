"""nvJitLink: LTO-IR of components, transfers and the entry in; one cubin (or PTX) and the whole log out.

Input order does not change the result of a well-formed link, but it is kept fixed so that equal inputs give equal
bytes.  nvJitLink's messages are mapped to diagnostics; its log is kept whole, as a note.
Source: nvJitLink documentation, CUDA 13.
"""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from pipelink.backend import libraries
from pipelink.support import crash
from pipelink.support.diagnostics import UNKNOWN, LinkError, Location, Note, error
from pipelink.support.inputs import FATBIN_MAGIC

_UNRESOLVED: Final = re.compile(r"(?:Unresolved extern (?:function|variable)|Undefined reference to) '([^']+)'")
_MALFORMED: Final = re.compile(r"^(.*?): parse .*", re.MULTILINE)
_MULTIPLE: Final = re.compile(r"^(.*?): link error: .*?'([^']+)': symbol multiply defined", re.MULTILINE)


@dataclass(frozen=True)
class Image:
    """One LTO-IR input; ``name`` is its origin and appears in messages."""

    name: str
    data: bytes


@dataclass(frozen=True)
class Linked:
    """A cubin or PTX text, nvJitLink's log (ptxas -v included) and the wall time of the call in seconds."""

    data: bytes
    log: str
    seconds: float


def version() -> tuple[int, int]:
    """nvJitLink's own version, such as (13, 0)."""
    nvjitlink = libraries.load("nvjitlink")
    major, minor = nvjitlink.version()
    return int(major), int(minor)


class UnresolvedSymbol(LinkError):
    """Raised as ``unresolved-symbol``: nobody defines the function or variable ``symbol``."""

    def __init__(self, symbol: str, notes: Sequence[Note]) -> None:
        super().__init__(
            error(
                "unresolved-symbol", f"'{demangle(symbol)}' is used, but no linked object defines it", notes=notes
            ).diagnostics
        )
        self.symbol = symbol


class _Refusal(Exception):
    """nvJitLink did not do it: what it says, its log, and the image that it refused, or ''."""

    def __init__(self, problem: str, log: str, image: str) -> None:
        super().__init__(problem)
        self.problem, self.log, self.image = problem, log, image


def link(
    images: Sequence[Image], arch: str, *, ptx: bool = False, lineinfo: bool = False, options: Sequence[str] = ()
) -> Linked:
    """Link ``images`` for ``arch`` (``sm_90a``).  Raises LinkError: ``unresolved-symbol``, ``duplicate-symbol``,
    ``arch-mismatch``, ``outdated-linker``, ``nvjitlink-failed``."""
    # Nothing looks variables up in a linked cubin: those that no code reads, contract records above all, are dropped.
    arguments = [f"-arch={arch}", "-lto", "-O3", "-Xptxas=-v", "-optimize-unused-variables"]
    if ptx:
        arguments.append("-ptx")
    if lineinfo:
        arguments.append("-lineinfo")
    arguments += options
    try:
        return _complete(images, arguments, ptx=ptx)
    except _Refusal as refusal:
        raise _failure(refusal, images, arch) from None


_links_nothing_else = False


def link_nothing_else() -> None:
    """Say that this process makes no code."""
    global _links_nothing_else
    _links_nothing_else = True


def print_ptx(images: Sequence[Image], arch: str, *, optimise: bool = False) -> str | None:
    """PTX of images of which some functions may be missing, with the variables that no code reads; None if nvJitLink
    refuses them.  For a process that links nothing else, and says so by :func:`link_nothing_else`: nvJitLink keeps what
    ``-O0`` set, and a later link of the process makes other code."""
    assert _links_nothing_else, "without optimising, nvJitLink prints in a process of its own"
    arguments = [f"-arch={arch}", "-lto", "-ptx", "-O3" if optimise else "-O0"]
    try:
        return _complete(images, arguments, ptx=True).data.decode("utf-8", "replace")
    except _Refusal:
        return None


def translate(image: Image, arch: str, where: Location = UNKNOWN) -> bytes:
    """PTX of one image by itself, with the variables that no code reads; ``where`` is the file that holds it.
    Raises LinkError ``nvjitlink-failed``."""
    try:
        return _complete([image], [f"-arch={arch}", "-lto", "-ptx"], ptx=True).data
    except _Refusal as refusal:
        message = f"nvJitLink cannot read the LTO-IR for {arch} of '{image.name}': {refusal.problem}"
        notes = [Note(f"nvJitLink's log: {refusal.log}")]
        raise error("nvjitlink-failed", message, where, notes=notes) from None


def _complete(images: Sequence[Image], arguments: Sequence[str], *, ptx: bool) -> Linked:
    """One run of nvJitLink."""
    nvjitlink = libraries.load("nvjitlink")
    start = time.perf_counter()
    try:
        handle = nvjitlink.create(len(arguments), arguments)
    except (nvjitlink.nvJitLinkError, UnicodeError) as problem:
        given = " ".join(arguments)
        raise error("nvjitlink-failed", f"nvJitLink refused its options: {problem}", notes=[Note(given)]) from None
    current = ""
    try:
        try:
            for image in images:
                current = image.name
                # nvcc's objects hold packed images, which stay in a fatbin of their own
                packed = image.data.startswith(FATBIN_MAGIC)
                kind = nvjitlink.InputType.FATBIN if packed else nvjitlink.InputType.LTOIR
                with crash.calling("nvJitLink", "nvjitlink-failed", [image.name]):
                    nvjitlink.add_data(handle, kind, image.data, len(image.data), image.name)
            current = ""
            with crash.calling("nvJitLink", "nvjitlink-failed", [image.name for image in images]):
                nvjitlink.complete(handle)
        except nvjitlink.nvJitLinkError as problem:
            raise _Refusal(str(problem), _log(handle), current) from None
        try:
            if ptx:
                data = bytearray(nvjitlink.get_linked_ptx_size(handle))
                nvjitlink.get_linked_ptx(handle, data)
                data = data.rstrip(b"\0")  # of a C string
            else:
                data = bytearray(nvjitlink.get_linked_cubin_size(handle))
                nvjitlink.get_linked_cubin(handle, data)
        except nvjitlink.nvJitLinkError as problem:  # an option asked for something else
            result = "PTX" if ptx else "cubin"
            raise _Refusal(f"it made no {result} ({problem})", _log(handle), "") from None
        return Linked(bytes(data), _log(handle), time.perf_counter() - start)
    finally:
        nvjitlink.destroy(handle)


def _log(handle: int) -> str:
    nvjitlink = libraries.load("nvjitlink")
    parts: list[str] = []
    for which in ("error", "info"):
        size: int = getattr(nvjitlink, f"get_{which}_log_size")(handle)
        if size > 1:
            text = bytearray(size)
            getattr(nvjitlink, f"get_{which}_log")(handle, text)
            parts.append(text.decode(errors="replace").strip("\0\n "))
    return "\n".join(parts)


def _failure(refusal: _Refusal, images: Sequence[Image], arch: str) -> LinkError:
    problem, log, image = refusal.problem, refusal.log, refusal.image
    notes = [Note(f"nvJitLink: {log or problem}")]
    if match := _UNRESOLVED.search(log):
        return UnresolvedSymbol(match[1], notes)
    if match := _MULTIPLE.search(log):
        second, symbol = match.groups()
        origins = [*_other_origins(symbol, second, images, arch), second]
        name = demangle(symbol)
        return error(
            "duplicate-symbol",
            f"'{name}' is defined in {' and '.join(repr(origin) for origin in origins)}",
            Location(origins[0]),
            notes=[*(Note(f"'{name}' is defined here too", Location(origin)) for origin in origins[1:]), *notes],
            hint="make it static in each, or give each a namespace of its own",
        )
    if match := _MALFORMED.search(log):
        return error("nvjitlink-failed", f"nvJitLink cannot read the LTO-IR of '{match[1]}'", Location(match[1]),
                     notes=notes, hint="compile the object again")  # fmt: skip
    where = f" in '{image}'" if image else ""
    if "ARCH_MISMATCH" in problem:
        return error("arch-mismatch", f"LTO-IR{where} is for a newer architecture than the target", notes=notes)
    if "OUTDATED_LIBRARY" in problem or "NVVM_VERSION" in problem.upper():
        major, minor = version()
        return error(
            "outdated-linker",
            f"LTO-IR{where} was made by a newer toolkit than this nvJitLink {major}.{minor}",
            notes=notes,
            hint="install an nvidia-nvjitlink at least as new as the toolkit that compiled the object",
        )
    return error("nvjitlink-failed", f"nvJitLink failed{where}: {problem.strip()}", notes=notes)


def _other_origins(symbol: str, second: str, images: Sequence[Image], arch: str) -> list[str]:
    """Which other inputs define ``symbol``: nvJitLink names only the later one, so each is tried with it alone."""
    later = next((image for image in images if image.name == second), None)
    if later is None or len(images) <= 2:
        return [image.name for image in images if image.name != second]
    found: list[str] = []
    for image in images:
        if image is later:
            continue
        try:
            link([image, later], arch, ptx=True)
        except LinkError as problem:
            found += [
                image.name for d in problem.diagnostics for n in d.notes if f"'{symbol}': symbol multiply" in n.message
            ]
    return found


def demangle(symbol: str) -> str:
    """``acme::loader::ab::pl_acquire`` for its Itanium name, without the parameters; other names unchanged."""
    if plain := re.match(r"_Z(\d+)", symbol):
        return symbol[plain.end() :][: int(plain[1])]
    match = re.match(r"_ZN(.*)$", symbol)
    if not match:
        return symbol
    rest, parts = match[1], []
    while number := re.match(r"\d+", rest):
        length = int(number[0])
        parts.append(rest[number.end() : number.end() + length])
        rest = rest[number.end() + length :]
    return "::".join(parts) if parts and rest.startswith("E") else symbol
