"""The WARPS panel: what each warp did in this cycle, what it waits for, and its last cycles."""

from __future__ import annotations

from rfview.engine.wording import plural
from rfview.engine.stalls import NO_WARP
from rfview.render import slots
from rfview.render.operation import operation, place_of, waits_for
from rfview.render.overlay import lay_over_warp
from rfview.render.panel import LEFT, REST, About, Grant, Hit, Panel, Place, Shape, Spot
from rfview.render.scene import Scene
from rfview.render.text import Line, Row, blank, fill, list_row, title, visible_from

CALM = frozenset({"suspended", "finished", "no_cta", "long_scoreboard", "not_selected"})
DIM_REASON = frozenset({"long_scoreboard", "not_selected", "suspended", "wait"})


def run_cells(scene: Scene, codes: list[int], *, now_last: bool, loud: bool = True) -> list[tuple[str, str]]:
    """Return a series of states: each is its glyph, then a line, `─` ordinary, `━` register file.

    now_last: the last cell is this cycle and is drawn as such. loud: the first cell of a register-file state is solid.
    """
    cells = []
    before = -1
    for index, code in enumerate(codes):
        look = scene.look(code)
        is_now = now_last and index == len(codes) - 1
        starts = code != before
        if starts or is_now or look.name == "issued" or look.name in NO_WARP:
            glyph = look.glyph
        else:
            glyph = "━" if look.is_register_file else "─"
        solid = is_now or (loud and starts and look.is_register_file)
        cells.append((glyph, ("st:" if solid else "hi:") + look.role))
        before = code
    return cells


def warp_row(scene: Scene, warp: int, width: int) -> Line:
    """Return one warp in `width` cells: id, state, operation, what it waits for, and the history that fits.

    History in 13 cells: 2 cycles. 18: 7. 20: 8. From 28: what it waits for is shown, too; from 60: also the state's name.
    """
    if scene.over is not None:
        return lay_over_warp(scene, warp, width, warp_row)
    machine = scene.machine
    code = machine.state[warp]
    look = scene.look(code)
    focus = warp == scene.warp
    changed = scene.before is not None and scene.before.state[warp] != code
    base = "bold" if focus else "dim" if look.name in CALM else "text"
    row = list_row(width, focus)
    row.add(f"{warp:>2}", base).to(4).add(look.glyph, "st:" + look.role).to(6)
    past = 2 if width < 18 else 7 if width < 20 else 8 + max(0, width - 30)
    if width >= 60:
        past = width - 36
    if look.name in NO_WARP:
        row.add("" if width < 28 else look.name, "faint")
    else:
        _words(row, scene, warp, width, base, changed)
    if width >= 28:
        past = min(past, width - 2 - row.x)     # "R48 in 15" and a blank before the history
    codes = scene.window[-past:, warp].tolist() if scene.window.size else []
    row.to(width - past - 1 + (width < 18) + (past - len(codes)))
    row.cells(run_cells(scene, codes, now_last=width >= 18, loud=width >= 60))
    return row.line()


def _words(row: Row, scene: Scene, warp: int, width: int, base: str, changed: bool) -> None:
    """Write the operation and, if there is room, the state's name and what the warp waits for."""
    machine = scene.machine
    look = scene.look(machine.state[warp])
    issued = look.name == "issued"
    op = operation(machine, machine.last_pc[warp] if issued else machine.pc[warp])
    room = 4 if width < 28 else 5
    row.add(op[:room], "changed" if issued else base).to(6 + room)
    if width < 28:
        return
    at = 12
    if width >= 60:
        row.at(12, look.short, base)
        at = 21
    focus = warp == scene.warp
    role = "dim" if look.name in DIM_REASON and not focus else "fg:" + look.role
    row.at(at, waits_for(scene, warp)[:9], role + ("+u" if changed and not issued else ""))


def scheduler_name(scene: Scene, parity: int) -> str:
    """Return "even · scheduler 0" if there are two schedulers, "even · sub-cores 0, 2" if there are four, else "even"."""
    name = ("even", "odd")[parity]
    count = scene.now.num_schedulers if scene.now else 1
    if count == 4 and scene.info.is_machine_code:
        return f"{name} · sub-cores {parity}, {parity + 2}"
    return f"{name} · scheduler {parity}" if count == 2 else name


