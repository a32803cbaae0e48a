"""What a link needs of the audit of objects before it is known that one has to be read: the images of helpers, and the
thread.  Reading code takes modules that a link of known objects need not load (:mod:`pipelink.backend.alone`).
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from pipelink.objects.model import Image, Object
from pipelink.support.diagnostics import Diagnostics
from pipelink.target import TARGETS


def helpers_for(item: Object, arch: str) -> list[Image]:
    """What of an object without a contract can be linked into code for ``arch``."""
    goal = TARGETS.get(arch)
    found: list[Image] = []
    for unit in sorted({image.unit for image in item.ltoir}):
        known = {image.arch: image for image in item.ltoir if image.unit == unit}
        chosen = arch if arch in known else goal.choose(known) if goal is not None else None
        if chosen is not None:
            found.append(known[chosen])
    return found


def beside(work: Callable[[Diagnostics], None], diagnostics: Diagnostics) -> Callable[[], None]:
    """Do ``work`` in a thread.  The function returned waits for it, hands what it collected to ``diagnostics``, and
    raises LinkError with it if it has errors, or what the work itself raised."""
    found = Diagnostics()
    pool = ThreadPoolExecutor(max_workers=1, thread_name_prefix="audit")
    running = pool.submit(work, found)
    pool.shutdown(wait=False)

    def join() -> None:
        running.result()
        diagnostics.items += found.items
        found.raise_if_errors()

    return join
