"""The lens of the racetrack register file: every bank's tape as its offsets, with the steps still to go as arrows."""

from __future__ import annotations

from typing import Any

from rfview.engine import state as layout
from rfview.engine.designs.racetrack import IDLE, PRESHIFTING, READ, SHIFTING, WAITING, WRITE
from rfview.render.lenses.banks import bank_row, banks_shown
from rfview.sessions.machine import Machine
from rfview.render.scene import Scene
from rfview.render.text import Line, Row, fill, number, percent

CELLS = 16
WIDE = 54
WORDS = ("idle", "read", "write", "shift", "pre", "wait")
ROLES = ("off", "p:fast", "p:fast", "p:moving", "p:approx", "fg:bank_conflict")
ACTIVITY_COLUMN, QUEUE_COLUMN, BUFFER_COLUMN = 22, 32, 46
HEADINGS = ((ACTIVITY_COLUMN + 4, "steps"), (QUEUE_COLUMN, "queue"), (BUFFER_COLUMN, "wb"))
LAST_HEADING = "shifts"


def tapes_of(machine: Machine) -> list[dict[str, Any]]:
    """Return one dict per bank: the design's record, with the buffered writes as (warp, register), oldest first, in "wb"."""
    records = machine.rf["tape"][: machine.num_banks]
    names = [name for name in records.dtype.names if name != "wb"]
    columns = {name: records[name].tolist() for name in names}
    size = max(1, int(parameter(machine, "wb_entries", 2)))
    tapes = []
    for bank in range(len(records)):
        tape: dict[str, Any] = {name: columns[name][bank] for name in names}
        order = [(tape["wb_first"] + age) % size for age in range(tape["wb_count"])]
        tape["wb"] = [(int(records["wb"][bank, at]["warp"]), int(records["wb"][bank, at]["reg"])) for at in order]
        tapes.append(tape)
    return tapes


def parameter(machine: Machine, name: str, default: Any) -> Any:
    """Return one of the design's parameters."""
    return machine.info.parameters.get(f"racetrack.{name}", default)


