"""Links through the orchestration: the cache key's inputs, many processes, refusals, what an observer sees."""

import importlib.metadata
import json
import multiprocessing
import re
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from pipelink.backend import sass, toolchain
from pipelink.backend.cache import Cache
from pipelink.link import LinkedTarget, Observer, Request, emit, key, key_of, link
from pipelink.link.objects import begin
from pipelink.link.result import decode
from pipelink.link.steps import pipeline
from pipelink.objects import Object, read_objects
from pipelink.passes.pipeline import pass_name
from pipelink.support.diagnostics import Diagnostics, LinkError, error
from pipelink.tools.console import Console
from pipelink.tools.pl_link import _Progress, parser

KERNEL = b"""
module @filled attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "fill", component = @test.fill} : () -> ()
  "pipelink.instance"() {sym_name = "value", component = @test.ramp} : () -> ()
  "pipelink.connect"() {source = @fill::@value, target = @value::@value} : () -> ()
}
"""


@pytest.fixture
def request_(fill: Path, values: Path) -> Request:
    return Request(KERNEL, (fill, values))


# ---------------------------------------------------------------------------------------------------- the cache key
@pytest.mark.parametrize(
    "change",
    [
        {"text": KERNEL + b"\n"},
        {"kernel": "filled"},
        {"target": "sm_90"},
        {"target": "sm_90a"},
        {"passes": "check,place{objective=min-smem},fuse"},
        {"lineinfo": True},
        {"options": ("-maxrregcount=64",)},
    ],
    ids=["text", "kernel", "target", "target suffix", "passes", "lineinfo", "options"],
)
def test_every_field_is_in_the_key(request_: Request, change: dict[str, object]) -> None:
    assert key_of(replace(request_, **change)) != key_of(request_)


def test_targets_that_differ_in_their_suffix_have_different_keys(request_: Request) -> None:
    assert len({key_of(replace(request_, target=arch)) for arch in ("sm_90", "sm_90a", "sm_100a", "sm_100f")}) == 4


def test_the_objects_bytes_are_in_the_key(request_: Request, tmp_path: Path) -> None:
    changed = tmp_path / "fill.o"
    data = bytearray(request_.objects[0].read_bytes())
    changed.write_bytes(data)
    same = replace(request_, objects=(changed, request_.objects[1]))
    assert key_of(same) == key_of(request_)  # the name does not matter
    data[-1] ^= 1
    changed.write_bytes(data)
    assert key_of(same) != key_of(request_)
    assert key_of(replace(request_, objects=request_.objects[:1])) != key_of(request_)


def test_contracts_and_code_in_memory_are_in_the_key(fill: Path) -> None:
    (item,) = read_objects(fill)
    base = key_of(Request(KERNEL, (item,)))
    assert key_of(Request(KERNEL, (read_objects(fill)[0],))) == base
    image = item.images[0]
    for changed in (
        replace(image, data=image.data + b"x"),
        replace(image, arch="sm_90"),
        replace(image, toolkit="12.9"),
    ):
        assert key_of(Request(KERNEL, (replace(item, images=(changed,)),))) != base
    component = item.components[0]
    record = replace(component.records[-1], text=component.records[-1].text + b" ")
    other = replace(component, records=(*component.records[:-1], record))
    assert key_of(Request(KERNEL, (replace(item, components=(other,)),))) != base


def test_tools_and_sources_are_in_the_key(request_: Request, monkeypatch: pytest.MonkeyPatch) -> None:
    base = key_of(request_)
    versions = dict(key.tool_versions())
    for tool in versions:
        changed = tuple({**versions, tool: "0.0"}.items())
        monkeypatch.setattr(key, "tool_versions", lambda changed=changed: changed)
        assert key_of(request_) != base, tool
    monkeypatch.undo()
    monkeypatch.setattr(key, "source_digest", lambda: "another version of the passes or the transfers")
    assert key_of(request_) != base


def test_files_that_options_name_are_in_the_key(request_: Request, tmp_path: Path) -> None:
    options, more = tmp_path / "options.txt", tmp_path / "more.txt"
    named = replace(request_, options=(f"-Xptxas=--options-file={options}",))
    keys = {key_of(named)}
    options.write_text("-maxrregcount 64")
    keys.add(key_of(named))
    options.write_text(f"--options-file {more}")
    keys.add(key_of(named))
    more.write_text("-maxrregcount 32")
    keys.add(key_of(named))
    assert len(keys) == 4
    key_of(replace(request_, options=("-Xptxas=" + "a" * 5000,)))  # a name that no file has


