"""The recorded run of all mutants as a table for ``docs/protocols.md``."""

from __future__ import annotations

from collections import Counter
from typing import Any


def table(recorded: dict[str, Any]) -> str:
    """A sentence and a table, from the content of ``benchmarks/results/mutants.json``."""
    total = recorded["total"]
    harmless = total["mutants"] - total["misbehave"] - total["ill_formed"]
    lines = [
        f"{total['mutants']:,} mutants of {recorded['inputs']} small compositions and {recorded['shipped']} of the "
        f"library: {total['misbehave']:,} can misbehave; {total['refused']:,} of these are refused, and of "
        f"{total['assumed']} more `prove` says what it has not proved: that a signal comes, or roles that share warps "
        f"({100 * total['rate']:.4g} % in all). {total['ill_formed']} others do no harm and break a rule that every "
        f"placement keeps, so they are refused. Of the {harmless} that are left {total['harmless_refused']} are "
        f"refused, {100 * total['harmless_refused'] / harmless:.2g} %.",
        "",
        "| changed | mutants | can misbehave | refused of these | named as unproven | ill-formed "
        "| refused though harmless |",
        "|---|---|---|---|---|---|---|",
    ]
    for kind, row in recorded["kinds"].items():
        numbers = [
            row["mutants"],
            row["misbehave"],
            row["refused"],
            row["assumed"],
            row["ill_formed"],
            row["harmless_refused"],
        ]
        lines.append(f"| {kind} | {' | '.join(map(str, numbers))} |")
    for key, title in (("ill_formed", "Ill-formed"), ("harmless", "Refused though harmless")):
        reasons = Counter(row["why"] for row in recorded[key])
        if reasons:
            lines += ["", f"{title}:", ""]
            lines += [f"- {count}: {why}" for why, count in reasons.most_common()]
    return "\n".join(lines)
