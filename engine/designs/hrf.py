"""`hrf`: an STT-RAM main register file behind two SRAM write buffers that take turns as warps take turns.

The filling buffer takes the results of one warp, one entry per register, so that rewrites never reach STT-RAM; when
another warp writes, or the warp is suspended, it drains into STT-RAM, 4 cycles an entry, while the other one fills.
Even warps live in STT bank 0, odd ones in bank 1, and the scheduler alternates parity, so that a drain does not meet
the reads of the next warp. Paper: Li, Chen, Sun, Hoffmann, Liu, Wang, Yang, "A STT-RAM-based Low-Power Hybrid Register
File for GPGPUs", DAC'15 (HRF below). Differs from `sram`: two banks of 512 warp-registers with slow writes, one issue
per cycle, strict parity of the active warps. All 32 lanes act alike, so one entry is one warp-register.

Deviations, and what the paper leaves open:
 1. Buffers follow the write stream, not the activation: a buffer changes its owner with the first result of another
    warp, so the design also runs under lrr and gto, where every write of another warp is a switch.
 2. A result that arrives while its warp is suspended (under lrr and gto: a long-latency result of a warp that does not
    own the filling buffer) never switches: it goes into its warp's draining buffer, over the register's entry if that
    is not yet begun, else at the tail; without such a buffer into a write queue of its STT bank (4 entries, written
    after the buffers). Its register is free when the queued write has finished: no forwarding from the queue.
    `two_level` suspends warps as `switch_on_stall` does.
 3. The paper's one RCM serves the filling buffer; the draining one is searched by its stored register numbers. A read
    of a register that still drains waits until it is in STT-RAM (wb_drain).
 4. Each entry has a mask of valid lanes (39 bits per lane instead of 38; not in the leakage and area below).
 5. An STT bank has 3 read ports and one write port and serves no read while it writes; reads that wait go before the
    next write. A buffer takes 2 results per cycle, as many as the result buses bring. The paper names no ports.
 6. 512 entries per bank: the 256 of section 4.4 would be 2 KB per lane, not 4 KB. Both banks share their capacity.
 7. The values of a warp that has ended are dropped (option drain_on_exit). Waking the gated entries costs no cycles.
 8. A buffer's energy, leakage and area are those of Table 1's SRAM by bits. The RCM (448 bits) is not charged.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from rfview.engine.machine import registers
from rfview.engine.compile.bits import bit64, popcount, set_bits
from rfview.engine.plugin import Design, Parameter, Run, plural
from rfview.engine.plugin.explaining import Moment, Refusal, Trail
from rfview.engine.plugin.holding import Access, Columns, Refused
from rfview.engine.compile.device import device
from rfview.engine.events import READ_CONFLICTS, RF_WRITES
from rfview.engine.stalls import BANK_CONFLICT, SLOW_STT_WRITE, STT_WRITE, Stall
from rfview.engine.program import NUM_SRC_ROWS
from rfview.engine.state import ACTIVE, BANK_BUSY, BANK_WRITE, FOREVER, MAX_INFLIGHT, NONE8, WHEEL_SIZE

ENTRIES = 64                # per write buffer: HRF section 4.4
ALWAYS_ON = 16              # entries that are never gated: HRF section 5.2
NUM_BANKS = 2
QUEUE_ENTRIES = 4           # per bank, deviation 2
MAX_SEEN = 8                # accesses of one cycle that are kept for views

EMPTY, FILLING, DRAINING = range(3)                                   # buffer.state
NOTHING, FROM_A, FROM_B, FROM_QUEUE, ABANDONED = range(5)             # writing: what an STT bank writes
MISS, HIT, MERGED, NEW, OVERWRITE, LATE, QUEUED, DROPPED = range(8)   # seen.kind
STT = 2                                                               # seen.place: 0 and 1 are the buffers

WB_DRAIN = 18
STALLS = (SLOW_STT_WRITE, Stall(
    WB_DRAIN, "wb_drain", "drain", "↓", "D", "register_file", "No write buffer is free: one still drains.",
    "no buffer drained yet", "HRF section 4.3: a write buffer that is still draining stalls the pipeline"))

PARAMETERS = (
    Parameter("write_cycles", 4, "cycles", "HRF Table 1", "cycles of one STT-RAM array write", low=1, is_live=True),
    Parameter("read_ports", "3", "ports per STT bank", "assumed: one would lose to 16 SRAM banks, deviation 5",
              "reads an STT bank serves in a cycle", ("1", "2", "3"), is_live=True),
    Parameter("wb_write_ports", 2, "results per cycle", "assumed: as many as result buses, deviation 5",
              "results a write buffer takes in a cycle", low=1, is_live=True),
    Parameter("power_gating", 0, "0 or 1", "HRF section 5.2", "gate entries 16..63 of a buffer until a 17th is needed",
              high=1),
    Parameter("drain_on_exit", 0, "0 or 1", "assumed: dead values are dropped, deviation 7",
              "write the values of a warp that ends to STT-RAM", high=1, is_live=True),
)

BUFFER = np.dtype(
    [
        ("since_cycle", "i8"),            # first cycle of the current state
        ("gate_cycle", "i8"),             # cycle in which the gated entries were switched on
        ("order", "i8"),                  # the smaller of two draining buffers is older
        ("lanes", "u4", (ENTRIES,)),      # valid lanes of each entry
        ("reg", "u1", (ENTRIES,)),        # register number of each entry
        ("owner", "u1"),                  # warp, while the buffer is not empty
        ("state", "u1"),                  # EMPTY, FILLING, DRAINING
        ("used", "u1"),                   # entries allocated
        ("position", "u1"),               # draining: entries already in STT-RAM
        ("gate_on", "u1"),                # entries 16..63 have power (power_gating)
        ("pad", "u1", (3,)),
    ],
    align=True,
)
QUEUED_WRITE = np.dtype([("lanes", "u4"), ("warp", "u1"), ("reg", "u1"), ("pad", "u1", (2,))])   # warp NONE8 = dropped
SEEN = np.dtype([("warp", "u1"), ("reg", "u1"), ("kind", "u1"), ("place", "u1"), ("entry", "u1"), ("pad", "u1", (3,))])

STATE = (
    ("rcm_valid", "u8"),                                # registers of the filling buffer's owner that are in it
    ("seen_cycle", "i8"),                               # cycle of the accesses in `seen`
    ("buffer", BUFFER, (2,)),                           # write buffers A and B
    ("queue", QUEUED_WRITE, (NUM_BANKS, QUEUE_ENTRIES)),  # late results on their way to STT-RAM, a ring per bank
    ("switches", "i8"),                                 # times a buffer was taken, since the launch began
    ("used_histogram", "u4", (16,)),                    # periods by entries used: 0..3, 4..7, ... 60..64
    ("rcm_index", "u1", (ENTRIES,)),                    # entry of each valid register
    ("seen", SEEN, (MAX_SEEN,)),                        # reads and writes of the last cycle that had any
    ("num_seen", "u1"),
    ("turn", "u1"),                                     # buffer that is taken next when both are empty
    ("results_cycle", "i8"),                            # the last cycle in which the buffers took results
    ("results", "u1"),                                  # how many they took in it
    ("bank_writes", "u1", (NUM_BANKS,)),                # what each STT bank writes until sm.bank[b].until_cycle
    ("queue_head", "u1", (NUM_BANKS,)),
    ("queue_count", "u1", (NUM_BANKS,)),
)
EXTRA_ROWS = 2 * ENTRIES + NUM_BANKS * QUEUE_ENTRIES

EVENTS = (
    ("wb_writes", "results taken by a write buffer, overwrites included"),
    ("wb_overwrites", "of these, into an entry that held the register already"),
    ("wb_late", "of these, into the draining buffer of a suspended warp"),
    ("wb_reads", "reads that hit the filling buffer"),
    ("wb_merged_reads", "of these, with lanes from STT-RAM as well"),
    ("wb_drain_reads", "entries read out to be written to STT-RAM"),
    ("wb_dropped", "register values of ended warps that were never written to STT-RAM"),
    ("wb_switches", "times a write buffer was taken by a warp"),
    ("wb_periods", "times a write buffer stopped filling"),
    ("wb_periods_under_16", "of these, with fewer than 16 entries used"),
    ("stt_reads", "STT-RAM rows read: one with every read, in parallel with the buffer"),
    ("stt_writes", "STT-RAM rows written, by drains and from the queues"),
    ("stt_queued", "late results that went into a write queue"),
    ("gate_ons", "times the gated entries of a buffer were switched on"),
    ("gate_on_cycles", "buffer-cycles with the gated entries on, counted when they are switched off"),
)
(WB_WRITES, WB_OVERWRITES, WB_LATE, WB_READS, WB_MERGED, WB_DRAIN_READS, WB_DROPPED, WB_SWITCHES, WB_PERIODS,
 WB_PERIODS_UNDER_16, STT_READS, STT_WRITES, STT_QUEUED, GATE_ONS, GATE_ON_CYCLES) = range(len(EVENTS))

ENTRY_BITS = 38 * 32                                    # HRF section 4.4: 32-bit value and 6-bit number per lane
WB_BITS = 2 * ENTRIES * ENTRY_BITS                      # 155,648
WB_SHARE = WB_BITS / 2**20                              # of Table 1's 128 KB of SRAM
STT_LEAKAGE_MW, STT_AREA_MM2 = 16.2, 0.038
WB_LEAKAGE_MW, WB_AREA_MM2 = 248.7 * WB_SHARE, 0.194 * WB_SHARE
GATED_LEAKAGE, GATING_DYNAMIC, GATING_AREA = 0.3, 1.04, 1.16

TECHNOLOGY = {
    "leakage_mw": (STT_LEAKAGE_MW + WB_LEAKAGE_MW, "mW", "HRF Table 1: STT-RAM, and SRAM by bits for both buffers"),
    "stt_leakage_mw": (STT_LEAKAGE_MW, "mW", "HRF Table 1"),
    "wb_leakage_mw": (WB_LEAKAGE_MW, "mW", "HRF Table 1: 248.7 mW x 155,648 of 1,048,576 bits"),
    "wb_bits": (WB_BITS, "bits", "HRF section 4.4: 2 buffers x 64 entries x 38 bits x 32 lanes"),
    "area_mm2": (STT_AREA_MM2 + WB_AREA_MM2, "mm2", "HRF Table 1: STT-RAM, and SRAM by bits for both buffers"),
    "gated_leakage": (GATED_LEAKAGE, "factor", "HRF Table 2: a buffer's leakage while its 48 entries are off"),
    "gating_dynamic": (GATING_DYNAMIC, "factor", "HRF Table 2: a buffer's dynamic energy"),
    "gating_area": (GATING_AREA, "factor", "HRF Table 2: a buffer's area"),
    "node_nm": (32, "nm", "HRF Table 1"),
}
ENERGY_PJ = {
    "stt_reads": (0.239 * 1024, "HRF Table 1: 0.239 pJ/bit, 1024 bits"),
    "stt_writes": (0.300 * 1024, "HRF Table 1: 0.300 pJ/bit, 1024 bits"),
    "wb_reads": (0.203 * 1024, "HRF Table 1: SRAM 0.203 pJ/bit, 1024 bits"),
    "wb_writes": (0.191 * ENTRY_BITS, "HRF Table 1: SRAM 0.191 pJ/bit, entries of 1216 bits"),
    "wb_drain_reads": (0.203 * ENTRY_BITS, "HRF Table 1: SRAM 0.203 pJ/bit, entries of 1216 bits"),
}


def energy(run: Run) -> dict[str, float]:
    """Return dynamic, leakage and refresh energy in pJ; power gating scales the values of Table 2 for a buffer."""
    gating = bool(run.values["hrf.power_gating"])
    dynamic = 0.0
    for name, (pj, _) in ENERGY_PJ.items():
        dynamic += run.counts.get(name, 0) * pj * (GATING_DYNAMIC if gating and name.startswith("wb") else 1.0)
    leakage = run.leakage_pj(STT_LEAKAGE_MW + WB_LEAKAGE_MW)
    if gating:
        off_cycles = 2 * run.cycles - run.counts.get("gate_on_cycles", 0)
        saved_mw = WB_LEAKAGE_MW / 2 * (1 - GATED_LEAKAGE)
        leakage -= saved_mw * 1e3 * off_cycles / run.clock_mhz
    return {"dynamic": dynamic, "leakage": leakage, "refresh": 0.0}


def area_mm2(values) -> float:
    """Return the register file's area: STT-RAM, and both buffers by bits with the gates' overhead (HRF Table 2)."""
    return STT_AREA_MM2 + WB_AREA_MM2 * (GATING_AREA if values["hrf.power_gating"] else 1.0)


# --- hooks -----------------------------------------------------------------------------------------------------------


def begin_cycle(sm, rf, spec, rows):
    """End STT-RAM writes and the buffers of ended warps; freeze the pipeline while a result has no empty buffer."""
    finish_writes(sm, rf, spec, rows)
    end_warps(sm, rf, spec)
    if rf.buffer[0].state == EMPTY or rf.buffer[1].state == EMPTY:
        return 0
    return refuse_pending(sm, rf, spec)


def bank_of(sm, rf, spec, warp, reg):
    """Return the STT bank of a warp: its parity (HRF section 4.3)."""
    return stt_bank(sm, warp)


def write_back(sm, rf, spec, rows, warp, reg, mask, value_row, slot):
    """Put a result into its warp's write buffer, or into an empty one that it claims; late results go elsewhere."""
    if is_dead(sm, spec, warp):
        sm.events[RF_WRITES] += 1
        count(sm, spec, WB_DROPPED, 1)
        see(sm, rf, warp, reg, DROPPED, STT, 0)
        return registers.release(sm, warp, reg)
    if results_taken(sm, rf) >= spec.wb_write_ports:
        return BANK_CONFLICT
    target = buffer_in(rf, FILLING)
    if target < 0 or rf.buffer[target].owner != warp:
        if is_late(sm, warp, np.uint64(sm.warp[warp].sb_long) & bit64(reg) != 0):
            return write_late(sm, rf, spec, rows, warp, reg, mask, value_row)
        target = switch(sm, rf, spec, warp, target)
        if target < 0:
            return WB_DRAIN
    fill(sm, rf, spec, rows, target, reg, mask, value_row)
    return registers.release(sm, warp, reg)


