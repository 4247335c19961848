"""The PIPELINE panel: one row per instruction of the focused warp, one letter per cycle, and whose results it waits for."""

from __future__ import annotations

import numpy as np

from rfview.engine.wording import ordinal, plural
from rfview.render import warps
from rfview.render import timeline
from rfview.render.operation import compact_text, with_lines
from rfview.render.panel import Hit, Panel
from rfview.render.scene import Pipes, Scene
from rfview.render.text import Line, Row, cut, fill, list_row, number, title
from rfview.render.timeline import ruler, with_cursor
from rfview.sessions.reports.pipeline import (ALLOCATING, COLLECTING, CONTROL, DECODED, DONE, EMPTY, EXECUTING, FETCHED,
                                              IN_MEMORY, ISSUED, LETTERS, QUEUED, READING, REFUSED, WORDS, WRITING, Life)

WIDE = 100
GUTTER = 6          # cells before the first column, for the register that comes from or goes to the chosen instruction
QUIET = (DECODED, COLLECTING, CONTROL, QUEUED)
STRONG = (FETCHED, ISSUED)
LEGEND = ((FETCHED, "fetched"), (DECODED, "behind another"), (ISSUED, "issues"), (COLLECTING, "collects operands"),
          (REFUSED, "bank refused"), (EXECUTING, "executes"), (IN_MEMORY, "in memory"), (WRITING, "writes"),
          (DONE, "leaves"))
OF_SUBCORE = ((CONTROL, "Control"), (ALLOCATING, "Allocate"), (READING, "reads operands"), (QUEUED, "waits for its unit"))


def label_of(width: int) -> int:
    """Return how many cells the names of the instructions take, the gutter included."""
    return 40 if width >= WIDE else 28


def columns_of(width: int) -> int:
    """Return how many columns of time fit into a panel."""
    return max(1, width - label_of(width) - 1)


def chosen(scene: Scene) -> int:
    """Return the row of the instruction that the warp is at: the last whose turn has come at the cursor."""
    rows = scene.pipes.rows if scene.pipes is not None else ()
    return max((place for place, life in enumerate(rows) if life.turn <= scene.cycle), default=0)


def cycle_at(scene: Scene, width: int, x: int) -> int | None:
    """Return the first cycle of the column under x, None outside the run."""
    pipes = scene.pipes
    if pipes is None or not 0 <= x - label_of(width) < pipes.columns:
        return None
    cycle = pipes.start + (x - label_of(width)) * pipes.per
    return max(scene.first, cycle) if scene.first < cycle + pipes.per and cycle <= scene.last else None


