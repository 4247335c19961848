"""Event counts of a run by name, and the energy computed from them by the design's own table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from rfview.engine import plugin as designs
from rfview.engine.errors import InputError
from rfview.engine.plugin import assumed, nodes, origin
from rfview.engine.snapshot import Snapshot

if TYPE_CHECKING:
    from rfview.engine.info import RunInfo
    from rfview.sessions.timeline.base import Timeline


def counts_of(info: RunInfo, events: Any, access_wait: Any) -> dict[str, Any]:
    """Return every count by name; events, access_wait: sm.events and sm.access_wait, one cycle's or columns (.., n)."""
    counts = {name: events[index] for index, name in info.event_names.items()}
    for code, name in info.stall_names.items():
        if code < len(access_wait):
            counts[f"{name}_wait_cycles"] = access_wait[code]
    return counts


def energy_of(info: RunInfo, counts: Mapping[str, Any], cycles: Any) -> dict[str, Any] | None:
    """Return {"dynamic", "leakage", "refresh", "total"} in pJ after `cycles` cycles; None if no clock was recorded.

    Raises InputError when the run's design is not installed here.
    """
    if not info.clock_mhz:
        return None
    spec = info.design_spec
    origin.require(spec, "the energy")
    run = designs.Run(counts, cycles, info.clock_mhz, spec.values, info.preset,
                      info.parameters)
    return designs.energy(tuple(spec.chain), run)


def node_of(info: RunInfo) -> int | None:
    """Return the technology node of a run's energies in nm, None if unknown."""
    spec = info.design_spec
    try:
        return nodes.node_nm(spec.chain, spec.values, info.preset)
    except InputError:
        return None     # its design is not installed here, so its energy is unknown as well


def assumed_of(info: RunInfo) -> tuple[str, ...]:
    """Return which energies of a run are assumed, not from a source; () if its design is not installed here."""
    try:
        return assumed.assumed_entries(info.design_spec.chain, str(info.parameters.get("sm.core", "collector")))
    except InputError:
        return ()


def energy_at(snapshot: Snapshot) -> dict[str, float] | None:
    """Return the energy in pJ that the register file has used up to a snapshot's cycle."""
    sm = snapshot.sm
    return energy_of(snapshot.info, counts_of(snapshot.info, sm["events"].tolist(), sm["access_wait"].tolist()),
                     snapshot.cycle)


def energy_until(timeline: Timeline, cycle: int) -> dict[str, float] | None:
    """Return the energy in pJ used up to a cycle, from counters alone; None if the clock or the design is not known here."""
    columns = [timeline.column(f"sm.{name}[*]", cycle, cycle + 1)[0].tolist() for name in ("events", "access_wait")]
    try:
        return energy_of(timeline.info, counts_of(timeline.info, *columns), cycle)
    except InputError:
        return None
