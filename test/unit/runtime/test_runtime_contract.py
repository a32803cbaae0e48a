"""What a launch computes without a device: dimensions, checks of tensors and scalars, grid and parameter block."""

import copy
import struct
from typing import Any

import pytest

from pipelink.runtime.contract import (
    LaunchContract,
    Resolved,
    check_names,
    check_tensor,
    convert_scalar,
    infer_dimensions,
    overlap,
    resolve,
)
from pipelink.runtime.tensors import TensorView, packed_strides
from pipelink.support.diagnostics import LinkError

LAUNCH: dict[str, Any] = {
    "kernel": "gemm",
    "arguments": [
        {"name": "a", "kind": "tensor", "element": "bf16", "shape": ["M", "K"], "access": "read"},
        {"name": "b", "kind": "tensor", "element": "bf16", "shape": ["N", "K"], "access": "read"},
        {"name": "out", "kind": "tensor", "element": "bf16", "shape": ["M", "N"], "access": "write"},
        {"name": "bias", "kind": "tensor", "element": "f32", "shape": ["N"], "access": "read"},
        {"name": "alpha", "kind": "scalar", "type": "f32"},
        {"name": "group", "kind": "scalar", "type": "i32"},
    ],
    "dimensions": ["M", "K", "N"],
    "derived": [
        {"name": "m_tiles", "value": "ceildiv(M, 128)"},
        {"name": "n_tiles", "value": "ceildiv(N, 256)"},
        {"name": "k_tiles", "value": "ceildiv(K, 64)"},
    ],
    "grid": ["min(m_tiles * n_tiles, sms * occupancy)", "1", "1"],
    "cluster": [1, 1, 1],
    "threads": 384,
    "smem_bytes": 200000,
    "cooperative": False,
    "resident": False,
    "min_ctas": 1,
    "workspaces": [{"name": "flags", "bytes": "4 * m_tiles", "init": "zero"}],
    "parameters": {
        "bytes": 384,
        "align": 128,
        "fields": [
            {"name": "map_a", "offset": 0, "bytes": 128, "kind": "tensor_map", "tensor": "a", "element": "bf16",
             "box": [128, 64], "swizzle": "swizzle128"},
            {"name": "map_b", "offset": 128, "bytes": 128, "kind": "tensor_map", "tensor": "b", "element": "bf16",
             "box": [256, 64], "swizzle": "swizzle128"},
            {"name": "out", "offset": 256, "bytes": 8, "kind": "pointer", "tensor": "out"},
            {"name": "bias", "offset": 264, "bytes": 8, "kind": "pointer", "tensor": "bias"},
            {"name": "flags", "offset": 272, "bytes": 8, "kind": "workspace", "workspace": "flags"},
            {"name": "ldc", "offset": 280, "bytes": 4, "kind": "value", "type": "i32", "value": "stride(out, 0)"},
            {"name": "k_tiles", "offset": 284, "bytes": 4, "kind": "value", "type": "i32", "value": "k_tiles"},
            {"name": "alpha", "offset": 288, "bytes": 4, "kind": "value", "type": "f32", "value": "alpha"},
            {"name": "group", "offset": 292, "bytes": 4, "kind": "value", "type": "i32", "value": "group"},
        ],
    },
}  # fmt: skip
CONTRACT = LaunchContract.from_json(LAUNCH)


def changed(**changes: Any) -> LaunchContract:
    return LaunchContract.from_json({**copy.deepcopy(LAUNCH), **changes})


def tensor(*shape: int, element: str = "bf16", strides: tuple[int, ...] | None = None, at: int = 4096) -> TensorView:
    return TensorView(at, shape, strides or packed_strides(shape), element, 0)


def tensors(m: int = 256, n: int = 512, k: int = 128, **replaced: TensorView) -> dict[str, TensorView]:
    found = {"a": tensor(m, k), "b": tensor(n, k), "out": tensor(m, n, at=0xABC000), "bias": tensor(n, element="f32")}
    return {**found, **replaced}


def launch(
    contract: LaunchContract = CONTRACT, given: dict[str, TensorView] | None = None, sms: int = 132, occupancy: int = 1
) -> Resolved:
    given = given or tensors()
    return resolve(
        contract, given, {"alpha": 0.5, "group": 8}, infer_dimensions(contract, given),
        sms=sms, occupancy=lambda: occupancy, capacity=lambda: sms * occupancy,
    )  # fmt: skip


