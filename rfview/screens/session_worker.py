"""The worker that owns the session: opens it, moves it, and sends the screen a scene of where it has arrived."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from rfview import crash
from rfview.engine.errors import InputError, RfviewError
from rfview.messages import Answered, Arrived, Busy, Failed, Notice
from rfview.render.scene import DEFAULT_KEYS, Badge
from rfview.screens.scenes.source import SceneSource
from rfview.screens.worker import Post, Request, Worker

if TYPE_CHECKING:
    from rfview.sessions.branches.study import Trials
    from rfview.sessions.session import Session
    from rfview.sessions.timeline.replay import RecordedTimeline

IDLE_REPORT_S = 0.3       # between two reports of what is done while idle
Opener = Callable[[Callable[..., None]], "Session"]


class SessionWorker(Worker):
    """Owns the session and the source of its scenes, once it is open; everything that touches them runs in this one thread.

    target: the cycle to which the current request goes, None if that is not known; start_cycle: where it began.
    trials: what RELIEF tries, simulated while no request is served. columns: of the overview, keys: of the main screen, both
    set by it. rival: the recording last laid over the session.
    """

    session: Session
    source: SceneSource

    def __init__(self, opener: Opener, post: Post):
        """opener(report) opens the session, in this thread."""
        super().__init__(post)
        self.opener, self.is_open = opener, False
        self.rival: RecordedTimeline | None = None
        self.trials: Trials | None = None
        self.start_cycle = 0
        self.target: int | None = None
        self.columns = 118
        self.keys = DEFAULT_KEYS
        self._busy_shown = False
        self._progress_shown = 0.0
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
        """Scan one chunk for breakpoint hits, reported at the end of the scan; then count a stretch for SUMMARY."""
        before = len(self.source.hits)
        try:
            more = self.source.scan()
            if not more and self.source.summary.advance():
                self._show_progress()
                return True
            if not more and self.trials is not None:
                return self._advance_trials()
            if not more and self.source.hits_key != self._shown_hits:
                self._shown_hits = self.source.hits_key
                self.post(Arrived(self.source.scene()).keep())
        except Exception as error:      # a damaged chunk, or a defect: the thread must survive
            self.trials = None
            self.post(Notice(str(error) if isinstance(error, RfviewError) else crash.sentence(error), "error"))
            return False
        return more or len(self.source.hits) != before

    def _advance_trials(self) -> bool:
        """Simulate a little of what RELIEF tries; tell it now and then, and at the end."""
        trials = self.trials
        assert trials is not None
        more, now = trials.advance(), time.monotonic()
        if not more or now - self._progress_shown > IDLE_REPORT_S:
            self._progress_shown = now
            self.post(Answered("study", trials.study()))
        if not more:
            self.trials = None
        return more

    def _show_progress(self) -> None:
        """Show how far the count for SUMMARY is, now and then, and its result."""
        now = time.monotonic()
        if self.source.summary.is_made or now - self._progress_shown > IDLE_REPORT_S:
            self._progress_shown = now
            self.post(Arrived(self.source.scene()).keep())

    def serve(self, request: Request) -> None:
        """Serve one request; whatever goes wrong becomes a sentence in the event row."""
        self.start_cycle, self.target = self.session.cycle, None
        self._busy_shown = False
        super().serve(request)
        if self._busy_shown:
            self.post(Busy(""))

    def failed(self, error: Exception) -> None:
        """Report at the cursor what a request raised; a defect like any other error."""
        self._arrive_safely(crash.text_of(error), "error")

    def _arrive_safely(self, text: str, kind: str) -> None:
        """Show the scene at the cursor, with a sentence; only the sentence if the scene cannot be built."""
        try:
            self.arrive(text, kind)
        except Exception as error:
            self.post(Notice(f"{text}; {error}", "error"))

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
