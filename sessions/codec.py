"""Short byte forms of a chunk's arrays: narrow integers in byte planes, deltas by difference, rows by kind."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import Any

import msgpack
import numpy as np
import zstandard

from engine.chunk import Blocks
from engine.errors import InputError
from sessions.layout import Units

LEVEL = 1
UNIFORM, AFFINE, RAW = 0, 1, 2
DIFFERENCE, XOR, NEW, STAMP = range(4)
NUM_MODES = 4
LANES = np.arange(32, dtype=np.uint32)


# contexts are kept: making one costs more than squeezing a small part of a chunk
_contexts = threading.local()


def compress(content: Any, level: int = LEVEL) -> bytes:
    """Return a msgpack value under zstd."""
    return squeeze(msgpack.packb(content, default=_plain), level)


def squeeze(data: bytes, level: int = LEVEL) -> bytes:
    """Return bytes under zstd."""
    kept = _contexts.__dict__.setdefault(f"level{level}", None)
    if kept is None:
        kept = _contexts.__dict__[f"level{level}"] = zstandard.ZstdCompressor(level=level)
    return kept.compress(data)


def unsqueeze(data: bytes) -> bytes:
    """Return what `squeeze` stored; raises zstandard.ZstdError."""
    kept = _contexts.__dict__.get("reader")
    if kept is None:
        kept = _contexts.reader = zstandard.ZstdDecompressor()
    return kept.decompress(data)


def expand(data: bytes, what: str) -> Any:
    """Return what `compress` stored; raises InputError naming `what` when it is damaged."""
    try:
        return msgpack.unpackb(unsqueeze(data), strict_map_key=False)
    except (zstandard.ZstdError, ValueError, TypeError, msgpack.UnpackException) as error:
        raise InputError(f"{what} is damaged ({error})") from None


def _plain(value: Any) -> Any:
    """Return NumPy scalars and arrays, tuples and sets as what msgpack knows."""
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, (set, frozenset)):
        return sorted(value)
    return str(value)


def pack(values: np.ndarray) -> list[Any]:
    """Return [count, bytes per value, byte planes, low byte first] of unsigned numbers, as narrow as they fit."""
    flat = np.ascontiguousarray(values).ravel()
    top = int(flat.max()) if flat.size else 0
    width = 0 if top == 0 else 1 if top < 1 << 8 else 2 if top < 1 << 16 else 4 if top < 1 << 32 else 8
    if width == 0:
        return [flat.size, 0, b""]
    narrow = flat.astype(f"<u{width}")
    if width == 1:
        return [flat.size, 1, narrow.tobytes()]
    return [flat.size, width, np.ascontiguousarray(narrow.view(np.uint8).reshape(-1, width).T).tobytes()]


def unpack(stored: list[Any], dtype: Any = np.uint32) -> np.ndarray:
    """Return the numbers that `pack` stored; raises ValueError when the lengths do not fit."""
    count, width, data = stored[:3]
    if width == 0:
        return np.zeros(count, dtype)
    planes = np.frombuffer(data, np.uint8).reshape(width, count)
    if width == 1:
        return planes[0].astype(dtype)
    return np.ascontiguousarray(planes.T).view(f"<u{width}").ravel().astype(dtype)


def zigzag(values: np.ndarray) -> np.ndarray:
    """Return u4 codes of u4 differences so that small ones of either sign stay small."""
    signed = values.view(np.int32)
    return ((signed << 1) ^ (signed >> 31)).view(np.uint32)


def unzigzag(codes: np.ndarray) -> np.ndarray:
    """Return the u4 differences behind zigzag codes."""
    return (codes >> np.uint32(1)) ^ (np.uint32(0) - (codes & np.uint32(1)))


def per_cycle(end: np.ndarray) -> np.ndarray:
    """Return (cycles,) i8 counts per cycle from prefix counts."""
    counts = end.astype(np.int64)
    counts[1:] -= end[:-1].astype(np.int64)
    return counts


def _restart(running: np.ndarray, begin: np.ndarray, times: np.ndarray, undo: Any) -> np.ndarray:
    """Make a running sum (or xor) over all changes start anew at each word."""
    if not len(begin):
        return running
    carried = np.concatenate([np.zeros(1, running.dtype), running[begin[1:] - 1]])
    return undo(running, np.repeat(carried, times))


@dataclass(frozen=True, eq=False)
class Changes:
    """All state changes of a chunk, each word's in order of time.

    word: (k,) i4, when: (k,) u2 cycle offset in which it changes, value: (k,) u4 new value. begin: first entry of each
    column (Units), so that a column's entries are begin[c] : begin[c] + counts[c]; None where they are in another order.
    """

    word: np.ndarray
    when: np.ndarray
    value: np.ndarray
    begin: np.ndarray | None = None
    counts: np.ndarray | None = None

    @staticmethod
    def of_blocks(blocks: Blocks) -> Changes:
        """Return the changes that a journal holds."""
        if blocks.value.shape[1] == 1:
            when = np.repeat(np.arange(len(blocks.end), dtype=np.uint16), per_cycle(blocks.end))
            return Changes(blocks.first.astype(np.int32), when, blocks.value[:, 0])
        block, bit = np.nonzero(np.unpackbits(blocks.mask[:, None].view(np.uint8), axis=1, bitorder="little"))
        when = np.repeat(np.arange(len(blocks.end), dtype=np.uint16), per_cycle(blocks.end))[block]
        return Changes((blocks.first[block] + bit).astype(np.int32), when, blocks.value[block, bit])

    def apply(self, words: np.ndarray, offset: int) -> None:
        """Turn the state at the chunk's first cycle into that `offset` cycles later, in place."""
        before = np.flatnonzero(self.when < offset)
        words[self.word[before]] = self.value[before]


