"""The records that the header writes: each macro's, the same from nvcc and NVRTC, and gone from linked code."""

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from pipelink.audit import contract
from pipelink.backend import nvjitlink, toolchain
from pipelink.objects import Image, parse_objects, read_objects
from pipelink.objects.contract import Contract
from pipelink.support.diagnostics import LinkError

SOURCE = Path(__file__).parent / "objects" / "component.cu"
NVCC = shutil.which("nvcc")
needs_nvcc = pytest.mark.skipif(NVCC is None, reason="nvcc is not on PATH")

EXPECTED: list[dict[str, Any]] = [
    {"op": "component", "name": "component", "cxx": 17, "toolkit": "13.0"},
    {"op": "role", "name": "load", "warps": 1, "align": 1, "registers": [24, 40], "threads": "one"},
    {"op": "role", "name": "run", "warps": 8, "align": 4, "registers": [168, 240]},
    {
        "op": "port", "name": "ab", "direction": "out", "kind": "stream", "stages": [2, 8], "touch": "tma",
        "ends": True, "role": "load",
        "tiles": [
            {"element": "bf16", "shape": [128, 64], "layout": "swizzle128", "bytes": 16384, "align": 1024},
            {"element": "f32", "shape": [32], "layout": "row_major", "bytes": 128, "align": 128},
        ],
    },
    {
        "op": "port", "name": "items", "direction": "in", "kind": "stream", "stages": [1, 4], "touch": "threads",
        "ends": True, "may_be_empty": True, "role": "run",
        "tiles": [{"element": "work_item<8,4>", "shape": [1], "layout": "item", "bytes": 8, "align": 16}],
    },
    {
        "op": "port", "name": "pages", "direction": "local", "kind": "stream", "stages": [2, 4], "touch": "cp_async",
        "role": "run",
        "tiles": [{"element": "e4m3", "shape": [16, 64], "layout": "swizzle64", "bytes": 1024, "align": 512}],
    },
    {"op": "port", "name": "done", "direction": "out", "kind": "token"},
    {"op": "port", "name": "turn", "direction": "in", "kind": "token", "credit": 1, "role": "run"},
    {
        "op": "port", "name": "next", "direction": "calls", "kind": "call",
        "signature": "tile_coord(i32, const work_item<8,4>&)",
    },
    {
        "op": "port", "name": "store", "direction": "answers", "kind": "call",
        "signature": "void(f32[128]&, fragment<u32,4>, work_item<8,4>*)",
    },
    {"op": "smem", "name": "scratch", "bytes": 512, "align": 1024, "live": [0, 2], "role": "run"},
    {"op": "state", "name": "rows", "bytes": 8, "align": 4},
    {"op": "barrier", "name": "met", "threads": 256, "role": "run"},
    {"op": "mbarrier", "name": "full", "arrivals": 2, "count": 3, "role": "run"},
    {"op": "cluster_barrier", "name": "together", "role": "run"},
    {"op": "turns", "name": "order", "role": "run"},
    {"op": "tmem", "name": "kept", "columns": 64, "live": [1, 2], "role": "run"},
    {"op": "param", "name": "map", "type": "tensor_map", "port": "ab", "part": 1, "bytes": 128, "align": 64},
    {
        "op": "param", "name": "half", "type": "tensor_map", "port": "ab", "part": 0, "box": [64, 64], "bytes": 128,
        "align": 64,
    },
    {
        "op": "param", "name": "whole", "type": "tensor_map", "bytes": 128, "align": 64,
        "tile": {"element": "bf16", "shape": [16, 32], "layout": "swizzle64", "bytes": 1024, "align": 512},
    },
    {"op": "param", "name": "out", "type": "bf16*", "bytes": 8, "align": 8},
    {"op": "param", "name": "k_tiles", "type": "i32", "bytes": 4, "align": 4},
    {"op": "param", "name": "first", "type": "work_item<8,4>", "bytes": 8, "align": 4},
    {"op": "tensor", "name": "a", "element": "bf16", "shape": ["M", "64"], "access": "readwrite"},
    {"op": "bind", "name": "map", "param": "map", "to": "a"},
    {"op": "bind", "name": "half", "param": "half", "to": "a"},
    {"op": "bind", "name": "whole", "param": "whole", "to": "a"},
    {"op": "derive", "name": "k_steps", "value": "ceildiv(K, 64)"},
    {"op": "grid", "name": "grid", "value": ["min(m_tiles * n_tiles, sms * occupancy)", "1", "1"]},
    {"op": "cluster", "name": "cluster", "value": [2, 1, 1]},
    {"op": "resident", "name": "resident"},
    {"op": "stack", "name": "stack", "bytes": 48},
    {"op": "workspace", "name": "counters", "bytes": "m_tiles * 4", "init": "zero"},
    {"op": "require", "name": "k_major", "key": "k_major", "value": 1},
    {"op": "promise", "name": "order", "key": "order", "value": 'row "major"'},
    {"op": "protocol", "name": "load", "text": "ab.acquire; ab.copy; ab.end;"},
    {
        "op": "protocol", "name": "run",
        "text": "turn.take; repeat 1 { items.wait; items.release; } pages.acquire; pages.commit; pages.wait;"
        " pages.release; next; scratch.write; met.sync by 8 warps; done.pass;",
    },
    {"op": "entry", "name": "load"},
    {"op": "entry", "name": "run"},
    {"op": "answer", "name": "store"},
]  # fmt: skip


