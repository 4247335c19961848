"""Explains why an access to on-chip memory has not completed: shared memory, or the constant cache."""

from __future__ import annotations

import re

from rfview.engine.wording import plural
from rfview.sessions.machine import Flight, Machine
from rfview.sessions.why.trail import COLLECT_CYCLES, Trail

PASS_BYTES = 128            # that all banks of shared memory deliver in a pass
PLACES = {
    "shared": ("shared memory", "shared_cycles"),
    "const": ("constant cache", "const_cycles"),
    "param": ("constant cache", "param_cycles"),
}


def explain(trail: Trail, moment: Machine, flight: Flight, where: str, done: int) -> None:
    """Explain an access to shared, constant or parameter memory."""
    name, key = PLACES[where]
    cycles = moment.config[key]
    if flight.missed and where != "shared":
        back = f"back in cycle {done:,}" if done >= 0 else ""
        trail.about(flight, f"it missed the {name}, in LDST since {flight.since_cycle:,}", back, until=done)
        _end_at_constants(trail, moment)
        return
    late = flight.since_cycle - flight.issue_cycle - COLLECT_CYCLES
    passes = done - flight.since_cycle - cycles if done >= 0 else flight.transactions + moment.ran - flight.since_cycle
    passes = max(1, passes)
    parts = f"{plural(passes, 'pass')} of lanes" if where == "shared" else f"{plural(cycles, 'cycle')}"
    needed = _passes_needed(moment, flight) if where == "shared" else passes
    if passes > needed:
        parts = f"a {-(-passes // needed)}-way bank conflict: {parts}"
    trail.about(flight, f"it has been in {name} since {flight.since_cycle:,}",
                f"{parts}, back in cycle {done:,}" if done >= 0 else parts, until=done)
    if late > cycles + passes:
        trail.collected_late(flight, late)
    if passes - needed > cycles:
        trail.end("shared memory banks",
                  "shared memory, 32 banks of 4 bytes: lanes that want different words of a bank take turns")
        return
    trail.end(name, f"{name}, {plural(cycles, 'cycle')}", {f"memory.{key}": 1})


def _passes_needed(moment: Machine, flight: Flight) -> int:
    """Return in how many passes shared memory could deliver what the lanes of an access ask for."""
    bits = [int(digits) for digits in re.findall(r"\.[bsuf](8|16|32|64|128)\b", flight.text)] or [32]
    words = [int(digits) for digits in re.findall(r"\.v([248])\b", flight.text)] or [1]
    size = flight.mask.bit_count() * bits[-1] * words[0] // 8
    return max(1, -(-size // (moment.config.get("shared_bytes_per_cycle") or PASS_BYTES)))


def constants_awaited(trail: Trail, moment: Machine) -> None:
    """Explain that the constant cache waits for as many lines as it can."""
    config = moment.config
    lines = moment.sm["ccache"][: config["const_sets"] * config["const_ways"]]
    until = min((int(cycle) for cycle in lines["fill_cycle"] if int(cycle) > moment.ran), default=moment.ran)
    evidence = f"{plural(config['const_mshrs'], 'cache line')}, the first back in cycle {until:,}"
    trail.add("all MSHRs of the constant cache are taken", evidence, until=until)
    _end_at_constants(trail, moment)


def _end_at_constants(trail: Trail, moment: Machine) -> None:
    """End a chain at the constant cache."""
    sets, ways, size = (moment.config[f"const_{key}"] for key in ("sets", "ways", "line_bytes"))
    name = f"constant cache, {sets} sets of {plural(ways, 'way')} of {size} bytes"
    trail.end("constant cache", name, {"memory.const_sets": 0})
