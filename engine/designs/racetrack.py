"""`racetrack`: a register file of racetrack memory, whose tapes move under their ports before an access.

Liang & Wang, "Performance-centric optimization for racetrack memory based register file on GPUs", JCST 31(1), 2016. A
bank keeps its registers as domains of 1024 tapes that move together under 16 ports: the register at position m of a bank
is under port m // 8 when the tape is at offset o = m % 8, so an access costs |o - current| shift steps, two a cycle, and
then a cycle. At most 4 banks shift or access per cycle; results wait in a write buffer of each bank and go before its reads;
every other bank with a request may move ahead (preshift). Twice the capacity of `sram` in 55 % of its area. A mapping
table (engine/tools/mapping.py, `rfview map`) gives the position of each register.
The bits: rows of the main register file stay at their slots, as the position decides only about time; a result is in its
write-buffer row until the tape has been written.

Oddities of the paper: 2 KB of write buffer in 16 banks is one 1024-bit entry each, "each bank has two entries": two are
kept. 256 KB in 16 banks are 128 registers per bank, section 4.3.3 says 64 under 8 ports; with 16 ports the offsets are 8,
as there, in its 8! arrangements and in Fig. 6 (B5.1). "0 < p(R)" must be 0 <= p(R). Five busy banks are drawn in section
4.4 where four may be. "44 %" of the energy gain for the framework is the sum 11 + 8 + 15 = 34 %.

Deviations and additions: 1. The write buffer takes one result per bank and cycle; its own port is apart from the tape's.
2. `forward` (B5.4) serves the head of the read queue from the newest buffered write of that register if it covers all
lanes asked for, one per bank and cycle, outside the limit on banks; else the read waits until the write is on the tape,
so nothing is ever merged. 3. A read that waits is counted as `shift` in a cycle in which its bank's tape moves, as
`bank_conflict` where the bank serves another access or waits for one of the four places. 4. Steps of a preshifting bank
count as preshift even if the bank gets a place before it is served (B5.7: demand and preshift steps are counted apart).
5. A tape moves by up to shift_steps in shift_cycles: 0.61 ns a step (Table 3) are two in a cycle of 1.43 ns (B5.10). A
movement of several cycles is finished before the tape turns round or is read; with 0 cycles a tape jumps; each step is
counted and costs energy. 6. Buffered results of a CTA that ends are dropped (B0.7): they cost no tape write.
7. The area is 55 % of `sram`'s (section 5.3); the paper gives the ratio only.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from rfview.engine.machine import registers
from rfview.engine.compile.bits import bit64, ctz64, highest64, popcount, set_bits
from rfview.engine.plugin import Design, Parameter, plural
from rfview.engine.plugin.explaining import Moment, Refusal, Trail
from rfview.engine.plugin.holding import Access, Columns, Refused
from rfview.engine.compile.device import device, inlined
from rfview.engine.events import READ_CONFLICTS, RF_WRITES
from rfview.engine.stalls import BANK_CONFLICT, FULL_BUFFER, WB_FULL, Stall
from rfview.engine.program import NUM_SRC_ROWS
from rfview.engine.state import BANK_BUSY, BANK_WRITE, FOREVER, MAX_BANKS, MAX_ROWS
from rfview.engine.tools.mapping import codes_of

MAX_ENTRIES = 4                                  # write-buffer entries per bank at most
IDLE, READ, WRITE, SHIFTING, PRESHIFTING, WAITING = range(6)
STILL, UP, DOWN = range(3)
TRACE_ROW = MAX_BANKS * MAX_ENTRIES              # of the extra rows: number of requests so far, then a ring of them
TRACE_ROWS = 16
TRACE_ENTRIES = TRACE_ROWS * 32
TRACE_IS_WRITE = 1 << 15


SHIFT = 21
STALLS = (FULL_BUFFER, Stall(
    SHIFT, "shift", "shift", "→", ">", "register_file", "The tape is not yet at the port.", "tape not at the port",
    "racetrack sections 2.2 and 2.3: the tape moves to the port before an access"))

PARAMETERS = (
    Parameter("preshift", 1, "0 or 1", "section 4.4", "a bank that is not served moves toward the head of its queue",
              high=1, is_live=True),
    Parameter("shift_cycles", 1, "cycles", "Table 3: 0.61 ns a step, a cycle of 700 MHz is 1.43",
              "of one movement; 0: tapes jump", high=1000, is_live=True),
    Parameter("shift_steps", 2, "steps", "Table 3: two steps of 0.61 ns in 1.43 ns; B5.10", "of one movement, at most",
              low=1, high=64, is_live=True),
    Parameter("ports", 16, "ports per bank", "section 4.3.3 and Fig. 6: 8 offsets; B5.1", "offsets = a bank's rows / ports",
              low=1, high=MAX_ROWS),
    Parameter("wb_entries", 2, "entries per bank", "section 5; 2 KB in all would be 1", "of the write buffer",
              low=1, high=MAX_ENTRIES),
    Parameter("forward", 0, "0 or 1", "ours: the paper is silent", "reads may be served from the write buffer",
              high=1, is_live=True),
    Parameter("mapping", "identity", "file", "section 4.3; `rfview map` writes it; Fig. 6: B5.13",
              "where each register lies in its bank; identity: in order; spread-N: in order over N ports first",
              dtype=f"({MAX_ROWS},)u2", convert=codes_of),
    Parameter("leakage_of", "bank", "bank or file", "Table 3 gives it beside the file's capacity and 16 banks; B5.11",
              "what Table 3's leakage is of, also that of the SRAM compared with", ("bank", "file"), dtype=""),
    Parameter("profile", 0, "0 or 1", "section 4.3.1: profiling", "keep the order of requests, as `rfview map` needs it",
              high=1),
)

ENTRY = np.dtype(
    [
        ("since_cycle", "i8"),        # cycle in which the result was accepted
        ("mask", "u4"),               # lanes that it writes
        ("offset", "u2"),             # offset that the tape must have
        ("warp", "u1"),
        ("reg", "u1"),
    ],
    align=True,
)
TAPE = np.dtype(
    [
        ("step_end_cycle", "i8"),     # end (exclusive) of the movement under way
        ("shifts", "u4"),             # steps while the bank had a place
        ("preshifts", "u4"),          # steps without one
        ("current", "u2"),            # offset under every port: how far the tape is shifted
        ("target", "u2"),             # offset that the head of the queue needs; = current if it is empty
        ("step", "u1"),               # STILL, or the direction of the movement under way
        ("stride", "u1"),             # its steps
        ("activity", "u1"),           # IDLE .. WAITING of the last cycle
        ("wb_first", "u1"),           # oldest entry of the write buffer
        ("wb_count", "u1"),           # entries in use
        ("wb", ENTRY, (MAX_ENTRIES,)),
    ],
    align=True,
)

STATE = (
    ("tape", TAPE, (MAX_BANKS,)),
    ("selected", "u4"),               # banks that keep a place until their request is served, a bit each
    ("busy", "u4"),                   # banks that had a place in the last cycle
    ("buffered", "u4"),               # banks with an entry in the write buffer
    ("resting", "u4"),                # banks with nothing to do and a still tape
    ("targeted", "u4"),                  # banks whose `target` is that of the head of their queue, as it still is
    ("pointer", "u4"),                # first candidate for the next free place
)

(RM_READS, RM_WRITES, SHIFTS, PRESHIFTS, WB_WRITES, WB_READS, FORWARDS) = range(7)
EVENTS = (
    ("rm_reads", "reads at a port"),
    ("rm_writes", "writes at a port"),
    ("shifts", "steps of tapes whose bank had a place: the paper's shift operations"),
    ("preshifts", "steps of the tapes of other banks"),
    ("wb_writes", "results accepted by the write buffers"),
    ("wb_reads", "entries taken from the write buffers to the tapes"),
    ("wb_forwards", "reads served from the write buffers (forward)"),
)

# Table 3; energies per access of 1024 bits and per step of all 1024 tapes of a bank; leakage per bank and of all buffers.
NUM_BANKS = 16
RM_LEAKAGE_MW, WB_LEAKAGE_MW, SRAM_LEAKAGE_MW = 7.95, 1.12, 12.31
RM_READ_PJ, RM_WRITE_PJ, SHIFT_PJ = 117.12, 173.22, 56.16
WB_READ_PJ, WB_WRITE_PJ = 15.60, 14.60
SRAM_READ_PJ, SRAM_WRITE_PJ = 218.88, 57.28
SRAM_AREA_MM2 = 0.194
AREA_OF_SRAM = 0.55

TECHNOLOGY = {
    "leakage_mw": (NUM_BANKS * RM_LEAKAGE_MW + WB_LEAKAGE_MW, "mW", "Table 3: 16 x 7.95 (B5.11), write buffers 1.12"),
    "area_mm2": (AREA_OF_SRAM * SRAM_AREA_MM2, "mm2", "section 5.3: 55 % of the SRAM's area, which is HRF's Table 1"),
    "area_of_sram": (AREA_OF_SRAM, "share of half as large an SRAM register file", "section 5.3"),
    "sram_leakage_mw": (NUM_BANKS * SRAM_LEAKAGE_MW, "mW", "Table 3: 16 banks of 12.31 (B5.11)"),
    "sram_read_pj": (SRAM_READ_PJ, "pJ", "Table 3"),
    "sram_write_pj": (SRAM_WRITE_PJ, "pJ", "Table 3"),
    "read_ns": (0.28, "ns", "Table 3"),
    "write_ns": (1.24, "ns", "Table 3: a cycle of 700 MHz is 1.43"),
    "shift_ns": (0.61, "ns", "Table 3"),
}
ENERGY_PJ = {
    "rm_reads": (RM_READ_PJ, "Table 3"),
    "rm_writes": (RM_WRITE_PJ, "Table 3"),
    "shifts": (SHIFT_PJ, "Table 3"),
    "preshifts": (SHIFT_PJ, "Table 3; energy counts every step (B5.7)"),
    "wb_writes": (WB_WRITE_PJ, "Table 3"),
    "wb_reads": (WB_READ_PJ, "Table 3"),
    "wb_forwards": (WB_READ_PJ, "Table 3"),
}


def leakage_mw(of):
    """Return the leakage of tapes with write buffers, and of the SRAM compared with, in mW; of: "bank" or "file" (B5.11)."""
    times = NUM_BANKS if of == "bank" else 1
    return times * RM_LEAKAGE_MW + WB_LEAKAGE_MW, times * SRAM_LEAKAGE_MW


def energy(run):
    """Return dynamic, leakage and refresh energy of a run in pJ (Table 3)."""
    dynamic = sum(run.counts.get(name, 0) * pj for name, (pj, _) in ENERGY_PJ.items())
    leakage = run.leakage_pj(leakage_mw(run.values.get("racetrack.leakage_of", "bank"))[0])
    return {"dynamic": dynamic, "leakage": leakage, "refresh": 0.0}


def dynamic_bound(reads_per_write: float) -> float:
    """Return racetrack's dynamic energy over SRAM's if nothing ever shifts and buffers cost nothing: the lower bound."""
    return (RM_READ_PJ * reads_per_write + RM_WRITE_PJ) / (SRAM_READ_PJ * reads_per_write + SRAM_WRITE_PJ)


def write_back(sm, rf, spec, rows, warp, reg, mask, value_row, slot):
    """Put a result into its bank's write buffer (B5.4), where it counts as written."""
    bank = registers.default_bank(sm, warp, reg)
    tape = rf.tape[bank]
    if tape.wb_count >= spec.wb_entries:
        return WB_FULL
    port = sm.bank[bank]
    if port.written != 0:
        return BANK_CONFLICT
    port.written = 1
    place = entry_at(spec, tape, np.int64(tape.wb_count))
    entry = tape.wb[place]
    entry.since_cycle = sm.cycle
    entry.mask = mask
    entry.offset = offset_of(sm, spec, registers.main_row(sm, warp, reg))
    entry.warp = warp
    entry.reg = reg
    tape.wb_count += 1
    rf.buffered = np.uint64(rf.buffered) | bit64(bank)
    rf.targeted = np.uint64(rf.targeted) & ~bit64(bank)
    registers.write_row(sm, rows, buffer_row(spec, bank, place), value_row, mask)
    sm.events[RF_WRITES] += 1
    sm.events[spec.first_event + WB_WRITES] += 1
    if spec.profile != 0:
        note_request(sm, spec, rows, registers.main_row(sm, warp, reg) | TRACE_IS_WRITE)
    registers.release(sm, warp, reg)
    return 0


