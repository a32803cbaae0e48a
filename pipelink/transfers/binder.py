"""Collects the functions that the linker defines for a placed kernel, as transfers bind its ports."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from pipelink.ir.attributes import SymbolRef
from pipelink.ir.placement import InstancePlacement
from pipelink.ir.views import Component, Instance, Kernel, Port
from pipelink.model.binding import Choose, Const, Definition, Return, Statement, Type, Value
from pipelink.model.watch import Watch

Arguments = tuple[tuple[str, Type], ...]

_STAGE: Final[Arguments] = (("stage", "unsigned"),)
_COPY: Final[Arguments] = (*_STAGE, ("part", "int"), ("offset", "unsigned"), ("map", "map"))
#: Arguments after ``(int id, void* frame)`` and result of each function of a port.
SIGNATURES: Final[dict[str, tuple[Arguments, Type]]] = {
    "pl_stages": ((), "unsigned"),
    "pl_address": ((*_STAGE, ("part", "int")), "unsigned"),
    "pl_acquire": ((), "unsigned"),
    "pl_commit": (_STAGE, "void"),
    "pl_wait": ((), "unsigned"),
    "pl_release": (_STAGE, "void"),
    "pl_end": ((), "void"),
    "pl_ended": (_STAGE, "unsigned"),
    "pl_pass": ((), "void"),
    "pl_take": ((), "void"),
    "pl_call": ((("pack", "pack"),), "void"),
    **{f"pl_tma{rank}": ((*_COPY, *((f"c{axis}", "int") for axis in range(rank))), "void") for rank in range(1, 6)},
}


def cxx_name(component: str) -> str:
    """``acme::tma_loader`` for ``acme.tma_loader``."""
    return component.replace(".", "::")


def placed_instance(instance: Instance) -> InstancePlacement:
    """The placement that ``bind`` made sure of."""
    placed = instance.placement
    assert placed is not None, instance.name
    return placed


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

    def path(self, instance: Instance, resource: str) -> str:
        return f"{cxx_name(instance.component)}::{resource}"

    def first_thread(self, instance: Instance, role: str) -> int:
        return placed_instance(instance).roles[role].first_thread

    def role_of(self, instance: Instance, port: Port) -> str:
        """The role that uses a port: the one it names, or the component's only one."""
        role = self.component(instance).role_of(port)
        assert role is not None, port.name
        return role.name

    def define(
        self,
        table: dict[tuple[str, str], Definition],
        path: str,
        name: str,
        arguments: Arguments,
        returns: Type,
        instance: Instance,
        *body: Statement,
    ) -> None:
        definition = table.setdefault((path, name), Definition(path, name, arguments, returns))
        definition.bodies[placed_instance(instance).id] = body

    def function(self, instance: Instance, port: str, name: str, *body: Statement) -> None:
        """Define a function of a port for an instance."""
        arguments, returns = SIGNATURES[name]
        self.define(self.ports, self.path(instance, port), name, arguments, returns, instance, *body)

    def waiting(self, instance: Instance, port: str, name: str, *body: Statement, then: tuple[Statement, ...]) -> None:
        """Define a function of a port that waits in ``body``; ``then`` follows."""
        waits = self.watch.waits(instance.name, port, name.removeprefix("pl_"), *body)
        self.function(instance, port, name, *waits, *then)

    def slots(self, instance: Instance, port: str, stages: int, slots: list[Value]) -> None:
        """Define the number of stages, and the address of each tile of a slot."""
        self.function(instance, port, "pl_stages", Return(Const(stages)))
        body: Statement = (
            Return(slots[0]) if len(slots) == 1 else Choose("part", tuple((Return(slot),) for slot in slots))
        )
        self.function(instance, port, "pl_address", body)
