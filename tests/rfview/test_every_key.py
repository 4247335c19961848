"""Every key of the table must do what its action says; an action without a case here fails the test."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rfview.engine import stalls
from rfview.actions import BY_NAME, CATEGORIES, MAIN, tokens_of
from rfview.render.layout import layout, shown
from rfview.render.panels import FOCUSABLE as PANELS
from rfview.screens import requests
from rfview.sessions.search.history import History
from rfview.sessions.session import Session
from tests.rfview.pilots import Driven, drive

START = 150         # of cycles 0..399
Case = tuple[tuple[str, ...], Callable[[Driven], bool]]


def at(cycle: int, *before: str) -> Case:
    """Return a case that ends at a cycle."""
    return before, lambda app: app.cycle == cycle


def says(*parts: str, before: tuple[str, ...] = ()) -> Case:
    """Return a case that ends with words in the event row."""
    return before, lambda app: all(part in app.scene.message for part in parts)


def shows(*parts: str, before: tuple[str, ...] = ()) -> Case:
    """Return a case that ends with words in a window."""
    return before, lambda app: all(part in app.window_text() for part in parts)


def scene(name: str, value: Any, *before: str) -> Case:
    """Return a case that ends with a condition on the scene."""
    return before, lambda app: getattr(app.scene, name) == value


def state(app: Driven) -> list[int]:
    """Return every warp's state at the cursor."""
    return app.session.timeline.history[app.cycle].tolist()


def moved(test: Callable[[Driven], bool], forward: bool, *before: str) -> Case:
    """Return a case that ends at a later or earlier cycle at which a condition is true."""
    return before, lambda app: (app.cycle > START) == forward and app.cycle != START and test(app)


def issue(app: Driven) -> bool:
    return state(app)[app.scene.warp] == stalls.ISSUED


def waits(app: Driven) -> bool:
    return state(app)[app.scene.warp] not in (stalls.ISSUED, stalls.FINISHED, stalls.NO_CTA)


def conflict(app: Driven) -> bool:
    return stalls.BANK_CONFLICT in state(app)


def changed(app: Driven) -> bool:
    history = app.session.timeline.history
    return history[app.cycle, app.scene.warp] != history[app.cycle - 1, app.scene.warp]


def opened(name: str) -> Case:
    """Return a case that ends in another screen."""
    return (), lambda app: type(app.app.screen).__name__ == name


NOT_HERE, NO_LINES = "sram does nothing by itself", "the program has no source lines"

