"""Contracts as IR and back, contracts written in Python, and LTO-IR in memory."""

import json
from pathlib import Path

import pytest

from pipelink import ir
from pipelink.audit import contract
from pipelink.backend import toolchain
from pipelink.ir import builder
from pipelink.objects import Contract, Image, Object, from_ltoir, object_bytes, parse_objects, to_ir
from pipelink.support.diagnostics import Diagnostics, LinkError, Location

SOURCE = Path(__file__).parent / "component.cu"


@pytest.fixture(scope="module")
def compiled() -> Object:
    code = toolchain.compile_ltoir(SOURCE.read_text(), "component.cu", "sm_90a")
    image = Image("sm_90a", "ltoir", toolchain.toolkit_version(), code)
    (item,) = parse_objects(object_bytes([image], contract.device_records(image)), "everything.o")
    return item


def test_declared_component_is_valid_ir(compiled: Object) -> None:
    module = builder.module(ir.new_context())
    to_ir.declare(compiled, module)
    program = ir.verify(module)
    component = program.components["test.everything"]
    assert set(component.roles) == {"load", "run"}
    assert component.ports["ab"].tiles[0].bytes == 16384
    assert component.ports["ab"].location == Location("component.cu", 10)
    assert component.images[0].sha256 == compiled.images[0].sha256
    assert ir.parse(str(module)).operation.get_asm() == module.operation.get_asm()


def test_ir_and_records_say_the_same(compiled: Object) -> None:
    module = builder.module(ir.new_context())
    (component,) = to_ir.declare(compiled, module)
    (again,) = parse_objects(object_bytes(compiled.images, to_ir.contract_records(component)), "again.o")

    def content(item: Object) -> list[tuple[str, str, str, int]]:
        return sorted(
            (record.op, record.name, json.dumps(dict(record.values), sort_keys=True), record.line)
            for record in item.components[0].records
            if record.op != "component"
        )

    # an entry or an answer stands at its declaration, when it comes from the IR
    definitions = ("entry", "answer")
    assert [c for c in content(again) if c[0] not in definitions] == [
        c for c in content(compiled) if c[0] not in definitions
    ]
    assert [c[:2] for c in content(again)] == [c[:2] for c in content(compiled)]


def test_the_same_object_is_taken_once(compiled: Object) -> None:
    module = builder.module(ir.new_context())
    first = to_ir.declare(compiled, module)
    assert to_ir.declare(compiled, module) == first
    image = compiled.images[0]
    changed = Image(image.arch, image.kind, image.toolkit, image.data + b"\0")
    other = Object("other.o", "", compiled.components, (changed,))
    with pytest.raises(LinkError) as caught:
        to_ir.declare(other, module)
    problem = caught.value.diagnostics[0]
    assert problem.id == "duplicate-component"
    assert "everything.o" in problem.message
    assert "other.o" in problem.message


def test_python_contract() -> None:
    contract = (
        Contract("py::gelu")
        .answers("store", "void(f32[128]&, i32, i32)")
        .param("c", "bf16*")
        .param("alpha", "f32")
        .tensor("out", "bf16", ["M", "N"], "write")
        .bind("c", "out")
        .calls("next", "void()")
        .protocol("store", "repeat 2 { next; }")
    )
    item = from_ltoir({"sm_80": b"code"}, contract, name="gelu.py")
    assert item.components[0].symbol == "py.gelu"
    assert [(r.op, r.name) for r in item.components[0].records][:3] == [
        ("component", "component"),
        ("port", "store"),
        ("answer", "store"),
    ]
    module = builder.module(ir.new_context())
    to_ir.declare(item, module)
    (component,) = ir.verify(module).components.values()
    assert component.protocols["store"].text == "repeat 2 { next; }"
    again = from_ltoir({"sm_80": b"code"}, component.op, name="gelu.py")
    texts = [json.loads(record.text) for record in again.components[0].records if record.op == "protocol"]
    assert [(record["name"], record["text"]) for record in texts] == [("store", "repeat 2 { next; }")]
    assert contract.symbol("store", "pl_answer") == "_ZN2py4gelu10store_port9pl_answerEiPvPc"
    assert contract.symbol("c", "pl_address") == "_ZN2py4gelu7c_param10pl_addressEiPv"
    with pytest.raises(LinkError):
        contract.symbol("d", "pl_address")


