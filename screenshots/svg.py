"""Renders a screen as SVG: one line of the file per terminal row, small, and the same bytes for the same picture.

Textual's own export writes five times as much and numbers its class names by the process, neither of which suits a
picture that a test compares. `texts` reads the characters back, so that differences can be reported as rows.
"""

from __future__ import annotations

import re
from html import escape, unescape
from typing import Any

from rich.color import blend_rgb
from rich.color_triplet import ColorTriplet
from rich.segment import Segment
from rich.style import Style
from rich.terminal_theme import SVG_EXPORT_THEME

CELL, ROW, SIZE, MARGIN = 10, 20, 16.6, 10      # px; characters of a monospaced font of this size are one cell wide
BASE = 15                                       # px from a row's top to its baseline
FORE, GROUND = ColorTriplet(0xD5, 0xDC, 0xE4), ColorTriplet(0x0E, 0x12, 0x17)
FONTS = "DejaVu Sans Mono,Fira Code,Menlo,Consolas,monospace"
DIM = 0.45                                      # share of the background colour in dim text

Look = tuple[str, bool, bool]                   # colour, bold, underlined


def _colours(style: Style | None) -> tuple[ColorTriplet, ColorTriplet]:
    """Return a cell's foreground and background colours, the terminal's defaults if its style sets none."""
    if style is None:
        return FORE, GROUND

    def of(colour: Any, default: ColorTriplet, foreground: bool) -> ColorTriplet:
        if colour is None or colour.is_default:
            return default
        return colour.get_truecolor(SVG_EXPORT_THEME, foreground)

    fore, ground = of(style.color, FORE, True), of(style.bgcolor, GROUND, False)
    if style.reverse:
        fore, ground = ground, fore
    return (blend_rgb(fore, ground, DIM), ground) if style.dim else (fore, ground)


def of_app(app: Any) -> str:
    """Return a picture of what a running app shows."""
    width, height = app.size
    return of_strips(strips_of(app), width, height)


def strips_of(app: Any) -> list[list[Segment]]:
    """Return the rows of what a running app shows."""
    update = app.screen._compositor.render_update(full=True, screen_stack=app._background_screens, simplify=True)
    return [[segment for strip in row for segment in strip] for row in update.strips]


def of_strips(strips: list[list[Segment]], width: int, height: int) -> str:
    """Return a picture of a screen's rows."""
    classes: dict[Look, str] = {}
    return _page(_rows(strips, width, height, classes), width, height, classes)


def film(frames: list[tuple[list[list[Segment]], int]], width: int, height: int, seconds: float) -> str:
    """Return an animated picture of frames; a frame is a screen's rows and how many times `seconds` it is shown.

    Rows that never change are written once. Readers who prefer reduced motion see the last frame.
    """
    classes: dict[Look, str] = {}
    drawn = [(_rows(strips, width, height, classes), times) for strips, times in frames]
    columns = zip(*(rows for rows, _ in drawn), strict=True)
    still = [rows[0] if all(other == rows[0] for other in rows) else "" for rows in columns]
    whole = sum(times for _, times in drawn)
    styles, out, at = [".f{visibility:hidden}"], [row for row in still if row], 0
    for number, (rows, times) in enumerate(drawn):
        out.append(f'<g class="f f{number}">{"".join(row for row, kept in zip(rows, still, strict=True) if not kept)}</g>')
        styles.append(f"@keyframes k{number}{{0%{{visibility:visible}}{100 * times / whole:.3f}%,100%{{visibility:hidden}}}}"
                      f".f{number}{{animation:k{number} {whole * seconds:g}s {at * seconds:g}s steps(1) infinite}}")
        at += times
    styles.append(f"@media(prefers-reduced-motion){{.f{{animation:none}}.f{len(drawn) - 1}{{visibility:visible}}}}")
    return _page(out, width, height, classes, "".join(styles))


def _rows(strips: list[list[Segment]], width: int, height: int, classes: dict[Look, str]) -> list[str]:
    return [f'<g transform="translate({MARGIN},{MARGIN + y * ROW})">{_row(strip, width, classes)}</g>'
            for y, strip in enumerate(strips[:height])]


def _page(rows: list[str], width: int, height: int, classes: dict[Look, str], more: str = "") -> str:
    """Return rows as the text of an SVG file. more: further styles."""
    wide, high = width * CELL + 2 * MARGIN, height * ROW + 2 * MARGIN
    styles = [f".{name}{{fill:{colour}{';font-weight:bold' if bold else ''}{';text-decoration:underline' if under else ''}}}"
              for (colour, bold, under), name in classes.items()]
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide} {high}" width="{wide}" height="{high}" '
        'xml:space="preserve">',
        f"<style>text{{font:{SIZE}px {FONTS}}}{''.join(styles)}{more}</style>",
        f'<rect width="{wide}" height="{high}" rx="8" fill="{GROUND.hex}"/>', *rows, "</svg>", "",
    ])


def _row(strip: list[Segment], width: int, classes: dict[Look, str]) -> str:
    """Return one row, backgrounds first, then text; neighbours that look alike are joined."""
    grounds: list[list[Any]] = []       # start, end, colour
    letters: list[list[Any]] = []       # start, text, look
    x = 0
    for segment in strip:
        if segment.control or not segment.text:
            continue
        text = segment.text[: max(0, width - x)]
        fore, ground = _colours(segment.style)
        style = segment.style
        look = (fore.hex, bool(style and style.bold), bool(style and style.underline))
        if grounds and grounds[-1][2] == ground.hex and grounds[-1][1] == x:
            grounds[-1][1] += len(text)
        else:
            grounds.append([x, x + len(text), ground.hex])
        if letters and letters[-1][2] == look:
            letters[-1][1] += text
        else:
            letters.append([x, text, look])
        x += len(text)
    out = [f'<rect x="{start * CELL}" width="{(end - start) * CELL}" height="{ROW}" fill="{colour}"/>'
           for start, end, colour in grounds if colour != GROUND.hex]
    for start, text, look in letters:
        # wide gaps are left out unless they are underlined
        for word in re.finditer(r".+" if look[2] else r"\S+(?: \S+)*", text):
            name = classes.setdefault(look, f"c{len(classes)}")
            out.append(f'<text class="{name}" x="{(start + word.start()) * CELL}" y="{BASE}" '
                       f'textLength="{len(word[0]) * CELL}">{escape(word[0], quote=False)}</text>')
    return "".join(out)


def texts(svg: str) -> list[str]:
    """Return the characters of a picture, a string per row."""
    found = []
    for row in re.findall(r"<g transform[^>]*>(.*)</g>", svg):
        cells = ""
        for x, text in re.findall(r'<text class="\w+" x="(\d+)"[^>]*>([^<]*)</text>', row):
            cells = cells.ljust(int(x) // CELL) + unescape(text)
        found.append(cells.rstrip())
    return found
