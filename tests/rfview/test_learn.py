"""Every guided tour, followed to its end: its claims are true, one choice is right, and the screen leads through it."""

from __future__ import annotations

import io
import itertools
import subprocess
import sys
from collections.abc import Awaitable, Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rfview.engine.errors import InputError
from rfview import cli
from rfview.commands import first, screen
from rfview.learn.page import has_passed, page_lines
from rfview.learn.tour import Lesson, Page, Shown, Tour, run_text
from rfview.learn.tours import TOURS, tour
from rfview.keys import KeyReader
from rfview.learn.window import TourWindow, run_tour
from rfview.sessions import open_session
from rfview.sessions.session import Session
from tests.rfview.pilots import Driven, drive

REPOSITORY = Path(__file__).parents[2]


def everywhere(session: Session, condition: str) -> bool:
    """Say whether a condition is true in every cycle."""
    return not np.any(~session.expression(condition).truth(session.timeline.first, session.timeline.last + 1))


def told(session: Session, which: Tour) -> list[Shown]:
    """Visit every page and every answer; false claims raise."""
    lesson = Lesson(which, session)
    pages = []
    for index, page in enumerate(which.pages):
        shown = lesson.enter(index)
        pages.append(shown)
        assert shown.start == session.cycle
        assert "$" not in shown.text + shown.question + shown.answer and "{" not in shown.text + shown.answer
        assert page.source, "every page names its source"
        lesson.see(shown)
        assert session.cycle == shown.target and has_passed(shown, shown.target)
        for condition in page.always:
            assert everywhere(session, condition), condition
    return pages


@pytest.mark.parametrize("name", list(TOURS))
def test_a_tour_holds_on_its_recording(name: str) -> None:
    with open_session(TOURS[name].recording) as session:
        pages = told(session, TOURS[name])
        assert len(pages) >= 3 and all(page.right for page in pages)
        assert {session.info.design.split("+")[0], session.info.scheduler} == {TOURS[name].design,
                                                                                  TOURS[name].scheduler}
    assert TOURS[name].recording.stat().st_size < 200_000


@pytest.mark.slow
@pytest.mark.parametrize("name", list(TOURS))
def test_a_tour_holds_on_a_live_run_of_its_kernel_too(name: str) -> None:
    which = TOURS[name]
    with open_session(which.launch, design=which.design, scheduler=which.scheduler, preset=which.preset,
                      settings=which.settings) as session:
        session.goto("end")
        session.goto("start")
        assert len(told(session, which)) == len(which.pages)


def test_pages_can_be_turned_back_and_compute_the_same_again() -> None:
    with open_session(TOURS["dead"].recording) as session:
        lesson = Lesson(TOURS["dead"], session)
        seen = [lesson.enter(index) for index in range(4)]
        session.goto(5)
        assert [lesson.enter(index) for index in (2, 1, 3, 0)] == [seen[2], seen[1], seen[3], seen[0]]


def test_a_reader_who_steps_away_finds_the_next_page_all_the_same() -> None:
    with open_session(TOURS["first"].recording) as session:
        straight = told(session, TOURS["first"])
        lesson = Lesson(TOURS["first"], session)
        for page, cycle in zip(straight, itertools.cycle((0, 881, 400))):
            session.goto(cycle)
            assert lesson.enter(page.number - 1) == page


BROKEN = [
    (replace(TOURS["drain"].pages[0], claims=("stall.wb_drain > 47",)), "does not hold"),
    (replace(TOURS["drain"].pages[0], choices=(("a", "cycle > 0"), ("b", "cycle > 1"))), "2 of 2 choices hold"),
    (replace(TOURS["drain"].pages[0], choices=(("a", "cycle < 0"),)), "0 of 1 choices hold"),
    (replace(TOURS["drain"].pages[0], go=("until stall.shift > 0",)), "was not met"),
    (replace(TOURS["drain"].pages[0], let={"warp": "w.state == shift"}), "holds nowhere"),
    (replace(TOURS["drain"].pages[0], text="{$nobody}"), "has no value"),
]


