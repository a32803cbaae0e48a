"""A linked kernel as a Python callable.

``load(path)`` reads a package; calling the result with tensors and scalars launches it on the caller's stream.  A
call is answered from a plan: everything that follows from the arguments (grid, parameter block, tensor maps) is
computed once per combination of addresses, shapes, strides and scalars, and kept; a repeated call looks the plan up
and launches.  A plan is computed by the compiled contract, and by checking part by part where that takes no such
arguments.  Tensor maps are also kept on their own, per address, shape and strides, so a changed scalar encodes none
again.
"""

from __future__ import annotations

import ctypes
import os
import struct
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from threading import Lock
from typing import Any

from pipelink.runtime import driver
from pipelink.runtime.compiled import compile_contract
from pipelink.runtime.contract import (
    Resolved,
    check_names,
    check_tensor,
    convert_scalar,
    infer_dimensions,
    resolve,
    spread,
)
from pipelink.runtime.manifest import LaunchContract
from pipelink.runtime.operations import Operation
from pipelink.runtime.package import PackageKernel, PackageTarget, read
from pipelink.runtime.recent import Recent
from pipelink.runtime.tensor_map import DescriptorTuple, describe
from pipelink.runtime.tensors import TensorView, ViewTuple, is_foreign, is_torch, torch_element, view
from pipelink.runtime.timeline import Timeline
from pipelink.runtime.watch import Watch, no_timeline
from pipelink.support.diagnostics import LinkError, Note, error, shown
from pipelink.support.limits import LAUNCH_NUMBER

MAX_PLANS = 512  # plans and tensor maps kept per kernel; half as many that were used last always are
_ALIGN = 128  # bytes, of the parameter block's buffer
_OWN_STREAM = 2  # CU_STREAM_PER_THREAD: does not wait for what others have under way
_POINTER, _MAP = struct.Struct("=Q"), struct.Struct("128s")


def load(source: str | os.PathLike[str] | bytes, kernel: str | None = None) -> Kernel:
    """The kernel of a ``.plk`` file (or its bytes); ``kernel`` names it where the package has several.  Touches no
    device before the first call or ``preload``.

    Raises LinkError ``unreadable-input``, ``oversized-input``, ``bad-package`` or ``no-kernel``."""
    package = read(source)
    if kernel is not None:
        return Kernel(package[kernel])
    if len(package.kernels) != 1:
        names = ", ".join(entry.name for entry in package.kernels)
        message = f"the package holds {len(package.kernels)} kernels: {names}"
        raise error("no-kernel", message, hint="name one with kernel=, or load all with load_all")
    return Kernel(package.kernels[0])


def load_all(source: str | os.PathLike[str] | bytes) -> dict[str, Kernel]:
    """Every kernel of a ``.plk`` file (or its bytes), by name.

    Raises LinkError ``unreadable-input``, ``oversized-input`` or ``bad-package``."""
    return {entry.name: Kernel(entry) for entry in read(source).kernels}


@dataclass(slots=True)
class _Launch:
    """A plan bound to a stream.  ``buffer`` is what the driver reads at the launch: the address of the parameter
    block, at ``address``, and the block, at ``start`` (both on the host)."""

    function: Any
    context: int
    configuration: Any
    buffer: Any
    address: int
    start: int
    zeroed: tuple[tuple[int, int], ...]
    watched: bool


@dataclass(slots=True)
class _Plan:
    """Everything that follows from one combination of arguments."""

    device: _Device
    resolved: Resolved
    maps: tuple[tuple[int, bytes], ...]  # offset in the parameter block, and what stands there
    empty: bool
    launches: dict[tuple[int, int], _Launch]  # by stream and graph capture


# the device, the values, and the descriptor of each tensor map with its offset in the parameter block
_Values = tuple["_Device", Resolved, Iterable[tuple[int, DescriptorTuple]]]


