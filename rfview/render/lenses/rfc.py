"""The lens of the register file cache: every active warp's entries in order of eviction."""

from __future__ import annotations

from rfview.engine import state as layout
from rfview.engine.designs.rfc import GONE_CLEAN, GONE_DEAD, GONE_WRITTEN
from rfview.sessions.machine import Machine
from rfview.render.scene import Scene
from rfview.render.text import Line, Row, fill, number, percent, visible_from

WIDE = 54
ENTRY_COLUMN, ENTRY_WIDTH, NARROW_WIDTH = 12, 6, 4
GONE = {GONE_WRITTEN: "written back", GONE_DEAD: "dead, dropped", GONE_CLEAN: "clean, dropped"}     # rf.out_kind
OWN_READS = ("rfc_reads", "rfc_evictions", "rfc_flushes", "rfc_removals")
OWN_WRITES = ("rfc_writes", "rfc_fills")


def entries_of(machine: Machine, warp: int) -> list[dict[str, int]]:
    """Return a warp's entries as dicts, the next to be evicted first."""
    record = machine.rf["entry"]
    entries = [dict(zip(record.dtype.names, one, strict=True)) for one in record[warp].tolist()]
    return sorted((one for one in entries if one["valid"]), key=lambda one: (-one["far"], one["order"]))


def warps_of(machine: Machine) -> list[int]:
    """Return the warps to show: the active set, or without one the warps that have entries."""
    active = [warp for warp in machine.resident_warps if machine.sm["warp"]["membership"][warp]]
    if machine.config["active_places"]:
        return active
    holding = int(machine.rf["holding"])
    return [warp for warp in range(machine.num_warps) if holding >> warp & 1]


def avoided(counts: dict[str, int]) -> tuple[float, float, float, float]:
    """Return (operands, reads of the main file, results, writes of the main file)."""
    operands, results = counts.get("rfc_lookups", 0), counts.get("rfc_writes", 0) + counts.get("rfc_bypasses", 0)
    return operands, counts.get("rf_reads", 0), results, counts.get("rf_writes", 0)


def change(part: float, whole: float) -> str:
    """Return by how much `part` differs from `whole`, as "−50.4 %"."""
    return f"{100 * (part / whole - 1):+.1f} %".replace("-", "−") if whole else "–"


def mark_of(entry: dict[str, int]) -> tuple[str, str]:
    """Return an entry's mark and its colour: being flushed, dead, dirty, or as in the main file."""
    if entry["evict"]:
        return "↧", "st:rfc_flush"
    if entry["dead"]:
        return "†", "dim"
    return ("*", "p:moving") if entry["dirty"] else (" ", "text")


def places_of(machine: Machine, warp: int) -> list[tuple[str, str]]:
    """Return for each register the cache entry that holds it, with its mark, or the main register file."""
    places = [("main file", "dim")] * machine.registers
    for place, entry in enumerate(entries_of(machine, warp)):
        mark, role = mark_of(entry)
        places[entry["reg"]] = (f"RFC {place}{mark}", role)
    return places


def hits_of(machine: Machine, warp: int) -> str:
    """Return the share of a warp's operands that its entries alone have served since it became active."""
    record = machine.rf
    return percent(int(record["hits"][warp]), int(record["reads"][warp]), 0)


def touched(machine: Machine, warp: int) -> set[int]:
    """Return the registers of a warp that were read from, or written to, its entries in this cycle."""
    record = machine.rf
    regs: set[int] = set()
    if record["read_cycle"] == machine.cycle - 1 and record["read_warp"] == warp:
        regs |= registers_in(int(record["hit_regs"]))
    if record["write_cycle"] == machine.cycle - 1 and record["write_warp"] == warp:
        regs.add(int(record["write_reg"]))
    return regs if machine.cycle else set()


def registers_in(mask: int) -> set[int]:
    """Return the registers in a mask."""
    return {reg for reg in range(64) if mask >> reg & 1}


