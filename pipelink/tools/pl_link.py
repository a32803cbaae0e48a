"""``pl-link``: links a kernel's IR and component objects into a ``.plk``, or prints a stage on the way.

    pl-link gemm.mlir tma_loader.o wgmma_mainloop.o lib.a -o gemm.plk --target sm_90a

All work is :mod:`pipelink.pipelines`; this file parses arguments, and writes files and tables.  On a cache hit neither
MLIR nor a vendor library is imported.
"""

from __future__ import annotations

import argparse
import io
import json
import sys
import tarfile
import threading
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pipelink.support.diagnostics import LinkError, error
from pipelink.tools.common import Console, ToolParser, relocate, run_tool, version, write_output

if TYPE_CHECKING:
    from pipelink.pipelines import LinkedTarget, Observer, Request

_EMIT = ("mlir", "nvvm", "ltoir", "ptx", "cubin", "sass", "monolith")
_OBJECTS = (".o", ".a")
_SLOW = 3.0  # seconds of silence before progress is shown, and between two lines of it


def _parser() -> ToolParser:
    parser = ToolParser(
        "pl-link",
        "Link a kernel: its IR and the component objects that it names become one .plk file.",
        epilog="@FILE among the arguments stands for the arguments in FILE.",
    )
    parser.add_argument("inputs", nargs="+", metavar="INPUT", help="the kernel's IR (- is stdin), objects and archives")
    parser.add_argument("-o", "--output", metavar="FILE", help="the .plk; with --emit stdout if left out")
    parser.add_argument(
        "--target", action="append", default=[], metavar="ARCH", help="such as sm_90a; repeatable [the kernel's own]"
    )
    parser.add_argument("--kernel", metavar="NAME", help="which of several kernels in the IR")
    parser.add_argument("--emit", choices=_EMIT, help="print this instead of writing a .plk")
    parser.add_argument("--passes", default="", metavar="PIPELINE", help="[check,place,fuse]")
    parser.add_argument("--lineinfo", action="store_true", help="profilers show the components' source lines")
    parser.add_argument("--source", action="append", default=[], metavar="FOLDER", help="components' .cu, for monolith")
    parser.add_argument("--option", "-X", action="append", default=[], metavar="OPTION", help="option for nvJitLink")
    parser.add_argument(
        "--map", nargs="?", const="-", metavar="FILE.svg", help="draw the placement; as text if no file is named"
    )
    parser.add_argument("--save-temps", metavar="FOLDER", help="keep every intermediate result")
    parser.add_argument("--reproduce", metavar="FILE.tar", help="pack the inputs and the command line, then link")
    parser.add_argument("--no-cache", action="store_true", help="link anew, and keep nothing")
    parser.add_argument("-q", "--quiet", action="store_true", help="no audit table")
    parser.add_argument("-v", "--verbose", action="store_true", help="times of every pass and vendor call")
    return parser


def _inputs(arguments: argparse.Namespace) -> list[str]:
    return list(arguments.inputs)


def _is_object(path: str) -> bool:
    if path.endswith(_OBJECTS):
        return True
    try:
        with Path(path).open("rb") as handle:
            return handle.read(8).startswith((b"\x7fELF", b"!<arch>\n", b"!<thin>\n"))
    except (OSError, ValueError):
        return False


def _body(arguments: argparse.Namespace, console: Console) -> None:
    texts = [path for path in arguments.inputs if path == "-" or not _is_object(path)]
    if len(texts) != 1:
        raise error("usage", f"one IR input is needed, {len(texts)} were given", hint="see pl-link --help")
    if arguments.output is None and arguments.emit is None:
        raise error("usage", "where should the result go?", hint="name it with -o FILE, or choose --emit")
    from pipelink.pipelines import PASSES, Request

    data = console.read(texts[0])
    if not data:
        raise error("empty-input", f"'{texts[0]}' is empty")
    path = "<stdin>" if texts[0] == "-" else texts[0]
    request = Request(
        data,
        tuple(Path(name) for name in arguments.inputs if name not in texts),
        path,
        arguments.kernel,
        None,
        arguments.passes or PASSES,
        arguments.lineinfo,
        tuple(arguments.option),
    )
    if arguments.reproduce:
        _reproduce(arguments, console, request)
    try:
        _run(arguments, console, request)
    except LinkError as problem:
        raise LinkError(relocate(problem.diagnostics, "<stdin>", console.stdin)) from problem
    finally:
        console.diagnostics.items[:] = relocate(console.diagnostics.items, "<stdin>", console.stdin)


