"""nvJitLink's failures become diagnostics that name symbols and origins."""

from __future__ import annotations

import pytest

from pipelink.backend import nvjitlink, toolchain
from pipelink.backend.nvjitlink import Image
from pipelink.support.diagnostics import Diagnostic, LinkError

KERNEL = 'extern "C" __global__ void k(int* p) { *p = 1; }'


def image(name: str, source: str, arch: str = "sm_90a") -> Image:
    return Image(name, toolchain.compile_ltoir(source, name, arch))


def failure(*images: Image) -> Diagnostic:
    with pytest.raises(LinkError) as caught:
        nvjitlink.link(images, "sm_90a")
    assert len(caught.value.diagnostics) == 1
    return caught.value.diagnostics[0]


def test_links_and_keeps_the_log() -> None:
    linked = nvjitlink.link([image("k.cu", KERNEL)], "sm_90a")
    assert linked.data.startswith(b"\x7fELF")
    assert "Used" in linked.log
    assert linked.seconds > 0
    assert ".target sm_90a" in nvjitlink.link([image("k.cu", KERNEL)], "sm_90a", ptx=True).data.decode()


def test_unreferenced_globals_are_dropped() -> None:
    linked = nvjitlink.link([image("k.cu", KERNEL + " extern const __device__ int t[64] = {1, 2, 3};")], "sm_90a")
    assert "0 bytes gmem" in linked.log


def test_unresolved_symbol_is_demangled() -> None:
    found = failure(image("k.cu", "namespace n { __device__ int z(int); } " + KERNEL.replace("1", "n::z(*p)")))
    assert found.id == "unresolved-symbol"
    assert "'n::z'" in found.message


@pytest.mark.parametrize("others", [(), ("d.cu",)])
def test_duplicate_symbol_names_both_origins(others: tuple[str, ...]) -> None:
    one = "namespace n { __device__ int q(int i, void*) { return i; } } "
    images = [image("a.cu", one), *(image(name, "__device__ int u(int i) { return i; }") for name in others)]
    found = failure(*images, image("b.cu", one.replace("return i", "return -i") + KERNEL))
    assert found.id == "duplicate-symbol"
    assert found.message == "'n::q' is defined in 'a.cu' and 'b.cu'"
    assert found.hint


def test_newer_architecture_is_refused() -> None:
    found = failure(image("k.cu", KERNEL, "sm_100a"))
    assert found.id == "arch-mismatch"
    assert "'k.cu'" in found.message


def test_garbage_is_refused() -> None:
    found = failure(Image("junk.o", b"not LTO-IR"))
    assert found.id == "nvjitlink-failed"
    assert "'junk.o'" in found.message


@pytest.mark.parametrize(
    ("symbol", "plain"),
    [
        ("_ZN4acme6loader2ab10pl_acquireEiPv", "acme::loader::ab::pl_acquire"),
        ("memcpy", "memcpy"),
        ("_ZN4ac", "_ZN4ac"),
    ],
)
def test_demangle(symbol: str, plain: str) -> None:
    assert nvjitlink.demangle(symbol) == plain
