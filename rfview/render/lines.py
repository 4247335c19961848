"""The LINES panel: the program's source, what each line waits, and what waiting it causes; below, for whom and in whom."""

from __future__ import annotations

import posixpath
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from rfview.render import holders
from rfview.render.panel import Hit, Panel, Place
from rfview.render.scene import Look, Scene
from rfview.render.text import BARS, Line, Row, bar, cut, fill, number, percent, short_number, title

if TYPE_CHECKING:
    from rfview.sessions.causes.account import Causes
    from rfview.sessions.lines.table import LineTable

WIDE, MIDDLE = 100, 72      # columns from which all figures, or those of accesses, are shown
AROUND = 3          # lines without instructions that are shown before and after those with some
MARK, NUMBER, SHARE, ACCESS = 1, 5, 7, 18
LEAST_BELOW = 14    # rows of the panel from which holders are shown below
ORDERS = ("source", "waits", "causes")
NONE = ("the program has no source lines: compile with nvcc -lineinfo, in numba-cuda",
        "with lineinfo=True; Triton always writes them.", "`rfview lines TARGET --ptx` counts by lines of PTX or listing.")
Entry = tuple[str, int, int]        # path, line or 0 for the file's name or -1 for a gap, number in LineTable.lines or -1


@lru_cache(maxsize=4)
def entries(table: LineTable) -> tuple[Entry, ...]:
    """Return the rows of the panel: per file its name if there are several, then its lines with those around them."""
    rows: list[Entry] = []
    for path in table.paths:
        if len(table.paths) > 1:
            rows.append((path, 0, -1))
        numbers = {line.line: at for at, line in enumerate(table.lines) if line.path == path}
        text = table.text_of(path)
        last = 0
        for line in sorted(numbers):
            first = max(last + 1, line - AROUND) if text is not None else line
            if last and first > last + 1 and text is not None:
                behind = min(last + AROUND, len(text or ()))
                rows += [(path, one, -1) for one in range(last + 1, min(behind + 1, first))]
                last = max(last, min(behind, first - 1))
            if last and first > last + 1:
                rows.append((path, -1, -1))
            rows += [(path, one, -1) for one in range(first, line)]
            rows.append((path, line, numbers[line]))
            last = line
        if text is not None:
            rows += [(path, one, -1) for one in range(last + 1, min(last + AROUND, len(text)) + 1)]
    return tuple(rows)


def listing(scene: Scene) -> tuple[Entry, ...]:
    """Return the rows of the panel in the scene's order: of the source, or by what lines wait or cause."""
    assert scene.lines is not None
    rows = entries(scene.lines)
    if scene.line_order == "source" or scene.costs is None:
        return rows
    causes = scene.costs[1].causes
    column = causes.waits if scene.line_order == "waits" else causes.caused
    return tuple(sorted((row for row in rows if row[2] >= 0), key=lambda row: -int(column[row[2]])))


def main_holder(scene: Scene) -> tuple[int, int, str] | None:
    """Return (the chosen line, the other line that holds it up most, in which share of its waits); None without one."""
    if scene.costs is None or scene.lines is None:
        return None
    line, held = chosen(scene), held_by(scene, chosen(scene))
    others = {holder: count for holder, count in held.items() if holder != line and holder < len(scene.lines.lines)}
    if not others:
        return None
    holder = max(others, key=lambda one: others[one])
    return line, holder, percent(others[holder], sum(held.values()), 0)


def held_by(scene: Scene, at: int) -> dict[int, int]:
    """Return the lost warp-cycles of a line by holder."""
    held: dict[int, int] = {}
    for count, _, holder in scene.costs[1].causes.holders_of(at) if scene.costs is not None else ():
        held[holder] = held.get(holder, 0) + count
    return held


def mostly(scene: Scene, at: int) -> Look | None:
    """Return the state in which a line loses most warp-cycles; None if it loses none, or nothing is counted."""
    return _mostly(scene, scene.costs[1].causes, at) if scene.costs is not None else None


