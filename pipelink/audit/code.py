"""The rules of an audit about one role or answer: what its code does that the linker has to know of, and was not told.

Every rule takes a :class:`Reading`, the functions that a role's entry or an answer reaches, and yields the rows of the
table.  What a value is comes from ``values``; nothing is guessed: a value that cannot be followed is a warning.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

from pipelink.audit.claims import WARP, Claims, Code, Use, alignment_of, split_symbol, threads_of
from pipelink.audit.placement import Placed, placement_uses, size_uses
from pipelink.audit.printing import DRIVER_CALLS
from pipelink.audit.report import Problem, Row, listed
from pipelink.audit.values import Origins, number, registers
from pipelink.backend.ptx import Function, Instruction, Module
from pipelink.objects.model import Record
from pipelink.support.diagnostics import Location, Severity

# Where answers run is for whoever calls to say.  What takes fragments needs a whole, aligned warpgroup.
_CALLERS_ALIGNMENT: Final = 4 * WARP
_NEEDS_CLUSTER: Final = frozenset(("mapa", "getctarank"))
_CLUSTER_ACCESS: Final = frozenset(("ld", "st", "atom", "red"))
_SHARED_ACCESS: Final = frozenset(("ld", "st", "atom", "red", "ldmatrix", "stmatrix", "mbarrier", "cvta", "cp"))
_TMEM_OWNERSHIP: Final = frozenset(("alloc", "dealloc", "relinquish_alloc_permit"))
_HEAP: Final = frozenset(("malloc", "free"))
_LAUNCHES: Final = ("__cudaCDP2", "cudaLaunchDevice", "cudaGetParameterBuffer")
_LAUNCH_SIZES: Final = ("%ntid.", "%nwarpid", "%warpid", "%dynamic_smem_size", "%total_smem_size", "%aggr_smem_size")


@dataclass(frozen=True)
class Reading:
    """The code of a role or answer: ``functions`` are those that it reaches, itself first.  ``debug``: it goes into a
    debug link.  ``line_of`` finds where code calls a function that is not there."""

    claims: Claims
    code: Code
    module: Module
    functions: tuple[Function, ...]
    debug: bool = False
    line_of: Callable[[Function, str], Location | None] = lambda _function, _callee: None

    @property
    def what(self) -> str:
        """The code in messages: ``role 'run' of 'acme::loader'``."""
        return f"{self.code.title} of '{self.claims.name}'"

    @cached_property
    def instructions(self) -> list[tuple[Function, Instruction]]:
        return [(function, instruction) for function in self.functions for instruction in function.instructions]

    @cached_property
    def origins(self) -> Origins:
        return Origins(self.functions)

    @cached_property
    def uses(self) -> tuple[tuple[Use, str], ...]:
        """The accessors that the code calls, with their symbols, each once."""
        callees = dict.fromkeys(i.callee for _, i in self.instructions if i.callee)
        return tuple((use, symbol) for symbol in callees if (use := split_symbol(symbol)) is not None)

    def row(self, name: str, declared: str, found: str, problems: list[Problem] | None = None) -> Row:
        return Row(self.claims.name, self.code.title, name, declared, found, tuple(problems or ()))

    def problem(
        self, severity: Severity, id: str, message: str, *quotes: str, hint: str | None = None, at: Record | None = None
    ) -> Problem:
        return Problem(severity, id, message, (at or self.code.record).location, hint, quotes)

    def resource(self, use: Use) -> tuple[str, Record] | None:
        """What the contract says of the resource that an accessor belongs to."""
        return self.claims.resources.get(use.resource) if use.component == self.claims.name else None


def rows(reading: Reading) -> Iterator[Row]:
    """Every rule's rows."""
    yield from _barriers(reading)
    yield from _shared(reading)
    yield from _thread_numbers(reading)
    yield from _ownership(reading)
    yield from _cluster(reading)
    yield from _externals(reading)


# --------------------------------------------------------------------------------------------------------- barriers
def is_barrier(instruction: Instruction) -> bool:
    """Whether it uses one of the CTA's sixteen barriers."""
    parts = instruction.parts
    return parts[0] in ("bar", "barrier") and len(parts) > 1 and parts[1] not in ("warp", "cluster")


def barrier_operands(instruction: Instruction) -> tuple[str, str | None]:
    """The id and the count of threads, None if all threads of the CTA take part."""
    operands = instruction.operands[1:] if "red" in instruction.parts else instruction.operands
    if "red" in instruction.parts:  # id, [count,] predicate
        return (operands[0] if operands else "0"), (operands[1] if len(operands) > 2 else None)
    return (operands[0] if operands else "0"), (operands[1] if len(operands) > 1 else None)


