"""What a role's or an answer's code does step by step, held against its protocol, stated or by default.

Every way through the code, as far as branches can be followed, has to be a sequence of steps that the protocol has:
their order and number, the bytes of copies, who of the role's threads takes part; and a slot is given back only when
the asynchronous reads of it have been waited for.  A way that the code goes for some numbers and that the protocol does
not have is an error; where a way is found that the code may never go, or the comparison gives up, the protocol is not
proved: a warning.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final

from pipelink.audit.claims import WARP, Claims, Use, split_symbol, threads_of
from pipelink.audit.code import Reading, barrier_operands, is_barrier
from pipelink.audit.defaults import counted, default_protocol
from pipelink.audit.findings import problem_of, unproven, unstated
from pipelink.audit.flight import ALL, COMMIT, ISSUE, MBARRIER, THREADS, TOGETHER, WAIT
from pipelink.audit.graph import Graph, Step
from pipelink.audit.language import ACCESS, Event, Language, Subjects, UndecidedError
from pipelink.audit.memory import peer_verb, reaches_peer
from pipelink.audit.ports import MBARRIER_VERBS, VERB_OF
from pipelink.audit.ranks import by_rank
from pipelink.audit.report import Rounds, Row, listed
from pipelink.audit.terms import Atom, Unknown, Value
from pipelink.audit.values import SPECIAL, number, parameter_of, registers
from pipelink.audit.walk import Finding, Walk
from pipelink.backend.ptx import Instruction
from pipelink.contract.vocabulary import ELEMENT_BITS
from pipelink.objects.model import Record
from pipelink.support.protocol import Block, Protocol, Repeat
from pipelink.support.protocol_text import ProtocolError, actions_of, count_names, parse_text, steps_of

_LOADS: Final = frozenset(("ld", "ldu", "ldmatrix"))
_STORES: Final = frozenset(("st", "stmatrix"))
_ATOMICS: Final = frozenset(("atom", "red"))
_COUNTS: Final = frozenset(("i32", "u32", "i64", "u64"))  # types of parameters that loops go by
_BESIDE: Final = 128  # numbers beside the given ones that count, as 63 in (k + 63) / 64
_TRIED: Final = (0, 1, 2, 7)  # rounds; loops are unrolled by 2 and 4
#: Loops that share their rounds among CTAs are one loop in each protocol: one CTA makes all rounds.
_ONE_CTA: Final = {
    f"%{register}.{axis}": number for axis in "xyz"
    for register, number in (("ctaid", 0), ("clusterid", 0), ("nctaid", 1), ("nclusterid", 1))
}  # fmt: skip
_ANSWERS_THREADS: Final = 4 * WARP  # of whoever calls, as far as answers can tell them apart


def rows(reading: Reading, rounds: list[Rounds]) -> Iterator[Row]:
    """The row of a role or answer; ``rounds`` gets how often a default is repeated, where that follows from one of the
    component's parameters."""
    stated = next((r for r in reading.claims.of("protocol") if r.name == reading.code.name), None)
    try:
        protocol = _protocol(reading, stated)
    except ProtocolError:
        return
    if protocol is None:
        return
    where = (stated or reading.code.record).location
    problems = [unstated(reading, protocol, name) for name in _untold(reading, protocol)]
    try:
        comparison = _Comparison(reading, protocol)
        finding = comparison.run(protocol.body)
        if not comparison.subjects.stores and comparison.reader.copied:
            names = listed(f"'{name}'" for name in sorted(comparison.reader.copied))
            why = f"bulk copies read {names}, and it says 'read' where it could say 'store'"
            problems.append(unproven(reading, protocol, why))
        said = {(action.subject, action.verb) for action in actions_of(protocol.body)}
        for does, name, verb in sorted(comparison.reader.unsaid):
            if (name, verb) not in said and any(name == subject for subject, _ in said):
                problems.append(
                    unproven(reading, protocol, f"{does} '{name}', and the protocol has no '{name}.{verb}'")
                )
        by = comparison.counted() if finding is not None and finding.event is None and not finding.reader else None
        if by is not None:
            rounds.append(Rounds(reading.claims.name.replace("::", "."), reading.code.name, by))
        elif finding is not None:
            problems.append(problem_of(reading, protocol, finding))
        elif finding is None and protocol.stated:
            problems += [problem_of(reading, protocol, found, given) for given, found in comparison.rounds()]
    except UndecidedError as why:
        problems.append(unproven(reading, protocol, str(why)))
    if stated is not None or problems:
        found = "otherwise" if problems else "as stated"
        placed = tuple(replace(problem, location=where) for problem in problems)
        declared = "stated" if stated is not None else "by default"
        yield Row(reading.claims.name, reading.code.title, "order of steps", declared, found, placed)


