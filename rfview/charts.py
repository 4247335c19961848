"""Bar charts from plain numbers: as text for the terminal, and as SVG.

    IPC over sram, vectoradd
      sram gto    ████████████████████████████████████████  1.00
      hrf gto     █████████▉                                0.25

A chart may have a reference line, such as a paper's value, and bars may consist of named parts.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from xml.sax.saxutils import escape

from rfview.render.text import bar

GLYPHS = "█▓▒░▚▞▤▥▦▧"
COLOURS = ("#2b6cb0", "#dd6b20", "#2f855a", "#b83280", "#6b46c1", "#b7791f", "#2c7a7b", "#9b2c2c", "#4a5568", "#718096")
GREY = "#4a5568"
BAR_CELLS = 48
ROW, LEFT, WIDE, RIGHT, TOP = 22, 190, 520, 90, 54      # of the SVG, in pixels


@dataclass(frozen=True)
class Bar:
    """One bar: its label and value. parts: (name, value) that add up to the value, () for a plain bar."""

    label: str
    value: float
    parts: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True)
class Chart:
    """Bars under a title. form: format() specification of the values. line: (value, label) of a reference line, or None.

    glyphs: (name, character) for parts with a character of their own.
    """

    title: str
    bars: tuple[Bar, ...]
    unit: str = ""
    form: str = ".3g"
    line: tuple[float, str] | None = None
    glyphs: tuple[tuple[str, str], ...] = ()

    @property
    def top(self) -> float:
        """Return the value of a bar of full length."""
        values = [one.value for one in self.bars if math.isfinite(one.value)] + ([self.line[0]] if self.line else [])
        return max([*values, 1e-12])

    @property
    def names(self) -> list[str]:
        """Return the names of the parts in order of first appearance."""
        return list(dict.fromkeys(name for one in self.bars for name, _ in one.parts))


def text(chart: Chart) -> str:
    """Return a chart as lines; negative values have no bar, the reference line is a │ in every row."""
    label = max((len(one.label) for one in chart.bars), default=0)
    at = round(chart.line[0] / chart.top * BAR_CELLS) if chart.line else -1
    glyph = {name: GLYPHS[index % len(GLYPHS)] for index, name in enumerate(chart.names)} | {
        name: sign for name, sign in chart.glyphs if name in chart.names}
    lines = [chart.title + (f", {chart.unit}" if chart.unit else "")]
    for one in chart.bars:
        drawn = _stack(one, chart.top, glyph) if one.parts else bar(one.value, chart.top, BAR_CELLS)
        cells = list(drawn.ljust(BAR_CELLS + 1))
        if 0 <= at < len(cells):
            cells[at] = "│" if cells[at] == " " else "┃"
        lines.append(f"  {one.label:<{label}}  {''.join(cells)} {_number(one.value, chart.form)}")
    if chart.line:
        lines.append(f"  {'':<{label}}  {' ' * at}│ {chart.line[1]}, {_number(chart.line[0], chart.form)}")
    if glyph:
        lines.append("  " + "  ".join(f"{sign} {name}" for name, sign in glyph.items()))
    return "\n".join(lines)


def _stack(one: Bar, top: float, glyph: dict[str, str]) -> str:
    """Return a bar of parts, each drawn with its glyph; rounded so that the whole bar has the right length."""
    out, sum_so_far = "", 0.0
    for name, value in one.parts:
        sum_so_far += max(0.0, value)
        out += glyph[name] * (round(sum_so_far / top * BAR_CELLS) - len(out))
    return out


def _number(value: float, form: str) -> str:
    """Return a value as text, a dash if there is none."""
    return format(value, form) if math.isfinite(value) else "-"


def svg(chart: Chart) -> str:
    """Return a chart as an SVG document; equal charts give equal bytes."""
    names = chart.names
    height = TOP + ROW * len(chart.bars) + 34 + (ROW * -(-len(names) // 4) if names else 0)
    width = LEFT + WIDE + RIGHT
    colour = {name: COLOURS[index % len(COLOURS)] for index, name in enumerate(names)}
    scale = WIDE / chart.top
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
             'font-family="sans-serif" font-size="13">',
             f'<rect width="{width}" height="{height}" fill="#ffffff"/>',
             _text(12, 26, chart.title + (f", {chart.unit}" if chart.unit else ""), size=16)]
    for index, one in enumerate(chart.bars):
        y = TOP + ROW * index
        parts.append(_text(LEFT - 8, y + 14, one.label, anchor="end"))
        x = float(LEFT)
        for name, value in one.parts or (("", one.value),):
            size = max(0.0, value) * scale if math.isfinite(value) else 0.0
            parts.append(f'<rect x="{x:.1f}" y="{y + 2}" width="{size:.1f}" height="{ROW - 6}" '
                         f'fill="{colour.get(name, COLOURS[0])}"><title>{escape(f"{one.label} {name}".strip())}: '
                         f'{_number(value, chart.form)}</title></rect>')
            x += size
        parts.append(_text(x + 6, y + 14, _number(one.value, chart.form)))
    bottom = TOP + ROW * len(chart.bars)
    if chart.line:
        x = LEFT + chart.line[0] * scale
        parts += [f'<line x1="{x:.1f}" y1="{TOP - 6}" x2="{x:.1f}" y2="{bottom}" stroke="{GREY}" stroke-dasharray="4 3"/>',
                  _text(x, bottom + 16, f"{chart.line[1]}, {_number(chart.line[0], chart.form)}", anchor="middle")]
    for index, name in enumerate(names):
        x, y = LEFT + index % 4 * 150, bottom + 26 + index // 4 * ROW
        parts += [f'<rect x="{x}" y="{y - 10}" width="11" height="11" fill="{colour[name]}"/>', _text(x + 16, y, name)]
    return "\n".join([*parts, "</svg>"]) + "\n"


def _text(x: float, y: float, content: str, *, anchor: str = "start", size: int = 13) -> str:
    """Return a text element."""
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}" fill="#1a202c">{escape(content)}</text>'


def of(title: str, labels: Sequence[str], values: Sequence[float], **facts: object) -> Chart:
    """Return a chart of plain bars."""
    return Chart(title, tuple(Bar(label, value) for label, value in zip(labels, values, strict=True)),
                 **facts)  # type: ignore[arg-type]
