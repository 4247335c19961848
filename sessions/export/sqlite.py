"""A database of a session for SQL: what happened in each cycle, why warps waited, every instruction and every access.

Tables, every cycle as `info` counts them, ranges with both ends included:
  run(key, value)                                what ran: kernel, design, scheduler, parameters ..
  program(pc, kernel, line, unit, text)          line: of the PTX source
  cycles(cycle, launch, issued, stalled)         warps that issued; warps that wanted to and could not
  stalls(cycle, state, warps)                    how many warps were in a state, issued among them; none: no row
  waits(warp, state, first, last, cycles)        stretches of one state of a warp slot
  events(cycle, name, count)                     what the machine and the design counted in a cycle
  instructions(id, warp, pc, issue, collect, execute, memory, write_back, done)   cycles; NULL: not in that stage
  accesses(cycle, bank, kind, warp, reg)         read, write, or busy with the design's own work

For example, the warps that wait longest for one thing, and the instructions whose operands take longest to collect:
  SELECT state, warp, first, cycles FROM waits ORDER BY cycles DESC LIMIT 10
  SELECT text, avg(execute - collect) AS wait FROM instructions JOIN program USING (pc) GROUP BY pc ORDER BY wait DESC
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from rfview.engine.errors import InputError
from rfview.engine.escapes import visible_in
from rfview.engine.files import ChangedMeanwhile, NewFile
from rfview.engine.state import BANK_BUSY, BANK_READ, BANK_WRITE, NONE8
from rfview.sessions.timeline.invariants import event_names
from rfview.sessions.export.instructions import NO_STAGE, constants, events, windows
from rfview.sessions.timeline.base import Timeline

SCHEMA = """
CREATE TABLE run(key TEXT PRIMARY KEY, value);
CREATE TABLE program(pc INTEGER PRIMARY KEY, kernel TEXT, line INTEGER, unit TEXT, text TEXT);
CREATE TABLE cycles(cycle INTEGER PRIMARY KEY, launch INTEGER, issued INTEGER, stalled INTEGER);
CREATE TABLE stalls(cycle INTEGER, state TEXT, warps INTEGER);
CREATE TABLE waits(warp INTEGER, state TEXT, first INTEGER, last INTEGER, cycles INTEGER);
CREATE TABLE events(cycle INTEGER, name TEXT, count INTEGER);
CREATE TABLE instructions(id INTEGER PRIMARY KEY, warp INTEGER, pc INTEGER, issue INTEGER, collect INTEGER, execute INTEGER,
                          memory INTEGER, write_back INTEGER, done INTEGER);
