"""Writes the pages and tables that come from the code: ``python docs/generate.py`` (``--check`` only compares).

``docs/diagnostics.md`` from the catalog, ``docs/api.md`` from docstrings, ``docs/limits.md`` from the limits,
``docs/tools.md`` from the commands' arguments, ``docs/passes.md`` from the pass table and the passes' docstrings,
``docs/corpus.md`` from the heads of the corpus, ``pipelink/ir/dialect.irdl`` from the dialect's schema.  Between
``<!-- begin NAME -->`` and ``<!-- end NAME -->``: the vocabulary in ``docs/ir.md`` and the tables in
``docs/contracts.md`` from the vocabulary of contracts and the device ABI, those in ``docs/package-format.md`` from the
schema of manifests, tables of numbers from ``benchmarks/results``, as the plots.
"""

import argparse
import dataclasses
import importlib
import inspect
import json
import re
import sys
from pathlib import Path

from pipelink import ir
from pipelink.contract import abi
from pipelink.contract import vocabulary as words
from pipelink.contract.fields import Field
from pipelink.contract.headers import touches_header
from pipelink.ir import schema
from pipelink.map.trace import render_svg
from pipelink.passes import PASSES, PIPELINES, PassInfo
from pipelink.passes.pipeline import parse_pipeline, run_pipeline
from pipelink.runtime.schema import OBJECTS, ListOf, Object, Row, Text
from pipelink.support import catalog, limits
from pipelink.support.diagnostics import LinkError, render_text
from pipelink.support.inputs import Sources
from pipelink.tools.console import relocate

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))
TIMELINE = ROOT / "benchmarks" / "results" / "timeline.json"
ATTENTION_TIMELINE = ROOT / "benchmarks" / "results" / "attention_timeline.json"
MUTANTS = ROOT / "benchmarks" / "results" / "mutants.json"
NOTICE = "<!-- Written by docs/generate.py; change what it reads, then run `make docs`. -->\n\n"

TOOLS = """Results go to files or stdout, messages to stderr. The exit status is 0, 1 after an error, 130 after an
interrupt. After an error no file is half written; an object or source that was given is never overwritten. `-` is
standard input or output. The work is done in a child process: a crash of a parser or a vendor library becomes a
message, and the inputs are kept for a report.
"""


def diagnostics_page() -> str:
    """Every diagnostic id, under the headings that stand as comments in the catalog."""
    lines = [
        NOTICE + "# Diagnostics\n",
        "Every message carries an id. `--diagnostics=json` prints them for machines: severity, id, message, location, "
        "notes and hint.\n",
    ]
    table: list[str] = []

    def close() -> None:
        if table:
            lines.extend(["| id | what is wrong |", "|---|---|", *table, ""])
            table.clear()

    seen: set[str] = set()
    for line in inspect.getsource(catalog).splitlines():
        if heading := re.match(r"    # (\S.*)", line):
            close()
            lines.append(f"## {heading[1][0].upper()}{heading[1][1:].rstrip('.')}\n")
        elif (entry := re.match(r'    "([a-z0-9-]+)":', line)) and entry[1] in catalog.CATALOG:
            seen.add(entry[1])
            table.append(f"| `{entry[1]}` | {catalog.CATALOG[entry[1]].replace('|', chr(92) + '|')} |")
    close()
    assert seen == catalog.CATALOG.keys(), catalog.CATALOG.keys() - seen
    return "\n".join(lines).rstrip() + "\n"


LIMITS = """What an input may ask for. An object, an archive, IR text or a command line may come from anybody: \
what is beyond one of these limits is refused with one located error, and nothing is written. They leave room above \
what real compositions need.
"""


def limits_page() -> str:
    """Every limit, under the headings that stand as comments in its module."""
    lines = [NOTICE + "# Limits\n", LIMITS]
    for line in inspect.getsource(limits).splitlines():
        if heading := re.match(r"# (\S.*)", line):
            lines += [f"\n## {heading[1]}\n", "| at most | of |", "|---|---|"]
        elif row := re.match(r"([A-Z_]+): Final = \S.*  # (.*)", line):
            lines.append(f"| {_amount(getattr(limits, row[1]), row[2])} |")
    return re.sub("\n{3,}", "\n\n", "\n".join(lines)).rstrip() + "\n"


