"""The progress bar of commands, for compiling, simulating and reading, on standard error."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

BAR_WIDTH = 24
QUIET_SECONDS = 10.0    # between two lines of progress without a terminal


class Progress:
    """A progress bar on stderr: redrawn in place on a terminal, otherwise an occasional line.

    patience_s: nothing is shown for work that takes less time.
    """

    def __init__(self, patience_s: float = 0.0) -> None:
        self._is_terminal = sys.stderr.isatty()
        self._patience_s = patience_s if self._is_terminal or not patience_s else QUIET_SECONDS
        self._began_at = time.monotonic()
        self._drawn_at = 0.0
        self._open = False

    def __call__(self, fraction: float | None, text: str) -> None:
        """Show `text` with a bar filled to `fraction` (0..1; None: no bar, since the end is unknown); 1 removes it.

        text "": clear the line until the next call, for others to write; the work goes on.
        """
        now = time.monotonic()
        if not text:
            self._erase()
            return
        if fraction is not None and fraction >= 1:
            self.close()
            return
        if now - self._began_at < self._patience_s:
            return
        if now - self._drawn_at < (0.05 if self._is_terminal else QUIET_SECONDS) and self._drawn_at:
            return
        self._drawn_at = now
        if not self._is_terminal:
            part = f", {min(fraction, 1.0):.0%}" if fraction else ""
            sys.stderr.write(f"rfview: {text}{part}\n")
        else:
            bar = ""
            if fraction is not None:
                filled = round(BAR_WIDTH * min(max(fraction, 0.0), 1.0))
                bar = "█" * filled + "░" * (BAR_WIDTH - filled) + f" {fraction:4.0%} "
            self._clear()
            sys.stderr.write(f"{bar}{text}")
            self._open = True
        sys.stderr.flush()

    def close(self) -> None:
        """Remove the bar; what is shown next is other work."""
        self._began_at = time.monotonic()
        self._erase()

    def _erase(self) -> None:
        if self._open:
            self._clear()
            sys.stderr.flush()
            self._open = False

    @staticmethod
    def _clear() -> None:
        """Clear the terminal's current line."""
        getattr(sys.stderr, "control", sys.stderr.write)("\r\x1b[2K")


@contextmanager
def bar(patience_s: float = 0.0) -> Iterator[Progress]:
    """Yield a Progress that is cleared at the end in any case."""
    shown = Progress(patience_s)
    try:
        yield shown
    finally:
        shown.close()
