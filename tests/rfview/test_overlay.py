"""A second run overlaid on the main screen: exactly what differs at the aligned cycle is underlined."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from rfview.engine import kernels
from rfview.engine.wording import signed
from rfview.render.overlay import differing, marked
from rfview.screens.compare.app import make_compare_app
from rfview.screens.scenes.overlay import OverSource
from rfview.sessions.compare import Comparison
from rfview.sessions.file.writer import record
from rfview.sessions.timeline.opening import open_recording
from rfview.sessions.session import Session
from tests.rfview.pilots import Driven, drive, until

CYCLES = 1500


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Return recordings of the beginning of vectoradd, longer for the slowest design, and of another kernel."""
    from rfview.engine.launch import load_launch_file
    from rfview.engine.simulator import Simulator

    folder = tmp_path_factory.mktemp("runs")
    found = {}
    for name, design, kernel in (("sram", "sram", "vectoradd"), ("stt", "stt", "vectoradd"), ("hrf", "hrf", "vectoradd"),
                                 ("other", "sram", "scalarprod")):
        path = folder / f"{name}.rfs"
        cycles = CYCLES * (4 if name == "stt" else 1)
        record(Simulator(load_launch_file(kernels.path(kernel)), design=design), path, max_cycles=cycles)
        found[name] = str(path)
    return found


def over(a: str, test: Callable[[Driven], Awaitable[None]], cycle: int = 700, **options: Any) -> Any:
    """Run a test on A's main screen."""

    def opener(report: Any) -> Session:
        session = Session(open_recording(a))
        session.goto(cycle)
        return session

    async def wait(app: Driven) -> None:
        await app.settle()
        await test(app)

    return drive(wait, opener=opener, **options)


def underlined(app: Driven, panel: str) -> list[list[bool]]:
    """Return for each cell of a panel, without its title, whether it is underlined."""
    view = app.app.main.views[panel]
    rows = []
    for line in view.lines[1:]:
        rows.append([app.app.strips.palette.style(line.ground, role).underline is True
                     for text, role in line.spans for _ in text])
    return rows


def event_row(app: Driven) -> str:
    return "".join(text for text, _ in app.app.main.views["event"].lines[0].spans)


@pytest.mark.parametrize(("a", "b", "mask"), [
    ("R12 miss", "R12 miss", "........"), ("R12 miss", "R13 miss", "###....."), ("·□·▲", "·□□▲", "..#."),
    ("  8", " 18", ".##"), ("18", " 8", "##"), ("free", "    ", "####"), ("    ", "w3  ", "##.."),
    ("a b", "a b longer", "..."),
])
def test_words_differ_as_a_whole_and_glyphs_one_by_one(a: str, b: str, mask: str) -> None:
    assert differing(a, b) == [char == "#" for char in mask]


def test_a_role_keeps_its_ground_and_attributes() -> None:
    assert marked("text", True) == "text+u" and marked("p:fast+bu~focus", False) == "p:fast+b~focus"
    assert marked("changed", False) == "bold" and marked("st:wait~focus", True) == "st:wait+u~focus"


def test_a_run_over_itself_has_no_difference(files: dict[str, str]) -> None:
    async def test(app: Driven) -> None:
        await app.press(":")
        await app.type(f"overlay {files['sram']}")
        for keys in ((), ("s",), ("i",), ("j", "j"), ("{",), ("r",), ("escape", "G")):
            await app.press(*keys)
            assert app.scene.over.lag == 0 and "B overlaid: sram gto, 0 cycles" in event_row(app)
            for place in app.app.main.places:
                if place.panel in ("warps", "lens", "collectors", "stalls", "code", "registers"):
                    assert not any(map(any, underlined(app, place.panel))), (keys, place.panel)

    over(files["sram"], test)