def test_dimensions_follow_from_the_shapes() -> None:
    assert infer_dimensions(CONTRACT, tensors()) == {"M": 256, "K": 128, "N": 512}


def test_two_tensors_disagree() -> None:
    with pytest.raises(
        LinkError, match=r"tensor 'b': expected \[N, K\], given \[512, 64\]: expected K = 128"
    ) as caught:
        infer_dimensions(CONTRACT, tensors(b=tensor(512, 64)))
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.id == "argument-shape"
    assert diagnostic.notes[0].message == "K = 128 comes from tensor 'a'"


def test_a_wrong_rank() -> None:
    with pytest.raises(LinkError, match="expected rank 2, given 3"):
        infer_dimensions(CONTRACT, tensors(a=tensor(1, 256, 128)))


def test_extents_may_be_expressions() -> None:
    arguments = copy.deepcopy(LAUNCH["arguments"])
    arguments[1]["shape"] = ["2 * N", "K"]
    contract = changed(arguments=arguments)
    assert launch(contract, tensors(b=tensor(1024, 128))).dimensions["N"] == 512
    with pytest.raises(LinkError, match=r"expected 2 \* N = 1024, given 512"):
        launch(contract)


def test_extents_may_name_derived_values() -> None:
    arguments = [*LAUNCH["arguments"], {"name": "flags", "kind": "tensor", "element": "i32", "shape": ["m_tiles + 1"]}]
    contract = changed(arguments=arguments)
    launch(contract, tensors(flags=tensor(3, element="i32")))
    with pytest.raises(LinkError, match=r"expected m_tiles \+ 1 = 3, given 2 \[argument-shape\]"):
        launch(contract, tensors(flags=tensor(2, element="i32")))


def test_a_dimension_that_no_tensor_has_is_an_argument() -> None:
    contract = changed(dimensions=["M", "K", "N", "steps"])
    with pytest.raises(LinkError, match=r"no tensor determines dimension 'steps'.*\[missing-argument\]"):
        infer_dimensions(contract, tensors())
    assert infer_dimensions(contract, tensors(), {"steps": 3})["steps"] == 3


def test_argument_names() -> None:
    names = [a.name for a in CONTRACT.arguments]
    check_names(CONTRACT, names)
    with pytest.raises(LinkError, match=r"needs 'b', 'alpha'; it takes a: bf16\[M, K\]"):
        check_names(CONTRACT, [n for n in names if n not in ("b", "alpha")])
    with pytest.raises(LinkError, match=r"no argument 'biass'.*\[unknown-argument\]") as caught:
        check_names(CONTRACT, [*names, "biass"])
    assert caught.value.diagnostics[0].hint == "did you mean 'bias'?"


def check(name: str, view: TensorView, contract: LaunchContract = CONTRACT) -> None:
    check_tensor(contract, contract.tensors[name], view)


def test_a_wrong_element_type() -> None:
    with pytest.raises(LinkError, match=r"tensor 'a': expected bf16, given f16 \[argument-dtype\]"):
        check("a", tensor(256, 128, element="f16"))


def test_strides() -> None:
    check("a", tensor(256, 128, strides=(256, 1)))  # a padded view through a tensor map
    check("out", tensor(256, 512, strides=(1024, 1)))  # the kernel is given stride(out, 0)
    with pytest.raises(LinkError, match=r"last dimension with stride 1, given strides \[1, 256\].*\[argument-stride\]"):
        check("a", tensor(256, 128, strides=(1, 256)))
    with pytest.raises(LinkError, match=r"expected distinct elements, given strides \[0, 1\]"):
        check("out", tensor(256, 512, strides=(0, 1)))


def test_written_elements_are_distinct() -> None:
    for shape, strides in [
        ((256, 512), (8, 1)), ((256, 512), (0, 1)), ((256, 512), (511, 1)), ((256, 512), (-8, 1)),
    ]:  # fmt: skip
        with pytest.raises(
            LinkError, match=r"tensor 'out' is written: expected distinct elements.*\[argument-stride\]"
        ):
            check("out", tensor(*shape, strides=strides))
        check("a", tensor(*shape, strides=strides))  # is read through a tensor map
    for shape, strides in [((256, 512), (512, 1)), ((1, 512), (0, 1)), ((256, 1), (1, 1)), ((256, 512), (-512, 1))]:
        check("out", tensor(*shape, strides=strides))


