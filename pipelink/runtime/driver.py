"""The CUDA driver as the runtime uses it: contexts, modules, occupancy, tensor maps, memory.

Thin functions over ``cuda.bindings.driver`` that raise LinkError ``driver-error`` with CUDA's own name and text for
the error.  Only calls that exist since CUDA 12.0 are used.
"""

from __future__ import annotations

import ctypes
import importlib
from collections.abc import Generator
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

from pipelink.runtime.manifest import LaunchContract
from pipelink.runtime.recent import Recent
from pipelink.runtime.tensor_map import DescriptorTuple
from pipelink.support.diagnostics import error, shown

PORTABLE_CLUSTER = 8  # CTAs; more needs the non-portable attribute
OLD_PARAMETERS = 4096  # bytes of kernel parameters before LARGE_PARAMETERS, a version as the driver counts
LARGE_PARAMETERS = 12010  # CUDA 12.1 release notes: 32,764 bytes from sm_70
MAX_CONFIGURATIONS = 512  # of a kernel on a device that are kept
LEGACY_STREAM = 1  # CU_STREAM_LEGACY, which 0 means too
SMEM_BASE = 1024  # first byte of dynamic shared memory: what the driver reserves, on every architecture from sm_80


@lru_cache(maxsize=1)
def cuda() -> Any:
    """``cuda.bindings.driver``, initialised.  Raises LinkError ``no-driver``."""
    try:
        driver: Any = importlib.import_module("cuda.bindings.driver")
    except ImportError as problem:
        message = f"cuda-bindings cannot be imported: {problem}"
        raise error("no-driver", message, hint="pip install cuda-bindings") from problem
    try:
        (status,) = driver.cuInit(0)
    except RuntimeError as problem:  # the bindings raise where libcuda is missing
        raise error("no-driver", f"no CUDA driver: {problem}") from problem
    if status:
        raise error("no-driver", f"the CUDA driver does not start: {_name(driver, status)}")
    return driver


def _name(driver: Any, status: Any) -> str:
    _, name = driver.cuGetErrorName(status)
    _, text = driver.cuGetErrorString(status)
    return f"{(name or b'unknown').decode()} ({(text or b'').decode()})"


def call(function: str, *arguments: Any) -> Any:
    """``cuda.bindings.driver.FUNCTION(*arguments)``, its result without the status."""
    driver = cuda()
    status, *results = getattr(driver, function)(*arguments)
    check(status, function)
    return results[0] if len(results) == 1 else tuple(results)


def check(status: Any, function: str) -> None:
    """Raise LinkError ``driver-error`` unless ``status`` is success."""
    if status:
        raise error("driver-error", f"{function} failed: {_name(cuda(), status)}")


def device_of(pointer: int) -> int:
    """The ordinal of the device that owns an address."""
    attribute = cuda().CUpointer_attribute.CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL
    return int(call("cuPointerGetAttribute", attribute, pointer))


@contextmanager
def current(context: Any) -> Generator[None]:
    """Make ``context`` current inside the block, at no cost if it already is."""
    if int(call("cuCtxGetCurrent")) == int(context):
        yield
        return
    call("cuCtxPushCurrent", context)
    try:
        yield
    finally:
        call("cuCtxPopCurrent")


def follow(theirs: int, ours: int, address: int) -> None:
    """Let stream ``ours`` wait for what ``theirs`` has under way, on the device that owns an address."""
    if theirs == ours or {theirs, ours} == {0, LEGACY_STREAM}:
        return
    with current(primary_context(device_of(address))):
        event = call("cuEventCreate", 2)  # CU_EVENT_DISABLE_TIMING
        try:
            call("cuEventRecord", event, theirs)
            call("cuStreamWaitEvent", ours, event, 0)
        finally:
            call("cuEventDestroy", event)


def capture_id(stream: int) -> int:
    """The graph capture that is under way on ``stream``, 0 if none; -1 where another stream's capture forbids to
    ask."""
    driver = cuda()
    status, *found = driver.cuStreamGetCaptureInfo(stream)
    if int(status) == int(driver.CUresult.CUDA_ERROR_STREAM_CAPTURE_IMPLICIT):
        return -1
    check(status, "cuStreamGetCaptureInfo")
    return int(found[1]) if int(found[0]) else 0


