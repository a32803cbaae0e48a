"""Kernels that hang end, say why, and leave the device as it was; timelines show what overlaps."""

import itertools
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from test.gpu import hanging

SECONDS = 5.0  # within which a hang is explained, with the default limit of 2 s
SCRIPT = Path(hanging.__file__)
WRITER, GREEDY = "@writer::@send", "@greedy_writer::@send"
FORGETFUL, READER = "@forgetful_reader::@sum", "@reader::@sum"


Record = Callable[[str, dict[str, object]], None]


def apart(package: Callable[[str], Path], record_hang: Record, name: str) -> str:
    """What hanging.py says in a process of its own."""
    package(f"debug/{name}")
    run = subprocess.run([sys.executable, SCRIPT, name], capture_output=True, text=True, timeout=120)
    assert run.returncode == 0, run.stdout[-2000:] + run.stderr[-4000:]
    print(run.stdout)
    seconds, message, *rest = run.stdout.splitlines()
    hint = next(line for line in rest if line.startswith("hint: "))
    record_hang(
        f"{name}, in a process of its own", {"seconds": float(seconds.split()[0]), "message": message, "hint": hint}
    )
    assert float(run.stdout.split()[0]) < SECONDS, run.stdout
    return run.stdout


@pytest.mark.parametrize(
    ("name", "told"),
    [
        (
            "parity",
            (
                "kernel 'parity' hangs in CTA 0 of 1: @turn",
                "@turn::@run waits at '@turn::@mine' for a token from @turn_2::@run",
                "@turn_2::@run waits at '@turn_2::@mine' for a token from @turn::@run",
            ),
        ),
        (
            "release",
            (
                f"{WRITER} waits for slot 0 of ring '@writer::@x' to be released by {FORGETFUL}",
                f"{FORGETFUL} waits for slot 0 of ring '@writer::@x' to be filled by {WRITER}",
            ),
        ),
        (
            "acquire",
            (
                f"{GREEDY} waits for slot 0 of ring '@greedy_writer::@x' to be released by {READER}",
                f"{READER} waits for slot 0 of ring '@greedy_writer::@x' to be filled by {GREEDY}",
            ),
        ),
    ],
)
def test_a_hang_is_explained(
    torch: Any, package: Callable[[str], Path], record_hang: Record, name: str, told: tuple[str, ...]
) -> None:
    """In one process, one after the other, and a kernel that does not hang after each."""
    package(f"debug/{name}")
    diagnostic, seconds = hanging.hang(torch, name)
    print(f"{name}: {seconds:.2f} s: {diagnostic.message}")
    said = {"seconds": round(seconds, 2), "message": diagnostic.message, "hint": str(diagnostic.hint)}
    record_hang(name, said)
    assert diagnostic.id == "kernel-hang"
    assert all(part in diagnostic.message for part in told)  # in which order is left to who gave up first
    assert diagnostic.message.endswith(": a cycle")
    assert "in CTA " in diagnostic.message
    assert any("phase" in note.message for note in diagnostic.notes)
    assert "can be used as before" in str(diagnostic.hint)
    assert seconds < SECONDS
    assert hanging.healthy(torch)


@pytest.mark.parametrize("name", ["gemm", "cluster"])
def test_a_gemm_whose_slots_never_become_free(package: Callable[[str], Path], record_hang: Record, name: str) -> None:
    told = apart(package, record_hang, name)
    assert "of ring '@" in told
    assert "to be released by" in told
    assert "a cycle" in told
    assert "can be used as before" in told
    assert "device: works" in told


def test_a_token_that_a_cta_keeps(package: Callable[[str], Path], record_hang: Record) -> None:
    told = apart(package, record_hang, "lost_turn")
    assert "@lost_turn::@run waits for counter 2 of '@lost_turn::@take' to reach 3" in told
    assert "device: works" in told


def test_a_phase_that_nobody_completes(package: Callable[[str], Path], record_hang: Record) -> None:
    told = apart(package, record_hang, "lost_phase")
    assert "@lost_phase::@fill waits for mbarrier 0 of '@lost_phase::@empty' to complete phase 0" in told
    assert "device: works" in told


def test_a_meeting_to_which_a_cta_does_not_come(package: Callable[[str], Path], record_hang: Record) -> None:
    told = apart(package, record_hang, "lost_meeting")
    assert "in CTA 3 of 4: @lost_meeting::@run waits at '@lost_meeting::@met' for the other CTAs of its cluster" in told
    assert "device: works" in told


