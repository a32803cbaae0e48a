"""``python -m pipelink.torch build [FOLDER]``: links the kernels of ``swiglu_linear`` and ``attention``.

Needs the compilers (extra ``compiler``), neither torch nor a GPU.  FOLDER is by default the package's own, where
the operators look; another one is passed to them with ``folder=``.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from pipelink.torch.table import ATTENTION, ENTRIES, FOLDER


def build(folder: Path, only: str = "") -> None:
    """Link every entry whose file's name holds ``only`` into ``folder``.  Raises LinkError."""
    import pipelink
    from pipelink.components import attention, gemm

    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as made:
        objects = gemm.Objects(Path(made))
        for entry in ENTRIES:
            if only not in entry.file:
                continue
            kernel = pipelink.Kernel("swiglu_linear", target=entry.archs[0])
            composer = gemm.Composer(kernel, objects)
            gemm.add_gemm(composer, gemm.MAINLOOPS[entry.mainloop], entry.epilogue, entry.scheduler)
            kernel.link(*entry.archs).save(folder / entry.file)
            print(f"{folder / entry.file}: {', '.join(entry.archs)}", flush=True)
        for entry in ATTENTION:
            if only not in entry.file:
                continue
            kernel = pipelink.Kernel("attention", target=entry.archs[0])
            attention.add_attention(gemm.Composer(kernel, objects), entry.variant, entry.dimension, output="lse")
            kernel.link(*entry.archs).save(folder / entry.file)
            print(f"{folder / entry.file}: {', '.join(entry.archs)}", flush=True)


def main(argv: Sequence[str] | None = None) -> int:
    """The command; returns its exit status."""
    from pipelink.support.diagnostics import LinkError, render_text

    parser = argparse.ArgumentParser(
        prog="python -m pipelink.torch", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    command = parser.add_subparsers(dest="command", required=True).add_parser("build", help="link the kernels")
    command.add_argument("folder", nargs="?", type=Path, default=FOLDER, help="where to [the package's own folder]")
    command.add_argument("--only", default="", help="link only files whose name holds this")
    arguments = parser.parse_args(argv)
    try:
        build(arguments.folder, arguments.only)
    except LinkError as problem:
        print("\n".join(render_text(diagnostic) for diagnostic in problem.diagnostics), file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
