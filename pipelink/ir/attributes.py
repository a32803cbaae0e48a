"""Attributes to Python values and back: dictionaries, lists, integers, strings, booleans and symbol references.

Conversion is exact for what the dialect uses: ``to_attribute(to_python(a))`` prints as ``a`` does, except that a
unit attribute becomes ``true``.  Attributes of other kinds, other integer widths among them, come back as
:class:`Opaque` and keep their text.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pipelink.support import limits
from pipelink.support.diagnostics import UNKNOWN, Location, error, shown
from pipelink.support.mlir import ir
from pipelink.support.text import utf8


@dataclass(frozen=True, order=True)
class SymbolRef:
    """``@a`` or ``@a::@b``."""

    path: tuple[str, ...]

    @staticmethod
    def of(*path: str) -> SymbolRef:
        return SymbolRef(path)

    @property
    def root(self) -> str:
        return self.path[0]

    @property
    def leaf(self) -> str:
        return self.path[-1]

    def __str__(self) -> str:
        return "::".join(f"@{name}" for name in self.path)


@dataclass(frozen=True)
class Opaque:
    """An attribute that has no Python counterpart."""

    text: str

    def __str__(self) -> str:
        return self.text


Value = Any  # dict[str, Value] | list[Value] | int | float | str | bool | SymbolRef | Opaque


def _array(attribute: Any, depth: int) -> Value:
    return [_convert(item, depth + 1) for item in attribute]


def _dictionary(attribute: Any, depth: int) -> Value:
    return {item.name: _convert(item.attr, depth + 1) for item in attribute}


def _value(attribute: Any, _depth: int) -> Value:
    return attribute.value


def _integer(attribute: Any, _depth: int) -> Value:
    integer = attribute.type
    if type(integer) is not ir.IntegerType or integer.width != 64 or not integer.is_signless:
        return Opaque(str(attribute))  # the dialect has i64 alone; the bindings abort on widths past 64
    return attribute.value


def _float(attribute: Any, _depth: int) -> Value:
    return attribute.value if type(attribute.type) is ir.F64Type else Opaque(str(attribute))


_CONVERTERS: dict[type, Callable[[Any, int], Value]] = {
    ir.IntegerAttr: _integer,
    ir.BoolAttr: _value,
    ir.StringAttr: _value,
    ir.FloatAttr: _float,
    ir.FlatSymbolRefAttr: lambda attribute, _: SymbolRef((attribute.value,)),
    ir.SymbolRefAttr: lambda attribute, _: SymbolRef(tuple(attribute.value)),
    ir.ArrayAttr: _array,
    ir.DictAttr: _dictionary,
    ir.UnitAttr: lambda _attribute, _depth: True,
}


def _convert(attribute: Any, depth: int) -> Value:
    converter = _CONVERTERS.get(type(attribute))
    if converter is None or depth > limits.IR_ATTRIBUTE_DEPTH:
        return Opaque(str(attribute))
    return converter(attribute, depth)


def to_python(attribute: ir.Attribute) -> Value:
    """The Python value of an attribute; nested values too."""
    return _convert(attribute, 0)


def attributes_of(op: ir.Operation) -> dict[str, Value]:
    """All attributes of an operation as Python values: one conversion, keep the result."""
    return {name: _convert(attribute, 0) for name, attribute in op.attributes.items()}


def to_name(text: str, where: Location = UNKNOWN) -> str:
    """``text`` as a name in the IR.  Raises LinkError ``wrong-attribute`` where it is no Unicode."""
    try:
        text.encode()
    except UnicodeEncodeError:
        message = f"the name {shown(text)} has lone surrogates, which are no text"
        raise error("wrong-attribute", message, where) from None
    return text


def to_attribute(value: Value, context: ir.Context, where: Location = UNKNOWN) -> ir.Attribute:
    """The attribute of a Python value that stands at ``where``; integers are i64.  Raises TypeError for other types,
    and LinkError ``wrong-attribute`` for an integer that is none and a name that is no text."""
    match value:
        case ir.Attribute():
            return value
        case bool():
            return ir.BoolAttr.get(value, context)
        case int():
            if not -(1 << 63) <= value < 1 << 63:
                raise error("wrong-attribute", f"{shown(value)} is no i64 integer", where)
            return ir.IntegerAttr.get(ir.IntegerType.get_signless(64, context), value)
        case float():
            return ir.FloatAttr.get(ir.F64Type.get(context), value, ir.Location.unknown(context))
        case str():
            return ir.StringAttr.get(utf8(value), context)
        case SymbolRef():
            path = [to_name(name, where) for name in value.path]
            if len(path) == 1:
                return ir.FlatSymbolRefAttr.get(path[0], context)
            with context:  # the binding builds the nested references in the current context, whatever it is given
                return ir.SymbolRefAttr.get(path)
        case Opaque():
            return ir.Attribute.parse(value.text, context)
        case Mapping():
            entries = {to_name(str(k), where): to_attribute(v, context, where) for k, v in value.items()}
            return ir.DictAttr.get(entries, context)
        case Sequence():
            return ir.ArrayAttr.get([to_attribute(v, context, where) for v in value], context)
        case _:
            raise TypeError(f"no attribute for {type(value).__name__}")
