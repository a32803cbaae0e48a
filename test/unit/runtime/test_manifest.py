"""A manifest is held to its table when a package is loaded: every number in its range, every name known, every field
inside the block and beside the others."""

import copy
import json
import re
from pathlib import Path
from typing import Any

import pytest

from pipelink.runtime.manifest import LaunchContract
from pipelink.runtime.schema import LAUNCH as TABLE
from pipelink.runtime.schema import MANIFEST, Object, Row
from pipelink.support.diagnostics import LinkError
from test.unit.runtime.test_compiled import LAUNCH

PEERS = {"name": "all_b", "kind": "peers", "tensor": "b", "count": 2}
DEBUG: dict[str, Any] = {
    "offset": 320, "limit_ms": 2000, "timeline": True, "stays": False, "lanes": 3,
    "roles": [{"role": "@load::@load", "first": 0, "threads": 1, "lane": 0}],
    "sites": [
        {"port": "@mma::@ab", "operation": "wait", "ring": "@load::@ab", "stages": 4, "users": ["@mma::@mma"],
         "arrivers": ["@load::@load"]},
    ],
}  # fmt: skip
OPERATIONS: list[dict[str, Any]] = [
    {
        "name": "matvec", "opcode": 3, "bytes": 16,
        "operands": [
            {"name": "epilogue.first", "type": "i32", "offset": 0}, {"name": "weights", "type": "u64", "offset": 8},
        ],
    },
    {
        "name": "signals", "opcode": 4, "bytes": 8, "unstated": ["@other::@done"],
        "operands": [{"name": "at", "type": "i32", "offset": 0}, {"name": "factor", "type": "f32", "offset": 4}],
        "signals": [
            {
                "does": "await", "counters": "flags", "index": "at / width", "count": "1", "instance": "",
                "given": [{"name": "width", "value": "ceildiv(M, 2)"}],
            },
        ],
    },
    {"name": "nothing", "opcode": 0, "bytes": 0, "operands": []},
]  # fmt: skip
MISSING = object()


def changed(path: str, value: Any) -> dict[str, Any]:
    """LAUNCH with peers, operations and a debug block, and ``value`` at a path such as ``parameters.fields.0.offset``;
    MISSING takes the key out."""
    data = copy.deepcopy(LAUNCH) | {"debug": copy.deepcopy(DEBUG), "operations": copy.deepcopy(OPERATIONS)}
    data["arguments"].append(dict(PEERS))
    data["parameters"]["fields"].append(
        {"name": "all_b", "kind": "peers", "offset": 296, "bytes": 16, "peers": "all_b"}
    )
    at: Any = data
    *parents, last = [int(part) if part.isdigit() else part for part in path.split(".")]
    for part in parents:
        at = at[part]
    if value is MISSING:
        del at[last]
    else:
        at[last] = value
    return data


def refused(data: dict[str, Any]) -> str:
    with pytest.raises(LinkError) as caught:
        LaunchContract.from_json(data)
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.id == "bad-package"
    return diagnostic.message.removeprefix("the manifest is malformed: ")


MAPS: dict[str, Any] = {
    "name": "maps", "kind": "peer_maps", "offset": 384, "bytes": 256, "peers": "all_b", "element": "bf16",
    "box": [64, 64], "swizzle": "swizzle128",
}  # fmt: skip


def with_maps(**values: Any) -> dict[str, Any]:
    data = changed("debug", MISSING)
    data["parameters"]["bytes"] = 640
    data["parameters"]["fields"].append({**MAPS, **values})
    return data


def test_maps_of_peers_are_a_map_for_each() -> None:
    fields = LaunchContract.from_json(with_maps()).fields[-2:]
    assert [(f.kind, f.tensor, f.offset, f.bytes, f.box) for f in fields] == [
        ("tensor_map", "all_b[0]", 384, 128, (64, 64)),
        ("tensor_map", "all_b[1]", 512, 128, (64, 64)),
    ]


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"bytes": 128}, "of 128 bytes names 'all_b', which is not as many peers"),
        ({"bytes": 250}, "of 250 bytes names 'all_b', which is not as many peers"),
        ({"peers": "b"}, "names 'b', which is not as many peers"),
        ({"element": "f32"}, "is no map of tensor 'b': other elements or dimensions"),
        ({"box": [1, 1, 1]}, "is no map of tensor 'b': other elements or dimensions"),
        ({"offset": 388}, "begins at 388, expected a multiple of 64"),
    ],
)
def test_maps_of_peers_are_checked(values: dict[str, Any], message: str) -> None:
    assert message in refused(with_maps(**values))


