"""The lens of a sub-core: issue, Control, Allocate and the read ports ahead, the reuse cache, results, units."""

from __future__ import annotations

from typing import Any

from rfview.engine.program import NO_REG
from rfview.engine.wording import plural
from rfview.engine.state import EXECUTE, NONE8, READ_RING, WRITE_BACK, WRITTEN
from rfview.render import machine_code
from rfview.render.lenses import banks
from rfview.render.operation import operation
from rfview.render.scene import Scene
from rfview.render.text import Line, Row
from rfview.sessions import producers
from rfview.sessions.machine import Flight, Machine

BANKS = 2               # of a sub-core
UNITS = ("XU", "FP64", "const", "special")
OPERANDS = "abc"
LABEL = 10              # cells of the names at the left
ONE_ROW = 100           # from this width on issue, Control and Allocate share a row
AHEAD = 10              # cycles in which results that will be written are shown


def title_of(scene: Scene, width: int) -> str:
    """Return the facts for the panel's title."""
    machine = scene.now
    number = machine.scheduler_of(scene.warp) if machine else 0
    return f"sub-core {number} of w{scene.warp}" + ("   2 banks, register & 1" if width >= 48 else "")


def bank_at(width: int, y: int) -> int | None:
    """Return the bank in row y of the lens (0 = title), None on other rows."""
    bank = y - (1 if width >= ONE_ROW else 3) - 2
    return bank if 0 <= bank < BANKS else None


def chosen_bank(scene: Scene) -> int:
    """Return the SM's number of the bank that is chosen in the focused warp's sub-core."""
    return BANKS * scene.machine.scheduler_of(scene.warp) + scene.bank % BANKS


def facts(scene: Scene) -> list[tuple[str, str]]:
    """Return the facts of the chosen bank."""
    machine, number, half = scene.machine, chosen_bank(scene), scene.bank % BANKS
    sub = machine.sub_core(scene.warp)
    booked = [(ahead, machine.ran + ahead) for ahead in range(1, READ_RING)]
    reads = [f"R{int(sub['read_reg'][half, cycle % READ_RING])} of w{int(owner) - 1} in {ahead}" for ahead, cycle in booked
             if (owner := sub["read_warp"][half, cycle % READ_RING])]
    refused = _named(machine, int(sub["allocate"]) or int(sub["control"])) if int(sub["held_bank"]) == half + 1 else "nobody"
    held = int((machine.warp_places[0] == number).sum())
    return [(f"bank {half}", f"of sub-core {machine.scheduler_of(scene.warp)}, at cycle {machine.cycle:,}"),
            ("now", banks.doing(machine, number)), ("booked", ", ".join(reads) or "no read"), ("refuses", refused),
            ("holds", f"{plural(held, 'register')} of the warps of this sub-core")]


