"""Hostile IR and pipeline texts: whatever a mutant does, the library raises LinkError or succeeds.

Mutants of the tests' own IR go through parse, both verifiers and ``check`` (some through ``place``), many to a forked
worker.  A worker that dies marks an input that crashes MLIR; that input then goes through ``pl-opt`` itself, which has
to report it and return.  Deterministic: the input is a function of (seed, index).
"""

from __future__ import annotations

import os
import random
import re
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
_TOKEN = re.compile(r'"[^"\n]*"|[\w.@$%#-]+|\s+|.', re.S)
_WORDS = (
    *('""', '"x"', "@", "@a::@b", "@a::@b::@c", "-1", "0", "1 : i32", "9223372036854775807", "99999999999999999999"),
    *("[", "]", "{", "}", "(", ")", "<", ">", "[]", "{}", "true", "unit", "1.0e400", "0xFF", "dense<1> : tensor<2xi8>"),
    *(
        "module",
        "module @m {",
        "%0 =",
        "^bb0:",
        "loc(unknown)",
        "#a = 1",
        "!t",
        "// -----",
        '"pipelink.port"() : () -> ()',
        '"pipelink.protocol"() {of = "run", text = "repeat x.stages { x.wait; x.release keep 1; }"} : () -> ()',
    ),
    *("\\00", "\0", "\u2028", "é", "-> ()", "attributes {", "sym_name = ", "i64", "none", "array<i64: 1>", "[1, 2, 3]"),
)
_PIPELINES = ("check,place{objective=min-smem},fuse", "check{linker=13.0}", 'check{linker="1 2"},check', "")


@cache
def seeds() -> list[str]:
    """The texts that mutants come from: every part of the tests' IR."""
    texts: list[str] = []
    for path in sorted((ROOT / "test" / "lit").rglob("*.mlir")):
        texts.extend(re.split(r"^// -----.*$", path.read_text(), flags=re.M))
    return [text for text in texts if text.strip()]


def reshape(text: str, rng: random.Random) -> str:
    """A few edits that keep the syntax: numbers, strings and symbols change places, lines go or come twice."""
    for _ in range(rng.choice((1, 1, 2, 3, 8))):
        pattern = rng.choice((r"\b\d+\b", r'"[^"\n]*"', r"@[\w.]+", r"\[[^\[\]\n]*\]", r"\b\w+(?= = )", "\n"))
        found = list(re.finditer(pattern, text))
        if not found:
            continue
        match, other = rng.choice(found), rng.choice(found)
        if pattern == "\n":
            line = text[match.end() :].partition("\n")[0]
            if line.strip().endswith("()"):
                rest = text[match.end() + len(line) + 1 :]
                text = text[: match.end()] + f"{line}\n" * rng.choice((0, 2, 40)) + rest
            continue
        new = other.group()
        if new.isdigit() and rng.random() < 0.7:
            new = str(rng.choice((0, 1, 3, 7, 31, 33, 2**20, 2**31, 2**40, 2**62)))
        text = text[: match.start()] + new + text[match.end() :]
    return text


def mutate(text: str, rng: random.Random) -> str:
    """A few random edits of tokens or characters, or half of the time edits that keep the syntax."""
    if rng.random() < 0.5:
        return reshape(text, rng)
    for _ in range(rng.choice((1, 1, 1, 2, 4, 16))):
        if rng.random() < 0.3:
            at = rng.randrange(len(text) + 1)
            end = min(len(text), at + rng.choice((0, 1, 1, 8, 200)))
            middle = rng.choice(("", chr(rng.choice((0, 9, 34, 92, 127, 255, 8232, rng.randrange(32, 127))))))
            text = text[:at] + middle + text[end:]
            continue
        tokens = _TOKEN.findall(text)
        if not tokens:
            return text
        at = rng.randrange(len(tokens))
        match rng.randrange(6):
            case 0:
                del tokens[at : at + rng.choice((1, 2, 10))]
            case 1:
                tokens[at] = rng.choice(_WORDS)
            case 2:
                tokens.insert(at, rng.choice(_WORDS))
            case 3:
                tokens[at] = tokens[rng.randrange(len(tokens))]
            case 4:
                span = tokens[at : at + rng.choice((1, 5, 40))]
                tokens[at:at] = span * rng.choice((1, 2, 50))
            case _:
                number = [i for i, token in enumerate(tokens) if token.isdigit()]
                if number:
                    tokens[rng.choice(number)] = str(
                        rng.choice((0, 1, 3, 7, 31, 33, 2**20, 2**31, 2**40, 2**62, 2**63))
                    )
        text = "".join(tokens)[: 1 << 20]
    return text


def make(seed: int, index: int, texts: list[str]) -> tuple[str, str]:
    """The input of an index: (kind, text), kind ``ir``, ``place`` or ``pipeline``."""
    rng = random.Random(f"{seed}/{index}")
    kind = rng.choices(("ir", "place", "pipeline"), (85, 5, 10))[0]
    return kind, mutate(rng.choice(_PIPELINES if kind == "pipeline" else texts), rng)


@cache
def _context() -> Any:
    """One for all inputs of a worker: to make one takes longer than to try most."""
    from pipelink.ir import new_context

    return new_context()


def try_text(kind: str, text: str) -> str | None:
    """Try one input in this process; what went wrong, or None."""
    from pipelink.ir import parse
    from pipelink.passes.pipeline import parse_pipeline, run_pipeline
    from pipelink.support.diagnostics import LinkError, render_text

    try:
        if kind == "pipeline":
            parse_pipeline(text)
            return None
        module = parse(text, _context())
        run_pipeline(parse_pipeline("check,place" if kind == "place" else "check"), module)
    except LinkError as problem:
        for found in problem.diagnostics:
            render_text(found)
            if found.id == "internal-error":
                return found.message + " ".join(note.message for note in found.notes)
    except Exception as problem:
        return f"{type(problem).__name__}: {problem}"
    return None


def try_tool(kind: str, text: str) -> str | None:
    """The same input through pl-opt, as a user would; what reaches the user that must not, or None."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "in.mlir"
        path.write_text(text, errors="surrogateescape")
        pipeline = {"ir": "check", "place": "check,place", "pipeline": text.replace("\0", "")}[kind]
        command = [sys.executable, "-m", "pipelink.tools.pl_opt", f"--pipeline={pipeline}", "--time-limit=20", path]
        environment = {**os.environ, "TMPDIR": folder}
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=60, env=environment)
    if done.returncode not in (0, 1) or "Traceback" in done.stderr:
        return f"status {done.returncode}: {done.stderr[-400:]}"
    return None


def prepare() -> None:
    """Import what the workers need, once, and make one context for all: it takes longer than most inputs."""
    from pipelink.ir import dialect

    dialect.loose_context = cache(dialect.loose_context)
    seeds()
    try_text("place", "module {}")


def attempt(seed: int, index: int) -> str | None:
    """Try one text; what went wrong, or None."""
    return try_text(*make(seed, index, seeds()))


def confirm(seed: int, index: int) -> str | None:
    """MLIR crashed; the tool has to survive it."""
    return try_tool(*make(seed, index, seeds()))
