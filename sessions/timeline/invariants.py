"""Double-entry bookkeeping of a run: every warp-cycle in exactly one state, every picojoule in exactly one component."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from rfview.engine.errors import InputError
from rfview.engine.snapshot import Snapshot
from rfview.sessions.energy import counts_of, energy_at, energy_of
from rfview.sessions.timeline.base import Timeline

if TYPE_CHECKING:
    from rfview.engine.info import RunInfo

TOLERANCE = 1e-9        # relative error that adding floats in another order may cause


def problems(snapshot: Snapshot) -> tuple[str, ...]:
    """Return what does not add up at a cycle, a sentence each; () if everything does.

    Each warp slot is in one state now; the states' totals are warps x cycles; each component of the energy is a
    finite amount that is not negative, and together they make the total.
    """
    sm, warps = snapshot.sm, snapshot.info.num_warps
    broken = []
    now, total = int(sm["state_count"].sum()), int(sm["stall_total"].sum())
    if now != warps:
        broken.append(f"{now} of {warps} warp slots are in a state")
    if total != warps * snapshot.cycle:
        broken.append(f"the states' totals are {total:,} warp-cycles, not {warps} x {snapshot.cycle:,}")
    try:
        energy = energy_at(snapshot)
    except InputError:
        return tuple(broken)     # the run's design is not installed: there is no energy to check
    if energy is not None and not _sums_up(energy):
        shown = ", ".join(f"{name} {value:,.1f}" for name, value in energy.items())
        broken.append(f"the energy does not balance: {shown} pJ")
    return tuple(broken)


def _sums_up(energy: Mapping[str, float]) -> bool:
    parts = [value for name, value in energy.items() if name != "total"]
    if not all(math.isfinite(value) and value >= 0 for value in parts):
        return False
    return abs(sum(parts) - energy["total"]) <= TOLERANCE * max(1.0, energy["total"])


def unbalanced(timeline: Timeline, start: int, stop: int) -> np.ndarray:
    """Return (stop - start,) bool: at which of the cycles start..stop-1 something does not add up."""
    info, warps = timeline.info, timeline.info.num_warps
    cycles = np.arange(start, stop, dtype=np.int64)
    bad = timeline.column("sm.state_count[*]", start, stop).astype(np.int64).sum(axis=1) != warps
    bad |= timeline.column("sm.stall_total[*]", start, stop).astype(np.int64).sum(axis=1) != warps * cycles
    events = timeline.column("sm.events[*]", start, stop).T
    waits = timeline.column("sm.access_wait[*]", start, stop).T
    try:
        return bad | ~_energy_sums(info, events, waits, cycles)
    except InputError:
        return bad      # the design is not installed here


def _energy_sums(info: RunInfo, events: np.ndarray, waits: np.ndarray, cycles: np.ndarray) -> np.ndarray:
    """Return (n,) bool: where the energy adds up. events, waits: (counters, n)."""
    try:
        energy = energy_of(info, counts_of(info, events, waits), cycles)
    except ValueError:
        # a design whose energy branches on a count is computed one cycle at a time
        single = [energy_of(info, counts_of(info, events[:, i].tolist(), waits[:, i].tolist()), int(cycle))
                  for i, cycle in enumerate(cycles)]
        return np.array([energy is None or _sums_up(energy) for energy in single], bool)
    if energy is None:
        return np.ones(len(cycles), bool)
    parts = [np.broadcast_to(value, cycles.shape) for name, value in energy.items() if name != "total"]
    fine = np.all([np.isfinite(part) & (part >= 0) for part in parts], axis=0)
    total = np.broadcast_to(energy["total"], cycles.shape)
    return fine & (np.abs(np.sum(parts, axis=0) - total) <= TOLERANCE * np.maximum(1.0, total))