def render(scene: Scene, width: int, height: int) -> list[Line]:
    """Return a row per active warp, then who leaves and enters, the main file's banks, this cycle, and the totals.

     slot warp  oldest, next to evict       newest      hits
      0   w12  ▸R13*  R14*  R15*  R8    R19†  R20*     58 %
     * dirty   † dead, dropped without write   ↧ flushing now
     leaves  w5 for R12           flush 2 live  drop 1 dead
      read   R14 w12 hit   R12 w12 miss

    Entries are in order of eviction. Narrow: the entries, and one row about the rest.
    """
    machine = scene.now
    if machine is None or height < 2 or "holding" not in (machine.rf.dtype.names or ()):
        return []
    warps = warps_of(machine)
    if width < WIDE:
        return _narrow(scene, machine, warps, width, height)
    foot = _foot(machine, width)
    room = max(1, height - 1 - len(foot))
    if height < 6:
        foot, room = [], height - 1
    shown = _around(warps, scene.warp, room)
    heading = Row(width).add(" slot warp  oldest, next to evict", "faint")
    heading.at(ENTRY_COLUMN + ENTRY_WIDTH * _places(machine) - 8, "newest", "faint").right(width - 1, "hits", "faint")
    lines = [heading.line(), *(_warp_line(scene, machine, warps.index(warp), warp, width) for warp in shown)]
    if not shown:
        lines.append(Row(width).add(" no warp is active: all wait for memory or have ended", "dim").line())
    return fill(lines + foot, width, height)


def _places(machine: Machine) -> int:
    """Return how many entries a warp has."""
    return machine.info.number("rfc.entries", 6)


def _around(warps: list[int], focus: int, room: int) -> list[int]:
    """Return as many warps as fit, the focused one among them."""
    at = warps.index(focus) if focus in warps else 0
    first = visible_from(at, len(warps), room)
    return warps[first : first + room]


def _warp_line(scene: Scene, machine: Machine, slot: int, warp: int, width: int) -> Line:
    """Return one warp's entries."""
    own = warp == scene.warp
    row = Row(width, "focus" if own and scene.panel == "lens" else "")
    row.right(4, str(slot), "faint").at(6, f"w{warp}", "bold" if own else "text").to(ENTRY_COLUMN - 1)
    entries, now = entries_of(machine, warp), touched(machine, warp)
    for index in range(_places(machine)):
        row.to(ENTRY_COLUMN - 1 + ENTRY_WIDTH * index)
        _entry(row, entries[index] if index < len(entries) else None, index, own, now, "R")
    left = machine.sm["warp"]["membership"][warp] == layout.LEAVING
    return row.right(width - 1, "leaving" if left else hits_of(machine, warp), "st:rfc_flush" if left else "dim").line()


def _entry(row: Row, entry: dict[str, int] | None, index: int, own: bool, now: set[int], letter: str) -> None:
    """Write one entry: register and mark; the first to be evicted has an arrow; one with missing lanes is grey."""
    if entry is None:
        row.add(" " if letter else "", "text").add("·" if letter else " · ", "off")
        return
    if letter:
        row.add("▸" if index == 0 else " ", "bold")
    role = "dim" if entry["dead"] else "faint" if entry["valid"] != 0xFFFFFFFF else "bold" if own else "text"
    reg = entry["reg"]
    row.add(f"{letter}{reg:<2}" if letter else f"{reg:>2}", role + ("+u" if reg in now else ""))
    row.add(*mark_of(entry))


def _foot(machine: Machine, width: int) -> list[Line]:
    """Return the rows below the entries."""
    legend = Row(width).add(" ").add("*", "p:moving").add(" dirty   ", "dim").add("† dead, dropped without write   ", "dim")
    legend.add("↧", "st:rfc_flush").add(" flushing now", "dim")
    lines = [legend.line(), _leaves(machine, width), _enters(machine, width), _banks(machine, width)]
    return lines + [_reads(machine, width), _writes(machine, width), _totals(machine, width), _power(machine, width)]


