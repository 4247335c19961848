"""`edram`: a 3T1D eDRAM register file that refreshes the lower half words of floating-point values less often.

Every row is refreshed each T0 (the cell's retention). A flag per row says whether it holds an approximate value, told by the
floating-point instructions that touch it; the lower halves (bits 15..0 of each word) of approximate rows are refreshed only
each 2^M x T0, and lose bits meanwhile: in the carried values, so in the kernel's output. Paper: Jeong, Oh, Lee, Park, "An
eDRAM-Based Approximate Register File for GPUs", IEEE Design & Test 33(1), 2016. Differs from `sram`: a refresh takes the
bank for a cycle (`refresh`), banks have one read and one write port ("dual-ported multibanked"), values can decay.
Oddities of the paper: the text says 22 programs and all 15 of Polybench, Table 2 has 21 rows (mvt is missing); "16 PEs" in
Table 1 are 32 SPs elsewhere; in Table 1 the energies are taken per access of a whole 1024-bit row.

Deviations, and choices where the paper is silent:
 1. What counts as a floating-point instruction: Fermi's class, PTX .f32 and .f64 arithmetic, minimum, maximum, comparison,
    MUFU; not ld, st, mov, selp, shfl, cvt and not 16-bit floats (B4.1). The last retirement wins, whatever its mask (B4.3).
 2. Both registers of a double are flagged, so that mantissa bits 47..32 are at risk too; with `double_low_word_only` the
    high word's register is left out (B4.2): as a destination it becomes precise, as a source it keeps its flag.
 3. A write of all living lanes restores its row, a partial one does not reset its age; reads do not restore (B4.4).
 4. The place s of a register (row s // 16 of bank s % 16) is refreshed at s x T0 / 1024 cycles into every T0, counted from
    the launch's begin; read and write-back take one bank cycle, before any access; both halves together (B4.5). All banks'
    M-bit counters start at 0. `postpone` lets a refresh wait for an idle bank cycle; ages are then counted from the cycle in
    which it was due, and a row may go T0 + postpone cycles without refresh (we add no guard band).
 5. The bit error model of Cho et al. is not public: P(age) is a lognormal retention time, 0 up to T0, then 2.0e-5 at 8 T0
    and 1.1e-3 at 16 T0, in units of T0 at every node (B4.7, ours).
 6. The paper draws the expected errors over the entire register file each T0. Here row by row: a row whose cells all are
    younger than T0 cannot lose a bit, others lose P(age) - P(age - T0) of theirs, so that no failure counts twice. The
    fractions of all rows are added up over time, and each whole bit falls on a row in proportion to its share. Only
    `error_mode = literal` draws P(2^M T0) for every approximate row at every T0.
 7. A drawn bit that is 0 stays 0 and counts as masked: cells only discharge.
 8. Worst case (`never_refresh_low`, "approximate bits are always flipped"): all 16 x 32 bits of a lower half are inverted at
    the first T0 tick after it has become older than T0; under `literal` at every tick, whatever the age.
 9. `power_gate_unallocated`: a place that belongs to no resident warp is neither refreshed nor leaks; leakage is shared out
    evenly over rows, by the refresh turns that found their row gated.
10. The values of a warp that has ended are dropped, so that nothing is lost in its rows; their flags stay, as only
    instructions change them, and save refreshes until a new warp writes them (keep_flags, B4.9). A new warp's registers
    count as written when it starts.
11. "Flags are updated when retiring" fails out of order: an integer written to a source register after it was read, but
    before the floating-point instruction retires, would be flagged with it (in gemm_double an address, and the kernel
    faults). A source that has been written since the instruction was issued is left alone. For the same reason the rows of
    a non-floating-point result that are accepted before its last one are precise at once.
"""

from __future__ import annotations

from typing import Any

import math

import numpy as np

from rfview.engine.machine import registers
from rfview.engine.compile.bits import bit64, popcount, set_bits
from rfview.engine.compile.device import device
from rfview.engine.plugin import Design, Parameter
from rfview.engine.plugin.explaining import Moment, Refusal, Trail
from rfview.engine.plugin.holding import Access, Columns, Refused
from rfview.engine.program import NO_REG, NUM_SRC_ROWS
from rfview.engine.stalls import BANK_CONFLICT, Stall
from rfview.engine.state import BANK_BUSY, BANK_IDLE, MAX_BANKS, MAX_INFLIGHT, MAX_ROWS, NONE8

