"""The command line of benchmarks that link where the compilers are and run where the GPU is."""

from __future__ import annotations

import argparse
from pathlib import Path


def arguments(about: str | None, linked: str, *, cases: bool = False) -> argparse.Namespace:
    """``path`` of the ``linked`` file or folder, ``link`` whether it is to be made, ``output`` for results; of one with
    several ``cases``, ``only`` those of such names."""
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("path", type=Path, metavar=linked)
    parser.add_argument("--link", action="store_true", help="link instead of running what was linked")
    parser.add_argument("--output", type=Path, help="JSON file for the results")
    if cases:
        parser.add_argument("--only", default="*", metavar="GLOB", help="only cases of such names [*]")
    return parser.parse_args()
