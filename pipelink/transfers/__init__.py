"""The transfers: how data go from one port to another.  :mod:`pipelink.transfers.base` says what a transfer is.

``check`` lists the legal transfers of each connection in the order of :data:`TRANSFERS`, which is the order of
preference; ``place`` chooses one; from then on every step asks :func:`transfer_of` a connection.
"""

from __future__ import annotations

from typing import Final

from pipelink.ir.placement import ConnectionPlacement
from pipelink.ir.views import Connect, Kernel, Port
from pipelink.support.diagnostics import error
from pipelink.transfers import cluster_barrier
from pipelink.transfers.base import CLUSTER_CTAS, Refusal, Transfer
from pipelink.transfers.call import Call
from pipelink.transfers.cluster import Cluster
from pipelink.transfers.convert import RingConvert
from pipelink.transfers.local import RingLocal
from pipelink.transfers.pair import PairTma, PairTmem
from pipelink.transfers.ring import RINGS
from pipelink.transfers.signal import Signal
from pipelink.transfers.tmem import Tmem
from pipelink.transfers.token import Token

__all__ = [
    "BY_NAME", "CLUSTER_CTAS", "LOCAL", "TRANSFERS", "Refusal", "Transfer", "legal", "of_kind", "placement_of",
    "transfer_of",
]  # fmt: skip

#: The ring of a port that is both ends.
LOCAL: Final = RingLocal()

#: All transfers, in order of preference.
TRANSFERS: Final[tuple[Transfer, ...]] = (
    *RINGS, RingConvert(), LOCAL, Call(), Token(), Cluster(), Tmem(), PairTma(), PairTmem(), Signal(),
)  # fmt: skip

BY_NAME: Final[dict[str, Transfer]] = {transfer.name: transfer for transfer in TRANSFERS}
_OF_KIND: Final[dict[str, Transfer]] = {transfer.kind: transfer for transfer in reversed(TRANSFERS)}


def of_kind(kind: str) -> Transfer:
    """The first transfer between ports of a kind, which knows what such ports must agree on."""
    return _OF_KIND[kind]


def transfer_of(connect: Connect) -> Transfer:
    """The transfer of a placed connection.  Raises LinkError ``bad-placement`` where there is none of its name."""
    name = connect.carrier
    found = BY_NAME.get(name or "")
    if found is None:
        what = f"'{connect.source}' to '{connect.target}'"
        why = f"the placement of {what} has no 'transfer'" if name is None else (
            f"{what} is carried by '{name}', which is no transfer"
        )  # fmt: skip
        raise error("bad-placement", why, connect.location)
    return found


def placement_of(connect: Connect) -> ConnectionPlacement | None:
    """What was placed for a connection; None before ``place``.  Raises LinkError ``bad-placement``."""
    return connect.placed(transfer_of(connect).form) if connect.placement_attribute else None


def joined(kernel: Kernel) -> bool:
    """Whether CTAs of a placed kernel's clusters reach into each other in ways for which they begin and end
    together."""
    return cluster_barrier.in_clusters(kernel) or any(transfer_of(c).joins_ctas(c) for c in kernel.connects)


def legal(source: Port, target: Port) -> tuple[list[str], dict[str, Refusal]]:
    """The names of the legal transfers in order of preference, and why each other one is not."""
    names: list[str] = []
    refused: dict[str, Refusal] = {}
    for transfer in TRANSFERS:
        why = transfer.refusal(source, target)
        if why is None:
            names.append(transfer.name)
        else:
            refused[transfer.name] = why
    return names, refused