@pytest.mark.parametrize(
    ("shape", "strides", "some"),
    [
        ((2, 3, 4), (12, 4, 1), False),
        ((2, 3, 4), (4, 8, 1), False),
        ((2, 3, 4), (4, 4, 1), True),
        ((2, 3, 4), (12, 3, 1), True),
        ((3, 1, 4), (4, 0, 1), False),
        ((3, 4), (1, 3), False),
        ((), (), False),
        ((0, 4), (0, 1), False),
    ],
)
def test_overlap(shape: tuple[int, ...], strides: tuple[int, ...], some: bool) -> None:
    assert overlap(shape, strides) == some


def test_an_empty_tensor_has_no_layout() -> None:
    contract = changed(arguments=[{**a, "align": 16} if a["kind"] == "tensor" else a for a in LAUNCH["arguments"]])
    for shape, strides in [((256, 0), (1, 1)), ((0, 512), (0, 7)), ((4, 0), (0, 3))]:
        check("out", tensor(*shape, strides=strides, at=1), contract)
    with pytest.raises(LinkError, match="argument-dtype"):
        check("out", tensor(4, 0, element="f32"), contract)


def test_nothing_is_launched_where_every_output_is_empty() -> None:
    contract = changed(grid=["sms", "1", "1"])
    assert launch(contract, tensors(n=0)).empty
    assert launch(contract, tensors(n=0)).grid == (0, 0, 0)
    assert not launch(contract, tensors(k=0)).empty


def test_a_pointer_to_wider_units() -> None:
    parameters = copy.deepcopy(LAUNCH["parameters"])
    parameters["fields"][3]["align"] = 16
    contract = changed(parameters=parameters)
    check("bias", tensor(512, element="f32", at=4096), contract)
    with pytest.raises(LinkError, match=r"a multiple of the 16 bytes that kernel 'gemm' reads.*\[argument-alignment\]"):
        check("bias", tensor(512, element="f32", at=4100), contract)


def test_a_read_only_output() -> None:
    check("a", tensor(256, 128)._replace(read_only=True))
    with pytest.raises(LinkError, match=r"tensor 'out' is written, .* read-only \[argument-read-only\]"):
        check("out", tensor(256, 512)._replace(read_only=True))


def test_values_fit_64_bits() -> None:
    powers = [{"name": f"d{n}", "value": f"d{n - 1} * d{n - 1}" if n else "M"} for n in range(40)]
    with pytest.raises(LinkError, match=r"'d2 \* d2' is 18446744073709551616, expected a value of 64 bits"):
        launch(changed(derived=[*LAUNCH["derived"], *powers]))


def test_a_workspace_beyond_the_limit() -> None:
    workspaces = [{"name": "flags", "bytes": "M * 4294967296", "init": "none"}]
    with pytest.raises(LinkError, match=r"flags.*= 2199023255552 bytes, expected at most .*\[argument-range\]"):
        launch(changed(workspaces=workspaces), tensors(m=512))


def test_padding_that_the_kernel_does_not_know_of_is_refused() -> None:
    parameters = copy.deepcopy(LAUNCH["parameters"])
    parameters["fields"] = [f for f in parameters["fields"] if f["name"] != "ldc"]
    contract = changed(parameters=parameters)
    check("out", tensor(256, 512), contract)
    with pytest.raises(LinkError, match=r"expected packed rows \(stride 512 in dimension 0\)") as caught:
        check("out", tensor(256, 512, strides=(1024, 1)), contract)
    assert "is not given stride(out, 0)" in caught.value.diagnostics[0].notes[0].message
    check("out", tensor(1, 512, strides=(1024, 1)), contract)  # one row has no stride to get wrong


def test_an_odd_address() -> None:
    with pytest.raises(LinkError, match=r"a multiple of its element's 2 bytes, given 0x1001 \[argument-alignment\]"):
        check("out", tensor(256, 512, at=0x1001))


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("group", 1.5, r"expected i32, given float 1.5 \[argument-type\]"),
        ("group", "8", "expected i32, given str '8'"),
        ("group", 2**31, r"which it cannot hold \[argument-range\]"),
        ("alpha", "x", "expected f32, given str 'x'"),
        ("alpha", None, "expected f32, given NoneType"),
        ("alpha", 1e39, "which it cannot hold"),
    ],
)
def test_bad_scalars(name: str, value: object, message: str) -> None:
    with pytest.raises(LinkError, match=message):
        convert_scalar(CONTRACT.scalars[name], value)


