"""Breakpoints as sets of cycles: a place reached, a condition come true, an item changed; the same in both directions."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from rfview.sessions.search.search import Target
from rfview.engine.errors import InputError
from rfview.sessions.timeline.invariants import unbalanced
from rfview.sessions.expressions import Expression, compile_expression
from rfview.sessions.layout import suggest
from rfview.sessions.lines.moves import arrivals
from rfview.sessions.lines.table import LineTable, lines_of
from rfview.sessions.search.search import ALL, NONE, at_edges
from rfview.sessions.timeline.base import Timeline

KINDS = ("cycle", "pc", "line", "source", "warp", "if", "watch", "stall", "unbalanced")
WAITING = ("issued", "finished", "no_cta")     # a warp in any other state waits
NO_CTA = 255


@dataclass
class Breakpoint:
    """One breakpoint; which cycles it names depends only on the recording, so reverse-continue stops at the same ones.

    kind: 'cycle' value = cycle; 'pc' value = pc that a warp reaches; 'line' value = PTX line that a warp reaches;
    'source': a warp comes to the source line `item` (file:line) from another line;
    'warp' value = warp that issued in the cycle before; 'if': the condition becomes true; 'watch': `item` differs from
    the cycle before; 'stall' value = cycles: a warp waits for `item` (a stall's name, '' = any wait) longer than that;
    'unbalanced': warp-cycles or energy stop adding up. place: what must hold at hits of 'warp', 'pc', 'line', 'source'.
    warp: for pc, line and stall, the one warp that counts, or None. condition: must hold there as well ('' = none).
    ignore: hits still to be passed over. hits: stops so far. temporary: removed at its first stop.
    """

    number: int
    kind: str
    value: int = 0
    warp: int | None = None
    condition: str = ""
    temporary: bool = False
    ignore: int = 0
    enabled: bool = True
    hits: int = 0
    pcs: tuple[int, ...] = ()
    note: str = ""
    item: str = ""
    compiled: Expression | None = field(default=None, repr=False, compare=False)
    watched: Expression | None = field(default=None, repr=False, compare=False)
    place: Expression | None = field(default=None, repr=False, compare=False)
    table: LineTable | None = field(default=None, repr=False, compare=False)

    @property
    def text(self) -> str:
        """Return the breakpoint as the command that makes it."""
        place = {"if": "", "watch": f"watch {self.item}", "unbalanced": "unbalanced", "source": self.item,
                 "stall": f"stall {self.item}{' ' if self.item else ''}> {self.value}",
                 }.get(self.kind, f"{self.kind} {self.value}")  # fmt: skip
        if self.warp is not None:
            place += f" warp {self.warp}"
        if self.condition:
            place += f"{' ' if place else ''}if {self.condition}"
        return place

    def hits_in(self, timeline: Timeline, start: int, stop: int) -> np.ndarray:
        """Return (stop - start,) bool: at which of the cycles start..stop-1 this breakpoint stops."""
        if self.kind == "if":
            assert self.compiled is not None
            return rising_edges(self.compiled, timeline, start, stop)
        if self.kind == "watch":
            assert self.watched is not None
            found = self.watched.changes(start, stop)
        elif self.kind == "stall":
            assert self.watched is not None
            found = self.watched.truth(start, stop)
        elif self.kind == "unbalanced":
            before = max(timeline.first, start - 1)
            bad = unbalanced(timeline, before, stop)
            found = bad.copy()
            found[1:] &= ~bad[:-1]
            found = found[start - before :]
        elif self.kind == "cycle":
            found = np.arange(start, stop) == self.value
        elif self.kind == "warp":
            found = timeline.column(f"sm.warp[{self.value}].state", start, stop) == 0
        elif self.kind == "source":
            assert self.table is not None
            found = arrivals(timeline, self.table, self.warp, start, stop, self.value)
        else:
            found = np.asarray(self.arrived(timeline, start, stop).any(axis=1))
        if self.compiled is not None and found.any():
            found = found & self.compiled.truth(start, stop)
        return found

    def may_hit(self, timeline: Timeline, low: int, high: int) -> np.ndarray:
        """Return (high - low,) u1: what chunks low..high-1 may hold of its hits (search.NONE, FIRST, ALL)."""
        if self.kind == "if":
            assert self.compiled is not None
            return at_edges(self.compiled.may_turn, low, high)
        if self.kind == "watch":
            assert self.watched is not None
            found = at_edges(self.watched.may_change, low, high)
        elif self.kind == "cycle":
            found = np.where(np.arange(low, high) == timeline.chunk_number(self.value), ALL, NONE)
        elif self.kind == "unbalanced":
            found = np.full(high - low, ALL)
        else:
            where = self.watched if self.kind == "stall" else self.place
            assert where is not None
            found = np.where(where.may_hold(low, high), ALL, NONE)
        if self.compiled is not None and found.any():
            found = np.where(self.compiled.may_hold(low, high), found, NONE)
        return found

    def arrived(self, timeline: Timeline, start: int, stop: int) -> np.ndarray:
        """Return (stop - start, warps) bool: where a warp's next instruction has become one of `pcs`; (.., 1) for `warp`."""
        before = max(timeline.first, start - 1)
        which = "*" if self.warp is None else self.warp
        shape = (stop - before, -1)
        pc, issued, cta = (timeline.column(f"sm.warp[{which}].{name}", before, stop).reshape(shape)
                           for name in ("pc", "num_issued", "cta"))  # fmt: skip
        there = np.isin(pc, np.array(self.pcs, pc.dtype)) & (cta != NO_CTA)
        moved = np.ones_like(there)
        moved[1:] = (pc[1:] != pc[:-1]) | (issued[1:] != issued[:-1]) | (cta[1:] != cta[:-1])
        return (there & moved)[start - before :]


def rising_edges(expression: Expression, timeline: Timeline, start: int, stop: int) -> np.ndarray:
    """Return (stop - start,) bool: where the condition holds and did not hold in the cycle before."""
    before = max(timeline.first, start - 1)
    truth = expression.truth(before, stop)
    edge = truth.copy()
    edge[1:] &= ~truth[:-1]
    return edge[start - before :]


def make_breakpoint(timeline: Timeline, number: int, kind: str, value: int = 0, *, warp: int | None = None,
                    condition: str = "", temporary: bool = False, ignore: int = 0,
                    item: str = "") -> Breakpoint:  # fmt: skip
    """Check a breakpoint against the session and return it; raises InputError naming what does not exist."""
    if kind not in KINDS:
        raise InputError(f"break {kind}: expected one of {', '.join(KINDS)}; a condition follows `if`")
    point = Breakpoint(number, kind, value, warp, condition, temporary, ignore, item=item.strip())
    num_warps = int(timeline.info["num_warps"])
    for slot in ([value] if kind == "warp" else []) + ([warp] if warp is not None else []):
        if not 0 <= slot < num_warps:
            raise InputError(f"break: there is no warp {slot}; the machine has warps 0..{num_warps - 1}")
    program = timeline.info.get("program", [])
    if kind == "cycle" and (value < timeline.first or (timeline.closed and value > timeline.last)):
        raise InputError(f"break cycle {value}: this session has cycles {timeline.first}..{timeline.last}")
    if kind == "pc":
        point.pcs = (value,)
        if program and value not in {entry["pc"] for entry in program}:
            raise InputError(f"break pc {value}: the program has pcs 0..{max(entry['pc'] for entry in program)}")
    if kind == "line":
        point.pcs, point.note = _line_pcs(program, value)
    if kind == "source":
        _place_in_source(timeline, point)
    if kind == "if" and not condition:
        raise InputError("break if: the condition is missing, for example `break if any(w.state == barrier)`")
    if kind == "watch":
        point.watched = compile_expression(_item(point.item), timeline)
    if kind == "stall":
        point.watched = _long_stall(timeline, point)
    if kind == "warp":
        point.place = compile_expression(f"w{value}.state == 0", timeline)
    if kind in ("pc", "line", "source"):
        reached = f"{'w' if warp is None else f'w{warp}'}.pc in ({', '.join(map(str, point.pcs))},)"
        point.place = compile_expression(f"any({reached})" if warp is None else reached, timeline)
    set_condition(timeline, point, condition)
    return point


def set_condition(timeline: Timeline, point: Breakpoint, condition: str) -> None:
    """Give a breakpoint another condition, '' for none; raises InputError for a wrong one."""
    compiled = compile_expression(condition, timeline) if condition else None
    if compiled is not None:
        compiled.check_single()
    if point.kind == "if" and compiled is None:
        raise InputError(f"breakpoint {point.number} stops only by its condition; `delete {point.number}` removes it")
    point.condition, point.compiled = condition, compiled


def _item(text: str) -> str:
    """Return what is watched as an expression: a bare 0x... is the memory word at that address."""
    if not text:
        raise InputError("watch: name an item, for example w3.R12[5], bank[2].queue, rf.FIELD, w3.P2 or mem[A + 16]")
    return f"mem[{text}]" if text.lower().startswith("0x") and text[2:].isalnum() else text


def _long_stall(timeline: Timeline, point: Breakpoint) -> Expression:
    """Return where a warp's run of one waiting state passes the given length: for each warp just one cycle of a run."""
    names = [entry["name"] for entry in timeline.info.get("stalls", [])]
    if point.item and (point.item not in names or point.item in WAITING):
        waits = [name for name in names if name not in WAITING]
        raise InputError(f"break stall {point.item}: no such wait{suggest(point.item, waits)}; there are {', '.join(waits)}")
    if point.value < 0:
        raise InputError(f"break stall > {point.value}: expected a number of cycles")
    warp = "w" if point.warp is None else f"w{point.warp}"
    kinds = [f"{warp}.state == {point.item}"] if point.item else [f"{warp}.state != {name}" for name in WAITING]
    condition = " and ".join([*kinds, f"cycle - {warp}.state_since_cycle == {point.value + 1}"])
    return compile_expression(f"any({condition})" if point.warp is None else condition, timeline)


def _line_pcs(program: list[dict], line: int) -> tuple[tuple[int, ...], str]:
    """Return the first pc of a PTX line in each kernel, or of the next line that has an instruction."""
    lines = sorted({entry["line"] for entry in program if entry["line"] >= line})
    if not lines:
        known = max((entry["line"] for entry in program), default=0)
        raise InputError(f"break line {line}: the last PTX line with an instruction is {known}")
    first: dict[str, int] = {}
    for entry in program:
        if entry["line"] == lines[0]:
            first[entry["kernel"]] = min(first.get(entry["kernel"], entry["pc"]), entry["pc"])
    note = "" if lines[0] == line else f"line {line} has no instruction, using line {lines[0]}"
    return tuple(sorted(first.values())), note


def _place_in_source(timeline: Timeline, point: Breakpoint) -> None:
    """Find the line that a breakpoint's item names, or the next one that has instructions."""
    table = lines_of(timeline)
    line = table.find(point.item, "break")
    wanted = int(point.item.rpartition(":")[2])
    if line.line != wanted:
        point.note = f"line {wanted} has no instruction, using line {line.line}"
    point.table, point.value, point.pcs, point.item = table, table.lines.index(line), table.pcs(line), table.name_of(line)


def any_target(timeline: Timeline, points: list[Breakpoint]) -> Target:
    """Return where any of the breakpoints stops."""
    return Target(lambda low, high: np.logical_or.reduce([point.hits_in(timeline, low, high) for point in points]),
                  lambda low, high: np.bitwise_or.reduce([point.may_hit(timeline, low, high) for point in points]))
