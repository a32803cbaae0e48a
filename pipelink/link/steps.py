"""The link, step by step.

``link`` is the whole of it, ``emit`` stops on the way.  Each step is a function that takes what it needs and returns
what later ones need; :func:`_run` calls them in this order:

========== ==========================================================================================================
step       what holds after it
========== ==========================================================================================================
key        every input that can change the result is hashed; a cached result ends here, without MLIR or any compiler
read       one kernel for one target in a verified module, with its components by the contracts of the objects
verify     each contract is the one that its device code was compiled with; meanwhile, in a thread that is joined
           before the audit, each object is audited: its code does what its contract declares; and in another, the
           objects are compared: a name means the same in all of them
place      the kernel is checked and placed; placement, launch contract and drawings are kept
fuse       proven, and plain llvm/nvvm dialect; the launch contract is final
entry      libNVVM made LTO-IR of it
transfers  NVRTC made LTO-IR of the transfers that it uses (once per toolkit: cached)
cubin      nvJitLink linked entry, transfers and objects
audit      the cubin is what contracts and placement said, or the link fails
========== ==========================================================================================================

``monolith`` is emitted after place, ``mlir`` after fuse, ``nvvm`` and ``ltoir`` after entry, ``ptx`` after transfers.
Only this package knows both passes and backend; everything heavy is imported where it is used.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, overload

from pipelink.backend.cache import Cache, Parts, default_folder
from pipelink.link import key
from pipelink.link.objects import BoundMap, audit_objects, begin, check_copies, object_images, verify_objects
from pipelink.link.read import Source, read
from pipelink.link.request import Observer, Request
from pipelink.link.result import Emitted, LinkedTarget, decode, encode
from pipelink.link.symbols import Symbols
from pipelink.support.diagnostics import Diagnostic, Diagnostics, LinkError, Location, error
from pipelink.support.inputs import LTOIR_MAGIC

if TYPE_CHECKING:
    from pipelink.audit.report import KernelReport, Rounds
    from pipelink.backend.nvjitlink import Image, Linked
    from pipelink.backend.nvvm import Entry
    from pipelink.ir.placement import ConnectionPlacement, InstancePlacement, KernelPlacement
    from pipelink.ir.views import Kernel
    from pipelink.passes import Pass
    from pipelink.support.mlir import ir

Stage = Literal["monolith", "mlir", "nvvm", "ltoir", "ptx"]
_WATCH, _WATCH_ARCH = "watch.cu", "sm_80"  # what only debug links contain, and the oldest architecture that runs it


def user_cache() -> Cache | None:
    """The user's cache; None for a user without a home."""
    folder = default_folder()
    return None if folder is None else Cache(folder)


def link(request: Request, *, cache: Cache | None = None, observer: Observer | None = None) -> LinkedTarget:
    """Link one kernel for one target.  ``cache=None`` links anew.

    Raises LinkError with everything that check, place, the vendor libraries or the audit have to say."""
    watch = observer or Observer()
    request = request.loaded()
    if cache is None or watch.keep is not None:
        return decode(encode(_run(request, cache, watch)))
    with watch.timed("cache key"):
        wanted = key.key_of(request)
    linked, hit = cache.fetch(wanted, lambda: encode(_run(request, cache, watch)), decode)
    return replace(linked, cached=hit)


def emit(
    request: Request,
    stage: Stage,
    *,
    folders: Sequence[Path] = (),
    cache: Cache | None = None,
    observer: Observer | None = None,
) -> Emitted:
    """What a link has made at ``stage``; ``folders`` are where the components' sources of a monolith are looked for.

    Raises LinkError as :func:`link`, and ``source-not-found``."""
    return _run(request.loaded(), cache, observer or Observer(), stage, folders)


