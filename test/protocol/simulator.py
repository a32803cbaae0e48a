"""A brute-force simulator of small placed kernels, which judges what pass ``prove`` says.

Every interleaving of the movers of :mod:`test.protocol.programs` is tried, with the mbarriers, named barriers, bulk
copies and groups of cp.async of the PTX ISA as state.  Nothing is concluded from an order of events: a fault is a state
in which something has gone wrong.  Two who touch the same bytes at once, of whom one writes; bytes that do not hold the
item that their reader expects, counted from the start; a token taken before it was passed; a barrier completed by
others than those it was declared for; everybody waits; the CTA ends with a copy in flight or an item nobody has read.

mbarrier (PTX ISA 9.7.13.15): an arrival lowers the pending count, copies lower the bytes expected; when both are zero
the phase completes, its parity flips, and the pending count is what it was initialised with.  A wait for parity p goes
on while the current phase's parity is not p.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from test.protocol import clusters, stores
from test.protocol.machine import COMMITS, CURSORS, FIELDS, GROUPS, HELD, ITEMS, MET, Fault, Machine, Mover, Use

State = tuple[Any, ...]
PAIR_RANK = 0  # the CTA whose barriers a pair uses


class Simulator:
    def __init__(self, machine: Machine, parities: Mapping[int, int]) -> None:
        self.machine = machine
        self.uses, self.movers = machine.uses, machine.movers
        self.mbarrier = {at: index for index, at in enumerate(machine.mbarriers)}
        self.arrivals = list(machine.mbarriers.values())
        self.barrier = {at: index for index, at in enumerate(machine.barriers)}
        self.ctas = 1 + max((mover.cta for mover in self.movers), default=0)
        self.mbarriers_at = FIELDS * len(self.movers)
        self.barriers_at = self.mbarriers_at + len(self.arrivals)
        self.cells_at = self.barriers_at + len(self.barrier)
        self.jobs_at = self.cells_at + machine.cells * self.ctas
        self.bare_at = self.jobs_at + 1  # buffers written by whom, without a fence since
        self.passers = {
            use.owner: [
                (i, use.index) for i, m in enumerate(self.movers) if any(op[:2] == ("pass", use.index) for op in m.ops)
            ]
            for use in self.uses
            if use.kind == "token_out"
        }
        self.givers = {
            use.owner: [(i, use.index) for i, m in enumerate(self.movers) if ("signal", use.index) in m.ops]
            for use in self.uses
            if use.kind == "signal"
        }
        self.parity = parities

    # ---------------------------------------------------------------- states

    def start(self) -> State:
        state: list[Any] = []
        for _ in self.movers:
            state += [0, (), (), (), 0, (), (), ()]
        state += [(count, 0, 0) for count in self.arrivals]
        state += [(0, (), 0)] * len(self.barrier)
        state += [None] * (self.machine.cells * self.ctas)
        for cell, value in self.machine.words.items():
            state[self.cells_at + cell] = ("word", value)
        state += [(), frozenset()]
        return tuple(state)

    def final(self, state: State) -> tuple[str, str] | None:
        waiting = [
            f"{mover.name} at {self.describe(mover.ops[state[FIELDS * i]])}"
            for i, mover in enumerate(self.movers)
            if state[FIELDS * i] < len(mover.ops)
        ]
        if waiting:
            last = [
                mover.ops[state[FIELDS * i]][0]
                for i, mover in enumerate(self.movers)
                if state[FIELDS * i] < len(mover.ops)
            ]
            return "signal" if "await" in last else "deadlock", "; ".join(waiting)
        made: dict[tuple[str, int], set[int]] = {}
        read: dict[tuple[str, int], list[tuple[str, int]]] = {}
        for i, _ in enumerate(self.movers):
            items = dict(state[FIELDS * i + ITEMS])
            for index, number in items.items():
                if index < 0:
                    continue
                use = self.uses[index]
                count = number - items.get(-1 - index, 0)
                if use.kind == "out":
                    uncommitted = sum(entry[0] == index for entry in state[FIELDS * i + HELD])
                    made.setdefault((use.owner, use.cta), set()).add(count - uncommitted)
                elif use.kind == "in":
                    read.setdefault((use.owner, use.cta), []).append((use.name, count))
        for key, counts in made.items():
            if len(counts) > 1:
                return "lost", f"{key[0]}: its writers made {sorted(counts)} items"
        for index in sorted({index for mover in self.movers for index in mover.mentions}):
            use = self.uses[index]
            if use.kind != "in" or use.function == "pair":
                continue
            key = (use.owner, use.cta)
            total = max(made.get(key, {0}))
            for name, count in read.get(key, []) or [(use.name, 0)]:
                if count != total:
                    return "lost", f"{name}: {count} items read of {total}"
        return None

    def describe(self, op: tuple[Any, ...]) -> str:
        if op[0] in ("met", "meet"):
            return f"barrier {op[1][1]}"
        return op[0] if op[0] in ("jump", "settle", "fence") else f"{op[0]} {self.uses[op[1]].name}"

    # ---------------------------------------------------------------- transitions

    def successors(self, state: State) -> Iterator[tuple[str, State]]:
        # what changes nothing for others and stays possible goes first, alone
        for i, mover in enumerate(self.movers):
            pc = state[FIELDS * i]
            if pc < len(mover.ops):
                op = mover.ops[pc]
                if op[0] == "jump" or (op[0] == "met" and self.ready(state, i, mover, op)):
                    s = list(state)
                    s[FIELDS * i] = op[1] if op[0] == "jump" else pc + 1
                    yield mover.name, tuple(s)
                    return
        alive = False
        for i, mover in enumerate(self.movers):
            pc = state[FIELDS * i]
            if pc >= len(mover.ops):
                continue
            alive = True
            op = mover.ops[pc]
            self.label = f"{mover.name}: {self.describe(op)}"
            if self.ready(state, i, mover, op):
                s = list(state)
                s[FIELDS * i] = pc + 1
                self.do(s, i, mover, op)
                yield self.label, tuple(s)
        jobs = state[self.jobs_at]
        pending = any(state[FIELDS * i + COMMITS] for i in range(len(self.movers)))
        if not alive and jobs and self.ctas == 1:
            self.label = "all roles have ended"
            raise Fault(f"the CTA ends while a copy into {self.uses[jobs[0][0]].name} is in flight")
        for job in dict.fromkeys(jobs):
            use = self.uses[job[0]]
            self.label = f"copy of {use.name} item {job[2]} arrives"
            s = list(state)
            rest = list(jobs)
            rest.remove(job)
            s[self.jobs_at] = tuple(rest)
            self.land(s, use, job)
            yield self.label, tuple(s)
        if pending:
            for i, mover in enumerate(self.movers):
                queue = state[FIELDS * i + COMMITS]
                if queue:
                    self.label = f"{mover.name}: tensor cores are done"
                    s = list(state)
                    s[FIELDS * i + COMMITS] = queue[1:]
                    self.tensor_cores(s, i, mover, queue[0])
                    yield self.label, tuple(s)

    def cursor(self, state: Any, i: int, use: Use) -> tuple[int, int]:
        return dict(state[FIELDS * i + CURSORS]).get(use.cursor, (0, self.parity.get(use.cursor, 0)))

    def advance(self, s: list[Any], i: int, use: Use) -> tuple[int, int]:
        """The stage at the cursor, and the number of the item that belongs there; both go on by one."""
        cursors = dict(s[FIELDS * i + CURSORS])
        stage, parity = cursors.get(use.cursor, (0, self.parity.get(use.cursor, 0)))
        following = stage + 1
        cursors[use.cursor] = (0, parity ^ 1) if following == use.stages else (following, parity)
        s[FIELDS * i + CURSORS] = tuple(sorted(cursors.items()))
        return stage, self.next_item(s, i, use)

    def next_item(self, s: list[Any], i: int, use: Use) -> int:
        items = dict(s[FIELDS * i + ITEMS])
        item = items.get(use.counted, 0)
        items[use.counted] = item + 1
        s[FIELDS * i + ITEMS] = tuple(sorted(items.items()))
        return item

    def items(self, state: Any, i: int, use: Use) -> int:
        """How many items a mover has had of a use."""
        return dict(state[FIELDS * i + ITEMS]).get(use.counted, 0)

    def passed(self, state: Any, cta: int, address: int, parity: int) -> bool:
        index = self.mbarrier.get((cta, address))
        if index is None:
            raise Fault(f"a wait at {address}, where no mbarrier was initialised")
        return state[self.mbarriers_at + index][2] % 2 != parity

    def ready(self, state: State, i: int, mover: Mover, op: tuple[Any, ...]) -> bool:
        kind = op[0]
        if kind in ("acquire", "end"):
            use = self.uses[op[1]]
            stage, parity = self.cursor(state, i, use)
            return self.passed(state, use.cta, use.empty + 8 * stage, parity ^ 1)
        if kind in ("wait", "take"):
            use = self.uses[op[1]]
            stage, parity = self.cursor(state, i, use)
            return self.passed(state, use.cta, use.full + 8 * stage, parity)
        if kind == "seen":
            use = self.uses[op[1]]
            stage, parity = self.cursor(state, i, use)
            return self.passed(state, use.cta, use.full + 8 * stage, parity)
        if kind == "gather":
            use = self.uses[op[1]]
            return self.passed(state, use.cta, use.full, self.cursor(state, i, use)[1])
        if kind == "await":
            use = self.uses[op[1]]
            item = self.items(state, i, use)
            givers = [giver for source in use.sources for giver in self.givers.get(source, [])]
            return bool(givers) and all(self.items(state, j, self.uses[index]) > item for j, index in givers)
        if kind == "met":
            return state[self.barriers_at + self.barrier[op[1]]][2] > state[FIELDS * i + MET]
        return True

    def do(self, s: list[Any], i: int, mover: Mover, op: tuple[Any, ...]) -> None:
        kind = op[0]
        at = FIELDS * i
        if kind == "meet":
            self.meet(s, i, mover, op)
            return
        if kind == "settle":  # between two roles of an exclusive group, copies by cp.async are waited for
            for entry in (entry for group in s[at + GROUPS] for entry in group):
                s[at + HELD] = tuple(held for held in s[at + HELD] if held != entry)
                self.fill(s, self.uses[entry[0]], entry, ("mover", mover.name))
            s[at + GROUPS] = ()
            return
        if kind == "fence":  # what was written before, by whomever this thread could know it from
            s[self.bare_at] = frozenset()
            return
        use = self.uses[op[1]]
        match kind:
            case "acquire":
                stage, item = self.advance(s, i, use)
                if use.end is not None:
                    self.word(s, i, use, stage, 0)
                if op[2]:
                    self.expect(s, use, stage, op[2])
                else:
                    self.hold(s, i, use, stage, item)
                    return
                s[at + HELD] = (*s[at + HELD], (use.index, stage, item))
            case "copy":
                for entry in self.oldest(s, i, use, op[2]):
                    self.copy(s, i, use, entry)
            case "commit":
                for entry in self.oldest(s, i, use, op[2]):
                    if use.unit == "commit":
                        s[at + COMMITS] = (*s[at + COMMITS], entry)
                        s[at + HELD] = (*s[at + HELD], entry)  # until the tensor cores are done
                        continue
                    self.fill(s, use, entry, ("mover", mover.name))
                    self.arrive(s, use.cta, use.full + 8 * entry[1], op[3])
            case "end":
                stage, item = self.advance(s, i, use)
                self.note_end(s, i, use)
                self.word(s, i, use, stage, 1)
                self.arrive(s, use.cta, use.full + 8 * stage, op[2])
            case "wait":
                stage, item = self.advance(s, i, use)
                if use.end is not None:
                    value = s[self.cells_at + use.word_cells[stage]]
                    if value not in (("word", 0), ("word", 1)):
                        raise Fault(f"{mover.name}: the end mark of {use.name}[{stage}] was overwritten by {value}")
                    if value[1] and op[3] is not None:  # `ended` gives the mark's slot back
                        self.note_end(s, i, use)
                        self.give_back(s, use, stage, op[2], mover)
                        s[at] = op[3]
                        return
                self.hold(s, i, use, stage, item)
                self.expect_item(s, mover, use, stage, item)
            case "release":
                for entry in self.oldest(s, i, use, op[2]):
                    if use.unit == "commit":
                        s[at + COMMITS] = (*s[at + COMMITS], entry)
                        s[at + HELD] = (*s[at + HELD], entry)
                        continue
                    self.give_back(s, use, entry[1], op[3], mover)
            case "early":
                if use.kind == "token_out":
                    self.arrive(s, use.cta, use.full, op[3])
                    return
                for entry in self.next_to_go(s, i, use, op[2]):
                    if use.mode == "w":
                        self.arrive(s, use.cta, use.full + 8 * entry[1], op[3])
                    else:
                        self.give_back(s, use, entry[1], op[3], mover)
            case "yield":
                for entry in self.oldest(s, i, use, op[2]):
                    if use.mode == "w":
                        self.fill(s, use, entry, ("mover", mover.name))
            case "skip":
                self.next_item(s, i, use)
            case "join":  # without waiting, and without moving the thread's own cursor
                item = self.next_item(s, i, use)
                self.hold(s, i, use, item % use.stages, item)
                if use.mode == "r":
                    self.expect_item(s, mover, use, item % use.stages, item)
            case "pass":
                self.next_item(s, i, use)
                self.arrive(s, use.cta, use.full, op[2])
            case "take":
                stage, item = self.advance(s, i, use)
                self.taken(s, mover, use, item)
            case "reach":
                stage = self.items(s, i, use) % use.stages
                if op[3]:
                    self.next_item(s, i, use)
                self.arrive(s, use.cta, use.full + 8 * stage, op[2])
            case "seen":
                stage, item = self.advance(s, i, use)
                phases = s[self.mbarriers_at + self.mbarrier[use.cta, use.full + 8 * stage]][2]
                if phases != item // use.stages + 1:
                    raise Fault(
                        f"{mover.name} waits for phase {item // use.stages} of {use.name}, {phases} are complete"
                    )
            case "signal" | "await":
                self.next_item(s, i, use)
            case "summon":
                self.arrive(s, op[2], use.full, op[3])
            case "gather":
                self.advance(s, i, use)
            case "enter" | "leave":
                uses = [self.uses[index] for index in op[2]]
                (clusters.enter if kind == "enter" else clusters.leave)(self, s, i, uses)
            case "begin":
                self.hold(s, i, use, 0, 0)
                self.expect_owner(s, mover, use)
            case "finish":
                held = list(s[at + HELD])
                if (use.index, 0, 0) in held:
                    held.remove((use.index, 0, 0))
                    s[at + HELD] = tuple(held)
                    if use.mode == "w":
                        for cell in use.cells[0]:
                            s[self.cells_at + cell] = (use.owner, ())
                        if use.stored:
                            s[self.bare_at] |= {(use.cta, use.owner, i)}
            case "store":
                self.store(s, i, use, op[2])
            case "stored":
                stores.wait(s, i, use, op[2], op[3])
            case "issue":
                stage, item = self.advance(s, i, use)
                self.hold(s, i, use, stage, item)
            case "group":
                grouped = {entry for group in s[at + GROUPS] for entry in group}
                open_ = [e for e in s[at + HELD] if e[0] == use.index and e not in grouped]
                s[at + GROUPS] = (*s[at + GROUPS], tuple(open_[: max(len(open_) - op[2], 0)]))
            case "arrived":
                groups = s[at + GROUPS]
                done = max(len(groups) - op[2], 0)
                for entry in (entry for group in groups[:done] for entry in group):
                    held = list(s[at + HELD])
                    held.remove(entry)
                    s[at + HELD] = tuple(held)
                    self.fill(s, self.uses[entry[0]], entry, ("mover", mover.name))
                s[at + GROUPS] = groups[done:]
            case "fetch":
                stage, item = self.advance(s, i, use)
                self.hold(s, i, use, stage, item)
                self.expect_item(s, mover, use, stage, item)
            case "drop":
                self.oldest(s, i, use, op[2])
            case _:
                raise AssertionError(kind)

    # ---------------------------------------------------------------- memory

    def next_to_go(self, s: list[Any], i: int, use: Use, keep: int | None) -> list[tuple[int, int, int]]:
        """The oldest held slots of a port but the last ``keep``; None: all, and at least one."""
        queued = s[FIELDS * i + COMMITS]
        own = [entry for entry in s[FIELDS * i + HELD] if entry[0] == use.index and entry not in queued]
        if keep is None and not own:
            raise Fault(f"{self.movers[i].name} gives back a slot of {use.name} and holds none")
        return own[: max(len(own) - (keep or 0), 0)]

    def note_end(self, s: list[Any], i: int, use: Use) -> None:
        """One of the items so far was an end mark."""
        items = dict(s[FIELDS * i + ITEMS])
        items[-1 - use.counted] = items.get(-1 - use.counted, 0) + 1
        s[FIELDS * i + ITEMS] = tuple(sorted(items.items()))

    def oldest(self, s: list[Any], i: int, use: Use, keep: int | None) -> list[tuple[int, int, int]]:
        """Take the oldest held slots of a port from the mover, until ``keep`` are left."""
        gone = self.next_to_go(s, i, use, keep)
        if gone:
            held = list(s[FIELDS * i + HELD])
            for entry in gone:
                held.remove(entry)
            s[FIELDS * i + HELD] = tuple(held)
        return gone

    def holders(self, s: list[Any]) -> Iterator[tuple[int, Use, int, int, int]]:
        """Who touches what: mover (-1: a copy), port, cells, stage, item."""
        for i in range(len(self.movers)):
            for index, stage, item in s[FIELDS * i + HELD]:
                use = self.uses[index]
                if use.unit != "tx" or use.mode == "r":  # what TMA fills is touched by its copies
                    yield i, use, use.masks[stage], stage, item
        for index, stage, item, target, _ in s[self.jobs_at]:
            yield -1, self.uses[index], self.target_mask(self.uses[index], stage, target), stage, item

    def target_mask(self, use: Use, stage: int, target: int) -> int:
        """The cells of a slot that a copy for a CTA writes.  A pair's copies all complete in one, and write at home."""
        if use.function != "cluster":
            return use.masks[stage]
        by = (target - use.cta) * self.machine.cells
        return use.masks[stage] << by if by >= 0 else use.masks[stage] >> -by

    def hold(self, s: list[Any], i: int, use: Use, stage: int, item: int) -> None:
        """The mover begins to touch a slot or buffer.  Nobody else may write what it reads or touch what it writes;
        those who fill one item together, or one buffer of a role, have each their part."""
        self.claim(s, i, use, stage, item, use.masks[stage])
        s[FIELDS * i + HELD] = (*s[FIELDS * i + HELD], (use.index, stage, item))

    def claim(self, s: list[Any], i: int, use: Use, stage: int, item: int, mask: int) -> None:
        writes = use.mode == "w"
        if writes and mask & self.machine.mbarrier_mask:
            raise Fault(f"{use.name}[{stage}] is written over an mbarrier")
        for taken, name in self.machine.taken:
            if taken & mask:
                raise Fault(f"{use.name}[{stage}] lies where {name} is")
        if writes:
            stores.check_write(self.machine, s, i, use, mask)
        for j, other, other_mask, other_stage, other_item in self.holders(s):
            if not (writes or other.mode == "w") or not other_mask & mask:
                continue
            own = other.owner == use.owner and other_item == item
            alike = self.movers[j].cta == self.movers[i].cta or (use.peers and other.peers)
            siblings = j == i or (j >= 0 and self.movers[j].role == self.movers[i].role and alike)
            both_write = writes and other.mode == "w"
            if own and (use.kind != "buffer" or siblings) and (both_write or (use.divided and use.kind == "buffer")):
                continue
            who = self.movers[j].name if j >= 0 else "a copy"
            me = self.movers[i].name if i >= 0 else "a copy"
            verb = {"r": "reads", "w": "writes"}
            raise Fault(
                f"{me} {verb[use.mode]} {use.name}[{stage}] (item {item}) while {who} {verb[other.mode]} "
                f"{other.name}[{other_stage}] (item {other_item})"
            )

    def expect_owner(self, s: list[Any], mover: Mover, use: Use) -> None:
        if use.mode == "r" and any((s[self.cells_at + cell] or ("",))[0] != use.owner for cell in use.cells[0]):
            raise Fault(f"{mover.name} reads {use.name}, which it does not hold: it was not written, or since")

    def store(self, s: list[Any], i: int, use: Use, threads: int) -> None:
        self.claim(s, i, use, 0, 0, use.masks[0])
        self.expect_owner(s, self.movers[i], use)
        stores.begin(self.machine, s, s[self.bare_at], i, use, threads)

    def fill(self, s: list[Any], use: Use, entry: tuple[int, int, int], part: tuple[str, int]) -> None:
        """The slot holds the writer's part of the item."""
        _, stage, item = entry
        for cell in use.cells[stage]:
            now = s[self.cells_at + cell]
            parts = dict(now[1]) if now is not None and now[0] == use.owner else {}
            parts[part] = item
            s[self.cells_at + cell] = (use.owner, tuple(sorted(parts.items())))

    def expect_item(self, s: list[Any], mover: Mover, use: Use, stage: int, item: int) -> None:
        wanted = (use.owner, tuple((part, item) for part in use.parts))
        for cell in use.cells[stage]:
            if s[self.cells_at + cell] != wanted:
                raise Fault(
                    f"{mover.name} reads {use.name}[{stage}] for item {item}: there is {s[self.cells_at + cell]}"
                )

    def word(self, s: list[Any], i: int, use: Use, stage: int, value: int) -> None:
        """An end mark is written, at once."""
        cell = use.word_cells[stage]
        self.claim_word(s, i, use, stage, 1 << cell)
        s[self.cells_at + cell] = ("word", value)

    def claim_word(self, s: list[Any], i: int, use: Use, stage: int, mask: int) -> None:
        for j, _, other_mask, _, _ in self.holders(s):
            if other_mask & mask:
                who = self.movers[j].name if j >= 0 else "a copy"
                raise Fault(f"{self.movers[i].name}: the end mark of {use.name}[{stage}] is in what {who} touches")

    def copy(self, s: list[Any], i: int, use: Use, entry: tuple[int, int, int]) -> None:
        """TMA copies are issued: one job for each barrier they complete on."""
        _, stage, item = entry
        cta = self.movers[i].cta
        total = sum(use.tiles)
        if use.function == "cluster":
            both = sum(use.tiles[part] for part in use.shared) // 2
            jobs = [(cta, total - 2 * both + both), (1 - cta, both)]
        elif use.function == "pair":
            jobs = [(PAIR_RANK, total)]
        elif use.bytes == total:
            jobs = [(cta, total)]
        else:
            jobs = [(cta, tile) for tile in use.tiles]
        for target, amount in jobs:
            self.claim(s, i, use, stage, item, self.target_mask(use, stage, target))
            s[self.jobs_at] = tuple(sorted((*s[self.jobs_at], (use.index, stage, item, target, amount))))

    def land(self, s: list[Any], use: Use, job: tuple[int, ...]) -> None:
        index, stage, item, target, amount = job
        where = use
        if use.function == "cluster" and target != use.cta:
            where = self.twin(use, target)
        unfinished = any(other[:4] == job[:4] for other in s[self.jobs_at])
        if not unfinished:
            self.fill(s, where, (index, stage, item), ("tma", use.cta if use.function == "cluster" else 0))
        self.complete(s, target, use.full + 8 * stage, bytes_=amount)

    def twin(self, use: Use, cta: int) -> Use:
        return next(u for u in self.uses if u.cta == cta and u.name == use.name and u.kind == use.kind)

    # ---------------------------------------------------------------- barriers

    def complete(
        self, s: list[Any], cta: int, address: int, arrivals: int = 0, bytes_: int = 0, expect: int = 0
    ) -> None:
        index = self.mbarrier.get((cta, address))
        if index is None:
            raise Fault(f"an arrival at {address}, where no mbarrier was initialised")
        at = self.mbarriers_at + index
        pending, tx, phase = s[at]
        tx += expect - bytes_
        if not -(1 << 20) < tx < 1 << 20:
            raise Fault(f"the mbarrier at {address} expects {tx} bytes")
        for _ in range(arrivals):
            pending -= 1
            if pending == 0 and tx == 0:
                pending, phase = self.arrivals[index], phase + 1
            elif pending < 0:
                raise Fault(f"an arrival too many at the mbarrier at {address}: bytes are still expected")
        if not arrivals and pending == 0 and tx == 0:
            pending, phase = self.arrivals[index], phase + 1
        s[at] = (pending, tx, phase)

    def arrive(self, s: list[Any], cta: int, address: int, arrivals: int) -> None:
        self.complete(s, cta, address, arrivals)

    def expect(self, s: list[Any], use: Use, stage: int, threads: int) -> None:
        if use.function == "pair":
            if use.cta == PAIR_RANK:
                self.complete(s, PAIR_RANK, use.full + 8 * stage, threads, expect=2 * use.bytes * threads)
            return
        self.complete(s, use.cta, use.full + 8 * stage, threads, expect=use.bytes * threads)

    def give_back(self, s: list[Any], use: Use, stage: int, arrivals: int, mover: Mover) -> None:
        address = use.empty + 8 * stage
        if use.function == "pair":
            self.arrive(s, PAIR_RANK, address, arrivals)
            return
        self.arrive(s, use.cta, address, arrivals)
        if use.function == "cluster":
            self.arrive(s, 1 - use.cta, address, arrivals)

    def tensor_cores(self, s: list[Any], i: int, mover: Mover, entry: tuple[int, int, int]) -> None:
        """What tcgen05.commit stands for: the slot is done with, and its barrier, or those of both CTAs, are told."""
        use = self.uses[entry[0]]
        held = list(s[FIELDS * i + HELD])
        held.remove(entry)
        s[FIELDS * i + HELD] = tuple(held)
        if use.mode == "w":
            self.fill(s, use, entry, ("mover", mover.name))
        address = (use.full if use.mode == "w" else use.empty) + 8 * entry[1]
        for cta in range(self.ctas) if use.function == "pair" else (use.cta,):
            self.arrive(s, cta, address, 1)

    def taken(self, s: list[Any], mover: Mover, use: Use, item: int) -> None:
        for j, index in self.passers.get(use.owner, []):
            if self.uses[index].cta == use.cta:
                passed = dict(s[FIELDS * j + ITEMS]).get(index, 0)
                if passed < item + 1 - use.credit:
                    raise Fault(f"{mover.name} takes token {item} of {use.name}; {self.movers[j].name} passed {passed}")

    def meet(self, s: list[Any], i: int, mover: Mover, op: tuple[Any, ...]) -> None:
        """A warp counts for all of its threads; the barrier completes at the number that the instruction names."""
        _, where, threads, taking, warps, name, declared = op
        if taking != 32 * warps:
            raise Fault(f"{mover.name}: {taking} threads of {warps} warps arrive at barrier {name}")
        if threads % 32 or threads <= 0 or not 0 <= where[1] < 16:
            raise Fault(f"barrier {where[1]} of {threads} threads")
        at = self.barriers_at + self.barrier[where]
        arrived, who, generation = s[at]
        s[FIELDS * i + MET] = generation
        if any(other[1:] != (name, threads) for other in who):
            raise Fault(
                f"{mover.name} arrives at barrier {where[1]} as {name}, {threads} threads; others came as {who}"
            )
        if any(other[0] == i for other in who):
            raise Fault(f"{mover.name} arrives twice at barrier {name} before it completes")
        arrived += taking
        if arrived > threads:
            raise Fault(f"{arrived} threads at barrier {name}, which is for {threads}")
        if arrived == threads:
            if threads != declared:
                raise Fault(f"barrier {name} completes at {threads} threads, it was declared for {declared}")
            s[at] = (0, (), generation + 1)
        else:
            s[at] = (arrived, tuple(sorted((*who, (i, name, threads)))), generation)
