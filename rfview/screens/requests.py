"""What the screen can ask of the session worker: one function per request, called in the worker's thread.

Each takes the worker, whose `session` and `source` nothing else touches meanwhile, and ends in a scene.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from rfview.engine.errors import RfviewError
from rfview.messages import Answered, Arrived, Said
from rfview.render.operation import with_lines
from rfview.render.scene import Badge
from rfview.render.text import plural
from rfview.sessions.guard import consistent
from rfview.sessions.reports.statistics import stats

if TYPE_CHECKING:
    from rfview.screens.scenes.overlay import OverSource
    from rfview.screens.worker import SessionWorker
    from rfview.sessions.cursor import Stop
    from rfview.sessions.session import Session
    from rfview.sessions.timeline.replay import RecordedTimeline


def land(worker: SessionWorker, stop: Stop | None, *, jump: bool) -> None:
    """Report a stop; after a jump say where it came from."""
    if worker.source.compare is not None and worker.source.follows_jumps:
        worker.source.compare = worker.session.came_from
    text, kind = "", "info"
    if stop is not None and (jump or stop.reason not in ("step", "goto")):
        text = with_lines(_sentence(stop, worker.start_cycle), worker.session.info.get("program", ()))
        kind = "error" if stop.reason == "fault" else "info"
    worker.arrive(text, kind, warp=stop.warp if stop is not None else None)


def _sentence(stop: Stop, start: int) -> str:
    """Return what the event row says about a stop: why, and how far from where."""
    moved = stop.cycle - start
    if not moved:
        return stop.text
    way = "on" if moved > 0 else "back"
    return f"{stop.text.rstrip(';')}; from {start:,}, {plural(abs(moved), 'cycle')} {way}"


# moving in time


def step(worker: SessionWorker, count: int) -> None:
    """Go on so many cycles, or back where count is negative. The worker adds up steps that wait behind each other."""
    session = worker.session
    worker.target = session.cycle + count
    land(worker, session.step(count) if count >= 0 else session.back(-count), jump=False)


def goto(worker: SessionWorker, place: int | str) -> None:
    """Go to a cycle, a mark or a share of the run."""
    worker.target = worker.session.resolve(place)
    land(worker, worker.session.goto(place), jump=True)


def end(worker: SessionWorker) -> None:
    """Go to the end of a recording, or to the furthest cycle seen of a live run."""
    timeline = worker.session.timeline
    worker.target = timeline.last if timeline.closed else worker.source.seen
    land(worker, worker.session.goto(worker.target), jump=True)


def play(worker: SessionWorker, cycles: int, speed: int) -> None:
    """Advance by so many cycles, stopping at a breakpoint on the way. speed: what the badge says."""
    stop = worker.session.play(cycles)
    if stop.reason == "step":
        worker.arrive(badge=Badge("playing", f"► {speed:,}/s"))
        return
    worker.arrive(stop.text, "error" if stop.reason == "fault" else "info", warp=stop.warp)
    worker.post(Said("", "stop"))


def resume(worker: SessionWorker, forward: bool) -> None:
    """Go on, or back, to a breakpoint."""
    land(worker, worker.session.continue_() if forward else worker.session.reverse_continue(), jump=True)


def event(worker: SessionWorker, kind: str, forward: bool, count: int = 1, warp: int | None = None) -> None:
    """Go to the count-th next or previous event of a kind; where there is none, stay and say so."""
    move = worker.session.next_event if forward else worker.session.previous_event
    stop = move(kind, warp, count)
    land(worker, stop, jump=True)
    if kind == "rf" and stop.reason == "condition":
        worker.post(Answered("stalled", worker.source.stalled_by_the_register_file()))


def line(worker: SessionWorker, warp: int, forward: bool, count: int = 1) -> None:
    """Go to where a warp comes to another source line; where it does not, stay and say so."""
    land(worker, worker.session.next_line(warp, forward, count), jump=True)


def run_to_line(worker: SessionWorker, number: int, warp: int, forward: bool | None, count: int) -> None:
    """Go to where a warp comes to a source line; forward None: on, else back."""
    session = worker.session
    stop = session.next_line(warp, forward is not False, count, number)
    if stop.reason == "not found" and forward is None:
        stop = session.next_line(warp, False, count, number)
    land(worker, stop, jump=True)


def find(worker: SessionWorker, condition: str, by: int) -> None:
    """Go to the by-th next, or where it is negative previous, cycle in which a condition comes to hold."""
    land(worker, worker.session.find(condition, by > 0, abs(by)), jump=True)


def run_to(worker: SessionWorker, pc: int, warp: int, forward: bool | None, count: int) -> None:
    """Go to where a warp comes to an instruction; forward None: on, else back."""
    land(worker, worker.session.run_to(pc, warp, forward, count), jump=True)


def change(worker: SessionWorker, item: str, forward: bool) -> None:
    """Go to the next or last change of an item."""
    move = worker.session.next_change if forward else worker.session.last_change
    land(worker, move(item), jump=True)


def history(worker: SessionWorker, by: int) -> None:
    """Go one stop back or on in the history."""
    land(worker, worker.session.history_back() if by < 0 else worker.session.history_forward(), jump=True)


def previous_stop(worker: SessionWorker) -> None:
    """Go to where the last jump came from, and so back and forth."""
    worker.target = worker.session.came_from
    land(worker, worker.session.previous_stop(), jump=True)


# marks


def mark(worker: SessionWorker, name: str) -> None:
    """Set a mark at the cursor."""
    made = worker.session.mark(name)
    worker.arrive(f"mark {made.name} is cycle {made.cycle:,}; '{made.name} comes back", "good")


def next_mark(worker: SessionWorker, by: int) -> None:
    """Go to the next mark, or the previous one where `by` is negative."""
    cycle = worker.session.cycle
    marks = [one for one in worker.session.marks if (one.cycle - cycle) * by > 0]
    if not marks:
        worker.arrive("no mark that way; m and a letter sets one")
        return
    nearest = min(marks, key=lambda one: abs(one.cycle - cycle))
    land(worker, worker.session.goto(nearest.cycle), jump=True)


# breakpoints and watchpoints


def toggle_breakpoint(worker: SessionWorker, pc: int, warp: int | None = None) -> None:
    """Set a breakpoint at a pc, or remove those that are there."""
    session = worker.session
    same = [point for point in session.breakpoints.values() if point.kind == "pc" and point.value == pc]
    if same:
        for point in same:
            session.remove_breakpoint(point.number)
        worker.arrive(f"breakpoint {same[0].number} removed")
        return
    point = session.add_breakpoint("pc", pc, warp=warp)
    program = session.info["program"]
    text = with_lines(f"{point.text}, {program[pc]['text']}", program)
    worker.arrive(f"breakpoint {point.number}: {text}; c and C go there", "good")


def toggle_line_breakpoint(worker: SessionWorker, number: int, warp: int | None = None) -> None:
    """Set a breakpoint at a source line, or remove those that are there."""
    session = worker.session
    name = session.lines.name_of(session.lines.lines[number])
    same = [point for point in session.breakpoints.values() if point.kind == "source" and point.value == number]
    for point in same:
        session.remove_breakpoint(point.number)
    if same:
        worker.arrive(f"breakpoint {same[0].number} removed")
        return
    point = session.add_breakpoint("source", item=name, warp=warp)
    worker.arrive(f"breakpoint {point.number}: {point.text}; c and C go there", "good")


def toggle_watchpoint(worker: SessionWorker, item: str) -> None:
    """Watch an item, or no longer."""
    session = worker.session
    same = [point for point in session.breakpoints.values() if point.kind == "watch" and point.item == item]
    for point in same:
        session.remove_breakpoint(point.number)
    if same:
        worker.arrive(f"{item} is no longer watched")
        return
    point = session.watch(item)
    worker.arrive(f"breakpoint {point.number}: {point.text}; c and C go to its changes", "good")


def switch_breakpoint(worker: SessionWorker, number: int) -> None:
    """Switch a breakpoint on or off."""
    point = worker.session.breakpoint(number)
    worker.session.enable_breakpoint(point.number, not point.enabled)
    worker.arrive(f"breakpoint {point.number} is {'on' if point.enabled else 'off'}")


def remove_breakpoint(worker: SessionWorker, number: int) -> None:
    """Remove a breakpoint."""
    worker.session.remove_breakpoint(number)
    worker.arrive(f"breakpoint {number} removed")


def break_once(worker: SessionWorker, number: int) -> None:
    """Let a breakpoint be removed at its next stop, or stay."""
    point = worker.session.breakpoint(number)
    point.temporary = not point.temporary
    worker.arrive(f"breakpoint {point.number} {'goes at its next stop' if point.temporary else 'stays'}")


def ignore_hits(worker: SessionWorker, number: int, by: int) -> None:
    """Pass over one more, or one less, of a breakpoint's next hits."""
    point = worker.session.breakpoint(number)
    point.ignore = max(0, point.ignore + by)
    worker.arrive(f"breakpoint {point.number}: the next {plural(point.ignore, 'hit')} are passed over")