def test_a_toolkit_that_is_no_wheel_is_known_by_its_file(monkeypatch: pytest.MonkeyPatch) -> None:
    known = importlib.metadata.version

    def version(name: str) -> str:
        if name in ("nvidia-nvjitlink", "networkx"):
            raise importlib.metadata.PackageNotFoundError(name)
        return known(name)

    monkeypatch.setattr(importlib.metadata, "version", version)
    key.tool_versions.cache_clear()
    try:
        found = dict(key.tool_versions())
    finally:
        key.tool_versions.cache_clear()
    assert re.fullmatch(r".*nvJitLink.* \d+ bytes, \d+", found["nvidia-nvjitlink"])
    assert found["networkx"] == "missing"
    assert {"nvidia-cuda-crt", "nvidia-cuda-cccl", "pyelftools"} < found.keys()


def test_the_source_digest_covers_passes_transfers_and_headers(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []
    original = Path.read_bytes

    def read_bytes(path: Path) -> bytes:
        read.append(path.name)
        return original(path)

    monkeypatch.setattr(Path, "read_bytes", read_bytes)
    key.source_digest.__wrapped__()
    assert {"steps.py", "place.py", "ring.cu", "component.cuh", "dialect.irdl"} <= set(read)


# ------------------------------------------------------------------------------------------------------------ links
def test_a_link_is_cached(request_: Request, tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    watch = Observer()
    first = link(request_, cache=cache, observer=watch)
    assert not first.cached
    assert first.audit.ok
    steps = [name for name, _ in watch.times]
    assert [s for s in steps if not s.startswith("NVRTC")] == [
        "read", "check", "place", "transfer", "fold", "entry", "libNVVM", "nvJitLink sm_90a", "audit",
    ] or steps[0] == "cache key"  # fmt: skip
    second = link(request_, cache=cache, observer=Observer())
    assert second.cached
    assert replace(second, cached=False) == first
    whole = cache.load(key_of(request_))
    assert whole is not None
    meta = json.loads(whole["meta.json"])
    others = [{**whole, "meta.json": json.dumps({**meta, name: 1}).encode()} for name in meta]
    for other in [{}, {"meta.json": b"[]"}, {**whole, "log": b"\xff"}, {**whole, "cubin": b"MZ"}, *others]:
        with pytest.raises(ValueError):  # noqa: PT011
            decode(other)
    cache.store(key_of(request_), {})
    assert not link(request_, cache=cache).cached


def test_an_object_is_verified_once(request_: Request, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from pipelink.audit import contract

    seen: list[str] = []
    original = contract.verify

    def verify(item: Object, *arguments: object, **options: object) -> None:
        seen.append(Path(item.path).name)
        original(item, *arguments, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(contract, "verify", verify)
    link(request_, cache=Cache(tmp_path))
    link(replace(request_, lineinfo=True), cache=Cache(tmp_path))
    assert sorted(seen) == sorted(path.name for path in request_.objects if isinstance(path, Path))
    link(request_)
    assert len(seen) == 4


def test_an_object_is_audited_once(request_: Request, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """For what the kernel takes of it: another component of the same object is another audit."""
    from pipelink.audit import objects

    seen: list[tuple[str, ...]] = []
    original = objects.audit

    def audit(item: Object, *arguments: object, **options: object) -> object:
        seen.append(tuple(sorted({component.symbol for component in item.components} & set(options["only"]))))  # type: ignore[call-overload]
        return original(item, *arguments, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(objects, "audit", audit)
    link(request_, cache=Cache(tmp_path))
    link(replace(request_, lineinfo=True), cache=Cache(tmp_path))
    first = list(seen)
    assert sorted(seen) == [("test.fill",), ("test.ramp",)]
    link(replace(request_, text=KERNEL.replace(b"@test.ramp", b"@test.constant")), cache=Cache(tmp_path))
    assert seen[len(first) :] == [("test.constant",)]


def test_work_beside_the_link() -> None:
    seen = Diagnostics()
    join = begin(lambda diagnostics: diagnostics.warning("unused-resource", "buffer"), seen)
    join()
    assert [item.id for item in seen.items] == ["unused-resource"]
    with pytest.raises(LinkError, match="unused-port"):
        begin(lambda diagnostics: diagnostics.error("unused-port", "port"), Diagnostics())()

    def fails(_: Diagnostics) -> None:
        raise error("nvjitlink-failed", "no")

    with pytest.raises(LinkError, match="nvjitlink-failed"):
        begin(fails, Diagnostics())()


def test_work_without_a_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    seen = Diagnostics()
    begin(lambda diagnostics: diagnostics.warning("unused-resource", "buffer"), seen)()
    assert [item.id for item in seen.items] == ["unused-resource"]
    console = Console("pl-link")
    with _Progress(parser().parse_args(["-v", "k.mlir"]), console):
        pass


def linked_by(request: Request, folder: Path, results: "multiprocessing.Queue[tuple[bytes, bool]]") -> None:
    found: LinkedTarget = link(request, cache=Cache(folder))
    results.put((found.cubin, found.cached))


def test_sixteen_processes_link_once(request_: Request, tmp_path: Path) -> None:
    context = multiprocessing.get_context("fork")
    results = context.Queue()
    processes = [context.Process(target=linked_by, args=(request_, tmp_path, results)) for _ in range(16)]
    for process in processes:
        process.start()
    found = [results.get(timeout=120) for _ in processes]
    for process in processes:
        process.join(60)
        assert process.exitcode == 0
    assert len({cubin for cubin, _ in found}) == 1
    assert [cached for _, cached in found].count(False) == 1


def test_one_object_twice_is_taken_once(request_: Request) -> None:
    fill, values = request_.objects
    assert link(replace(request_, objects=(fill, values, fill))).audit.ok


def test_an_observer_that_keeps_sees_every_stage(request_: Request) -> None:
    kept: dict[str, str | bytes] = {}
    link(request_, observer=Observer(keep=kept.__setitem__))
    names = {name.removeprefix("sm_90a.") for name in kept}
    assert {"placed.mlir", "fused.mlir", "entry.ll", "entry.ltoir", "cubin", "log"} <= names
    assert "pipelink.placement" in str(kept["sm_90a.placed.mlir"])
    assert "nvvm.kernel" in str(kept["sm_90a.fused.mlir"])


def test_kernels_are_chosen_by_name(request_: Request) -> None:
    two = KERNEL + KERNEL.replace(b"@filled", b"@other")
    with pytest.raises(LinkError, match="holds 2 kernels: filled, other"):
        link(replace(request_, text=two))
    assert link(replace(request_, text=two, kernel="other")).name == "other"
    with pytest.raises(LinkError, match="holds no kernel 'othr'") as caught:
        link(replace(request_, text=two, kernel="othr"))
    assert caught.value.diagnostics[0].hint == "did you mean 'other'?"
    with pytest.raises(LinkError, match="holds no kernel"):
        link(replace(request_, text=b"module {}"))


@pytest.mark.parametrize(
    ("passes", "before", "after"),
    [
        ("check,place,fuse", "check place", "prove transfer fold entry"),
        ("prove,place,check,place{objective=min-smem},entry", "prove place check place", "entry"),
        ("transfer,fold,entry", "", "transfer fold entry"),  # placed before
        ("check,fuse", "check", "prove transfer fold entry"),
        ("check", "check", ""),
    ],
)
def test_where_a_pipeline_is_cut(request_: Request, passes: str, before: str, after: str) -> None:
    cut = pipeline(replace(request_, passes=passes))
    assert " ".join(map(pass_name, cut.before)) == before
    assert " ".join(map(pass_name, cut.after)) == after


def test_a_pipeline_without_place_is_refused(request_: Request) -> None:
    with pytest.raises(LinkError, match="does not place kernel 'filled'"):
        link(replace(request_, passes="check"))


def test_a_contract_without_an_object_cannot_be_linked(request_: Request, values: Path) -> None:
    declared = b"""
module @test.fill attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  "pipelink.port"() {sym_name = "value", direction = "calls", kind = "call", signature = "f32(i32)"} : () -> ()
}
"""
    with pytest.raises(LinkError, match=r"no object defines 'test.fill'") as caught:
        link(replace(request_, text=declared + KERNEL, objects=(values,)))
    assert caught.value.diagnostics[0].id == "no-object"


def test_a_body_that_spills_fails_the_audit(request_: Request, compiled: object, fill: Path) -> None:
    source = """
#include <pipelink/component.cuh>
PL_COMPONENT(test::ramp) {
PL_ANSWER(value, float(int));
PL_DEFINE(value)(pl::self, int i) -> float {
  float x[64];
  for (int k = 0; k < 64; ++k) x[k] = k * i;
  for (int k = 0; k < i; ++k) x[(k * i) & 63] += x[k & 63];
  return x[i & 63];
}
}
"""
    path = compiled(source, "spilling")  # type: ignore[operator]
    with pytest.raises(LinkError) as caught:
        link(replace(request_, objects=(fill, path)))
    assert {d.id for d in caught.value.diagnostics} == {"audit-stack", "audit-spill"}
    allowed = source.replace("PL_ANSWER(", "PL_STACK(256);\nPL_ANSWER(")
    assert link(replace(request_, objects=(fill, compiled(allowed, "allowed")))).audit.ok  # type: ignore[operator]


def test_the_monolith_is_one_translation_unit(request_: Request, sources: Path) -> None:
    text = str(emit(request_, "monolith", folders=[sources]).content)
    monolithic = toolchain.compile_cubin(text, "monolith.cu", "sm_90a")
    assert sass.compare(monolithic, link(request_).cubin) == []
    with pytest.raises(LinkError, match="source-not-found"):
        emit(request_, "monolith", folders=[sources / "none"])
