"""A sweep's folder: Parquet part files that are valid at any time, a single writer, and the jobs it contains.

Rows are kept in memory for a few seconds; then the latest part is rewritten with them to a hidden file, which replaces
it. A new part is started every PART_ROWS rows. A killed process leaves valid parts and a hidden file, which the next
one removes. pandas and DuckDB see the part files only.
"""

from __future__ import annotations

import os
import re
import socket
import stat
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import lru_cache
from pathlib import Path
from typing import Any

from rfview.engine import files
from rfview.engine.errors import InputError
from rfview.sweep.columns import COLUMNS, FORMAT
from rfview.sweep.rows import Row

PART = re.compile(r"part-(\d{6})\.parquet")
LEFT_OVER = re.compile(r"\.part-\d{6}\.parquet\.[0-9a-f]{6}\.tmp")
LOCK = ".rfview-sweep.lock"
PART_ROWS = 4096
FLUSH_SECONDS = 3.0
MAX_PARTS = 999_999


def require() -> None:
    """Raise InputError if pyarrow is missing."""
    try:
        import pyarrow      # noqa: F401  an extra of the installation
    except ModuleNotFoundError:
        raise InputError("a sweep's dataset needs pyarrow; pip install 'rfview[data]' installs it") from None


@lru_cache
def schema() -> Any:
    """Return the schema of all part files."""
    import pyarrow as pa

    text, number = pa.string(), pa.int64()
    types = {"text": text, "int": number, "float": pa.float64(), "bool": pa.bool_(), "time": pa.timestamp("ms", "UTC"),
             "texts": pa.map_(text, text), "counts": pa.map_(text, number)}
    return pa.schema([pa.field(name, types[kind]) for name, kind, _ in COLUMNS], metadata={"rfview": FORMAT})


def parts(folder: Path) -> list[Path]:
    """Return the part files of a folder in order."""
    if not folder.is_dir():
        return []
    return sorted(path for path in folder.iterdir() if PART.fullmatch(path.name))


def read(folder: Path, columns: Sequence[str]) -> Any:
    """Return some columns of all rows as an Arrow table.

    Raises InputError if a file is not part of a sweep, or if a page that is read does not have its checksum.
    """
    import pyarrow as pa
    from pyarrow import parquet

    tables = []
    for path in parts(folder):
        try:
            file = parquet.ParquetFile(path, page_checksum_verification=True)
            stored = file.schema_arrow
            if not stored.equals(schema()) or (stored.metadata or {}).get(b"rfview") != FORMAT.encode():
                raise ValueError("its columns are not those of this version")
            tables.append(file.read(columns=list(columns)))
            if len(tables[-1]) != file.metadata.num_rows:       # of the footer, which has no checksum, but both numbers
                raise ValueError(f"{len(tables[-1]):,} rows instead of {file.metadata.num_rows:,}")
        except (OSError, ValueError, pa.ArrowException) as error:
            reason = str(error).partition("\n")[0]
            raise InputError(f"{path}: is damaged or not part of a sweep ({reason}); move it elsewhere, and its jobs are "
                             "run again, or give another folder") from None
    wanted = pa.schema([schema().field(name) for name in columns])
    return pa.concat_tables([table.cast(wanted) for table in tables]) if tables else wanted.empty_table()


class Dataset:
    """A folder that this process writes: added rows are on disk after a few seconds at most."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        numbers = [int(path.name[5:11]) for path in parts(folder)]
        self._number = max(numbers, default=0)
        self.keys = set(read(folder, ["key"])["key"].to_pylist())
        self._part: Any = None          # the Arrow table of the part being filled
        self._identity: files.Identity | None = None
        self._waiting: list[Row] = []
        self._flushed_at = -FLUSH_SECONDS       # so the first rows are written at once

    def add(self, rows: Iterable[Row]) -> None:
        """Add rows whose keys are new, and write them when due."""
        for row in rows:
            assert row["key"] not in self.keys
            self.keys.add(row["key"])
            self._waiting.append(row)
        if time.monotonic() - self._flushed_at >= FLUSH_SECONDS:
            self.flush()

    def flush(self) -> None:
        """Write pending rows. Raises InputError if the folder cannot be written or another process has written to it."""
        import pyarrow as pa
        from pyarrow import parquet

        self._flushed_at = time.monotonic()
        if not self._waiting:
            return
        rows = pa.Table.from_pylist(self._waiting, schema())
        number = self._number + (self._part is None)
        if number > MAX_PARTS:
            raise InputError(f"{self.folder}: has {MAX_PARTS:,} parts, as many as one dataset may; give another folder")
        table = rows if self._part is None else pa.concat_tables([self._part, rows])
        path = self.folder / f"part-{number:06}.parquet"
        if files.identity(path) != self._identity:
            raise InputError(f"{path}: another program has written it in the meantime, so it was not replaced; "
                             "start the sweep again")
        ours = None
        try:
            with files.writing(path, hidden=True, replaces=self._part is not None) as file:
                ours = os.fstat(file.fileno()).st_ino
                parquet.write_table(table, file, compression="zstd", write_page_checksum=True)
        finally:    # a signal may arrive after the file is in place: its rows are no longer pending then
            identity = files.identity(path)
            if identity is not None and identity[1] == ours:
                self._number, self._part, self._identity, self._waiting = number, table, identity, []
        if len(table) >= PART_ROWS:
            self._part = self._identity = None


@contextmanager
def writing(folder: Path) -> Iterator[Dataset]:
    """Yield the dataset of a folder, created if necessary and locked; everything is written at the end in any case.

    Raises InputError, which says who is writing it or what else is wrong.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except (OSError, ValueError) as error:
        raise InputError(f"{folder}: cannot be created: {getattr(error, 'strerror', None) or error}") from None
    if not os.access(folder, os.W_OK):
        raise InputError(f"{folder}: cannot be written: permission denied")
    with _held(folder):
        for path in folder.iterdir():
            if LEFT_OVER.fullmatch(path.name) and stat.S_ISREG(path.lstat().st_mode):
                with suppress(OSError):
                    path.unlink()
        dataset = Dataset(folder)
        try:
            yield dataset
        finally:
            dataset.flush()


@contextmanager
def _held(folder: Path) -> Iterator[None]:
    """Hold a folder's lock, which the system releases if the process is killed."""
    try:
        import fcntl
    except ModuleNotFoundError:
        raise InputError(f"{folder}: a sweep needs file locks, which this system lacks (not Linux, not macOS)") from None
    path = folder / LOCK
    try:
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o666)
    except OSError as error:
        raise InputError(f"{path}: cannot be written: {error.strerror or error}") from None
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = os.read(handle, 200).decode("utf-8", "replace").strip() or "another process"
            raise InputError(f"{folder}: {holder} is sweeping into it; wait until it ends, or use another folder") from None
        except OSError as error:
            raise InputError(f"{path}: cannot be locked: {error.strerror or error}") from None
        try:
            os.ftruncate(handle, 0)
            os.pwrite(handle, f"process {os.getpid()} on {socket.gethostname()}\n".encode(), 0)
        except OSError as error:        # a full disk has no room for the rows either
            raise InputError(f"{path}: cannot be written: {error.strerror or error}") from None
        yield
        os.ftruncate(handle, 0)
    finally:
        os.close(handle)
