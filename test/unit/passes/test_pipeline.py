"""The pipeline's grammar, options from dataclass fields, and what happens when a pass misbehaves."""

import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import pytest

from pipelink.ir import parse
from pipelink.passes import PASSES, PIPELINES, PassInfo
from pipelink.passes.pipeline import Reproducer, Timing, options, parse_pipeline, pass_name, run_pipeline, spell
from pipelink.support.diagnostics import Diagnostics, LinkError, error
from pipelink.support.mlir import ir

TEXT = (
    'module @c attributes {pipelink.component = {abi = 1}} {"pipelink.role"() {sym_name = "r", warps = 1} : () -> ()}'
)


@dataclass(frozen=True)
class Sample:
    """A pass with an option of every type."""

    depth: int = field(default=2, metadata={"help": "how deep"})
    ratio: float = 1.0
    fast: bool = False
    objective: Literal["min-smem", "max-stages"] = "max-stages"
    keep_all: tuple[str, ...] = ()
    version: str | None = None

    def apply(self, module: ir.Operation, diagnostics: Diagnostics) -> None:
        diagnostics.warning("bad-touch", f"depth {self.depth}")


@dataclass(frozen=True)
class Crash:
    def apply(self, module: ir.Operation, diagnostics: Diagnostics) -> None:
        raise KeyError("oops")


@dataclass(frozen=True)
class Break:
    def apply(self, module: ir.Operation, diagnostics: Diagnostics) -> None:
        (component,) = module.regions[0].blocks[0].operations
        component.regions[0].blocks[0].operations[0].attributes["colour"] = ir.StringAttr.get("red", module.context)


@dataclass(frozen=True)
class Refuse:
    def apply(self, module: ir.Operation, diagnostics: Diagnostics) -> None:
        diagnostics.error("bad-touch", "first")
        diagnostics.error("bad-touch", "second")


@dataclass(frozen=True)
class Raise:
    def apply(self, module: ir.Operation, diagnostics: Diagnostics) -> None:
        raise error("bad-touch", "raised")


TABLE = tuple(
    PassInfo(c.__name__.lower(), f"{__name__}:{c.__name__}", "") for c in (Sample, Crash, Break, Refuse, Raise)
)


def one(text: str) -> object:
    (found,) = parse_pipeline(text, passes=TABLE)
    return found


def test_options_of_every_type() -> None:
    text = 'sample{depth=3 ratio=0.5, fast objective=min-smem keep-all=a:b version="13 0"}'
    assert one(text) == Sample(3, 0.5, True, "min-smem", ("a", "b"), "13 0")
    assert one(" sample { } ") == Sample()
    assert one("sample{version=13.0}") == Sample(version="13.0")
    assert one("sample{fast=false}") == Sample()


@pytest.mark.parametrize(
    "item",
    [Sample(), Sample(3, 0.5, True, "min-smem", ("a", "b"), "13 0"), Sample(version="13.0"), Sample(keep_all=("x",))],
)
def test_spelling_and_parsing_are_inverse(item: Sample) -> None:
    assert one(spell(item).replace("Sample", "sample", 1)) == item


@pytest.mark.parametrize(
    ("text", "column", "message"),
    [
        ("sample{depth=x}", 14, "option 'depth' of 'sample': expected an integer, not 'x'"),
        ("sample{ratio=x}", 14, "expected a number"),
        ("sample{fast=x}", 13, "expected true or false"),
        ("sample{objective=min}", 18, "expected one of min-smem, max-stages, not 'min'"),
        ("sample{=3}", 8, "has no option '='"),
        ("", 1, "expected the name of a pass"),
        ("sample}", 7, "expected ',' between passes"),
    ],
)
def test_bad_pipelines(text: str, column: int, message: str) -> None:
    with pytest.raises(LinkError) as caught:
        parse_pipeline(text, passes=TABLE)
    (found,) = caught.value.diagnostics
    assert (found.id, found.location.column) == ("bad-pipeline", column)
    assert message in found.message


def test_the_options_come_from_the_fields() -> None:
    found = options(Sample)
    assert list(found) == ["depth", "ratio", "fast", "objective", "keep-all", "version"]
    assert found["depth"].help == "how deep"
    assert found["objective"].choices == ("min-smem", "max-stages")


def test_every_pass_of_the_table_loads_and_documents_itself() -> None:
    for info in PASSES:
        cls = info.load()
        assert cls.__doc__, info.name
        assert pass_name(cls()) == info.name
        assert all(option.help for option in options(cls).values()), info.name
    assert all(part in {info.name for info in PASSES} for parts in PIPELINES.values() for part in parts)


def test_warnings_come_back_and_times_are_kept() -> None:
    timing = Timing()
    found = run_pipeline([Sample(), Sample(depth=4)], parse(TEXT), instruments=[timing])
    assert [d.message for d in found.items] == ["depth 2", "depth 4"]
    assert [name for name, _ in timing.times] == ["Sample", "Sample"]
    assert timing.render().count("ms") == 3


def test_errors_are_collected_to_the_end_of_the_pass() -> None:
    with pytest.raises(LinkError) as caught:
        run_pipeline([Refuse(), Crash()], parse(TEXT))
    assert [d.message for d in caught.value.diagnostics] == ["first", "second"]
    with pytest.raises(LinkError, match="raised"):
        run_pipeline([Raise()], parse(TEXT))


@pytest.mark.parametrize(("item", "message"), [(Crash(), "KeyError: 'oops'"), (Break(), "left invalid IR")])
def test_an_internal_error_leaves_a_reproducer(
    item: Crash | Break, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with pytest.raises(LinkError, match=message) as caught:
        run_pipeline([item], parse(TEXT), instruments=[Reproducer()])
    (found,) = caught.value.diagnostics
    assert found.id == "internal-error"
    assert any("reproduce with" in note.message for note in found.notes)
    (kept,) = tmp_path.iterdir()
    assert any(str(kept) in note.message for note in found.notes)
    assert kept.stat().st_mode & 0o777 == 0o600
    assert "colour" not in kept.read_text()
    parse(kept)


def test_input_is_verified_first() -> None:
    module = parse(TEXT)
    Break().apply(module.operation, Diagnostics())
    with pytest.raises(LinkError) as caught:
        run_pipeline([Sample()], module)
    assert caught.value.diagnostics[0].id == "unknown-attribute"
    run_pipeline([Sample()], module, verify=False)
