"""Special registers: thread and CTA indices, lane masks, clocks; and parameters at fixed addresses."""

from __future__ import annotations

import numpy as np

from rfview.engine.compile.device import device
from rfview.engine.isa import (SREG_CLOCK, SREG_CLOCK64, SREG_CLOCK_HI, SREG_CTAID_X, SREG_CTAID_Z,
                               SREG_DYNAMIC_SMEM_SIZE, SREG_GLOBALTIMER, SREG_GLOBALTIMER_HI, SREG_GLOBALTIMER_LO,
                               SREG_GRIDID, SREG_LANEID, SREG_LANEMASK_EQ, SREG_LANEMASK_GE, SREG_LANEMASK_GT,
                               SREG_LANEMASK_LE, SREG_LANEMASK_LT, SREG_NCTAID_X, SREG_NCTAID_Z, SREG_NSMID,
                               SREG_NTID_X, SREG_NTID_Z, SREG_NWARPID, SREG_SHIFT, SREG_TID_X, SREG_TID_Z,
                               SREG_TOTAL_SMEM_SIZE, SREG_WARPID)
from rfview.engine.values.access import in_register


@device
def special_register(sm, rows, inst, warp, cycle, out_row):
    """Compute a special register for all lanes of a warp into result rows `out_row` (low) and `out_row` + 1 (high)."""
    which = np.int64(inst.aux) & ((1 << SREG_SHIFT) - 1)
    low = rows[out_row].u
    high = rows[out_row + 1].u
    if SREG_TID_X <= which <= SREG_TID_Z:
        return thread_index(sm, warp, which - SREG_TID_X, low)
    if SREG_LANEMASK_EQ <= which <= SREG_LANEMASK_GE:
        return lane_masks(which, low)
    if which == SREG_LANEID:
        for lane in range(32):
            low[lane] = lane
        return 0
    value = uniform_value(sm, which, warp, cycle) << (np.int64(inst.aux) >> SREG_SHIFT)
    for lane in range(32):
        low[lane] = value & 0xFFFFFFFF
        high[lane] = (value >> 32) & 0xFFFFFFFF
    return 0


@device
def thread_index(sm, warp, axis, low):
    """Compute %tid: threads are numbered x fastest, 32 to a warp."""
    first = np.int64(sm.warp[warp].warp_in_cta) * 32
    size_x = np.int64(sm.launch.block[0])
    size_y = np.int64(sm.launch.block[1])
    x, y, z = first % size_x, first // size_x % size_y, first // (size_x * size_y)
    for lane in range(32):
        low[lane] = x if axis == 0 else y if axis == 1 else z
        x += 1      # a division per lane would take longer than all the rest of the instruction
        if x == size_x:
            x = np.int64(0)
            y += 1
        if y == size_y:
            y = np.int64(0)
            z += 1
    return 0


@device
def lane_masks(which, low):
    """Compute %lanemask_*: the lanes equal to, below or above each lane."""
    for lane in range(32):
        bit = np.int64(1) << lane
        below = bit - 1
        value = bit
        if which == SREG_LANEMASK_LT:
            value = below
        elif which == SREG_LANEMASK_LE:
            value = below | bit
        elif which == SREG_LANEMASK_GT:
            value = ~(below | bit) & 0xFFFFFFFF
        elif which == SREG_LANEMASK_GE:
            value = ~below & 0xFFFFFFFF
        low[lane] = value
    return 0


@device
def uniform_value(sm, which, warp, cycle):
    """Return a special register that is the same in every lane."""
    launch = sm.launch
    clock = cycle - np.int64(launch.start_cycle)
    nanoseconds = cycle * 1000 // np.int64(sm.config.clock_mhz)
    value = np.int64(0)
    if SREG_NTID_X <= which <= SREG_NTID_Z:
        value = np.int64(launch.block[which - SREG_NTID_X])
    elif SREG_CTAID_X <= which <= SREG_CTAID_Z:
        value = np.int64(sm.cta[sm.warp[warp].cta].ctaid[which - SREG_CTAID_X])
    elif SREG_NCTAID_X <= which <= SREG_NCTAID_Z:
        value = np.int64(launch.grid[which - SREG_NCTAID_X])
    elif which == SREG_WARPID:
        value = np.int64(warp)
    elif which == SREG_NWARPID:
        value = np.int64(sm.config.num_warps)
    elif which == SREG_NSMID:
        value = np.int64(1)
    elif which == SREG_GRIDID:
        value = np.int64(launch.index)
    elif which == SREG_CLOCK or which == SREG_CLOCK64:
        value = clock
    elif which == SREG_CLOCK_HI:
        value = clock >> 32
    elif which == SREG_GLOBALTIMER or which == SREG_GLOBALTIMER_LO:
        value = nanoseconds
    elif which == SREG_GLOBALTIMER_HI:
        value = nanoseconds >> 32
    elif which == SREG_DYNAMIC_SMEM_SIZE:
        value = np.int64(launch.dynamic_shared)
    elif which == SREG_TOTAL_SMEM_SIZE:
        value = np.int64(launch.shared_bytes)
    return value


@device
def load_parameter(sm, rows, inst, arena, out_row):
    """Load kernel parameters at a constant offset, the same for all lanes, into result rows from `out_row`."""
    at = np.int64(inst.offset)
    row = out_row
    for _ in range(inst.count):
        word = np.int64(sm.launch.param_word) + at // 4
        bits = np.uint64(arena[word]) >> np.uint64(at % 4 * 8)
        if inst.width == 8:
            bits |= np.uint64(arena[word + 1]) << np.uint64(32)
        value = np.uint64(in_register(inst, bits))
        fill(rows, row, value & np.uint64(0xFFFFFFFF))
        row += 1
        if inst.reg_bits == 64:
            fill(rows, row, value >> np.uint64(32))
            row += 1
        at += np.int64(inst.width)


@device
def fill(rows, row, value):
    """Set all lanes of a row to the same value."""
    target = rows[row].u
    for lane in range(32):
        target[lane] = value
