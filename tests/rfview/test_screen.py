"""The app as a whole: sizes, mouse, slow and failing sessions, live runs, themes, and modules it must not import."""

from __future__ import annotations

import random
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from rfview.engine.errors import InputError
from rfview.actions import BY_NAME, MAIN, tokens_of
from rfview.app import make_app, render_text
from rfview.messages import Arrived, Busy
from rfview.render.layout import shown
from rfview.screens import requests, worker
from rfview.sessions.session import Session
from rfview.sessions.targets import open_session
from tests.rfview.fakes import FakeTimeline, make_session
from tests.conftest import PATIENCE_S
from tests.rfview.pilots import Driven, drive

REPOSITORY = Path(__file__).resolve().parent.parent.parent


@pytest.mark.parametrize(("size", "panels"), [
    ((80, 24), ["warps", "lens", "why", "stalls", "overview"]),
    ((100, 30), ["warps", "lens", "why", "overview"]),
    ((120, 40), ["warps", "lens", "collectors", "why", "code", "stalls", "overview"]),
    ((160, 60), ["warps", "lens", "collectors", "why", "code", "stalls", "overview"]),
])
def test_sizes(size: tuple[int, int], panels: list[str]) -> None:
    async def test(app: Driven) -> None:
        assert shown(app.app.main.places) == panels
        text = app.screen_text()
        assert "cycle 150" in text and "Σ 48 ✓" in text and "WHY w0" in text
        for place in app.app.main.places:
            view = app.app.main.views[place.panel]
            assert view.display and tuple(view.region) == (place.x, place.y, place.width, place.height)

    drive(test, size=size)


def test_a_scene_may_arrive_before_a_window_is_there() -> None:
    async def test(app: Driven) -> None:
        for line in ("info warps", "step", "info stalls", "info time", "break cycle 200"):
            app.app.worker.ask(requests.command, line)     # each opens a window or moves, sooner than a window can open
        await app.settle()
        app.app.show_text(("one", "two"), "ANSWER")
        app.app.screen.follow()
        await app.settle()
        assert "one" in app.window_text() and app.app.failure is None

    drive(test)


def test_a_terminal_that_is_too_small_shows_one_panel_and_says_so() -> None:
    async def test(app: Driven) -> None:
        assert shown(app.app.main.places) == ["warps", "overview"]
        assert "80×24 shows more" in app.screen_text()
        await app.press("tab")
        assert "lens" in shown(app.app.main.places) and "REGISTER FILE" in app.screen_text()
        await app.press("tab", "tab")
        assert "WHY" in app.screen_text()
        await app.press("s")
        assert "cycle 151" in app.screen_text()

    drive(test, size=(60, 20))


def test_tiny_sizes_and_resizing_do_not_break_anything() -> None:
    async def test(app: Driven) -> None:
        for size in ((20, 5), (1, 1), (300, 90), (80, 24), (119, 39), (79, 60), (120, 40)):
            await app.pilot.resize_terminal(*size)
            await app.settle()
            await app.press("s")
        assert app.cycle == 157 and len(app.app.main.places) == 10

    drive(test)


def test_the_mouse_focuses_warps_panels_time_and_hints() -> None:
    async def test(app: Driven) -> None:
        await app.pilot.click("#panel-warps", offset=(35, 5))
        await app.settle()
        assert app.scene.warp == 9 and app.scene.panel == "warps"
        await app.pilot.click("#panel-lens", offset=(10, 4))
        await app.settle()
        assert app.scene.panel == "lens" and app.scene.bank == 3
        await app.pilot.click("#panel-overview", offset=(60, 2))
        await app.settle()
        assert 180 < app.cycle < 220
        before = app.cycle
        await app.pilot.click("#panel-footer", offset=(2, 0))
        await app.settle()
        assert app.cycle == before + 1
        await app.pilot.click("#panel-footer", offset=(3, 0))
        await app.settle()
        assert app.cycle == before
        await app.pilot.click("#panel-code", offset=(8, 3), times=2)
        await app.settle()
        assert len(app.session.breakpoints) == 1

    drive(test)


