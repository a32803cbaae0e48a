"""Small compositions for the simulator: every transfer and every kind of step, as contracts alone.

``INPUTS`` has the text of a module for each name, before ``check`` and ``place``.
"""

from __future__ import annotations

from typing import Any

from test.protocol.clusters import CLUSTERS
from test.protocol.contracts import (
    COLUMNS,
    ITEM,
    ROWS,
    SWIZZLED,
    answers,
    barrier,
    calls,
    component,
    count,
    counters,
    into,
    kernel,
    local,
    mbarrier,
    op,
    out,
    role,
    says,
    signal,
    smem,
    token,
)
from test.protocol.orders import ORDERS

TILES = answers("next", "struct<12,4>(i32)")
WORK = calls("work", "struct<12,4>(i32)")
LOADER = component(
    "t.loader",
    role("load", 1, threads="one", registers=[24, 40]),
    out("ab", "tma", f"{SWIZZLED}, {SWIZZLED}", stages=[1, 8]),
    WORK,
    count("k_tiles"),
    says("load", "repeat work { repeat k_tiles+ { ab.acquire; ab.copy; } }"),
)
MAINLOOP = component(
    "t.mainloop",
    role("mma", 8, registers=[152, 240]),
    into("ab", "wgmma", f"{SWIZZLED}, {SWIZZLED}", stages=[2, 8]),
    WORK,
    calls("store"),
    count("k_tiles"),
    says("mma", "repeat work { repeat k_tiles+ { ab.wait; ab.release keep 1; } ab.release; repeat 2 { store; } }"),
)
SCHEDULER = component("t.tiles", TILES)
STORE = component("t.store", answers("store"))


def gemm(stages: int) -> str:
    return LOADER + MAINLOOP + SCHEDULER + STORE + kernel(
        f"load.ab > mma.ab | stages = {stages} : i64", "load.work > tiles.next", "mma.work > tiles.next",
        "mma.store > store.store",
        load="t.loader", mma="t.mainloop", tiles="t.tiles", store="t.store",
    )  # fmt: skip


STAGED = component(
    "t.staged",
    answers("store"),
    out("blocks", tiles=SWIZZLED, stages=[1, 2]),
    says("store", "blocks.acquire; blocks.commit;"),
)
CHUNKS = component(
    "t.chunks",
    role("store", 1, threads="one"),
    into("blocks", "tma", SWIZZLED, stages=[2, 2]),
    WORK,
    count("slots"),
    says("store", "repeat work { repeat slots { blocks.wait; blocks.release keep 1; } }"),
)


def staged() -> str:
    return LOADER + MAINLOOP + SCHEDULER + STAGED + CHUNKS + kernel(
        "load.ab > mma.ab | stages = 2 : i64", "load.work > tiles.next", "mma.work > tiles.next",
        "mma.store > finish.store", "finish.blocks > store.blocks", "store.work > tiles.next",
        op("bind", param="@store::@slots", value=2),
        load="t.loader", mma="t.mainloop", tiles="t.tiles", finish="t.staged", store="t.chunks",
    )  # fmt: skip


def ends(stages: int, tiles: str = ITEM) -> str:
    return (
        component(
            "t.writer",
            role("fill", 2),
            out("x", tiles=tiles, ends=True, may_be_empty=True),
            count("n"),
            says("fill", "repeat n { x.acquire; x.commit; } x.end;"),
        )
        + component(
            "t.reader",
            role("drain", 2),
            into("x", tiles=tiles, ends=True, may_be_empty=True),
            says("drain", "until x { x.wait; x.release; }"),
        )
        + kernel(f"a.x > b.x | stages = {stages} : i64", a="t.writer", b="t.reader")
    )


PAGES = component("t.pages", role("fill", 4), out("x"), count("n"), says("fill", "repeat n { x.acquire; x.commit; }"))
SUM = component("t.sum", role("run", 1), into("x"), count("n"), says("run", "repeat n { x.wait; x.release; }"))
MAX = component(
    "t.max",
    role("run", 4),
    into("x"),
    smem("scratch", 512),
    barrier("met", 128),
    count("n"),
    says(
        "run",
        "repeat n { x.wait; x.release; scratch.write; met.sync; scratch.read by 1 warp; met.sync; }",
    ),
)


