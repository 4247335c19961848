"""A figure for a paper: grouped bars with a legend, whiskers and labelled axes, as SVG or PDF; its text stays text.

Both formats are drawn from one list of shapes, in points of 1/72 inch; equal figures give equal bytes of SVG.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import dataclass
from textwrap import wrap
from typing import Any
from xml.sax.saxutils import escape

from rfview.engine.errors import InputError
from rfview.sweep.grouping import Groups
from rfview.sweep.tables import number

# Okabe and Ito's colours, which people with any colour vision tell apart; names stand beside the boxes of the legend
COLOURS = ("#0072B2", "#56B4E9", "#009E73", "#F0E442", "#E69F00", "#D55E00", "#CC79A7", "#999999")
LEFT, RIGHT, TOP, HIGH, BOTTOM = 58.0, 14.0, 52.0, 200.0, 74.0
BAR, GAP = 9.0, 12.0
LEAST_WIDE = 340.0
SMALL, USUAL = 8.0, 10.0
TICKS = 5
INK, GRID = "#222222", "#DDDDDD"
FONT = "Helvetica"


@dataclass(frozen=True)
class Box:
    """A filled rectangle; hatched: with diagonal lines, for assumed values."""

    x: float
    y: float
    width: float
    height: float
    colour: str
    hatched: bool = False
    title: str = ""


@dataclass(frozen=True)
class Stroke:
    """A straight line."""

    x: float
    y: float
    to_x: float
    to_y: float
    colour: str = INK
    width: float = 0.7


@dataclass(frozen=True)
class Words:
    """A text; anchor: start, middle or end. upright: turned by 90 degrees to the left."""

    x: float
    y: float
    text: str
    size: float = USUAL
    anchor: str = "start"
    upright: bool = False
    bold: bool = False


Shape = Box | Stroke | Words


@dataclass(frozen=True)
class Figure:
    """Shapes on a page of this size."""

    width: float
    height: float
    shapes: tuple[Shape, ...]


def figure_of(groups: Groups) -> Figure:
    """Return the figure of grouped bars; the geometric mean is a last group behind a dashed line."""
    places = [*groups.places, *(["geo. mean"] if groups.means else [])]
    group = max(1, len(groups.series)) * BAR + GAP
    room = max(LEAST_WIDE - LEFT - RIGHT, group * len(places))
    top = _round_top(max([cell.high for cell in groups.cells.values()] + list(groups.means.values())))
    shapes: list[Shape] = [*_axes(groups, room, top)]
    for at, place in enumerate(places):
        left = LEFT + room * (at + 0.5) / len(places) - len(groups.series) * BAR / 2
        is_mean = bool(groups.means) and at == len(places) - 1
        shapes += _bars(groups, place, left, top, is_mean)
        middle = LEFT + room * (at + 0.5) / len(places)
        shapes.append(Words(middle, TOP + HIGH + 13, place, SMALL, "middle", bold=is_mean))
        if is_mean:
            x = LEFT + room * at / len(places)
            shapes += [Stroke(x, TOP + step, x, TOP + step + 4, "#888888") for step in range(0, int(HIGH), 8)]
    shapes += _legend(groups, room)
    notes = wrap("; ".join(note for note in groups.notes if note), int(room / 3.9))
    shapes += [Words(LEFT, TOP + HIGH + 42 + 11 * line, text, SMALL) for line, text in enumerate(notes)]
    return Figure(LEFT + room + RIGHT, TOP + HIGH + BOTTOM + 11 * max(0, len(notes) - 2), tuple(shapes))


def _round_top(value: float) -> float:
    """Return the end of the axis: the next of 1, 2, 2.5, 5 times a power of ten whose multiple is not below the value."""
    step = value / TICKS if value > 0 else 1.0
    power = 10.0 ** (len(f"{int(step)}") - 1) if step >= 1 else 10.0 ** -next(n for n in range(1, 30) if step * 10**n >= 1)
    nice = next(factor * power for factor in (1, 2, 2.5, 5, 10) if factor * power * TICKS >= value * 0.999)
    return nice * -(-value // nice) if value > 0 else 1.0


def _axes(groups: Groups, room: float, top: float) -> Iterator[Shape]:
    """Yield the grid, its numbers, the axes' names and, for ratios, the line at 1."""
    steps = 10 if top / 10 * 10 == top and top <= 2 and top > 1 else TICKS
    for step in range(steps + 1):
        value, y = top * step / steps, TOP + HIGH * (1 - step / steps)
        yield Stroke(LEFT, y, LEFT + room, y, INK if not step else GRID, 0.9 if not step else 0.5)
        yield Words(LEFT - 5, y + 3, number(value), SMALL, "end")
    if groups.request.base and top > 1:
        y = TOP + HIGH * (1 - 1 / top)
        yield Stroke(LEFT, y, LEFT + room, y, INK, 0.9)
    yield Words(14, TOP + HIGH / 2, groups.quantity, USUAL, "middle", upright=True)
    yield Words(LEFT, TOP + HIGH + 28, " and ".join(groups.request.x), USUAL)


def _bars(groups: Groups, place: str, left: float, top: float, is_mean: bool) -> Iterator[Shape]:
    """Yield the bars of one place on the x axis with their whiskers; those of the mean with their numbers."""
    for at, name in enumerate(groups.series):
        cell = groups.cells.get((place, name))
        value = groups.means[name] if is_mean else cell.value if cell is not None else None
        if value is None:
            continue
        x, high = left + at * BAR, HIGH * max(0.0, value) / top
        yield Box(x + 0.5, TOP + HIGH - high, BAR - 1, high, COLOURS[at % len(COLOURS)], name in groups.hatched,
                  f"{place} {name}: {number(value)}")
        if is_mean:
            yield Words(x + BAR / 2 + 3, TOP + HIGH - high - 3, number(value), SMALL, upright=True)
        elif cell is not None and cell.high > cell.low:
            low, upper, middle = (TOP + HIGH * (1 - edge / top) for edge in (cell.low, cell.high, 0.0))
            middle = x + BAR / 2
            yield Stroke(middle, low, middle, upper)
            yield from (Stroke(middle - 2, y, middle + 2, y) for y in (low, upper))


