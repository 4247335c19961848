"""Why a warp did what it did in one cycle: ready, waiting for a register, at a barrier, outside the active set, ..."""

from __future__ import annotations

import numpy as np

from rfview.engine import state as layout
from rfview.engine.machine.stages.read_only import find_line
from rfview.engine.stalls import BY_NAME, ISSUED
from rfview.engine.plugin.explaining import Refusal
from rfview.sessions.why import active_set, units
from rfview.sessions.why.links import NOWHERE, listed, plural
from rfview.sessions.why.moment import Moment
from rfview.sessions.why.trail import Trail, first_link, next_text

NONE = layout.NONE8
IDLE = ("finished", "no_cta")


def explain(trail: Trail, moment: Moment, warp: int) -> None:
    """Add the links of one warp at one moment, down to a resource where it is stalled."""
    name = moment.state(warp)
    kind = moment.warp(warp, "blocker_kind")
    if name == "issued":
        _issued(trail, moment, warp)
    elif name == "not_selected":
        _not_selected(trail, moment, warp)
    elif name == "finished":
        _finished(trail, moment, warp)
    elif name == "no_cta":
        _empty(trail, moment, warp)
    elif moment.warp(warp, "membership") == layout.LEAVING and kind == layout.BLOCK_DESIGN:
        active_set.leaving(trail, moment, warp)
    elif name == "barrier":
        _barrier(trail, moment, warp)
    elif name == "no_instruction":
        _fetch(trail, moment, warp)
    elif name == "suspended":
        active_set.suspended(trail, moment, warp)
    elif name == "pipe_throttle" and kind == layout.BLOCK_UNIT:
        units.queue_full(trail, moment, warp)
    elif name == "collector_full" and kind == layout.BLOCK_COLLECTOR:
        units.collectors_full(trail, moment, warp)
    elif name == "wait" and kind == layout.BLOCK_SLEEP:
        _sleeps(trail, moment, warp)
    else:
        _held(trail, moment, warp)


def _issued(trail: Trail, moment: Moment, warp: int) -> None:
    pc = moment.warp(warp, "last_pc")
    trail.add(
        f"w{warp} issued {moment.mnemonic(pc)}",
        moment.text(pc),
        code=moment.states[warp],
        warp=warp,
        since=moment.warp(warp, "last_issue_cycle"),
        pc=pc,
    )
    if len(trail.links) > 1:  # a cause of somebody's stall, not the warp asked about
        scheduler = moment.scheduler_of(warp)
        trail.end(
            "issue slot",
            f"issue slot of scheduler {scheduler}, one instruction of w{warp} after the other",
            {"sm.num_schedulers": 4},
        )


def _not_selected(trail: Trail, moment: Moment, warp: int) -> None:
    scheduler = moment.scheduler_of(warp)
    first_link(trail, moment, warp, f"w{warp} is ready; another was chosen", next_text(moment, warp))
    rivals = range(scheduler, moment.num_warps, moment.num_schedulers)
    chosen = next((other for other in rivals if moment.states[other] == ISSUED), None)
    policy = str(moment.info.get("scheduler", ""))
    code = moment.states[warp]
    others = sum(
        1
        for other, state in enumerate(moment.states)
        if other != warp and moment.scheduler_of(other) == scheduler and state == code
    )
    if chosen is not None:
        role = {"gto": "greedy, else the oldest", "lrr": "next in turn"}.get(policy, f"chosen by {policy}")
        trail.add(
            f"w{chosen} issued {moment.mnemonic(moment.warp(chosen, 'last_pc'))}: {role}",
            f"scheduler {scheduler}, {policy}" + (f"; {plural(others, 'other warp')} waited too" if others else ""),
            code=0,
            warp=chosen,
            since=moment.ran,
            pc=moment.warp(chosen, "last_pc"),
        )
    trail.end("issue slot", f"issue slot of scheduler {scheduler}, one warp per cycle", {"sm.num_schedulers": 4})


