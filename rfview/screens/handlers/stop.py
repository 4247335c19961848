"""Handlers of stops: breakpoints, watchpoints, marks, the history."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from rfview.keys import Pressed
from rfview.render import lines
from rfview.screens import requests
from rfview.screens.handlers import focus
from rfview.screens.windows.breaks import BreaksWindow

if TYPE_CHECKING:
    from rfview.screens.main import MainScreen

Handler = Callable[["MainScreen", Pressed], None]


def break_here(main: MainScreen, pressed: Pressed) -> None:
    """Set or remove a breakpoint at the cursor of CODE or LINES; with a count, only for that warp."""
    if main.scene.panel == "lines" and main.scene.lines:
        main.worker.ask(requests.toggle_line_breakpoint, lines.chosen(main.scene), pressed.count)
        return
    main.worker.ask(requests.toggle_breakpoint, focus.cursor_pc(main), pressed.count)


def go_to_chosen_line(main: MainScreen, forward: bool | None, count: int = 1) -> None:
    """Go to where the focused warp reaches the line chosen in LINES; forward None: next, or previous if there is none."""
    if main.scene.lines:
        main.worker.ask(requests.run_to_line, lines.chosen(main.scene), main.scene.warp, forward, count)
        main.change(line=-1)


def breakpoints(main: MainScreen, pressed: Pressed) -> None:
    """Open the list of breakpoints and marks."""
    main.app.push_screen(BreaksWindow(main))


def watch_here(main: MainScreen, pressed: Pressed) -> None:
    """Start or stop watching the focused item; with a count in REGISTERS, only that lane."""
    lane = f"[{pressed.count}]" if main.scene.panel == "registers" and pressed.count is not None else ""
    main.worker.ask(requests.toggle_watchpoint, focus.focused_item(main) + lane)


def watches(main: MainScreen, pressed: Pressed) -> None:
    """Open the list of breakpoints at the watchpoints."""
    main.app.push_screen(BreaksWindow(main, at="watch"))


def run_to_cursor(forward: bool | None) -> Handler:
    """Go to where the focused warp reaches CODE's cursor; forward None: next time, or previous if there is none."""

    def handler(main: MainScreen, pressed: Pressed) -> None:
        if main.scene.panel == "lines":
            go_to_chosen_line(main, forward, pressed.count or 1)
            return
        main.worker.ask(requests.run_to, focus.cursor_pc(main), main.scene.warp, forward, pressed.count or 1)
        main.change(scroll=0)

    return handler


HANDLERS: dict[str, Handler] = {
    "continue": lambda main, pressed: main.worker.ask(requests.resume, True),
    "reverse_continue": lambda main, pressed: main.worker.ask(requests.resume, False),
    "break_here": break_here, "breakpoints": breakpoints, "watch_here": watch_here, "watches": watches,
    "run_to_cursor": run_to_cursor(None), "run_back_to_cursor": run_to_cursor(False),
    "mark": lambda main, pressed: main.worker.ask(requests.mark, pressed.argument),
    "goto_mark": lambda main, pressed: main.worker.ask(requests.goto, f"@{pressed.argument}"),
    "previous_stop": lambda main, pressed: main.worker.ask(requests.previous_stop),
    "history_back": lambda main, pressed: main.worker.ask(requests.history, -1),
    "history_forward": lambda main, pressed: main.worker.ask(requests.history, 1),
}