def encode(descriptor: DescriptorTuple) -> bytes:
    """The 128 bytes of a tensor map."""
    driver = cuda()
    word = driver.cuuint64_t
    kind, pointer, extents, strides, boxed, mode = descriptor
    data_type, box, ones, interleave, swizzle, promotion, fill = _constant(kind, boxed, mode)
    status, words = driver.cuTensorMapEncodeTiled(
        data_type,
        len(box),
        pointer,
        [word(extent) for extent in extents],
        [word(stride) for stride in strides],
        box,
        ones,
        interleave,
        swizzle,
        promotion,
        fill,
    )
    if status:
        check(status, "cuTensorMapEncodeTiled")
    return ctypes.string_at(words.getPtr(), 128)


@lru_cache(maxsize=1024)
def _constant(data_type: int, box: tuple[int, ...], swizzle: int) -> tuple[Any, ...]:
    """The arguments of a tensor map that do not depend on the tensor, as the bindings take them: data type, box,
    element strides, interleave, swizzle, promotion and fill."""
    driver = cuda()
    return (
        driver.CUtensorMapDataType(data_type),
        [driver.cuuint32_t(extent) for extent in box],
        [driver.cuuint32_t(1)] * len(box),
        driver.CUtensorMapInterleave.CU_TENSOR_MAP_INTERLEAVE_NONE,
        driver.CUtensorMapSwizzle(swizzle),
        driver.CUtensorMapL2promotion.CU_TENSOR_MAP_L2_PROMOTION_L2_128B,  # with 256 bytes memory is read 8% slower
        driver.CUtensorMapFloatOOBfill.CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE,
    )


def check_base(kernel: str, ordinal: int, reserved: int, static: int) -> None:
    """Placed addresses are absolute: dynamic shared memory must begin right behind 1,024 bytes that the driver
    reserves, with no static shared memory in front.  Raises LinkError ``smem-base``."""
    if reserved + static != SMEM_BASE:
        raise error(
            "smem-base",
            f"kernel '{kernel}' is placed from shared-memory address {SMEM_BASE}, but device {ordinal} reserves "
            f"{reserved} B and the code has {static} B of static shared memory",
            hint="link it again with a PipeLink made for this driver",
        )


def check_parameters(kernel: str, size: int, version: int) -> None:
    """Drivers of CUDA 12.0 and older take 4 KiB of parameters.  Raises LinkError ``parameter-overflow``."""
    if size > OLD_PARAMETERS and version < LARGE_PARAMETERS:
        raise error(
            "parameter-overflow",
            f"the parameters of kernel '{kernel}' need {size} bytes, {size - OLD_PARAMETERS} over the {OLD_PARAMETERS} "
            f"of this driver, which is for CUDA {version // 1000}.{version % 1000 // 10}",
            hint="a driver for CUDA 12.1 or newer takes 32764",
        )


