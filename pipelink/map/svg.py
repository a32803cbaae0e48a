"""The placement map as an SVG picture, light or dark as the viewer prefers.

Every instance has a colour; shared memory runs from left to right, one row a lifetime, its rings cut into stages.  What
is too narrow for its name is named in the list below.  Colours are classes, which the stylesheet sets for both schemes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from xml.sax.saxutils import escape

from pipelink.ir.views import Kernel, Program
from pipelink.map.collect import SYSTEM, BarrierUse, PlacementMap, Region, Row, collect, warpgroup_count
from pipelink.map.style import CHARACTER, FILLS, Scheme, stylesheet
from pipelink.support.text import printable
from pipelink.target import NAMED_BARRIERS, SMEM_BASE, WARP_THREADS, WARPGROUP_WARPS

WIDTH = 1000
_LEFT = 170  # where drawings start; titles stand to the left
_RIGHT = 24
_LANE = 34  # height of a lane of memory: a name above, stages below
_LINE = 26  # height of a lane of warps, and of a barrier
_SHOWN_ROWS = 6  # alternatives of one group
_SHOWN_LINES = 32


def render_svg(program: Program, kernel: Kernel, scheme: Scheme = "auto") -> str:
    """The map of a placed kernel as the text of an SVG file.  Raises LinkError ``not-placed``."""
    return printable(_Picture(collect(program, kernel)).draw(scheme))


class _Picture:
    def __init__(self, drawn: PlacementMap) -> None:
        self.drawn = drawn
        self.out: list[str] = []
        self.y = 34.0
        self.colour = {owner: f"o{n % len(FILLS)}" for n, owner in enumerate(drawn.owners)}
        self.colour[SYSTEM] = "system"

    def draw(self, scheme: Scheme) -> str:
        self.head()
        self.smem()
        if self.drawn.columns:
            self.tmem()
        self.warps()
        self.barriers()
        self.lists()
        height = round(self.y + 16)
        title = escape(f"Placement of kernel {self.drawn.kernel}")
        return "\n".join(
            [
                f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" '
                f'height="{height}" role="img" aria-label="{title}">',
                f"<title>{title}</title>",
                f"<style>{stylesheet(scheme)}</style>",
                f'<rect class="page" width="{WIDTH}" height="{height}"/>',
                *self.out,
                "</svg>\n",
            ]
        )

    # -- primitives

    def text(self, x: float, y: float, content: str, css: str = "text", anchor: str = "start") -> None:
        where = f'x="{x:.1f}" y="{y:.1f}"'
        at = "" if anchor == "start" else f' text-anchor="{anchor}"'
        self.out.append(f'<text class="{css}" {where}{at}>{escape(content)}</text>')

    def box(self, x: float, y: float, width: float, height: float, css: str, tip: str = "") -> None:
        shape = f'<rect class="{css}" x="{x:.2f}" y="{y:.1f}" width="{width:.2f}" height="{height:.1f}" rx="2"'
        self.out.append(f"{shape}><title>{escape(tip)}</title></rect>" if tip else f"{shape}/>")

    def rule(self, x1: float, y1: float, x2: float, y2: float, css: str = "rule", width: float = 1) -> None:
        self.out.append(
            f'<line class="{css}" stroke-width="{width}" x1="{x1:.2f}" y1="{y1:.1f}" x2="{x2:.2f}" y2="{y2:.1f}"/>'
        )

    def heading(self, content: str, note: str = "") -> None:
        self.y += 20
        self.text(24, self.y, content, "text h")
        if note:
            self.text(_LEFT, self.y, note, "soft")
        self.y += 12

    def label(self, x: float, y: float, room: float, choices: Sequence[str], css: str = "text") -> None:
        """The first of ``choices`` that fits into ``room``, in the middle; nothing if none does."""
        for content in choices:
            if content and len(content) * CHARACTER + 6 <= room:
                self.text(x + room / 2, y, content, css, "middle")
                return

    # -- sections

    def head(self) -> None:
        drawn = self.drawn
        self.text(24, self.y, drawn.kernel, "text t")
        ctas = f" · {drawn.min_ctas} CTAs on an SM" if drawn.min_ctas > 1 else ""
        proof = "optimal" if drawn.optimal else "not proven optimal"
        facts = f"{drawn.target} · {drawn.warps * WARP_THREADS} threads{ctas} · placement {proof}"
        self.text(max(_LEFT, 44 + len(drawn.kernel) * 11), self.y, facts, "soft")
        x, room = _LEFT, WIDTH - _RIGHT
        self.y += 22
        for owner in drawn.owners[:24]:
            width = 24 + len(owner) * CHARACTER + 14
            if x + width > room:
                x, self.y = _LEFT, self.y + 20
            self.box(x, self.y - 10, 12, 12, self.colour[owner])
            self.text(x + 18, self.y, owner)
            x += width
        if len(drawn.owners) > 24:
            self.text(x, self.y, f"and {len(drawn.owners) - 24} more", "soft")
        self.y += 8

    def smem(self) -> None:
        drawn = self.drawn
        size = drawn.limit - SMEM_BASE
        self.heading("Shared memory", f"{drawn.smem_bytes:,} of {size:,} bytes")
        self.bars(drawn.rows, SMEM_BASE, size, 32 * 1024, lambda at: f"{at // 1024} KiB")

    def tmem(self) -> None:
        self.heading("Tensor memory", f"{self.drawn.tmem_columns} columns allocated")
        self.bars(self.drawn.columns, 0, 512, 64, str)

    def bars(self, rows: Sequence[Row], base: int, size: int, tick: int, name: Callable[[int], str]) -> None:
        """Rows of lanes over a scale from ``base`` to ``base + size``."""
        scale = (WIDTH - _LEFT - _RIGHT) / size
        top = self.y
        for group in dict.fromkeys(row.group for row in rows):
            own = [row for row in rows if row.group == group]
            if group:
                self.text(_LEFT, self.y + 12, f"one at a time ({group}):", "soft")
                self.y += 18
            for row in own[:_SHOWN_ROWS]:
                self.row(row, base, scale, size)
            if len(own) > _SHOWN_ROWS:
                self.text(_LEFT, self.y + 12, f"and {len(own) - _SHOWN_ROWS} more in the same memory", "soft")
                self.y += 20
        for at in range(-(-base // tick) * tick, base + size + 1, tick):
            x = _LEFT + (at - base) * scale
            self.rule(x, self.y, x, self.y + 5)
            self.text(x, self.y + 17, name(at), "soft mono", "middle")
        self.rule(_LEFT, self.y, _LEFT + size * scale, self.y)
        self.rule(_LEFT + size * scale, top, _LEFT + size * scale, self.y + 5, width=2)
        self.y += 24

    def row(self, row: Row, base: int, scale: float, size: int) -> None:
        title = row.title if len(row.title) <= 21 else "…" + row.title[-20:]
        self.text(_LEFT - 12, self.y + 21, title, "soft", "end")
        for lane in row.lanes:
            self.box(_LEFT, self.y + 1, size * scale, _LANE - 2, "free")
            for region in lane:
                self.region(region, _LEFT + (region.begin - base) * scale, region.size * scale)
            self.y += _LANE
        self.y += 4

    def region(self, region: Region, x: float, width: float) -> None:
        width = max(width - 1, 1.5)  # a gap before the next region
        note = f", {region.note}" if region.note else ""
        tip = f"{region.name}: {region.kind}, {region.size:,} from {region.begin:,}{note}"
        self.box(x, self.y + 1, width, _LANE - 2, self.colour[region.owner], tip)
        short = region.name.rpartition("::")[2]
        slot = width / region.stages
        if region.stages == 1 or slot < 10:
            self.label(x, self.y + 21, width, [region.name, short])
            return
        self.label(x, self.y + 14, width, [region.name, short])
        for stage in range(region.stages):
            at = x + slot * stage
            if stage:
                self.rule(at, self.y + 18, at, self.y + _LANE - 1, "cut", 1.5)
            self.label(at, self.y + 29, slot, [str(stage)], "text mono")

    def warps(self) -> None:
        drawn = self.drawn
        groups = warpgroup_count(drawn)
        if drawn.registers:
            pool = f"pool {groups} × {drawn.entry_registers} = {groups * drawn.entry_registers} registers, "
            self.heading("Warps", f"{drawn.warps} warps · {pool}{sum(drawn.registers)} used")
        else:
            self.heading("Warps", f"{drawn.warps} warps · {drawn.entry_registers} registers a thread")
        cell = min(67.0, (WIDTH - _LEFT - _RIGHT) / max(drawn.warps, 1))
        for warp in range(drawn.warps):
            self.label(_LEFT + warp * cell, self.y + 10, cell, [str(warp)], "soft mono")
        self.y += 16
        lanes: list[list[tuple[int, int]]] = []
        lowest = self.y
        for span in drawn.spans:
            lane = next(
                (
                    n
                    for n, own in enumerate(lanes)
                    if all(span.first >= e or span.first + span.warps <= b for b, e in own)
                ),
                len(lanes),
            )
            if lane >= 6:
                continue
            if lane == len(lanes):
                lanes.append([])
            lanes[lane].append((span.first, span.first + span.warps))
            y = self.y + lane * _LINE
            x, width = _LEFT + span.first * cell, span.warps * cell
            self.box(x + 1, y + 2, width - 2, _LINE - 4, self.colour[span.owner], f"{span.name}: {span.warps} warps")
            self.label(x, y + 17, width, [span.name, span.name.partition("::")[0]])
            lowest = max(lowest, y + _LINE)
        hidden = len(drawn.spans) - sum(map(len, lanes))
        self.text(_LEFT - 12, self.y + 17, "roles" if len(lanes) < 2 else "roles, in turn", "soft", "end")
        self.y = lowest + 4
        if hidden:
            self.text(_LEFT, self.y + 12, f"and {hidden} more roles on the same warps", "soft")
            self.y += 20
        if drawn.registers:
            self.registers(cell)
        self.y += 4

    def registers(self, cell: float) -> None:
        """A bar a warpgroup: the registers of its threads, against what the kernel started with."""
        drawn = self.drawn
        height, most = 40.0, 256
        self.text(_LEFT - 12, self.y + 17, "registers", "soft", "end")
        self.text(_LEFT - 12, self.y + 33, f"line: {drawn.entry_registers} at entry", "soft", "end")
        for group, count in enumerate(drawn.registers):
            x, width = _LEFT + group * WARPGROUP_WARPS * cell, WARPGROUP_WARPS * cell
            self.box(x + 1, self.y, width - 2, height, "free")
            filled = height * count / most
            self.box(x + 1, self.y + height - filled, width - 2, filled, "system", f"warpgroup {group}: {count}")
            self.label(x, self.y + height + 15, width, [f"warpgroup {group} · {count}", str(count)], "soft")
            line = self.y + height * (1 - drawn.entry_registers / most)
            self.rule(x + 1, line, x + width - 1, line)
        self.y += height + 16

    def barriers(self) -> None:
        drawn = self.drawn
        by_id: dict[int, list[BarrierUse]] = {}
        for use in drawn.barriers:
            by_id.setdefault(use.id, []).append(use)
        self.heading("Named barriers", f"{len(by_id)} of {NAMED_BARRIERS - 1} placed · 0 belongs to the entry")
        cell = (WIDTH - _LEFT - _RIGHT) / NAMED_BARRIERS
        for number in range(NAMED_BARRIERS):
            uses = by_id.get(number, [])
            css = self.colour.get(uses[0].owner, "system") if uses else "system" if number == 0 else "free"
            tip = ", ".join(f"{use.name} ({use.threads} threads)" for use in uses) or (
                "entry" if number == 0 else "free"
            )
            self.box(_LEFT + number * cell + 1, self.y, cell - 2, _LINE, css, f"{number}: {tip}")
            content = f"{number} +{len(uses) - 1}" if len(uses) > 1 else str(number)
            self.label(_LEFT + number * cell, self.y + 17, cell, [content], "text" if uses or number == 0 else "soft")
        self.y += _LINE + 6
        for number, uses in by_id.items():
            names = ", ".join(f"{use.name} ({use.threads})" for use in uses[:4])
            more = f" and {len(uses) - 4} more" if len(uses) > 4 else ""
            self.y += 15
            self.text(_LEFT, self.y, f"{number}", "text mono")
            self.text(_LEFT + 24, self.y, f"{names}{more}", "soft")
        self.y += 4

    def lists(self) -> None:
        drawn = self.drawn
        if drawn.mbarriers:
            total = sum(count for _, _, count, _ in drawn.mbarriers)
            self.heading("Mbarriers", f"{total}, each with its arrivals a phase")
            lines = [
                (f"{address}", f"{count} × {name}: {arrivals} {'arrival' if arrivals == 1 else 'arrivals'}", "system")
                for name, address, count, arrivals in drawn.mbarriers
            ]
            self.columns_of(lines)
        self.heading("Addresses", "first byte and size")
        self.columns_of(
            [
                (
                    f"{r.begin}",
                    f"{r.size:,} · {r.name} ({r.kind}{', ' + r.note if r.note else ''})",
                    self.colour[r.owner],
                )
                for r in drawn.regions
            ]
        )
        if drawn.reasons:
            self.heading("Why")
            self.y -= 28  # the first reason stands beside the heading
            for reason in drawn.reasons[:_SHOWN_LINES]:
                self.y += 16
                self.text(_LEFT, self.y, reason if len(reason) < 120 else reason[:119] + "…", "text")
            self.y += 4

    def columns_of(self, lines: list[tuple[str, str, str]]) -> None:
        """A list in two columns: address, content, colour."""
        shown = lines[:_SHOWN_LINES]
        rows = -(-len(shown) // 2)
        width = (WIDTH - _LEFT - _RIGHT) / 2
        for index, (address, content, css) in enumerate(shown):
            x = _LEFT + (index // rows) * width
            y = self.y + 15 * (index % rows + 1)
            self.box(x, y - 9, 10, 10, css)
            self.text(x + 62, y, address, "soft mono", "end")
            self.text(x + 70, y, content if len(content) < 54 else content[:53] + "…")
        self.y += 15 * rows + 4
        if len(lines) > len(shown):
            self.y += 15
            self.text(_LEFT, self.y, f"and {len(lines) - len(shown)} more", "soft")