# questions


def command(worker: SessionWorker, line: str) -> None:
    """Run a line of the command language."""
    from rfview.sessions.commands.table import execute     # start-up: most sessions begin with a key

    answer = execute(worker.session, line)
    if answer.session is not None:
        worker.take(answer.session)
    lines = tuple(answer.text.splitlines())
    if answer.stop is not None:
        land(worker, answer.stop, jump=True)
        return
    worker.arrive(lines[0] if len(lines) == 1 else "")
    if answer.session is not None:
        worker.post(Answered("session", answer.data))
    if "trace" in answer.data and answer.data["trace"]["cycles"]:
        worker.post(Answered("trace", answer.data["trace"]))
    elif "check" in answer.data:
        worker.post(Answered("check", answer.data["check"]))
    elif "stats" in answer.data:
        worker.post(Answered("stats", answer.data["stats"], line))
    elif len(lines) > 1:
        worker.post(Said("", "info", lines))


def statistics(worker: SessionWorker, first: int, last: int) -> None:
    """Answer what happened between two cycles."""
    worker.post(Answered("statistics", stats(worker.session, first, last)))


def diff(worker: SessionWorker, mark_name: str = "") -> None:
    """Turn the underline from the cycle before to the place come from, or to a mark, and back."""
    session, source = worker.session, worker.source
    if mark_name:
        source.compare, source.follows_jumps = session.marks.get(mark_name).cycle, False
        worker.arrive(f"underlined: changed since mark {mark_name}, cycle {source.compare:,}; d ends it")
    elif source.compare is not None:
        source.compare = None
        worker.arrive("underlined: changed since the cycle before")
    elif session.came_from is None:
        worker.arrive("no jump yet, so there is only the cycle before to compare with")
    else:
        source.compare, source.follows_jumps = session.came_from, True
        worker.arrive(f"underlined: changed since {source.compare:,}, where the last jump came from")


