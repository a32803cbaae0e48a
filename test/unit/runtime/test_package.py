"""Packages: written and read back, the same bytes for the same kernel, and every kind of damage refused."""

import io
import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

from pipelink import runtime
from pipelink.package import PackageImage, package_bytes
from pipelink.runtime.package import read
from pipelink.support.diagnostics import LinkError

LAUNCH: dict[str, Any] = {
    "kernel": "fill",
    "arguments": [{"name": "out", "kind": "tensor", "element": "f32", "shape": ["N"], "access": "write"}],
    "dimensions": ["N"],
    "derived": [],
    "grid": ["ceildiv(N, 128)"],
    "threads": 128,
    "smem_bytes": 0,
    "parameters": {
        "bytes": 64,
        "align": 64,
        "fields": [{"name": "out", "offset": 0, "bytes": 8, "kind": "pointer", "tensor": "out"}],
    },
}


def images(*archs: str) -> list[PackageImage]:
    return [PackageImage(arch, f"cubin of {arch}".encode(), LAUNCH, 32, "13.0") for arch in archs]


def repacked(data: bytes, name: str, content: bytes | None) -> bytes:
    """The package with one member replaced, or left out."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(buffer, "w") as new:
        for member in old.namelist():
            if member != name:
                new.writestr(member, old.read(member))
            elif content is not None:
                new.writestr(member, content)
    return buffer.getvalue()


def with_manifest(**changes: Any) -> bytes:
    data = package_bytes("fill", images("sm_90a"))
    manifest = json.loads(zipfile.ZipFile(io.BytesIO(data)).read("manifest.json"))
    return repacked(data, "manifest.json", json.dumps({**manifest, **changes}).encode())


def test_round_trip(tmp_path: Path) -> None:
    data = package_bytes("fill", images("sm_90a", "sm_80"), {"made_by": "a test"})
    path = tmp_path / "fill.plk"
    path.write_bytes(data)
    kernel = runtime.load(path)
    assert repr(kernel) == "<pipelink kernel fill(out: f32[N] (written))>"
    assert kernel.package.manifest["made_by"] == "a test"
    assert [(t.arch, t.cubin) for t in kernel.package.targets] == [
        ("sm_90a", b"cubin of sm_90a"),
        ("sm_80", b"cubin of sm_80"),
    ]
    assert package_bytes("fill", images("sm_90a", "sm_80"), {"made_by": "a test"}) == data


@pytest.mark.parametrize(
    ("archs", "capability", "chosen"),
    [
        (("sm_80", "sm_90", "sm_90a"), (9, 0), "sm_90a"),
        (("sm_80", "sm_90"), (9, 0), "sm_90"),
        (("sm_80", "sm_86"), (8, 9), "sm_86"),
        (("sm_80",), (9, 0), None),
        (("sm_90a",), (10, 0), None),
        (("sm_100a",), (10, 3), None),
        (("sm_100f", "sm_100"), (10, 3), "sm_100f"),
        (("sm_89",), (8, 0), None),
    ],
)
def test_the_image_for_a_device(archs: tuple[str, ...], capability: tuple[int, int], chosen: str | None) -> None:
    target = read(package_bytes("fill", images(*archs))).choose(capability)
    assert (target.arch if target else None) == chosen


def test_damage() -> None:
    good = package_bytes("fill", images("sm_90a"))
    for data, message in [
        (b"", "not a linked kernel"),
        (b"PK nonsense", "not a linked kernel"),
        (good[: len(good) // 2], "not a linked kernel"),
        (repacked(good, "sm_90a.cubin", b"other"), "its hash is not the manifest's"),
        (repacked(good, "sm_90a.cubin", None), "the package holds no 'sm_90a.cubin'"),
        (repacked(good, "manifest.json", None), "the package holds no 'manifest.json'"),
        (repacked(good, "manifest.json", b"{"), "not a linked kernel"),
        (repacked(good, "manifest.json", b"[" * 100_000), "not a linked kernel"),
        (repacked(good, "manifest.json", b"[]"), "not a PipeLink package's"),
        (with_manifest(pipelink_package=2), "package version 2, expected 1"),
        (with_manifest(targets=None), "the manifest is malformed"),
        (with_manifest(targets=[{"arch": "sm_90a"}]), "the manifest is malformed"),
    ]:
        with pytest.raises(LinkError, match=message) as caught:
            read(data)
        assert caught.value.diagnostics[0].id == "bad-package"


def test_every_damaged_byte_is_refused_or_harmless() -> None:
    good = package_bytes("fill", images("sm_90a"))
    for position in range(len(good)):
        damaged = bytearray(good)
        damaged[position] ^= 0x5A
        assert _outcome(bytes(damaged)) in ("bad-package", "cubin of sm_90a")


def _outcome(data: bytes) -> str:
    try:
        return read(data).targets[0].cubin.decode()
    except LinkError as problem:
        return problem.diagnostics[0].id


def test_an_unreadable_file(tmp_path: Path) -> None:
    with pytest.raises(LinkError, match="unreadable-input"):
        runtime.load(tmp_path / "none.plk")
    with pytest.raises(LinkError, match="unreadable-input"):
        runtime.load(tmp_path)


def test_a_package_without_images() -> None:
    with pytest.raises(LinkError, match="holds no image"):
        runtime.load(package_bytes("fill", []))


def test_importing_the_runtime_loads_no_compiler() -> None:
    code = (
        "import sys, pipelink.runtime, pipelink.runtime.driver\n"
        "heavy = {'mlir', 'ortools', 'llvmlite', 'numpy', 'networkx', 'elftools', 'torch', 'pandas'}\n"
        "print(sorted(heavy & {name.partition('.')[0] for name in sys.modules}))\n"
        "print(sorted(name for name in sys.modules if name.startswith('pipelink.')"
        " and not name.startswith(('pipelink.runtime', 'pipelink.support'))))"
    )
    environment = {**os.environ, "PYTHONPATH": str(Path(runtime.__file__).parents[2])}
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment)
    assert run.stdout.splitlines() == ["[]", "[]"]


def test_without_a_driver_the_error_says_so() -> None:
    code = (
        "from pipelink.runtime import driver\n"
        "from pipelink.support.diagnostics import LinkError\n"
        "try:\n    driver.cuda()\n    print('a driver')\n"
        "except LinkError as problem:\n    print(problem.diagnostics[0].id)\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(Path(runtime.__file__).parents[2])}
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment)
    assert run.stdout.strip() in ("no-driver", "a driver")