def test_a_long_move_shows_its_progress_and_is_cancelled() -> None:
    class Slow(FakeTimeline):
        def extend(self, cycles: int) -> int:
            time.sleep(0.05)
            return super().extend(1)

    def open_it(report: Callable[..., None]) -> Session:
        return Session(Slow(live=True))

    async def test(app: Driven) -> None:
        await app.settle()
        await app.pilot.press("3", "0", "0", "s")
        await app.until(lambda: app.scene.badge.kind == "busy")
        assert app.scene.badge.text.startswith("seeking") and app.scene.message == "Esc cancels"
        await app.pilot.press("escape")
        await app.settle()
        assert 0 < app.cycle < 300 and "interrupted" in app.scene.message and app.scene.badge.kind != "busy"
        await app.press("S")
        assert app.scene.badge.text == "◄ PAST"

    drive(test, opener=open_it)


def test_a_second_ctrl_c_leaves_a_move_that_does_not_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """As a loop in a hook of one's own; the first one only cancels, and so does Esc."""
    monkeypatch.setattr(worker, "STUCK_S", 0.0)
    began, over = threading.Event(), threading.Event()

    class Stuck(FakeTimeline):
        def extend(self, cycles: int) -> int:
            began.set()
            over.wait(PATIENCE_S)
            return super().extend(1)

    def open_it(report: Callable[..., None]) -> Session:
        return Session(Stuck(live=True))

    async def test(app: Driven) -> None:
        await app.settle()
        await app.pilot.press("3", "0", "0", "s")
        await app.until(began.is_set)
        for key in ("ctrl+c", "escape", "escape"):
            await app.pilot.press(key)
            await app.until(lambda: app.scene.message == "cancelled")
            assert app.app.return_code is None
        await app.pilot.press("ctrl+c")
        await app.until(lambda: app.app.return_code == 130)
        over.set()

    drive(test, opener=open_it)


@pytest.mark.parametrize("key", ["c", "C"])
def test_a_long_search_shows_how_far_it_is_and_ends_at_esc(key: str) -> None:
    class Slow(FakeTimeline):
        def column(self, path: str, start: int, stop: int) -> np.ndarray:
            if path != "sm.warp[3].pc":
                return super().column(path, start, stop)
            time.sleep(0.05)
            return np.zeros(stop - start, np.uint32)

    def open_it(report: Callable[..., None]) -> Session:
        session = Session(Slow(cycles=6000))
        session.goto(3000)
        session.add_breakpoint("if", condition="w3.pc == 77")
        return session

    async def test(app: Driven) -> None:
        await app.settle()
        began = app.cycle
        await app.pilot.press(key)
        await app.until(lambda: app.scene.badge.kind == "busy")
        assert app.scene.badge.text.startswith("at ") and app.scene.message == "Esc cancels"
        await app.pilot.press("escape")
        await app.settle()
        assert 0 < app.cycle < 5999 and (app.cycle > began) == (key == "c")
        assert "interrupted" in app.scene.message and app.scene.badge.kind != "busy"

    drive(test, opener=open_it)


def test_live_follows_its_end_and_comes_back_to_it() -> None:
    async def test(app: Driven) -> None:
        assert app.scene.badge.text == "● LIVE" and app.scene.is_live
        await app.press("5", "0", "s")
        assert app.cycle == 50 and app.scene.badge.kind == "live" and app.scene.last == 50
        await app.press("S")
        assert app.scene.badge.text == "◄ PAST"
        await app.press("G")
        assert app.cycle == 50 and app.scene.badge.kind == "live"
        await app.press("G")
        assert app.cycle == 50 and "has not passed cycle 50" in app.scene.message
        await app.press("c")
        assert app.cycle == 399 and app.scene.badge.text == "■ END" and "end of the session" in app.scene.message

    drive(test, live=True, goto=0)


def test_the_first_frame_comes_before_the_session_is_open() -> None:
    go = threading.Event()

    def open_it(report: Callable[..., None]) -> Session:
        report(0.25, "compiling sram")
        go.wait(PATIENCE_S)
        return make_session()

    async def test(app: Driven) -> None:
        await app.until(lambda: "compiling" in app.scene.message)
        assert app.scene.now is None and app.scene.badge.text == "opening 25%" and app.scene.message == "compiling sram"
        assert "WARPS" in app.screen_text()
        await app.pilot.press("question_mark")
        await app.pilot.pause()
        assert app.app.screen is not app.app.main
        await app.pilot.press("escape", "s", "s")
        assert app.scene.now is None
        go.set()
        await app.settle()
        assert app.cycle == 2

    drive(test, opener=open_it)


