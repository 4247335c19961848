"""`hcrf`: a register file of hybrid cells, each an SRAM cell wired to an STT-RAM cell; writes always find SRAM.

HC-RF ("warp-scheduler friendly hybrid RF design using novel SRAM/STT-RAM hybrid cell structure"). Two neighbouring
rows of a bank are one row of hybrid cells: the even device row is its SRAM s-cells, the odd one its STT s-cells. A
write that would go to STT first copies the partner from SRAM to STT inside the cells (X-Transfer, the bit lines stay
free), exchanges the two registers by flipping one flag, and writes SRAM. Issue looks the destination up and starts the
transfer early, so that it is over before the result arrives. Differs from `sram` in the place of a register (last bit
of its row XOR the flag), in slow masked T-Writes of partial results, and in results that wait for a transfer.
The bits: row k of the register file is device row k and holds what its s-cells hold, so a pair has two values for two
registers and needs no further rows; a read of the wrong s-cell returns the partner's or a stale value.

Oddities of the paper: its exchange flags take "8 B" per bank, 32 row pairs need 4 B; section IV-B writes R17 and moves
"R0", the partner of R17 is R1; an STT cell is "about 33 %" of an SRAM cell, Table II gives 57.5/146 = 39 %; "+50 % over
the coarse-grained design" stands beside "HRF -50 %" (which would be +100 %); power is 56 % of SRAM in section V-D and
1/2.27 = 44 % in Table IV; Table III prints 70 MHz for 700; Table I has BUE = 0 for the X-Transfer, which the text drives.
The exchange tables have neither energy nor area here: the paper gives none.

Deviations and additions: 1. The X-check is repeated every cycle until write-back (the accumulator `add R16,R16,1` would
never remap early otherwise); early_remap = "issue_only" is the strict reading (B3.5). 2. Partial results never remap: a
transfer overwrites all 1024 bits of the STT row; partial = "rmw" reads and merges first (B3.3). 3. One transfer may
start per bank and cycle, the oldest instruction's first, and at most 64 are under way: 16 banks x 4 cycles, so never
short with the paper's numbers (B3.4). 4. An early transfer looks at reads, writes and transfers of both rows, of any
warp, in progress or of instructions in a collector, and at results in flight; with pending_writes = "collector" not at
the latter, which may flip the pair back (B3.2, B3.6). 5. X-Transfer costs the
energy and, under latency = "table", the time of a T-Write: not given. 6. Pairs follow the sequential
slots under every mapping policy; a policy only names the bank whose port is used. 7. Lanes that have exited (or never
existed) keep no value once their register was exchanged: nothing can read them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from rfview.engine.machine import registers
from rfview.engine.compile.bits import bit64, ctz64, set_bits
from rfview.engine.plugin import Design, Parameter, plural
from rfview.engine.plugin.explaining import Moment, Refusal, Trail
from rfview.engine.plugin.holding import Access, Columns, Refused
from rfview.engine.compile.device import device, inlined
from rfview.engine.stalls import BANK_CONFLICT, SLOW_STT_WRITE, STT_WRITE, Stall
from rfview.engine.state import BANK_BUSY, BANK_READ, COLLECT, MAX_BANKS, MAX_ROWS, MAX_WARPS, SEQUENTIAL

ON, OFF, ISSUE_ONLY = 0, 1, 2
MASKED, RMW = 0, 1
IN_COLLECTOR, IN_FLIGHT = 0, 1
PAPER, TABLE = 0, 1
SRAM, STT = 0, 1
NO_ACCESS, S_ACCESS, T_ACCESS = 0, 1, 2
MAX_TRANSFERS = 64
PAIR_WORDS = (MAX_ROWS // 2 + MAX_BANKS // 2) // 64 + 1   # with an odd number of rows a bank has half a pair more
T_WRITE_PS = 2800        # Table II, STT s-cell of the HC; a transfer writes the same MTJ
MORE = 1 << 16           # of oldest_candidate
PAPER_CYCLES = 4         # section III-B, Fig. 3(a): T-Write about 4x S-Write; the transfer drawn as long

X_TRANSFER = 19
STALLS = (SLOW_STT_WRITE, Stall(
    X_TRANSFER, "x_transfer", "x_trans", "⇄", "t", "register_file",
    "The hybrid cell pair is moving its SRAM value to the STT side.", "moves SRAM to STT",
    "HC-RF section IV-B: on-demand remapping; section III-B: 4 cycles"))

PARAMETERS = (
    Parameter("remap", "on", "on, off", "HC-RF section IV-B, on-demand remapping; off: section IV-A",
              "a write to an STT place exchanges the pair; off: it is a T-Write", ("on", "off"), is_live=True),
    Parameter("early_remap", "on", "on, off, issue_only", "HC-RF section IV-B, pipeline integration",
              "start the transfer before the result arrives; issue_only: look once, at issue",
              ("on", "off", "issue_only"), is_live=True),
    Parameter("partial", "masked", "masked, rmw", "assumed: the paper speaks of whole rows only",
              "a write of some lanes to an STT place: masked T-Write, or T-Read, merge and remap", ("masked", "rmw"),
              is_live=True),
    Parameter("pending_writes", "flight", "flight, collector", "HC-RF section IV-B: not being written; B3.6",
              "results to come for the partner that keep an early transfer off: all in flight, or of collectors",
              ("collector", "flight"), is_live=True),
    Parameter("latency", "paper", "paper, table", "HC-RF section III-B (4x), or Table II in ns at the core clock",
              "where the cycles of slow accesses come from", ("paper", "table"), is_live=True),
    Parameter("t_write_cycles", 0, "cycles, 0 = by latency", "HC-RF section III-B: 4; Table II at 700 MHz: 2",
              "cycles a T-Write keeps its bank busy", is_live=True),
    Parameter("x_transfer_cycles", 0, "cycles, 0 = by latency", "HC-RF section III-B: 4; Table II at 700 MHz: 2",
              "cycles an X-Transfer takes, without the bank", is_live=True),
)

TRANSFER = np.dtype(
    [
        ("since_cycle", "i8"),            # first cycle of the transfer
        ("until_cycle", "i8"),            # its end (exclusive): the flag flips as this cycle begins
        ("pair", "u2"),                   # pair number = (row // 2) * num_banks + bank
        ("warp", "u1"),                   # register that will be written to SRAM when it is over
        ("reg", "u1"),
        ("is_late", "u1"),                # 1 = started at write-back, 0 = early
    ],
    align=True,
)
ACCESS = np.dtype(
    [
        ("read_pair", "u2"),              # pair read in the last cycle, where read_kind says so
        ("write_pair", "u2"),
        ("read_kind", "u1"),              # NO_ACCESS, S_ACCESS or T_ACCESS of the last cycle
        ("write_kind", "u1"),             # the same; a T-Write stays until its bank is free
        ("started", "u1"),                # 1 = the X-check port was used in the last cycle
        ("moving", "u1"),                 # transfers in progress in this bank
    ]
)

STATE = (
    ("exchanged", "u8", (PAIR_WORDS,)),   # exchange flag, a bit per pair: 1 = the odd row's register is in SRAM
    ("moving", "u8", (PAIR_WORDS,)),      # a bit per pair: X-Transfer in progress
    ("in_stt", "u8", (MAX_WARPS,)),       # per warp: registers whose place is STT, as their rows and flags have it
    ("open", "u8", (MAX_WARPS,)),         # per warp: destination registers in flight whose X-check has not passed yet
    ("merged", "u8", (MAX_WARPS,)),       # per warp: destinations with their other lanes read and merged (rmw)
    ("asking", "u8"),                     # warps with a register both in `open` and in STT: an X-check to be made
    ("used", "u8"),                       # entries of `transfer` in use
    ("accessed", "u4"),                   # banks with something to forget in `bank` as the next cycle begins
    ("transfer", TRANSFER, (MAX_TRANSFERS,)),
    ("bank", ACCESS, (MAX_BANKS,)),
    ("num_exchanged", "u4"),              # bits set in `exchanged`
    ("num_moving", "u4"),                 # bits set in `used`
    ("check_again", "u4"),                # 1 = an X-check failed for a reason that may be gone in the next cycle
)

(S_READS, T_READS, S_WRITES, T_WRITES, X_TRANSFERS, EARLY_TRANSFERS, LATE_TRANSFERS, MERGE_READS) = range(8)
EVENTS = (
    ("s_reads", "reads of SRAM s-cells"),
    ("t_reads", "reads of STT s-cells, merging reads included"),
    ("s_writes", "writes of SRAM s-cells over the bit lines"),
    ("t_writes", "writes of STT s-cells over the bit lines"),
    ("x_transfers", "copies from SRAM to STT inside the cells, each an exchange of two registers"),
    ("early_transfers", "of these, started before the result arrived"),
    ("late_transfers", "of these, started at write-back: the result waits"),
    ("merge_reads", "T-Reads of partial = rmw, which are no operand reads"),
)

# Table II, 128 KB at 40 nm. The paper's comparison uses its own SRAM and 1T1J columns, kept here beside the HC's.
TECHNOLOGY = {
    "leakage_mw": (34.4, "mW", "HC-RF Table II, HC"),
    "area_mm2": (0.216, "mm2", "HC-RF Table II, HC"),
    "area_of_sram": (0.88, "share of the SRAM register file", "HC-RF section V-B: crossbar and periphery included"),
    "cell_f2": (196.0, "F2 per two bits", "HC-RF Table II"),
    "sram_leakage_mw": (187.5, "mW", "HC-RF Table II, 6T"),
    "sram_area_mm2": (0.299, "mm2", "HC-RF Table II, 6T"),
    "sram_read_pj": (0.175 * 1024, "pJ", "HC-RF Table II, 6T: 0.175 pJ/bit, 1024 bits"),
    "sram_write_pj": (0.186 * 1024, "pJ", "HC-RF Table II, 6T: 0.186 pJ/bit, 1024 bits"),
    "sram_cell_f2": (146.0, "F2 per bit", "HC-RF Table II"),
    "stt_leakage_mw": (21.1, "mW", "HC-RF Table II, 1T1J"),
    "stt_area_mm2": (0.152, "mm2", "HC-RF Table II, 1T1J"),
    "stt_read_pj": (0.219 * 1024, "pJ", "HC-RF Table II, 1T1J: 0.219 pJ/bit, 1024 bits"),
    "stt_write_pj": (0.293 * 1024, "pJ", "HC-RF Table II, 1T1J: 0.293 pJ/bit, 1024 bits"),
    "stt_cell_f2": (57.5, "F2 per bit", "HC-RF Table II"),
    "stt_write_ns": (3.37, "ns", "HC-RF Table II, 1T1J"),
    "t_write_ns": (T_WRITE_PS / 1000, "ns", "HC-RF Table II, HC"),
    "t_read_ns": (0.71, "ns", "HC-RF Table II, HC"),
    "s_access_ns": (0.77, "ns", "HC-RF Table II, HC (SRAM)"),
    "node_nm": (40, "nm", "HC-RF section V"),
}
ENERGY_PJ = {
    "s_reads": (0.175 * 1024, "HC-RF Table II: 0.175 pJ/bit, 1024 bits"),
    "t_reads": (0.225 * 1024, "HC-RF Table II: 0.225 pJ/bit, 1024 bits"),
    "s_writes": (0.186 * 1024, "HC-RF Table II: 0.186 pJ/bit, 1024 bits"),
    "t_writes": (0.267 * 1024, "HC-RF Table II: 0.267 pJ/bit, 1024 bits"),
    "x_transfers": (0.267 * 1024, "assumed: that of a T-Write, HC-RF Table II; not given"),
}


def begin_cycle(sm, rf, spec, rows):
    """End the transfers that are due (B3.1), forget the last cycle's accesses, show slow writes as busy banks."""
    for entry in set_bits(due_transfers(sm, rf)):
        end_transfer(sm, rf, rows, entry)
    for bank in set_bits(rf.accessed):
        access = rf.bank[bank]
        access.read_kind = NO_ACCESS
        access.started = 0
        if sm.bank[bank].until_cycle > sm.cycle:
            sm.bank[bank].activity = BANK_BUSY
        else:
            access.write_kind = NO_ACCESS
            rf.accessed = np.uint64(rf.accessed) & ~bit64(bank)
    return 0


