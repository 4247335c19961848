"""The claims of the HC-RF paper (SRAM/STT-RAM hybrid cells), under lrr unless stated otherwise."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from rfview.engine import plugin as designs
from rfview.engine.papers import Direction, Number, figures, value
from rfview.engine.papers.baselines import baseline_of
from rfview.engine.papers.hrf import ONE, OWN, stt_write_cycles, technology
from rfview.engine.papers.lab import Lab, average, count, gain, geomean, loss, mean, of_claim, over, power, ratio, speed

STT = "stt[stall=bank,write_cycles=3]"      # Table II: 3.37 ns at 700 MHz
FIGURE = "a figure only: it needs an area model of banks and periphery, which no table gives"
CLEARLY = 0.01                   # a scheduler wins a kernel by at least this much: less is chance
WRITES_MOST = 4                  # cycles per drained entry: hrf under lrr accepts one result in this many (B1.2)


def own(name: str) -> float:
    """Return a number from HC-RF's Table II."""
    return technology("hcrf", name)


def eda(name: str) -> float:
    """Return power x performance x area efficiency, as printed in Table IV."""
    if name == "stt":
        return value("hcrf-eff-stt") * value("hcrf-stt-perf-t4") * value("hcrf-areaeff-stt")
    return value("hcrf-eff-hc") * 1.0 * value("hcrf-areaeff-hc")


EXACT: dict[str, Callable[[], Number]] = {
    "hcrf-area": lambda: Number(100 * own("area_mm2") / own("sram_area_mm2"),
                                "Table II, arrays alone; the paper's 88 % is of its layout with crossbar and periphery"),
    "hcrf-overhead": lambda: Number(100 * 512 / 2**20, "exchange flags alone, 512 bits; the paper lists no other control"),
    "hcrf-cell-sram": lambda: Number(own("cell_f2") / (2 * own("sram_cell_f2")), "Table II"),
    "hcrf-cell-stt": lambda: Number(own("cell_f2") / (2 * own("stt_cell_f2")), "Table II"),
    "hcrf-cell-stt-sram": lambda: Number(own("stt_cell_f2") / own("sram_cell_f2"),
                                         "Table II: 57.5 of 146 F2; the text's third is a slip"),
    "hcrf-twrite": lambda: Number(own("t_write_ns") / own("s_access_ns"), "Table II: 2.8 of 0.77 ns, 4 when rounded"),
    "hcrf-write-energy": lambda: Number(own("stt_write_pj") / own("sram_write_pj"), "Table II: 0.293 of 0.186 pJ/bit"),
    "hcrf-write-bw": lambda: Number(1 / stt_write_cycles(), "as many banks, each busy for stt's write_cycles"),
    "hcrf-eda-stt": lambda: Number(eda("stt"), "Table IV: 1.47 x 0.75 x 1.26"),
    "hcrf-eda-hc": lambda: Number(eda("hcrf"), "Table IV: 2.27 x 1 x 1.13, printed cut off"),
    "hcrf-eda-hc-pct": lambda: Number(value("hcrf-eda-hc") / value("hcrf-eda-stt"), "2.56 over 1.39"),
    "hcrf-areaeff-stt": lambda: Number(own("sram_area_mm2") / own("stt_area_mm2"),
                                       "Table II, arrays alone; the paper's 1.26 is read off its figure 9 with periphery"),
    "hcrf-areaeff-hc": lambda: Number(100 / value("hcrf-area"), "1 over the 88 % of section V-B, cut off"),
}


def table_power(results: dict[str, Any], design: str) -> dict[str, float]:
    """Return power per kernel by Table II's columns, of sram and stt runs, which otherwise use HRF's table."""
    power = {}
    for name, result in results.items():
        counts, cycles, clock = result["counts"], result["cycles"], result["parameters"]["sm.clock_mhz"]
        if design == "sram":
            power[name] = baseline_of("hcrf", {}).energy_pj(result)["total"] / cycles
        else:
            rows = own("stt_read_pj") * counts["rf_reads"] + own("stt_write_pj") * counts["rf_writes"]
            dynamic = designs.lanes_share(counts, result["parameters"]) * rows
            power[name] = dynamic / cycles + own("stt_leakage_mw") * 1e3 / clock
    return power


