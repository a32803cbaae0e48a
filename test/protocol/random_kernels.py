"""Random small kernels: a global order of transfers in nested loops, seen by each role, with a few steps changed.

Two or three roles are linked by streams and tokens; a role takes its own steps of the global order.  That cannot hang;
then some steps are exchanged, dropped, doubled or held longer, or rings are shallower, so that about half can.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, replace
from typing import Any

from pipelink.support.protocol import Action, Block, Callers, Choose, Repeat, Step, Until
from test.protocol.changes import spell
from test.protocol.contracts import barrier, component, count, into, kernel, out, role, says, smem, token

KEEP: dict[bool, dict[str, Any]] = {False: {}, True: {"keep": 1, "some": False}}
COUNTS = ("n", "m", "2", "n+", "1")


@dataclass(frozen=True)
class Channel:
    name: str
    source: int
    target: int
    kind: str  # stream, token
    stages: int = 1
    credit: int = 0


@dataclass(frozen=True)
class Loop:
    count: str
    body: tuple[Loop | Channel | str, ...]  # a string: what all roles meet at, or use, by themselves


def kernel_text(seed: int) -> str:
    """A module before check and place; not every one passes these."""
    rng = random.Random(seed)
    roles = rng.choice((2, 2, 3))
    warps = [rng.choice((1, 1, 2, 4)) for _ in range(roles)]
    channels = []
    for i in range(rng.randint(1, 3)):
        source, target = rng.sample(range(roles), 2)
        kind = rng.choice(("stream", "stream", "token"))
        channels.append(Channel(f"c{i}", source, target, kind, rng.randint(1, 2), rng.randint(0, 1)))
    order = _order(rng, channels, 0)
    parts: list[str] = []
    for me in range(roles):
        body = _seen(rng, order, me, warps[me])
        for _ in range(rng.choice((0, 0, 1, 1, 2))):
            body = _changed(rng, body, warps[me])
        ports = [_port(channel, me) for channel in channels if me in (channel.source, channel.target)]
        stated = [says("run", spell(body))] if body else []
        local = [smem("own", 256), barrier("met", 32 * warps[me])]
        parts.append(component(f"r.role{me}", role("run", warps[me]), *ports, *local, count("n"), count("m"), *stated))
    links = [
        f"a{c.source}.{c.name} > a{c.target}.{c.name} | "
        + (f"stages = {c.stages} : i64" if c.kind == "stream" else f"credit = {c.credit} : i64")
        for c in channels
    ]
    return "".join(parts) + kernel(*links, **{f"a{me}": f"r.role{me}" for me in range(roles)})


def _port(channel: Channel, me: int) -> str:
    if channel.kind == "token":
        return token(channel.name, "out" if me == channel.source else "in")
    return out(channel.name) if me == channel.source else into(channel.name)


def _order(rng: random.Random, channels: list[Channel], depth: int) -> tuple[Loop | Channel | str, ...]:
    found: list[Loop | Channel | str] = []
    for _ in range(rng.randint(1, 3)):
        if depth < 2 and rng.random() < 0.5:
            found.append(Loop(rng.choice(COUNTS), _order(rng, channels, depth + 1)))
        elif rng.random() < 0.15:
            found.append("own")
        else:
            found.append(rng.choice(channels))
    return tuple(found)


def _seen(rng: random.Random, order: tuple[Loop | Channel | str, ...], me: int, warps: int) -> Block:
    found: list[Step] = []
    for item in order:
        if isinstance(item, Loop):
            body = _seen(rng, item.body, me, warps)
            if body:
                found.append(Repeat(item.count.rstrip("+"), body, item.count.endswith("+")))
        elif isinstance(item, str):
            if rng.random() < 0.5:
                by = Callers(1, "warp") if rng.random() < 0.5 and warps > 1 else None
                met = Action("met", "sync")
                found += [Action("own", "write"), met, Action("own", "read", by=by), met]
        elif item.kind == "token" and me == item.source:
            found.append(Action(item.name, "pass"))
        elif item.kind == "token" and me == item.target:
            found.append(Action(item.name, "take"))
        elif me == item.source:
            found += [Action(item.name, "acquire"), Action(item.name, "commit")]
        elif me == item.target:
            found += [Action(item.name, "wait"), Action(item.name, "release", **KEEP[rng.random() < 0.1])]
    return tuple(found)


def _changed(rng: random.Random, block: Block, warps: int) -> Block:
    """One step of the block, or of a block in it, is another."""
    if not block:
        return block
    i = rng.randrange(len(block))
    step = block[i]
    if isinstance(step, Repeat | Until) and rng.random() < 0.7:
        return (*block[:i], replace(step, body=_changed(rng, step.body, warps)), *block[i + 1 :])
    match rng.randrange(7):
        case 0:
            return (*block[:i], *block[i + 1 :])
        case 1:
            return (*block[: i + 1], step, *block[i + 1 :])
        case 2 | 3 if i + 1 < len(block):
            return (*block[:i], block[i + 1], step, *block[i + 2 :])
        case 4 if isinstance(step, Action) and step.verb in ("release", "commit"):
            return (*block[:i], replace(step, keep=1 - step.keep, some=False), *block[i + 1 :])
        case 5 if isinstance(step, Action) and warps > 1:
            return (*block[:i], replace(step, by=None if step.by else Callers(1, "warp")), *block[i + 1 :])
        case 6 if isinstance(step, Repeat):
            return (*block[:i], replace(step, count=rng.choice(("n", "m", "n + 1", "2"))), *block[i + 1 :])
        case _:
            name = rng.choice(("x", "y"))
            return (*block[:i], Choose(name, ((step,), ())), *block[i + 1 :])


def ending_text(seed: int) -> str:
    """A stream that ends, through a stage in the middle, with a few steps changed."""
    rng = random.Random(seed)
    warps = [rng.choice((1, 2)) for _ in range(3)]
    stages = [rng.randint(1, 2) for _ in range(2)]
    ends = rng.random() < 0.6
    keep = KEEP[rng.random() < 0.3]
    fill = (Action("x", "acquire"), Action("x", "commit"))
    put = (Action("y", "acquire"), Action("y", "commit"))
    first: Block = (Repeat("n", fill), Action("x", "end"))
    inner: Block = (Action("x", "wait"), *put, Action("x", "release", **keep))
    middle: Block = (Until("x", inner), *((Action("y", "end"),) if ends else ()))
    take = (Action("y", "wait"), Action("y", "release"))
    last: Block = (Until("y", take),) if ends else (Repeat("n", take),)
    blocks = [first, middle, last]
    for _ in range(rng.randint(0, 2)):
        me = rng.randrange(3)
        blocks[me] = _changed(rng, blocks[me], warps[me])
    ports = [
        out("x", ends=True, may_be_empty=True),
        into("x", ends=True, may_be_empty=True) + out("y", **({"ends": True, "may_be_empty": True} if ends else {})),
        into("y", **({"ends": True, "may_be_empty": True} if ends else {})),
    ]
    parts = [
        component(
            f"r.part{i}",
            role("run", warps[i]),
            ports[i],
            count("n"),
            count("m"),
            *([says("run", spell(blocks[i]))] if blocks[i] else []),
        )
        for i in range(3)
    ]
    return "".join(parts) + kernel(
        f"a.x > b.x | stages = {stages[0]} : i64", f"b.y > c.y | stages = {stages[1]} : i64",
        a="r.part0", b="r.part1", c="r.part2",
    )  # fmt: skip


def meeting_text(seed: int) -> str:
    """Roles of one component that hand buffers over by named barriers, with a few steps changed."""
    rng = random.Random(seed)
    roles = rng.choice((2, 2, 3))
    warps = [rng.choice((1, 2, 4)) for _ in range(roles)]
    bodies: list[list[Step]] = [[] for _ in range(roles)]
    barriers: list[str] = []
    for i in range(rng.randint(1, 3)):
        here = rng.sample(range(roles), 2)
        writer, reader = here
        barriers += [barrier(f"{what}{i}", 32 * (warps[writer] + warps[reader])) for what in ("full", "free")]
        tell = [rng.choice(("sync", "arrive")) for _ in range(2)]
        bodies[writer] += [Action("page", "write"), Action(f"full{i}", tell[0]), Action(f"free{i}", "sync")]
        bodies[reader] += [Action(f"full{i}", "sync"), Action("page", "read"), Action(f"free{i}", tell[1])]
    looped = rng.choice(("n", "2", "n+", None))
    said = []
    for me in range(roles):
        body: Block = tuple(bodies[me])
        if looped is not None and body:
            body = (Repeat(looped.rstrip("+"), body, looped.endswith("+")),)
        for _ in range(rng.choice((0, 1, 1, 2))):
            body = _changed(rng, body, warps[me])
        if body:
            said.append(says(f"role{me}", spell(body)))
    made = [role(f"role{me}", warps[me]) for me in range(roles)]
    return component("r.all", *made, smem("page", 256), *barriers, count("n"), count("m"), *said) + kernel(a="r.all")
