"""Streams of unsigned numbers in byte planes under zstd: reading them, and number lists in maps.

A blob is zstd over (count:u4 width:u4) for each of its streams and then their bytes. A stream of width w is w byte planes:
the low bytes of all its numbers, then their next bytes, and so on; with width 0 all numbers are 0. Everything is little
endian. Sizes are checked before memory is allocated: README.md has the limits.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import msgpack
import numpy as np
import zstandard
from zstandard import ZstdError

from rfview.engine.errors import InputError
from rfview.sessions.codec import limits

# Level 1 with a small window and hash table, which fit the L1 cache: byte planes repeat over short distances. That
# saves a tenth of the time.
FAST = zstandard.ZstdCompressionParameters.from_level(1, window_log=17, hash_log=12)
PLANES = 4
HEAD_BYTES = 8
# most zeros in a stream, which take no bytes
MAX_ZEROS = 1 << 22
# what a damaged or hostile blob can raise in a reader; callers turn it into an InputError
DAMAGE = (KeyError, TypeError, ValueError, IndexError, OverflowError, ZstdError, msgpack.UnpackException)

# creating a context costs more than compressing a small blob
_contexts = threading.local()

Stream = tuple[int, int, memoryview]


def compress(data: bytes | memoryview, level: int = 0) -> bytes:
    """Return bytes compressed with zstd. level: 0 = FAST."""
    compressors: dict[int, zstandard.ZstdCompressor] = _contexts.__dict__.setdefault("compressors", {})
    if level not in compressors:
        compressors[level] = (zstandard.ZstdCompressor(level) if level else
                              zstandard.ZstdCompressor(compression_params=FAST))
    return compressors[level].compress(data)


def size_of(data: bytes | memoryview) -> int:
    """Return the decompressed size stated in a blob; raises ValueError, TypeError, ZstdError if there is none."""
    size = zstandard.frame_content_size(data)
    if size < 0:
        raise ValueError("a blob of unknown size")
    return int(size)


def decompress(data: bytes | memoryview, share: int = limits.BLOB) -> bytes:
    """Return the bytes stored by `compress`; raises ValueError if they exceed their share of the limit, ZstdError."""
    size = limits.allow(size_of(data), share, "a blob")
    decompressor = _contexts.__dict__.get("decompressor")
    if decompressor is None:
        decompressor = _contexts.decompressor = zstandard.ZstdDecompressor()
    return decompressor.decompress(data, max_output_size=size)


def compress_map(content: Any, level: int = 0) -> bytes:
    """Return a msgpack value compressed with zstd."""
    return compress(msgpack.packb(content, default=plain), level)


def decompress_map(data: bytes, what: str) -> Any:
    """Return the value stored by `compress_map`; raises InputError, which names `what`, if it is damaged."""
    with naming(what):
        return limits.unpacked(decompress(data, limits.MAP), "it", limits.MAP)


@contextmanager
def naming(what: str) -> Iterator[None]:
    """Turn errors caused by damage into an InputError that names what is damaged."""
    try:
        yield
    except DAMAGE as error:
        raise InputError(f"{what} is damaged ({error!r})") from None


def reason(error: Exception) -> str:
    """Return the reason that one of the errors in DAMAGE gives."""
    return f"it has no {error}" if isinstance(error, KeyError) else str(error) or type(error).__name__


def plain(value: Any) -> Any:
    """Return NumPy scalars and arrays, tuples and sets as types known to msgpack."""
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, (set, frozenset)):
        return sorted(value)
    return str(value)


def split(data: bytes | memoryview, names: tuple[str, ...]) -> dict[str, Stream]:
    """Return the streams of a decompressed blob by name, (count, width, planes); raises ValueError if sizes do not match."""
    sizes = np.frombuffer(data, "<u4", 2 * len(names)).tolist()
    view, at = memoryview(data), HEAD_BYTES * len(names)
    streams: dict[str, Stream] = {}
    for number, name in enumerate(names):
        count, width = sizes[2 * number : 2 * number + 2]
        if width > PLANES or (width == 0 and count > MAX_ZEROS) or at + count * width > len(view):
            raise ValueError(f"{name} cannot be {count} numbers of {width} bytes")
        streams[name] = (count, width, view[at : at + count * width])
        at += count * width
    if at != len(view):
        raise ValueError("unexpected data after its streams")
    return streams


def numbers(stream: Stream, dtype: Any = np.uint32, stop: int | None = None) -> np.ndarray:
    """Return all numbers of a stream, or those before number `stop`."""
    count, width, data = stream
    if not width:
        return np.zeros(count if stop is None else stop, dtype)
    return join(np.frombuffer(data, np.uint8).reshape(width, count)[:, :stop], dtype)


def some_numbers(stream: Stream, which: np.ndarray, size: int = 1, lanes: slice = slice(None)) -> np.ndarray:
    """Return some numbers of a stream, or some lanes of some groups of `size` numbers: (n,) or (n, lanes) u4."""
    count, width, data = stream
    shape = (len(which),) if size == 1 else (len(which), len(range(*lanes.indices(size))))
    if width == 0:
        return np.zeros(shape, np.uint32)
    planes = np.frombuffer(data, np.uint8).reshape(width, count // size, size)[:, :, lanes]
    return join([plane[which] for plane in planes]).reshape(shape)


def join(parts: np.ndarray | list[np.ndarray], dtype: Any = np.uint32) -> np.ndarray:
    """Return the numbers of at least one byte plane, low bytes first."""
    numbers = parts[0].astype(dtype)
    for place in range(1, len(parts)):
        numbers |= np.left_shift(parts[place], 8 * place, dtype=dtype)
    return numbers


def planes(values: np.ndarray) -> bytes:
    """Return the byte planes of numbers in their full width: the low bytes of all, then their next bytes, ..."""
    flat = np.ascontiguousarray(values).ravel()
    return flat.view(np.uint8).reshape(-1, flat.itemsize).T.tobytes()


def zigzag(differences: np.ndarray) -> np.ndarray:
    """Return u4 differences as 0, 1, 2, 3 ... for 0, -1, 1, -2 ..."""
    return (differences << np.uint32(1)) ^ (np.uint32(0) - (differences >> np.uint32(31)))


def unzigzag(codes: np.ndarray) -> np.ndarray:
    """Return the u4 differences for zigzag codes."""
    return (codes >> np.uint32(1)) ^ (np.uint32(0) - (codes & np.uint32(1)))


def deltas(values: np.ndarray) -> np.ndarray:
    """Return u4 numbers as zigzag differences, the first from 0."""
    steps = values.astype(np.uint32)
    steps[1:] -= values[:-1].astype(np.uint32)
    return zigzag(steps)


def undeltas(codes: np.ndarray) -> np.ndarray:
    """Return the u4 numbers for codes made by `deltas`."""
    return np.cumsum(unzigzag(codes), dtype=np.uint32)


def per_cycle(end: np.ndarray) -> np.ndarray:
    """Return (cycles,) u4 counts per cycle from prefix counts."""
    counts = end.astype(np.uint32)
    counts[1:] -= end[:-1].astype(np.uint32)
    return counts


def pack(values: np.ndarray) -> list[Any]:
    """Return [count, bytes per number, byte planes] of unsigned numbers of any size, for a map."""
    flat = np.ascontiguousarray(values).ravel()
    top = int(flat.max(initial=0))
    width = 0 if top == 0 else 1 if top < 1 << 8 else 2 if top < 1 << 16 else 4 if top < 1 << 32 else 8
    return [flat.size, width, planes(flat.astype(f"<u{width}")) if width else b""]


def unpack(stored: list[Any], dtype: Any = np.uint32) -> np.ndarray:
    """Return the numbers stored by `pack`; raises ValueError if lengths do not match."""
    count, width, data = stored
    if not 0 <= count <= MAX_ZEROS or width not in (0, 1, 2, 4, 8) or len(data) != count * width:
        raise ValueError(f"{len(data)} bytes cannot be {count} numbers of {width} bytes")
    return numbers((count, width, memoryview(data)), dtype)
