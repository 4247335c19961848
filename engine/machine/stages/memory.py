"""LD/ST: one memory instruction at a time; its accesses are performed when it begins, its lines are timed afterwards.

Loads, stores and atomics are performed, lane by lane, in the cycle in which LD/ST takes the instruction;
the rest is timing only. Every line's return time is known when it is handled, so nothing has to be searched for later:
an L1 line stores the cycle in which it is filled, and a load ends with its last line. A texture fetch is treated like a
global load (a simplification: GPUs have a texture unit and keep textures in tiles).
"""

from __future__ import annotations

import numpy as np

from rfview.engine.values import access, ideal, sectors, texel
from rfview.engine.compile.bits import popcount
from rfview.engine.compile.device import device
from rfview.engine.events import (ATOMICS, CONST_ACCESSES, DRAM_BYTES, GLOBAL_LOADS, GLOBAL_STORES, LOCAL_ACCESSES,
                                  SHARED_ACCESSES, SHARED_PASSES, TRANSACTIONS)
from rfview.engine.isa import FLAG_PAST_L1, OP_ASSERTFAIL, OP_LDPARAM, OP_PRINTF, OP_TEX
from rfview.engine.program import (MEM_ATOMIC, MEM_LOAD, MEM_NONE, MEM_STORE, NUM_SRC_ROWS, SPACE_CONST,
                                   SPACE_GENERIC, SPACE_GLOBAL, SPACE_LOCAL, SPACE_NONE, SPACE_PARAM, SPACE_SHARED)
from rfview.engine.machine.marks import touch_inflight
from rfview.engine.machine.rows import copy_row
from rfview.engine.machine.stages import constants, l1
from rfview.engine.machine.stages.completion import schedule
from rfview.engine.machine.stages.control import fault
from rfview.engine.machine.stages.l2 import backlog, request
from rfview.engine.machine.stages.special import load_parameter
from rfview.engine.state import LDST_GOES_ON, LDST_QUEUE_FULL, MEMORY, NONE8, PIPE_LDST, SECTOR_BYTES

PASS_BYTES = 128            # of shared memory: a word from each of its 32 banks


@device
def begin(sm, key, rows, insts, arena, regions, log, mem_index, slot, collector):
    """Take an instruction from its collector, perform its accesses, and find the lines or passes they need."""
    flight = sm.inflight[slot]
    inst = insts[flight.pc]
    first_row = sm.config.first_collector_row + collector * NUM_SRC_ROWS
    result_row = sm.config.first_result_row + slot * 4
    enter_ldst(sm, inst, flight, slot)
    if inst.op == OP_PRINTF or inst.op == OP_ASSERTFAIL:
        call_host(sm, rows, inst, slot, first_row, result_row)
        return without_access(sm, slot)
    if inst.op == OP_LDPARAM:
        load_parameter(sm, rows, inst, arena, result_row)
        constants.note_parameter(sm, sm.scratch, inst.offset)
        sm.ldst_ideal = 1
        return begun(sm, inst, flight, slot)
    lanes = perform(sm, key, rows, inst, arena, regions, log, mem_index, np.int64(flight.warp), np.int64(flight.pc),
                    np.int64(flight.mask), first_row, result_row, memory_of(sm, np.int64(flight.warp), True))
    if lanes < 0:
        return without_access(sm, slot)
    settle_space(sm, inst, sm.scratch, np.uint32(lanes))
    if inst.memory_kind != MEM_LOAD or inst["flags"] & FLAG_PAST_L1 != 0:
        sectors.note_sectors(inst, rows, first_row, np.uint32(lanes), sm.scratch)
    return begun(sm, inst, flight, slot)


@device
def call_host(sm, rows, inst, slot, first_row, result_row):
    """Leave the operands of a printf or a failed assertion to the host, which the machine then stops for."""
    for row in range(4):
        copy_row(rows, first_row + row, result_row + row)
    if inst.op == OP_ASSERTFAIL:        # the line takes the place of the file name's upper half (host_calls.py)
        copy_row(rows, first_row + 4, result_row + 3)
    sm.host_call = slot
    return 0


@device
def perform(sm, key, rows, inst, arena, regions, log, mem_index, warp, pc, mask, first_row, result_row, own):
    """Perform the accesses of the lanes `mask`; return the lanes that accessed memory, -1 if a fault left none.

    first_row, result_row: of the operands and of the results. own: see `memory_of`.
    """
    sm.dropped = 0
    code, lanes = np.int64(1), mask
    if inst.op == OP_TEX:
        code = np.int64(texel.fetch(key, inst, rows, first_row, result_row, np.uint32(mask), arena, regions, sm.scratch))
        if code != 0:
            note_fault(sm, inst, warp, pc, code)
    else:
        while code != 0:
            lanes = mask & ~np.int64(sm.dropped)
            code = np.int64(access.access(key, inst, rows, first_row, result_row, np.uint32(lanes), arena, regions, own,
                                          sm.scratch, log, mem_index))
            if code != 0:
                note_fault(sm, inst, warp, pc, code)
                if sm.reports_faults == 0:
                    break
                drop_lane(sm, rows, inst, result_row)
    return np.int64(-1) if code != 0 or (lanes == 0 and sm.dropped != 0) else lanes


