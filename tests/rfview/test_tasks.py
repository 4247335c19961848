"""Ten typical tasks, done by keys alone with at most so many key presses, and each without a screen, too."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from textual import events

from rfview import cli
from rfview.learn.tours import TOURS
from rfview.screens.compare.screen import CompareScreen
from rfview.sessions import Session, open_session
from rfview.view import View
from tests.rfview.pilots import Driven, drive


class Counted:
    """Presses keys on a recording and counts them; a text counts as its letters and Enter."""

    def __init__(self, app: Driven):
        self.app, self.count = app, 0

    async def keys(self, *keys: str) -> None:
        self.count += len(keys)
        await self.app.press(*keys)

    async def line(self, text: str) -> None:
        await self.keys(":", *text, "enter")

    async def comparison(self) -> str:
        """Press x, wait for the compare screen, leave it and return its text."""
        self.count += 1
        self.app.app.post_message(events.Key("x", "x"))
        await self.app.until(lambda: isinstance(self.app.app.screen, CompareScreen) and self.app.app.screen.picture is not None)
        screen = self.app.app.screen
        text = "\n".join(line.plain for line in screen.lines)
        screen.leave()
        await self.app.until(lambda: self.app.app.screen is not screen)
        await self.app.settle()
        return text


def at(name: str, place: int | str) -> Callable[..., Session]:
    """Return a function that opens a tour's recording at a place."""
    def opener(report: Callable[..., None]) -> Session:
        session = open_session(TOURS[name].recording)
        session.goto(place)
        return session

    return opener


def script(capsys: pytest.CaptureFixture[str], name: str, commands: str) -> str:
    """Return the output of commands without a screen."""
    assert cli.main(["script", str(TOURS[name].recording), "-c", commands]) == 0
    return capsys.readouterr().out


def test_a_why_is_warp_3_stalled_to_the_root_cause(capsys: pytest.CaptureFixture[str]) -> None:
    async def test(app: Driven) -> None:
        await app.settle()
        do = Counted(app)
        await do.keys("3", "o", "e")
        assert app.scene.warp == 3 and "WHY w3 does not issue" in app.window_text() and "without it: --set" in app.window_text()
        assert do.count == 3

    drive(test, opener=at("drain", 1052))
    assert "without it: --set" in script(capsys, "drain", "goto 1052; why 3")


def test_b_first_queue_of_three_on_bank_5_that_holds_w0_up_back_to_who_caused_it(capsys: pytest.CaptureFixture[str]) -> None:
    async def test(app: Driven) -> None:
        await app.settle()
        do = Counted(app)
        await do.line("until bank[5].queue >= 3 and w0.state == bank_conflict")
        assert app.cycle == 252
        await do.keys("tab", *("j" * 5), "e")
        here = app.session.snapshot().sm["bank"][5]
        assert app.scene.bank == 5 and "WHY w0 does not issue" in app.window_text()
        assert "bank 5 serves another access" in app.window_text() and int(here["queue"]) >= 3
        assert do.count == 63

    drive(test, opener=at("shift", 0))
    assert "cycle 252" in script(capsys, "shift", "until bank[5].queue >= 3 and w0.state == bank_conflict")


def test_c_a_watchpoints_last_writer(capsys: pytest.CaptureFixture[str]) -> None:
    async def test(app: Driven) -> None:
        await app.settle()
        do = Counted(app)
        await do.line("watch w5.R3")
        await do.keys("C")
        assert "written by `ld.param" in app.scene.message and app.scene.warp == 5
        assert do.count == 14

    drive(test, opener=at("drain", 1450))
    assert "written by" in script(capsys, "drain", "goto 1450; watch w5.R3; reverse-continue")


def test_d_another_design_beside_this_one_where_they_part_why_what_it_costs() -> None:
    async def test(app: Driven) -> None:
        await app.settle()
        do = Counted(app)
        await do.keys("v")
        names = [name for name, _ in app.app.screen.rows]
        steps = names.index("hrf") - app.app.screen.selected
        await do.keys(*("j" if steps > 0 else "k",) * abs(steps), "enter")
        text = await do.comparison()
        assert "first divergence" in text and "sram" in text and "hrf" in text and "%" in text
        assert do.count <= 10

    drive(test, opener=at("first", "50%"))