# action -> keys before it, and the condition after it; * in a key stands for the letter a
CASES: dict[str, Case] = {
    "step": at(151), "back": at(149), "step_10": at(160), "back_10": at(140), "step_100": at(250), "back_100": at(50),
    "next_issue": moved(issue, True), "previous_issue": moved(issue, False),
    "next_line": says(NO_LINES), "previous_line": says(NO_LINES),
    "next_stall": moved(waits, True), "previous_stall": moved(waits, False),
    "next_conflict": moved(conflict, True), "previous_conflict": moved(conflict, False),
    "next_rf": says("no later cycle with a stall by the register file"),
    "previous_rf": says("no earlier cycle with a stall by the register file"),
    "next_activity": says(NOT_HERE), "previous_activity": says(NOT_HERE),
    "next_mark": at(START, "m", "a", "g", "g"), "previous_mark": at(START, "m", "a", "G"),
    "start": at(0), "end": at(399), "percent": at(200, "5", "0"),
    "play": ((), lambda app: app.app.main.playback.is_on), "slower": scene("speed", 5),
    "faster": scene("speed", 20),
    "continue": at(160, ":", *"break 160", "enter"), "reverse_continue": at(140, ":", *"break 140", "enter"),
    "break_here": ((), lambda app: [point.kind for point in app.session.breakpoints.values()] == ["pc"]),
    "breakpoints": shows("BREAKPOINTS", "none: b sets one"),
    "watch_here": ((), lambda app: [point.item for point in app.session.breakpoints.values()] == ["w0.state"]),
    "watches": shows("BREAKPOINTS", "watch w0.state", "before", before=("w",)),
    "run_to_cursor": moved(lambda app: True, True), "run_back_to_cursor": moved(lambda app: True, False),
    "mark": ((), lambda app: app.session.marks.get("a").cycle == START),
    "goto_mark": at(START, "m", "a", "G"), "previous_stop": at(START, "G"), "history_back": at(START, "G"),
    "history_forward": at(399, "G", "ctrl+o"),
    "why": opened("WhyWindow"), "next_change": moved(changed, True), "last_change": moved(changed, False),
    "diff": (("G",), lambda app: app.scene.before.cycle == START),
    "diff_mark": (("m", "a", "G"), lambda app: app.scene.before.cycle == START),
    "statistics": shows("STATISTICS", "start 0", "cursor 150", "WARP-CYCLES", "balanced ✓"),
    "brush": ((), lambda app: "a range begins at cycle 150" in app.scene.message),
    "every_hit": ((), lambda app: app.app.main.prompt.value == "trace w0.state at "),
    "heat": ((), lambda app: app.app.main.prompt.value == "heat w0.R0"),
    "image": ((), lambda app: app.app.main.prompt.value == "image "),
    "fork": ((), lambda app: app.app.main.prompt.value == "fork b1 set "),
    "reload": says("a recording holds one run"),
    "compare": ((), lambda app: app.scene.message_kind == "error" and "fork" in app.scene.message),
    "overlay": ((), lambda app: app.app.main.prompt.value == "overlay "),
    "swap_design": shows("ANOTHER DESIGN", "● sram", "hrf", "the same instruction of w0"),
    "load_kernel": shows("ANOTHER KERNEL", "gemm"),
    "follow": says("sram loses no bits"), "next_arrival": says("nothing is followed yet"),
    "previous_arrival": says("nothing is followed yet"),
    "check": says("has no run that can be simulated again"),
    "capture": ((), lambda app: app.app.main.prompt.value == "capture gemm-150.rfs"),
    "search": ((), lambda app: app.app.main.prompt.mode == "/" and app.app.main.prompt.is_open),
    "search_next": moved(conflict, True, ":", *"find stall.bank_conflict > 0", "enter"),
    "search_previous": moved(conflict, False, ":", *"rf stall.bank_conflict > 0", "enter"),
    "explain": opened("ExplainWindow"), "command": ((), lambda app: app.app.main.prompt.mode == ":"),
    "help": opened("HelpScreen"),
    "focus_next": scene("panel", "lens"), "focus_previous": scene("panel", shown(layout(120, 40))[-1]),
    "panel": ((), lambda app: True), "zoom": ((), lambda app: app.app.main.zoomed),
    "down": scene("warp", 2), "up": scene("warp", 0, "j"), "other_side": scene("warp", 1),
    "open": scene("panel", "registers"), "close": scene("panel", "warps", "r"),
    "timeline": ((), lambda app: app.scene.panel == "timeline" and "1 column = 1 cycle" in app.screen_text()),
    "pipeline": ((), lambda app: app.scene.panel == "pipeline" and "PIPELINE  w0" in app.screen_text()),
    "lines": ((), lambda app: app.scene.panel == "lines" and "-lineinfo" in app.screen_text()),
    "summary": scene("panel", "summary"), "open_sentence": says("no sentence yet"),
    "relief": shows("RELIEF"),
    "to_holder": says("no source lines"), "to_wait": says("no source lines"),
    "registers": scene("panel", "registers"), "lanes_right": scene("lane", 4, "r"),
    "lanes_left": scene("lane", 0, "r", "L"), "number_format": scene("number_format", "hex", "r"),
    "source": scene("code_source", True),
    "zoom_in": ((), lambda app: app.scene.overview.edges[-1] - app.scene.overview.edges[0] < 300),
    "zoom_out": ((), lambda app: app.scene.overview.edges[-1] == 399),
    "palette": ((), lambda app: app.app.screen is not app.app.main),
    "copy_panel": ((), lambda app: app.app.clipboard.startswith("▌WARPS") and "copied WARPS" in app.scene.message),
    "message": shows("MESSAGE", "no text to search for yet", before=("n",)),
    "screenshot": says("written: gemm-sram-150.svg"),
    "copy": says("copied: rfview replay"),
}


# these need an argument, a branch or the whole machine, which the fake timeline lacks, or end the program
UNTYPED = ("quit", "relief", "mark", "goto_mark", "panel", "percent", "diff_mark", "palette", "why", "compare", "follow",
           "next_arrival", "previous_arrival", "check", "reload")


