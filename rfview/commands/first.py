"""Plain `rfview`: the start screen, then what is chosen there; without a terminal, the bundled recording as text."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rfview import streams
from rfview.commands import screen
from rfview.ending import Ended
from rfview.engine.errors import InputError, RfviewError

NAME = "first"
SIGNALLED = 128     # exit codes above it: a signal ended the session
BEGIN = "35%"   # an interesting place, shown before the first key is pressed


def bundled_recording() -> Path:
    """Return the bundled recording."""
    from rfview import sessions

    folder = Path(next(iter(sessions.__path__))) / "recorded"
    files = sorted(folder.glob("*.rfs"))
    if not files:
        raise InputError(f"{folder}: the bundled recording is missing; try: rfview debug vectoradd")
    return next((file for file in files if file.stem == NAME), files[0])


def run(parsed: Callable[[str, list[str]], tuple[Any, argparse.Namespace]]) -> int:
    """Show the start screen until the user quits or a signal ends it; whatever is opened from it returns to it.

    parsed: turns words into a command's module and arguments.
    """
    if not screen.is_terminal():
        return show_bundled()
    from rfview import keymap
    from rfview.start.items import BUNDLED
    from rfview.start.page import Page
    from rfview.start.screen import choose

    shown, bundled, own_keys = Page(), bundled_recording(), keymap.load()
    while (words := choose(bundled, shown, ascii_only=streams.is_ascii(), own_keys=own_keys)) is not None:
        shown.message = ""
        try:
            if words == BUNDLED:
                code = show_bundled()
            else:
                module, args = parsed(words[0], list(words[1:]))
                code = module.run(args)
            if code > SIGNALLED:
                raise Ended(code)
        except RfviewError as error:
            shown.message, shown.kind = str(error), "bad"
    return 0


def show_bundled() -> int:
    """Open the bundled recording, without saving its view at the end."""
    path = bundled_recording()
    try:
        shown = str(path.relative_to(Path.cwd()))
    except (ValueError, OSError):       # the file is elsewhere, or the current folder is gone
        shown = str(path)
    return screen.show_recording(shown, screen.defaults(goto=BEGIN))
