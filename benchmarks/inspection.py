"""Every configuration linked, and compared with the same sources compiled as one unit.  No GPU.

For each: the machine code (SASS) of the link against its monolith's, registers and shared memory of both, what the code
holds (tensor-core, tensor-memory and TMA instructions, calls, local memory), and the time of a link against the time of
a full compile.  A link is measured as it happens when a component was swapped: transfers compiled before, everything
else anew, the audit included.  A full compile is NVRTC on the monolith.  Both run in turns in one process that has done
each before; the medians are reported.
"""

from __future__ import annotations

import hashlib
import multiprocessing
import os
import re
import statistics
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pipelink
from benchmarks.configurations import BY_NAME, FOLDERS, Configuration
from benchmarks.progress import RESULTS, Progress, Results
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
FAMILIES = {
    "tensor": re.compile(r"\b(HGMMA|QGMMA|UTC\w*MMA|[HQO]MMA)\b"),
    "tensor_memory": re.compile(r"\bLDTM\b"),
    "tma": re.compile(r"\b(UTMALDG|UTMASTG|UTMAREDG|UBLKCP)\b"),
    "cp_async": re.compile(r"\bLDGSTS\b"),
}


NEEDED = {"tcgen05": ("tensor", "tensor_memory", "tma"), "wgmma": ("tensor", "tma"), "cp": ("tensor", "cp_async")}


def key_of(linked: bytes, text: str) -> str:
    """Of what is compared: the linked cubin, and the monolith with every source that it includes."""
    digest = hashlib.sha256(linked)
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


def _families(found: sass.Sass) -> dict[str, int]:
    counts = Counter(
        family
        for instruction in found.instructions
        for family, pattern in FAMILIES.items()
        if pattern.search(instruction.opcode)
    )
    return dict(sorted(counts.items()))


def inspect(name: str, folder: str, rounds: int, known: str | None) -> dict[str, Any] | None:
    """One configuration's entry, with its key; None if that is ``known``.  ``error`` instead of figures if it does not
    link.  The first link and the first compile are not timed: they hold the start of libraries."""
    configuration = BY_NAME[name]
    try:
        kernel = configuration.compose(Objects(Path(folder), FOLDERS))
        store = Cache(Path(folder) / "cache")
        (linked,) = kernel.link(cache=store).targets
        text = kernel.monolith(FOLDERS)
        key = key_of(linked.cubin, text)
        if key == known:
            return None
        whole = compile_configuration(configuration, kernel, text)
        links: list[float] = []
        audits: list[float] = []
        compiles: list[float] = []
        for _ in range(rounds):
            watch = Observer(keep=lambda *_: None)  # the link itself is not taken from the cache
            start = time.perf_counter()
            kernel.link(cache=store, observer=watch)
            links.append(time.perf_counter() - start)
            audits.append(dict(watch.times)["audit"])
            start = time.perf_counter()
            compile_configuration(configuration, kernel, text)
            compiles.append(time.perf_counter() - start)
        return {"key": key, **_entry(linked, whole, links, audits, compiles)}
    except (LinkError, RuntimeError, StopIteration) as problem:
        return {"key": "", "linked": False, "error": str(problem)}


def _entry(
    linked: Any, whole: bytes, links: Sequence[float], audits: Sequence[float], compiles: Sequence[float]
) -> dict[str, Any]:
    ours, theirs = sass.read(linked.cubin), sass.read(whole)
    facts = cubin.facts(whole, cubin.kernels(whole)[0])
    counts = sass.count(ours)
    different = sass.compare(ours, theirs)
    return {
        "linked": True,
        "identical": not different,
        "difference": different[:20],
        "instructions": {"linked": len(ours.instructions), "monolith": len(theirs.instructions)},
        "registers": {"linked": linked.registers, "monolith": facts.registers},
        "stack": facts.stack_bytes,
        "smem_bytes": linked.launch["smem_bytes"],
        "threads": linked.launch["threads"],
        "calls": len(counts.calls),
        "families": _families(ours),
        "audit": linked.audit.ok,
        "link_s": round(statistics.median(links), 4),
        "audit_s": round(statistics.median(audits), 4),
        "compile_s": round(statistics.median(compiles), 4),
        "compile/link": round(statistics.median(c / s for s, c in zip(links, compiles, strict=True)), 3),
    }


def run(names: Sequence[str], *, jobs: int, rounds: int, again: bool) -> int:
    """Inspect the named configurations; print what is wrong, a table, and ``N linked, M identical``."""
    head = {"benchmark": "inspect", "toolkit": toolchain.toolkit_version(), "cores": os.cpu_count(), "rounds": rounds}
    results = Results.open(OUTPUT, head, again=again)
    results.keep_only(list(BY_NAME))
    progress = Progress(len(names))
    with tempfile.TemporaryDirectory() as folder:
        _compile_objects(names, Path(folder))
        work = [(name, folder, rounds, results.key(name)) for name in names]
        with multiprocessing.get_context("spawn").Pool(jobs) as pool:
            for name, entry in pool.imap_unordered(_inspect, work):
                if entry is not None:
                    results.add(name, entry.pop("key"), entry)
                progress.step(f"{name}: {summary(results.entries[name])}{'' if entry else ' (known)'}")
    results.keep_only(list(BY_NAME))
    results.write()
    return report({name: results.entries[name] for name in names})


def _inspect(arguments: tuple[str, str, int, str | None]) -> tuple[str, dict[str, Any] | None]:
    return arguments[0], inspect(*arguments)


def _compile_objects(names: Sequence[str], folder: Path) -> None:
    """Every object once, ahead of the processes that link them."""
    objects = Objects(folder, FOLDERS)
    for name in names:
        try:
            BY_NAME[name].compose(objects)
        except (LinkError, RuntimeError, StopIteration):
            continue  # reported where the configuration is inspected


def summary(entry: dict[str, Any]) -> str:
    if not entry["linked"]:
        return "does not link"
    same = "identical" if entry["identical"] else f"{len(entry['difference'])} lines differ"
    return f"{same}, {entry['link_s']:.2f} s against {entry['compile_s']:.2f} s"


def report(found: dict[str, dict[str, Any]]) -> int:
    """Print the table and the last line; the exit status is 1 where something is wrong."""
    wrong: list[str] = []
    print(f"{'configuration':58} {'instr':>6} {'regs':>5} {'smem':>7} {'link':>7} {'compile':>8} {'ratio':>6}")
    for name, entry in found.items():
        if not entry["linked"]:
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
        for family in NEEDED.get(configuration.mainloop.partition("_")[0], ()):
            if not entry["families"].get(family):
                wrong.append(f"{name} has no instruction of kind {family}")
        if entry["calls"] or entry["stack"] or not entry["audit"]:
            wrong.append(f"{name} has {entry['calls']} calls and {entry['stack']} B of stack")
        if configuration.cute and entry["compile/link"] < CUTE_LIMIT:
            wrong.append(f"{name} links {entry['compile/link']:.2f} times as fast as it compiles, not {CUTE_LIMIT:g}")
    for line in wrong:
        print(line)
    linked = sum(entry["linked"] for entry in found.values())
    print(f"{linked} linked, {sum(entry.get('identical', False) for entry in found.values())} identical")
    return 1 if wrong else 0
