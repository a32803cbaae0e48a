"""PTX text as functions of instructions, as far as an audit reads it.

Input: what nvJitLink prints; output: a :class:`Module`.  Instructions keep their text: opcode, operands, predicate and
line.  A call names its callee, its arguments and where its result goes.  Text that is not understood is skipped, never
an error: what an object holds may be anything.  Source: PTX ISA 9.0.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from functools import cached_property

_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_LINE_DIRECTIVE = re.compile(
    r"^[ \t]*\.(?:loc|file|section|pragma|target|version|address_size)\b[^\n;]*;?", re.MULTILINE
)
BREAK = re.compile(r"[;{}]")
_BRACE = re.compile(r"[{}]")
_FUNCTION = re.compile(r"(?<![\w.$])\.(entry|func)\b")
_NAME = re.compile(r"[A-Za-z_$%.][\w$.]*")
_SHARED = re.compile(r"\.shared\b[^;=]*?\s([A-Za-z_$][\w$.]*)\s*((?:\[\s*\d*\s*\])*)\s*$")
_ELEMENT = re.compile(r"\.[a-z](\d+)\b")
_LABEL = re.compile(r"^\s*([$\w.%]+)\s*:(?!:)\s*")
_PREDICATE = re.compile(r"^@(!?%?[\w$.@]+)\s+")
_CALL = re.compile(r"^(?:\(([^()]*)\)\s*,\s*)?([A-Za-z_$%][\w$.]*)\s*(?:,\s*\(([^()]*)\))?", re.DOTALL)
_PARAM_SLOT = re.compile(r"\[\s*([\w$]+)\s*(?:\+\s*(\d+))?\s*\]")


@dataclass(frozen=True)
class Instruction:
    """One instruction.  ``operands`` are split at top-level commas; of a call they are empty and ``callee``,
    ``arguments`` and ``result`` say what it does: registers or immediates by position, ``""`` where unknown.
    A register that inline assembly declares is called ``name@number``."""

    opcode: str
    operands: tuple[str, ...]
    predicate: str = ""
    callee: str = ""
    arguments: tuple[str, ...] = ()
    result: str = ""

    @property
    def text(self) -> str:
        """The instruction as PTX spells it, on one line."""
        if self.callee:
            return f"call {self.callee}"
        return f"{self.opcode} {', '.join(self.operands)}".strip()

    @cached_property
    def parts(self) -> tuple[str, ...]:
        """The opcode at its dots: ``("bar", "sync")``."""
        return tuple(self.opcode.split("."))


@dataclass
class Function:
    """A function that the text defines.  ``shared`` are the variables in shared memory that it declares itself,
    ``labels`` the instructions that branches go to, ``tables`` the labels of each list that an indexed branch chooses
    from.  A label of a scope within the body is called ``name@scope``."""

    name: str
    entry: bool
    instructions: list[Instruction] = field(default_factory=list[Instruction])
    shared: dict[str, int] = field(default_factory=dict[str, int])
    labels: dict[str, int] = field(default_factory=dict[str, int])
    tables: dict[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])

    @cached_property
    def callees(self) -> frozenset[str]:
        """The functions it calls by name."""
        return frozenset(i.callee for i in self.instructions if i.callee)


@dataclass
class Module:
    """One PTX text.  ``externals`` are functions that it declares and does not define; ``shared`` the variables in
    shared memory with their bytes, 0 for dynamic ones."""

    functions: dict[str, Function] = field(default_factory=dict[str, Function])
    externals: set[str] = field(default_factory=set[str])
    shared: dict[str, int] = field(default_factory=dict[str, int])

    def reachable(self, name: str) -> list[Function]:
        """The function and every one that it calls, directly or not, in the order they are met."""
        found: dict[str, Function] = {}
        open_ = [name]
        while open_:
            current = open_.pop()
            function = self.functions.get(current)
            if function is None or current in found:
                continue
            found[current] = function
            open_ += sorted(function.callees, reverse=True)
        return list(found.values())


def parse(text: str) -> Module:
    """The module of a PTX text."""
    text = without_comments(text)
    module = Module()
    position = 0
    while (found := BREAK.search(text, position)) is not None:
        head = text[position : found.start()]
        if found[0] == "{" and "=" in head:  # an initialiser
            close = text.find("}", found.end())
            position = close + 1 if close >= 0 else len(text)
            _variable(head.partition("=")[0], module.shared)
        elif found[0] == "{":
            end = matching(text, found.end())
            if function := _function(head, text[found.end() : end]):
                module.functions[function.name] = function
            position = end + 1
        else:
            position = found.end()
            if name := _function_name(head):
                module.externals.add(name)
            else:
                _variable(head, module.shared)
    module.externals -= module.functions.keys()
    return module


def without_comments(text: str) -> str:
    """The text without comments and directives about source lines."""
    return _LINE_DIRECTIVE.sub("", _COMMENT.sub(" ", text.replace("\0", " ")))


def matching(text: str, start: int) -> int:
    """Where the brace that opened before ``start`` closes; the end of the text if it does not."""
    depth = 1
    for found in _BRACE.finditer(text, start):
        depth += 1 if found[0] == "{" else -1
        if depth == 0:
            return found.start()
    return len(text)


def _function_name(head: str) -> str:
    """The name in a function's head, which may hold a result and parameters in parentheses."""
    kind = _FUNCTION.search(head)
    if kind is None:
        return ""
    rest = head[kind.end() :].lstrip()
    if rest.startswith("("):
        rest = rest[rest.find(")") + 1 :].lstrip() if ")" in rest else ""
    name = _NAME.match(rest)
    return name[0] if name else ""


