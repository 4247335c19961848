"""A compiled condition or value over one timeline: its column over cycles, and bounds per chunk."""

from __future__ import annotations

import ast

import numpy as np

from rfview.engine.errors import InputError
from rfview.sessions.expressions.bounds import may_fail, may_hold
from rfview.sessions.expressions.nodes import Node, Run, Uses
from rfview.sessions.timeline.base import Timeline
from rfview.sessions.timeline.register_log import RegisterLog


class Expression:
    """A compiled condition or value over one timeline.

    tree: the syntax tree that it was compiled from. width: 0, or the number of values per cycle. over: of what
    ("warps", ...).
    """

    def __init__(self, text: str, timeline: Timeline, tree: ast.expr, node: Node, uses: Uses):
        self.text = text
        self.timeline = timeline
        self.tree = tree
        self.width = node.width
        self.over = node.over
        self._node = node
        self._uses = uses
        self._words = np.unique(np.concatenate(uses.words)) if uses.words else np.empty(0, np.int64)

    @property
    def register(self) -> tuple[RegisterLog, slice] | None:
        """Return the log and the lanes if it is just a register, or a lane of one; else None."""
        return self._node.register

    @property
    def memory(self) -> list[int]:
        """Return the words of the arena that it reads."""
        return self._uses.memory

    def column(self, start: int, stop: int) -> np.ndarray:
        """Return the values at cycles start..stop-1: (n,) or (n, width), of i8, f8 or bool."""
        with np.errstate(all="ignore"):
            values = self._node.run(start, stop)
        return np.broadcast_to(values, (stop - start, *([self.width] if self.width else [])))

    def check_single(self) -> None:
        """Raise InputError if there is a value per warp or lane instead of one."""
        if self.width:
            raise InputError(f"`{self.text}` has {self.width} values per cycle; use any(...), all(...) or an index")

    def check_condition(self) -> None:
        """Raise InputError if it is not a condition: a value per warp or lane, or the same in every cycle."""
        self.check_single()
        if self._node.constant:
            raise InputError(f"`{self.text}` is a constant; expected a condition such as `stall.long_scoreboard > 0`")

    def check_change(self) -> None:
        """Raise InputError if it is the same in every cycle."""
        if self._node.constant:
            hint = "".join(f"; {name} is an address, {name}[0] the first word there" for name in self._uses.places[:1])
            raise InputError(f"`{self.text}` is a constant and never changes{hint}")

    def truth(self, start: int, stop: int) -> np.ndarray:
        """Return (n,) bool: where the condition holds; raises InputError if it has a value per warp or lane."""
        self.check_single()
        return self.column(start, stop) != 0

    def changes(self, start: int, stop: int) -> np.ndarray:
        """Return (n,) bool: where the value differs from the cycle before; never at the first cycle."""
        return differing(lambda low, high: self.column(low, high), self.timeline.first, start, stop)

    def may_hold(self, low: int, high: int) -> np.ndarray:
        """Return (high - low,) bool: in which of the chunks low..high-1 the condition may hold; False means certainly not.

        Like the two below, for all states from a chunk's first cycle to the one after its last.
        """
        return may_hold(self._node.bounds(low, high), high - low)

    def may_change(self, low: int, high: int) -> np.ndarray:
        """Return (high - low,) bool: in which chunks the value may differ from one cycle to the next."""
        known = self._node.bounds(low, high)
        possible = np.ones(high - low, bool) if known is None else np.broadcast_to(~known.is_fixed, high - low).copy()
        uses, zone_maps = self._uses, self.timeline.zone_maps
        if not uses.timed and zone_maps is not None and possible.any():
            changing = zone_maps.words_change(self._words, low, high)
            changing |= zone_maps.memory_changes(uses.memory, low, high)
            changing |= zone_maps.registers_change(uses.registers, low, high)
            possible &= changing
        return possible

    def may_turn(self, low: int, high: int) -> np.ndarray:
        """Return (high - low,) bool: in which chunks the condition may start or cease to hold."""
        known = self._node.bounds(low, high)
        possible = may_hold(known, high - low) & may_fail(known, high - low)
        return possible & self.may_change(low, high) if possible.any() else possible


def differing(run: Run, first: int, start: int, stop: int) -> np.ndarray:
    """Return where values differ from the cycle before; two NaNs count as equal."""
    before = max(first, start - 1)
    values = run(before, stop)
    differ = values[1:] != values[:-1]
    if values.dtype.kind == "f":
        differ &= ~(np.isnan(values[1:]) & np.isnan(values[:-1]))
    if differ.ndim > 1:
        differ = differ.any(axis=tuple(range(1, differ.ndim)))
    return differ if before < start else np.concatenate([np.zeros(min(1, stop - start), bool), differ])
