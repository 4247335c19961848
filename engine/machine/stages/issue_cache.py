"""The fast path of issue: warps without a hazard are decided together, and unchanged states are not set again.

Invariant: every warp gets the state, blocker and losers that `evaluate` (evaluate.py) would give it in that cycle;
tests/engine/test_fast_paths.py compares runs cycle by cycle. Recordings do not contain what is kept here:

    sm.scoreboard_clear      warps whose head instruction can wait only for a unit, a collector or the design
    sm.head_unit, sm.at_unit the unit of each warp's head instruction; the warps at each unit
    sm.cached                by kind of state, such as THROTTLED: the warps whose record already has that state
    sm.cached_under          per scheduler, the conditions under which its warps got these states (`note_conditions`)
"""

from __future__ import annotations

import numpy as np

from rfview.engine import hooks
from rfview.engine.compile.bits import bit64, set_bits
from rfview.engine.compile.device import device
from rfview.engine.machine.stages.units import collectors_full, full_units
from rfview.engine.machine.stages.warp_state import block, set_state
from rfview.engine.program import UNIT_CTRL
from rfview.engine.stalls import COLLECTOR_FULL, MAX_CODES, PIPE_THROTTLE
from rfview.engine.state import BLOCK_COLLECTOR, BLOCK_DESIGN, BLOCK_UNIT, SM

# kinds of sm.cached: the unit is full; no collector is free; another warp was chosen; the pipeline is frozen
THROTTLED, LACKING, UNSELECTED, FROZEN = range(4)
NO_WARP = np.uint64(0)
# sm.cached_under: bit 0: no collector is free; then a bit per full unit; then the stall code of the freeze
NO_COLLECTOR, UNITS_SHIFT = 1, 1
FREEZE_SHIFT = UNITS_SHIFT + UNIT_CTRL
assert MAX_CODES << FREEZE_SHIFT <= 1 << 8 * SM["cached_under"].base.itemsize
assert SM["at_unit"].shape[0] > UNIT_CTRL


@device
def decide_clear(sm, rf, spec, rows, insts, scheduler, clear, freeze):
    """Decide the warps that have been scoreboard-clear since an earlier cycle; return the mask of the ready ones.

    Only unit, collector, design and freeze can block these. They get the result of `evaluate` without looking everything
    up again; a warp whose record already has that state (`cached`) is not touched.
    """
    full = full_units(sm)
    no_collector = NO_COLLECTOR if collectors_full(sm) else 0
    note_conditions(sm, scheduler, freeze, full, no_collector)
    throttled = NO_WARP
    for unit in range(UNIT_CTRL):
        if (full >> unit) & 1:
            throttled |= clear & np.uint64(sm.at_unit[unit])
    lacking = clear & ~throttled if no_collector != 0 else NO_WARP
    ready = clear & ~throttled & ~lacking
    if hooks.checks_issue(sm, rf, spec):
        ready &= ~refused_by_design(sm, rf, spec, rows, insts, ready)
    if freeze != 0:
        stopped = throttled | lacking | ready
        show_frozen(sm, stopped, throttled if no_collector != 0 else NO_WARP, freeze)
        throttled, lacking, ready = NO_WARP, NO_WARP, NO_WARP
        cache_states(sm, scheduler, FROZEN, stopped)
    else:
        show_held(sm, throttled, lacking, no_collector)
        forget_losers(sm, ready & ~np.uint64(sm.cached[UNSELECTED]))
        cache_states(sm, scheduler, FROZEN, NO_WARP)
    cache_states(sm, scheduler, THROTTLED, throttled)
    cache_states(sm, scheduler, LACKING, lacking)
    return ready


@device
def show_held(sm, throttled, lacking, no_collector):
    """Show full units and missing collectors in the states of the warps they block, unless already shown."""
    for warp in set_bits((throttled & ~np.uint64(sm.cached[THROTTLED])) | (lacking & ~np.uint64(sm.cached[LACKING]))):
        if throttled & bit64(warp) != 0:
            block(sm, warp, BLOCK_UNIT, sm.head_unit[warp])
            sm.warp[warp].losers = no_collector << COLLECTOR_FULL
            set_state(sm, warp, PIPE_THROTTLE)
        else:
            block(sm, warp, BLOCK_COLLECTOR, 0)
            sm.warp[warp].losers = 0
            set_state(sm, warp, COLLECTOR_FULL)


@device
def forget_losers(sm, warps):
    """Clear `losers` of warps that nothing blocks."""
    for warp in set_bits(warps):
        sm.warp[warp].losers = 0


@device
def note_conditions(sm, scheduler, freeze, full, no_collector):
    """Forget states cached under other conditions: `losers` names full collectors, and in a freeze full units."""
    now = freeze << FREEZE_SHIFT | full << UNITS_SHIFT | no_collector
    before = np.int64(sm.cached_under[scheduler])
    if now != before:
        sm.cached_under[scheduler] = now
        cache_states(sm, scheduler, FROZEN, NO_WARP)
        if (now ^ before) & NO_COLLECTOR:
            cache_states(sm, scheduler, THROTTLED, NO_WARP)


@device
def cache_states(sm, scheduler, kind, warps):
    """Note which of a scheduler's warps have a state of this kind in their record."""
    sm.cached[kind] = (np.uint64(sm.cached[kind]) & ~np.uint64(sm.scheduler_mask[scheduler])) | warps


@device
def show_frozen(sm, warps, losers, freeze):
    """Show the freeze as the state of warps blocked by it alone. losers: those that lack a unit and a collector as well."""
    for warp in set_bits(warps & ~np.uint64(sm.cached[FROZEN])):
        block(sm, warp, BLOCK_DESIGN, 0)
        sm.warp[warp].losers = (1 << COLLECTOR_FULL) if losers & bit64(warp) != 0 else 0
        set_state(sm, warp, freeze)


@device
def refused_by_design(sm, rf, spec, rows, insts, warps):
    """Return the warps that the design holds back, and show its reasons."""
    refused = np.uint64(0)
    for warp in set_bits(warps):
        code = np.int64(hooks.issue_check(sm, rf, spec, rows, warp, insts[sm.warp[warp].pc]))
        if code != 0:
            refused |= bit64(warp)
            block(sm, warp, BLOCK_DESIGN, 0)
            sm.warp[warp].losers = 0
            set_state(sm, warp, code)
    return refused


@device
def note_clear(sm, warp, unit):
    """Note that a warp's head instruction is scoreboard-clear (it has no hazard) and needs `unit`."""
    bit = bit64(warp)
    sm.scoreboard_clear = np.uint64(sm.scoreboard_clear) | bit
    old = sm.head_unit[warp]
    sm.at_unit[old] = np.uint64(sm.at_unit[old]) & ~bit
    sm.at_unit[unit] = np.uint64(sm.at_unit[unit]) | bit
    sm.head_unit[warp] = unit
