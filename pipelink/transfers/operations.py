"""Operations: what a dispatcher's roles run, on their own warps and frames, by the opcode of an instruction.

No connection carries them.  The linker makes one arm an operation of each role that dispatches: it reads the operands
that the instruction holds into the frame, where parameters are read, and calls the role with its constant instance.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from pipelink.contract.abi import function
from pipelink.ir.placement import OperationPlacement
from pipelink.ir.views import Awaits, Instance, Kernel, Operation, Port
from pipelink.model.binding import Arg, Body, Const, Invoke, Load, Return, Select
from pipelink.model.lifetimes import Lifetimes, RoleKey
from pipelink.support import expr
from pipelink.support.launch import SCALARS
from pipelink.transfers.binder import Binder, cxx_name, placed_instance

OPERAND_ALIGN: Final = 16  # bytes, of an instruction's operands


def operand_field(instance: str, parameter: str) -> str:
    """The frame's field of a parameter that comes with the instruction."""
    return f"operand_{instance}_{parameter}"


def members(lifetimes: Lifetimes, operation: Operation) -> tuple[str, ...]:
    """The instances that an operation consists of: its own, and the passive ones that its roles alone call."""
    own = operation.instance.root
    roles = {f"{own}::{role}" for role in lifetimes.components[own].roles}
    passive = (
        name
        for name, component in lifetimes.components.items()
        if not component.roles and (users := set(lifetimes.users(name))) and users <= roles
    )
    return (own, *passive)


