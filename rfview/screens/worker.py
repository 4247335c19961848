"""The thread that serves the requests of all screens, and owns the session; no screen ever waits."""

from __future__ import annotations

import gc
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rfview import crash
from rfview.engine.errors import InputError, RfviewError
from rfview.messages import Arrived, Busy, Failed, Said
from rfview.render.scene import DEFAULT_KEYS, Badge
from rfview.screens.scenes.source import SceneSource

if TYPE_CHECKING:
    from rfview.sessions.session import Session
    from rfview.sessions.timeline.replay import RecordedTimeline

Post = Callable[[Any], Any]
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
        self.post(Said(crash.told(error), "error"))

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


class SessionWorker(Worker):
    """Owns the session and the source of its scenes, once it is open; everything that touches them runs in this one thread.

    target: the cycle to which the current request goes, None if that is not known; start_cycle: where it began.
    columns: of the overview, keys: of the main screen, both set by it. rival: the recording last laid over the session.
    """

    session: Session
    source: SceneSource

    def __init__(self, opener: Opener, post: Post):
        """opener(report) opens the session, in this thread."""
        super().__init__(post)
        self.opener, self.is_open = opener, False
        self.rival: RecordedTimeline | None = None
        self.start_cycle = 0
        self.target: int | None = None
        self.columns = 118
        self.keys = DEFAULT_KEYS
        self._busy_shown = False
        self._shown_hits: tuple[Any, ...] = ()

    def close(self, wait_s: float = 2.0) -> None:
        """End the thread, and close the recording laid over the session."""
        super().close(wait_s)
        if self.rival is not None:
            self.rival.close()

    # the thread

    def opened(self) -> bool:
        """Open the session, and show its first scene."""
        try:
            session = self.opener(self._opening)
        except Exception as error:
            self.post(Failed(f"{error}" or type(error).__name__, error))
            return False
        session.came_from = None       # opening at a cycle is not a jump by the user
        self.switch_to(session)
        warnings = session.warnings
        notes = [*session.info.setting_notes, *session.info.compile_notes]
        self._arrive_safely(warnings[0] if warnings else "; ".join(notes), "error" if warnings else "info")
        return True

    def switch_to(self, session: Session) -> None:
        """Show this session from now on: the one just opened, or another branch."""
        session.progress, session.compiling = self.progress, self._compiling
        source = SceneSource(session)
        old, before = (self.session, self.source) if self.is_open else (None, None)
        source.columns = self.columns
        if before is not None:      # open panels stay open
            source.spans.zoom, source.pipes.zoom = before.spans.zoom, before.pipes.zoom
            for name, mine in source.gathered.items():
                mine.columns, mine.warp = before.gathered[name].columns, before.gathered[name].warp
        self.session, self.source, self.is_open = session, source, True
        for member in session.family.values():
            if member is not session:
                member.timeline.drop_caches()
        if old is not None and old.family is not session.family:
            del old, before
            gc.collect()        # another kernel's branches refer to each other, and keep machines alive

    def _opening(self, *facts: Any) -> None:
        """Report the progress of opening: (share, text) or (text,)."""
        share = next((fact for fact in facts if isinstance(fact, float)), None)
        text = next((fact for fact in facts if isinstance(fact, str)), "opening")
        self.post(Busy(f"opening {share:.0%}" if share is not None else "opening", text))

    def _compiling(self, share: float | None, text: str) -> None:
        """Report how far loading or compiling a recording's machine or another design is. Raises InputError after Esc."""
        if self.is_cancelled:
            raise InputError("stopped while compiling; it starts over when it is needed again")
        self._busy_shown = True
        cancel = self.keys.tail("close", "cancels")
        self.post(Busy("loading" if share is None else f"compiling {share:.0%}", f"{text}{cancel}"))

    def use_idle_time(self) -> bool:
        """Scan one chunk for breakpoint hits; report new ones at the end of the scan."""
        before = len(self.source.hits)
        try:
            more = self.source.scan()
            if not more and self.source.hits_key != self._shown_hits:
                self._shown_hits = self.source.hits_key
                self.post(Arrived(self.source.scene()).keep())
        except Exception as error:      # a damaged chunk, or a defect: the thread must survive
            self.post(Said(str(error) if isinstance(error, RfviewError) else crash.sentence(error), "error"))
            return False
        return more or len(self.source.hits) != before

    def serve(self, request: Request) -> None:
        """Serve one request; whatever goes wrong becomes a sentence in the event row."""
        self.start_cycle, self.target = self.session.cycle, None
        self._busy_shown = False
        super().serve(request)
        if self._busy_shown:
            self.post(Busy(""))

    def failed(self, error: Exception) -> None:
        """Report at the cursor what a request raised; a defect like any other error."""
        self._arrive_safely(crash.told(error), "error")

    def _arrive_safely(self, text: str, kind: str) -> None:
        """Show the scene at the cursor, with a sentence; only the sentence if the scene cannot be built."""
        try:
            self.arrive(text, kind)
        except Exception as error:
            self.post(Said(f"{text}; {error}", "error"))

    def arrive(self, text: str = "", kind: str = "info", badge: Badge | None = None, warp: int | None = None) -> None:
        """Report the scene at the cursor, and a sentence for the event row. kind: info | error | good. warp: to focus."""
        self.post(Arrived(self.source.scene(text, kind, badge), warp))

    def progress(self, cycle: int) -> bool:
        """Take a long move's report: show it now and then; return whether the move has to stop."""
        if self.is_due():
            self._busy_shown = True
            self.post(Busy(self._busy_text(cycle), self.keys.tail("close", "cancels").lstrip("; ")))
        return self.is_cancelled

    def end_of_busy(self) -> None:
        """Show the scene at the cursor if a request that does not move it has reported progress."""
        if self._busy_shown:
            self.arrive()

    def _busy_text(self, cycle: int) -> str:
        """Return the badge of a long move: how far, or how fast if the end is not known."""
        timeline = self.session.timeline
        if self.target is not None and self.target != self.start_cycle:
            share = (cycle - self.start_cycle) / (self.target - self.start_cycle)
            return f"seeking {max(0.0, min(1.0, share)):.0%}"
        if not timeline.closed and cycle >= timeline.last:
            speed = max(0, cycle - self.start_cycle) / max(1e-6, time.monotonic() - self._began)
            return f"simulating {_speed(speed)}"
        share = (cycle - timeline.first) / max(1, timeline.last - timeline.first)
        return f"at {max(0.0, min(1.0, share)):.0%}"


def _speed(cycles_per_s: float) -> str:
    """Return a speed as a short text: 1.4 M/s."""
    if cycles_per_s >= 1e6:
        return f"{cycles_per_s / 1e6:.1f} M/s"
    return f"{cycles_per_s / 1e3:.0f} k/s" if cycles_per_s >= 1e3 else f"{cycles_per_s:.0f}/s"
