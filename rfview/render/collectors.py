"""The COLLECTORS panel: which operands each collector unit has, and what the pipes and the memory unit do."""

from __future__ import annotations

import numpy as np

from rfview.engine import state as layout
from rfview.engine.sass.listing import Control
from rfview.engine.wording import plural
from rfview.render import machine_code
from rfview.render.lens import base_design
from rfview.render.operation import operation
from rfview.sessions.machine import Machine
from rfview.render.panel import RIGHT, About, Grant, Panel, Shape, Spot
from rfview.render.scene import Scene
from rfview.render.text import Line, Row, fill, progress, title
from rfview.sessions.why.memory import mshrs_in_use

NONE = layout.NONE8
ACTIVE_ROWS = 5     # rows from which the active set gets one
WIDE = 56           # columns from which one row shows all pipes


def operands(machine: Machine, entry: int) -> list[tuple[int, str]]:
    """Return (register, mark) of an in-flight entry's row operands: ▮ here, ▯ waits or is late, x lost its bank."""
    row = machine.inflight[entry]
    instruction = machine.instruction(int(row["pc"]))
    if instruction is None:
        return []
    unread, refused = int(row["unread"]), int(row["refused"])
    out = []
    for reg in instruction.src[:6]:
        if int(reg) == NONE:
            continue
        fetched = list(instruction.src).index(reg)       # a register named twice is read for the first of its slots
        waits, is_refused = (unread >> fetched) & 1, (refused >> fetched) & 1
        mark = "x" if waits and is_refused else "▯" if waits or is_refused else "▮"
        out.append((int(reg), mark))
    return out


MARK_ROLES = {"▮": "p:good", "▯": "p:slow", "x": "st:bank_conflict"}
WIDE_CELL = 22      # cells of a unit with three operands such as R24▮; a narrower one omits the R


def _unit(row: Row, scene: Scene, entry: int, cell: int, x: int) -> None:
    """Write one busy collector unit into `cell` cells at x: warp, operation, operands."""
    machine = scene.machine
    record = machine.inflight[entry]
    warp = int(record["warp"])
    is_new = int(record["issue_cycle"]) == machine.cycle - 1
    role = ("bold" if warp == scene.warp else "text") + ("+u" if is_new else "")
    row.at(x, " ").add(f"w{warp}", role).to(x + 5)
    row.add(operation(machine, int(record["pc"]))[:4].rstrip("."), role).to(x + 10)
    marks = operands(machine, entry)
    end = x + cell
    bare = sum(len(str(reg)) + 2 for reg, _ in marks) - 1
    for index, (reg, mark) in enumerate(marks):
        text = f"R{reg}" if cell > WIDE_CELL else str(reg)
        gap = " " if index and (cell > WIDE_CELL or row.x + bare <= end) else ""
        if row.x + len(gap) + len(text) + 1 > end:
            row.add(f"+{len(marks) - index}"[: end - row.x], "dim")
            break
        row.add(gap, "text").add(text, "dim").add(mark, MARK_ROLES[mark] + "+b")


def _pipes(machine: Machine) -> list[tuple[str, int]]:
    """Return (name, index) of the pipes that this machine has."""
    has_two = machine.config["num_sp"] >= 2
    return [(name, index) for index, name in enumerate(layout.PIPES) if has_two or index != layout.PIPE_SP1]


