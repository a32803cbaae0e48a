"""Whether a name means the same in every object of a link.

Inline functions, templates and inline variables may stand in several objects; a linker keeps the first of a name and
drops the others unread.  If they differ, the code of one object becomes another than its author compiled.  LTO-IR
cannot be read, so nvJitLink prints PTX without optimising: once for each object alone, and once for all together.  What
a role or answer reaches in the one has to be what it reaches in the other: the same instructions, and the same symbols
or ones that were renamed and are the same in turn.  This also finds what was inlined before it could be seen.  What
differs without optimisation and is the same with it had no effect, and passes.

From each object's own PTX follows as well what it asks of others: functions with the types that they are called with,
variables with their sizes.  nvJitLink compares neither, and takes a variable that nobody defines to be zero.

nvJitLink keeps what ``-O0`` set for the rest of a process: a later link of it makes other code.  So :func:`compare` and
:func:`defines` run in a process of their own (:func:`apart`), which also may crash.

Input: LTO-IR of each object with the functions that the kernel calls there; output: diagnostics, and a report of what
stays undefined.  One link of an object takes 3 to 30 ms, one of all together as long as the sum.
"""

from __future__ import annotations

import json
import pickle
import re
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from pipelink.audit.undefined import Undefined, Users
from pipelink.backend import libnvvm, nvjitlink
from pipelink.backend.nvjitlink import demangle
from pipelink.backend.ptx_symbols import PLACEHOLDER, Function, Symbol, Table, Variable, parse
from pipelink.support.diagnostics import Diagnostic, Diagnostics, Location, Note
from pipelink.support.inputs import reason

_KEEP, _KEPT = "pl_keep", "pl_roots"  # what is added to an input: a kernel, and the table of what it keeps
_INTERNAL: Final = "_INTERNAL_"  # in the names of functions that are static or in an anonymous namespace
_ACCESSOR: Final = re.compile(r"\dpl_[a-z0-9_]+EiPv")
_SECONDS: Final = 120  # for a comparison
_SPACES: Final = {"global": "__device__", "const": "__constant__", "shared": "__shared__"}
_HINT: Final = "a linker keeps one of them: make it static, or give each a namespace of its own"


@dataclass(frozen=True)
class Input:
    """LTO-IR of one translation unit: ``name`` is its origin in messages, ``path`` its file, ``roots`` the functions
    that the kernel calls, each with what it is in messages (``role 'run' of 'acme::loader'``); ``arch`` is what it was
    compiled for."""

    name: str
    path: str
    data: bytes
    arch: str
    roots: Mapping[str, str]


def compare(inputs: Sequence[Input], arch: str, diagnostics: Diagnostics) -> Undefined:
    """Compare what the inputs say of each symbol; every difference is an error in ``diagnostics``: ``two-bodies``,
    ``symbol-mismatch``.  Where nvJitLink does not print them together, nothing is said: it refuses the link too.

    Raises LinkError ``nvvm-failed`` and, of a single input, ``nvjitlink-failed``."""
    tables = _tables(inputs, arch)
    before = len(diagnostics.items)
    _types(inputs, tables, diagnostics)
    if len(diagnostics.items) == before and len(inputs) > 1:
        _bodies(inputs, tables, arch, diagnostics)
    return _undefined(tables)


def defines(data: bytes, symbol: str, arch: str) -> bool:
    """Whether LTO-IR defines a function or variable that others can use."""
    table = _print([Input("object", "", data, arch, {})], [], arch)  # it may be a variable
    found = table.symbols.get(symbol) if table is not None else None
    if isinstance(found, Variable):
        return found.source is not None and bool(found.linkage)
    table = _print([Input("object", "", data, arch, {})], [symbol], arch)
    return table is not None and table.defines(symbol)


class NotCompared(Exception):
    """The process did not answer; its text says why."""


def apart(inputs: Sequence[Input], arch: str, diagnostics: Diagnostics) -> Undefined:
    """As :func:`compare`, in a process of its own.  Raises NotCompared."""
    answer = _ask({"arch": arch, "inputs": [_plain(item) for item in inputs]})
    diagnostics.items += [Diagnostic.from_json(item) for item in answer["diagnostics"]]
    return Undefined.from_json(answer["undefined"])


def defines_apart(data: bytes, symbol: str, arch: str) -> bool:
    """As :func:`defines`, in a process of its own."""
    try:
        answer = _ask({"arch": arch, "inputs": [_plain(Input("object", "", data, arch, {}))], "symbol": symbol})
    except NotCompared:
        return False
    return bool(answer["defined"])


