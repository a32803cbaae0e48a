"""Which results are missing, or belong to other machine code than what links now.  No GPU, and no monolith.

The committed digests of linked code are compared with those of the links of today, which come from the cache where
nothing changed.  ``benchmarks/results/code.json`` holds the digests that were recorded last: by them the tables mark
what was measured with earlier machine code, and so they are looked at, too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from benchmarks import linking, store
from benchmarks.configurations import BY_NAME, Configuration
from benchmarks.families.base import shape_text
from benchmarks.machine_code import belongs, digest_of
from benchmarks.progress import Progress
from benchmarks.store import RESULTS, Entry
from pipelink.support.diagnostics import LinkError

CODE = "code"  # the benchmark's name, and the file's


def reasons(
    configuration: Configuration,
    digest: str,
    code: Mapping[str, Entry],
    inspected: Mapping[str, Entry],
    timed: Mapping[str, Entry],
) -> list[str]:
    """Why results of a configuration that links to code of this digest are stale; none if they are not."""
    name = configuration.name
    found: list[str] = []
    if name not in inspected:
        found.append("not inspected")
    elif not belongs(inspected[name], digest):
        found.append("inspected with other machine code")
    if configuration.runs:
        entries = {shape_text(shape): timed.get(configuration.entry(shape)) for shape in configuration.shapes}
        if missing := [shape for shape, entry in entries.items() if entry is None]:
            found.append(f"not timed on {', '.join(missing)}")
        if other := [shape for shape, entry in entries.items() if entry and not belongs(entry, digest)]:
            found.append(f"timed with other machine code on {', '.join(other)}")
    if not belongs(code.get(name), digest):
        found.append("its digest is not recorded (`stale --record`)")
    return found


def record(digests: Mapping[str, str]) -> None:
    """Keep what links now, for the tables."""
    there = store.read(RESULTS / f"{CODE}.json")
    changed = {name: digest for name, digest in digests.items() if not belongs(there.get(name), digest)}
    if changed:
        date = {"date": store.now()}
        store.add(RESULTS / f"{CODE}.json", CODE, {name: {"linked": d, "with": date} for name, d in changed.items()})


def run(names: Sequence[str], *, recorded: bool) -> int:
    """Print the stale ones among the named configurations with their reasons; the exit status is 1 if there are any."""
    objects = linking.cached_objects()
    progress = Progress(len(names))
    digests: dict[str, str] = {}
    broken: dict[str, str] = {}
    for name in names:
        try:
            _, linked = linking.link(BY_NAME[name], objects)
            digests[name] = digest_of(linked.cubin)
        except (LinkError, RuntimeError, StopIteration) as problem:
            broken[name] = f"does not link: {problem}"
        progress.step(name)
    if recorded:
        record(digests)
    code, inspected, timed = (store.read(RESULTS / f"{name}.json") for name in (CODE, "inspect", "run"))
    found = {name: [reason] for name, reason in broken.items()}
    for name, digest in digests.items():
        if why := reasons(BY_NAME[name], digest, code, inspected, timed):
            found[name] = why
    for name, why in found.items():
        print(f"{name}: {'; '.join(why)}")
    print(f"{len(found)} of {len(names)} configurations stale")
    return 1 if found else 0
