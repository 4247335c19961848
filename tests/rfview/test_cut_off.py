"""Small screens: nothing that matters is cut off, and whatever is cut off is reachable with a key that is shown."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from rfview.render.footer import footer_hints
from rfview.render import compare, operation, pair, pipeline, registers
from rfview.render.footer import hints_that_fit
from rfview.render.text import Line, hint_row, title
from rfview.screens.opening import first_facts
from rfview.sessions import Session, open_session
from tests.rfview.pilots import Driven, drive

FIRST = Path(__file__).resolve().parents[2] / "sessions" / "recorded" / "first.rfs"
LONG = "kernel stopped: " + " ".join(f"word{n}" for n in range(60)) + " and the end"


def first(report: object) -> Session:
    """Open the bundled recording."""
    return open_session(FIRST)


def plain(lines: list[Line]) -> str:
    return "\n".join(line.plain for line in lines)


@pytest.mark.parametrize("by_mouse", [False, True])
def test_a_message_that_does_not_fit_is_shown_in_full(by_mouse: bool) -> None:
    async def test(app: Driven) -> None:
        app.app.main.say(LONG, "error")
        await app.drain()
        row = app.screen_text().splitlines()[-2]
        assert "…  M shows all" in row and "the end" not in row
        if by_mouse:
            await app.pilot.click("#panel-event", offset=(5, 0))
            await app.settle()
        else:
            await app.press("M")
        assert "MESSAGE" in app.window_text() and "the end" in app.window_text()
        await app.press("escape", "s")
        assert app.cycle == 151

    drive(test, size=(80, 24))


def test_every_window_and_view_says_how_it_is_left() -> None:
    async def test(app: Driven) -> None:
        for key in ("B", "#", "e", "K", "v", "O"):
            await app.press(key)
            assert "Esc" in app.window_text(), key
            await app.press("escape")

        await app.press("z")
        assert app.app.main.zoomed and "Esc close" in app.screen_text().splitlines()[-1]
        await app.press("escape")
        assert not app.app.main.zoomed and "Esc close" not in app.screen_text()

    drive(test, size=(80, 24))
    for panel in ("timeline", "pipeline", "registers"):
        for width in (40, 80, 120):
            assert "close" in [action for *_, action in hints_that_fit(footer_hints(panel, width), width)], panel
    for width in (40, 60, 80, 100, 120, 160):
        shown = hints_that_fit(footer_hints("warps", width), width)
        assert "help" in [action for *_, action in shown] and shown[-1][1] < width


def test_keys_are_named_whole_and_the_one_that_leaves_stays() -> None:
    hints = (("j k", "choose"), ("Enter", "go to its first cycle"), ("y", "copy"), ("Esc", "close"))
    for width in range(8, 60):
        said = hint_row(width, hints).plain
        assert len(said) == width and ("Esc close" in said) == (width >= 11)
        assert said.count("go") == said.count("go to its first cycle") and said.count("Enter") == said.count("Enter go")
    assert hint_row(60, hints, right="more").plain.endswith("more ")


def test_a_window_of_text_is_folded_anew_when_it_becomes_narrower() -> None:
    async def test(app: Driven) -> None:
        await app.press("K")
        whole = "".join(app.app.screen.text).replace(" ", "")
        await app.pilot.resize_terminal(50, 24)
        await app.drain()
        assert all(len(line) <= 46 for line in app.app.screen.folded)
        assert "".join(app.app.screen.folded).replace(" ", "") == whole and "j k scroll" in app.window_text()

    drive(test, size=(120, 40))


def test_the_list_of_breakpoints_says_in_full_how_to_get_one() -> None:
    async def test(app: Driven) -> None:
        await app.press("B")
        said = " ".join(app.window_text().split())
        assert "w watches the focused thing" in said and "Enter next" in said

    drive(test, size=(80, 24))


def test_statistics_name_every_part_of_the_energy() -> None:
    async def test(app: Driven) -> None:
        await app.settle()
        await app.go(5000)
        await app.press("#")
        said = app.window_text()
        assert all(part in said for part in ("dynamic", "leakage", "refresh", " mW")), said

    for size in ((80, 24), (120, 40)):
        drive(test, size=size, opener=first)


def test_places_in_the_program_are_lines_as_in_code() -> None:
    program: Any = [SimpleNamespace(line=31, control=None), SimpleNamespace(line=37, control=None)]
    assert operation.with_lines("@P0 bra -> 1", program) == "@P0 bra -> PTX 37"
    assert operation.with_lines("ld.global at PC 0 writes it", program) == "ld.global at PTX line 31 writes it"
    assert operation.with_lines("at PC 1: bar.sync 0, PTX line 37", program) == "at PC 1: bar.sync 0, PTX line 37"
    assert operation.with_lines("@P0 bra -> 9", program) == "@P0 bra -> 9"
    assert operation.with_lines("cycle 5: breakpoint 1, pc 1 warp 3 if w3.pc == 1", program) == (
        "cycle 5: breakpoint 1, PTX line 37 warp 3 if w3.pc == 1")


def test_places_in_machine_code_are_addresses_as_in_code() -> None:
    program: Any = [SimpleNamespace(line=line, control=0, kernel=kernel) for line, kernel in ((21, "k"), (22, "k"), (40, "m"))]
    assert operation.with_lines("LDG at PC 1 counts it", program) == "LDG at 0010 counts it"
    assert operation.with_lines("LDG R0, [R4], listing line 22", program) == "LDG R0, [R4], address 0010"
    assert operation.with_lines("breakpoint 1, pc 2 warp 3", program) == "breakpoint 1, 0000 warp 3"
    assert operation.with_lines("EXIT, listing line 23", program) == "EXIT, listing line 23"


def test_code_why_and_pipeline_name_the_same_line() -> None:
    async def test(app: Driven) -> None:
        await app.settle()
        await app.go(5000)
        await app.press("1", "2", "o")
        assert "-> PTX 62" in app.screen_text()
        await app.press("e")
        assert "@P0 bra -> PTX 62, PTX line 40" in app.window_text() and "1–5 link" in app.window_text()
        await app.press("escape", "P")
        assert "-> PTX 62" in app.screen_text()

    drive(test, opener=first)


def test_a_breakpoint_is_named_by_the_line_that_it_was_set_at() -> None:
    async def test(app: Driven) -> None:
        await app.settle()
        await app.go(5000)
        await app.press("1", "2", "o", "b")
        assert "breakpoint 1: PTX line 40, @P0 bra -> PTX 62; c and C go there" in app.scene.message
        await app.press("B")
        assert "PTX line 40  @P0 bra -> PTX 62" in app.window_text()
        await app.press("escape", "c")
        assert "breakpoint 1, PTX line 40" in app.scene.message

    drive(test, opener=first)


def test_a_name_that_is_cut_says_so() -> None:
    async def test(app: Driven) -> None:
        await app.settle()
        await app.go(900)
        await app.press("1", "2", "o", "r")
        said = plain(registers.render(app.scene, 80, 20))
        assert "%rd1.lo…" in said and "%rd6.l" not in said
        await app.press("P")
        said = plain(pipeline.render(app.scene, 80, 20))
        assert "mul   R0 R0 4" in said and "C collects operands" in said

    drive(test, size=(80, 24), opener=first)
    assert title(40, "REGISTER FILE", "racetrack memory, 8 ports per bank").plain.rstrip().endswith("…")
    assert "por…" not in title(40, "REGISTER FILE", "racetrack memory, 8 ports per bank").plain


def test_the_first_warp_in_focus_is_one_that_runs() -> None:
    async def test(app: Driven) -> None:
        await app.settle()
        timeline, finished = app.session.timeline, app.session.info.stall_codes["finished"]
        zero, one = (timeline.column(f"sm.warp[{warp}].state", timeline.first, timeline.last + 1) for warp in (0, 1))
        await app.go(timeline.first + int(np.argmax((zero == finished) & (one != finished))))
        assert app.scene.look(app.scene.now.state[0]).name == "finished"
        warp = first_facts(app.scene)["warp"]
        assert warp == 1 and app.scene.look(app.scene.now.state[warp]).name != "finished"

    drive(test, opener=first)


@pytest.mark.parametrize("width", [40, 60, 80])
def test_narrow_comparisons_keep_both_cycles(width: int) -> None:
    runs = tuple(pair.RunFacts(letter, "sram gto", "", {}, 99, 9) for letter in "AB")
    entry = pair.Instruction(1, "mov.u32 R0, %ctaid.x", 1234, 5678)
    picture = pair.ComparePicture(runs, 9, warp="w1", n=1, instructions=(entry,), lag=1, message="word " * 40)
    row = compare.instruction_lines(picture, width, 3)[2].plain
    assert compare.instruction_lines(picture, width, 3)[1].plain.split()[-3:] == ["A", "B", "B−A"]
    assert "1,234" in row and "5,678" in row and "+4,444" in row
    assert "B +1 cycle" in plain(compare.curve_lines(picture, 80, 2)) and "+1 cycles" not in plain(
        compare.curve_lines(picture, 80, 2))
    assert compare.message_line(picture, width).plain.rstrip().endswith("…")