def unpack_deltas(stored: dict[str, Any], key: np.ndarray, first_cycle: int, units: Units) -> Changes:
    """Return the changes that sessions/encode.py stored; key: (num_words,) u4 state at the chunk's first cycle."""
    active = np.cumsum(unpack(stored["units"], np.int64))
    times = unpack(stored["times"], np.int64)
    events = int(times.sum())
    if len(active) != len(times) or (len(active) and active[-1] >= len(units.first)):
        raise ValueError("delta streams do not fit together")
    gaps = np.frombuffer(stored["gaps"], np.uint8).reshape(2, events)
    begin = np.cumsum(times) - times
    running = np.cumsum(gaps[0] + (gaps[1].astype(np.int64) << 8))
    event_when = _restart(running, begin, times, np.subtract).astype(np.uint16)
    if events and int(event_when.max()) >= int(stored["cycles"]):
        raise ValueError("delta streams do not fit together")
    masks = np.ascontiguousarray(np.frombuffer(stored["masks"], np.uint8).reshape(4, events).T)
    columns = np.cumsum(unpack(stored["columns"], np.int64))
    counts, modes, widths = (unpack(stored[name], np.int64) for name in ("counts", "modes", "widths"))
    event = _events_of_columns(masks, np.concatenate([begin, [events]]), active, units)
    if len(event) != counts.sum() or not len(columns) == len(counts) == len(modes) == len(widths):
        raise ValueError("delta streams do not fit together")
    order = np.argsort(modes * 5 + widths, kind="stable")
    ends = np.cumsum(counts)
    pieces = [event[ends[column] - counts[column] : ends[column]] for column in order]
    event = np.concatenate(pieces) if pieces else event
    place = (columns - units.column_begin[np.searchsorted(units.column_begin, columns, side="right") - 1]).astype(np.int32)
    word = np.repeat(units.first[active], times).astype(np.int32)[event]
    word += np.repeat(place[order], counts[order])
    when = event_when[event]
    value = _values(stored["planes"], modes[order], widths[order], counts[order], word, when, key, first_cycle)
    whole_begin, whole_counts = np.zeros((2, int(units.column_begin[-1])), np.int64)
    whole_begin[columns[order]] = np.cumsum(counts[order]) - counts[order]
    whole_counts[columns] = counts
    return Changes(word, when, value, whole_begin, whole_counts)


