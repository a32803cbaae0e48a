"""An order among the warpgroups of a role (``turns.cu``): its barriers, and its code.

No connection carries it.  A turn goes round by named barriers, one for each warpgroup; what the linker adds where the
role begins and ends makes the first turn and takes back the one that nobody needs any more.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from pipelink.ir.placement import NamedBarrier
from pipelink.ir.views import Kernel, Role
from pipelink.model.binding import Const, Invoke, Return
from pipelink.model.lifetimes import Lifetimes, RoleKey
from pipelink.model.watch import PASS, TAKE
from pipelink.target import WARP_THREADS, WARPGROUP_WARPS
from pipelink.transfers.binder import Binder, placed_instance

SOURCE: Final = "turns.cu"
WARPGROUP: Final = WARPGROUP_WARPS * WARP_THREADS  # threads
#: Threads of each barrier: of the warpgroup that waits there, and of the one that passes it the turn.
MEETING: Final = 2 * WARPGROUP
ID_BITS: Final = 4  # of a named barrier, as turns.cu has them


def warpgroups(role: Role) -> int:
    """How many warpgroups of a role can take turns; 0 where it is not made of several whole ones."""
    whole = not role.one_thread and role.warps % WARPGROUP_WARPS == 0
    return role.warps // WARPGROUP_WARPS if whole and role.warps > WARPGROUP_WARPS else 0


@dataclass(frozen=True)
class Order:
    """The order of a placed role's warpgroups: the ``barriers`` by warpgroup, and the role's first thread."""

    instance: str
    name: str
    role: RoleKey
    first: int
    barriers: tuple[NamedBarrier, ...]

    def begin(self) -> Invoke:
        """What the role's threads call before it begins."""
        last = self.first + WARPGROUP * (len(self.barriers) - 1)
        return Invoke("pl_turns_begin", (Const(self.barriers[0].id), Const(last)), convergent=True)

    def end(self) -> Invoke:
        """What they call when it has ended."""
        return Invoke("pl_turns_end", (Const(self.barriers[0].id), Const(self.first)), convergent=True)


def orders(kernel: Kernel, lifetimes: Lifetimes) -> Iterator[Order]:
    """Those of a placed kernel."""
    for name, instance in kernel.instances.items():
        for turns, barriers in placed_instance(instance).turns.items():
            (user,) = lifetimes.users(name, lifetimes.components[name].turns[turns].role)
            of, _, role = user.partition("::")
            first = placed_instance(kernel.instances[of]).roles[role].first_thread
            yield Order(name, turns, user, first, barriers)


def bind(binder: Binder, order: Order) -> None:
    """Define how a warpgroup takes its turn, and passes it to the next."""
    instance, barriers = binder.instances[order.instance], order.barriers
    for name, ids in ((TAKE, barriers), (PASS, (*barriers[1:], barriers[0]))):
        call = Invoke(f"pl_turns_{name}", (Const(_packed(ids)), Const(order.first)), convergent=True)
        watched = binder.watch.waits(order.instance, order.name, name, call)
        binder.operation(instance, "turns", order.name, f"pl_{name}", *watched, Return())


def _packed(barriers: Sequence[NamedBarrier]) -> int:
    return sum(barrier.id << ID_BITS * number for number, barrier in enumerate(barriers))