@pytest.mark.parametrize("page,message", BROKEN, ids=[message for _, message in BROKEN])
def test_a_tour_whose_claims_are_not_true_any_more_says_so(page: Page, message: str) -> None:
    with open_session(TOURS["drain"].recording) as session, pytest.raises(InputError, match=message):
        Lesson(replace(TOURS["drain"], pages=(page,)), session).enter(0)


def test_text_asks_and_tells_what_was_right() -> None:
    said: list[str] = []
    with open_session(TOURS["shift"].recording) as session:
        right = run_text(Lesson(TOURS["shift"], session), said.append, lambda shown: shown.right)
        assert right == 3 and sum("right. " in line for line in said) == 3
        said.clear()
        assert run_text(Lesson(TOURS["shift"], session), said.append, lambda shown: 1) < 3
        assert any("not so. " in line for line in said)


def test_without_a_terminal_a_tour_is_told_as_text(capsys: pytest.CaptureFixture[str],
                                                   monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO(""))
    assert cli.main(["learn"]) == 0
    assert all(name in out for out in [capsys.readouterr().out] for name in TOURS)
    assert cli.main(["learn", "hrf"]) == 0
    out = capsys.readouterr().out
    assert "The drain stall" in out and "HRF section 4.3" in out and max(map(len, out.splitlines())) <= 100
    assert cli.main(["learn", "drian"]) == 2 and "did you mean 'drain'?" in capsys.readouterr().err


