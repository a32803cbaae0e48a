"""The command line of benchmarks that link where the compilers are and run where the GPU is."""

from __future__ import annotations

import argparse
from pathlib import Path


def arguments(about: str | None, linked: str) -> argparse.Namespace:
    """``path`` of the ``linked`` file or folder, ``link`` whether it is to be made, ``output`` for results."""
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("path", type=Path, metavar=linked)
    parser.add_argument("--link", action="store_true", help="link instead of running what was linked")
    parser.add_argument("--output", type=Path, help="JSON file for the results")
    return parser.parse_args()