def write_back(sm, rf, spec, rows, warp, reg, mask, value_row, slot):
    """Write SRAM; where the place is STT, exchange the pair first, late (B3.2), or T-Write partial results (B3.3)."""
    row = registers.main_row(sm, warp, reg)
    pair = pair_of(sm, row)
    bank = registers.default_bank(sm, warp, reg)
    place = noted_place(rf, warp, reg)
    is_merged = np.uint64(rf.merged[warp]) & bit64(reg) != 0
    if has(rf.moving, pair):
        return X_TRANSFER
    if place == STT and spec.remap == ON:
        if is_merged or covers(sm, warp, mask):
            return remap_late(sm, rf, spec, warp, reg, pair, bank)
        if spec.partial == RMW and value_row >= sm.config.first_result_row:
            return merge(sm, rf, spec, rows, warp, reg, mask, value_row, pair, bank)
    if sm.bank[bank].until_cycle > sm.cycle:
        return STT_WRITE
    if not registers.take_write_port(sm, bank, warp, reg):
        return BANK_CONFLICT
    lanes = np.int64(0xFFFFFFFF) if is_merged else np.int64(mask)
    registers.write_row(sm, rows, cells_of(sm, row, place), value_row, lanes)
    note_write(sm, rf, spec, place, pair, bank)
    close(rf, warp, reg)
    rf.merged[warp] = np.uint64(rf.merged[warp]) & ~bit64(reg)
    registers.release(sm, warp, reg)
    return 0


