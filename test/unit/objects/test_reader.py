"""Reading objects: what is read, and that a damaged input is refused with its own diagnostic."""

import json
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pipelink.objects import Image, Object, object_bytes, parse_objects, read_objects, write_object
from pipelink.support import limits
from pipelink.support.diagnostics import Diagnostics, LinkError, Location
from pipelink.support.inputs import FATBIN_MAGIC
from pipelink.target import target

COMMON: dict[str, Any] = {"pipelink": 1, "component": "t::x", "file": "x.cu"}
HEAD = {**COMMON, "op": "component", "name": "component", "line": 1, "cxx": 17}
PARAM = {**COMMON, "op": "param", "name": "n", "line": 2, "type": "i32", "bytes": 4, "align": 4}
# Enough for nvFatbin, which looks at LTO-IR's header only.
CODE = bytes.fromhex("ed434e7f0141026203020700") + bytes(84)


def text(*values: dict[str, Any]) -> list[bytes]:
    return [json.dumps(value).encode() for value in values]


def build(*values: dict[str, Any], archs: tuple[str, ...] = ("sm_80", "sm_90a")) -> bytes:
    return object_bytes([Image(arch, "ltoir", "13.0", CODE) for arch in archs], text(*values))


def archive(*members: tuple[str, bytes]) -> bytes:
    parts = [b"!<arch>\n"]
    for name, data in members:
        header = f"{name + '/':<16}{0:<12}{0:<6}{0:<6}{644:<8}{len(data):<10}`\n"
        parts += [header.encode(), data, b"\n" * (len(data) % 2)]
    return b"".join(parts)


def read(data: bytes) -> Object:
    (item,) = parse_objects(data, "x.o")
    return item


def refuse(data: bytes) -> Any:
    with pytest.raises(LinkError) as caught:
        parse_objects(data, "x.o")
    return caught.value.diagnostics[0]


def test_written_objects_are_read() -> None:
    item = read(build(HEAD, PARAM))
    assert [image.arch for image in item.images] == ["sm_80", "sm_90a"]
    assert item.images[0].data == CODE
    assert not item.images[0].packed
    assert item.components[0].symbol == "t.x"
    assert item.components[0].records[1].values == {"type": "i32", "bytes": 4, "align": 4}
    assert item.components[0].records[1].location == Location("x.cu", 2)


def test_writing_is_whole_or_not_at_all(tmp_path: Path) -> None:
    images = [Image("sm_90a", "ltoir", "13.0", CODE)]
    write_object(tmp_path / "x.o", images, text(HEAD))
    assert read_objects(tmp_path / "x.o")[0].components[0].name == "t::x"
    with pytest.raises(LinkError) as caught:
        write_object(tmp_path / "no" / "x.o", images, text(HEAD))
    assert caught.value.diagnostics[0].id == "unwritable-output"
    assert [path.name for path in tmp_path.iterdir()] == ["x.o"]


def test_records_are_sorted_and_padding_is_ignored() -> None:
    data = object_bytes([Image("sm_80", "ltoir", "", CODE)], [*text(PARAM), b"", b"\0\0", *text(HEAD)])
    assert [record.op for record in read(data).components[0].records] == ["component", "param"]


def test_images_are_chosen_by_target() -> None:
    item = read(build(HEAD))
    assert [image.arch for image in item.select(target("sm_90a"))] == ["sm_90a"]
    assert [image.arch for image in item.select(target("sm_100a"))] == ["sm_80"]
    with pytest.raises(LinkError) as caught:
        read(build(HEAD, archs=("sm_90a",))).select(target("sm_100a"))
    assert caught.value.diagnostics[0].id == "missing-arch"
    assert "sm_90a" in caught.value.diagnostics[0].message


def test_archives_hold_objects() -> None:
    other = {**HEAD, "component": "t::y"}
    items = parse_objects(archive(("x.o", build(HEAD)), ("y.o", build(other))), "l.a")
    assert [item.name for item in items] == ["l.a(x.o)", "l.a(y.o)"]
    assert [item.components[0].name for item in items] == ["t::x", "t::y"]


def test_gnu_and_bsd_names() -> None:
    data = build(HEAD)
    table = b"a_rather_long_name.o/\n"
    gnu = archive(("/", table), ("0", data)).replace(b"0/              ", b"/0              ", 1)
    assert parse_objects(gnu, "l.a")[0].member == "a_rather_long_name.o"
    name = b"a_rather_long_name.o\0\0\0\0"
    bsd = archive(("x", name + data)).replace(b"x/              ", f"#1/{len(name):<13}".encode(), 1)
    assert parse_objects(bsd, "l.a")[0].member == "a_rather_long_name.o"


