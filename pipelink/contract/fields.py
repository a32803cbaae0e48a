"""Rows of the vocabulary: an attribute's kind, values, default and documentation, what declares it, its C++ spelling.

A declaration is a class whose attributes are rows.  A row is a descriptor: of the class it is the row, of an object it
is the typed value, with its default, read from ``data``.  The schema of the verifier, the IRDL, the checks of records
and the tables in the documentation are made of the rows; the views of the IR inherit the properties.

Kinds: ``str``, ``int`` (i64), ``bool``, ``symbol`` (``@a``), ``port`` (``@instance::@name``), ``range`` (``[min, max]``
with 0 <= min <= max), ``list`` and ``dict`` (with their own rule in the verifier), ``expr`` (a launch-contract
expression), ``scalar`` (int, finite float, str or bool), ``ref`` (``@a`` or ``"a"``).
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Final, Generic, Literal, TypeVar, overload

Kind = Literal["str", "int", "bool", "symbol", "port", "range", "list", "dict", "expr", "scalar", "ref"]
#: What a record may hold where the kind alone does not say it; of a list, what its items are.
Form = Literal["name", "protocol", "align", "interval", "expression", "dimension", "int", "tile"]
#: A port's kind and direction, or a tile's layout.
Variant = tuple[str, ...]
T = TypeVar("T")

MAX_INT = 1 << 40  # no size, count or address of a GPU is larger


@dataclass(frozen=True)
class Written:
    """How headers write an attribute: the C++ spelling, and where a record is narrower than the IR.

    ``cxx`` are the types of ``include/pipelink/attributes.cuh``, none where an argument of the declaration says it.
    ``needed``, ``least`` and ``choices`` are the row's own where they are None; ``on`` limits the variants, ``only``
    the choices of some of them.  ``length`` bounds a list.
    """

    cxx: tuple[str, ...] = ()
    doc: str = ""
    form: Form | None = None
    least: int | None = None
    most: int = MAX_INT
    length: tuple[int, int] = (1, 64)
    choices: tuple[str, ...] | None = None
    only: Mapping[Variant, Spelling] = field(default_factory=dict[Variant, "Spelling"])
    needed: bool | None = None
    on: tuple[Variant, ...] | None = None


#: What a header writes as an argument of the declaration's macro.
AS_ARGUMENT: Final = Written()


@dataclass(frozen=True)
class Spelling:
    """The values that a variant takes, and the C++ types that write them."""

    choices: tuple[str, ...]
    cxx: tuple[str, ...]


class Field(Generic[T]):
    """One attribute.  ``least`` and ``most`` bound integers."""

    def __init__(
        self,
        kind: Kind,
        doc: str,
        read: Callable[[Any], T],
        choices: tuple[str, ...],
        least: int,
        most: int = MAX_INT,
    ) -> None:
        self.kind: Kind = kind
        self.doc = doc
        self.choices = choices
        self.least, self.most = least, most
        self.required = True
        self.default: Any = None
        self.computed: Callable[[Any], T] | None = None  # the default that depends on the declaration
        self.needs: tuple[Variant, ...] = ()  # variants that must have it
        self.takes: tuple[Variant, ...] | None = None  # variants that may have it; None: all
        self.written: Written | None = None  # None: no header writes it
        self.key = ""
        self.attribute = ""  # of the class
        self.converted_once = False
        self._read = read
        self.read_item: Callable[[Any], Any] | None = None  # of a list

    def __set_name__(self, owner: type, name: str) -> None:
        self.key = self.key or name
        self.attribute = name

    @overload
    def __get__(self, instance: None, owner: type) -> Field[T]: ...
    @overload
    def __get__(self, instance: Declaration, owner: type) -> T: ...
    def __get__(self, instance: Declaration | None, owner: type) -> Field[T] | T:
        if instance is None:
            return self
        value = instance.data[self.key] if self.required else instance.data.get(self.key)
        if value is not None:
            found = self._read(value)
            if self.converted_once:
                instance.__dict__[self.attribute] = found  # hides the row, which is no data descriptor
            return found
        return self.default if self.computed is None else self.computed(instance)

    def named(self, key: str) -> Field[T]:
        """The row under a key that the class cannot use as a name."""
        found = copy.copy(self)
        found.key = key
        return found

    def once(self) -> Field[T]:
        """The row of a value that is expensive to convert: the object keeps it."""
        found = copy.copy(self)
        found.converted_once = True
        return found

    def on(self, *needs: Variant, takes: tuple[Variant, ...] = ()) -> Field[T]:
        """The row on some variants only: those that need it, and those that may have it."""
        found = copy.copy(self)
        found.needs, found.takes = needs, (*needs, *takes)
        return found

    def by(self, written: Written) -> Field[T]:
        """The row as headers write it."""
        found = copy.copy(self)
        found.written = written
        return found

    @property
    def holds_integers(self) -> bool:
        """Whether it is a list of integers, from ``least`` up."""
        return self.kind == "list" and self.read_item is int

    def required_of(self, variant: Variant) -> bool:
        """Whether a declaration of this variant must have it."""
        return self.required or variant in self.needs

    def allowed_on(self, variant: Variant) -> bool:
        """Whether a declaration of this variant may have it."""
        return self.takes is None or variant in self.takes

    def written_on(self, variant: Variant) -> bool:
        """Whether headers write it for this variant."""
        written = self.written
        return written is not None and self.allowed_on(variant) and (written.on is None or variant in written.on)

    def needed_in_record(self, variant: Variant) -> bool:
        """Whether a record of this variant must have it."""
        needed = self.written.needed if self.written is not None else None
        return self.required_of(variant) if needed is None else needed

    def values(self, variant: Variant) -> tuple[str, ...]:
        """The choices of a record of this variant; none where any text goes."""
        written = self.written
        if written is None or (variant not in written.only and written.choices is None):
            return self.choices
        return written.only[variant].choices if variant in written.only else written.choices or ()

    def spelled(self, variant: Variant) -> tuple[str, ...]:
        """The C++ spellings for this variant."""
        if self.written is None or not self.written_on(variant):
            return ()
        return self.written.only[variant].cxx if variant in self.written.only else self.written.cxx


class Declaration:
    """Something with attributes as Python values in ``data``.  A subclass lists its rows, and names the operation of
    the IR, what it is, and whether it stands in components, kernels or both."""

    operation: ClassVar[str] = ""
    about: ClassVar[str] = ""
    parents: ClassVar[tuple[str, ...]] = ()
    fields: ClassVar[dict[str, Field[Any]]] = {}

    def __init__(self, data: dict[str, Any]) -> None:
        self.data = data

    def __init_subclass__(cls, op: str = "", about: str = "", parents: tuple[str, ...] = ("component",)) -> None:
        super().__init_subclass__()
        if op:
            cls.operation, cls.about, cls.parents = op, about, parents
        rows = [row for row in vars(cls).values() if isinstance(row, Field)]
        if rows:
            cls.fields = {**cls.fields, **{row.key: row for row in rows}}

    @classmethod
    def named_by(cls) -> str:
        """The attribute that names it, or an empty text."""
        return next((key for key in ("sym_name", "name", "of") if key in cls.fields), "")


def string(doc: str, *choices: str) -> Field[str]:
    """A string, one of ``choices`` if there are any."""
    return Field("str", doc, str, choices, 1)


def number(doc: str, least: int = 1, most: int = MAX_INT) -> Field[int]:
    """An i64 integer."""
    return Field("int", doc, int, (), least, most)


def flag(doc: str) -> Field[bool]:
    """A boolean."""
    return Field("bool", doc, bool, (), 1)


def span(doc: str, least: int = 1) -> Field[tuple[int, int]]:
    """``[min, max]``."""
    return Field("range", doc, lambda value: (value[0], value[1]), (), least)


def listed(doc: str, read: Callable[[Any], T], least: int = 1) -> Field[tuple[T, ...]]:
    """A list; ``read`` converts each of its items."""
    found: Field[tuple[T, ...]] = Field("list", doc, lambda value: tuple(map(read, value)), (), least)
    found.read_item = read
    return found


def other(kind: Kind, doc: str, read: Callable[[Any], T], least: int = 1) -> Field[T]:
    """An attribute of any kind, and how its value is read."""
    return Field(kind, doc, read, (), least)


@overload
def optional(row: Field[T]) -> Field[T | None]: ...
@overload
def optional(row: Field[T], default: T | Callable[[Any], T]) -> Field[T]: ...
def optional(row: Field[Any], default: Any = None) -> Field[Any]:
    """The row, of an attribute that may be absent, and what it is then."""
    found = copy.copy(row)
    found.required = False
    if callable(default):
        found.computed = default
    else:
        found.default = default
    return found
