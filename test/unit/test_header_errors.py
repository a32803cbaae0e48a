"""What the compiler says about mistakes in a contract: the first error names the mistake, at the author's line."""

import pytest

from pipelink.backend import toolchain
from pipelink.support.diagnostics import LinkError

TILE = "pl::stream<pl::swizzle128<pl::tile<pl::bf16, 128, 64>>>"
OUT = f"PL_OUT(a, {TILE}, pl::ring<2, 8>, pl::by_tma);\n"
# name: (body of component x, line of the error within it, text that the message contains)
CASES = {
    "policies-of-a-reader": (
        f"PL_IN(a, {TILE}, pl::ring<2, 8>, pl::by_threads, pl::l2<pl::evict_first>);",
        1,
        "PL_IN: pl::l2<policies...> and pl::in_flight<n> are of the port that is filled",
    ),
    "in-flight-of-threads": (
        f"PL_ROLE(r, pl::warps<4>);\nPL_OUT(a, {TILE}, pl::ring<2, 8>, pl::by_threads, pl::in_flight<2>);\n"
        "PL_ENTRY(r) { a::commit(self, a::acquire(self)); }",
        2,
        "pl::in_flight<n> counts the slots that a pl::by_tma or pl::by_bulk port fills",
    ),
    "dispatch-of-nothing": ("PL_DISPATCH(d, 0);", 1, "operands take 1 to 4096 bytes"),
    "dispatch-named-like-its-operation": ("PL_DISPATCH(run, 16);", 1, "a dispatch is not named like its operation"),
    "dispatch-attribute": ("PL_DISPATCH(d, 16, pl::count<2>);", 1, "PL_DISPATCH: not an attribute; known: pl::in_role"),
    "lease-without-pages": ("PL_LEASE(l, 1024);", 1, "PL_LEASE: exactly one pl::pages<min, max> is needed"),
    "lease-of-odd-pages": ("PL_LEASE(l, 1000, pl::pages<2, 4>);", 1, "a page has a multiple of 16 bytes"),
    "lease-attribute": ("PL_LEASE(l, 1024, pl::pages<2, 4>, pl::ring<2, 4>);", 1, "PL_LEASE: not an attribute"),
    "operand-aligned-too-far": ("PL_OPERAND(o, pl::tile_map<int>);", 1, "operands are aligned to 16 bytes"),
    "policies-of-threads": (
        f"PL_ROLE(r, pl::warps<4>);\nPL_OUT(a, {TILE}, pl::ring<2, 8>, pl::by_threads, pl::l2<pl::evict_first>);",
        2,
        "PL_OUT: pl::l2<policies...> has a policy for each tile of a pl::by_tma or pl::by_bulk port",
    ),
    "policies-too-many": (
        f"PL_OUT(a, {TILE}, pl::ring<2, 8>, pl::by_tma, pl::l2<pl::evict_first, pl::evict_last>);",
        1,
        "PL_OUT: pl::l2<policies...> has a policy for each tile of a pl::by_tma or pl::by_bulk port",
    ),
    "peers-none": (
        'PL_TENSOR(x, int, "N", pl::read);\nPL_PEERS(all, x, 0);',
        2,
        "PL_PEERS(name, tensor, gpus): 1 to 64 GPUs",
    ),
    "signal-scope": (
        'PL_COUNTERS(flags, "4");\nPL_SIGNAL_OUT(done, flags, cta);',
        2,
        "PL_SIGNAL_OUT, PL_SIGNAL_IN: the scope is gpu or system",
    ),
    "role-named-like-its-operation": ("PL_ROLE(thread, pl::warps<1>);", 1, "a role is not named like one of its"),
    "port-named-like-its-operation": (OUT.replace("(a,", "(commit,"), 1, "a port is not named like one of its"),
    "token-named-like-its-operation": ("PL_TOKEN_IN(take);", 1, "a token is not named like its operation"),
    "barrier-named-like-its-operation": ("PL_BARRIER(sync, pl::threads<32>);", 1, "a barrier is not named like"),
    "turns-named-like-their-operation": ("PL_TURNS(pass);", 1, "turns are not named like their operations"),
    "cluster-barrier-named-like-its-operation": ("PL_CLUSTER_BARRIER(sync);", 1, "a barrier is not named like"),
    "mbarrier-named-like-its-operation": ("PL_MBARRIER(wait, pl::arrivals<1>);", 1, "an mbarrier is not named like"),
    "signal-named-like-its-operation": (
        'PL_COUNTERS(flags, "4");\nPL_SIGNAL_OUT(add, flags, gpu);',
        2,
        "a signal is not named like its operation",
    ),
    "parameter-named-self": ("PL_PARAM(self, int);", 1, "self and pl are the library's names"),
    "buffer-named-pl": ("PL_SMEM(pl, int[4]);", 1, "self and pl are the library's names"),
    "role-with-the-prefix": ("PL_ROLE(pl_enter, pl::warps<1>);", 1, "one of its operations, nor pl_..."),
    "signal-without-counters": ("PL_SIGNAL_IN(ready, flags, gpu);", 1, '"flags_memory_param" is undefined'),
    "answer-wrong-result": (
        "PL_ANSWER(next, pl::tile_coord(int));\nPL_DEFINE(next)(pl::self self, int i) -> int { return 0; }",
        2,
        "incompatible with \"pl::tile_coord x::next_port::body(pl::self, int)\"",
    ),
    "answer-wrong-type": (
        "PL_ANSWER(next, pl::tile_coord(int));\n"
        "PL_DEFINE(next)(pl::self self, float i) -> pl::tile_coord { return {}; }",
        2,
        "incompatible with \"pl::tile_coord x::next_port::body(pl::self, int)\"",
    ),
    "answer-undeclared": ("PL_DEFINE(nxt)(pl::self self) -> void {}", 1, '"nxt_port" is undefined'),
    "answer-of-a-call": (
        "PL_CALL(next, void());\nPL_DEFINE(next)(pl::self self) -> void {}",
        2,
        "PL_DEFINE: not declared with PL_ANSWER",
    ),
    "call-not-a-function": ("PL_CALL(work, int);", 1, "a call port needs a function type"),
    "call-too-few-arguments": (
        "PL_ROLE(r, pl::warps<4>);\nPL_CALL(put, void(float (&)[128], int, int));\n"
        "PL_ENTRY(r) { float acc[128]; put(self, acc, 0); }",
        3,
        "x::put_port::invoke",
    ),
    "call-wrong-argument": (
        "PL_ROLE(r, pl::warps<4>);\nPL_CALL(put, void(float (&)[128], int, int));\n"
        "PL_ENTRY(r) { float acc[64]; put(self, acc, 0, 0); }",
        3,
        "x::put_port::invoke",
    ),
    "entry-twice": (
        "PL_ROLE(load, pl::warps<1>);\nPL_ENTRY(load) {}\nPL_ENTRY(load) {}",
        3,
        'pl_declared_0entry_load" has already been defined (previous definition at line 4)',
    ),
    "entry-of-unknown-role": ("PL_ROLE(load, pl::warps<1>);\nPL_ENTRY(laod) {}", 2, '"laod" is undefined'),
    "entry-of-a-barrier": (
        "PL_BARRIER(load, pl::threads<32>);\nPL_ENTRY(load) {}",
        2,
        "PL_ENTRY: not declared with PL_ROLE",
    ),
    "mbarrier-without-arrivals": (
        "PL_MBARRIER(full, pl::count<2>);",
        1,
        "PL_MBARRIER: exactly one pl::arrivals<n> is needed",
    ),
    "mbarrier-attribute": (
        "PL_MBARRIER(full, pl::arrivals<1>, pl::threads<32>);",
        1,
        "PL_MBARRIER: not an attribute; known: pl::arrivals<n>",
    ),
    "turns-attribute": ("PL_TURNS(turn, pl::count<2>);", 1, "PL_TURNS: not an attribute; known: pl::in_role<role>"),
    "cluster-barrier-attribute": (
        "PL_CLUSTER_BARRIER(met, pl::threads<32>);",
        1,
        "PL_CLUSTER_BARRIER: not an attribute; known: pl::in_role<role>",
    ),
    "no-stack": ("PL_STACK(0);", 1, "PL_STACK(bytes): at least 1"),
    "awaits-of-an-out": (
        'PL_COUNTERS(flags, "4");\nPL_SIGNAL_OUT(done, flags, gpu);\nPL_AWAITS(done, "0", "1");',
        3,
        "PL_AWAITS: not declared with PL_SIGNAL_IN",
    ),
    "adds-of-an-in": (
        'PL_COUNTERS(flags, "4");\nPL_SIGNAL_IN(ready, flags, gpu);\nPL_ADDS(ready, "0", "1");',
        3,
        "PL_ADDS: not declared with PL_SIGNAL_OUT",
    ),
    "adds-of-a-peer": (
        'PL_PEER_COUNTERS(flags, "4", 2);\nPL_PEER_SIGNAL_OUT(done, flags);\nPL_ADDS(done, "0", "1");',
        3,
        "PL_ADDS: not declared with PL_SIGNAL_OUT",
    ),
    "awaits-without-a-threshold": (
        'PL_COUNTERS(flags, "4");\nPL_SIGNAL_IN(ready, flags, gpu);\nPL_AWAITS(ready, "0", "1", "2");',
        3,
        "texts in pairs, up to 16",
    ),
    "tmem-too-wide": ("PL_TMEM(kept, 1024);", 1, "PL_TMEM(name, columns, ...): 1 to 512 columns"),
    "protocol-twice": (
        'PL_ROLE(load, pl::warps<1>);\nPL_PROTOCOL(load, "a;");\nPL_PROTOCOL(load, "b;");',
        3,
        'pl_statement_0protocol_load" has already been defined (previous definition at line 4)',
    ),
    "protocol-no-text": (
        "PL_ROLE(load, pl::warps<1>);\nPL_PROTOCOL(load, 3);",
        2,
        'incompatible with parameter of type "const char *"',
    ),
    "port-twice": (OUT + OUT, 2, 'class "x::a" has already been defined (previous definition at line 3)'),
    "name-of-two-kinds": (OUT + "PL_PARAM(a, int);", 2, "x::"),
    "end-undeclared": (
        OUT + "PL_ROLE(r, pl::warps<1>);\nPL_ENTRY(r) { a::end(self); }",
        3,
        "declare pl::ends to end a stream",
    ),
    "ring-missing": (f"PL_OUT(a, {TILE}, pl::by_tma);", 1, "exactly one pl::ring<min, max> is needed"),
    "ring-reversed": (f"PL_OUT(a, {TILE}, pl::ring<8, 2>, pl::by_tma);", 1, "1 <= min <= max"),
    "ring-as-a-call": (f"PL_OUT(a, {TILE}, pl::ring(2, 8), pl::by_tma);", 1, 'expected a ")"'),
    "touch-missing": (f"PL_OUT(a, {TILE}, pl::ring<2, 8>);", 1, "exactly one of pl::by_tma"),
    "touch-out-by-wgmma": (f"PL_OUT(a, {TILE}, pl::ring<2, 8>, pl::by_wgmma);", 1, "wgmma does not write"),
    "per-warp-of-threads": (
        f"PL_IN(a, {TILE}, pl::ring<2, 8>, pl::by_threads, pl::per_warp);",
        1,
        "pl::per_warp is of pl::by_wgmma",
    ),
    "empty-without-end": (
        f"PL_IN(a, {TILE}, pl::ring<2, 8>, pl::by_threads, pl::may_be_empty);",
        1,
        "pl::may_be_empty needs pl::ends",
    ),
    "local-by-tma": (f"PL_LOCAL(a, {TILE}, pl::ring<2, 8>, pl::by_tma);", 1, "PL_LOCAL: pl::by_cp_async is needed"),
    "not-a-stream": (
        "PL_OUT(a, pl::tile<pl::bf16, 128, 64>, pl::ring<2, 8>, pl::by_tma);",
        1,
        "the second argument must be pl::stream<tiles...>",
    ),
    "not-a-tile": ("PL_OUT(a, pl::stream<pl::swizzle128<float>>, pl::ring<2, 8>, pl::by_tma);", 1, "takes a pl::tile"),
    "not-an-attribute": (f"PL_OUT(a, {TILE}, pl::ring<2, 8>, pl::by_tma, int);", 1, "not a port attribute; known:"),
    "not-a-constant": (
        "__device__ int f();\nPL_BARRIER(b, pl::threads<f()>);",
        2,
        "must have a constant value",
    ),
    "unknown-element": (
        "struct fp4 {};\nPL_OUT(a, pl::stream<pl::swizzle128<pl::tile<fp4, 128, 64>>>, pl::ring<2, 8>, pl::by_tma);",
        2,
        "pl::tile: not an element type",
    ),
    "part-out-of-range": (
        OUT + "PL_ROLE(r, pl::warps<1>);\nPL_ENTRY(r) { a::address<1>(self, pl::slot{0}); }",
        3,
        "the slot has fewer tiles",
    ),
    "registers-not-of-8": ("PL_ROLE(r, pl::warps<4>, pl::registers<24, 100>);", 1, "multiples of 8"),
    "role-without-warps": ("PL_ROLE(r, pl::one_thread);", 1, "exactly one pl::warps<n> is needed"),
    "swapped-arguments": ("PL_PARAM(int, n);", 1, '"n" is undefined'),
    "tma-into-thread-port": (
        f"PL_OUT(a, {TILE}, pl::ring<2, 8>, pl::by_threads);\nPL_ROLE(r, pl::warps<1>);\n"
        "PL_PARAM(map, pl::tensor_map<a>);\nPL_ENTRY(r) { a::tma_load(self, map(self), 0, 0); }",
        4,
        "only a pl::by_tma port can be filled by TMA",
    ),
    "map-of-another-port": (
        OUT + OUT.replace("(a,", "(b,") + "PL_ROLE(r, pl::warps<1>);\nPL_PARAM(map, pl::tensor_map<a>);\n"
        "PL_ENTRY(r) { b::tma_load(self, map(self), 0, 0); }",
        5,
        "this tensor map belongs to another port",
    ),
    "map-of-another-tile": (
        OUT.replace(TILE, "pl::stream<pl::item<int>, pl::item<float>>")
        + "PL_ROLE(r, pl::warps<1>);\nPL_PARAM(map, pl::tensor_map<a>);\n"
        "PL_ENTRY(r) { a::copy<1>(self, a::acquire(self), map(self), 0, 0); }",
        4,
        "this tensor map is for another tile of the slot",
    ),
    "box-too-large": (OUT + "PL_PARAM(map, pl::tensor_map<a, 0, pl::box<512, 64>>);", 2, "extents are 1 to 256"),
    "map-of-no-tile": (OUT + "PL_PARAM(map, pl::tensor_map<a, 1>);", 2, "the port's slot has fewer tiles"),
    "wait-on-out": (
        OUT + "PL_ROLE(r, pl::warps<1>);\nPL_ENTRY(r) { a::wait(self); }",
        3,
        '"x::a" has no member "wait"',
    ),
    "bind-of-no-parameter": ('PL_BIND(m, "K");', 1, '"m_param" is undefined'),
    "credit-too-large": ("PL_TOKEN_IN(turn, pl::credit<2>);", 1, "pl::credit<n>: 0 or 1"),
    "in-a-class": ("struct s {\nPL_PARAM(n, int);\n};", 2, "expected a declaration"),
    "in-a-template": ("template <int N> struct s {\nPL_PARAM(n, int);\n};", 2, "expected a declaration"),
    "in-a-function": ("__device__ void f() {\nPL_PARAM(n, int);\n}", 2, "namespace definition is not allowed"),
}  # fmt: skip
# The same for whole files: (source after the #include, line, text)
FILES = {
    "outside-a-component": ("PL_PARAM(n, int);\n", 2, "stands outside PL_COMPONENT"),
    "in-a-namespace": ("namespace mine {\nPL_COMPONENT(x) {}\n}\n", 3, "PL_COMPONENT belongs at global scope"),
    "blank-in-the-name": ("PL_COMPONENT(a :: x) {}\n", 2, "identifiers joined by ::"),
    "component-twice": (
        "PL_COMPONENT(x) {}\nPL_COMPONENT(x) {}\n",
        3,
        'pl_component" has already been defined (previous definition at line 2)',
    ),
}
WHERE_RECORDS_ARE_LOST = ("in-a-class", "in-a-template", "in-a-function")


