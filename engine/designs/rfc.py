"""`rfc`: a small register file cache (RFC) for the active warps, before any main register file (MRF).

Each active warp has a few entries, each as wide as a warp-register. Every short-latency result goes into an entry;
reads that hit are served from there, so that most values live and die without touching the MRF. A warp that leaves the
scheduler's active set first writes its live entries back. Paper: Gebhart, Johnson, Tarjan, Keckler, Dally, Lindholm,
Skadron, "Energy-efficient Mechanisms for Managing Thread Context in Throughput Processors", ISCA 2011 (RFC).
Differs from `sram`: all of it but the MRF itself, which is any other design: `rfc[main=stt]`; default `sram`.

Rules: FIFO, write hits overwrite in place (B2.1); last-use bits mark an entry dead where the SIMT mask is full (B2.2);
results of long-latency operations go to the MRF, and an entry of their destination is removed at issue (B2.3); leaving
waits for short-latency results, then writes one entry per cycle back (B2.4); the two options of section 5.3 (B2.5).

Deviations and choices of ours:
1. Tags are checked in the issue cycle, and hits are captured then: no stage is added for operands, so that back-to-back
   latency is unchanged as the paper says; branches pay their extra cycle (`sm.branch_cycles` = 1, section 3.1).
2. Entries carry a lane mask (B0.2). A read whose lanes are not all in the entry reads the MRF too, merged at the grant.
3. All hits of an instruction are read in its tag check, also where 64-bit operands make more than three rows.
4. A partial removal (B2.3) is decided by lanes: only lanes that the operation does not overwrite are written back.
5. A result that finds its warp outside the active set (bar.red, or after the exit) goes to the MRF.
6. An eviction and the result that causes it happen in one cycle; while the MRF refuses the one, the other waits. An
   entry whose register has a newer result under way is not evicted; with nothing to evict, a result goes to the MRF.
7. One result is allocated per cycle and SM (1 write port per lane); with two schedulers that limits both together.
8. "Not read before the next deactivation" (section 5.3) is found by walking the program from the instruction on, both
   ways at branches, at most WALK steps: what a compiler would put into a bit. Deactivation: an instruction marked as
   reading a long-latency result, or a barrier.
9. read_allocate skips an operand whose victim cannot be written back in the same cycle, one that is read for the last time,
   and one that comes when its warp has left the active set or ended.
10. The paper gives no leakage: it is 0 here, apart from that of another main register file.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from rfview.engine import plugin as designs, hooks
from rfview.engine.machine import registers
from rfview.engine.compile.bits import bit64, ctz64, set_bits
from rfview.engine.plugin import Design, Parameter, plural
from rfview.engine.plugin.explaining import Moment, Refusal, Trail
from rfview.engine.plugin.holding import Access, Columns, Refused
from rfview.engine.compile.device import device
from rfview.engine.isa import OP_BAR, OP_BRA, OP_BRA_UNI, OP_EXIT
from rfview.engine.program import NO_PRED, NUM_SRC_ROWS, UNIT_CTRL, UNIT_SP, WAIT_LONG
from rfview.engine.stalls import BANK_CONFLICT, SHORT_SCOREBOARD, WAIT, Stall
from rfview.engine.state import ACTIVE, LEAVING, MAX_COLLECTORS, MAX_INFLIGHT, MAX_WARPS, OUTSIDE

MAX_ENTRIES = 8
FIFO, LRU = 0, 1
SHORT = 0                            # of allocate
ALL_LANES = 0xFFFFFFFF
STAND_IN = MAX_INFLIGHT - 1          # in-flight entry that no instruction ever gets: it holds a register written back
WALK = 96                            # instructions that the walk of section 5.3 follows
GONE_WRITTEN, GONE_DEAD, GONE_CLEAN = 1, 2, 3   # of rf.out_kind


RFC_FLUSH = 22
STALLS = (Stall(
    RFC_FLUSH, "rfc_flush", "flush", "↧", "f", "register_file",
    "The warp left the active set and writes its live registers back.", "live registers to MRF",
    "RFC section 3.3: dirty entries of a suspended warp go to the main register file"),)

PARAMETERS = (
    Parameter("entries", 6, "entries per warp", "RFC section 3.1", "warp-registers that each active warp keeps",
              low=1, high=MAX_ENTRIES),
    Parameter("replacement", "fifo", "policy", "RFC section 3.1", "which entry is evicted", ("fifo", "lru"),
              is_live=True),
    Parameter("liveness", 1, "0 or 1", "RFC section 3.1", "drop values that the last-use bits say are dead",
              high=1, is_live=True),
    Parameter("read_allocate", 0, "0 or 1", "RFC section 3.1", "also allocate operands read from the main file",
              high=1, is_live=True),
    Parameter("allocate", "short", "short, all", "RFC section 3.3; 3.1 and Fig. 6: all",
              "which results are allocated: not those of long-latency operations, which go to the main file; or every one",
              ("short", "all"), is_live=True),
    Parameter("bypass", 0, "0 or 1", "RFC section 5.3", "results not read before the warp leaves go to the main file",
              high=1),
    Parameter("evict_first", 0, "0 or 1", "RFC section 5.3", "evict first what is not read before the warp leaves",
              high=1),
    Parameter("write_ports", 1, "results per cycle", "RFC Fig. 5: 3R/1W", "entries written per cycle",
              low=1, is_live=True),
    Parameter("active_warps", 8, "warps", "RFC Table 2", "warps the cache is sized for: its energy and area only",
              dtype=""),
    Parameter("mrf_mm", 0.0, "mm", "RFC Table 3: 1 mm; 0 as in Fig. 12", "wire between main file and ALUs", dtype=""),
    Parameter("rfc_mm", 0.0, "mm", "RFC Table 5: 0.2 mm; 0 as in Fig. 12", "wire between cache and ALUs", dtype=""),
)

ENTRY = np.dtype(
    [
        ("order", "i8"),              # when it was allocated (lru: used); the smallest goes first
        ("valid", "u4"),              # lanes whose newest value is here, 0 = the entry is free
        ("dirty", "u4"),              # of these, lanes that the main file does not have
        ("reg", "u1"),
        ("dead", "u1"),               # its last reader has been issued: not worth writing back
        ("far", "u1"),                # not read before the warp leaves (evict_first)
        ("evict", "u1"),              # to be written back through the next free port cycle
    ],
    align=True,
)

STATE = (
    ("holding", "u8"),                # warps with an entry
    ("flushing", "u8"),               # warps with an entry to be written back
    ("leaving", "u8"),                # warps on their way out of the active set
    ("read_cycle", "i8"),             # last tag check: cycle, warp, registers
    ("hit_regs", "u8"),
    ("missed_regs", "u8"),
    ("write_cycle", "i8"),            # last result written: cycle (and results in it), warp, register, entry
    ("out_cycle", "i8"),              # last entry given up: cycle, warp, register, how (GONE_*)
    ("left_cycle", "i8"),             # last warp that began to leave: cycle, warp, live and dead entries
    ("next_seq", "i8"),               # first instruction not yet examined for section 5.3
    ("flush_cycle", "i8", (MAX_WARPS,)),   # since when a warp's entries are to be written back
    ("entry", ENTRY, (MAX_WARPS, MAX_ENTRIES)),
    ("reads", "u4", (MAX_WARPS,)),    # operands looked up since the warp joined
    ("hits", "u4", (MAX_WARPS,)),     # of these, served by the cache alone
    ("order", "i8"),                  # order of the next allocation
    ("merging", "u4"),                # collectors with operands in `waiting`
    ("writes_in_cycle", "u4"),
    ("waiting", "u1", (MAX_COLLECTORS,)),  # operands to merge or allocate when the main file has given them
    ("is_far", "u1", (MAX_INFLIGHT,)),     # no result of this instruction is read before its warp leaves
    ("read_warp", "u1"),
    ("write_warp", "u1"),
    ("write_reg", "u1"),
    ("write_entry", "u1"),
    ("out_warp", "u1"),
    ("out_reg", "u1"),
    ("out_kind", "u1"),
    ("left_warp", "u1"),
    ("left_live", "u1"),
    ("left_dead", "u1"),
    ("pad", "u1", (6,)),
)

EVENTS = (
    ("rfc_lookups", "operands whose tags were checked"),
    ("rfc_reads", "operands served by the register file cache, wholly or in part"),
    ("rfc_partial_reads", "of these, merged with a read of the main file"),
    ("rfc_writes", "results written into the cache"),
    ("rfc_overwrites", "of these, into an entry that held the register already"),
    ("rfc_bypasses", "results written straight to the main file"),
    ("rfc_evictions", "entries written back to make room"),
    ("rfc_flushes", "entries written back as their warp left the active set"),
    ("rfc_removals", "entries written back before a long-latency operation overwrites a part"),
    ("rfc_dead", "entries dropped because their value is dead"),
    ("rfc_overtaken", "entries dropped because a long-latency operation overwrites them"),
    ("rfc_exits", "live entries dropped because their warp ended"),
    ("rfc_fills", "operands allocated as they were read (read_allocate)"),
    ("rfc_departures", "warps that left the active set"),
    ("rfc_shared_unit_reads", "of the cache's reads, those for SFU and LD/ST"),
    ("rfc_shared_unit_writes", "of the cache's writes, results of SFU and LD/ST"),
)
(LOOKUPS, READS, PARTIAL_READS, WRITES, OVERWRITES, BYPASSES, EVICTIONS, FLUSHES, REMOVALS, DEAD, OVERTAKEN, EXITS,
 FILLS, DEPARTURES, SHARED_READS, SHARED_WRITES) = range(16)

# RFC Table 2, per 128-bit access: (entries per warp, active warps) -> (area um2, read pJ, write pJ)
TABLE_2 = {
    (4, 4): (5100, 1.2, 3.8), (4, 6): (7400, 1.2, 4.4), (4, 8): (9600, 1.9, 6.1),
    (6, 4): (7400, 1.2, 4.4), (6, 6): (10800, 1.7, 5.4), (6, 8): (14300, 2.2, 6.7),
    (8, 4): (9600, 1.9, 6.1), (8, 6): (14300, 2.2, 6.7), (8, 8): (18800, 3.4, 10.9),
}
GRANULES = 8                         # 128-bit accesses of one warp-register (RFC section 2.1)
MRF_READ_PJ, MRF_WRITE_PJ = 8.0, 11.0            # per 128 bits, RFC Table 3
MRF_BANK_UM2, MRF_BANKS = 38000.0, 32            # RFC Table 3, section 2.1
WIRE_PJ_PER_MM = 1.9 * 4                         # per 128 bits, RFC Table 3: 1.9 pJ per 32 bits
ENTRY_BYTES = 4 * 32

TECHNOLOGY = {
    "rfc_area_mm2": (14300e-6 * GRANULES, "mm2", "RFC Table 2: 6 entries, 8 warps, 8 clusters"),
    "mrf_area_mm2": (MRF_BANK_UM2 * 1e-6 * MRF_BANKS, "mm2", "RFC Table 3: 32 banks"),
    "wire_pj_per_mm": (WIRE_PJ_PER_MM * GRANULES, "pJ/mm", "RFC Table 3: 1.9 pJ/mm per 32 bits"),
    "node_nm": (40, "nm", "RFC section 4.3"),
}
ENERGY_PJ = {
    "rf_reads": (MRF_READ_PJ * GRANULES, "RFC Table 3: 8 pJ per 128 bits"),
    "rf_writes": (MRF_WRITE_PJ * GRANULES, "RFC Table 3: 11 pJ per 128 bits"),
    "rfc_reads": (2.2 * GRANULES, "RFC Table 2: 6 entries, 8 warps"),
    "rfc_evictions": (2.2 * GRANULES, "RFC Table 2: read for the write-back"),
    "rfc_flushes": (2.2 * GRANULES, "RFC Table 2: read for the write-back"),
    "rfc_removals": (2.2 * GRANULES, "RFC Table 2: read for the write-back"),
    "rfc_writes": (6.7 * GRANULES, "RFC Table 2: 6 entries, 8 warps"),
    "rfc_fills": (6.7 * GRANULES, "RFC Table 2: 6 entries, 8 warps"),
}


# hooks, in cycle order


def begin_cycle(sm, rf, spec, rows):
    """Drop the entries of ended warps (B0.7), then write back one entry of a warp that leaves or overwrites (B2.3-4)."""
    for warp in set_bits(np.uint64(rf.holding) & ~np.uint64(sm.unfinished)):
        if sm.sb_read[warp] == 0:
            drop_warp(sm, rf, spec, warp)
    freeze = np.int64(hooks.begin_cycle(sm, rf.mrf, spec.mrf, rows))
    if freeze == 0 and rf.flushing != 0:
        flush(sm, rf, spec, rows)
    return freeze


def write_back(sm, rf, spec, rows, warp, reg, mask, value_row, slot):
    """Write a result into the cache, evicting if needed (B2.1), or past it into the main file."""
    entry = find(rf, warp, reg)
    is_new = entry < 0
    if is_new:
        entry = victim(sm, rf, spec, warp)
    if entry < 0 or goes_past(sm, rf, spec, warp, reg, slot) != 0:
        code = np.int64(hooks.write_back(sm, rf.mrf, spec.mrf, rows, warp, reg, mask, value_row, slot))
        if code == 0:
            sm.events[spec.first_event + BYPASSES] += 1
            uncover(rf, warp, reg, mask)
        return code
    if rf.write_cycle == sm.cycle and rf.writes_in_cycle >= spec.write_ports:
        return BANK_CONFLICT
    if is_new:
        code = vacate(sm, rf, spec, rows, warp, entry)
        if code != 0:
            return code
        take_entry(rf, warp, entry, reg)
    else:
        sm.events[spec.first_event + OVERWRITES] += 1
    place = rf.entry[warp][entry]
    lanes = np.int64(mask)
    place.valid = np.int64(place.valid) | lanes
    place.dirty = np.int64(place.dirty) | lanes
    place.dead = 0
    place.far = 1 if spec.evict_first != 0 and rf.is_far[slot] != 0 else 0
    if spec.replacement == LRU:
        touch(rf, place)
    registers.write_row(sm, rows, row_of(spec, warp, entry), value_row, mask)
    sm.events[spec.first_event + WRITES] += 1
    if sm.inflight[slot].unit != UNIT_SP:
        sm.events[spec.first_event + SHARED_WRITES] += 1
    if rf.write_cycle != sm.cycle:
        rf.write_cycle = sm.cycle
        rf.writes_in_cycle = 0
    rf.writes_in_cycle += 1
    rf.write_warp = warp
    rf.write_reg = reg
    rf.write_entry = entry
    registers.release(sm, warp, reg)
    return 0


def arbitrate(sm, rf, spec, rows, insts):
    """Let the main file serve the misses in its own way, then merge its values with lanes in the cache."""
    hooks.arbitrate(sm, rf.mrf, spec.mrf, rows, insts)
    for is_fill in range(2):
        for collector in set_bits(rf.merging):
            merge(sm, rf, spec, rows, insts, collector, is_fill)
    if spec.bypass != 0 or spec.evict_first != 0:
        look_ahead(sm, rf, spec, insts)
    return 0


def issue_check(sm, rf, spec, rows, warp, inst):
    """Hold back a long-latency operation while lanes of its destination that it keeps are only in the cache (B2.3)."""
    if passes_cache(spec, inst) and np.uint64(rf.holding) & bit64(warp) != 0:
        lanes = lanes_of(sm, warp, inst)
        waits = 0
        for row in range(inst.num_dst):
            entry = find(rf, warp, np.int64(inst.dst[row]))
            if lanes != 0 and entry >= 0 and must_write_first(sm, rf, warp, entry, inst, lanes) != 0:
                ask_eviction(sm, rf, warp, entry)
                waits = RFC_FLUSH
        if waits != 0:
            return waits
    return np.int64(hooks.issue_check(sm, rf.mrf, spec.mrf, rows, warp, inst))


def on_issue(sm, rf, spec, rows, slot, inst):
    """Check the tags of the operands (B2.1), mark last uses (B2.2), and remove a long-latency destination (B2.3)."""
    warp = np.int64(sm.inflight[slot].warp)
    if inst.src_mask != 0:
        check_tags(sm, rf, spec, rows, slot, inst)
    if not passes_cache(spec, inst):
        if inst.num_dst == 0:
            return hooks.on_issue(sm, rf.mrf, spec.mrf, rows, slot, inst)
        return 0
    for row in range(inst.num_dst):
        entry = find(rf, warp, np.int64(inst.dst[row]))
        if entry >= 0:
            if rf.entry[warp][entry].dirty != 0:
                sm.events[spec.first_event + OVERTAKEN] += 1
            forget(rf, warp, entry)
    return hooks.on_issue(sm, rf.mrf, spec.mrf, rows, slot, inst)


def on_leave(sm, rf, spec, rows, warp):
    """Wait for short-latency results, drop dead entries, and hold the warp until the live ones are written back (B2.4)."""
    rf.leaving = np.uint64(rf.leaving) | bit64(warp)
    due = results_due(sm, warp)
    if due != 0:
        return due
    if np.uint64(rf.holding) & bit64(warp) != 0:
        if np.uint64(rf.flushing) & bit64(warp) == 0:
            begin_flush(sm, rf, spec, warp)
        if np.uint64(rf.holding) & bit64(warp) != 0:
            return RFC_FLUSH
    code = np.int64(hooks.on_leave(sm, rf.mrf, spec.mrf, rows, warp))
    if code == 0:
        sm.events[spec.first_event + DEPARTURES] += 1
        rf.leaving = np.uint64(rf.leaving) & ~bit64(warp)
    return code


def on_join(sm, rf, spec, rows, warp):
    """Start with an empty cache (B2.4)."""
    rf.reads[warp] = 0
    rf.hits[warp] = 0
    return hooks.on_join(sm, rf.mrf, spec.mrf, rows, warp)


def on_warp_start(sm, rf, spec, rows, warp):
    """Start a warp with an empty cache and cleared registers."""
    drop_warp(sm, rf, spec, warp)
    rf.reads[warp] = 0
    rf.hits[warp] = 0
    return hooks.on_warp_start(sm, rf.mrf, spec.mrf, rows, warp)


def locate(sm, rf, spec, warp, reg, lane):
    """Return the entry's row for a lane that is in the cache, else the row in the main file."""
    entry = find(rf, warp, reg)
    if entry >= 0 and (np.int64(rf.entry[warp][entry].valid) >> lane) & 1 != 0:
        return row_of(spec, warp, entry)
    return hooks.locate(sm, rf.mrf, spec.mrf, warp, reg, lane)


