"""A component alone: the generated ends link, and a run gives the kernel what its launch contract takes."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pipelink import runtime, testing
from pipelink.runtime.contract import check_names, check_tensor, convert_scalar, infer_dimensions, resolve
from pipelink.runtime.tensors import TensorView, packed_strides
from pipelink.support.diagnostics import LinkError, Location
from pipelink.testing import run
from pipelink.testing.arrays import STORAGE
from pipelink.testing.bench import compile_object
from pipelink.testing.plan import Plan
from test.compositions import Objects

HEAD = "#include <pipelink/component.cuh>\n"
PAGE = "pl::stream<pl::row_major<pl::tile<float, 32, 32>>>"
DOUBLER = f"""{HEAD}
PL_COMPONENT(acme::doubler) {{
PL_ROLE(run, pl::warps<1>);
PL_IN(x, {PAGE}, pl::ring<2, 4>, pl::by_threads);
PL_OUT(y, {PAGE}, pl::ring<2, 4>, pl::by_threads);
PL_PARAM(pages, int);
PL_PROTOCOL(run, "repeat pages {{ x.wait; y.acquire; x.release; y.commit; }}");
PL_ENTRY(run) {{
  for (int i = 0; i < pages(self); ++i) {{
    pl::slot from = x::wait(self), to = y::acquire(self);
    for (int at = run::thread(self); at < 1024; at += 32)
      y::pointer<float>(self, to)[at] = 2 * x::pointer<float>(self, from)[at];
    x::release(self, from);
    y::commit(self, to);
  }}
}}
}}
"""


class Host:
    """Memory of a run that is the host's; ``kernel`` writes there what a kernel would."""

    def __init__(self) -> None:
        self.arrays: dict[int, Any] = {}

    def put(self, array: Any, element: str) -> TensorView:
        address = 1 << 20 | len(self.arrays) << 8
        self.arrays[address] = np.array(array, STORAGE[element])
        return TensorView(address, array.shape, packed_strides(array.shape), element, 0)

    def get(self, view: TensorView) -> Any:
        return self.arrays[view.pointer]

    def of(self, view: TensorView) -> Any:
        """The bytes behind a launch argument, to be changed."""
        return self.arrays[view.pointer].reshape(-1).view(np.uint8)


def prepared(
    bench: testing.LinkedBench, call_order: Sequence[str] | None = None, **arguments: Any
) -> tuple[Host, dict[str, Any], dict[str, Callable[[], Any]]]:
    """What a run hands to the launch, held against the launch contract."""
    kernel, memory = runtime.load(bench.package), Host()
    made = run._Run(bench.plan, kernel.contract.threads, memory, dict(arguments), call_order)
    made.prepare(kernel)
    contract, launch = kernel.contract, made.launch
    check_names(contract, list(launch))
    tensors = {name: launch[name] for name in contract.tensors}
    for name, argument in contract.tensors.items():
        check_tensor(contract, argument, tensors[name])
    dimensions = infer_dimensions(contract, tensors, {n: launch[n] for n in contract.dimensions if n in launch})
    scalars = {name: convert_scalar(a, launch[name]) for name, a in contract.scalars.items()}
    resolved = resolve(contract, tensors, scalars, dimensions, sms=132, occupancy=lambda: 1, capacity=lambda: 132)
    assert resolved.grid == (1, 1, 1)
    return memory, launch, made.results


@pytest.fixture(scope="module")
def doubler(tmp_path_factory: pytest.TempPathFactory) -> testing.LinkedBench:
    folder = tmp_path_factory.mktemp("bench")
    (folder / "doubler.cu").write_text(DOUBLER)
    linked = testing.Bench(folder / "doubler.cu").link()
    linked.save(folder / "doubler.bench")
    return testing.load(folder / "doubler.bench")


def test_a_stream_goes_in_and_comes_out(doubler: testing.LinkedBench) -> None:
    x = np.arange(3 * 1024, dtype=np.float32).reshape(3, 32, 32)
    memory, launch, results = prepared(doubler, x=x, pages=3)
    assert (memory.get(launch["pl_x_0"]) == x).all()
    assert (launch["pl_x_count"], launch["pl_y_limit"]) == (3, 3)
    memory.of(launch["pl_y_0"])[:] = (2 * x).reshape(-1).view(np.uint8)
    memory.of(launch["pl_y_taken"])[:4] = np.array([2], np.int32).view(np.uint8)
    assert (results["y"]() == 2 * x[:2]).all()
    memory.of(launch["pl_y_taken"])[:4] = np.array([5], np.int32).view(np.uint8)
    with pytest.raises(LinkError, match=r"port 'y' gave 5 items, expected at most 3 \[bench-overflow\]"):
        results["y"]()


