"""AFTER: what stood still for one instruction, what waited for that in turn, and by how much later issues came late."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rfview.render.operation import with_lines
from rfview.render.scene import Scene
from rfview.render.text import Line, Row, blank, cut, fill, hint_row, number, title, wrap
from rfview.sessions.commands.after import head, place, tree

if TYPE_CHECKING:
    from rfview.sessions.branches.without import Without
    from rfview.sessions.causes.after import After

EIGHTHS = " ▁▂▃▄▅▆▇█"
__all__ = ["render", "tree"]


def render(scene: Scene, found: After | None, measured: Without | None, error: str, refused: str, width: int, height: int,
           selected: int, hints: Sequence[tuple[str, str]], closes: str) -> list[Line]:
    """Return the window.

    ▌AFTER  what it delayed: WHY turned round                                                           Esc closes
      w0's ld.global.f32 R5, [R2] at PTX line 51, mm.cu:11, issued 398, in flight until 797: it holds w0 up at 700
      444 warp-cycles of 31 warps stood still for it
     WAITED, for it or for the one above                              warp-cycles  warps       since
    ▸L long_scoreboard at PTX line 52, mm.cu:12: add.f32 R2, R5, R4            260      3         549
       ↓ bank_conflict at PTX line 53, mm.cu:12: ld.param.u64 R4               ≤ 4      3         799

    Rows that are indented waited for what the warps of the row above issued late. Below, once it was measured: by how much
    later issues are earlier without it, over the rest of the run; ▒ where some are later.
    """
    lines = [title(width, "AFTER", "what it delayed: WHY turned round", focus=True, right=closes)]
    foot = [hint_row(width, hints, "popup")]
    if found is None:
        lines += _wrapped(error or "looking for what stood still", width, "bad" if error else "dim")
        return [*fill(lines, width, height - 1), *foot]
    for text in (with_lines(text, scene.info.program) for text in head(scene.info, scene.lines, found)):
        lines += _wrapped(text, width, "bold" if "stood still" in text else "text")
    below = _measured(measured, error, width) if error or not refused else _not_measured(refused, width)
    rows = tree(found)
    room = max(1, height - 3 - len(lines) - len(below))
    first = max(0, min(selected - room + 1, len(rows) - room))
    lines += [blank(width), _head(width)]
    lines += [_wait(scene, found, row, first + at == selected, width) for at, row in enumerate(rows[first : first + room])]
    return [*fill(lines, width, height - 1 - len(below)), *below, *foot]


def _wrapped(text: str, width: int, role: str) -> list[Line]:
    return [Row(width).add(f"  {part}", role).line() for part in wrap(text, width - 4)]


def _head(width: int) -> Line:
    row = Row(width, "band").add(" WAITED", "title").add(", for it or for the one above", "tinfo")
    return row.right(width - 21, "warp-cycles", "title").right(width - 14, "warps", "tinfo").right(width - 2, "since",
                                                                                                  "tinfo").line()


def _wait(scene: Scene, found: After, shown: tuple[int, int, int], is_chosen: bool, width: int) -> Line:
    """Return the row of a wait."""
    depth, index, hidden = shown
    wait = found.rows[index]
    look = next((one for one in scene.looks.values() if one.name == wait.state), None)
    row = Row(width, "focus" if is_chosen else "").add("▸" if is_chosen else " ", "bold").add(" " * 2 * depth)
    row.add("↓ " if depth else "", "dim").add(look.glyph if look else " ", f"st:{look.role}" if look else "text")
    more = f" and {hidden} more" if hidden else ""
    room = width - 30 - row.x - len(more)
    text = with_lines(f"{wait.state} at {place(scene.info, scene.lines, wait.pc, False)}", scene.info.program)
    text += f": {scene.info.program[wait.pc].text}" if wait.pc >= 0 else ""
    row.add(" ").add(cut(text, room), "text").add(more, "dim")
    most = "≤ " if wait.hop > 1 else ""
    row.right(width - 21, f"{most}{number(wait.cycles)}", "dim" if most else "text")
    return row.right(width - 14, str(len(wait.warps)), "text").right(width - 2, number(wait.since), "text").line()


def _not_measured(refused: str, width: int) -> list[Line]:
    """Return why no run without the instruction can be made."""
    text = f"By how much later issues came late cannot be measured: {refused.removeprefix('after: ')}"
    return [blank(width), *_wrapped(text, width, "dim")]


def _measured(measured: Without | None, error: str, width: int) -> list[Line]:
    """Return what the run without the instruction says; the error if it could not be made."""
    if measured is None:
        return [blank(width), *_wrapped(error, width, "bad")] if error else []
    lines = [blank(width), title(width, "MEASURED", "the same run, " + (
        "the setting as long as it waits" if measured.what else "the instruction over at once"))]
    lines += _wrapped(measured.sentence, width, "bold" if measured.is_certain else "text")
    top = max((abs(mean) for mean, _ in measured.bins), default=0.0)
    if not top:
        return lines
    bars = Row(width).add(f"  {number(round(top))}".rjust(9), "dim").add(" ")
    signs = Row(width).add("sign".rjust(9), "dim").add(" ")
    for mean, is_mixed in measured.bins:
        bars.add(EIGHTHS[round(8 * max(0.0, mean) / top)], "text" if measured.is_certain else "dim")
        signs.add("▒" if is_mixed else "█" if mean > 0 else " ", "good" if measured.is_certain else "dim")
    bars.add("  cycles earlier", "dim")
    signs.add("  █ earlier ▒ mixed", "dim")
    axis = Row(width).to(10).add(number(measured.begin), "dim")
    axis.right(10 + len(measured.bins), number(measured.reached), "dim")
    return [*lines, bars.line(), signs.line(), axis.line()]
