"""What a link compares of its objects' symbols: types as PTX shows them, and bodies however they are spelled."""

import shutil
import subprocess
from pathlib import Path

import pytest

from pipelink.audit import symbols
from pipelink.audit.symbols import Input
from pipelink.backend import ptx_symbols, toolchain
from pipelink.link import Request, link
from pipelink.objects import read_objects
from pipelink.support.diagnostics import Diagnostics, LinkError
from pipelink.tools import pl_cc

PTX = """
.extern .func (.param .b32 func_retval0) given
( .param .b64 given_param_0, .param .align 4 .b8 given_param_1[12] ) ;
.visible .global .align 4 .u32 set = 5;
.weak .global .align 8 .u64 table[2] = {0, user};
.global .align 1 .b8 own[4] = {1, 2, 3, 4};
.extern .const .align 4 .b8 open[];
.func (.param .b32 func_retval0) user(
 .param .b32 user_param_0
)
{
 .reg .b32 %r<9>;
 .loc 1 2 3
$L__tmp0:
 ld.param.f32 %f7, [user_param_0];
 mov.u64 %rd3, own;
 {
 .param .b64 param0;
 st.param.b64 [param0+0], %rd3;
 .param .align 4 .b8 param1[12];
 st.param.f32 [param1+0], %f7;
 .param .b32 retval0;
 call.uni (retval0), given, ( param0, param1 );
 ld.param.f32 %f8, [retval0+0];
 }
 @%p1 bra $L__BB7_1;
$L__BB7_1:
 st.param.b32 [func_retval0+0], %r4;
 ret;
}
"""


def test_symbols_of_a_text() -> None:
    table = ptx_symbols.parse(PTX)
    assert {s.name for s in table.declared()} == {"given", "open"}
    assert str(table.signature("given")) == "(b64, 12 bytes) -> f32"
    assert str(table.signature("user")) == "(f32) -> b32"
    assert table.users("given") == ["user"]
    assert table.users("user") == ["table"]
    variables = {s.name: (s.space, s.size, s.linkage) for s in table.symbols.values() if hasattr(s, "space")}
    assert variables == {
        "set": ("global", 4, "visible"),
        "table": ("global", 16, "weak"),
        "own": ("global", 4, ""),
        "open": ("const", 0, "extern"),
    }


@pytest.mark.parametrize(
    "changed",
    [
        PTX.replace("%f7", "%f2").replace("$L__BB7", "$L__BB1").replace(".loc 1 2 3", ".loc 1 9 9"),
        PTX.replace("$L__tmp0:\n", "").replace("%r<9>", "%r<12>"),
        PTX.replace(
            "call.uni (retval0), given, ( param0, param1 );",
            "mov.u64 %rd9, given;\n call (retval0), %rd9, ( param0, param1 )\n , prototype_3;\n"
            " prototype_3 : .callprototype (.param .b32 _) _ (.param .b64 _);",
        ),
    ],
)
def test_spelling_does_not_matter(changed: str) -> None:
    assert changed != PTX
    one, two = ptx_symbols.parse(PTX).text("user"), ptx_symbols.parse(changed).text("user")
    assert one == two
    assert one.uses == ("own", "given")


@pytest.mark.parametrize(("old", "new"), [("[param1+0], %f7", "[param1+4], %f7"), (", %rd3;", ", %rd4;")])
def test_instructions_matter(old: str, new: str) -> None:
    assert old in PTX
    assert ptx_symbols.parse(PTX).text("user") != ptx_symbols.parse(PTX.replace(old, new)).text("user")


ONE = 'extern "C" __device__ void one(int* p) { *p = 1; }'


def compiled(name: str, text: str, root: str, arch: str = "sm_80") -> Input:
    code = toolchain.compile_ltoir(text, f"{name}.cu", arch)
    return Input(f"{name}.o", f"{name}.o", code, arch, {root: f"role '{name}' of 'x'"} if root else {})


