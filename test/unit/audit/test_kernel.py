"""Every check of the audit passes on a good kernel and fails on one that really has the defect."""

from dataclasses import replace
from functools import lru_cache

import pytest
from cuda.bindings import nvjitlink

from pipelink.audit.kernel import Expectation, LinkInput, audit, expectation
from pipelink.audit.report import KernelReport
from pipelink.backend import toolchain
from pipelink.ir.placement import (
    ConnectionPlacement,
    InstancePlacement,
    KernelPlacement,
    LocalRing,
    NamedBarrier,
    RingPlacement,
    Warpgroup,
)
from pipelink.support.diagnostics import LinkError

GOOD = r"""
extern "C" __global__ void __launch_bounds__(256, 1) k(float* p, int n) {
  if (threadIdx.x < 128) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
    for (int i = 0; i < n; i++) { p[i] *= 2.0f; asm volatile("bar.sync 3, 128;" ::: "memory"); }
  } else {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
    p[threadIdx.x] = 1.0f;
  }
}
"""
EXPECTED = Expectation("k", threads=256, registers=(40, 232), barriers=(3,), smem_bytes=0, smem_limit=232448)


@lru_cache
def compiled(source: str) -> bytes:
    return toolchain.compile_cubin(source, "test.cu", "sm_90a")


def kernel(body: str, bounds: str = "256, 1", before: str = "") -> bytes:
    head = f'{before} extern "C" __global__ void __launch_bounds__({bounds}) k(float* p, int n)'
    return compiled(f"{head} {{ {body} }}")


def failures(report: KernelReport) -> set[str]:
    return {diagnostic.id for diagnostic in report.diagnostics()}


def plain(**changes: object) -> Expectation:
    return replace(EXPECTED, registers=(), barriers=(), **changes)


def test_a_good_kernel_passes() -> None:
    report = audit(compiled(GOOD), EXPECTED, inputs=[LinkInput("a.o", "ltoir")])
    assert report.diagnostics() == []
    report.raise_if_failed()
    assert "FAILED" not in report.render()
    assert "setmaxnreg" in report.render()
    assert KernelReport.from_json(report.to_json()) == report


def test_a_missing_setmaxnreg() -> None:
    assert failures(audit(compiled(GOOD), replace(EXPECTED, registers=(48, 232)))) == {"audit-setmaxnreg"}
    report = audit(kernel("p[n] = 1;"), replace(EXPECTED, barriers=()))
    assert failures(report) == {"audit-setmaxnreg"}
    with pytest.raises(LinkError, match=r"setmaxnreg: expected 40, 232, found none"):
        report.raise_if_failed()


def test_a_setmaxnreg_that_nobody_placed() -> None:
    assert failures(audit(compiled(GOOD), replace(EXPECTED, registers=()))) == {"audit-setmaxnreg"}


def test_a_barrier_that_was_not_placed() -> None:
    report = audit(compiled(GOOD), replace(EXPECTED, barriers=(4,)))
    assert failures(report) == {"audit-barrier"}
    assert "barrier 3 belongs to no component" in report.diagnostics()[0].notes[0].message


def test_static_shared_memory() -> None:
    body = "__shared__ float s[32]; s[threadIdx.x & 31] = n; __syncthreads(); p[n] = s[(threadIdx.x + 1) & 31];"
    assert failures(audit(kernel(body), plain())) == {"audit-smem"}


def test_shared_memory_beyond_the_target() -> None:
    assert failures(audit(kernel("p[n] = 1;"), plain(smem_bytes=232449))) == {"audit-smem"}


ALLOCATE = """asm volatile("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%0], %1;" ::"r"(1024), "r"(SIZE));
asm volatile("tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;");"""
FREE = 'asm volatile("tcgen05.dealloc.cta_group::1.sync.aligned.b32 %0, %1;" ::"r"(0), "r"(256));'


def tensor_memory(body: str) -> bytes:
    text = f'extern "C" __global__ void __launch_bounds__(256, 1) k(float* p, int n) {{ {body} }}'
    return toolchain.compile_cubin(text, "test.cu", "sm_100a")