def _finished(trail: Trail, moment: Moment, warp: int) -> None:
    trail.add(
        f"w{warp} has ended",
        f"since {moment.warp(warp, 'state_since_cycle'):,}",
        code=moment.states[warp],
        warp=warp,
        since=moment.warp(warp, "state_since_cycle"),
    )
    cta = moment.warp(warp, "cta")
    live = [
        other
        for other in range(moment.num_warps)
        if moment.warp(other, "cta") == cta and moment.state(other) not in IDLE
    ]
    if live:
        trail.add(f"its CTA still runs {plural(len(live), 'warp')}", listed(live), warp=live[0])
    trail.end("CTA slot", f"CTA slot {cta}: it is given back when the CTA's last warp has ended")


def _empty(trail: Trail, moment: Moment, warp: int) -> None:
    total, begun = moment.launch("num_ctas"), moment.launch("next_cta")
    trail.add(f"slot {warp} holds no warp", "", code=moment.states[warp], warp=warp)
    if moment.cycle == 0:
        trail.add("the run has not begun", "the first CTAs are dispatched in cycle 0")
        trail.end("grid", "grid: no CTA is dispatched yet")
    elif total and begun >= total:
        trail.add("all CTAs have been dispatched", f"{begun:,} of {total:,}")
        trail.end("grid", "grid: no CTA is left")
    else:
        resident = sum(1 for slot in moment.sm["cta"] if slot["valid"])
        trail.add(
            "the next CTA has no place yet",
            f"{begun:,} of {total:,} dispatched, {resident} resident, room for {moment.launch('resident_ctas')}",
        )
        trail.end("CTA slot", f"CTA slots: {moment.launch('resident_ctas')} CTAs of this kernel fit")


def _barrier(trail: Trail, moment: Moment, warp: int) -> None:
    kind = moment.warp(warp, "blocker_kind")
    if moment.warp(warp, "open_cycle") == moment.ran:
        _opened(trail, moment, warp)
    elif kind == layout.BLOCK_MEMORY:
        _own_memory(trail, moment, warp)
    elif kind == layout.BLOCK_SYNC or moment.warp(warp, "barrier") == NONE:
        _lanes(trail, moment, warp)
    else:
        _at_barrier(trail, moment, warp)


def _opened(trail: Trail, moment: Moment, warp: int) -> None:
    """The barrier opened in this very cycle; say who came last."""
    first_link(trail, moment, warp, f"w{warp} waits at a barrier", "it opened in this cycle")
    last = [
        other
        for other in range(moment.num_warps)
        if moment.warp(other, "cta") == moment.warp(warp, "cta")
        and moment.warp(other, "last_issue_cycle") == moment.ran
    ]
    if last:
        trail.add(
            f"w{last[0]} arrived last",
            f"cycle {moment.ran:,}",
            warp=last[0],
            since=moment.ran,
            pc=moment.warp(last[0], "last_pc"),
        )
        earlier = trail.past.at(moment.ran)
        if earlier is not None and earlier.state(last[0]) not in ("issued", *IDLE):
            trail.follow(earlier, last[0])
            return
    trail.end("barrier", "barrier: a warp goes on in the cycle after the last arrival")


def _at_barrier(trail: Trail, moment: Moment, warp: int) -> None:
    cta, number = moment.warp(warp, "cta"), moment.warp(warp, "barrier")
    first_link(trail, moment, warp, f"w{warp} waits at a barrier", f"barrier {number} of its CTA")
    entry = moment.sm["barrier"][cta][number]
    live = int(moment.sm["cta"][cta]["live_threads"])
    expected = int(entry["expected"]) or live
    late = [
        other
        for other in range(moment.num_warps)
        if moment.warp(other, "cta") == cta
        and other != warp
        and moment.state(other) not in IDLE
        and moment.warp(other, "barrier") != number
    ]
    threads = int(entry["arrived"])
    if not late:
        trail.add(f"{threads} of {plural(expected, 'thread')} have arrived", warp=warp)
        _parted_lanes(trail, moment, warp)
        trail.end("barrier", f"barrier {number}: no other warp of the CTA is on its way to it")
        return
    behind = min(late, key=lambda other: moment.warp(other, "num_issued"))
    arrived = f"{-(-threads // 32)} of {plural(-(-expected // 32), 'warp')} have arrived"
    trail.add(arrived, f"w{behind} is furthest behind; missing: {listed(late)}", warp=behind)
    trail.follow(moment, behind)