# entries


@device
def row_of(spec, warp, entry):
    """Return the value row of an entry."""
    return np.int64(spec.first_row) + np.int64(warp) * MAX_ENTRIES + entry


@device
def find(rf, warp, reg):
    """Return the entry of a warp that holds a register, or -1."""
    if np.uint64(rf.holding) & bit64(warp) != 0:
        for entry in range(MAX_ENTRIES):
            place = rf.entry[warp][entry]
            if place.valid != 0 and place.reg == reg:
                return np.int64(entry)
    return np.int64(-1)


@device
def touch(rf, place):
    """Make an entry the youngest."""
    place.order = rf.order
    rf.order = np.int64(rf.order) + 1


@device
def take_entry(rf, warp, entry, reg):
    """Give a free entry to a register; its lanes are set with the value."""
    place = rf.entry[warp][entry]
    place.reg = reg
    place.valid = 0
    place.dirty = 0
    place.dead = 0
    place.far = 0
    place.evict = 0
    rf.holding = np.uint64(rf.holding) | bit64(warp)
    touch(rf, place)


@device
def forget(rf, warp, entry):
    """Free an entry."""
    place = rf.entry[warp][entry]
    place.valid = 0
    place.dirty = 0
    place.dead = 0
    place.far = 0
    place.evict = 0
    held = 0
    asked = 0
    for other in range(MAX_ENTRIES):
        if rf.entry[warp][other].valid != 0:
            held = 1
            if rf.entry[warp][other].evict != 0:
                asked = 1
    if held == 0:
        rf.holding = np.uint64(rf.holding) & ~bit64(warp)
    if asked == 0:
        rf.flushing = np.uint64(rf.flushing) & ~bit64(warp)


