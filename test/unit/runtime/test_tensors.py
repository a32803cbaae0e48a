"""Views of foreign tensors: DLPack capsules old and new, the CUDA array interface, and what is refused."""

import ctypes
import sys
import types
from typing import Any

import pytest

from pipelink.runtime import tensors
from pipelink.runtime.contract import Argument, convert_scalar
from pipelink.runtime.kernel import stream_handle
from pipelink.runtime.tensors import TensorView, packed_strides, read_capsule, view
from pipelink.support.diagnostics import LinkError

_new = ctypes.pythonapi.PyCapsule_New
_new.restype, _new.argtypes = ctypes.py_object, (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)


class Capsule:
    """A DLPack producer over made-up memory, without a deleter."""

    def __init__(
        self, shape: tuple[int, ...], strides: tuple[int, ...] | None, code: int = 4, bits: int = 16, *,
        versioned: bool = False, device: int = 2, offset: int = 0, major: int = 1, lanes: int = 1,
    ) -> None:  # fmt: skip
        self.device = device
        self.streams: list[int] = []
        self.versioned = versioned
        self._shape = (ctypes.c_int64 * max(len(shape), 1))(*shape)
        self._strides = (ctypes.c_int64 * max(len(shape), 1))(*strides) if strides is not None else None
        managed = tensors._DLManagedTensorVersioned()  # the older struct is its last member
        managed.major, managed.minor = major, 0
        managed.tensor.data, managed.tensor.device_type, managed.tensor.ndim = 0x10000, device, len(shape)
        managed.tensor.code, managed.tensor.bits, managed.tensor.lanes = code, bits, lanes
        managed.tensor.shape = ctypes.cast(self._shape, ctypes.POINTER(ctypes.c_int64))
        if self._strides is not None:
            managed.tensor.strides = ctypes.cast(self._strides, ctypes.POINTER(ctypes.c_int64))
        managed.tensor.byte_offset = offset
        self._managed = managed

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.device, 1

    def read_only(self) -> Any:
        self._managed.flags = 1
        return self

    def __dlpack__(self, *, stream: int) -> Any:
        self.streams.append(stream)
        if self.versioned:
            return _new(ctypes.addressof(self._managed), b"dltensor_versioned", None)
        return _new(ctypes.addressof(self._managed.tensor), b"dltensor", None)


class Array:
    def __init__(self, **interface: Any) -> None:
        self.__cuda_array_interface__ = {"data": (0x2000, False), "version": 3, **interface}


@pytest.mark.parametrize("versioned", [False, True])
def test_dlpack(versioned: bool) -> None:
    found = view("a", Capsule((4, 8), (16, 1), versioned=versioned, offset=64), 0)
    assert found == TensorView(0x10040, (4, 8), (16, 1), "bf16", 1)


def test_dlpack_without_strides_is_packed() -> None:
    assert view("a", Capsule((4, 8), None, 2, 32), 7).strides == (8, 1)


@pytest.mark.parametrize(("code", "element"), [(10, "e4m3"), (12, "e5m2"), (14, "e8m0")])
def test_dlpack_of_eight_bit_floats(code: int, element: str) -> None:
    assert view("a", Capsule((4, 32), (48, 1), code, 8)) == TensorView(0x10000, (4, 32), (48, 1), element, 1)


def test_dlpack_of_the_other_e4m3_is_refused() -> None:
    """Code 8 has infinities, 11 no negative zero: not what the tensor cores multiply."""
    for code in (8, 11):
        with pytest.raises(LinkError, match=f"code {code}, 8 bits"):
            view("a", Capsule((4,), (1,), code, 8))


def test_torch_tensors_are_read_directly(monkeypatch: pytest.MonkeyPatch) -> None:
    class Tensor:
        device = types.SimpleNamespace(type="cuda", index=1)
        dtype, shape = "torch.float8_e4m3fn", (4, 32)

        def data_ptr(self) -> int:
            return 0x10000

        def stride(self) -> tuple[int, ...]:
            return (48, 1)

    monkeypatch.setitem(sys.modules, "torch", types.SimpleNamespace(Tensor=Tensor))
    assert view("a", Tensor()) == TensorView(0x10000, (4, 32), (48, 1), "e4m3", 1)


def test_dlpack_streams() -> None:
    capsule = Capsule((1,), (1,))
    for stream in (None, 0, 0x7F00):
        view("a", capsule, stream)
    assert capsule.streams == [-1, 1, 0x7F00]


