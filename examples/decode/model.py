"""A Llama decoder as a program of the decode megakernel: its weights in pages, instructions for every CTA, and what a
token changes.  Needs torch and the runtime, no compiler.

Weights are given by the names of a Hugging Face ``LlamaForCausalLM``'s state.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch

from pipelink import runtime

COLUMNS, ROWS = 2048, 4  # of a page


@dataclass(frozen=True)
class Sizes:
    """Of a model; ``head`` is the dimensions of a head."""

    layers: int
    hidden: int
    ffn: int
    heads: int
    key_heads: int
    head: int
    vocabulary: int
    theta: float = 500_000.0
    eps: float = 1e-5


#: meta-llama/Llama-3.2-1B, embeddings tied.
LLAMA_1B = Sizes(16, 2048, 8192, 32, 8, 64, 128_256)


def pages(matrix: torch.Tensor) -> torch.Tensor:
    """[rows, K] as pages of 4 rows and 2,048 columns, [rows / 4 * K / 2048, 8192]."""
    rows, k = matrix.shape
    return matrix.reshape(rows // ROWS, ROWS, k // COLUMNS, COLUMNS).transpose(1, 2).reshape(-1, ROWS * COLUMNS)


def in_pairs(matrix: torch.Tensor, head: int) -> torch.Tensor:
    """Rows of heads so that those which RoPE turns together stand side by side: d, d + D/2, d + 1, …"""
    heads = matrix.reshape(-1, 2, head // 2, matrix.shape[1])
    return heads.transpose(1, 2).reshape(matrix.shape)


def rope(sizes: Sizes, positions: int, device: Any) -> torch.Tensor:
    """Cosines and sines, f32 [positions, D / 2, 2]."""
    each = torch.arange(0, sizes.head, 2, dtype=torch.float64, device=device) / sizes.head
    angles = torch.arange(positions, dtype=torch.float64, device=device)[:, None] * sizes.theta**-each
    return torch.stack([angles.cos(), angles.sin()], -1).float().contiguous()


class Decoder:
    """A model on one GPU.  ``longest`` positions fit its cache, a multiple of 128."""

    def __init__(self, kernel: Any, sizes: Sizes, state: Mapping[str, torch.Tensor], longest: int, ctas: int) -> None:
        self.kernel, self.sizes, self.ctas = kernel, sizes, ctas
        device = next(iter(state.values())).device
        parts: list[torch.Tensor] = []
        self.bases: list[dict[str, int]] = []
        norms: list[torch.Tensor] = []
        at = 0

        def put(into: dict[str, int], name: str, matrix: torch.Tensor) -> None:
            nonlocal at
            into[name] = at
            parts.append(pages(matrix))
            at += len(parts[-1])

        for layer in range(sizes.layers):
            own = {name: state[f"model.layers.{layer}.{name}.weight"] for name in (
                "self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj", "self_attn.o_proj", "mlp.gate_proj",
                "mlp.up_proj", "mlp.down_proj", "input_layernorm", "post_attention_layernorm",
            )}  # fmt: skip
            bases: dict[str, int] = {}
            inputs = torch.cat([own[f"self_attn.{name}_proj"] for name in "qkv"])
            put(bases, "attention_inputs", in_pairs(inputs, sizes.head))
            put(bases, "output_projection", own["self_attn.o_proj"])
            gated = torch.stack([own["mlp.gate_proj"], own["mlp.up_proj"]], 1).reshape(2 * sizes.ffn, sizes.hidden)
            put(bases, "gate_up", gated)
            put(bases, "down", own["mlp.down_proj"])
            self.bases.append(bases)
            norms += [own["input_layernorm"], own["post_attention_layernorm"]]
        last: dict[str, int] = {}
        embeddings = state["model.embed_tokens.weight"]
        put(last, "logits", state.get("lm_head.weight", embeddings))
        self.bases.append(last)
        weights = torch.cat(parts)
        parts.clear()
        norms.append(state["model.norm.weight"])
        self.parts = min(32, ctas // sizes.key_heads, -(-longest // (8192 // sizes.head)))  # a warp knows of one a lane
        program = self._program()

        def zeros(*shape: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
            return torch.zeros(*shape, dtype=dtype, device=device)

        cache = (sizes.layers, sizes.key_heads, longest, sizes.head)
        self.arguments: dict[str, Any] = {
            "program": torch.frombuffer(program.instructions(), dtype=torch.int32).reshape(ctas, -1, 32).to(device),
            "lengths": torch.frombuffer(program.lengths(), dtype=torch.int32).to(device),
            "weights": weights,
            "embeddings": embeddings,
            "norms": torch.stack(norms),
            "rope": rope(sizes, longest, device),
            "keys": zeros(*cache, dtype=torch.bfloat16),
            "values": zeros(*cache, dtype=torch.bfloat16),
            "hidden": zeros(sizes.hidden),
            "queries": zeros(sizes.heads * sizes.head),
            "newest": zeros(2, sizes.key_heads, sizes.head),
            "attended": zeros(sizes.heads * sizes.head),
            "activated": zeros(sizes.ffn),
            "pieces": zeros(sizes.heads, self.parts, sizes.head + 2),
            "tickets": zeros(sizes.key_heads, dtype=torch.int32),
            "scores": zeros(sizes.vocabulary),
            "best": zeros(2, dtype=torch.int64),
            "token": zeros(1, dtype=torch.int32),
            "position": zeros(1, dtype=torch.int32),
            "eps": sizes.eps,
            "scale": sizes.head**-0.5,
        }

    def _program(self) -> runtime.Program:
        """The instructions of every CTA, checked."""
        sizes, ctas = self.sizes, self.ctas
        program = runtime.Program(self.kernel, ctas)
        stage, before = 0, 0

        def product(name: str, base: int, rows: int, **more: int) -> None:
            nonlocal stage, before
            groups = rows // ROWS
            for cta in range(min(ctas, groups)):
                own = {"base": base, "first": cta, "step": ctas, "count": -(-(groups - cta) // ctas)}
                program.add(cta, f"do_{name}", **own, stage=stage, awaited=before, **more)
            stage, before = stage + 1, min(ctas, groups)

        each = -(-sizes.hidden // ctas)
        for cta in range(ctas):
            first = min(cta * each, sizes.hidden)
            program.add(cta, "do_embed", first=first, count=min(each, sizes.hidden - first), stage=stage)
        stage, before = 1, ctas
        for layer in range(sizes.layers):
            bases = self.bases[layer]
            inputs = (sizes.heads + 2 * sizes.key_heads) * sizes.head
            product("attention_inputs", bases["attention_inputs"], inputs, layer=layer)
            for cta in range(sizes.key_heads * self.parts):
                head, piece = cta % sizes.key_heads, cta // sizes.key_heads
                walk = {"positions.part": piece, "positions.parts": self.parts}
                own = {"layer": layer, "head": head, "piece": piece, "of": self.parts}
                program.add(cta, "do_attend", **own, stage=stage, awaited=before, **walk)
            stage, before = stage + 1, sizes.key_heads * self.parts
            product("output_projection", bases["output_projection"], sizes.hidden)
            product("gate_up", bases["gate_up"], 2 * sizes.ffn, layer=layer)
            product("down", bases["down"], sizes.hidden)
        product("logits", self.bases[-1]["logits"], sizes.vocabulary, ctas=ctas)
        program.check(LONGEST=max(program.longest, stage))
        return program

    def step(self) -> None:
        """One token: reads ``token`` and ``position``, leaves the next token and position there."""
        self.kernel(**self.arguments)
