"""Instructions that need all lanes of a member mask together: shuffles, votes, matches, reductions, bar.warp.sync.

Members meet in the same instruction, with the same qualifiers and mask; its place in the program does not matter (RULES.md,
B7.3). Lanes at one place issue together. If members are at several, the last to come computes the results of all, from
each lane's own operands; the others then issue their own instruction, which finds its results in `sm.exchanged`.
"""

from __future__ import annotations

import numpy as np

from rfview.engine import hooks
from rfview.engine.compile.bits import ctz64, set_bits
from rfview.engine.compile.device import device
from rfview.engine.isa import OP_BAR_WARP, OP_MATCH, OP_REDUX, OP_SHFL
from rfview.engine.machine.stages import split_table, splits
from rfview.engine.program import NO_PRED, NO_REG, NUM_SRC_ROWS
from rfview.engine.state import MAX_INFLIGHT, MAX_SPLITS, SPLIT_SYNC
from rfview.engine.values.between_lanes import collective_rows, shuffle_rows
from rfview.engine.values.words import handle


@device
def mask_slot(inst):
    """Return the operand slot of a collective's member mask."""
    if inst.op == OP_SHFL:
        return 5
    return 2 if inst.op == OP_MATCH or inst.op == OP_REDUX else 0


@device
def named_by(sm, rf, spec, rows, warp, inst, lane):
    """Return the member mask that a lane names."""
    slot = mask_slot(inst)
    reg = np.int64(inst.src[slot])
    if reg == NO_REG:
        return np.int64(inst.imm[slot])
    return np.int64(rows[hooks.locate(sm, rf, spec, warp, reg, lane)].u[lane])


@device
def lanes_naming(sm, rf, spec, rows, warp, inst, lanes, mask):
    """Return those of `lanes` that name the member mask `mask`."""
    if np.int64(inst.src[mask_slot(inst)]) == NO_REG:
        return lanes
    same = np.int64(0)
    for lane in set_bits(lanes):
        if named_by(sm, rf, spec, rows, warp, inst, lane) == mask:
            same |= np.int64(1) << lane
    return same


@device
def member_mask(sm, rf, spec, rows, warp, inst, lanes):
    """Return the lanes that a collective needs: the union of the masks that `lanes` name."""
    if np.int64(inst.src[mask_slot(inst)]) == NO_REG:
        return named_by(sm, rf, spec, rows, warp, inst, 0)
    need = np.int64(0)
    for lane in set_bits(lanes):
        need |= named_by(sm, rf, spec, rows, warp, inst, lane)
    return need


@device
def executing(sm, warp, inst):
    """Return the active lanes whose guard predicate lets them execute an instruction."""
    return guarded(sm, warp, inst, np.int64(sm.warp[warp].mask))


@device
def guarded(sm, warp, inst, lanes):
    """Return those of `lanes` whose guard predicate lets them execute an instruction."""
    if inst.guard == NO_PRED:
        return lanes
    value = np.int64(sm.warp_cold[warp].pred[inst.guard])
    return lanes & (~value if inst.guard_negate else value)


@device
def taking_part(sm, rf, spec, rows, insts, warp, inst):
    """Return the lanes that execute the head instruction, those with the ones that its guard excludes, and `results_wait`.

    Members of a collective that wait at the same place take part as well, and need not wait any longer.
    """
    active, results = np.int64(sm.warp[warp].mask), np.int64(0)
    if inst.collective != 0:
        if sm.warp[warp].num_splits > 1:
            active |= meet(sm, rf, spec, rows, insts, warp, inst)
        results = results_wait(sm, warp)
    return guarded(sm, warp, inst, active), active, results


@device
def results_wait(sm, warp):
    """Return the lanes that took part in what the running split waited for, if its results are in sm.exchanged; else 0."""
    return np.int64(sm.warp_cold[warp].split[sm.warp[warp].split].sync_mask)


@device
def gather_members(sm, rf, spec, rows, warp, inst):
    """Return 0 if all members have arrived; else park the split and return 1, or 2 if another split of the warp can run.

    If members are missing, lanes whose guard is false go on without the others, and lanes that name different masks wait
    apart.
    """
    entry = sm.warp[warp]
    if entry.num_splits <= 1 and inst.guard == NO_PRED:
        return 0
    lanes, active = executing(sm, warp, inst), np.int64(entry.mask)
    if lanes == 0 or results_wait(sm, warp) != 0:
        return 0
    need = member_mask(sm, rf, spec, rows, warp, inst, lanes) & ~np.int64(entry.exited)
    if need & ~lanes == 0:
        return 0
    pc = np.int64(entry.pc)
    if lanes != active:
        splits.diverge(sm, warp, pc, pc + 1, pc + 1, lanes, active & ~lanes)
        return 2
    first = named_by(sm, rf, spec, rows, warp, inst, ctz64(np.uint64(lanes)))
    same = lanes_naming(sm, rf, spec, rows, warp, inst, lanes, first)
    if same != lanes:
        splits.diverge(sm, warp, pc, pc, pc + 1, same, lanes & ~same)
        return 2
    if need & ~lanes & ~split_table.waiting_members(sm, warp, np.int64(inst.collective), need) == 0:
        return 0
    return 1 + splits.wait_for_members(sm, warp, np.int64(inst.collective), need)