@device
def note_fault(sm, inst, warp, pc, code):
    """Note a bad access, which stops the machine at the end of this cycle unless such accesses are reported."""
    size = np.int64(inst.width) * np.int64(inst.count)
    lane, address = sm.scratch[access.FAULT_LANE], sm.scratch[access.FAULT_ADDRESS]
    if sm.reports_faults == 0 or inst.op == OP_TEX:
        return fault(sm, code, warp, lane, pc, address, size)
    if sm.error == 0 and sm.reported == 0:
        sm.reported = code
        sm.error_warp = warp
        sm.error_lane = lane
        sm.error_pc = pc
        sm.error_address = address
        sm.error_size = size
    return 0


@device
def drop_lane(sm, rows, inst, result_row):
    """Leave the lane with the bad access out of the instruction: it stores nothing, and what it loads is 0."""
    lane = sm.scratch[access.FAULT_LANE]
    sm.dropped = np.int64(sm.dropped) | np.int64(1) << lane
    for row in range(np.int64(inst.num_dst)):
        rows[result_row + row].u[lane] = 0


@device
def enter_ldst(sm, inst, flight, slot):
    """Make an instruction the one handled by LD/ST."""
    if inst.memory_kind != MEM_NONE:     # a host call accesses no memory and was not counted (inflight.py)
        sm.mem_pending[flight.warp] -= 1
    flight.stage = MEMORY
    flight.since_cycle = sm.cycle
    flight.missed = 0
    flight.pipe = PIPE_LDST
    sm.ldst_head = slot
    sm.next_line = 0
    sm.pipe[PIPE_LDST].inflight = slot


@device
def memory_of(sm, warp, is_timed):
    """Return where a warp's shared, local and parameter memory are. is_timed: accesses find their lines and passes."""
    launch = sm.launch
    shared_words = (np.int64(launch.shared_bytes) + 3) // 4
    return access.WarpMemory(
        np.int64(sm.warp[warp].cta) * shared_words, np.int64(launch.shared_bytes), np.int64(launch.local_word),
        np.int64(launch.local_words), warp, np.int64(launch.param_word),
        (np.int64(launch.local_word) - np.int64(launch.param_word)) * 4, is_timed,
    )


@device
def without_access(sm, slot):
    """Let LD/ST hold an instruction without accesses (a host call or a fault) for the time of one line."""
    sm.num_lines = 1
    sm.access_space = SPACE_NONE
    sm.ldst_ideal = 0
    return touch_inflight(sm, slot)


@device
def begun(sm, inst, flight, slot):
    """Count an access and note how many lines or passes it has to send."""
    count_access(sm, inst)
    flight.transactions = min(np.int64(sm.num_lines), 255)
    return touch_inflight(sm, slot)


@device
def settle_space(sm, inst, scratch, mask):
    """Note the space of the access and the number of lines or passes; mixed generic accesses are counted in lines."""
    used = scratch[access.USED_SPACES]
    space = np.int64(inst.space)
    if space == SPACE_GENERIC:
        space = np.int64(SPACE_GLOBAL)
        if used == 1 << SPACE_SHARED:
            space = np.int64(SPACE_SHARED)
        elif used == 1 << SPACE_LOCAL:
            space = np.int64(SPACE_LOCAL)
        elif used == 1 << SPACE_PARAM:
            space = np.int64(SPACE_PARAM)
    sm.access_space = space
    if sm.config.const_sets != 0 and (space == SPACE_CONST or space == SPACE_PARAM):
        constants.note_lines(sm, scratch, mask)
    if space == SPACE_SHARED:
        passes = max(np.int64(1), np.int64(scratch[access.PASSES]))
        sm.events[SHARED_PASSES] += passes
        sm.num_lines = passes
        if sm.config.shared_bytes_per_cycle < PASS_BYTES:
            sm.num_lines = max(passes, transfers(sm, inst, mask))
    else:
        sm.num_lines = max(np.int64(1), np.int64(scratch[access.NUM_LINES]))
    note_ideal(sm, inst, scratch, mask)


@device
def note_ideal(sm, inst, scratch, mask):
    """Note the fewest lines or passes that could serve the bytes of an access; of a texture fetch, that is not known."""
    fewest = np.int64(0)
    if inst.op != OP_TEX:
        fewest = np.int64(ideal.fewest(scratch, mask, np.int64(inst.width) * np.int64(inst.count), np.int64(sm.num_lines)))
        if sm.access_space == SPACE_SHARED and sm.config.shared_bytes_per_cycle < PASS_BYTES:
            fewest = max(fewest, transfers(sm, inst, mask))
    sm.ldst_ideal = min(fewest, 255)


@device
def transfers(sm, inst, mask):
    """Return in how many cycles a narrow shared memory delivers, or takes, what the lanes of an access ask for (B2.14)."""
    size = popcount(np.uint64(mask)) * np.int64(inst.width) * np.int64(inst.count)
    return (size + sm.config.shared_bytes_per_cycle - 1) // np.int64(sm.config.shared_bytes_per_cycle)


