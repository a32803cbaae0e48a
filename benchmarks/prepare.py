"""The packages that ``python -m benchmarks run`` times: of each configuration the link and its monolith.  No GPU."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path

from benchmarks.configurations import BY_NAME, FOLDERS
from benchmarks.inspection import compile_configuration
from benchmarks.progress import Progress
from pipelink.backend import toolchain
from pipelink.components.gemm import Objects
from pipelink.package import PackageImage, package_bytes
from pipelink.support.diagnostics import LinkError


def run(names: Sequence[str], folder: Path) -> int:
    """Write ``NAME.plk`` and ``NAME.monolith.plk`` of the configurations that run on a Hopper GPU."""
    folder.mkdir(parents=True, exist_ok=True)
    configurations = [BY_NAME[name] for name in names if BY_NAME[name].runs]
    progress = Progress(len(configurations))
    failed = 0
    with tempfile.TemporaryDirectory() as made:
        objects = Objects(Path(made), FOLDERS)
        for configuration in configurations:
            try:
                kernel = configuration.compose(objects)
                linked = kernel.link()
                whole = compile_configuration(configuration, kernel, kernel.monolith(FOLDERS))
            except (LinkError, RuntimeError, StopIteration) as problem:
                failed += 1
                progress.step(f"{configuration.name}: {problem}")
                continue
            (target,) = linked.targets
            image = PackageImage(target.arch, whole, target.launch, target.registers, toolchain.toolkit_version())
            linked.save(folder / f"{configuration.name}.plk")
            (folder / f"{configuration.name}.monolith.plk").write_bytes(package_bytes("gemm", [image]))
            progress.step(configuration.name)
    return 1 if failed else 0
