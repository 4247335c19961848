"""CTA dispatch: CTAs take free slots in linear order, one per cycle, and return them when their warps are done."""

from __future__ import annotations

import numpy as np

from rfview.engine import hooks
from rfview.engine.values.access import note_word
from rfview.engine.compile.bits import bit64
from rfview.engine.compile.device import device
from rfview.engine.events import CTAS
from rfview.engine.machine.marks import begin_of, mark_cold
from rfview.engine.machine.stages import splits
from rfview.engine.machine.stages.warp_state import set_state
from rfview.engine.stalls import NO_CTA, NO_INSTRUCTION
from rfview.engine.state import BLOCK, NONE8, NUM_BARRIERS, OUTSIDE, SM

LAUNCH_BLOCK = begin_of("launch") // BLOCK
assert SM["launch"].itemsize <= BLOCK


@device
def mark_launch(sm):
    """Tell the journal that the launch record changed."""
    mark_cold(sm, LAUNCH_BLOCK)


@device
def dispatch_ctas(sm, rf, spec, rows, memory, log, mem_index):
    """Retire ended CTAs, then start at most one new CTA."""
    launch = sm.launch
    for slot in range(launch.resident_ctas):
        cta = sm.cta[slot]
        if cta.valid and cta.live_warps == 0:
            retire_cta(sm, rf, spec, rows, slot)
    if launch.next_cta >= launch.num_ctas:
        return 0
    for slot in range(launch.resident_ctas):
        if not sm.cta[slot].valid:
            return start_cta(sm, rf, spec, rows, memory, log, mem_index, slot)
    return 0


@device
def retire_cta(sm, rf, spec, rows, slot):
    """Free the slots of a CTA once its last instructions have left the pipes, and its stores are acknowledged."""
    cta = sm.cta[slot]
    first = np.int64(cta.first_warp)
    for warp in range(first, first + np.int64(cta.num_warps)):
        if sm.num_inflight[warp] != 0 or np.uint64(sm.ended) & bit64(warp) != 0 or sm.warp[warp].stored_cycle > sm.cycle:
            return 0
    for warp in range(first, first + np.int64(cta.num_warps)):
        hooks.on_exit(sm, rf, spec, rows, warp)
        sm.resident = np.uint64(sm.resident) & ~bit64(warp)
        sm.cleared = np.uint64(sm.cleared) | bit64(warp)
        sm.warp[warp].cta = NONE8
        set_state(sm, warp, NO_CTA)
    cta.valid = 0
    sm.launch.done_ctas += 1
    mark_launch(sm)
    return 1


@device
def start_cta(sm, rf, spec, rows, memory, log, mem_index, slot):
    """Place the next CTA of the grid in slot `slot`: warp slots slot * W .. slot * W + W - 1."""
    launch = sm.launch
    number = np.int64(launch.next_cta)
    launch.next_cta += 1
    mark_launch(sm)
    cta = sm.cta[slot]
    cta.valid = 1
    cta.id = number
    cta.ctaid[0] = number % np.int64(launch.grid[0])
    cta.ctaid[1] = number // np.int64(launch.grid[0]) % np.int64(launch.grid[1])
    cta.ctaid[2] = number // (np.int64(launch.grid[0]) * np.int64(launch.grid[1]))
    warps = np.int64(launch.warps_per_cta)
    cta.first_warp = slot * warps
    cta.num_warps = warps
    cta.live_warps = warps
    cta.live_threads = launch.threads_per_cta
    for barrier in range(NUM_BARRIERS):
        sm.barrier[slot][barrier].arrived = 0
    clear_shared(sm, memory, log, mem_index, slot)
    for index in range(warps):
        start_warp(sm, rf, spec, rows, memory, log, mem_index, slot, slot * warps + index, index)
    sm.events[CTAS] += 1
    return 1


@device
def start_warp(sm, rf, spec, rows, memory, log, mem_index, slot, warp, index):
    """Start one warp of a CTA: all existing lanes at the kernel's entry, registers and predicates zero."""
    launch = sm.launch
    entry = sm.warp[warp]
    threads = np.int64(launch.threads_per_cta) - index * 32
    lanes = np.int64(0xFFFFFFFF) if threads >= 32 else (np.int64(1) << threads) - 1
    entry.sb_write = 0
    sm.sb_read[warp] = 0
    entry.sb_long = 0
    entry.sb_pred = 0
    entry.exited = lanes ^ 0xFFFFFFFF
    entry.cta = slot
    entry.warp_in_cta = index
    entry.barrier = NONE8
    entry.num_issued = 0
    sm.num_inflight[warp] = 0
    sm.mem_pending[warp] = 0
    entry.wake_cycle = 0
    entry.open_cycle = -1
    entry.stored_cycle = 0
    entry.membership = OUTSIDE
    entry.leave_code = 0
    entry.polled = 0
    entry.suspended_pc = 0xFFFFFFFF
    entry.last_issue_cycle = -1
    entry.age = sm.dispatch_age
    sm.dispatch_age += 1
    note_older_warps(sm, warp)
    entry.reg_base = warp * np.int64(launch.registers)
    bit = bit64(warp)
    sm.resident = np.uint64(sm.resident) | bit
    sm.cleared = np.uint64(sm.cleared) | bit
    sm.unfinished = np.uint64(sm.unfinished) | bit
    for pred in range(32):
        sm.warp_cold[warp].pred[pred] = 0
    splits.begin_warp(sm, warp, launch.entry_pc, lanes)
    hooks.on_warp_start(sm, rf, spec, rows, warp)
    clear_local(sm, memory, log, mem_index, warp)
    set_state(sm, warp, NO_INSTRUCTION)


@device
def note_older_warps(sm, warp):
    """Order a warp that starts after all resident ones."""
    for other in range(sm.config.num_warps):
        sm.older_warps[other] = np.uint64(sm.older_warps[other]) & ~bit64(warp)
    sm.older_warps[warp] = np.uint64(sm.resident) & ~bit64(warp)


@device
def clear_shared(sm, memory, log, mem_index, slot):
    """Zero the shared memory of a CTA slot; only words that change are noted in the journal."""
    words = (np.int64(sm.launch.shared_bytes) + 3) // 4
    clear_words(memory, log, mem_index, np.int64(slot) * words, words)


@device
def clear_local(sm, memory, log, mem_index, warp):
    """Zero the local memory of a warp slot."""
    words = np.int64(sm.launch.local_words) * 32
    clear_words(memory, log, mem_index, np.int64(sm.launch.local_word) + np.int64(warp) * words, words)


@device
def clear_words(memory, log, mem_index, first, words):
    """Zero `words` arena words from `first`."""
    for word in range(first, first + words):
        if memory[word] != 0:
            memory[word] = 0
            note_word(log, mem_index, word)
