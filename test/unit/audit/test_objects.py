"""Audits of objects: what shipped components and the examples are found to do is what they declare, and what tells an
object that does what it declares from another.  test/lit/objdump/audit*.test shows each kind of difference."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from pipelink import components
from pipelink.audit import objects, registers
from pipelink.audit.claims import Claims, Use, split_symbol
from pipelink.audit.report import ObjectReport, Problem, Row
from pipelink.backend import toolchain
from pipelink.contract.abi import NVVM, function, mangle
from pipelink.objects import Contract, Image, Object, from_ltoir, read_objects
from pipelink.support.diagnostics import Diagnostics, LinkError, Location

ROOT = Path(__file__).resolve().parents[3]
PL_CC = Path(sys.executable).parent / "pl-cc"
# A scheduler, an epilogue, copies by TMA, rings of every touch that sm_90a has, tensor memory.
SELECTION = {
    "pipelink/components/static_tiles.cu": "sm_80",
    "pipelink/components/staged_store.cu": "sm_80",
    "pipelink/components/tma_store.cu": components.SOURCES["tma_store"][0],
    "pipelink/components/sm100_mainloop.cu": "sm_100a",
    "test/components/streams.cu": "sm_90a",
    "examples/cmake/scale.cu": "sm_90a",
}


def compiled(source: Path, folder: Path, arch: str, *options: str) -> list[Object]:
    output = folder / f"{source.stem}.o"
    subprocess.run([PL_CC, source, "--arch", arch, "-o", output, *options], check=True, timeout=120)
    return read_objects(output)


def code(source: str, arch: str = "sm_90a") -> Image:
    return Image(arch, "ltoir", toolchain.toolkit_version(), toolchain.compile_ltoir(source, "code.cu", arch))


def found(reports: list[list[ObjectReport]]) -> list[str]:
    diagnostics = Diagnostics()
    for report in (report for of_object in reports for report in of_object):
        report.diagnose(diagnostics)
    return [f"{item.severity}: {item.message} [{item.id}]" for item in diagnostics.items]


@pytest.mark.parametrize("source", SELECTION)
def test_shipped_components_are_what_they_declare(source: str, tmp_path: Path) -> None:
    reports = objects.audit_all(compiled(ROOT / source, tmp_path, SELECTION[source]))
    assert found(reports) == []
    (report,) = reports[0]
    assert report.ok
    assert report.rows
    roles = {(row.component, row.subject) for row in report.rows if row.subject.startswith("role ")}
    measured = {(row.component, row.subject) for row in report.rows if row.name == "registers" and row.found.isdigit()}
    assert measured == roles


def test_what_numba_made_is_read_too() -> None:
    """The example's epilogue: Python to LTO-IR, with a contract that Python states."""
    script = """import epilogue
from pipelink.audit import objects
print(objects.audit_all([epilogue.component()])[0][0].render())"""
    run = subprocess.run(
        [sys.executable, "-c", script],
        cwd=ROOT / "examples" / "numba_epilogue",
        capture_output=True,
        text=True,
        check=True,
    )
    assert "answer 'store' of 'example::python_silu'" in run.stdout
    assert "its caller's threads  modulo a warp\n" in run.stdout
    assert "FAILED" not in run.stdout
    assert "WARNING" not in run.stdout


CALLER = """extern "C" __device__ int helper(int);
extern "C" __device__ void %s(int, void*) { helper(1); }"""
HELPER = """extern "C" __device__ int helper(int) { asm volatile("bar.sync 3, 64;" ::: "memory"); return 2; }"""


def test_functions_of_helper_objects_are_the_callers() -> None:
    """A helper without a contract is no external once it is given, and what it does counts as its caller's."""
    contract = Contract("lit::caller").role("run", 2)
    caller = from_ltoir({"sm_90a": code(CALLER % contract.symbol("run", "pl_enter")).data}, contract)
    assert found(objects.audit_all([caller])) == [
        "error: role 'run' of 'lit::caller' calls 'helper', which neither the object nor its contract has"
        " [undeclared-external]"
    ]
    helper = Object("helper.o", "", (), (code(HELPER),))
    assert found(objects.audit_all([caller, helper])) == [
        "error: role 'run' of 'lit::caller' uses named barrier 3, which the linker did not give it [hard-coded-barrier]"
    ]


def test_accessors_of_others_are_undeclared() -> None:
    contract = Contract("lit::caller").role("run", 1)
    stranger = mangle("lit::other::ab", "pl_acquire", "iPv")
    source = f"""extern "C" __device__ unsigned {stranger}(int, void*);
    extern "C" __device__ void {contract.symbol("run", "pl_enter")}(int id, void* frame) {{ {stranger}(id, frame); }}"""
    (text,) = found(objects.audit_all([from_ltoir({"sm_90a": code(source).data}, contract)]))
    assert "calls 'lit::other::ab::pl_acquire'" in text
    assert text.endswith("[undeclared-external]")


def test_a_call_through_a_pointer_is_one_that_nobody_declared() -> None:
    contract = Contract("lit::caller").role("run", 1)
    source = f"""extern "C" __device__ void {contract.symbol("run", "pl_enter")}(int id, void* frame) {{
      (*static_cast<void (**)(int)>(frame))(id);
    }}"""
    (text,) = found(objects.audit_all([from_ltoir({"sm_90a": code(source).data}, contract)]))
    assert "role 'run' of 'lit::caller' calls through a pointer" in text


