"""What the repository promises of itself: ranges of packages with pins, small files, entry points, and imports
that stay light."""

import importlib
import importlib.metadata
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
SOURCES = (".py", ".cu", ".cuh", ".irdl", ".mlir", ".md", ".toml", ".json", ".yaml", ".txt", ".cmake", ".test", "")


def tracked_files() -> list[Path]:
    """The repository's files, new ones included, ignored ones not."""
    listing = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    return [path for name in listing.split("\0") if name and (path := ROOT / name).is_file()]


FILES = tracked_files()
TEXTS = {path: path.read_text(errors="replace") for path in FILES if path.suffix in SOURCES}


def requirements() -> list[Requirement]:
    extras = PROJECT["project"]["optional-dependencies"].values()
    return [Requirement(line) for group in [PROJECT["project"]["dependencies"], *extras] for line in group]


def constraints() -> dict[str, str]:
    """The pinned version of each package."""
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    pins = [line for line in lines if line and not line.startswith("#")]
    assert all(re.fullmatch(r"[a-z0-9-]+==[0-9.]+", pin) for pin in pins)
    return dict(pin.split("==") for pin in pins)


NOT_INSTALLED = ("torch",)  # too large for `make test`; what needs it skips


@pytest.mark.parametrize("requirement", requirements(), ids=str)
def test_dependency_is_a_range_with_its_pin_inside(requirement: Requirement) -> None:
    assert {specifier.operator for specifier in requirement.specifier} == {">=", "<"}
    assert constraints()[requirement.name] in requirement.specifier


@pytest.mark.parametrize(("name", "version"), constraints().items())
def test_pin_is_installed(name: str, version: str) -> None:
    if name in NOT_INSTALLED:
        pytest.skip("no part of what the tests install")
    assert importlib.metadata.version(name) == version


def test_the_environment_is_installed_within_the_pins_and_anew_when_they_change() -> None:
    text = (ROOT / "Makefile").read_text()
    assert "\n$(STAMP): pyproject.toml constraints.txt\n" in text
    assert "pip install" in text
    assert "--constraint constraints.txt" in text


def test_the_runtime_alone_is_small() -> None:
    assert [Requirement(line).name for line in PROJECT["project"]["dependencies"]] == ["cuda-bindings"]


@pytest.mark.parametrize(("command", "target"), PROJECT["project"]["scripts"].items())
def test_command_exists(command: str, target: str) -> None:
    module, function = target.split(":")
    assert callable(getattr(importlib.import_module(module), function))
    assert (ROOT / "tools" / command).is_file()


@pytest.mark.parametrize(
    "module", [m for m in ("pipelink", "pipelink.runtime", "pipelink.torch") if (ROOT / m.replace(".", "/")).is_dir()]
)
def test_import_brings_no_compiler(module: str) -> None:
    code = f"import sys, {module}; print(*sorted({{m.partition('.')[0] for m in sys.modules}}))"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert not set(loaded) & {"mlir", "ortools", "llvmlite", "numpy", "networkx", "elftools", "pandas"}


def test_cached_link_and_comparison_import_what_they_use() -> None:
    heavy = {"pipelink.objects", "pipelink.contract", "pipelink.target", "concurrent.futures", "cuda.bindings"}
    for modules in ("pipelink.link, pipelink.package, pipelink.tools.pl_link", "pipelink.audit.symbols"):
        code = f"import sys, {modules}; print(*sys.modules)"
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
        assert not set(done.stdout.split()) & heavy, modules


def test_ci_runs_make_test() -> None:
    script = ROOT / ".ci" / "run"
    assert script.stat().st_mode & 0o111
    assert "\nmake test " in script.read_text()


def test_every_make_target_is_explained() -> None:
    text = (ROOT / "Makefile").read_text()
    phony = re.search(r"^\.PHONY: (.*)$", text, re.M)
    assert phony
    assert set(phony[1].split()) == set(re.findall(r"^([a-z-]+):.*## ", text, re.M))


def test_license_is_apache_with_the_llvm_exception() -> None:
    text = (ROOT / "LICENSE").read_text()
    assert "Apache License" in text
    assert "LLVM Exceptions to the Apache 2.0 License" in text
    assert PROJECT["project"]["license"] == "Apache-2.0 WITH LLVM-exception"


def test_no_source_is_longer_than_600_lines() -> None:
    long = {
        str(path.relative_to(ROOT)): lines
        for path, text in TEXTS.items()
        if path.suffix in (".py", ".cu", ".cuh", ".irdl") and (lines := text.count("\n")) > 600
    }
    assert not long


def test_no_file_is_large() -> None:
    assert not [str(path.relative_to(ROOT)) for path in FILES if path.stat().st_size > 1 << 20]


def test_no_path_of_a_machine() -> None:
    pattern = re.compile(r"(?<![\w.])/(?:home|root|work|Users)/\w")
    found = [
        f"{path.relative_to(ROOT)}:{number}"
        for path, text in TEXTS.items()
        for number, line in enumerate(text.splitlines(), 1)
        if pattern.search(line)
    ]
    assert not found


def test_nothing_is_left_to_do() -> None:
    words = re.compile("|".join(["TO" + "DO", "FIX" + "ME", "X" * 3 + r"\b"]))
    found = [str(path.relative_to(ROOT)) for path, text in TEXTS.items() if path.suffix != ".md" and words.search(text)]
    assert not found


def test_every_python_file_says_what_it_is() -> None:
    bare = [
        str(path.relative_to(ROOT))
        for path, text in TEXTS.items()
        if path.suffix == ".py" and text.strip() and not re.match(r'(#!.*\n)?(#.*\n)*\s*r?"""', text)
    ]
    assert not bare
