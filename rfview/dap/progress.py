"""Reports the progress of compilation to an editor: by its own progress bar, or by lines in its console."""

from __future__ import annotations

import time

from rfview.dap.wire import Wire

BAR_SECONDS = 0.5       # between two updates of the bar
LINE_SECONDS = 10.0     # between two lines in the console


class Compiling:
    """The callback of compilation: (share 0..1, or None if unknown; text). has_bar: the editor has a progress bar."""

    def __init__(self, wire: Wire):
        self.has_bar = False
        self._wire = wire
        self._number = 0
        self._text = ""
        self._told_at = 0.0

    def __call__(self, share: float | None, text: str) -> None:
        """Report to the editor: at once if the work is new, then at intervals; a share of 1 ends it."""
        if share is None or share >= 1 or text != self._text:
            self._end()
        if share is not None and share >= 1:
            return
        now = time.monotonic()
        if text == self._text and now - self._told_at < (BAR_SECONDS if self.has_bar else LINE_SECONDS):
            return
        is_new, self._text, self._told_at = text != self._text, text, now
        percent = "" if not share else f", {share:.0%}"
        if not self.has_bar or share is None:
            self._wire.event("output", category="console", output=f"{text}{percent}\n")
            self._text = "" if share is None else text
        elif is_new:
            self._number += 1
            self._wire.event("progressStart", progressId=str(self._number), title=text, percentage=100 * share)
        else:
            self._wire.event("progressUpdate", progressId=str(self._number), percentage=100 * share)

    def _end(self) -> None:
        """Remove the progress bar, if there is one."""
        if self._text and self.has_bar:
            self._wire.event("progressEnd", progressId=str(self._number))
        self._text = ""
