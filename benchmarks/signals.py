"""How long a signal takes from CTA to CTA, against instructions written by hand.

    python benchmarks/signals.py --link PACKAGE        where the compilers are
    python benchmarks/signals.py PACKAGE [--output benchmarks/results/signals.json]

The kernel passes a token round all CTAs: each awaits it, changes a sum that only the token protects, and passes it on.
The one written by hand does the same with ``ld.acquire.gpu`` and ``red.release.gpu`` on counters 128 bytes apart, which
are cleared before every launch, outside the time.  Both run in turn.  What a hop takes depends on where counters lie in
the L2 cache, so pairs are measured for several allocations of each; the ratio is the median over all of them.
"""

from __future__ import annotations

import json
import statistics
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.command import arguments  # noqa: E402
from pipelink import runtime  # noqa: E402

ROUNDS, ALLOCATIONS, PAIRS = 100, 24, 9
BY_HAND = r"""
extern "C" __global__ void round_trip(int* sum, unsigned* counters, int ctas, int rounds) {
  if (threadIdx.x) return;
  const int me = blockIdx.x, next = me + 1 == ctas ? 0 : me + 1;
  unsigned *mine = counters + 32 * me, *theirs = counters + 32 * next;
  if (me == 0) asm volatile("red.release.gpu.global.add.u32 [%0], 1;" ::"l"(mine) : "memory");
  for (int r = 0; r < rounds; ++r) {
    unsigned seen;
    do {
      asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(seen) : "l"(mine) : "memory");
    } while (seen < r + 1);
    sum[0] = sum[0] * 3 + me + r;
    asm volatile("red.release.gpu.global.add.u32 [%0], 1;" ::"l"(theirs) : "memory");
  }
}
"""


def link(output: Path) -> None:
    from test.compositions import Objects, compose

    with tempfile.TemporaryDirectory() as folder:
        compose("round_trip", Objects(Path(folder))).link().save(output)


def by_hand(torch: Any) -> Any:
    """The function, compiled by NVRTC for the current device."""
    from cuda.bindings import driver, nvrtc

    major, minor = torch.cuda.get_device_capability()
    program = nvrtc.nvrtcCreateProgram(BY_HAND.encode(), b"round_trip.cu", 0, [], [])[1]
    options = [f"--gpu-architecture=sm_{major}{minor}{'a' if major >= 9 else ''}".encode()]
    (status,) = nvrtc.nvrtcCompileProgram(program, len(options), options)
    if int(status):
        raise SystemExit(f"NVRTC does not compile the kernel written by hand: {status}")
    cubin = b" " * nvrtc.nvrtcGetCUBINSize(program)[1]
    nvrtc.nvrtcGetCUBIN(program, cubin)
    return driver.cuModuleGetFunction(driver.cuModuleLoadData(cubin)[1], b"round_trip")[1]


def measure(package: Path) -> dict[str, Any]:
    import ctypes

    import torch
    from cuda.bindings import driver

    from benchmarks import timing

    ctas = torch.cuda.get_device_properties(0).multi_processor_count
    total = torch.zeros(2, dtype=torch.int32, device="cuda")
    function = by_hand(torch)
    stream = torch.cuda.current_stream().cuda_stream

    def linked(kernel: Any) -> None:
        kernel(sum=total, ctas=ctas, rounds=ROUNDS)

    def hand(counters: Any) -> None:
        values = (total.data_ptr(), counters.data_ptr(), ctas, ROUNDS)
        types = (ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int, ctypes.c_int)
        (status,) = driver.cuLaunchCooperativeKernel(function, ctas, 1, 1, 32, 1, 1, 0, stream, (values, types))
        if int(status):
            raise SystemExit(f"the kernel written by hand does not start: {status}")

    def timed(call: Any, memory: Any, counters: Any) -> float:
        counters.zero_()
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        torch.cuda.synchronize()
        begin.record()
        call(memory)
        end.record()
        torch.cuda.synchronize()
        return float(begin.elapsed_time(end)) * 1e3

    kept: list[Any] = []  # all at once, so that they lie in different places
    pairs: list[tuple[float, float]] = []
    toolkit = ""
    for _ in range(ALLOCATIONS):
        kernel, counters = runtime.load(package), torch.zeros(32 * ctas, dtype=torch.int32, device="cuda")
        kept += [kernel, counters]
        toolkit = kernel.package.manifest["targets"][0]["toolkit"]
        calls = ((linked, kernel), (hand, counters))
        results: list[int] = []
        for call, memory in calls:
            total.zero_()
            timed(call, memory, counters)
            results.append(int(total[0]))
        if len(set(results)) != 1:
            raise SystemExit(f"the two kernels disagree: {results}")
        for number in range(PAIRS):
            times = {call: timed(call, memory, counters) for call, memory in calls[:: 1 if number % 2 else -1]}
            pairs.append((times[linked], times[hand]))
    hops, ratios = ctas * ROUNDS, sorted(a / b for a, b in pairs)
    return {
        "linked_ns_per_hop": round(statistics.median(pair[0] for pair in pairs) * 1e3 / hops, 1),
        "by_hand_ns_per_hop": round(statistics.median(pair[1] for pair in pairs) * 1e3 / hops, 1),
        "ratio": round(statistics.median(ratios), 4),
        "ratio_low": round(ratios[0], 4),
        "ratio_high": round(ratios[-1], 4),
        "ctas": ctas,
        "rounds": ROUNDS,
        "pairs": len(pairs),
        "allocations": ALLOCATIONS,
        "with": {**timing.machine(), "toolkit": toolkit},
    }


def main() -> int:
    given = arguments(__doc__, "PACKAGE")
    if given.link:
        link(given.path)
        return 0
    found = measure(given.path)
    print(
        f"a hop: {found['linked_ns_per_hop']} ns linked, {found['by_hand_ns_per_hop']} ns by hand; "
        f"ratio {found['ratio']} ({found['ratio_low']} to {found['ratio_high']})"
    )
    if given.output:
        given.output.write_text(json.dumps({"benchmark": "signals", "round_trip": found}, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
