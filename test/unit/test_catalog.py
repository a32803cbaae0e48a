"""Every diagnostic id is shown by a test that expects it, and used by the code."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from pipelink.support.catalog import CATALOG

ROOT = Path(__file__).resolve().parents[2]
ID = r"[a-z0-9]+(?:-[a-z0-9]+)*"
_BRACKETED = re.compile(rf"\\?\[({ID})\\?\]")
#: ``expected-error {{… [id]}}`` for ``-verify-diagnostics``, or a line that FileCheck looks for.
_EXPECTATION = re.compile(
    r"expected-(?:error|warning|remark|note)\b.*\{\{.*\}\}"
    r"|^\W*(?!(?:RUN|KIND|DECIDED|REPORT|WRONG):)[A-Z][A-Z0-9_-]*: "
)


def expected_in_lit(text: str) -> set[str]:
    """The ids in the brackets of a lit test's expectations."""
    lines = (line for line in text.splitlines() if _EXPECTATION.search(line))
    return {id_ for line in lines for id_ in _BRACKETED.findall(line)}


def expected_in_pytest(text: str) -> set[str]:
    """The ids, or texts with a bracketed id, that a Python test asserts, matches what is raised with, or is
    parametrised with; names that an assertion or a match reads stand for what the module assigns to them."""
    tree = ast.parse(text)
    assigned: dict[str, list[ast.expr]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign):
            for target in node.targets:
                if isinstance(target, ast.Name):
                    assigned.setdefault(target.id, []).append(node.value)
    found: set[str] = set()
    for expectation in _expectations(tree):
        read = [name.id for name in ast.walk(expectation) if isinstance(name, ast.Name)]
        for part in (expectation, *(value for name in read for value in assigned.get(name, ()))):
            for node in ast.walk(part):
                if isinstance(node, ast.Constant) and isinstance(node.value, str):
                    found |= {node.value, *_BRACKETED.findall(node.value)}
    return found


def _expectations(tree: ast.Module) -> Iterator[ast.expr]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Assert):
            yield node.test
        elif isinstance(node, ast.Call):
            yield from (keyword.value for keyword in node.keywords if keyword.arg == "match")
            if isinstance(node.func, ast.Attribute) and node.func.attr == "parametrize":
                yield from node.args[1:]


def test_a_test_expects_every_id() -> None:
    found: set[str] = set()
    for path in (ROOT / "test").rglob("*"):
        if path.suffix in (".mlir", ".test", ".cu"):
            found |= expected_in_lit(path.read_text(errors="replace"))
        elif path.suffix == ".py" and path != Path(__file__).resolve():
            found |= expected_in_pytest(path.read_text())
    assert CATALOG.keys() - found == set()


def test_what_is_no_expectation_does_not_count() -> None:
    assert expected_in_lit("// About usage [usage]\n# RUN: not pl-opt | FileCheck %s  [usage]\n") == set()
    assert expected_in_lit("// expected-error {{m [usage]}}\nX-NEXT: error: m [empty-input]\n") == {
        "usage",
        "empty-input",
    }
    assert "usage" not in expected_in_pytest('"""[usage]"""\nx = "usage"  # usage\nf("usage")\n')
    assert "usage" in expected_in_pytest('m = r"m \\[usage\\]"\npytest.raises(LinkError, match=m)\n')


def test_the_code_reports_every_id() -> None:
    catalog = ROOT / "pipelink" / "support" / "catalog.py"
    texts = [path.read_text() for path in (ROOT / "pipelink").rglob("*.py") if path != catalog]
    assert CATALOG.keys() - {word for text in texts for word in re.findall(rf'"({ID})"', text)} == set()


def test_ids_are_kebab_case_and_described() -> None:
    assert {id_ for id_ in CATALOG if not re.fullmatch(ID, id_)} == set()
    assert {id_ for id_, text in CATALOG.items() if not text or text.endswith(".")} == set()
