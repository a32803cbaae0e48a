"""A thousand damaged inputs on every test run; ``make fuzz`` tries more."""

import importlib.util
from pathlib import Path

FUZZ = Path(__file__).parents[2] / "fuzz" / "fuzz_objects.py"


def test_damaged_objects_give_diagnostics() -> None:
    spec = importlib.util.spec_from_file_location("fuzz_objects", FUZZ)
    assert spec is not None
    assert spec.loader is not None
    fuzz = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(fuzz)
    assert fuzz.run(20, 1000) == []