def test_tensor_memory() -> None:
    good = tensor_memory(ALLOCATE.replace("SIZE", "256") + FREE)
    assert failures(audit(good, plain(tmem_columns=256))) == set()
    assert failures(audit(good, plain(tmem_columns=512))) == {"audit-tmem"}
    assert failures(audit(good, plain())) == {"audit-tmem"}
    assert failures(audit(kernel("p[n] = 1;"), plain(tmem_columns=256))) == {"audit-tmem"}
    kept = audit(tensor_memory(ALLOCATE.replace("SIZE", "256")), plain(tmem_columns=256))
    with pytest.raises(LinkError, match=r"tensor memory: expected 256 columns, freed, found 256 columns, not freed"):
        kept.raise_if_failed()
    unknown = audit(tensor_memory(ALLOCATE.replace("SIZE", "n") + FREE), plain(tmem_columns=256))
    assert failures(unknown) == {"audit-tmem"}


def test_a_call() -> None:
    before = "namespace acme { namespace x { __device__ __noinline__ float f(float a) { return a * sinf(a); } } }"
    report = audit(kernel("p[n] = acme::x::f(p[n + 1]);", before=before), plain())
    assert "audit-call" in failures(report)
    (diagnostic,) = [d for d in report.diagnostics() if d.id == "audit-call"]
    assert diagnostic.notes[0].message == "'acme::x::f' was not inlined"


def test_stack_and_local_memory() -> None:
    each = "for (int i = 0; i < 64; i++)"
    mix = "for (int i = 0; i < n; i++) x[(i * n) & 63] += x[i & 63];"
    body = f"float x[64]; {each} x[i] = p[i]; {mix} {each} p[i] = x[i];"
    cubin = kernel(body)
    assert failures(audit(cubin, plain())) == {"audit-stack", "audit-spill"}
    assert failures(audit(cubin, plain(stack_bytes=256))) == set()
    assert failures(audit(cubin, plain(stack_bytes=128))) == {"audit-stack", "audit-spill"}


def test_limits_of_waits_may_spill() -> None:
    """In a debug link, within what ptxas says of spills: an array is not allowed for that."""
    cubin = kernel("float x[64]; for (int i = 0; i < n; i++) x[(i * n) & 63] += p[i]; p[0] = x[n & 63];")
    log = "ptxas info : 256 bytes stack frame, 256 bytes spill stores, 300 bytes spill loads"
    assert failures(audit(cubin, plain(leaves=True))) == {"audit-stack"}
    report = audit(cubin, plain(leaves=True), log=log)
    assert failures(report) == set()
    assert any(check.expected == "at most 256 B, 256 of them for the limits of waits" for check in report.checks)
    assert failures(audit(cubin, plain(), log=log)) == {"audit-stack", "audit-spill"}


def test_spills() -> None:
    sums = "".join(f"float x{i} = p[{i} * n];" for i in range(200))
    body = "".join(f"x{i} = x{i} * x{(i + 7) % 200} + p[k];" for i in range(200))
    loop = f"for (int k = 0; k < n; k++) {{ {body} }}"
    store = "".join(f"p[{i} * n] = x{i};" for i in range(200))
    report = audit(kernel(sums + loop + store, bounds="512, 1"), plain(threads=512))
    assert "audit-spill" in failures(report)


def test_the_spill_count_of_the_log_is_believed() -> None:
    log = "ptxas info : 8 bytes stack frame, 4 bytes spill stores, 4 bytes spill loads"
    assert failures(audit(kernel("p[n] = 1;"), plain(), log=log)) == {"audit-spill"}


def test_launch_bounds() -> None:
    assert failures(audit(kernel("p[n] = 1;"), plain(threads=128))) == {"audit-launch-bounds"}
    unbounded = compiled('extern "C" __global__ void k(float* p) { p[0] = 1; }')
    assert failures(audit(unbounded, plain())) == {"audit-launch-bounds"}


def test_registers_beyond_what_the_ctas_of_an_sm_share() -> None:
    live = "".join(f"float x{i} = p[{i}];" for i in range(100)) + "__syncthreads();"
    body = live + "".join(f"p[{i} * 2] = x{i};" for i in range(100))
    assert failures(audit(kernel(body), plain(min_ctas=4))) == {"audit-registers"}