def two_readers() -> str:
    return PAGES + SUM + MAX + kernel(
        "p.x > s.x | stages = 2 : i64", "p.x > m.x | stages = 2 : i64", p="t.pages", s="t.sum", m="t.max"
    )  # fmt: skip


def two_pairs() -> str:
    """Two rings, two barriers, two scratch buffers."""
    return PAGES + MAX + kernel(
        "p.x > m.x | stages = 1 : i64", "q.x > w.x | stages = 1 : i64", p="t.pages", m="t.max", q="t.pages", w="t.max"
    )  # fmt: skip


def turns() -> str:
    return component(
        "t.turn",
        role("run", 1, threads="one"),
        token("mine", "in"),
        token("other", "out"),
        count("n"),
        says("run", "repeat n { mine.take; other.pass; }"),
    ) + kernel("a.other > b.mine", "b.other > a.mine | credit = 1 : i64", a="t.turn", b="t.turn")


def ping_pong() -> str:
    """Two consumers of two warpgroups take turns at their tiles, as a ping-pong GEMM does."""
    consumer = component(
        "t.consumer",
        role("mma", 4),
        into("ab", "wgmma", SWIZZLED, stages=[1, 8]),
        token("mine", "in"),
        token("other", "out"),
        count("n"),
        says("mma", "repeat n { mine.take; ab.wait; ab.release; other.pass; }"),
    )
    loader = component(
        "t.feeder",
        role("load", 1, threads="one"),
        out("ab", "tma", SWIZZLED, stages=[1, 8]),
        count("n"),
        says("load", "repeat n { ab.acquire; ab.copy; }"),
    )
    return consumer + loader + kernel(
        "l.ab > a.ab | stages = 1 : i64", "r.ab > b.ab | stages = 1 : i64",
        "a.other > b.mine", "b.other > a.mine | credit = 1 : i64",
        l="t.feeder", r="t.feeder", a="t.consumer", b="t.consumer",
    )  # fmt: skip


def local_ring(stages: int) -> str:
    return component(
        "t.copies",
        role("mma", 4),
        local("ab", stages=[2, 4]),
        count("n"),
        says(
            "mma",
            "repeat ab.stages - 1 { ab.acquire; ab.commit; } repeat n { ab.wait; ab.acquire; ab.commit; ab.release; }",
        ),
    ).replace("stages = [2, 4]", f"stages = [{stages}, {stages}]") + kernel(a="t.copies")


def handover() -> str:
    """A buffer handed from one role to the other by named barriers: one side syncs, the other only arrives."""
    return component(
        "t.pair",
        role("a", 1),
        role("b", 2),
        smem("page", 1024, role="a"),
        barrier("full", 96),
        barrier("free", 96),
        count("n"),
        says("a", "repeat n { free.sync; page.write; full.arrive; }"),
        says("b", "repeat n { free.arrive; full.sync; page.read; }"),
    ).replace(', role = "a"', "") + kernel(a="t.pair")


def choice() -> str:
    return (
        component(
            "t.chooser",
            role("fill", 1),
            out("x"),
            out("y"),
            count("n"),
            says("fill", "repeat n { choose dense { x.acquire; x.commit; } or { y.acquire; y.commit; } }"),
        )
        + component(
            "t.chosen",
            role("run", 1),
            into("x"),
            into("y"),
            count("n"),
            says("run", "repeat n { choose dense { x.wait; x.release; } or { y.wait; y.release; } }"),
        )
        + kernel("a.x > b.x | stages = 1 : i64", "a.y > b.y | stages = 1 : i64", a="t.chooser", b="t.chosen")
    )


def elected() -> str:
    """All warps read, meet, and one of them gives the slot back."""
    return (
        PAGES
        + component(
            "t.elected",
            role("run", 2),
            into("x"),
            barrier("met", 64),
            count("n"),
            says("run", "repeat n { x.wait; met.sync; x.release by 1 warp; }"),
        )
        + kernel("p.x > e.x | stages = 2 : i64", p="t.pages", e="t.elected")
    )


def convert() -> str:
    return component(
        "t.fill", role("run", 2), out("x", tiles=ROWS), count("n"), says("run", "repeat n { x.acquire; x.commit; }")
    ) + component(
        "t.use",
        role("run", 4),
        into("x", "wgmma", SWIZZLED),
        count("n"),
        says("run", "repeat n { x.wait; x.release; }"),
    ) + kernel("a.x > b.x | stages = 2 : i64", a="t.fill", b="t.use")  # fmt: skip


