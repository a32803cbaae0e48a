"""Runs a linked bench on a GPU: arrays in, arrays out.  Needs ``cuda-bindings`` and numpy, and no compiler."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np

from pipelink import runtime
from pipelink.runtime import driver
from pipelink.runtime.tensors import TensorView, is_torch, packed_strides
from pipelink.support.diagnostics import LinkError, Location, error
from pipelink.support.inputs import read_input
from pipelink.support.limits import BENCH_BYTES, BENCH_PLAN
from pipelink.testing.arrays import STORAGE, Array, guest, host, pack, padded, unpack
from pipelink.testing.plan import Plan, PortPlan, Turn, Values, turns

_MAGIC: Final = b"pipelink bench\n"  # of a saved bench; then the length of its plan, the plan, and the package
_LENGTH: Final = 4  # bytes of the length, little-endian
_SPARE: Final = 64  # calls of each thread that are noted beyond those that have a value of their own


class Called(NamedTuple):
    """What became of calls.  ``result`` and each of ``arguments`` are ``[calls, threads, …]``; None is a result that
    there is not, or an argument that the component only read.  ``counts`` says how many calls each thread made."""

    result: Any
    arguments: tuple[Any, ...]
    counts: Any


@dataclass
class LinkedBench:
    """A bench that can run: what each port is fed with, and the package of the kernel."""

    plan: Plan
    package: bytes

    def save(self, path: str | Path) -> None:
        """Write it to a file, for :func:`load` on another machine.  Raises LinkError ``unwritable-output``."""
        plan = self.plan.to_json().encode()
        try:
            Path(path).write_bytes(_MAGIC + len(plan).to_bytes(_LENGTH, "little") + plan + self.package)
        except OSError as problem:
            message = f"cannot write '{path}': {problem.strerror or problem}"
            raise error("unwritable-output", message, Location(str(path))) from problem

    def run(self, *, call_order: Sequence[str] | None = None, **arguments: Any) -> dict[str, Any]:
        """Launch the kernel, on device 0, with what its ports and the launch contract need, by name, and wait for it.

        ==================  =================================================  ======================================
        a port              is given                                           gives
        ==================  =================================================  ======================================
        stream in           ``[items, *tile]``, a tuple of them for several
                            tiles
        stream out          how many items to take; as many as are fed, if     ``[items, *tile]``, or a tuple
                            absent; of a stream that ends, at most
        answered call       ``[calls, threads, *value]`` or                    :class:`Called`
                            ``[calls, *value]`` for its argument, a tuple for
                            several, the number of calls for none
        call that it makes  values to answer with, as above, the last one      :class:`Called`
                            again and again; of a call without result nothing,
                            or how many calls are noted
        token               how often it is passed, or taken; a token in and
                            one out go in turn, and who begins with it is
                            passed one less than it passes
        ==================  =================================================  ======================================

        ``call_order`` names the answered calls in the order in which they are made; without it all of the first come
        before all of the second.  Tensors, scalars and dimensions of the launch contract go by their names; tensors
        that the kernel writes are given as well, and come back with their new content.  Arrays are numpy's or
        torch's.  What comes back is torch's where anything given is, else numpy's.

        Raises LinkError ``argument-dtype``, ``argument-shape``, ``missing-argument``, ``bench-overflow``,
        ``kernel-hang``, and what the runtime has to say of a launch."""
        kernel = runtime.load(self.package)
        with _memory(0) as memory:
            run = _Run(self.plan, kernel.contract.threads, memory, dict(arguments), call_order)
            try:
                run.prepare(kernel)
                kernel(**run.launch)
                return {name: read() for name, read in run.results.items()}
            finally:
                kernel.close()


def load(path: str | Path) -> LinkedBench:
    """A saved bench.  Raises LinkError ``bad-bench``, what reading has to say, and, when it runs, ``bad-package``."""
    where = Location(str(path))
    data = read_input(path, BENCH_BYTES)
    head, size = len(_MAGIC), int.from_bytes(data[len(_MAGIC) : len(_MAGIC) + _LENGTH], "little")
    end = head + _LENGTH + size
    if not data.startswith(_MAGIC) or size > BENCH_PLAN or len(data) < end:
        raise error("bad-bench", f"'{path}' is no bench", where)
    return LinkedBench(Plan.from_json(data[head + _LENGTH : end], where), data[end:])


# ---------------------------------------------------------------- memory
@dataclass
class Memory:
    """Device memory of one run."""

    device: int
    allocations: list[int] = field(default_factory=list[int])

    def put(self, array: Array, element: str) -> TensorView:
        """A copy on the device."""
        data = np.ascontiguousarray(array)
        address = int(driver.call("cuMemAlloc", max(data.nbytes, 16)))
        self.allocations.append(address)
        if data.nbytes:
            driver.call("cuMemcpyHtoD", address, data.ctypes.data, data.nbytes)
        return TensorView(address, data.shape, packed_strides(data.shape), element, self.device)

    def get(self, view: TensorView) -> Array:
        """What is there now, in the element's storage type."""
        found = np.empty(view.shape, STORAGE[view.element])
        if found.nbytes:
            driver.call("cuMemcpyDtoH", found.ctypes.data, view.pointer, found.nbytes)
        return found