def test_refused_dlpack() -> None:
    with pytest.raises(LinkError, match="expected a CUDA device, given DLPack device type 1"):
        view("a", Capsule((4,), (1,), device=1))
    with pytest.raises(LinkError, match="code 4, 8 bits"):
        view("a", Capsule((4,), (1,), 4, 8))
    with pytest.raises(LinkError, match="4 lanes"):
        view("a", Capsule((4,), (1,), 2, 32, lanes=4))
    with pytest.raises(LinkError, match="DLPack version 2 is newer"):
        view("a", Capsule((4,), (1,), versioned=True, major=2))
    with pytest.raises(LinkError, match="gave no DLPack capsule"):
        read_capsule("a", object(), 0)


def test_array_interface() -> None:
    found = view("a", Array(shape=(4, 8), typestr="<f4", strides=(64, 4)))
    assert found == TensorView(0x2000, (4, 8), (16, 1), "f32", -1)
    assert view("a", Array(shape=(4, 8), typestr="<f2")).strides == (8, 1)


def test_refused_array_interfaces() -> None:
    with pytest.raises(LinkError, match="array type '>f4' is unknown"):
        view("a", Array(shape=(4,), typestr=">f4"))
    with pytest.raises(LinkError, match="not whole f32 elements"):
        view("a", Array(shape=(4,), typestr="<f4", strides=(6,)))
    with pytest.raises(LinkError, match="malformed __cuda_array_interface__"):
        view("a", Array(typestr="<f4"))


def test_read_only_tensors() -> None:
    assert not view("a", Array(shape=(4,), typestr="<f4")).read_only
    assert view("a", Array(shape=(4,), typestr="<f4", data=(0x2000, True))).read_only
    assert view("a", Capsule((4,), (1,), versioned=True).read_only()).read_only
    assert not view("a", Capsule((4,), (1,), versioned=False).read_only()).read_only


def test_new_producers_are_asked_for_a_version_that_says_so() -> None:
    asked: list[Any] = []

    class New(Capsule):
        def __dlpack__(self, *, stream: int, max_version: tuple[int, int] | None = None) -> Any:
            asked.append(max_version)
            return super().__dlpack__(stream=stream)

    view("a", New((4,), (1,), versioned=True))
    assert asked == [(1, 0)]


def test_masked_arrays_are_refused() -> None:
    assert view("a", Array(shape=(4,), typestr="<f4", mask=None)).shape == (4,)
    with pytest.raises(LinkError, match=r"tensor 'a' has a mask.*\[argument-type\]"):
        view("a", Array(shape=(4,), typestr="<f4", mask=Array(shape=(4,), typestr="|b1")))


def test_the_producers_stream_is_waited_for() -> None:
    followed: list[tuple[int, int]] = []
    for stream in (None, 1, 0x70):
        view("a", Array(shape=(4,), typestr="<f4", stream=stream), 5, lambda *given: followed.append(given))
    assert followed == [(1, 0x2000), (0x70, 0x2000)]
    for stream in (0, -1, 2**64, "x"):
        with pytest.raises(LinkError, match="argument-type"):
            view("a", Array(shape=(4,), typestr="<f4", stream=stream), 5, lambda *given: followed.append(given))


class Anything:
    """Attributes as given; a callable one is called."""

    def __init__(self, **attributes: Any) -> None:
        self.__dict__ |= attributes


def raises(*_arguments: Any, **_named: Any) -> Any:
    raise ZeroDivisionError("a stranger's")


@pytest.mark.parametrize(
    "value",
    [
        Array(shape=(2**63,), typestr="<f4"),
        Array(shape=(-1,), typestr="<f4"),
        Array(shape=4, typestr="<f4"),
        Array(shape=("4",), typestr="<f4"),
        Array(shape=(4.5,), typestr="<f4"),
        Array(shape=(2**40, 2**40, 4), typestr="<f4"),
        Array(shape=(4, 4), typestr="<f4", strides=(4,)),
        Array(shape=(4,), typestr="<f4", strides=4),
        Array(shape=(4,), typestr="<f4", strides=("4",)),
        Array(shape=(4,), typestr="<f4", strides=(2**70,)),
        Array(shape=(1,) * 65, typestr="<f4"),
        Array(shape=(4,), typestr="<f4", data=(2**64, False)),
        Array(shape=(4,), typestr="<f4", data=(-8, False)),
        Array(shape=(4,), typestr="<f4", data=(None, False)),
        Array(shape=(4,), typestr="<f4", data=0x2000),
        Array(shape=(10**5000,), typestr="<f4"),
        Anything(__cuda_array_interface__=None),
        Anything(__cuda_array_interface__={"shape": ()}),
    ],
    ids=lambda _: "",
)
def test_malformed_array_interfaces(value: object) -> None:
    with pytest.raises(LinkError, match=r"tensor 'a'.*\[argument-(type|stride)\]"):
        view("a", value)


