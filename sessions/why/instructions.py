"""Explains why an instruction in flight has no result yet: how far it has got from collector to register file."""

from __future__ import annotations

from rfview.engine import state as layout
from rfview.engine.plugin.explaining import Refusal
from rfview.engine.program import UNIT_LDST
from rfview.engine.stalls import NO_WARP
from rfview.engine.wording import plural
from rfview.sessions.why import memory, on_chip, subcore_flights, units
from rfview.sessions.machine import Flight, Machine
from rfview.sessions.why.trail import COLLECT_CYCLES, Trail


def explain(trail: Trail, moment: Machine, flight: Flight) -> None:
    """Explain why an instruction is where it is, down to a resource."""
    if moment.info.is_machine_code:
        subcore_flights.explain(trail, moment, flight)
        return
    step = {
        layout.COLLECT: _collecting,
        layout.EXECUTE: _executing,
        layout.MEMORY: memory.explain,
        layout.WRITE_BACK: _writing,
        layout.WRITTEN: _written,
    }.get(flight.stage)
    if step is not None:
        step(trail, moment, flight)


def _collecting(trail: Trail, moment: Machine, flight: Flight) -> None:
    """Explain one that gathers operands, or has them and waits for its unit."""
    if flight.code:
        regs = flight.registers
        names = ", ".join(f"R{reg}" for reg in regs)
        if flight.is_late:
            _arriving(trail, moment, flight, names)
            return
        trail.issued(
            flight,
            f"it has not read {names or 'its operands'}",
            f"in collector {flight.collector}, issued {flight.issue_cycle:,}",
            code=flight.code,
        )
        trail.refused(moment, Refusal("read", flight.code, flight.warp, regs[0] if regs else -1, flight.bank, flight))
        return
    frozen = int(moment.sm["freeze_code"])
    if frozen and (flight.unread or flight.issue_cycle + COLLECT_CYCLES <= moment.ran):
        trail.issued(
            flight,
            "it waits in its collector: pipeline frozen",
            f"collector {flight.collector}",
            code=frozen,
        )
        trail.refused(moment, Refusal("freeze", frozen, flight.warp, flight=flight))
        return
    if flight.unread or flight.issue_cycle + COLLECT_CYCLES > moment.ran:
        _on_its_way(trail, moment, flight)
        return
    trail.issued(
        flight,
        f"it has its operands and waits for {units.unit_name(flight.unit)}",
        f"in collector {flight.collector} since {flight.issue_cycle:,}",
    )
    units.unit_busy(trail, moment, flight)


def _arriving(trail: Trail, moment: Machine, flight: Flight, names: str) -> None:
    """Explain one whose operands are read, while the register file takes longer than a cycle to deliver them."""
    trail.about(flight, f"it has read {names}, which {'is' if len(flight.registers) == 1 else 'are'} on the way",
                f"arrives in collector {flight.collector} in cycle {flight.done_cycle:,}, issued {flight.issue_cycle:,}",
                code=flight.code, since=flight.issue_cycle, until=flight.done_cycle)
    trail.refused(moment, Refusal("late", flight.code, flight.warp, flight.registers[0], flight.bank, flight))


def _on_its_way(trail: Trail, moment: Machine, flight: Flight) -> None:
    """Explain one that nothing delays: it reads its operands, and the rest takes its usual time."""
    trail.issued(flight, "it gathers its operands", f"collector {flight.collector}, at least {COLLECT_CYCLES} cycles")
    if flight.unit == UNIT_LDST:
        where = memory.space(flight)
        if where in on_chip.PLACES:
            name, key = on_chip.PLACES[where]
            trail.end(name, f"{name}, {plural(moment.config[key], 'cycle')}", {f"memory.{key}": 1})
        trail.end("memory", "memory: the access is yet to be sent", memory.RELIEF)
        return
    name = units.unit_name(flight.unit)
    trail.end("pipe", f"operand collector and {name} pipe, a fixed latency", units.latency_relief(trail, flight))


