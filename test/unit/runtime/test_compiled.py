"""The compiled launch contract takes what the checks take, and gives the same."""

import copy
import ctypes
import dataclasses
import struct
import sys
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from benchmarks.launch import Tensor, stand_ins
from pipelink import runtime
from pipelink.package import PackageImage, package_bytes
from pipelink.runtime import driver
from pipelink.runtime.compiled import compile_contract
from pipelink.runtime.contract import LaunchContract, Resolved, check_tensor, convert_scalar, infer_dimensions, resolve
from pipelink.runtime.kernel import Kernel
from pipelink.runtime.tensor_map import Descriptor, describe
from pipelink.runtime.tensors import TensorView, packed_strides
from pipelink.support import expr
from pipelink.support.diagnostics import LinkError

LAUNCH: dict[str, Any] = {
    "kernel": "gemm",
    "arguments": [
        {"name": "a", "kind": "tensor", "element": "bf16", "shape": ["M", "K"]},
        {"name": "b", "kind": "tensor", "element": "bf16", "shape": ["2 * N", "K"]},
        {"name": "out", "kind": "tensor", "element": "bf16", "shape": ["M", "N"], "access": "write", "align": 16},
        {"name": "bias", "kind": "tensor", "element": "f32", "shape": ["N"], "align": 4},
        {"name": "alpha", "kind": "scalar", "type": "f32"},
        {"name": "group", "kind": "scalar", "type": "i32"},
    ],
    "dimensions": ["M", "K", "N", "steps"],
    "derived": [
        {"name": "tiles", "value": "ceildiv(M, 128) * ceildiv(N, 256)"},
        {"name": "k_tiles", "value": "max(K / 64, -(1 - steps) % 7, min(group))"},
    ],
    "grid": ["min(tiles, sms * occupancy)", "steps"],
    "cluster": [2, 1, 1],
    "threads": 384,
    "smem_bytes": 197632,
    "resident": True,
    "workspaces": [{"name": "flags", "bytes": "4 * tiles - 8", "init": "zero"}],
    "parameters": {
        "bytes": 384,
        "fields": [
            {"name": "map_a", "offset": 0, "bytes": 128, "kind": "tensor_map", "tensor": "a", "element": "bf16",
             "box": [128, 64], "swizzle": "swizzle128"},
            {"name": "map_b", "offset": 128, "bytes": 128, "kind": "tensor_map", "tensor": "b", "element": "bf16",
             "box": [64], "swizzle": "swizzle128"},
            {"name": "bias", "offset": 264, "bytes": 8, "kind": "pointer", "tensor": "bias"},
            {"name": "out", "offset": 256, "bytes": 8, "kind": "pointer", "tensor": "out", "align": 8},
            {"name": "flags", "offset": 272, "bytes": 8, "kind": "workspace", "workspace": "flags"},
            {"name": "ldc", "offset": 280, "bytes": 4, "kind": "value", "type": "i32", "value": "stride(out, 0)"},
            {"name": "k_tiles", "offset": 284, "bytes": 1, "kind": "value", "type": "u8", "value": "k_tiles"},
            {"name": "alpha", "offset": 288, "bytes": 4, "kind": "value", "type": "f32", "value": "alpha"},
            {"name": "group", "offset": 292, "bytes": 4, "kind": "value", "type": "i32", "value": "group"},
        ],
    },
}  # fmt: skip
Found = tuple[Resolved, list[tuple[int, Descriptor]]] | None


def changed(**changes: Any) -> LaunchContract:
    return LaunchContract.from_json({**copy.deepcopy(LAUNCH), **changes})


def checked(
    contract: LaunchContract, views: dict[str, TensorView], arguments: dict[str, Any], occupancy: int = 1
) -> Found:
    try:
        for name, argument in contract.tensors.items():
            check_tensor(contract, argument, views[name])
        given = {name: arguments[name] for name in contract.dimensions if name in arguments}
        resolved = resolve(
            contract,
            views,
            {name: convert_scalar(scalar, arguments[name]) for name, scalar in contract.scalars.items()},
            infer_dimensions(contract, views, given),
            sms=132,
            occupancy=lambda: occupancy,
            capacity=lambda: 132 * occupancy,
        )
        fields = [field for field in contract.fields if field.kind == "tensor_map" and not resolved.empty]
        return resolved, [(field.offset, describe(field, views[field.tensor])) for field in fields]
    except LinkError:
        return None


