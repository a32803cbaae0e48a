"""What ``parse`` and the views say about places, and that hostile texts end in a LinkError."""

from pathlib import Path

import pytest

from pipelink.ir import new_context, parse, program, to_attribute, verify
from pipelink.ir.attributes import Opaque, to_python
from pipelink.support.diagnostics import LinkError, Location
from pipelink.support.mlir import ir

GEMM = Path(__file__).resolve().parents[3] / "test/lit/ir/gemm.mlir"


def test_views_read_the_gemm() -> None:
    found = verify(parse(GEMM))
    (kernel,) = found.kernels
    assert (kernel.name, kernel.target, list(kernel.instances)) == (
        "gemm",
        "sm_90a",
        ["load", "mma", "epilogue", "schedule"],
    )
    loader = found.component_of(kernel, "load")
    assert loader.roles["load"].one_thread
    port = loader.ports["ab"]
    assert (port.stages, port.touch, port.bytes, [str(t) for t in port.tiles]) == (
        (2, 8),
        "tma",
        49152,
        ["swizzle128 bf16[128, 64]", "swizzle128 bf16[256, 64]"],
    )
    assert port.location == Location(str(GEMM), 3, 3)
    assert loader.role_of(port) is loader.roles["load"]
    assert found.components["acme.store"].role_of(found.components["acme.store"].ports["store"]) is None


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ('loc("a.cu":3:4)', Location("a.cu", 3, 4)),
        ('loc(fused[unknown, "a.cu":3:4])', Location("a.cu", 3, 4)),
        ('loc("name"("a.cu":3:4))', Location("a.cu", 3, 4)),
        ('loc(callsite("a.cu":3:4 at "b.cu":5:6))', Location("a.cu", 3, 4)),
        ("loc(unknown)", Location()),
    ],
)
def test_places_of_all_kinds(text: str, place: Location) -> None:
    module = parse(
        f'module @c attributes {{pipelink.component = {{abi = 1}}}} {{"pipelink.resident"() : () -> () {text}}}'
    )
    (component,) = program(module).components.values()
    assert component.children[0].location == place


@pytest.mark.parametrize("text", ["3 : i32", "4 : index", "1.5 : f32", "array<i64: 1, 2>", "i32", "9 : i128", "unit"])
def test_other_attributes_keep_their_text(text: str) -> None:
    context = new_context()
    attribute = ir.Attribute.parse(text, context)
    value = to_python(attribute)
    assert value is True if text == "unit" else isinstance(value, Opaque)
    if isinstance(value, Opaque):
        assert to_attribute(value, context) == attribute


@pytest.mark.parametrize(
    ("text", "id"),
    [
        ("", "empty-input"),
        (" \n", "empty-input"),
        ("\0", "invalid-ir"),
        ('"pipelink."()', "invalid-ir"),
        ("module {", "invalid-ir"),
        ("[" * 100_000, "invalid-ir"),
        ("module @a {}\nmodule @a {}", "duplicate-name"),
        ("module @a attributes {pipelink.component = 3 : i64} {}", "wrong-attribute"),
        ("module attributes {pipelink.component = {abi = 1}} {}", "missing-attribute"),
        ('module @a attributes {pipelink.component = {abi = 1, images = ["x"]}} {}', "wrong-attribute"),
    ],
)
def test_refused_texts(text: str, id: str) -> None:
    with pytest.raises(LinkError) as caught:
        verify(parse(text))
    assert caught.value.diagnostics[0].id == id


def test_every_mistake_is_reported_at_once() -> None:
    text = """module @a attributes {pipelink.component = {abi = 1}} {
      "pipelink.role"() {sym_name = "r", warp = 1} : () -> ()
      "pipelink.smem"() {sym_name = "s", bytes = 16} : () -> ()
    }"""
    with pytest.raises(LinkError) as caught:
        parse(text)
    assert [(d.id, d.location.line) for d in caught.value.diagnostics] == [
        ("unknown-attribute", 2),
        ("missing-attribute", 2),
        ("alignment-unstated", 3),
    ]
