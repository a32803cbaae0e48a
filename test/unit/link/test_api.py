"""The Python builder: names, IR, errors at the caller's line, and a link that ends in a package."""

import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import pipelink
from pipelink import runtime
from pipelink.api import Reference
from pipelink.backend.cache import Cache
from pipelink.ir import Program, parse, program, verify
from pipelink.objects import read_objects
from pipelink.passes.pipeline import parse_pipeline, run_pipeline
from pipelink.support.diagnostics import LinkError


def composed(fill: Path, values: Path, component: str = "ramp", **settings: str) -> pipelink.Kernel:
    kernel = pipelink.Kernel("filled", **settings)
    out, what = kernel.add(fill), kernel.add(values, component)
    kernel.connect(out.value, what.value)
    return kernel


def test_the_builder_makes_ir(fill: Path, values: Path) -> None:
    kernel = composed(fill, values, "constant")
    text = str(kernel.module)
    assert 'module @filled attributes {pipelink.kernel = {target = "sm_90a"}}' in text
    assert 'component = @test.fill, sym_name = "fill"' in text
    assert "source = @fill::@value, target = @constant::@value" in text


def test_everything_a_kernel_can_say(fill: Path, values: Path) -> None:
    kernel = pipelink.Kernel("k", target="sm_80", min_ctas=2)
    one = kernel.add(fill, name="one", out="first", N="N1")
    two = kernel.add(fill)
    three = kernel.add(fill)
    assert [repr(i) for i in (one, two, three)] == [
        "<instance one of test.fill>", "<instance fill of test.fill>", "<instance fill_2 of test.fill>",
    ]  # fmt: skip
    what = kernel.add(read_objects(values)[0], "test::constant")
    kernel.connect(one.value, what.value, transfer="call", weight=2)
    kernel.bind(one.n, 64)
    kernel.bind(two.n, "N")
    kernel.tensor("out", "f32", ["N"], "write")
    kernel.derive("tiles", "ceildiv(N, 4)")
    kernel.grid("tiles", 2)
    kernel.cluster(2)
    kernel.resident()
    kernel.workspace("scratch", "4 * N", "zero")
    kernel.promise("arch", "any")
    kernel.exclusive("turns", one.run, two.run)
    text = str(kernel.module)
    for expected in (
        "min_ctas = 2", 'rename = {N = "N1", out = "first"}', 'transfer = "call"', "value = 64", 'to = "N"',
        '"pipelink.tensor"', '"pipelink.derive"', 'value = ["tiles", "2", "1"]', "value = [2, 1, 1]",
        '"pipelink.resident"', '"pipelink.workspace"', '"pipelink.promise"', "roles = [@one::@run, @fill::@run]",
    ):  # fmt: skip
        assert expected in text, expected


def test_attributes_are_what_the_component_declares(fill: Path) -> None:
    instance = pipelink.Kernel("k").add(fill)
    assert instance.run == Reference("fill", "run", "role")
    assert str(instance.value) == "fill.value"
    assert set(dir(instance)) == {"run", "value", "out", "n"}


def test_unknown_names(fill: Path, values: Path) -> None:
    kernel = pipelink.Kernel("k")
    instance = kernel.add(fill)
    with pytest.raises(LinkError, match=r"component 'test.fill' has no 'valu'; it has run, value, out, n") as caught:
        _ = instance.valu
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.hint == "did you mean 'value'?"
    assert diagnostic.location.file == __file__
    with pytest.raises(LinkError, match="holds 2 components: test::constant, test::ramp"):
        kernel.add(values)
    with pytest.raises(LinkError, match="has no component 'rmp'") as caught:
        kernel.add(values, "rmp")
    assert caught.value.diagnostics[0].hint == "did you mean 'ramp'?"
    with pytest.raises(LinkError, match="two instances named 'fill'"):
        kernel.add(fill, name="fill")
    with pytest.raises(LinkError, match=r"'fill.out' is a param, not a port"):
        kernel.connect(instance.out, instance.value)
    with pytest.raises(LinkError, match=r"'fill.run' is a role, not a parameter"):
        kernel.bind(instance.run, 1)
    with pytest.raises(LinkError, match="unreadable-input"):
        kernel.add("none.o")