@pytest.mark.parametrize("device", [None, 2, (2,), (2, 0, 1), ("x", 0), "ab", raises, (10**5000, 0)], ids=lambda _: "")
def test_malformed_devices(device: Any) -> None:
    class Tensor(Capsule):
        def __dlpack_device__(self) -> Any:
            return device() if callable(device) else device

    with pytest.raises(LinkError, match=r"tensor 'a'.*\[argument-(type|device)\]"):
        view("a", Tensor((4,), (1,)))


def test_malformed_capsules() -> None:
    for ndim in (-1, 65, 2**31 - 1):
        tensor = Capsule((4,), (1,))
        tensor._managed.tensor.ndim = ndim
        with pytest.raises(LinkError, match="dimensions, or"):
            view("a", tensor)
    tensor = Capsule((4,), (1,))
    tensor._managed.tensor.shape = None
    with pytest.raises(LinkError, match="dimensions, or"):
        view("a", tensor)
    with pytest.raises(LinkError, match=r"shape .* is none"):
        view("a", Capsule((-4,), (1,)))

    class Failing(Capsule):
        def __dlpack__(self, *, stream: int) -> Any:
            raise ZeroDivisionError("a stranger's")

    with pytest.raises(LinkError, match="cannot be shared through DLPack: ZeroDivisionError"):
        view("a", Failing((4,), (1,)))


def test_numpy_and_lists_are_no_cuda_tensors() -> None:
    numpy = pytest.importorskip("numpy")
    with pytest.raises(LinkError, match="argument-device"):
        view("a", numpy.zeros((2, 2), numpy.float32))
    with pytest.raises(LinkError, match="given list"):
        view("a", [1, 2])


def test_packed_strides() -> None:
    assert packed_strides((2, 3, 4)) == (12, 4, 1)
    assert packed_strides((2, 0, 4)) == (4, 4, 1)
    assert packed_strides(()) == ()


def test_a_tensor_is_no_scalar() -> None:
    """Its value could change behind its address, which is all that a plan remembers."""
    for kind in ("f32", "i32"):
        with pytest.raises(LinkError, match=f"argument 'n': expected {kind}, given Capsule"):
            convert_scalar(Argument("n", "scalar", type=kind), Capsule((), ()))


def test_streams() -> None:
    class Protocol:
        def __cuda_stream__(self) -> tuple[int, int]:
            return 0, 0x40

    class Torch:
        cuda_stream = 0x50

    class Cupy:
        ptr = 0x60

    assert [stream_handle(s, {}) for s in (None, 5, Protocol(), Torch(), Cupy())] == [0, 5, 0x40, 0x50, 0x60]
    with pytest.raises(LinkError, match="expected a CUDA stream, given str"):
        stream_handle("x", {})


def test_a_view_is_taken_as_it_is() -> None:
    seen = TensorView(4096, (2, 3), (3, 1), "bf16", 0)
    assert view("x", seen) is seen


@pytest.mark.parametrize(
    "value",
    [
        *("x", -1, 2**64, 10**5000, 1.5 + 2j, object(), [], b"x"),
        Anything(__cuda_stream__=(0,)),
        Anything(__cuda_stream__=(0, "x")),
        Anything(__cuda_stream__=None),
        Anything(__cuda_stream__=(0, -1)),
        Anything(__cuda_stream__=raises),
        Anything(cuda_stream="x"),
    ],
    ids=lambda _: "",
)
def test_what_is_no_stream(value: Any) -> None:
    with pytest.raises(LinkError, match=r"stream: expected a CUDA stream, given .*\[argument-type\]"):
        stream_handle(value, {})


def test_scalars_of_any_size_and_class() -> None:
    class Odd:
        def __float__(self) -> float:
            raise ZeroDivisionError

        __index__ = __float__

        def __repr__(self) -> str:
            raise ZeroDivisionError

    for kind, value, id in [
        *(("f32", 10**400, "range"), ("f64", 10**5000, "range"), ("i32", 10**5000, "range"), ("u8", -1, "range")),
        *(("f32", Odd(), "type"), ("i32", Odd(), "type"), ("i32", "8", "type"), ("f32", b"8", "type")),
    ]:
        with pytest.raises(LinkError, match=f"argument 'n': expected {kind}, given") as caught:
            convert_scalar(Argument("n", "scalar", type=kind), value)
        assert caught.value.diagnostics[0].id == f"argument-{id}"
