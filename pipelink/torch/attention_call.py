"""What one call of ``attention`` asks for: whether its arguments fit, which kernel they mean, and what that is given.

The operator and its fake kernel both make a :class:`Call` of their arguments, so that both refuse the same.  Which
parts there are is :mod:`pipelink.torch.table`'s to say.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Final, NoReturn

import torch  # pyright: ignore[reportMissingImports]

from pipelink.support.diagnostics import LinkError, error
from pipelink.torch.block_mask import BlockLists, check_lists, check_tiles, list_blocks
from pipelink.torch.table import PACKS, PAGES, SPLIT, TILES, AttentionEntry

_ELEMENTS: Final = {torch.bfloat16: "bf16", torch.float16: "f16"}
_FLOATS: Final = {torch.float32: "f32", **_ELEMENTS}
_INTEGERS: Final = (torch.int32,)
_PLAN: Final = ("list_order", "list_ends", "list_entries", "mask_bits")
_FAR: Final = 1 << 30  # beyond any sequence, and an int even if a sequence's length is added


def problem(id: str, message: str) -> LinkError:
    """An error of the operator."""
    return error(id, f"attention: {message}")


def _refuse(id: str, message: str) -> NoReturn:
    raise problem(id, message)


@dataclass(frozen=True)
class Call:
    """The operator's arguments.  ``lists``: none, or four tensors: of a ``BlockPlan``, where ``made_for`` is its B, H,
    SQ, SK and D, or of ``BlockLists``, where it is queries and keys of a block, and of the sequences."""

    q: Any
    k: Any
    v: Any
    causal: bool
    window: list[int] | None
    lists: list[Any]
    made_for: list[int]
    cu_seqlens_q: Any
    cu_seqlens_k: Any
    seqused_k: Any
    block_table: Any
    softcap: float | None
    alibi_slopes: Any
    bias: Any
    sinks: Any
    scale: float | None

    def check(self) -> None:
        """Raises LinkError ``argument-combination``, ``argument-dtype``, ``argument-shape``, ``argument-stride``,
        ``argument-device`` or ``argument-range``."""
        self._check_combination()
        self._check_operands()
        if self.lists:
            self._check_lists()
        if self.cu_seqlens_q is not None:
            self._check_sequences()
        if self.seqused_k is not None:
            self._check_caches()
        self._check_scores()
        for name, tensor in self._tensors():
            if tensor.device != self.q.device:
                _refuse("argument-device", f"q is on {self.q.device}, {name} on {tensor.device}")

    def _tensors(self) -> list[tuple[str, Any]]:
        """By the caller's names, but q."""
        named = [
            ("k", self.k), ("v", self.v), *(("block_mask", tensor) for tensor in self.lists),
            ("cu_seqlens of q", self.cu_seqlens_q), ("cu_seqlens of k", self.cu_seqlens_k),
            ("seqused_k", self.seqused_k), ("block_table", self.block_table),
            ("alibi_slopes", self.alibi_slopes), ("bias", self.bias), ("sinks", self.sinks),
        ]  # fmt: skip
        return [(name, tensor) for name, tensor in named if tensor is not None]

    def _check_combination(self) -> None:
        paged = self.block_table is not None
        if paged and self.seqused_k is None:
            _refuse("argument-combination", "block_table names pages of caches, and needs seqused_k with it")
        keys = {
            "window": self.window is not None,
            "block_mask": bool(self.lists),
            "cu_seqlens": self.cu_seqlens_q is not None and not paged,  # of pages they are the queries' alone
            "seqused_k": self.seqused_k is not None,
        }
        scores = {
            "softcap": self.softcap is not None,
            "alibi_slopes": self.alibi_slopes is not None,
            "bias": self.bias is not None,
        }
        apart = [keys, scores, {"bias": scores["bias"], "seqused_k": keys["seqused_k"]}]
        if self.cu_seqlens_q is None:
            apart.append({"alibi_slopes": scores["alibi_slopes"], "seqused_k": keys["seqused_k"]})
        for group in apart:
            given = [name for name, there in group.items() if there]
            if len(given) > 1:
                _refuse("argument-combination", f"there are no parts for {given[0]} together with {given[1]}")

    def _check_operands(self) -> None:
        q, k, v = self.q, self.k, self.v
        given = f"given q {list(q.shape)}, k {list(k.shape)}, v {list(v.shape)}"
        if q.dtype not in _ELEMENTS or not q.dtype == k.dtype == v.dtype:
            names = " or ".join(map(str, _ELEMENTS))
            _refuse("argument-dtype", f"expected q, k and v all of {names}, given {q.dtype}, {k.dtype} and {v.dtype}")
        paged = self.block_table is not None
        of = "[pages, page, HK, D]" if paged else "[B, SK, HK, D]"
        if q.dim() != 4 or k.dim() != 4 or v.shape != k.shape:
            _refuse("argument-shape", f"expected q [B, SQ, H, D] and k, v {of}, {given}")
        if (not paged and q.shape[0] != k.shape[0]) or q.shape[3] != k.shape[3]:
            _refuse("argument-shape", f"q and k have other batches or head dimensions, {given}")
        if paged and all(k.shape[1] != page for page in PAGES):
            _refuse("argument-shape", f"expected pages of {', '.join(map(str, PAGES))} keys, {given}")
        if k.shape[2] < 1 or q.shape[2] % k.shape[2]:
            _refuse("argument-shape", f"the heads of q are no multiple of those of k, {given}")
        if all(q.shape[3] != d for d in TILES):  # a symbol is in no dictionary
            _refuse("argument-shape", f"expected heads of {', '.join(map(str, sorted(TILES)))}, given {q.shape[3]}")
        lacking = self._entry().lacking()
        if lacking:
            names = dict.fromkeys(name for name, tensor in self._tensors() if tensor is not k and tensor is not v)
            _refuse("argument-combination", f"there are no parts for {lacking}, given {' and '.join(names)}")

    def _check_lists(self) -> None:
        b, sq, h, d = self.q.shape
        if self._planned:
            here, made = [b, h, sq, self.k.shape[1], d], list(self.made_for)
            if here != made:
                message = f"the plan is made for {made}, batches, heads, queries, keys and the dimension of a head"
                _refuse("argument-shape", f"block_mask: {message}, given {here}")
        else:
            here, made = [sq, self.k.shape[1]], list(self.made_for[2:])
            if here != made:
                _refuse("argument-shape", f"block_mask: it is of {made}, queries and keys, given {here}")
            lists = self._block_lists()
            check_tiles(lists, d)
            check_lists(lists, b, h)

    def _check_sequences(self) -> None:
        q, k = self.cu_seqlens_q, self.cu_seqlens_k
        for name, given in (("cu_seqlens of q", q), ("cu_seqlens of k", k)):
            if given.dtype != torch.int32:
                _refuse("argument-dtype", f"{name}: expected torch.int32, given {given.dtype}")
            if given.dim() != 1 or given.shape[0] < 2:
                _refuse("argument-shape", f"{name}: expected [sequences + 1], given {list(given.shape)}")
        if q.shape != k.shape:
            _refuse("argument-shape", f"cu_seqlens: q has {q.shape[0] - 1} sequences, k {k.shape[0] - 1}")
        if self.q.shape[0] != 1:
            _refuse("argument-shape", f"with cu_seqlens q is [TQ, H, D] or [1, TQ, H, D], given {list(self.q.shape)}")

    def _check_caches(self) -> None:
        sequences = self.q.shape[0] if self.cu_seqlens_q is None else self.cu_seqlens_q.shape[0] - 1
        self._expect("seqused_k", self.seqused_k, _INTEGERS, "[sequences]", (sequences,))
        table = self.block_table
        if table is not None:
            most = table.shape[1] if table.dim() == 2 else 1
            self._expect("block_table", table, _INTEGERS, "[sequences, pages]", (sequences, most))

    def _check_scores(self) -> None:
        b, sq, h, _ = self.q.shape
        for name, value in (("scale", self.scale), ("softcap", self.softcap)):
            if value is not None and not 0 < value < float("inf"):
                _refuse("argument-range", f"{name}: expected a number above 0, given {value}")
        if self.sinks is not None:
            self._expect("sinks", self.sinks, _FLOATS, "[H]", (h,))
        if self.alibi_slopes is not None:
            slopes = self.alibi_slopes
            self._expect("alibi_slopes", slopes, (torch.float32,), "[H] or [B, H]", (b, h)[2 - slopes.dim() :])
        if self.bias is not None:
            full, given = (b, h, sq, self.k.shape[1]), tuple(self.bias.shape)
            if self.bias.dtype not in _FLOATS:
                _refuse("argument-dtype", f"bias: expected {' or '.join(map(str, _FLOATS))}, given {self.bias.dtype}")
            fits = 0 < len(given) < 5 and given[-1] == full[-1]
            if not fits or any(x not in (1, n) for x, n in zip(given, full[4 - len(given) :], strict=True)):
                message = f"bias: expected [B, H, SQ, SK], {list(full)}, or what broadcasts to it along all but SK"
                _refuse("argument-shape", f"{message}, given {list(given)}")
            if full[-1] > 1 and self.bias.stride(-1) != 1:
                _refuse(
                    "argument-stride", f"bias: expected a last dimension of stride 1, given {list(self.bias.stride())}"
                )

    def _expect(self, name: str, tensor: Any, types: Collection[Any], what: str, shape: tuple[Any, ...]) -> None:
        if tensor.dtype not in types:
            _refuse("argument-dtype", f"{name}: expected {' or '.join(map(str, types))}, given {tensor.dtype}")
        if tuple(tensor.shape) != tuple(shape) or not tensor.dim():
            _refuse("argument-shape", f"{name}: expected {what}, q is {list(self.q.shape)}, given {list(tensor.shape)}")

    @property
    def _planned(self) -> bool:
        return len(self.made_for) == 5

    def _block_lists(self) -> BlockLists:
        a, b, c, d = self.lists
        block, lengths = self.made_for[:2], self.made_for[2:]
        return BlockLists(a, b, c, d, (block[0], block[1]), (lengths[0], lengths[1]))

    @property
    def _edges(self) -> tuple[int, int]:
        """Left and right of the window."""
        left, right = self.window or (-1, -1)
        return (min(left, _FAR), 0 if self.causal else min(right, _FAR))

    @property
    def _variant(self) -> str:
        """Of :mod:`pipelink.components.attention`."""
        causal = "-causal" if self.causal else ""
        if self.lists:
            return f"{'plan' if self._planned else 'blocks'}{causal}"
        if self.cu_seqlens_q is not None:
            return f"{'varlen' if self.block_table is None else 'paged'}{causal}"
        if self.seqused_k is not None:
            return f"split-lengths{causal if self.q.shape[1] > 1 else ''}"
        left, right = self._edges
        return "window" if left >= 0 or right > 0 else "causal" if right == 0 else "dense"

    def _entry(self) -> AttentionEntry:
        """The kernel where there are many queries."""
        score = "softcap" if self.softcap is not None else "alibi" if self.alibi_slopes is not None else "plain"
        score = f"bias_{_FLOATS.get(self.bias.dtype, '')}" if self.bias is not None else score
        sink = "none" if self.sinks is None else _FLOATS.get(self.sinks.dtype, "")
        page = None if self.block_table is None else int(self.k.shape[1])  # which may be symbols
        return AttentionEntry(self._variant, int(self.q.shape[3]), _ELEMENTS[self.q.dtype], 1, page, score, sink)

    def entries(self) -> tuple[AttentionEntry, ...]:
        """The kernels that compute this, the one that fits best first."""
        sq, group = self.q.shape[1], self.q.shape[2] // self.k.shape[2]
        return _fitting(self._entry(), group, sq)

    def values(self) -> dict[str, Any]:
        """The kernel's arguments but those that it writes."""
        b, sq, h, d = self.q.shape
        values = {"q": self.q, "k": self.k, "v": self.v, "scale": d**-0.5 if self.scale is None else self.scale}
        if self.lists and self._planned:
            values |= dict(zip(_PLAN[: 3 if self.causal else 4], self.lists, strict=False))
        elif self.lists:
            values |= list_blocks(self._block_lists(), d)
        elif self._variant == "window":
            values["left"], values["right"] = self._edges
        if self.cu_seqlens_q is not None:
            values["cu_seqlens_q"] = self.cu_seqlens_q
            if self.seqused_k is None:
                values["cu_seqlens_k"] = self.cu_seqlens_k
        if self.seqused_k is not None:
            values["seqused_k"] = self.seqused_k
        if self.block_table is not None:
            values["block_table"] = self.block_table
        if self.softcap is not None:
            values["softcap"] = self.softcap
        if self.alibi_slopes is not None:
            values["alibi_slopes"] = self.alibi_slopes.expand(b, h)
        if self.bias is not None:
            values["bias"] = self.bias.expand(b, h, sq, self.k.shape[1])
        if self.sinks is not None:
            values["sinks"] = self.sinks
        return values


@lru_cache(maxsize=1024)
def _fitting(entry: AttentionEntry, group: int, queries: int) -> tuple[AttentionEntry, ...]:
    """Kernels for ``group`` heads that share keys.  Where the rows of all queries go into one tile, those that share
    keys among CTAs come before the others; of these the first has all heads of a group as rows, and as few as may
    be."""
    shared = {"dense": "split", "causal": "split-causal" if queries > 1 else "split"}
    variant = shared.get(entry.variant, entry.variant)
    if variant not in SPLIT or replace(entry, variant=variant).lacking():
        return (entry,)
    best = next((pack for pack in PACKS if pack >= group), PACKS[-1])
    packs = sorted(PACKS, key=lambda pack: (pack < best, abs(pack - best)))
    few = tuple(replace(entry, variant=variant, pack=pack) for pack in packs)
    if entry.variant in SPLIT:
        return few
    return (*few, entry) if queries * best <= TILES[entry.dimension] else (entry,)
