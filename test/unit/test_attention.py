"""Attention's variants consist of the same objects, and parts that do not fit together are refused."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from dataclasses import replace

import pytest

import pipelink
from benchmarks.attention import placement
from pipelink.backend import nvjitlink
from pipelink.components.attention import SHAPES, add_attention
from pipelink.components.gemm import Composer
from pipelink.link import Observer
from pipelink.objects import read_objects
from test.compositions import COMPOSITIONS, Objects, compose

NAMES = [name for name in COMPOSITIONS if name.startswith("attention-")]


@pytest.fixture
def linked_images(monkeypatch: pytest.MonkeyPatch) -> list[set[str]]:
    """SHA-256 of the LTO images of every link, as nvJitLink is given them."""
    found: list[set[str]] = []
    link = nvjitlink.link

    def record(images: list[nvjitlink.Image], arch: str, **options: bool) -> nvjitlink.Linked:
        if images[0].name == "entry":  # the link, not the audit of an object beside it
            found.append({hashlib.sha256(image.data).hexdigest() for image in images})
        return link(images, arch, **options)

    monkeypatch.setattr(nvjitlink, "link", record)
    return found


def test_variants_are_linked_from_one_core(objects: Objects, linked_images: list[set[str]]) -> None:
    """Each composition takes one core, and the images that its object holds are what is linked: of every core the first
    and the last composition show it."""
    cores: dict[str, list[str]] = defaultdict(list)
    for name in NAMES:
        if name.startswith("attention-merge"):  # a kernel without a core
            continue
        own = replace(objects, made={})
        compose(name, own)
        (core,) = (source for source in own.made if source.startswith("attention_core"))
        cores[core].append(name)
    for core, names in cores.items():
        (image,) = read_objects(objects[core])[0].images
        before = objects[core].read_bytes()
        linked_images.clear()
        for name in {names[0], names[-1]}:
            watch = Observer(keep=lambda *_: None)  # the cache may know the objects; the kernel is linked anew
            assert compose(name, objects).link(cache=objects.cache, observer=watch)["sm_90a"].audit.ok
        assert linked_images
        assert all(image.sha256 in found for found in linked_images)
        assert objects[core].read_bytes() == before
    assert len(cores["attention_core"]) > 12


def test_the_picture_of_the_placement_is_of_today(objects: Objects) -> None:
    assert placement.PICTURE.read_text() == placement.picture(objects), "draw it with benchmarks/attention/placement.py"


def partly(objects: Objects, core: str, loader: str, walker: str, score: str | None = None) -> pipelink.Kernel:
    """Core, loader and walker, connected, and a score."""
    kernel = pipelink.Kernel("attention", target="sm_90a")
    c = kernel.add(objects[SHAPES[int(core)].source.format(e="")], f"attention_core_{core}", name="core")
    load = kernel.add(objects["attention_loader"], f"attention_loader_{loader}", name="load")
    walk = kernel.add(objects["attention_walkers"], walker)
    for port in ("q", "k", "v"):
        kernel.connect(getattr(load, port), getattr(c, port))
    for role in (load, c):
        kernel.connect(role.work, walk.next)
        kernel.connect(role.blocks, walk.blocks)
    if score:
        kernel.connect(c.score, kernel.add(objects["attention_scores"], score, name="change").score)
    return kernel


@pytest.mark.parametrize(
    ("core", "walker", "message"),
    [
        ("256", "attention_dense_128", "plc_block_keys = 128"),
        ("128", "attention_dense_128_k64", "plc_block_keys = 64"),
        ("64", "attention_causal_128", "plc_tile_queries = 128"),
        ("256", "attention_causal_192", "plc_tile_queries = 192"),
    ],
)
def test_walkers_of_another_shape_are_refused(objects: Objects, core: str, walker: str, message: str) -> None:
    with pytest.raises(pipelink.LinkError, match=message):
        partly(objects, core, core, walker).link(cache=False)


@pytest.mark.parametrize("loader", ["64", "128_f16"])
def test_values_of_another_dimension_or_element_are_refused(objects: Objects, loader: str) -> None:
    with pytest.raises(pipelink.LinkError, match="'@load::@v' and '@core::@v' do not fit"):
        partly(objects, "128", loader, "attention_dense_128").link(cache=False)


def test_a_score_for_other_blocks_is_refused(objects: Objects) -> None:
    with pytest.raises(pipelink.LinkError, match="'@core::@score' and '@change::@score' do not fit"):
        partly(objects, "256", "256", "attention_dense_128_k64", "attention_plain").link(cache=False)


@pytest.mark.parametrize("score", ["attention_alibi", "attention_bias_bf16"])
def test_scores_by_place_want_to_know_what_rows_are(objects: Objects, score: str) -> None:
    kernel = pipelink.Kernel("attention", target="sm_90a")
    core = kernel.add(objects["attention_core"], "attention_core_128")
    kernel.connect(core.score, kernel.add(objects["attention_scores"], score).score)
    with pytest.raises(pipelink.LinkError, match=r"plc_rows = .queries., .*nothing promises it"):
        kernel.link(cache=False)


@pytest.mark.parametrize("score", ["alibi", "bias_f32"])
def test_scores_by_place_are_refused_where_keys_are_those_of_peers(objects: Objects, score: str) -> None:
    kernel = pipelink.Kernel("attention", target="sm_90a")
    add_attention(Composer(kernel, objects), "context-causal", 128, gpus=2, score=score)
    with pytest.raises(pipelink.LinkError, match=r"plc_rows = .queries., .* promises .sharded."):
        kernel.link(cache=False)


def test_walker_and_loader_of_a_shared_sequence_go_together(objects: Objects) -> None:
    kernel = pipelink.Kernel("attention", target="sm_90a")
    load = kernel.add(objects["attention_loader"], "attention_loader_128")
    walk = kernel.add(objects["attention_context"], "attention_context_dense_128")
    kernel.connect(load.work, walk.next)
    with pytest.raises(pipelink.LinkError, match=r"plc_keys = .sharded., .*nothing promises it"):
        kernel.link(cache=False)


@pytest.mark.parametrize(
    ("variant", "dimension", "page", "gpus"),
    [("paged", 128, 16, None), ("context", 128, None, 2), ("dense", 256, None, None)],
)
def test_bytes_are_neither_in_pages_nor_elsewhere_nor_of_large_heads(
    objects: Objects, variant: str, dimension: int, page: int | None, gpus: int | None
) -> None:
    c = Composer(pipelink.Kernel("attention"), objects)
    with pytest.raises(ValueError, match="kv 'e4m3' is there for heads of up to 128"):
        add_attention(c, variant, dimension, page=page, gpus=gpus, kv="e4m3")


def test_bytes_have_to_be_widened(objects: Objects) -> None:
    kernel = pipelink.Kernel("attention", target="sm_90a")
    core = kernel.add(objects["attention_core"], "attention_core_128", name="core")
    load = kernel.add(objects["attention_e4m3"], "attention_loader_e4m3_1_128", name="load")
    kernel.connect(load.v, core.v)
    with pytest.raises(pipelink.LinkError, match="'@load::@v' and '@core::@v' do not fit"):
        kernel.link(cache=False)
