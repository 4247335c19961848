"""The thread that moves in time: takes requests, joins held keys into one step, reports scenes; the screen never waits."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from rfview.engine.errors import RfviewError
from rfview.messages import Arrived, Busy, Failed, Said
from rfview.render.scene import Badge
from rfview.screens.requests import Request, Requests
from rfview.screens.source import SceneSource

if TYPE_CHECKING:
    from rfview.sessions.session import Session
    from rfview.sessions.timeline.replay import RecordedTimeline

Post = Callable[[Any], Any]
Opener = Callable[[Callable[..., None]], "Session"]
PATIENCE_S = 0.1        # a move that takes longer shows its progress
REPORT_S = 0.1          # and reports this often


class Driver(Requests):
    """Owns the session; everything that touches it runs in this one thread."""

    def __init__(self, opener: Opener, post: Post):
        self.opener, self.post = opener, post
        self.session: Session | None = None
        self.source: SceneSource | None = None
        self.rival: RecordedTimeline | None = None      # the recording that was last laid over the session
        self.columns = 118
        self._queue: deque[Request] = deque()
        self._wake = threading.Condition()
        self._cancel = threading.Event()
        self._closing = False
        self._working = True
        self._began = 0.0
        self._reported = 0.0
        self._from = 0
        self._target: int | None = None
        self._busy_shown = False
        self.thread = threading.Thread(target=self._main, name="driver", daemon=True)

    # called by the screen

    def start(self) -> None:
        """Open the session in the background."""
        self.thread.start()

    def ask(self, kind: str, value: Any = None, **extra: Any) -> None:
        """Queue a request."""
        with self._wake:
            if kind in ("columns", "overlay_warp", "brush_to", "pipeline_warp"):     # only the newest counts
                self._queue = deque(request for request in self._queue if request.kind != kind)
            self._queue.append(Request(kind, value, extra))
            self._wake.notify()

    def cancel(self) -> bool:
        """Stop the long move that goes on; return whether there was one."""
        with self._wake:
            self._queue.clear()
        if self._working:
            self._cancel.set()
            return True
        return False

    @property
    def is_idle(self) -> bool:
        """Say whether nothing is asked for and nothing goes on."""
        with self._wake:
            return not self._queue and not self._working

    def close(self, wait_s: float = 2.0) -> None:
        """End the thread; a move in progress is cancelled."""
        with self._wake:
            self._closing = True
            self._queue.clear()
            self._cancel.set()
            self._wake.notify()
        if self.thread.is_alive() and threading.current_thread() is not self.thread:
            self.thread.join(wait_s)
        if self.rival is not None:
            self.rival.close()

    # the thread

    def _main(self) -> None:
        try:
            self.session = self.opener(self._opening)
        except Exception as error:
            self.post(Failed(f"{error}" or type(error).__name__, error))
            self._working = False
            return
        self.session.progress, self.session.compiling = self._progress, self._compiling
        self.session.came_from = None       # where the session was opened is no jump of the user's
        self.source = SceneSource(self.session)
        self.source.columns = self.columns
        warnings = self.session.warnings
        self._arrive(warnings[0] if warnings else "", "error" if warnings else "info")
        while not self._closing:
            request = self._next()
            if request is None:
                continue
            self._serve(request)

    def _take(self, session: Session) -> None:
        """Go on with another branch of the session."""
        session.progress, session.compiling = self._progress, self._compiling
        self.session, before = session, self.source
        self.source = SceneSource(session)
        self.source.columns = self.columns
        if before is not None:      # what is open stays open
            self.source.spans.columns, self.source.spans.zoom = before.spans.columns, before.spans.zoom
            self.source.pipes.columns, self.source.pipes.zoom = before.pipes.columns, before.pipes.zoom
            self.source.pipes.warp = before.pipes.warp

    def _opening(self, *facts: Any) -> None:
        """Report how far opening is: (share, text) or (text,)."""
        share = next((fact for fact in facts if isinstance(fact, float)), None)
        text = next((fact for fact in facts if isinstance(fact, str)), "opening")
        self.post(Busy(f"opening {share:.0%}" if share is not None else "opening", text))

    def _compiling(self, share: float, text: str) -> None:
        """Report how far compiling is that a request needs: a recording's machine, another design."""
        self._busy_shown = True
        self.post(Busy(f"compiling {share:.0%}", text))

    def _next(self) -> Request | None:
        """Return the next request with equal ones behind it joined; look for breakpoint hits while there is none."""
        with self._wake:
            if not self._queue:
                self._working = False
        while True:
            with self._wake:
                if self._queue or self._closing:
                    break
            if self.source is None or not self._scan_once():
                with self._wake:
                    if not self._queue and not self._closing:
                        self._wake.wait()
                    break
        with self._wake:
            if self._closing or not self._queue:
                return None
            self._working = True
            self._cancel.clear()
            request = self._queue.popleft()
            while request.kind == "step" and self._queue and self._queue[0].kind == "step":
                request.value += self._queue.popleft().value
            return request

    def _scan_once(self) -> bool:
        """Scan one chunk; report the new hits at the end of the scan."""
        assert self.source is not None
        before = len(self.source.hits)
        more = self.source.scan()
        if not more and self.source.hits_key != getattr(self, "_shown_hits", ()):
            self._shown_hits = self.source.hits_key
            self.post(Arrived(self.source.scene()).keep())
        return more or len(self.source.hits) != before

    def _serve(self, request: Request) -> None:
        """Do one request; whatever goes wrong becomes a sentence in the event row."""
        assert self.session is not None
        self._began, self._reported = time.monotonic(), 0.0
        self._from, self._target = self.session.cycle, None
        self._busy_shown = False
        try:
            getattr(self, f"_do_{request.kind}")(request)
        except RfviewError as error:
            self._safe_arrive(str(error), "error")
        except Exception as error:      # the thread must live on: a defect of one request is told like any other mistake
            self._safe_arrive(f"{type(error).__name__}: {error}", "error")
        if self._busy_shown:
            self.post(Busy(""))

    def _safe_arrive(self, text: str, kind: str) -> None:
        """Show where the session stands with an error; only the error when even that cannot be shown."""
        try:
            self._arrive(text, kind)
        except Exception as error:
            self.post(Said(f"{text}; {error}", "error"))

    def _arrive(self, text: str = "", kind: str = "info", badge: Badge | None = None) -> None:
        assert self.source is not None
        self.post(Arrived(self.source.scene(text, kind, badge)))

    def _progress(self, cycle: int) -> bool:
        """Take a long move's report: show it now and then, and say whether to stop there."""
        now = time.monotonic()
        if now - self._began > PATIENCE_S and now - self._reported > REPORT_S:
            self._reported = now
            self._busy_shown = True
            self.post(Busy(self._busy_text(cycle, now), "Esc cancels"))
        return self._cancel.is_set()

    def _busy_text(self, cycle: int, now: float) -> str:
        """Return the badge of a long move: how far, or how fast when the end is not known."""
        assert self.session is not None
        timeline = self.session.timeline
        if self._target is not None and self._target != self._from:
            share = (cycle - self._from) / (self._target - self._from)
            return f"seeking {max(0.0, min(1.0, share)):.0%}"
        if not timeline.closed and cycle >= timeline.last:
            speed = max(0, cycle - self._from) / max(1e-6, now - self._began)
            return f"simulating {_speed(speed)}"
        share = (cycle - timeline.first) / max(1, timeline.last - timeline.first)
        return f"at {max(0.0, min(1.0, share)):.0%}"


def _speed(cycles_per_s: float) -> str:
    """Return cycles per second in a few cells: 1.4 M/s."""
    if cycles_per_s >= 1e6:
        return f"{cycles_per_s / 1e6:.1f} M/s"
    return f"{cycles_per_s / 1e3:.0f} k/s" if cycles_per_s >= 1e3 else f"{cycles_per_s:.0f}/s"
