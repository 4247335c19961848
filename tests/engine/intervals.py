"""`intervals`: a warp's next registers are fetched from a slow main file into a small cache before it may continue.

A foreign design for tests, after LTRF (Sadrosadati et al., ASPLOS 2018), but it finds the intervals at run time. It has
what no built-in design has: its own stall reasons in issue_check and on_leave, an arbitrate that reads the whole program,
`why`, and panels that read masks. It models delays only: all values stay in their main rows.
"""

from __future__ import annotations

import numpy as np

from rfview.engine import hooks
from rfview.engine.machine import registers
from rfview.engine.compile.bits import bit64, ctz64, popcount, set_bits
from rfview.engine.plugin import Design, Parameter
from rfview.engine.compile.device import device
from rfview.engine.program import UNIT_CTRL
from rfview.engine.stalls import BANK_CONFLICT, FIRST_FOREIGN_CODE, Stall
from rfview.engine.state import FOREVER, MAX_BANKS, MAX_WARPS

PREFETCH, SPILL = FIRST_FOREIGN_CODE, FIRST_FOREIGN_CODE + 1
IDLE, WANTS, FETCHES = 0, 1, 2

PARAMETERS = (
    Parameter("entries", 16, "registers per warp", "assumed: to be seen", "registers of an interval at most"),
    Parameter("mrf_cycles", 6, "cycles", "assumed: to be seen", "latency of a main file access; its bank is taken so long"),
)

STATE = (
    ("cached", "u8", (MAX_WARPS,)),     # registers in the warp's part of the cache
    ("dirty", "u8", (MAX_WARPS,)),
    ("to_fetch", "u8", (MAX_WARPS,)),   # registers still to be fetched
    ("ready", "i8", (MAX_WARPS,)),      # when the last fetch arrives
    ("mrf_until", "i8", (MAX_BANKS,)),  # the cycle up to which a main file bank is busy
    ("active", "u8"),                   # warps that want or fetch an interval
    ("phase", "u1", (MAX_WARPS,)),      # 0 idle, 1 wants an interval, 2 fetches
)

EVENTS = (
    ("intervals", "register intervals begun"),
    ("prefetches", "registers fetched from the main file"),
    ("spills", "dirty registers written to the main file"),
    ("mrf_results", "results that came too late for the cache"),
)
INTERVALS, PREFETCHES, SPILLS, LATE = range(4)

STALLS = (
    Stall(PREFETCH, "interval_prefetch", "prefetch", "⇓", "P", "register_file", "The next interval is being fetched."),
    Stall(SPILL, "interval_spill", "spill", "⇑", "Q", "register_file", "Dirty registers are being written back."),
)


@device
def sources(inst):
    """Return the registers that an instruction reads."""
    found = np.uint64(0)
    for k in range(len(inst.src)):
        if (inst.src_mask >> k) & 1:
            found |= bit64(inst.src[k])
    return found


@device
def begin_interval(sm, rf, spec, insts, warp):
    """Find the interval that begins at the warp's next instruction; the registers that it reads first are to be fetched."""
    pc = sm.warp[warp].pc
    regs = np.uint64(0)
    first = np.uint64(0)
    while True:
        inst = insts[pc]
        new = regs | np.uint64(inst.need_regs)
        if regs != 0 and popcount(new) > spec.entries:
            break
        first |= sources(inst) & ~regs
        regs = new
        pc += 1
        if inst.unit == UNIT_CTRL or pc >= len(insts):
            break
    for reg in set_bits(rf.dirty[warp] & ~regs):
        spill(sm, rf, spec, warp, reg)
    rf.dirty[warp] &= regs
    rf.to_fetch[warp] = first & ~rf.cached[warp]
    rf.cached[warp] = regs
    rf.ready[warp] = sm.cycle
    rf.phase[warp] = FETCHES
    sm.events[spec.first_event + INTERVALS] += 1
    return 0


@device
def spill(sm, rf, spec, warp, reg):
    """Queue a write to a main file bank."""
    bank = registers.default_bank(sm, warp, reg)
    rf.mrf_until[bank] = max(rf.mrf_until[bank], sm.cycle) + spec.mrf_cycles
    sm.events[spec.first_event + SPILLS] += 1
    return 0


