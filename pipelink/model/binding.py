"""What the linker defines for a placed kernel, as data: one list of functions, the frame, and the entry.

:func:`pipelink.analysis.bind.bind` makes a :class:`Binding` of a kernel after ``place``.  Two things are generated
from it: the ``llvm`` dialect by the ``transfer``, ``fold`` and ``entry`` passes, and the CUDA C++ of the monolith.
Neither knows a port's protocol; both only spell the statements below.  So the link and its monolith bind the same
functions to the same constants.

A component refers to its resources through functions ``(int id, void* frame, …)`` with ordinary Itanium names; ``id``
is the instance, a constant in every inlined copy.  ``frame`` points to the linker's per-thread state: the parameter
block, the scalars read from it at role entry (read lazily they would be reloaded in every iteration), the
components' states, and the rings' cursors.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from pipelink.contract.abi import Type, codes, mangle

#: Waits until the tensor copies that the thread issued have read shared memory.
DRAIN: Final = "cp.async.bulk.wait_group.read 0;"


# ---------------------------------------------------------------------------------------------- values and statements
@dataclass(frozen=True)
class Const:
    """An unsigned 32-bit constant."""

    value: int


@dataclass(frozen=True)
class SharedAddress:
    """An address in the CTA's own shared memory.  In a cluster that is not a constant: the address of a byte holds the
    rank of its CTA, the frame's ``window``."""

    address: int


@dataclass(frozen=True)
class Arg:
    """A formal argument of the function."""

    name: str


@dataclass(frozen=True)
class Result:
    """The result of the statement that was given this name."""

    name: str


@dataclass(frozen=True)
class FieldPointer:
    """Address of a frame field (a scalar, a state)."""

    name: str


@dataclass(frozen=True)
class CursorPointer:
    """Address of a ring cursor in the frame."""

    index: int


@dataclass(frozen=True)
class ParameterPointer:
    """Address of a field of the parameter block, in bytes from its start."""

    offset: int


@dataclass(frozen=True)
class Linear:
    """``base + stride * argument``, where ``base`` is a :class:`SharedAddress`."""

    base: int
    stride: int
    argument: str


@dataclass(frozen=True)
class TensorMemory:
    """Tensor-memory address: column ``base``, or ``base + stride * argument``, of the CTA's allocation, which the frame
    names."""

    base: int
    stride: int = 0
    argument: str = ""


@dataclass(frozen=True)
class RoleThread:
    """The calling thread's number within its role: thread index minus ``first``."""

    first: int


Value = (
    Const
    | SharedAddress
    | Arg
    | Result
    | FieldPointer
    | CursorPointer
    | ParameterPointer
    | Linear
    | TensorMemory
    | RoleThread
)


@dataclass(frozen=True)
class Invoke:
    """A call of a transfer's function or of a component's; ``result`` names what it returns.  ``waits``: it waits on an
    mbarrier, and takes a limit in a debug link.  ``convergent``: threads meet in it, so that no copy of the call may be
    made for a part of them."""

    function: str
    arguments: tuple[Value, ...]
    result: str | None = None
    returns: Type = "void"
    member: tuple[str, str, str] | None = None  # component function: path, name, argument codes
    waits: bool = False
    convergent: bool = False


@dataclass(frozen=True)
class Instruction:
    """An instruction whose operand is an immediate of the placement."""

    text: str


@dataclass(frozen=True)
class Return:
    value: Value | None = None


@dataclass(frozen=True)
class Choose:
    """Go on with one of several bodies by the constant argument ``on`` (0, 1, …); each returns."""

    on: str
    bodies: tuple[tuple[Statement, ...], ...]


@dataclass(frozen=True)
class Load:
    """Read a scalar of ``type`` into a field of the frame, ``offset`` bytes behind where an argument points to."""

    field: str
    pointer: str
    offset: int
    type: str


@dataclass(frozen=True)
class Select:
    """Do one of several things by the value of an argument at run time, or nothing; then go on."""

    on: str
    cases: tuple[tuple[int, tuple[Statement, ...]], ...]


Statement = Invoke | Instruction | Return | Choose | Load | Select
Body = tuple[Statement, ...]


@dataclass
class Definition:
    """One function that the linker defines: a body per instance id."""

    path: str  # acme::tma_loader::ab
    name: str  # pl_acquire
    arguments: tuple[tuple[str, Type], ...]
    returns: Type
    bodies: dict[int, Body] = field(default_factory=dict[int, Body])

    @property
    def symbol(self) -> str:
        return mangle(self.path, self.name, codes(self.arguments))