def compile_image(source: str, arch: str = "sm_90a", std: str = "c++17") -> Image:
    code = toolchain.compile_ltoir(source, "component.cu", arch, std=std)
    return Image(arch, "ltoir", toolchain.toolkit_version(), code)


@pytest.mark.parametrize("std", ["c++17", "c++20"])
@pytest.mark.parametrize("arch", ["sm_80", "sm_90a", "sm_100a"])
def test_every_macro_writes_its_record(std: str, arch: str) -> None:
    found = [json.loads(text) for text in contract.device_records(compile_image(SOURCE.read_text(), arch, std))]
    lines: list[int] = []
    for record in found:
        common = (record.pop("pipelink"), record.pop("component"), record.pop("file"))
        assert common == (1, "test::everything", "component.cu")
        lines.append(record.pop("line"))
    expected = [{**record, "cxx": int(std[-2:])} if record["op"] == "component" else record for record in EXPECTED]
    expected[0]["toolkit"] = toolchain.toolkit_version()
    assert found == expected
    assert lines == sorted(lines)
    assert lines[0] == 7


def test_what_instructions_await_and_add() -> None:
    source = """#include <pipelink/component.cuh>
PL_COMPONENT(x) {
PL_OPERAND(stage, int);
PL_COUNTERS(flags, "8");
PL_SIGNAL_IN(ready, flags, gpu);
PL_SIGNAL_OUT(done, flags, gpu);
PL_ADDS(done, "stage", "1");
PL_AWAITS(ready, "stage - 1", "4 * min(stage, 1)", "7", "stage");
}
"""
    found = [json.loads(text) for text in contract.device_records(compile_image(source))]
    stated = [
        {key: record[key] for key in ("op", "name", "line", "index", "count")}
        for record in found
        if record["op"] in ("awaits", "adds")
    ]
    assert stated == [
        {"op": "adds", "name": "done", "line": 7, "index": ["stage"], "count": ["1"]},
        {
            "op": "awaits", "name": "ready", "line": 8, "index": ["stage - 1", "7"],
            "count": ["4 * min(stage, 1)", "stage"],
        },
    ]  # fmt: skip
    written = Contract("x").adds("done", ("stage", "1"))
    written.awaits("ready", ("stage - 1", "4 * min(stage, 1)"), ("7", "stage"))
    same = [{**json.loads(text), "line": one["line"]} for text, one in zip(written.records()[1:], stated, strict=True)]
    assert [{key: record[key] for key in stated[0]} for record in same] == stated


def nvcc(source: Path, output: Path, *options: str) -> None:
    own = toolchain.include_dirs()[0]
    command = [str(NVCC), "-std=c++17", f"-I{own}", "-dc", str(source), "-o", str(output), *options]
    subprocess.run(command, check=True, capture_output=True)