def main() -> None:
    """The process: answers the question on standard input."""
    nvjitlink.link_nothing_else()
    question = pickle.load(sys.stdin.buffer)
    inputs, arch = [Input(**item) for item in question["inputs"]], question["arch"]
    if "symbol" in question:
        answer: dict[str, Any] = {"defined": defines(inputs[0].data, question["symbol"], arch)}
    else:
        found = Diagnostics()
        undefined = compare(inputs, arch, found)
        answer = {"undefined": undefined.to_json(), "diagnostics": [item.to_json() for item in found.items]}
    sys.stdout.write(json.dumps(answer))


def _plain(item: Input) -> dict[str, Any]:
    return {**vars(item), "roots": dict(item.roots)}


def _ask(question: Mapping[str, Any]) -> dict[str, Any]:
    begin = f"import sys; sys.path[:] = {sys.path!r}; from pipelink.audit.symbols import main; main()"
    try:
        done = subprocess.run(
            [sys.executable, "-c", begin],
            input=pickle.dumps(question),
            capture_output=True,
            timeout=_SECONDS,
            check=True,
        )
        return json.loads(done.stdout)
    except OSError as problem:
        raise NotCompared(f"no process can be started for it: {reason(problem)}") from problem
    except subprocess.TimeoutExpired as problem:
        raise NotCompared(f"it takes more than {_SECONDS} seconds") from problem
    except (ValueError, subprocess.SubprocessError) as problem:
        raise NotCompared("nvJitLink fails") from problem


def title(item: Input, symbol: str) -> str:
    """A function of an input in messages."""
    return item.roots.get(symbol) or f"'{demangle(symbol)}'"


# ----------------------------------------------------------------------------------------------- what each one says
def _print(inputs: Sequence[Input], roots: Iterable[str], arch: str, *, optimise: bool = False) -> Table | None:
    """What nvJitLink prints of the inputs, where ``roots`` are kept; None if it refuses."""
    names = list(roots)
    images = [nvjitlink.Image(item.name, item.data) for item in inputs]
    if names:
        images.insert(0, nvjitlink.Image("roots", libnvvm.compile_ltoir(_keep(names), arch, "roots")))
    text = nvjitlink.print_ptx(images, arch, optimise=optimise)
    return None if text is None else parse(text)


def _keep(names: Sequence[str]) -> str:
    """NVVM text of a kernel that uses the addresses of functions, whatever their types, for the LLVM that every
    architecture's libNVVM reads."""
    kind = f"[{len(names)} x i8*]"
    addresses = ", ".join(f"i8* bitcast (void ()* @{name} to i8*)" for name in names)
    lines = [libnvvm.HEADER, *(f"declare void @{name}()" for name in names)]
    lines += [f"@{_KEPT} = global {kind} [{addresses}]", f"define void @{_KEEP}(i8** %to) {{"]
    lines += [f"%one = load volatile i8*, i8** getelementptr ({kind}, {kind}* @{_KEPT}, i64 0, i64 0)"]
    lines += ["store volatile i8* %one, i8** %to", "ret void }"]
    return libnvvm.describe("\n".join(lines), [libnvvm.NvvmKernel(f"@{_KEEP}", "void (i8**)*")])


def _tables(inputs: Sequence[Input], arch: str) -> list[Table]:
    """What each input says alone: what its roots reach, and what those of others reach in it."""
    roots = [dict.fromkeys(item.roots) for item in inputs]
    # a helper is printed when it is known what others ask of it
    tables = [(_print([i], r, arch) if r else None) or Table(()) for i, r in zip(inputs, roots, strict=True)]
    asked: set[str] = set()
    while wanted := [name for name in _wanted(tables) if name not in asked]:
        asked.update(wanted)
        for number, item in enumerate(inputs):
            known = [name for name in wanted if name not in roots[number]]
            found = _print([item], [*roots[number], *known], arch)
            mine = [name for name in known if found is not None and found.defines(name)]
            if found is not None and mine:
                roots[number].update(dict.fromkeys(mine))
                # a declaration of the roots' own says nothing of the types that the input declares
                tables[number] = found if mine == known else _print([item], roots[number], arch) or Table(())
    for number, item in enumerate(inputs):
        if not roots[number]:  # nobody calls it, but its variables may be used
            tables[number] = _print([item], (), arch) or Table(())
    return tables


def _of_linker(name: str) -> bool:
    """Whether a function is the header's: one that the linker defines, or calls."""
    return name.startswith("_ZN") and _ACCESSOR.search(name) is not None


def _wanted(tables: Iterable[Table]) -> list[str]:
    """The functions that are called and that the linker does not define."""
    names = (symbol.name for table in tables for symbol in table.declared() if isinstance(symbol, Function))
    return [name for name in dict.fromkeys(names) if not _of_linker(name)]


