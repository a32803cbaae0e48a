"""Contract records: NUL-separated JSON texts in, validated :class:`ContractComponent` values out.

Every record is checked against the rows of :mod:`pipelink.contract.vocabulary`; sizes, depths and counts are bounded.
Unknown operations and keys are a warning, or an error where the record says ``"required":true``.  Compilers may write
records in any order and pad between them: they are sorted by component, file and line.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, NoReturn

from pipelink.contract.fields import MAX_INT, Declaration, Field, Variant
from pipelink.contract.vocabulary import (
    ABI,
    DECLARATIONS,
    PLAIN,
    WRITTEN,
    WRITTEN_PORTS,
    WRITTEN_TILES,
    Port,
    Promise,
    Require,
    TileRows,
)
from pipelink.objects.model import ContractComponent, Record, Value
from pipelink.support import expr, limits
from pipelink.support.diagnostics import Diagnostics, LinkError, Location, Note, error, nearest
from pipelink.support.protocol_text import ProtocolError, located, parse_text

_IDENTIFIER = re.compile(r"[A-Za-z_]\w{0,254}", re.ASCII)
_COMPONENT = re.compile(r"[A-Za-z_]\w{0,254}(::[A-Za-z_]\w{0,254}){0,15}", re.ASCII)

Check = Callable[[Any], bool]


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and 0 < len(value) <= limits.RECORD_TEXT and value.isprintable()


def _is_protocol(value: Any) -> bool:
    """A text that may have several lines; whether it is a protocol, the verifier of the IR says."""
    return isinstance(value, str) and _is_text("".join(value.split())) and len(value) <= limits.RECORD_TEXT


def _is_name(value: Any) -> bool:
    return isinstance(value, str) and _IDENTIFIER.fullmatch(value) is not None


def _is_int(least: int, most: int = MAX_INT) -> Check:
    return lambda value: isinstance(value, int) and not isinstance(value, bool) and least <= value <= most


def _is_dimension(value: Any) -> bool:
    """A dimension's name, an extent as text, or an expression over dimensions."""
    if isinstance(value, str) and value.isdigit():
        return re.fullmatch(r"[1-9][0-9]{0,11}", value) is not None
    return _is_name(value) or _is_expression(value)


def _is_align(value: Any) -> bool:
    return _is_int(1)(value) and value & (value - 1) == 0


def _is_range(least: int, most: int = MAX_INT, *, open: bool = False) -> Check:
    inside = _is_int(least, most)

    def check(value: Any) -> bool:
        if not (isinstance(value, list) and len(value) == 2 and all(map(inside, value))):
            return False
        return value[0] < value[1] if open else value[0] <= value[1]

    return check


def _is_one_of(*choices: str) -> Check:
    return lambda value: isinstance(value, str) and value in choices


def _is_true(value: Any) -> bool:
    return value is True


def _is_expression(value: Any) -> bool:
    if not _is_text(value):
        return False
    try:
        expr.parse(value)
    except LinkError:
        return False
    return True


def _is_list(check: Check, least: int, most: int) -> Check:
    return lambda value: isinstance(value, list) and least <= len(value) <= most and all(map(check, value))


def _is_scalar(value: Any) -> bool:
    return _is_int(-MAX_INT)(value) or _is_text(value)


_FORMS: Final[dict[str, Check]] = {
    "name": _is_name,
    "protocol": _is_protocol,
    "align": _is_align,
    "interval": _is_range(0, open=True),
    "expression": _is_expression,
    "dimension": _is_dimension,
    "tile": lambda value: _is_tile(value),
}
_KINDS: Final[dict[str, Check]] = {
    "str": _is_text,
    "bool": _is_true,
    "expr": _is_expression,
    "scalar": _is_scalar,
}


