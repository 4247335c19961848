"""The cost of each source line as a text table and as data: issued, stalled by reason, register traffic."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from rfview.engine.errors import InputError
from rfview.engine.escapes import visible
from rfview.engine.wording import plural
from rfview.sessions.lines.counts import Counts, by_line, count_instructions
from rfview.sessions.lines.table import NO_LINES, LineTable, SourceLine
from rfview.sessions.session import Session
from rfview.sessions.timeline.base import Timeline

MAX_REASONS = 3
SOURCE_COLUMNS = 72
BAR = 8


@dataclass(frozen=True)
class LineCost:
    """One line. line: None for instructions whose line is not known. stalled: warp-cycles by the name of the reason.

    pcs: how many instructions of the program belong to it. share: of all warp-cycles of resident warps.
    """

    line: SourceLine | None
    source: str
    pcs: int
    issued: int
    stalled: dict[str, int]
    reads: int
    writes: int
    share: float

    @property
    def cycles(self) -> int:
        """All warp-cycles: issued and stalled."""
        return self.issued + sum(self.stalled.values())

    def data(self) -> dict[str, Any]:
        """Return the line as JSON data."""
        return {"file": self.line.path if self.line else None, "line": self.line.line if self.line else None,
                "source": self.source, "instructions": self.pcs, "issued": self.issued, "stalled": self.stalled,
                "register_reads": self.reads, "register_writes": self.writes, "share": self.share}


@dataclass(frozen=True)
class LineReport:
    """Cycles first..last-1 by line. lines: in order of file and line, the one without a known line last.

    nobody: warp-cycles of slots without a warp, or whose warp has ended, by state: the rest of all warp-cycles.
    """

    first: int
    last: int
    lines: tuple[LineCost, ...]
    nobody: dict[str, int]

    def data(self) -> dict[str, Any]:
        """Return everything as JSON data."""
        return {"first": self.first, "last": self.last, "lines": [line.data() for line in self.lines], "nobody": self.nobody}


def report_of(timeline: Timeline, table: LineTable, counts: Counts) -> LineReport:
    """Return the cost of each line, from counts by instruction."""
    names = timeline.info.stall_names
    lines = by_line(counts, table)
    sizes = np.bincount(np.where(table.of_pc < 0, len(table.lines), table.of_pc), minlength=len(table.lines) + 1)
    whole = max(1, int(counts.states[:-1].sum()))

    def waits(row: np.ndarray) -> dict[str, int]:
        return {names.get(code, f"state {code}"): int(row[code])
                for code in np.argsort(-row, kind="stable").tolist() if row[code] and code != timeline.issued}

    costs = []
    for number in range(len(table.lines) + 1):
        line = table.lines[number] if number < len(table.lines) else None
        row = lines.states[number]
        if line is None and not sizes[number]:
            continue
        text = table.source(line) if line is not None else None
        costs.append(LineCost(line, visible((text or "").expandtabs(4)), int(sizes[number]),
                              int(row[timeline.issued]), waits(row), int(lines.reads[number]),
                              int(lines.writes[number]), int(row.sum()) / whole))
    return LineReport(counts.first, counts.last, tuple(costs), waits(lines.states[-1]))


def line_report(session: Session, first: int | str | None = None, last: int | str | None = None, *,
                ptx: bool = False) -> LineReport:
    """Return the cost of each source line between two places (defaults: the start, the cursor).

    ptx: by lines of the PTX instead of its source. Raises InputError if the PTX has no line information, or for places
    outside the session.
    """
    timeline = session.timeline
    table = LineTable(session.info, ptx=True) if ptx else session.lines
    if not table:
        raise InputError(f"lines: {NO_LINES}")
    ends = sorted((timeline.first if first is None else session.place(first),
                   session.cycle if last is None else session.place(last)))
    for end in ends:
        timeline.require(end)
    if ends[0] == ends[1]:
        raise InputError(f"lines: both ends are cycle {ends[0]:,}; name two different cycles, as in `lines start end`")
    return report_of(timeline, table, count_instructions(timeline, ends[0], ends[1], session.interrupted))


def as_text(report: LineReport) -> str:
    """Return the report as lines of text: a block per file, a row per line, the most frequent reasons by name."""
    total = sum(line.cycles for line in report.lines)
    lines = [f"cycles {report.first:,} to {report.last:,}: {total:,} warp-cycles of warps that could run, "
             f"{plural(sum(line.issued for line in report.lines), 'instruction')} issued"]
    top = max((line.share for line in report.lines), default=0.0)
    path: str | None = None
    for line in report.lines:
        here = line.line.path if line.line is not None else ""
        if here != path:
            path = here
            lines += ["", visible(here) if here else "without a source line", _row("line", "share", "", "issued", "stalled",
                                                                                 "reads", "writes", "mostly", "source")]
        reasons = ", ".join(f"{name} {count / max(1, line.cycles):.0%}"
                            for name, count in list(line.stalled.items())[:MAX_REASONS - 1])
        filled = round(line.share / top * BAR) if top else 0
        lines.append(_row(str(line.line.line) if line.line is not None else "-", f"{line.share:.1%}", "#" * filled,
                          f"{line.issued:,}", f"{line.cycles - line.issued:,}", f"{line.reads:,}", f"{line.writes:,}",
                          reasons, line.source[:SOURCE_COLUMNS]))
    return "\n".join(lines)


def _row(line: str, share: str, heat: str, issued: str, stalled: str, reads: str, writes: str, mostly: str,
         source: str) -> str:
    return (f"{line:>6} {share:>7} {heat:<{BAR}} {issued:>10} {stalled:>12} {reads:>10} {writes:>10}  {mostly:<36}  "
            f"{source}").rstrip()


def hottest(report: LineReport, count: int) -> list[LineCost]:
    """Return the most expensive lines, in descending order."""
    return sorted(report.lines, key=lambda line: -line.cycles)[:count]
