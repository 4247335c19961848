"""A session as tables, column by column, for SQL, Parquet and data frames.

Cycles are counted as in `info`; ranges include both ends:
  run(key, value)                                what ran: kernel, design, scheduler, parameters ..
  program(pc, kernel, line, unit, text)          line: of the PTX source
  cycles(cycle, launch, issued, stalled)         warps that issued; warps that wanted to and could not
  stalls(cycle, state, warps)                    how many warps were in a state, issued among them; none: no row
  waits(warp, state, first, last, cycles)        stretches of one state of a warp slot
  events(cycle, name, count)                     what the machine and the design counted in a cycle
  instructions(id, warp, pc, issue, collect, execute, memory, write_back, done)   cycles; NULL: not in that stage
  accesses(cycle, bank, kind, warp, reg)         read, write, or busy with the design's own work
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from rfview.engine.escapes import visible_in
from rfview.engine.stalls import NO_STALL
from rfview.engine.state import BANK_BUSY, BANK_READ, BANK_WRITE, NONE8
from rfview.sessions.export.instructions import constants, followed
from rfview.sessions.timeline.base import Timeline

Columns = Sequence[Sequence[Any]]
INTEGER, TEXT, ANY = "integer", "text", "any"
STAGES = ("collect", "execute", "memory", "write_back")
COLUMNS: dict[str, dict[str, str]] = {
    "run": {"key": TEXT, "value": ANY},
    "program": {"pc": INTEGER, "kernel": TEXT, "line": INTEGER, "unit": TEXT, "text": TEXT},
    "cycles": dict.fromkeys(("cycle", "launch", "issued", "stalled"), INTEGER),
    "stalls": {"cycle": INTEGER, "state": TEXT, "warps": INTEGER},
    "waits": {"warp": INTEGER, "state": TEXT, "first": INTEGER, "last": INTEGER, "cycles": INTEGER},
    "events": {"cycle": INTEGER, "name": TEXT, "count": INTEGER},
    "instructions": dict.fromkeys(("id", "warp", "pc", "issue", *STAGES, "done"), INTEGER),
    "accesses": {"cycle": INTEGER, "bank": INTEGER, "kind": TEXT, "warp": INTEGER, "reg": INTEGER},
}
KINDS = {BANK_READ: "read", BANK_WRITE: "write", BANK_BUSY: "busy"}
_ROWS = 1 << 14     # rows that are passed on together, for tables produced row by row


def batches(timeline: Timeline, table: str, first: int, last: int) -> Iterator[Columns]:
    """Yield a table's columns, in the order of COLUMNS, for cycles first..last - 1, in batches; None: no value."""
    return _SOURCES[table](timeline, first, last)


def _run(timeline: Timeline, first: int, last: int) -> Iterator[Columns]:
    keys = ("kernel", "design", "scheduler", "preset", "seed", "engine_version", "source_hash", "num_warps", "num_banks",
            "num_schedulers", "clock_mhz", "registers_per_thread")
    info = constants(timeline, *keys, "parameters")
    rows = [("first_cycle", first), ("last_cycle", last - 1), *((key, getattr(info, key)) for key in keys),
            *((name, value if isinstance(value, (int, float, str)) else json.dumps(value))
              for name, value in info.parameters.items())]
    yield list(zip(*rows, strict=True))


def _program(timeline: Timeline, first: int, last: int) -> Iterator[Columns]:
    entries = constants(timeline, "program").program
    yield [[getattr(entry, name) for entry in entries] for name in ("pc", "kernel", "line", "unit", "text")]


def _states(timeline: Timeline, first: int, last: int) -> Iterator[tuple[int, int, np.ndarray, np.ndarray, list[str]]]:
    """Yield (first and last state, warps per cycle and state, the states' codes and names); state c + 1 shows cycle c."""
    names = visible_in(timeline.info.stall_names)
    codes = np.array(sorted(names))
    for start, stop, _ in timeline.stretches(first + 1, last + 1):
        states = timeline.states(start, stop)
        yield start, stop, (states[:, :, None] == codes).sum(axis=1), codes, [names[code] for code in codes.tolist()]