def test_good_scalars() -> None:
    assert convert_scalar(CONTRACT.scalars["group"], True) == 1
    assert convert_scalar(CONTRACT.scalars["alpha"], 3) == 3.0


def test_grid_and_block() -> None:
    found = launch()
    assert found.grid == (4, 1, 1)
    assert found.workspace_bytes == (8,)
    assert len(found.block) == 384
    assert found.block[:256] == bytes(256)
    assert struct.unpack_from("<Q", found.block, 256) == (0xABC000,)
    assert struct.unpack_from("<Q", found.block, 272) == (0,)
    assert struct.unpack_from("<iifi", found.block, 280) == (512, 2, 0.5, 8)


def test_a_persistent_grid_follows_the_device() -> None:
    large = tensors(m=8192, n=8192)
    assert launch(given=large).grid == (132, 1, 1)
    assert launch(given=large, occupancy=2).grid == (264, 1, 1)


def test_the_stride_of_a_padded_view_reaches_the_kernel() -> None:
    found = launch(given=tensors(out=tensor(256, 512, strides=(640, 1))))
    assert struct.unpack_from("<i", found.block, 280) == (640,)


def test_an_empty_grid_launches_nothing() -> None:
    assert launch(given=tensors(m=0)).empty
    assert not launch(given=tensors(k=0)).empty


def test_grid_limits() -> None:
    with pytest.raises(LinkError, match="grid y of kernel 'gemm': 70000 = 70000, expected 0 to 65535"):
        launch(changed(grid=["1", "70000", "1"]))
    with pytest.raises(LinkError, match="grid-limit"):
        launch(changed(grid=["M - 1000", "1", "1"]))
    with pytest.raises(LinkError, match="a multiple of the cluster's 3"):
        launch(changed(cluster=[3, 1, 1]))


def test_residency() -> None:
    contract = changed(resident=True, grid=["m_tiles * n_tiles", "1", "1"])
    assert launch(contract).grid == (4, 1, 1)
    with pytest.raises(LinkError, match=r"2048 CTAs asked, 132 fit.*\[grid-not-resident\]"):
        launch(contract, tensors(m=8192, n=8192))


def test_a_value_that_its_parameter_cannot_hold() -> None:
    with pytest.raises(LinkError, match=r"parameter 'ldc': stride\(out, 0\) = 4294967296 does not fit i32"):
        launch(given=tensors(out=tensor(256, 512, strides=(2**32, 1))))


@pytest.mark.parametrize("missing", ["kernel", "arguments", "grid", "threads", "smem_bytes", "parameters"])
def test_malformed_contracts(missing: str) -> None:
    data = {key: value for key, value in LAUNCH.items() if key != missing}
    with pytest.raises(LinkError, match="bad-package"):
        LaunchContract.from_json(data)
    if missing != "kernel":
        with pytest.raises(LinkError, match="bad-package"):
            LaunchContract.from_json({**LAUNCH, missing: None})


@pytest.mark.parametrize("init", ["zero", "once", "none"])
def test_a_workspace_says_when_it_is_cleared(init: str) -> None:
    launch = copy.deepcopy(LAUNCH)
    launch["workspaces"][0]["init"] = init
    (workspace,) = LaunchContract.from_json(launch).workspaces
    assert workspace.initial == init


def test_initial_content_that_this_runtime_does_not_know_is_refused() -> None:
    launch = copy.deepcopy(LAUNCH)
    launch["workspaces"][0]["init"] = "ones"
    with pytest.raises(LinkError) as caught:
        LaunchContract.from_json(launch)
    assert caught.value.diagnostics[0].id == "bad-package"


@pytest.mark.parametrize(("field", "key"), [(0, "tensor"), (2, "tensor"), (4, "workspace")])
def test_a_field_of_what_there_is_not_is_refused(field: int, key: str) -> None:
    launch = copy.deepcopy(LAUNCH)
    launch["parameters"]["fields"][field][key] = "other"
    with pytest.raises(LinkError) as caught:
        LaunchContract.from_json(launch)
    assert caught.value.diagnostics[0].id == "bad-package"