def _amount(value: float, what: str) -> str:
    """A limit's cells; bytes are written in the largest unit that divides them."""
    for unit, size in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if what.startswith("bytes ") and not value % size:
            return f"{value // size} {unit} | {what.removeprefix('bytes ').removeprefix('of ')}"
    return f"{value:,} | {what}"


def tools_page() -> str:
    """The commands with their options, and what is true of all."""
    lines = [NOTICE + "# Tools\n", TOOLS]
    for name in ("pl-cc", "pl-opt", "pl-link", "pl-objdump"):
        parser = importlib.import_module(f"pipelink.tools.{name.replace('-', '_')}").parser()
        lines += [f"## {name}\n", f"{parser.description}\n", "| argument | meaning |", "|---|---|"]
        groups = {group.title: group for group in parser._action_groups}
        own = [a for a in parser._actions if a not in groups["common"]._group_actions and a.dest != "help"]
        lines += [*map(_argument, own), ""]
    common = [action for action in groups["common"]._group_actions if action.dest != "version"]
    lines += ["## All of them\n", "| argument | meaning |", "|---|---|", *map(_argument, common)]
    return "\n".join(lines).rstrip() + "\n"


def _argument(action: argparse.Action) -> str:
    value = "|".join(map(str, action.choices)) if action.choices else action.metavar or ""
    if action.nargs == 0 or not action.option_strings:
        value = ""
    names = [f"`{name}`" for name in action.option_strings] or [f"`{action.metavar}`"]
    shown = f" `{value}`".replace("|", "\\|") if value else ""
    return f"| {', '.join(names)}{shown} | {(action.help or '').replace('|', chr(92) + '|')} |"


def _pass_section(info: PassInfo) -> list[str]:
    cls = info.load()
    source = Path(inspect.getfile(cls)).relative_to(ROOT).as_posix()
    lines = [f"## {info.name}\n", f"{info.summary[0].upper()}{info.summary[1:]}. [{source}](../{source})\n"]
    lines += [_docstring(inspect.cleandoc(cls.__doc__ or "")), ""]
    fields = dataclasses.fields(cls)
    if fields:
        lines += ["| option | default | meaning |", "|---|---|---|"]
        for field in fields:
            default = "" if field.default in (dataclasses.MISSING, "", None) else f"`{field.default}`"
            name = field.name.replace("_", "-")
            lines.append(f"| `{name}` | {default} | {field.metadata.get('help', '')} |")
        lines.append("")
    return lines


def _docstring(text: str) -> str:
    """reST as the docstrings use it, as Markdown: double backquotes, and indented blocks that follow ``::``."""
    out: list[str] = []
    block: list[str] | None = None  # the lines of the block that is open

    def close() -> None:
        nonlocal block
        if block is not None:
            out.extend(["```text", *inspect.cleandoc("\n" + "\n".join(block)).splitlines(), "```", ""])
        block = None

    for line in text.splitlines():
        if block is not None and (not line.strip() or line.startswith("  ")):
            block.append(line)
            continue
        close()
        if line.rstrip().endswith("::"):
            out += [line.rstrip()[:-1], ""]
            block = []
        else:
            out.append(line)
    close()
    return re.sub(r"``(.+?)``", r"`\1`", "\n".join(out)).rstrip()


def passes_page() -> str:
    """Every pass in the order of the table: summary, contract, options."""
    lines = [
        NOTICE + "# Passes\n",
        "A pipeline is text such as `check,place{objective=min-smem},fuse`.\n",
        "| name | stands for |",
        "|---|---|",
        *(f"| `{name}` | `{','.join(parts)}` |" for name, parts in PIPELINES.items()),
        "",
    ]
    for info in PASSES:
        lines += _pass_section(info)
    return "\n".join(lines).rstrip() + "\n"


def _fields(fields: dict[str, Field]) -> list[str]:
    rows = ["| attribute | kind | meaning |", "|---|---|---|"]
    for name, field in fields.items():
        kind = ", ".join(f"`{choice}`" for choice in field.choices) or field.kind
        rows.append(f"| `{name}`{'' if field.required else ' (optional)'} | {kind} | {field.doc} |")
    return [*rows, ""]


