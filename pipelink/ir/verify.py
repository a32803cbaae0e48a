"""The structural verifier: what MLIR's own verifier cannot say about dialect ``pipelink``.

Walks :mod:`pipelink.ir.schema`: unknown operations and attributes are refused, kinds, choices, bounds, alignments and
ranges hold, names are unique, references lead somewhere.  It works in any context, also where the dialect is not
registered, and reports everything it finds.  What components promise each other is the business of pass ``check``.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from typing import Any

from pipelink.contract.fields import MAX_INT, Field
from pipelink.contract.vocabulary import DENSE, DIRECTIONS, ELEMENT_BITS, MAX_ARRIVALS, PORT_FIELDS, TileRows
from pipelink.ir.attributes import Opaque, SymbolRef, Value
from pipelink.ir.locations import location_of
from pipelink.ir.references import verify_references
from pipelink.ir.schema import COMPONENT, IMAGE, KERNEL, MODULE_ATTRIBUTES, OPS
from pipelink.ir.views import Component, Kernel, Program, View, operations
from pipelink.support import expr, limits
from pipelink.support.diagnostics import Diagnostics, LinkError, Location, Note, nearest, shown
from pipelink.support.mlir import ir
from pipelink.support.protocol_text import ProtocolError, located, parse_text

_WORDS = {
    "str": "a string",
    "int": "an i64 integer",
    "bool": "a boolean",
    "symbol": "a symbol @name",
    "port": "@instance::@name",
    "range": "[min, max]",
    "list": "a list",
    "dict": "a dictionary",
    "expr": "an expression",
    "scalar": "an integer, a finite float, a string or a boolean",
    "ref": "a parameter's name",
}
_STATED = ("pipelink.protocol", "pipelink.awaits", "pipelink.adds")  # once of each port
_CONTRACT_NAMES = ("pipelink.tensor", "pipelink.derive", "pipelink.workspace", "pipelink.peer")
#: What PTX and C++ both take; a component's name has several, with dots between them.
_SYMBOL = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_ONCE = ("pipelink.grid", "pipelink.cluster", "pipelink.resident", "pipelink.programmatic", "pipelink.stack")


def verify(op: ir.Operation | ir.Module, *, references: bool = True) -> Program:
    """Verify an outer module and return the views of its content.

    ``references=False`` leaves out names that may come from elsewhere (components of objects not yet read).
    Raises LinkError with every diagnostic.
    """
    diagnostics = Diagnostics()
    outer = op.operation
    components: dict[str, Component] = {}
    kernels: list[Kernel] = []
    first: dict[str, View] = {}
    for inner in operations(outer):
        attributes = inner.attributes
        if inner.name.startswith("pipelink."):
            message = f"'{inner.name}' stands outside of a component and a kernel"
            diagnostics.error("misplaced-operation", message, location_of(inner))
        if "pipelink.component" in attributes:
            view: Component | Kernel = Component(inner)
            _verify_module(view, "component", COMPONENT, diagnostics)
        elif "pipelink.kernel" in attributes:
            view = Kernel(inner)
            _verify_module(view, "kernel", KERNEL, diagnostics)
        else:
            _hidden(inner, diagnostics)
            continue
        name = view.data.get("sym_name")
        if not isinstance(name, str):
            continue
        if name in first:
            _duplicate("component" if isinstance(view, Component) else "kernel", name, view, first[name], diagnostics)
            continue
        first[name] = view
        if isinstance(view, Component):
            components[name] = view
        else:
            kernels.append(view)
    diagnostics.raise_if_errors()
    found = Program(outer, components, tuple(kernels))
    verify_references(found, diagnostics, components_known=references)
    diagnostics.raise_if_errors()
    return found


def _hidden(outer: ir.Operation, diagnostics: Diagnostics) -> None:
    """Report components and kernels inside of another operation, where nothing looks for them."""

    def visit(inner: ir.Operation) -> ir.WalkResult:
        attributes = inner.attributes
        kind = next((kind for kind in ("component", "kernel") if f"pipelink.{kind}" in attributes), None)
        if kind is None:
            return ir.WalkResult.ADVANCE
        name = ir.StringAttr(attributes["sym_name"]).value if "sym_name" in attributes else ""
        message = f"{kind} '{name}' stands inside of another module, where it is not seen"
        hint = "take it out of the inner module, or give it a file of its own"
        diagnostics.error("misplaced-operation", message, location_of(inner), hint=hint)
        return ir.WalkResult.SKIP

    outer.walk(visit, ir.WalkOrder.PRE_ORDER)


def _duplicate(what: str, name: str, view: View, first: View, diagnostics: Diagnostics) -> None:
    notes = [Note("first defined here", first.location)]
    diagnostics.error("duplicate-name", f"{what} '{name}' is defined twice", view.location, notes=notes)


def _verify_module(
    module: Component | Kernel, parent: str, fields: dict[str, Field[Any]], diagnostics: Diagnostics
) -> None:
    data, where = module.data, module.location
    if not isinstance(data.get("sym_name"), str):
        diagnostics.error("missing-attribute", f"the {parent}'s module has no name", where)
    for key in data:
        if key.startswith("pipelink.") and key not in MODULE_ATTRIBUTES:
            _unknown(key, MODULE_ATTRIBUTES, f"module '{data.get('sym_name', '')}'", where, diagnostics)
    if "pipelink.component" in data and "pipelink.kernel" in data:
        diagnostics.error("wrong-attribute", "a module is a component or a kernel, not both", where)
    what = f"pipelink.{parent}"
    if _verify_dict(data[what], fields, what, where, diagnostics):
        for index, image in enumerate(data[what].get("images", ())):
            _verify_dict(image, IMAGE, f"image {index} of {what}", where, diagnostics)
    path = str(data.get("sym_name", "")).split(".") if parent == "component" else [data.get("sym_name", "")]
    _verify_symbol(path, f"{parent} {shown(str(data.get('sym_name')))}", where, diagnostics)
    if len(module.children) > limits.OPERATIONS:
        message = f"the {parent} has {len(module.children)} operations, the limit is {limits.OPERATIONS}"
        diagnostics.error("invalid-ir", message, where)
        return
    _verify_others(module.others, parent, diagnostics)
    symbols: dict[str, View] = {}
    names: dict[str, View] = {}
    once: dict[str, View] = {}
    stated: dict[str, dict[str, View]] = {op: {} for op in _STATED}
    for child in module.children:
        _verify_op(child, parent, diagnostics)
        op, name = child.op.name, child.data.get("sym_name")
        if isinstance(name, str):
            seen, key = symbols, name
            what = f"{op.removeprefix('pipelink.')} {shown(name)}"
            if parent == "component":
                _verify_symbol([name], what, child.location, diagnostics)
            elif "::" in name:
                message = f"the name of {what} has '::', which stands between names"
                diagnostics.error("bad-symbol", message, child.location)
            elif not name.isprintable() or len(name) > limits.SYMBOL:
                message = f"the name of {what} has more than {limits.SYMBOL} characters, or some that do not print"
                diagnostics.error("bad-symbol", message, child.location)
        elif op in _CONTRACT_NAMES:
            seen, key = names, str(child.data.get("name"))
        elif op in _ONCE:
            seen, key = once, op.removeprefix("pipelink.")
        elif op in _STATED:
            seen, key = stated[op], str(child.data.get("of"))
        else:
            continue
        if key in seen:
            _duplicate(op.removeprefix("pipelink."), key, child, seen[key], diagnostics)
        seen.setdefault(key, child)


def _verify_symbol(path: Iterable[Value], what: str, where: Location, diagnostics: Diagnostics) -> None:
    """Names of device functions consist of these."""
    parts = list(path)
    if not all(isinstance(part, str) and _SYMBOL.fullmatch(part) for part in parts):
        message = f"the name of {what} becomes part of a device symbol, which consists of letters, digits and '_'"
        diagnostics.error("bad-symbol", message, where)
    elif len(parts) > 16 or any(len(str(part)) > limits.SYMBOL for part in parts):
        message = f"the name of {what} is too long for a device symbol: {limits.SYMBOL} characters, 16 parts"
        diagnostics.error("bad-symbol", message, where)


def _verify_others(others: Iterable[ir.Operation], parent: str, diagnostics: Diagnostics) -> None:
    for op in others:
        name = op.name
        if name.startswith("pipelink."):
            hint = nearest(name, [f"pipelink.{known}" for known in OPS])
            diagnostics.error("unknown-operation", f"unknown operation '{name}'", location_of(op), hint=hint)
        elif parent == "component":
            diagnostics.error("misplaced-operation", f"'{name}' stands in a component", location_of(op))


def _unknown(key: str, known: Iterable[str], what: str, where: Location, diagnostics: Diagnostics) -> None:
    message = f"{what} has an unknown attribute '{key}'"
    diagnostics.error("unknown-attribute", message, where, hint=nearest(key, known))


def _verify_op(view: View, parent: str, diagnostics: Diagnostics) -> None:
    op = view.op.name
    spec = OPS[op.removeprefix("pipelink.")]
    if parent not in spec.parents:
        message = f"'{op}' stands in a {parent}, it belongs in a {spec.parents[0]}"
        diagnostics.error("misplaced-operation", message, view.location)
    name = view.data.get("sym_name", view.data.get("name", view.data.get("of")))
    what = f"{op.removeprefix('pipelink.')} '{name}'" if isinstance(name, str) else f"'{op}'"
    if not _verify_dict(view.data, spec.fields, what, view.location, diagnostics):
        return
    rule = _RULES.get(op)
    if rule is not None:
        rule(view, what, diagnostics)


def _verify_dict(
    data: Value, fields: dict[str, Field[Any]], what: str, where: Location, diagnostics: Diagnostics
) -> bool:
    """Check a dictionary against its fields; True if every present value is well-formed and nothing is missing."""
    if not isinstance(data, dict):
        diagnostics.error("wrong-attribute", f"{what} is not a dictionary", where)
        return False
    entries: dict[str, Value] = data
    before = len(diagnostics.items)
    for key, value in entries.items():
        spec = fields.get(key)
        if spec is None:
            _unknown(key, fields, what, where, diagnostics)
        else:
            _verify_value(key, value, spec, what, where, diagnostics)
    for key, spec in fields.items():
        if spec.required and key not in entries:
            if key == "align":
                diagnostics.error("alignment-unstated", f"{what} states no alignment", where)
            else:
                diagnostics.error("missing-attribute", f"{what} has no '{key}'", where)
    return len(diagnostics.items) == before


def _is_int(value: Value) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_name(value: Value) -> bool:
    return isinstance(value, str) and bool(value)


def _fits(spec: Field[Any], value: Value) -> bool:
    match spec.kind:
        case "str":
            return _is_name(value)
        case "int":
            return _is_int(value)
        case "bool":
            return isinstance(value, bool)
        case "symbol":
            return isinstance(value, SymbolRef) and len(value.path) == 1
        case "port":
            return isinstance(value, SymbolRef) and len(value.path) == 2
        case "range":
            return isinstance(value, list) and len(value) == 2 and all(_is_int(v) for v in value)  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
        case "list":
            return isinstance(value, list)
        case "dict":
            return isinstance(value, dict)
        case "expr":
            return _is_int(value) or _is_name(value)
        case "scalar":
            return isinstance(value, int | str) or (isinstance(value, float) and math.isfinite(value))
        case "ref":
            return _is_name(value) or isinstance(value, SymbolRef)


def _verify_value(
    key: str, value: Value, spec: Field[Any], what: str, where: Location, diagnostics: Diagnostics
) -> None:
    if not _fits(spec, value):
        shown = str(value) if isinstance(value, Opaque) else _show(value)
        id = "bad-range" if spec.kind == "range" else "wrong-attribute"
        message = f"'{key}' of {what} is {_WORDS[spec.kind]}, not {shown}"
        diagnostics.error(id, message, where)
    elif spec.choices and value not in spec.choices:
        message = f"'{key}' of {what} is one of {', '.join(spec.choices)}, not '{value}'"
        diagnostics.error("wrong-attribute", message, where, hint=nearest(value, spec.choices))
    elif spec.kind == "int":
        if not spec.least <= value <= spec.most:
            message = f"'{key}' of {what} is {value}, it must be {spec.least} … {spec.most}"
            diagnostics.error("wrong-attribute", message, where)
        elif key == "align" and value & (value - 1):
            diagnostics.error("bad-alignment", f"'align' of {what} is {value}, not a power of two", where)
    elif spec.kind == "range":
        low, high = value
        if not spec.least <= low <= high <= MAX_INT:
            message = f"'{key}' of {what} is [{low}, {high}], not a range from {spec.least} up"
            diagnostics.error("bad-range", message, where)
    elif spec.holds_integers:
        _verify_ints(value, f"'{key}' of {what}", spec.least, where, diagnostics)
    elif spec.kind == "expr" and isinstance(value, str):
        _verify_expression(value, f"'{key}' of {what}", where, diagnostics)


def _show(value: Value) -> str:
    text = f"'{value}'" if isinstance(value, str) else str(value)
    return text if len(text) <= 60 else text[:57] + "…"


def _verify_expression(text: str, what: str, where: Location, diagnostics: Diagnostics) -> None:
    try:
        expr.parse(text)
    except LinkError as problem:
        for found in problem.diagnostics:
            diagnostics.error("bad-expression", f"{what}: {found.message}", where, hint=found.hint)


def _verify_port(view: View, what: str, diagnostics: Diagnostics) -> None:
    data, where = view.data, view.location
    kind, direction = data["kind"], data["direction"]
    if direction not in DIRECTIONS[kind]:
        message = f"{what} is of kind {kind}: its direction is {' or '.join(DIRECTIONS[kind])}, not '{direction}'"
        diagnostics.error("wrong-attribute", message, where)
        return
    required, optional = PORT_FIELDS[kind, direction]
    for key in required:
        if key not in data:
            diagnostics.error("missing-attribute", f"{what} has no '{key}', which {kind} ports have", where)
    for key in data:
        if key not in ("sym_name", "direction", "kind", "role", *required, *optional):
            message = f"{what} has '{key}', which {kind} ports ({direction}) do not have"
            diagnostics.error("unknown-attribute", message, where)
    if kind != "stream" or "tiles" not in data:
        return
    if not data["tiles"]:
        diagnostics.error("missing-attribute", f"{what} has no tile", where)
    for index, tile in enumerate(data["tiles"]):
        _verify_tile(tile, f"tile {index} of {what}", where, diagnostics)


def _verify_tile(tile: Value, what: str, where: Location, diagnostics: Diagnostics) -> None:
    if not _verify_dict(tile, TileRows.fields, what, where, diagnostics):
        return
    if "align" not in tile and tile.get("space", "smem") == "smem":
        diagnostics.error("alignment-unstated", f"{what} states no alignment", where)
    if not tile["shape"]:
        diagnostics.error("wrong-attribute", f"{what} has an empty shape", where)
    _verify_size(tile, what, where, diagnostics)


def _verify_param(view: View, what: str, diagnostics: Diagnostics) -> None:
    if "tile" in view.data:
        _verify_tile(view.data["tile"], f"the tile of {what}", view.location, diagnostics)


def _verify_size(tile: dict[str, Value], what: str, where: Location, diagnostics: Diagnostics) -> None:
    """A tile of a known element is at least as large as its elements."""
    bits, size = ELEMENT_BITS.get(tile["element"]), tile.get("bytes")
    if bits is None or size is None or tile["layout"] not in DENSE:
        return
    needed = -(-math.prod(tile["shape"]) * bits // 8)
    if not needed <= size:
        shape = "×".join(str(extent) for extent in tile["shape"])
        message = f"{what} has {size} bytes, {shape} {tile['element']} need {needed}"
        diagnostics.error("wrong-attribute", message, where)


def _verify_ints(values: Any, what: str, least: int, where: Location, diagnostics: Diagnostics) -> None:
    for value in values:
        if not _is_int(value) or not least <= value <= MAX_INT:
            message = f"{what} holds {_show(value)}, not an integer from {least} up"
            diagnostics.error("wrong-attribute", message, where)
            return


def _verify_live(view: View, what: str, diagnostics: Diagnostics) -> None:
    live = view.data.get("live")
    if live is None:
        return
    if len(live) != 2 or not all(_is_int(v) for v in live) or not 0 <= live[0] < live[1]:
        message = f"'live' of {what} is an interval [begin, end] with begin < end, not {_show(live)}"
        diagnostics.error("bad-range", message, view.location)


def _verify_barrier(view: View, what: str, diagnostics: Diagnostics) -> None:
    threads = view.data["threads"]
    if threads % 32 or threads > 1024:
        message = f"{what} has {threads} threads, not a multiple of 32 up to 1024"
        diagnostics.error("wrong-attribute", message, view.location)


def _verify_mbarrier(view: View, what: str, diagnostics: Diagnostics) -> None:
    if view.data["arrivals"] > MAX_ARRIVALS:
        message = f"{what} expects {view.data['arrivals']} arrivals, an mbarrier counts to {MAX_ARRIVALS}"
        diagnostics.error("wrong-attribute", message, view.location)


def _verify_protocol(view: View, what: str, diagnostics: Diagnostics) -> None:
    try:
        parse_text(view.data["text"])
    except ProtocolError as problem:
        diagnostics.items.append(located(problem, view.data["text"], view.location, what))


def _verify_bind(view: View, what: str, diagnostics: Diagnostics) -> None:
    if ("to" in view.data) == ("value" in view.data):
        given = "both 'to' and 'value'" if "to" in view.data else "neither 'to' nor 'value'"
        message = f"{what} gives {given}"
        diagnostics.error("wrong-attribute", message, view.location)


def _verify_tensor(view: View, what: str, diagnostics: Diagnostics) -> None:
    shape = view.data["shape"]
    if not shape:
        diagnostics.error("wrong-attribute", f"{what} has an empty shape", view.location)
    for extent in shape:
        if _is_name(extent):
            _verify_expression(extent, what, view.location, diagnostics)
        elif not _is_int(extent) or extent < 1:
            message = f"'shape' of {what} holds {_show(extent)}, not a dimension's name, an expression or an extent"
            diagnostics.error("wrong-attribute", message, view.location)


def _verify_grid(view: View, what: str, diagnostics: Diagnostics) -> None:
    values = view.data["value"]
    if len(values) != 3:
        message = f"{what} has {len(values)} extents, not 3"
        diagnostics.error("wrong-attribute", message, view.location)
    for value in values:
        if _is_name(value):
            _verify_expression(value, what, view.location, diagnostics)
        elif not _is_int(value) or value < 1:
            message = f"{what} holds {_show(value)}, not an expression"
            diagnostics.error("wrong-attribute", message, view.location)


def _verify_cluster(view: View, what: str, diagnostics: Diagnostics) -> None:
    values = view.data["value"]
    if len(values) != 3:
        message = f"{what} has {len(values)} extents, not 3"
        diagnostics.error("wrong-attribute", message, view.location)


def _verify_instance(view: View, what: str, diagnostics: Diagnostics) -> None:
    for old, new in view.data.get("rename", {}).items():
        if not _is_name(new):
            message = f"'rename' of {what} maps '{old}' to {_show(new)}, not to a name"
            diagnostics.error("wrong-attribute", message, view.location)


def _verify_refs(key: str) -> Any:
    def rule(view: View, what: str, diagnostics: Diagnostics) -> None:
        values = view.data[key]
        if len(values) < 2:
            message = f"{what} lists {len(values)} {key}, two or more are needed"
            diagnostics.error("wrong-attribute", message, view.location)
        for value in values:
            if not isinstance(value, SymbolRef) or len(value.path) != 2:
                message = f"'{key}' of {what} holds {_show(value)}, not @instance::@name"
                diagnostics.error("wrong-attribute", message, view.location)

    return rule


_RULES: dict[str, Any] = {
    "pipelink.port": _verify_port,
    "pipelink.smem": _verify_live,
    "pipelink.tmem": _verify_live,
    "pipelink.barrier": _verify_barrier,
    "pipelink.mbarrier": _verify_mbarrier,
    "pipelink.protocol": _verify_protocol,
    "pipelink.bind": _verify_bind,
    "pipelink.param": _verify_param,
    "pipelink.tensor": _verify_tensor,
    "pipelink.grid": _verify_grid,
    "pipelink.cluster": _verify_cluster,
    "pipelink.instance": _verify_instance,
    "pipelink.exclusive": _verify_refs("roles"),
    "pipelink.overlay": _verify_refs("buffers"),
}
