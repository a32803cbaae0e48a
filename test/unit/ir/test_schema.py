"""The IRDL file that other tools load, the schema that ours check, and the views agree."""

import re
from importlib.resources import files

import pytest

from pipelink.ir import new_context, schema
from pipelink.ir.views import VIEWS

IRDL = (files("pipelink.ir") / "dialect.irdl").read_text()


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
    pairs = {(kind, direction) for kind, ds in schema.DIRECTIONS.items() for direction in ds}
    assert pairs == set(schema.PORT_FIELDS)
    assert set(schema.SOURCES) | set(schema.TARGETS) | {"local"} == {direction for _, direction in pairs}


def test_the_dialect_loads_once_per_context() -> None:
    from pipelink.ir import load_dialect

    context = new_context()
    load_dialect(context)
    assert context.is_registered_operation("pipelink.connect")
