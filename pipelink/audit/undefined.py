"""The symbols that a link's objects use and none defines: what is left of the comparison in the cache.

Apart from it, because a link that finds it there needs no more.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Users:
    """Who uses a symbol: the number of the input, and the functions there."""

    number: int
    functions: tuple[str, ...]


@dataclass(frozen=True)
class Undefined:
    """The symbols that inputs use and none defines, with their users."""

    variables: Mapping[str, tuple[Users, ...]]
    functions: Mapping[str, tuple[Users, ...]]

    def to_json(self) -> dict[str, Any]:
        """The report as plain data."""
        return {
            kind: {name: [[one.number, *one.functions] for one in users] for name, users in symbols.items()}
            for kind, symbols in (("variables", self.variables), ("functions", self.functions))
        }

    @staticmethod
    def from_json(data: Mapping[str, Any]) -> Undefined:
        """The report that :meth:`to_json` made."""

        def read(symbols: Mapping[str, list[list[Any]]]) -> dict[str, tuple[Users, ...]]:
            return {name: tuple(Users(one[0], tuple(one[1:])) for one in users) for name, users in symbols.items()}

        return Undefined(read(data["variables"]), read(data["functions"]))
