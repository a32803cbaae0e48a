"""Operations: one object by itself and in a megakernel, what one more costs, and the example of the documentation."""

from __future__ import annotations

import ctypes
import re
from pathlib import Path

import pytest

import pipelink
from pipelink import runtime
from pipelink.components.gemm import Composer
from pipelink.ir.dialect import parse
from pipelink.objects.to_ir import declare
from pipelink.passes.pipeline import parse_pipeline, run_pipeline
from pipelink.support.diagnostics import LinkError
from pipelink.tools import pl_cc, pl_objdump
from test import megakernels, programs
from test.compositions import Objects

ROOT = Path(__file__).resolve().parents[2]


def documented(folder: Path, number: int) -> Path:
    """The object of a component of docs/megakernels.md, as the page has it."""
    text = re.findall(r"```cpp\n(.*?)```", (ROOT / "docs" / "megakernels.md").read_text(), re.S)[number]
    (folder / "documented.cu").write_text(text)
    includes = f"-I{ROOT / 'pipelink' / 'components'}"
    arguments = [str(folder / "documented.cu"), "-o", str(folder / "documented.o"), "--arch=sm_90", includes]
    assert pl_cc.main(arguments) == 0
    return folder / "documented.o"


@pytest.fixture(scope="module")
def scale(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return documented(tmp_path_factory.mktemp("scale"), 0)


def interpreter(objects: Objects, name: str = "mega") -> tuple[Composer, pipelink.Instance]:
    composer = Composer(pipelink.Kernel(name, target="sm_90a"), objects)
    return composer, megakernels.add_interpreter(composer)


def test_one_object_is_an_operation_here_and_a_kernel_there(scale: Path, objects: Objects) -> None:
    composer, run = interpreter(objects)
    operation = composer.kernel.add(scale)
    composer.kernel.operation(run, operation)
    composer.kernel.connect(operation.x, operation.row, lease=run.pages)
    (mega,) = composer.kernel.link(cache=False).targets
    alone = pipelink.Kernel("alone", target="sm_90a")
    own = alone.add(scale)
    alone.connect(own.x, own.row)
    alone.bind(own.at, 3)
    alone.bind(own.factor, 2.0)
    alone.grid("1")
    (single,) = alone.link(cache=False).targets
    assert mega.audit.ok
    assert single.audit.ok
    assert mega.warnings == single.warnings == ()


def test_one_more_operation_leaves_the_others_as_they_are(scale: Path, objects: Objects) -> None:
    """An operation that no instruction names: no more registers, and of the others' code at most one in a hundred
    instructions."""
    sizes: list[int] = []
    for unused in (False, True):
        composer, run = interpreter(objects)
        megakernels.add_products(composer, run)
        if unused:
            more = composer.kernel.add(scale)
            composer.kernel.operation(run, more)
            composer.kernel.connect(more.x, more.row, lease=run.pages)
        (linked,) = composer.kernel.link(cache=False).targets
        assert linked.audit.ok
        sizes.append(linked.audit.instructions)
        assert linked.audit.registers == 96
    composer, run = interpreter(objects)
    more = composer.kernel.add(scale)
    composer.kernel.operation(run, more)
    composer.kernel.connect(more.x, more.row, lease=run.pages)
    alone = composer.kernel.link(cache=False).targets[0].audit.instructions
    assert sizes[1] - sizes[0] <= alone + sizes[0] // 100


def test_operands_are_bound_where_there_is_no_dispatcher(scale: Path) -> None:
    kernel = pipelink.Kernel("alone", target="sm_90a")
    own = kernel.add(scale)
    kernel.connect(own.x, own.row)
    kernel.grid("1")
    with pytest.raises(LinkError) as caught:
        kernel.link(cache=False)
    assert {item.id for item in caught.value.diagnostics} == {"unbound-parameter"}


def test_pages_are_as_many_as_fit(objects: Objects) -> None:
    composer, run = interpreter(objects)
    megakernels.add_products(composer, run)
    (linked,) = composer.kernel.link(cache=False).targets
    leases = linked.placement["instances"]["interpreter"]["leases"]
    assert leases["pages"]["pages"] == 12
    rings = [c for c in linked.placement["connections"].values() if c.get("lease")]
    assert len(rings) == 2
    assert {(ring["full"], ring["empty"], ring["stages"], ring["in_flight"]) for ring in rings} == {
        (rings[0]["full"], rings[0]["empty"], 12, 2)
    }


class Streaming(ctypes.LittleEndianStructure):
    """plc::instruction with the operands of test::stream."""

    _fields_ = [
        (name, ctypes.c_int) for name in ("opcode", "x", "y", "z", "first", "step", "count", "stage", "awaited", "row")
    ]


def test_a_package_says_how_its_instructions_are_packed(objects: Objects, tmp_path: Path) -> None:
    composer, run = interpreter(objects)
    megakernels.add_products(composer, run)
    linked = composer.kernel.link(cache=False)
    linked.save(tmp_path / "mega.plk")
    kernel = runtime.load(tmp_path / "mega.plk")
    assert {name: one.opcode for name, one in kernel.operations.items()} == {
        "matvec_2048_operation": 0,
        "matvec_8192_operation": 1,
    }
    assert kernel.contract.operations == programs.contract().operations[:2]
    program = runtime.Program(kernel, 3)
    programs.add_stages(program, [(64, 2048), (8, 8192)])
    last = Streaming.from_buffer_copy(program.instructions().cast("B")[5 * 128 :])
    wanted = {"opcode": 1, "first": 16 + 2, "step": 3, "count": 2, "stage": 1, "awaited": 3, "row": 2}
    assert {name: getattr(last, name) for name in wanted} == wanted
    assert pl_objdump.main([str(tmp_path / "mega.plk"), "-o", str(tmp_path / "shown")]) == 0
    signature = "matvec_8192_operation(first: i32, step: i32, count: i32, stage: i32, awaited: i32, row: i32)"
    assert (
        f"//   operation 1: {signature}, 24 bytes of operands\n"
        "//     awaits min(stage, 1) * awaited at stages[stage - 1]\n"
        "//     adds 1 to stages[stage]\n"
    ) in (tmp_path / "shown").read_text()
    program.check(LONGEST=program.longest)
    program.add(0, "matvec_2048_operation", first=0, step=1, count=0, stage=2, awaited=4, row=0)
    with pytest.raises(LinkError, match=r"awaits 4 at counter 1 of 'stages', which gets 3 \[unmet-await\]"):
        program.check(LONGEST=3)


def test_stages_without_pages(objects: Objects, tmp_path: Path) -> None:
    """Pages that nobody takes need no place; and a program of the page's stages is held to what they await."""
    composer, run = interpreter(objects)
    stage = composer.kernel.add(documented(tmp_path, 1))
    composer.kernel.operation(run, stage)
    composer.kernel.connect(stage.done, stage.ready)
    linked = composer.kernel.link(cache=False)
    (target,) = linked.targets
    assert target.audit.ok
    assert "leases" not in target.placement["instances"]["interpreter"]
    linked.save(tmp_path / "stages.plk")
    program = runtime.Program(runtime.load(tmp_path / "stages.plk"), 3)
    for at in range(4):
        for cta in range(3):
            program.add(cta, "stage_operation", at=at, awaited=3)
    program.check(LONGEST=program.longest)
    program.add(0, "stage_operation", at=2, awaited=3)
    with pytest.raises(LinkError, match=r"awaits 3 at counter 2 of 'stages', which gets 4.*\[counter-reuse\]"):
        program.check(LONGEST=program.longest)


def test_debug_links_watch_what_operations_wait_for(objects: Objects) -> None:
    composer, run = interpreter(objects)
    megakernels.add_products(composer, run)
    (linked,) = composer.kernel.link(debug_hangs=True, timeline=True, cache=False).targets
    assert linked.audit.ok


@pytest.fixture(scope="module")
def placed(objects: Objects) -> str:
    composer, run = interpreter(objects)
    megakernels.add_products(composer, run)
    module = composer.kernel.module
    for item in composer.kernel.objects:
        declare(item, module)
    run_pipeline(parse_pipeline("check,place"), module)
    return str(module)


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        (r'"matvec_2048::count" = ', '"matvec_2048::cnt" = ', "what is no operand of it, '@matvec_2048::@cnt'"),
        (r'"matvec_2048::count" = ', '"count" = ', "what is no operand of it, 'count'"),
        (r'"matvec_2048::count" = \d+ : i64, ', "", "no place for operand '@matvec_2048::@count'"),
        (r'"matvec_2048::count" = \d+', '"matvec_2048::count" = 4000', "is placed at 4000, of 24 bytes"),
        (r'"matvec_2048::count" = \d+', '"matvec_2048::count" = 7', "is placed at 7"),
        (r'"matvec_2048::count" = \d+', '"matvec_2048::count" = 0', "is placed at 0"),
        (r"count = \{operand = true\}", "count = {field = 0 : i64}", "what is no operand of it"),
        (r"opcode = 1 : i64, operands = \{\"", "opcode = 0 : i64, operands = {\"", "which '@matvec_2048_op"),
        (r"opcode = 1 : i64", "opcode = 0 : i64", "says of its operations what their placements do not"),
        (r", placement = \{bytes = \d+ : i64, opcode[^}]*\{[^}]*\}\}", "", "is not placed"),
        (r'lease = "interpreter::pages"', 'lease = "x::pages"', "of which there are none"),
        (r'lease = "interpreter::pages", ', "", "are both at"),
        (r"in_flight = 2 : i64, lease", "in_flight = 99 : i64, lease", "another number of slots in flight"),
        (r"meetings = \{[^}]*\{[^}]*\}\}, ", "", "no barrier behind the operations of '@interpreter::@compute'"),
        (r"(leases = \{pages = \{address = \d+ : i64, pages = )\d+", r"\g<1>3", "does not lie in the pages of"),
    ],
)  # fmt: skip
def test_placements_that_contradict_operations_are_refused(placed: str, old: str, new: str, says: str) -> None:
    edited = re.sub(old, new, placed, count=1)
    assert edited != placed
    with pytest.raises(LinkError) as caught:
        run_pipeline(parse_pipeline("prove,transfer,fold,entry"), parse(edited))
    assert any(says in item.message for item in caught.value.diagnostics), caught.value.diagnostics
    assert {item.id for item in caught.value.diagnostics} <= {"bad-placement", "not-placed", "placement-overlap"}
