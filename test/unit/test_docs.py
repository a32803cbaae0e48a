"""The documentation is true: every path, link, name, command, option and code fence in it works.

Fences are checked by language: ``mlir`` parses and verifies, ``python`` runs (``python no-run``, for what needs a GPU
or files of the reader's own, only compiles and its imports must exist), ``cpp`` that opens a component compiles,
``console`` names commands, options, targets and files that exist, and of a page's ``console run`` fences each command
prints what stands below it, where ``...`` is anything.  ``text`` and ``json`` are output.
"""

import ast
import functools
import importlib
import itertools
import json
import os
import re
import shlex
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from markdown_it import MarkdownIt
from markdown_it.token import Token

from pipelink.ir.schema import OPS
from pipelink.support.catalog import CATALOG

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted(
    [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").glob("*.md"), *(ROOT / "examples").rglob("*.md")]
)
# Operations and attributes are spelled like Python names.
IR_NAMES = {f"pipelink.{name}" for name in (*OPS, "component", "kernel", "object", "placement", "launch")}
FOLDERS = {path.name for path in ROOT.iterdir() if path.is_dir()} - {"build", ".git", ".venv"}
BIN = Path(sys.executable).parent


@dataclass(frozen=True)
class Fence:
    page: str
    line: int
    info: str
    text: str

    @property
    def language(self) -> str:
        return self.info.split()[0] if self.info else ""

    def __str__(self) -> str:
        return f"{self.page}:{self.line}"


@functools.cache
def tokens_of(page: Path) -> list[Token]:
    return MarkdownIt("commonmark").enable("table").parse(page.read_text())


def inline_tokens(page: Path) -> list[Token]:
    return [child for token in tokens_of(page) for child in token.children or []]


def relative(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def fences(*languages: str) -> list[Fence]:
    found = [
        Fence(relative(page), (token.map or [0])[0] + 1, token.info.strip(), token.content)
        for page in PAGES
        for token in tokens_of(page)
        if token.type in ("fence", "code_block")
    ]
    return [fence for fence in found if not languages or fence.language in languages]


def anchors(page: Path) -> set[str]:
    tokens = tokens_of(page)
    titles = [tokens[i + 1].content for i, token in enumerate(tokens) if token.type == "heading_open"]
    return {re.sub(r"[^\w\- ]", "", title.lower()).strip().replace(" ", "-") for title in titles}


@pytest.mark.parametrize("page", PAGES, ids=relative)
def test_links(page: Path) -> None:
    broken: list[str] = []
    for token in inline_tokens(page):
        target = str(token.attrs.get("href") or token.attrs.get("src") or "")
        if not target or re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        file = (page.parent / path).resolve() if path else page
        if not file.exists() or (anchor and anchor not in anchors(file)):
            broken.append(target)
    assert not broken


@pytest.mark.parametrize("page", PAGES, ids=relative)
def test_paths_in_code_spans(page: Path) -> None:
    """A span that begins with a folder of the repository is a path in it; words in capitals stand for any name."""
    missing = [
        token.content
        for token in inline_tokens(page)
        if token.type == "code_inline"
        and re.fullmatch(r"[\w.*-]+(/[\w.*-]+)*/?", token.content)
        and "/" in token.content
        and token.content.split("/")[0] in FOLDERS
        and not list(ROOT.glob(re.sub(r"\b[A-Z]+\b", "*", token.content).rstrip("/")))
    ]
    assert not missing


@pytest.mark.parametrize("page", PAGES, ids=relative)
def test_python_names_in_code_spans(page: Path) -> None:
    spans = [token.content for token in inline_tokens(page) if token.type == "code_inline"]
    for span in spans:
        match = re.fullmatch(r"(pipelink(?:\.\w+)+)(?:\(.*\))?", span)
        if match and match[1] not in IR_NAMES:
            assert resolve(match[1]), span


def resolve(dotted: str) -> bool:
    parts = dotted.split(".")
    for length in range(len(parts), 0, -1):
        try:
            value: object = importlib.import_module(".".join(parts[:length]))
        except ModuleNotFoundError:
            continue
        try:
            functools.reduce(getattr, parts[length:], value)
        except AttributeError:
            return False
        return True
    return False


@pytest.mark.parametrize("fence", fences(), ids=str)
def test_fence_has_a_known_language(fence: Fence) -> None:
    assert fence.language in {"mlir", "python", "cpp", "cmake", "console", "text", "json"}


@pytest.mark.parametrize("fence", fences("text", "console"), ids=str)
def test_diagnostics_shown_are_in_the_catalog(fence: Fence) -> None:
    shown = re.findall(r"(?:error|warning|remark): .*\[([a-z0-9-]+)\]$", fence.text, re.M)
    assert set(shown) <= CATALOG.keys()


@pytest.mark.parametrize("fence", fences("mlir"), ids=str)
def test_mlir(fence: Fence) -> None:
    from pipelink import ir

    ir.verify(ir.parse(fence.text), references=False)


def test_json() -> None:
    for fence in fences("json"):
        assert json.loads(fence.text) is not None, fence


@pytest.mark.parametrize("fence", fences("python"), ids=str)
def test_python(fence: Fence, tmp_path: Path) -> None:
    tree = ast.parse(fence.text)
    if "no-run" in fence.info.split():
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                assert all(resolve(name.name) for name in node.names if name.name.startswith("pipelink"))
            elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("pipelink"):
                assert all(resolve(f"{node.module}.{name.name}") for name in node.names)
        return
    script = tmp_path / "fence.py"
    script.write_text(fence.text)
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    result = subprocess.run([sys.executable, script], cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert result.returncode == 0, result.stderr


@pytest.mark.parametrize("fence", [f for f in fences("cpp") if "PL_COMPONENT" in f.text], ids=str)
def test_component_compiles(fence: Fence, tmp_path: Path) -> None:
    source = tmp_path / "fence.cu"
    text = fence.text if "#include" in fence.text else "#include <pipelink/component.cuh>\n" + fence.text
    source.write_text(text)
    library = ROOT / "pipelink" / "components"
    command = [BIN / "pl-cc", source, "--arch=sm_90a", "-I", library, "-o", tmp_path / "fence.o"]
    result = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert result.returncode == 0, result.stderr


@functools.cache
def help_of(command: str) -> str:
    return subprocess.run([BIN / command, "--help"], capture_output=True, text=True, check=True, timeout=60).stdout


def commands(fence: Fence) -> list[list[str]]:
    text = fence.text.replace("\\\n", " ")
    lines = [line[2:] for line in text.splitlines() if line.startswith("$ ")]
    return [shlex.split(part, comments=True) for line in lines for part in re.split(r"\s(?:&&|\|)\s", line)]


@pytest.mark.parametrize("fence", [f for f in fences("console") if "run" not in f.info.split()], ids=str)
def test_console(fence: Fence) -> None:
    """Commands exist, each option is in the command's help, each input is a file here or made by an earlier line."""
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.M))
    made: set[str] = set()
    for words in commands(fence):
        command, arguments = words[0].removeprefix(".venv/bin/"), words[1:]
        if command == "make":
            assert {word for word in arguments if "=" not in word} <= targets, words
        elif command.startswith("pl-"):
            text = help_of(command)
            for option in (word.partition("=")[0] for word in arguments if word.startswith("-") and len(word) > 1):
                stem = option if option.startswith("--") else option[:2]
                assert re.search(rf"(?<![\w-]){re.escape(stem)}(?![\w-])", text) or option in text, (command, option)
            made |= {word.partition("=")[2] or word for word in arguments if "=" in word}
            made |= {after for word, after in itertools.pairwise(arguments) if word in ("-o", "--output")}
            if "-c" in arguments or command == "pl-cc":
                made |= {Path(word).with_suffix(".o").name for word in arguments if word.endswith(".cu")}
            inputs = [word for word in arguments if re.search(r"\.(mlir|cu|o|a|plk)$", word) and "=" not in word]
            unknown = [name for name in inputs if name not in made and not (ROOT / name).exists()]
            assert not unknown, (words, unknown)
        else:
            assert command in {"python", "pip", "pytest", "lit", "pre-commit", "git", "ar", "nvcc", "cmake", "readelf"}


def transcript(page: Path) -> list[tuple[str, str]]:
    """The commands of a page's ``console run`` fences, in order, each with what it prints."""
    found: list[tuple[str, str]] = []
    for fence in fences("console"):
        if fence.page == relative(page) and "run" in fence.info.split():
            for part in re.split(r"^\$ ", fence.text, flags=re.M)[1:]:
                command, _, output = part.partition("\n")
                found.append((command, output))
    return found


@pytest.mark.parametrize("page", [page for page in PAGES if transcript(page)], ids=relative)
def test_transcript(page: Path, tmp_path: Path) -> None:
    for name in ("examples", "pipelink"):
        (tmp_path / name).symlink_to(ROOT / name)
    environment = {
        **os.environ,
        "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}",
        "PIPELINK_CACHE_DIR": str(tmp_path / "cache"),
    }
    for command, output in transcript(page):
        result = subprocess.run(
            ["bash", "-c", command], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=120
        )
        printed = (result.stdout + result.stderr).strip()
        expected = re.escape(output.strip()).replace(r"\.\.\.", ".*")
        assert re.fullmatch(expected, printed, flags=re.S), f"$ {command}\n{printed}"


def test_generated_pages_are_up_to_date() -> None:
    command = [sys.executable, ROOT / "docs" / "generate.py", "--check"]
    result = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert result.returncode == 0, result.stdout + result.stderr


def test_every_page_is_reachable_from_the_readme() -> None:
    reached, todo = set[Path](), [ROOT / "README.md"]
    while todo:
        page = todo.pop()
        if page in reached or not page.exists():
            continue
        reached.add(page)
        hrefs = [str(token.attrs.get("href", "")) for token in inline_tokens(page)]
        todo += [(page.parent / h.partition("#")[0]).resolve() for h in hrefs if re.search(r"^[^:#]+\.md", h)]
    assert set(PAGES) <= reached
