"""Explains why an access to on-chip memory has not completed: shared memory, or the constant cache."""

from __future__ import annotations

from rfview.engine.wording import plural
from rfview.sessions.why.moment import Flight, Moment
from rfview.sessions.why.trail import COLLECT_CYCLES, Trail

PLACES = {
    "shared": ("shared memory", "shared_cycles"),
    "const": ("constant cache", "const_cycles"),
    "param": ("constant cache", "param_cycles"),
}


def explain(trail: Trail, moment: Moment, flight: Flight, where: str, done: int) -> None:
    """Explain an access to shared, constant or parameter memory."""
    name, key = PLACES[where]
    cycles = moment.config[key]
    if flight.missed and where != "shared":
        back = f"back in cycle {done:,}" if done >= 0 else ""
        trail.add(f"it missed the {name}, in LD/ST since {flight.since_cycle:,}", back, warp=flight.warp,
                  since=flight.since_cycle, until=done, pc=flight.pc)
        _end_at_constants(trail, moment)
        return
    late = flight.since_cycle - flight.issue_cycle - COLLECT_CYCLES
    passes = max(1, done - flight.since_cycle - cycles) if done >= 0 else flight.transactions + 1
    said = f"{plural(passes, 'pass')} of lanes" if where == "shared" else f"{plural(cycles, 'cycle')}"
    trail.add(
        f"it has been in {name} since {flight.since_cycle:,}",
        f"{said}, back in cycle {done:,}" if done >= 0 else said,
        warp=flight.warp,
        since=flight.since_cycle,
        until=done,
        pc=flight.pc,
    )
    if late > cycles + passes:
        trail.collected_late(flight, late)
    trail.end(name, f"{name}, {plural(cycles, 'cycle')}", {f"memory.{key}": 1})


def constants_awaited(trail: Trail, moment: Moment) -> None:
    """Explain that the constant cache waits for as many lines as it can."""
    config = moment.config
    lines = moment.sm["ccache"][: config["const_sets"] * config["const_ways"]]
    until = min((int(cycle) for cycle in lines["fill_cycle"] if int(cycle) > moment.ran), default=moment.ran)
    evidence = f"{plural(config['const_mshrs'], 'line')}, the first back in cycle {until:,}"
    trail.add("all MSHRs of the constant cache are taken", evidence, until=until)
    _end_at_constants(trail, moment)


def _end_at_constants(trail: Trail, moment: Moment) -> None:
    """End a chain at the constant cache."""
    sets, ways, size = (moment.config[f"const_{key}"] for key in ("sets", "ways", "line_bytes"))
    name = f"constant cache, {sets} sets of {plural(ways, 'way')} of {size} bytes"
    trail.end("constant cache", name, {"memory.const_sets": 0})
