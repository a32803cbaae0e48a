"""The packages that ``python -m benchmarks run`` times: of each configuration the link and its monolith.  No GPU."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from benchmarks import linking, stale
from benchmarks.configurations import BY_NAME, FOLDERS
from benchmarks.inspection import compile_configuration
from benchmarks.machine_code import digest_of
from benchmarks.progress import Progress
from pipelink.backend import toolchain
from pipelink.package import PackageImage, package_bytes
from pipelink.support.diagnostics import LinkError


def run(names: Sequence[str], folder: Path) -> int:
    """Write ``NAME.plk`` and ``NAME.monolith.plk`` of the configurations that run on a Hopper GPU."""
    folder.mkdir(parents=True, exist_ok=True)
    configurations = [BY_NAME[name] for name in names if BY_NAME[name].runs]
    progress = Progress(len(configurations))
    objects = linking.cached_objects()
    digests: dict[str, str] = {}
    for configuration in configurations:
        try:
            kernel, linked = linking.link(configuration, objects)
            whole = compile_configuration(configuration, kernel, kernel.monolith(FOLDERS))
        except (LinkError, RuntimeError, StopIteration) as problem:
            progress.step(f"{configuration.name}: {problem}")
            continue
        digests[configuration.name] = digest_of(linked.cubin)
        image = PackageImage(linked.arch, whole, linked.launch, linked.registers, toolchain.toolkit_version())
        kernel.link().save(folder / f"{configuration.name}.plk")
        (folder / f"{configuration.name}.monolith.plk").write_bytes(package_bytes(kernel.name, [image]))
        progress.step(configuration.name)
    stale.record(digests)
    return 0 if len(digests) == len(configurations) else 1
