"""Part of ``prove``: what can be decided about a placed kernel without following its roles step by step.

Registers, warps and barriers, memory, fences and scopes, residency, peers, and whether what is placed in one place
because it excludes each other really does.  ``check`` and ``place`` see to most of it where they ran; here the placed
IR is taken as it comes.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from typing import Any

from pipelink.analysis.protocol.language import actions_of, place_of, protocol_of
from pipelink.contract.vocabulary import TOUCHES
from pipelink.ir.attributes import SymbolRef
from pipelink.ir.placement import KernelPlacement, RingPlacement, TokenPlacement
from pipelink.ir.views import Component, Connect, Kernel, Port, Program
from pipelink.model.demand import Scope, spelled
from pipelink.model.lifetimes import Lifetimes, RoleKey
from pipelink.passes.prove_cluster import check_cluster
from pipelink.passes.prove_memory import Regions, check_memory
from pipelink.passes.prove_proxies import check_proxies
from pipelink.passes.prove_shape import check_shape
from pipelink.passes.prove_threads import barrier_uses, check_threads
from pipelink.support.diagnostics import Diagnostics, LinkError, Location, Note
from pipelink.support.expr import evaluate
from pipelink.support.protocol import Action, Block, Choose, Fence, Rank, Repeat, Until
from pipelink.target import SMEM_BASE, WARPGROUP_WARPS, Target, target
from pipelink.transfers import CLUSTER_CTAS, joined, placement_of, transfer_of
from pipelink.transfers.binder import placed_instance
from pipelink.transfers.signal import SignalPlacement, memory_of
from pipelink.transfers.touch import COMMIT, TX, mixes_proxies, refills, wanted_unit

_LARGE = 1 << 20  # a dimension of which only grids that are bounded otherwise stay small


def check_static(kernel: Kernel, components: Mapping[str, Component], diagnostics: Diagnostics) -> bool:
    """Check a placed kernel; ``components`` by name.  False where its placement is incomplete or contradicts itself, so
    that no other analysis should go by it.

    Reports ``not-placed``, ``bad-placement``, ``placement-range``, ``placement-overlap``, ``bad-alignment``,
    ``unaligned-warpgroup``, ``register-pool``, ``barrier-shared``, ``barrier-mismatch``, ``barrier-participation``,
    ``tensor-memory-order``, ``arrival-count``, ``slot-race``, ``missing-fence``, ``peer-lifetime``,
    ``cluster-mismatch``, ``not-resident``, ``instances-overlap`` and ``unsupported-by-target``; raises LinkError
    ``unknown-target``.
    """
    before = len(diagnostics.errors)
    facts = target(kernel.target, kernel.location)
    if not check_shape(kernel, components, diagnostics):
        return False
    placement = kernel.placement
    assert placement is not None
    lifetimes = Lifetimes(Program(kernel.op, dict(components), (kernel,)), kernel)
    check_threads(kernel, lifetimes, placement, facts, diagnostics)
    regions, sequences = Regions(kernel, lifetimes, placement), lifetimes.sequences()
    excluded = [
        (a.buffer.key, a.what, b.buffer.key, b.what, b.buffer.location, (a.scope, b.scope))
        for a, b in check_memory(kernel, regions, facts, diagnostics)
    ]
    uses = list(barrier_uses(kernel, lifetimes))
    excluded += [
        (a.key, a.what, b.key, b.what, b.location, (a.scope, b.scope))
        for a, b in itertools.combinations(uses, 2)
        if a.id == b.id and a.scope.excludes(b.scope)
    ]
    if excluded:
        _check_exclusion(excluded, _touched(kernel, lifetimes), diagnostics)
    for connect in kernel.connects:
        ends = _Ends(kernel, lifetimes, connect)
        _check_units(ends, diagnostics)
        _check_fences(ends, diagnostics)
        _check_peers(kernel, placement, ends, diagnostics)
    check_cluster(kernel, lifetimes, placement, diagnostics)
    for name, component in lifetimes.components.items():
        _check_polls(kernel, name, component, diagnostics)
        check_proxies(name, component, regions, sequences, diagnostics)
    _check_cursors(kernel, lifetimes, diagnostics)
    _check_residency(kernel, lifetimes.components, diagnostics)
    _check_resident_columns(kernel, placement, facts, diagnostics)
    return all(item.id != "bad-placement" for item in diagnostics.errors[before:])


class _Ends:
    """A connection with its ports at hand."""

    def __init__(self, kernel: Kernel, lifetimes: Lifetimes, connect: Connect) -> None:
        self.lifetimes = lifetimes
        self.kernel = kernel
        self.connect = connect
        self.placed = placement_of(connect)
        self.transfer = transfer_of(connect)
        self.source = self.port(connect.source.root, connect.source.leaf)
        self.target = self.port(connect.target.root, connect.target.leaf)
        self.what = f"'{connect.source}' to '{connect.target}'"

    def port(self, instance: str, name: str) -> Port:
        return self.lifetimes.components[instance].ports[name]

    @property
    def location(self) -> Location:
        return self.connect.location

    @property
    def reaches_peer(self) -> bool:
        """Whether one CTA reaches into another of its cluster."""
        return self.transfer.reaches_peer(self.connect, self.source, self.target)

    def declared(self) -> list[Note]:
        return [Note(f"port '{port.name}' is declared here", port.location) for port in (self.source, self.target)]


# ---------------------------------------------------------------------------------------------- who arrives
def _check_units(ends: _Ends, diagnostics: Diagnostics) -> None:
    """A unit arrives when the last of its threads is done, and somebody of it is there to arrive."""
    placed = ends.placed
    sides: list[tuple[str, Port, SymbolRef, str]] = []
    if isinstance(placed, RingPlacement | TokenPlacement):
        sides.append(("producer", ends.source, ends.connect.source, placed.producer_unit))
    if isinstance(placed, RingPlacement):
        sides.append(("consumer", ends.target, ends.connect.target, placed.consumer_unit))
    for side, port, ref, unit in sides:
        verb = "fills" if side == "producer" else "reads"
        wanted = wanted_unit(port, side)
        tensor_cores = wanted in (TX, COMMIT) or unit in (TX, COMMIT)
        if wanted is not None and tensor_cores and unit != wanted:
            by = {TX: "bytes that TMA brings", COMMIT: "tcgen05.commit"}.get(wanted, "its threads")
            message = f"{port.touch} {verb} the slots of '{ref}', which is known by {by}, not by an arrival of a "
            diagnostics.error("slot-race", f"{message}{unit}", ends.location, notes=ends.declared())
        elif unit == "warpgroup" and (port.touch != "wgmma" or port.per_warp):
            slots = "which may pass over slots one by one" if port.per_warp else f"whose slots every thread {verb}"
            message = f"one thread of a warpgroup arrives for '{ref}', {slots}: the other warps may not be done"
            hint = f'{side}_unit = "warp", with one arrival a warp'
            diagnostics.error("slot-race", message, ends.location, notes=ends.declared(), hint=hint)
        for user in ends.lifetimes.port_users(ref.root, ref.leaf):
            _check_unit_of(ends, user, unit, f"'{ref}'", diagnostics)


def _check_unit_of(ends: _Ends, user: RoleKey, unit: str, what: str, diagnostics: Diagnostics) -> None:
    instance, _, name = user.partition("::")
    role = ends.lifetimes.components[instance].roles[name]
    first = placed_instance(ends.kernel.instances[instance]).roles[name].first_warp
    if unit in ("warp", "warpgroup") and role.one_thread:
        message = f"{spelled(user)} runs in one thread, its arrivals for {what} are placed a {unit} at a time"
    elif unit == "warpgroup" and (role.warps % WARPGROUP_WARPS or first % WARPGROUP_WARPS):
        message = f"{spelled(user)} is warps {first} to {first + role.warps - 1}, not whole warpgroups, of which the "
        message += f"first thread arrives for {what}"
    else:
        return
    diagnostics.error("arrival-count", message, ends.location)


def _check_cursors(kernel: Kernel, lifetimes: Lifetimes, diagnostics: Diagnostics) -> None:
    """A thread has one position in the frame for each ring that it uses."""
    uses: list[tuple[int, str, tuple[RoleKey, ...], Location]] = []
    counters: dict[str | None, int] = {}
    for connect in kernel.connects:
        placed = placement_of(connect)
        for side, ref in (("producer", connect.source), ("consumer", connect.target)):
            cursor: int | None = getattr(placed, f"{side}_cursor", None)
            if cursor is not None:
                lease = placed.lease if isinstance(placed, RingPlacement) else None
                ring = f"the {side} of '{connect.source}'" if lease is None else f"the {side} of pages '{lease}'"
                users = lifetimes.port_users(ref.root, ref.leaf)
                uses.append((cursor, ring, users, connect.location))
        if isinstance(placed, SignalPlacement) and placed.cursor is not None:
            memory = memory_of(kernel, connect.source, placed.workspace)
            if counters.setdefault(memory, placed.cursor) != placed.cursor:
                message = f"signals in {memory} have positions {counters[memory]} and {placed.cursor} of the frame: "
                message += "each warp would begin the launch's epoch twice"
                diagnostics.error("bad-placement", message, connect.location)
            for ref in (connect.source, connect.target):
                users = lifetimes.port_users(ref.root, ref.leaf)
                uses.append((placed.cursor, f"signals in {placed.workspace}", users, connect.location))
    for name, instance in kernel.instances.items():
        for port, local in placed_instance(instance).locals.items():
            for side, cursor in (("producer", local.producer_cursor), ("consumer", local.consumer_cursor)):
                ring, users = f"the {side} of '@{name}::@{port}'", lifetimes.port_users(name, port)
                uses.append((cursor, ring, users, instance.location))
        for barrier, met in placed_instance(instance).cluster_barriers.items():
            users = lifetimes.users(name, lifetimes.components[name].cluster_barriers[barrier].role)
            uses.append((met.cursor, f"'@{name}::@{barrier}'", users, instance.location))
    first: dict[tuple[int, RoleKey], str] = {}
    for cursor, ring, users, where in uses:
        frames = {lifetimes.runner_of.get(user, user) for user in users}  # operations use their dispatcher's
        taken = [user for user in sorted(frames) if first.setdefault((cursor, user), ring) != ring]
        if taken:
            message = f"{spelled(taken[0])} has position {cursor} of the frame for {ring} and for "
            diagnostics.error("bad-placement", f"{message}{first[cursor, taken[0]]}", where)


# ---------------------------------------------------------------------------------------------- fences and peers
def _check_fences(ends: _Ends, diagnostics: Diagnostics) -> None:
    placed, source, sink = ends.placed, ends.source, ends.target
    ring = placed if isinstance(placed, RingPlacement) else None
    if ring is not None and mixes_proxies(source, sink) and not ring.producer_fence:
        message = f"threads write the slots of '{ends.connect.source}' and {sink.touch} reads them, without a "
        message += "fence.proxy.async between"
        hint = "producer_fence = true"
        diagnostics.error("missing-fence", message, ends.location, notes=ends.declared(), hint=hint)
    if ring is not None and refills(source, sink) and not ring.consumer_fence:
        message = f"threads read the slots of '{ends.connect.target}' and TMA fills them again, without a "
        message += "fence.proxy.async between"
        hint = "consumer_fence = true"
        diagnostics.error("missing-fence", message, ends.location, notes=ends.declared(), hint=hint)
    for port, ref in ((source, ends.connect.source), (sink, ends.connect.target)):
        scope = port.data.get("scope")
        if port.kind == "stream" and scope == "cta" and ends.reaches_peer:
            message = f"'{ref}' orders its accesses among the threads of a CTA, but slots are shared with another CTA"
        elif port.kind == "signal" and port.data.get("owner") == "peer" and scope != "system":
            message = f"'{ref}' signals through the memory of another GPU, with a fence of scope {scope}"
        else:
            continue
        hint = f'scope = "{"cluster" if port.kind == "stream" else "system"}"'
        notes = [Note("declared here", port.location)]
        diagnostics.error("missing-fence", message, ends.location, notes=notes, hint=hint)


def _check_peers(kernel: Kernel, placement: KernelPlacement, ends: _Ends, diagnostics: Diagnostics) -> None:
    """CTAs that reach into each other begin together, behind the set-up of both, and end together."""
    if not ends.reaches_peer:
        return
    ctas = placement.ctas
    if ctas == 1:
        message = f"{ends.what} reaches into another CTA, kernel '{kernel.name}' has no cluster"
        diagnostics.error("cluster-mismatch", message, ends.location, notes=ends.declared())
    elif ends.transfer.joins_ctas(ends.connect) and ctas != CLUSTER_CTAS:
        message = f"{ends.what} is for {CLUSTER_CTAS} CTAs, kernel '{kernel.name}' has clusters of {ctas}"
        diagnostics.error("cluster-mismatch", message, ends.location, notes=ends.declared())
    elif not joined(kernel):
        message = (
            f"{ends.what} writes into a peer CTA, which may not have set up its mbarriers yet, or have ended: the "
        )
        message += "entry does not let the CTAs of the cluster meet"
        hint = "say which tiles both CTAs share (shared = [1] on the connection): then they start and end together"
        diagnostics.error("peer-lifetime", message, ends.location, notes=ends.declared(), hint=hint)


def _check_residency(kernel: Kernel, components: Mapping[str, Component], diagnostics: Diagnostics) -> None:
    """CTAs that wait for each other are launched so that all of them run."""
    launch: dict[str, Any] = kernel.launch or {}
    asking = [(f"instance '@{name}'", c) for name, c in components.items() if c.resident]
    views = [*([(f"kernel '{kernel.name}'", kernel)] if kernel.resident else []), *asking]
    if views and not launch.get("resident", False):
        who, view = views[0]
        message = f"{who} needs all CTAs of the grid to run at once, but the launch does not see to it"
        where = view.location if isinstance(view, Kernel) else kernel.location
        diagnostics.error("not-resident", message, where, hint="resident = true in pipelink.launch")


def _check_resident_columns(
    kernel: Kernel, placement: KernelPlacement, facts: Target, diagnostics: Diagnostics
) -> None:
    """CTAs of one SM that wait for each other, or for others of their clusters that do, have their tensor memory at
    once; the driver does not count it."""
    launch, columns = kernel.launch or {}, placement.tmem_columns
    if not columns or not (launch.get("resident", False) or joined(kernel)):
        return
    held = SMEM_BASE + placement.smem_bytes
    fit = min(facts.smem_per_sm // held, facts.warps_per_sm // placement.warps, facts.ctas_per_sm)
    if placement.warpgroups:  # then each thread holds at least what the kernel starts with
        registers = facts.entry_registers(placement.warps, placement.min_ctas) * placement.threads
        fit = min(fit, facts.registers_per_sm // registers)
    most = facts.tmem_columns // columns
    asked = min(fit, _ctas_per_sm(launch, fit))
    if asked > most:
        whom = "each other" if launch.get("resident", False) else "others of their clusters"
        message = (
            f"{asked} CTAs of kernel '{kernel.name}' may be on an SM and wait for {whom}; they allocate {columns} "
        )
        message += f"columns of tensor memory each, and {facts.name} has {facts.tmem_columns}: one waits for columns, "
        message += "the others for it"
        hint = f"a grid of at most {f'{most} * ' if most > 1 else ''}sms CTAs"
        diagnostics.error("tensor-memory-order", message, kernel.location, hint=hint)


def _ctas_per_sm(launch: dict[str, Any], fit: int) -> int:
    """CTAs of the grid for each SM, at most, whatever the dimensions are."""
    values = {str(name): _LARGE for name in launch["dimensions"]} | {"sms": 1, "occupancy": fit}
    values |= {argument["name"]: _LARGE for argument in launch["arguments"] if argument["kind"] == "scalar"}
    try:
        for derived in launch["derived"]:
            values[derived["name"]] = evaluate(derived["value"], values, lambda *_: _LARGE)
        return math.prod(max(1, evaluate(str(extent), values, lambda *_: _LARGE)) for extent in launch["grid"])
    except LinkError:
        return fit


# ---------------------------------------------------------------------------------------------- polls
def _check_polls(kernel: Kernel, name: str, component: Component, diagnostics: Diagnostics) -> None:
    """A flag is polled by ordinary loads; what it announces may be fetched by TMA only behind fence.proxy.async.  The
    linker's own device code has the fence."""
    waits = {connect.target.path: transfer_of(connect).has_code(connect) for connect in kernel.connects}
    for role in component.roles:
        fetches = {
            port.name
            for port in component.ports.values()
            if port.direction == "out" and TOUCHES[port.touch].copies and port.kind == "stream"
        }
        polls = {
            port.name
            for port in component.ports.values()
            if (port.kind, port.direction) == ("signal", "in") and not waits.get((name, port.name))
        }
        if not fetches or not polls:
            continue
        late = _Polls(polls, fetches).walk(protocol_of(component, role).body, None)[1]
        if late is not None:
            polled, fetched = late
            message = f"'@{name}::@{role}' awaits '{polled}' and then fetches '{fetched}' by TMA on a way without a "
            message += "fence.proxy.async between"
            hint = "fence async; after the await, on every way"
            diagnostics.error("missing-fence", message, place_of(component, role), hint=hint)


