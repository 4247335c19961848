"""`hcrf` on the sub-core: a pair is two registers of a warp and bank; an exchange starts in Allocate (B12.5)."""

from __future__ import annotations

import numpy as np

from rfview.engine.compile.device import device
from rfview.engine.designs.hcrf import (EARLY_TRANSFERS, LATE_TRANSFERS, MERGE_READS, OFF, RMW, S_READS, S_WRITES, SRAM,
                                        STT, T_READS, T_WRITES, X_TRANSFER, X_TRANSFERS, covers, flip, has, slow_cycles)
from rfview.engine.machine import registers
from rfview.engine.state import MAX_ROWS

MEANING = ("registers n and n + 2 of a warp share hybrid cells; a result for the STT side exchanges the two, which an "
           "instruction of fixed latency starts in Allocate, before it has its result")
PAIRS = MAX_ROWS // 2
STATE = (
    ("exchanged", "u8", (PAIRS // 64,)),      # a bit per pair: its upper register is in SRAM
    ("until_cycle", "i8", (PAIRS,)),          # per pair: its transfer, or write to come, is over
)
WRITTEN_AFTER = 8       # cycles from Allocate to the write of a four-cycle result (assumed for all)


def read_cycles(sm, rf, spec, warp, reg, is_float):
    """Read whichever cells hold the register."""
    sm.events[spec.first_event + (T_READS if place_of(sm, rf, warp, reg) == STT else S_READS)] += 1
    return 1


def write_cycles(sm, rf, spec, warp, reg, lanes, is_late, is_float):
    """Write SRAM cells; where the register is in STT-RAM, exchange the pair first, or T-Write a result of some lanes."""
    pair = pair_of(sm, warp, reg)
    is_busy = rf.until_cycle[pair] > sm.cycle
    if place_of(sm, rf, warp, reg) == STT:
        is_whole = covers(sm, warp, lanes)
        if spec.remap == OFF or not is_whole and spec.partial != RMW:
            sm.events[spec.first_event + T_WRITES] += 1
            return slow_cycles(sm, spec, np.int64(spec.t_write_cycles))
        if is_busy:
            return -X_TRANSFER
        if not is_whole:
            sm.events[spec.first_event + MERGE_READS] += 1
            sm.events[spec.first_event + T_READS] += 1
        cycles = slow_cycles(sm, spec, np.int64(spec.x_transfer_cycles))
        flip(rf.exchanged, pair)
        rf.until_cycle[pair] = sm.cycle + cycles
        is_early = is_late == 0 and spec.early_remap != OFF
        sm.events[spec.first_event + X_TRANSFERS] += 1
        sm.events[spec.first_event + (EARLY_TRANSFERS if is_early else LATE_TRANSFERS)] += 1
        if is_late:
            return -X_TRANSFER
        if not is_early:
            sm.events[spec.first_event + S_WRITES] += 1
            return cycles + 1
    elif is_late and is_busy and spec.remap != OFF:
        return -X_TRANSFER
    if is_late == 0:
        rf.until_cycle[pair] = max(np.int64(rf.until_cycle[pair]), sm.cycle + WRITTEN_AFTER)
    sm.events[spec.first_event + S_WRITES] += 1
    return 1


@device
def pair_of(sm, warp, reg):
    """Return the number of the hybrid cells of a register: those of registers 4k + p and 4k + p + 2."""
    row = registers.main_row(sm, warp, reg)
    return (row >> 2) * 2 + (row & 1)


@device
def place_of(sm, rf, warp, reg):
    """Return whether a register is in SRAM or STT: its number's second bit, and whether its pair is exchanged."""
    place = (registers.main_row(sm, warp, reg) >> 1) & 1
    return STT + SRAM - place if has(rf.exchanged, pair_of(sm, warp, reg)) else place
