"""The kinds of breakpoints, a class each: its cycles, the chunks that may have some, and the warp concerned."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from rfview.engine.errors import InputError
from rfview.engine.stalls import NOT_WAITING
from rfview.engine.state import NONE8
from rfview.engine.wording import suggest
from rfview.sessions import warps
from rfview.sessions.expressions import Expression, compile_expression
from rfview.sessions.lines import moves
from rfview.sessions.lines.table import lines_of
from rfview.sessions.search import changes
from rfview.sessions.search.hits import first_of, warp_of
from rfview.sessions.search.search import ALL, NONE, at_edges
from rfview.sessions.timeline.base import Timeline
from rfview.sessions.timeline.invariants import unbalanced


class Kind:
    """A kind of breakpoint. value, item: its arguments. warp: the only warp considered, or None.

    pcs: the instructions concerned. watched: the expression whose value is watched. note: a message when it
    is set. Raises InputError if the session has no such place.

    takes_number: `break NAME N` makes one; others have their own syntax. takes_warp: `warp W` may follow.
    """

    name = ""
    takes_number, takes_warp = True, False
    pcs: tuple[int, ...] = ()
    note = ""
    watched: Expression | None = None
    _place: Expression | None = None        # true in every cycle in which it stops; None if nothing is known of them

    def __init__(self, timeline: Timeline, value: int, warp: int | None, item: str):
        self.value, self.warp, self.item = value, warp, item
        self._check(timeline)

    def _check(self, timeline: Timeline) -> None:
        """Look up what it needs; raises InputError."""

    @property
    def text(self) -> str:
        """Return it as the command that makes it, without warp and condition."""
        return f"{self.name} {self.value}"

    def __repr__(self) -> str:
        """Say it as the command says it."""
        return f"<{self.text}>"

    def hits(self, timeline: Timeline, start: int, stop: int, condition: Expression | None) -> np.ndarray:
        """Return (stop - start,) bool: at which of the cycles start..stop-1 it stops. condition: what must hold as well."""
        hits = self._cycles(timeline, start, stop)
        return hits & condition.truth(start, stop) if condition is not None and hits.any() else hits

    def may_hit(self, timeline: Timeline, low: int, high: int, condition: Expression | None) -> np.ndarray:
        """Return (high - low,) u1: which of its hits chunks low..high-1 may contain (search.NONE, FIRST, ALL)."""
        possible = self._chunks(timeline, low, high)
        if condition is None or not possible.any():
            return possible
        return np.where(condition.may_hold(low, high), possible, NONE)

    def _cycles(self, timeline: Timeline, start: int, stop: int) -> np.ndarray:
        """Return `hits` without a condition."""
        raise NotImplementedError

    def _chunks(self, timeline: Timeline, low: int, high: int) -> np.ndarray:
        """Return `may_hit` without a condition."""
        return np.full(high - low, ALL) if self._place is None else np.where(self._place.may_hold(low, high), ALL, NONE)

    def warp_at(self, timeline: Timeline, cycle: int, condition: Expression | None) -> int | None:
        """Return the warp for which it stops at a cycle, the first of several; None if it concerns no warp."""
        expression = condition if self.watched is None else self.watched
        return None if expression is None else warp_of(expression, cycle)


class Cycle(Kind):
    """A cycle."""

    name = "cycle"

    def _check(self, timeline: Timeline) -> None:
        if self.value < timeline.first or (timeline.closed and self.value > timeline.last):
            raise InputError(f"break cycle {self.value}: this session has cycles {timeline.first}..{timeline.last}")

    def _cycles(self, timeline: Timeline, start: int, stop: int) -> np.ndarray:
        return np.arange(start, stop) == self.value

    def _chunks(self, timeline: Timeline, low: int, high: int) -> np.ndarray:
        return np.where(np.arange(low, high) == timeline.chunk_number(self.value), ALL, NONE)


class Issue(Kind):
    """A warp issued in the cycle before."""

    name = "warp"

    def _check(self, timeline: Timeline) -> None:
        check_warp(timeline, self.value)
        self._place = compile_expression(f"w{self.value}.state == issued", timeline)

    def _cycles(self, timeline: Timeline, start: int, stop: int) -> np.ndarray:
        return timeline.column(f"sm.warp[{self.value}].state", start, stop) == timeline.issued

    def warp_at(self, timeline: Timeline, cycle: int, condition: Expression | None) -> int | None:
        """Return the warp."""
        return self.value


class Arrival(Kind):
    """A warp's next instruction becomes one of `pcs`."""

    takes_warp = True

    def _check(self, timeline: Timeline) -> None:
        self._find(timeline)
        reached = f"{'w' if self.warp is None else f'w{self.warp}'}.pc in ({', '.join(map(str, self.pcs))},)"
        self._place = compile_expression(f"any({reached})" if self.warp is None else reached, timeline)

    def _find(self, timeline: Timeline) -> None:
        """Find the instructions; raises InputError."""

    def _cycles(self, timeline: Timeline, start: int, stop: int) -> np.ndarray:
        return np.asarray(self._arrived(timeline, start, stop).any(axis=1))

    def _arrived(self, timeline: Timeline, start: int, stop: int) -> np.ndarray:
        """Return (stop - start, warps) bool: which warps arrive there; (.., 1) for one warp."""
        before = max(timeline.first, start - 1)
        which = "*" if self.warp is None else self.warp
        shape = (stop - before, -1)
        pc, issued, cta = (timeline.column(f"sm.warp[{which}].{name}", before, stop).reshape(shape)
                           for name in ("pc", "num_issued", "cta"))
        there = np.isin(pc, np.array(self.pcs, pc.dtype)) & (cta != NONE8)
        moved = np.ones_like(there)
        moved[1:] = (pc[1:] != pc[:-1]) | (issued[1:] != issued[:-1]) | (cta[1:] != cta[:-1])
        return (there & moved)[start - before :]

    def warp_at(self, timeline: Timeline, cycle: int, condition: Expression | None) -> int | None:
        """Return the first warp that arrives there."""
        return first_of(self._arrived(timeline, cycle, cycle + 1)[0]) if self.warp is None else self.warp


