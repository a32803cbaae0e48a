"""The decode megakernel of the example: its operations link from their own objects, into the monolith's code."""

import importlib
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from pipelink import components
from pipelink.backend import toolchain
from test.machine_code import differences

ROOT = Path(__file__).resolve().parents[3]
EXAMPLE = ROOT / "examples" / "decode"


@pytest.fixture(scope="module")
def compose() -> Any:
    sys.path.insert(0, str(EXAMPLE))
    yield importlib.import_module("compose")
    sys.path.remove(str(EXAMPLE))


#: Models by name: dimensions of a head, hidden, and between gate and down.
MODELS = {"llama-3.2-1b": (64, 2048, 8192), "llama-3.1-8b": (128, 4096, 14336)}


@pytest.fixture(scope="module")
def made(compose: Any, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return compose.objects(tmp_path_factory.mktemp("decode"), 64, 4)


@pytest.mark.parametrize("name", MODELS)
def test_machine_code_equals_the_monoliths(compose: Any, tmp_path: Path, name: str) -> None:
    head, hidden, ffn = MODELS[name]
    kernel = compose.compose(compose.objects(tmp_path, head, 4), hidden=hidden, ffn=ffn, head=head).kernel
    (code,) = kernel.link(cache=False).targets
    folders, options = [EXAMPLE, components.FOLDER, toolchain.transfer_dir()], [f"-DDECODE_HEAD={head}"]
    text = kernel.monolith(folders[:2])
    monolith = toolchain.compile_cubin(text, "decoder.cu", "sm_90a", include_dirs=folders, options=options)
    assert differences(code.cubin, monolith) == []
    assert code.audit.ok
    assert all("comes is not proved" in warning.message for warning in code.warnings)
    assert len(code.warnings) == 6


#: Somebody else's operation: a low-rank addition to the output projection, hidden += B (A x), some rows a CTA.
LOW_RANK = r"""
#include <pipelink/component.cuh>
#include <cuda_bf16.h>
PL_COMPONENT(elsewhere::low_rank) {
PL_ROLE(compute, pl::warps<16>, pl::registers<40, 128>);
PL_OPERAND(first, int);
PL_OPERAND(rows, int);
PL_OPERAND(stage, int);
PL_OPERAND(awaited, int);
PL_PARAM(k, int);
PL_PARAM(down, const __nv_bfloat16*);
PL_PARAM(up, const __nv_bfloat16*);
PL_PARAM(attended, const float*);
PL_PARAM(hidden, float*);
PL_TENSOR(down, pl::bf16, "16, H * D", pl::read);
PL_TENSOR(up, pl::bf16, "HIDDEN, 16", pl::read);
PL_TENSOR(attended, float, "H * D", pl::readwrite, pl::align<16>);
PL_TENSOR(hidden, float, "HIDDEN", pl::readwrite, pl::align<16>);
PL_BIND(k, "H * D");
PL_COUNTERS(stages, "LONGEST");
PL_SIGNAL_IN(ready, stages, gpu);
PL_SIGNAL_OUT(done, stages, gpu);
PL_AWAITS(ready, "stage - 1", "awaited");
PL_ADDS(done, "stage", "1");
PL_SMEM(inner, float[16]);
PL_BARRIER(met, pl::threads<512>);
PL_RESIDENT;
PL_PROTOCOL(compute, "ready.await by 1 thread; met.sync; inner.write; met.sync; inner.read; met.sync; "
                     "done.signal by 1 thread;");
PL_ENTRY(compute) {
  const int thread = compute::thread(self), warp = thread / 32, lane = thread % 32;
  if (thread == 0) ready::await(self, stage(self) - 1, awaited(self));
  met::sync(self);
  float sum = 0;
#pragma unroll 1
  for (int i = lane; i < k(self); i += 32)
    sum += __bfloat162float(down(self)[warp * k(self) + i]) * __ldcg(attended(self) + i);
#pragma unroll
  for (int o = 16; o; o >>= 1) sum += __shfl_xor_sync(~0u, sum, o);
  if (lane == 0) inner(self)[warp] = sum;
  met::sync(self);
#pragma unroll 1
  for (int r = first(self) + thread; r < first(self) + rows(self); r += 512) {
    float y = __ldcg(hidden(self) + r);
#pragma unroll
    for (int j = 0; j < 16; ++j) y += __bfloat162float(up(self)[r * 16 + j]) * inner(self)[j];
    hidden(self)[r] = y;
  }
  met::sync(self);
  if (thread == 0) done::add(self, stage(self));
}
}
"""


@pytest.mark.skipif(shutil.which("nvcc") is None, reason="nvcc is not on PATH")
def test_somebody_elses_operation_joins_by_its_object(compose: Any, made: dict[str, Path], tmp_path: Path) -> None:
    """It is built by plain nvcc, in a folder of its own; nothing else is compiled again, and no arm grows."""
    (tmp_path / "low_rank.cu").write_text(LOW_RANK)
    include = ROOT / "pipelink" / "include"
    code = ["-gencode", "arch=compute_90,code=lto_90"]
    command = ["nvcc", "-std=c++17", "-dc", *code, f"-I{include}", "low_rank.cu", "-o", "low_rank.o"]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
    plain, joined = (compose.compose(made, hidden=2048, ffn=8192, head=64) for _ in range(2))
    other = joined.kernel.add(tmp_path / "low_rank.o")
    joined.kernel.operation(joined.run, other, opcode=7)
    for name, operation in joined.operations.items():
        if name != "embed":
            joined.kernel.connect(other.done, operation.ready)
    joined.kernel.connect(joined.operations["output_projection"].done, other.ready)
    without, linked = (one.kernel.link(cache=False).targets[0] for one in (plain, joined))
    assert without.audit.ok
    assert linked.audit.ok
    assert linked.audit.registers == without.audit.registers
    alone = 300  # instructions that it may take itself
    assert linked.audit.instructions - without.audit.instructions < alone + without.audit.instructions // 100
