"""Builds the scene of a frame from a session: the state at the cursor and the facts around it."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np

from rfview.engine.errors import RfviewError
from rfview.engine.stalls import NO_STALL, NO_WARP, NOT_WAITING
from rfview.render import lines, pipeline, summary, timeline
from rfview.render.scene import RATE_WINDOW, Badge, BreakView, Over, Overview, Scene, looks
from rfview.screens.scenes.brush import BrushSource
from rfview.screens.scenes.lines import LineSource
from rfview.screens.scenes.spans import PipeSource, SpanSource
from rfview.screens.scenes.summary import SummarySource
from rfview.screens.scenes.watches import WatchSource
from rfview.sessions.energy import assumed_of, energy_until
from rfview.sessions.machine import Machine
from rfview.sessions.timeline.invariants import problems
from rfview.sessions.why.past import Past

if TYPE_CHECKING:
    from rfview.screens.scenes.overlay import OverSource
    from rfview.sessions.search.breakpoints import Breakpoint
    from rfview.sessions.session import Session

WINDOW = 160          # past cycles kept for the histories of WARPS
MAX_COLUMNS = 512     # stretches of the run, for each of which one breakpoint hit is kept
SCAN_CHUNKS = 512     # of a longer recording, only the first chunks are scanned for hits
OUTSIDE_STATES = ("suspended", *NO_WARP)     # of warps that are absent and so cannot be held up


class SceneSource:
    """Turns a session's cursor into scenes; keeps what does not change from one frame to the next."""

    def __init__(self, session: Session):
        self.session = session
        self.columns = 118
        self.zoom = 0
        self.compare: int | None = None
        self.follows_jumps = True
        self.seen = session.cycle
        self.spans = SpanSource(session)
        self.watches = WatchSource(session, self.spans, looks(session.info))
        self.brush = BrushSource(session)
        self.pipes = PipeSource(session)
        self.over: OverSource | None = None     # another run, laid over this one
        self.warp = 0                           # the focused warp, by which the other run is aligned
        self.lines = LineSource(session)
        self.summary = SummarySource(session)
        # panel -> what gathers its data in as many columns as it has
        self.gathered: dict[str, SpanSource | PipeSource | LineSource | SummarySource] = {
            timeline.PANEL.name: self.spans, pipeline.PANEL.name: self.pipes, lines.PANEL.name: self.lines,
            summary.PANEL.name: self.summary}
        self.hits: dict[int, int] = {}
        self.points: dict[int, list[int]] = {}
        self.hits_key: tuple[Any, ...] = ()
        self._scanned = 0                       # chunks scanned for hits
        self._overview: tuple[tuple[Any, ...], Overview] | None = None
        self._common: tuple[int, tuple[int, ...]] | None = None
        self._machines: dict[int, Machine] = {}
        self._known_past: tuple[int, Past] | None = None
        self._looks = looks(session.info)

    # what a frame needs

    def machine(self, cycle: int) -> Machine:
        """Return the machine at a cycle; the last few are kept."""
        machine = self._machines.get(cycle)
        if machine is None:
            if len(self._machines) > 6:
                self._machines.clear()
            session = self.session
            snapshot = session.snapshot() if cycle == session.cycle else session.timeline.at(cycle)
            len(snapshot.rows)      # read now, so that damage is reported here and painters never wait for a file
            machine = self._machines[cycle] = Machine.of(snapshot)
        return machine

    @property
    def is_live(self) -> bool:
        """Say whether the session can still grow and is at the furthest cycle seen."""
        return not self.session.timeline.closed and self.session.cycle >= self.seen

    @property
    def last(self) -> int:
        """The last cycle known to the screen: a live run ends where the user has been, not where the engine is."""
        timeline = self.session.timeline
        return timeline.last if timeline.closed else min(timeline.last, max(self.seen, timeline.first + 1))

    def scene(self, message: str = "", kind: str = "info", badge: Badge | None = None) -> Scene:
        """Return the scene at the cursor; raises InputError if the recording is damaged there."""
        session = self.session
        timeline = session.timeline
        cycle = session.cycle
        self.seen = max(self.seen, cycle)
        before = self.compare if self.compare is not None else cycle - 1
        start = max(timeline.first, cycle - WINDOW + 1)
        base = max(timeline.first, cycle - RATE_WINDOW)
        shares = timeline.stall_totals(cycle) - timeline.stall_totals(base)
        scene = Scene(
            now=self.machine(cycle),
            before=self.machine(before) if timeline.first <= before <= timeline.last else None,
            info=session.info, first=timeline.first, last=self.last,
            window=timeline.states(start, cycle + 1), shares=tuple(shares.tolist()), shares_cycles=cycle - base,
            common=self._common_states(), overview=self.overview(), badge=badge or self.badge(),
            is_live=not timeline.closed, is_closed=timeline.closed, fault=timeline.fault or "",
            stored=timeline.stored, breakpoints=self.break_views(), hits=tuple(self.hits.values()),
            marks=tuple((mark.name, mark.cycle) for mark in session.marks), message=message, message_kind=kind,
            mark_notes={mark.name: mark.note for mark in session.marks if mark.note},
            problems=problems(session.snapshot()), power_mw=self._power(base, cycle),
            power_assumed=bool(assumed_of(session.info)), span=self.spans.span(self.last),
            past=self._past(cycle), over=self._over(cycle), brush=self.brush.view(),
            pipes=self.pipes.pipes(self.last), lines=session.lines or None,
            costs=self.lines.costs(self.last, self.brush.view()), summary=self.summary.summary(),
            branch=session.branch.name if session.branch is not None else "",
        )
        scene.__dict__["looks"] = self._looks   # a cached property that each scene would otherwise compute again
        return scene

    def stalled_by_the_register_file(self) -> list[int]:
        """Return the warps held up by the register file at the cursor."""
        codes = {code for code, look in self._looks.items() if look.is_register_file}
        return [warp for warp, code in enumerate(self.machine(self.session.cycle).state) if code in codes]

    def _over(self, cycle: int) -> Over | None:
        """Return what is laid over the machine at a cycle, or None."""
        return self.over.at(self.machine(cycle), self.warp) if self.over is not None else None

    def _past(self, cycle: int) -> Past:
        """Return the states before a cycle, kept while the cursor stays in one chunk; only the painters read them."""
        number = self.session.timeline.chunk_number(cycle)
        if self._known_past is None or self._known_past[0] != number:
            self._known_past = (number, Past.around(self.session.timeline, cycle))
        return self._known_past[1]

    def _power(self, first: int, last: int) -> float | None:
        """Return the register file's mean power in mW over cycles first..last-1; None if it is not known."""
        if first >= last:
            return None
        before, after = (energy_until(self.session.timeline, cycle) for cycle in (first, last))
        if before is None or after is None:
            return None
        return (after["total"] - before["total"]) * self.session.info.clock_mhz / (last - first) * 1e-3

    def badge(self) -> Badge:
        """Return the badge of a session at rest."""
        timeline = self.session.timeline
        if timeline.fault and self.session.cycle == timeline.last:
            return Badge("fault", "✕ FAULT")
        if self.is_live:
            return Badge("live", "● LIVE")
        if self.session.cycle == timeline.last and timeline.closed:
            return Badge("past", "■ END")
        return Badge("past", "◄ PAST")

    def _common_states(self) -> tuple[int, ...]:
        """Return issued and the run's four most common other states, most common first; updated as the run doubles."""
        timeline = self.session.timeline
        size = timeline.last.bit_length()
        if self._common is None or self._common[0] != size:
            totals = timeline.stall_totals(timeline.last)
            order = [int(code) for code in np.argsort(-totals, kind="stable") if totals[code]]
            order = [code for code in order if code not in self._named(*NOT_WAITING)][:4]
            self._common = (size, (timeline.issued, *order))
        return self._common[1]

    def _named(self, *names: str) -> list[int]:
        return [code for code, look in self._looks.items() if look.name in names]

    # the overview

    def span(self) -> tuple[int, int]:
        """Return (first, last) cycle of the overview: of the whole run, or of a stretch around the cursor if zoomed in."""
        first, last = self.session.timeline.first, self.last
        length = max(16, (last - first) >> self.zoom)
        if not self.zoom or length >= last - first:
            return first, last
        start = min((self.session.cycle - first) // length * length + first, last - length)
        return start, start + length

    def overview(self) -> Overview:
        """Return the overview in `columns` columns, computed again only if the run or the stretch has changed."""
        timeline = self.session.timeline
        first, last = self.span()
        key = (first, self.columns, self.zoom)
        if self._overview is not None and self._overview[0] == key:
            known = self._overview[1].edges[-1]
            if known == last or (self.is_live and known <= last < known + max(1, (known - first) // self.columns)):
                return self._overview[1]
        if last <= first:
            return Overview()
        buckets = max(1, min(self.columns, last - first))
        counted = timeline.overview(buckets, first, last)
        blocking = np.array(counted.states, np.float64, copy=True)
        blocking[:, self._named(*NO_STALL)] = 0
        best = blocking.argmax(axis=1)
        empty = blocking.max(axis=1, initial=0) <= 0
        fallback = counted.states.argmax(axis=1)
        states = np.where(empty, np.where(counted.states.max(axis=1, initial=0) > 0, fallback, -1), best)
        there = counted.states.astype(np.float64)
        there[:, self._named(*OUTSIDE_STATES)] = 0
        blocked = [code for code, look in self._looks.items() if look.is_register_file and code < there.shape[1]]
        lost = there[:, blocked].sum(axis=1) / np.maximum(1.0, there.sum(axis=1))
        overview = Overview(tuple(counted.edges.tolist()), tuple(counted.issue_rate.tolist()), tuple(states.tolist()),
                            tuple(lost.tolist()))
        self._overview = (key, overview)
        return overview

    # breakpoints

    def break_views(self) -> tuple[BreakView, ...]:
        """Return the breakpoints as the screen shows them."""
        self._active()
        is_counted = self._scanned >= min(len(self.session.timeline.chunk_starts()), SCAN_CHUNKS)
        return tuple(
            BreakView(point.number, point.text, point.pcs[0] if point.pcs else None, point.enabled, point.temporary,
                      point.hits, point.condition, point.kind, point.ignore, tuple(self.points.get(point.number, ())),
                      is_counted, self.watches.watch(point))
            for point in self.session.breakpoints.values()
        )

    def _active(self) -> list[Breakpoint]:
        """Return the breakpoints that are on; if they have changed, forget the hits found so far."""
        active = [point for point in self.session.breakpoints.values() if point.enabled]
        key = tuple((point.number, point.text) for point in active)
        if key != self.hits_key:
            self.hits, self.points, self.hits_key, self._scanned = {}, {}, key, 0
        return active

    def scan(self) -> bool:
        """Scan one more chunk for breakpoint hits, for the overview; return False if there is nothing to do.

        Called between moves, so it takes one chunk at a time; one hit is kept per column.
        """
        timeline = self.session.timeline
        active = self._active()
        starts = timeline.chunk_starts()
        if not active or self._scanned >= min(len(starts), SCAN_CHUNKS):
            return False
        low = starts[self._scanned]
        high = starts[self._scanned + 1] if self._scanned + 1 < len(starts) else timeline.last + 1
        self._scanned += 1
        with suppress(RfviewError):     # a damaged chunk shows no hits
            for point in active:
                for offset in np.flatnonzero(point.hits_in(timeline, low, high)).tolist():
                    cycle = low + offset
                    self.points.setdefault(point.number, []).append(cycle)
                    column = cycle * MAX_COLUMNS // max(1, timeline.last + 1)
                    self.hits.setdefault(column, cycle)
        return True
