"""How much memory reading a recording may take: asked before anything is allocated whose size a file says."""

from __future__ import annotations

import os
import re
from typing import Any

import msgpack

from rfview.engine.errors import InputError

USUAL = 256 << 20
# shares of the limit that one part may have: the arrays of the header together; a blob, decompressed; a map
ARRAYS, BLOB, MAP = 2, 16, 32
# objects that Python makes of a map, each of about 64 bytes, to a byte of the limit
OBJECT_BYTES = 256


class Limit:
    """The limit in bytes; `rfview --limit` and RFVIEW_LIMIT set it."""

    bytes = USUAL

    @classmethod
    def set(cls, size: int) -> None:
        """Set the limit; raises ValueError for less than what the smallest recording needs."""
        if size < 64 << 20:
            raise ValueError("at least 64 MB are needed")
        cls.bytes = size


def set_limit(text: str, where: str) -> None:
    """Set the limit as it is typed, 512MB or 2GB; raises InputError that begins with `where`."""
    found = re.fullmatch(r"(\d{1,12})\s*([KMG]?)i?B?", text, re.IGNORECASE)
    try:
        if found is None:
            raise ValueError("expected a size such as 512MB or 2GB")
        Limit.set(int(found[1]) << {"": 0, "K": 10, "M": 20, "G": 30}[found[2].upper()])
    except ValueError as error:
        raise InputError(f"{where} {text}: {error}") from None


if given := os.environ.get("RFVIEW_LIMIT"):
    set_limit(given, "RFVIEW_LIMIT:")


def allow(size: int, share: int, what: str) -> int:
    """Return a size that a file gives, in bytes; raises ValueError where it is more than its share of the limit."""
    most = Limit.bytes // share
    if size > most:
        more = suggested(size * share)
        raise ValueError(f"{what} would take {size:,} bytes, more than {most:,}; --limit {more} allows it")
    return size


def suggested(size: int) -> str:
    """Return a limit that is enough, as it is typed."""
    return f"{-(-size // (1 << 20))}MB"


def unpacked(data: bytes | memoryview, what: str, share: int = MAP) -> dict[str, Any]:
    """Return a msgpack map of not too many bytes, lists and maps in it; raises ValueError, or what msgpack raises."""
    allow(len(data), share, what)
    left = [Limit.bytes // OBJECT_BYTES]

    def counted(container: Any) -> Any:
        left[0] -= 1
        if left[0] < 0:
            raise ValueError(f"{what} holds more than {Limit.bytes // OBJECT_BYTES:,} lists and maps")
        return container

    found = msgpack.unpackb(data, strict_map_key=False, list_hook=counted, object_hook=counted)
    if not isinstance(found, dict):
        raise ValueError(f"{what} is not a map")
    return found
