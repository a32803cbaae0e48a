"""The rows of the vocabulary, and what repeats them: the IRDL file that other tools load, headers, the builder."""

import inspect
import re
from importlib.resources import files

import pytest

from pipelink.contract import vocabulary
from pipelink.ir import builder, new_context, schema
from pipelink.ir.views import VIEWS, Component, Port

IRDL = (files("pipelink.ir") / "dialect.irdl").read_text()
HEADERS = files("pipelink") / "include" / "pipelink"
#: Declarations of C++ by the name of their lists in attributes.cuh: operation and variants.
DECLARED = {
    "ROLE": ("role", [()]),
    "SMEM": ("smem", [()]),
    "BARRIER": ("barrier", [()]),
    "MBARRIER": ("mbarrier", [()]),
    "CLUSTER_BARRIER": ("cluster_barrier", [()]),
    "TURNS": ("turns", [()]),
    "TMEM": ("tmem", [()]),
    "RING": ("port", [("stream", "out"), ("stream", "in")]),
    "LOCAL": ("port", [("stream", "local")]),
    "TOKEN": ("port", [("token", "out"), ("token", "in")]),
    "TENSOR": ("tensor", [()]),
}


def irdl_operations() -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for name, body in re.findall(r"irdl\.operation @(\w+) \{(.*?)^  \}", IRDL, re.S | re.M):
        attributes = re.search(r"irdl\.attributes \{(.*?)\}", body)
        found[name] = set(re.findall(r'"(\w+)" =', attributes[1])) if attributes else set()
    return found


def test_irdl_requires_what_the_schema_requires() -> None:
    expected = {name: {key for key, f in op.fields.items() if f.required} for name, op in schema.OPS.items()}
    assert irdl_operations() == expected


@pytest.mark.parametrize("name", schema.OPS)
def test_irdl_has_the_choices_of_the_schema(name: str) -> None:
    body = re.search(rf"irdl\.operation @{name} \{{(.*?)^  \}}", IRDL, re.S | re.M)
    assert body
    for key, field in schema.OPS[name].fields.items():
        if field.required and field.choices:
            assert re.findall(rf'%{key}_\w+ = irdl\.is "(.*?)"', body[1]) == list(field.choices)


def test_every_operation_has_a_view() -> None:
    assert set(VIEWS) == {f"pipelink.{name}" for name in schema.OPS}


def test_port_kinds_and_directions_agree() -> None:
    pairs = {(kind, direction) for kind, ds in vocabulary.DIRECTIONS.items() for direction in ds}
    assert pairs == set(vocabulary.PORT_FIELDS)
    assert set(vocabulary.SOURCES) | set(vocabulary.TARGETS) | {"local"} == {direction for _, direction in pairs}
    assert all(set(row.takes or ()) <= pairs for row in vocabulary.Port.fields.values())


def test_only_what_the_ir_takes_is_written() -> None:
    for op in vocabulary.WRITTEN:
        for row in schema.OPS[op].fields.values():
            for variant in vocabulary.WRITTEN_PORTS if op == "port" else [()]:
                if row.written_on(variant) and row.choices:
                    assert set(row.values(variant)) <= set(row.choices), (op, row.key)


@pytest.mark.parametrize("name", DECLARED)
def test_headers_spell_the_attributes_of_the_rows(name: str) -> None:
    """What a declaration's message lists, and how many subjects its check takes."""
    op, variants = DECLARED[name]
    texts = [(HEADERS / f"{file}.cuh").read_text().replace("\\\n", "") for file in ("touches", "attributes")]
    touches = re.search(r"#define PL_KNOWN_TOUCHES_ (.*)", texts[0])
    assert touches
    header = texts[1].replace("PL_KNOWN_TOUCHES_", touches[1])
    known = re.search(rf"#define PL_KNOWN_ON_{name}_ (.*)", header)
    taken = re.search(rf"#define PL_ON_{name}_ (.*)", header)
    assert known
    assert taken
    rows = list(vocabulary.DECLARATIONS[op].fields.values())
    for variant in variants:
        spelled = [row.spelled(variant) for row in rows if row.spelled(variant)]
        text = ", ".join(known[1].replace('"', " ").split())
        listed = re.findall(r"pl::\w+(?:<[^>]*>)?", text.replace(",, ", ", "))
        assert sorted(listed) == sorted(cxx for row in spelled for cxx in row)
        assert len(taken[1].split(",")) == len(spelled)


def test_headers_align_swizzled_tiles_to_their_pattern() -> None:
    layouts = re.findall(r"PL_LAYOUT_\((swizzle\w+), (\d+)\)", (HEADERS / "types.cuh").read_text())
    assert {name: int(align) for name, align in layouts} == {
        name: swizzle.repeat_bytes for name, swizzle in vocabulary.SWIZZLES.items()
    }


@pytest.mark.parametrize("name", schema.OPS)
def test_the_builder_takes_the_attributes_of_the_rows(name: str) -> None:
    op = schema.OPS[name]
    owner = builder.ComponentBuilder if "component" in op.parents else builder.KernelBuilder
    arguments = inspect.signature(getattr(owner, name)).parameters
    named = {"name": "sym_name" if "sym_name" in op.fields else "name"}
    given = {named.get(key, key) for key, at in arguments.items() if at.kind is not at.VAR_KEYWORD}
    open_ended = any(at.kind is at.VAR_KEYWORD for at in arguments.values())
    assert given - {"self", "location"} <= set(op.fields)
    required = {key for key, row in op.fields.items() if row.required}
    assert (required if open_ended else set(op.fields) - {"placement", "legal"}) <= given  # passes set those two


def test_views_read_rows_with_their_defaults() -> None:
    module = builder.module(new_context())
    made = builder.component(module, "a")
    tile = {"element": "bf16", "shape": [8, 8], "layout": "row_major", "align": 16}
    made.port("p", "in", tiles=[tile], stages=(2, 4), touch="wgmma", ends=True)
    made.role("r", 8)
    component = Component(made.op)
    port, role = component.ports["p"], component.roles["r"]
    assert (port.stages, port.touch, port.ends, port.cta_group, port.scope) == ((2, 4), "wgmma", True, 1, None)
    assert (port.tiles[0].bytes, port.tiles[0].space, port.bytes) == (128, "smem", 128)
    assert (role.align, role.registers, role.one_thread) == (4, None, False)
    port.set("tiles", [tile, tile])
    assert port.bytes == 256
    assert Port.tiles.key == "tiles"
    assert not Port.tiles.required


def test_the_dialect_loads_once_per_context() -> None:
    from pipelink.ir import load_dialect

    context = new_context()
    load_dialect(context)
    assert context.is_registered_operation("pipelink.connect")