def num_offsets(machine: Machine) -> int:
    """Return how many offsets a tape has."""
    return max(1, -(-machine.config["rows_per_bank"] // max(1, int(parameter(machine, "ports", 16)))))


def read_queues(machine: Machine) -> dict[int, list[tuple[int, int]]]:
    """Return bank -> (warp, register) of each read that waits there, oldest first."""
    waiting = sorted(
        (int(machine.inflight[entry]["seq"]), unit) for unit, entry in enumerate(machine.collectors) if entry is not None
    )
    queues: dict[int, list[tuple[int, int]]] = {}
    for _, unit in waiting:
        flight = machine.inflight[machine.sm["collector"][unit]["inflight"]]
        instruction = machine.instruction(int(flight["pc"]))
        banks = machine.sm["collector"][unit]["bank"].tolist()
        for slot, reg in enumerate(instruction.src[:6] if instruction else ()):
            if int(flight["unread"]) >> slot & 1 and int(reg) != layout.NONE8:
                queues.setdefault(banks[slot], []).append((int(flight["warp"]), int(reg)))
    return queues


def tape_cells(tape: dict[str, Any], before: dict[str, Any] | None, offsets: int) -> list[tuple[str, str]]:
    """Return the tape as CELLS cells: `◆` position, `◇` target, arrows between; underlined if moved or accessed."""
    scale = max(offsets, CELLS)
    now, target = tape["current"] * CELLS // scale, tape["target"] * CELLS // scale
    kind = tape["activity"]
    role = ROLES[kind] if kind in (SHIFTING, PRESHIFTING) else "dim"
    cells = [("·", "off") if at < offsets else (" ", "text") for at in range(CELLS)]
    if kind not in (IDLE, READ, WRITE) and tape["current"] != tape["target"]:
        arrow = "→" if target > now else "←"
        for at in range(min(now, target) + 1, max(now, target)):
            cells[at] = (arrow, role)
        cells[target] = ("◇", "bold" if role == "dim" else role)
    touched = kind in (READ, WRITE) or (before is not None and before["current"] != tape["current"])
    cells[now] = ("◆", ("pt:fast+b" if kind in (READ, WRITE) else "text") + ("+u" if touched else ""))
    return cells


def render(scene: Scene, width: int, height: int) -> list[Line]:
    """Return a row per bank: tape, what it does, its queue, its write buffer, its shifts so far; the last row has totals.

      1 ····◆→◇········· shift   2 w4.R31 w9.R2  1      23,848
      2 ·····◆·········· read      w7.R12               18,211
      9 ·········◇←←◆··· pre     3 w5.R5 +2             17,204
     ◆ port ◇ wanted → awaited → ahead 41 %  served 4/4  275,079

    `◆` the offset under the ports, `◇` the offset that the head of the queue needs, arrows the steps still to go: red
    while the bank is served and an access waits, yellow ahead of time. The queue starts with buffered writes, red, then
    the reads in order; +2: two more. wb: writes in the bank's buffer. Narrow: two banks per row, tapes only.
    """
    machine = scene.now
    if machine is None or height < 2 or "tape" not in (machine.rf.dtype.names or ()):
        return []
    tapes = tapes_of(machine)
    before: list[dict[str, Any] | None] = [*tapes_of(scene.before)] if scene.before else [None] * len(tapes)
    before += [None] * (len(tapes) - len(before))
    if width < WIDE:
        return _narrow(scene, tapes, before, width, height)
    queues = read_queues(machine)
    lines = [_bank_line(scene, bank, tapes[bank], before[bank], queues.get(bank, []), width)
             for bank in banks_shown(scene, len(tapes), height - 1)]
    return fill(lines, width, min(height - 1, len(lines))) + [_totals(machine, tapes, width)]


def _bank_line(scene: Scene, bank: int, tape: dict[str, Any], before: dict[str, Any] | None,
               reads: list[tuple[int, int]], width: int) -> Line:
    """Return one bank's row."""
    machine = scene.machine
    row = bank_row(scene, width, bank)
    row.cells(tape_cells(tape, before, num_offsets(machine)))
    kind = tape["activity"]
    changed = before is not None and before["activity"] != kind
    if kind != IDLE:
        row.at(ACTIVITY_COLUMN, WORDS[kind], ROLES[kind] + ("+u" if changed else ""))
    if kind in (SHIFTING, PRESHIFTING, WAITING) and tape["current"] != tape["target"]:
        row.right(ACTIVITY_COLUMN + 8, str(abs(tape["target"] - tape["current"])), ROLES[kind])
    _queue(row, scene, bank, tape, reads)
    size = int(parameter(machine, "wb_entries", 2))
    grown = before is not None and before["wb_count"] != tape["wb_count"]
    if tape["wb_count"] or grown:
        full = tape["wb_count"] >= size
        row.to(BUFFER_COLUMN).add(str(tape["wb_count"]), ("fg:wb_full" if full else "p:moving") + ("+u" if grown else ""))
    moved = before is not None and before["shifts"] != tape["shifts"]
    return row.right(width - 1, number(tape["shifts"]), "changed" if moved else "dim").line()


def _queue(row: Row, scene: Scene, bank: int, tape: dict[str, Any], reads: list[tuple[int, int]]) -> None:
    """Write the register accessed now, then the buffered writes and the waiting reads, as many as fit."""
    machine = scene.machine
    entries: list[tuple[tuple[int, int], str]] = []
    port = machine.banks[bank]
    if tape["activity"] in (READ, WRITE):
        entries.append(((port["owner_warp"], port["owner_reg"]), "p:fast+u"))
    entries += [(entry, "p:moving") for entry in tape["wb"]]
    entries += [(entry, "text") for entry in reads]
    row.to(QUEUE_COLUMN)
    for index, ((warp, reg), role) in enumerate(entries):
        text = f"{' ' if index else ''}w{warp}.R{reg}"
        rest = len(entries) - index
        if row.x + len(text) + (len(f" +{rest - 1}") if rest > 1 else 0) > BUFFER_COLUMN - 1:
            row.add(f" +{rest}", "dim")
            break
        row.add(text, "bold" if warp == scene.warp and role == "text" else role)


def _totals(machine: Machine, tapes: list[dict[str, Any]], width: int) -> Line:
    """Return the legend with preshift's share of all steps, how many banks were served, and the sum of the demand shifts."""
    shifts, ahead = total(tapes, "shifts"), total(tapes, "preshifts")
    row = Row(width).parts(" ", ("◆", "text"), (" port ", "dim"), ("◇", "p:moving"), (" wanted ", "dim"), ("→", "p:moving"),
                           (" awaited ", "dim"), ("→", "p:approx"), (" ahead ", "dim"))
    row.add(percent(ahead, shifts + ahead, 0), "p:approx").add(f"  served {served(machine)}", "text")
    return row.right(width - 1, f" {number(shifts)}", "text").line()


def total(tapes: list[dict[str, Any]], name: str) -> int:
    """Return the sum of a counter over the banks."""
    return sum(int(tape[name]) for tape in tapes)


def served(machine: Machine) -> str:
    """Return how many banks were served in the last cycle, out of how many can be."""
    busy = int(machine.rf["busy"]).bit_count()
    return f"{busy}/{machine.config['max_banks_per_cycle'] or machine.num_banks}"


def _narrow(scene: Scene, tapes: list[dict[str, Any]], before: list[dict[str, Any] | None], width: int,
            height: int) -> list[Line]:
    """Return two banks per row, and the totals."""
    machine = scene.machine
    offsets = num_offsets(machine)
    rows = -(-len(tapes) // 2)
    half = width // 2
    lines = []
    for index in range(min(rows, height - 1)):
        row = Row(width)
        for side in (0, 1):
            bank = index + side * rows
            if bank < len(tapes):
                row.to(side * half).add(f"{bank:>3} ", "faint").cells(tape_cells(tapes[bank], before[bank], offsets))
        lines.append(row.line())
    shifts, ahead = total(tapes, "shifts"), total(tapes, "preshifts")
    moving = sum(tape["activity"] == PRESHIFTING for tape in tapes)
    waits = sum(bank["queue"] for bank in machine.banks)
    last = Row(width).add(f" {served(machine)} waits {waits} pre {moving} shifts {number(shifts)}", "text")
    return [*lines, last.right(width - 1, f" {percent(ahead, shifts + ahead, 0)}", "p:approx").line()]


def small(scene: Scene, width: int) -> list[Line]:
    """Return the four tapes with the most steps to go, for small multiples."""
    tapes = tapes_of(scene.machine)
    before = tapes_of(scene.before) if scene.before is not None else [None] * len(tapes)
    farthest = sorted(range(len(tapes)), key=lambda bank: -abs(tapes[bank]["target"] - tapes[bank]["current"]))[:4]
    lines = []
    for bank in sorted(farthest):
        tape, kind = tapes[bank], tapes[bank]["activity"]
        row = Row(width).add(f"{bank:>2} ", "faint").cells(tape_cells(tape, before[bank], num_offsets(scene.machine)))
        lines.append(row.add(f" {WORDS[kind]}", ROLES[kind]).line())
    return lines
