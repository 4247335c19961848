"""A warp's register over time, 32 lanes, from the write log: the same for every design."""

from __future__ import annotations

import numpy as np

from rfview.engine import chunk
from rfview.sessions.heat.kinds import KINDS, kind_of, typed
from rfview.sessions.heat.strip import LOST, UNWRITTEN, WRITTEN, History, Moment, Strip, grouped, grown
from rfview.sessions.timeline.stores import NOBODY
from rfview.sessions.timeline.base import CycleProgress, Timeline
from rfview.sessions.timeline.register_log import Entries, RegisterLog

LANES = 32
# chunks whose entries are kept: enough for a recording of four million cycles
MAX_CHUNKS = 2048


class RegisterHeat(History):
    """The history of one register. kind: one of kinds.KINDS, or "" to choose it by the writing instructions."""

    def __init__(self, timeline: Timeline, warp: int, register: int):
        self.timeline, self.warp, self.register = timeline, warp, register
        self.item, self.count = f"w{warp}.R{register}", LANES
        self.kind, self.kinds = "", KINDS
        self._own_kind = ""
        self.log = RegisterLog(timeline, warp, register, MAX_CHUNKS)
        self._ends: dict[int, tuple[np.ndarray, np.ndarray]] = {}
        self._joined: tuple[tuple[int, ...], Entries] | None = None
        self.writers = [entry.pc for entry in timeline.info.program if register in entry.dst]

    def may_change(self, low: int, high: int) -> np.ndarray:
        """Return (high - low,) bool: which of these chunks may have entries."""
        return self.log.may_change(low, high)

    def entries(self, first: int, last: int, progress: CycleProgress | None = None) -> Entries:
        """Return the entries of the chunks with cycles first - 1..last, in order."""
        read = {number: self.log.entries(number) for number in self.numbers_of(first, last, progress)}
        parts = list(read.values())
        key = (*read, sum(len(part.pc) for part in parts))
        if self._joined is not None and self._joined[0] == key:
            return self._joined[1]
        if not parts:
            parts = [Entries(np.empty(0, np.int64), np.empty((0, LANES), bool), np.empty(0, np.uint32),
                             np.empty((0, LANES), np.uint32))]
        joined = Entries(*(np.concatenate([getattr(part, name) for part in parts])
                           for name in ("cycle", "lanes", "pc", "value")))
        self._joined = (key, joined)
        return joined

    def before(self, number: int) -> tuple[np.ndarray, np.ndarray]:
        """Return (32,) u4 values and (32,) u1 states at the first cycle of a chunk."""
        end = self._ends.get(number)
        if end is not None:
            return end
        value, state = np.zeros(LANES, np.uint32), np.full(LANES, UNWRITTEN, np.uint8)
        left = np.ones(LANES, bool)
        for before in self.log.writing_chunks(number):
            entries = self.log.entries(before)
            for lanes, pc, wrote in zip(entries.lanes[::-1], entries.pc[::-1].tolist(), entries.value[::-1], strict=True):
                now = lanes & left
                value[now], state[now] = wrote[now], state_of(pc)
                left &= ~lanes
                if not left.any():
                    break
            if not left.any():
                break
        if left.any() and self.timeline.first:      # of a recording that begins later: not a write in it
            value[left], state[left] = self.log.value_before(0)[left], WRITTEN
        if len(self._ends) > MAX_CHUNKS:
            self._ends.clear()
        self._ends[number] = value, state
        return value, state

    def strip(self, edges: np.ndarray, rows: int = LANES, progress: CycleProgress | None = None) -> Strip:
        """Return the columns between edges (i8 cycles, ascending, within the session); 32 rows, or fewer rows of means."""
        columns = len(edges) - 1
        first, last = max(int(edges[0]), self.timeline.first), min(int(edges[-1]) - 1, self.timeline.last)
        entries = self.entries(first, last, progress)
        number = self.timeline.chunk_number(max(first - 1, self.timeline.first))
        base, base_state = self.before(number)
        column = np.searchsorted(edges, entries.cycle, side="right")
        ahead = int(np.searchsorted(entries.cycle, edges[-1], side="left"))
        column = column[:ahead]
        latest = _latest(column, entries.lanes[:ahead], columns + 1)[1:]
        lane = np.arange(LANES)
        has = latest >= 0
        words = np.where(has, entries.value[latest, lane], base) if len(entries.pc) else np.broadcast_to(base, latest.shape)
        kinds = states_of(entries.pc)
        state = np.where(has, kinds[latest], base_state) if len(entries.pc) else np.broadcast_to(base_state, latest.shape)
        kind = self._kind(words[state != UNWRITTEN])
        values = typed(words, kind)
        self.top = grown(self.top, values[state != UNWRITTEN])
        wrote = entries.is_write[:ahead] & (column > 0)
        lost = _any(column[(entries.pc[:ahead] == chunk.LOST) & (column > 0)] - 1, columns)
        return Strip(self.item, kind, edges, *grouped(values, state, rows),
                     *_writers(column[wrote] - 1, entries.pc[:ahead][wrote], entries.lanes[:ahead][wrote], columns),
                     lost, self.top, LANES)

    def set_kind(self, kind: str) -> None:
        """Read the words as another kind, "" for that of the writing instructions; the scale starts over."""
        self.kind, self.top = kind, 0.0

    def moment(self, cycle: int, lane: int) -> Moment:
        """Return what a lane holds at a cycle, what it held before, and which instruction wrote it when."""
        number = self.timeline.chunk_number(max(cycle - 1, self.timeline.first))
        entries = self.entries(cycle, cycle)
        mine = np.flatnonzero(entries.lanes[:, lane])
        at = int(np.searchsorted(entries.cycle[mine], cycle, side="right"))
        later = mine[at:][entries.is_write[mine[at:]]]
        following = int(entries.cycle[later[0]]) if later.size else NOBODY
        past = [(entries, int(index)) for index in mine[max(0, at - 2) : at]][::-1]
        if len(past) < 2:
            for before in self.log.writing_chunks(number):
                part = self.log.entries(before)
                past += [(part, int(index)) for index in np.flatnonzero(part.lanes[:, lane])[::-1][: 2 - len(past)]]
                if len(past) >= 2:
                    break
        if not past:
            value, state = self.before(number)
            return Moment(lane, float(self._typed(value)[lane]), None, NOBODY, NOBODY, False, bool(state[lane]),
                          following=following)
        part, index = past[0]
        pc = int(part.pc[index])
        was = float(self._typed(past[1][0].value[past[1][1]])[lane]) if len(past) > 1 else None
        return Moment(lane, float(self._typed(part.value[index])[lane]), was, int(part.cycle[index]),
                      pc if pc < chunk.CLEARED else NOBODY, pc == chunk.LOST, pc != chunk.CLEARED,
                      int(part.lanes[index].sum()), following, self.warp, lane)

    def _kind(self, words: np.ndarray) -> str:
        """Return the kind that is set, otherwise the register's, which is determined once so that it does not change."""
        if not self._own_kind and words.size:
            self._own_kind = kind_of(self.timeline.info.program, self.writers, words)
        return self.kind or self._own_kind or "s32"

    def _typed(self, words: np.ndarray) -> np.ndarray:
        return typed(words, self._kind(words))

    def written(self, first: int, last: int, lane: int | None, progress: CycleProgress | None) -> np.ndarray:
        """Return the cycles that first show a write."""
        entries = self.entries(first, last, progress)
        return entries.cycle[entries.is_write if lane is None else entries.is_write & entries.lanes[:, lane]]


