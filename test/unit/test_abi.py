"""The device ABI: the headers declare exactly the functions of the table, with its signatures and under its symbols."""

import re
from importlib.resources import files

import pytest

from pipelink.backend import toolchain
from pipelink.contract import abi
from pipelink.contract.abi import RESOURCES, Function
from pipelink.ir.protocol_names import CLUSTER_VERBS, DISPATCH_VERBS, MBARRIER_VERBS, PORT_VERBS, TURNS_VERBS
from pipelink.support.diagnostics import LinkError

HEADERS = files("pipelink") / "include" / "pipelink"
TILE = "pl::stream<pl::row_major<pl::tile<float, 32>>>"
#: A declaration of everything, by what the table calls it; the name is the label with an underscore.
DECLARATIONS = {
    "stream out": f"PL_OUT(stream_out, {TILE}, pl::ring<1, 2>, pl::by_tma, pl::ends);",
    "stream in": f"PL_IN(stream_in, {TILE}, pl::ring<1, 2>, pl::by_threads, pl::ends);",
    "stream local": f"PL_LOCAL(stream_local, {TILE}, pl::ring<1, 2>, pl::by_cp_async);",
    "token out": "PL_TOKEN_OUT(token_out);",
    "token in": "PL_TOKEN_IN(token_in);",
    "signal out": 'PL_COUNTERS(counters, "4"); PL_SIGNAL_OUT(signal_out, counters, gpu);',
    "signal in": "PL_SIGNAL_IN(signal_in, counters, gpu);",
    "call calls": "PL_CALL(call_calls, float(int));",
    "call answers": "PL_ANSWER(call_answers, float(int));",
    "role": "PL_ROLE(role, pl::warps<1>);",
    "barrier": "PL_BARRIER(barrier, pl::threads<32>);",
    "mbarrier": "PL_MBARRIER(mbarrier, pl::arrivals<1>);",
    "cluster_barrier": "PL_CLUSTER_BARRIER(cluster_barrier);",
    "turns": "PL_TURNS(turns);",
    "dispatch": "PL_DISPATCH(dispatch, 16);",
    "tmem": "PL_TMEM(tmem, 32);",
    "smem": "PL_SMEM(smem, float[4]);",
    "state": "PL_STATE(state, int);",
    "param": "PL_PARAM(param, int);",
}
FUNCTIONS = [(label, function) for label, resource in RESOURCES.items() for function in resource.functions.values()]


def path(label: str) -> str:
    return f"test::abi::{label.replace(' ', '_')}{RESOURCES[label].suffix}"


def source(functions: list[tuple[str, Function]]) -> str:
    """Everything declared, and each function's address taken as a pointer of the table's signature."""
    pointers = [
        f"__device__ {abi.CXX[function.returns]} (*pointer_{number})"
        f"({', '.join(abi.CXX[kind] for kind in function.types)}) = &{path(label)}::{function.name};"
        for number, (label, function) in enumerate(functions)
    ]
    declared = "\n".join(DECLARATIONS.values())
    return "\n".join(["#include <pipelink/component.cuh>", f"PL_COMPONENT(test::abi) {{\n{declared}\n}}", *pointers])


def test_everything_is_declared() -> None:
    assert DECLARATIONS.keys() == RESOURCES.keys()


def test_headers_declare_the_functions_of_the_table() -> None:
    cubin = toolchain.compile_cubin(source(FUNCTIONS), "abi.cu", "sm_90a", options=["-rdc=true"])
    for label, function in FUNCTIONS:
        assert function.symbol(path(label)).encode() + b"\0" in cubin, (label, function.name)


@pytest.mark.parametrize("wrong", [Function("pl_commit"), Function("pl_commit", (("stage", "unsigned"),), "unsigned")])
def test_another_signature_does_not_compile(wrong: Function) -> None:
    with pytest.raises(LinkError) as caught:
        toolchain.compile_cubin(source([("stream out", wrong)]), "abi.cu", "sm_90a", options=["-rdc=true"])
    assert caught.value.diagnostics[0].id == "compile-error"


def test_headers_declare_no_other_functions() -> None:
    texts = [file.read_text() for file in HEADERS.iterdir() if file.name.endswith(".cuh")]
    declared = {name for text in texts for name in re.findall(r"static __device__ [\w ]+\*? ?(pl_\w+)\(int", text)}
    declared |= {name for text in texts for name in re.findall(r"PL_TOKEN_\(nm, \w+, (pl_\w+)", text)}
    declared |= {name for text in texts for name in re.findall(r"PL_SIGNAL_\(nm, .*(pl_\w+), unsigned", text)}
    assert declared == {function.name for _, function in FUNCTIONS}


def test_functions_serve_verbs_of_protocols() -> None:
    for label, resource in RESOURCES.items():
        verbs = {function.verb for function in resource.functions.values()} - {""}
        kind, _, direction = label.partition(" ")
        own = {"mbarrier": MBARRIER_VERBS, "cluster_barrier": CLUSTER_VERBS, "turns": TURNS_VERBS}
        own["dispatch"] = DISPATCH_VERBS
        known = own.get(kind) or PORT_VERBS.get((kind, direction), ())
        assert verbs <= {*known, "ended"}, label
        if kind in ("stream", "token"):
            assert set(known) - {"read", "write"} <= verbs, label
