"""Checks the sums at the end of a run: warp-cycles, issues, and energy as counted events times the papers' table values."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from rfview.engine import plugin as designs
from rfview.engine.designs import edram, hrf, rfc

CLOSE = 1e-9
GATED_OFF, GATED_ACCESS = 0.70, 1.04          # HRF Table 2: leakage saved while a buffer is gated, dynamic energy
SRAM_GEBHART_PJ = {"rf_reads": 64.0, "rf_writes": 88.0}     # RFC Table 3, per warp-register


def wrong_sums(summary: Mapping[str, Any], chain: tuple[str, ...], values: Mapping[str, Any]) -> list[str]:
    """Return what does not add up in a run's summary, in words."""
    found = []
    total = summary["issued"] + sum(summary["stalls"].values())
    if total != summary["warp_cycles"]:
        found.append(f"{total:,} states for {summary['warp_cycles']:,} warp-cycles")
    if summary["issued"] != summary["warp_instructions"]:
        found.append(f"{summary['issued']:,} issue cycles for {summary['warp_instructions']:,} instructions")
    wanted = expected_pj(summary, chain, values)
    for part, pj in {**wanted, "total": sum(wanted.values())}.items():
        if not math.isclose(summary["energy_pj"][part], pj, rel_tol=CLOSE, abs_tol=CLOSE):
            found.append(f"{part} energy is {summary['energy_pj'][part]} pJ, its counted events give {pj}")
    return found


def expected_pj(summary: Mapping[str, Any], chain: tuple[str, ...], values: Mapping[str, Any]) -> dict[str, float]:
    """Return dynamic, leakage and refresh energy, computed from a run's counted events and the tables alone."""
    counts, name = summary["counts"], chain[0]
    microseconds = summary["cycles"] / summary["parameters"]["sm.clock_mhz"]
    if name == "edram":
        return edram_pj(counts, microseconds, int(values["edram.node"]))
    found = designs.design(name)
    table = {event: pj for event, (pj, _) in (found.energy_pj or {}).items()}
    leakage_mw = found.technology["leakage_mw"][0] if "leakage_mw" in (found.technology or {}) else 0.0
    if name == "sram" and summary["preset"] == "gebhart":
        table, leakage_mw = SRAM_GEBHART_PJ, 0.0
    if name == "rfc":
        return rfc_pj(summary, chain, values)
    leakage = leakage_mw * 1e3 * microseconds
    if name == "hrf" and values["hrf.power_gating"]:
        table = {event: pj * (GATED_ACCESS if event.startswith("wb") else 1.0) for event, pj in table.items()}
        off = 2 - counts["gate_on_cycles"] / max(summary["cycles"], 1)
        leakage -= GATED_OFF * hrf.WB_LEAKAGE_MW / 2 * 1e3 * microseconds * off
    return {"dynamic": sum(counts[event] * pj for event, pj in table.items()), "leakage": leakage, "refresh": 0.0}


def rfc_pj(summary: Mapping[str, Any], chain: tuple[str, ...], values: Mapping[str, Any]) -> dict[str, float]:
    """Return the energy of a register cache (without wires) over its main file; over an SRAM, both use RFC Tables 2 and 3."""
    counts = summary["counts"]
    if chain[1] == "sram":
        main = {"dynamic": sum(counts[event] * pj for event, pj in SRAM_GEBHART_PJ.items()), "leakage": 0.0, "refresh": 0.0}
    else:
        main = expected_pj(summary, chain[1:], values)
    read_pj, write_pj = (8 * pj for pj in rfc.TABLE_2[values["rfc.entries"], values["rfc.active_warps"]][1:])
    reads = sum(counts[event] for event in ("rfc_reads", "rfc_evictions", "rfc_flushes", "rfc_removals"))
    main["dynamic"] += read_pj * reads + write_pj * (counts["rfc_writes"] + counts["rfc_fills"])
    return main


def edram_pj(counts: Mapping[str, int], microseconds: float, node: int) -> dict[str, float]:
    """Return the energy of an eDRAM with all rows powered: a refresh reads and writes the half row that it restores."""
    read_pj, write_pj = edram.READ_FJ[node] / 1e3, edram.WRITE_FJ[node] / 1e3
    return {
        "dynamic": counts["rf_reads"] * read_pj + counts["rf_writes"] * write_pj,
        "leakage": edram.LEAKAGE_UW[node] * edram.BANKS * microseconds,
        "refresh": (counts["row_refreshes"] + counts["low_refreshes"]) * (read_pj + write_pj) / 2,
    }
