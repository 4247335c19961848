"""RELIEF: what would make the whole run end earlier, beside the highest floor and what nudged runs do by chance."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rfview.engine.batch import nudge
from rfview.engine.plugin.assumed import ASSUMED
from rfview.engine.wording import energy_text, ordinal, signed
from rfview.render.scene import Scene
from rfview.render.text import Line, Row, blank, cut, fill, hint_row, number, progress, title, wrap
from rfview.sessions.branches.relief import MAX_LATER

if TYPE_CHECKING:
    from rfview.sessions.branches.study import Study, Trial

WIDE = 100          # columns from which bars are shown
BAR = 14
STATES = 6          # rows of states below
MARKS = {"earlier": ("█", "good"), "later": ("█", "bad"), "chance": ("▒", "dim"), "unknown": ("·", "dim")}


def render(scene: Scene, study: Study | None, width: int, height: int, selected: int, hints: Sequence[tuple[str, str]],
           closes: str) -> list[Line]:
    """Return the window.

    ▌RELIEF  what would make this run end earlier                                                      Esc closes
      No setting of this machine helps: the best is -0.8 %, and -0.4 % to +0.1 % comes by chance. ..

       change                                    whole run     gain       energy
       as it ran                                   143,189              85.73 µJ
    ▸1 sm.ldst_queue 2 → 32                        142,367   −0.6 % ▒     −0.3 %
     * floor of LD/ST                              141,312   −1.3 %

    whole run: cycles with the setting from cycle 0. gain: of that. ▒ within what nudged runs do by chance: no claim;
    █ beyond twice that. Below, what the chosen one did to the wait on which WHY tried it, if any, then each state: where a
    wait goes when it is taken away.
    """
    lines = [title(width, "RELIEF", "what would make this run end earlier: each setting that WHY names in it, from cycle 0",
                   focus=True, right=closes if width >= WIDE else "")]
    foot = [hint_row(width, hints, "popup")]
    if study is None:
        lines.append(Row(width).add("  looking for the longest waits", "dim").line())
        return [*fill(lines, width, height - 1), *foot]
    sentence = study.sentence.replace(" %", "\u00a0%")
    lines += [Row(width).add(f"  {text}".replace("\u00a0", " "), "bold").line() for text in wrap(sentence, width - 4)]
    lines += [blank(width), _head(study, width), _as_it_ran(study, width)]
    lines += [_trial(study, trial, index, index == selected, width) for index, trial in enumerate(study.trials)]
    lines += _floor(study, width)
    lines.append(_state_of(study, width))
    room = height - 1 - len(lines) - 1
    if study.trials and room >= 3:
        lines += [blank(width), *_below(scene, study, study.trials[min(selected, len(study.trials) - 1)], width, room - 1)]
    return [*fill(lines, width, height - 1), *foot]


def _ends(width: int) -> tuple[int, int, int]:
    """Return where the columns of cycles, gain and energy end."""
    right = width - 2
    return right - 12 - (BAR if width >= WIDE else 3) - 10, right - 12 - (BAR if width >= WIDE else 3), right


def _head(study: Study, width: int) -> Line:
    cycles, gain, energy = _ends(width)
    row = Row(width, "band").to(3).add("change", "tinfo").right(cycles, "whole run", "title").right(gain, "gain", "title")
    return row.right(energy, ASSUMED if study.energy_assumed else "energy", "tinfo").line()


def _as_it_ran(study: Study, width: int) -> Line:
    cycles, _, energy = _ends(width)
    row = Row(width).to(3).add("as it ran", "text").right(cycles, number(study.cycles), "text")
    if study.energy_pj:
        row.right(energy, energy_text(study.energy_pj), "text")
    return row.line()


def _trial(study: Study, trial: Trial, index: int, is_chosen: bool, width: int) -> Line:
    """Return the row of a setting."""
    cycles, gain, energy = _ends(width)
    mark, role = MARKS[study.claim(trial)]
    row = Row(width, "focus" if is_chosen else "").add("▸" if is_chosen else " ", "bold").add(f"{index + 1} ", "dim")
    if trial.error:
        return row.add(cut(f"{trial.name}: {trial.error}", width - 4), "bad").line()
    row.add(cut(trial.name, cycles - 12 - row.x), "text").right(cycles, number(trial.cycles), "text")
    row.right(gain, _gain(trial.cycles, study.cycles), role).add(" ")
    top = max((abs(one.cycles - study.cycles) for one in study.trials if not one.error), default=1)
    cells = max(1, round((BAR - 2) * abs(trial.cycles - study.cycles) / max(1, top))) if width >= WIDE else 1
    row.add(mark * cells, role)
    if study.energy_pj and trial.energy_pj:
        row.right(energy, study.energy(trial).replace("-", "−"), "dim" if study.energy_assumed else "text")
    return row.line()


def _floor(study: Study, width: int) -> list[Line]:
    """Return the row of the highest floor, and one that names the others."""
    if not study.floors:
        return []
    cycles, gain, _ = _ends(width)
    top = study.floors[0]
    name = cut(f"floor of {top.unit}, which no other unit's setting mends", cycles - 14)
    row = Row(width).add(" * ", "bold").add(name, "text")
    row.right(cycles, number(top.cycles), "text").right(gain, _gain(top.cycles, study.cycles), "text")
    others = ", ".join(f"{floor.unit} {number(floor.cycles)}" for floor in study.floors[1:])
    lines = [row.line()]
    if others:
        lines.append(Row(width).to(3).add(cut(f"other floors: {others} cycles", width - 4), "faint").line())
    return lines


def _state_of(study: Study, width: int) -> Line:
    """Return how far the runs are, or what the marks mean."""
    row, (done, planned) = Row(width), study.runs
    if not study.is_done:
        what = f"{done} of {planned} runs" if study.is_planned else "looking for the longest waits"
        missing = "" if study.chance.is_known else f"; chance: {study.chance.text}, so no claim yet"
        return row.add(" ").add(progress(done, planned, 12), "dim").add(cut(f" {what}{missing}", width - 16), "dim").line()
    text = f" ▒ chance, {study.chance.text}: {len(study.chance.nudged)} nudged runs; no claim    █ beyond twice that"
    return row.add(cut(text, width - 2), "dim").line()


def _below(scene: Scene, study: Study, trial: Trial, width: int, rows: int) -> list[Line]:
    """Return what the chosen setting did to the wait that it was tried on, if any, and to the states: where waits go."""
    info = f"removes: {trial.removes}" if not trial.error else trial.error
    lines = [title(width, trial.name, info)]
    ends = width - 28, width - 15, width - 2
    head = Row(width).right(ends[0], "as it ran", "dim").right(ends[1], "with it", "dim")
    lines.append(head.right(ends[2], "change", "dim").line())
    names = sorted(study.states.keys() | trial.states.keys(),
                   key=lambda name: -abs(trial.states.get(name, 0) - study.states.get(name, 0)))
    looks = {look.name: look for look in scene.looks.values()}
    for name in [name for name in names if name not in ("finished", "no_cta")][: min(STATES, rows - 2)]:
        before, after, look = study.states.get(name, 0), trial.states.get(name, 0), looks.get(name)
        row = Row(width).add(" ").add(look.glyph if look else " ", f"st:{look.role}" if look else "text").add(f" {name}")
        row.right(ends[0], number(before), "text").right(ends[1], number(after), "text")
        lines.append(row.right(ends[2], signed(after - before), "text").line())
    wait = study.wait_of(trial)
    if wait is not None:
        row = Row(width).to(3).add(cut(f"this wait ends: w{wait.warp}'s {ordinal(wait.n)} issue", ends[0] - 13), "text")
        row.right(ends[0], number(wait.issued[0]), "text")
        row.right(ends[1], number(wait.issued[1]) if wait.issued[1] is not None else f"> {MAX_LATER:,} later", "text")
        lines.insert(2, row.right(ends[2], signed(-wait.gain) if wait.gain is not None else "", "text").line())
    return lines[:rows]


def _gain(value: float, base: float) -> str:
    return f"{100 * (value - base) / base:+.1f} %".replace("-", "−") if base else "–"


def markdown(study: Study) -> str:
    """Return the answer and the table as Markdown."""
    lines = [study.sentence, "", "| change | whole run | gain | beyond chance |", "|---|--:|--:|---|",
             f"| as it ran | {number(study.cycles)} | | |"]
    for trial in study.trials:
        if not trial.error:
            lines.append(f"| {trial.name} | {number(trial.cycles)} | {_gain(trial.cycles, study.cycles)} | "
                         f"{study.claim(trial)} |")
    for floor in study.floors[:1]:
        lines.append(f"| floor of {floor.unit} | {number(floor.cycles)} | {_gain(floor.cycles, study.cycles)} | |")
    return "\n".join([*lines, "", f"By chance: {study.chance.text}; nudged: {nudge.WHAT}."]) + "\n"