def _leaves(machine: Machine, width: int) -> Line:
    """Return the row on the warp that is leaving, or left last: which, why, and what it had."""
    record = machine.rf
    row = Row(width).add(" leaves  ", "dim")
    if not record["left_cycle"]:
        return row.add("none yet", "off").line()
    warp = int(record["left_warp"])
    here = machine.sm["warp"]["membership"][warp] == layout.LEAVING
    row.add(f"w{warp} ", "bold" if here else "text").add(reason(machine, warp) if here else "gone", "text")
    text = f"flush {record['left_live']} live drop {record['left_dead']} dead"
    row.at(26, text, "st:rfc_flush" if here else "dim").add(" ")
    return row.right(width - 1, number(int(record["left_cycle"])), "faint").line()


def reason(machine: Machine, warp: int) -> str:
    """Return what a leaving warp waits for."""
    if machine.sm["warp"]["split"][warp] == layout.NONE8:
        return "at a barrier"
    instruction = machine.instruction(machine.pc[warp])
    held = int(machine.sm["warp"]["sb_long"][warp])
    regs = [reg for reg in (instruction.src if instruction else ()) if reg != layout.NONE8 and held >> reg & 1]
    regs += [reg for reg in (instruction.dst if instruction else ()) if held >> reg & 1]
    return f"for R{regs[0]}" if regs else "for memory"


def _enters(machine: Machine, width: int) -> Line:
    """Return the row on the warp that became active last, and the ready ones that are next."""
    row = Row(width).add(" enters  ", "dim")
    scheduler = machine.sm["scheduler"][0]
    joined = int(scheduler["joined_warp"])
    if not machine.config["active_places"]:
        return row.add("every warp is active", "off").line()
    row.add("none yet" if joined == layout.NONE8 else f"w{joined}", "text")
    pointer = int(scheduler["join_pointer"])
    ready = [warp for warp in machine.resident_warps if machine.state[warp] == machine.info.stall_codes.get("suspended")]
    ready.sort(key=lambda warp: ((warp - pointer) & 63))
    if ready:
        row.add("   then", "dim").add("".join(f" w{warp}" for warp in ready[:3]), "text")
        row.add(f"  +{len(ready) - 3}" if len(ready) > 3 else "", "dim")
    return row.line()


def _banks(machine: Machine, width: int) -> Line:
    """Return the row on the main file's banks: r read, w written, b both, + busy with a slow access."""
    row = Row(width).add(" MRF     ", "dim")
    row.cells([_bank(bank) for bank in machine.banks[: width - 26]])
    return row.right(width - 1, f"{machine.num_banks} banks r w", "dim").line()


def _bank(bank: dict[str, int]) -> tuple[str, str]:
    """Return one bank's cell."""
    if bank["read"] and bank["written"]:
        return "b", "p:fast"
    if bank["read"] or bank["written"]:
        return ("r" if bank["read"] else "w"), "p:fast"
    return ("+", "p:moving") if bank["activity"] == layout.BANK_BUSY else ("·", "off")


def _reads(machine: Machine, width: int) -> Line:
    """Return the row on the last tag check, if it was in this cycle."""
    record = machine.rf
    row = Row(width).add("   read  ", "dim")
    if not machine.cycle or record["read_cycle"] != machine.cycle - 1:
        return row.add("·", "off").line()
    row.add(f"w{int(record['read_warp'])}  ", "text")
    for word, field, role in (("hit", "hit_regs", "p:fast"), ("miss MRF", "missed_regs", "p:moving")):
        regs = sorted(registers_in(int(record[field])))
        if regs:
            row.add(" ".join(f"R{reg}" for reg in regs), "text+u").add(f" {word}   ", role)
    return row.line()


def _writes(machine: Machine, width: int) -> Line:
    """Return the row on the result written in this cycle, and the entry given up."""
    record = machine.rf
    row = Row(width).add("   write ", "dim")
    here = machine.cycle - 1
    if machine.cycle and record["write_cycle"] == here:
        row.add(f"R{int(record['write_reg'])} w{int(record['write_warp'])}", "text+u")
        row.add(f"  e{int(record['write_entry'])}", "dim")
    else:
        row.add("·", "off")
    row.at(27, "out ", "dim")
    if machine.cycle and record["out_cycle"] == here:
        row.add(f"R{int(record['out_reg'])} w{int(record['out_warp'])} ", "text+u")
        return row.add(GONE.get(int(record["out_kind"]), ""), "p:moving").line()
    return row.add("none", "off").line()


