"""Launches of debug links: the buffers behind them, and the wait for their end.

A watched launch returns when the kernel has ended.  Control words and the timeline lie in device memory, records of
hangs in host memory, which stays readable when a kernel traps.  Layouts: pipelink/transfers/watch.cuh.
"""

from __future__ import annotations

import ctypes
import time
from collections.abc import Callable
from threading import Lock
from typing import Any

from pipelink.runtime import driver
from pipelink.runtime.debug import Debug
from pipelink.runtime.hangs import MAX_RECORDS, RECORD, Ending, explain, parse
from pipelink.runtime.timeline import EVENT, LANE, Timeline, read
from pipelink.support.diagnostics import error
from pipelink.support.watch import BLOCK

EVENTS = 4096  # of a lane
MAX_TIMELINE = 256 << 20  # bytes; CTAs beyond are not traced
CONTROL = 16  # bytes in front of the CTAs' counts
PATIENCE = 5.0  # seconds, with a limit, after which a stopped kernel is given up


def no_timeline(name: str, debug: Debug | None) -> Exception:
    """Why a kernel has none."""
    if debug is not None and debug.timeline:
        return error("no-timeline", f"kernel '{name}' has no timeline: it was not launched on this device")
    message = f"kernel '{name}' has no timeline: it was linked without one"
    return error("no-timeline", message, hint="link it with --trace-timeline")


class Watch:
    """The buffers of one kernel on one device.  Launches through it follow one another."""

    def __init__(self, name: str, context: Any, debug: Debug) -> None:
        self.name, self.context, self.debug = name, context, debug
        self.lost = False  # the device refuses this process, or the kernel still runs
        self._lock = Lock()
        self._buffers: dict[str, tuple[int, int]] = {}  # name -> (address, bytes)
        self._records = 0  # host address
        self._ctas = self._traced = 0
        self._status: Any = 0

    def launch(self, grid: tuple[int, int, int], stream: int, block: int, start: Callable[[], None]) -> None:
        """Fill the kernel's block at host address ``block``, call ``start``, and wait until the kernel has ended.

        Raises LinkError ``kernel-hang`` where it had to be stopped."""
        with self._lock, driver.current(self.context):
            self._prepare(grid, stream, block)
            start()
            ending = self._wait(stream)
            records = parse(ctypes.string_at(self._records, MAX_RECORDS * RECORD.size), len(self.debug.sites))
            if records:
                raise explain(self.name, self.debug, records, self._ctas, ending)
            if ending != "left":
                driver.check(self._status, "kernel")

    def timeline(self) -> Timeline:
        """The timeline of the last launch.  Raises LinkError ``no-timeline``."""
        address, size = self._buffers.get("events", (0, 0))
        if not address or not self._ctas:
            raise no_timeline(self.name, self.debug)
        size = self._traced * self._cta_bytes
        data = ctypes.create_string_buffer(size)
        with self._lock, driver.current(self.context):
            driver.call("cuMemcpyDtoH", ctypes.addressof(data), address, size)
        return read(self.name, self.debug, data.raw, EVENTS, self._ctas)

    def close(self) -> None:
        """Free the buffers, unless the device is lost."""
        if self.lost:
            return
        with driver.current(self.context):
            for address, _ in self._buffers.values():
                driver.call("cuMemFree", address)
            if self._records:
                driver.call("cuMemFreeHost", self._records)
        self._buffers.clear()
        self._records = 0

    @property
    def _cta_bytes(self) -> int:
        return self.debug.lanes * (LANE.size + EVENTS * EVENT.size)

    def _buffer(self, name: str, size: int) -> int:
        address, have = self._buffers.get(name, (0, 0))
        if have < size:
            if address:
                driver.call("cuMemFree", address)
            address = int(driver.call("cuMemAlloc", size))
            self._buffers[name] = (address, size)
        return address

    def _prepare(self, grid: tuple[int, int, int], stream: int, block: int) -> None:
        debug = self.debug
        if self.lost:
            raise error("driver-error", f"kernel '{self.name}' hung before and this process has lost the device")
        if not self._records:
            flags = 1 | 2  # CU_MEMHOSTALLOC_PORTABLE, CU_MEMHOSTALLOC_DEVICEMAP
            self._records = int(driver.call("cuMemHostAlloc", MAX_RECORDS * RECORD.size, flags))
        ctypes.memset(self._records, 0, MAX_RECORDS * RECORD.size)
        self._ctas = grid[0] * grid[1] * grid[2]
        control = self._buffer("control", CONTROL + 4 * self._ctas)
        driver.call("cuMemsetD8Async", control, 0, CONTROL + 4 * self._ctas, stream)
        events = self._traced = 0
        if debug.timeline:
            self._traced = min(self._ctas, max(1, MAX_TIMELINE // self._cta_bytes))
            events = self._buffer("events", self._traced * self._cta_bytes)
            driver.call("cuMemsetD8Async", events, 0, self._traced * self._cta_bytes, stream)
        records = int(driver.call("cuMemHostGetDevicePointer", self._records, 0))
        limit = debug.limit_ms * 1_000_000  # nanoseconds
        counts = (MAX_RECORDS, debug.lanes, EVENTS, self._traced, int(debug.stays), debug.warps)
        ctypes.memmove(block, BLOCK.pack(limit, control, records, events, *counts), BLOCK.size)

    def _wait(self, stream: int) -> Ending:
        """Wait for the launch; the process may be interrupted meanwhile."""
        cuda = driver.cuda()
        event = driver.call("cuEventCreate", 2)  # CU_EVENT_DISABLE_TIMING
        driver.call("cuEventRecord", event, stream)
        pause, stopped = 20e-6, 0.0
        while True:
            (self._status,) = cuda.cuEventQuery(event)
            if int(self._status) != int(cuda.CUresult.CUDA_ERROR_NOT_READY):
                break
            if not stopped and ctypes.c_uint32.from_address(self._records).value:
                stopped = time.monotonic()
            if stopped and time.monotonic() - stopped > self.debug.limit_ms / 1e3 + PATIENCE:
                self.lost = True
                return "running"
            time.sleep(pause)
            pause = min(pause * 1.5, 2e-3)
        self.lost = bool(int(self._status))
        cuda.cuEventDestroy(event)
        return "trapped" if self.lost else "left"
