"""rfview: a time-travelling visual debugger for GPU register files; `rfview.open` is its public face."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from engine import __version__

if TYPE_CHECKING:
    from sessions import Session

__all__ = ["__version__", "open"]


def open(target: str | Path, **options: Any) -> Session:
    """Open a recorded session (`f.rfs`), a launch file or a bundled kernel's name, and return its Session.

    options: design, scheduler, preset, settings, max_cycles; only for what runs live. A recording is read without
    importing numba. Raises engine.errors.InputError for a target that cannot be opened.
    """
    from sessions import open_session

    return open_session(str(target), **options)