def arbitrate(sm, rf, spec, rows, insts):
    """Assign free places in turn, then let every bank serve, shift or preshift (B5.2, B5.3)."""
    give_places(sm, rf)
    all_banks = bit64(sm.config.num_banks) - np.uint64(1)
    working = all_banks & (np.uint64(sm.banks_requested) | np.uint64(rf.buffered) | ~np.uint64(rf.resting))
    rf.resting = np.uint64(rf.resting) & ~working
    if spec.forward != 0:
        forward_all(sm, rf, spec, rows, insts, working)
    working &= ~target_queue_heads(sm, rf, spec, insts, working & ~np.uint64(rf.targeted))
    selected = np.uint64(rf.selected)
    if spec.shift_cycles == 0:
        jump_all(sm, rf, spec, working & selected)
    arrived, under_way = look_at_tapes(sm, rf, working)
    serving = arrived & selected
    moving = under_way | working & ~arrived & may_move(rf, spec)
    shift_tapes(sm, rf, spec, moving)
    for bank in set_bits(serving):
        serve(sm, rf, spec, rows, insts, bank)
    return refuse_others(sm, moving)


def read(sm, rf, spec, rows, warp, reg, mask, out_row):
    """Read a register that is under its port; the tape moves only for the head of its queue (B5.1)."""
    row = registers.main_row(sm, warp, reg)
    tape = rf.tape[registers.default_bank(sm, warp, reg)]
    if tape.step != STILL or tape.current != offset_of(sm, spec, row):
        return SHIFT
    registers.copy_row(rows, row, out_row)
    sm.events[spec.first_event + RM_READS] += 1
    return 0