def _function(head: str, body: str) -> Function | None:
    name = _function_name(head)
    if not name:
        return None
    reader = _Body(Function(name, ".entry" in head))
    for piece in re.split(r"([;{}])", _vectors(body)):
        if piece in ("{", "}"):
            reader.scope(piece == "{")
        elif piece != ";":
            reader.read(piece)
    reader.resolve()
    return reader.function


def _vectors(body: str) -> str:
    """Braces of vector operands as parentheses, so that those left over are scopes."""
    return re.sub(r"\{([^{};]*)\}", lambda m: m[0] if re.match(r"\s*\.", m[1]) else f"({m[1]})", body)


class _Body:
    """Reads a function's statements one after the other."""

    def __init__(self, function: Function) -> None:
        self.function = function
        self._stored: dict[tuple[str, int], str] = {}  # parameter space of the next call, by variable and byte
        self._calls: dict[str, int] = {}  # the call that last wrote a result variable
        self._local: dict[str, str] = {}  # registers that inline assembly declares, which may do so again elsewhere
        self._scopes: list[int] = []
        self._opened = 0
        self._branches: list[tuple[int, tuple[int, ...]]] = []  # and the scopes that each stands in

    def scope(self, opens: bool) -> None:
        """A brace, within which labels are its own."""
        if opens:
            self._opened += 1
            self._scopes.append(self._opened)
        elif self._scopes:
            self._scopes.pop()

    def resolve(self) -> None:
        """Name the labels that branches go to, once all are known."""
        labels = self.function.labels
        for at, scopes in self._branches:
            made = self.function.instructions[at]
            name = made.operands[-1]
            found = next((f"{name}@{scope}" for scope in reversed(scopes) if f"{name}@{scope}" in labels), name)
            self.function.instructions[at] = replace(made, operands=(*made.operands[:-1], found))

    def read(self, statement: str) -> None:
        statement = statement.strip()
        while label := _LABEL.match(statement):
            statement = statement[label.end() :]
            if statement.startswith(".branchtargets"):
                self.function.tables[label[1]] = _split(statement.removeprefix(".branchtargets"))
                return
            name = f"{label[1]}@{self._scopes[-1]}" if self._scopes else label[1]
            self.function.labels[name] = len(self.function.instructions)
        if statement.startswith("."):
            self._declare(statement)
            return
        if self._local:
            statement = _NAME.sub(lambda m: self._local.get(m[0], m[0]), statement)
        predicate = ""
        if guard := _PREDICATE.match(statement):
            predicate, statement = guard[1], statement[guard.end() :]
        words = statement.split(None, 1)
        if not words:
            return
        opcode, rest = words[0], words[1] if len(words) > 1 else ""
        if opcode.split(".")[0] == "call":
            self._call(opcode, rest, predicate)
            return
        operands = _split(rest)
        if len(operands) == 2 and opcode.startswith("st.param") and (slot := _PARAM_SLOT.match(operands[0])):
            self._stored[slot[1], int(slot[2] or 0)] = operands[1]
        elif len(operands) == 2 and opcode.startswith("ld.param") and (slot := _PARAM_SLOT.match(operands[1])):
            call = self._calls.get(slot[1])
            if call is not None:
                if not int(slot[2] or 0):
                    made = self.function.instructions[call]
                    self.function.instructions[call] = replace(made, result=operands[0])
                return
        if opcode.split(".")[0] == "bra":
            self._branches.append((len(self.function.instructions), tuple(self._scopes)))
        self.function.instructions.append(Instruction(opcode, operands, predicate))

    def _declare(self, statement: str) -> None:
        if statement.startswith(".reg"):
            if "temp_param_reg" in statement:  # the compiler's own, at every call
                return
            for name in statement.split(None, 2)[2:]:
                for register in re.findall(r"(?<![%\w$.<])([A-Za-z_$][\w$]*)", name):
                    self._local[register] = f"{register}@{len(self.function.instructions)}"
            return
        _variable(statement, self.function.shared)

    def _call(self, opcode: str, rest: str, predicate: str) -> None:
        found = _CALL.match(rest)
        if found is None:
            return
        names = [name.strip() for name in (found[3] or "").split(",") if name.strip()]
        arguments = tuple(self._stored.get((name, 0), "") for name in names)
        if result := (found[1] or "").strip():
            self._calls[result] = len(self.function.instructions)
        self.function.instructions.append(Instruction(opcode, (), predicate, found[2], arguments))


def _split(text: str) -> tuple[str, ...]:
    """Operands at top-level commas."""
    found: list[str] = []
    depth, current = 0, ""
    for piece in re.split(r"([,()\[\]])", text):
        if piece in ("(", "["):
            depth += 1
        elif piece in (")", "]"):
            depth -= 1
        if piece == "," and depth == 0:
            found.append(current.strip())
            current = ""
        else:
            current += piece
    if current.strip():
        found.append(" ".join(current.split()))
    return tuple(" ".join(operand.split()) for operand in found)


def _variable(statement: str, shared: dict[str, int]) -> None:
    """Note a variable in shared memory with its bytes."""
    if ".shared" not in statement:
        return
    found = _SHARED.search(statement)
    if found is None:
        return
    element = _ELEMENT.search(statement[: found.start(1)])
    size = (int(element[1]) if element else 8) // 8
    for extent in re.findall(r"\[\s*(\d*)\s*\]", found[2]):
        size *= int(extent or 0)
    shared[found[1]] = size
