"""``pl-cc``: compiles a component's source with NVRTC to the same object that ``nvcc -dc`` makes.

Needs neither nvcc nor a host compiler.  The source is compiled to LTO-IR once for each ``--arch``; the contract is read
from what was compiled, so it is checked here already: complete, and the same for every architecture.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from pipelink.support.diagnostics import Location, error
from pipelink.support.inputs import is_object, refuse_foreign
from pipelink.tools.common import ToolParser, run_tool
from pipelink.tools.console import STDIN, Console, write_stdout

if TYPE_CHECKING:
    from pipelink.objects import Record


class _PrintIncludeDir(argparse.Action):
    """Prints where ``pipelink/component.cuh`` is, for the include path of other compilers."""

    def __call__(self, *_: object) -> None:
        from pipelink.backend import toolchain

        write_stdout(f"{toolchain.include_dirs()[0]}\n")
        raise SystemExit(0)


def parser() -> ToolParser:
    """The command line."""
    made = ToolParser("pl-cc", "Compile a component into a linkable object, with NVRTC.")
    made.add_argument("source", metavar="SOURCE.cu", help="CUDA C++ with one or more PL_COMPONENTs")
    made.add_argument("-o", "--output", metavar="FILE", help="the object; SOURCE.o in the current folder if left out")
    made.add_argument(
        "--arch",
        "-arch",
        action="append",
        metavar="ARCH",
        help="architecture, such as sm_80 or sm_90a; may be repeated [sm_90a]",
    )
    made.add_argument("-I", action="append", default=[], dest="include", metavar="FOLDER", help="include folder")
    made.add_argument("-D", action="append", default=[], dest="define", metavar="NAME[=VALUE]", help="macro")
    made.add_argument("--std", "-std", default="c++17", choices=("c++17", "c++20"), help="language [c++17]")
    made.add_argument("--include-cutlass", action="store_true", help="CUTLASS's headers, of the wheel nvidia-cutlass")
    made.add_argument("--helper", action="store_true", help="no component: functions for components to call")
    made.add_argument("--lineinfo", "-lineinfo", action="store_true", help="keep source lines for profilers")
    made.add_argument(
        "-X", action="append", default=[], dest="options", metavar="OPTION", help="for NVRTC, as in -X=-use_fast_math"
    )
    made.add_argument("-MD", action="store_true", help="write a dependency file")
    made.add_argument("-MF", metavar="FILE", help="the dependency file [the object's name with .d]")
    made.add_argument("--print-include-dir", action=_PrintIncludeDir, nargs=0, help="print where the headers are")
    made.add_argument("-v", "--verbose", action="store_true", help="print what is done and how long it takes")
    return made


def _read(console: Console, path: str) -> bytes:
    text, name = console.read(path), STDIN if path == "-" else path
    if not text.strip():
        raise error("empty-input", f"'{name}' is empty", Location(name))
    refuse_foreign(text, name, source=True)
    if b"\0" in text:
        raise error("foreign-input", f"'{name}' is not a source file", Location(name))
    return text


def _body(arguments: argparse.Namespace, console: Console) -> None:
    from pipelink.audit import contract
    from pipelink.backend import toolchain
    from pipelink.objects import Image, object_bytes, records
    from pipelink.target import require_image_arch

    path: str = arguments.source
    shown = shown_name(STDIN if path == "-" else path)
    output: str = arguments.output or f"{Path('stdin' if path == '-' else path).stem}.o"
    depfile: str | None = arguments.MF or (str(Path(output).with_suffix(".d")) if arguments.MD else None)
    archs: list[str] = list(dict.fromkeys(arguments.arch or ["sm_90a"]))
    for arch in archs:
        require_image_arch(arch)  # refuse an unknown one before compiling for the others
    source = _read(console, path)
    console.sources.texts[shown] = source
    folders = [Path(path).parent, *map(Path, arguments.include)]
    options: list[str] = list(arguments.options)
    if arguments.include_cutlass:
        folders.append(toolchain.cutlass_include_dir())
        options.append("-default-device")  # CuTe's functions name no execution space
    if arguments.lineinfo:
        options.append("-lineinfo")
    console.protected += _headers_at_risk((output, depfile), path, folders)
    console.will_write((output, depfile))
    images: list[Image] = []
    texts: list[tuple[bytes, ...]] = []
    contracts: list[tuple[str, list[Record]]] = []
    where = Location(shown)
    for arch in archs:
        start = time.perf_counter()
        code = toolchain.compile_ltoir(
            source,
            shown,
            arch,
            include_dirs=folders,
            defines=arguments.define,
            std=arguments.std,
            options=options,
            diagnostics=console.diagnostics if not images else None,  # the same warnings for every architecture
        )
        compiled = time.perf_counter()
        image = Image(arch, "ltoir", toolchain.toolkit_version(), code)
        images.append(image)
        texts.append(contract.device_records(image, shown))
        if arguments.verbose:
            spent = f"{compiled - start:.3f} s, contract {time.perf_counter() - compiled:.3f} s"
            console.say(f"pl-cc: {path} for {arch}: {len(code)} bytes of LTO-IR in {spent}\n")
        read = [records.parse_record(text, shown, where, console.diagnostics) for text in texts[-1]]
        contracts.append((arch, [record for record in read if record is not None]))
    declared = next((record for _, read in contracts for record in read), None)
    if arguments.helper and declared is not None:
        message = f"'{shown}' declares component '{declared.component}', so it is compiled without --helper"
        raise error("usage", message, declared.location)
    if not arguments.helper:
        if not contracts[0][1]:
            message = f"'{shown}' declares no component; a component includes <pipelink/component.cuh>"
            hint = "--helper compiles functions for components to call"
            raise error("no-contract", message, where, hint=hint)
        contract.same_contract(contracts)
        records.assemble(contracts[0][1], shown, where)
    console.write(output, object_bytes(images, texts[0], Path(shown).name))
    if depfile:
        _write_depfile(console, depfile, output, Path(path), folders)
    if arguments.verbose:
        console.say(f"pl-cc: wrote {output}: {len(texts[0])} records, {len(images)} images\n")


def shown_name(path: str) -> str:
    """The name of a source in messages, records and images: bytes that are not UTF-8 become ``?``."""
    return path.encode("utf-8", "surrogateescape").decode("utf-8", "replace").replace("\ufffd", "?")


def _headers_at_risk(outputs: Sequence[str | None], source: str, folders: Sequence[Path]) -> list[str]:
    """The source's headers, where an output would replace a file that no earlier run can have written."""
    for output in outputs:
        if output is None or output == "-" or not os.path.isfile(output):
            continue
        try:
            with Path(output).open("rb") as handle:
                ours = is_object(handle.read(8))
        except OSError:  # it may not be read, but perhaps be written
            ours = False
        if not ours:
            return [str(header) for header in _headers(Path(source), folders)]
    return []


def _headers(source: Path, folders: Sequence[Path]) -> list[Path]:
    from pipelink.backend import includes, toolchain

    own, *toolkit = toolchain.include_dirs()
    return includes.find_headers(source, [*folders, own], toolkit)


def _write_depfile(console: Console, path: str, output: str, source: Path, folders: Sequence[Path]) -> None:
    from pipelink.backend import includes

    console.write(path, includes.depfile(output, source, _headers(source, folders)))


def _inputs(arguments: argparse.Namespace) -> list[str]:
    return [arguments.source]


def main(argv: Sequence[str] | None = None) -> int:
    """The command; returns its exit status."""
    return run_tool(parser(), _body, _inputs, argv)


if __name__ == "__main__":
    raise SystemExit(main())
