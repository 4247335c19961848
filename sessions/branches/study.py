"""What would make the whole run end earlier: each setting that `why` names in it, tried from cycle 0, beside chance.

A study is made in pieces, so that a screen can go on meanwhile: `advance` simulates a little further.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rfview.engine.batch import nudge
from rfview.engine.errors import InputError, KernelFault
from rfview.engine.stalls import NOT_WAITING
from rfview.engine.wording import energy_text
from rfview.sessions.branch import Change
from rfview.sessions.branches.relief import Relief, settings_of, tried
from rfview.sessions.compare.comparison import has_ended
from rfview.sessions.energy import assumed_of
from rfview.sessions.reports.statistics import between
from rfview.sessions.session import Session
from rfview.sessions.summary.floors import Floor
from rfview.sessions.summary.summarise import facts_of
from rfview.sessions.timeline.base import Timeline
from rfview.sessions.timeline.live import LiveTimeline
from rfview.sessions.timeline.replay import RecordedTimeline
from rfview.sessions.timeline.simulate import simulator_of
from rfview.sessions.why import why

if TYPE_CHECKING:
    from rfview.engine.simulator import Simulator

STATES = 5              # the run's commonest, of each of which one wait is explained
MOST = 8                # settings tried
PACE = 1 << 16          # cycles simulated at a time
NOT_FROM_START = "only of a run from its first cycle: this session begins later, or on a branch that left in mid-run"


@dataclass(frozen=True)
class Trial:
    """One setting, tried over the whole run. removes: the resource that it relieves. cycles: of the run with it.

    energy_pj: of its register file, None if unknown. states: its warp-cycles by state. error: why there is no such run.
    """

    removes: str
    changes: tuple[Change, ...]
    cycles: int
    energy_pj: float | None
    states: dict[str, int]
    error: str = ""

    @property
    def name(self) -> str:
        """The changes as text: "sm.ldst_queue 2 → 32"."""
        return ", ".join(change.text for change in self.changes)


@dataclass(frozen=True)
class Study:
    """What is known so far. trials: the best first. runs: (finished, planned) ones, nudged ones included.

    cycles, energy_pj, states: as it ran. energy_assumed: whether no source gives its energy, so that it is no gain. floors:
    of its units, the highest first. is_planned: the settings to try are known. waits: single waits that these settings were
    tried on, the latest last.
    """

    cycles: int
    energy_pj: float | None
    states: dict[str, int]
    trials: tuple[Trial, ...]
    floors: tuple[Floor, ...]
    chance: nudge.Chance
    runs: tuple[int, int]
    is_planned: bool = True
    energy_assumed: bool = False
    waits: tuple[Relief, ...] = ()

    def wait_of(self, trial: Trial) -> Relief | None:
        """Return the single wait that a setting was tried on last; None if it was not."""
        wanted = {(change.name, str(change.new)) for change in trial.changes}
        return next((one for one in reversed(self.waits)
                     if {(change.name, str(change.new)) for change in one.changes} == wanted), None)

    def data(self) -> dict[str, Any]:
        """Return it as JSON data."""
        low, high = self.chance.ends
        rows = [{"removes": one.removes, "settings": {change.name: change.new for change in one.changes},
                 "cycles": one.cycles, "gain": one.cycles / self.cycles - 1, "claim": self.claim(one),
                 "energy_pj": one.energy_pj, "states": one.states, "error": one.error,
                 "wait": wait.data() if (wait := self.wait_of(one)) is not None else None} for one in self.trials]
        return {"cycles": self.cycles, "energy_pj": self.energy_pj, "energy_assumed": self.energy_assumed,
                "states": self.states, "trials": rows,
                "floors": [vars(floor) for floor in self.floors],
                "chance": {"nudged": list(self.chance.nudged), "lowest": low, "highest": high, "nudge": nudge.WHAT},
                "sentence": self.sentence, "measured": True}

    def energy(self, trial: Trial) -> str:
        """Return a setting's energy as text: the change in percent; if it is assumed, the energy alone, which is no gain."""
        if not self.energy_pj or not trial.energy_pj:
            return "–"
        if self.energy_assumed:
            return energy_text(trial.energy_pj)
        return f"{100 * (trial.energy_pj - self.energy_pj) / self.energy_pj:+.1f} %"

    @property
    def is_done(self) -> bool:
        """Whether all runs have ended."""
        return self.is_planned and self.runs[0] == self.runs[1]

    def claim(self, trial: Trial) -> str:
        """Return "earlier" or "later" if a setting moves the end by more than twice the range of chance, else "chance".

        "unknown" as long as nudged runs are missing, or for a setting with which the run failed.
        """
        if trial.error or not self.chance.is_known:
            return "unknown"
        if not self.chance.is_beyond(trial.cycles):
            return "chance"
        return "earlier" if trial.cycles < self.cycles else "later"

    @property
    def sentence(self) -> str:
        """The answer: whether a setting helps more than chance would, and what no setting can mend."""
        done = [one for one in self.trials if not one.error]
        best = min(done, key=lambda one: one.cycles, default=None)
        top = self.floors[0] if self.floors else None
        share = _share(top.cycles, self.cycles) if top is not None else ""
        floor = f" {top.needs} at least {top.cycles:,} of {self.cycles:,} cycles ({share})." if top is not None else ""
        if best is None:
            return f"No setting has been tried.{floor}"
        gain = f"{100 * (best.cycles - self.cycles) / self.cycles:+.1f} %"
        if not self.chance.is_known:
            return f"The best setting so far: {gain}; by chance: {self.chance.text}.{floor}"
        if self.claim(best) == "earlier":
            return f"{best.name}: {gain}, more than twice what comes by chance ({self.chance.text}).{floor}"
        return f"No setting of this machine helps: the best is {gain}, and {self.chance.text} comes by chance.{floor}"


