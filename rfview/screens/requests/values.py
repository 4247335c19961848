"""Requests for values through time: a register's or buffer's heat strip, its writers, pictures and their pixels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rfview.messages import Answered
from rfview.screens.requests.moving import land
from rfview.sessions.guard import consistent

if TYPE_CHECKING:
    from rfview.screens.session_worker import SessionWorker


@dataclass(frozen=True)
class HeatQuestion:
    """A request for a strip.

    columns, rows: at most. per: cycles per column, or a column per write if `by_write`. lane: the one in focus.
    """

    item: str
    columns: int
    rows: int
    per: int
    by_write: bool
    lane: int


def heat(worker: SessionWorker, question: HeatQuestion) -> None:
    """Answer with the values of a register or buffer around the cursor."""
    from rfview.sessions.heat.open import heat as history  # for a fast start: most sessions need none
    from rfview.sessions.heat.strip import around, around_writes

    session, timeline = worker.session, worker.session.timeline
    with consistent(timeline):
        values, cycle = history(session, question.item), worker.session.cycle
        if question.by_write:
            edges = around_writes(values, cycle, question.columns, timeline.first, timeline.last, worker.progress)
        else:
            edges = around(cycle, question.columns, question.per, timeline.first, timeline.last)
        strip = values.strip(edges, question.rows, worker.progress)
        moment = values.moment(cycle, min(question.lane, strip.of - 1))
    worker.end_of_busy()
    worker.post(Answered("heat", (question, strip, moment, cycle)))


def heat_kind(worker: SessionWorker, item: str) -> None:
    """Show a register's words as the next type: f32, s32 .."""
    from rfview.sessions.heat.open import heat as history  # for a fast start, as above

    values = history(worker.session, item)
    kinds = ("", *values.kinds)
    values.set_kind(kinds[(kinds.index(values.kind) + 1) % len(kinds)] if values.kinds else "")
    worker.arrive(f"{item} is read as {values.kind or 'its writes define it'}")


def written(worker: SessionWorker, item: str, lane: int, forward: bool) -> None:
    """Go to the next or last write of a lane or element."""
    from rfview.sessions.heat.open import heat as history  # for a fast start, as above
    from rfview.sessions.heat.strip import next_write

    values, session = history(worker.session, item), worker.session
    with consistent(session.timeline):
        cycle = next_write(values, session.cycle, lane, forward, worker.progress)
    if cycle is None:
        worker.arrive(f"{item}: no {'later' if forward else 'earlier'} write")
    else:
        land(worker, session.goto(cycle), jump=True)


def image(worker: SessionWorker, buffer: str, size: str) -> None:
    """Answer with the picture of a buffer at the cursor."""
    from rfview.sessions.pictures.picture import picture  # for a fast start: most sessions need none

    with consistent(worker.session.timeline):
        shown = picture(worker.session, buffer, size)
    worker.end_of_busy()
    worker.post(Answered("image", shown))


def origin(worker: SessionWorker, buffer: str, asked: tuple[int, int]) -> None:
    """Answer how an element got its value; asked: the cursor's cycle, and the element."""
    from rfview.sessions.pictures.origin import origin as came_from  # for a fast start, as above

    if worker.session.cycle == asked[0]:
        with consistent(worker.session.timeline):
            links = came_from(worker.session, buffer, asked[1])
        worker.post(Answered("image", (asked, links)))
