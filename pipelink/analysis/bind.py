"""Makes the :class:`~pipelink.model.binding.Binding` of a placed kernel: what each port function, accessor and the
entry consists of.

Input: a kernel after ``place`` and its components, as views.  Ports are bound by their transfers; here are the
accessors, through which components name their resources.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from pipelink.analysis.bind_entry import MEETING_SOURCE, RoleCalls, dispatched_meetings, plan
from pipelink.analysis.launch_types import scalar_bits, value_fault
from pipelink.analysis.placement.validate import require_placed
from pipelink.ir.placement import KernelPlacement, ParameterSource
from pipelink.ir.views import Component, Connect, Instance, Kernel, Param, Program
from pipelink.model.binding import (
    Binding,
    Const,
    FieldPointer,
    Frame,
    ParameterPointer,
    Scalar,
    SharedAddress,
    State,
    TensorMemory,
    Value,
)
from pipelink.model.lifetimes import Lifetimes
from pipelink.model.watch import watch_of
from pipelink.support.diagnostics import Diagnostics, Note
from pipelink.transfers import LOCAL, cluster_barrier, operations, placement_of, transfer_of, turns
from pipelink.transfers.binder import Binder, bound_scalar, placed_instance

#: Parameter types that become frame scalars; others are read in place, from the parameter block.
SCALARS: Final[dict[str, int]] = {
    "i8": 1, "u8": 1, "bool": 1, "i16": 2, "u16": 2, "bf16": 2, "f16": 2, "i32": 4, "u32": 4, "f32": 4,
    "i64": 8, "u64": 8, "f64": 8, "pointer": 8,
}  # fmt: skip


def scalar_type(parameter: Param) -> str | None:
    """The scalar that a parameter is, or None for structs, tensor maps and several addresses."""
    kind = "pointer" if parameter.type.endswith("*") else parameter.type
    return kind if parameter.bytes <= SCALARS.get(kind, 0) else None


def device_sources(kernel: Kernel) -> tuple[str, ...]:
    """The files of pipelink/transfers whose functions a placed kernel calls, each once, by name."""
    found: set[str] = set()
    for connect in kernel.connects:
        placed = placement_of(connect)
        if placed is not None:
            found |= transfer_of(connect).device_sources(placed)
    if any(placed_instance(instance).locals for instance in kernel.instances.values()):
        found |= set(LOCAL.sources or ())
    if kernel.placement is not None and kernel.placement.ctas > 1:
        found.add("cluster.cu")
    if any(placed_instance(instance).tmem for instance in kernel.instances.values()):
        found.add("tmem.cu")
    if any(placed_instance(instance).mbarriers for instance in kernel.instances.values()):
        found.add("mbarrier.cu")
    if any(placed_instance(instance).cluster_barriers for instance in kernel.instances.values()):
        found.add(cluster_barrier.SOURCE)
    if any(placed_instance(instance).turns for instance in kernel.instances.values()):
        found.add(turns.SOURCE)
    if kernel.exclusives or (kernel.placement is not None and kernel.placement.meetings):
        found.add(MEETING_SOURCE)
    return tuple(sorted(found))


class _Builder:
    def __init__(
        self, kernel: Kernel, components: Mapping[str, Component], placement: KernelPlacement, diagnostics: Diagnostics
    ) -> None:
        self.kernel = kernel
        self.components = components
        self.placement = placement
        self.diagnostics = diagnostics
        self.launch: dict[str, Any] = kernel.launch or {}
        self.lifetimes = Lifetimes(Program(kernel.op, dict(components), (kernel,)), kernel)
        self.watch = watch_of(kernel)
        self.binder = Binder(kernel, components, self.watch, placement.cursors + self.watch.timeline)
        self.scalars: dict[str, Scalar] = {}
        self.states: dict[str, State] = {}

    def ports(self) -> None:
        for connect in self.kernel.connects:
            transfer = transfer_of(connect)
            if transfer.has_code(connect):
                self.entrances(connect)
                transfer.bind(self.binder, connect)
                continue
            message = f"transfer '{transfer.name}' of {connect.source} to {connect.target} has no device code yet"
            port = self.binder.port(connect.source)
            notes = [Note(f"{connect.source} is declared here", port.location)]
            hint = transfer.way_out()
            self.diagnostics.error("transfer-without-code", message, connect.location, notes=notes, hint=hint)
        for instance in self.kernel.instances.values():
            for name, local in placed_instance(instance).locals.items():
                LOCAL.bind_port(self.binder, instance, self.components[instance.component].ports[name], local)

    def entrances(self, connect: Connect) -> None:
        """Refuse a placement by which roles prepare their frames from parameters that their component lacks."""
        for ref in (connect.source, connect.target):
            known = placed_instance(self.binder.instance(ref)).params
            needed = transfer_of(connect).parameters(connect, self.binder.port(ref))
            lacks = [name for name in needed if name not in known]
            if lacks:
                message = f"'{ref}' is placed with counters, and its component has no parameter '{lacks[0]}'"
                self.diagnostics.error("bad-placement", message, connect.location)

    # -------------------------------------------------------------- accessors
    def parameter(self, instance: Instance, name: str, source: ParameterSource) -> None:
        parameter = self.components[instance.component].params[name]
        kind = scalar_type(parameter)
        pointer: Value
        if source.operand:
            key = operations.operand_field(instance.name, name)
            if kind is None:
                message = f"parameter '@{instance.name}::@{name}' comes with an instruction and is a {parameter.type}"
                self.diagnostics.error("bad-placement", message, instance.location)
                return
            self.scalars[key] = Scalar(key, kind, operand=True)
            pointer = FieldPointer(key)
        elif source.field is None:
            key = bound_scalar(instance.name, name)
            number = source.value
            fault = value_fault(kind or parameter.type, number)
            if kind is None or fault is not None:
                message = f"parameter '@{instance.name}::@{name}' {fault}"
                self.diagnostics.error("bad-placement", message, instance.location)
                return
            assert isinstance(number, int | float)
            self.scalars[key] = Scalar(key, kind, constant=scalar_bits(kind, number))
            pointer = FieldPointer(key)
        else:
            offset = self.launch["parameters"]["fields"][source.field]["offset"]
            if kind is None:
                pointer = ParameterPointer(offset)
            else:
                key = f"p{source.field}"
                self.scalars[key] = Scalar(key, kind, offset=offset)
                pointer = FieldPointer(key)
        self.binder.accessor(instance, "param", name, "pl_address", pointer)

    def resources(self) -> None:
        accessor = self.binder.accessor
        for instance in self.kernel.instances.values():
            placed = placed_instance(instance)
            for role in self.components[instance.component].roles.values():
                first = Const(placed.roles[role.name].first_thread)
                accessor(instance, "role", role.name, "pl_first_thread", first)
            for name, address in placed.smem.items():
                accessor(instance, "smem", name, "pl_address", SharedAddress(address))
            for name, barrier in placed.barriers.items():
                accessor(instance, "barrier", name, "pl_id", Const(barrier.id))
                accessor(instance, "barrier", name, "pl_threads", Const(barrier.threads))
            for name, address in placed.mbarriers.items():
                self.binder.mbarriers(instance, name, address)
            for name, meeting in placed.cluster_barriers.items():
                cluster_barrier.bind(self.binder, instance, name, meeting, self.placement.ctas)
            for name, column in placed.tmem.items():
                accessor(instance, "tmem", name, "pl_address", TensorMemory(column))
            for name, state in placed.states.items():
                key = f"state_{instance.name}_{name}"
                self.states[key] = State(key, state.bytes, state.align)
                accessor(instance, "state", name, "pl_address", FieldPointer(key))
            for name, source in placed.params.items():
                self.parameter(instance, name, source)

    def build(self) -> Binding:
        self.ports()
        self.diagnostics.raise_if_errors()
        self.resources()
        for order in turns.orders(self.kernel, self.lifetimes):
            turns.bind(self.binder, order)
        calls = RoleCalls(self.kernel, self.lifetimes, self.watch)
        if self.kernel.operations:
            types = {key: scalar.type for key, scalar in self.scalars.items() if scalar.operand}
            meetings = dispatched_meetings(self.kernel, self.lifetimes, self.placement)
            operations.bind(self.binder, self.lifetimes, types, calls.around, meetings)
        entry = plan(self.kernel, self.lifetimes, self.placement, calls)
        frame = Frame(
            scalars=tuple(self.scalars.values()),
            states=tuple(sorted(self.states.values(), key=lambda state: -state.align)),
            parities=tuple(self.binder.parities),
            window=self.placement.ctas > 1,
            tensor_memory=entry.tensor_memory is not None,
        )
        ports, accessors = self.binder.ports.values(), self.binder.accessors.values()
        return Binding(tuple(ports), tuple(accessors), frame, entry, device_sources(self.kernel))


def bind(kernel: Kernel, components: Mapping[str, Component], diagnostics: Diagnostics) -> Binding:
    """The binding of a placed kernel.  Errors: ``not-placed``, ``bad-placement``, ``transfer-without-code``."""
    require_placed(kernel, diagnostics)
    diagnostics.raise_if_errors()
    placement = kernel.placement
    assert placement is not None
    binding = _Builder(kernel, components, placement, diagnostics).build()
    diagnostics.raise_if_errors()
    return binding


def bind_all(program: Program, diagnostics: Diagnostics) -> Iterator[tuple[Kernel, Binding]]:
    """The bindings of all kernels that are not fused yet.  Errors as :func:`bind`."""
    for kernel in program.kernels:
        if not kernel.fused:
            yield kernel, bind(kernel, program.components, diagnostics)
