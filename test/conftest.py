"""What all tests share: the option that compares everything, and objects that a session compiles once."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from test.compositions import Objects


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--all", action="store_true", help="compare every composition, not only a pairwise cover of them")


@pytest.fixture(scope="session")
def objects(tmp_path_factory: pytest.TempPathFactory) -> Objects:
    """Objects of the library's and the tests' components, which all workers of the session share."""
    from test.compositions import Objects  # not on a machine without compilers, where only test/gpu runs

    folder = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        folder = folder.parent
    folder = folder / "component-objects"
    folder.mkdir(exist_ok=True)
    return Objects(folder)