def test_a_problem_that_every_architecture_has_is_said_once(tmp_path: Path) -> None:
    source = ROOT / "test" / "lit" / "objdump" / "Inputs" / "audit" / "barriers.cu"
    (item,) = compiled(source, tmp_path, "sm_80", "--arch", "sm_90", "-X=-w")
    reports = [objects.audit(item, [image], image.arch, only=["lit.fixed"]) for image in item.ltoir]
    assert [report.arch for report in reports] == ["sm_80", "sm_90"]
    assert all(not report.ok for report in reports)
    assert len(found([reports])) == 1


def test_code_that_is_no_code_is_an_error() -> None:
    broken = from_ltoir({"sm_90a": b"\0" * 64}, Contract("lit::broken").role("run", 1))
    with pytest.raises(LinkError) as raised:
        objects.audit_all([broken])
    assert raised.value.diagnostics[0].id == "nvjitlink-failed"


def test_an_entry_that_the_code_lacks_is_not_judged() -> None:
    """An object of several translation units has code for an architecture in some of them only."""
    item = from_ltoir({"sm_90a": code("__device__ int nothing;").data}, Contract("lit::absent").role("run", 1))
    assert objects.audit_all([item])[0][0].rows == ()


# -------------------------------------------------------------------------------------------------------- the parts
def test_reports_side_by_side() -> None:
    where = Location("a.cu", 3)
    problem = Problem("error", "cta-barrier", "it waits", where, quotes=("bar.sync 0", "bar.sync 0", "x", "y"))
    report = ObjectReport("a.o", "sm_90a", (Row("a", "role 'r'", "named barriers", "none", "id 0", (problem,)),))
    assert report.render().splitlines() == [
        "audit of 'a.o' for sm_90a",
        "                    declared  found",
        "  role 'r' of 'a'",
        "    named barriers  none      id 0   FAILED",
    ]
    assert report.to_json()["checks"][0]["ids"] == ["cta-barrier"]
    diagnostics = Diagnostics()
    report.diagnose(diagnostics)
    report.diagnose(diagnostics)
    (item,) = diagnostics.items
    assert [note.message for note in item.notes][-1] == "contract and code are in 'a.o'"
    assert len(item.notes) == 4


def test_symbols_and_what_they_name() -> None:
    assert split_symbol(mangle("a::b::ab", "pl_acquire", "iPv")) == Use("a::b", "ab", "acquire")
    for hostile in ("", "_ZN", "_ZN3abc", "_ZN999999pl_x", "_ZN1a1b7pl_waitEv", "printf", "_ZN1a1b4waitEiPv"):
        assert split_symbol(hostile) is None
    copy = function("stream", "out", "pl_tma2")
    assert copy.codes == "iPvjijPKvii"
    assert [NVVM[kind] for kind in copy.types] == ["i32", "i8*", "i32", "i32", "i32", "i8*", "i32", "i32"]
    contract = Contract("a::b").role("r", 1).stream("x", "out", [], (1, 2), "tma").barrier("m", 32).param("p", "i32")
    for name, called in (
        ("x", "pl_acquire"),
        ("x", "pl_address"),
        ("m", "pl_id"),
        ("p", "pl_address"),
        ("x", "pl_tma3"),
    ):
        use = split_symbol(contract.symbol(name, called))
        kind, direction = {"x": ("stream", "out"), "m": ("barrier", ""), "p": ("param", "")}[name]
        assert use is not None
        assert f"pl_{use.function}" == called
        assert function(kind, direction, called).symbol(f"a::b::{use.resource}") == contract.symbol(name, called)


@pytest.mark.parametrize(
    ("layouts", "offsets", "alignment"),
    [
        ([], [], 1),
        ([(4, 4)], [0], 4),
        ([(8, 8), (4, 4), (4, 4)], [0, 8, 12], 8),
        ([(1, 1), (8, 8)], [0, 8], 8),
        ([(12, 4), (1, 1), (4, 4)], [0, 12, 16], 4),
    ],
)
def test_how_arguments_lie_in_a_pack(layouts: list[tuple[int, int]], offsets: list[int], alignment: int) -> None:
    """As a C++ compiler lays out a struct of the first and the struct of the rest."""
    assert registers.pack_offsets(layouts) == (offsets, alignment)


@pytest.mark.parametrize(
    ("type_", "size", "align"),
    [("void", 0, 1), ("f32[128]", 512, 4), ("fragment<bf16,32>", 64, 2), ("fragment<u32,4>&", 8, 8), ("bf16*", 8, 8),
     ("tile_coord", 12, 4), ("struct<16,8>", 16, 8), ("work_item<24,8>[2]", 48, 8), ("const f64", 8, 8)],
)  # fmt: skip
def test_types_of_signatures(type_: str, size: int, align: int) -> None:
    assert registers.layout(type_) == (size, align)


def test_a_role_counts_its_fragments_in_registers(tmp_path: Path) -> None:
    """A call's arguments are taken apart: 64 values that a role hands over are 64 registers, not stack."""
    source = tmp_path / "hands.cu"
    source.write_text("""#include <pipelink/component.cuh>
PL_COMPONENT(lit::hands) {
PL_ROLE(run, pl::warps<1>);
PL_CALL(make, void(float (&)[64]));
PL_CALL(take, void(float (&)[64], int));
PL_ENTRY(run) {
  float values[64];
  make(self, values);
  take(self, values, 1);
}
}""")
    (item,) = compiled(source, tmp_path, "sm_90a")
    claims = Claims(item.components[0])
    need = registers.measure(claims, claims.code[0], item.ltoir, "sm_90a", [24, 96])
    assert not need.problem
    assert 64 < need.registers < 96
    assert need.spilled[24] > 0
    assert need.spilled[96] == 0