def read(sm, rf, spec, rows, warp, reg, mask, out_row):
    """Read the s-cells that the row's last bit and the flag name (R-check); an STT row in transfer waits (B3.4)."""
    row = registers.main_row(sm, warp, reg)
    pair = pair_of(sm, row)
    bank = registers.default_bank(sm, warp, reg)
    place = noted_place(rf, warp, reg)
    if has(rf.moving, pair) and place == STT:
        return X_TRANSFER
    registers.copy_row(rows, cells_of(sm, row, place), out_row)
    rf.accessed = np.uint64(rf.accessed) | bit64(bank)
    access = rf.bank[bank]
    access.read_pair = pair
    access.read_kind = S_ACCESS + place            # added, since a branch on the place would often be mispredicted
    sm.events[spec.first_event + S_READS + place] += 1
    return 0


def on_issue(sm, rf, spec, rows, slot, inst):
    """Open the X-check for the destinations of an instruction that writes all live lanes of its warp."""
    flight = sm.inflight[slot]
    warp = np.int64(flight.warp)
    if spec.remap == ON and spec.early_remap != OFF and inst.dst_regs != 0 and covers(sm, warp, flight.mask):
        rf.open[warp] = np.uint64(rf.open[warp]) | np.uint64(inst.dst_regs)
        note_asking(rf, warp)
    return 0


