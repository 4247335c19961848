"""Who holds whom, for LINES: sentences, for whom the chosen line waits, in whom its holder causes waits, instructions."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING

import numpy as np

from rfview.render.operation import compact_text
from rfview.render.scene import Scene
from rfview.render.text import Line, Row, bar, cut, fill, number, percent, title

if TYPE_CHECKING:
    from rfview.sessions.causes.account import Causes

SIDE_BY_SIDE = 100      # columns from which waits and causes are next to each other
LEAST_SHARE = 0.01      # of the resident warp-cycles: what causes less gets no sentence
WASTEFUL = 2            # times the ideal: from here on, an access is said to send too much
LEAST_CODE = 9          # rows below LINES from which the line's instructions are listed as well
NUMBER, SHARE, ACCESS = 6, 8, 18


def name_of(scene: Scene, at: int) -> str:
    """Return `mm.cu:11` of a line's number, or what the numbers after the last line stand for."""
    table = scene.lines
    assert table is not None
    if at < len(table.lines):
        return table.lines[at].text
    return "code without a line" if at == len(table.lines) else "nobody"


def sends(causes: Causes, at: int) -> str:
    """Return what the accesses of a line send, as ": 16.0 cache lines per access, where 1 would do"; "" if that is ideal."""
    each = causes.metrics.per_access(at)
    if each is None or not each[1] or each[0] <= WASTEFUL * each[1]:
        return ""
    what = "passes over shared memory" if causes.metrics.is_shared(at) else "cache lines"
    return f": {each[0]:.1f} {what} per access, where {each[1]:.3g} would do"


def access_words(causes: Causes, at: int) -> tuple[str, str]:
    """Return how many cache lines or passes accesses take, beside the ideal, and the text's colour; "" without accesses."""
    each = causes.metrics.per_access(at)
    if each is None:
        return "", "faint"
    sent, ideal = each
    is_bad = ideal > 0 and sent > WASTEFUL * ideal
    what = " passes," if causes.metrics.is_shared(at) else ""
    text = f"{sent:.1f}{what} ideal {ideal:.3g}" if ideal else f"{sent:.1f}{what}"
    return text + (" ▲" if is_bad else ""), "fg:bank_conflict" if is_bad else "text" if sent > ideal else "dim"


def sentences(scene: Scene, width: int) -> list[Line]:
    """Return up to two sentences: which line causes most waiting, and which waits most, for whom; [] if little is lost."""
    if scene.costs is None:
        return []
    causes, resident = scene.costs[1].causes, int(scene.costs[1].states[:-1].sum())
    waits, caused = causes.waits, causes.caused
    if not resident or caused.max() < LEAST_SHARE * resident:
        return []
    most, victim = int(caused.argmax()), int(waits.argmax())
    share = f"{percent(int(caused[most]), resident)} of the warp-cycles of resident warps"
    if most < causes.size:
        first = f"{name_of(scene, most)} holds up {share}{sends(causes, most)}"
    else:
        look = scene.look(causes.waiters_of(most)[0][1])
        first = f"{share} wait for no instruction; most: {look.name}{f' ({look.meaning})' if look.meaning else ''}"
    if len(first) > width - 3:
        first = first.replace(" of resident warps", "", 1)
    rows = [Row(width).add(" ").add(cut(f"{first}.", width - 2), "bold")]
    held: dict[int, int] = {}
    for count, _, holder in causes.holders_of(victim):
        held[holder] = held.get(holder, 0) + count
    holder = max(held, key=lambda one: held[one])
    whom = "itself" if holder == victim else "no instruction" if holder == causes.size else name_of(scene, holder)
    rows.append(Row(width).add(" ").add(cut(
        f"{name_of(scene, victim)} waits most, {percent(int(waits[victim]), resident)}; "
        f"{percent(held[holder], int(waits[victim]), 0)} of that for {whom}.", width - 2), "text"))
    return [row.line() for row in rows]


def is_counting(scene: Scene) -> bool:
    """Return whether there are cycles to count whose count is not there yet."""
    return scene.costs is None and scene.cycle > scene.first


