"""A counterexample as a lane diagram: one lane a role, time downwards, as SVG or as text.

A step stands below the step before it in its lane and below the steps that let it go on; arrows run from these.  Steps
that must not meet are red, steps that wait for ever are dashed, and below the lanes red arrows say who waits for whom.
"""

from __future__ import annotations

import itertools
import json
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass, field
from xml.sax.saxutils import escape

from pipelink.map.style import CHARACTER, FILLS, Scheme, stylesheet
from pipelink.support.text import printable
from pipelink.support.trace import Step, Trace

MAX_DRAWN = 60  # steps; of a longer trace those that say most
_MAX_TEXT = 1000  # steps of the text form
_MARGIN = 24
_LANE = (190, 300)  # narrowest and widest lane
_GUTTER = 64  # between lanes, for arrows
_LEAST_WIDTH = 640
_ROW_GAP = 14
_LINE = 15  # height of a line of small text
_LINES = 3  # of a step's detail
_BOX = 24  # height of a step without its detail
_SMALL, _MEDIUM, _LARGE = 6.7, 8.6, 11.0  # widths of letters: 11 px monospaced, 14 px and 18 px bold
_ONE_LINE = 24  # characters of a lane's name that stand in one line
_SHORT = 56  # characters of a title in large letters


def render_text(traces: Sequence[Trace]) -> str:
    """All steps of the traces as lines of text."""
    return printable("\n\n".join("\n".join(trace.lines(_MAX_TEXT)) for trace in traces) + "\n")


def render_json(traces: Sequence[Trace]) -> str:
    """The traces as a JSON array; steps are numbered from 0."""
    return json.dumps([trace.to_json() for trace in traces], indent=1) + "\n"


def render_svg(trace: Trace, scheme: Scheme = "auto") -> str:
    """The lane diagram as the text of an SVG file."""
    return printable(_Picture(trace).draw(scheme))


@dataclass
class _Box:
    """A step as drawn: its row, and where it is."""

    index: int
    step: Step
    detail: list[str]
    row: int = 0
    x: float = 0.0
    y: float = 0.0
    height: float = field(default=_BOX)

    @property
    def middle(self) -> float:
        return self.y + self.height / 2


