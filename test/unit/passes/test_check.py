"""What lit cannot show of ``check``: its docstring's example, foreign contexts, speed."""

import inspect
import re
import time
from pathlib import Path

from pipelink.ir import builder, new_context, parse, program
from pipelink.passes.check import CheckPass
from pipelink.passes.pipeline import run_pipeline
from pipelink.support.mlir import ir

GEMM = Path(__file__).resolve().parents[2] / "lit" / "ir" / "gemm.mlir"


def test_the_example_is_true() -> None:
    before, after = re.findall(r'"pipelink\.connect".*', inspect.cleandoc(CheckPass.__doc__ or ""))
    module = parse(GEMM)
    assert before in GEMM.read_text()
    run_pipeline([CheckPass()], module)
    assert after in str(module)


def test_a_foreign_context_needs_no_dialect() -> None:
    context = ir.Context()
    context.allow_unregistered_dialects = True
    module = ir.Module.parse(GEMM.read_text(), context)
    run_pipeline([CheckPass()], module)
    assert program(module).kernels[0].connects[0].legal == ("ring.tma",)


def test_a_large_kernel_is_checked_quickly() -> None:
    module = builder.module(new_context())
    tile = {"element": "bf16", "shape": [64, 64], "layout": "swizzle128", "align": 1024}
    for name, direction, touch in (("source", "out", "tma"), ("sink", "in", "wgmma")):
        component = builder.component(module, name)
        component.role("run", 4)
        component.port("x", direction, tiles=[tile], stages=[1, 2], touch=touch)
    kernel = builder.kernel(module, "k", target="sm_90a")
    count = 500
    for index in range(count):
        kernel.instance(f"a{index}", "source")
        kernel.instance(f"b{index}", "sink")
        kernel.connect((f"a{index}", "x"), (f"b{index}", "x"))
    for side in "ab":
        kernel.exclusive(side, [(f"{side}{index}", "run") for index in range(count)])
    start = time.perf_counter()
    run_pipeline([CheckPass()], module)
    assert time.perf_counter() - start < 3
    assert all(connect.legal == ("ring.tma",) for connect in program(module).kernels[0].connects)