def test_a_thread_that_cannot_leave(package: Callable[[str], Path], record_hang: Record) -> None:
    """It waits at a named barrier: the kernel traps, the hang is explained all the same, and a new process works."""
    told = apart(package, record_hang, "barrier")
    assert "@split_reader::@sum waits for slot" in told
    assert "so the kernel trapped" in told
    assert "device: works" not in told
    assert "device: works" in apart(package, record_hang, "release")


def test_a_timeline(torch: Any, load: Any, tmp_path: Path) -> None:
    """Loads are on their way while the tensor cores work."""
    kernel = load("debug/timeline")
    a, b = (torch.randn(extent, 2048, device="cuda").bfloat16() for extent in (2048, 4096))
    out = torch.full((2048, 4096), float("nan"), device="cuda").bfloat16()
    for _ in range(3):
        kernel(a=a, b=b, out=out)
    torch.testing.assert_close(out.double(), a.double() @ b.double().T, rtol=2.0**-7, atol=2e-1)
    timeline = kernel.timeline()
    assert timeline.dropped == 0
    assert timeline.traced == timeline.ctas > 100
    shares = []
    for cta in (0, timeline.ctas // 2):
        lanes = timeline.lanes(cta)
        work = [s for name, found in lanes.items() if "mma" in name for s in found if s.name.startswith("use")]
        loads = [s for name, found in lanes.items() if "[" in name for s in found if s.kind == "filling"]
        assert work
        assert loads
        both = sum(any(load.begin < s.end and s.begin < load.end for load in loads) for s in work)
        shares.append(both / len(work))
        assert all(0 <= s.begin <= s.end for found in lanes.values() for s in found)
    print(f"work of the tensor cores with loads on their way: {', '.join(f'{share:.0%}' for share in shares)}")
    assert min(shares) > 0.5
    timeline.save(tmp_path / "trace.json")
    assert json.loads((tmp_path / "trace.json").read_text())["traceEvents"]


def test_a_timeline_shows_waits_for_signals(torch: Any, load: Any) -> None:
    """Each CTA awaits the token as often as it comes round, and says which counter it awaits."""
    kernel = load("debug/awaited")
    ctas, rounds = 8, 5
    kernel(sum=torch.zeros(2, dtype=torch.int32, device="cuda"), ctas=ctas, rounds=rounds)
    timeline = kernel.timeline()
    for cta in range(ctas):
        (lane,) = timeline.lanes(cta).values()
        waits = [s for s in lane if s.kind == "wait"]
        assert [s.name for s in waits] == rounds * [f"await take[{cta}]"]
        assert all(s.end >= s.begin for s in waits)


def test_a_timeline_shows_turns(torch: Any, load: Any) -> None:
    """Each warpgroup has as many turns as it takes, and no two have one at once."""
    kernel = load("debug/turns")
    ctas, rounds = 4, 50
    values = torch.zeros(ctas, 128, dtype=torch.int32, device="cuda").view(torch.uint32)
    seen = torch.zeros(ctas, rounds, 256, dtype=torch.int32, device="cuda").view(torch.uint32)
    kernel(values=values, seen=seen)
    timeline = kernel.timeline()
    for cta in range(ctas):
        lanes = timeline.lanes(cta)
        found = [lanes[f"@two_in_turn::@turn warpgroup {group}"] for group in (0, 1)]
        assert [len(turns) for turns in found] == [2 * rounds, 2 * rounds]
        in_order = [turn for pair in zip(*found, strict=True) for turn in pair]
        assert all(s.kind == "turn" and s.end >= s.begin for s in in_order)
        assert all(former.end <= latter.begin for former, latter in itertools.pairwise(in_order))


def test_a_watched_kernel_is_right(torch: Any, load: Any) -> None:
    """Limit and timeline together, launch after launch, on another stream, and captured in a graph."""
    kernel = load("debug/watched")
    a, b = (torch.randint(-2, 3, (extent, 512), device="cuda").bfloat16() for extent in (1024, 1024))
    expected = (a.double() @ b.double().T).bfloat16()
    for stream in (torch.cuda.current_stream(), torch.cuda.Stream()):
        with torch.cuda.stream(stream):
            out = torch.full((1024, 1024), float("nan"), device="cuda").bfloat16()
            stream.synchronize()
            for _ in range(5):
                kernel(a=a, b=b, out=out)
            assert torch.equal(out, expected)
    out.zero_()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        kernel(a=a, b=b, out=out)
    graph.replay()
    torch.cuda.synchronize()
    assert torch.equal(out, expected)
