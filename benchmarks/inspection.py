"""Every configuration linked, and compared with the same sources compiled as one unit.  No GPU.

For each: the machine code (SASS) of the link against its monolith's, registers and shared memory of both, what the code
holds (tensor-core, tensor-memory and TMA instructions, calls, local memory), and the time of a link against the time of
a full compile.  A link is measured as it happens when a component was swapped: transfers compiled before, everything
else anew, the audit included.  A full compile is NVRTC on the monolith.  Both run in turns in one process that has done
each before; the medians are reported.

A result belongs to the machine code of both (machine_code.py).  While the link's is what it was, and so is everything
that the monolith is compiled from, nothing is compiled; where that changed, the monolith is compiled once, and only
other machine code is measured anew.
"""

from __future__ import annotations

import hashlib
import multiprocessing
import os
import re
import statistics
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pipelink
from benchmarks import linking, stale, store
from benchmarks.configurations import BY_NAME, FOLDERS, Configuration
from benchmarks.machine_code import digest_of
from benchmarks.progress import Progress
from benchmarks.store import RESULTS, Entry
from pipelink.backend import cubin, sass, toolchain
from pipelink.backend.cache import Cache
from pipelink.backend.includes import find_headers
from pipelink.backend.monolith import compile_monolith
from pipelink.components.gemm import Objects
from pipelink.link import Observer
from pipelink.support.diagnostics import LinkError
from pipelink.target import parse_arch
from pipelink.target import target as find_target

OUTPUT = RESULTS / "inspect.json"
CUTE_LIMIT = 3.0  # times that a link with a CuTe component must be faster than the full compile
# Instructions whose presence says that the hardware's units are used, by what they do.
UNITS = {
    "tensor": re.compile(r"\b(HGMMA|QGMMA|UTC\w*MMA|[HQO]MMA)\b"),
    "tensor_memory": re.compile(r"\bLDTM\b"),
    "tma": re.compile(r"\b(UTMALDG|UTMASTG|UTMAREDG|UBLKCP)\b"),
    "cp_async": re.compile(r"\bLDGSTS\b"),
}


def sources_digest(text: str) -> str:
    """Of what a monolith is compiled from: its text, every source that it includes, and the compiler's version."""
    digest = hashlib.sha256(toolchain.toolkit_version().encode())
    digest.update(re.sub(r'(#include ").*/', r"\1", text).encode())
    own, *toolkit = toolchain.include_dirs()
    folders = [*FOLDERS, toolchain.transfer_dir(), own]
    for name in re.findall(r'#include "(.*)"', text):
        for source in (Path(name), *find_headers(Path(name), folders, toolkit)):
            digest.update(source.read_bytes())
    return digest.hexdigest()[:16]


def newest_image(kernel: pipelink.Kernel, target: str) -> str:
    """The newest architecture among the images that a link takes from the kernel's objects."""
    goal = find_target(target)
    chosen = [image.arch for item in kernel.objects for image in item.select(goal)]
    return max(chosen, key=lambda arch: parse_arch(arch) or (0, ""))


def compile_configuration(configuration: Configuration, kernel: pipelink.Kernel, text: str) -> bytes:
    """The cubin of a configuration as one translation unit."""
    folders: list[Path] = [*FOLDERS, toolchain.transfer_dir()]
    options: tuple[str, ...] = ()
    if configuration.cute:
        folders.append(toolchain.cutlass_include_dir())
        options = ("-default-device",)
    target = configuration.target
    image = newest_image(kernel, target)
    return compile_monolith(text, f"{configuration.name}.cu", target, image, include_dirs=folders, options=options)


def _units(found: sass.Sass) -> dict[str, int]:
    counts = Counter(
        unit
        for instruction in found.instructions
        for unit, pattern in UNITS.items()
        if pattern.search(instruction.opcode)
    )
    return dict(sorted(counts.items()))


def inspect(name: str, folder: str, rounds: int, known: Entry | None) -> Entry | None:
    """One configuration's entry; None if ``known`` is of what there is now, and ``known`` with the digest of other
    sources if these became the same machine code.  ``error`` instead of figures if it does not link.  The first link
    and the first compile are not timed: they hold the start of libraries."""
    configuration = BY_NAME[name]
    known = known or {}
    try:
        kernel, linked = linking.link(configuration, Objects(Path(folder), FOLDERS))
        text = kernel.monolith(FOLDERS)
        code, sources = digest_of(linked.cubin), sources_digest(text)
        if code == known.get("linked") and sources == known.get("sources"):
            return None
        whole = compile_configuration(configuration, kernel, text)
        keys = {"linked": code, "monolith": digest_of(whole), "sources": sources}
        if code == known.get("linked") and keys["monolith"] == known.get("monolith"):
            return {**known, **keys}
        cache = Cache(Path(folder) / "cache")
        kernel.link(cache=cache)  # compiles the transfers
        links: list[float] = []
        audits: list[float] = []
        compiles: list[float] = []
        for _ in range(rounds):
            watch = Observer(keep=lambda *_: None)  # the link itself is not taken from the cache
            start = time.perf_counter()
            kernel.link(cache=cache, observer=watch)
            links.append(time.perf_counter() - start)
            audits.append(dict(watch.times)["audit"])
            start = time.perf_counter()
            compile_configuration(configuration, kernel, text)
            compiles.append(time.perf_counter() - start)
        return {**keys, **_entry(linked, whole, links, audits, compiles)}
    except (LinkError, RuntimeError, StopIteration) as problem:
        return {"error": str(problem)}