def vocabulary() -> str:
    """Every operation and dictionary of the dialect, from the schema that the verifier walks."""
    lines: list[str] = []
    for title, parent in (("component", schema.COMPONENT), ("kernel", schema.KERNEL)):
        lines += [f"### pipelink.{title}\n", f"Marks a module as a {title}.\n", *_fields(parent)]
    for name, op in schema.OPS.items():
        where = " and ".join(f"{parent}s" for parent in op.parents)
        lines += [f"### pipelink.{name}\n", f"{op.doc[0].upper()}{op.doc[1:]}. In {where}.\n"]
        lines += _fields(op.fields) if op.fields else []
        if name == "port":
            lines += ["| kind | direction | required | optional |", "|---|---|---|---|"]
            for (kind, direction), (required, optional) in words.PORT_FIELDS.items():
                listed = [", ".join(f"`{key}`" for key in keys) for keys in (required, optional)]
                lines.append(f"| `{kind}` | `{direction}` | {listed[0]} | {listed[1]} |")
            lines.append("")
    for title, fields in (("A tile of a stream", words.TileRows.fields), ("An image of a component", schema.IMAGE)):
        lines += [f"### {title}\n", *_fields(fields)]
    return "\n".join(lines).strip()


def attributes() -> str:
    """What follows the name in a C++ declaration, from the rows that headers write."""
    found: dict[tuple[tuple[str, ...], str], dict[str, None]] = {}  # (C++, meaning) -> where
    for op in words.WRITTEN:
        variants = words.WRITTEN_PORTS if op == "port" else (words.PLAIN,)
        for row in words.DECLARATIONS[op].fields.values():
            for variant in (variant for variant in variants if row.written_on(variant)):
                if cxx := row.spelled(variant):
                    where = variant[0] if op == "port" else op
                    found.setdefault((cxx, row.written.doc), {})[where] = None
    lines = ["| attribute | where | meaning |", "|---|---|---|"]
    for (cxx, meaning), where in found.items():
        lines.append(f"| {', '.join(f'`{name}`' for name in cxx)} | {', '.join(where)} | {meaning} |")
    return "\n".join(lines)


#: The public API: a heading, where it is imported from, what it says, and the names in order.
API = (
    ("Composing and linking", "pipelink", ("Kernel", "Instance", "Linked", "save", "LinkError")),
    ("Launching", "pipelink.runtime", ("load", "load_all", "Kernel", "Operation", "Program", "Package")),
    ("Components from memory", "pipelink.objects", ("from_ltoir", "read_objects")),
    ("The link itself", "pipelink.link", ("Request", "link", "emit", "Observer", "user_cache", "LinkedTarget")),
    ("Diagnostics", "pipelink.support.diagnostics", ("Diagnostic", "Note", "render_text")),
)
API_PAGE = """What Python code calls. Everything else is free to change. [Embedding](embedding.md) is the guide \
to it, [runtime](runtime.md) says what a launch accepts, [torch](torch.md) and [component tests](component-tests.md) \
have pages of their own. Errors are one `LinkError`, whose `diagnostics` carry ids of [diagnostics](diagnostics.md).
"""


def api_page() -> str:
    """Every public name with its signature and its docstring."""
    lines = [NOTICE + "# Python API\n", API_PAGE]
    for heading, module, names in API:
        lines.append(f"## {heading}\n")
        for name in names:
            lines += _api_entry(f"{module}.{name}", getattr(importlib.import_module(module), name))
    return "\n".join(lines).rstrip() + "\n"


def _api_entry(path: str, found: object) -> list[str]:
    """A class with its public members, or a function."""
    lines = [
        f"### {path}\n",
        f"```text\n{_signature(path.rpartition('.')[2], found)}\n```\n",
        _own_docstring(found),
        "",
    ]
    if not inspect.isclass(found):
        return lines
    for name, member in vars(found).items():
        said = _own_docstring(member.fget if isinstance(member, property) else member)
        if name.startswith("_") and name not in ("__call__", "__getitem__", "__getattr__") or not said:
            continue
        if isinstance(member, property):
            lines += [f"**`{name}`**: {said}", ""]
        elif inspect.isfunction(member):
            lines += [f"```text\n{_signature(name, member)}\n```\n", said, ""]
    return lines


