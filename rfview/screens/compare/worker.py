"""The thread that works for the compare screens, and the messages by which it reports pictures, progress and errors."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable
from typing import Any

from textual.message import Message

from rfview import crash
from rfview.engine.errors import RfviewError
from rfview.engine.progress import Progress
from rfview.screens.compare.multiples import MultiplesSource
from rfview.screens.compare.source import CompareSource

REPORT_S = 0.1


class Stopped(RfviewError):
    """The user stopped the work in progress."""


class Painted(Message):
    """A new picture is ready; it supersedes earlier ones that have not been drawn."""

    def __init__(self, picture: Any):
        super().__init__()
        self.picture = picture

    def can_replace(self, message: Message) -> bool:
        """Keep only the newest."""
        return isinstance(message, Painted)


class Working(Message):
    """Work is in progress. text: the badge, "" when it is done."""

    def __init__(self, text: str):
        super().__init__()
        self.text = text

    def can_replace(self, message: Message) -> bool:
        """Keep only the newest."""
        return isinstance(message, Working)


class Told(Message):
    """A request has failed; the screen stays as it was."""

    def __init__(self, text: str):
        super().__init__()
        self.text = text


class Broken(Message):
    """The runs cannot be shown."""

    def __init__(self, error: Exception):
        super().__init__()
        self.error = error


class Worker:
    """Owns the source; serves requests in one thread, and paints once for all that were queued."""

    def __init__(self, make: Callable[[Progress], Any], post: Callable[[Message], Any]):
        self._make, self._post = make, post
        self.source: Any = None
        self._todo: deque[Callable[[Any], Any]] = deque()
        self._wake = threading.Condition()
        self._closing = self._cancel = False
        self._working = True
        self._began = self._reported = 0.0
        self.thread = threading.Thread(target=self._main, name="compare", daemon=True)

    def ask(self, request: Callable[[Any], Any]) -> None:
        """Queue a function of the source; a new source that it returns replaces the old one."""
        with self._wake:
            self._todo.append(request)
            self._wake.notify()

    def cancel(self) -> bool:
        """Stop the work in progress; return whether there was any. Not if it was told before: compiled code may not end."""
        with self._wake:
            self._todo.clear()
            before, self._cancel = self._cancel, self._working
            return self._working and not before

    @property
    def is_idle(self) -> bool:
        """Say whether no request is queued or being served."""
        with self._wake:
            return not self._todo and not self._working

    def close(self) -> None:
        """End the thread."""
        with self._wake:
            self._closing = self._cancel = True
            self._wake.notify()
        if self.thread.is_alive():
            self.thread.join(2.0)

    def _progress(self, fraction: float | None, text: str) -> None:
        """Report long work now and then; raises Stopped if the user has stopped it."""
        if self._cancel:
            raise Stopped("stopped")
        now = time.monotonic()
        if now - self._began > REPORT_S and now - self._reported > REPORT_S:
            self._reported = now
            self._post(Working(text))

    def _main(self) -> None:
        self._began = time.monotonic()
        try:
            self.source = self._make(self._progress)
            self._post(Painted(self.source.picture()))
        except Exception as error:
            self._post(Broken(error))
            self._working = False
            return
        while True:
            with self._wake:
                self._working = bool(self._todo)
                while not self._todo and not self._closing:
                    self._wake.wait()
                if self._closing:
                    return
                self._working, self._cancel = True, False
                requests = list(self._todo)
                self._todo.clear()
            self._serve(requests)

    def _serve(self, requests: list[Callable[[Any], Any]]) -> None:
        self._began, self._reported = time.monotonic(), 0.0
        try:
            for request in requests:
                found = request(self.source)
                if isinstance(found, CompareSource | MultiplesSource):
                    self.source = found
        except Exception as error:      # the thread must survive: a user's design may have defects, and so may we
            self.source.message, self.source.kind = crash.told(error), "info" if isinstance(error, Stopped) else "error"
        self._cancel = False
        try:
            self._post(Painted(self.source.picture()))
        except Exception as error:
            self._post(Told(crash.told(error)))