def chosen(scene: Scene) -> int:
    """Return the number of the line that the panel's cursor is on: the chosen one, else the focused warp's."""
    if scene.lines is not None and 0 <= scene.line < len(scene.lines.lines):
        return scene.line
    return max(0, _here(scene))


def _here(scene: Scene) -> int:
    """Return the number of the line where the focused warp stands; -1 without one, or in an empty slot."""
    table, machine = scene.lines, scene.now
    assert table is not None and machine is not None
    return table.number_at(machine.pc[scene.warp]) if scene.warp in machine.resident_warps else -1


def moved(scene: Scene, by: int) -> int:
    """Return the number of the line `by` rows below the chosen one, in the order shown."""
    order = [row[2] for row in listing(scene) if row[2] >= 0]
    at = order.index(chosen(scene)) if chosen(scene) in order else 0
    return order[max(0, min(len(order) - 1, at + by))]


def cells(scene: Scene, at: int) -> list[tuple[str, str]]:
    """Return two characters with their colours: what a line waits, and what waiting it causes; blanks before a count."""
    blank = [(" ", "text"), (" ", "text")]
    if scene.costs is None or at < 0:
        return blank
    causes = scene.costs[1].causes
    top, mostly = float(max(causes.waits.max(), causes.caused[:-1].max(initial=0))), _mostly(scene, causes, at)
    if not top:
        return blank
    heights = [BARS[max(1, round(8 * int(column[at]) / top))] if column[at] else " "
               for column in (causes.waits, causes.caused)]
    return [(heights[0], f"fg:{mostly.role}" if mostly is not None else "text"), (heights[1], "bold")]


def bars(width: int) -> int:
    """Return how many cells the bars of shares take."""
    return 9 if width >= WIDE else 5 if width >= MIDDLE else 3


def _head(scene: Scene, width: int, cursor: int) -> Line:
    """Return the heads of the columns, which name the denominator."""
    resident = f"of {short_number(int(scene.costs[1].states[:-1].sum()))}" if scene.costs is not None else ""
    bar = bars(width)
    row = Row(width).to(MARK).add(f"{'line':>{NUMBER}}", "faint").add(f"{'waits':>{SHARE}} ", "bold")
    row.add(f"{resident if bar > 4 else '':<{bar + 3}}", "faint").add(f"{'causes':>{SHARE}} ", "bold")
    row.add(f"{'of those' if bar > 8 else '':<{bar + 1}}", "faint")
    if width >= WIDE:
        table = scene.lines
        assert table is not None
        row.add(f"{f':{table.lines[cursor].line}':>8}'s ", "faint")
    if width >= MIDDLE:
        row.add(f"{'cache lines':<{ACCESS}}", "bold")
    if width >= WIDE:
        row.add(f"{'RF lost':>7} ", "faint")
    return row.add("source", "faint").line()


def _source_row(scene: Scene, entry: Entry, width: int, cursor: int, here: int, held: dict[int, int]) -> Line:
    """Return one line of the source with what it waits and causes. held: lost warp-cycles of the cursor's line by holder."""
    path, line, at = entry
    table = scene.lines
    assert table is not None
    if line <= 0:
        return Row(width).to(MARK).add(cut(path, width - 2) if line == 0 else f"{'…':>{NUMBER}}",
                                       "bold" if line == 0 else "faint").line()
    row = Row(width, "focus" if at >= 0 and at == cursor else "")
    role = "bold" if at >= 0 and at == cursor else "text" if at >= 0 else "faint"
    row.add("▸" if at >= 0 and at == here else " ", "bold").add(f"{line:>{NUMBER}}", role if at >= 0 else "faint")
    point = next((one for one in scene.breakpoints if one.kind == "source" and one.pc is not None
                  and table.number_at(one.pc) == at), None) if at >= 0 else None
    end = row.x + 2 * (SHARE + 1 + bars(width)) + 3 + (11 if width >= WIDE else 0)
    if scene.costs is not None and at >= 0 and scene.costs[1].states[at].any():
        _shares(scene, row, at, width, held, cursor)
    row.to(end)
    if scene.costs is not None and at >= 0 and width >= MIDDLE:
        row.add(*holders.access_words(scene.costs[1].causes, at)).to(end + ACCESS)
        if width >= WIDE:
            refused = int(scene.costs[1].causes.metrics.refused[at])
            row.add(f"{number(refused) if refused else '':>7}", "dim")
    row.to(end + (ACCESS if width >= MIDDLE else 0) + (8 if width >= WIDE else 0))
    row.add("◉" if point is not None and point.enabled else "◌" if point is not None else " ", "bad")
    text = table.text_of(path)
    if text is not None and line <= len(text):
        row.add(text[line - 1].expandtabs(4).rstrip(), role)
    elif at >= 0:
        row.add("(its source was not found)", "faint")
    return row.line()


