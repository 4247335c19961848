"""Where a named field is in the recorded words: paths such as `sm.warp[3].state`, resolved against stored dtypes."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from rfview.engine.errors import InputError
from rfview.engine.state import SM, arrays_of
from rfview.engine.wording import suggest

STEP = re.compile(r"\.?([A-Za-z_]\w*)|\[\s*(\*|:?\d+)\s*\]")


@dataclass(frozen=True)
class Field:
    """One scalar field, or a regular array of them, inside the record [sm recorded bytes | rf bytes].

    path: as given. dtype: of one element. offsets: (k,) byte offsets of the elements in C order of `shape`.
    shape: () for a scalar, else the array dimensions left open by the path. words: sorted u4 word numbers with them.
    derived: '' for stored words, 'cycle' or 'stall_total' for the two fields that chunks leave out.
    """

    path: str
    dtype: np.dtype
    offsets: np.ndarray
    shape: tuple[int, ...]
    words: np.ndarray
    derived: str = ""

    @cached_property
    def is_dense(self) -> bool:
        """Return whether the elements are contiguous."""
        return len(self.offsets) > 0 and bool((np.diff(self.offsets) == self.dtype.itemsize).all())


@dataclass(frozen=True, eq=False)
class Layout:
    """The two record dtypes of a session and the word positions that follow from them."""

    sm_dtype: np.dtype
    rf_dtype: np.dtype

    @property
    def sm_bytes(self) -> int:
        """Return the size of the recorded part of the SM record in bytes."""
        return self.sm_dtype.itemsize

    @property
    def num_words(self) -> int:
        """Return the number of u4 words of the SM record and the design's record together."""
        return (self.sm_dtype.itemsize + self.rf_dtype.itemsize) // 4

    @cached_property
    def groups(self) -> np.ndarray:
        """Return (num_words,) i4: the layout group of a block that begins there; blocks of a group have the same layout.

        That is so if they begin at the same word of records of one array, or within the same 32 words of long ones.
        """
        return self._numbered(32)

    @cached_property
    def kinds(self) -> np.ndarray:
        """Return (num_words,) i4: the kind of each word; words at the same place in an array's records are of one kind."""
        return self._numbered(1)

    @cached_property
    def packed(self) -> np.ndarray:
        """Return (num_words,) bool: whether kinds of words have fields of less than four bytes, or parts of fields."""
        both = np.concatenate((_packed(self.sm_dtype), _packed(self.rf_dtype)))
        packed = np.zeros(int(self.kinds.max()) + 1, bool)
        packed[self.kinds[both[: 4 * self.num_words].reshape(-1, 4).any(axis=1)]] = True
        return packed[self.kinds]

    def _numbered(self, most: int) -> np.ndarray:
        """Number the words by their place in a record; in records of more than 32 words, `most` share a number."""
        arrays = arrays_of(self.sm_dtype) + arrays_of(self.rf_dtype, self.sm_bytes // 4)
        sizes = [-(-size // most) if size > 32 else size for _, _, size in arrays]
        numbers = np.repeat(np.cumsum([0, *sizes[:-1]], dtype=np.int32), [end - begin for begin, end, _ in arrays])
        for begin, end, size in arrays:
            if size > 1:
                numbers[begin:end] += np.arange(end - begin, dtype=np.int32) % size // (most if size > 32 else 1)
        return numbers

    def field(self, path: str) -> Field:
        """Resolve a path; raises InputError, which names the unknown part and similar names."""
        return _resolve(self, path)

    def stored_words(self, field: Field) -> np.ndarray:
        """Return the words of state from which a field's values at the cycles of a chunk follow."""
        return self.field("sm.state_count").words if field.derived == "stall_total" else field.words

    def split(self, words: np.ndarray) -> tuple[Any, Any]:
        """Return (sm, rf) records that view `words`, the (num_words,) u4 state of one cycle."""
        sm, rf = self._records
        return np.frombuffer(words, sm, 1)[0], np.frombuffer(words, rf, 1, self.sm_bytes)[0]

    @cached_property
    def _records(self) -> list[np.dtype]:
        """Return both dtypes as those of records with fields as attributes."""
        return [np.dtype((np.record, dtype)) for dtype in (self.sm_dtype, self.rf_dtype)]


def _packed(dtype: np.dtype) -> np.ndarray:
    """Return (itemsize,) bool for a record: bytes of fields that are not whole words."""
    packed = np.zeros(dtype.itemsize, bool)
    for name in dtype.names or ():
        inner, at = dtype.fields[name][:2]  # type: ignore[index]
        one = _packed(inner.base) | bool(at % 4 or inner.base.itemsize % 4)
        packed[at : at + inner.itemsize] = np.tile(one, inner.itemsize // inner.base.itemsize)
    return packed


def distinct(values: np.ndarray) -> np.ndarray:
    """Return the distinct values, ascending; np.unique would load masked arrays, a tenth of the start-up time."""
    ordered = np.sort(values)
    return ordered[np.flatnonzero(np.diff(ordered, prepend=ordered[:1] - 1))]


def _steps(path: str) -> list[str | int]:
    """Split a path into names and indices; '*' stands for every element, ':N' for the first N."""
    parts: list[str | int] = []
    at = 0
    while at < len(path):
        match = STEP.match(path, at)
        if match is None:
            raise InputError(f"field path {path!r}: cannot read {path[at:]!r} at position {at + 1}")
        name, index = match.groups()
        parts.append(name if name is not None else index if index[0] in "*:" else int(index))
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
        if isinstance(part, str) and part[0] not in "*:":
            offsets, shape, pending = _open(offsets, pending, dtype), shape + pending, ()
            if dtype.names is None or part not in dtype.names:
                if dtype is layout.sm_dtype and part in (SM.names or ()):
                    raise InputError(f"field path {path!r}: {part!r} is internal to the engine and not recorded")
                raise InputError(f"field path {path!r}: no field {part!r}{suggest(part, dtype.names or ())}")
            inner, offset = dtype.fields[part][:2]  # type: ignore[index]
            offsets = offsets + offset
            dtype, pending = (inner.base, inner.shape) if inner.subdtype else (inner, ())
            continue
        if not pending:
            raise InputError(f"field path {path!r}: [{part}] follows something that is not an array")
        stride = int(np.prod(pending[1:], dtype=np.int64)) * dtype.itemsize
        if isinstance(part, str):
            number = min(pending[0], int(part[1:] or pending[0]))
            offsets = (offsets[:, None] + np.arange(number) * stride).ravel()
            shape += (number,)
        elif int(part) >= pending[0]:
            raise InputError(f"field path {path!r}: index {part} is out of range 0..{pending[0] - 1}")
        else:
            offsets = offsets + int(part) * stride
        pending = pending[1:]
    offsets, shape = _open(offsets, pending, dtype), shape + pending
    if dtype.names is not None:
        raise InputError(f"field path {path!r}: name one of its fields: {', '.join(dtype.names)}")
    first = offsets // 4
    last = (offsets + dtype.itemsize - 1) // 4
    words = distinct(np.concatenate([first, last]))
    derived = parts[1] if parts[0] == "sm" and parts[1] in ("cycle", "stall_total") else ""
    return Field(path, dtype, offsets, shape, words, str(derived))


def _open(offsets: np.ndarray, pending: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    """Return the offsets with every dimension in `pending` open."""
    for axis, length in enumerate(pending):
        stride = int(np.prod(pending[axis + 1 :], dtype=np.int64)) * dtype.itemsize
        offsets = (offsets[:, None] + np.arange(length) * stride).ravel()
    return offsets
