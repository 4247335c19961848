"""Short byte forms of a chunk's arrays: streams of narrow integers in byte planes, logs by counts, rows by kind."""

from __future__ import annotations

import threading
from typing import Any

import msgpack
import numpy as np
import zstandard
from zstandard import ZstdError

from rfview.engine.errors import InputError

LEVEL = 1
# for byte planes: what repeats in them is close by, and tables this small stay in the nearest cache
NEAR = zstandard.ZstdCompressionParameters.from_level(LEVEL, window_log=17, hash_log=12)
# for register rows: what repeats in them lies further apart
WIDE = zstandard.ZstdCompressionParameters.from_level(LEVEL, window_log=17, hash_log=14)
DIFFERENCE, XOR, NEW, STAMP = range(4)
NUM_MODES = 4
# words in a block of changes, and bytes in a word
WIDTH, PLANES = 32, 4
# as many numbers, all zero, may be in a stream that takes no bytes
MOST_ZEROS = 1 << 26
# how many planes codes of each width are in, and the width of those that are given by number (see format.py, widths)
PLANES_OF = (0, 1, 2, 3, 4, 1)
NUMBERED = 5
# the greatest number that a code is given by
MOST_NUMBER = 255
# rows of any lanes are stored as one of two more kinds where they can be: lanes of two bytes, or differences of two bytes
# from lane to lane
SHORT, STEPS = 3, 4
# the streams of each kind of blob, in order (see format.py), those of a state in format 3, and those of rows up to format 4
STATE = ("key_step", "key_bits", "kinds", "patterns", "blocks", "times", "masks", "gaps", "long_gaps", "gaps_beyond",
         "ranks", "high_ranks", "ranks_beyond", "modes", "widths", "planes", "far", "beyond", "distinct",
         "known")  # fmt: skip
NEW_IN_4 = ("long_gaps", "gaps_beyond", "high_ranks", "ranks_beyond", "distinct", "known")
STATE_3 = tuple(name for name in STATE if name not in NEW_IN_4)
ROWS = ("counts", "index", "kind", "base", "step", "raw", "short", "steps")
NEW_IN_5 = ("short", "steps")
ROWS_4 = tuple(name for name in ROWS if name not in NEW_IN_5)
MEMORY = ("counts", "index", "value")


# contexts are kept: making one costs more than squeezing a small part of a chunk
_contexts = threading.local()


def compress(content: Any, level: int = LEVEL) -> bytes:
    """Return a msgpack value under zstd."""
    return squeeze(msgpack.packb(content, default=_plain), level)


def squeeze(data: bytes | memoryview, how: int | zstandard.ZstdCompressionParameters = LEVEL) -> bytes:
    """Return bytes under zstd; how: a level, NEAR or WIDE."""
    name = f"compressor {how if isinstance(how, int) else id(how)}"
    kept = _contexts.__dict__.get(name)
    if kept is None:
        made = zstandard.ZstdCompressor(how) if isinstance(how, int) else zstandard.ZstdCompressor(compression_params=how)
        kept = _contexts.__dict__[name] = made
    return kept.compress(data)


def unsqueeze(data: bytes) -> bytes:
    """Return what `squeeze` stored; raises ZstdError."""
    kept = _contexts.__dict__.get("reader")
    if kept is None:
        kept = _contexts.reader = zstandard.ZstdDecompressor()
    return kept.decompress(data)


def expand(data: bytes, what: str) -> Any:
    """Return what `compress` stored; raises InputError naming `what` when it is damaged."""
    try:
        return msgpack.unpackb(unsqueeze(data), strict_map_key=False)
    except (ZstdError, ValueError, TypeError, msgpack.UnpackException) as error:
        raise InputError(f"{what} is damaged ({error})") from None


def streams(data: bytes | memoryview, names: tuple[str, ...]) -> dict[str, list[Any]]:
    """Return the streams of a blob by name, each [count, width, byte planes]; raises ValueError where lengths do not fit."""
    sizes = np.frombuffer(data, "<u4", 2 * len(names)).tolist()
    view = memoryview(data)
    found: dict[str, list[Any]] = {}
    at = 8 * len(names)
    for number, name in enumerate(names):
        count, width = sizes[2 * number], sizes[2 * number + 1]
        if width > PLANES or (not width and count > MOST_ZEROS):
            raise ValueError(f"{name} cannot be {count} numbers of {width} bytes")
        found[name] = [count, width, view[at : at + count * width]]
        at += count * width
    if at != len(view):
        raise ValueError("its streams do not fit together")
    return found


def expand_streams(data: bytes, names: tuple[str, ...], what: str) -> dict[str, list[Any]]:
    """Return the streams of a blob that `squeeze` stored; raises InputError naming `what` when it is damaged."""
    try:
        return streams(unsqueeze(data), names)
    except (ZstdError, ValueError, TypeError) as error:
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
    return join(np.frombuffer(data, np.uint8).reshape(width, count), dtype)


def join(planes: np.ndarray | list[np.ndarray], dtype: Any = np.uint32) -> np.ndarray:
    """Return the numbers that lie in byte planes, low bytes first; there is at least one plane."""
    found = planes[0].astype(dtype)
    for place in range(1, len(planes)):
        found |= np.left_shift(planes[place], 8 * place, dtype=dtype)
    return found


def unzigzag(codes: np.ndarray) -> np.ndarray:
    """Return the u4 differences behind zigzag codes."""
    return (codes >> np.uint32(1)) ^ (np.uint32(0) - (codes & np.uint32(1)))


def per_cycle(end: np.ndarray) -> np.ndarray:
    """Return (cycles,) i8 counts per cycle from prefix counts."""
    counts = end.astype(np.int64)
    counts[1:] -= end[:-1].astype(np.int64)
    return counts


def unpack_log(stored: list[Any]) -> np.ndarray:
    """Return (cycles,) u4 prefix counts."""
    return np.cumsum(unpack(stored), dtype=np.uint32)


def unpack_words(stored: dict[str, Any]) -> tuple[np.ndarray, np.ndarray]:
    """Return (k,) word numbers and their u4 values from the streams of format.py."""
    index = np.cumsum(unzigzag(unpack(stored["index"])), dtype=np.uint32)
    value = unpack(stored["value"])
    if len(index) != len(value):
        raise ValueError("memory streams do not fit together")
    return index, value
