"""How often loops run: their counts as polynomials over what is known at launch, and as loops by single names.

All counts of a kernel are read first.  Where they have names in common, they become loops by these names, which
correspond: ``n - 1`` leaves out a round of ``n``, ``2 * n`` makes two of each, ``t * n`` is a loop within a loop.  A
count that has nothing in common with another is a name of its own.  Launch values are taken not to be negative.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache, partial

from pipelink.analysis.protocol import polynomial
from pipelink.analysis.protocol.polynomial import (
    Atom,
    Excess,
    Leaf,
    Monomial,
    Polynomial,
    Quotient,
    TooComplex,
    of_atom,
)
from pipelink.ir.views import Component, Kernel
from pipelink.support.diagnostics import LinkError
from pipelink.support.protocol import Block, Choose, Rank, Repeat, Until
from pipelink.support.protocol_text import count_expression

EXACT = 256  # rounds of a constant count up to here are run exactly
_MOST_LOOPS = 4  # one after the other, for a sum


@dataclass(frozen=True)
class Loop:
    """``names`` from the outermost on, each of which is ``least`` at least; in all ``times`` * their product -
    ``skipped`` rounds, of those the first ``limit``.  More than one name skips nothing and has no limit."""

    names: tuple[Polynomial, ...]
    least: int = 0
    times: int = 1
    skipped: int = 0
    limit: int | None = None


class Counts:
    """The counts of one kernel, whose ``components`` are given by instance.  ``bodies``: what an instance's roles and
    answers do; ``call`` identifies a call of it, ``stages`` is the depth of its ring."""

    def __init__(
        self,
        kernel: Kernel,
        components: Mapping[str, Component],
        bodies: Callable[[str], list[Block]],
        call: Callable[[str, str], tuple[object, ...]],
        stages: Callable[[str, str], int],
    ) -> None:
        launch = kernel.launch or {}
        self._fields = [item.get("value") for item in launch.get("parameters", {}).get("fields", [])]
        self._derived = tuple((str(item["name"]), str(item["value"])) for item in launch.get("derived", []))
        self._components, self._bodies, self._call, self._stages = components, bodies, call, stages
        self._params = {
            name: instance.placement.params if instance.placement else {} for name, instance in kernel.instances.items()
        }
        self._values: dict[int, Polynomial] = {}
        self._shown: dict[Polynomial, str] = {}
        self._found: dict[tuple[str, str], Polynomial | None] = {}
        self._inside: set[tuple[Polynomial, Polynomial]] = set()  # a loop by the second stands in one by the first
        self._before: dict[Polynomial, set[Polynomial]] = {}  # loops that stand before one, in one block
        self._all: list[Polynomial] | None = None
        self._made: dict[tuple[Polynomial, bool], list[Loop] | None] = {}
        self._known: dict[Polynomial, Polynomial] = {}

    # -- polynomials

    def of(self, instance: str, text: str) -> Polynomial | None:
        """The count of a loop; None where it has no small normal form."""
        key = (instance, text)
        if key not in self._found:
            try:
                expression, names = count_expression(text)
                self._found[key] = polynomial.parse(expression, lambda name: self._name(instance, names[name]))
            except (LinkError, TooComplex):
                self._found[key] = None
        return self._found[key]

    def _name(self, instance: str, name: str) -> Polynomial:
        component, params = self._components[instance], self._params[instance]
        if name.endswith(".stages"):
            return polynomial.number(self._stages(instance, name.removesuffix(".stages")))
        param = params.get(name)
        if name in component.ports:
            return of_atom(Leaf(("call", *self._call(instance, name)), name))
        if param is None:
            return of_atom(Leaf(("param", instance, name), name))
        if param.operand:  # another number with each instruction, the same for all that run it
            return of_atom(Leaf(("call", "operand", instance, name), name))
        if param.value is not None:
            return polynomial.number(int(param.value))
        assert param.field is not None
        return self._field(param.field, name)

    def _field(self, index: int, name: str) -> Polynomial:
        """What is bound to a parameter, over the names of the launch."""
        if index not in self._values:
            text = self._fields[index] if index < len(self._fields) else None
            try:
                found = _bound(text, self._derived) if isinstance(text, str) else None
            except (LinkError, TooComplex):
                found = None
            self._values[index] = of_atom(Leaf(("field", index), name)) if found is None else found
        return self._values[index]

    # -- loops

    def loops(self, instance: str, text: str, at_least_once: bool) -> list[Loop] | None:
        """A count as loops one after the other; None where it is an unknown of its own."""
        count = self.of(instance, text)
        if count is None or self.asks(count):
            return None
        key = (count, at_least_once)
        if key not in self._made:
            self._made[key] = self._loops(count, at_least_once)
        return self._made[key]

    def _loops(self, count: Polynomial, at_least_once: bool) -> list[Loop] | None:
        core, limit = _shape(count)
        if any(abs(value) > EXACT for _, value in core.terms) or (limit or 0) > EXACT:
            return None
        match core.terms:
            case (((), int(more)), ((Excess(of=rest),), 1)) if more > 0 and limit is None:  # max(more, …)
                loops = self._loops(rest, False)
                return None if loops is None else [Loop((), times=more), *loops]
            case _:
                pass
        base = self._base(core)
        if base is not None:
            times = core.unknown[0][1] // base.unknown[0][1]
            least = -((core.constant - 1) // times) if at_least_once else 0
            return (
                None
                if limit is not None and times > 1
                else [Loop((base,), max(least, 0), times, -core.constant, limit)]
            )
        if limit is not None or (at_least_once and len(core.unknown) > 1):
            return None
        if any(value < 0 for _, value in core.terms) or len(core.unknown) > _MOST_LOOPS:
            return None
        found: list[Loop] = []
        for monomial, value in sorted(core.unknown, key=self._place):
            names = [of_atom(atom) for atom in monomial]
            if not all(map(_is_natural, names)):
                return None
            found.append(Loop(tuple(sorted(names, key=partial(self._depth, names))), int(at_least_once), value))
        return [*found, *([Loop((), times=core.constant)] if core.constant else [])]

    def _depth(self, names: list[Polynomial], name: Polynomial) -> int:
        """Loops by the parts of a product stand in each other as others do."""
        return sum((other, name) in self._inside for other in names)

    def _place(self, term: tuple[Monomial, int]) -> int:
        """Loops by the parts of a sum come in the order in which others have them."""
        parts = [Polynomial(((term[0], 1),)), Polynomial((term,))]
        return sum(len(self._before.get(part, ())) for part in parts)

    def known(self, count: Polynomial) -> Polynomial:
        """A count over what can have any value: what all counts with its names are multiples of is as good as a name,
        and so is a quotient whose names stand nowhere else."""
        if count not in self._known:
            self._known[count] = self._over_names(count)
        return self._known[count]

    def _over_names(self, count: Polynomial) -> Polynomial:
        parts = [_unknown(core) for core in self._cores() if core.leaves & count.leaves]
        if not count.constant and count.unknown and all(_is_multiple(part, count) for part in parts):
            return of_atom(count.only or Leaf(("any", count), self.name(count)))

        def free(atom: Atom) -> Atom:
            if isinstance(atom, Leaf) or any(atom not in other.atoms for other in self._with(of_atom(atom).leaves)):
                return atom
            return Leaf(("any", atom), self.name(of_atom(atom)))

        return Polynomial(tuple((tuple(map(free, monomial)), value) for monomial, value in count.terms))

    def _with(self, leaves: frozenset[Leaf]) -> list[Polynomial]:
        """Those parts of all counts that have one of some names."""
        parts = {Polynomial((term,)): None for core in self._cores() for term in core.unknown}
        return [part for part in parts if part.leaves & leaves]

    def name(self, count: Polynomial) -> str:
        """As the kernel's protocols spell it, if they do."""
        return self._shown.get(count) or polynomial.spell(count)

    @staticmethod
    def asks(count: Polynomial) -> bool:
        """Whether a call decides it."""
        return any(leaf.key[0] == "call" for leaf in count.leaves)

    def _base(self, core: Polynomial) -> Polynomial | None:
        """The name of which a count is a multiple, plus or minus a number, as are all others with its names."""
        alike = [other for other in self._cores() if other.leaves & core.leaves]
        parts = {_unknown(other) for other in alike}
        for base in parts:
            if base.unknown and _is_natural(base) and all(_is_multiple(part, base) for part in parts):
                return base
        if len(core.unknown) == 1 and len(core.unknown[0][0]) == 1:
            atom = of_atom(core.unknown[0][0][0])
            return atom if core.unknown[0][1] > 0 and _is_natural(atom) else None
        return None

    def _cores(self) -> list[Polynomial]:
        """The counts of all loops of the kernel, without their limits."""
        if self._all is None:
            found: dict[Polynomial, None] = {}
            for instance in self._components:
                for body in self._bodies(instance):
                    for count in self._read(instance, body, ()):
                        found[_shape(count)[0]] = None
            self._all = list(found)
        return self._all

    def _read(self, instance: str, body: Block, around: tuple[Polynomial, ...]) -> Iterator[Polynomial]:
        before: dict[Polynomial, None] = {}
        for step in body:
            match step:
                case Repeat(count=str(text), body=inner):
                    count = self.of(instance, text)
                    if count is None or self.asks(count):
                        yield from self._read(instance, inner, around)
                        continue
                    name = _unknown(_shape(count)[0])
                    self._before.setdefault(name, set()).update(before)
                    before[name] = None
                    self._shown.setdefault(count, text)
                    self._inside.update((outer, name) for outer in around)
                    yield count
                    yield from self._read(instance, inner, (*around, name))
                case Repeat(body=inner) | Until(body=inner) | Rank(body=inner):
                    yield from self._read(instance, inner, around)
                case Choose(ways=ways):
                    for way in ways:
                        yield from self._read(instance, way, around)
                case _:
                    pass