def _barriers(reading: Reading) -> Iterator[Row]:
    claims, problems = reading.claims, list[Problem]()
    found: list[str] = []
    for function, instruction in reading.instructions:
        if not is_barrier(instruction):
            continue
        id_, count = barrier_operands(instruction)
        for choice in sorted(reading.origins.choices(function.name, id_)):
            symbol = choice.removeprefix("call ")
            use = split_symbol(symbol) if choice.startswith("call ") else None
            if use is not None and use.function == "id" and claims.defined(symbol):
                sizes = _sizes_of(reading, function, use, count)
                found += [f"{use.resource} ({size} threads)" for size in sizes]
                problems += _count(reading, instruction, use, sizes)
            elif not choice.startswith(("#", "%")) or "computed" in reading.origins.choices(function.name, id_):
                found.append("a computed id")
                problems.append(_unknown_id(reading, function, instruction, id_))
                break
            else:
                found.append(f"id {choice.removeprefix('#')}" + (" (all threads)" if count is None else ""))
                problems.append(_fixed_id(reading, instruction, choice, count))
    cluster = [i.text for _, i in reading.instructions if i.parts[:2] == ("barrier", "cluster")]
    if cluster:
        found.append("the cluster's")
        message = f"{reading.what} waits for the whole cluster, of which it is only a part of one CTA"
        problems.append(reading.problem("error", "cluster-barrier", message, *cluster))
    declared = [
        f"{record.name} ({record.values.get('threads')} threads)"
        for record in claims.of("barrier")
        if reading.code.kind == "answer" or record.values.get("role") in (None, reading.code.name)
    ]
    if declared or found:
        yield reading.row("named barriers", listed(declared), listed(found), list(dict.fromkeys(problems)))


def _fixed_id(reading: Reading, instruction: Instruction, choice: str, count: str | None) -> Problem:
    if count is None:
        message = f"{reading.what} synchronises all threads of the CTA, most of which are other roles'"
        hint = "declare a PL_BARRIER of its own threads"
        return reading.problem("error", "cta-barrier", message, instruction.text, hint=hint)
    message = f"{reading.what} uses named barrier {choice.removeprefix('#')}, which the linker did not give it"
    hint = "declare a PL_BARRIER and use its id"
    return reading.problem("error", "hard-coded-barrier", message, instruction.text, hint=hint)


def _unknown_id(reading: Reading, function: Function, instruction: Instruction, id_: str) -> Problem:
    leaves = reading.origins.leaves(function.name, id_)
    given = [use for leaf in leaves if (use := split_symbol(leaf.removeprefix("call "))) and use.function == "id"]
    if leaves & {"memory", "argument"}:
        message = f"{reading.what} uses a named barrier whose id comes from memory or an argument"
        return reading.problem("warning", "unclear-barrier", message, instruction.text)
    if given:
        names = listed(f"'{use.resource}'" for use in given)
        message = f"{reading.what} uses a named barrier whose id it computes from that of {names}"
        hint = "ids that follow each other are not promised: declare each barrier"
        return reading.problem("error", "hard-coded-barrier", message, instruction.text, hint=hint)
    message = f"{reading.what} uses a named barrier whose id it computes, and did not get from the linker"
    hint = "declare a PL_BARRIER and use its id"
    return reading.problem("error", "hard-coded-barrier", message, instruction.text, hint=hint)


def _sizes_of(reading: Reading, function: Function, use: Use, count: str | None) -> list[str]:
    """With how many threads a barrier of the contract is used: numbers, ``all``, or ``some`` that are not known."""
    if count is None:
        return ["all"]
    known = reading.resource(use)
    declared = str(known[1].values.get("threads")) if known is not None else "some"
    found: set[str] = set()
    for choice in reading.origins.choices(function.name, count):
        other = split_symbol(choice.removeprefix("call "))
        own = other is not None and (other.resource, other.function) == (use.resource, "threads")
        found.add(declared if own else choice.removeprefix("#") if choice.startswith("#") else "some")
    return sorted(found)


def _count(reading: Reading, instruction: Instruction, use: Use, sizes: list[str]) -> Iterator[Problem]:
    known = reading.resource(use)
    if known is None:
        return
    declared = str(known[1].values.get("threads"))
    wrong = [size for size in sizes if size not in (declared, "some")]
    if wrong:
        message = f"{reading.what} uses barrier '{use.resource}' with {listed(wrong)} threads, declared are {declared}"
        yield reading.problem("error", "barrier-count", message, instruction.text, at=known[1])


