"""Which headers a source includes, for a build system's dependency file.

NVRTC does not report them, so ``#include`` lines are followed without evaluating conditions: the result holds every
header that the compiler can have read, and perhaps more.  Headers of the CUDA toolkit are left out, as ``-MMD`` does.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path

from pipelink.support import limits

_INCLUDE = re.compile(rb'^[ \t]*#[ \t]*include[ \t]*(?:"([^"\n]+)"|<([^>\n]+)>)', re.MULTILINE)


def find_headers(source: Path, folders: Sequence[Path], toolkit: Sequence[Path]) -> list[Path]:
    """The headers of ``source`` in the order in which they are met; ``toolkit`` folders are not searched."""
    system = [folder.resolve() for folder in toolkit]
    found: dict[Path, None] = {}
    waiting = [source]
    seen = {source.resolve()}
    while waiting and len(seen) < limits.HEADERS:
        current = waiting.pop()
        try:
            text = current.read_bytes()
        except OSError:
            continue
        for match in _INCLUDE.finditer(text):
            quoted, angled = match.groups()
            name = (quoted or angled).decode("utf-8", "surrogateescape")
            for folder in ([current.parent] if quoted else []) + list(folders):
                header = folder / name
                if not os.path.isfile(header):
                    continue
                if header.resolve() not in seen and not any(s in header.resolve().parents for s in system):
                    seen.add(header.resolve())
                    found[header] = None
                    waiting.append(header)
                break
    return list(found)


def depfile(target: str, source: Path, headers: Sequence[Path]) -> str:
    """A makefile rule: ``target`` depends on ``source`` and ``headers``; each header gets an empty rule, so that
    removing one does not break the build."""

    def escaped(path: str) -> str:
        return path.replace("$", "$$").replace(" ", "\\ ").replace("#", "\\#")

    names = [escaped(str(path)) for path in (source, *headers)]
    rule = f"{escaped(target)}: " + " \\\n  ".join(names) + "\n"
    return rule + "".join(f"\n{name}:\n" for name in names[1:])
