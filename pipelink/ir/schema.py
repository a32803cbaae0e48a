"""The vocabulary of dialect ``pipelink`` as the structural verifier walks it: every operation, its attributes.

The rows are those of the contracts (:mod:`pipelink.contract.vocabulary`) and of the kernel's operations
(:mod:`pipelink.ir.opviews`).  ``docs/ir.md`` prints them, and ``dialect.irdl``, which other MLIR tools load, is
written from them by ``docs/generate.py``: IRDL cannot express optional attributes, so it has the required ones only.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from pipelink.contract.fields import Declaration, Field, number, optional, other, string
from pipelink.ir.opviews import VIEWS


@dataclass(frozen=True)
class Op:
    """One operation: where it may stand, and its attributes in the order in which the builder prints them."""

    doc: str
    parents: tuple[str, ...]
    fields: dict[str, Field[Any]]


def _op(declared: type[Declaration]) -> Op:
    return Op(declared.about, declared.parents, declared.fields)


OPS: Final = {name.removeprefix("pipelink."): _op(view) for name, view in VIEWS.items()}

IMAGE: Final[dict[str, Field[Any]]] = {
    "arch": string("architecture, such as sm_90a"),
    "kind": optional(string("ltoir if absent", "ltoir", "cubin", "ptx")),
    "toolkit": optional(string("version of the producing toolkit, such as 13.0")),
    "sha256": optional(string("content hash of the image")),
    "bytes": optional(number("size of the image", least=0)),
}
COMPONENT: Final[dict[str, Field[Any]]] = {
    "abi": number("version of the component ABI"),
    "images": optional(other("list", "code images; absent for a component that is a contract only", list)),
    "cxx": optional(string("qualified C++ name")),
}
KERNEL: Final[dict[str, Field[Any]]] = {
    "target": string("architecture to link for, such as sm_90a"),
    "min_ctas": optional(number("CTAs that must fit on one SM")),
}
MODULE_ATTRIBUTES: Final = (
    "pipelink.component",
    "pipelink.kernel",
    "pipelink.object",
    "pipelink.placement",
    "pipelink.launch",
)


def irdl() -> str:
    """The dialect for MLIR's IRDL loader: every operation with its required attributes."""
    bases = {"str": "string", "int": "integer", "bool": "integer", "list": "array", "range": "array"}
    bases |= {"dict": "dictionary", "symbol": "symbol_ref", "port": "symbol_ref"}
    lines = [
        "// Dialect pipelink for MLIR's IRDL loader: every operation with its required attributes.  IRDL has no",
        "// optional attributes; the full vocabulary and its rules are in docs/ir.md.  Written by docs/generate.py.",
        "irdl.dialect @pipelink {",
    ]
    for name, op in OPS.items():
        lines.append(f"  irdl.operation @{name} {{")
        required = {key: row for key, row in op.fields.items() if row.required}
        for key, row in required.items():
            if row.choices:
                lines += [f'    %{key}_{choice} = irdl.is "{choice}"' for choice in row.choices]
                listed = ", ".join(f"%{key}_{choice}" for choice in row.choices)
                lines.append(f"    %{key} = irdl.any_of({listed})")
            else:
                base = bases.get(row.kind)
                lines.append(f"    %{key} = " + (f'irdl.base "#builtin.{base}"' if base else "irdl.any"))
        if required:
            listed = ", ".join(f'"{key}" = %{key}' for key in required)
            lines.append(f"    irdl.attributes {{{listed}}}")
        lines.append("  }")
    return "\n".join([*lines, "}"]) + "\n"
