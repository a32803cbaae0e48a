"""PipeLink's causal attention, heads of 128, with the Python mask beside the causal one: o = attention(q, k, v), bf16.

``python examples/attention/numba_mask/link.py OBJECTS OUTPUT.plk``: OBJECTS holds ``attention_loader.o``,
``attention_core.o``, ``attention_walkers.o``, ``attention_masks.o``, ``attention_sinks.o`` and ``attention_outputs.o``,
which pl-cc makes from pipelink/components.
"""

import sys
from pathlib import Path

import mask

import pipelink


def compose(objects: Path) -> pipelink.Kernel:
    """The kernel; the mask is compiled here and never becomes a file."""
    kernel = pipelink.Kernel("attention", target="sm_90a")
    load = kernel.add(objects / "attention_loader.o", "attention_loader_128", name="load")
    core = kernel.add(objects / "attention_core.o", "attention_core_128", name="core")
    walk = kernel.add(objects / "attention_walkers.o", "attention_causal_128", name="walk")
    for port in ("q", "k", "v"):
        kernel.connect(getattr(load, port), getattr(core, port))
    for role in (load, core):
        kernel.connect(role.work, walk.next)
        kernel.connect(role.blocks, walk.blocks)
    kernel.connect(core.score, kernel.add(mask.component(), name="every").score)
    kernel.connect(core.mask, kernel.add(objects / "attention_masks.o", "attention_causal_mask").mask)
    kernel.connect(core.sink, kernel.add(objects / "attention_sinks.o", "attention_no_sink").sink)
    kernel.connect(core.store, kernel.add(objects / "attention_outputs.o", "attention_store_128").store)
    return kernel


if __name__ == "__main__":
    try:
        linked = compose(Path(sys.argv[1])).link()
        linked.save(sys.argv[2])
    except pipelink.LinkError as problem:
        sys.exit(str(problem))
    print(linked.audit)
