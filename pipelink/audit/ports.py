"""The rules of an audit about a component's ports and resources: is what is declared used, by whom, and as stated?

A port that no code touches leaves its other end waiting for ever; one that is acquired and never committed, or waited
for and never released, does so once the ring is full.  A touch decides who arrives and which fences there are, so it
has to be the code's own.  And where a role states its protocol, the code calls what the protocol says and no more.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from pipelink.audit.claims import FENCE, TOUCHING, Claims, split_symbol
from pipelink.audit.code import Reading, barrier_operands, is_barrier
from pipelink.audit.report import Problem, Row, listed
from pipelink.contract.abi import RESOURCES
from pipelink.contract.vocabulary import TOUCHES
from pipelink.objects.model import Record

#: What a protocol calls what the code does, by the functions of a port that are steps of a protocol.
_STEPPING: Final = ("stream", "token", "signal", "cluster_barrier", "turns", "dispatch")
VERB_OF: Final = {
    name.removeprefix("pl_"): function.verb
    for label, resource in RESOURCES.items() if label.startswith(_STEPPING)
    for name, function in resource.functions.items() if function.verb
}  # fmt: skip
_STEPS: Final = frozenset(VERB_OF.values())
#: What instructions at an mbarrier are in a protocol, by how their names begin (PTX ISA, mbarrier).
MBARRIER_VERBS: Final = {
    "mbarrier.arrive": "arrive",
    "cp.async.mbarrier.arrive": "arrive",
    "tcgen05.commit": "arrive",
    "mbarrier.try_wait": "wait",
    "mbarrier.test_wait": "wait",
}


def rows(claims: Claims, readings: Sequence[Reading]) -> Iterator[Row]:
    """A row for every port and resource."""
    used = {
        reading.code.title: {(use.resource, VERB_OF.get(use.function, use.function)) for use, _ in reading.uses
                             if use.component == claims.name}
        for reading in readings
    }  # fmt: skip
    for resource, (kind, record) in claims.resources.items():
        verbs = {title: {verb for name, verb in pairs if name == resource} for title, pairs in used.items()}
        verbs = {title: found for title, found in verbs.items() if found}
        if kind.startswith(("stream", "token")):
            yield _port(claims, kind, record, verbs, readings)
        elif kind not in ("call answers", "role"):
            yield _resource(claims, kind, record, verbs)


def _problem(id_: str, message: str, record: Record, *, warn: bool = False, hint: str | None = None) -> Problem:
    return Problem("warning" if warn else "error", id_, message, record.location, hint)


def _resource(claims: Claims, kind: str, record: Record, verbs: dict[str, set[str]]) -> Row:
    what = {"call calls": "call", "turns": "order of turns"}.get(kind, kind.replace("_", " "))
    problems: list[Problem] = []
    if not verbs and kind not in ("param", "state"):  # those cost nothing
        message = f"{what} '{record.name}' of '{claims.name}' is declared and never used"
        problems.append(_problem("unused-resource", message, record, warn=True, hint="leave it out"))
    problems += _foreign(claims, what, record, verbs)
    return Row(claims.name, "", f"{what} {record.name}", _owner(record), listed(verbs, "unused"), tuple(problems))


def _owner(record: Record) -> str:
    role = record.values.get("role")
    return f"role '{role}'" if role else "any code"


def _foreign(claims: Claims, what: str, record: Record, verbs: dict[str, set[str]]) -> Iterator[Problem]:
    """A role that uses what another role is said to use."""
    role = record.values.get("role")
    others = [title for title in verbs if title.startswith("role ") and title != f"role '{role}'"]
    if role and others:
        message = f"{what} '{record.name}' of '{claims.name}' belongs to role '{role}', and {listed(others)} uses it"
        hint = "who arrives, and how often, follows from the role: name the right one with pl::in_role"
        yield _problem("foreign-port", message, record, hint=hint)


def _port(claims: Claims, kind: str, record: Record, verbs: dict[str, set[str]], readings: Sequence[Reading]) -> Row:
    direction, touch = str(record.values.get("direction")), str(record.values.get("touch", ""))
    every = set().union(*verbs.values()) if verbs else set[str]()
    what = "port" if kind.startswith("stream") else "token"
    name = f"{what} '{record.name}' of '{claims.name}'"
    problems: list[Problem] = list(_foreign(claims, what, record, verbs))
    steps = every & _STEPS
    if not steps:
        message = f"{name} is declared and never used, so its other end waits for ever"
        problems.append(_problem("unused-port", message, record, hint="leave it out, or use it"))
    else:
        problems += _half_used(name, direction, touch, steps, record)
        problems += _touch(name, touch, verbs, readings, record)
    declared = [direction, f"touched by {touch}" if touch else "", "ends" if record.values.get("ends") else ""]
    found = [f"{title}: {' '.join(sorted(found & _STEPS))}" for title, found in verbs.items() if found & _STEPS]
    title = f"{what} {record.name}"
    return Row(claims.name, "", title, listed(filter(None, declared)), listed(found, "unused"), tuple(problems))


def _half_used(name: str, direction: str, touch: str, steps: set[str], record: Record) -> Iterator[Problem]:
    id_ = "half-used-port"
    fill = "copy" if direction == "out" and touch and TOUCHES[touch].copies else "commit"
    if "acquire" in steps and fill not in steps:
        verb = "fills" if fill == "copy" else "commits"
        yield _problem(id_, f"{name} is acquired, and nothing {verb} its slots", record)
    if steps & {"commit", "copy"} and "acquire" not in steps:
        yield _problem(id_, f"{name} is filled without being acquired", record)
    if "wait" in steps and "release" not in steps:
        yield _problem(id_, f"{name} is waited for, and nothing releases its slots", record)
    if "release" in steps and "wait" not in steps:
        yield _problem(id_, f"{name} is released without being waited for", record)
    if record.values.get("ends"):
        verb = "end" if direction == "out" else "ended"
        if verb not in steps:
            does = "no code ends it" if direction == "out" else "no code asks whether it has ended"
            yield _problem(id_, f"{name} is declared with pl::ends, and {does}", record)


def _touch(
    name: str, touch: str, verbs: dict[str, set[str]], readings: Sequence[Reading], record: Record
) -> Iterator[Problem]:
    """Whether the code that uses a port has the instructions that touch its data as declared."""
    users = [reading for reading in readings if reading.code.title in verbs]
    evidence = TOUCHES[touch].instruction if touch else ""
    if evidence and not any(i.parts[0] == evidence for r in users for _, i in r.instructions):
        message = f"{name} is declared to be touched by {touch}, and no {evidence} instruction is in its code"
        hint = "who arrives for how many threads, and which fences there are, follows from the touch"
        yield _problem("touch-mismatch", message, record, hint=hint)


def protocol(reading: Reading) -> Iterator[Row]:
    """What a stated protocol has to do with the calls in the code."""
    claims = reading.claims
    stated = claims.protocol(reading.code)
    if stated is None:
        return
    pairs, where = stated
    called = set(_called(claims, reading))
    if any(instruction.parts[:3] == ("fence", "proxy", "async") for _, instruction in reading.instructions):
        called |= pairs & {(FENCE, "async")}  # one more than stated is no harm
    by_name = {record.name: (kind, resource) for resource, (kind, record) in claims.resources.items()}
    problems: list[Problem] = []
    for subject, verb in sorted(called - pairs - {(subject, "ended") for subject, _ in called}):  # a question, no step
        does = f"calls '{subject}'" if verb == "call" else f"does '{subject}.{verb}'"
        message = f"{reading.what} {does}, which its protocol does not say"
        problems.append(Problem("error", "protocol-untrue", message, where))
    for subject, verb in sorted(pairs - called):
        kind, resource = by_name.get(subject, ("", ""))
        if subject == FENCE:
            message = f"the protocol of {reading.what} has 'fence {verb}', and its code no fence.proxy.{verb}"
            hint = "pl::publish() is one; a macro may have left it out"
            problems.append(Problem("error", "protocol-untrue", message, where, hint))
            continue
        if verb in TOUCHING:
            if any(use.resource == resource for use, _ in reading.uses) or not kind:
                continue
        elif not kind:
            continue
        says = f"calls '{subject}'" if verb == "call" else f"does '{subject}.{verb}'"
        message = f"the protocol of {reading.what} {says}, which its code never does"
        problems.append(Problem("error", "protocol-untrue", message, where))
    declared = listed(f"{s}.{v}" if v != "call" else s for s, v in sorted(pairs) if v not in TOUCHING)
    found = listed(f"{s}.{v}" if v != "call" else s for s, v in sorted(called))
    yield Row(claims.name, reading.code.title, "protocol", declared, found, tuple(problems))


def _called(claims: Claims, reading: Reading) -> Iterator[tuple[str, str]]:
    """The steps of a protocol that the code has: (name in the contract, verb)."""
    for use, symbol in reading.uses:
        if not claims.defined(symbol):
            continue
        kind, record = claims.resources[use.resource]
        verb = VERB_OF.get(use.function, use.function)
        if verb in _STEPS or kind == "call calls":
            yield record.name, verb
    for function, instruction in reading.instructions:
        for start, verb in MBARRIER_VERBS.items():
            if instruction.opcode.startswith(start):
                yield from ((name, verb) for name in _mbarriers(claims, reading, function.name, instruction.operands))
        if not is_barrier(instruction):
            continue
        for choice in reading.origins.choices(function.name, barrier_operands(instruction)[0]):
            use = split_symbol(choice.removeprefix("call "))
            if use is not None and use.resource in claims.resources:
                yield use.resource, "arrive" if "arrive" in instruction.parts else "sync"


def _mbarriers(claims: Claims, reading: Reading, function: str, operands: Sequence[str]) -> Iterator[str]:
    """The component's own mbarriers that an instruction's address comes from."""
    addresses = [operand for operand in operands if operand.startswith("[")]
    for leaf in sorted(frozenset().union(*(reading.origins.leaves(function, address) for address in addresses))):
        use = split_symbol(leaf.removeprefix("call "))
        if use is not None and claims.resources.get(use.resource, ("",))[0] == "mbarrier":
            yield use.resource
