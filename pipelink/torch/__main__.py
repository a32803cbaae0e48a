"""``python -m pipelink.torch build [FOLDER]``: links the kernels of ``swiglu_linear`` and ``attention``.

``--only attention-causal-128-softcap`` links exactly that one, of any name that ``table.py`` describes; several may be
named.  Needs the compilers (extra ``compiler``), neither torch nor a GPU.  FOLDER is by default the package's own,
where the operators look; another one is passed to them with ``folder=``.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from pipelink.torch.table import ATTENTION, ENTRIES, FOLDER, AttentionEntry, Entry


def build(folder: Path, only: Sequence[str] = ()) -> None:
    """Link kernels into ``folder``, every listed one where ``only`` is empty: of each name in it the one of
    :class:`AttentionEntry` that has this name, listed or not, or every listed one whose file's name holds it.  Raises
    LinkError."""
    import pipelink
    from pipelink.components import attention, gemm
    from pipelink.support.diagnostics import error

    listed: tuple[Entry | AttentionEntry, ...] = (*ENTRIES, *ATTENTION)
    chosen = list(listed) if not only else []
    for name in only:
        exact = AttentionEntry.named(name)
        found = [exact] if exact else [entry for entry in listed if name in entry.file]
        if not found:
            raise error("usage", f"'{name}' is no kernel's name, and no listed kernel's name holds it")
        chosen += found
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as made:
        objects = gemm.Objects(Path(made))
        for entry in dict.fromkeys(chosen):
            if isinstance(entry, Entry):
                kernel = pipelink.Kernel("swiglu_linear", target=entry.archs[0])
                composer = gemm.Composer(kernel, objects)
                gemm.add_gemm(composer, gemm.MAINLOOPS[entry.mainloop], entry.epilogue, entry.scheduler)
            else:
                kernel = pipelink.Kernel("attention", target=entry.archs[0])
                attention.add_attention(gemm.Composer(kernel, objects), **entry.parts(), output="lse")
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
    command.add_argument(
        "--only", metavar="NAME", action="append", default=[],
        help="link only the kernel of this name, or those whose name holds it; may be given several times",
    )  # fmt: skip
    arguments = parser.parse_args(argv)
    try:
        build(arguments.folder, arguments.only)
    except LinkError as problem:
        print("\n".join(render_text(diagnostic) for diagnostic in problem.diagnostics), file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
