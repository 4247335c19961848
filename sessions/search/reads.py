"""Watchpoints on reads of registers: a warp issues an instruction that names the register as a source."""

from __future__ import annotations

import numpy as np

from rfview.engine.errors import InputError
from rfview.sessions.branch import REGISTER
from rfview.sessions.expressions import Expression, compile_expression
from rfview.sessions.search import changes
from rfview.sessions.search.kinds import KINDS, Kind
from rfview.sessions.search.search import ALL, NONE, Target, at_edges
from rfview.sessions.timeline.base import Timeline
from rfview.sessions.warps import check_warp


class Read(Kind):
    """The warp of a register, w3.R12, issued an instruction in the cycle before that reads it."""

    name, takes_number, verb = "read", False, "rwatch"

    @property
    def text(self) -> str:
        """Return it as the command that makes it."""
        return f"{self.verb} {self.item}"

    def _check(self, timeline: Timeline) -> None:
        match = REGISTER.match(self.item.strip())
        if match is None or match[3] is not None:
            raise InputError(f"{self.verb} {self.item}: expected a register such as w3.R12, whose lanes are read at once")
        self.reader, reg = int(match[1]), int(match[2])
        check_warp(self.reader, timeline.info.num_warps, self.verb)
        self.pcs = tuple(pc for pc, entry in enumerate(timeline.info.program) if reg in entry.src)
        if not self.pcs:
            raise InputError(f"{self.verb} {self.item}: no instruction of the program reads R{reg}")
        compile_expression(f"w{self.reader}.R{reg}", timeline)      # raises InputError if the run has no such register
        self._place = compile_expression(f"w{self.reader}.state == issued", timeline)

    def _cycles(self, timeline: Timeline, start: int, stop: int) -> np.ndarray:
        state, last = (timeline.column(f"sm.warp[{self.reader}].{name}", start, stop) for name in ("state", "last_pc"))
        return np.asarray((state == timeline.issued) & np.isin(last, self.pcs))

    def warp_at(self, timeline: Timeline, cycle: int, condition: Expression | None) -> int | None:
        """Return the warp that reads it."""
        return self.reader

    def target(self, timeline: Timeline) -> Target:
        """Return the cycles of its reads, to be searched for."""
        return Target(lambda start, stop: self._cycles(timeline, start, stop),
                      lambda low, high: self._chunks(timeline, low, high))


class Access(Read):
    """A register is read, or differs from the cycle before."""

    name, verb = "access", "awatch"

    def _check(self, timeline: Timeline) -> None:
        super()._check(timeline)
        self.watched = compile_expression(self.item, timeline)

    def _cycles(self, timeline: Timeline, start: int, stop: int) -> np.ndarray:
        assert self.watched is not None
        return super()._cycles(timeline, start, stop) | self.watched.changes(start, stop)

    def _chunks(self, timeline: Timeline, low: int, high: int) -> np.ndarray:
        assert self.watched is not None
        reads = super()._chunks(timeline, low, high)
        return np.where(reads == NONE, at_edges(self.watched.may_change, low, high), ALL)

    def warp_at(self, timeline: Timeline, cycle: int, condition: Expression | None) -> int | None:
        """Return the warp that reads or writes it."""
        assert self.watched is not None
        writer = changes.warp_of(self.watched, cycle)
        return self.reader if writer is None else writer


KINDS.update({Read.name: Read, Access.name: Access})
