"""Placed kernels as programs for the simulator: what each group of warps does, step by step, and what memory there is.

In: a placed kernel and its components (views), and one value for every count that is known only at launch.  Out: a
:class:`Machine` of *movers*, the warps of a role that always act together, each with a list of operations that name
the addresses, counts and identifiers of the placement as the linked code would use them.  What an operation consists
of was taken from ``pipelink/transfers/*.cu`` and from the entry; nothing here comes from pass ``prove``.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Any

from pipelink.analysis.protocol import language
from pipelink.ir.views import Component, Kernel, Port
from pipelink.support.protocol import Action, Block, Callers, Choose, Fence, Rank, Repeat, Step, Until
from test.protocol.layout import Layout
from test.protocol.machine import (
    MAX_OPS,
    Counts,
    Fault,
    Machine,
    Mover,
    Symbol,
    UnsupportedError,
    Use,
    arrivals_of,
    narrower,
    taking_part,
    warps_of,
)
from test.protocol.uses import Uses


class Builder(Uses):
    def __init__(self, kernel: Kernel, components: Mapping[str, Component], counts: Counts) -> None:
        super().__init__(kernel, components)
        self.counts = counts
        self.movers: list[Mover] = []
        self.barrier_ids: dict[tuple[int, int], None] = {}
        self.touched: set[tuple[str, str]] = set()
        self.elastic: dict[tuple[str, str], int] = {}
        self.tokens = {
            f"{connect.source.root}::{connect.source.leaf}"
            for connect in kernel.connects
            if self.placed(connect)["transfer"] == "token"
        }
        self.choices: dict[tuple[int, Symbol], int] = {}

    # ---------------------------------------------------------------- roles and movers

    def edges(self, instance: str, role: str) -> set[int]:
        """The warps of a role at which parts of it begin or end that act together."""
        warps = self.placed(self.instances[instance])["roles"][role]["warps"]
        edges = {0, warps}
        groups = False
        for owner, action in self.inlined(instance, self.protocol(instance, role).body):
            port = self.component[owner].ports.get(action.subject)
            groups |= action.subject in self.component[owner].turns if port is None else port.touch == "wgmma"
            if action.by is not None:
                edges.add(min(warps, warps_of(action.by)))
        if groups:
            edges |= set(range(0, warps, 4))
        elif len(edges) == 2 and warps > 1:
            edges.add(1)
        return edges

    def mover(self, cta: int, instance: str, role: str, first: int, end: int) -> Mover:
        one = self.component[instance].roles[role].one_thread
        return Mover(
            f"{instance}::{role}[{first}:{end}]" + (f" CTA {cta}" if self.ctas > 1 else ""),
            cta, instance, role, first, end - first, 1 if one else 32 * (end - first),
            self.placed(self.instances[instance])["roles"][role]["first_warp"] + first,
        )  # fmt: skip

    def run_role(self, mover: Mover) -> None:
        body = self.protocol(mover.instance, mover.role).body
        self.mention(mover, mover.instance, body)
        last = self.placed(self.instances[mover.instance])["roles"][mover.role]["warps"] // 4 - 1
        orders = self.orders(mover.instance, mover.role)
        for instance, name in orders if mover.first // 4 == last else ():
            self.turn(mover, instance, name, "begin", mover.threads, mover.warps)
        self.run(mover, mover.instance, mover.role, body, None, [])
        for instance, name in orders if mover.first < 4 else ():
            self.turn(mover, instance, name, "end", mover.threads, mover.warps)

    def turn(self, mover: Mover, instance: str, name: str, verb: str, threads: int, warps: int) -> None:
        """A warpgroup waits for its turn at its own barrier, and passes it on at that of the next (turns.cu)."""
        placed = self.placed(self.instances[instance])["turns"][name]
        at = (mover.first // 4 + (verb in ("begin", "pass"))) % len(placed)
        self.barrier(mover, f"{instance}::{name}[{at}]", placed[at], 256, threads, warps, verb in ("take", "end"))

    def take_turns(self, cta: int, name: str, roles: list[tuple[str, str]]) -> None:
        """The warps of an exclusive group: each runs role after role, and between two all of them meet."""
        edges = sorted(set[int]().union(*(self.edges(*role) for role in roles)))
        meeting: dict[str, Any] | None = self.placement.get("meetings", {}).get(name)
        for first, end in itertools.pairwise(edges):
            ops: list[tuple[Any, ...]] = []
            mentions: set[int] = set()
            turn = Mover(f"{name}[{first}:{end}]", cta, name, name, first, end - first, 32 * (end - first), first)
            for number, (instance, role) in enumerate(roles):
                if number:
                    ops.append(("settle",))
                    if meeting is not None:
                        turn.ops = ops
                        self.barrier(turn, name, meeting, 32 * edges[-1], turn.threads, turn.warps, sync=True)
                if end <= self.placed(self.instances[instance])["roles"][role]["warps"]:
                    mover = self.mover(cta, instance, role, first, end)
                    mover.ops, mover.mentions, mover.name = ops, mentions, turn.name
                    self.run_role(mover)
            turn.ops, turn.mentions = ops, mentions
            self.movers.append(turn)

    # ---------------------------------------------------------------- counts

    def count(self, instance: str, repeat: Repeat, role: tuple[str, str]) -> int:
        if repeat.count is None:
            return self.elastic[role]
        values: dict[str, int] = {}
        least = 1 if repeat.at_least_once else 0
        for name in language.count_names(repeat.count):
            if name.endswith(".stages"):
                values[name] = self.stages(instance, name.removesuffix(".stages"))
                continue
            symbol = self.symbol(instance, name)
            alone = repeat.count == name
            values[name] = symbol if isinstance(symbol, int) else self.counts.number(symbol, least if alone else 0)
        return max(language.count_value(repeat.count, values), least)

    def symbol(self, instance: str, name: str) -> Symbol | int:
        component = self.component[instance]
        if name in component.params:
            placed = self.placed(self.instances[instance])["params"][name]
            return int(placed["value"]) if "value" in placed else ("field", placed["field"])
        connect = self.outgoing[instance, name][0]
        answering = self.instances[connect.target.root]
        bound = tuple(sorted((key, str(value)) for key, value in self.placed(answering).get("params", {}).items()))
        return ("call", answering.component, bound, connect.target.leaf)

    def stages(self, instance: str, port: str) -> int:
        local = self.placed(self.instances[instance]).get("locals", {}).get(port)
        if local is not None:
            return local["stages"]
        connects = self.outgoing.get((instance, port)) or [self.incoming[instance, port]]
        return self.placed(connects[0])["stages"]

    # ---------------------------------------------------------------- from protocols to operations

    def run(self, mover: Mover, instance: str, of: str, block: Block, limit: Callers | None, leave: list[Any]) -> None:
        for step in block:
            if len(mover.ops) > MAX_OPS:
                raise UnsupportedError(f"more than {MAX_OPS} operations")
            self.step(mover, instance, of, step, limit, leave)

    def step(self, mover: Mover, instance: str, of: str, step: Step, limit: Callers | None, leave: list[Any]) -> None:
        match step:
            case Action():
                self.action(mover, instance, step, narrower(step.by, limit), leave)
            case Repeat():
                for _ in range(self.count(instance, step, (mover.instance, mover.role))):
                    self.run(mover, instance, of, step.body, limit, leave)
            case Until():
                start = len(mover.ops)
                inner: list[Any] = [f"{instance}::{step.port}", []]
                self.run(mover, instance, of, step.body, limit, [*leave, inner])
                mover.ops.append(("jump", start))
                for at in inner[1]:
                    mover.ops[at] = (*mover.ops[at][:-1], len(mover.ops))
            case Choose():
                if leave:
                    raise UnsupportedError("a choice inside of 'until'")
                group = mover.first // 4 if self.orders(mover.instance, mover.role) else 0
                symbol: Symbol = ("choose", step.name or (instance, of, step.column, group))
                key = (id(mover), symbol)
                nth = self.choices.get(key, 0)
                self.choices[key] = nth + 1
                chosen = self.counts.way(symbol, len(step.ways), nth)
                self.run(mover, instance, of, step.ways[chosen], limit, leave)
            case Rank():
                if step.rank == mover.cta:
                    self.run(mover, instance, of, step.body, limit, leave)
            case Fence():
                if taking_part(mover, limit)[0]:
                    mover.ops.append(("fence",))

    def action(self, mover: Mover, instance: str, action: Action, by: Callers | None, leave: list[Any]) -> None:
        component = self.component[instance]
        port = component.ports.get(action.subject)
        if action.verb == "call":
            for callee, answer, _ in self.callees(instance, (action,)):
                self.run(mover, callee, answer, self.protocol(callee, answer).body, by, leave)
            return
        threads, warps = taking_part(mover, by)
        if not threads:
            if port is not None and port.kind == "stream" and port.direction != "local":
                self.leave_to_others(mover, instance, port, action)
            return
        if port is not None:
            self.port_action(mover, instance, port, action, threads, warps, leave)
        elif action.subject in component.barriers:
            placed = self.placed(self.instances[instance])["barriers"][action.subject]
            declared = component.barriers[action.subject].threads
            name = f"{instance}::{action.subject}"
            self.barrier(mover, name, placed, declared, threads, warps, action.verb == "sync")
        elif action.subject in component.cluster_barriers:
            use = self.cluster_barrier(mover.cta, instance, action.subject)
            arrivals = arrivals_of(mover, use.unit, threads, warps)
            for other in range(self.ctas):  # lanes arrive in no order; its own CTA may go on before the others know
                target = (mover.cta + other) % self.ctas
                mover.ops.append(("summon", use.index, target, arrivals))
            mover.ops.append(("gather", use.index))
        elif action.subject in component.turns:
            self.turn(mover, instance, action.subject, action.verb, threads, warps)
        elif action.verb.startswith("peer_"):
            if not self.joined:
                raise Fault(f"{mover.name} reaches into a CTA that may not have begun, or have ended")
            self.touched.add((instance, action.subject))
            uses = self.peers(instance, action.subject, "w" if action.verb == "peer_write" else "r")
            mover.mentions |= set(uses)
            mover.ops += [("enter", uses[0], uses), ("leave", uses[0], uses)]
        elif action.subject in component.smem:
            self.touched.add((instance, action.subject))
            address = self.placed(self.instances[instance])["smem"][action.subject]
            size = component.smem[action.subject].bytes
            mode = "w" if action.verb == "write" else "r"
            use = self.buffer(mover.cta, f"{instance}::{action.subject}", address, size, mode)
            use.divided = not (component.barriers or component.cluster_barriers or component.turns)
            kept = self.stores_kept(instance, action.subject)
            use.stored, use.slices = bool(kept), 1 + max(kept, default=0)
            if action.verb == "store":
                mover.ops.append(("store", use.index, threads))
            elif action.verb == "stored":
                mover.ops.append(("stored", use.index, action.keep, threads))
            else:
                self.touch(mover, use)
        elif action.subject in component.tmem:
            column = self.placed(self.instances[instance])["tmem"][action.subject]
            size = component.tmem[action.subject].columns
            mode = "w" if action.verb == "write" else "r"
            self.touch(mover, self.buffer(mover.cta, f"{instance}::{action.subject}", column, size, mode, "tmem"))
        elif action.subject in component.mbarriers:
            if action.verb == "wait":
                mover.ops.append(("seen", self.mbarrier(mover.cta, instance, action.subject, "waits").index))
                return
            use = self.mbarrier(mover.cta, instance, action.subject, "arrives")
            own = arrivals_of(mover, "thread" if action.by is None else action.by.unit, threads, warps)
            if own > 1:  # before its slowest thread is done with the buffer that it touched last
                at = len(mover.ops) - (bool(mover.ops) and mover.ops[-1][0] == "finish")
                mover.ops.insert(at, ("reach", use.index, own - 1, False))
            mover.ops.append(("reach", use.index, min(own, 1), True))
        else:
            raise UnsupportedError(f"{action.subject}.{action.verb}")

    def leave_to_others(self, mover: Mover, instance: str, port: Port, action: Action) -> None:
        """Others of the role take a slot, or give it back, for these warps too.

        If these warps give it back themselves, they use it from where they next meet somebody (or at once, there) on.
        If others give back what these have taken, they use it until they last meet somebody before, or until here."""
        if port.direction == "out" and (instance, port.name) not in self.outgoing:
            return
        use = self.use(mover.cta, instance, port, "out" if port.direction == "out" else "in")
        if action.verb in ("wait", "acquire"):
            mover.joining.append([use.index, None])
        elif action.verb in ("release", "commit"):
            waiting = [join for join in mover.joining if join[0] == use.index]
            for join in waiting:
                mover.joining.remove(join)
                mover.ops.append(("skip", use.index))
            at = len(mover.ops)
            for index in range(at - 1, -1, -1):
                if mover.ops[index][0] in ("wait", "acquire", "join") and mover.ops[index][1] == use.index:
                    break
                if mover.ops[index][0] == "meet":
                    at = index
                    break
            mover.ops.insert(at, ("yield", use.index, action.keep))

    def join(self, mover: Mover, use: Use) -> None:
        """The mover gives back slots that others took for it: so it used them."""
        for join in [join for join in mover.joining if join[0] == use.index]:
            mover.joining.remove(join)
            mover.ops.insert(len(mover.ops) if join[1] is None else join[1], ("join", use.index))

    def touch(self, mover: Mover, use: Use) -> None:
        mover.ops += [("begin", use.index), ("finish", use.index)]

    def barrier(
        self, mover: Mover, name: str, placed: dict[str, Any], declared: int, threads: int, warps: int, sync: bool
    ) -> None:
        at = (mover.cta, placed["id"])
        self.barrier_ids[at] = None
        mover.ops.append(("meet", at, placed["threads"], threads, warps, name, declared))
        if sync:
            mover.ops.append(("met", at))
            for join in mover.joining:
                join[1] = join[1] or len(mover.ops)

    def port_action(
        self, mover: Mover, instance: str, port: Port, action: Action, threads: int, warps: int, leave: list[Any]
    ) -> None:
        verb, keep = action.verb, None if action.some else action.keep
        if port.kind == "signal":
            mover.ops.append((verb, self.signal(mover.cta, instance, port).index))
            return
        if port.kind not in ("stream", "token"):
            raise UnsupportedError(f"{port.kind} port")
        if verb in ("read", "write"):
            return  # between taking a slot and giving it back it counts as touched anyhow
        if port.direction == "local":
            self.local_action(mover, instance, port, verb, action.keep)
            return
        if port.kind == "stream" and port.direction == "out" and (instance, port.name) not in self.outgoing:
            return
        use = self.use(mover.cta, instance, port, "out" if port.direction == "out" else "in")
        arrivals = arrivals_of(mover, use.unit, threads, warps)
        if verb in ("commit", "copy", "release"):
            self.join(mover, use)
        match verb:
            case "acquire":
                mover.ops.append(("acquire", use.index, threads if use.unit == "tx" else 0))
                self.staged(mover, instance, port, before=True)
            case "copy":
                mover.ops.append(("copy", use.index, keep))
            case "commit":
                converted = self.staged(mover, instance, port, before=False)
                last = self.early(mover, use, keep, arrivals)
                mover.ops.append(("commit", use.index, keep, last))
                if converted is not None:
                    mover.ops.append(("finish", converted.index))
                    self.staging_barrier(mover, instance, port)
            case "end":
                mover.ops.append(("end", use.index, arrivals))
            case "wait":
                at = len(mover.ops)
                mover.ops.append(("wait", use.index, arrivals, None))
                for port_name, places in reversed(leave):
                    if port_name == use.name:
                        places.append(at)
                        break
            case "release":
                last = self.early(mover, use, keep, arrivals)
                mover.ops.append(("release", use.index, keep, last))
            case "pass":
                last = self.early(mover, use, 0, arrivals)
                mover.ops.append(("pass", use.index, last))
            case "take":
                mover.ops.append(("take", use.index))
            case _:
                raise UnsupportedError(f"{port.name}.{verb}")

    def early(self, mover: Mover, use: Use, keep: int | None, arrivals: int) -> int:
        """Of several arrivals the last is the mover's slowest warp: the others can come before it is done.  Two CTAs
        have too many states for that."""
        if arrivals > 1 and self.ctas == 1:
            mover.ops.append(("early", use.index, keep, arrivals - 1))
            return 1
        return arrivals

    def staging(self, mover: Mover, instance: str, port: Port, mode: str) -> Use | None:
        placed = self.placed(self.outgoing[instance, port.name][0])
        if placed["transfer"] != "ring.threads.convert":
            return None
        one = placed["staging"][0]
        return self.buffer(mover.cta, f"{instance}::{port.name} staging", one["address"], one["bytes"], mode)

    def staging_barrier(self, mover: Mover, instance: str, port: Port) -> None:
        placed = self.placed(self.outgoing[instance, port.name][0])["barrier"]
        declared = 32 * self.component[mover.instance].roles[mover.role].warps
        self.barrier(
            mover, f"{instance}::{port.name} conversion", placed, declared, mover.threads, mover.warps, sync=True
        )

    def staged(self, mover: Mover, instance: str, port: Port, *, before: bool) -> Use | None:
        """A converted slot is written to a staging tile first, then all threads move it to its place."""
        use = self.staging(mover, instance, port, "w" if before else "r")
        if use is None:
            return None
        if before:
            mover.ops.append(("begin", use.index))
            return None
        written = self.staging(mover, instance, port, "w")
        assert written is not None
        mover.ops.append(("finish", written.index))
        self.staging_barrier(mover, instance, port)
        mover.ops.append(("begin", use.index))
        return use

    def local_action(self, mover: Mover, instance: str, port: Port, verb: str, keep: int) -> None:
        fill, drain = self.use(mover.cta, instance, port, "fill"), self.use(mover.cta, instance, port, "drain")
        placed = self.placed(self.instances[instance])["locals"][port.name]
        match verb:
            case "acquire":
                mover.ops.append(("issue", fill.index))
            case "commit":
                mover.ops.append(("group", fill.index, keep))
            case "wait":
                mover.ops.append(("arrived", fill.index, max(placed["stages"] - 2, 0)))
                declared = 32 * self.component[mover.instance].roles[mover.role].warps
                self.barrier(
                    mover,
                    f"{instance}::{port.name}",
                    placed["barrier"],
                    declared,
                    mover.threads,
                    mover.warps,
                    sync=True,
                )
                mover.ops.append(("fetch", drain.index))
            case _:
                mover.ops.append(("drop", drain.index, keep))

    # ---------------------------------------------------------------- how often elastic roles run

    def settle(self) -> None:
        """A role without a protocol runs as often as its partners want: from the partners' counts, where they are
        known, else from one free count."""
        roles = [(i, r) for i, component in self.component.items() for r in component.roles]
        loops = {key: _elastic(self.protocol(*key).body) for key in roles}
        rates = {key: (self.tally(key, 0), self.tally(key, 1)) for key in roles}
        self.elastic = {key: 0 for key in roles if not loops[key]}
        waiting = [key for key in roles if loops[key]]
        while waiting:
            for key in list(waiting):
                if (n := self.wanted(key, rates)) is not None:
                    self.elastic[key] = n
                    waiting.remove(key)
                    break
            else:
                free = waiting.pop(0)
                taken = self.taken(*free)
                if any(rates[other][1].get(ring, 0) is None for ring in taken for other in self.users(ring)):
                    raise UnsupportedError("as often as a stream has items before its end")
                self.elastic[free] = self.counts.number(("elastic",))

    def wanted(self, key: tuple[str, str], rates: dict[tuple[str, str], Any]) -> int | None:
        none, one = rates[key]
        for port, n in one.items():
            each = n - none.get(port, 0)
            for other in self.users(port) - {key}:
                fixed, once = rates[other]
                if other not in self.elastic or each <= 0 or (port in self.tokens and port not in once):
                    continue  # a token that nobody takes
                if once.get(port, 0) is None or fixed.get(port, 0) is None:
                    continue
                first = fixed.get(port, 0)
                total = first + self.elastic[other] * (once.get(port, 0) - first)
                return max(total - none.get(port, 0), 0) // each
        return None

    def taken(self, instance: str, role: str) -> set[str]:
        """The rings that a role waits for."""
        actions = self.inlined(instance, self.protocol(instance, role).body)
        ends = [self.incoming.get((owner, a.subject)) for owner, a in actions if a.verb in ("wait", "take")]
        return {f"{connect.source.root}::{connect.source.leaf}" for connect in ends if connect is not None}

    def users(self, ring: str) -> set[tuple[str, str]]:
        """Roles that use a ring or token: those that its ports belong to, and those that reach it by calls."""
        found: set[tuple[str, str]] = set()
        for connect in self.kernel.connects:
            if f"{connect.source.root}::{connect.source.leaf}" != ring:
                continue
            for end in (connect.source, connect.target):
                component = self.component[end.root]
                role = component.role_of(component.ports[end.leaf])
                found |= {(end.root, role.name)} if role is not None else self.callers(end.root, end.leaf)
        return found

    def callers(self, instance: str, port: str) -> set[tuple[str, str]]:
        return {
            (owner, role)
            for owner, component in self.component.items()
            for role in component.roles
            for where, action in self.inlined(owner, self.protocol(owner, role).body)
            if (where, action.subject) == (instance, port)
        }

    def tally(self, role: tuple[str, str], n: int) -> dict[str, int | None]:
        """Items of each ring that a role makes or takes when its elastic loop runs n times; None: until the end."""
        found: dict[str, Any] = {}
        held: dict[str, int] = {}
        chosen: dict[Symbol, int] = {}

        def ring(instance: str, step: Action) -> str | None:
            port = (instance, step.subject)
            connect = self.incoming.get(port) or next(iter(self.outgoing.get(port, [])), None)
            return None if connect is None else f"{connect.source.root}::{connect.source.leaf}"

        def add(key: str | None, k: int | None) -> None:
            if key is not None:
                found[key] = None if k is None or found.get(key, 0) is None else found.get(key, 0) + k

        def walk(instance: str, of: str, block: Block, dynamic: bool) -> None:
            for step in block:
                match step:
                    case Repeat():
                        for _ in range(n if step.count is None else self.count(instance, step, role)):
                            walk(instance, of, step.body, dynamic)
                    case Until():
                        walk(instance, of, step.body, True)
                    case Choose():
                        symbol: Symbol = ("choose", step.name or (instance, of, step.column))
                        chosen[symbol] = chosen.get(symbol, -1) + 1
                        walk(instance, of, step.ways[self.counts.way(symbol, len(step.ways), chosen[symbol])], dynamic)
                    case Rank():
                        if step.rank == 0:
                            walk(instance, of, step.body, dynamic)
                    case Action(verb="call"):
                        for callee, answer, _ in self.callees(instance, (step,)):
                            walk(callee, answer, self.protocol(callee, answer).body, dynamic)
                    case Action(verb="acquire"):
                        held[f"{instance}::{step.subject}"] = held.get(f"{instance}::{step.subject}", 0) + 1
                    case Action(verb="commit" | "copy"):
                        own = held.get(f"{instance}::{step.subject}", 0)
                        held[f"{instance}::{step.subject}"] = min(own, step.keep)
                        add(ring(instance, step), None if dynamic else max(own - step.keep, 0))
                    case Action(verb="wait" | "take" | "pass"):
                        add(ring(instance, step), None if dynamic else 1)
                    case _:
                        pass

        for instance, action in self.inlined(role[0], self.protocol(*role).body):
            if action.verb in ("acquire", "wait", "take", "pass"):
                add(ring(instance, action), 0)
        walk(*role, self.protocol(*role).body, False)
        return found

    # ---------------------------------------------------------------- all of it

    def build(self) -> Machine:
        self.settle()
        groups = {group.name: [(ref.root, ref.leaf) for ref in group.roles] for group in self.kernel.exclusives}
        shared = {role for roles in groups.values() for role in roles}
        for cta in range(self.ctas):
            for instance, component in self.component.items():
                for role in component.roles:
                    if (instance, role) in shared:
                        continue
                    for first, end in itertools.pairwise(sorted(self.edges(instance, role))):
                        mover = self.mover(cta, instance, role, first, end)
                        self.run_role(mover)
                        self.movers.append(mover)
            for name, roles in groups.items():
                self.take_turns(cta, name, roles)
        self.name_writers()
        layout = Layout(self.kernel, self.components, self.ctas)
        return layout.memory(self.movers, self.uses, list(self.barrier_ids), self.touched)

    def mention(self, mover: Mover, instance: str, body: Block) -> None:
        """Ports that the protocol names, whether or not it comes to them."""
        for owner, action in self.inlined(instance, body):
            port = self.component[owner].ports.get(action.subject)
            if port is None or port.kind not in ("stream", "token"):
                continue
            sides = ("fill", "drain") if port.direction == "local" else (port.direction,)
            if port.direction == "out" and (owner, port.name) not in self.outgoing:
                continue
            mover.mentions |= {self.use(mover.cta, owner, port, side).index for side in sides}
        component = self.component[instance]
        for port in component.ports.values():  # streams that nobody reads are missed, too
            role = component.role_of(port)
            if (port.kind, port.direction) == ("stream", "in") and role is not None and role.name == mover.role:
                mover.mentions.add(self.use(mover.cta, instance, port, "in").index)

    def name_writers(self) -> None:
        for use in self.uses:
            if use.kind in ("out", "in", "local") and not use.parts:
                use.parts = tuple(
                    ("mover", mover.name)
                    for mover in self.movers
                    if any(
                        op[0] in ("acquire", "join", "issue")
                        and self.uses[op[1]].owner == use.owner
                        and (self.uses[op[1]].cta == use.cta or self.uses[op[1]].function == "pair")
                        for op in mover.ops
                    )
                )


def _elastic(block: Block) -> bool:
    return any(isinstance(step, Repeat) and step.count is None for step in language.steps_of(block))
