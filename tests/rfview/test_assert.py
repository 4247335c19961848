"""`rfview assert`: a condition that must be true in every cycle, the exit code, and the first cycle that violates it."""

from __future__ import annotations

import json

import pytest

from rfview import cli
from rfview.learn.tours import TOURS
from rfview.sessions import open_session

FILE = str(TOURS["drain"].recording)


def test_the_first_failing_cycle_is_the_one_of_a_forward_scan(capsys: pytest.CaptureFixture[str]) -> None:
    timeline = open_session(FILE).timeline
    counts = (timeline.states(0, timeline.last + 1) == timeline.info.stall_codes["wb_drain"]).sum(axis=1)
    for limit in (1, 9, int(counts.max())):
        assert cli.main(["assert", FILE, f"stall.wb_drain < {limit}", "--json"]) == 1
        assert json.loads(capsys.readouterr().out)["failed_at"] == int((counts >= limit).argmax())
    assert cli.main(["assert", FILE, f"stall.wb_drain <= {counts.max()}"]) == 0
    assert capsys.readouterr().out.startswith("holds in cycles 0 to")


def test_one_cycle_can_be_asked_for_and_wrong_conditions_are_bad_input(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["assert", FILE, "total.issued == 0", "--at", "end"]) == 1
    assert f"rfview replay {FILE} --goto" in capsys.readouterr().out
    assert cli.main(["assert", FILE, "total.issued > 0", "--at", "end"]) == 0
    assert cli.main(["assert", FILE, "cycle >= 0"]) == 0 and cli.main(["assert", FILE, "cycle < 0"]) == 1
    capsys.readouterr()
    assert cli.main(["assert", FILE, "w.state < 50"]) == 2 and "any(...)" in capsys.readouterr().err
    assert cli.main(["assert", FILE, "total.issud > 0"]) == 2
    error = capsys.readouterr().err
    assert "`total.issud > 0`" in error and "position 1" in error
