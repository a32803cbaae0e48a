"""Debug links without a device: how a hang is explained, and what the runtime does around a launch."""

import ctypes
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import pytest

from pipelink.backend import toolchain
from pipelink.runtime import driver, hangs, watch
from pipelink.runtime.debug import Debug, RoleThreads, Site
from pipelink.runtime.timeline import EVENT, LANE
from pipelink.support.diagnostics import LinkError, render_text
from pipelink.support.watch import BLOCK, BLOCK_ALIGN

LOAD, MMA, STORE = "@load::@load", "@mma::@run", "@store::@run"
ACQUIRE, WAIT, TAKE, OWN, SYNC = range(5)
DEBUG = Debug(
    offset=64,
    limit_ms=100,
    timeline=True,
    stays=False,
    lanes=4,
    roles=(RoleThreads(LOAD, 256, 1, 0), RoleThreads(MMA, 0, 256, 1), RoleThreads(STORE, 288, 32, 3)),
    sites=(
        Site("@load::@ab", "acquire", "@load::@ab", 4, (LOAD,), (MMA,)),
        Site("@mma::@ab", "wait", "@load::@ab", 4, (MMA,), (LOAD,)),
        Site("@store::@turn", "take", "@mma::@turn", 1, (STORE,), (MMA,)),
        Site("@mma::@full", "mbarrier", "@mma::@full", 2, (MMA,), (LOAD,)),
        Site("@mma::@met", "sync", "@mma::@met", 1, (MMA,), (MMA,)),
    ),
)


def record(site: int, thread: int, *, cta: int = 5, stage: int = 0, parity: int = 0, waited: int = 200_000) -> bytes:
    return hangs.RECORD.pack(site + 1, cta, thread, stage, parity, 1, waited, int(waited > 10_000))


def explained(*records: bytes, ending: hangs.Ending = "left") -> Any:
    found = hangs.parse(b"".join(records) + bytes(hangs.RECORD.size), len(DEBUG.sites))
    (diagnostic,) = hangs.explain("gemm", DEBUG, found, 132, ending).diagnostics
    assert diagnostic.id == "kernel-hang"
    return diagnostic


def test_a_cycle() -> None:
    """Each role is named once, however many of its warps wait; those who wait for the cycle are in the notes."""
    mma = [record(WAIT, 32 * warp, stage=2, parity=1) for warp in range(8)]
    found = explained(record(ACQUIRE, 256, stage=3, parity=1, waited=250_000), *mma, record(TAKE, 288))
    assert found.message == (
        "kernel 'gemm' hangs in CTA 5 of 132: @load::@load waits for slot 3 of ring '@load::@ab' to be released by "
        "@mma::@run; @mma::@run waits for slot 2 of ring '@load::@ab' to be filled by @load::@load: a cycle"
    )
    assert [note.message for note in found.notes] == [
        "@load::@load has waited 0.25 s in acquire of '@load::@ab', slot 3, phase 1 (1 warp)",
        "@mma::@run has waited 0.20 s in wait of '@mma::@ab', slot 2, phase 1 (8 warps)",
        "@store::@run has waited 0.20 s in take of '@store::@turn', phase 0 (1 warp)",
    ]
    assert "can be used as before" in str(found.hint)
    assert found.trace is not None
    assert found.trace.cycle == (LOAD, MMA)
    assert "kernel-hang" in render_text(found)


def test_an_mbarrier_of_a_components_own() -> None:
    found = explained(record(OWN, 0, stage=1, parity=1))
    assert found.message == (
        "kernel 'gemm' hangs in CTA 5 of 132: @mma::@run waits for mbarrier 1 of '@mma::@full' to complete phase 1, by "
        "@load::@load: @load::@load has ended"
    )
    assert found.notes[0].message.startswith("@mma::@run has waited 0.20 s in the wait for mbarrier 1 of '@mma::@full'")


def test_a_meeting_of_a_cluster_to_which_a_cta_does_not_come() -> None:
    """The role waits for itself in other CTAs, which is no cycle."""
    found = explained(record(SYNC, 0, parity=1), record(SYNC, 32, parity=1), record(ACQUIRE, 256, stage=3))
    assert found.message == (
        "kernel 'gemm' hangs in CTA 5 of 132: @mma::@run waits at '@mma::@met' for the other CTAs of its cluster: not "
        "all of them have come"
    )
    assert found.notes[0].message == "@mma::@run has waited 0.20 s in sync of '@mma::@met', phase 1 (2 warps)"


def test_somebody_who_has_ended() -> None:
    found = explained(record(WAIT, 0, stage=1), record(WAIT, 0, cta=6), record(ACQUIRE, 256, cta=7, waited=50))
    assert found.message.endswith("slot 1 of ring '@load::@ab' to be filled by @load::@load: @load::@load has ended")
    assert found.notes[0].message == "1 other CTAs wait for longer than they may"
    assert explained(record(WAIT, 0), ending="trapped").message.endswith("@load::@load waits at no port")


def test_a_way_that_does_not_come_back() -> None:
    """The first waits for one that waits for somebody else."""
    found = explained(record(TAKE, 288, waited=300_000), record(WAIT, 0))
    assert "@store::@run waits at '@store::@turn' for a token from @mma::@run; @mma::@run waits for" in found.message
    assert found.message.endswith("@load::@load has ended")


