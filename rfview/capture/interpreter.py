"""Chooses the Python for a user's script: the one named, the script's own, the active environment's, or this one."""

from __future__ import annotations

import os
import re
import shutil
import sys
from pathlib import Path

from rfview.engine.errors import InputError


def python_of(script: Path, chosen: str | None) -> str:
    """Return the path of the Python for a script; chosen: --python. Raises InputError if there is no such program.

    In this order: `chosen`; the script's first line (#!/path/to/python; one that searches PATH does not count); that of the
    active virtual environment; the one running rfview.
    """
    if chosen is not None:
        found = shutil.which(chosen)
        if found is None:
            raise InputError(f"--python {chosen}: there is no such program")
        return found
    if (own := _first_line(script)) is not None:
        return own
    folder = os.environ.get("VIRTUAL_ENV", "")
    active = shutil.which("python", path=str(Path(folder) / "bin")) if folder else None
    return active or sys.executable


def is_script(program: Path) -> bool:
    """Return whether a program's first line names a Python, with its path or searched for in PATH."""
    return any(re.fullmatch(r"python[\d.]*", Path(word).name) for word in _words(program)[:3])


def _words(script: Path) -> list[str]:
    """Return the words after #! in a script's first line, [] if it has none."""
    try:
        with script.open("rb") as file:
            line = file.readline(512)
    except OSError:
        return []
    return line[2:].decode("utf-8", "replace").split() if line.startswith(b"#!") else []


def _first_line(script: Path) -> str | None:
    """Return the Python that a script's #! line names with its path, None if there is none."""
    words = _words(script)
    if not words or "python" not in Path(words[0]).name or not Path(words[0]).is_absolute():
        return None
    return shutil.which(words[0])
