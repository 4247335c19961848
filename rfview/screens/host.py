"""The Textual app on which all our programs are based: look, signals, defects, and the failure that ended it."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

from textual.app import App
from textual.binding import Binding, BindingType
from textual.driver import Driver
from textual.screen import Screen
from textual.theme import Theme
from textual.worker import WorkerFailed

from rfview import crash
from rfview.ending import ENDING
from rfview.engine.escapes import visible
from rfview.palette import Palette
from rfview.screens.drivers import sturdy
from rfview.widgets.panel import StripCache

LOOK_S = 1.0        # between checks that the terminal is still there
END_S = 5.0         # for a normal end if it is not
STYLES = Path(__file__).resolve().parent.parent / "rfview.tcss"


class HostApp(App[int]):
    """Shows one screen in a palette's colours until the user leaves. failure: the error that kept it from being shown."""

    CSS_PATH = STYLES
    TITLE = "rfview"
    ENABLE_COMMAND_PALETTE = False      # ours is a window like any other
    BINDINGS: ClassVar[list[BindingType]] = [Binding("ctrl+z", "suspend_process", show=False, priority=True)]
    failure: Any = None
    survived = 0        # defects that did not end the session
    pixels: Any = None  # widgets.pixels.Encoder, once a picture has been drawn with graphics
    main: Screen[Any]

    def __init__(self, palette: Palette, own_keys: Mapping[str, str] | None = None):
        """own_keys: of the user's key file, key sequence -> action name; they hold on every screen."""
        self._hang_up: Callable[[], object] = lambda: None     # ends the running screen, from any thread
        self._fail: Callable[[Exception], object] = lambda error: None     # as a defect does
        self._began_by = os.getppid()
        self.own_keys = own_keys or {}
        self._by_terminal = palette.has_few_colours
        # rfview has its own look without colours; Textual's filter would turn colours into greys instead
        no_color = os.environ.pop("NO_COLOR", None)
        super().__init__(ansi_color=self._by_terminal)
        if no_color is not None:
            os.environ["NO_COLOR"] = no_color
        self.strips = StripCache(palette)

    def get_driver_class(self) -> type[Driver]:
        """Return the driver for this terminal, with our input thread."""
        return sturdy(super().get_driver_class())

    def copy_to_clipboard(self, text: str) -> None:
        """Copy a text, with control characters in its data as escapes."""
        super().copy_to_clipboard(visible(text, "\n\t"))

    def on_mount(self) -> None:
        if self._by_terminal:
            self.theme = "ansi-dark" if "ansi-dark" in self.available_themes else "textual-ansi"    # before textual 8.2.5
        else:
            self.register_theme(theme_of(self.strips.palette))
            self.theme = "rfview"
        self.push_screen(self.main)
        if not self.is_headless:
            loop = asyncio.get_running_loop()
            loop.set_exception_handler(self._callback_failed)
            for number in (*ENDING, signal.SIGINT):
                loop.add_signal_handler(number, self.end_by_signal, number)
            self._hang_up = partial(loop.call_soon_threadsafe, self.end_by_signal, signal.SIGHUP)
            self._fail = lambda error: loop.call_soon_threadsafe(self._handle_exception, error)

    def end_by_signal(self, number: int) -> None:
        """Give the terminal back and end with the exit code that shells report for a signal."""
        self.exit(return_code=128 + number)

    def run(self, **options: Any) -> int | None:
        """Show the screen until the user leaves or the terminal is gone."""
        over, threads_end = threading.Event(), threading.excepthook
        threading.Thread(target=self._end_without_terminal, args=(over,), name="rfview-terminal", daemon=True).start()
        threading.excepthook = self._thread_failed
        try:
            return super().run(**options)
        finally:
            over.set()
            threading.excepthook = threads_end

    def _end_without_terminal(self, over: threading.Event) -> None:
        """End as a hang-up does if the terminal is gone: Textual would read from it, or wait to write to it, forever.

        In a browser: if the server that began us is gone. over: set when the screen has ended.
        """
        while not over.wait(LOOK_S):
            if os.getppid() != self._began_by if self.is_web else not has_terminal():
                with suppress(RuntimeError):    # the screen has just ended
                    self._hang_up()             # a normal end saves what is kept for the next session
                if not over.wait(END_S):
                    os._exit(128 + signal.SIGHUP)

    def show_text(self, lines: Sequence[str], name: str) -> None:
        """Show several lines in a window."""
        from rfview.screens.windows.popup import TextWindow  # for a fast start

        self.push_screen(TextWindow(tuple(lines), name))

    def show_over(self, below: Screen[Any], screen: Screen[Any]) -> None:
        """Show a screen over another, unless something is over that by now, as when Enter was pressed twice."""
        if self.screen is below:
            self.push_screen(screen)

    def survive(self, error: Exception) -> None:
        """Report what a handler or painter raised, write its crash report, and continue."""
        self.survived += 1
        self.main.say(crash.sentence(error), "error")  # type: ignore[attr-defined]

    def _callback_failed(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        """Report a defect in what the event loop itself called, which asyncio would print across the screen."""
        if isinstance(error := context.get("exception"), Exception):
            self.survive(error)

    def _thread_failed(self, died: threading.ExceptHookArgs) -> None:
        """End the program since one of its threads ended with a defect; without a terminal it ends anyway."""
        if isinstance(died.exc_value, Exception) and not isinstance(died.exc_value, OSError):
            with suppress(RuntimeError):    # the screen has just ended
                self._fail(died.exc_value)

    def _handle_exception(self, error: Exception) -> None:
        """End the program on a fatal defect; the caller gets the exception, and no traceback is printed in the terminal."""
        error = error.error if isinstance(error, WorkerFailed) and isinstance(error.error, Exception) else error
        self.failure = self.failure or error
        crash.sentence(error)       # writes the report first, in case ending takes long
        super()._handle_exception(error)
        self._exit_renderables.clear()

    def _fatal_error(self) -> None:
        """Close the screen. Textual would also draw a traceback, which works only while an exception is being handled."""
        self._close_messages_no_wait()

    def panic(self, *renderables: Any) -> None:
        """End as _handle_exception does on what Textual knows only as text."""
        if self.failure is None:
            self._handle_exception(RuntimeError(f"Textual's panic: {' '.join(map(str, renderables))}"))
        else:
            self._close_messages_no_wait()


def has_terminal() -> bool:
    """Say whether standard input is still a terminal."""
    try:
        import termios
    except ImportError:     # not a POSIX system
        return True
    try:
        termios.tcgetattr(sys.__stdin__.fileno() if sys.__stdin__ is not None else 0)
    except (termios.error, OSError, ValueError):
        return False
    return True


def theme_of(palette: Palette) -> Theme:
    """Return the Textual theme for what we do not paint ourselves: prompt, popups."""
    text, ground = palette.page
    light = palette.theme == "light"
    return Theme(
        name="rfview", primary="#2FCFA6" if not light else "#1F866C", foreground=text, background=ground,
        surface=palette.grounds["popup"], panel=palette.grounds["band"], dark=not light,
        variables={"border": "#4A5B70", "input-cursor-background": text, "input-cursor-foreground": ground},
    )
