"""The decode megakernel of the example: its operations link from their own objects, into the monolith's code."""

import importlib
import sys
from pathlib import Path
from typing import Any

import pytest

from pipelink import components
from pipelink.backend import toolchain
from test.machine_code import differences

ROOT = Path(__file__).resolve().parents[3]
EXAMPLE = ROOT / "examples" / "decode"


@pytest.fixture(scope="module")
def compose() -> Any:
    sys.path.insert(0, str(EXAMPLE))
    yield importlib.import_module("compose")
    sys.path.remove(str(EXAMPLE))


@pytest.fixture(scope="module")
def made(compose: Any, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return compose.objects(tmp_path_factory.mktemp("decode"), 64, 4)


def test_machine_code_equals_the_monoliths(compose: Any, made: dict[str, Path]) -> None:
    kernel = compose.compose(made, hidden=2048, ffn=8192, head=64)
    (code,) = kernel.link(cache=False).targets
    folders = [EXAMPLE, components.FOLDER, toolchain.transfer_dir()]
    monolith = toolchain.compile_cubin(kernel.monolith(folders[:2]), "decoder.cu", "sm_90a", include_dirs=folders)
    assert differences(code.cubin, monolith) == []
    assert code.audit.ok
    assert all("comes is not proved" in warning.message for warning in code.warnings)
    assert len(code.warnings) == 6


def test_a_larger_model_links_from_the_same_sources(compose: Any, tmp_path: Path) -> None:
    """Llama-3.1-8B: heads of 128, 4,096 hidden, 14,336 between."""
    objects = compose.objects(tmp_path, 128, 4)
    (code,) = compose.compose(objects, hidden=4096, ffn=14336, head=128).link(cache=False).targets
    assert code.audit.ok