def _pipe_parts(scene: Scene, with_bars: bool) -> list[list[tuple[str, str]]]:
    """Return what each pipe does, and how many misses are under way, as (text, role) pieces."""
    machine = scene.machine
    parts: list[list[tuple[str, str]]] = []
    under_way = np.isin(machine.inflight["stage"], (layout.EXECUTE, layout.MEMORY))
    for name, index in _pipes(machine):
        pipe = machine.pipes[index]
        at_head = index == layout.PIPE_LDST and int(machine.sm["ldst_head"]) != layout.NONE8    # its end is not known
        inside = np.flatnonzero(under_way & (machine.inflight["pipe"] == index))
        left = max(0, pipe["until_cycle"] - machine.cycle)
        if not (len(inside) or at_head or left):
            parts.append([(f"{name} ", "dim"), ("idle", "faint")])
            continue
        since = machine.inflight["since_cycle"]
        taken = machine.inflight[inside[np.argmax(since[inside])] if len(inside) else pipe["inflight"]]
        total = max(1, pipe["until_cycle"] - int(taken["since_cycle"])) if left else 1
        done = progress(0 if at_head else max(0, total - left), total)
        warp = int(taken["warp"])
        parts.append([(f"{name} ", "dim"), (f"{done} " if with_bars else "", "p:good"),
                      (f"w{warp}", "bold" if warp == scene.warp else "text"),
                      (f"×{len(inside)}", "text" if len(inside) else "faint")])
    used, most = len(mshrs_in_use(machine.sm, machine.cycle)), machine.config["mshrs"]
    before = len(mshrs_in_use(scene.before.sm, scene.before.cycle)) if scene.before else used
    if most and machine.config["l1_enabled"]:
        parts.append([("L1 ", "dim"), (str(used), "text" if used == before else "changed"), (f"/{most}", "text")])
    return parts


def _pipe_rows(scene: Scene, width: int) -> list[Line]:
    """Return what the pipes do, in one row if it is wide enough, else in two; bars are left out if words need the room."""
    count = 1 if width >= WIDE else 2
    for with_bars in (True, False):
        rows = [Row(width) for _ in range(count)]
        at, fits = 0, True
        for part in _pipe_parts(scene, with_bars):
            size = 1 + sum(len(text) for text, _ in part)
            if rows[at].x + size > width and at + 1 < count:
                at += 1
            fits &= rows[at].x + size <= width
            rows[at].add(" ").parts(*part)
        if fits:
            break
    return [row.line() for row in rows]


def _active_row(scene: Scene, width: int) -> list[Line]:
    """Return the scheduler's active set, each warp with its state, and how many are outside; [] if there is no set."""
    machine = scene.machine
    if not machine.config["active_places"] or base_design(scene.info.design) == "rfc":
        return []       # rfc's lens shows the set
    active = machine.sm["warp"]["membership"][: machine.num_warps].tolist()
    inside = [warp for warp in machine.resident_warps if active[warp]]
    outside = len(machine.resident_warps) - len(inside)
    row = Row(width).add(" ACTIVE", "dim")
    end = width - 1 - len(f"{outside} outside")
    for count, warp in enumerate(inside):
        look = scene.look(machine.state[warp])
        is_last = count == len(inside) - 1
        if row.x + len(f" w{warp}") + 1 > end - (1 if is_last else 4):     # unless it is the last, "+N" must fit after it
            row.add(f" +{len(inside) - count}", "dim")
            break
        row.add(f" w{warp}", "bold" if warp == scene.warp else "text" if active[warp] == 1 else "faint")
        row.add(look.glyph, "st:" + look.role)
    return [row.right(width - 1, f"{outside} outside", "dim").line()]


