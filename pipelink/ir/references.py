"""References between operations: every name that one operation uses is declared by another.

Part of the structural verifier; it assumes that each operation by itself is well-formed.
"""

from __future__ import annotations

from collections.abc import Iterable

from pipelink.ir.attributes import SymbolRef
from pipelink.ir.protocol_names import check_names
from pipelink.ir.views import Adds, Awaits, Component, Instance, Kernel, Program, ProtocolDecl, View
from pipelink.support import expr
from pipelink.support.diagnostics import Diagnostics, LinkError, Location, Note, nearest, suggest
from pipelink.support.launch import INTEGERS
from pipelink.support.protocol_text import located, parse_text


def verify_references(program: Program, diagnostics: Diagnostics, *, components_known: bool) -> None:
    """Report names that nothing declares; without ``components_known`` only those inside components."""
    for component in program.components.values():
        _verify_component(component, diagnostics)
    if components_known:
        for kernel in program.kernels:
            _verify_kernel(program, kernel, diagnostics)


def _missing(
    id: str,
    message: str,
    name: str,
    known: Iterable[str],
    where: Location,
    diagnostics: Diagnostics,
    declared: Location | None = None,
) -> None:
    names = list(known)
    notes = [Note("the component is declared here", declared)] if declared is not None else []
    if id == "unknown-component":
        hint = nearest(name, names) or "give the object that defines it, or declare it"
    else:
        hint = suggest(name, names)
    diagnostics.error(id, message, where, notes=notes, hint=hint)


def _verify_component(component: Component, diagnostics: Diagnostics) -> None:
    owner = f"component '{component.name}'"
    for child in component.children:
        role = child.data.get("role")
        if role is not None and role not in component.roles:
            message = f"{_what(child)} of {owner} names role '{role}', which it does not have"
            _missing("unknown-role", message, role, component.roles, child.location, diagnostics)
    for param in component.params.values():
        if param.port is None:
            continue
        port = component.ports.get(param.port)
        if port is None:
            message = f"parameter '{param.name}' of {owner} names port '{param.port}', not one of its ports"
            _missing("unknown-port", message, param.port, component.ports, param.location, diagnostics)
        elif param.part >= max(1, len(port.tiles)):
            message = (
                f"parameter '{param.name}' of {owner} names tile {param.part} of port "
                f"'{port.name}', which has {len(port.tiles)}"
            )
            diagnostics.error("unknown-name", message, param.location)
    for protocol in component.protocols.values():
        _verify_protocol(component, protocol, diagnostics)
    for counted in component.counted:
        _verify_counted(component, counted, diagnostics)
    for require in component.requires:
        if require.port is not None and require.port not in component.ports:
            message = f"{owner} requires '{require.name}' beyond port '{require.port}', not one of its ports"
            _missing("unknown-port", message, require.port, component.ports, require.location, diagnostics)
    for bind in component.binds:
        if bind.name not in component.params:
            message = f"{owner} binds '{bind.name}', which is not a parameter of it"
            _missing("unknown-name", message, bind.name, component.params, bind.location, diagnostics)


def _verify_protocol(component: Component, protocol: ProtocolDecl, diagnostics: Diagnostics) -> None:
    answers = [port.name for port in component.ports.values() if port.direction == "answers"]
    if protocol.of not in component.roles and protocol.of not in answers:
        message = f"component '{component.name}' states a protocol of '{protocol.of}', no role or answer of it"
        known = [*component.roles, *answers]
        _missing("unknown-name", message, protocol.of, known, protocol.location, diagnostics)
        return
    for problem in check_names(component, protocol.of, parse_text(protocol.text)):
        diagnostics.items.append(located(problem, protocol.text, protocol.location, f"protocol '{protocol.of}'"))