@pytest.fixture(autouse=True)
def in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run in a temporary folder: some keys write files."""
    monkeypatch.chdir(tmp_path)


async def reset(app: Driven) -> None:
    """Bring the app back to where each case begins."""
    main = app.app.main
    if app.app.screen is not main:
        app.app.screen.dismiss()
        await app.settle()
    if main.prompt.is_open:
        main.prompt.close()
    main.playback.stop()
    main.keys.reset()
    main.zoomed, main.sought = False, ""
    await app.settle()

    def forget(session: Session) -> None:
        """Reset the session, in the worker's thread, which searches for breakpoint hits meanwhile."""
        source = app.app.worker.source
        session.breakpoints.clear()
        for mark in list(session.marks):
            session.marks.remove(mark.name)
        source.zoom, source.compare, session.came_from = 0, None, None
        source.brush.drop()
        session.goto(START)
        session._history = History(START)

    app.app.worker.ask(requests.call, forget)
    await app.settle()
    main.scene = main.scene.at(warp=0, bank=0, lane=0, reg=0, number_format="auto", code_source=False, scroll=0, speed=10,
                               panel="warps", message="")
    main.lay_out()
    await app.settle()


@pytest.mark.parametrize("category", CATEGORIES)
def test_every_key_does_what_its_action_says(category: str) -> None:
    async def test(app: Driven) -> None:
        for action in map(BY_NAME.get, MAIN):
            if action.category != category or action.name == "quit":
                continue
            before, holds = CASES[action.name]
            for sequence in action.keys:
                await reset(app)
                await app.press(*before)
                keys = ["a" if token == "*" else token for token in tokens_of(sequence)]
                for key in keys[:-1]:
                    await app.press(key)
                if action.name in ("play", "palette"):      # neither becomes idle by itself
                    await app.pilot.press(*keys)
                    await app.pilot.pause(0.05)
                else:
                    await app.press(keys[-1])
                assert holds(app), f"{sequence} does not do {action.name}: {app.scene.message!r} at {app.session.cycle}"
        await reset(app)

    drive(test, goto=START)


def test_no_action_is_without_a_case() -> None:
    missing = set(MAIN) - set(CASES) - {"quit"}      # quit is tested in test_keys.py
    assert not missing, f"add cases for {', '.join(sorted(missing))}"
    assert not set(CASES) - set(BY_NAME)


def test_an_action_that_takes_a_letter_is_typed_with_it_or_says_what_is_missing() -> None:
    taking = [action for action in map(BY_NAME.get, MAIN) if action.takes_letter]
    assert [action.name for action in taking] == ["mark", "goto_mark", "diff_mark", "panel"]

    async def test(app: Driven) -> None:
        for action in taking:
            if not action.command or action.name == "mark":     # mark is a command of sessions too, with a name of its own
                continue
            await reset(app)
            await app.press("m", "a", "G", ":")
            await app.type(action.command)
            said = app.scene.message
            assert app.scene.message_kind == "error" and said.startswith(f"{action.command}: expected"), said
            await app.press(":")
            await app.type(f"{action.command} {'3' if action.name == 'panel' else 'a'}")
            assert app.scene.message_kind != "error", app.scene.message
        assert app.scene.panel == PANELS[2]
        await app.press(":")
        await app.type("goto-mark a")
        assert app.session.cycle == START
        for word, said in (("a", "expected a number from 1 to 13, or one of warps, lens"), ("li", "LINES"), ("register f",
                           "REGISTER FILE"), ("w", "expected"), ("99", "expected")):
            await app.press(":")
            await app.type(f"panel {word}")
            assert said in app.scene.message
        assert app.scene.panel == "lens"
        await app.pilot.press("ctrl+p")
        await app.pilot.pause(0.05)
        names = [row[0].name for row in app.app.screen.rows]
        assert not {"palette", "mark", "goto_mark", "diff_mark"} & {*names} and names.count("panel") == len(PANELS)
        await app.press(*"panel time", "enter")
        assert app.scene.panel == "timeline"
        await reset(app)

    drive(test, goto=START)


def test_every_action_with_a_command_can_be_typed() -> None:
    async def test(app: Driven) -> None:
        for action in map(BY_NAME.get, MAIN):
            if not action.command or action.name in UNTYPED:
                continue
            await reset(app)
            await app.press(*CASES[action.name][0], ":")
            await app.type(action.command)
            said = app.scene.message
            assert app.scene.message_kind != "error" or NOT_HERE in said or NO_LINES in said, (action.command, said)
        await reset(app)

    drive(test, goto=START)
