"""What a bench knows about its component's ports: what each is fed with or gives, as plain data.

The link makes a :class:`Plan` out of the contract, and a saved bench carries it as JSON beside the kernel; running
needs nothing else.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from typing import Any, Final, Literal, TypeVar

from pipelink.contract.vocabulary import ELEMENT_BITS, SWIZZLES
from pipelink.support.diagnostics import Location, error
from pipelink.support.limits import BENCH_ITEMS, BENCH_VALUE

VERSION: Final = 1

#: ``fed``: a stream into the component, ``taken``: one out of it; ``called``: a call that it answers, ``answered``: one
#: that it makes; ``passed`` and ``counted``: tokens into it and out of it.
Way = Literal["fed", "taken", "called", "answered", "passed", "counted"]
WAYS: Final[tuple[Way, ...]] = ("fed", "taken", "called", "answered", "passed", "counted")
LAYOUTS: Final = ("row_major", *SWIZZLES, "item", "")
T = TypeVar("T")


@dataclass(frozen=True)
class Values:
    """A tile, an argument or a result: ``extents`` of ``element``, ``bytes`` in all.  ``layout`` is how a tile lies in
    shared memory; ``reference``: an argument that the answer may change."""

    element: str
    extents: tuple[int, ...]
    bytes: int
    layout: str = ""
    reference: bool = False


@dataclass(frozen=True)
class PortPlan:
    """A port: its parts (tiles of a stream, arguments of a call), and the result of a call.  ``copied``: its slots are
    filled by TMA; ``ends``: the stream ends."""

    name: str
    way: Way
    parts: tuple[Values, ...] = ()
    result: Values | None = None
    copied: bool = False
    ends: bool = False

    def tensor(self, part: int | str) -> str:
        """The launch argument that holds a part, or something else of the port."""
        return f"pl_{self.name}_{part}"


@dataclass(frozen=True)
class Turn:
    """Tokens that one role hands to the component (``given``) and takes from it (``back``), in turn where both are: an
    mbarrier remembers one phase, so that a token is passed again only when the component has passed its own."""

    given: PortPlan | None
    back: PortPlan | None

    @property
    def ports(self) -> list[PortPlan]:
        return [port for port in (self.given, self.back) if port is not None]

    def loops(self) -> dict[str, list[PortPlan]]:
        """The role's loops, one after the other: the ports of a round, by the launch argument that counts them.  Whose
        token comes once more has it before the others or behind them."""
        ports = self.ports
        parts = {"early": ports[-1:], "rounds": ports, "late": ports[:1]} if len(ports) > 1 else {"rounds": ports}
        return {ports[0].tensor(name): part for name, part in parts.items()}

    def rounds(self, passed: int, taken: int) -> dict[str, int]:
        """How often each of :meth:`loops` goes round."""
        counts = (max(taken - passed, 0), min(taken, passed), max(passed - taken, 0))
        return dict(zip(self.loops(), counts if len(self.ports) > 1 else (passed + taken,), strict=True))


def turns(ports: Iterable[PortPlan]) -> Iterator[Turn]:
    """Which tokens take turns: those into the component and those out of it, in the order of their declaration."""
    passed, counted = ([port for port in ports if port.way == way] for way in ("passed", "counted"))
    return itertools.starmap(Turn, itertools.zip_longest(passed, counted))


@dataclass(frozen=True)
class Plan:
    """``threads`` are those of the component's roles (of the caller, where it has none), as pairs of first thread and
    number; ``callers`` is how many threads make the calls that it answers."""

    component: str
    ports: tuple[PortPlan, ...]
    threads: tuple[tuple[int, int], ...]
    callers: int

    def to_json(self) -> str:
        """The text that :meth:`from_json` reads."""
        return json.dumps({"pipelink_bench": VERSION, **asdict(self)}, indent=1)

    @staticmethod
    def from_json(text: bytes | str, where: Location) -> Plan:
        """Raises LinkError ``bad-bench`` for anything that :meth:`to_json` does not write."""
        try:
            data = json.loads(text)
            if not isinstance(data, dict) or data.pop("pipelink_bench", None) != VERSION:
                raise error("bad-bench", f"no bench of version {VERSION}", where)
            return _read(
                Plan, data, component=_name, ports=_list(_port), threads=_list(_pair), callers=_number(32, 1024)
            )
        except (ValueError, TypeError, KeyError, RecursionError) as problem:
            raise error("bad-bench", f"the bench is malformed: {problem}", where) from problem


def _read(made: Callable[..., T], data: Any, **fields: Callable[[Any], Any]) -> T:
    if not isinstance(data, dict) or {*data} != {*fields}:
        raise ValueError(f"expected {', '.join(fields)}")
    return made(**{name: read(data[name]) for name, read in fields.items()})


def _list(read: Callable[[Any], T]) -> Callable[[Any], tuple[T, ...]]:
    def items(data: Any) -> tuple[T, ...]:
        if not isinstance(data, list) or len(data) > BENCH_ITEMS:  # pyright: ignore[reportUnknownArgumentType]
            raise ValueError(f"expected a list of at most {BENCH_ITEMS}")
        return tuple(read(item) for item in data)

    return items


def _name(data: Any) -> str:
    if not isinstance(data, str) or not data or len(data) > 255:
        raise ValueError("expected a name")
    return data


def _one_of(*choices: str) -> Callable[[Any], str]:
    def read(data: Any) -> str:
        if data not in choices:
            raise ValueError(f"expected one of {', '.join(choices)}")
        return str(data)

    return read


def _number(least: int, most: int) -> Callable[[Any], int]:
    def read(data: Any) -> int:
        if type(data) is not int or not least <= data <= most:
            raise ValueError(f"expected a number from {least} to {most}")
        return data

    return read


def _flag(data: Any) -> bool:
    if not isinstance(data, bool):
        raise ValueError("expected true or false")
    return data


def _pair(data: Any) -> tuple[int, int]:
    first, count = _list(_number(0, 1024))(data)
    return first, count


def _values(data: Any) -> Values:
    size = _number(1, BENCH_VALUE)
    read = _read(
        Values,
        data,
        element=_one_of(*ELEMENT_BITS, "bool"),
        extents=_list(size),
        bytes=size,
        layout=_one_of(*LAYOUTS),
        reference=_flag,
    )
    count = 1
    for extent in read.extents:
        count *= extent
    if count * ELEMENT_BITS.get(read.element, 8) != 8 * read.bytes:
        raise ValueError(f"{read.bytes} bytes are not {list(read.extents)} of {read.element}")
    return read


def _port(data: Any) -> PortPlan:
    return _read(
        PortPlan,
        data,
        name=_name,
        way=_one_of(*WAYS),
        parts=_list(_values),
        result=lambda given: None if given is None else _values(given),
        copied=_flag,
        ends=_flag,
    )