def test_unknown_records_are_ignored_unless_required() -> None:
    unknown = {**PARAM, "op": "hologram", "name": "h"}
    found = Diagnostics()
    data = build(HEAD, unknown, {**PARAM, "colour": "red"})
    (item,) = parse_objects(data, "x.o", diagnostics=found)
    assert [record.op for record in item.components[0].records] == ["component", "param"]
    assert [(d.severity, d.id) for d in found.items] == [("warning", "unknown-record")] * 2
    for record in ({**unknown, "required": True}, {**PARAM, "colour": "red", "required": True}):
        problem = refuse(build(HEAD, record))
        assert (problem.id, problem.location) == ("future-contract", Location("x.cu", 2))


TILE = {"element": "bf16", "shape": [8, 8], "layout": "row_major", "bytes": 128, "align": 128}
PORT = {**COMMON, "op": "port", "name": "p", "line": 2, "direction": "out", "kind": "stream"}
PORT |= {"tiles": [TILE], "stages": [1, 2], "touch": "tma"}
ROLE = {**COMMON, "op": "role", "name": "r", "line": 3, "warps": 4, "align": 4}
STEPS = {**COMMON, "op": "protocol", "name": "r", "line": 5, "text": "repeat 3 {\n x.wait; }"}
NAMES = {**COMMON, "op": "grid", "name": "grid", "line": 4, "value": ["M", "1", "1"]}


@pytest.mark.parametrize(
    "record",
    [
        {**PARAM, "bytes": "4"},
        {**PARAM, "bytes": -4},
        {**PARAM, "bytes": True},
        {**PARAM, "bytes": 1 << 50},
        {**PARAM, "align": 3},
        {**PARAM, "name": "a b"},
        {**PARAM, "name": ""},
        {**PARAM, "line": -1},
        {**PARAM, "file": "\ud800"},
        {**PARAM, "type": "x" * 5000},
        {**PARAM, "component": "a:b"},
        {**PARAM, "component": ["t::x"]},
        {**PARAM, "op": 3},
        {key: value for key, value in PARAM.items() if key != "type"},
        {key: value for key, value in PARAM.items() if key != "pipelink"},
        {**PORT, "direction": "up"},
        {**PORT, "direction": ["out"]},
        {**PORT, "tiles": []},
        {**PORT, "tiles": [{**TILE, "colour": 1}]},
        {**PORT, "tiles": [{**TILE, "shape": [[[]]] + ["x"]}]},
        {**PORT, "stages": [3, 2]},
        {**PORT, "touch": "feet"},
        {**ROLE, "warps": 33},
        {**ROLE, "registers": [8, 400]},
        {**STEPS, "text": 3},
        {**STEPS, "text": " \n "},
        {**STEPS, "text": "x.wait;\0"},
        {**STEPS, "text": "x.wait; " * 600},
        {**NAMES, "value": ["M +", "1", "1"]},
        {**NAMES, "value": ["__import__('os')", "1", "1"]},
        {**NAMES, "value": [[[[[[[[[1]]]]]]]]]},
    ],
)
def test_wrong_values_are_refused(record: dict[str, Any]) -> None:
    problem = refuse(build(HEAD, record))
    assert problem.id == "corrupt-contract"
    assert "t::x" in problem.notes[0].message or record.get("component") != "t::x"


@pytest.mark.parametrize(
    "raw",
    [
        b"{",
        b"[]",
        b"3",
        b'{"a":1,"a":2}',
        b'{"pipelink":1e3}',
        b'{"pipelink":NaN}',
        b"[" * 50_000,
        b"\xff\xfe",
        b'"' * 9,
    ],
)
def test_what_is_no_record_is_refused(raw: bytes) -> None:
    image = Image("sm_80", "ltoir", "", CODE)
    assert refuse(object_bytes([image], [*text(HEAD), raw])).id == "corrupt-contract"


def test_huge_integers_are_refused() -> None:
    image = Image("sm_80", "ltoir", "", CODE)
    raw = b'{"pipelink":' + b"9" * 5000 + b"}"
    assert refuse(object_bytes([image], [*text(HEAD), raw])).id == "corrupt-contract"


def test_contracts_are_bounded() -> None:
    image = Image("sm_80", "ltoir", "", CODE)
    long = text({**PARAM, "type": "x"})[0] + b" " * limits.RECORD_BYTES
    assert refuse(object_bytes([image], [*text(HEAD), long])).id == "oversized-object"
    assert refuse(object_bytes([image], [b" " * (limits.CONTRACT_BYTES + 1)])).id == "oversized-object"
    assert refuse(object_bytes([image], [b"x"] * (limits.RECORDS + 1))).id == "oversized-object"