def brush(worker: SessionWorker, stretch: str | None) -> None:
    """Take a stretch between two places that are named; "" begins or ends one at the cursor, None drops it."""
    text = ""
    if stretch is None:
        worker.source.brush.drop()
    elif stretch:
        worker.source.brush.of_text(stretch)
    else:
        text = worker.source.brush.turn()
    worker.arrive(text)


def brush_to(worker: SessionWorker, start: int, stop: int) -> None:
    """Take the stretch that a pointer drags over, the cursor at its end."""
    worker.session.goto(stop)
    worker.source.brush.between(start, worker.session.cycle)
    worker.arrive()


# what the views gather


def zoom(worker: SessionWorker, by: int, panel: str) -> None:
    """Show a shorter stretch (by > 0) or a longer one, of TIMELINE or PIPELINE where that is open, else of the overview."""
    source = worker.source
    if panel in ("timeline", "pipeline"):
        axis = source.spans if panel == "timeline" else source.pipes
        axis.change_zoom(-by)
        worker.arrive(f"1 column = {plural(axis.per, 'cycle')}")
        return
    source.zoom = max(0, min(24, source.zoom + by))
    first, last = source.span()
    worker.arrive(f"overview: {first:,} to {last:,}" if source.zoom else "overview: the whole run")


def restore_zoom(worker: SessionWorker, overview: int, timeline: int, text: str) -> None:
    """Zoom overview and TIMELINE as they were when the session was left, and say `text`."""
    worker.source.zoom = overview
    worker.source.spans.change_zoom(timeline - worker.source.spans.zoom)
    worker.arrive(text)


