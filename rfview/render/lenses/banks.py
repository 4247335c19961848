"""The lens of a banked register file: what each bank holds, which access it serves in this cycle, and which ones wait."""

from __future__ import annotations

import numpy as np

from rfview.engine import state as layout
from rfview.render.operation import frozen_until
from rfview.sessions.machine import Machine
from rfview.render.scene import Scene
from rfview.render.text import Line, Row, fill, number, progress, visible_from

FREE, HELD, DUE, WANTED, READ, WRITTEN = range(6)
GLYPHS = (" ", "·", "□", "■", "▲", "▼")
NONE = layout.NONE8
CELLS = 32
ACTIVITIES = {layout.BANK_IDLE: "idle", layout.BANK_READ: "reads", layout.BANK_WRITE: "writes",
              layout.BANK_BUSY: "is busy"}


def places(machine: Machine) -> tuple[np.ndarray, list[tuple[int, int]]]:
    """Return ((banks, rows) u1 of FREE..WRITTEN, [(bank, row) wanted by a collector]) for the cycle shown."""
    rows_per_bank = max(1, machine.config["rows_per_bank"])
    grid = np.zeros((machine.num_banks, rows_per_bank), np.uint8)
    banks, rows = machine.warp_places
    if banks.size:
        rows = np.minimum(rows, rows_per_bank - 1)
        grid[banks, rows] = HELD
        pending = np.array([machine.sb_write[warp] for warp in machine.resident_warps], np.uint64)
        due = (pending[:, None] >> np.arange(machine.registers, dtype=np.uint64)) & np.uint64(1) != 0
        grid[banks[due], rows[due]] = DUE
    wanted = []
    for which, row, _ in requests(machine):
        wanted.append((which, row))
        grid[which, min(row, rows_per_bank - 1)] = WANTED
    for which, bank in enumerate(machine.banks):
        if bank["activity"] in (layout.BANK_READ, layout.BANK_WRITE) and bank["owner_warp"] < machine.num_warps:
            _, row = machine.place(bank["owner_warp"], bank["owner_reg"])
            grid[which, min(row, rows_per_bank - 1)] = READ if bank["activity"] == layout.BANK_READ else WRITTEN
    return grid, wanted


def doing(machine: Machine, number: int) -> str:
    """Return what a bank does in the cycle shown: "reads R5 of w2"."""
    bank = machine.banks[number]
    what = ACTIVITIES.get(bank["activity"], "?")
    if bank["activity"] != layout.BANK_IDLE and bank["owner_warp"] < machine.num_warps:
        until = bank["until_cycle"]
        what += " with" if bank["activity"] == layout.BANK_BUSY else ""
        what += f" R{bank['owner_reg']} of w{bank['owner_warp']}" + (f" until {until:,}" if until > machine.cycle else "")
    return what


