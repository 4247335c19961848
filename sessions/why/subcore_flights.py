"""Explains why an instruction of a sub-core has no result yet: Control, Allocate, its unit, memory, the write port."""

from __future__ import annotations

from rfview.engine import state as layout
from rfview.engine.machine.cores.subcore.state import WINDOW
from rfview.engine.state import READ_RING
from rfview.engine.wording import plural
from rfview.sessions import producers
from rfview.sessions.machine import Flight, Machine
from rfview.sessions.why import memory
from rfview.sessions.why.trail import Trail

REUSE_SHIFT = 17        # of the reuse bits in a control code, one per place of an operand
UNITS = ("XU", "FP64 unit", "constant unit", "unit of special registers")


def explain(trail: Trail, moment: Machine, flight: Flight) -> None:
    """Explain why an instruction in flight on a sub-core is where it is, down to a resource."""
    if flight.stage == layout.COLLECT:
        _queued(trail, moment, flight)
    elif flight.stage == layout.EXECUTE:
        _executing(trail, flight)
    elif flight.stage == layout.MEMORY:
        _in_memory(trail, moment, flight)
    else:
        _writing(trail, moment, flight)


def _queued(trail: Trail, moment: Machine, flight: Flight) -> None:
    """Explain one that is in Control, in Allocate, in the queue of accesses, or waits for a unit of variable latency."""
    sub = moment.sub_core(flight.warp)
    place = flight.entry + 1
    queue = [int(entry) for entry in sub["queue"][: int(sub["queued"])]]
    if place == int(sub["allocate"]):
        allocate(trail, moment, flight)
    elif place in queue:
        _access(trail, moment, flight, queue)
    elif place in (units := [int(entry) for entry in sub["unit"]]):
        _latched(trail, moment, flight, units.index(place))
    elif place == int(sub["control"]) and int(sub["allocate"]):
        allocate(trail, moment, moment.flight(int(sub["allocate"]) - 1))
    elif place == int(sub["control"]) and held_by_design(trail, moment, flight, "Control"):
        return
    trail.end("Control", f"Control of sub-core {moment.scheduler_of(flight.warp)}: a cycle or two for every instruction")


def _access(trail: Trail, moment: Machine, flight: Flight, queue: list[int]) -> None:
    """Explain an access in its sub-core's queue: those before it, operands, the address unit, the SM's memory pipeline."""
    if queue[0] != flight.entry + 1:
        ahead = moment.flight(queue[0] - 1)
        trail.issued(ahead, f"w{ahead.warp} {ahead.name} is before it in the queue",
                     f"issued {ahead.issue_cycle:,}; {ahead.text}")
        trail.instruction(moment, ahead)
        return
    number, interval = moment.scheduler_of(flight.warp), f"interval.{flight.latency_class}"
    reads = f"access_read.{flight.latency_class}_{width_of(flight.text)}"
    ready = flight.issue_cycle + trail.value(reads, 0)
    free = int(moment.sub_core(flight.warp)["left_cycle"]) + trail.value(interval, 1)
    if ready >= max(free, moment.ran):
        trail.about(flight, f"it reads its operands until cycle {ready:,}",
                    f"{plural(ready - flight.issue_cycle, 'cycle')} from its issue", since=flight.issue_cycle,
                    until=ready)
        trail.end("operands", f"address and operands of a {flight.name}, {plural(trail.value(reads, 0), 'cycle')}",
                  {reads: 1})
    elif free > moment.ran:
        trail.add(f"the address unit works for the access before it until cycle {free:,}", warp=flight.warp, until=free)
        trail.end("address unit", f"address unit of sub-core {number}, "
                  f"{plural(trail.value(interval, 1), 'cycle')} per access", {interval: 1})
    elif int(moment.sm["ldst_head"]) != layout.NONE8 and moment.flight(int(moment.sm["ldst_head"])).seq != flight.seq:
        memory.head(trail, moment)
    trail.end("memory pipeline", "memory pipeline of the SM, an access in "
              f"{plural(trail.value('core.grant_cycles', 2), 'cycle')}", {"core.grant_cycles": 1})


def width_of(text: str) -> int:
    """Return how many bytes per lane an access moves, as the tables of latencies know them: 4, 8 or 16."""
    parts = text.split()[1 if text.startswith("@") else 0].split(".")
    return 16 if "128" in parts or parts[0] in ("LDSM", "STSM") else 8 if "64" in parts else 4


