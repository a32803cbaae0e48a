"""Counts as polynomials with integer coefficients, so that equal ones are seen to be equal: ``K / 64`` and ``K/64``,
``ceildiv(K, 64)`` and ``(K + 63) / 64``, ``2 * n`` and ``n + n``, ``n - min(n, 4)`` and ``max(n - 4, 0)``.

The unknowns, *atoms*, are names, and what is no polynomial: a quotient, or how far something is above 0.
"""

from __future__ import annotations

import ast
import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from pipelink.support import expr

_MOST_TERMS = 64
_MOST_FACTORS = 8  # of a term
_MOST = 1 << 63  # of a coefficient


class TooComplex(Exception):
    """An expression that has no small normal form."""


@dataclass(frozen=True)
class Leaf:
    """A name: whose, by ``key``; ``name`` is for people."""

    key: tuple[object, ...]
    name: str = field(compare=False, repr=False)


@dataclass(frozen=True)
class Quotient:
    """``of`` divided by ``by``, rounded down."""

    of: Polynomial
    by: Polynomial


@dataclass(frozen=True)
class Excess:
    """``of`` where it is above 0, else 0."""

    of: Polynomial


Atom = Leaf | Quotient | Excess
Monomial = tuple[Atom, ...]


@dataclass(frozen=True)
class Polynomial:
    """A sum of products of atoms; ``terms`` are sorted, and none has coefficient 0."""

    terms: tuple[tuple[Monomial, int], ...]

    @cached_property
    def _hash(self) -> int:
        return hash(self.terms)

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def constant(self) -> int:
        return dict(self.terms).get((), 0)

    @cached_property
    def unknown(self) -> tuple[tuple[Monomial, int], ...]:
        """The terms without the constant."""
        return tuple(term for term in self.terms if term[0])

    @property
    def only(self) -> Leaf | None:
        """The name that it is."""
        match self.terms:
            case (((Leaf() as leaf,), 1),):
                return leaf
            case _:
                return None

    @cached_property
    def atoms(self) -> frozenset[Atom]:
        return frozenset(atom for monomial, _ in self.terms for atom in monomial)

    @cached_property
    def leaves(self) -> frozenset[Leaf]:
        return frozenset(leaf for monomial, _ in self.terms for atom in monomial for leaf in _leaves(atom))

    def __add__(self, other: Polynomial) -> Polynomial:
        return _sum(itertools.chain(self.terms, other.terms))

    def __sub__(self, other: Polynomial) -> Polynomial:
        return self + other.times(-1)

    def __mul__(self, other: Polynomial) -> Polynomial:
        return _sum(
            (tuple(sorted((*left, *right), key=repr)), a * b) for left, a in self.terms for right, b in other.terms
        )

    def times(self, factor: int) -> Polynomial:
        return _sum((monomial, factor * value) for monomial, value in self.terms)

    @cached_property
    def divisors(self) -> frozenset[int]:
        """The numbers that something is divided by."""
        found: set[int] = set()
        for atom in self.atoms:
            match atom:
                case Quotient(of=of, by=by):
                    found |= of.divisors | by.divisors | ({by.constant} if not by.unknown else set())
                case Excess(of=of):
                    found |= of.divisors
                case Leaf():
                    pass
        return frozenset(found)

    def value(self, values: Mapping[Leaf, int]) -> int:
        """Raises ZeroDivisionError."""
        total = 0
        for monomial, number in self.terms:
            for atom in monomial:
                match atom:
                    case Leaf():
                        number *= values[atom]
                    case Quotient(of=of, by=by):
                        number *= of.value(values) // by.value(values)
                    case Excess(of=of):
                        number *= max(of.value(values), 0)
            total += number
        return total


def number(value: int) -> Polynomial:
    return _sum([((), value)])


def of_atom(atom: Atom) -> Polynomial:
    return Polynomial((((atom,), 1),))


def excess(of: Polynomial) -> Polynomial:
    """How far something is above 0."""
    return of_atom(Excess(of)) if of.unknown else number(max(of.constant, 0))


