"""What panels show of machine code: places in it, control codes, marks of the reuse cache, dependence counters."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from rfview.engine.sass.listing import Control
from rfview.engine.state import COLLECT, NONE8
from rfview.render.text import Row, cut
from rfview.sessions.machine import Flight, Machine

if TYPE_CHECKING:
    from rfview.engine.info import Instruction

NUM_COUNTERS = 6
BYTES = 16                  # of an instruction
LONG_STALL = 5              # stall counts from here on are bold
REUSED = re.compile(r"(\w+)\.reuse")
PTX_LINE = re.compile(r"// (\d+)$")
LOOK_AHEAD = 64             # instructions that are searched for the next that waits for a counter


def place(program: Sequence[Instruction], pc: int) -> str:
    """Return the address of an instruction in its kernel, as nvdisasm writes it: "02c0"."""
    return f"{BYTES * (pc - _first(id(program), program[pc].kernel, tuple(one.kernel for one in program))):04x}"


@lru_cache(maxsize=64)
def _first(_: int, kernel: str, kernels: tuple[str, ...]) -> int:
    return kernels.index(kernel)


@lru_cache(maxsize=4)
def ptx_lines(listing: str) -> dict[int, int]:
    """Return the PTX line of each line of a listing that has an instruction."""
    lines, ptx = {}, 0
    for number, text in enumerate(listing.split("\n"), 1):
        if text.startswith((".entry", ".function")):
            ptx = 0
        if found := PTX_LINE.search(text):
            ptx = int(found[1])
        if ptx and text[:1] not in (".", "/"):
            lines[number] = ptx
    return lines


def add_control(row: Row, code: int) -> None:
    """Write a control code, 20 cells: B waits for, R and W counters that it sets, Y yields, S stall count; unset: faint."""
    control = Control.of_bits(code)
    for counter in range(NUM_COUNTERS):
        row.add("B" if not counter else "", "faint")
        row.add(*((str(counter), "bold") if control.wait >> counter & 1 else ("-", "faint")))
    for name, counter in (("R", control.read), ("W", control.write)):
        row.add(f":{name}", "faint").add(*(("-", "faint") if counter > 5 else (str(counter), "bold")))
    row.add(":", "faint").add(*(("Y", "key") if control.may_switch else ("-", "faint")))
    row.add(":S", "faint").add(f"{control.stall:02d}", "bold" if control.stall >= LONG_STALL else "text")


def add_short_control(row: Row, code: int) -> None:
    """Write the part of a control code that matters most, 8 cells: counters waited for, ›the one set, stall count."""
    control = Control.of_bits(code)
    waits = "".join(str(counter) for counter in range(NUM_COUNTERS) if control.wait >> counter & 1)
    row.add(f"{waits[:3]:<3}", "bold")
    row.add(f"›{control.write} " if control.write < 6 else f"›{control.read} " if control.read < 6 else "   ", "text")
    row.add(f"{control.stall:>2}", "bold" if control.stall >= LONG_STALL else "faint")


def add_text(row: Row, text: str, room: int, role: str) -> None:
    """Write an instruction; registers that stay in the reuse cache are marked, and underlined where `.reuse` has no room."""
    end, fits, at = row.x + room, len(text) <= room, 0
    for found in REUSED.finditer(text):
        row.add(text[at : found.start()][: end - row.x], role)
        row.add(found[0 if fits else 1][: max(0, end - row.x)], "key" if fits else "key+u")
        at = found.end()
    row.add(cut(text[at:], max(0, end - row.x)), role)


def joined(words: Sequence[str], room: int) -> str:
    """Return words with commas, as many as fit, and how many more there are."""
    for count in range(len(words), 0, -1):
        text = ", ".join(words[:count]) + (f" +{len(words) - count}" if count < len(words) else "")
        if len(text) <= room:
            return text
    return cut(words[0], room) if words else ""


def banks(entry: Instruction) -> str:
    """Return how many different registers an instruction reads from the even and from the odd bank, "2·1"; "" for none."""
    regs = {int(reg) for reg in entry.src if reg != NONE8}
    odd = sum(reg & 1 for reg in regs)
    return f"{len(regs) - odd}·{odd}" if regs else ""


def countdown(machine: Machine, warp: int) -> int:
    """Return the cycles until a warp's stall counter has run out, 0 if it has."""
    return max(0, int(machine.sub_core_warp(warp)["until_cycle"]) - machine.cycle)


def pending(machine: Machine, warp: int) -> list[int]:
    """Return the six dependence counters of a warp."""
    return [int(value) for value in machine.sub_core_warp(warp)["counter"]]


def holders(machine: Machine, warp: int) -> list[list[Flight]]:
    """Return, for each dependence counter of a warp, the instructions in flight that hold it, oldest first."""
    held: list[list[Flight]] = [[] for _ in range(NUM_COUNTERS)]
    for flight in machine.in_flight(warp):
        control = Control.of_bits(machine.control(flight.pc))
        if control.write < NUM_COUNTERS:
            held[control.write].append(flight)
        if control.read < NUM_COUNTERS and control.read != control.write and flight.stage == COLLECT:
            held[control.read].append(flight)
    return held


def awaiting(machine: Machine, warp: int, counter: int) -> int | None:
    """Return the pc of the next instruction behind a warp's own, in order, that waits for a counter; None: not soon."""
    pc = machine.pc[warp]
    return next((at for at in range(pc, pc + LOOK_AHEAD) if machine.instruction(at) is not None
                 and Control.of_bits(machine.control(at)).wait >> counter & 1), None)


def counters(machine: Machine, warp: int) -> str:
    """Return the numbers of the counters that are pending, "·12···"."""
    return "".join(str(number) if value else "·" for number, value in enumerate(pending(machine, warp)))