def echo(stages: int, ahead: int = 1) -> str:
    """Requests and answers: the asker is ``ahead`` requests ahead, which takes that many slots."""
    return (
        component(
            "t.asker",
            role("ask", 1),
            out("question"),
            into("reply"),
            count("n"),
            says(
                "ask",
                f"repeat {ahead} {{ question.acquire; question.commit; }} "
                "repeat n { question.acquire; question.commit; reply.wait; reply.release; } "
                f"repeat {ahead} {{ reply.wait; reply.release; }}",
            ),
        )
        + component(
            "t.replier",
            role("run", 1),
            into("question"),
            out("reply"),
            count("n"),
            says(
                "run",
                f"repeat {ahead} {{ question.wait; reply.acquire; reply.commit; question.release; }} "
                "repeat n { question.wait; reply.acquire; reply.commit; question.release; }",
            ),
        )
        + kernel(
            f"a.question > b.question | stages = {stages} : i64",
            f"b.reply > a.reply | stages = {stages} : i64",
            a="t.asker",
            b="t.replier",
        )
    )


def chain() -> str:
    """No protocol stated: defaults, from a counted producer to the last reader."""
    return (
        PAGES
        + component("t.middle", role("run", 2), into("x"), out("y"))
        + component("t.last", role("run", 1), into("y"))
        + kernel("p.x > m.x | stages = 2 : i64", "m.y > z.y | stages = 1 : i64", p="t.pages", m="t.middle", z="t.last")
    )


def overlaid() -> str:
    """Two buffers of one role on the same bytes, used one after the other."""
    return component(
        "t.phases",
        role("run", 4),
        smem("early", 1024, live=[0, 1]),
        smem("late", 1024, live=[1, 2]),
        barrier("met", 128),
        count("n"),
        says(
            "run",
            "repeat n { early.write; met.sync; early.read; met.sync; late.write; met.sync; late.read; met.sync; }",
        ),
    ) + kernel(a="t.phases")


def unstated() -> str:
    """Two buffers on the same bytes, of which no protocol speaks: the contract says that they live apart."""
    return component(
        "t.quiet",
        role("run", 2, registers=[24, 64]),
        into("x"),
        smem("early", 1024, live=[0, 1]),
        smem("late", 1024, live=[1, 2]),
        count("n"),
        says("run", "repeat n { x.wait; x.release; }"),
    ) + PAGES + kernel("p.x > q.x | stages = 1 : i64", p="t.pages", q="t.quiet")  # fmt: skip


def bound() -> str:
    return PAGES + SUM + kernel(
        "p.x > s.x | stages = 2 : i64",
        op("bind", param="@p::@n", value=3),
        op("bind", param="@s::@n", value=3),
        p="t.pages", s="t.sum",
    )  # fmt: skip


def pair_of_slots() -> str:
    """Two slots are held at a time: one less and it hangs."""
    return (
        PAGES
        + component(
            "t.wide",
            role("run", 4),
            into("x", stages=[2, 8]),
            count("n"),
            says("run", "repeat n { x.wait; x.release keep 1; }"),
        )
        + kernel("p.x > s.x | stages = 2 : i64", p="t.pages", s="t.wide")
    )


def accumulators() -> str:
    """Tensor memory: operands by TMA, tensor cores that arrive for one thread, warps that read accumulators."""
    return component(
        "t.operands",
        role("load", 1, threads="one"),
        out("ab", "tma", SWIZZLED),
        count("n"),
        count("k"),
        says("load", "repeat n { repeat k+ { ab.acquire; ab.copy; } }"),
    ) + component(
        "t.umma",
        role("mma", 1, threads="one"),
        into("ab", "tcgen05", SWIZZLED),
        out("acc", "tcgen05", COLUMNS, stages=[1, 2]),
        count("n"),
        count("k"),
        says("mma", "repeat n { acc.acquire; repeat k+ { ab.wait; ab.release; } acc.commit; }"),
    ) + component(
        "t.finish",
        role("run", 4),
        into("acc", "tcgen05", COLUMNS, stages=[1, 2]),
        count("n"),
        says("run", "repeat n { acc.wait; acc.release; }"),
    ) + kernel(
        "l.ab > m.ab | stages = 2 : i64", "m.acc > f.acc | stages = 1 : i64",
        target="sm_100a", l="t.operands", m="t.umma", f="t.finish",
    )  # fmt: skip


