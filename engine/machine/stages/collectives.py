"""Instructions that need all lanes of a member mask together: shuffles, votes, matches, reductions, bar.warp.sync."""

from __future__ import annotations

import numpy as np

from rfview.engine import hooks
from rfview.engine.compile.bits import ctz64
from rfview.engine.compile.device import device
from rfview.engine.isa import FLAG_NO_SYNC, OP_BAR_WARP, OP_MATCH, OP_REDUX, OP_SHFL, OP_VOTE
from rfview.engine.machine.stages import split_table, splits
from rfview.engine.program import NO_REG


@device
def is_collective(inst):
    """Return whether an instruction needs all lanes of a member mask together."""
    op = inst.op
    return (op == OP_SHFL or op == OP_VOTE or op == OP_MATCH or op == OP_REDUX or op == OP_BAR_WARP) and (
        inst["flags"] & FLAG_NO_SYNC
    ) == 0


@device
def member_mask(sm, rf, spec, rows, warp, inst):
    """Return the lanes that a collective needs: an immediate, or the union of the active lanes' registers."""
    slot = 0
    if inst.op == OP_SHFL:
        slot = 5
    elif inst.op == OP_MATCH or inst.op == OP_REDUX:
        slot = 2
    reg = np.int64(inst.src[slot])
    if reg == NO_REG:
        return np.int64(inst.imm[slot])
    need, left = np.int64(0), np.uint64(sm.warp[warp].mask)
    while left != 0:
        lane = ctz64(left)
        left &= left - np.uint64(1)
        need |= np.int64(rows[hooks.locate(sm, rf, spec, warp, reg, lane)].u[lane])
    return need


@device
def gather_members(sm, rf, spec, rows, warp, inst):
    """Return 0 if all members have arrived; else park the split and return 1, or 2 if another split of the warp can run."""
    entry = sm.warp[warp]
    if entry.num_splits <= 1:
        return 0
    need = member_mask(sm, rf, spec, rows, warp, inst) & ~np.int64(entry.exited)
    missing = need & ~np.int64(entry.mask)
    if missing == 0 or missing & ~split_table.waiting_lanes(sm, warp, entry.pc) == 0:
        return 0
    if splits.wait_for_members(sm, warp, need) == 1:
        return 2
    return 1
