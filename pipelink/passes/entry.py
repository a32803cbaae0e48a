"""``entry``: the kernel function — barriers, register split, role dispatch, frames."""

from __future__ import annotations

from dataclasses import dataclass

from pipelink.analysis.bind import bind_all
from pipelink.contract.abi import function
from pipelink.ir.views import Kernel, program
from pipelink.model.binding import DRAIN, Binding, Const, EntryPlan, Invoke, Region, Result, RoleCall, RoleEntry
from pipelink.passes.codegen import SCALAR_TYPES, TENSOR_MEMORY, Writer, functions, insert, layout_frame
from pipelink.support.diagnostics import Diagnostics, error
from pipelink.support.mlir import ir
from pipelink.target import WARP_THREADS

_OF_CUDA = ("vprintf", "__assertfail", "malloc", "free")  # what a component's code may call of the driver


def _decimal(value: float) -> str:
    """A float as MLIR reads it, which asks for a point: ``1.0e-05``."""
    text = repr(float(value))
    return text if "." in text else text.replace("e", ".0e")


class _EntryWriter(Writer):
    """The kernel function, shaped like front-end output: branches, and allocas in the entry block."""

    def __init__(self, binding: Binding) -> None:
        super().__init__(layout_frame(binding.frame))
        self.binding = binding
        self.plan: EntryPlan = binding.entry
        self.results: dict[str, str] = {}

    def block(self, name: str) -> None:
        self.lines.append(f"  ^{name}:")

    def write(self) -> str:
        plan = self.plan
        one = self.new("llvm.mlir.constant(1 : i32) : i32")
        self.frames: dict[RoleEntry, str] = {}
        for region in plan.regions:
            for role in region.roles:
                self.frames[role] = self.new(
                    f"llvm.alloca {one} x {self.layout.struct} "
                    f"{{alignment = {self.layout.align} : i64}} : (i32) -> !llvm.ptr"
                )
        self.thread = self.new("nvvm.read.ptx.sreg.tid.x : i32")
        self.window: str | None = None
        if self.binding.frame.window:
            self.declared["pl_cluster_window"] = "  llvm.func @pl_cluster_window() -> i32"
            self.window = self.new("llvm.call @pl_cluster_window() : () -> i32")
        if plan.mbarriers or plan.words or plan.tensor_memory:
            self.set_up()
        self.dispatch()
        self.block("done")
        if plan.drain:
            self.asm(DRAIN, "~{memory}")
        if plan.paired:  # the peer may still copy into this CTA or arrive at its barriers
            self.call("pl_cluster_leave")
        elif plan.tensor_memory is not None:
            self.call("pl_tmem_leave")
        self.free_tensor_memory()
        self.put("llvm.return")
        parameters = f"!llvm.struct<(array<{max(plan.parameter_bytes, 1)} x i8>)>"
        head = (
            f"  llvm.func @{plan.kernel}(%params: !llvm.ptr {{llvm.byval = {parameters}, "
            f"llvm.align = {plan.parameter_align} : i64, nvvm.grid_constant}}) attributes {{nvvm.kernel, "
            f"nvvm.maxntid = array<i32: {plan.threads}>, nvvm.minctasm = {plan.min_ctas} : i32}} {{"
        )
        return "\n".join([head, *self.lines, "  }"])

    def block_pointer(self, offset: int) -> str:
        return self.new(f"llvm.getelementptr inbounds %params[{offset}] : (!llvm.ptr) -> !llvm.ptr, i8")

    def own(self, address: int) -> str:
        """An address in the CTA's own shared memory."""
        return self.constant(address) if self.window is None else self.in_window(self.window, address)

    def call(self, function: str) -> None:
        """A transfer's function without arguments."""
        self.declared[function] = f"  llvm.func @{function}()"
        self.put(f"llvm.call @{function}() : () -> ()")

    def set_up(self) -> None:
        """One thread initialises the mbarriers and words; the fences make them visible to the async proxy and to
        TMA (PTX ISA, mbarrier.init and fence.mbarrier_init).  Then all threads meet, of both CTAs where they are
        paired."""
        is_first = self.new(f'llvm.icmp "eq" {self.thread}, {self.constant(0)} : i32')
        self.put(f"llvm.cond_br {is_first}, ^set_up, ^ready")
        self.block("set_up")
        for group in self.plan.mbarriers:
            for index in range(group.count):
                self.asm(
                    "mbarrier.init.shared::cta.b64 [$0], $1;", "r,r,~{memory}",
                    self.own(group.address + 8 * index), self.constant(group.arrivals),
                )  # fmt: skip
        for words in self.plan.words:
            for index in range(words.count):
                self.asm(
                    "st.shared.b32 [$0], $1;", "r,r,~{memory}",
                    self.own(words.address + 4 * index), self.constant(words.value),
                )  # fmt: skip
        if self.plan.mbarriers:
            self.asm("fence.mbarrier_init.release.cluster;", "~{memory}")
            self.asm("fence.proxy.async.shared::cta;", "~{memory}")
        self.put("llvm.br ^ready")
        self.block("ready")
        self.allocate_tensor_memory()

    def meet(self) -> None:
        if self.plan.paired:
            self.call("pl_cluster_meet")
        else:
            self.put("nvvm.barrier")

    def allocate_tensor_memory(self) -> None:
        """Meet, after one warp has allocated tensor memory, if there is any: then every thread reads its address."""
        memory = self.plan.tensor_memory
        if memory is None:
            self.meet()
            return
        self.branch_to_warp(memory.first, "allocate", "allocated")
        word = {"word": self.own(memory.word)}
        self.invoke(Invoke(memory.functions[0], (Result("word"), Const(memory.columns))), word)
        self.put("llvm.br ^allocated")
        self.block("allocated")
        self.meet()
        self.results["word"] = self.own(memory.word)
        self.invoke(Invoke("pl_tmem_base", (Result("word"),), "base", "unsigned"), self.results)

    def free_tensor_memory(self) -> None:
        """The warp that allocated it frees it; all threads have left their roles and met."""
        memory = self.plan.tensor_memory
        if memory is None:
            return
        self.branch_to_warp(memory.first, "free", "end")
        self.invoke(Invoke(memory.functions[1], (Result("base"), Const(memory.columns))), self.results)
        self.put("llvm.br ^end")
        self.block("end")

    def branch_to_warp(self, first: int, inside: str, after: str) -> None:
        """Open the block that one warp runs."""
        chosen = self.is_among(first, WARP_THREADS)
        self.put(f"llvm.cond_br {chosen}, ^{inside}, ^{after}")
        self.block(inside)

    def dispatch(self) -> None:
        regions = self.plan.regions
        for index, region in enumerate(regions):
            if index + 1 < len(regions):
                inside = self.new(f'llvm.icmp "ult" {self.thread}, {self.constant(region.end)} : i32')
                self.put(f"llvm.cond_br {inside}, ^region{index}, ^after{index}")
                self.block(f"region{index}")
            self.region(region, index)
            if index + 1 < len(regions):
                self.block(f"after{index}")

    def region(self, region: Region, number: int) -> None:
        """setmaxnreg of the warpgroups, then each role's threads."""
        change = register_change(region, self.plan)
        if change:
            self.asm(f"setmaxnreg.{change}.sync.aligned.u32 {region.registers};", "")
        for index, role in enumerate(region.roles):
            name = f"role{number}_{index}"
            following = f"{name}_else" if index + 1 < len(region.roles) else "done"
            otherwise = following
            if role.one_thread and following != "done":  # by warps first: the threads alone would become a switch
                inside = self.new(f'llvm.icmp "ult" {self.thread}, {self.constant(role.first + role.threads)} : i32')
                self.put(f"llvm.cond_br {inside}, ^{name}_warps, ^{following}")
                self.block(f"{name}_warps")
                otherwise = "done"
            if not role.one_thread and (role.first, role.first + role.threads) == (region.first, region.end):
                self.role(role)
                continue
            chosen = self.is_among(role.first, 1 if role.one_thread else role.threads)
            self.put(f"llvm.cond_br {chosen}, ^{name}, ^{otherwise}")
            self.block(name)
            self.role(role)
            if following != "done":
                self.block(following)
        if not region.roles:
            self.put("llvm.br ^done")

    def role(self, role: RoleEntry) -> None:
        """Fill the frame and call the role, or those of an exclusive group one after the other."""
        frame, binding = self.frames[role], self.binding
        slot = self.frame_field(frame, self.layout.fields["params"])
        self.put(f"llvm.store %params, {slot} : !llvm.ptr, !llvm.ptr")
        for state in binding.frame.states:
            kind = f"i{8 * state.unit}"
            for word in range(state.words):
                zero = self.new(f"llvm.mlir.constant(0 : {kind}) : {kind}")
                slot = self.frame_field(frame, self.layout.fields[state.name], word)
                self.put(f"llvm.store {zero}, {slot} : {kind}, !llvm.ptr")
        for scalar in binding.frame.scalars:
            if scalar.operand:
                continue
            kind = SCALAR_TYPES[scalar.type]
            if scalar.constant is None:
                at = self.new(f"llvm.getelementptr inbounds %params[{scalar.offset}] : (!llvm.ptr) -> !llvm.ptr, i8")
                value = self.new(f"llvm.load {at} : !llvm.ptr -> {kind}")
            elif kind in ("f32", "f64"):
                value = self.new(f"llvm.mlir.constant({_decimal(scalar.constant)} : {kind}) : {kind}")
            else:
                value = self.new(f"llvm.mlir.constant({int(scalar.constant)} : {kind}) : {kind}")
            slot = self.frame_field(frame, self.layout.fields[scalar.name])
            self.put(f"llvm.store {value}, {slot} : {kind}, !llvm.ptr")
        if self.window is not None:
            slot = self.frame_field(frame, self.layout.fields["window"])
            self.put(f"llvm.store {self.window}, {slot} : i32, !llvm.ptr")
        if binding.frame.tensor_memory:
            slot = self.frame_field(frame, self.layout.fields[TENSOR_MEMORY])
            self.put(f"llvm.store {self.results['base']}, {slot} : i32, !llvm.ptr")
        for index, parity in enumerate(binding.frame.parities):
            for member, value in enumerate((0, parity)):
                slot = self.frame_field(frame, self.layout.cursors, index, member)
                self.put(f"llvm.store {self.constant(value)}, {slot} : i32, !llvm.ptr")
        self.frame = frame
        for number, call in enumerate(role.calls):
            if number:
                self.body(role.meeting, "")
            self.call_role(role, call)
        for call in role.done:
            self.invoke(call, {})
        self.put("llvm.br ^done")

    def call_role(self, role: RoleEntry, call: RoleCall) -> None:
        """Call the function of a role, in the threads that run it."""
        name = f"call{self.count}"
        if role.narrower(call):
            chosen = self.is_among(role.first, 1 if call.one_thread else call.threads)
            self.put(f"llvm.cond_br {chosen}, ^{name}, ^{name}_done")
            self.block(name)
        self.body(call.before, "")
        symbol = function("role", "", "pl_enter").symbol(call.path)
        self.declared[symbol] = f"  llvm.func @{symbol}(i32, !llvm.ptr)"
        self.put(f"llvm.call @{symbol}({self.constant(call.instance)}, {self.frame}) : (i32, !llvm.ptr) -> ()")
        for added in call.after:
            self.invoke(added, {})
        if role.narrower(call):
            self.put(f"llvm.br ^{name}_done")
            self.block(f"{name}_done")

    def is_among(self, first: int, threads: int) -> str:
        """Whether the thread is one of ``threads`` from ``first`` on."""
        if threads == 1:
            return self.new(f'llvm.icmp "eq" {self.thread}, {self.constant(first)} : i32')
        number = self.thread
        if first:
            number = self.new(f"llvm.sub {self.thread}, {self.constant(first)} : i32")
        return self.new(f'llvm.icmp "ult" {number}, {self.constant(threads)} : i32')


