"""The first step: bytes become objects and one IR module, of which one kernel is chosen.

Input: a :class:`~pipelink.link.request.Request`.  Output: a :class:`Source`, verified IR of one kernel for one target
beside the contracts of the objects.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from pipelink.link.request import File
from pipelink.support.diagnostics import Location, error, suggest

if TYPE_CHECKING:
    from pipelink.ir.views import Kernel, Program
    from pipelink.link.request import Observer, Request
    from pipelink.objects import Object
    from pipelink.support.mlir import ir


@dataclass(frozen=True)
class Source:
    """One kernel (``name``, for target ``arch``) in a module of its own with the components that it has instances of,
    the objects, and the symbols of those components (``acme.loader``)."""

    module: ir.Module
    name: str
    arch: str
    objects: tuple[Object, ...]
    components: frozenset[str]


def read(request: Request, watch: Observer) -> Source:
    """Read objects and IR, and choose the kernel.

    Raises LinkError ``unreadable-input``, ``no-kernel``, ``already-fused``, and what reading and verifying raise."""
    from pipelink.ir import parse, verify

    with watch.timed("read"):
        objects = _read_objects(request)
        module = parse(request.text, path=None if request.path == "<memory>" else request.path)
        if objects:
            from pipelink.analysis.declarations import add_objects

            add_objects(module, objects)
        views = verify(module)
        kernel = _choose(request, views)
    if kernel.fused:
        message = f"kernel '{kernel.name}' is fused already and no longer says what it is made of"
        raise error("already-fused", message, kernel.location, hint="link the IR from before fuse")
    components = frozenset(instance.component for instance in kernel.instances.values())
    for name, component in views.components.items():
        if name not in components:  # objects hold dozens of which a kernel uses one, and passes look at all there are
            component.op.erase()
    return Source(module, kernel.name, kernel.target, tuple(objects), components)


def _read_objects(request: Request) -> list[Object]:
    from pipelink.objects import parse_objects

    found: list[Object] = []
    for item in request.loaded().objects:
        found += parse_objects(item.data, item.path) if isinstance(item, File) else [cast("Object", item)]
    return found


def _choose(request: Request, views: Program) -> Kernel:
    """The kernel that is linked, for the target that is asked for; the others are taken out of the module."""
    names = [kernel.name for kernel in views.kernels]
    wanted = request.kernel
    where = Location(request.path)
    if not names:
        raise error("no-kernel", f"'{request.path}' holds no kernel", where)
    if wanted is None and len(names) > 1:
        raise error("no-kernel", f"'{request.path}' holds {len(names)} kernels: {', '.join(names)}", where,
                    hint="say which with --kernel")  # fmt: skip
    if wanted is not None and wanted not in names:
        raise error("no-kernel", f"'{request.path}' holds no kernel '{wanted}'", where,
                    hint=suggest(wanted, names))  # fmt: skip
    chosen = next(kernel for kernel in views.kernels if wanted in (None, kernel.name))
    for kernel in views.kernels:
        if kernel is not chosen:
            kernel.op.erase()
    if request.target is not None:
        chosen.set("pipelink.kernel", {**chosen.data["pipelink.kernel"], "target": request.target})
    return chosen
