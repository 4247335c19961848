"""Plain `rfview`: the bundled recording, on the screen or as text."""

from __future__ import annotations

from pathlib import Path

from rfview.engine.errors import InputError
from rfview.commands import screen

NAME = "first"
BEGIN = "35%"   # where something is to be seen, before the first key


def bundled_recording() -> Path:
    """Return the recorded session that comes with rfview."""
    from rfview import sessions

    folder = Path(next(iter(sessions.__path__))) / "recorded"
    files = sorted(folder.glob("*.rfs"))
    if not files:
        raise InputError(f"{folder}: the bundled recording is missing; try: rfview debug vectoradd")
    return next((file for file in files if file.stem == NAME), files[0])


def run() -> int:
    """Open the bundled recording."""
    path = bundled_recording()
    try:
        shown = str(path.relative_to(Path.cwd()))
    except (ValueError, OSError):       # elsewhere, or in a folder that is no more
        shown = str(path)
    return screen.show_recording(shown, screen.defaults(goto=BEGIN))
