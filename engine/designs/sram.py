"""`sram`: the plain banked SRAM register file that every design is compared with.

One row per warp-register, one access per bank and cycle, writes before reads, as in the papers' baselines. It has no
hooks of its own: all are the defaults of engine/hooks.py. Technology: HRF (Li et al., DAC'15) Table 1, 128 KB at 32
nm; on preset `gebhart` that of its paper (RFC, Gebhart et al., ISCA 2011, Table 3), which gives no leakage.
"""

from __future__ import annotations

from rfview.engine.plugin import Design, Run, table_energy

TECHNOLOGY = {
    "leakage_mw": (248.7, "mW", "HRF Table 1"),
    "area_mm2": (0.194, "mm2", "HRF Table 1"),
}
ENERGY_PJ = {
    "rf_reads": (0.203 * 1024, "HRF Table 1: 0.203 pJ/bit, 1024 bits"),
    "rf_writes": (0.191 * 1024, "HRF Table 1: 0.191 pJ/bit, 1024 bits"),
}
GEBHART = "gebhart"                  # the preset with RFC's technology
GEBHART_PJ = {
    "rf_reads": (8 * 8.0, "RFC Table 3: 8 pJ per 128 bits, 8 of them"),
    "rf_writes": (8 * 11.0, "RFC Table 3: 11 pJ per 128 bits, 8 of them"),
}


def energy(run: Run) -> dict[str, float]:
    """Return dynamic, leakage and refresh energy in pJ, by the table for the run's preset."""
    if run.preset != GEBHART:
        return table_energy(DESIGN, run)
    dynamic = sum(run.counts.get(name, 0) * pj for name, (pj, _) in GEBHART_PJ.items())
    return {"dynamic": dynamic, "leakage": 0.0, "refresh": 0.0}


def node_nm(values, preset: str) -> int:
    """Return the technology node in nm of the table for the run's preset."""
    return 40 if preset == GEBHART else 32      # RFC section 4.3; HRF Table 1


DESIGN = Design(
    name="sram",
    title="banked SRAM",
    source="baseline of all five papers; technology: HRF, DAC'15, Table 1 (preset gebhart: RFC Table 3)",
    parameters=(),
    state=(("unused", "u4"),),
    energy_pj=ENERGY_PJ,
    technology=TECHNOLOGY,
    tracks=(("reads", "count(b.activity == 1)", 0),
            ("writes", "count(b.activity == 2)", 0)),
    places=(("SRAM", ("rf_reads",), ("rf_writes",)),),
    lens="banks",
)
