"""Feeders and sinks of a component, as CUDA C++ text and a plan of what they move, made from its contract alone.

Each port of the component gets a component at its other end, in namespace ``pl_bench``:

- a stream into it is filled by TMA, or by threads that copy what the host laid out as the slot wants it;
- a stream out of it is read by threads, which copy slots as they lie; the host sorts the elements;
- calls that it answers are made by one role, all of them in the order of a script;
- calls that it makes are answered by values from memory, and their arguments are noted;
- tokens are passed and taken.

What is a struct here has the size and the alignment of the author's, which is all that the ABI of calls and items asks.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from pipelink.contract.vocabulary import ELEMENT_BITS, SWIZZLES, Tile
from pipelink.objects import ContractComponent, Record
from pipelink.support.diagnostics import LinkError, error
from pipelink.testing.plan import PortPlan, Turn, Values, turns

NAMESPACE: Final = "pl_bench"
CALLER: Final = "caller"  # the component that makes all calls
SCRIPT, STEPS = "pl_script", "pl_steps"  # the launch arguments that say which calls it makes
_MAX_BOX: Final = 256  # elements along a dimension of a tensor map's box (CUDA driver API, cuTensorMapEncodeTiled)
_UNIT: Final = 16  # bytes of which a box's rows are made
_MAX_RANK: Final = 4  # dimensions of a tile that TMA fills: the items are one more
_WIDE: Final = 4096  # bytes of a slot that are worth four warps
_TYPES: Final = {
    "bf16": "pl::bf16", "f16": "pl::f16", "e4m3": "pl::e4m3", "e5m2": "pl::e5m2", "f32": "float", "f64": "double",
    "bool": "bool", "i8": "signed char", "u8": "unsigned char", "i16": "short", "u16": "unsigned short", "i32": "int",
    "u32": "unsigned", "i64": "long long", "u64": "unsigned long long",
}  # fmt: skip
#: Elements that are no type by themselves: what stands for their values.
_BITS: Final = {"bf16": "short", "f16": "short", "e4m3": "char", "e5m2": "char"}
_STRUCT: Final = re.compile(r"(?P<name>.+)<(?P<size>\d+),(?P<align>\d+)>")
_FRAGMENT: Final = re.compile(r"fragment<(?P<of>.+),(?P<count>\d+)>")
_ARRAY: Final = re.compile(r"(?P<of>.+)\[(?P<count>\d+)\]")


@dataclass(frozen=True)
class Other:
    """The other end of a port: which component it is of, and which port of that."""

    component: str
    port: str
    plan: PortPlan
    source: bool  # whether it is the source of the connection


@dataclass
class Bench:
    """The generated text, and what it is for."""

    text: str
    others: tuple[Other, ...]


@dataclass
class _Source:
    """The text under construction."""

    types: list[str] = field(default_factory=list[str])
    names: dict[str, str] = field(default_factory=dict[str, str])  # of types that were declared
    components: list[str] = field(default_factory=list[str])

    def declare(self, name: str, lines: Iterable[str]) -> None:
        """A component."""
        self.components.append("\n".join([f"PL_COMPONENT({NAMESPACE}::{name}) {{", *lines, "}"]))

    def alias(self, text: str, made: str) -> str:
        """A name for a type; ``made`` declares it, with ``NAME`` for the name."""
        if text not in self.names:
            self.names[text] = f"t{len(self.names)}"
            self.types.append(made.replace("NAME", self.names[text]))
        return f"{NAMESPACE}::{self.names[text]}"


def generate(component: ContractComponent, *, feed: str, threads: int) -> Bench:
    """The other ends of a component's ports.  ``feed`` (auto, tma, threads) says how streams are filled, ``threads``
    how many threads make the calls that the component answers.  Raises LinkError ``bench-unsupported``."""
    source = _Source()
    others: list[Other] = []
    called: list[tuple[PortPlan, list[str]]] = []
    tokens: list[PortPlan] = []
    for record in component.records:
        if record.op != "port" or record.values.get("direction") == "local":
            continue
        match (record.values["kind"], record.values["direction"]):
            case ("stream", "in"):
                others.append(_feeder(source, record, feed))
            case ("stream", "out"):
                others.append(_sink(source, record))
            case ("call", "answers"):
                called.append(_call(source, record, "called"))
            case ("call", "calls"):
                others.append(_answer(source, record))
            case ("token", "in"):
                tokens.append(PortPlan(record.name, "passed"))
            case ("token", "out"):
                tokens.append(PortPlan(record.name, "counted"))
            case (kind, _):
                raise unsupported(record, f"a {kind} has no end that stands for another CTA or component")
    for turn in turns(tokens):
        others += _token(source, turn)
    if called:
        others += _caller(source, called, threads)
    text = ["#include <pipelink/component.cuh>", _HELPERS, *source.types, *source.components]
    return Bench("\n".join(text) + "\n", tuple(others))


def unsupported(record: Record, why: str) -> LinkError:
    """The error that a port cannot be tested alone."""
    return error("bench-unsupported", f"port '{record.name}' cannot be tested alone: {why}", record.location)


# ---------------------------------------------------------------- types
def _values(source: _Source, record: Record, text: str) -> tuple[str, Values]:
    """A type of a signature or an item: how C++ spells it, and what its values are."""
    reference = text.endswith("&")
    bare = text.removesuffix("&").removeprefix("const ")
    if bare in _TYPES:
        bits = ELEMENT_BITS.get(bare, 8)
        spelled = _TYPES[bare]
        if bare in _BITS:
            made = f"struct {NAMESPACE}::NAME {{ unsigned {_BITS[bare]} bits; }};\n"
            made += f'template <> struct pl::element<{NAMESPACE}::NAME> {{ PL_STATIC_FN_ const char* name() {{ return "'
            made += f'{bare}"; }} enum : int {{ bits = {bits} }}; }};'
            spelled = source.alias(bare, f"namespace {NAMESPACE} {{ struct NAME; }}\n{made}")
        return spelled, Values(bare, (), bits // 8, reference=reference)
    if bare == "tile_coord":
        return "pl::tile_coord", Values("i32", (3,), 12, reference=reference)  # valid is a byte, and three of padding
    if found := _FRAGMENT.fullmatch(bare):
        spelled, of = _values(source, record, found["of"])
        return f"pl::fragment<{spelled}, {found['count']}>", _repeated(of, int(found["count"]), reference)
    if found := _ARRAY.fullmatch(bare):
        spelled, of = _values(source, record, found["of"])
        count = int(found["count"])
        made = f"namespace {NAMESPACE} {{ using NAME = {spelled}[{count}]; }}"
        return source.alias(bare, made), _repeated(of, count, reference)
    if found := _STRUCT.fullmatch(bare):
        size, align = int(found["size"]), int(found["align"])
        word = min(align, 8)
        unit = {1: "char", 2: "short", 4: "int", 8: "long long"}[word]
        made = f"namespace {NAMESPACE} {{ struct alignas({align}) NAME {{ unsigned {unit} words[{size // word}]; }}; }}"
        if found["name"] != "struct":
            made += f'\nPL_TYPE({NAMESPACE}::NAME, "{found["name"]}");'
        return source.alias(bare, made), Values("u8", (size,), size, reference=reference)
    raise unsupported(record, f"no array holds values of type '{text}'")


def _repeated(of: Values, count: int, reference: bool) -> Values:
    return Values(of.element, (count, *of.extents), count * of.bytes, reference=reference)


def _call(source: _Source, record: Record, way: Any) -> tuple[PortPlan, list[str]]:
    """The plan of a call, and the types of its arguments in C++, the result's first (empty: none)."""
    signature = str(record.values["signature"])
    returned, _, rest = signature.partition("(")
    given = rest.removesuffix(")")
    types: list[str] = []
    parts: list[Values] = []
    for text in given.split(", ") if given else []:
        spelled, values = _values(source, record, text)
        constant = "const " if text.startswith("const ") else ""
        types.append(f"{constant}{spelled}{'&' if values.reference else ''}")
        parts.append(replace(values, reference=values.reference and not constant))
    result = None
    if returned != "void":
        spelled, result = _values(source, record, returned)
        if result.reference:
            raise unsupported(record, "it returns a reference")
        types.insert(0, spelled)
    else:
        types.insert(0, "")
    return PortPlan(record.name, way, tuple(parts), result), types