def _own_docstring(found: object) -> str:
    text = inspect.cleandoc(vars(found).get("__doc__") or "") if inspect.isclass(found) else inspect.getdoc(found) or ""
    text = re.sub(r":(?:class|func|meth|attr|mod|data):`~?([^`]+)`", r"``\1``", text)
    return re.sub(
        r"^>>> .*(?:\n(?:>>>|\.\.\.) .*)*", lambda match: f"```text\n{match[0]}\n```", _docstring(text), flags=re.M
    )


class _Bare:
    """An annotation, which is a string of its own, without quotes."""

    def __init__(self, text: object) -> None:
        self.text = str(text)

    def __repr__(self) -> str:
        return self.text


def _signature(name: str, found: object) -> str:
    """A signature as Python would write it, an argument a line where one line is too long."""
    if inspect.isclass(found) and issubclass(found, BaseException):
        return f"{name}(diagnostics)"
    signature = inspect.signature(found)
    own = [p for p in signature.parameters.values() if p.name != "self" and not p.name.startswith("_")]
    plain = [p.replace(default=_Bare("…")) if "factory" in repr(p.default) else p for p in own]
    plain = [p.replace(annotation=_Bare(p.annotation)) if p.annotation is not p.empty else p for p in plain]
    returned = signature.return_annotation
    signature = signature.replace(parameters=plain)
    if returned is not signature.empty:
        signature = signature.replace(return_annotation=_Bare(returned))
    text = f"{name}{signature}"
    if len(text) <= 100:
        return text
    result = "" if returned is signature.empty else returned
    stars = (
        ["*"]
        if any(p.kind is p.KEYWORD_ONLY for p in plain) and all(p.kind is not p.VAR_POSITIONAL for p in plain)
        else []
    )
    shown: list[str] = []
    for parameter in plain:
        if parameter.kind is parameter.KEYWORD_ONLY and stars:
            shown += stars
            stars = []
        shown.append(str(parameter))
    return "\n".join([f"{name}(", *(f"    {line}," for line in shown), f") -> {result}" if result else ")"])


def manifest() -> str:
    """Every object of a package's manifest, from the table that the runtime holds it to."""
    lines: list[str] = []
    seen: list[Object] = []

    def inner(kind: object) -> Object | None:
        kind = kind.item if isinstance(kind, ListOf) else kind
        return kind if isinstance(kind, Object) else None

    def section(table: Object) -> None:
        if table in seen:
            return
        seen.append(table)
        lines.extend([f"### {table.name[0].upper()}{table.name[1:]}\n", "| key | values | meaning |", "|---|---|---|"])
        rows = [("", row) for row in table.rows]
        if table.variants is not None:
            rows.append(("", Row("kind", Text(choices=tuple(table.variants)), "says which keys follow")))
            rows += [(kind, row) for kind, own in table.variants.items() for row in own]
        for kind, row in rows:
            key = f"`{row.key}`" + ("" if row.needed else " (optional)") + (f" of `{kind}`" if kind else "")
            default = "" if row.needed or row.default in (None, (), "") else f"; `{json.dumps(row.default)}` if absent"
            lines.append(f"| {key} | {row.kind} | {row.doc}{default} |")
        lines.append("")
        for row in [row for _, row in rows]:
            if (found := inner(row.kind)) is not None:
                section(found)

    for table in OBJECTS:
        section(table)
    return "\n".join(lines).strip()


def _keys(declared: type[words.Declaration], variant: tuple[str, ...] = words.PLAIN) -> str:
    """The keys of a record, or of a tile, with the values that it takes."""
    shown: list[str] = []
    for key, row in declared.fields.items():
        if not row.written_on(variant) or key in ("kind", "direction"):
            continue
        choices = row.values(variant)
        if row.kind == "range" or row.written.form == "interval":
            says = " [min, max]" if row.kind == "range" else " [begin, end]"
        elif row.kind == "int" and row.written.least == row.written.most:
            says = f" {row.written.most}"
        else:
            says = f" ({', '.join(choices)})" if choices and key != "layout" else ""
        shown.append(f"`{key}`{says}{'' if row.needed_in_record(variant) else '?'}")
    return ", ".join(shown)