def begin_cycle(sm, rf, spec, rows):
    """Fetch one register from every free main file bank."""
    for warp in set_bits(rf.active):
        if rf.phase[warp] != FETCHES:
            continue
        for reg in set_bits(rf.to_fetch[warp]):
            bank = registers.default_bank(sm, warp, reg)
            if rf.mrf_until[bank] <= sm.cycle:
                rf.mrf_until[bank] = sm.cycle + spec.mrf_cycles
                rf.ready[warp] = sm.cycle + spec.mrf_cycles
                rf.to_fetch[warp] &= ~bit64(reg)
                sm.events[spec.first_event + PREFETCHES] += 1
        if rf.to_fetch[warp] == 0 and rf.ready[warp] <= sm.cycle:
            rf.phase[warp] = IDLE
            rf.active &= ~bit64(warp)
            registers.reconsider(sm, warp)
    return 0


def arbitrate(sm, rf, spec, rows, insts):
    """Find the intervals of the warps that want one, then arbitrate as by default."""
    for warp in set_bits(rf.active):
        if rf.phase[warp] == WANTS:
            begin_interval(sm, rf, spec, insts, warp)
    return hooks.default_arbitrate(sm, rf, spec, rows, insts)


def issue_check(sm, rf, spec, rows, warp, inst):
    """Hold back an instruction until its registers are in the cache."""
    if rf.phase[warp] != IDLE:
        return PREFETCH
    if np.uint64(inst.need_regs) & ~rf.cached[warp] != 0:
        rf.phase[warp] = WANTS
        rf.active |= bit64(warp)
        return PREFETCH
    return 0


def write_back(sm, rf, spec, rows, warp, reg, mask, value_row, slot):
    """Write into the cache, or into the main file if the interval has changed."""
    bank = registers.default_bank(sm, warp, reg)
    if rf.cached[warp] & bit64(reg) != 0:
        if not registers.take_write_port(sm, bank, warp, reg):
            return BANK_CONFLICT
        rf.dirty[warp] |= bit64(reg)
    else:
        if rf.mrf_until[bank] > sm.cycle:
            return SPILL
        rf.mrf_until[bank] = sm.cycle + spec.mrf_cycles
        sm.events[spec.first_event + LATE] += 1
    registers.write_row(sm, rows, registers.main_row(sm, warp, reg), value_row, mask)
    registers.release(sm, warp, reg)
    return 0


def on_leave(sm, rf, spec, rows, warp):
    """Write the dirty registers, one per cycle."""
    if rf.dirty[warp] == 0:
        rf.cached[warp] = 0
        return 0
    reg = ctz64(rf.dirty[warp])
    rf.dirty[warp] &= ~bit64(reg)
    spill(sm, rf, spec, warp, reg)
    return SPILL


def on_warp_start(sm, rf, spec, rows, warp):
    """Begin with an empty cache."""
    rf.cached[warp] = 0
    rf.dirty[warp] = 0
    return registers.clear_warp(sm, rows, warp)


def on_exit(sm, rf, spec, rows, warp):
    """Drop the warp's cached registers and fetches."""
    rf.cached[warp] = 0
    rf.dirty[warp] = 0
    rf.phase[warp] = IDLE
    rf.active &= ~bit64(warp)
    return 0


def next_event(sm, rf, spec):
    """Prevent cycles from being skipped while a warp fetches."""
    return sm.cycle if rf.active != 0 else FOREVER


def why(trail, moment, rf, refusal):
    """Report how many registers are still to be fetched."""
    if refusal.code != PREFETCH:
        return False
    left = int(rf["to_fetch"][refusal.warp]).bit_count()
    trail.add(f"w{refusal.warp} begins an interval", f"{left} registers still to fetch", code=PREFETCH, warp=refusal.warp)
    trail.end("main file", "main register file", {"intervals.mrf_cycles": 1})
    return True


DESIGN = Design(
    name="intervals",
    title="register intervals prefetched from a slow main file",
    source="after Sadrosadati et al., LTRF, ASPLOS'18",
    parameters=PARAMETERS,
    state=STATE,
    events=EVENTS,
    stalls=STALLS,
    event="prefetch",
    paper_scheduler="two_level",
    energy_pj={
        "rf_reads": (60.0, "assumed"),
        "rf_writes": (60.0, "assumed"),
        "prefetches": (304.7, "assumed"),
        "spills": (307.2, "assumed"),
        "mrf_results": (307.2, "assumed"),
    },
    technology={"leakage_mw": (46.2, "mW", "assumed")},
    panels=(
        {"kind": "table", "title": "cached registers", "field": "cached", "show": "registers", "per": "warp"},
        {"kind": "grid", "title": "phase", "field": "phase", "glyphs": "·w⇓", "per": "warp"},
        {"kind": "values", "title": "warps fetching", "field": "active", "show": "registers"},
    ),
)
