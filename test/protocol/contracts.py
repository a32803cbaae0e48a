"""Contracts and kernels as the text of modules, in few words."""

from __future__ import annotations

from typing import Any

ITEM = '{element = "f32", shape = [32, 32], layout = "row_major", bytes = 4096 : i64, align = 128 : i64}'
SWIZZLED = '{element = "bf16", shape = [64, 64], layout = "swizzle128", bytes = 8192 : i64, align = 1024 : i64}'
ROWS = '{element = "bf16", shape = [64, 64], layout = "row_major", bytes = 8192 : i64, align = 128 : i64}'
COLUMNS = '{element = "f32", shape = [128, 64], layout = "row_major", bytes = 32768 : i64, space = "tmem", columns = 64 : i64}'  # noqa: E501


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int):
        return f"{value} : i64"
    if isinstance(value, list):
        return "[" + ", ".join(str(item) for item in value) + "]"
    return value if value.startswith(("[", "@", "{")) else f'"{value}"'


def op(op: str, /, **attributes: Any) -> str:
    inner = ", ".join(f"{key} = {_value(value)}" for key, value in attributes.items())
    return f'  "pipelink.{op}"() {{{inner}}} : () -> ()\n'


def role(name: str, warps: int, **more: Any) -> str:
    return op("role", sym_name=name, warps=warps, **more)


def _stream(name: str, direction: str, touch: str, tiles: str, **more: Any) -> str:
    stages = more.pop("stages", [1, 8])
    return op(
        "port",
        sym_name=name,
        direction=direction,
        kind="stream",
        touch=touch,
        tiles=f"[{tiles}]",
        stages=stages,
        **more,
    )


def out(name: str, touch: str = "threads", tiles: str = ITEM, **more: Any) -> str:
    return _stream(name, "out", touch, tiles, **more)


def into(name: str, touch: str = "threads", tiles: str = ITEM, **more: Any) -> str:
    return _stream(name, "in", touch, tiles, **more)


def local(name: str, tiles: str = ITEM, **more: Any) -> str:
    return _stream(name, "local", "cp_async", tiles, **more)


def token(name: str, direction: str, **more: Any) -> str:
    return op("port", sym_name=name, direction=direction, kind="token", **more)


def calls(name: str, signature: str = "void(i32)", direction: str = "calls") -> str:
    return op("port", sym_name=name, direction=direction, kind="call", signature=signature)


def answers(name: str, signature: str = "void(i32)") -> str:
    return calls(name, signature, "answers")


def smem(name: str, size: int, **more: Any) -> str:
    return op("smem", sym_name=name, bytes=size, align=128, **more)


def barrier(name: str, threads: int) -> str:
    return op("barrier", sym_name=name, threads=threads)


def mbarrier(name: str, arrivals: int, count: int) -> str:
    return op("mbarrier", sym_name=name, arrivals=arrivals, count=count)


def cluster_barrier(name: str) -> str:
    return op("cluster_barrier", sym_name=name)


def turns(name: str) -> str:
    return op("turns", sym_name=name)


def signal(name: str, direction: str, **more: Any) -> str:
    stated = {"scope": "gpu", "owner": "workspace", "workspace": "flags", "reset": "epoch", **more}
    return op("port", sym_name=name, direction=direction, kind="signal", **stated)


def counters(init: str = "once") -> str:
    """The memory of signals, as PL_COUNTERS declares it."""
    return (
        op("workspace", name="flags", bytes="1152", init=init)
        + op("param", sym_name="flags_memory", type="u32*", bytes=8, align=8)
        + op("param", sym_name="flags_count", type="i32", bytes=4, align=4)
        + op("bind", param="flags_memory", to="flags")
        + op("bind", param="flags_count", to="8")
        + op("resident")
    )


def count(name: str) -> str:
    """A trip count: a scalar argument of that name."""
    return op("param", sym_name=name, type="i32", bytes=4, align=4)


def says(of: str, text: str) -> str:
    return op("protocol", of=of, text=text)


def component(name: str, *parts: str) -> str:
    return f"module @{name} attributes {{pipelink.component = {{abi = 1 : i64}}}} {{\n{''.join(parts)}}}\n"


def kernel(*parts: str, target: str = "sm_90a", cluster: int = 1, **instances: str) -> str:
    """``parts``: ``a.x > b.y`` connects, with attributes behind a blank; other text is an operation."""
    lines = [op("instance", sym_name=name, component=f"@{of}") for name, of in instances.items()]
    for part in parts:
        if ">" not in part or part.startswith("  "):
            lines.append(part)
            continue
        ends, _, more = part.partition(" | ")
        source, target_port = (f"@{end.strip().replace('.', '::@')}" for end in ends.split(">"))
        extra = f", {more}" if more else ""
        lines.append(f'  "pipelink.connect"() {{source = {source}, target = {target_port}{extra}}} : () -> ()\n')
    lines.append(f'  "pipelink.grid"() {{value = ["{cluster}", "1", "1"]}} : () -> ()\n')
    if cluster > 1:
        lines.append(op("cluster", value=[f"{cluster} : i64", "1 : i64", "1 : i64"]))
        lines.append(op("promise", name="cluster_lockstep", value=2))
    return f'module @k attributes {{pipelink.kernel = {{target = "{target}"}}}} {{\n{"".join(lines)}}}\n'