def _run(arguments: argparse.Namespace, console: Console, request: Request) -> None:
    from pipelink.pipelines import default_cache, link

    started = time.perf_counter()
    with _Progress(arguments, console) as watch:
        requests = [replace(request, target=target) for target in arguments.target] or [request]
        cache = None if arguments.no_cache else default_cache()
        if arguments.emit and arguments.emit not in ("cubin", "sass"):
            if len(requests) > 1:
                raise error("usage", f"--emit={arguments.emit} prints one target, {len(requests)} were given")
            write_output(arguments.output or "-", _emit(arguments, requests[0], watch))
            _times(arguments, console, watch, time.perf_counter() - started)
            return
        linked = [link(item, cache=cache, observer=watch) for item in requests]
    for target in linked:
        console.diagnostics.items += target.warnings
    _write(arguments, console, linked)
    if arguments.verbose:
        where = [f"{t.arch} {'cached' if t.cached else 'linked'}" for t in linked]
        console.say(f"pl-link: {', '.join(where)}\n")
    _times(arguments, console, watch, time.perf_counter() - started)


def _write(arguments: argparse.Namespace, console: Console, linked: Sequence[LinkedTarget]) -> None:
    """The result, the map and the audit table."""
    to_stdout = arguments.output in (None, "-")
    if arguments.emit:
        if len(linked) > 1:
            raise error("usage", f"--emit={arguments.emit} prints one target, {len(linked)} were given")
        content: str | bytes = linked[0].cubin
        if arguments.emit == "sass":
            from pipelink.backend.sass import disassemble

            content = disassemble(linked[0].cubin)
        write_output(arguments.output or "-", content)
    else:
        from pipelink.package import package_linked

        write_output(arguments.output, package_linked(linked[0].name, linked))
    report = "".join(f"{target.audit.render()}\n" for target in linked)
    if arguments.map == "-":
        report = f"{linked[0].map_text}\n{report}"
    elif arguments.map:
        write_output(arguments.map, linked[0].map_svg)
    if arguments.quiet:
        return
    if to_stdout:
        console.say(report)
    else:
        write_output("-", report)


def _emit(arguments: argparse.Namespace, request: Request, watch: Observer) -> str | bytes:
    """A stage before the cubin."""
    from pipelink.pipelines import Work, default_cache, monolith

    work = Work(request, None if arguments.no_cache else default_cache(), watch)
    if arguments.emit == "monolith":
        folders = [Path(folder) for folder in arguments.source] or [Path(request.path).parent]
        return monolith(work, folders)
    work.run_passes()
    if arguments.emit == "mlir":
        return f"{work.module}\n"
    if arguments.emit in ("nvvm", "ltoir"):
        entry = work.entry()
        return str(entry.nvvm) if arguments.emit == "nvvm" else bytes(entry.ltoir)
    from pipelink.backend import nvjitlink

    images = work.images()
    with watch.timed("nvJitLink"):
        return nvjitlink.link(images, work.arch, ptx=True, lineinfo=request.lineinfo, options=request.options).data


def _times(arguments: argparse.Namespace, console: Console, watch: Observer, total: float) -> None:
    if arguments.verbose:
        rows = [*watch.times, ("total", total)]
        console.say("".join(f"{seconds * 1e3:10.1f} ms  {name}\n" for name, seconds in rows))


class _Progress:
    """An observer that writes ``--save-temps``, and says what is being done when a link is slow."""

    def __init__(self, arguments: argparse.Namespace, console: Console) -> None:
        from pipelink.pipelines import Observer

        self._console = console
        self._step = ""
        self._done = threading.Event()
        folder = Path(arguments.save_temps) if arguments.save_temps else None
        self._shown = sys.stderr.isatty() or bool(arguments.verbose)

        def keep(name: str, data: str | bytes) -> None:
            assert folder is not None
            write_output(str(folder / name), data)

        if folder is not None:
            try:
                folder.mkdir(parents=True, exist_ok=True)
            except OSError as problem:
                reason = (problem.strerror or str(problem)).lower()
                raise error("unwritable-output", f"cannot make folder '{folder}': {reason}") from problem
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
    words += [f"--kernel={arguments.kernel}"] if arguments.kernel else []
    words += [f"--passes={request.passes}", *(f"--option={option}" for option in request.options)]
    words += ["--lineinfo"] if request.lineinfo else []
    words += [f"--emit={arguments.emit}"] if arguments.emit else []
    words += ["--output=out.plk"] if not arguments.emit else []
    from pipelink.pipelines import tool_versions

    about: dict[str, Any] = {"pipelink": version(), "python": sys.version, "tools": dict(tool_versions())}
    names["versions.json"] = json.dumps(about, indent=1).encode()
    names["response.txt"] = ("\n".join(json.dumps(word) for word in words) + "\n").encode()
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for name, data in names.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))
    write_output(arguments.reproduce, buffer.getvalue())


def main(argv: Sequence[str] | None = None) -> int:
    """The command; returns its exit status."""
    return run_tool(_parser(), _body, _inputs, argv)


if __name__ == "__main__":
    raise SystemExit(main())
