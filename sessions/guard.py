"""Errors caused by inconsistent recordings, whose checksums may well be right: each becomes one message."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rfview.engine.errors import InputError

if TYPE_CHECKING:
    from rfview.sessions.timeline.base import Timeline

# what wrong numbers, names or types can raise
BROKEN = (ArithmeticError, AssertionError, AttributeError, LookupError, MemoryError, RecursionError, TypeError, ValueError)


@contextmanager
def consistent(timeline: Timeline) -> Iterator[None]:
    """Turn errors caused by a recording into an InputError that names the file; in a live run they are defects, and stay."""
    try:
        yield
    except BROKEN as error:
        path = getattr(timeline, "path", None)
        if path is None or os.environ.get("RFVIEW_TRACEBACK"):
            raise
        raise InputError(f"{path}: its contents are inconsistent ({type(error).__name__}: {error}); record the run "
                         "again (RFVIEW_TRACEBACK=1 shows where)") from error
