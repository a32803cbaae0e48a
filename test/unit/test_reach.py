"""What counts as seeing a port, for benchmarks/reach.py: on a placement of dictionaries and on one of dataclasses."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from benchmarks.reach import Reach
from pipelink.ir.attributes import SymbolRef


class Port:
    def __init__(self, name: str) -> None:
        self.name = name


@dataclasses.dataclass(frozen=True)
class Ring:
    full: int


@dataclasses.dataclass(frozen=True)
class Connection:
    target: str
    placement: Any


Ring.__module__ = "pipelink.ir.placement"  # where such a class would be
SEEN = ["ab", "@load::@ab", SymbolRef.of("mma", "ab"), Port("ab"), {"transfer": "ring.tma", "full": 1024}, Ring(1024)]
OTHER = ["abc", "@ab::@c", SymbolRef.of("ab", "c"), Port("acc"), {"full": 1024}, {"transfer": "call"}, Ring(2048), 1024]


@pytest.mark.parametrize("value", SEEN, ids=lambda value: type(value).__name__)
def test_the_port_is_seen(value: object) -> None:
    reach = Reach(1024)
    held: list[object] = [value, [value], (1, value), {"key": value}, Connection("@a::@b", value)]
    assert all(map(reach.holds, held))
    assert not reach.holds([[value]]), "what is further inside is not followed"


@pytest.mark.parametrize("value", OTHER, ids=lambda value: type(value).__name__)
def test_another_port_is_not(value: object) -> None:
    assert not Reach(1024).holds(value)
    assert not Reach(1024).holds([value])


def test_a_port_as_a_key_is_seen() -> None:
    assert Reach(1024).holds({SymbolRef.of("load", "ab"): 1})
