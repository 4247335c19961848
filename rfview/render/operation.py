"""Short words for instructions and for what a warp waits for, for narrow columns."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from rfview.engine import state as layout
from rfview.engine.stalls import NO_WARP
from rfview.sessions.machine import Flight, Machine
from rfview.render.machine_code import place
from rfview.render.scene import Scene
from rfview.sessions.why.units import unit_name

if TYPE_CHECKING:
    from rfview.engine.info import Instruction

SPACES = {"global": "g", "shared": "s", "local": "l", "const": "c", "param": "p", "gen": "", "generic": ""}
NONE = layout.NONE8
LISTING_LINE = re.compile(r"\blisting line (\d+)\b")
PLACE = re.compile(r"(-> |(?<![.\w])pc )(\d+)(?!:)\b", re.I)
_short: dict[str, str] = {}


def short_op(text: str) -> str:
    """Return at most five letters of an instruction: "ld.global.f32 R1, [R2]" is ld.g, "@!P0 bra L4" is bra."""
    known = _short.get(text)
    if known is None:
        words = text.split()
        if len(words) > 1 and words[0].startswith("@"):
            words = words[1:]
        parts = (words[0] if words else "?").rstrip(";").split(".")
        known = parts[0]
        if known in ("ld", "st", "atom", "red") and len(parts) > 1:
            space = next((SPACES[part] for part in parts[1:] if part in SPACES), "")
            known += f".{space}" if space and known in ("ld", "st") else ""
        _short[text] = known = known[:5]
    return known


def operation(machine: Machine, pc: int) -> str:
    """Return the short operation at a pc, "?" outside the program."""
    entry = machine.instruction(pc)
    return short_op(entry.text) if entry else "?"


def is_shared(machine: Machine, pc: int) -> bool:
    """Say whether the instruction at a pc accesses shared memory."""
    entry = machine.instruction(pc)
    return entry is not None and entry.space == "shared"


def register_list(regs: Any) -> list[int]:
    """Return the registers named in a `src` or `dst` list, each once, without empty slots."""
    seen: list[int] = []
    for reg in regs:
        if int(reg) != NONE and int(reg) not in seen:
            seen.append(int(reg))
    return seen


def compact_text(text: str) -> str:
    """Return a decoded instruction for a narrow column: short operation, operands without commas."""
    guard = ""
    rest = text.strip().rstrip(";")
    if rest.startswith("@"):
        guard, _, rest = rest.partition(" ")
        guard += " "
    mnemonic, _, operands = rest.partition(" ")
    return f"{guard}{short_op(mnemonic):<5} {operands.replace(', ', ' ')}".rstrip()


def place_of(program: Sequence[Instruction], pc: int) -> str:
    """Return where CODE shows an instruction: "PTX line 31", of machine code "address 00d0"."""
    return program[pc].where if program[pc].control is None else f"address {place(program, pc)}"


def with_lines(text: str, program: Sequence[Instruction]) -> str:
    """Return an instruction or a sentence with the pcs in it replaced by lines or addresses, as CODE shows them."""

    def by_line(match: re.Match[str]) -> str:
        pc = int(match[2])
        if pc >= len(program):
            return match[0]
        if program[pc].control is not None:
            return f"{'-> ' if match[1] == '-> ' else ''}{place(program, pc)}"
        return f"{'-> PTX' if match[1] == '-> ' else 'PTX line'} {program[pc].line}"      # operands are short of room

    def by_address(match: re.Match[str]) -> str:
        pc = next((pc for pc, entry in enumerate(program) if entry.line == int(match[1])), None)
        return match[0] if pc is None else place_of(program, pc)

    return LISTING_LINE.sub(by_address, PLACE.sub(by_line, text))


def barrier_progress(machine: Machine, warp: int) -> tuple[int, int]:
    """Return (warps arrived, warps expected) at the barrier that a warp waits at; (0, 0) if unknown."""
    cta, barrier = machine.cta[warp], int(machine.sm["warp"][warp]["barrier"])
    if cta >= layout.MAX_CTAS or barrier >= layout.NUM_BARRIERS:
        return 0, 0
    entry = machine.sm["barrier"][cta][barrier]
    return -(-int(entry["arrived"]) // 32), -(-int(entry["expected"]) // 32)


def waits_for(scene: Scene, warp: int) -> str:
    """Return, in at most eight cells, nine of machine code, what a warp waits for: "R12 miss", "SB2 in 18", "bank 4"."""
    machine = scene.machine
    name = scene.look(machine.state[warp]).name
    if name == "issued":
        entry = machine.instruction(machine.last_pc[warp])
        regs = register_list(entry.dst) if entry else []
        return f"R{regs[0]}" if regs else ""
    if name in NO_WARP:
        return ""
    simple = {"not_selected": "ready", "no_instruction": "fetch", "suspended": "ready", "dispatch_stall": "Allocate",
              "math_pipe_throttle": "pipe", "lg_throttle": "credit", "mio_throttle": "credit", "imc_miss": "constant",
              "branch_resolving": "fetch", "membar": "stores"}
    if name in simple:
        return simple[name]
    if name == "barrier":
        if machine.blocker_kind[warp] == layout.BLOCK_MEMORY:
            return "stores"
        arrived, expected = barrier_progress(machine, warp)
        return f"{arrived} of {expected}" if expected else "sync"
    return _held(machine, warp, name)


def is_frozen(machine: Machine, warp: int) -> bool:
    """Say whether the register file holds up the whole pipeline, including this warp."""
    return bool(int(machine.sm["freeze_code"])) and machine.state[warp] == int(machine.sm["freeze_code"])


def frozen_until(machine: Machine) -> int:
    """Return the cycle in which a frozen pipeline resumes, if the design's state names it, else -1."""
    record = machine.snapshot.rf
    names = record.dtype.names or ()
    return int(record["frozen_until_cycle"]) if "frozen_until_cycle" in names else -1


