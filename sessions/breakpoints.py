"""Breakpoints as sets of cycles: where a place is reached or a condition becomes true, the same in both directions."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from engine.errors import InputError
from sessions.expressions import Expression, compile_expression
from sessions.timeline import Timeline

KINDS = ("cycle", "pc", "line", "warp", "if")
NO_CTA = 255


@dataclass
class Breakpoint:
    """One breakpoint; which cycles it names depends only on the recording, so reverse-continue stops at the same ones.

    kind: 'cycle' value = cycle; 'pc' value = pc that a warp reaches; 'line' value = PTX line that a warp reaches;
    'warp' value = warp that issued in the cycle before; 'if': the condition becomes true.
    warp: for pc and line, the one warp that counts, or None. condition: must hold there as well ('' = none).
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
    compiled: Expression | None = field(default=None, repr=False, compare=False)

    @property
    def text(self) -> str:
        """Return the breakpoint as the command that makes it."""
        place = "" if self.kind == "if" else f"{self.kind} {self.value}"
        if self.warp is not None:
            place += f" warp {self.warp}"
        if self.condition:
            place += f"{' ' if place else ''}if {self.condition}"
        return place

    def mask(self, timeline: Timeline, start: int, stop: int) -> np.ndarray:
        """Return (stop - start,) bool: at which of the cycles start..stop-1 this breakpoint stops."""
        if self.kind == "if":
            return rising_edges(self.compiled, timeline, start, stop)  # type: ignore[arg-type]
        if self.kind == "cycle":
            found = np.arange(start, stop) == self.value
        elif self.kind == "warp":
            found = timeline.column(f"sm.warp[{self.value}].state", start, stop) == 0
        else:
            found = self._arrivals(timeline, start, stop)
        if self.compiled is not None and found.any():
            found = found & self.compiled.truth(start, stop)
        return found

    def _arrivals(self, timeline: Timeline, start: int, stop: int) -> np.ndarray:
        """Return where a warp's next instruction has become one of `pcs`."""
        before = max(timeline.first, start - 1)
        which = "*" if self.warp is None else self.warp
        shape = (stop - before, -1)
        pc, issued, cta = (timeline.column(f"sm.warp[{which}].{name}", before, stop).reshape(shape)
                           for name in ("pc", "num_issued", "cta"))  # fmt: skip
        there = np.isin(pc, np.array(self.pcs, pc.dtype)) & (cta != NO_CTA)
        moved = np.ones_like(there)
        moved[1:] = (pc[1:] != pc[:-1]) | (issued[1:] != issued[:-1]) | (cta[1:] != cta[:-1])
        return (there & moved).any(axis=1)[start - before :]


def rising_edges(expression: Expression, timeline: Timeline, start: int, stop: int) -> np.ndarray:
    """Return (stop - start,) bool: where the condition holds and did not hold in the cycle before."""
    before = max(timeline.first, start - 1)
    truth = expression.truth(before, stop)
    edge = truth.copy()
    edge[1:] &= ~truth[:-1]
    return edge[start - before :]


def make_breakpoint(timeline: Timeline, number: int, kind: str, value: int = 0, *, warp: int | None = None,
                    condition: str = "", temporary: bool = False, ignore: int = 0) -> Breakpoint:  # fmt: skip
    """Check a breakpoint against the session and return it; raises InputError naming what does not exist."""
    if kind not in KINDS:
        raise InputError(f"break {kind}: expected one of {', '.join(KINDS)}")
    point = Breakpoint(number, kind, value, warp, condition, temporary, ignore)
    num_warps = int(timeline.info["num_warps"])
    for slot in ([value] if kind == "warp" else []) + ([warp] if warp is not None else []):
        if not 0 <= slot < num_warps:
            raise InputError(f"break: there is no warp {slot}, the machine has warps 0..{num_warps - 1}")
    program = timeline.info.get("program", [])
    if kind == "cycle" and (value < timeline.first or (timeline.closed and value > timeline.last)):
        raise InputError(f"break cycle {value}: this session has cycles {timeline.first}..{timeline.last}")
    if kind == "pc":
        point.pcs = (value,)
        if program and value not in {entry["pc"] for entry in program}:
            raise InputError(f"break pc {value}: the program has pcs 0..{max(entry['pc'] for entry in program)}")
    if kind == "line":
        point.pcs, point.note = _line_pcs(program, value)
    if kind == "if" and not condition:
        raise InputError("break if: the condition is missing, for example `break if any(w.state == barrier)`")
    if condition:
        point.compiled = compile_expression(condition, timeline)
    return point


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
