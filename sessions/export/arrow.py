"""A session's tables (tables.py) as Arrow tables for data frames, and as Parquet files, one per table, in one folder.

DuckDB, pandas and Polars read them: SELECT state, sum(cycles) FROM 'run_tables/waits.parquet' GROUP BY state
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from rfview.engine.errors import InputError
from rfview.engine.files import NewFile, is_abandoned
from rfview.sessions.export.tables import COLUMNS, INTEGER, Columns, batches
from rfview.sessions.timeline.base import Timeline

SUFFIX = ".parquet"
TEMPORARY = re.compile(rf"(?:{'|'.join(COLUMNS)}){re.escape(SUFFIX)}\.[0-9a-f]{{6}}\.tmp")     # as NewFile names them


def table_of(timeline: Timeline, name: str, first: int, last: int) -> Any:
    """Return a table of cycles first..last - 1 as a pyarrow.Table; .to_pandas() turns it into a DataFrame.

    Raises InputError for a name that is not in COLUMNS, and if pyarrow is not installed.
    """
    pa = pyarrow()
    if name not in COLUMNS:
        raise InputError(f"table {name}: there are {', '.join(COLUMNS)}")
    schema = _schema(pa, name)
    return pa.Table.from_batches([_batch(pa, schema, batch) for batch in batches(timeline, name, first, last)], schema)


def write(timeline: Timeline, first: int, last: int, folder: Path, inputs: Sequence[Path] = ()) -> None:
    """Write the tables of cycles first..last - 1 into a folder, which is created if necessary; inputs: see files.NewFile.

    The files get their names once all of them are written; what a killed export left in the folder is removed. Raises
    InputError if the folder contains anything else, if it cannot be written, and if pyarrow is not installed.
    """
    pa = pyarrow()
    import pyarrow.parquet as pq

    made: list[NewFile] = []
    is_new = not folder.exists()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for left in _leftovers(folder):
            left.unlink()
        for name in COLUMNS:
            made.append(NewFile(folder / f"{name}{SUFFIX}", inputs=inputs))
            made[-1].claim()
            schema = _schema(pa, name)
            with pq.ParquetWriter(made[-1].file, schema, compression="zstd", write_page_checksum=True) as writer:
                for batch in batches(timeline, name, first, last):
                    writer.write_batch(_batch(pa, schema, batch))
        while made:
            made[0].commit()
            made.pop(0)
    except OSError as error:
        raise InputError(f"{folder}: cannot be written: {error.strerror or error}") from None
    finally:
        for one in made:
            one.discard()
        if made and is_new:
            with suppress(OSError):
                folder.rmdir()


def _leftovers(folder: Path) -> list[Path]:
    """Return the temporary files that a killed export left; raises InputError if there is anything but these and tables."""
    names = sorted({path.name for path in folder.iterdir()} - {f"{name}{SUFFIX}" for name in COLUMNS})
    for name in names:
        if not TEMPORARY.fullmatch(name):
            raise InputError(f"{folder}: contains files other than an export's tables ({name}); name another folder")
        if not is_abandoned(folder / name):
            raise InputError(f"{folder}: another export is writing there ({name}); name another folder, or delete that file "
                             "if none is running")
    return [folder / name for name in names]


def pyarrow() -> Any:
    """Return pyarrow; raises InputError if it is not installed."""
    try:
        import pyarrow
    except ImportError:
        raise InputError("tables and Parquet need pyarrow; pip install 'rfview[data]' installs it") from None
    return pyarrow


def _schema(pa: Any, name: str) -> Any:
    """Return a table's columns; those of mixed types become texts."""
    return pa.schema([(column, pa.int64() if kind == INTEGER else pa.string()) for column, kind in COLUMNS[name].items()])


def _batch(pa: Any, schema: Any, batch: Columns) -> Any:
    columns = batch or [()] * len(schema)
    arrays = [pa.array(column if field.type == pa.int64() else map(_text, column), field.type)
              for field, column in zip(schema, columns, strict=True)]
    return pa.record_batch(arrays, schema=schema)


def _text(value: Any) -> str | None:
    return None if value is None else str(value)
