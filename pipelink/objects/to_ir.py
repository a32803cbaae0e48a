"""Contracts as IR, and IR as contracts.

:func:`declare` adds an object's components to an outer module, one component module each, with the C++ declarations'
places as locations; :func:`contract_records` turns a component module back into records, for code that was compiled
without the header.
"""

from __future__ import annotations

import json
from typing import Any, Final

from pipelink.contract.fields import Declaration
from pipelink.contract.vocabulary import ABI, DECLARATIONS
from pipelink.ir import builder, to_python
from pipelink.ir.attributes import attributes_of
from pipelink.ir.locations import location_of
from pipelink.ir.views import operations
from pipelink.objects.model import ContractComponent, Image, Object, Record
from pipelink.support.diagnostics import Location, Note, error
from pipelink.support.mlir import ir

#: Records that say that a definition exists; the IR has no operation for them.
_DEFINITIONS: Final = ("entry", "answer")


def declare(item: Object, outer: ir.Module | ir.Operation) -> list[ir.Operation]:
    """Add a component module per component of ``item`` to ``outer``; return them.

    A component that is there already, from the same contract and code, is taken once.  Raises LinkError
    ``duplicate-component`` if it is there from another.
    """
    present = {
        to_python(op.attributes["sym_name"]): op
        for op in operations(outer.operation)
        if op.name == "builtin.module" and "sym_name" in op.attributes and "pipelink.component" in op.attributes
    }
    images = [_image(image) for image in item.images]
    modules: list[ir.Operation] = []
    for component in item.components:
        if component.symbol in present:
            modules.append(_same(present[component.symbol], item, component, images))
            continue
        made = builder.component(
            outer,
            component.symbol,
            images=images,
            cxx=component.name,
            object_path=item.name,
            location=component.location,
        )
        for record in component.records:
            if record.op != "component" and record.op not in _DEFINITIONS:
                made.add(record.op, record.location, **_attributes(record))
        modules.append(made.op)
    return modules


def _image(image: Image) -> dict[str, Any]:
    found: dict[str, Any] = {"arch": image.arch}
    if image.kind != "ltoir":
        found["kind"] = image.kind
    if image.toolkit:
        found["toolkit"] = image.toolkit
    return {**found, "sha256": image.sha256, "bytes": len(image.data)}


def _same(
    present: ir.Operation, item: Object, component: ContractComponent, images: list[dict[str, Any]]
) -> ir.Operation:
    known: Any = to_python(present.attributes["pipelink.component"])
    if known.get("images") == images:
        return present
    origin = (
        to_python(present.attributes["pipelink.object"]) if "pipelink.object" in present.attributes else "the input"
    )
    raise error(
        "duplicate-component",
        f"component '{component.name}' is in '{origin}' and in '{item.name}'",
        location_of(present),
        notes=[Note(f"'{item.name}' declares it here", component.location)],
        hint="link one of them, or give one component another name",
    )


def _attributes(record: Record) -> dict[str, Any]:
    values: dict[str, Any] = dict(record.values)
    values.pop("key", None)  # of require and promise: the name itself
    declared = DECLARATIONS[record.op]
    for key, row in declared.fields.items():
        if row.written is not None and row.written.form == "dimension":
            values[key] = [int(extent) if extent.isdigit() else extent for extent in values[key]]
    name = declared.named_by()
    return {name: record.name, **values} if name else values


def contract_records(module: ir.Operation, file: str = "contract.mlir") -> tuple[bytes, ...]:
    """The records that declare what a component module says; ``file`` where an operation has no place of its own.

    Roles and answering ports count as defined.  Values are checked by whoever reads the records.
    """
    symbol: str = to_python(module.attributes["sym_name"])
    contract: Any = to_python(module.attributes["pipelink.component"])
    name = contract.get("cxx", symbol.replace(".", "::"))

    def record(op: str, called: str, place: Location, values: dict[str, Any]) -> bytes:
        where = {"file": place.file.rsplit("/", 1)[-1] or file, "line": place.line}
        head = {"pipelink": ABI, "op": op, "component": name, "name": called}
        return json.dumps({**head, **where, **values}, separators=(",", ":"), ensure_ascii=False).encode()

    made = [record("component", "component", location_of(module), {"cxx": 17})]
    for op in operations(module):
        kind, place = op.name.removeprefix("pipelink."), location_of(op)
        values = attributes_of(op)
        declared = DECLARATIONS.get(kind, Declaration)
        called = values.pop(declared.named_by(), None) or values.get("param", kind)
        for key, row in declared.fields.items():
            if row.written is not None and row.written.form == "dimension":
                values[key] = [str(extent) for extent in values[key]]
        if kind in ("require", "promise"):
            values = {"key": called, **values}
        made.append(record(kind, called, place, values))
        if kind == "role":
            made.append(record("entry", called, place, {}))
        if kind == "port" and values.get("direction") == "answers":
            made.append(record("answer", called, place, {}))
    return tuple(made)
