"""Another run laid over the main screen: each panel is painted for both machines, and what differs in B is underlined."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import groupby

import numpy as np

from rfview.engine.wording import signed
from rfview.render.scene import Over, Scene
from rfview.render.text import Line

IDENTITY = 4                            # cells of a warp's row that name it
TOKEN = re.compile(r"[\w.,]+|\S")     # a whole number or word, or a single glyph


def theirs(scene: Scene, slot: int) -> Scene | None:
    """Return A's scene with B's machine instead, and a slot of B in focus; None if B does not have it."""
    over = scene.over
    if over is None or over.machine is None or slot < 0:
        return None
    return scene.at(now=over.machine, before=None, info=over.machine.info, warp=slot, over=None)


def bare(scene: Scene) -> Scene:
    """Return A's scene without its own marks: neither changes since the previous cycle nor an overlaid run."""
    return scene.at(before=None, over=None)


def differing(a: str, b: str) -> list[bool]:
    """Return, per character of `a`, whether it belongs to something that differs in `b`.

    A word or number is compared as a whole, any other glyph alone; a blank differs if `b` has something there.
    """
    b = b.ljust(len(a))[: len(a)]
    out = [mine == " " and other != " " for mine, other in zip(a, b, strict=True)]
    for token in TOKEN.finditer(a):
        low, high = token.span()
        same = a[low:high] == b[low:high]
        if same and (token[0][0].isalnum()):
            # "8" is not the same as the end of "18"
            around = (b[low - 1] if low else " ") + (b[high] if high < len(b) else " ")
            same = not any(char.isalnum() or char in ".," for char in around)
        out[low:high] = [not same] * (high - low)
    return out


def marked(role: str, on: bool) -> str:
    """Return a role with its underline set or removed."""
    role, tilde, ground = role.partition("~")
    name, _, extra = role.partition("+")
    extra = extra.replace("u", "") + ("u" if on else "")
    name = "bold" if name == "changed" else name
    return name + (f"+{extra}" if extra else "") + tilde + ground


def underline(line: Line, mask: Sequence[bool]) -> Line:
    """Return the line with exactly the masked cells underlined, apart from titles in themes without colour."""
    cells = [(char, role) for text, role in line.spans for char in text]
    flags = [*mask, *[False] * (len(cells) - len(mask))]
    roled = [(char, marked(role, flag)) for (char, role), flag in zip(cells, flags, strict=False)]
    spans = [("".join(char for char, _ in group), role) for role, group in groupby(roled, key=lambda cell: cell[1])]
    return Line(tuple(spans), line.ground)


def lay_over(scene: Scene, kind: str, paint: Callable[[Scene], list[Line]]) -> list[Line]:
    """Return a panel of A with what differs in B underlined, except in its title, which states facts of A.

    kind: Panel.overlaid. WARPS is overlaid warp by warp instead.
    """
    lines = paint(bare(scene))
    over = scene.over
    assert over is not None
    is_comparable = kind != "design" or over.same_kind
    other = theirs(scene, over.slot(scene.warp) if kind == "warp" else scene.warp) if is_comparable else None
    below = paint(other)[1:] if other is not None else []
    masks = [differing(mine.plain, other_line.plain) for mine, other_line in zip(lines[1:], below, strict=False)]
    return [lines[0], *(underline(line, masks[at] if at < len(masks) else ()) for at, line in enumerate(lines[1:]))]


def lay_over_warp(scene: Scene, warp: int, width: int, paint: Callable[[Scene, int, int], Line]) -> Line:
    """Return a warp's row of A with its state, operation and wait underlined where the same warp's differ in B."""
    over = scene.over
    assert over is not None
    line = paint(bare(scene), warp, width)
    slot = over.slot(warp)
    other = theirs(scene, slot)
    if over.machine is None:
        return underline(line, ())
    without = np.zeros((0, 0), np.uint8)        # earlier cycles are not compared
    mine = paint(bare(scene).at(window=without), warp, width).plain[IDENTITY:]
    painted = paint(other.at(window=without), slot, width).plain[IDENTITY:] if other is not None else ""
    return underline(line, [False] * IDENTITY + differing(mine, painted))


def text_of(over: Over) -> str:
    """Return what the screen says about B: "B overlaid: hrf gto, +42 cycles"."""
    if over.lag is None:
        return f"B overlaid: {over.name}, w{over.warp} is not as far"
    return f"B overlaid: {over.name}, {signed(over.lag)} cycle{'' if abs(over.lag) == 1 else 's'}"