# ---------------------------------------------------------------------------------------------- frame and entry
@dataclass(frozen=True)
class Scalar:
    """A frame field that holds a parameter: read at ``offset`` of the block, or the link-time ``constant``.
    ``operand``: it has no value until an instruction gives it one."""

    name: str
    type: str  # i32, f32, pointer, …
    offset: int = 0
    constant: int | float | None = None
    operand: bool = False


@dataclass(frozen=True)
class State:
    """A frame field of a passive component: ``words`` of ``unit`` bytes, zero when the kernel begins."""

    name: str
    bytes: int
    align: int

    @property
    def unit(self) -> int:
        return min(self.align, 8)

    @property
    def words(self) -> int:
        return -(-self.bytes // self.unit)


@dataclass(frozen=True)
class Frame:
    """Per-thread state: parameter block, states by falling alignment, scalars, tensor memory, cursors (stage and parity
    each)."""

    scalars: tuple[Scalar, ...]
    states: tuple[State, ...]
    parities: tuple[int, ...]  # initial parity of each cursor
    window: bool = False  # a cluster: it also holds the CTA's shared-memory window
    tensor_memory: bool = False  # holds where the CTA's tensor memory begins

    @property
    def align(self) -> int:
        return max([16, *(state.align for state in self.states)])


@dataclass(frozen=True)
class RoleCall:
    """One role of one instance: the function to call, and by how many of the warps' threads."""

    instance: int
    path: str
    threads: int
    one_thread: bool
    before: Body = ()  # on the role's frame
    after: tuple[Invoke, ...] = ()


@dataclass(frozen=True)
class RoleEntry:
    """Warps and what runs on them, on one frame: a role, or the roles of an exclusive group, one after the other.  Then
    ``meeting`` stands between any two of them, and every thread takes part in it."""

    first: int  # thread index
    threads: int
    calls: tuple[RoleCall, ...]
    meeting: Body = ()
    done: tuple[Invoke, ...] = ()  # in a debug link: after the last

    @property
    def one_thread(self) -> bool:
        """Whether a single thread runs all of it."""
        return len(self.calls) == 1 and self.calls[0].one_thread

    def narrower(self, call: RoleCall) -> bool:
        """Whether some of the warps' threads leave out a role that others run."""
        return len(self.calls) > 1 and (call.one_thread or call.threads < self.threads)


@dataclass(frozen=True)
class Region:
    """A run of warpgroups that share roles, and so a register count; ``end`` is the first thread after it."""

    first: int
    end: int
    registers: int | None
    roles: tuple[RoleEntry, ...]


@dataclass(frozen=True)
class Mbarriers:
    address: int
    count: int
    arrivals: int


@dataclass(frozen=True)
class Words:
    address: int
    count: int
    value: int


@dataclass(frozen=True)
class Allocation:
    """Tensor memory of the CTA: the warp that starts at thread ``first`` allocates ``columns``, leaves their address at
    ``word`` of shared memory, and frees them when every role is done."""

    word: int
    columns: int
    first: int
    pair: bool = False  # together with the other CTA of the cluster (cta_group 2)

    @property
    def functions(self) -> tuple[str, str]:
        """Those that allocate and free."""
        return ("pl_pair_allocate", "pl_pair_free") if self.pair else ("pl_tmem_allocate", "pl_tmem_free")


@dataclass(frozen=True)
class EntryPlan:
    """The kernel function."""

    kernel: str
    threads: int
    min_ctas: int
    entry_registers: int
    parameter_bytes: int
    parameter_align: int
    mbarriers: tuple[Mbarriers, ...]
    words: tuple[Words, ...]
    regions: tuple[Region, ...]
    paired: bool = False  # CTAs of a cluster reach into each other: they start and end together
    tensor_memory: Allocation | None = None
    drain: bool = False  # components store tiles by TMA: what they read must be there until they have


@dataclass(frozen=True)
class Binding:
    """Everything generated for one kernel.  ``ports`` come from the transfers, ``accessors`` from the placement."""

    ports: tuple[Definition, ...]
    accessors: tuple[Definition, ...]
    frame: Frame
    entry: EntryPlan
    transfer_sources: tuple[str, ...]  # files of pipelink/transfers whose functions are called
