"""What would make the whole run end earlier: chance by nudged runs, no gain below twice its range, floors beside it."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from rfview.cli import main
from rfview.engine.batch.nudge import Chance
from rfview.engine.errors import InputError
from rfview.render.scene import Scene
from rfview.render.study import markdown, render
from rfview.sessions.branch import Change
from rfview.sessions.branches.relief import Relief
from rfview.sessions.branches.study import Study, Trial, Trials
from rfview.sessions.commands.relief import study_text
from rfview.sessions.summary.floors import Floor
from rfview.sessions.targets import open_session

CUT = Path(__file__).resolve().parents[2] / "sessions" / "recorded" / "first.rfs"
RECORDING = Path(__file__).resolve().parents[2] / "rfview" / "learn" / "recorded" / "drain.rfs"


def trial(cycles: int, error: str = "") -> Trial:
    return Trial("LDST queue", (Change("sm.ldst_queue", 2, 32),), cycles, 5.0, {"issued": 10, "wait": 5}, error)


def study(*cycles: int, nudged: tuple[int, ...] = (1000, 990, 1010), planned: int = 3) -> Study:
    trials = tuple(trial(one) for one in cycles)
    return Study(1000, 6.0, {"issued": 10, "wait": 20}, trials, (Floor("LD/ST", 980, "980 cache lines"),),
                 Chance(1000, nudged, planned), (len(cycles) + len(nudged), len(cycles) + planned))


def test_a_gain_below_twice_the_range_of_chance_is_none() -> None:
    known = study(961, 959, 1039, 1041)
    assert [known.claim(one) for one in known.trials] == ["chance", "earlier", "chance", "later"]
    assert "No setting of this machine helps" in study(961).sentence and "LD/ST needs at least 980" in study(961).sentence
    assert "more than twice what comes by chance" in study(900).sentence
    missing = study(500, nudged=(1000,))
    assert missing.claim(missing.trials[0]) == "unknown" and "1 of 3 nudged runs" in missing.sentence
    assert study(500, nudged=(), planned=0).claim(trial(500)) == "unknown", "without nudged runs nothing is claimed"
    assert known.claim(trial(0, "it faulted")) == "unknown"


@pytest.mark.parametrize("width", [78, 118])
def test_the_window_names_each_column_at_each_width_and_says_what_is_missing(width: int) -> None:
    text = "\n".join(line.plain for line in render(Scene(), study(961, 900), width, 24, 1, [], ""))
    assert all(head in text for head in ("whole run", "gain", "energy", "as it ran", "floor of LD/ST", "▒", "removes: LDST queue"))
    late = "\n".join(line.plain for line in render(Scene(), study(961, nudged=()), width, 24, 0, [], ""))
    assert "0 of 3 nudged runs, so no claim yet" in late
    assert "| sm.ldst_queue 2 → 32 | 961 | −3.9 % | chance |" in markdown(study(961))
    wait = Relief("relief1", "LDST queue", (Change("sm.ldst_queue", "2", "32"),), 5, False, 7, 3, 31, "add", (820, 716), (0, 0), (9, 1))
    tried = "\n".join(line.plain for line in render(Scene(), replace(study(961, 900), waits=(wait,)), width, 24, 1, [], ""))
    (row,) = [line.split() for line in tried.split("\n") if "this wait ends: w3's 31st issue" in line]
    assert row[-3:] == ["820", "716", "−104"] and "this wait" not in text
    known = study(961)
    assert "−16.7 %" in text and "−16.7 %" not in (unsourced := "\n".join(
        line.plain for line in render(Scene(), replace(known, energy_assumed=True), width, 24, 0, [], "")))
    assert "assumed" in unsourced and "6 pJ" in unsourced and "5 pJ" in unsourced, "shown beside, and no gain"
    printed = study_text(replace(known, energy_assumed=True))
    assert "-16.7 %" in study_text(known) and "assumed" in printed and "-16.7 %" not in printed


def test_a_study_of_a_recording_runs_what_why_names_and_nudged_runs_reproducibly() -> None:
    results = []
    for _ in range(2):
        session = open_session(RECORDING)
        trials = Trials(session, 2)
        while trials.advance():
            pass
        results.append(trials.study())
    assert results[0] == results[1] and results[0].is_done
    assert results[0].cycles == session.timeline.last == 3177
    found = {change.name: one.cycles for one in results[0].trials for change in one.changes}
    assert found["hrf.write_cycles"] < 2356, "a fork in mid-run, in the tests of WHY, gains less"
    assert len(results[0].chance.nudged) == 2 and json.loads(json.dumps(results[0].data()))["measured"]


def test_only_a_run_that_has_ended_can_be_studied() -> None:
    session = open_session(RECORDING)
    session.timeline.closed = False     # type: ignore[misc]
    with pytest.raises(InputError, match="has not ended"):
        Trials(session)
    with pytest.raises(InputError, match="this recording was cut off at cycle 16,384"):
        Trials(open_session(CUT))


def test_rfview_relief_and_the_nudges_of_compare(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["relief", str(RECORDING), "--nudge", "1", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["relief"]["chance"]["nudged"]
    assert main(["relief", str(RECORDING), "--nudge", "65"]) == 2
    assert "expected 0 to 64" in capsys.readouterr().err
    assert main(["compare", str(RECORDING), str(RECORDING), "--nudge", "2"]) == 2
    assert "`rfview relief RUN.rfs` nudges a recorded run" in capsys.readouterr().err