def test_a_session_that_cannot_be_opened_is_a_sentence_and_an_exit_code() -> None:
    def open_it(report: Callable[..., None]) -> Session:
        raise InputError("first.rfs: not a session")

    async def test(app: Driven) -> None:
        await app.until(lambda: app.scene.message_kind == "error")
        assert "first.rfs: not a session" in app.scene.message and app.scene.badge.text == "✕ ERROR"
        await app.pilot.press("q")

    app = drive(test, opener=open_it)
    assert app.failure.exit_code == 2


def test_a_damaged_stretch_is_an_error_in_the_event_row_and_the_rest_stays_usable() -> None:
    class Damaged(FakeTimeline):
        def at(self, cycle: int):  # type: ignore[no-untyped-def]
            if 160 <= cycle < 170:
                raise InputError("chunk 7 is damaged (checksum)")
            return super().at(cycle)

    def open_it(report: Callable[..., None]) -> Session:
        session = Session(Damaged())
        session.goto(150)
        return session

    async def test(app: Driven) -> None:
        await app.settle()
        await app.press(")")
        assert "chunk 7 is damaged" in app.scene.message and app.scene.message_kind == "error"
        await app.press(")", ")")
        assert app.session.cycle == 180 == app.scene.cycle

    drive(test, opener=open_it)


def test_a_kernel_fault_is_a_state_of_the_session() -> None:
    def open_it(report: Callable[..., None]) -> Session:
        timeline = FakeTimeline()
        timeline.fault = "w3 lane 5 reads 4 bytes at 0x10, which no buffer holds"
        return Session(timeline)

    async def test(app: Driven) -> None:
        await app.settle()
        await app.press("G")
        assert app.scene.badge.text == "✕ FAULT" and "no buffer holds" in app.screen_text()
        await app.press("S")
        assert app.scene.badge.text == "◄ PAST"

    drive(test, opener=open_it)


@pytest.mark.parametrize("theme", ["dark", "light", "ansi16", "mono"])
def test_every_theme_draws(theme: str) -> None:
    async def test(app: Driven) -> None:
        await app.press("s", ":", "escape", "e", "escape", "ctrl+p", "escape")
        svg = app.app.export_screenshot()
        assert "WARPS" in svg
        if theme == "mono":
            assert "#2FCFA6".lower() not in svg.lower()

    drive(test, theme=theme)


def test_no_color_gives_attributes_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")

    async def test(app: Driven) -> None:
        assert app.app.strips.palette.theme == "mono"
        strip = app.app.main.views["warps"].render_line(3)
        assert all(segment.style.color is None and segment.style.bgcolor is None for segment in strip)

    drive(test, theme=None)


def test_ascii_draws_ascii() -> None:
    async def test(app: Driven) -> None:
        for place in app.app.main.places:
            view = app.app.main.views[place.panel]
            for y in range(place.height):
                assert view.render_line(y).text.isascii()

    drive(test, ascii_only=True)
    session = make_session()
    session.goto(150)
    assert render_text(session, ascii_only=True).isascii()


def test_only_changed_rows_are_painted_again() -> None:
    async def test(app: Driven) -> None:
        view = app.app.main.views["warps"]
        painted: list[int] = []
        original = view.refresh
        view.refresh = lambda *regions, **options: painted.append(len(regions)) or original(*regions, **options)
        app.app.main.repaint_panels()
        assert painted == []
        await app.press("s")
        assert painted and 0 < painted[0] < view.size.height

    drive(test)


def test_the_screen_as_text_is_the_screen() -> None:
    session = make_session()
    session.goto(150)
    text = render_text(session, 120, 40)
    lines = text.splitlines()
    assert len(lines) == 40 and max(map(len, lines)) <= 120
    for part in ("rfview", "WARPS", "REGISTER FILE", "COLLECTORS", "WHY w", "CODE w", "STALLS", "s S step"):
        assert part in text
    assert len(render_text(session, 80, 24).splitlines()) == 24
    assert render_text(session, 120, 40) == text


