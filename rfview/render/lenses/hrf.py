"""The lens of the hybrid register file: two write buffers as rulers of 64 entries, the STT banks, this cycle's accesses."""

from __future__ import annotations

import numpy as np

from rfview.engine.plugin import Run
from rfview.engine.designs import hrf
from rfview.engine.state import BANK_READ, NONE8
from rfview.sessions.machine import Machine
from rfview.render.scene import Scene
from rfview.render.text import BARS, Line, Row, fill, number, percent, progress

WIDE = 58
PER_ROW = 16
NAMES = "AB"
KINDS = ("miss", "hit", "both", "new", "over", "late", "queue", "drop")
READS = (hrf.MISS, hrf.HIT, hrf.MERGED)
SECOND = 30           # column of the second access in a row
TAIL = 53             # column after the entries


class Buffers:
    """The design's part of one machine state, as plain values."""

    def __init__(self, machine: Machine):
        self.machine = machine
        self.rf = machine.rf
        names = ("state", "owner", "used", "position", "gate_on", "since_cycle", "gate_cycle", "order")
        records = self.rf["buffer"]
        self.buffer: list[dict[str, int]] = [{name: int(records[name][index]) for name in names} for index in range(2)]
        self.reg: list[list[int]] = records["reg"].tolist()
        self.lanes: list[list[int]] = records["lanes"].tolist()
        self.bank_writes: list[int] = self.rf["bank_writes"].tolist()

    def parameter(self, name: str) -> int:
        """Return one of the design's numbers."""
        return self.machine.info.number(f"hrf.{name}")

    def entry_written(self, index: int) -> int:
        """Return the entry of a buffer that an STT bank writes in this cycle, or -1."""
        return self.buffer[index]["position"] if hrf.FROM_A + index in self.bank_writes else -1

    def has_power(self, index: int) -> bool:
        """Say whether a buffer's entries 16 to 63 are on."""
        return not self.parameter("power_gating") or bool(self.buffer[index]["gate_on"])

    def bank_of(self, warp: int) -> int:
        """Return the STT bank of a warp."""
        return int(hrf.stt_bank(self.machine.snapshot.sm, warp))

    def free_cycle(self, index: int) -> int:
        """Return the cycle in which a draining buffer will be empty if nothing intervenes."""
        buffer = self.buffer[index]
        left = (buffer["used"] - buffer["position"]) * self.parameter("write_cycles")
        bank = self.bank_of(buffer["owner"])
        if self.bank_writes[bank] == hrf.FROM_A + index:
            return self.machine.banks[bank]["since_cycle"] + left
        return self.machine.cycle + left

    def queued(self, bank: int) -> list[tuple[int, int]]:
        """Return (warp, register) of the late results in a bank's queue, oldest first."""
        head, count = int(self.rf["queue_head"][bank]), int(self.rf["queue_count"][bank])
        writes = [self.rf["queue"][bank][(head + place) % hrf.QUEUE_ENTRIES] for place in range(count)]
        return [(int(write["warp"]), int(write["reg"])) for write in writes if write["warp"] != NONE8]

    def accesses(self) -> list[dict[str, int]]:
        """Return the accesses of the cycle that has just run, in order."""
        if int(self.rf["seen_cycle"]) != self.machine.cycle - 1 or not self.machine.cycle:
            return []
        seen = self.rf["seen"][: int(self.rf["num_seen"])]
        return [dict(zip(seen.dtype.names, row, strict=True)) for row in seen.tolist()]

    def power_mw(self) -> tuple[float, float, float]:
        """Return (dynamic, leakage, change by gating) in mW, averages since the run began."""
        cycles = max(1, self.machine.cycle)
        counts = dict(self.machine.counts)
        counts["gate_on_cycles"] += sum(self.machine.cycle - b["gate_cycle"] for b in self.buffer if b["gate_on"])
        clock = self.machine.info.clock_mhz
        both = [hrf.energy(Run(counts, cycles, clock, {"hrf.power_gating": gating})) for gating in (0, 1)]
        shown = both[1 if self.parameter("power_gating") else 0]
        scale = clock / cycles / 1e3
        saved = sum(shown.values()) - sum(both[0].values())
        return shown["dynamic"] * scale, shown["leakage"] * scale, saved * scale


