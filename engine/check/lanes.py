"""Checks instructions between lanes of a warp: wrong member masks, and lanes that are read but do not take part."""

from __future__ import annotations

import numpy as np

from rfview.engine.check.layout import INACTIVE_LANE, MASK_WITHOUT_LANE, MASKS_DIFFER
from rfview.engine.check.note import NO_OTHER, note
from rfview.engine.compile.bits import ctz64
from rfview.engine.compile.device import device
from rfview.engine.isa import FLAG_NO_SYNC, OP_SHFL, OP_VOTE, SHFL_BFLY, SHFL_DOWN, SHFL_UP
from rfview.engine.program import NO_REG, SPACE_NONE


@device
def check_members(check, sm, inst, rows, slot, pc, mask, took_part, first_row):
    """Check a shuffle, vote, match or reduction for the lanes of `mask`.

    took_part: these, and lanes that executed it at another place. first_row: of its operands, still in the collector.
    """
    synced = inst["flags"] & FLAG_NO_SYNC == 0
    member_row = 2
    if inst.op == OP_SHFL:
        member_row = 5
    elif inst.op == OP_VOTE:
        member_row = 0
    for lane in range(32):
        if not (mask >> lane) & 1:
            continue
        named = np.int64(rows[first_row + member_row].u[lane]) if synced else mask
        if synced:
            check_mask(check, sm, slot, lane, pc, named)
            for other in range(lane + 1, 32):
                if (named & mask) >> other & 1 and np.int64(rows[first_row + member_row].u[other]) != named:
                    note(check, sm, MASKS_DIFFER, slot, lane, pc, NO_OTHER, 0, SPACE_NONE, other)
                    break
        if inst.op == OP_SHFL:
            source = source_lane(inst, rows, first_row, lane)
            if source >= 0 and not (took_part & named) >> source & 1:
                note(check, sm, INACTIVE_LANE, slot, lane, pc, NO_OTHER, 0, SPACE_NONE, source)


@device
def check_mask(check, sm, slot, lane, pc, named):
    """Check the member mask that a lane names. A member that never comes ends in a fault."""
    if not (named >> lane) & 1:
        note(check, sm, MASK_WITHOUT_LANE, slot, lane, pc, NO_OTHER, 0, SPACE_NONE, named)


@device
def check_warp_barrier(check, sm, inst, slot, pc, lanes):
    """Check the mask of a bar.warp.sync that has it as an immediate."""
    if np.int64(inst.src[0]) != NO_REG:
        return
    named = np.int64(inst.imm[0])
    outside = lanes & ~named
    first = ctz64(np.uint64(outside)) if outside != 0 else ctz64(np.uint64(lanes))
    check_mask(check, sm, slot, first, pc, named)


@device
def source_lane(inst, rows, first_row, lane):
    """Return the lane whose value a lane reads in a shuffle; -1 if that is out of range and the lane keeps its own."""
    b, c = np.int64(rows[first_row + 2].u[lane]) & 31, np.int64(rows[first_row + 4].u[lane])
    segment, clamp = (c >> 8) & 31, c & 31
    bound, first = (lane & segment) | (clamp & ~segment), lane & segment
    if inst.aux == SHFL_UP:
        return lane - b if lane - b >= bound else -1
    source = first | (b & ~segment)
    if inst.aux == SHFL_DOWN:
        source = lane + b
    elif inst.aux == SHFL_BFLY:
        source = lane ^ b
    return source if source <= bound else -1