def test_threads_of_no_role_and_damaged_records() -> None:
    assert "thread 1000 waits" in explained(record(WAIT, 1000)).message
    assert hangs.parse(hangs.RECORD.pack(99, 0, 0, 0, 0, 0, 0, 1) + bytes(32), 3) == []


def test_layouts_are_those_of_the_device_code() -> None:
    """The structures of watch.cuh, as the compiler lays them out."""
    sizes = {"pl_watch": BLOCK.size, "pl_record": hangs.RECORD.size, "pl_lane": LANE.size, "pl_event": EVENT.size}
    lines = ['#include "watch.cuh"', *(f"static_assert(sizeof({name}) == {size});" for name, size in sizes.items())]
    lines.append(f"static_assert(alignof(pl_watch) == {BLOCK_ALIGN});")
    # the counts of CTAs follow the control words, with the structure rounded up to its alignment
    lines.append(f"static_assert(sizeof(pl_control) == {watch.CONTROL} + 8);")
    toolchain.compile_ltoir("\n".join(lines), "layout.cu", "sm_90", include_dirs=[toolchain.transfer_dir()])


class Device:
    """A driver whose kernel leaves records, and ends after a while or not at all."""

    def __init__(self, records: bytes = b"", status: int = 0, polls: int = 3) -> None:
        self.records, self.status, self.polls = records, status, polls
        self.memory: list[Any] = []
        self.calls: list[str] = []
        self.host = 0
        self.cuda = SimpleNamespace(
            CUresult=SimpleNamespace(CUDA_ERROR_NOT_READY=600),
            cuEventQuery=self.query,
            cuEventDestroy=lambda event: (0,),
        )

    def call(self, function: str, *arguments: Any) -> Any:
        self.calls.append(function)
        if function in ("cuMemAlloc", "cuMemHostAlloc"):
            self.memory.append(ctypes.create_string_buffer(arguments[0]))
            address = ctypes.addressof(self.memory[-1])
            if function == "cuMemHostAlloc":
                self.host = address
            return address
        if function == "cuMemHostGetDevicePointer":
            return arguments[0]
        if function == "cuMemcpyDtoH":
            ctypes.memmove(*arguments)
        return 0

    def query(self, event: Any) -> tuple[int]:
        self.polls -= 1
        if self.records:
            ctypes.memmove(self.host, self.records, len(self.records))
        return (600 if self.polls else self.status,)


@pytest.fixture
def launched(monkeypatch: pytest.MonkeyPatch) -> Any:
    @contextmanager
    def current(context: Any) -> Iterator[None]:
        yield

    def launch(device: Device, debug: Debug = DEBUG) -> tuple[watch.Watch, bytes]:
        monkeypatch.setattr(driver, "call", device.call)
        monkeypatch.setattr(driver, "cuda", lambda: device.cuda)
        monkeypatch.setattr(driver, "current", current)
        made = watch.Watch("gemm", None, debug)
        block = ctypes.create_string_buffer(BLOCK.size)
        made.launch((4, 1, 1), 0, ctypes.addressof(block), lambda: None)
        return made, block.raw

    return launch


def test_a_launch_that_ends(launched: Any) -> None:
    device = Device()
    made, block = launched(device)
    limit, control, records, events, *counts = struct.unpack("<QQQQ6I", block)
    assert limit == 100_000_000
    assert counts == [hangs.MAX_RECORDS, 4, watch.EVENTS, 4, 0, 0b11_1111_1111]
    assert all((control, records, events))
    assert made.timeline().slices == ()
    made.close()
    assert device.calls.count("cuMemFree") == 2
    assert "cuMemFreeHost" in device.calls


def test_a_launch_that_was_stopped(launched: Any) -> None:
    with pytest.raises(LinkError, match="has ended") as caught:
        launched(Device(record(WAIT, 0)))
    assert "can be used as before" in str(caught.value.diagnostics[0].hint)


def test_a_launch_that_trapped(launched: Any) -> None:
    device = Device(record(WAIT, 0), status=719)
    with pytest.raises(LinkError, match="waits at no port") as caught:
        launched(device)
    assert "a new one can use it" in str(caught.value.diagnostics[0].hint)


def test_a_launch_that_does_not_end(launched: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watch, "PATIENCE", 0.0)
    with pytest.raises(LinkError, match="waits at no port") as caught:
        launched(Device(record(WAIT, 0), polls=-1))
    assert "end this process" in str(caught.value.diagnostics[0].hint)


def test_a_driver_error_without_a_hang(launched: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def check(status: Any, function: str) -> None:
        raise AssertionError(f"{function} {status}")

    monkeypatch.setattr(driver, "check", check)
    with pytest.raises(AssertionError, match="kernel 700"):
        launched(Device(status=700))


def test_no_timeline(launched: Any) -> None:
    made, _ = launched(Device(), Debug(64, 100, False, False, 0, (), ()))
    with pytest.raises(LinkError, match="linked without one") as caught:
        made.timeline()
    assert caught.value.diagnostics[0].id == "no-timeline"
    with pytest.raises(LinkError, match="not launched on this device"):
        watch.Watch("gemm", None, DEBUG).timeline()
