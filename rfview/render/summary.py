"""The SUMMARY panel: what limited the run, in at most five sentences; below, its warp-cycles and the floors of its units."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rfview.render.panel import Hit, Panel, Place
from rfview.render.scene import Progress, Scene
from rfview.render.text import Line, Row, bar, blank, cut, fill, number, percent, progress, title, wrap

if TYPE_CHECKING:
    from rfview.sessions.summary.floors import Floor
    from rfview.sessions.summary.summarise import Sentence, Summary

WIDE = 100          # columns from which the tables are side by side
TABLES = 7          # rows that the tables need at least
INDENT = 5          # of a sentence's text
MARGIN = 16         # cells kept free to its right on a wide screen, for where Enter goes


def chosen(scene: Scene) -> int:
    """Return the index of the chosen sentence."""
    summary = scene.summary
    return 0 if summary is None or isinstance(summary, Progress) else max(0, min(len(summary.sentences) - 1, scene.sentence))


def render(scene: Scene, width: int, height: int) -> list[Line]:
    """Return the SUMMARY panel.

     SUMMARY  100 % = 4,684,312 resident warp-cycles, or 143,189 cycles
    ▸ 1  LD/ST limits this run: it needs 141,312 of the 143,189 cycles (98.7 %) ..
         only less of that work ends the run earlier
      2  mm.cu:11 sends 16.0 cache lines per access, where 1 would do ..      mm.cu:11

    The sentences are ranked by the share that each names; below each, what would lift it. j k choose one, Enter goes to the
    line or panel that it names. WARP-CYCLES: what resident warps did. FLOORS: the cycles that each unit needs at least. THE
    SAME KERNEL: this run among others that this session has made, as before an edit, and each one's fullest unit.
    """
    focus, summary = scene.panel == "summary", scene.summary
    if summary is None or isinstance(summary, Progress):
        return fill([title(width, "SUMMARY", focus=focus), *_missing(scene, summary, width)], width, height)
    until = "" if summary.ended else "  so far"
    info = f"100 % = {number(summary.resident)} resident warp-cycles, or {number(summary.cycles)} cycles{until}"
    lines = [title(width, "SUMMARY", info, focus=focus), blank(width)]
    lines, is_whole = _sentences(scene, summary, width, lines, height - 1 - bool(summary.runs))
    if not is_whole or height < len(lines) + TABLES:
        floors = ", ".join(f"{floor.unit} {percent(floor.cycles, summary.cycles)}" for floor in summary.floors)
        rows = [Row(width).add(" floors ", "bold").add(cut(f"of the cycles: {floors}", width - 9), "dim").line()]
        if summary.runs:
            runs = ", ".join(f"{run.name} {number(run.cycles)}" for run in summary.runs)
            ended = cut(f"that have ended: {runs} cycles", width - 7)
            rows.append(Row(width).add(" runs ", "bold").add(ended, "dim").line())
        return [*fill(lines, width, height - len(rows)), *rows]
    last = _runs(scene, summary, width)
    last = last if height - len(lines) >= TABLES + len(last) else []
    return fill([*lines, *_tables(scene, summary, width, height - len(lines) - len(last)), *last], width, height)


def _sentences(scene: Scene, summary: Summary, width: int, above: list[Line], height: int) -> tuple[list[Line], bool]:
    """Return rows above with the sentences below, in as much detail as there is room, and whether that is all of it.

    With less room the sentences that are not chosen lose their source line, then what would lift them; the chosen one stays.
    """
    for details, gaps in ((2, True), (2, False), (1, False), (0, False)):
        lines = list(above)
        for index, sentence in enumerate(summary.sentences):
            is_chosen = index == chosen(scene)
            lines += _sentence(sentence, index, is_chosen, width, 2 if is_chosen else details)
            lines += [blank(width)] * gaps
        if len(lines) <= height:
            break
    return lines, gaps


def _missing(scene: Scene, summary: Progress | None, width: int) -> list[Line]:
    """Return what is said in place of sentences."""
    if summary is not None and summary.error:
        return [Row(width).add(" ").add(cut(summary.error, width - 2), "bad").line()]
    if summary is not None:
        share = percent(summary.done, summary.total, 0)
        return [Row(width).add(f" counting who waited for whom  {progress(summary.done, summary.total, 20)}  {share}",
                               "dim").line()]
    return [Row(width).add(" nothing has run yet" if scene.last <= scene.first else " counting who waited for whom",
                           "dim").line()]


def _sentence(sentence: Sentence, index: int, is_chosen: bool, width: int, details: int) -> list[Line]:
    """Return a sentence's rows: itself, with the place to which Enter goes, then what would lift it, and the source.

    details: how many of these two.
    """
    ground, room = "focus" if is_chosen else "", width - INDENT - 2 - (MARGIN if width >= WIDE else 0)
    texts, lifts = (wrap(text.replace("%", "\u00a0%"), room) for text in (sentence.text, sentence.lift))
    row = Row(width, ground).add(f"{'▸' if is_chosen else ' '} {index + 1}  ", "bold")
    row.add(texts[0].replace("\u00a0", " "), "bold" if is_chosen else "text")
    lines = [row.right(width - 1, goes_to(sentence), "key" if is_chosen else "faint").line()]
    lines += [Row(width, ground).to(INDENT).add(text.replace("\u00a0", " "), "bold" if is_chosen else "text").line()
              for text in texts[1:]]
    if details:
        lines += [Row(width, ground).to(INDENT).add(text.replace("\u00a0", " "), "good").line() for text in lifts]
    if sentence.source and details > 1:
        lines.append(Row(width, ground).to(INDENT).add(cut(f"{sentence.place}  {sentence.source}", width - INDENT - 1),
                                                       "dim").line())
    return lines


def goes_to(sentence: Sentence) -> str:
    """Return where Enter goes from a sentence, as text."""
    return sentence.place or TITLES.get(sentence.opens, "")


TITLES = {"relief": "RELIEF", "registers": "REGISTERS", "stalls": "STALLS", "lens": "REGISTER FILE", "code": "CODE"}


def _tables(scene: Scene, summary: Summary, width: int, height: int) -> list[Line]:
    """Return the states of resident warps and the floors, side by side if there is room."""
    if width < WIDE:
        half = max(TABLES - 2, height - 1 - len(summary.floors))
        return [*_states(scene, summary, width, half), *_floors(summary.floors, summary.cycles, width, height - half)]
    left = width // 2 - 1
    rows = zip(_states(scene, summary, left, height), _floors(summary.floors, summary.cycles, width - left - 2, height),
               strict=True)
    return [Row(width).join(one).add("  ").join(other).line() for one, other in rows]


def _states(scene: Scene, summary: Summary, width: int, height: int) -> list[Line]:
    """Return the warp-cycles of resident warps by state, the most first."""
    looks = {look.name: look for look in scene.looks.values()}
    lines = [title(width, "WARP-CYCLES", "of resident warps", right=number(summary.resident))]
    rows = list(summary.states.items())
    shown = rows if len(rows) < height else rows[: max(0, height - 2)]
    top = max(summary.states.values(), default=1)
    for name, count in shown:
        look = looks.get(name)
        row = Row(width).add(" ").add(look.glyph if look else "?", f"st:{look.role}" if look else "text").add(f" {name:<18}")
        row.add(f"{number(count):>12}{percent(count, summary.resident):>8} ", "text")
        lines.append(row.add(bar(count, top, max(0, width - row.x - 1)), f"fg:{look.role}" if look else "dim").line())
    if len(shown) < len(rows):
        rest = sum(count for _, count in rows[len(shown) :])
        text = f"{f'{len(rows) - len(shown)} others':<18}{number(rest):>12}{percent(rest, summary.resident):>8}"
        lines.append(Row(width).to(3).add(text, "dim").line())
    return fill(lines, width, height)


def _floors(floors: Sequence[Floor], cycles: int, width: int, height: int) -> list[Line]:
    """Return the cycles that each unit needs at least, and for what work."""
    lines = [title(width, "FLOORS", "cycles that each unit needs at least", right="of the run")]
    has_work = height > 2 * len(floors)
    for floor in floors:
        row = Row(width).add(f" {floor.unit:<18}", "text").add(f"{number(floor.cycles):>12} ", "text")
        row.add(bar(floor.cycles, cycles, max(0, width - row.x - 10)), "dim")
        lines.append(row.right(width - 1, percent(floor.cycles, cycles), "text").line())
        if has_work:
            lines.append(Row(width).to(3).add(cut(floor.what, width - 4), "faint").line())
    return fill(lines, width, height)


def _runs(scene: Scene, summary: Summary, width: int) -> list[Line]:
    """Return this run among the last ones of the same kernel, () if it is the only one."""
    if not summary.runs:
        return []
    key = scene.key("compare") if scene.branch else ""
    names, machines = (16, 28) if width >= WIDE else (10, 20)
    right = f"{key} compares with its parent" if key else ""
    lines = [blank(width), title(width, "THE SAME KERNEL", "its last runs", right=right)]
    for run in summary.runs:
        row = Row(width).add(f" {cut(run.name, names):<{names + 1}}", "bold" if run.is_this else "text")
        row.add(f"{cut(run.machine, machines):<{machines + 1}}", "text").add(f"{number(run.cycles):>11} ", "text")
        row.add(f"{run.change(summary.cycles).replace('-', '−'):>10}  ", "dim")
        lines.append(row.add(cut(f"{run.unit} {100 * run.filled:.1f} %", max(0, width - row.x - 1)), "dim").line())
    return lines


def sentence_at(scene: Scene, width: int, height: int, y: int) -> int | None:
    """Return the index of the sentence in row y of the panel, for the mouse; None if there is none."""
    lines, found = render(scene, width, height), None
    for line in lines[2 : y + 1]:
        if line.plain[2:3].isdecimal():
            found = int(line.plain[2]) - 1
        elif not line.plain.strip() or line.ground == "band":
            found = None
    return found


def hit(scene: Scene, place: Place, x: int, y: int) -> Hit:
    """Return the sentence clicked: a double click goes where it says."""
    found = sentence_at(scene, place.width, place.height, y)
    return Hit({"sentence": found}, double=("open_sentence", "")) if found is not None else Hit(double=("", ""))


PANEL = Panel(
    name="summary", title="SUMMARY", paint=render, is_alone=True, enter="open_sentence", columns_of=lambda width: 1, at=hit,
    item=lambda scene, count: "sm.events", move=lambda scene, by: {"sentence": max(0, chosen(scene) + by)},
    hints=("down", "open", "close", "step", "relief", "lines", "why", "help"),
    source="the rules and their thresholds with reasons: `rfview help summary`",
    columns=(
        ("WARP-CYCLES", "cycles of warps that were resident, by what each did in them", "our assumption: one state per warp "
         "and cycle"),
        ("FLOORS", "the cycles that a unit's work takes if it is never idle, from counts alone",
         "roofline; Williams et al., CACM 2009"),
    ),
)
