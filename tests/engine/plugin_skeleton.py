"""`skeleton`: the smallest design built over another, for tests of the mechanism: one copied value per active warp.

Every result goes to the main register file and is also copied; reads of the copied register are served from the copy.
A warp that leaves the active set waits one cycle and loses its copy. The only difference from `sram` is where that
value is read.
"""

from __future__ import annotations

import numpy as np

from rfview.engine import hooks
from rfview.engine.designs.rfc import RFC_FLUSH, STALLS
from rfview.engine.machine import registers
from rfview.engine.compile.bits import bit64
from rfview.engine.plugin import Design, Parameter
from rfview.engine.state import MAX_WARPS

PARAMETERS = (
    Parameter("leave_cycles", 1, "cycles", "assumed: to be seen", "how long a warp takes to leave"),
    Parameter("hit_cycles", 0, "cycles", "assumed: to be seen", "how much later an operand from the copy arrives"),
)

STATE = (
    ("left_cycle", "i8", (MAX_WARPS,)),   # when a warp began to leave, 0 = it has not
    ("valid", "u4", (MAX_WARPS,)),        # lanes of the copy, 0 = none
    ("reg", "u1", (MAX_WARPS,)),          # the copied register
)

EVENTS = (("skeleton_hits", "operands served by the copy"), ("skeleton_joins", "warps that joined the active set"))
HITS, JOINS = range(2)


def write_back(sm, rf, spec, rows, warp, reg, mask, value_row, slot):
    """Write the result to the main file, then copy it."""
    code = np.int64(hooks.write_back(sm, rf.mrf, spec.mrf, rows, warp, reg, mask, value_row, slot))
    if code == 0:
        lanes = np.int64(mask)
        if rf.reg[warp] == reg:
            lanes |= np.int64(rf.valid[warp])
        rf.reg[warp] = reg
        rf.valid[warp] = lanes
        registers.write_row(sm, rows, np.int64(spec.first_row) + np.int64(warp), value_row, mask)
    return code


def read(sm, rf, spec, rows, warp, reg, mask, out_row):
    """Read the copy if its tag matches and it has every needed lane, else the main file."""
    if rf.reg[warp] == reg and np.int64(mask) & ~np.int64(rf.valid[warp]) == 0 and rf.valid[warp] != 0:
        sm.events[spec.first_event + HITS] += 1
        registers.copy_row(rows, np.int64(spec.first_row) + np.int64(warp), out_row)
        registers.delay_operand(sm, out_row, spec.hit_cycles, RFC_FLUSH)
        return 0
    return hooks.read(sm, rf.mrf, spec.mrf, rows, warp, reg, mask, out_row)


def on_leave(sm, rf, spec, rows, warp):
    """Wait, drop the copy, then let the main file decide."""
    if rf.left_cycle[warp] == 0:
        rf.left_cycle[warp] = sm.cycle
    if sm.cycle < rf.left_cycle[warp] + spec.leave_cycles:
        return RFC_FLUSH
    rf.left_cycle[warp] = 0
    rf.valid[warp] = 0
    return hooks.on_leave(sm, rf.mrf, spec.mrf, rows, warp)


def on_join(sm, rf, spec, rows, warp):
    """Count a warp that joins; its copy is empty."""
    sm.events[spec.first_event + JOINS] += 1
    return hooks.on_join(sm, rf.mrf, spec.mrf, rows, warp)


def on_warp_start(sm, rf, spec, rows, warp):
    """Begin without a copy."""
    rf.valid[warp] = 0
    rf.left_cycle[warp] = 0
    return hooks.on_warp_start(sm, rf.mrf, spec.mrf, rows, warp)


def copied(snapshot, warp):
    """Return the register in a warp's copy, -1 = none (for tests)."""
    return int(snapshot.rf["reg"][warp]) if int(snapshot.rf["valid"][warp]) & int(bit64(0)) else -1


DESIGN = Design(
    name="skeleton",
    title="one copied value per warp",
    source="the project's tests",
    parameters=PARAMETERS,
    state=STATE,
    extra_rows=MAX_WARPS,
    stalls=STALLS,
    events=EVENTS,
    takes_main=True,
    paper_scheduler="two_level",
)