@overload
def _run(request: Request, cache: Cache | None, watch: Observer) -> LinkedTarget: ...
@overload
def _run(request: Request, cache: Cache | None, watch: Observer, stop: Stage, folders: Sequence[Path]) -> Emitted: ...
def _run(
    request: Request,
    cache: Cache | None,
    watch: Observer,
    stop: Stage | None = None,
    folders: Sequence[Path] = (),
) -> LinkedTarget | Emitted:
    diagnostics = Diagnostics()
    source = read(request, watch)
    passes = pipeline(request)
    symbols = Symbols(source, cache, diagnostics) if stop in (None, "ptx") else None
    join_audits = audit_objects(source, cache, diagnostics, debug=passes.debug) if stop is None else None
    verify_objects(source, cache, watch, diagnostics)

    placed = place(source, passes, watch, diagnostics)

    def emitted(content: str | bytes, sources: Sequence[Path] = ()) -> Emitted:
        return Emitted(content, source.arch, tuple(diagnostics.items), placed.map_svg, placed.map_text, tuple(sources))

    if stop == "monolith":
        return emitted(*monolith(source, folders))

    launch = fuse(source, placed, passes, watch, diagnostics)
    if stop == "mlir":
        return emitted(f"{source.module}\n")

    entry = compile_entry(source, request, watch)
    if stop in ("nvvm", "ltoir"):
        return emitted(entry.nvvm if stop == "nvvm" else entry.ltoir)

    transfers = transfer_images(placed, launch, source.arch, request, cache, watch)
    images = link_inputs(entry, transfers, source, request, watch)
    assert symbols is not None
    try:
        linked = link_images(images, source, request, watch, ptx=stop == "ptx")
    except LinkError as refused:
        refusal = symbols.refuse(refused)
        if refusal is refused and join_audits is not None:
            join_audits()
        raise refusal from None
    with watch.timed("compare symbols"):
        undefined = symbols.undefined()
    if stop == "ptx":
        return emitted(linked.data)
    symbols.require_variables(linked.data, undefined)
    if join_audits is not None:
        with watch.timed("audit objects"):
            audited = join_audits()
            check_copies(audited.copies, placed.maps, source, diagnostics)
        if audited.rounds:
            with watch.timed("prove rounds"):
                prove_rounds(audited.rounds, placed, passes, diagnostics)
    report = audit_kernel(linked, images, source, placed, launch, request, watch, debug=passes.debug)
    return LinkedTarget(
        name=source.name,
        arch=source.arch,
        cubin=linked.data,
        launch=launch,
        placement=placed.attributes,
        audit=report,
        log=linked.log,
        toolkit=_linker_version(),
        warnings=tuple(diagnostics.items),
        map_svg=placed.map_svg,
        map_text=placed.map_text,
    )


# ------------------------------------------------------------------------------------------------------- the passes
@dataclass(frozen=True)
class Pipeline:
    """The passes of a link, spelled ``text``: ``before`` are those up to where the kernel is placed, the last ``place``
    or the checks of a kernel that was placed already, ``after`` those that make code of it.  ``debug``: they make a
    debug link."""

    text: str
    before: tuple[Pass, ...]
    after: tuple[Pass, ...]
    debug: bool


def pipeline(request: Request) -> Pipeline:
    """Parse the pipeline.  ``check`` is told which nvJitLink there is, ``transfer`` whether this is a debug link.
    Raises LinkError ``bad-pipeline`` and ``usage``."""
    from pipelink.passes.check import CheckPass
    from pipelink.passes.pipeline import parse_pipeline
    from pipelink.passes.place import PlacePass
    from pipelink.passes.transfer import TransferPass

    passes = parse_pipeline(request.passes)
    if request.debug_hangs or request.timeline:
        try:
            debugged = TransferPass(debug_hangs=request.debug_hangs, timeline=request.timeline)
        except ValueError as problem:
            raise error("usage", str(problem)) from problem
        passes = [debugged if isinstance(item, TransferPass) else item for item in passes]
    passes = [CheckPass(_linker_version()) if isinstance(p, CheckPass) and not p.linker else p for p in passes]
    places = [number for number, item in enumerate(passes, 1) if isinstance(item, PlacePass)]
    checks = next((number for number, item in enumerate(passes) if not isinstance(item, CheckPass)), len(passes))
    end = places[-1] if places else checks
    watched = any(item.debug_hangs or item.timeline for item in passes if isinstance(item, TransferPass))
    return Pipeline(request.passes, tuple(passes[:end]), tuple(passes[end:]), watched or request.debug_print)


