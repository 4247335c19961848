"""Who holds a warp-cycle that is lost: one rule for each state, with its source. `rfview help causes` lists this table."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from rfview.engine import state as layout
from rfview.engine.program import UNIT_LDST, UNIT_SFU, UNIT_SP
from rfview.engine.stalls import NO_WARP
from rfview.sessions.causes import subcore
from rfview.sessions.causes.flights import Waits, holders_of_unit, holding, in_flight
from rfview.sessions.causes.refusals import oldest_collector, refused


@dataclass(frozen=True)
class Rule:
    """The holder of warp-cycles in some states. states: their names. holder: a sentence. source: why it is this one.

    find: returns (k,) i8 pcs, the program's size for nobody.
    """

    states: tuple[str, ...]
    holder: str
    source: str
    find: Callable[[Waits], np.ndarray]


def result(waits: Waits) -> np.ndarray:
    """Return what holds up the instruction that writes, or has yet to read, the awaited register; a sleeper itself."""
    stretch, entry, kind = waits.stretch, waits.entry.copy(), waits.of("blocker_kind")
    leaves = np.flatnonzero(kind == layout.BLOCK_DESIGN)        # its results must be written before it leaves the active set
    if len(leaves):
        rows, warps = waits.rows[leaves], waits.warps[leaves]
        entry[leaves] = stretch.first(rows, in_flight(stretch, rows, warps) & (stretch.flights("unit")[rows] != UNIT_LDST))
    found = holding(stretch, waits.rows, entry)
    found = np.where((entry < 0) & (kind == layout.BLOCK_DESIGN), waits.own, found)
    return np.where(kind == layout.BLOCK_SLEEP, stretch.pc_of(waits.of("last_pc")), found)


def unit(waits: Waits) -> np.ndarray:
    """Return the instruction that keeps the warp's unit busy."""
    found, what = np.full(len(waits.rows), waits.stretch.facts.nobody), waits.of("blocker")
    for number in (UNIT_SP, UNIT_SFU, UNIT_LDST):
        chosen = np.flatnonzero(what == number)
        if len(chosen):
            found[chosen] = holders_of_unit(waits.stretch, waits.rows[chosen], number)
    return found


def barrier(waits: Waits) -> np.ndarray:
    """Return where the warp stands that a barrier waits for: the furthest behind of those that have not arrived."""
    stretch, rows = waits.stretch, waits.rows
    found, kind = waits.own.copy(), waits.of("blocker_kind")
    own = np.flatnonzero(kind == layout.BLOCK_MEMORY)
    if len(own):
        pending = in_flight(stretch, rows[own], waits.warps[own]) & (stretch.flights("unit")[rows[own]] == UNIT_LDST)
        entry = stretch.first(rows[own], pending)
        found[own] = np.where(entry < 0, waits.own[own], holding(stretch, rows[own], entry))
    at = np.flatnonzero((kind != layout.BLOCK_MEMORY) & (kind != layout.BLOCK_SYNC) & (waits.of("barrier") != layout.NONE8))
    if len(at):
        found[at] = _furthest_behind(waits.some(at))
    opened = np.flatnonzero(waits.of("open_cycle") == stretch.ran[rows])
    if len(opened):
        found[opened] = _last_arrival(waits.some(opened))
    return found


def _furthest_behind(waits: Waits) -> np.ndarray:
    """Return the next instructions of the warps furthest behind, of those of the CTA that are not at the barrier."""
    stretch, rows = waits.stretch, waits.rows
    codes = stretch.timeline.info.stall_codes
    gone = np.isin(stretch.state[rows], [codes[name] for name in NO_WARP])
    late = (stretch.warp("cta")[rows] == waits.of("cta")[:, None]) & ~gone
    late &= stretch.warp("barrier")[rows] != waits.of("barrier")[:, None]
    order = np.where(late, stretch.warp("num_issued")[rows].astype(np.int64), np.iinfo(np.int64).max)
    behind = order.argmin(axis=1)
    issued = stretch.state[rows, behind] == stretch.timeline.issued
    pcs = np.where(issued, stretch.of_warp("last_pc", rows, behind), stretch.of_warp("pc", rows, behind))
    return np.where(late.any(axis=1), stretch.pc_of(pcs), waits.own)


