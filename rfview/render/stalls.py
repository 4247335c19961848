"""The STALLS panel and its short form NOW: how many warps are in each state, now and over the last cycles."""

from __future__ import annotations

from rfview.engine.stalls import NO_WARP
from rfview.engine.wording import plural
from rfview.render.panel import LEFT, REST, RIGHT, Grant, Panel, Shape, Spot
from rfview.render.scene import RATE_WINDOW, Scene
from rfview.render.text import Line, Row, bar, fill, percent, title

LEAST = 6       # rows: a title, four states, the others


def _states_of(scene: Scene) -> list[int]:
    """Return the state codes that have a name in this session, in table order."""
    return sorted(scene.looks)


def render_now(scene: Scene, width: int, height: int) -> list[Line]:
    """Return the census: every state that some warp is in, three to a row.

     NOW  48 warps
     █ issued   2 ○ not_sel  4 L long    26
     B barrier  2 x bank     1 ▼ stt      1
    """
    if scene.now is None:
        return fill([title(width, "NOW")], width, height)
    count = scene.now.count
    before = scene.before.count if scene.before else count
    lines = [title(width, "NOW", f"{scene.now.num_warps} warps", focus=scene.panel == "stalls")]
    present = [code for code in _states_of(scene) if code < len(count) and count[code]]
    cell = (width - 1) // 3
    for start in range(0, len(present), 3):
        row = Row(width)
        for column, code in enumerate(present[start : start + 3]):
            look, number = scene.look(code), str(count[code])
            part = Row(cell - 1).add(look.glyph, f"st:{look.role}").add(" ")
            part.add(look.short[: cell - 4 - len(number)], "text")
            part.right(cell - 1, number, "bold" if count[code] == before[code] else "changed")
            row.to(1 + column * cell).join(part.line())
        lines.append(row.line())
    return fill(lines, width, height)


def render(scene: Scene, width: int, height: int) -> list[Line]:
    """Return the STALLS panel.

     STALLS  now    last 1,024 cycles
     █ issued            2 ▊         4.2 %
     L long_scoreboard  26 ████████ 44.1 %
       7 others          6 █▉       10.4 %

    First number: warps in that state in this cycle. Bar and share: of the warp-cycles of resident warps in the window. The
    rows are the run's most common states and stay in place. With too few rows for one per state, the census NOW is shown.
    """
    focus = scene.panel == "stalls"
    if scene.now is None or width < 30 or height < LEAST:
        return render_now(scene, width, height) if scene.now else fill([title(width, "STALLS", focus=focus)], width, height)
    cycles = scene.shares_cycles
    window = f"last {plural(min(cycles, RATE_WINDOW), 'cycle')}" if cycles else "no cycle yet"
    if width < 36:
        lines = [title(width, "STALLS", focus=focus, right=f"now  {window.removesuffix(' cycles')}")]
    else:
        lines = [title(width, "STALLS", f"now    {window}", focus=focus)]
    present = [code for code in _states_of(scene) if _total(scene, code) or scene.now.count[code]]
    rows = height - 1
    if len(present) <= rows:
        chosen, others = present, []
    else:
        keep = [code for code in scene.common if code in scene.looks][: max(1, rows - 1)]
        for code in present:
            if len(keep) < rows - 1 and code not in keep:
                keep.append(code)
        chosen = sorted(keep)
        others = [code for code in present if code not in chosen]
    total = sum(_resident(scene, code) for code in range(len(scene.shares))) or 1
    entries = [(scene.look(code), scene.now.count[code],
                -1 if scene.look(code).name in NO_WARP else _total(scene, code)) for code in chosen]
    top = max([share for _, _, share in entries] + [sum(_resident(scene, code) for code in others), 1])
    for look, now, share in entries:
        lines.append(_entry(width, look.glyph, "st:" + look.role, look.name, now, share, top, total, "fg:" + look.role))
    if others:
        now, share = sum(scene.now.count[c] for c in others), sum(_resident(scene, c) for c in others)
        word = plural(len(others), "other")
        lines.append(_entry(width, " ", "text", word, now, share, top, total, "faint"))
    return fill(lines, width, height)


def _total(scene: Scene, code: int) -> int:
    return int(scene.shares[code]) if code < len(scene.shares) else 0


def _resident(scene: Scene, code: int) -> int:
    """Return the window's warp-cycles in a state; none in states of slots without a running warp."""
    return 0 if scene.look(code).name in NO_WARP else _total(scene, code)


def _entry(width: int, glyph: str, glyph_role: str, name: str, now: int, share: int, top: int, total: int,
           hue: str) -> Line:
    """Return one row: glyph, name, warps now, bar, share; a dash for a share of -1: it is not of resident warps."""
    row = Row(width).add(" ").add(glyph, glyph_role).add(" ").add(name[:17], "text" if glyph != " " else "dim")
    row.right(22, str(now), "bold" if now else "faint").to(23)
    room = max(2, min(width - 23 - 9, 40))
    return row.add(bar(share, top, room), hue).right(width - 1, percent(share, total) if share >= 0 else "–", "text").line()


def facts(scene: Scene) -> list[tuple[str, str]]:
    """Return the facts of all warps: how many are in each state now."""
    machine = scene.machine
    rows = [("warps now", f"of {machine.num_warps} slots")]
    for code, count in enumerate(machine.count):
        if count:
            look = scene.look(code)
            rows.append((f"{look.glyph} {look.name}", str(count)))
    return rows


PANEL = Panel(
    name="stalls", title="STALLS", paint=render, overlaid="machine", facts=facts, terms="states",
    spots={
        Shape.NARROW: Spot(RIGHT, 3, (Grant(1, 4), Grant(2, 6))),
        Shape.MEDIUM: Spot(LEFT, 2, (Grant(2, 9, whole=True), Grant(8, REST))),
        Shape.NORMAL: Spot(RIGHT, 4, beside=34),      # of CODE
        **dict.fromkeys((Shape.WIDE, Shape.TALL), Spot(RIGHT, 4, (Grant(3, 7), Grant(4, 12, halves=True)))),
    },
    source="our assumption: one state per warp slot and cycle; names as in Nsight Compute",
    columns=(
        ("now", "warps in that state in this cycle", "our assumption: one state per warp and cycle"),
        ("share", "warp-cycles in it, of those of resident warps in the window", "our assumption: 1,024 cycles"),
    ),
)