def _check(row: Field[Any], variant: Variant) -> Check:
    """What a record may hold of an attribute that headers write."""
    written = row.written
    assert written is not None, row.key
    bounds = (row.least if written.least is None else written.least, written.most)
    if choices := row.values(variant):
        return _is_one_of(*choices)
    if row.kind == "list" and written.form != "interval":
        items = _is_int(*bounds) if written.form == "int" else _FORMS[str(written.form)]
        return _is_list(items, *written.length)
    if written.form is not None:
        return _FORMS[written.form]
    if row.kind == "range":
        return _is_range(*bounds)
    return _is_int(*bounds) if row.kind == "int" else _KINDS[row.kind]


@dataclass(frozen=True)
class _Keys:
    """The keys of an operation besides the common ones."""

    required: Mapping[str, Check]
    optional: Mapping[str, Check]


def _keys(declared: type[Declaration], variant: Variant = PLAIN) -> _Keys:
    required: dict[str, Check] = {}
    optional: dict[str, Check] = {}
    for key, row in declared.fields.items():
        if row.written_on(variant):
            (required if row.needed_in_record(variant) else optional)[key] = _check(row, variant)
    return _Keys(required, optional)


_TILES: Final[dict[str, _Keys]] = {layout: _keys(TileRows, (layout,)) for (layout,) in WRITTEN_TILES}


def _is_tile(value: Any) -> bool:
    layout = value.get("layout") if isinstance(value, dict) else None
    keys = _TILES.get(layout) if isinstance(layout, str) else None
    if keys is None or not all(key in value for key in keys.required):
        return False
    known = {**keys.required, **keys.optional}
    return all(key in known and known[key](part) for key, part in value.items())


_PORTS: Final[dict[Variant, _Keys]] = {variant: _keys(Port, variant) for variant in WRITTEN_PORTS}
_NONE: Final = _Keys({}, {})
_OPS: Final[dict[str, _Keys]] = {
    **{op: _keys(DECLARATIONS[op]) for op in WRITTEN if op != "port"},
    "require": _Keys({"key": _is_name, **_keys(Require).required}, _keys(Require).optional),
    "promise": _Keys({"key": _is_name, **_keys(Promise).required}, {}),
    # what the IR has no operation for
    "component": _Keys({"cxx": _is_int(17, 99)}, {"toolkit": _is_text}),
    "entry": _NONE,
    "answer": _NONE,
}
_COMMON: Final[dict[str, Check]] = {
    "pipelink": _is_int(1),
    "op": _is_name,
    "component": lambda value: isinstance(value, str) and _COMPONENT.fullmatch(value) is not None,
    "name": _is_name,
    "file": _is_text,
    "line": _is_int(0, (1 << 31) - 1),
}
# Operations whose names live in one space: two of one name are an error.
_SYMBOLS: Final = tuple(op for op in WRITTEN if DECLARATIONS[op].named_by() == "sym_name")


def parse(contract: bytes, origin: str, where: Location, diagnostics: Diagnostics) -> tuple[ContractComponent, ...]:
    """The components of an object's contract section.  ``origin`` names the object in messages, ``where`` is it.

    Warnings go to ``diagnostics``.  Raises LinkError ``corrupt-contract``, ``future-contract``, ``oversized-object``,
    ``duplicate-component``, ``missing-definition``, ``bad-protocol`` or ``no-contract``.
    """
    refuse_oversized(len(contract), origin, where)
    if contract and contract[-1]:
        raise error("corrupt-contract", f"the contract of '{origin}' ends inside a record", where)
    texts = [text for text in contract.split(b"\0") if text]
    if len(texts) > limits.RECORDS:
        message = f"the contract of '{origin}' has {len(texts)} records, the limit is {limits.RECORDS}"
        raise error("oversized-object", message, where)
    records = [record for text in texts if (record := _Parser(text, origin, where, diagnostics).record()) is not None]
    return assemble(records, origin, where)


def refuse_oversized(size: int, origin: str, where: Location) -> None:
    """Raises LinkError ``oversized-object`` where a contract has more bytes than it may have."""
    if size > limits.CONTRACT_BYTES:
        message = f"the contract of '{origin}' has {size} bytes, the limit is {limits.CONTRACT_BYTES}"
        raise error("oversized-object", message, where)


