"""Explains why a memory access has not completed: lines still to be sent, MSHRs, or lines on their way from L1, L2, DRAM."""

from __future__ import annotations

from typing import Any

import numpy as np

from rfview.engine import state as layout
from rfview.engine.wording import plural
from rfview.sessions.why import on_chip
from rfview.sessions.machine import Flight, Machine
from rfview.sessions.why.trail import COLLECT_CYCLES, Trail

RELIEF = {
    "memory.dram_cycles": 0,
    "memory.l2_hit_cycles": 1,
    "memory.l1_hit_cycles": 1,
    "memory.shared_cycles": 1,
    "memory.bytes_per_cycle": 100000,
}


def is_stuck(moment: Machine) -> bool:
    """Say whether the instruction in LD/ST was blocked in the cycle that ran."""
    return int(moment.sm["ldst_head"]) != layout.NONE8 and int(moment.sm["ldst_reason"]) != layout.LDST_GOES_ON


def space(flight: Flight) -> str:
    """Return the state space that an instruction accesses, "" if it accesses none."""
    entry = flight.machine.instruction(flight.pc)
    return entry.space if entry else ""


def progress(flight: Flight) -> str:
    """Return how far LDST has got with an instruction."""
    word = "pass" if space(flight) == "shared" else "cache line"
    return f"{plural(flight.transactions, word)} still to send, one per cycle"


def head(trail: Trail, moment: Machine) -> None:
    """Explain the instruction that LD/ST is working on: more lines to send, or why it cannot send the next one."""
    flight = moment.flight(int(moment.sm["ldst_head"]))
    reason = int(moment.sm["ldst_reason"])
    trail.about(flight, f"LDST works for w{flight.warp} {flight.name}", f"{progress(flight)}; {flight.text}")
    stuck(trail, moment, reason)
    if space(flight) == "shared":
        trail.end("shared memory", "shared memory, one pass of conflict-free lanes per cycle", RELIEF)
    trail.end("LDST unit", "LDST unit, one cache line per cycle", RELIEF)


def stuck(trail: Trail, moment: Machine, reason: int) -> None:
    """Explain why LD/ST could not send a line in the cycle that ran."""
    if reason == layout.LDST_MSHRS_FULL:
        _mshrs_full(trail, moment)
    elif reason == layout.LDST_SET_FULL:
        ways = moment.config["l1_ways"]
        trail.add("every way of its L1 set awaits a cache line", f"{plural(ways, 'way')}")
        trail.end("L1 set", f"L1 set, {plural(ways, 'way')}", {"memory.l1_ways": 16, "memory.l1_sets": 32})
    elif reason == layout.LDST_QUEUE_FULL:
        _port(trail, moment)
    elif reason == layout.LDST_CONST_CACHE:
        on_chip.constants_awaited(trail, moment)


def mshrs_in_use(sm: Any, cycle: int) -> np.ndarray:
    """Return the records of the MSHRs that still wait for their lines at a cycle; sm: the state as a plain record."""
    entries = sm["mshr"][: int(sm["config"]["mshrs"])]
    return np.asarray(entries[entries["until_cycle"] > cycle])


def _address(entry: Any) -> str:
    """Return the first byte of an MSHR's line, as "line at 0x7000000000"."""
    return f"cache line at 0x{int(entry['line']) * layout.LINE_BYTES:x}"


def _mshrs_full(trail: Trail, moment: Machine) -> None:
    used = mshrs_in_use(moment.sm, moment.ran)
    count = moment.config["mshrs"]
    if len(used):
        since = max(int(entry["since_cycle"]) for entry in used)
        first = min(used, key=lambda entry: int(entry["until_cycle"]))
        until, owner = int(first["until_cycle"]), int(first["owner_warp"])
        trail.add(
            f"all {count} MSHRs have been taken since {since:,}",
            f"the first comes free in cycle {until:,}: {_address(first)} for w{owner}",
            warp=owner,
            since=since,
            until=until,
        )
    trail.end("MSHRs", f"MSHRs, {count} of them", {"memory.mshrs": 128})


def _port(trail: Trail, moment: Machine) -> None:
    """Explain a port to memory that is reserved further ahead than LD/ST may queue."""
    flit = moment.config["flit_bytes"]
    flits = int(moment.sm["port_free_cycle"]) - moment.ran if flit else 0
    if flits > int(moment.sm["dram_free_x256"]) // 256 - moment.ran:
        trail.add(
            f"the port to the interconnect is booked for {plural(flits, 'cycle')}",
            f"LDST waits beyond {moment.config['queue_cycles']:,}",
            until=moment.ran + flits,
        )
        trail.end("interconnect", f"port to the interconnect, a flit of {flit} bytes per cycle", {"memory.flit_bytes": 0})
        return
    ahead = int(moment.sm["dram_free_x256"]) // 256 - moment.ran
    rate = moment.config["bytes_per_cycle_x256"] / 256
    trail.add(
        f"the memory port is booked for {plural(ahead, 'cycle')}",
        f"LDST waits beyond {moment.config['queue_cycles']:,}",
        until=moment.ran + ahead,
    )
    trail.end("memory port", f"memory port, {rate:.1f} bytes per cycle", {"memory.bytes_per_cycle": 100000})