def below(scene: Scene, cursor: int, width: int, height: int) -> list[Line]:
    """Return what is below the source: the chosen line's holders, its main holder's victims, and its instructions."""
    rows = min(6, height - 3) if height >= LEAST_CODE else height
    left = width // 2 - 1 if width >= SIDE_BY_SIDE else width
    table = scene.lines
    assert table is not None
    if scene.costs is None:
        state = "being counted" if is_counting(scene) else "no warp has been there yet"
        lines = [title(width, name_of(scene, cursor), state)]
        return fill([*lines, *_code(scene, cursor, width, height - 1)], width, height)
    causes = scene.costs[1].causes
    held = causes.holders_of(cursor)
    lines = _pairs(scene, held, cursor, f"{name_of(scene, cursor)} WAITS", "for whom", left, rows)
    if width >= SIDE_BY_SIDE:
        holder = held[0][2] if held else cursor
        right = _pairs(scene, causes.waiters_of(holder), holder, f"{name_of(scene, holder)} CAUSES", "in whom",
                       width - left - 2, rows)
        lines = [Row(width).join(one).add("  ").join(other).line() for one, other in zip(lines, right, strict=True)]
    return fill([*lines, *(_code(scene, cursor, width, height - rows) if height > rows else ())], width, height)


def _pairs(scene: Scene, pairs: list[tuple[int, int, int]], own: int, name: str, what: str, width: int,
           height: int) -> list[Line]:
    """Return rows of (warp-cycles, state, line): the other side of a line's waits or of what it causes."""
    total = sum(count for count, _, _ in pairs)
    lines = [title(width, name, f"{number(total)} warp-cycles, {what}" if total else "nothing")]
    for count, code, other in pairs[: height - 1]:
        look = scene.look(code)
        row = Row(width).add(look.glyph, f"st:{look.role}").add(f" {look.short:<9}", "text")
        row.add(f"{cut('itself' if other == own else name_of(scene, other), 20):<21}", "text" if other == own else "bold")
        row.add(f"{number(count):>12}{percent(count, total):>{SHARE}} ", "text")
        lines.append(row.add(bar(count, total, max(0, width - row.x - 1)), f"fg:{look.role}").line())
    return fill(lines, width, height)


def _code(scene: Scene, cursor: int, width: int, rows: int) -> list[Line]:
    """Return the chosen line's instructions, with what each waits and causes, and its accesses."""
    table, machine = scene.lines, scene.now
    assert table is not None and machine is not None
    line, program = table.lines[cursor], scene.info.program
    pcs = np.flatnonzero(table.of_pc == cursor).tolist()
    head = Row(width, "band").add(f" {posixpath.basename(line.path)}:{line.line} ", "title")
    lines = [head.add(f"{'waits':>{SHARE}}{'causes':>{SHARE}}   {'cache lines':<{ACCESS}} PTX", "tinfo").line()]
    here = machine.pc[scene.warp]
    first = max(0, min(len(pcs) - (rows - 1), (pcs.index(here) if here in pcs else 0) - (rows - 1) // 3))
    size = len(posixpath.basename(line.path)) + len(str(line.line)) + 3
    for pc in pcs[first : first + rows - 1]:
        entry = program[pc]
        row = Row(width, "focus" if pc == here else "").add("▸" if pc == here else " ", "bold")
        row.add(f"{f'PTX {entry.line}':>{size - 2}} ", "faint")
        if scene.costs is not None:
            causes, resident = scene.costs[0].causes, int(scene.costs[0].states[:-1].sum())
            for column in (causes.waits, causes.caused):
                row.add(f"{percent(int(column[pc]), resident):>{SHARE}}", "text")
            row.add("   ").add(*access_words(causes, pc))
        row.to(size + 2 * SHARE + 3 + ACCESS + 1)
        text, room = entry.text, width - row.x - 1
        frames = table.frames(pc)
        inner = frames[0].where.text if frames and frames[0].where != line else ""
        row.add(cut(text if len(text) <= room else compact_text(text), room), "bold" if pc == here else "text")
        row.right(width - 1, f"in {inner}" if inner and row.x + len(inner) + 6 < width else "", "faint")
        lines.append(row.line())
    return fill(lines, width, rows)
