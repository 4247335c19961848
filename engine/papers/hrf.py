"""The claims of the HRF paper (STT-RAM with two write buffers), and of the pure STT-RAM that it starts from.

All runs have one scheduler; its own comparison is under switch_on_stall (B1.10), where `sram` has no parity rule. The
loss over sram under round robin is printed beside that one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any

from rfview.engine import plugin as designs
from rfview.engine.papers import Direction, Number, figures
from rfview.engine.papers.lab import Each, Lab, average, count, geomean, loss, mean, over, power, ratio, speed
from rfview.engine.config import load_preset

ONE = {"sm.num_schedulers": 1}
OWN = "switch_on_stall"
RF_SHARE = 0.25        # of GPU power, assumed: the paper gives none
MOST_SAVED, LEAST_SAVED = ("QUG", "SOQ", "DXT"), ("RED", "BFS")     # of STT-RAM writes, by section 6.4
GATED, PIPELINE = "hrf[power_gating=true]", "stt[stall=pipeline]"
OTHER_PAPER = "The paper quotes another's buffer, technology and workloads; ours has 16 entries by choice"


def table(name: str) -> ModuleType:
    """Return a design's module, for its tables."""
    return designs.find(name)


def technology(name: str, key: str) -> float:
    """Return a number from a design's technology table."""
    return float((designs.design(name).technology or {})[key][0])


def stt_write_cycles() -> float:
    """Return the cycles of an array write of stt."""
    return float(next(p.default for p in designs.design("stt").parameters if p.name == "write_cycles"))


def area_with_buffers() -> Number:
    """Return the area with two gated buffers over SRAM's, by bits."""
    hrf, sram = table("hrf"), technology("sram", "area_mm2")
    both = 100 * hrf.area_mm2({"hrf.power_gating": 1}) / sram
    one = 100 * (hrf.STT_AREA_MM2 + hrf.GATING_AREA * hrf.WB_AREA_MM2 / 2) / sram
    return Number(both, f"Table 1 by bits with both buffers; with one it is {one:.1f} %: the paper's area counts one "
                        "buffer, its leakage two")


EXACT: dict[str, Callable[[], Number]] = {
    "hrf-active-period": lambda: Number(11000 / (load_preset("hrf")["sm.num_warps"] - 1),
                                        "the paper's 11,000 cycles shared out over the other 47 warps"),
    "hrf-area-stt": lambda: Number(100 * technology("stt", "area_mm2") / technology("sram", "area_mm2"), "Table 1"),
    "hrf-area-pg": area_with_buffers,
    "hrf-wb-waste": lambda: Number(100 * (1 - table("hrf").ALWAYS_ON / table("hrf").ENTRIES), "48 of 64 entries are gated"),
    "hrf-latency": lambda: Number(stt_write_cycles(), "write_cycles of stt over sram's 1 cycle"),
}


def own(lab: Lab, design: str, *, scheduler: str = OWN, names: Any = None, kind: str = "run") -> dict[str, Any]:
    """Run those of the paper's kernels that we have, or the named ones."""
    return lab.many(design, scheduler, names=names, settings=ONE, kind=kind)


def stt_writes(lab: Lab) -> Number:
    """Return the share of array writes that the buffers save."""
    results = own(lab, "hrf")
    each = over(count(results, "stt_writes"), count(results, "rf_writes"))
    dropped = figures.per_hundred(results, ("wb_dropped",), ("rf_writes",))
    note = f"of 100 results {dropped:.0f} are dropped at their warp's end, the others saved are overwritten"
    return loss("hrf-stt-writes", each, note)


def power_saved(lab: Lab, design: str) -> Number:
    """Return the saving of register-file power over sram."""
    return loss("hrf-rf-power", over(power(own(lab, design)), power(own(lab, "sram"))),
                f"{figures.traffic(own(lab, 'sram'))}; the paper's shares (39 % of HRF, 34 % of SRAM) mean 278 mW of which "
                "249 leak: 11 %, 0.2 rows per cycle. Only leakage is saved: STT-RAM's accesses cost more than SRAM's")


def gpu_power(lab: Lab) -> Number:
    """Return the register-file saving times the assumed share."""
    saved = power_saved(lab, GATED)
    return Number(RF_SHARE * saved.value, f"hrf-rf-power-pg times an assumed {RF_SHARE:.0%}, the register file's share in "
                  "GPU power, which the paper does not give",
                  {name: RF_SHARE * one for name, one in saved.each.items()})


def leakage_share(lab: Lab) -> Number:
    """Return the write buffers' leakage over total energy."""
    leak = technology("hrf", "wb_leakage_mw") / technology("hrf", "leakage_mw")
    results = own(lab, "hrf")
    each = {name: 100 * leak * r["energy_pj"]["leakage"] / r["energy_pj"]["total"] for name, r in results.items()}
    whole = mean({name: one * 1e-3 * result["parameters"]["sm.clock_mhz"]
                  for (name, one), result in zip(power(results).items(), results.values())})
    return average(each, f"{technology('hrf', 'wb_leakage_mw'):.1f} mW of {whole:.0f} mW on average, in the paper of 94.7: "
                         f"{mean(figures.rows_per_cycle(results)):.2f} rows are read and written per cycle here")


