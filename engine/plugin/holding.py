"""The arguments and the answer of a design's `holder`: whose access keeps its resource busy while it refuses others.

`holder(at, refused) -> Access | None` runs on the host, never compiled, over many refusals at once: it reads columns of the
recorded state, one row per cycle, and answers with NumPy arrays. rfview traces each register named to the instruction that
wrote it, or still reads it, and charges the refused warps' cycles to that. None: the default holds, the register
that the refusing bank serves.

    def holder(at, refused):                       # slow writes queue up in a ring; its oldest entry is being written
        if refused.name != "my_full":
            return None
        rows, head = refused.rows, at.rf("head")[refused.rows]
        return Access(at.rf("entry[*].warp")[rows, head], at.rf("entry[*].reg")[rows, head])
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol


class Access(NamedTuple):
    """The register accesses that resources are busy with. warp, reg: (k,) whole numbers, -1: as by default, for this one.

    reads: whether it is read from a collector (True, False or (k,) bool) or was written.
    """

    warp: Any
    reg: Any
    reads: Any = False


@dataclass(frozen=True)
class Refused:
    """Refusals of one kind with one reason. name: the stall's name. rows: (k,) rows of the columns.

    kind: "read", "late", "write", "freeze", "issue" or "leave", as in explaining.Refusal. warp, bank: (k,) of what was
    refused, -1 if it concerns none.
    """

    name: str
    kind: str
    rows: Any
    warp: Any
    bank: Any


class Columns(Protocol):
    """A stretch of cycles. ran: (rows,) the cycle whose effects each row shows."""

    ran: Any

    def rf(self, path: str) -> Any:
        """Return (rows, ...) values of a field of the design's own state, such as "tape[*].current"."""

    def sm(self, path: str) -> Any:
        """Return (rows, ...) values of a field of the machine's state, such as "bank[*].until_cycle"."""

    def last_write(self, rows: Any) -> Access:
        """Return the result that was accepted last, up to each row."""