# ---------------------------------------------------------------------------------------------------- shared memory
def _shared(reading: Reading) -> Iterator[Row]:
    claims, problems = reading.claims, list[Problem]()
    declared = [f"{r.name} ({r.values.get('bytes')} bytes)" for r in claims.of("smem") if _is_mine(reading, r)]
    found = [use.resource.removesuffix("_smem") for use, symbol in reading.uses
             if use.function == "address" and use.resource.endswith("_smem") and claims.defined(symbol)]  # fmt: skip
    variables = dict(reading.module.shared)
    for function in reading.functions:
        variables |= function.shared
    for name, size in _touched(reading, variables):
        found.append(f"variable {_short(name)} ({size or 'any number of'} bytes)")
        kind = f"a variable of {size} bytes" if size else "a variable of a size that the launch decides,"
        message = f"{reading.what} has {kind} in shared memory, '{_short(name)}', that its contract does not know"
        hint = "declare it with PL_SMEM: the linker lays out all shared memory"
        problems.append(reading.problem("error", "undeclared-smem", message, hint=hint))
    fixed = list(_fixed_addresses(reading))
    if fixed:
        found.append("fixed addresses")
        message = f"{reading.what} addresses shared memory at places that it did not get from the linker"
        hint = "take addresses from PL_SMEM and from ports"
        problems.append(reading.problem("error", "hard-coded-address", message, *fixed, hint=hint))
    if declared or found:
        yield reading.row("shared memory", listed(declared), listed(found), problems)


def _is_mine(reading: Reading, record: Record) -> bool:
    return reading.code.kind == "answer" or record.values.get("role") in (None, reading.code.name)


def _touched(reading: Reading, variables: dict[str, int]) -> Iterator[tuple[str, int]]:
    """The shared variables that the code names."""
    if not variables:
        return
    text = " ".join(operand for _, i in reading.instructions for operand in (*i.operands, *i.arguments))
    words = set(text.replace("[", " ").replace("]", " ").replace("+", " ").replace(",", " ").split())
    yield from ((name, size) for name, size in variables.items() if name in words)


def _short(name: str) -> str:
    """A variable's name without the function that it stands in."""
    parts = name.split("E")
    tail = parts[-1].lstrip("0123456789") if name.startswith("_ZZ") and len(parts) > 1 else name
    return tail or name


def _fixed_addresses(reading: Reading) -> Iterator[str]:
    """Accesses whose address is made of numbers and thread numbers alone."""
    for function, instruction in reading.instructions:
        if instruction.parts[0] not in _SHARED_ACCESS or not any("shared" in part for part in instruction.parts):
            continue
        if instruction.parts[0] == "cvta":
            if "to" in instruction.parts:
                continue
            addresses = [instruction.operands[-1]]
        else:
            addresses = [operand for operand in instruction.operands if operand.startswith("[")]
        for address in addresses:
            leaves = reading.origins.leaves(function.name, address)
            if (registers(address) or number(address.strip("[] ")) is not None) and all(
                leaf.startswith(("#", "%")) for leaf in leaves
            ):
                yield instruction.text


# --------------------------------------------------------------------------------------------------- thread numbers
def _thread_numbers(reading: Reading) -> Iterator[Row]:
    role = reading.claims.role(reading.code)
    first = frozenset(symbol for use, symbol in reading.uses if use.function == "first_thread")
    alignment = alignment_of(role) if role is not None else _CALLERS_ALIGNMENT
    placed = Placed(alignment, threads_of(role) if role is not None else 0, first)
    faults = placement_uses(reading.functions, placed)
    problems: list[Problem] = []
    found = ["its own"] if first else []
    certain = [fault.instruction.text for fault in faults if fault.certain]
    unclear = [fault.instruction.text for fault in faults if not fault.certain]
    if role is None:
        hint = "an answer runs in its caller's threads: use threadIdx.x modulo the warp or the warpgroup"
    else:
        hint = f"{role.name}::thread(self) is the thread's number in its role, wherever the linker puts it"
    if certain:
        found.append("threadIdx.x as it is")
        message = f"{reading.what} uses threadIdx.x in a way that depends on where the linker puts it"
        problems.append(reading.problem("error", "launch-shape", message, *certain, hint=hint))
    elif unclear:
        found.append("threadIdx.x, passed on")
        message = f"{reading.what} hands threadIdx.x on, to where it cannot be followed"
        problems.append(reading.problem("warning", "launch-shape", message, *unclear, hint=hint))
    for register, texts in sorted(size_uses(reading.functions, _LAUNCH_SIZES).items()):
        found.append(register)
        message = f"{reading.what} reads {register}, which is a fact about the whole kernel"
        problems.append(reading.problem("error", "launch-shape", message, *texts))
    declared = f"{threads_of(role)} threads" if role is not None else "its caller's threads"
    if role is not None and role.values.get("threads") == "one":
        declared = "one thread"
    read = any("%tid.x" in operand for _, instruction in reading.instructions for operand in instruction.operands)
    otherwise = "not asked"
    if read and not found:
        wide = role is None and placement_uses(reading.functions, Placed(WARP, 1, first))
        otherwise = "modulo several warps" if wide else "modulo a warp" if role is None else "modulo only"
    yield reading.row("threads", declared, listed(found, otherwise), problems)


