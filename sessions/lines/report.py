"""Each source line's cost as a text table and as data: what it waits, what waiting it causes, and its accesses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from rfview.engine.errors import InputError
from rfview.engine.escapes import visible
from rfview.engine.stalls import NO_STALL
from rfview.sessions.lines.counts import Counts, by_line, count_instructions
from rfview.sessions.lines.table import NO_LINES, LineTable, SourceLine
from rfview.sessions.session import Session
from rfview.sessions.timeline.base import Timeline

MAX_PAIRS = 3
LEAST_SHARE = 0.01      # of the resident warp-cycles: what is smaller gets no sentence
SOURCE_COLUMNS = 72
BAR = 8


@dataclass(frozen=True)
class Held:
    """Lost warp-cycles of a line with one holder. line: the holder's, None if unknown. nobody: no instruction holds them."""

    line: SourceLine | None
    state: str
    count: int
    nobody: bool

    def data(self) -> dict[str, Any]:
        """Return it as JSON data."""
        return {"file": self.line.path if self.line else None, "line": self.line.line if self.line else None,
                "nobody": self.nobody, "state": self.state, "warp_cycles": self.count}


@dataclass(frozen=True)
class LineCost:
    """One line. line: None for instructions whose line is not known. stalled: warp-cycles by the name of the reason.

    pcs: how many instructions of the program belong to it. share: of all warp-cycles of resident warps. waits: of these, the
    lost ones; causes: the lost warp-cycles that it holds up, whoever waits: both sum to the same over all lines and nobody.
    held_by: who holds up its waits, the most first. accesses: begun in LD/ST; sent, ideal: cache lines or shared-memory
    passes per access, and the fewest for the bytes asked for; None without an access, ideal 0 if unknown. sends: "cache
    lines" or "passes". refused: cycles that its instructions waited in collectors because the register file refused an
    operand. local: whether it accesses local memory, where spilled registers go.
    """

    line: SourceLine | None
    source: str
    pcs: int
    issued: int
    stalled: dict[str, int]
    reads: int
    writes: int
    share: float
    waits: int
    causes: int
    held_by: tuple[Held, ...]
    accesses: int
    sent: float | None
    ideal: float | None
    sends: str
    refused: int
    local: bool

    @property
    def cycles(self) -> int:
        """All warp-cycles: issued and stalled."""
        return self.issued + sum(self.stalled.values())

    def data(self) -> dict[str, Any]:
        """Return the line as JSON data."""
        return {"file": self.line.path if self.line else None, "line": self.line.line if self.line else None,
                "source": self.source, "instructions": self.pcs, "issued": self.issued, "stalled": self.stalled,
                "register_reads": self.reads, "register_writes": self.writes, "share": self.share,
                "waits": self.waits, "causes": self.causes, "accesses": self.accesses, "sends": self.sends,
                "sent_per_access": self.sent, "ideal_per_access": self.ideal, "operands_refused": self.refused,
                "local_memory": self.local,
                "held_by": [held.data() for held in self.held_by]}


@dataclass(frozen=True)
class LineReport:
    """Cycles first..last-1 by line. lines: in order of file and line, the one without a known line last.

    nobody: warp-cycles of slots without a warp, or whose warp has ended, by state: the rest of all warp-cycles. unheld: lost
    warp-cycles that no instruction holds up, by state. resident: all warp-cycles of resident warps, of which shares are.
    """

    first: int
    last: int
    lines: tuple[LineCost, ...]
    nobody: dict[str, int]
    unheld: dict[str, int]
    resident: int

    def data(self) -> dict[str, Any]:
        """Return everything as JSON data."""
        return {"first": self.first, "last": self.last, "resident_warp_cycles": self.resident,
                "lines": [line.data() for line in self.lines], "nobody": self.nobody, "held_by_nobody": self.unheld}


def report_of(timeline: Timeline, table: LineTable, counts: Counts) -> LineReport:
    """Return the cost of each line, from counts by instruction."""
    names = timeline.info.stall_names
    lines = by_line(counts, table)
    sizes = np.bincount(np.where(table.of_pc < 0, len(table.lines), table.of_pc), minlength=len(table.lines) + 1)
    whole = max(1, int(counts.states[:-1].sum()))

    def waits(row: np.ndarray) -> dict[str, int]:
        return {names.get(code, f"state {code}"): int(row[code])
                for code in np.argsort(-row, kind="stable").tolist() if row[code] and code != timeline.issued}

    causes, local = lines.causes, local_lines(timeline, table)
    waited, caused = causes.waits, causes.caused

    def held(number: int) -> tuple[Held, ...]:
        return tuple(Held(table.lines[holder] if holder < len(table.lines) else None, names.get(code, f"state {code}"),
                          count, holder == causes.size) for count, code, holder in causes.holders_of(number))

    costs = []
    for number in range(len(table.lines) + 1):
        line = table.lines[number] if number < len(table.lines) else None
        row = lines.states[number]
        if line is None and not sizes[number]:
            continue
        text = table.source(line) if line is not None else None
        sent, ideal = causes.metrics.per_access(number) or (None, None)
        costs.append(LineCost(line, visible((text or "").expandtabs(4)), int(sizes[number]),
                              int(row[timeline.issued]), waits(row), int(lines.reads[number]),
                              int(lines.writes[number]), int(row.sum()) / whole, int(waited[number]), int(caused[number]),
                              held(number), int(causes.metrics.accesses[number] + causes.metrics.shared[number]),
                              sent, ideal,
                              "passes" if causes.metrics.is_shared(number) else "cache lines",
                              int(causes.metrics.refused[number]), bool(local[number])))
    unheld = {names.get(code, f"state {code}"): count for count, code, _ in _by_state(causes.waiters_of(causes.size))}
    resident = int(counts.states[:-1].sum())
    return LineReport(counts.first, counts.last, tuple(costs), waits(lines.states[-1]), unheld, resident)