@device
def uncover(rf, warp, reg, mask):
    """Free the lanes of an entry for which the main file has a newer value."""
    entry = find(rf, warp, reg)
    if entry >= 0:
        place = rf.entry[warp][entry]
        left = np.int64(place.valid) & ~np.int64(mask)
        if left == 0:
            forget(rf, warp, entry)
            return
        place.valid = left
        place.dirty = np.int64(place.dirty) & left


@device
def drop_warp(sm, rf, spec, warp):
    """Free every entry of a warp that has ended."""
    for entry in range(MAX_ENTRIES):
        place = rf.entry[warp][entry]
        if place.valid != 0:
            if place.dirty != 0:
                sm.events[spec.first_event + (DEAD if place.dead != 0 else EXITS)] += 1
            forget(rf, warp, entry)


@device
def newer_due(sm, warp, reg):
    """Return whether a newer result of a register is in flight."""
    return np.uint64(sm.warp[warp].sb_write) & bit64(reg) != 0


@device
def is_needed(sm, warp, place):
    """Return whether an entry must be written back: dirty, not about to be overwritten, and not dead.

    A dead entry is needed as long as a collector still has to merge it.
    """
    if place.dirty == 0:
        return False
    if newer_due(sm, warp, place.reg):
        flight = sm.inflight[sm.producer[warp, place.reg]]
        if np.int64(place.dirty) & ~np.int64(flight.mask) == 0:
            return False
    return place.dead == 0 or np.uint64(sm.sb_read[warp]) & bit64(place.reg) != 0


