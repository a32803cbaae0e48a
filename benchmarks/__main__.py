"""``python -m benchmarks``: the configurations of benchmarks/families, linked, compared and run.

``inspect``         no GPU: link every one, compare it with its monolith, time the link against the full compile;
                    merges into benchmarks/results/inspect.json; the last line reads ``N linked, M identical``
``prepare FOLDER``  no GPU: the packages of every one that runs on a Hopper GPU, and of their monoliths
``run FOLDER``      on the GPU, with torch and cuda-bindings: check them, time them against their monoliths and against
                    what torch offers; merges into benchmarks/results/run.json, or a file of its own
``merge FILE ...``  add results that were made elsewhere to those in benchmarks/results
``stale``           no GPU: list the configurations whose results are missing or belong to other machine code than what
                    links now; exit 1 if there are any
"""

from __future__ import annotations

import argparse
import fnmatch
import sys
from pathlib import Path

from benchmarks import store
from benchmarks.configurations import BY_NAME, family_of
from benchmarks.families import FAMILIES


def chosen(pattern: str, family: str = "") -> list[str]:
    """The names of configurations that match, of one family if it is named.  Exits where there are none."""
    found = [name for name in fnmatch.filter(BY_NAME, pattern) if family in ("", family_of(BY_NAME[name]).name)]
    if not found:
        sys.exit(f"no configuration matches '{pattern}'; there are:\n" + "\n".join(BY_NAME))
    return found


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(
        prog="python -m benchmarks", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = made.add_subparsers(dest="command", required=True)
    merge = commands.add_parser("merge")
    merge.add_argument("files", type=Path, nargs="+", help="results that `run --output` wrote, or another benchmark")
    for name in ("inspect", "prepare", "run", "stale"):
        command = commands.add_parser(name)
        command.add_argument("--only", default="*", metavar="GLOB", help="only configurations of such names [*]")
        command.add_argument("--family", default="", choices=[f.name for f in FAMILIES], help="only of one family")
        if name in ("prepare", "run"):
            command.add_argument("folder", type=Path, help="where the packages are")
        if name in ("inspect", "run"):
            command.add_argument("--again", action="store_true", help="measure what is committed already, too")
            command.add_argument("--rounds", type=int, help="samples of each time")
        if name == "inspect":
            command.add_argument("--jobs", type=int, default=2, help="processes [2]")
        if name == "run":
            command.add_argument("--output", type=Path, help="merge into this file; leave out what it holds")
            command.add_argument("--compile", action="store_true", help="torch.compile with max-autotune, too")
            command.add_argument("--minutes", type=float, help="begin with no configuration after so long")
        if name == "stale":
            command.add_argument("--record", action="store_true", help="keep what links now, for the tables' marks")
    return made


def main() -> int:
    arguments = parser().parse_args()
    if arguments.command == "merge":
        for file in arguments.files:
            path, count = store.merge(file)
            print(f"{path}: {count} results from {file}")
        return 0
    names = chosen(arguments.only, arguments.family)
    if arguments.command == "stale":
        from benchmarks import stale

        return stale.run(names, recorded=arguments.record)
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
