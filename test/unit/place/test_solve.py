"""Placement as plain data: what is placed never collides, and what is called optimal is."""

import itertools
import subprocess
import sys

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pipelink.analysis.placement import Options, Problem, Solution, solve
from pipelink.analysis.placement.demand import linear_demands
from pipelink.analysis.placement.exact import choose_depths, place_warps
from pipelink.analysis.placement.pack import Overlays, may_overlap, pack
from pipelink.analysis.placement.solve import smem_buffers
from pipelink.model.demand import (
    Barrier,
    Budget,
    Buffer,
    Group,
    Interval,
    Mbarriers,
    Part,
    Ring,
    Role,
    Scope,
    Unit,
    slot_worths,
    worth_of,
)
from pipelink.support import limits
from pipelink.support.diagnostics import UNKNOWN, Diagnostics
from pipelink.target import target

SM90 = target("sm_90a")


def placed(problem: Problem, options: Options | None = None) -> Solution:
    diagnostics = Diagnostics()
    found = solve(problem, options or Options(), diagnostics)
    assert found is not None, diagnostics.items
    assert_valid(problem, found)
    return found


def assert_valid(problem: Problem, placement: Solution) -> None:
    """Ranges, alignment, limits, and no two resources at one place at one time."""
    overlays = Overlays(problem.overlays)
    addresses = dict(placement.buffers)
    for ring in problem.rings:
        assert ring.least <= placement.stages[ring.key] <= ring.most
        addresses |= {f"{ring.key}#{i}": at for i, at in enumerate(placement.parts[ring.key])}
    low = 1024 + 8 * placement.mbarriers + 4 * placement.words
    items = smem_buffers(problem, placement.stages)
    for item in items:
        at = addresses[item.key]
        assert at % item.align == 0
        assert low <= at
        assert at + item.size <= 1024 + placement.smem_bytes <= 1024 + problem.smem_limit
    for a, b in itertools.combinations(items, 2):
        apart = addresses[a.key] + a.size <= addresses[b.key] or addresses[b.key] + b.size <= addresses[a.key]
        assert apart or may_overlap(a, b, overlays), (a, b)
    for a, b in itertools.combinations(problem.barriers, 2):
        assert placement.barriers[a.key] != placement.barriers[b.key] or a.scope.excludes(b.scope)
    assert all(1 <= number <= 15 for number in placement.barriers.values())
    assert_warps(problem, placement)