def render(scene: Scene, width: int, height: int) -> list[Line]:
    """Return the PIPELINE panel.

    ▌PIPELINE  w3   1 column = 1 cycle                                                + − zoom   j k instruction   o warp
                                          200                 220                 240       ▼ 251
        8 mul.wide.s32 R0, R0, 4    R0 ▸         ICCCCCCCCCCCCCCCCCEEEEWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWW
        9 ld.param.u64 R2, [0x0]    R2 ▸         F----------------ICEEEEWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWW
     ▸ 10 add.s64 R2, R2, R0                     F-----------------sssss↓↓↓↓↓↓↓↓↓↓↓↓↓↓↓↓↓↓↓↓↓↓↓↓↓↓↓x↓↓↓↓↓↓↓↓○○IxxxxxxCEEEE
     w3's 10th, add.s64 R2, R2, R0: fetched 240, waits for R2 R3 of its 9th and R0 R1 of its 8th

    A row is one execution of an instruction; time runs from left to right; the highlighted column is the cursor. F fetched
    and decoded, - queued behind an older one, then why the warp waits, as the state's glyph, I issues, C collects operands,
    x a bank refused one, E in its unit, M in memory, W writes its result, r leaves. On a sub-core C is Control, A Allocate,
    R reads operands, q waits for its unit. ▸ instructions whose results the chosen
    one reads, with the register; ◂ those that read its result. If rows are left, the last one explains the letters.
    """
    pipes = scene.pipes
    focus = scene.panel == "pipeline"
    if scene.now is None or pipes is None or pipes.warp != scene.warp:
        return fill([title(width, "PIPELINE", focus=focus)], width, height)
    at = chosen(scene)
    rows = max(1, height - 3)
    first = max(0, min(at - rows * 2 // 3, len(pipes.rows) - rows))
    label = label_of(width)
    lines = [title(width, "PIPELINE", f"w{pipes.warp}   1 column = {plural(pipes.per, 'cycle')}", focus=focus,
                   right="+ − zoom   j k instruction   o other warp"),
             ruler(scene, pipes, pipes.columns, width, label)]
    marks = _links(pipes, at)
    for place in range(first, min(len(pipes.rows), first + rows)):
        lines.append(_row(scene, pipes, place, width, place == at, marks.get(place, "")))
    if not pipes.rows:
        lines.append(Row(width).add(f"   w{pipes.warp} holds no instruction in these cycles", "dim").line())
    is_roomy = len(lines) < height - 2
    lines = fill(lines, width, height - 1)
    if is_roomy:
        lines[-1] = _legend(scene, width)
    return [*lines, _foot(scene, pipes, at, width)][:height] if height > 2 else lines[:height]


def _links(pipes: Pipes, at: int) -> dict[int, str]:
    """Return the gutter's text by row: the register that the chosen instruction reads from it, or it from the chosen one."""
    names_of: dict[int, list[str]] = {}
    if at < len(pipes.rows):
        for place, name in pipes.rows[at].producers:
            names_of.setdefault(place, []).append(name)
    marks = {place: f"{names[0]}{'+' if len(names) > 1 else ''} ▸" for place, names in names_of.items()}
    for place, life in enumerate(pipes.rows):
        names = [name for producer, name in life.producers if producer == at]
        if names:
            marks[place] = f"◂ {names[0]}{'+' if len(names) > 1 else ''}"
    return marks


def _row(scene: Scene, pipes: Pipes, place: int, width: int, is_chosen: bool, mark: str) -> Line:
    """Return one instruction: its number, text, link, and where it is in each column."""
    life = pipes.rows[place]
    label = label_of(width)
    entry = scene.machine.instruction(life.pc)
    base = "bold" if is_chosen else "text"
    row = list_row(width, is_chosen)
    row.right(6, number(life.n), "dim").to(7)
    room = label - GUTTER - 8
    text = with_lines(entry.text, scene.info.program) if entry else "?"
    row.add(text if len(text) <= room else cut(compact_text(text), room), base).to(label - GUTTER)
    row.add(mark[: GUTTER - 1], "key").to(label)
    return with_cursor(row, cells_of(scene, pipes, life), pipes.column(scene.cycle)).line()


def cells_of(scene: Scene, pipes: Pipes, life: Life) -> list[tuple[str, str]]:
    """Return a cell per column; for several cycles, the issue, else the fetch, else what took most of them."""
    out = []
    for column in range(pipes.columns):
        begin = pipes.start + column * pipes.per - pipes.first
        part = life.cells[max(0, begin) : max(0, begin + pipes.per)]
        part = part[part != EMPTY]
        if not len(part):
            out.append((" ", "text"))
            continue
        code = next((int(strong) for strong in (ISSUED, FETCHED) if (part == strong).any()), None)
        if code is None:
            values, counts = np.unique(part, return_counts=True)
            code = int(values[counts.argmax()])
        out.append(_cell(scene, code))
    return out


def _cell(scene: Scene, code: int) -> tuple[str, str]:
    """Return the letter of a stage, or the glyph of the state that keeps the warp from issuing."""
    if code < FETCHED:
        look = scene.look(code)
        return look.glyph, "hi:" + look.role
    if code == REFUSED:
        return LETTERS[code], "hi:bank_conflict"
    return LETTERS[code], "st:issued" if code == ISSUED else "dim" if code in QUIET else "bold" if code in STRONG else "text"


def _legend(scene: Scene, width: int) -> Line:
    """Return the legend of the letters, as many as fit."""
    row = Row(width)
    legend = list(LEGEND)
    if scene.info.is_machine_code:
        place = legend.index((COLLECTING, "collects operands"))
        legend[place : place + 1] = OF_SUBCORE
    for code, word in legend:
        if row.x + len(word) + 4 > width:
            break
        row.add(" ").add(*_cell(scene, code)).add(f" {word} ", "dim")
    return row.line()


def _foot(scene: Scene, pipes: Pipes, at: int, width: int) -> Line:
    """Return the chosen instruction in words: where it is at the cursor, and whose results it reads."""

    row = Row(width)
    if at >= len(pipes.rows):
        return row.line()
    life = pipes.rows[at]
    row.add(f" w{pipes.warp}'s {ordinal(life.n)}", "bold")
    index = scene.cycle - pipes.first
    code = int(life.cells[index]) if 0 <= index < len(life.cells) else EMPTY
    if code < FETCHED:
        row.add(f": waits, {scene.look(code).name}", "text")
    elif code != EMPTY:
        row.add(f": {WORDS[code]}", "text")
    row.add(f", issued at {number(life.issue)}" if life.issue is not None else "", "dim")
    if life.producers:
        by: dict[int, list[str]] = {}
        for place, name in life.producers:
            by.setdefault(place, []).append(name)
        words = [f"{' '.join(names)} of its {ordinal(pipes.rows[place].n)}" for place, names in sorted(by.items())]
        row.add("; reads " + ", ".join(words), "text")
    return row.line()


PANEL = Panel(
    name="pipeline", title="PIPELINE", paint=render, is_alone=True, is_axis=True, enter="registers", facts=warps.facts,
    columns_of=columns_of, steps=("next_issue", "previous_issue"), hints=timeline.PANEL.hints,
    at=lambda scene, place, x, y: Hit(cycle=cycle_at(scene, place.width, x), double=("", ""), takes_focus=False),
    source="our assumption: until it issues, an instruction is in the states of its warp",
    columns=(
        ("row", "one execution of an instruction by the warp, numbered from 1", "our assumption"),
        ("F I C E M W", "fetch, issue, operand collection, execution, memory, write-back", "HC-RF section II"),
        ("C A R q", "of a sub-core: Control, Allocate, operand reads; or the queue of its unit", "MICRO'25 section 5.1"),
        ("▸ ◂", "the instruction whose result the chosen one reads; those that read its own",
         "our allocator's registers"),
    ),
)
