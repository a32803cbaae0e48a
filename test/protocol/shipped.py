"""Shipped compositions as small as they can be: their objects' contracts, with rings two slots deep."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pipelink.ir import program
from pipelink.ir.views import Component
from pipelink.objects.to_ir import declare
from pipelink.passes.pipeline import parse_pipeline, run_pipeline
from test.compositions import Objects, compose

#: One of each kind that has rings, tokens or barriers.
NAMES = (
    "gemm-wgmma_128x128x64-store-grouped_tiles",
    "gemm-cp_async-store-static_tiles",
    "gemm-sm120_128x128x64-store-grouped_tiles",
    "gemm-fp8_block_128x128x128-store-grouped_tiles",
    "gemm-cluster_128x128x64-bias_relu-paired_tiles",
    "gemm-wgmma_128x128x64-staged_store-grouped_tiles",
    "gemm-cp_async-store_tma-grouped_tiles",
    "gemm-tcgen05_128x128x64-store-grouped_tiles-sm_100a",
    "gemm-tcgen05_pair_256x256x64-store-paired_tiles-sm_100a",
    "placed",
    "twice",
    "ring_plain_swizzled",
    "ring_two_readers",
    "turns",
    "different_readers",
    "two_rings",
    "work_items",
)


def texts(folder: Path, only: list[str] | None = None) -> dict[str, str]:
    """The placed module of each composition, without the components that it does not use.  Compiles into ``folder``."""
    objects = Objects(folder)
    return {name: _text(name, objects) for name in NAMES if not only or name in only}


def _text(name: str, objects: Objects) -> str:
    kernel = compose(name, objects)
    module = kernel.module
    for item in kernel.objects:
        declare(item, module)
    views = program(module)
    used = {instance.component for one in views.kernels for instance in one.instances.values()}
    for component in views.components.values():
        if component.name not in used:
            component.op.erase()
    _shallow(views.kernels[0].connects, views.components, views.kernels[0].instances)
    run_pipeline(parse_pipeline("check,place"), module.operation)
    return str(module)


def _shallow(connects: Any, components: dict[str, Component], instances: Any) -> None:
    """Rings as shallow as both ends allow, and two slots where they do not mind: what goes wrong shows earlier."""
    for connect in connects:
        ends = [components[instances[end.root].component].ports[end.leaf] for end in (connect.source, connect.target)]
        if ends[0].kind == "stream":
            connect.set("stages", max(2, *(port.stages[0] for port in ends)) if ends[0].stages[1] > 1 else 1)
