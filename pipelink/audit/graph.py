"""The control flow of a role's or an answer's code: one list of instructions, with what it calls put in its place.

Input: the functions of a PTX text; output: a :class:`Graph` of blocks, reduced to what decides about events.  A branch
between ways without an event, but reads and writes of buffers, is none: its blocks are passed over, and what they
compute is not known afterwards.
Only instructions whose results decide a branch, or are asked for, are kept.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from pipelink.audit.claims import TOUCHING
from pipelink.audit.language import ACCESS, Event, UndecidedError
from pipelink.audit.values import parameter_of, registers, results, returns, sources
from pipelink.backend.ptx import Function, Instruction

_MOST_CODE: Final = 60_000  # instructions, calls included
_MOST_CALLS: Final = 8  # calls within calls
_WORD: Final = re.compile(r"(?<![\w$.])(%?[A-Za-z_$][\w$]*(?:@\d+)?)")
#: Instructions that are given a branch around them where they have a predicate.
_GUARDED: Final = frozenset(
    (
        "call",
        "bar",
        "barrier",
        "mbarrier",
        "fence",
        "cp",
        "wgmma",
        "tcgen05",
        "griddepcontrol",
        "ret",
        "exit",
        "trap",
        "st",
        "red",
        "atom",
    )
)


@dataclass(frozen=True)
class Place:
    """An instruction in the list.  ``function`` and ``original`` are where it comes from, as ``Origins`` knows it."""

    function: str
    original: Instruction
    code: Instruction


@dataclass
class Step:
    """What a walk does at a place: an event, or an instruction that computes what is needed; ``made`` are the registers
    that are needed of it."""

    at: int
    place: Place
    event: Event | None = None
    made: tuple[str, ...] = ()


@dataclass
class Block:
    """Instructions without a branch.  ``steps`` are those that matter, ``ways`` the blocks that follow; ``predicate``
    leads to the first of two.  ``skip`` is where an irrelevant branch goes on, with the registers that are ``lost`` and
    the reads and writes of buffers that were ``met``.  ``quiet``: threads may part at the branch, since no step lies
    between its ways that threads take together.  ``divided``: they do."""

    begin: int
    end: int
    steps: list[Step] = field(default_factory=list[Step])
    ways: tuple[int, ...] = ()
    predicate: str = ""
    skip: int | None = None
    met: tuple[Event, ...] = ()
    quiet: bool = False
    divided: bool = False
    lost: frozenset[str] = frozenset()
    live: frozenset[str] = frozenset()


class Graph:
    """The blocks of ``functions``, the first of which is the root.  ``classify`` names the event of an instruction,
    ``needed`` the registers whose values are asked for at it.  Block ``len(blocks)`` is the end.
    Raises UndecidedError."""

    def __init__(
        self,
        functions: Sequence[Function],
        classify: Callable[[str, Instruction], Event | None],
        needed: Callable[[Instruction], Iterable[str]],
        parts: Callable[[str, str], bool],
    ) -> None:
        """``parts`` says whether a register of a function differs from thread to thread."""
        writer = _Flat({function.name: function for function in functions})
        writer.function(functions[0], "", 0, (), "")
        self.code, self._labels, self._tables = writer.code, writer.labels, writer.tables
        self.events = {
            at: event for at, place in enumerate(self.code)
            if (event := classify(place.function, place.original)) is not None
        }  # fmt: skip
        self.blocks = self._cut()
        self._reduce(parts)
        self._keep(needed)

    # -- blocks

    def _cut(self) -> list[Block]:
        starts = {0, *self._labels.values()}
        starts |= {at + 1 for at, place in enumerate(self.code) if place.code.parts[0] in _LEAVES}
        ordered = sorted(at for at in starts if at < len(self.code))
        blocks = [Block(b, e) for b, e in zip(ordered, [*ordered[1:], len(self.code)], strict=True)]
        of = {block.begin: number for number, block in enumerate(blocks)}
        last = len(blocks)

        def block_at(at: int) -> int:
            return of.get(at, last)

        for number, block in enumerate(blocks):
            final = self.code[block.end - 1].code
            if final.parts[0] == "bra":
                to = block_at(self._labels.get(final.operands[-1], len(self.code)))
                block.ways = (to, number + 1) if final.predicate else (to,)
                block.predicate = final.predicate
            elif final.parts[0] == "brx":
                labels = self._tables.get(final.operands[-1], ())
                block.ways = tuple(dict.fromkeys(block_at(self._labels.get(name, len(self.code))) for name in labels))
                block.predicate = "?"
            elif final.parts[0] in ("ret", "exit"):
                block.ways = (last,)
            elif final.parts[0] != "trap":
                block.ways = (number + 1,)
        return blocks

    def _reduce(self, parts: Callable[[str, str], bool]) -> None:
        """Leave out ways that only trap, and pass over branches without events."""
        blocks, last = self.blocks, len(self.blocks)
        doomed: set[int] = set()
        while more := {
            n for n, b in enumerate(blocks) if n not in doomed and all(way in doomed for way in b.ways)
        }:  # fmt: skip
            doomed |= more
        for block in blocks:
            left = tuple(dict.fromkeys(way for way in block.ways if way not in doomed))
            if len(left) < len(block.ways) and len(left) == 1:
                block.predicate = ""
            block.ways = left
        after = _postdominators(blocks)
        for number, block in enumerate(blocks):
            if len(block.ways) < 2 or after.get(number) is None:
                continue
            meet = after[number]
            region, open_ = set[int](), list(block.ways)
            while open_:
                current = open_.pop()
                if current != meet and current != last and current not in region:
                    region.add(current)
                    open_ += blocks[current].ways
            block.quiet = all(
                event.verb in _QUIET for n in region for at in range(blocks[n].begin, blocks[n].end)
                if (event := self.events.get(at)) is not None
            )  # fmt: skip
            met = {event for n in region for at in range(blocks[n].begin, blocks[n].end)
                   if (event := self.events.get(at)) is not None}  # fmt: skip
            if all(event.verb in TOUCHING or event.verb == ACCESS for event in met):
                block.skip, block.met = meet, tuple(sorted(met, key=str))
                final = self.code[block.end - 1]
                block.divided = parts(final.function, final.original.predicate.lstrip("!"))
                block.lost = frozenset(
                    r for n in region for at in range(blocks[n].begin, blocks[n].end)
                    for r in results(self.code[at].code)
                )  # fmt: skip

    # -- what matters

    def _keep(self, needed: Callable[[Instruction], Iterable[str]]) -> None:
        wanted = {b.predicate.lstrip("!") for b in self.blocks if b.predicate and b.skip is None and len(b.ways) > 1}
        for at in self.events:
            wanted |= {r for operand in needed(self.code[at].code) for r in registers(operand)}
        makers: dict[str, list[int]] = {}
        for at, place in enumerate(self.code):
            for register in results(place.code):
                makers.setdefault(register, []).append(at)
        kept: set[int] = set()
        open_ = list(wanted)
        while open_:
            for at in makers.get(open_.pop(), ()):
                if at in kept:
                    continue
                kept.add(at)
                for register in _read(self.code[at].code):
                    if register not in wanted:
                        wanted.add(register)
                        open_.append(register)
        for block in self.blocks:
            for at in range(block.begin, block.end):
                event = self.events.get(at)
                if event is None and at not in kept:
                    continue
                made = tuple(r for r in results(self.code[at].code) if r in wanted)
                if made or event is None or not block.steps or block.steps[-1].event != event or not event.again:
                    block.steps.append(Step(at, self.code[at], event, made))
        self._live(wanted, needed)

    def _live(self, wanted: set[str], needed: Callable[[Instruction], Iterable[str]]) -> None:
        changed = True
        while changed:
            changed = False
            for block in reversed(self.blocks):
                ways = block.ways if block.skip is None else (block.skip,)
                live = {r for way in ways if way < len(self.blocks) for r in self.blocks[way].live} - block.lost
                if block.skip is None:
                    live |= {block.predicate.lstrip("!")} & wanted
                for step in reversed(block.steps):
                    if not step.place.code.predicate:
                        live -= set(step.made)
                    if step.made:
                        live |= set(_read(step.place.code)) & wanted
                    if step.event is not None:
                        live |= {r for operand in needed(step.place.code) for r in registers(operand)}
                if frozenset(live) != block.live:
                    block.live, changed = frozenset(live), True


#: What threads may do apart from each other: a call runs its answer in whoever calls.
_QUIET: Final = frozenset(("call", ACCESS, *TOUCHING))
_LEAVES: Final = frozenset(("bra", "brx", "ret", "exit", "trap"))
#: What computes a value that can be followed: their operands matter.
FOLLOWED: Final = frozenset(
    ("mov", "cvt", "add", "sub", "mul", "mad", "and", "or", "xor", "not", "shl", "shr", "min", "max", "neg", "rem",
     "div", "selp", "setp", "abs", "shfl")
)  # fmt: skip


def _read(instruction: Instruction) -> Iterable[str]:
    """The registers that an instruction's result is followed from."""
    if instruction.callee or instruction.parts[0] not in FOLLOWED:
        return ()
    found = [r for operand in sources(instruction) for r in registers(operand)]
    if instruction.predicate:
        found += [instruction.predicate.lstrip("!"), *results(instruction)]
    return found