def _executing(trail: Trail, moment: Machine, flight: Flight) -> None:
    """Explain one in a pipe; if it entered late, by what delayed it before."""
    if not flight.end_is_known:
        _awaits_barrier(trail, moment, flight)
        return
    pipe = layout.PIPES[min(flight.pipe, layout.PIPE_LDST)]
    latency = flight.done_cycle - flight.since_cycle
    late = flight.since_cycle - flight.issue_cycle - COLLECT_CYCLES
    trail.about(flight, f"it has been in {pipe} since {flight.since_cycle:,}",
                f"{plural(latency, 'cycle')}, done in cycle {flight.done_cycle:,}", until=flight.done_cycle)
    if late > latency:
        trail.collected_late(flight, late)
    trail.end(
        "pipe",
        f"{pipe.removeprefix('the ')} pipe, latency {plural(latency, 'cycle')}",
        units.latency_relief(trail, flight),
    )


def _awaits_barrier(trail: Trail, moment: Machine, flight: Flight) -> None:
    """Explain a barrier's reduction: its result is known when the barrier opens."""
    trail.issued(flight, f"its result comes when barrier {flight.bank} opens")
    cta = moment.warp(flight.warp, "cta")
    late = [
        warp
        for warp in range(moment.num_warps)
        if moment.warp(warp, "cta") == cta
        and warp not in trail.warps
        and moment.state_name(warp) not in NO_WARP
        and moment.warp(warp, "barrier") != flight.bank
    ]
    if late:
        trail.follow(moment, min(late, key=lambda warp: moment.warp(warp, "num_issued")))
    trail.end("barrier", f"barrier {flight.bank} of its CTA")


def _writing(trail: Trail, moment: Machine, flight: Flight) -> None:
    """Explain one whose result is ready but not written."""
    reg = flight.result
    trail.about(flight, f"its result R{reg} is not written yet", f"ready since {flight.since_cycle:,}",
                code=flight.code or -1)
    if flight.code:
        trail.refused(moment, Refusal("write", flight.code, flight.warp, reg, flight.bank, flight))
    elif int(moment.sm["freeze_code"]):
        trail.refused(moment, Refusal("freeze", int(moment.sm["freeze_code"]), flight.warp, flight=flight))
    else:
        _no_bus(trail, moment, flight)


def _no_bus(trail: Trail, moment: Machine, flight: Flight) -> None:
    """Explain that older results had the result buses, or that the register file refuses those in every cycle."""
    is_memory = flight.unit == UNIT_LDST
    ahead = [
        other
        for other in moment.in_flight()
        if other.stage == layout.WRITE_BACK
        and other.seq < flight.seq
        and (other.unit == UNIT_LDST) == is_memory
        and other.code
    ]
    if ahead:
        first = ahead[0]
        trail.about(first, f"older results have the bus: w{first.warp} R{first.result} is refused",
                    f"{moment.name(first.code)}, ready since {first.since_cycle:,}; {first.text}", code=first.code)
        trail.refused(moment, Refusal("write", first.code, first.warp, first.result, first.bank, first))
    elif is_memory:
        trail.end("result bus", "result bus of LDST, one result per cycle")
    else:
        trail.end(
            "result bus",
            f"result buses, {plural(moment.config['result_buses'], 'result')} per cycle",
            {"sm.result_buses": 16},
        )


def _written(trail: Trail, moment: Machine, flight: Flight) -> None:
    """Explain one whose result was accepted while the register is not released yet."""
    entry, held = moment.instruction(flight.pc), moment.warp(flight.warp, "sb_write")
    reg = next((int(reg) for reg in sorted(entry.dst if entry else ()) if reg < 64 and (held >> int(reg)) & 1), -1)
    trail.about(flight, f"its result R{reg} is accepted, not yet in its place", f"since {flight.since_cycle:,}")
    trail.refused(moment, Refusal("hold", moment.state[flight.warp], flight.warp, reg, flight.bank, flight))