class Pc(Arrival):
    """A warp reaches a pc."""

    name = "pc"

    def _find(self, timeline: Timeline) -> None:
        self.pcs, program = (self.value,), timeline.info.program
        if program and self.value not in {entry.pc for entry in program}:
            raise InputError(f"break pc {self.value}: the program has pcs 0..{max(entry.pc for entry in program)}")


class Line(Arrival):
    """A warp reaches a line of PTX: the first pc of it in each kernel, or of the next line that has an instruction."""

    name = "line"

    def _find(self, timeline: Timeline) -> None:
        program, unit = timeline.info.program, timeline.info.line_unit
        lines = sorted({entry.line for entry in program if entry.line >= self.value})
        if not lines:
            known = max((entry.line for entry in program), default=0)
            raise InputError(f"break line {self.value}: the last {unit} with an instruction is {known}")
        first: dict[str, int] = {}
        for entry in program:
            if entry.line == lines[0]:
                first[entry.kernel] = min(first.get(entry.kernel, entry.pc), entry.pc)
        self.pcs = tuple(sorted(first.values()))
        if lines[0] != self.value:
            self.note = f"{unit} {self.value} has no instruction, using {unit} {lines[0]}"
            if lines_of(timeline):
                self.note += "; break FILE:LINE is for lines of the source"
            self.value = lines[0]


class SourceLine(Arrival):
    """A warp comes from another line to the source line `item` (file:line), or the next line that has instructions."""

    name, takes_number = "source", False

    @property
    def text(self) -> str:
        """Return the line."""
        return self.item

    def _find(self, timeline: Timeline) -> None:
        table = lines_of(timeline)
        line, wanted = table.find(self.item, "break"), int(self.item.rpartition(":")[2])
        if line.line != wanted:
            self.note = f"{self.item} has no instruction, using {table.name_of(line)}"
        self._table = table
        self.value, self.pcs, self.item = table.lines.index(line), table.pcs(line), table.name_of(line)

    def _cycles(self, timeline: Timeline, start: int, stop: int) -> np.ndarray:
        return moves.arrivals(timeline, self._table, self.warp, start, stop, self.value)

    def _arrived(self, timeline: Timeline, start: int, stop: int) -> np.ndarray:
        return moves.arrived(timeline, self._table, None, start, stop, self.value)


