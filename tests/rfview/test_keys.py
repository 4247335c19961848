"""Every key does what the table says, in the session and on the screen."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from rfview.engine import stalls
from rfview.actions import ACTIONS, BY_NAME, CATEGORIES, LOCAL, MAIN, key_label, tokens_of
from rfview.keys import Filter, KeyReader, Keys, Pressed, token_of
from rfview.render.help import help_rows
from rfview.render.footer import footer_hints
from rfview.screens import requests
from rfview.screens.handlers import focus
from rfview.screens.handlers.table import HANDLERS
from rfview.screens.playback import Playback
from tests.rfview.fakes import make_session
from tests.rfview.pilots import Driven, drive

# keys that move in time: (keys, cycle after them, starting from 150 of 0..399)
MOVES = [
    ("s", 151), ("S", 149), ("l", 151), ("h", 149), ("right", 151), ("left", 149), (")", 160), ("(", 140),
    ("}", 250), ("{", 50), ("f10", 151), ("shift+f10", 149), ("5 0 s", 200), ("5 0 S", 100), ("3 )", 180), ("g g", 0),
    ("0", 0), ("home", 0), ("G", 399), ("$", 399), ("end", 399), ("1 2 3 G", 123), ("9 9 9 9 s", 399), ("9 9 9 S", 0),
    ("1 0 escape s", 151), ("] q s", 151), ("5 0 %", 200), ("1 0 %", 40),
]


def test_time_keys() -> None:
    async def test(app: Driven) -> None:
        for keys, cycle in MOVES:
            await app.go(150)
            await app.press(*keys.split())
            assert app.cycle == cycle, keys

    drive(test)


def test_issue_keys_follow_the_focused_warp() -> None:
    async def test(app: Driven) -> None:
        await app.press("1", "3", "o")
        assert app.scene.warp == 13
        await app.press("i")
        first = app.cycle
        assert app.session.timeline.history[first, 13] == stalls.ISSUED and first > 150
        await app.press("i")
        assert app.cycle > first
        await app.press("I")
        assert app.cycle == first
        await app.press("f11", "shift+f11")
        assert app.cycle == first

    drive(test)


EVENTS = [
    ("] s", lambda row, before, warp: row[warp] not in (0, 18, 19) and row[warp] != before[warp]),
    ("[ s", lambda row, before, warp: row[warp] not in (0, 18, 19) and row[warp] != before[warp]),
    ("] b", lambda row, before, warp: stalls.BANK_CONFLICT in row),
    ("[ b", lambda row, before, warp: stalls.BANK_CONFLICT in row),
]


def test_event_keys_find_the_nearest_cycle() -> None:
    async def test(app: Driven) -> None:
        history = app.session.timeline.history
        for keys, holds in EVENTS:
            await app.go(150)
            await app.press(*keys.split())
            step = 1 if keys[0] == "]" else -1
            cycle = 150 + step
            while not holds(history[cycle], history[cycle - 1], app.scene.warp):
                cycle += step
            assert app.cycle == cycle, keys

    drive(test)


def test_a_register_file_event_that_never_comes_leaves_the_cursor_and_says_so() -> None:
    async def test(app: Driven) -> None:
        await app.press("]", "w")
        assert app.cycle == 150 and "no later cycle with a stall by the register file" in app.scene.message

    drive(test)


def test_marks_history_and_previous_stop() -> None:
    async def test(app: Driven) -> None:
        await app.press("m", "a")
        assert app.session.marks.get("a").cycle == 150 and "mark a" in app.scene.message
        await app.press("G", "m", "b", "g", "g", "'", "a")
        assert app.cycle == 150
        await app.press("]", "m")
        assert app.cycle == 399
        await app.press("[", "m")
        assert app.cycle == 150
        await app.press("'", "'")
        assert app.cycle == 399
        await app.press("'", "'")
        assert app.cycle == 150
        await app.press("ctrl+o")
        back = app.cycle
        await app.press("alt+o")
        assert back != 150 and app.cycle == 150
        await app.press("'", "q")
        assert app.cycle == 150 and "no mark @q" in app.scene.message and app.scene.message_kind == "error"

    drive(test)


def test_breakpoints_are_toggled_listed_switched_and_hit_both_ways() -> None:
    async def test(app: Driven) -> None:
        pc = app.scene.now.pc[app.scene.warp]
        await app.press("b")
        assert [point.value for point in app.session.breakpoints.values()] == [pc]
        assert "◉" in app.screen_text()
        await app.press("c")
        forward = app.cycle
        assert forward > 150 and "breakpoint 1" in app.scene.message
        await app.press("c", "C")
        assert app.cycle == forward
        await app.press("f5", "shift+f5")
        assert app.cycle == forward
        await app.press("B")
        assert f"line {112 + pc}" in app.window_text()
        await app.press("space")
        assert not app.session.breakpoints[1].enabled and "disabled" in app.window_text()
        await app.press("delete")
        assert not app.session.breakpoints and "none" in app.window_text()
        await app.press("escape", "b", "b")
        assert not app.session.breakpoints

    drive(test)


def test_a_hit_brings_its_warp_into_focus() -> None:
    async def test(app: Driven) -> None:
        app.session.add_breakpoint("pc", int(app.scene.now.pc[app.scene.warp]) + 1)
        for key in "cccC":
            await app.press(key)
            assert int(app.scene.now.pc[app.scene.warp]) == app.session.breakpoints[1].value
            assert "breakpoint 1" in app.scene.message

    drive(test)


def test_breakpoint_hits_reach_the_overview() -> None:
    async def test(app: Driven) -> None:
        await app.press("b")
        await app.until(lambda: bool(app.scene.hits))
        assert app.scene.hits
        assert "◉" in app.app.main.views["overview"].lines[4].plain

    drive(test)


def test_run_to_cursor_goes_to_the_chosen_instruction() -> None:
    async def test(app: Driven) -> None:
        await app.press("alt+5", "j", "j")
        assert app.scene.panel == "code" and app.scene.scroll == 2
        pc = app.scene.now.pc[app.scene.warp] + 2
        await app.press("t")
        assert app.scene.now.pc[app.scene.warp] == pc and app.cycle > 150
        there = app.cycle
        await app.press("G", "3", "k", "t")
        assert app.cycle < 399 and there > 150

    drive(test)


def test_change_keys_use_the_focused_thing() -> None:
    async def test(app: Driven) -> None:
        await app.press(".")
        changed = app.cycle
        history = app.session.timeline.history
        assert history[changed, app.scene.warp] != history[changed - 1, app.scene.warp]
        await app.press(",")
        assert app.cycle < changed
        await app.press("alt+2", ".")
        assert app.scene.panel == "lens" and focus.focused_item(app.app.main) == "bank[0].queue"

    drive(test)


def test_diff_compares_with_the_place_come_from() -> None:
    async def test(app: Driven) -> None:
        assert app.scene.before.cycle == 149
        await app.press("d")
        assert "no jump yet" in app.scene.message
        await app.press("G", "d")
        assert app.scene.before.cycle == 150
        await app.press("d")
        assert app.scene.before.cycle == 398

    drive(test)


def test_focus_moves_through_the_panels_in_reading_order() -> None:
    async def test(app: Driven) -> None:
        seen = []
        for _ in range(8):
            seen.append(app.scene.panel)
            await app.press("tab")
        assert seen == ["warps", "lens", "collectors", "why", "code", "stalls", "overview", "warps"]
        await app.press("shift+tab")
        assert app.scene.panel == "warps"
        for number, panel in enumerate(("warps", "lens", "collectors", "why", "code", "stalls", "overview", "registers"), 1):
            await app.press(f"alt+{number}")
            assert app.scene.panel == panel
            assert "▌" in app.screen_text() or panel == "overview"

    drive(test)


def test_zoom_and_closing_layers() -> None:
    async def test(app: Driven) -> None:
        await app.press("alt+2", "z")
        assert [place.panel for place in app.app.main.places if place.panel not in ("status", "overview", "event", "footer")
                ] == ["lens"]
        await app.press("escape")
        assert len(app.app.main.places) == 10
        await app.press("r")
        assert app.scene.panel == "registers"
        await app.press("q")
        assert app.scene.panel == "lens" and app.app.is_running
        await app.press("escape", "escape")
        assert app.app.is_running

    drive(test)


def test_moving_inside_panels() -> None:
    async def test(app: Driven) -> None:
        await app.press("j", "j", "down", "k", "up")
        assert app.scene.warp == 2
        await app.press("o")
        assert app.scene.warp == 3
        await app.press("9", "9", "j")
        assert app.scene.warp == 47
        await app.press("alt+2", "j", "j")
        assert app.scene.bank == 2
        await app.press("r", "j", "j", "L", "F")
        assert (app.scene.reg, app.scene.lane, app.scene.number_format) == (2, 4, "hex")
        await app.press("H", "F", "F", "F", "F")
        assert (app.scene.lane, app.scene.number_format) == (0, "auto")

    drive(test)


def test_enter_opens_registers_why_or_zooms() -> None:
    async def test(app: Driven) -> None:
        await app.press("enter")
        assert app.scene.panel == "registers"
        await app.press("escape", "alt+4", "enter")
        assert "WHY" in app.window_text()
        await app.press("escape", "alt+2", "enter")
        assert app.app.main.zoomed

    drive(test)


def test_source_and_decoded_code() -> None:
    async def test(app: Driven) -> None:
        await app.press("p")
        assert app.scene.code_source and "  source  " in app.screen_text()
        await app.press("p")
        assert not app.scene.code_source

    drive(test)


def test_overview_zoom() -> None:
    async def test(app: Driven) -> None:
        whole = app.scene.overview.edges
        await app.press("+")
        near = app.scene.overview.edges
        assert near[-1] - near[0] < whole[-1] - whole[0] and near[0] <= 150 <= near[-1]
        await app.press("-")
        assert app.scene.overview.edges == whole
        await app.press("=")
        assert app.scene.overview.edges == near

    drive(test)


def test_playing_moves_and_pauses() -> None:
    async def test(app: Driven) -> None:
        await app.press(*">" * 6)
        assert app.scene.speed == 1000 and "1,000 cycles a second" in app.scene.message
        await app.press("4", "<")
        assert app.scene.speed == 50
        await app.pilot.press("space")
        await app.until(lambda: app.session.cycle > 152)
        assert app.app.main.playback.is_on and app.scene.badge.kind == "playing"
        await app.press("space")
        assert not app.app.main.playback.is_on
        here = app.cycle
        await app.pilot.pause(0.1)
        assert 150 < here == app.cycle and app.scene.badge.kind == "past"

    drive(test)


def test_playing_stops_at_a_breakpoint_and_at_the_end() -> None:
    async def test(app: Driven) -> None:
        app.session.add_breakpoint("cycle", 163)
        await app.press(*">" * 20)
        for stops_at in (163, 399):
            await app.pilot.press("space")
            await app.until(lambda: app.session.cycle == stops_at and not app.app.main.playback.is_on)
            await app.settle()
            assert app.cycle == stops_at and not app.app.main.playback.is_on

    drive(test)


def test_a_frame_that_is_due_before_the_stop_is_known_goes_no_further() -> None:
    session = make_session()
    session.goto(150)
    session.add_breakpoint("cycle", 163)
    worker: Any = SimpleNamespace(session=session, arrive=lambda *words, **more: None, post=lambda message: None)
    playback = Playback(None)
    for _ in range(2):
        requests.play(worker, playback, 100, 1000)
    assert session.cycle == 163


def test_search_finds_instructions() -> None:
    async def test(app: Driven) -> None:
        await app.press("/")
        await app.type("bar.sync")
        assert app.scene.panel == "code" and focus.cursor_pc(app.app.main) == 11
        await app.press("/")
        await app.type("fma")
        first = focus.cursor_pc(app.app.main)
        await app.press("n")
        second = focus.cursor_pc(app.app.main)
        assert first != second
        await app.press("N")
        assert focus.cursor_pc(app.app.main) == first
        await app.press("/")
        await app.type("nonsense")
        assert "no instruction contains" in app.scene.message

    drive(test)


COMMANDS = [
    ("123", 123), ("50%", 200), ("goto end", 399), ("step 7", 157), ("back 7", 143), ("until cycle == 222", 222),
    ("continue", 399), ("stepi 14", None),
]


def test_commands() -> None:
    async def test(app: Driven) -> None:
        for command, cycle in COMMANDS:
            await app.go(150)
            await app.press(":")
            assert app.app.main.prompt.has_focus and "(rfv) 37% 150 w0>" in app.screen_text()
            await app.type(command)
            assert not app.app.main.prompt.has_focus
            assert app.cycle == cycle if cycle is not None else app.cycle > 150, command

    drive(test)


def test_commands_that_answer_and_commands_that_are_wrong() -> None:
    async def test(app: Driven) -> None:
        await app.press(":")
        await app.type("print cycle")
        assert app.scene.message.startswith("cycle = 150")
        await app.press(":")
        await app.type("stpe")
        assert "no command 'stpe'" in app.scene.message and app.scene.message_kind == "error"
        await app.press(":")
        await app.type("until warp[3].nonsense == 1")
        assert app.scene.message_kind == "error" and app.cycle == 150
        await app.press(":")
        await app.type("info stalls")
        assert "ANSWER" in app.window_text() and "long_scoreboard" in app.window_text()
        await app.press("j", "escape", ":")
        await app.type("break if stall.barrier > 0")
        assert len(app.session.breakpoints) == 1
        await app.press(":")
        await app.type("warp 31")
        assert app.scene.warp == 31
        await app.press(":")
        await app.type("zoom")
        assert app.app.main.zoomed
        await app.press(":")
        await app.type("format hex")
        assert app.scene.number_format == "hex"
        await app.press(":")
        await app.type("mark here")
        assert app.session.marks.get("here").cycle == 150

    drive(test)


def test_the_prompt_keeps_its_history_and_closes() -> None:
    async def test(app: Driven) -> None:
        await app.press(":")
        await app.type("160")
        await app.press(":", "up")
        assert app.app.main.prompt.value == "160"
        await app.press("down")
        assert app.app.main.prompt.value == ""
        await app.press("escape")
        assert not app.app.main.prompt.has_focus
        await app.press(":", "c", "o", "n", "tab")
        assert app.app.main.prompt.value == "continue"
        await app.press("escape", "s")
        assert app.cycle == 161

    drive(test)


def test_copy_shows_the_command_line_that_comes_back_here() -> None:
    async def test(app: Driven) -> None:
        await app.press("y")
        assert app.scene.message == "copied: rfview replay first.rfs --goto 150 --warp 0"
        assert app.app.clipboard == "rfview replay first.rfs --goto 150 --warp 0"

    drive(test)


def test_quit_keys_end_the_program() -> None:
    for key in ("q", "ctrl+q"):
        async def test(app: Driven, key: str = key) -> None:
            await app.pilot.press(key)
            await app.pilot.pause()

        assert drive(test).return_code == 0


def test_ctrl_c_does_not_end_the_program() -> None:
    async def test(app: Driven) -> None:
        await app.press("ctrl+c", "ctrl+c")
        assert app.app.is_running and "quits" in app.scene.message

    drive(test)


def test_help_lists_everything_and_is_searched() -> None:
    async def test(app: Driven) -> None:
        await app.press("?")
        text = app.window_text()
        for category in CATEGORIES:
            assert category in text
        assert "EACH WARP, EACH CYCLE" in text
        assert text.index("WARPS, the panel in focus") < text.index("MOVE IN TIME")
        await app.press("/", *"barrier", "enter")
        text = app.window_text()
        assert "bar.sync" in text and "MOVE IN TIME" not in text
        await app.press("escape", "escape")
        assert app.app.screen is app.app.main
        await app.press("f1", "j", "G", "q")
        assert app.app.screen is app.app.main

    drive(test)


def test_help_scrolls_in_one_column_on_a_small_terminal() -> None:
    async def test(app: Driven) -> None:
        await app.type(":panel code")
        await app.press("?")
        text = app.window_text()
        assert "CODE, the panel in focus" in text and "the line in the PTX source" in text and "more below" in text
        await app.press("G")
        assert "MOVE IN TIME" not in app.window_text() and "more below" not in app.window_text()

    drive(test, size=(80, 24))


def test_why_popup_chooses_follows_and_goes() -> None:
    async def test(app: Driven) -> None:
        history = app.session.timeline.history
        warp = history[150].tolist().index(stalls.LONG_SCOREBOARD, 1)
        await app.press(*str(warp), "o", "e")
        assert f"WHY w{warp} does not issue at 150" in app.window_text()
        await app.press("2")
        assert app.app.screen.selected == 1
        await app.press("s")
        assert app.cycle == 151 and "at 151" in app.window_text()
        await app.press("y", "1", "enter")
        assert app.app.screen is app.app.main and app.cycle < 150 and "WHY" in app.app.clipboard

    drive(test)


def test_palette_runs_an_action() -> None:
    async def test(app: Driven) -> None:
        await app.pilot.press("ctrl+p")
        await app.until(lambda: app.app.screen is not app.app.main)
        for letter in "registers":
            await app.pilot.press(letter)
        await app.pilot.pause(0.5)
        await app.pilot.press("enter")
        await app.until(lambda: app.scene.panel == "registers")
        assert app.app.screen is app.app.main

    drive(test)


def test_a_keymap_of_the_users_own() -> None:
    async def test(app: Driven) -> None:
        await app.press("x")
        assert app.cycle == 151
        await app.press("g", "x")
        assert app.cycle == 161

    drive(test, keymap={"x": "step", "g x": "step_10"})
    with pytest.raises(ValueError, match="no action 'fly'"):
        KeyReader({"x": "fly"})


def test_held_keys_become_one_move() -> None:
    async def test(app: Driven) -> None:
        await app.press(*"s" * 60)
        assert app.cycle == 210

    drive(test)


# the table itself


def test_every_action_can_be_done_and_is_listed_once() -> None:
    keys = [tokens_of(key) for name in MAIN for key in BY_NAME[name].keys]
    assert set(HANDLERS) == set(MAIN), "HANDLERS of rfview/screens/handlers has a line for each action, and no other"
    assert len(keys) == len(set(keys)) and len(BY_NAME) == len(ACTIONS)
    for action in ACTIONS:
        assert action.sentence and action.category in (*CATEGORIES, *LOCAL)
        assert not action.reverse or BY_NAME[action.reverse].category == action.category or action.name == "begin"
    listed = {keys for _, keys, _ in help_rows()}
    without = {name for name in MAIN if not BY_NAME[name].keys}      # Enter does these in their panels: one row of no keys
    assert len(listed) - bool(without) == len(set(MAIN) - without - {action.reverse for action in ACTIONS if action.name in MAIN})
    assert not help_rows("no such word anywhere")


def test_sequences_counts_and_letters() -> None:
    reader = KeyReader()
    assert [reader.feed(key) for key in "50s"] == [None, None, Pressed("step", 50)]
    assert [reader.feed(key) for key in "gg"] == [None, Pressed("start")]
    assert [reader.feed(key) for key in "m0"] == [None, Pressed("mark", None, "0")]
    assert reader.feed("0") == Pressed("start")
    assert [reader.feed(key) for key in "10"] == [None, None] and reader.shown == "10"
    assert reader.feed("escape") is None and reader.shown == ""
    assert [reader.feed(key) for key in "]q"] == [None, None] and reader.shown == ""
    assert reader.feed("alt+3") == Pressed("panel", None, "3")


def test_labels_and_tokens() -> None:
    assert key_label("ctrl+o") == "Ctrl+o" and key_label("m *") == "m a" and key_label("g g") == "gg"
    assert key_label("right") == "→" and key_label("f5") == "F5" and Keys().label("step") == "s S"
    assert token_of("enter", "\r") == token_of("ctrl+j", "\n") == "enter", "a line feed comes for what was typed ahead"
    assert token_of("S", "S") == "S" and token_of("space", " ") == "space" and token_of("alt+o", None) == "alt+o"


def test_the_footer_shows_what_is_used_most_first() -> None:
    wide = footer_hints("warps", 120)
    assert wide[0] == ("s S", "step ±1", "step")
    assert ("]w [w", "RF stall ±", "next_rf") in wide
    assert ("]s [s", "stall ±", "next_stall") in footer_hints("warps", 120, has_register_file=False)
    assert footer_hints("registers", 80)[1][0] == "L H"


def test_a_stall_by_the_register_file_gets_the_focus() -> None:
    from rfview.sessions.timeline.opening import open_recording
    from rfview.sessions.session import Session

    recording = Path(__file__).resolve().parents[2] / "rfview" / "learn" / "recorded" / "drain.rfs"

    async def test(app: Driven) -> None:
        await app.settle()
        await app.press("1", "5", "o", "]", "w")
        states = app.session.timeline.states(app.cycle, app.cycle + 1)[0]
        assert app.scene.look(int(states[app.scene.warp])).is_register_file and app.scene.warp == 0
        await app.press("4", "o", "]", "w")
        assert app.scene.look(app.scene.now.state[4]).is_register_file and app.scene.warp == 4     # it takes part

    drive(test, opener=lambda report: Session(open_recording(recording)))


def test_the_footer_offers_the_events_of_the_design() -> None:
    from rfview.render.footer import footer_hints

    for has_register_file in (False, True):
        assert ("]d [d", "refresh ±", "next_activity") in footer_hints("warps", 120, has_register_file, activity="refresh")
    assert "RF stall ±" in [hint[1] for hint in footer_hints("warps", 120)]


def test_a_filter_ranks_the_name_before_its_beginning_a_word_a_part_the_text_and_misspelt_names() -> None:
    rows = [("sgemm_tiled", "x"), ("vector", "uses gemm"), ("dgemm", ""), ("gemm_double", ""), ("tiled_gemm", ""), ("gemm", ""),
            ("histogram", "")]
    ranked = Filter("gemm").ranked(rows, lambda row: row)
    assert [name for name, _ in ranked] == ["gemm", "gemm_double", "tiled_gemm", "sgemm_tiled", "dgemm", "vector"]
    assert [name for name, _ in Filter("histgrm").ranked(rows, lambda row: row)] == ["histogram"]
    assert Filter("").ranked(rows, lambda row: row) == rows and Filter("zzz").ranked(rows, lambda row: row) == []


def test_the_start_screen_runs_kernels_on_the_command_lines_design() -> None:
    from rfview.engine import defaults
    from rfview.start.page import Page

    assert Page().design == defaults.DESIGN