def records() -> str:
    """The keys of every record and tile that headers write; those with a question mark may be absent."""
    lines = ["| op | keys |", "|---|---|", '| `component` | `cxx` (17 or 20), `toolkit` ("13.0")? |']
    for op in words.WRITTEN:
        declared = words.DECLARATIONS[op]
        if op == "port":
            alike: dict[tuple[str, str], list[str]] = {}
            for kind, direction in words.WRITTEN_PORTS:
                alike.setdefault((kind, _keys(declared, (kind, direction))), []).append(direction)
            for (kind, keys), directions in alike.items():
                shown = f"`direction` ({', '.join(directions)})"
                lines.append(f'| `port`, `kind` "{kind}" | {shown}{", " if keys else ""}{keys} |')
            continue
        keys = _keys(declared)
        if op == "protocol":
            keys += "; `name` is the role, or the port that answers"
        elif op in ("require", "promise"):
            keys = f"`key`, {keys}"
        lines.append(f"| `{op}` | {keys or 'none'} |")
        if op == "role":
            lines.append("| `entry`, `answer` | none: the definition exists |")
    tiles: dict[str, list[str]] = {}
    for variant in words.WRITTEN_TILES:
        tiles.setdefault(_keys(words.TileRows, variant), []).append(variant[0])
    lines += [f"| a tile: {', '.join(layouts)} | {keys} |" for keys, layouts in tiles.items()]
    return "\n".join(lines)


#: How the page on contracts calls the classes of the device ABI.
CLASSES = {"role": "ROLE", "barrier": "BARRIER", "smem": "SMEM", "state": "STATE", "param": "PARAM"}
CLASSES |= {
    "mbarrier": "MBARRIER",
    "cluster_barrier": "CLUSTER_BARRIER",
    "turns": "TURNS",
    "tmem": "TMEM",
    "stream": "PORT",
    "token": "TOKEN",
    "call calls": "CALL",
    "call answers": "ANSWER",
}


def symbols() -> str:
    """The functions of the device ABI; those that differ in the number of coordinates are one row."""
    lines = ["| function of `component::…` | parameters | returns | step of a protocol | who defines it |"]
    lines.append("|---|---|---|---|---|")
    shown: dict[str, None] = {}
    for label, resource in abi.RESOURCES.items():
        owner = CLASSES.get(label, CLASSES.get(label.split()[0], "")) + resource.suffix
        for function in resource.functions.values():
            names, codes, given = f"`{owner}::{function.name}`", function.codes, [n for n, _ in function.arguments]
            if function.verb == "copy":
                first, last = (f"`{owner}::pl_tma{rank}`" for rank in (abi.RANKS[0], abi.RANKS[-1]))
                names, codes = f"{first} … {last}", codes.rstrip("i")
                given = ["stage", "part", "byte offset", "map", "then an `i` for each coordinate"]
            listed = f" ({', '.join(given)})" if given else ""
            returned = "nothing" if function.returns == "void" else f"`{abi.CXX[function.returns]}`, {function.result}"
            verb = f"`{function.verb}`" if function.verb else ""
            row = f"| {names} | `{codes}`{listed} | {returned} | {verb} | the {function.definer} |"
            shown[row] = None
    return "\n".join([*lines, *shown])


CORPUS = """Composition bugs that people reported, by kind, and who decides them: small files in \
[test/corpus](../test/corpus/README.md), each with the fault, its fix and, where there is one, a legal near miss. \
`make test` runs them. The passes decide from contracts, before anything is compiled; `audit` compares an object with \
its own contract; `link` is the vendor's linker and the audit of the machine code; `launch` the runtime, before the \
kernel starts; `debug` a run linked with `--debug-hangs`. `prevented`: it cannot be written, because the linker makes \
the part in question.
"""


def corpus_page() -> str:
    """Every entry of the corpus by area, then the reports."""
    from test.corpus.heads import Entry, entries, kinds

    def row(entry: Entry, first: str) -> str:
        path = entry.path.relative_to(ROOT).as_posix()
        ids = ", ".join(f"`{id}`" for id in entry.ids)
        return f"| {first} | {', '.join(entry.decided)} | {ids} | [{entry.path.name}](../{path}) |"

    found = entries()
    lines = [NOTICE + "# Corpus\n", CORPUS]
    for area, listed in kinds().items():
        lines += [
            f"## {area.replace('-', ' ').capitalize()}\n",
            "| kind | decided by | id | file |",
            "|---|---|---|---|",
        ]
        own = [entry for entry in found if entry.area == area]
        lines += [*(row(e, kind) for kind in listed for e in own if e.kind == kind), ""]
    reports = [entry for entry in found if entry.report]
    if reports:
        lines += ["## Reports\n", "| report | kind | decided by | id | file |", "|---|---|---|---|---|"]
        for entry in reports:
            short = entry.report.removeprefix("https://").removeprefix("github.com/")
            lines.append(row(entry, f"[{short}]({entry.report}) | {entry.kind}"))
    return "\n".join(lines).rstrip() + "\n"