def test_the_contract_that_is_changed_is_good() -> None:
    contract = LaunchContract.from_json(changed("kernel", "gemm"))
    assert [field.tensor for field in contract.fields[-2:]] == ["all_b[0]", "all_b[1]"]
    assert contract.debug is not None
    assert contract.debug.sites[0].stages == 4


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        ("operations.0.opcode", -1, r"operations\[0\].opcode: expected an integer, 0 to 4294967295, given -1"),
        ("operations.0.name", "nothing", "two things have one name: operation 'nothing'"),
        ("operations.0.bytes", 12, "operand of operation 'matvec': they have 12 bytes, and end at 16"),
        ("operations.0.operands.1.offset", 12, "'weights' begins at 12, expected a multiple of 8"),
        ("operations.0.operands.1.offset", 0, "'weights' begins at 0, before 'epilogue.first' ends at 4"),
        ("operations.0.operands.1.name", "epilogue.first", "one name: operand of operation 'matvec' 'epilogue.first'"),
        ("operations.0.operands.0.name", "a.b.c", "expected a name, or two with a dot between, given 'a.b.c'"),
        ("operations.0.operands.0.type", "bf16", "type: expected one of i8, u8"),
        (
            "operations.1.signals.0.counters",
            "flag",
            r"'signals' awaits 1 at flag\[at / width\] \(width = ceildiv\(M, 2\)\): there is no such",
        ),
        ("operations.1.signals.0.index", "factor", "unknown name 'factor' in 'factor'"),
        ("operations.1.signals.0.index", "M", "unknown name 'M' in 'M'"),
        ("operations.1.signals.0.count", "stride(a, 0)", r"stride\(\) is not known to an instruction"),
        ("operations.1.signals.0.instance", "other", "unknown name 'at' in 'at / width'"),
        ("operations.1.signals.0.given.0.value", "at", "unknown name 'at' in 'at'"),
        ("operations.1.signals.0.does", "adds", "expected one of await, add"),
        ("operations.0.operands", MISSING, r"operations\[0\] has no 'operands'"),
        ("parameters.fields.4.offset", -4096, r"fields\[4\].offset: expected an integer, 0 to 32764, given -4096"),
        ("parameters.fields.4.offset", 4_000_000_000, "expected an integer, 0 to 32764, given 4000000000"),
        ("parameters.fields.4.offset", 8192, "the parameter block has 384 bytes, and its fields end at 8200"),
        ("parameters.fields.4.offset", 264, "field 'flags' begins at 264, before field 'bias' ends at 272"),
        ("parameters.fields.4.offset", 276, "field 'flags' begins at 276, expected a multiple of 8"),
        ("parameters.fields.4.offset", 272.0, "expected an integer"),
        ("parameters.fields.4.offset", True, "given True"),
        ("parameters.fields.4.offset", float("inf"), "given inf"),
        pytest.param("parameters.fields.4.offset", 10**5000, "given an integer of 16610 bits", id="digits"),
        ("parameters.fields.4.workspace", "other", "names workspace 'other', which there is not"),
        ("parameters.fields.4.bytes", 4, "expected an integer, 8, given 4"),
        ("parameters.fields.2.tensor", "alpha", "names 'alpha', which is no tensor argument"),
        ("parameters.fields.2.align", 3, "align: expected a power of two, 1 to 1048576, given 3"),
        ("parameters.fields.0.box", [], "box: expected a list of 1 to 5 items"),
        ("parameters.fields.0.box", [0, 64], r"box\[0\]: expected an integer, 1 to 256, given 0"),
        ("parameters.fields.0.box", [1, 1, 1], "is no map of tensor 'a'"),
        ("parameters.fields.0.element", "f16", "is no map of tensor 'a'"),
        ("parameters.fields.0.swizzle", "swizzle7", "expected one of none, swizzle32"),
        (
            "parameters.fields.0.kind",
            "texture",
            "kind: expected one of tensor_map, peer_maps, value, pointer, workspace",
        ),
        ("parameters.fields.6.type", "f128", "type: expected one of i8"),
        ("parameters.fields.5.type", "i64", "field 'ldc' has 4 bytes, which do not hold i64"),
        ("parameters.fields.7.value", "beta", "field 'alpha': unknown name 'beta' in 'beta'"),
        ("parameters.fields.7.value", "2 * alpha", "unknown name 'alpha'"),
        ("parameters.fields.9.bytes", 8, "of 8 bytes names 'all_b', which is not as many peers"),
        ("parameters.fields.9.peers", "b", "which is not as many peers"),
        ("parameters.bytes", 2**40, "expected an integer, 0 to 32764"),
        ("parameters.align", 256, "expected a power of two, 1 to 128"),
        ("parameters", [], r"parameters: expected an object, given \[\]"),
        ("parameters.fields", {}, "expected a list"),
        ("threads", -5, "threads: expected an integer, 1 to 1024, given -5"),
        ("smem_bytes", 2**40, "smem_bytes: expected an integer, 0 to 1048576"),
        ("cluster", [0], r"cluster\[0\]: expected an integer, 1 to 16, given 0"),
        ("cluster", [16, 2], "a cluster of 32 CTAs, expected at most 16"),
        ("cooperative", "no", "cooperative: expected true or false, given 'no'"),
        ("grid", [], "grid: expected a list of 1 to 3 items"),
        ("grid", ["tiles", "1", "sm"], "the grid: unknown name 'sm'"),
        ("grid", ["tiles +"], "the grid: cannot parse expression"),
        ("grid", ["stride(a, 2)"], r"the grid: stride\(a, 2\) names no dimension of an argument"),
        ("grid", ["stride(tiles, 0)"], "names no dimension of an argument"),
        ("grid", [f"tiles * {2**64}"], "expected numbers of 64 bits"),
        ("grid", ["min"], "is not allowed in expression"),
        ("grid", ["(" * 400], "cannot parse|nested deeper"),
        ("grid", ["1" * 501], "grid.*expected an expression"),
        ("derived.0.name", "M", "two things have one name: derived value 'M'"),
        ("derived.0.value", "k_tiles", "derived value 'tiles': unknown name 'k_tiles'"),
        ("dimensions", ["M", "M", "K", "N", "steps"], "two things have one name: dimension 'M'"),
        ("dimensions", ["M", "K", "N", "steps", "sms"], "'sms' is a word of launches"),
        ("dimensions", ["M", "K", "N", "steps", "\ud800"], "expected a name"),
        ("workspaces.0.init", "ones", "init: expected one of zero, once, none"),
        ("workspaces.0.bytes", 4, "bytes: expected an expression"),
        ("arguments.1.name", "a", "two things have one name: argument 'a'"),
        ("arguments.4.name", "stream", "'stream' is a word of launches"),
        ("arguments.4.name", "device", "'device' is a word of launches"),
        ("arguments.4.name", "", "name: expected a name"),
        ("arguments.0.element", "f17", "element: expected one of bf16"),
        ("arguments.0.shape", ["M"] * 9, "shape: expected a list of 0 to 8 items"),
        ("arguments.0.shape", ["M", "K / k"], "tensor 'a': unknown name 'k'"),
        ("arguments.2.align", 2**40, "align: expected a power of two, 0 to 1048576"),
        ("arguments.2.access", "rw", "access: expected one of read, write, readwrite"),
        ("arguments.6.count", 0, "count: expected an integer, 1 to 4095"),
        ("arguments.6.tensor", "alpha", "are like 'alpha', which is no tensor argument"),
        ("arguments.6.tensor", "all_b", "are like 'all_b', which is no tensor argument"),
        ("kernel", MISSING, "launch has no 'kernel'"),
        ("kernel", "a b", "kernel: expected a name"),
        ("debug.offset", 304, "the debug block begins at 304, expected a multiple of 8 from 312 on"),
        ("debug.offset", 322, "expected a multiple of 8"),
        ("debug.offset", 336, "the debug block at 336 leaves the parameter block of 384 bytes"),
        ("debug.limit_ms", -1, "limit_ms: expected an integer"),
        ("debug.lanes", 2**31, "lanes: expected an integer"),
        ("debug.roles.0.threads", 0, "threads: expected an integer, 1 to 1024"),
        ("debug.sites.0.users", "@a::@b", "users: expected a list"),
        ("debug.sites.0.port", "\x1b[31m", "port: expected a text of up to 1,024 printable characters"),
    ],
)
def test_refused(path: str, value: Any, message: str) -> None:
    said = refused(changed(path, value))
    assert re.search(message, said), said
    assert said.isprintable()


