"""Where a named field lies in the recorded words: paths such as `sm.warp[3].state` resolved against stored dtypes."""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from engine.errors import InputError

STEP = re.compile(r"\.?([A-Za-z_]\w*)|\[\s*(\*|\d+)\s*\]")


@dataclass(frozen=True)
class Field:
    """One scalar field, or a regular array of them, inside the record [sm recorded bytes | rf bytes].

    path: as asked for. dtype: of one element. offsets: (k,) byte offsets of the elements in C order of `shape`.
    shape: () for a scalar, else the array dimensions left open by the path. words: sorted u4 word numbers with them.
    derived: '' for stored words, 'cycle' or 'stall_total' for the two fields that chunks leave out.
    """

    path: str
    dtype: np.dtype
    offsets: np.ndarray
    shape: tuple[int, ...]
    words: np.ndarray
    derived: str = ""


@dataclass(frozen=True, eq=False)
class Layout:
    """The two record dtypes of a session and the word positions that follow from them."""

    sm_dtype: np.dtype
    rf_dtype: np.dtype

    @property
    def sm_bytes(self) -> int:
        """Return the bytes of the recorded part of the SM record."""
        return self.sm_dtype.itemsize

    @property
    def num_words(self) -> int:
        """Return the u4 words of the SM record and the design's record together."""
        return (self.sm_dtype.itemsize + self.rf_dtype.itemsize) // 4

    @cached_property
    def units(self) -> Units:
        """Return how the words are grouped for storing; it follows from the dtypes alone."""
        return Units.of(self)

    def field(self, path: str) -> Field:
        """Resolve a path; raises InputError naming the part that does not exist and what is close to it."""
        return _resolve(self, path)

    def split(self, words: np.ndarray) -> tuple[Any, Any]:
        """Return (sm, rf) records that view `words`, the (num_words,) u4 state of one cycle."""
        data = words.view(np.uint8)
        sm = data[: self.sm_bytes].view(self.sm_dtype).view(np.recarray)[0]
        rf = data[self.sm_bytes : self.sm_bytes + self.rf_dtype.itemsize].view(self.rf_dtype).view(np.recarray)[0]
        return sm, rf


