"""Packages: written and read back, the same bytes for the same kernel, and every kind of damage refused."""

import io
import json
import os
import subprocess
import sys
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pipelink import runtime
from pipelink.package import PackageEntry, PackageImage, package_bytes, package_kernels
from pipelink.runtime import package
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


def with_kernel(**changes: Any) -> bytes:
    data = package_bytes("fill", images("sm_90a"))
    manifest = json.loads(zipfile.ZipFile(io.BytesIO(data)).read("manifest.json"))
    return with_manifest(kernels=[{**manifest["kernels"][0], **changes}])


def with_target(**changes: Any) -> bytes:
    data = package_bytes("fill", images("sm_90a"))
    manifest = json.loads(zipfile.ZipFile(io.BytesIO(data)).read("manifest.json"))
    return with_kernel(targets=[{**manifest["kernels"][0]["targets"][0], **changes}])


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
    target = read(package_bytes("fill", images(*archs))).kernels[0].choose(capability)
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
        (with_manifest(pipelink_package=1), "package version 1, expected 2"),
        (with_manifest(pipelink_package=True), "package version True, expected 2"),
        (with_manifest(kernels=[]), r"kernels: expected a list of 1 to 1024 items, given \[\]"),
        (with_kernel(targets=None), r"kernels\[0\].targets: expected a list of 1 to 64 items, given None"),
        (with_kernel(targets=[{"arch": "sm_90a"}]), r"kernels\[0\].targets\[0\] has no 'cubin'"),
        (with_kernel(name="fill\ud800"), r"kernels\[0\].name: expected a name"),
        (with_target(arch="sm_" + "9" * 5000), r"targets\[0\].arch: expected an architecture such as sm_90a"),
        (with_target(arch="sm_9\uff10"), r"targets\[0\].arch: expected an architecture such as sm_90a"),
        (with_target(sha256=[]), r"targets\[0\].sha256: expected 64 hexadecimal digits, given \[\]"),
        (with_target(launch=[]), "launch: expected an object"),
        (with_target(registers=2**63), r"registers: expected an integer, 0 to 256"),
        (repacked(good, "manifest.json", b'{"pipelink_package": 2, "pipelink_package": 2}'), "two values of key"),
        (repacked(good, "manifest.json", b'{"pipelink_package": Infinity}'), "Infinity is no number"),
        (repacked(good, "manifest.json", b'{"pipelink_package": -NaN}'), "not a linked kernel"),
        (repacked(good, "manifest.json", b'{"pipelink_package": ' + b"9" * 5000 + b"}"), "a number of 5000 digits"),
        (repacked(good, "manifest.json", b"\xff\xfe"), "bad-package"),
        (good[:-2] + b"\1\0x", "no directory of a zip at its end"),
    ]:
        with pytest.raises(LinkError, match=message) as caught:
            read(data)
        assert caught.value.diagnostics[0].id == "bad-package"


def test_two_members_of_one_name() -> None:
    buffer = io.BytesIO(package_bytes("fill", images("sm_90a")))
    with zipfile.ZipFile(buffer, "a") as archive, pytest.warns(UserWarning, match="Duplicate name"):
        archive.writestr("sm_90a.cubin", b"other")
    with pytest.raises(LinkError, match="two members have one name"):
        read(buffer.getvalue())


def test_two_targets_of_one_architecture() -> None:
    (image,) = images("sm_90a")
    with pytest.raises(LinkError, match="kernel 'fill' twice for one architecture"):
        package_bytes("fill", [image, image])
    data = package_bytes("fill", [image, *images("sm_90")])
    text = zipfile.ZipFile(io.BytesIO(data)).read("manifest.json").replace(b'"sm_90"', b'"sm_90a"')
    with pytest.raises(LinkError, match="two targets of one architecture"):
        read(repacked(data, "manifest.json", text))


def test_two_kernels_of_one_name() -> None:
    entry = PackageEntry("fill", tuple(images("sm_90a")), {})
    with pytest.raises(LinkError, match="duplicate-name"):
        package_kernels([entry, entry])
    data = package_kernels([entry, replace(entry, name="other")])
    text = zipfile.ZipFile(io.BytesIO(data)).read("manifest.json").replace(b'"other"', b'"fill"')
    with pytest.raises(LinkError, match="two kernels have one name"):
        read(repacked(data, "manifest.json", text))


def test_several_kernels() -> None:
    data = package_kernels([PackageEntry(name, tuple(images("sm_90a", "sm_80")), {}) for name in ("fill", "drain")])
    assert sorted(zipfile.ZipFile(io.BytesIO(data)).namelist()) == [
        *("drain.sm_80.cubin", "drain.sm_90a.cubin", "fill.sm_80.cubin", "fill.sm_90a.cubin", "manifest.json")
    ]
    assert runtime.load(data, "drain").name == runtime.load(data, kernel="drain").name == "drain"
    assert list(runtime.load_all(data)) == ["fill", "drain"]
    with pytest.raises(LinkError, match="holds 2 kernels: fill, drain") as caught:
        runtime.load(data)
    assert caught.value.diagnostics[0].id == "no-kernel"
    with pytest.raises(LinkError, match="holds no kernel 'drian'; it has fill, drain") as caught:
        runtime.load(data, "drian")
    assert caught.value.diagnostics[0].hint == "did you mean 'drain'?"