LTO_90A = ("-gencode", "arch=compute_90a,code=lto_90a")


@needs_nvcc
def test_nvcc_and_nvrtc_write_the_same_bytes(tmp_path: Path) -> None:
    # -O2 makes gcc write the records in another order
    nvcc(SOURCE, tmp_path / "x.o", *LTO_90A, "-gencode", "arch=compute_80,code=lto_80", "-O2")
    (item,) = read_objects(tmp_path / "x.o")
    assert [image.arch for image in item.images] == ["sm_90a", "sm_80"]
    contract.verify(item)
    texts = sorted(record.text for record in item.components[0].records)
    assert texts == sorted(contract.device_records(compile_image(SOURCE.read_text())))


@needs_nvcc
def test_verify_finds_a_contract_that_depends_on_the_architecture(tmp_path: Path) -> None:
    source = tmp_path / "arch.cu"
    source.write_text(
        "#include <pipelink/component.cuh>\n"
        "#if __CUDA_ARCH__ >= 900\nconstexpr int n = 64;\n#else\nconstexpr int n = 32;\n#endif\n"
        "PL_COMPONENT(x) {\nPL_SMEM(s, float[n]);\nPL_PARAM(p, int);\n"
        "#if __CUDA_ARCH__ >= 900\nPL_PARAM(q, int);\n#endif\n}\n"
    )
    nvcc(source, tmp_path / "arch.o", *LTO_90A, "-gencode", "arch=compute_80,code=lto_80")
    (item,) = read_objects(tmp_path / "arch.o")
    with pytest.raises(LinkError) as caught:
        contract.verify(item)
    assert {d.id for d in caught.value.diagnostics} == {"contract-mismatch"}
    messages = [(d.location.line, d.message) for d in caught.value.diagnostics]
    assert messages == [
        (8, "smem 's' of component 'x' differs in the code for sm_90a: bytes is 128, there 256"),
        (11, "param 'q' of component 'x' is in the code for sm_90a but not in the contract"),
    ]


@needs_nvcc
def test_objects_without_ltoir_are_refused(tmp_path: Path) -> None:
    source = tmp_path / "x.cu"
    source.write_text("#include <pipelink/component.cuh>\nPL_COMPONENT(x) {\nPL_PARAM(n, int);\n}\n")
    for options in (["-arch=sm_90a"], ["-arch=sm_90a", "-G"]):
        nvcc(source, tmp_path / "x.o", *options)
        with pytest.raises(LinkError) as caught:
            read_objects(tmp_path / "x.o")
        assert caught.value.diagnostics[0].id == "no-ltoir"
        assert "cubin for sm_90a" in caught.value.diagnostics[0].message


@needs_nvcc
@pytest.mark.skipif(shutil.which("ld") is None, reason="ld is not on PATH")
def test_merged_objects_are_split(tmp_path: Path) -> None:
    for name in ("x", "y"):
        source = tmp_path / f"{name}.cu"
        source.write_text(f"#include <pipelink/component.cuh>\nPL_COMPONENT({name}) {{\nPL_PARAM(n, int);\n}}\n")
        nvcc(source, tmp_path / f"{name}.o", *LTO_90A)
    parts = [str(tmp_path / f"{name}.o") for name in ("x", "y")]
    subprocess.run(["ld", "-r", "-o", str(tmp_path / "m.o"), *parts], check=True)
    (item,) = read_objects(tmp_path / "m.o")
    assert [component.name for component in item.components] == ["x", "y"]
    assert [image.unit for image in item.images] == [0, 1]
    contract.verify(item)


def test_linked_code_holds_no_record() -> None:
    kernel = (
        "namespace test::everything { struct load { static __device__ void pl_enter(int, void*); }; }\n"
        'extern "C" __global__ void k() {}\n'
    )
    images = [
        nvjitlink.Image("component", compile_image(SOURCE.read_text()).data),
        nvjitlink.Image("kernel", compile_image(kernel).data),
    ]
    linked = nvjitlink.link(images, "sm_90a").data
    assert b"pl_record" not in linked
    assert b"everything" not in linked