def arbitrate(sm, rf, spec, rows, insts):
    """Serve up to `read_ports` reads of every bank that is not writing, the oldest instruction first."""
    limit = np.int64(sm.config.max_banks_per_cycle)
    served = np.int64(0)
    for bank in set_bits(sm.banks_requested):
        ports = np.int64(spec.read_ports) + 1
        if sm.bank[bank].until_cycle > sm.cycle or (limit > 0 and served >= limit):
            ports = np.int64(0)
        if serve_bank(sm, rf, spec, rows, insts, bank, ports) > 0:
            served += 1
    return 0


def read(sm, rf, spec, rows, warp, reg, mask, out_row):
    """Read STT-RAM and, on an RCM hit, the filling buffer in the same cycle; wait for a register that is still draining."""
    if waits_for_drain(rf, warp, reg, mask):
        return WB_DRAIN
    return fetch(sm, rf, spec, rows, warp, reg, mask, out_row)


def on_leave(sm, rf, spec, rows, warp):
    """Let the buffer of a suspended warp drain at once (HRF section 4.4, step 3); the warp may leave."""
    target = buffer_in(rf, FILLING)
    if target >= 0 and rf.buffer[target].owner == warp:
        drain(sm, rf, spec, target)
    return 0


def on_exit(sm, rf, spec, rows, warp):
    """Drop what the buffers still hold for a warp whose slot is freed; with drain_on_exit it counts as written."""
    for index in range(2):
        buffer = rf.buffer[index]
        if buffer.state != EMPTY and buffer.owner == warp:
            left = np.int64(buffer.used) - np.int64(buffer.position)
            if rf.bank_writes[stt_bank(sm, warp)] == FROM_A + index:
                left -= 1
            if spec.drain_on_exit != 0:
                count(sm, spec, STT_WRITES, left)
                count(sm, spec, WB_DRAIN_READS, left)
            drop(sm, rf, spec, index)
    return 0