def render(scene: Scene, width: int, height: int) -> list[Line]:
    """Return the focused warp's sub-core.

     issue    w42 0340 FFMA    Control  0350 LDS    Allocate  0340 FFMA no port, bank 0
     reads    now       +1        +2        +3
      bank 0  w38 R22   w38 R24   w38 R8    free
      bank 1  w38 R17   w38 R11   free      free
     reuse    a R2·R5   b ·       c R8·
     results  w38 R24 in 2
     memory   ▮▮▯▯▯ w12 LDS, w3 LDG
     others   s0 w12 LDS   s1 w13 LDS   s3 -

    Reads: who has each bank's port in the cycle that ran and in the next three; an instruction passes Allocate when its
    operands fit there. Reuse: registers held per operand and bank, even·odd; ! one that has been written since. Results:
    writes to the banks that are booked. Memory: credits taken, and the accesses that wait for the memory pipeline.
    """
    machine = scene.machine
    sub = machine.sub_core(scene.warp)
    cell = max(7, min(11, (width - LABEL) // 4))
    lines = [*_stages(machine, sub, scene.warp, width), _ports_head(width, cell),
             *(_ports(scene, sub, bank, width, cell) for bank in range(BANKS)), *_needs(machine, sub, width),
             _reuse(sub, scene.warp, width), _results(machine, scene.warp, width), _memory(machine, sub, width),
             *_units(machine, sub, width), _others(scene, width)]
    return lines[:height]


def _named(machine: Machine, entry: int, with_warp: bool = True) -> str:
    """Return an in-flight entry, plus one, as "w42 0340 FFMA"; "-" for none."""
    if not entry:
        return "-"
    flight = machine.flight(entry - 1)
    words = f"{machine_code.place(machine.info.program, flight.pc)} {operation(machine, flight.pc)}"
    return f"w{flight.warp} {words}" if with_warp else words


def _issued(machine: Machine, number: int) -> int | None:
    """Return the warp that issued on a sub-core in the cycle that ran, None if none did."""
    return next((warp for warp in machine.resident_warps
                 if machine.scheduler_of(warp) == number and machine.state_name(warp) == "issued"), None)


def _stages(machine: Machine, sub: Any, warp: int, width: int) -> list[Line]:
    """Return what issue, Control and Allocate hold: in one row if it has the room, else in three."""
    issued = _issued(machine, machine.scheduler_of(warp))
    refused = int(sub["held_bank"])
    words = "-"
    if issued is not None:
        last = machine.last_pc[issued]
        words = f"w{issued} {machine_code.place(machine.info.program, last)} {operation(machine, last)}"
    parts = [("issue", words, "good" if issued is not None else "faint"),
             ("Control", _named(machine, int(sub["control"])), "text"),
             ("Allocate", _named(machine, int(sub["allocate"])) + (f" refused, bank {refused - 1}" if refused else ""),
              "st:bank_conflict" if refused else "text")]
    if width < ONE_ROW:
        return [Row(width).add(f" {name:<{LABEL - 1}}", "dim").add(text, role).line() for name, text, role in parts]
    row = Row(width)
    for index, (name, text, role) in enumerate(parts):
        row.to(index * 28).add(f" {name:<{LABEL - 1}}", "dim").add(text, role)
    return [row.line()]


def _ports_head(width: int, cell: int) -> Line:
    row = Row(width).add(" reads", "dim")
    for ahead in range(READ_RING):
        row.to(LABEL + ahead * cell).add(f"+{ahead}" if ahead else "now", "dim")
    return row.line()


def _ports(scene: Scene, sub: Any, bank: int, width: int, cell: int) -> Line:
    """Return who has a bank's read port now and in the next three cycles."""
    machine, warp = scene.machine, scene.warp
    is_chosen = scene.panel == "lens" and bank == scene.bank % BANKS
    row = Row(width, "focus" if is_chosen else "").add(f"  bank {bank}", "dim")
    for ahead in range(READ_RING):
        place = (machine.ran + ahead) % READ_RING
        owner, reg = int(sub["read_warp"][bank, place]) - 1, int(sub["read_reg"][bank, place])
        row.to(LABEL + ahead * cell)
        if owner < 0:
            row.add("free" if ahead else "-", "good" if ahead else "faint")
        else:
            row.add(f"{'w' if cell > len('w40 R255') else ''}{owner} R{reg}", "bold" if owner == warp else "text")
    return row.line()


def _needs(machine: Machine, sub: Any, width: int) -> list[Line]:
    """Return which registers the instruction that Allocate refuses has to read, [] if it refuses none."""
    if not int(sub["held_bank"]) or not int(sub["allocate"]):
        return []
    flight = machine.flight(int(sub["allocate"]) - 1)
    missed = producers.missed(sub, entry, flight.warp) if (entry := machine.instruction(flight.pc)) else []
    regs = list(dict.fromkeys(reg for _, regs in missed for reg in regs))
    words = "   ".join(f"bank {bank}: {' '.join(f'R{reg}' for reg in regs if reg & 1 == bank) or '-'}" for bank in range(2))
    return [Row(width).add(f" {'needs':<{LABEL - 1}}", "dim").add(words, "st:bank_conflict").line()]


def _reuse(sub: Any, warp: int, width: int) -> Line:
    """Return what the reuse cache holds, per operand even·odd."""
    row = Row(width).add(f" {'reuse':<{LABEL - 1}}", "dim")
    names = sub.dtype.names or ()
    stale = int(sub["stale"]) if "stale" in names else 0
    for operand, letter in enumerate(OPERANDS):
        row.add(f"{letter} ", "dim")
        for bank in range(2):
            owner = int(sub["cache_warp"][operand, bank]) - 1
            mark = "!" if stale >> 2 * operand + bank & 1 else ""
            row.add(f"R{int(sub['cache_reg'][operand, bank])}{mark}" if owner >= 0 else "-",
                    "bold" if owner == warp else "text" if owner >= 0 else "faint")
            row.add("·" if not bank else "   ", "faint")
    return row.line()


def _results(machine: Machine, warp: int, width: int) -> Line:
    """Return the results whose write is booked, the next ones first; of several registers when the last is written."""
    row = Row(width).add(f" {'results':<{LABEL - 1}}", "dim")
    found = [(ahead, flight) for flight in machine.in_sub_core(warp) if 0 <= (ahead := _written_in(machine, flight)) < AHEAD]
    for number, (ahead, flight) in enumerate(sorted(found, key=lambda one: one[0])):
        text = f"w{flight.warp} {operation(machine, flight.pc)} {f'in {ahead}' if ahead else 'now'}"
        if row.x + len(text) + 2 > width:
            break
        row.add(", " if number else "", "faint").add(text, "bold" if flight.warp == warp else "text")
    return row.add("" if found else "none booked", "faint").line()


def _written_in(machine: Machine, flight: Flight) -> int:
    """Return in how many cycles an instruction's result will be written, 0 for now, -1 if that is not known."""
    if flight.stage == WRITTEN:
        entry = machine.instruction(flight.pc)
        has_result = entry is not None and any(reg != NO_REG for reg in entry.dst)
        return flight.since_cycle - machine.ran if has_result else -1
    if flight.pipe != NONE8 and (flight.stage == WRITE_BACK or flight.stage == EXECUTE and flight.unwritten):
        done = flight.since_cycle if flight.stage == WRITE_BACK else flight.done_cycle
        return done + flight.transactions - machine.ran
    return -1


def _memory(machine: Machine, sub: Any, width: int) -> Line:
    """Return the credits taken and the accesses in the queue, the oldest first."""
    used, most = int(sub["credits_used"]), machine.info.number("core.credits", 5)
    row = Row(width).add(f" {'memory':<{LABEL - 1}}", "dim").add("▮" * used, "st:mio_throttle" if used >= most else "text")
    row.add("▯" * max(0, most - used), "faint").add(" ")
    queue = [int(entry) for entry in sub["queue"][: int(sub["queued"])]]
    words = machine_code.joined([_named(machine, entry) for entry in queue], width - row.x)
    return row.add(words or "nothing waits", "text" if queue else "faint").line()


def _units(machine: Machine, sub: Any, width: int) -> list[Line]:
    """Return what waits for the units of variable latency, [] if nothing does."""
    words = [f"{name} {_named(machine, int(entry))}" for name, entry in zip(UNITS, sub["unit"], strict=True) if int(entry)]
    return [Row(width).add(f" {'units':<{LABEL - 1}}", "dim").add(", ".join(words)).line()] if words else []


def _others(scene: Scene, width: int) -> Line:
    """Return what the other sub-cores issued."""
    machine = scene.machine
    row = Row(width).add(f" {'others':<{LABEL - 1}}", "dim")
    for number in range(machine.num_schedulers):
        if number != machine.scheduler_of(scene.warp):
            issued = _issued(machine, number)
            words = f"w{issued} {operation(machine, machine.last_pc[issued])}" if issued is not None else "-"
            row.add(f"s{number} ", "dim").add(f"{words}   ", "text" if issued is not None else "faint")
    return row.line()
