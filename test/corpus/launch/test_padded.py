# KIND: padded strides read as packed
# DECIDED: launch
"""A kernel that is told no stride computes addresses from the shape: it reads a padded view wrongly, silently."""

from typing import Any

import pytest

from pipelink.runtime.contract import LaunchContract, check_tensor
from pipelink.support.diagnostics import LinkError

from .maps import view

POINTER = {"name": "x", "offset": 0, "bytes": 8, "kind": "pointer", "tensor": "x"}
STRIDE = {"name": "ldx", "offset": 8, "bytes": 4, "kind": "value", "type": "i32", "value": "stride(x, 0)"}


def check(fields: list[dict[str, Any]], strides: tuple[int, ...]) -> None:
    contract = LaunchContract.from_json(
        {
            "kernel": "k",
            "arguments": [{"name": "x", "kind": "tensor", "element": "bf16", "shape": ["M", "N"], "access": "read"}],
            "dimensions": ["M", "N"],
            "grid": ["1"],
            "threads": 128,
            "smem_bytes": 0,
            "parameters": {"bytes": 64, "align": 64, "fields": fields},
        }
    )
    check_tensor(contract, contract.tensors["x"], view(128, 64, strides=strides))


def test_fault() -> None:
    with pytest.raises(LinkError, match=r"expected packed rows \(stride 64 in dimension 0\).*\[argument-stride\]"):
        check([POINTER], (80, 1))


def test_fix() -> None:
    check([POINTER, STRIDE], (80, 1))


def test_near_miss() -> None:
    check([POINTER], (64, 1))