@device
def count_access(sm, inst):
    """Count one memory instruction by space and kind."""
    space = np.int64(sm.access_space)
    if space == SPACE_SHARED:
        sm.events[SHARED_ACCESSES] += 1
    elif space == SPACE_CONST or space == SPACE_PARAM:
        sm.events[CONST_ACCESSES] += 1
    elif inst.memory_kind == MEM_LOAD:
        sm.events[GLOBAL_LOADS] += 1
    else:
        sm.events[GLOBAL_STORES] += 1
    if inst.memory_kind >= MEM_ATOMIC:
        sm.events[ATOMICS] += 1
    if space == SPACE_LOCAL:
        sm.events[LOCAL_ACCESSES] += 1


@device
def advance(sm, insts):
    """Handle one line or shared-memory pass of the instruction in LD/ST, and release it after the last."""
    if sm.ldst_head == NONE8:
        return 0
    slot = np.int64(sm.ldst_head)
    flight = sm.inflight[slot]
    inst = insts[flight.pc]
    space = np.int64(sm.access_space)
    sm.ldst_reason = LDST_GOES_ON
    ready = np.int64(sm.cycle) + 1
    if space == SPACE_SHARED:
        ready = sm.cycle + sm.config.shared_cycles
    elif space == SPACE_NONE:       # a fault or a host call
        ready = sm.cycle + sm.config.param_cycles
    elif space == SPACE_CONST or space == SPACE_PARAM:
        hit_cycles = np.int64(sm.config.const_cycles if space == SPACE_CONST else sm.config.param_cycles)
        ready = np.int64(sm.cycle) + hit_cycles
        if sm.config.const_sets != 0:
            ready = constants.load_line(sm, flight, sm.scratch[access.LINES + sm.next_line], hit_cycles)
            if ready < 0:
                return touch_inflight(sm, slot)
    elif sm.next_line < sm.num_lines:
        ready = handle_line(sm, inst, flight, sm.scratch[access.LINES + sm.next_line])
        if ready < 0:
            return touch_inflight(sm, slot)
        sm.events[TRANSACTIONS] += 1
    sm.next_line += 1
    flight.transactions = max(np.int64(0), min(np.int64(sm.num_lines) - np.int64(sm.next_line), np.int64(255)))
    flight.done_cycle = max(np.int64(flight.done_cycle), np.int64(ready))
    if sm.next_line >= sm.num_lines:
        sm.ldst_head = NONE8
        sm.pipe[PIPE_LDST].until_cycle = sm.cycle
        schedule(sm, slot, flight.done_cycle)
    return touch_inflight(sm, slot)


@device
def handle_line(sm, inst, flight, line):
    """Handle one global line; return the cycle in which its data is available (a store: accepted), or -1 to try again."""
    if sm.config.fixed_memory_cycles > 0:
        return fixed_latency(sm, flight)
    is_load = inst.memory_kind == MEM_LOAD
    if is_load and sm.config.l1_enabled == 0:
        return request(sm, line, sm.config.line_bytes, MEM_LOAD)
    if is_load and (inst["flags"] & FLAG_PAST_L1 == 0 or sm.config.l1_enabled == l1.IDEAL_L1):
        return l1.load_line(sm, inst, flight, line)
    if queue_full(sm):
        return -1
    if is_load:
        flight.missed = 1
        return request(sm, line, bytes_of_line(sm), MEM_LOAD)
    if inst.memory_kind == MEM_STORE:
        l1.store_line(sm, line)
        stored = request(sm, line, bytes_of_line(sm), MEM_STORE)
        if sm.config.store_acks != 0:
            entry = sm.warp[flight.warp]
            entry.stored_cycle = max(np.int64(entry.stored_cycle), np.int64(stored))
        return sm.cycle + 1
    ready = request(sm, line, bytes_of_line(sm), np.int64(inst.memory_kind))
    return ready if inst.memory_kind == MEM_ATOMIC else sm.cycle + 1


@device
def queue_full(sm):
    """Return whether the port of DRAM or the interconnect is reserved so long that LD/ST waits; note that as its reason."""
    if backlog(sm) <= sm.config.queue_cycles:
        return False
    sm.ldst_reason = LDST_QUEUE_FULL
    return True


@device
def fixed_latency(sm, flight):
    """Serve a line after a fixed latency, with limited bandwidth (RFC Table 4)."""
    if queue_full(sm):
        return np.int64(-1)
    flight.missed = 1
    begin_x256 = max(np.int64(sm.cycle) * 256, np.int64(sm.dram_free_x256))
    transfer = np.int64(sm.config.line_bytes) * 65536 // np.int64(sm.config.bytes_per_cycle_x256)
    sm.dram_free_x256 = begin_x256 + transfer
    sm.events[DRAM_BYTES] += sm.config.line_bytes
    return begin_x256 // 256 + sm.config.fixed_memory_cycles


@device
def bytes_of_line(sm):
    """Return what LD/ST's line moves, of a store, an atomic or a load past L1: the sectors touched (rule B0.21)."""
    return popcount(np.uint64(sm.scratch[access.SECTORS + sm.next_line])) * SECTOR_BYTES