INCREMENT, LITERAL, CERTAIN, NO_ERRORS = range(4)
NODES = {22: 2048, 16: 1024, 11: 512}
GPU_MHZ = 700
MAX_M = 4


def node_of(text):
    """Return a technology node from a setting's text; raises ValueError for one that Table 1 does not have."""
    if str(text) not in map(str, NODES):
        raise ValueError(f"expected one of {', '.join(map(str, NODES))}")
    return int(text)


REFRESH = 20
STALLS = (Stall(
    REFRESH, "refresh", "refresh", "↻", "r", "register_file", "The bank spends this cycle on a refresh.",
    "bank refreshes a row", "eDRAM, section on refresh strategies; our assumption: one bank cycle for both halves"),)

PARAMETERS = (
    Parameter("m", 3, "bits", "methodology, Fig. 4: the largest with RMSE below 1 %",
              "width of the refresh counter: lower halves of approximate rows are refreshed each 2^m x T0",
              high=MAX_M),
    Parameter("node", 11, "nm", "Table 1; T0 = 2048, 1024, 512 cycles at 22, 16, 11 nm",
              "technology node: retention T0 in cycles, energies and leakage", convert=node_of),
    Parameter("precise_only", 0, "0 or 1", "the paper's baseline: precise eDRAM register file",
              "keep no flags: refresh both halves of every row each T0", high=1),
    Parameter("error_mode", "increment", "how bits are lost", "methodology, step 1; deviation 6",
              "increment: P(age) less what was drawn before; literal: P(2^m T0) at every T0, 8x as many at m = 3; "
              "certain: every bit older than T0 (a test curve); none", ("increment", "literal", "certain", "none"),
              is_live=True),
    Parameter("seed", 0, "number", "the paper runs three and takes the worst",
              "seed of the random numbers that choose bits", high=(1 << 31) - 1, is_live=True),
    Parameter("never_refresh_low", 0, "0 or 1", "results: worst case, RMSE 29 %",
              "never refresh the lower halves of approximate rows; all their bits flip", high=1),
    Parameter("double_low_word_only", 0, "0 or 1", "option of ours, deviation 2",
              "treat only the low register of a double as approximate", high=1, is_live=True),
    Parameter("keep_flags", 1, "0 or 1", "tracking approximate values: flags \"are updated when retiring\"; deviation 10",
              "keep a row's flag until an instruction changes it; 0: rows become precise when their warp ends", high=1),
    Parameter("retention_mhz", 700, "MHz", "Table 1: \"1400 MHz (2x 700 MHz GPU clk)\"; B4.10",
              "clock of the cycles in which Table 1 gives T0; cycles of the machine are those of 700 MHz",
              low=GPU_MHZ, high=2 * GPU_MHZ),
    Parameter("power_gate_unallocated", 0, "0 or 1", "energy savings, Fig. 6; Jing et al., ISLPED'13",
              "switch off the rows that belong to no resident warp", high=1),
    Parameter("postpone", 0, "cycles", "Jing et al., ISCA'13; deviation 4",
              "let a refresh wait so many cycles for a cycle in which its bank is idle", high=511),
)