@device
def goes_past(sm, rf, spec, warp, reg, slot):
    """Return whether a result goes straight to the main file: of a long-latency operation, or without a free entry."""
    if spec.allocate == SHORT and np.uint64(sm.warp[warp].sb_long) & bit64(reg) != 0:
        return 1
    if np.uint64(sm.unfinished) & bit64(warp) == 0:
        return 1
    if sm.config.active_places != 0 and sm.warp[warp].membership == OUTSIDE:
        return 1
    return 1 if spec.bypass != 0 and rf.is_far[slot] != 0 else 0


@device
def victim(sm, rf, spec, warp):
    """Return a free entry, else the next victim: far ones before others, then by order; -1 if there is none.

    An entry whose register has a newer result in flight stays: it is about to be overwritten in place.
    """
    best = np.int64(-1)
    for entry in range(np.int64(spec.entries)):
        place = rf.entry[warp][entry]
        if place.valid == 0:
            return np.int64(entry)
        if newer_due(sm, warp, place.reg):
            continue
        if best >= 0:
            other = rf.entry[warp][best]
            if place.far < other.far or (place.far == other.far and place.order > other.order):
                continue
        best = np.int64(entry)
    return best


@device
def vacate(sm, rf, spec, rows, warp, entry):
    """Free an entry for another register; return 0, or the main file's refusal of the value to be written back."""
    place = rf.entry[warp][entry]
    if place.valid == 0:
        return np.int64(0)
    kind = GONE_CLEAN
    if is_needed(sm, warp, place):
        code = write_main(sm, rf, spec, rows, warp, entry)
        if code != 0:
            return code
        sm.events[spec.first_event + EVICTIONS] += 1
        kind = GONE_WRITTEN
    elif place.dirty != 0:
        sm.events[spec.first_event + DEAD] += 1
        kind = GONE_DEAD
    note_out(sm, rf, warp, place.reg, kind)
    forget(rf, warp, entry)
    return np.int64(0)


@device
def note_out(sm, rf, warp, reg, kind):
    """Note the last entry freed, for views."""
    rf.out_cycle = sm.cycle
    rf.out_warp = warp
    rf.out_reg = reg
    rf.out_kind = kind


# writes back to the main file


@device
def write_main(sm, rf, spec, rows, warp, entry):
    """Write an entry's dirty lanes to the main file; return 0, or the main file's refusal.

    The write is no instruction's result: the stand-in holds its register until the main file releases it. If a newer
    result of the register is in flight, that instruction's hold is restored afterwards.
    """
    place = rf.entry[warp][entry]
    reg = np.int64(place.reg)
    bit = bit64(reg)
    state = sm.warp[warp]
    held = np.uint64(state.sb_write) & bit
    held_long = np.uint64(state.sb_long) & bit
    producer = np.int64(sm.producer[warp, reg])
    stand_in = sm.inflight[STAND_IN]
    sm.unreleased[STAND_IN] = ~np.uint64(0)
    stand_in.warp = warp
    stand_in.mask = place.dirty
    stand_in.issue_cycle = sm.cycle
    stand_in.code = RFC_FLUSH
    registers.touch_inflight(sm, STAND_IN)
    sm.producer[warp, reg] = STAND_IN
    state.sb_write = np.uint64(state.sb_write) | bit
    state.sb_long = np.uint64(state.sb_long) & ~bit
    row = row_of(spec, warp, entry)
    lanes = np.int64(place.dirty)
    code = np.int64(hooks.write_back(sm, rf.mrf, spec.mrf, rows, warp, reg, lanes, row, STAND_IN))
    if code != 0 or held != 0:
        state.sb_write = (np.uint64(state.sb_write) & ~bit) | held
        state.sb_long = np.uint64(state.sb_long) | held_long
    if np.uint64(state.sb_write) & bit == 0 or held != 0:
        sm.producer[warp, reg] = producer
    return code


