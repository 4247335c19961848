"""The 32-byte sectors of each line that a memory instruction touches: what L2 and the ports to it move (rule B0.21)."""

from __future__ import annotations

from rfview.engine.compile.device import device
from rfview.engine.program import SPACE_CONST, SPACE_GLOBAL, SPACE_LOCAL
from rfview.engine.state import LINE_BYTES, SECTOR_BYTES
from rfview.engine.values.access import ADDR, LINES, NUM_LINES, SECTORS, SPACES, lane_address
from rfview.engine.values.arithmetic import I64, U32
from rfview.engine.values.words import handle, load_long, store_long


@device
def note_sectors(inst, rows, src, mask, scratch):
    """Set scratch[SECTORS + k] to the sectors of the line in scratch[LINES + k] that active lanes touch, a bit for each.

    To be called after `access.resolve`, with its arguments: rows has the lanes' addresses, and scratch their state spaces.
    """
    rows, scratch, mask, src = handle(rows), handle(scratch), U32(mask), I64(src)
    count, at = load_long(scratch, NUM_LINES), I64(0)
    for index in range(max(count, I64(1))):
        store_long(scratch, SECTORS + index, I64(0))
    size = I64(inst.width) * I64(inst.count)
    for lane in range(32):
        if (mask >> U32(lane)) & U32(1) == U32(0):
            continue
        space = load_long(scratch, SPACES + lane)
        if space == SPACE_LOCAL:        # a lane's words are in lines of their own
            first = load_long(scratch, ADDR + lane)
            for word in range(max(size >> 2, 1)):
                at = touch(scratch, first + word * LINE_BYTES, I64(1), at, count)
        elif space == SPACE_GLOBAL or space == SPACE_CONST:
            at = touch(scratch, I64(lane_address(inst, rows, src, lane)), size, at, count)


@device
def touch(scratch, address, size, at, count):
    """Note `size` bytes from `address` on, within one line; returns that line's index. at: the index to look at first."""
    first = (address % LINE_BYTES) // SECTOR_BYTES
    last = (address % LINE_BYTES + size - 1) // SECTOR_BYTES
    for _ in range(count):
        if load_long(scratch, LINES + at) == address // LINE_BYTES:
            bits = (I64(2) << last) - (I64(1) << first)
            store_long(scratch, SECTORS + at, load_long(scratch, SECTORS + at) | bits)
            return at
        at = at + I64(1) if at + I64(1) < count else I64(0)
    return at