def end_cycle(sm, rf, spec, rows):
    """Start the next write of every STT bank that neither writes nor was read in this cycle."""
    for bank in range(NUM_BANKS):
        if sm.bank[bank].until_cycle <= sm.cycle and sm.bank[bank].read == 0:
            start_write(sm, rf, spec, bank)
    return 0


def next_event(sm, rf, spec):
    """Return the end of the first STT-RAM write, or the current cycle if one could start."""
    event = np.int64(FOREVER)
    for bank in range(NUM_BANKS):
        until = np.int64(sm.bank[bank].until_cycle)
        if until >= sm.cycle:
            event = min(event, until)
        elif rf.bank_writes[bank] != NOTHING or rf.queue_count[bank] != 0 or oldest_drain(sm, rf, bank) >= 0:
            event = np.int64(sm.cycle)
    return event


def locate(sm, rf, spec, warp, reg, lane):
    """Return the row of a lane's newest value: a queued write, then the buffers, then STT-RAM."""
    bank = stt_bank(sm, warp)
    for place in range(np.int64(rf.queue_count[bank])):
        index = (np.int64(rf.queue_head[bank]) + place) % QUEUE_ENTRIES
        write = rf.queue[bank][index]
        if write.warp == warp and write.reg == reg and (np.int64(write.lanes) >> lane) & 1:
            return queue_row(spec, bank, index)
    row = np.int64(-1)
    order = np.int64(-1)
    for index in range(2):
        buffer = rf.buffer[index]
        if buffer.state != EMPTY and buffer.owner == warp and buffer.order > order:
            for entry in range(np.int64(buffer.position), np.int64(buffer.used)):
                if buffer.reg[entry] == reg and (np.int64(buffer.lanes[entry]) >> lane) & 1:
                    row = entry_row(spec, index, entry)
                    order = np.int64(buffer.order)
    return row if row >= 0 else registers.main_row(sm, warp, reg)


# --- places ----------------------------------------------------------------------------------------------------------


@device
def stt_bank(sm, warp):
    """Return the STT bank of a warp."""
    return np.int64(warp) % min(NUM_BANKS, np.int64(sm.config.num_banks))


@device
def entry_row(spec, index, entry):
    """Return the value row of a buffer's entry."""
    return np.int64(spec.first_row) + index * ENTRIES + np.int64(entry)


@device
def queue_row(spec, bank, index):
    """Return the value row of a queued write."""
    return np.int64(spec.first_row) + 2 * ENTRIES + bank * QUEUE_ENTRIES + np.int64(index)


@device
def count(sm, spec, event, number):
    """Add to one of the design's own events."""
    sm.events[spec.first_event + event] += number
    return 0


