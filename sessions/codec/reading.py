"""The compiled reader of states (direct.py), loaded beside a replay that goes on seeking, if it is compiled already.

To load numba takes as long as to open a recording: the first states are read by changes.py, with the same result.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from itertools import count

# chunks that a state is asked of before numba is loaded
AFTER = 32
THREAD = "rfview reader"


class Reader:
    """direct.state_at, once it is there."""

    def __init__(self, after: int = AFTER):
        self.state_at: Callable[..., bool] | None = None
        self._after = after
        self._chunks = count(1)

    def count(self) -> None:
        """Count a chunk that a state is asked of; begin to load when there have been so many."""
        if next(self._chunks) == self._after:
            # not a daemon: to end the process within an import is not safe, and it takes a moment only
            threading.Thread(target=self.load, name=THREAD).start()

    def load(self) -> None:
        """Load it, unless that meant to compile it, or Python ran it; a numba that is broken takes nothing from a replay."""
        try:
            from rfview.engine.compile import jit      # imports numba
            from rfview.sessions.codec import warm

            if warm.is_ready() and not jit.OFF:
                from rfview.sessions.codec import direct

                direct.load()
                self.state_at = direct.state_at
        except (ImportError, OSError, RuntimeError):
            return


READER = Reader()