def _last_arrival(waits: Waits) -> np.ndarray:
    """Return the instructions with which the last warps arrived at barriers that have just opened."""
    stretch, rows = waits.stretch, waits.rows
    arrived = stretch.warp("cta")[rows] == waits.of("cta")[:, None]
    arrived &= stretch.warp("last_issue_cycle")[rows] == stretch.ran[rows][:, None]
    last = arrived.argmax(axis=1)
    return np.where(arrived.any(axis=1), stretch.pc_of(stretch.of_warp("last_pc", rows, last)), waits.own)


def fetch(waits: Waits) -> np.ndarray:
    """Return the branch that emptied the instruction buffer, else the instruction fetched; nobody as a warp begins."""
    issued, last = waits.of("num_issued"), waits.of("last_pc")
    branched = waits.of("pc") != last + 1
    return np.where(issued == 0, waits.stretch.facts.nobody,
                    np.where(branched, waits.stretch.pc_of(last), waits.own))


def nobody(waits: Waits) -> np.ndarray:
    """Return no instruction."""
    return np.full(len(waits.rows), waits.stretch.facts.nobody)


RULES: tuple[Rule, ...] = (
    Rule(("pipe_throttle",), "the access in LD/ST, or the instruction that the unit works on; else the first in line for it",
         "the queue is full because its unit takes one instruction after the other (RULES.md B2)", unit),
    Rule(("wait", "short_scoreboard", "long_scoreboard"),
         "the instruction that writes the register or has yet to read it; if its unit is busy, the one in the unit",
         "RFC section 3.2: the scoreboard; our assumption: an instruction that waits for its unit passes the blame on",
         result),
    Rule(("collector_full",), "the oldest instruction in an operand collector, or the one in the unit that it needs",
         "HC-RF section IV: a collector is held until its instruction leaves for its unit", oldest_collector),
    Rule(("bank_conflict",), "the instruction whose read or result the bank served in this cycle",
         "HC-RF section IV-A: a bank serves one access per port and cycle", refused),
    Rule(("barrier",), "where the warp furthest behind stands; for its own memory operations, the access",
         "PTX ISA, bar.sync: the last arrival opens it; our assumption: the fewest instructions issued come last", barrier),
    Rule(("no_instruction",), "the branch that emptied the instruction buffer, else the instruction fetched",
         "RULES.md B0: a branch empties the buffer", fetch),
    Rule(("suspended",), "nobody: the scheduler's active set is full", "RFC section 3.2: pending warps wait outside it",
         nobody),
)
OF_DESIGN = Rule((), "the instruction whose value the design moves, writes or refreshes, as its file says",
                 "the design's file", refused)
# on the sub-cores of Volta and later; what is not here is as above
OF_SUBCORE: tuple[Rule, ...] = (
    Rule(("wait", "sleeping"), "the instruction issued last, whose stall count or NANOSLEEP it is",
         "MICRO'25 section 4: stall counters", subcore.last_issued),
    Rule(("short_scoreboard", "long_scoreboard"),
         "the youngest instruction that holds the dependence counter; if it waits for LD/ST, the access there",
         "MICRO'25 section 4: dependence counters", subcore.counted),
    Rule(("math_pipe_throttle",), "the instruction that the pipe took last",
         "MICRO'25 section 5.1.1: an input latch per pipe", subcore.pipe),
    Rule(("dispatch_stall",), "the instruction in Allocate that finds no read ports; else the one in Control",
         "MICRO'25 section 5.3: a window of three cycles", subcore.dispatch),
    Rule(("lg_throttle", "mio_throttle"), "the access in the memory pipeline; else the oldest one of the sub-core",
         "MICRO'25 section 5.4: five accesses per sub-core", subcore.credits),
    Rule(("imc_miss",), "the instruction itself, whose constant is missing",
         "MICRO'25 section 5.4: the L0 cache of constants", subcore.own),
    Rule(("membar",), "the access of the warp that has not left", "PTX ISA, membar; Nsight Compute's name", barrier),
    Rule(("branch_resolving",), "the branch", "Nsight Compute's name", fetch),
)
OF_DESIGN_ON_SUBCORE = Rule((), "the instruction in Allocate, else the one in Control, which the design holds",
                            "RULES.md B12: its own reasons", subcore.dispatch)
BY_STATE = {state: rule for rule in RULES for state in rule.states}
BY_STATE_OF_SUBCORE = BY_STATE | {state: rule for rule in OF_SUBCORE for state in rule.states}


def rule_of(state: str, is_machine_code: bool = False) -> Rule:
    """Return the rule for a state; a design's own states have one in common."""
    if is_machine_code:
        return BY_STATE_OF_SUBCORE.get(state, OF_DESIGN_ON_SUBCORE)
    return BY_STATE.get(state, OF_DESIGN)
