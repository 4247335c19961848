"""Handlers of stops: breakpoints, watchpoints, marks, the history."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from rfview.keys import Pressed
from rfview.render import panels
from rfview.screens import requests
from rfview.screens.handlers import focus
from rfview.screens.windows.breaks import BreaksWindow

if TYPE_CHECKING:
    from rfview.screens.desk import Desk

Handler = Callable[["Desk", Pressed], None]


def break_here(main: Desk, pressed: Pressed) -> None:
    """Set or remove a breakpoint at the cursor of CODE or LINES, or at the pc given; with a count, only for that warp."""
    line = panels.of(main.scene.panel).line(main.scene)
    if line is not None and line >= 0:
        main.worker.ask(requests.toggle_line_breakpoint, line, pressed.count)
    else:
        pc = int(pressed.argument) if pressed.argument else focus.cursor_pc(main)
        main.worker.ask(requests.toggle_breakpoint, pc, pressed.count)


def breakpoints(main: Desk, pressed: Pressed) -> None:
    """Open the list of breakpoints and marks."""
    main.app.push_screen(BreaksWindow(main))


def watch_here(main: Desk, pressed: Pressed) -> None:
    """Start or stop watching the focused item; with a count in REGISTERS, only that lane."""
    main.worker.ask(requests.toggle_watchpoint, focus.focused_item(main, pressed.count))


def watches(main: Desk, pressed: Pressed) -> None:
    """Open the list of breakpoints at the watchpoints."""
    main.app.push_screen(BreaksWindow(main, at="watch"))


def run_to_cursor(forward: bool | None) -> Handler:
    """Go to where the focused warp reaches the cursor of CODE or LINES; forward None: next time, else the previous one."""

    def handler(main: Desk, pressed: Pressed) -> None:
        line = panels.of(main.scene.panel).line(main.scene)
        if line is not None:
            if line >= 0:
                main.worker.ask(requests.run_to_line, line, main.scene.warp, forward, pressed.count or 1)
                main.change(line=-1)
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