def on_warp_start(sm, rf, spec, rows, warp):
    """Zero the s-cells that hold the registers of a warp that starts; the partners in the other s-cells stay."""
    in_stt = np.uint64(0)
    for reg in range(sm.launch.registers):
        if place_of(sm, rf, warp, reg) == STT:
            in_stt |= bit64(reg)
        row = device_row(sm, rf, warp, reg)
        values = rows[row].u
        for lane in range(32):
            values[lane] = 0
        registers.touch_row(sm, row)
    rf.in_stt[warp] = in_stt
    return note_asking(rf, warp)


def on_exit(sm, rf, spec, rows, warp):
    """Clear the notes about a warp that has ended; its results have all been written."""
    rf.open[warp] = 0
    rf.merged[warp] = 0
    return note_asking(rf, warp)


def end_cycle(sm, rf, spec, rows):
    """Make the X-checks of instructions issued in this cycle, and repeat those that have not passed yet (B3.5)."""
    rf.check_again = 0
    if rf.asking == 0 and spec.early_remap != ISSUE_ONLY:
        return 0
    outcome = np.int64(MORE)
    while outcome >= MORE:
        outcome = oldest_candidate(sm, rf, spec)
        if outcome >= 0:
            warp = (outcome >> 8) & 255
            reg = outcome & 255
            start_transfer(sm, rf, spec, warp, reg, 0)
            close(rf, warp, reg)
    if spec.early_remap == ISSUE_ONLY:
        for warp in range(sm.config.num_warps):
            rf.open[warp] = 0
        rf.asking = 0
        rf.check_again = 0
    return 0


def next_event(sm, rf, spec):
    """Return the cycle in which a transfer or a slow write ends, or the current one if an X-check may pass now."""
    if rf.check_again != 0:
        return np.int64(sm.cycle)
    event = registers.first_bank_free(sm)
    for entry in set_bits(rf.used):
        event = min(event, np.int64(rf.transfer[entry].until_cycle))
    return event


def locate(sm, rf, spec, warp, reg, lane):
    """Return the device row whose s-cells hold the register."""
    return device_row(sm, rf, warp, reg)


@device
def has(bits, index):
    """Return whether bit `index` of an array of 64-bit words is set."""
    return np.uint64(bits[index >> 6]) & bit64(index & 63) != 0