def assert_warps(problem: Problem, placement: Solution) -> None:
    warps = placement.warps
    group_of = {role: group.name for group in problem.groups for role in group.roles}
    for role in problem.roles:
        assert warps.first[role.key] % role.align == 0
        assert warps.first[role.key] + role.warps <= warps.warps <= 32
    for a, b in itertools.combinations(problem.roles, 2):
        ranges = [range(warps.first[r.key], warps.first[r.key] + r.warps) for r in (a, b)]
        if group_of.get(a.key, a.key) != group_of.get(b.key, b.key):
            assert not set(ranges[0]) & set(ranges[1])
    if warps.registers is not None:
        assert warps.warps == 4 * len(warps.registers)
        assert sum(warps.registers) <= warps.entry_registers * len(warps.registers)
        for role in problem.roles:
            own = {warps.registers[w // 4] for w in range(warps.first[role.key], warps.first[role.key] + role.warps)}
            assert len(own) == 1
            if role.registers is not None:
                assert role.registers[0] <= own.pop() <= role.registers[1]


def ring(key: str, least: int, most: int, *sizes: int, **more: object) -> Ring:
    return Ring(key, least, most, parts=tuple(Part(size, 128) for size in sizes), mbarriers=2, **more)  # type: ignore[arg-type]


def test_one_byte_decides_a_stage() -> None:
    # The table goes between three stages' mbarriers and the first boundary of 1024 that leaves room for the stages.
    table = 36864 - (1024 + 3 * 2 * 8)
    exact = Problem(SM90, rings=(Ring("a::r", 1, 8, parts=(Part(65536, 1024),), mbarriers=2),))
    fits = placed(Problem(SM90, rings=exact.rings, buffers=(Buffer("a::t", table, 16),)))
    over = placed(Problem(SM90, rings=exact.rings, buffers=(Buffer("a::t", table + 1, 16),)))
    assert (fits.stages["a::r"], over.stages["a::r"]) == (3, 2)
    assert fits.optimal
    assert over.optimal


def test_weights_decide_who_is_deepest() -> None:
    rings = ring("a::x", 1, 8, 40960), ring("a::y", 1, 8, 40960)
    even = placed(Problem(SM90, rings=rings))
    assert sorted(even.stages.values()) == [2, 3]
    heavy = placed(Problem(SM90, rings=(rings[0], ring("a::y", 1, 8, 40960, weight=3))))
    assert heavy.stages == {"a::x": 1, "a::y": 4}


def _competing(count: int, weight: int) -> Problem:
    return Problem(SM90, rings=tuple(ring(f"a::r{n}", 1, 8, 9216, weight=weight) for n in range(count)))


def test_the_largest_weight_gives_the_solver_the_same_depths() -> None:
    assert placed(_competing(6, limits.WEIGHT)).stages == placed(_competing(6, 1)).stages


@pytest.mark.parametrize("weight", [1 << 40, 1 << 53, 1 << 62])
def test_worths_that_the_solver_cannot_compare_are_refused(weight: int) -> None:
    diagnostics = Diagnostics()
    assert solve(_competing(6, weight), Options(), diagnostics) is None
    [found] = diagnostics.items
    assert (found.id, f"the largest weight, {weight}" in found.message) == ("wrong-attribute", True)


def test_min_smem_takes_the_least_depths() -> None:
    found = placed(Problem(SM90, rings=(ring("a::x", 2, 8, 4096),)), Options(min_smem=True))
    assert found.stages == {"a::x": 2}


def test_an_interval_ends_before_the_next_begins() -> None:
    buffers = tuple(Buffer(f"a::s{i}", 1000 * (i + 1), 16, interval=Interval("a", i, i + 2)) for i in range(4))
    found = placed(Problem(SM90, buffers=buffers))
    assert found.smem_bytes <= 7000 + 16  # the third and the fourth live together
    assert found.optimal


def test_placement_is_repeatable_and_in_order_of_the_input() -> None:
    problem = Problem(
        SM90,
        roles=(Role("a::r", 4, 4, (24, 64)), Role("b::r", 1, 1, (24, 40)), Role("c::r", 8, 4, (128, 240))),
        rings=(ring("a::x", 1, 8, 20480, 4096), ring("b::y", 1, 8, 8192)),
        buffers=(Buffer("a::s", 5000, 16), Buffer("b::s", 700, 256)),
        barriers=(Barrier("a::b", 128), Barrier("c::b", 256)),
    )
    assert placed(problem) == placed(problem)


def test_roles_that_disagree_get_warpgroups_of_their_own() -> None:
    problem = Problem(
        SM90,
        roles=(
            Role("a::r", 2, 1, (24, 40)),
            Role("b::r", 2, 1, (96, 128)),
            Role("c::r", 2, 1, (24, 32)),
            Role("d::r", 8, 4, (160, 216)),
            Role("e::r", 2, 1, (96, 112)),
        ),
    )
    warps = placed(problem).warps
    assert warps.warps == 16
    assert warps.first["a::r"] // 4 == warps.first["c::r"] // 4
    assert warps.first["b::r"] // 4 == warps.first["e::r"] // 4


def test_without_need_registers_stay_as_they_are() -> None:
    roles = (Role("a::r", 4, 4, (24, 96)), Role("b::r", 8, 4, (64, 128)))
    assert placed(Problem(SM90, roles=roles)).warps.registers is None


def test_where_first_fit_is_not_the_lowest_the_solver_is_asked() -> None:
    pieces = [
        (1280, 128, 1, 3), (1024, 512, 0, 2), (512, 128, 3, 5), (896, 512, 0, 3), (1536, 512, 0, 2), (1280, 128, 1, 3),
    ]  # fmt: skip
    buffers = tuple(
        Buffer(f"a::s{n}", size, align, interval=Interval("a", begin, end))
        for n, (size, align, begin, end) in enumerate(pieces)
    )
    problem = Problem(SM90, buffers=buffers, mbarriers=(Mbarriers("a::m", 2, 1),))
    found = placed(problem)
    assert found.smem_bytes == 7296 - 1024 < pack(buffers, 1024, 16, Overlays(())).end - 1024
    assert found.optimal
    hurried = placed(problem, Options(deterministic_time=0))
    assert not hurried.optimal


def test_many_rings_are_as_deep_as_any_choice() -> None:
    sizes = (8192, 12288, 16384, 20480, 28672)
    rings = tuple(ring(f"a::r{n}", 1, 5, size, weight=1 + n) for n, size in enumerate(sizes))
    found = placed(Problem(SM90, rings=rings))
    fitting = (
        sum(ring.worth(depth) for ring, depth in zip(rings, depths, strict=True))
        for depths in itertools.product(range(1, 6), repeat=len(sizes))
        if sum(size * depth for size, depth in zip(sizes, depths, strict=True)) + 16 * sum(depths) <= 232448 - 128
    )
    assert found.value == max(fitting)
    assert found.optimal


@settings(max_examples=25, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.integers(1, 3),
            st.integers(0, 3),
            st.sampled_from([8192, 20480, 49152]),
            st.integers(0, 3),
            st.sampled_from([None, "g/a", "g/b"]),
        ),
        min_size=2,
        max_size=4,
    )
)
def test_the_solver_chooses_what_is_worth_most(depths: list[tuple[int, int, int, int, str | None]]) -> None:
    rings = tuple(
        ring(f"r{n}::x", low, low + more, size, weight=weight, scope=Scope(*scope.split("/")) if scope else Scope())
        for n, (low, more, size, weight, scope) in enumerate(depths)
    )
    limit = 200000
    found = choose_depths(Problem(SM90, rings=rings), linear_demands(Problem(SM90, rings=rings), limit), Budget(1.0))

    def demand(vector: tuple[int, ...]) -> int:
        taken = dict.fromkeys([ring.scope.alternative for ring in rings], 0)
        for ring, depth in zip(rings, vector, strict=True):
            taken[ring.scope.alternative] += ring.stage_bytes * depth
        always = taken.pop(None, 0)
        return always + max(taken.values(), default=0) + sum(16 * depth for depth in vector)

    def worth(vector: tuple[int, ...]) -> int:
        return sum(ring.worth(depth) for ring, depth in zip(rings, vector, strict=True))

    every = itertools.product(*(range(ring.least, ring.most + 1) for ring in rings))
    fitting = [vector for vector in every if demand(vector) <= limit]
    if found is None:
        assert not fitting
        return
    chosen = tuple(found.stages[ring.key] for ring in rings)
    assert chosen in fitting
    assert worth(chosen) == found.bound == max(map(worth, fitting))
    if found.least:
        assert demand(chosen) == min(demand(vector) for vector in fitting if worth(vector) == found.bound)


