"""A cache bounded by the size of its entries in bytes."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable
from typing import Generic, TypeVar

Value = TypeVar("Value")


class ByteCache(Generic[Value]):
    """A least-recently-used cache bounded by the size of its entries in bytes; the newest entry always stays."""

    def __init__(self, limit_bytes: int):
        self.limit_bytes = limit_bytes
        self.num_bytes = 0
        self._entries: OrderedDict[Hashable, tuple[Value, int]] = OrderedDict()

    def get(self, key: Hashable) -> Value | None:
        """Return the entry and mark it as used, or None."""
        entry = self._entries.get(key)
        if entry is None:
            return None
        self._entries.move_to_end(key)
        return entry[0]

    def put(self, key: Hashable, value: Value, num_bytes: int) -> Value:
        """Store an entry, dropping the ones used longest ago while the limit is exceeded."""
        self.drop(key)
        self._entries[key] = (value, num_bytes)
        self.num_bytes += num_bytes
        while self.num_bytes > self.limit_bytes and len(self._entries) > 1:
            self.num_bytes -= self._entries.popitem(last=False)[1][1]
        return value

    def drop(self, key: Hashable) -> None:
        """Forget an entry if it is there."""
        entry = self._entries.pop(key, None)
        if entry is not None:
            self.num_bytes -= entry[1]

    def clear(self) -> None:
        """Forget all entries."""
        self._entries.clear()
        self.num_bytes = 0

    def keys(self) -> list[Hashable]:
        """Return the keys, used longest ago first."""
        return list(self._entries)
