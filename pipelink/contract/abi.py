"""The device ABI: the functions through which a component's code reaches its ports and resources.

Every function is a static member of a class in the component's namespace, ``acme::loader::ab::pl_acquire``, and begins
with ``(int id, void* frame)``: the instance, and what the linker keeps for a thread.  Its symbol is the Itanium name;
no compound type occurs twice in a signature, so there are no substitutions.  Headers declare these functions, the
linker and the monolith define them, audits read calls of them, and all take name and signature from this table.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, Literal

#: ``pointer`` is to a parameter's value, ``storage`` to what the callee may write, ``map`` a tensor map, ``pack`` the
#: arguments and the result of a call.
Type = Literal["void", "unsigned", "int", "pointer", "storage", "map", "pack"]
Arguments = tuple[tuple[str, Type], ...]

#: Itanium codes of parameters.
_CODES: Final[dict[Type, str]] = {
    "unsigned": "j", "int": "i", "pointer": "PKv", "storage": "Pv", "map": "PKv", "pack": "Pc",
}  # fmt: skip
CXX: Final[dict[Type, str]] = {
    "void": "void", "unsigned": "unsigned", "int": "int", "pointer": "const void*", "storage": "void*",
    "map": "const void*", "pack": "char*",
}  # fmt: skip
#: Types of the llvm dialect.
LLVM: Final[dict[Type, str]] = {
    "void": "void", "unsigned": "i32", "int": "i32", "pointer": "!llvm.ptr", "storage": "!llvm.ptr",
    "map": "!llvm.ptr", "pack": "!llvm.ptr",
}  # fmt: skip
#: Types of NVVM IR as LLVM 7 reads it.
NVVM: Final[dict[Type, str]] = {kind: "i8*" if name.endswith("ptr") else name for kind, name in LLVM.items()}
#: What every function begins with.
FIRST: Final[Arguments] = (("id", "int"), ("frame", "storage"))


def codes(arguments: Iterable[tuple[str, Type]]) -> str:
    """The mangled parameters of a function with these ``arguments`` after the instance and the frame."""
    return "".join(_CODES[kind] for _, kind in (*FIRST, *arguments))


def mangle(path: str, name: str, codes: str) -> str:
    """Itanium name of a function in namespaces and classes: ``path`` is ``acme::loader::ab``."""
    return "_ZN" + "".join(f"{len(part)}{part}" for part in f"{path}::{name}".split("::")) + "E" + codes


@dataclass(frozen=True)
class Function:
    """One function.  ``arguments`` come after :data:`FIRST`; ``verb`` is the step of a protocol that it takes."""

    name: str
    arguments: Arguments = ()
    returns: Type = "void"
    result: str = ""  # what the result is
    verb: str = ""
    definer: Literal["linker", "component"] = "linker"

    @property
    def codes(self) -> str:
        """The parameters as its symbol ends with them."""
        return codes(self.arguments)

    @property
    def types(self) -> tuple[Type, ...]:
        """Of every parameter, the instance and the frame included."""
        return tuple(kind for _, kind in (*FIRST, *self.arguments))

    def symbol(self, path: str) -> str:
        """Its Itanium name in the class ``path``."""
        return mangle(path, self.name, self.codes)


def prototype(path: str, name: str, arguments: Arguments, returns: Type) -> str:
    """The head of a definition in C++."""
    given = ", ".join(f"{CXX[kind]} {called}" for called, kind in (*FIRST, *arguments))
    return f"{CXX[returns]} {path}::{name}({given})"


@dataclass(frozen=True)
class Resource:
    """What a port or resource is in C++: a class, whose name is that of the declaration and ``suffix``."""

    suffix: str
    functions: dict[str, Function]


_STAGE: Final[Arguments] = (("stage", "unsigned"),)
_INDEX: Final[Arguments] = (("index", "unsigned"),)
_COPY: Final[Arguments] = (*_STAGE, ("part", "int"), ("offset", "unsigned"), ("map", "map"))
RANKS: Final = (1, 2, 3, 4, 5)  # dimensions of a tensor copy


def _copy(rank: int) -> Function:
    coordinates: Arguments = tuple((f"c{axis}", "int") for axis in range(rank))
    return Function(f"pl_tma{rank}", (*_COPY, *coordinates), verb="copy")


def _resource(*functions: Function, suffix: str = "") -> Resource:
    return Resource(suffix, {function.name: function for function in functions})


_SLOTS: Final = (
    Function("pl_address", (*_STAGE, ("part", "int")), "unsigned", "address"),
    Function("pl_stages", (), "unsigned", "depth of the ring"),
)
_ACQUIRE: Final = Function("pl_acquire", (), "unsigned", "stage", verb="acquire")
_COMMIT: Final = Function("pl_commit", _STAGE, verb="commit")
_WAIT: Final = Function("pl_wait", (), "unsigned", "stage", verb="wait")
_RELEASE: Final = Function("pl_release", _STAGE, verb="release")
#: By kind and direction of a port, and by kind of the other resources.
RESOURCES: Final[dict[str, Resource]] = {
    "stream out": _resource(*_SLOTS, _ACQUIRE, _COMMIT, Function("pl_end", verb="end"), *map(_copy, RANKS)),
    "stream in": _resource(*_SLOTS, _WAIT, _RELEASE, Function("pl_ended", _STAGE, "unsigned", "0 or 1", verb="ended")),
    "stream local": _resource(*_SLOTS, _ACQUIRE, _COMMIT, _WAIT, _RELEASE),
    "token out": _resource(Function("pl_pass", verb="pass")),
    "token in": _resource(Function("pl_take", verb="take")),
    "signal out": _resource(
        Function("pl_signal", (*_INDEX, ("count", "unsigned"), ("rank", "unsigned")), verb="signal")
    ),
    "signal in": _resource(Function("pl_await", (*_INDEX, ("least", "unsigned")), verb="await")),
    "call calls": _resource(Function("pl_call", (("pack", "pack"),), verb="call"), suffix="_port"),
    "call answers": _resource(Function("pl_answer", (("pack", "pack"),), definer="component"), suffix="_port"),
    "role": _resource(
        Function("pl_first_thread", (), "unsigned", "thread index"), Function("pl_enter", definer="component")
    ),
    "barrier": _resource(
        Function("pl_id", (), "unsigned", "barrier"), Function("pl_threads", (), "unsigned", "participants")
    ),
    "mbarrier": _resource(
        Function("pl_address", _INDEX, "unsigned", "address"),
        Function("pl_wait", (*_INDEX, ("parity", "unsigned")), verb="wait"),
    ),
    "cluster_barrier": _resource(Function("pl_sync", verb="sync")),
    "turns": _resource(Function("pl_take", verb="take"), Function("pl_pass", verb="pass")),
    "dispatch": _resource(Function("pl_run", (("opcode", "unsigned"), ("operands", "pointer")), verb="run")),
    "smem": _resource(Function("pl_address", (), "unsigned", "address"), suffix="_smem"),
    "tmem": _resource(Function("pl_address", (), "unsigned", "tensor-memory address")),
    "state": _resource(Function("pl_address", (), "storage", "of the thread's state"), suffix="_state"),
    "param": _resource(Function("pl_address", (), "pointer", "to the value"), suffix="_param"),
}


def function(kind: str, direction: str, name: str) -> Function:
    """The function ``name`` of a port of ``kind`` and ``direction``, or of a resource, whose direction is empty.
    Raises KeyError."""
    return RESOURCES[f"{kind} {direction}".strip()].functions[name]


def class_of(kind: str, direction: str, name: str) -> str:
    """The class of the port or resource ``name`` in its component's namespace.  Raises KeyError."""
    return name + RESOURCES[f"{kind} {direction}".strip()].suffix
