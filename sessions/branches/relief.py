"""Tries the relief that a chain of causes names: the same run with that setting, to the same instruction of the warp.

If the setting can be changed in mid-run, a branch leaves at the beginning of the cause; otherwise the run is simulated
with it from the first cycle. The result is measured, not estimated: both runs issue the instruction that the warp waits
for, and the difference of the cycles is the gain.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from rfview.engine.errors import InputError
from rfview.engine.stalls import NO_STALL
from rfview.sessions.branches.fork import changeable, check_room, fork, free_name, join, name_of, sorted_changes
from rfview.sessions.compare.comparison import has_ended
from rfview.sessions.compare.issues import Issue, IssueLog, WarpName
from rfview.sessions.compare.values import same_buffers
from rfview.sessions.energy import assumed_of
from rfview.sessions.reports.statistics import between
from rfview.sessions.branch import Branch, Change
from rfview.sessions.session import Session
from rfview.sessions.timeline.base import Timeline
from rfview.sessions.timeline.live import LiveTimeline
from rfview.sessions.timeline.replay import RecordedTimeline
from rfview.sessions.timeline.simulate import simulator_of
from rfview.sessions.why import Chain, why
from rfview.sessions.producers import writers

STEP_CYCLES = 2048
# a relief that delays the warp by more than this is none, and is not simulated further
MAX_LATER = 20_000
TRIED = "reliefs"       # in a session's memo


@dataclass(frozen=True)
class Whole:
    """Both complete runs, as they ran and with the relief.

    cycles: the last one. lost, energy_pj: warp-cycles lost to the register file, and its energy, from the fork on; None
    if the clock is not known. same_output: whether all buffers are the same at the end; None if a run has no end.
    energy_assumed: whether no source gives the energies.
    """

    cycles: tuple[int, int]
    lost: tuple[int, int]
    energy_pj: tuple[float | None, float | None]
    same_output: bool | None
    energy_assumed: bool = False


@dataclass(frozen=True)
class Relief:
    """The result of a relief.

    branch: the session's name in the family. resource: the one whose delay it removes. changes: the changed settings.
    begin: the cycle of the fork, or the run's first if it was simulated again (from_start). warp: the slot that waited;
    n, text: the instruction that both runs reach. issued: the cycle in which it issues, as it ran and with the relief;
    None if it is more than MAX_LATER later. lost, waited: warp-cycles from `begin` to there, those lost to the register
    file, and all in which a warp waited. next_state, next_cause: what the warp does in the explained cycle with the relief.
    """

    branch: str
    resource: str
    changes: tuple[Change, ...]
    begin: int
    from_start: bool
    cycle: int
    warp: int
    n: int
    text: str
    issued: tuple[int, int | None]
    lost: tuple[int, int]
    waited: tuple[int, int]
    next_state: str = ""
    next_cause: str = ""
    whole: Whole | None = None

    @property
    def gain(self) -> int | None:
        """By how many cycles the instruction issues earlier; negative if later."""
        return None if self.issued[1] is None else self.issued[0] - self.issued[1]

    def data(self) -> dict[str, Any]:
        """Return everything as JSON data; `measured` says that nothing of it is an estimate."""
        return {**vars(self), "changes": [vars(change) for change in self.changes], "gain": self.gain, "measured": True,
                "whole": None if self.whole is None else dict(vars(self.whole))}


def settings_of(session: Session, chain: Chain) -> dict[str, Any]:
    """Return the settings that a chain's resource names and that are not already in effect."""
    present = session.info.parameters
    named: Mapping[str, Any] = chain.resource.relief if chain.resource is not None else {}
    return {key: value for key, value in named.items() if key in present and str(present[key]) != str(value)}


