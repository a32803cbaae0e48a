"""From which lines of source code was made: machine code, and PTX.

Input: a cubin with line information, as ``nvdisasm -gi`` prints it, or PTX with ``.loc`` directives.  Output: each
instruction with the places that it was made of, the innermost first, those of the calls that were inlined around it
behind.  Sources: PTX ISA, debugging directives.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from pipelink.backend import sass
from pipelink.support.diagnostics import Location

Frames = tuple[Location, ...]
_LINE: Final = re.compile(r'^\s*//## File "([^"]*)", line (\d+)')
_LOC: Final = re.compile(r"^\s*\.loc\s+(\d+)\s+(\d+)\s+(\d+)(?:,.*\binlined_at\s+(\d+)\s+(\d+)\s+(\d+))?")
_FILE: Final = re.compile(r'^\s*\.file\s+(\d+)\s+"([^"]*)"', re.MULTILINE)


def of_cubin(cubin: bytes) -> list[tuple[sass.Instruction, Frames]]:
    """The instructions of every function.  Raises LinkError ``disassembly-failed``."""
    return parse(sass.disassemble_lines(cubin))


def parse(text: str) -> list[tuple[sass.Instruction, Frames]]:
    """The instructions of an ``nvdisasm -c -gi`` listing."""
    found: list[tuple[sass.Instruction, Frames]] = []
    places: list[Location] = []
    after = False  # an instruction came since the last place
    for line in text.splitlines():
        if place := _LINE.match(line):
            places = [*([] if after else places), Location(place[1], int(place[2]))]
            after = False
        elif (instruction := sass.parse_instruction(line)) is not None:
            found.append((instruction, tuple(places)))
            after = True
        elif line.lstrip().startswith(".section"):
            places = []
    return found


def of_ptx(text: str) -> list[Frames]:
    """The places of each line of a PTX text."""
    files = dict(_FILE.findall(text))
    around: dict[tuple[str, ...], tuple[str, ...]] = {}  # what a place was last inlined at
    current: Frames = ()
    found: list[Frames] = []

    def frames(place: tuple[str, ...]) -> Iterator[Location]:
        seen: set[tuple[str, ...]] = set()
        while place[0] and place not in seen:
            seen.add(place)
            yield Location(files.get(place[0], ""), int(place[1]))
            place = around.get(place, ("",))

    for line in text.splitlines():
        if loc := _LOC.match(line):
            place = loc.groups("")
            around[place[:3]] = place[3:]
            current = tuple(frames(place[:3]))
        found.append(current)
    return found
