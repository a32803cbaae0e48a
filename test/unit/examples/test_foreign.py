"""Components of other compilers: a mainloop written with CuTe, functions compiled by numba-cuda from Python."""

import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from pipelink.backend import sass, toolchain

ROOT = Path(__file__).resolve().parents[3]
BIN = Path(sys.executable).parent
EXAMPLES = ROOT / "examples"


def run(*words: object) -> str:
    result = subprocess.run([str(word) for word in words], capture_output=True, text=True, timeout=300)
    assert result.returncode == 0, result.stderr
    return result.stdout


def linked(script: Path, objects: Path, package: Path) -> sass.Sass:
    """Run the example's link script; the link itself fails where the audit does."""
    audit = run(sys.executable, script, objects, package)
    assert re.search(r"^  calls +none +none +ok$", audit, re.MULTILINE)
    return sass.read(zipfile.ZipFile(package).read("sm_90a.cubin"))


def test_numba_epilogue(objects: Path, tmp_path: Path) -> None:
    """The Python function is inlined into the mainloop's warps: no call, and its exponential is there."""
    code = linked(EXAMPLES / "numba_epilogue" / "link.py", objects, tmp_path / "silu.plk")
    (kernel,) = [function for function in code.functions if function.name == "silu_gemm"]
    assert not sass.component_calls(kernel)
    assert sum(instruction.mnemonic.startswith("MUFU") for instruction in kernel.instructions) >= 128


def test_numba_mask(objects: Path, tmp_path: Path) -> None:
    """The Python function is inlined behind each product of queries and keys: no call, and its selects are there."""
    code = linked(EXAMPLES / "attention" / "numba_mask" / "link.py", objects, tmp_path / "masked.plk")
    (kernel,) = [function for function in code.functions if function.name == "attention"]
    assert not sass.component_calls(kernel)
    selects = sum(instruction.mnemonic.startswith("FSEL") for instruction in kernel.instructions)
    assert selects >= 4 * 64  # with the causal mask's: both of the first block, and both of the others


@pytest.mark.parametrize(("variant", "product"), [("causal", "HGMMA"), ("split-lengths", "HMMA")])
def test_cute_core(objects: Path, tmp_path: Path, variant: str, product: str) -> None:
    """Both products of a block are tensor-core instructions of the core, and nothing is called."""
    folder = tmp_path / "objects"
    folder.mkdir()
    for path in objects.glob("*.o"):
        (folder / path.name).symlink_to(path)
    script, package = EXAMPLES / "attention" / "cute_core" / "link.py", tmp_path / "cute.plk"
    audit = run(sys.executable, script, folder, package, variant)
    assert re.search(r"^  calls +none +none +ok$", audit, re.MULTILINE)
    code = sass.read(zipfile.ZipFile(package).read("sm_90a.cubin"))
    assert sum(instruction.mnemonic.startswith(product) for instruction in code.instructions) >= 32


def test_cufftdx(tmp_path: Path) -> None:
    """A helper without a contract: NVIDIA's transform is inlined into the component that calls it."""
    folder = EXAMPLES / "cufftdx"
    found = run(sys.executable, "-c", f"import sys; sys.path.insert(0, {str(folder)!r}); import device;"
                "print(device.library() or '')").strip()  # fmt: skip
    if not found:
        pytest.skip("nvidia-libmathdx-cu13 is not installed")
    run(BIN / "pl-cc", folder / "fft.cu", "--arch=sm_80", "-o", tmp_path / "fft.o")
    code = linked(folder / "link.py", tmp_path / "fft.o", tmp_path / "fft.plk")
    (kernel,) = [function for function in code.functions if function.name == "fft8_rows"]
    assert not sass.component_calls(kernel)
    assert sum(instruction.mnemonic.startswith("FADD") for instruction in kernel.instructions) >= 32


def test_cute_mainloop(objects: Path, tmp_path: Path) -> None:
    """The linked kernel is the machine code of the same sources compiled as one unit."""
    folder = EXAMPLES / "cute_mainloop"
    run(BIN / "pl-cc", folder / "mainloop.cu", "--arch=sm_90a", "--include-cutlass", "-o", tmp_path / "mainloop.o")
    for path in objects.glob("*.o"):
        (tmp_path / path.name).symlink_to(path)
    code = linked(folder / "link.py", tmp_path, tmp_path / "cute.plk")

    kernel = f"import sys; sys.path.insert(0, {str(folder)!r}); import link; from pathlib import Path; "
    (tmp_path / "cute.mlir").write_text(
        run(sys.executable, "-c", kernel + "print(link.compose(Path(sys.argv[1])).module)", tmp_path)
    )
    files = [tmp_path / f"{name}.o" for name in ("tma_loader", "mainloop", "bias_relu", "grouped_tiles")]
    sources = ["--source", ROOT / "pipelink" / "components", "--source", folder]
    text = run(BIN / "pl-link", tmp_path / "cute.mlir", *files, "--emit=monolith", *sources)
    monolith = toolchain.compile_cubin(
        text, "monolith.cu", "sm_90a", include_dirs=[toolchain.cutlass_include_dir()], options=["-default-device"]
    )
    assert sass.compare(monolith, code) == []
