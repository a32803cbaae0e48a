"""``pl-objdump``: shows what component objects hold: contracts, as PipeLink IR or JSON, and code images.  Of a ``.plk``
it shows each kernel with its arguments and images, or the manifest.

``--verify`` compares each contract with what every architecture's device code says.  ``--audit`` links each object
alone and shows what its contract declares beside what its code does; what breaks a composition is an error.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pipelink.support.diagnostics import LinkError, Location
from pipelink.support.inputs import ZIP_MAGIC, refuse_foreign
from pipelink.support.text import printable
from pipelink.tools.common import ToolParser, run_tool
from pipelink.tools.console import Console, label

if TYPE_CHECKING:
    from pipelink.audit.report import ObjectReport
    from pipelink.objects import Image, Object
    from pipelink.runtime.package import PackageKernel


def parser() -> ToolParser:
    """The command line."""
    made = ToolParser("pl-objdump", "Show contracts and code of component objects and archives, and packages' kernels.")
    made.add_argument("inputs", nargs="+", metavar="INPUT", help="objects, archives or .plk files; - is stdin")
    made.add_argument("--json", action="store_true", help="print JSON instead of IR; of a .plk its manifest")
    made.add_argument("--images", action="store_true", help="print the code images only")
    made.add_argument("--verify", action="store_true", help="compare contracts with the device code")
    made.add_argument("--audit", action="store_true", help="compare what the code does with the contracts")
    made.add_argument("-o", "--output", default="-", metavar="FILE", help="where it is printed; stdout if left out")
    return made


def _body(arguments: argparse.Namespace, console: Console) -> None:
    from pipelink.objects import parse_objects

    console.will_write([arguments.output])
    items: list[Object] = []
    kernels: list[tuple[str, PackageKernel]] = []
    for path in arguments.inputs:
        data, name = console.read(path), label(path)
        if data.startswith(ZIP_MAGIC):
            kernels += _kernels(data, name)
            continue
        refuse_foreign(data, name)
        items += parse_objects(data, name, diagnostics=console.diagnostics)
    if arguments.verify:
        from pipelink.audit import contract

        for item in items:
            contract.verify(item, console.diagnostics)
    audits = _audits(items, console) if arguments.audit else [[] for _ in items]
    if arguments.json:
        shown = [_as_json(item, reports, arguments) for item, reports in zip(items, audits, strict=True)]
        shown += [{"package": name, **kernel.manifest} for name, kernel in kernels]
        text = json.dumps(shown, indent=1) + "\n"
    elif arguments.audit:
        text = "\n".join(report.render() for reports in audits for report in reports)
    else:
        text = "".join(_images(item) for item in items) + "".join(_kernel(name, kernel) for name, kernel in kernels)
        if not arguments.images and items:
            text += _as_ir(items)
    if arguments.verify and not arguments.json:
        text += "".join(_verified(item) for item in items)
    console.write(arguments.output, text if arguments.json else printable(text))


def _kernels(data: bytes, name: str) -> list[tuple[str, PackageKernel]]:
    """The kernels of a package, with its name.  Raises LinkError ``bad-package``."""
    from pipelink.runtime.package import read

    try:
        return [(name, kernel) for kernel in read(data).kernels]
    except LinkError as problem:
        raise LinkError(replace(item, location=Location(name)) for item in problem.diagnostics) from problem


def _kernel(name: str, kernel: PackageKernel) -> str:
    """A kernel of a package: its arguments, and a line for each image and operation."""
    lines = [f"// {name}: {kernel.name}({kernel.targets[0].contract.signature()})"]
    for target, entry in zip(kernel.targets, kernel.manifest["targets"], strict=True):
        contract = target.contract
        lines.append(
            f"//   {target.arch:<8} toolkit {entry.get('toolkit') or 'unknown':<8} {len(target.cubin):>8} bytes  "
            f"{contract.threads} threads, {entry.get('registers', 0)} registers, {contract.smem_bytes} bytes of shared "
            f"memory, {contract.parameter_bytes} of parameters{', debug' if contract.debug else ''}"
        )
    for operation in kernel.targets[0].contract.operations:
        lines.append(f"//   operation {operation.opcode}: {operation.signature()}, {operation.bytes} bytes of operands")
        lines += [f"//     {step}" for step in operation.signals]
    return "\n".join(lines) + "\n"


def _audits(items: Sequence[Object], console: Console) -> list[list[ObjectReport]]:
    """What was found in each object, per architecture; problems become diagnostics."""
    from pipelink.audit import objects

    found = objects.audit_all(items)
    for reports in found:
        for report in reports:
            report.diagnose(console.diagnostics)
    return found


def _images(item: Object) -> str:
    names = ", ".join(component.name for component in item.components) or "no component"
    lines = [f"// {item.name}: {names}"]
    several = any(image.unit for image in item.images)
    for image in item.images:
        unit = f"  unit {image.unit}" if several else ""
        lines.append(
            f"//   {image.arch:<8} {image.kind:<6} toolkit {image.toolkit or 'unknown':<8} "
            f"{len(image.data):>8} bytes{' packed' if image.packed else ''}{unit}  sha256 {image.sha256}"
        )
    return "\n".join(lines) + "\n"


def _verified(item: Object) -> str:
    archs = ", ".join(dict.fromkeys(image.arch for image in item.ltoir))
    count = sum(len(component.records) for component in item.components)
    return f"// {item.name}: {count} records verified for {archs}\n"


def _as_ir(items: Sequence[Object]) -> str:
    from pipelink import ir
    from pipelink.ir import builder
    from pipelink.objects import to_ir

    module = builder.module(ir.new_context())
    for item in items:
        to_ir.declare(item, module)
    ir.verify(module, references=False)
    return f"{module.operation.get_asm()}\n"


def _as_json(item: Object, audits: Sequence[ObjectReport], arguments: argparse.Namespace) -> dict[str, Any]:
    components = [
        {"name": component.name, "records": [json.loads(record.text) for record in component.records]}
        for component in item.components
    ]
    contract: dict[str, Any] = {} if arguments.images else {"components": components}
    if arguments.verify:
        contract["verified"] = [image.arch for image in item.ltoir]
    if arguments.audit:
        contract["audit"] = [report.to_json() for report in audits]
    return {
        "object": item.path,
        "member": item.member or None,
        **contract,
        "images": [_image_json(image) for image in item.images],
    }


def _image_json(image: Image) -> dict[str, Any]:
    return {
        "arch": image.arch,
        "kind": image.kind,
        "toolkit": image.toolkit or None,
        "bytes": len(image.data),
        "packed": image.packed,
        "unit": image.unit,
        "sha256": image.sha256,
    }


def _inputs(arguments: argparse.Namespace) -> list[str]:
    return list(arguments.inputs)


def main(argv: Sequence[str] | None = None) -> int:
    """The command; returns its exit status."""
    return run_tool(parser(), _body, _inputs, argv)


if __name__ == "__main__":
    raise SystemExit(main())