def compiled(
    contract: LaunchContract, views: dict[str, TensorView], arguments: dict[str, Any], occupancy: int = 1
) -> Found:
    made = compile_contract(contract)
    assert made is not None
    ordered = [views[name][:5] for name in contract.tensors]
    given = [arguments[name] for name in contract.free_dimensions]
    try:
        numbers = made.numbers(arguments)
        found = made.run(ordered, numbers, given, 132, lambda: occupancy, lambda: 132 * occupancy)
    except (LinkError, ValueError, ArithmeticError, struct.error):
        return None
    if found is None:
        return None
    return found[0], [
        (offset, Descriptor(*item)) for offset, item in zip(made.maps, found[1], strict=not found[0].empty)
    ]


def tensors(m: int = 256, n: int = 512, k: int = 128) -> dict[str, TensorView]:
    shapes = {"a": (m, k), "b": (2 * n, k), "out": (m, n), "bias": (n,)}
    elements = {"bias": "f32"}
    return {
        name: TensorView(4096, shape, packed_strides(shape), elements.get(name, "bf16"), 0)
        for name, shape in shapes.items()
    }


NUMBERS: dict[str, Any] = {"alpha": 0.5, "group": 3, "steps": 2}


def test_a_launch_with_everything() -> None:
    found = compiled(changed(), tensors(), NUMBERS)
    assert found is not None
    assert found == checked(changed(), tensors(), NUMBERS)
    assert found[0].grid == (4, 2, 1)
    assert struct.unpack_from("<iBxxxfi", found[0].block, 280) == (512, 3, 0.5, 3)
    assert [offset for offset, _ in found[1]] == [0, 128]


EXTENTS = st.sampled_from([0, 1, 2, 8, 60, 64, 256, 264, 2**20, 2**32, 2**33])
CHANGES: dict[str, st.SearchStrategy[Any]] = {
    "grid": st.sampled_from([["tiles"], ["tiles", "70000 * steps"], ["M - 8", "1", "K"], ["2 / (steps - 1)"]]),
    "cluster": st.sampled_from([[1, 1, 1], [2, 1, 1], [1, 2]]),
    "resident": st.booleans(),
    "derived": st.just([{"name": "tiles", "value": "M % steps"}, {"name": "k_tiles", "value": "stride(out, 1) - K"}]),
}


@given(st.data())
def test_compiled_and_checked_agree(data: st.DataObject) -> None:
    contract = changed(**{k: data.draw(v, k) for k, v in CHANGES.items() if data.draw(st.booleans())})
    views = tensors(data.draw(EXTENTS, "m"), data.draw(EXTENTS, "n"), data.draw(EXTENTS, "k"))
    for name in data.draw(st.sets(st.sampled_from(sorted(views)), max_size=2), "changed"):
        view = views[name]
        strides = tuple(data.draw(st.sampled_from([s, s, 0, 1, 8, 640, 2**33, 2**40, -64, -640])) for s in view.strides)
        shape = data.draw(st.sampled_from([view.shape, view.shape, view.shape[1:], (*view.shape, 1)]))
        views[name] = TensorView(
            data.draw(st.sampled_from([4096, 4097, 4098, 4100, 4104])),
            shape,
            strides if len(strides) == len(shape) else packed_strides(shape),
            data.draw(st.sampled_from([view.element, view.element, "f16"])),
            0,
        )
    arguments = {
        "alpha": data.draw(st.sampled_from([0.5, 3, 1e39, "x"])),
        "group": data.draw(st.sampled_from([1, 200, 2**31, -1])),
        "steps": data.draw(st.sampled_from([0, 1, 2, 300])),
    }
    occupancy = data.draw(st.integers(0, 2))
    assert compiled(contract, views, arguments, occupancy) == checked(contract, views, arguments, occupancy)


NAMES = {"M": 7, "n_1": 0, "sms": -132}
EXPRESSIONS = st.recursive(
    st.sampled_from([*NAMES, "0", "3", "(1)", "stride(a, 0)"]),
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from("+-*/%"), inner).map(lambda t: f"({t[0]}) {t[1]} ({t[2]})"),
        inner.map(lambda text: f"-({text})"),
        st.tuples(inner, inner).map(lambda t: f"ceildiv({t[0]}, {t[1]}) // 2"),
        st.tuples(st.sampled_from(["min", "max"]), st.lists(inner, min_size=1, max_size=3)).map(
            lambda t: f"{t[0]}({', '.join(t[1])})"
        ),
    ),
    max_leaves=12,
)


