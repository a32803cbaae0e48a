"""Links the packages that the device tests run, on a machine that has the compilers: ``python test/gpu/prepare.py``.

They go to ``./carry`` (or the folder given), so that a machine with a GPU and torch, but no compiler, can run
``python -m pytest test/gpu`` over them.  Environment variable PIPELINK_GPU_PACKAGES names another folder there.
"""

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

import pipelink  # noqa: E402  (the checkout's, whatever is installed)

COMPONENTS = ROOT / "pipelink" / "components"
MAINLOOPS = ("wgmma_128x256x64", "wgmma_128x128x64", "cp_async")
EPILOGUES = ("store", "bias_relu", "gelu", "residual_add")
SCHEDULERS = ("static_tiles", "grouped_tiles")


def compile_object(source: Path, output: Path, arch: str, *options: str) -> None:
    """One component file, with pl-cc."""
    command = [sys.executable, "-m", "pipelink.tools.pl_cc", str(source), f"--arch={arch}", "-o", str(output), *options]
    if subprocess.run(command, cwd=ROOT).returncode:
        sys.exit(f"cannot compile {source}")


def gemm(objects: Path, mainloop: str, epilogue: str, scheduler: str) -> pipelink.Kernel:
    """A GEMM of the component library."""
    kernel = pipelink.Kernel("gemm")
    finish, tiles = kernel.add(objects / f"{epilogue}.o"), kernel.add(objects / f"{scheduler}.o")
    if mainloop == "cp_async":
        mma = kernel.add(objects / "cp_async_mainloop.o")
    else:
        shape = mainloop.removeprefix("wgmma_")
        load = kernel.add(objects / "tma_loader.o", f"tma_loader_{shape}")
        mma = kernel.add(objects / "wgmma_mainloop.o", f"wgmma_mainloop_{shape}")
        kernel.connect(load.ab, mma.ab)
        kernel.connect(load.work, tiles.next)
    kernel.connect(mma.work, tiles.next)
    kernel.connect(mma.store, finish.store)
    return kernel


def launches(objects: Path) -> dict[str, pipelink.Kernel]:
    """Kernels of one component each, for what a launch needs."""
    source = objects / "launch.o"
    found: dict[str, pipelink.Kernel] = {}
    for name in ("tickets", "meeting", "ranks", "persistent"):
        found[name] = pipelink.Kernel(name)
        found[name].add(source, name)
    fill = found["affine"] = pipelink.Kernel("affine")
    fill.connect(fill.add(source, "fill").value, fill.add(source, "affine").value)
    twice = found["twice"] = pipelink.Kernel("twice")
    total = twice.add(source, "sum")
    for port, salt in ((total.first, 3), (total.second, 5)):
        part = twice.add(source, "scramble")
        twice.connect(port, part.value)
        twice.bind(part.salt, salt)
    return found


def rings(objects: Path) -> dict[str, pipelink.Kernel]:
    """Rings filled by threads: plain, swizzled, converted, with two readers, behind shared memory of an odd size."""
    source = objects / "rings.o"
    found: dict[str, pipelink.Kernel] = {}
    for writer, reader in (("plain", "plain"), ("swizzled", "swizzled"), ("plain", "swizzled")):
        kernel = found[f"ring_{writer}_{reader}"] = pipelink.Kernel("ring")
        kernel.connect(kernel.add(source, f"{writer}_writer").tiles, kernel.add(source, f"{reader}_reader").tiles)
    two = found["ring_two_readers"] = pipelink.Kernel("ring")
    tiles = two.add(source, "plain_writer").tiles
    for name in ("y", "z"):
        two.connect(tiles, two.add(source, "plain_reader", y=name).tiles)
    odd = found["ring_behind_odd"] = pipelink.Kernel("ring")
    odd.add(source, "odd")
    odd.connect(odd.add(source, "swizzled_writer").tiles, odd.add(source, "swizzled_reader").tiles)
    turns = found["turns"] = pipelink.Kernel("turns")
    first, second = turns.add(source, "turn"), turns.add(source, "turn")
    turns.connect(first.other, second.mine, credit=0)
    turns.connect(second.other, first.mine, credit=1)
    turns.bind(first.who, 1)
    turns.bind(second.who, 2)
    return found


def kernels(objects: Path) -> dict[str, pipelink.Kernel]:
    """Every kernel that the tests run, by the name of its package."""
    found = {
        f"gemm-{mainloop}-{epilogue}-{scheduler}": gemm(objects, mainloop, epilogue, scheduler)
        for mainloop in MAINLOOPS
        for epilogue in EPILOGUES
        for scheduler in SCHEDULERS
    }
    return {**found, **launches(objects), **rings(objects)}


def link_examples(objects: Path, output: Path) -> None:
    """The kernels with components of other compilers: packages ``example-NAME``."""
    source = ROOT / "examples" / "cute_mainloop" / "mainloop.cu"
    compile_object(source, objects / "mainloop.o", "sm_90a", "--include-cutlass")
    for name in ("cute_mainloop", "numba_epilogue"):
        script = ROOT / "examples" / name / "link.py"
        if subprocess.run([sys.executable, script, objects, output / f"example-{name}.plk"]).returncode:
            sys.exit(f"cannot link {script}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "output", nargs="?", type=Path, default=ROOT / "carry", help="folder for the packages [./carry]"
    )
    parser.add_argument("--only", default="", help="link only packages whose name holds this")
    arguments = parser.parse_args()
    arguments.output.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        objects = Path(folder)
        for name in ("tma_loader", "wgmma_mainloop"):
            compile_object(COMPONENTS / f"{name}.cu", objects / f"{name}.o", "sm_90a")
        for name in ("cp_async_mainloop", *EPILOGUES, *SCHEDULERS):
            compile_object(COMPONENTS / f"{name}.cu", objects / f"{name}.o", "sm_80")
        for name in ("launch", "rings"):
            compile_object(ROOT / "test" / "gpu" / "components" / f"{name}.cu", objects / f"{name}.o", "sm_90a")
        for name, kernel in kernels(objects).items():
            if arguments.only in name:
                linked = kernel.link()
                linked.save(arguments.output / f"{name}.plk")
                print(f"{name}: {linked.targets[0].audit.instructions} instructions", flush=True)
        if not arguments.only or arguments.only.startswith("example"):
            link_examples(objects, arguments.output)


if __name__ == "__main__":
    try:
        main()
    except pipelink.LinkError as problem:
        from pipelink.support.diagnostics import render_text

        sys.exit("\n".join(render_text(diagnostic) for diagnostic in problem.diagnostics))
