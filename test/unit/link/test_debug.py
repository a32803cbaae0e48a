"""Debug links: what they add, and that ordinary links know nothing of them."""

from __future__ import annotations

import re
import zipfile
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

import pipelink
from pipelink.api import Linked
from pipelink.backend import sass, toolchain
from pipelink.components.gemm import Composer
from pipelink.link import HANG_LIMIT, Request, key_of, link
from pipelink.runtime import load
from pipelink.support.diagnostics import LinkError
from test.broken import BROKEN, link_broken
from test.compositions import Objects, compose

RING = "ring_plain_plain"


@pytest.fixture(scope="module")
def watched(objects: Objects) -> Linked:
    return compose(RING, objects).link(debug_hangs=True, timeline=True)


def debug_of(linked: Linked) -> dict[str, Any]:
    return linked.targets[0].launch["debug"]


@pytest.mark.parametrize("name", ["ring.cu", "pair.cu", "cluster.cu", "local.cu", "tmem.cu", "signal.cu"])
def test_ordinary_transfers_do_not_depend_on_the_debug_text(name: str, tmp_path: Path) -> None:
    """Byte for byte the same LTO-IR without it.  Blanks in its place, since LTO-IR holds places in the source."""
    folder = toolchain.transfer_dir()
    arch = "sm_100f" if name in ("pair.cu", "tmem.cu") else "sm_90"
    text, head = (folder / name).read_text(), (folder / "device.cuh").read_text()
    blank = re.sub(r"PL_WATCH(ED\([^)]*\))?", lambda match: " " * len(match[0]), text)
    (tmp_path / "device.cuh").write_text(head)
    (tmp_path / "watch.cuh").write_text("#error not for ordinary links\n")
    made = [toolchain.compile_ltoir(text, "x.cu", arch, include_dirs=[tmp_path])]
    start, _, rest = head.partition("// What a debug link passes")
    macros, last, ordinary = rest.partition("#define PL_WATCHED(STAGE)\n")
    lines = "\n" * (macros + last).count("\n")
    (tmp_path / "device.cuh").write_text(start + lines + ordinary.removesuffix("#endif\n"))
    made.append(toolchain.compile_ltoir(blank, "x.cu", arch, include_dirs=[tmp_path]))
    assert made[0] == made[1]


@pytest.mark.parametrize("name", ["parity", "release", "acquire"])
def test_the_check_refuses_what_hangs(name: str, objects: Objects) -> None:
    """The kernels that hang on a device never get there in an ordinary link."""
    kernel = pipelink.Kernel(name, target="sm_90a")
    BROKEN[name](Composer(kernel, objects))
    with pytest.raises(LinkError) as caught:
        kernel.link()
    assert [problem.id for problem in caught.value.diagnostics] == ["deadlock"]
    trace = caught.value.diagnostics[0].trace
    assert trace is not None
    assert len(trace.cycle) == 2


def test_an_ordinary_link_says_nothing(objects: Objects, watched: Linked) -> None:
    plain = compose(RING, objects).link().targets[0]
    assert "debug" not in plain.launch
    assert plain.launch["parameters"]["bytes"] < watched.targets[0].launch["parameters"]["bytes"]
    assert plain.placement == watched.targets[0].placement
    listing = sass.disassemble(plain.cubin)
    assert "GLOBALTIMER" not in listing
    assert "GLOBALTIMER" in sass.disassemble(watched.targets[0].cubin)


def test_every_wait_has_a_site(watched: Linked) -> None:
    debug = debug_of(watched)
    assert debug["limit_ms"] == HANG_LIMIT
    writer, reader = "@plain_writer::@fill", "@plain_reader::@drain"
    told = [(s["port"], s["operation"], s["users"], s["arrivers"]) for s in debug["sites"]]
    assert told == [
        ("@plain_writer::@tiles", "acquire", [writer], [reader]),
        ("@plain_writer::@tiles", "end", [writer], [reader]),
        ("@plain_reader::@tiles", "wait", [reader], [writer]),
    ]
    assert {site["ring"] for site in debug["sites"]} == {"@plain_writer::@tiles"}
    assert [role["lane"] for role in debug["roles"]] == [0, 1]
    assert debug["lanes"] == 2


def test_waits_for_own_mbarriers_have_sites(objects: Objects) -> None:
    """Who waits and who arrives is what the protocols say."""
    sites = debug_of(compose("own_mbarriers", objects).link(debug_hangs=True, timeline=True))["sites"]
    load, run = "@doubled::@load", "@doubled::@run"
    assert [(s["port"], s["operation"], s["stages"], s["users"], s["arrivers"]) for s in sites] == [
        ("@doubled::@full", "mbarrier", 2, [run], [load]),
        ("@doubled::@empty", "mbarrier", 2, [load], [run]),
    ]