def on_issue(sm, rf, spec, rows, slot, inst):
    """Note the order in which banks receive read requests, for the mapping (B5.5)."""
    if spec.profile != 0:
        unread = np.int64(sm.inflight[slot].unread)
        for operand in range(NUM_SRC_ROWS):
            if (unread >> operand) & 1:
                row = registers.main_row(sm, np.int64(sm.inflight[slot].warp), np.int64(inst.src[operand]))
                note_request(sm, spec, rows, row)
    return 0


def on_exit(sm, rf, spec, rows, warp):
    """Drop the buffered results of a warp that has ended (B0.7)."""
    for bank in range(sm.config.num_banks):
        drop_entries(sm, rf, spec, rows, bank, warp)
    return 0


def next_event(sm, rf, spec):
    """Return the current cycle while a tape has something to do: it continues without requests from the pipeline."""
    if rf.buffered != 0:
        return np.int64(sm.cycle)
    for bank in range(sm.config.num_banks):
        if rf.tape[bank].step != STILL:
            return np.int64(sm.cycle)
    return FOREVER


def locate(sm, rf, spec, warp, reg, lane):
    """Return the row of the newest write-buffer entry with the lane, else the register's row on the tape."""
    bank = registers.default_bank(sm, warp, reg)
    tape = rf.tape[bank]
    for back in range(np.int64(tape.wb_count)):
        age = np.int64(tape.wb_count) - 1 - back
        place = entry_at(spec, tape, age)
        entry = tape.wb[place]
        if entry.warp == warp and entry.reg == reg and (np.int64(entry.mask) >> lane) & 1:
            return buffer_row(spec, bank, place)
    return registers.main_row(sm, warp, reg)