def _entry(
    linked: Any, whole: bytes, links: Sequence[float], audits: Sequence[float], compiles: Sequence[float]
) -> Entry:
    ours, theirs = sass.read(linked.cubin), sass.read(whole)
    facts = cubin.facts(whole, cubin.kernels(whole)[0])
    counts = sass.count(ours)
    different = sass.compare(ours, theirs)
    return {
        "identical": not different,
        "difference": different[:20],
        "instructions": {"linked": len(ours.instructions), "monolith": len(theirs.instructions)},
        "registers": {"linked": linked.registers, "monolith": facts.registers},
        "stack": facts.stack_bytes,
        "smem_bytes": linked.launch["smem_bytes"],
        "threads": linked.launch["threads"],
        "calls": len(counts.calls),
        "units": _units(ours),
        "audit": linked.audit.ok,
        "link_s": round(statistics.median(links), 4),
        "audit_s": round(statistics.median(audits), 4),
        "compile_s": round(statistics.median(compiles), 4),
        "compile/link": round(statistics.median(c / s for s, c in zip(links, compiles, strict=True)), 3),
    }


def run(names: Sequence[str], *, jobs: int, rounds: int, again: bool) -> int:
    """Inspect the named configurations; print what is wrong, a table, and ``N linked, M identical``.

    What does not link is reported and keeps its earlier result."""
    facts = {"toolkit": toolchain.toolkit_version(), "cores": os.cpu_count(), "rounds": rounds}
    known = {} if again else store.read(OUTPUT)
    found: dict[str, Entry] = {}
    progress = Progress(len(names))
    folder = str(_compile_objects(names))
    work = [(name, folder, rounds, known.get(name)) for name in names]
    with multiprocessing.get_context("spawn").Pool(jobs) as pool:
        for name, entry in pool.imap_unordered(_inspect, work):
            found[name] = entry or known[name]
            if entry is not None and "error" not in entry:
                found[name] = {**entry, "with": entry.get("with", {**facts, "date": store.now()})}
                store.add(OUTPUT, "inspect", {name: found[name]})
            progress.step(f"{name}: {summary(found[name])}{'' if entry else ' (known)'}")
    stale.record({name: entry["linked"] for name, entry in found.items() if "error" not in entry})
    return report({name: found[name] for name in names})


def _inspect(arguments: tuple[str, str, int, Entry | None]) -> tuple[str, Entry | None]:
    return arguments[0], inspect(*arguments)


def _compile_objects(names: Sequence[str]) -> Path:
    """Every object once, ahead of the processes that link them; returns their folder."""
    objects = linking.cached_objects()
    for name in names:
        try:
            BY_NAME[name].compose(objects)
        except (LinkError, RuntimeError, StopIteration):
            continue  # reported where the configuration is inspected
    return objects.folder


def summary(entry: Entry) -> str:
    if "error" in entry:
        return "does not link"
    same = "identical" if entry["identical"] else f"{len(entry['difference'])} lines differ"
    return f"{same}, {entry['link_s']:.2f} s against {entry['compile_s']:.2f} s"


def report(found: dict[str, Entry]) -> int:
    """Print the table and the last line; the exit status is 1 where something is wrong."""
    wrong: list[str] = []
    print(f"{'configuration':58} {'instr':>6} {'regs':>5} {'smem':>7} {'link':>7} {'compile':>8} {'ratio':>6}")
    for name, entry in found.items():
        if "error" in entry:
            wrong.append(f"{name} does not link: {entry['error']}")
            continue
        registers, configuration = entry["registers"], BY_NAME[name]
        print(
            f"{name:58} {entry['instructions']['linked']:6} {registers['linked']:5} {entry['smem_bytes']:7} "
            f"{entry['link_s']:5.2f} s {entry['compile_s']:6.2f} s {entry['compile/link']:6.2f}"
            f"{'' if entry['identical'] else '  DIFFERS'}"
        )
        if not entry["identical"] and not configuration.explained:
            wrong.append(f"{name} differs from its monolith:\n" + "\n".join(entry["difference"]))
        if registers["linked"] != registers["monolith"]:
            wrong.append(f"{name} has {registers['linked']} registers, its monolith {registers['monolith']}")
        for unit in configuration.needs:
            if not entry["units"].get(unit):
                wrong.append(f"{name} has no instruction of kind {unit}")
        if entry["calls"] or entry["stack"] or not entry["audit"]:
            wrong.append(f"{name} has {entry['calls']} calls and {entry['stack']} B of stack")
        if configuration.cute and entry["compile/link"] < CUTE_LIMIT:
            wrong.append(f"{name} links {entry['compile/link']:.2f} times as fast as it compiles, not {CUTE_LIMIT:g}")
    for line in wrong:
        print(line)
    linked = sum("error" not in entry for entry in found.values())
    print(f"{linked} linked, {sum(entry.get('identical', False) for entry in found.values())} identical")
    return 1 if wrong else 0
