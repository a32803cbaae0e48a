"""What causal attention has placed where, as the picture docs/attention-placement.svg.

    python benchmarks/attention/placement.py        where the compilers are

A test compares the picture with what is placed today.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from test.compositions import Objects, compose  # noqa: E402

KERNEL = "attention-causal-128"
PICTURE = ROOT / "docs" / "attention-placement.svg"


def picture(objects: Objects) -> str:
    return compose(KERNEL, objects).link().map_svg


def main() -> int:
    with tempfile.TemporaryDirectory() as made:
        PICTURE.write_text(picture(Objects(Path(made))))
    print(f"wrote {PICTURE.relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
