"""Handlers that move in time: steps, events of a kind, places in the run, and playback."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from rfview.engine.wording import plural
from rfview.keys import Pressed
from rfview.screens import requests

if TYPE_CHECKING:
    from rfview.screens.desk import Desk

Handler = Callable[["Desk", Pressed], None]
SPEEDS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 20_000, 50_000, 100_000, 200_000, 500_000,
          1_000_000)


def step(by: int) -> Handler:
    """Go forward (by > 0) or back by a number of cycles; a count repeats it."""
    return lambda main, pressed: main.worker.ask_sum(requests.step, by * (pressed.count or 1))


def event(kind: str, forward: bool) -> Handler:
    """Go to the next or previous event of a kind, of any warp; a count repeats it."""
    return lambda main, pressed: main.worker.ask(requests.event, kind, forward, pressed.count or 1)


def event_of_warp(kind: str, forward: bool) -> Handler:
    """Go to the next or previous event of a kind of the focused warp."""
    return lambda main, pressed: main.worker.ask(requests.event, kind, forward, pressed.count or 1, main.scene.warp)


def line(forward: bool) -> Handler:
    """Go to where the focused warp reaches another source line; a count repeats it."""
    return lambda main, pressed: main.worker.ask(requests.line, main.scene.warp, forward, pressed.count or 1)


def start(main: Desk, pressed: Pressed) -> None:
    """Go to the first cycle; with a count, to that cycle."""
    main.worker.ask(requests.goto, pressed.count if pressed.count is not None else "start")


def end(main: Desk, pressed: Pressed) -> None:
    """Go to the last cycle; with a count, to that cycle."""
    if pressed.count is not None:
        main.worker.ask(requests.goto, pressed.count)
    else:
        main.worker.ask(requests.end)


def percent(main: Desk, pressed: Pressed) -> None:
    """Go to a share of the run: 50%."""
    if pressed.count is None:
        main.say("a number before it: 50% is the middle of the run")
    else:
        main.worker.ask(requests.goto, f"{pressed.count}%")


def play(main: Desk, pressed: Pressed) -> None:
    """Play, or pause."""
    if main.playback.is_on:
        main.playback.stop()
    else:
        main.playback.start()


def speed(by: int) -> Handler:
    """Play faster (by > 0) or slower; a count repeats it."""

    def handler(main: Desk, pressed: Pressed) -> None:
        at = min(range(len(SPEEDS)), key=lambda index: abs(SPEEDS[index] - main.scene.speed))
        chosen = SPEEDS[max(0, min(len(SPEEDS) - 1, at + by * (pressed.count or 1)))]
        main.change(speed=chosen, message=f"{plural(chosen, 'cycle')} a second", message_kind="info")

    return handler


HANDLERS: dict[str, Handler] = {
    "step": step(1), "back": step(-1), "step_10": step(10), "back_10": step(-10),
    "step_100": step(100), "back_100": step(-100),
    "next_issue": event_of_warp("issue", True), "previous_issue": event_of_warp("issue", False),
    "next_line": line(True), "previous_line": line(False),
    "next_stall": event_of_warp("stall", True), "previous_stall": event_of_warp("stall", False),
    "next_conflict": event("conflict", True), "previous_conflict": event("conflict", False),
    "next_rf": event("rf", True), "previous_rf": event("rf", False),
    "next_activity": event("activity", True), "previous_activity": event("activity", False),
    "next_mark": lambda main, pressed: main.worker.ask(requests.next_mark, 1),
    "previous_mark": lambda main, pressed: main.worker.ask(requests.next_mark, -1),
    "start": start, "end": end, "percent": percent, "play": play, "slower": speed(-1), "faster": speed(1),
}