class Trials:
    """Makes a study of a session's run. settings: try none but chance if False. nudged: how many nudged runs."""

    def __init__(self, session: Session, nudged: int = nudge.NUMBER, settings: bool = True):
        """Raise InputError if the run has not ended or cannot be simulated from cycle 0."""
        timeline = session.timeline
        has_left = session.branch is not None and session.branch.cycle
        if timeline.first or has_left or not isinstance(timeline, LiveTimeline | RecordedTimeline):
            raise InputError(f"relief: {NOT_FROM_START}")
        if timeline.closed and not timeline.fault and not has_ended(timeline):
            raise InputError(f"relief: the whole run is needed, and this recording was cut off at cycle {timeline.last:,}; "
                             "record it to its end")
        if not has_ended(timeline):
            raise InputError("relief: the whole run is needed, and this one has not ended; `goto end` runs it")
        if isinstance(timeline, LiveTimeline):
            base = timeline.simulator
        else:
            base = simulator_of(timeline, progress=session.compiling)
        facts = facts_of(session)
        self.session, self._base, self._floors = session, base, tuple(facts.floors)
        self._cycles, self._states = timeline.last, dict(facts.totals)
        self._energy: float | None = None
        self._tries_settings, self._planned = settings, nudged
        self._candidates: list[tuple[str, dict[str, Any]]] | None = None if settings else []
        self._nudged: list[int] = []
        self._trials: list[Trial] = []
        self._pieces = self._work()

    def advance(self) -> bool:
        """Simulate a little further; return whether there is more to do."""
        return next(self._pieces, None) is not None

    def study(self) -> Study:
        """Return what is known so far."""
        trials = tuple(sorted(self._trials, key=lambda one: (bool(one.error), one.cycles)))
        return Study(self._cycles, self._energy, self._states, trials, self._floors,
                     nudge.Chance(self._cycles, tuple(self._nudged), self._planned),
                     (len(trials) + len(self._nudged), len(self._candidates or ()) + self._planned),
                     self._candidates is not None, bool(assumed_of(self.session.info)), tuple(tried(self.session)))

    def _work(self) -> Generator[int, None, None]:
        """Run all, a piece at a time: the settings first, then the nudged runs, each run dropped when it has ended."""
        timeline = self.session.timeline
        self._energy = between(timeline, timeline.first, timeline.last).energy_pj.get("total")
        if self._candidates is None:
            waits = yield from longest_waits(timeline)
            self._candidates = candidates(self.session, waits)
        for removes, settings in self._candidates:
            changes = tuple(Change(key, self.session.info.parameters[key], value) for key, value in settings.items())
            try:
                machine = self._base.twin(settings)
                yield from nudge.steps(machine, 0, PACE)
                self._trials.append(_trial(removes, changes, machine))
            except (InputError, KernelFault) as error:
                self._trials.append(Trial(removes, changes, 0, None, {}, str(error)))
        for number in range(1, self._planned + 1):
            machine = self._base.twin()
            yield from nudge.steps(machine, number, PACE)
            self._nudged.append(machine.cycle)


def _trial(removes: str, changes: tuple[Change, ...], machine: Simulator) -> Trial:
    """Return the result of a finished run."""
    summary = machine.summary()
    energy = summary["energy_pj"]
    states = {"issued": summary["issued"], **summary["stalls"]}
    new = tuple(Change(one.name, one.old, machine.info.parameters.get(one.name, one.new)) for one in changes)
    return Trial(removes, new, machine.cycle, energy["total"] if energy else None, states)


def candidates(session: Session, waits: list[tuple[int, int]]) -> list[tuple[str, dict[str, Any]]]:
    """Return (resource, settings) that `why` names for waits, (warp, cycle) each, at most MOST, each once."""
    found: dict[tuple[tuple[str, Any], ...], tuple[str, dict[str, Any]]] = {}
    for warp, cycle in waits:
        chain = why(session, warp, cycle)
        settings = settings_of(session, chain)
        if settings and chain.resource is not None:
            found.setdefault(tuple(sorted(settings.items())), (chain.resource.name, settings))
    return list(found.values())[:MOST]


def longest_waits(timeline: Timeline) -> Generator[int, None, list[tuple[int, int]]]:
    """Return (warp, cycle) in the middle of the longest wait in each of the commonest states, most common first.

    A wait that goes on over the edge of a chunk counts as two. Yields the cycle that it has come to.
    """
    totals = timeline.stall_totals(timeline.last)
    names = timeline.info.stall_names
    codes = [int(code) for code in np.argsort(-totals, kind="stable")
             if totals[code] and names.get(int(code), "") not in (*NOT_WAITING, "suspended")][:STATES]
    best = dict.fromkeys(codes, (0, 0, 0))
    for start, stop, _ in timeline.stretches(timeline.first + 1, timeline.last + 1):
        states = timeline.states(start, stop)
        for code in codes:
            edges = np.diff(np.pad((states == code).astype(np.int8), ((1, 1), (0, 0))), axis=0)
            warps, begins = np.nonzero(edges.T > 0)
            if len(begins):
                lengths = np.nonzero(edges.T < 0)[1] - begins
                at = int(lengths.argmax())
                if lengths[at] > best[code][0]:
                    best[code] = int(lengths[at]), int(warps[at]), start + int(begins[at] + lengths[at] // 2)
        yield stop - 1
    return [(warp, cycle) for length, warp, cycle in best.values() if length]


def _share(part: int, whole: int) -> str:
    return f"{100 * part / max(1, whole):.1f} %"
