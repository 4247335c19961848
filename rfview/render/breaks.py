"""The list of breakpoints and marks, with where in the run they stop."""

from __future__ import annotations

from rfview.render.scene import Scene
from rfview.render.text import Line, Row, fill, number, title


def render(scene: Scene, width: int, height: int, selected: int = 0) -> list[Line]:
    """Return the list.

    ▌BREAKPOINTS                                               hits   Esc closes
     ● 1  pc 4   fma.rn.f32 R13, R12, R5, R9  line 116           12
    ▸○ 2  if any(w.state == wb_drain)                      disabled
     MARKS
      a       57,106

    ● on, ○ off, ◐ once. Space switches the chosen one, Delete removes it, Enter goes to a mark.
    """
    lines = [title(width, "BREAKPOINTS", "", focus=True, right="hits   Esc closes")]
    if not scene.breakpoints:
        lines.append(Row(width).add("   none: b sets one at the focused warp's instruction; ", "dim")
                     .add(":break if any(w.state == barrier)", "text").line())
    for index, point in enumerate(scene.breakpoints):
        row = Row(width, "focus" if index == selected else "")
        row.add("▸" if index == selected else " ", "bold")
        row.add("◐" if point.once else "●" if point.enabled else "○", "bad" if point.enabled else "dim")
        row.add(f" {point.number:<3}", "text").add(point.text[: width - 20], "text" if point.enabled else "dim")
        program = scene.info.get("program", ())
        if point.pc is not None and point.pc < len(program):
            place = f"{program[point.pc]['text']}  line {program[point.pc]['line']}"
            row.add("   ").add(place[: max(0, width - row.x - 16)], "dim")
        row.right(width - 2, number(point.hits) if point.enabled else "disabled", "text" if point.enabled else "dim")
        lines.append(row.line())
    lines += [Row(width).line(), title(width, "MARKS", "m and a letter sets one, ' and the letter goes there")]
    for index, (name, cycle) in enumerate(scene.marks):
        chosen = index + len(scene.breakpoints) == selected
        row = Row(width, "focus" if chosen else "").add("▸" if chosen else " ", "bold").add(f" {name:<4}", "bold")
        lines.append(row.right(20, number(cycle), "text").line())
    return fill(lines, width, height)