@device
def due_transfers(sm, rf):
    """Return the entries of `transfer` that end at the start of this cycle, one bit each."""
    due = np.uint64(0)
    for entry in set_bits(rf.used):
        due |= np.uint64(rf.transfer[entry].until_cycle <= sm.cycle) << np.uint64(entry)
    return due


@device
def flip(bits, index):
    """Flip bit `index` of an array of 64-bit words."""
    bits[index >> 6] = np.uint64(bits[index >> 6]) ^ bit64(index & 63)


@device
def pair_of(sm, row):
    """Return the number of the hybrid-cell row that physical slot `row` belongs to."""
    return np.int64(row) - ((registers.line_of(sm, row) + 1) >> 1) * np.int64(sm.config.num_banks)


@device
def last_bit(sm, row):
    """Return the last bit of the bank row that holds physical slot `row`."""
    return registers.line_of(sm, row) & 1


@device
def partner_of(sm, row):
    """Return the other slot of the pair of physical slot `row`."""
    banks = np.int64(sm.config.num_banks)
    return np.int64(row) - banks if last_bit(sm, row) else np.int64(row) + banks


@device
def place_of(sm, rf, warp, reg):
    """Return SRAM or STT: the last bit of the register's row XOR the exchange flag of its pair."""
    row = registers.main_row(sm, warp, reg)
    place = last_bit(sm, row)
    return 1 - place if has(rf.exchanged, pair_of(sm, row)) else place


@device
def noted_place(rf, warp, reg):
    """Return the same as place_of, from the notes kept by end_transfer."""
    return np.int64(np.uint64(rf.in_stt[warp]) >> np.uint64(reg)) & 1


@device
def cells_of(sm, row, place):
    """Return the device row of the register in physical slot `row` whose place is known."""
    return np.int64(row) if last_bit(sm, row) == place else partner_of(sm, row)


@device
def device_row(sm, rf, warp, reg):
    """Return the device row of a register: its own slot, or its partner's when the pair is exchanged."""
    row = registers.main_row(sm, warp, reg)
    return partner_of(sm, row) if has(rf.exchanged, pair_of(sm, row)) else row


@device
def covers(sm, warp, mask):
    """Return whether a lane mask covers all lanes of a warp that have not exited (B0.2); of an ended warp, all it had."""
    gone = np.int64(sm.warp[warp].exited)
    if gone == 0xFFFFFFFF:
        threads = np.int64(sm.launch.threads_per_cta) - np.int64(sm.warp[warp].warp_in_cta) * 32
        gone = np.int64(0) if threads >= 32 else 0xFFFFFFFF & ~((np.int64(1) << threads) - 1)
    return np.int64(mask) | gone == 0xFFFFFFFF


@device
def slow_cycles(sm, spec, given):
    """Return the cycles of a write to STT s-cells: the given number, the paper's 4, or Table II's time rounded up."""
    if given > 0:
        return np.int64(given)
    if spec.latency == TABLE:
        return (np.int64(T_WRITE_PS) * np.int64(sm.config.clock_mhz) + 999_999) // 1_000_000
    return np.int64(PAPER_CYCLES)


@device
def start_transfer(sm, rf, spec, warp, reg, is_late):
    """Start to copy the partner of (warp, reg) from SRAM to STT; the caller has checked that it is safe."""
    entry = ctz64(~np.uint64(rf.used))
    pair = pair_of(sm, registers.main_row(sm, warp, reg))
    bank = registers.default_bank(sm, warp, reg)
    transfer = rf.transfer[entry]
    transfer.since_cycle = sm.cycle
    transfer.until_cycle = sm.cycle + slow_cycles(sm, spec, np.int64(spec.x_transfer_cycles))
    transfer.pair = pair
    transfer.warp = warp
    transfer.reg = reg
    transfer.is_late = is_late
    rf.used = np.uint64(rf.used) | bit64(entry)
    rf.num_moving += 1
    flip(rf.moving, pair)
    rf.accessed = np.uint64(rf.accessed) | bit64(bank)
    rf.bank[bank].started = 1
    rf.bank[bank].moving += 1
    sm.events[spec.first_event + X_TRANSFERS] += 1
    sm.events[spec.first_event + (LATE_TRANSFERS if is_late else EARLY_TRANSFERS)] += 1


