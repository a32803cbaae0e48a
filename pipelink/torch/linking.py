"""Kernels of ``attention`` that no folder holds: linked where the compilers are, and kept in the user's cache.

An operator asks for one by its name.  A child process links it, as ``python -m pipelink.torch build --only NAME`` does,
so that no compiler's libraries come into a process that holds torch.  What is kept depends on this package's sources
and the compilers' versions; of several processes that want one kernel, one links and the others wait.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path

from pipelink.backend.cache import Cache, Key, Parts, default_folder
from pipelink.link.key import source_digest, tool_versions
from pipelink.support.diagnostics import Note, error


def linked_package(name: str) -> bytes | None:
    """The package of a kernel; None where extra ``compiler`` is not installed.  Raises LinkError ``no-image`` where it
    cannot be linked."""
    if find_spec("mlir") is None:
        return None
    key = Key().add("torch", source_digest())
    for wheel, version in tool_versions():
        key.add(wheel, version)
    folder = default_folder()
    if folder is None:
        return _link(name)
    wanted = key.add("kernel", name).hexdigest()
    return Cache(folder).fetch(wanted, lambda: {"package": _link(name)}, _package)[0]


def _package(parts: Parts) -> bytes:
    if "package" not in parts:
        raise ValueError("an entry of something else")
    return parts["package"]


def _link(name: str) -> bytes:
    with tempfile.TemporaryDirectory() as made:
        command = [sys.executable, "-P", "-m", "pipelink.torch", "build", made, "--only", name]
        done = subprocess.run(
            command,
            env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
        )
        if not done.returncode:
            return (Path(made) / f"{name}.plk").read_bytes()
    said = [line for line in done.stderr.splitlines() if line.strip()]
    first = next((n for n, line in enumerate(said) if line.startswith("error:")), len(said) - 1)
    notes = [Note(line) for line in said[max(first, 0) :]]
    raise error("no-image", f"attention: kernel '{name}' cannot be linked", notes=notes)
