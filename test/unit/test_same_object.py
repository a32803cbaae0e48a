"""One object of the epilogue ``swiglu``, compiled once, is what the links for four architectures consist of.

Their mainloops keep accumulators in different places: in the registers of a warpgroup (sm_90a), in tensor memory
(sm_100a), in the registers of a warp (sm_80, sm_120a).
"""

from __future__ import annotations

import hashlib

import pytest

import pipelink
from pipelink.backend import nvjitlink
from pipelink.components import gemm
from pipelink.objects import read_objects
from test.compositions import Objects

MAINLOOPS = {
    "sm_80": "cp_async",
    "sm_90a": "wgmma_128x256x64",
    "sm_100a": "tcgen05_128x256x64",
    "sm_120a": "sm120_128x128x64",
}


def test_the_same_swiglu_is_in_the_links_for_four_architectures(
    objects: Objects, monkeypatch: pytest.MonkeyPatch
) -> None:
    linked: dict[str, set[str]] = {}
    link = nvjitlink.link

    def record(images: list[nvjitlink.Image], arch: str, **options: bool) -> nvjitlink.Linked:
        if images[0].name == "entry":  # the link, not the audit of an object beside it
            linked[arch] = {hashlib.sha256(image.data).hexdigest() for image in images}
        return link(images, arch, **options)

    monkeypatch.setattr(nvjitlink, "link", record)
    digests: set[str] = set()
    for arch, mainloop in MAINLOOPS.items():
        kernel = pipelink.Kernel("gemm", target=arch)
        gemm.add_gemm(gemm.Composer(kernel, objects), gemm.MAINLOOPS[mainloop], "swiglu", "grouped_tiles")
        assert kernel.link(cache=False)[arch].audit.ok
        digests.add(hashlib.sha256(objects["swiglu"].read_bytes()).hexdigest())
    (image,) = read_objects(objects["swiglu"])[0].images
    assert len(digests) == 1
    assert image.arch == "sm_80"
    assert linked.keys() == MAINLOOPS.keys()
    assert all(image.sha256 in found for found in linked.values())