CREATE TABLE accesses(cycle INTEGER, bank INTEGER, kind TEXT, warp INTEGER, reg INTEGER);
"""
INDEXES = """
CREATE INDEX stalls_by_cycle ON stalls(cycle);
CREATE INDEX events_by_name ON events(name, cycle);
CREATE INDEX instructions_by_pc ON instructions(pc);
CREATE INDEX accesses_by_cycle ON accesses(cycle);
"""
KINDS = {BANK_READ: "read", BANK_WRITE: "write", BANK_BUSY: "busy"}
NO_WORK = ("issued", "finished", "no_cta", "not_selected")
STAGES = ("collect", "execute", "memory", "write_back", "written")


def write(timeline: Timeline, first: int, last: int, target: Path, inputs: Sequence[Path] = ()) -> None:
    """Write what happened in cycles first..last - 1 into a new database file; inputs: as of files.NewFile.

    Raises InputError, naming the target, where it cannot be written.
    """
    made = NewFile(target, inputs=inputs)
    try:
        _fill(timeline, first, last, made.path)
        made.commit()
    except ChangedMeanwhile:
        raise
    except (OSError, sqlite3.Error) as error:
        made.discard()
        raise InputError(f"{target}: cannot be written: {error}") from None
    except BaseException:
        made.discard()
        raise


def _fill(timeline: Timeline, first: int, last: int, path: Path) -> None:
    """Make a database of an empty file."""
    database = sqlite3.connect(path, isolation_level=None)
    try:
        _script(database, "PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; BEGIN;" + SCHEMA)
        _constants(database, timeline, first, last)
        for start, stop in windows(timeline, first + 1, last):      # the state of c + 1 is what happened in c
            _states(database, timeline, start, stop)
            _counts(database, timeline, start, stop)
            _accesses(database, timeline, start, stop)
        _waits(database, timeline, first, last)
        database.executemany(f"INSERT INTO instructions VALUES ({', '.join('?' * 9)})", _instructions(timeline, first, last))
        _script(database, INDEXES + "COMMIT;")
    finally:
        database.close()


def _script(database: sqlite3.Connection, text: str) -> None:
    """Run statements one by one: executescript would end the transaction."""
    for statement in filter(str.strip, text.split(";")):
        database.execute(statement)


def _constants(database: sqlite3.Connection, timeline: Timeline, first: int, last: int) -> None:
    """Write what the run is, and its program."""
    keys = ("kernel", "design", "scheduler", "preset", "seed", "engine_version", "source_hash", "num_warps", "num_banks",
            "num_schedulers", "clock_mhz", "registers_per_thread")  # fmt: skip
    info = constants(timeline, *keys, "parameters", "program")
    rows = [("first_cycle", first), ("last_cycle", last - 1), *((key, info[key]) for key in keys),
            *((name, value if isinstance(value, (int, float, str)) else json.dumps(value))
              for name, value in info["parameters"].items())]  # fmt: skip
    database.executemany("INSERT INTO run VALUES (?, ?)", rows)
    database.executemany("INSERT INTO program VALUES (?, ?, ?, ?, ?)", (
        (entry["pc"], entry["kernel"], entry["line"], str(entry["unit"]), entry["text"]) for entry in info["program"]))


def _states(database: sqlite3.Connection, timeline: Timeline, start: int, stop: int) -> None:
    """Write cycles and stalls of the states start..stop - 1."""
    names = {int(entry["code"]): entry["name"] for entry in constants(timeline, "stalls")["stalls"]}
    states = timeline.states(start, stop)
    codes = np.array(sorted(names))
    counts = (states[:, :, None] == codes).sum(axis=1)
    quiet = np.array([names[int(code)] in NO_WORK for code in codes])
    launch = timeline.column("sm.launch.index", start, stop).reshape(-1)
    issued = counts[:, codes == 0].sum(axis=1)
    stalled = counts[:, ~quiet].sum(axis=1)
    cycles = np.arange(start, stop) - 1
    database.executemany("INSERT INTO cycles VALUES (?, ?, ?, ?)",
                         zip(cycles.tolist(), launch.tolist(), issued.tolist(), stalled.tolist(), strict=True))
    rows, columns = np.nonzero(counts)
    database.executemany("INSERT INTO stalls VALUES (?, ?, ?)", (
        (int(cycles[row]), names[int(codes[column])], int(counts[row, column]))
        for row, column in zip(rows.tolist(), columns.tolist(), strict=True)))


def _counts(database: sqlite3.Connection, timeline: Timeline, start: int, stop: int) -> None:
    """Write how much each event counter grew in the cycles that states start..stop - 1 show."""
    names = visible_in(event_names(timeline.info))
    values = timeline.column("sm.events[*]", start - 1, stop)
    grown = np.diff(values.astype(np.int64), axis=0)
    rows, columns = np.nonzero(grown)
    database.executemany("INSERT INTO events VALUES (?, ?, ?)", (
        (start + row - 1, names[column], int(grown[row, column]))
        for row, column in zip(rows.tolist(), columns.tolist(), strict=True) if column in names))


def _accesses(database: sqlite3.Connection, timeline: Timeline, start: int, stop: int) -> None:
    """Write what every bank did in the cycles that states start..stop - 1 show."""
    columns = [timeline.column(f"sm.bank[*].{name}", start, stop) for name in ("activity", "owner_warp", "owner_reg")]
    rows, banks = np.nonzero(np.isin(columns[0], list(KINDS)))
    none = lambda value: None if value == NONE8 else int(value)
    database.executemany("INSERT INTO accesses VALUES (?, ?, ?, ?, ?)", (
        (start + row - 1, bank, KINDS[int(columns[0][row, bank])], none(columns[1][row, bank]), none(columns[2][row, bank]))
        for row, bank in zip(rows.tolist(), banks.tolist(), strict=True)))


def _waits(database: sqlite3.Connection, timeline: Timeline, first: int, last: int) -> None:
    """Write the stretches in which a warp slot was in one state."""
    names = {int(entry["code"]): entry["name"] for entry in constants(timeline, "stalls")["stalls"]}
    before = timeline.states(first + 1, first + 2)[0]
    begun = np.full(len(before), first)
    found: list[tuple[int, str, int, int, int]] = []

    def end(warps: np.ndarray, at: int) -> None:
        for warp in warps.tolist():
            found.append((warp, names[int(before[warp])], int(begun[warp]), at - 1, at - int(begun[warp])))

    for start, stop in windows(timeline, first + 1, last):
        states = timeline.states(start, stop)
        changed = np.concatenate([before[None], states[:-1]]) != states
        for row in np.flatnonzero(changed.any(axis=1)).tolist():
            warps = np.flatnonzero(changed[row])
            end(warps, start + row - 1)
            begun[warps], before = start + row - 1, states[row]
        before = states[-1]
    end(np.arange(len(before)), last)
    found.sort(key=lambda entry: (entry[2], entry[0]))
    database.executemany("INSERT INTO waits VALUES (?, ?, ?, ?, ?)", found)


def _instructions(timeline: Timeline, first: int, last: int) -> Iterator[tuple[Any, ...]]:
    """Yield a row per instruction that issues in cycles first..last - 1; done is NULL where it goes on beyond."""
    rows: dict[int, dict[str, Any]] = {}
    for event in events(timeline, first, last):
        if event.kind == "begin":
            rows[event.seq] = {"id": event.seq, "warp": event.warp, "pc": event.pc, "issue": event.cycle}
        row = rows[event.seq]
        if event.kind == "end":
            row["done"] = event.cycle if event.cycle < last else None
            yield (row["id"], row["warp"], row["pc"], row["issue"], row.get("collect"), row.get("execute"),
                   row.get("memory"), row.get("write_back"), row["done"])
            del rows[event.seq]
        elif event.stage != NO_STAGE and event.stage in STAGES:
            row.setdefault(event.stage, event.cycle)
