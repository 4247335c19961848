"""The lens of the single write buffer: its entries, oldest first, and each STT-RAM bank's writes and waiting reads."""

from __future__ import annotations

from typing import Any

from rfview.engine.designs import single_buffer as design
from rfview.engine.state import BANK_READ, NONE8, WRITE_BACK
from rfview.render.lenses import banks
from rfview.render.lenses.banks import requests
from rfview.sessions.machine import Machine
from rfview.render.scene import Scene
from rfview.render.text import Line, Row, fill, number, percent, progress
from rfview.sessions.energy import energy_of

WIDE = 58
PER_ROW = 8
CELL = 7            # columns of an entry in the wide form
ALL_LANES = 0xFFFFFFFF


def entries_of(machine: Machine) -> list[dict[str, int]]:
    """Return the entries in use, oldest first: warp, reg, lanes, state (single_buffer.WAITING ..), bank."""
    record = machine.rf
    names = record["entry"].dtype.names
    values = record["entry"].tolist()
    order = [(int(record["head"]) + age) % design.ENTRIES for age in range(min(int(record["count"]), design.ENTRIES))]
    return [dict(zip(names, values[place], strict=True)) for place in order]


def render(scene: Scene, width: int, height: int) -> list[Line]:
    """Return the entries in the order in which they leave, then a column per bank, then the totals.

     buffer 16 of 16 entries   full   oldest first, ↓ 2 leave
      R15↓   R15↓   R3     R15    R15    R15    R15    R3
      w16    w19    w6     w27    w18    w21    w29    w2
      ━╌╌╌   ━━━╌
     bank     0  1  2  3  4  5  6  7  8  9 10 11 12 13 14 15
     writes 3/4  ·  ·  ·  ·  ·  ·  ·  ·  ·  ·  ·  ·  ·  ·1/4
     wanted   1  ·  ·  ·  ·  1  2  ·  2  ·  ·  ·  3  ·  2  1

    `↓` an entry that is being written, with its progress below; `✓` one that is in STT-RAM and leaves with the older ones;
    `/8` an entry with 8 of 32 lanes. writes: cycles done of each bank's write. wanted: reads that wait for the bank.
    """
    machine = scene.now
    if machine is None or height < 2 or "entry" not in (machine.rf.dtype.names or ()):
        return []
    entries = entries_of(machine)
    if width < WIDE or height < 12:
        return fill(_narrow(scene, machine, entries, width), width, height)
    lines = [_title(entries, width)]
    for start in range(0, design.ENTRIES, PER_ROW):
        lines += _entry_rows(scene, machine, entries[start : start + PER_ROW], start, width)
    lines += _bank_rows(machine, width, (width - 8) // max(1, machine.num_banks))
    lines.append(Row(width).line())
    lines += [*_waiting(machine, width), *_sums(machine, width)]
    return fill(lines, width, height)


def _title(entries: list[dict[str, int]], width: int) -> Line:
    """Return how full the buffer is and how many entries are leaving."""
    full = len(entries) >= design.ENTRIES
    row = Row(width).add(" buffer ", "bold").add(f"{len(entries)} of {design.ENTRIES} entries", "text")
    row.add("  full" if full else "", "fg:wb_full+b")
    leaving = sum(entry["state"] != design.WAITING for entry in entries)
    if width >= WIDE:
        row.right(width - 1, f"oldest first, ↓ {leaving} leaving" if leaving else "oldest first", "dim")
    return row.line()


def _look(entry: dict[str, int], warp: int) -> tuple[str, str]:
    """Return an entry's mark and the role of its name."""
    if entry["state"] == design.WRITING:
        return "↓", "p:moving"
    if entry["state"] == design.DONE:
        return "✓", "dim"
    return "", "bold" if entry["warp"] == warp else "p:fast"


def _entry_rows(scene: Scene, machine: Machine, entries: list[dict[str, int]], start: int, width: int) -> list[Line]:
    """Return three rows of entries: registers, warps, and the progress of their writes."""
    names, warps, bars = Row(width), Row(width), Row(width)
    for place in range(PER_ROW):
        x = 2 + place * CELL
        if place >= len(entries):
            names.at(x, "·", "off")
            continue
        entry = entries[place]
        mark, role = _look(entry, scene.warp)
        lanes = int(entry["lanes"]).bit_count()
        names.at(x, f"R{entry['reg']}", role).add(mark, role).add("" if entry["lanes"] == ALL_LANES else f"/{lanes}", "dim")
        warps.at(x, f"w{entry['warp']}", "bold" if entry["warp"] == scene.warp else "dim")
        if entry["state"] == design.WRITING:
            done, whole = _write(machine, entry["bank"])
            bars.at(x, progress(done, whole) if whole else progress(1, 1), "p:moving")
    if start + PER_ROW >= design.ENTRIES:
        bars.right(width - 1, "newest", "faint")
    return [names.line(), warps.line(), bars.line()]


def _write(machine: Machine, bank: int) -> tuple[int, int]:
    """Return (cycles done, cycles in all) of a bank's write, (0, 0) if there is none."""
    if bank >= machine.num_banks:
        return 0, 0
    port = machine.banks[bank]
    if port["until_cycle"] <= machine.cycle:
        return 0, 0
    return machine.cycle - port["since_cycle"], port["until_cycle"] - port["since_cycle"]


def _bank_rows(machine: Machine, width: int, cell: int) -> list[Line]:
    """Return a column per bank: its number, the write under way, a read in this cycle, the reads that wait for it."""
    if cell < 2:
        return []
    wanted = [0] * machine.num_banks
    for bank, _, _ in requests(machine):
        wanted[bank] += 1
    rows = [Row(width).add(f" {word:<7}", "dim") for word in ("bank", "writes", "reads", "wanted")]
    for bank in range(machine.num_banks):
        done, whole = _write(machine, bank)
        short = f"{done}/{whole}" if cell >= 3 and whole < 10 else "↓"
        reads = machine.banks[bank]["activity"] == BANK_READ
        label = str(bank) if cell >= 3 else f"{bank:x}"[-1]
        none = ("·", "off")
        texts = ((label, "faint"), (short, "p:moving") if whole else none, ("1", "p:fast") if reads else none,
                 (str(wanted[bank])[-cell:], "fg:bank_conflict") if wanted[bank] else none)
        for row, (text, role) in zip(rows, texts, strict=True):
            row.add(f"{text:>{cell}}", role)
    return [row.line() for row in rows]


def _waiting(machine: Machine, width: int) -> list[Line]:
    """Return the result for which no entry is free, and when one will be."""
    flights = machine.inflight
    refused = flights[(flights["stage"] == WRITE_BACK) & (flights["code"] == machine.info.stall_codes.get("wb_full", NONE8))]
    row = Row(width).add(" write  ", "dim")
    if len(refused):
        first = refused[refused["seq"].argmin()]
        row.add(f"w{int(first['warp'])}" + (" finds no entry" if width >= WIDE else " waits"), "fg:wb_full")
        row.add(f", {len(refused) - 1} more" if len(refused) > 1 and width >= WIDE else "", "dim").add("; ", "dim")
    entries = entries_of(machine)
    oldest = entries[0] if entries else None
    if oldest is not None and oldest["state"] == design.WRITING:
        end = machine.banks[oldest["bank"]]["until_cycle"]
        row.add(f"oldest {'leaves' if width >= WIDE else 'till'} {number(end)}", "text")
    elif oldest is not None and oldest["state"] == design.WAITING:
        row.add(f"oldest {'waits for' if width >= WIDE else 'needs'} bank {oldest['bank']}", "text")
    else:
        row.add("nothing waits", "off")
    return [row.line()]


def _sums(machine: Machine, width: int) -> list[Line]:
    """Return what the buffer has saved so far, and the mean power as a sum."""
    counts = machine.counts
    taken = counts.get("buffer_writes", 0)
    first = Row(width).add(" so far ", "dim").add(f"STT writes {number(counts.get('stt_writes', 0))}", "text")
    first.add("   merged ", "dim").add(percent(counts.get("buffer_merges", 0), taken), "good")
    first.add("   read hits ", "dim").add(percent(counts.get("buffer_reads", 0), counts.get("rf_reads", 0)), "p:fast")
    return [first.line(), *_power(machine, counts, width)]


def _power(machine: Machine, counts: dict[str, Any], width: int) -> list[Line]:
    """Return the mean dynamic and leakage power since the start, and their sum."""
    energy = energy_of(machine.info, counts, machine.cycle)
    clock = machine.info.clock_mhz
    if not energy or not machine.cycle or not clock or "leakage" not in energy:
        return []
    scale = clock / machine.cycle / 1e3
    leakage, total = energy["leakage"] * scale, energy["total"] * scale
    text = f"dynamic {total - leakage:.1f} + leakage {leakage:.1f} = {total:.1f} mW"
    return [Row(width).add(" power  ", "dim").add(text, "text").line()]


def _narrow(scene: Scene, machine: Machine, entries: list[dict[str, int]], width: int) -> list[Line]:
    """Return the entries' registers, the banks and the totals in a few rows."""
    lines = [_title(entries, width)]
    cell = max(4, (width - 1) // PER_ROW)
    for start in range(0, design.ENTRIES, PER_ROW):
        row = Row(width)
        for place in range(start, start + PER_ROW):
            mark, role = _look(entries[place], scene.warp) if place < len(entries) else ("", "off")
            text = f"R{entries[place]['reg']}{mark}" if place < len(entries) else "·"
            row.at(1 + (place - start) * cell, text[:cell], role)
        lines.append(row.line())
    lines += _bank_rows(machine, width, max(2, (width - 8) // max(1, machine.num_banks)))
    return [*lines, *_waiting(machine, width), *_sums(machine, width)]


def small(scene: Scene, width: int) -> list[Line]:
    """Return the entries as cells, oldest first, above the banks, for small multiples."""
    entries = entries_of(scene.machine)
    row = Row(width)
    for entry in entries:
        mark, role = _look(entry, -1)
        row.add(mark or "■", role)
    row.cells([("·", "off")] * (design.ENTRIES - len(entries))).add(f" {len(entries)}/{design.ENTRIES}", "dim")
    return [row.line(), *banks.small(scene, width)]
