"""Defects of rfview itself: the message shown, and the report file with the traceback."""

from __future__ import annotations

import os
import platform
import sys
import tempfile
import time
import traceback
from collections.abc import Iterator
from pathlib import Path

from rfview import __version__
from rfview.engine import files
from rfview.engine.errors import InputError, RfviewError
from rfview.engine.escapes import visible

# the report of each defect, by its kind and place: one that recurs in every frame is written once
_written: dict[tuple[str, str, int], Path | None] = {}


def sentence(error: BaseException) -> str:
    """Return a one-line message for a defect that names its report; the report is written on first occurrence."""
    frames = traceback.extract_tb(error.__traceback__)
    key = (type(error).__name__, frames[-1].filename, frames[-1].lineno or 0) if frames else (type(error).__name__, "", 0)
    if key not in _written:
        _written[key] = _write(error, len(_written))
    report = _written[key]
    text = " ".join(f"internal error: {type(error).__name__}: {error}".split())
    return visible(f"{text[:200]}; report: {report}" if report else text[:200])


def text_of(error: Exception) -> str:
    """Return an error's own message, or the sentence for a defect."""
    return str(error) if isinstance(error, RfviewError) else sentence(error)


def state_folder() -> Path | None:
    """Return the folder for the program's state, None if the environment names no home folder."""
    home = os.environ.get("XDG_STATE_HOME")
    if home or os.environ.get("HOME"):
        return Path(home or Path(os.environ["HOME"]) / ".local" / "state") / "rfview"
    return None


def folders() -> Iterator[Path]:
    """Yield the folders to try for a report: the one for the program's state, then the one for temporary files."""
    if (state := state_folder()) is not None:
        yield state
    yield Path(tempfile.gettempdir())


def _write(error: BaseException, number: int) -> Path | None:
    """Write a report and return its path, None if it cannot be written anywhere."""
    lines = "".join(traceback.format_exception(error))
    about = (f"rfview {__version__}, Python {platform.python_version()}, {platform.platform()}\n"
             f"{' '.join(sys.argv)}\n\n")
    for folder in folders():
        path = folder / f"rfview-crash-{time.strftime('%Y%m%d-%H%M%S')}-{os.getpid()}-{number}.txt"
        try:
            folder.mkdir(parents=True, exist_ok=True)
            files.write(path, visible(about + lines, "\n\t"))
            return path
        except (OSError, InputError):
            continue
    return None