def _shares(scene: Scene, row: Row, at: int, width: int, held: dict[int, int], cursor: int) -> None:
    """Write what a line waits, mostly for what, and what waiting it causes, with bars of one scale."""
    assert scene.costs is not None
    causes, cells = scene.costs[1].causes, bars(width)
    resident, top = int(scene.costs[1].states[:-1].sum()), float(max(causes.waits.max(), causes.caused[:-1].max(initial=0)))
    waits, caused = int(causes.waits[at]), int(causes.caused[at])
    row.add(f"{percent(waits, resident):>{SHARE}} ", "bold" if waits == causes.waits.max() else "text")
    mostly = _mostly(scene, causes, at)
    x = row.x
    if mostly is not None:
        row.add(mostly.glyph, f"st:{mostly.role}").add(" ").add(_bar(waits, top, resident, cells), f"fg:{mostly.role}")
    row.to(x + cells + 3)
    is_most = caused == causes.caused[:-1].max(initial=0)
    x = row.add(f"{percent(caused, resident):>{SHARE}} ", "bold" if is_most and caused else "text").x
    row.add(_bar(caused, top, resident, cells), "bold").to(x + cells + 1)
    if width >= WIDE:
        share = held.get(at, 0)
        mark = "◂" if share and share == max(held.values()) and at != cursor else " "
        row.add(f"{percent(share, sum(held.values())) if share else '':>8} {mark} ", "bold" if mark == "◂" else "text")


def _bar(value: int, top: float, resident: int, cells: int) -> str:
    """Return the bar of a share; none for one that is written as 0.0 %."""
    return bar(value, top, cells) if 2000 * value >= resident else ""


def _mostly(scene: Scene, causes: Causes, at: int) -> Look | None:
    """Return the state in which a line loses most warp-cycles; None if it loses none."""
    chosen = causes.waiter == at
    if not chosen.any():
        return None
    return scene.look(int(np.bincount(causes.code[chosen], causes.count[chosen]).argmax()))


def render(scene: Scene, width: int, height: int) -> list[Line]:
    """Return the LINES panel.

     LINES  mm.cu   cycles 0 to 143,189
     mm.cu:11 holds up 83.9 % of the warp-cycles of resident warps: 16.0 cache lines per access, where 1 would do.
      line  waits of 4.684M    causes of those      :12's cache lines       RF lost source
        11 22.8 % p ██▌        83.9 % █████████   94.4 % ◂ 16.0 ideal 1 ▲     1,715 float x = a[row * n + k];
    ▸   12 53.4 % p █████▊      7.4 % ▊            4.1 %    1.0 ideal 1       3,077 float y = b[k * n + col];

    waits: lost warp-cycles of warps whose next instruction is one of the line's. causes: the same lost warp-cycles, each
    charged to the line of the instruction that holds the waiting one up. Both are of the warp-cycles of resident warps.
    ▸ the focused warp's line, ◉ breakpoints. j k choose a line, Enter goes to the line that holds it up, J to where it
    waits; b breaks there, t and T go to where the focused warp reaches it; o changes the order. Below: for whom it waits,
    in whom the main holder causes waits, instructions.
    """
    table, focus = scene.lines, scene.panel == "lines"
    head = f"LINES w{scene.warp}"
    if scene.now is None or table is None or not table:
        none = [Row(width).add(f" {text}", "dim").line() for text in NONE] if scene.now is not None else []
        return fill([title(width, head, focus=focus), *none], width, height)
    cursor = chosen(scene)
    here = _here(scene)
    counted = scene.costs[1] if scene.costs is not None else None
    info = posixpath.basename(table.lines[cursor].path)
    if counted is not None:
        info += f"   cycles {number(counted.first)} to {number(counted.last)}"
    elif holders.is_counting(scene):
        info += "   counting who waited for whom"
    words = holders.sentences(scene, width) if height >= LEAST_BELOW else []
    below = _room_below(height)
    rows = height - 2 - len(words) - below
    shown, held = listing(scene), held_by(scene, cursor)
    first = _first(shown, cursor, rows)
    lines = [title(width, head, info, focus=focus), *words, _head(scene, width, cursor)]
    lines += [_source_row(scene, entry, width, cursor, here, held) for entry in shown[first : first + rows]]
    if not below:
        return fill(lines, width, height)
    shown_rows = min(height - below, len(lines) + 1)      # a blank row after a short source, and no more
    return fill([*fill(lines, width, shown_rows), *holders.below(scene, cursor, width, below)], width, height)