@device
def meet(sm, rf, spec, rows, insts, warp, inst):
    """Let the members of a complete collective go on; return the lanes that waited at the same place and issue now."""
    entry = sm.warp[warp]
    lanes = executing(sm, warp, inst)
    if lanes == 0 or results_wait(sm, warp) != 0:
        return np.int64(0)
    need = member_mask(sm, rf, spec, rows, warp, inst, lanes) & ~np.int64(entry.exited)
    kind = np.int64(inst.collective)
    if need & ~lanes == 0:
        return np.int64(0)
    took_part = np.int64(0)
    if inst.op != OP_BAR_WARP and waits_elsewhere(sm, warp, kind, need, entry.pc):
        took_part = exchange(sm, rf, spec, rows, insts, warp, inst, kind, need)
        sm.warp_cold[warp].split[entry.split].sync_mask = took_part
    return splits.release_members(sm, warp, kind, need, np.int64(entry.pc), took_part)


@device
def is_member(sm, warp, index, kind, need):
    """Return whether a split waits in a collective of a kind for the members `need`."""
    split = sm.warp_cold[warp].split[index]
    live = ~np.int64(sm.warp[warp].exited)
    return split.state == SPLIT_SYNC and split.pending == kind and np.int64(split.sync_mask) & live == need & live


@device
def waits_elsewhere(sm, warp, kind, need, pc):
    """Return whether a member of a collective waits at another place than `pc`."""
    for index in range(MAX_SPLITS):
        if is_member(sm, warp, index, kind, need) and sm.warp_cold[warp].split[index].pc != pc:
            return True
    return False


@device
def exchange(sm, rf, spec, rows, insts, warp, inst, kind, need):
    """Compute a collective from the operands of members at several places, into sm.exchanged; return the members.

    The operands are put together in the rows of a free collector, which the instruction takes next, the results in those of
    the in-flight entry that no instruction ever gets.
    """
    entry = sm.warp[warp]
    first_row = np.int64(sm.config.first_collector_row) + ctz64(~np.uint64(sm.collectors_used)) * NUM_SRC_ROWS
    members = np.int64(entry.mask)
    votes = gather_operands(sm, rf, spec, rows, warp, inst, members, first_row)
    table = sm.warp_cold[warp].split
    for index in range(MAX_SPLITS):
        if is_member(sm, warp, index, kind, need):
            lanes = np.int64(table[index].mask)
            members |= lanes
            votes |= gather_operands(sm, rf, spec, rows, warp, insts[table[index].pc], lanes, first_row)
    result_row = np.int64(sm.config.first_result_row) + (MAX_INFLIGHT - 1) * 4
    if inst.op == OP_SHFL:
        predicates = shuffle_rows(handle(rows), first_row, result_row, np.uint32(members), inst.aux)
    else:
        predicates = collective_rows(inst.op, handle(rows), first_row, result_row, np.uint32(members), inst.aux,
                                     inst["flags"], np.uint32(votes))
    for lane in range(32):
        if (members >> lane) & 1:
            sm.exchanged[warp][lane] = rows[result_row].u[lane]
    others = np.int64(sm.exchanged_pred[warp]) & ~members
    sm.exchanged_pred[warp] = others | (np.int64(predicates) & members)
    return members


@device
def gather_operands(sm, rf, spec, rows, warp, inst, lanes, first_row):
    """Put the operands of `lanes` into six rows; return those of the lanes whose predicate operand is true."""
    for slot in range(NUM_SRC_ROWS):
        reg = np.int64(inst.src[slot])
        for lane in range(32):
            if (lanes >> lane) & 1:
                if reg != NO_REG:
                    rows[first_row + slot].u[lane] = rows[hooks.locate(sm, rf, spec, warp, reg, lane)].u[lane]
                else:
                    rows[first_row + slot].u[lane] = inst.imm[slot]
    pred = np.int64(inst.psrc[0])
    if pred == NO_PRED:
        return np.int64(0)
    value = np.int64(sm.warp_cold[warp].pred[pred])
    return lanes & (~value if inst.psrc_negate[0] else value)


@device
def fetch_results(sm, rows, warp, slot, took_part):
    """Give an in-flight instruction the results that wait for it in sm.exchanged. took_part: see `results_wait`."""
    flight = sm.inflight[slot]
    result = rows[sm.config.first_result_row + slot * 4].u
    for lane in range(32):
        if (np.int64(flight.mask) >> lane) & 1:
            result[lane] = sm.exchanged[warp][lane]
    flight.pval[0] = sm.exchanged_pred[warp]
    flight.psrc[1] = took_part
    flight.missed = 1
    sm.warp_cold[warp].split[sm.warp[warp].split].sync_mask = 0
    split_table.mark_warp(sm, warp)
