"""Explains why a warp is outside its scheduler's active set, or still leaving it."""

from __future__ import annotations

from rfview.engine import state as layout
from rfview.engine.machine.schedulers import SCHEDULERS
from rfview.engine.machine.schedulers.scheduler import SHARE
from rfview.engine.stalls import BY_NAME, NO_WARP
from rfview.engine.plugin.explaining import Refusal
from rfview.engine.wording import listed, plural
from rfview.sessions.machine import Flight, Machine
from rfview.sessions.why.trail import Trail, first_link, next_text


def suspended(trail: Trail, moment: Machine, warp: int) -> None:
    """Explain a ready warp outside the active set: which warps have the places, or which rule keeps one free."""
    scheduler = moment.scheduler_of(warp)
    first_link(trail, moment, warp, f"w{warp} is ready but suspended", next_text(moment, warp))
    bits = int(moment.sm["scheduler"][scheduler]["active"])
    active = [other for other in range(moment.num_warps) if (bits >> other) & 1]
    room = moment.config["active_places"]
    if len(active) < room and moment.config["parity"]:
        _kept_by_parity(trail, moment, scheduler)
        return
    leaving = [other for other in active if moment.warp(other, "membership") == layout.LEAVING]
    held = f"{plural(len(active), 'place')} taken: {listed(active)}"
    if leaving:
        oldest = min(leaving, key=lambda other: moment.warp(other, "state_since_cycle"))
        trail.add(
            f"w{oldest} still leaves the active set", held, warp=oldest, since=moment.warp(oldest, "state_since_cycle")
        )
        if oldest not in trail.warps:
            _flush(trail, moment, oldest)
            if trail.ended:
                return
    elif active:
        joined = int(moment.sm["scheduler"][scheduler]["joined_warp"])
        verb = "holds the only place" if room == 1 else f"hold all {room} places"
        trail.add(
            f"{listed(active, 4)} {verb} of the active set",
            ", ".join(f"w{other} {moment.state_name(other)}" for other in active[:4])
            + (f"; w{joined} joined last" if joined < 64 else ""),
            warp=active[0],
        )
    row = SCHEDULERS.get(moment.info.scheduler)
    relief = {"scheduler.active_set": 64} if row is not None and row.active == SHARE else {"sm.num_schedulers": 4}
    trail.end("active set", f"active set of scheduler {scheduler}, {plural(room, 'place')}", relief)


def _kept_by_parity(trail: Trail, moment: Machine, scheduler: int) -> None:
    """Explain a place that remains empty until a warp of the other parity can take it."""
    last = int(moment.sm["scheduler"][scheduler]["joined_warp"])
    parity = "an even" if last & 1 else "an odd"
    trail.add(f"the place is kept for {parity} warp", f"w{last} had it last; parity of warp ids alternates")
    other = [
        w
        for w in range(moment.num_warps)
        if w % 2 != last % 2
        and moment.scheduler_of(w) == scheduler
        and moment.state_name(w) not in (*NO_WARP, "barrier", "suspended")
    ]
    trail.end(
        "active set",
        f"active set of scheduler {scheduler}: alternating parity, w{other[0]} is waited for"
        if other
        else f"active set of scheduler {scheduler}: alternating parity",
        {"scheduler.parity": "off"},
    )


def leaving(trail: Trail, moment: Machine, warp: int) -> None:
    """Explain a warp that is leaving the active set: why it leaves, and what delays its leaving."""
    first_link(trail, moment, warp, f"w{warp} leaves the active set", next_text(moment, warp))
    _flush(trail, moment, warp)
    awaited = _awaited(moment, warp)
    if awaited is None:
        return
    reg, flight = awaited
    known = flight.done_cycle if flight.end_is_known else moment.cycle + 1
    if (
        trail.links[-1].until < known
    ):  # it will have left before the result arrives, so leaving is not what the warp waits for
        trail.reopen()
        trail.issued(
            flight,
            f"it leaves for R{reg}, which takes longer: {flight.name}",
            f"issued {flight.issue_cycle:,}; {flight.text}",
        )
        trail.instruction(moment, flight)


def _awaited(moment: Machine, warp: int) -> tuple[int, Flight] | None:
    """Return (register, instruction) of the long-latency result that the next instruction needs, or None."""
    entry = moment.instruction(moment.warp(warp, "pc"))
    if entry is None:
        return None
    held = moment.warp(warp, "sb_long")
    for reg in [*entry.src, *entry.dst]:
        if int(reg) < 64 and (held >> int(reg)) & 1:
            flight = moment.writer(warp, int(reg))
            if flight is not None:
                return int(reg), flight
    return None


def _flush(trail: Trail, moment: Machine, warp: int) -> None:
    """Explain what delays a leaving warp: a short-latency result in flight, otherwise work of the register file."""
    code = moment.warp(warp, "leave_code")
    short = moment.warp(warp, "sb_write") & ~moment.warp(warp, "sb_long")
    own = moment.name(code) not in BY_NAME    # the design's work, no matter what is in flight
    for reg in range(64):
        if (short >> reg) & 1 and not own:
            flight = moment.writer(warp, reg)
            if flight is not None:
                trail.issued(flight, f"first its R{reg} must be written: {flight.name}")
                trail.instruction(moment, flight)
                return
    trail.refused(moment, Refusal("leave", code, warp))
