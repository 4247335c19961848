"""The thread that moves in time: takes requests, joins held keys into one step, reports scenes; the screen never waits."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from engine.errors import RfviewError
from rfview.messages import Answered, Arrived, Busy, Failed, Said
from rfview.render.operation import with_lines
from rfview.render.scene import Badge
from rfview.render.text import plural
from rfview.screens.overlay import OverSource
from rfview.screens.source import SceneSource

if TYPE_CHECKING:
    from sessions.session import Session, Stop
    from sessions.replay import RecordedTimeline

Post = Callable[[Any], Any]
Opener = Callable[[Callable[..., None]], "Session"]
PATIENCE_S = 0.1        # a move that takes longer shows its progress
REPORT_S = 0.1          # and reports this often
JUMPS = frozenset({"goto", "continue", "until", "mark"})


@dataclass
class Request:
    """One thing for the driver: kind and arguments; steps that wait behind each other are added up."""

    kind: str
    value: Any = None
    extra: dict[str, Any] = field(default_factory=dict)


class Driver:
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

    # requests; each ends in a scene

    def _land(self, stop: Stop | None, *, jump: bool) -> None:
        """Report a stop; after a jump say where it came from."""
        assert self.session is not None and self.source is not None
        if self.source.compare is not None and self.source.follows_jumps:
            self.source.compare = self.session.came_from
        text, kind = "", "info"
        if stop is not None and (jump or stop.reason not in ("step", "goto")):
            text = with_lines(_sentence(stop, self._from), self.session.info.get("program", ()))
            kind = "error" if stop.reason == "fault" else "info"
        self._arrive(text, kind)

    def _do_step(self, request: Request) -> None:
        assert self.session is not None
        count = int(request.value)
        self._target = self.session.cycle + count
        stop = self.session.step(count) if count >= 0 else self.session.back(-count)
        self._land(stop, jump=False)

    def _do_goto(self, request: Request) -> None:
        assert self.session is not None
        self._target = self.session.resolve(request.value)
        self._land(self.session.goto(request.value), jump=True)

    def _do_end(self, request: Request) -> None:
        """Go to the end of a recording, or to the furthest cycle seen of a live run."""
        assert self.session is not None and self.source is not None
        timeline = self.session.timeline
        self._target = timeline.last if timeline.closed else self.source.seen
        self._land(self.session.goto(self._target), jump=True)

    def _do_continue(self, request: Request) -> None:
        assert self.session is not None
        self._land(self.session.continue_() if request.value >= 0 else self.session.reverse_continue(), jump=True)

    def _do_event(self, request: Request) -> None:
        """Go to the count-th next or previous event of a kind; where there is none, stay and say so."""
        assert self.session is not None
        extra = request.extra
        move = self.session.next_event if extra["forward"] else self.session.previous_event
        stop = move(request.value, extra["warp"], extra["count"])
        self._land(stop, jump=True)
        if request.value == "rf" and stop.reason == "condition":
            assert self.source is not None
            self.post(Answered("stalled", self.source.stalled_by_the_register_file()))

    def _do_find(self, request: Request) -> None:
        """Go to where a condition holds."""
        assert self.session is not None
        self._land(self.session.find(request.value, request.extra["forward"], request.extra["count"]), jump=True)

    def _do_run_to(self, request: Request) -> None:
        """Go to where a warp comes to an instruction."""
        assert self.session is not None
        extra = request.extra
        stop = self.session.run_to(request.value, extra["warp"], extra["forward"], extra["count"])
        self._land(stop, jump=True)

    def _do_change(self, request: Request) -> None:
        assert self.session is not None
        move = self.session.next_change if request.extra["forward"] else self.session.last_change
        self._land(move(request.value), jump=True)

    def _do_history(self, request: Request) -> None:
        assert self.session is not None
        self._land(self.session.history_back() if request.value < 0 else self.session.history_forward(), jump=True)

    def _do_previous_stop(self, request: Request) -> None:
        """Go to where the last jump came from, and so back and forth."""
        assert self.session is not None
        self._target = self.session.came_from
        self._land(self.session.previous_stop(), jump=True)

    def _do_mark(self, request: Request) -> None:
        assert self.session is not None
        mark = self.session.mark(request.value)
        self._arrive(f"mark {mark.name} is cycle {mark.cycle:,}; ' {mark.name} comes back", "good")

    def _do_next_mark(self, request: Request) -> None:
        assert self.session is not None
        cycle = self.session.cycle
        marks = [mark for mark in self.session.marks if (mark.cycle - cycle) * request.value > 0]
        if not marks:
            self._arrive("no mark that way; m and a letter sets one")
            return
        nearest = min(marks, key=lambda mark: abs(mark.cycle - cycle))
        self._land(self.session.goto(nearest.cycle), jump=True)

    def _do_break(self, request: Request) -> None:
        """Toggle a breakpoint at a pc."""
        assert self.session is not None
        pc, warp = request.value, request.extra.get("warp")
        same = [point for point in self.session.breakpoints.values() if point.kind == "pc" and point.value == pc]
        if same:
            for point in same:
                self.session.remove_breakpoint(point.number)
            self._arrive(f"breakpoint {same[0].number} removed")
            return
        point = self.session.add_breakpoint("pc", pc, warp=warp)
        program = self.session.info["program"]
        text = with_lines(f"{point.text}, {program[pc]['text']}", program)
        self._arrive(f"breakpoint {point.number}: {text}; c and C go there", "good")

    def _do_break_switch(self, request: Request) -> None:
        assert self.session is not None
        point = self.session.breakpoint(request.value)
        self.session.enable_breakpoint(point.number, not point.enabled)
        self._arrive(f"breakpoint {point.number} is {'on' if point.enabled else 'off'}")

    def _do_break_remove(self, request: Request) -> None:
        assert self.session is not None
        self.session.remove_breakpoint(request.value)
        self._arrive(f"breakpoint {request.value} removed")

    def _do_break_once(self, request: Request) -> None:
        """Let a breakpoint be removed at its next stop, or stay."""
        assert self.session is not None
        point = self.session.breakpoint(request.value)
        point.temporary = not point.temporary
        self._arrive(f"breakpoint {point.number} {'goes at its next stop' if point.temporary else 'stays'}")

    def _do_break_ignore(self, request: Request) -> None:
        """Pass over one more, or one less, of a breakpoint's next hits."""
        assert self.session is not None
        point = self.session.breakpoint(request.value)
        point.ignore = max(0, point.ignore + request.extra["by"])
        self._arrive(f"breakpoint {point.number}: the next {plural(point.ignore, 'hit')} are passed over")

    def _do_command(self, request: Request) -> None:
        """Run a line of the command language."""
        assert self.session is not None
        from sessions.verbs import execute

        answer = execute(self.session, request.value)
        if answer.session is not None:
            self._take(answer.session)
        lines = tuple(answer.text.splitlines())
        if answer.stop is not None:
            self._land(answer.stop, jump=True)
            return
        self._arrive(lines[0] if len(lines) == 1 else "")
        if answer.session is not None:
            self.post(Answered("session", answer.data))
        if "trace" in answer.data and answer.data["trace"]["cycles"]:
            self.post(Answered("trace", answer.data["trace"]))
        elif "stats" in answer.data:
            self.post(Answered("stats", answer.data["stats"], request.value))
        elif len(lines) > 1:
            self.post(Said("", "info", lines))

    def _do_watch(self, request: Request) -> None:
        """Watch an item, or no longer."""
        assert self.session is not None
        points = self.session.breakpoints.values()
        same = [point for point in points if point.kind == "watch" and point.item == request.value]
        for point in same:
            self.session.remove_breakpoint(point.number)
        if same:
            self._arrive(f"{request.value} is no longer watched")
            return
        point = self.session.watch(request.value)
        self._arrive(f"breakpoint {point.number}: {point.text}; c and C go to its changes", "good")

    def _do_play(self, request: Request) -> None:
        """Advance by so many cycles, stopping at a breakpoint on the way."""
        assert self.session is not None
        stop = self.session.play(request.value)
        if stop.reason == "step":
            self._arrive(badge=Badge("playing", f"► {request.extra['speed']:,}/s"))
            return
        self._arrive(stop.text, "error" if stop.reason == "fault" else "info")
        self.post(Said("", "stop"))

    def _do_diff(self, request: Request) -> None:
        """Turn the underline from the cycle before to the place come from, or to a mark, and back."""
        assert self.source is not None and self.session is not None
        if request.value:
            self.source.compare, self.source.follows_jumps = self.session.marks.get(request.value).cycle, False
            self._arrive(f"underlined: changed since mark {request.value}, cycle {self.source.compare:,}; d ends it")
        elif self.source.compare is not None:
            self.source.compare = None
            self._arrive("underlined: changed since the cycle before")
        elif self.session.came_from is None:
            self._arrive("no jump yet, so there is only the cycle before to compare with")
        else:
            self.source.compare, self.source.follows_jumps = self.session.came_from, True
            self._arrive(f"underlined: changed since {self.source.compare:,}, where the last jump came from")

    def _do_statistics(self, request: Request) -> None:
        """Answer what happened between two cycles."""
        assert self.session is not None
        self.post(Answered("statistics", self.session.stats(*request.value)))

    def _do_zoom(self, request: Request) -> None:
        assert self.source is not None
        source = self.source
        axis = source.spans if request.extra["panel"] == "timeline" else source.pipes
        if request.extra["panel"] in ("timeline", "pipeline"):
            axis.change_zoom(-request.value)
            self._arrive(f"1 column = {plural(axis.per, 'cycle')}")
            return
        self.source.zoom = max(0, min(24, self.source.zoom + request.value))
        first, last = self.source.span()
        self._arrive(f"overview: {first:,} to {last:,}" if self.source.zoom else "overview: the whole run")

    def _do_look(self, request: Request) -> None:
        """Zoom as it was when the session was left. value: steps of the overview and of TIMELINE."""
        assert self.source is not None
        overview, timeline = request.value
        self.source.zoom = overview
        self.source.spans.change_zoom(timeline - self.source.spans.zoom)
        self._arrive(request.extra["text"])

    def _do_brush(self, request: Request) -> None:
        """Begin or end a stretch at the cursor, take one between two places that are named, or drop it (None)."""
        assert self.source is not None
        brush = self.source.brush
        if request.value is None:
            brush.drop()
            self._arrive()
        elif request.value:
            brush.of_text(request.value)
            self._arrive()
        else:
            self._arrive(brush.turn())

    def _do_brush_to(self, request: Request) -> None:
        """Take the stretch that a pointer drags over, the cursor at its end."""
        assert self.source is not None and self.session is not None
        start, end = request.value
        self.session.goto(end)
        self.source.brush.between(start, self.session.cycle)
        self._arrive()

    def _do_timeline(self, request: Request) -> None:
        """Gather what TIMELINE shows from now on, `value` columns wide; 0 ends that."""
        assert self.source is not None
        self.source.spans.columns = request.value
        self.post(Arrived(self.source.scene()).keep())

    def _do_pipeline(self, request: Request) -> None:
        """Gather what PIPELINE shows of a warp from now on, `value` columns wide; 0 ends that."""
        assert self.source is not None
        self.source.pipes.columns, self.source.pipes.warp = request.value, request.extra["warp"]
        self.post(Arrived(self.source.scene()).keep())

    def _do_pipeline_warp(self, request: Request) -> None:
        """Let PIPELINE show another warp."""
        assert self.source is not None
        self.source.pipes.warp = request.value
        self.post(Arrived(self.source.scene()).keep())

    def _do_columns(self, request: Request) -> None:
        assert self.source is not None
        self.columns = self.source.columns = max(8, int(request.value))
        self.post(Arrived(self.source.scene()).keep())

    def _do_call(self, request: Request) -> None:
        """Let a function work with the session, here where nothing else touches it, and show where it stands."""
        request.value(self.session)
        self._arrive()

    def _do_overlay(self, request: Request) -> None:
        """Lay another run over this one, or take it off. value: a session file, a branch, "" for the last one or off."""
        assert self.source is not None and self.session is not None
        if not request.value and self.source.over is not None:
            self.source.over = None
            self._arrive("B is off; underlined: changed since the cycle before")
            return
        over, rival = self._other_run(request.value)
        if rival is not self.rival and self.rival is not None:
            self.rival.close()
        self.rival, self.source.over, self.source.warp = rival, over, request.extra["warp"]
        kinds = "" if over.same_kind else "; its register file is of another kind and not compared"
        self._arrive(f"underlined: differs in B; X ends it{kinds}", "good")

    def _other_run(self, name: str) -> tuple[OverSource, RecordedTimeline | None]:
        """Return the run to lay over, and the recording to keep open for the next time.

        name: a branch, or a recording, which is opened; "" the last recording, else this branch's parent or only child.
        """
        assert self.session is not None
        timeline = self.session.timeline
        if name and name not in self.session.family:
            from sessions.opening import open_recording

            opened = open_recording(name)
            try:
                return OverSource(timeline, opened, self._progress), opened
            except RfviewError:
                opened.close()
                raise
        if not name and self.rival is not None:
            return OverSource(timeline, self.rival, self._progress), self.rival
        from sessions.verbs_fork import partners

        other = next(one for one in partners(self.session, name) if one is not self.session)
        return OverSource(timeline, other.timeline, self._progress), self.rival

    def _do_overlay_warp(self, request: Request) -> None:
        """Align what is laid over by another warp."""
        assert self.source is not None
        self.source.warp = request.value
        self.post(Arrived(self.source.scene()).keep())

    def _do_refresh(self, request: Request) -> None:
        self._arrive(request.value or "")


def _speed(cycles_per_s: float) -> str:
    """Return cycles per second in a few cells: 1.4 M/s."""
    if cycles_per_s >= 1e6:
        return f"{cycles_per_s / 1e6:.1f} M/s"
    return f"{cycles_per_s / 1e3:.0f} k/s" if cycles_per_s >= 1e3 else f"{cycles_per_s:.0f}/s"


def _sentence(stop: Stop, start: int) -> str:
    """Return what the event row says about a stop: why, and how far from where."""
    moved = stop.cycle - start
    if not moved:
        return stop.text
    way = "on" if moved > 0 else "back"
    return f"{stop.text}; from {start:,}, {abs(moved):,} cycle{'s' if abs(moved) != 1 else ''} {way}"
