"""The symbols of a PTX text: what it defines and what it only declares, with types, and which symbols each one uses.

Input: PTX that nvJitLink printed without optimising (``-O0``), so that functions are still functions, and a call shows
of which type each argument is.  Output: a :class:`Table`.  A function's text is made comparable: its labels, registers
and variables are numbered in the order in which they occur, and each symbol stands as ``¤``, its name in
:attr:`Text.uses`.  So two functions are the same if their texts are and the symbols that they use are.

A prototype says how many bits a parameter has; whether they are a float, the instructions that load and store it.
What is not understood is left out, never an error.  Source: PTX ISA 9.0.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final

from pipelink.backend.ptx import BREAK, matching, without_comments

PLACEHOLDER: Final = "¤"  # in no PTX text
_FUNCTION: Final = re.compile(r"(?<![\w.$])\.(entry|func)\b")
_LIST: Final = re.compile(r"\s*\(([^()]*)\)")
_NAME: Final = re.compile(r"\s*([A-Za-z_$%][\w$]*)")
_PARAMETER: Final = re.compile(r"\.param\b.*\.[a-z](\d+)\s+[\w$]+\s*(?:\[\s*(\d+)\s*\])?\s*$", re.DOTALL)
_VARIABLE: Final = re.compile(
    r"^\s*(?:(\.(?:visible|weak|extern|common))\s+)?\.(global|const|shared)\b([^=]*?)\.([a-z])(\d+)\s+"
    r"([A-Za-z_$][\w$]*)\s*(\[[^=]*\])?\s*(?:=(.*))?$",
    re.DOTALL,
)
_EXTENT: Final = re.compile(r"\[\s*(\d*)\s*\]")
_DEBUG_LABEL: Final = re.compile(r"\$L__(?:tmp|func_begin|func_end|info_string)\w*:")
_COUNTED: Final = re.compile(r"(\$L__BB|__local_depot)\d+")  # by function of the text
_IDENTIFIER: Final = re.compile(r"(?<![\w$%.])(?:[A-Za-z_$][\w$]*|%[a-z]+\d+\b)")
_NUMBERED: Final = re.compile(r"\$L|__local_depot|prototype_\d")
_LOCAL: Final = re.compile(r"^\s*\.(?:shared|global|const)\b[^;=]*?([A-Za-z_$][\w$]*)\s*(?:\[[^;=]*)?;", re.MULTILINE)
_CALL: Final = re.compile(r"\bcall(?:\.uni)?\s*(?:\([^()]*\)\s*,\s*)?([A-Za-z_$][\w$]*)\s*(?:,\s*\(([^()]*)\))?\s*;")
_ANY_CALL: Final = re.compile(
    r"\bcall(?:\.uni)?\s*(\([^()]*\)\s*,\s*)?([A-Za-z_$%][\w$]*)\s*(?:,\s*\(([^()]*)\))?\s*(?:,\s*prototype_\d+)?\s*;"
)
_ADDRESS: Final = re.compile(r"\bmov\.u64\s+(%rd\d+),\s*([A-Za-z_$][\w$]*)\s*;")
_PROTOTYPE: Final = re.compile(r"prototype_\d+\s*:\s*\.callprototype[^;]*;")
_REGISTERS: Final = re.compile(r"^\s*\.reg\b[^;]*;", re.MULTILINE)
_SLOT: Final = re.compile(r"\b(?:ld|st)\.param(?:\.v\d)?\.([a-z])\d+\b[^;\[]*\[([\w$]+)(?:\+0)?\]")
_RECORD: Final = "pl_record_"  # variables that hold contracts
#: Their definitions as they are printed, most of the text of an object.
_RECORDS: Final = re.compile(
    rf"^(?:\.\w+ )*?\.(?:global|const) [^;={{}}\n]*{_RECORD}[^;={{}}\n]*(?:=[^;\n]*)?;", re.MULTILINE
)


@dataclass(frozen=True)
class Type:
    """What a function takes or returns: ``size`` in bytes; ``kind`` is ``f`` or ``b`` where the code shows whether it
    is a float, ``m`` if it is passed in memory, else empty."""

    size: int
    kind: str = ""

    def fits(self, other: Type) -> bool:
        """Whether both can be one type."""
        return self.size == other.size and (self.kind == other.kind or "" in (self.kind, other.kind))

    def seen(self, letters: Collection[str]) -> Type:
        """The type, where instructions of these types load or store it."""
        if self.kind or not letters:
            return self
        floats = {letter == "f" for letter in letters}
        return self if len(floats) > 1 else replace(self, kind="f" if floats.pop() else "b")

    def __str__(self) -> str:
        return f"{self.size} bytes" if self.kind == "m" else f"{self.kind or 'b'}{8 * self.size}"


@dataclass(frozen=True)
class Signature:
    """A function's parameters and its result, None if it returns nothing."""

    parameters: tuple[Type, ...] = ()
    result: Type | None = None

    def fits(self, other: Signature) -> bool:
        """Whether a call by the one reaches a function of the other."""
        if len(self.parameters) != len(other.parameters) or (self.result is None) != (other.result is None):
            return False
        pairs = [*zip(self.parameters, other.parameters, strict=True)]
        if self.result is not None and other.result is not None:
            pairs.append((self.result, other.result))
        return all(one.fits(two) for one, two in pairs)

    def seen(self, slots: list[str], result: str, letters: Mapping[str, set[str]]) -> Signature:
        """The signature, where parameters are in ``slots`` that instructions of types ``letters`` use."""
        if len(slots) != len(self.parameters):
            return self
        pairs = zip(self.parameters, slots, strict=True)
        returned = self.result and self.result.seen(letters.get(result, ()))
        return Signature(tuple(type_.seen(letters.get(slot, ())) for type_, slot in pairs), returned)

    def __str__(self) -> str:
        return f"({', '.join(map(str, self.parameters))}) -> {self.result or 'nothing'}"


