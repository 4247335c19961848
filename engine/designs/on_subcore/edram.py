"""`edram` on the sub-core: refreshes are work of the banks; lost bits show when a lower half is refreshed (B12.6)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from rfview.engine.compile.bits import bit64
from rfview.engine.compile.device import device
from rfview.engine.designs.edram import (APPROXIMATE_TURNS, CERTAIN, GATED_TURNS, GPU_MHZ, HALF_ROW_BITS, LAST_STEP, LITERAL,
                                         LOST, LOW_REFRESHES, NO_ERRORS, ONE_BIT, REFRESH, ROW_REFRESHES, STEPS, draw,
                                         is_approximate, launch_cycle, mark_precise, retention, strike, strike_all)
from rfview.engine.errors import InputError
from rfview.engine.machine import registers
from rfview.engine.state import MAX_BANKS, MAX_ROWS

MEANING = ("a refresh takes a bank for a cycle as soon as nothing has booked it; retention is a time, so that T0 has more "
           "cycles at a higher clock; results of floating-point instructions are approximate")
STATE = (
    ("approximate", "u8", (MAX_ROWS // 64,)),   # as in the design's own state, a bit or word per row
    ("struck", "u8", (MAX_ROWS // 64,)),
    ("restored", "i8", (MAX_ROWS,)),
    ("turns", "i8", (MAX_BANKS,)),              # refreshes that each bank has done
    ("fraction", "i8"),
    ("draws", "i8"),
)
PANELS = ({"kind": "table", "title": "refreshes done", "field": "turns", "per": "bank"},)


def check(text: str, values: Mapping[str, Any]) -> None:
    """Raise InputError for parameters without meaning on the sub-core."""
    for name in ("never_refresh_low", "postpone"):
        if values[f"edram.{name}"]:
            raise InputError(f"--design {text}: on the sub-core refreshes wait for a free cycle of their bank, and every "
                             f"lower half has its turn: {name} must be 0")


def read_cycles(sm, rf, spec, warp, reg, is_float):
    """Read the bank; what a floating-point instruction reads is approximate from then on (B4.1)."""
    if is_float != 0 and spec.precise_only == 0:
        mark(sm, rf, registers.main_row(sm, warp, reg))
    return 1


def write_cycles(sm, rf, spec, warp, reg, lanes, is_late, is_float):
    """Write the bank: restores the row's age if it covers all lanes (B4.4), and decides its flag (B4.3)."""
    row = registers.main_row(sm, warp, reg)
    if np.int64(lanes) | np.int64(sm.warp[warp].exited) == 0xFFFFFFFF:
        rf.restored[row] = launch_cycle(sm)
    if is_float == 0 or spec.precise_only != 0:
        mark_precise(rf, row)
    else:
        mark(sm, rf, row)
    return 1


def bank_cycles(sm, rf, spec, rows, bank):
    """Refresh a bank's next row if its turn is due: its lower half too, unless that is approximate and not yet due."""
    t0 = retention_cycles(sm, spec)
    turn, count = np.int64(rf.turns[bank]), np.int64(sm.config.rows_per_bank)
    if turn * t0 // count + bank * t0 // (count * np.int64(sm.config.num_banks)) > launch_cycle(sm):
        return 0
    rf.turns[bank] = turn + 1
    half = max(np.int64(1), np.int64(sm.launch.registers) // 2)
    warp = turn % count // half * 4 + bank // 2
    is_held = warp < sm.config.num_warps and np.uint64(sm.resident) & bit64(warp) != 0
    if not is_held and spec.power_gate_unallocated != 0:
        sm.events[spec.first_event + GATED_TURNS] += 1
        return 0
    port = sm.bank[bank]
    port.busy_code = REFRESH
    sm.events[spec.first_event + ROW_REFRESHES] += 1
    if is_held:
        port.owner_warp = warp
        port.owner_reg = turn % count % half * 2 + (bank & 1)
        row = registers.main_row(sm, warp, port.owner_reg)
        if is_approximate(rf, row):
            sm.events[spec.first_event + APPROXIMATE_TURNS] += 1
            if turn // count & ((1 << spec.m) - 1) != 0:
                return 1
            lose(sm, rf, spec, rows, row, t0)
    sm.events[spec.first_event + LOW_REFRESHES] += 1
    return 1


def on_warp_start(sm, rf, spec, rows, warp):
    """Start a warp with cleared registers, which count as written now."""
    for reg in range(sm.launch.registers):
        row = registers.main_row(sm, warp, reg)
        rf.restored[row] = launch_cycle(sm)
        if spec.keep_flags == 0:
            mark_precise(rf, row)
    return registers.clear_warp(sm, rows, warp)


def next_event(sm, rf, spec):
    """Return the cycle of the first bank's next refresh."""
    t0, count = retention_cycles(sm, spec), np.int64(sm.config.rows_per_bank)
    first = np.int64(1) << 62
    for bank in range(sm.config.num_banks):
        first = min(first, np.int64(rf.turns[bank]) * t0 // count + bank * t0 // (count * np.int64(sm.config.num_banks)))
    return max(np.int64(sm.cycle), first + np.int64(sm.launch.start_cycle))


@device
def retention_cycles(sm, spec):
    """Return T0 in cycles of the machine: Table 1 gives it in cycles of 700 MHz."""
    return retention(spec) * np.int64(sm.config.clock_mhz) // GPU_MHZ


@device
def mark(sm, rf, row):
    """Flag a row approximate; it was refreshed until now."""
    if not is_approximate(rf, row):
        rf.approximate[row >> 6] = np.uint64(rf.approximate[row >> 6]) | bit64(row & 63)
        rf.restored[row] = launch_cycle(sm)


@device
def lose(sm, rf, spec, rows, row, t0):
    """Let a lower half lose what it has lost since its last refresh or write (B4.7), in whole bits."""
    age = min(launch_cycle(sm) - np.int64(rf.restored[row]), t0 << np.int64(spec.m))
    if spec.error_mode == NO_ERRORS or age <= t0:
        return
    if spec.error_mode == CERTAIN:
        strike_all(sm, rf, spec, rows, row)
        return
    if spec.error_mode == LITERAL:
        rf.fraction += np.int64(LOST[STEPS << np.int64(spec.m)]) << np.int64(spec.m)
    else:
        rf.fraction += np.int64(LOST[min(age * STEPS // t0, np.int64(LAST_STEP))])
    while rf.fraction >= ONE_BIT:
        rf.fraction -= ONE_BIT
        strike(sm, rf, spec, rows, row, draw(sm, rf, spec, HALF_ROW_BITS))