def _cycles(timeline: Timeline, first: int, last: int) -> Iterator[Columns]:
    for start, stop, counts, codes, names in _states(timeline, first, last):
        quiet = np.array([name in NO_STALL for name in names])
        launch = timeline.column("sm.launch.index", start, stop).reshape(-1)
        yield [range(start - 1, stop - 1), launch.tolist(), counts[:, codes == timeline.issued].sum(axis=1).tolist(),
               counts[:, ~quiet].sum(axis=1).tolist()]


def _stalls(timeline: Timeline, first: int, last: int) -> Iterator[Columns]:
    for start, _, counts, _, names in _states(timeline, first, last):
        rows, columns = np.nonzero(counts)
        yield [(rows + start - 1).tolist(), [names[column] for column in columns.tolist()], counts[rows, columns].tolist()]


def _waits(timeline: Timeline, first: int, last: int) -> Iterator[Columns]:
    """Yield the ranges of cycles in which a warp slot was in one state, by their beginning."""
    names = visible_in(timeline.info.stall_names)
    before = timeline.states(first + 1, first + 2)[0]
    begun = np.full(len(before), first)
    waits: list[tuple[int, str, int, int, int]] = []

    def end(warps: np.ndarray, at: int) -> None:
        for warp in warps.tolist():
            waits.append((warp, names[int(before[warp])], int(begun[warp]), at - 1, at - int(begun[warp])))

    for start, stop, _ in timeline.stretches(first + 1, last + 1):
        states = timeline.states(start, stop)
        changed = np.concatenate([before[None], states[:-1]]) != states
        for row in np.flatnonzero(changed.any(axis=1)).tolist():
            warps = np.flatnonzero(changed[row])
            end(warps, start + row - 1)
            begun[warps], before = start + row - 1, states[row]
        before = states[-1]
    end(np.arange(len(before)), last)
    waits.sort(key=lambda entry: (entry[2], entry[0]))
    yield list(zip(*waits, strict=True))


def _events(timeline: Timeline, first: int, last: int) -> Iterator[Columns]:
    """Yield by how much each event counter grew in each cycle, if it did."""
    names = visible_in(timeline.info.event_names)
    for start, stop, _ in timeline.stretches(first + 1, last + 1):
        grown = np.diff(timeline.column("sm.events[*]", start - 1, stop).astype(np.int64), axis=0)
        rows, columns = np.nonzero(grown)
        known = np.isin(columns, list(names))
        rows, columns = rows[known], columns[known]
        yield [(rows + start - 1).tolist(), [names[column] for column in columns.tolist()], grown[rows, columns].tolist()]


def _instructions(timeline: Timeline, first: int, last: int) -> Iterator[Columns]:
    """Yield a row per instruction that issues; done is None if it continues beyond the last cycle."""
    rows: list[tuple[int | None, ...]] = []
    for one in followed(timeline, first, last):
        stages = dict(reversed(one.stages))
        rows.append((one.id, one.warp, one.pc, one.stages[0][1], *(stages.get(name) for name in STAGES),
                     one.done if one.done < last else None))
        if len(rows) == _ROWS:
            yield list(zip(*rows, strict=True))
            rows = []
    if rows:
        yield list(zip(*rows, strict=True))


def _accesses(timeline: Timeline, first: int, last: int) -> Iterator[Columns]:
    """Yield what every bank did in each cycle, if anything."""
    for start, stop, _ in timeline.stretches(first + 1, last + 1):
        activity, warp, reg = (timeline.column(f"sm.bank[*].{name}", start, stop)
                               for name in ("activity", "owner_warp", "owner_reg"))
        rows, banks = np.nonzero(np.isin(activity, list(KINDS)))
        owners = [[None if value == NONE8 else value for value in held[rows, banks].tolist()] for held in (warp, reg)]
        kinds = [KINDS[kind] for kind in activity[rows, banks].tolist()]
        yield [(rows + start - 1).tolist(), banks.tolist(), kinds, *owners]


_SOURCES: dict[str, Callable[[Timeline, int, int], Iterator[Columns]]] = {
    "run": _run, "program": _program, "cycles": _cycles, "stalls": _stalls, "waits": _waits, "events": _events,
    "instructions": _instructions, "accesses": _accesses}
