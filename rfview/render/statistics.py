"""The STATISTICS window: what happened between two cycles, in one table of states, events and energy."""

from __future__ import annotations

from rfview.engine.plugin.assumed import ASSUMED
from rfview.engine.stalls import NO_WARP
from rfview.engine.wording import energy_unit, plural
from rfview.render.scene import Scene
from rfview.render.text import Line, Row, bar, closes, cut, fill, number, percent
from rfview.sessions.reports.statistics import Statistics

BAR = 16


def render(scene: Scene, counted: Statistics | None, ends: tuple[str, str], width: int, height: int,
           scroll: int = 0) -> list[Line]:
    """Return the window's lines.

    ▌STATISTICS  a 57,106  to  cursor 122,004                                             Esc closes
     64,898 cycles   92.711 µs   warp instructions 56,461   IPC 0.870   RF 31.20 mW   2.893 µJ   balanced ✓
     WARP-CYCLES                 3,115,104                EVENTS                       count    per cycle
     of resident warps   2,868,010 100.0 %            instructions                56,461       0.870
     L long_scoreboard   1,373,761  47.9 % ███████    thread_instructions      1,806,752      27.840

    States, then event counts; the sum of the states is warps x cycles, shares are of the warp-cycles of resident warps, the
    energy is the sum of its components.
    """
    heading = Row(width, "band").add("▌", "title").add("STATISTICS", "title").add(f"  {ends[0]}  to  {ends[1]}", "tinfo")
    lines = [heading.right(width - 1, closes(scene.key("close")), "tinfo").line()]
    if counted is None:
        same = ends[0].split()[-1] == ends[1].split()[-1]
        row = Row(width).add(" the two ends are the same cycle: move one of them" if same else " counting ...", "dim")
        lines.append(row.line())
        return fill(lines, width, height)
    lines += [_summary(counted, width), *_energy(counted, width), Row(width).line()]
    left = _states(scene, counted, width if width < 92 else width // 2 - 1)
    left += _holders(counted, width if width < 92 else width // 2 - 1)
    right = _events(counted, width if width < 92 else width - width // 2 - 1)
    if width < 92:
        body = [*left, Row(width).line(), *right]
    else:
        size = max(len(left), len(right))
        blank = Row(width // 2 - 1).line()
        body = [Row(width).join(a).to(width // 2 + 1).join(b).line() for a, b in zip(
            fill(left, width // 2 - 1, size), [*right, *[blank] * (size - len(right))], strict=True)]
    room = height - len(lines)
    first = max(0, min(scroll, len(body) - room))
    return fill([*lines, *body[first:]], width, height)


def _summary(counted: Statistics, width: int) -> Line:
    row = Row(width).add(f" {plural(counted.cycles, 'cycle')}", "bold")
    if counted.microseconds:
        row.add(f"   {counted.microseconds:,.3f} µs", "text")
    row.add("   warp instructions ", "dim").add(number(counted.instructions), "text")
    row.add("   IPC ", "dim").add(f"{counted.ipc:.3f}", "bold")
    good = counted.is_balanced
    return row.add("   ").add("balanced ✓" if good else "UNBALANCED ✕", "good" if good else "bad").line()


def _energy(counted: Statistics, width: int) -> list[Line]:
    """Return the energy and its components, in two rows if one is too short."""
    row = Row(width)
    if not counted.energy_pj:
        return [row.add(" energy: not known for this run", "dim").line()]
    unit, size = energy_unit(counted.energy_pj["total"])
    row.add(" RF energy ", "dim").add(f"{counted.energy_pj['total'] / size:,.4g} {unit}", "bold")
    row.add(f" at {counted.node_nm} nm" if counted.node_nm else "", "dim")
    row.add(f", {ASSUMED}" if counted.energy_assumed else "", "dim")
    parts = " =" + " +".join(f" {name} {value / size:,.4g}" for name, value in counted.energy_pj.items() if name != "total")
    is_one = row.x + len(parts) + len(f"   power {counted.power_mw:.2f} mW") <= width
    if is_one:
        row.add(parts, "text")
    for name, value in (("power", f"{counted.power_mw:.2f} mW"), ("energy·delay", f"{counted.energy_delay_js:.3e} Js")):
        if row.x + len(name) + len(value) + 4 <= width:
            row.add(f"   {name} ", "dim").add(value, "text")
    return [row.line()] if is_one else [row.line(), Row(width).to(4).add(parts, "text").line()]


def _states(scene: Scene, counted: Statistics, width: int) -> list[Line]:
    """Return the states, the most common first."""
    head = Row(width, "").add(" WARP-CYCLES", "title").right(34, number(counted.warp_cycles), "text")
    whole = Row(width).add(" of resident warps", "text").right(34, number(counted.resident), "text")
    lines = [head.line(), whole.right(43, percent(1, 1), "text").line()]
    codes = {look.name: code for code, look in scene.looks.items()}
    top = max(counted.states.values(), default=1)
    for name, value in sorted(counted.states.items(), key=lambda item: -item[1]):
        look = scene.look(codes.get(name, -1))
        row = Row(width).add(" ").add(look.glyph, "st:" + look.role).add(f" {name}", "text")
        row.right(34, number(value), "text").right(43, "" if name in NO_WARP else percent(value, counted.resident), "text")
        lines.append(row.at(44, bar(value, top, min(BAR, max(0, width - 45))), "fg:" + look.role).line())
    return lines


def _holders(counted: Statistics, width: int) -> list[Line]:
    """Return the source lines that caused most of the lost warp-cycles, each with what explains it below it."""
    if counted.holders is None:
        return [Row(width).line(), Row(width).add(" who caused them: LINES counts it; too long to do so here", "dim").line()]
    lines = []
    for one in counted.holders:
        row = Row(width).add(" ").add(cut(one.place, 24), "text").right(34, number(one.causes), "text")
        lines.append(row.right(43, percent(one.causes, one.resident), "text").line())
        lines += [Row(width).to(3).add(cut(one.why, width - 4), "dim").line()] if one.why else []
    return [Row(width).line(), Row(width).add(" CAUSED BY", "title").line(), *lines] if lines else []


def _events(counted: Statistics, width: int) -> list[Line]:
    """Return the event counts."""
    head = Row(width).add(" EVENTS", "title").right(width - 13, "count", "dim").right(width - 1, "per cycle", "dim")
    lines = [head.line()]
    for name, value in counted.counts.items():
        row = Row(width).add(f" {name}", "text").right(width - 13, number(value), "text")
        lines.append(row.right(width - 1, f"{value / counted.cycles:.3f}", "dim").line())
    return lines
