"""The example from sources to numbers: ``make demo``.

Compiles four components apart, links them twice (the IR file through pl-link, the Python composition through the
library), compares the machine code with the same sources compiled as one unit, writes ``build/gemm.plk``, and runs it
where there is a Hopper GPU.  Needs neither a GPU nor a CUDA toolkit.
"""

import argparse
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import gemm

import pipelink
from pipelink.backend import sass, toolchain

ROOT = Path(__file__).resolve().parents[2]
SOURCES = ROOT / "pipelink" / "components"
BIN = Path(sys.executable).parent
START = time.perf_counter()


def say(text: str) -> None:
    """A progress line, with the seconds since the start."""
    print(f"[{time.perf_counter() - START:5.1f} s] {text}", flush=True)


def run(tool: str, *arguments: object) -> None:
    """Run one of PipeLink's commands, as a user would."""
    words = [str(argument) for argument in arguments]
    shown = [str(Path(w).relative_to(ROOT)) if Path(w).is_relative_to(ROOT) else w for w in words]
    say(f"$ {tool} {' '.join(shown)}")
    if subprocess.run([BIN / tool, *words]).returncode:
        sys.exit(1)


def compile_components(output: Path) -> list[Path]:
    """Each component on its own, for the oldest architecture that it runs on."""
    objects = [output / f"{name}.o" for name in gemm.COMPONENTS]
    for made, (name, arch) in zip(objects, gemm.COMPONENTS.items(), strict=True):
        run("pl-cc", SOURCES / f"{name}.cu", f"--arch={arch}", "-o", made)
    return objects


def compare_with_monolith(objects: list[Path], cubin: bytes, output: Path) -> None:
    """The same sources as one CUDA C++ file, compiled by NVRTC without link-time optimisation."""
    source = output / "gemm_monolith.cu"
    run("pl-link", gemm.IR, *objects, "--emit=monolith", "--source", SOURCES, "-o", source)
    monolith = toolchain.compile_cubin(source.read_text(), str(source), "sm_90a")
    different = sass.compare(monolith, cubin)
    if different:
        print("\n".join(different[:20]))
        sys.exit(f"the linked machine code differs from the monolith's in {len(different)} lines")
    say("the machine code is the monolith's, instruction for instruction")


def has_hopper() -> bool:
    """Whether device 0 can run the kernel."""
    try:
        from cuda.bindings import driver

        if driver.cuInit(0)[0] or not driver.cuDeviceGetCount()[1]:
            return False
        major = driver.CUdevice_attribute.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR
        return driver.cuDeviceGetAttribute(major, driver.cuDeviceGet(0)[1])[1] == 9
    except (ImportError, RuntimeError, OSError):  # no driver
        return False


def check_on_gpu(package: Path) -> None:
    """Launch with tensors alone and compare with numpy; shapes with tails included."""
    import numpy as np
    from cuda.bindings import driver
    from device_array import DeviceArray, check, from_bf16, to_bf16

    device = check(driver.cuDeviceGet(0))
    check(driver.cuCtxSetCurrent(check(driver.cuDevicePrimaryCtxRetain(device))))
    kernel = pipelink.runtime.load(package)
    random = np.random.default_rng(0)
    for m, n, k in ((128, 256, 64), (1000, 1224, 520), (2048, 2048, 1024)):
        host = [from_bf16(to_bf16(random.standard_normal(shape) / 4)) for shape in ((m, k), (n, k), (n,))]
        a, b, bias = (DeviceArray.upload(values) for values in host)
        out = DeviceArray.upload(np.full((m, n), np.nan))
        kernel(a=a, b=b, bias=bias, out=out)
        expected = np.maximum(host[0] @ host[1].T + host[2], 0)
        error = float(np.max(np.abs(out.read() - expected) / np.maximum(np.abs(expected), 1)))
        for array in (a, b, bias, out):
            array.free()
        say(f"{m} x {n} x {k}: largest error {error:.1e}")
        if not error < 1e-2:  # bf16 rounds to 2^-9 of the value; also refuses NaN
            sys.exit("the result is wrong")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", type=Path, default=ROOT / "build", help="folder for what is made [build]")
    output: Path = parser.parse_args().output.resolve()
    output.mkdir(parents=True, exist_ok=True)
    package = output / "gemm.plk"

    objects = compile_components(output)
    run("pl-link", gemm.IR, *objects, "-o", package, "--map", "--no-cache")
    cubin = zipfile.ZipFile(package).read("sm_90a.cubin")
    composed = gemm.compose(output).link(cache=False)
    if composed["sm_90a"].cubin != cubin:
        sys.exit("the IR file and the Python composition gave different kernels")
    say("gemm.mlir and gemm.py give the same kernel")
    compare_with_monolith(objects, cubin, output)
    if has_hopper():
        check_on_gpu(package)
    else:
        say("no Hopper GPU here: the kernel was linked and checked, not run")
    say(f"wrote {package.relative_to(ROOT) if package.is_relative_to(ROOT) else package}")


if __name__ == "__main__":
    try:
        main()
    except pipelink.LinkError as problem:
        sys.exit(str(problem))
