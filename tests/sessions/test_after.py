"""What an instruction delayed: the waits charged to it and to its result, hop by hop, and the run in which it is over at once."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import rfview
from rfview.engine.errors import InputError
from rfview.sessions import Session, open_session
from rfview.sessions.branches import lifted, without as branch
from rfview.sessions.branches.fork import way_to
from rfview.sessions.causes.after import after
from rfview.sessions.commands.table import execute
from rfview.sessions.lines.counts import count_instructions

RECORDED = Path(__file__).resolve().parents[2] / "rfview" / "learn" / "recorded"
CHAIN = """.version 7.0
.target sm_75
.address_size 64
.visible .entry k(.param .u64 data)
{
 .reg .b32 %r<9>; .reg .b64 %d<9>;
 ld.param.u64 %d1, [data];
 ld.global.u32 %r2, [%d1];
 add.u32 %r3, %r2, 1;
 add.u32 %r4, %r3, 1;
 st.global.u32 [%d1], %r4;
 ret;
}
"""


def at(name: str, cycle: int) -> Session:
    session = open_session(RECORDED / name)
    session.goto(cycle)
    return session


@pytest.fixture(scope="module")
def chain() -> Session:
    """A warp that loads a word and adds to it twice, at a cycle in which it waits for the load."""
    session = rfview.launch(CHAIN, 1, 32, [np.zeros(32, np.uint32)])
    session.run()
    issued = next(cycle for cycle in range(1, session.timeline.last) if session.timeline.at(cycle).sm["warp"][0]["last_pc"] == 1
                  and session.timeline.at(cycle).sm["warp"][0]["num_issued"] == 2)
    session.goto(issued + 20)
    return session


def test_one_warp_waits_for_its_own_load_and_then_for_what_that_delayed(chain: Session) -> None:
    found = after(chain, 0)
    assert (found.subject.warp, found.subject.pc, found.is_own) == (0, 1, False)
    first = found.rows[0]
    assert (first.state, first.pc, first.hop, first.parent, first.warps) == ("long_scoreboard", 2, 1, -1, (0,))
    all_of_it = count_instructions(chain.timeline, 0, chain.timeline.last).causes
    assert found.warp_cycles == all_of_it.caused[1], "the only load of the run has all that is charged to its instruction"
    late = [row for row in found.rows if row.parent == 0]
    assert late and all(row.hop == 2 and row.cycles <= first.cycles and row.since > first.since for row in late)


def test_without_the_load_the_run_ends_earlier_by_what_was_waited_for_it(chain: Session) -> None:
    found = after(chain, 0)
    measured = branch.without(chain, found)
    assert measured.is_certain and measured.signs.earlier == 4 and not measured.signs.later
    assert measured.ends[0] == chain.timeline.last and measured.ends[0] - measured.ends[1] == measured.mean == measured.sooner
    assert "4 instructions came later for it" in measured.sentence
    answer = execute(chain, "after 0 measure")
    again = answer.data["after"]["measured"]
    assert again["is_certain"] and measured.sentence in answer.text and "late" not in again
    made = chain.family[again["branch"]]
    assert made.timeline.last == measured.ends[1] and way_to(made) == [
        f"goto {made.branch.cycle}", f"goto {chain.cycle}; after 0 measure; branch {again['branch']}"]
    cycles, warps, delays = measured.late
    assert cycles.tolist() == sorted(cycles) and not warps.any() and (delays == measured.mean).all()


def test_the_end_of_an_instruction_that_is_moved_nowhere_changes_nothing(chain: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    move = lifted._moved
    monkeypatch.setattr(lifted, "_moved", lambda machine, one, when, drops_lines: move(
        machine, one, lambda cycle, end: end, drops_lines=False))
    measured = branch.without(chain, after(chain, 0))
    assert (measured.signs.earlier, measured.signs.later, measured.ends[0]) == (0, 0, measured.ends[1])
    assert "delayed no later issue" in measured.sentence


def test_a_result_in_a_write_buffer_is_charged_with_those_who_stand_still_for_its_drain() -> None:
    session = at("drain.rfs", 1450)
    found = after(session, 0)
    assert (found.subject.warp, found.subject.left) == (18, 1432)
    waits = [row for row in found.rows if row.hop == 1]
    assert {row.state for row in waits} == {"wb_drain"} and min(row.since for row in waits) > found.subject.left
    assert sum(len(row.warps) for row in waits) == 32 and found.warp_cycles == 32 * 8
    measured = branch.without(session, found)
    assert measured.what.startswith("hrf.write_cycles 1, not 4, in the cycles ") and measured.sentence.startswith("With hrf.w")
    assert measured.begin < waits[0].since and measured.signs.earlier > 0
    made = session.family[measured.branch].branch
    assert made is not None and (made.changes[0].old, made.changes[0].new) == (4, 1)


def test_what_no_setting_lifts_for_one_wait_is_said() -> None:
    session = at("drain.rfs", 1450)
    found = after(session, 0)
    for settings, error in (({}, "no setting that `why` knows of"), ({"sm.num_banks": 32}, "cannot change for one wait alone")):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(lifted, "settings_of", lambda session, chain: settings)
            with pytest.raises(InputError, match=error):
                branch.without(session, found)


def test_where_some_issues_come_earlier_and_others_later_nothing_is_claimed() -> None:
    session = at("shift.rfs", 700)
    text = execute(session, "after 0 measure").text
    assert "444 warp-cycles of 31 warps stood still for it" in text and "no claim" in text
    assert "≤ 175" in text, "what waited for those that were late waited at most as long as they were"


@pytest.mark.parametrize(("line", "error"), [
    ("after 99", "99"), ("after 1 2", "expected a warp"), ("after 0 sometimes", "expected a warp"),
])
def test_wrong_questions_are_refused(line: str, error: str) -> None:
    with pytest.raises(InputError, match=error):
        execute(at("shift.rfs", 700), line)


def test_a_warp_for_which_nothing_is_in_flight_is_told_so() -> None:
    with pytest.raises(InputError, match="suspended"):
        after(at("dead.rfs", 400), 0)
    with pytest.raises(InputError, match="first"):
        after(at("drain.rfs", 0), 0)
