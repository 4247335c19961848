"""Facts about the focused thing: what `K` shows of a warp, bank, instruction or register before it explains."""

from __future__ import annotations

import numpy as np

from rfview.engine import state as layout
from rfview.render.lenses.banks import requests
from rfview.render.operation import waits_for, with_lines
from rfview.render.registers import cell_text, kind_of, pattern, values_of
from rfview.render.machine import Machine
from rfview.render.scene import Scene
from rfview.engine.wording import plural
from rfview.sessions.expressions.ptx_names import names_at
from rfview.sessions.expressions.types import readings

LANES = 32
MAX_NUMBERS = 8        # shown of a design's field for one bank
ACTIVITIES = {layout.BANK_IDLE: "idle", layout.BANK_READ: "reads", layout.BANK_WRITE: "writes",
              layout.BANK_BUSY: "is busy with"}


def facts(scene: Scene) -> list[tuple[str, str]]:
    """Return (what, value) pairs for the thing in focus, its name first; [] if the panel has no single one."""
    machine = scene.now
    if machine is None:
        return []
    match scene.panel:
        case "warps" | "why" | "timeline" | "pipeline":
            return _warp(scene, machine)
        case "lens":
            return _bank(scene, machine)
        case "code":
            return _instruction(scene, machine)
        case "registers":
            return _register(scene, machine)
        case "stalls":
            return _states(scene, machine)
    return []


def _warp(scene: Scene, machine: Machine) -> list[tuple[str, str]]:
    warp = scene.warp
    found = [(f"w{warp}", f"at cycle {machine.cycle:,}")]
    if not machine.resident >> warp & 1:
        return [*found, ("holds", "no warp")]
    look, since = scene.look(machine.state[warp]), machine.since[warp]
    found.append(("state", f"{look.glyph} {look.name}, since {since:,}, {plural(max(0, machine.cycle - since), 'cycle')}"))
    if look.name not in ("issued", "not_selected"):
        found.append(("waits for", waits_for(scene, warp) or "nothing named"))
    entry = machine.instruction(machine.pc[warp])
    if entry is not None:
        found.append(("next", f"{entry['text']}, line {entry['line']}"))
    record = machine.sm["warp"][warp]
    active, paths = int(record["mask"]).bit_count(), int(record["num_splits"])
    found.append(("threads", f"{active} of {LANES} active" + (f", the warp is in {paths} paths" if paths > 1 else "")))
    cta = machine.sm["cta"][machine.cta[warp]]
    found.append(("CTA", f"{int(cta['id'])}, its warp {int(record['warp_in_cta'])} of {int(cta['num_warps'])}"))
    last = int(record["last_issue_cycle"])
    count = plural(int(record["num_issued"]), "instruction")
    found.append(("issued", f"{count}, the last in {last:,}" if last >= 0 else count))
    return found


def _bank(scene: Scene, machine: Machine) -> list[tuple[str, str]]:
    number = scene.bank
    if number >= len(machine.bank):
        return []
    bank = machine.bank[number]
    found = [(f"bank {number}", f"at cycle {machine.cycle:,}")]
    what = ACTIVITIES.get(bank["activity"], "?")
    if bank["activity"] != layout.BANK_IDLE and bank["owner_warp"] < machine.num_warps:
        until = bank["until_cycle"]
        what += f" R{bank['owner_reg']} of w{bank['owner_warp']}" + (f" until {until:,}" if until > machine.cycle else "")
    found.append(("now", what))
    wanted = [f"w{warp}" for which, _, warp in requests(machine) if which == number]
    found.append(("wanted by", " ".join(dict.fromkeys(wanted)) or "nobody"))
    held = int((machine.warp_places[0] == number).sum())
    found.append(("holds", f"{plural(held, 'register')} of {plural(len(machine.resident_warps), 'warp')}"))
    record = machine.snapshot.rf
    for name in record.dtype.names or ():
        values = np.asarray(record[name])
        is_per_bank = values.dtype.names is None and values.ndim and len(values) == machine.num_banks
        if is_per_bank and values[number].size <= MAX_NUMBERS:
            found.append((f"rf.{name}", " ".join(str(int(one)) for one in values[number].ravel())))
    return found


def _instruction(scene: Scene, machine: Machine) -> list[tuple[str, str]]:
    pc = machine.pc[scene.warp]
    entry = machine.instruction(pc)
    if entry is None:
        return []
    found = [(f"pc {pc}", f"{with_lines(entry['text'], scene.info['program'])}, line {entry['line']}")]
    sources = [int(reg) for reg in entry.get("src", ()) if int(reg) != layout.NONE8]
    for reg in dict.fromkeys(sources):
        found.append((f"reads R{reg}", _lanes(machine, scene.warp, reg, pc)))
    for reg in entry.get("dst", ()):
        if int(reg) != layout.NONE8:
            found.append((f"writes R{int(reg)}", f"now {_lanes(machine, scene.warp, int(reg), pc)}"))
    here = [f"w{warp}" for warp in machine.resident_warps if machine.pc[warp] == pc and warp != scene.warp]
    found.append(("also here", " ".join(here) or "no other warp"))
    return found


def _register(scene: Scene, machine: Machine) -> list[tuple[str, str]]:
    values = values_of(machine, scene.warp, scene.reg)
    if values is None:
        return []
    pc = machine.pc[scene.warp]
    name = names_at(scene.info, pc).get(scene.reg, "")
    found = [(f"w{scene.warp}.R{scene.reg}", name or "no name in the PTX here")]
    found.append(("lanes", _lanes(machine, scene.warp, scene.reg, pc)))
    found.append((f"lane {scene.lane}", readings(int(values[scene.lane]))))
    bank, row = machine.place(scene.warp, scene.reg)
    found.append(("lies in", f"bank {bank}, row {row}"))
    found.append(("pending", "a write" if machine.sb_write[scene.warp] >> scene.reg & 1 else "no write"))
    return found


def _states(scene: Scene, machine: Machine) -> list[tuple[str, str]]:
    found = [("warps now", f"of {machine.num_warps} slots")]
    for code, count in enumerate(machine.count):
        if count:
            look = scene.look(code)
            found.append((f"{look.glyph} {look.name}", str(count)))
    return found


def _lanes(machine: Machine, warp: int, reg: int, pc: int) -> str:
    """Return what a register holds, briefly: one value, an arithmetic sequence, or those of the first and last lanes."""
    values = values_of(machine, warp, reg)
    if values is None:
        return "cannot be read"
    kind = kind_of(names_at(machine.info, pc).get(reg, ""), values)
    first, steps = cell_text(int(values[0]), kind), pattern(values)
    return f"{first}, {steps}" if steps else f"{first} in lane 0, {cell_text(int(values[-1]), kind)} in lane {LANES - 1}"
