"""Colours and fonts of the pictures, for a light and for a dark page.

Every instance has a colour, which both schemes have a shade of; colours are classes that the stylesheet sets, so that
one file follows the viewer.
"""

from __future__ import annotations

from typing import Final, Literal

Scheme = Literal["auto", "light", "dark"]

CHARACTER: Final = 7.2  # width of a 12 px letter
#: (light, dark) fills of instances, in order; both carry the text colour of their scheme.
FILLS: Final = (
    ("#a5c8ea", "#2d5f91"),
    ("#f5c28e", "#8a5722"),
    ("#a9d8b0", "#2f7043"),
    ("#eba9b5", "#8c3d4f"),
    ("#cdb4e4", "#654a88"),
    ("#e2d38a", "#6f611f"),
    ("#97d5d6", "#226d6d"),
    ("#d3bfae", "#6a5442"),
)
_INK: Final = {  # class: (light, dark)
    "page": ("#ffffff", "#14181d"),
    "free": ("#f0f2f4", "#20262d"),
    "system": ("#b8bfc7", "#56606b"),
    "line": ("#8b949e", "#7d8791"),
    "text": ("#1b1f24", "#eceff3"),
    "soft": ("#57606a", "#a3adb8"),
}
BAD: Final = ("#c4262e", "#ff7b80")  # what must not be


def stylesheet(scheme: Scheme) -> str:
    """CSS of the classes: ``o0``, ``o1``, … fill with an instance's colour, the inks with theirs; ``rule`` and ``cut``
    are strokes; ``bad`` is text, ``wrong`` a stroke, in the colour of errors."""

    def rules(index: int) -> str:
        found = [f".o{n}{{fill:{fill[index]}}}" for n, fill in enumerate(FILLS)]
        found += [f".{name}{{fill:{ink[index]}}}" for name, ink in _INK.items()]
        found.append(f".cut{{stroke:{_INK['page'][index]}}}.rule{{stroke:{_INK['line'][index]}}}")
        found.append(f".bad{{fill:{BAD[index]}}}.wrong{{stroke:{BAD[index]}}}")
        return "".join(found)

    base = (
        "text{font:12px system-ui,'DejaVu Sans',sans-serif}.mono{font-family:ui-monospace,'DejaVu Sans Mono',monospace;"
    )
    base += "font-size:11px}.h{font-size:14px;font-weight:600}.t{font-size:18px;font-weight:600}"
    if scheme == "auto":
        return f"{base}{rules(0)}@media (prefers-color-scheme:dark){{{rules(1)}}}"
    return base + rules(1 if scheme == "dark" else 0)