def render(scene: Scene, width: int, height: int) -> list[Line]:
    """Return the COLLECTORS panel: the units in use, in the order of their numbers.

     COLLECTORS  3 of 16 busy   ▮ here ▯ waits x lost bank
     w5  ld.g R24▮ R18▮          w12 mad  R0▮ R1▮ R2▮
     w12 mov  R7▯
     SP0 ━━━╌ w12×2 SP1 idle SFU idle LDST ━━╌╌ w17×3 L1 3/32

    A unit disappears when it has all its operands. x: another access had the bank in this cycle. A pipe's bar: its progress
    until it takes the next instruction; ×2 = instructions inside it. L1: misses under way, out of the possible ones. Under
    a scheduler with an active set, ACTIVE: the warps that may issue, with their states; the others are outside.
    """
    focus = scene.panel == "collectors"
    machine = scene.now
    if machine is None:
        return fill([title(width, "COLLECTORS", focus=focus)], width, height)
    if scene.info.is_machine_code:
        return _counters(scene, width, height)
    busy = [entry for entry in machine.collectors if entry is not None]
    legend = "▮ here ▯ waits x lost bank" if width >= WIDE else ""
    lines = [title(width, "COLLECTORS", f"{len(busy)} of {len(machine.collectors)} busy", focus=focus, right=legend)]
    pipes = [*(_active_row(scene, width) if height >= ACTIVE_ROWS else []), *_pipe_rows(scene, width)]
    rows = max(1, height - 1 - len(pipes))
    most = max(1, width // 19)
    columns = next((count for count in range(1 + (width >= 48), most) if count * rows >= len(busy)), most)
    left_out = max(0, len(busy) - columns * rows)
    cell = width // columns
    for index in range(rows):
        row = Row(width)
        for column, entry in enumerate(busy[index * columns : (index + 1) * columns]):
            if left_out and (index + 1) * columns == rows * columns and column == columns - 1:
                row.at(column * cell, f" +{left_out + 1} more", "dim")
            else:
                _unit(row, scene, entry, cell, column * cell)
        lines.append(row.line())
    lines += pipes
    return fill(lines, width, height)


def _counters(scene: Scene, width: int, height: int) -> list[Line]:
    """Return the focused warp's dependence counters: value, the instructions that hold each, and the next that waits for it.

     COUNTERS w46  stall count: 3 cycles left · next waits for SB2
     SB0  1  LDS R22 0290                   0340 FFMA
     SB2  1  LDS R25 0240                   02c0 FFMA now

    Counters are raised at Control and fall when an instruction has written its results, or read its operands. The title
    says what is left of the stall count of the warp's last instruction.
    """
    machine, warp = scene.machine, scene.warp
    left = machine_code.countdown(machine, warp)
    facts = f"stall count: {plural(left, 'cycle')} left" if left else "stall count has run out"
    lines = [title(width, f"COUNTERS w{warp}", facts, focus=scene.panel == "collectors",
                   right="held by, then who waits" if width >= WIDE else "")]
    own = Control.of_bits(machine.control(machine.pc[warp])).wait
    program = machine.info.program
    values = zip(machine_code.pending(machine, warp), machine_code.holders(machine, warp), strict=True)
    for counter, (value, held) in enumerate(values):
        waits = bool(own >> counter & 1 and value)
        row = Row(width).add(f" SB{counter} ", "st:long_scoreboard" if waits else "text" if value else "faint")
        row.add(f"{value or '·':>3}  ", "bold" if value else "faint")
        words = [f"{operation(machine, flight.pc)} {machine_code.place(program, flight.pc)}" for flight in held]
        after = machine_code.awaiting(machine, warp, counter) if value else None
        end = width - 16 if after is not None else width
        row.add(machine_code.joined(words, end - row.x - 1) if value else "", "text")
        if after is not None:
            row.to(end).add(f"{machine_code.place(program, after)} {operation(machine, after)}"
                            f"{' now' if after == machine.pc[warp] else ''}", "bold" if waits else "dim")
        lines.append(row.line())
    return fill(lines, width, height)


PANEL = Panel(
    name="collectors", title="COLLECTORS", paint=render, overlaid="machine",
    spots={
        Shape.NARROW: Spot(RIGHT, 2, (Grant(3, 11, whole=True),)),
        Shape.MEDIUM: Spot(RIGHT, 2, (Grant(4, 7, whole=True),)),
        Shape.NORMAL: Spot(RIGHT, 2, (Grant(1, 8), Grant(2, 9))),
        **dict.fromkeys((Shape.WIDE, Shape.TALL), Spot(RIGHT, 2, (Grant(1, 7),))),
    },
    source="HC-RF section IV: operand collectors; their number: GTX480",
    columns=(
        ("unit", "an operand collector: it holds an instruction until its operands are read", "HC-RF section IV"),
        ("▮ ▯ x", "operand read; still to be read; refused by its bank in this cycle", "our assumption: the marks"),
        ("pipes", "SP, SFU and LDST with the cycles until they take the next instruction", "initiation: GTX480"),
    ),
    of_machine_code=About(
        _counters, "MICRO'25 section 4: control codes, as ptxas wrote them",
        (
            ("SB0..SB5", "a dependence counter and its value: instructions that raised it and have not ended",
             "MICRO'25 section 4"),
            ("held by", "these instructions", "MICRO'25 section 4"),
            ("then who waits", "the next instruction on the warp's way that waits until the counter is 0",
             "our assumption: the next in the listing"),
        ),
    ),
)