def relieve(session: Session, warp: int | None = None, cycle: int | None = None) -> Relief:
    """Try the relief that `why(session, warp, cycle)` names; the branch joins the session's family, its cursor at the gain.

    Raises InputError if the warp does not wait, if no parameter removes the delay, if the run cannot be simulated, and
    when session.progress asks to stop.
    """
    chain = why(session, warp, cycle)
    if chain.state in NO_STALL:
        raise InputError(f"relief: w{chain.warp} does not wait at cycle {chain.cycle:,}: {chain.state}")
    settings = settings_of(session, chain)
    if not settings or chain.resource is None:
        what = chain.resource.name if chain.resource is not None else chain.state
        raise InputError(f"relief: no parameter removes this delay: {what}; `fork NAME set KEY=VALUE` tries another change")
    log = IssueLog(session.timeline)
    name = log.name(chain.warp, chain.cycle)
    assert name is not None
    n = (log.issued(name, chain.cycle) or 0) + 1
    as_ran = _until(session, log, name, n, session.timeline.last + MAX_LATER)
    if as_ran is None:
        raise InputError(f"relief: w{chain.warp} does not issue another instruction within this session")
    from_start = not set(settings) <= set(changeable(session.info))
    begin = session.timeline.first if from_start else cause_begins(session, chain)
    branch = _anew(session, free_name(session, "relief"), settings) if from_start else _forked(session, settings, begin)
    relieved = _until(branch, IssueLog(branch.timeline), name, n, as_ran.cycle + MAX_LATER)
    ends = as_ran.cycle + 1, min(branch.timeline.last, (relieved.cycle if relieved is not None else as_ran.cycle) + 1)
    ours, theirs = _stalls(session.timeline, begin, ends[0]), _stalls(branch.timeline, begin, ends[1])
    branch.cycle = ends[1]
    state, cause = _next(branch, name, chain.cycle)
    assert branch.branch is not None
    text, issued = session.info.program[as_ran.pc].text, (as_ran.cycle, None if relieved is None else relieved.cycle)
    made = Relief(branch.branch.name, chain.resource.name, branch.branch.changes, begin, from_start, chain.cycle, chain.warp,
                  n, text, issued, (ours[0], theirs[0]), (ours[1], theirs[1]), state, cause)
    session.memo[TRIED] = [*tried(session), made]
    return made


def tried(session: Session) -> list[Relief]:
    """Return the reliefs of single waits that have been tried from a session, the latest last."""
    return list(session.memo.get(TRIED, ()))


def whole_run(session: Session, relief: Relief) -> Whole:
    """Run both to their ends and compare them; raises InputError when session.progress asks to stop."""
    if relief.branch not in session.family:
        raise InputError(f"relief: branch {relief.branch} was dropped")
    if session.timeline.closed and not session.timeline.fault and not has_ended(session.timeline):
        raise InputError("relief: the whole run is not in this recording, which was cut off at cycle "
                         f"{session.timeline.last:,}")
    pair = session, session.family[relief.branch]
    for one in pair:
        one.timeline.run_to_end(session.progress, "relief")
    ours, theirs = (one.timeline for one in pair)
    energy = [between(timeline, relief.begin, timeline.last).energy_pj.get("total") for timeline in (ours, theirs)]
    ended = has_ended(ours) and has_ended(theirs)
    same = same_buffers(ours, theirs, ours.last, theirs.last) if ended else None
    return Whole((ours.last, theirs.last), (_stalls(ours, relief.begin, ours.last)[0],
                                            _stalls(theirs, relief.begin, theirs.last)[0]), (energy[0], energy[1]), same,
                 bool(assumed_of(ours.info)))


def _report(session: Session, cycle: int) -> None:
    """Report progress; raises InputError when the user stops it."""
    if session.interrupted(cycle):
        raise InputError(f"relief: stopped at cycle {cycle:,}")


def _until(session: Session, log: IssueLog, name: WarpName, n: int, limit: int) -> Issue | None:
    """Return a warp's n-th issue, simulating as far as needed, at most up to a cycle; None if it is not reached."""
    timeline = session.timeline
    issue = log.find(name, n)
    while issue is None and not timeline.closed and timeline.last < limit and timeline.extend(STEP_CYCLES):
        _report(session, timeline.last)
        issue = log.find(name, n)
    return issue


