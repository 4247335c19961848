"""Computes what the screen of two programs shows, in a worker thread, never in the screen's."""

from __future__ import annotations

from rfview import crash
from rfview.engine.errors import InputError
from rfview.engine.progress import Progress
from rfview.render.by_line import ByLinePicture
from rfview.render.operation import with_lines
from rfview.render.pair import RunFacts
from rfview.screens.compare.source import facts_of
from rfview.sessions.compare import machines, report
from rfview.sessions.compare.edits import SOURCE
from rfview.sessions.compare.issues import NO_CYCLE, Issue
from rfview.sessions.compare.programs import Programs, Row
from rfview.sessions.session import Session
from rfview.sessions.timeline.base import Timeline
from rfview.sessions.why import why

POINTS = 60         # of the curve


class ProgramsSource:
    """Two runs of different programs, and the chosen line. After any method that moves, `picture()` returns a new picture.

    targets: what A and B are called. progress is called during long work and may raise to stop it.
    """

    def __init__(self, timelines: tuple[Timeline, Timeline], targets: tuple[str, str], progress: Progress | None = None):
        self.timelines, self.targets, self.progress = timelines, targets, progress
        self.programs = Programs(*timelines, progress)
        self.order = "source"
        self.rows = list(self.programs.rows)
        self.selected = max(range(len(self.rows)), key=lambda at: abs(self.rows[at].causes_change), default=0)
        different = machines.brief(machines.differences([timeline.info for timeline in timelines]))
        self.message, self.kind = "; ".join(filter(None, [different, *self.programs.notes])), "info"
        data = [report.run_data(timeline, target, letter)
                for timeline, target, letter in zip(timelines, targets, "AB", strict=True)]
        names = dict.fromkeys(name for run in data for name in run["stalls"] if name not in ("finished", "no_cta"))
        self._totals = (("issued", data[0]["instructions"], data[1]["instructions"]),
                        *((name, data[0]["stalls"].get(name, 0), data[1]["stalls"].get(name, 0)) for name in names))
        self._facts = tuple(facts_of(data))
        self._lead = tuple(-lead.lag for lead in self.programs.lead(POINTS) if NO_CYCLE not in (lead.cycle_a, lead.cycle_b))
        self._runs = tuple(RunFacts("AB"[at], name, targets[at], timelines[at].info, timelines[at].last, timelines[at].last)
                           for at, name in enumerate(self._names()))
        self._memory = {True: "memory equal ✓", False: "memory differs ✕", None: ""}[self.programs.memory_equal]

    def _names(self) -> tuple[str, str]:
        """Return what the runs are called in the title: their source files, if these have different names."""
        files = [next((side.file.rpartition("/")[2] for row in self.rows if (side := (row.pair.a, row.pair.b)[at])), "")
                 for at in (0, 1)]
        if self.programs.alignment.by == SOURCE and files[0] != files[1]:
            return files[0], files[1]
        return self.targets[0].rpartition("/")[2], self.targets[1].rpartition("/")[2]

    def say(self, text: str, kind: str = "info") -> None:
        """Set the message row."""
        self.message, self.kind = text, kind

    def swap(self) -> ProgramsSource:
        """Return the same comparison with A and B exchanged."""
        a, b = self.timelines
        return ProgramsSource((b, a), (self.targets[1], self.targets[0]), self.progress)

    # moving

    def step(self, by: int) -> None:
        """Choose the line `by` rows further down."""
        self.selected = max(0, min(len(self.rows) - 1, self.selected + by))
        self.say("")

    def next_change(self, by: int) -> None:
        """Choose the by-th next (or previous) line that changed."""
        changed = [at for at, row in enumerate(self.rows) if self.programs.is_changed(row)]
        beyond = [at for at in changed if (at > self.selected if by > 0 else at < self.selected)]
        if beyond:
            self.selected = beyond[min(by, len(beyond)) - 1] if by > 0 else beyond[max(by, -len(beyond))]
            self.say("")
        else:
            self.say(f"no line {'below' if by > 0 else 'above'} has changed")

    def sort(self) -> None:
        """Order the lines as in the source, or those that changed most first."""
        chosen = self.rows[self.selected] if self.rows else None
        self.order = "change" if self.order == "source" else "source"
        self.rows = list(self.programs.rows)
        if self.order == "change":
            self.rows.sort(key=lambda row: -abs(row.change))
        self.selected = next((at for at, row in enumerate(self.rows) if row is chosen), 0)

    # the chosen line

    @property
    def row(self) -> Row:
        """Return the chosen line; raises InputError if there is none."""
        if not self.rows:
            raise InputError("the programs have no line")
        return self.rows[self.selected]

    def first_issues(self) -> tuple[Issue | None, Issue | None]:
        """Return the chosen line's first issue in both runs; raises InputError if it has none in either."""
        pair = self.programs.first_issue(self.row, 0), self.programs.first_issue(self.row, 1)
        if pair == (None, None):
            raise InputError(f"{self.programs.name_of(self.row, 1)} is not executed in either run")
        return pair

    @property
    def place(self) -> str:
        """Return what `first_issues` are of, in words."""
        return f"first issue of {self.programs.name_of(self.row, 1)}"

    def reasons(self) -> tuple[str, ...]:
        """Return why the chosen line waits in both runs, as lines of text: the chain of its first wait of the main kind."""
        out = []
        for at, letter in enumerate("AB"):
            place = self.programs.first_wait(self.row, at)
            name = self.programs.name_of(self.row, at)
            if place is None:
                has_it = (self.row.a, self.row.b)[at] is not None
                out += [f"{letter}  {name} does not wait" if has_it else f"{letter}  has no such line", ""]
                continue
            out.append(f"{letter}  {name}, w{place[1]} at cycle {place[0]:,}")
            out += [*(f"   {number} {text}" for number, text in enumerate(self._chain(at, *place), 1)), ""]
        return tuple(out[:-1])

    def _chain(self, at: int, cycle: int, slot: int) -> list[str]:
        """Return the sentences of a chain of causes."""
        timeline = self.timelines[at]
        try:
            return [with_lines(link.sentence, timeline.info.program) for link in why(Session(timeline), slot, cycle).links]
        except Exception as error:      # a design explains its own refusals, and a user's design may have defects
            return [crash.text_of(error)]

    # what the screen shows

    def picture(self) -> ByLinePicture:
        """Return what the screen shows now."""
        programs = self.programs
        names = tuple(programs.name_of(self.row, at) for at in (0, 1)) if self.rows else ("", "")
        return ByLinePicture(
            (self._runs[0], self._runs[1]), programs.alignment.by, programs.heading(), tuple(programs.sentences()),
            tuple(self.rows), tuple(map(programs.is_changed, self.rows)), self.selected, self.order, (names[0], names[1]),
            self._totals, self._facts, self._lead, self._memory, self.message, self.kind, cut=programs.cut)