def _totals(machine: Machine, width: int) -> Line:
    """Return the comparison with a main file alone: reads and writes saved, and the share of entries that died unwritten."""
    counts = machine.counts
    operands, reads, results, writes = avoided(counts)
    ends = sum(counts.get(f"rfc_{name}", 0) for name in ("evictions", "flushes", "removals", "dead"))
    row = Row(width).add(" so far  ", "dim").add(f"MRF reads {change(reads, operands)}", "text")
    row.add(f"   writes {change(writes, results)}", "text")
    return row.add(f"   dead {percent(counts.get('rfc_dead', 0), ends)}", "text").line()


def _power(machine: Machine, width: int) -> Line:
    """Return the access power of cache and main file, from the design's own table, and of wires of 0.2 mm and 1 mm."""
    counts, table = machine.counts, machine.info.energy_pj
    row = Row(width).add(" power   ", "dim")
    if not machine.cycle or not table:
        return row.add("–", "off").line()
    scale = machine.info.clock_mhz * 1e-3 / machine.cycle          # pJ -> mW

    def milliwatts(*names: str) -> float:
        return scale * sum(counts.get(name, 0) * table[name][0] for name in names if name in table)

    own = milliwatts(*OWN_READS, *OWN_WRITES)
    if machine.info.design.partition("+")[2] in ("", "sram"):
        main = milliwatts("rf_reads", "rf_writes")
        row.add(f"mean RFC {own:.1f} + MRF {main:.1f} = {own + main:.1f} mW", "text")
    else:
        row.add(f"mean RFC {own:.1f} mW", "text")
    wire = machine.info.technology.get("wire_pj_per_mm", (0.0, "", ""))[0]
    far = counts.get("rf_reads", 0) + counts.get("rfc_bypasses", 0)
    near = counts.get("rfc_reads", 0) + counts.get("rfc_writes", 0)
    return row.add(f", wires {scale * wire * (far + 0.2 * near):.1f}", "dim").line()


def _narrow(scene: Scene, machine: Machine, warps: list[int], width: int, height: int) -> list[Line]:
    """Return a row per warp, and one on leaving, joining and reads saved."""
    lines = []
    for warp in _around(warps, scene.warp, height - 1):
        own = warp == scene.warp
        row = Row(width).add(" ").add(f"w{warp}", "bold" if own else "text").to(5)
        entries, now = entries_of(machine, warp), touched(machine, warp)
        for index in range(_places(machine)):
            row.to(5 + NARROW_WIDTH * index)
            _entry(row, entries[index] if index < len(entries) else None, index, own, now, "")
        lines.append(row.right(width - 1, f"hit {hits_of(machine, warp)}", "dim").line())
    record = machine.rf
    last = Row(width).add(" ")
    if record["left_cycle"]:
        last.add(f"out w{int(record['left_warp'])} {int(record['left_live'])} live", "st:rfc_flush")
    joined = int(machine.sm["scheduler"]["joined_warp"][0])
    if joined != layout.NONE8:
        last.add(f"  in w{joined}", "text")
    operands, reads, _, _ = avoided(machine.counts)
    last.right(width - 1, f"MRF rd {change(reads, operands)}", "text")
    return [*fill(lines, width, min(height - 1, max(1, len(lines)))), last.line()]


def small(scene: Scene, width: int) -> list[Line]:
    """Return the marks of each warp's entries, as many warps as fit, for small multiples."""
    machine = scene.machine
    warps, cell = warps_of(machine), _places(machine) + 1
    beside = max(1, (width + 1) // cell)
    lines = []
    for start in range(0, min(len(warps), 4 * beside), beside):
        row = Row(width)
        for at, warp in enumerate(warps[start : start + beside]):
            row.to(at * cell)
            marks = [mark_of(entry) for entry in entries_of(machine, warp)]
            row.cells([(mark.replace(" ", "■"), role if mark != " " else "p:fast") for mark, role in marks])
            row.cells([("·", "off")] * (cell - 1 - len(marks)))
        lines.append(row.line())
    return lines or [Row(width).add("no warp holds any", "dim").line()]