class _Picture:
    def __init__(self, trace: Trace) -> None:
        self.trace = trace
        self.out: list[str] = []
        shown = trace.shown(MAX_DRAWN)
        self.hidden = len(trace.steps) - len(shown)
        steps = [trace.steps[index] for index in shown]
        named = (*trace.lanes, *(step.lane for step in steps), *trace.cycle)
        self.lanes = [lane for lane in dict.fromkeys(named) if lane in {s.lane for s in steps} or lane in trace.cycle]
        self.halves = max(map(len, self.lanes), default=0) > _ONE_LINE  # of a lane's name: instance, role
        names = [part for lane in self.lanes for part in self.name(lane)]
        longest = max([len(s.action) + 5 for s in steps] + [len(part) + 2 for part in names], default=0)
        self.lane = min(max(_LANE[0], longest * CHARACTER + 12), _LANE[1])
        self.width = max(_LEAST_WIDTH, 2 * _MARGIN + len(self.lanes) * (self.lane + _GUTTER) - _GUTTER)
        used = len(self.lanes) * (self.lane + _GUTTER) - _GUTTER
        self.left = (self.width - used) / 2
        room = int((self.lane - 16) / _SMALL)
        self.boxes = {index: _Box(index, step, _detail(step, room)) for index, step in zip(shown, steps, strict=True)}
        owners = list(dict.fromkeys(_owner(lane) for lane in self.lanes))
        self.colour = {lane: f"o{owners.index(_owner(lane)) % len(FILLS)}" for lane in self.lanes}

    def draw(self, scheme: Scheme) -> str:
        y = self.head()
        top = y + 10 + _LINE * (1 + self.halves) + 15
        self.place(top)
        bottom = max((box.y + box.height for box in self.boxes.values()), default=top) + 16
        self.columns(y, bottom)
        self.arrows()
        for box in self.boxes.values():
            self.box(box)
        height = round(self.cycle(bottom) + 20)
        width = round(self.width)
        title = escape(f"Counterexample: {self.trace.title}", {'"': "&quot;"})
        return "\n".join(
            [
                f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" '
                f'height="{height}" role="img" aria-label="{title}">',
                f"<title>{title}</title>",
                f"<style>{stylesheet(scheme)}.arrow,.wrong{{fill:none}}</style>",
                f'<rect class="page" width="{width}" height="{height}"/>',
                *self.out,
                "</svg>\n",
            ]
        )

    # -- primitives

    def text(self, x: float, y: float, content: str, css: str = "text", anchor: str = "start") -> None:
        at = "" if anchor == "start" else f' text-anchor="{anchor}"'
        self.out.append(f'<text class="{css}" x="{x:.1f}" y="{y:.1f}"{at}>{escape(content)}</text>')

    def path(self, d: str, css: str, more: str = "") -> None:
        self.out.append(f'<path class="arrow {css}" stroke-width="1.6" {more}d="{d}"/>')

    def tip(self, x: float, y: float, direction: tuple[int, int], css: str) -> None:
        """An arrow's head that points in a direction and ends at (x, y)."""
        dx, dy = direction
        wings = [(x - 8 * dx + 4 * s * dy, y - 8 * dy + 4 * s * dx) for s in (1, -1)]
        points = " ".join(f"{a:.1f},{b:.1f}" for a, b in [(x, y), *wings])
        self.out.append(f'<polygon class="{css}" points="{points}"/>')

    def name(self, lane: str) -> list[str]:
        """The lines of a lane's name."""
        instance, _, role = lane.partition("::")
        return [instance, role] if self.halves and role else [lane]

    def x(self, lane: str) -> float:
        return self.left + self.lanes.index(lane) * (self.lane + _GUTTER)

    # -- parts

    def head(self) -> float:
        """Title and counts; returns where the lanes begin."""
        y = 34.0
        long = len(self.trace.title) > _SHORT
        room = int((self.width - 2 * _MARGIN) / (_MEDIUM if long else _LARGE))
        for line in textwrap.wrap(self.trace.title, room, max_lines=4, placeholder=" …"):
            self.text(_MARGIN, y, line, "text h" if long else "text t")
            y += 20 if long else 24
        notes = [f"{name} = {value}" for name, value in self.trace.counts]
        if self.hidden:
            notes.append(f"{self.hidden} of {len(self.trace.steps)} steps are left out")
        if notes:
            for line in textwrap.wrap(" · ".join(notes), int((self.width - 2 * _MARGIN) / _SMALL), max_lines=3):
                self.text(_MARGIN, y, line, "soft")
                y += 18
        return y

    def place(self, top: float) -> None:
        """Rows: below the step before in the lane, and below what lets it go on; what is stuck stands last."""
        last: dict[str, int] = {}
        for box in self.boxes.values():
            causes = [self.boxes[cause].row for cause in box.step.after if cause in self.boxes]
            box.row = max([last.get(box.step.lane, -1), *causes]) + 1
            last[box.step.lane] = box.row
        finals = {lane: [box for box in self.boxes.values() if box.step.lane == lane][-1] for lane in last}
        stuck = [box for box in finals.values() if box.step.blocked]
        meeting = [box for box in finals.values() if box.index in self.trace.conflict]
        for group in (stuck, meeting):
            for box in group:
                box.row = max(other.row for other in (finals.values() if group is stuck else meeting))
        y = top
        for row in range(max((box.row for box in self.boxes.values()), default=-1) + 1):
            own = [box for box in self.boxes.values() if box.row == row]
            for box in own:
                box.height = _BOX + _LINE * len(box.detail) + (4 if box.detail else 0)
                box.x, box.y = self.x(box.step.lane), y
            y += max((box.height for box in own), default=-_ROW_GAP) + _ROW_GAP

    def columns(self, top: float, bottom: float) -> None:
        height = 11 + _LINE * (1 + self.halves)
        for lane in self.lanes:
            x = self.x(lane)
            middle = x + self.lane / 2
            self.out.append(
                f'<line class="rule" stroke-dasharray="2 4" x1="{middle:.1f}" y1="{top + height:.1f}" '
                f'x2="{middle:.1f}" y2="{bottom:.1f}"/>'
            )
            self.out.append(
                f'<rect class="{self.colour[lane]}" x="{x:.1f}" y="{top:.1f}" width="{self.lane:.1f}" '
                f'height="{height}" rx="3"><title>{escape(lane)}</title></rect>'
            )
            for number, line in enumerate(self.name(lane)):
                self.text(middle, top + 17 + _LINE * number, _cut(line, self.lane / CHARACTER), "text", "middle")

    def arrows(self) -> None:
        """From each arrival to the wait that it lets go on, and between steps in conflict; behind the boxes."""
        for box in self.boxes.values():
            for cause in box.step.after:
                source = self.boxes.get(cause)
                if source is not None and source.step.lane != box.step.lane:
                    self.arrow(source, box, "rule", "line")
        clash = [self.boxes[index] for index in self.trace.conflict if index in self.boxes]
        for first, second in itertools.pairwise(clash):
            if first.step.lane != second.step.lane:
                self.arrow(first, second, "wrong", "bad", both=True)

    def arrow(self, source: _Box, to: _Box, stroke: str, fill: str, *, both: bool = False) -> None:
        right = self.x(to.step.lane) > self.x(source.step.lane)
        sign = 1 if right else -1
        x1 = source.x + (self.lane if right else 0)
        x2 = to.x + (0 if right else self.lane)
        bend = min(max(abs(x2 - x1) / 2, 24), 60) * sign
        start = x1 + (8 * sign if both else 0)
        end = x2 - 7 * sign
        self.path(
            f"M{start:.1f} {source.middle:.1f} C{x1 + bend:.1f} {source.middle:.1f} {x2 - bend:.1f} {to.middle:.1f} "
            f"{end:.1f} {to.middle:.1f}",
            stroke,
        )
        self.tip(x2, to.middle, (sign, 0), fill)
        if both:
            self.tip(x1, source.middle, (-sign, 0), fill)

    def box(self, box: _Box) -> None:
        step = box.step
        clash = box.index in self.trace.conflict
        edge = ' stroke-width="2"' if clash or step.blocked else ""
        css = "free" if step.blocked else self.colour[step.lane]
        if step.blocked and not clash:
            edge += ' stroke-dasharray="5 3"'
        hint = f"{step.lane}: {step.action}" + (f", {step.detail}" if step.detail else "")
        where = f" ({step.location})" if step.location.file else ""
        shape = f'x="{box.x:.1f}" y="{box.y:.1f}" width="{self.lane:.1f}" height="{box.height:.1f}" rx="3"'
        self.out.append(f'<rect class="{css}" {shape}><title>{escape(hint + where)}</title></rect>')
        if edge:
            self.out.append(f'<rect class="wrong" {shape}{edge}/>')
        self.text(box.x + 26, box.y + 16, str(box.index + 1), "soft mono", "end")
        self.text(box.x + 33, box.y + 16, _cut(step.action, (self.lane - 40) / CHARACTER))
        for number, line in enumerate(box.detail):
            css = "bad mono" if step.blocked and number == 0 else "text mono"
            self.text(box.x + 8, box.y + _BOX + 9 + _LINE * number, line, css)

    def cycle(self, bottom: float) -> float:
        """Who waits for whom, below the lanes; returns where the picture ends."""
        names = self.trace.cycle
        if not names:
            return bottom
        y = bottom + 18
        for number, (lane, other) in enumerate(zip(names, (*names[1:], names[0]), strict=True)):
            x1, x2 = (self.x(name) + self.lane / 2 for name in (lane, other))
            if x1 == x2:
                continue
            sign = 1 if x2 > x1 else -1
            inward = 8 + 12 * (len(names) - 1 - number)  # the shallowest arrow is the innermost
            x1, x2 = x1 + inward * sign, x2 - inward * sign
            self.path(
                f"M{x1:.1f} {bottom:.1f} V{y - 6:.1f} Q{x1:.1f} {y:.1f} {x1 + 6 * sign:.1f} {y:.1f} "
                f"H{x2 - 6 * sign:.1f} Q{x2:.1f} {y:.1f} {x2:.1f} {y - 6:.1f} V{bottom + 7:.1f}",
                "wrong",
            )
            self.tip(x2, bottom, (0, -1), "bad")
            self.text((x1 + x2) / 2, y - 5, "waits for", "bad mono", "middle")
            y += 24
        return y - 16


def _detail(step: Step, room: int) -> list[str]:
    """Lines of a step's detail; that it is stuck stands first."""
    lines = textwrap.wrap(step.detail, room, max_lines=_LINES, placeholder=" …")
    return ["waits for ever", *lines] if step.blocked else lines


def _owner(lane: str) -> str:
    """The instance of a lane, which gives it its colour."""
    return lane.partition("::")[0]


def _cut(content: str, room: float) -> str:
    return content if len(content) <= room else content[: max(1, int(room) - 1)] + "…"