def columns(worker: SessionWorker, count: int) -> None:
    """Gather an overview of so many columns."""
    worker.columns = worker.source.columns = count
    _show_again(worker)


def timeline(worker: SessionWorker, count: int) -> None:
    """Gather what TIMELINE shows from now on, so many columns wide; 0 ends that."""
    worker.source.spans.columns = count
    _show_again(worker)


def pipeline(worker: SessionWorker, count: int, warp: int) -> None:
    """Gather what PIPELINE shows of a warp from now on, so many columns wide; 0 ends that."""
    worker.source.pipes.columns, worker.source.pipes.warp = count, warp
    _show_again(worker)


def lines(worker: SessionWorker) -> None:
    """Count what each source line cost from now on, as LINES and CODE show it."""
    worker.source.counts_lines = True
    _show_again(worker)


def pipeline_warp(worker: SessionWorker, warp: int) -> None:
    """Let PIPELINE show another warp."""
    worker.source.pipes.warp = warp
    _show_again(worker)


def _show_again(worker: SessionWorker) -> None:
    """Show the same place with what the views now ask for, the message as it is."""
    worker.post(Arrived(worker.source.scene()).keep())


def refresh(worker: SessionWorker, message: str = "") -> None:
    """Show where the session stands."""
    worker.arrive(message)


def call(worker: SessionWorker, function: Callable[[Session], Any]) -> None:
    """Let a function work with the session, here where nothing else touches it, and show where it stands."""
    function(worker.session)
    worker.arrive()


# values through time


@dataclass(frozen=True)
class HeatQuestion:
    """What a strip is asked for: item, columns and rows at most, cycles a column, or a column a write; the lane in focus."""

    item: str
    columns: int
    rows: int
    per: int
    by_write: bool
    lane: int


def heat(worker: SessionWorker, question: HeatQuestion) -> None:
    """Answer what a register or a buffer held around the cursor."""
    from rfview.sessions.heat.open import heat as history       # start-up: most sessions ask for none
    from rfview.sessions.heat.strip import around, around_writes

    session, timeline = worker.session, worker.session.timeline
    with consistent(timeline):
        found, cycle = history(session, question.item), worker.session.cycle
        if question.by_write:
            edges = around_writes(found, cycle, question.columns, timeline.first, timeline.last, worker.progress)
        else:
            edges = around(cycle, question.columns, question.per, timeline.first, timeline.last)
        strip = found.strip(edges, question.rows, worker.progress)
        moment = found.moment(cycle, min(question.lane, strip.of - 1))
    worker.end_of_busy()
    worker.post(Answered("heat", (question, strip, moment, cycle)))


def heat_kind(worker: SessionWorker, item: str) -> None:
    """Read a register's words as the next kind: f32, s32 .."""
    from rfview.sessions.heat.open import heat as history       # start-up, as above

    found = history(worker.session, item)
    kinds = ("", *found.kinds)
    found.set_kind(kinds[(kinds.index(found.kind) + 1) % len(kinds)] if found.kinds else "")
    worker.arrive(f"{item} is read as {found.kind or 'what writes it says'}")


def written(worker: SessionWorker, item: str, lane: int, forward: bool) -> None:
    """Go to the next or last write of a lane or element."""
    from rfview.sessions.heat.open import heat as history       # start-up, as above
    from rfview.sessions.heat.strip import next_write

    found, session = history(worker.session, item), worker.session
    with consistent(session.timeline):
        cycle = next_write(found, session.cycle, lane, forward, worker.progress)
    if cycle is None:
        worker.arrive(f"{item}: no {'later' if forward else 'earlier'} write")
    else:
        land(worker, session.goto(cycle), jump=True)


