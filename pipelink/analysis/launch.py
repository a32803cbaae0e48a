"""Resolves the launch contract: from tensors alone to a grid and a filled parameter block.

Components declare tensors, derived scalars, workspaces and a grid by name; equal names mean the same thing across the
kernel, an instance's ``rename`` gives them another, and the kernel's own declarations win.  Every parameter resolves to
a tensor, a workspace, an expression or a launch-time scalar, in the order: the kernel's ``bind``, the component's
``bind``, something of the parameter's name, a scalar argument.  Equal resolutions share one field of the parameter
block; expressions without names become values known at link time.

:func:`resolve` is a pure function over views; the dictionary that it returns is ``pipelink.launch`` and, unchanged, the
``launch`` entry of a package's manifest.
"""

from __future__ import annotations

import graphlib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from pipelink.analysis.launch_expressions import Located, check_constants, rename_expression
from pipelink.analysis.launch_types import pointee_align, pointee_fault, value_fault
from pipelink.ir.placement import ParameterSource
from pipelink.ir.views import Component, Instance, Kernel, Param, Program, Tensor, View
from pipelink.support import expr
from pipelink.support.diagnostics import UNKNOWN, Diagnostics, LinkError, Location, Note, nearest, shown
from pipelink.support.launch import BUILTINS, ELEMENT_BYTES, MAX_RANK, RESERVED, SCALARS
from pipelink.target import ADDRESS_BYTES, PARAMETER_BYTES
from pipelink.transfers.cluster import Split, split

TENSOR_MAP_BYTES = 128
_NAME = re.compile(r"[A-Za-z_]\w{0,254}", re.ASCII)
TENSOR_MAP_ALIGN = 128  # CUtensorMap asks for 64; 128 is what the TMA unit fetches
BLOCK_ALIGN = 64


@dataclass
class Launch:
    """The resolved contract; ``params[instance][param]``."""

    contract: dict[str, Any]
    params: dict[str, dict[str, ParameterSource]]


@dataclass
class _Declared:
    """One name of the contract: its resolved data and where it was first declared."""

    data: Any
    location: Location
    where: str


@dataclass
class _Names:
    """Everything that the kernel and its instances declare, after renaming, in order of appearance."""

    tensors: dict[str, _Declared] = field(default_factory=dict[str, _Declared])
    derived: dict[str, _Declared] = field(default_factory=dict[str, _Declared])
    workspaces: dict[str, _Declared] = field(default_factory=dict[str, _Declared])
    peers: dict[str, _Declared] = field(default_factory=dict[str, _Declared])
    scalars: dict[str, _Declared] = field(default_factory=dict[str, _Declared])
    grid: _Declared | None = None
    cluster: _Declared | None = None
    resident: bool = False
    programmatic: bool = False

    @property
    def dimensions(self) -> list[str]:
        found: dict[str, None] = {}
        for tensor in self.tensors.values():
            found.update((extent, None) for extent in tensor.data["shape"] if extent.isidentifier())
        return list(found)

    def values(self) -> list[str]:
        """Names that stand for a number in an expression."""
        return [*self.dimensions, *self.derived, *self.scalars, *BUILTINS]

    def pointers(self) -> list[str]:
        return [*self.tensors, *self.workspaces, *self.peers]


def resolve(program: Program, kernel: Kernel, diagnostics: Diagnostics) -> Launch:
    """The launch contract of ``kernel``.  ``threads``, ``smem_bytes`` and ``min_ctas`` are placement's and left out.

    Reports ``unknown-symbol``, ``unbound-parameter``, ``cyclic-derivation``, ``launch-conflict``, ``missing-grid``,
    ``bad-binding``, ``not-passable``, ``reserved-name``, ``parameter-overflow`` and ``bad-expression``.
    """
    resolver = _Resolver(program, kernel, diagnostics)
    return resolver.run()


