"""The tools' frame: crashes, hangs, time limits and outputs, as the caller sees them."""

import argparse
import contextlib
import os
import signal
import sys
import tarfile
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from pipelink.support import crash, limits, memory
from pipelink.support.diagnostics import LinkError, error
from pipelink.support.outputs import write_file
from pipelink.tools.common import ToolParser, run_tool
from pipelink.tools.console import Console, write_stdout
from pipelink.tools.responses import Responses

Body = Callable[[argparse.Namespace, Console], None]


def run(body: Body, *arguments: str, inputs: tuple[str, ...] = ()) -> int:
    return run_tool(ToolParser("pl-test", "A tool for tests."), body, lambda _: inputs, arguments)


def test_a_body_that_works(capfd: pytest.CaptureFixture[str]) -> None:
    def body(_: argparse.Namespace, console: Console) -> None:
        console.say("working\n")
        write_stdout("result\n")

    assert run(body) == 0
    assert tuple(capfd.readouterr()) == ("result\n", "working\n")


@pytest.mark.parametrize("where", [(), ("--in-process",)])
def test_a_link_error_is_status_one(where: tuple[str, ...], capfd: pytest.CaptureFixture[str]) -> None:
    def body(_: argparse.Namespace, console: Console) -> None:
        console.diagnostics.warning("bad-touch", "careful")
        raise error("bad-range", "too much")

    assert run(body, *where) == 1
    assert capfd.readouterr().err == "warning: careful [bad-touch]\nerror: too much [bad-range]\n"


def test_an_exception_is_an_internal_error_without_a_traceback(capfd: pytest.CaptureFixture[str]) -> None:
    def body(_: argparse.Namespace, console: Console) -> None:
        raise ZeroDivisionError("by zero")

    assert run(body) == 1
    said = capfd.readouterr().err
    assert said.startswith("error: ZeroDivisionError: by zero [internal-error]")
    assert "Traceback" not in said


@pytest.mark.parametrize("number", [signal.SIGABRT, signal.SIGSEGV])
def test_a_crash_keeps_the_inputs(
    number: signal.Signals, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    given = tmp_path / "in.mlir"
    given.write_text("module {}")

    def body(_: argparse.Namespace, console: Console) -> None:
        os.write(2, b"Assertion failed\n")
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)

    assert run(body, inputs=(str(given),)) == 1
    said = capfd.readouterr().err
    assert f"error: pl-test died of {number.name} [internal-error]" in said
    assert "note: Assertion failed" in said
    (kept,) = tmp_path.glob("pl-test-*.tar")
    assert str(kept) in said
    assert kept.stat().st_mode & 0o777 == 0o600
    with tarfile.open(kept) as archive:
        assert archive.getnames() == ["command.txt", "stderr.txt", "input0-in.mlir"]


@pytest.mark.parametrize("names", [("bad.o",), ("bad.o", "good.o")])
def test_a_crash_of_a_compiler_is_said_of_its_inputs(
    names: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))

    def body(_: argparse.Namespace, console: Console) -> None:
        with crash.calling("nvJitLink", "nvjitlink-failed", ["earlier.o"]):
            pass
        with crash.calling("nvJitLink", "nvjitlink-failed", names):
            signal.signal(signal.SIGSEGV, signal.SIG_DFL)
            os.kill(os.getpid(), signal.SIGSEGV)

    assert run(body) == 1
    said = capfd.readouterr().err
    place = "bad.o: " if len(names) == 1 else ""
    given = ", ".join(map(repr, names))
    assert said.startswith(f"{place}error: nvJitLink died of SIGSEGV, given {given} [nvjitlink-failed]\n")
    assert "hint: it may be damaged" in said
    assert "the inputs are kept in" in said


def test_a_compiler_without_memory_is_said_of_its_inputs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))

    def starve() -> None:
        os.write(2, b"terminate called after throwing an instance of 'std::bad_alloc'\n")
        signal.signal(signal.SIGABRT, signal.SIG_DFL)
        os.abort()

    def body(_: argparse.Namespace, console: Console) -> None:
        with crash.calling("nvJitLink", "nvjitlink-failed", ["bad.o"]):
            starve()

    assert run(body) == 1
    said = capfd.readouterr().err
    assert "bad.o: error: nvJitLink died of SIGABRT, given 'bad.o' [nvjitlink-failed]" in said
    assert "compile it again; it asks for more memory than it gets, and --memory-limit raises that" in said
    assert run(lambda _, __: starve()) == 1
    assert "[memory-limit]" in capfd.readouterr().err