def layout(lifetimes: Lifetimes, operation: Operation) -> tuple[dict[str, int], int]:
    """Where an instruction holds each operand, by ``instance::parameter``, and how many bytes all of them take: one
    behind the other in the order of their declarations, each at its alignment."""
    found: dict[str, int] = {}
    end = 0
    for instance in members(lifetimes, operation):
        bound = {bind.name for bind in lifetimes.kernel.binds if bind.instance == instance}
        for param in lifetimes.components[instance].params.values():
            if param.operand and param.name not in bound:
                at = -(-end // param.align) * param.align
                found[f"{instance}::{param.name}"] = at
                end = at + param.bytes
    return found, end


def place(kernel: Kernel, lifetimes: Lifetimes) -> None:
    """Give every operation its opcode and the places of its operands."""
    taken = {operation.opcode for operation in kernel.operations}
    for operation in kernel.operations:
        opcode = operation.opcode
        if opcode is None:
            opcode = next(number for number in range(len(taken) + 1) if number not in taken)
            taken.add(opcode)
        operands, size = layout(lifetimes, operation)
        operation.set_placement(OperationPlacement(opcode, size, operands))


def contract(kernel: Kernel, lifetimes: Lifetimes, fields: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """What the launch contract says of the placed operations, for whoever writes instructions.  ``fields`` are those of
    the parameter block."""
    found: list[dict[str, Any]] = []
    for operation in kernel.operations:
        placed, own = placed_operation(operation), operation.instance.root
        operands: list[dict[str, Any]] = []
        for key, offset in sorted(placed.operands.items(), key=lambda one: one[1]):
            instance, _, name = key.partition("::")
            type_ = lifetimes.components[instance].params[name].type
            shown = name if instance == own else f"{instance}.{name}"
            operands.append({"name": shown, "type": passed_as(type_), "offset": offset})
        head = {"name": operation.name, "opcode": placed.opcode, "bytes": placed.bytes, "operands": operands}
        found.append({**head, **_signals(kernel, lifetimes, operation, fields)})
    return found


def _signals(
    kernel: Kernel, lifetimes: Lifetimes, operation: Operation, fields: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    """What an instruction awaits and adds, in order, and the ports of which nothing is stated.  Nothing says when
    passive instances are called, so what they await comes first, and what they add last."""
    own, *passive = members(lifetimes, operation)
    steps: dict[str, list[dict[str, Any]]] = {}
    for instance in (own, *passive):
        of = "" if instance == own else instance
        steps[of] = list(_steps(lifetimes, kernel.instances[instance], of, fields))
    called = [step for of, inner in steps.items() if of for step in inner]
    signals = [step for step in called if step["does"] == "await"]
    signals += steps[""]
    signals += [step for step in called if step["does"] == "add"]
    memories = {step["counters"] for step in signals}
    unstated = [
        f"@{instance.name}::@{port.name}"
        for instance in kernel.instances.values()
        for port in lifetimes.components[instance.name].ports.values()
        if port.kind == "signal" and port.name not in {one.of for one in lifetimes.components[instance.name].counted}
        if instance.name in (own, *passive) or _memory(instance, port) in memories
    ]
    return {**({"signals": signals} if signals else {}), **({"unstated": unstated} if unstated else {})}


def _steps(
    lifetimes: Lifetimes, instance: Instance, of: str, fields: Sequence[Mapping[str, Any]]
) -> Iterator[dict[str, Any]]:
    """What an instance awaits and adds.  ``given``: the parameters that are no operands, by their expressions."""
    component, placed = lifetimes.components[instance.name], placed_instance(instance)
    for counted in component.counted:
        for index, count in zip(counted.index, counted.count, strict=True):
            given: list[dict[str, str]] = []
            for name in dict.fromkeys((*expr.names(index), *expr.names(count))):
                source = placed.params[name]
                if not source.operand:
                    value = fields[source.field]["value"] if source.field is not None else str(source.value)
                    given.append({"name": name, "value": value})
            yield {
                "does": "await" if isinstance(counted, Awaits) else "add",
                "counters": _memory(instance, component.ports[counted.of]),
                "index": index,
                "count": count,
                **({"instance": of} if of else {}),
                **({"given": given} if given else {}),
            }


def _memory(instance: Instance, port: Port) -> str | None:
    """The launch contract's name of a signal port's counters."""
    return None if port.workspace is None else instance.rename.get(port.workspace, port.workspace)


def passed_as(type_: str) -> str | None:
    """The scalar that stands in an instruction for an operand of a parameter's type; None where none does."""
    return "u64" if type_ == "pointer" or type_.endswith("*") else type_ if type_ in SCALARS else None


def placed_operation(operation: Operation) -> OperationPlacement:
    """The placement that ``bind`` made sure of."""
    placed = operation.placement
    assert placed is not None, operation.name
    return placed


@dataclass(frozen=True)
class Arm:
    """An operation's role where one of the dispatcher's roles runs it."""

    operation: Operation
    role: RoleKey


def arms(kernel: Kernel, lifetimes: Lifetimes, runner: RoleKey) -> Iterator[Arm]:
    """What the operations do in one of a dispatcher's roles."""
    for operation in kernel.operations:
        for role in lifetimes.components[operation.instance.root].roles:
            key = f"{operation.instance.root}::{role}"
            if lifetimes.runner_of.get(key) == runner:
                yield Arm(operation, key)


def bind(
    binder: Binder,
    lifetimes: Lifetimes,
    types: Mapping[str, str],
    around: Mapping[RoleKey, tuple[Body, Body]],
    meetings: Mapping[RoleKey, Body],
) -> None:
    """Define what each ``run`` does.  ``types`` are the scalars of the operands' fields, ``around`` is what stands
    before and behind each role, ``meetings`` what a dispatcher's role does behind every operation."""
    for name, component in lifetimes.components.items():
        for dispatch in component.dispatches.values():
            own = component.role_of(dispatch)
            assert own is not None, dispatch.name
            runner = f"{name}::{own.name}"
            cases: dict[int, Body] = {}
            for arm in arms(binder.kernel, lifetimes, runner):
                placed = placed_operation(arm.operation)
                instance, _, role = arm.role.partition("::")
                loads = tuple(
                    Load(operand_field(*key.split("::")), "operands", at, types[operand_field(*key.split("::"))])
                    for key, at in placed.operands.items()
                )
                enter, path = function("role", "", "pl_enter"), cxx_name(binder.instances[instance].component)
                member = (f"{path}::{role}", enter.name, enter.codes)
                ident = Const(placed_instance(binder.instances[instance]).id)
                call = Invoke(enter.symbol(f"{path}::{role}"), (ident, Arg("frame")), member=member)
                before, after = around[arm.role]
                cases[placed.opcode] = (*loads, *before, call, *after, *meetings.get(runner, ()))
            select = Select("opcode", tuple(cases.items()))
            binder.operation(binder.instances[name], "dispatch", dispatch.name, "pl_run", select, Return())
