"""``python -m benchmarks``: the configurations of benchmarks/configurations.py, linked, compared and run.

``inspect``         no GPU: link every one, compare it with its monolith, time the link against the full compile;
                    writes benchmarks/results/inspect.json; the last line reads ``N linked, M identical``
``prepare FOLDER``  no GPU: the packages of every one that runs on a Hopper GPU, and of their monoliths
``run FOLDER``      on the GPU, with torch and cuda-bindings: check them, time them against their monoliths and against
                    cuBLAS; writes benchmarks/results/run.json
"""

from __future__ import annotations

import argparse
import fnmatch
import sys
from pathlib import Path

from benchmarks.configurations import BY_NAME


def chosen(pattern: str) -> list[str]:
    found = fnmatch.filter(BY_NAME, pattern)
    if not found:
        sys.exit(f"no configuration matches '{pattern}'; there are:\n" + "\n".join(BY_NAME))
    return found


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(
        prog="python -m benchmarks", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = made.add_subparsers(dest="command", required=True)
    for name in ("inspect", "prepare", "run"):
        command = commands.add_parser(name)
        command.add_argument("--only", default="*", metavar="GLOB", help="only configurations of such names [*]")
        command.add_argument("--again", action="store_true", help="measure what is there already, too")
        if name != "inspect":
            command.add_argument("folder", type=Path, help="where the packages are")
        if name == "inspect":
            command.add_argument("--jobs", type=int, default=2, help="processes [2]")
        if name != "prepare":
            command.add_argument("--rounds", type=int, help="samples of each time")
        if name == "run":
            command.add_argument("--output", type=Path, help="the result [benchmarks/results/run.json]")
            command.add_argument("--compile", action="store_true", help="torch.compile with max-autotune, too")
    return made


def main() -> int:
    arguments = parser().parse_args()
    names = chosen(arguments.only)
    if arguments.command == "inspect":
        from benchmarks import inspection

        return inspection.run(names, jobs=arguments.jobs, rounds=arguments.rounds or 3, again=arguments.again)
    if arguments.command == "prepare":
        from benchmarks import prepare

        return prepare.run(names, arguments.folder)
    try:
        import torch
    except ImportError:
        sys.exit("`run` needs torch, and a Hopper GPU")
    if not torch.cuda.is_available() or torch.cuda.get_device_capability(0)[0] != 9:
        sys.exit("`run` needs a Hopper GPU")
    from benchmarks import measure

    return measure.run(names, arguments)


if __name__ == "__main__":
    sys.exit(main())
