"""Values of registers as far as branches need them: numbers, a number for each thread, or terms over unknown ones.

A value is an int; a tuple of ints, one a thread of the role; or a :class:`Term`, a base that is not known and an
offset.  What goes round a loop without end stays finite: a number past all that the code compares with is a
:class:`Beyond`.  Predicates are values too, 0 and 1, or a :class:`Atom`, which a walk decides one way and the other.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final


@dataclass(frozen=True)
class Unknown:
    """What an instruction makes that is not followed.  ``at`` is its place in the code, with the register where there
    are several, or the parameter that it loads.  ``divided``: threads of a role may have different ones; ``free``:
    nothing else in the code depends on it, so that it may be anything."""

    at: int | str | tuple[int, str]
    divided: bool = False
    free: bool = True


@dataclass(frozen=True)
class Term:
    """``base`` + ``offset``; the base is an Unknown, or an operation with its operands."""

    base: Any
    offset: int = 0


@dataclass(frozen=True)
class Slot:
    """A slot of a port's ring, ``key`` being the port and its side: how many were taken since; None of one that is
    given back."""

    key: str
    age: int | None


@dataclass(frozen=True)
class Beyond:
    """A number that is at least ``low``, or at most ``high``."""

    low: int | None
    high: int | None


@dataclass(frozen=True)
class Atom:
    """A question about a term: whether its base is ``compared`` (``<=`` or ``==``) with a number, or anything else."""

    base: Any
    compared: str = ""
    number: int = 0


@dataclass(frozen=True)
class Compound:
    """``not``, ``and``, ``or``, ``xor`` of predicates."""

    how: str
    of: tuple[Any, ...]


Value = Any
_MOST_OFFSET: Final = 3  # that an unknown number is counted up or down by, round by round
_DEEPEST: Final = 6


@lru_cache(maxsize=1 << 12)
def unknowns(value: Value) -> frozenset[Unknown]:
    """The unknown values in a value."""
    if isinstance(value, Unknown):
        return frozenset((value,))
    if isinstance(value, Term | Atom):
        return unknowns(value.base)
    if isinstance(value, Compound):
        return frozenset[Unknown]().union(*map(unknowns, value.of))
    if isinstance(value, tuple):
        return frozenset[Unknown]().union(*map(unknowns, (v for v in value if not isinstance(v, int))))
    return frozenset()


@lru_cache(maxsize=1 << 12)
def divided(value: Value) -> bool:
    """Whether threads of a role may have different ones."""
    if isinstance(value, Term | Atom):
        return divided(value.base)
    if isinstance(value, Compound):
        return any(map(divided, value.of))
    if isinstance(value, tuple):
        return all(isinstance(v, int) for v in value) or any(map(divided, value))
    return isinstance(value, Unknown) and value.divided


def _depth(value: Value) -> int:
    if isinstance(value, Term | Atom):
        return _depth(value.base)
    if isinstance(value, tuple) and not all(isinstance(v, int) for v in value):
        return 1 + max(map(_depth, value))
    return 0


def _signed(value: int, bits: int) -> int:
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> (bits - 1) else value


def _divide(a: int, b: int) -> int:
    return int(a / b) if b else 0


_BINARY: Final[dict[str, Callable[[int, int], int]]] = {
    "add": operator.add, "sub": operator.sub, "mul": operator.mul, "and": operator.and_, "or": operator.or_,
    "xor": operator.xor, "min": min, "max": max, "div": _divide, "rem": lambda a, b: a - b * _divide(a, b),
    "shl": lambda a, b: a << min(b & 0xFFFFFFFF, 64), "shr": lambda a, b: a >> min(b & 0xFFFFFFFF, 64),
}  # fmt: skip
_COMPARE: Final[dict[str, Callable[[int, int], bool]]] = {
    "eq": operator.eq, "ne": operator.ne, "lt": operator.lt, "le": operator.le, "gt": operator.gt, "ge": operator.ge,
    "lo": operator.lt, "ls": operator.le, "hi": operator.gt, "hs": operator.ge,
}  # fmt: skip


def _is_known(value: Value) -> bool:
    return isinstance(value, int) or (isinstance(value, tuple) and all(isinstance(v, int) for v in value))


def _mapped(how: Callable[..., int], *values: Value) -> Value:
    """An operation on numbers, or thread by thread."""
    threads = next((len(v) for v in values if isinstance(v, tuple)), 0)
    if not threads:
        return how(*values)
    rows = [v if isinstance(v, tuple) else (v,) * threads for v in values]
    found = tuple(how(*row) for row in zip(*rows, strict=True))
    return found[0] if len(set(found)) == 1 else found


def _type(parts: tuple[str, ...]) -> tuple[bool, int]:
    """Whether an instruction is of signed numbers, and of how many bits."""
    last = parts[-1]
    digits = last.lstrip("abcdefghijklmnopqrstuvwxyz")
    return last.startswith(("s", "b")), int(digits) if digits.isdigit() else 32


@lru_cache(maxsize=1 << 14)
def compute(parts: tuple[str, ...], values: tuple[Value, ...]) -> Value | None:
    """The result of an instruction; None where it is not followed."""
    name = parts[0]
    signed, bits = _type(parts)
    if name != "mov" and any(isinstance(value, Slot) for value in values):
        return None
    if name in ("and", "or", "xor", "not", "mov") and parts[-1] == "pred":
        return _logical(name, values)
    if name in ("mov", "cvt"):
        return values[0] if parts[-1][:1] in "sub" else None
    if name == "setp":
        return _compared(parts, values)
    if name in ("not", "neg", "abs") and _is_known(values[0]):
        how = {"not": operator.invert, "neg": operator.neg, "abs": abs}[name]
        return _mapped(lambda a: _signed(how(a), bits), values[0])
    if name == "mad" and "lo" in parts:
        product = compute(("mul", "lo", parts[-1]), values[:2])
        return None if product is None else compute(("add", parts[-1]), (product, values[2]))
    if name not in _BINARY or parts[-1][:1] == "f" or "hi" in parts or "cc" in parts:
        return None
    if name == "mul" and "wide" in parts:
        bits = 64
    if _is_known(values[0]) and _is_known(values[1]):
        how = _BINARY[name]
        unsigned = name in ("shr", "div", "rem", "min", "max") and not signed
        mask = (1 << bits) - 1

        def one(a: int, b: int) -> int:
            return _signed(how(a & mask, b & mask) if unsigned else how(a, b), bits)

        return _mapped(one, *values)
    return _shifted(name, values)


def _shifted(name: str, values: tuple[Value, ...]) -> Value | None:
    """An operation with an unknown number."""
    a, b = values
    if name == "sub" and isinstance(b, int):
        name, b = "add", -b
    if name == "add" and isinstance(a, int):
        a, b = b, a
    if name == "add" and isinstance(b, int):
        if isinstance(a, Term):
            return Term(a.base, a.offset + b) if abs(a.offset + b) <= _MOST_OFFSET or abs(b) > 4096 else None
        if isinstance(a, Beyond):
            up = a.low is not None and b >= 0
            return a if up or (a.high is not None and b <= 0) else None
    if any(isinstance(v, Beyond) for v in values) or max(map(_depth, values)) > _DEEPEST:
        return None
    return Term((name, a, b))


def _logical(name: str, values: tuple[Value, ...]) -> Value:
    values = tuple(Atom(value.base) if isinstance(value, Term) else value for value in values)
    if name == "mov":
        return values[0]
    if name == "not":
        return negation(values[0])
    if all(map(_is_known, values)):
        return _mapped(lambda a, b: _BINARY[name](a, b) & 1, *values)
    a, b = values
    if isinstance(a, int):
        a, b = b, a
    if isinstance(b, int):
        b &= 1
        if name == "xor":
            return negation(a) if b else a
        return (a if b else 0) if name == "and" else (1 if b else a)
    return Compound(name, (a, b))


def negation(value: Value) -> Value:
    """Not a predicate."""
    if _is_known(value):
        return _mapped(lambda a: 1 - (a & 1), value)
    if isinstance(value, Compound) and value.how == "not":
        return value.of[0]
    return Compound("not", (value,))


def _compared(parts: tuple[str, ...], values: tuple[Value, ...]) -> Value | None:
    how = parts[1]
    if how not in _COMPARE or parts[-1][:1] == "f":
        return None
    found = _question(how, parts[-1], values[0], values[1])
    if len(values) > 2 and parts[2] in ("and", "or", "xor"):
        return _logical(parts[2], (found, values[2]))
    return found


def _question(how: str, kind: str, a: Value, b: Value) -> Value:
    bits = int(kind[1:]) if kind[1:].isdigit() else 32
    unsigned = kind[0] == "u" or how in ("lo", "ls", "hi", "hs")
    compare = _COMPARE[how]
    if _is_known(a) and _is_known(b):
        if unsigned and how not in ("eq", "ne"):
            mask = (1 << bits) - 1
            return _mapped(lambda x, y: int(compare(x & mask, y & mask)), a, b)
        return _mapped(lambda x, y: int(compare(x, y)), a, b)
    if isinstance(a, Beyond) and isinstance(b, int):
        if a.low is not None and b < a.low:
            return int(how in ("ne", "gt", "ge", "hi", "hs"))
        if a.high is not None and b > a.high:
            return int(how in ("ne", "lt", "le", "lo", "ls"))
    if isinstance(a, int) and isinstance(b, Term):
        mirrored = {"lt": "gt", "le": "ge", "gt": "lt", "ge": "le", "lo": "hi", "ls": "hs", "hi": "lo", "hs": "ls"}
        return _question(mirrored.get(how, how), kind, b, a)
    if isinstance(a, Term) and isinstance(b, int) and (not unsigned or how in ("eq", "ne")):
        number = b - a.offset
        match how:
            case "eq":
                return Atom(a.base, "==", number)
            case "ne":
                return negation(Atom(a.base, "==", number))
            case "le" | "lt":
                return Atom(a.base, "<=", number - (how == "lt"))
            case _:
                return negation(Atom(a.base, "<=", number - (how == "ge")))
    if isinstance(a, Term) and isinstance(b, Term) and a == b:
        return int(how in ("eq", "le", "ge", "ls", "hs"))
    opposite = {"ne": "eq", "ge": "lt", "gt": "le", "hs": "lo", "hi": "ls"}
    if how in opposite:
        return negation(Atom((opposite[how], kind, a, b)))
    return Atom((how, kind, a, b))


def atoms(value: Value) -> list[Atom]:
    """The questions that a predicate depends on."""
    if isinstance(value, Atom):
        return [value]
    if isinstance(value, Compound):
        return [atom for part in value.of for atom in atoms(part)]
    return []


def answer(value: Value, decided: Callable[[Atom], Value | None]) -> Value:
    """A predicate with what is decided put in, or another predicate that says the same; an Atom or a Compound where
    something is left open."""
    if isinstance(value, Atom):
        found = decided(value)
        return value if found is None else int(found) if isinstance(found, bool) else found
    if isinstance(value, Compound):
        parts = tuple(answer(part, decided) for part in value.of)
        return negation(parts[0]) if value.how == "not" else _logical(value.how, parts)
    return value


def as_signed(atom: Atom) -> tuple[Term, Value] | None:
    """Of an unsigned comparison of a term with a number: the term, and the comparison of signed ones."""
    match atom.base:
        case (str(how), str(kind), Term() as one, int(other)) if how in _COMPARE and other >= 0:
            signed = {"lo": "lt", "ls": "le", "hi": "gt", "hs": "ge"}.get(how, how)
            return one, _question(signed, f"s{kind[1:]}", one, other)
        case _:
            return None


def evaluate(value: Value, unknown: Unknown, number: int) -> Value | None:
    """A value of one unknown number, where that is ``number``; None if it is not followed."""
    match value:
        case Atom(base=base, compared=""):
            found = evaluate(base, unknown, number)
            return None if not isinstance(found, int) else bool(found)
        case Atom(base=base, compared=how, number=limit):
            found = evaluate(base, unknown, number)
            return None if not isinstance(found, int) else (found <= limit if how == "<=" else found == limit)
        case Term(base=base, offset=offset):
            found = evaluate(base, unknown, number)
            return found + offset if isinstance(found, int) else None
        case (str(how), str(kind), one, other) if how in _COMPARE:
            a, b = evaluate(one, unknown, number), evaluate(other, unknown, number)
            return _question(how, kind, a, b) if isinstance(a, int) and isinstance(b, int) else None
        case (str(name), one, other) if name in _BINARY:
            a, b = evaluate(one, unknown, number), evaluate(other, unknown, number)
            return compute((name, "s32"), (a, b)) if isinstance(a, int) and isinstance(b, int) else None
        case Unknown():
            return number if value == unknown else None
        case _:
            return value if isinstance(value, int) else None