@device
def ask_eviction(sm, rf, warp, entry):
    """Request that an entry is written back as soon as the port allows."""
    if np.uint64(rf.flushing) & bit64(warp) == 0:
        rf.flush_cycle[warp] = sm.cycle
        rf.flushing = np.uint64(rf.flushing) | bit64(warp)
    rf.entry[warp][entry].evict = 1


@device
def flush(sm, rf, spec, rows):
    """Write back one entry: the oldest of the warp that has waited longest."""
    warp = ctz64(rf.flushing)
    for other in set_bits(rf.flushing):
        if rf.flush_cycle[other] < rf.flush_cycle[warp]:
            warp = other
    best = np.int64(-1)
    for entry in range(MAX_ENTRIES):
        place = rf.entry[warp][entry]
        if place.evict != 0 and (best < 0 or place.order < rf.entry[warp][best].order):
            best = np.int64(entry)
    code = write_main(sm, rf, spec, rows, warp, best)
    if code != 0:
        registers.count_refused_write(sm, code)
    else:
        leaves = sm.warp[warp].membership == LEAVING
        sm.events[spec.first_event + (FLUSHES if leaves else REMOVALS)] += 1
        note_out(sm, rf, warp, rf.entry[warp][best].reg, GONE_WRITTEN)
        forget(rf, warp, best)


@device
def begin_flush(sm, rf, spec, warp):
    """Drop dead and clean entries, and request that the others are written back."""
    live = 0
    dead = 0
    for entry in range(MAX_ENTRIES):
        place = rf.entry[warp][entry]
        if place.valid != 0:
            if is_needed(sm, warp, place):
                live += 1
                ask_eviction(sm, rf, warp, entry)
            else:
                if place.dirty != 0:
                    dead += 1
                    sm.events[spec.first_event + DEAD] += 1
                forget(rf, warp, entry)
    rf.left_cycle = sm.cycle
    rf.left_warp = warp
    rf.left_live = live
    rf.left_dead = dead


@device
def results_due(sm, warp):
    """Return 0 if no short-latency result of a warp is in flight, else its stage."""
    for reg in set_bits(np.uint64(sm.warp[warp].sb_write) & ~np.uint64(sm.warp[warp].sb_long)):
        slot = np.int64(sm.producer[warp, reg])
        flight = sm.inflight[slot]
        if slot != STAND_IN and flight.unit != UNIT_CTRL:
            if flight.code != 0:
                return np.int64(flight.code)
            return np.int64(WAIT if flight.unit == UNIT_SP else SHORT_SCOREBOARD)
    return np.int64(0)


@device
def passes_cache(spec, inst):
    """Return whether an operation's results go past the cache as it takes long; not with allocate = all (section 3.1)."""
    return inst.wait_class == WAIT_LONG and spec.allocate == SHORT


@device
def lanes_of(sm, warp, inst):
    """Return the lanes in which a warp would execute its next instruction."""
    lanes = np.int64(sm.warp[warp].mask)
    if inst.guard != NO_PRED:
        value = np.int64(sm.warp_cold[warp].pred[inst.guard])
        lanes &= ~value if inst.guard_negate else value
    return lanes


@device
def must_write_first(sm, rf, warp, entry, inst, lanes):
    """Return whether an operation's destination must be written back first: for lanes it keeps, or pending merges."""
    place = rf.entry[warp][entry]
    if not is_needed(sm, warp, place):
        return 0
    if np.int64(place.dirty) & ~lanes != 0:
        return 1
    return 1 if lanes & ~np.int64(place.valid) != 0 and reads(inst, place.reg) else 0


# reads


@device
def check_tags(sm, rf, spec, rows, slot, inst):
    """Serve every operand whose needed lanes are all in the cache; the others keep waiting at their banks."""
    flight = sm.inflight[slot]
    warp = np.int64(flight.warp)
    collector = np.int64(flight.collector)
    needed = np.int64(flight.mask)
    asked = np.int64(flight.unread)
    unread = asked
    waiting = np.int64(0)
    hit_regs = np.uint64(0)
    missed_regs = np.uint64(0)
    for operand in range(NUM_SRC_ROWS):
        if (asked >> operand) & 1:
            reg = np.int64(inst.src[operand])
            entry = find(rf, warp, reg)
            sm.events[spec.first_event + LOOKUPS] += 1
            rf.reads[warp] += 1
            missed_regs |= bit64(reg)
            if entry >= 0:
                place = rf.entry[warp][entry]
                if spec.replacement == LRU:
                    touch(rf, place)
                if needed & ~np.int64(place.valid) == 0:
                    latch = sm.config.first_collector_row + collector * NUM_SRC_ROWS + operand
                    capture(sm, rf, spec, rows, warp, entry, latch)
                    unread &= ~(np.int64(1) << operand)
                    hit_regs |= bit64(reg)
                    missed_regs &= ~bit64(reg)
                    rf.hits[warp] += 1
                    count_read(sm, spec, flight.unit)
                else:
                    waiting |= np.int64(1) << operand
    if spec.read_allocate != 0:
        waiting = unread
    if unread != asked:
        registers.set_unread(sm, inst, collector, unread)
    rf.waiting[collector] = waiting
    if waiting != 0:
        rf.merging = np.int64(rf.merging) | (np.int64(1) << collector)
    mark_last_uses(sm, rf, spec, slot, inst)
    rf.read_cycle = sm.cycle
    rf.read_warp = warp
    rf.hit_regs = hit_regs
    rf.missed_regs = missed_regs


@device
def mark_last_uses(sm, rf, spec, slot, inst):
    """Mark entries dead after their last read, if no lane of the warp is elsewhere (B2.2)."""
    flight = sm.inflight[slot]
    warp = np.int64(flight.warp)
    if spec.liveness == 0 or np.int64(flight.active) | np.int64(sm.warp[warp].exited) != ALL_LANES:
        return
    for operand in range(NUM_SRC_ROWS):
        if (np.int64(inst.last_use) & np.int64(inst.src_mask)) >> operand & 1:
            entry = find(rf, warp, np.int64(inst.src[operand]))
            if entry >= 0:
                rf.entry[warp][entry].dead = 1


