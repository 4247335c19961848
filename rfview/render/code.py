"""The CODE panel: the instructions around the focused warp's program counter, decoded or as PTX source."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from rfview.render.registers import lanes
from rfview.engine.state import NONE8
from rfview.engine.compilation import words_of_run
from rfview.render import machine_code
from rfview.render.lines import cells
from rfview.render.operation import compact_text, place_of, with_lines
from rfview.render.panel import REST, RIGHT, About, Facts, Grant, Hit, Panel, Place, Shape, Spot
from rfview.render.scene import BreakView, Scene
from rfview.render.text import Line, Row, cut, fill, title

if TYPE_CHECKING:
    from rfview.engine.info import Instruction
    from rfview.sessions.lines.table import LineTable

CODES = 54      # columns from which control codes are whole
BANKS = 84      # .. and registers per bank and PTX lines are shown, in so many cells
BANKS_CELLS = 16
NARROW = 30     # columns; below this, operands replace what is at the right end of a row


def _other_warps(scene: Scene) -> dict[int, int]:
    """Return pc -> number of unfinished warps that are there."""
    machine = scene.machine
    counts: dict[int, int] = {}
    for warp in range(machine.num_warps):
        if (machine.resident >> warp) & 1 and scene.look(machine.state[warp]).name != "finished":
            counts[machine.pc[warp]] = counts.get(machine.pc[warp], 0) + 1
    return counts


def _break_at(scene: Scene, pc: int) -> BreakView | None:
    return next((point for point in scene.breakpoints if point.pc == pc and point.kind != "source"), None)


def _glyph(point: BreakView) -> tuple[str, str]:
    """Return how a breakpoint is shown: ◎ once, ◉ on, ◌ off."""
    return "◎" if point.once else "◉" if point.enabled else "◌", "bad" if point.enabled else "dim"


def _mark(row: Row, point: BreakView | None, here: int) -> None:
    """Write, at the right end, how many warps are at this instruction and the breakpoint on it."""
    if here and row.width - row.x > 9:
        row.right(row.width - 4, f"{here}w", "faint")
    if point is not None:
        row.right(row.width - 2, *_glyph(point))


@lru_cache(maxsize=4)
def _items(table: LineTable) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the rows of the whole program, with source lines between instructions, and the row of each instruction.

    A row is a pc, or -1 - n for line n of the table, which precedes the instructions that come from it.
    """
    items: list[int] = []
    where: list[int] = []
    before = -1
    for pc, line in enumerate(table.filled.tolist()):
        if line != before and line >= 0:
            items.append(-1 - line)
        before = line
        where.append(len(items))
        items.append(pc)
    return tuple(items), tuple(where)