def test_a_tour_never_loads_numba() -> None:
    code = "import sys\nfrom rfview import cli\ncli.main(['learn', 'first'])\nassert 'numba' not in sys.modules"
    done = subprocess.run([sys.executable, "-c", code], cwd=REPOSITORY, check=False, stdin=subprocess.DEVNULL,
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_marks_set_in_a_tour_or_in_the_bundled_example_are_not_written_next_to_it(monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[Session] = []
    monkeypatch.setattr("rfview.app.run_app", lambda session, **_: shown.append(session) or 0)
    monkeypatch.setattr(screen, "is_terminal", lambda: True)
    run_tour(TOURS["first"])
    first.show_bundled()
    with closing(open_session(first.bundled_recording())) as kept:
        assert [session.marks.path for session in shown] == [None, None] and kept.marks.path is not None
    for session in shown:
        session.close()


def test_tours_are_found_by_design() -> None:
    assert tour("rfc").name == "dead" and tour("racetrack").name == "shift" and tour("first").design == "sram"


@pytest.mark.parametrize("width", [80, 120])
@pytest.mark.parametrize("name", list(TOURS))
def test_pages_fit_the_width_and_keep_their_parts(name: str, width: int) -> None:
    with open_session(TOURS[name].recording) as session:
        for shown in told(session, TOURS[name]):
            for chosen, cycle in ((0, shown.start), (1, shown.start), (shown.right, shown.target)):
                lines = page_lines(shown, TOURS[name].title, width, cycle, chosen, KeyReader(names=TourWindow.HANDLERS))
                assert all(len(line.plain) == width for line in lines) and len(lines) <= 18
                assert chosen != 0 or any(shown.source[:10] in line.plain for line in lines)
            assert any("✓" in line.plain for line in lines)


def in_a_tour(name: str, test: Any, size: tuple[int, int] = (120, 40)) -> None:
    """Run a test in the app over a tour's recording."""

    async def go(app: Driven) -> None:
        await app.settle()
        app.app.push_screen(TourWindow(app.app.main, TOURS[name]))
        await app.settle()
        await test(app)

    drive(go, size=size, opener=lambda report: open_session(TOURS[name].recording))


@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
@pytest.mark.parametrize("name", list(TOURS))
def test_the_screen_goes_through_a_tour(name: str, size: tuple[int, int]) -> None:
    async def test(app: Driven) -> None:
        for number in range(1, len(TOURS[name].pages) + 1):
            window = app.app.screen
            assert isinstance(window, TourWindow)
            shown = window.painted
            assert shown is not None and shown.number == number and app.cycle == shown.start
            assert f"{number} of {shown.count}" in app.window_text()
            await app.press("enter")
            assert app.cycle == shown.start and "first your prediction" in window.message
            await app.press(str(shown.right))
            if shown.start != shown.target:
                assert app.cycle == shown.start and "✓" not in app.window_text()
                await app.press("enter")
            assert app.cycle == shown.target and "✓" in app.window_text()
            await app.press("enter")
        assert not isinstance(app.app.screen, TourWindow) and "end of the tour" in app.scene.message

    in_a_tour(name, test, size)


def test_the_last_page_begins_the_next_tour() -> None:
    begun: list[str] = []

    def after(name: str) -> Callable[[Driven], Awaitable[None]]:
        async def go(app: Driven) -> None:
            await app.settle()
            app.app.main.leave = lambda: begun.append("left")
            window = TourWindow(app.app.main, TOURS[name], lambda tour: begun.append(tour.name))
            app.app.push_screen(window)
            await app.settle()
            while window.painted.number < window.painted.count:
                await app.press(str(window.painted.right), "enter", *["enter"] * (window.painted.start != window.painted.target))
            assert "next tour" not in app.window_text()
            await app.press(str(window.painted.right), *["enter"] * (window.painted.start != window.painted.target))
            assert ("next tour: dead" in app.window_text()) == (name == "drain")
            await app.press("enter")

        return go

    for name in ("drain", list(TOURS)[-1]):
        drive(after(name), size=(80, 24), opener=lambda report, name=name: open_session(TOURS[name].recording))
    assert begun == ["dead", "left"]


def test_a_page_does_not_cover_the_instruction_that_it_is_about() -> None:
    async def test(app: Driven) -> None:
        for _ in TOURS["promise"].pages:
            window = app.app.screen
            code = next((place for place in app.app.main.places if place.panel == "code"), None)
            if app.scene.panel == "code":
                shown = "\n".join(line.plain for line in app.app.main.views["code"].lines)
                assert code.y + code.height <= app.app.size.height - window.wanted[1] and "\n▸" in shown
            await app.press(str(window.painted.right), "enter", "enter")
        await app.settle()
        assert app.app.main.covered == 0

    in_a_tour("promise", test, (80, 24))


def test_keys_step_to_the_answer_and_all_others_stay_live() -> None:
    async def test(app: Driven) -> None:
        window = app.app.screen
        start = app.cycle
        await app.press("9")
        assert window.chosen == 0 and window.message == "1 to 3"
        await app.press("1", "s", "s")
        assert app.cycle == start + 2 and "2 of 3 cycles" in app.window_text()
        await app.press("s")
        assert "✕1" in app.window_text() and "✓2" in app.window_text()
        await app.press("1", "0", "s")
        assert app.cycle == start + 13 and "✓2" in app.window_text()
        await app.press("enter")
        assert window.painted.number == 2
        await app.press("backspace")
        assert window.painted.number == 1 and app.cycle == start
        await app.press(":")
        assert app.app.screen is window
        await app.press("escape")
        assert app.app.screen is app.app.main and "left the tour" in app.scene.message

    in_a_tour("drain", test)


def test_a_tour_that_fails_on_the_screen_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    broken = replace(TOURS["drain"], pages=(BROKEN[0][0],))
    monkeypatch.setitem(TOURS, "drain", broken)

    async def test(app: Driven) -> None:
        assert app.app.screen is app.app.main and "does not hold" in app.scene.message

    in_a_tour("drain", test)


def test_a_page_that_has_too_little_room_is_paged_through() -> None:
    async def test(app: Driven) -> None:
        window = app.app.screen
        words = " ".join(" ".join((window.painted.text, window.painted.question, *window.painted.choices)).split())
        seen: list[str] = []
        while "PgDn" in app.window_text():
            seen += app.window_text().splitlines()[1:-1]
            await app.press("pagedown")
            assert len(seen) < 60
        seen += app.window_text().splitlines()[1:-1]
        read = " ".join(" ".join(seen).replace("?", " ").split())
        assert all(word.strip("?") in read for word in words.split())
        await app.press("1")
        assert "▸1" in app.window_text() and "cycle" in app.window_text()
        await app.press("enter")
        assert app.window_text().splitlines()[1].strip().startswith("=")
        await app.press("pageup")
        assert "✓" in app.window_text() and "PgDn" in app.window_text()

    in_a_tour("first", test, (40, 10))