def compare(*inputs: Input) -> list[str]:
    found = Diagnostics()
    assert symbols.apart(inputs, "sm_90a", found) is not None
    return [f"{d.location.file}: {d.message} [{d.id}]" for d in found.items]


def test_a_process_that_links_does_not_compare() -> None:
    """What it links afterwards would be other code, and other processes would take that from the cache."""
    with pytest.raises(AssertionError, match="a process of its own"):
        symbols.compare([compiled("one", ONE, "one")], "sm_90a", Diagnostics())


def test_bodies_for_two_architectures() -> None:
    """One header, compiled for two architectures: what differs by architecture does, the rest does not."""
    text = """inline __device__ int which(int x) { return x ARCH; }
    inline __device__ int other(int x) { return x * x; }
    extern "C" __device__ void ROOT(int* p) { *p = which(other(*p)); }"""
    by_arch = text.replace("ARCH", "+ (__CUDA_ARCH__ >= 900 ? 1 : 2)")
    old, new = by_arch.replace("ROOT", "old"), by_arch.replace("ROOT", "recent")
    found = compare(compiled("old", old, "old"), compiled("recent", new, "recent", "sm_90a"))
    assert found == ["old.o: 'which' has one body in 'old.o' and another in 'recent.o' [two-bodies]"]
    same = text.replace("ARCH", "+ 1")
    one, two = same.replace("ROOT", "old"), same.replace("ROOT", "recent")
    assert compare(compiled("old", one, "old"), compiled("recent", two, "recent", "sm_90a")) == []


def test_strings_and_functions_of_one_name_that_are_kept() -> None:
    text = """static __device__ int f(const char* s) { return s[threadIdx.x & 3] + BY; }
    namespace { __device__ int table[4] = {BY, 2, 3}; }
    extern "C" __device__ void ROOT(int* p) { *p = f("BY, what") + table[threadIdx.x & 3]; }"""
    one, two = (text.replace("BY", by).replace("ROOT", root) for by, root in (("3", "one"), ("4", "two")))
    assert compare(compiled("one", one, "one"), compiled("two", two, "two")) == []


@pytest.mark.skipif(shutil.which("ld") is None, reason="ld is not on PATH")
def test_objects_that_are_merged(tmp_path: Path) -> None:
    """What ``ld -r`` merged is still two translation units, and each is compared with the other."""
    parts = {
        "use": """#include <pipelink/component.cuh>
            extern "C" __device__ int helper(float*, int);
            PL_COMPONENT(x::use) {
            PL_ROLE(run, pl::warps<1>);
            PL_PARAM(out, float*);
            PL_TENSOR(out, float, "N", pl::write);
            PL_GRID("sms");
            PL_ENTRY(run) { out(self)[run::thread(self)] = helper(out(self), 3); }
            }""",
        "wrong": 'extern "C" __device__ void helper(float* x, int n) { x[n] = n; }',
        "right": 'extern "C" __device__ int helper(float* x, int n) { return x[n] > n; }',
    }
    for name, text in parts.items():
        (tmp_path / f"{name}.cu").write_text(text)
        flags = ["--in-process"] if name == "use" else ["--in-process", "--helper"]
        assert pl_cc.main([str(tmp_path / f"{name}.cu"), "-o", str(tmp_path / f"{name}.o"), *flags]) == 0
    kernel = b"""module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
      "pipelink.instance"() {sym_name = "a", component = @x.use} : () -> ()
    }"""

    def linked(other: str) -> object:
        merged = tmp_path / f"{other}-merged.o"
        subprocess.run(["ld", "-r", "-o", str(merged), tmp_path / "use.o", tmp_path / f"{other}.o"], check=True)
        assert {image.unit for image in read_objects(merged)[0].images} == {0, 1}
        return link(Request(kernel, (merged,)))

    assert linked("right").warnings == ()  # type: ignore[attr-defined]
    with pytest.raises(LinkError) as caught:
        linked("wrong")
    (problem,) = caught.value.diagnostics
    assert problem.id == "symbol-mismatch"
    assert "is defined as (b64, b32) -> nothing in" in problem.message
