"""PipeLink's attention with a core that is written with CuTe: o = attention(q, k, v), bf16, heads of 128.

``python examples/attention/cute_core/link.py OBJECTS OUTPUT.plk [VARIANT]``: what is missing in folder OBJECTS is
compiled into it, the library's parts and this folder's core.  VARIANT is one of ``pipelink.components.attention``;
``causal`` if left out.  Those that split take the core for few queries, and make rows of four heads.
"""

import sys
from pathlib import Path

import pipelink
from pipelink import components
from pipelink.components.attention import Shape, add_attention
from pipelink.components.gemm import Composer, Objects

HERE = Path(__file__).resolve().parent
CORE = Shape(queries=128, source="attention_core_cute", core="attention_core_cute_{d}")
FEW = Shape(queries=16, source="attention_core_cute_few_{d}", core="attention_core_cute_few_{d}")


def compose(objects: Path, variant: str) -> pipelink.Kernel:
    """The kernel: the library's with another core."""
    objects.mkdir(parents=True, exist_ok=True)
    kernel = pipelink.Kernel("attention", target="sm_90a")
    shape, pack = (FEW, 4) if variant.startswith("split") else (CORE, 1)
    add_attention(Composer(kernel, Objects(objects, (components.FOLDER, HERE))), variant, 128, shape=shape, pack=pack)
    return kernel


if __name__ == "__main__":
    try:
        linked = compose(Path(sys.argv[1]), sys.argv[3] if len(sys.argv) > 3 else "causal").link()
        linked.save(sys.argv[2])
    except pipelink.LinkError as problem:
        sys.exit(str(problem))
    print(linked.audit)
