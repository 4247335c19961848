"""The COLLECTORS panel: which operands each collector unit has, and what the pipes and the memory unit do."""

from __future__ import annotations

import numpy as np

from rfview.engine import state as layout
from rfview.render.operation import PIPE_NAMES, operation
from rfview.render.scene import Machine, Scene
from rfview.render.text import Line, Row, fill, progress, title

NONE = layout.NONE8
PIPE_ROWS = 2


def operands(machine: Machine, entry: int) -> list[tuple[int, str]]:
    """Return (register, mark) of an in-flight entry's row operands: ■ here, □ waits, x lost its bank in this cycle."""
    row = machine.inflight[entry]
    instruction = machine.instruction(int(row["pc"]))
    if instruction is None:
        return []
    unread, lost = int(row["unread"]), int(row["lost"])
    out = []
    for slot, reg in enumerate(instruction["src"][:6]):
        if int(reg) == NONE:
            continue
        mark = "x" if (lost >> slot) & 1 else "□" if (unread >> slot) & 1 else "■"
        out.append((int(reg), mark))
    return out


MARK_ROLES = {"■": "p:good", "□": "p:slow", "x": "st:bank_conflict"}


def _unit(row: Row, scene: Scene, entry: int | None, number: int, cell: int, x: int) -> None:
    """Write one collector unit into `cell` cells at x."""
    machine = scene.now
    assert machine is not None
    if entry is None:
        row.at(x, f"{number:>2} ", "faint").add("free" if cell >= 20 else "·", "off")
        return
    record = machine.inflight[entry]
    warp = int(record["warp"])
    is_new = int(record["issue_cycle"]) == machine.cycle - 1
    role = "bold" if warp == scene.warp else "text"
    row.at(x, f"{number:>2} ", "faint")
    marks = operands(machine, entry)
    letters = 4 if cell >= 26 else max(3, min(4, x + cell - 1 - row.x - 4 - len(marks)))    # a blank before the next unit
    name = operation(machine, int(record["pc"]))[:letters].rstrip(".")
    row.add(f"w{warp:<2} {name:<{letters}}", role + ("+u" if is_new else ""))
    end = x + cell - 1
    for reg, mark in marks:
        text = f"R{reg}" if cell >= 26 else ""
        if row.x + 1 + len(text) > end:
            break
        row.add(" " if text else "", "text").add(text, "dim").add(mark, MARK_ROLES[mark] + "+b")


def _pipes(machine: Machine) -> list[tuple[str, int]]:
    """Return (name, index) of the pipes that this machine has."""
    has_two = machine.config["num_sp"] >= 2
    return [(name, index) for index, name in PIPE_NAMES.items() if has_two or index != layout.PIPE_SP1]


def mshrs_in_use(machine: Machine) -> int:
    """Return the miss registers whose line has not come back."""
    return int((machine.sm["mshr"]["until_cycle"] > machine.cycle).sum())


def _pipe_rows(scene: Scene, width: int) -> list[Line]:
    """Return what the pipes do, two rows."""
    machine = scene.now
    assert machine is not None
    cell = width // 3
    first, second = Row(width), Row(width)
    under_way = np.isin(machine.inflight["stage"], (layout.EXECUTE, layout.MEMORY))
    for place, (name, index) in enumerate(_pipes(machine)):
        row, x = (first, 1 + place * cell) if place < 3 else (second, 1)
        pipe = machine.pipe[index]
        row.at(x, f"{name:<4} ", "dim")
        at_head = index == layout.PIPE_LDST and int(machine.sm["ldst_head"]) != layout.NONE8    # nobody knows for how long
        inside = np.flatnonzero(under_way & (machine.inflight["pipe"] == index))
        left = max(0, pipe["until_cycle"] - machine.cycle)
        if not (len(inside) or at_head or left):
            row.add("╌╌╌╌", "faint").add(" idle", "faint")
            continue
        since = machine.inflight["since_cycle"]
        taken = machine.inflight[inside[np.argmax(since[inside])] if len(inside) else pipe["inflight"]]
        total = max(1, pipe["until_cycle"] - int(taken["since_cycle"])) if left else 1
        row.add(progress(0 if at_head else max(0, total - left), total), "p:good")
        warp = int(taken["warp"])
        row.add(f" w{warp:<2}", "bold" if warp == scene.warp else "text")
        row.add(f" ×{len(inside)}", "text" if len(inside) else "faint")
    used, most = mshrs_in_use(machine), machine.config["mshrs"]
    before = mshrs_in_use(scene.before) if scene.before else used
    if most and machine.config["l1_enabled"]:
        second.at(1 + cell, "L1   ", "dim").add(f"{used}", "text" if used == before else "changed")
        second.add(f"/{most} MSHR", "text")
    flying = int((machine.inflight["stage"] != layout.FREE).sum())
    second.at(1 + 2 * cell, "in flight ", "dim").add(str(flying), "text")
    return [first.line(), second.line()]


def render(scene: Scene, width: int, height: int) -> list[Line]:
    """Return the COLLECTORS panel.

     COLLECTORS  7 of 8 busy                 ■ here □ waits x conflict
      0 w12 fma  R12■ R5□ R9■      1 w21 fma  R16■ R5■ R13■
      2 w4  mul  R16x R6■          3 w18 add  R8■ R2□
     SP0  ━━━╌ w12 ×2      SP1  ━━━━ w21 ×1      LDST ━━╌╌ w17 ×3

    A unit leaves when all its operands are here. x: another access had the bank in this cycle. A pipe's bar: how far it
    is until it takes the next instruction; ×2 = instructions inside it.
    """
    focus = scene.panel == "collectors"
    machine = scene.now
    if machine is None:
        return fill([title(width, "COLLECTORS", focus=focus)], width, height)
    units = machine.collectors
    busy = sum(entry is not None for entry in units)
    info = f"{busy} of {len(units)} busy"
    legend = "■ here □ waits x conflict" if width >= 56 else ""
    lines = [title(width, "COLLECTORS", info, focus=focus, right=legend)]
    rows = max(1, height - 1 - PIPE_ROWS)
    columns = next((c for c in (1, 2, 3, 4) if c * rows >= len(units)), 4)
    if height >= len(units) + 1 + PIPE_ROWS and width < 60:
        columns = 1 if width < 40 else 2
    cell = (width - 1) // columns
    for index in range(min(rows, -(-len(units) // columns))):
        row = Row(width)
        for column in range(columns):
            number = index * columns + column
            if number < len(units):
                _unit(row, scene, units[number], number, cell, column * cell)
        lines.append(row.line())
    lines += _pipe_rows(scene, width)
    return fill(lines, width, height)
