"""Six attention kernels from one core's object, which stays as it is; the new one's code is its monolith's."""

import importlib.util
import re
import subprocess
import sys
import zipfile
from pathlib import Path
from types import ModuleType

import pytest

from pipelink.backend import toolchain
from pipelink.objects import read_objects
from test.compositions import Objects
from test.machine_code import differences

FOLDER = Path(__file__).resolve().parents[3] / "examples" / "attention" / "one_core"


@pytest.fixture(scope="module")
def example() -> ModuleType:
    """The example's script, as a module."""
    spec = importlib.util.spec_from_file_location("one_core", FOLDER / "link.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["one_core"] = module  # where its dataclass looks itself up
    spec.loader.exec_module(module)
    return module


def test_the_script(objects: Path, tmp_path: Path) -> None:
    for name in ("attention_loader", "attention_core", "attention_walkers", "attention_masks", "attention_sinks"):
        (tmp_path / f"{name}.o").write_bytes((objects / f"{name}.o").read_bytes())
    command = [sys.executable, FOLDER / "link.py", tmp_path, tmp_path / "out"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    first, *lines, last = done.stdout.splitlines()
    assert re.fullmatch(r"attention_core\.o: SHA-256 [0-9a-f]{64}", first)
    assert last == "attention_core.o: the same"
    names = [re.match(r"(\w+): linked in [\d.]+ s, of which nvJitLink [\d.]+ s$", line) for line in lines[::2]]
    linked = [found[1] for found in names if found]
    assert linked == ["dense", "causal", "window", "softcap", "varlen", "dilated"]
    assert all("attention_core_128" in line for line in lines[1::2])
    assert "dilated" in lines[-1]
    kernels = {zipfile.ZipFile(tmp_path / "out" / f"{name}.plk").read("sm_90a.cubin") for name in linked}
    assert len(kernels) == 6


def test_the_new_variant_is_its_monolith(example: ModuleType, tmp_path: Path) -> None:
    made = Objects(tmp_path, example.FOLDERS)
    kernel = example.compose("dilated", made).kernel
    (linked,) = kernel.link(cache=False).targets
    assert linked.audit.ok
    folders = [*example.FOLDERS, toolchain.transfer_dir()]
    text = kernel.monolith(example.FOLDERS)
    monolith = toolchain.compile_cubin(text, "dilated.cu", "sm_90a", include_dirs=folders)
    assert differences(linked.cubin, monolith) == []
    (component,) = read_objects(made["dilated"])[0].components
    assert component.name == "example::dilated"
