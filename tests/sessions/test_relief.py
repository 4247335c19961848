"""Reliefs: gains equal those of two separate runs, branches start where the cause began, and errors for the rest."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from rfview.engine.errors import InputError
from rfview.sessions import Session, open_session
from rfview.sessions.branches.fork import fork
from rfview.sessions.branches.relief import relieve, rerun, settings_of, whole_run
from rfview.sessions.commands.table import execute
from rfview.sessions.compare import IssueLog
from rfview.sessions.why import why

DRAIN = Path(__file__).resolve().parents[2] / "rfview" / "learn" / "recorded" / "drain.rfs"      # vectoradd on hrf
AT = 1450


@pytest.fixture
def recorded() -> Session:
    session = open_session(DRAIN)
    session.goto(AT)
    return session


def live(settings: dict[str, object] | None = None) -> Session:
    session = open_session("vectoradd", design="hrf", scheduler="lrr", settings=settings or {})
    session.goto(1500)
    return session


def test_the_gain_is_that_of_a_branch_made_by_hand(recorded: Session) -> None:
    found = relieve(recorded, 0)
    chain = why(recorded, 0)
    assert found.resource == chain.resource.name and not found.from_start
    assert {change.name: change.new for change in found.changes} == dict(chain.resource.relief)
    assert recorded.cycle == AT and name_of_branch(recorded, found.branch) == found.branch
    by_hand = open_session(DRAIN)
    by_hand.goto(found.begin)
    branch = fork(by_hand, "hand", dict(chain.resource.relief))
    branch.goto("end")
    log = IssueLog(recorded.timeline)
    name = log.name(0, AT)
    assert log.find(name, found.n).cycle == found.issued[0] >= AT
    assert IssueLog(branch.timeline).find(name, found.n).cycle == found.issued[1]
    assert found.gain == found.issued[0] - found.issued[1] > 0
    for place, timeline in enumerate((recorded.timeline, branch.timeline)):
        codes = {entry.code for entry in recorded.info.stalls if entry.family == "register_file"}
        states = timeline.states(found.begin + 1, found.issued[place] + 2)
        assert int(sum((states == code).sum() for code in codes)) == found.lost[place]


def name_of_branch(session: Session, name: str) -> str:
    return session.family[name].branch.name


def test_the_whole_run_is_that_of_both_ends(recorded: Session) -> None:
    found = relieve(recorded, 0)
    whole = whole_run(recorded, found)
    branch = recorded.family[found.branch]
    assert branch.timeline.closed and whole.cycles == (recorded.timeline.last, branch.timeline.last)
    assert whole.cycles[1] < whole.cycles[0] and whole.lost[1] < whole.lost[0] and whole.same_output
    assert whole.energy_pj[0] and whole.energy_pj[1]


def test_what_lays_the_machine_out_is_tried_from_the_first_cycle(monkeypatch: pytest.MonkeyPatch) -> None:
    session = live()
    present = int(session.info.parameters["sm.num_schedulers"])
    chain = why(session, 0)
    other = replace(chain.resource, relief={"sm.num_schedulers": 3 - present})
    chain = replace(chain, links=(*chain.links[:-1], replace(chain.links[-1], resource=other)))
    monkeypatch.setattr("rfview.sessions.branches.relief.why", lambda *_: chain)
    found = relieve(session, 0)
    assert found.from_start and found.begin == 0 and found.gain is not None
    right = live({"sm.num_schedulers": 3 - present})
    right.goto("end")
    name = IssueLog(session.timeline).name(0, session.cycle)
    assert IssueLog(right.timeline).find(name, found.n).cycle == found.issued[1]


def test_rerun_is_the_run_with_another_parameter_from_the_start(recorded: Session) -> None:
    answer = execute(recorded, "rerun wide set hrf.write_cycles=2 sm.num_schedulers=1")
    made = answer.session
    assert made is recorded.family["wide"] and made.cycle == AT and answer.data["parent"] == "main"
    assert made.info.parameters["sm.num_schedulers"] == 1 and made.timeline.first == 0
    settings = {"hrf.write_cycles": 2, "sm.num_schedulers": 1}
    same, right = rerun(live(), "same", settings), live(settings)
    assert same.cycle == right.cycle == 1500 and same.snapshot().sm["stall_total"].tolist() == \
        right.snapshot().sm["stall_total"].tolist() != live().snapshot().sm["stall_total"].tolist()
    for line, said in (("rerun wide set hrf.write_cycles=1", "already"), ("rerun b set nosuch.key=1", "no parameter"),
                       ("rerun b", "expected `rerun"), ("rerun b set x", "KEY=VALUE")):
        with pytest.raises(InputError, match=said):
            execute(recorded, line)


def test_what_cannot_be_tried_is_told(recorded: Session) -> None:
    recorded.goto("end")
    with pytest.raises(InputError, match="does not wait"):
        relieve(recorded, 0)
    recorded.goto(AT)
    chain = why(recorded, 0)
    assert settings_of(recorded, chain)
    execute(recorded, "fork fast set hrf.write_cycles=1")
    assert not settings_of(recorded.family["fast"], chain), "a setting that is in force is no relief"
    with pytest.raises(InputError, match="relief now: not a warp"):
        execute(recorded, "relief now")


def test_it_can_be_stopped_and_the_cursor_stays(recorded: Session) -> None:
    def stop(cycle: int) -> bool:
        return True

    recorded.progress = stop
    with pytest.raises(InputError, match="stopped"):
        relieve(recorded, 0)
    assert recorded.cycle == AT


def test_the_command_answers_in_text_and_json(recorded: Session) -> None:
    answer = execute(recorded, "relief 0 whole")
    assert "; measured" in answer.text and "cycles earlier" in answer.text and "the same results" in answer.text
    data = json.loads(json.dumps(answer.data, allow_nan=False))["relief"]
    assert data["measured"] is True and data["gain"] == data["issued"][0] - data["issued"][1] and data["whole"]["cycles"]