class _Device:
    """The kernel on one device, with its workspaces.  Buffers are never freed before ``close``: a captured graph may
    still name them."""

    def __init__(self, loaded: driver.LoadedKernel, called: LaunchContract) -> None:
        """``called`` is the contract by which calls are read, of the package's first image."""
        self.loaded = loaded
        # (stream, capture, workspace) -> (address, bytes): a captured graph runs beside later launches on its stream
        self.assigned: dict[tuple[int, int, int], tuple[int, int]] = {}
        self.spare: list[tuple[int, int]] = []
        self.allocations: list[int] = []
        contract = loaded.contract
        self.cleared = any(workspace.initial == "once" for workspace in contract.workspaces)
        alike = contract.arguments == called.arguments and contract.names == called.names
        self.compiled = compile_contract(contract) if alike else None
        self.context = int(loaded.context)
        self.block = struct.Struct(f"{contract.parameter_bytes}s")
        self.buffer = ctypes.c_char * (_POINTER.size + _ALIGN + contract.parameter_bytes)
        index = {workspace.name: number for number, workspace in enumerate(contract.workspaces)}
        self.slots = [(f.offset, index[f.workspace]) for f in contract.fields if f.kind == "workspace"]
        self.watch = Watch(contract.kernel, loaded.context, contract.debug) if contract.debug else None

    def reserve(self, sizes: tuple[int, ...]) -> None:
        """Keep one free buffer per workspace for the next stream that asks."""
        free = sorted(size for _, size in self.spare)
        for size in sorted(sizes):
            match = next((have for have in free if have >= size), None)
            if match is not None:
                free.remove(match)
            elif size:
                self.spare.append((self._allocate(size), size))

    def _allocate(self, size: int) -> int:
        with driver.current(self.loaded.context):
            address = int(driver.call("cuMemAlloc", size))
            if self.cleared:
                driver.call("cuMemsetD8Async", address, 0, size, _OWN_STREAM)
                driver.call("cuStreamSynchronize", _OWN_STREAM)
        self.allocations.append(address)
        return address

    def workspace(self, stream: int, capture: int, index: int, size: int) -> int:
        """The address of a workspace for launches on ``stream``, in graph capture ``capture`` (0: in none); 0 if it
        needs no bytes.  Raises LinkError ``preload-needed`` inside a capture if none was reserved."""
        if size == 0:
            return 0
        key = (stream, capture, index)
        address, have = self.assigned.get(key, (0, 0))
        if have >= size:
            return address
        fitting = sorted((spare for spare in self.spare if spare[1] >= size), key=lambda spare: spare[1])
        if fitting:
            self.spare.remove(fitting[0])
            self.assigned[key] = fitting[0]
            return fitting[0][0]
        if capture:
            raise _preload_needed(self.loaded.contract)
        self.assigned[key] = (self._allocate(size), size)
        return self.assigned[key][0]


def _preload_needed(contract: LaunchContract) -> Exception:
    return error(
        "preload-needed",
        f"kernel '{contract.kernel}' is first used inside a graph capture, where nothing can be loaded or allocated",
        hint="call preload() with the same arguments before the capture",
    )