def _latched(trail: Trail, moment: Machine, flight: Flight, unit: int) -> None:
    """Explain one that waits for a unit of variable latency."""
    name, until = UNITS[unit], int(moment.sub_core(flight.warp)["unit_cycle"][unit])
    before = [other for other in moment.in_sub_core(flight.warp)
              if other.stage == layout.EXECUTE and other.latency_class == flight.latency_class and other.seq < flight.seq]
    if until > moment.ran and before:
        last = before[-1]
        trail.issued(last, f"the {name} works for w{last.warp} {last.name}",
                     f"takes the next in cycle {until:,}; {last.text}")
    own = f"interval.{flight.latency_class}"
    trail.end("unit", f"{name}: one instruction in {plural(trail.value(own, 1), 'cycle')}", {own: 1})


def _executing(trail: Trail, flight: Flight) -> None:
    """Explain one in a pipe or unit."""
    own = f"result.{flight.latency_class}"
    cycles = trail.value(own, 0)
    trail.about(flight, f"it has been executing since {flight.since_cycle:,}", f"done in cycle {flight.done_cycle:,}",
                until=flight.done_cycle)
    trail.end("unit", f"{flight.name}: {plural(cycles, 'cycle')} until its result can be used",
              {own: 1} if cycles > 1 else {})


def _in_memory(trail: Trail, moment: Machine, flight: Flight) -> None:
    """Explain an access in the memory pipeline or beyond."""
    place = memory.space(flight)
    if (copy := _last_copy(moment, flight)) is not None:
        trail.issued(copy, f"it waits for the copies before it; the last to end is {copy.name} at PC {copy.pc}",
                     f"issued {copy.issue_cycle:,}; {copy.text}")
        explain(trail, moment, copy)
        return
    if int(moment.sm["ldst_head"]) == flight.entry or place not in ("shared", "const", "param", "") and flight.missed:
        memory.explain(trail, moment, flight)
        return
    own = f"access_use.{flight.latency_class}_{width_of(flight.text)}"
    done = f"back in cycle {flight.done_cycle:,}" if flight.end_is_known else ""
    where = "shared memory" if place == "shared" else "the exchange between lanes" if not place else "L1"
    trail.about(flight, f"it has been in {where} since {flight.since_cycle:,}", done,
                until=flight.done_cycle if flight.end_is_known else -1)
    trail.end(where.removeprefix("the "), f"{where}: {plural(trail.value(own, 0), 'cycle')} from issue to use",
              {own: 1})


def _last_copy(moment: Machine, flight: Flight) -> Flight | None:
    """Return the asynchronous copy that ends last of those that LDGDEPBAR waits for; None of other instructions."""
    copies = [other for other in moment.in_sub_core(flight.warp) if other.warp == flight.warp and other.seq < flight.seq
              and other.name == "LDGSTS" and other.stage == layout.MEMORY]
    return max(copies, key=lambda copy: copy.done_cycle) if flight.name == "LDGDEPBAR" and copies else None


def _writing(trail: Trail, moment: Machine, flight: Flight) -> None:
    """Explain one whose result is ready: its write port, or its counter, which falls a cycle after the write."""
    number, bank = moment.scheduler_of(flight.warp), flight.bank & 1
    if flight.stage == layout.WRITE_BACK and flight.code:
        trail.about(flight, f"its write waits for bank {bank}", f"ready since {flight.since_cycle:,}", code=flight.code,
                    bank=2 * number + bank)
        if moment.bank(flight.bank, "activity") == layout.BANK_WRITE:
            writer = moment.bank(flight.bank, "owner_warp")
            trail.add(f"the port is taken by a result of w{writer}", warp=writer, bank=flight.bank)
        trail.end("write port", f"write port of bank {bank} of sub-core {number}: results of fixed latency go first")
    trail.about(flight, "its result is written", f"since {flight.since_cycle:,}; its counter falls in the next cycle")
    trail.end("dependence counter", "dependence counter: a cycle after the write, until the warp can see it")


