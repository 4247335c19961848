"""Follows a wrong value, from bits that eDRAM has lost or a register that held something else, to memory and outputs.

The run is simulated again from that cycle with the right values, and both runs are compared cycle by cycle: what differs
is exactly what the error reached, whichever instructions it passed through. The session's own run is the wrong one. Once
the error makes a warp take another path, the cycles no longer correspond; from there on only the results are compared.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from rfview.engine.errors import InputError
from rfview.engine.wording import plural
from rfview.sessions.expressions import compile_expression
from rfview.sessions.branches.arrivals import MAX_ARRIVALS, Arrival, Arrivals, mask_of
from rfview.sessions.branches.fork import machine_at, sorted_changes
from rfview.sessions.compare.values import elements
from rfview.sessions.timeline.live import LiveTimeline
from rfview.sessions.cursor import Stop
from rfview.sessions.session import Session
from rfview.sessions.timeline.base import CycleProgress, Timeline

LOWER = 0xFFFF


@dataclass(frozen=True)
class Output:
    """A buffer or symbol at the end. wrong: elements that differ, of `total`. largest: the largest relative error (inf for a
    right value of 0), None for integers."""

    name: str
    wrong: int
    total: int
    first: int
    largest: float | None


@dataclass(frozen=True)
class Flow:
    """What an error reached from cycle `begin` on. arrivals: chronological, at most MAX_ARRIVALS; num_arrivals: all.

    parted: the first cycle in which a warp does something else because of it; None: never. end: the last compared cycle.
    healed: register lanes and words that became right again. outputs: those that differ at the end.
    """

    begin: int
    what: str
    arrivals: tuple[Arrival, ...]
    num_arrivals: int
    healed: int
    parted: int | None
    end: int
    outputs: tuple[Output, ...]
    fault: str

    @property
    def first_store(self) -> Arrival | None:
        """Return the first wrong word of a buffer or symbol."""
        return next((arrival for arrival in self.arrivals if arrival.kind == "global"), None)

    def data(self) -> dict[str, Any]:
        """Return everything as JSON data."""
        store = self.first_store
        return {**asdict(self), "arrivals": [asdict(arrival) for arrival in self.arrivals],
                "outputs": [{**asdict(one), "largest": None if one.largest is None else str(one.largest)}
                            for one in self.outputs],
                "first_store": asdict(store) if store is not None else None}


def lost_bits(session: Session) -> tuple[int, dict[str, int], list[Arrival]]:
    """Return (cycle that shows the last loss at or before the cursor, the right values as changes of `fork`, the losses).

    Raises InputError if the design cannot lose bits, or if none have been lost by then.
    """
    timeline = session.timeline
    if "bits_lost" not in timeline.info.design_events:
        raise InputError(f"follow: {timeline.info.design} loses no bits; `follow w3.R5[7]=0x10` shows where another "
                         "value of a register would go")
    lost = compile_expression("event.bits_lost", timeline)
    cycle = session.cycle
    while cycle > timeline.first:
        if session.interrupted(cycle):
            raise InputError(f"follow: stopped at cycle {cycle:,} while looking for the last lost bit")
        low = max(timeline.first, timeline.window(cycle)[0] - 1)
        values = lost.column(low, cycle + 1)
        steps = np.flatnonzero(np.diff(values))
        if steps.size:
            cycle = low + int(steps[-1]) + 1
            break
        cycle = low
    if cycle <= timeline.first:
        raise InputError(f"follow: no bit is lost up to cycle {session.cycle:,}; `next event.bits_lost` finds the next")
    before, after = timeline.at(cycle - 1), timeline.at(cycle)
    registers = int(after.sm["launch"]["registers"])
    struck = np.flatnonzero(np.unpackbits(after.rf["struck"].view(np.uint8), bitorder="little"))
    right: dict[str, int] = {}
    losses = []
    for row in struck.tolist():
        old, new = before.rows[row], after.rows[row]
        # a row written in the cycle of the tick had another value before: its losses cannot be distinguished from the write
        lanes = np.flatnonzero((old != new) & ((old ^ new) & ~np.uint32(LOWER) == 0))
        place = f"w{row // registers}.R{row % registers}"
        right |= {f"{place}[{lane}]": int(old[lane]) for lane in lanes.tolist()}
        if lanes.size:
            lane = int(lanes[0])
            losses.append(Arrival(cycle, "lost", place, mask_of(lanes), int(new[lane]), int(old[lane]), None))
    if not losses:
        raise InputError(f"follow: the bits lost in cycle {cycle - 1:,} are in rows written in the same cycle")
    return cycle, right, losses


def follow(session: Session, changes: Mapping[str, Any] | None = None) -> Flow:
    """Follow the bits lost last at or before the cursor; with `changes`, follow other register values instead.

    changes: as for `fork`, registers only, at the cursor. Runs both to their ends. Raises InputError like `lost_bits` and
    `fork`, and when session.progress asks to stop.
    """
    if changes:
        cycle, what = session.cycle, ", ".join(f"{key}={value}" for key, value in changes.items())
        right: dict[str, Any] = dict(changes)
        losses: list[Arrival] = []
    else:
        cycle, right, losses = lost_bits(session)
        count = sum(loss.lanes.bit_count() for loss in losses)
        what = f"bits lost in {plural(count, 'lane')} of {plural(len(losses), 'register')}"
    timeline = session.timeline
    settings, pokes = sorted_changes(timeline.info, right)
    if settings:
        raise InputError("follow: only registers can be followed; `fork` changes parameters")
    machine, _ = machine_at(timeline, cycle, {}, session.progress, session.compiling)
    for warp, reg, lanes, value in pokes:
        for lane in lanes:
            machine.poke(warp, reg, lane, value)
    twin = LiveTimeline(machine)
    for one in (timeline, twin):
        one.run_to_end(session.progress, "follow")
    parted = _parting(timeline, twin, cycle, session.progress)
    spread = Arrivals(timeline, twin, cycle, parted, session.progress)
    arrivals = [*losses, *spread.noted]
    faults = [text for text in (timeline.fault, twin.fault) if text]
    return Flow(cycle, what, tuple(arrivals[:MAX_ARRIVALS]), len(losses) + spread.count, spread.healed, parted,
                spread.end, tuple(_outputs(timeline, twin)), faults[0] if faults else "")


def _parting(timeline: Timeline, twin: Timeline, begin: int, progress: CycleProgress | None) -> int | None:
    """Return the first cycle that shows a warp in another state or at another instruction; None if there is none."""
    cycle, end = begin, min(timeline.last, twin.last)
    while cycle <= end:
        if progress is not None and progress(cycle):
            raise InputError(f"follow: stopped at cycle {cycle:,}")
        stop = min(end + 1, timeline.window(cycle)[1], twin.window(cycle)[1])
        differs = np.zeros(stop - cycle, bool)
        for path in ("sm.warp[*].state", "sm.warp[*].pc"):
            differs |= (timeline.column(path, cycle, stop) != twin.column(path, cycle, stop)).any(axis=1)
        if differs.any():
            return cycle + int(np.argmax(differs))
        cycle = stop
    return None if timeline.last == twin.last else end


def _outputs(timeline: Timeline, twin: Timeline) -> list[Output]:
    """Return the buffers and symbols that differ at both ends."""
    ours, theirs = timeline.at(timeline.last).memory, twin.at(twin.last).memory
    out = []
    for variable in timeline.info.variables:
        count = variable.count
        here, right = (elements(memory, variable, count) for memory in (ours, theirs))
        bytes_differ = (here.view(np.uint8) != right.view(np.uint8)).reshape(count, -1).any(axis=1)
        wrong = np.flatnonzero(bytes_differ)
        if wrong.size:
            largest = None
            if here.dtype.kind == "f":
                with np.errstate(all="ignore"):
                    error = np.abs((here[wrong].astype("f8") - right[wrong]) / right[wrong].astype("f8"))
                largest = float(np.nanmax(error)) if not np.isnan(error).all() else float("inf")
            out.append(Output(variable.name, int(wrong.size), count, int(wrong[0]), largest))
    return out


def goto(session: Session, flow: Flow, which: str) -> Stop:
    """Go to the next or previous arrival of a flow, or to its first wrong store; if there is none, stay and say so."""
    cycles = [arrival.cycle for arrival in flow.arrivals]
    store = flow.first_store
    if which == "store":
        cycle = store.cycle if store is not None else None
        missing = "the error reaches no buffer"
    else:
        beyond = [cycle for cycle in cycles if (cycle > session.cycle if which == "next" else cycle < session.cycle)]
        cycle = (min(beyond) if which == "next" else max(beyond)) if beyond else None
        missing = f"the error reaches nothing {'later' if which == 'next' else 'earlier'}"
    if cycle is None:
        return Stop(session.cycle, "not found", missing)
    here = [arrival.text for arrival in flow.arrivals if arrival.cycle == cycle]
    stop = session.goto(cycle)
    more = f" and {len(here) - 1} more" if len(here) > 1 else ""
    return Stop(stop.cycle, stop.reason, f"cycle {cycle:,}: {here[0]}{more}")