class _Polls:
    """Follows all ways of a protocol: the flag that was polled last and is not fenced yet, if there is one."""

    def __init__(self, polls: set[str], fetches: set[str]) -> None:
        self.polls, self.fetches = polls, fetches

    def walk(self, block: Block, polled: str | None) -> tuple[str | None, tuple[str, str] | None]:
        """The unfenced flag after ``block``, and the first fetch that comes too early."""
        for step in block:
            bodies: tuple[Block, ...]
            match step:
                case Fence():
                    polled = None
                    continue
                case Action():
                    if step.verb == "await":
                        polled = step.subject if step.subject in self.polls else polled
                    elif polled is not None and step.verb == "copy" and step.subject in self.fetches:
                        return polled, (polled, step.subject)
                    continue
                case Repeat():
                    bodies = (step.body,) if step.at_least_once else (step.body, ())
                case Until() | Rank():
                    bodies = (step.body, ())
                case Choose():
                    bodies = step.ways
            after: str | None = None
            for body in bodies:
                end, late = self.walk(body, polled)
                if late is None and isinstance(step, Repeat | Until):  # once more, from where the first time led
                    end, late = self.walk(body, end)
                if late is not None:
                    return polled, late
                after = after or end
            polled = after
        return polled, None


# ---------------------------------------------------------------------------------------------- exclusion
def _touched(kernel: Kernel, lifetimes: Lifetimes) -> dict[str, set[RoleKey]]:
    """Who uses each buffer and barrier by the stated protocols: by ``instance::name``, the roles."""
    found: dict[str, set[RoleKey]] = {}
    callers: dict[tuple[str, str], list[tuple[str, str]]] = {}
    for connect in kernel.connects:
        if lifetimes.components[connect.source.root].ports[connect.source.leaf].kind == "call":
            at = (connect.target.root, connect.target.leaf)
            callers.setdefault(at, []).append((connect.source.root, connect.source.leaf))
    for instance, component in lifetimes.components.items():
        for name in component.protocols:
            users: set[RoleKey] = set()
            if name in component.roles:
                users = {f"{instance}::{name}"}
            for caller, port in callers.get((instance, name), ()):
                users.update(lifetimes.port_users(caller, port))
            for action in actions_of(protocol_of(component, name).body):
                if action.subject in {*component.smem, *component.barriers, *component.turns}:
                    found.setdefault(f"{instance}::{action.subject}", set()).update(users)
    return found


def _check_exclusion(
    pairs: list[tuple[str, str, str, str, Location, tuple[Scope, Scope]]],
    touched: Mapping[str, set[RoleKey]],
    diagnostics: Diagnostics,
) -> None:
    """What shares a place because two alternatives never run at once is used by those alternatives alone."""
    for first, first_what, second, second_what, where, scopes in pairs:
        for key, what, scope in ((first, first_what, scopes[0]), (second, second_what, scopes[1])):
            ahead = sorted(touched.get(key, set()) - {scope.alternative or ""})
            if ahead:
                message = f"{first_what} and {second_what} share their place because exclusive group '{scope.group}' "
                message += f"runs one of their roles at a time, but {spelled(ahead[0])}, which runs beside it, uses "
                hint = "let the buffer belong to no single role, so that it has a place of its own"
                diagnostics.error("instances-overlap", f"{message}{what}", where, hint=hint)
                break