def cause_begins(session: Session, chain: Chain) -> int:
    """Return the first cycle of the cause: of the innermost link, and of whatever else the instruction needs."""
    since = [link.since for link in chain.links if link.since >= 0]
    begin = min([chain.since, *since[-1:]])
    snapshot = session.timeline.at(chain.cycle)
    entry = session.info.program[int(snapshot.sm["warp"][chain.warp]["pc"])]
    table = snapshot.sm["inflight"]
    by = writers(table, session.info.program)
    slots = [by[chain.warp, reg] for reg in {*entry.src, *entry.dst} if (chain.warp, reg) in by]
    return max(session.timeline.first, min([begin, chain.cycle, *(int(table[slot]["issue_cycle"]) for slot in slots)]))


def _forked(session: Session, settings: dict[str, Any], begin: int) -> Session:
    """Return a branch that leaves at a cycle; the session's cursor does not move."""
    here = session.cycle
    try:
        session.cycle = begin
        return fork(session, free_name(session, "relief"), settings)
    finally:
        session.cycle = here


def _anew(session: Session, name: str, settings: dict[str, Any]) -> Session:
    """Return a run from the first cycle with other settings, including those that determine the machine's layout."""
    timeline = session.timeline
    check_room(session, f"rerun {name}")
    if timeline.first or not isinstance(timeline, LiveTimeline | RecordedTimeline):
        raise InputError(f"relief: {', '.join(settings)} can only be chosen before a run begins, and this session begins at "
                         f"cycle {timeline.first:,}")
    base = timeline.simulator if isinstance(timeline, LiveTimeline) else simulator_of(timeline, progress=session.compiling)
    machine = base.twin(settings)
    made = session.sibling(LiveTimeline(machine))
    before, after = session.info.parameters, machine.info.parameters
    changes = tuple(Change(key, before[key], after[key]) for key in settings)
    given = " ".join(f"{key}={value}" for key, value in settings.items())
    made.branch = Branch(name, name_of(session), 0, changes, f"rerun {name} set {given}")
    join(session, name, made)
    return made


def rerun(session: Session, name: str, settings: dict[str, Any]) -> Session:
    """Return the run from its first cycle with other parameters of machine and design, as a branch of that name.

    Raises InputError for a name in use, an unknown parameter or value, and if the run cannot be simulated.
    """
    if name in session.family:
        raise InputError(f"rerun {name}: a branch of this name already exists; there are {', '.join(session.family)}")
    unknown = [key for key in settings if key not in session.info.parameters]
    if unknown:
        sorted_changes(session.info, dict.fromkeys(unknown, 0))     # names those that exist
    made = _anew(session, name, settings)
    made.reach(session.cycle)
    made.cycle = min(session.cycle, made.timeline.last)
    return made


def _stalls(timeline: Timeline, first: int, last: int) -> tuple[int, int]:
    """Return the warp-cycles of first..last-1 that were lost to the register file, and all in which a warp waited."""
    totals = timeline.stall_totals(last) - timeline.stall_totals(max(first, timeline.first))
    kinds = {entry.code: entry for entry in timeline.info.stalls}
    lost = sum(int(count) for code, count in enumerate(totals) if code in kinds and kinds[code].family == "register_file")
    waited = sum(int(count) for code, count in enumerate(totals) if code in kinds and kinds[code].name not in NO_STALL)
    return lost, waited


def _next(branch: Session, name: WarpName, cycle: int) -> tuple[str, str]:
    """Return what the warp does in the explained cycle with the relief, and why."""
    timeline = branch.timeline
    if not timeline.first <= cycle <= timeline.last:
        return "", ""
    slot = IssueLog(timeline).slot(name, cycle)
    if slot is None:
        return "", ""
    chain = why(branch, slot, cycle)
    return chain.state, chain.links[0].sentence if chain.links else ""
