"""What a run costs in energy: its events times what each costs, and power times cycles; or as a design's file says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from rfview.engine.plugin import host_functions as host
from rfview.engine.plugin.description import Design
from rfview.engine.plugin.finding import find
from rfview.engine.errors import InputError

PARTS = ("dynamic", "leakage", "refresh")


@dataclass(frozen=True)
class Run:
    """What energy is computed from: event counts by name, cycles, clock, the design's parameter values, and the machine's.

    counts and cycles: one cycle's numbers, or arrays of as many cycles. values: "NAME.key" of the designs of the run;
    machine: its numbers in force, as "sm.num_banks" (engine/presets).
    """

    counts: Mapping[str, int]
    cycles: int
    clock_mhz: float
    values: Mapping[str, Any]
    preset: str = "fermi"
    machine: Mapping[str, Any] = field(default_factory=dict)

    def leakage_pj(self, milliwatts: float) -> float:
        """Return the energy of a constant power over the run."""
        return milliwatts * 1e3 * self.cycles / self.clock_mhz


def table_energy(found: Design, run: Run) -> dict[str, float]:
    """Return dynamic, leakage and refresh energy in pJ: counts x energy_pj, and cycles x technology["leakage_mw"]."""
    dynamic = sum(run.counts.get(name, 0) * pj for name, (pj, _) in (found.energy_pj or {}).items())
    leakage = run.leakage_pj((found.technology or {}).get("leakage_mw", (0.0, "mW", ""))[0])
    return {"dynamic": dynamic, "leakage": leakage, "refresh": 0.0}


def energy(chain: tuple[str, ...], run: Run) -> dict[str, float]:
    """Return the energy of a run under the outermost design of a chain, with the total.

    That is what its file's `energy` says, else its table with the energy of the main file that it is built over. Raises
    InputError where a file's function fails or gives something else than the three parts; ValueError, as it was raised,
    where it cannot take arrays.
    """
    outer = find(chain[0])
    if hasattr(outer, "energy"):
        parts: dict[str, Any] = host.call(outer, "energy", run, passing=() if np.ndim(run.cycles) == 0 else (ValueError,))
        if not isinstance(parts, Mapping) or set(parts) != set(PARTS):
            given = ", ".join(map(str, parts)) if isinstance(parts, Mapping) else repr(parts)
            raise InputError(f"design {chain[0]}: energy(run) gives {given}; expected {', '.join(PARTS)}, each in pJ")
    else:
        parts = table_energy(outer.DESIGN, run)
        if len(chain) > 1:
            main = energy(chain[1:], run)
            parts = {name: parts[name] + main[name] for name in PARTS}
    return {**parts, "total": sum(parts.values())}
