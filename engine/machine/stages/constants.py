"""The constant cache: loads of constants and kernel parameters go to LD/ST, which looks up one line per cycle here.

On with memory.const_sets. Without it every constant hits, and a parameter at a fixed address is an operand of an SP
instruction. A missing line takes one of a few MSHRs; while all are in use, LD/ST waits.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from rfview.engine.compile.device import device
from rfview.engine.events import CONST_HITS, CONST_MISSES
from rfview.engine.isa import OP_LDPARAM
from rfview.engine.machine.stages import l2
from rfview.engine.machine.stages.read_only import CCACHE, find_line, num_awaited, oldest_line, touch
from rfview.engine.program import MEM_LOAD, SPACE_PARAM, UNIT_LDST
from rfview.engine.state import LDST_CONST_CACHE, LINE_BYTES
from rfview.engine.values import access


@device
def note_lines(sm, scratch, mask):
    """List in `scratch` the lines of the constant cache that an access needs, in order of its lanes."""
    count = 0
    for lane in range(32):
        if (np.int64(mask) >> lane) & 1:
            line = scratch[access.ADDR + lane] // np.int64(sm.config.const_line_bytes)
            known = False
            for index in range(count):
                known |= scratch[access.LINES + index] == line
            if not known:
                scratch[access.LINES + count] = line
                count += 1
    scratch[access.NUM_LINES] = count


@device
def note_parameter(sm, scratch, offset):
    """List the line of the parameter at a fixed offset for LD/ST to look up."""
    scratch[access.LINES] = (np.int64(sm.launch.param_word) * 4 + offset) // np.int64(sm.config.const_line_bytes)
    sm.access_space = SPACE_PARAM
    sm.num_lines = 1


@device
def load_line(sm, flight, line, hit_cycles):
    """Look up a line; return the cycle in which its data is available, or -1 to try again."""
    lines, sets, ways = sm.ccache, sm.config.const_sets, sm.config.const_ways
    hit = np.int64(sm.cycle) + np.int64(hit_cycles)
    way = find_line(lines, sets, ways, line)
    if way >= 0:
        touch(sm, lines, CCACHE, way)
        sm.events[CONST_HITS] += 1
        if lines[way].fill_cycle > sm.cycle:
            flight.missed = 1
            return max(hit, np.int64(lines[way].fill_cycle))
        return hit
    way = oldest_line(sm, lines, sets, ways, line)
    if way < 0 or num_awaited(sm, lines, sets, ways) >= sm.config.const_mshrs:
        sm.ldst_reason = LDST_CONST_CACHE
        return np.int64(-1)
    size = np.int64(sm.config.const_line_bytes)
    ready = l2.request(sm, l2.CONST_LINES + line * size // LINE_BYTES, size, MEM_LOAD)
    entry = lines[way]
    entry.line = line
    entry.fill_cycle = ready
    touch(sm, lines, CCACHE, way)
    sm.events[CONST_MISSES] += 1
    flight.missed = 1
    return ready


def send_to_ldst(insts: np.ndarray, config: Any) -> None:
    """With a constant cache, let LD/ST execute loads of parameters at fixed addresses. insts: (n,) INST, modified."""
    if config["memory.const_sets"]:
        insts["unit"][insts["op"] == OP_LDPARAM] = UNIT_LDST
