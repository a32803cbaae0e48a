"""Links the packages that the device tests run, on a machine that has the compilers: ``python test/gpu/prepare.py``.

They go to ``./carry`` (or the folder given), so that a machine with a GPU and torch, but no compiler, can run
``python -m pytest test/gpu`` over them.  Environment variable PIPELINK_GPU_PACKAGES names another folder there.  Folder
``racecheck`` holds them once more with every thread arriving at its mbarriers: the tool does not see that an elected
thread arrives for its warp.  Folder ``debug`` holds debug links, some of which hang, folder ``bench`` components that
are tested alone, folder ``torch`` the kernels of torch's operators.
"""

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

import pipelink  # noqa: E402  (the checkout's, whatever is installed)
from pipelink.tools import pl_cc  # noqa: E402
from pipelink.torch.__main__ import build as build_operators  # noqa: E402
from test.benches import BENCHES  # noqa: E402
from test.broken import BROKEN, EDITED, link_broken  # noqa: E402
from test.compositions import COMPOSITIONS, TARGETS, Objects, compose  # noqa: E402

#: Kernels that test_torch.py and test_torch_attention.py need, as `python -m pipelink.torch build` names them.
TORCH = (
    "swiglu-wgmma",
    "attention-dense-64", "attention-dense-128", "attention-dense-128-bias_bf16", "attention-causal-64",
    "attention-causal-128-f16-softcap", "attention-causal-256-alibi", "attention-window-128",
    "attention-window-64-sinks_bf16", "attention-plan-64", "attention-plan-128-softcap", "attention-blocks-causal-128",
    "attention-varlen-causal-128", "attention-paged-causal-128-page16", "attention-split-64-p8",
    "attention-split-64-p4-softcap-sinks_f32", "attention-split-128-p4", "attention-split-128-p4-softcap-sinks_f32",
    "attention-split-lengths-128-p4", "attention-split-lengths-128-p4-page64",
)  # fmt: skip


#: Sources of the library that the examples' scripts link.
EXAMPLES = (
    "tma_loader", "wgmma_mainloop", "bias_relu", "grouped_tiles", "attention_loader", "attention_core",
    "attention_walkers", "attention_masks", "attention_sinks", "attention_outputs",
)  # fmt: skip


def link_examples(objects: Objects, output: Path) -> None:
    """The kernels with components of other compilers: packages ``example-NAME``; and in a folder those of one core."""
    compiled = [objects[name] for name in EXAMPLES]  # the scripts look for the files
    assert all(path.is_file() for path in compiled)
    source, mainloop = ROOT / "examples" / "cute_mainloop" / "mainloop.cu", objects.folder / "mainloop.o"
    if pl_cc.main([str(source), "-o", str(mainloop), "--include-cutlass"]):
        sys.exit(f"cannot compile {source}")
    for name in ("cute_mainloop", "numba_epilogue", "attention/numba_mask"):
        script = ROOT / "examples" / name / "link.py"
        package = output / f"example-{script.parent.name}.plk"
        if subprocess.run([sys.executable, script, objects.folder, package]).returncode:
            sys.exit(f"cannot link {script}")
    script = ROOT / "examples" / "attention" / "one_core" / "link.py"
    if subprocess.run([sys.executable, script, objects.folder, output / "one_core"]).returncode:
        sys.exit(f"cannot link {script}")


def link_decoder(output: Path) -> None:
    """The decode megakernel of the example."""
    script = ROOT / "examples" / "decode" / "compose.py"
    if subprocess.run([sys.executable, script, output / "decode.plk"]).returncode:
        sys.exit(f"cannot link {script}")


def link_debug(objects: Objects, output: Path) -> None:
    """Debug links: kernels that hang, one that prints, a GEMM that is timed, and one that is also watched."""
    output.mkdir(parents=True, exist_ok=True)
    for name in (*BROKEN, *EDITED):
        link_broken(name, objects).save(output / f"{name}.plk")
    compose("talking", objects).link(debug_print=True).save(output / "talking.plk")
    gemm = compose("gemm-wgmma_128x256x64-store-grouped_tiles", objects)
    gemm.link(timeline=True).save(output / "timeline.plk")
    gemm.link(timeline=True, debug_hangs=True).save(output / "watched.plk")
    compose("attention-context-causal-128-g2-shared-lse", objects).link(debug_hangs=True).save(output / "lost_peer.plk")
    compose("round_trip", objects).link(timeline=True).save(output / "awaited.plk")
    compose("two_in_turn", objects).link(timeline=True).save(output / "turns.plk")
    print(f"{output.name}: {len(list(output.iterdir()))} packages", flush=True)


def link_benches(objects: Objects, output: Path) -> None:
    """Components alone, between generated feeders and sinks."""
    output.mkdir(parents=True, exist_ok=True)
    for name, alone in BENCHES.items():
        alone.bench(objects).link().save(output / f"{name}.bench")
    print(f"{output.name}: {len(BENCHES)} benches", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "output", nargs="?", type=Path, default=ROOT / "carry", help="folder for the packages [./carry]"
    )
    parser.add_argument("--only", default="", help="link only packages whose name holds this")
    arguments = parser.parse_args()
    (arguments.output / "racecheck").mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        objects = Objects(Path(folder))
        for name in COMPOSITIONS:
            if arguments.only in name and name not in TARGETS:  # those of other architectures cannot run
                linked = compose(name, objects).link()
                linked.save(arguments.output / f"{name}.plk")
                traced = compose(name, objects).link(passes="check,place{arrivals=every-thread},fuse")
                traced.save(arguments.output / "racecheck" / f"{name}.plk")
                print(f"{name}: {linked.targets[0].audit.instructions} instructions", flush=True)
        if not arguments.only or arguments.only == "debug":
            link_debug(objects, arguments.output / "debug")
        if not arguments.only or arguments.only == "bench":
            link_benches(objects, arguments.output / "bench")
        if not arguments.only or arguments.only.startswith("example"):
            link_examples(objects, arguments.output)
        if not arguments.only or arguments.only in ("example", "decode"):
            link_decoder(arguments.output)
    if not arguments.only or arguments.only == "torch":
        build_operators(arguments.output / "torch", TORCH)


if __name__ == "__main__":
    try:
        main()
    except pipelink.LinkError as problem:
        from pipelink.support.diagnostics import render_text

        sys.exit("\n".join(render_text(diagnostic) for diagnostic in problem.diagnostics))