STATE = (
    ("approximate", "u8", (MAX_ROWS // 64,)),   # bit per row: 1 approximate, 0 precise (the inverse of the paper's flag)
    ("struck", "u8", (MAX_ROWS // 64,)),        # bit per row: lost a bit at the last T0 tick
    ("rewritten", "u8", (MAX_ROWS // 64,)),     # bit per row: written since a floating-point reader of it was last issued
    ("pairs", "u8", (MAX_INFLIGHT // 64,)),     # bit per in-flight entry: not floating-point, and writes more than one row
    ("fraction", "i8"),                         # expected lost bits not drawn yet, in 2^-40 bits
    ("draws", "i8"),                            # random numbers used so far: the generator's counter
    ("restored", "i8", (MAX_ROWS,)),            # cycle of the launch of the lower half's last write, or of its last refresh
                                                # as a precise row; refreshes as an approximate row follow from the clock
    ("turns", "i8", (MAX_BANKS,)),              # refresh turns each bank has done (only with postpone; else by the clock)
)

(ROW_REFRESHES, LOW_REFRESHES, APPROXIMATE_TURNS, GATED_TURNS, FORCED_REFRESHES, BITS_LOST, BITS_MASKED) = range(7)
EVENTS = (
    ("row_refreshes", "rows whose upper half was refreshed"),
    ("low_refreshes", "rows whose lower half was refreshed in the same bank cycle"),
    ("approximate_turns", "refresh turns that found their row approximate"),
    ("gated_turns", "refresh turns of rows that are power-gated"),
    ("forced_refreshes", "postponed refreshes that found no idle bank cycle in time"),
    ("bits_lost", "bits of carried values that decayed"),
    ("bits_masked", "bits that decayed where a 0 was stored"),
)

READ_FJ = {22: 316.0, 16: 284.0, 11: 256.0}
WRITE_FJ = {22: 149.0, 16: 134.0, 11: 121.0}
LEAKAGE_UW = {22: 41.5, 16: 45.7, 11: 50.2}
BANKS, ROWS_PER_BANK = 16, 64
TECHNOLOGY = {
    **{f"read_fj_{node}nm": (fj, "fJ/row access", "Table 1") for node, fj in READ_FJ.items()},
    **{f"write_fj_{node}nm": (fj, "fJ/row access", "Table 1") for node, fj in WRITE_FJ.items()},
    **{f"leakage_uw_{node}nm": (uw, "uW/bank", "Table 1") for node, uw in LEAKAGE_UW.items()},
    **{f"retention_cycles_{node}nm": (float(cycles), "cycles", "Table 1") for node, cycles in NODES.items()},
    "leakage_mw": (LEAKAGE_UW[11] * BANKS / 1e3, "mW", "Table 1, 16 banks at 11 nm"),
}
ENERGY_PJ = {
    "rf_reads": (READ_FJ[11] / 1e3, "Table 1, 11 nm"),
    "rf_writes": (WRITE_FJ[11] / 1e3, "Table 1, 11 nm"),
    "row_refreshes": ((READ_FJ[11] + WRITE_FJ[11]) / 2e3, "assumed: half a row's read and write (Table 1, 11 nm; B4.10)"),
    "low_refreshes": ((READ_FJ[11] + WRITE_FJ[11]) / 2e3, "assumed: half a row's read and write (Table 1, 11 nm; B4.10)"),
}

FRACTION_BITS = 40
ONE_BIT = 1 << FRACTION_BITS
HALF_ROW_BITS = 16 * 32
STEPS = 64                            # table entries per T0
LOG_MEAN, LOG_SIGMA = 4.82, 0.667     # of ln(retention / T0): ours, B4.7


def failure_probability(age_in_t0):
    """Return the probability that a cell has lost its charge at an age in units of T0 (B4.7): 0 up to 1."""
    if age_in_t0 <= 1:
        return 0.0
    return 0.5 * math.erfc((LOG_MEAN - math.log(age_in_t0)) / (LOG_SIGMA * math.sqrt(2)))


# expected lost bits of one lower half at age i x T0 / STEPS, in 2^-40 bits
LOST = np.array(
    [round(HALF_ROW_BITS * failure_probability(i / STEPS) * ONE_BIT) for i in range(STEPS * 2**MAX_M + 1)], np.int64
)
LAST_STEP = len(LOST) - 1


def begin_cycle(sm, rf, spec, rows):
    """Give this cycle's due refreshes their banks, before any access (B4.5)."""
    if spec.postpone > 0:
        return force_refreshes(sm, rf, spec)
    t0 = retention(spec)
    now = launch_cycle(sm)
    period = now // t0
    phase = now - period * t0
    total = num_places(sm)
    place = (phase * total + t0 - 1) // t0
    end = ((phase + 1) * total + t0 - 1) // t0
    while place < end:
        refresh(sm, rf, spec, place, period)
        place += 1
    return 0


def read(sm, rf, spec, rows, warp, reg, mask, out_row):
    """Copy the row as it is now, decayed bits included; refused while its bank refreshes."""
    if sm.bank[registers.default_bank(sm, warp, reg)].activity == BANK_BUSY:
        return REFRESH
    registers.copy_row(rows, registers.main_row(sm, warp, reg), out_row)
    return 0


def write_back(sm, rf, spec, rows, warp, reg, mask, value_row, slot):
    """Write a row; one that covers every living lane restores its age (B4.4)."""
    bank = registers.default_bank(sm, warp, reg)
    if sm.bank[bank].activity == BANK_BUSY:
        return REFRESH
    if not registers.take_write_port(sm, bank, warp, reg):
        return BANK_CONFLICT
    row = registers.main_row(sm, warp, reg)
    registers.write_row(sm, rows, row, value_row, mask)
    rf.rewritten[row >> 6] = np.uint64(rf.rewritten[row >> 6]) | bit64(row & 63)
    if (np.int64(mask) | np.int64(sm.warp[warp].exited)) == 0xFFFFFFFF:
        rf.restored[row] = launch_cycle(sm)
    if np.uint64(rf.pairs[slot >> 6]) & bit64(slot & 63) != 0:
        mark_precise(rf, row)
    registers.release(sm, warp, reg)
    return 0


def on_issue(sm, rf, spec, rows, slot, inst):
    """Note from when on writes of a floating-point source are younger than its read, and integer pairs (deviation 11)."""
    if inst.is_float == 0 and inst.num_dst > 1 and spec.precise_only == 0:
        rf.pairs[slot >> 6] = np.uint64(rf.pairs[slot >> 6]) | bit64(slot & 63)
    if inst.is_float != 0:
        warp = np.int64(sm.inflight[slot].warp)
        src_mask = np.int64(inst.src_mask)
        for operand in range(NUM_SRC_ROWS):
            if (src_mask >> operand) & 1:
                row = registers.main_row(sm, warp, inst.src[operand])
                rf.rewritten[row >> 6] = np.uint64(rf.rewritten[row >> 6]) & ~bit64(row & 63)
    return 0


def on_retire(sm, rf, spec, rows, slot, inst):
    """Flag the rows: a floating-point instruction's are approximate, any other's destination is precise (B4.1)."""
    if spec.precise_only != 0:
        return 0
    warp = np.int64(sm.inflight[slot].warp)
    if inst.num_dst > 1:
        rf.pairs[slot >> 6] = np.uint64(rf.pairs[slot >> 6]) & ~bit64(slot & 63)
    low_only = spec.double_low_word_only != 0 and is_double(inst)
    src_mask = np.int64(inst.src_mask) if inst.is_float != 0 else np.int64(0)
    for operand in range(NUM_SRC_ROWS):
        if (src_mask >> operand) & 1 and not (low_only and operand & 1):
            place = registers.main_row(sm, warp, inst.src[operand])
            if np.uint64(rf.rewritten[place >> 6]) & bit64(place & 63) == 0:
                mark_approximate(sm, rf, spec, place)
    for row in range(inst.num_dst):
        if inst.dst[row] != NO_REG:
            place = registers.main_row(sm, warp, inst.dst[row])
            if inst.is_float == 0 or (low_only and row & 1):
                mark_precise(rf, place)
            else:
                mark_approximate(sm, rf, spec, place)
    return 0


def on_warp_start(sm, rf, spec, rows, warp):
    """Start a warp with cleared registers, which count as written now."""
    if spec.keep_flags == 0:
        mark_warp_precise(sm, rf, warp)
    base = np.int64(sm.warp[warp].reg_base)
    for reg in range(sm.launch.registers):
        rf.restored[base + reg] = launch_cycle(sm)
    return registers.clear_warp(sm, rows, warp)


def on_exit(sm, rf, spec, rows, warp):
    """Forget the values of a warp that has ended, and with keep_flags = 0 that they were approximate."""
    return mark_warp_precise(sm, rf, warp) if spec.keep_flags == 0 else 0


def end_cycle(sm, rf, spec, rows):
    """Do postponed refreshes in idle banks; at every T0 tick let aged bits decay (B4.7)."""
    if spec.postpone > 0:
        refresh_idle_banks(sm, rf, spec)
    if spec.error_mode != NO_ERRORS and spec.precise_only == 0:
        now = launch_cycle(sm)
        if now > 0 and now % retention(spec) == 0:
            decay(sm, rf, spec, rows)
    return 0


def next_event(sm, rf, spec):
    """Return the cycle of the next refresh turn; T0 ticks are turns of place 0."""
    now = launch_cycle(sm)
    if spec.postpone > 0:
        for bank in range(sm.config.num_banks):
            if turn_due(sm, rf, spec, bank) < now:
                return sm.cycle
    t0 = retention(spec)
    phase = now % t0
    total = num_places(sm)
    place = (phase * total + t0 - 1) // t0
    due = place * t0 // total
    return np.int64(sm.cycle) + max(np.int64(0), due - phase)


@device
def launch_cycle(sm):
    """Return the current cycle, counted from the launch's start."""
    return np.int64(sm.cycle) - np.int64(sm.launch.start_cycle)


@device
def retention(spec):
    """Return T0 in cycles of the machine."""
    cycles = np.int64(512) if spec.node == 11 else np.int64(1024) if spec.node == 16 else np.int64(2048)
    return cycles * GPU_MHZ // np.int64(spec.retention_mhz)


@device
def num_places(sm):
    """Return the number of rows of the register file."""
    return np.int64(sm.config.num_banks) * np.int64(sm.config.rows_per_bank)


@device
def is_approximate(rf, place):
    """Return whether a row is flagged approximate."""
    return np.uint64(rf.approximate[place >> 6]) & bit64(place & 63) != 0


@device
def mark_precise(rf, place):
    """Flag a row precise: from now on both halves are refreshed each T0."""
    rf.approximate[place >> 6] = np.uint64(rf.approximate[place >> 6]) & ~bit64(place & 63)


@device
def mark_approximate(sm, rf, spec, place):
    """Flag a row approximate; a row that was precise was refreshed when its last turn was due."""
    if is_approximate(rf, place):
        return
    rf.approximate[place >> 6] = np.uint64(rf.approximate[place >> 6]) | bit64(place & 63)
    refreshed = last_turn(sm, spec, place, retention(spec))
    if refreshed > np.int64(rf.restored[place]):
        rf.restored[place] = refreshed


@device
def mark_warp_precise(sm, rf, warp):
    """Flag all rows of a warp precise."""
    base = np.int64(sm.warp[warp].reg_base)
    for reg in range(sm.launch.registers):
        mark_precise(rf, base + reg)
    return 0


@device
def is_double(inst):
    """Return whether a floating-point instruction has a 64-bit operand: high words are in odd row slots."""
    return (np.int64(inst.src_mask) | np.int64(inst.imm_mask)) & 0b101010 != 0 or inst.num_dst > 1


@device
def owner(sm, place):
    """Return the resident warp whose register is in a row, or NONE8."""
    if sm.launch.registers == 0:
        return np.int64(NONE8)
    warp = place // np.int64(sm.launch.registers)
    if warp >= sm.config.num_warps or np.uint64(sm.resident) & bit64(warp) == 0:
        return np.int64(NONE8)
    return warp


@device
def refresh(sm, rf, spec, place, period):
    """Refresh one row in a bank's cycle: its upper half, and its lower half unless that is approximate and not yet due."""
    warp = owner(sm, place)
    if warp == NONE8 and spec.power_gate_unallocated != 0:
        sm.events[spec.first_event + GATED_TURNS] += 1
        return 0
    port = sm.bank[place % np.int64(sm.config.num_banks)]
    port.activity = BANK_BUSY
    port.busy_code = REFRESH
    port.owner_warp = warp
    port.owner_reg = place - warp * np.int64(sm.launch.registers) if warp != NONE8 else np.int64(NONE8)
    sm.events[spec.first_event + ROW_REFRESHES] += 1
    if is_approximate(rf, place):
        sm.events[spec.first_event + APPROXIMATE_TURNS] += 1
        if spec.never_refresh_low != 0 or period & ((1 << spec.m) - 1) != 0:
            return 0
    sm.events[spec.first_event + LOW_REFRESHES] += 1
    return 0


@device
def turn_due(sm, rf, spec, bank):
    """Return the cycle of the launch in which a bank's next refresh is due (with postpone)."""
    t0 = retention(spec)
    rows_per_bank = np.int64(sm.config.rows_per_bank)
    turn = np.int64(rf.turns[bank])
    place = turn % rows_per_bank * np.int64(sm.config.num_banks) + bank
    return turn // rows_per_bank * t0 + place * t0 // num_places(sm)


@device
def take_turn(sm, rf, spec, bank):
    """Refresh the next row of a bank."""
    rows_per_bank = np.int64(sm.config.rows_per_bank)
    turn = np.int64(rf.turns[bank])
    rf.turns[bank] = turn + 1
    return refresh(sm, rf, spec, turn % rows_per_bank * np.int64(sm.config.num_banks) + bank, turn // rows_per_bank)


@device
def force_refreshes(sm, rf, spec):
    """Give the bank to every refresh that cannot wait any longer."""
    now = launch_cycle(sm)
    for bank in range(sm.config.num_banks):
        if turn_due(sm, rf, spec, bank) + spec.postpone <= now:
            take_turn(sm, rf, spec, bank)
            if sm.bank[bank].activity == BANK_BUSY:
                sm.events[spec.first_event + FORCED_REFRESHES] += 1
    return 0


@device
def refresh_idle_banks(sm, rf, spec):
    """Perform the due refresh of every bank that was idle in this cycle."""
    now = launch_cycle(sm)
    for bank in range(sm.config.num_banks):
        if sm.bank[bank].activity == BANK_IDLE and turn_due(sm, rf, spec, bank) <= now:
            take_turn(sm, rf, spec, bank)


@device
def last_turn(sm, spec, place, interval):
    """Return the last cycle of the launch up to now at which a row's turn came, counting one turn per `interval`.

    -1 if there was none yet. interval: a multiple of T0.
    """
    offset = place * retention(spec) // num_places(sm)
    elapsed = launch_cycle(sm) - offset
    if elapsed < 0:
        return np.int64(-1)
    return elapsed // interval * interval + offset


@device
def low_age(sm, rf, spec, place):
    """Return the cycles since the lower half of an approximate row was written or refreshed."""
    restored = np.int64(rf.restored[place])
    if spec.never_refresh_low == 0:
        restored = max(restored, last_turn(sm, spec, place, retention(spec) << np.int64(spec.m)))
    return launch_cycle(sm) - restored


@device
def expected_losses(sm, rf, spec, place):
    """Return the bits that an approximate row is expected to lose at this T0 tick, in 2^-40 bits.

    A row that belongs to no warp has nothing to lose.
    """
    if owner(sm, place) == NONE8:
        return np.int64(0)
    t0 = retention(spec)
    if spec.error_mode == LITERAL:
        if spec.never_refresh_low != 0:
            return np.int64(HALF_ROW_BITS) << FRACTION_BITS
        return np.int64(LOST[STEPS << np.int64(spec.m)])
    age = low_age(sm, rf, spec, place)
    if age <= t0:
        return np.int64(0)
    if spec.error_mode == CERTAIN or spec.never_refresh_low != 0:
        return np.int64(HALF_ROW_BITS) << FRACTION_BITS if age <= 2 * t0 else np.int64(0)
    step = age * STEPS // t0
    return np.int64(LOST[min(step, np.int64(LAST_STEP))]) - np.int64(LOST[min(step - STEPS, np.int64(LAST_STEP))])


@device
def decay(sm, rf, spec, rows):
    """Lose the bits due at a T0 tick: whole bits row by row, the fractions of all rows together."""
    fractions = np.int64(0)
    for word in range(MAX_ROWS // 64):
        rf.struck[word] = 0
        for low in set_bits(rf.approximate[word]):
            place = np.int64(word * 64 + low)
            expected = expected_losses(sm, rf, spec, place)
            if expected >= ONE_BIT:
                strike_many(sm, rf, spec, rows, place, expected >> FRACTION_BITS)
            fractions += expected & (ONE_BIT - 1)
    rf.fraction += fractions
    while rf.fraction >= ONE_BIT:
        rf.fraction -= ONE_BIT
        place = pick_place(sm, rf, spec, fractions)
        bit = draw(sm, rf, spec, HALF_ROW_BITS)
        strike(sm, rf, spec, rows, place, bit)


@device
def pick_place(sm, rf, spec, fractions):
    """Draw an approximate row in proportion to the fraction of a bit that it is expected to lose."""
    high = draw(sm, rf, spec, 1 << 30)
    target = ((high << np.int64(30)) | draw(sm, rf, spec, 1 << 30)) % max(np.int64(1), fractions)
    chosen = np.int64(0)
    for word in range(MAX_ROWS // 64):
        for low in set_bits(rf.approximate[word]):
            place = np.int64(word * 64 + low)
            share = expected_losses(sm, rf, spec, place) & (ONE_BIT - 1)
            if share > 0:
                chosen = place
                target -= share
                if target < 0:
                    return chosen
    return chosen


@device
def strike(sm, rf, spec, rows, place, bit):
    """Discharge bit `bit` (lane x 16 + bit of the lower half) of a row."""
    values = rows[place].u
    lane = bit >> 4
    value = np.int64(values[lane])
    if (value >> (bit & 15)) & 1:
        values[lane] = value & ~(np.int64(1) << (bit & 15))
        book_lost(sm, rf, spec, place, 1)
        return
    sm.events[spec.first_event + BITS_MASKED] += 1


@device
def strike_many(sm, rf, spec, rows, place, count):
    """Discharge `count` different bits of a lower half; in the worst case invert them all."""
    if count >= HALF_ROW_BITS:
        strike_all(sm, rf, spec, rows, place)
        return
    needed = count
    for bit in range(HALF_ROW_BITS):
        if needed > 0 and draw(sm, rf, spec, HALF_ROW_BITS - bit) < needed:
            needed -= 1
            strike(sm, rf, spec, rows, place, np.int64(bit))


@device
def strike_all(sm, rf, spec, rows, place):
    """Discharge the whole lower half of a row, or invert it if it is never refreshed."""
    values = rows[place].u
    lost = np.int64(0)
    for lane in range(32):
        value = np.int64(values[lane])
        if spec.never_refresh_low != 0:
            values[lane] = value ^ 0xFFFF
            lost += 16
        else:
            values[lane] = value & 0xFFFF0000
            lost += popcount(np.uint64(value & 0xFFFF))
    sm.events[spec.first_event + BITS_MASKED] += HALF_ROW_BITS - lost
    book_lost(sm, rf, spec, place, lost)


@device
def book_lost(sm, rf, spec, place, bits):
    """Count lost bits and note for the journal and the views which row they were in."""
    if bits > 0:
        sm.events[spec.first_event + BITS_LOST] += bits
        rf.struck[place >> 6] = np.uint64(rf.struck[place >> 6]) | bit64(place & 63)
        registers.note_loss(sm, place)


@device
def mix(word):
    """Scramble a 32-bit number; products stay below 2^63, so that it is the same with and without JIT."""
    word ^= word >> 16
    word = (word * 0x7FEB352D) & 0xFFFFFFFF
    word ^= word >> 15
    word = (word * 0x2C1B3C6D) & 0xFFFFFFFF
    word ^= word >> 12
    word = (word * 0x297A2D39) & 0xFFFFFFFF
    return word ^ (word >> 15)


@device
def draw(sm, rf, spec, below):
    """Return a random number in [0, below), below <= 2^31: a hash of seed, launch and the count of numbers drawn."""
    count = np.int64(rf.draws)
    rf.draws = count + 1
    key = mix(np.int64(spec.seed) ^ mix((np.int64(sm.launch.index) + 0x9E3779B9) & 0xFFFFFFFF))
    word = mix((mix((count & 0xFFFFFFFF) ^ key) + (count >> 32) + key) & 0xFFFFFFFF)
    return (word * np.int64(below)) >> np.int64(32)


def energy(run):
    """Return dynamic, leakage and refresh energy of a run in pJ.

    Assumed: a refresh costs a read and a write of the half row (B4.10). Power-gated rows do not leak (deviation 9).
    """
    node = int(run.values["edram.node"])
    counts = run.counts
    rows = counts.get("row_refreshes", 0)
    turns = rows + counts.get("gated_turns", 0)
    powered = rows / turns if turns else 1.0
    halves = rows + counts.get("low_refreshes", 0)
    return {
        "dynamic": (READ_FJ[node] * counts.get("rf_reads", 0) + WRITE_FJ[node] * counts.get("rf_writes", 0)) / 1e3,
        "leakage": run.leakage_pj(leakage_mw(node)) * powered,
        "refresh": halves * (READ_FJ[node] + WRITE_FJ[node]) / 2e3,
    }


def node_nm(values, preset):
    """Return the technology node in nm, a parameter."""
    return values["edram.node"]


def leakage_mw(node):
    """Return the leakage of 16 banks in mW at a technology node in nm."""
    return LEAKAGE_UW[node] * BANKS / 1e3


def retention_cycles(node, mhz):
    """Return T0 in cycles of the machine; mhz: the clock whose cycles Table 1's are (B4.10)."""
    return NODES[node] * GPU_MHZ // mhz


def refresh_pj(node, mhz=GPU_MHZ):
    """Return the energy in pJ per cycle of refreshing all 1024 rows once per T0."""
    return BANKS * ROWS_PER_BANK * (READ_FJ[node] + WRITE_FJ[node]) / 1e3 / retention_cycles(node, mhz)


def refresh_saving(m, approximate_share):
    """Return the share of refresh energy saved when that share of rows is approximate: half a row in all but 1 of 2^m."""
    return 0.5 * (1 - 2.0**-m) * approximate_share


FLAG_BYTES = BANKS * ROWS_PER_BANK // 8
# flag 6T, two-input AND 6T, three-input OR 8T per row; a 3-bit counter of 36T per bank; 3T per cell ("Hardware cost")
TRANSISTOR_OVERHEAD = ((6 + 6 + 8) * ROWS_PER_BANK + 36) / (ROWS_PER_BANK * 1024 * 3)

PANELS = (
    {"kind": "values", "title": "random numbers drawn", "field": "draws"},
    {"kind": "values", "title": "losses not drawn yet", "field": "fraction", "unit": "x 2^-40 bits"},
)

# explains refusals, on the host, never compiled


def why(trail: Trail, moment: Moment, rf: Any, refusal: Refusal) -> bool:
    """Explain an access refused for a refresh."""
    bank = refusal.bank
    if moment.name(refusal.code) != "refresh" or not 0 <= bank < moment.num_banks:
        return False
    whose = moment.owner(bank)
    node = trail.value("edram.node", 11)
    trail.add(
        f"bank {bank} refreshes {f'the row of {whose}' if whose else 'a row'}",
        f"in cycle {moment.ran:,}, for one cycle",
        code=refusal.code,
        warp=moment.bank(bank, "owner_warp"),
        since=moment.ran,
        until=moment.ran + 1,
        bank=bank,
    )
    cycles = retention_cycles(node, trail.value("edram.retention_mhz", GPU_MHZ))
    relief = {"edram.node": 22} if node != 22 else {}
    trail.end("eDRAM bank", f"eDRAM bank {bank}: every row is refreshed each {cycles:,} cycles", relief)
    return True


def holder(at: Columns, refused: Refused) -> Access | None:
    """A refresh is held by the instruction that wrote the row's register, whose value it keeps."""
    if refused.name != "refresh":
        return None
    rows, bank, known = refused.rows, np.maximum(refused.bank, 0), refused.bank >= 0
    warp, reg = (at.sm(f"bank[*].{name}")[rows, bank].astype(np.int64) for name in ("owner_warp", "owner_reg"))
    return Access(np.where(known, warp, -1), np.where(known, reg, -1))


DESIGN = Design(
    name="edram",
    title="eDRAM, lower halves of floats refreshed less often",
    source="Jeong et al., An eDRAM-Based Approximate Register File for GPUs, IEEE Design & Test 33(1), 2016",
    parameters=PARAMETERS,
    state=STATE,
    settings={"sm.bank_ports": 2},
    events=EVENTS,
    stalls=STALLS,
    energy_pj=ENERGY_PJ,
    technology=TECHNOLOGY,
    panels=PANELS,
    tracks=(("refreshed", "event.row_refreshes", -1),
            ("bits lost", "event.bits_lost", -1)),
    places=(("eDRAM", ("rf_reads",), ("rf_writes",)),),
    event="refresh",
    lens="edram",
    is_lossy=True,
    paper_preset="edram",
)