# -------------------------------------------------------------------------------------------- what the linker owns
def _ownership(reading: Reading) -> Iterator[Row]:
    """Registers of the CTA, tensor memory, barriers in memory, the threads' end."""
    every = [(function, i) for function, i in reading.instructions if i.parts]
    for name, id_, does, texts in (
        ("setmaxnreg", "own-setmaxnreg", "moves registers between warpgroups itself",
         [i.text for _, i in every if i.parts[0] == "setmaxnreg"]),
        ("tensor memory", "own-tmem", "allocates or frees tensor memory itself",
         [i.text for _, i in every if i.parts[0] == "tcgen05" and i.parts[1] in _TMEM_OWNERSHIP]),
        ("end of threads", "thread-exit", "ends its threads, for which the rest of the kernel waits",
         list(_exits(reading))),
    ):  # fmt: skip
        if texts:
            hint = "leave by returning" if id_ == "thread-exit" else "the linker does it, for the kernel as a whole"
            problem = reading.problem("error", id_, f"{reading.what} {does}", *texts, hint=hint)
            yield reading.row(
                name, "none", listed(".".join(text.split()[0].split(".")[:2]) for text in texts), [problem]
            )
    inits = [(f, i) for f, i in every if i.parts[0] == "mbarrier" and i.parts[1] in ("init", "inval")]
    if inits:
        yield _mbarriers(reading, inits)


def _exits(reading: Reading) -> Iterator[str]:
    """``exit`` that is not the end of a trap or of a call that does not return."""
    for function in reading.functions:
        before = ""
        for instruction in function.instructions:
            if instruction.opcode == "exit" and before not in ("trap", "call"):
                yield f"{'@' + instruction.predicate + ' ' if instruction.predicate else ''}exit"
            before = "call" if instruction.callee else instruction.parts[0]


def _mbarriers(reading: Reading, inits: list[tuple[Function, Instruction]]) -> Row:
    texts = [instruction.text for _, instruction in inits]
    problems: list[Problem] = []
    places: list[str] = []
    for function, instruction in inits:
        leaves = reading.origins.leaves(function.name, instruction.operands[0])
        uses = [use for leaf in leaves if (use := split_symbol(leaf.removeprefix("call ")))]
        resources = [known for use in uses if (known := reading.resource(use))]
        owned = [record for kind, record in resources if kind == "smem"]
        for record in (record for kind, record in resources if kind == "mbarrier"):
            places.append(record.name)
            message = f"{reading.what} initialises mbarrier '{record.name}', which the linker has set up"
            hint = "leave it out: the entry initialises every PL_MBARRIER before the roles begin"
            problems.append(reading.problem("error", "own-mbarrier", message, *texts, hint=hint, at=record))
        places += [f"in {record.name}" for record in owned]
        for record in owned:
            if "live" in record.values:
                message = f"{reading.what} has an mbarrier in '{record.name}', whose bytes others use at other times"
                hint = "a buffer with pl::live is overlaid: an mbarrier needs one of its own"
                problems.append(reading.problem("error", "own-mbarrier", message, *texts, hint=hint, at=record))
    if not problems:
        message = f"{reading.what} initialises mbarriers of its own, which no check of the linker covers"
        hint = "declare a PL_MBARRIER: the linker initialises it and counts its arrivals, as it does for ports"
        problems.append(reading.problem("warning", "own-mbarrier", message, *texts, hint=hint))
    return reading.row("mbarriers", "none", f"its own {listed(places, '')}".strip(), problems)