def table_traffic(lab: Lab) -> str:
    """Return how busy sram is under lrr, and the share of its power that this accounts for by Table II."""
    sram = lab.many("sram", "lrr")
    whole, clock = table_power(sram, "sram"), next(iter(sram.values()))["parameters"]["sm.clock_mhz"]
    dynamic = mean({name: 100 * (1 - own("sram_leakage_mw") * 1e3 / clock / one) for name, one in whole.items()})
    return f"sram reads and writes {mean(figures.rows_per_cycle(sram)):.2f} rows per cycle, {dynamic:.0f} % of its power"


def power_over_sram(lab: Lab, design: str) -> dict[str, float]:
    """Return a design's power over SRAM's, both by Table II, under lrr."""
    sram = table_power(lab.many("sram", "lrr"), "sram")
    return over(power(lab.many("hcrf", "lrr")) if design == "hcrf" else table_power(lab.many(STT, "lrr"), "stt"), sram)


def slower(lab: Lab, claim: str, design: str, scheduler: str, note: str = "") -> Number:
    """Return a claim's loss of IPC over sram; for hrf with one scheduler in both runs."""
    settings = ONE if design == "hrf" else None
    sram = lab.many("sram", scheduler, settings=settings)
    return loss(claim, speed(sram, lab.many(design, scheduler, settings=settings)), note)


def hrf_bound(lab: Lab) -> str:
    """Return the bound of hrf's IPC if each result of another warp takes a buffer."""
    sram = lab.many("sram", "lrr", settings=ONE)
    per_instruction = mean(over(count(sram, "rf_writes"), count(sram, "instructions")))
    return (f"each result of another warp takes a buffer and so {WRITES_MOST} cycles: at {per_instruction:.2f} results per "
            f"instruction IPC stays below {1 / (WRITES_MOST * per_instruction):.2f}, where sram has {figures.ipc(sram):.2f}")


def quoted_from_hrf(lab: Lab) -> Number:
    """Return HRF's loss as in its own paper, on its kernels and under its scheduler; the note says how gto changes it."""
    theirs = lab.for_paper("hrf")
    often = [figures.per_hundred(lab.many("hrf", scheduler, settings=ONE), ("wb_switches",), ("rf_writes",))
             for scheduler in ("gto", OWN)]
    lost = slower(lab, "hcrf-hrf-gto", "hrf", "gto").value
    note = (f"the paper quotes HRF's own result, so measured on HRF's kernels under HRF's scheduler ({OWN}); under gto, "
            f"which changes warps at every short wait, HC-RF's kernels lose {lost:.0f} %, where {often[0]:.0f} of 100 "
            f"results take a new buffer, under {OWN} {often[1]:.0f}")
    return slower(theirs, "hcrf-hrf-gto", "hrf", OWN, note)


def against_hrf(lab: Lab) -> dict[str, float]:
    """Return the IPC of hcrf over that of hrf under lrr, with one scheduler."""
    return speed(lab.many("hrf", "lrr", settings=ONE), lab.many("hcrf", "lrr", settings=ONE))


def gain_over_hrf(lab: Lab) -> Number:
    """Return how much faster hcrf is than hrf in percent."""
    each = against_hrf(lab)
    lost = slower(lab, "hcrf-hrf-lrr", "hrf", "lrr").value
    note = f"HRF loses {lost:.0f} % here (hcrf-hrf-lrr); the paper's own -50 % would make it +100 %"
    return gain("hcrf-vs-hrf-perf", each, note)


def energy_against_hrf(lab: Lab) -> Number:
    """Return the energy saved over hrf, each by its own paper's table."""
    runs = (lab.many(design, "lrr", settings=ONE) for design in ("hcrf", "hrf"))
    hybrid, buffered = ({name: result["energy_pj"]["total"] for name, result in results.items()} for results in runs)
    note = "hrf at 32 nm by its own Table 1, hcrf at 40 nm by Table II: the paper does not say which it used"
    return loss("hcrf-vs-hrf-energy", over(hybrid, buffered), note)


def gto_wins(lab: Lab) -> Number:
    """Return the share of kernels that run faster under gto by CLEARLY or more."""
    each = speed(lab.many("sram", "lrr"), lab.many("sram", "gto"))
    slower_, faster = (sum(sign * (one - 1) >= CLEARLY for one in each.values()) for sign in (-1, 1))
    note = (f"of {len(each)} kernels {faster} are faster by {CLEARLY:.0%} or more, {slower_} slower; IPC of gto over lrr is "
            f"{geomean(each):.3f}")
    return Number(100 * faster / len(each) if each else math.nan, note, each)


