"""What a link does with its objects besides reading them: holds contract and code against each other, and takes images.

An object that was found good is not examined again, as long as the cache knows it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING

from pipelink.link import key
from pipelink.support.diagnostics import Diagnostics, Location, error

if TYPE_CHECKING:
    from pipelink.backend import nvjitlink
    from pipelink.backend.cache import Cache
    from pipelink.link.read import Source
    from pipelink.link.request import Observer, Request
    from pipelink.objects import Image, Object


def verify_objects(source: Source, cache: Cache | None, watch: Observer, diagnostics: Diagnostics) -> None:
    """Hold the contracts of the kernel's components against the code that would be linked.  What ``check`` refuses, by
    architecture or toolkit, is left to it.  Raises LinkError ``contract-mismatch`` and ``nvjitlink-failed``."""
    from pipelink.audit import contract

    with watch.timed("verify objects"):
        for item, images in linkable(source):
            # a contract that was written for code made without the header has nothing to be compared with
            own = any(component.toolkit for component in item.components)
            verify = partial(contract.verify, item, diagnostics if own else None, images=images)
            _examine("verified", item, images, verify, cache, diagnostics)


def audit_objects(source: Source, cache: Cache | None, diagnostics: Diagnostics, *, debug: bool) -> Callable[[], None]:
    """Begin to audit the code of the kernel's components, in a thread, because nothing before the cubin needs it.
    ``debug``: of a debug link, in which they may print and assert.

    What is returned waits for the end and puts what was found into ``diagnostics``; it raises LinkError with what
    breaks a contract, or with what the audit itself raised."""
    helpers = [image for item in source.objects if not item.components for image in item.reachable(source.arch)]
    jobs = linkable(source)

    def work(found: Diagnostics) -> None:
        def audit(item: Object, images: Sequence[Image]) -> None:
            from pipelink.audit import objects

            report = objects.audit(item, images, source.arch, helpers=helpers, only=source.components, debug=debug)
            report.diagnose(found)

        for item, images in jobs:
            used = source.components & {component.symbol for component in item.components}
            kind = f"audited{' for debugging' if debug else ''} {' '.join(sorted(used))}"
            _examine(kind, item, [*images, *helpers], partial(audit, item, images), cache, found)

    return begin(work, diagnostics)


def begin(work: Callable[[Diagnostics], None], diagnostics: Diagnostics) -> Callable[[], None]:
    """Begin ``work`` in a thread.  The function returned waits for it, hands what it collected to ``diagnostics``, and
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


def linkable(source: Source, *, helpers: bool = False) -> list[tuple[Object, list[Image]]]:
    """The objects that define a component of the kernel, with the images that ``check`` will not refuse; with
    ``helpers`` also those that define none."""
    from pipelink.backend import nvjitlink
    from pipelink.target import TARGETS

    goal, newest = TARGETS.get(source.arch), nvjitlink.version()
    found: list[tuple[Object, list[Image]]] = []
    for item in source.objects if goal is not None else ():
        if not item.components:
            if helpers and (images := item.reachable(source.arch)):
                found.append((item, images))
            continue
        units = [{i.arch for i in item.ltoir if i.unit == unit} for unit in {i.unit for i in item.images}]
        mine = {c.symbol for c in item.components} & source.components
        if goal is not None and mine and all(goal.choose(unit) is not None for unit in units):
            found.append((item, [image for image in item.select(goal) if image.version <= newest]))
    return found


def _examine(
    kind: str,
    item: Object,
    images: Sequence[Image],
    look: Callable[[], object],
    cache: Cache | None,
    diagnostics: Diagnostics,
) -> None:
    """Look at an object unless the cache says that it was found good, without a word in ``diagnostics``, before."""
    if cache is None:
        look()
        return
    examined = key.key_of_object(kind, item, images)
    if cache.load(examined) == {}:
        return
    before = len(diagnostics.items)
    look()
    if len(diagnostics.items) == before:
        cache.store(examined, {})


def object_images(source: Source, request: Request) -> list[nvjitlink.Image]:
    """LTO-IR of the objects that define a component of the kernel, or no component at all, each once.

    Raises LinkError ``no-object`` and ``missing-arch``."""
    from pipelink.backend import nvjitlink
    from pipelink.target import target

    goal = target(source.arch)
    found: dict[str, nvjitlink.Image] = {}
    defined: set[str] = set()
    for item in source.objects:
        symbols = {component.symbol for component in item.components}
        if symbols and not symbols & source.components:
            continue
        if not symbols and goal.choose(image.arch for image in item.ltoir) is None:
            continue  # helpers for other architectures
        defined |= symbols
        for image in item.select(goal):
            suffix = f"#{image.unit}" if image.unit else ""
            found.setdefault(image.sha256, nvjitlink.Image(f"{item.name}{suffix}", image.data))
    missing = sorted(source.components - defined)
    if missing:
        names = ", ".join(f"'{name}'" for name in missing)
        message = f"no object defines {names}: kernel '{source.name}' can be checked and placed, but not linked"
        raise error("no-object", message, Location(request.path))
    return list(found.values())