@lru_cache(maxsize=256)
def _bound(text: str, derived: tuple[tuple[str, str], ...]) -> Polynomial:
    """A launch expression, given the derived values in the order in which they depend on each other.  Raises LinkError,
    TooComplex."""
    launch: dict[str, Polynomial] = {}

    def meaning(name: str) -> Polynomial:
        return launch.get(name) or of_atom(Leaf(("launch", name), name))

    for name, value in derived:
        try:
            launch[name] = polynomial.parse(value, meaning)
        except (LinkError, TooComplex):
            continue
    return polynomial.parse(text, meaning)


def _shape(count: Polynomial) -> tuple[Polynomial, int | None]:
    """``min(core, limit)``, or ``max(core, 0)`` without it: a loop of less than no rounds has none."""
    limit: int | None = None
    for monomial, value in count.unknown:
        match monomial, value:
            case (Excess(of=above),), -1:
                core = count + of_atom(monomial[0])
                if not (core - above).unknown and (core - above).constant >= 0:
                    count, limit = core, (core - above).constant
                    break
            case _:
                pass
    while len(count.terms) == 1 and count.terms[0][1] == 1:
        match count.terms[0][0]:
            case (Excess(of=inner),):
                count = inner
            case _:
                break
    return count, limit


def _unknown(count: Polynomial) -> Polynomial:
    return Polynomial(count.unknown)


def _is_natural(count: Polynomial) -> bool:
    """Whether it is at least 0 where names are."""
    return all(value > 0 and all(map(_is_natural_atom, monomial)) for monomial, value in count.terms)


def _is_natural_atom(atom: Atom) -> bool:
    match atom:
        case Quotient(of=of, by=by):
            return _is_natural(of) and _is_natural(by)
        case _:
            return True


def _is_multiple(part: Polynomial, base: Polynomial) -> bool:
    if not part.unknown or not base.unknown:
        return not part.unknown
    times, rest = divmod(part.unknown[0][1], base.unknown[0][1])
    return not rest and times > 0 and part == base.times(times)