# ---------------------------------------------------------------- streams
def _tiles(source: _Source, record: Record) -> tuple[list[str], list[Values]]:
    """The tiles of a slot in C++, and what they hold."""
    spelled: list[str] = []
    values: list[Values] = []
    listed: Any = record.values["tiles"]
    for given in listed:
        tile = Tile.of(given)
        if tile.layout == "item":
            name, of = _values(source, record, tile.element)
            spelled.append(f"pl::item<{name}>")
            values.append(Values(of.element, of.extents, of.bytes, "item"))
            continue
        if tile.layout not in ("row_major", *SWIZZLES):
            raise unsupported(record, f"its tiles lie as '{tile.layout}'")
        if tile.element not in _TYPES:
            raise unsupported(record, f"no array holds elements of type '{tile.element}'")
        swizzle = SWIZZLES.get(tile.layout)
        row = tile.shape[-1] * ELEMENT_BITS.get(tile.element, 8) // 8
        if swizzle is not None and row > swizzle.row_bytes:
            raise unsupported(record, f"its rows have {row} bytes, the swizzle {swizzle.row_bytes}")
        extents = ", ".join(map(str, tile.shape))
        spelled.append(f"pl::{tile.layout}<pl::tile<{_TYPES[tile.element]}, {extents}>>")
        values.append(Values(tile.element, tile.shape, tile.bytes, tile.layout))
    if record.values.get("cta_group") == 2:
        raise unsupported(record, "it is of two CTAs")
    return spelled, values


