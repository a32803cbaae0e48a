"""Placements as values: what is written is read back, and what is no placement is said where it stands."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

import pipelink
from pipelink.ir import parse, program
from pipelink.ir.placement import InstancePlacement, KernelPlacement, NamedBarrier, ParameterSource, read, write
from pipelink.passes.pipeline import parse_pipeline, run_pipeline
from pipelink.support.diagnostics import LinkError
from pipelink.transfers import TRANSFERS

SOURCES = Path(pipelink.__file__).parent
KERNEL = {
    "threads": 128, "warps": 4, "min_ctas": 1, "entry_registers": 168, "smem_bytes": 64, "cursors": 0,
    "mbarriers": [{"address": 1024, "count": 2, "arrivals": 1, "name": "a"}], "words": [],
}  # fmt: skip
UNPLACEABLE = """
module @a.b attributes {pipelink.component = {abi = 1 : i64}} {
  "pipelink.role"() {sym_name = "run", warps = 4 : i64} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}, pipelink.placement = {threads = 8}, pipelink.launch = {}} {
  "pipelink.instance"() {sym_name = "a", component = @a.b, placement = {id = 0}} : () -> ()
}
"""


def problems(form: type, data: object) -> list[str]:
    found: list[str] = []
    assert (read(form, data, "kernel 'k'", found.append) is None) == bool(found)
    return found


def test_what_is_written_is_read_back() -> None:
    placed = InstancePlacement(3, barriers={"met": NamedBarrier(1, 128)}, params={"n": ParameterSource(value=0)})
    data = write(placed)
    assert "mbarriers" not in data
    assert data["smem"] == {}
    assert read(InstancePlacement, data, "instance '@a'", pytest.fail) == placed


def test_what_is_left_out_has_its_default() -> None:
    found = read(KernelPlacement, KERNEL, "kernel 'k'", pytest.fail)
    assert found is not None
    assert found.registers == ()
    assert found.ctas == 1
    assert found.tmem_columns is None


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"warps": -1}, "'warps' in the placement of kernel 'k' is -1, not an integer from 0 up"),
        ({"warps": True}, "'warps' in the placement of kernel 'k' is True, not an integer from 0 up"),
        ({"words": {}}, "'words' in the placement of kernel 'k' is {}, not a list"),
        ({"words": [3]}, "the placement of kernel 'k', 'words[0]' is not a dictionary"),
        ({"mbarriers": [{"address": 0}]}, "the placement of kernel 'k', 'mbarriers[0]' has no 'count'"),
        ({"warsp": 4}, "the placement of kernel 'k' has an unknown 'warsp'; did you mean 'warps'?"),
    ],
)
def test_what_is_no_placement(change: dict[str, object], message: str) -> None:
    assert problems(KernelPlacement, {**KERNEL, **change}) == [message]


def test_a_placement_is_looked_at_before_any_pass() -> None:
    module = parse(UNPLACEABLE.encode())
    with pytest.raises(LinkError) as caught:
        run_pipeline(parse_pipeline("transfer"), module)
    (diagnostic,) = caught.value.diagnostics
    assert (diagnostic.id, diagnostic.location.line) == ("bad-placement", 5)
    with pytest.raises(LinkError, match="has no 'warps'"):
        _ = program(module).kernels[0].placement


# ---------------------------------------------------------------------------------------------- of the whole package
def python_files() -> list[Path]:
    return sorted(SOURCES.rglob("*.py"))


def test_no_step_compares_a_transfers_name() -> None:
    """A transfer's name stands in its own file alone: a step asks the transfer."""
    names = {transfer.name for transfer in TRANSFERS}
    found: list[str] = []
    for path in python_files():
        if SOURCES / "transfers" in path.parents:
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value in names:
                dotted = "." in node.value
                if dotted or _near_transfer(path, node):
                    found.append(f"{path.relative_to(SOURCES)}:{node.lineno}: {node.value!r}")
    assert not found, found


def _near_transfer(path: Path, node: ast.Constant) -> bool:
    """Whether a plain word that is also a transfer's name stands in a comparison with one."""
    line = path.read_text().splitlines()[node.lineno - 1]
    return re.search(r"transfer\S*\s*(==|!=|in|not in)|(==|!=)\s*\S*transfer|\[\"transfer\"\]", line) is not None


def test_nobody_reads_a_placement_without_its_type() -> None:
    """A placement is a value: no step indexes into the dictionary of the IR, nor falls back to an empty one."""
    attribute = r"data(\.get\(|\[)\"(pipelink\.)?placement\"[\])]+[.\[]"
    loose = re.compile(rf"place(ment|d)(_attribute)?(\[\"|\.get\()|placement or \{{\}}|{attribute}")
    found = [
        f"{path.relative_to(SOURCES)}:{number}: {line.strip()}"
        for path in python_files()
        if "runtime" not in path.parts
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if loose.search(line)
    ]
    assert not found, found
