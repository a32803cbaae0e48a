"""Pass ``check``: do the contracts of what a kernel connects fit each other, and the target?

Input: verified component and kernel modules; output: the same, each ``connect`` with ``legal``, its transfers in order
of preference.  One look at each port, each connection, each protocol and the sum of what is asked of the SM; everything
found is reported, at the kernel's line where the user can act, with notes at the declarations.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from pipelink.ir import program
from pipelink.ir.attributes import Value
from pipelink.ir.views import Component, Instance, Kernel, Program, Require
from pipelink.model.graph import ConnectionGraph
from pipelink.passes.check_demand import check_demand
from pipelink.passes.check_operations import check_operations
from pipelink.passes.check_ports import check_connections, check_ports
from pipelink.passes.check_protocols import check_protocols
from pipelink.support.diagnostics import Diagnostics, LinkError, Location, Note
from pipelink.support.mlir import ir
from pipelink.target import Target
from pipelink.target import target as find_target


@dataclass(frozen=True)
class CheckPass:
    """Check that the contracts of connected components fit.

    Before: the IR is verified; components are declared in it or were read from objects.

    After: every ``connect`` has ``legal``, the names of the transfers that may carry it, preferred first; each port is
    connected as its kind asks; nothing exceeds what the target has.

    Rejects: ``unknown-target``, ``empty-kernel``, ``no-role``, ``missing-arch``, ``arch-mismatch``, ``no-ltoir``,
    ``outdated-linker``, ``mixed-toolkits``, ``unmet-requirement``, ``unconnected-port``, ``wrong-direction``,
    ``two-producers``, ``connected-twice``, ``call-cycle``, ``call-chain``, ``role-unstated``,
    ``kind-mismatch``, ``tile-mismatch``, ``element-mismatch``,
    ``shape-mismatch``, ``layout-mismatch``, ``space-mismatch``, ``signature-mismatch``,
    ``no-transfer``, ``transfer-refused``, ``ring-range-disjoint``, ``stages-refused``, ``bad-touch``,
    ``bad-alignment``, ``ends-mismatch``, ``empty-mismatch``, ``protocol-mismatch``, ``opcode-conflict``,
    ``operation-mismatch``, ``lease-mismatch``, ``not-resident``, ``too-many-warps``, ``unaligned-warpgroup``,
    ``too-many-barriers``, ``barrier-mismatch``, ``bad-registers``, ``register-overcommit``, ``unsupported-by-target``,
    ``cluster-too-large``, ``cluster-mismatch``, ``duplicate-name``.

    Example::

        "pipelink.connect"() {source = @load::@ab, target = @mma::@ab} : () -> ()

    becomes::

        "pipelink.connect"() {legal = ["ring.tma"], source = @load::@ab, target = @mma::@ab} : () -> ()
    """

    linker: str = field(
        default="",
        metadata={"help": "version of nvJitLink, such as 13.0; newer LTO-IR is refused; unchecked if absent"},
    )

    def apply(self, module: ir.Operation, diagnostics: Diagnostics) -> None:
        """Check every kernel of ``module``."""
        found = program(module)
        for kernel in found.kernels:
            check_kernel(found, kernel, self.linker, diagnostics)


def check_kernel(found: Program, kernel: Kernel, linker: str, diagnostics: Diagnostics) -> None:
    """Check one kernel and set ``legal`` on its connects; a kernel that is fused already is left alone."""
    if kernel.fused:
        return
    try:
        target = find_target(kernel.target, kernel.location)
    except LinkError as problem:
        diagnostics.items.extend(problem.diagnostics)
        return
    graph = ConnectionGraph(found, kernel)
    if not kernel.instances:
        diagnostics.error("empty-kernel", f"kernel '{kernel.name}' has no instance", kernel.location)
    elif not any(component.roles for component in graph.components.values()):
        message = f"no instance of kernel '{kernel.name}' has a role, so nothing would run"
        diagnostics.error("no-role", message, kernel.location)
    for instance in kernel.instances.values():
        _check_images(instance, graph.components[instance.name], target, linker, diagnostics)
    _check_toolkits(graph, target, linker, diagnostics)
    _check_requirements(graph, diagnostics)
    check_ports(graph, target, diagnostics)
    check_connections(graph, target, diagnostics)
    check_protocols(graph, diagnostics)
    check_operations(graph, diagnostics)
    check_demand(graph, target, diagnostics)


def _check_images(
    instance: Instance, component: Component, target: Target, linker: str, diagnostics: Diagnostics
) -> None:
    """Whether there is code for the target that the linker can read; a component without images is a contract only."""
    if component.images is None:
        return
    where = instance.location
    notes = [Note("the component is declared here", component.location)]
    images = {image.arch: image for image in component.images if image.kind == "ltoir"}
    if not images:
        kinds = sorted({image.kind for image in component.images})
        message = f"component '{component.name}' has no LTO-IR, only {', '.join(kinds) or 'no code at all'}"
        hint = "compile it with LTO code (nvcc -dlto, or pl-cc)"
        diagnostics.error("no-ltoir", message, where, notes=notes, hint=hint)
        return
    arch = target.choose(images)
    if arch is None:
        newer = all(_capability(name) > target.capability[0] for name in images)
        message = f"component '{component.name}' has no code that links for {target.name}, only for {', '.join(images)}"
        if newer:
            message = f"component '{component.name}' is compiled for {', '.join(images)}, newer than {target.name}"
        hint = f"compile it for {target.name} too, or for an older architecture without a suffix"
        diagnostics.error("arch-mismatch" if newer else "missing-arch", message, where, notes=notes, hint=hint)
        return
    toolkit = images[arch].toolkit
    if linker and toolkit and _version(toolkit) > _version(linker):
        message = f"component '{component.name}' was compiled by toolkit {toolkit}, newer than nvJitLink {linker}"
        hint = f"link with nvJitLink {toolkit} or newer"
        diagnostics.error("outdated-linker", message, where, notes=notes, hint=hint)


def _check_toolkits(graph: ConnectionGraph, target: Target, linker: str, diagnostics: Diagnostics) -> None:
    """LTO-IR is compatible within one major version of the toolkit, with nvJitLink too (nvJitLink, "Compatibility")."""
    first, whose = (_version(linker), f"nvJitLink {linker}") if linker else ((), "")
    notes: list[Note] = []
    for instance in graph.kernel.instances.values():
        component = graph.components[instance.name]
        images = {image.arch: image for image in component.images or () if image.kind == "ltoir"}
        arch = target.choose(images)
        version = _version(images[arch].toolkit or "") if arch is not None else ()
        if not version:
            continue
        shown = ".".join(map(str, version))
        if not first:
            first, whose = version, f"component '{component.name}' by {shown}"
            notes = [Note(f"instance '{instance.name}' is of it", instance.location)]
        elif version[0] < first[0] or (version[0] > first[0] and not linker):
            mixes = f"which {whose} cannot mix with its own" if linker else f"{whose}: their LTO-IR does not mix"
            message = f"component '{component.name}' was compiled by toolkit {shown}, {mixes}"
            hint = "compile all components with one major version of the toolkit"
            diagnostics.error("mixed-toolkits", message, instance.location, notes=notes, hint=hint)


def _capability(arch: str) -> int:
    digits = re.search(r"\d+", arch)
    return int(digits[0]) if digits else 0


def _version(text: str) -> tuple[int, ...]:
    return tuple(int(part[:9]) for part in re.findall(r"\d+", text)[:2])


def _check_requirements(graph: ConnectionGraph, diagnostics: Diagnostics) -> None:
    """Each requirement is met by equal promises: of the kernel, and of whom it is about."""
    kernel, instances = graph.kernel, graph.kernel.instances
    views = {f"instance '{name}'": graph.components[name] for name in instances}
    everybody = {f"kernel '{kernel.name}'": kernel, **views}
    for require in kernel.requires:
        _check_requirement(f"kernel '{kernel.name}'", require, everybody, require.location, [], diagnostics)
    for name, instance in instances.items():
        owner = f"instance '{name}'"
        for require in graph.components[name].requires:
            about = {f"instance '{other}'" for other in graph.connected(name, require.port)}
            asked = {who: view for who, view in everybody.items() if view is kernel or who in about or who == owner}
            if require.port is not None:
                asked.pop(owner, None)
            notes = [Note("required here", require.location)]
            _check_requirement(owner, require, asked, instance.location, notes, diagnostics)


def _check_requirement(
    owner: str,
    require: Require,
    asked: Mapping[str, Kernel | Component],
    where: Location,
    notes: list[Note],
    diagnostics: Diagnostics,
) -> None:
    """``asked`` are those of whom it may be promised, by what they are called."""
    given = [(who, p) for who, view in asked.items() for p in view.promises if p.name == require.name]
    if given and all(promise.value == require.value for _, promise in given):
        return
    others = [(who, promise) for who, promise in given if promise.value != require.value]
    beyond = f" of those beyond port '{require.port}'" if require.port is not None else ""
    message = f"{owner} requires {require.name} = {_shown(require.value)}{beyond}, "
    message += f"{others[0][0]} promises {_shown(others[0][1].value)}" if others else "nothing promises it"
    notes += [Note(f"{who} promises {p.name} = {_shown(p.value)}", p.location) for who, p in others]
    op = f'"pipelink.promise"() {{name = "{require.name}", value = {_shown(require.value)}}} : () -> ()'
    hint = None if others else f"if the kernel keeps it, say so: {op}"
    diagnostics.error("unmet-requirement", message, where, notes=notes, hint=hint)


def _shown(value: Value) -> str:
    """A value as the IR and the C++ write it."""
    return json.dumps(value, default=str)