def test_the_number_of_arguments_is_bounded() -> None:
    """A small manifest asks for millions of tensors."""
    data = changed("arguments.6.count", 4095)
    data["arguments"] += [{**PEERS, "name": f"more_{number}", "count": 4095} for number in range(3)]
    assert "more than 4096 arguments" in refused(data)


def test_the_page_shows_what_is_read() -> None:
    page = Path(__file__).parents[3] / "docs" / "package-format.md"
    document, launch = (json.loads(text) for text in re.findall(r"^```json\n(.*?)^```", page.read_text(), re.M | re.S))
    assert MANIFEST.read(document, "")["kernels"][0]["name"] == LaunchContract.from_json(launch).kernel


def walk(table: Object, data: Any, path: str = "") -> list[tuple[str, Row]]:
    """Every key of a document that the table has, with its row."""
    found: list[tuple[str, Row]] = []
    rows = table.rows + (() if table.variants is None else table.variants[data["kind"]])
    for row in (row for row in rows if row.key in data):
        found.append((f"{path}{row.key}", row))
        kind, value = row.kind, data[row.key]
        if isinstance(kind, Object):
            found += walk(kind, value, f"{path}{row.key}.")
        elif isinstance(item := getattr(kind, "item", None), Object):
            for number, entry in enumerate(value):
                found += walk(item, entry, f"{path}{row.key}.{number}.")
    return found


def test_every_value_of_another_kind_is_refused() -> None:
    rows = walk(TABLE, changed("kernel", "gemm"))
    assert len(rows) > 100
    for path, _ in rows:
        for value in (None, -5, [], {}, 1.5, float("nan"), "\0", 2**64, [[]], "x" * 100_000):
            absent = ("debug", "dimensions", "derived", "workspaces", "cluster", "arguments", "operations")
            if path in absent and value in (None, []):
                continue
            if path.endswith(
                (
                    ".roles",
                    ".sites",
                    ".users",
                    ".arrivers",
                    ".shape",
                    ".fields",
                    ".operands",
                    ".signals",
                    ".unstated",
                    ".given",
                    ".instance",
                    "debug.timeline",
                )
            ):
                continue
            refused(changed(path, value))
