"""Operators of linked kernels as torch sees them, without a GPU; skipped where torch is not installed.

``make test`` does not install torch: ``pip install .[torch]`` into the environment runs these.
"""

from __future__ import annotations

import importlib
from typing import Any

import pytest

from pipelink import LinkError
from pipelink.package import PackageImage, package_bytes
from pipelink.torch import table

GEMM = {
    "kernel": "gemm",
    "arguments": [
        {"name": "bias", "kind": "tensor", "element": "bf16", "shape": ["N"], "access": "read"},
        {"name": "out", "kind": "tensor", "element": "bf16", "shape": ["M", "N"], "access": "write"},
        {"name": "a", "kind": "tensor", "element": "bf16", "shape": ["M", "K"], "access": "read"},
        {"name": "b", "kind": "tensor", "element": "bf16", "shape": ["2 * N", "K"], "access": "read"},
        {"name": "alpha", "kind": "scalar", "type": "f32"},
    ],
    "dimensions": ["M", "N", "K"],
    "derived": [],
    "grid": ["1", "1", "1"],
    "threads": 128,
    "smem_bytes": 0,
    "workspaces": [],
    "parameters": {"bytes": 0, "align": 64, "fields": []},
}
INPUTS = ("a", "b", "bias", "alpha")


def package(**changes: Any) -> bytes:
    return package_bytes("gemm", [PackageImage("sm_90a", b"", GEMM | changes, 128, "13.0")])


@pytest.fixture(scope="module")
def torch() -> Any:
    return pytest.importorskip("torch", reason="torch is not installed")


def test_names_are_those_of_functions_however_often_they_are_asked_for(torch: Any) -> None:
    module = importlib.import_module("pipelink.torch")
    for _ in range(2):
        assert all(
            getattr(module, name).__name__ == name and callable(getattr(module, name)) for name in module.__all__
        )
    with pytest.raises(AttributeError, match=r"'pipelink\.torch' has no attribute 'attend'"):
        _ = module.attend


@pytest.fixture(scope="module")
def register(torch: Any) -> Any:
    return importlib.import_module("pipelink.torch").register


@pytest.fixture(scope="module")
def op(register: Any) -> Any:
    return register("pipelink_test::gemm", package(), inputs=INPUTS)


def operands(torch: Any, device: str = "meta") -> tuple[Any, ...]:
    shapes = ((5, 64), (48, 64), (24,))
    return (*(torch.empty(shape, dtype=torch.bfloat16, device=device) for shape in shapes), 2.0)


def test_what_is_read_is_taken_and_what_is_written_returned(torch: Any, op: Any) -> None:
    schema = str(torch.ops.pipelink_test.gemm.default._schema)
    assert schema == "pipelink_test::gemm(Tensor a, Tensor b, Tensor bias, float alpha) -> Tensor"


def test_meta_tensors_give_the_shape(torch: Any, op: Any) -> None:
    made = op(*operands(torch))
    assert (tuple(made.shape), made.dtype, made.device.type) == ((5, 24), torch.bfloat16, "meta")


@pytest.mark.parametrize("dynamic", [False, True])
def test_compiled_without_a_graph_break(torch: Any, op: Any, dynamic: bool) -> None:
    graphs: list[Any] = []

    def backend(graph: Any, inputs: Any) -> Any:
        graphs.append([node.target for node in graph.graph.nodes if node.op == "call_function"])
        return graph.forward

    function = torch.compile(lambda *x: op(*x).relu() + 1, backend=backend, fullgraph=True, dynamic=dynamic)
    assert function(*operands(torch)).shape == (5, 24)
    assert graphs[0][0] == torch.ops.pipelink_test.gemm.default


def test_a_tensor_that_is_read_and_written_is_changed_in_place(torch: Any, register: Any) -> None:
    arguments = [{**a, "access": "readwrite"} if a["name"] == "bias" else a for a in GEMM["arguments"]]
    register("pipelink_test::inplace", package(arguments=arguments), inputs=INPUTS)
    schema = str(torch.ops.pipelink_test.inplace.default._schema)
    assert schema.startswith("pipelink_test::inplace(Tensor a, Tensor b, Tensor(m0!) bias")


