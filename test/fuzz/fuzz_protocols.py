"""Hostile protocol texts: parsed and compared with a component's names, or refused; never anything else, and at once.

Mutants of the texts that the component library states.  What parses is checked against a component whose names occur in
them, so that both outcomes are tried.  Deterministic: the input is a function of (seed, index).
"""

from __future__ import annotations

import random
import re
import time
from pathlib import Path

from pipelink import ir
from pipelink.ir.protocol_names import check_names
from pipelink.support import limits
from pipelink.support.protocol_text import ProtocolError, parse_text, steps_of

ROOT = Path(__file__).resolve().parents[2]
SECONDS = 0.5  # that one text may take
_TOKEN = re.compile(r"\w+|\s+|[^\w\s]")
_WORDS = (
    *("repeat", "until", "choose", "or", "rank", "fence", "async", "keep", "by", "warps", "thread", "+", "{", "}", ";"),
    *(".", "0", "1", "-1", "99999999999", "1e9", "1 // 0", "(" * 300, "{" * 40, "repeat 1 {" * 40, "a;" * 600, "*"),
    *(
        "ab",
        "work",
        "k_tiles",
        "ab.stages",
        "stride(a, 0)",
        "lambda: 0",
        "\0",
        "\n",
        "é",
        "\u2028",
        "'",
        '"',
        "x" * 5000,
    ),
)
_COMPONENT = """
module @c attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 8} : () -> ()
  "pipelink.port"() {sym_name = "ab", direction = "in", kind = "stream", touch = "threads", stages = [2, 8],
    ends = true, tiles = [{element = "f32", shape = [32], layout = "row_major", align = 128}]} : () -> ()
  "pipelink.port"() {sym_name = "work", direction = "calls", kind = "call", signature = "void()"} : () -> ()
  "pipelink.port"() {sym_name = "store", direction = "calls", kind = "call", signature = "void()"} : () -> ()
  "pipelink.param"() {sym_name = "k_tiles", type = "i32", bytes = 4, align = 4} : () -> ()
}
"""


def seeds() -> list[str]:
    """What the component library states."""
    found: list[str] = []
    for path in sorted((ROOT / "pipelink" / "components").glob("*.cu*")):
        for match in re.finditer(r'PL_PROTOCOL\(\w+,\s*((?:"[^"]*"|[#\w\s\\])+)\)', path.read_text()):
            found.append("".join(re.findall(r'"([^"]*)"', match[1])))
    return found


def mutate(text: str, rng: random.Random) -> str:
    """A few tokens left out, doubled, exchanged or replaced."""
    tokens = _TOKEN.findall(text)
    for _ in range(rng.choice((0, 1, 1, 2, 4, 12))):
        at = rng.randrange(len(tokens) + 1)
        match rng.randrange(4):
            case 0:
                del tokens[at : at + rng.choice((1, 1, 5))]
            case 1:
                tokens[at:at] = tokens[at : at + rng.choice((1, 8))]
            case 2:
                tokens[at:at] = [rng.choice(_WORDS)]
            case _:
                tokens[at : at + 1] = [rng.choice(_WORDS)]
    return "".join(tokens)


def run(seed: int, budget: int) -> list[str]:
    """Try ``budget`` texts; one line for each failure."""
    component = ir.program(ir.parse(_COMPONENT)).components["c"]
    texts, failures = seeds(), list[str]()
    for index in range(budget):
        rng = random.Random(f"{seed}/{index}")
        text = mutate(rng.choice(texts), rng)
        start = time.monotonic()
        try:
            block = parse_text(text)
            check_names(component, "run", block)
            if sum(1 for _ in steps_of(block)) > limits.PROTOCOL_STEPS:
                failures.append(f"{index}: more steps than there may be: {text[:200]!r}")
        except ProtocolError as problem:
            if not 1 <= problem.column <= len(text) + 1:
                failures.append(f"{index}: column {problem.column} of {text[:200]!r}")
        except Exception as problem:
            failures.append(f"{index}: {type(problem).__name__}: {problem}: {text[:200]!r}")
        if time.monotonic() - start > SECONDS:
            failures.append(f"{index}: slow: {text[:200]!r}")
    return failures
