"""The REGISTERS view: the focused warp's registers by lane, with the names they have in the PTX."""

from __future__ import annotations

import re

import numpy as np

from rfview.sessions.expressions.types import readings
from rfview.render.lens import lens_design, places_of
from rfview.sessions.machine import Machine
from rfview.render.panel import About, Panel
from rfview.render.scene import Scene
from rfview.render.text import Line, Row, cut, fill, list_row, title, visible_from
from rfview.sessions.expressions.ptx_names import names_at
from rfview.sessions.expressions.types import looks_like_float, word_text

FORMATS = ("auto", "hex", "int", "uint", "float")
NAME_CELLS, PLACE_CELLS = 16, 12
LANES = 32
FIRST_UNIFORM, UNIFORM_CELLS = 8, 15        # the number of UP0 among a warp's predicates; cells of a uniform register
PREDICATE = re.compile(r"\bU?P\d+\b")


def cell_text(value: int, kind: str) -> str:
    """Return one lane's value in at most eleven cells."""
    if kind == "hex":
        return f"{value:08x}"
    if kind == "int":
        return word_text(value, "s32")
    if kind == "float":
        text = word_text(value, "f32")
        return text if len(text) <= 11 else f"{float(text):.3e}"
    return str(value)


def cell_width(number_format: str) -> int:
    """Return the cells of one lane, including the blank after it."""
    return 9 if number_format == "hex" else 12


def pattern(values: np.ndarray) -> str:
    """Return "all lanes" or "+4 per lane" if 32 words are equal or an arithmetic sequence, else ""."""
    steps = np.diff(values.astype(np.int64))
    if not np.any(steps):
        return "all lanes"
    if np.all(steps == steps[0]):
        return f"{int(steps[0]):+d} per lane"
    return ""


def values_of(machine: Machine, warp: int, reg: int) -> np.ndarray | None:
    """Return a register's 32 words, None if the slot is empty."""
    try:
        return np.ascontiguousarray(machine.snapshot.register(warp, reg))
    except (IndexError, KeyError, ImportError):
        return None


def kind_of(name: str, values: np.ndarray) -> str:
    """Return the format of `cell_text` that suits a register best. name: its name in the PTX."""
    return "hex" if name.endswith((".lo", ".hi")) else "float" if looks_like_float(values) else "int"