def laplace(lab: Lab) -> tuple[Number, Number]:
    """Return the dynamic share of STT-RAM's power on laplace3d, and that power over SRAM's, both in percent by Table II."""
    names = lab.called("LPS")
    if not names:
        return Number(math.nan, lab.missing("LPS")), Number(math.nan, lab.missing("LPS"))
    stt, sram = lab.many(STT, "lrr", names=names), lab.many("sram", "lrr", names=names)
    power_, base = table_power(stt, "stt"), table_power(sram, "sram")
    clock = next(iter(stt.values()))["parameters"]["sm.clock_mhz"]
    share = {name: 100 * (1 - own("stt_leakage_mw") * 1e3 / clock / one) for name, one in power_.items()}
    ratios = {name: 100 * one for name, one in over(power_, base).items()}
    rows = mean(figures.rows_per_cycle(stt))
    note = f"{mean(share):.1f} % dynamic, {mean(ratios):.0f} % of SRAM's power, at {rows:.2f} rows per cycle"
    return average(share, note), average(ratios, note)


MEASURED: dict[str, Callable[[Lab], Number]] = {
    "hcrf-ipc": lambda lab: slower(lab, "hcrf-ipc", "hcrf", "lrr", figures.hcrf_costs(lab, "lrr")),
    "hcrf-stt-ipc": lambda lab: slower(lab, "hcrf-stt-ipc", STT, "lrr", "a busy bank costs nothing while warps wait: "
                                       + figures.memory_bound(lab.many("sram", "lrr"))),
    "hcrf-stt-perf-t4": lambda lab: of_claim("hcrf-stt-perf-t4", speed(lab.many("sram", "lrr"), lab.many(STT, "lrr")),
                                             "as hcrf-stt-ipc; the paper's 0.75 contradicts its 15 %"),
    "hcrf-hrf-lrr": lambda lab: slower(lab, "hcrf-hrf-lrr", "hrf", "lrr", hrf_bound(lab)),
    "hcrf-hrf-gto": quoted_from_hrf,
    "hcrf-gto": lambda lab: slower(lab, "hcrf-gto", "hcrf", "gto", figures.hcrf_costs(lab, "gto")),
    "hcrf-vs-hrf-perf": gain_over_hrf,
    "hcrf-vs-hrf-energy": energy_against_hrf,
    "hcrf-power": lambda lab: of_claim("hcrf-power", {k: 100 * v for k, v in power_over_sram(lab, "hcrf").items()},
                                       "Table II on both sides, where only leakage is saved: " + table_traffic(lab)),
    "hcrf-eff-stt": lambda lab: of_claim("hcrf-eff-stt", {k: 1 / v for k, v in power_over_sram(lab, "stt").items()},
                                      "Table II; " + table_traffic(lab)),
    "hcrf-eff-hc": lambda lab: of_claim("hcrf-eff-hc", {k: 1 / v for k, v in power_over_sram(lab, "hcrf").items()},
                                     f"Table II; {table_traffic(lab)}; section V-D's 56 % would be 1.79"),
    "hcrf-gto-half": gto_wins,
    "hcrf-lps-dynamic": lambda lab: laplace(lab)[0],
    "hcrf-lps-order": lambda lab: laplace(lab)[1],
}
UNTESTED = {
    "hcrf-area-stt-4": FIGURE, "hcrf-area-stt-32": FIGURE, "hcrf-area-stt32-sram16": FIGURE, "hcrf-area-32bank": FIGURE,
}


def directions(lab: Lab) -> list[Direction]:
    """Check the promises about hcrf on our kernels."""
    directions = []
    for scheduler in ("switch_on_stall", "lrr", "gto"):
        sram = lab.many("sram", scheduler)
        each = speed(sram, lab.many("hcrf", scheduler))
        note = figures.hcrf_costs(lab, scheduler)
        name = f"hcrf-{scheduler.replace('_', '-')}"
        directions.append(Direction(name, "hcrf", f"IPC of hcrf over sram under {scheduler}", "x", "0.97 to 1.03",
                               ratio(each, note), 0.97 <= geomean(each) <= 1.03, (0.97, 1.03)))
    return directions
