"""The operand collectors: what each still has to read, which of them is served first, and who was refused."""

from __future__ import annotations

import numpy as np

from rfview.engine.compile.bits import bit64, ctz64, highest64, popcount
from rfview.engine.compile.device import device, inlined
from rfview.engine.events import RF_READS
from rfview.engine.machine.marks import touch_inflight
from rfview.engine.machine.ports import count_refused_reads
from rfview.engine.machine.scoreboard import refresh_reads
from rfview.engine.state import BANK_READ


@device
def oldest_request(sm, bank):
    """Return the collector with the oldest instruction among those that want `bank`."""
    return oldest_collector(sm, np.uint64(sm.bank_requests[bank]))


@device
def oldest_collector(sm, collectors):
    """Return the collector of the oldest instruction in a mask of collectors, which is not empty."""
    best = ctz64(collectors)
    best_seq = np.int64(sm.collector_seq[best])
    left = collectors & (collectors - np.uint64(1))
    while left != 0:
        other = ctz64(left)
        left &= left - np.uint64(1)
        seq = np.int64(sm.collector_seq[other])
        if seq < best_seq:
            best = other
            best_seq = seq
    return best


@device
def operand_in_bank(sm, collector, bank):
    """Return the lowest unread row slot that `collector` wants from `bank`: there is one."""
    return ctz64(operands_in_bank(sm, collector, bank))


@inlined
def operands_in_bank(sm, collector, bank):
    """Return the unread row slots that `collector` wants from `bank`, a bit each; computed without a branch per slot."""
    unit = sm.collector[collector]
    in_bank = np.int64(0)
    for slot in range(6):
        in_bank |= np.int64(unit.bank[slot] == bank) << slot
    return np.int64(sm.inflight[unit.inflight].unread) & in_bank


@device
def operand_served(sm, insts, collector, operand, bank):
    """Book a granted read: port, owner, the operand's arrival, and the end of its WAR hold."""
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
    for slot in range(6):
        left = np.uint64((unread >> slot) & 1)      # shifted, as a branch on it would often be guessed wrong
        regs |= left << np.uint64(inst.src[slot] & 63)
        banks |= left << np.uint64(unit.bank[slot] & 31)
    if banks & bit64(bank) == 0:
        withdraw_request(sm, collector, bank)
    return note_unread(sm, collector, unread, regs, banks)


@device
def set_unread(sm, inst, collector, unread):
    """Let a collector wait for the row slots `unread` alone: operands left out take no bank, as the design gives them.

    Their values are put into rows first_collector_row + collector * 6 + operand. on_issue may do so with a hit.
    """
    unit = sm.collector[collector]
    regs = np.uint64(0)
    banks = np.uint64(0)
    for slot in range(6):
        left = np.uint64((unread >> slot) & 1)
        regs |= left << np.uint64(inst.src[slot] & 63)
        banks |= left << np.uint64(unit.bank[slot] & 31)
    gone = np.uint64(sm.collector_banks[collector]) & ~banks
    while gone != 0:
        bank = ctz64(gone)
        gone &= gone - np.uint64(1)
        withdraw_request(sm, collector, bank)
    return note_unread(sm, collector, unread, regs, banks)


@inlined
def note_unread(sm, collector, unread, regs, banks):
    """Note what a collector still waits for: row slots, the registers in them and the banks that it wants, a bit each."""
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
    """Take a collector off the list of those that want a bank; a bank that nobody wants is not looked at."""
    requests = np.uint64(sm.bank_requests[bank]) & ~bit64(collector)
    sm.bank_requests[bank] = requests
    if requests == 0:
        sm.banks_requested = np.uint64(sm.banks_requested) & ~bit64(bank)
    return 0


@device
def refuse_readers(sm):
    """Mark every operand that is still to be read as refused in this cycle; refuse_bank has been told why for each bank.

    An instruction shows the reason of its highest bank.
    """
    collectors = np.uint64(sm.reading)
    while collectors != 0:
        collector = ctz64(collectors)
        collectors &= collectors - np.uint64(1)
        banks = np.uint64(sm.collector_banks[collector])
        operands = np.uint64(sm.inflight[np.int64(sm.collector[collector].inflight)].unread)
        if popcount(banks) != popcount(operands):
            count_other_refusals(sm, collector, operands)
        highest = highest64(banks)
        show_refusal(sm, collector, highest, np.int64(sm.refusal[highest]))
    return 0


@inlined
def show_refusal(sm, collector, bank, code):
    """Show that what a collector still has to read has been refused in this cycle, by one bank's reason."""
    slot = np.int64(sm.collector[collector].inflight)
    flight = sm.inflight[slot]
    flight.refused = flight.unread
    flight.code = code
    flight.bank = bank
    if sm.code_before[collector] == 0:      # else it is marked, as the refusal of the cycle before was taken back
        touch_inflight(sm, slot)
    return 0


@device
def count_other_refusals(sm, collector, operands):
    """Book what refuse_bank, which sees a collector but once, has not: its further operands in one bank."""
    seen = np.uint64(0)
    while operands != 0:
        bank = np.int64(sm.collector[collector].bank[ctz64(operands)])
        operands &= operands - np.uint64(1)
        if seen & bit64(bank) != 0:
            count_refused_reads(sm, np.int64(sm.refusal[bank]), 1)
        seen |= bit64(bank)
    return 0
