"""The placement map for a terminal: plain text, at most 100 columns wide."""

from __future__ import annotations

from pipelink.ir.views import Kernel, Program
from pipelink.map.collect import BarrierUse, PlacementMap, Region, Row, WarpSpan, collect
from pipelink.support.text import printable
from pipelink.target import SMEM_BASE, WARP_THREADS, WARPGROUP_WARPS

_BAR = 64  # characters for all of shared memory
_REGIONS = 40  # lines of a list; the rest is counted
_ROWS = 12


def render_text(program: Program, kernel: Kernel) -> str:
    """The map of a placed kernel as lines of text.  Raises LinkError ``not-placed``."""
    drawn = collect(program, kernel)
    lines = [*_head(drawn), "", *_smem(drawn), "", *_warps(drawn), "", *_barriers(drawn)]
    if drawn.columns:
        lines += ["", *_columns(drawn)]
    if drawn.reasons:
        lines += ["", "why", *(f"  {reason}" for reason in drawn.reasons)]
    return printable("\n".join(lines) + "\n")


def _head(drawn: PlacementMap) -> list[str]:
    ctas = f", {drawn.min_ctas} CTAs on an SM" if drawn.min_ctas > 1 else ""
    proof = "optimal" if drawn.optimal else "not proven optimal"
    return [f"kernel {drawn.kernel} for {drawn.target}: {drawn.warps * WARP_THREADS} threads{ctas}, {proof}"]


def _smem(drawn: PlacementMap) -> list[str]:
    size = drawn.limit - SMEM_BASE
    lines = [f"shared memory: {drawn.smem_bytes:,} of {size:,} bytes"]
    letters = {owner: chr(ord("A") + i % 26) for i, owner in enumerate(drawn.owners)}
    for row in drawn.rows[:_ROWS]:
        for number, lane in enumerate(row.lanes):
            lines.append(f"  |{_bar(lane, size, letters)}| {_title(row) if number == 0 else ''}".rstrip())
    if len(drawn.rows) > _ROWS:
        lines.append(f"  and {len(drawn.rows) - _ROWS} more lifetimes")
    regions = drawn.regions
    for region in regions[:_REGIONS]:
        letter = letters.get(region.owner, "#")
        note = f"  {region.note}" if region.note else ""
        lines.append(f"  {region.begin:>7} {region.size:>7}  {letter} {region.name:<28} {region.kind}{note}")
    if len(regions) > _REGIONS:
        lines.append(f"  and {len(regions) - _REGIONS} more")
    return lines


def _title(row: Row) -> str:
    return f"{row.title}, one of {row.group}" if row.group else row.title


def _bar(lane: list[Region], size: int, letters: dict[str, str]) -> str:
    """One lane: a character is 1/64 of the memory; at least one for every region."""
    cells = ["·"] * _BAR
    for region in lane:
        begin = min(_BAR - 1, (region.begin - SMEM_BASE) * _BAR // size)
        end = max(begin + 1, min(_BAR, -(-(region.end - SMEM_BASE) * _BAR // size)))
        for cell in range(begin, end):
            if cells[cell] == "·" or cell > begin:
                cells[cell] = letters.get(region.owner, "#")
    return "".join(cells)


def _warps(drawn: PlacementMap) -> list[str]:
    groups = -(-drawn.warps // WARPGROUP_WARPS)
    if drawn.registers:
        pool = f"a pool of {groups} x {drawn.entry_registers} = {groups * drawn.entry_registers}"
        lines = [f"warps: {drawn.warps}, registers a thread by warpgroup out of {pool}"]
    else:
        lines = [f"warps: {drawn.warps}, {drawn.entry_registers} registers a thread"]
    for group in range(groups):
        first = group * WARPGROUP_WARPS
        inside = [s for s in drawn.spans if s.first < first + WARPGROUP_WARPS and s.first + s.warps > first]
        registers = f"{drawn.registers[group]:>4} registers" if drawn.registers else ""
        lines.append(f"  warpgroup {group} (warps {first} to {first + 3}){registers}: {_roles(inside)}")
    return lines


def _roles(spans: list[WarpSpan]) -> str:
    if not spans:
        return "idle"
    shown: dict[str, list[WarpSpan]] = {}
    for span in spans:
        shown.setdefault(span.group or span.name, []).append(span)
    parts: list[str] = []
    for name, own in shown.items():
        last = max(s.first + s.warps for s in own) - 1
        where = f"{own[0].first} to {last}" if last > own[0].first else f"{last}"
        if len(own) == 1:
            parts.append(f"{own[0].name} on {where}")
        else:
            names = ", ".join(span.name for span in own[:4]) + (f" and {len(own) - 4} more" if len(own) > 4 else "")
            parts.append(f"{name} on {where}, one of: {names}")
    return "; ".join(parts)


def _barriers(drawn: PlacementMap) -> list[str]:
    lines = ["named barriers: 0 entry" + ("" if drawn.barriers else ", no other")]
    by_id: dict[int, list[BarrierUse]] = {}
    for use in drawn.barriers:
        by_id.setdefault(use.id, []).append(use)
    for number, uses in by_id.items():
        names = ", ".join(f"{use.name} ({use.threads} threads)" for use in uses[:3])
        more = f" and {len(uses) - 3} more" if len(uses) > 3 else ""
        lines.append(f"  {number:>2} {names}{more}")
    lines.append(f"mbarriers: {sum(count for _, _, count, _ in drawn.mbarriers)}")
    for name, address, count, arrivals in drawn.mbarriers[:_REGIONS]:
        lines.append(
            f"  {address:>7} x {count:<2} {name}, {arrivals} {'arrival' if arrivals == 1 else 'arrivals'} a phase"
        )
    if len(drawn.mbarriers) > _REGIONS:
        lines.append(f"  and {len(drawn.mbarriers) - _REGIONS} more")
    return lines


def _columns(drawn: PlacementMap) -> list[str]:
    def line(row: Row, region: Region) -> str:
        return f"  {region.begin:>7} {region.size:>7}  {region.name:<30} {_title(row)}"

    rows = [line(row, region) for row in drawn.columns for lane in row.lanes for region in lane]
    return [f"tensor memory: {drawn.tmem_columns} columns", *rows]