def _held(machine: Machine, warp: int, name: str) -> str:
    """Return what holds up a warp that is not idle: register, bank, unit."""
    kind, what = machine.blocker_kind[warp], machine.blocker[warp]
    if kind == layout.BLOCK_UNIT:
        busy = f"{unit_name(what)} busy"
        return busy if len(busy) < 9 else busy.partition(" ")[0]    # a blank must stay before the history
    if kind == layout.BLOCK_COLLECTOR or name == "collector_full":
        count = len(machine.collectors)
        return f"{count} of {count}"
    if kind == layout.BLOCK_SLEEP:
        return "sleeps"
    if kind == layout.BLOCK_SYNC:
        return "lanes"
    if kind == layout.BLOCK_MEMORY:
        return "stores"
    flight = machine.awaited(warp)
    refused = flight is not None and flight.code == machine.state[warp]
    if flight is not None and refused and not flight.is_late:
        return f"bank {flight.bank}"
    if is_frozen(machine, warp):
        return "frozen"
    if refused or kind == layout.BLOCK_DESIGN:
        short = {entry.name: entry.short for entry in machine.info.stalls}
        return str(short.get(name, name))[:9]       # no bank: the design's word for what it waits for
    if machine.info.is_machine_code and (name == "wait" or kind == layout.BLOCK_REGISTER):
        left = int(machine.sub_core_warp(warp)["until_cycle"]) - machine.cycle
        return f"SB{what} {_until(machine, flight, kind)}".rstrip() if name != "wait" else f"in {left}" if left > 0 else ""
    label = {layout.BLOCK_REGISTER: "R", layout.BLOCK_READER: "R", layout.BLOCK_PREDICATE: "P"}.get(kind)
    if label is None:
        return ""
    return f"{label}{what} {_until(machine, flight, kind)}".rstrip()


def _until(machine: Machine, flight: Flight | None, kind: int) -> str:
    """Return the word after a register, five letters at most: what its producer still needs."""
    if kind == layout.BLOCK_READER:
        return "read"
    if flight is None:
        return ""
    if flight.stage == layout.COLLECT:
        return "queue" if machine.info.is_machine_code else "coll"      # it waits for its unit, or collects its operands
    if flight.stage == layout.WRITE_BACK:
        return "wb"         # its result is on the way into the register file
    if flight.stage == layout.MEMORY:
        if is_shared(machine, flight.pc):
            return "smem"
        return "miss" if flight.missed and machine.config["l1_enabled"] else "mem"
    left = flight.done_cycle - machine.cycle
    return f"in {left}" if 0 < left < 1000 else ""