@device
def see(sm, rf, warp, reg, kind, place, entry):
    """Note an access for views."""
    if rf.seen_cycle != sm.cycle:
        rf.seen_cycle = sm.cycle
        rf.num_seen = 0
    if rf.num_seen < MAX_SEEN:
        seen = rf.seen[rf.num_seen]
        seen.warp = warp
        seen.reg = reg
        seen.kind = kind
        seen.place = place
        seen.entry = entry
        rf.num_seen += 1
    return 0


@device
def results_taken(sm, rf):
    """Return how many results the buffers have taken in this cycle."""
    return np.int64(rf.results) if rf.results_cycle == sm.cycle else np.int64(0)


# --- warps -----------------------------------------------------------------------------------------------------------


@device
def has_ended(sm, warp):
    """Return whether a warp has ended and read its last operands."""
    return np.uint64(sm.unfinished) & bit64(warp) == 0 and sm.collectors_of[warp] == 0


@device
def is_dead(sm, spec, warp):
    """Return whether a warp's values are dead."""
    return spec.drain_on_exit == 0 and has_ended(sm, warp)


@device
def is_late(sm, warp, is_long):
    """Return whether a result must not switch buffers: its warp is suspended, or none ever is and it comes from memory."""
    if sm.config.active_places != 0:
        return sm.warp[warp].membership != ACTIVE
    return is_long


@device
def end_warps(sm, rf, spec):
    """Drop the values of warps that have ended (deviation 7), or let them drain."""
    for index in range(2):
        buffer = rf.buffer[index]
        if buffer.state != EMPTY and has_ended(sm, np.int64(buffer.owner)):
            if spec.drain_on_exit == 0:
                drop(sm, rf, spec, index)
            elif buffer.state == FILLING:
                drain(sm, rf, spec, index)
    for bank in range(NUM_BANKS):
        if rf.queue_count[bank] != 0:
            end_queued(sm, rf, spec, bank)


@device
def end_queued(sm, rf, spec, bank):
    """Drop the queued writes of dead warps."""
    for place in range(np.int64(rf.queue_count[bank])):
        write = rf.queue[bank][(np.int64(rf.queue_head[bank]) + place) % QUEUE_ENTRIES]
        if write.warp != NONE8 and is_dead(sm, spec, np.int64(write.warp)):
            if place == 0 and rf.bank_writes[bank] == FROM_QUEUE:
                rf.bank_writes[bank] = ABANDONED
            registers.release(sm, np.int64(write.warp), np.int64(write.reg))
            write.warp = NONE8
            count(sm, spec, WB_DROPPED, 1)
    skip_dropped(rf, bank)


