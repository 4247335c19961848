"""`late`: rows whose lanes are all equal are stored compressed and take longer to read, for tests of late operands.

A copy of each active warp's last result lets `cached` serve operands from a slow cache in on_issue.
"""

from __future__ import annotations

import numpy as np

from rfview.engine.compile.device import device
from rfview.engine.machine import registers
from rfview.engine.plugin import Design, Parameter
from rfview.engine.stalls import FIRST_FOREIGN_CODE, Stall

DECOMPRESS = FIRST_FOREIGN_CODE

PARAMETERS = (
    Parameter("decompress_cycles", 3, "cycles", "assumed: to be seen", "cycles that decompressing a row adds to a read"),
    Parameter("cached", "off", "on or off", "assumed: to be seen", "give all operands at issue, without a bank, as late",
              ("off", "on")),
)

EVENTS = (("decompressions", "compressed rows read"),)

STALLS = (
    Stall(DECOMPRESS, "decompress", "decomp", "▽", "D", "register_file", "An operand is being decompressed."),
)


@device
def is_compressed(rows, row):
    """Return whether all lanes of a row are equal."""
    equal = 1
    for lane in range(1, 32):
        if rows[row].u[lane] != rows[row].u[0]:
            equal = 0
    return equal


def read(sm, rf, spec, rows, warp, reg, mask, out_row):
    """Read a row; a compressed one arrives late."""
    row = registers.main_row(sm, warp, reg)
    registers.copy_row(rows, row, out_row)
    if is_compressed(rows, row):
        sm.events[spec.first_event] += 1
        registers.delay_operand(sm, out_row, spec.decompress_cycles, DECOMPRESS)
    return 0


def on_issue(sm, rf, spec, rows, slot, inst):
    """With `cached`, give all operands at once, all of them late."""
    flight = sm.inflight[slot]
    unread = np.int64(flight.unread)
    if spec.cached == 0 or unread == 0:
        return 0
    collector = np.int64(flight.collector)
    for operand in range(6):
        if (unread >> operand) & 1:
            out_row = sm.config.first_collector_row + collector * 6 + operand
            registers.copy_row(rows, registers.main_row(sm, flight.warp, inst.src[operand]), out_row)
            registers.delay_operand(sm, out_row, spec.decompress_cycles, DECOMPRESS)
    return registers.set_unread(sm, inst, collector, 0)


DESIGN = Design(
    name="late",
    title="compressed rows that are read late",
    source="the project's tests",
    parameters=PARAMETERS,
    state=(),
    events=EVENTS,
    stalls=STALLS,
)
