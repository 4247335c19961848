"""A figure for a paper: grouped bars with a legend, whiskers and labelled axes, as SVG or PDF; its text stays text.

Both formats are drawn from one list of shapes, in points of 1/72 inch; equal figures give equal bytes of SVG.
"""

from __future__ import annotations

import io
import math
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
LEFT, RIGHT, HIGH, ROW = 58.0, 14.0, 200.0, 14.0      # ROW: of the legend
BAR, GAP = 9.0, 12.0
LEAST_WIDE, WIDEST = 340.0, 640.0
SMALL, USUAL = 8.0, 10.0
TICKS = 5
INK, GRID = "#222222", "#DDDDDD"
FONT = "Helvetica"
SHORTEST = 1.0      # points of a whisker: a shorter one would be a speck


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


@dataclass(frozen=True)
class Frame:
    """Where the bars are: the width and upper edge of the plot, the value there, and the step between grid lines."""

    room: float
    above: float
    most: float
    step: float

    @property
    def bottom(self) -> float:
        """The y of zero."""
        return self.above + HIGH

    def y(self, value: float) -> float:
        """Return the y of a value."""
        return self.bottom - HIGH * max(0.0, value) / self.most


def figure_of(groups: Groups) -> Figure:
    """Return the figure of grouped bars; the geometric mean is a last group behind a dashed line."""
    places = [*groups.places, *(["geo. mean"] if groups.means else [])]
    bars = max(1, len(groups.series)) * BAR + GAP
    longest = max(_wide(place, SMALL) for place in places)
    are_upright = longest + GAP > bars and (longest + GAP) * len(places) > WIDEST      # names would make it too wide
    room = max(LEAST_WIDE - LEFT - RIGHT, (bars if are_upright else max(bars, longest + GAP)) * len(places))
    legend, rows = _legend(groups, room)
    above_means = 1.12      # for their numbers
    step, most = _axis(max([cell.high for cell in groups.cells.values()]
                           + [above_means * value for value in groups.means.values()]))
    frame = Frame(room, ROW * rows + 18 if rows else 14.0, most, step)
    below = frame.bottom + (longest + 8 if are_upright else 14)
    shapes: list[Shape] = [*_axes(groups, frame), *legend]
    for at, place in enumerate(places):
        middle = LEFT + room * (at + 0.5) / len(places)
        is_mean = bool(groups.means) and at == len(places) - 1
        shapes += _bars(groups, place, middle - len(groups.series) * BAR / 2, frame, is_mean)
        x, y, anchor = (middle + 3, frame.bottom + 6, "end") if are_upright else (middle, frame.bottom + 12, "middle")
        shapes.append(Words(x, y, place, SMALL, anchor, are_upright, is_mean))
        if is_mean:
            x = LEFT + room * at / len(places)
            dashes = (frame.above + dash for dash in range(0, int(HIGH), 8))
            shapes += [Stroke(x, y, x, y + 4, "#888888") for y in dashes]
    shapes.append(Words(LEFT + room / 2, below + 14, " and ".join(groups.request.x), USUAL, "middle"))
    notes = wrap("; ".join(note for note in groups.notes if note), int(room / _wide("n", SMALL)))
    shapes += [Words(LEFT, below + 30 + 11 * line, text, SMALL) for line, text in enumerate(notes)]
    return Figure(LEFT + room + RIGHT, below + 24 + 11 * len(notes), tuple(shapes))


def _wide(text: str, size: float) -> float:
    """Return about how wide a text is at most, in points: the font that draws it may be another one."""
    return 0.62 * size * len(text)


def _axis(value: float) -> tuple[float, float]:
    """Return the step between grid lines, 1, 2, 2.5 or 5 times a power of ten, and the axis's end: at most TICKS steps."""
    if value <= 0:
        return 0.5, 1.0
    power = 10.0 ** math.floor(math.log10(value / TICKS))
    step = next(factor * power for factor in (1, 2, 2.5, 5, 10) if factor * power * TICKS >= value * 0.999)
    return step, step * math.ceil(value * 0.999 / step)


def _axes(groups: Groups, frame: Frame) -> Iterator[Shape]:
    """Yield the grid, its numbers, the name of the y axis and, for ratios, the line at 1."""
    digits = next(digits for digits in range(40) if math.isclose(round(frame.step, digits), frame.step))
    for at in range(round(frame.most / frame.step) + 1):
        value = at * frame.step
        y = frame.y(value)
        yield Stroke(LEFT, y, LEFT + frame.room, y, INK if not value else GRID, 0.9 if not value else 0.5)
        yield Words(LEFT - 5, y + 3, f"{value:,.{digits}f}", SMALL, "end")
    if groups.request.base and frame.most > 1:
        yield Stroke(LEFT, frame.y(1), LEFT + frame.room, frame.y(1), INK, 0.9)
    yield Words(14, frame.above + HIGH / 2, groups.in_words, USUAL, "middle", upright=True)


def colour(groups: Groups, at: int) -> str:
    """Return the colour of a series. The first is the base's, which has no bars: others look alike with and without it."""
    return COLOURS[(at + bool(groups.base)) % len(COLOURS)]


def _bars(groups: Groups, place: str, left: float, frame: Frame, is_mean: bool) -> Iterator[Shape]:
    """Yield the bars of one place on the x axis with their whiskers; those of the mean with their numbers."""
    for at, name in enumerate(groups.series):
        cell = groups.cells.get((place, name))
        value = groups.means[name] if is_mean else cell.value if cell is not None else None
        if value is None:
            continue
        x, y = left + at * BAR, frame.y(value)
        yield Box(x + 0.5, y, BAR - 1, frame.bottom - y, colour(groups, at), name in groups.hatched,
                  f"{place} {name}: {number(value)}")
        if is_mean:
            wide = _wide(number(value), SMALL)
            yield Box(x + 0.5, y - 3 - wide, BAR - 1, wide, "#FFFFFF")       # no line goes through the number
            yield Words(x + BAR / 2 + 3, y - 3, number(value), SMALL, upright=True)
        elif cell is not None and frame.y(cell.low) - frame.y(cell.high) > SHORTEST:
            low, upper, middle = frame.y(cell.low), frame.y(cell.high), x + BAR / 2
            yield Stroke(middle, low, middle, upper)
            yield from (Stroke(middle - 2, edge, middle + 2, edge) for edge in (low, upper))


def _legend(groups: Groups, room: float) -> tuple[list[Shape], int]:
    """Return a coloured box and the name of each series, and how many rows they are; none for a single series."""
    shapes: list[Shape] = []
    x, y = LEFT, 14.0
    names = groups.series if any(groups.series) else ()
    for at, name in enumerate(names):
        text = f"{name} (energy assumed)" if name in groups.hatched else name
        wide = 22 + _wide(text, SMALL + 1)
        if x > LEFT and x + wide > LEFT + room:
            x, y = LEFT, y + ROW
        shapes.append(Box(x, y - 8, 9, 9, colour(groups, at), name in groups.hatched))
        shapes.append(Words(x + 13, y, text, SMALL + 1))
        x += wide
    return shapes, round((y - 14.0) / ROW) + 1 if names else 0


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