@device
def refuse_pending(sm, rf, spec):
    """Mark every result at write-back that needs an empty buffer; return the stall code if there is one."""
    refused = 0
    for word in range(MAX_INFLIGHT // 64):
        for low in set_bits(sm.in_write_back[word]):
            refused |= refuse_result(sm, rf, spec, word * 64 + low)
    slot = np.int64(sm.wheel[np.int64(sm.cycle) & (WHEEL_SIZE - 1)])
    while slot != NONE8:
        if sm.inflight[slot].done_cycle <= sm.cycle:
            refused |= refuse_result(sm, rf, spec, slot)
        slot = np.int64(sm.wheel_next[slot])
    return WB_DRAIN if refused != 0 else 0


@device
def refuse_result(sm, rf, spec, slot):
    """Mark a result that would switch buffers as waiting for a drain; return 1 if it does.

    Results of short latency are not offered while the pipeline is frozen, so their wait is counted here.
    """
    flight = sm.inflight[slot]
    warp = np.int64(flight.warp)
    target = buffer_in(rf, FILLING)
    if flight.unwritten == 0 or (target >= 0 and rf.buffer[target].owner == warp) or is_dead(sm, spec, warp):
        return 0
    is_long = np.uint64(sm.warp[warp].sb_long) & np.uint64(sm.unreleased[slot]) != 0
    if is_late(sm, warp, is_long):
        return 0
    if not is_long:
        sm.access_wait[WB_DRAIN] += popcount(np.uint64(flight.unwritten))
    if flight.code != WB_DRAIN:
        flight.code = WB_DRAIN
        flight.bank = stt_bank(sm, warp)
        registers.touch_inflight(sm, slot)
        registers.reconsider(sm, warp)
    return 1


# --- buffers ---------------------------------------------------------------------------------------------------------


@device
def buffer_in(rf, state):
    """Return the first buffer in a state, or -1."""
    if rf.buffer[0].state == state:
        return np.int64(0)
    return np.int64(1) if rf.buffer[1].state == state else np.int64(-1)


@device
def switch(sm, rf, spec, warp, filling):
    """Give an empty buffer to `warp` and start to drain the filling one; return the buffer, or -1 if none is empty."""
    target = np.int64(rf.turn)
    if rf.buffer[target].state != EMPTY:
        target = buffer_in(rf, EMPTY)
    if target < 0:
        return target
    if filling >= 0:
        drain(sm, rf, spec, filling)
    buffer = rf.buffer[target]
    buffer.state = FILLING
    buffer.owner = warp
    buffer.used = 0
    buffer.position = 0
    buffer.since_cycle = sm.cycle
    buffer.order = rf.switches
    rf.switches += 1
    rf.turn = 1 - target
    rf.rcm_valid = 0
    count(sm, spec, WB_SWITCHES, 1)
    return target


@device
def fill(sm, rf, spec, rows, index, reg, mask, value_row):
    """Write a result into the filling buffer: over its register's entry, or into a new one."""
    buffer = rf.buffer[index]
    entry = np.int64(rf.rcm_index[reg])
    if np.uint64(rf.rcm_valid) & bit64(reg) != 0:
        count(sm, spec, WB_OVERWRITES, 1)
        see(sm, rf, buffer.owner, reg, OVERWRITE, index, entry)
        return store(sm, rf, spec, rows, index, entry, mask, value_row)
    entry = append(sm, rf, spec, index, reg)
    rf.rcm_index[reg] = entry
    rf.rcm_valid = np.uint64(rf.rcm_valid) | bit64(reg)
    see(sm, rf, buffer.owner, reg, NEW, index, entry)
    return store(sm, rf, spec, rows, index, entry, mask, value_row)


@device
def append(sm, rf, spec, index, reg):
    """Allocate a buffer's next entry; the 17th switches the gated ones on."""
    buffer = rf.buffer[index]
    entry = np.int64(buffer.used)
    buffer.reg[entry] = reg
    buffer.lanes[entry] = 0
    buffer.used = entry + 1
    if entry == ALWAYS_ON and spec.power_gating != 0:
        buffer.gate_on = 1
        buffer.gate_cycle = sm.cycle
        count(sm, spec, GATE_ONS, 1)
    return entry


@device
def store(sm, rf, spec, rows, index, entry, mask, value_row):
    """Merge the lanes of a result into an entry."""
    buffer = rf.buffer[index]
    buffer.lanes[entry] = np.int64(buffer.lanes[entry]) | np.int64(mask)
    registers.write_row(sm, rows, entry_row(spec, index, entry), value_row, mask)
    rf.results = results_taken(sm, rf) + 1
    rf.results_cycle = sm.cycle
    sm.events[RF_WRITES] += 1
    return count(sm, spec, WB_WRITES, 1)


@device
def drain(sm, rf, spec, index):
    """Stop filling a buffer; it drains starting with its first entry."""
    end_period(sm, rf, spec, index)
    rf.buffer[index].state = DRAINING
    rf.buffer[index].since_cycle = sm.cycle


@device
def end_period(sm, rf, spec, index):
    """Record how many entries a buffer used while it filled (HRF Figure 7)."""
    used = np.int64(rf.buffer[index].used)
    rf.used_histogram[min(np.int64(15), used // 4)] += 1
    rf.rcm_valid = 0
    count(sm, spec, WB_PERIODS, 1)
    return count(sm, spec, WB_PERIODS_UNDER_16, 1 if used < ALWAYS_ON else 0)


@device
def drop(sm, rf, spec, index):
    """Empty a buffer whose values are dead; a write in progress keeps its bank busy but writes nothing."""
    buffer = rf.buffer[index]
    if buffer.state == FILLING:
        end_period(sm, rf, spec, index)
    left = np.int64(buffer.used) - np.int64(buffer.position)
    bank = stt_bank(sm, np.int64(buffer.owner))
    if rf.bank_writes[bank] == FROM_A + index:
        rf.bank_writes[bank] = ABANDONED
        left -= 1
    if spec.drain_on_exit == 0:
        count(sm, spec, WB_DROPPED, left)
    empty(sm, rf, spec, index)


@device
def empty(sm, rf, spec, index):
    """Reset a buffer; its gated entries are powered off."""
    buffer = rf.buffer[index]
    if buffer.gate_on != 0:
        buffer.gate_on = 0
        count(sm, spec, GATE_ON_CYCLES, np.int64(sm.cycle) - np.int64(buffer.gate_cycle))
    buffer.state = EMPTY
    buffer.owner = 0
    buffer.used = 0
    buffer.position = 0
    buffer.since_cycle = sm.cycle


# --- late results and reads ------------------------------------------------------------------------------------------


@device
def younger_drain(rf, warp):
    """Return the younger draining buffer of a warp, or -1."""
    youngest = np.int64(-1)
    for index in range(2):
        buffer = rf.buffer[index]
        if buffer.state == DRAINING and buffer.owner == warp:
            if youngest < 0 or buffer.order > rf.buffer[youngest].order:
                youngest = np.int64(index)
    return youngest


@device
def write_late(sm, rf, spec, rows, warp, reg, mask, value_row):
    """Accept a late result: into an entry not yet being written, at the draining buffer's tail, or into its bank's queue."""
    index = younger_drain(rf, warp)
    bank = stt_bank(sm, warp)
    if index >= 0:
        buffer = rf.buffer[index]
        first = np.int64(buffer.position) + (1 if rf.bank_writes[bank] == FROM_A + index else 0)
        entry = np.int64(-1)
        for other in range(first, np.int64(buffer.used)):
            if buffer.reg[other] == reg:
                entry = np.int64(other)
        if entry >= 0:
            count(sm, spec, WB_OVERWRITES, 1)
        elif buffer.used < ENTRIES:
            entry = append(sm, rf, spec, index, reg)
        if entry >= 0:
            count(sm, spec, WB_LATE, 1)
            see(sm, rf, warp, reg, LATE, index, entry)
            store(sm, rf, spec, rows, index, entry, mask, value_row)
            return registers.release(sm, warp, reg)
    return enqueue(sm, rf, spec, rows, bank, warp, reg, mask, value_row)


@device
def enqueue(sm, rf, spec, rows, bank, warp, reg, mask, value_row):
    """Queue a late result for its STT bank; its register stays held until it is written."""
    length = np.int64(rf.queue_count[bank])
    if length >= QUEUE_ENTRIES:
        return STT_WRITE
    index = (np.int64(rf.queue_head[bank]) + length) % QUEUE_ENTRIES
    write = rf.queue[bank][index]
    write.warp = warp
    write.reg = reg
    write.lanes = mask
    rf.queue_count[bank] = length + 1
    registers.write_row(sm, rows, queue_row(spec, bank, index), value_row, mask)
    see(sm, rf, warp, reg, QUEUED, STT, index)
    sm.events[RF_WRITES] += 1
    return count(sm, spec, STT_QUEUED, 1)


@device
def filled_entry(rf, warp, reg):
    """Return the entry of the filling buffer that the RCM finds for a register, or -1."""
    index = buffer_in(rf, FILLING)
    if index >= 0 and rf.buffer[index].owner == warp and np.uint64(rf.rcm_valid) & bit64(reg) != 0:
        return np.int64(rf.rcm_index[reg])
    return np.int64(-1)


@device
def missing_lanes(rf, warp, reg, mask):
    """Return the lanes of a read that the filling buffer does not have."""
    entry = filled_entry(rf, warp, reg)
    if entry < 0:
        return np.int64(mask)
    return np.int64(mask) & ~np.int64(rf.buffer[buffer_in(rf, FILLING)].lanes[entry])


@device
def waits_for_drain(rf, warp, reg, mask):
    """Return whether a read needs lanes of a register that is still draining and not yet in STT-RAM."""
    if younger_drain(rf, warp) < 0 or missing_lanes(rf, warp, reg, mask) == 0:
        return False
    for index in range(2):
        buffer = rf.buffer[index]
        if buffer.state == DRAINING and buffer.owner == warp:
            for entry in range(np.int64(buffer.position), np.int64(buffer.used)):
                if buffer.reg[entry] == reg:
                    return True
    return False


@device
def fetch(sm, rf, spec, rows, warp, reg, mask, out_row):
    """Read a register into a latch row: the filling buffer's lanes over those of STT-RAM."""
    entry = filled_entry(rf, warp, reg)
    registers.copy_row(rows, registers.main_row(sm, warp, reg), out_row)
    count(sm, spec, STT_READS, 1)
    if entry < 0:
        return see(sm, rf, warp, reg, MISS, STT, 0)
    index = buffer_in(rf, FILLING)
    registers.copy_lanes(rows, entry_row(spec, index, entry), out_row, np.int64(rf.buffer[index].lanes[entry]))
    is_merged = missing_lanes(rf, warp, reg, mask) != 0
    count(sm, spec, WB_READS, 1)
    count(sm, spec, WB_MERGED, 1 if is_merged else 0)
    return see(sm, rf, warp, reg, MERGED if is_merged else HIT, index, entry)


@device
def serve_bank(sm, rf, spec, rows, insts, bank, ports):
    """Serve the reads that wait for a bank, oldest instruction first, through at most `ports` ports; return how many."""
    served = np.int64(0)
    waiting = np.uint64(sm.bank_requests[bank])
    while waiting != 0:
        collector = registers.oldest_collector(sm, waiting)
        waiting &= ~bit64(collector)
        served += serve_collector(sm, rf, spec, rows, insts, bank, collector, ports - served)
    sm.bank[bank].queue = popcount(np.uint64(sm.bank_requests[bank]))
    return served


@device
def serve_collector(sm, rf, spec, rows, insts, bank, collector, ports):
    """Serve one collector's reads of a bank through at most `ports` ports; mark the others as refused."""
    unit = sm.collector[collector]
    flight = sm.inflight[unit.inflight]
    warp = np.int64(flight.warp)
    unread = np.int64(flight.unread)
    served = np.int64(0)
    for operand in range(NUM_SRC_ROWS):
        if (unread >> operand) & 1 and unit.bank[operand] == bank:
            reg = np.int64(insts[flight.pc].src[operand])
            if waits_for_drain(rf, warp, reg, flight.mask):
                refuse_read(sm, bank, unit.inflight, operand, WB_DRAIN)
            elif served >= ports:
                refuse_read(sm, bank, unit.inflight, operand, BANK_CONFLICT)
            else:
                out_row = np.int64(sm.config.first_collector_row) + collector * NUM_SRC_ROWS + operand
                fetch(sm, rf, spec, rows, warp, reg, flight.mask, out_row)
                registers.operand_served(sm, insts, collector, operand, bank)
                served += 1
    return served


@device
def refuse_read(sm, bank, slot, operand, code):
    """Mark one operand as refused in this cycle."""
    flight = sm.inflight[slot]
    flight.refused = np.int64(flight.refused) | (1 << operand)
    if flight.code != WB_DRAIN:
        flight.code = code
    flight.bank = bank
    sm.access_wait[code] += 1
    if code == BANK_CONFLICT:
        sm.events[READ_CONFLICTS] += 1
    return registers.touch_inflight(sm, slot)


# --- STT-RAM writes --------------------------------------------------------------------------------------------------


@device
def oldest_drain(sm, rf, bank):
    """Return the older buffer draining into a bank, or -1."""
    oldest = np.int64(-1)
    for index in range(2):
        buffer = rf.buffer[index]
        if buffer.state == DRAINING and stt_bank(sm, np.int64(buffer.owner)) == bank:
            if oldest < 0 or buffer.order < rf.buffer[oldest].order:
                oldest = np.int64(index)
    return oldest


@device
def start_write(sm, rf, spec, bank):
    """Start a bank's next write: the older buffer, then the younger, then the queue."""
    index = oldest_drain(sm, rf, bank)
    port = sm.bank[bank]
    if index >= 0:
        buffer = rf.buffer[index]
        rf.bank_writes[bank] = FROM_A + index
        port.owner_warp = buffer.owner
        port.owner_reg = buffer.reg[buffer.position]
        count(sm, spec, WB_DRAIN_READS, 1)
    elif rf.queue_count[bank] != 0:
        write = rf.queue[bank][rf.queue_head[bank]]
        rf.bank_writes[bank] = FROM_QUEUE
        port.owner_warp = write.warp
        port.owner_reg = write.reg
    else:
        return 0
    port.activity = BANK_WRITE
    port.written = 1
    port.busy_code = BANK_CONFLICT
    port.since_cycle = sm.cycle
    port.until_cycle = sm.cycle + spec.write_cycles
    return count(sm, spec, STT_WRITES, 1)


@device
def finish_writes(sm, rf, spec, rows):
    """End the writes whose time is over; show banks that are still writing as busy."""
    for bank in range(NUM_BANKS):
        if sm.bank[bank].until_cycle > sm.cycle:
            sm.bank[bank].activity = BANK_BUSY
        elif rf.bank_writes[bank] != NOTHING:
            kind = np.int64(rf.bank_writes[bank])
            rf.bank_writes[bank] = NOTHING
            if kind == FROM_QUEUE:
                finish_queued(sm, rf, spec, rows, bank)
            elif kind != ABANDONED:
                finish_entry(sm, rf, spec, rows, kind - FROM_A)


@device
def finish_entry(sm, rf, spec, rows, index):
    """Write a drained entry to STT-RAM; the last one empties its buffer."""
    buffer = rf.buffer[index]
    entry = np.int64(buffer.position)
    row = registers.main_row(sm, np.int64(buffer.owner), np.int64(buffer.reg[entry]))
    registers.write_row(sm, rows, row, entry_row(spec, index, entry), buffer.lanes[entry])
    buffer.position = entry + 1
    if buffer.position == buffer.used:
        empty(sm, rf, spec, index)


@device
def finish_queued(sm, rf, spec, rows, bank):
    """Write the queue's first entry to STT-RAM and free its register."""
    index = np.int64(rf.queue_head[bank])
    write = rf.queue[bank][index]
    warp = np.int64(write.warp)
    reg = np.int64(write.reg)
    registers.write_row(sm, rows, registers.main_row(sm, warp, reg), queue_row(spec, bank, index), write.lanes)
    registers.release(sm, warp, reg)
    write.warp = NONE8
    skip_dropped(rf, bank)


@device
def skip_dropped(rf, bank):
    """Remove writes that are done or dropped from the head of a queue."""
    while rf.queue_count[bank] != 0 and rf.queue[bank][rf.queue_head[bank]].warp == NONE8:
        rf.queue_head[bank] = (np.int64(rf.queue_head[bank]) + 1) % QUEUE_ENTRIES
        rf.queue_count[bank] -= 1


PANELS = (
    {"kind": "table", "title": "write buffers", "field": "buffer"},
    {"kind": "table", "title": "write queues", "field": "queue"},
    {"kind": "values", "title": "entries used at a switch", "field": "used_histogram", "unit": "times 0..3, 4..7, ..."},
    {"kind": "values", "title": "buffers taken", "field": "switches", "unit": "since the launch began"},
)

# explains refusals, on the host, never compiled

BUFFERS = "AB"


def why(trail: Trail, moment: Moment, rf: Any, refusal: Refusal) -> bool:
    """Explain a wait for a drain, for an STT bank's write, for a queue, or for a buffer's write port."""
    name = moment.name(refusal.code)
    if refusal.kind == "hold" or name == "stt_write":
        _queue(trail, moment, rf, refusal)
    elif name == "wb_drain" and refusal.kind == "read":
        _still_draining(trail, moment, rf, refusal)
    elif name == "wb_drain":
        _no_buffer(trail, moment, rf, refusal)
    elif refusal.kind == "write":
        trail.add(
            "a write buffer takes no more results in this cycle",
            f"{int(rf['results'])} taken",
            code=refusal.code,
            since=moment.ran,
        )
        ports = trail.value("hrf.wb_write_ports", 2)
        trail.end(
            "write buffer port",
            f"write ports of the write buffer, {plural(ports, 'result')} per cycle",
            {"hrf.wb_write_ports": 8},
        )
    elif 0 <= refusal.bank < NUM_BANKS and moment.bank(refusal.bank, "until_cycle") > moment.ran:
        _bank(trail, moment, rf, refusal.bank, refusal.code)
    else:
        return False
    return trail.ended


def _bank_of(moment: Moment, warp: int) -> int:
    return warp % min(NUM_BANKS, moment.num_banks)


def _bank(trail: Trail, moment: Moment, rf: Any, bank: int, code: int) -> None:
    """An STT bank writes: an entry of a draining buffer, or one of its queue."""
    cycles = trail.value("hrf.write_cycles", 4)
    trail.bank_link(moment, bank, code, "STT write")
    source = int(rf["bank_writes"][bank])
    if FROM_A <= source < FROM_QUEUE:
        _drain_link(trail, moment, rf, source - FROM_A)
    elif source == FROM_QUEUE:
        trail.add(
            "it comes from the bank's write queue",
            f"{plural(int(rf['queue_count'][bank]), 'late result')} queued",
            bank=bank,
        )
    trail.end("STT bank", f"STT-RAM bank {bank}, one write in {plural(cycles, 'cycle')}", {"hrf.write_cycles": 1})


def _drain_link(trail: Trail, moment: Moment, rf: Any, index: int) -> int:
    """Add how far a drain is and the switch that began it; return its STT bank."""
    buffer = rf["buffer"][index]
    warp, used, position = int(buffer["owner"]), int(buffer["used"]), int(buffer["position"])
    cycles = trail.value("hrf.write_cycles", 4)
    since, bank = int(buffer["since_cycle"]), _bank_of(moment, warp)
    left = used - position
    busy = moment.bank(bank, "until_cycle") - moment.ran
    trail.add(
        f"drain of w{warp}'s buffer {BUFFERS[index]}, {plural(left, 'entry')} left",
        f"{position} of {plural(used, 'entry')} written, {plural(cycles, 'cycle')} each, into bank {bank}",
        warp=warp,
        since=since,
        until=moment.ran + left * cycles - (cycles - busy if 0 < busy < cycles else 0),
        bank=bank,
        buffer=index,
        slot=position,
    )
    new = rf["buffer"][1 - index]
    if int(new["state"]) == FILLING and int(new["since_cycle"]) == since:
        owner = int(new["owner"])
        trail.add(
            f"switch at {since:,}: w{owner} took buffer {BUFFERS[1 - index]}",
            f"from w{warp}",
            warp=owner,
            since=since,
            buffer=1 - index,
        )
    else:
        is_suspended = moment.config["active_places"] != 0
        trail.add(
            f"w{warp} was suspended at {since:,}" if is_suspended else f"w{warp} gave its buffer up at {since:,}",
            "its buffer drains at once" if is_suspended else "another warp has written since",
            warp=warp,
            since=since,
            buffer=index,
        )
    return bank


def _still_draining(trail: Trail, moment: Moment, rf: Any, refusal: Refusal) -> None:
    """A read needs a register that is still in a draining buffer."""
    cycles = trail.value("hrf.write_cycles", 4)
    for index in range(2):
        buffer = rf["buffer"][index]
        if int(buffer["state"]) != DRAINING or int(buffer["owner"]) != refusal.warp:
            continue
        for entry in range(int(buffer["position"]), int(buffer["used"])):
            if int(buffer["reg"][entry]) == refusal.reg:
                ahead = entry - int(buffer["position"])
                trail.add(
                    f"R{refusal.reg} still drains: "
                    + (f"{plural(ahead, 'entry')} before it" if ahead else "it is next"),
                    f"entry {entry} of buffer {BUFFERS[index]}",
                    code=refusal.code,
                    warp=refusal.warp,
                    buffer=index,
                    slot=entry,
                    since=int(buffer["since_cycle"]),
                )
                _drain_link(trail, moment, rf, index)
                bank = _bank_of(moment, refusal.warp)
                trail.end(
                    "STT bank", f"STT-RAM bank {bank}, one write in {plural(cycles, 'cycle')}", {"hrf.write_cycles": 1}
                )
                return


def _no_buffer(trail: Trail, moment: Moment, rf: Any, refusal: Refusal) -> None:
    """A result finds no empty buffer; with a frozen pipeline, say whose."""
    cycles = trail.value("hrf.write_cycles", 4)
    if refusal.kind == "freeze":
        waiting = [flight for flight in moment.in_flight() if flight.code == refusal.code and flight.unwritten]
        if waiting:
            first = waiting[0]
            trail.add(
                f"w{first.warp}'s result R{first.result} finds no empty buffer",
                first.text,
                code=refusal.code,
                warp=first.warp,
                since=first.since_cycle,
                pc=first.pc,
            )
    draining = [index for index in range(2) if int(rf["buffer"][index]["state"]) == DRAINING]
    filling = [index for index in range(2) if int(rf["buffer"][index]["state"]) == FILLING]
    if filling:
        buffer = rf["buffer"][filling[0]]
        trail.add(
            f"buffer {BUFFERS[filling[0]]} fills with w{int(buffer['owner'])}'s results",
            f"{plural(int(buffer['used']), 'entry')} used",
            warp=int(buffer["owner"]),
            since=int(buffer["since_cycle"]),
            buffer=filling[0],
        )
    if draining:
        first_index = min(draining, key=lambda index: int(rf["buffer"][index]["order"]))
        bank = _drain_link(trail, moment, rf, first_index)
        trail.end("STT bank", f"STT-RAM bank {bank}, one write in {plural(cycles, 'cycle')}", {"hrf.write_cycles": 1})
    else:
        trail.end("write buffer", "write buffers, two of them", {"hrf.write_cycles": 1})


def _queue(trail: Trail, moment: Moment, rf: Any, refusal: Refusal) -> None:
    """A late result waits in, or for, the write queue of its bank."""
    bank, cycles = _bank_of(moment, refusal.warp), trail.value("hrf.write_cycles", 4)
    count = int(rf["queue_count"][bank])
    held = f"{count} of {QUEUE_ENTRIES} places taken"
    if refusal.kind == "hold":
        trail.add(
            f"it is in the write queue of bank {bank}",
            f"{held}; buffers drain first",
            code=refusal.code,
            warp=refusal.warp,
            bank=bank,
            buffer=2,
            slot=int(rf["queue_head"][bank]),
        )
    else:
        trail.add(
            f"the write queue of bank {bank} is full", held, code=refusal.code, warp=refusal.warp, bank=bank, buffer=2
        )
    source = int(rf["bank_writes"][bank])
    if FROM_A <= source < FROM_QUEUE:
        _drain_link(trail, moment, rf, source - FROM_A)
    elif moment.bank(bank, "until_cycle") > moment.ran:
        trail.bank_link(moment, bank, refusal.code, "STT write")
    trail.end("STT bank", f"STT-RAM bank {bank}, one write in {plural(cycles, 'cycle')}", {"hrf.write_cycles": 1})


def holder(at: Columns, refused: Refused) -> Access | None:
    """A drain waits for the entry that its STT bank writes next; a write port, for the result that had it last."""
    rows = refused.rows
    buffers = {name: at.rf(f"buffer[*].{name}")[rows] for name in ("state", "order", "owner", "position", "used")}
    if refused.name == "wb_drain":
        order = np.where(buffers["state"] == DRAINING, buffers["order"], np.iinfo(np.int64).max)
        return _entry(at, rows, buffers, order.argmin(axis=1), (buffers["state"] == DRAINING).any(axis=1))
    if refused.name == "stt_write":
        source = np.where(refused.bank >= 0, at.rf("bank_writes")[rows, np.maximum(refused.bank, 0)], NOTHING)
        from_buffer = (source == FROM_A) | (source == FROM_B)
        entry = _entry(at, rows, buffers, np.where(source == FROM_B, 1, 0), from_buffer)
        bank = np.clip(refused.bank, 0, NUM_BANKS - 1)
        first = at.rf("queue_head")[rows, bank] % QUEUE_ENTRIES
        queued = [at.rf(f"queue[*].{name}").reshape(-1, NUM_BANKS, QUEUE_ENTRIES)[rows, bank, first].astype(np.int64)
                  for name in ("warp", "reg")]
        is_queued = source == FROM_QUEUE
        return Access(np.where(is_queued, queued[0], entry.warp), np.where(is_queued, queued[1], entry.reg))
    return at.last_write(rows) if refused.kind == "write" else None


def _entry(at: Columns, rows: Any, buffers: Any, index: Any, is_there: Any) -> Access:
    """Return the entries that buffers write next to STT-RAM; -1 where there is none."""
    each = np.arange(len(rows))
    place = np.clip(buffers["position"][each, index], 0, np.maximum(buffers["used"][each, index], 1) - 1)
    reg = at.rf("buffer[*].reg").reshape(-1, 2, ENTRIES)[rows, index, np.minimum(place, ENTRIES - 1)]
    return Access(np.where(is_there, buffers["owner"][each, index].astype(np.int64), -1),
                  np.where(is_there, reg.astype(np.int64), -1))


def floors(counts: Any, values: Any, config: Any) -> list[tuple[str, int, str]]:
    """Return what the STT banks need at least: one write at a time each, and `read_ports` reads a cycle.

    Sub-cores have the banks and read ports that the core has (B12.4).
    """
    is_subcore = str(values.get("sm.core", "")) == "subcore"
    banks = int(config["num_banks"]) if is_subcore else min(NUM_BANKS, int(config["num_banks"]))
    writes, cycles = counts.get("stt_writes", 0), int(values["hrf.write_cycles"])
    reads, ports = counts.get("stt_reads", 0), banks * int(values["core.read_ports" if is_subcore else "hrf.read_ports"])
    return [("STT writes", writes * cycles // banks, f"{writes:,} writes, {cycles} cycles each, in {banks} banks"),
            ("STT reads", reads // ports, f"{reads:,} reads, {ports} a cycle")]


DESIGN = Design(
    name="hrf",
    title="2 × 64-entry buffers over STT-RAM",
    source="Li et al., A STT-RAM-based Low-Power Hybrid Register File for GPGPUs, DAC'15",
    parameters=PARAMETERS,
    state=STATE,
    extra_rows=EXTRA_ROWS,
    settings={"sm.num_schedulers": 1, "sm.num_banks": 2, "sm.rows_per_bank": 512, "scheduler.parity": "strict"},
    events=EVENTS,
    stalls=STALLS,
    energy_pj=ENERGY_PJ,
    technology=TECHNOLOGY,
    panels=PANELS,
    paper_scheduler="switch_on_stall",
    paper_preset="hrf",
    tracks=(("A used", "rf.buffer[0].used", 64),
            ("B used", "rf.buffer[1].used", 64),
            ("queued", "sum(b.queue)", 0)),
    places=(("STT-RAM", ("stt_reads",), ("stt_writes",)),
            ("write buffers", ("wb_reads", "wb_drain_reads"), ("wb_writes",))),
    lens="hrf",
)
