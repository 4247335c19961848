"""A session: inspecting, searching and breakpoints over a timeline, for screens, scripts and Python."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from rfview.engine import html
from rfview.engine.errors import InputError
from rfview.engine.escapes import visible
from rfview.engine.progress import Progress
from rfview.engine.snapshot import Snapshot
from rfview.engine.wording import listed
from rfview.sessions.branch import Branch
from rfview.sessions.cursor import END, Cursor, Stop
from rfview.sessions.search import changes, events, search
from rfview.sessions.search.breakpoints import Breakpoint, any_target, make_breakpoint, set_condition
from rfview.sessions.expressions import Expression, compile_expression
from rfview.sessions.search.marks import Marks
from rfview.sessions.search.reads import Read
from rfview.sessions.search.search import Target
from rfview.sessions.lines.moves import line_target, wait_target, waits
from rfview.sessions.lines.table import NO_LINES, LineTable, lines_of
from rfview.sessions.timeline.base import Overview, Timeline
from rfview.sessions.warps import check_warp

if TYPE_CHECKING:
    from rfview.engine.info import RunInfo
    from rfview.sessions.branches.edit import Origin

NAMED = 4       # most warps named for a stop


class Session(Cursor):
    """The verbs of time travel over a live or recorded timeline, in addition to a cursor's moves.

    breakpoints: by number.
    branch: where this session was forked, None if it was not. family: all sessions forked from one another,
    by name; "main" is the first. memo: what debugger commands keep between calls, by the command's
    name. origin: how its program is made from files, None if only the launch file is known.
    """

    def __init__(self, timeline: Timeline, marks: Marks | None = None):
        super().__init__(timeline, marks)
        self.breakpoints: dict[int, Breakpoint] = {}
        self._next_number = 1
        self._snapshot: Snapshot | None = None
        self._compiled: dict[str, Expression] = {}
        self.branch: Branch | None = None
        self.origin: Origin | None = None
        self.memo: dict[str, Any] = {}
        self.family: dict[str, Session] = {"main": self}

    @property
    def compiling(self) -> Progress | None:
        """Return what is called with (share, text) while code for a recording or a branch of it is compiled."""
        return self.timeline.compiling

    @compiling.setter
    def compiling(self, report: Progress | None) -> None:
        """Set it."""
        self.timeline.compiling = report

    def sibling(self, timeline: Timeline) -> Session:
        """Return a session of another timeline, with the same marks and the same reports of progress."""
        made = Session(timeline, self.marks)
        made.progress, made.compiling, made.origin = self.progress, self.compiling, self.origin
        return made

    # inspecting

    @property
    def info(self) -> RunInfo:
        """Return the run's constants."""
        return self.timeline.info

    @property
    def warnings(self) -> list[str]:
        """Return the warnings about the session's files."""
        return [*self.timeline.warnings, *self.marks.warnings]

    def __repr__(self) -> str:
        """Show what runs on which machine, and where the cursor is, for notebooks and the Python prompt."""
        info, end = self.info, "" if self.timeline.closed else " so far"
        return (f"<Session {info.kernel} on {info.design} {info.scheduler}, cycle {self.cycle:,} of "
                f"{self.timeline.first:,}..{self.timeline.last:,}{end}>")

    def _repr_html_(self) -> str:
        """Show it as a table, with the warps per state at the cursor."""
        names = self.info.stall_names
        codes, counts = np.unique(self.timeline.states(self.cycle, self.cycle + 1)[0], return_counts=True)
        states = ", ".join(f"{names[code]} {count}" for code, count in zip(codes.tolist(), counts.tolist()))
        end = f"{self.timeline.last:,}{'' if self.timeline.closed else ' so far'}"
        rows = [("design", self.info.design), ("scheduler", self.info.scheduler), ("preset", self.info.preset),
                ("cycle", f"{self.cycle:,} of {self.timeline.first:,} to {end}"), ("warps", states),
                *((("branch", self.branch.text),) if self.branch is not None else ())]
        return html.table(self.info.kernel, (), rows, str(self.timeline.fault or ""))

    def snapshot(self, cycle: int | None = None) -> Snapshot:
        """Return the machine at the cursor, or at another cycle of the timeline."""
        at = self.cycle if cycle is None else cycle
        if self._snapshot is None or self._snapshot.cycle != at:
            self._snapshot = self.timeline.at(at)
        return self._snapshot

    def value(self, expression: str, cycle: int | None = None) -> Any:
        """Return an expression's value at the cursor: int, float, bool, or an array over lanes or units.

        Raises InputError for an unknown name or wrong syntax.
        """
        at = self.cycle if cycle is None else cycle
        self.timeline.require(at)
        result = self.expression(expression).column(at, at + 1)[0]
        return result.item() if np.ndim(result) == 0 else result

    def printed(self) -> list[tuple[int, str]]:
        """Return the lines printed by the kernel before the cursor."""
        return self.timeline.printed(self.cycle)

    def frame(self, table: str = "instructions", first: int | None = None, last: int | None = None) -> Any:
        """Return what happened in cycles first..last - 1 (default: all that have run) as a pyarrow.Table.

        table: instructions, waits, stalls, cycles, events, accesses, program or run, with the columns that `rfview help sql`
        lists; its .to_pandas() is a DataFrame. Raises InputError for an unknown name, for cycles outside the session, and
        if pyarrow, of the extra [data], is not installed.
        """
        from rfview.sessions.export import arrow, stretch      # few sessions need it

        return arrow.table_of(self.timeline, table, *stretch(self.timeline, first, last))

    def plot(self, *expressions: str, points: int = 200) -> Any:
        """Return an altair.Chart over all cycles that have run: warps per state, or expressions as lines (plot.plot).

        Raises InputError for a wrong expression, and if Altair, of the extra [notebook], is not installed.
        """
        from rfview.sessions.plot import plot      # few sessions need it

        return plot(self.timeline, {text: self.expression(text) for text in expressions}, points)

    def overview(self, buckets: int) -> Overview:
        """Return issue rate and states of the whole timeline in `buckets` ranges."""
        return self.timeline.overview(buckets)

    def expression(self, text: str) -> Expression:
        """Return an expression compiled for this timeline, cached; raises InputError as `value` does."""
        if text not in self._compiled:
            if len(self._compiled) > 200:
                self._compiled.clear()
            self._compiled[text] = compile_expression(text, self.timeline)
        return self._compiled[text]

    # searching

    def run_until(self, expression: str) -> Stop:
        """Go forward to the first cycle after the cursor at which the condition holds, else to the end."""
        compiled = self.expression(expression)
        cycle = self._search(search.where_holds(compiled, True), True)
        if isinstance(cycle, Stop):
            return cycle
        if cycle is None:
            return self._end_stop(f"`{expression}` was not met: ")
        return self._land(cycle, "condition", f"cycle {cycle:,}: {expression}")

    def reverse_until(self, expression: str) -> Stop:
        """Go backward to the last cycle before the cursor at which the condition holds, else to the start."""
        compiled = self.expression(expression)
        cycle = self._search(search.where_holds(compiled, False), False)
        if isinstance(cycle, Stop):
            return cycle
        if cycle is None:
            first = self.timeline.first
            return self._land(first, "start", f"`{expression}` was not met: start of the session, cycle {first:,}")
        return self._land(cycle, "condition", f"cycle {cycle:,}: {expression}")

    def find(self, condition: str, forward: bool = True, count: int = 1, what: str = "") -> Stop:
        """Go to the count-th nearest cycle at which the condition holds; if there is none, stay and say so.

        what: words for users instead of the condition.
        """
        compiled = self.expression(condition)
        target = search.where_holds(compiled, forward)
        return self._find(lambda: self._search(target, forward), forward, count, what or condition)

    def _find(self, search: Callable[[], int | Stop | None], forward: bool, count: int, what: str) -> Stop:
        """Repeat a search from where it landed; the cursor moves only when all of them land."""
        here = self.cycle
        try:
            for _ in range(max(1, count)):
                cycle = search()
                if isinstance(cycle, Stop):
                    return cycle
                if cycle is None:
                    self.cycle = here
                    return Stop(here, "not found", f"no {'later' if forward else 'earlier'} cycle with {what}")
                self.cycle = cycle
            reached, self.cycle = self.cycle, here
        except InputError:
            self.cycle = here
            raise
        return self._land(reached, "condition", f"cycle {reached:,}: {what}")

    def next_event(self, kind: str, warp: int | None = None, count: int = 1) -> Stop:
        """Go to the next event of a kind (events.KINDS, a stall or a counter); raises InputError for an unknown one."""
        return self._event(kind, warp, count, True)

    def previous_event(self, kind: str, warp: int | None = None, count: int = 1) -> Stop:
        """Go to the previous event of a kind."""
        return self._event(kind, warp, count, False)

    def _event(self, kind: str, warp: int | None, count: int, forward: bool) -> Stop:
        """Go to an event of a kind; if warps wait for it, name them: `why` explains the first."""
        condition, what = events.condition(self.info, kind, warp)
        stop = self.find(condition, forward, count, what)
        if stop.reason != "condition" or warp is not None or not (codes := events.states(self.info, kind)):
            return stop
        waiting = np.flatnonzero(np.isin(self.timeline.states(stop.cycle, stop.cycle + 1)[0], codes)).tolist()
        return replace(stop, text=f"{stop.text}: {listed(waiting, NAMED)}", waiting=tuple(waiting))

    def run_to(self, pc: int, warp: int | None = None, forward: bool | None = None, count: int = 1) -> Stop:
        """Go to where a warp (None: any) comes to an instruction: later, earlier, or whichever there is (None)."""
        point = make_breakpoint(self.timeline, 0, "pc", pc, warp=warp)
        ways = [True, False] if forward is None else [forward]
        name = f"{'a warp' if warp is None else f'w{warp}'} at pc {pc}"
        target = any_target(self.timeline, [point])
        for way in ways:
            stop = self._find(lambda way=way: self._search(target, way), way, count, name)  # type: ignore[misc]
            if stop.reason != "not found":
                return stop
        return stop if forward is not None else Stop(self.cycle, "not found", f"no other cycle with {name}")

    def run_to_instruction(self, number: int, cta: int, warp: int, launch: int = 0) -> Stop:
        """Go to the cycle in which a warp of a CTA issues its `number`-th instruction, from 1 on; if it does not, stay.

        warp: its number in the CTA. cta, launch: from 0 on.
        """
        what = f"instruction {number:,} of CTA {cta}, warp {warp}" + (f" in launch {launch}" if launch else "")
        begun = self._first(f"launch.index == {launch} and launch.next_cta > {cta}", self.timeline.first)
        if isinstance(begun, Stop):
            return begun
        ctas = self.snapshot(begun).sm.cta if begun is not None else ()
        places = [place for place, one in enumerate(ctas) if one.live_warps and one.id == cta and warp < one.num_warps]
        if begun is None or not places:
            return Stop(self.cycle, "not found", f"no {what}")
        slot = int(ctas[places[0]].first_warp) + warp
        resident = f"launch.index == {launch} and cta[{places[0]}].id == {cta}"
        issued = self._first(f"{resident} and warp[{slot}].num_issued >= {number}", begun)
        if isinstance(issued, Stop):
            return issued
        if issued is None:
            return Stop(self.cycle, "not found", f"no {what}: the warp does not issue as many in this run")
        return replace(self._land(issued - 1, "condition", f"cycle {issued - 1:,}: {what} issues (w{slot})"), warp=slot)

    def _first(self, condition: str, cycle: int) -> int | Stop | None:
        """Return the first cycle from one on at which a condition holds, None, or the interruption."""
        compiled, here = self.expression(condition), self.cycle
        if compiled.truth(cycle, cycle + 1)[0]:
            return cycle
        self.cycle = cycle
        try:
            return self._search(search.where_holds(compiled, True), True)
        finally:
            self.cycle = here

    @property
    def lines(self) -> LineTable:
        """Return the source lines of the program; an empty table if the PTX has none."""
        return lines_of(self.timeline)

    def next_line(self, warp: int | None = None, forward: bool = True, count: int = 1, line: int | None = None) -> Stop:
        """Go to where a warp (None: any) comes to another source line, later or earlier; if it does not, stay.

        line: only this one, by its number in `lines.lines`. Both directions stop at the same cycles.
        Raises InputError if the program has no source lines, or there is no such warp.
        """
        table, slots = self.lines, self.info.num_warps
        if not table:
            raise InputError(f"next-line: {NO_LINES}")
        if warp is not None:
            check_warp(warp, slots, "next-line")
        target = line_target(self.timeline, table, warp, line)
        name = "a warp" if warp is None else f"w{warp}"
        what = f"another source line of {name}" if line is None else f"{name} at {table.lines[line].text}"
        stop = self._find(lambda: self._search(target, forward), forward, count, what)
        if stop.reason != "condition" or warp is None:
            return stop
        there = table.at(int(self.snapshot().sm["warp"][warp]["pc"]))
        if there is None:
            return stop
        text = (table.source(there) or "").strip()
        return replace(stop, text=f"w{warp} at {there.text}{f'  {visible(text)}' if text else ''}")

    def next_change(self, item: str) -> Stop:
        """Go forward to the first cycle after the cursor at which the item differs from the cycle before.

        For a register, or a lane of one, the next write counts: the cycle is the first that shows what an instruction wrote,
        even if it is the same value.
        """
        return self._change(item, True)

    def last_change(self, item: str) -> Stop:
        """Go backward to the last cycle before the cursor at which the item differs from the cycle before.

        For a register, or a lane of one, the last write counts, as in next_change.
        """
        return self._change(item, False)

    def next_read(self, item: str, forward: bool = True) -> Stop:
        """Go to where the warp of a register (w3.R12) next issues, or last issued, an instruction that reads it.

        The cycle is the first that shows the issue. If there is none, stay and say so.
        """
        read = Read(self.timeline, 0, None, item)
        cycle = self._search(read.target(self.timeline), forward)
        if isinstance(cycle, Stop):
            return cycle
        if cycle is None:
            where = "after" if forward else "before"
            return Stop(self.cycle, "not found", f"{item} is not read {where} cycle {self.cycle:,}")
        pc = int(self.timeline.column(f"sm.warp[{read.reader}].last_pc", cycle, cycle + 1)[0])
        text = f"cycle {cycle:,}: {' '.join(self.info.program[pc].text.split())} reads {item}"
        return replace(self._land(cycle, "read", text), warp=read.reader)

    def _change(self, item: str, forward: bool) -> Stop:
        compiled = self.expression(item)
        compiled.check_change()
        register = compiled.register
        target = search.where_changes(compiled) if register is None else search.where_written(*register)
        cycle = self._search(target, forward)
        if isinstance(cycle, Stop):
            return cycle
        if cycle is None:
            verb, where = "does not change" if register is None else "is not written", "after" if forward else "before"
            return Stop(self.cycle, "not found", f"{item} {verb} {where} cycle {self.cycle:,}")
        what = changes.written(self, item, compiled, cycle)
        return replace(self._land(cycle, "change", f"cycle {cycle:,}: {what}"), warp=changes.warp_of(compiled, cycle))

    def continue_(self) -> Stop:
        """Go forward to the next breakpoint hit, else to the end."""
        return self._continue(True)

    def reverse_continue(self) -> Stop:
        """Go backward to the previous breakpoint hit, else to the start."""
        return self._continue(False)

    def play(self, n: int) -> Stop:
        """Go n cycles forward, or fewer if a breakpoint stops on the way."""
        return self._continue(True, self.cycle + n)

    def _continue(self, forward: bool, limit: int | None = None) -> Stop:
        """Go to the nearest stop, at most to cycle `limit`."""
        start = self.cycle
        active = [point for point in self.breakpoints.values() if point.enabled]
        while active:
            cycle = self._search(any_target(self.timeline, active), forward, limit)
            if isinstance(cycle, Stop):
                return cycle
            if cycle is None:
                break
            hit = [point for point in active if point.hits_in(self.timeline, cycle, cycle + 1)[0]]
            stopping = [point for point in hit if point.ignore == 0]
            for point in hit:
                point.ignore = max(0, point.ignore - 1)
            if not stopping:
                self.cycle = cycle
                continue
            for point in stopping:
                point.hits += 1
                if point.temporary:
                    del self.breakpoints[point.number]
            self.cycle = start
            hits = "; ".join(self._hit(point, cycle) for point in stopping)
            landed = self._land(cycle, "breakpoint", f"cycle {cycle:,}: {hits}")
            warps = (point.warp_at(self.timeline, cycle) for point in stopping)
            return replace(landed, breakpoints=tuple(point.number for point in stopping),
                           warp=next((warp for warp in warps if warp is not None), None))
        self.cycle = start
        if limit is not None:
            return self._go(limit, "step")
        if forward:
            self.reach(END)
            return self._end_stop()
        return self._land(self.timeline.first, "start", f"start of the session, cycle {self.timeline.first:,}")

    def _hit(self, point: Breakpoint, cycle: int) -> str:
        """Return which breakpoint stopped, and of a watchpoint what changed."""
        change = f": {changes.watched(self, point.item, cycle)}" if point.kind == "watch" else ""
        return f"breakpoint {point.number}, {point.text}{change}"

    def next_wait(self, line: int, code: int, forward: bool = True, count: int = 1) -> Stop:
        """Go to where a warp begins to wait at a source line (by its number) in a state; if none does, stay."""
        table, name = self.lines, self.info.stall_names.get(code, f"state {code}")
        target = wait_target(self.timeline, table, line, code)
        stop = self._find(lambda: self._search(target, forward), forward, count, f"{name} at {table.lines[line].text}")
        if stop.reason != "condition":
            return stop
        there = waits(self.timeline, table, line, code, self.cycle, self.cycle + 1)[0]
        warp = int(there.argmax())
        return replace(stop, warp=warp, text=f"w{warp} begins to wait at {table.lines[line].text}: {name}")

    def _search(self, target: Target, forward: bool, limit: int | None = None) -> int | Stop | None:
        """Return the nearest hit beyond the cursor, None, or the interruption. limit: as in search."""
        start = self.cycle + (1 if forward else -1)
        cycle, stopped = search.search(self.timeline, target, start, forward, limit, self.interrupted)
        if stopped is None:
            return cycle
        return self._land(stopped, "interrupted", f"interrupted at cycle {stopped:,}")

    # breakpoints

    def add_breakpoint(self, kind: str, value: int = 0, *, warp: int | None = None, condition: str = "",
                       temporary: bool = False, ignore: int = 0, item: str = "") -> Breakpoint:
        """Add a breakpoint (search/kinds.py); raises InputError for a place, item or stall that does not exist."""
        point = make_breakpoint(self.timeline, self._next_number, kind, value, warp=warp, condition=condition,
                                temporary=temporary, ignore=ignore, item=item)
        self._next_number += 1
        self.breakpoints[point.number] = point
        return point

    def remove_breakpoint(self, number: int) -> None:
        """Remove a breakpoint; raises InputError when there is none of that number."""
        del self.breakpoints[self.breakpoint(number).number]

    def enable_breakpoint(self, number: int, enabled: bool = True) -> None:
        """Switch a breakpoint on or off."""
        self.breakpoint(number).enabled = enabled

    def watch(self, item: str, condition: str = "", *, temporary: bool = False, ignore: int = 0) -> Breakpoint:
        """Stop where an item changes: any expression, for example w3.R12[5], bank[2].queue, w3.P2, mem[A + 16] or 0x70..."""
        return self.add_breakpoint("watch", item=item, condition=condition, temporary=temporary, ignore=ignore)

    def break_on_stall(self, cycles: int, stall: str = "", warp: int | None = None) -> Breakpoint:
        """Stop where a warp has waited longer than `cycles` without interruption, for one stall ("" = for any)."""
        return self.add_breakpoint("stall", cycles, item=stall, warp=warp)

    def break_on_unbalanced(self) -> Breakpoint:
        """Stop where warp-cycles or energy no longer add up."""
        return self.add_breakpoint("unbalanced")

    def set_condition(self, number: int, condition: str) -> None:
        """Give a breakpoint another condition, "" for none."""
        set_condition(self.timeline, self.breakpoint(number), condition)

    def breakpoint(self, number: int) -> Breakpoint:
        """Return a breakpoint by number; raises InputError, which lists all breakpoints."""
        if number not in self.breakpoints:
            known = ", ".join(map(str, self.breakpoints))
            raise InputError(f"no breakpoint {number} ({f'there are {known}' if known else 'none is set'})")
        return self.breakpoints[number]
