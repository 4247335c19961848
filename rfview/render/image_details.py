"""Below a picture: how much is wrong, the pixel in focus bit by bit, how it got its value, and the errors around it."""

from __future__ import annotations

import numpy as np

from rfview.render.grid import WIDE, ImageView
from rfview.render.operation import compact_text
from rfview.render.text import Line, Row, cut, number
from rfview.sessions.commands.image import facts
from rfview.sessions.pictures.origin import Link

MAX_LINKS = 9
REACH = 4               # pixels on each side of the one in focus


def below(view: ImageView, width: int, room: int) -> list[Line]:
    """Return the rows under the panes."""
    lines = [Row(width).add("  ").add(cut(facts(view.picture), width - 4), "text").line()]
    half = width // 2 + 4 if width >= WIDE else width
    pixel = _pixel(view, half - 2) + _links(view, half - 2, room - 5)
    around = _around(view, width - half - 1) if width >= WIDE else []
    for place in range(max(len(pixel), len(around))):
        row = Row(width)
        if place < len(pixel):
            row.join(pixel[place])
        if place < len(around):
            row.to(half).join(around[place])
        lines.append(row.line())
    return lines


def _pixel(view: ImageView, width: int) -> list[Line]:
    """Return the heading, both values and their bits."""
    picture, x, y = view.picture, view.x, view.y
    element = y * picture.width + x
    wrong = bool(picture.wrong[y, x])
    count = int(picture.wrong.sum())
    note = f"one of {number(count)} that {'are wrong' if picture.is_right else 'changed'}" if wrong else (
        "not final yet" if not picture.settled[y, x] else "right" if picture.is_right else "as at the start")
    head = Row(width, "band").add(f" PIXEL {x}, {y}", "title").add(f"  {picture.name}[{element}]   ", "tinfo").add(
        note, "bad" if wrong and picture.is_right else "tinfo")
    names = ("right", "here") if picture.is_right else ("start", "now")
    lines = [head.line()]
    values = (picture.other[y, x], picture.now[y, x])
    bits = [_bits(value) for value in values]
    for name, value, own, other in zip(names, values, bits, bits[::-1], strict=True):
        role = "changed" if wrong and name == names[1] else "text"
        row = Row(width).add(f" {name:<6}", "dim").add(f"{_text(value):<14}", role)
        if width - row.x >= len(own):
            for one, there in zip(own, other, strict=True):
                differs = one != there and name == names[1]
                row.add(one, "dim" if not differs else "ps:bad" if picture.is_right else "changed")
        lines.append(row.line())
    return lines


def _text(value: np.generic) -> str:
    return f"{float(value):.7g}" if value.dtype.kind == "f" else str(int(value))


def _bits(value: np.generic) -> str:
    """Return the bits of a value; those of a 32-bit float as sign, exponent and fraction."""
    size = 8 * value.dtype.itemsize
    text = f"{int.from_bytes(value.tobytes(), 'little'):0{size}b}"
    if value.dtype.kind == "f" and size == 32:
        return f"{text[0]} {text[1:9]} {text[9:16]} {text[16:24]} {text[24:]}"
    return " ".join(text[at : at + 8] for at in range(0, size, 8))


def _links(view: ImageView, width: int, room: int) -> list[Line]:
    """Return how the pixel got its value: the store, what was lost, and as many steps between them as fit."""
    if view.links is None:
        return [Row(width).add(" looking for the store that wrote it", "dim").line()]
    links = list(enumerate(view.links, 1))
    room = max(2, min(MAX_LINKS, room))
    if len(links) <= room:
        return [_link(at, link, width) for at, link in links]
    last = next((at for at, link in links if link.kind == "lost"), links[-1][0])
    if room < 4:
        return [_link(*links[0], width), _link(*links[last - 1], width)]
    last_ones = links[max(1, last - room + 3) : last + 1]
    skipped = last_ones[0][0] - 2
    between = Row(width).add(f"   {skipped} steps between; y copies all", "faint").line()
    return [_link(*links[0], width), between, *(_link(at, link, width) for at, link in last_ones)]


def _link(at: int, link: Link, width: int) -> Line:
    """Return one step back: what happened at which cycle, by which instruction."""
    row = Row(width).add(f"{at:>2} ", "bold")
    if link.kind == "lost":
        row.add("✕", "ps:bad").add(" ")
    when = f" at {number(link.cycle)}" if link.cycle >= 0 else ""
    row.add(cut(link.sentence, width - row.x - len(when)), "text").add(when, "bold")
    evidence = link.evidence
    if " line " in evidence:
        instruction, _, where = evidence.rpartition(", ")
        evidence = f"{where}  {compact_text(instruction)}"
    return row.add(cut(f"   {evidence}", width - row.x) if evidence else "", "dim").line()


def _around(view: ImageView, width: int) -> list[Line]:
    """Return the errors of the pixels around the one in focus, scaled so that the largest has four digits."""
    picture = view.picture
    columns = min(2 * REACH + 1, (width - 6) // 6)
    side = columns // 2
    xs = range(max(0, view.x - side), min(picture.width, view.x + side + 1))
    ys = range(max(0, view.y - REACH), min(picture.height, view.y + REACH + 1))
    errors = np.where(picture.wrong, picture.error, 0.0)[ys.start : ys.stop, xs.start : xs.stop]
    top = float(np.max(errors[np.isfinite(errors)], initial=0.0))
    power = 0 if top == 0 else int(np.floor(np.log10(top))) - 3
    head = Row(width, "band").add("AROUND IT", "title").add(
        f"  {'error' if picture.is_right else 'change'} × 10^{power}, · is {'right' if picture.is_right else 'unchanged'}"
        if top else "  nothing differs", "tinfo")
    names = Row(width).add("     ")
    for x in xs:
        names.add(f"{x:>6}", "bold" if x == view.x else "faint")
    lines = [head.line(), names.line()]
    for y, row_errors in zip(ys, errors.tolist(), strict=True):
        row = Row(width).add(f"{y:>5}", "bold" if y == view.y else "faint")
        for x, error in zip(xs, row_errors, strict=True):
            here = (x, y) == (view.x, view.y)
            text = "·" if not error else "inf" if error == float("inf") else f"{error / 10.0**power:.0f}"
            role = "faint" if not error else "bad" if picture.is_right else "text"
            row.add(f"{text:>6}", "cursor" if here else role)
        lines.append(row.line())
    return lines