def test_an_unconnected_port_is_refused_at_the_caller(fill: Path) -> None:
    kernel = pipelink.Kernel("k")
    kernel.add(fill)
    with pytest.raises(LinkError) as caught:
        kernel.link(cache=False)
    diagnostic = caught.value.diagnostics[0]
    assert diagnostic.id == "unconnected-port"
    assert diagnostic.location.file == __file__
    assert diagnostic.location.line == kernel.location.line + 1


OPERATIONS = """
module @t.ask attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  "pipelink.dispatch"() {sym_name = "ops", bytes = 112} : () -> ()
}
module @t.do attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  "pipelink.param"() {sym_name = "small", type = "i8", bytes = 1, align = 1, operand = true} : () -> ()
  "pipelink.param"() {sym_name = "wide", type = "i64", bytes = 8, align = 8, operand = true} : () -> ()
  "pipelink.param"() {sym_name = "last", type = "i32", bytes = 4, align = 4, operand = true} : () -> ()
}
"""


def dispatched(*opcodes: int | None) -> Program:
    """A kernel that runs an operation for each opcode, checked and placed."""
    instances = [("ask", "t.ask"), *((f"do{number}", "t.do") for number in range(len(opcodes)))]
    lines = [f'"pipelink.instance"() {{sym_name = "{name}", component = @{of}}} : () -> ()' for name, of in instances]
    for number, opcode in enumerate(opcodes):
        given = "" if opcode is None else f", opcode = {opcode}"
        ends = f"dispatcher = @ask, instance = @do{number}{given}"
        lines.append(f'"pipelink.operation"() {{sym_name = "op{number}", {ends}}} : () -> ()')
    lines.append('"pipelink.grid"() {value = ["1", "1", "1"]} : () -> ()')
    head = 'module @k attributes {pipelink.kernel = {target = "sm_90a"}} {'
    module = parse(OPERATIONS + "\n".join([head, *lines, "}"]))
    verify(module)
    run_pipeline(parse_pipeline("check,place"), module)
    return program(module)


def test_opcodes_are_those_stated_or_the_first_that_are_free() -> None:
    (kernel,) = dispatched(7, None, 0, 300, None).kernels
    placed = [operation.placement for operation in kernel.operations]
    assert [one and one.opcode for one in placed] == [7, 1, 0, 300, 2]


def test_operands_stand_one_behind_the_other_at_their_alignment() -> None:
    (kernel,) = dispatched(0, 1).kernels
    placed = kernel.operations[1].placement
    assert placed is not None
    assert placed.operands == {"do1::small": 0, "do1::wide": 8, "do1::last": 16}
    assert placed.bytes == 20


@pytest.mark.parametrize(
    ("opcodes", "id_", "says"),
    [
        ((1, 1), "opcode-conflict", "operations '@op0' and '@op1' have opcode 1"),
        ((-1,), "wrong-attribute", "'opcode' of operation 'op0' is -1"),
        ((1 << 50,), "wrong-attribute", "'opcode' of operation 'op0' is 1125899906842624"),
    ],
)
def test_opcodes_that_no_operation_can_have(opcodes: tuple[int | None, ...], id_: str, says: str) -> None:
    with pytest.raises(LinkError) as caught:
        dispatched(*opcodes)
    assert [item.id for item in caught.value.diagnostics] == [id_]
    assert says in caught.value.diagnostics[0].message


def test_pages_of_a_port_are_refused_at_the_caller(fill: Path, values: Path) -> None:
    kernel = pipelink.Kernel("k")
    out, what = kernel.add(fill), kernel.add(values, "constant")
    with pytest.raises(LinkError, match="is a port, not a lease") as caught:
        kernel.connect(out.value, what.value, lease=out.value)
    (diagnostic,) = caught.value.diagnostics
    assert (diagnostic.id, diagnostic.location.file) == ("unknown-name", __file__)