def test_rings_that_are_alike_are_as_deep_as_each_other() -> None:
    found = placed(Problem(SM90, rings=tuple(ring(f"a::r{n}", 1, 8, 8192) for n in range(9))))
    assert sorted(found.stages.values()) == [3] * 8 + [4]
    assert found.optimal


def test_what_a_ring_is_worth_is_concave_and_the_solvers_steps_add_up_to_it() -> None:
    more = [worth_of(depth + 1) - worth_of(depth) for depth in range(2000)]
    assert more == [-(-840 // (depth + 1)) for depth in range(2000)]
    for least, most in itertools.product((1, 3, 29), (1, 8, 30, 2000)):
        steps = list(slot_worths(least, most))
        assert sum(count for count, _ in steps) == max(0, most - least)
        assert sum(count * each for count, each in steps) == max(0, worth_of(most) - worth_of(least))
        assert len(steps) < 60


def test_the_solver_places_warps_that_agree() -> None:
    units = [
        Unit(name, (), warps, 1, registers, UNKNOWN)
        for name, warps, registers in (("a", 3, (24, 40)), ("b", 3, (96, 120)), ("c", 1, (96, 120)), ("d", 1, (24, 32)))
    ]
    first = place_warps(units, 2, 255, Budget(1.0))
    assert first is not None
    assert {first["a"] // 4, first["b"] // 4} == {0, 1}
    assert first["a"] // 4 == first["d"] // 4
    assert place_warps(units, 2, 40, Budget(1.0)) is None


def _greedy_end(order: tuple[Buffer, ...]) -> int:
    at = 1024 + 16
    for buffer in order:
        at = -(-at // buffer.align) * buffer.align + buffer.size
    return at


buffers_strategy = st.lists(
    st.builds(
        lambda size, align, scope, interval: (size, align, scope, interval),
        st.integers(1, 9000),
        st.sampled_from([4, 16, 128, 1024]),
        st.sampled_from([None, "g/a", "g/b", "h/a", "h/b"]),
        st.none() | st.tuples(st.integers(0, 3), st.integers(1, 2)),
    ),
    max_size=8,
)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(buffers_strategy, st.lists(st.tuples(st.integers(1, 3), st.integers(0, 5), st.integers(64, 60000)), max_size=2))
def test_anything_that_is_placed_is_valid(
    pieces: list[tuple[int, int, str | None, tuple[int, int] | None]], depths: list[tuple[int, int, int]]
) -> None:
    buffers: list[Buffer] = []
    for number, (size, align, scope, interval) in enumerate(pieces):
        where = Scope(*scope.split("/")) if scope else Scope()
        span = Interval(scope or "always", interval[0], interval[0] + interval[1]) if interval else None
        buffers.append(Buffer(f"i{number}::s", size, align, where, span))
    rings = tuple(ring(f"r{n}::x", low, low + more, size) for n, (low, more, size) in enumerate(depths))
    problem = Problem(SM90, buffers=tuple(buffers), rings=rings)
    diagnostics = Diagnostics()
    found = solve(problem, Options(deterministic_time=0.2), diagnostics)
    if found is None:
        assert diagnostics.errors
        return
    assert_valid(problem, found)
    assert found.value <= found.bound
    assert found.smem_bytes >= found.smem_bound


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.integers(1, 3000), st.sampled_from([1, 16, 256, 1024])), min_size=1, max_size=5))
def test_the_bound_is_below_every_packing(pieces: list[tuple[int, int]]) -> None:
    buffers = [Buffer(f"b{n}", size, align) for n, (size, align) in enumerate(pieces)]
    found = pack(buffers, 1024, 16, Overlays(()))
    assert found.bound <= min(_greedy_end(order) for order in itertools.permutations(buffers))


def test_exclusive_alternatives_share_ids_and_warps() -> None:
    scopes = [Scope("ops", f"{name}::r") for name in "abc"]
    problem = Problem(
        SM90,
        roles=tuple(Role(f"{name}::r", 4, 4) for name in "abcd"),
        groups=(Group("ops", ("a::r", "b::r", "c::r")),),
        barriers=(*(Barrier(f"{s.alternative}b{i}", 128, s) for s in scopes for i in range(7)), Barrier("d::b", 128)),
    )
    found = placed(problem)
    assert len(set(found.barriers.values())) == 8
    assert found.warps.warps == 8


@pytest.mark.parametrize("script", ["gemm.mlir"])
def test_the_gemm_needs_no_solver(script: str) -> None:
    code = (
        "import sys, pathlib; from pipelink import ir; from pipelink.passes.place import PlacePass;"
        "from pipelink.support.diagnostics import Diagnostics;"
        f"m = ir.parse(pathlib.Path(r'{__file__}').with_name('{script}'));"
        "PlacePass().apply(m.operation, Diagnostics()); print('ortools' in sys.modules)"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "False"


@pytest.mark.parametrize(("ctas", "stages", "columns"), [(1, 4, 256), (2, 4, 256), (3, 2, 128), (4, 2, 128)])
def test_ctas_of_one_sm_share_its_tensor_memory(ctas: int, stages: int, columns: int) -> None:
    """An allocation is a power of two, and as many as there are CTAs fit at once: else one waits for another."""
    ring = Ring("a::acc", 1, 4, columns=(Part(64, 4),), mbarriers=2)
    found = placed(Problem(target("sm_100a"), ctas, (Role("a::run", 4, 4),), rings=(ring,)))
    assert (found.stages["a::acc"], found.tmem_columns) == (stages, columns)
    assert found.tmem_columns * ctas <= 512
