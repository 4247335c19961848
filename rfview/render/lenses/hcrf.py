"""The lens of the hybrid-cell register file: each row pair as a cell, exchanged or as built, and transfers under way."""

from __future__ import annotations

import numpy as np

from rfview.engine import state as layout
from rfview.engine.designs.hcrf import T_ACCESS
from rfview.render.lenses.banks import bank_row, banks_shown, pooled
from rfview.sessions.machine import Machine
from rfview.render.scene import Scene
from rfview.render.text import Line, Row, fill, number, percent

CELLS = 32
WIDE = 54
ACCESS_COLUMN, TRANSFER_COLUMN = 37, 58
NONE, BUILT, EXCHANGED, MOVING = range(4)
GLYPHS = (" ", "·", "◆", "⇄")
ROLES = ("text", "off", "p:slow", "p:moving")
HALVES = {(False, False): "·", (True, False): "▀", (False, True): "▄", (True, True): "█"}


def bits(words: np.ndarray, count: int) -> np.ndarray:
    """Return (count,) bool: the first bits of an array of 64-bit words."""
    raw = np.unpackbits(np.ascontiguousarray(words, "<u8").view(np.uint8), bitorder="little")
    return raw[:count].astype(bool)


def pairs_of(machine: Machine) -> np.ndarray:
    """Return (banks, pairs per bank) u1 of NONE..MOVING; NONE if no resident warp has either register."""
    banks = machine.num_banks
    per_bank = -(-max(1, machine.config["rows_per_bank"]) // 2)
    record = machine.rf
    grid = np.zeros(banks * per_bank, np.uint8)
    warps = np.array(machine.resident_warps, np.int64)
    if warps.size:
        slots = np.array(machine.reg_base, np.int64)[warps][:, None] + np.arange(machine.registers)
        grid[slots // banks // 2 * banks + slots % banks] = BUILT
    grid[(grid == BUILT) & bits(record["exchanged"], len(grid))] = EXCHANGED
    grid[bits(record["moving"], len(grid))] = MOVING
    return grid.reshape(per_bank, banks).T


def transfers_of(machine: Machine) -> dict[int, list[dict[str, int]]]:
    """Return bank -> its transfers in progress as dicts, the one that ends first coming first."""
    record = machine.rf
    used = int(record["used"])
    transfers: dict[int, list[dict[str, int]]] = {}
    for index, entry in enumerate(record["transfer"].tolist() if used else ()):
        if used >> index & 1:
            one = dict(zip(record["transfer"].dtype.names, entry, strict=True))
            transfers.setdefault(one["pair"] % machine.num_banks, []).append(one)
    for entries in transfers.values():
        entries.sort(key=lambda one: one["until_cycle"])
    return transfers


def accesses_of(machine: Machine) -> list[list[str]]:
    """Return for each bank what its bit lines do in this cycle, up to two of "read SRAM", "write STT" ..."""
    accesses = []
    for access in machine.rf["bank"][: machine.num_banks]:
        words = []
        for name in ("read", "write"):
            kind = int(access[f"{name}_kind"])
            if kind:
                words.append(f"{name} {'STT' if kind == T_ACCESS else 'SRAM'}")
        accesses.append(words)
    return accesses


def hits(machine: Machine) -> str:
    """Return the share of operand reads that found their register in SRAM."""
    counts = machine.counts
    fast = counts.get("s_reads", 0)
    return percent(fast, fast + counts.get("t_reads", 0) - counts.get("merge_reads", 0))


def cells_of(now: list[int], before: list[int]) -> list[tuple[str, str]]:
    """Return the cells of one stretch of pairs; changed ones are underlined."""
    cells = []
    for value, old in zip(now, before, strict=True):
        changed = value != old and value != NONE and old != NONE
        cells.append((GLYPHS[value], ROLES[value] + ("+u" if changed else "")))
    return cells


def render(scene: Scene, width: int, height: int) -> list[Line]:
    """Return a row per bank: its row pairs as cells, then this cycle's access or the transfer under way.

      0 ··◆◆·······◆·······◆◆◆····◆·◆◆    R12 w12 read SRAM
      3 ◆·◆··◆◆⇄··◆◆◆·◆·◆·◆◆·◆◆··◆·◆◆·    R14 w12 transfer 2/4
      5 ◆◆◆◆◆·◆◆··◆◆◆····◆··◆◆·◆·◆◆◆◆◆    R5  w12 late 1/4
     · as built ◆ swapped ⇄ moving  hits SRAM 71.4 %  ⇄ 88,120

    A cell is one row of hybrid cells; blank if no warp has a register there. The register named next to a transfer is the
    one that will be written to SRAM; a late transfer (red) makes its result wait, the others delay nothing. 2/4: cycles
    done, out of the total. Narrow: two banks per row as half blocks, and how many transfers they have.
    """
    machine = scene.now
    if machine is None or height < 2 or "exchanged" not in (machine.rf.dtype.names or ()):
        return []
    grid = pairs_of(machine)
    old = pairs_of(scene.before) if scene.before else grid
    if old.shape != grid.shape:
        old = grid
    if width < WIDE:
        return _narrow(scene, grid, old, width, height)
    banks = len(grid)
    per_bank = max(1, min((height - 1) // banks, -(-grid.shape[1] // CELLS)))
    now, was = pooled(grid, CELLS * per_bank).tolist(), pooled(old, CELLS * per_bank).tolist()
    transfers, accesses = transfers_of(machine), accesses_of(machine)
    lines: list[Line] = []
    for bank in banks_shown(scene, banks, height - 1):
        cells = cells_of(now[bank], was[bank])
        for part in range(per_bank):
            row = bank_row(scene, width, bank, part)
            row.cells(cells[part * CELLS : (part + 1) * CELLS])
            if not part:
                _activity(row, scene, bank, accesses[bank], transfers.get(bank, []))
            lines.append(row.line())
    return fill(lines, width, min(height - 1, len(lines))) + [_totals(machine, width)]


def _activity(row: Row, scene: Scene, bank: int, words: list[str], moving: list[dict[str, int]]) -> None:
    """Write a bank's access and its transfers; if there is room for only one, a slow write, else the transfer."""
    machine = scene.machine
    wide = row.width >= TRANSFER_COLUMN + 24
    if words and (wide or not moving or "write STT" in words):
        port = machine.banks[bank]
        named = port["owner_warp"] < machine.num_warps and port["activity"] != layout.BANK_IDLE
        _name(row, scene, ACCESS_COLUMN, port["owner_warp"], port["owner_reg"], named)
        text = " ".join(words)
        if len(words) > 1 and not wide:
            text = text.replace("read", "r").replace("write", "w")
        slow = any(word.endswith("STT") for word in words)
        row.add(text, ("p:slow" if slow else "p:fast") + "+u")
        total = port["until_cycle"] - port["since_cycle"]
        if "write STT" in words and total > 1:
            row.add(f" {min(total, machine.cycle - port['since_cycle'])}/{total}", "dim")
        if not wide:
            return
    if not moving:
        return
    one = moving[0]
    _name(row, scene, TRANSFER_COLUMN if wide else ACCESS_COLUMN, one["warp"], one["reg"], True)
    total = one["until_cycle"] - one["since_cycle"]
    done = max(0, min(total, machine.cycle - one["since_cycle"]))
    row.add(f"{'late' if one['is_late'] else 'transfer'} {done}/{total}", "st:x_transfer" if one["is_late"] else "p:moving")
    if len(moving) > 1:
        row.add(f" +{len(moving) - 1}", "dim")


def _name(row: Row, scene: Scene, at: int, warp: int, reg: int, known: bool) -> None:
    """Write a register and its warp, or blanks of the same width."""
    row.at(at, f"R{reg:<2} w{warp:<2} " if known else " " * 8, "bold" if warp == scene.warp else "text")


def _totals(machine: Machine, width: int) -> Line:
    """Return the legend, the share of reads that SRAM serves, and the transfers so far."""
    counts = machine.counts
    row = Row(width).add(" ")
    for value, word in ((BUILT, "as built"), (EXCHANGED, "swapped"), (MOVING, "moving")):
        row.add(GLYPHS[value], ROLES[value]).add(f" {word} ", "dim")
    row.add(f" hits SRAM {hits(machine)}", "text").add(f"  ⇄ {number(counts.get('x_transfers', 0))}", "text")
    late = counts.get("late_transfers", 0)
    return row.right(width - 1, f"late {number(late)}", "p:moving" if late else "dim").line()


def _narrow(scene: Scene, grid: np.ndarray, old: np.ndarray, width: int, height: int) -> list[Line]:
    """Return two banks per row: upper halves the even bank's exchanged pairs, lower halves the odd one's."""
    machine = scene.machine
    cells = max(1, min(CELLS, width - 8))
    now, was = pooled(grid, cells), pooled(old, cells)
    transfers = transfers_of(machine)
    lines = []
    for upper in range(0, len(now), 2):
        pair = now[upper : upper + 2]
        before = was[upper : upper + 2]
        row = Row(width).add(f"{upper:>3} ", "faint")
        row.cells([_half(pair[:, at].tolist(), before[:, at].tolist()) for at in range(pair.shape[1])])
        count = sum(len(transfers.get(bank, [])) for bank in (upper, upper + 1))
        late = any(one["is_late"] for bank in (upper, upper + 1) for one in transfers.get(bank, []))
        if count:
            row.right(width - 1, f"⇄{count}", "st:x_transfer" if late else "p:moving")
        lines.append(row.line())
    last = Row(width).add(" ").add("▀▄", "p:slow").add(" swapped", "dim").add(f"  hits in SRAM {hits(machine)}", "text")
    return fill(lines, width, height - 1) + [last.line()] if len(lines) > height - 1 else [*lines, last.line()]


def _half(values: list[int], before: list[int]) -> tuple[str, str]:
    """Return one cell for a pair of an even bank and the same pair of the odd bank below it."""
    changed = "+u" if any(a != b and NONE not in (a, b) for a, b in zip(values, before, strict=True)) else ""
    if MOVING in values:
        return GLYPHS[MOVING], ROLES[MOVING] + changed
    if not any(values):
        return " ", "text"
    glyph = HALVES[values[0] == EXCHANGED, len(values) > 1 and values[1] == EXCHANGED]
    return glyph, ("off" if glyph == "·" else "p:slow") + changed


def small(scene: Scene, width: int) -> list[Line]:
    """Return four rows, each half showing the exchanged pairs of several banks, for small multiples."""
    grid = pooled(pairs_of(scene.machine), width)
    part = -(-len(grid) // 8)
    halves = [grid[start : start + part].max(axis=0) for start in range(0, len(grid), part)]
    rows = [zip(*(half.tolist() for half in halves[at : at + 2]), strict=True) for at in range(0, len(halves), 2)]
    return [Row(width).cells([_half(list(pair), list(pair)) for pair in row]).line() for row in rows]
