"""Explains what a sub-core's warp waits for: its stall counter, a dependence counter, a pipe, read ports, credits, fetch."""

from __future__ import annotations

from collections.abc import Callable

from rfview.engine import state as layout
from rfview.engine.machine.cores.subcore.parameters import PIPES
from rfview.engine.machine.cores.subcore.state import NUM_PIPES, PIPE_ALU, PIPE_FMA
from rfview.engine.program import UNIT_LDST
from rfview.engine.wording import plural
from rfview.sessions.machine import Machine
from rfview.sessions.why import fetch, subcore_flights as flights
from rfview.sessions.why.trail import Trail, first_link, next_text


def stall_counter(trail: Trail, moment: Machine, warp: int) -> None:
    """Explain `wait`: the instruction issued last said in its control code how long the warp waits."""
    last, issued = moment.warp(warp, "last_pc"), moment.warp(warp, "last_issue_cycle")
    until = int(moment.sub_core_warp(warp)["until_cycle"])
    first_link(trail, moment, warp, f"w{warp} waits for its stall counter", next_text(moment, warp))
    code = moment.control(last)
    encoded, keeps = code & 15, not code >> 4 & 1
    said = f"a stall count of {encoded}" if encoded > 1 or not keeps else "a yield"
    trail.add(f"{moment.mnemonic(last)} at PC {last} has {said}", moment.text(last), warp=warp, since=issued, until=until,
              pc=last)
    held = until - issued - max(encoded, 2)
    if encoded > 1 and held > 0:
        trail.add(f"Allocate held the counter for {plural(held, 'cycle')}", "an instruction found no read ports", warp=warp)
        trail.end("read ports", "read ports: while Allocate waits, stall counters stand still", {"core.hold_counters": 0})
    trail.end("stall counter", f"stall counter of w{warp}: the compiler's promise that results are ready when it ends")


def dependence_counter(trail: Trail, moment: Machine, warp: int) -> None:
    """Explain a scoreboard stall: the instruction in flight that holds the counter."""
    counter, flight = moment.warp(warp, "blocker"), moment.awaited(warp)
    value = int(moment.sub_core_warp(warp)["counter"][min(counter, 5)])
    first_link(trail, moment, warp, f"w{warp} waits for SB{counter}", f"it is {value}; {next_text(moment, warp)}")
    if flight is None:
        trail.end("dependence counter", f"SB{counter} of w{warp}: it falls in the next cycle")
        return
    reads = moment.control(flight.pc) >> 5 & 7 != counter
    verb = "has not read its operands" if reads else "counts it until its result is written"
    trail.issued(flight, f"{flight.name} at PC {flight.pc} {verb}, issued {flight.issue_cycle:,}",
                 code=moment.info.stall_codes["issued"])
    trail.instruction(moment, flight)


def pipe_busy(trail: Trail, moment: Machine, warp: int) -> None:
    """Explain `math_pipe_throttle`: the instruction that the pipe took last, and for how long it holds the pipe's input."""
    entry, sub = moment.instruction(moment.warp(warp, "pc")), moment.sub_core(warp)
    pipe = PIPES.get(entry.latency_class if entry else "", 0)
    name, until = pipe_name(pipe), int(sub["pipe_cycle"][min(pipe, NUM_PIPES - 1)])
    first_link(trail, moment, warp, f"w{warp} waits for the {name} pipe", next_text(moment, warp))
    pipes = (PIPE_FMA, PIPE_ALU) if pipe == PIPE_FMA else (pipe,)
    took = [flight for flight in moment.in_sub_core(warp) if flight.pipe in pipes]
    if not took:
        trail.end("pipe", f"{name} pipe: its input is taken until cycle {until:,}")
        return
    last = took[-1]
    trail.issued(last, f"it took w{last.warp} {last.name} in cycle {last.issue_cycle:,}",
                 f"free in cycle {until:,}; {last.text}")
    own = f"interval.{last.latency_class}"
    trail.end("pipe", f"{name} pipe: one instruction in {plural(trail.value(own, 1), 'cycle')}", {own: 1})


def pipe_name(pipe: int) -> str:
    """Return the name of a pipe of fixed latency."""
    return next((name.upper() for name, number in PIPES.items() if number == pipe), "branch")


def dispatch(trail: Trail, moment: Machine, warp: int) -> None:
    """Explain `dispatch_stall`: Control holds an instruction, because Allocate, a unit's queue or the design does."""
    sub = moment.sub_core(warp)
    first_link(trail, moment, warp, f"w{warp} finds Control taken", next_text(moment, warp))
    if control := int(sub["control"]):
        behind = moment.flight(control - 1)
        trail.issued(behind, f"w{behind.warp} {behind.name} is in Control", f"issued {behind.issue_cycle:,}; {behind.text}")
    if allocate := int(sub["allocate"]):
        flights.allocate(trail, moment, moment.flight(allocate - 1))
    elif control:
        trail.instruction(moment, moment.flight(control - 1))
    trail.end("Control", f"Control of sub-core {moment.scheduler_of(warp)}, one instruction at a time")


