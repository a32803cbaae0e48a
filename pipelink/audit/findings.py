"""What an audit says of steps: a way that leaves its protocol, in words."""

from __future__ import annotations

from typing import Final

from pipelink.audit.code import Reading
from pipelink.audit.flight import APART
from pipelink.audit.language import ACCESS
from pipelink.audit.report import Problem
from pipelink.audit.walk import Finding
from pipelink.support.protocol import Protocol


def problem_of(reading: Reading, protocol: Protocol, finding: Finding, given: str = "") -> Problem:
    """What a way through the code does that its protocol does not have.  ``given``: the numbers that it was found
    with, as ``n = 2``."""
    trail = "; ".join(finding.trail)
    quotes = (f"{trail}; {finding.event or 'the end'}" if trail else f"{finding.event or 'the end'}",)
    if finding.reader and finding.event is None:
        return _left_reading(reading, protocol, finding)
    if finding.reader:
        if finding.reader in ("copy", "proxy"):
            return _not_there(reading, protocol, finding, quotes)
        if finding.reader == APART:
            return _apart(reading, protocol, finding, quotes)
        reader = {"wgmma": "wgmma", "bulk": "a bulk copy to global memory"}[finding.reader]
        assert finding.event is not None
        does = "writes" if finding.event.verb == "write" else "releases a slot of"
        message = f"{reading.what} {does} '{finding.event.subject}', which {reader} may still read"
        hint = f"wait for the group that reads it before: {_WAITS[finding.reader]}"
        if finding.certain:
            return reading.problem("error", "async-read", message, *quotes, hint=hint)
        return unproven(
            reading, protocol, f"on a way that it may never go, it {message.removeprefix(reading.what)[1:]}"
        )
    if finding.event is not None and (finding.other or (finding.event.verb == ACCESS and not finding.reader)):
        message = f"{reading.what} {_slot_fault(finding)}"
        if finding.certain and protocol.stated:
            return reading.problem("error", "protocol-untrue", message, *quotes)
        way = "" if finding.certain else "on a way that it may never go, "
        return unproven(reading, protocol, f"{way}it {_slot_fault(finding)}")
    expected = " or ".join(f"'{one}'" for one in finding.expected) or "nothing more"
    does = f"does '{finding.event}'" if finding.event is not None else "ends"
    if not protocol.stated and finding.event is None:
        return unproven(reading, protocol, "its code ends by itself, and the default goes on while others want")
    if not protocol.stated:
        return unproven(reading, protocol, f"its code {does} where that has {expected}")
    with_ = f", with {given}," if given else ""
    if not finding.certain:
        way = f"with {given}, on" if given else "on"
        return unproven(reading, protocol, f"{way} a way that it may never go, its code {does} instead of {expected}")
    message = f"{reading.what}{with_} {does} where its protocol has {expected}"
    return reading.problem("error", "protocol-untrue", message, *quotes)


def _left_reading(reading: Reading, protocol: Protocol, finding: Finding) -> Problem:
    """Code that ends with bulk copies in flight, in a component for which the kernel does not wait."""
    if reading.code.kind == "answer":  # its callers may see to it
        why = "a bulk copy of its own may still read shared memory when it returns, and the kernel waits for none"
        return unproven(reading, protocol, why)
    message = f"{reading.what} ends while a bulk copy to global memory may still read shared memory"
    hint = "wait before it returns, pl::wait_stores<0>() by each thread that stored; or let its protocol say 'store', "
    hint += "for which the kernel waits"
    if finding.certain:
        return reading.problem("error", "async-read", message, hint=hint)
    return unproven(reading, protocol, f"on a way that it may never go, it {message.removeprefix(reading.what)[1:]}")


def _not_there(reading: Reading, protocol: Protocol, finding: Finding, quotes: tuple[str, ...]) -> Problem:
    """What is written into a buffer, and read before it can be seen."""
    assert finding.event is not None
    name = finding.event.subject
    if finding.reader == "copy":
        id_, fault = "async-write", f"reads '{name}' before it has waited for a copy into it"
        hint = "cp.async.wait_group or wait_all for copies of threads, the mbarrier for those that it is told of"
    else:
        id_, fault = "missing-fence", f"has wgmma read '{name}', which its threads wrote, without a proxy fence between"
        hint = "pl::publish() by every thread that wrote, before they meet; its step is 'fence async'"
    if finding.certain:
        return reading.problem("error", id_, f"{reading.what} {fault}", *quotes, hint=hint)
    return unproven(reading, protocol, f"on a way that it may never go, it {fault}")


def _apart(reading: Reading, protocol: Protocol, finding: Finding, quotes: tuple[str, ...]) -> Problem:
    """A slot that one thread gives back for its warpgroup, whose other warps may still wait for it."""
    assert finding.event is not None
    fault = f"releases a slot of '{finding.event.subject}' without a product, by which its warps would meet"
    if finding.certain:
        hint = "pl::per_warp on the port: each warp gives slots back"
        return reading.problem("error", "slot-race", f"{reading.what} {fault}", *quotes, hint=hint)
    return unproven(reading, protocol, f"on a way that it may never go, it {fault}")


def _slot_fault(finding: Finding) -> str:
    event = finding.event
    assert event is not None
    if event.verb == ACCESS:
        return f"touches a slot of '{event.subject}' while it holds none"
    if finding.other == "phase":
        return f"waits for a phase of '{event.subject}' that it has waited for"
    if finding.other == "bytes":
        return f"copies to byte {event.place} of a slot of '{event.subject}', which another copy fills too"
    does = {"release": "releases", "commit": "commits", "copy": "copies into"}[event.verb]
    which = "the oldest that it holds" if event.verb == "release" else "the one that it acquired"
    return f"{does} another slot of '{event.subject}' than {which}"


_WAITS: Final = {"wgmma": "wgmma.wait_group", "bulk": "cp.async.bulk.wait_group.read, which is pl::wait_stores"}


def unproven(reading: Reading, protocol: Protocol, why: str) -> Problem:
    """That a protocol is not proved, and why: a clause."""
    if protocol.stated:
        message = f"that {reading.what} takes the steps of its protocol is not proved: {why}"
        return reading.problem("warning", "unproven", message)
    message = f"{reading.what} states no protocol, and that the default is what it does is not proved: {why}"
    return reading.problem("warning", "unproven", message, hint="state it with PL_PROTOCOL")


def unstated(reading: Reading, protocol: Protocol, used: tuple[str, str]) -> Problem:
    """Of a kind of resource and its name, that no step says what the code does there."""
    kind, name = used
    called = {"smem": "buffer", "tmem": "tensor memory", "turns": "order of turns"}
    what = called.get(kind, kind.replace("_", " "))
    says = "no step of its protocol names it" if protocol.stated else "it states no protocol"
    message = f"what {reading.what} does at {what} '{name}' is not proved: {says}"
    return reading.problem("warning", "unproven", message, hint="say in PL_PROTOCOL where it is used")