def counterexample() -> tuple[str, str]:
    """What ``prove`` says of the example in the page on protocols, as a fence and as a picture."""
    section = (ROOT / "docs" / "protocols.md").read_text().partition("## Reading a counterexample")[2]
    text = re.search(r"```mlir\n(.*?)```", section, re.S)
    assert text is not None
    try:
        run_pipeline(parse_pipeline("check,place,prove"), ir.parse(text[1].encode()))
    except LinkError as problem:
        (found,) = relocate(problem.diagnostics, "gemm.mlir")
        assert found.trace is not None, found
        shown = render_text(found, Sources(texts={"gemm.mlir": text[1].encode()}))
        return f"```text\n{shown}\n```", render_svg(found.trace)
    raise AssertionError("the example of a counterexample has none")


def fill_markers(text: str, tables: dict[str, str]) -> str:
    """``text`` with what stands between each pair of markers replaced by its table, if its result is there."""

    def replace(match: re.Match[str]) -> str:
        if match[1] not in tables:
            return match[0]
        return f"<!-- begin {match[1]} -->\n{tables[match[1]].strip()}\n<!-- end {match[1]} -->"

    return re.sub(r"<!-- begin ([\w-]+) -->\n.*?<!-- end \1 -->", replace, text, flags=re.S)


def pages() -> dict[Path, str]:
    """Every generated file and its content."""
    texts = {"diagnostics": diagnostics_page(), "limits": limits_page(), "passes": passes_page()}
    texts |= {"tools": tools_page(), "corpus": corpus_page(), "api": api_page()}
    found = {ROOT / "docs" / f"{name}.md": text for name, text in texts.items()}
    found[Path(schema.__file__).with_name("dialect.irdl")] = schema.irdl()
    found[ROOT / "pipelink" / "include" / "pipelink" / "touches.cuh"] = touches_header()
    marked = [ROOT / "README.md", *(p for p in (ROOT / "docs").glob("*.md") if p not in found)]
    texts = {path: path.read_text() for path in marked}
    texts = {path: text for path, text in texts.items() if "<!-- begin " in text}
    if texts:
        example, picture = counterexample()
        found[ROOT / "docs" / "trace.svg"] = picture
        known = {"vocabulary": vocabulary(), "counterexample": example}
        known |= {"attributes": attributes(), "records": records(), "symbols": symbols(), "manifest": manifest()}
        if MUTANTS.is_file():
            from test.protocol.report import table

            known["mutants"] = table(json.loads(MUTANTS.read_text()))
        if TIMELINE.is_file():
            from benchmarks.timeline import picture, summary

            trace = json.loads(TIMELINE.read_text())
            found[ROOT / "docs" / "timeline.svg"], known["timeline"] = picture(trace), summary(trace)
        if ATTENTION_TIMELINE.is_file():
            from benchmarks.attention.timeline import summary as attention_summary
            from benchmarks.timeline import picture

            trace = json.loads(ATTENTION_TIMELINE.read_text())
            found[ROOT / "docs" / "attention-timeline.svg"] = picture(trace)
            known["attention-timeline"] = attention_summary(trace)
        if any(set(re.findall("<!-- begin ([\\w-]+) -->", text)) - known.keys() for text in texts.values()):
            from benchmarks.report import plots, tables

            known |= tables()
            found.update({ROOT / "docs" / name: text for name, text in plots().items()})
        found.update({path: fill_markers(text, known) for path, text in texts.items()})
    return found


def main() -> int:
    """Write the pages, or with ``--check`` say which are out of date."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 if a page is out of date")
    check = parser.parse_args().check
    stale = {path: text for path, text in pages().items() if not path.exists() or path.read_text() != text}
    for path, text in stale.items():
        if check:
            print(f"{path.relative_to(ROOT)} is out of date: run `make docs`")
        else:
            path.write_text(text)
            print(f"wrote {path.relative_to(ROOT)}")
    return 1 if check and stale else 0


if __name__ == "__main__":
    sys.exit(main())
