"""What attention computes, in float64, and operands that show where a kernel does not."""

import math
from collections.abc import Callable
from typing import Any

from pipelink import runtime


def causal_pairs(torch: Any, rows: int, columns: int) -> Any:
    """Which pairs count where the last query looks at all keys."""
    return torch.ones(rows, columns, dtype=torch.bool, device="cuda").tril(columns - rows)


def reference(
    torch: Any,
    q: Any,
    k: Any,
    v: Any,
    scale: float,
    keep: Any = None,
    *,
    logits: Callable[[Any], Any] | None = None,
    sinks: Any = None,
) -> tuple[Any, Any]:
    """O [B, SQ, H, D] and the logarithms of the sums [B, H, SQ] in float64; 0 and minus infinity of a query that looks
    at nothing.  ``keep``: which pairs count, broadcast to [B, H, SQ, SK].  ``logits``: what becomes of the scaled
    scores [B, H, SQ, SK].  ``sinks``: a logit of each head that joins the sums, [H]."""
    group = q.shape[2] // k.shape[2]
    q, k, v = (x.double().transpose(1, 2) for x in (q, k.repeat_interleave(group, 2), v.repeat_interleave(group, 2)))
    scores = q @ k.transpose(-1, -2) * scale
    if logits is not None:
        scores = logits(scores)
    if keep is not None:
        scores = scores.masked_fill(~keep, -math.inf)
    lse = torch.logsumexp(scores, -1)
    if sinks is not None:
        lse = torch.logaddexp(lse, sinks.double()[:, None].expand_as(lse))
    weights = torch.exp(scores - torch.where(lse.isinf(), 0, lse).unsqueeze(-1))
    return (weights @ v).transpose(1, 2), lse


def rounded_attention(
    torch: Any,
    q: Any,
    k: Any,
    v: Any,
    scale: float,
    keep: Any = None,
    *,
    logits: Callable[[Any], Any] | None = None,
    sinks: Any = None,
) -> Any:
    """O as a kernel may round it, where torch has none to compare with: scores in f32, weights in the type of v."""
    group = q.shape[2] // k.shape[2]
    q, k, v = (x.transpose(1, 2) for x in (q, k.repeat_interleave(group, 2), v.repeat_interleave(group, 2)))
    scores = q.float() @ k.float().transpose(-1, -2) * scale
    if logits is not None:
        scores = logits(scores)
    if keep is not None:
        scores = scores.masked_fill(~keep, -math.inf)
    if sinks is not None:
        column = sinks.float()[:, None, None].expand(*scores.shape[:-1], 1)
        scores = torch.cat((scores, column), -1)
    weights = torch.softmax(scores, -1).nan_to_num(0.0).to(v.dtype)
    return (weights[..., : k.shape[2]] @ v).transpose(1, 2)


def operands(torch: Any, shape: tuple[int, ...], d: int, dtype: str = "bfloat16") -> tuple[Any, Any, Any]:
    """q, k and v of B, H, HK, SQ, SK: views into larger buffers, with some large values."""
    b, h, hk, sq, sk = shape
    generator = torch.Generator(device="cuda").manual_seed(sq * 31 + sk * 7 + d)

    def random(rows: int, heads: int) -> Any:
        buffer = torch.randn(b, rows, heads + 1, d, generator=generator, device="cuda")
        buffer *= 1 + 9 * (torch.rand(buffer.shape, generator=generator, device="cuda") < 0.002)
        return buffer.to(getattr(torch, dtype))[:, :, 1:]

    return random(sq, h), random(sk, hk), random(sk, hk)


def error(found: Any, expected: Any) -> float:
    """Of the norms."""
    return float((found.double() - expected).norm() / expected.norm())


def check_sums(torch: Any, found: Any, sums: Any, lse: Any) -> None:
    """``sums`` are the logarithms ``lse`` of :func:`reference`; ``found`` is 0 for a query that looks at nothing."""
    seen = ~lse.isinf()
    assert torch.equal(sums.isinf(), ~seen)
    assert (sums[seen].double() - lse[seen]).abs().max() < 2e-3
    assert (found[(~seen).transpose(1, 2)] == 0).all()


def check_sequences(
    torch: Any, lengths: list[int], o: Any, lse: Any, given: tuple[Any, Any, Any], check: Callable[..., None]
) -> None:
    """Each sequence by itself, with as many keys as it has: ``check(torch, o, lse, (q, k, v))``."""
    q, k, v = given
    assert not o.isnan().any()
    for n, length in enumerate(lengths):
        if not length:
            assert (o[n] == 0).all()
            assert (lse[n] == -math.inf).all()
        else:
            part = slice(n, n + 1)
            check(torch, o[part], lse[part], (q[part], k[part, :length], v[part, :length]))


def poisoned(torch: Any, q: Any) -> tuple[Any, Any]:
    b, sq, h, d = q.shape
    o = torch.full((b, sq, h, d), float("nan"), device="cuda", dtype=q.dtype)
    return o, torch.full((b, h, sq), float("nan"), device="cuda")


def launched_alike(torch: Any, q: Any, launch: Callable[[Any, Any], None]) -> tuple[Any, Any]:
    """O and the logarithms of ``launch(o, lse)``, which does the same each time: counters are left as they were found,
    and sums do not depend on who was last."""
    found: list[tuple[Any, Any]] = []
    for _ in range(3):
        found.append(poisoned(torch, q))
        launch(*found[-1])
    for o, lse in found:
        assert torch.equal(o, found[0][0])
        assert torch.equal(lse, found[0][1])
    return found[0]


def held(torch: Any, package: Any, name: str, shape: tuple[int, ...], d: int, keep: Any, given: dict[str, Any]) -> None:
    """The kernel's O and sums are those of the pairs ``keep``."""
    b, h, hk, sq, _ = shape
    q, k, v = operands(torch, shape, d)
    o = torch.full((b, sq, h, d), float("nan"), device="cuda", dtype=torch.bfloat16)
    lse = torch.full((b, h, sq), float("nan"), device="cuda")
    runtime.load(package(name))(q=q, k=k, v=v, o=o, lse=lse, scale=d**-0.5, **given)
    expected, sums = reference(torch, q, k, v, d**-0.5, keep)
    assert not o.isnan().any()
    seen = ~sums.isinf()
    assert torch.equal(~lse.isinf(), seen)
    assert (o[~seen.transpose(1, 2)] == 0).all()
    if not seen.any():
        return
    assert (lse[seen].double() - sums[seen]).abs().max() < 2e-3
    one, two, three = (x.transpose(1, 2) for x in (q, k, v))
    peer = torch.nn.functional.scaled_dot_product_attention(one, two, three, attn_mask=keep, enable_gqa=h != hk)
    peer = torch.where(seen[..., None], peer, 0).transpose(1, 2)
    assert error(o, expected) <= 1.1 * error(peer, expected) + 1e-4
