"""What each request to the driver does: a move of the session, or a question to it; every one ends in a scene."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from rfview.sessions.reports.statistics import stats
from rfview.engine.errors import RfviewError
from rfview.messages import Answered, Arrived, Said
from rfview.render.operation import with_lines
from rfview.render.scene import Badge
from rfview.render.text import plural
from rfview.screens.overlay import OverSource
from rfview.screens.source import SceneSource

if TYPE_CHECKING:
    from collections.abc import Callable

    from rfview.sessions.timeline.replay import RecordedTimeline
    from rfview.sessions.session import Session, Stop


@dataclass
class Request:
    """One thing for the driver: kind and arguments; steps that wait behind each other are added up."""

    kind: str
    value: Any = None
    extra: dict[str, Any] = field(default_factory=dict)


class Requests:
    """Mixed into Driver: one method _do_KIND per kind of request, called in its thread."""

    post: Any
    session: Session | None
    source: SceneSource | None
    rival: RecordedTimeline | None
    _from: int
    _target: int | None
    _arrive: Callable[..., None]
    _progress: Callable[[int], bool]
    _take: Callable[[Session], None]

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
        from rfview.sessions.commands.table import execute

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
        self.post(Answered("statistics", stats(self.session, *request.value)))

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
        self._gathered()

    def _do_pipeline(self, request: Request) -> None:
        """Gather what PIPELINE shows of a warp from now on, `value` columns wide; 0 ends that."""
        assert self.source is not None
        self.source.pipes.columns, self.source.pipes.warp = request.value, request.extra["warp"]
        self._gathered()

    def _do_pipeline_warp(self, request: Request) -> None:
        """Let PIPELINE show another warp."""
        assert self.source is not None
        self.source.pipes.warp = request.value
        self._gathered()

    def _do_columns(self, request: Request) -> None:
        assert self.source is not None
        self.columns = self.source.columns = max(8, int(request.value))
        self._gathered()

    def _gathered(self) -> None:
        """Show the same place with what the views now ask for, the message as it is."""
        assert self.source is not None
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
            from rfview.sessions.timeline.opening import open_recording

            opened = open_recording(name)
            try:
                return OverSource(timeline, opened, self._progress), opened
            except RfviewError:
                opened.close()
                raise
        if not name and self.rival is not None:
            return OverSource(timeline, self.rival, self._progress), self.rival
        from rfview.sessions.commands.branch import partners

        other = next(one for one in partners(self.session, name) if one is not self.session)
        return OverSource(timeline, other.timeline, self._progress), self.rival

    def _do_overlay_warp(self, request: Request) -> None:
        """Align what is laid over by another warp."""
        assert self.source is not None
        self.source.warp = request.value
        self.post(Arrived(self.source.scene()).keep())

    def _do_refresh(self, request: Request) -> None:
        self._arrive(request.value or "")


def _sentence(stop: Stop, start: int) -> str:
    """Return what the event row says about a stop: why, and how far from where."""
    moved = stop.cycle - start
    if not moved:
        return stop.text
    way = "on" if moved > 0 else "back"
    return f"{stop.text}; from {start:,}, {abs(moved):,} cycle{'s' if abs(moved) != 1 else ''} {way}"
