"""``pl-link``: links a kernel's IR and component objects into a ``.plk``, or prints a stage on the way.

    pl-link gemm.mlir tma_loader.o wgmma_mainloop.o lib.a -o gemm.plk --target sm_90a

All work is :mod:`pipelink.link`; this file parses arguments, and writes files and tables.  On a cache hit neither
MLIR nor a vendor library is imported.
"""

from __future__ import annotations

import argparse
import glob
import io
import json
import os
import shlex
import sys
import tarfile
import threading
import time
from collections.abc import Generator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pipelink.support.diagnostics import LinkError, Location, error
from pipelink.support.outputs import encoded
from pipelink.support.text import printable
from pipelink.tools.common import ToolParser, run_tool, version
from pipelink.tools.console import Console, relocate
from pipelink.tools.traces import add_trace_argument, tracing

if TYPE_CHECKING:
    from pipelink.link import Emitted, LinkedTarget, Observer, Request

_EMIT = ("mlir", "nvvm", "ltoir", "ptx", "cubin", "sass", "monolith")
_CUBINS = ("cubin", "sass")  # of a whole link; the others are stages before
_SINGLE = ("emit", "map", "save_temps")  # what is of one kernel
_SLOW = 3.0  # seconds of silence before progress is shown, and between two lines of it


def parser() -> ToolParser:
    """The command line."""
    made = ToolParser(
        "pl-link",
        "Link a kernel: its IR and the component objects that it names become one .plk file.",
    )
    made.add_argument(
        "inputs", nargs="+", metavar="INPUT", help="IR of a kernel, or of several (- is stdin), objects and archives"
    )
    made.add_argument("-o", "--output", metavar="FILE", help="the .plk; with --emit stdout if left out")
    made.add_argument(
        "--target", action="append", default=[], metavar="ARCH", help="such as sm_90a; repeatable [the kernel's own]"
    )
    made.add_argument(
        "--kernel",
        action="append",
        default=[],
        metavar="NAME",
        help="which of several kernels in the IR; repeatable, the .plk then holds each",
    )
    made.add_argument("--emit", choices=_EMIT, help="print this instead of writing a .plk")
    made.add_argument("--passes", default="", metavar="PIPELINE", help="[check,place,fuse]")
    made.add_argument(
        "--lineinfo", action="store_true", help="profilers show source lines, of components compiled with it too"
    )
    made.add_argument(
        "--debug-hangs",
        nargs="?",
        const=-1,
        default=0,
        type=_milliseconds,
        metavar="MILLISECONDS",
        help="a wait that takes longer ends the kernel, and the launch says who waits for whom [2000]",
    )
    made.add_argument("--trace-timeline", action="store_true", help="launches note when each role waits and works")
    made.add_argument("--debug-print", action="store_true", help="components may call printf and assert")
    made.add_argument("--source", action="append", default=[], metavar="FOLDER", help="components' .cu, for monolith")
    made.add_argument(
        "--option", "-X", action="append", default=[], metavar="OPTION", help="for nvJitLink, as in -X=-ftz=1"
    )
    made.add_argument(
        "--map",
        nargs="?",
        const="-",
        type=_map_file,
        metavar="FILE",
        help="draw the placement into a .svg or .txt file; printed as text if no file is named",
    )
    add_trace_argument(made)
    made.add_argument("--save-temps", metavar="FOLDER", help="keep every intermediate result")
    made.add_argument("--reproduce", metavar="FILE.tar", help="pack the inputs and the command line, then link")
    made.add_argument("--no-cache", action="store_true", help="link anew, and keep nothing")
    made.add_argument("-q", "--quiet", action="store_true", help="no audit table")
    made.add_argument("-v", "--verbose", action="store_true", help="times of every pass and vendor call")
    return made


def _map_file(text: str) -> str:
    if text != "-" and not text.endswith((".svg", ".txt")):
        raise argparse.ArgumentTypeError(f"'{text}' is neither a .svg nor a .txt file")
    return text


def _milliseconds(text: str) -> int:
    if not text.isdigit() or not int(text):
        raise argparse.ArgumentTypeError(f"'{text}' is no number of milliseconds (as in --debug-hangs=500)")
    return int(text)


def _inputs(arguments: argparse.Namespace) -> list[str]:
    return list(arguments.inputs)


def _file_name(name: str) -> str:
    """The name of an intermediate result, which contains names of inputs, as the name of a file."""
    return printable(name, keep="").replace("/", "_").replace("\0", "_")[-200:]