def register_change(region: Region, plan: EntryPlan) -> str | None:
    """``inc`` or ``dec``, or None where the region keeps what the kernel starts with."""
    if region.registers is None or region.registers == plan.entry_registers:
        return None
    return "dec" if region.registers < plan.entry_registers else "inc"


def generate(kernel: Kernel, binding: Binding) -> None:
    """Put the kernel function into the module and remove the linker's own operations.

    Raises LinkError ``reserved-name`` where another function has the kernel's name."""
    writer = _EntryWriter(binding)
    text = writer.write()
    if kernel.name in {*writer.declared, *functions(kernel.op), *_OF_CUDA}:
        message = f"kernel '{kernel.name}' has the name of a device function that it is linked with"
        raise error("reserved-name", message, kernel.location, hint="give it another name")
    insert(kernel.op, [text], writer.declared)
    for op in [op.operation for op in kernel.op.regions[0].blocks[0].operations]:
        if op.name.startswith("pipelink."):
            op.erase()


@dataclass(frozen=True)
class EntryPass:
    """Generates the kernel function.

    Before: every kernel is placed, and ``transfer`` and ``fold`` have run.  After: the kernel's module holds nothing
    but ``llvm.func`` operations, one of them with ``nvvm.kernel``, launch bounds and ``nvvm.minctasm``: it sets up the
    mbarriers, allocates tensor memory, splits the registers with setmaxnreg (immediates), dispatches warps to roles,
    fills each role's frame with the parameters and calls it, the roles of an exclusive group one after the other; when
    all roles are done, it waits for stores by TMA that still read shared memory, and tensor memory is freed.
    Rejects: ``not-placed``, ``transfer-without-code``, ``reserved-name``.

    Example: a placed ``module @gemm`` becomes one with ``llvm.func @gemm(…) attributes {nvvm.kernel, …}``.
    """

    def apply(self, module: ir.Operation, diagnostics: Diagnostics) -> None:
        for kernel, binding in bind_all(program(module), diagnostics):
            generate(kernel, binding)