def _undefined(tables: Sequence[Table]) -> Undefined:
    variables: dict[str, tuple[Users, ...]] = {}
    functions: dict[str, tuple[Users, ...]] = {}
    for number, table in enumerate(tables):
        for symbol in table.declared():
            if any(other.defines(symbol.name) for other in tables) or _of_linker(symbol.name):
                continue
            found = functions if isinstance(symbol, Function) else variables
            users = Users(number, tuple(_named_users(table, symbol.name)))
            found[symbol.name] = (*found.get(symbol.name, ()), users)
    return Undefined(variables, functions)


def _named_users(table: Table, name: str) -> list[str]:
    """The functions that use a symbol; in place of those that an object keeps to itself, the ones that use them."""
    found: dict[str, None] = {}
    seen, open_ = {name}, [name]
    while open_:
        for user in table.users(open_.pop()):
            if user in seen or user in (_KEEP, _KEPT):
                continue
            seen.add(user)
            if _INTERNAL in user or isinstance(table.symbols[user], Variable):
                open_.append(user)
            else:
                found[user] = None
    return list(found)


# ------------------------------------------------------------------------------------------------------------ types
def _types(inputs: Sequence[Input], tables: Sequence[Table], diagnostics: Diagnostics) -> None:
    """Whether every declaration of a symbol is what its definition is, or else the first declaration."""
    seen: dict[str, list[tuple[Input, Table, Symbol]]] = {}
    for item, table in zip(inputs, tables, strict=True):
        for symbol in table.symbols.values():
            external = not isinstance(symbol, Variable) or (bool(symbol.linkage) and symbol.space in _SPACES)
            if external:
                seen.setdefault(symbol.name, []).append((item, table, symbol))
    for name, places in seen.items():
        if len(places) < 2 or _of_linker(name):
            continue
        places.sort(key=lambda place: place[2].source is None)
        first = places[0]
        for other in places[1:]:
            if not _both_defined(first[2], other[2]) and not _fits(first, other):
                _mismatch(name, first, other, diagnostics)
                break


def _both_defined(one: Symbol, two: Symbol) -> bool:
    """Whether the types of two are left to others: functions that each keeps to itself or that have two bodies, and
    variables that nvJitLink refuses as defined twice."""
    if one.source is None or two.source is None:
        return False
    if not isinstance(one, Variable) or not isinstance(two, Variable):
        return isinstance(one, Function)
    return one.linkage == two.linkage == "visible"


def _fits(one: tuple[Input, Table, Symbol], two: tuple[Input, Table, Symbol]) -> bool:
    first, second = one[2], two[2]
    if isinstance(first, Function) and isinstance(second, Function):
        return one[1].signature(first.name).fits(two[1].signature(second.name))
    if isinstance(first, Variable) and isinstance(second, Variable):
        sizes = first.size == second.size or not first.size or not second.size
        kinds = first.kind == second.kind or not first.kind or not second.kind
        return first.space == second.space and sizes and kinds
    return False


def _mismatch(
    name: str, one: tuple[Input, Table, Symbol], two: tuple[Input, Table, Symbol], diagnostics: Diagnostics
) -> None:
    told = len({symbol.kind for symbol in (one[2], two[2]) if isinstance(symbol, Variable)}) > 1

    def shown(place: tuple[Input, Table, Symbol]) -> str:
        item, table, symbol = place
        verb = "declared" if symbol.source is None else "defined"
        if isinstance(symbol, Function):
            return f"{verb} as {table.signature(name)} in '{item.name}'"
        assert isinstance(symbol, Variable)
        size = f" of {symbol.size} bytes" if symbol.size else ""
        kind = f", {symbol.kind}" if symbol.kind and told else ""
        return f"{verb} as {_SPACES[symbol.space]} variable{size}{kind} in '{item.name}'"

    users = [title(two[0], user) for user in _named_users(two[1], name)]
    notes = [Note(f"used by {users[0]} of '{two[0].name}'", Location(two[0].path))] if users else []
    diagnostics.error(
        "symbol-mismatch",
        f"'{demangle(name)}' is {shown(one)}, but {shown(two)}",
        Location(two[0].path),
        notes=notes,
        hint="include one declaration in both",
    )


# ----------------------------------------------------------------------------------------------------------- bodies
def _bodies(inputs: Sequence[Input], tables: Sequence[Table], arch: str, diagnostics: Diagnostics) -> None:
    """Whether the code of each input is the same with the others as alone."""
    whole = _print(inputs, _roots(inputs, tables), arch)
    if whole is None:
        return
    reported: set[str] = set()
    for number, (item, alone) in enumerate(zip(inputs, tables, strict=True)):
        if all(_unchanged(alone, whole, symbol) for symbol in alone.symbols.values()):
            continue
        roots = _roots([item], [alone])
        changed = [name for name in _changed(alone, whole, roots) if name not in reported]
        if not changed or _same_optimised(item, inputs, roots, arch):
            continue
        for name in changed:
            reported.add(name)
            other = _origin(name, number, inputs, tables, whole, roots, arch)
            _two_bodies(name, item, other, alone, whole, diagnostics)


