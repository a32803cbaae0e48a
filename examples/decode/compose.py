"""The decode megakernel, linked from the objects of its operations: ``python compose.py OUTPUT [--head 64]``."""

from __future__ import annotations

import argparse
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import pipelink
from pipelink import components
from pipelink.tools import pl_cc

HERE = Path(__file__).resolve().parent
SOURCES = ("embed", "attend", "products")
PRODUCTS = ("attention_inputs", "output_projection", "gate_up", "down", "logits")


def objects(folder: Path, head: int, group: int) -> dict[str, Path]:
    """Each operation's object, and the interpreter's, compiled into a folder."""
    found: dict[str, Path] = {}
    sources = {**{name: HERE / f"{name}.cu" for name in SOURCES}, "interpreter": components.FOLDER / "interpreter.cu"}
    for name, source in sources.items():
        found[name] = folder / f"{name}.o"
        defined = [f"-DDECODE_HEAD={head}", f"-DDECODE_GROUP={group}"]
        options = ["--arch=sm_90", f"-I{components.FOLDER}", *defined]
        if pl_cc.main([str(source), "-o", str(found[name]), *options]):
            raise SystemExit(f"cannot compile {source}")
    return found


@dataclass
class Composed:
    """A kernel under composition, its dispatcher, and its operations by name."""

    kernel: pipelink.Kernel
    run: pipelink.Instance
    operations: dict[str, pipelink.Instance]


def compose(objects: dict[str, Path], *, hidden: int, ffn: int, head: int) -> Composed:
    """The kernel for a model of these sizes."""
    kernel = pipelink.Kernel("decoder", target="sm_90a")
    control = kernel.add(objects["interpreter"], "controller")
    run = kernel.add(objects["interpreter"], "interpreter")
    kernel.connect(control.instructions, run.to_load)
    kernel.connect(control.instructions, run.to_compute)
    embed = kernel.add(objects["embed"])
    attend = kernel.add(objects["attend"], "attend")
    products = {name: kernel.add(objects["products"], name) for name in PRODUCTS}
    for number, (name, operation) in enumerate({"embed": embed, "attend": attend, **products}.items()):
        kernel.operation(run, operation, f"do_{name}", opcode=number)
    for name, product in products.items():
        kernel.bind(product.k, ffn if name == "down" else hidden)
        kernel.connect(product.w, product.rows, lease=run.pages)
    kernel.bind(products["attention_inputs"].head, head)
    kernel.connect(attend.next, kernel.add(objects["attend"], "positions").next)
    kernel.connect(attend.cache, attend.kv, lease=run.pages)
    adding = [embed, attend, *(product for name, product in products.items() if name != "logits")]
    for one in adding:
        for wait in (*(product.ready for product in products.values()), attend.ready):
            kernel.connect(one.done, wait)
    return Composed(kernel, run, {"embed": embed, "attend": attend, **products})


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("output", type=Path, help="the package")
    parser.add_argument("--hidden", type=int, default=2048)
    parser.add_argument("--ffn", type=int, default=8192)
    parser.add_argument("--head", type=int, default=64, help="dimensions of a head [64]")
    parser.add_argument("--group", type=int, default=4, help="heads of queries to one of keys [4]")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        made = objects(Path(folder), given.head, given.group)
        linked = compose(made, hidden=given.hidden, ffn=given.ffn, head=given.head).kernel.link()
    print(linked.audit)
    linked.save(given.output)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except pipelink.LinkError as problem:
        from pipelink.support.diagnostics import render_text

        sys.exit("\n".join(render_text(diagnostic) for diagnostic in problem.diagnostics))