def quotient(of: Polynomial, by: Polynomial) -> Polynomial:
    """Rounded down.  What is divisible by a number is divided."""
    if by.unknown or by.constant <= 0:
        return of_atom(Quotient(of, by))
    size = by.constant
    whole = _sum((monomial, value // size) for monomial, value in of.terms)
    rest = of - whole.times(size)
    return whole + of_atom(Quotient(rest, by)) if rest.unknown else whole


def least(first: Polynomial, second: Polynomial) -> Polynomial:
    """The smaller of both."""
    above = first - second
    if above.unknown and above.unknown[0][1] < 0:
        return second - excess(second - first)
    return first - excess(above)


def parse(text: str, meaning: Callable[[str], Polynomial]) -> Polynomial:
    """The polynomial of an expression, whose names have a ``meaning``.  Raises LinkError, TooComplex."""
    return _walk(expr.parse(text), meaning)


def _walk(node: ast.expr, meaning: Callable[[str], Polynomial]) -> Polynomial:
    match node:
        case ast.Constant(value=int() as value):
            return number(value)
        case ast.Name(id=name):
            return meaning(name)
        case ast.UnaryOp(operand=operand):
            return _walk(operand, meaning).times(-1)
        case ast.BinOp(left=left, op=op, right=right):
            a, b = _walk(left, meaning), _walk(right, meaning)
            match op:
                case ast.Add():
                    return a + b
                case ast.Sub():
                    return a - b
                case ast.Mult():
                    return a * b
                case ast.Mod():
                    return a - b * quotient(a, b)
                case _:
                    return quotient(a, b)
        case ast.Call(func=ast.Name(id="stride"), args=[ast.Name(id=tensor), ast.Constant(value=dim)]):
            return of_atom(Leaf(("stride", tensor, dim), f"stride({tensor}, {dim})"))
        case ast.Call(func=ast.Name(id=name), args=args):
            first, *others = [_walk(arg, meaning) for arg in args]
            if name == "ceildiv":
                by = others[0]
                if by.unknown or by.constant <= 0:
                    return quotient(first.times(-1), by).times(-1)
                return quotient(first + number(by.constant - 1), by)
            for other in others:
                first = least(first, other) if name == "min" else first + other - least(first, other)
            return first
        case _:
            raise AssertionError(node)


def _sum(terms: Iterator[tuple[Monomial, int]] | list[tuple[Monomial, int]]) -> Polynomial:
    found: dict[Monomial, int] = {}
    for monomial, value in terms:
        found[monomial] = found.get(monomial, 0) + value
        if len(found) > _MOST_TERMS or len(monomial) > _MOST_FACTORS or abs(found[monomial]) > _MOST:
            raise TooComplex
    kept = [(monomial, value) for monomial, value in found.items() if value]
    return Polynomial(tuple(sorted(kept, key=lambda term: (len(term[0]), repr(term[0])))))


def spell(count: Polynomial) -> str:
    """As people write it."""
    parts = [" * ".join([*([str(value)] if value != 1 or not monomial else []), *map(_spell_atom, monomial)])
             for monomial, value in reversed(count.terms)]  # fmt: skip
    return " + ".join(parts) or "0"


def _spell_atom(atom: Atom) -> str:
    match atom:
        case Leaf(name=name):
            return name
        case Quotient(of=of, by=by):
            return f"({spell(of)}) / ({spell(by)})"
        case Excess(of=of):
            return f"max({spell(of)}, 0)"


def _leaves(atom: Atom) -> Iterator[Leaf]:
    match atom:
        case Leaf():
            yield atom
        case Quotient(of=of, by=by):
            yield from of.leaves | by.leaves
        case Excess(of=of):
            yield from of.leaves


def choices_of(counts: Iterable[Polynomial], leaves: Iterable[Leaf], most: int, tried: int) -> list[list[int]]:
    """Values of each name to try: all up to ``most``, and what lies around multiples of the numbers that it is divided
    by; up to less where there would be more than so many together.  A number is itself."""
    by = list(counts)
    sizes = {leaf: {size for count in by if leaf in count.leaves for size in count.divisors} for leaf in leaves}

    def of(leaf: Leaf, most: int) -> list[int]:
        if leaf.key[0] == "number":
            return [int(str(leaf.key[1]))]
        around = {size * times + more for size in sizes[leaf] for times in range(1, most + 1) for more in (-1, 0, 1)}
        return sorted(around.union(range(most + 1)))

    while True:
        found = [of(leaf, most) for leaf in sizes]
        if most <= 1 or math.prod(map(len, found)) <= tried:
            return found
        most -= 1
