"""Who held up the warp-cycles of a stretch that were lost: the source lines that caused most, with what explains them."""

from __future__ import annotations

from dataclasses import dataclass

from rfview.sessions.lines.counts import count_instructions
from rfview.sessions.lines.report import LineCost, report_of
from rfview.sessions.lines.table import LineTable
from rfview.sessions.session import Session

MOST = 4
LEAST = 0.01                # of the warp-cycles of resident warps
FARTHEST = 1 << 16          # cycles that are counted here: about half a second; `lines` counts any stretch


@dataclass(frozen=True)
class Holder:
    """One line. place: "mm.cu:11" or "PTX line 72". waits, causes: lost warp-cycles, of who waits at it, and held up by it.

    resident: warp-cycles of resident warps, of which shares are. why: the metric that explains it, "16.0 cache lines per
    access, ideal 1.0"; "" if none does.
    """

    place: str
    waits: int
    causes: int
    resident: int
    why: str

    @property
    def text(self) -> str:
        """Return it in a sentence."""
        share = [f"{100 * count / max(1, self.resident):.1f} %" for count in (self.waits, self.causes)]
        return f"{self.place} waits {share[0]}, causes {share[1]}" + (f"; {self.why}" if self.why else "")


def holders(session: Session, first: int, last: int) -> tuple[Holder, ...] | None:
    """Return the lines that caused most of the lost warp-cycles of first..last-1; None if that is too long for here."""
    if last - first > FARTHEST:
        return None
    costs, resident = costs_of(session, first, last)
    worst = sorted(costs, key=lambda pair: -pair[1].causes)[:MOST]
    return tuple(holder(place, cost, resident) for place, cost in worst if cost.causes >= LEAST * resident)


def costs_of(session: Session, first: int, last: int) -> tuple[list[tuple[str, LineCost]], int]:
    """Return (place, cost) of each line, of the source or else of the PTX, and the resident warp-cycles."""
    timeline = session.timeline
    table = session.lines or LineTable(session.info, ptx=True)
    report = report_of(timeline, table, count_instructions(timeline, first, last, session.interrupted))
    return [(_place(session, cost), cost) for cost in report.lines], report.resident


def holder(place: str, cost: LineCost, resident: int) -> Holder:
    """Return a line's cost with what explains it."""
    return Holder(place, cost.waits, cost.causes, resident, _why(cost))


def _place(session: Session, cost: LineCost) -> str:
    if cost.line is None:
        return "code without a line"
    return cost.line.text if session.lines else f"{session.info.line_unit} {cost.line.line}"


def _why(cost: LineCost) -> str:
    """Return the metric that explains what a line holds up: what its accesses send, or refusals by the register file."""
    words = []
    if cost.sent is not None:
        ideal = f", ideal {cost.ideal:.1f}" if cost.ideal else ""
        words.append(f"{cost.sent:.1f} {cost.sends} per access{ideal}{', local memory' if cost.local else ''}")
    if cost.refused:
        words.append(f"{cost.refused:,} cycles in collectors refused an operand")
    return "; ".join(words)