class LoadedKernel:
    """A kernel's function in one device's primary context."""

    def __init__(self, ordinal: int, context: Any, cubin: bytes, contract: LaunchContract) -> None:
        driver = cuda()
        self.ordinal, self.context, self.contract = ordinal, context, contract
        device = call("cuDeviceGet", ordinal)
        attribute = driver.CUdevice_attribute
        self.sms = int(call("cuDeviceGetAttribute", attribute.CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, device))
        limit = int(
            call("cuDeviceGetAttribute", attribute.CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, device)
        )
        if contract.smem_bytes > limit:
            raise error(
                "no-image",
                f"kernel '{contract.kernel}' needs {contract.smem_bytes} B of shared memory,"
                f" device {ordinal} has {limit}",
            )
        if contract.parameter_bytes > OLD_PARAMETERS:
            check_parameters(contract.kernel, contract.parameter_bytes, int(call("cuDriverGetVersion")))
        with current(context):
            self._module = call("cuModuleLoadData", cubin)
            self.function = call("cuModuleGetFunction", self._module, contract.kernel.encode())
            function_attribute = driver.CUfunction_attribute
            reserved = call(
                "cuDeviceGetAttribute", attribute.CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK, device
            )
            static = call("cuFuncGetAttribute", function_attribute.CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, self.function)
            check_base(contract.kernel, ordinal, int(reserved), int(static))
            call(
                "cuFuncSetAttribute",
                self.function,
                function_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                contract.smem_bytes,
            )
            if self._cluster_size > PORTABLE_CLUSTER:
                call(
                    "cuFuncSetAttribute",
                    self.function,
                    function_attribute.CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED,
                    1,
                )
        self._occupancy: int | None = None
        self._capacity: int | None = None
        self._configurations: Recent[tuple[tuple[int, int, int], int], Any] = Recent(MAX_CONFIGURATIONS)

    @property
    def _cluster_size(self) -> int:
        x, y, z = self.contract.cluster
        return x * y * z

    def occupancy(self) -> int:
        """CTAs of this kernel that fit on one SM at the same time."""
        if self._occupancy is None:
            with current(self.context):
                self._occupancy = int(
                    call(
                        "cuOccupancyMaxActiveBlocksPerMultiprocessor",
                        self.function,
                        self.contract.threads,
                        self.contract.smem_bytes,
                    )
                )
        return self._occupancy

    def capacity(self) -> int:
        """CTAs of this kernel that fit on the device at the same time."""
        if self._cluster_size == 1:
            return self.sms * self.occupancy()
        if self._capacity is None:
            with current(self.context):
                clusters = call("cuOccupancyMaxActiveClusters", self.function, self.configure(self.contract.cluster, 0))
            self._capacity = int(clusters) * self._cluster_size
        return self._capacity

    def configure(self, grid: tuple[int, int, int], stream: int) -> Any:
        """A CUlaunchConfig, which several launches may share: it must not be changed."""
        found = self._configurations.get((grid, stream))
        if found is None:
            found = self._configuration(grid, stream)
            self._configurations.put((grid, stream), found)
        return found

    def _configuration(self, grid: tuple[int, int, int], stream: int) -> Any:
        driver, contract = cuda(), self.contract
        configuration = driver.CUlaunchConfig()
        configuration.gridDimX, configuration.gridDimY, configuration.gridDimZ = grid
        configuration.blockDimX, configuration.blockDimY, configuration.blockDimZ = contract.threads, 1, 1
        configuration.sharedMemBytes = contract.smem_bytes
        configuration.hStream = driver.CUstream(stream)
        attributes: list[Any] = []
        if self._cluster_size > 1:
            cluster = driver.CUlaunchAttribute()
            cluster.id = driver.CUlaunchAttributeID.CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION
            cluster.value.clusterDim.x, cluster.value.clusterDim.y, cluster.value.clusterDim.z = contract.cluster
            attributes.append(cluster)
        if contract.cooperative:
            cooperative = driver.CUlaunchAttribute()
            cooperative.id = driver.CUlaunchAttributeID.CU_LAUNCH_ATTRIBUTE_COOPERATIVE
            cooperative.value.cooperative = 1
            attributes.append(cooperative)
        if contract.programmatic:
            programmatic = driver.CUlaunchAttribute()
            programmatic.id = driver.CUlaunchAttributeID.CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION
            programmatic.value.programmaticStreamSerializationAllowed = 1
            attributes.append(programmatic)
        if attributes:
            configuration.attrs = attributes
        configuration.numAttrs = len(attributes)
        return configuration

    def unload(self) -> None:
        with current(self.context):
            call("cuModuleUnload", self._module)


def primary_context(ordinal: int) -> Any:
    """The device's primary context, which torch and cupy share.  Raises LinkError ``argument-device``."""
    if type(ordinal) is not int or not 0 <= ordinal < int(call("cuDeviceGetCount")):
        raise error("argument-device", f"there is no CUDA device {shown(ordinal)}")
    return call("cuDevicePrimaryCtxRetain", call("cuDeviceGet", ordinal))


@lru_cache
def reach(ordinal: int, peer: int) -> bool:
    """Let the primary context of a device reach the memory of another's; whether it can."""
    if not int(call("cuDeviceCanAccessPeer", call("cuDeviceGet", ordinal), call("cuDeviceGet", peer))):
        return False
    with current(primary_context(ordinal)):
        (status,) = cuda().cuCtxEnablePeerAccess(primary_context(peer), 0)
    if status != cuda().CUresult.CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED:
        check(status, "cuCtxEnablePeerAccess")
    return True


def capability(ordinal: int) -> tuple[int, int]:
    """The device's compute capability, such as (9, 0)."""
    attribute, device = cuda().CUdevice_attribute, call("cuDeviceGet", ordinal)
    major = call("cuDeviceGetAttribute", attribute.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device)
    minor = call("cuDeviceGetAttribute", attribute.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device)
    return int(major), int(minor)