@dataclass(frozen=True)
class Placed:
    """What is kept of a placed kernel, which ``fuse`` consumes: its placements, those as ``LinkedTarget`` has them
    (``attributes``), the launch contract, the tensor maps of its parameters, the files of the transfers, the bytes of
    stack that its components may use, the drawings, and the ``module`` as it is then."""

    kernel: KernelPlacement
    instances: tuple[InstancePlacement, ...]
    connections: tuple[ConnectionPlacement, ...]
    attributes: dict[str, Any]
    launch: dict[str, Any]
    maps: tuple[BoundMap, ...]
    transfers: tuple[str, ...]
    stack_bytes: int
    map_svg: str
    map_text: str
    module: ir.Operation


def place(source: Source, passes: Pipeline, watch: Observer, diagnostics: Diagnostics) -> Placed:
    """Check and place.  A kernel that then has no placement goes through the other passes too, for what they have to
    say of it, and is refused as ``not-placed``.  Raises LinkError with what the passes report."""
    _run_passes(passes.before, source, watch, diagnostics)
    placed = _snapshot(source, watch)
    if placed is None:
        _run_passes(passes.after, source, watch, diagnostics)
        raise error("not-placed", f"the pipeline '{passes.text}' does not place kernel '{source.name}'")
    return placed


def _snapshot(source: Source, watch: Observer) -> Placed | None:
    from pipelink.analysis.bind import device_sources
    from pipelink.analysis.placement.validate import is_placed
    from pipelink.ir import program
    from pipelink.map import render_svg, render_text
    from pipelink.transfers import placement_of

    views = program(source.module)
    (kernel,) = views.kernels
    if not is_placed(kernel):
        return None
    whole = kernel.placement
    assert whole is not None
    instances = [instance.placement for instance in kernel.instances.values()]
    connections = [placement_of(connect) for connect in kernel.connects]
    attributes = {
        "kernel": kernel.data["pipelink.placement"],
        "instances": {name: instance.placement_attribute for name, instance in kernel.instances.items()},
        "connections": {connect.name: connect.placement_attribute for connect in kernel.connects},
    }
    stack_bytes = sum(views.components[instance.component].stack_bytes for instance in kernel.instances.values())
    with watch.timed("map"):
        svg, text = render_svg(views, kernel), render_text(views, kernel)
    watch.kept(f"{source.arch}.placed.mlir", f"{source.module}\n")
    return Placed(
        kernel=whole,
        instances=tuple(placed for placed in instances if placed is not None),
        connections=tuple(placed for placed in connections if placed is not None),
        attributes=attributes,
        launch=kernel.data["pipelink.launch"],
        maps=tuple(_bound_maps(kernel)),
        transfers=device_sources(kernel),
        stack_bytes=stack_bytes,
        map_svg=svg,
        map_text=text,
        module=source.module.operation.clone().operation,
    )


def prove_rounds(rounds: Sequence[Rounds], placed: Placed, passes: Pipeline, diagnostics: Diagnostics) -> None:
    """Prove a kernel, where it was to be proved, with the counts by which the code of roles without a protocol goes."""
    from pipelink.ir import program
    from pipelink.passes.prove import ProvePass, check_rounds

    if any(isinstance(item, ProvePass) for item in (*passes.before, *passes.after)):
        views = program(placed.module)
        counts = {(one.component, one.role): one.param for one in rounds}
        check_rounds(views.kernels[0], views.components, counts, diagnostics)


def _bound_maps(kernel: Kernel) -> Iterator[BoundMap]:
    launch = kernel.data["pipelink.launch"]
    ranks = {item["name"]: len(item["shape"]) for item in launch["arguments"] if item["kind"] == "tensor"}
    for instance in kernel.instances.values():
        for name, where in instance.placement.params.items() if instance.placement is not None else ():
            field = launch["parameters"]["fields"][where.field] if where.field is not None else {}
            if field.get("kind") == "tensor_map":
                tensor = field["tensor"]
                yield BoundMap(instance.name, instance.component, name, tensor, ranks[tensor])


def monolith(source: Source, folders: Sequence[Path]) -> tuple[str, list[Path]]:
    """The placed composition as one CUDA C++ file, and the components' sources that it includes, which are looked for
    in ``folders``.

    Raises LinkError ``source-not-found``."""
    from pipelink.backend.monolith import find_sources, generate
    from pipelink.ir import program

    views = program(source.module)
    (kernel,) = views.kernels
    used = [views.components[name] for name in dict.fromkeys(i.component for i in kernel.instances.values())]
    sources = find_sources(used, folders)
    return generate(kernel, views.components, sources), sources