@device
def capture(sm, rf, spec, rows, warp, entry, out_row):
    """Copy an entry into an operand latch; the lanes it lacks are not needed, the latch shows the main file's."""
    place = rf.entry[warp][entry]
    row = row_of(spec, warp, entry)
    if place.valid == ALL_LANES:
        return registers.copy_row(rows, row, out_row)
    valid = np.int64(place.valid)
    for lane in range(32):
        source = row
        if (valid >> lane) & 1 == 0:
            source = np.int64(hooks.locate(sm, rf.mrf, spec.mrf, warp, place.reg, lane))
        rows[out_row].u[lane] = rows[source].u[lane]
    return 0


@device
def merge(sm, rf, spec, rows, insts, collector, is_fill):
    """Handle operands that the main file served in this cycle: overlay the cache's lanes on all of them, then allocate."""
    flight = sm.inflight[sm.collector[collector].inflight]
    waiting = np.int64(rf.waiting[collector])
    given = waiting & ~np.int64(flight.unread)
    if given == 0:
        return
    warp = np.int64(flight.warp)
    inst = insts[flight.pc]
    for operand in range(NUM_SRC_ROWS):
        if (given >> operand) & 1:
            reg = np.int64(inst.src[operand])
            latch = sm.config.first_collector_row + collector * NUM_SRC_ROWS + operand
            entry = find(rf, warp, reg)
            if entry >= 0 and is_fill == 0:
                overlay(sm, rf, spec, rows, warp, entry, latch, np.int64(flight.mask), flight.unit)
            elif entry < 0 and is_fill != 0 and is_worth_filling(sm, spec, warp, inst, operand):
                fill(sm, rf, spec, rows, warp, reg, latch)
    if is_fill != 0:
        rf.waiting[collector] = waiting & ~given
        if waiting == given:
            rf.merging = np.int64(rf.merging) & ~(np.int64(1) << collector)


@device
def count_read(sm, spec, unit):
    """Count a read of the cache for an instruction of a unit."""
    sm.events[spec.first_event + READS] += 1
    if unit != UNIT_SP:
        sm.events[spec.first_event + SHARED_READS] += 1


@device
def overlay(sm, rf, spec, rows, warp, entry, latch, needed, unit):
    """Replace the lanes of a latch that are newer in the cache."""
    valid = np.int64(rf.entry[warp][entry].valid)
    row = row_of(spec, warp, entry)
    for lane in range(32):
        if (valid >> lane) & 1:
            rows[latch].u[lane] = rows[row].u[lane]
    if valid & needed != 0:
        count_read(sm, spec, unit)
        sm.events[spec.first_event + PARTIAL_READS] += 1


@device
def is_worth_filling(sm, spec, warp, inst, operand):
    """Return whether an operand is allocated: of a warp in the active set, and not known to be dead (read_allocate).

    The main file may give an operand after its warp has left or ended, as the last operands of a store.
    """
    if spec.read_allocate == 0 or (spec.liveness != 0 and (np.int64(inst.last_use) >> operand) & 1 != 0):
        return False
    if np.uint64(sm.unfinished) & bit64(warp) == 0:
        return False
    return sm.config.active_places == 0 or sm.warp[warp].membership == ACTIVE


@device
def fill(sm, rf, spec, rows, warp, reg, latch):
    """Allocate an operand when it is read (section 3.1), unless the victim cannot be written back in this cycle."""
    entry = victim(sm, rf, spec, warp)
    if entry < 0:
        return
    place = rf.entry[warp][entry]
    bank = np.int64(hooks.bank_of(sm, rf.mrf, spec.mrf, warp, place.reg))
    if place.valid != 0 and is_needed(sm, warp, place) and sm.config.bank_ports == 1 and sm.bank[bank].read != 0:
        return
    if vacate(sm, rf, spec, rows, warp, entry) != 0:
        return
    take_entry(rf, warp, entry, reg)
    rf.entry[warp][entry].valid = ALL_LANES
    registers.write_row(sm, rows, row_of(spec, warp, entry), latch, ALL_LANES)
    sm.events[spec.first_event + FILLS] += 1


# section 5.3: what is not read before the warp leaves


