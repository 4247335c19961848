"""Where a forked session comes from: its parent, the cycle at which they part, and what was changed."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

REGISTER = re.compile(r"w(\d+)\.[rR](\d+)(?:\[(\d+)\])?\Z")


@dataclass(frozen=True)
class Change:
    """One change made by a branch: a parameter ("stt.write_cycles") or a register lane ("w3.R5[7]")."""

    name: str
    old: Any
    new: Any

    @property
    def text(self) -> str:
        """Return "stt.write_cycles 4 → 8"; registers in hexadecimal."""
        old, new = (f"{value:#x}" if REGISTER.match(self.name) else value for value in (self.old, self.new))
        return f"{self.name} {old} → {new}"


@dataclass(frozen=True)
class Branch:
    """Where a session comes from. parent: its name. cycle: where they part. changes: made at that cycle.

    command: the debugger command that makes it again, when given on the parent at that cycle; "" for an edited program.
    """

    name: str
    parent: str
    cycle: int
    changes: tuple[Change, ...]
    command: str

    @property
    def text(self) -> str:
        """Return the branch as one line."""
        what = ", ".join(change.text for change in self.changes) or "nothing changed"
        return f"{self.name}: from {self.parent} at cycle {self.cycle:,}, {what}"
