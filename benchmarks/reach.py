"""How far knowledge of one port reaches: the files and functions of ``pipelink/`` that see port ``ab`` of the GEMM.

``python -m benchmarks.reach`` links the example GEMM (examples/gemm) in this process, without a cache, and looks at
each frame of ``pipelink/`` when it begins and when it ends.  Before anything is counted, the objects are compiled, and
the GEMM is composed and linked once, so that neither composing nor ``pl-cc`` nor imports are counted.

A *function* sees the port if an argument or a local variable of one of its frames (``self`` included) is one of these,
or is a list, tuple, set, mapping or dataclass with one of these directly in it, as element, key, value or field:

- the port's *name*: the text ``ab``, a text that ends in ``::@ab``, or a reference whose ``path`` ends in ``ab``;
- the port's *view*: an object with ``name`` ``ab`` whose class is called ``Port``;
- the connection's *placement*: a mapping with the keys ``transfer`` and ``full``, or an instance of a dataclass that is
  defined in a module ``pipelink.*placement*`` and has a field ``full``; ``full``, the address of the ring's first full
  barrier in shared memory in bytes, being that of the ring of ``ab``, which alone of the GEMM's connections is a ring.

Comprehensions, generator expressions and lambdas belong to the function that they stand in.  A *file* sees the port if
one of its functions does; top-level code counts as a function.  Threads that the link starts count, too.
"""

from __future__ import annotations

import dataclasses
import importlib.util
import re
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import FrameType, ModuleType
from typing import Any

import pipelink
from pipelink.components.gemm import Objects

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = Path(pipelink.__file__).resolve().parent
EXAMPLE = ROOT / "examples" / "gemm" / "gemm.py"
PORT = "ab"
_DEFINES_PLACEMENT = re.compile(r"pipelink\..*placement")

#: A file of the package, by its path in it, and the qualified name of a function.
Function = tuple[str, str]


def _full(value: object) -> object:
    """The address of the first full barrier, of a value that is a ring's placement; None of any other."""
    if isinstance(value, Mapping):
        return value.get("full") if "transfer" in value else None  # pyright: ignore
    if dataclasses.is_dataclass(value) and _DEFINES_PLACEMENT.match(type(value).__module__):
        return getattr(value, "full", None)
    return None


def _members(value: object) -> Iterator[object]:
    if isinstance(value, Mapping):
        yield from list(value.keys())
        yield from list(value.values())
    elif isinstance(value, (list, tuple, set, frozenset)):
        yield from list(value)
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        yield from (getattr(value, field.name, None) for field in dataclasses.fields(value))


def _rings(value: object) -> Iterator[object]:
    """The addresses of all rings in a placement, whatever it consists of."""
    if (found := _full(value)) is not None:
        yield found
    for member in _members(value):
        yield from _rings(member)


@dataclasses.dataclass
class Reach:
    """Collects, as a profile function, which functions see the port.  ``full`` is the address of its ring."""

    full: object
    found: set[Function] = dataclasses.field(default_factory=set[Function])

    def is_port(self, value: object) -> bool:
        """Whether a value is the port's name, view or placement."""
        if isinstance(value, str):
            return value == PORT or value.endswith(f"::@{PORT}")
        if type(value).__name__ == "Port":
            return getattr(value, "name", None) == PORT
        if isinstance(path := getattr(value, "path", None), tuple):
            return path[-1:] == (PORT,)
        return _full(value) == self.full

    def holds(self, value: object) -> bool:
        return self.is_port(value) or any(map(self.is_port, _members(value)))

    def profile(self, frame: FrameType, event: str, _: Any) -> None:
        """For ``sys.setprofile``."""
        if event not in ("call", "return") or not frame.f_code.co_filename.startswith(str(PACKAGE)):
            return
        name = frame.f_code.co_qualname.partition(".<locals>.<")[0]
        function = str(Path(frame.f_code.co_filename).relative_to(PACKAGE.parent)), name
        if function not in self.found and any(map(self.holds, list(frame.f_locals.values()))):
            self.found.add(function)


def _example() -> ModuleType:
    spec = importlib.util.spec_from_file_location("example_gemm", EXAMPLE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def measure() -> set[Function]:
    """The functions that see the port in one link."""
    example = _example()
    with tempfile.TemporaryDirectory() as folder:
        objects = Objects(Path(folder))
        for name in example.COMPONENTS:
            objects[name]
        (full,) = set(_rings(example.compose(Path(folder)).link(cache=False).placement))
        kernel = example.compose(Path(folder))
        reach = Reach(full)
        threading.setprofile(reach.profile)
        sys.setprofile(reach.profile)
        try:
            kernel.link(cache=False)
        finally:
            sys.setprofile(None)
            threading.setprofile(None)  # pyright: ignore
    return reach.found


def main() -> None:
    found = measure()
    files = sorted({file for file, _ in found})
    print("\n".join(files))
    print(f"{len(files)} files, {len(found)} functions")


if __name__ == "__main__":
    main()
