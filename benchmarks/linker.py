"""How fast the linker is on this machine.

    python benchmarks/linker.py [--only attention] [--output benchmarks/results/linker.json]

Measures, on the example GEMM: check, place and fuse in a warm process; ``pl-link`` with a warm cache, Python's start
included; a cold link beside what it cannot avoid (nvJitLink's own time, the start of the process with the libraries
that it loads, and the start of the disassembler that the audit needs).  On attention: one more variant from objects
that are there, in a process that has linked others, as a multiple of 1.3 times nvJitLink's own time plus 0.5 s.  And on
synthetic kernels: the placement of 100 and 1,000 instances, the proof of 64.  Medians of interleaved runs; the limits
are the project's own.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks import placement  # noqa: E402
from pipelink import Kernel, ir  # noqa: E402
from pipelink.backend import nvjitlink, sass, toolchain  # noqa: E402
from pipelink.backend.cache import Cache  # noqa: E402
from pipelink.components.attention import add_attention  # noqa: E402
from pipelink.components.gemm import Composer, Objects  # noqa: E402
from pipelink.ir.views import program  # noqa: E402
from pipelink.link import Observer  # noqa: E402
from pipelink.passes.pipeline import parse_pipeline, run_pipeline  # noqa: E402
from pipelink.passes.prove import prove_kernel  # noqa: E402
from pipelink.support.diagnostics import Diagnostics  # noqa: E402
from pipelink.tools import pl_cc  # noqa: E402

GEMM = ROOT / "examples" / "gemm" / "gemm.mlir"
SOURCES = {"tma_loader": "sm_90a", "wgmma_mainloop": "sm_90a", "bias_relu": "sm_80", "grouped_tiles": "sm_80"}
LIMITS = {
    "passes_ms": 60.0,
    "warm_link_s": 1.0,
    "imports_s": 0.5,
    "cold_link_ratio": 1.2,
    "variant_link_ratio": 1.0,
    "place_100_s": 1.0,
    "place_1000_s": 10.0,
    "prove_ms": 100.0,
    "prove_64_s": 5.0,
}


#: What a cold link starts besides Python: the modules and vendor libraries that it uses.
START = """
import elftools.elf.elffile, pipelink.map, pipelink.package, pipelink.tools.pl_link
from pipelink import ir
from pipelink.backend import libraries, nvjitlink, nvvm, sass, toolchain
from pipelink.audit import contract, kernel
from pipelink.objects import to_ir
from pipelink.passes import check, entry, fold, place, transfer
libraries.load("nvvm"), libraries.load("nvjitlink"), toolchain.toolkit_version()
ir.parse("module @k { llvm.func @f(%a: i32) -> i32 { llvm.return %a : i32 } }")
"""


def seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def passes_ms(rounds: int) -> float:
    """check, place and fuse of the GEMM, parsing excluded, in a process that has done it before."""
    pipeline = parse_pipeline("check,place,fuse")
    taken: list[float] = []
    for _ in range(rounds):
        module = ir.parse(GEMM)
        taken.append(seconds(lambda module=module: run_pipeline(pipeline, module.operation)) * 1e3)
    return statistics.median(taken[3:])


def prove_ms(rounds: int) -> float:
    """The proof of the GEMM, in a process that has done it before."""
    module = ir.parse(GEMM)
    run_pipeline(parse_pipeline("check,place"), module.operation)
    pipeline = parse_pipeline("prove")
    taken = [seconds(lambda: run_pipeline(pipeline, module.operation)) * 1e3 for _ in range(rounds)]
    return statistics.median(taken[3:])


def chain(roles: int) -> str:
    """A kernel of twice as many instances: each role passes on what the one before made, and has a scheduler."""
    tile = '{element = "f32", shape = [32], layout = "row_major", bytes = 128, align = 16}'

    def port(name: str, direction: str) -> str:
        return (
            f'"pipelink.port"() {{sym_name = "{name}", direction = "{direction}", kind = "stream", touch = "threads", '
            f"stages = [2, 4], tiles = [{tile}]}} : () -> ()"
        )

    def component(name: str, steps: str, *ports: str) -> str:
        return f"""module @{name} attributes {{pipelink.component = {{abi = 1}}}} {{
          "pipelink.role"() {{sym_name = "run", warps = 1}} : () -> ()
          "pipelink.port"() {{sym_name = "work", direction = "calls", kind = "call", signature = "bool()"}} : () -> ()
          "pipelink.param"() {{sym_name = "n", type = "i32", bytes = 4, align = 4}} : () -> ()
          "pipelink.protocol"() {{of = "run", text = "repeat work {{ repeat n {{ {steps} }} }}"}} : () -> ()
          {" ".join(ports)}
        }}"""

    lines = [
        component("first", "y.acquire; y.commit;", port("y", "out")),
        component("middle", "x.wait; y.acquire; y.commit; x.release;", port("x", "in"), port("y", "out")),
        component("last", "x.wait; x.release;", port("x", "in")),
        """module @tiles attributes {pipelink.component = {abi = 1}} {
          "pipelink.port"() {sym_name = "next", direction = "answers", kind = "call", signature = "bool()"} : () -> ()
        }
        module @chain attributes {pipelink.kernel = {target = "sm_90a"}} {
          "pipelink.derive"() {name = "n", value = "4 * sms"} : () -> ()
          "pipelink.grid"() {value = ["1", "1", "1"]} : () -> ()""",
    ]
    for number in range(roles):
        kind = "first" if number == 0 else "last" if number == roles - 1 else "middle"
        lines.append(f"""
          "pipelink.instance"() {{sym_name = "r{number}", component = @{kind}}} : () -> ()
          "pipelink.instance"() {{sym_name = "t{number}", component = @tiles}} : () -> ()
          "pipelink.connect"() {{source = @r{number}::@work, target = @t{number}::@next}} : () -> ()""")
        if number:
            link = f"source = @r{number - 1}::@y, target = @r{number}::@x"
            lines.append(f'"pipelink.connect"() {{{link}}} : () -> ()')
    return "\n".join([*lines, "}"])


def prove_64() -> dict[str, float]:
    """The proof of 64 instances, 32 of them roles (as many as a CTA has warps)."""
    module = ir.parse(chain(32))
    run_pipeline(parse_pipeline("check,place"), module.operation)
    views = program(module)
    states = 0

    def work() -> None:
        nonlocal states
        states = prove_kernel(views.kernels[0], views.components, Diagnostics())

    return {"prove_64_s": seconds(work), "prove_64_states": states}


def run(*command: str, cache: str) -> tuple[float, str]:
    start = time.perf_counter()
    environment = os.environ | {"PIPELINK_CACHE_DIR": cache}
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    return time.perf_counter() - start, done.stdout + done.stderr


def links(folder: Path, rounds: int) -> dict[str, float]:
    """Cold and warm links, interleaved with what a cold one cannot avoid."""
    objects: list[str] = []
    for name, arch in SOURCES.items():
        objects.append(str(folder / f"{name}.o"))
        source = ROOT / "pipelink" / "components" / f"{name}.cu"
        if pl_cc.main([str(source), "-o", objects[-1], "--arch", arch]):
            raise SystemExit(f"pl-cc failed on {source}")
    tool = [sys.executable, "-m", "pipelink.tools.pl_link"]
    command = [*tool, str(GEMM), *objects, "-o", str(folder / "gemm.plk")]
    warm = str(folder / "warm")
    run(*command, cache=warm)
    tiny = toolchain.compile_cubin('extern "C" __global__ void k() {}', "tiny.cu", "sm_90a")
    cold_s, warm_s, vendor_s, start_s, disassembler_s, imports_s = ([] for _ in range(6))
    for number in range(rounds):
        other = folder / f"gemm_{number}.mlir"  # another name, so that only the transfers' code is in the cache
        other.write_text(GEMM.read_text().replace("module @gemm ", f"module @gemm_{number} "))
        taken, text = run(*tool, str(other), *objects, "-o", str(folder / "cold.plk"), "-v", cache=warm)
        cold_s.append(taken)
        vendor_s.append(float(re.findall(r"([\d.]+) ms\s+nvJitLink", text)[0]) / 1e3)
        start_s.append(run(sys.executable, "-c", START, cache=warm)[0])
        disassembler_s.append(seconds(lambda: sass.disassemble(tiny)))
        warm_s.append(run(*command, cache=warm)[0])
        python = run(sys.executable, "-c", "pass", cache=warm)[0]
        imports_s.append(run(sys.executable, "-c", "import pipelink.tools.pl_link", cache=warm)[0] - python)
    ratios = [c / (v + s + d) for c, v, s, d in zip(cold_s, vendor_s, start_s, disassembler_s, strict=True)]
    median = statistics.median
    return {
        "cold_link_s": median(cold_s),
        "nvjitlink_s": median(vendor_s),
        "start_s": median(start_s),
        "disassembler_start_s": median(disassembler_s),
        "cold_link_ratio": median(ratios),
        "warm_link_s": median(warm_s),
        "imports_s": median(imports_s),
    }


#: Variants of attention that are linked one after the other; the first is not timed.
VARIANTS = ("dense", "causal", "window", "varlen", "varlen-causal", "blocks", "plan")


def variants(folder: Path, rounds: int) -> dict[str, float]:
    """One more variant of attention, heads of 128, from objects that are there: medians over variants and rounds."""
    objects, cache = Objects(folder), Cache(folder / "cache")
    links_s, vendor_s, ratios = ([] for _ in range(3))
    for number in range(rounds + 1):  # in the first, objects and transfers are compiled
        for variant in VARIANTS:
            kernel = Kernel("attention", target="sm_90a")
            add_attention(Composer(kernel, objects), variant, 128)
            watch = Observer(keep=lambda *_: None)  # the link itself is not taken from the cache
            taken = seconds(lambda kernel=kernel, watch=watch: kernel.link(cache=cache, observer=watch))
            if number:
                vendor = dict(watch.times)["nvJitLink sm_90a"]
                links_s.append(taken)
                vendor_s.append(vendor)
                ratios.append(taken / (1.3 * vendor + 0.5))
    median = statistics.median
    return {
        "variant_link_s": median(links_s),
        "variant_nvjitlink_s": median(vendor_s),
        "variant_link_ratio": median(ratios),
        "variant_link_worst_ratio": max(ratios),
    }


def measure(rounds: int) -> dict[str, Any]:
    figures: dict[str, Any] = {"passes_ms": passes_ms(rounds + 10), "prove_ms": prove_ms(rounds + 10)}
    figures |= prove_64()
    with tempfile.TemporaryDirectory() as folder:
        figures |= links(Path(folder), rounds)
        figures |= variants(Path(folder), rounds)
    for instances in (100, 1000):
        found = placement.measure(instances)
        figures[f"place_{instances}_s"] = found["seconds"]
        figures |= {f"place_{instances}_{key}": value for key, value in found.items() if key != "seconds"}
    return figures


def machine() -> dict[str, str]:
    cpu = re.search(r"model name\s*: (.*)", Path("/proc/cpuinfo").read_text())
    return {
        "cpu": cpu[1] if cpu else platform.processor(),
        "cores": str(os.cpu_count()),
        "python": platform.python_version(),
        "toolkit": toolchain.toolkit_version(),
        "nvjitlink": ".".join(map(str, nvjitlink.version())),
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", type=Path, default=ROOT / "benchmarks" / "results" / "linker.json")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--only", choices=["attention"], help="keep all other figures, if they are this machine's")
    arguments = parser.parse_args()
    known: dict[str, Any] = {}
    if arguments.only:
        known = json.loads(arguments.output.read_text()) if arguments.output.exists() else {}
        if known and known["machine"] != machine():
            parser.error(f"{arguments.output} is of another machine")
        with tempfile.TemporaryDirectory() as folder:
            figures = variants(Path(folder), arguments.rounds)
    else:
        figures = measure(arguments.rounds)
    arguments.output.parent.mkdir(parents=True, exist_ok=True)
    every = known.get("figures", {}) | figures
    result = {"benchmark": "linker", "machine": machine(), "limits": LIMITS, "figures": every}
    arguments.output.write_text(json.dumps(result, indent=1) + "\n")
    failed = 0
    for name, value in figures.items():
        limit = LIMITS.get(name)
        verdict = "" if limit is None else f"limit {limit:g}  {'ok' if value <= limit else 'MISSED'}"
        failed += limit is not None and value > limit
        print(f"{name:28} {value:10.3f}  {verdict}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
