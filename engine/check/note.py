"""Notes a finding: one entry per kind and pair of instructions, with its first occurrence and a count."""

from __future__ import annotations

import numpy as np

from rfview.engine.check.layout import (F_ADDRESS, F_ADDRESS_HIGH, F_COUNT, F_CYCLE, F_EXTRA, F_KIND, F_LANE, F_LAUNCH,
                                        F_OTHER_CYCLE, F_OTHER_LANE, F_OTHER_PC, F_OTHER_WARP, F_PC, F_SLOT, F_SPACE,
                                        F_WARP, FINDING_WORDS, H_FINDINGS, H_LAUNCH, H_LOST, H_USED, MAX_FINDINGS, W_ID,
                                        WARP_WORDS, WARPS)
from rfview.engine.compile.device import device

NO_OTHER = 0xFFFFFFFF


@device
def note(s, sm, kind, slot, lane, pc, other_pc, address, space, extra):
    """Count a finding; return the place of its entry if this is the first occurrence, else 0.

    slot: the warp's. address: byte offset in the arena, or a register's number. The caller fills in the other thread.
    """
    first = np.int64(s[H_FINDINGS])
    hashed = (np.int64(pc) * 2654435761 + np.int64(other_pc) * 40503 + np.int64(kind) * 97) % MAX_FINDINGS
    for step in range(MAX_FINDINGS):
        at = first + ((hashed + step) % MAX_FINDINGS) * FINDING_WORDS
        if s[at + F_KIND] == 0:
            if s[H_USED] >= MAX_FINDINGS * 3 // 4:
                break
            s[H_USED] += 1
            s[at + F_KIND] = kind
            s[at + F_PC] = pc
            s[at + F_OTHER_PC] = other_pc
            s[at + F_COUNT] = 1
            s[at + F_CYCLE] = sm.cycle
            s[at + F_WARP] = s[WARPS + slot * WARP_WORDS + W_ID]
            s[at + F_SLOT] = slot
            s[at + F_LANE] = lane
            s[at + F_ADDRESS] = np.int64(address) & 0xFFFFFFFF
            s[at + F_ADDRESS_HIGH] = np.int64(address) >> 32
            s[at + F_SPACE] = space
            s[at + F_EXTRA] = extra
            s[at + F_LAUNCH] = s[H_LAUNCH]
            return at
        if s[at + F_KIND] == kind and s[at + F_PC] == pc and s[at + F_OTHER_PC] == other_pc:
            if s[at + F_COUNT] < NO_OTHER:
                s[at + F_COUNT] += 1
            return np.int64(0)
    s[H_LOST] = 1
    return np.int64(0)


@device
def note_other(s, at, warp, lane, cycle):
    """Fill in the other thread, if `note` has made an entry."""
    if at != 0:
        s[at + F_OTHER_WARP] = warp
        s[at + F_OTHER_LANE] = lane
        s[at + F_OTHER_CYCLE] = cycle
    return 0
