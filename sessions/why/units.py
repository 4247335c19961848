"""Explains why an execution unit takes no further instruction: its queue, collectors, or initiation interval."""

from __future__ import annotations

from rfview.engine import state as layout
from rfview.engine.program import UNIT_CTRL, UNIT_LDST, UNIT_SFU, UNIT_SP, UNITS
from rfview.engine.wording import plural
from rfview.sessions.why import memory
from rfview.sessions.machine import Flight, Machine
from rfview.sessions.why.trail import COLLECT_CYCLES, Trail, first_link, next_text

PIPES_OF = {UNIT_SP: (layout.PIPE_SP0, layout.PIPE_SP1), UNIT_SFU: (layout.PIPE_SFU,), UNIT_LDST: (layout.PIPE_LDST,)}


def unit_name(unit: int) -> str:
    """Return the name of an execution unit, whose number comes from a recording."""
    return UNITS[min(unit, UNIT_CTRL)]


def queue_full(trail: Trail, moment: Machine, warp: int) -> None:
    """Explain a warp whose next instruction finds its unit's queue full."""
    unit = min(moment.warp(warp, "blocker"), UNIT_LDST)
    name, size = unit_name(unit), int(moment.config["queue_entries"][unit])
    first_link(trail, moment, warp, f"w{warp} waits for {name}", next_text(moment, warp))
    waiting = [flight for flight in moment.collecting if flight.unit == unit]
    relief = {f"sm.{name.lower()}_queue": 32}
    if waiting:
        oldest = waiting[0]
        trail.issued(
            oldest,
            f"its queue is full: w{oldest.warp} {oldest.name} is first",
            f"{plural(size, 'place')}; {oldest.text}",
        )
        if unit == UNIT_LDST and memory.is_stuck(moment):
            memory.head(trail, moment)
        elif oldest.code:
            trail.instruction(moment, oldest)
        else:
            _say_busy(trail, moment, unit)
    trail.end("queue", f"{name} queue, {plural(size, 'place')}", relief)


def collectors_full(trail: Trail, moment: Machine, warp: int) -> None:
    """Explain a warp that finds no free operand collector."""
    taken = moment.collecting
    first_link(
        trail,
        moment,
        warp,
        "no operand collector is free",
        f"{len(taken)} of {moment.config['num_collectors']} taken; {next_text(moment, warp)}",
    )
    if taken:
        oldest = taken[0]
        trail.issued(oldest, f"the oldest is w{oldest.warp} {oldest.name}, issued {oldest.issue_cycle:,}")
        late = moment.cycle - oldest.issue_cycle - COLLECT_CYCLES
        if late > 1:
            trail.instruction(moment, oldest)
    trail.end("collectors", f"operand collectors, {moment.config['num_collectors']} of them", {"sm.num_collectors": 32})


def _say_busy(trail: Trail, moment: Machine, unit: int) -> Flight | None:
    """Add a link for the instruction that a unit's pipes are working on, and return the instruction."""
    for index in PIPES_OF.get(unit, ()):
        flight = moment.flight(moment.pipe(index, "inflight"))
        until = moment.pipe(index, "until_cycle")
        known = index != layout.PIPE_LDST        # LDST is busy as long as it has an instruction
        if until > moment.ran if known else int(moment.sm["ldst_head"]) != layout.NONE8:
            trail.about(flight, f"{layout.PIPES[index]} works for w{flight.warp} {flight.name}",
                        f"takes the next in cycle {until:,}" if known else memory.progress(flight),
                        until=until if known else -1)
            return flight
    return None


def unit_busy(trail: Trail, moment: Machine, flight: Flight) -> None:
    """Explain an instruction that has its operands and waits in its collector for an execution unit."""
    if flight.unit == UNIT_LDST:
        ahead = [
            other
            for other in moment.collecting
            if other.unit == UNIT_LDST and other.warp == flight.warp and other.seq < flight.seq
        ]
        if int(moment.sm["ldst_head"]) != layout.NONE8:
            memory.head(trail, moment)
        elif ahead:
            trail.issued(ahead[0], f"w{flight.warp} {ahead[0].name} must go first")
            trail.instruction(moment, ahead[0])
        trail.end("LDST unit", "LDST unit, one instruction after the other", memory.RELIEF)
        return
    before = _say_busy(trail, moment, flight.unit)
    if before is None and moment.config["reserve_results"]:
        _say_reserved(trail, moment, flight)
    trail.end(
        "pipe",
        f"{unit_name(flight.unit)} unit, initiation interval",
        initiation_relief(trail, before or flight),
    )


def _say_reserved(trail: Trail, moment: Machine, flight: Flight) -> None:
    """Explain an instruction whose result would come out in a cycle that is reserved for others."""
    done = moment.ran + trail.value(f"latency.{flight.latency_class}", 0)
    executing = (other for other in moment.in_flight() if other.stage == layout.EXECUTE)
    other = next((other for other in executing if other.done_cycle == done), None)
    if other is not None:
        trail.about(other, f"a result of w{other.warp} {other.name} comes out in its cycle {done:,}", other.text,
                    until=done)
    buses = plural(moment.config["result_buses"], "result bus")
    trail.end("result bus", f"{buses}, reserved as a pipe takes an instruction", {"sm.reserve_results": 0})


def initiation_relief(trail: Trail, flight: Flight) -> dict[str, int]:
    """Return the setting that lets a unit take another instruction right after one of this kind; {} if it does already."""
    own = f"initiation.{flight.latency_class}"
    return {own: 1} if flight.latency_class and trail.value(own) > 1 else {}


def latency_relief(trail: Trail, flight: Flight) -> dict[str, int]:
    """Return the settings that make instructions of this kind, and others as slow, take one cycle."""
    if not flight.latency_class:
        return {}
    own = f"latency.{flight.latency_class}"
    cycles = trail.value(own)
    known = flight.done_cycle - flight.since_cycle if flight.end_is_known else cycles
    if cycles == known:
        return {own: 1}
    return {name: 1 for name in trail.values if name.startswith("latency.") and int(trail.values[name]) == known}
