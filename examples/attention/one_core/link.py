"""Six attention kernels, heads of 128, out of one core's object; one of them, a dilated window, is written here.

``python examples/attention/one_core/link.py OBJECTS OUTPUT``: compiles into the folder OBJECTS what is not there yet,
and writes a package of each kernel to the folder OUTPUT.  Prints the core's SHA-256, and of each kernel its parts and
how long the link took, and nvJitLink alone.
"""

import hashlib
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

import pipelink
from pipelink import components
from pipelink.api import Instance
from pipelink.components.attention import add_attention
from pipelink.components.gemm import Composer, Objects
from pipelink.link import Observer

HERE = Path(__file__).resolve().parent
FOLDERS = (components.FOLDER, HERE)


def add_dilated(c: Composer) -> None:
    """Walker and mask are the component of dilated.cu; core, loader and all others are those of the library."""
    load = c.add("attention_loader", "attention_loader_128")
    core = c.add("attention_core", "attention_core_128")
    dilated = c.add("dilated")
    for port in ("q", "k", "v"):
        c.kernel.connect(getattr(load, port), getattr(core, port))
    for role in (load, core):
        c.kernel.connect(role.work, dilated.next)
        c.kernel.connect(role.blocks, dilated.blocks)
    c.kernel.connect(core.score, c.add("attention_scores", "attention_plain").score)
    c.kernel.connect(core.mask, dilated.mask)
    c.kernel.connect(core.sink, c.add("attention_sinks", "attention_no_sink").sink)
    c.kernel.connect(core.store, c.add("attention_outputs", "attention_store_128").store)
    c.kernel.bind(dilated.step, 8)  # a constant of the kernel; `count` is an argument of the launch


KERNELS = {
    "dense": lambda c: add_attention(c, "dense", 128),
    "causal": lambda c: add_attention(c, "causal", 128),
    "window": lambda c: add_attention(c, "window", 128),
    "softcap": lambda c: add_attention(c, "causal", 128, score="softcap", sink="bf16"),
    "varlen": lambda c: add_attention(c, "varlen-causal", 128),
    "dilated": add_dilated,
}


@dataclass
class Parts(Composer):
    """Notes the components that are added."""

    names: list[str] = field(default_factory=list[str])

    def add(self, source: str, component: str | None = None, name: str | None = None, **renames: str) -> Instance:
        self.names.append(component or source)
        return super().add(source, component, name, **renames)


def compose(name: str, objects: Objects) -> Parts:
    """The kernel of one of ``KERNELS``, with its parts."""
    made = Parts(pipelink.Kernel(name, target="sm_90a"), objects)
    KERNELS[name](made)
    return made


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def main(objects: Objects, output: Path) -> None:
    """Link all, and say how."""
    output.mkdir(parents=True, exist_ok=True)
    core = objects["attention_core"]
    before = digest(core)
    print(f"{core.name}: SHA-256 {before}")
    for name in KERNELS:
        parts = compose(name, objects)
        watch, start = Observer(), time.perf_counter()
        linked = parts.kernel.link(cache=False, observer=watch)
        seconds, vendor = time.perf_counter() - start, dict(watch.times)["nvJitLink sm_90a"]
        linked.save(output / f"{name}.plk")
        print(f"{name}: linked in {seconds:.2f} s, of which nvJitLink {vendor:.2f} s")
        print(f"  {linked.targets[0].audit.instructions} instructions, {', '.join(parts.names)}")
    if digest(core) != before:
        sys.exit(f"{core} is not what it was")
    print(f"{core.name}: the same")


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    try:
        main(Objects(folder, FOLDERS), Path(sys.argv[2]))
    except (pipelink.LinkError, RuntimeError) as problem:
        sys.exit(str(problem))
