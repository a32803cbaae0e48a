"""The example kernel: its IR declares what the component objects say, and becomes a kernel without them."""

import subprocess
import sys
from pathlib import Path

import numpy as np

from pipelink import ir
from pipelink.ir import builder, to_python
from pipelink.ir.attributes import attributes_of
from pipelink.ir.views import operations
from pipelink.objects import read_objects, to_ir
from pipelink.runtime.tensors import view
from pipelink.support.mlir import ir as mlir

ROOT = Path(__file__).resolve().parents[3]
BIN = Path(sys.executable).parent
GEMM = ROOT / "examples" / "gemm" / "gemm.mlir"
Declaration = tuple[str, dict[str, object]]


def declarations(module: mlir.Module) -> dict[str, list[Declaration]]:
    """What each component module declares, without its code's identity."""
    return {
        str(to_python(op.attributes["sym_name"])): [(inner.name, attributes_of(inner)) for inner in operations(op)]
        for op in operations(module.operation)
        if "pipelink.component" in op.attributes
    }


def test_ir_declares_what_the_objects_say(objects: Path) -> None:
    module = builder.module(ir.new_context())
    for path in sorted(objects.glob("*.o")):
        for item in read_objects(path):
            to_ir.declare(item, module)
    actual, declared = declarations(module), declarations(ir.parse(GEMM))
    assert declared
    for name, expected in declared.items():
        assert sorted(expected, key=repr) == sorted(actual[name], key=repr), name


def test_ir_alone_becomes_a_kernel() -> None:
    command = [BIN / "pl-opt", "--pipeline=check,place,fuse", GEMM]
    result = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    assert "llvm.func @gemm(" in result.stdout
    assert "nvvm.kernel" in result.stdout


def test_device_array_is_a_bf16_tensor_to_the_runtime() -> None:
    sys.path.insert(0, str(GEMM.parent))
    try:
        from device_array import DeviceArray, from_bf16, to_bf16
    finally:
        sys.path.pop(0)
    seen = view("a", DeviceArray(0x7F0000000400, (3, 5)))
    assert (seen.pointer, seen.shape, seen.strides, seen.element) == (0x7F0000000400, (3, 5), (5, 1), "bf16")
    values = np.array([1.0, -2.5, 1 + 2**-8, 1 + 3 * 2**-8], np.float32)  # the last two are ties: to even
    assert from_bf16(to_bf16(values)).tolist() == [1.0, -2.5, 1.0, 1 + 2**-6]
