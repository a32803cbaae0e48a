"""A small share of the hostile IR texts; ``make fuzz`` tries many more."""

import importlib.util
from pathlib import Path

PATH = Path(__file__).resolve().parents[2] / "fuzz" / "fuzz_ir.py"


def test_hostile_texts_do_no_harm() -> None:
    spec = importlib.util.spec_from_file_location("fuzz_ir", PATH)
    assert spec
    assert spec.loader
    target = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(target)
    assert target.run(seed=0, budget=350) == []
