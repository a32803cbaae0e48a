"""A format of lit tests that forks PipeLink's tools from lit's workers, which have imported them, not from a shell.

What a tool costs in these tests is mostly the start of Python and the import of MLIR.  A worker imports once what the
tools may need; a ``pl-…`` command becomes a fork of it that has the command's arguments, streams, folder and
environment and calls the tool's ``main``, as the installed script does.  Every other command is started: ``FileCheck``,
``sh -c "pl-opt …"``, and a tool whose environment says something to the interpreter, as in
``env PYTHONHASHSEED=1 pl-link …``, where two processes of their own are to agree.
"""

from __future__ import annotations

import functools
import gc
import importlib
import os
import pkgutil
import signal
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import entry_points
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NoReturn, TextIO

import lit.formats
import lit.TestRunner

import pipelink

_BIN = Path(sys.executable).parent
_LAST_DESCRIPTOR = 65536
_OPTIONAL = ("pipelink.torch",)  # needs torch, and no tool needs it
# What functions of the package import when they are called.
_DEPENDENCIES = (
    "cuda.bindings.nvjitlink",
    "cuda.bindings.nvrtc",
    "cuda.bindings.nvvm",
    "cuda.pathfinder",
    "elftools.elf.elffile",
    "mlir.dialects.builtin",
    "mlir.dialects.llvm",
    "mlir.dialects.nvvm",
)

Main = Callable[[], object]


@functools.cache
def preload() -> Mapping[str, Main]:
    """Import all that a tool may import; the ``main`` of each tool, by the path of its installed script."""
    for module in pkgutil.walk_packages(pipelink.__path__, "pipelink."):
        if not module.name.startswith(_OPTIONAL) and not module.name.endswith(".__main__"):
            importlib.import_module(module.name)
    for name in _DEPENDENCIES:
        importlib.import_module(name)
    scripts = entry_points(group="console_scripts")
    tools = {str(_BIN / script.name): script.load() for script in scripts if script.module.startswith("pipelink.")}
    gc.freeze()  # else the first collection in each fork would copy every page
    return tools


class ForkedTools(lit.formats.ShTest):
    """lit's shell tests, with PipeLink's tools forked."""

    def __init__(self) -> None:
        super().__init__(execute_external=False)

    def execute(self, test: Any, litConfig: Any) -> Any:
        """Run one test in this worker; lit's result."""
        preload()
        lit.TestRunner.subprocess = SimpleNamespace(**{**vars(subprocess), "Popen": _Popen})
        return super().execute(test, litConfig)


class _Popen(subprocess.Popen[str]):
    """What lit's shell starts a command with."""

    def __init__(self, args: Sequence[str], *, executable: str, env: Mapping[str, str], **options: Any) -> None:
        main = preload().get(executable)
        told = {name for name in env if name.startswith("PYTHON")} - {"PYTHONPATH"}
        if main is not None and not told:
            options["preexec_fn"] = functools.partial(_become, main, [executable, *args[1:]], env)
        super().__init__(args, executable=executable, env=env, **options)


def _become(main: Main, argv: Sequence[str], environment: Mapping[str, str]) -> NoReturn:
    """Be the tool, in a child that has the command's streams and folder already; never returns."""
    status = 1
    try:
        os.closerange(3, _LAST_DESCRIPTOR)  # among them the one at whose end the parent takes the command as started
        signal.signal(signal.SIGINT, signal.default_int_handler)
        signal.signal(signal.SIGPIPE, signal.SIG_IGN)
        gc.enable()
        os.environ.clear()
        os.environ.update(environment)
        tempfile.tempdir = None
        sys.argv = list(argv)
        sys.stdin, sys.stdout, sys.stderr = _stream(0), _stream(1), _stream(2)
        status = _exit_status(main)
        sys.stdout.flush()
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(status)


def _stream(number: int) -> TextIO:
    """A standard stream as Python opens it in the environment that lit hands on, which has no locale."""
    errors = "backslashreplace" if number == 2 else "surrogateescape"
    return open(number, "w" if number else "r", encoding="utf-8", errors=errors, closefd=False)


def _exit_status(main: Main) -> int:
    """As of ``sys.exit(main())``."""
    try:
        result = main()
    except SystemExit as request:
        result = request.code
    return result if isinstance(result, int) else result is not None
