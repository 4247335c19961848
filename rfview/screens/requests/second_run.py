"""Requests about a second run: laid over this one, lent for a comparison, or of the edited program."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rfview.engine.errors import RfviewError
from rfview.messages import Answered, Busy
from rfview.screens.requests.gathering import show_again

if TYPE_CHECKING:
    from rfview.screens.scenes.overlay import OverSource
    from rfview.screens.session_worker import SessionWorker
    from rfview.sessions.compare.issues import Issue
    from rfview.sessions.session import Session
    from rfview.sessions.timeline.replay import RecordedTimeline


def compare(worker: SessionWorker, name: str = "") -> None:
    """Answer with this session's run and a branch's, both run to their ends, for the compare screen.

    name: of the branch; "": the one that the command `compare` chooses.
    """
    from rfview.sessions.branches.fork import name_of  # for a fast start: few compare
    from rfview.sessions.commands.branch import ended_partners  # for a fast start, as above

    pair = ended_partners(worker.session, name)
    names = tuple(map(name_of, pair))
    worker.end_of_busy()
    worker.post(Answered("compare", (tuple(member.timeline for member in pair), names)))


def reload(worker: SessionWorker) -> None:
    """Run the program again as its files are now, to its end, and answer with the baseline's run and this one."""
    from rfview.sessions.commands.table import execute  # for a fast start, as above

    origin = worker.session.origin
    worker.post(Busy("compiling", f"compiling {origin.file.name}" if origin is not None else "loading"))
    worker._busy_shown = True
    answer = execute(worker.session, "reload")
    assert answer.session is not None
    worker.switch_to(answer.session)
    worker.arrive(answer.text)
    worker.post(Answered("session", answer.data))
    compare(worker)


def open_line(worker: SessionWorker, names: tuple[str, str], issues: tuple[Issue | None, Issue | None], text: str) -> None:
    """Go to an issue in each of two branches, and show the second, or the first if only that has one."""
    shown = 1 if issues[1] is not None else 0
    for name, issue in zip(names, issues, strict=True):
        if issue is not None:
            worker.session.family[name].goto(issue.cycle + 1)
    if (there := worker.session.family[names[shown]]) is not worker.session:
        worker.switch_to(there)
        worker.post(Answered("session", {"branch": names[shown]}))
    issue = issues[shown]
    worker.arrive(f"{text} in {names[shown]}{_turns_to(worker, names[1 - shown])}", warp=issue.slot if issue else None)


def _turns_to(worker: SessionWorker, name: str) -> str:
    return worker.keys.tail("overlay", f"turns to {name}")


def overlay(worker: SessionWorker, name: str, warp: int) -> None:
    """Lay another run over this one, or take it off. name: a session file, a branch; "": off, or else the last one on."""
    if not name and worker.source.over is not None:
        worker.source.over = None
        worker.arrive("B is off; underlined: changed since the cycle before")
        return
    other = _other_program(worker, name)      # whose cycles and registers mean something else: shown instead
    if other is not None:
        from rfview.sessions.branches.fork import name_of  # for a fast start, as above

        here = name_of(worker.session)
        worker.switch_to(other)
        worker.post(Answered("session", {"branch": name_of(other)}))
        worker.arrive(f"{name_of(other)}, another program, at cycle {other.cycle:,}{_turns_to(worker, here)}")
        return
    over, rival = _other_run(worker, name)
    if rival is not worker.rival and worker.rival is not None:
        worker.rival.close()
    worker.rival, worker.source.over, worker.source.warp = rival, over, warp
    kinds = "" if over.same_kind else "; its register file is of another kind and not compared"
    worker.arrive(f"underlined: differs in B{worker.keys.tail('overlay', 'ends it')}{kinds}", "good")


def overlay_warp(worker: SessionWorker, warp: int) -> None:
    """Align the run laid over this one by another warp."""
    worker.source.warp = warp
    show_again(worker)


def _other_program(worker: SessionWorker, name: str) -> Session | None:
    """Return the branch that `overlay` means if it runs another program; None if it can be laid over this one."""
    from rfview.sessions.commands.branch import partners  # for a fast start, as above
    from rfview.sessions.compare.comparison import program_difference  # for a fast start, as above

    session = worker.session
    if len(session.family) == 1 or (name and name not in session.family) or (not name and worker.rival is not None):
        return None
    other = next(one for one in partners(session, name) if one is not session)
    return other if program_difference(session.info, other.info) else None


def _other_run(worker: SessionWorker, name: str) -> tuple[OverSource, RecordedTimeline | None]:
    """Return the run to lay over this one, and the recording to keep open for the next time.

    name: a branch, or a recording, which is opened; "": the last recording, else this branch's parent or only child.
    """
    from rfview.screens.scenes.overlay import OverSource  # for a fast start: few overlay a second run

    ours = worker.session.timeline
    if name and name not in worker.session.family:
        from rfview.sessions.timeline.opening import open_recording  # for a fast start, as above

        opened = open_recording(name)
        try:
            return OverSource(ours, opened, worker.progress), opened
        except RfviewError:
            opened.close()
            raise
    if not name and worker.rival is not None:
        return OverSource(ours, worker.rival, worker.progress), worker.rival
    from rfview.sessions.commands.branch import partners  # for a fast start, as above

    other = next(one for one in partners(worker.session, name) if one is not worker.session)
    return OverSource(ours, other.timeline, worker.progress), worker.rival