def test_what_one_record_cannot_show() -> None:
    assert refuse(build(PARAM)).id == "corrupt-contract"
    assert refuse(build(HEAD, HEAD)).id == "duplicate-component"
    assert refuse(build(HEAD, PARAM, PARAM)).id == "corrupt-contract"
    missing = refuse(build(HEAD, ROLE))
    assert (missing.id, missing.location) == ("missing-definition", Location("x.cu", 3))
    entry = {**COMMON, "op": "entry", "name": "r", "line": 4}
    assert read(build(HEAD, ROLE, entry, STEPS)).components[0].records[-1].values == {"text": STEPS["text"]}
    assert refuse(build(HEAD, ROLE, entry, STEPS, STEPS)).id == "corrupt-contract"
    wrong = refuse(build(HEAD, ROLE, entry, {**STEPS, "text": "repeat 3 {\n x wait; }"}))
    assert (wrong.id, wrong.location) == ("bad-protocol", Location("x.cu", 5, 4, " x wait; }"))
    answers = {**COMMON, "op": "port", "name": "p", "line": 2, "direction": "answers", "kind": "call"}
    answers["signature"] = "void()"
    assert refuse(build(HEAD, answers)).id == "missing-definition"


def test_component_in_two_members() -> None:
    problem = refuse(archive(("a.o", build(HEAD)), ("b.o", build(HEAD, PARAM))))
    assert problem.id == "duplicate-component"
    assert "x.o(a.o)" in problem.message
    assert "x.o(b.o)" in problem.message


def patched(offset: int, form: str, *values: int) -> Callable[[], bytes]:
    def make() -> bytes:
        data = bytearray(build(HEAD))
        struct.pack_into(form, data, offset, *values)
        return bytes(data)

    return make


def fat(offset: int, form: str, *values: int) -> Callable[[], bytes]:
    def make() -> bytes:
        data = build(HEAD)
        return patched(data.index(FATBIN_MAGIC) + offset, form, *values)()

    return make


@pytest.mark.parametrize(
    ("make", "id"),
    [
        (lambda: b"", "empty-input"),
        (lambda: b"#include <x>\n", "not-an-object"),
        (lambda: b"\x7fELF", "truncated-object"),
        (lambda: build(HEAD)[:-200], "truncated-object"),
        (lambda: build(HEAD)[:100], "truncated-object"),
        (patched(4, "<B", 1), "not-an-object"),  # 32-bit
        (patched(16, "<H", 3), "not-an-object"),  # shared library
        (patched(40, "<Q", 1 << 60), "truncated-object"),  # section table
        (patched(58, "<H", 65), "corrupt-object"),  # size of its entries
        (patched(62, "<H", 200), "corrupt-object"),  # section of names
        (fat(4, "<H", 9), "corrupt-object"),  # version
        (fat(0, "<I", 0), "corrupt-object"),  # magic
        (fat(8, "<Q", 1 << 40), "truncated-object"),  # bytes of all images
        (fat(16 + 4, "<I", 0), "corrupt-object"),  # header of the first image
        (fat(16 + 8, "<Q", 0), "corrupt-object"),  # its payload
        (fat(16, "<H", 2), None),  # one image is a cubin: the other is LTO-IR still
        (lambda: b"!<thin>\n", "not-an-object"),
        (lambda: b"!<arch>\n", "no-contract"),
        (lambda: archive(("x.o", build(HEAD)))[:200], "truncated-object"),
        (lambda: archive(("x.o", build(HEAD)))[:30], "truncated-object"),
        (lambda: archive(("x.o", b"text")), "not-an-object"),
        (lambda: archive(("x.o", build(HEAD))).replace(b"`\n", b"??"), "corrupt-object"),
        (lambda: build(archs=()), "no-contract"),
        (lambda: build(HEAD).replace(b"}\0", b"}x", 1), "corrupt-contract"),
        (lambda: build({**HEAD, "pipelink": 2}), "future-contract"),
        (lambda: build(HEAD, archs=()), "no-ltoir"),
    ],
)
def test_damage_has_its_diagnostic(make: Callable[[], bytes], id: str | None) -> None:
    data = make()
    if id is None:
        assert {image.kind for image in read(data).images} == {"cubin", "ltoir"}
        return
    problem = refuse(data)
    assert problem.id == id
    assert problem.location.file == "x.o"


def test_code_without_a_contract_is_a_helper() -> None:
    helper = read(build())
    assert not helper.components
    assert [image.kind for image in helper.ltoir] == ["ltoir"] * len(helper.ltoir) != []


def test_unreadable_files(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "none.o", Path("\0")):
        with pytest.raises(LinkError) as caught:
            read_objects(path)
        assert caught.value.diagnostics[0].id == "unreadable-input"
