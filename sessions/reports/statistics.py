"""Statistics between two cycles of a run: IPC, states, accesses and energy, as numbers and as a table."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any

from rfview.engine.errors import InputError
from rfview.engine.plugin import assumed
from rfview.engine.wording import energy_unit, plural
from rfview.engine.stalls import NO_STALL, NO_WARP
from rfview.sessions.energy import assumed_of, counts_of, energy_at, energy_until, node_of
from rfview.sessions.reports.held import Holder, holders
from rfview.sessions.session import Session
from rfview.sessions.timeline.base import CycleProgress, Timeline, never

MW_PER_PJ_PER_US = 1e-3     # 1 pJ in 1 µs is 1 µW


@dataclass(frozen=True)
class Statistics:
    """Cycles first..last-1 of a run. states: warp-cycles by state. counts: events by name. energy_pj: by component.

    warp_cycles: warps x cycles, the sum that the states must have. ipc: warp instructions per cycle. power_mw: energy per
    time. energy_delay_js: energy x time in joule seconds. Energy is {} if the run's clock is not known. node_nm: the
    technology node of the energies, None if their source names none. energy_assumed: those that no source gives.
    holders: the source lines that caused most of the lost warp-cycles; None if they were not counted.
    """

    first: int
    last: int
    cycles: int
    microseconds: float
    instructions: int
    ipc: float
    warp_cycles: int
    states: dict[str, int]
    counts: dict[str, int]
    energy_pj: dict[str, float]
    power_mw: float
    energy_delay_js: float
    node_nm: int | None = None
    energy_assumed: tuple[str, ...] = ()
    holders: tuple[Holder, ...] | None = None

    @property
    def resident(self) -> int:
        """Return the warp-cycles of resident warps, of which shares of states are."""
        return self.warp_cycles - sum(self.states.get(name, 0) for name in NO_WARP)

    @property
    def is_balanced(self) -> bool:
        """Say whether each warp-cycle is counted in one state, and each energy component in the total."""
        parts = sum(value for name, value in self.energy_pj.items() if name != "total")
        total = self.energy_pj.get("total", 0.0)
        return sum(self.states.values()) == self.warp_cycles and abs(parts - total) <= 1e-9 * max(1.0, abs(total))

    def data(self) -> dict[str, Any]:
        """Return everything as JSON data."""
        return {**asdict(self), "resident_warp_cycles": self.resident, "balanced": self.is_balanced}


def stats(session: Session, first: int | str | None = None, last: int | str | None = None) -> Statistics:
    """Return IPC, states, accesses and energy of a session between two places (defaults: the start, the cursor).

    And who caused the lost warp-cycles, if the stretch is short enough to count that at once. Places are written as for
    `goto`, or as names of marks. Raises InputError for places outside the session.
    """
    timeline = session.timeline
    ends = [timeline.first if first is None else session.place(first),
            session.cycle if last is None else session.place(last)]
    for end in ends:
        timeline.require(end)
    counted = between(timeline, *ends, interrupted=session.interrupted)
    return replace(counted, holders=holders(session, counted.first, counted.last))


def between(timeline: Timeline, first: int, last: int, *,
            interrupted: CycleProgress = never) -> Statistics:
    """Return the statistics of cycles first..last-1, given in either order; raises InputError if outside the timeline.

    Only two states are read, however long the range is; `interrupted` is checked between them.
    """
    first, last = sorted((first, last))
    if first == last:
        raise InputError(f"stats: both ends are cycle {first:,}; name two different cycles, as in `stats start end`")
    info = timeline.info
    early = timeline.at(first)
    if interrupted(first):
        raise InputError("stats: interrupted")
    late = timeline.at(last)
    names = info.stall_names
    totals = (late.sm["stall_total"].astype("i8") - early.sm["stall_total"].astype("i8")).tolist()
    states = {names.get(code, f"state {code}"): total for code, total in enumerate(totals) if total}
    ends = [counts_of(info, snapshot.sm["events"].tolist(), snapshot.sm["access_wait"].tolist())
            for snapshot in (early, late)]
    counts = {name: int(ends[1][name]) - int(ends[0][name]) for name in ends[1]}
    energy: dict[str, float] = {}
    try:
        before, after = energy_at(early), energy_at(late)
        if before is not None and after is not None:
            energy = {name: after[name] - before[name] for name in after}
    except InputError:
        pass        # the design is not installed here; everything else is in the recording
    cycles = last - first
    micro = cycles / info.clock_mhz if info.clock_mhz else 0.0
    total = energy.get("total", 0.0)
    issued = states.get("issued", 0)
    return Statistics(
        first, last, cycles, micro, issued, issued / cycles, info.num_warps * cycles, states,
        {name: count for name, count in counts.items() if count}, energy,
        total / micro * MW_PER_PJ_PER_US if micro else 0.0, total * 1e-12 * micro * 1e-6, node_of(info), assumed_of(info),
    )


@dataclass(frozen=True)
class Brief:
    """The main statistics of cycles first..last-1, fast enough to follow the mouse pointer.

    most: (state, share) of the most frequent stall reason, None if no warp was stalled. energy_pj: by component and in
    total, {} if not known. energy_delay_js: its total x time, in joule seconds.
    """

    first: int
    last: int
    ipc: float
    most: tuple[str, float] | None
    energy_pj: dict[str, float]
    energy_delay_js: float

    @property
    def text(self) -> str:
        """Return them in one line: 1,200 to 1,800: 600 cycles, IPC 1.24, RF 0.41 µJ, EDP 3.5e-13 Js, wait 41%, .."""
        cycles = self.last - self.first
        parts = [f"{self.first:,} to {self.last:,}: {plural(cycles, 'cycle')}", f"IPC {self.ipc:.2f}"]
        total = self.energy_pj.get("total", 0.0)
        if total:
            unit, size = energy_unit(total)
            parts += [f"RF {total / size:,.4g} {unit}", f"EDP {self.energy_delay_js:.3g} Js"]
        if self.most is not None:
            parts.append(f"{self.most[0]} {self.most[1]:.0%}")
        parts += [f"{name} {value / total:.0%}" for name, value in self.energy_pj.items()
                  if name != "total" and 0 < value < total]
        return ", ".join(parts)


def brief(timeline: Timeline, first: int, last: int) -> Brief:
    """Return the main statistics of cycles first..last-1 (first < last, both in the timeline), from counters alone."""
    info = timeline.info
    totals = (timeline.stall_totals(last) - timeline.stall_totals(first)).tolist()
    names = info.stall_names
    cycles = last - first
    waits = [(count, names[code]) for code, count in enumerate(totals) if code in names and names[code] not in NO_STALL]
    most = max(waits, default=(0, ""))
    before, after = energy_until(timeline, first), energy_until(timeline, last)
    known = {name: after[name] - before[name] for name in after} if before is not None and after is not None else {}
    seconds = cycles / info.clock_mhz * 1e-6 if info.clock_mhz else 0.0
    empty = sum(totals[info.stall_codes[name]] for name in NO_WARP)
    share = most[0] / max(1, cycles * info.num_warps - empty)
    return Brief(first, last, totals[timeline.issued] / cycles, (most[1], share) if most[0] else None, known,
                 known.get("total", 0.0) * 1e-12 * seconds)


def as_text(part: Statistics) -> str:
    """Return statistics as lines of text."""
    lines = [f"cycles {part.first:,} to {part.last:,}: {plural(part.cycles, 'cycle')}, {part.microseconds:,.3f} µs",
             f"{plural(part.instructions, 'warp instruction')}, IPC {part.ipc:.3f}", ""]
    width = max(map(len, [*part.states, *part.counts, "energy"]), default=0) + 2
    lines.append(f"{'warp-cycles':<{width}}{part.warp_cycles:>15,}  {'balanced' if part.is_balanced else 'UNBALANCED'}; "
                 f"100 % = {part.resident:,} of resident warps")
    for name, value in sorted(part.states.items(), key=lambda item: -item[1]):
        share = "" if name in NO_WARP else f"  {value / max(1, part.resident):6.1%}"
        lines.append(f"  {name:<{width - 2}}{value:>15,}{share}")
    if part.holders is None:
        lines += ["", "who caused them: `lines` counts it; this stretch is too long to do so here"]
    elif part.holders:
        lines += ["", "caused by, of the warp-cycles of resident warps", *(f"  {one.text}" for one in part.holders)]
    lines += ["", f"{'events':<{width}}"]
    lines += [f"  {name:<{width - 2}}{value:>15,}  {value / part.cycles:8.3f} per cycle"
              for name, value in part.counts.items()]
    if part.energy_pj:
        node = f" at {part.node_nm} nm" if part.node_nm else ""
        node += f", {assumed.mark(part.energy_assumed)}" if part.energy_assumed else ""
        unit, size = energy_unit(part.energy_pj["total"])
        lines += ["", f"{'energy ' + unit:<{width}}{part.energy_pj['total'] / size:>15,.3f}  {part.power_mw:.2f} mW{node}, "
                  f"energy x delay {part.energy_delay_js:.3e} Js"]
        lines += [f"  {name:<{width - 2}}{value / size:>15,.3f}"
                  for name, value in part.energy_pj.items() if name != "total"]
    return "\n".join(lines)