def allocate(trail: Trail, moment: Machine, flight: Flight) -> None:
    """Explain an instruction in Allocate: the bank that cannot serve it in the next three cycles, and who has booked it."""
    if held_by_design(trail, moment, flight, "Allocate"):
        return
    number, sub = moment.scheduler_of(flight.warp), moment.sub_core(flight.warp)
    bank = int(sub["held_bank"]) - 1
    if bank < 0:
        trail.issued(flight, f"w{flight.warp} {flight.name} is in Allocate",
                     f"since {flight.since_cycle:,}; {flight.text}")
        return
    trail.about(flight, f"w{flight.warp} {flight.name} waits in Allocate for bank {bank}", flight.text,
                bank=2 * number + bank)
    booked = [(cycle, int(sub["read_warp"][bank][cycle % READ_RING]) - 1, int(sub["read_reg"][bank][cycle % READ_RING]))
              for cycle in range(moment.ran + 1, moment.ran + 1 + WINDOW)]
    booked = [one for one in booked if one[1] >= 0]
    if booked:
        cycle, warp, reg = booked[-1]
        reader = next((other for other in reversed(moment.in_flight(warp)) if other.stage != layout.COLLECT
                       and reg in producers.operands(moment.info.program, other.pc, 255)), None)
        whose = f", {reader.name} at PC {reader.pc}" if reader else ""
        trail.add(f"its port is booked for w{warp} R{reg}{whose}",
                  f"{len(booked)} of the next {WINDOW} cycles are booked, the last {cycle:,}", warp=warp, until=cycle + 1,
                  pc=reader.pc if reader else -1, bank=2 * number + bank)
    if helps := _what_helps(moment, flight, bank):
        trail.add(f"bank {bank} would have a read less {helps}", flight.text, warp=flight.warp, pc=flight.pc,
                  bank=2 * number + bank)
    trail.end("read port", f"read port of bank {bank} of sub-core {number}: one read per cycle, even and odd registers "
              "apart", {"core.read_ports": 2})


def held_by_design(trail: Trail, moment: Machine, flight: Flight, stage: str) -> bool:
    """Explain an instruction that the design holds in Allocate or Control, with its reason; return whether it does."""
    reason = next((stall for stall in moment.info.stalls if stall.code == flight.code), None)
    if reason is None or reason.family != "register_file" or reason.name == "bank_conflict":
        return False
    trail.about(flight, f"w{flight.warp} {flight.name} waits in {stage}: {reason.name}",
                f"since {flight.since_cycle:,}; {flight.text}", code=flight.code, bank=flight.bank)
    trail.end("register file", f"register file of sub-core {moment.scheduler_of(flight.warp)}: {reason.sentence}")
    return True


def _what_helps(moment: Machine, flight: Flight, bank: int) -> str:
    """Return what the compiler could have done for an instruction that a bank refuses; "" if nothing is known to help.

    Its warp's instruction before it can keep a register with reuse bits, if it reads that at the same places of the encoding
    and leaves it as it is; or a register of the other bank, if that bank has a free read in the window.
    """
    entry, before = moment.instruction(flight.pc), moment.instruction(flight.pc - 1)
    if entry is None:
        return ""
    sub, ways = moment.sub_core(flight.warp), []
    missed = producers.missed(sub, entry, flight.warp)
    read = list(dict.fromkeys(reg for _, regs in missed for reg in regs))
    refused = [reg for reg in read if reg & 1 == bank]
    if before is not None and before.kernel == entry.kernel:
        kept, at = moment.control(flight.pc - 1) >> REUSE_SHIFT, dict(producers.by_place(before))
        for reg in refused:
            if reg not in before.dst and all(place >= 0 and at.get(place) == regs and not kept >> place & 1
                                             for place, regs in missed if reg in regs):
                ways.append(f"with a reuse bit for R{reg} in {before.mnemonic} at PC {flight.pc - 1}")
                break
    taken = sum(int(sub["read_warp"][1 - bank][(moment.ran + ahead) % READ_RING]) != 0 for ahead in range(1, 1 + WINDOW))
    moved = next((reg for reg in refused if all(regs == (reg,) for _, regs in missed if reg in regs)), None)
    if moved is not None and taken + len(read) - len(refused) < WINDOW:
        ways.append(f"with an {'odd' if bank == 0 else 'even'} register in place of R{moved}")
    return ", or ".join(ways)
