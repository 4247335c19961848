"""A recording whose checksums are right may still hold what does not fit together: whatever that breaks is one sentence."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rfview.engine.errors import InputError

if TYPE_CHECKING:
    from rfview.sessions.timeline.base import Timeline

# what the use of a wrong number, name or type can raise
BROKEN = (ArithmeticError, AssertionError, AttributeError, LookupError, MemoryError, RecursionError, TypeError, ValueError)


@contextmanager
def consistent(timeline: Timeline) -> Iterator[None]:
    """Turn what a recording breaks into an InputError that names the file; of a live run it is a defect, which stays."""
    try:
        yield
    except BROKEN as error:
        path = getattr(timeline, "path", None)
        if path is None or os.environ.get("RFVIEW_TRACEBACK"):
            raise
        raise InputError(f"{path}: its contents are inconsistent ({type(error).__name__}: {error}); record the run "
                         "again (RFVIEW_TRACEBACK=1 shows where)") from error