# places and positions


@device
def offset_of(sm, spec, row):
    """Return the offset at which the register of a physical slot is under its port: o = m % (rows / ports)."""
    position = np.uint32(registers.line_of(sm, row)) ^ np.uint32(spec.mapping[row])
    return np.int64(position % num_offsets(sm, spec))


@device
def num_offsets(sm, spec):
    """Return how many registers share a port: the number of offsets of a tape. Unsigned, since that divides faster."""
    ports = np.uint32(spec.ports)
    return max(np.uint32(1), np.uint32((np.uint32(sm.config.rows_per_bank) + ports - np.uint32(1)) // ports))


@device
def buffer_row(spec, bank, place):
    """Return the value row of a write-buffer entry."""
    return np.int64(spec.first_row) + np.int64(bank) * MAX_ENTRIES + place


@inlined
def entry_at(spec, tape, age):
    """Return the place of the entry that came `age` after the oldest in a bank's write buffer, which is a ring."""
    place = np.int64(tape.wb_first) + age
    return place if place < spec.wb_entries else place - np.int64(spec.wb_entries)


@device
def note_request(sm, spec, rows, request):
    """Append a request, slot and kind, with the launch that made it, to the trace ring."""
    header = np.int64(spec.first_row) + TRACE_ROW
    count = np.int64(rows[header].u[0])
    at = count % TRACE_ENTRIES
    row = header + 1 + at // 32
    rows[row].u[at % 32] = request | (np.int64(sm.launch.index) & 0xFFFF) << 16
    rows[header].u[0] = (count + 1) & 0xFFFFFFFF
    registers.touch_row(sm, header)
    registers.touch_row(sm, row)


# arbitration


@device
def give_places(sm, rf):
    """Let banks with a request become busy, at most max_banks_per_cycle at once, in turn after the last one."""
    wanting = np.uint64(sm.banks_requested) | np.uint64(rf.buffered)
    selected = np.uint64(rf.selected) & wanting
    banks = np.int64(sm.config.num_banks)
    limit = np.int64(sm.config.max_banks_per_cycle)
    free = (banks if limit == 0 else limit) - popcount(selected)
    waiting = wanting & ~selected
    while free > 0 and waiting != 0:
        behind = waiting & ~(bit64(rf.pointer) - np.uint64(1))
        bank = ctz64(behind if behind != 0 else waiting)
        waiting &= ~bit64(bank)
        selected |= bit64(bank)
        free -= 1
        rf.pointer = bank + 1 if bank + 1 < banks else 0
    rf.selected = selected
    rf.busy = selected


@inlined
def target_queue_heads(sm, rf, spec, insts, banks):
    """Set the targets of the tapes of `banks` to the heads of their queues; return the banks that have none."""
    idle = np.uint64(0)
    for bank in set_bits(banks):
        if find_head(sm, rf, spec, insts, bank) == 0:
            idle |= bit64(bank)
            finish_last_step(sm, rf, bank)
    return idle


@device
def finish_last_step(sm, rf, bank):
    """Let a bank without work finish its current movement, then stop."""
    tape = rf.tape[bank]
    port = sm.bank[bank]
    tape.activity = IDLE
    if tape.step != STILL:
        continue_shift(sm, tape, next_offset(tape))
        port.activity = BANK_BUSY
    else:
        rf.resting = np.uint64(rf.resting) | bit64(bank)
        if port.until_cycle > sm.cycle:
            port.until_cycle = sm.cycle
    tape.target = tape.current


@inlined
def look_at_tapes(sm, rf, banks):
    """Return which of the banks are at their target and which are moving; show all as waiting for now."""
    arrived = np.uint64(0)
    under_way = np.uint64(0)
    for bank in set_bits(banks):
        tape = rf.tape[bank]
        arrived |= np.uint64(tape.current == tape.target) << np.uint64(bank)
        under_way |= np.uint64(tape.step != STILL) << np.uint64(bank)
        tape.activity = WAITING
        sm.bank[bank].queue = popcount(np.uint64(sm.bank_requests[bank]))
    return arrived & ~under_way, under_way


@inlined
def may_move(rf, spec):
    """Return the banks that may start to move: all of them with preshift, else those with a place."""
    if spec.shift_cycles == 0:
        return np.uint64(0)
    return np.uint64(rf.selected) if spec.preshift == 0 else ~np.uint64(0)


@inlined
def find_head(sm, rf, spec, insts, bank):
    """Set the target to the head of a bank's queue: the oldest buffered write, else the oldest read; 0 if neither."""
    tape = rf.tape[bank]
    port = sm.bank[bank]
    if spec.forward == 0 and (tape.wb_count != 0 or sm.bank_requests[bank] != 0):
        rf.targeted = np.uint64(rf.targeted) | bit64(bank)
    if tape.wb_count != 0:
        entry = tape.wb[np.int64(tape.wb_first)]
        tape.target = entry.offset
        port.owner_warp = entry.warp
        port.owner_reg = entry.reg
        return 1
    if sm.bank_requests[bank] == 0:
        return 0
    collector = registers.oldest_request(sm, bank)
    flight = sm.inflight[sm.collector[collector].inflight]
    reg = np.int64(insts[flight.pc].src[registers.operand_in_bank(sm, collector, bank)])
    tape.target = offset_of(sm, spec, registers.main_row(sm, np.int64(flight.warp), reg))
    port.owner_warp = flight.warp
    port.owner_reg = reg
    return 1


@inlined
def serve(sm, rf, spec, rows, insts, bank):
    """Access the register under the port; the bank returns its place."""
    tape = rf.tape[bank]
    port = sm.bank[bank]
    if tape.wb_count != 0:
        write_tape(sm, rf, spec, rows, bank)
    else:
        read_tape(sm, spec, rows, insts, bank, registers.oldest_request(sm, bank))
        tape.activity = READ
        port.queue = popcount(np.uint64(sm.bank_requests[bank]))
    port.until_cycle = sm.cycle + 1
    rf.selected = np.uint64(rf.selected) & ~bit64(bank)
    rf.targeted = np.uint64(rf.targeted) & ~bit64(bank)


@inlined
def refuse_others(sm, shifting):
    """Mark every operand that has not been served in this cycle; an instruction shows the reason of its highest bank."""
    refused = np.int64(0)
    shifts = np.int64(0)
    for collector in set_bits(sm.reading):
        banks = np.uint64(sm.collector_banks[collector])
        unread = np.uint64(sm.inflight[np.int64(sm.collector[collector].inflight)].unread)
        operands = popcount(unread)
        refused += operands
        if operands == popcount(banks):
            shifts += popcount(banks & shifting)
        else:
            shifts += operands_in(sm, collector, unread, shifting)
        highest = highest64(banks)
        registers.show_refusal(sm, collector, highest, SHIFT if shifting & bit64(highest) != 0 else BANK_CONFLICT)
    conflicts = refused - shifts
    sm.access_wait[SHIFT] += shifts
    sm.access_wait[BANK_CONFLICT] += conflicts
    sm.events[READ_CONFLICTS] += conflicts
    return 0


@device
def operands_in(sm, collector, operands, banks):
    """Return how many of a collector's `operands` are in `banks`; a bank may have several."""
    count = 0
    for operand in set_bits(operands):
        if banks & bit64(sm.collector[collector].bank[operand]) != 0:
            count += 1
    return count


@device
def write_tape(sm, rf, spec, rows, bank):
    """Move the oldest entry of a write buffer to the tape."""
    tape = rf.tape[bank]
    place = np.int64(tape.wb_first)
    entry = tape.wb[place]
    row = registers.main_row(sm, np.int64(entry.warp), np.int64(entry.reg))
    registers.write_row(sm, rows, row, buffer_row(spec, bank, place), entry.mask)
    tape.wb_first = place + 1 if place + 1 < spec.wb_entries else 0
    tape.wb_count -= 1
    if tape.wb_count == 0:
        rf.buffered = np.uint64(rf.buffered) & ~bit64(bank)
    tape.activity = WRITE
    sm.bank[bank].activity = BANK_WRITE
    sm.events[spec.first_event + WB_READS] += 1
    sm.events[spec.first_event + RM_WRITES] += 1


@inlined
def read_tape(sm, spec, rows, insts, bank, collector):
    """Read the lowest operand that the oldest instruction's collector needs from the bank: it is under its port."""
    flight = sm.inflight[sm.collector[collector].inflight]
    operand = registers.operand_in_bank(sm, collector, bank)
    row = registers.main_row(sm, np.int64(flight.warp), np.int64(insts[flight.pc].src[operand]))
    registers.copy_row(rows, row, np.int64(sm.config.first_collector_row) + collector * NUM_SRC_ROWS + operand)
    sm.events[spec.first_event + RM_READS] += 1
    return registers.operand_served(sm, insts, collector, operand, bank)


@device
def forward_all(sm, rf, spec, rows, insts, banks):
    """Let each of the banks serve a read from its write buffer if it can."""
    for bank in set_bits(banks):
        forward(sm, rf, spec, rows, insts, bank)


@device
def forward(sm, rf, spec, rows, insts, bank):
    """Serve the head of the read queue from the newest buffered write of its register, if that has all lanes."""
    tape = rf.tape[bank]
    if tape.wb_count == 0 or sm.bank_requests[bank] == 0:
        return 0
    collector = registers.oldest_request(sm, bank)
    flight = sm.inflight[sm.collector[collector].inflight]
    operand = registers.operand_in_bank(sm, collector, bank)
    reg = insts[flight.pc].src[operand]
    newest = np.int64(-1)
    for age in range(np.int64(tape.wb_count)):
        place = entry_at(spec, tape, age)
        if tape.wb[place].warp == flight.warp and tape.wb[place].reg == reg:
            newest = place
    if newest < 0 or np.int64(flight.mask) & ~np.int64(tape.wb[newest].mask) != 0:
        return 0
    out_row = np.int64(sm.config.first_collector_row) + collector * NUM_SRC_ROWS + operand
    registers.copy_row(rows, buffer_row(spec, bank, newest), out_row)
    registers.operand_served(sm, insts, collector, operand, bank)
    sm.events[spec.first_event + FORWARDS] += 1
    return 1


# movement


@device
def jump_all(sm, rf, spec, banks):
    """Move tapes to their targets at once (shift_cycles = 0); the steps are counted as if they had shifted."""
    for bank in set_bits(banks):
        tape = rf.tape[bank]
        steps = abs(np.int64(tape.target) - np.int64(tape.current))
        tape.current = tape.target
        tape.shifts += steps
        sm.events[spec.first_event + SHIFTS] += steps


@inlined
def shift_tapes(sm, rf, spec, moving):
    """Move tapes for one cycle; show until when the banks are busy.

    A movement that begins takes shift_cycles, for up to shift_steps. Computed almost without data-dependent branches, which
    would often be mispredicted.
    """
    selected = np.uint64(rf.selected)
    cycles = np.int64(spec.shift_cycles)
    most = np.int64(spec.shift_steps)
    shifted = np.int64(0)
    preshifted = np.int64(0)
    for bank in set_bits(moving):
        tape = rf.tape[bank]
        port = sm.bank[bank]
        has_place = np.int64(selected >> np.uint64(bank)) & 1
        if tape.step == STILL:
            tape.step = UP if tape.target > tape.current else DOWN
            tape.step_end_cycle = sm.cycle + cycles
            stride = min(most, abs(np.int64(tape.target) - np.int64(tape.current)))
            tape.stride = stride
            tape.shifts += has_place * stride
            tape.preshifts += (1 - has_place) * stride
            shifted += has_place * stride
            preshifted += (1 - has_place) * stride
        tape.activity = SHIFTING if has_place != 0 else PRESHIFTING
        after = next_offset(tape)
        left = abs(np.int64(tape.target) - after)
        until = np.int64(tape.step_end_cycle) + (left + most - 1) // most * cycles
        since = np.int64(port.since_cycle)
        port.since_cycle = since if port.until_cycle == until else np.int64(sm.cycle)
        port.until_cycle = until
        port.busy_code = SHIFT
        port.activity = BANK_BUSY
        continue_shift(sm, tape, after)
    sm.events[spec.first_event + SHIFTS] += shifted
    sm.events[spec.first_event + PRESHIFTS] += preshifted


@inlined
def next_offset(tape):
    """Return the tape's offset after the current movement."""
    stride = np.int64(tape.stride)
    return np.int64(tape.current) + (stride if tape.step == UP else -stride)


@inlined
def continue_shift(sm, tape, after):
    """End the current movement, which leads to offset `after`, if this is its last cycle."""
    if sm.cycle + 1 >= tape.step_end_cycle:
        tape.current = after
        tape.step = STILL


@device
def drop_entries(sm, rf, spec, rows, bank, warp):
    """Remove the entries of a warp from a bank's write buffer; younger ones move up."""
    tape = rf.tape[bank]
    count = np.int64(0)
    for age in range(np.int64(tape.wb_count)):
        place = entry_at(spec, tape, age)
        if tape.wb[place].warp != warp:
            target = entry_at(spec, tape, count)
            if target != place:
                move_entry(sm, rf, spec, rows, bank, place, target)
            count += 1
    tape.wb_count = count
    rf.targeted = np.uint64(rf.targeted) & ~bit64(bank)
    if count == 0:
        rf.buffered = np.uint64(rf.buffered) & ~bit64(bank)


@device
def move_entry(sm, rf, spec, rows, bank, place, target):
    """Copy a write-buffer entry to another place of the same buffer."""
    old = rf.tape[bank].wb[place]
    new = rf.tape[bank].wb[target]
    new.since_cycle = old.since_cycle
    new.mask = old.mask
    new.offset = old.offset
    new.warp = old.warp
    new.reg = old.reg
    registers.write_row(sm, rows, buffer_row(spec, bank, target), buffer_row(spec, bank, place), 0xFFFFFFFF)


PANELS = (
    {"kind": "grid", "title": "Offset under the ports", "field": "tape.current", "max": 15},
    {"kind": "grid", "title": "Offset wanted", "field": "tape.target", "max": 15},
    {"kind": "grid", "title": "Write buffer entries", "field": "tape.wb_count", "max": 2},
    {"kind": "values", "title": "banks with a place (bits)", "field": "busy"},
    {"kind": "values", "title": "shifts", "field": "tape.shifts", "unit": "steps"},
)

# explains refusals, on the host, never compiled

RELIEF = {"racetrack.shift_cycles": 0}


def why(trail: Trail, moment: Moment, rf: Any, refusal: Refusal) -> bool:
    """Explain a shifting tape, a bank that serves another access or waits for a place, or a full write buffer."""
    bank = refusal.bank
    if not 0 <= bank < moment.num_banks:
        return False
    tape = rf["tape"][bank]
    name = moment.name(refusal.code)
    if name == "wb_full":
        size = trail.value("racetrack.wb_entries", 2)
        trail.add(
            f"the write buffer of bank {bank} is full",
            f"{int(tape['wb_count'])} of {plural(size, 'entry')}",
            code=refusal.code,
            bank=bank,
            buffer=bank,
            slot=int(tape["wb_first"]),
        )
        first = tape["wb"][int(tape["wb_first"])]
        trail.add(
            f"first goes w{int(first['warp'])} R{int(first['reg'])}, queued {int(first['since_cycle']):,}",
            f"offset {int(first['offset'])}",
            warp=int(first["warp"]),
            since=int(first["since_cycle"]),
            bank=bank,
            buffer=bank,
            slot=int(tape["wb_first"]),
        )
    _tape(trail, moment, rf, tape, bank, refusal)
    return trail.ended


def _tape(trail: Trail, moment: Moment, rf: Any, tape: Any, bank: int, refusal: Refusal) -> None:
    """Add what the tape of a bank does, and end the chain."""
    activity = int(tape["activity"])
    current, target = int(tape["current"]), int(tape["target"])
    head = f"w{moment.bank(bank, 'owner_warp')} R{moment.bank(bank, 'owner_reg')}"
    since, until = moment.bank(bank, "since_cycle"), moment.bank(bank, "until_cycle")
    if activity in (SHIFTING, PRESHIFTING):
        steps = abs(target - current)
        trail.add(
            f"the tape of bank {bank} shifts for {head}: {plural(steps, 'step')} left",
            f"offset {current}, wanted {target}" + ("; without a place" if activity == PRESHIFTING else ""),
            code=refusal.code,
            warp=moment.bank(bank, "owner_warp"),
            since=since,
            until=max(until, moment.ran + 1),
            bank=bank,
        )
        trail.end(
            "tape",
            f"racetrack tape of bank {bank}, {pace(trail)}",
            RELIEF,
        )
    elif activity == WAITING:
        limit = moment.config["max_banks_per_cycle"]
        busy = int(rf["busy"])
        others = [str(other) for other in range(moment.num_banks) if (busy >> other) & 1]
        trail.add(
            f"bank {bank} waits for a place: {busy.bit_count()} banks are busy",
            f"banks {' '.join(others)}; {head} is next",
            code=refusal.code,
            bank=bank,
            since=moment.ran,
        )
        trail.end("bank places", f"bank places, {limit} banks at once", {"sm.max_banks_per_cycle": 0})
    elif refusal.kind == "write" and moment.bank(bank, "written") and moment.name(refusal.code) == "bank_conflict":
        trail.add(
            f"the write buffer of bank {bank} took another result",
            f"in cycle {moment.ran:,}, one per cycle",
            code=refusal.code,
            bank=bank,
            buffer=bank,
            since=moment.ran,
        )
        trail.end("write buffer port", f"write buffer of bank {bank}, one result per cycle", _more_banks(trail))
    else:
        verb = {READ: "read", WRITE: "written from its write buffer"}.get(activity, "used")
        trail.add(
            f"bank {bank} serves another access: {head} is {verb}",
            f"in cycle {moment.ran:,}; queue {moment.bank(bank, 'queue')}",
            code=refusal.code,
            warp=moment.bank(bank, "owner_warp"),
            bank=bank,
            since=moment.ran,
        )
        trail.end("bank", f"racetrack bank {bank}, one access per cycle", _more_banks(trail))


def pace(trail: Trail) -> str:
    """Return how fast tapes move: "2 steps a cycle"."""
    cycles, steps = trail.value("racetrack.shift_cycles", 1), trail.value("racetrack.shift_steps", 2)
    return f"{plural(steps, 'step')} {'a cycle' if cycles == 1 else f'in {cycles} cycles'}"


def _more_banks(trail: Trail) -> dict[str, int]:
    """Return the settings with twice as many banks of half the length."""
    banks, rows = trail.value("sm.num_banks", 16), trail.value("sm.rows_per_bank", 128)
    return {"sm.num_banks": min(32, banks * 2), "sm.rows_per_bank": max(1, rows * banks // min(32, banks * 2))}


def holder(at: Columns, refused: Refused) -> Access | None:
    """A tape shifts for the head of its bank's queue, a read or its write buffer's oldest entry; so does a full one."""
    rows, bank = refused.rows, np.clip(refused.bank, 0, MAX_BANKS - 1)
    if refused.name == "bank_conflict" and refused.kind == "write":
        return at.last_write(rows)
    first = at.rf("tape[*].wb_first")[rows, bank].astype(np.int64) % MAX_ENTRIES
    warp, reg = (at.rf(f"tape[*].wb[*].{name}").reshape(-1, MAX_BANKS, MAX_ENTRIES)[rows, bank, first].astype(np.int64)
                 for name in ("warp", "reg"))
    is_there = (refused.bank >= 0) & (at.rf("tape[*].wb_count")[rows, bank] > 0)
    if refused.name == "wb_full":
        return Access(np.where(is_there, warp, -1), np.where(is_there, reg, -1))
    owner, what = (at.sm(f"bank[*].{name}")[rows, bank].astype(np.int64) for name in ("owner_warp", "owner_reg"))
    known = refused.bank >= 0
    return Access(np.where(known, owner, -1), np.where(known, what, -1), ~(is_there & (owner == warp) & (what == reg)))


def floors(counts: Any, values: Any, config: Any) -> list[tuple[str, int, str]]:
    """Return what the places need at least: a bank holds one while it serves an access, and while its tape moves to it.

    A sub-core has no places (B12.7).
    """
    if str(values.get("sm.core", "")) == "subcore":
        return []
    limit = int(config["max_banks_per_cycle"]) or int(config["num_banks"])
    accesses = counts.get("rm_reads", 0) + counts.get("rm_writes", 0)
    moves = -(-counts.get("shifts", 0) // int(values["racetrack.shift_steps"])) * int(values["racetrack.shift_cycles"])
    return [("bank places", (accesses + moves) // limit,
             f"{accesses:,} accesses and {moves:,} cycles of shifting, {plural(limit, 'bank')} at once")]


def lifts(values: Any, config: Any) -> dict[str, str]:
    """Return what shortens waits: registers nearer to each other, more places, or longer write buffers."""
    if str(values.get("sm.core", "")) == "subcore":
        return {}
    found = {}
    if int(values["racetrack.wb_entries"]) < MAX_ENTRIES:
        found["wb_full"] = f"`--set racetrack.wb_entries={MAX_ENTRIES}`"
    if str(values["racetrack.mapping"]) == "identity":
        found["shift"] = "registers nearer to each other: `rfview map`, or `--set racetrack.mapping=spread-16` (rule B5.13)"
    if limit := int(config["max_banks_per_cycle"]):
        found["bank_conflict"] = f"`--set sm.max_banks_per_cycle=0`: any number of banks at once, in place of {limit}"
        found["bank places"] = f"less of that work, or {found['bank_conflict']}"
    return found


DESIGN = Design(
    name="racetrack",
    title="racetrack memory, 16 ports per bank, preshift",
    source="Liang & Wang, JCST 31(1), 2016",
    parameters=PARAMETERS,
    state=STATE,
    extra_rows=TRACE_ROW + 1 + TRACE_ROWS,
    settings={"sm.rows_per_bank": 128, "sm.max_banks_per_cycle": 4},
    events=EVENTS,
    stalls=STALLS,
    energy_pj=ENERGY_PJ,
    technology=TECHNOLOGY,
    panels=PANELS,
    paper_scheduler="lrr",
    paper_preset="racetrack",
    tracks=(("banks busy", "popcount(rf.busy)", 0),
            ("shifts", "event.shifts", -1)),
    places=(("tapes", ("rm_reads",), ("rm_writes",)),
            ("write buffers", ("wb_reads", "wb_forwards"), ("wb_writes",))),
    event="shift",
    lens="racetrack",
)