def fuse(source: Source, placed: Placed, passes: Pipeline, watch: Observer, diagnostics: Diagnostics) -> dict[str, Any]:
    """Make the kernel llvm/nvvm dialect.  Returns the launch contract, to which a debug link adds.
    Raises LinkError with what the passes report."""
    from pipelink.ir import program

    _run_passes(passes.after, source, watch, diagnostics)
    watch.kept(f"{source.arch}.fused.mlir", f"{source.module}\n")
    (kernel,) = program(source.module).kernels
    return kernel.launch if kernel.launch is not None else placed.launch


def _run_passes(passes: Sequence[Pass], source: Source, watch: Observer, diagnostics: Diagnostics) -> None:
    from pipelink.passes.pipeline import Instrument, run_pipeline

    class Watch(Instrument):
        def before(self, name: str, module: ir.Operation) -> None:
            watch.begun(name)

        def after(self, name: str, module: ir.Operation, seconds: float) -> None:
            watch.times.append((name, seconds))

    if passes:
        run_pipeline(passes, source.module, instruments=[Watch()], diagnostics=diagnostics)


# ------------------------------------------------------------------------------------------------- what is linked
def compile_entry(source: Source, request: Request, watch: Observer) -> Entry:
    """The generated kernel as NVVM IR text and LTO-IR.  Raises LinkError ``nvvm-failed``."""
    from pipelink.backend import nvvm
    from pipelink.ir import program

    with watch.timed("libNVVM"):
        (kernel,) = program(source.module).kernels
        lines = Location(request.source_path, kernel.location.line) if request.lineinfo else None
        entry = nvvm.compile_entry(kernel.op, source.arch, lines)
    watch.kept(f"{source.arch}.entry.ll", entry.nvvm)
    watch.kept(f"{source.arch}.entry.ltoir", entry.ltoir)
    return entry


def transfer_images(
    placed: Placed, launch: dict[str, Any], arch: str, request: Request, cache: Cache | None, watch: Observer
) -> list[Image]:
    """LTO-IR, to be linked for ``arch``, of the transfers that were placed, and of what a debug link adds, each once,
    by name."""
    from pipelink.backend.nvjitlink import Image

    names = {*placed.transfers, *((_WATCH,) if "debug" in launch else ())}
    defines = ("PL_DEBUG_HANGS=1",) if _has_limit(launch) else ()
    return [Image(name, _compile_transfer(name, arch, defines, request, cache, watch)) for name in sorted(names)]


def _has_limit(launch: dict[str, Any]) -> bool:
    return bool(launch.get("debug", {}).get("limit_ms"))


def _compile_transfer(
    name: str, goal: str, defines: Sequence[str], request: Request, cache: Cache | None, watch: Observer
) -> bytes:
    """LTO-IR of one transfer source, for the oldest architecture that all its transfers run on and that links for
    ``goal``."""
    from pipelink import transfers
    from pipelink.backend import toolchain
    from pipelink.target import parse_arch, target

    folder = Path(transfers.__file__).parent
    wanted = {t.arch_for(target(goal)) for t in transfers.TRANSFERS if name in (t.sources or ())}
    archs = [arch for arch in wanted if arch is not None] or [_WATCH_ARCH]
    arch = max(archs, key=lambda text: parse_arch(text) or (0, ""))

    def build() -> dict[str, bytes]:
        with watch.timed(f"NVRTC {name}"):
            text = (folder / name).read_text()
            options = ("-lineinfo",) if request.lineinfo else ()
            code = toolchain.compile_ltoir(
                text, str(folder / name), arch, include_dirs=[folder], defines=defines, options=options
            )
        return {"ltoir": code}

    if cache is None:
        return build()["ltoir"]
    files = sorted(folder.glob("*.cu*"))
    known = key.key_of_transfer(name, arch, lineinfo=request.lineinfo, defines=defines, sources=files)
    return cache.fetch(known, build, _ltoir)[0]


def _ltoir(parts: Parts) -> bytes:
    code = parts.get("ltoir", b"")
    if not code.startswith(LTOIR_MAGIC):
        raise ValueError("no LTO-IR")
    return code


