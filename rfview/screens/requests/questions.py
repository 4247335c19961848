"""Requests answered by text, a window or underlines: command lines, statistics, differences, a stretch, a relief."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from rfview.engine.errors import InputError
from rfview.messages import Answered, Notice
from rfview.screens.requests.moving import land
from rfview.sessions.guard import consistent
from rfview.sessions.reports.statistics import stats

if TYPE_CHECKING:
    from rfview.screens.session_worker import SessionWorker
    from rfview.sessions.session import Session


def command(worker: SessionWorker, line: str) -> None:
    """Run a line of the command language."""
    from rfview.sessions.commands.table import execute  # for a fast start: most sessions begin with a key

    answer = execute(worker.session, line)
    if answer.session is not None:
        worker.switch_to(answer.session)
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
        worker.post(Notice("", "info", lines))


def statistics(worker: SessionWorker, first: int, last: int) -> None:
    """Answer with the statistics between two cycles."""
    worker.post(Answered("statistics", stats(worker.session, first, last)))


def diff(worker: SessionWorker, mark_name: str = "") -> None:
    """Underline what changed since the last jump's origin, or since a mark; again: since the previous cycle."""
    session, source = worker.session, worker.source
    if mark_name:
        session.timeline.require(session.marks.get(mark_name).cycle)
        source.compare, source.follows_jumps = session.marks.get(mark_name).cycle, False
        end = worker.keys.tail("diff", "ends it")
        worker.arrive(f"underlined: changed since mark {mark_name}, cycle {source.compare:,}{end}")
    elif source.compare is not None:
        source.compare = None
        worker.arrive("underlined: changed since the cycle before")
    elif session.came_from is None:
        worker.arrive("no jump yet, so there is only the cycle before to compare with")
    else:
        source.compare, source.follows_jumps = session.came_from, True
        worker.arrive(f"underlined: changed since {source.compare:,}, where the last jump came from")


def brush(worker: SessionWorker, stretch: str | None) -> None:
    """Brush the stretch between two named places; "" begins or ends one at the cursor, None drops it."""
    text = ""
    if stretch is None:
        worker.source.brush.drop()
    elif stretch:
        worker.source.brush.of_text(stretch)
    else:
        text = worker.source.brush.turn(worker.keys)
    worker.arrive(text)


def brush_to(worker: SessionWorker, start: int, stop: int) -> None:
    """Brush the stretch over which the pointer was dragged; the cursor goes to its end."""
    worker.session.goto(stop)
    worker.source.brush.between(start, worker.session.cycle)
    worker.arrive()


def call(worker: SessionWorker, function: Callable[[Session], Any]) -> None:
    """Call a function of the session in this thread, where nothing else touches it, and show the scene."""
    function(worker.session)
    worker.arrive()


def study(worker: SessionWorker) -> None:
    """Begin to try what would make the whole run end earlier, or go on with it; it is simulated while nothing is asked."""
    from rfview.sessions.branches.study import Trials  # for a fast start: few try one

    session = worker.session
    trials = session.memo.get("study")
    if trials is None:
        trials = session.memo["study"] = Trials(session)
    worker.trials = trials
    worker.post(Answered("study", trials.study()))


def relief(worker: SessionWorker, asked: tuple[int, int], whole: bool) -> None:
    """Answer with the result of the relief that a warp's chain names, tried once; whole: run both runs to their ends."""
    from rfview.sessions.branches.relief import relieve, whole_run  # for a fast start: few try one
    from rfview.sessions.commands.relief import gain_text

    session = worker.session
    reliefs = session.memo.setdefault("relief", {})
    relief = reliefs.get(asked)
    with consistent(session.timeline):
        if relief is None or relief.branch not in session.family:
            relief = relieve(session, *asked)
        if whole and relief.whole is None:
            relief = replace(relief, whole=whole_run(session, relief))
    reliefs[asked] = relief
    worker.arrive(gain_text(relief))
    trials = session.memo.get("study")
    worker.post(Answered("relief", (asked, relief, trials.study().chance if trials is not None else None)))


def after(worker: SessionWorker, asked: tuple[int, int], measures: bool) -> None:
    """Answer with what the instruction delayed that holds a warp up, found once; measures: run on without it, too."""
    from rfview.sessions.branches.lifted import refusal     # for a fast start: few turn WHY round
    from rfview.sessions.branches.without import without
    from rfview.sessions.causes.after import after as delayed

    session = worker.session
    known = session.memo.setdefault("after", {})
    found, measured = known.get(asked, (None, None))
    error = refused = ""
    try:
        with consistent(session.timeline):
            found = found or delayed(session, *asked)
            measured = measured or (without(session, found) if measures else None)
            refused = "" if measured is not None else refusal(session, found)
    except InputError as wrong:
        error = str(wrong)
    known[asked] = found, measured
    if measures:
        worker.arrive()         # the run may be longer by now
    else:
        worker.end_of_busy()
    worker.post(Answered("after", (found, measured, error, refused)))
