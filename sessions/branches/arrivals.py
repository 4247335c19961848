"""Finds the registers and words that begin to differ between two runs, and who wrote them, cycle by cycle."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rfview.engine.errors import InputError
from rfview.engine.wording import plural
from rfview.engine.program import NO_REG
from rfview.engine.state import FREE
from rfview.sessions.compare.values import place_of
from rfview.sessions.timeline.stores import STORES
from rfview.sessions.timeline.base import CycleProgress, Timeline

MAX_ARRIVALS = 5_000


@dataclass(frozen=True)
class Arrival:
    """A place that begins to differ. cycle: the first that shows it. kind: 'lost', 'register', 'shared', 'local', 'global'.

    place: "w3.R5", "C[17]". lanes: a bit per lane of a register. value, right: u4 of the lowest lane that differs, with
    the error and without. pc: the instruction that wrote it, None if several could have or none did. lost: the lost bits.
    """

    cycle: int
    kind: str
    place: str
    lanes: int
    value: int
    right: int
    pc: int | None

    @property
    def text(self) -> str:
        """Return the arrival as text, "w3.R5[7] +2 lanes 0x40400000, not 0x40400001"."""
        lane = (self.lanes & -self.lanes).bit_length() - 1
        more = self.lanes.bit_count() - 1
        where = f"{self.place}[{lane}]" + (f" and {plural(more, 'lane')}" if more else "") \
            if self.lanes else self.place
        return f"{where} {self.value:#010x}, not {self.right:#010x}"


class _Writes:
    """Replays one timeline's writes: the contents of rows and memory, and what each cycle wrote."""

    def __init__(self, timeline: Timeline, cycle: int):
        self.timeline, self.cycle = timeline, cycle
        snapshot = timeline.at(cycle)
        self.rows, self.memory = np.array(snapshot.rows), np.array(snapshot.memory)
        self._stop = cycle      # of the current chunk, exclusive

    def step(self) -> tuple[np.ndarray, np.ndarray]:
        """Replay one cycle; return the rows and words that it wrote."""
        if self.cycle >= self._stop:
            self._chunk = self.timeline.decoded(self.timeline.chunk_number(self.cycle)).chunk
            self._stop = self._chunk.first_cycle + self._chunk.num_cycles
        chunk, at = self._chunk, self.cycle - self._chunk.first_cycle
        self.cycle += 1
        rows = slice(int(chunk.row_end[at - 1]) if at else 0, int(chunk.row_end[at]))
        words = slice(int(chunk.mem_end[at - 1]) if at else 0, int(chunk.mem_end[at]))
        self.rows[chunk.row_index[rows]] = chunk.row_value[rows]
        self.memory[chunk.mem_index[words]] = chunk.mem_value[words]
        return chunk.row_index[rows], chunk.mem_index[words]


class Arrivals:
    """Compares two runs from a cycle on, as long as their cycles correspond."""

    def __init__(self, timeline: Timeline, twin: Timeline, begin: int, parted: int | None, progress: CycleProgress | None):
        self.timeline, self.info = timeline, timeline.info
        self.noted: list[Arrival] = []
        self.count = self.healed = 0
        self.end = min(timeline.last, twin.last) if parted is None else parted - 1
        ours, theirs = _Writes(timeline, begin), _Writes(twin, begin)
        self._wrong_rows = ours.rows != theirs.rows
        self._wrong_words = ours.memory != theirs.memory
        while ours.cycle < self.end:
            touched = [np.union1d(*pair) for pair in zip(ours.step(), theirs.step(), strict=True)]
            if touched[0].size:
                self._rows(ours, theirs, touched[0])
            if touched[1].size:
                self._words(ours, theirs, touched[1])
            if progress is not None and ours.cycle % 1024 == 0 and progress(ours.cycle):
                raise InputError(f"follow: stopped at cycle {ours.cycle:,}")

    def _rows(self, ours: _Writes, theirs: _Writes, rows: np.ndarray) -> None:
        """Note which of the written rows became wrong or right."""
        wrong = ours.rows[rows] != theirs.rows[rows]
        was = self._wrong_rows[rows]
        if (wrong != was).any():
            self.healed += int((was & ~wrong).sum())
            for place in np.flatnonzero((wrong & ~was).any(axis=1)).tolist():
                lanes = np.flatnonzero(wrong[place] & ~was[place])
                row, lane = int(rows[place]), int(lanes[0])
                value, right = int(ours.rows[row, lane]), int(theirs.rows[row, lane])
                self._add(ours.cycle, "register", row, mask_of(lanes), value, right)
        self._wrong_rows[rows] = wrong

    def _words(self, ours: _Writes, theirs: _Writes, words: np.ndarray) -> None:
        """Note which of the written words became wrong or right."""
        wrong = ours.memory[words] != theirs.memory[words]
        was = self._wrong_words[words]
        self.healed += int((was & ~wrong).sum())
        for word in words[wrong & ~was].tolist():
            self._add(ours.cycle, "global", word, 0, int(ours.memory[word]), int(theirs.memory[word]))
        self._wrong_words[words] = wrong

    def _add(self, cycle: int, kind: str, index: int, lanes: int, value: int, right: int) -> None:
        """Keep an arrival, up to the limit; all are counted."""
        self.count += 1
        if len(self.noted) >= MAX_ARRIVALS:
            return
        info = self.info
        pc = None
        if kind == "register":
            registers = int(self.timeline.column("sm.launch.registers", cycle, cycle + 1)[0])
            place = f"row {index}"      # one of the design's own places, such as a buffer entry
            if registers and index < info.main_rows:
                place = f"w{index // registers}.R{index % registers}"
                pc = self._writer(cycle, index // registers, index % registers)
        elif index < info.shared_words:
            kind, place = "shared", f"shared word {index}"
        elif index < info.global_word:
            kind, place = "local", f"local word {index}"
        else:
            place = place_of(info, index - info.global_word)[0]
        if kind != "register":
            pc = self._store(cycle)
        self.noted.append(Arrival(cycle, kind, place, lanes, value, right, pc))

    def _under_way(self, cycle: int) -> list[tuple[int, int]]:
        """Return (warp, pc) of every instruction in flight before the cycle whose outcome `cycle` shows."""
        at = max(self.timeline.first, cycle - 1)
        stage, warp, pc = (self.timeline.column(f"sm.inflight[*].{name}", at, at + 1)[0] for name in ("stage", "warp", "pc"))
        return [(int(warp[slot]), int(pc[slot])) for slot in np.flatnonzero(stage != FREE)]

    def _writer(self, cycle: int, warp: int, reg: int) -> int | None:
        """Return the only instruction in flight that writes a register; None if there is not exactly one."""
        program = self.info.program
        pcs = {pc for owner, pc in self._under_way(cycle) if owner == warp and reg in program[pc].dst}
        return pcs.pop() if len(pcs) == 1 else None

    def _store(self, cycle: int) -> int | None:
        """Return the only store instruction in flight that reads a wrong register; None if there is not exactly one."""
        program = self.info.program
        registers = int(self.timeline.column("sm.launch.registers", cycle, cycle + 1)[0])

        def reads_wrong(warp: int, pc: int) -> bool:
            return any(reg != NO_REG and self._wrong_rows[warp * registers + reg].any() for reg in program[pc].src)

        pcs = {pc for warp, pc in self._under_way(cycle) if program[pc].mnemonic in STORES and reads_wrong(warp, pc)}
        return pcs.pop() if len(pcs) == 1 else None


def mask_of(lanes: np.ndarray) -> int:
    """Return lanes as a bit mask."""
    return int(sum(1 << int(lane) for lane in lanes))
