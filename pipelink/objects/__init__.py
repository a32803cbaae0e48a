"""Component objects: what compilers write and linkers read.

>>> for item in read_objects("tma_loader.o"):       # or an archive
...     to_ir.declare(item, module)                  # contract -> component modules
...     images = item.select(target("sm_90a"))       # LTO-IR to link

``from pipelink.objects import to_ir`` loads the MLIR bindings; nothing else here does.
"""

from pipelink.objects.contract import Contract, from_ltoir
from pipelink.objects.model import ContractComponent, Image, Object, Record
from pipelink.objects.reader import parse_objects, read_objects
from pipelink.objects.writer import object_bytes, write_object

__all__ = [
    "Contract",
    "ContractComponent",
    "Image",
    "Object",
    "Record",
    "from_ltoir",
    "object_bytes",
    "parse_objects",
    "read_objects",
    "write_object",
]
