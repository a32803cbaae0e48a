"""The same decoder in torch: a token at a time, with a cache of fixed length, which ``torch.compile`` and CUDA
graphs take.  ``random_state`` makes weights under the names of a Hugging Face ``LlamaForCausalLM``."""

from __future__ import annotations

from typing import Any

import torch
from model import Sizes, rope
from torch.nn import functional


def random_state(sizes: Sizes, device: Any = "cuda", seed: int = 0) -> dict[str, torch.Tensor]:
    """bf16 weights of a model whose activations stay of order 1."""
    made = torch.Generator(device=device).manual_seed(seed)

    def normal(*shape: int, scale: float) -> torch.Tensor:
        return (torch.randn(*shape, device=device, generator=made) * scale).bfloat16()

    def norm() -> torch.Tensor:
        return (1 + 0.1 * torch.randn(sizes.hidden, device=device, generator=made)).bfloat16()

    wide = sizes.heads * sizes.head, sizes.key_heads * sizes.head
    each, inner = sizes.hidden**-0.5, sizes.ffn**-0.5
    state = {
        "model.embed_tokens.weight": normal(sizes.vocabulary, sizes.hidden, scale=0.02),
        "model.norm.weight": norm(),
    }
    for layer in range(sizes.layers):
        own = {
            "self_attn.q_proj": normal(wide[0], sizes.hidden, scale=2 * each),
            "self_attn.k_proj": normal(wide[1], sizes.hidden, scale=2 * each),
            "self_attn.v_proj": normal(wide[1], sizes.hidden, scale=each),
            "self_attn.o_proj": normal(sizes.hidden, wide[0], scale=each),
            "mlp.gate_proj": normal(sizes.ffn, sizes.hidden, scale=each),
            "mlp.up_proj": normal(sizes.ffn, sizes.hidden, scale=each),
            "mlp.down_proj": normal(sizes.hidden, sizes.ffn, scale=inner),
            "input_layernorm": norm(),
            "post_attention_layernorm": norm(),
        }
        state |= {f"model.layers.{layer}.{name}.weight": weight for name, weight in own.items()}
    return state


class Reference(torch.nn.Module):
    """``forward(token, position)``, int64 [1] each, gives the logits [VOCABULARY]; everything is of ``dtype``."""

    def __init__(self, sizes: Sizes, state: dict[str, torch.Tensor], longest: int, dtype: torch.dtype) -> None:
        super().__init__()
        self.sizes, self.dtype, self.longest = sizes, dtype, longest
        self.state = {name: weight.to(dtype) for name, weight in state.items()}
        device = next(iter(state.values())).device
        cache = (sizes.layers, sizes.key_heads, longest, sizes.head)
        self.keys, self.values = (torch.zeros(cache, dtype=dtype, device=device) for _ in range(2))
        self.rope = rope(sizes, longest, device).to(dtype)
        self.places = torch.arange(longest, device=device)

    def norm(self, x: torch.Tensor, name: str) -> torch.Tensor:
        wide = x.float()
        return (wide * torch.rsqrt(wide.pow(2).mean() + self.sizes.eps)).to(self.dtype) * self.state[name]

    def turned(self, x: torch.Tensor, position: torch.Tensor) -> torch.Tensor:
        cos, sin = self.rope[position].unbind(-1)
        a, b = x.chunk(2, 1)
        return torch.cat([a * cos - b * sin, b * cos + a * sin], 1)

    def forward(self, token: torch.Tensor, position: torch.Tensor) -> torch.Tensor:
        sizes, state = self.sizes, self.state
        seen = (self.places <= position)[None, None, None]
        x = state["model.embed_tokens.weight"][token][0]
        for layer in range(sizes.layers):
            at = f"model.layers.{layer}."
            h = self.norm(x, f"{at}input_layernorm.weight")
            q, k, v = ((state[f"{at}self_attn.{n}_proj.weight"] @ h).view(-1, sizes.head) for n in "qkv")
            q, k = self.turned(q, position), self.turned(k, position)
            keys, values = self.keys[layer], self.values[layer]
            keys.index_copy_(1, position, k[:, None])
            values.index_copy_(1, position, v[:, None])
            mixed = functional.scaled_dot_product_attention(
                q[None, :, None], keys[None], values[None], attn_mask=seen, enable_gqa=True
            )
            x = x + state[f"{at}self_attn.o_proj.weight"] @ mixed.reshape(-1)
            h = self.norm(x, f"{at}post_attention_layernorm.weight")
            gated = functional.silu(state[f"{at}mlp.gate_proj.weight"] @ h) * (state[f"{at}mlp.up_proj.weight"] @ h)
            x = x + state[f"{at}mlp.down_proj.weight"] @ gated
        return state["model.embed_tokens.weight"] @ self.norm(x, "model.norm.weight")
