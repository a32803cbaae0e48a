"""Signals in machine code: release and acquire of the stated scope, and the fence before TMA fetches."""

from __future__ import annotations

from pathlib import Path

from pipelink.backend import sass
from test.broken import link_broken
from test.compositions import TEST_COMPONENTS, Objects, compose

ACQUIRE, RELEASE = "LDG.E.STRONG.", "REDG.E.ADD.STRONG."


def opcodes(name: str, objects: Objects) -> list[str]:
    return [found.opcode for found in sass.read(compose(name, objects).link().targets[0].cubin).instructions]


def followed(found: list[str], first: str, second: str, within: int) -> bool:
    """Whether ``second`` comes soon after some ``first``."""
    return any(second in found[at + 1 : at + 1 + within] for at, opcode in enumerate(found) if opcode == first)


def test_a_signal_is_a_release_and_a_wait_acquires(objects: Objects) -> None:
    found = opcodes("round_trip", objects)
    assert followed(found, "MEMBAR.ALL.GPU", f"{RELEASE}GPU", 3), found
    assert followed(found, f"{ACQUIRE}GPU", "CCTL.IVALL", 1), found
    assert "FENCE.VIEW.ASYNC.G" not in found, "nobody fetches by TMA"


def test_pages_are_fetched_behind_a_proxy_fence(objects: Objects) -> None:
    found = opcodes("handed_pages", objects)
    assert "FENCE.VIEW.ASYNC.G" in found[: found.index("UTMALDG.3D")]


def test_the_scope_is_the_one_that_is_stated(tmp_path: Path) -> None:
    """The same component with scope system."""
    for name in ("signals.cu", "token.cuh"):
        text = (TEST_COMPONENTS / name).read_text()
        (tmp_path / name).write_text(text.replace("turns, gpu)", "turns, system)"))
    found = opcodes("round_trip", Objects(tmp_path, sources=(tmp_path,)))
    assert followed(found, "MEMBAR.ALL.SYS", f"{RELEASE}SYS", 3), found
    assert f"{ACQUIRE}SYS" in found


def test_a_debug_link_watches_the_waits(objects: Objects) -> None:
    sites = link_broken("lost_turn", objects).targets[0].launch["debug"]["sites"]
    user = "@lost_turn::@run"
    assert [(s["port"], s["operation"], s["users"], s["arrivers"]) for s in sites] == [
        ("@lost_turn::@take", "await", [user], [user])
    ]


def test_signals_between_gpus_are_of_system_scope(objects: Objects) -> None:
    found = opcodes("peer_pages", objects)
    assert followed(found, "MEMBAR.ALL.SYS", f"{RELEASE}SYS", 3), found
    assert f"{ACQUIRE}SYS" in found
    assert "FENCE.VIEW.ASYNC.G" in found[: found.index("UTMALDG.3D")]


def test_pages_are_fetched_from_another_gpu(objects: Objects) -> None:
    """A tensor map for each rank, in the parameter block: the copy takes the address of one, nothing is moved."""
    target = compose("far_pages", objects).link().targets[0]
    (maps,) = [field for field in target.launch["parameters"]["fields"] if field["kind"] == "peer_maps"]
    assert (maps["peers"], maps["bytes"], maps["box"]) == ("all_data", 256, [1, 32, 32])
    found = [one.opcode for one in sass.read(target.cubin).instructions]
    assert found.count("UTMALDG.3D") == 1
    assert "FENCE.VIEW.ASYNC.G" in found[: found.index("UTMALDG.3D")]
    assert not [opcode for opcode in found if opcode.startswith(("STL", "LDL"))]


def test_addresses_of_peers_are_read_where_the_launch_puts_them(objects: Objects) -> None:
    """From the parameter block, whose first byte is at 0x280 of the constant bank: aligned to 128 behind 0x210.  The
    other table is indexed, at an address that the code computes."""
    target = compose("peer_pages", objects).link().targets[0]
    tables = [field for field in target.launch["parameters"]["fields"] if field["kind"] == "peers"]
    assert [field["bytes"] for field in tables] == [16, 16]
    listing = sass.disassemble(target.cubin)
    for rank in range(2):
        assert f"c[0x0][0x{0x280 + tables[0]['offset'] + 8 * rank:x}]" in listing, rank