def _body(arguments: argparse.Namespace, console: Console) -> None:
    outputs = (arguments.output or "-", arguments.map, arguments.trace, arguments.reproduce)
    console.will_write(outputs if arguments.map != "-" else (outputs[0], *outputs[2:]))
    texts, objects = console.read_all(arguments.inputs)
    kernels: list[str] = list(dict.fromkeys(arguments.kernel))
    if not texts:
        raise error("usage", "IR of a kernel is needed, none was given", hint="see pl-link --help")
    if len(texts) > 1 and kernels:
        listed = ", ".join(name for name, _ in texts)
        raise error("usage", f"--kernel chooses from one IR input, {len(texts)} were given: {listed}")
    several = max(len(texts), len(kernels))
    if several > 1 and (single := next((name for name in _SINGLE if getattr(arguments, name)), None)):
        raise error("usage", f"--{single.replace('_', '-')} is of one kernel, {several} were given")
    if arguments.output is None and arguments.emit is None:
        raise error("usage", "where should the result go?", hint="name it with -o FILE, or choose --emit")
    from pipelink.link import HANG_LIMIT, PASSES, File, Request

    targets: list[str] = list(dict.fromkeys(arguments.target))
    if arguments.emit and len(targets) > 1:
        raise error("usage", f"--emit={arguments.emit} prints one target, {len(targets)} were given")
    for path, data in texts:
        if not data:
            raise error("empty-input", f"'{path}' is empty", Location(path))
    path, data = texts[0]
    request = Request(
        text=data,
        objects=tuple(File(name, content) for name, content in objects),
        path=path,
        kernel=kernels[0] if kernels else None,
        passes=arguments.passes or PASSES,
        lineinfo=arguments.lineinfo,
        options=tuple(arguments.option),
        debug_hangs=HANG_LIMIT if arguments.debug_hangs < 0 else arguments.debug_hangs,
        timeline=arguments.trace_timeline,
        debug_print=arguments.debug_print,
    )
    if arguments.reproduce:
        _reproduce(arguments, console, request)
    requests = [replace(request, path=path, text=data) for path, data in texts]
    if len(kernels) > 1:
        requests = [replace(request, kernel=kernel) for kernel in kernels]
    with tracing(arguments, console):
        _run(arguments, console, [replace(item, target=target) for item in requests for target in targets or [None]])


def _run(arguments: argparse.Namespace, console: Console, requests: Sequence[Request]) -> None:
    from pipelink.link import emit, link, user_cache

    started = time.perf_counter()
    with _Progress(arguments, console) as watch:
        cache = None if arguments.no_cache else user_cache()
        if arguments.emit and arguments.emit not in _CUBINS:
            folders = [Path(folder) for folder in arguments.source] or [Path(requests[0].path).parent]
            with _located(console, requests[0]):
                emitted = emit(requests[0], arguments.emit, folders=folders, cache=cache, observer=watch)
                console.diagnostics.items += emitted.warnings
            console.protected += map(str, emitted.sources)
            console.say(_write_map(arguments, console, [emitted]))
            console.write(arguments.output or "-", emitted.content)
            _times(arguments, console, watch, time.perf_counter() - started)
            return
        linked: list[LinkedTarget] = []
        for item in requests:
            with _located(console, item):
                linked.append(link(item, cache=cache, observer=watch))
                console.diagnostics.items += linked[-1].warnings
    _write(arguments, console, linked)
    if arguments.verbose:
        where = [f"{t.arch} {'cached' if t.cached else 'linked'}" for t in linked]
        console.say(f"pl-link: {', '.join(where)}\n")
    _times(arguments, console, watch, time.perf_counter() - started)


@contextmanager
def _located(console: Console, request: Request) -> Generator[None]:
    """Name the input in what is said of a request."""
    try:
        yield
    except LinkError as problem:
        raise LinkError(relocate(problem.diagnostics, request.path)) from problem
    finally:
        console.diagnostics.items[:] = relocate(console.diagnostics.items, request.path)


def _write(arguments: argparse.Namespace, console: Console, linked: Sequence[LinkedTarget]) -> None:
    """The result, the map and the audit table."""
    to_stdout = arguments.output in (None, "-")
    shown = _write_map(arguments, console, linked)
    if arguments.emit:
        content: str | bytes = linked[0].cubin
        if arguments.emit == "sass":
            from pipelink.backend.sass import disassemble

            content = disassemble(linked[0].cubin)
        console.write(arguments.output or "-", content)
    else:
        from pipelink.package import package_linked

        console.write(arguments.output, package_linked(linked))
    report = shown + ("" if arguments.quiet else "".join(f"{target.audit.render()}\n" for target in linked))
    if not report:
        return
    if to_stdout:
        console.say(report)
    else:
        console.report(report)