def render(scene: Scene, width: int, height: int) -> list[Line]:
    """Return the two buffers, the STT banks, this cycle's accesses, and the sums.

     A fills   w12  14/64 entries   since 184,166    48 gated
      0 12  9 14 16 17 20  8 18 21 22 15 10 19 33  ·  ·  on
     B drains  w7   11/19 written   free 184,242    all 64 on
      0  ✓  ✓  ✓  ✓  ✓  ✓  ✓  ✓  ✓  ✓  ✓ 13↓15 11  8 21  on
     STT 1 odd   ▼ write  R13 w7  ━━━╌ 3 of 4  queue 2 w31 w9
     read    R12 w12  hit A 0     read R5  w12  miss STT 0

    A number is the register in an entry, `✓` one that is in STT-RAM, `↓` follows the one being written, `·` a free entry;
    rows without power are blank. White belongs to the focused warp, underlined is new in this cycle. Reads: hit, miss or
    both (some lanes from each place); writes: new, over, late (into a draining buffer), queue, drop. If this panel has the
    focus, the last row shows the focused register's value in the buffer and its copy in STT-RAM. Narrow: 32 entries a row.
    """
    machine = scene.now
    if machine is None or height < 2 or "buffer" not in (machine.rf.dtype.names or ()):
        return []
    now = Buffers(machine)
    before = Buffers(scene.before) if scene.before else None
    if width < WIDE or height < 9:
        return fill(_narrow(scene, now, width), width, height)
    lines = []
    for index in range(2):
        lines.append(_heading(scene, now, before, index, width))
        lines += [_entries(scene, now, before, index, first, width) for first in range(0, hrf.ENTRIES, PER_ROW)]
    lines += [_bank(scene, now, bank, width) for bank in range(min(hrf.NUM_BANKS, machine.num_banks))]
    lines += [_accesses(scene, now, "read", width), _accesses(scene, now, "write", width)]
    lines += [_totals(now, width), _power(now, width)]
    last = _value(scene, now, width)
    if height > len(lines) + 1:
        lines += [_used(now, width), last]
    else:
        lines.append(last if scene.panel == "lens" else _used(now, width))
    return fill(lines, width, height)


def _own(scene: Scene, warp: int, role: str) -> str:
    """Return the role of something that belongs to a warp: white for the focused one's."""
    return "bold" if warp == scene.warp else role


def _heading(scene: Scene, now: Buffers, before: Buffers | None, index: int, width: int) -> Line:
    """Return a buffer's first row: what it does, for which warp, how far it is, since or until when, and its power."""
    buffer = now.buffer[index]
    changed = before is not None and before.buffer[index]["state"] != buffer["state"]
    row = Row(width).add(f" {NAMES[index]} ", "bold")
    mark = "+u" if changed else ""
    power = "all 64 on" if now.has_power(index) else "48 gated"
    if buffer["state"] == hrf.EMPTY:
        return row.add("empty", "dim" + mark).right(TAIL + 4, power, "dim").line()
    drains = buffer["state"] == hrf.DRAINING
    row.add("drains" if drains else "fills", ("p:moving" if drains else "p:fast") + mark)
    row.at(11, f"w{buffer['owner']}", _own(scene, buffer["owner"], "text"))
    if drains:
        row.at(16, f"{buffer['position']}/{buffer['used']} written", "text")
        row.at(32, f"free {number(now.free_cycle(index))}", "dim")
    else:
        row.at(16, f"{buffer['used']}/{hrf.ENTRIES} entries", "text")
        row.at(32, f"since {number(buffer['since_cycle'])}", "dim")
    return row.right(TAIL + 4, power, "dim").line()