def test_neither_screen_nor_text_needs_numba() -> None:
    code = """
import asyncio, sys
from tests.rfview.fakes import make_session
from rfview.app import make_app, render_text
session = make_session()
session.goto(150)
render_text(session)
assert "textual" not in sys.modules, "the text screen needs no terminal library"
async def go():
    app = make_app(lambda report: session, title="x")
    async with app.run_test(size=(120, 40)) as pilot:
        while app.main.scene.now is None:
            await pilot.pause(0.01)
        await pilot.press("s", "i", "r", "escape", "e", "escape")
        await pilot.pause(0.2)
asyncio.run(go())
loaded = {"numba", "llvmlite", "rfview.engine.simulator"} & set(sys.modules)
assert not loaded, loaded
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=REPOSITORY, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_the_picture_of_a_cycle_is_the_same_every_time() -> None:
    from screenshots import svg

    pictures = set()
    for goto in (150, 149):
        async def test(app: Driven, goto: int = goto) -> None:
            if goto == 149:
                await app.press("s")
            await app.press("escape")
            app.app.main.say("")
            await app.settle()
            pictures.add(svg.of_app(app.app))

        drive(test, goto=goto)
    assert len(pictures) == 1


def test_any_keys_in_any_order_leave_it_standing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)         # Y writes pictures
    rng = random.Random(13)
    keys = [key for name in MAIN for sequence in BY_NAME[name].keys for key in tokens_of(sequence.replace("*", "a"))]
    keys = [key for key in [*keys, *"0123456789", "x", "Z"] if key not in ("q", "ctrl+q", "ctrl+c", "ctrl+p", ":", "/", "?", "f1")]

    async def test(app: Driven) -> None:
        for _ in range(20):
            await app.press(*(rng.choice(keys) for _ in range(15)), "escape", "escape")
            while app.app.screen is not app.app.main:
                await app.press("escape")
            if rng.random() < 0.4:
                await app.pilot.resize_terminal(*rng.choice([(80, 24), (120, 40), (60, 18), (160, 60), (100, 30)]))
                await app.settle()
            app.app.main.playback.stop()
            await app.settle()
            assert app.cycle == app.scene.now.cycle

    drive(test)


def test_the_driver_ends_with_the_app() -> None:
    async def test(app: Driven) -> None:
        await app.press("s")

    app = drive(test)
    assert not app.worker.thread.is_alive()


def test_make_app_refuses_an_unknown_theme() -> None:
    with pytest.raises(InputError, match="pink"):
        make_app(lambda report: make_session(), theme="pink")


def test_a_mark_past_the_end_of_the_run_is_no_end_of_statistics_and_no_state_to_compare_with() -> None:
    """The file of marks may be from a longer recording of that name."""

    async def test(app: Driven) -> None:
        app.session.marks.set("far", 99_999_999)
        app.app.worker.ask(requests.refresh)
        await app.press("#")
        for _ in range(3):
            await app.press("L")
        assert "far" not in app.window_text() and "balanced" in app.window_text(), app.window_text()
        await app.press("escape")
        app.app.worker.ask(requests.diff, "far")
        await app.settle()
        assert "cycle 99,999,999 is outside" in app.scene.message and app.scene.message_kind == "error"

    drive(test)


def test_a_branch_that_loads_a_long_kernel_again_says_so(small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from rfview.engine import ptx
    from rfview.engine.launch import load_launch_file
    from rfview.engine.simulator import Simulator
    from rfview.sessions.file.writer import record

    record(Simulator(load_launch_file(small)), tmp_path / "run.rfs", max_cycles=100)
    monkeypatch.setattr(ptx, "takes_seconds", lambda text, how: True)
    told: list[tuple[str, str]] = []

    async def test(driven: Driven) -> None:
        await driven.settle()
        post = driven.app.worker.post
        driven.app.worker.post = lambda message: (told.append((message.text, message.detail)) if isinstance(message, Busy)
                                                  else None, post(message))
        driven.app.main.worker.ask(requests.command, "fork b1")
        await driven.settle()
        assert "b1" in driven.session.family, driven.scene.message

    drive(test, opener=lambda report: open_session(tmp_path / "run.rfs"))
    assert told[0][0] == "loading" and told[0][1].startswith("loading small: ")


def test_a_long_request_that_moves_nothing_leaves_badge_and_event_row_as_they_were() -> None:
    async def test(driven: Driven) -> None:
        main = driven.app.main
        main.say("here")
        before = main.scene.badge
        main.post_message(Busy("at 50 %", "Esc cancels"))
        await driven.drain()
        assert (main.scene.badge.text, main.scene.message) == ("at 50 %", "Esc cancels")
        main.post_message(Arrived(driven.app.worker.source.scene()).keep())
        main.post_message(Busy(""))
        await driven.settle()
        assert (main.scene.badge, main.scene.message, main.busy) == (before, "here", "")

    drive(test)