def parse_record(text: bytes, origin: str, where: Location, diagnostics: Diagnostics) -> Record | None:
    """One record, or None if its operation is unknown and optional.  Errors as :func:`parse`."""
    return _Parser(text, origin, where, diagnostics).record()


def assemble(records: Iterable[Record], origin: str, where: Location) -> tuple[ContractComponent, ...]:
    """Group records into components and check what one record cannot show.  Errors as :func:`parse`."""
    groups: dict[str, list[Record]] = {}
    for record in sorted(records, key=lambda r: (r.component, r.op != "component", r.file, r.line)):
        groups.setdefault(record.component, []).append(record)
    if not groups:
        raise error("no-contract", f"'{origin}' has an empty contract", where)
    found = Diagnostics()
    for name, group in groups.items():
        _check_component(name, group, origin, where, found)
    found.raise_if_errors()
    return tuple(ContractComponent(name, tuple(group)) for name, group in groups.items())


def _check_component(name: str, group: list[Record], origin: str, where: Location, found: Diagnostics) -> None:
    heads = [record for record in group if record.op == "component"]
    if not heads:
        found.error("corrupt-contract", f"'{origin}' has records of '{name}' but not its PL_COMPONENT", where)
        return
    if len(heads) > 1:
        notes = [Note("declared again here", again.location) for again in heads[1:]]
        message = f"component '{name}' is declared {len(heads)} times in '{origin}'"
        found.error("duplicate-component", message, heads[0].location, notes=notes)
        return
    seen: dict[tuple[str, str], Record] = {}
    for record in group:
        key = ("symbol" if record.op in _SYMBOLS else record.op, record.name)
        if key in seen:
            message = f"'{record.name}' of component '{name}' is declared twice in '{origin}'"
            notes = [Note("declared again here", record.location)]
            found.error("corrupt-contract", message, seen[key].location, notes=notes)
        seen.setdefault(key, record)
    for record in group:
        if record.op == "protocol":
            _check_protocol(record, found)
        if record.op == "role" and ("entry", record.name) not in seen:
            message = f"role '{record.name}' of component '{name}' has no PL_ENTRY({record.name})"
            found.error("missing-definition", message, record.location)
        if record.op == "port" and record.values["direction"] == "answers" and ("answer", record.name) not in seen:
            message = f"call port '{record.name}' of component '{name}' has no PL_DEFINE({record.name})"
            found.error("missing-definition", message, record.location)


def _check_protocol(record: Record, found: Diagnostics) -> None:
    """The text parses; the verifier of the IR compares its names with what the component declares."""
    text = str(record.values["text"])
    try:
        parse_text(text)
    except ProtocolError as problem:
        found.items.append(located(problem, text, record.location, f"protocol '{record.name}'"))


