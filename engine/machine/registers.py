"""Registers, ports and the scoreboard: the helpers that stages and designs share.

Everything here takes the state record `sm`, is compiled into the step, and returns an int.
"""

from __future__ import annotations

import numpy as np

from rfview.engine.compile.bits import bit64, blend32, copy32, ctz64, highest64, popcount
from rfview.engine.chunk import REGISTERS_OF_WARP
from rfview.engine.compile.device import device, inlined
from rfview.engine.events import READ_CONFLICTS, RF_READS, RF_WRITES, WRITE_CONFLICTS
from rfview.engine.stalls import BANK_CONFLICT
from rfview.engine.state import BANK_READ, BANK_WRITE, FOREVER, FREE

SEQUENTIAL, GPGPUSIM = 0, 1


@device
def main_row(sm, warp, reg):
    """Return the physical slot of a register: warp w with n registers starts at slot w * n (HC-RF section IV-A)."""
    return np.int64(sm.warp[warp].reg_base) + np.int64(reg)


@device
def default_bank(sm, warp, reg):
    """Return the bank of (warp, reg) under the configured mapping policy."""
    slot = interleaved(sm.config.mapping, main_row(sm, warp, reg), np.int64(warp), np.int64(reg))
    return slot - line_of(sm, slot) * np.int64(sm.config.num_banks)


@inlined
def interleaved(mapping, slot, warp, reg):
    """Return the number of a register that, modulo the number of banks, is its bank; on the host also for arrays."""
    return warp + reg if mapping == GPGPUSIM else slot