class Kernel:
    """A linked kernel.  Call it with its arguments by name: tensors (torch, or anything with ``__dlpack__`` or
    ``__cuda_array_interface__``) and numbers.  Safe to call from several threads."""

    def __init__(self, package: PackageKernel) -> None:
        self.package = package
        self.name = package.name
        self.contract = package.targets[0].contract
        self._devices: dict[int, _Device] = {}
        self._plans: Recent[tuple[Any, ...], _Plan] = Recent(MAX_PLANS)
        self._maps: Recent[DescriptorTuple, bytes] = Recent(MAX_PLANS)
        self._lock = Lock()

    def __repr__(self) -> str:
        return f"<pipelink kernel {self.name}({self.contract.signature()})>"

    @property
    def operations(self) -> dict[str, Operation]:
        """By name, what the instructions of a kernel that interprets them can name."""
        return {operation.name: operation for operation in self.contract.operations}

    def __call__(self, /, *, stream: Any = None, **arguments: Any) -> None:
        """Launch.  ``stream`` is a handle, or a torch, cupy or ``__cuda_stream__`` stream; without it, the current
        stream of torch or cupy where a tensor is theirs, else the default stream.

        Returns before the kernel has run; a debug link, outside a graph capture, when it has.  Raises LinkError, with
        expected and given, for arguments that do not fit the launch contract, and ``kernel-hang``."""
        handle = stream_handle(stream, arguments)
        if self.contract.peers:
            arguments = spread(self.contract, arguments)
        key = _key(arguments, handle)
        plan = self._plans.get(key)
        if plan is None:
            plan = self._new_plan(key, arguments, handle)
        if plan.empty:
            return
        watch = plan.device.watch
        capture = driver.capture_id(handle) if plan.resolved.workspace_bytes or watch is not None else 0
        launch = plan.launches.get((handle, capture))
        if launch is None:
            with self._lock:
                launch = self._bind(plan, handle, capture)
        if watch is not None and launch.watched:
            block = launch.start + watch.debug.offset
            watch.launch(plan.resolved.grid, handle, block, lambda: _start(launch, plan, handle))
            return
        _start(launch, plan, handle)

    def timeline(self, *, device: int = 0) -> Timeline:
        """When each role of the last launch on ``device`` waited and worked, of a kernel linked with
        ``--trace-timeline``.  Raises LinkError ``no-timeline``."""
        found = self._devices.get(device)
        if found is None or found.watch is None:
            raise no_timeline(self.name, self.contract.debug)
        return found.watch.timeline()

    def preload(self, /, *, device: int | None = None, stream: Any = None, **arguments: Any) -> None:
        """Load the code onto a device ahead of the first call; with arguments, also reserve the workspaces that a
        launch with them needs, so that it can follow inside a graph capture on any stream.

        ``device`` is an ordinal; without it and without tensors, device 0."""
        if not arguments:
            self._device(0 if device is None else device, 0)
            return
        handle = stream_handle(stream, arguments)
        arguments = spread(self.contract, arguments)
        plan = self._plan(arguments, handle)
        with self._lock:
            plan.device.reserve(plan.resolved.workspace_bytes)
            if not plan.empty:
                plan.device.loaded.configure(plan.resolved.grid, handle)

    def resolved(self, /, *, stream: Any = None, **arguments: Any) -> Resolved:
        """What a call with these arguments would launch: dimensions, grid, workspace sizes."""
        handle = stream_handle(stream, arguments)
        return self._plan(spread(self.contract, arguments), handle).resolved

    def close(self) -> None:
        """Unload the code and free the workspaces.  No launch may be pending, no captured graph may be used later."""
        with self._lock:
            for device in self._devices.values():
                if device.watch is not None:
                    device.watch.close()
                    if device.watch.lost:
                        continue
                with driver.current(device.loaded.context):
                    for address in device.allocations:
                        driver.call("cuMemFree", address)
                device.loaded.unload()
            self._devices.clear()
            self._plans.clear()

    def _target(self, ordinal: int) -> PackageTarget:
        capability = driver.capability(ordinal)
        target = self.package.choose(capability)
        if target is None:
            have = ", ".join(t.arch for t in self.package.targets)
            raise error(
                "no-image",
                f"kernel '{self.name}' has no code for device {ordinal}, which is sm_{capability[0]}{capability[1]}:"
                f" the package holds {have}",
                hint="link it with a further --target",
            )
        return target

    def _device(self, ordinal: int, stream: int) -> _Device:
        known = self._devices.get(ordinal)
        if known is not None:
            return known
        with self._lock:
            if ordinal not in self._devices:
                context = driver.primary_context(ordinal)
                target = self._target(ordinal)
                if driver.capture_id(stream):
                    raise _preload_needed(target.contract)
                loaded = driver.LoadedKernel(ordinal, context, target.cubin, target.contract)
                self._devices[ordinal] = _Device(loaded, self.contract)
            return self._devices[ordinal]

    def _plan(self, arguments: Mapping[str, Any], stream: int) -> _Plan:
        key = _key(arguments, stream)
        return self._plans.get(key) or self._new_plan(key, arguments, stream)

    def _new_plan(self, key: tuple[Any, ...], arguments: Mapping[str, Any], stream: int) -> _Plan:
        device, resolved, descriptors = self._compiled(key, arguments, stream) or self._checked(arguments, stream)
        maps = tuple([(offset, self._map(descriptor)) for offset, descriptor in descriptors])
        plan = _Plan(device, resolved, maps, resolved.empty, {})
        self._plans.put(key, plan)
        return plan

    def _compiled(self, key: tuple[Any, ...], arguments: Mapping[str, Any], stream: int) -> _Values | None:
        """What :meth:`_checked` gives, in a fraction of the time; None where that must say what is wrong."""
        views = _views(key, self.contract) if arguments.keys() >= self.contract.names else None
        if views is None or len(arguments) != len(self.contract.names):
            return None
        ordinals = {seen[4] for seen in views}
        ordinal = ordinals.pop() if len(ordinals) == 1 else -1
        if ordinal < 0:
            tensors = {name: TensorView(*seen) for name, seen in zip(self.contract.tensors, views, strict=True)}
            ordinal = _common_device(self.contract, tensors)
            _reach_peers(self.contract, tensors, ordinal)
        device = self._device(ordinal, stream)
        compiled, loaded = device.compiled, device.loaded
        if compiled is None:
            return None
        try:
            found = compiled.run(
                views,
                compiled.numbers(arguments),
                [_dimension(name, arguments[name]) for name in self.contract.free_dimensions],
                loaded.sms,
                loaded.occupancy,
                loaded.capacity,
            )
        except (LinkError, ValueError, ArithmeticError, struct.error):
            return None
        return (device, found[0], zip(compiled.maps, found[1], strict=False)) if found is not None else None

    def _checked(self, arguments: Mapping[str, Any], stream: int) -> _Values:
        """The values of a launch.  Raises LinkError for what does not fit the contract."""
        contract = self.contract
        check_names(contract, list(arguments))
        tensors = {name: _view(name, arguments[name], stream) for name in contract.tensors}
        ordinal = _common_device(contract, tensors)
        _reach_peers(contract, tensors, ordinal)
        device = self._device(ordinal, stream)
        contract, loaded = device.loaded.contract, device.loaded
        for name, argument in contract.tensors.items():
            check_tensor(contract, argument, tensors[name])
        given = {name: _dimension(name, arguments[name]) for name in contract.dimensions if name in arguments}
        dimensions = infer_dimensions(contract, tensors, given)
        scalars = {name: convert_scalar(a, arguments[name]) for name, a in contract.scalars.items()}
        resolved = resolve(
            contract,
            tensors,
            scalars,
            dimensions,
            sms=loaded.sms,
            occupancy=loaded.occupancy,
            capacity=loaded.capacity,
        )
        maps = [field for field in contract.fields if field.kind == "tensor_map" and not resolved.empty]
        return device, resolved, [(field.offset, describe(field, tensors[field.tensor])) for field in maps]

    def _map(self, descriptor: DescriptorTuple) -> bytes:
        known = self._maps.get(descriptor)
        if known is None:
            known = driver.encode(descriptor)
            self._maps.put(descriptor, known)
        return known

    def _bind(self, plan: _Plan, stream: int, capture: int) -> _Launch:
        device, loaded, resolved = plan.device, plan.device.loaded, plan.resolved
        buffer = device.buffer()
        address = ctypes.addressof(buffer)
        start = -(-(address + _POINTER.size) // _ALIGN) * _ALIGN
        at = start - address
        _POINTER.pack_into(buffer, 0, start)
        device.block.pack_into(buffer, at, resolved.block)
        for offset, words in plan.maps:
            _MAP.pack_into(buffer, at + offset, words)
        zeroed: tuple[tuple[int, int], ...] = ()
        sizes = resolved.workspace_bytes
        if sizes:
            addresses = [device.workspace(stream, capture, index, size) for index, size in enumerate(sizes)]
            for offset, index in device.slots:
                _POINTER.pack_into(buffer, at + offset, addresses[index])
            workspaces = zip(loaded.contract.workspaces, addresses, sizes, strict=True)
            zeroed = tuple(
                (address, size) for workspace, address, size in workspaces if workspace.initial == "zero" and size
            )
        launch = _Launch(
            loaded.function,
            device.context,
            loaded.configure(resolved.grid, stream),
            buffer,
            address,
            start,
            zeroed,
            not capture,
        )
        plan.launches[stream, capture] = launch
        return launch


def _start(launch: _Launch, plan: _Plan, handle: int) -> None:
    """Hand a launch to the driver."""
    cuda = driver.cuda()
    if launch.zeroed or int(cuda.cuCtxGetCurrent()[1]) != launch.context:
        with driver.current(plan.device.loaded.context):
            for address, size in launch.zeroed:
                driver.call("cuMemsetD8Async", address, 0, size, handle)
            driver.call("cuLaunchKernelEx", launch.configuration, launch.function, launch.address, 0)
        return
    (status,) = cuda.cuLaunchKernelEx(launch.configuration, launch.function, launch.address, 0)
    if status:
        driver.check(status, "cuLaunchKernelEx")


def _dimension(name: str, value: Any) -> int:
    try:
        if hasattr(value, "__dlpack__"):
            raise TypeError
        number = int(value.__index__())
    except Exception as problem:  # of a stranger's class, too
        raise error("argument-type", f"dimension '{name}': expected an integer, given {shown(value)}") from problem
    if not 0 <= number <= LAUNCH_NUMBER:
        raise error("argument-range", f"dimension '{name}': expected 0 to 2^63 - 1, given {shown(number)}")
    return number


def _common_device(contract: LaunchContract, tensors: Mapping[str, TensorView]) -> int:
    """The one device of all tensors but those of peers, 0 without tensors.  Raises LinkError ``argument-device``."""
    owner: dict[int, str] = {}
    for name, tensor in tensors.items():
        ordinal = _owner(tensor)
        if ordinal >= 0 and ordinal not in owner and not contract.tensors[name].peers:
            owner[ordinal] = name
    if len(owner) > 1:
        (first, name), (second, other) = list(owner.items())[:2]
        raise error(
            "argument-device",
            f"tensor '{other}': expected device {first}, given device {second}",
            notes=[Note(f"tensor '{name}' of kernel '{contract.kernel}' is on device {first}")],
        )
    return next(iter(owner), 0)


def _owner(tensor: TensorView) -> int:
    """The device of a tensor, -1 where it has no memory."""
    return driver.device_of(tensor.pointer) if tensor.device < 0 and tensor.pointer else tensor.device


def _reach_peers(contract: LaunchContract, tensors: Mapping[str, TensorView], ordinal: int) -> None:
    """Let a device reach the memory of others that a launch names.  Raises LinkError ``argument-device``."""
    for members in contract.peers.values():
        for name in members:
            owner = _owner(tensors[name])
            if owner >= 0 and owner != ordinal and not driver.reach(ordinal, owner):
                message = f"tensor '{name}' is on device {owner}, whose memory device {ordinal} cannot reach"
                raise error("argument-device", message, hint="GPUs of one host reach each other over NVLink or PCIe")


def _key(arguments: Mapping[str, Any], stream: int) -> tuple[Any, ...]:
    """What a plan depends on, argument by argument.  torch's attributes are read directly, without making a view."""
    torch: Any = sys.modules.get("torch")
    tensor_type: Any = torch.Tensor if torch is not None else ()
    parts: list[tuple[Any, ...]] = []
    for name, value in arguments.items():
        if tensor_type and isinstance(value, tensor_type):
            tensor: Any = value
            parts.append((name, tensor.data_ptr(), tensor.shape, tensor.stride(), tensor.dtype, tensor.device))
        elif type(value) is float or type(value) is int:
            parts.append((name, type(value), value or repr(value)))  # -0.0 equals 0.0
        elif is_foreign(value):
            parts.append((name, _view(name, value, stream)))
        else:
            parts.append((name, type(value), _number(value)))
    return tuple(parts)


def _number(value: Any) -> object:
    """The number that a stranger's object stands for, in a form that differs where the number does; an object that
    equals itself alone where it stands for none."""
    try:
        if isinstance(value, str | bytes | bytearray):
            return object()
        return int(value.__index__()) if hasattr(value, "__index__") else repr(float(value))
    except Exception:  # such a value is refused
        return object()


def _view(name: str, value: Any, stream: int) -> TensorView:
    return view(name, value, stream, lambda theirs, address: driver.follow(theirs, stream, address))


def _views(key: tuple[Any, ...], contract: LaunchContract) -> list[ViewTuple] | None:
    """The tensors of a call, in the contract's order, from its key; None where one is none on a CUDA device."""
    parts = {part[0]: part for part in key}
    found: list[ViewTuple] = []
    for name in contract.tensors:
        part = parts.get(name, ())
        if len(part) == 6:
            _, pointer, shape, strides, dtype, device = part
            if device.type != "cuda":
                return None
            found.append((pointer, shape, strides, torch_element(dtype), device.index or 0))
        elif len(part) == 2:
            if part[1].read_only and contract.tensors[name].written:
                return None
            found.append(part[1][:5])
        else:
            return None
    return found


def stream_handle(stream: Any, arguments: Mapping[str, Any]) -> int:
    """The CUDA stream of a call.  Raises LinkError ``argument-type``."""
    if stream is None:
        return _current_stream(arguments)
    try:
        handle = _handle(stream)
    except Exception as problem:  # of a stranger's class, too
        raise error("argument-type", f"stream: expected a CUDA stream, given {type(stream).__name__}") from problem
    if not 0 <= handle < 1 << 64:
        raise error("argument-type", f"stream: expected a CUDA stream, given {shown(handle)}")
    return handle


def _handle(stream: Any) -> int:
    if isinstance(stream, int):
        return stream
    if hasattr(stream, "__cuda_stream__"):
        protocol: Any = stream.__cuda_stream__
        pair: Any = protocol() if callable(protocol) else protocol
        _version, handle = pair
        return int(handle.__index__())
    for attribute in ("cuda_stream", "ptr"):  # torch, cupy
        if isinstance(getattr(stream, attribute, None), int):
            return int(getattr(stream, attribute))
    return int(stream)


def _current_stream(arguments: Mapping[str, Any]) -> int:
    for value in arguments.values():
        if is_torch(value):
            if value.device.type != "cuda":
                return 0  # refused later, with the argument's name
            torch: Any = sys.modules["torch"]
            return int(torch.cuda.current_stream(value.device).cuda_stream)
    cupy: Any = sys.modules.get("cupy")
    if cupy is not None and any(isinstance(value, cupy.ndarray) for value in arguments.values()):
        return int(cupy.cuda.get_current_stream().ptr)
    return 0
