"""`template`: slow bank writes behind a row latch; `rfview designs --new FILE` writes a copy of it to start from.

An example to change, not a paper's design. A write keeps its bank busy for `write_cycles`, and its row stays in the
bank's latch; a read of the latched register is served from there. Differences from `sram`: a result whose bank is
busy waits (slow_write), and reads that hit a latch are counted and cost less. Not a built-in design; `rfview help
design` explains the parts.
"""

from __future__ import annotations

import numpy as np

from rfview.engine.compile.device import device
from rfview.engine.events import RF_READS
from rfview.engine.machine import registers
from rfview.engine.plugin import Design, Parameter
from rfview.engine.stalls import BANK_CONFLICT, FIRST_FOREIGN_CODE, Stall
from rfview.engine.state import MAX_BANKS

SLOW_WRITE = FIRST_FOREIGN_CODE        # a stall code of its own: 32 to 39

# Parameters: --design 'FILE.py[write_cycles=3]'. Hooks read spec.write_cycles.
PARAMETERS = (
    Parameter("write_cycles", 2, "cycles", "assumed: to be seen", "how long a write keeps its bank busy",
              low=1, high=64, is_live=True),
)

# State, which hooks access as `rf`. All of it is recorded, shown and rewound; keep state nowhere else.
STATE = (
    ("latched", "u4", (MAX_BANKS,)),   # per bank: 1 + row in its latch, 0 = none
)

# Events (rf_reads and rf_writes are counted anyway), which hooks count with sm.events[spec.first_event + HITS].
EVENTS = (
    ("latch_hits", "reads served by a bank's latch"),
)
HITS = 0

STALLS = (
    Stall(SLOW_WRITE, "slow_write", "slow", "▽", "W", "register_file", "The bank is busy with a slow write."),
)


def write_back(sm, rf, spec, rows, warp, reg, mask, value_row, slot):
    """Write the lanes `mask` of a result, latch the row, and keep the bank busy; refuse while it is busy."""
    bank = registers.default_bank(sm, warp, reg)
    if sm.bank[bank].until_cycle > sm.cycle:
        return SLOW_WRITE
    if not registers.take_write_port(sm, bank, warp, reg):
        return BANK_CONFLICT
    row = registers.main_row(sm, warp, reg)
    registers.write_row(sm, rows, row, value_row, mask)
    rf.latched[bank] = row + 1
    sm.bank[bank].since_cycle = sm.cycle
    sm.bank[bank].until_cycle = sm.cycle + spec.write_cycles
    sm.bank[bank].busy_code = SLOW_WRITE
    registers.release(sm, warp, reg)   # later instructions may now use the register
    return 0


def read(sm, rf, spec, rows, warp, reg, mask, out_row):
    """Read a register into a collector; the arbiter has already granted the port."""
    row = registers.main_row(sm, warp, reg)
    if rf.latched[registers.default_bank(sm, warp, reg)] == row + 1:
        sm.events[spec.first_event + HITS] += 1
    registers.copy_row(rows, row, out_row)
    return 0


# On the sub-core of today's GPUs, which runs machine code, these two take the place of write_back and read: they say for how
# many cycles a bank is busy; the values are in their rows.


def write_cycles(sm, rf, spec, warp, reg, lanes, is_late, is_float):
    """Latch a result's row, and write it slowly."""
    rf.latched[subcore_bank(warp, reg)] = registers.main_row(sm, warp, reg) + 1
    return np.int64(spec.write_cycles)


def read_cycles(sm, rf, spec, warp, reg, is_float):
    """Read a bank, or its latch, which needs no port."""
    if rf.latched[subcore_bank(warp, reg)] == registers.main_row(sm, warp, reg) + 1:
        sm.events[RF_READS] += 1        # counted for you only if it takes a port
        sm.events[spec.first_event + HITS] += 1
        return 0
    return 1


@device
def subcore_bank(warp, reg):
    """Return the bank that the compiler expects a register in: two per sub-core."""
    return warp % 4 * 2 + reg % 2


def next_event(sm, rf, spec):
    """Return when the first busy bank is free: idle cycles before that may be skipped. sm.cycle: this one must run."""
    return registers.first_bank_free(sm)


def why(trail, moment, rf, refusal):
    """Explain which write keeps a bank busy, for `why` chains; never compiled, reads the recorded state, optional."""
    until = moment.bank(refusal.bank, "until_cycle") if refusal.code == SLOW_WRITE and refusal.bank >= 0 else 0
    if until <= moment.ran:
        return False       # not ours, or over: the stall's own sentence remains
    cycles = trail.value("template.write_cycles")
    trail.add(f"bank {refusal.bank} still writes", f"{until - moment.ran} of {cycles} cycles left",
              code=SLOW_WRITE, since=until - cycles, until=until, bank=refusal.bank)
    trail.end("bank", f"bank {refusal.bank}, a write of {cycles} cycles", {"template.write_cycles": 1})
    return True


DESIGN = Design(
    name="template",
    title="slow writes behind a row latch",
    source="an example",
    parameters=PARAMETERS,
    state=STATE,
    events=EVENTS,
    stalls=STALLS,
    energy_pj={
        "rf_reads": (200.0, "assumed: pJ per read of a row, latched or not"),
        "rf_writes": (300.0, "assumed: pJ per write of a row"),
        "latch_hits": (-150.0, "assumed: saved by a read that the latch serves"),
    },
    technology={"leakage_mw": (100.0, "mW", "assumed")},
    panels=({"kind": "table", "title": "latched rows, from 1", "field": "latched", "per": "bank"},),
)