def _listing(scene: Scene, rows: int) -> list[int]:
    """Return the rows of the decoded view: pcs, and -1 - n for source line n; the next instruction in the upper third.

    If the first row would be an instruction whose source line is above it, that line takes its place.
    """
    machine = scene.machine
    count, pc = len(scene.info.program), machine.pc[scene.warp]
    if not scene.lines or not scene.code_lines:
        first = max(0, min(count - rows, pc - rows // 3 + scene.scroll))
        return list(range(first, min(count, first + rows)))
    items, where = _items(scene.lines)
    first = max(0, min(len(items) - rows, where[max(0, min(count - 1, pc + scene.scroll))] - rows // 3))
    shown = list(items[first : first + rows])
    line = scene.lines.filled[shown[0]] if shown and shown[0] >= 0 else -1
    if line >= 0 and len(shown) > 2 and first:
        shown[0] = -1 - int(line)
    return shown


def _line_row(scene: Scene, number: int, width: int, here: bool) -> Line:
    """Return a source line, with its heat if that has been counted."""
    table = scene.lines
    assert table is not None
    line = table.lines[number]
    role = "title" if here else "bold"
    row = Row(width).parts(*cells(scene, number))
    row.add(f"{f':{line.line}':>4} ", role)         # as in mm.cu:11; numbers alone are PTX lines
    text = table.source(line)
    shown = (text or "").expandtabs(4).strip() or line.text
    point = next((one for one in scene.breakpoints if one.kind == "source" and one.pc is not None
                  and table.number_at(one.pc) == number), None)
    room = width - row.x - (1 if point is None else 3)
    row.add(cut(shown, room), role)
    if point is not None:
        row.right(width - 1 if width < NARROW else width - 2, *_glyph(point))
    return row.line()


def decoded_lines(scene: Scene, width: int, rows: int) -> list[Line]:
    """Return decoded instructions with the source lines they come from, the focused warp's next one in the upper third."""
    machine = scene.machine
    program = scene.info.program
    pc = machine.pc[scene.warp]
    counts = _other_warps(scene)
    own = scene.lines.filled[pc] if scene.lines and pc < len(program) else -1
    lines = []
    for index in _listing(scene, rows):
        if index < 0:
            lines.append(_line_row(scene, -1 - index, width, -1 - index == own))
        else:
            lines.append(_decoded_row(scene, index, program, width, counts.get(index, 0)))
    return lines


def _decoded_row(scene: Scene, index: int, program: Sequence[Instruction], width: int, warps: int) -> Line:
    """Return one decoded instruction. warps: how many are there."""
    machine = scene.machine
    entry, pc = program[index], machine.pc[scene.warp]
    at = index == pc and (machine.resident >> scene.warp) & 1
    row = Row(width, "focus" if at else "")
    point = _break_at(scene, index)
    if scene.info.is_machine_code:
        return _machine_row(scene, row, index, bool(at), warps)
    row.add("▸" if at else " ", "bold").add(f"{entry.line:>{3 if width < NARROW else 4}}", "bold" if at else "faint")
    text = with_lines(entry.text, program)
    if width < NARROW:      # the mark replaces the blank; the operands get the rest
        row.add(*(_glyph(point) if point is not None else (" ", "text")))
        words, room = compact_text(text), width - row.x - 1
        row.add(cut(words if len(words) <= room else " ".join(words.split()), room),
                "bold" if at else "dim" if index < pc else "text")
        return row.line()
    room = width - row.x - 4
    shown = text if width >= 48 and len(text) <= room else compact_text(text)
    row.add(" ").add(shown[:room], "bold" if at else "dim" if index < pc else "text")
    _mark(row, point, warps if not at else 0)
    return row.line()


def _machine_row(scene: Scene, row: Row, pc: int, at: bool, warps: int) -> Line:
    """Return one machine instruction: address, control code, text, registers per bank, PTX line; what there is room for.

     ▸0350 B--2---:R-:W-:-:S04 FFMA R22, R9, R22.reuse, R25     2·1  PTX 115

    ▸ the focused warp's next instruction, ◉ breakpoints, "3w" how many other warps are there. If ptxas was given lines,
    those of CUDA C, Python or Triton (:10) precede their instructions, with their heat once LINES was opened. `p` switches
    between this, the PTX that it was compiled from, and instructions alone. Narrow: of the control code the counters waited
    for, › the one set, and the stall count.
    """
    entry, width = scene.info.program[pc], row.width
    role = "bold" if at else "dim" if scene.now is not None and pc < scene.now.pc[scene.warp] else "text"
    row.add("▸" if at else " ", "bold").add(machine_code.place(scene.info.program, pc), "bold" if at else "faint").add(" ")
    point = _break_at(scene, pc)
    end = width - 4
    if width >= CODES:
        machine_code.add_control(row, entry.control or 0)
        row.add(" ")
    elif width >= NARROW:
        machine_code.add_short_control(row, entry.control or 0)
        row.add(" ")
    else:
        row.add(*(_glyph(point) if point is not None else ("", "text")))
        machine_code.add_text(row, entry.text, width - row.x, role)
        return row.line()
    if width >= BANKS:
        end -= BANKS_CELLS
    machine_code.add_text(row, entry.text, end - row.x, role)
    if width >= BANKS:
        words = machine_code.banks(entry)
        row.to(end + 1).add(f"{words:<5}", "key" if int(words[:1] or 0) > 1 or int(words[-1:] or 0) > 1 else "faint")
        files = scene.info.ptx
        line = machine_code.ptx_lines(files[0].text).get(entry.line, 0) if files else 0
        row.add(f"PTX {line}" if line else "", "faint")
    _mark(row, point, warps if not at else 0)
    return row.line()


def source_lines(scene: Scene, width: int, rows: int) -> list[Line]:
    """Return PTX source lines, the one of the focused warp's next instruction in the upper third."""
    machine = scene.machine
    entry = machine.instruction(machine.pc[scene.warp])
    files = scene.info.ptx
    if not files:
        return [Row(width).add(" the session holds no source", "dim").line()]
    source = files[0].text.split("\n")
    here = entry.line if entry else 1
    pcs = {item.line: index for index, item in reversed(list(enumerate(scene.info.program)))}
    first = max(1, min(len(source) - rows + 1, here - rows // 3 + scene.scroll))
    lines = []
    for number in range(first, min(len(source) + 1, first + rows)):
        at = number == here and entry is not None
        row = Row(width, "focus" if at else "")
        row.add("▸" if at else " ", "bold").add(f"{number:>4} ", "bold" if at else "faint")
        text = source[number - 1].replace("\t", "  ").rstrip()
        room = width - row.x - 3
        row.add(text[:room], "bold" if at else "faint" if text.lstrip().startswith("//") else "text")
        _mark(row, _break_at(scene, pcs[number]) if number in pcs else None, 0)
        lines.append(row.line())
    return lines


def pc_at(scene: Scene, rows: int, y: int) -> int | None:
    """Return the pc drawn in row y of the decoded view (0 = title), for the mouse; None on a source line."""
    if scene.now is None or y < 1 or scene.code_source:
        return None
    shown = _listing(scene, rows)
    return shown[y - 1] if y - 1 < len(shown) and shown[y - 1] >= 0 else None


def render(scene: Scene, width: int, height: int) -> list[Line]:
    """Return the CODE panel.

     CODE w31  gemm.ptx
       :10 sum += alpha * A[i * nk + k]…
      115 ld.s  R20 [R10]
     ▸116 fma   R13 R12 R5 R9
      118 fma   R15 R16 R5 R13   ◉

    ▸ the focused warp's next instruction with its PTX line, ◉ breakpoints, "3w" how many other warps are there. If the PTX
    names them, lines of CUDA C, Python or Triton (:10) precede their instructions, with their heat once LINES was opened.
    `p` switches between this, the PTX source, and instructions alone. The title names the options with which the PTX was
    compiled, if any (`rfview help compile`).
    """
    focus = scene.panel == "code"
    files = scene.info.ptx
    path = files[0].path.rsplit("/", 1)[-1] if files else ""
    info = ("source" if width < NARROW else f"{path} source") if scene.code_source else path
    if words := words_of_run(scene.info.parameters):
        info = f"{info}  {words}"
    lines = [title(width, f"CODE w{scene.warp}", info, focus=focus)]
    if scene.now is not None and scene.warp < scene.now.num_warps and scene.info.program:
        painter = source_lines if scene.code_source else decoded_lines
        lines += painter(scene, width, height - 1)
    return fill(lines, width, height)


def scrolled(scene: Scene, by: int) -> Facts:
    """Move the cursor by a number of instructions."""
    count, pc = len(scene.info.program), scene.now.pc[scene.warp] if scene.now else 0
    return {"scroll": max(-pc, min(count - 1 - pc, scene.scroll + by))}


def hit(scene: Scene, place: Place, x: int, y: int) -> Hit:
    """Return the instruction clicked: a double click sets a breakpoint there."""
    pc = pc_at(scene, place.height - 1, y)
    return Hit(double=("break_here", str(pc)) if pc is not None else ("", ""))


def facts(scene: Scene) -> list[tuple[str, str]]:
    """Return the facts of the focused warp's next instruction."""
    machine = scene.machine
    pc = machine.pc[scene.warp]
    entry = machine.instruction(pc)
    if entry is None:
        return []
    rows = [(f"pc {pc}", f"{with_lines(entry.text, scene.info.program)}, {place_of(scene.info.program, pc)}")]
    for reg in dict.fromkeys(reg for reg in entry.src if reg != NONE8):
        rows.append((f"reads R{reg}", lanes(machine, scene.warp, reg, pc)))
    for reg in entry.dst:
        rows.append((f"writes R{reg}", f"now {lanes(machine, scene.warp, reg, pc)}"))
    here = [f"w{warp}" for warp in machine.resident_warps if machine.pc[warp] == pc and warp != scene.warp]
    rows.append(("also here", " ".join(here) or "no other warp"))
    return rows


PANEL = Panel(
    name="code", title="CODE", paint=render, overlaid="warp", facts=facts, terms="instruction", terms_first=True,
    move=scrolled, item=lambda scene, count: f"w{scene.warp}.pc", at=hit,
    spots={
        Shape.MEDIUM: Spot(RIGHT, 4, (Grant(6, 4, whole=True), Grant(9, REST))),
        Shape.NORMAL: Spot(RIGHT, 3, (Grant(1, 15), Grant(9, REST))),
        **dict.fromkeys((Shape.WIDE, Shape.TALL), Spot(RIGHT, 6, (Grant(9, REST),))),
    },
    source="PTX as compiled; registers by graph colouring, as many as in the papers' PTXPlus",
    columns=(
        ("PTX line", "the line in the PTX source; lines of CUDA C or Python stand above their instructions", "PTX"),
        ("registers", "destination, then sources: physical registers R0..R62 of a thread", "our allocator"),
    ),
    of_machine_code=About(
        _machine_row, "machine code and control codes as ptxas wrote them; the notation is that of maxas",
        (
            ("address", "of the instruction in its kernel, in hexadecimal: 16 bytes each", "nvdisasm"),
            ("control code", "B: dependence counters that it waits for; R, W: the counter that falls when its operands are "
             "read, when its results are written; Y: not in the next cycle, so that another warp may; S: cycles until "
             "the warp's next instruction",
             "MICRO'25 section 4"),
            (".reuse", "the operand stays in the reuse cache for the warp's next instruction", "MICRO'25 section 5.3.1"),
            ("2·1", "where there is room: registers that it reads in the even bank and in the odd one",
             "MICRO'25 section 5.3"),
            ("PTX", "the line of the PTX that it was compiled from", "ptxas -lineinfo"),
        ),
    ),
)