def test_meetings_of_a_cluster_have_sites(objects: Objects) -> None:
    linked = compose("exchange_read_by_two", objects).link(debug_hangs=True, timeline=True)
    run = "@read_by_two::@run"
    assert [(s["port"], s["operation"], s["users"], s["arrivers"]) for s in debug_of(linked)["sites"]] == [
        ("@read_by_two::@met", "sync", [run], [run])
    ]
    lost = link_broken("lost_meeting", objects)
    assert [site["port"] for site in debug_of(lost)["sites"]] == ["@lost_meeting::@met"]
    assert "GLOBALTIMER" in sass.disassemble(lost.targets[0].cubin)


def test_turns_are_timed_and_have_no_limit(objects: Objects) -> None:
    """A timeline notes where they are taken and passed on; a limit knows nothing of them."""
    kernel = compose("two_in_turn", objects)
    plain, limited = kernel.link().targets[0], kernel.link(debug_hangs=True).targets[0]
    timed = kernel.link(timeline=True)
    run = "@two_in_turn::@run"
    assert [(s["port"], s["operation"], s["users"], s["arrivers"]) for s in debug_of(timed)["sites"]] == [
        ("@two_in_turn::@turn", "take", [run], [run]),
        ("@two_in_turn::@turn", "pass", [run], [run]),
    ]
    assert limited.launch["debug"]["sites"] == []
    clocks = [sass.disassemble(linked.cubin).count("SR_CLOCK") for linked in (plain, timed.targets[0])]
    assert clocks[0] == 0
    assert clocks[1] > 4  # of the role, and on both sides of either


def test_a_lost_phase_has_a_limit(objects: Objects) -> None:
    linked = link_broken("lost_phase", objects)
    assert [site["port"] for site in debug_of(linked)["sites"]] == ["@lost_phase::@full", "@lost_phase::@empty"]
    assert "GLOBALTIMER" in sass.disassemble(linked.targets[0].cubin)


def test_the_runtime_reads_it(watched: Linked) -> None:
    contract = load(watched.package()).contract
    assert contract.debug is not None
    assert contract.debug.warps == 0b1111
    assert contract.debug.offset % 8 == 0
    with pytest.raises(LinkError, match="not launched") as caught:
        load(watched.package()).timeline()
    assert caught.value.diagnostics[0].id == "no-timeline"


def test_a_damaged_debug_block(watched: Linked) -> None:
    """The place of the block is checked: the runtime writes there."""
    data = watched.package()
    manifest = zipfile.ZipFile(BytesIO(data)).read("manifest.json").decode()
    offset = debug_of(watched)["offset"]
    broken = manifest.replace(f'"offset": {offset},\n', '"offset": 4096,\n')
    assert broken != manifest
    buffer = BytesIO()
    with zipfile.ZipFile(BytesIO(data)) as old, zipfile.ZipFile(buffer, "w") as new:
        for name in old.namelist():
            new.writestr(name, broken if name == "manifest.json" else old.read(name))
    with pytest.raises(LinkError, match="malformed") as caught:
        load(buffer.getvalue())
    assert caught.value.diagnostics[0].id == "bad-package"


def test_users_of_a_passive_component_are_its_callers(objects: Objects) -> None:
    """staged_store has no role: it fills its ring in the main loop's."""
    linked = compose("gemm-wgmma_128x128x64-staged_store-grouped_tiles", objects).link(timeline=True)
    debug = debug_of(linked)
    assert debug["limit_ms"] == 0
    site = next(s for s in debug["sites"] if s["port"] == "@staged_store::@blocks")
    assert site["operation"] == "acquire"
    assert all("mainloop" in user or "wgmma" in user for user in site["users"])
    assert "EXIT" in sass.disassemble(linked.targets[0].cubin)


def test_flags_are_part_of_the_key() -> None:
    plain = Request(b"module {}")
    keys = {key_of(plain), key_of(replace(plain, debug_hangs=5)), key_of(replace(plain, debug_hangs=6))}
    assert len(keys | {key_of(replace(plain, timeline=True))}) == 4


def test_a_limit_that_is_none() -> None:
    text = b'module @k attributes {pipelink.kernel = {target = "sm_90a"}} {}'
    with pytest.raises(LinkError, match="0 to 600000 milliseconds, not 600001") as caught:
        link(Request(text, debug_hangs=600_001))
    assert caught.value.diagnostics[0].id == "usage"


def test_a_gemm_that_is_placed_by_hand(objects: Objects) -> None:
    """A pipeline without place links what was placed before; here with one arrival more than there are."""
    linked = link_broken("gemm", objects)
    counts = {m["name"].rpartition("@")[2]: m["arrivals"] for m in linked.placement["kernel"]["mbarriers"]}
    assert next(count for name, count in counts.items() if name.endswith("ab empty")) == 3
    assert debug_of(linked)["limit_ms"] == HANG_LIMIT


@pytest.mark.parametrize("name", ["parity", "release", "acquire", "barrier"])
def test_kernels_that_hang_can_be_linked(objects: Objects, name: str) -> None:
    """Without the protocol check; their waits have limits, and ways out."""
    listing = sass.disassemble(link_broken(name, objects).targets[0].cubin)
    assert all(word in listing for word in ("SR_GLOBALTIMERLO", "NANOSLEEP", "BPT.TRAP", "EXIT"))