def render(scene: Scene, width: int, height: int) -> list[Line]:
    """Return the REGISTERS view.

     REGISTERS w31  auto   24 registers   lanes 0–9 of 32
          name                  0          1          2
      R2  %r2            00000010   00000010   00000010   all lanes
     ▸R13 %f13              1.25       -0.5        0.75
      uniform UR4  00000040  UR5  00007000
      active ffffffff  P0 0000ffff

    Rows are physical registers with the PTX names they have here and, if the design says so, where the value is kept;
    columns are lanes, grey if the lane is inactive. Below them: uniform registers of machine code, one value for the warp;
    the lanes that are active, and those in which predicates hold. Underlined: changed in this cycle. H L show hidden lanes,
    F changes the format, j k choose a row.
    """
    machine = scene.now
    focus = scene.panel == "registers"
    head = f"REGISTERS w{scene.warp}"
    if machine is None or scene.warp >= machine.num_warps or not (machine.resident >> scene.warp) & 1:
        empty = Row(width).add(f" slot {scene.warp} holds no warp in this cycle", "dim").line()
        return fill([title(width, head, focus=focus), empty], width, height)
    count = machine.registers
    cell = cell_width(scene.number_format)
    places_now = places_of(lens_design(scene.info))
    places = places_now(machine, scene.warp) if places_now is not None else []
    front = NAME_CELLS + 6 + (PLACE_CELLS if places else 0)
    lanes = max(1, min(LANES, (width - front) // cell))
    first_lane = max(0, min(LANES - lanes, scene.lane))
    below = [*_uniform(scene, width), _predicates(scene, width)][-(height // 3) :] if height > 8 else []
    rows = max(1, height - 2 - len(below))
    first = visible_from(scene.reg, count, rows)
    info = f"{scene.number_format}   {count} registers   lanes {first_lane}–{first_lane + lanes - 1} of {LANES}"
    lines = [title(width, head, info, focus=focus)]
    heading = Row(width).add("       name", "faint").to(6 + NAME_CELLS)
    heading.add("lies in" if places else "", "faint").to(front)
    for lane in range(first_lane, first_lane + lanes):
        heading.add(f"{lane:>{cell - 1}} ", "faint")
    lines.append(heading.line())
    names, pending = names_at(scene.info, machine.pc[scene.warp]), machine.pending(scene.warp)
    for reg in range(first, min(count, first + rows)):
        where = places[reg] if reg < len(places) else None
        lines.append(_register_row(scene, reg, names.get(reg, ""), first_lane, lanes, width, where, reg in pending))
    return fill([*lines, *below], width, height)


def _register_row(scene: Scene, reg: int, name: str, first_lane: int, lanes: int, width: int,
                  where: tuple[str, str] | None, is_pending: bool) -> Line:
    """Return one register's row. where: the place of its value, with a role, or None. is_pending: it will be written."""
    machine = scene.machine
    focus = reg == scene.reg
    row = list_row(width, focus).add(f"R{reg:<3}", "bold" if focus else "text")
    row.add("□" if is_pending else " ", "fg:long_scoreboard").add(f" {cut(name, NAME_CELLS - 2)}", "dim").to(6 + NAME_CELLS)
    if where is not None:
        row.add(cut(where[0], PLACE_CELLS - 1), where[1]).to(6 + NAME_CELLS + PLACE_CELLS)
    values = values_of(machine, scene.warp, reg)
    if values is None:
        return row.add("–", "faint").line()
    before = values_of(scene.before, scene.warp, reg) if scene.before and _same_warp(scene) else values
    before = values if before is None else before
    kind = kind_of(name, values) if scene.number_format == "auto" else scene.number_format
    mask = machine.mask[scene.warp]
    for lane in range(first_lane, first_lane + lanes):
        changed = int(values[lane]) != int(before[lane])
        role = "changed" if changed else "text" if (mask >> lane) & 1 else "faint"
        text = cell_text(int(values[lane]), kind)
        row.add(" " * max(0, cell_width(scene.number_format) - 1 - len(text))).add(text, role).add(" ")
    note = pattern(values)
    if note and row.x + len(note) < width:
        row.add(note, "dim")
    return row.line()


def _same_warp(scene: Scene) -> bool:
    """Say whether the slot held the same warp before."""
    assert scene.now is not None and scene.before is not None
    ages = [int(machine.sm["warp"][scene.warp]["age"]) for machine in (scene.now, scene.before)]
    return ages[0] == ages[1] and bool((scene.before.resident >> scene.warp) & 1)


def _predicates(scene: Scene, width: int) -> Line:
    """Return the active mask and the predicates in use, a hex digit per four lanes."""
    machine = scene.machine
    row = Row(width).add(" active ", "dim").add(f"{machine.mask[scene.warp]:08x}", "text")
    names = {word for entry in scene.info.program for word in PREDICATE.findall(entry.text)}
    predicates = machine.sm["warp_cold"][scene.warp]["pred"]
    before = scene.before.sm["warp_cold"][scene.warp]["pred"] if scene.before else predicates
    for name in sorted(names, key=lambda name: (len(name), name)):
        index = int(name.lstrip("UP")) + FIRST_UNIFORM * (name[0] == "U")
        if index < len(predicates) and row.x + 10 + len(name) < width:
            role = "text" if int(predicates[index]) == int(before[index]) else "changed"
            row.add(f"  {name} ", "dim").add(f"{int(predicates[index]):08x}", role)
    return row.line()


def _uniform(scene: Scene, width: int) -> list[Line]:
    """Return the uniform registers that the program names, in as many lines as they need."""
    machine = scene.machine
    values = machine.uniform(scene.warp)
    before = scene.before.uniform(scene.warp) if scene.before and _same_warp(scene) else values
    used = scene.info.uniform_registers
    each = max(1, (width - 9) // UNIFORM_CELLS)
    rows = []
    for at in range(0, len(used), each):
        rows.append(Row(width).add(" " if at else " uniform", "dim").to(9))
        for reg in used[at : at + each]:
            role = "text" if int(values[reg]) == int(before[reg]) else "changed"
            rows[-1].add(f"{f'UR{reg}':<5}", "dim").add(f"{int(values[reg]):08x}  ", role)
    return [row.line() for row in rows]


def facts(scene: Scene) -> list[tuple[str, str]]:
    """Return the facts of the chosen register."""
    machine = scene.machine
    values = values_of(machine, scene.warp, scene.reg)
    if values is None:
        return []
    pc = machine.pc[scene.warp]
    name = names_at(scene.info, pc).get(scene.reg, "")
    is_machine_code = scene.info.is_machine_code
    rows = [(f"w{scene.warp}.R{scene.reg}",
             f"at cycle {machine.cycle:,}" if is_machine_code else name or "no name in the PTX here")]
    rows.append(("lanes", lanes(machine, scene.warp, scene.reg, pc)))
    rows.append((f"lane {scene.lane}", readings(int(values[scene.lane]))))
    bank, row = machine.place(scene.warp, scene.reg)
    rows.append(("lies in", f"bank {scene.reg & 1} of sub-core {machine.scheduler_of(scene.warp)}" if is_machine_code else
                 f"bank {bank}, row {row}"))
    rows.append(("pending", "a write" if scene.reg in machine.pending(scene.warp) else "no write"))
    return rows


def lanes(machine: Machine, warp: int, reg: int, pc: int) -> str:
    """Return what a register holds, briefly: one value, an arithmetic sequence, or those of the first and last lanes."""
    values = values_of(machine, warp, reg)
    if values is None:
        return "cannot be read"
    kind = kind_of(names_at(machine.info, pc).get(reg, ""), values)
    first, steps = cell_text(int(values[0]), kind), pattern(values)
    return f"{first}, {steps}" if steps else f"{first} in lane 0, {cell_text(int(values[-1]), kind)} in lane {LANES - 1}"


PANEL = Panel(
    name="registers", title="REGISTERS", paint=render, is_alone=True, overlaid="warp", enter="heat", values=True,
    facts=facts,
    move=lambda scene, by: {"reg": max(0, min((scene.now.registers if scene.now else 1) - 1, scene.reg + by))},
    item=lambda scene, count: f"w{scene.warp}.R{scene.reg}" + (f"[{count}]" if count is not None else ""),
    hints=("step", "lanes_right", "number_format", "next_change", "close", "command", "help"),
    source="HC-RF section IV-A: warp w begins at slot w x n; 32 lanes of 32 bits are one row",
    columns=(
        ("name", "the PTX name that lives in the physical register at this instruction", "our allocator"),
        ("lanes", "the value of each of the 32 threads; grey where the lane is not active", "HC-RF section IV-A"),
    ),
    of_machine_code=About(
        render, "machine code: up to 255 registers per thread; 32 lanes of 32 bits are one row",
        (
            ("R0..", "a register of the machine code, as ptxas allocated it", "ptxas"),
            ("lanes", "the value of each of the 32 threads; grey where the lane is not active", "CUDA: a warp has 32 lanes"),
            ("UR, P, UP", "uniform registers, one value for the warp; predicates, a bit per lane, or one for the warp",
             "ptxas"),
        ),
    ),
)
