"""``prove``: the roles of a placed kernel cannot hang, race or miscount, whatever their trip counts."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar

from pipelink.analysis.protocol.compile import Compiled, ProtocolTooLong, compile_kernel
from pipelink.analysis.protocol.decide import decide
from pipelink.analysis.protocol.explore import LimitReached, Limits, StepLimit
from pipelink.analysis.protocol.program import Give, Take
from pipelink.ir.views import Component, Connect, Kernel, program
from pipelink.passes.prove_static import check_static
from pipelink.support.diagnostics import Diagnostics, Note
from pipelink.support.mlir import ir
from pipelink.transfers import placement_of, transfer_of


@dataclass(frozen=True)
class ProvePass:
    """Proves that a placed kernel's roles, by their protocols and with the placement that was chosen, never wait for
    ever, touch no slot or buffer at once, and arrive as often as each barrier counts; for all trip counts and choices.

    Before: every kernel is placed (``place``).  After: the IR is unchanged.  What is not modelled is named by warnings
    ``unproven``; everything else is proved.
    Rejects: ``deadlock``, ``rate-mismatch``, ``slot-race``, ``missing-meeting``, ``arrival-count``,
    ``barrier-participation``, ``state-limit``, ``bad-placement`` where a token has another credit than its ends state,
    and what :func:`pipelink.passes.prove_static.check_static` lists.

    Example: a mainloop whose protocol is ``repeat k_tiles+ { ab.wait; }`` is refused: its loader waits for a free slot,
    it waits for a full one.
    """

    only_reads: ClassVar[bool] = True

    states: int = field(default=Limits.states, metadata={"help": "most states of a kernel that are explored"})
    steps: int = field(default=Limits.steps, metadata={"help": "most steps of a kernel that are explored"})
    seconds: float = field(default=Limits.seconds, metadata={"help": "most processor time for a kernel"})
    megabytes: int = field(
        default=Limits.megabytes, metadata={"help": "most memory for the states of a part of a kernel"}
    )

    def apply(self, module: ir.Operation, diagnostics: Diagnostics) -> None:
        views = program(module)
        for kernel in views.kernels:
            if not kernel.fused:
                limits = Limits(self.states, self.steps, self.seconds, self.megabytes)
                prove_kernel(kernel, views.components, diagnostics, limits)


def prove_kernel(
    kernel: Kernel, components: Mapping[str, Component], diagnostics: Diagnostics, limits: Limits | None = None
) -> int:
    """Prove one placed kernel; ``components`` by name.  Returns how many states were explored."""
    before = len(diagnostics.errors)
    if not check_static(kernel, components, diagnostics):
        return 0
    limits = limits or Limits()
    began, states, steps = time.process_time(), 0, 0
    try:
        parts = compile_kernel(kernel, components)
        for part in parts:
            for role, why in part.unproven.items():
                _warn(kernel, components, role, why, diagnostics)
        _warn_of_signals(kernel, components, diagnostics)
        _warn_of_early(kernel, components, diagnostics)
        _warn_of_pages(kernel, diagnostics)
        for part in parts:
            left = limits.seconds - (time.process_time() - began)
            now = replace(limits, states=limits.states - states, steps=limits.steps - steps, seconds=left)
            decided = decide(part.system, now)
            states, steps = states + decided.states, steps + decided.steps
            if decided.found is not None:
                from pipelink.analysis.protocol.counterexample import report  # what is right needs no words

                report(part.system, decided.found, diagnostics)
            for name, most in decided.bounded.items():
                diagnostics.warning(
                    "unproven",
                    f"kernel '{kernel.name}' is proved for '{name}' from 0 to {most} only: loops by it that do not "
                    "correspond have to run equally often",
                    kernel.location,
                )
        if len(diagnostics.errors) == before:
            _check_unread(kernel, components, parts, diagnostics)
            _check_contradictions(kernel, components, diagnostics)
    except LimitReached as limit:
        if len(diagnostics.errors) == before:
            diagnostics.error(
                "state-limit",
                f"kernel '{kernel.name}' is not proved: it needs more than {getattr(limits, limit.what)} {limit.what}; "
                f"{limit.size} were explored",
                kernel.location,
                hint=f"pass prove{{{limit.what}=…}} allows more",
            )
    except StepLimit:
        message = f"kernel '{kernel.name}' is not proved: a role repeats without end, and waits for nothing"
        diagnostics.error("state-limit", message, kernel.location)
    except ProtocolTooLong as long:
        diagnostics.error("state-limit", f"the protocol of '{long.lane}', with its calls, is too long", long.location)
    return states


def check_rounds(
    kernel: Kernel,
    components: Mapping[str, Component],
    rounds: Mapping[tuple[str, str], str],
    diagnostics: Diagnostics,
) -> None:
    """Prove a kernel that was proved, with the parameters by which the code of roles without a protocol goes round, by
    component and role.  What is wrong then is ``unproven``: the defaults themselves do what the other ends want."""
    found = Diagnostics()
    try:
        for part in compile_kernel(kernel, components, rounds):
            decided = decide(part.system, Limits())
            if decided.found is not None:
                from pipelink.analysis.protocol.counterexample import report

                report(part.system, decided.found, found)
    except (LimitReached, StepLimit, ProtocolTooLong) as limit:
        message = f"kernel '{kernel.name}' is not proved with the counts that the code of its roles goes by: {limit}"
        diagnostics.warning("unproven", message, kernel.location)
    for item in found.items[:1]:
        by = [
            (f"'@{name}::@{role}'", rounds[instance.component, role], components[instance.component].roles[role])
            for name, instance in kernel.instances.items()
            for role in components[instance.component].roles
            if (instance.component, role) in rounds
        ]
        notes = [Note(f"by its code {who} goes round '{param}' times", role.location) for who, param, role in by]
        message = f"that roles go round equally often is not proved: {item.message}"
        hint = "bind the counts to one value, or state them with PL_PROTOCOL"
        diagnostics.warning("unproven", message, item.location, notes=[*item.notes, *notes], hint=hint)


def _check_unread(
    kernel: Kernel, components: Mapping[str, Component], parts: Sequence[Compiled], diagnostics: Diagnostics
) -> None:
    """Refuse streams that are filled and that their reader's protocol never waits for, streams and tokens that a role
    by default waits for and that the other end's protocol never gives, and mbarriers at which nobody waits."""
    followed = [agent for part in parts for agent in part.system.agents]
    steps = [step for agent in followed for step in agent.code]
    filled = {step.end.port.reference for step in steps if isinstance(step, Give) and step.signals}
    taken = {step.end.port.reference for step in steps if isinstance(step, Take)}
    apart = {role.partition("::")[0] for part in parts for role in part.unproven}
    for name, instance in kernel.instances.items():
        for mbarrier in components[instance.component].mbarriers.values():
            at = f"@{name}::@{mbarrier.name}"
            if at in filled and at not in taken and name not in apart:
                message = f"'{at}' is arrived at, and nobody ever waits there"
                hint = f"let the protocol say {mbarrier.name}.wait before what is under way there is needed, or lost"
                diagnostics.error("rate-mismatch", message, mbarrier.location, hint=hint)
    for connect in kernel.connects:
        reader = components[kernel.instances[connect.target.root].component]
        port = reader.ports[connect.target.leaf]
        writer = components[kernel.instances[connect.source.root].component]
        passive = not reader.roles or not writer.roles
        if port.kind not in ("stream", "token") or {connect.source.root, connect.target.root} & apart:
            continue
        if apart and passive:
            continue
        source, target = (f"@{end.root}::@{end.leaf}" for end in (connect.source, connect.target))
        role = reader.role_of(port)
        if target in taken and source not in filled and role is not None and role.name not in reader.protocols:
            diagnostics.error(
                "rate-mismatch",
                f"'{target}' is waited for, and nobody ever gives '{source}'",
                writer.ports[connect.source.leaf].location,
                notes=[Note("they are connected here", connect.location)],
                hint="let the protocol that uses it say so",
            )
        if port.kind == "stream" and source in filled and target not in taken:
            diagnostics.error(
                "rate-mismatch",
                f"'{source}' is filled, and nobody ever waits at '{target}'",
                port.location,
                notes=[Note("they are connected here", connect.location)],
                hint=f"let the protocol that uses it say {port.name}.wait and {port.name}.release",
            )