def test_python_contract_of_a_cluster() -> None:
    contract = Contract("py::sum").role("run", 4).role("load", 1).cluster_barrier("met", role="run")
    item = from_ltoir({"sm_90a": b"code"}, contract.protocol("run", "met.sync;"), name="sum.py")
    module = builder.module(ir.new_context())
    to_ir.declare(item, module)
    (component,) = ir.verify(module).components.values()
    assert component.cluster_barriers["met"].role == "run"
    assert contract.symbol("met", "pl_sync") == "_ZN2py3sum3met7pl_syncEiPv"


def test_python_contract_of_turns() -> None:
    contract = Contract("py::sum").role("run", 8).role("load", 1).turns("turn", role="run")
    item = from_ltoir({"sm_90a": b"code"}, contract.protocol("run", "turn.take; turn.pass;"), name="sum.py")
    module = builder.module(ir.new_context())
    to_ir.declare(item, module)
    (component,) = ir.verify(module).components.values()
    assert component.turns["turn"].role == "run"
    assert contract.symbol("turn", "pl_take") == "_ZN2py3sum4turn7pl_takeEiPv"


def test_code_without_records_is_not_verified() -> None:
    code = toolchain.compile_ltoir("__device__ int f() { return 1; }", "f.cu", "sm_90a")
    item = from_ltoir({"sm_90a": code}, Contract("py::f"), name="f.py")
    found = Diagnostics()
    contract.verify(item, found)
    assert [(d.severity, d.id) for d in found.items] == [("warning", "unverified-contract")]


def test_contract_symbols_are_the_headers(compiled: Object) -> None:
    """The names that Python derives are the ones that the C++ compiler mangles."""
    contract = Contract("test::everything").role("run", 8).stream("ab", "out", [], (2, 8), "tma").barrier("met", 256)
    contract.add("smem", "scratch", bytes=1, align=1)
    names = [
        contract.symbol("run", "pl_first_thread"),
        contract.symbol("ab", "pl_acquire"),
        contract.symbol("ab", "pl_tma1"),
        contract.symbol("ab", "pl_tma2"),
        contract.symbol("ab", "pl_end"),
        contract.symbol("met", "pl_id"),
        contract.symbol("scratch", "pl_address"),
    ]
    cubin = toolchain.compile_cubin(SOURCE.read_text(), "component.cu", "sm_90a", options=["-rdc=true"])
    for name in names:
        assert name.encode() in cubin


def test_contract_as_ir_and_as_dictionaries(compiled: Object) -> None:
    text = """
    module @py.scale attributes {pipelink.component = {abi = 1 : i64}} {
      "pipelink.port"() {
        sym_name = "apply", direction = "answers", kind = "call", signature = "void(f32[4]&)"
      } : () -> ()
      "pipelink.param"() {sym_name = "factor", type = "f32", bytes = 4 : i64, align = 4 : i64} : () -> ()
    }"""
    module = ir.parse(text)
    (op,) = [op for op in module.body.operations if "pipelink.component" in op.attributes] or [module.operation]
    item = from_ltoir({"sm_80": b"code"}, op.operation)
    records = [json.loads(record.text) for record in item.components[0].records]
    assert [(record["op"], record["name"]) for record in records] == [
        ("component", "component"),
        ("port", "apply"),
        ("answer", "apply"),
        ("param", "factor"),
    ]
    assert from_ltoir({"sm_80": b"code"}, records).components[0].name == "py::scale"
    with pytest.raises(LinkError) as caught:
        from_ltoir({}, records)
    assert caught.value.diagnostics[0].id == "no-ltoir"


def test_arch_dependent_contract() -> None:
    source = (
        "#include <pipelink/component.cuh>\n#if __CUDA_ARCH__ >= 900\n#define N 64\n#else\n#define N 32\n#endif\n"
        "PL_COMPONENT(x) {\nPL_SMEM(s, float[N]);\n}\n"
    )
    from pipelink.objects.records import parse_record

    contracts = []
    for arch in ("sm_80", "sm_90a"):
        image = Image(arch, "ltoir", "", toolchain.compile_ltoir(source, "x.cu", arch))
        read = [parse_record(text, "x.cu", Location("x.cu"), Diagnostics()) for text in contract.device_records(image)]
        contracts.append((arch, [record for record in read if record is not None]))
    with pytest.raises(LinkError) as caught:
        contract.same_contract(contracts)
    (problem,) = caught.value.diagnostics
    assert problem.id == "arch-dependent-contract"
    assert problem.message == "smem 's' of component 'x' differs between sm_80 and sm_90a: bytes is 128, there 256"
    assert problem.location == Location("x.cu", 8)
