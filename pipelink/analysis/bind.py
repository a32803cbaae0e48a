"""Makes the :class:`~pipelink.analysis.binding.Binding` of a placed kernel: what each port function, accessor and the
entry consists of.

Input: a kernel after ``place`` and its components, as views.  What a transfer means is said once, here (which function
serves which operation of a port, with which constants) and in ``pipelink/transfers`` (what those functions do).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any, Final

from pipelink.analysis.bind_entry import cxx_name, placement_of, plan
from pipelink.analysis.bind_entry import entry_registers as entry_registers
from pipelink.analysis.binding import (
    Arg,
    Binding,
    Body,
    Choose,
    Const,
    CursorPointer,
    Definition,
    FieldPointer,
    Frame,
    Instruction,
    Invoke,
    Linear,
    ParameterPointer,
    Result,
    Return,
    RoleThread,
    Scalar,
    SharedAddress,
    State,
    Statement,
    TensorMemory,
    Value,
)
from pipelink.analysis.multicast import Split, division
from pipelink.analysis.tensor_cores import UNITS, after_wait, before_refill, commit, release
from pipelink.analysis.watch import watch_of
from pipelink.contract.abi import Type, mangle
from pipelink.ir.views import Component, Connect, Instance, Kernel, Port, Program
from pipelink.support.diagnostics import Diagnostics
from pipelink.transfers import BY_NAME, COMMIT, SWIZZLE_ROW_BYTES, of_pair, sources

#: Parameter types that become frame scalars; others are read in place, from the parameter block.
SCALARS: Final[dict[str, int]] = {
    "i8": 1, "u8": 1, "bool": 1, "i16": 2, "u16": 2, "bf16": 2, "f16": 2, "i32": 4, "u32": 4, "f32": 4,
    "i64": 8, "u64": 8, "f64": 8, "pointer": 8,
}  # fmt: skip


def scalar_type(parameter_type: str) -> str | None:
    """The scalar that a C++ parameter type is, or None for structs and tensor maps."""
    if parameter_type.endswith("*"):
        return "pointer"
    return parameter_type if parameter_type in SCALARS else None


class _Builder:
    def __init__(self, kernel: Kernel, components: Mapping[str, Component], diagnostics: Diagnostics) -> None:
        self.kernel = kernel
        self.components = components
        self.diagnostics = diagnostics
        self.ports: dict[tuple[str, str], Definition] = {}
        self.accessors: dict[tuple[str, str], Definition] = {}
        self.sources: dict[str, None] = {}
        self.scalars: dict[str, Scalar] = {}
        self.states: dict[str, State] = {}
        self.instances = kernel.instances
        self.launch: dict[str, Any] = kernel.launch or {}
        self.placement: dict[str, Any] = kernel.placement or {}
        self.watch = watch_of(kernel)
        self.parities = [0] * (int(self.placement.get("cursors", 0)) + self.watch.timeline)

    # -------------------------------------------------------------- helpers
    def component(self, instance: Instance) -> Component:
        return self.components[instance.component]

    def path(self, instance: Instance, resource: str) -> str:
        return f"{cxx_name(instance.component)}::{resource}"

    def define(
        self,
        table: dict[tuple[str, str], Definition],
        path: str,
        name: str,
        arguments: tuple[tuple[str, Type], ...],
        returns: Type,
        instance: Instance,
        *body: Statement,
    ) -> None:
        definition = table.setdefault((path, name), Definition(path, name, arguments, returns))
        definition.bodies[placement_of(instance)["id"]] = body

    def constant(self, path: str, name: str, instance: Instance, value: int) -> None:
        self.define(self.accessors, path, name, (), "unsigned", instance, Return(Const(value)))

    def first_thread(self, instance: Instance, role: str) -> int:
        return 32 * int(placement_of(instance)["roles"][role]["first_warp"])

    def role_of(self, instance: Instance, port: Port) -> str:
        """The role that uses a port: the one it names, or the component's only one."""
        role = self.component(instance).role_of(port)
        assert role is not None, port.name
        return role.name

    # -------------------------------------------------------------- ports
    def stream_common(self, path: str, instance: Instance, stages: int, slots: list[Value]) -> None:
        self.define(self.ports, path, "pl_stages", (), "unsigned", instance, Return(Const(stages)))
        body: Statement = (
            Return(slots[0]) if len(slots) == 1 else Choose("part", tuple((Return(slot),) for slot in slots))
        )
        self.define(
            self.ports, path, "pl_address", (("stage", "unsigned"), ("part", "int")), "unsigned", instance, body
        )

    def slots(self, placed: dict[str, Any]) -> list[Value]:
        """The address of each tile of a slot, in tensor memory or in shared memory."""
        if "columns" in placed:
            return [TensorMemory(part["column"], part["stride"], "stage") for part in placed["columns"]]
        return [Linear(buffer["address"], buffer["stride"], "stage") for buffer in placed["buffers"]]

    def producer(self, connect: Connect, instance: Instance, port: Port) -> None:
        placed = placement_of(connect)
        path = self.path(instance, port.name)
        empty, full, stages = SharedAddress(placed["empty"]), SharedAddress(placed["full"]), placed["stages"]
        end = SharedAddress(placed["end"]) if "end" in placed else Const(0)
        tx = placed["producer_unit"] == "tx"
        cursor = CursorPointer(placed["producer_cursor"])
        slots = self.slots(placed)
        convert = placed["transfer"] == "ring.threads.convert"
        staging = [SharedAddress(buffer["address"]) for buffer in placed["staging"]] if convert else []
        self.stream_common(path, instance, stages, list(staging) if convert else slots)
        acquire = Invoke(
            "pl_pair_acquire" if tx and of_pair(placed) else "pl_ring_acquire",
            (cursor, empty, full, Const(stages), Const(placed["bytes"] if tx else 0))
            + (() if tx and of_pair(placed) else (end,)),
            "stage",
            "unsigned",
        )
        self.define(
            self.ports,
            path,
            "pl_acquire",
            (),
            "unsigned",
            instance,
            *self.watch.waits(instance.name, port.name, "acquire", acquire),
            *after_wait(port),
            *before_refill(other for other in self.kernel.connects if tx and other.source == connect.source),
            Return(Result("stage")),
        )
        unit = Const(UNITS.get(placed["producer_unit"], 0))
        fence = Const(int(bool(placed["producer_fence"])))
        stage = Arg("stage")
        if tx:
            kind = "pair" if of_pair(placed) else "ring"
            self.tma_copies(path, instance, slots, full, self.divisions(connect, instance, port), kind)
        elif convert:
            barrier = placed["barrier"]
            mask = (SWIZZLE_ROW_BYTES[self.read_layout(connect)] - 16) & 0x70
            self.define(
                self.ports,
                path,
                "pl_commit",
                (("stage", "unsigned"),),
                "void",
                instance,
                Invoke(
                    "pl_ring_convert_commit",
                    (
                        staging[0],
                        slots[0],
                        Const(placed["buffers"][0]["bytes"]),
                        Const(mask),
                        RoleThread(self.first_thread(instance, self.role_of(instance, port))),
                        Const(barrier["id"]),
                        Const(barrier["threads"]),
                        full,
                        stage,
                        unit,
                        fence,
                    ),
                ),
                Return(),
            )
        else:
            self.define(
                self.ports,
                path,
                "pl_commit",
                (("stage", "unsigned"),),
                "void",
                instance,
                Invoke(commit(placed), (full, stage))
                if placed["producer_unit"] == COMMIT
                else Invoke("pl_ring_commit", (full, stage, unit, fence)),
                Return(),
            )
        if port.ends:
            self.define(
                self.ports,
                path,
                "pl_end",
                (),
                "void",
                instance,
                *self.watch.waits(
                    instance.name,
                    port.name,
                    "end",
                    Invoke("pl_ring_end", (cursor, empty, full, Const(stages), unit, end)),
                ),
                Return(),
            )

    def read_layout(self, connect: Connect) -> str:
        instance = self.instances[connect.target.root]
        port = self.component(instance).ports[connect.target.leaf]
        return port.tiles[0].layout

    def divisions(self, connect: Connect, instance: Instance, port: Port) -> dict[int, Split]:
        """The parts of a slot that both CTAs of a cluster bring, and how they are divided."""
        found: dict[int, Split] = {}
        for part in connect.shared:
            divided = division(self.component(instance), port, part)
            assert isinstance(divided, Split), divided  # check refuses others
            found[part] = divided
        return found

    def tma_copies(
        self,
        path: str,
        instance: Instance,
        slots: list[Value],
        full: SharedAddress,
        divided: Mapping[int, Split],
        kind: str,
    ) -> None:
        """``pl_tma1`` … ``pl_tma5``, which copy as a ring of ``kind`` does; parts in ``divided`` are copied by both
        CTAs of a cluster, half each."""
        for rank in range(1, 6):
            coordinates = tuple(f"c{axis}" for axis in range(rank))
            arguments: list[tuple[str, Type]] = [
                ("stage", "unsigned"),
                ("part", "int"),
                ("offset", "unsigned"),
                ("map", "map"),
            ]
            arguments.extend((name, "int") for name in coordinates)
            address = mangle(path, "pl_address", "iPvji")
            where = Invoke(
                address,
                (Arg("id"), Arg("frame"), Arg("stage"), Arg("part")),
                "to",
                "unsigned",
                (path, "pl_address", "iPvji"),
            )
            common = (Result("to"), Arg("offset"), Arg("map"), full, Arg("stage"))
            own: Body = (Invoke(f"pl_{kind}_tma{rank}", (*common, *map(Arg, coordinates))), Return())
            parts: list[Body] = []
            for part in range(len(slots)):
                split = divided.get(part)
                if split is None or rank == 1:  # a divided part has two dimensions
                    parts.append(own)
                    continue
                halves = (Const(split.rows), Const(split.bytes))
                parts.append((Invoke(f"pl_cluster_tma{rank}", (*common, *halves, *map(Arg, coordinates))), Return()))
            body: Body = own if parts == [own] * len(parts) else (Choose("part", tuple(parts)),)
            self.define(self.ports, path, f"pl_tma{rank}", tuple(arguments), "void", instance, where, *body)

    def consumer(self, connect: Connect, instance: Instance, port: Port) -> None:
        placed = placement_of(connect)
        path = self.path(instance, port.name)
        stages = placed["stages"]
        self.stream_common(path, instance, stages, self.slots(placed))
        wait = Invoke(
            "pl_ring_wait",
            (CursorPointer(placed["consumer_cursor"]), SharedAddress(placed["full"]), Const(stages)),
            "stage",
            "unsigned",
        )
        self.define(
            self.ports,
            path,
            "pl_wait",
            (),
            "unsigned",
            instance,
            *self.watch.waits(instance.name, port.name, "wait", wait),
            *after_wait(port),
            Return(Result("stage")),
        )
        self.define(
            self.ports,
            path,
            "pl_release",
            (("stage", "unsigned"),),
            "void",
            instance,
            *release(placed, bool(connect.shared)),
            Return(),
        )
        if port.ends:
            self.define(
                self.ports,
                path,
                "pl_ended",
                (("stage", "unsigned"),),
                "unsigned",
                instance,
                Invoke("pl_ring_ended", (Arg("stage"), SharedAddress(placed["end"])), "ended", "unsigned"),
                Return(Result("ended")),
            )

    def local(self, instance: Instance, name: str, placed: dict[str, Any]) -> None:
        path = self.path(instance, name)
        stages, barrier = placed["stages"], placed["barrier"]
        self.stream_common(path, instance, stages, self.slots(placed))

        def take(cursor: int) -> Invoke:
            return Invoke("pl_local_take", (CursorPointer(cursor), Const(stages)), "stage", "unsigned")

        stage: tuple[tuple[str, Type], ...] = (("stage", "unsigned"),)
        self.define(
            self.ports,
            path,
            "pl_acquire",
            (),
            "unsigned",
            instance,
            take(placed["producer_cursor"]),
            Return(Result("stage")),
        )
        self.define(self.ports, path, "pl_commit", stage, "void", instance, Invoke("pl_local_commit", ()), Return())
        self.define(
            self.ports,
            path,
            "pl_wait",
            (),
            "unsigned",
            instance,
            *self.watch.waits(
                instance.name,
                name,
                "wait",
                Instruction(f"cp.async.wait_group {max(stages - 2, 0)};"),
                Invoke("pl_local_meet", (Const(barrier["id"]), Const(barrier["threads"]))),
                take(placed["consumer_cursor"]),
            ),
            Return(Result("stage")),
        )
        self.define(self.ports, path, "pl_release", stage, "void", instance, Return())

    def token(self, connect: Connect, source: Instance, target: Instance) -> None:
        placed = placement_of(connect)
        full = SharedAddress(placed["full"])
        unit = Const(UNITS[placed["producer_unit"]])
        self.define(
            self.ports,
            self.path(source, connect.source.leaf),
            "pl_pass",
            (),
            "void",
            source,
            Invoke("pl_token_pass", (full, unit)),
            Return(),
        )
        cursor = placed["consumer_cursor"]
        self.define(
            self.ports,
            self.path(target, connect.target.leaf),
            "pl_take",
            (),
            "void",
            target,
            *self.watch.waits(
                target.name, connect.target.leaf, "take", Invoke("pl_token_take", (CursorPointer(cursor), full))
            ),
            Return(),
        )
        self.parities[cursor] = int(placed.get("initial", 0))

    def call(self, connect: Connect, source: Instance, target: Instance) -> None:
        path = self.path(target, connect.target.leaf) + "_port"
        callee = (path, "pl_answer", "iPvPc")
        self.define(
            self.ports,
            self.path(source, connect.source.leaf) + "_port",
            "pl_call",
            (("pack", "pack"),),
            "void",
            source,
            Invoke(mangle(*callee), (Const(placement_of(target)["id"]), Arg("frame"), Arg("pack")), member=callee),
            Return(),
        )

    def connections(self) -> None:
        produced: set[tuple[str, str]] = set()
        for connect in self.kernel.connects:
            transfer = BY_NAME[placement_of(connect)["transfer"]]
            multicast = transfer.name == "cluster" and not connect.shared  # by the component itself
            if transfer.sources is None or multicast:
                self.diagnostics.error(
                    "transfer-without-code",
                    f"transfer '{transfer.name}' of {connect.source} to {connect.target} has no device code yet",
                    connect.location,
                )
                continue
            self.sources |= dict.fromkeys(sources(placement_of(connect)))
            source, target = self.instances[connect.source.root], self.instances[connect.target.root]
            if transfer.kind == "call":
                self.call(connect, source, target)
            elif transfer.kind == "token":
                self.token(connect, source, target)
            else:
                key = (connect.source.root, connect.source.leaf)
                if key not in produced:
                    produced.add(key)
                    self.producer(connect, source, self.component(source).ports[connect.source.leaf])
                self.consumer(connect, target, self.component(target).ports[connect.target.leaf])
        for instance in self.instances.values():
            for name, placed in placement_of(instance).get("locals", {}).items():
                self.sources["local.cu"] = None
                self.local(instance, name, placed)

    # -------------------------------------------------------------- accessors
    def parameter(self, instance: Instance, name: str, placed: dict[str, Any]) -> None:
        parameter = self.component(instance).params[name]
        kind = scalar_type(parameter.type)
        path = self.path(instance, name) + "_param"
        pointer: Value
        if "value" in placed:
            key = f"bound_{instance.name}_{name}"
            self.scalars[key] = Scalar(key, kind or "i32", constant=placed["value"])
            pointer = FieldPointer(key)
        else:
            field_ = self.launch["parameters"]["fields"][placed["field"]]
            if kind is None:
                pointer = ParameterPointer(field_["offset"])
            else:
                key = f"p{placed['field']}"
                self.scalars[key] = Scalar(key, kind, offset=field_["offset"])
                pointer = FieldPointer(key)
        self.define(self.accessors, path, "pl_address", (), "pointer", instance, Return(pointer))

    def resources(self) -> None:
        for instance in self.instances.values():
            placed = placement_of(instance)
            for role in self.component(instance).roles.values():
                self.constant(
                    self.path(instance, role.name), "pl_first_thread", instance, self.first_thread(instance, role.name)
                )
            for name, address in placed.get("smem", {}).items():
                path = self.path(instance, name) + "_smem"
                self.define(
                    self.accessors, path, "pl_address", (), "unsigned", instance, Return(SharedAddress(address))
                )
            for name, barrier in placed.get("barriers", {}).items():
                self.constant(self.path(instance, name), "pl_id", instance, barrier["id"])
                self.constant(self.path(instance, name), "pl_threads", instance, barrier["threads"])
            for name, state in placed.get("states", {}).items():
                key = f"state_{instance.name}_{name}"
                self.states[key] = State(key, state["bytes"], state["align"])
                self.define(
                    self.accessors,
                    self.path(instance, name) + "_state",
                    "pl_address",
                    (),
                    "storage",
                    instance,
                    Return(FieldPointer(key)),
                )
            for name, parameter in placed.get("params", {}).items():
                self.parameter(instance, name, parameter)

    def build(self) -> Binding:
        self.connections()
        self.resources()
        entry = plan(self.kernel, self.components, self.watch)
        frame = Frame(
            scalars=tuple(self.scalars.values()),
            states=tuple(sorted(self.states.values(), key=lambda state: -state.align)),
            parities=tuple(self.parities),
            window=math.prod(self.placement.get("cluster", ())) > 1,
            tensor_memory=entry.tensor_memory is not None,
        )
        if frame.window:
            self.sources["cluster.cu"] = None
        return Binding(
            tuple(self.ports.values()), tuple(self.accessors.values()), frame, entry, tuple(sorted(self.sources))
        )


def bind(kernel: Kernel, components: Mapping[str, Component], diagnostics: Diagnostics) -> Binding:
    """The binding of a placed kernel.  Errors: ``not-placed``, ``transfer-without-code``."""
    unplaced = [view for view in (*kernel.instances.values(), *kernel.connects) if not view.placement]
    if not kernel.placement or kernel.launch is None or unplaced:
        where = unplaced[0].location if unplaced else kernel.location
        diagnostics.error("not-placed", f"kernel '{kernel.name}' is not placed; run check,place first", where)
        diagnostics.raise_if_errors()
    binding = _Builder(kernel, components, diagnostics).build()
    diagnostics.raise_if_errors()
    return binding


def bind_all(program: Program, diagnostics: Diagnostics) -> Iterator[tuple[Kernel, Binding]]:
    """The bindings of all kernels that are not fused yet.  Errors as :func:`bind`."""
    for kernel in program.kernels:
        if not kernel.fused:
            yield kernel, bind(kernel, program.components, diagnostics)
