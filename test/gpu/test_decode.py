"""The decode megakernel of the example: logits against the same model in f32, and as good as torch's bf16."""

import importlib
import sys
from pathlib import Path
from typing import Any

import pytest

from pipelink import runtime

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "decode"
LONGEST = 384


@pytest.fixture(scope="module")
def example() -> Any:
    sys.path.insert(0, str(EXAMPLE))
    yield {name: importlib.import_module(name) for name in ("model", "reference")}
    sys.path.remove(str(EXAMPLE))


@pytest.fixture(scope="module")
def two_layers(torch: Any, package: Any, example: Any) -> Any:
    """A model of two layers as a decoder, and in f32 and bf16."""
    model, reference = example["model"], example["reference"]
    sizes = model.Sizes(2, 2048, 8192, 32, 8, 64, 8192)
    state = reference.random_state(sizes)
    ctas = torch.cuda.get_device_properties(0).multi_processor_count
    decoder = model.Decoder(runtime.load(package("decode")), sizes, state, LONGEST, ctas)
    return decoder, {t: reference.Reference(sizes, state, LONGEST, t) for t in (torch.float32, torch.bfloat16)}


def poison(torch: Any, decoder: Any) -> None:
    """Everything that a token writes before it reads it."""
    for name in ("keys", "values", "hidden", "queries", "newest", "attended", "activated", "pieces", "scores"):
        decoder.arguments[name].fill_(float("nan"))


def test_logits_are_as_good_as_those_of_bf16(torch: Any, two_layers: Any) -> None:
    """Every position is fed with the token of f32; the cache begins poisoned and is filled on the way, over pages."""
    decoder, peers = two_layers
    poison(torch, decoder)
    exact, rough = peers[torch.float32], peers[torch.bfloat16]
    token, worst, worst_of_bf16, missed, missed_by_bf16 = 5, 0.0, 0.0, 0, 0
    for position in range(300):
        at = [torch.tensor([number], device="cuda") for number in (token, position)]
        with torch.inference_mode():
            wanted, bf16 = exact(*at), rough(*at).float()
        decoder.arguments["token"].fill_(token)
        decoder.arguments["position"].fill_(position)
        decoder.step()
        scores = decoder.arguments["scores"]
        worst = max(worst, float((scores - wanted).abs().max()))
        worst_of_bf16 = max(worst_of_bf16, float((bf16 - wanted).abs().max()))
        chosen, token = int(decoder.arguments["token"]), int(wanted.argmax())
        assert chosen == int(scores.argmax())
        assert int(decoder.arguments["position"]) == position + 1
        missed += chosen != token
        missed_by_bf16 += int(bf16.argmax()) != token
    assert worst <= worst_of_bf16
    assert missed <= missed_by_bf16 + 2


def test_tokens_follow_each_other_in_a_graph(torch: Any, two_layers: Any) -> None:
    """Replays go on from the token and the position that the one before left, and are as single launches are."""
    decoder, _ = two_layers
    found: list[list[int]] = []
    for replayed in (False, True):
        poison(torch, decoder)
        for name, value in (("token", 9), ("position", 0)):
            decoder.arguments[name].fill_(value)
        decoder.kernel.preload(**decoder.arguments)
        graph = torch.cuda.CUDAGraph()
        if replayed:
            with torch.cuda.graph(graph):
                decoder.step()
        tokens: list[int] = []
        for _ in range(140):
            if replayed:
                graph.replay()
            else:
                decoder.step()
            tokens.append(int(decoder.arguments["token"]))
        found.append(tokens)
    assert found[0] == found[1]
    assert len(set(found[0])) > 1