@inlined
def end_transfer(sm, rf, rows, entry):
    """Copy the SRAM bits to the STT s-cells and exchange the two registers."""
    transfer = rf.transfer[entry]
    pair = np.int64(transfer.pair)
    banks = np.int64(sm.config.num_banks)
    sram_row = pair + registers.line_of(sm, pair) * banks
    registers.write_row(sm, rows, sram_row + banks, sram_row, 0xFFFFFFFF)
    flip(rf.moving, pair)
    flip(rf.exchanged, pair)
    note_moved(sm, rf, sram_row)
    note_moved(sm, rf, sram_row + banks)
    rf.num_exchanged = np.int64(rf.num_exchanged) + (1 if has(rf.exchanged, pair) else -1)
    rf.used = np.uint64(rf.used) & ~bit64(entry)
    rf.num_moving -= 1
    rf.bank[registers.default_bank(sm, transfer.warp, transfer.reg)].moving -= 1


@device
def note_moved(sm, rf, row):
    """Note that the register of a physical slot has moved."""
    owner = owner_of(sm, row)
    if owner >= 0:
        rf.in_stt[owner >> 8] = np.uint64(rf.in_stt[owner >> 8]) ^ bit64(owner & 255)
        note_asking(rf, owner >> 8)


@inlined
def note_asking(rf, warp):
    """Note whether a warp has a pending X-check: must be called after each change of `open` and `in_stt`."""
    asks = np.uint64(np.uint64(rf.open[warp]) & np.uint64(rf.in_stt[warp]) != 0)
    rf.asking = np.uint64(rf.asking) & ~bit64(warp) | asks << np.uint64(warp)
    return 0


@inlined
def in_access(sm, rf, pair):
    """Return whether a row of the pair is being read or written in this cycle, slow writes included."""
    if sm.config.mapping == SEQUENTIAL:      # both of its rows are in one bank
        return accesses(rf, pair - registers.line_of(sm, pair) * np.int64(sm.config.num_banks), pair)
    is_accessed = False
    for bank in range(sm.config.num_banks):
        is_accessed |= accesses(rf, bank, pair)
    return is_accessed


@inlined
def accesses(rf, bank, pair):
    """Return whether a row of the pair is being accessed through the port of a bank."""
    access = rf.bank[bank]
    is_read = (access.read_kind != NO_ACCESS) & (access.read_pair == pair)
    return is_read | ((access.write_kind != NO_ACCESS) & (access.write_pair == pair))


