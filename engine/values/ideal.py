"""The fewest lines or shared-memory passes for the bytes that an access asks for: what perfect coalescing would need."""

from __future__ import annotations

from rfview.engine.compile.device import device
from rfview.engine.values.access import ADDR, WORK
from rfview.engine.values.arithmetic import I64, U32
from rfview.engine.values.words import handle, load_long, store_long


@device
def fewest(scratch, mask, size, needed):
    """Lines, or passes, of 128 bytes that hold the distinct bytes accessed; at least 1 and at most `needed`.

    scratch: addresses as resolved by access.py. mask: u4 lanes. size: bytes per lane. Source: CUDA C++ Best Practices
    Guide, "Coalesced Access to Global Memory" and "Shared Memory and Memory Banks".
    """
    scratch = handle(scratch)
    if needed <= 1:
        return needed
    distinct, highest = I64(0), I64(-1)
    for lane in range(32):
        if (U32(mask) >> U32(lane)) & U32(1) == U32(0):
            continue
        address = load_long(scratch, ADDR + lane)
        is_new = True
        if address <= highest:          # most accesses ascend, or repeat the lane before
            at = distinct - 1
            while at >= 0 and is_new:
                is_new = load_long(scratch, WORK + at) != address
                at -= 1
        if is_new:
            store_long(scratch, WORK + distinct, address)
            distinct += 1
            highest = max(highest, address)
    return min(needed, max(I64(1), (distinct * size + 127) >> I64(7)))