def _protocol(reading: Reading, stated: Record | None) -> Protocol | None:
    """What is to be compared; None where nothing is known to compare with."""
    if stated is not None:
        return Protocol(parse_text(str(stated.values.get("text", ""))))
    return default_protocol(reading)


def _untold(reading: Reading, protocol: Protocol) -> list[tuple[str, str]]:
    """Barriers and buffers that the code uses and no step names."""
    named = {action.subject for action in actions_of(protocol.body)}
    found: list[tuple[str, str]] = []
    for use, symbol in reading.uses:
        known = reading.resource(use)
        if known is None or not reading.claims.defined(symbol):
            continue
        kind, record = known
        if (
            kind in ("barrier", "smem", "tmem", "mbarrier", "cluster_barrier", "turns", "dispatch")
            and record.name not in named
        ):
            found.append((kind, record.name))
    return list(dict.fromkeys(found))


# ---------------------------------------------------------------------------------------------- the comparison
@dataclass
class Reader:
    """Says what the instructions of one role or answer are."""

    reading: Reading
    protocol: Protocol

    def __post_init__(self) -> None:
        claims = self.reading.claims
        self.buffers = {name for name, (kind, _) in claims.resources.items() if kind == "smem"}
        ports = [record for record in claims.of("port") if record.values.get("direction") in ("in", "local")]
        self.reads = {  # a bulk copy says out of which it is, a product does not
            "wgmma": tuple(record.name for record in ports if record.values.get("touch") == "wgmma"),
            "bulk": tuple(record.name for record in ports if record.values.get("kind") == "stream"),
            TOGETHER: tuple(
                record.name
                for record in ports
                if record.values.get("touch") == "wgmma" and not record.values.get("per_warp")
            ),
        }
        self.leaves = not claims.stores  # bulk copies for which nobody waits where the code ends
        self.counts = {
            name for step in steps_of(self.protocol.body) if isinstance(step, Repeat) and step.count is not None
            for name in count_names(step.count)
        }  # fmt: skip
        self.used = self.buffers & {use.resource for use, _ in self.reading.uses}
        self.copied: set[str] = set()  # buffers that bulk copies read
        self.unsaid: set[tuple[str, str, str]] = set()  # what is done to buffers without being a step, and its verb
        self.loads: dict[int, Unknown | int] = {}
        self.boxes: dict[tuple[str, str, int | None], int | None] = {}
        self.named = {action.subject for action in actions_of(self.protocol.body)}

    def classify(self, function: str, instruction: Instruction) -> Event | None:
        """The event that an instruction is."""
        parts = instruction.parts
        if instruction.callee:
            return self._called(instruction)
        if is_barrier(instruction):
            return self._barrier(function, instruction)
        if parts[:3] == ("fence", "proxy", "async"):
            return Event("fence", "async")
        if parts[0] in ("wgmma", "cp") and (found := self._asynchronous(function, instruction)) is not None:
            return found
        for start, verb in MBARRIER_VERBS.items():
            if instruction.opcode.startswith(start):
                for use in self._from(function, instruction.operands):
                    known = self.reading.claims.resources.get(use.resource, ("",))[0] == "mbarrier"
                    if known and use.resource in self.named:
                        return Event(use.resource, verb)
        if parts[0] == "cp" and "bulk_group" in parts:
            touched = self._touch(function, instruction)
            return Event("bulk", ISSUE, source=("",)) if touched is None and self.leaves else touched
        if parts[0] in _LOADS | _STORES | _ATOMICS:
            return self._touch(function, instruction)
        return None

    def _called(self, instruction: Instruction) -> Event | None:
        use = split_symbol(instruction.callee)
        claims = self.reading.claims
        if use is None or not claims.defined(instruction.callee):
            return None
        kind, record = claims.resources[use.resource]
        verb = VERB_OF.get(use.function, use.function)
        if kind == "call calls":  # what a loop goes by may be asked for ahead
            return Event(record.name, "call") if record.name not in self.counts else None
        if kind == "mbarrier":
            return Event(record.name, verb) if use.function == "wait" and record.name in self.named else None
        return Event(record.name, verb) if use.function in VERB_OF and kind.startswith(_PORTS) else None

    def _barrier(self, function: str, instruction: Instruction) -> Event | None:
        choices = self.reading.origins.choices(function, barrier_operands(instruction)[0])
        uses = {use.resource for c in choices if (use := split_symbol(c.removeprefix("call "))) is not None}
        known = [name for name in uses if name in self.reading.claims.resources]
        if len(known) > 1:
            raise UndecidedError("which of its barriers it is at is not known")
        verb = "arrive" if "arrive" in instruction.parts else "sync"
        return Event(known[0], verb) if known and known[0] in self.named else None

    def _asynchronous(self, function: str, instruction: Instruction) -> Event | None:
        parts = instruction.parts
        if parts[:2] == ("cp", "async") and parts[2] not in ("bulk", "mbarrier"):
            return self._copied(function, instruction) if self.used else None
        kind = "wgmma" if parts[0] == "wgmma" else "bulk" if "bulk" in parts[1:4] else ""
        if not kind or not (self.reads[kind] or self.used or (kind == "bulk" and self.leaves)):
            return None
        if any(part.startswith("commit_group") for part in parts):
            return Event(kind, COMMIT)
        if any(part.startswith("wait_group") for part in parts):
            left = number(instruction.operands[0]) if instruction.operands else None
            return Event(kind, WAIT, 0 if left is None else left)
        if parts[1] == "mma_async":
            return Event(kind, ISSUE, source=self._multiplied(function, instruction))
        if "bulk_group" in parts:
            for use in self._from(function, instruction.operands):
                if use.resource in self.reads["bulk"]:
                    return Event(kind, ISSUE, source=(use.resource,))
        if "mbarrier::complete_tx::bytes" in parts:
            return self._arriving(function, instruction)
        return None

    def _copied(self, function: str, instruction: Instruction) -> Event | None:
        """What cp.async is: threads copy into a buffer, make groups of that, and wait for them."""
        if instruction.parts[2] == "commit_group":
            return Event(THREADS, COMMIT)
        if instruction.parts[2] in ("wait_group", "wait_all"):
            left = number(instruction.operands[0]) if instruction.operands else ALL
            return Event(THREADS, WAIT, 0 if left is None else left)
        names = self._buffers(function, instruction.operands[:1])
        return Event(names[0], "write", source=(THREADS,)) if names and names[0] in self.named else None

    def _arriving(self, function: str, instruction: Instruction) -> Event | None:
        """A copy into a buffer of which an mbarrier of the component's own is told."""
        names = self._buffers(function, instruction.operands[:1])
        if not names:
            return None
        self.unsaid |= {("a bulk copy writes", name, "write") for name in names}
        told = {use.resource for use in self._from(function, instruction.operands[1:])}
        known = any(self.reading.claims.resources.get(name, ("",))[0] == "mbarrier" for name in told & self.named)
        return Event(MBARRIER, ISSUE, source=names) if known else None

    def _multiplied(self, function: str, instruction: Instruction) -> tuple[str, ...] | None:
        """The ports and buffers that a product reads; None where it reads any of the ports, as far as is known."""
        descriptors = [operand for operand in instruction.operands if operand.startswith("%rd")]
        buffers = [self._buffers(function, (f"[{one}]",)) for one in descriptors]
        found = [(*names, *self._ports(function, f"[{one}]")) for names, one in zip(buffers, descriptors, strict=True)]
        names = tuple(dict.fromkeys(name for one in found for name in one))
        self.unsaid |= {("wgmma reads", name, "read") for one in buffers for name in one}
        return names if names and all(found) else (*self.reads["wgmma"], *names) if any(buffers) else None

    def _buffers(self, function: str, operands: tuple[str, ...]) -> tuple[str, ...]:
        """The buffers that addresses come from."""
        uses = [use.resource for use in self._from(function, operands) if use.resource in self.buffers]
        return tuple(dict.fromkeys(self.reading.claims.resources[name][1].name for name in uses))

    def _ports(self, function: str, operand: str) -> tuple[str, ...]:
        """The ports whose slots an address comes from."""
        uses = {use.resource for use in self._from(function, (operand,)) if use.function == "address"}
        known = (self.reading.claims.resources.get(name) for name in sorted(uses))
        return tuple(found[1].name for found in known if found is not None and found[0].startswith("stream"))

    def _touch(self, function: str, instruction: Instruction) -> Event | None:
        """A read or a write of a buffer that the protocol names."""
        if instruction.opcode.startswith(("ld.param", "st.param", "ld.global", "st.global", "ld.local", "st.local")):
            return None
        if reaches_peer(self.reading, function, instruction):
            return self._peer_touch(function, instruction)
        reads = instruction.parts[0] in _LOADS or instruction.parts[0] == "cp"
        for use in self._from(function, instruction.operands):
            if use.resource in self.buffers:
                name = self.reading.claims.resources[use.resource][1].name
                if name in self.named:
                    if instruction.parts[0] == "cp":
                        self.copied.add(name)
                    return Event(name, "store" if instruction.parts[0] == "cp" else "read" if reads else "write")
        return self._slot(function, instruction)

    def _slot(self, function: str, instruction: Instruction) -> Event | None:
        """An access to a slot of a port, where its address is that and nothing else."""
        uses = {use.resource for use in self._from(function, instruction.operands) if use.function == "address"}
        ports = [name for name in uses if self.reading.claims.resources.get(name, ("",))[0].startswith("stream")]
        return Event(self.reading.claims.resources[ports[0]][1].name, ACCESS) if len(uses) == len(ports) == 1 else None

    def _peer_touch(self, function: str, instruction: Instruction) -> Event | None:
        """A read or a write of a buffer of another CTA of the cluster."""
        verb = peer_verb(instruction)
        uses = [use for use in self._from(function, instruction.operands) if use.resource in self.buffers]
        named = [self.reading.claims.resources[use.resource][1].name for use in uses]
        found = sorted({name for name in named if name in self.named})
        if verb and len(found) > 1:
            raise UndecidedError("which of its buffers it reaches in other CTAs is not known")
        return Event(found[0], verb) if verb and found else None

    def _from(self, function: str, operands: tuple[str, ...]) -> Iterator[Use]:
        """The accessors that addresses come from."""
        origins = self.reading.origins
        for operand in operands:
            if operand.startswith("["):
                for leaf in sorted(origins.leaves(function, operand)):
                    if leaf.startswith("call ") and (use := split_symbol(leaf.removeprefix("call "))) is not None:
                        yield use

    # -- values

    def needed(self, instruction: Instruction) -> tuple[str, ...]:
        """The operands whose values matter at an event: the tile and the bytes of a copy."""
        use = split_symbol(instruction.callee) if instruction.callee else None
        if use is not None and VERB_OF.get(use.function) == "copy" and len(instruction.arguments) > 6:
            return (*instruction.arguments[2:5], instruction.arguments[6])
        if self._waits(use):
            return instruction.arguments[2:4]
        slot = self.slot(instruction)
        return (slot,) if slot else ()

    def _waits(self, use: Use | None) -> bool:
        """Whether a call waits for an mbarrier of the component's own."""
        known = self.reading.claims.resources.get(use.resource, ("",)) if use is not None else ("",)
        return use is not None and use.function == "wait" and known[0] == "mbarrier"

    @staticmethod
    def slot(instruction: Instruction) -> str:
        """The operand of a step that is a slot."""
        use = split_symbol(instruction.callee) if instruction.callee else None
        given = use is not None and VERB_OF.get(use.function) in _OF_SLOTS
        return next(iter(instruction.arguments[2:3]), "") if given else ""

    def refine(self, event: Event, values: Mapping[str, Value], instruction: Instruction) -> Event:
        """A copy with its tile and bytes."""
        if event.verb == "wait" and self._waits(split_symbol(instruction.callee)):
            index, parity = (_known(operand, values) for operand in self.needed(instruction))
            return event if index is None or parity is None else replace(event, part=index, place=parity)
        if event.verb != "copy":
            return event
        part, place, size = (_known(operand, values) for operand in self.needed(instruction)[1:])
        record = self.reading.claims.resources[event.subject][1]
        if record.values.get("touch") != "bulk":
            asked = event.subject, instruction.arguments[5], part
            if asked not in self.boxes:
                self.boxes[asked] = self._box(instruction, record, part)
            size = self.boxes[asked]
        return event if part is None else Event(event.subject, "copy", part, size, place=place)

    def _box(self, instruction: Instruction, port: Record, part: int | None) -> int | None:
        """The bytes that a tensor copy brings, by its map."""
        sizes: set[int | None] = set()
        tiles: Any = port.values.get("tiles", [])
        for function in self.reading.functions:
            for choice in self.reading.origins.choices(function.name, instruction.arguments[5]):
                use = split_symbol(choice.removeprefix("call "))
                known = self.reading.resource(use) if use is not None else None
                if known is None or part is None or part >= len(tiles):
                    continue
                box: Any = known[1].values.get("box")
                bits = ELEMENT_BITS.get(str(tiles[part].get("element")), 0)
                sizes.add(math.prod(box) * bits // 8 if box else tiles[part].get("bytes"))
        return sizes.pop() if len(sizes) == 1 else None

    def parts(self, function: str, register: str) -> bool:
        """Whether a register differs from thread to thread."""
        return _of_threads(self.reading.origins.leaves(function, register))

    def load(self, step: Step) -> Unknown | int:
        """What is known of an instruction that is not followed."""
        if step.at not in self.loads:
            self.loads[step.at] = self._load(step)
        return self.loads[step.at]

    def _load(self, step: Step) -> Unknown | int:
        place = step.place
        code, original = place.code, place.original
        if code.callee:
            use = split_symbol(code.callee)
            if use is not None and use.function == "stages":
                return Unknown(f"{use.resource}.stages")
            return 0 if use is not None and use.function == "first_thread" else Unknown(step.at)
        parts = code.parts
        origins = self.reading.origins
        if parts[0] in _LOADS and original.operands:
            if parameter := parameter_of(original):
                return Unknown(f"argument {parameter}")
            address = original.operands[-1]
            choices = set[str]().union(*(origins.choices(place.function, r) for r in registers(address)), ())
            uses = [split_symbol(choice.removeprefix("call ")) for choice in choices]
            params = [use for use in uses if use is not None and use.resource.endswith("_param")]
            if len(params) == len(uses) == 1:
                offset = address.partition("+")[2].rstrip("] ")
                return Unknown(
                    params[0].resource.removesuffix("_param") + (f"+{offset}" if offset not in ("", "0") else "")
                )
            leaves = origins.leaves(place.function, address)
            local = "local" in parts and not self._stored(place.function, address)
            return Unknown(step.at, _of_threads(leaves), local or "global" in parts)
        leaves = set[str]().union(*(origins.leaves(place.function, o) for o in original.operands), ())
        return Unknown(step.at, _of_threads(leaves), False)

    def _stored(self, function: str, address: str) -> bool:
        """Whether the code itself writes there, in local memory."""
        own = next((one for one in self.reading.functions if one.name == function), None)
        return own is not None and any(
            i.opcode.startswith("st.local") and i.operands and i.operands[0] == address for i in own.instructions
        )


_OF_SLOTS: Final = frozenset(("release", "commit", "copy"))
#: What has steps that are compared: that signals come is not proved.
_PORTS: Final = ("stream", "token", "cluster_barrier", "turns", "dispatch")


def _of_threads(leaves: frozenset[str] | set[str]) -> bool:
    """Whether what values come from differs from thread to thread."""
    return any(
        SPECIAL.match(leaf) and leaf.startswith(("%tid", "%laneid", "%lanemask", "%warpid", "%clock", "%globaltimer"))
        for leaf in leaves
    )


def _known(operand: str, values: Mapping[str, Value]) -> int | None:
    value = number(operand)
    if value is None:
        found = values.get(operand)
        value = found if isinstance(found, int) else None
    return value


class _Comparison:
    """The code of a role or answer beside its protocol.  Raises UndecidedError where they cannot be compared."""

    def __init__(self, reading: Reading, protocol: Protocol) -> None:
        self.claims, self.protocol = reading.claims, protocol
        self.reader = Reader(reading, protocol)
        self.graph = Graph(reading.functions, self.reader.classify, self.reader.needed, self.reader.parts)
        actions = list(actions_of(protocol.body))
        stores = {action.subject for action in actions if action.verb == "store"}
        self.subjects = replace(_subjects(self.claims), stores=bool(stores))
        self.keeps = dict.fromkeys(stores, 0)
        for action in actions:
            if action.verb == "stored" and action.subject in stores:
                self.keeps[action.subject] = max(self.keeps[action.subject], action.keep)
        role = self.claims.role(reading.code)
        one = role is not None and role.values.get("threads") == "one"
        self.threads = 1 if one else threads_of(role) if role is not None else _most_threads(self.claims)

    def run(
        self, body: Block, known: Mapping[Atom, bool] | None = None, rounds: int = 2,
        given: Mapping[str, int] | None = None,
    ) -> Finding | None:  # fmt: skip
        """The first way of the code that the protocol ``body`` does not have, where some things are ``known``; loops by
        numbers that nothing is known of are counted for so many ``rounds``.  With numbers that are ``given``, in a grid
        of one CTA, a way is certain that is decided by them and by the answers to calls.  Where the protocol tells CTAs
        of a cluster apart, the code of each is compared with what that one does."""
        for rank, own, place in by_rank(self.claims, body):
            finding = self._run(own, known, rounds, given, place)
            if finding is not None:
                said = () if rank is None else (f"in the CTA of rank {rank}",)
                return replace(finding, trail=(*said, *finding.trail))
        return None

    def _run(
        self, body: Block, known: Mapping[Atom, bool] | None, rounds: int, given: Mapping[str, int] | None,
        place: Mapping[str, int],
    ) -> Finding | None:  # fmt: skip
        parts = (action.by.threads for action in actions_of(body) if action.by is not None)
        edges = sorted({0, self.threads, *(part for part in parts if part < self.threads)})
        languages = [
            ((1 << end) - (1 << begin), Language(body, self.subjects, begin))
            for begin, end in itertools.pairwise(edges)
        ]
        reader, first = self.reader, {**dict(_counts(self.claims, body)), **(known or {})}
        load = reader.load if given is None else partial(self._load, given)
        return Walk(
            self.graph, self.threads, languages, load, reader.refine, first, reader.reads, self.keeps, reader.slot,
            rounds + 2, {**place, **({} if given is None else _ONE_CTA)}, reader.leaves,
        ).run()  # fmt: skip

    def _load(self, given: Mapping[str, int], step: Step) -> Unknown | int:
        """What is known of an instruction where some numbers are given."""
        found = self.reader.load(step)
        if isinstance(found, int):
            return found
        if isinstance(found.at, str) and found.at in given:
            return given[found.at]
        return found if "local" in step.place.code.parts else replace(found, free=False)

    def _with(self, given: Mapping[str, int], body: Block) -> Finding | None:
        rounds = math.prod(filter(None, given.values()))
        try:
            return self.run(body, rounds=rounds + _BESIDE, given=given)
        except UndecidedError:  # a counter that nothing stops is counted too far
            return self.run(body, rounds=rounds, given=given)

    def rounds(self) -> Iterator[tuple[str, Finding]]:
        """The first numbers for which loops of the code do not go round as often as the protocol says, if there are
        any, and where.  Only what follows from these numbers alone is certain."""
        loops = [step for step in steps_of(self.protocol.body) if isinstance(step, Repeat)]
        numbers = {r.name for r in self.claims.of("param") if str(r.values.get("type", "")) in _COUNTS}
        numbers |= {f"{r.name}.stages" for r in self.claims.of("port")}
        counts = [frozenset(count_names(step.count)) for step in loops if step.count is not None]
        names = sorted(frozenset[str]().union(*(count for count in counts if count <= numbers)))
        for turn in range(len(_TRIED) if names else 0):
            given = {name: _TRIED[(turn + at) % len(_TRIED)] for at, name in enumerate(names)}
            body = counted(self.protocol.body, given)
            if body is None or any(name.endswith(".stages") and not value for name, value in given.items()):
                continue
            if (found := self._with(given, body)) is not None:
                yield " and ".join(f"{name} = {value}" for name, value in given.items()), found
                return

    def counted(self) -> str | None:
        """The parameter by which the loop of a default protocol goes round, if there is one."""
        if self.protocol.stated or not any(isinstance(step, Repeat) for step in self.protocol.body):
            return None
        numbers = [r.name for r in self.claims.of("param") if str(r.values.get("type", "")) in _COUNTS]
        loaded = self._loaded()
        known = (name for name in numbers if name in loaded)
        return next((name for name in known if all(self._goes(name, rounds) for rounds in _TRIED)), None)

    def _loaded(self) -> set[object]:
        """What the code loads that may decide a branch; by anything else it does not go."""
        steps = (step for block in self.graph.blocks for step in block.steps)
        known = (self.reader.load(step) for step in steps if step.made and step.place.code.parts[0] in _LOADS)
        return {one.at for one in known if isinstance(one, Unknown)}

    def _goes(self, name: str, rounds: int) -> bool:
        body = tuple(
            replace(step, count=str(rounds)) if isinstance(step, Repeat) and step.count is None else step
            for step in self.protocol.body
        )
        return self.run(body, {Atom(Unknown(name), "==", rounds): True}, rounds) is None


def _most_threads(claims: Claims) -> int:
    """Threads that an answer may run in, as far as its barriers say."""
    counts = [record.values.get("threads") for record in claims.of("barrier")]
    return max([_ANSWERS_THREADS, *(count for count in counts if isinstance(count, int))])


def _subjects(claims: Claims) -> Subjects:
    ports = claims.of("port")
    tiles: dict[str, tuple[int | None, ...]] = {}
    for record in ports:
        if record.values.get("kind") == "stream":
            listed: Any = record.values.get("tiles", [])
            tiles[record.name] = tuple(tile.get("bytes") for tile in listed)
    return Subjects(
        frozenset(r.name for r in ports if (r.values.get("kind"), r.values.get("direction")) == ("call", "calls")),
        frozenset(r.name for r in ports if r.values.get("kind") == "signal"),
        frozenset(r.name for r in ports if r.values.get("direction") == "out" and r.values.get("ends")),
        tiles,
        frozenset(r.name for r in claims.of("mbarrier")),
        frozenset(r.name for r in (*claims.of("smem"), *claims.of("tmem"))),
    )


def _counts(claims: Claims, body: Block) -> Iterator[tuple[Atom, bool]]:
    """What a protocol says of the numbers that it counts by: they are never negative, and of some never 0."""
    params = {record.name for record in claims.of("param")}
    for record in claims.of("port"):
        yield Atom(Unknown(f"{record.name}.stages"), "<=", 0), False
    for step in steps_of(body):
        if isinstance(step, Repeat) and step.count is not None:
            for name in count_names(step.count):
                if name in params:
                    alone = step.count.strip() == name and step.at_least_once
                    yield Atom(Unknown(name), "<=", 0 if alone else -1), False
