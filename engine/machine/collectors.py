"""The operand collectors: what each still has to read, which is served first, and which were refused."""

from __future__ import annotations

import numpy as np

from rfview.engine.compile.bits import bit64, ctz64, highest64, popcount, set_bits
from rfview.engine.compile.device import device, inlined
from rfview.engine.events import RF_READS
from rfview.engine.machine.marks import touch_inflight
from rfview.engine.machine.ports import count_refused_reads
from rfview.engine.machine.scoreboard import refresh_reads
from rfview.engine.program import NUM_SRC_ROWS
from rfview.engine.state import BANK_READ, MAX_COLLECTORS

MIN_COLLECT_CYCLES = 2      # from issue to execution, even if all operands are there


@device
def oldest_request(sm, bank):
    """Return the collector with the oldest instruction among those requesting `bank`."""
    return oldest_collector(sm, np.uint64(sm.bank_requests[bank]))


@device
def oldest_collector(sm, collectors):
    """Return the collector with the oldest instruction in a non-empty mask of collectors."""
    best = ctz64(collectors)
    best_seq = np.int64(sm.collector_seq[best])
    for other in set_bits(collectors):
        seq = np.int64(sm.collector_seq[other])
        if seq < best_seq:
            best = other
            best_seq = seq
    return best


@device
def operand_in_bank(sm, collector, bank):
    """Return the lowest row slot that `collector` still has to read from `bank`; there is one."""
    return ctz64(operands_in_bank(sm, collector, bank))


@inlined
def operands_in_bank(sm, collector, bank):
    """Return the row slots that `collector` still has to read from `bank`, one bit each; without a branch per slot."""
    unit = sm.collector[collector]
    in_bank = np.int64(0)
    for slot in range(NUM_SRC_ROWS):
        in_bank |= np.int64(unit.bank[slot] == bank) << slot
    return np.int64(sm.inflight[unit.inflight].unread) & in_bank


@device
def operand_served(sm, insts, collector, operand, bank):
    """Record a granted read: port, owner, the operand's arrival, and the end of its WAR hazard."""
    unit = sm.collector[collector]
    flight = sm.inflight[unit.inflight]
    inst = insts[flight.pc]
    entry = sm.bank[bank]
    entry.read = 1
    entry.activity = BANK_READ
    entry.owner_warp = flight.warp
    entry.owner_reg = inst.src[operand]
    sm.events[RF_READS] += 1
    unread = np.int64(flight.unread) & ~(1 << operand)
    regs = np.uint64(0)
    banks = np.uint64(0)
    for slot in range(NUM_SRC_ROWS):
        left = np.uint64((unread >> slot) & 1)      # shifted, since a branch on it would often be mispredicted
        regs |= left << np.uint64(inst.src[slot] & 63)
        banks |= left << np.uint64(unit.bank[slot] & 31)
    if banks & bit64(bank) == 0:
        withdraw_request(sm, collector, bank)
    return note_unread(sm, collector, unread, regs, banks)


@device
def set_unread(sm, inst, collector, unread):
    """Let a collector wait for the row slots `unread` only: the design delivers the other operands without a bank.

    It puts their values into rows first_collector_row + collector * NUM_SRC_ROWS + operand. on_issue may do so for
    cache hits.
    """
    unit = sm.collector[collector]
    regs = np.uint64(0)
    banks = np.uint64(0)
    for slot in range(NUM_SRC_ROWS):
        left = np.uint64((unread >> slot) & 1)
        regs |= left << np.uint64(inst.src[slot] & 63)
        banks |= left << np.uint64(unit.bank[slot] & 31)
    for bank in set_bits(np.uint64(sm.collector_banks[collector]) & ~banks):
        withdraw_request(sm, collector, bank)
    return note_unread(sm, collector, unread, regs, banks)


@inlined
def note_unread(sm, collector, unread, regs, banks):
    """Note what a collector still waits for: row slots, their registers, and the banks requested, one bit each."""
    slot = np.int64(sm.collector[collector].inflight)
    flight = sm.inflight[slot]
    flight.unread = unread
    sm.collector_regs[collector] = regs
    sm.collector_banks[collector] = banks
    if unread == 0:
        sm.reading = np.uint64(sm.reading) & ~bit64(collector)
    refresh_reads(sm, np.int64(flight.warp))
    return touch_inflight(sm, slot)


