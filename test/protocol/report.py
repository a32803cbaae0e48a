"""The recorded run of all mutants as a table for ``docs/protocols.md``."""

from __future__ import annotations

from typing import Any


def table(recorded: dict[str, Any]) -> str:
    """A sentence and a table, from the content of ``benchmarks/results/mutants.json``."""
    total = recorded["total"]
    lines = [
        f"{total['mutants']:,} mutants of {recorded['inputs']} small compositions and {recorded['shipped']} of the "
        f"library: {total['misbehave']:,} can misbehave; {total['refused']:,} of these are refused, and of "
        f"{total['assumed']} more `prove` says what it has not proved: that a signal comes, or roles that share warps "
        f"({100 * total['rate']:.4g} % in all). Of the others {total['harmless_refused']} are refused too.",
        "",
        "| changed | mutants | can misbehave | refused of these | named as unproven | refused though harmless |",
        "|---|---|---|---|---|---|",
    ]
    for kind, row in recorded["kinds"].items():
        numbers = [row["mutants"], row["misbehave"], row["refused"], row["assumed"], row["harmless_refused"]]
        lines.append(f"| {kind} | {' | '.join(map(str, numbers))} |")
    reasons: dict[str, int] = {}
    for row in recorded["harmless"]:
        reasons[row["why"]] = reasons.get(row["why"], 0) + 1
    if reasons:
        lines += ["", "Refused though harmless:", ""]
        lines += [f"- {count}: {why}" for why, count in sorted(reasons.items(), key=lambda item: -item[1])]
    return "\n".join(lines)
