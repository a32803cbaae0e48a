"""Part of ``prove``: is the placement whole, and do its parts agree with each other and with the contracts?

Placed IR can come from anywhere: another compiler, an editor.  Everything that later steps index into is looked at
here, so that what is wrong becomes an error at the operation that it is wrong on.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from pipelink.analysis.placement.build import RINGS
from pipelink.ir.views import Component, Connect, Instance, Kernel, Port
from pipelink.support.diagnostics import Diagnostics, Location, Note
from pipelink.target import MBARRIER_BYTES, WARP_THREADS
from pipelink.transfers import BY_NAME

WORD_BYTES = 4
MOST = 1 << 16  # mbarriers or words of a group; more fill no shared memory
MAX_ARRIVALS = (1 << 20) - 1  # PTX ISA, mbarrier: the range of the count

Fields = Mapping[str, type]

_KERNEL: Fields = {
    "threads": int, "warps": int, "min_ctas": int, "smem_bytes": int, "cursors": int, "mbarriers": list, "words": list,
}  # fmt: skip
_LAUNCH: Fields = {"arguments": list, "dimensions": list, "derived": list, "grid": list}
_BLOCK: Fields = {"bytes": int, "align": int, "fields": list}
_MBARRIERS: Fields = {"address": int, "count": int, "arrivals": int}
_WORDS: Fields = {"address": int, "count": int, "value": int}
_RING: Fields = {
    "stages": int, "full": int, "empty": int, "bytes": int, "producer_arrivals": int, "producer_unit": str,
    "producer_fence": bool, "producer_cursor": int, "consumer_arrivals": int, "consumer_unit": str,
    "consumer_fence": bool, "consumer_cursor": int,
}  # fmt: skip
_TOKEN: Fields = {
    "full": int, "producer_arrivals": int, "producer_unit": str, "consumer_cursor": int, "initial": int,
}  # fmt: skip
_LOCAL: Fields = {"stages": int, "buffers": list, "producer_cursor": int, "consumer_cursor": int, "barrier": dict}
_BUFFER: Fields = {"address": int, "stride": int, "bytes": int}
_COLUMNS: Fields = {"column": int, "stride": int}
_STAGING: Fields = {"address": int, "bytes": int}
_BARRIER: Fields = {"id": int, "threads": int}
_ROLE: Fields = {"first_warp": int, "warps": int}
_STATE: Fields = {"bytes": int, "align": int}
_POOL: Fields = {"address": int, "pages": int, "stride": int}
#: What all connections of one port hold in common.
_SHARED = (
    "transfer", "stages", "full", "empty", "end", "bytes", "buffers", "columns", "staging", "barrier",
    "producer_arrivals", "producer_unit", "producer_fence", "producer_cursor", "consumer_arrivals",
)  # fmt: skip
_UNITS = {"producer": ("tx", "commit", "thread", "warp"), "consumer": ("commit", "thread", "warp", "warpgroup")}
_WORDS_OF = {int: "an integer from 0 up", str: "a string", bool: "a boolean", list: "a list", dict: "a dictionary"}


def check_shape(kernel: Kernel, components: Mapping[str, Component], diagnostics: Diagnostics) -> bool:
    """Whether the placement of a kernel can be read; reports ``not-placed``, ``bad-placement`` and
    ``arrival-count``.

    ``components`` by name.  Where something is missing, or two parts contradict each other, the result is False, and
    nothing else should look at it.
    """
    before = len(diagnostics.errors)
    unplaced = [view for view in (*kernel.instances.values(), *kernel.connects) if not view.placement]
    if not kernel.placement or kernel.launch is None or unplaced:
        where = unplaced[0].location if unplaced else kernel.location
        diagnostics.error("not-placed", f"kernel '{kernel.name}' is not placed; run check,place first", where)
        return False
    checker = _Checker(kernel, components, diagnostics)
    checker.kernel_attribute()
    if len(diagnostics.errors) > before:
        return False
    for instance in kernel.instances.values():
        checker.instance(instance, components[instance.component])
    for connect in kernel.connects:
        checker.connect(connect)
    if len(diagnostics.errors) > before:
        return False
    checker.agreement()
    return all(item.id != "bad-placement" for item in diagnostics.errors[before:])


class _Checker:
    def __init__(self, kernel: Kernel, components: Mapping[str, Component], diagnostics: Diagnostics) -> None:
        self.kernel = kernel
        self.components = components
        self.diagnostics = diagnostics
        self.placement: dict[str, Any] = kernel.placement or {}
        self.launch: dict[str, Any] = kernel.launch or {}

    def error(self, message: str, where: Location, notes: Iterable[Note] = ()) -> None:
        self.diagnostics.error("bad-placement", message, where, notes=list(notes))

    def port(self, connect: Connect, end: str) -> Port:
        ref = connect.source if end == "source" else connect.target
        return self.components[self.kernel.instances[ref.root].component].ports[ref.leaf]

    def has(self, found: object, fields: Fields, what: str, where: Location) -> bool:
        """Whether a dictionary has all of its fields, of their types."""
        if not isinstance(found, dict):
            self.error(f"the placement of {what} is not a dictionary", where)
            return False
        entries: dict[str, Any] = found
        for name, kind in fields.items():
            if name not in entries:
                self.error(f"the placement of {what} has no '{name}'", where)
                return False
            value = entries[name]
            good = isinstance(value, kind) and (kind is not int or (not isinstance(value, bool) and value >= 0))
            if not good:
                self.error(f"'{name}' in the placement of {what} is {value!r}, not {_WORDS_OF[kind]}", where)
                return False
        return True

    def all_have(self, found: list[Any], fields: Fields, what: str, where: Location) -> bool:
        return all(self.has(item, fields, f"{what}, item {index}", where) for index, item in enumerate(found))

    def is_count(self, value: object) -> bool:
        return isinstance(value, int) and not isinstance(value, bool) and value >= 1

    # -- presence

    def kernel_attribute(self) -> None:
        what, where = f"kernel '{self.kernel.name}'", self.kernel.location
        if self.has(self.placement, _KERNEL, what, where):
            self.all_have(self.placement["mbarriers"], _MBARRIERS, f"the mbarriers of {what}", where)
            self.all_have(self.placement["words"], _WORDS, f"the words of {what}", where)
            for group in (*self.placement["mbarriers"], *self.placement["words"]):
                if isinstance(group, dict) and group.get("count", 0) > MOST:  # pyright: ignore[reportUnknownMemberType]
                    self.error(f"kernel '{self.kernel.name}' is placed with {group['count']} mbarriers or words", where)
        groups = self.placement.get("warpgroups", [])
        if not isinstance(groups, list):
            self.error(f"'warpgroups' in the placement of {what} is not a list", where)
        else:
            self.all_have(groups, {"registers": int}, f"the warpgroups of {what}", where)
        if "tmem_columns" in self.placement:
            self.has(self.placement, {"tmem_columns": int, "tmem_word": int}, what, where)
        cluster = self.placement.get("cluster", [1, 1, 1])
        if not isinstance(cluster, list) or len(cluster) != 3 or not all(self.is_count(extent) for extent in cluster):
            self.error(f"'cluster' in the placement of {what} is not three extents", where)
        if self.has(self.launch, _LAUNCH, f"the launch of {what}", where):
            self.all_have(self.launch["derived"], {"name": str, "value": str}, f"derived values of {what}", where)
            self.all_have(self.launch["arguments"], {"name": str, "kind": str}, f"arguments of {what}", where)
        block = self.launch.get("parameters")
        if self.has(block, _BLOCK, f"the parameter block of {what}", where):
            self.all_have(self.launch["parameters"]["fields"], {"offset": int}, f"the parameters of {what}", where)

    def instance(self, instance: Instance, component: Component) -> None:
        placed, where = instance.placement or {}, instance.location
        what = f"instance '@{instance.name}'"
        if not self.has(placed, {"id": int}, what, where):
            return
        owned: list[tuple[str, Iterable[str], Fields | None]] = [
            ("roles", component.roles, _ROLE),
            ("smem", component.smem, None),
            ("barriers", component.barriers, _BARRIER),
            ("tmem", component.tmem, None),
            ("mbarriers", component.mbarriers, None),
            ("pools", component.pools, _POOL),
            ("locals", [port.name for port in component.ports.values() if port.direction == "local"], _LOCAL),
            ("params", component.params, {}),
            ("states", [state.name for state in component.states.values()], _STATE),
        ]
        for table, names, fields in owned:
            entries = placed.get(table, {})
            if not isinstance(entries, dict):
                self.error(f"'{table}' in the placement of {what} is not a dictionary", where)
                continue
            for name in set(entries) - set(names):
                self.error(f"the placement of {what} has '{name}' in '{table}', which it does not declare", where)
            for name in names:
                of = f"'@{instance.name}::@{name}'"
                if name not in entries:
                    self.error(f"the placement of {what} has no place for {of} in '{table}'", where)
                elif fields is None:
                    self.has(entries, {name: int}, what, where)
                elif self.has(entries[name], fields, of, where):
                    self.extras(table, entries[name], component, name, of, where)

    def extras(
        self, table: str, found: dict[str, Any], component: Component, name: str, of: str, where: Location
    ) -> None:
        """What is in the place of one thing that an instance owns."""
        if table == "locals":
            self.ring_parts(found, component.ports[name], of, where)
            self.has(found["barrier"], _BARRIER, f"the barrier of {of}", where)
        elif table == "params" and "value" not in found and self.has(found, {"field": int}, of, where):
            count = len(self.launch["parameters"]["fields"])
            if found["field"] >= count:
                self.error(f"{of} is field {found['field']} of the parameter block, which has {count}", where)

    def connect(self, connect: Connect) -> None:
        placed, where = connect.placement or {}, connect.location
        what = f"'{connect.source}' to '{connect.target}'"
        if not self.has(placed, {"transfer": str}, what, where):
            return
        transfer = BY_NAME.get(placed["transfer"])
        source, target = self.port(connect, "source"), self.port(connect, "target")
        if transfer is None:
            self.error(f"{what} is carried by '{placed['transfer']}', which is no transfer", where)
            return
        refused = transfer.applies(source, target)
        if refused:
            self.error(f"{what} is carried by '{transfer.name}', which cannot: {refused}", where)
        elif transfer.name in RINGS:
            if self.has(placed, _RING, what, where):
                target_tiles = transfer.name == "ring.threads.convert"
                self.ring_parts(placed, target if target_tiles else source, what, where)
                self.ring_extras(placed, source, what, where)
                self.units(placed, connect, what)
        elif transfer.name == "token" and self.has(placed, _TOKEN, what, where):
            self.units(placed, connect, what)
            if placed["initial"] > 1:
                self.error(f"{what} starts with parity {placed['initial']}, a phase is 0 or 1", where)
        elif transfer.name == "lease":
            self.has(placed, _POOL, what, where)

    def ring_parts(self, placed: dict[str, Any], port: Port, what: str, where: Location) -> None:
        in_tmem = "columns" in placed
        if not in_tmem and not self.has(placed, {"buffers": list}, what, where):
            return
        parts = placed["columns"] if in_tmem else placed["buffers"]
        if not isinstance(parts, list) or len(parts) != len(port.tiles):
            self.error(f"{what} does not have a place for each of its {len(port.tiles)} tiles", where)
        elif self.all_have(parts, _COLUMNS if in_tmem else _BUFFER, what, where) and not in_tmem:
            for index, (part, tile) in enumerate(zip(parts, port.tiles, strict=True)):
                if part["bytes"] < tile.bytes:
                    message = f"tile {index} of {what} is placed in {part['bytes']} bytes, it has {tile.bytes}"
                    self.error(message, where)
        if not 1 <= placed["stages"] <= MOST:
            self.error(f"{what} is placed in {placed['stages']} stages", where)

    def ring_extras(self, placed: dict[str, Any], source: Port, what: str, where: Location) -> None:
        if source.ends:
            self.has(placed, {"end": int}, what, where)
        if placed["transfer"] == "ring.threads.convert" and self.has(
            placed, {"staging": list, "barrier": dict}, what, where
        ):
            self.has(placed["barrier"], _BARRIER, f"the barrier of {what}", where)
            if len(placed["staging"]) != len(source.tiles):
                self.error(f"{what} does not have staging for each of its tiles", where)
            self.all_have(placed["staging"], _STAGING, f"the staging of {what}", where)

    def units(self, placed: dict[str, Any], connect: Connect, what: str) -> None:
        for side, known in _UNITS.items():
            unit = placed.get(f"{side}_unit")
            if unit is not None and unit not in known:
                message = f"'{side}_unit' in the placement of {what} is '{unit}', not one of {', '.join(known)}"
                self.error(message, connect.location)

    # -- agreement

    def agreement(self) -> None:
        """What the entry sets up against what the functions of ports will use."""
        kernel, placement = self.kernel, self.placement
        where = kernel.location
        if placement["threads"] != WARP_THREADS * placement["warps"]:
            message = f"{placement['threads']} threads are placed on {placement['warps']} warps of {WARP_THREADS}"
            self.error(message, where)
        for key in ("threads", "smem_bytes", "min_ctas"):
            if self.launch.get(key, placement[key]) != placement[key]:
                message = f"kernel '{kernel.name}' is placed with {key} = {placement[key]} and launched with "
                self.error(f"{message}{self.launch[key]}", where)
        asked = kernel.min_ctas or 1
        if placement["min_ctas"] < asked:
            message = f"{asked} CTAs of kernel '{kernel.name}' are asked on one SM, {placement['min_ctas']} are placed"
            self.error(message, where)
        launched = self.launch.get("cluster", [1, 1, 1])
        if placement.get("cluster", [1, 1, 1]) != launched:
            message = f"the entry is for clusters of {placement.get('cluster', [1, 1, 1])}, the launch has {launched}"
            self.error(message, where)
        ids = [i.placement["id"] for i in kernel.instances.values() if i.placement]
        if len(set(ids)) < len(ids):
            self.error(f"two instances of kernel '{kernel.name}' have one id: {sorted(ids)}", where)
        self.cursors()
        self.connections()

    def connections(self) -> None:
        placement = self.placement
        expected = _expand(((m["address"], m["count"], m["arrivals"]) for m in placement["mbarriers"]), MBARRIER_BYTES)
        words = _expand(((w["address"], w["count"], w["value"]) for w in placement["words"]), WORD_BYTES)
        owners: dict[int, str] = {}
        first: dict[tuple[str, ...], Connect] = {}
        for connect in self.kernel.connects:
            placed, what = connect.placement or {}, f"'{connect.source}' to '{connect.target}'"
            if placed["transfer"] not in RINGS and placed["transfer"] != "token":
                continue
            other = first.setdefault(connect.source.path, connect)
            for key in _SHARED:
                theirs = (other.placement or {}).get(key)
                if placed.get(key) != theirs:
                    message = f"{what} is placed with {key} = {placed.get(key)}, another connection of "
                    notes = [Note("placed here", other.location)]
                    self.error(f"{message}'{connect.source}' with {theirs}", connect.location, notes)
                    break
            if other is connect:
                self.mbarriers(connect, placed, what, expected, owners)
                stages = placed.get("stages", 1)
                if "end" in placed and any(words.get(at) != 0 for at in _slots(placed["end"], stages, WORD_BYTES)):
                    message = f"the end marks of {what} at {placed['end']} are not {stages} words that the entry clears"
                    self.error(message, connect.location)
            self.depth(connect, placed, what)

    def mbarriers(
        self, connect: Connect, placed: dict[str, Any], what: str, expected: dict[int, int], owners: dict[int, str]
    ) -> None:
        """The entry initialises each mbarrier of a ring or token, with its arrivals, and no two share one."""
        for key, side in (("full", "producer"), ("empty", "consumer")):
            if key not in placed:
                continue
            arrivals = placed[f"{side}_arrivals"]
            for at in _slots(placed[key], placed.get("stages", 1), MBARRIER_BYTES):
                if at not in expected:
                    message = f"the entry initialises no mbarrier at {at}, where {what} has one of its {key} ones"
                    self.error(message, connect.location)
                elif not 1 <= expected[at] <= MAX_ARRIVALS:
                    message = f"the {key} mbarriers of {what} expect {expected[at]} arrivals, not 1 to {MAX_ARRIVALS}"
                    self.diagnostics.error("arrival-count", message, connect.location)
                elif expected[at] != arrivals:
                    message = f"a phase of the {key} mbarriers of {what} takes {arrivals} arrivals of its {side}, "
                    message += f"the entry initialises them with {expected[at]}"
                    self.diagnostics.error("arrival-count", message, connect.location)
                elif at in owners:
                    message = f"the {key} mbarriers of {what} and those of {owners[at]} are both at {at}"
                    self.diagnostics.error("placement-overlap", message, connect.location)
                else:
                    owners[at] = what
                    continue
                break

    def depth(self, connect: Connect, placed: dict[str, Any], what: str) -> None:
        if "stages" not in placed:
            return
        for end in ("source", "target"):
            port = self.port(connect, end)
            low, high = port.stages
            if not low <= placed["stages"] <= high:
                ref = connect.source if end == "source" else connect.target
                message = f"{what} is placed in {placed['stages']} stages, '{ref}' accepts {low} … {high}"
                notes = [Note("the port is declared here", port.location)]
                self.error(message, connect.location, notes)
                return
        if connect.stages is not None and placed["stages"] != connect.stages:
            message = f"{what} is placed in {placed['stages']} stages, the connection asks for {connect.stages}"
            self.error(message, connect.location)

    def cursors(self) -> None:
        """The frame has room for the position of each ring."""
        count = self.placement["cursors"]
        views = [(f"'{c.source}' to '{c.target}'", c.placement or {}, c.location) for c in self.kernel.connects]
        for instance in self.kernel.instances.values():
            for port, local in (instance.placement or {}).get("locals", {}).items():
                views.append((f"'@{instance.name}::@{port}'", local, instance.location))
        for what, placed, where in views:
            for side in ("producer", "consumer"):
                cursor = placed.get(f"{side}_cursor", 0)
                if cursor >= count and f"{side}_cursor" in placed:
                    self.error(f"the {side} of {what} has position {cursor}, the frame has {count}", where)


def _slots(address: int, count: int, size: int) -> range:
    return range(address, address + size * count, size)


def _expand(groups: Iterable[tuple[int, int, int]], size: int) -> dict[int, int]:
    """What is set up at each address."""
    return {at: value for address, count, value in groups for at in _slots(address, count, size)}