# ---------------------------------------------------------------------------------------------------------- cluster
def _cluster(reading: Reading) -> Iterator[Row]:
    access: list[str] = []
    rank: list[str] = []
    for _, instruction in reading.instructions:
        parts = instruction.parts
        remote = any("shared::cluster" in part for part in parts)
        multicast = any("multicast::cluster" in part or "cta_group::2" in part for part in parts)
        if parts[0] in _NEEDS_CLUSTER or (remote and parts[0] in _CLUSTER_ACCESS) or multicast or parts[:2] == (
            "st", "async",
        ):  # fmt: skip
            access.append(instruction.text)
        rank += [
            instruction.text
            for operand in instruction.operands
            for register in registers(operand)
            if register.startswith(("%cluster", "%ncluster"))
        ]
    if not access and not rank:
        return
    problems: list[Problem] = []
    if not reading.claims.in_cluster:
        severity: Severity = "error" if access else "warning"
        does = "reaches into other CTAs of a cluster" if access else "asks for its place in a cluster"
        message = f"{reading.what} {does}, and its contract speaks of none"
        hint = "say PL_CLUSTER, or leave the cluster to a cluster transfer"
        problems.append(reading.problem(severity, "undeclared-cluster", message, *(access or rank), hint=hint))
    declared = "a cluster" if reading.claims.in_cluster else "none"
    yield reading.row("cluster", declared, "other CTAs" if access else "its rank", problems)


# -------------------------------------------------------------------------------------------------------- externals
def _externals(reading: Reading) -> Iterator[Row]:
    outside: dict[str, Function] = {}
    for function, instruction in reading.instructions:
        callee = instruction.callee
        if callee and callee not in reading.module.functions and not reading.claims.defined(callee):
            outside.setdefault(callee, function)
    problems: list[Problem] = []
    names: list[str] = []
    for callee, function in outside.items():
        use = split_symbol(callee)
        shown = f"{use.component}::{use.resource}::pl_{use.function}" if use else DRIVER_CALLS.get(callee, callee)
        names.append("a pointer" if callee.startswith("%") else shown)
        if callee in DRIVER_CALLS and reading.debug:
            continue
        id_, does, hint = _external(callee, shown)
        called = reading.origins.choices(function.name, callee) if callee.startswith("%") else frozenset[str]()
        if called and all(leaf.startswith("symbol ") for leaf in called):  # which nvJitLink makes of a call by name
            which = listed(f"'{leaf.removeprefix('symbol ')}'" for leaf in sorted(called))
            does = f"calls {which} with other types than it is defined with"
            id_, hint = "symbol-mismatch", "include one declaration in both"
        steps = callee in _HEAP or callee.startswith(_LAUNCHES)
        if steps and any(hint == problem.hint for problem in problems):  # of one thing, which is said already
            continue
        problem = reading.problem("error", id_, f"{reading.what} {does}", hint=None if use else hint)
        where = reading.line_of(function, callee)
        problems.append(replace(problem, location=where) if where is not None else problem)
    if names:
        allowed = "those of a debug link" if reading.debug else "none"
        yield reading.row("calls outside", allowed, listed(names), problems)


def is_of_driver(callee: str) -> bool:
    """Whether no object could define it: printf, assert, the heap, launches."""
    return callee in DRIVER_CALLS or callee in _HEAP or callee.startswith(_LAUNCHES)


def _external(callee: str, shown: str) -> tuple[str, str, str]:
    """Of a function that nobody defines: the diagnostic, what the code does, and the way out."""
    if callee.startswith("%"):
        does = "calls through a pointer, to where nothing can be followed"
        return "undeclared-external", does, "call the function by its name"
    if callee in DRIVER_CALLS:
        only = " or compile with -DNDEBUG" if shown == "assert" else " or leave it out"
        hint = f"link with --debug-print (from Python: debug_print=True),{only}"
        return "debug-call", f"calls {shown}, which only a debug link takes: it needs a call and stack", hint
    if callee in _HEAP:
        does = f"calls {shown}: linked kernels have no heap on the device"
        return "undeclared-external", does, "take memory from PL_SMEM, or global memory from PL_WORKSPACE"
    if callee.startswith(_LAUNCHES):
        does = f"launches a kernel from the device ({shown}), for which linked kernels have no device runtime"
        return "undeclared-external", does, "make it a role of this kernel, or a launch of the host"
    does = f"calls '{shown}', which neither the object nor its contract has"
    hint = "the linker defines what is declared; link the object that defines it, and audit both together"
    return "undeclared-external", does, hint