@inlined
def line_of(sm, slot):
    """Return at which place of its bank a physical slot lies: slot // num_banks, without dividing by a power of two."""
    banks = np.uint32(sm.config.num_banks)
    if banks & (banks - np.uint32(1)) == 0:
        return np.int64(np.uint32(slot) >> np.uint32(ctz64(banks)))
    return np.int64(np.uint32(slot) // banks)


@device
def copy_row(rows, source, target):
    """Copy all 32 lanes of one row."""
    return copy32(rows[source].u, rows[target].u)


@device
def copy_lanes(rows, source, target, lanes):
    """Copy the lanes of a mask from one row to another."""
    return blend32(rows[source].u, rows[target].u, lanes)


@device
def first_bank_free(sm):
    """Return when the first of the banks that are busy in this cycle is free again; FOREVER: none is busy."""
    event = np.int64(FOREVER)
    for bank in range(sm.config.num_banks):
        until = np.int64(sm.bank[bank].until_cycle)
        if until >= sm.cycle:
            event = min(event, until)
    return event


@device
def touch_row(sm, row):
    """Tell the journal that a recorded row was written in this cycle."""
    word = row >> 6
    sm.dirty_rows[word] = np.uint64(sm.dirty_rows[word]) | bit64(row & 63)
    sm.rows_touched = np.uint64(sm.rows_touched) | bit64(word)
    return 0


@device
def write_row(sm, rows, row, value_row, mask):
    """Merge the lanes `mask` of latch row `value_row` into a recorded row, leaving the other lanes alone (B0.2)."""
    blend32(rows[value_row].u, rows[row].u, mask)
    return touch_row(sm, row)


@device
def note_write(sm, warp, reg, lanes, pc, value_row):
    """Note that the register file accepted a result, for the log of register writes; `value_row` keeps it for this cycle."""
    noted = sm.accepted[sm.num_accepted]
    noted.row = value_row
    noted.register = np.int64(warp) * REGISTERS_OF_WARP + reg
    noted.lanes = lanes
    noted.pc = pc
    sm.num_accepted += 1
    return 0


@device
def note_loss(sm, row):
    """Note that a register's value, kept in the recorded row `row`, lost bits in this cycle, which no instruction wrote."""
    word = np.int64(row) >> 6
    sm.lost_rows[word] = np.uint64(sm.lost_rows[word]) | bit64(row & 63)
    sm.lost_touched = np.uint64(sm.lost_touched) | bit64(word)
    return touch_row(sm, row)


@device
def clear_warp(sm, rows, warp):
    """Zero every register row of a warp: unwritten registers start as 0."""
    base = np.int64(sm.warp[warp].reg_base)
    for reg in range(sm.launch.registers):
        values = rows[base + reg].u
        for lane in range(32):
            values[lane] = 0
        touch_row(sm, base + reg)
    return 0


@device
def wake(sm, warp):
    """Let the next issue stage decide the state of a warp anew."""
    sm.awake = np.uint64(sm.awake) | bit64(warp)
    return 0


@device
def touch_inflight(sm, slot):
    """Tell the journal that an in-flight entry changed in this cycle."""
    word = np.int64(slot) >> 6
    sm.dirty_inflight[word] = np.uint64(sm.dirty_inflight[word]) | bit64(np.int64(slot) & 63)
    return 0


@device
def mark_cold(sm, block):
    """Tell the journal that a block of the cold section changed in this cycle."""
    sm.dirty[block >> 6] = np.uint64(sm.dirty[block >> 6]) | bit64(block & 63)
    sm.dirty_touched = np.uint64(sm.dirty_touched) | bit64(block >> 6)
    return 0


@device
def free_inflight(sm, slot):
    """Retire an in-flight entry that is written and released."""
    flight = sm.inflight[slot]
    flight.stage = FREE
    word = np.int64(slot) >> 6
    clear = ~bit64(np.int64(slot) & 63)
    sm.inflight_used[word] = np.uint64(sm.inflight_used[word]) & clear
    sm.num_inflight[flight.warp] -= 1
    touch_inflight(sm, slot)
    return 0


@device
def release(sm, warp, reg):
    """Free a register in the scoreboard; the instruction that held it retires when it holds no other."""
    entry = sm.warp[warp]
    bit = bit64(reg)
    entry.sb_write = np.uint64(entry.sb_write) & ~bit
    entry.sb_long = np.uint64(entry.sb_long) & ~bit
    slot = sm.producer[warp, reg]
    left = np.uint64(sm.unreleased[slot]) & ~bit
    sm.unreleased[slot] = left
    wake(sm, warp)
    if left == 0 and sm.inflight[slot].unwritten == 0:
        free_inflight(sm, slot)
    return 0


@device
def take_write_port(sm, bank, warp, reg):
    """Claim the write port of a bank for this cycle; return 1, or 0 if it is taken."""
    entry = sm.bank[bank]
    if entry.written != 0 or entry.until_cycle > sm.cycle:
        return 0
    entry.written = 1
    entry.activity = BANK_WRITE
    entry.owner_warp = warp
    entry.owner_reg = reg
    sm.events[RF_WRITES] += 1
    return 1


@device
def read_port_free(sm, bank):
    """Say whether a bank can serve a read this cycle: its port is free and it is not busy with a slow access."""
    entry = sm.bank[bank]
    if entry.until_cycle > sm.cycle:
        return 0
    if sm.config.bank_ports == 1 and entry.written != 0:
        return 0
    return 1 if entry.read == 0 else 0


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
def withdraw_request(sm, collector, bank):
    """Take a collector off the list of those that want a bank; a bank that nobody wants is not looked at."""
    requests = np.uint64(sm.bank_requests[bank]) & ~bit64(collector)
    sm.bank_requests[bank] = requests
    if requests == 0:
        sm.banks_requested = np.uint64(sm.banks_requested) & ~bit64(bank)
    return 0


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


@device
def refresh_reads(sm, warp):
    """Recompute which registers of a warp are still to be read by its collectors (WAR)."""
    regs = np.uint64(0)
    held = np.uint64(sm.collectors_of[warp])
    while held != 0:
        collector = ctz64(held)
        held &= held - np.uint64(1)
        regs |= np.uint64(sm.collector_regs[collector])
    sm.sb_read[warp] = regs
    return 0


@inlined
def count_refused_write(sm, code):
    """Count a refused write under its reason."""
    sm.access_wait[code] += 1
    sm.events[WRITE_CONFLICTS] += 1 if code == BANK_CONFLICT else 0
    return 0


@inlined
def refuse_bank(sm, bank, code):
    """Note why a bank refuses the reads it has not served in this cycle, and book them; refuse_readers does the rest."""
    left = popcount(np.uint64(sm.bank_requests[bank]))
    sm.bank[bank].queue = left
    sm.refusal[bank] = code
    return count_refused_reads(sm, code, left)


@inlined
def count_refused_reads(sm, code, operands):
    """Count refused operands under their reason."""
    sm.access_wait[code] += operands
    sm.events[READ_CONFLICTS] += operands if code == BANK_CONFLICT else 0
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
    flight.lost = flight.unread
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

