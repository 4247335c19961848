"""Short byte forms of a chunk's arrays: narrow integers in byte planes, deltas by difference, rows by kind."""

from __future__ import annotations

from typing import Any

import msgpack
import numpy as np
import zstandard

from engine.errors import InputError

LEVEL = 1
UNIFORM, AFFINE, RAW = 0, 1, 2
DIFFERENCE, XOR, NEW, STAMP = range(4)
NUM_MODES = 4
LANES = np.arange(32, dtype=np.uint32)


def compress(content: Any) -> bytes:
    """Return a msgpack value under zstd."""
    return squeeze(msgpack.packb(content, default=_plain))


def squeeze(data: bytes) -> bytes:
    """Return bytes under zstd."""
    return zstandard.ZstdCompressor(level=LEVEL).compress(data)


def expand(data: bytes, what: str) -> Any:
    """Return what `compress` stored; raises InputError naming `what` when it is damaged."""
    try:
        raw = zstandard.ZstdDecompressor().decompress(data)
        return msgpack.unpackb(raw, strict_map_key=False)
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


class Deltas:
    """A chunk's deltas word by word, with the new values behind them; see format.py, deltas.

    key: (num_words,) u4 state before; end, index, value: as in engine.chunk.Chunk. word, when: (k,) of each change,
    words ascending; begin: (w,) where each changing word's changes begin; times: (w,) how many; old, new: (k,) u4.
    """

    def __init__(self, key: np.ndarray, end: np.ndarray, index: np.ndarray, value: np.ndarray):
        narrow = np.uint16 if len(key) <= 1 << 16 else np.uint32
        order = np.argsort(index.astype(narrow), kind="stable")
        counts = per_cycle(end)
        self.cycles = len(end)
        self.word = index[order].astype(np.int32)
        self.when = np.repeat(np.arange(len(end), dtype=np.int32), counts)[order]
        self.begin = np.flatnonzero(np.diff(self.word, prepend=-1))
        self.times = np.diff(np.append(self.begin, len(order)))
        self.words = self.word[self.begin]
        self.value = value[order]
        self.new = _restart(np.cumsum(self.value, dtype=np.uint32), self.begin, self.times, np.subtract)
        self.new += np.repeat(key[self.words], self.times)
        self.old = self.new - self.value

    def codes(self, mode: int, first_cycle: int, at: Any = slice(None)) -> np.ndarray:
        """Return the u4 codes of changes under one mode: small or repeating numbers where the mode fits."""
        if mode == XOR:
            return self.old[at] ^ self.new[at]
        if mode == NEW:
            return self.new[at]
        if mode == STAMP:
            return zigzag(self.new[at] - self.when[at].astype(np.uint32) - np.uint32(first_cycle & 0xFFFFFFFF))
        return zigzag(self.value[at])


def _restart(running: np.ndarray, begin: np.ndarray, times: np.ndarray, undo: Any) -> np.ndarray:
    """Make a running sum (or xor) over all changes start anew at each word."""
    if not len(begin):
        return running
    carried = np.concatenate([np.zeros(1, running.dtype), running[begin[1:] - 1]])
    return undo(running, np.repeat(carried, times))


def choose_modes(deltas: Deltas, first_cycle: int, kinds: np.ndarray) -> dict[int, int]:
    """Return the mode that codes each kind of word shortest, by the entropy of its codes in these deltas.

    kinds: (num_words,) number of the field, or set of fields, that a word holds (Layout.kinds).
    """
    kind = kinds[deltas.word].astype(np.uint64) << np.uint64(32)
    costs = []
    present = np.unique(kinds[deltas.words])
    for mode in range(NUM_MODES):
        pairs, counts = np.unique(kind | deltas.codes(mode, first_cycle), return_counts=True)
        position = np.searchsorted(present, (pairs >> np.uint64(32)).astype(np.int64))
        total = np.bincount(position, counts, len(present))
        bits = total * np.log2(total) - np.bincount(position, counts * np.log2(counts), len(present))
        costs.append(bits + 12 * np.bincount(position, minlength=len(present)))
    return dict(zip(present.tolist(), np.argmin(costs, axis=0).tolist()))


def pack_deltas(deltas: Deltas, first_cycle: int, modes: np.ndarray) -> dict[str, Any]:
    """Store deltas word by word: which words change, how often, in which cycles, and how; modes: (num_words,) u1."""
    gap = np.diff(deltas.when, prepend=0)
    gap[deltas.begin] = deltas.when[deltas.begin]
    chosen = modes[deltas.words]
    each = np.repeat(chosen, deltas.times)
    return {
        "cycles": deltas.cycles,
        "words": pack(np.diff(deltas.words, prepend=0)),
        "times": pack(deltas.times),
        "gaps": pack(gap),
        "modes": pack(chosen),
        "codes": [pack(deltas.codes(mode, first_cycle, np.flatnonzero(each == mode))) for mode in range(NUM_MODES)],
    }


def unpack_deltas(
    stored: dict[str, Any], key: np.ndarray, first_cycle: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return (end, index, value) by cycle; key: (num_words,) u4 state at the chunk's first cycle."""
    cycles = int(stored["cycles"])
    words = np.cumsum(unpack(stored["words"]), dtype=np.int64)
    times = unpack(stored["times"], np.int64)
    index = np.repeat(words, times)
    begin = np.cumsum(times) - times
    when = _restart(np.cumsum(unpack(stored["gaps"], np.int64)), begin, times, np.subtract)
    if len(index) != len(when) or (len(when) and not (0 <= when.min() <= when.max() < cycles and words[-1] < len(key))):
        raise ValueError("delta streams do not fit together")
    each = np.repeat(unpack(stored["modes"], np.uint8), times)
    before = np.repeat(key[words], times)
    new = np.empty(len(index), np.uint32)
    for mode, packed in enumerate(stored["codes"]):
        at = np.flatnonzero(each == mode)
        codes = unpack(packed)
        if mode == NEW:
            new[at] = codes
        elif mode == STAMP:
            new[at] = unzigzag(codes) + when[at].astype(np.uint32) + np.uint32(first_cycle & 0xFFFFFFFF)
        elif len(at):
            starts = np.flatnonzero(np.diff(index[at], prepend=-1))
            lengths = np.diff(np.append(starts, len(at)))
            if mode == XOR:
                new[at] = before[at] ^ _restart(np.bitwise_xor.accumulate(codes), starts, lengths, np.bitwise_xor)
            else:
                running = np.cumsum(unzigzag(codes), dtype=np.uint32)
                new[at] = before[at] + _restart(running, starts, lengths, np.subtract)
    value = np.empty_like(new)
    value[1:] = new[1:] - new[:-1]
    value[begin] = new[begin] - before[begin]
    order = np.argsort(when.astype(np.uint16 if cycles <= 1 << 16 else np.int64), kind="stable")
    end = np.cumsum(np.bincount(when, minlength=cycles)).astype(np.uint32)
    return end, index[order].astype(np.uint32), value[order]


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
