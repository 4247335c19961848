"""The lens of the approximate eDRAM register file: a cell's density is the age of its values, and so their risk."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from rfview.engine import state as layout
from rfview.render.lenses.banks import bank_row, banks_shown, pooled
from rfview.sessions.machine import Machine
from rfview.render.scene import Scene
from rfview.render.text import Line, Row, fill, number, percent

CELLS = 32
WIDE, ROOMY = 54, 88
COUNTER_COLUMN, ACCESS_COLUMN, NEXT_COLUMN = 37, 41, 64
FREE, PRECISE, YOUNGEST = 0, 1, 2          # YOUNGEST .. YOUNGEST + 3: quarters of the longest time without refresh
GLYPHS = (" ", "·", "░", "▒", "▓", "█")
ROLES = ("text", "pq:fast", "pq:approx", "pq:approx", "pq:approx", "p:approx")
REFRESHING, LOST = "↻", "✕"


@dataclass(frozen=True)
class Turns:
    """The state of each bank's refresh.

    row: the last one refreshed, -1 = none yet. counter: M-bit counter, below `periods`. following, wait: the next row and
    the cycles until its turn.
    """

    row: np.ndarray
    counter: np.ndarray
    periods: int
    following: np.ndarray
    wait: np.ndarray


class Rows:
    """The rows of the register file in one state: what they hold, how old that is, and which lost a bit in this cycle."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.record = machine.rf
        info = machine.info
        cycles, *_ = info.technology.get(f"retention_cycles_{info.number('edram.node', 11)}nm", (512,))
        self.t0 = max(1, int(cycles))
        self.span = self.t0 << info.number("edram.m", 3)
        self.banks = machine.num_banks
        self.per_bank = max(1, machine.config["rows_per_bank"])
        self.count = self.banks * self.per_bank
        self.now = machine.cycle - 1 - int(machine.sm["launch"]["start_cycle"])
        self.offsets = np.arange(self.count) * self.t0 // self.count

    def flags(self, name: str) -> np.ndarray:
        """Return (rows,) bool of a field with a bit per row."""
        words = np.ascontiguousarray(self.record[name], "<u8").view(np.uint8)
        return np.unpackbits(words, bitorder="little")[: self.count].astype(bool)

    def owners(self) -> tuple[np.ndarray, np.ndarray]:
        """Return (rows,) warp and (rows,) register of each row, -1 if no resident warp has it."""
        warps, regs = np.full(self.count, -1), np.full(self.count, -1)
        for warp in self.machine.resident_warps:
            base = self.machine.reg_base[warp]
            end = min(self.count, base + self.machine.registers)
            warps[base:end], regs[base:end] = warp, np.arange(end - base)
        return warps, regs

    def ages(self) -> np.ndarray:
        """Return (rows,) cycles since each lower half was written or refreshed, for rows flagged approximate."""
        restored = self.record["restored"][: self.count].astype(np.int64)
        if not self.machine.info.number("edram.never_refresh_low"):
            elapsed = self.now - self.offsets
            restored = np.maximum(restored, np.where(elapsed >= 0, elapsed // self.span * self.span + self.offsets, 0))
        return self.now - restored

    def levels(self) -> np.ndarray:
        """Return (rows,) u1: FREE, PRECISE, or the quarter of its age."""
        levels = np.where(self.owners()[0] >= 0, PRECISE, FREE).astype(np.uint8)
        quarters = np.clip(self.ages() * 4 // self.span, 0, 3)
        approximate = self.flags("approximate")
        levels[approximate] = YOUNGEST + quarters[approximate]
        return levels

    def lost(self) -> np.ndarray:
        """Return (rows,) bool: rows that lost a bit in the cycle shown."""
        if self.now <= 0 or self.now % self.t0:
            return np.zeros(self.count, bool)
        return self.flags("struck")

    def turns(self) -> Turns:
        """Return the state of each bank's refresh: by the clock, or with `postpone` by the turns done."""
        banks = np.arange(self.banks)
        if self.machine.info.number("edram.postpone"):
            done = self.record["turns"][: self.banks].astype(np.int64)
        else:
            due = self.offsets.reshape(self.per_bank, self.banks) <= self.now % self.t0
            done = max(0, self.now) // self.t0 * self.per_bank + due.sum(axis=0)
            done = done if self.now >= 0 else np.zeros(self.banks, np.int64)
        following = done % self.per_bank
        at = done // self.per_bank * self.t0 + self.offsets[following * self.banks + banks]
        row = np.where(done > 0, (done - 1) % self.per_bank, -1)
        counter = np.maximum(done - 1, 0) // self.per_bank % (self.span // self.t0)
        return Turns(row, counter, self.span // self.t0, following, np.maximum(0, at - self.now))

    def by_bank(self, values: np.ndarray) -> np.ndarray:
        """Return (banks, rows per bank) of a value per row."""
        return values.reshape(self.per_bank, self.banks).T


def saved(machine: Machine) -> str:
    """Return the share of refresh energy saved so far: half a row for each lower half not refreshed."""
    counts = machine.counts
    rows = counts.get("row_refreshes", 0)
    return percent(rows - counts.get("low_refreshes", 0), 2 * rows)


def share(machine: Machine) -> str:
    """Return the share of all rows that hold approximate values now."""
    rows = Rows(machine)
    return percent(int(rows.flags("approximate").sum()), rows.count)


def places_of(machine: Machine, warp: int) -> list[tuple[str, str]]:
    """Return for each register whether its lower half is refreshed with the rest, else for how many T0 it was not."""
    rows = Rows(machine)
    own = slice(machine.reg_base[warp], machine.reg_base[warp] + machine.registers)
    states = zip(rows.flags("approximate")[own], rows.ages()[own] / rows.t0, rows.lost()[own], strict=True)
    return [(f"approx {age:.1f}", "p:bad" if is_lost else "p:approx") if is_approximate else ("precise", "dim")
            for is_approximate, age, is_lost in states]


def render(scene: Scene, width: int, height: int) -> list[Line]:
    """Return a row per bank: its rows as cells, its M-bit counter, and what it does in this cycle.

      0 ░░·░↻░░·░░░░·░░░░·░░░░·░░░░·░·   1/8 read  R12 w12
      4 ·▓░░▓·▓░▓▓·▓↻▓▓·▓▓▓▓·▓▓░▓·▓▓▓·   5/8 refresh row 25
     10 ██████████████████░✕█████░███·   7/8 bit lost R17 w4
     · precise ░▒▓█ age 2 4 6 8 T0 ↻ ✕ lost 214 saved 31.5 %

    A cell is two rows and shows the older one; blank if no warp has a register there. Dots are precise values, refreshed
    every T0; denser cells hold floats whose lower halves were restored longer ago, up to 2^M T0. ↻ is the row refreshed
    last (solid: in this cycle), ✕ a row that lost a bit in this cycle. Narrow: two banks per row, lost rows at the end.
    """
    machine = scene.now
    if machine is None or height < 2 or "restored" not in (machine.rf.dtype.names or ()):
        return []
    rows = Rows(machine)
    if width < WIDE:
        return _narrow(scene, rows, width, height)
    banks = rows.banks
    per_row = max(1, min((height - 1) // banks, -(-rows.per_bank // CELLS)))
    cells = _cells(scene, rows, CELLS * per_row, 1)
    turns = rows.turns()
    lines: list[Line] = []
    for bank in banks_shown(scene, banks, height - 1):
        for part in range(per_row):
            row = bank_row(scene, width, bank, part)
            row.cells(cells[bank][part * CELLS : (part + 1) * CELLS])
            if not part:
                _activity(row, scene, rows, turns, bank)
            lines.append(row.line())
    return fill(lines, width, min(height - 1, len(lines))) + [_totals(machine, rows, width)]


def _cells(scene: Scene, rows: Rows, cells: int, together: int) -> list[list[tuple[str, str]]]:
    """Return the cells of each group of `together` banks: age or precision, overlaid by refresh position and lost bits."""
    def pool(values: np.ndarray) -> np.ndarray:
        flat = pooled(rows.by_bank(values), cells)
        padded = np.zeros((-(-flat.shape[0] // together) * together, flat.shape[1]), flat.dtype)
        padded[: flat.shape[0]] = flat
        return padded.reshape(-1, together, flat.shape[1]).max(axis=1)

    levels = pool(rows.levels()).tolist()
    own = pool(rows.owners()[0] == scene.warp).tolist()
    lost = pool(rows.lost()).tolist()
    touched, position, now = _marks(rows)
    touched, position, now = pool(touched).tolist(), pool(position).tolist(), pool(now).tolist()
    drawn = []
    for index, line in enumerate(levels):
        out = []
        for at, level in enumerate(line):
            glyph, role = GLYPHS[level], ROLES[level]
            if own[index][at] and level != FREE:
                role = "bold" if level == len(GLYPHS) - 1 else "text"
            if position[index][at]:
                glyph, role = REFRESHING, "ps:moving" if now[index][at] else "pq:moving"
            if lost[index][at]:
                glyph, role = LOST, "bad"
            out.append((glyph, role + ("+u" if touched[index][at] and glyph != " " else "")))
        drawn.append(out)
    return drawn


def _marks(rows: Rows) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return (rows,) bool: read or written in this cycle, refreshed last in its bank, refreshed in this cycle."""
    touched, position, now = (np.zeros(rows.count, bool) for _ in range(3))
    last = rows.turns().row
    for bank, port in enumerate(rows.machine.banks):
        if last[bank] >= 0:
            position[last[bank] * rows.banks + bank] = True
            now[last[bank] * rows.banks + bank] = port["activity"] == layout.BANK_BUSY
        if port["activity"] in (layout.BANK_READ, layout.BANK_WRITE) and port["owner_warp"] < rows.machine.num_warps:
            place = rows.machine.reg_base[port["owner_warp"]] + port["owner_reg"]
            if place < rows.count:
                touched[place] = True
    return touched, position, now


def _activity(row: Row, scene: Scene, rows: Rows, turns: Turns, bank: int) -> None:
    """Write a bank's counter, its access, refresh or loss in this cycle, and, if there is room, its next refresh."""
    machine = rows.machine
    port = machine.banks[bank]
    row.at(COUNTER_COLUMN, f"{turns.counter[bank]}/{turns.periods}", "dim")
    warps, regs = rows.owners()
    lost = np.flatnonzero(rows.lost()[bank :: rows.banks])
    if port["activity"] == layout.BANK_BUSY:
        row.at(ACCESS_COLUMN, f"refresh row {turns.row[bank]}", "p:moving")
    elif port["activity"] in (layout.BANK_READ, layout.BANK_WRITE) and port["owner_warp"] < machine.num_warps:
        word = "read " if port["activity"] == layout.BANK_READ else "write"
        row.at(ACCESS_COLUMN, word, "p:fast").add(" ")
        row.add(f"R{port['owner_reg']:<2} w{port['owner_warp']:<2}", _role(scene, port))
    if lost.size:
        place = int(lost[0]) * rows.banks + bank
        who = f"R{regs[place]} w{warps[place]}" if warps[place] >= 0 else f"row {lost[0]}"
        more = f" +{lost.size - 1}" if lost.size > 1 else ""
        at = max(ACCESS_COLUMN, row.x + 1)
        texts = (f"bit lost {who}{more}", f"{LOST} {who}{more}", f"{LOST}{lost.size}")
        row.at(at, next((text for text in texts if at + len(text) <= min(row.width, NEXT_COLUMN)), ""), "bad")
    if row.width >= ROOMY:
        wait = int(turns.wait[bank])
        row.at(NEXT_COLUMN, f"next row {turns.following[bank]:<2} ", "dim").add(f"in {wait}" if wait else "due", "dim")


def _role(scene: Scene, port: dict[str, Any]) -> str:
    """Return the role in which the owner of an access is written."""
    return "bold+u" if port["owner_warp"] == scene.warp else "text+u"


def _totals(machine: Machine, rows: Rows, width: int) -> Line:
    """Return the legend and the totals so far."""
    row = Row(width).add(" ").add(GLYPHS[PRECISE], ROLES[PRECISE]).add(" precise ", "dim")
    quarters = [f"{rows.span * part / 4 / rows.t0:g}" for part in (1, 2, 3, 4)]
    lost = f" lost {number(machine.counts.get('bits_lost', 0))} "
    if width < ROOMY:
        row.add("░▒▓", "pq:approx").add("█", "p:approx").add(f" age {' '.join(quarters)} T0 ", "dim")
        row.add(REFRESHING, "p:moving").add(" ").add(LOST, "bad").add(f"{lost}saved {saved(machine)}", "text")
        return row.right(width - 1, f"T0 {rows.t0} cycles  approx {share(machine)}", "text").line()
    for glyph, role, most in zip(GLYPHS[YOUNGEST:], ROLES[YOUNGEST:], quarters, strict=True):
        row.add(glyph, role).add(f"≤{most} ", "dim")
    row.add(f"T0={rows.t0}  ", "dim").add(REFRESHING, "p:moving").add(" refresh  ", "dim").add(LOST, "bad")
    row.add(f"{lost} saved {saved(machine)}", "text")
    return row.right(width - 1, f"approx {share(machine)}", "text").line()


def _narrow(scene: Scene, rows: Rows, width: int, height: int) -> list[Line]:
    """Return two banks per row, each cell showing the older of their rows."""
    machine = rows.machine
    cells = _cells(scene, rows, max(1, min(CELLS, width - 8)), 2)
    lost = rows.by_bank(rows.lost()).sum(axis=1)
    lines = []
    for index, line in enumerate(cells):
        row = Row(width).add(f"{2 * index:>3} ", "faint").cells(line)
        hits = int(lost[2 * index : 2 * index + 2].sum())
        if hits:
            row.right(width - 1, f"-{hits}", "bad")
        lines.append(row.line())
    text = f" approx {share(machine)}  lost {number(machine.counts.get('bits_lost', 0))}  saved {saved(machine)}"
    return fill(lines, width, min(height - 1, len(lines))) + [Row(width).add(text).line()]


def small(scene: Scene, width: int) -> list[Line]:
    """Return four rows of cells for all banks, each cell the oldest of its rows, for small multiples."""
    rows = Rows(scene.machine)
    return [Row(width).cells(line).line() for line in _cells(scene, rows, width, -(-rows.banks // 4))]
