"""The link, from inputs to cubin: objects and IR -> check, place, fuse -> NVVM -> nvJitLink -> audit -> result.

``link(request)`` is what the Python API and ``pl-link`` call.  The order, and what holds after each step:

=========== =========================================================================================================
key         every input that can change the result is hashed; a cached result ends here, without MLIR or any compiler
module      one kernel for one target, all its components with the contracts of the objects
verify      each contract is the one that its device code was compiled with; in a thread beside all that follows, each
            object is audited: its code does what its contract declares (joined before the last step)
passes      check, place, fuse: the kernel is plain llvm/nvvm dialect; placement and launch contract were kept
entry       libNVVM made LTO-IR of it
transfers   NVRTC made LTO-IR of the transfers that it uses (once per toolkit: cached)
cubin       nvJitLink linked entry, transfers and objects
audit       the cubin is what contracts and placement said, or the link fails
=========== =========================================================================================================

Only this Python module knows both passes and backend; everything heavy is imported where it is used.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pipelink.backend.audit import AuditReport
from pipelink.backend.cache import Cache, Key, Parts, default_folder
from pipelink.support.diagnostics import Diagnostic, Diagnostics, Location, Note, error, suggest

if TYPE_CHECKING:
    from pipelink.ir.views import Kernel, Program
    from pipelink.objects import Image, Object
    from pipelink.passes import Pass
    from pipelink.support.mlir import ir

PASSES = "check,place,fuse"
HANG_LIMIT = 2000  # milliseconds of a wait in a debug link, where nothing else is said
_WATCH, _WATCH_ARCH = "watch.cu", "sm_80"  # what only debug links contain, and the oldest architecture that runs it
# The wheels whose versions decide what comes out.  Looked up without importing them.
_TOOLS = (
    "nvidia-nvjitlink", "nvidia-nvvm", "nvidia-cuda-nvrtc", "nvidia-cuda-runtime", "nvidia-cuda-nvdisasm", "llvmlite",
    "ortools", "xtc-mlir-python-bindings", "cuda-bindings",
)  # fmt: skip
_SOURCES = (".py", ".cu", ".cuh", ".irdl")


@dataclass(frozen=True)
class Request:
    """What to link.  ``text`` is the kernel's IR, ``path`` where it came from (for diagnostics); ``objects`` are
    files, or objects in memory.  ``kernel`` names one of several kernels, ``target`` overrides the kernel's own.
    ``passes`` is the pipeline, ``options`` go to nvJitLink.  ``debug_hangs`` (milliseconds that a wait may take, 0: no
    limit) and ``timeline`` make a debug link (docs/debugging.md)."""

    text: bytes
    objects: tuple[Path | Object, ...] = ()
    path: str = "<memory>"
    kernel: str | None = None
    target: str | None = None
    passes: str = PASSES
    lineinfo: bool = False
    options: tuple[str, ...] = ()
    debug_hangs: int = 0
    timeline: bool = False


@dataclass
class Observer:
    """Watches a link: ``times`` collects (step, seconds); ``step`` is called when one begins; ``keep`` is given
    intermediate results by name (``placed.mlir``, ``entry.ltoir``, …) and turns the cache's reading off."""

    step: Callable[[str], object] | None = None
    keep: Callable[[str, str | bytes], object] | None = None
    times: list[tuple[str, float]] = field(default_factory=list[tuple[str, float]])

    @contextmanager
    def timed(self, name: str) -> Generator[None]:
        if self.step is not None:
            self.step(name)
        start = time.perf_counter()
        yield
        self.times.append((name, time.perf_counter() - start))

    def kept(self, name: str, data: str | bytes) -> None:
        if self.keep is not None:
            self.keep(name, data)