def refuse(source: str) -> LinkError:
    with pytest.raises(LinkError) as caught:
        toolchain.compile_ltoir(source, "case.cu", "sm_90a")
    return caught.value


@pytest.mark.parametrize("name", CASES)
def test_mistake_is_named(name: str) -> None:
    body, line, text = CASES[name]
    problem = refuse(f"#include <pipelink/component.cuh>\nPL_COMPONENT(x) {{\n{body}\n}}\n").diagnostics[0]
    assert problem.id == "compile-error"
    assert (problem.location.file, problem.location.line) == ("case.cu", line + 2)
    assert text in problem.message
    assert "the compiler's log" in problem.notes[-1].message
    assert bool(problem.hint) == (name in WHERE_RECORDS_ARE_LOST)


@pytest.mark.parametrize("name", FILES)
def test_misplaced_component_is_named(name: str) -> None:
    source, line, text = FILES[name]
    problem = refuse(f"#include <pipelink/component.cuh>\n{source}").diagnostics[0]
    assert (problem.location.file, problem.location.line) == ("case.cu", line)
    assert text in problem.message


#: Declarations of a component, by what stands for the name.
DECLARATIONS = (
    "PL_ROLE(@, pl::warps<1>); PL_ENTRY(@) { (void)@::thread(self); }",
    f"PL_ROLE(r, pl::warps<1>); PL_OUT(@, {TILE}, pl::ring<2, 8>, pl::by_tma); PL_PARAM(m, pl::tensor_map<@>);"
    "PL_ENTRY(r) { @::tma_load(self, m(self), 0, 0); }",
    f"PL_ROLE(r, pl::warps<4>); PL_IN(@, {TILE}, pl::ring<2, 8>, pl::by_wgmma, pl::in_role<r>);"
    "PL_ENTRY(r) { @::release(self, @::wait(self)); }",
    "PL_ROLE(r, pl::warps<1>); PL_TOKEN_IN(@); PL_ENTRY(r) { @::take(self); }",
    "PL_ROLE(r, pl::warps<1>); PL_BARRIER(@, pl::threads<32>); PL_ENTRY(r) { @::sync(self); }",
    "PL_ROLE(r, pl::warps<1>); PL_CLUSTER_BARRIER(@); PL_ENTRY(r) { @::sync(self); }",
    "PL_ROLE(r, pl::warps<8>); PL_TURNS(@); PL_ENTRY(r) { @::take(self); @::pass(self); }",
    "PL_ROLE(r, pl::warps<1>); PL_MBARRIER(@, pl::arrivals<1>); PL_ENTRY(r) { @::wait(self, 0, 0); }",
    'PL_ROLE(r, pl::warps<1>); PL_COUNTERS(@, "4"); PL_SIGNAL_IN(s, @, gpu); PL_ENTRY(r) { s::await(self, 0, 1); }',
    'PL_ROLE(r, pl::warps<1>); PL_COUNTERS(f, "4"); PL_SIGNAL_OUT(@, f, gpu); PL_ENTRY(r) { @::add(self, 0); }',
    "PL_ROLE(r, pl::warps<1>); PL_SMEM(@, int[4]); PL_ENTRY(r) { @(self)[0] = 1; }",
    "PL_ROLE(r, pl::warps<1>); PL_STATE(@, int); PL_ENTRY(r) { @(self) = 1; }",
    "PL_ROLE(r, pl::warps<1>); PL_PARAM(@, int); PL_PARAM(o, int*); PL_ENTRY(r) { o(self)[0] = @(self); }",
    "PL_ROLE(r, pl::warps<1>); PL_CALL(@, int(int)); PL_ENTRY(r) { (void)@(self, 1); }",
    "PL_ANSWER(@, int(int)); PL_DEFINE(@)(pl::self self, int i) -> int { return i; }",
)
#: What the headers have as names of their own, or did.
NAMES = (
    "write name body tiles tma bulk can_end T A R Port type value result frame implementation invoke answer id s w at "
    "grid cluster resident component entry_r x_text map slot read box tile self_ direction operation dir nm pl_mine"
)


def test_any_other_name_can_be_used() -> None:
    parts = [
        f"PL_COMPONENT(x{n}_{m}) {{\n{declaration.replace('@', name)}\n}}\n"
        for n, name in enumerate(NAMES.split())
        for m, declaration in enumerate(DECLARATIONS)
        if name != "pl_mine" or m > 9  # names with pl_ are those of the classes' own functions
    ]
    more = (
        "PL_COMPONENT(y) {\nPL_ROLE(grid, pl::warps<1>);\nPL_ROLE(x, pl::warps<1>);\nPL_ROLE(x_text, pl::warps<1>);\n"
    )
    more += 'PL_PARAM(bind_n, int);\nPL_PARAM(n, int);\nPL_BIND(n, "4");\nPL_GRID("1");\nPL_RESIDENT;\n}\n'
    toolchain.compile_ltoir("#include <pipelink/component.cuh>\n" + "".join(parts) + more, "case.cu", "sm_90a")
