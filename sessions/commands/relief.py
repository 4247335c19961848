"""The commands `relief`, which tries what `why` names on one wait or over the whole run, and `rerun NAME set KEY=VALUE`."""

from __future__ import annotations

from dataclasses import replace

from rfview.engine.batch import nudge
from rfview.engine.errors import InputError
from rfview.engine.plugin.assumed import ASSUMED
from rfview.engine.wording import energy_text, plural
from rfview.sessions.branches.relief import MAX_LATER, Relief, relieve, rerun, whole_run
from rfview.sessions.branches.study import Study, Trials
from rfview.sessions.commands import arguments
from rfview.sessions.commands.branch import branch_data
from rfview.sessions.commands.verb import Answer, verb
from rfview.sessions.session import Session


@verb("relief", signature="[WARP] [whole] | all [NUDGES]",
      help="fork with the setting that `why` names, run to the same instruction, and measure the gain; all: each "
           "over the whole run")
def _relief(session: Session, text: str) -> Answer:
    words = text.split()
    if words[:1] == ["all"]:
        return _all(session, text, words[1:])
    whole = words[-1:] == ["whole"]
    words = words[:-1] if whole else words
    if len(words) > 1:
        raise InputError(f"relief {text}: expected a warp, as in `relief 7`, and `whole` to run both to the end")
    result = relieve(session, arguments.warp(session, words[0], "relief") if words else arguments.warp_of_last_stop(session))
    if whole:
        result = replace(result, whole=whole_run(session, result))
    return Answer(relief_text(result), {"relief": result.data()})


def _all(session: Session, text: str, words: list[str]) -> Answer:
    """Try every setting over the whole run."""
    if len(words) > 1 or (words and not (words[0].isdecimal() and int(words[0]) <= nudge.MOST)):
        raise InputError(f"relief {text}: expected a number of nudged runs, 0 to {nudge.MOST}, as in `relief all 8`")
    trials = Trials(session, int(words[0]) if words else nudge.NUMBER)
    while trials.advance():
        if session.interrupted(session.timeline.last):
            raise InputError("relief: stopped")
    study = trials.study()
    return Answer(study_text(study), {"relief": study.data()})


def study_text(study: Study) -> str:
    """Return a study as lines of text: the answer, then a row per setting, the floors, and what chance is."""
    energy = ASSUMED if study.energy_assumed else "energy"
    as_it_ran = energy_text(study.energy_pj) if study.energy_pj else ""
    lines = [study.sentence, "", f"{'':4}{'cycles':>13}{'gain':>9}  {'':14}{energy:>10}  change",
             f"{'':4}{study.cycles:>13,}{'':>9}  {'':14}{as_it_ran:>10}  as it ran"]
    for number, one in enumerate(study.trials, 1):
        if one.error:
            lines.append(f"{number:>3} {'–':>13}{'':>9}  {'':14}{'':>10}  {one.name}: {one.error}")
            continue
        claim = {"chance": "by chance", "unknown": "chance unknown"}.get(study.claim(one), study.claim(one))
        gain = percent_change((study.cycles, one.cycles))
        lines.append(f"{number:>3} {one.cycles:>13,}{gain:>9}  {claim:<14}{study.energy(one):>10}  {one.name}   "
                     f"removes: {one.removes}")
    for floor in study.floors[:1]:
        gain = percent_change((study.cycles, floor.cycles))
        lines.append(f"  * {floor.cycles:>13,}{gain:>9}  {'floor':<14}{'':>10}  {floor.unit}: {floor.what}")
    others = ", ".join(f"{floor.unit} {floor.cycles:,}" for floor in study.floors[1:])
    lines += ["", f"other floors: {others} cycles"] if others else []
    return "\n".join([*lines, "", f"by chance {study.chance.text}: {len(study.chance.nudged)} nudged runs ({nudge.WHAT}); "
                      "a gain below twice their range is none"])


def relief_text(result: Relief) -> str:
    """Return the result of a relief as lines of text."""
    what = ", ".join(change.text for change in result.changes)
    where = "simulated from the start" if result.from_start else f"forked at {result.begin:,}"
    lines = [f"{what}: branch {result.branch}, {where}; measured", f"  removes: {result.resource}", f"  {gain_text(result)}"]
    lines.append(f"  warp-cycles lost to the register file until then: {result.lost[0]:,} → {result.lost[1]:,}, "
                 f"waiting at all: {result.waited[0]:,} → {result.waited[1]:,}")
    if result.next_cause:
        lines.append(f"  at cycle {result.cycle:,} it would be {result.next_state}: {result.next_cause}")
    if result.whole is not None:
        lines += [f"  the run: {line}" for line in whole_lines(result)]
    return "\n".join([*lines, f"  `branch {result.branch}` goes there, `compare {result.branch}` compares"])


def gain_text(result: Relief) -> str:
    """Return the gain: "w5's instruction 31, fma ..., issues at 2,028; with this change at 2,001: 27 cycles earlier"."""
    head = f"w{result.warp}'s instruction {result.n}, {result.text}, issues at {result.issued[0]:,}"
    gain = result.gain
    if gain is None or result.issued[1] is None:
        return f"{head}; with this change more than {MAX_LATER:,} cycles later"
    if gain == 0:
        return f"{head}; with this change at the same cycle: no gain here"
    word = "earlier" if gain > 0 else "later"
    return f"{head}; with this change at {result.issued[1]:,}: {plural(abs(gain), 'cycle')} {word}"


def whole_lines(result: Relief) -> list[str]:
    """Return cycles, lost warp-cycles, energy and outputs of both complete runs."""
    whole = result.whole
    assert whole is not None
    lines = [f"{whole.cycles[0]:,} → {whole.cycles[1]:,} cycles ({percent_change(whole.cycles)})",
             f"{whole.lost[0]:,} → {whole.lost[1]:,} warp-cycles lost to the register file"]
    if whole.energy_pj[0] and whole.energy_pj[1] is not None:
        pair = " → ".join(map(energy_text, (whole.energy_pj[0], whole.energy_pj[1])))
        lines.append(f"{pair} in the register file{f', {ASSUMED}' if whole.energy_assumed else ''}")
    if whole.same_output is not None:
        lines.append("the same results" if whole.same_output else "✕ other results")
    return lines


def percent_change(pair: tuple[int, int]) -> str:
    """Return the change of a number in percent, with its sign."""
    return f"{100 * (pair[1] - pair[0]) / pair[0]:+.1f} %" if pair[0] else "–"


@verb("rerun", signature="NAME set KEY=VALUE ...",
      help="a branch that runs from the first cycle with other parameters, the machine's layout included")
def _rerun(session: Session, text: str) -> Answer:
    words = text.split()
    if len(words) < 3 or words[1] != "set":
        raise InputError(f"rerun {text}: expected `rerun NAME set KEY=VALUE ...`, as in `rerun wide set sm.num_banks=32`")
    made = rerun(session, words[0], arguments.settings(words[2:], f"rerun {text}"))
    assert made.branch is not None
    return Answer(f"on branch {made.branch.text}; `compare` shows the difference", branch_data(made), session=made)