@contextmanager
def _memory(device: int) -> Generator[Memory]:
    with driver.current(driver.primary_context(device)):
        memory = Memory(device)
        try:
            yield memory
        finally:
            for address in memory.allocations:
                try:
                    driver.call("cuMemFree", address)
                except LinkError:  # a kernel that hung took the context with it
                    break


# ---------------------------------------------------------------- one run
@dataclass
class _Run:
    """``launch`` are the launch's arguments, ``results`` read what a port or tensor gives, once it has run."""

    plan: Plan
    cta: int  # threads of the CTA
    memory: Any
    arguments: dict[str, Any]
    order: Sequence[str] | None
    launch: dict[str, Any] = field(default_factory=dict[str, Any])
    results: dict[str, Callable[[], Any]] = field(default_factory=dict[str, Any])

    def prepare(self, kernel: runtime.Kernel) -> None:
        """Fill both, from the arguments."""
        given = [part for value in self.arguments.values() for part in _parts(value)]
        self.torch = any(is_torch(part) for part in given)
        fed = [self.feed(port) for port in self.plan.ports if port.way == "fed"]
        self.items = fed[0] if fed and len(set(fed)) == 1 else None
        ways: dict[str, Callable[[PortPlan], None]] = {
            "taken": self.take, "answered": self.answer,
        }  # fmt: skip
        for port in self.plan.ports:
            if port.way in ways:
                ways[port.way](port)
        for turn in turns(self.plan.ports):
            self.turn(turn)
        called = [port for port in self.plan.ports if port.way == "called"]
        if called:
            self.call(called)
        for name, argument in kernel.contract.tensors.items():
            if name in self.arguments and not argument.peers:
                self.tensor(name, argument.element, argument.written)
        self.launch.update(self.arguments)

    def given(self, port: PortPlan, what: str) -> Any:
        """What the call says of a port."""
        if port.name not in self.arguments:
            raise error("missing-argument", f"port '{port.name}' of '{self.plan.component}': {what}")
        return self.arguments.pop(port.name)

    def number(self, port: PortPlan, value: Any) -> int:
        if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 1 << 31:
            raise error(
                "argument-type", f"port '{port.name}': expected a number of items or calls, given {value!r:.60}"
            )
        return value

    def tensor(self, name: str, element: str, written: bool) -> None:
        view = self.memory.put(host(name, self.arguments.pop(name), element), element)
        self.launch[name] = view
        if written:
            self.results[name] = lambda: guest(self.memory.get(view), element, self.torch)

    def put(self, name: str, data: Array) -> TensorView:
        """Bytes, as launch argument ``name``."""
        self.launch[name] = view = self.memory.put(data, "u8")
        return view

    def several(self, port: PortPlan, value: Any) -> Sequence[Any]:
        """The parts of what was given for a port, one for each of its own."""
        parts = list(value) if isinstance(value, tuple) else [value]
        if len(parts) != len(port.parts):
            message = f"port '{port.name}': expected {len(port.parts)} arrays in a tuple, given {len(parts)}"
            raise error("argument-shape", message)
        return parts

    def finished(self, port: PortPlan, parts: Sequence[Array]) -> Any:
        found = [guest(unpack(data, one), one.element, self.torch) for data, one in zip(parts, port.parts, strict=True)]
        return found[0] if len(found) == 1 else tuple(found)

    # ------------------------------------------------------------ streams
    def feed(self, port: PortPlan) -> int:
        parts = self.several(port, self.given(port, "an array of items to feed it with"))
        lengths: set[int] = set()
        for number, (value, one) in enumerate(zip(parts, port.parts, strict=True)):
            name = f"{port.name}[{number}]" if len(parts) > 1 else port.name
            packed = pack(name, value, one if not port.copied else _in_order(one))
            if packed.ndim != 2:
                extents = "".join(f", {extent}" for extent in one.extents)
                raise error("argument-shape", f"'{name}': expected [items{extents}], given {packed.ndim - 1} more")
            lengths.add(len(packed))
            if port.copied:  # TMA cannot address an empty tensor
                rows = padded(packed, one.bytes, least=1)
                tiles = np.frombuffer(rows.tobytes(), STORAGE[one.element]).reshape(len(rows), *one.extents)
                self.launch[port.tensor(number)] = self.memory.put(tiles, one.element)
            else:
                self.put(port.tensor(number), padded(packed, _row(one), least=1))
        if len(lengths) > 1:
            raise error("argument-shape", f"port '{port.name}': its parts have {sorted(lengths)} items")
        self.launch[port.tensor("count")] = lengths.pop()
        return self.launch[port.tensor("count")]

    def take(self, port: PortPlan) -> None:
        if port.name not in self.arguments and self.items is not None:
            limit = self.items
        else:
            limit = self.number(port, self.given(port, "the number of items to take"))
        self.launch[port.tensor("limit")] = limit
        views = [
            self.put(port.tensor(number), np.zeros((max(limit, 1), _row(one)), np.uint8))
            for number, one in enumerate(port.parts)
        ]
        self.launch[port.tensor("taken")] = taken = self.memory.put(np.zeros(4, np.int32), "i32")

        def read() -> Any:
            count = int(self.memory.get(taken)[0])
            if count > limit:
                raise _overflow(port, f"gave {count} items", limit)
            return self.finished(
                port, [self.memory.get(view)[:count, : one.bytes] for view, one in zip(views, port.parts, strict=True)]
            )

        self.results[port.name] = read

    def turn(self, turn: Turn) -> None:
        given, back = turn.given, turn.back
        passed, taken = (
            self.number(port, self.given(port, f"how often it is {does}")) if port is not None else 0
            for port, does in ((given, "passed"), (back, "taken"))
        )
        if given is not None and back is None and passed > 1:
            why = "and no token tells when it was taken: without one it can be passed once"
            raise error("bench-overflow", f"port '{given.name}' is passed {passed} times, {why}")
        if given is not None and back is not None and abs(passed - taken) > 1:
            why = "they are passed in turn, so that these numbers differ by one at most"
            raise error(
                "bench-overflow",
                f"'{given.name}' is passed {passed} times and '{back.name}' taken {taken} times: {why}",
            )
        self.launch |= turn.rounds(passed, taken)

    # ------------------------------------------------------------ calls that the component answers
    def call(self, ports: Sequence[PortPlan]) -> None:
        numbers = {port.name: number for number, port in enumerate(ports)}
        unknown = [name for name in self.order or () if name not in numbers]
        if unknown:
            raise error("unknown-argument", f"'{self.plan.component}' answers no call '{unknown[0]}'")
        script: list[int] = []
        for port in ports:
            listed = list(self.order or ()).count(port.name)
            calls = self.calls(port, listed)
            if self.order is not None and calls != listed:
                message = f"port '{port.name}': call_order names it {listed} times, and it is given {calls} calls"
                raise error("argument-shape", message)
            script += [numbers[port.name]] * calls
        if self.order is not None:
            script = [numbers[name] for name in self.order]
        self.launch["pl_steps"] = len(script)
        self.launch["pl_script"] = self.memory.put(np.array(script or [0], np.int32), "i32")

    def calls(self, port: PortPlan, listed: int) -> int:
        """Prepare the calls of a port, and say how many there are."""
        threads = self.plan.callers
        if not port.parts:
            calls = self.number(port, self.arguments.pop(port.name, listed))
            packed: list[Array] = []
        else:
            value = self.arguments.pop(port.name, None)
            packed = [] if value is None else self.broadcast(port, port.parts, self.several(port, value), threads)
            calls = packed[0].shape[0] if packed else 0
        views = [
            self.put(port.tensor(number), packed[number].reshape(-1) if packed else np.zeros(16, np.uint8))
            for number in range(len(port.parts))
        ]
        made: TensorView | None = None
        if port.result is not None:
            made = self.put(port.tensor("result"), np.zeros(max(calls * threads * port.result.bytes, 16), np.uint8))

        def read() -> Called:
            arguments = [
                self.value(self.memory.get(view)[: calls * threads * one.bytes], one, (calls, threads))
                if one.reference
                else None
                for view, one in zip(views, port.parts, strict=True)
            ]
            result = None
            if made is not None and port.result is not None:
                size = calls * threads * port.result.bytes
                result = self.value(self.memory.get(made)[:size], port.result, (calls, threads))
            return Called(result, tuple(arguments), np.full(threads, calls))

        self.results[port.name] = read
        return calls

    def broadcast(self, port: PortPlan, wanted: Sequence[Values], given: Sequence[Any], threads: int) -> list[Array]:
        """The bytes of each value, ``[calls, threads, bytes]``."""
        found: list[Array] = []
        for one, value in zip(wanted, given, strict=True):
            packed = pack(port.name, value, one)
            packed = packed[:, None] if packed.ndim == 2 else packed
            if packed.ndim != 3 or packed.shape[1] not in (1, threads):
                extents = "".join(f", {extent}" for extent in one.extents)
                lead = ", ".join(map(str, packed.shape[:-1]))
                expected = f"[calls, {threads}{extents}] or [calls{extents}]"
                message = f"port '{port.name}': expected {expected}, given [{lead}{extents}]"
                raise error("argument-shape", message)
            found.append(np.broadcast_to(packed, (len(packed), threads, one.bytes)))
        if len({len(packed) for packed in found}) > 1:
            message = f"port '{port.name}': its arguments are of {[len(packed) for packed in found]} calls"
            raise error("argument-shape", message)
        return found

    def value(self, data: Array, values: Values, lead: tuple[int, ...]) -> Any:
        return guest(unpack(data.reshape(*lead, values.bytes), values), values.element, self.torch)

    # ------------------------------------------------------------ calls that the component makes
    def answer(self, port: PortPlan) -> None:
        own = np.concatenate([np.arange(first, first + count) for first, count in self.plan.threads])
        if port.result is None:
            limit = self.number(port, self.arguments.pop(port.name, _SPARE))
        else:
            value = self.given(port, "values to answer with")
            packed = self.broadcast(port, [port.result], [value], len(own))[0]
            if not len(packed):
                raise error("argument-shape", f"port '{port.name}': there is no value to answer with")
            answers = np.zeros((self.cta, len(packed), port.result.bytes), np.uint8)
            answers[own] = packed.transpose(1, 0, 2)
            self.put(port.tensor("result"), answers.reshape(-1))
            self.launch[port.tensor("results")] = len(packed)
            limit = len(packed) + _SPARE
        self.launch[port.tensor("limit")] = limit
        self.launch[port.tensor("calls")] = counted = self.memory.put(np.zeros(self.cta, np.int32), "i32")
        views = [
            self.put(port.tensor(number), np.zeros(max(self.cta * limit * one.bytes, 16), np.uint8))
            for number, one in enumerate(port.parts)
        ]

        def read() -> Called:
            counts = self.memory.get(counted)[own]
            most = int(counts.max())
            if most > limit:
                raise _overflow(port, f"was called {most} times", limit)
            arguments = []
            for view, one in zip(views, port.parts, strict=True):
                data = self.memory.get(view)[: self.cta * limit * one.bytes].reshape(self.cta, limit, one.bytes)
                arguments.append(self.value(data[own, :most].transpose(1, 0, 2), one, (most, len(own))))
            return Called(None, tuple(arguments), counts)

        self.results[port.name] = read


def _parts(value: Any) -> Sequence[Any]:
    return value if isinstance(value, tuple) else (value,)


def _row(values: Values) -> int:
    """Bytes from one item to the next."""
    return -(-values.bytes // 16) * 16


def _in_order(values: Values) -> Values:
    return Values(values.element, values.extents, values.bytes)


def _overflow(port: PortPlan, what: str, limit: int) -> LinkError:
    hint = f"say how many: {port.name}=…" if port.way == "taken" or port.result is None else None
    return error("bench-overflow", f"port '{port.name}' {what}, expected at most {limit}", hint=hint)


__all__ = ["Called", "LinkedBench", "load"]
