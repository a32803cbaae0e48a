"""The launch contract: what resolves to what, and each way in which it cannot."""

from pathlib import Path

import pytest

from pipelink import ir
from pipelink.analysis.launch import Launch, resolve
from pipelink.analysis.launch_expressions import rename_expression
from pipelink.ir.placement import ParameterSource
from pipelink.support.diagnostics import Diagnostics

GEMM = (Path(__file__).parent / "place" / "gemm.mlir").read_text()


def launch(text: str) -> tuple[Launch, Diagnostics]:
    program = ir.program(ir.parse(text))
    diagnostics = Diagnostics()
    return resolve(program, program.kernels[0], diagnostics), diagnostics


def errors(text: str) -> list[tuple[str, str | None]]:
    return [(d.id, d.hint) for d in launch(text)[1].errors]


def with_kernel(*lines: str) -> str:
    """The GEMM with more operations in its kernel."""
    return GEMM.rstrip().removesuffix("}") + "\n".join(lines) + "\n}\n"


def test_gemm_resolves_from_tensors_alone() -> None:
    found, diagnostics = launch(GEMM)
    assert not diagnostics.items
    contract = found.contract
    assert [a["name"] for a in contract["arguments"]] == ["a", "b", "out", "scale"]
    assert contract["dimensions"] == ["M", "K", "N"]
    assert contract["grid"] == ["min(tiles, sms * occupancy)", "1", "1"]
    names = [d["name"] for d in contract["derived"]]
    assert names.index("tiles") > max(names.index("m_tiles"), names.index("n_tiles"))
    fields = contract["parameters"]["fields"]
    assert fields[0] == {
        "name": "map_a", "offset": 0, "bytes": 128, "kind": "tensor_map", "tensor": "a", "element": "bf16",
        "box": [128, 64], "swizzle": "swizzle128",
    }  # fmt: skip
    assert all(f["offset"] % f["bytes"] == 0 for f in fields)
    assert found.params["tiles"]["group"] == ParameterSource(value=8)


def test_a_tensor_map_with_a_box_of_its_own() -> None:
    port = 'sym_name = "map_a", type = "tensor_map", bytes = 128 : i64, align = 128 : i64, port = "ab", part = 0 : i64'
    assert port in GEMM
    found, diagnostics = launch(GEMM.replace(port, port + ", box = [32, 64]"))
    assert not diagnostics.items
    assert found.contract["parameters"]["fields"][0]["box"] == [32, 64]


def test_a_tensor_map_of_no_port() -> None:
    port = 'port = "ab", part = 0 : i64} : () -> ()'
    tile = 'tile = {element = "bf16", shape = [16, 32], layout = "swizzle64", bytes = 1024, align = 512}} : () -> ()'
    assert GEMM.count(port) == 1
    found, diagnostics = launch(GEMM.replace(port, tile))
    assert not diagnostics.items
    field = found.contract["parameters"]["fields"][0]
    assert (field["box"], field["swizzle"]) == ([16, 32], "swizzle64")


def test_an_extent_that_is_an_expression() -> None:
    text = GEMM.replace(
        'name = "b", element = "bf16", shape = ["N", "K"]', 'name = "b", element = "bf16", shape = ["2 * N", "K"]'
    )
    assert text != GEMM
    found, diagnostics = launch(text)
    assert not diagnostics.items
    assert found.contract["arguments"][1]["shape"] == ["2 * N", "K"]
    assert found.contract["dimensions"] == ["M", "K", "N"]
    assert errors(text.replace("2 * N", "2 * NN")) == [("unknown-symbol", "did you mean 'N'?")]


def test_equal_parameters_share_a_field() -> None:
    found, _ = launch(GEMM)
    assert found.params["load"]["k_tiles"] == found.params["mma"]["k_tiles"]


def test_a_constant_expression_is_a_value() -> None:
    bind = '"pipelink.bind"() {param = @load::@k_tiles, to = "ceildiv(4096, 64)"} : () -> ()'
    assert launch(with_kernel(bind))[0].params["load"]["k_tiles"] == ParameterSource(value=64)


