"""A thousand hostile packages and calls on every test run; ``make fuzz`` tries more."""

import importlib.util
from pathlib import Path

import pytest

FUZZ = Path(__file__).parents[2] / "fuzz"


@pytest.mark.parametrize("name", ["packages", "launches"])
def test_hostile_packages_and_arguments_do_no_harm(name: str) -> None:
    spec = importlib.util.spec_from_file_location(f"fuzz_{name}", FUZZ / f"fuzz_{name}.py")
    assert spec is not None
    assert spec.loader is not None
    fuzz = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(fuzz)
    assert fuzz.run(10, 1000) == []