@given(EXPRESSIONS)
def test_lowered_expressions_have_the_same_value(text: str) -> None:
    assume(len(text) < 500)
    slots = {name: f"v{number}" for number, name in enumerate(NAMES)}
    lowered = expr.lower(text, slots, lambda tensor, dimension: f"{tensor}_{dimension}")
    assert lowered is not None
    values = {slots[name]: value for name, value in NAMES.items()} | {"a_0": 64}
    try:
        expected = expr.evaluate(text, NAMES, lambda _tensor, _dimension: 64)
    except LinkError:
        with pytest.raises(ZeroDivisionError):
            eval(lowered, values)
        return
    assert eval(lowered, values) == expected


def test_unknown_names_and_strides_are_not_lowered() -> None:
    assert expr.lower("M + x", {"M": "v0"}, lambda _tensor, _dimension: None) is None
    assert expr.lower("stride(a, 0)", {}, lambda _tensor, _dimension: None) is None


def test_an_argument_named_like_a_dimension_is_not_compiled() -> None:
    arguments = [*LAUNCH["arguments"], {"name": "M", "kind": "scalar", "type": "i32"}]
    assert compile_contract(changed(arguments=arguments)) is None


def test_texts_of_a_package_are_never_source() -> None:
    """What a contract compiles to has numbered names, and its messages are all that a package's texts reach."""
    hostile = "x'): import os; os.abort() #\n"
    data = copy.deepcopy(LAUNCH)
    data["parameters"]["fields"][0]["name"] = hostile
    with pytest.raises(LinkError, match="expected a name"):
        LaunchContract.from_json(data)
    contract = dataclasses.replace(changed(), kernel=hostile, dimensions=("M", "K", "N", "steps", hostile))
    views = tensors()
    found = compiled(contract, views, NUMBERS | {hostile: 7})
    assert found is not None
    assert found[0].dimensions[hostile] == 7