def _room_below(height: int) -> int:
    """Return how many rows of the panel are for holders and instructions."""
    return min(height // 3, 14) if height >= LEAST_BELOW else 0


def _first(shown: tuple[Entry, ...], cursor: int, rows: int) -> int:
    """Return the first of the rows shown, with the chosen line in the middle."""
    at = next((index for index, entry in enumerate(shown) if entry[2] == cursor), 0)
    return max(0, min(len(shown) - rows, at - rows // 2))


def line_at(scene: Scene, width: int, height: int, y: int) -> int | None:
    """Return the number of the line in row y of the panel (0 = title), for the mouse; None if there is none."""
    table = scene.lines
    if scene.now is None or table is None or not table:
        return None
    above = 2 + (len(holders.sentences(scene, width)) if height >= LEAST_BELOW else 0)
    rows, shown = height - above - _room_below(height), listing(scene)
    index = _first(shown, chosen(scene), rows) + y - above
    return shown[index][2] if above <= y < above + rows and index < len(shown) and shown[index][2] >= 0 else None


def hit(scene: Scene, place: Place, x: int, y: int) -> Hit:
    """Return the line clicked: a double click sets a breakpoint there."""
    line = line_at(scene, place.width, place.height, y)
    return Hit({"line": line}, double=("break_here", "")) if line is not None else Hit(double=("", ""))


PANEL = Panel(
    name="lines", title="LINES", paint=render, is_alone=True, enter="to_holder", columns_of=lambda width: 1,
    stays_gathered=True, at=hit,
    line=lambda scene: chosen(scene) if scene.lines else -1,
    move=lambda scene, by: {"line": moved(scene, by)} if scene.lines else {},
    hints=("down", "open", "to_wait", "run_to_cursor", "next_line", "break_here", "close", "step", "why", "help"),
    source="PTX ISA, .loc and .file: the compiler's line for an instruction; who holds whom: sessions/causes/rules.py",
    columns=(
        ("waits", "lost warp-cycles before an instruction of the line, of all warp-cycles of resident warps; the glyph is "
         "the most frequent reason", "our assumption"),
        ("causes", "the same lost warp-cycles, each charged to the line that holds the waiting instruction up, of all "
         "warp-cycles of resident warps", "sessions/causes/rules.py"),
        ("of :N's", "of the lost warp-cycles of the chosen line N, those that this line holds up",
         "sessions/causes/rules.py"),
        ("cache lines", "cache lines of 128 bytes (shared memory: passes) per access, and the ideal: the fewest for the "
         "bytes that it asks for", "RULES.md B0.24"),
        ("RF lost", "cycles that the line's instructions wait in collectors because the register file refuses an operand",
         "our assumption"),
        ("in FILE:LINE", "the function that the instruction was inlined from, if that is in another file or line",
         "PTX ISA: inlined_at"),
    ),
)