def arrangement(num_warps: int, width: int, height: int) -> tuple[str, int]:
    """Return how warps are laid out, and in how many columns: ("single", 1), ("columns", 2) or ("stacked", blocks).

    single: all even, then all odd, one below the other. columns: even left, odd right. stacked: even above odd, each in
    blocks side by side.
    """
    half = -(-num_warps // 2)
    if height >= 2 * half + 2 and width >= 70:
        return "single", 1
    if height >= half + 1 and width >= 40:
        return "columns", 2
    rows = max(1, (height - 2) // 2)
    blocks = max(1, min(width // 13, -(-half // rows)))
    return "stacked", blocks


def render(scene: Scene, width: int, height: int) -> list[Line]:
    """Return the WARPS panel.

     WARPS  even · scheduler 0  now odd · scheduler 1        now
      0 ↓ rcp   B 8 left L──↓━━━↓   1 L bar   R12 miss L──────L
      2 L rcp   R22 miss L──────L   3 L fma   R15 miss L──────L
     12 █ fma   R13      ███w████  13 L fma   R15 miss ███x█p█L
     30 ▼ st.g  STT 0    L──────▼ ▸31 ↓ fma   B 8 left ↓━━━━━━↓

     32–47  empty: 4 CTAs of 8 warps fill the registers

    Each row: warp, state, operation in the instruction buffer, what it waits for, the last cycles (eight or more), the
    current one last. Green blocks are issued instructions; dim rows wait for memory or their turn, or are not active.
    Underlined: changed in this cycle.
    """
    focus = scene.panel == "warps"
    if scene.now is None:
        return fill([title(width, "WARPS", focus=focus)], width, height)
    count = slots.shown(scene)
    empty = slots.empty_words(scene, width - 1)
    kind, blocks = arrangement(count, width, height - bool(empty))
    halves = [list(range(0, count, 2)), list(range(1, count, 2))]
    if kind == "single":
        lines = [_single_title(scene, width, focus)]
        lines += [warp_row(scene, warp, width) for warp in halves[0]]
        lines.append(Row(width, "band").add(f" {scheduler_name(scene, 1)}", "tinfo").line())
        lines += [warp_row(scene, warp, width) for warp in halves[1]]
    elif kind == "columns":
        cell = width // 2
        lines = [_pair_title(scene, width, cell, focus)]
        rows = len(halves[0])
        room = height - 1 - bool(empty)
        first = visible_from(scene.warp // 2, rows, room)
        for index in range(first, min(rows, first + room)):
            lines.append(_beside([halves[0][index : index + 1], halves[1][index : index + 1]], scene, cell, width))
    else:
        lines = _stacked(scene, width, height - bool(empty), halves, blocks, focus)
    if empty:
        lines.append(Row(width).add(f" {empty}", "faint").line())
    return fill(lines, width, height)


def _beside(groups: list[list[int]], scene: Scene, cell: int, width: int) -> Line:
    """Return warps side by side, one per group; an empty group leaves its cells blank."""
    row = Row(width)
    ground_row = []
    for group in groups:
        line = warp_row(scene, group[0], cell) if group else blank(cell)
        for text, role in line.spans:
            ground_row.append((text, role if not line.ground else f"{role}~{line.ground}"))
    return row.parts(*ground_row).line()


def _stacked(scene: Scene, width: int, height: int, halves: list[list[int]], blocks: int, focus: bool) -> list[Line]:
    """Return even above odd warps, each in `blocks` columns."""
    cell = width // blocks
    rows = max(1, (height - 2) // 2)
    lines: list[Line] = []
    for parity, half in enumerate(halves):
        name = scheduler_name(scene, parity)
        heading = title(width, "WARPS", name, focus=focus)
        lines.append(heading if not parity else Row(width, "band").to(8).add(name, "tinfo").line())
        need = -(-len(half) // blocks)
        show = min(rows, need)
        first = visible_from((scene.warp // 2) % need if scene.warp % 2 == parity else 0, need, show)
        for index in range(first, first + show):
            lines.append(_beside([half[block * need + index : block * need + index + 1][: 1 if index < need else 0]
                                  for block in range(blocks)], scene, cell, width))
    return lines


def _pair_title(scene: Scene, width: int, cell: int, focus: bool) -> Line:
    """Return the title over two columns."""
    names = [scheduler_name(scene, 0), scheduler_name(scene, 1)] if cell >= 30 else ["even", "odd"]
    row = Row(width, "band").add("▌" if focus else " ", "title").add("WARPS", "title").at(8, names[0], "tinfo")
    row.right(cell if cell >= 30 else cell - 1, "now", "tinfo").at(cell + 2, names[1], "tinfo")
    return row.right(width - 1, "now", "tinfo").line()


def _single_title(scene: Scene, width: int, focus: bool) -> Line:
    """Return the title over one column."""
    row = Row(width, "band").add("▌" if focus else " ", "title").add("WARPS", "title")
    row.at(8, scheduler_name(scene, 0), "tinfo").at(36, f"last {width - 36} cycles", "tinfo")
    return row.right(width - 1, "now", "tinfo").line()


def warp_at(scene: Scene, width: int, height: int, x: int, y: int) -> int | None:
    """Return the warp drawn at a place inside the panel, for the mouse; None for titles and blanks."""
    if scene.now is None or y < 1:
        return None
    count = slots.shown(scene)
    height -= count < scene.now.num_warps
    half = -(-count // 2)
    kind, blocks = arrangement(count, width, height)
    if kind == "single":
        index = y - 1 if y <= half else y - 2
        warp = (2 * index if y <= half else 2 * (index - half) + 1) if y != half + 1 else -1
    elif kind == "columns":
        first = visible_from(scene.warp // 2, half, height - 1)
        warp = 2 * (first + y - 1) + min(1, x // (width // 2))
    else:
        rows = max(1, (height - 2) // 2)
        need = -(-half // blocks)
        show = min(rows, need)
        parity, index = (0, y - 1) if y <= show else (1, y - show - 2)
        first = visible_from((scene.warp // 2) % need if scene.warp % 2 == parity else 0, need, show)
        block = min(blocks - 1, x // (width // blocks))
        warp = 2 * (block * need + first + index) + parity if 0 <= index < show else -1
    return warp if 0 <= warp < count else None


def hit(scene: Scene, place: Place, x: int, y: int) -> Hit:
    """Return the warp clicked."""
    warp = warp_at(scene, place.width, place.height, x, y)
    return Hit({"warp": warp, "scroll": 0} if warp is not None else {}, double=("", ""))


def facts(scene: Scene) -> list[tuple[str, str]]:
    """Return the facts of the focused warp."""
    machine = scene.machine
    warp = scene.warp
    rows = [(f"w{warp}", f"at cycle {machine.cycle:,}")]
    if not machine.resident >> warp & 1:
        return [*rows, ("holds", "no warp")]
    look, since = scene.look(machine.state[warp]), machine.since[warp]
    rows.append(("state", f"{look.glyph} {look.name}, since {since:,}, {plural(max(0, machine.cycle - since), 'cycle')}"))
    if look.name not in ("issued", "not_selected"):
        rows.append(("waits for", waits_for(scene, warp) or "nothing named"))
    entry = machine.instruction(machine.pc[warp])
    if entry is not None:
        rows.append(("next", f"{entry.text}, {place_of(scene.info.program, entry.pc)}"))
    record = machine.sm["warp"][warp]
    active, paths = int(record["mask"]).bit_count(), int(record["num_splits"])
    rows.append(("threads", f"{active} of 32 active" + (f", the warp is in {paths} paths" if paths > 1 else "")))
    cta = machine.sm["cta"][machine.cta[warp]]
    rows.append(("CTA", f"{int(cta['id'])}, its warp {int(record['warp_in_cta'])} of {int(cta['num_warps'])}"))
    last = int(record["last_issue_cycle"])
    count = plural(int(record["num_issued"]), "instruction")
    rows.append(("issued", f"{count}, the last in {last:,}" if last >= 0 else count))
    return rows


PANEL = Panel(
    name="warps", title="WARPS", paint=render, enter="registers", facts=facts, terms="state", terms_first=True, at=hit,
    spots={
        Shape.NARROW: Spot(LEFT, 1, (Grant(1, REST),)),
        Shape.MEDIUM: Spot(LEFT, 1, (Grant(1, 25), Grant(9, REST))),
        Shape.LOW: Spot(LEFT, 1, (Grant(1, REST),)),
        Shape.NORMAL: Spot(LEFT, 1, (Grant(1, lambda content: -(-content.slots // 2) + 2, leaves=7),)),     # two in a row
        Shape.WIDE: Spot(LEFT, 1, (Grant(1, REST),)),
        Shape.TALL: Spot(LEFT, 1, (Grant(1, lambda content: content.slots + 3),)),
    },
    source="HRF Table 3: 48 warps; HC-RF Table III: two schedulers, by parity of the warp",
    columns=(
        ("id", "the warp slot; even ones belong to scheduler 0, odd ones to scheduler 1", "HC-RF Table III"),
        ("state", "the glyph of what the warp did in the previous cycle", "`rfview help stalls` has each state's source"),
        ("operation", "the next instruction to issue, from the instruction buffer", "our assumption: 2 per warp"),
        ("waits for", "the register, unit, bank or buffer that blocks it", "our assumption: the first of several"),
        ("now", "history: one cell per cycle, the current one last", "our assumption: a run is its glyph, then a line"),
    ),
    of_machine_code=About(
        render, "the preset: 32 to 64 warps of an SM; MICRO'25 section 5: four sub-cores, a scheduler each",
        (
            ("id", "the warp slot; warp w is on sub-core w % 4", "RULES.md B11.2"),
            ("state", "the glyph of what the warp did in the previous cycle",
             "`rfview help stalls` has each state's source"),
            ("operation", "the next instruction to issue, from the instruction buffer", "MICRO'25 section 5.2: 3 per warp"),
            ("waits for", "the stall count's cycles, the dependence counter and who holds it, or the unit that blocks it",
             "MICRO'25 section 4; our assumption: the first of several"),
            ("now", "history: one cell per cycle, the current one last", "our assumption: a run is its glyph, then a line"),
        ),
    ),
)