def explain(trail: Trail, moment: Machine, flight: Flight) -> None:
    """Explain a memory instruction that has left its collector."""
    where = space(flight)
    is_head = int(moment.sm["ldst_head"]) == flight.entry
    if is_head and is_stuck(moment):
        head(trail, moment)
        return
    done = flight.done_cycle if not is_head and flight.end_is_known else -1
    if where in on_chip.PLACES:
        on_chip.explain(trail, moment, flight, where, done)
        return
    if is_head:
        trail.about(flight, f"it has been in LDST since {flight.since_cycle:,}", progress(flight))
        trail.end("memory", "memory: its cache lines are still being sent", RELIEF)
        return
    line = next((entry for entry in mshrs_in_use(moment.sm, moment.ran) if int(entry["until_cycle"]) == done), None)
    sent = int(line["since_cycle"]) if line is not None else _sent(moment, flight, done)
    _returning(trail, moment, flight, line, sent, done)
    if sent - flight.issue_cycle - COLLECT_CYCLES - 1 > done - sent:
        _sent_late(trail, flight, sent)
    _name_source(trail, moment, flight, sent, done)


def _sent(moment: Machine, flight: Flight, done: int) -> int:
    """Return the cycle in which a line without its own MSHR was sent: the earliest that LD/ST could have done so."""
    fixed = moment.config["fixed_memory_cycles"]
    if fixed:
        return max(flight.since_cycle, done - fixed)
    if not flight.missed and moment.config["l1_enabled"]:
        return max(flight.since_cycle, done - moment.config["l1_hit_cycles"])
    return flight.since_cycle + 1


def _returning(trail: Trail, moment: Machine, flight: Flight, line: Any, sent: int, done: int) -> None:
    """Append a link that says where the last line is."""
    used = len(mshrs_in_use(moment.sm, moment.ran))
    back = f"back in cycle {done:,}"
    if line is not None:
        owner = int(line["owner_warp"])
        whose = "" if owner == flight.warp else f", asked for by w{owner}"
        trail.add(
            f"it missed L1 at {sent:,}; its cache line is on the way",
            f"{_address(line)}{whose}, {back}; {plural(used, 'MSHR')} in use",
            warp=owner,
            since=sent,
            until=done,
            pc=flight.pc,
        )
    elif flight.missed or not moment.config["l1_enabled"]:
        trail.about(flight, f"it has been in memory since {sent:,}", back, since=sent, until=done)
    else:
        trail.about(flight, f"it has been in LDST and L1 since {flight.since_cycle:,}", back, until=done)


def _sent_late(trail: Trail, flight: Flight, sent: int) -> None:
    """Explain an access that waited longer to be sent than its data takes to arrive: that wait, in the past."""
    late = sent - flight.issue_cycle
    trail.about(flight, f"it was sent {plural(late, 'cycle')} after its issue", f"issued {flight.issue_cycle:,}",
                since=flight.issue_cycle, until=sent)
    in_unit = sent - flight.since_cycle > flight.since_cycle - flight.issue_cycle
    earlier = trail.past.at((sent + flight.since_cycle) // 2 if in_unit else flight.since_cycle - 1)
    if earlier is None:
        return
    if is_stuck(earlier):
        if not in_unit:
            blocker = earlier.flight(int(earlier.sm["ldst_head"]))
            trail.about(blocker, f"LDST worked for w{blocker.warp} {blocker.name} then", blocker.text, at=earlier.cycle)
        stuck(trail, earlier, int(earlier.sm["ldst_reason"]))
    elif not in_unit:
        other = flight.before(trail.past, earlier.cycle)
        if other is not None and other.stage == layout.COLLECT:
            trail.instruction(earlier, other)


def _name_source(trail: Trail, moment: Machine, flight: Flight, sent: int, done: int) -> None:
    """End at the level that the data comes from, inferred from its latency."""
    config = moment.config
    if config["fixed_memory_cycles"]:
        if done - flight.since_cycle > 2 * config["fixed_memory_cycles"]:
            trail.end(
                "memory port",
                f"memory port, {config['bytes_per_cycle_x256'] / 256:.1f} bytes per cycle",
                {"memory.bytes_per_cycle": 100000},
            )
        trail.end("memory", f"memory, {plural(config['fixed_memory_cycles'], 'cycle')}", {"memory.fixed_memory_cycles": 1})
        return
    if not flight.missed and config["l1_enabled"] and flight.name.lower().startswith("ld"):
        trail.end("L1", f"L1 cache, {plural(config['l1_hit_cycles'], 'cycle')}", {"memory.l1_hit_cycles": 1})
        return
    took = done - sent
    queued = took - config["l2_hit_cycles"] - config["dram_cycles"]
    if took <= config["l2_hit_cycles"] and config["dram_cycles"]:
        trail.end("L2", f"L2 cache, {plural(config['l2_hit_cycles'], 'cycle')}", {"memory.l2_hit_cycles": 1})
    elif config["flit_bytes"] and queued > 0:
        trail.end(
            "interconnect",
            f"ports of the interconnect, a flit of {config['flit_bytes']} bytes per cycle and direction: "
            f"{plural(queued, 'cycle')} of traffic before it",
            {"memory.flit_bytes": 0},
        )
    elif queued > config["dram_cycles"]:
        trail.end(
            "memory port",
            f"memory port, {config['bytes_per_cycle_x256'] / 256:.1f} bytes per cycle: "
            f"{plural(queued, 'cycle')} of traffic before it",
            {"memory.bytes_per_cycle": 100000},
        )
    else:
        trail.end(
            "DRAM",
            f"DRAM, {plural(config['dram_cycles'], 'cycle')} behind an L2 of {config['l2_hit_cycles']}",
            {"memory.dram_cycles": 0},
        )