class _Resolver:
    def __init__(self, program: Program, kernel: Kernel, diagnostics: Diagnostics) -> None:
        self.kernel = kernel
        self.diagnostics = diagnostics
        self.names = _Names()
        self.fields: dict[tuple[object, ...], dict[str, Any]] = {}
        self.aligns: dict[tuple[object, ...], int] = {}
        self.shared = {
            (connect.source.root, connect.source.leaf, part) for connect in kernel.connects for part in connect.shared
        }  # tiles that two CTAs bring together
        self.pairs: list[tuple[Instance, Component]] = [
            (instance, program.components[instance.component])
            for instance in kernel.instances.values()
            if instance.component in program.components
        ]

    def run(self) -> Launch:
        self.collect()
        bindings = self.bindings()
        self.check_arguments()
        self.check_expressions()
        order = self.derivation_order()
        if not self.diagnostics.errors:
            self.check_constants(order, bindings.values())
        resolved: dict[str, dict[str, tuple[object, ...] | ParameterSource]] = {}
        for instance, component in self.pairs:
            own = resolved.setdefault(instance.name, {})
            for param in component.params.values():
                bound = bindings.get((instance.name, param.name))
                found = self.parameter(instance, component, param, bound)
                if found is not None:
                    own[param.name] = found
        index, block = self.block()
        params = {
            instance: {
                name: ParameterSource(index[found]) if isinstance(found, tuple) else found
                for name, found in own.items()
            }
            for instance, own in resolved.items()
        }
        return Launch(self.contract(order, block), params)

    # -- collection

    def collect(self) -> None:
        self.collect_module(self.kernel, "the kernel", {}, wins=True)
        for instance, component in self.pairs:
            self.collect_module(component, f"'@{instance.name}'", instance.rename, wins=False)

    def collect_module(self, module: Kernel | Component, where: str, rename: Mapping[str, str], *, wins: bool) -> None:
        names = self.names
        for tensor in module.tensors:
            self.add_tensor(tensor, where, rename)
        for derive in module.derives:
            value = self.renamed(derive.value, rename, derive)
            self.add(names.derived, "derived value", rename.get(derive.name, derive.name), value, derive, where)
        for space in module.workspaces:
            data = {"bytes": self.renamed(space.bytes, rename, space), "init": space.init}
            self.add(names.workspaces, "workspace", rename.get(space.name, space.name), data, space, where)
        for peer in module.peers:
            data = {"tensor": rename.get(peer.tensor, peer.tensor), "count": peer.count}
            self.add(names.peers, "peer buffer", rename.get(peer.name, peer.name), data, peer, where)
        if module.grid is not None:
            value = [self.renamed(extent, rename, module.grid) for extent in module.grid.value]
            names.grid = self.agree(names.grid, "grid", (value + ["1", "1"])[:3], module.grid, where)
        if module.cluster is not None:
            value = (list(module.cluster.value) + [1, 1])[:3]
            names.cluster = self.agree(names.cluster, "cluster", value, module.cluster, where)
        names.resident |= module.resident
        names.programmatic |= module.programmatic is not None

    def renamed(self, text: str, rename: Mapping[str, str], view: View) -> str:
        try:
            return rename_expression(text, rename)
        except LinkError as problem:
            self.located(problem, view.location)
            return "0"

    def located(self, problem: LinkError, location: Location) -> None:
        for found in problem.diagnostics:
            self.diagnostics.error(found.id, found.message, location, notes=found.notes, hint=found.hint)

    def agree(self, known: _Declared | None, what: str, value: object, view: View, where: str) -> _Declared:
        """The first declaration, checked against a later one; the kernel's, which comes first, wins."""
        if known is None:
            return _Declared(value, view.location, where)
        if known.data != value and known.where != "the kernel":
            self.conflict(what, known, f"{where} declares {_show(value)}", view)
        return known

    def add(self, table: dict[str, _Declared], what: str, name: str, data: object, view: View, where: str) -> None:
        known = table.get(name)
        table[name] = self.agree(known, f"{what} '{name}'", data, view, where)

    def conflict(self, what: str, known: _Declared, other: str, view: View) -> None:
        self.diagnostics.error(
            "launch-conflict",
            f"{what} is declared as {_show(known.data)} by {known.where}, but {other}",
            known.location,
            notes=[Note("the other declaration is here", view.location)],
            hint="declare it in the kernel, which wins, or rename it in one instance",
        )

    def add_tensor(self, tensor: Tensor, where: str, rename: Mapping[str, str]) -> None:
        name = rename.get(tensor.name, tensor.name)
        shape = [extent if extent.isdigit() else self.renamed(extent, rename, tensor) for extent in tensor.shape]
        data: dict[str, Any] = {"element": tensor.element, "shape": shape, "access": tensor.access}
        if tensor.align:
            data["align"] = tensor.align
        known = self.names.tensors.get(name)
        if known is None:
            self.names.tensors[name] = _Declared(data, tensor.location, where)
            return
        kernel_wins = known.where == "the kernel" and len(known.data["shape"]) == len(shape)
        if known.data["element"] != tensor.element or (known.data["shape"] != shape and not kernel_wins):
            self.conflict(f"tensor '{name}'", known, f"{where} declares {_show(data)}", tensor)
            return
        if known.data["access"] != tensor.access:
            known.data["access"] = "readwrite"
        if tensor.align > known.data.get("align", 0):
            known.data["align"] = tensor.align

    # -- arguments

    def check_arguments(self) -> None:
        """Report what a launch cannot pass, and names that it has taken."""
        names = self.names
        for name, declared in names.tensors.items():
            if declared.data["element"] not in ELEMENT_BYTES:
                message = f"tensor '{name}' holds {declared.data['element']}, which a launch cannot pass"
                self.diagnostics.error("not-passable", message, declared.location, hint=_one_of(ELEMENT_BYTES))
            if len(declared.data["shape"]) > MAX_RANK:
                message = f"tensor '{name}' has {len(declared.data['shape'])} dimensions, a launch passes {MAX_RANK}"
                self.diagnostics.error("not-passable", message, declared.location)
        for name, declared in names.scalars.items():
            if declared.data not in SCALARS:
                message = f"scalar argument '{name}' is a {declared.data}, which a launch cannot pass"
                self.diagnostics.error("not-passable", message, declared.location, hint=_one_of(SCALARS))
        numbers = {**names.derived, **names.scalars}
        for tensor in names.tensors.values():
            numbers |= {extent: tensor for extent in tensor.data["shape"] if extent.isidentifier()}
        for name, declared in {**names.tensors, **names.peers, **names.workspaces, **numbers}.items():
            if not _NAME.fullmatch(name):
                message = f"the name {shown(name)} in the launch contract consists of more than letters, digits and '_'"
                self.diagnostics.error("bad-symbol", message, declared.location)
            if name in (*RESERVED, *BUILTINS, *expr.FUNCTIONS):
                message = f"'{name}' is a word of launches and expressions, and no argument or value may have it"
                hint = "rename it in the instance"
                self.diagnostics.error("reserved-name", message, declared.location, hint=hint)

    # -- expressions

    def check_expressions(self) -> None:
        names = self.names
        for name, declared in names.tensors.items():
            for extent in declared.data["shape"]:
                self.check_names(extent, declared.location, f"tensor '{name}'")
        for name, declared in names.derived.items():
            self.check_names(declared.data, declared.location, f"derived value '{name}'")
        for name, declared in names.workspaces.items():
            self.check_names(declared.data["bytes"], declared.location, f"workspace '{name}'")
        if names.grid is not None:
            for extent in names.grid.data:
                self.check_names(extent, names.grid.location, "the grid")
        elif names.tensors:
            self.diagnostics.error(
                "missing-grid",
                f"kernel '{self.kernel.name}' has tensor arguments but neither it nor a component declares a grid",
                self.kernel.location,
            )

    def check_names(self, text: str, location: Location, what: str) -> bool:
        """Report names that nothing declares, and floats, with which nothing computes.  Returns whether all is good."""
        strides = {tensor for tensor, _ in expr.strides(text)}
        good = True
        for tensor, dimension in expr.strides(text):
            rank = len(self.names.tensors[tensor].data["shape"]) if tensor in self.names.tensors else dimension + 1
            if not 0 <= dimension < rank:
                good = False
                message = f"{what} asks for stride {dimension} of '{tensor}' in '{text}', which has {rank}"
                self.diagnostics.error("unknown-symbol", message, location, hint="the first is 0")
        known = set(self.names.values())
        for name in expr.names(text):
            if name in self.names.scalars and self.names.scalars[name].data.startswith(("f", "bf")):
                good = False
                message = f"{what} computes with '{name}' in '{text}', but it is a {self.names.scalars[name].data}"
                hint = "expressions are of integers; a float is bound as it is"
                self.diagnostics.error("unknown-symbol", message, location, hint=hint)
                continue
            if name in known or (name in strides and name in self.names.tensors):
                continue
            good = False
            if name in self.names.pointers() and name not in strides:
                message = f"{what} uses '{name}' as a number in '{text}', but it is a buffer"
                self.diagnostics.error("unknown-symbol", message, location)
                continue
            candidates = self.names.tensors if name in strides else self.names.values()
            self.diagnostics.error(
                "unknown-symbol",
                f"{what} uses '{name}' in '{text}', which is no dimension, derived value or scalar argument",
                location,
                hint=nearest(name, candidates),
            )
        return good

    def check_constants(self, order: list[str], bindings: Iterable[_Binding]) -> None:
        names = self.names
        derived = [Located(name, names.derived[name].data, names.derived[name].location) for name in order]
        shapes = [Located(n, text, d.location) for n, d in names.tensors.items() for text in d.data["shape"]]
        sizes = [Located(name, d.data["bytes"], d.location) for name, d in names.workspaces.items()]
        where = names.grid.location if names.grid else UNKNOWN
        extents = names.grid.data if names.grid else ()
        grid = [Located(axis, text, where) for axis, text in zip("xyz", extents, strict=False)]
        bound = [Located("", one.to, one.location) for one in bindings if one.to is not None]
        cluster = names.cluster.data if names.cluster else (1, 1, 1)
        check_constants(derived, shapes, sizes, grid, cluster, bound, self.diagnostics)

    def derivation_order(self) -> list[str]:
        derived = self.names.derived
        graph = {name: [n for n in expr.names(d.data) if n in derived] for name, d in derived.items()}
        try:
            order = list(graphlib.TopologicalSorter(graph).static_order())
        except graphlib.CycleError as problem:
            cycle: list[str] = problem.args[1]
            first, *others = [derived[name] for name in dict.fromkeys(cycle)]
            self.diagnostics.error(
                "cyclic-derivation",
                f"derived values depend on each other: {' -> '.join(reversed(cycle))}",
                first.location,
                notes=[Note("part of the cycle", other.location) for other in others],
            )
            return []
        for name in self.names.dimensions:
            if name in derived:
                self.conflict_with_dimension(name)
        return order

    def conflict_with_dimension(self, name: str) -> None:
        tensor, declared = next((t, d) for t, d in self.names.tensors.items() if name in d.data["shape"])
        self.diagnostics.error(
            "launch-conflict",
            f"'{name}' is a derived value and also a dimension of tensor '{tensor}'",
            self.names.derived[name].location,
            notes=[Note("the tensor is declared here", declared.location)],
        )

    # -- parameters

    def bindings(self) -> dict[tuple[str, str], _Binding]:
        """What each parameter is bound to, and the scalar arguments that remain."""
        found: dict[tuple[str, str], _Binding] = {}
        for bind in self.kernel.binds:
            found[bind.instance or "", bind.name] = _Binding(bind.to, bind.value, bind.location)
        for instance, component in self.pairs:
            own = {bind.name: bind for bind in component.binds}
            for param in component.params.values():
                key = (instance.name, param.name)
                if key in found or param.operand:
                    continue
                name = instance.rename.get(param.name, param.name)
                if param.name in own:
                    bind = own[param.name]
                    to = None if bind.to is None else self.renamed(bind.to, instance.rename, bind)
                    found[key] = _Binding(to, bind.value, bind.location)
                elif name in self.names.values() or name in self.names.pointers():
                    found[key] = _Binding(name, None, param.location)
                elif not _is_pointer(param):
                    self.add(self.names.scalars, "scalar", name, param.type, param, f"'@{instance.name}'")
                    found[key] = _Binding(name, None, param.location)
        return found

    def parameter(
        self, instance: Instance, component: Component, param: Param, bound: _Binding | None
    ) -> tuple[object, ...] | ParameterSource | None:
        """The key of the parameter's field, or its value known at link time; None after an error."""
        what = f"parameter '@{instance.name}::@{param.name}'"
        if param.operand and bound is None:
            return ParameterSource(operand=True)
        if param.type == "tensor_map":
            return self.tensor_map(instance, component, param, bound, what)
        if _is_pointer(param):
            return self.pointer(param, bound, what)
        if bound is None:
            return None
        if bound.to is None:
            return self.value(param, bound.value, bound, what)
        scalar = self.names.scalars.get(bound.to)
        if scalar is not None and scalar.data.startswith(("f", "bf")):
            if not param.type.startswith(("f", "bf")):
                message = f"{what} is a {param.type} and is bound to '{bound.to}', which is a {scalar.data}"
                self.diagnostics.error("bad-binding", message, bound.location)
                return None
            return self.value_field(param, bound.to)
        try:
            expr.parse(bound.to)
        except LinkError as problem:
            self.located(problem, bound.location)
            return None
        if not self.check_names(bound.to, bound.location, what):
            return None
        if not expr.names(bound.to):
            return self.value(param, expr.evaluate(bound.to, {}), bound, what)
        return self.value_field(param, bound.to)

    def value_field(self, param: Param, text: str) -> tuple[object, ...]:
        data = {"name": param.name, "kind": "value", "type": param.type, "value": text}
        return self.add_field(("value", param.type, text), data, param.bytes, param.align)

    def value(
        self, param: Param, value: int | float | str | bool | None, bound: _Binding, what: str
    ) -> ParameterSource | None:
        """A value known at link time."""
        if (fault := value_fault(param.type, value)) is not None:
            self.diagnostics.error("bad-binding", f"{what} {fault}", bound.location)
            return None
        return ParameterSource(value=value)

    def unbound(self, what: str, kind: str, param: Param, bound: _Binding | None, known: list[str]) -> None:
        given = bound.to if bound is not None and bound.to is not None else None
        message = (
            f"{what} is a {kind} but is bound to '{given}', which is no {_ONE_OF[kind]}"
            if given is not None
            else f"{what} is a {kind} and nothing binds it to a {_ONE_OF[kind]}"
        )
        self.diagnostics.error(
            "unbound-parameter",
            message,
            bound.location if given is not None and bound is not None else param.location,
            hint=nearest(given or param.name, known),
        )

    def tensor_map(
        self, instance: Instance, component: Component, param: Param, bound: _Binding | None, what: str
    ) -> tuple[object, ...] | None:
        tensors, peers = self.names.tensors, self.names.peers
        if bound is None or bound.to not in {**tensors, **peers}:
            self.unbound(what, "tensor map", param, bound, [*tensors, *peers])
            return None
        held, given = param.bytes // TENSOR_MAP_BYTES, peers[bound.to].data["count"] if bound.to in peers else 1
        if held != given:
            message = f"{what} holds {_plural(held, 'tensor map')}, and '{bound.to}' has {_plural(given, 'buffer')}"
            self.diagnostics.error("launch-conflict", message, param.location)
            return None
        if bound.to in peers and peers[bound.to].data["tensor"] not in tensors:
            return None  # said of the peers
        port = component.ports.get(param.port or "")
        tile = param.tile or (port.tiles[param.part] if port and param.part < len(port.tiles) else None)
        if tile is None:
            self.diagnostics.error(
                "unbound-parameter",
                f"{what} names part {param.part} of port '{param.port}', which component '{component.name}' lacks",
                param.location,
                hint=nearest(param.port or "", component.ports),
            )
            return None
        tensor = tensors[peers[bound.to].data["tensor"] if bound.to in peers else bound.to]
        rank = len(tensor.data["shape"])
        extents = param.box or tile.shape
        if (instance.name, param.port, param.part) in self.shared:
            divided = split(tile, param.box)
            extents = divided.box if isinstance(divided, Split) else extents
        if tile.element != tensor.data["element"] or len(extents) > rank:
            self.diagnostics.error(
                "launch-conflict",
                f"{what} copies tiles of {tile.element}{list(extents)}, "
                f"but tensor '{bound.to}' is {_show(tensor.data)}",
                param.location,
                notes=[Note("the tensor is declared here", tensor.location)],
            )
            return None
        box = [1] * (rank - len(extents)) + list(extents)
        swizzle = tile.layout if tile.layout.startswith("swizzle") else "none"
        kind, refers = ("peer_maps", "peers") if bound.to in peers else ("tensor_map", "tensor")
        data = {"name": param.name, "kind": kind, refers: bound.to, "element": tile.element, "box": box}
        data["swizzle"] = swizzle
        key = ("tensor_map", bound.to, tuple(box), swizzle)
        return self.add_field(key, data, param.bytes, TENSOR_MAP_ALIGN)

    def pointer(self, param: Param, bound: _Binding | None, what: str) -> tuple[object, ...] | None:
        names = self.names
        if bound is None or bound.to not in names.pointers():
            self.unbound(what, "pointer", param, bound, names.pointers())
            return None
        align = pointee_align(param.type)
        local = names.tensors.get(bound.to) or names.tensors.get(
            names.peers[bound.to].data["tensor"] if bound.to in names.peers else ""
        )
        if local is not None and (fault := pointee_fault(param.type, local.data["element"])) is not None:
            note = Note("the tensor is declared here", local.location)
            self.diagnostics.error("launch-conflict", f"{what} {fault}", param.location, notes=[note])
            return None
        if bound.to in names.tensors:
            data: dict[str, Any] = {"name": param.name, "kind": "pointer", "tensor": bound.to}
        elif bound.to in names.workspaces:
            data = {"name": param.name, "kind": "workspace", "workspace": bound.to}
        else:
            data = {"name": param.name, "kind": "peers", "peers": bound.to}
        held, given = (
            param.bytes // ADDRESS_BYTES,
            names.peers[bound.to].data["count"] if data["kind"] == "peers" else 1,
        )
        if held != given:
            message = f"{what} holds {_plural(held, 'address', 'es')}, and '{bound.to}' has "
            message += _plural(given, "address", "es")
            self.diagnostics.error("launch-conflict", message, param.location)
            return None
        key = self.add_field((data["kind"], bound.to), data, param.bytes, param.align)
        size = ELEMENT_BYTES.get(local.data["element"], 1) if local is not None else align
        if align > self.fields[key].get("align", size):
            self.fields[key]["align"] = align
        return key

    def add_field(self, key: tuple[object, ...], data: dict[str, Any], size: int, align: int) -> tuple[object, ...]:
        """``align`` is the field's own, which decides its place; that of what a pointer points to stands in it."""
        self.fields.setdefault(key, {**data, "bytes": size})
        self.aligns.setdefault(key, align)
        return key

    # -- result

    def block(self) -> tuple[dict[tuple[object, ...], int], dict[str, Any]]:
        """The parameter block: fields by falling alignment, so that none is padded."""
        order = sorted(self.fields, key=lambda key: -self.aligns[key])
        offset = 0
        fields: list[dict[str, Any]] = []
        for key in order:
            data = dict(self.fields[key])
            align = self.aligns[key]
            offset = -(-offset // align) * align
            fields.append({"name": data.pop("name"), "offset": offset, "bytes": data.pop("bytes"), **data})
            offset += fields[-1]["bytes"]
        align = TENSOR_MAP_ALIGN if any(f["kind"] in ("tensor_map", "peer_maps") for f in fields) else BLOCK_ALIGN
        size = -(-offset // align) * align
        if size > PARAMETER_BYTES:
            largest = sorted(fields, key=lambda f: -f["bytes"])[:3]
            self.diagnostics.error(
                "parameter-overflow",
                f"the parameters of kernel '{self.kernel.name}' need {size} bytes, "
                f"{size - PARAMETER_BYTES} over {PARAMETER_BYTES}",
                self.kernel.location,
                notes=[Note(f"{f['name']}: {f['bytes']} bytes", UNKNOWN) for f in largest],
            )
        return {key: number for number, key in enumerate(order)}, {"bytes": size, "align": align, "fields": fields}

    def contract(self, order: list[str], block: dict[str, Any]) -> dict[str, Any]:
        names = self.names
        arguments: list[dict[str, Any]] = [
            {"name": name, "kind": "tensor", **declared.data} for name, declared in names.tensors.items()
        ]
        for name, declared in names.peers.items():
            arguments.append({"name": name, "kind": "peers", **declared.data})
            if declared.data["tensor"] not in names.tensors:
                message = f"peers '{name}' are buffers like tensor '{declared.data['tensor']}', which nothing declares"
                hint = nearest(declared.data["tensor"], names.tensors)
                self.diagnostics.error("launch-conflict", message, declared.location, hint=hint)
        arguments += [{"name": n, "kind": "scalar", "type": d.data} for n, d in names.scalars.items()]
        return {
            "kernel": self.kernel.name,
            "arguments": arguments,
            "dimensions": names.dimensions,
            "derived": [{"name": name, "value": names.derived[name].data} for name in order],
            "grid": names.grid.data if names.grid else ["1", "1", "1"],
            "cluster": names.cluster.data if names.cluster else [1, 1, 1],
            "cooperative": names.resident,
            "resident": names.resident,
            **({"programmatic": True} if names.programmatic else {}),
            "workspaces": [{"name": name, **d.data} for name, d in names.workspaces.items()],
            "parameters": block,
        }


@dataclass(frozen=True)
class _Binding:
    to: str | None
    value: int | float | str | bool | None
    location: Location


_ONE_OF = {"tensor map": "tensor", "pointer": "tensor, workspace or peer buffer"}


def _one_of(types: Iterable[str]) -> str:
    return f"it can pass {', '.join(types)}"


def _plural(count: int, what: str, many: str = "s") -> str:
    return f"1 {what}" if count == 1 else f"{count} {what}{many}"


def _is_pointer(param: Param) -> bool:
    return param.type in ("pointer", "tensor_map") or param.type.endswith("*")


def _show(data: object) -> str:
    match data:
        case {"element": element, "shape": shape}:
            return f"{element}[{', '.join(shape)}]"
        case {"bytes": size, "init": init}:
            return f"{size} bytes, {init}"
        case list() as items:
            return "[" + ", ".join(str(item) for item in items) + "]"
        case str() as text:
            return f"'{text}'"
        case _:
            return str(data)