def test_e_a_fork_with_a_parameter_and_what_changed(capsys: pytest.CaptureFixture[str]) -> None:
    async def test(app: Driven) -> None:
        await app.settle()
        do = Counted(app)
        await do.keys("f", *"hrf.write_c", "tab", "1", "enter")
        assert app.session.branch is not None and app.session.branch.changes[0].text == "hrf.write_cycles 4 → 1"
        text = await do.comparison()
        (differing,) = (line for line in text.splitlines() if "machines differ" in line)
        assert "write_cycles" in differing      # and perhaps rfview's version: a recording may be of an older engine
        assert do.count == 16

    drive(test, opener=at("drain", 1450))
    out = script(capsys, "drain", "goto 1450; fork b1 set hrf.write_cycles=1; compare")
    assert "hrf.write_cycles 4 → 1" in out and "main" in out


def test_f_what_preshifting_gains(capsys: pytest.CaptureFixture[str]) -> None:
    async def test(app: Driven) -> None:
        await app.settle()
        do = Counted(app)
        await do.keys("v", "p", "p", "r", "tab", "backspace", "0", "]", "enter")
        text = await do.comparison()
        assert "1,048" in text and "1,328" in text
        assert do.count == 10

    drive(test, opener=at("shift", "50%"))
    assert "1,328" in script(capsys, "shift", "rerun a set racetrack.preshift=0; goto end; compare")


def test_g_who_lives_without_refresh_and_what_it_does_to_the_output(capsys: pytest.CaptureFixture[str]) -> None:
    async def test(app: Driven) -> None:
        await app.settle()
        do = Counted(app)
        await do.keys("r")
        rows = {line.split()[0].lstrip("▸"): line for line in app.screen_text().splitlines() if line[1:2] == "R"}
        assert "approx" in rows["R11"] and "precise" in rows["R0"]
        await do.keys("G", "A")
        assert "64 of 64 elements of results differ" in app.window_text()
        assert do.count == 3

    drive(test, opener=at("fade", 1600))
    assert "64 of 64 elements of results differ" in script(capsys, "fade", "goto end; follow")


def test_h_a_register_in_all_lanes_over_time(capsys: pytest.CaptureFixture[str]) -> None:
    async def test(app: Driven) -> None:
        await app.settle()
        do = Counted(app)
        await do.keys("r", "j", "j", "enter")
        assert "REGISTER w" in app.window_text() and ".R2" in app.window_text()
        assert do.count == 4

    drive(test, opener=at("drain", 1450))
    assert "R2" in script(capsys, "drain", "goto 1450; heat w0.R2")


def test_i_leave_and_come_back_to_the_same_place(tmp_path: Path) -> None:
    file = shutil.copy(TOURS["drain"].recording, tmp_path / "run.rfs")

    def opened() -> tuple[View, Callable[..., Session]]:
        view = View(file)

        def opener(report: Callable[..., None]) -> Session:
            session = open_session(file)
            view.apply(session)
            return session

        return view, opener

    view, opener = opened()

    async def leave(app: Driven) -> None:
        await app.settle()
        view.begin(app.app.main)
        await app.settle()
        await app.press(*"1450G", "7", "o", "r")
        view.keep()     # what q does

    drive(leave, opener=opener)
    view, opener = opened()

    async def back(app: Driven) -> None:
        await app.settle()
        view.begin(app.app.main)
        await app.settle()
        assert (app.cycle, app.scene.warp, app.scene.panel) == (1450, 7, "registers")

    drive(back, opener=opener)


def test_j_send_somebody_this_view() -> None:
    async def test(app: Driven) -> None:
        await app.settle()
        do = Counted(app)
        await do.keys("y")
        assert app.app.clipboard.startswith("rfview ") and "--goto 1450" in app.app.clipboard
        assert do.count == 1

    drive(test, opener=at("drain", 1450))
