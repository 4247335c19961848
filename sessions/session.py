"""A timeline with a cursor: the verbs of time travel, once, for screens, scripts and Python alike."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from rfview.engine import html
from rfview.engine.errors import InputError
from rfview.engine.escapes import visible
from rfview.engine.snapshot import Snapshot
from rfview.sessions.search import changes, events, search
from rfview.sessions.search.breakpoints import Breakpoint, any_target, make_breakpoint, set_condition
from rfview.sessions.expressions import Expression, compile_expression
from rfview.sessions.search.hits import warp_of_hit
from rfview.sessions.search.history import History
from rfview.sessions.search.marks import Mark, Marks
from rfview.sessions.search.search import Target
from rfview.sessions.lines.moves import line_target
from rfview.sessions.lines.table import NO_LINES, LineTable, lines_of
from rfview.sessions.timeline.base import Overview, Timeline

PLACE = re.compile(r"(?P<sign>[+-]?)(?P<number>\d[\d,_]{0,40})\Z")
REGISTER = re.compile(r"w(\d+)\.[rR](\d+)(?:\[(\d+)\])?\Z")
PERCENT = re.compile(r"(\d+(?:\.\d+)?)%\Z")


@dataclass(frozen=True)
class Change:
    """One thing that a branch has otherwise: a parameter ("stt.write_cycles") or a register lane ("w3.R5[7]")."""

    name: str
    old: Any
    new: Any

    @property
    def text(self) -> str:
        """Return "stt.write_cycles 4 → 8"; registers in hexadecimal."""
        old, new = (f"{value:#x}" if REGISTER.match(self.name) else value for value in (self.old, self.new))
        return f"{self.name} {old} → {new}"


@dataclass(frozen=True)
class Branch:
    """Where a session comes from. parent: its name. cycle: where they part. changes: what is otherwise from there on.

    command: the debugger command that makes it again, given on the parent at that cycle.
    """

    name: str
    parent: str
    cycle: int
    changes: tuple[Change, ...]
    command: str

    @property
    def text(self) -> str:
        """Return the branch as one line."""
        what = ", ".join(change.text for change in self.changes) or "nothing changed"
        return f"{self.name}: from {self.parent} at cycle {self.cycle:,}, {what}"


@dataclass(frozen=True)
class Stop:
    """Where a move ended and why.

    reason: 'step', 'goto', 'breakpoint', 'condition', 'change', 'start', 'end', 'fault', 'interrupted' (moved as far as
    that) or 'not found' (not moved). text: one sentence for people. breakpoint: its number, or None. warp: the one that the
    breakpoint stopped for, or None.
    """

    cycle: int
    reason: str
    text: str
    breakpoint: int | None = None
    warp: int | None = None

    def _repr_html_(self) -> str:
        """Say it as a line."""
        return html.table(f"cycle {self.cycle:,}", (), [(self.reason, self.text)])


class Session:
    """The verbs over a live or recorded timeline; every move returns a `Stop` and clamps at the ends.

    cycle: the cursor. marks: named places. breakpoints: by number. came_from: where the last jump began, or None.
    progress: called now and then during long moves with the cycle reached; return True to stop there. compiling: told
    (share, text) while code is compiled that a branch of a recording needs. On live timelines a move past the end
    simulates as far as needed. branch: where this session was forked, None where it was not. family: all sessions
    that were forked from one another, by name; "main" is the first. kept: what debugger commands keep from one of their
    calls to the next, by the command's name.
    """

    def __init__(self, timeline: Timeline, marks: Marks | None = None):
        self.timeline = timeline
        self.cycle = timeline.first
        self.marks = marks if marks is not None else Marks()
        self.breakpoints: dict[int, Breakpoint] = {}
        self.came_from: int | None = None
        self.progress: Callable[[int], bool | None] | None = None
        self.compiling: Callable[[float, str], None] | None = None
        self._next_number = 1
        self._history = History(self.cycle)
        self._snapshot: Snapshot | None = None
        self._compiled: dict[str, Expression] = {}
        self.branch: Branch | None = None
        self.kept: dict[str, Any] = {}
        self.family: dict[str, Session] = {"main": self}

    # looking

    @property
    def info(self) -> dict[str, Any]:
        """Return the run's constants."""
        return self.timeline.info

    @property
    def warnings(self) -> list[str]:
        """Return what was wrong with the session's files."""
        return [*self.timeline.warnings, *self.marks.warnings]

    def __repr__(self) -> str:
        """Say what runs on which machine, and where the cursor is: for notebooks and the Python prompt."""
        info, end = self.info, "" if self.timeline.closed else " so far"
        return (f"<Session {info.get('kernel')} on {info.get('design')} {info.get('scheduler')}, cycle {self.cycle:,} of "
                f"{self.timeline.first:,}..{self.timeline.last:,}{end}>")  # fmt: skip

    def _repr_html_(self) -> str:
        """Say it as a table, with the warps per state at the cursor."""
        names = {int(entry["code"]): entry["name"] for entry in self.info["stalls"]}
        codes, counts = np.unique(self.timeline.states(self.cycle, self.cycle + 1)[0], return_counts=True)
        states = ", ".join(f"{names[code]} {count}" for code, count in zip(codes.tolist(), counts.tolist()))
        end = f"{self.timeline.last:,}{'' if self.timeline.closed else ' so far'}"
        rows = [("design", self.info["design"]), ("scheduler", self.info["scheduler"]), ("preset", self.info["preset"]),
                ("cycle", f"{self.cycle:,} of {self.timeline.first:,} to {end}"), ("warps", states),
                *((("branch", self.branch.text),) if self.branch is not None else ())]  # fmt: skip
        return html.table(str(self.info["kernel"]), (), rows, str(self.timeline.fault or ""))

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
        self.timeline.check(at)
        result = self.expression(expression).column(at, at + 1)[0]
        return result.item() if np.ndim(result) == 0 else result

    def printed(self) -> list[tuple[int, str]]:
        """Return the lines that the kernel has printed before the cursor."""
        return self.timeline.printed(self.cycle)

    def frame(self, table: str = "instructions", first: int | None = None, last: int | None = None) -> Any:
        """Return what happened in cycles first..last - 1 (default: all that has run) as a pyarrow.Table.

        table: instructions, waits, stalls, cycles, events, accesses, program or run, with the columns that `rfview help sql`
        lists; its .to_pandas() is a DataFrame. Raises InputError for another name, for cycles outside the session, and
        where pyarrow, of the extra [data], is not installed.
        """
        from rfview.sessions.export import arrow, stretch      # what few sessions need

        return arrow.table_of(self.timeline, table, *stretch(self.timeline, first, last))

    def plot(self, *expressions: str, points: int = 200) -> Any:
        """Return an altair.Chart over all cycles that have run: warps per state, or expressions as lines (plot.plot).

        Raises InputError for a wrong expression, and where Altair, of the extra [notebook], is not installed.
        """
        from rfview.sessions.plot import plot      # what few sessions need

        return plot(self.timeline, {text: self.expression(text) for text in expressions}, points)

    def overview(self, buckets: int) -> Overview:
        """Return issue rate and states of the whole timeline in `buckets` stretches."""
        return self.timeline.overview(buckets)

    def expression(self, text: str) -> Expression:
        """Return an expression made ready for this timeline, made once; raises InputError as `value` does."""
        if text not in self._compiled:
            if len(self._compiled) > 200:
                self._compiled.clear()
            self._compiled[text] = compile_expression(text, self.timeline)
        return self._compiled[text]

    # moving

    def _land(self, cycle: int, reason: str, text: str, breakpoint: int | None = None) -> Stop:
        """Put the cursor at `cycle`, remember it in the history and return the stop."""
        if reason != "step" and cycle != self.cycle:
            self.came_from = self.cycle
        self.cycle = cycle
        self._history.visit(cycle, is_step=reason == "step")
        return Stop(cycle, reason, text, breakpoint)

    def _end_stop(self, why: str = "") -> Stop:
        """Land on the last cycle, with the kernel's fault if there is one."""
        last = self.timeline.last
        if self.timeline.fault:
            return self._land(last, "fault", f"the kernel stopped at cycle {last:,}: {self.timeline.fault}")
        return self._land(last, "end", f"{why}end of the session at cycle {last:,}")

    def reach(self, cycle: int) -> bool:
        """Simulate until `cycle` exists; return False when interrupted."""
        timeline = self.timeline
        while cycle > timeline.last and not timeline.closed:
            if timeline.extend(min(cycle - timeline.last, 1 << 16)) == 0:
                break
            if self.interrupted(timeline.last):
                return False
        return True

    def interrupted(self, cycle: int) -> bool:
        """Tell `progress` how far a long move is, and say whether it is to stop."""
        return bool(self.progress is not None and self.progress(cycle))

    def _go(self, cycle: int, reason: str) -> Stop:
        """Move to a cycle, clamped to the timeline."""
        timeline = self.timeline
        if cycle < timeline.first:
            return self._land(timeline.first, "start", f"start of the session, cycle {timeline.first:,}")
        if not self.reach(cycle):
            return self._land(timeline.last, "interrupted", f"interrupted at cycle {timeline.last:,}")
        if cycle > timeline.last:
            return self._end_stop()
        if cycle == timeline.last and timeline.closed and timeline.fault:
            return self._end_stop()
        return self._land(cycle, reason, f"cycle {cycle:,}")

    def step(self, n: int = 1) -> Stop:
        """Go n cycles forward."""
        return self._go(self.cycle + n, "step")

    def back(self, n: int = 1) -> Stop:
        """Go n cycles backward."""
        return self._go(self.cycle - n, "step")

    def goto(self, place: int | str) -> Stop:
        """Go to a cycle, '50%', '@mark', 'start', 'end', '+10' or '-10'; raises InputError for anything else.

        On a live session 'end' runs the kernel to its end; a percentage is of what has run so far.
        """
        return self._go(self.resolve(place), "goto")

    def resolve(self, place: int | str) -> int:
        """Return the cycle that a place names, which may lie outside the timeline."""
        if isinstance(place, (int, np.integer)):
            return int(place)
        timeline = self.timeline
        text = place.strip()
        if text in ("start", "end"):
            return timeline.first if text == "start" else timeline.last if timeline.closed else np.iinfo(np.int64).max
        if text.startswith("@"):
            return self.marks.get(text[1:]).cycle
        if match := PERCENT.match(text):
            share = min(float(match[1]), 100.0) / 100
            return timeline.first + round(share * (timeline.last - timeline.first))
        if match := PLACE.match(text):
            number = int(match["number"].replace(",", "").replace("_", ""))
            return {"": number, "+": self.cycle + number, "-": self.cycle - number}[match["sign"]]
        raise InputError(f"goto {place}: expected a cycle, +N, -N, N%, @mark, start or end")

    def place(self, place: int | str) -> int:
        """Return the cycle of a place of `goto` or of a mark named without @."""
        if isinstance(place, str) and place in (mark.name for mark in self.marks):
            return self.marks.get(place).cycle
        return min(self.resolve(place), max(self.timeline.last, self.cycle))

    def run_until(self, expression: str) -> Stop:
        """Go forward to the first cycle after the cursor at which the condition holds, else to the end."""
        compiled = self.expression(expression)
        found = self._search(search.where_holds(compiled, True), True)
        if isinstance(found, Stop):
            return found
        if found is None:
            return self._end_stop(f"`{expression}` was not met: ")
        return self._land(found, "condition", f"cycle {found:,}: {expression}")

    def reverse_until(self, expression: str) -> Stop:
        """Go backward to the last cycle before the cursor at which the condition holds, else to the start."""
        compiled = self.expression(expression)
        found = self._search(search.where_holds(compiled, False), False)
        if isinstance(found, Stop):
            return found
        if found is None:
            first = self.timeline.first
            return self._land(first, "start", f"`{expression}` was not met: start of the session, cycle {first:,}")
        return self._land(found, "condition", f"cycle {found:,}: {expression}")

    def find(self, condition: str, forward: bool = True, count: int = 1, what: str = "") -> Stop:
        """Go to the count-th nearest cycle at which the condition holds; where there is none, stay and say so.

        what: words for people in place of the condition.
        """
        compiled = self.expression(condition)
        target = search.where_holds(compiled, forward)
        return self._find(lambda: self._search(target, forward), forward, count, what or condition)

    def _find(self, search: Callable[[], int | Stop | None], forward: bool, count: int, what: str) -> Stop:
        """Repeat a search from where it landed; the cursor moves only when all of them land."""
        here = self.cycle
        try:
            for _ in range(max(1, count)):
                found = search()
                if isinstance(found, Stop):
                    return found
                if found is None:
                    self.cycle = here
                    return Stop(here, "not found", f"no {'later' if forward else 'earlier'} cycle with {what}")
                self.cycle = found
            reached, self.cycle = self.cycle, here
        except InputError:
            self.cycle = here
            raise
        return self._land(reached, "condition", f"cycle {reached:,}: {what}")

    def next_event(self, kind: str, warp: int | None = None, count: int = 1) -> Stop:
        """Go to the next event of a kind (events.KINDS, a stall or a counter); raises InputError for an unknown one."""
        condition, what = events.condition(self.info, kind, warp)
        return self.find(condition, True, count, what)

    def previous_event(self, kind: str, warp: int | None = None, count: int = 1) -> Stop:
        """Go to the previous event of a kind."""
        condition, what = events.condition(self.info, kind, warp)
        return self.find(condition, False, count, what)

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

    @property
    def lines(self) -> LineTable:
        """Return the source lines of the program; an empty table where the PTX tells none."""
        return lines_of(self.timeline)

    def next_line(self, warp: int | None = None, forward: bool = True, count: int = 1, line: int | None = None) -> Stop:
        """Go to where a warp (None: any) comes to another source line, later or earlier; where it does not, stay.

        line: only to this one, by its number in `lines.lines`. Both directions stop at the same cycles.
        Raises InputError where the program has no source lines, or no such warp.
        """
        table, slots = self.lines, int(self.info["num_warps"])
        if not table:
            raise InputError(f"next-line: {NO_LINES}")
        if warp is not None and not 0 <= warp < slots:
            raise InputError(f"next-line: there is no warp {warp}, the machine has warps 0..{slots - 1}")
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

        A register, or a lane of one, is asked who writes it: the cycle is the first that shows what an instruction wrote,
        be it the same value again.
        """
        return self._change(item, True)

    def last_change(self, item: str) -> Stop:
        """Go backward to the last cycle before the cursor at which the item differs from the cycle before.

        A register, or a lane of one, is asked who wrote it, as by next_change.
        """
        return self._change(item, False)

    def _change(self, item: str, forward: bool) -> Stop:
        compiled = self.expression(item)
        register = compiled.register
        target = search.where_changes(compiled) if register is None else search.where_written(*register)
        found = self._search(target, forward)
        if isinstance(found, Stop):
            return found
        if found is None:
            verb, where = "does not change" if register is None else "is not written", "after" if forward else "before"
            return Stop(self.cycle, "not found", f"{item} {verb} {where} cycle {self.cycle:,}")
        what = f"{item} changed" if register is None else changes.written(self, item, register, found)
        return self._land(found, "change", f"cycle {found:,}: {what}")

    def continue_(self) -> Stop:
        """Go forward to the next breakpoint hit, else to the end."""
        return self._continue(True)

    def reverse_continue(self) -> Stop:
        """Go backward to the previous breakpoint hit, else to the start."""
        return self._continue(False)

    def play(self, n: int) -> Stop:
        """Go n cycles forward, less when a breakpoint stops on the way."""
        return self._continue(True, self.cycle + n)

    def _continue(self, forward: bool, limit: int | None = None) -> Stop:
        """Go to the nearest stop, at most to cycle `limit`."""
        start = self.cycle
        active = [point for point in self.breakpoints.values() if point.enabled]
        while active:
            found = self._search(any_target(self.timeline, active), forward, limit)
            if isinstance(found, Stop):
                return found
            if found is None:
                break
            hit = [point for point in active if point.mask(self.timeline, found, found + 1)[0]]
            stopping = [point for point in hit if point.ignore == 0]
            for point in hit:
                point.ignore = max(0, point.ignore - 1)
            if not stopping:
                self.cycle = found
                continue
            for point in stopping:
                point.hits += 1
                if point.temporary:
                    del self.breakpoints[point.number]
            first = stopping[0]
            self.cycle = start
            change = f": {changes.watched(self, first.item, found)}" if first.kind == "watch" else ""
            text = f"cycle {found:,}: breakpoint {first.number}, {first.text}{change}"
            landed = self._land(found, "breakpoint", text, first.number)
            return replace(landed, warp=warp_of_hit(self.timeline, first, found))
        self.cycle = start
        if limit is not None:
            return self._go(limit, "step")
        if forward:
            self.reach(np.iinfo(np.int64).max)
            return self._end_stop()
        return self._land(self.timeline.first, "start", f"start of the session, cycle {self.timeline.first:,}")

    def _search(self, target: Target, forward: bool, limit: int | None = None) -> int | Stop | None:
        """Return the nearest hit beyond the cursor, None, or the interruption; limit: as of search."""
        start = self.cycle + (1 if forward else -1)
        found, stopped = search.search(self.timeline, target, start, forward, limit, self.interrupted)
        if stopped is None:
            return found
        return self._land(stopped, "interrupted", f"interrupted at cycle {stopped:,}")

    # breakpoints

    def add_breakpoint(self, kind: str, value: int = 0, *, warp: int | None = None, condition: str = "",
                       temporary: bool = False, ignore: int = 0, item: str = "") -> Breakpoint:  # fmt: skip
        """Add a breakpoint (breakpoints.KINDS); raises InputError for a place, item or stall that does not exist."""
        point = make_breakpoint(self.timeline, self._next_number, kind, value, warp=warp, condition=condition,
                                temporary=temporary, ignore=ignore, item=item)  # fmt: skip
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
        """Stop where a warp has waited longer than that without a break, for one stall ("" = for any)."""
        return self.add_breakpoint("stall", cycles, item=stall, warp=warp)

    def break_on_unbalanced(self) -> Breakpoint:
        """Stop where warp-cycles or energy no longer add up."""
        return self.add_breakpoint("unbalanced")

    def set_condition(self, number: int, condition: str) -> None:
        """Give a breakpoint another condition, "" for none."""
        set_condition(self.timeline, self.breakpoint(number), condition)

    def breakpoint(self, number: int) -> Breakpoint:
        """Return a breakpoint by number; raises InputError naming those there are."""
        if number not in self.breakpoints:
            known = ", ".join(map(str, self.breakpoints)) or "none"
            raise InputError(f"no breakpoint {number}; there are: {known}")
        return self.breakpoints[number]

    # places

    def mark(self, name: str, note: str = "") -> Mark:
        """Name the cursor's cycle."""
        return self.marks.set(name, self.cycle, note)

    def previous_stop(self) -> Stop:
        """Go to where the last jump came from, and so back and forth."""
        if self.came_from is None:
            return Stop(self.cycle, "not found", "no jump yet")
        return self._go(self.came_from, "goto")

    @property
    def history(self) -> tuple[tuple[int, ...], int]:
        """Return (cycles of the stops so far, which of them `history_back` and `history_forward` count from)."""
        return tuple(self._history.cycles), self._history.at

    def history_back(self) -> Stop:
        """Go to the stop before this one."""
        return self._history_move(-1)

    def history_forward(self) -> Stop:
        """Go to the stop that `history_back` came from."""
        return self._history_move(1)

    def _history_move(self, by: int) -> Stop:
        cycle = self._history.move(by)
        if cycle is None:
            return Stop(self.cycle, "not found", f"no {'later' if by > 0 else 'earlier'} stop")
        self.came_from, self.cycle = self.cycle, cycle
        return Stop(self.cycle, "goto", f"cycle {self.cycle:,}")

    def close(self) -> None:
        """Let go of the session's files."""
        self.timeline.close()

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