class Condition(Kind):
    """The condition becomes true."""

    name, text, takes_number = "if", "", False

    def hits(self, timeline: Timeline, start: int, stop: int, condition: Expression | None) -> np.ndarray:
        """Return where it holds but did not hold in the previous cycle."""
        assert condition is not None
        return _beginnings(timeline, start, stop, condition.truth)

    def may_hit(self, timeline: Timeline, low: int, high: int, condition: Expression | None) -> np.ndarray:
        """Return which chunks may contain a cycle at which it becomes true."""
        assert condition is not None
        return at_edges(condition.may_turn, low, high)


class Watch(Kind):
    """A watchpoint: `item` differs from the cycle before. A bare 0x... is the memory word at that address."""

    name, takes_number = "watch", False
    watched: Expression

    @property
    def text(self) -> str:
        """Return it as the command that makes it."""
        return f"watch {self.item}"

    def _check(self, timeline: Timeline) -> None:
        if not self.item:
            raise InputError("watch: name an item, for example w3.R12[5], bank[2].queue, rf.FIELD, w3.P2 or mem[A + 16]")
        is_address = self.item.lower().startswith("0x") and self.item[2:].isalnum()
        self.watched = compile_expression(f"mem[{self.item}]" if is_address else self.item, timeline)

        self.watched.check_change()

    def _cycles(self, timeline: Timeline, start: int, stop: int) -> np.ndarray:
        return self.watched.changes(start, stop)

    def _chunks(self, timeline: Timeline, low: int, high: int) -> np.ndarray:
        return at_edges(self.watched.may_change, low, high)

    def warp_at(self, timeline: Timeline, cycle: int, condition: Expression | None) -> int | None:
        """Return the warp that it names, or that wrote the memory watched."""
        return changes.warp_of(self.watched, cycle)


class Stall(Kind):
    """A warp waits for `item` (a stall's name, '' = any wait) longer than `value` cycles; stops once per wait."""

    name, takes_warp = "stall", True
    watched: Expression

    @property
    def text(self) -> str:
        """Return it as the command that makes it."""
        return f"stall {self.item}{' ' if self.item else ''}> {self.value}"

    def _check(self, timeline: Timeline) -> None:
        names = [entry.name for entry in timeline.info.stalls]
        if self.item and (self.item not in names or self.item in NOT_WAITING):
            waits = [name for name in names if name not in NOT_WAITING]
            raise InputError(f"break stall {self.item}: no such wait{suggest(self.item, waits)}; there are "
                             f"{', '.join(waits)}")
        if self.value < 0:
            raise InputError(f"break stall > {self.value}: expected a number of cycles")
        warp = "w" if self.warp is None else f"w{self.warp}"
        wanted = [f"{warp}.state == {self.item}"] if self.item else [f"{warp}.state != {name}" for name in NOT_WAITING]
        condition = " and ".join([*wanted, f"cycle - {warp}.state_since_cycle == {self.value + 1}"])
        self.watched = compile_expression(f"any({condition})" if self.warp is None else condition, timeline)

    def _cycles(self, timeline: Timeline, start: int, stop: int) -> np.ndarray:
        return self.watched.truth(start, stop)

    def _chunks(self, timeline: Timeline, low: int, high: int) -> np.ndarray:
        return np.where(self.watched.may_hold(low, high), ALL, NONE)


class Unbalanced(Kind):
    """Warp-cycles or energy stop adding up."""

    name = text = "unbalanced"
    takes_number = False

    def _cycles(self, timeline: Timeline, start: int, stop: int) -> np.ndarray:
        return _beginnings(timeline, start, stop, lambda low, high: unbalanced(timeline, low, high))


def _beginnings(timeline: Timeline, start: int, stop: int, holds: Callable[[int, int], np.ndarray]) -> np.ndarray:
    """Return (stop - start,) bool: where `holds(low, high)` is true but was not in the previous cycle."""
    before = max(timeline.first, start - 1)
    truth = holds(before, stop)
    beginnings = truth.copy()
    beginnings[1:] &= ~truth[:-1]
    return beginnings[start - before :]


def check_warp(timeline: Timeline, warp: int) -> None:
    """Raise InputError for a warp slot that the machine does not have."""
    warps.check_warp(warp, timeline.info.num_warps, "break")


KINDS: dict[str, type[Kind]] = {
    kind.name: kind for kind in (Cycle, Pc, Line, SourceLine, Issue, Condition, Watch, Stall, Unbalanced)
}
