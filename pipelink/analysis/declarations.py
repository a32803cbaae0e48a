"""Brings the components of objects into a module, next to what the module declares itself.

A component that the IR declares and an object defines is compared first: everything that the declaration states must
hold in the object (``declaration-mismatch``), then the object's contract takes the declaration's place, with all it
says beyond that.  The same object given twice is taken once; two objects that define one component are refused with
both origins named (``duplicate-component``).
"""

from __future__ import annotations

from collections.abc import Sequence

from pipelink.ir import Component, builder, program
from pipelink.ir.attributes import Value
from pipelink.ir.views import View, operations
from pipelink.objects import Object
from pipelink.objects.to_ir import declare
from pipelink.support.diagnostics import Diagnostics, Note, nearest
from pipelink.support.mlir import ir

_UNCOMPARED = ("pipelink.component", "pipelink.object", "sym_name")


def add_objects(module: ir.Operation | ir.Module, objects: Sequence[Object]) -> None:
    """Add the components of ``objects`` to an outer module.

    Raises LinkError ``declaration-mismatch`` and ``duplicate-component``.
    """
    outer = module.operation
    diagnostics = Diagnostics()
    declared = program(outer).components
    scratch = builder.module(outer.context)
    for item in objects:
        declare(item, scratch)
    block = outer.regions[0].blocks[0]
    first = next(iter(operations(outer)), None)
    point = ir.InsertionPoint(block) if first is None else ir.InsertionPoint(first)
    defined = program(scratch).components
    for component in defined.values():
        component.op.clone(ip=point)
        if component.name in declared:
            compare(declared[component.name], component, diagnostics)
    for name in defined:
        if name in declared:
            declared[name].op.erase()
    diagnostics.raise_if_errors()


def compare(declaration: Component, definition: Component, diagnostics: Diagnostics) -> None:
    """Report what a declaration states and its definition does not."""
    found: dict[tuple[str, str], View] = {_key(view): view for view in definition.children}
    for view in declaration.children:
        kind, name = key = _key(view)
        what = f"component '{declaration.name}': {kind} '{name}'".removesuffix(" ''")
        other = found.get(key)
        if other is None:
            message = f"{what} is declared here, the object does not have it"
            notes = [Note("the object's component", definition.location)]
            names = [n for k, n in found if k == kind]
            diagnostics.error("declaration-mismatch", message, view.location, notes=notes, hint=nearest(name, names))
            continue
        for attribute, value in view.data.items():
            actual = other.data.get(attribute)
            if attribute not in _UNCOMPARED and actual != value:
                message = f"{what} is declared with {attribute} = {_show(value)}, the object has {_show(actual)}"
                notes = [Note("the object's declaration", other.location)]
                diagnostics.error("declaration-mismatch", message, view.location, notes=notes)


def _key(view: View) -> tuple[str, str]:
    kind = view.op.name.removeprefix("pipelink.")
    if kind in ("bind", "protocol"):
        return kind, view.name
    return kind, str(view.data.get("sym_name", view.data.get("name", "")))


def _show(value: Value) -> str:
    text = "none" if value is None else str(value)
    return text if len(text) <= 80 else text[:77] + "…"