@device
def look_ahead(sm, rf, spec, insts):
    """Determine for every instruction issued since, whether its results and operands are read before the warp leaves."""
    first = np.int64(rf.next_seq)
    for word in range(MAX_INFLIGHT // 64):
        for low in set_bits(sm.inflight_used[word]):
            slot = word * 64 + low
            if sm.inflight[slot].seq >= first:
                look_at(sm, rf, spec, insts, slot)
    rf.next_seq = sm.seq


@device
def look_at(sm, rf, spec, insts, slot):
    """Set the results of the walk for one instruction."""
    flight = sm.inflight[slot]
    inst = insts[flight.pc]
    warp = np.int64(flight.warp)
    after = np.int64(flight.pc) + 1
    is_far = 1
    for row in range(inst.num_dst):
        if read_soon(insts, after, np.int64(inst.dst[row])) != 0:
            is_far = 0
    rf.is_far[slot] = is_far
    for operand in range(NUM_SRC_ROWS):
        if spec.evict_first != 0 and (np.int64(inst.src_mask) >> operand) & 1:
            reg = np.int64(inst.src[operand])
            entry = find(rf, warp, reg)
            if entry >= 0:
                rf.entry[warp][entry].far = 1 - read_soon(insts, after, reg)


@device
def read_soon(insts, start, reg):
    """Return 1 if a register may be read before the warp next leaves, walking the program from `start`."""
    pc = np.int64(start)
    later = np.int64(0)
    num_later = 0
    for _ in range(WALK):
        inst = insts[pc]
        ended = False
        if inst.long_source != 0 or inst.op == OP_BAR:
            ended = True
        elif reads(inst, reg):
            return 1
        elif inst.guard == NO_PRED and (inst.op == OP_EXIT or np.uint64(inst.dst_regs) & bit64(reg) != 0):
            ended = True
        elif inst.op == OP_BRA or inst.op == OP_BRA_UNI:
            if inst.guard != NO_PRED:
                if num_later == 3:
                    return 1
                later = (later << 20) | np.int64(inst.target)
                num_later += 1
                pc += 1
            else:
                pc = np.int64(inst.target)
        else:
            pc += 1
        if ended:
            if num_later == 0:
                return 0
            pc = later & 0xFFFFF
            later >>= 20
            num_later -= 1
    return 1


@device
def reads(inst, reg):
    """Return whether an instruction reads a register."""
    for operand in range(NUM_SRC_ROWS):
        if (np.int64(inst.src_mask) >> operand) & 1 and inst.src[operand] == reg:
            return True
    return False


# energy and area: counted accesses x Tables 2 and 3


def access_pj(entries: int, warps: int) -> tuple[float, float]:
    """Return (read, write) pJ per 128 bits of a cache; sizes not in Table 2 are interpolated linearly (ours)."""
    if (entries, warps) in TABLE_2:
        return TABLE_2[entries, warps][1:]
    return _by_size(entries * warps, 1), _by_size(entries * warps, 2)


def cache_um2(entries: int, warps: int) -> float:
    """Return the area of one cluster's cache in um2 (RFC Table 2; other sizes linear, ours)."""
    return TABLE_2[entries, warps][0] if (entries, warps) in TABLE_2 else _by_size(entries * warps, 0)


def _by_size(size: int, column: int) -> float:
    """Interpolate a column of Table 2 over entries x warps, along the line through its ends beyond them."""
    points = sorted({e * w: row[column] for (e, w), row in TABLE_2.items()}.items())
    if not points[0][0] <= size <= points[-1][0]:
        points = [points[0], points[-1]]
    for (x0, y0), (x1, y1) in zip(points, points[1:]):
        if size <= x1 or (x1, y1) == points[-1]:
            return max(0.0, y0 + (y1 - y0) * (size - x0) / (x1 - x0))
    raise AssertionError("Table 2 has points")


def capacity_bytes(entries: int, warps: int) -> int:
    """Return the bytes of value storage of a cache for `warps` warps (RFC section 3.1)."""
    return entries * warps * ENTRY_BYTES


def energy(run):
    """Return the energy in pJ: cache and wires by RFC Tables 2 and 3, the main file by `main_energy`."""
    values, counts = run.values, run.counts
    read_pj, write_pj = access_pj(values["rfc.entries"], values["rfc.active_warps"])
    written_back = sum(counts.get(name, 0) for name in ("rfc_evictions", "rfc_flushes", "rfc_removals"))
    cache = read_pj * (counts.get("rfc_reads", 0) + written_back)
    cache += write_pj * (counts.get("rfc_writes", 0) + counts.get("rfc_fills", 0))
    shared = counts.get("rfc_shared_unit_reads", 0) + counts.get("rfc_shared_unit_writes", 0)
    wires = values["rfc.mrf_mm"] * (counts.get("rf_reads", 0) + counts.get("rfc_bypasses", 0) + shared)
    wires += values["rfc.rfc_mm"] * (counts.get("rfc_reads", 0) + counts.get("rfc_writes", 0) - shared)
    parts = main_energy(run)
    return {**parts, "dynamic": parts["dynamic"] + GRANULES * (cache + WIRE_PJ_PER_MM * wires)}


def main_energy(run):
    """Return the main file's energy in pJ: by RFC Table 3 for an SRAM, else by its own design."""
    main = main_of(run.values)
    if main == "sram":
        reads, writes = run.counts.get("rf_reads", 0), run.counts.get("rf_writes", 0)
        return {"dynamic": GRANULES * (MRF_READ_PJ * reads + MRF_WRITE_PJ * writes), "leakage": 0.0, "refresh": 0.0}
    return dict(run.main)


def main_of(values) -> str:
    """Return the main file of a run, recognised by the parameters among its values; `sram` has none."""
    return next((key.split(".")[0] for key in values if not key.startswith("rfc.")), "sram")


def normalized_energy(counts, entries: int = 6, warps: int = 8, mrf_mm: float = 0.0, rfc_mm: float = 0.0) -> float:
    """Return access and wire energy over that of the same accesses without a cache (RFC section 5.4).

    Only the wires between cache and ALUs are shorter; those to the shared units are as long as the main file's (B2.7).
    counts: events of a run over `sram`. Without a cache each operand is a read, each result a write of the main file.
    """
    read_pj, write_pj = access_pj(entries, warps)
    hits, results, past = counts["rfc_reads"], counts["rfc_writes"], counts["rfc_bypasses"]
    written_back = counts["rfc_evictions"] + counts["rfc_flushes"] + counts["rfc_removals"]
    reads, writes = counts["rf_reads"], counts["rf_writes"]
    used = MRF_READ_PJ * reads + MRF_WRITE_PJ * writes + read_pj * (hits + written_back) + write_pj * results
    shared = counts["rfc_shared_unit_reads"] + counts["rfc_shared_unit_writes"]
    used += WIRE_PJ_PER_MM * (mrf_mm * (reads + past + shared) + rfc_mm * (hits + results - shared))
    plain_reads, plain_writes = reads + hits - counts["rfc_partial_reads"], results + past
    plain = MRF_READ_PJ * plain_reads + MRF_WRITE_PJ * plain_writes
    plain += WIRE_PJ_PER_MM * mrf_mm * (plain_reads + plain_writes)
    return used / plain


def area_mm2(values) -> float:
    """Return the area in mm2: RFC Tables 2 and 3 over an SRAM, else the cache plus the main file's own figure."""
    cache = cache_um2(values["rfc.entries"], values["rfc.active_warps"]) * GRANULES * 1e-6
    main = main_of(values)
    if main == "sram":
        return cache + MRF_BANK_UM2 * 1e-6 * MRF_BANKS
    module = designs.find(main)
    own = getattr(module, "area_mm2", None)
    return cache + (own(values) if own else (module.DESIGN.technology or {}).get("area_mm2", (0.0, "", ""))[0])


PANELS = (
    {"kind": "grid", "title": "Register file cache: lanes held", "field": "entry.valid", "per": "warp"},
    {"kind": "table", "title": "operands looked up", "field": "reads", "per": "warp"},
    {"kind": "table", "title": "of these served", "field": "hits", "per": "warp"},
)

# explains refusals, on the host, never compiled


def why(trail: Trail, moment: Moment, rf: Any, refusal: Refusal) -> bool:
    """Explain a write-back to the main register file, or results competing for the cache's write port."""
    name = moment.name(refusal.code)
    if name == "rfc_flush":
        _flush(trail, moment, rf, refusal)
        return True
    if name == "bank_conflict" and refusal.kind == "write" and int(rf["write_cycle"]) == moment.ran:
        ports = trail.value("rfc.write_ports", 1)
        held_long = (moment.warp(refusal.warp, "sb_long") >> max(0, refusal.reg)) & 1
        if int(rf["writes_in_cycle"]) >= ports and not held_long:
            trail.add(
                f"the cache took w{int(rf['write_warp'])} R{int(rf['write_reg'])} in this cycle",
                f"{plural(ports, 'result')} per cycle",
                code=refusal.code,
                warp=int(rf["write_warp"]),
                since=moment.ran,
                buffer=int(rf["write_warp"]),
                slot=int(rf["write_entry"]),
            )
            trail.end(
                "RFC port",
                f"write port of the register file cache, {plural(ports, 'result')} per cycle",
                {"rfc.write_ports": 8},
            )
            return True
    return False


def _waiting(rf: Any, warp: int) -> list[int]:
    """Return the entries of a warp that are still to be written back, in their order."""
    entries = rf["entry"][warp]
    indices = [index for index in range(len(entries)) if int(entries[index]["evict"]) and int(entries[index]["valid"])]
    return sorted(indices, key=lambda index: int(entries[index]["order"]))


def _flush(trail: Trail, moment: Moment, rf: Any, refusal: Refusal) -> None:
    """Explain entries that wait to be written to the main register file, after those of warps that asked earlier."""
    warp = refusal.warp
    own = _waiting(rf, warp)
    flushing = int(rf["flushing"])
    since = int(rf["flush_cycle"][warp])
    before = [
        other
        for other in range(moment.num_warps)
        if (flushing >> other) & 1 and other != warp and int(rf["flush_cycle"][other]) <= since
    ]
    regs = " ".join(f"R{int(rf['entry'][warp][index]['reg'])}" for index in own)
    total = len(own) + sum(len(_waiting(rf, other)) for other in before)
    for_what = "as it leaves" if refusal.kind == "leave" else "before they are overwritten"
    sentence = (
        f"{plural(len(own), 'live entry')} of w{warp} to write back {for_what}"
        if own
        else f"w{warp}'s last entry was written back"
    )
    trail.add(
        sentence,
        f"{regs}; one per cycle" if own else "",
        code=refusal.code,
        warp=warp,
        since=since if own else -1,
        until=moment.ran + 1 + total,
        buffer=warp,
        slot=own[0] if own else -1,
    )
    if before:
        trail.add(
            f"w{before[0]} is written back first",
            f"{plural(total - len(own), 'entry')} before it",
            warp=before[0],
            since=int(rf["flush_cycle"][before[0]]),
            until=moment.ran + 1 + total - len(own),
            buffer=before[0],
        )
    inner = "main register file" if len(moment.info.design_spec.chain) > 1 else "register file"
    if int(rf["out_cycle"]) != moment.ran and own:
        bank = _bank_of(moment, warp, int(rf["entry"][warp][own[0]]["reg"]))
        if moment.bank(bank, "until_cycle") > moment.ran or moment.bank(bank, "written"):
            code = 10 if moment.bank(bank, "until_cycle") <= moment.ran else moment.bank(bank, "busy_code")
            trail.refused(moment, replace(refusal, kind="write", code=code, warp=warp, reg=-1, bank=bank, flight=None))
            return
    trail.end(
        "RFC port", f"write-back port from the register file cache to the {inner}, one entry per cycle", {"rfc.entries": 1}
    )


def _bank_of(moment: Moment, warp: int, reg: int) -> int:
    """Return the main file's bank of a register, under the configured mapping."""
    slot = moment.warp(warp, "reg_base") + reg
    return int(registers.interleaved(moment.config["mapping"], slot, warp, reg)) % moment.num_banks


def holder(at: Columns, refused: Refused) -> Access | None:
    """A flush is held by the entry that left the cache in this cycle; a result, by the one that took the write port."""
    rows = refused.rows
    if refused.name == "rfc_flush" or refused.kind == "leave":
        gone = (at.rf("out_cycle")[rows] == at.ran[rows]) | (refused.name != "rfc_flush")   # the main file is slower
        return Access(np.where(gone, at.rf("out_warp")[rows].astype(np.int64), -1),
                      np.where(gone, at.rf("out_reg")[rows].astype(np.int64), -1))
    if refused.name == "bank_conflict" and refused.kind == "write":
        taken = at.rf("write_cycle")[rows] == at.ran[rows]
        return Access(np.where(taken, at.rf("write_warp")[rows].astype(np.int64), -1),
                      np.where(taken, at.rf("write_reg")[rows].astype(np.int64), -1))
    return None


def floors(counts: Any, values: Any, config: Any) -> list[tuple[str, int, str]]:
    """Return what the cache's write port needs at least; a sub-core has none (B12.8)."""
    if str(values.get("sm.core", "")) == "subcore":
        return []
    writes, ports = counts.get("rfc_writes", 0), int(values["rfc.write_ports"])
    return [("write port of the cache", -(-writes // ports), f"{writes:,} results, {ports} a cycle")]


def lifts(values: Any, config: Any) -> dict[str, str]:
    """Return what shortens bank_conflict, which is mostly results that wait for the cache's write port."""
    if str(values.get("sm.core", "")) == "subcore":
        return {}
    ports, buses = int(values["rfc.write_ports"]), int(config["result_buses"])
    if ports >= buses:
        return {}
    said = f"`--set rfc.write_ports={buses}`: the pipes bring up to {buses} results a cycle, and the cache takes {ports}"
    return {"bank_conflict": said, "write port of the cache": f"less of that work, or {said}"}


DESIGN = Design(
    name="rfc",
    title="register file cache",
    source="RFC, ISCA'11",
    parameters=PARAMETERS,
    state=STATE,
    extra_rows=MAX_WARPS * MAX_ENTRIES,
    settings={"sm.branch_cycles": 1},
    events=EVENTS,
    stalls=STALLS,
    energy_pj=ENERGY_PJ,
    technology=TECHNOLOGY,
    panels=PANELS,
    takes_main=True,
    paper_scheduler="two_level",
    paper_preset="gebhart",
    tracks=(("in RFC", "popcount(rf.holding)", 0),
            ("flushing", "popcount(rf.flushing)", 0)),
    places=(("cache", ("rfc_reads", "rfc_evictions", "rfc_flushes", "rfc_removals"), ("rfc_writes", "rfc_fills")),),
    event="flush",
    lens="rfc",
)
