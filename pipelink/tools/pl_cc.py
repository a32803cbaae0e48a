"""``pl-cc``: compiles a component's source with NVRTC to the same object that ``nvcc -dc`` makes.

Needs neither nvcc nor a host compiler.  The source is compiled to LTO-IR once for each ``--arch``; the contract is read
from what was compiled, so it is checked here already: complete, and the same for every architecture.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from pipelink.support.diagnostics import Location, error
from pipelink.tools.common import Console, ToolParser, refuse_overwriting, run_tool, unreadable, write_output

if TYPE_CHECKING:
    from pipelink.objects import Record


class _PrintIncludeDir(argparse.Action):
    """Prints where ``pipelink/component.cuh`` is, for the include path of other compilers."""

    def __call__(self, *_: object) -> None:
        from pipelink.backend import toolchain

        write_output("-", f"{toolchain.include_dirs()[0]}\n")
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
    made.add_argument("--lineinfo", "-lineinfo", action="store_true", help="keep source lines for profilers")
    made.add_argument(
        "-X", action="append", default=[], dest="options", metavar="OPTION", help="for NVRTC, as in -X=-G"
    )
    made.add_argument("-MD", action="store_true", help="write a dependency file")
    made.add_argument("-MF", metavar="FILE", help="the dependency file [the object's name with .d]")
    made.add_argument("--print-include-dir", action=_PrintIncludeDir, nargs=0, help="print where the headers are")
    made.add_argument("-v", "--verbose", action="store_true", help="print what is done and how long it takes")
    return made


def _read(path: str) -> str:
    try:
        text = Path(path).read_bytes()
    except (OSError, ValueError) as problem:
        raise unreadable(path, problem) from problem
    if not text.strip():
        raise error("empty-input", f"'{path}' is empty", Location(path))
    if b"\0" in text:
        raise error("unreadable-input", f"'{path}' is not a source file", Location(path))
    return text.decode("utf-8", "surrogateescape")


def _body(arguments: argparse.Namespace, console: Console) -> None:
    from pipelink.audit import contract
    from pipelink.backend import toolchain
    from pipelink.objects import Image, object_bytes, records
    from pipelink.target import require_image_arch

    path: str = arguments.source
    output: str = arguments.output or f"{Path(path).stem}.o"
    archs: list[str] = list(dict.fromkeys(arguments.arch or ["sm_90a"]))
    for arch in archs:
        require_image_arch(arch)  # refuse an unknown one before compiling for the others
    source = _read(path)
    refuse_overwriting((output, arguments.MF), [path])
    folders = [Path(path).parent, *map(Path, arguments.include)]
    options: list[str] = list(arguments.options)
    if arguments.include_cutlass:
        folders.append(toolchain.cutlass_include_dir())
        options.append("-default-device")  # CuTe's functions name no execution space
    if arguments.lineinfo:
        options.append("-lineinfo")
    images: list[Image] = []
    texts: list[tuple[bytes, ...]] = []
    contracts: list[tuple[str, list[Record]]] = []
    where = Location(path)
    for arch in archs:
        start = time.perf_counter()
        code = toolchain.compile_ltoir(
            source,
            path,
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
        texts.append(contract.device_records(image, path))
        if arguments.verbose:
            spent = f"{compiled - start:.3f} s, contract {time.perf_counter() - compiled:.3f} s"
            console.say(f"pl-cc: {path} for {arch}: {len(code)} bytes of LTO-IR in {spent}\n")
        read = [records.parse_record(text, path, where, console.diagnostics) for text in texts[-1]]
        contracts.append((arch, [record for record in read if record is not None]))
    if not contracts[0][1]:
        message = f"'{path}' declares no component; a component includes <pipelink/component.cuh>"
        raise error("no-contract", message, where)
    contract.same_contract(contracts)
    records.assemble(contracts[0][1], path, where)
    write_output(output, object_bytes(images, texts[0], Path(path).name))
    if arguments.MD or arguments.MF:
        _write_depfile(arguments.MF or str(Path(output).with_suffix(".d")), output, Path(path), folders)
    if arguments.verbose:
        console.say(f"pl-cc: wrote {output}: {len(texts[0])} records, {len(images)} images\n")


def _write_depfile(path: str, output: str, source: Path, folders: Sequence[Path]) -> None:
    from pipelink.backend import includes, toolchain

    own, *toolkit = toolchain.include_dirs()
    headers = includes.find_headers(source, [*folders, own], toolkit)
    write_output(path, includes.depfile(output, source, headers))


def _inputs(arguments: argparse.Namespace) -> list[str]:
    return [arguments.source]


def main(argv: Sequence[str] | None = None) -> int:
    """The command; returns its exit status."""
    return run_tool(parser(), _body, _inputs, argv)


if __name__ == "__main__":
    raise SystemExit(main())