def test_a_role_that_is_placed_too_tight() -> None:
    """ptxas keeps within setmaxnreg by spilling around it."""
    live = "".join(f"float x{i} = p[{i}];" for i in range(60))
    lower = 'asm volatile("setmaxnreg.dec.sync.aligned.u32 24;"); __syncthreads();'
    store = "".join(f"p[{i} * 2] = x{i};" for i in range(60))
    report = audit(kernel(live + lower + store), replace(EXPECTED, registers=(24,), barriers=()))
    assert failures(report) == {"audit-stack", "audit-spill"}


def test_ptxas_warnings() -> None:
    log = "ptxas warning : (C7508) Potential Performance Loss: 'setmaxnreg' ignored to maintain minimum requirements."
    report = audit(kernel("p[n] = 1;"), plain(), log=log)
    assert failures(report) == {"audit-ptxas-warning"}
    assert "C7508" in report.diagnostics()[0].notes[0].message


def test_an_object_without_ltoir_loses_setmaxnreg_and_stays_a_call() -> None:
    """What nvJitLink does silently with an object of plain machine code."""
    part = toolchain.compile_cubin(
        "namespace acme { __device__ void f(float* p, int n) { for (int i = 0; i < n; i++) p[i] *= 2; } }",
        "part.cu", "sm_90a", options=("-rdc=true",),
    )  # fmt: skip
    whole = GOOD.replace("p[threadIdx.x] = 1.0f", "acme::f(p, n)")
    entry = toolchain.compile_ltoir(f"namespace acme {{ __device__ void f(float*, int); }} {whole}", "k.cu", "sm_90a")
    options = ["-arch=sm_90a", "-lto", "-O3"]
    handle = nvjitlink.create(len(options), options)
    try:
        nvjitlink.add_data(handle, nvjitlink.InputType.LTOIR, entry, len(entry), "entry")
        nvjitlink.add_data(handle, nvjitlink.InputType.CUBIN, part, len(part), "part")
        nvjitlink.complete(handle)
        cubin = bytearray(nvjitlink.get_linked_cubin_size(handle))
        nvjitlink.get_linked_cubin(handle, cubin)
    finally:
        nvjitlink.destroy(handle)
    report = audit(bytes(cubin), EXPECTED, inputs=[LinkInput("entry", "ltoir"), LinkInput("part.o", "cubin")])
    assert {"audit-no-ltoir", "audit-call"} <= failures(report)
    messages = [note.message for d in report.diagnostics() for note in d.notes]
    assert "'part.o' holds cubin" in messages
    assert "'acme::f' was not inlined" in messages


def test_an_accessor_that_nothing_defines() -> None:
    source = "namespace acme { __device__ int pl_id(int, void*); }" + GOOD.replace(
        "p[threadIdx.x] = 1.0f", "p[0] = acme::pl_id(1, p)"
    )
    relocatable = toolchain.compile_cubin(source, "k.cu", "sm_90a", options=("-rdc=true",))
    report = audit(relocatable, EXPECTED)
    assert "audit-unresolved" in failures(report)
    assert next(c.actual for c in report.checks if c.name == "unresolved symbols") == "acme::pl_id"


def test_not_a_cubin() -> None:
    for data in (b"", b"\x7fELF", b"nothing of the kind"):
        with pytest.raises(LinkError, match="bad-cubin"):
            audit(data, EXPECTED)
    with pytest.raises(LinkError, match="holds no kernel 'other'"):
        audit(compiled(GOOD), replace(EXPECTED, kernel="other"))


def test_the_expectation_comes_from_the_placement() -> None:
    placement = KernelPlacement(
        threads=384, warps=12, min_ctas=2, entry_registers=168, smem_bytes=4096, cursors=2, mbarriers=(), words=(),
        warpgroups=(Warpgroup(40), Warpgroup(232), Warpgroup(168)),
    )  # fmt: skip
    local = LocalRing("ring.local", 2, (), 0, 1, NamedBarrier(5, 64))
    instances = [InstancePlacement(0, barriers={"done": NamedBarrier(2, 128)}, locals={"ab": local})]
    ring = RingPlacement(
        "ring.threads.convert", 2, 1024, 1040, 64, 1, "warp", False, 0, 1, "warp", False, 1, barrier=NamedBarrier(7, 32)
    )
    connections = [ring, ConnectionPlacement("call")]
    found = expectation("k", placement, instances, connections, smem_limit=100)
    assert found == Expectation("k", 384, (40, 232), (2, 5, 7), 4096, 2, 0, 100)