def pooled(grid: np.ndarray, cells: int) -> np.ndarray:
    """Return (banks, at most `cells`): the largest value of each stretch of a bank's entries."""
    per = -(-grid.shape[1] // cells)
    padded = np.zeros((grid.shape[0], -(-grid.shape[1] // per) * per), grid.dtype)
    padded[:, : grid.shape[1]] = grid
    return padded.reshape(grid.shape[0], -1, per).max(axis=2)


def requests(machine: Machine) -> list[tuple[int, int, int]]:
    """Return (bank, row, warp) for each operand that a collector still has to read, in collector order."""
    waiting = []
    for entry in machine.collectors:
        if entry is None:
            continue
        row = machine.inflight[entry]
        unread, warp = int(row["unread"]), int(row["warp"])
        instruction = machine.instruction(int(row["pc"]))
        if not unread or instruction is None or warp >= machine.num_warps:
            continue
        for slot, reg in enumerate(instruction.src[:6]):
            if (unread >> slot) & 1 and int(reg) != NONE:
                waiting.append((*machine.place(warp, int(reg)), warp))
    return waiting


def _cell_line(states: list[int], own: list[bool], slow: bool, touched_before: set[int]) -> list[tuple[str, str]]:
    """Return the cells of one stretch of rows."""
    cells = []
    for index, state in enumerate(states):
        if state == READ:
            role = "pt:fast+b"
        elif state == WRITTEN:
            role = "ps:moving" if slow else "pt:fast+b"
        elif state == WANTED:
            role = "fg:bank_conflict"
        elif state == DUE:
            role = "p:slow" if slow else "fg:long_scoreboard"
        else:
            role = "text" if own[index] else "off"
        if state in (READ, WRITTEN) and index not in touched_before:
            role += "u" if "+" in role else "+u"
        cells.append((GLYPHS[state], role))
    return cells


def _own_rows(machine: Machine, warp: int, shape: tuple[int, int]) -> np.ndarray:
    """Return (banks, rows) bool: the registers of one warp."""
    own = np.zeros(shape, bool)
    if warp in machine.resident_warps:
        banks, rows = machine.warp_places
        index = machine.resident_warps.index(warp)
        own[banks[index], np.minimum(rows[index], shape[1] - 1)] = True
    return own


def _pool(grid: np.ndarray, cells: int) -> np.ndarray:
    """Return (banks, cells): the most urgent value of each stretch of rows."""
    per = -(-grid.shape[1] // cells)
    padded = np.zeros((grid.shape[0], per * cells), grid.dtype)
    padded[:, : grid.shape[1]] = grid
    return padded.reshape(grid.shape[0], cells, per).max(axis=2)


def _access(row: Row, scene: Scene, which: int, at: int, slow: bool) -> None:
    """Write what a bank does in this cycle: glyph, register, warp, and the progress of a long access."""
    machine = scene.machine
    bank = machine.banks[which]
    before = scene.before.banks[which] if scene.before and which < len(scene.before.banks) else bank
    activity = bank["activity"]
    if activity == layout.BANK_IDLE:
        row.at(at, "·", "off")
        return
    writing = activity == layout.BANK_WRITE or (slow and activity == layout.BANK_BUSY)
    glyph = "▼" if writing else "▲" if activity == layout.BANK_READ else "▪"
    row.at(at, glyph, "ps:moving" if writing and slow else "p:fast" if activity != layout.BANK_BUSY else "p:moving")
    if bank["owner_warp"] < machine.num_warps:
        same = all(bank[name] == before[name] for name in ("activity", "owner_warp", "owner_reg"))
        role = "bold" if bank["owner_warp"] == scene.warp else "text"
        row.at(at + 2, f"R{bank['owner_reg']:<2} w{bank['owner_warp']:<2}", role if same else role + "+u")
    total = bank["until_cycle"] - bank["since_cycle"]
    if total > 1 and bank["until_cycle"] >= machine.cycle:
        done = min(total, machine.cycle - bank["since_cycle"])
        row.at(at + 10, progress(done, total), "p:moving")
        if row.x + 4 < row.width:
            row.add(f" {done}/{total}", "dim")


def _queue(row: Row, scene: Scene, which: int, at: int, losers: list[int]) -> None:
    """Write how many requests are left waiting at a bank, and their warps."""
    machine = scene.machine
    queue = machine.banks[which]["queue"]
    before = scene.before.banks[which]["queue"] if scene.before and which < len(scene.before.banks) else queue
    if not queue:
        return
    row.at(at, f"{queue}", ("st:bank_conflict" if queue > 1 else "fg:bank_conflict") + ("+u" if queue != before else ""))
    for warp in losers:
        if row.x + 1 + len(f"w{warp}") > row.width - 1:
            break
        row.add(f" w{warp}", "bold" if warp == scene.warp else "dim")


def _totals(scene: Scene, width: int, slow: bool) -> Line:
    """Return the legend and this cycle's totals."""
    machine = scene.machine
    row = Row(width).add(" ")
    for glyph, role, word in (("▲", "p:fast", "read"), ("▼", "p:moving" if slow else "p:fast", "write"),
                              ("■", "fg:bank_conflict", "wanted"),
                              ("□", "p:slow" if slow else "fg:long_scoreboard", "due"), ("·", "dim", "held")):
        row.add(glyph, role).add(f" {word} ", "dim")
    until = frozen_until(machine)
    if until > machine.cycle:
        return row.right(width - 1, f"frozen until {number(until)}", "ps:moving").line()
    busy = sum(bank["activity"] != layout.BANK_IDLE for bank in machine.banks)
    queue = sum(bank["queue"] for bank in machine.banks)
    return row.right(width - 1, f"{busy} busy  queue {queue}", "text").line()


def banks_shown(scene: Scene, banks: int, rows: int) -> range:
    """Return the banks for which there is room, the chosen one among them."""
    first = visible_from(scene.bank, banks, rows)
    return range(first, min(banks, first + rows))


def bank_row(scene: Scene, width: int, bank: int, part: int = 0) -> Row:
    """Begin a row of a bank; part: which of the bank's rows, of which only the first, 0, is marked and numbered."""
    focus = scene.panel == "lens" and bank == scene.bank
    row = Row(width, "focus" if focus else "").add("▸" if focus and not part else " ", "bold")
    return row.add("" if part else f"{bank:>2}", "faint").to(4)


def render(scene: Scene, width: int, height: int) -> list[Line]:
    """Return a row per bank: its rows as cells, this cycle's access, its queue; the last row is the legend, with totals.

      0  ··□···▲·········   ▲ R12 w12   2 w31 w9
      1  ·······■········   ▼ R13 w7  ━━━╌ 3/4
      2  ················   ·
     ▲ read ▼ write ■ wanted □ due · held              2 busy  queue 2

    A cell covers neighbouring rows of the bank and shows the most urgent of them; blank is free, white belongs to the
    focused warp. Narrow: two banks per row, without cells.
    """
    machine = scene.now
    if machine is None or height < 2:
        return []
    slow = _has_slow_writes(scene)
    if width < 54:
        return _narrow(scene, width, height, slow)
    grid, _ = places(machine)
    per_bank = max(1, (height - 1) // machine.num_banks)
    own = _pool(_own_rows(machine, scene.warp, grid.shape), CELLS * per_bank)
    cells = _pool(grid, CELLS * per_bank)
    losers: dict[int, list[int]] = {}
    for bank, _, warp in requests(machine):
        losers.setdefault(bank, []).append(warp)
    touched = _touched_before(scene, cells.shape[1])
    lines = []
    for which in banks_shown(scene, machine.num_banks, height - 1):
        states, mine = cells[which].tolist(), own[which].tolist()
        line_cells = _cell_line(states, mine, slow, touched.get(which, set()))
        for part in range(per_bank):
            row = bank_row(scene, width, which, part)
            row.cells(line_cells[part * CELLS : (part + 1) * CELLS])
            if not part:
                _access(row, scene, which, 38, slow)
                _queue(row, scene, which, 48 if row.x <= 47 else row.x + 1, losers.get(which, []))
            lines.append(row.line())
    return fill(lines, width, min(height - 1, len(lines))) + [_totals(scene, width, slow)]


def _touched_before(scene: Scene, cells: int) -> dict[int, set[int]]:
    """Return bank -> cells that were also accessed in the previous cycle."""
    touched: dict[int, set[int]] = {}
    if scene.before is None:
        return touched
    rows = max(1, scene.before.config["rows_per_bank"])
    per = -(-rows // cells)
    for which, bank in enumerate(scene.before.banks):
        if bank["activity"] in (layout.BANK_READ, layout.BANK_WRITE) and bank["owner_warp"] < scene.before.num_warps:
            _, row = scene.before.place(bank["owner_warp"], bank["owner_reg"])
            touched.setdefault(which, set()).add(min(row, rows - 1) // per)
    return touched


def _has_slow_writes(scene: Scene) -> bool:
    """Say whether a write takes more cycles than a read, by the design's parameter write_cycles."""
    design = scene.info.design.partition("+")[0].partition("[")[0]
    return scene.info.number(f"{design}.write_cycles", 1) > 1


def _narrow(scene: Scene, width: int, height: int, slow: bool) -> list[Line]:
    """Return two banks per row."""
    machine = scene.machine
    half = width // 2
    rows = -(-machine.num_banks // 2)
    lines = []
    for index in range(min(rows, height - 1)):
        row = Row(width)
        for side in (0, 1):
            which = index + side * rows
            if which >= machine.num_banks:
                continue
            part = Row(half)
            part.add(f"{which:>3} ", "faint")
            _access(part, scene, which, 4, slow)
            if part.x <= half - 3:
                _queue(part, scene, which, 14, [])
            row.to(side * half).join(part.line())
        lines.append(row.line())
    busy = sum(bank["activity"] != layout.BANK_IDLE for bank in machine.banks)
    queue = sum(bank["queue"] for bank in machine.banks)
    last = Row(width).parts(" ", ("▲", "p:fast"), (" read ", "dim"), ("▼", "p:moving" if slow else "p:fast"),
                            (" write", "dim"))
    return [*lines, last.right(width - 1, f"{busy} of {machine.num_banks} busy  queue {queue}").line()]


def small(scene: Scene, width: int) -> list[Line]:
    """Return a cell per bank, its queue below, and the totals, for small multiples."""
    machine = scene.machine
    accesses, queues = Row(width), Row(width)
    slow = _has_slow_writes(scene)
    looks = {layout.BANK_IDLE: ("·", "off"), layout.BANK_READ: ("▲", "p:fast"),
             layout.BANK_WRITE: ("▼", "p:moving" if slow else "p:fast"),
             layout.BANK_BUSY: ("▼" if slow else "▪", "p:moving")}
    for bank in machine.banks:
        accesses.add(*looks[bank["activity"]])
        queues.add(str(min(9, bank["queue"])) if bank["queue"] else " ", "fg:bank_conflict")
    busy = sum(bank["activity"] != layout.BANK_IDLE for bank in machine.banks)
    waiting = sum(bank["queue"] for bank in machine.banks)
    last = Row(width).add(f"{busy} of {machine.num_banks} banks, {waiting} wait", "dim")
    return [accesses.line(), queues.line(), last.line()]
