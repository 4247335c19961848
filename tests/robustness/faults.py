"""Fault injection in the manner of SQLite: of all system calls made for a recording, one fails, each of them once.

`writing` and `reading` count calls and make number `fails` raise. After any failure, there must be one InputError that
names the file, or no effect at all; an existing file is intact; a new one does not exist, or it can be opened.
"""

from __future__ import annotations

import builtins
import errno
import io
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any
from unittest import mock

KINDS = ("open", "write", "fsync", "replace", "read", "seek")


class Counter:
    """Counts calls, and raises EIO in call number `fails`. calls: their kinds in order."""

    def __init__(self, fails: int):
        self.fails = fails
        self.calls: list[str] = []

    def call(self, kind: str) -> None:
        """Count a call, or make it fail."""
        self.calls.append(kind)
        if len(self.calls) - 1 == self.fails:
            raise OSError(errno.EIO, os.strerror(errno.EIO))

    def over(self, kind: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return a function whose calls are counted."""

        def counted(*arguments: Any, **options: Any) -> Any:
            self.call(kind)
            return function(*arguments, **options)

        return counted


class Faulty(io.RawIOBase):
    """A raw file whose calls are counted."""

    def __init__(self, raw: Any, counter: Counter):
        super().__init__()
        self._raw, self._counter = raw, counter

    def readable(self) -> bool:
        return bool(self._raw.readable())

    def writable(self) -> bool:
        return bool(self._raw.writable())

    def seekable(self) -> bool:
        return True

    def fileno(self) -> int:
        return int(self._raw.fileno())

    def write(self, data: Any) -> int:
        self._counter.call("write")
        return int(self._raw.write(data))

    def readinto(self, buffer: Any) -> int:
        self._counter.call("read")
        return int(self._raw.readinto(buffer))

    def seek(self, place: int, whence: int = 0) -> int:
        self._counter.call("seek")
        return int(self._raw.seek(place, whence))

    def tell(self) -> int:
        return int(self._raw.tell())

    def close(self) -> None:
        self._raw.close()
        super().close()


@contextmanager
def writing(fails: int) -> Iterator[Counter]:
    """Make one of the calls of files.NewFile fail: open, write, fsync and replace."""
    counter = Counter(fails)

    def opened(handle: int, *arguments: Any, **options: Any) -> Any:
        return Faulty(os.fdopen(handle, *arguments, **options), counter)

    calls = ModuleType("os")        # only what files.py calls fails, not the compile cache's own files
    vars(calls).update(vars(os), fdopen=opened, open=counter.over("open", os.open),
                       fsync=counter.over("fsync", os.fsync), replace=counter.over("replace", os.replace))
    with mock.patch("rfview.engine.files.os", calls):
        yield counter


@contextmanager
def reading(module: str, fails: int) -> Iterator[Counter]:
    """Make one call fail on the files that a module opens for reading: open, seek and read."""
    counter = Counter(fails)
    make = builtins.open

    def opened(path: Any, mode: str = "r", *arguments: Any, **options: Any) -> Any:
        counter.call("open")
        if "b" not in mode:
            return make(path, mode, *arguments, **options)
        return io.BufferedReader(Faulty(make(path, mode, buffering=0, **options), counter))  # type: ignore[type-var]

    with mock.patch(f"{module}.open", opened, create=True):
        yield counter
