"""Buffers of several GPUs as one argument: what a call passes, and what the kernel is given."""

import copy
import struct
from typing import Any

import pytest

from pipelink.runtime.contract import LaunchContract, check_names, infer_dimensions, resolve, spread
from pipelink.runtime.tensors import TensorView, packed_strides
from pipelink.support.diagnostics import LinkError

LAUNCH: dict[str, Any] = {
    "kernel": "pages",
    "arguments": [
        {"name": "data", "kind": "tensor", "element": "i32", "shape": ["N", "32"], "access": "readwrite"},
        {"name": "all_data", "kind": "peers", "tensor": "data", "count": 2},
        {"name": "rank", "kind": "scalar", "type": "i32"},
    ],
    "dimensions": ["N"],
    "grid": ["N", "1", "1"],
    "threads": 128,
    "smem_bytes": 2048,
    "parameters": {
        "bytes": 64,
        "fields": [
            {"name": "to", "offset": 0, "bytes": 16, "kind": "peers", "peers": "all_data"},
            {"name": "rank", "offset": 16, "bytes": 4, "kind": "value", "type": "i32", "value": "rank"},
        ],
    },
}
CONTRACT = LaunchContract.from_json(LAUNCH)


def view(address: int, rows: int = 7, device: int = 0) -> TensorView:
    return TensorView(address, (rows, 32), packed_strides((rows, 32)), "i32", device)


def test_a_call_passes_the_buffers_by_rank() -> None:
    assert CONTRACT.signature() == ("data: i32[N, 32] (written), all_data: 2 x i32[N, 32] (written), rank: i32")
    given = spread(CONTRACT, {"data": 1, "all_data": [1, 2], "rank": 0})
    assert given == {"data": 1, "rank": 0, "all_data[0]": 1, "all_data[1]": 2}
    check_names(CONTRACT, list(given))


def test_the_kernel_is_given_every_address() -> None:
    tensors = {"data": view(0x1000), "all_data[0]": view(0x1000), "all_data[1]": view(0x2000, device=1)}
    dimensions = infer_dimensions(CONTRACT, tensors)
    found = resolve(CONTRACT, tensors, {"rank": 1}, dimensions, sms=132, occupancy=lambda: 1, capacity=lambda: 132)
    assert struct.unpack_from("<QQi", found.block) == (0x1000, 0x2000, 1)


@pytest.mark.parametrize("value", [7, "ab", [1], [1, 2, 3], None])
def test_other_than_one_buffer_a_gpu_is_refused(value: object) -> None:
    with pytest.raises(LinkError) as caught:
        spread(CONTRACT, {"data": 1, "all_data": value, "rank": 0})
    assert caught.value.diagnostics[0].id == "argument-type"
    assert "'all_data': expected a sequence of 2 tensors" in caught.value.diagnostics[0].message


def test_a_missing_argument_is_named_as_the_call_names_it() -> None:
    with pytest.raises(LinkError) as caught:
        check_names(CONTRACT, list(spread(CONTRACT, {"data": 1, "rank": 0})))
    assert caught.value.diagnostics[0].id == "missing-argument"
    assert "needs 'all_data'; it takes data" in caught.value.diagnostics[0].message


def test_buffers_are_like_the_local_tensor() -> None:
    tensors = {"data": view(0x1000), "all_data[0]": view(0x1000), "all_data[1]": view(0x2000, rows=8)}
    with pytest.raises(LinkError) as caught:
        infer_dimensions(CONTRACT, tensors)
    assert caught.value.diagnostics[0].id == "argument-shape"
    assert "tensor 'all_data[1]'" in caught.value.diagnostics[0].message


@pytest.mark.parametrize("change", [{"tensor": "other"}, {"count": "two"}, {"count": -1}])
def test_a_malformed_package_is_refused(change: dict[str, object]) -> None:
    launch = copy.deepcopy(LAUNCH)
    launch["arguments"][1].update(change)
    with pytest.raises(LinkError) as caught:
        LaunchContract.from_json(launch)
    assert caught.value.diagnostics[0].id == "bad-package"


def test_more_addresses_than_buffers_are_refused() -> None:
    launch = copy.deepcopy(LAUNCH)
    launch["parameters"]["fields"][0]["bytes"] = 24
    with pytest.raises(LinkError) as caught:
        LaunchContract.from_json(launch)
    assert caught.value.diagnostics[0].id == "bad-package"
