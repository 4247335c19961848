"""Compare screens driven by keys at both sizes, the command line without a terminal, and forks from the main screen."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from textual import events

from rfview.engine import kernels
from rfview import cli
from rfview.render import lens, multiples
from rfview.sessions.machine import Machine
from rfview.render.scene import Scene
from rfview.screens.compare.app import make_compare_app
from rfview.screens.compare.screen import CompareScreen
from rfview.screens.windows.popup import TextWindow
from rfview.learn.tours import TOURS
from rfview.screens.compare.multiples import MultiplesSource
from rfview.sessions.compare import Comparison, report
from rfview.sessions.file.writer import record
from rfview.sessions.timeline.opening import open_recording
from rfview.sessions.session import Session
from rfview.sessions.why import why
from tests.rfview.pilots import Driven, drive, until

CYCLES = 1500


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Return recordings of the beginning of vectoradd under sram, stt and hrf."""
    from rfview.engine.launch import load_launch_file
    from rfview.engine.simulator import Simulator

    folder = tmp_path_factory.mktemp("runs")
    paths = []
    for design in ("sram", "stt", "hrf"):
        simulator = Simulator(load_launch_file(kernels.path("vectoradd")), design=design)
        record(simulator, folder / f"{design}.rfs", max_cycles=CYCLES)
        paths.append(str(folder / f"{design}.rfs"))
    return paths


class Shown:
    """A running compare app with shortcuts."""

    def __init__(self, app: Any, pilot: Any):
        self.app, self.pilot = app, pilot

    @property
    def text(self) -> str:
        return "\n".join(line.plain for line in self.app.screen.lines)

    @property
    def picture(self) -> Any:
        return self.app.screen.picture

    @property
    def places(self) -> list[int]:
        return [entry.run.cycle for entry in self.picture.bands]

    async def settle(self) -> None:
        await self.pilot.pause(0.005)
        await self.until(lambda: getattr(self.app.screen, "picture", None) is not None and self.app.screen.worker.is_idle)
        await self.pilot.pause(0.01)

    async def press(self, *keys: str) -> None:
        await self.pilot.press(*keys)
        await self.settle()

    async def until(self, holds: Callable[[], bool]) -> None:
        await until(holds, lambda: self.text)


def show(paths: list[str], test: Callable[[Shown], Awaitable[None]], size: tuple[int, int] = (120, 40)) -> Any:
    timelines = [open_recording(path) for path in paths]

    async def go() -> Any:
        app = make_compare_app(timelines, [Path(path).name for path in paths], theme="dark")
        async with app.run_test(size=size) as pilot:
            shown = Shown(app, pilot)
            await shown.settle()
            await test(shown)
        assert not app.survived
        return app

    return asyncio.run(go())


@pytest.mark.parametrize("size", [(120, 40), (80, 24)])
def test_the_pair_opens_at_the_first_divergence_with_its_reason(size: tuple[int, int], files: list[str]) -> None:
    expected = Comparison(*(open_recording(path) for path in files[:2])).first_divergence()
    assert expected is not None

    async def test(shown: Shown) -> None:
        picture = shown.picture
        assert picture.n == expected.n and f"first divergence, cycle {expected.cycle:,}" in shown.text
        here = next(entry for entry in picture.instructions if entry.n == expected.n)
        assert (here.cycle_a, here.cycle_b) == (expected.a.cycle, expected.b.cycle)
        assert picture.reasons and picture.reasons[0][1] in shown.text
        assert "memory equal" not in shown.text and ("A and B are cut" in shown.text or "A+B cut" in shown.text)
        for part in ("LEAD / LAG", "THE WARP IN BOTH", "WARP SLOTS AT THE CURSORS", "sram gto", "stt gto"):
            assert part in shown.text
        lines = shown.app.screen.lines
        assert len(lines) == size[1] and all(len(line.plain) == size[0] for line in lines)
        assert [line.plain[1:2] for line in lines if line.plain.startswith((" A ", " B "))] == ["A", "B", "A", "B"]

    show(files[:2], test, size)