def _by_state(rows: list[tuple[int, int, int]]) -> list[tuple[int, int, int]]:
    """Return (count, state, 0) of a holder's or waiter's rows, summed by state, the most first."""
    sums: dict[int, int] = {}
    for count, code, _ in rows:
        sums[code] = sums.get(code, 0) + count
    return sorted(((count, code, 0) for code, count in sums.items()), key=lambda row: (-row[0], row[1]))


def local_lines(timeline: Timeline, table: LineTable) -> np.ndarray:
    """Return (lines + 1,) bool: which lines access local memory, where registers are spilled."""
    found = np.zeros(len(table.lines) + 1, bool)
    for entry, number in zip(timeline.info.program, table.of_pc.tolist(), strict=True):
        if entry.space == "local":
            found[number] = True        # NO_LINE is the last place
    return found


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
    """Return the report as lines of text: a block per file, a row per line; then who waits most for whom."""
    resident = max(1, report.resident)
    lost = sum(line.waits for line in report.lines)
    lines = [f"cycles {report.first:,} to {report.last:,}: 100 % = {report.resident:,} warp-cycles of resident warps, "
             f"{sum(line.issued for line in report.lines) / resident:.1%} issued, {lost / resident:.1%} lost"]
    top = max((line.causes for line in report.lines), default=0)
    path: str | None = None
    for line in report.lines:
        here = line.line.path if line.line is not None else ""
        if here != path:
            path = here
            lines += ["", visible(here) if here else "without a source line",
                      _row("line", "waits", "mostly", "causes", "", "per access", "ideal", "refused", "source")]
        state, count = next(iter(_lost(line).items()), ("", 0))
        mostly = f"{state} {count / max(1, line.waits):.0%}" if count else ""
        lines.append(_row(str(line.line.line) if line.line is not None else "-", f"{line.waits / resident:.1%}", mostly,
                          f"{line.causes / resident:.1%}", "#" * (round(line.causes / top * BAR) if top else 0),
                          *access_words(line), f"{line.refused:,}" if line.refused else "", line.source[:SOURCE_COLUMNS]))
    unheld = sum(report.unheld.values())
    if unheld:
        lines += ["", f"held up by no instruction: {unheld / resident:.1%} ("
                  + ", ".join(f"{name} {count / resident:.1%}" for name, count in report.unheld.items()) + ")"]
    return "\n".join([*lines, *who_waits(report)])


def _lost(line: LineCost) -> dict[str, int]:
    """Return a line's lost warp-cycles by state, the most first."""
    return {name: count for name, count in line.stalled.items() if name not in NO_STALL}


def access_words(line: LineCost) -> tuple[str, str]:
    """Return how many cache lines or passes an access of a line takes, and the ideal, as text; "" without an access."""
    if line.sent is None:
        return "", ""
    word = "passes" if line.sends == "passes" else "spilled" if line.local else "cache lines"
    return f"{line.sent:.1f} {word}", f"{line.ideal:.1f}" if line.ideal else "?"


def who_waits(report: LineReport) -> list[str]:
    """Return sentences about the lines that lose most warp-cycles to another line."""
    pairs = sorted(((line.line, line.waits, held.line, held) for line in report.lines for held in line.held_by
                    if line.line is not None and held.line is not None and held.line != line.line),
                   key=lambda pair: (-pair[3].count, pair[0]))
    return [f"{line.text} waits for {holder.text} in {held.count / max(1, waits):.0%} of its lost warp-cycles ({held.state})"
            for line, waits, holder, held in pairs[:MAX_PAIRS] if held.count >= LEAST_SHARE * report.resident]


def _row(line: str, waits: str, mostly: str, causes: str, bar: str, sent: str, ideal: str, refused: str, source: str) -> str:
    figures = f"{line:>6} {waits:>7} {mostly:<22} {causes:>7} {bar:<{BAR}} {sent:>16} {ideal:>6} {refused:>9}"
    return f"{figures}  {source}".rstrip()


def hottest(report: LineReport, count: int) -> list[LineCost]:
    """Return the lines that hold up most warp-cycles, in descending order."""
    return sorted(report.lines, key=lambda line: -line.causes)[:count]