def test_a_wait_has_a_limit_unless_told_otherwise(doubler: testing.LinkedBench, tmp_path: Path) -> None:
    assert runtime.load(doubler.package).contract.debug is not None
    (tmp_path / "doubler.cu").write_text(DOUBLER)
    plain = testing.Bench(tmp_path / "doubler.cu", feed="threads").link(hang_limit=0)
    assert runtime.load(plain.package).contract.debug is None
    assert not plain.plan.ports[0].copied


def test_calls_that_the_component_answers(objects: Objects) -> None:
    mean = testing.Bench(objects["streams"], "running_mean", threads=64).link()
    x = np.ones((4, 64), np.float32)
    memory, launch, results = prepared(mean, call_order=["reset", "add", "add", "reset", "add", "add"], add=x)
    assert memory.get(launch["pl_script"]).tolist() == [0, 1, 1, 0, 1, 1]
    memory.of(launch["pl_add_result"])[:] = (3 * x).reshape(-1).view(np.uint8)
    got = results["add"]()
    assert (got.result == 3 * x).all()
    assert got.arguments == (None,)
    with pytest.raises(LinkError, match=r"port 'add': call_order names it 1 times, and it is given 4 calls"):
        prepared(mean, call_order=["reset", "add"], add=x)
    with pytest.raises(LinkError, match=r"answers no call 'ad' \[unknown-argument\]"):
        prepared(mean, call_order=["ad"])
    with pytest.raises(LinkError, match=r"port 'add': expected \[calls, 64\] or \[calls\], given \[4, 32\]"):
        prepared(mean, add=x[:, :32])


def test_fragments_and_tensors_of_the_launch_contract(objects: Objects) -> None:
    """An epilogue: a fragment by reference, two numbers that all threads pass alike, and tensors."""
    epilogue = testing.Bench(objects["bias_relu"]).link()
    chunk = np.zeros((2, 32, 32), np.float32)
    bias, out = np.zeros(64, np.uint16), np.full((32, 64), 7, np.uint16)
    memory, launch, results = prepared(epilogue, store=(chunk, [0, 16], [0, 0]), bias=bias, out=out)
    assert memory.get(launch["pl_store_1"]).view(np.int32).tolist() == [0] * 32 + [16] * 32
    assert (results["out"]() == out).all()
    assert results["store"]().arguments[0].shape == (2, 32, 32)


def test_calls_that_the_component_makes(objects: Objects) -> None:
    """A mainloop: two tiles a slot by TMA, a scheduler's answers, and what it hands to its epilogue."""
    loop = testing.Bench(objects["wgmma_mainloop"], "wgmma_mainloop_128x128x64").link()
    ((first, count),) = loop.plan.threads
    assert count == 256
    a, b = np.zeros((4, 128, 64), np.uint16), np.zeros((4, 128, 64), np.uint16)
    work = np.array([[0, 0, 1], [0, 0, 0]], np.int32)
    memory, launch, results = prepared(loop, ab=(a, b), work=work, k_tiles=4)
    threads = runtime.load(loop.package).contract.threads
    answers = memory.get(launch["pl_work_result"]).view(np.int32).reshape(threads, 2, 3)
    assert (answers[first : first + count] == work).all()
    calls = memory.of(launch["pl_store_calls"]).view(np.int32)
    calls[first : first + count] = 2
    noted = memory.of(launch["pl_store_1"]).view(np.int32).reshape(threads, -1)
    noted[first : first + count, :2] = [5, 6]
    got = results["store"]()
    assert got.counts.tolist() == [2] * 256
    assert got.arguments[0].shape == (2, 256, 32)
    assert (got.arguments[1] == [[5], [6]]).all()
    calls[first] = 100
    with pytest.raises(LinkError, match=r"port 'store' was called 100 times, expected at most 64 \[bench-overflow\]"):
        results["store"]()


