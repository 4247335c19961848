"""How much memory reading a recording may use: checked before allocating anything whose size comes from a file."""

from __future__ import annotations

import os
import re
from typing import Any

import msgpack

from rfview.engine.errors import InputError

USUAL = 256 << 20
# most cycles of a chunk
MAX_CYCLES = 1 << 16
# fractions of the limit for one part: the arrays of the header together; a decompressed blob; a map
ARRAYS, BLOB, MAP = 2, 16, 32
# Python objects in a map, each of about 64 bytes, per byte of the limit
OBJECT_BYTES = 256


class Limit:
    """The limit in bytes, set by `rfview --limit` and RFVIEW_LIMIT."""

    bytes = USUAL

    @classmethod
    def set(cls, size: int) -> None:
        """Set the limit; raises ValueError if it is less than the smallest recording needs."""
        if size < 64 << 20:
            raise ValueError("at least 64 MB are needed")
        cls.bytes = size


def set_limit(text: str, where: str) -> None:
    """Set the limit from text such as 512MB or 2GB; raises InputError, which begins with `where`."""
    match = re.fullmatch(r"(\d{1,12})\s*([KMG]?)i?B?", text, re.IGNORECASE)
    try:
        if match is None:
            raise ValueError("expected a size such as 512MB or 2GB")
        Limit.set(int(match[1]) << {"": 0, "K": 10, "M": 20, "G": 30}[match[2].upper()])
    except ValueError as error:
        raise InputError(f"{where} {text}: {error}") from None


if given := os.environ.get("RFVIEW_LIMIT"):
    set_limit(given, "RFVIEW_LIMIT:")


def allow(size: int, share: int, what: str) -> int:
    """Return a size given by a file, in bytes; raises ValueError if it exceeds its share of the limit."""
    most = Limit.bytes // share
    if size > most:
        more = suggested(size * share)
        raise ValueError(f"{what} would take {size:,} bytes, more than {most:,}; --limit {more} allows it")
    return size


def suggested(size: int) -> str:
    """Return a sufficient limit, as text."""
    return f"{-(-size // (1 << 20))}MB"


def unpacked(data: bytes | memoryview, what: str, share: int = MAP) -> dict[str, Any]:
    """Return a msgpack map, with limits on its bytes, lists and maps; raises ValueError, or what msgpack raises."""
    allow(len(data), share, what)
    left = [Limit.bytes // OBJECT_BYTES]

    def counted(container: Any) -> Any:
        left[0] -= 1
        if left[0] < 0:
            raise ValueError(f"{what} holds more than {Limit.bytes // OBJECT_BYTES:,} lists and maps")
        return container

    content = msgpack.unpackb(data, strict_map_key=False, list_hook=counted, object_hook=counted)
    if not isinstance(content, dict):
        raise ValueError(f"{what} is not a map")
    return content