@dataclass(frozen=True)
class Symbol:
    """A function or a variable.  ``source`` is its body or initial value, with labels as they are counted within it;
    None where it is only declared."""

    name: str
    source: str | None


@dataclass(frozen=True)
class Function(Symbol):
    """A function, with what its prototype says."""

    prototype: Signature


@dataclass(frozen=True)
class Variable(Symbol):
    """A variable in ``space``, of ``size`` bytes: 0 if the declaration leaves it open.  ``linkage`` is ``visible``,
    ``weak`` or ``extern``; empty if other objects do not see it.  ``kind`` of a single number is ``float`` or
    ``integer``, pointers being integers; empty of anything else."""

    space: str
    size: int
    linkage: str
    kind: str = ""


@dataclass(frozen=True)
class Text:
    """What a symbol is, made comparable, and the symbols that it uses, in order and as often as they occur."""

    text: str
    uses: tuple[str, ...]


class Table:
    """The symbols of one text, by name; what is asked of one is found out when it is asked."""

    def __init__(self, symbols: Iterable[Symbol]) -> None:
        self.symbols: dict[str, Symbol] = {}
        for symbol in symbols:
            if symbol.source is not None or symbol.name not in self.symbols:
                self.symbols[symbol.name] = symbol
        self._texts: dict[str, Text] = {}

    def defines(self, name: str) -> bool:
        """Whether there is more than a declaration."""
        found = self.symbols.get(name)
        return found is not None and found.source is not None

    def declared(self) -> list[Symbol]:
        """What is used and not defined."""
        return [symbol for symbol in self.symbols.values() if symbol.source is None]

    def text(self, name: str) -> Text:
        """What a symbol that is defined is."""
        found = self._texts.get(name)
        if found is None:
            symbol = self.symbols[name]
            text, uses = _comparable(symbol.source or "", self.symbols, name)
            if isinstance(symbol, Variable):
                text = f"{symbol.space} {symbol.size} {text}"
            found = self._texts[name] = Text(text, uses)
        return found

    def users(self, name: str) -> list[str]:
        """The functions and variables that use ``name``."""
        near = [s.name for s in self.symbols.values() if s.source is not None and name in s.source and s.name != name]
        return [user for user in near if name in self.text(user).uses]

    def signature(self, name: str) -> Signature:
        """A function's types: as its body takes them, or as it is called where it is only declared."""
        function = self.symbols[name]
        assert isinstance(function, Function)
        found = function.prototype
        if function.source is not None:
            slots = [f"{name}_param_{number}" for number in range(len(found.parameters))]
            return found.seen(slots, "func_retval0", _letters(function.source))
        for user in self.users(name):
            for callee, slots, letters in _calls(self.symbols[user].source or ""):
                found = found.seen(slots, "retval0", letters) if callee == name else found
        return found


