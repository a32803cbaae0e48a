"""A dot plot as SVG: rows of labelled values with their intervals, in several colours, on one axis.

One file for light and dark pages: colours are CSS variables that follow ``prefers-color-scheme``.  Input: rows and
series as plain data.  Output: text, the same for the same input.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

_LIGHT = ("#1f6feb", "#d1570a", "#1a7f37", "#8250df", "#bf3989")
_DARK = ("#79b8ff", "#ffa657", "#56d364", "#d2a8ff", "#ff9bce")
_ROW, _LEFT, _RIGHT, _WIDTH = 22, 190, 24, 780  # pixels
_BOTTOM = 46
_LEGEND, _LETTER = 20, 7  # pixels: a line of the legend, and about the width of a letter


@dataclass(frozen=True)
class Series:
    """Values by row: median, low and high of the 95% interval."""

    name: str
    values: dict[str, tuple[float, float, float]]


@dataclass(frozen=True)
class Plot:
    """``rows`` from top to bottom; ``axis`` from, to and step; ``mark`` is where a line says "the same"."""

    title: str
    label: str
    rows: Sequence[str]
    series: Sequence[Series]
    axis: tuple[float, float, float]
    mark: float = 1.0

    def x(self, value: float) -> float:
        low, high, _ = self.axis
        return _LEFT + (min(max(value, low), high) - low) / (high - low) * (_WIDTH - _LEFT - _RIGHT)

    def svg(self) -> str:
        """The drawing, with a description for readers that do not see it."""
        legend = self._legend()
        top = 44 + _LEGEND * (legend[-1][1] + 1 if legend else 0)
        height = top + len(self.rows) * _ROW + _BOTTOM
        bottom = height - _BOTTOM
        out = [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" width="{_WIDTH}" '
            f'height="{height}" role="img" aria-label="{escape(self.title)}">',
            f"<title>{escape(self.title)}</title>",
            f"<style>{self._style()}</style>",
            f'<rect class="page" width="{_WIDTH}" height="{height}"/>',
            f'<text class="title" x="16" y="24">{escape(self.title)}</text>',
        ]
        for number, (series, (at, line)) in enumerate(zip(self.series, legend, strict=True)):
            y = 43 + line * _LEGEND
            out.append(f'<circle class="s{number}" cx="{at + 5}" cy="{y}" r="5"/>')
            out.append(f'<text x="{at + 15}" y="{y + 4}">{escape(series.name)}</text>')
        low, high, step = self.axis
        for tick in range(round((high - low) / step) + 1):
            value = low + tick * step
            kind = "mark" if abs(value - self.mark) < step / 10 else "grid"
            out.append(f'<path class="{kind}" d="M{self.x(value):.1f} {top - 4}V{bottom}"/>')
            out.append(f'<text class="tick" x="{self.x(value):.1f}" y="{bottom + 16}">{value:.2f}</text>')
        for index, row in enumerate(self.rows):
            y = top + (index + 0.5) * _ROW
            if index % 2 == 0:
                out.append(f'<rect class="band" x="0" y="{y - _ROW / 2:g}" width="{_WIDTH}" height="{_ROW}"/>')
            out.append(f'<text class="row" x="{_LEFT - 12}" y="{y + 4:g}">{escape(row)}</text>')
        for number, series in enumerate(self.series):
            for index, row in enumerate(self.rows):
                if row not in series.values:
                    continue
                median, least, most = series.values[row]
                y = top + (index + 0.5) * _ROW + (number - (len(self.series) - 1) / 2) * 4
                out.append(f'<path class="s{number}" d="M{self.x(least):.1f} {y:g}H{self.x(most):.1f}"/>')
                out.append(f'<circle class="s{number}" cx="{self.x(median):.1f}" cy="{y:g}" r="4"/>')
        out.append(
            f'<text class="tick" x="{(_LEFT + _WIDTH - _RIGHT) / 2:g}" y="{height - 12}">{escape(self.label)}</text>'
        )
        return "\n".join([*out, "</svg>"]) + "\n"

    def _legend(self) -> list[tuple[int, int]]:
        """Where each series' name begins, in pixels, and on which line, from 0."""
        found: list[tuple[int, int]] = []
        at, line = 16, 0
        for series in self.series:
            width = 34 + _LETTER * len(series.name)
            if at > 16 and at + width > _WIDTH:
                at, line = 16, line + 1
            found.append((at, line))
            at += width
        return found

    def _style(self) -> str:
        def colours(values: Sequence[str], page: str, text: str, grid: str, band: str) -> str:
            series = "".join(
                f".s{number}{{fill:{value};stroke:{value}}}" for number, value in enumerate(values[: len(self.series)])
            )
            return (
                f".page{{fill:{page}}}text{{fill:{text}}}.grid{{stroke:{grid}}}.mark{{stroke:{text}}}"
                f".band{{fill:{band};fill-opacity:.07}}{series}"
            )

        light = colours(_LIGHT, "#ffffff", "#1f2328", "#d1d9e0", "#59636e")
        dark = colours(_DARK, "#0d1117", "#e6edf3", "#30363d", "#9198a1")
        return (
            "text{font:13px system-ui,sans-serif}.title{font-weight:600;font-size:15px}.row{text-anchor:end}"
            ".tick{text-anchor:middle;font-size:12px}path{fill:none;stroke-width:2}.grid{stroke-width:1}"
            f".mark{{stroke-width:1.5}}circle{{stroke-width:0}}{light}"
            f"@media (prefers-color-scheme:dark){{{dark}}}"
        )