def link_inputs(
    entry: Entry, transfers: Sequence[Image], source: Source, request: Request, watch: Observer
) -> list[Image]:
    """Everything that nvJitLink links, in the order in which it gets it: the entry, the transfers, the objects.
    Raises LinkError ``no-object`` and ``missing-arch``."""
    from pipelink.backend.nvjitlink import Image

    objects = object_images(source, request)
    names = Counter[str]()
    for image in objects:
        name = Path(image.name).name
        names[name] += 1
        number = f".{names[name]}" if names[name] > 1 else ""  # objects of one file name, of several folders
        watch.kept(f"{source.arch}.{name}{number}.ltoir", image.data)
    return [Image("entry", entry.ltoir), *transfers, *objects]


# -------------------------------------------------------------------------------------------------------- the cubin
def link_images(
    images: Sequence[Image], source: Source, request: Request, watch: Observer, *, ptx: bool = False
) -> Linked:
    """Link for the target.  Raises LinkError as :func:`pipelink.backend.nvjitlink.link`."""
    from pipelink.backend import nvjitlink

    if not ptx:
        begin(lambda _: _import_audit(), Diagnostics())
    with watch.timed("nvJitLink" if ptx else f"nvJitLink {source.arch}"):
        linked = nvjitlink.link(images, source.arch, ptx=ptx, lineinfo=request.lineinfo, options=request.options)
    if not ptx:
        watch.kept(f"{source.arch}.cubin", linked.data)
        watch.kept(f"{source.arch}.log", linked.log)
    return linked


def _import_audit() -> None:
    """What comes after nvJitLink is imported beside it."""
    from importlib import import_module

    for name in ("pipelink.audit.kernel", "pipelink.audit.printing", "elftools.elf.elffile", "pipelink.package"):
        import_module(name)


def audit_kernel(
    linked: Linked,
    images: Sequence[Image],
    source: Source,
    placed: Placed,
    launch: dict[str, Any],
    request: Request,
    watch: Observer,
    *,
    debug: bool,
) -> KernelReport:
    """Hold the cubin against contracts and placement.  Raises LinkError with every check that fails, and where in the
    components' sources the reason lies."""
    from pipelink.audit import kernel, printing
    from pipelink.target import target

    prints = None
    if debug and any(name.encode() in linked.data for name in printing.DRIVER_CALLS):
        text = link_images(images, source, request, Observer(), ptx=True).data.decode("utf-8", "replace")
        prints = printing.read(text, source.name)

    expected = kernel.expectation(
        source.name,
        placed.kernel,
        placed.instances,
        placed.connections,
        stack_bytes=placed.stack_bytes,
        smem_limit=target(source.arch).smem_for(placed.kernel.min_ctas),
        leaves=_has_limit(launch),
        printing=prints,
    )
    inputs = [kernel.LinkInput(image.name, "ltoir") for image in images]
    with watch.timed("audit"):
        report = kernel.audit(linked.data, expected, log=linked.log, inputs=inputs)
    if not report.ok:
        with watch.timed("explain"):
            raise LinkError(_explained(report, linked, images, source, request, watch))
    return report


def _explained(
    report: KernelReport,
    linked: Linked,
    images: Sequence[Image],
    source: Source,
    request: Request,
    watch: Observer,
) -> list[Diagnostic]:
    """What failed, with the places in the components' sources, for which the kernel is linked with line information."""
    from pipelink.audit import explain
    from pipelink.backend.nvjitlink import Image

    lined, unwatched = replace(request, lineinfo=True), Observer()

    def ptx() -> str:
        return link_images(images, source, lined, unwatched, ptx=True).data.decode("utf-8", "replace")

    try:
        if not request.lineinfo:
            entry = Image(images[0].name, compile_entry(source, lined, unwatched).ltoir)
            images = [entry, *images[1:]]
            linked = link_images(images, source, lined, unwatched)
        used = [c for item in source.objects for c in item.components if c.symbol in source.components]
        return explain.explain(report, linked, ptx, used)
    except LinkError:  # the reason stays what it is
        return report.diagnostics()


def _linker_version() -> str:
    from pipelink.backend import nvjitlink

    return ".".join(map(str, nvjitlink.version()))