def _entries(scene: Scene, now: Buffers, before: Buffers | None, index: int, first: int, width: int) -> Line:
    """Return one row of 16 entries."""
    row = Row(width).add(f"{first:>3}", "faint")
    if first and not now.has_power(index):
        return row.to(TAIL).add("off", "off").line()
    buffer = now.buffer[index]
    written = now.entry_written(index)
    for entry in range(first, first + PER_ROW):
        row.add("↓" if entry - 1 == written >= first else " ", "p:moving")
        text, role = _entry(scene, now, before, index, entry)
        row.add(f"{text:>2}", role)
    row.add("↓" if written == first + PER_ROW - 1 else " ", "p:moving")
    new_power = before is not None and first > 0 and before.has_power(index) != now.has_power(index)
    return row.to(TAIL).add("on", "changed" if new_power else "dim" if buffer["used"] > first else "off").line()


def _entry(scene: Scene, now: Buffers, before: Buffers | None, index: int, entry: int) -> tuple[str, str]:
    """Return the text and role of one entry."""
    buffer = now.buffer[index]
    if entry >= buffer["used"]:
        return "·", "off"
    old = before.buffer[index] if before else buffer
    same = old["state"] != hrf.EMPTY and old["order"] == buffer["order"]
    if entry < buffer["position"]:
        return "✓", "p:slow" + ("+u" if before and same and entry >= old["position"] else "")
    role = "ps:moving" if entry == now.entry_written(index) else _own(scene, buffer["owner"], "p:fast")
    touched = {(a["place"], a["entry"]) for a in now.accesses()}
    is_new = before is not None and (not same or entry >= old["used"] or (index, entry) in touched)
    return str(now.reg[index][entry]), role + ("+u" if is_new else "")


def _bank(scene: Scene, now: Buffers, bank: int, width: int) -> Line:
    """Return one STT bank: its write or read in this cycle, and the late results in its queue."""
    port = now.machine.banks[bank]
    row = Row(width).add(f" STT {bank} ", "bold").add(("even", "odd")[bank], "dim")
    who, text = port["owner_warp"], f"R{port['owner_reg']} w{port['owner_warp']}"
    total = max(1, port["until_cycle"] - port["since_cycle"])
    if now.bank_writes[bank] != hrf.NOTHING:
        done = min(total, now.machine.cycle - port["since_cycle"])
        row.at(13, "▼ write", "p:moving").at(22, text, _own(scene, who, "text"))
        row.at(31, progress(done, total), "p:moving").add(f" {done} of {total}", "dim")
    elif port["activity"] == BANK_READ:
        row.at(13, "▲ read", "p:fast").at(22, text, _own(scene, who, "text"))
    else:
        row.at(13, "·", "off")
    queued = now.queued(bank)
    row.at(44, f"queue {len(queued)}", "fg:stt_write" if queued else "dim")
    for warp, _ in queued:
        if row.x + len(f" w{warp}") < width:
            row.add(f" w{warp}", _own(scene, warp, "text"))
    return row.line()


def _place(now: Buffers, access: dict[str, int]) -> str:
    """Return where an access went: "A 13", or "" if its kind says so already."""
    if access["kind"] == hrf.MISS:
        return f" STT {now.bank_of(access['warp'])}"
    return f" {NAMES[access['place']]} {access['entry']}" if access["place"] < 2 else ""


def _accesses(scene: Scene, now: Buffers, word: str, width: int) -> Line:
    """Return this cycle's reads or writes: two in full, and the number of the others."""
    accesses = [a for a in now.accesses() if (a["kind"] in READS) == (word == "read")]
    row = Row(width).add(f" {word}", "dim")
    if not accesses:
        return row.at(9, "none", "off").line()
    for column, access in zip((9, SECOND), accesses, strict=False):
        if column == SECOND:
            row.at(column, word, "dim").add(" ")
        else:
            row.to(column)
        row.add(f"R{access['reg']:<2} w{access['warp']:<2}", _own(scene, access["warp"], "text") + "+u")
        role = "p:slow" if access["kind"] in (hrf.MISS, hrf.QUEUED) else "p:fast"
        row.add(f" {KINDS[access['kind']]}", role).add(_place(now, access), "text")
    if len(accesses) > 2:
        row.right(width, f"+{len(accesses) - 2}", "dim")
    return row.line()


