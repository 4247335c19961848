"""The screens in this process: a few cases of the fuzz target, and each window in a terminal that leaves it no room."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from rfview.actions import ACTIONS, ANY, MAIN, tokens_of
from rfview.sessions import open_session
from tests.robustness import keys
from tests.robustness.__main__ import tally
from tests.rfview.pilots import Driven, drive

BUDGET = 300        # a hundred on each of three recordings


def test_whatever_is_typed_the_state_is_that_of_a_fresh_session() -> None:
    outcomes, following = tally("screens", 5, 0, BUDGET, None)
    assert following == BUDGET and set(outcomes) == {"done"}, outcomes


def test_each_key_opens_what_it_opens_in_a_terminal_of_one_cell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)         # some keys write files
    shutil.copy(keys.RECORDED / "drain.rfs", tmp_path / "run.rfs")

    async def test(app: Driven) -> None:
        await app.settle()
        await app.pilot.resize_terminal(1, 1)
        for action in ACTIONS:
            if action.name in MAIN and action.name not in ("quit", "suspend") and action.keys:
                await app.press(*tokens_of(action.keys[0].replace(ANY, "a")))
                await app.press("escape", "escape", "escape")
                assert app.app.is_running, action.name

    drive(test, opener=lambda report: open_session(tmp_path / "run.rfs"), size=(120, 40))