def _events_of_columns(masks: np.ndarray, begin: np.ndarray, active: np.ndarray, units: Units) -> np.ndarray:
    """Return the number of each change's event, column after column; masks: (events, 4) u1, unit after unit."""
    parts = []
    split = np.searchsorted(active, units.kind_begin)
    for kind in np.flatnonzero(np.diff(split)):
        low, high = begin[split[kind]], begin[split[kind + 1]]
        length = units.column_begin[kind + 1] - units.column_begin[kind]
        bits = np.unpackbits(masks[low:high, : -(-length // 8)], axis=1, bitorder="little")
        hits = np.flatnonzero(np.ascontiguousarray(bits.T))
        hits %= high - low
        hits += low
        parts.append(hits)
    return np.concatenate(parts) if parts else np.empty(0, np.int64)


def _values(planes: bytes, modes: np.ndarray, widths: np.ndarray, counts: np.ndarray, word: np.ndarray, when: np.ndarray,
            key: np.ndarray, first_cycle: int) -> np.ndarray:  # fmt: skip
    """Return the new values behind the codes; columns of one mode and width stand together."""
    value = np.zeros(int(counts.sum()), np.uint32)
    data = np.frombuffer(planes, np.uint8)
    at = 0
    classes = modes * 5 + widths
    low = 0
    for number in np.unique(classes):
        size = int(counts[classes == number].sum())
        part = slice(low, low + size)
        low += size
        width = int(number) % 5
        code = value[part]
        for plane in range(width):
            code |= data[at : at + size].astype(np.uint32) << np.uint32(8 * plane)
            at += size
        code[:] = _decode(int(number) // 5, code, word[part], when[part], key, first_cycle)
    if at != len(data):
        raise ValueError("delta streams do not fit together")
    return value


def _decode(mode: int, code: np.ndarray, word: np.ndarray, when: np.ndarray, key: np.ndarray,
            first_cycle: int) -> np.ndarray:  # fmt: skip
    """Return the new values of changes of one mode, each word's next to each other."""
    if mode == NEW:
        return code
    if mode == STAMP:
        return unzigzag(code) + when + np.uint32(first_cycle & 0xFFFFFFFF)
    begin = np.flatnonzero(np.diff(word, prepend=-1))
    times = np.diff(np.append(begin, len(word)))
    if mode == XOR:
        return key[word] ^ _restart(np.bitwise_xor.accumulate(code), begin, times, np.bitwise_xor)
    return key[word] + _restart(np.cumsum(unzigzag(code), dtype=np.uint32), begin, times, np.subtract)


def pack_log(end: np.ndarray) -> list[Any]:
    """Store the prefix counts of a log as counts per cycle."""
    return pack(per_cycle(end))


def unpack_log(stored: list[Any]) -> np.ndarray:
    """Return (cycles,) u4 prefix counts."""
    return np.cumsum(unpack(stored), dtype=np.uint32)


def pack_rows(index: np.ndarray, value: np.ndarray) -> dict[str, Any]:
    """Store (k,) row numbers and their (k, 32) u4 lanes: equal as one word, v0 + lane * d as two, others whole."""
    step = value[:, 1] - value[:, 0] if len(value) else np.empty(0, np.uint32)
    affine = (value == value[:, :1] + LANES * step[:, None]).all(axis=1)
    kind = np.where(affine, np.where(step == 0, UNIFORM, AFFINE), RAW).astype(np.uint8)
    return {
        "index": pack(zigzag(np.diff(index, prepend=np.uint32(0)))),
        "kind": pack(kind),
        "base": pack(value[affine, 0]),
        "step": pack(zigzag(step[kind == AFFINE])),
        "raw": pack(value[kind == RAW]),
    }


def unpack_rows(stored: dict[str, Any]) -> tuple[np.ndarray, np.ndarray]:
    """Return (index, value) of `pack_rows`."""
    index = np.cumsum(unzigzag(unpack(stored["index"])), dtype=np.uint32)
    kind = unpack(stored["kind"], np.uint8)
    value = np.empty((len(kind), 32), np.uint32)
    affine = kind != RAW
    step = np.zeros(len(kind), np.uint32)
    step[kind == AFFINE] = unzigzag(unpack(stored["step"]))
    base = np.zeros(len(kind), np.uint32)
    base[affine] = unpack(stored["base"])
    value[affine] = base[affine, None] + LANES * step[affine, None]
    value[~affine] = unpack(stored["raw"]).reshape(-1, 32)
    if len(index) != len(kind):
        raise ValueError("row streams do not fit together")
    return index, value


def pack_words(index: np.ndarray, value: np.ndarray) -> dict[str, Any]:
    """Store (k,) word numbers and their u4 values."""
    return {"index": pack(zigzag(np.diff(index, prepend=np.uint32(0)))), "value": pack(value)}


def unpack_words(stored: dict[str, Any]) -> tuple[np.ndarray, np.ndarray]:
    """Return (index, value) of `pack_words`."""
    index = np.cumsum(unzigzag(unpack(stored["index"])), dtype=np.uint32)
    value = unpack(stored["value"])
    if len(index) != len(value):
        raise ValueError("memory streams do not fit together")
    return index, value
