"""What the movers of a placed kernel use: ends of rings, tokens and signals, buffers and mbarriers, of each CTA."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from typing import Any

from pipelink.analysis.protocol import language
from pipelink.ir.views import Component, Connect, Instance, Kernel, Port
from pipelink.support.protocol import Action, Block, Protocol
from test.protocol.machine import UnsupportedError, Use, slots_of


class Uses:
    """A placed kernel taken apart, and every :class:`Use` that was asked for."""

    def __init__(self, kernel: Kernel, components: Mapping[str, Component]) -> None:
        self.kernel, self.components = kernel, components
        self.instances: dict[str, Instance] = kernel.instances
        self.component: dict[str, Component] = {
            name: components[instance.component] for name, instance in kernel.instances.items()
        }
        self.placement: dict[str, Any] = kernel.data.get("pipelink.placement") or {}
        cluster = self.placement.get("cluster", [1])
        self.ctas = cluster[0] if len(cluster) else 1
        self.outgoing: dict[tuple[str, str], list[Connect]] = {}
        self.incoming: dict[tuple[str, str], Connect] = {}
        if kernel.operations:
            raise UnsupportedError("operations")
        for connect in kernel.connects:
            self.outgoing.setdefault((connect.source.root, connect.source.leaf), []).append(connect)
            self.incoming[connect.target.root, connect.target.leaf] = connect
        self.uses: list[Use] = []
        self.known: dict[tuple[Any, ...], Use] = {}
        self.known_orders: dict[tuple[str, str], list[tuple[str, str]]] = {}

    @staticmethod
    def placed(view: Instance | Connect) -> dict[str, Any]:
        return view.data["placement"]

    def protocol(self, instance: str, name: str) -> Protocol:
        return language.protocol_of(self.component[instance], name)

    def stores_kept(self, instance: str, buffer: str) -> list[int]:
        """How many bulk copies out of a buffer each wait for them leaves in flight; 0 for a copy itself."""
        component = self.component[instance]
        actions = itertools.chain(
            *(language.actions_of(self.protocol(instance, of).body) for of in component.protocols)
        )
        return [
            action.keep if action.verb == "stored" else 0
            for action in actions
            if action.subject == buffer and action.verb in ("store", "stored")
        ]

    def callees(self, instance: str, block: Block) -> Iterator[tuple[str, str, Action]]:
        for action in language.actions_of(block):
            if action.verb == "call":
                for connect in self.outgoing.get((instance, action.subject), []):
                    yield connect.target.root, connect.target.leaf, action

    def inlined(self, instance: str, block: Block, depth: int = 0) -> Iterator[tuple[str, Action]]:
        """Every action of a block and of the answers that it calls, with the instance whose it is."""
        if depth > 16:
            raise UnsupportedError("calls within calls")
        for action in language.actions_of(block):
            yield instance, action
        for callee, answer, _ in self.callees(instance, block):
            yield from self.inlined(callee, self.protocol(callee, answer).body, depth + 1)

    def orders(self, instance: str, role: str) -> list[tuple[str, str]]:
        """The turns of a role's warpgroups, which its entry begins and ends."""
        key = (instance, role)
        if key not in self.known_orders:
            used = {(of, action.subject) for of, action in self.inlined(instance, self.protocol(*key).body)}
            own = self.component[instance].turns.items()
            found = [(instance, name) for name, one in own if one.role in (None, role)]
            called = [(of, name) for of, c in self.component.items() if not c.roles for name in c.turns]
            self.known_orders[key] = found + [one for one in called if one in used]
        return self.known_orders[key]

    def use(self, cta: int, instance: str, port: Port, side: str) -> Use:
        key = (cta, instance, port.name, side)
        if key not in self.known:
            found = self._use(cta, instance, port, side)
            self.known[key] = found
            self.uses.append(found)
        return self.known[key]

    def _use(self, cta: int, instance: str, port: Port, side: str) -> Use:
        name, index = f"{instance}::{port.name}", len(self.uses)
        mode = "w" if side in ("out", "fill") else "r"
        if port.direction == "local":
            placed = self.placed(self.instances[instance])["locals"][port.name]
            which = "producer_cursor" if side == "fill" else "consumer_cursor"
            use = Use(index, name, "local", mode, name, cta, placed["stages"], placed[which])
            use.places = [slots_of(placed, stage) for stage in range(placed["stages"])]
            return use
        connect = self.outgoing[instance, port.name][0] if side == "out" else self.incoming[instance, port.name]
        placed = self.placed(connect)
        source, leaf = connect.source.root, connect.source.leaf
        owner = f"{source}::{leaf}"
        if placed["transfer"] == "token":
            credit = self.component[connect.target.root].ports[connect.target.leaf].credit
            credit = connect.data.get("credit", credit)
            if side == "out":
                return Use(index, name, "token_out", "w", owner, cta, full=placed["full"], unit=placed["producer_unit"])
            cursor = placed["consumer_cursor"]
            return Use(index, name, "token_in", "r", owner, cta, 1, cursor, placed["full"], credit=credit)
        tma = self.component[source].ports[leaf].touch.startswith("tma")
        which, unit = ("producer_cursor", "producer_unit") if side == "out" else ("consumer_cursor", "consumer_unit")
        use = Use(
            index, name, side, mode, owner, cta, placed["stages"], placed[which], placed["full"], placed["empty"],
            placed.get("end"), placed["bytes"], unit=placed[unit],
        )  # fmt: skip
        use.tiles = tuple(tile.bytes for tile in self.component[source].ports[leaf].tiles)
        use.shared = tuple(connect.shared or ())
        use.function = "pair" if placed["transfer"].startswith("pair.") else "cluster" if use.shared else "ring"
        if tma:
            use.parts = tuple(("tma", rank) for rank in range(self.ctas if use.shared else 1))
        use.places = [slots_of(placed, stage) for stage in range(use.stages)]
        for other in self.uses:  # a role of an exclusive group goes on in the ring where the one before it was
            if (other.cta, other.kind, other.owner, other.cursor) == (cta, side, owner, use.cursor):
                use.counted = other.counted
        return use

    def buffer(self, cta: int, key: str, address: int, size: int, mode: str, space: str = "smem") -> Use:
        found = self.known.get((cta, key, mode))
        if found is None:
            found = Use(len(self.uses), key, "buffer", mode, key, cta)
            found.places = [[(space, address, address + size)]]
            self.known[cta, key, mode] = found
            self.uses.append(found)
        return found

    def mbarrier(self, cta: int, instance: str, name: str, side: str) -> Use:
        """A component's own mbarriers: the n-th step of a side is at the n-th of them, in turn."""
        key = (cta, instance, name, side)
        if key not in self.known:
            declared = self.component[instance].mbarriers[name]
            at, index = self.placed(self.instances[instance])["mbarriers"][name], len(self.uses)
            use = Use(index, f"{instance}::{name}", side, "r", f"{instance}::{name}", cta, declared.count)
            use.cursor, use.full = -2 - index, at  # no cursor of the frame: the code counts
            self.known[key] = use
            self.uses.append(use)
        return self.known[key]

    def peers(self, instance: str, name: str, mode: str) -> tuple[int, ...]:
        """A buffer of every CTA of the cluster, as any of them reaches it; what they write there is divided."""
        address = self.placed(self.instances[instance])["smem"][name]
        size, key = self.component[instance].smem[name].bytes, f"{instance}::{name}"
        if mode == "r":
            return tuple(self.buffer(cta, key, address, size, mode).index for cta in range(self.ctas))
        found: list[int] = []
        for cta in range(self.ctas):
            if (cta, key, "peers") not in self.known:
                use = Use(len(self.uses), key, "buffer", mode, key, cta, peers=True)
                use.places = [[("smem", address, address + size)]]
                self.known[cta, key, "peers"] = use
                self.uses.append(use)
            found.append(self.known[cta, key, "peers"].index)
        return tuple(found)

    @property
    def joined(self) -> bool:
        """Whether the CTAs of a cluster meet before their roles begin and after they have ended."""
        met = any(self.placed(instance).get("cluster_barriers") for instance in self.instances.values())
        shared = (connect.shared or "pair" in self.placed(connect)["transfer"] for connect in self.kernel.connects)
        return self.ctas == 1 or met or any(shared)

    def cluster_barrier(self, cta: int, instance: str, name: str) -> Use:
        """The mbarrier of a CTA at which a role and those of the other CTAs arrive."""
        key = (cta, instance, name, "cluster")
        if key not in self.known:
            placed = self.placed(self.instances[instance])["cluster_barriers"][name]
            use = Use(len(self.uses), f"{instance}::{name}", "cluster", "r", f"{instance}::{name}", cta)
            use.full, use.cursor, use.unit = placed["address"], placed["cursor"], placed["unit"]
            self.known[key] = use
            self.uses.append(use)
        return self.known[key]

    def signal(self, cta: int, instance: str, port: Port) -> Use:
        """An end of a signal; what waits knows who signals."""
        key = (cta, instance, port.name, port.direction)
        if key not in self.known:
            kind = "signal" if port.direction == "out" else "await"
            name = f"{instance}::{port.name}"
            use = Use(len(self.uses), name, kind, "r", name, cta)
            use.sources = tuple(
                f"{connect.source.root}::{connect.source.leaf}"
                for connect in self.kernel.connects
                if (connect.target.root, connect.target.leaf) == (instance, port.name)
            )
            self.known[key] = use
            self.uses.append(use)
        return self.known[key]