@inlined
def withdraw_request(sm, collector, bank):
    """Remove a collector from those requesting a bank; banks without requests are not considered."""
    requests = np.uint64(sm.bank_requests[bank]) & ~bit64(collector)
    sm.bank_requests[bank] = requests
    if requests == 0:
        sm.banks_requested = np.uint64(sm.banks_requested) & ~bit64(bank)
    return 0


@device
def delay_operand(sm, row, cycles, code):
    """Let an operand arrive `cycles` cycles after its read: its instruction waits for it with the stall `code`.

    row: the latch row that `read` fills, or that on_issue has filled. Without a delay, an operand read in this cycle is used
    in the next at the earliest. The register counts as read now, so a later write does not wait. Call it once per operand;
    rows that no collector holds, which a design over this one may fill for itself, are not delayed.
    """
    place = np.int64(row) - np.int64(sm.config.first_collector_row)
    if cycles <= 0 or place < 0 or place >= MAX_COLLECTORS * NUM_SRC_ROWS:
        return 0
    collector = place // NUM_SRC_ROWS
    slot = np.int64(sm.collector[collector].inflight)
    flight = sm.inflight[slot]
    arrival = np.int64(sm.cycle) + 1 + np.int64(cycles)
    if arrival > flight.done_cycle:
        flight.done_cycle = arrival
        sm.late_code[collector] = code
    sm.late_operands[collector] |= np.uint8(1 << (place - collector * NUM_SRC_ROWS))
    sm.late = np.uint64(sm.late) | bit64(collector)
    return touch_inflight(sm, slot)


@device
def take_late_operands(sm):
    """Let the operands that are due arrive."""
    for collector in set_bits(sm.late):
        slot = np.int64(sm.collector[collector].inflight)
        flight = sm.inflight[slot]
        if flight.done_cycle <= sm.cycle:
            flight.done_cycle = flight.issue_cycle      # from now on the end of its execution, which is unknown
            sm.late = np.uint64(sm.late) & ~bit64(collector)
            sm.late_operands[collector] = 0
            touch_inflight(sm, slot)


@device
def show_late_operands(sm):
    """Show which instructions wait for nothing but operands that were read in an earlier cycle and have not arrived."""
    for collector in set_bits(sm.late):
        slot = np.int64(sm.collector[collector].inflight)
        flight = sm.inflight[slot]
        if flight.unread == 0 and flight.issue_cycle + MIN_COLLECT_CYCLES <= sm.cycle:
            flight.refused = sm.late_operands[collector]
            flight.code = sm.late_code[collector]
            flight.bank = sm.collector[collector].bank[ctz64(np.uint64(flight.refused))]
            touch_inflight(sm, slot)


@device
def refuse_readers(sm):
    """Mark every unread operand as refused in this cycle; refuse_bank has been given the reason for each bank.

    An instruction shows the reason of its highest bank.
    """
    for collector in set_bits(sm.reading):
        banks = np.uint64(sm.collector_banks[collector])
        operands = np.uint64(sm.inflight[np.int64(sm.collector[collector].inflight)].unread)
        if popcount(banks) != popcount(operands):
            count_other_refusals(sm, collector, operands)
        highest = highest64(banks)
        show_refusal(sm, collector, highest, np.int64(sm.refusal[highest]))
    return 0


@inlined
def show_refusal(sm, collector, bank, code):
    """Show that a collector's unread operands were refused in this cycle, with one bank's reason."""
    slot = np.int64(sm.collector[collector].inflight)
    flight = sm.inflight[slot]
    flight.refused = flight.unread
    flight.code = code
    flight.bank = bank
    if sm.code_before[collector] == 0:      # otherwise it is marked, since the refusal of the previous cycle was cleared
        touch_inflight(sm, slot)
    return 0


@device
def count_other_refusals(sm, collector, operands):
    """Count what refuse_bank, which counts each collector once, leaves out: further operands in the same bank."""
    seen = np.uint64(0)
    for operand in set_bits(operands):
        bank = np.int64(sm.collector[collector].bank[operand])
        if seen & bit64(bank) != 0:
            count_refused_reads(sm, np.int64(sm.refusal[bank]), 1)
        seen |= bit64(bank)
    return 0
