"""Programs for the operations of test/megakernels.py and of :data:`LAUNCH`, with the runtime alone.

And a simulator that runs their arrays as the components' code does, in any order of the CTAs.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any, Literal

from pipelink.runtime import Program
from pipelink.runtime.manifest import LaunchContract

PAGE = 16384  # bytes of test::stream's pages
ROWS_OF = {2048: 4, 8192: 1}  # rows in a page, by columns


def add_stages(program: Program, stages: list[tuple[int, int]]) -> list[int]:
    """Products one behind the other, of rows and columns as ``stages`` says, their pages dealt to the CTAs in turn.
    The number of each stage's first page, and behind the last that of all."""
    ctas, firsts = len(program.ctas), [0]
    for number, (rows, columns) in enumerate(stages):
        pages = rows * columns * 2 // PAGE
        for cta in range(ctas):
            program.add(
                cta,
                f"matvec_{columns}_operation",
                first=firsts[-1] + cta,
                step=ctas,
                count=max(0, -(-(pages - cta) // ctas)),
                stage=number,
                awaited=ctas,
                row=cta * ROWS_OF[columns],
            )
        firsts.append(firsts[-1] + pages)
    return firsts


def _operation(name: str, opcode: int, operands: str, *signals: tuple[str, str, str]) -> dict[str, Any]:
    names = operands.split()
    return {
        "name": name,
        "opcode": opcode,
        "bytes": 4 * len(names),
        "operands": [{"name": one, "type": "i32", "offset": 4 * at} for at, one in enumerate(names)],
        "signals": [
            {"does": does, "counters": "stages", "index": index, "count": count} for does, index, count in signals
        ],
    }


_STREAM = (
    "first step count stage awaited row",
    ("await", "stage - 1", "min(stage, 1) * awaited"),
    ("add", "stage", "1"),
)
#: Two operations like test::stream, and one that awaits and adds what its operands say.
LAUNCH: dict[str, Any] = {
    "kernel": "mega",
    "arguments": [
        {"name": "program", "kind": "tensor", "element": "i32", "shape": ["CTAS", "LONGEST", "32"]},
        {"name": "lengths", "kind": "tensor", "element": "i32", "shape": ["CTAS"]},
    ],
    "dimensions": ["CTAS", "LONGEST"],
    "grid": ["CTAS"],
    "threads": 128,
    "smem_bytes": 0,
    "resident": True,
    "workspaces": [{"name": "stages", "bytes": "128 * (1 + (LONGEST))", "init": "once"}],
    "parameters": {"bytes": 0, "fields": []},
    "operations": [
        _operation("matvec_2048_operation", 0, *_STREAM),
        _operation("matvec_8192_operation", 1, *_STREAM),
        _operation("hand", 2, "at least to amount", ("await", "at", "least"), ("add", "to", "amount")),
    ],
}
COUNTERS = 1000  # LONGEST for whoever checks programs of hands


def contract(**changes: Any) -> LaunchContract:
    return LaunchContract.from_json({**LAUNCH, **changes})


# ---------------------------------------------------------------- what the components' code does with an instruction
Action = tuple[Literal["await", "add"], int, int]


def _streamed(operands: list[int]) -> list[Action]:
    stage, awaited = operands[3], operands[4]
    return [*([("await", stage - 1, awaited)] if stage > 0 else []), ("add", stage, 1)]


def _hand(operands: list[int]) -> list[Action]:
    at, least, to, amount = operands[:4]
    return [("await", at, least), ("add", to, amount)]


CODE: dict[int, Callable[[list[int]], list[Action]]] = {0: _streamed, 1: _streamed, 2: _hand}


def simulate(program: Program, generator: random.Random) -> Literal["done", "hang", "early"]:
    """One execution, a random CTA's next action at a time.  hang: some CTA never ends; early: all do, and some went on
    where more was added later."""
    array: Any = program.instructions().tolist()
    lengths = program.lengths().tolist()
    left: list[list[Action]] = []
    for rows, length in zip(array, lengths, strict=True):
        left.append([action for row in rows[:length] for action in CODE[row[0]](row[4:])][::-1])
    counters: dict[int, int] = {}
    passed: list[tuple[int, int]] = []
    alive = [cta for cta, actions in enumerate(left) if actions]
    asleep: dict[int, list[int]] = {}
    while alive:
        place = generator.randrange(len(alive))
        cta = alive[place]
        does, counter, amount = left[cta][-1]
        now = counters.get(counter, 0)
        if does == "await" and now < amount:
            asleep.setdefault(counter, []).append(cta)
            alive[place] = alive[-1]
            alive.pop()
            continue
        if does == "await" and amount > 0:
            passed.append((counter, now))
        elif does == "add":
            counters[counter] = now + amount
            alive += asleep.pop(counter, ())
        left[cta].pop()
        if not left[cta]:
            alive.remove(cta)
    if any(left):
        return "hang"
    return "early" if any(now < counters[counter] for counter, now in passed) else "done"


# ---------------------------------------------------------------- programs as lists, to be changed
Listed = list[list[tuple[str, dict[str, int]]]]  # by CTA: operations and operands


def built(listed: Listed, of: LaunchContract) -> Program:
    program = Program(of, len(listed))
    for cta, instructions in enumerate(listed):
        for operation, operands in instructions:
            program.add(cta, operation, **operands)
    return program


def staged(generator: random.Random) -> Listed:
    """Stages one behind the other, as :func:`add_stages` has them."""
    ctas = generator.randrange(2, 9)
    return [
        [
            (
                f"matvec_{generator.choice(list(ROWS_OF))}_operation",
                {"first": 0, "step": ctas, "count": 1, "stage": stage, "awaited": ctas, "row": cta},
            )
            for stage in range(6)
        ]
        for cta in range(ctas)
    ]


def dealt(generator: random.Random) -> Listed:
    """Tasks of several instructions each, dealt to CTAs at random; a task awaits one before it."""
    listed: Listed = [[] for _ in range(generator.randrange(2, 7))]
    totals: list[int] = []
    for task in range(generator.randrange(3, 12)):
        amounts = [generator.randrange(1, 4) for _ in range(generator.randrange(1, 5))]
        for amount in amounts:
            at = generator.randrange(task) if task and generator.random() < 0.8 else None
            awaited = {"at": 0, "least": 0} if at is None else {"at": at, "least": totals[at]}
            generator.choice(listed).append(("hand", {**awaited, "to": task, "amount": amount}))
        totals.append(sum(amounts))
    return listed


def mutated(listed: Listed, generator: random.Random) -> tuple[str, Listed]:
    """The program with one thing changed, and what that is."""
    changed = [[(name, dict(operands)) for name, operands in instructions] for instructions in listed]
    cta = generator.choice([cta for cta, instructions in enumerate(changed) if len(instructions) > 1])
    number = generator.randrange(len(changed[cta]))
    name, operands = changed[cta][number]
    kind = generator.choice(("dropped", "threshold", "swapped", "counter"))
    if kind == "dropped":
        del changed[cta][number]
    elif kind == "swapped":
        other = generator.randrange(len(changed[cta]))
        changed[cta][number], changed[cta][other] = changed[cta][other], changed[cta][number]
    elif name == "hand":
        key = "least" if kind == "threshold" else generator.choice(("at", "to"))
        operands[key] = max(0, operands[key] + generator.choice((-1, 1, 2)))
    else:
        key = "awaited" if kind == "threshold" else "stage"
        operands[key] = max(0, operands[key] + generator.choice((-1, 1, 2)))
    return kind, changed
