"""Links configurations as they are now, with what was compiled and linked before taken from the user's cache."""

from __future__ import annotations

import hashlib
import tempfile
from pathlib import Path

from benchmarks.configurations import FOLDERS, Configuration
from pipelink import Kernel, components
from pipelink.backend.cache import default_folder
from pipelink.components.gemm import Objects
from pipelink.link import LinkedTarget
from pipelink.link.key import source_digest, tool_versions


def cached_objects() -> Objects:
    """Objects in a folder of the cache that is named after everything they follow from."""
    digest = hashlib.sha256(repr((source_digest(), tool_versions())).encode())
    for folder in FOLDERS:
        if folder != components.FOLDER:  # which the package's digest holds
            for path in sorted(p for p in folder.rglob("*") if p.suffix in (".cu", ".cuh", ".h")):
                digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    made: Path = (default_folder() or Path(tempfile.gettempdir())) / "benchmarks" / digest.hexdigest()[:16]
    made.mkdir(parents=True, exist_ok=True)
    return Objects(made, FOLDERS)


def link(configuration: Configuration, objects: Objects) -> tuple[Kernel, LinkedTarget]:
    """The composed kernel and its link.  Raises what composing and linking raise."""
    kernel = configuration.compose(objects)
    (linked,) = kernel.link().targets
    return kernel, linked