def test_link_and_save(fill: Path, values: Path, tmp_path: Path) -> None:
    kernel = composed(fill, values, "constant")
    linked = kernel.link("sm_90a", "sm_80", cache=Cache(tmp_path / "cache"))
    assert set(linked.cubins) == {"sm_90a", "sm_80"}
    assert all(cubin.startswith(b"\x7fELF") for cubin in linked.cubins.values())
    assert linked.placement["kernel"]["threads"] == 128
    assert "FAILED" not in linked.audit
    assert linked["sm_80"].audit.ok
    before = os.umask(0o027)
    try:
        linked.save(tmp_path / "filled.plk")
    finally:
        os.umask(before)
    assert (tmp_path / "filled.plk").stat().st_mode & 0o777 == 0o640
    loaded = runtime.load(tmp_path / "filled.plk")
    assert repr(loaded) == "<pipelink kernel filled(out: f32[N] (written), alpha: f32)>"
    assert [target.arch for target in loaded.package.targets] == ["sm_90a", "sm_80"]
    assert loaded.package.manifest["audit"]["sm_80"]["kernel"] == "filled"
    again = kernel.link("sm_90a", cache=Cache(tmp_path / "cache"))
    assert again.targets[0].cached
    assert again.cubins["sm_90a"] == linked.cubins["sm_90a"]
    with pytest.raises(LinkError, match="unwritable-output"):
        linked.save(tmp_path / "none" / "filled.plk")


def test_several_kernels_in_one_package(fill: Path, values: Path, tmp_path: Path) -> None:
    linked: list[pipelink.Linked] = []
    for name in ("first", "second"):
        kernel = composed(fill, values, "constant")
        kernel.name = name
        linked.append(kernel.link("sm_90a", "sm_80", cache=Cache(tmp_path / "cache")))
    pipelink.save(tmp_path / "both.plk", *linked)
    assert list(runtime.load_all(tmp_path / "both.plk")) == ["first", "second"]
    assert runtime.load(tmp_path / "both.plk", kernel="second").package.targets[1].cubin == linked[1].cubins["sm_80"]
    with pytest.raises(LinkError, match="duplicate-name"):
        pipelink.save(tmp_path / "no.plk", linked[0], linked[0])
    assert not (tmp_path / "no.plk").exists()
    assert re.fullmatch(r"<linked kernel first for sm_90a \([\d,]+ bytes\), sm_80 \([\d,]+ bytes\)>", repr(linked[0]))
    assert len(repr(linked[0].targets)) < 300


WRONG = {"wrong-attribute", "missing-attribute", "bad-symbol", "bad-expression"}


@pytest.mark.parametrize(
    "wrong",
    [
        lambda kernel: kernel.tensor("\ud800", "f32", ["N"]),
        lambda kernel: kernel.tensor("x", "f32", [2**63]),
        lambda kernel: kernel.cluster(2**63),
        lambda kernel: kernel.promise("x", b"y"),
        lambda kernel: kernel.derive("x", None),
        lambda kernel: kernel.tensor("x", "f32", None),
        lambda kernel: kernel.promise("x", 10**5000),
        lambda kernel: kernel.grid("\udfff"),
    ],
    ids=lambda _: "",
)
def test_values_that_the_ir_cannot_hold(fill: Path, values: Path, wrong: Callable[[Any], None]) -> None:
    kernel = composed(fill, values, "constant")
    wrong(kernel)
    with pytest.raises(LinkError) as caught:
        kernel.link(cache=None)
    assert {item.id for item in caught.value.diagnostics} <= WRONG
    assert caught.value.diagnostics[0].location.file == __file__
    str(caught.value).encode()


def test_what_is_no_object(fill: Path) -> None:
    for source in (b"fill.o", 5, None):
        with pytest.raises(LinkError, match=r"given .*\[unreadable-input\]"):
            pipelink.Kernel("k").add(source)  # type: ignore[arg-type]
    with pytest.raises(LinkError, match="wrong-attribute"):
        _ = pipelink.Kernel("\ud800").module


def test_an_error_says_all_that_the_tools_say(fill: Path) -> None:
    kernel = pipelink.Kernel("filled")
    kernel.add(fill)
    with pytest.raises(LinkError) as caught:
        kernel.link(cache=None)
    text = str(caught.value)
    assert f"{__file__}:{kernel.location.line + 1}" in text
    assert "[unconnected-port]" in text


def test_the_page_on_the_api_has_every_public_name() -> None:
    page = (Path(pipelink.__file__).parents[1] / "docs" / "api.md").read_text()
    for module in (pipelink, runtime):
        for name in module.__all__:
            if name not in ("objects", "runtime") and (module, name) != (runtime, "LinkError"):
                assert f"\n### {module.__name__}.{name}\n" in page
    for method in ("connect", "bind", "link", "preload"):
        assert f"\n{method}(" in page


def test_the_root_package_is_lazy() -> None:
    assert all(getattr(pipelink, name) is not None for name in pipelink.__all__)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = pipelink.nothing