def test_rename_separates_two_instances() -> None:
    text = GEMM.replace("component = @acme.tma_loader}", 'component = @acme.tma_loader, rename = {a = "x", K = "K2"}}')
    found, diagnostics = launch(text)
    assert [d.id for d in diagnostics.items] == ["launch-conflict"]  # k_tiles is now derived in two ways
    assert found.contract["arguments"][0] == {
        "name": "x", "kind": "tensor", "element": "bf16", "shape": ["M", "K2"], "access": "read",
    }  # fmt: skip


def test_rename_expression() -> None:
    assert rename_expression("ceildiv(K, 64) + K * stride(a, 0)", {"K": "L", "a": "b"}) == (
        "ceildiv(L, 64) + L * stride(b, 0)"
    )


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ('param = "map_a", to = "a"', 'param = "map_a", to = "aa"', [("unbound-parameter", "did you mean 'a'?")]),
        ('"pipelink.bind"() {param = "map_a", to = "a"} : () -> ()', "", [("unbound-parameter", None)]),
        ('value = "ceildiv(M, 128)"', 'value = "ceildiv(MM, 128)"', [("unknown-symbol", "did you mean 'M'?")]),
        ('value = "ceildiv(M, 128)"', 'value = "tiles"', [("cyclic-derivation", None)]),
        ('to = "stride(out, 0)"', 'to = "stride(oit, 0)"', [("unknown-symbol", "did you mean 'out'?")]),
        ('to = "M"', 'to = "out"', [("unknown-symbol", None)]),
        ('name = "tiles", value', 'name = "M", value', [("unknown-symbol", None), ("cyclic-derivation", None)]),
        ('name = "tiles", value = "m_tiles', 'name = "K", value = "m_tiles',
         [("unknown-symbol", None), ("launch-conflict", None)]),
        ('name = "a", element = "bf16"', 'name = "a", element = "f16"', [("launch-conflict", None)]),
        ('"pipelink.grid"', '"pipelink.promise"', [("missing-grid", None)]),
    ],
)  # fmt: skip
def test_refused(old: str, new: str, expected: list[tuple[str, str | None]]) -> None:
    assert GEMM.count(old) >= 1
    found = errors(GEMM.replace(old, new, 1).replace('promise"() {value', 'promise"() {name = "x", value'))
    assert [id for id, _ in found] == [id for id, _ in expected]
    for (_, hint), (_, wanted) in zip(found, expected, strict=True):
        assert wanted is None or hint == wanted


def test_conflicting_grids_and_the_kernel_wins() -> None:
    module = GEMM.replace(
        '"pipelink.derive"() {name = "k_tiles", value = "ceildiv(K, 64)"} : () -> ()\n}\nmodule @acme.store',
        '"pipelink.derive"() {name = "k_tiles", value = "ceildiv(K, 64)"} : () -> ()\n'
        '"pipelink.grid"() {value = ["sms", "1", "1"]} : () -> ()\n}\nmodule @acme.store',
    )
    assert [id for id, _ in errors(module)] == ["launch-conflict"]
    kernel = '"pipelink.grid"() {value = ["tiles", "1", "1"]} : () -> ()'
    found, diagnostics = launch(module.rstrip().removesuffix("}") + kernel + "\n}\n")
    assert not diagnostics.items
    assert found.contract["grid"] == ["tiles", "1", "1"]


def test_parameter_overflow() -> None:
    many = "\n".join(
        f'"pipelink.param"() {{sym_name = "p{number}", type = "f64", bytes = 8 : i64, align = 8 : i64}} : () -> ()'
        for number in range(4100)
    )
    text = GEMM.replace('"pipelink.param"() {sym_name = "group"', many + '\n"pipelink.param"() {sym_name = "group"')
    assert [id for id, _ in errors(text)] == ["parameter-overflow"]
