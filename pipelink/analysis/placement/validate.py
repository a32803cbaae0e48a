"""Is a placement whole?  Placed IR can come from anywhere: another compiler, an editor, an older version.

Everything that later steps index into is looked at here, right after the IR is read and before anything else reads it,
so that what is wrong becomes an error at the operation that it is wrong on.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from pipelink.analysis.placement.build import meetings
from pipelink.ir.placement import LocalRing, ParameterSource, RingPlacement
from pipelink.ir.views import Component, Connect, Instance, Kernel, Operation, Port, Program
from pipelink.model.demand import spelled
from pipelink.model.lifetimes import Lifetimes
from pipelink.support.diagnostics import Diagnostics, LinkError, Location
from pipelink.target import MAX_CLUSTER, NAMED_BARRIERS, PARAMETER_BYTES
from pipelink.transfers import operations, placement_of, transfer_of
from pipelink.transfers.binder import placed_instance
from pipelink.transfers.turns import warpgroups

MOST: Final = 1 << 16  # mbarriers, words or slots of a group; more fill no shared memory

Fields = Mapping[str, type]

_LAUNCH: Fields = {"arguments": list, "dimensions": list, "derived": list, "grid": list}
_BLOCK: Fields = {"bytes": int, "align": int, "fields": list}
_KINDS = {int: "an integer from 0 up", str: "a string", list: "a list", dict: "a dictionary"}


def validate_placements(program: Program) -> None:
    """Look at all kernels that are placed, whole or in part.  Raises LinkError ``bad-placement``."""
    diagnostics = Diagnostics()
    for kernel in program.kernels:
        if not kernel.fused and is_placed(kernel):
            validate(kernel, program.components, diagnostics)
    diagnostics.raise_if_errors()


def _unplaced(kernel: Kernel) -> Iterator[Instance | Connect | Operation]:
    views = (*kernel.instances.values(), *kernel.connects, *kernel.operations)
    return (view for view in views if not view.placement_attribute)


def is_placed(kernel: Kernel) -> bool:
    """Whether all of a kernel has a placement and it has a launch contract, good or bad."""
    return bool(kernel.data.get("pipelink.placement")) and kernel.launch is not None and not any(_unplaced(kernel))


def require_placed(kernel: Kernel, diagnostics: Diagnostics) -> None:
    """Report ``not-placed`` where it is not."""
    if not is_placed(kernel):
        where = next((view.location for view in _unplaced(kernel)), kernel.location)
        diagnostics.error("not-placed", f"kernel '{kernel.name}' is not placed; run check,place first", where)


def validate(kernel: Kernel, components: Mapping[str, Component], diagnostics: Diagnostics) -> bool:
    """Whether the placement of a kernel is there and can be read; ``components`` by name.  Reports ``not-placed`` and
    ``bad-placement``."""
    before = len(diagnostics.errors)
    require_placed(kernel, diagnostics)
    if len(diagnostics.errors) > before:
        return False
    validator = _Validator(kernel, components, diagnostics)
    validator.kernel_attributes()
    if len(diagnostics.errors) > before:
        return False
    for instance in kernel.instances.values():
        validator.instance(instance, components[instance.component])
    if kernel.exclusives and len(diagnostics.errors) == before:
        validator.groups()
    if kernel.operations and len(diagnostics.errors) == before:
        validator.operations()
    if len(diagnostics.errors) == before:
        validator.turns()
    for connect in kernel.connects:
        validator.connect(connect)
    return len(diagnostics.errors) == before


class _Validator:
    def __init__(self, kernel: Kernel, components: Mapping[str, Component], diagnostics: Diagnostics) -> None:
        self.kernel = kernel
        self.components = components
        self.diagnostics = diagnostics
        self.launch: dict[str, Any] = kernel.launch or {}

    def error(self, message: str, where: Location) -> None:
        self.diagnostics.error("bad-placement", message, where)

    def has(self, found: object, fields: Fields, what: str) -> bool:
        """Whether a dictionary of the launch contract has all of its fields, of their types."""
        where = self.kernel.location
        if not isinstance(found, dict):
            self.error(f"the placement of {what} is not a dictionary", where)
            return False
        entries: dict[str, Any] = found
        for name, kind in fields.items():
            if name not in entries:
                self.error(f"the placement of {what} has no '{name}'", where)
                return False
            value = entries[name]
            if type(value) is not kind or (kind is int and value < 0):
                self.error(f"'{name}' in the placement of {what} is {value!r}, not {_KINDS[kind]}", where)
                return False
        return True

    def all_have(self, found: list[Any], fields: Fields, what: str) -> bool:
        return all(self.has(item, fields, f"{what}, item {index}") for index, item in enumerate(found))

    # -- the kernel

    def kernel_attributes(self) -> None:
        what, where = f"kernel '{self.kernel.name}'", self.kernel.location
        try:
            placed = self.kernel.placement
        except LinkError as problem:
            self.diagnostics.items += problem.diagnostics
            return
        assert placed is not None
        for group in (*placed.mbarriers, *placed.words):
            if group.count > MOST:
                self.error(f"{what} is placed with {group.count} mbarriers or words", where)
        if placed.cursors > MOST:
            self.error(f"{what} is placed with {placed.cursors} cursors", where)
        if placed.cluster and (len(placed.cluster) != 3 or 0 in placed.cluster):
            self.error(f"'cluster' in the placement of {what} is not three extents", where)
        elif placed.ctas > MAX_CLUSTER:
            self.error(f"{what} is placed in clusters of {placed.ctas} CTAs, the largest has {MAX_CLUSTER}", where)
        if self.has(self.launch, _LAUNCH, f"the launch of {what}"):
            self.all_have(self.launch["derived"], {"name": str, "value": str}, f"derived values of {what}")
            self.all_have(self.launch["arguments"], {"name": str, "kind": str}, f"arguments of {what}")
        if self.has(self.launch.get("parameters"), _BLOCK, f"the parameter block of {what}"):
            block = self.launch["parameters"]
            if self.all_have(block["fields"], {"offset": int}, f"the parameters of {what}"):
                last = max((field["offset"] for field in block["fields"]), default=0)
                if max(last, block["bytes"]) > PARAMETER_BYTES:
                    message = f"the parameters of {what} are placed up to {max(last, block['bytes'])}"
                    self.error(f"{message}, a kernel takes {PARAMETER_BYTES} bytes", where)

    # -- instances

    def instance(self, instance: Instance, component: Component) -> None:
        where, what = instance.location, f"instance '@{instance.name}'"
        try:
            placed = instance.placement
        except LinkError as problem:
            self.diagnostics.items += problem.diagnostics
            return
        assert placed is not None
        if placed.id > MOST:
            self.error(f"{what} is placed as number {placed.id}", where)
        owned: list[tuple[str, Mapping[str, object], Iterable[str]]] = [
            ("roles", placed.roles, component.roles),
            ("smem", placed.smem, component.smem),
            ("barriers", placed.barriers, component.barriers),
            ("tmem", placed.tmem, component.tmem),
            ("mbarriers", placed.mbarriers, component.mbarriers),
            ("cluster_barriers", placed.cluster_barriers, component.cluster_barriers),
            ("turns", placed.turns, component.turns),
            ("leases", placed.leases, component.leases),
            ("locals", placed.locals, [p.name for p in component.ports.values() if p.direction == "local"]),
            ("params", placed.params, component.params),
            ("states", placed.states, component.states),
        ]
        leased = {c.lease.leaf for c in self.kernel.connects if c.lease is not None and c.lease.root == instance.name}
        idle = component.leases.keys() - leased  # pages that nobody takes need no place
        for table, entries, names in owned:
            declared = list(names)
            for name in set(entries) - set(declared):
                self.error(f"the placement of {what} has '{name}' in '{table}', which it does not declare", where)
            for name in declared:
                if name not in entries and not (table == "leases" and name in idle):
                    of = f"'@{instance.name}::@{name}'"
                    self.error(f"the placement of {what} has no place for {of} in '{table}'", where)
        for name, local in placed.locals.items():
            if name in component.ports:
                self.ring(local, component.ports[name], f"'@{instance.name}::@{name}'", where)
        for name, source in placed.params.items():
            self.parameter(source, f"'@{instance.name}::@{name}'", where)

    def parameter(self, source: ParameterSource, of: str, where: Location) -> None:
        count = len(self.launch["parameters"]["fields"])
        if source.operand:
            if source.field is not None or source.value is not None:
                self.error(f"the placement of {of} says that it is an operand, and where else it comes from", where)
        elif source.field is None and source.value is None:
            self.error(f"the placement of {of} has no 'field'", where)
        elif source.field is not None and source.field >= count:
            self.error(f"{of} is field {source.field} of the parameter block, which has {count}", where)

    def groups(self) -> None:
        """Roles that run one after the other do so on the same warps, and have a barrier where these are several."""
        kernel, placed = self.kernel, self.kernel.placement
        assert placed is not None
        lifetimes = Lifetimes(Program(kernel.op, dict(self.components), (kernel,)), kernel)
        wanted, sequences = meetings(lifetimes), lifetimes.sequences()
        for group in kernel.exclusives:
            roles = sequences.get(group.name, ())
            ends = [(key, placed_instance(kernel.instances[key.partition("::")[0]])) for key in roles]
            firsts = {key: instance.roles[key.partition("::")[2]].first_warp for key, instance in ends}
            if len(set(firsts.values())) > 1:
                listed = ", ".join(f"{spelled(key)} on {first}" for key, first in firsts.items())
                self.error(
                    f"roles of exclusive group '{group.name}' begin on different warps: {listed}", group.location
                )
            if (group.name in wanted) != (group.name in placed.meetings):
                lacks = "has a" if group.name in placed.meetings else "has no"
                self.error(
                    f"the placement of kernel '{kernel.name}' {lacks} barrier for exclusive group '{group.name}', "
                    f"{'whose warps' if group.name in wanted else 'in which nobody has to'} meet",
                    group.location,
                )
        for name in placed.meetings.keys() - {group.name for group in kernel.exclusives} - lifetimes.dispatched.keys():
            message = f"the placement of kernel '{kernel.name}' has exclusive group '{name}', which it does not declare"
            self.error(message, kernel.location)

    def operations(self) -> None:
        """Every operand has a place of its own in an instruction, every operation an opcode, and threads meet where
        operations have something of their own."""
        kernel, placed = self.kernel, self.kernel.placement
        assert placed is not None
        lifetimes = Lifetimes(Program(kernel.op, dict(self.components), (kernel,)), kernel)
        opcodes: dict[tuple[str, int], str] = {}
        for operation in kernel.operations:
            what, where = f"operation '@{operation.name}'", operation.location
            try:
                found = operation.placement
            except LinkError as problem:
                self.diagnostics.items += problem.diagnostics
                continue
            assert found is not None
            first = opcodes.setdefault((operation.dispatcher.root, found.opcode), operation.name)
            if first != operation.name:
                self.error(f"{what} is placed with opcode {found.opcode}, which '@{first}' has", where)
            declared = lifetimes.components[operation.dispatcher.root].dispatches.values()
            room = min((dispatch.bytes for dispatch in declared), default=0)
            own = {
                f"{name}::{param}": lifetimes.components[name].params[param]
                for name in operations.members(lifetimes, operation)
                for param, source in placed_instance(kernel.instances[name]).params.items()
                if source.operand
            }
            if own.keys() != found.operands.keys():
                key = min(own.keys() ^ found.operands.keys())
                has = "has no place for operand" if key in own else "has a place for what is no operand of it,"
                self.error(f"the placement of {what} {has} {spelled(key)}", where)
                continue
            end = 0
            for key, at in sorted(found.operands.items(), key=lambda one: one[1]):
                if at < end or at % own[key].align or at + own[key].bytes > min(found.bytes, room):
                    message = f"operand {spelled(key)} of {what} is placed at {at}, of {min(found.bytes, room)} bytes"
                    self.error(message, where)
                    break
                end = at + own[key].bytes
        if not self.diagnostics.errors:
            stated = operations.contract(kernel, lifetimes, self.launch["parameters"]["fields"])
            if self.launch.get("operations") != stated:
                message = f"the launch of kernel '{kernel.name}' says of its operations what their placements do not"
                self.error(message, kernel.location)
        wanted, runs = meetings(lifetimes), lifetimes.dispatched
        for runner in runs:
            if (runner in wanted) != (runner in placed.meetings):
                has = "has a" if runner in placed.meetings else "has no"
                message = f"the placement of kernel '{kernel.name}' {has} barrier behind the operations of "
                self.error(f"{message}{spelled(runner)}", kernel.location)

    def turns(self) -> None:
        """A barrier for each warpgroup of the one role whose warpgroups take turns."""
        kernel = self.kernel
        lifetimes = Lifetimes(Program(kernel.op, dict(self.components), (kernel,)), kernel)
        for name, instance in kernel.instances.items():
            for turns, barriers in placed_instance(instance).turns.items():
                what = f"'@{name}::@{turns}'"
                users = lifetimes.users(name, lifetimes.components[name].turns[turns].role)
                if len(users) != 1:
                    message = f"order of turns {what} is used by {len(users)} roles; it needs exactly one"
                    self.error(message, instance.location)
                    continue
                of, _, role = users[0].partition("::")
                count = warpgroups(lifetimes.components[of].roles[role])
                if len(barriers) != count or not count:
                    message = f"{what} is placed on {len(barriers)} named barriers, {count} warpgroups of "
                    self.error(f"{message}{spelled(users[0])} take turns", instance.location)
                elif any(barrier.id >= NAMED_BARRIERS for barrier in barriers):
                    listed = ", ".join(str(barrier.id) for barrier in barriers)
                    message = f"{what} is placed on named barriers {listed}, a CTA has 0 to {NAMED_BARRIERS - 1}"
                    self.error(message, instance.location)

    # -- connections

    def port(self, connect: Connect, end: str) -> Port:
        ref = connect.source if end == "source" else connect.target
        return self.components[self.kernel.instances[ref.root].component].ports[ref.leaf]

    def connect(self, connect: Connect) -> None:
        where, what = connect.location, f"'{connect.source}' to '{connect.target}'"
        source, target = self.port(connect, "source"), self.port(connect, "target")
        try:
            transfer = transfer_of(connect)
            refused = transfer.refusal(source, target)
            if refused is not None:
                self.error(f"{what} is carried by '{transfer.name}', which cannot: {refused.reason}", where)
                return
            placed = placement_of(connect)
        except LinkError as problem:
            self.diagnostics.items += problem.diagnostics
            return
        assert placed is not None
        if (lack := transfer.incomplete(placed, source, target)) is not None:
            self.error(f"{what} {lack}", where)
        if isinstance(placed, RingPlacement):
            port = target if transfer.slot_tiles(source, target) is target.tiles else source
            self.ring(placed, port, what, where)

    def ring(self, placed: RingPlacement | LocalRing, port: Port, what: str, where: Location) -> None:
        """A place for each tile of a slot, and a number of slots that can be."""
        columns = placed.columns if isinstance(placed, RingPlacement) else ()
        if len(columns or placed.buffers) != len(port.tiles):
            self.error(f"{what} does not have a place for each of its {len(port.tiles)} tiles", where)
        elif not columns:
            for index, (part, tile) in enumerate(zip(placed.buffers, port.tiles, strict=True)):
                if part.bytes < tile.bytes:
                    message = f"tile {index} of {what} is placed in {part.bytes} bytes, it has {tile.bytes}"
                    self.error(message, where)
        if not 1 <= placed.stages <= MOST:
            self.error(f"{what} is placed in {placed.stages} stages", where)
