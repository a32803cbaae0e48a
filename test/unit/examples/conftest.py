"""The component objects that the examples link, made once by pl-cc."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
BIN = Path(sys.executable).parent
SOURCES = {
    "tma_loader": "sm_90a",
    "wgmma_mainloop": "sm_90a",
    "bias_relu": "sm_80",
    "grouped_tiles": "sm_80",
    "attention_loader": "sm_90",
    "attention_core": "sm_90a",
    "attention_walkers": "sm_80",
    "attention_masks": "sm_80",
    "attention_sinks": "sm_80",
    "attention_outputs": "sm_80",
}


@pytest.fixture(scope="session")
def objects(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with ``NAME.o`` for each of SOURCES."""
    folder = tmp_path_factory.mktemp("objects")
    for name, arch in SOURCES.items():
        source = ROOT / "pipelink" / "components" / f"{name}.cu"
        command = [BIN / "pl-cc", source, f"--arch={arch}", "-o", folder / f"{name}.o"]
        subprocess.run(command, check=True, timeout=120)
    return folder
