"""Numbers as a launch passes them: a value that a caller gives, as a Python number that its type holds."""

from __future__ import annotations

import struct
from typing import Final

from pipelink.support.diagnostics import error, shown
from pipelink.support.launch import SCALARS

PACKERS: Final = {name: struct.Struct("<" + code) for name, code in SCALARS.items()}


def convert(what: str, type_: str, value: object) -> int | float:
    """``value`` as a number of type ``type_``; ``what`` is whose it is, for messages.

    Raises LinkError ``argument-type`` or ``argument-range``."""
    number: int | float
    try:
        if hasattr(value, "__dlpack__"):
            raise TypeError  # a tensor's value may change behind its address
        if type_.startswith("f"):
            if isinstance(value, str | bytes | bytearray):
                raise TypeError
            number = float(value)  # type: ignore[arg-type]
        elif isinstance(value, bool):
            number = int(value)
        else:
            number = int(value.__index__())  # type: ignore[attr-defined]
        PACKERS[type_].pack(number)
    except (struct.error, OverflowError) as problem:
        message = f"{what}: expected {type_}, given {shown(value)}, which it cannot hold"
        raise error("argument-range", message) from problem
    except Exception as problem:  # of a stranger's class, too
        message = f"{what}: expected {type_}, given {type(value).__name__} {shown(value)}"
        raise error("argument-type", message) from problem
    return number
