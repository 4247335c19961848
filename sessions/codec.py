"""Short byte forms of a chunk's arrays: narrow integers in byte planes, deltas by difference, rows by kind."""

from __future__ import annotations

from typing import Any

import msgpack
import numpy as np
import zstandard

from engine.errors import InputError

LEVEL = 1
UNIFORM, AFFINE, RAW = 0, 1, 2
LANES = np.arange(32, dtype=np.uint32)


def compress(content: Any) -> bytes:
    """Return a msgpack value under zstd."""
    return zstandard.ZstdCompressor(level=LEVEL).compress(msgpack.packb(content, default=_plain))


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


def pack_deltas(end: np.ndarray, index: np.ndarray, value: np.ndarray) -> dict[str, Any]:
    """Store deltas word by word: which words change, how often, in which cycles, by how much.

    end: (cycles,) prefix counts; index, value: (k,) u4. Words ascend; cycles of a word are stored as differences.
    """
    counts = np.diff(end.astype(np.int64), prepend=0)
    cycle = np.repeat(np.arange(len(end), dtype=np.uint32), counts)
    order = np.argsort(index, kind="stable")
    word, when = index[order], cycle[order]
    first = np.flatnonzero(np.diff(word, prepend=np.uint32(0xFFFFFFFF)) != 0)
    words = word[first]
    gap = np.diff(when, prepend=np.uint32(0))
    gap[first] = when[first]
    return {
        "cycles": len(end),
        "words": pack(np.diff(words, prepend=np.uint32(0))),
        "times": pack(np.diff(np.append(first, len(word)))),
        "gaps": pack(gap),
        "values": pack(zigzag(np.ascontiguousarray(value[order]))),
    }


def unpack_deltas(stored: dict[str, Any]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return (end, index, value) by cycle."""
    cycles = int(stored["cycles"])
    words = np.cumsum(unpack(stored["words"]), dtype=np.uint32)
    times = unpack(stored["times"], np.int64)
    index = np.repeat(words, times)
    when = np.cumsum(unpack(stored["gaps"], np.int64))
    begin = np.cumsum(times) - times
    # the running sum restarts at each word
    if len(begin):
        carried = np.concatenate([[0], when[begin[1:] - 1]])
        when = when - np.repeat(carried, times)
    value = unzigzag(unpack(stored["values"]))
    if not len(index) == len(when) == len(value) or (len(when) and not 0 <= when.min() <= when.max() < cycles):
        raise ValueError("delta streams do not fit together")
    order = np.argsort(when.astype(np.uint16 if cycles <= 1 << 16 else np.int64), kind="stable")
    end = np.cumsum(np.bincount(when, minlength=cycles)).astype(np.uint32)
    return end, index[order], value[order]


def pack_log(end: np.ndarray) -> list[Any]:
    """Store the prefix counts of a log as counts per cycle."""
    return pack(np.diff(end.astype(np.int64), prepend=0))


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
