"""Requests about breakpoints and watchpoints."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rfview.engine.wording import plural
from rfview.render.operation import with_lines

if TYPE_CHECKING:
    from rfview.screens.session_worker import SessionWorker
    from rfview.sessions.search.breakpoints import Breakpoint

TO_STOPS = "continue reverse_continue"


def _removed(worker: SessionWorker, same: list[Breakpoint], text: str = "") -> bool:
    """Remove breakpoints and report it; return whether there were any."""
    for point in same:
        worker.session.remove_breakpoint(point.number)
    if same:
        worker.arrive(text or f"breakpoint {same[0].number} removed")
    return bool(same)


def toggle_breakpoint(worker: SessionWorker, pc: int, warp: int | None = None) -> None:
    """Set a breakpoint at a pc, or remove the existing ones."""
    session = worker.session
    if _removed(worker, [point for point in session.breakpoints.values() if point.kind == "pc" and point.value == pc]):
        return
    point = session.add_breakpoint("pc", pc, warp=warp)
    program = session.info.program
    text = with_lines(f"{point.text}, {program[pc].text}", program)
    worker.arrive(f"breakpoint {point.number}: {text}{worker.keys.tail(TO_STOPS, 'go there')}", "good")


def toggle_line_breakpoint(worker: SessionWorker, number: int, warp: int | None = None) -> None:
    """Set a breakpoint at a source line, or remove the existing ones."""
    session = worker.session
    name = session.lines.name_of(session.lines.lines[number])
    same = [point for point in session.breakpoints.values() if point.kind == "source" and point.value == number]
    if _removed(worker, same):
        return
    point = session.add_breakpoint("source", item=name, warp=warp)
    worker.arrive(f"breakpoint {point.number}: {point.text}{worker.keys.tail(TO_STOPS, 'go there')}", "good")


def toggle_watchpoint(worker: SessionWorker, item: str) -> None:
    """Start or stop watching an item."""
    session = worker.session
    same = [point for point in session.breakpoints.values() if point.kind == "watch" and point.item == item]
    if _removed(worker, same, f"{item} is no longer watched"):
        return
    point = session.watch(item)
    worker.arrive(f"breakpoint {point.number}: {point.text}{worker.keys.tail(TO_STOPS, 'go to its changes')}", "good")


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
    """Toggle whether a breakpoint is removed at its next stop."""
    point = worker.session.breakpoint(number)
    point.temporary = not point.temporary
    worker.arrive(f"breakpoint {point.number} {'will be removed at its next stop' if point.temporary else 'stays'}")


def ignore_hits(worker: SessionWorker, number: int, by: int) -> None:
    """Ignore `by` more (or fewer) of a breakpoint's next hits."""
    point = worker.session.breakpoint(number)
    point.ignore = max(0, point.ignore + by)
    worker.arrive(f"breakpoint {point.number}: the next {plural(point.ignore, 'hit')} are skipped")