def _verify_counted(component: Component, counted: Awaits | Adds, diagnostics: Diagnostics) -> None:
    """What is awaited and added: at a signal port on this GPU, by expressions over integers."""
    verb, direction = ("awaits", "in") if isinstance(counted, Awaits) else ("adds", "out")
    what = f"component '{component.name}' states what it {verb} at '{counted.of}'"
    ports = [
        port.name
        for port in component.ports.values()
        if (port.kind, port.direction, port.owner) == ("signal", direction, "workspace")
    ]
    if counted.of not in ports:
        message = f"{what}, which is no signal {direction} of counters in a workspace"
        _missing("unknown-port", message, counted.of, ports, counted.location, diagnostics)
    if len(counted.index) != len(counted.count):
        message = f"{what}: {len(counted.index)} counters, and how much of {len(counted.count)}"
        diagnostics.error("wrong-attribute", message, counted.location)
    integers = [param.name for param in component.params.values() if param.type in INTEGERS]
    for text in (*counted.index, *counted.count):
        try:
            unknown = [name for name in expr.names(text) if name not in integers]
        except LinkError as problem:
            diagnostics.error("bad-expression", f"{what}: {problem.diagnostics[0].message}", counted.location)
            continue
        if unknown:
            message = f"{what}: '{text}' names '{unknown[0]}', no integer parameter of it"
            _missing("unknown-name", message, unknown[0], integers, counted.location, diagnostics)


def _what(view: View) -> str:
    return f"{view.op.name.removeprefix('pipelink.')} '{view.data.get('sym_name', view.data.get('name', ''))}'"


def _verify_kernel(program: Program, kernel: Kernel, diagnostics: Diagnostics) -> None:
    for instance in kernel.instances.values():
        if instance.component not in program.components:
            message = f"instance '{instance.name}' is of component '{instance.component}', which is not declared"
            where = instance.location
            _missing("unknown-component", message, instance.component, program.components, where, diagnostics)

    def component(ref: SymbolRef, view: View) -> tuple[Instance, Component] | None:
        """The instance and component that a reference starts with, or a diagnostic."""
        instance = kernel.instances.get(ref.root)
        if instance is None:
            message = f"'{ref}' names instance '{ref.root}', which kernel '{kernel.name}' does not have"
            _missing("unknown-instance", message, ref.root, kernel.instances, view.location, diagnostics)
            return None
        found = program.components.get(instance.component)
        return (instance, found) if found is not None else None

    for connect in kernel.connects:
        for ref in (connect.source, connect.target):
            if (found := component(ref, connect)) and ref.leaf not in found[1].ports:
                message = f"component '{found[1].name}' has no port '{ref.leaf}', which '{ref}' names"
                where = connect.location
                _missing("unknown-port", message, ref.leaf, found[1].ports, where, diagnostics, found[1].location)
        ref = connect.lease
        if ref is not None and (found := component(ref, connect)) and ref.leaf not in found[1].leases:
            message = f"component '{found[1].name}' leases no pages '{ref.leaf}', which '{ref}' names"
            where, known = connect.location, found[1].leases
            _missing("unknown-name", message, ref.leaf, known, where, diagnostics, found[1].location)
    for operation in kernel.operations:
        ends = [component(ref, operation) for ref in (operation.dispatcher, operation.instance)]
        for own, other in operation.roles.items():
            for end, name in zip(ends, (other, own), strict=True):
                if end is not None and name not in end[1].roles:
                    message = (
                        f"component '{end[1].name}' has no role '{name}', which operation '{operation.name}' names"
                    )
                    where, known = operation.location, end[1].roles
                    _missing("unknown-role", message, name, known, where, diagnostics, end[1].location)
    for group in kernel.exclusives:
        for ref in group.roles:
            if (found := component(ref, group)) and ref.leaf not in found[1].roles:
                message = f"component '{found[1].name}' has no role '{ref.leaf}', which '{ref}' names"
                where = group.location
                _missing("unknown-role", message, ref.leaf, found[1].roles, where, diagnostics, found[1].location)
    for overlay in kernel.overlays:
        for ref in overlay.buffers:
            if not (found := component(ref, overlay)):
                continue
            buffers = [*found[1].smem, *found[1].ports, *found[1].tmem]
            if ref.leaf not in buffers:
                message = f"component '{found[1].name}' has no buffer '{ref.leaf}', which '{ref}' names"
                where = overlay.location
                _missing("unknown-name", message, ref.leaf, buffers, where, diagnostics, found[1].location)
    for bind in kernel.binds:
        ref = bind.data["param"]
        if not isinstance(ref, SymbolRef) or len(ref.path) != 2:
            message = f"a kernel binds @instance::@parameter, not '{ref}'"
            diagnostics.error("wrong-attribute", message, bind.location)
        elif (found := component(ref, bind)) and ref.leaf not in found[1].params:
            message = f"component '{found[1].name}' has no parameter '{ref.leaf}', which '{ref}' names"
            where = bind.location
            _missing("unknown-name", message, ref.leaf, found[1].params, where, diagnostics, found[1].location)