class _Parser:
    """Reads one record."""

    def __init__(self, text: bytes, origin: str, where: Location, diagnostics: Diagnostics) -> None:
        self._text, self._origin, self._where, self._diagnostics = text, origin, where, diagnostics

    def record(self) -> Record | None:
        values = self._object()
        version = values.get("pipelink")
        if _is_int(ABI + 1)(version):
            message = f"'{self._origin}' has a contract of version {version}, this linker reads up to {ABI}"
            raise error("future-contract", message, self._where, hint="use a newer PipeLink to link it")
        for key, check in _COMMON.items():
            self._require(values, key, check)
        place = Location(values["file"], values["line"])
        keys = self._known(values, place)
        if keys is None:
            return None
        for key, check in keys.required.items():
            self._require(values, key, check)
        for key, check in keys.optional.items():
            if key in values:
                self._require(values, key, check)
        known = {*keys.required, *keys.optional}
        own = {key: value for key, value in values.items() if key in known}
        return Record(
            values["op"], values["component"], values["name"], values["file"], values["line"], own, self._text
        )

    def _object(self) -> dict[str, Any]:
        if len(self._text) > limits.RECORD_BYTES:
            message = f"'{self._origin}' has a record of {len(self._text)} bytes, the limit is {limits.RECORD_BYTES}"
            raise error("oversized-object", message, self._where)

        def unique(pairs: list[tuple[str, Value]]) -> dict[str, Value]:
            if len(dict(pairs)) != len(pairs):
                raise ValueError("a key occurs twice")
            return dict(pairs)

        def refuse(number: str) -> NoReturn:
            raise ValueError(f"{number[:20]} is no integer")

        try:
            value = json.loads(
                self._text.decode("utf-8"), object_pairs_hook=unique, parse_float=refuse, parse_constant=refuse
            )
        except (ValueError, RecursionError) as problem:
            self._corrupt(f"not a JSON record ({str(problem)[:80]})")
        if not isinstance(value, dict) or _depth(value) > limits.RECORD_DEPTH:
            self._corrupt("not a JSON object of bounded depth")
        return value

    def _known(self, values: dict[str, Any], place: Location) -> _Keys | None:
        """The keys that the record's operation takes; None where the operation is unknown and optional."""
        op, required = values["op"], values.get("required") is True
        subject = f"'{values['name']}' of component '{values['component']}'"
        if op == "port":
            kind, direction = values.get("kind"), values.get("direction")
            keys = _PORTS.get((kind, direction)) if isinstance(kind, str) and isinstance(direction, str) else None
            if keys is None:
                self._corrupt(f"port {subject} has kind {kind!r:.40} and direction {direction!r:.40}")
        elif op in _OPS:
            keys = _OPS[op]
        else:
            message = f"unknown declaration '{op}' {subject} in '{self._origin}'"
            self._unknown(message, op, _OPS, place, required=required)
            return None
        known = {*_COMMON, *keys.required, *keys.optional, "required"}
        for key in values:
            if key not in known:
                message = f"unknown key '{key[:80]}' of {op} {subject} in '{self._origin}'"
                self._unknown(message, key, known, place, required=required)
        return keys

    def _unknown(self, message: str, name: str, known: Iterable[str], place: Location, *, required: bool) -> None:
        if required:
            raise error("future-contract", f"{message}, which the component requires", place)
        few = len(self._diagnostics.items) < limits.HINTS and len(name) <= limits.NAME
        hint = nearest(name, known) if few else None  # each costs a comparison with all names
        self._diagnostics.warning("unknown-record", f"{message} is ignored", place, hint=hint)

    def _require(self, values: dict[str, Any], key: str, check: Check) -> None:
        subject = f"{values.get('op')!r:.40} {values.get('name')!r:.80}"
        if key not in values:
            self._corrupt(f"record {subject} has no '{key}'")
        if not check(values[key]):
            self._refuse_long(key, values)
            shown = json.dumps(values[key])
            self._corrupt(f"'{key}' of record {subject} is {shown if len(shown) <= 80 else shown[:77] + '...'}")

    def _refuse_long(self, key: str, values: dict[str, Any]) -> None:
        """Refuse a name that is one, but too long, at its declaration."""
        name, file, line = values[key], values.get("file"), values.get("line")
        if key not in ("name", "component") or not isinstance(name, str) or not re.fullmatch(r"[\w:]+", name, re.ASCII):
            return
        length = max(map(len, name.split("::")))
        if length > limits.SYMBOL:
            place = Location(file, line) if isinstance(file, str) and isinstance(line, int) else self._where
            message = f"the name '{name[:20]}…' has {length} characters, the limit is {limits.SYMBOL}"
            raise error("bad-symbol", message, place)

    def _corrupt(self, what: str) -> NoReturn:
        shown = self._text[:200].decode("utf-8", "replace")
        notes = [Note(f"the record: {shown}{'...' if len(self._text) > 200 else ''}")]
        raise error(
            "corrupt-contract", f"the contract of '{self._origin}' is corrupt: {what}", self._where, notes=notes
        )


def _depth(value: Any) -> int:
    """Nesting of lists and objects; the JSON parser has bounded it by Python's recursion limit already."""
    level, depth = [value], 0
    while level and depth <= limits.RECORD_DEPTH:
        depth += 1
        level = [
            part
            for container in level
            for part in (container.values() if isinstance(container, dict) else container)
            if isinstance(part, (dict, list))
        ]
    return depth
