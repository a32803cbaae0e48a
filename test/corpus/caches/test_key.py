# KIND: a key that misses an input (contract, toolkit, arch suffix, option)
# DECIDED: prevented
"""Everything that can change a link is in its key; test/unit/link/test_link.py adds the objects and the sources."""

from dataclasses import replace
from importlib import metadata
from pathlib import Path

import pytest

from pipelink.link import Request, key, key_of
from pipelink.objects import Contract, Object, from_ltoir

KERNEL = b'module @k attributes {pipelink.kernel = {target = "sm_90a"}} {}'


def made(bytes_: bytes = b"code", arch: str = "sm_80", type_: str = "f32") -> Object:
    contract = Contract("lib::scale").answers("apply", "void(f32[4]&)").param("factor", type_)
    return from_ltoir({arch: bytes_}, contract)


REQUEST = Request(KERNEL, (made(),), target="sm_90a")


@pytest.mark.parametrize(
    "changed",
    [
        replace(REQUEST, objects=(made(type_="i32"),)),
        replace(REQUEST, objects=(made(b"cod3"),)),
        replace(REQUEST, objects=(made(arch="sm_90"),)),
        replace(REQUEST, target="sm_90"),
        replace(REQUEST, options=("-ftz=true",)),
        replace(REQUEST, passes="check,place{objective=min-smem},fuse"),
        replace(REQUEST, text=KERNEL + b" "),
    ],
    ids=["contract", "code", "architecture", "suffix", "option", "pass option", "kernel"],
)
def test_another_input_is_another_key(changed: Request) -> None:
    assert key_of(REQUEST) == key_of(replace(REQUEST, objects=(made(),)))
    assert key_of(changed) != key_of(REQUEST)


def test_another_toolkit_is_another_key(monkeypatch: pytest.MonkeyPatch) -> None:
    before = key_of(REQUEST)
    versions = dict(key.tool_versions())
    for tool in versions:
        monkeypatch.setattr(key, "tool_versions", lambda tool=tool: tuple({**versions, tool: "0.0"}.items()))
        assert key_of(REQUEST) != before


def test_a_file_that_an_option_names_is_in_the_key(tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    first.write_text(f"--options-file={second}")
    second.write_text("-O3")
    request = replace(REQUEST, options=(f"-Xptxas=--options-file={first}",))
    before = key_of(request)
    assert key_of(request) == before
    second.write_text("-O0")
    assert key_of(request) != before


def test_a_toolkit_that_is_no_wheel_is_the_file_that_is_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> str:
        raise metadata.PackageNotFoundError(name)

    program = tmp_path / "nvdisasm"
    program.write_text("#!/bin/sh")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(metadata, "version", missing)
    found = dict(key.tool_versions.__wrapped__())
    assert found["nvidia-cuda-nvdisasm"].startswith(str(program))
    assert "libnvJitLink.so" in found["nvidia-nvjitlink"]
    assert found["networkx"] == "missing"
    program.write_text("#!/bin/bash")
    assert dict(key.tool_versions.__wrapped__())["nvidia-cuda-nvdisasm"] != found["nvidia-cuda-nvdisasm"]
