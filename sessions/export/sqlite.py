"""A session as an SQLite database, with the tables and columns that tables.py describes.

For example, the warps that wait longest for one thing, and the instructions whose operands take longest to collect:
  SELECT state, warp, first, cycles FROM waits ORDER BY cycles DESC LIMIT 10
  SELECT text, avg(execute - collect) AS wait FROM instructions JOIN program USING (pc) GROUP BY pc ORDER BY wait DESC
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from pathlib import Path

from rfview.engine.errors import InputError
from rfview.engine.files import ChangedMeanwhile, NewFile
from rfview.sessions.export.tables import COLUMNS, batches
from rfview.sessions.timeline.base import Timeline

KEYS = {"run": "key", "program": "pc", "cycles": "cycle", "instructions": "id"}
INDEXES = {"stalls": "cycle", "events": "name, cycle", "instructions": "pc", "accesses": "cycle"}


def write(timeline: Timeline, first: int, last: int, target: Path, inputs: Sequence[Path] = ()) -> None:
    """Write cycles first..last - 1 into a new database file; inputs: see files.NewFile.

    Raises InputError, naming the target, if it cannot be written.
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
    """Create and fill the tables of a new database."""
    database = sqlite3.connect(path, isolation_level=None)
    try:
        for statement in ("PRAGMA journal_mode=OFF", "PRAGMA synchronous=OFF", "BEGIN"):
            database.execute(statement)
        for table, columns in COLUMNS.items():
            kinds = (f"{name} {'' if kind == 'any' else kind}{' PRIMARY KEY' if KEYS.get(table) == name else ''}"
                     for name, kind in columns.items())
            database.execute(f"CREATE TABLE {table}({', '.join(kinds)})")
            for batch in batches(timeline, table, first, last):
                places = ", ".join("?" * len(columns))
                database.executemany(f"INSERT INTO {table} VALUES ({places})", zip(*batch, strict=True))
            if table in INDEXES:
                database.execute(f"CREATE INDEX {table}_index ON {table}({INDEXES[table]})")
        database.execute("COMMIT")
    finally:
        database.close()
