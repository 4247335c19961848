"""The CODE panel: the instructions around the focused warp's program counter, decoded or as PTX source."""

from __future__ import annotations

from rfview.engine.compilation import words_of_run
from rfview.render.operation import compact_text, with_lines
from rfview.render.scene import BreakView, Scene
from rfview.render.text import Line, Row, cut, fill, title

NARROW = 30     # columns: below, what stands at the right end of a row gives way to operands


def _other_warps(scene: Scene) -> dict[int, int]:
    """Return pc -> number of unfinished warps that stand there."""
    machine = scene.now
    assert machine is not None
    counts: dict[int, int] = {}
    for warp in range(machine.num_warps):
        if (machine.resident >> warp) & 1 and scene.look(machine.state[warp]).name != "finished":
            counts[machine.pc[warp]] = counts.get(machine.pc[warp], 0) + 1
    return counts


def _break_at(scene: Scene, pc: int) -> BreakView | None:
    return next((point for point in scene.breakpoints if point.pc == pc), None)


def _glyph(point: BreakView) -> tuple[str, str]:
    """Return how a breakpoint is shown: ◎ once, ◉ on, ◌ off."""
    return "◎" if point.once else "◉" if point.enabled else "◌", "bad" if point.enabled else "dim"


def _mark(row: Row, point: BreakView | None, here: int) -> None:
    """Write, at the right end, how many warps stand at this instruction and the breakpoint on it."""
    if here and row.width - row.x > 9:
        row.right(row.width - 4, f"{here}w", "faint")
    if point is not None:
        row.right(row.width - 2, *_glyph(point))


def decoded_lines(scene: Scene, width: int, rows: int) -> list[Line]:
    """Return decoded instructions, the focused warp's next one in the upper third."""
    machine = scene.now
    assert machine is not None
    program = scene.info.get("program", ())
    pc = machine.pc[scene.warp]
    counts = _other_warps(scene)
    first = max(0, min(len(program) - rows, pc - rows // 3 + scene.scroll))
    lines = []
    for index in range(first, min(len(program), first + rows)):
        entry = program[index]
        at = index == pc and (machine.resident >> scene.warp) & 1
        row = Row(width, "focus" if at else "")
        point = _break_at(scene, index)
        row.add("▸" if at else " ", "bold").add(f"{entry['line']:>{3 if width < NARROW else 4}}", "bold" if at else "faint")
        text = with_lines(str(entry["text"]), program)
        if width < NARROW:      # the mark takes the blank, the operands have the rest
            row.add(*(_glyph(point) if point is not None else (" ", "text")))
            words, room = compact_text(text), width - row.x - 1
            row.add(cut(words if len(words) <= room else " ".join(words.split()), room),
                    "bold" if at else "dim" if index < pc else "text")
            lines.append(row.line())
            continue
        room = width - row.x - 4
        shown = text if width >= 48 and len(text) <= room else compact_text(text)
        row.add(" ").add(shown[:room], "bold" if at else "dim" if index < pc else "text")
        _mark(row, point, counts.get(index, 0) if not at else 0)
        lines.append(row.line())
    return lines


def source_lines(scene: Scene, width: int, rows: int) -> list[Line]:
    """Return PTX source lines, the one of the focused warp's next instruction in the upper third."""
    machine = scene.now
    assert machine is not None
    entry = machine.instruction(machine.pc[scene.warp])
    files = scene.info.get("ptx", ())
    if not files:
        return [Row(width).add(" the session holds no PTX source", "dim").line()]
    source = str(files[0]["text"]).split("\n")
    here = int(entry["line"]) if entry else 1
    pcs = {int(item["line"]): index for index, item in reversed(list(enumerate(scene.info.get("program", ()))))}
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
    """Return the pc drawn in row y of the decoded view (0 = title), for the mouse."""
    if scene.now is None or y < 1 or scene.code_source:
        return None
    count = len(scene.info.get("program", ()))
    first = max(0, min(count - rows, scene.now.pc[scene.warp] - rows // 3 + scene.scroll))
    pc = first + y - 1
    return pc if 0 <= pc < count else None


def render(scene: Scene, width: int, height: int) -> list[Line]:
    """Return the CODE panel.

     CODE w31  gemm.ptx
      115 ld.s  R20 [R10]
     ▸116 fma   R13 R12 R5 R9
      118 fma   R15 R16 R5 R13   ◉

    ▸ the focused warp's next instruction with its PTX line, ◉ breakpoints, "3w" how many other warps stand there. `p`
    turns between decoded instructions with physical registers and the PTX source. The title names the options with which
    the PTX was compiled, if any (`rfview help compile`).
    """
    focus = scene.panel == "code"
    files = scene.info.get("ptx", ())
    path = str(files[0]["path"]).rsplit("/", 1)[-1] if files else ""
    info = ("source" if width < NARROW else f"{path} source") if scene.code_source else path
    if words := words_of_run(scene.info.get("parameters", {})):
        info = f"{info}  {words}"
    lines = [title(width, f"CODE w{scene.warp}", info, focus=focus)]
    if scene.now is not None and scene.warp < scene.now.num_warps and scene.info.get("program"):
        painter = source_lines if scene.code_source else decoded_lines
        lines += painter(scene, width, height - 1)
    return fill(lines, width, height)
