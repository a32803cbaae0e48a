"""Writes the texts of ir.test that are too long to be read: ``python texts.py FOLDER``."""

import sys
from collections.abc import Iterable
from pathlib import Path

KERNEL = 'module @k attributes {pipelink.kernel = {target = "sm_90a"}} {\n'
COMPONENT = """module @c attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "r", warps = 1} : () -> ()
  "pipelink.port"() {sym_name = "p", direction = "in", kind = "stream", touch = "threads", stages = [2, 8],
    tiles = [{element = "f32", shape = [32], layout = "row_major", align = 128}]} : () -> ()
}
"""


def tower(first: str, step: str) -> Iterable[str]:
    """30 aliases, each of two of the one before."""
    return [first, *(step.format(n, n - 1) for n in range(1, 31))]


folder = Path(sys.argv[1])
arrays = tower("#a0 = [1]", "#a{0} = [#a{1}, #a{1}]")
dictionaries = tower("#a0 = {x = 1}", "#a{0} = {{x = #a{1},\n  y = #a{1}}}")
locations = tower('#a0 = loc("a":1:1)', '#a{0} = loc(fused[#a{1}, "b"(#a{1})])')
instances = [f'"pipelink.instance"() {{sym_name = "i{n}", component = @c}} : () -> ()\n' for n in range(4000)]
uses = '"pipelink.role"() {sym_name = "r", x = #a} : () -> ()\n' * 5000
texts = {
    "arrays": "\n".join([*arrays, "module attributes {x = #a30} {}"]),
    "dictionaries": "\n".join([*dictionaries, "module attributes {x = #a30} {}"]),
    "locations": "\n".join([*locations, "module {} loc(#a30)"]),
    "backwards": "\n".join(["module {} loc(#a30)", *reversed(list(locations))]),
    "often": f"#a = [{', '.join(['1'] * 1000)}]\nmodule {{\n{uses}}}\n",
    "parts": "module {}\n// -----\n" * 20_000,
    "unconnected": f"module {{\n{COMPONENT}{KERNEL}{''.join(instances)}}}\n}}\n",
    "long": KERNEL.replace("@k", f"@{'k' * 100_000}") + "}\n",
}
for name, text in texts.items():
    (folder / f"{name}.mlir").write_text(text + "\n")
