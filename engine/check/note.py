"""Notes a finding: one entry per kind and pair of instructions, with its first occurrence and a count."""

from __future__ import annotations

import numpy as np

from rfview.engine.check.layout import MAX_FINDINGS
from rfview.engine.compile.device import device

NO_OTHER = -1


@device
def note(check, sm, kind, slot, lane, pc, other_pc, address, space, extra):
    """Count a finding; return the index of its entry if this is the first occurrence, else -1.

    slot: the warp's. address: byte offset in the arena, or a register's number. The caller fills in the other thread.
    """
    hashed = (np.int64(pc) * 2654435761 + np.int64(other_pc) * 40503 + np.int64(kind) * 97) % MAX_FINDINGS
    for step in range(MAX_FINDINGS):
        at = (hashed + step) % MAX_FINDINGS
        entry = check.finding[at]
        if entry.kind == 0:
            if check.num_findings >= MAX_FINDINGS * 3 // 4:
                break
            check.num_findings += 1
            entry.kind = kind
            entry.pc = pc
            entry.other_pc = other_pc
            entry.count = 1
            entry.moment = check.now
            entry.clock = sm.cycle
            entry.launch = check.launch
            entry.warp = check.warp[slot].id
            entry.slot = slot
            entry.lane = lane
            entry.address = address
            entry.space = space
            entry.extra = extra
            return at
        if entry.kind == kind and entry.pc == pc and entry.other_pc == other_pc:
            entry.count += 1
            return np.int64(-1)
    check.is_full = 1
    return np.int64(-1)


@device
def note_other(check, at, warp, lane, moment):
    """Fill in the other thread, if `note` has made an entry."""
    if at >= 0:
        entry = check.finding[at]
        entry.other_warp = warp
        entry.other_lane = lane
        entry.other_moment = moment