def _write_map(arguments: argparse.Namespace, console: Console, placed: Sequence[LinkedTarget | Emitted]) -> str:
    """Draw the placement of each target; returns what is to be printed of it."""
    if not arguments.map:
        return ""
    text = "".join(f"{target.map_text}\n" for target in placed)
    if arguments.map == "-":
        return text
    if arguments.map.endswith(".txt"):
        console.write(arguments.map, text)
        return ""
    for target in placed:
        file = Path(arguments.map)
        name = file if len(placed) == 1 else file.with_name(f"{file.stem}.{target.arch}{file.suffix}")
        console.write(str(name), target.map_svg)
    return ""


def _times(arguments: argparse.Namespace, console: Console, watch: Observer, total: float) -> None:
    if arguments.verbose:
        rows = [*watch.times, ("total", total)]
        console.say("".join(f"{seconds * 1e3:10.1f} ms  {name}\n" for name, seconds in rows))


class _Progress:
    """An observer that writes ``--save-temps``, and says what is being done when a link is slow."""

    def __init__(self, arguments: argparse.Namespace, console: Console) -> None:
        from pipelink.link import Observer

        self._console = console
        self._step = ""
        self._done = threading.Event()
        folder = Path(arguments.save_temps) if arguments.save_temps else None
        self._shown = sys.stderr.isatty() or bool(arguments.verbose)

        def keep(name: str, data: str | bytes) -> None:
            assert folder is not None
            console.write(str(folder / _file_name(name)), data)

        if folder is not None:
            try:
                folder.mkdir(parents=True, exist_ok=True)
            except OSError as problem:
                reason = (problem.strerror or str(problem)).lower()
                where = Location(str(folder))
                raise error("unwritable-output", f"cannot make folder '{folder}': {reason}", where) from problem
        self._observer = Observer(step=self._begin, keep=keep if folder is not None else None)

    def _begin(self, step: str) -> None:
        self._step = step

    def _tell(self) -> None:
        seconds = _SLOW
        while not self._done.wait(_SLOW):
            self._console.say(f"pl-link: {self._step} … {seconds:.0f} s\n")
            seconds += _SLOW

    def __enter__(self) -> Observer:
        if self._shown:
            with suppress(RuntimeError):  # the system gives no thread: it works in silence
                threading.Thread(target=self._tell, daemon=True).start()
        return self._observer

    def __exit__(self, *_: object) -> None:
        self._done.set()


def _reproduce(arguments: argparse.Namespace, console: Console, request: Request) -> None:
    """A tar of the inputs and a response file that links them: ``pl-link @response.txt`` in its folder."""
    names: dict[str, bytes] = {}
    words: list[str] = []
    for number, path in enumerate(arguments.inputs):
        name = f"{number}-{Path(path).name if path != '-' else 'kernel.mlir'}"
        names[name] = console.read(path)
        words.append(name)
    words += [f"--target={target}" for target in arguments.target]
    words += [f"--kernel={kernel}" for kernel in arguments.kernel]
    words += [f"--passes={request.passes}", *(f"--option={option}" for option in request.options)]
    words += ["--lineinfo"] if request.lineinfo else []
    words += [f"--debug-hangs={request.debug_hangs}"] if request.debug_hangs else []
    words += ["--trace-timeline"] if request.timeline else []
    words += ["--debug-print"] if request.debug_print else []
    words += [f"--emit={arguments.emit}"] if arguments.emit else []
    words += ["--output=out.plk"] if not arguments.emit else []
    if arguments.emit == "monolith":
        for number, folder in enumerate(map(Path, arguments.source or [str(Path(request.path).parent)])):
            words.append(f"--source=source{number}")
            files = sorted(filter(os.path.isfile, glob.glob(f"{glob.escape(str(folder))}/*.cu*")))
            names |= {f"source{number}/{Path(file).name}": console.read(file) for file in files}
    from pipelink.link.key import tool_versions

    about: dict[str, Any] = {"pipelink": version(), "python": sys.version, "tools": dict(tool_versions())}
    names["versions.json"] = json.dumps(about, indent=1).encode()
    names["response.txt"] = encoded("".join(f"{shlex.quote(word)}\n" for word in words))
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for name, data in names.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))
    console.write(arguments.reproduce, buffer.getvalue())


def main(argv: Sequence[str] | None = None) -> int:
    """The command; returns its exit status."""
    return run_tool(parser(), _body, _inputs, argv)


if __name__ == "__main__":
    raise SystemExit(main())