def _is_copied(values: Values) -> bool:
    """Whether TMA can fill a tile with one box out of a tensor that holds the tiles one after the other."""
    if values.layout == "item" or len(values.extents) > _MAX_RANK or max(values.extents) > _MAX_BOX:
        return False
    return values.extents[-1] * ELEMENT_BITS.get(values.element, 8) % (8 * _UNIT) == 0


def _stream(record: Record, tiles: Sequence[str], touch: str) -> str:
    """What stands in PL_IN or PL_OUT behind the name."""
    stages: Any = record.values["stages"]
    attributes = [f"pl::stream<{', '.join(tiles)}>", f"pl::ring<{stages[0]}, {stages[1]}>", touch]
    attributes += [f"pl::{name}" for name in ("ends", "may_be_empty") if record.values.get(name)]
    return ", ".join(attributes)


def _tensor(name: str, element: str, shape: str, access: str, pointer: bool = True) -> list[str]:
    """The declarations of a tensor, and of the parameter that points to it."""
    lines = [f'PL_TENSOR({name}, {element}, "{shape}", pl::{access});']
    if pointer:
        lines += [f"PL_PARAM({name}, {element}*);", f'PL_BIND({name}, "{name}");']
    return lines


def _padded(size: int) -> int:
    """Bytes of a row that begins at a multiple of 16."""
    return -(-size // _UNIT) * _UNIT


def _role(name: str, slot: int) -> str:
    return f"PL_ROLE({name}, pl::warps<{4 if slot >= _WIDE else 1}>, pl::registers<40, 96>);"


def _feeder(source: _Source, record: Record, feed: str) -> Other:
    tiles, values = _tiles(source, record)
    copied = feed != "threads" and all(map(_is_copied, values))
    if feed == "tma" and not copied:
        raise unsupported(record, "its tiles are none that one box of a tensor map brings")
    ends = bool(record.values.get("ends"))
    plan = PortPlan(record.name, "fed", tuple(values), copied=copied, ends=ends)
    count = plan.tensor("count")
    steps = "port.acquire; port.copy;" if copied else "port.acquire; port.commit;"
    lines = [f"PL_PARAM({count}, int);"]
    lines.append(f'PL_PROTOCOL(feed, "repeat {count} {{ {steps} }}{" port.end;" if ends else ""}");')
    body: list[str] = []
    for part, one in enumerate(values):
        name = plan.tensor(part)
        if copied:
            shape = ", ".join([f"{name}_items", *map(str, one.extents)])
            lines += [f"PL_PARAM({name}, pl::tensor_map<port, {part}>);", f'PL_BIND({name}, "{name}");']
            lines += _tensor(name, _TYPES[one.element], shape, "read", pointer=False)
            zeros = ", ".join(["0"] * len(one.extents))
            body.append(f"    port::copy<{part}>(self, slot, {name}(self), {zeros}, i);")
        else:
            lines += _tensor(name, "unsigned char", f"{name}_items, {_padded(one.bytes)}", "read")
            target = f"port::pointer<unsigned char, {part}>(self, slot)"
            at = f"{name}(self) + i * {_padded(one.bytes)}LL"
            body.append(f"    pl_bench_copy<{one.bytes}>({target}, {at}, feed::thread(self), feed_threads);")
    slot = sum(one.bytes for one in values)
    head = "PL_ROLE(feed, pl::warps<1>, pl::registers<24, 40>, pl::one_thread);" if copied else _role("feed", slot)
    touch = "pl::by_tma" if copied else "pl::by_threads"
    entry = [
        "PL_ENTRY(feed) {",
        *([] if copied else [f"  const int feed_threads = {128 if slot >= _WIDE else 32};"]),
        f"  for (int i = 0; i < {count}(self); ++i) {{",
        "    pl::slot slot = port::acquire(self);",
        *body,
        *([] if copied else ["    port::commit(self, slot);"]),
        "  }",
        *(["  port::end(self);"] if ends else []),
        "}",
    ]
    name = f"{record.name}_feeder"
    source.declare(name, [head, f"PL_OUT(port, {_stream(record, tiles, touch)});", *lines, *entry])
    return Other(name, "port", plan, source=True)


def _sink(source: _Source, record: Record) -> Other:
    tiles, values = _tiles(source, record)
    ends = bool(record.values.get("ends"))
    plan = PortPlan(record.name, "taken", tuple(values), ends=ends)
    limit, taken = plan.tensor("limit"), plan.tensor("taken")
    slot = sum(one.bytes for one in values)
    lines = [_role("drain", slot), f"PL_IN(port, {_stream(record, tiles, 'pl::by_threads')});"]
    lines += [f"PL_PARAM({limit}, int);", *_tensor(taken, "int", "4", "readwrite")]
    if not ends:
        lines.append(f'PL_PROTOCOL(drain, "repeat {limit} {{ port.wait; port.release; }}");')
    body: list[str] = []
    for part, one in enumerate(values):
        name = plan.tensor(part)
        lines += _tensor(name, "unsigned char", f"{name}_items, {_padded(one.bytes)}", "write")
        origin = f"port::pointer<unsigned char, {part}>(self, slot)"
        to = f"{name}(self) + i * {_padded(one.bytes)}LL"
        body.append(f"pl_bench_copy<{one.bytes}>({to}, {origin}, drain::thread(self), drain_threads);")
    lines += [
        "PL_ENTRY(drain) {",
        f"  const int drain_threads = {128 if slot >= _WIDE else 32};",
        "  int i = 0;",
        "  for (;; ++i) {" if ends else f"  for (; i < {limit}(self); ++i) {{",
        "    pl::slot slot = port::wait(self);",
        *(["    if (port::ended(self, slot)) break;"] if ends else []),
        *([f"    if (i < {limit}(self)) {{"] if ends else []),
        *(f"    {'  ' if ends else ''}{line}" for line in body),
        *(["    }"] if ends else []),
        "    port::release(self, slot);",
        "  }",
        f"  if (drain::thread(self) == 0) {taken}(self)[0] = i;",
        "}",
    ]
    name = f"{record.name}_sink"
    source.declare(name, lines)
    return Other(name, "port", plan, source=False)


# ---------------------------------------------------------------- calls
def _caller(source: _Source, called: Sequence[tuple[PortPlan, list[str]]], threads: int) -> list[Other]:
    """The role that makes all calls that the component answers, one after the other."""
    lines = [f"PL_ROLE(run, pl::warps<{threads // 32}>);", f"PL_PARAM({STEPS}, int);"]
    lines += _tensor(SCRIPT, "int", f"{SCRIPT}_steps", "read")
    cases: list[str] = []
    others: list[Other] = []
    for number, (plan, types) in enumerate(called):
        port, name = f"call{number}", plan.tensor
        lines.append(f"PL_CALL({port}, {types[0] or 'void'}({', '.join(types[1:])}));")
        before: list[str] = []
        after: list[str] = []
        for part, one in enumerate(plan.parts):
            lines += _tensor(name(part), "unsigned char", f"{name(part)}_bytes", "readwrite")
            bare = types[part + 1].removeprefix("const ").removesuffix("&")
            at = f"{name(part)}(self) + at * {one.bytes}"
            before.append(f"      {bare} a{part};")
            before.append(f"      pl_bench_load(a{part}, {at});")
            if one.reference:
                after.append(f"      pl_bench_store({at}, a{part});")
        given = ", ".join(["self", *(f"a{part}" for part in range(len(plan.parts)))])
        call = f"      {port}({given});"
        if plan.result is not None:
            lines += _tensor(name("result"), "unsigned char", f"{name('result')}_bytes", "write")
            call = f"      const {types[0]} result = {port}({given});"
            after.append(f"      pl_bench_store({name('result')}(self) + at * {plan.result.bytes}, result);")
        needed = bool(before or after)
        where = [f"      [[maybe_unused]] const long long at = made{number}++ * {threads}LL + t;"] if needed else []
        cases += [f"    if (which == {number}) {{", *where, *before, call, *after, "    }"]
        others.append(Other(CALLER, port, plan, source=True))
    counters = ", ".join(f"made{number} = 0" for number in range(len(called)))
    lines += [
        "PL_ENTRY(run) {",
        "  [[maybe_unused]] const int t = run::thread(self);",
        f"  [[maybe_unused]] long long {counters};",
        f"  for (int step = 0; step < {STEPS}(self); ++step) {{",
        f"    const int which = {SCRIPT}(self)[step];",
        *cases,
        "  }",
        "}",
    ]
    source.declare(CALLER, lines)
    return others


def _answer(source: _Source, record: Record) -> Other:
    """Answers a call with values from memory, one after the other for each thread, and notes its arguments.

    Threads are told apart by their number in the CTA, which a component may not depend on and a bench knows: it goes
    through an instruction that the audit of components does not follow."""
    plan, types = _call(source, record, "answered")
    name = plan.tensor
    lines = [f"PL_ANSWER(port, {types[0] or 'void'}({', '.join(types[1:])}));"]
    lines += [
        f"PL_PARAM({name('limit')}, int);",
        *_tensor(name("calls"), "int", f"{name('calls')}_threads", "readwrite"),
    ]
    body = [
        "  unsigned t;",
        '  asm("prmt.b32 %0, %1, 0, 0x3210;" : "=r"(t) : "r"(threadIdx.x));',
        f"  const int made = {name('calls')}(self)[t]++;",
        f"  const long long at = static_cast<long long>(t) * {name('limit')}(self) + made;",
    ]
    noted: list[str] = []
    for part, one in enumerate(plan.parts):
        lines += _tensor(name(part), "unsigned char", f"{name(part)}_bytes", "write")
        noted.append(f"    pl_bench_store({name(part)}(self) + at * {one.bytes}, a{part});")
    body += [f"  if (made < {name('limit')}(self)) {{", *noted, "  }"]
    if plan.result is not None:
        lines += [f"PL_PARAM({name('results')}, int);"]
        lines += _tensor(name("result"), "unsigned char", f"{name('result')}_bytes", "read")
        last = f"made < {name('results')}(self) ? made : {name('results')}(self) - 1"
        body += [
            f"  const long long which = static_cast<long long>(t) * {name('results')}(self) + ({last});",
            f"  {types[0]} result;",
            f"  pl_bench_load(result, {name('result')}(self) + which * {plan.result.bytes});",
            "  return result;",
        ]
    heads = "".join(f", [[maybe_unused]] {kind} a{part}" for part, kind in enumerate(types[1:]))
    lines += [f"PL_DEFINE(port)(pl::self self{heads}) -> {types[0] or 'void'} {{", *body, "}"]
    own = f"{record.name}_answer"
    source.declare(own, lines)
    return Other(own, "port", plan, source=False)


def _token(source: _Source, turn: Turn) -> list[Other]:
    """Who passes a token to the component, takes one from it, or both in turn."""
    own = f"{turn.ports[0].name}_{'turns' if len(turn.ports) > 1 else 'passer' if turn.given else 'taker'}"
    names = {port.name: ("given", "pass") if port is turn.given else ("back", "take") for port in turn.ports}
    loops = {count: [names[port.name] for port in ports] for count, ports in turn.loops().items()}
    steps = {count: " ".join(f"{name}.{step};" for name, step in these) for count, these in loops.items()}
    calls = {count: " ".join(f"{name}::{step}(self);" for name, step in these) for count, these in loops.items()}
    source.declare(
        own,
        [
            "PL_ROLE(turn, pl::warps<1>, pl::registers<24, 40>);",
            *(f"PL_TOKEN_{'OUT' if step == 'pass' else 'IN'}({name});" for name, step in names.values()),
            *(f"PL_PARAM({count}, int);" for count in loops),
            f'PL_PROTOCOL(turn, "{" ".join(f"repeat {count} {{ {said} }}" for count, said in steps.items())}");',
            "PL_ENTRY(turn) {",
            *(f"  for (int i = 0; i < {count}(self); ++i) {{ {made} }}" for count, made in calls.items()),
            "}",
        ],
    )
    return [Other(own, names[port.name][0], port, source=port is turn.given) for port in turn.ports]


def promises(component: ContractComponent) -> Mapping[str, Any]:
    """What the component requires of others and does not promise itself."""
    own = {str(record.values["key"]) for record in component.records if record.op == "promise"}
    required = {str(r.values["key"]): r.values["value"] for r in component.records if r.op == "require"}
    return {key: value for key, value in required.items() if key not in own}


_HELPERS: Final = """
// Copies Bytes bytes, by the threads of a role.
template <int Bytes>
__device__ __forceinline__ void pl_bench_copy(unsigned char* to, const unsigned char* from, int thread, int threads) {
  if constexpr (Bytes % 16 == 0)
    for (int at = thread; at < Bytes / 16; at += threads)
      reinterpret_cast<uint4*>(to)[at] = reinterpret_cast<const uint4*>(from)[at];
  else if constexpr (Bytes % 4 == 0)
    for (int at = thread; at < Bytes / 4; at += threads)
      reinterpret_cast<unsigned*>(to)[at] = reinterpret_cast<const unsigned*>(from)[at];
  else
    for (int at = thread; at < Bytes; at += threads) to[at] = from[at];
}
// Moves a value between registers and memory, element by element, so that every index is a constant.
template <class T>
__device__ __forceinline__ void pl_bench_load(T& to, const unsigned char* from) {
  to = *reinterpret_cast<const T*>(from);
}
template <class T, int N>
__device__ __forceinline__ void pl_bench_load(T (&to)[N], const unsigned char* from) {
#pragma unroll
  for (int i = 0; i < N; ++i) pl_bench_load(to[i], from + i * sizeof(T));
}
template <class T, int N>
__device__ __forceinline__ void pl_bench_load(pl::fragment<T, N>& to, const unsigned char* from) {
  pl_bench_load(to.v, from);
}
template <class T>
__device__ __forceinline__ void pl_bench_store(unsigned char* to, const T& from) {
  *reinterpret_cast<T*>(to) = from;
}
template <class T, int N>
__device__ __forceinline__ void pl_bench_store(unsigned char* to, const T (&from)[N]) {
#pragma unroll
  for (int i = 0; i < N; ++i) pl_bench_store(to + i * sizeof(T), from[i]);
}
template <class T, int N>
__device__ __forceinline__ void pl_bench_store(unsigned char* to, const pl::fragment<T, N>& from) {
  pl_bench_store(to, from.v);
}"""