def test_variants_of_a_template(tmp_path: Path) -> None:
    source = """
#include <pipelink/component.cuh>
namespace lib {
template <class Out, int M, class Map>
__device__ __forceinline__ void load_rows(pl::self self, const Map& map, int tiles) {
  for (int k = 0; k < tiles; ++k) Out::tma_load(self, map, 0, k * M);
}
}
#define LIB_LOADER(NAME, M)                                                                                   \\
  PL_COMPONENT(NAME) {                                                                                        \\
    PL_ROLE(load, pl::warps<1>, pl::one_thread);                                                              \\
    PL_OUT(a, pl::stream<pl::swizzle128<pl::tile<pl::bf16, M, 64>>>, pl::ring<2, 8>, pl::by_tma);             \\
    PL_PARAM(map, pl::tensor_map<a>);                                                                         \\
    PL_PARAM(tiles, int);                                                                                     \\
    PL_ENTRY(load) { lib::load_rows<a, M>(self, map(self), tiles(self)); }                                    \\
  }
LIB_LOADER(lib::loader_64, 64)
LIB_LOADER(lib::loader_128, 128)
"""
    texts = contract.device_records(compile_image(source))
    from pipelink.objects import object_bytes

    (item,) = parse_objects(object_bytes([compile_image(source)], texts), "x.o")
    assert [component.name for component in item.components] == ["lib::loader_128", "lib::loader_64"]
    sizes = [record.values["tiles"][0]["bytes"] for c in item.components for record in c.records if record.op == "port"]
    assert sizes == [128 * 128, 64 * 128]


def test_tiles_in_tensor_memory() -> None:
    source = """
#include <pipelink/component.cuh>
PL_COMPONENT(test::mma) {
PL_ROLE(mma, pl::warps<1>, pl::one_thread);
PL_OUT(acc, pl::stream<pl::tmem_tile<float, 128, 256>>, pl::ring<1, 2>, pl::by_tcgen05, pl::cta_pair);
PL_ENTRY(mma) { acc::commit(self, acc::acquire(self)); }
}
"""
    from pipelink.objects import object_bytes

    image = compile_image(source)
    (item,) = parse_objects(object_bytes([image], contract.device_records(image)), "x.o")
    (port,) = [record.values for record in item.components[0].records if record.op == "port"]
    assert (port["touch"], port["cta_group"]) == ("tcgen05", 2)
    assert port["tiles"] == [
        {
            "element": "f32", "shape": [128, 256], "layout": "tmem", "space": "tmem", "bytes": 131072, "columns": 256,
        }
    ]  # fmt: skip


def test_a_macro_may_name_a_component() -> None:
    source = "#define NAME test::named\n#include <pipelink/component.cuh>\nPL_COMPONENT(NAME) {}\n"
    (text,) = contract.device_records(compile_image(source))
    assert json.loads(text)["component"] == "test::named"


def test_verify_compares_what_records_say_not_how_they_are_spelled() -> None:
    from pipelink.objects import object_bytes, parse_objects

    image = compile_image(SOURCE.read_text())
    texts = [json.dumps(json.loads(text), indent=1).encode() for text in contract.device_records(image)]
    (item,) = parse_objects(object_bytes([image], texts), "x.o")
    contract.verify(item)


def test_a_port_has_any_name() -> None:
    """Also one that the headers' own code has."""
    names = ("at", "frame", "id", "s", "self_", "stage", "w", "writer")
    ports = "".join(f"PL_OUT({name}, pl::stream<pl::item<int>>, pl::ring<1, 2>, pl::by_threads);" for name in names)
    component = f"PL_COMPONENT(x) {{ PL_ROLE(run, pl::warps<1>); {ports} PL_ENTRY(run) {{ w::acquire(self); }} }}"
    texts = contract.device_records(compile_image(f"#include <pipelink/component.cuh>\n{component}\n"))
    records = [json.loads(text) for text in texts]
    assert sorted(record["name"] for record in records if record["op"] == "port") == list(names)
