"""Several runs of one program as small multiples: one band each, all at the same instruction or the same cycle."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from rfview import crash
from rfview.engine.plugin.assumed import ASSUMED
from rfview.render import lens
from rfview.render.pair import CYCLE, RunFacts
from rfview.sessions.machine import Machine
from rfview.render.scene import Scene
from rfview.render.text import Line, Row, bar_rows, cut, fill, hint_row, number, shorten, stretched, wrap

MAX_ROWS = 8       # of a band, if there are few runs
NAME = 20           # cells of a run's letter and name
CHART = 63          # column in which the charts begin
LENS, WIDE = 27, 120    # cells of the register file, and columns from which it is shown


@dataclass(frozen=True)
class Band:
    """One run. rate: instructions per cycle in equal stretches of instructions. main: most common blocking state of each.

    ipc: of the whole run. energy: of the register file in µJ, or None; energy_assumed: no source gives it.
    slower: cycles divided by the first run's, None if one of the two is not recorded to its end. node: technology node of
    the energy in nm, None if unknown. reason: in one line, what holds up most at the cursor. machine: the state there.
    """

    run: RunFacts
    rate: tuple[float, ...]
    main: tuple[int, ...]
    ipc: float
    energy: float | None
    energy_assumed: bool
    slower: float | None
    has_ended: bool = True
    node: int | None = None
    reason: str = ""
    machine: Machine | None = None


@dataclass(frozen=True)
class MultiplesPicture:
    """All bands at one place. count: instructions issued there, of `common`; selected: the band with the cursor."""

    bands: tuple[Band, ...]
    common: int
    count: int
    lock: str
    selected: int = 0
    kernel: str = ""
    message: str = ""
    message_kind: str = "info"
    busy: str = ""

    def at(self, **changes: Any) -> MultiplesPicture:
        """Return the picture with some facts replaced."""
        return replace(self, **changes)


def paint(picture: MultiplesPicture, width: int, height: int, hints: Sequence[tuple[str, str]] = ()) -> list[Line]:
    """Return the whole screen: status, a band per run, message and keys; one line per run if rows are few."""
    body = height - 4
    each = max(1, min(MAX_ROWS, body // max(1, len(picture.bands))))
    lines = [line for index, band in enumerate(picture.bands) for line in band_lines(picture, band, index, width, each)]
    role = {"error": "bad", "good": "good"}.get(picture.message_kind, "dim")
    message = "; ".join(filter(None, (picture.message, _nodes(picture))))
    return [status_line(picture, width), head_line(width), *fill(lines, width, body),
            Row(width).add(" ").add(cut(message, width - 2), role).line(), hint_row(width, hints)]


def _nodes(picture: MultiplesPicture) -> str:
    """Return what keeps energies from being compared: several technology nodes, assumed ones; "" if nothing does."""
    named: dict[int, list[str]] = {}
    for band in picture.bands:
        if band.node is not None:
            named.setdefault(band.node, []).append(band.run.letter)
    said = []
    if len(named) > 1:
        nodes = ", ".join(f"{' '.join(runs)} {node} nm" for node, runs in named.items())
        said.append(f"RF µJ are of several nodes: {nodes}")
    if assumed := [band.run.letter for band in picture.bands if band.energy_assumed and band.energy is not None]:
        said.append(f"RF µJ of {' '.join(assumed)} {ASSUMED}")
    return "; ".join(said)


def status_line(picture: MultiplesPicture, width: int) -> Line:
    """Return what is shown and what locks the bands together."""
    row = Row(width, "band").add(" ").add("rfview", "title").add("  ").add("designs", "title")
    row.add("   ").add(picture.kernel, "title")
    if picture.lock == CYCLE:
        where = f"locked at cycle {number(picture.bands[0].run.cycle)}"
    else:
        where = f"locked at instruction {number(picture.count)} of {number(picture.common)}"
    row.add(f"   {where}", "tinfo")
    return row.right(width - 1, picture.busy, "busy").line() if picture.busy else row.line()


def head_line(width: int) -> Line:
    """Return the names of the columns."""
    row = Row(width).add("   run", "faint").right(31, "cycle", "faint").right(39, "all", "faint").right(46, "×A", "faint")
    row.right(53, "IPC", "faint").right(61, "RF µJ", "faint")
    if width < WIDE:
        return row.at(CHART, cut("issue rate, main wait", width - CHART - 1), "faint").line()
    return row.at(CHART, "issue rate, main wait", "faint").at(width - LENS - 1, "register file now", "faint").line()


def band_lines(picture: MultiplesPicture, band: Band, index: int, width: int, height: int) -> list[Line]:
    """Return one run's band: a line of numbers, the warps by state, what holds up most; right, issue rate and main wait.

     ▸ B stt gto                  4,416  44,553  1.559  0.534   17.76
         ▼ 30   ○ 12   L 4   █ 2                                       ▃▄▅▅▄▄▃▅   ▼···▼▼··▲···▼···
         ▼▼▼▼▼▼▼▼ ▼▼▼▼▼▼▼▼ ○○○○○○○○ LLLL                               ▼▼▼▼▼▼▼▼   1   22      4
         w3: STT-RAM bank 5, one write in 4 cycles
    """
    run, ground = band.run, "focus" if index == picture.selected else ""
    row = Row(width, ground).add(" ▸ " if index == picture.selected else "   ", "bold")
    name = f"{run.letter} {run.name}"
    row.add(shorten(name, NAME), "bold")
    row.right(31, number(run.cycle), "text")
    row.right(39, number(run.last) + ("" if band.has_ended else "+"), "dim")
    row.right(46, "–" if band.slower is None else f"{band.slower:.3f}", "text")
    row.right(53, f"{band.ipc:.3f}", "text").right(61, _energy(band.energy), "text")
    columns = max(0, width - CHART - 1 - (LENS + 2 if width >= WIDE else 0))
    cursor = min(columns - 1, picture.count * columns // max(1, picture.common)) if columns else -1
    letters = _letters(band, columns, cursor)
    if height == 1:
        return [row.to(CHART).cells(letters).line()]
    census = Row(width).to(4)
    for code, times in sorted(((code, run.states.count(code)) for code in {*run.states}), key=lambda pair: -pair[1]):
        look = run.look(code)
        if census.x + len(look.name) + 8 < min(width, CHART - 1):
            census.add(look.glyph, "st:" + look.role).add(f" {times} {look.name}  ", "dim")
    slots = Row(width).to(4)
    for slot, code in enumerate(run.states):
        look = run.look(code)
        slots.add(look.glyph, look.accent)
        if slot % 8 == 7:
            slots.add(" ", "text")
    top = max([rate for member in picture.bands for rate in member.rate], default=1.0) or 1.0
    beside = _right(band, columns, cursor, top, height)
    reason = Row(width).to(4).add(cut(band.reason, min(width, CHART) - 6), "text")
    rows = [row, census, slots, reason, *(Row(width) for _ in range(height - 4))][:height]
    shown = _register_file(band) if width >= WIDE else []
    for at, (left, cells) in enumerate(zip(rows, beside, strict=False)):
        left.to(CHART).cells(cells)
        if at < len(shown):
            left.to(width - LENS - 1).join(shown[at])
    return fill([one.line() for one in rows], width, height)


def _register_file(band: Band) -> list[Line]:
    """Return a run's register file at its cursor in a few rows."""
    if band.machine is None:
        return []
    try:
        return lens.small(Scene(now=band.machine, info=band.run.info, warp=band.machine.num_warps), LENS)
    except Exception as error:      # the lens of a user's design may have defects, and the other bands go on
        return [Row(LENS).add(part, "bad").line() for part in wrap(crash.text_of(error), LENS)[:MAX_ROWS]]


def _energy(value: float | None) -> str:
    """Return µJ in at most seven cells."""
    return "–" if value is None else f"{value:.4g}" if 0.01 <= value < 10_000 else f"{value:.2g}"


def _right(band: Band, columns: int, cursor: int, top: float, height: int) -> list[list[tuple[str, str]]]:
    """Return the right half of a band, a list of cells per row: bars of the issue rate, the main wait below them."""
    rows = 1 if height == 2 else 2 if height == 3 else height - 2
    bars = bar_rows((rate / top for rate in stretched(band.rate, columns)), rows)
    out = [[(char, "fg:issued" if column != cursor else "cursor") for column, char in enumerate(bar)] for bar in bars]
    if height == 2:
        return [[], *out]
    return [*out, _letters(band, columns, cursor), *([] for _ in range(height - rows - 1))]


def _letters(band: Band, columns: int, cursor: int) -> list[tuple[str, str]]:
    """Return the most common blocking state of each stretch, the cursor in reverse."""
    cells = []
    for column, code in enumerate(stretched(band.main, columns)):
        look = band.run.look(code) if code >= 0 else None
        glyph = look.glyph if look else "·"
        role = "cursor" if column == cursor else look.accent if look else "faint"
        cells.append((glyph, role))
    return cells
