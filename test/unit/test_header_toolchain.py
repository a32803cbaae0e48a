"""The compiler in the process: what is missing is said, and dependencies are found."""

import sys
from pathlib import Path

import pytest

from pipelink.audit import contract
from pipelink.backend import includes, toolchain
from pipelink.objects import Image, fatbin
from pipelink.support.diagnostics import LinkError


def test_tools_and_headers_are_found() -> None:
    own, cuda, cccl = toolchain.include_dirs()
    assert (own / "pipelink" / "component.cuh").is_file()
    assert (cuda / "cuda_bf16.h").is_file()
    assert (cccl / "cuda" / "std").is_dir()
    assert toolchain.nvdisasm().is_file()
    assert toolchain.cuobjdump().is_file()
    assert toolchain.toolkit_version().startswith("13.")


def test_missing_wheels_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("nvrtc", "nvjitlink", "nvfatbin"):
        monkeypatch.setitem(sys.modules, f"cuda.bindings.{name}", None)
    image = Image("sm_80", "ltoir", "", b"")
    for use, wheel in (
        (lambda: toolchain.compile_ltoir("", "x.cu", "sm_80"), "nvidia-cuda-nvrtc"),
        (lambda: contract.device_records(image), "nvidia-nvjitlink"),
        (lambda: fatbin.pack([image], "x"), "nvidia-nvfatbin"),
    ):
        with pytest.raises(LinkError) as caught:
            use()
        problem = caught.value.diagnostics[0]
        assert problem.id == "toolchain-missing"
        assert problem.hint is not None
        assert wheel in problem.hint


def test_unknown_options_are_errors() -> None:
    with pytest.raises(LinkError) as caught:
        toolchain.compile_ltoir("", "x.cu", "sm_80", options=["--frobnicate"])
    assert caught.value.diagnostics[0].id == "compile-error"
    assert "frobnicate" in caught.value.diagnostics[0].message + caught.value.diagnostics[0].notes[-1].message


def test_dependency_file(tmp_path: Path) -> None:
    (tmp_path / "a dir").mkdir()
    (tmp_path / "x.cu").write_text('#include "near.cuh"\n#  include <far.cuh>\n#include <none.cuh>\n#include <sys.h>\n')
    (tmp_path / "near.cuh").write_text('#include "near.cuh"\n')
    (tmp_path / "a dir" / "far.cuh").write_text("#include <near.cuh>\n")
    (tmp_path / "sys").mkdir()
    (tmp_path / "sys" / "sys.h").write_text("")
    headers = includes.find_headers(tmp_path / "x.cu", [tmp_path / "a dir"], [tmp_path / "sys"])
    assert headers == [tmp_path / "near.cuh", tmp_path / "a dir" / "far.cuh"]
    rule = includes.depfile("x.o", Path("x.cu"), [Path("near.cuh"), Path("a dir/far.cuh")])
    assert rule == "x.o: x.cu \\\n  near.cuh \\\n  a\\ dir/far.cuh\n\nnear.cuh:\n\na\\ dir/far.cuh:\n"
