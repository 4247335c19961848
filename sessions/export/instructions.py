"""Follows every instruction through the pipeline: its issue, the cycles in which it entered each stage, and its end."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from msgspec import structs

from rfview.engine.escapes import visible_in
from rfview.engine.state import COLLECT, EXECUTE, FREE, MEMORY, WRITE_BACK, WRITTEN
from rfview.sessions.timeline.base import Timeline

if TYPE_CHECKING:
    from rfview.engine.info import RunInfo

STAGES = {COLLECT: "collect", EXECUTE: "execute", MEMORY: "memory", WRITE_BACK: "write_back", WRITTEN: "written"}
NO_STAGE = "issue"       # branches, barriers and exits are complete when they issue


class Followed(NamedTuple):
    """An instruction, from its issue to its end. stages: (name, the cycle in which it entered it), issue first.

    done: the cycle in which it left, or the end of the range if it continues beyond.
    """

    id: int
    warp: int
    pc: int
    stages: tuple[tuple[str, int], ...]
    done: int


class Event(NamedTuple):
    """What an instruction did in a cycle. kind: 'begin' (stage = its first), 'stage', or 'end'. seq: its number here."""

    cycle: int
    kind: str
    seq: int
    warp: int
    pc: int
    stage: str


def constants(timeline: Timeline, *names: str) -> RunInfo:
    """Return a run's constants for a writer, with control characters in the texts of these fields escaped."""
    return structs.replace(timeline.info, **{name: visible_in(getattr(timeline.info, name)) for name in names})


def followed(timeline: Timeline, first: int, last: int) -> Iterator[Followed]:
    """Yield every instruction that issues in cycles first..last - 1, in the order in which they end."""
    under_way: dict[int, list[tuple[str, int]]] = {}
    for event in events(timeline, first, last):
        if event.kind == "end":
            yield Followed(event.seq, event.warp, event.pc, tuple(under_way.pop(event.seq)), event.cycle)
            continue
        stages = under_way.setdefault(event.seq, [(NO_STAGE, event.cycle)])
        if event.stage != NO_STAGE:
            stages.append((event.stage, event.cycle))


def events(timeline: Timeline, first: int, last: int) -> Iterator[Event]:
    """Yield what instructions did in cycles first..last - 1, in chronological order; those in flight at the ends are cut.

    An instruction that needs no in-flight entry begins and ends in the cycle in which it issues.
    """
    paths = [f"sm.inflight[*].{name}" for name in ("stage", "seq", "warp", "pc", "issue_cycle")]
    open_entries: dict[int, tuple[int, int, int, int, int]] = {}     # slot -> (number, engine's seq, warp, pc, stage)
    number = 0
    before: tuple[np.ndarray, np.ndarray] | None = None
    for start, stop, _ in timeline.stretches(first, last + 1):
        stage, seq, warp, pc, issued_at = (timeline.column(path, start, stop) for path in paths)
        last_pc = timeline.column("sm.warp[*].last_pc", start, stop)
        issues = timeline.states(start, stop) == timeline.issued
        if before is None:
            before = stage[0], seq[0]
        old_stage = np.concatenate([before[0][None], stage[:-1]])
        old_seq = np.concatenate([before[1][None], seq[:-1]])
        moved = (stage != old_stage) | ((seq != old_seq) & (stage != FREE))
        for row in np.flatnonzero(moved.any(axis=1) | issues.any(axis=1)).tolist():
            cycle = start + row - 1
            if cycle < first:
                continue
            began = set()
            for slot in np.flatnonzero(moved[row]).tolist():
                now, key = int(stage[row, slot]), int(seq[row, slot])
                known = open_entries.get(slot)
                if known and (now == FREE or known[1] != key):
                    del open_entries[slot]
                    yield Event(cycle, "end", known[0], known[2], known[3], STAGES.get(known[4], ""))
                    known = None
                if now == FREE:
                    continue
                which, where = int(warp[row, slot]), int(pc[row, slot])
                if known:
                    open_entries[slot] = (*known[:4], now)
                    yield Event(cycle, "stage", known[0], which, where, STAGES[now])
                elif int(issued_at[row, slot]) == cycle:
                    open_entries[slot] = (number, key, which, where, now)
                    began.add(which)
                    yield Event(cycle, "begin", number, which, where, STAGES[now])
                    number += 1
            for which in np.flatnonzero(issues[row]).tolist():
                if which not in began:
                    where = int(last_pc[row, which])
                    yield Event(cycle, "begin", number, which, where, NO_STAGE)
                    yield Event(cycle, "end", number, which, where, NO_STAGE)
                    number += 1
        before = stage[-1], seq[-1]
    for known in open_entries.values():
        yield Event(last, "end", known[0], known[2], known[3], STAGES.get(known[4], ""))