def clustered() -> str:
    return component(
        "t.half",
        role("load", 1, threads="one"),
        out("ab", "tma", f"{SWIZZLED}, {SWIZZLED}"),
        count("n"),
        says("load", "repeat n { ab.acquire; ab.copy; }"),
    ) + component(
        "t.both",
        role("mma", 4),
        into("ab", "wgmma", f"{SWIZZLED}, {SWIZZLED}"),
        count("n"),
        says("mma", "repeat n { ab.wait; ab.release; }"),
    ) + kernel(
        'l.ab > m.ab | stages = 1 : i64, transfer = "cluster", shared = [1 : i64]', cluster=2, l="t.half", m="t.both"
    )  # fmt: skip


def pages() -> str:
    """Pages go through global memory: threads write and signal, TMA fetches, and who has read signals back."""
    return component(
        "t.author",
        role("fill", 1),
        counters(),
        signal("written", "out"),
        signal("read", "in"),
        count("n"),
        says("fill", "written.signal; repeat n { written.signal; read.await; } read.await;"),
    ) + component(
        "t.fetcher",
        role("load", 1, threads="one"),
        counters(),
        signal("written", "in"),
        out("x", "tma"),
        count("n"),
        says("load", "repeat n + 1 { written.await; x.acquire; x.copy; }"),
    ) + component(
        "t.critic",
        role("run", 2),
        counters(),
        signal("read", "out"),
        into("x"),
        barrier("met", 64),
        count("n"),
        says("run", "repeat n + 1 { x.wait; x.release; met.sync; read.signal by 1 warp; }"),
    ) + kernel(
        "a.written > f.written", "f.x > c.x | stages = 1 : i64", "c.read > a.read",
        a="t.author", f="t.fetcher", c="t.critic",
    )  # fmt: skip


def polled() -> str:
    """A flag without device code of the linker's: its component polls, and orders its copies behind the poll itself."""
    flag: dict[str, Any] = {"reset": "launch"}
    zeroed = op("workspace", name="flags", bytes="4", init="zero") + op("resident")
    return component(
        "t.flag", role("run", 1), signal("ready", "out", **flag), zeroed, says("run", "ready.signal;")
    ) + component(
        "t.poller",
        role("load", 1, threads="one"),
        signal("see", "in", **flag),
        out("x", "tma"),
        count("n"),
        says("load", "see.await; fence async; repeat n { x.acquire; x.copy; }"),
    ) + SUM + kernel(
        "f.ready > l.see", "l.x > s.x | stages = 1 : i64", f="t.flag", l="t.poller", s="t.sum"
    )  # fmt: skip


def own_mbarriers(slots: int) -> str:
    """Buffers handed from one role to another by mbarriers of their component's own."""
    pages = range(slots)
    full = " ".join(f"page{i}.write; full.arrive;" for i in pages)
    again = " ".join(f"free.wait; page{i}.write; full.arrive;" for i in pages)
    last = " ".join(f"free.wait; page{i}.write;" for i in pages)
    taken = " ".join(f"full.wait; page{i}.read; met.sync; free.arrive by 1 warp;" for i in pages)
    return component(
        "t.own",
        role("a", 1),
        role("b", 2),
        *(smem(f"page{i}", 1024) for i in pages),
        mbarrier("full", 32, slots),
        mbarrier("free", 1, slots),
        barrier("met", 64),
        count("n"),
        says("a", f"{full} repeat n {{ {again} }} {last}"),
        says("b", f"{taken} repeat n {{ {taken} }}"),
    ) + kernel(a="t.own")


def exclusive() -> str:
    """Two roles on the same warps, one after the other: the second reads on in the ring of the first, and meets a role
    on other warps."""
    return component(
        "t.sender", role("run", 1), out("x"), says("run", "repeat 5 { x.acquire; x.commit; }")
    ) + component(
        "t.taker", role("run", 2), into("x"), says("run", "repeat 2 { x.wait; x.release; }")
    ) + component(
        "t.next",
        role("run", 2),
        role("note", 1),
        into("x", role="run"),
        barrier("met", 96),
        says("run", "repeat 3 { x.wait; x.release; } met.sync;"),
        says("note", "met.sync;"),
    ) + kernel(
        "w.x > a.x | stages = 2 : i64", "w.x > b.x | stages = 2 : i64",
        op("exclusive", name="g", roles="[@a::@run, @b::@run]"),
        w="t.sender", a="t.taker", b="t.next",
    )  # fmt: skip


