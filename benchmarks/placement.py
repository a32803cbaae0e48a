"""How long placement takes, and how far from the bound it ends.

    python benchmarks/placement.py [--instances 100 1000] [--seed 0]

The synthetic kernel has as many different components as instances.  Its roles stand in four exclusive groups, as the
loaders, consumers, storers and helpers of a megakernel do; each instance has a ring of its own (depth 2 to 8), scratch
buffers that are apart in time, and named barriers; every loader feeds a consumer through a ring that always lives.
Prints the seconds of ``place`` (without parsing) and the gap to the bound in what depths are worth and in bytes.
"""

from __future__ import annotations

import argparse
import random
import time

from pipelink import ir
from pipelink.passes.place import PlacePass
from pipelink.support.diagnostics import Diagnostics, render_text

GROUPS = ("load", "compute", "store", "help")
WARPS = {"load": 1, "compute": 8, "store": 4, "help": 1}
REGISTERS = {"load": (24, 40), "compute": (128, 216), "store": (24, 96), "help": (24, 40)}


def _tile(size: int, align: int) -> str:
    return f'{{element = "u8", shape = [{size}], layout = "row_major", bytes = {size} : i64, align = {align} : i64}}'


def _component(number: int, group: str, pick: random.Random) -> list[str]:
    low, high = REGISTERS[group]
    lines = [
        f"module @bench.c{number} attributes {{pipelink.component = {{abi = 1 : i64}}}} {{",
        f'"pipelink.role"() {{sym_name = "run", warps = {WARPS[group]} : i64, registers = [{low}, {high}]}} : () -> ()',
        '"pipelink.param"() {sym_name = "tiles", type = "i32", bytes = 4 : i64, align = 4 : i64} : () -> ()',
    ]
    align = pick.choice((128, 256, 1024))
    size = align * pick.randint(1, 12 * 1024 // align)
    if group in ("load", "compute"):
        direction, touch = ("out", "threads") if group == "load" else ("in", "threads")
        lines.append(
            f'"pipelink.port"() {{sym_name = "items", direction = "{direction}", kind = "stream", touch = "{touch}", '
            f"stages = [1, 4], tiles = [{_tile(64, 16)}]}} : () -> ()"
        )
    lines.append(
        '"pipelink.port"() {sym_name = "own", direction = "local", kind = "stream", touch = "cp_async", '
        f"stages = [2, 8], tiles = [{_tile(size, align)}]}} : () -> ()"
    )
    for buffer in range(pick.randint(1, 4)):
        begin = pick.randint(0, 3)
        live = f", live = [{begin}, {begin + pick.randint(1, 2)}]" if pick.random() < 0.7 else ""
        scratch = 16 * pick.randint(1, 512)
        lines.append(
            f'"pipelink.smem"() {{sym_name = "s{buffer}", bytes = {scratch} : i64, '
            f"align = {pick.choice((16, 128))} : i64{live}}} : () -> ()"
        )
    for barrier in range(pick.randint(0, 2)):
        lines.append(
            f'"pipelink.barrier"() {{sym_name = "b{barrier}", threads = {32 * WARPS[group]} : i64}} : () -> ()'
        )
    return [*lines, "}"]


def kernel_text(instances: int, seed: int = 0) -> str:
    """IR of the synthetic kernel."""
    pick = random.Random(seed)
    lines: list[str] = []
    groups = [GROUPS[i % len(GROUPS)] for i in range(instances)]
    for number, group in enumerate(groups):
        lines += _component(number, group, pick)
    lines.append('module @bench attributes {pipelink.kernel = {target = "sm_90a"}} {')
    for number in range(instances):
        lines.append(f'"pipelink.instance"() {{sym_name = "i{number}", component = @bench.c{number}}} : () -> ()')
    for number in range(0, instances - 1, len(GROUPS)):
        lines.append(
            f'"pipelink.connect"() {{source = @i{number}::@items, target = @i{number + 1}::@items}} : () -> ()'
        )
    for index, group in enumerate(GROUPS):
        roles = ", ".join(f"@i{number}::@run" for number in range(index, instances, len(GROUPS)))
        lines.append(f'"pipelink.exclusive"() {{name = "{group}", roles = [{roles}]}} : () -> ()')
    return "\n".join([*lines, "}"])


def measure(instances: int, seed: int = 0) -> dict[str, float]:
    """Places the kernel once.  Returns seconds by the clock and of work, worth of depths, bytes and both bounds."""
    module = ir.parse(kernel_text(instances, seed))
    diagnostics = Diagnostics()
    start, work = time.perf_counter(), time.process_time()
    PlacePass().apply(module.operation, diagnostics)
    seconds, work = time.perf_counter() - start, time.process_time() - work
    if diagnostics.errors:
        raise SystemExit("\n".join(render_text(d) for d in diagnostics.items))
    placement = ir.program(module).kernels[0].placement
    assert placement is not None
    found = {key: float(getattr(placement, key)) for key in ("value", "bound", "smem_bytes", "smem_bound", "optimal")}
    return {"seconds": seconds, "work": work, **found}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--instances", type=int, nargs="*", default=[100, 1000])
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    measure(8)  # imports
    print("instances  seconds  worth of depths (gap to bound)  shared memory (gap to bound)")
    for instances in options.instances:
        found = measure(instances, options.seed)
        depth_gap = 1 - found["value"] / found["bound"]
        smem_gap = found["smem_bytes"] / found["smem_bound"] - 1
        print(
            f"{instances:9d}  {found['seconds']:7.2f}  {found['value']:8.0f} of {found['bound']:.0f} ({depth_gap:.3%})"
            f"  {found['smem_bytes']:.0f} of {found['smem_bound']:.0f} bytes ({smem_gap:.3%})"
            f"{'  optimal' if found['optimal'] else ''}"
        )


if __name__ == "__main__":
    main()