def _legend(groups: Groups, room: float) -> Iterator[Shape]:
    """Yield a coloured box and the name of each series, in rows above the bars."""
    x, y = LEFT, 12.0
    for at, name in enumerate(groups.series):
        text = f"{name} (energy assumed)" if name in groups.hatched else name
        wide = 18 + 5.6 * len(text)
        if x > LEFT and x + wide > LEFT + room:
            x, y = LEFT, y + 14
        yield Box(x, y - 8, 9, 9, COLOURS[at % len(COLOURS)], name in groups.hatched)
        yield Words(x + 13, y, text, SMALL + 1)
        x += wide


def svg(figure: Figure) -> str:
    """Return a figure as an SVG document."""
    size = f"{figure.width:.0f} {figure.height:.0f}"
    wide, high = size.split()
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {size}" width="{wide}pt" height="{high}pt" '
           f'font-family="{FONT}, Arial, sans-serif" fill="{INK}">',
           '<pattern id="assumed" width="4" height="4" patternUnits="userSpaceOnUse"><path d="M0 4L4 0" stroke="#FFFFFF"/>'
           f'</pattern><rect width="{wide}" height="{high}" fill="#FFFFFF"/>']
    for shape in figure.shapes:
        if isinstance(shape, Box):
            place = f'x="{shape.x:.1f}" y="{shape.y:.1f}" width="{shape.width:.1f}" height="{shape.height:.1f}"'
            title = f"<title>{escape(shape.title)}</title>" if shape.title else ""
            out.append(f'<rect {place} fill="{shape.colour}">{title}</rect>')
            if shape.hatched:
                out.append(f'<rect {place} fill="url(#assumed)"/>')
        elif isinstance(shape, Stroke):
            out.append(f'<path d="M{shape.x:.1f} {shape.y:.1f}L{shape.to_x:.1f} {shape.to_y:.1f}" stroke="{shape.colour}" '
                       f'stroke-width="{shape.width}"/>')
        else:
            turn = f' transform="rotate(-90 {shape.x:.1f} {shape.y:.1f})"' if shape.upright else ""
            bold = ' font-weight="bold"' if shape.bold else ""
            out.append(f'<text x="{shape.x:.1f}" y="{shape.y:.1f}" font-size="{shape.size:g}" text-anchor="{shape.anchor}"'
                       f"{bold}{turn}>{escape(shape.text)}</text>")
    return "\n".join([*out, "</svg>"]) + "\n"


def require_pdf() -> None:
    """Raise InputError if the library that writes PDF is missing."""
    try:
        import reportlab        # noqa: F401  an extra of the installation
    except ModuleNotFoundError:
        raise InputError("--pdf needs reportlab; pip install 'rfview[figures]' installs it; --svg needs nothing") from None


def pdf(figure: Figure) -> bytes:
    """Return a figure as a PDF of one page, whose fonts are embedded, as publishers require. Raises InputError."""
    require_pdf()
    from reportlab.lib.colors import HexColor
    from reportlab.pdfbase import pdfmetrics
    from reportlab.pdfbase.ttfonts import TTFont
    from reportlab.pdfgen.canvas import Canvas

    for name, file in (("Vera", "Vera.ttf"), ("VeraBd", "VeraBd.ttf")):      # both come with reportlab
        pdfmetrics.registerFont(TTFont(name, file))
    out = io.BytesIO()
    canvas = Canvas(out, pagesize=(figure.width, figure.height), invariant=1)
    for shape in figure.shapes:
        if isinstance(shape, Box):
            _pdf_box(canvas, shape, figure.height, HexColor)
        elif isinstance(shape, Stroke):
            canvas.setStrokeColor(HexColor(shape.colour))
            canvas.setLineWidth(shape.width)
            canvas.line(shape.x, figure.height - shape.y, shape.to_x, figure.height - shape.to_y)
        else:
            canvas.saveState()
            canvas.setFillColor(HexColor(INK))
            canvas.setFont("VeraBd" if shape.bold else "Vera", shape.size * 0.86)        # wider than Helvetica
            canvas.translate(shape.x, figure.height - shape.y)
            canvas.rotate(90 if shape.upright else 0)
            draw = {"start": canvas.drawString, "middle": canvas.drawCentredString, "end": canvas.drawRightString}
            draw[shape.anchor](0, 0, shape.text)
            canvas.restoreState()
    canvas.save()
    return out.getvalue()


def _pdf_box(canvas: Any, box: Box, height: float, colour: Any) -> None:
    canvas.setFillColor(colour(box.colour))
    canvas.rect(box.x, height - box.y - box.height, box.width, box.height, stroke=0, fill=1)
    if box.hatched:
        canvas.saveState()
        path = canvas.beginPath()
        path.rect(box.x, height - box.y - box.height, box.width, box.height)
        canvas.clipPath(path, stroke=0)
        canvas.setStrokeColor(colour("#FFFFFF"))
        for step in range(0, int(box.height + box.width) + 4, 4):
            y = height - box.y - box.height + step
            canvas.line(box.x, y - box.width, box.x + box.width, y)
        canvas.restoreState()
