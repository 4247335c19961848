"""Explains what a warp did in one cycle: ready, waiting for a register, at a barrier, outside the active set, ..."""

from __future__ import annotations

from rfview.engine import state as layout
from rfview.engine.defaults import OF_CORE
from rfview.engine.machine.schedulers import SCHEDULERS
from rfview.engine.stalls import NO_WARP
from rfview.engine.plugin.explaining import Refusal
from rfview.engine.wording import listed, plural
from rfview.sessions.why import active_set, barriers, fetch, subcore, units
from rfview.sessions.machine import Machine
from rfview.sessions.why.trail import Trail, first_link, next_text


def explain(trail: Trail, moment: Machine, warp: int) -> None:
    """Add the links of one warp at one moment, down to a resource if it is stalled."""
    name = moment.state_name(warp)
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
    elif moment.info.is_machine_code and (name in subcore.STATES or kind == layout.BLOCK_UNIT):
        subcore.STATES.get(name, subcore.dispatch)(trail, moment, warp)     # a design's own reason is why Control is taken
    elif name in ("barrier", "membar"):
        barriers.waits(trail, moment, warp)
    elif name == "no_instruction":
        fetch.no_instruction(trail, moment, warp)
    elif name == "suspended":
        active_set.suspended(trail, moment, warp)
    elif name == "pipe_throttle" and kind == layout.BLOCK_UNIT:
        units.queue_full(trail, moment, warp)
    elif name == "collector_full" and kind == layout.BLOCK_COLLECTOR:
        units.collectors_full(trail, moment, warp)
    elif name in ("wait", "sleeping") and kind == layout.BLOCK_SLEEP:
        _sleeps(trail, moment, warp)
    else:
        _held(trail, moment, warp)


def _issued(trail: Trail, moment: Machine, warp: int) -> None:
    pc = moment.warp(warp, "last_pc")
    trail.add(
        f"w{warp} issued {moment.mnemonic(pc)}",
        moment.text(pc),
        code=moment.state[warp],
        warp=warp,
        since=moment.warp(warp, "last_issue_cycle"),
        pc=pc,
    )
    if len(trail.links) > 1:  # this warp causes another one's stall
        scheduler = moment.scheduler_of(warp)
        trail.end(
            "issue slot",
            f"issue slot of scheduler {scheduler}, one instruction of w{warp} after the other",
            _more_schedulers(moment),
        )


def _not_selected(trail: Trail, moment: Machine, warp: int) -> None:
    scheduler = moment.scheduler_of(warp)
    first_link(trail, moment, warp, f"w{warp} is ready; another was chosen", next_text(moment, warp))
    rivals = range(scheduler, moment.num_warps, moment.num_schedulers)
    chosen = next((other for other in rivals if moment.state_name(other) == "issued"), None)
    policy = moment.info.scheduler
    code = moment.state[warp]
    others = sum(
        1
        for other, state in enumerate(moment.state)
        if other != warp and moment.scheduler_of(other) == scheduler and state == code
    )
    if chosen is not None:
        of_core = "greedy, else the youngest" if policy == OF_CORE else f"chosen by {policy}"
        role = SCHEDULERS[policy].prefers if policy in SCHEDULERS else of_core
        trail.add(
            f"w{chosen} issued {moment.mnemonic(moment.warp(chosen, 'last_pc'))}: {role}",
            f"scheduler {scheduler}, {policy}" + (f"; {plural(others, 'other warp')} waited too" if others else ""),
            code=moment.state[chosen],
            warp=chosen,
            since=moment.ran,
            pc=moment.warp(chosen, "last_pc"),
        )
    elif moment.info.is_machine_code:
        subcore.held_by_constant(trail, moment, warp)
    trail.end("issue slot", f"issue slot of scheduler {scheduler}, one warp per cycle", _more_schedulers(moment))


def _more_schedulers(moment: Machine) -> dict[str, int]:
    """Return the setting that gives each scheduler fewer warps; a sub-core has one, and an SM four sub-cores."""
    return {} if moment.info.is_machine_code else {"sm.num_schedulers": 4}


def _finished(trail: Trail, moment: Machine, warp: int) -> None:
    trail.add(
        f"w{warp} has ended",
        f"since {moment.warp(warp, 'state_since_cycle'):,}",
        code=moment.state[warp],
        warp=warp,
        since=moment.warp(warp, "state_since_cycle"),
    )
    cta = moment.warp(warp, "cta")
    live = [
        other
        for other in range(moment.num_warps)
        if moment.warp(other, "cta") == cta and moment.state_name(other) not in NO_WARP
    ]
    if live:
        trail.add(f"its CTA still runs {plural(len(live), 'warp')}", listed(live), warp=live[0])
    elif (stored := _last_acknowledged(moment, cta)) > moment.ran:
        trail.add("its CTA's stores are not all acknowledged", f"the last in cycle {stored:,}", until=stored)
        trail.end("L2", "stores: a CTA keeps its place until L2 has acknowledged them", {"memory.store_acks": 0})
        return
    trail.end("CTA slot", f"CTA slot {cta}: it is freed when the CTA's last warp has ended")


def _last_acknowledged(moment: Machine, cta: int) -> int:
    """Return the cycle in which the last store of a CTA is acknowledged, -1 in recordings of versions without it."""
    warps = moment.sm["warp"]
    if "stored_cycle" not in (warps.dtype.names or ()):
        return -1
    return max((int(warp["stored_cycle"]) for warp in warps[: moment.num_warps] if warp["cta"] == cta), default=-1)


def _empty(trail: Trail, moment: Machine, warp: int) -> None:
    total, begun = moment.launch("num_ctas"), moment.launch("next_cta")
    trail.add(f"slot {warp} holds no warp", "", code=moment.state[warp], warp=warp)
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


def _sleeps(trail: Trail, moment: Machine, warp: int) -> None:
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


def _held(trail: Trail, moment: Machine, warp: int) -> None:
    """Explain a wait for a register, a predicate, a pending read, or the register file itself."""
    code, kind, what = moment.state[warp], moment.warp(warp, "blocker_kind"), moment.warp(warp, "blocker")
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
    trail.issued(
        flight,
        f"{flight.name} at PC {flight.pc} {verb}, issued {flight.issue_cycle:,}",
        code=moment.info.stall_codes["issued"],
    )
    trail.instruction(moment, flight)