def _roots(inputs: Sequence[Input], tables: Sequence[Table]) -> list[str]:
    """The functions of the inputs that a kernel calls, and those that another input calls."""
    own = [name for item in inputs for name in item.roots]
    return list(dict.fromkeys([*own, *(n for table in tables for n in _roots_kept(table))]))


def _roots_kept(table: Table) -> list[str]:
    return list(table.text(_KEPT).uses) if table.defines(_KEPT) else []


def _unchanged(alone: Table, whole: Table, symbol: Symbol) -> bool:
    """Whether a symbol stands in ``whole`` letter by letter."""
    if symbol.source is None or symbol.name in (_KEEP, _KEPT):
        return True
    other = whole.symbols.get(symbol.name)
    if isinstance(symbol, Variable) and isinstance(other, Variable):
        return (symbol.space, symbol.size, symbol.source) == (other.space, other.size, other.source)
    return other is not None and other.source == symbol.source


def _changed(alone: Table, whole: Table, roots: Iterable[str]) -> list[str]:
    """The symbols that the roots reach in ``alone`` and that are others in ``whole``."""
    found: dict[str, None] = {}
    seen: set[tuple[str, str]] = set()
    open_ = [(name, name) for name in roots if alone.defines(name)]
    while open_:
        pair = open_.pop()
        if pair in seen:
            continue
        seen.add(pair)
        one, two = pair
        if not alone.defines(one):
            if one != two:
                found[one] = None
            continue
        if not whole.defines(two):
            found[one] = None
            continue
        first, second = alone.text(one), whole.text(two)
        if first.text != second.text or len(first.uses) != len(second.uses):
            found[one] = None
            continue
        open_ += zip(first.uses, second.uses, strict=True)
    return sorted(found)


def _same_optimised(item: Input, inputs: Sequence[Input], roots: Sequence[str], arch: str) -> bool:
    """Whether the code of the input is the same after all, where both are optimised."""
    alone, whole = (_print(which, roots, arch, optimise=True) for which in ([item], inputs))
    return alone is not None and whole is not None and not _changed(alone, whole, roots)


def _origin(
    name: str,
    number: int,
    inputs: Sequence[Input],
    tables: Sequence[Table],
    whole: Table,
    roots: Sequence[str],
    arch: str,
) -> Input | None:
    """The input that the body comes from which stands in place of the input's own; None if none does it alone."""
    others = [n for n in range(len(inputs)) if n != number]
    for other in others:
        if (
            tables[other].defines(name)
            and whole.defines(name)
            and tables[other].text(name).text == whole.text(name).text
        ):
            return inputs[other]
    for other in others:
        both = _print([inputs[n] for n in sorted((other, number))], roots, arch)
        if both is not None and name in _changed(tables[number], both, roots):
            return inputs[other]
    return None


def _two_bodies(
    name: str, item: Input, other: Input | None, alone: Table, whole: Table, diagnostics: Diagnostics
) -> None:
    there = f"'{other.name}'" if other is not None else "another object"
    own = item.roots.get(name)
    kind = "value" if isinstance(alone.symbols[name], Variable) else "body"
    if own is None:
        message = f"'{demangle(name)}' has one {kind} in {there} and another in '{item.name}'"
    else:
        message = f"a function that is inlined into {own} of '{item.name}' has another body in {there}"
    hint = _HINT
    if other is not None and other.arch != item.arch:
        hint = f"they are compiled for {other.arch} and {item.arch}: compile both for one; {hint}"
    notes = [Note(f"'{item.name}' holds the other one", Location(item.path))]
    if kind == "body" and whole.defines(name):
        first, second = _difference(alone, whole, name)
        notes += [Note(f"'{item.name}' has: {first}"), Note(f"linked, it would have: {second}")]
    where = Location(other.path if other is not None else item.path)
    diagnostics.error("two-bodies", message, where, notes=notes, hint=hint)


def _difference(alone: Table, whole: Table, name: str) -> tuple[str, str]:
    """The first instruction that differs, in both."""
    one, two = (_instructions(table, name) for table in (alone, whole))
    for (first, shown), (second, other) in zip(one, two, strict=False):
        if first != second:
            return shown, other
    end = min(len(one), len(two))
    return (one[end][1] if len(one) > end else "no more"), (two[end][1] if len(two) > end else "no more")


def _instructions(table: Table, name: str) -> list[tuple[str, str]]:
    """The instructions of a function, each as it is compared and as it is printed."""
    text = table.text(name)
    uses = iter(text.uses)
    lines = [(line, re.sub(PLACEHOLDER, lambda _: next(uses), line)) for line in text.text.splitlines()]
    return [
        (f"{line} {shown}" if PLACEHOLDER in line else line, shown) for line, shown in lines if line[0] not in ".{}$"
    ]