def _check_contradictions(kernel: Kernel, components: Mapping[str, Component], diagnostics: Diagnostics) -> None:
    """Refuse what was placed otherwise than its ends state: a token with another credit lets others begin."""
    for connect in kernel.connects:
        placed = placement_of(connect)
        if placed is None:
            continue
        group = [other for other in kernel.connects if other.source == connect.source]
        ends = [connect.source, *(other.target for other in group)]
        ports = [components[kernel.instances[end.root].component].ports[end.leaf] for end in ends]
        transfer = transfer_of(connect)
        if why := transfer.contradiction(placed, group, ports):
            message = f"{transfer.name} {connect.source} to {connect.target} {why}"
            diagnostics.error("bad-placement", message, connect.location)


def _warn(kernel: Kernel, components: Mapping[str, Component], role: str, why: str, diagnostics: Diagnostics) -> None:
    instance, _, name = role.partition("::")
    where = components[kernel.instances[instance].component].roles[name].location
    diagnostics.warning("unproven", f"what '@{instance}::@{name}' does is not proved: {why}", where)


def _warn_of_signals(kernel: Kernel, components: Mapping[str, Component], diagnostics: Diagnostics) -> None:
    """Signals come from elsewhere; a role that waits for one is followed as if it came."""
    for instance in kernel.instances.values():
        for port in components[instance.component].ports.values():
            if (port.kind, port.direction) == ("signal", "in"):
                message = f"that signal '@{instance.name}::@{port.name}' comes is not proved"
                if port.owner == "peer":
                    message += (
                        "; nor that all GPUs launch equally often, and that each awaits, in a launch, a signal of "
                    )
                    message += "every GPU that it signals"
                diagnostics.warning("unproven", message, port.location)


def _warn_of_pages(kernel: Kernel, diagnostics: Diagnostics) -> None:
    """Which of its streams a page was filled for, an operation's reader takes for granted."""
    streams: dict[str, list[Connect]] = {}
    for connect in kernel.connects:
        if connect.lease is not None:
            streams.setdefault(connect.source.root, []).append(connect)
    for instance, connects in streams.items():
        if len(connects) > 1:
            listed = ", ".join(f"'{connect.source}'" for connect in connects)
            message = (
                f"that '@{instance}' reads the pages of {listed} in the order in which they are filled is not proved"
            )
            diagnostics.warning("unproven", message, connects[0].location)


def _warn_of_early(kernel: Kernel, components: Mapping[str, Component], diagnostics: Diagnostics) -> None:
    """What a role does before it waits for the kernel in front concerns memory, of which no protocol speaks."""
    if not (kernel.launch or {}).get("programmatic"):
        return
    for instance in kernel.instances.values():
        for role in components[instance.component].roles.values():
            if role.early:
                message = f"that '@{instance.name}::@{role.name}' reads nothing which the kernel in front writes, and "
                message += "writes nothing which that reads, before it waits for it is not proved"
                diagnostics.warning("unproven", message, role.location)
