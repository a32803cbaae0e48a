"""What headers hold of the vocabulary: ``docs/generate.py`` writes it."""

from __future__ import annotations

from pipelink.contract.vocabulary import RING_TOUCHES, TOUCHES


def touches_header() -> str:
    """``include/pipelink/touches.cuh``: a C++ type for each touch, and their list for messages."""
    listed = ", ".join(TOUCHES[name].cxx for name in RING_TOUCHES)
    lines = [
        "// pipelink/touches.cuh: how the data of a stream are touched at one end, a type each.",
        "//",
        "// Written by docs/generate.py from pipelink/contract/vocabulary.py; change that, then run `make docs`.",
        "#pragma once",
        f'#define PL_KNOWN_TOUCHES_ "{listed}"',
        "#define PL_TOUCHES_(TOUCH) \\",
    ]
    written = [f'  TOUCH({touch.cxx.removeprefix("pl::")}, "{name}")' for name, touch in TOUCHES.items() if touch.cxx]
    return "\n".join(lines) + "\n" + " \\\n".join(written) + "\n"
