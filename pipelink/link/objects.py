"""What a link does with its objects besides reading them: holds contract and code against each other, and takes images.

An object that was found good is not examined again, as long as the cache knows it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from pipelink.link import key
from pipelink.support.diagnostics import UNKNOWN, Diagnostics, Location, error

if TYPE_CHECKING:
    from pipelink.audit.report import Copy, Rounds
    from pipelink.backend import nvjitlink
    from pipelink.backend.cache import Cache, Parts
    from pipelink.link.read import Source
    from pipelink.link.request import Observer, Request
    from pipelink.objects import Image, Object


@dataclass(frozen=True)
class BoundMap:
    """A tensor map of an instance: parameter ``param`` of its component, and the tensor that it is of."""

    instance: str
    component: str
    param: str
    tensor: str
    rank: int


@dataclass(frozen=True)
class Audited:
    """What the audits of objects found that only a kernel decides about: copies by tensor maps, and how often roles
    without a protocol repeat."""

    copies: tuple[Copy, ...]
    rounds: tuple[Rounds, ...]


def verify_objects(source: Source, cache: Cache | None, watch: Observer, diagnostics: Diagnostics) -> None:
    """Hold the contracts of the kernel's components against the code that would be linked.  What ``check`` refuses, by
    architecture or toolkit, is left to it.  Raises LinkError ``contract-mismatch`` and ``nvjitlink-failed``."""

    def verify(item: Object, images: Sequence[Image]) -> None:
        from pipelink.audit import contract

        # a contract that was written for code made without the header has nothing to be compared with
        own = any(component.toolkit for component in item.components)
        contract.verify(item, diagnostics if own else None, images=images)

    with watch.timed("verify objects"):
        for item, images in linkable(source):
            _examine("verified", item, images, partial(verify, item, images), cache, diagnostics)


def audit_objects(
    source: Source, cache: Cache | None, diagnostics: Diagnostics, *, debug: bool
) -> Callable[[], Audited]:
    """Begin to audit the code of the kernel's components, in a thread, because nothing before the cubin needs it.
    ``debug``: of a debug link, in which they may print and assert.

    What is returned waits for the end and puts what was found into ``diagnostics``; it gives what only the kernel
    decides, and raises LinkError with what breaks a contract, or with what the audit itself raised."""
    audited: list[Audited] = []
    helpers = [image for item in source.objects if not item.components for image in item.reachable(source.arch)]
    jobs = linkable(source)

    def work(found: Diagnostics) -> None:
        def audit(item: Object, images: Sequence[Image]) -> Parts:
            from pipelink.audit import objects

            report = objects.audit(item, images, source.arch, helpers=helpers, only=source.components, debug=debug)
            report.diagnose(found)
            copies = [(copy.component, copy.param, copy.rank) for copy in report.copies]
            rounds = [(one.component, one.role, one.param) for one in report.rounds]
            return {"copies": json.dumps(copies).encode(), "rounds": json.dumps(rounds).encode()}

        for item, images in jobs:
            used = source.components & {component.symbol for component in item.components}
            kind = f"audited{' for debugging' if debug else ''} {' '.join(sorted(used))}"
            look = partial(audit, item, images)
            kept = _examine(
                kind, item, [*images, *helpers], look, cache, found, lambda parts: _audited(parts) is not None
            )
            if (one := _audited(kept)) is not None:
                audited.append(one)

    join = begin(work, diagnostics)

    def joined() -> Audited:
        join()
        return Audited(
            tuple(copy for one in audited for copy in one.copies),
            tuple(rounds for one in audited for rounds in one.rounds),
        )

    return joined


def _audited(parts: Parts) -> Audited | None:
    """What a kept audit found, None where it is none."""
    from pipelink.audit.report import Copy, Rounds

    try:
        copies: Any = json.loads(parts["copies"])
        rounds: Any = json.loads(parts["rounds"])
        return Audited(
            tuple(Copy(str(component), str(param), int(rank)) for component, param, rank in copies),
            tuple(Rounds(str(component), str(role), str(param)) for component, role, param in rounds),
        )
    except (KeyError, TypeError, ValueError):
        return None


def check_copies(copies: Sequence[Copy], maps: Sequence[BoundMap], source: Source, diagnostics: Diagnostics) -> None:
    """Hold the coordinates of copies against the tensors that the kernel has bound their maps to.  Raises LinkError
    ``copy-rank``."""
    for copy in copies:
        for bound in maps:
            if (bound.component, bound.param) != (copy.component, copy.param) or bound.rank == copy.rank:
                continue
            records = [
                record for item in source.objects for component in item.components
                if component.symbol == copy.component for record in component.records
                if (record.op, record.name) == ("param", copy.param)
            ]  # fmt: skip
            given = "1 coordinate" if copy.rank == 1 else f"{copy.rank} coordinates"
            message = (
                f"component '{copy.component}' copies with {given} through '{copy.param}',"
                f" which '@{bound.instance}' has bound to tensor '{bound.tensor}' of {bound.rank} dimensions"
            )
            diagnostics.error("copy-rank", message, records[0].location if records else UNKNOWN)
    diagnostics.raise_if_errors()


def begin(work: Callable[[Diagnostics], None], diagnostics: Diagnostics) -> Callable[[], None]:
    """Begin ``work`` in a thread.  The function returned waits for it, hands what it collected to ``diagnostics``, and
    raises LinkError with it if it has errors, or what the work itself raised."""
    from concurrent.futures import ThreadPoolExecutor

    found = Diagnostics()
    pool = ThreadPoolExecutor(max_workers=1, thread_name_prefix="audit")
    try:
        running = pool.submit(work, found)
    except RuntimeError:  # the system gives no thread: it is done now
        running = None
        work(found)
    pool.shutdown(wait=False)

    def join() -> None:
        if running is not None:
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
    look: Callable[[], Parts | None],
    cache: Cache | None,
    diagnostics: Diagnostics,
    good: Callable[[Parts], bool] = lambda parts: parts == {},
) -> Parts:
    """Look at an object unless the cache says that it was found good, without a word in ``diagnostics``, before.
    Returns what the look found; ``good`` says whether what the cache holds can be that."""
    if cache is None:
        return look() or {}
    examined = key.key_of_object(kind, item, images)
    known = cache.load(examined)
    if known is not None and good(known):
        return known
    before = len(diagnostics.items)
    found = look() or {}
    if len(diagnostics.items) == before:
        cache.store(examined, found)
    return found


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