def test_a_member_of_several_targets_is_read_once(tmp_path: Path) -> None:
    """Four targets that name one large member: in less address space than four copies of it take."""
    code = bytes(160 << 20)
    one = package_bytes("fill", [PackageImage("sm_80", code, LAUNCH, 32, "13.0")])
    manifest = json.loads(zipfile.ZipFile(io.BytesIO(one)).read("manifest.json"))
    (target,) = manifest["kernels"][0]["targets"]
    manifest["kernels"][0]["targets"] = [{**target, "arch": arch} for arch in ("sm_80", "sm_86", "sm_89", "sm_90")]
    with zipfile.ZipFile(tmp_path / "shared.plk", "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        archive.writestr("manifest.json", json.dumps(manifest))
        archive.writestr("sm_80.cubin", code)
    program = (
        "import resource, sys\n"
        "from pipelink import runtime\n"
        f"resource.setrlimit(resource.RLIMIT_AS, ({620 << 20}, {620 << 20}))\n"
        "print(len(runtime.load(sys.argv[1]).package.targets))\n"
    )
    command = [sys.executable, "-c", program, tmp_path / "shared.plk"]
    environment = {**os.environ, "PYTHONPATH": str(Path(runtime.__file__).parents[2])}
    assert subprocess.run(command, capture_output=True, check=True, env=environment).stdout == b"4\n"


def test_limits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    good = package_bytes("fill", images("sm_90a", "sm_80"))
    monkeypatch.setattr(package, "PACKAGE_CODE", 28)
    with pytest.raises(LinkError, match=r"'sm_80.cubin' is 14 B, expected at most 13"):
        read(package_bytes("fill", images("sm_90a", "sm_80")))
    with zipfile.ZipFile(tmp_path / "names.plk", "w") as archive:
        for number in range(10_000):
            archive.writestr(f"{number:060}", b"")
    with zipfile.ZipFile(tmp_path / "lzma.plk", "w", zipfile.ZIP_LZMA) as archive:
        archive.writestr("manifest.json", b"{}")
    (tmp_path / "large.plk").write_bytes(repacked(good, "manifest.json", b" " * (9 << 20)))
    (tmp_path / "huge.plk").touch()
    os.truncate(tmp_path / "huge.plk", 1 << 40)
    for name, message in [
        ("names", "a directory of more than 1048576 B"),
        ("lzma", "packed in a way other than stored and deflated"),
        ("large", "'manifest.json' is 9437184 B, expected at most 8388608"),
        ("huge", "too large: it has 1,099,511,627,776 bytes"),
    ]:
        with pytest.raises(LinkError, match=message):
            read(tmp_path / f"{name}.plk")


def test_a_device_that_never_ends() -> None:
    with pytest.raises(LinkError, match="oversized-input"):
        runtime.load("/dev/zero")


def test_every_damaged_byte_is_refused_or_harmless() -> None:
    good = package_bytes("fill", images("sm_90a"))
    for position in range(len(good)):
        damaged = bytearray(good)
        damaged[position] ^= 0x5A
        assert _outcome(bytes(damaged)) in ("bad-package", "cubin of sm_90a")


def _outcome(data: bytes) -> str:
    try:
        return read(data).kernels[0].targets[0].cubin.decode()
    except LinkError as problem:
        return problem.diagnostics[0].id


def test_an_unreadable_file(tmp_path: Path) -> None:
    with pytest.raises(LinkError, match="unreadable-input"):
        runtime.load(tmp_path / "none.plk")
    with pytest.raises(LinkError, match="unreadable-input"):
        runtime.load(tmp_path)


def test_a_package_without_images() -> None:
    with pytest.raises(LinkError, match=r"kernels\[0\].targets: expected a list of 1 to 64 items"):
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


def test_images_that_name_other_operations_are_refused() -> None:
    operation = {"name": "scale", "opcode": 0, "bytes": 0, "operands": []}
    first, second = images("sm_90a", "sm_80")
    one = replace(first, launch={**LAUNCH, "operations": [operation]})
    other = replace(second, launch={**LAUNCH, "operations": [{**operation, "opcode": 1}]})
    assert len(read(package_bytes("fill", [one, replace(other, launch=one.launch)])).kernels[0].targets) == 2
    with pytest.raises(LinkError, match=r"two targets of kernel 'fill' have other operations.*\[bad-package\]"):
        read(package_bytes("fill", [one, other]))
