"""The block behind the parameters of a watched kernel, for which a debug link reserves room and which the runtime
fills: ``pl_watch`` of ``pipelink/transfers/watch.cuh``."""

from __future__ import annotations

import struct
from typing import Final

#: limit, control, records, events; record_capacity, lanes, event_capacity, traced_ctas, stays, warps
BLOCK: Final = struct.Struct("<QQQQIIIIII")
BLOCK_ALIGN: Final = 8  # bytes