def test_underlined_states_are_those_that_differ_at_the_aligned_cycle(files: dict[str, str]) -> None:
    ours, theirs = open_recording(files["sram"]), open_recording(files["stt"])
    comparison = Comparison(ours, theirs)

    async def test(app: Driven) -> None:
        await app.press(":")
        await app.type(f"overlay {files['stt']}")
        seen = set()
        for keys in ((), ("3", "o"), ("i",), (")",), ("2", "4", "o"), ("i", "i"), ("I",)):
            await app.press(*keys)
            scene = app.scene
            name = comparison.logs[0].name(scene.warp, scene.cycle)
            assert name is not None and scene.over.warp == scene.warp
            other = scene.cycle + scene.over.lag
            # both have issued the same number of the warp's instructions
            assert comparison.logs[1].issued(name, other) == comparison.logs[0].issued(name, scene.cycle)
            assert f"B overlaid: stt gto, {signed(scene.over.lag)} cycle" in event_row(app)
            rows = underlined(app, "warps")
            mine, others = ours.states(scene.cycle, scene.cycle + 1)[0], theirs.states(other, other + 1)[0]
            for warp in range(48):
                row, x = rows[warp // 2], 30 * (warp % 2)
                assert row[x + 4] == (mine[warp] != others[warp]), warp     # in so short a run CTAs are placed alike in both
                assert not any(row[x : x + 4])
                seen.add(row[x + 4])
        assert seen == {True, False}
        await app.press("X")
        assert app.scene.over is None and "B overlaid" not in event_row(app)
        await app.press("X")
        assert app.scene.over is not None and app.scene.over.name == "stt gto"
        await app.press(":")
        await app.type("overlay")
        assert app.scene.over is None

    over(files["sram"], test)


def test_registers_and_banks_differ_where_their_values_do(files: dict[str, str]) -> None:
    async def test(app: Driven) -> None:
        await app.press("X")
        assert app.app.main.prompt.value == "overlay "      # no second run is known yet
        await app.press("escape", ":")
        await app.type(f"overlay {files['stt']}")
        await app.press("i", "r")
        scene = app.scene
        there = scene.over.machine.snapshot
        rows = underlined(app, "registers")
        for reg in range(6):
            ours, others = scene.now.snapshot.register(scene.warp, reg), there.register(scene.over.slot(scene.warp), reg)
            assert any(rows[1 + reg][22:]) == bool((ours != others).any()), reg
        await app.press("escape")
        now, banks = scene.now.banks, scene.over.machine.banks
        rows = underlined(app, "lens")
        for bank in range(16):
            busy = [(one[bank]["activity"], one[bank]["owner_warp"], one[bank]["owner_reg"]) for one in (now, banks)]
            if busy[0] != busy[1] and {busy[0][0], busy[1][0]} & {1, 2}:
                assert any(rows[bank]), bank

    over(files["sram"], test)


def test_a_register_file_of_another_kind_is_not_compared(files: dict[str, str]) -> None:
    async def test(app: Driven) -> None:
        await app.press(":")
        await app.type(f"overlay {files['hrf']}")
        assert "another kind" in app.scene.message
        assert not any(map(any, underlined(app, "lens"))) and any(map(any, underlined(app, "warps")))

    over(files["stt"], test)


def test_what_cannot_be_laid_over_is_said_and_changes_nothing(files: dict[str, str], tmp_path: Path) -> None:
    async def test(app: Driven) -> None:
        await app.press(":")
        await app.type(f"overlay {files['stt']}")
        before = app.scene.over
        for target in (files["other"], str(tmp_path / "none.rfs")):
            await app.press(":")
            await app.type(f"overlay {target}")
            assert app.scene.message_kind == "error" and app.scene.over == before
        await app.press("s")
        assert app.scene.over is not None

    over(files["sram"], test)


def test_where_b_does_not_hold_the_place_it_says_so(files: dict[str, str]) -> None:
    a, b = open_recording(files["sram"]), open_recording(files["hrf"])
    session = Session(a)
    session.goto("end")
    from rfview.render.overlay import text_of
    from rfview.sessions.machine import Machine

    found = OverSource(a, b).at(Machine.of(session.snapshot()), 0)
    assert found.lag is None and found.machine is None
    assert text_of(found) == "B overlaid: hrf gto, w0 is not as far"


def test_a_branch_is_laid_over_by_its_parent(files: dict[str, str]) -> None:
    async def test(app: Driven) -> None:
        await app.press(":")
        await app.type("fork b1 set stt.write_cycles=9")
        await app.press("X")
        assert app.scene.over.name == "stt gto" and app.scene.over.lag == 0
        assert not any(map(any, underlined(app, "warps")))
        await app.press("4", "i")
        assert app.scene.over.lag < 0 and any(map(any, underlined(app, "warps")))     # the parent's writes are faster
        await app.press(":")
        await app.type("branch main")
        assert app.scene.over is None
        await app.press(":")
        await app.type("overlay b1")        # a live run; it is run up to this one's place
        assert app.scene.over.name == "stt[write_cycles=9] gto"
        await app.press("4", "i")
        assert app.scene.over.lag is not None and app.scene.over.lag > 0

    over(files["stt"], test)


def test_the_comparison_opens_it_and_gets_it_back(files: dict[str, str]) -> None:
    timelines = [open_recording(files[name]) for name in ("sram", "stt")]

    async def go() -> None:
        app = make_compare_app(timelines, ["sram.rfs", "stt.rfs"], theme="dark")
        async with app.run_test(size=(120, 40)) as pilot:

            pair = app.screen
            await until(lambda: pair.picture is not None and pair.worker.is_idle)
            await pilot.press("X")
            await until(lambda: app.screen is not pair and getattr(app.screen.scene, "over", None) is not None)
            main, picture = app.screen, pair.picture
            assert main.scene.cycle == picture.runs[0].cycle and main.scene.warp == picture.runs[0].slot
            assert main.scene.over.lag == picture.runs[1].cycle - picture.runs[0].cycle
            await pilot.press("y")
            await until(lambda: "copied: rfview replay sram.rfs" in main.scene.message)
            assert main.view_command().endswith(f" --overlay {files['stt']}")
            await pilot.press("q")
            await until(lambda: app.screen is pair and app.main is pair)
            assert not main.worker.thread.is_alive()

    asyncio.run(go())