def _own_memory(trail: Trail, moment: Moment, warp: int) -> None:
    first_link(trail, moment, warp, f"w{warp} waits for its own accesses", next_text(moment, warp))
    waiting = [flight for flight in moment.in_flight(warp) if flight.unit == 2 and flight.stage == layout.COLLECT]
    if waiting:
        oldest = waiting[0]
        trail.add(
            f"{oldest.name} has not reached memory, issued {oldest.issue_cycle:,}",
            oldest.text,
            warp=warp,
            since=oldest.issue_cycle,
            pc=oldest.pc,
        )
        trail.instruction(moment, oldest)
    else:
        trail.end("LD/ST unit", "LD/ST unit: the last access happened in this cycle")


def _lanes(trail: Trail, moment: Moment, warp: int) -> None:
    """Lanes of a warp wait for other lanes of the same warp: those may stand at a barrier."""
    first_link(trail, moment, warp, f"w{warp} waits for its own lanes", next_text(moment, warp))
    _parted_lanes(trail, moment, warp)
    trail.end("reconvergence", f"reconvergence of the lanes of w{warp}: a collective needs all its members")


def _parted_lanes(trail: Trail, moment: Moment, warp: int) -> None:
    """Say where the lanes of a warp stand that wait for each other, and end there."""
    table = moment.sm["warp_cold"][warp]["split"]
    for state, where in ((layout.SPLIT_BARRIER, "at a barrier"), (layout.SPLIT_SYNC, "for other lanes")):
        parted = [split for split in table if split["state"] == state]
        if parted:
            lanes = sum(int(split["mask"]).bit_count() for split in parted)
            pc = int(parted[0]["pc"]) - (state == layout.SPLIT_BARRIER)  # it points behind the barrier already
            trail.add(
                f"{plural(lanes, 'lane')} of w{warp} wait {where}", f"at PC {pc}: {moment.text(pc)}", warp=warp, pc=pc
            )
    if any(split["state"] == layout.SPLIT_SYNC for split in table):
        trail.end("reconvergence", f"reconvergence of the lanes of w{warp}: a collective needs all its members")


def _fetch(trail: Trail, moment: Moment, warp: int) -> None:
    """Explain an empty I-buffer: the warp has just begun, branched, missed the instruction cache, or waits for its turn."""
    scheduler = moment.scheduler_of(warp)
    pc, last_pc = moment.warp(warp, "pc"), moment.warp(warp, "last_pc")
    issued = moment.warp(warp, "num_issued")
    first_link(trail, moment, warp, f"w{warp} has nothing decoded", next_text(moment, warp))
    branched = issued > 0 and pc != last_pc + 1
    last_issue = moment.warp(warp, "last_issue_cycle")
    if issued == 0:
        begun = moment.warp(warp, "state_since_cycle")
        trail.add(f"w{warp} has just begun", f"CTA slot {moment.warp(warp, 'cta')}", warp=warp, since=begun)
    elif branched:
        text = f"it branched to PC {pc} in cycle {last_issue:,}"
        trail.add(text, moment.text(last_pc), warp=warp, since=last_issue, pc=last_pc)
        if moment.config["branch_cycles"] and moment.cycle <= last_issue + moment.config["branch_cycles"] + 1:
            extra = plural(moment.config["branch_cycles"], "extra cycle")
            trail.end("fetch", f"branch unit, {extra} per branch", {"sm.branch_cycles": 0})
            return
    pause = moment.config.get("refill_cycles", 0)      # recordings of earlier machines have no such number
    if issued > 0 and not branched and pause and moment.cycle <= last_issue + pause + 1:
        trail.add(f"it used up its I-buffer in cycle {last_issue:,}", "what is fetched is decoded before it can issue",
                  warp=warp, since=last_issue, pc=last_pc)
        trail.end("fetch", f"decoding, {plural(pause, 'extra cycle')} per refill", {"sm.refill_cycles": 0})
        return
    earlier = trail.past.at(moment.ran) or moment
    if _missing_code(trail, earlier, warp, pc):
        return
    waiting = [
        other
        for other in range(moment.num_warps)
        if (int(earlier.sm["need_fetch"]) >> other) & 1 and moment.scheduler_of(other) == scheduler and other != warp
    ]
    if waiting:
        trail.add("the fetch serves other warps first", f"scheduler {scheduler}: {listed(waiting)}", warp=waiting[0])
    width = min(moment.config["fetch_width"], moment.config["ibuffer_entries"])
    if issued > 0 and not branched and not waiting:
        text, refill = f"it used up its I-buffer in cycle {last_issue:,}", f"{plural(width, 'instruction')} per refill"
        trail.add(text, refill, warp=warp, since=last_issue, pc=last_pc)
    # an empty buffer after a jump does not depend on its size: only another fetch slot would have come earlier
    runs_dry = issued > 0 and not branched
    trail.end(
        "fetch",
        f"fetch slot of scheduler {scheduler}, one warp and {plural(width, 'instruction')} per cycle",
        {"sm.fetch_width": 16, "sm.ibuffer_entries": 16} if runs_dry else {"sm.num_schedulers": 4},
    )


