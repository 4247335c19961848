"""The energy of a run: events times energy per event, and power times cycles; or as computed by a design's file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from rfview.engine import defaults
from rfview.engine.plugin import host_functions as host
from rfview.engine.plugin.description import Design
from rfview.engine.plugin.finding import find
from rfview.engine.errors import InputError

PARTS = ("dynamic", "leakage", "refresh")


@dataclass(frozen=True)
class Run:
    """The input for computing energy: event counts by name, cycles, clock, the design's parameters, and the machine's.

    counts, cycles: numbers at one cycle, or arrays over cycles. values: "NAME.key" for the designs of the run.
    machine: its numbers in use, such as "sm.num_banks" (engine/presets). main: the energy of the main file that the design
    is built over, {} without one.
    """

    counts: Mapping[str, int]
    cycles: int
    clock_mhz: float
    values: Mapping[str, Any]
    preset: str = defaults.PRESET
    machine: Mapping[str, Any] = field(default_factory=dict)
    main: Mapping[str, float] = field(default_factory=dict)

    def leakage_pj(self, milliwatts: float) -> float:
        """Return the energy of a constant power over the run."""
        return milliwatts * 1e3 * self.cycles / self.clock_mhz


def lanes_share(counts: Mapping[str, Any], machine: Mapping[str, Any]) -> Any:
    """Return the share of a whole row's energy that an access costs, by the machine's energy.lanes (RULES B8.1).

    1 for "all"; for "active" the mean share of a warp's lanes that executed the instructions issued so far.
    """
    if machine.get("energy.lanes", "all") != "active":
        return 1.0
    issued = np.asarray(counts.get("instructions", 0))
    return np.where(issued == 0, 1.0, counts.get("thread_instructions", 0) / np.maximum(32 * issued, 1))[()]


def table_energy(design: Design, run: Run) -> dict[str, float]:
    """Return dynamic, leakage and refresh energy in pJ: counts x energy_pj, and cycles x technology["leakage_mw"]."""
    dynamic = sum(run.counts.get(name, 0) * pj for name, (pj, _) in (design.energy_pj or {}).items())
    leakage = run.leakage_pj((design.technology or {}).get("leakage_mw", (0.0, "mW", ""))[0])
    return {"dynamic": dynamic, "leakage": leakage, "refresh": 0.0}


def energy(chain: tuple[str, ...], run: Run) -> dict[str, float]:
    """Return the energy of a run under the outermost design of a chain, with the total.

    Where the machine's energy.lanes is "active", accesses cost energy for the lanes that execute alone: dynamic energy is
    that of whole rows times their mean share of a warp (RULES B8.1).
    """
    parts = whole_rows(chain, run)
    parts["dynamic"] = parts["dynamic"] * lanes_share(run.counts, run.machine)
    return {**parts, "total": sum(parts.values())}


def whole_rows(chain: tuple[str, ...], run: Run) -> dict[str, Any]:
    """Return the parts of the energy of a run, of whole rows, under the outermost design of a chain.

    It comes from its file's `energy`, else from its table plus the energy of the main file that it is built over. Raises
    InputError if a file's function fails or returns anything but the three parts; ValueError, as raised,
    if it cannot take arrays.
    """
    outer = find(chain[0])
    main = whole_rows(chain[1:], run) if len(chain) > 1 else {}
    if hasattr(outer, "energy"):
        run = replace(run, main=main)
        parts: dict[str, Any] = host.call(outer, "energy", run, passing=() if np.ndim(run.cycles) == 0 else (ValueError,))
        if not isinstance(parts, Mapping) or set(parts) != set(PARTS):
            given = ", ".join(map(str, parts)) if isinstance(parts, Mapping) else repr(parts)
            raise InputError(f"design {chain[0]}: energy(run) gives {given}; expected {', '.join(PARTS)}, each in pJ")
        for name, value in parts.items():
            if np.asarray(value).dtype.kind not in "uif" or not np.isfinite(value).all():
                raise InputError(f"design {chain[0]}: energy(run) gives {name} as {value!r}, expected a number of pJ")
    else:
        parts = table_energy(outer.DESIGN, run)
        parts = {name: parts[name] + main.get(name, 0.0) for name in PARTS}
    return dict(parts)