def _postdominators(blocks: Sequence[Block]) -> dict[int, int]:
    """The block where all ways from a block meet again: its immediate postdominator, by Cooper, Harvey and Kennedy."""
    last = len(blocks)
    before: dict[int, list[int]] = {}
    for number, block in enumerate(blocks):
        for way in block.ways:
            before.setdefault(way, []).append(number)
    order: list[int] = []
    seen, stack = {last}, [(last, iter(before.get(last, ())))]
    while stack:
        node, rest = stack[-1]
        following = next((n for n in rest if n not in seen), None)
        if following is None:
            order.append(node)
            stack.pop()
        else:
            seen.add(following)
            stack.append((following, iter(before.get(following, ()))))
    rank = {node: n for n, node in enumerate(order)}
    found = {last: last}
    changed = True
    while changed:
        changed = False
        for node in reversed(order[:-1]):
            known = [way for way in blocks[node].ways if way in found]
            meet = known[0]
            for other in known[1:]:
                one = other
                while one != meet:
                    while rank[one] < rank[meet]:
                        one = found[one]
                    while rank[meet] < rank[one]:
                        meet = found[meet]
            if found.get(node) != meet:
                found[node], changed = meet, True
    return found


class _Flat:
    """Writes functions into one list, calls in place."""

    def __init__(self, functions: Mapping[str, Function]) -> None:
        self.functions = functions
        self.code: list[Place] = []
        self.labels: dict[str, int] = {}
        self.tables: dict[str, tuple[str, ...]] = {}
        self._calls = 0

    def function(self, function: Function, prefix: str, depth: int, arguments: Sequence[str], result: str) -> None:
        """``arguments`` are the caller's operands, ``result`` its register."""
        if depth > _MOST_CALLS or len(self.code) + len(function.instructions) > _MOST_CODE:
            raise UndecidedError("its code is too long, or calls itself")
        by_place: dict[int, list[str]] = {}
        for label, at in function.labels.items():
            by_place.setdefault(at, []).append(label)
        self.tables |= {prefix + name: tuple(prefix + to for to in tos) for name, tos in function.tables.items()}
        end = f"{prefix}end"
        for at, made in enumerate(function.instructions):
            for label in by_place.get(at, ()):
                self.labels[prefix + label] = len(self.code)
            self._instruction(function, made, prefix, depth, arguments, result, end)
        for label in by_place.get(len(function.instructions), ()):
            self.labels[prefix + label] = len(self.code)
        if prefix:
            self.labels[end] = len(self.code)

    def _instruction(
        self, function: Function, made: Instruction, prefix: str, depth: int, arguments: Sequence[str], result: str,
        end: str,
    ) -> None:  # fmt: skip
        name, code = function.name, made
        if prefix:
            code = _renamed(made, prefix)
        around = ""
        if code.predicate and code.parts[0] in _GUARDED:
            self._calls += 1
            around = f"around {self._calls}"
            opposite = code.predicate[1:] if code.predicate.startswith("!") else f"!{code.predicate}"
            self._add(name, Instruction("bra", (around,), opposite), None)
            code = replace(code, predicate="")
        if code.callee in self.functions:
            self._calls += 1
            called = self.functions[code.callee]
            self.function(called, f"%c{self._calls}_", depth + 1, code.arguments, code.result)
        elif prefix and (parameter := parameter_of(made)):
            number = int(parameter.removeprefix("param "))
            value = arguments[number] if number < len(arguments) else ""
            self._add(name, Instruction("mov.b64", (code.operands[0], value or "?"), code.predicate), made)
        elif prefix and returns(made):
            if result:
                self._add(name, Instruction("mov.b64", (result, code.operands[-1])), made)
        elif prefix and code.parts[0] == "ret":
            self._add(name, Instruction("bra", (end,)), None)
        else:
            self._add(name, code, made)
        if around:
            self.labels[around] = len(self.code)

    def _add(self, function: str, code: Instruction, original: Instruction | None) -> None:
        self.code.append(Place(function, original or code, code))


def _renamed(made: Instruction, prefix: str) -> Instruction:
    """The instruction of a function that is put in place of a call: registers and labels of its own."""

    def rename(text: str) -> str:
        from pipelink.audit.values import SPECIAL

        def one(match: re.Match[str]) -> str:
            word = match[1]
            if SPECIAL.match(word) or not ("%" in word or "@" in word):
                return word
            return prefix + word.lstrip("%")

        return _WORD.sub(one, text)

    operands = tuple(map(rename, made.operands))
    if made.parts[0] in ("bra", "brx"):
        operands = (*operands[:-1], prefix + made.operands[-1])
    sign = "!" if made.predicate.startswith("!") else ""
    predicate = sign + rename(made.predicate.removeprefix("!")) if made.predicate else ""
    return replace(
        made, operands=operands, predicate=predicate,
        arguments=tuple(map(rename, made.arguments)), result=rename(made.result),
    )  # fmt: skip