def test_keys_of_the_pair_move_both_runs(files: list[str]) -> None:
    async def test(shown: Shown) -> None:
        first = shown.picture
        await shown.press("n")
        assert shown.picture.n > first.n
        lags = {entry.n: entry.lag for entry in shown.picture.instructions}
        assert lags[shown.picture.n] != lags[shown.picture.n - 1]
        await shown.press("N")
        assert shown.picture.n == first.n
        await shown.press("3", "s")
        assert shown.picture.n == first.n + 3
        await shown.press("S")
        assert shown.picture.n == first.n + 2
        runs = shown.picture.runs
        assert runs[0].states[runs[0].slot] == 0 == runs[1].states[runs[1].slot]     # both have just issued it
        await shown.press("L")
        assert shown.picture.lock == "cycle" and shown.picture.runs[0].cycle == shown.picture.runs[1].cycle
        await shown.press("right_parenthesis")
        assert {run.cycle for run in shown.picture.runs} == {runs[0].cycle + 10}
        await shown.press("L", "j")
        assert shown.picture.lock == "instruction" and "warp 7" in shown.picture.warp
        await shown.press("5", "o")
        assert shown.picture.warp.startswith("w5 ")
        await shown.press("5", "0", "percent_sign")
        assert abs(shown.picture.runs[0].count - shown.picture.common // 2) < 4
        await shown.press("x")
        assert "stt" in shown.picture.runs[0].name
        await shown.press("x", "d")
        assert shown.picture.n == first.n
        await shown.press("y")
        assert f"rfview replay stt.rfs --goto {shown.picture.runs[1].cycle}" in shown.text
        await shown.pilot.press("question_mark")
        await shown.until(lambda: isinstance(shown.app.screen, TextWindow))
        assert any("exchange A and B" in line for line in shown.app.screen.text)
        await shown.press("escape")
        assert isinstance(shown.app.screen, CompareScreen)
        await shown.press("G")
        assert shown.picture.runs[0].count >= shown.picture.common
        await shown.press("g")
        assert shown.picture.runs[0].count <= 2

    show(files[:2], test)


def test_digits_that_are_no_numbers_are_keys_without_a_meaning(files: list[str]) -> None:
    async def test(shown: Shown) -> None:
        cycles = shown.places
        await shown.press("\u2080")
        assert "\u2080 does nothing here" in shown.text and shown.places == cycles
        await shown.press("s")
        assert shown.places != cycles

    show(files, test)


def test_low_terminals_have_a_second_page_and_resizing_keeps_the_place(files: list[str]) -> None:
    async def test(shown: Shown) -> None:
        await shown.press("tab")
        assert "WARP-CYCLES" in shown.text and "WHY" in shown.text and "LEAD / LAG" not in shown.text
        n = shown.picture.n
        for size in ((1, 1), (40, 10), (200, 60), (120, 40)):
            await shown.pilot.resize_terminal(*size)
            await shown.settle()
        assert "LEAD / LAG" in shown.text and "WARP-CYCLES" in shown.text and shown.picture.n == n
        await shown.pilot.press("q")

    assert show(files[:2], test, (80, 24)).return_value == 0


@pytest.mark.parametrize("size", [(120, 40), (80, 24)])
def test_small_multiples_are_locked_and_open_a_pair(size: tuple[int, int], files: list[str]) -> None:
    async def test(shown: Shown) -> None:
        picture = shown.picture
        assert [band.run.name for band in picture.bands] == ["sram gto", "stt gto", "hrf gto"]
        assert all(band.run.count >= picture.count for band in picture.bands)
        assert "locked at instruction" in shown.text and "hrf gto" in shown.text
        await shown.press("1", "0", "s")
        assert shown.picture.count == picture.count + 10
        await shown.press("L")
        assert len({band.run.cycle for band in shown.picture.bands}) == 1
        await shown.press("j", "j", "enter")
        assert [run.name for run in shown.picture.runs] == ["sram gto", "hrf gto"]
        await shown.press("q")
        assert shown.picture.selected == 2

    show(files, test, size)


def test_enter_pressed_twice_on_small_multiples_opens_one_pair(files: list[str]) -> None:
    async def test(shown: Shown) -> None:
        multiples = shown.app.screen
        for _ in range(2):
            multiples.post_message(events.Key("enter", "\r"))
        await shown.until(lambda: isinstance(shown.app.screen, CompareScreen))
        await shown.settle()
        await shown.press("q")
        assert shown.app.screen is multiples and "internal error" not in shown.text

    show(files, test)


def test_small_multiples_say_in_what_machines_differ_and_whether_memory_is_equal(files: list[str]) -> None:
    tours = [str(TOURS[name].recording) for name in ("first", "drain", "dead")]
    source = MultiplesSource([open_recording(path) for path in tours], tours)
    assert source.message.startswith("machines differ: scheduler, ") and source.message.endswith("memory equal ✓")
    cut = MultiplesSource([open_recording(path) for path in files], files)
    assert "memory" not in cut.message


def test_small_multiples_name_what_holds_up_and_show_register_files(files: list[str]) -> None:
    source = MultiplesSource([open_recording(path) for path in files], files)
    for count in range(1, source.common, 30):
        source.go_count(count)
        for band, timeline in zip(source.picture().bands, source.timelines, strict=True):
            machine = band.machine
            families = {int(entry.code): entry.family for entry in timeline.info.stalls}
            held = {warp for warp, code in enumerate(machine.state) if families[code] == "register_file"}
            assert not held or int(band.reason.partition(":")[0][1:]) in held
            assert band.run.states == tuple(machine.state)
    hrf = source.picture().bands[2]
    chain = why(Session(source.timelines[2]), int(hrf.reason.partition(":")[0][1:]), hrf.run.cycle)
    assert hrf.reason.endswith(f": {chain.resource.name}")
    shown = "\n".join(line.plain for line in multiples.paint(source.picture(), 120, 40))
    assert "register file now" in shown and hrf.reason[:40] in shown and "of 16 banks" in shown
    assert "register file now" not in "\n".join(line.plain for line in multiples.paint(source.picture(), 100, 30))


@pytest.mark.parametrize(("name", "mark"), [("drain", "STT"), ("hits", "†"), ("place", "◆"), ("fade", "↻")])
def test_a_small_lens_is_four_rows_at_most(name: str, mark: str) -> None:
    timeline = open_recording(TOURS[name].recording)
    drawn = set()
    for cycle in range(timeline.first, timeline.last, (timeline.last - timeline.first) // 20):
        scene = Scene(now=Machine.of(timeline.at(cycle)), info=timeline.info, warp=48)
        lines = lens.small(scene, 27)
        assert 1 <= len(lines) <= 4 and {len(line.plain) for line in lines} == {27}
        drawn.add("".join(line.plain for line in lines))
    assert len(drawn) > 5 and any(mark in text for text in drawn)


def test_without_a_terminal_the_summary_is_printed(files: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["compare", *files[:2]]) == 0
    text = capsys.readouterr().out
    assert "first divergence" in text and "lead and lag" in text and "stt_write" in text
    assert cli.main(["compare", *files[:2], "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    comparison = Comparison(*(open_recording(path) for path in files[:2]))
    assert data["first_divergence"] == report.divergence_data(comparison, comparison.first_divergence())
    assert len(data["lead"]) == 10
    assert cli.main(["compare", *files, "--json"]) == 0
    assert [run["design"] for run in json.loads(capsys.readouterr().out)["runs"]] == ["sram", "stt", "hrf"]


def test_forking_from_the_main_screen_goes_on_as_a_branch(files: list[str]) -> None:
    def opener(report: Any) -> Session:
        session = Session(open_recording(files[1]))
        session.goto(700)
        return session

    async def test(app: Driven) -> None:
        await app.settle()
        main = app.session
        await app.press("x")
        assert "there is no branch yet" in app.scene.message
        await app.press("f")
        assert app.app.main.prompt.value == "fork b1 set "
        await app.type("stt.write_cycles=9")
        assert app.session is not main and app.session.branch.text.endswith("stt.write_cycles 4 → 9")
        assert app.cycle == 700 and "on branch b1" in app.scene.message and app.scene.is_live
        await app.press("s")
        assert app.cycle == 701 and main.cycle == 700
        await app.press(":")
        await app.type("branch main")
        assert app.session is main and app.cycle == 700

    drive(test, opener=opener)


def raised(*_: Any) -> Any:
    """Replace a function by one with a defect."""
    raise ZeroDivisionError("by nothing")


@pytest.mark.parametrize(("where", "key"), [
    ("rfview.screens.compare.source.why", "d"), ("rfview.screens.compare.source.CompareSource.step", "s"),
    ("rfview.screens.compare.source.CompareSource.picture", "s"), ("rfview.render.compare.paint", "s"),
])
def test_a_defect_is_said_and_the_pair_goes_on(where: str, key: str, files: list[str], monkeypatch: pytest.MonkeyPatch,
                                               tmp_path: Path) -> None:
    """A user's design explains its own refusals and is part of what every screen shows."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    monkeypatch.setattr("rfview.crash._written", {})

    async def test(shown: Shown) -> None:
        monkeypatch.setattr(where, raised)
        await shown.press(key)
        await shown.until(lambda: "internal error: ZeroDivisionError: by nothing" in shown.text)
        assert len(list((tmp_path / "rfview").iterdir())) == 1
        monkeypatch.undo()
        before = shown.picture.runs[0].cycle
        await shown.press("s", "s")
        await shown.until(lambda: shown.picture.runs[0].cycle != before and "internal error" not in shown.text)

    show(files[:2], test)


@pytest.mark.parametrize("where", ["rfview.screens.compare.multiples.why", "rfview.render.lens.small"])
def test_a_defect_of_one_design_leaves_the_other_bands(where: str, files: list[str], monkeypatch: pytest.MonkeyPatch,
                                                       tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    monkeypatch.setattr("rfview.crash._written", {})

    async def test(shown: Shown) -> None:
        monkeypatch.setattr(where, raised)
        await shown.press("s")
        await shown.until(lambda: "internal error:" in shown.text)
        assert all(f"{letter} {design}" in shown.text for letter, design in zip("ABC", ("sram", "stt", "hrf")))
        monkeypatch.undo()

    show(files, test)


def test_x_says_that_runs_which_are_no_recordings_cannot_be_opened_again(files: list[str],
                                                                        monkeypatch: pytest.MonkeyPatch) -> None:
    async def test(shown: Shown) -> None:
        monkeypatch.setattr("rfview.sessions.timeline.replay.RecordedTimeline", type("Other", (), {}))
        await shown.press("X")
        assert "possible only for recordings" in shown.text

    show(files[:2], test)
