"""Runs the checker on each of a program's launches and collects the defects, each once however many launches show it.

Launches never race with each other here: earlier ones have completed. Which bytes of device memory were written is known
from launch to launch.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from rfview.capture.launches import Entry
from rfview.engine.check.findings import OF_CODE, Finding
from rfview.engine.wording import numbered, plural

CAPACITY = 1 << 30      # bytes of device memory: the checker can just number the records of twice as much
MOST = 4096             # defects kept


@dataclass
class Defect:
    """A finding in the first launch that showed it; launches: how many did."""

    entry: Entry
    finding: Finding
    launches: int = 1

    def as_text(self) -> str:
        """Return a few lines of text for people."""
        more = f", and {self.launches - 1:,} more" if self.launches > 1 else ""
        first, *rest = self.finding.as_text().splitlines()
        return "\n".join([first, f"  launch {self.entry.number:,} {self.entry.label}{more}", *rest])

    def as_dict(self) -> dict[str, Any]:
        """Return it as JSON data; `launch` is the number in the program; the other fields refer to that launch."""
        return {**asdict(self.finding), "launch": self.entry.number, "nth": self.entry.nth, "launches": self.launches}


class Checked:
    """The defects found in a program's launches; pass it to Device as `ran`, with a kind of simulator that checks."""

    def __init__(self) -> None:
        self._defects: dict[tuple[Any, ...], Defect] = {}
        self.more = False
        self.ran = self.of_code = 0

    def __call__(self, entry: Entry, machine: Any) -> None:
        """Add the findings of a launch that has run; machine: it checks."""
        self.ran += 1
        found = machine.findings()
        machine.release()
        self.more = self.more or found.more
        self.of_code += found.paths > 0
        for one in found.found:
            key = (one.kernel, one.kind, one.pc, one.other_pc)
            if key in self._defects:
                known = self._defects[key]
                known.launches += known.entry is not entry
            elif len(self._defects) < MOST:
                self._defects[key] = Defect(entry, one)
            else:
                self.more = True

    @property
    def defects(self) -> list[Defect]:
        """Return the defects, ordered by launch and cycle."""
        return list(self._defects.values())

    def text(self, shown: Sequence[Defect], launches: int, length: str) -> str:
        """Return defects as numbered text for people. launches, length: the program's, the latter as text."""
        idle = launches - self.ran
        alone = f" (machine code: {OF_CODE})" if self.of_code else ""
        return (f"{numbered([one.as_text() for one in shown], self.more)} in "
                f"{plural(self.ran, 'launch')}, {length}{alone}" + (f"; {idle:,} did not run" if idle else ""))
