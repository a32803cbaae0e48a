"""Operands and reference results of an attention on one shape, in torch on a GPU.

Everything is random.  What a variant asks for besides (a window, lists of blocks, lengths, slopes) is made here, with
the pairs of queries and keys that count.  The reference is float64, of all rows where they are few, otherwise of some
rows of some heads; an error may be as large as that of the same formula with scores in float32 and weights rounded as
the kernel rounds them.  The outputs lie in larger buffers of NaN.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import torch

from benchmarks.families.base import Launch, Shape

if TYPE_CHECKING:
    from benchmarks.families.attention import Attention

DEVICE = "cuda"
TYPES = {"bf16": torch.bfloat16, "f16": torch.float16, "f32": torch.float32}
GUARD_ROWS, GUARD_HEADS = 3, 1  # around a guarded output
ROW_LIMIT = 5e-2  # of one row's error / the row: a block that is left out or counted twice is more
RATE, BANDWIDTH = 500.0, 4.0  # TFLOP/s and TB/s, about what the kernels reach; samples are made as long as that takes
COLD_BYTES = 192 << 20  # of keys and values that launches go through in turn; an H200 has 50 MiB of L2
MOST_ROWS, HEAD_ROWS = 8192, 512  # that are compared, and of one head
SOFTCAP = 20.0
LIST_KEYS = 128  # keys of a listed block
SKIPPED, PARTIAL, FULL = range(3)  # what lists say of a block
LISTED = 0.25  # the share of blocks that are not skipped; half of them are full


def _ceildiv(a: int, b: int) -> int:
    return -(-a // b)


def _some(b: Any, h: Any, q: Any, k: Any) -> Any:
    """Which pairs of a partial block count, where bits say so."""
    return (q * 7 + k * 3) % 5 < 2


def _falling(longest: int, count: int) -> list[int]:
    """So many lengths, from the longest down by equal steps; none is 0."""
    return [max(1, longest * (count - n) // count) for n in range(count)]


class AttentionProblem:
    """A configuration on batches, heads, heads of K and V, queries and keys.  ``guarded`` puts the outputs inside
    larger buffers."""

    def __init__(self, configuration: Attention, shape: Shape, *, guarded: bool = True) -> None:
        self.configuration = configuration
        self.batches, self.heads, kv_heads, self.queries, self.keys = shape
        self.group = self.heads // kv_heads
        self.generator = torch.Generator(device=DEVICE).manual_seed(7 * self.queries + 3 * self.keys + self.heads)
        self.scale = configuration.dimension**-0.5
        self.given: dict[str, Any] = {}  # besides q, k, v and scale
        self.sequences: list[tuple[int, int, int]] = []  # batch, first key and keys of each whose length is told
        self.keep = self._pairs()  # broadcasts to batches, heads, queries, keys
        self.sinks: torch.Tensor | None = None
        self._add_scores_and_sinks()
        d, kind = configuration.dimension, TYPES[configuration.element]
        self.q = self._random(self.batches, self.queries, self.heads, d).to(kind)
        self.k, self.v = (self._random(self.batches, self.keys, kv_heads, d).to(kind) for _ in range(2))
        self.caches = {"k": self.k, "v": self.v}  # as the kernel reads them
        if configuration.page:
            self.caches = self._in_pages(configuration.page)
        rows, heads = (GUARD_ROWS, GUARD_HEADS) if guarded else (0, 0)
        extents = self.batches, self.queries + 2 * rows, self.heads + heads
        self.buffers = [torch.empty(*extents, d, device=DEVICE, dtype=kind)]
        self.results = {"o": self.buffers[0][:, rows : rows + self.queries, : self.heads]}
        if configuration.output == "lse":
            self.buffers.append(torch.empty(self.batches, extents[2], self.queries + rows, device=DEVICE))
            self.results["lse"] = self.buffers[1][:, : self.heads, : self.queries]
        self.poison()

    def _random(self, *extents: int) -> torch.Tensor:
        return torch.randn(*extents, generator=self.generator, device=DEVICE)

    # ---------------------------------------------------------------------------------------------- what counts
    def _places(self) -> tuple[torch.Tensor, torch.Tensor]:
        """Queries as a column and keys as a row, in their sequence: the last query stands at the last key."""
        last = self.keys - self.queries
        return torch.arange(last, self.keys, device=DEVICE)[:, None], torch.arange(self.keys, device=DEVICE)

    def _pairs(self) -> torch.Tensor | None:
        """Which pairs count; None where all do.  Adds what the variant asks for to ``given``."""
        kind = self.configuration.kind
        name, causal = kind.removesuffix("-causal"), kind.endswith("causal")
        if name in ("varlen", "paged"):
            return self._varlen(name, causal)
        query, key = self._places()
        if name in ("blocks", "plan"):
            return self._lists(name, (key <= query) if causal else None)
        if name == "split-lengths":
            lengths = _falling(self.keys, self.batches)
            self.sequences = [(batch, 0, length) for batch, length in enumerate(lengths)]
            self.given["seqused_k"] = torch.tensor(lengths, device=DEVICE, dtype=torch.int32)
            used = self.given["seqused_k"][:, None, None, None]
            return (key <= query - self.keys + used if causal else key < used) & (key < used)
        if name == "window":
            left = max(self.queries // 4 - 1, 0)
            self.given |= {"left": left, "right": 0}
            return (key <= query) & (key >= query - left)
        return key <= query if causal else None

    def _varlen(self, name: str, causal: bool) -> torch.Tensor:
        """Sequences one behind another; from here on one batch of all queries and all keys."""
        queries, keys = (_falling(longest, self.batches) for longest in (self.queries, self.keys))
        lengths = [torch.tensor(found, device=DEVICE) for found in (queries, keys)]
        begins = [torch.nn.functional.pad(found.cumsum(0), (1, 0)).int() for found in lengths]
        self.given["cu_seqlens_q"] = begins[0]
        self.given |= {"seqused_k": lengths[1].int()} if name == "paged" else {"cu_seqlens_k": begins[1]}
        self.sequences = [(0, begin, length) for begin, length in zip(begins[1].tolist(), keys, strict=False)]
        self.batches, self.queries, self.keys = 1, sum(queries), sum(keys)
        numbers = torch.arange(len(queries), device=DEVICE)
        (of_query, query), (of_key, key) = (
            (numbers.repeat_interleave(found), torch.cat([torch.arange(n, device=DEVICE) for n in found.tolist()]))
            for found in lengths
        )
        query = query + (lengths[1] - lengths[0])[of_query]
        same = of_query[:, None] == of_key
        return same & (key <= query[:, None]) if causal else same

    def _lists(self, name: str, causal: torch.Tensor | None) -> torch.Tensor:
        """Random blocks, for each head its own; nothing for the first of several rows of blocks."""
        from pipelink.torch.block_mask import BlockLists, list_blocks, plan_blocks
        from pipelink.torch.table import TILES

        d = self.configuration.dimension
        block = (TILES[d] if name == "blocks" else 128, LIST_KEYS)
        extents = (1, self.heads, _ceildiv(self.queries, block[0]), _ceildiv(self.keys, block[1]))
        chance = torch.rand(extents, generator=self.generator, device=DEVICE)
        status = (chance < LISTED).int() + (chance < LISTED / 2).int()
        if extents[2] > 1:
            status[:, :, 0] = SKIPPED
        if name == "blocks" or causal is not None:  # where the keys end, the mask decides
            end = self.keys // block[1]
            status[..., end:] = status[..., end:].clamp(max=PARTIAL)
        counted = [
            ((status == kind).sum(-1).int(), torch.argsort((status != kind).int(), dim=-1, stable=True).int())
            for kind in (PARTIAL, FULL)
        ]
        lists = BlockLists(*counted[0], *counted[1], block, (self.queries, self.keys))
        wide = status.repeat_interleave(block[0], 2).repeat_interleave(block[1], 3)
        wide = wide[..., : self.queries, : self.keys]
        if name == "blocks":
            self.given |= list_blocks(lists, d)
            return wide > SKIPPED if causal is None else (wide == FULL) | ((wide == PARTIAL) & causal)
        sms = torch.cuda.get_device_properties(0).multi_processor_count
        plan = plan_blocks(lists, self.batches, self.heads, d, sms, _some if causal is None else None).arguments()
        if causal is None:
            queries = torch.arange(self.queries, device=DEVICE)[:, None]
            causal = _some(0, 0, queries, torch.arange(self.keys, device=DEVICE))
        else:
            del plan["mask_bits"]
        self.given |= plan
        return (wide == FULL) | ((wide == PARTIAL) & causal)

    def _in_pages(self, page: int) -> dict[str, torch.Tensor]:
        """Caches of pages in no order, which ``block_table`` names, with one of NaN that no sequence has; the rest of a
        sequence's last page is 0."""
        counts = [_ceildiv(length, page) for _, _, length in self.sequences]
        order = torch.randperm(sum(counts) + 1, generator=self.generator, device=DEVICE)
        own = [part.tolist() for part in order[1:].split(counts)]
        table = [[*pages, *[int(order[0])] * (max(counts) - len(pages))] for pages in own]
        self.given["block_table"] = torch.tensor(table, device=DEVICE, dtype=torch.int32)
        caches: dict[str, torch.Tensor] = {}
        for name, whole in (("k", self.k), ("v", self.v)):
            pages = torch.full((len(order), page, *whole.shape[2:]), float("nan"), device=DEVICE, dtype=whole.dtype)
            for (batch, begin, length), numbers in zip(self.sequences, own, strict=True):
                rows = torch.nn.functional.pad(
                    whole[batch, begin : begin + length], (0, 0, 0, 0, 0, len(numbers) * page - length)
                )
                pages[numbers] = rows.unflatten(0, (-1, page))
            caches[name] = pages
        return caches

    def _add_scores_and_sinks(self) -> None:
        """The arguments of the score and sink components."""
        score, sink = self.configuration.score, self.configuration.sink
        if score == "softcap":
            self.given["softcap"] = SOFTCAP
        elif score == "alibi":
            slopes = 2.0 ** (-8 * torch.arange(1, self.heads + 1, device=DEVICE) / self.heads)
            self.given["alibi_slopes"] = slopes.expand(self.batches, -1)
        elif score.startswith("bias"):
            bias = self._random(1, self.heads, self.queries, self.keys).to(TYPES[score.removeprefix("bias_")])
            self.given["bias"] = bias.expand(self.batches, -1, -1, -1)
        if sink != "none":
            self.sinks = torch.linspace(-2, 4, self.heads, device=DEVICE).to(TYPES[sink])
            self.given["sinks"] = self.sinks

    def _scored(self, x: torch.Tensor, batch: int, head: int, rows: torch.Tensor) -> torch.Tensor:
        """Logits of some rows of a head, of scaled scores."""
        score = self.configuration.score
        if score == "softcap":
            return SOFTCAP * torch.tanh(x / SOFTCAP)
        if score == "alibi":
            query, key = self._places()
            return x + self.given["alibi_slopes"][batch, head].to(x.dtype) * (key - query[rows])
        return x + self.given["bias"][batch, head, rows].to(x.dtype) if score.startswith("bias") else x

    # -------------------------------------------------------------------------------------------------- launches
    def arguments(self) -> dict[str, Any]:
        """What a linked kernel takes."""
        return {"q": self.q, **self.caches, "scale": self.scale, **self.results, **self.given}

    def rotation(self, most: int) -> Sequence[dict[str, Any]]:
        """Arguments with K and V and with copies of them, at most so many, which together do not fit into the L2
        cache."""
        count = max(1, min(_ceildiv(COLD_BYTES, self._kv_bytes), most))
        arguments = self.arguments()
        return [
            arguments,
            *({**arguments, **{name: x.clone() for name, x in self.caches.items()}} for _ in range(count - 1)),
        ]

    @property
    def _kv_bytes(self) -> int:
        return 2 * self.k.numel() * self.k.element_size()

    @property
    def work(self) -> float:
        """TFLOP, of the pairs that count."""
        pairs = self.batches * self.heads * self.queries * self.keys
        if self.keep is not None:
            broadcast = pairs // math.prod((1,) * (4 - self.keep.dim()) + self.keep.shape)
            pairs = int(self.keep.sum()) * broadcast
        return 4e-12 * pairs * self.configuration.dimension

    @property
    def expected_ms(self) -> float:
        return max(self.work / RATE, self._kv_bytes * 1e-12 / BANDWIDTH) * 1e3

    def poison(self) -> None:
        for buffer in self.buffers:
            buffer.fill_(float("nan"))

    def outputs(self) -> list[torch.Tensor]:
        return [result.clone() for result in self.results.values()]

    def peers(self, *, autotuned: bool = False) -> dict[str, Launch]:
        """None: benchmarks/attention has them."""
        return {}

    # ----------------------------------------------------------------------------------------------- correctness
    def _reference(
        self, batch: int, head: int, rows: torch.Tensor, *, rounded: bool
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """O and the logarithms of the sums of some rows of a head, in float64; ``rounded``: in float32, with weights in
        the type of V.  0 and minus infinity of a row in which nothing counts."""
        kind = torch.float32 if rounded else torch.float64
        q, k, v = (x.to(kind) for x in self._operands(batch, head, rows))
        logits = self._scored(q @ k.T * self.scale, batch, head, rows)
        if self.keep is not None:
            keep = self.keep[(None,) * (4 - self.keep.dim())]
            own = keep[min(batch, keep.shape[0] - 1), min(head, keep.shape[1] - 1)]
            logits = logits.masked_fill(~own.expand(self.queries, -1)[rows], -math.inf)
        lse = torch.logsumexp(logits, -1)
        if self.sinks is not None:
            lse = torch.logaddexp(lse, self.sinks[head].to(kind))
        weights = torch.exp(logits - torch.where(lse.isinf(), 0, lse)[:, None])
        if rounded:
            return (weights.to(self.v.dtype).to(kind) @ v).to(self.v.dtype), lse
        return weights @ v, lse

    def _operands(self, batch: int, head: int, rows: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        kv = head // self.group
        return self.q[batch, rows, head], self.k[batch, :, kv], self.v[batch, :, kv]

    def check(self) -> float:
        """The relative error of O, over at most ``MOST_ROWS`` rows.  Raises AssertionError where something
        that was written is wrong, where something was not written, or something else was."""
        heads = list(itertools.product(range(self.batches), range(self.heads)))
        most = MOST_ROWS // min(self.queries, HEAD_ROWS)
        order = torch.randperm(len(heads), generator=self.generator, device=DEVICE)[:most].tolist()
        parts: list[tuple[torch.Tensor, torch.Tensor, torch.Tensor]] = []
        for batch, head in (heads[n] for n in order):
            rows = torch.randperm(self.queries, generator=self.generator, device=DEVICE)[:HEAD_ROWS]
            expected, sums = self._reference(batch, head, rows, rounded=False)
            rounded, _ = self._reference(batch, head, rows, rounded=True)
            parts.append((self.results["o"][batch, rows, head].double(), expected, rounded.double()))
            if "lse" in self.results:
                self._check_sums(self.results["lse"][batch, head, rows].double(), sums)
        found, expected, rounded = (torch.cat(part) for part in zip(*parts, strict=True))
        wrong = ~((found - expected).norm(dim=-1) <= ROW_LIMIT * expected.norm(dim=-1))  # true for NaN
        assert not wrong.any(), f"{int(wrong.sum())} of {len(wrong)} rows wrong, first {int(wrong.nonzero()[0])}"
        for name, result, buffer in zip(self.results, self.results.values(), self.buffers, strict=True):
            assert not bool(result.isnan().any()), f"a part of {name} was not written"
            outside = buffer.numel() - result.numel()
            assert int(buffer.isnan().sum()) == outside, f"something was written outside {name}"
        size = expected.norm().clamp_min(1e-30)
        error, limit = (float((x - expected).norm() / size) for x in (found, rounded))
        assert error <= 1.1 * limit + 1e-4, f"relative error {error:.2g}, of the rounded formula {limit:.2g}"
        return error

    @staticmethod
    def _check_sums(found: torch.Tensor, expected: torch.Tensor) -> None:
        nothing = expected.isinf()
        assert torch.equal(found.isinf(), nothing), "logarithms of other rows' sums are infinite"
        wrong = ~((found - expected).abs() <= 2e-3) & ~nothing
        assert not wrong.any(), f"{int(wrong.sum())} of {len(wrong)} logarithms wrong"