@pytest.fixture
def launched(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Addresses of the parameters of each launch, with stand-ins for the driver and torch."""
    cuda, torch = stand_ins()
    started: list[int] = []
    cuda.cuLaunchKernelEx = lambda _config, _function, address, _extra: (started.append(address), (0,))[1]
    cuda.cuMemAlloc = lambda _size: (0, 0x7000)
    cuda.cuMemsetD8Async = lambda *_arguments: (0,)
    monkeypatch.setattr(driver, "cuda", lambda: cuda)
    monkeypatch.setitem(sys.modules, "torch", torch)
    return started


BF16 = [{**a, "element": "bf16"} if a["kind"] == "tensor" else a for a in LAUNCH["arguments"]]
SMALL = {**LAUNCH, "resident": False, "cluster": [1, 1, 1], "arguments": BF16}
SWAPPED = {**SMALL, "arguments": BF16[::-1]}


def loaded() -> Kernel:
    return runtime.load(package_bytes("gemm", [PackageImage("sm_90a", b"cubin", SMALL, 32, "13.0")]))


def call(kernel: Kernel, m: int, **replaced: Any) -> None:
    given = {"a": Tensor(4096, m, 64), "b": Tensor(4096, 512, 64), "out": Tensor(4096, m, 256)}
    kernel(**{**given, "bias": Tensor(4096, 256), **NUMBERS, **replaced})


def test_a_new_shape_needs_no_checks(launched: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    kernel = loaded()
    call(kernel, 1)
    monkeypatch.setattr(kernel, "_checked", None)
    for m in range(2, 700):  # more than the plans that are kept
        call(kernel, m)
    assert len(launched) == 699


def test_both_ways_hand_the_driver_the_same_parameters(launched: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    blocks: list[bytes] = []
    for way in ("_compiled", "_checked"):
        kernel = loaded()
        if way == "_checked":
            monkeypatch.setattr(kernel, "_compiled", lambda *_arguments: None)
        call(kernel, 300)
        start = ctypes.c_uint64.from_address(launched[-1]).value
        assert start % 128 == 0
        blocks.append(ctypes.string_at(start, 384))
    assert blocks[0] == blocks[1]
    assert struct.unpack_from("<QQQiB", blocks[0], 256) == (4096, 4096, 0x7000, 256, 3)


def test_what_does_not_fit_is_said(launched: list[int]) -> None:
    kernel = loaded()
    with pytest.raises(LinkError, match=r"tensor 'out': expected \[M, N\], given \[7, 256\]: expected M = 8, given 7"):
        call(kernel, 8, out=Tensor(4096, 7, 256))
    with pytest.raises(LinkError, match=r"expected i32, given float 1.5 \[argument-type\]"):
        call(kernel, 8, group=1.5)
    with pytest.raises(LinkError, match=r"has no argument 'c'"):
        call(kernel, 8, c=1)
    with pytest.raises(LinkError, match="expected M = 9, given 8"):
        call(kernel, 8, M=9)
    call(kernel, 8, M=8)
    assert len(launched) == 1


def test_names_are_checked_before_a_device_is_touched(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(driver, "cuda", None)
    monkeypatch.setitem(sys.modules, "torch", stand_ins()[1])
    with pytest.raises(LinkError, match=r"has no argument 'c'"):
        call(loaded(), 8, c=1)


def test_images_with_other_arguments_are_checked(launched: list[int]) -> None:
    """Calls are read by the contract of the first image."""
    images = [
        PackageImage(arch, b"cubin", launch, 32, "13.0") for arch, launch in (("sm_80", SWAPPED), ("sm_90a", SMALL))
    ]
    call(runtime.load(package_bytes("gemm", images)), 8)
    assert len(launched) == 1


def test_minus_zero_is_another_value(launched: list[int]) -> None:
    kernel = loaded()
    for alpha in (0.0, -0.0, 0, Fraction(0), Fraction(1, 2), Number(0.5), Number(-0.0)):
        call(kernel, 8, alpha=alpha)
        start = ctypes.c_uint64.from_address(launched[-1]).value
        assert ctypes.string_at(start + 288, 4) == struct.pack("<f", alpha)


class Number:
    """A float of a class that hides what it is."""

    def __init__(self, value: float) -> None:
        self._value = value

    def __float__(self) -> float:
        return self._value

    def __repr__(self) -> str:
        return "Number"


def test_an_object_whose_value_changes_is_another_launch(launched: list[int]) -> None:
    kernel, number = loaded(), Number(0.5)
    for value in (0.5, 0.25):
        number._value = value
        call(kernel, 8, alpha=number)
        start = ctypes.c_uint64.from_address(launched[-1]).value
        assert ctypes.string_at(start + 288, 4) == struct.pack("<f", value)


def test_empty_outputs_launch_nothing(launched: list[int]) -> None:
    kernel = loaded()
    empty = {"b": Tensor(4096, 0, 64), "out": Tensor(0, 8, 0), "bias": Tensor(0, 0)}
    call(kernel, 8, **empty)
    call(kernel, 0)
    assert not launched


class Foreign:
    """A tensor of the CUDA array interface."""

    def __init__(self, address: int, *shape: int, read_only: bool = False, stream: int | None = None) -> None:
        self.__cuda_array_interface__ = {
            "data": (address, read_only), "shape": shape, "typestr": "<f2", "version": 3, "stream": stream,
        }  # fmt: skip


F16 = [{**a, "element": "f16"} if a["kind"] == "tensor" else a for a in LAUNCH["arguments"]]
MAPS = [{**f, "element": "f16"} if f["kind"] == "tensor_map" else f for f in LAUNCH["parameters"]["fields"]]
HALF = {**SMALL, "arguments": F16, "parameters": {**LAUNCH["parameters"], "fields": MAPS}}


def test_read_only_and_streams_of_foreign_tensors(launched: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    kernel = runtime.load(package_bytes("gemm", [PackageImage("sm_90a", b"cubin", HALF, 32, "13.0")]))
    followed: list[tuple[int, ...]] = []
    monkeypatch.setattr(driver, "follow", lambda *given: followed.append(given))
    monkeypatch.setattr(driver, "device_of", lambda _address: 0)
    given: dict[str, Any] = {
        "a": Foreign(4096, 8, 64, read_only=True, stream=7), "b": Foreign(4096, 512, 64),
        "out": Foreign(8192, 8, 256), "bias": Foreign(4096, 256),
    }  # fmt: skip
    for _ in range(2):
        kernel(**given, **NUMBERS, stream=5)
    assert len(launched) == 2
    assert set(followed) == {(7, 5, 4096)}
    given["out"] = Foreign(8192, 8, 256, read_only=True)
    with pytest.raises(LinkError, match="argument-read-only"):
        kernel(**given, **NUMBERS, stream=5)


@pytest.mark.parametrize("value", [10**5000, -1, 2**63, 1.5, "x", None, Tensor(0, 1)], ids=lambda _: "")
def test_dimensions_of_any_size_and_class(launched: list[int], value: Any) -> None:
    for name in ("steps", "M"):  # of no tensor, and of one
        with pytest.raises(LinkError, match=r"\[argument-(type|range)\]"):
            call(loaded(), 8, **{name: value})
    assert not launched


def test_arguments_may_have_any_name(launched: list[int]) -> None:
    """``self`` is a name as any other; one that nothing has is said, whatever it holds."""
    with pytest.raises(LinkError, match="unknown-argument"):
        call(loaded(), 8, self=1)
    with pytest.raises(LinkError, match="unknown-argument") as caught:
        call(loaded(), 8, **{"\ud800\x1b": 1})
    assert str(caught.value).isprintable()