@pytest.mark.parametrize(
    ("source", "component", "arguments"),
    [
        ("streams", "weigh", {"work": np.zeros((3, 8), np.uint8), "total": np.zeros(1, np.int32)}),
        ("streams", "items", {"counts": np.array([3], np.int32), "work": 10}),
        ("streams", "column_max", {"x": np.zeros((2, 32, 32), np.float32), "maximum": np.zeros((2, 32), np.float32)}),
        ("rings", "turn", {"mine": 5, "other": 5, "order": np.zeros(10, np.int32), "who": 1}),
        ("gather", "row_writer", {"tiles": np.zeros((2, 64, 64), np.uint16), "y": np.zeros((99, 64), "u2")}),
        ("matvec", "weight_stream", {"weight": np.zeros((8, 1024), np.uint16), "w": 2}),
        ("staged_store", "staged_store", {"store": (np.zeros((1, 256, 32), "f4"), [0], [0]), "blocks": 1}),
    ],
)  # fmt: skip
def test_every_kind_of_port_links(objects: Objects, source: str, component: str, arguments: dict[str, Any]) -> None:
    bench = testing.Bench(objects[source], component, threads=256 if component == "staged_store" else 32).link()
    kernel = runtime.load(bench.package).contract
    for name in kernel.names - {*arguments}:
        if not name.startswith("pl_"):
            arguments[name] = 1
    prepared(bench, **arguments)


def test_tokens_go_in_turn(objects: Objects) -> None:
    """An mbarrier remembers one phase, so a token is passed again only when the component has passed its own."""
    bench = testing.Bench(objects["rings"], "turn").link()
    given: dict[str, Any] = {"order": np.zeros(10, np.int32), "who": 1}
    for mine, other, loops in ((5, 5, [0, 5, 0]), (4, 5, [1, 4, 0]), (5, 4, [0, 4, 1])):
        _, launch, _ = prepared(bench, mine=mine, other=other, **given)
        assert [launch[f"pl_mine_{name}"] for name in ("early", "rounds", "late")] == loops
    with pytest.raises(LinkError, match=r"'mine' is passed 5 times and 'other' taken 3 times: .* \[bench-overflow\]"):
        prepared(bench, mine=5, other=3, **given)
    alone = compile_object(
        f"{HEAD}PL_COMPONENT(t::x) {{ PL_ROLE(r, pl::warps<1>); PL_TOKEN_IN(x); "
        'PL_PROTOCOL(r, "x.take;"); PL_ENTRY(r) { x::take(self); } }', "x.cu", "sm_90a",
    )  # fmt: skip
    with pytest.raises(LinkError, match=r"port 'x' is passed 2 times, .* it can be passed once \[bench-overflow\]"):
        prepared(testing.Bench(alone).link(), x=2)
    prepared(testing.Bench(alone).link(), x=1)


@pytest.mark.parametrize(
    ("body", "settings", "said"),
    [
        ("PL_ANSWER(f, void(float*)); PL_DEFINE(f)(pl::self, float*) -> void {}", {}, "no array holds values of type"),
        ("PL_ANSWER(f, void()); PL_DEFINE(f)(pl::self) -> void {}", {"threads": 33}, "33 threads cannot make calls"),
        ("PL_ROLE(r, pl::warps<1>); PL_COUNTERS(c, \"1\"); PL_SIGNAL_OUT(s, c, gpu); PL_RESIDENT; "
         "PL_ENTRY(r) { s::add(self, 0); }", {}, "a signal has no end"),
        ("PL_ROLE(r, pl::warps<1>); PL_IN(x, pl::stream<pl::item<int>>, pl::ring<1, 2>, pl::by_threads); PL_ENTRY(r) "
         "{ x::release(self, x::wait(self)); }", {"feed": "tma"}, "none that one box of a tensor map brings"),
        ("PL_ROLE(r, pl::warps<1>); PL_CLUSTER(2); PL_TOKEN_IN(x); PL_ENTRY(r) { x::take(self); }", {},
         "'t::x' works in clusters of 2 CTAs, and the other ends of its ports are made for one"),
        ("PL_ROLE(r, pl::warps<1>); PL_IN(x, pl::stream<pl::swizzle32<pl::tile<float, 8, 32>>>, pl::ring<1, 2>, "
         "pl::by_threads); PL_ENTRY(r) { x::release(self, x::wait(self)); }", {}, "rows have 128 bytes"),
    ],
)  # fmt: skip
def test_what_has_no_other_end(body: str, settings: dict[str, Any], said: str) -> None:
    item = compile_object(f"{HEAD}PL_COMPONENT(t::x) {{ {body} }}", "x.cu", "sm_90a")
    with pytest.raises(LinkError, match=said) as caught:
        testing.Bench(item, **settings)
    assert caught.value.diagnostics[0].id == "bench-unsupported"


