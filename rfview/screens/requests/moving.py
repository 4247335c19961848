"""Requests that move in time, each reported as a stop, and those about marks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rfview.engine.wording import plural
from rfview.messages import Answered, Notice
from rfview.render.operation import with_lines
from rfview.render.scene import Badge

if TYPE_CHECKING:
    from rfview.screens.playback import Playback
    from rfview.screens.session_worker import SessionWorker
    from rfview.sessions.cursor import Stop


def land(worker: SessionWorker, stop: Stop | None, *, jump: bool) -> None:
    """Report a stop; after a jump, say where it came from."""
    if worker.source.compare is not None and worker.source.follows_jumps:
        worker.source.compare = worker.session.came_from
    text, kind = "", "info"
    if stop is not None and (jump or stop.reason not in ("step", "goto")):
        text = with_lines(_sentence(stop, worker.start_cycle), worker.session.info.program)
        kind = "error" if stop.reason == "fault" else "info"
    worker.arrive(text, kind, warp=stop.warp if stop is not None else None)


def _sentence(stop: Stop, start: int) -> str:
    """Return what the event row says about a stop: its reason, the previous cycle and the distance."""
    moved = stop.cycle - start
    if not moved:
        return stop.text
    way = "on" if moved > 0 else "back"
    return f"{stop.text.rstrip(';')}; from {start:,}, {plural(abs(moved), 'cycle')} {way}"


def step(worker: SessionWorker, count: int) -> None:
    """Go forward `count` cycles, or back if it is negative. The worker joins queued steps into one."""
    session = worker.session
    worker.target = session.cycle + count
    land(worker, session.step(count) if count >= 0 else session.back(-count), jump=False)


def goto(worker: SessionWorker, place: int | str) -> None:
    """Go to a cycle, a mark or a share of the run."""
    worker.target = worker.session.resolve(place)
    land(worker, worker.session.goto(place), jump=True)


def show(worker: SessionWorker, cycle: int, warp: int, text: str) -> None:
    """Go to a cycle, with a warp in focus, and say what is there."""
    worker.target = cycle
    worker.session.goto(cycle)
    worker.arrive(text, warp=warp)


def end(worker: SessionWorker) -> None:
    """Go to the end of a recording, or to the furthest cycle seen in a live run."""
    timeline = worker.session.timeline
    worker.target = timeline.last if timeline.closed else worker.source.seen
    if not timeline.closed and worker.target == worker.session.cycle:
        more = worker.keys.tail("step continue", "continue it")
        worker.arrive(f"the run has not passed cycle {worker.target:,} yet{more}")
        return
    land(worker, worker.session.goto(worker.target), jump=True)


def play(worker: SessionWorker, playback: Playback, cycles: int, speed: int) -> None:
    """Advance by some cycles, stopping at a breakpoint on the way, unless the playback has come to a stop before.

    speed: cycles per second, for the badge.
    """
    if playback.has_ended:
        return
    stop = worker.session.play(cycles)
    if stop.reason == "step":
        worker.arrive(badge=Badge("playing", f"► {speed:,}/s"))
        return
    playback.has_ended = True
    worker.arrive(stop.text, "error" if stop.reason == "fault" else "info", warp=stop.warp)
    worker.post(Notice("", "stop"))


def resume(worker: SessionWorker, forward: bool) -> None:
    """Continue to a breakpoint, forward or backward."""
    land(worker, worker.session.continue_() if forward else worker.session.reverse_continue(), jump=True)


def event(worker: SessionWorker, kind: str, forward: bool, count: int = 1, warp: int | None = None) -> None:
    """Go to the count-th next or previous event of a kind; if there is none, stay and say so."""
    move = worker.session.next_event if forward else worker.session.previous_event
    stop = move(kind, warp, count)
    land(worker, stop, jump=True)
    if kind == "rf" and stop.reason == "condition":
        worker.post(Answered("stalled", worker.source.stalled_by_the_register_file()))


def line(worker: SessionWorker, warp: int, forward: bool, count: int = 1) -> None:
    """Go to where a warp reaches another source line; if it does not, stay and say so."""
    land(worker, worker.session.next_line(warp, forward, count), jump=True)


def run_to_line(worker: SessionWorker, number: int, warp: int, forward: bool | None, count: int) -> None:
    """Go to where a warp reaches a source line; forward None: the next time, or the previous one if there is none."""
    session = worker.session
    stop = session.next_line(warp, forward is not False, count, number)
    if stop.reason == "not found" and forward is None:
        stop = session.next_line(warp, False, count, number)
    land(worker, stop, jump=True)


def wait_at_line(worker: SessionWorker, number: int, code: int, count: int) -> None:
    """Go to where a warp waits at a source line in a state, and focus it: the next such cycle, else the previous one."""
    session = worker.session
    stop = session.next_wait(number, code, True, count)
    if stop.reason == "not found":
        stop = session.next_wait(number, code, False, count)
    land(worker, stop, jump=True)


def find(worker: SessionWorker, condition: str, by: int) -> None:
    """Go to the by-th next cycle in which a condition becomes true, or to the previous one if `by` is negative."""
    land(worker, worker.session.find(condition, by > 0, abs(by)), jump=True)


def run_to(worker: SessionWorker, pc: int, warp: int, forward: bool | None, count: int) -> None:
    """Go to where a warp reaches an instruction; forward None: the next time, or the previous one if there is none."""
    land(worker, worker.session.run_to(pc, warp, forward, count), jump=True)


def change(worker: SessionWorker, item: str, forward: bool) -> None:
    """Go to the next or last change of an item."""
    move = worker.session.next_change if forward else worker.session.last_change
    land(worker, move(item), jump=True)


def history(worker: SessionWorker, by: int) -> None:
    """Go one stop back or forward in the history."""
    land(worker, worker.session.history_back() if by < 0 else worker.session.history_forward(), jump=True)


def previous_stop(worker: SessionWorker) -> None:
    """Go to where the last jump came from; repeated, this goes back and forth."""
    worker.target = worker.session.came_from
    land(worker, worker.session.previous_stop(), jump=True)


def mark(worker: SessionWorker, name: str) -> None:
    """Set a mark at the cursor."""
    made = worker.session.mark(name)
    worker.arrive(f"mark {made.name} is cycle {made.cycle:,}; '{made.name} comes back", "good")


def next_mark(worker: SessionWorker, by: int) -> None:
    """Go to the next mark, or to the previous one if `by` is negative."""
    cycle = worker.session.cycle
    marks = [one for one in worker.session.marks if (one.cycle - cycle) * by > 0]
    if not marks:
        worker.arrive(f"no mark that way{worker.keys.tail('mark', 'sets mark a')}")
        return
    nearest = min(marks, key=lambda one: abs(one.cycle - cycle))
    land(worker, worker.session.goto(nearest.cycle), jump=True)