def credits(trail: Trail, moment: Machine, warp: int) -> None:
    """Explain a throttle: all credits of the sub-core are taken, the oldest access by what holds that up."""
    sub, number = moment.sub_core(warp), moment.scheduler_of(warp)
    used, most = int(sub["credits_used"]), trail.value("core.credits", 5)
    if used < most:
        first_link(trail, moment, warp, f"w{warp} finds no free in-flight entry", next_text(moment, warp))
        oldest = moment.in_flight()[0]
        trail.issued(oldest, f"the oldest is w{oldest.warp} {oldest.name}, issued {oldest.issue_cycle:,}")
        trail.instruction(moment, oldest)
        trail.end("in-flight entries", f"in-flight entries, {layout.MAX_INFLIGHT - 1} of them (RULES.md, B11.5)")
        return
    first_link(trail, moment, warp, f"w{warp} finds no credit for an access",
               f"{used} of {most} taken; {next_text(moment, warp)}")
    waiting = [flight for flight in moment.in_sub_core(warp)
               if flight.stage == layout.COLLECT and flight.unit == UNIT_LDST]
    if waiting:
        first = waiting[0]
        trail.issued(first, f"the oldest is w{first.warp} {first.name}, issued {first.issue_cycle:,}")
        trail.instruction(moment, first)
    trail.end("credits", f"credits of sub-core {number}, {plural(most, 'access')} before the memory pipeline")


def fetching(trail: Trail, moment: Machine, warp: int) -> None:
    """Explain an empty instruction buffer: the warp has begun, jumped, missed the instruction cache, or ran dry."""
    pc, last = moment.warp(warp, "pc"), moment.warp(warp, "last_pc")
    issued, cycle = moment.warp(warp, "num_issued"), moment.warp(warp, "last_issue_cycle")
    first_link(trail, moment, warp, f"w{warp} has nothing to issue", next_text(moment, warp))
    if issued == 0:
        trail.add(f"w{warp} has just begun", f"CTA slot {moment.warp(warp, 'cta')}", warp=warp,
                  since=moment.warp(warp, "state_since_cycle"))
    elif pc != last + 1:
        trail.add(f"it jumped to PC {pc} in cycle {cycle:,}", moment.text(last), warp=warp, since=cycle, pc=last)
        trail.end("fetch", "branch: its target is fetched again", {"core.branch_cycles": 0})
        return
    if fetch.missing_code(trail, trail.past.at(moment.ran) or moment, warp, pc):
        return
    if issued and pc == last + 1:
        trail.add(f"it issued the last instruction that it had in cycle {cycle:,}", moment.text(last), warp=warp,
                  since=cycle, pc=last)
    stages = trail.value("core.fetch_stages", 2)
    trail.end("fetch", f"fetch of sub-core {moment.scheduler_of(warp)}: one instruction per cycle, "
              f"{plural(stages, 'cycle')} ahead", {"core.fetch_stages": 0})


def constant_missing(trail: Trail, moment: Machine, warp: int) -> None:
    """Explain `imc_miss`: the line of constants that is on its way to the sub-core's L0 cache."""
    until, cycles = int(moment.sub_core_warp(warp)["constant_cycle"]), trail.value("core.constant_cycles", 79)
    first_link(trail, moment, warp, f"w{warp} waits for a constant", next_text(moment, warp))
    trail.add(f"its cache line comes to the L0 cache in cycle {until:,}", f"requested in {until - cycles:,}", warp=warp,
              since=until - cycles, until=until, pc=moment.warp(warp, "pc"))
    trail.end("constant cache", f"L0 cache of constants of sub-core {moment.scheduler_of(warp)}: a miss takes "
              f"{plural(cycles, 'cycle')}", {"core.constant_cycles": 0})


def held_by_constant(trail: Trail, moment: Machine, warp: int) -> None:
    """Explain why no warp of a sub-core issues although one could: the greedy one has just missed a constant."""
    last = int(moment.sub_core(warp)["last_warp"]) - 1
    if last < 0 or moment.state_name(last) != "imc_miss":
        return
    trail.add(f"nobody issues: w{last} issued last, and has just missed a constant", next_text(moment, last),
              code=moment.state[last], warp=last, since=moment.warp(last, "state_since_cycle"))
    trail.end("constant cache", f"L0 cache of constants of sub-core {moment.scheduler_of(warp)}: the sub-core waits for its "
              "greedy warp at first", {"core.constant_cycles": 0})


STATES: dict[str, Callable[[Trail, Machine, int], None]] = {
    "wait": stall_counter, "short_scoreboard": dependence_counter, "long_scoreboard": dependence_counter,
    "math_pipe_throttle": pipe_busy, "dispatch_stall": dispatch, "lg_throttle": credits, "mio_throttle": credits,
    "imc_miss": constant_missing, "branch_resolving": fetching, "no_instruction": fetching,
}