@dataclass(frozen=True)
class LinkedTarget:
    """One linked cubin.  ``placement`` has ``kernel``, ``instances`` and ``connections`` as the ``place`` pass wrote
    them; ``launch`` is the launch contract; ``log`` is nvJitLink's and ptxas's; ``warnings`` were reported on the way;
    ``map_svg`` and ``map_text`` draw the placement."""

    name: str
    arch: str
    cubin: bytes
    launch: dict[str, Any]
    placement: dict[str, Any]
    audit: AuditReport
    log: str
    toolkit: str
    warnings: tuple[Diagnostic, ...]
    map_svg: str
    map_text: str
    cached: bool

    @property
    def registers(self) -> int:
        """Registers a thread at entry."""
        return self.audit.registers


# ---------------------------------------------------------------------------------------------------------- the key
@lru_cache(maxsize=1)
def source_digest() -> str:
    """Hash of this package's own sources: passes, transfers, headers."""
    digest = hashlib.sha256()
    root = Path(__file__).parent
    for path in sorted(p for p in root.rglob("*") if p.suffix in _SOURCES):
        digest.update(str(path.relative_to(root)).encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()


@lru_cache(maxsize=1)
def tool_versions() -> tuple[tuple[str, str], ...]:
    """(wheel, version) of everything that takes part in a link; ``missing`` where it is not installed."""
    from importlib.metadata import PackageNotFoundError, version

    def find(name: str) -> str:
        try:
            return version(name)
        except PackageNotFoundError:
            return "missing"

    return tuple((name, find(name)) for name in _TOOLS)


def key_of(request: Request) -> str:
    """The cache key of one link."""
    key = Key()
    key.add("pipelink", source_digest())
    for name, version in tool_versions():
        key.add(f"tool {name}", version)
    for name in ("kernel", "target", "passes", "lineinfo", "debug_hangs", "timeline"):
        key.add(name, getattr(request, name))
    if request.lineinfo:
        key.add("path", _source_path(request))
    for option in request.options:
        key.add("option", option)
    key.add("text", request.text)
    for item in request.objects:
        if isinstance(item, Path):
            key.add("object", _read(item))
            continue
        _add_object(key, item, item.images)
    return key.hexdigest()


def _add_object(key: Key, item: Object, images: Sequence[Image]) -> None:
    key.add("object in memory", len(images))
    for component in item.components:
        for record in component.records:
            key.add("contract", record.text)
    for image in images:
        key.add("image", f"{image.arch} {image.kind} {image.toolkit} {image.unit}").add("code", image.data)


def _source_path(request: Request) -> str:
    """Where a debugger finds the kernel's IR."""
    return request.path if request.path.startswith("<") else str(Path(request.path).absolute())


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as problem:
        reason = (problem.strerror or str(problem)).lower()
        raise error("unreadable-input", f"cannot read '{path}': {reason}", Location(str(path))) from problem


# --------------------------------------------------------------------------------------------------------- the link
def default_cache() -> Cache:
    """The user's cache."""
    return Cache(default_folder())


def link(request: Request, *, cache: Cache | None = None, observer: Observer | None = None) -> LinkedTarget:
    """Link one kernel for one target.  ``cache=None`` links anew.

    Raises LinkError with everything that check, place, the vendor libraries or the audit have to say."""
    watch = observer or Observer()
    if cache is None or watch.keep is not None:
        return _decode(_build(request, cache, watch), cached=False)
    with watch.timed("cache key"):
        key = key_of(request)
    parts, hit = cache.fetch(key, lambda: _build(request, cache, watch))
    return _decode(parts, cached=hit)


def _decode(parts: Parts, *, cached: bool) -> LinkedTarget:
    meta: dict[str, Any] = json.loads(parts["meta.json"])
    return LinkedTarget(
        meta["name"],
        meta["arch"],
        parts["cubin"],
        meta["launch"],
        meta["placement"],
        AuditReport.from_json(meta["audit"]),
        parts["log"].decode(),
        meta["toolkit"],
        tuple(_diagnostic(item) for item in meta["warnings"]),
        parts["map.svg"].decode(),
        parts["map.txt"].decode(),
        cached,
    )


def _diagnostic(data: dict[str, Any]) -> Diagnostic:
    def place(found: dict[str, Any] | None) -> Location:
        return Location(found["file"], found["line"], found["column"]) if found else Location()

    notes = tuple(Note(note["message"], place(note["location"])) for note in data["notes"])
    return Diagnostic(data["severity"], data["id"], data["message"], place(data["location"]), notes, data["hint"])


def _build(request: Request, cache: Cache | None, watch: Observer) -> Parts:
    from pipelink.backend import audit, nvjitlink
    from pipelink.target import target as find_target

    work = Work(request, cache, watch)
    audited = work.audit_objects()
    work.run_passes()
    images = work.images()
    arch = work.arch
    with watch.timed(f"nvJitLink {arch}"):
        linked = nvjitlink.link(images, arch, lineinfo=request.lineinfo, options=request.options)
    watch.kept(f"{arch}.cubin", linked.data)
    watch.kept(f"{arch}.log", linked.log)
    with watch.timed("audit objects"):
        audited()
    placement = work.placement
    target = find_target(arch)
    expected = audit.expectation(
        work.name,
        placement["kernel"],
        placement["instances"].values(),
        placement["connections"].values(),
        stack_bytes=work.stack_bytes,
        smem_limit=target.smem_for(int(placement["kernel"]["min_ctas"])),
        leaves=bool(work.launch.get("debug", {}).get("limit_ms")),
    )
    inputs = [audit.LinkInput(image.name, "ltoir") for image in images]
    with watch.timed("audit"):
        report = audit.audit(linked.data, expected, log=linked.log, inputs=inputs)
    report.raise_if_failed()
    meta = {
        "name": work.name,
        "arch": arch,
        "launch": work.launch,
        "placement": placement,
        "audit": report.to_json(),
        "toolkit": ".".join(map(str, nvjitlink.version())),
        "warnings": [item.to_json() for item in work.diagnostics.items],
    }
    return {
        "cubin": linked.data,
        "log": linked.log.encode(),
        "meta.json": json.dumps(meta).encode(),
        "map.svg": work.map_svg.encode(),
        "map.txt": work.map_text.encode(),
    }


class Work:
    """One link in progress: the module, and what is kept of it as the passes run.  Also serves ``--emit``."""

    def __init__(self, request: Request, cache: Cache | None, watch: Observer) -> None:
        from pipelink.ir import new_context, parse, program, verify

        self.request, self.cache, self.watch = request, cache, watch
        self.diagnostics = Diagnostics()
        self.placement: dict[str, Any] = {}
        self.launch: dict[str, Any] = {}
        self.map_svg = self.map_text = ""
        self._sources: tuple[str, ...] = ()
        with watch.timed("read"):
            self.objects = self._read_objects()
            source = Path(request.path)
            on_disk = request.path != "<memory>" and source.is_file()
            self.module = parse(source if on_disk else request.text, new_context())
            if on_disk and _read(source) != request.text:  # it changed after it was hashed
                self.module = parse(request.text, new_context())
            if self.objects:
                from pipelink.analysis.declarations import add_objects

                add_objects(self.module, self.objects)
            verify(self.module)
            kernel = self._choose(program(self.module))
        self.name = kernel.name
        self.arch = kernel.target
        if kernel.fused:
            message = f"kernel '{self.name}' is fused already and no longer says what it is made of"
            raise error("already-fused", message, kernel.location, hint="link the IR from before fuse")
        self._used = {instance.component for instance in kernel.instances.values()}

    def _read_objects(self) -> list[Object]:
        from pipelink.objects import parse_objects

        found: list[Object] = []
        for item in self.request.objects:
            found += parse_objects(_read(item), str(item)) if isinstance(item, Path) else [item]
        return found

    def _choose(self, views: Program) -> Kernel:
        """The kernel that is linked; the others are taken out of the module."""
        names = [kernel.name for kernel in views.kernels]
        wanted = self.request.kernel
        where = Location(self.request.path)
        if not names:
            raise error("no-kernel", f"'{self.request.path}' holds no kernel", where)
        if wanted is None and len(names) > 1:
            raise error("no-kernel", f"'{self.request.path}' holds {len(names)} kernels: {', '.join(names)}", where,
                        hint="say which with --kernel")  # fmt: skip
        if wanted is not None and wanted not in names:
            raise error("no-kernel", f"'{self.request.path}' holds no kernel '{wanted}'", where,
                        hint=suggest(wanted, names))  # fmt: skip
        chosen = next(kernel for kernel in views.kernels if wanted in (None, kernel.name))
        for kernel in views.kernels:
            if kernel is not chosen:
                kernel.op.erase()
        if self.request.target is not None:
            chosen.set("pipelink.kernel", {**chosen.data["pipelink.kernel"], "target": self.request.target})
        return chosen

    def verify_objects(self) -> None:
        """Hold the contracts of the kernel's components against the code that would be linked.  What ``check`` refuses,
        by architecture or toolkit, is left to it.  Raises LinkError ``contract-mismatch`` and ``nvjitlink-failed``."""
        from pipelink.objects import device

        with self.watch.timed("verify objects"):
            for item, images in self._linkable():
                # a contract that was written for code made without the header has nothing to be compared with
                own = any(component.toolkit for component in item.components)
                verify = partial(device.verify, item, self.diagnostics if own else None, images=images)
                self._once("verified", item, images, verify, self.diagnostics)

    def audit_objects(self) -> Callable[[], None]:
        """Begin to audit the code of the kernel's components, in a thread; what is returned waits for the end, and
        raises LinkError with what :mod:`pipelink.objects.honesty` finds.  What was found good is not read again."""
        from pipelink.backend.aside import beside, helpers_for

        jobs, used = self._linkable(), self._used
        helpers = [i for other in self.objects if not other.components for i in helpers_for(other, self.arch)]

        def work(found: Diagnostics) -> None:
            def audit(item: Object, images: Sequence[Image]) -> None:
                from pipelink.backend import alone

                alone.audit(item, images, self.arch, helpers=helpers, only=used).diagnose(found)

            for item, images in jobs:
                kind = f"honest {' '.join(sorted(used & {component.symbol for component in item.components}))}"
                self._once(kind, item, [*images, *helpers], partial(audit, item, images), found)

        return beside(work, self.diagnostics)

    def _linkable(self) -> list[tuple[Object, list[Image]]]:
        """The objects that define a component of the kernel, with the images that ``check`` will not refuse."""
        from pipelink.backend import nvjitlink
        from pipelink.target import TARGETS

        goal, newest = TARGETS.get(self.arch), nvjitlink.version()
        found: list[tuple[Object, list[Image]]] = []
        for item in self.objects if goal is not None else ():
            units = [{i.arch for i in item.ltoir if i.unit == unit} for unit in {i.unit for i in item.images}]
            mine = {c.symbol for c in item.components} & self._used
            if goal is not None and mine and all(goal.choose(unit) is not None for unit in units):
                found.append((item, [image for image in item.select(goal) if image.version <= newest]))
        return found

    def _once(
        self, kind: str, item: Object, images: Sequence[Image], look: Callable[[], object], said: Diagnostics
    ) -> None:
        """Look at an object unless the cache says that it was found good, without a word in ``said``, before."""
        if self.cache is None:
            look()
            return
        key = Key().add(kind, source_digest())
        for tool, version in tool_versions():
            key.add(tool, version)
        _add_object(key, item, images)
        if self.cache.load(key.hexdigest()) is not None:
            return
        before = len(said.items)
        look()
        if len(said.items) == before:
            self.cache.store(key.hexdigest(), {})

    def run_passes(self, *, upto_place: bool = False) -> None:
        """Run the pipeline; what ``place`` wrote is kept before ``entry`` removes it."""
        from pipelink.backend import nvjitlink
        from pipelink.passes.check import CheckPass
        from pipelink.passes.pipeline import Instrument, parse_pipeline, pass_name, run_pipeline

        keep, keep_launch, watch = self._keep, self._keep_launch, self.watch

        class Watch(Instrument):
            def before(self, name: str, module: ir.Operation) -> None:
                if watch.step is not None:
                    watch.step(name)

            def after(self, name: str, module: ir.Operation, seconds: float) -> None:
                watch.times.append((name, seconds))
                if name == "place":
                    keep(module)
                elif name == "transfer":
                    keep_launch(module)

        passes = self._debugged(parse_pipeline(self.request.passes))
        self.verify_objects()
        linker = ".".join(map(str, nvjitlink.version()))
        passes = [CheckPass(linker) if isinstance(p, CheckPass) and not p.linker else p for p in passes]
        if upto_place:
            passes = [p for p in passes if pass_name(p) in ("check", "place")]
        if not any(pass_name(p) == "place" for p in passes):
            self._keep_placed()
        run_pipeline(passes, self.module, instruments=[Watch()], diagnostics=self.diagnostics)
        if not self.placement:
            raise error("not-placed", f"the pipeline '{self.request.passes}' does not place kernel '{self.name}'")
        watch.kept(f"{self.arch}.fused.mlir", f"{self.module}\n")

    def _keep(self, module: ir.Operation) -> None:
        from pipelink.analysis.bind import device_sources
        from pipelink.ir import program
        from pipelink.map import render_svg, render_text

        views = program(module)
        (kernel,) = views.kernels
        self.placement = {
            "kernel": kernel.data["pipelink.placement"],
            "instances": {instance.name: instance.data["placement"] for instance in kernel.instances.values()},
            "connections": {connect.name: connect.data["placement"] for connect in kernel.connects},
        }
        self.launch = kernel.data["pipelink.launch"]
        self._used = {instance.component for instance in kernel.instances.values()}
        self.stack_bytes = sum(
            int(promise.value)
            for instance in kernel.instances.values()
            for promise in views.components[instance.component].promises
            if promise.name == "stack_bytes"
        )
        self._sources = device_sources(kernel)
        with self.watch.timed("map"):
            self.map_svg, self.map_text = render_svg(views, kernel), render_text(views, kernel)
        self.watch.kept(f"{self.arch}.placed.mlir", f"{module}\n")

    def _keep_placed(self) -> None:
        """A kernel that was placed before, by a pipeline that does not place."""
        from pipelink.ir import program

        (kernel,) = program(self.module).kernels
        views = (*kernel.instances.values(), *kernel.connects)
        placed = all(view.data.get("placement") for view in views)
        if kernel.data.get("pipelink.placement") and kernel.launch is not None and placed:
            self._keep(self.module.operation)

    def _debugged(self, passes: list[Pass]) -> list[Pass]:
        """The pipeline of a debug link, if that is what was asked for.  Raises LinkError ``usage``."""
        from pipelink.passes.transfer import TransferPass

        limit, timeline = self.request.debug_hangs, self.request.timeline
        if not limit and not timeline:
            return passes
        try:
            debugged = TransferPass(debug_hangs=limit, timeline=timeline)
        except ValueError as problem:
            raise error("usage", str(problem)) from problem
        return [debugged if isinstance(item, TransferPass) else item for item in passes]

    def _keep_launch(self, module: ir.Operation) -> None:
        """The launch contract of a debug link says more than that of ``place``."""
        from pipelink.ir import program

        (kernel,) = program(module).kernels
        if kernel.launch is not None:
            self.launch = kernel.launch
            if "debug" in self.launch:
                self._sources = tuple(sorted({*self._sources, _WATCH}))

    def entry(self) -> Any:
        """The generated kernel as NVVM IR text and LTO-IR (``backend.nvvm.Entry``)."""
        from pipelink.backend import nvvm
        from pipelink.ir import program

        with self.watch.timed("libNVVM"):
            (kernel,) = program(self.module).kernels
            lines = Location(_source_path(self.request), kernel.location.line) if self.request.lineinfo else None
            entry = nvvm.compile_entry(kernel.op, self.arch, lines)
        self.watch.kept(f"{self.arch}.entry.ll", entry.nvvm)
        self.watch.kept(f"{self.arch}.entry.ltoir", entry.ltoir)
        return entry

    def images(self) -> list[Any]:
        """Everything that nvJitLink links (``backend.nvjitlink.Image``): the entry, the transfers, the objects."""
        from pipelink.backend.nvjitlink import Image

        found = [Image("entry", self.entry().ltoir)]
        found += [Image(name, self._transfer(name)) for name in self._sources]
        found += self._object_images()
        for image in found[1 + len(self._sources) :]:
            self.watch.kept(f"{self.arch}.{Path(image.name).name}.ltoir", image.data)
        return found

    def _object_images(self) -> list[Any]:
        """LTO-IR of the objects that define a component of the kernel, or no component at all, each once."""
        from pipelink.backend.nvjitlink import Image
        from pipelink.target import target

        goal = target(self.arch)
        found: dict[str, Any] = {}
        defined: set[str] = set()
        for item in self.objects:
            symbols = {component.symbol for component in item.components}
            if symbols and not symbols & self._used:
                continue
            if not symbols and goal.choose(image.arch for image in item.ltoir) is None:
                continue  # helpers for other architectures
            defined |= symbols
            for image in item.select(goal):
                suffix = f"#{image.unit}" if image.unit else ""
                found.setdefault(image.sha256, Image(f"{item.name}{suffix}", image.data))
        missing = sorted(self._used - defined)
        if missing:
            names = ", ".join(f"'{name}'" for name in missing)
            message = f"no object defines {names}: kernel '{self.name}' can be checked and placed, but not linked"
            raise error("no-object", message, Location(self.request.path))
        return list(found.values())

    def _transfer(self, name: str) -> bytes:
        """LTO-IR of one transfer source, for the oldest architecture that all its transfers run on."""
        from pipelink import transfers
        from pipelink.backend import toolchain
        from pipelink.target import parse_arch

        folder = Path(transfers.__file__).parent
        archs = {t.min_arch for t in transfers.TRANSFERS if name in (t.sources or ())} or {_WATCH_ARCH}
        arch = max(archs, key=lambda text: parse_arch(text) or (0, ""))
        limited = bool(self.launch.get("debug", {}).get("limit_ms"))
        defines = ("PL_DEBUG_HANGS=1",) if limited else ()

        def build() -> Parts:
            with self.watch.timed(f"NVRTC {name}"):
                text = (folder / name).read_text()
                options = ("-lineinfo",) if self.request.lineinfo else ()
                code = toolchain.compile_ltoir(
                    text, str(folder / name), arch, include_dirs=[folder], defines=defines, options=options
                )
            return {"ltoir": code}

        if self.cache is None:
            return build()["ltoir"]
        key = Key().add("transfer", name).add("arch", arch).add("lineinfo", self.request.lineinfo)
        key.add("defines", " ".join(defines))
        for source in sorted(folder.glob("*.cu*")):
            key.add(source.name, source.read_bytes())
        for tool, version in tool_versions():
            key.add(tool, version)
        return self.cache.fetch(key.hexdigest(), build)[0]["ltoir"]


def monolith(work: Work, folders: Sequence[Path]) -> str:
    """The same composition as one CUDA C++ file; the components' sources are looked for in ``folders``.

    Raises LinkError ``source-not-found`` and what check and place have to say."""
    from pipelink.backend.monolith import find_sources, generate
    from pipelink.ir import program

    work.run_passes(upto_place=True)
    views = program(work.module)
    (kernel,) = views.kernels
    used = [views.components[name] for name in dict.fromkeys(i.component for i in kernel.instances.values())]
    return generate(kernel, views.components, find_sources(used, folders))