def image(worker: SessionWorker, buffer: str, size: str) -> None:
    """Answer what a buffer looks like at the cursor."""
    from rfview.sessions.pictures.picture import picture        # start-up: most sessions ask for none

    with consistent(worker.session.timeline):
        found = picture(worker.session, buffer, size)
    worker.end_of_busy()
    worker.post(Answered("image", found))


def origin(worker: SessionWorker, buffer: str, asked: tuple[int, int]) -> None:
    """Answer how an element came to its value; asked: the cursor's cycle, and the element."""
    from rfview.sessions.pictures.origin import origin as came_from        # start-up, as above

    if worker.session.cycle == asked[0]:
        with consistent(worker.session.timeline):
            links = came_from(worker.session, buffer, asked[1])
        worker.post(Answered("image", (asked, links)))


def relief(worker: SessionWorker, asked: tuple[int, int], whole: bool) -> None:
    """Answer what comes of the relief that a warp's chain names, tried once and kept; whole: both runs to their ends."""
    from rfview.sessions.branches.relief import relieve, whole_run      # start-up: few try one
    from rfview.sessions.commands.relief import gain_text

    session = worker.session
    kept = session.kept.setdefault("relief", {})
    found = kept.get(asked)
    with consistent(session.timeline):
        if found is None or found.branch not in session.family:
            found = relieve(session, *asked)
        if whole and found.whole is None:
            found = replace(found, whole=whole_run(session, found))
    kept[asked] = found
    worker.arrive(gain_text(found), "good" if (found.gain or 0) > 0 else "info")
    worker.post(Answered("relief", (asked, found)))


def lend_for_comparison(worker: SessionWorker, name: str = "") -> None:
    """Let the compare screen have this session's run and a branch's, both run to their ends, until it gives them back.

    name: of the branch; "": as the command `compare` chooses.
    """
    from rfview.sessions.commands.branch import partners, run_to_end    # start-up, as above

    pair = partners(worker.session, name)
    for member in pair:
        run_to_end(member)
    names = tuple(member.branch.name if member.branch else "main" for member in pair)
    worker.end_of_busy()
    back = threading.Event()
    worker.post(Answered("compare", (tuple(member.timeline for member in pair), names, back)))
    while not back.wait(0.2) and not worker.closing:
        pass


# a second run


def overlay(worker: SessionWorker, name: str, warp: int) -> None:
    """Lay another run over this one, or take it off. name: a session file, a branch, "" for the last one or off."""
    if not name and worker.source.over is not None:
        worker.source.over = None
        worker.arrive("B is off; underlined: changed since the cycle before")
        return
    over, rival = _other_run(worker, name)
    if rival is not worker.rival and worker.rival is not None:
        worker.rival.close()
    worker.rival, worker.source.over, worker.source.warp = rival, over, warp
    kinds = "" if over.same_kind else "; its register file is of another kind and not compared"
    worker.arrive(f"underlined: differs in B; X ends it{kinds}", "good")


def overlay_warp(worker: SessionWorker, warp: int) -> None:
    """Align what is laid over by another warp."""
    worker.source.warp = warp
    _show_again(worker)


def _other_run(worker: SessionWorker, name: str) -> tuple[OverSource, RecordedTimeline | None]:
    """Return the run to lay over, and the recording to keep open for the next time.

    name: a branch, or a recording, which is opened; "" the last recording, else this branch's parent or only child.
    """
    from rfview.screens.scenes.overlay import OverSource        # start-up: few lay another run over theirs

    ours = worker.session.timeline
    if name and name not in worker.session.family:
        from rfview.sessions.timeline.opening import open_recording     # start-up, as above

        opened = open_recording(name)
        try:
            return OverSource(ours, opened, worker.progress), opened
        except RfviewError:
            opened.close()
            raise
    if not name and worker.rival is not None:
        return OverSource(ours, worker.rival, worker.progress), worker.rival
    from rfview.sessions.commands.branch import partners    # start-up, as above

    other = next(one for one in partners(worker.session, name) if one is not worker.session)
    return OverSource(ours, other.timeline, worker.progress), worker.rival
