"""A thread that serves the requests of screens one after another, so that no screen ever waits."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from textual.message import Message

from rfview import crash
from rfview.messages import Notice

if TYPE_CHECKING:
    from rfview.sessions.session import Session

Post = Callable[[Message], object]
Opener = Callable[[Callable[..., None]], "Session"]
PATIENCE_S = 0.1        # a longer move shows its progress
REPORT_S = 0.1          # between two progress reports
STUCK_S = 1.0           # a move that is cancelled has ended by then


@dataclass
class Request:
    """A function to be called with the worker and these arguments."""

    function: Callable[..., None]
    arguments: tuple[Any, ...]


class Worker:
    """A thread that serves requests one after another, so that a screen never waits.

    Requests of all screens over one session are served by that session's worker. What a request raises is the business of
    `failed`, since the thread must survive.
    """

    def __init__(self, post: Post):
        """post takes messages for the screen, from any thread."""
        self.post = post
        self._queue: deque[Request] = deque()
        self._wake = threading.Condition()
        self._cancel = threading.Event()
        self._closing = False
        self._working = True
        self._began = self._cancelled = float("inf")
        self._reported = 0.0
        self.thread = threading.Thread(target=self._main, name="session worker", daemon=True)

    # called by screens

    def start(self) -> None:
        """Begin to serve requests."""
        self.thread.start()

    def ask(self, function: Callable[..., None], *arguments: Any) -> None:
        """Queue a request: a function and its arguments after the worker."""
        with self._wake:
            self._queue.append(Request(function, arguments))
            self._wake.notify()

    def ask_latest(self, function: Callable[..., None], *arguments: Any) -> None:
        """Queue a request that replaces queued ones of the same function."""
        with self._wake:
            self._queue = deque(request for request in self._queue if request.function is not function)
        self.ask(function, *arguments)

    def ask_sum(self, function: Callable[..., None], number: int) -> None:
        """Queue a request with a number, added to that of the last one if that is of the same function: held keys."""
        with self._wake:
            if self._queue and self._queue[-1].function is function:
                number += self._queue.pop().arguments[0]
        self.ask(function, number)

    def cancel(self) -> bool:
        """Stop the request being served, and drop those queued; return whether one was being served."""
        with self._wake:
            self._queue.clear()
        if self._working:
            if not self._cancel.is_set():
                self._cancelled = time.monotonic()
            self._cancel.set()
            return True
        return False

    @property
    def is_slow(self) -> bool:
        """Say whether a request has been served for longer than STUCK_S."""
        return self._working and time.monotonic() - self._began > STUCK_S

    @property
    def is_cancelled(self) -> bool:
        """Say whether the request being served is to stop."""
        return self._cancel.is_set()

    @property
    def is_stuck(self) -> bool:
        """Say whether a move was cancelled and goes on, as a loop in a design's hook does: nothing reports from within."""
        return self._working and self._cancel.is_set() and time.monotonic() - self._cancelled > STUCK_S

    @property
    def is_idle(self) -> bool:
        """Say whether no request is queued or being served."""
        with self._wake:
            return not self._queue and not self._working

    @property
    def is_last(self) -> bool:
        """Say whether no other request waits for the one being served."""
        with self._wake:
            return not self._queue

    def close(self, wait_s: float = 2.0) -> None:
        """End the thread; the request being served is cancelled."""
        with self._wake:
            self._closing = True
            self._queue.clear()
            self._cancel.set()
            self._wake.notify()
        if self.thread.is_alive() and threading.current_thread() is not self.thread:
            self.thread.join(wait_s)

    # the thread

    def _main(self) -> None:
        if not self.opened():
            self._working = False
            return
        while not self._closing:
            request = self._next()
            if request is not None:
                self.serve(request)

    def opened(self) -> bool:
        """Prepare what requests need; return whether that succeeded."""
        return True

    def use_idle_time(self) -> bool:
        """Do a little while no request is queued; return whether there is more to do."""
        return False

    def serve(self, request: Request) -> None:
        """Serve a request."""
        try:
            request.function(self, *request.arguments)
        except Exception as error:
            self.failed(error)

    def failed(self, error: Exception) -> None:
        """Report what a request raised."""
        self.post(Notice(crash.text_of(error), "error"))

    def is_due(self) -> bool:
        """Say whether a request has lasted so long, and reported so long ago, that it reports its progress now."""
        now = time.monotonic()
        if now - self._began <= PATIENCE_S or now - self._reported <= REPORT_S:
            return False
        self._reported = now
        return True

    def _next(self) -> Request | None:
        """Wait for the next request; None when the thread is to end."""
        with self._wake:
            if not self._queue:
                self._working = False
        while True:
            with self._wake:
                if self._queue or self._closing:
                    break
            if not self.use_idle_time():
                with self._wake:
                    if not self._queue and not self._closing:
                        self._wake.wait()
                    break
        with self._wake:
            if self._closing or not self._queue:
                return None
            self._working, self._began, self._reported = True, time.monotonic(), 0.0
            self._cancel.clear()
            return self._queue.popleft()