def parse(text: str) -> Table:
    """The table of a PTX text."""
    text = _COUNTED.sub(r"\1", _DEBUG_LABEL.sub("", without_comments(_RECORDS.sub("", text))))
    symbols: list[Symbol] = []
    position = 0
    while (found := BREAK.search(text, position)) is not None:
        head, body = text[position : found.start()], None
        position = found.end()
        if found[0] == "{":
            close = matching(text, position)
            body, position = text[position:close], close + 1
        if body is not None and "=" in head:  # an initialiser
            head, body = head + body, None
        symbol = _function(head, body) if _FUNCTION.search(head) else _variable(head)
        if symbol is not None and _RECORD not in symbol.name:
            symbols.append(symbol)
    return Table(symbols)


def _function(head: str, body: str | None) -> Function | None:
    kind = _FUNCTION.search(head)
    assert kind is not None
    at, result = kind.end(), None
    if returned := _LIST.match(head, at):
        at = returned.end()
        result = next(_types(returned[1]), None)
    name = _NAME.match(head, at)
    if name is None:
        return None
    given = _LIST.match(head, name.end())
    return Function(name[1], body, Signature(tuple(_types(given[1] if given else "")), result))


def _types(text: str) -> Iterator[Type]:
    for declared in text.split(","):
        if found := _PARAMETER.search(declared):
            size = int(found[1]) // 8
            yield Type(size * int(found[2]), "m") if found[2] else Type(size)


def _variable(head: str) -> Variable | None:
    found = _VARIABLE.match(head)
    if found is None:
        return None
    size = int(found[5]) // 8
    kind = "" if found[7] or size == 1 else "float" if found[4] == "f" else "integer"
    for extent in _EXTENT.findall(found[7] or ""):
        size *= int(extent or 0)
    linkage = (found[1] or "").removeprefix(".")
    source = None if linkage == "extern" else (found[8] or "")
    return Variable(found[6], source, found[2], size, linkage, kind)


def _letters(text: str) -> dict[str, set[str]]:
    """By parameter, the letters of the types with which its first bytes are loaded or stored."""
    found: dict[str, set[str]] = {}
    for letter, slot in _SLOT.findall(text):
        found.setdefault(slot, set()).add(letter)
    return found


def _calls(body: str) -> Iterator[tuple[str, list[str], dict[str, set[str]]]]:
    """Each call by name: the callee, where its arguments are, and the letters of the types that are used there."""
    calls = list(_CALL.finditer(body))
    ends = [0, *(call.end() for call in calls)]
    starts = [*(call.start() for call in calls), len(body)]
    for number, call in enumerate(calls):
        before, after = body[ends[number] : starts[number]], body[ends[number + 1] : starts[number + 1]]
        slots = [name.strip() for name in (call[2] or "").split(",") if name.strip()]
        given, returned = _letters(before), _letters(after).get("retval0")
        given.pop("retval0", None)  # of the call before
        yield call[1], slots, {**given, "retval0": returned} if returned else given


def _comparable(text: str, names: Collection[str], function: str) -> tuple[str, tuple[str, ...]]:
    """The text with what is its own numbered and symbols taken out, and those symbols."""
    own: dict[str, str] = {}
    uses: list[str] = []
    parameter = f"{function}_param_" if function else "$L"
    local = set(_LOCAL.findall(text)) if function else set[str]()

    def replaced(found: re.Match[str]) -> str:
        name = found[0]
        if name[0] == "%" or name in local or name.startswith(parameter) or _NUMBERED.match(name):
            return own.setdefault(name, f"{name[0]}{len(own)}")
        if name in names:
            uses.append(name)
            return PLACEHOLDER
        return name

    lines = (" ".join(line.split()) for line in _direct(_REGISTERS.sub("", text), names).splitlines())
    return _IDENTIFIER.sub(replaced, "\n".join(line for line in lines if line)), tuple(uses)


def _direct(text: str, names: Collection[str]) -> str:
    """The text with calls spelled alike: a function whose prototype differs in what a pointer points to is called
    through a register that its address was moved to just before."""
    addresses = {found[1]: found[2] for found in _ADDRESS.finditer(text) if found[2] in names}

    def called(found: re.Match[str]) -> str:
        callee = addresses.get(found[2], found[2])
        through.add(found[2])
        return f"call {' '.join((found[1] or '').split())} {callee} ({' '.join((found[3] or '').split())});"

    through: set[str] = set()
    text = _PROTOTYPE.sub("", _ANY_CALL.sub(called, text))
    return _ADDRESS.sub(lambda found: "" if found[1] in through and found[1] in addresses else found[0], text)