def state_of(pc: int) -> int:
    """Return the state of a lane after an entry."""
    return LOST if pc == chunk.LOST else UNWRITTEN if pc == chunk.CLEARED else WRITTEN


def states_of(pc: np.ndarray) -> np.ndarray:
    """Return (k,) u1 the states after entries."""
    return np.select([pc == chunk.LOST, pc == chunk.CLEARED], [LOST, UNWRITTEN], WRITTEN).astype(np.uint8)


def _latest(column: np.ndarray, lanes: np.ndarray, columns: int) -> np.ndarray:
    """Return (columns, 32) i8 number of the last entry of each lane up to each column, -1 where there is none."""
    latest = np.full((columns, LANES), -1, np.int64)
    if len(column):
        begin = np.flatnonzero(np.diff(column, prepend=-1))
        if lanes.all():
            latest[column] = np.arange(len(column))[:, None]
        else:
            numbered = np.where(lanes, np.arange(len(column), dtype=np.int32)[:, None], np.int32(-1))
            latest[column[begin]] = np.maximum.reduceat(numbered, begin, axis=0)
    return np.maximum.accumulate(latest, axis=0)


def _writers(column: np.ndarray, pc: np.ndarray, lanes: np.ndarray, columns: int
             ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the last writer of each column, the number of its writes, and how many lanes they wrote."""
    writer = np.full(columns, NOBODY, np.int64)
    writer[column] = pc
    touched = np.zeros(columns, np.int64)
    if len(column):
        begin = np.flatnonzero(np.diff(column, prepend=-1))
        touched[column[begin]] = np.logical_or.reduceat(lanes, begin, axis=0).sum(axis=1)
    return writer, np.bincount(column, minlength=columns), touched


def _any(column: np.ndarray, columns: int) -> np.ndarray:
    """Return (columns,) bool: which columns are among these."""
    marked = np.zeros(columns, bool)
    marked[column] = True
    return marked