def test_a_dimension_that_no_input_has_is_an_argument(torch: Any, register: Any) -> None:
    arguments = [a for a in GEMM["arguments"] if a["name"] in ("a", "out")]
    made = register("pipelink_test::free", package(arguments=arguments))
    assert made(torch.empty(5, 64, dtype=torch.bfloat16, device="meta"), 16).shape == (5, 16)


def test_extents_of_an_output_can_be_stated(torch: Any, register: Any) -> None:
    made = register("pipelink_test::stated", package(), inputs=INPUTS, outputs={"out": ("M", "2 * N + 1")})
    assert made(*operands(torch)).shape == (5, 49)


@pytest.mark.parametrize(
    ("position", "change", "id"),
    [
        (0, lambda x: x.float(), "argument-dtype"),
        (1, lambda x: x[:, :32], "argument-shape"),
        (1, lambda x: x[:47], "argument-shape"),
        (2, lambda x: x[None], "argument-shape"),
    ],
)
def test_arguments_that_do_not_fit_are_refused_by_name(
    torch: Any, op: Any, position: int, change: Any, id: str
) -> None:
    arguments = list(operands(torch))
    arguments[position] = change(arguments[position])
    with pytest.raises(LinkError) as caught:
        op(*arguments)
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.id == id
    assert "tensor '" in diagnostic.message


def test_tensors_of_the_cpu_are_refused(torch: Any, op: Any) -> None:
    with pytest.raises(LinkError, match="tensor 'a': expected a CUDA device, given cpu"):
        op(*operands(torch, "cpu"))


@pytest.mark.parametrize(
    ("names", "id"),
    [
        ({"inputs": ("a", "b")}, "missing-argument"),
        ({"inputs": ("a", "b", "bias", "alpa")}, "unknown-argument"),
        ({"outputs": ()}, "missing-argument"),
    ],
)
def test_contracts_that_make_no_operator_are_refused(register: Any, names: Any, id: str) -> None:
    with pytest.raises(LinkError) as caught:
        register("pipelink_test::refused", package(), **names)
    assert caught.value.diagnostics[0].id == id


def test_swiglu_linear_has_the_shape_of_its_weight(torch: Any) -> None:
    swiglu_linear = importlib.import_module("pipelink.torch").swiglu_linear
    x = torch.empty(2, 3, 64, dtype=torch.bfloat16, device="meta")
    w = torch.empty(48, 64, dtype=torch.bfloat16, device="meta")
    assert swiglu_linear(x, w).shape == (2, 3, 24)
    for wrong in (w[:, :32], w[:47], w.float()):
        with pytest.raises(LinkError, match="swiglu_linear"):
            swiglu_linear(x, wrong)


def test_each_architecture_gets_a_kernel_that_runs_there() -> None:
    for capability in ((8, 0), (9, 0), (10, 0), (12, 0)):
        chosen = table.choose(table.ENTRIES, capability, 132, "bf16", 4096, 4096, 4096)
        assert chosen is not None, capability
        assert chosen.runs_on(capability)
    assert table.choose(table.ENTRIES, (7, 5), 68, "bf16", 4096, 4096, 4096) is None


def test_the_tile_follows_the_shape() -> None:
    """One wave of small tiles beats one of large ones that leaves SMs idle."""
    entries = [
        table.Entry("large", "swiglu", ("sm_90a",), (128, 256), 1.0),
        table.Entry("small", "swiglu", ("sm_90a",), (128, 128), 0.9),
    ]
    assert table.choose(entries, (9, 0), 132, "bf16", 128, 8192, 2048).mainloop == "small"
    assert table.choose(entries, (9, 0), 132, "bf16", 8192, 14336, 4096).mainloop == "large"