@device
def owner_of(sm, row):
    """Return warp * 256 + register of a physical slot, or -1 if no warp can have it."""
    count = np.uint32(sm.launch.registers)
    warp = np.int64(np.uint32(row) // count)
    return warp * 256 + np.int64(row) - warp * np.int64(count) if warp < sm.config.num_warps else np.int64(-1)


@device
def is_awaited(sm, warp, reg):
    """Return whether a collector still has to read a register."""
    return np.uint64(sm.sb_read[warp]) & bit64(reg) != 0


@device
def will_be_written(sm, spec, warp, reg):
    """Return whether an instruction in a collector (or anywhere in flight) will write a register."""
    if np.uint64(sm.warp[warp].sb_write) & bit64(reg) == 0:
        return False
    producer = np.int64(sm.producer[warp, reg])
    return spec.pending_writes == IN_FLIGHT or sm.inflight[producer].stage == COLLECT


@inlined
def may_start(sm, rf, spec, warp, reg):
    """Return whether it is safe to exchange the pair of a destination (HC-RF section IV-B).

    Its place is STT and no collector still has to read it, as the caller has seen.
    """
    row = registers.main_row(sm, warp, reg)
    pair = pair_of(sm, row)
    if has(rf.moving, pair):
        return False
    partner = owner_of(sm, partner_of(sm, row))
    if partner >= 0:
        other = partner >> 8
        if is_awaited(sm, other, partner & 255) or will_be_written(sm, spec, other, partner & 255):
            return False
    if in_access(sm, rf, pair) or rf.bank[registers.default_bank(sm, warp, reg)].started != 0:
        rf.check_again = 1
        return False
    return ~np.uint64(rf.used) != 0


@inlined
def oldest_candidate(sm, rf, spec):
    """Return warp * 256 + register of the oldest instruction in flight that may start a transfer now, or -1.

    With MORE added if others may start as well; otherwise there is no need to call it again after this one.
    """
    best = np.int64(-1)
    best_seq = np.int64(0)
    more = np.int64(0)
    for warp in set_bits(rf.asking):
        for reg in set_bits(np.uint64(rf.open[warp]) & np.uint64(rf.in_stt[warp]) & ~np.uint64(sm.sb_read[warp])):
            seq = np.int64(sm.inflight[sm.producer[warp, reg]].seq)
            if best >= 0 and seq >= best_seq:
                more = np.int64(MORE)
            elif may_start(sm, rf, spec, warp, reg):
                more = np.int64(MORE) if best >= 0 else np.int64(0)
                best = warp * 256 + reg
                best_seq = seq
    return best | more


@device
def close(rf, warp, reg):
    """End the X-check of a destination."""
    rf.open[warp] = np.uint64(rf.open[warp]) & ~bit64(reg)
    return note_asking(rf, warp)


@device
def note_write(sm, rf, spec, place, pair, bank):
    """Count an accepted write; one to STT keeps its bank busy (B3.3)."""
    rf.accessed = np.uint64(rf.accessed) | bit64(bank)
    access = rf.bank[bank]
    access.write_pair = pair
    if place == SRAM:
        access.write_kind = S_ACCESS
        sm.events[spec.first_event + S_WRITES] += 1
        return
    access.write_kind = T_ACCESS
    sm.events[spec.first_event + T_WRITES] += 1
    port = sm.bank[bank]
    port.since_cycle = sm.cycle
    port.until_cycle = sm.cycle + slow_cycles(sm, spec, np.int64(spec.t_write_cycles))
    port.busy_code = STT_WRITE


@device
def remap_late(sm, rf, spec, warp, reg, pair, bank):
    """Start the transfer for a result that has arrived; in any case the result waits for it (B3.2)."""
    if rf.bank[bank].started == 0 and ~np.uint64(rf.used) != 0 and not in_access(sm, rf, pair):
        start_transfer(sm, rf, spec, warp, reg, 1)
        close(rf, warp, reg)
    return X_TRANSFER


@device
def merge(sm, rf, spec, rows, warp, reg, mask, value_row, pair, bank):
    """Fill the lanes that a partial result does not write, with a T-Read; the remap follows (B3.3, partial = rmw)."""
    port = sm.bank[bank]
    if port.until_cycle > sm.cycle:
        return STT_WRITE
    if port.read != 0 or (sm.config.bank_ports == 1 and port.written != 0):
        return BANK_CONFLICT
    port.read = 1
    if sm.config.bank_ports == 1:
        port.written = 1
    port.activity = BANK_READ
    port.owner_warp = warp
    port.owner_reg = reg
    old = rows[device_row(sm, rf, warp, reg)].u
    new = rows[value_row].u
    for lane in range(32):
        if not (np.int64(mask) >> lane) & 1:
            new[lane] = old[lane]
    rf.merged[warp] = np.uint64(rf.merged[warp]) | bit64(reg)
    rf.accessed = np.uint64(rf.accessed) | bit64(bank)
    rf.bank[bank].read_pair = pair
    rf.bank[bank].read_kind = T_ACCESS
    sm.events[spec.first_event + T_READS] += 1
    sm.events[spec.first_event + MERGE_READS] += 1
    return X_TRANSFER


def area_mm2(values):
    """Return the area of the register file (HC-RF Table II, arrays only)."""
    return TECHNOLOGY["area_mm2"][0]


PANELS = (
    {"kind": "values", "title": "exchanged pairs", "field": "num_exchanged", "unit": "of 512"},
    {"kind": "values", "title": "X-Transfers in progress", "field": "num_moving", "unit": ""},
    {"kind": "table", "title": "Banks", "field": "bank"},
)

# explains refusals, on the host, never compiled

RELIEF = {"hcrf.x_transfer_cycles": 1}


def why(trail: Trail, moment: Moment, rf: Any, refusal: Refusal) -> bool:
    """Explain a transfer that a read or result waits for, or a bank busy with a T-Write."""
    name = moment.name(refusal.code)
    if name == "x_transfer":
        _transfer(trail, moment, rf, refusal)
        return True
    if 0 <= refusal.bank < moment.num_banks and moment.bank(refusal.bank, "until_cycle") > moment.ran:
        trail.bank_link(moment, refusal.bank, refusal.code, "T-Write")
        trail.end("STT cells", f"STT s-cells of bank {refusal.bank}, a masked write", {"hcrf.t_write_cycles": 1})
        return True
    return False


def _pair_named(moment: Moment, slot: int) -> int:
    """Return the hybrid-cell row that a physical slot belongs to."""
    return slot // moment.num_banks // 2 * moment.num_banks + slot % moment.num_banks


def _transfer(trail: Trail, moment: Moment, rf: Any, refusal: Refusal) -> None:
    """Find the transfer of the register's pair; if there is none, explain what keeps it from starting."""
    bank = refusal.bank
    pair = _pair_named(moment, moment.warp(refusal.warp, "reg_base") + refusal.reg) if refusal.reg >= 0 else -1
    used = int(rf["used"])
    for index in range(64):
        transfer = rf["transfer"][index]
        if (used >> index) & 1 and int(transfer["pair"]) == pair:
            since, until = int(transfer["since_cycle"]), int(transfer["until_cycle"])
            whose = f"w{int(transfer['warp'])} R{int(transfer['reg'])}"
            kind = "late, at write-back" if int(transfer["is_late"]) else "early"
            trail.add(
                f"X-Transfer for {whose}: {until - moment.ran} of {plural(until - since, 'cycle')} left",
                f"pair {pair} of bank {bank}, started {kind}",
                code=refusal.code,
                warp=int(transfer["warp"]),
                since=since,
                until=until,
                bank=bank,
                slot=index,
            )
            trail.end("hybrid cells", f"hybrid cells of pair {pair} in bank {bank}, an X-Transfer", RELIEF)
            return
    access = rf["bank"][bank] if 0 <= bank < len(rf["bank"]) else None
    if access is not None and int(access["started"]):
        trail.add(
            f"bank {bank} started another X-Transfer",
            f"in cycle {moment.ran:,}",
            code=refusal.code,
            bank=bank,
            since=moment.ran,
        )
        trail.end("X-check port", f"X-check port of bank {bank}, one transfer per cycle", RELIEF)
    elif refusal.reg >= 0 and (int(rf["merged"][refusal.warp]) >> refusal.reg) & 1:
        trail.add(
            "its other lanes were read to be merged",
            f"in cycle {moment.ran:,}",
            code=refusal.code,
            bank=bank,
            since=moment.ran,
        )
        trail.end("hybrid cells", f"hybrid cells of pair {pair} in bank {bank}, a T-Read and an X-Transfer", RELIEF)
    else:
        trail.add(
            f"pair {pair} is being read or written",
            f"bank {bank}, cycle {moment.ran:,}: no transfer may start",
            code=refusal.code,
            bank=bank,
            since=moment.ran,
        )
        trail.end("hybrid cells", f"hybrid cells of pair {pair} in bank {bank}, in access", RELIEF)


def holder(at: Columns, refused: Refused) -> Access | None:
    """An X-Transfer is made for the register that will be written to SRAM after it: that one holds the pair."""
    if refused.name != "x_transfer":
        return None
    rows = refused.rows
    used = (at.rf("used")[rows][:, None] >> np.arange(MAX_TRANSFERS, dtype=np.uint64)) & np.uint64(1) != 0
    banks = at.sm("config.num_banks")[rows].astype(np.int64)[:, None]
    moving = used & (at.rf("transfer[*].pair")[rows] % banks == refused.bank[:, None])
    order = np.where(moving, at.rf("transfer[*].since_cycle")[rows], np.iinfo(np.int64).max)
    index, each, is_there = order.argmin(axis=1), np.arange(len(rows)), moving.any(axis=1)
    warp, reg = (at.rf(f"transfer[*].{name}")[rows][each, index].astype(np.int64) for name in ("warp", "reg"))
    return Access(np.where(is_there, warp, -1), np.where(is_there, reg, -1))


DESIGN = Design(
    name="hcrf",
    title="SRAM/STT hybrid cells",
    source="HC-RF, SRAM/STT-RAM hybrid cell register file",
    parameters=PARAMETERS,
    state=STATE,
    events=EVENTS,
    stalls=STALLS,
    energy_pj=ENERGY_PJ,
    technology=TECHNOLOGY,
    panels=PANELS,
    paper_scheduler="lrr",
    paper_preset="hcrf",
    tracks=(("exchanged", "rf.num_exchanged", 0),
            ("moving", "rf.num_moving", 0)),
    places=(("SRAM cells", ("s_reads",), ("s_writes",)),
            ("STT-RAM cells", ("t_reads",), ("t_writes",))),
    event="transfer",
    lens="hcrf",
)
