"""Collects the functions that the linker defines for a placed kernel, as transfers bind its ports."""

from __future__ import annotations

from collections.abc import Mapping

from pipelink.contract.abi import Function, class_of, function
from pipelink.ir.attributes import SymbolRef
from pipelink.ir.placement import InstancePlacement
from pipelink.ir.views import Component, Instance, Kernel, Port
from pipelink.model.binding import (
    Arg,
    Choose,
    Const,
    Definition,
    FieldPointer,
    Invoke,
    Linear,
    ParameterPointer,
    Return,
    Statement,
    Value,
)
from pipelink.model.watch import OWN_WAIT, Watch
from pipelink.target import MBARRIER_BYTES


def cxx_name(component: str) -> str:
    """``acme::tma_loader`` for ``acme.tma_loader``."""
    return component.replace(".", "::")


def placed_instance(instance: Instance) -> InstancePlacement:
    """The placement that ``bind`` made sure of."""
    placed = instance.placement
    assert placed is not None, instance.name
    return placed


def bound_scalar(instance: str, parameter: str) -> str:
    """The frame's field of a parameter that is bound to a constant."""
    return f"bound_{instance}_{parameter}"


def parameter_address(kernel: Kernel, instance: Instance, name: str) -> Value:
    """Where a parameter of an instance's component lies: in the parameter block, or bound to a constant."""
    field = placed_instance(instance).params[name].field
    if field is None:
        return FieldPointer(bound_scalar(instance.name, name))
    return ParameterPointer((kernel.launch or {})["parameters"]["fields"][field]["offset"])


class Binder:
    """The functions of a kernel's ports and accessors so far; ``parities`` are the initial parities of the frame's
    cursors."""

    def __init__(self, kernel: Kernel, components: Mapping[str, Component], watch: Watch, cursors: int) -> None:
        self.kernel = kernel
        self.watch = watch
        self.instances = kernel.instances
        self.ports: dict[tuple[str, str], Definition] = {}
        self.accessors: dict[tuple[str, str], Definition] = {}
        self.sources: dict[str, None] = {}
        self.parities = [0] * cursors
        self._components = components
        self._bound: set[tuple[str, ...]] = set()

    def instance(self, ref: SymbolRef) -> Instance:
        return self.instances[ref.root]

    def component(self, instance: Instance) -> Component:
        return self._components[instance.component]

    def port(self, ref: SymbolRef) -> Port:
        return self.component(self.instance(ref)).ports[ref.leaf]

    def first_of(self, ref: SymbolRef) -> bool:
        """Whether a port is bound for the first time: a producer has one set of functions for all its consumers."""
        seen = ref.path in self._bound
        self._bound.add(ref.path)
        return not seen

    def path(self, instance: Instance, port: Port) -> str:
        """The C++ class of an instance's port."""
        return f"{cxx_name(instance.component)}::{class_of(port.kind, port.direction, port.name)}"

    def parameter(self, instance: Instance, name: str) -> Value:
        """The address of a parameter of an instance's component."""
        return parameter_address(self.kernel, instance, name)

    def first_thread(self, instance: Instance, role: str) -> int:
        return placed_instance(instance).roles[role].first_thread

    def role_of(self, instance: Instance, port: Port) -> str:
        """The role that uses a port: the one it names, or the component's only one."""
        role = self.component(instance).role_of(port)
        assert role is not None, port.name
        return role.name

    def function(self, instance: Instance, port: Port, name: str, *body: Statement) -> None:
        """Define a function of a port for an instance."""
        found = function(port.kind, port.direction, name)
        self._define(self.ports, self.path(instance, port), found, instance, body)

    def accessor(self, instance: Instance, kind: str, resource: str, name: str, value: Value) -> None:
        """Define a function by which a component names a resource of its own, such as its shared memory."""
        path = f"{cxx_name(instance.component)}::{class_of(kind, '', resource)}"
        self._define(self.accessors, path, function(kind, "", name), instance, (Return(value),))

    def operation(self, instance: Instance, kind: str, resource: str, name: str, *body: Statement) -> None:
        """Define what a component does with a resource of its own."""
        path = f"{cxx_name(instance.component)}::{class_of(kind, '', resource)}"
        self._define(self.ports, path, function(kind, "", name), instance, body)

    def _define(
        self,
        table: dict[tuple[str, str], Definition],
        path: str,
        found: Function,
        instance: Instance,
        body: tuple[Statement, ...],
    ) -> None:
        empty = Definition(path, found.name, found.arguments, found.returns)
        table.setdefault((path, found.name), empty).bodies[placed_instance(instance).id] = body

    def waiting(
        self,
        instance: Instance,
        port: Port,
        name: str,
        *body: Statement,
        then: tuple[Statement, ...],
        stage: Value | None = None,
    ) -> None:
        """Define a function of a port that waits in ``body``; ``then`` follows.  ``stage``: what it waits for the n-th
        of, where no statement says it."""
        waits = self.watch.waits(instance.name, port.name, name.removeprefix("pl_"), *body, stage=stage)
        self.function(instance, port, name, *waits, *then)

    def mbarriers(self, instance: Instance, name: str, address: int) -> None:
        """Define where a component's own mbarriers are, and its waits for them."""
        at, index = Linear(address, MBARRIER_BYTES, "index"), Arg("index")
        self.accessor(instance, "mbarrier", name, "pl_address", at)
        wait = Invoke("pl_own_wait", (at, index, Arg("parity")), waits=True)
        body = self.watch.waits(instance.name, name, OWN_WAIT, wait, stage=index)
        self.operation(instance, "mbarrier", name, "pl_wait", *body, Return())

    def slots(self, instance: Instance, port: Port, stages: int, slots: list[Value]) -> None:
        """Define the number of stages, and the address of each tile of a slot."""
        self.function(instance, port, "pl_stages", Return(Const(stages)))
        body: Statement = (
            Return(slots[0]) if len(slots) == 1 else Choose("part", tuple((Return(slot),) for slot in slots))
        )
        self.function(instance, port, "pl_address", body)
