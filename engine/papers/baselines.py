"""The baseline of each paper: its own SRAM (for eDRAM: its own precise eDRAM), from its own technology table.

The papers' tables are from different years and nodes (32 nm HRF, 40 nm HC-RF, 11 to 22 nm eDRAM), so a design's power and
area are meaningful only relative to its own paper's baseline. Energies here are for a run of plain `sram` with that table.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from rfview.engine import plugin as designs


@dataclass(frozen=True)
class Baseline:
    """A paper's baseline: pJ of a row's read and write, leakage in mW, pJ of refresh per cycle, area in mm2 or None."""

    name: str
    read_pj: float
    write_pj: float
    leakage_mw: float
    refresh_pj: float
    area_mm2: float | None

    def energy_pj(self, result: Mapping[str, Any]) -> dict[str, float]:
        """Return the energy of a run of `sram` from its summary, for the lanes that its machine's energy.lanes says."""
        counts, machine = result["counts"], result["parameters"]
        microseconds = result["cycles"] / machine["sm.clock_mhz"]
        rows = self.read_pj * counts["rf_reads"] + self.write_pj * counts["rf_writes"]
        parts = {"dynamic": designs.lanes_share(counts, machine) * rows,
                 "leakage": self.leakage_mw * 1e3 * microseconds, "refresh": self.refresh_pj * result["cycles"]}
        return {**parts, "total": sum(parts.values())}


OWN = ("sram_read_pj", "sram_write_pj", "sram_leakage_mw")      # a foreign design's statements about its baseline


def foreign_baseline(design: str) -> Baseline | None:
    """Return the baseline that a foreign design names in `technology`, pJ of a row and mW; None if it names none.

    sram_area_mm2 may be omitted.
    """
    table = designs.design(design).technology or {}
    if not all(name in table for name in OWN):
        return None
    area = table.get("sram_area_mm2")
    read, write, leakage = (float(table[name][0]) for name in OWN)
    return Baseline(f"{design}'s SRAM", read, write, leakage, 0.0, float(area[0]) if area else None)


def not_given(design: str, energy: Mapping[str, float]) -> list[str]:
    """Return the parts of a run's energy, leakage or none, that are 0 because the design's tables give none."""
    stated = (designs.design(design).technology or {}).get("leakage_mw", (None,))[0]
    return ["leakage"] if not energy.get("leakage") and stated != 0 else []


def baseline_of(design: str, values: Mapping[str, Any], preset: str = "fermi") -> Baseline:
    """Return the baseline of a built-in design's paper; values: the design's parameters by name.

    sram itself uses the table of the machine that ran: with preset gebhart, RFC's.
    """
    if design == "hcrf":
        table = designs.design("hcrf").technology or {}
        return Baseline("HC-RF's SRAM", table["sram_read_pj"][0], table["sram_write_pj"][0], table["sram_leakage_mw"][0],
                        0.0, table["sram_area_mm2"][0])
    if design == "racetrack":
        table = designs.design("racetrack").technology or {}
        area = table["area_mm2"][0] / table["area_of_sram"][0]
        _, leakage = designs.find("racetrack").leakage_mw(values.get("racetrack.leakage_of", "bank"))
        return Baseline("the racetrack paper's SRAM", table["sram_read_pj"][0], table["sram_write_pj"][0], leakage, 0.0,
                        area)
    if design == "rfc" or (design == "sram" and preset == "gebhart"):
        rfc = designs.find("rfc")
        return Baseline("RFC's SRAM", rfc.MRF_READ_PJ * rfc.GRANULES, rfc.MRF_WRITE_PJ * rfc.GRANULES, 0.0, 0.0,
                        rfc.MRF_BANK_UM2 * 1e-6 * rfc.MRF_BANKS)
    if design == "edram":
        edram = designs.find("edram")
        node = int(values.get("edram.node", 11))
        refresh = edram.refresh_pj(node, values.get("edram.retention_mhz", edram.GPU_MHZ))
        return Baseline(f"precise eDRAM at {node} nm", edram.READ_FJ[node] / 1e3, edram.WRITE_FJ[node] / 1e3,
                        edram.leakage_mw(node), refresh, None)
    sram = designs.design("sram")
    energy, table = sram.energy_pj or {}, sram.technology or {}
    return Baseline("HRF's SRAM", energy["rf_reads"][0], energy["rf_writes"][0], table["leakage_mw"][0], 0.0,
                    table["area_mm2"][0])