def _missing_code(trail: Trail, earlier: Moment, warp: int, pc: int) -> bool:
    """Explain a warp whose next instruction is not in the instruction cache; return whether that is so."""
    config = earlier.config
    if not config.get("icache_sets"):      # recordings of earlier machines have no such number
        return False
    sets, ways = config["icache_sets"], config["icache_ways"]
    size = config["icache_instructions"]
    way = int(find_line(earlier.sm["icache"].view(np.recarray), sets, ways, pc // size))
    until = int(earlier.sm["icache"][way]["fill_cycle"]) if way >= 0 else NOWHERE
    if way >= 0 and until < earlier.cycle:
        return False
    where = f"PC {pc // size * size} to {pc // size * size + size - 1}"
    if way < 0:
        trail.add(f"the instruction cache does not hold {where}", "one miss per cycle and scheduler goes out", warp=warp)
    else:
        trail.add(f"the instruction cache awaits {where}", f"back in cycle {until:,}", warp=warp, until=until)
    trail.end("instruction cache", f"instruction cache, {sets} sets of {plural(ways, 'way')} of {size} instructions",
              {"memory.icache_sets": 0})
    return True


def _sleeps(trail: Trail, moment: Moment, warp: int) -> None:
    wake = moment.warp(warp, "wake_cycle")
    first_link(trail, moment, warp, f"w{warp} sleeps until {wake:,}", "nanosleep")
    trail.add(
        f"nanosleep, issued in cycle {moment.warp(warp, 'last_issue_cycle'):,}",
        "",
        warp=warp,
        since=moment.warp(warp, "last_issue_cycle"),
        until=wake,
        pc=moment.warp(warp, "last_pc"),
    )
    trail.end("timer", f"sleep timer of w{warp}")


def _held(trail: Trail, moment: Moment, warp: int) -> None:
    """Explain a wait for a register, a predicate, a reader, or the register file itself."""
    code, kind, what = moment.states[warp], moment.warp(warp, "blocker_kind"), moment.warp(warp, "blocker")
    flight = moment.awaited(warp)
    frozen = int(moment.sm["freeze_code"]) == code != 0
    if flight is None or (frozen and flight.stage == layout.COLLECT and flight.code != code):
        if frozen:
            first_link(trail, moment, warp, f"w{warp} waits: pipeline frozen", next_text(moment, warp))
            trail.refused(moment, Refusal("freeze", code, warp))
        else:
            first_link(
                trail, moment, warp, f"w{warp} waits: {moment.name(code).replace('_', ' ')}", next_text(moment, warp)
            )
            trail.refused(moment, Refusal("issue", code, warp))
        return
    if kind == layout.BLOCK_READER:
        first_link(trail, moment, warp, f"w{warp} may not overwrite R{what} yet", next_text(moment, warp))
        verb = "still has to read it"
    else:
        label = f"P{what}" if kind == layout.BLOCK_PREDICATE else f"R{what}"
        first_link(trail, moment, warp, f"w{warp} waits for {label}", next_text(moment, warp))
        verb = "writes it"
    trail.add(
        f"{flight.name} at PC {flight.pc} {verb}, issued {flight.issue_cycle:,}",
        flight.text,
        code=BY_NAME["issued"].code,
        warp=warp,
        since=flight.issue_cycle,
        pc=flight.pc,
    )
    trail.instruction(moment, flight)