def under_16(lab: Lab) -> Number:
    """Return the median over kernels of the share of periods with fewer than 16 used entries."""
    results = own(lab, "hrf")
    each = over(count(results, "wb_periods_under_16"), count(results, "wb_periods"))
    middle = sorted(each.values())[len(each) // 2] if each else math.nan
    return Number(middle, "median kernel's share of filling periods", each)


def sampled_runs(lab: Lab) -> dict[str, Any]:
    """Return stepped runs of sram under switch_on_stall, of those of the paper's kernels that we have."""
    return own(lab, "sram", kind="sampled")


def sampled(lab: Lab, key: str) -> dict[str, float]:
    """Return a sampled quantity of sram under switch_on_stall."""
    return {name: float(result[key]) for name, result in sampled_runs(lab).items()}


def reuse(lab: Lab) -> Number:
    """Return the cycles between two accesses of an allocated row at its bank, over all rows and cycles."""
    rows, accesses = sampled(lab, "allocated_rows"), figures.rows_per_cycle(sampled_runs(lab))
    return average(over(rows, accesses), f"{mean(rows):.0f} rows are allocated, and sram under {OWN} reads and writes "
                                         f"{mean(accesses):.2f} of them per cycle")


def at_the_end(lab: Lab, wanted: tuple[str, ...], *, most: bool, at_least: int) -> Number:
    """Return how many kernels are, as in the paper, among those that save the most or the fewest STT-RAM writes.

    NaN if one of them is missing or fewer than `at_least` ran, since ranks then mean little.
    """
    each = stt_writes(lab).each
    if lab.missing(*wanted) or len(each) < at_least:
        few = f"{len(each)} of 18 kernels ran, {at_least} are wanted for a rank"
        return Number(math.nan, lab.missing(*wanted) or few, each)
    ends = sorted(each, key=lambda name: each[name], reverse=most)[: len(wanted)]
    count = sum(name in ends for one in wanted for name in lab.called(one))
    return Number(count, f"the {len(wanted)} {'most' if most else 'least'} are {' and '.join(ends)}", each)


def beside_others(lab: Lab, each: Mapping[str, float], named: tuple[str, ...], *, above: bool) -> Number:
    """Return how many of the named kernels are above the others' mean of a quantity, or below it.

    NaN if one of them is missing, or no others ran.
    """
    chosen = {name: each[name] for one in named for name in lab.called(one) if name in each}
    others = mean({name: one for name, one in each.items() if name not in chosen})
    if lab.missing(*named) or math.isnan(others):
        return Number(math.nan, lab.missing(*named) or "no other kernels ran", each)
    beyond = [name for name, one in chosen.items() if (one > others if above else one < others)]
    listed = ", ".join(f"{name} {one:,.4g}" for name, one in chosen.items())
    return Number(len(beyond), f"{listed}; the others {others:,.4g} on average", kernels=tuple(each))


def hrf_speed(lab: Lab) -> Each:
    """Return hrf's IPC over sram's."""
    return speed(own(lab, "sram"), own(lab, "hrf"))


def unhurt(lab: Lab) -> Number:
    """Return the loss of IPC of the kernels whose performance the paper says is not impacted."""
    each = {name: one for name, one in hrf_speed(lab).items() if any(name in lab.called(one_) for one_ in MOST_SAVED)}
    return loss("hrf-most-ipc", each) if each else Number(math.nan, lab.missing(*MOST_SAVED))


def gaussian(lab: Lab) -> Number:
    """Return the saving of register-file power with gating on gaussian elimination."""
    names = lab.called("GAU")
    if not names:
        return Number(math.nan, lab.missing("GAU"))
    gated, sram = (power(own(lab, design, names=names)) for design in (GATED, "sram"))
    leak, base = technology("hrf", "leakage_mw"), technology("sram", "leakage_mw")
    return loss("hrf-gau-rf", over(gated, sram), f"leakage alone, ungated, is {leak:.0f} of {base:.0f} mW; "
                + figures.traffic(own(lab, "sram", names=names)))


def leakage_cut(lab: Lab) -> Number:
    """Return single_buffer's leakage saving by the tables."""
    leak, sram = technology("single_buffer", "leakage_mw"), technology("sram", "leakage_mw")
    return Number(100 * (1 - leak / sram), f"by HRF's Table 1: {leak:.1f} mW of {sram:.1f}. {OTHER_PAPER}")


def dynamic_cut(lab: Lab) -> Number:
    """Return single_buffer's saving of dynamic energy."""
    parts = [{name: r["energy_pj"]["dynamic"] / r["cycles"] for name, r in own(lab, design).items()}
             for design in ("single_buffer", "sram")]
    writes = figures.per_hundred(own(lab, "single_buffer"), ("stt_writes", "buffer_writes"), ("rf_writes",))
    note = (f"every read reads STT-RAM (0.239 of SRAM's 0.203 pJ/bit), and 100 results are {writes:.0f} writes of buffer "
            f"and array. {OTHER_PAPER}")
    return loss("hrf-goswami-dyn", over(*parts), note)


MEASURED: dict[str, Callable[[Lab], Number]] = {
    "hrf-stt-writes": stt_writes,
    "hrf-ipc": lambda lab: loss("hrf-ipc", speed(own(lab, "sram"), own(lab, "hrf")), against_round_robin(lab)),
    "hrf-stt-ipc": lambda lab: loss("hrf-stt-ipc", speed(own(lab, "sram"), own(lab, PIPELINE)), baseline_ipc(lab)),
    "hrf-rf-power": lambda lab: power_saved(lab, "hrf"),
    "hrf-rf-power-pg": lambda lab: power_saved(lab, GATED),
    "hrf-gpu-power": gpu_power,
    "hrf-wb-static-share": leakage_share,
    "hrf-wb-used": under_16,
    "hrf-inter-active": lambda lab: average(
        sampled(lab, "inter_active_distance"), f"active periods are {mean(sampled(lab, 'active_period')):.0f} cycles on "
        f"average, with {mean(figures.resident_warps(sampled_runs(lab))):.0f} warps in turn"),
    "hrf-least": lambda lab: at_the_end(lab, LEAST_SAVED, most=False, at_least=9),
    "hrf-most": lambda lab: at_the_end(lab, MOST_SAVED, most=True, at_least=12),
    "hrf-most-distance": lambda lab: beside_others(lab, sampled(lab, "inter_active_distance"), MOST_SAVED, above=True),
    "hrf-most-ipc": unhurt,
    "hrf-least-distance": lambda lab: beside_others(lab, sampled(lab, "inter_active_distance"), LEAST_SAVED,
                                                    above=False),
    "hrf-least-ipc": lambda lab: beside_others(lab, hrf_speed(lab), LEAST_SAVED, above=False),
    "hrf-gau-rf": gaussian,
    "hrf-unallocated": lambda lab: average({k: 100 * v for k, v in sampled(lab, "unallocated_share").items()},
                                           "the share depends on each kernel's registers and CTAs"),
    "hrf-reuse": reuse,
    "hrf-goswami-leak": leakage_cut,
    "hrf-goswami-dyn": dynamic_cut,
}
UNTESTED = {"hrf-gau-gpu": "as hrf-gpu-power"}


def against_round_robin(lab: Lab) -> str:
    """Return the scheduler of hrf-ipc's baseline, and the loss over sram under Table 3's round robin (B1.10)."""
    lost = 100 * (1 - geomean(speed(own(lab, "sram", scheduler="lrr"), own(lab, "hrf"))))
    return (f"sram runs under {OWN} as well, one warp at a time, without the parity rule; over sram under round robin, "
            f"which Table 3 names, hrf under {OWN} loses {lost:.0f} %")


def baseline_ipc(lab: Lab) -> str:
    """Return the baseline's IPC, which determines the cost of a frozen write (B1.9)."""
    results = own(lab, "sram")
    return ("a write freezes 3 cycles, so the loss grows with the baseline's IPC, here "
            f"{geomean({name: r['ipc'] for name, r in results.items()}):.2f}; the paper's 33 % means about 0.2")


def directions(lab: Lab) -> list[Direction]:
    """Check the promises about hrf and stt on our kernels."""
    sram = own(lab, "sram")
    at_stall = speed(sram, own(lab, "hrf"))
    at_lrr = speed(own(lab, "sram", scheduler="lrr"), own(lab, "hrf", scheduler="lrr"))
    freezes = speed(sram, own(lab, PIPELINE))
    two = speed(lab.many("sram", "lrr"), lab.many("stt[stall=bank]", "lrr"))
    rows = [
        ("hrf-switch-on-stall", "hrf", "IPC of hrf over sram under switch_on_stall", "at least 0.90", at_stall, 0.90, None),
        ("hrf-lrr", "hrf", "IPC of hrf over sram under lrr", "at most 0.85", at_lrr, None, 0.85),
        ("stt-pipeline", "stt", "IPC of stt over sram under switch_on_stall", "at most 0.95", freezes, None, 0.95),
        ("stt-bank", "stt", "IPC of stt[stall=bank] over sram under lrr, 2 schedulers", "at most 0.95", two, None, 0.95),
    ]
    return [
        Direction(name, design, text, "x", wanted, ratio(each), (low is None or geomean(each) >= low)
                  and (high is None or geomean(each) <= high), tuple(end for end in (low, high) if end is not None))
        for name, design, text, wanted, each, low, high in rows
    ]