def scratch() -> str:
    """Buffers of roles of several sizes at one place: four warps, which divide theirs, one warp, and four again, which
    meet."""
    return component(
        "t.plain", role("run", 4), smem("scratch", 512), says("run", "scratch.write;")
    ) + component(
        "t.four",
        role("run", 4),
        role("note", 1),
        smem("scratch", 512, role="run"),
        barrier("met", 160),
        says("run", "scratch.write; met.sync; scratch.read by 1 warp;"),
        says("note", "met.sync;"),
    ) + component(
        "t.alone", role("run", 1), smem("scratch", 512), says("run", "scratch.write; scratch.read;")
    ) + kernel(
        op("exclusive", name="g", roles="[@a::@run, @c::@run, @b::@run]"),
        a="t.plain", b="t.four", c="t.alone",
    )  # fmt: skip


def stored(text: str, *, meets: bool = True) -> str:
    """A buffer that the threads of a role write, together or each a part, and bulk copies read."""
    return component(
        "t.tiles",
        role("run", 2),
        smem("tile", 1024),
        *([barrier("met", 64)] if meets else []),
        count("n"),
        says("run", text),
    ) + kernel(a="t.tiles")


def stored_by_another() -> str:
    """One role writes a buffer and another stores it, which fences once it knows."""
    return component(
        "t.pair",
        role("fill", 1),
        role("run", 1, threads="one"),
        smem("tile", 1024),
        mbarrier("full", 32, 1),
        mbarrier("empty", 1, 1),
        count("n"),
        says("fill", "repeat n { tile.write; full.arrive; empty.wait; }"),
        says("run", "repeat n { full.wait; fence async; tile.store; tile.stored; empty.arrive; }"),
    ) + kernel(a="t.pair")


def stored_under() -> str:
    """A buffer that lies where bulk copies out of another one were reading: of one role, and of the next of a group."""
    return component(
        "t.first",
        role("run", 1),
        smem("early", 1024, live=[0, 1]),
        smem("late", 1024, live=[1, 2]),
        barrier("met", 32),
        says("run", "early.write; fence async; early.store; early.stored; met.sync; late.write; late.read;"),
    ) + component(
        "t.second", role("run", 1), smem("tile", 1024), says("run", "tile.write; tile.read;")
    ) + kernel(
        op("exclusive", name="g", roles="[@a::@run, @b::@run]"), a="t.first", b="t.second"
    )  # fmt: skip


INPUTS: dict[str, str] = {
    "gemm_2": gemm(2),
    "gemm_3": gemm(3),
    "staged": staged(),
    "ends_1": ends(1),
    "ends_2": ends(2),
    "two_readers": two_readers(),
    "two_pairs": two_pairs(),
    "turns": turns(),
    "ping_pong": ping_pong(),
    "local_2": local_ring(2),
    "local_3": local_ring(3),
    "handover": handover(),
    "choice": choice(),
    "elected": elected(),
    "convert": convert(),
    "echo": echo(1),
    "chain": chain(),
    "overlaid": overlaid(),
    "unstated": unstated(),
    "bound": bound(),
    "pair_of_slots": pair_of_slots(),
    "accumulators": accumulators(),
    "clustered": clustered(),
    "pages": pages(),
    "polled": polled(),
    "own_mbarriers_1": own_mbarriers(1),
    "own_mbarriers_2": own_mbarriers(2),
    **CLUSTERS,
    **ORDERS,
    "exclusive": exclusive(),
    "scratch": scratch(),
    "stored": stored(
        "repeat n { tile.stored by 1 thread; met.sync; tile.write; fence async; met.sync; tile.store by 1 thread; }"
    ),
    "stored_parts": stored(
        "repeat n { repeat 2 { tile.stored keep 1; tile.write; fence async; tile.store; } } tile.stored;", meets=False
    ),
    "stored_by_another": stored_by_another(),
    "stored_under": stored_under(),
}
