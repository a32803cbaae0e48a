"""Attention as torch sees it, without a GPU: which kernel a call means, what that is given, and what is refused.

Skipped where torch is not installed; ``pip install .[torch]`` runs it.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pipelink import LinkError, runtime
from pipelink.torch import linking
from pipelink.torch.table import AttentionEntry


@pytest.fixture(scope="module")
def torch() -> Any:
    return pytest.importorskip("torch", reason="torch is not installed")


@pytest.fixture(scope="module")
def attention(torch: Any) -> Any:
    return importlib.import_module("pipelink.torch").attention


@pytest.fixture(scope="module")
def make(torch: Any) -> Callable[..., Any]:
    """A tensor of the meta device: shape, then the type's name."""

    def empty(*shape: int, dtype: str = "bfloat16") -> Any:
        return torch.empty(shape, dtype=getattr(torch, dtype), device="meta")

    return empty


@pytest.fixture
def calls(torch: Any, monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The calls that the fake kernel has checked."""
    module = importlib.import_module("pipelink.torch.attention_operator")
    found: list[Any] = []

    class Recorded(module.Call):
        def check(self) -> None:
            super().check()
            found.append(self)

    monkeypatch.setattr(module, "Call", Recorded)
    return found


def of_meta(value: Any) -> Any:
    """A plan or lists, whose tensors are of the meta device."""
    tensors = {name: x.to("meta") for name, x in vars(value).items() if hasattr(x, "device")}
    return replace(value, **tensors)


def block_mask(sq: int = 300, sk: int = 400, batches: int | None = None, block: int = 128) -> Any:
    flex = importlib.import_module("torch.nn.attention.flex_attention")
    return flex.create_block_mask(
        lambda b, h, q, k: k <= q + sk - sq - 7, batches, None, sq, sk, device="cpu", BLOCK_SIZE=block
    )


def lists_of(block: tuple[int, int] = (384, 256), lengths: tuple[int, int] = (300, 400), heads: int = 8) -> Any:
    """Of one row of blocks."""
    torch, module = (importlib.import_module(name) for name in ("torch", "pipelink.torch"))
    numbers = torch.zeros(1, heads, -(-lengths[0] // block[0]), dtype=torch.int32)
    indices = torch.zeros(*numbers.shape, -(-lengths[1] // block[1]), dtype=torch.int32)
    return module.BlockLists(numbers, indices, numbers, indices, block, lengths)


def plan_of(mask: Any, *shape: int) -> Any:
    module = importlib.import_module("pipelink.torch")
    return module.plan_blocks(module.BlockLists.of(mask), *shape, 132, mask.mask_mod)


#: Names of the kernel that comes first; the arguments, of functions of ``make``; and what q is, where it is not
#: [2, 300, 8, D].  k and v are [2, 400, 2, D], or ten pages.
CALLS: dict[str, tuple[Callable[[Any], dict[str, Any]], tuple[int, ...]]] = {
    "attention-dense-64": (lambda _: {}, ()),
    "attention-causal-128-f16": (lambda _: {"causal": True}, ()),
    "attention-dense-256": (lambda _: {"window": (-1, -5)}, ()),
    "attention-causal-256": (lambda _: {"window": (-1, 7), "causal": True}, ()),
    "attention-window-64": (lambda _: {"window": (1 << 40, -1)}, ()),
    "attention-window-128-softcap": (lambda _: {"window": (127, 3), "causal": True, "softcap": 50.0}, ()),
    "attention-causal-64-alibi": (lambda make: {"causal": True, "alibi_slopes": make(8, dtype="float32")}, ()),
    "attention-window-256-f16-alibi-sinks_f32": (
        lambda make: {
            "window": (5, 5),
            "alibi_slopes": make(2, 8, dtype="float32"),
            "sinks": make(8, dtype="float32"),
        },
        (),
    ),
    "attention-dense-128-bias_bf16": (lambda make: {"bias": make(8, 1, 400)}, ()),
    "attention-dense-64-bias_f32-sinks_bf16": (
        lambda make: {"bias": make(2, 1, 300, 400, dtype="float32"), "sinks": make(8)},
        (),
    ),
    "attention-plan-64": (lambda _: {"block_mask": of_meta(plan_of(block_mask(), 2, 8, 64))}, ()),
    "attention-plan-128-bias_f16": (
        lambda make: {
            "block_mask": of_meta(plan_of(block_mask(), 2, 8, 128)),
            "bias": make(300, 400, dtype="float16"),
        },
        (),
    ),
    "attention-plan-causal-64": (
        lambda _: {
            "block_mask": of_meta(
                importlib.import_module("pipelink.torch").plan_blocks(lists_of(), 2, 8, 64, 132)
            ),
            "causal": True,
        },
        (),
    ),
    "attention-blocks-64": (lambda _: {"block_mask": of_meta(lists_of())}, ()),
    "attention-blocks-causal-128": (lambda _: {"block_mask": of_meta(lists_of()), "causal": True}, ()),
    "attention-split-128-p4": (lambda _: {}, (2, 1, 8)),
    "attention-split-64-f16-p4-sinks_f16": (
        lambda make: {"causal": True, "sinks": make(8, dtype="float16")},
        (2, 1, 8),
    ),
    "attention-split-causal-128-p4-softcap": (lambda _: {"causal": True, "softcap": 5.0}, (2, 32, 8)),
    "attention-causal-128-softcap": (lambda _: {"causal": True, "softcap": 5.0}, (2, 33, 8)),
    "attention-split-128-p16": (lambda _: {}, (2, 2, 64)),
    "attention-split-64-p4-softcap": (lambda _: {"softcap": 5.0}, (2, 1, 8)),
    "attention-split-lengths-64-p4": (
        lambda make: {"seqused_k": make(2, dtype="int32"), "causal": True},
        (2, 1, 8),
    ),
    "attention-split-lengths-causal-128": (
        lambda make: {"seqused_k": make(2, dtype="int32"), "causal": True},
        (2, 200, 2),
    ),
    "attention-split-lengths-128-p4-page64": (
        lambda make: {"seqused_k": make(2, dtype="int32"), "block_table": make(2, 9, dtype="int32")},
        (2, 1, 8),
    ),
    "attention-split-lengths-causal-128-p4-page16-softcap": (
        lambda make: {
            "seqused_k": make(2, dtype="int32"),
            "block_table": make(2, 9, dtype="int32"),
            "causal": True,
            "softcap": 9.0,
        },
        (2, 200, 8),
    ),
    "attention-paged-64-page256": (
        lambda make: {
            "cu_seqlens": make(4, dtype="int32"),
            "seqused_k": make(3, dtype="int32"),
            "block_table": make(3, 9, dtype="int32"),
        },
        (300, 8),
    ),
    "attention-paged-causal-128-page16-alibi-sinks_bf16": (
        lambda make: {
            "cu_seqlens": make(4, dtype="int32"),
            "seqused_k": make(3, dtype="int32"),
            "block_table": make(3, 9, dtype="int32"),
            "causal": True,
            "alibi_slopes": make(8, dtype="float32"),
            "sinks": make(8),
        },
        (300, 8),
    ),
    "attention-varlen-64": (lambda make: {"cu_seqlens": make(4, dtype="int32")}, (300, 8)),
    "attention-varlen-causal-256-alibi": (
        lambda make: {
            "cu_seqlens": (make(2, dtype="int32"), make(2, dtype="int32")),
            "causal": True,
            "alibi_slopes": make(8, dtype="float32"),
        },
        (300, 8),
    ),
}  # fmt: skip


def given(make: Any, name: str) -> tuple[tuple[Any, Any, Any], dict[str, Any]]:
    arguments, shape = CALLS[name]
    entry = AttentionEntry.named(name)
    assert entry is not None
    dtype = "float16" if entry.element == "f16" else "bfloat16"
    shape = shape or (2, 300, 8)
    kv = (10, entry.page, 2) if entry.page else (400, 2) if len(shape) == 2 else (2, 400, 2)
    q, k = make(*shape, entry.dimension, dtype=dtype), make(*kv, entry.dimension, dtype=dtype)
    return (q, k, k), arguments(make)


@pytest.mark.parametrize("name", CALLS)
def test_arguments_mean_a_kernel(torch: Any, make: Any, attention: Any, calls: list[Any], name: str) -> None:
    """The kernel comes first, its arguments are those that it is given, and their shapes and types fit."""
    tensors, arguments = given(make, name)
    o, lse = attention(*tensors, **arguments, return_lse=True)
    q = tensors[0]
    assert (o.shape, o.dtype) == (q.shape, q.dtype)
    assert (lse.shape, lse.dtype) == ((*q.shape[:-3], q.shape[-2], q.shape[-3]), torch.float32)
    entries = calls[-1].entries()
    assert entries[0].name == name
    assert all(entry.lacking() is None for entry in entries)
    package = linking.linked_package(name)
    assert package is not None
    kernel = runtime.load(package)
    batched = [x.unsqueeze(0) if x.dim() == 3 else x for x in (o, lse)] if q.dim() == 3 else [o, lse]
    lse = lse if q.dim() == 4 else lse.unsqueeze(0)
    values = calls[-1].values() | {"o": batched[0], "lse": lse}
    assert values.keys() == {a.name for a in kernel.contract.arguments}
    if "blocks" in name:  # whose extents depend on scalars
        return
    signature = importlib.import_module("pipelink.torch.operators").describe(kernel.contract, outputs=("o", "lse"))
    made = signature.allocate(values)
    assert [x.shape for x in made] == [values["o"].shape, lse.shape]


def test_few_queries_fall_back_to_other_kernels(make: Any, attention: Any, calls: list[Any]) -> None:
    attention(make(2, 1, 8, 64), make(2, 9, 2, 64), make(2, 9, 2, 64), causal=True)
    names = [entry.name.removeprefix("attention-") for entry in calls[-1].entries()]
    assert names == ["split-64-p4", "split-64-p8", "split-64-p16", "split-64-p2", "split-64", "causal-64"]
    every = make(10, 2, 64)  # as many heads of keys as of queries
    attention(every, every, every, cu_seqlens=make(4, dtype="int32"))
    assert [entry.name for entry in calls[-1].entries()] == ["attention-varlen-64"]


REFUSED: list[tuple[str, str, Callable[[Any], dict[str, Any]]]] = [
    ("type", r"window: expected \(left, right\)", lambda _: {"window": 128}),
    ("type", r"window: expected \(left, right\)", lambda _: {"window": (1.0, 0)}),
    ("type", "expected a BlockMask, a BlockPlan or BlockLists, given str", lambda _: {"block_mask": "causal"}),
    ("type", "causal: expected a bool, given int", lambda _: {"causal": 1}),
    ("type", "scale: expected a number, given str", lambda _: {"scale": "0.1"}),
    ("type", "softcap: expected a number, given Tensor", lambda make: {"softcap": make(1)}),
    ("type", "sinks: expected a tensor, given list", lambda _: {"sinks": [0.0] * 8}),
    ("type", "block_table: expected a tensor, given list", lambda _: {"block_table": [[0], [1]]}),
    ("type", "cu_seqlens: expected a tensor, given range", lambda _: {"cu_seqlens": range(3)}),
    ("type", "cu_seqlens: expected a tensor, or one of q and one of k", lambda _: {"cu_seqlens": [0, 300, 600]}),
    (
        "type",
        "cu_seqlens: expected those of q alone",
        lambda make: {
            "cu_seqlens": (make(3, dtype="int32"), make(3, dtype="int32")),
            "block_table": make(2, 9, dtype="int32"),
            "seqused_k": make(2, dtype="int32"),
        },
    ),
    ("range", "scale: expected a number above 0, given 0.0", lambda _: {"scale": 0.0}),
    ("range", "scale: expected a number above 0, given nan", lambda _: {"scale": float("nan")}),
    ("range", "softcap: expected a number above 0, given -1.0", lambda _: {"softcap": -1.0}),
    ("combination", "softcap together with bias", lambda make: {"softcap": 5.0, "bias": make(300, 400)}),
    (
        "combination",
        "alibi_slopes together with bias",
        lambda make: {"alibi_slopes": make(8, dtype="float32"), "bias": make(300, 400)},
    ),
    (
        "combination",
        "window together with cu_seqlens",
        lambda make: {"window": (1, 1), "cu_seqlens": make(3, dtype="int32")},
    ),
    (
        "combination",
        "window together with block_mask",
        lambda _: {"window": (1, 1), "block_mask": of_meta(lists_of())},
    ),
    (
        "combination",
        "cu_seqlens together with seqused_k",
        lambda make: {"cu_seqlens": make(3, dtype="int32"), "seqused_k": make(2, dtype="int32")},
    ),
    ("combination", "block_table .* needs seqused_k", lambda make: {"block_table": make(2, 9, dtype="int32")}),
    (
        "shape",
        "expected pages of 16, 64, 256 keys",
        lambda make: {"seqused_k": make(2, dtype="int32"), "block_table": make(2, 9, dtype="int32")},
    ),
    (
        "combination",
        "bias together with seqused_k",
        lambda make: {"bias": make(300, 400), "seqused_k": make(2, dtype="int32")},
    ),
    (
        "combination",
        "causal together with a function",
        lambda _: {"block_mask": of_meta(plan_of(block_mask(), 2, 8, 64)), "causal": True},
    ),
    ("shape", r"made for \[2, 8, 300, 300, 64\]", lambda _: {"block_mask": plan_of(block_mask(300, 300), 2, 8, 64)}),
    ("shape", r"made for \[4, 8, 300, 400, 64\]", lambda _: {"block_mask": plan_of(block_mask(), 4, 8, 64)}),
    (
        "shape",
        r"kv_num_blocks \[1 or 2, 1 or 8, 3\], given \[3, 1, 3\]",
        lambda _: {"block_mask": block_mask(batches=3)},
    ),
    ("shape", r"kv_num_blocks \[1 or 2, 1 or 8, 1\], given \[1, 4, 1\]", lambda _: {"block_mask": lists_of(heads=4)}),
    (
        "shape",
        r"kv_indices \[1 or 2, 1 or 8, 1, blocks\], given \[8, 1, 2\]",
        lambda _: {"block_mask": replace(lists_of(), kv_indices=lists_of().kv_indices[0])},
    ),
    (
        "dtype",
        "full_kv_indices of torch.int32 or torch.int64, given torch.float32",
        lambda _: {"block_mask": replace(lists_of(), full_kv_indices=lists_of().full_kv_indices.float())},
    ),
    ("shape", "multiple of 64 queries and 64 keys", lambda _: {"block_mask": block_mask(block=96)}),
    ("shape", "multiple of 192 queries", lambda _: {"block_mask": lists_of((128, 128))}),
    ("shape", r"it is of \[400, 300\], queries and keys", lambda _: {"block_mask": lists_of(lengths=(400, 300))}),
    ("dtype", "seqused_k: expected torch.int32", lambda make: {"seqused_k": make(2, dtype="int64")}),
    ("shape", r"seqused_k: expected \[sequences\]", lambda make: {"seqused_k": make(3, dtype="int32")}),
    (
        "dtype",
        "block_table: expected torch.int32",
        lambda make: {"seqused_k": make(2, dtype="int32"), "block_table": make(2, 9, dtype="int64"), "pages": 64},
    ),
    (
        "shape",
        r"block_table: expected \[sequences, pages\]",
        lambda make: {"seqused_k": make(2, dtype="int32"), "block_table": make(9, dtype="int32"), "pages": 16},
    ),
    (
        "shape",
        r"block_table: expected \[sequences, pages\]",
        lambda make: {"seqused_k": make(2, dtype="int32"), "block_table": make(3, 9, dtype="int32"), "pages": 16},
    ),
    ("dtype", "cu_seqlens of q: expected torch.int32", lambda make: {"cu_seqlens": make(2, dtype="int64")}),
    ("shape", r"cu_seqlens of q: expected \[sequences \+ 1\]", lambda make: {"cu_seqlens": make(1, dtype="int32")}),
    (
        "shape",
        "q has 1 sequences, k 2",
        lambda make: {"cu_seqlens": (make(2, dtype="int32"), make(3, dtype="int32"))},
    ),
    ("shape", r"with cu_seqlens q is \[TQ, H, D\]", lambda make: {"cu_seqlens": make(3, dtype="int32")}),
    ("dtype", "alibi_slopes: expected torch.float32", lambda make: {"alibi_slopes": make(8)}),
    ("shape", r"alibi_slopes: expected \[H\]", lambda make: {"alibi_slopes": make(2, dtype="float32")}),
    ("dtype", "bias: expected torch.float32", lambda make: {"bias": make(300, 400, dtype="bool")}),
    ("shape", r"bias: expected \[B, H, SQ, SK\]", lambda make: {"bias": make(300, 1)}),
    ("shape", r"bias: expected \[B, H, SQ, SK\]", lambda make: {"bias": make(3, 1, 300, 400)}),
    ("stride", "last dimension of stride 1", lambda make: {"bias": make(400, 300).T}),
    ("dtype", "sinks: expected torch.float32", lambda make: {"sinks": make(8, dtype="float64")}),
    ("shape", r"sinks: expected \[H\]", lambda make: {"sinks": make(2)}),
    ("device", "q is on meta, block_mask on cpu", lambda _: {"block_mask": plan_of(block_mask(), 2, 8, 64)}),
]


@pytest.mark.parametrize(
    "name",
    ["k", "v", "cu_seqlens of q", "cu_seqlens of k", "seqused_k", "block_table", "alibi_slopes", "bias", "sinks"],
)
def test_tensors_of_other_devices_are_refused_by_name(torch: Any, make: Any, attention: Any, name: str) -> None:
    def at(here: str, x: Any) -> Any:
        return torch.empty_like(x, device="cpu") if here == name else x

    def ints(here: str, *shape: int) -> Any:
        return at(here, make(*shape, dtype="int32"))

    q, k = make(1, 300, 8, 128), make(1, 400, 2, 128)
    given: dict[str, Any] = {}
    match name.split()[0]:
        case "cu_seqlens":
            given["cu_seqlens"] = ints("cu_seqlens of q", 2), ints("cu_seqlens of k", 2)
        case "seqused_k" | "block_table":
            k = make(10, 16, 2, 128)
            given = {"seqused_k": ints("seqused_k", 1), "block_table": ints("block_table", 1, 9)}
        case "alibi_slopes":
            given["alibi_slopes"] = at(name, make(8, dtype="float32"))
        case "bias":
            given["bias"] = at(name, make(300, 400))
        case _:
            given["sinks"] = at(name, make(8))
    with pytest.raises(LinkError, match=f"q is on meta, {name} on cpu") as caught:
        attention(q, at("k", k), at("v", k), **given)
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.id == "argument-device"


@pytest.mark.parametrize(("id", "message", "arguments"), REFUSED, ids=[row[1] for row in REFUSED])
def test_arguments_that_do_not_fit_are_refused_by_name(
    make: Any, attention: Any, id: str, message: str, arguments: Callable[[Any], dict[str, Any]]
) -> None:
    given = arguments(make)
    page = given.pop("pages", None)
    k = make(10, page, 2, 128) if page else make(2, 400, 2, 64)
    with pytest.raises(LinkError, match=message) as caught:
        attention(make(2, 300, 8, k.shape[3]), k, k, **given)
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.id == f"argument-{id}"
    assert diagnostic.message.startswith("attention: ")


def test_what_there_are_no_parts_for_is_refused(make: Any, attention: Any) -> None:
    used, pages = make(2, dtype="int32"), make(2, 9, dtype="int32")
    wide, narrow, f16 = make(2, 400, 2, 256), make(10, 16, 2, 64), make(10, 16, 2, 128, dtype="float16")
    cases: list[tuple[str, Any, dict[str, Any]]] = [
        ("heads of 256 in variant blocks, given block_mask", wide, {"block_mask": of_meta(lists_of())}),
        ("heads of 256 in variant split-lengths-causal, given seqused_k", wide, {"seqused_k": used, "causal": True}),
        (
            "softcap and sinks with heads of 128 in variant blocks, given block_mask and sinks",
            make(2, 400, 2, 128),
            {"block_mask": of_meta(lists_of()), "softcap": 5.0, "sinks": make(8)},
        ),
        (
            "bias_f32 with heads of 128 in variant dense, given bias",
            make(2, 400, 2, 128),
            {"bias": make(300, 400, dtype="float32")},
        ),
        ("pages with heads of 64", narrow, {"seqused_k": used, "block_table": pages}),
        ("pages of f16, given seqused_k and block_table", f16, {"seqused_k": used, "block_table": pages}),
    ]
    for message, k, given in cases:
        q = make(2, 300, 8, k.shape[3], dtype=str(k.dtype).removeprefix("torch."))
        with pytest.raises(LinkError, match=f"there are no parts for {message}") as caught:
            attention(q, k, k, **given)
        assert caught.value.diagnostics[0].id == "argument-combination"


def test_operands_that_do_not_fit_are_refused(torch: Any, make: Any, attention: Any) -> None:
    q, k = make(2, 5, 8, 64), make(2, 7, 2, 64)
    wrong = [
        (q, make(2, 7, 3, 64), make(2, 7, 3, 64)),
        (q, k, make(2, 6, 2, 64)),
        (q, make(1, 7, 2, 64), make(1, 7, 2, 64)),
        (q, make(2, 7, 2, 64, dtype="float16"), k),
        (q.float(), k.float(), k.float()),
        (q[0], k, k),
        (q[..., :32], k[..., :32], k[..., :32]),
        (q[..., 0, 0, 0], k, k),
        (None, k, k),
        (q, k, [k]),
    ]
    for tensors in wrong:
        with pytest.raises(LinkError, match="attention: "):
            attention(*tensors)
    q, k = (torch.zeros(x.shape, dtype=x.dtype) for x in (q, k))
    with pytest.raises(LinkError, match=r"expected a CUDA device, given cpu \[argument-device\]"):
        attention(q, k, k)


def test_a_block_mask_keeps_its_plan(make: Any, attention: Any, calls: list[Any]) -> None:
    mask = block_mask()
    k = make(2, 400, 2, 64)
    for _ in range(2):
        with pytest.raises(LinkError, match="block_mask on cpu"):
            attention(make(2, 300, 8, 64), k, k, block_mask=mask)
    (key,) = mask._pipelink_plans
    assert key == (2, 8, 64)


@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("name", [name for name in CALLS if "attention-split" not in name or "lengths" in name])
def test_compiled_without_a_graph_break(torch: Any, make: Any, attention: Any, name: str, dynamic: bool) -> None:
    graphs: list[Any] = []

    def backend(graph: Any, inputs: Any) -> Any:
        graphs.append([node.target for node in graph.graph.nodes if node.op == "call_function"])
        return graph.forward

    torch._dynamo.reset()
    tensors, arguments = given(make, name)
    function = torch.compile(
        lambda *x, **more: attention(*x, **more) * 2, backend=backend, fullgraph=True, dynamic=dynamic
    )
    assert function(*tensors, **arguments).shape == tensors[0].shape
    assert torch.ops.pipelink.attention in graphs[0]


def test_compiled_with_a_block_mask_that_has_its_plan(torch: Any, make: Any, attention: Any) -> None:
    mask = block_mask()
    mask._pipelink_plans = {(2, 8, 64): of_meta(plan_of(mask, 2, 8, 64))}
    k = make(2, 400, 2, 64)
    function = torch.compile(lambda q: attention(q, k, k, block_mask=mask), backend="eager", fullgraph=True)
    assert function(make(2, 300, 8, 64)).shape == (2, 300, 8, 64)


def test_without_compilers_the_command_is_named(torch: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = linking.linked_package("attention-dense-64")
    assert package is not None
    operators = importlib.import_module("pipelink.torch.operators")
    monkeypatch.setattr(operators, "_device", lambda _: ((9, 0), 132))
    monkeypatch.setattr(linking, "find_spec", lambda _: None)
    entries = (AttentionEntry("split", 64, pack=4), AttentionEntry("dense", 64))
    with pytest.raises(LinkError, match=r"no kernel 'attention-split-64-p4' in .* \[no-image\]") as caught:
        operators.linked_kernel("attention", entries, str(tmp_path), 0)
    hint = caught.value.diagnostics[0].hint
    assert hint is not None
    assert f"python -m pipelink.torch build '{tmp_path}' --only attention-split-64-p4`" in hint
    (tmp_path / entries[1].file).write_bytes(package)
    assert operators.linked_kernel("attention", entries, str(tmp_path), 0).contract.kernel == "attention"
    monkeypatch.setattr(operators, "_device", lambda _: ((10, 0), 148))
    with pytest.raises(LinkError, match="its kernels are for sm_90a, and device 0 is sm_100"):
        operators.linked_kernel("attention", entries, str(tmp_path), 0)
