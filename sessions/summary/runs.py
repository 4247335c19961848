"""The finished runs of a session's family, as before an edit or on another design: cycles and fullest unit."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from rfview.sessions.branches.fork import name_of
from rfview.sessions.compare.comparison import has_ended
from rfview.sessions.session import Session
from rfview.sessions.summary.facts import Facts

MOST_RUNS = 5


@dataclass(frozen=True)
class Run:
    """One run. name: of its branch. machine: design, scheduler and preset. cycles: to its end. is_this: the run summarised.

    unit, filled: the unit with the highest floor, and its share of the cycles.
    """

    name: str
    machine: str
    cycles: int
    unit: str
    filled: float
    is_this: bool

    def change(self, this: int) -> str:
        """Return its cycles beside those of the run summarised: "-71.3 %", "this run"."""
        return "this run" if self.is_this else f"{100 * (self.cycles / max(1, this) - 1):+.1f} %"


def last_runs(session: Session, facts_of: Callable[[Session], Facts]) -> tuple[Run, ...]:
    """Return this run and the last others of its family that have ended; nothing if there is no other one."""
    ended = [member for member in session.family.values() if member is not session and has_ended(member.timeline)]
    if not ended:
        return ()
    chosen = {id(member) for member in (session, *ended[1 - MOST_RUNS :])}
    return tuple(_run(member, facts_of(member), member is session)
                 for member in session.family.values() if id(member) in chosen)


def _run(session: Session, facts: Facts, is_this: bool) -> Run:
    info, top = session.info, facts.floors[0]
    machine = f"{info.design} {info.scheduler} · {info.preset}"
    return Run(name_of(session), machine, facts.cycles, top.unit, facts.filled, is_this)