@dataclass(frozen=True, eq=False)
class Units:
    """The words in units of at most 32 that change together, such as one warp, and units in kinds, such as all warps.

    Units are numbered kind by kind. unit, place, column: (num_words,) i4 of each word: its unit, which bit of that unit's
    masks it is, and its column: words of one column are the same place of units of one kind. first: (units + 1,) i4 first
    word of each unit. kind_begin: (kinds + 1,) i4 first unit of each kind. column_begin: (kinds + 1,) i4 its first column.
    """

    unit: np.ndarray
    place: np.ndarray
    column: np.ndarray
    first: np.ndarray
    kind_begin: np.ndarray
    column_begin: np.ndarray

    @staticmethod
    def of(layout: Layout) -> Units:
        """Group the words of a layout."""
        runs: list[tuple[str, int, int]] = []
        for name, dtype, begin in (("sm", layout.sm_dtype, 0), ("rf", layout.rf_dtype, layout.sm_bytes)):
            _runs(dtype, begin, name, runs)
            _fill_gaps(runs, begin, begin + dtype.itemsize, name)
        kinds: dict[tuple[str, int], list[tuple[int, int]]] = {}
        taken = np.zeros(layout.num_words, bool)
        for name, begin, end in runs:
            words = np.arange(begin // 4, -(-end // 4))
            words = words[~taken[words]]
            taken[words] = True
            for piece in np.split(words, np.flatnonzero(np.diff(words) != 1) + 1):
                for at in range(0, len(piece), 32):
                    part = piece[at : at + 32]
                    kinds.setdefault((name, len(part)), []).append((int(part[0]), len(part)))
        unit, place, column = (np.zeros(layout.num_words, np.int32) for _ in range(3))
        first: list[int] = []
        kind_begin, column_begin = [0], [0]
        for members in kinds.values():
            for word, length in members:
                unit[word : word + length] = len(first)
                place[word : word + length] = np.arange(length)
                column[word : word + length] = column_begin[-1] + np.arange(length)
                first.append(word)
            kind_begin.append(len(first))
            column_begin.append(column_begin[-1] + members[0][1])
        return Units(unit, place, column, *(np.array(part, np.int32) for part in (first, kind_begin, column_begin)))


def _runs(dtype: np.dtype, begin: int, path: str, runs: list[tuple[str, int, int]]) -> None:
    """List (name, first byte, byte behind) of what belongs together: records of an array, arrays, single fields."""
    single: list[int] | None = None
    for name in dtype.names or ():
        inner, offset = dtype.fields[name][:2]  # type: ignore[index]
        at, base, whole = begin + offset, inner.base, inner.itemsize
        is_array, packed = base.itemsize < whole or base.names is not None, base.itemsize % 4 == 0 and at % 4 == 0
        if (is_array and base.names is not None) or whole > 64:
            single = None
        nested = any(base[part].base.names for part in base.names or ())
        if packed and nested:
            for element in range(whole // base.itemsize):
                _runs(base, at + element * base.itemsize, f"{path}.{name}", runs)
        elif base.names is not None and packed and base.itemsize <= 512:
            for element in range(whole // base.itemsize):
                runs.append((f"{path}.{name}", at + element * base.itemsize, at + (element + 1) * base.itemsize))
        elif base.names is not None or whole > 64:
            runs.append((f"{path}.{name}", at, at + whole))
        else:
            if single is None:
                single = [at, at]
                runs.append((f"{path}.{name}+", at, at))
            runs[-1] = (runs[-1][0], runs[-1][1], at + whole)


def _fill_gaps(runs: list[tuple[str, int, int]], begin: int, end: int, name: str) -> None:
    """Add what no field covers, so that every word is in a unit."""
    runs.append((f"{name}.*", begin, end))


def suggest(name: str, names: Any) -> str:
    """Return '; did you mean a, b?' for an unknown name, or ''."""
    known = [str(name) for name in names]
    close = difflib.get_close_matches(name, known, 3, 0.55)
    if len(name) > 2:
        close += [other for other in known if name in other and other not in close]
    return f"; did you mean {', '.join(close[:3])}?" if close else ""


def _steps(path: str) -> list[str | int]:
    """Split a path into names and indices; '*' stands for every element."""
    parts: list[str | int] = []
    at = 0
    while at < len(path):
        match = STEP.match(path, at)
        if match is None:
            raise InputError(f"field path {path!r}: cannot read {path[at:]!r} at position {at + 1}")
        name, index = match.groups()
        parts.append(name if name is not None else index if index == "*" else int(index))
        at = match.end()
    return parts


@lru_cache(maxsize=4096)
def _resolve(layout: Layout, path: str) -> Field:
    parts = _steps(path)
    if not parts or parts[0] not in ("sm", "rf"):
        raise InputError(f"field path {path!r}: expected sm.FIELD or rf.FIELD")
    dtype = layout.sm_dtype if parts[0] == "sm" else layout.rf_dtype
    offsets = np.array([0 if parts[0] == "sm" else layout.sm_bytes], np.int64)
    shape: tuple[int, ...] = ()
    pending: tuple[int, ...] = ()
    for part in parts[1:]:
        if isinstance(part, str) and part != "*":
            offsets, shape, pending = _open(offsets, shape, pending, dtype), shape + pending, ()
            if dtype.names is None or part not in dtype.names:
                names = dtype.names or ()
                raise InputError(f"field path {path!r}: no field {part!r}{suggest(part, names)}")
            inner, offset = dtype.fields[part][:2]  # type: ignore[index]
            offsets = offsets + offset
            dtype, pending = (inner.base, inner.shape) if inner.subdtype else (inner, ())
            continue
        if not pending:
            raise InputError(f"field path {path!r}: [{part}] follows something that is not an array")
        stride = int(np.prod(pending[1:], dtype=np.int64)) * dtype.itemsize
        if part == "*":
            offsets = (offsets[:, None] + np.arange(pending[0]) * stride).ravel()
            shape += pending[:1]
        elif int(part) >= pending[0]:
            raise InputError(f"field path {path!r}: index {part} is out of range 0..{pending[0] - 1}")
        else:
            offsets = offsets + int(part) * stride
        pending = pending[1:]
    offsets, shape = _open(offsets, shape, pending, dtype), shape + pending
    if dtype.names is not None:
        raise InputError(f"field path {path!r}: name one of its fields: {', '.join(dtype.names)}")
    first = offsets // 4
    last = (offsets + dtype.itemsize - 1) // 4
    words = np.unique(np.concatenate([first, last]))
    derived = parts[1] if parts[0] == "sm" and parts[1] in ("cycle", "stall_total") else ""
    return Field(path, dtype, offsets, shape, words, str(derived))


def _open(offsets: np.ndarray, shape: tuple[int, ...], pending: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    """Return the offsets with every dimension in `pending` left open."""
    for axis, length in enumerate(pending):
        stride = int(np.prod(pending[axis + 1 :], dtype=np.int64)) * dtype.itemsize
        offsets = (offsets[:, None] + np.arange(length) * stride).ravel()
    return offsets
