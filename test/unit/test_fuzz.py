"""A thousand hostile inputs of each target on every test run; ``make fuzz`` tries more."""

import importlib
import sys
from pathlib import Path
from types import ModuleType

import pytest

FUZZ = Path(__file__).resolve().parents[1] / "fuzz"


def target(name: str) -> ModuleType:
    sys.path.insert(0, str(FUZZ))
    try:
        return importlib.import_module(name)
    finally:
        sys.path.remove(str(FUZZ))


@pytest.mark.parametrize("name", ["attributes", "entries", "ir", "launches", "objects", "packages", "protocols"])
def test_hostile_inputs_do_no_harm(name: str) -> None:
    assert target("frame").drive(target(f"fuzz_{name}"), 20, 0, 1000) == []


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("raise KeyError('x')", "KeyError: 'x'"),
        ("return 'wrong'", "wrong"),
        ("os.abort()", "the worker ended with status -6"),
        ("time.sleep(60)", "no progress in 0.5 s"),
        ("bytearray(1 << 40)", "MemoryError:"),
    ],
)
def test_the_frame_sees_what_goes_wrong(body: str, said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    frame, made = target("frame"), ModuleType("made")
    code = f"import os, time\ndef attempt(seed, index):\n    if index == 3:\n        {body}\n"
    exec(code, made.__dict__)
    monkeypatch.setattr(frame, "SECONDS", 0.5)
    assert frame.drive(made, 7, 1, 6) == [f"7/3: {said}"]