def test_a_crash_elsewhere_is_none_of_a_compiler(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))

    def body(_: argparse.Namespace, console: Console) -> None:
        with contextlib.suppress(ValueError), crash.calling("NVRTC", "compile-error", ["a.cu"]):
            raise ValueError
        os.kill(os.getpid(), signal.SIGKILL)

    assert run(body) == 1
    assert "error: pl-test died of SIGKILL [internal-error]" in capfd.readouterr().err


def test_an_interrupt_of_the_child_alone(capfd: pytest.CaptureFixture[str]) -> None:
    """As libraries send it when they are refused a thread; what they said is shown."""

    def body(_: argparse.Namespace, console: Console) -> None:
        os.write(2, b"no thread\n")
        signal.signal(signal.SIGINT, signal.default_int_handler)
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(10)

    assert run(body) == 130
    assert capfd.readouterr().err == "no thread\n"
    assert run(body, "--in-process") == 130


def test_no_more_files_is_an_error(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    def refuse(_: object) -> None:
        raise OSError(24, "Too many open files")

    for name in ("memfd_create", "dup"):
        with monkeypatch.context() as patched:
            patched.setattr(os, name, refuse)
            assert run(lambda _, __: None) == 1
        assert capfd.readouterr().err == "error: pl-test cannot start a process: too many open files [no-process]\n"
    assert run(lambda _, __: refuse("")) == 1
    assert capfd.readouterr().err == "error: pl-test cannot go on: too many open files [no-process]\n"


def test_a_silent_exit_is_a_crash(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    assert run(lambda _, __: os._exit(3)) == 1
    assert "ended with status 3 [internal-error]" in capfd.readouterr().err


def test_a_hang_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    start = time.monotonic()
    assert run(lambda _, __: time.sleep(60), "--time-limit=0.2") == 1
    assert time.monotonic() - start < 10
    assert "pl-test did not finish in 0.2 seconds [time-limit]" in capfd.readouterr().err


def test_deep_recursion_is_an_error(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(memory, "confine", lambda _: None)  # the process of the tests may have more already

    def body(arguments: argparse.Namespace, console: Console) -> None:
        body(arguments, console)

    assert run(body) == 1
    assert "RecursionError" in capfd.readouterr().err


def test_usage_is_status_one(capfd: pytest.CaptureFixture[str]) -> None:
    assert run(lambda _, __: None, "--nope") == 1
    assert "unrecognized arguments: --nope [usage]" in capfd.readouterr().err
    assert run(lambda _, __: None, "--help") == 0


def test_nested_response_files_end(tmp_path: Path) -> None:
    loop = tmp_path / "loop.rsp"
    loop.write_text(f"a 'b c' @{loop}")
    with pytest.raises(LinkError, match="nested deeper"):
        Responses().expand([f"@{loop}"])
    loop.write_text("a 'b c # not a comment' # comment\n\\\n--x")
    assert Responses().expand(["first", f"@{loop}"]) == ["first", "a", "b c # not a comment", "\n--x"]
    loop.write_text("'open")
    with pytest.raises(LinkError, match="usage"):
        Responses().expand([f"@{loop}"])
    empty = tmp_path / "empty.rsp"
    empty.touch()
    loop.write_text(f"@{empty} " * limits.RESPONSE_FILES)
    with pytest.raises(LinkError, match="the command line names more than 1000 response files"):
        Responses().expand([f"@{loop}"])


def test_outputs_are_whole_or_absent(tmp_path: Path) -> None:
    target = tmp_path / "out"
    write_file(str(target), b"one")
    write_file(str(target), "two")
    assert target.read_text() == "two"
    assert list(tmp_path.iterdir()) == [target]
    for bad in (tmp_path, tmp_path / "no" / "out", Path(f"{tmp_path}/{'x' * 300}")):
        with pytest.raises(LinkError, match="unwritable-output"):
            write_file(str(bad), b"")
    with pytest.raises(LinkError, match="unwritable-output"):
        write_file("a\0b", b"")
    assert list(tmp_path.iterdir()) == [target]


def test_a_closed_pipe_is_no_traceback(tmp_path: Path) -> None:
    import subprocess

    code = (
        "import sys; from pipelink.tools.common import *\n"
        "sys.exit(run_tool(ToolParser('pl-test', ''), lambda a, c: c.write('-', 'x' * 10**7), lambda a: [], []))"
    )
    child = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert child.stdout
    assert child.stderr
    child.stdout.close()
    assert child.stderr.read() == b""
    assert child.wait() == 1


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_interrupt_is_no_traceback(number: signal.Signals, status: int) -> None:
    import subprocess

    code = (  # a shell's background job ignores SIGINT and hands that on to what it starts
        "import signal, sys, time; from pipelink.tools.common import *\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "def body(a, c):\n    c.say('started'); time.sleep(60)\n"
        "sys.exit(run_tool(ToolParser('pl-test', ''), body, lambda a: [], []))"
    )
    child = subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.PIPE)
    assert child.stderr
    assert child.stderr.read(7) == b"started"
    child.send_signal(number)
    assert child.wait(10) == status
    assert child.stderr.read() == b""


def test_a_blow_up_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    assert run(lambda _, __: bytearray(1 << 50)) == 1
    assert "pl-test needs more memory than it may take: 2 GiB to read and check, 8 GiB with" in capfd.readouterr().err


def test_reading_has_less_memory_than_compilers(capfd: pytest.CaptureFixture[str]) -> None:
    def body(_: argparse.Namespace, console: Console) -> None:
        memory.for_compilers()
        bytearray(3 << 30)

    assert run(lambda _, __: bytearray(3 << 30) and None) == 1
    assert "[memory-limit]\nhint: --memory-limit raises it" in capfd.readouterr().err
    assert run(body) == 0
    assert run(body, "--memory-limit=2.5") == 1
    assert run(body, "--memory-limit=none") == 1
    assert "'none' is no number of GiB from 1 [usage]" in capfd.readouterr().err


def test_no_process_is_an_error(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    def fork() -> int:
        raise BlockingIOError(11, "Resource temporarily unavailable")

    monkeypatch.setattr(os, "fork", fork)
    assert run(lambda _, __: None) == 1
    assert capfd.readouterr().err == (
        "error: pl-test cannot start a process: resource temporarily unavailable [no-process]\n"
    )


def test_no_folder_for_temporary_files(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    def none() -> str:
        raise FileNotFoundError(2, "No usable temporary directory found")

    with monkeypatch.context() as patched:
        patched.setattr(tempfile, "_get_default_tempdir", none)
        patched.setattr(tempfile, "tempdir", None)
        assert run(lambda _, __: None) == 0
        assert run(lambda _, __: os._exit(3)) == 1
    assert capfd.readouterr().err == "error: pl-test ended with status 3 [internal-error]\n"


def test_a_package_that_is_not_installed(capfd: pytest.CaptureFixture[str]) -> None:
    def body(_: argparse.Namespace, console: Console) -> None:
        raise ModuleNotFoundError("No module named 'ortools'", name="ortools.sat")

    assert run(body) == 1
    assert "error: Python package 'ortools' is not installed [toolchain-missing]" in capfd.readouterr().err


def test_the_child_goes_with_its_parent(tmp_path: Path) -> None:
    import subprocess

    code = (
        "import sys, time; from pipelink.tools.common import *\n"
        "def body(a, c):\n    c.say(f'{os.getpid()} '); time.sleep(60)\n"
        "sys.exit(run_tool(ToolParser('pl-test', ''), body, lambda a: [], []))"
    )
    parent = subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.PIPE)
    assert parent.stderr
    child = b""
    while not child.endswith(b" "):
        child += parent.stderr.read(1)
    parent.kill()
    assert parent.wait() == -9
    deadline = time.monotonic() + 10
    while _runs(int(child)) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not _runs(int(child))


def _runs(pid: int) -> bool:
    """Whether there is such a process, and not only what is left of it."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def test_an_interrupt_while_standard_input_is_read(tmp_path: Path) -> None:
    import subprocess

    code = (
        "import signal, sys; from pipelink.tools.common import *\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "print('started', flush=True)\n"
        "sys.exit(run_tool(ToolParser('pl-test', ''), lambda a, c: None, lambda a: ['-'], []))"
    )
    child = subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert child.stdout
    assert child.stderr
    assert child.stdout.readline() == b"started\n"
    time.sleep(0.3)
    child.send_signal(signal.SIGINT)
    assert child.wait(10) == 130
    assert child.stderr.read() == b""


def test_names_move_no_cursor(capfd: pytest.CaptureFixture[str]) -> None:
    def body(_: argparse.Namespace, console: Console) -> None:
        raise error("usage", "no \x1b[31mred\udcff\n\u202e", hint="\x9b")

    assert run(body) == 1
    assert capfd.readouterr().err == "error: no \\x1b[31mred\\xff\n\\u202e [usage]\nhint: \\x9b\n"