def test_a_component_in_a_cluster_is_one_cluster(objects: Objects) -> None:
    bench = testing.Bench(objects["exchange"], "read_by_four")
    assert bench.kernel.link()["sm_90a"].launch["grid"] == ["4", "1", "1"]


def test_a_port_and_a_tensor_of_one_name(objects: Objects) -> None:
    text = f"{HEAD}PL_COMPONENT(t::x) {{ PL_ROLE(r, pl::warps<1>); PL_IN(x, {PAGE}, pl::ring<1, 2>, pl::by_threads); "
    text += 'PL_PARAM(p, const float*); PL_TENSOR(x, float, "N", pl::read); PL_BIND(p, "x"); '
    text += "PL_ENTRY(r) { if (p(self)[0] > 0) x::release(self, x::wait(self)); } }"
    item = compile_object(text, "x.cu", "sm_90a")
    with pytest.raises(LinkError, match=r"tensor 'x' and a port have one name \[duplicate-name\]") as caught:
        testing.Bench(item)
    assert caught.value.diagnostics[0].hint == 'rename it: Bench(…, x="x_tensor")'
    testing.Bench(item, x="x_tensor")


def test_what_a_run_lacks(doubler: testing.LinkedBench) -> None:
    with pytest.raises(LinkError, match=r"port 'x' of 'acme::doubler': an array of items .* \[missing-argument\]"):
        prepared(doubler)
    with pytest.raises(LinkError, match=r"\[missing-argument\]"):
        prepared(doubler, x=np.zeros((1, 32, 32), np.float32))
    with pytest.raises(LinkError, match=r"\[unknown-argument\]"):
        prepared(doubler, x=np.zeros((1, 32, 32), np.float32), pages=1, page=1)
    with pytest.raises(LinkError, match=r"'x': expected \[items, 32, 32\], given 2 more"):
        prepared(doubler, x=np.zeros((1, 1, 32, 32), np.float32), pages=1)
    with pytest.raises(LinkError, match=r"port 'y': expected a number of items or calls, given True \[argument-type\]"):
        prepared(doubler, x=np.zeros((1, 32, 32), np.float32), pages=1, y=True)


def test_a_plan_is_read_as_it_was_written(doubler: testing.LinkedBench) -> None:
    assert Plan.from_json(doubler.plan.to_json(), Location("x")) == doubler.plan


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("pipelink_bench",), 2), (("callers",), 0), (("callers",), "32"), (("callers",), True), (("more",), 1),
        (("threads",), [[1]]), (("threads",), [[0, 4096]]), (("ports",), {}), (("ports", 0, "way"), "x"),
        (("ports", 0, "name"), ""), (("ports", 0, "copied"), 1), (("ports", 0, "parts", 0, "bytes"), 1 << 40),
        (("ports", 0, "parts", 0, "bytes"), 8), (("ports", 0, "parts", 0, "extents"), [-1, 32]),
        (("ports", 0, "parts", 0, "element"), "x"), (("ports", 0, "parts", 0, "layout"), "cute"),
        (("ports", 0, "result"), []), (("component",), None),
    ],
)  # fmt: skip
def test_a_plan_of_somebody_else(doubler: testing.LinkedBench, path: tuple[Any, ...], value: Any) -> None:
    data = json.loads(doubler.plan.to_json())
    at = data
    for part in path[:-1]:
        at = at[part]
    at[path[-1]] = value
    with pytest.raises(LinkError, match=r"\[bad-bench\]"):
        Plan.from_json(json.dumps(data), Location("x"))


@pytest.mark.parametrize("content", [b"", b"PK", b"[" * 100000])
def test_a_file_that_is_no_bench(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "x.bench").write_bytes(content)
    with pytest.raises(LinkError, match=r"\[bad-bench\]"):
        testing.load(tmp_path / "x.bench")
    with pytest.raises(LinkError, match=r"\[bad-bench\]"):
        Plan.from_json(content, Location("x"))
    with pytest.raises(LinkError, match=r"\[unreadable-input\]"):
        testing.load(tmp_path / "y.bench")
