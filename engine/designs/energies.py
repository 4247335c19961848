"""What a run costs in energy: its events times what each costs, and power times cycles."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from engine.designs.description import Design
from engine.designs.finding import find


@dataclass(frozen=True)
class Run:
    """What energy is computed from: event counts by name, cycles, clock, the design's parameter values, and the preset."""

    counts: Mapping[str, int]
    cycles: int
    clock_mhz: float
    values: Mapping[str, Any]
    preset: str = "fermi"

    def leakage_pj(self, milliwatts: float) -> float:
        """Return the energy of a constant power over the run."""
        return milliwatts * 1e3 * self.cycles / self.clock_mhz


def table_energy(found: Design, run: Run) -> dict[str, float]:
    """Return dynamic, leakage and refresh energy in pJ: counts x energy_pj, and cycles x technology["leakage_mw"]."""
    dynamic = sum(run.counts.get(name, 0) * pj for name, (pj, _) in (found.energy_pj or {}).items())
    leakage = run.leakage_pj((found.technology or {}).get("leakage_mw", (0.0, "mW", ""))[0])
    return {"dynamic": dynamic, "leakage": leakage, "refresh": 0.0}


def energy(chain: tuple[str, ...], run: Run) -> dict[str, float]:
    """Return the energy of a run under the outermost design of a chain, its own way or by its table; with the total."""
    outer = find(chain[0])
    own = getattr(outer, "energy", None)
    parts: dict[str, float] = own(run) if own else table_energy(outer.DESIGN, run)
    return {**parts, "total": sum(parts.values())}
