"""`sram`: the plain banked SRAM register file that every design is compared with.

One row per warp-register, one access per bank and cycle, writes before reads (SPEC of the papers' baselines). Nothing of
its own: all hooks are the defaults of engine/hooks.py. Technology: HRF (Sun et al., DAC'15) Table 1, 128 KB at 32 nm.
"""

from __future__ import annotations

from engine.designs import Design

TECHNOLOGY = {
    "leakage_mw": (248.7, "mW", "HRF Table 1"),
    "area_mm2": (0.194, "mm2", "HRF Table 1"),
}
ENERGY_PJ = {
    "rf_reads": (0.203 * 1024, "HRF Table 1: 0.203 pJ/bit, 1024 bits"),
    "rf_writes": (0.191 * 1024, "HRF Table 1: 0.191 pJ/bit, 1024 bits"),
}

DESIGN = Design(
    name="sram",
    title="banked SRAM",
    source="baseline of all five papers; technology: HRF, DAC'15, Table 1",
    parameters=(),
    state=(("unused", "u4"),),
    energy_pj=ENERGY_PJ,
    technology=TECHNOLOGY,
)
