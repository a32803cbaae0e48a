"""``python test/fuzz --budget N``: N hostile inputs, shared by the targets of this folder.

What a target is, and under which limits its inputs are tried, is in frame.py.  ``--from N`` goes on at an input.
"""

import argparse
import importlib
import time
from pathlib import Path

import frame


def main() -> int:
    """Run the targets; 1 if any input did harm."""
    parser = argparse.ArgumentParser(prog="python test/fuzz", description="Try hostile inputs.")
    names = sorted(path.stem.removeprefix("fuzz_") for path in Path(__file__).parent.glob("fuzz_*.py"))
    parser.add_argument("targets", nargs="*", metavar="TARGET", help=f"of {', '.join(names)}; all if left out")
    parser.add_argument("--budget", type=int, default=1000, help="inputs in all")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--from", type=int, default=0, dest="first", help="the first input of each target")
    arguments = parser.parse_args()
    unknown = set(arguments.targets) - set(names)
    if unknown:
        parser.error(f"no target {', '.join(sorted(unknown))}; there are {', '.join(names)}")
    chosen = arguments.targets or names
    failures: list[str] = []
    for name in chosen:
        start = time.monotonic()
        found = frame.drive(
            importlib.import_module(f"fuzz_{name}"),
            arguments.seed,
            arguments.first,
            max(arguments.first, arguments.budget // len(chosen)),
        )
        seconds = time.monotonic() - start
        print(f"{name}: {arguments.budget // len(chosen)} inputs, {len(found)} failures, {seconds:.0f} s", flush=True)
        for line in found:
            print(f"  {line}", flush=True)
        failures += found
    return 1 if failures else 0


if __name__ == "__main__":
    raise SystemExit(main())