def _totals(now: Buffers, width: int) -> Line:
    """Return the STT writes so far, the share of results that were never written there, and the share of reads that hit."""
    counts = now.machine.counts
    written, results = counts["stt_writes"], counts["rf_writes"]
    row = Row(width).add(" so far", "dim").at(9, "STT writes ", "dim").add(f"{number(written):>9}", "text")
    row.add("  avoided ", "dim").add(percent(results - written, results), "good")
    return row.add(" hits ", "dim").add(percent(counts["wb_reads"], counts["rf_reads"]), "p:fast").line()


def _power(now: Buffers, width: int) -> Line:
    """Return dynamic and leakage power since the run began, and what gating changes."""
    dynamic, leakage, saved = now.power_mw()
    row = Row(width).add(" power", "dim").at(9, "dynamic ", "dim").add(f"{dynamic:.1f}", "text").add(" + leakage ", "dim")
    row.add(f"{leakage:.1f}", "text").add(" = ", "dim").add(f"{dynamic + leakage:.1f} mW", "text")
    if now.parameter("power_gating"):
        row.add(" gated ", "dim").add(f"{saved:+.1f}".replace("-", "−"), "good" if saved < 0 else "bad")
    return row.line()


def _used(now: Buffers, width: int) -> Line:
    """Return how many entries the buffers of this launch used before they drained, in 16 steps of 4."""
    histogram = now.rf["used_histogram"].tolist()
    top = max(histogram)
    bars = "".join(BARS[-(-8 * value // top)] if top else BARS[1] for value in histogram)
    row = Row(width).add(" used", "dim").at(9, bars, "p:fast")
    share = percent(sum(histogram[:4]), sum(histogram), 0)
    return row.at(27, "at a switch: ", "dim").add(f"< 16 in {share}", "text").line()


def _value(scene: Scene, now: Buffers, width: int) -> Line:
    """Return the focused register's value at the focused lane: in a buffer, if it is there, and in STT-RAM."""
    machine, warp, reg, lane = now.machine, scene.warp, scene.reg, scene.lane
    row = Row(width).add(f" R{reg} w{warp}", "bold").add(f" lane {lane}", "dim")
    if warp >= machine.num_warps or not (machine.resident >> warp) & 1 or reg >= machine.registers:
        return row.add("  no such register", "dim").line()
    stored = machine.snapshot.rows
    main = int(stored[machine.reg_base[warp] + reg][lane])
    newest = int(np.asarray(machine.snapshot.register(warp, reg))[lane])
    place = _buffered(now, warp, reg, lane)
    if place:
        row.add(f"  {place} ", "dim").add(f"{newest:08x}", "p:fast")
    row.add("  STT ", "dim").add(f"{main:08x}", "p:slow")
    return row.add("" if main == newest else "  stale", "p:moving").line()


def places_of(machine: Machine, warp: int) -> list[tuple[str, str]]:
    """Return for each register the buffer entry that holds its newest value in lane 0, or STT-RAM."""
    now = Buffers(machine)
    buffered = (_buffered(now, warp, reg, 0) for reg in range(machine.registers))
    return [(place, "p:fast") if place else ("STT-RAM", "p:slow") for place in buffered]


def _buffered(now: Buffers, warp: int, reg: int, lane: int) -> str:
    """Return the buffer entry or queue that holds a lane's newest value, "" for STT-RAM."""
    if (warp, reg) in now.queued(now.bank_of(warp)):
        return "queue"
    for index in sorted(range(2), key=lambda at: -now.buffer[at]["order"]):
        buffer = now.buffer[index]
        if buffer["state"] != hrf.EMPTY and buffer["owner"] == warp:
            for entry in range(buffer["used"] - 1, buffer["position"] - 1, -1):
                if now.reg[index][entry] == reg and (now.lanes[index][entry] >> lane) & 1:
                    return f"{NAMES[index]} {entry}"
    return ""


def _narrow(scene: Scene, now: Buffers, width: int) -> list[Line]:
    """Return the buffers as bars of 32 entries, the banks, and this cycle's accesses in one row."""
    lines = []
    for index in range(2):
        buffer = now.buffer[index]
        word = ("empty", "fills", "drains")[buffer["state"]]
        row = Row(width).add(f" {NAMES[index]} ", "bold").add(word, ("dim", "p:fast", "p:moving")[buffer["state"]])
        if buffer["state"] != hrf.EMPTY:
            row.add(f" w{buffer['owner']}", _own(scene, buffer["owner"], "text"))
        if buffer["state"] == hrf.DRAINING:
            row.add(f" {buffer['position']}/{buffer['used']}", "text")
            row.add(f" free {number(now.free_cycle(index))}", "dim")
        elif buffer["state"] == hrf.FILLING:
            row.add(f" {buffer['used']}/{hrf.ENTRIES}", "text")
        lines.append(row.right(width - 1, "64 on" if now.has_power(index) else "48 gated", "dim").line())
        lines += [_bar(now, index, first, width) for first in (0, 32)]
    for bank in range(min(hrf.NUM_BANKS, now.machine.num_banks)):
        lines.append(_narrow_bank(now, bank, width))
    row = Row(width)
    for access in now.accesses():
        word = "read " if access["kind"] in READS else "write "
        if row.x + len(word) + 10 <= width:
            row.add(f" {word}", "dim").add(f"R{access['reg']} {KINDS[access['kind']]}", "text")
    return [*lines, row.line()]


def _bar(now: Buffers, index: int, first: int, width: int) -> Line:
    """Return 32 entries of a buffer, a cell each; entries without power are blank."""
    buffer, written = now.buffer[index], now.entry_written(index)
    last = first + 32 if now.has_power(index) else min(first + 32, hrf.ALWAYS_ON)
    cells = []
    for entry in range(first, max(first, last)):
        if entry >= buffer["used"]:
            cells.append(("·", "off"))
        elif entry < buffer["position"]:
            cells.append(("✓", "p:slow"))
        else:
            cells.append(("↓", "ps:moving") if entry == written else ("■", "p:fast"))
    return Row(width).to(4).cells(cells).line()


def _narrow_bank(now: Buffers, bank: int, width: int) -> Line:
    """Return one STT bank: its write or read, and the length of its queue."""
    port = now.machine.banks[bank]
    row = Row(width).add(f" STT {bank} ", "bold")
    text = f"R{port['owner_reg']} w{port['owner_warp']}"
    if now.bank_writes[bank] != hrf.NOTHING:
        total = max(1, port["until_cycle"] - port["since_cycle"])
        row.add("▼ write ", "p:moving").add(f"{text} ", "text")
        row.add(progress(min(total, now.machine.cycle - port["since_cycle"]), total), "p:moving")
    elif port["activity"] == BANK_READ:
        row.add("▲ read ", "p:fast").add(text, "text")
    else:
        row.add("·", "off")
    return row.at(28, f"queue {len(now.queued(bank))}", "dim").line()


def small(scene: Scene, width: int) -> list[Line]:
    """Return the first entries of both buffers as cells, and what the STT banks do, for small multiples."""
    now, lines = Buffers(scene.machine), []
    for index, buffer in enumerate(now.buffer):
        count = "" if buffer["state"] == hrf.EMPTY else str(buffer["used"] - buffer["position"])
        bar = [(char, role) for text, role in _bar(now, index, 0, 36).spans for char in text][4 : width - 1]
        row = Row(width).add(f"{NAMES[index]} ", "bold").cells(bar)
        lines.append(row.right(width, f" {count:>2}", "p:moving" if buffer["state"] == hrf.DRAINING else "p:fast").line())
    row = Row(width).add("STT", "bold")
    for bank, port in enumerate(now.machine.banks[:2]):
        if now.bank_writes[bank] == hrf.NOTHING and port["activity"] != BANK_READ:
            row.add(" ·", "off")
            continue
        row.add(*((" ▲", "p:fast") if now.bank_writes[bank] == hrf.NOTHING else (" ▼", "p:moving")))
        row.add(f" R{port['owner_reg']} w{port['owner_warp']}", "dim")
    return [*lines, row.line()]
