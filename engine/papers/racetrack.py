"""The claims of the racetrack paper, under lrr, with the CTAs and the registers per thread of its Table 1.

A kernel whose CTAs have other numbers of threads than in Table 1 is left out. The others are compiled into as many registers
as there, and access each of them (B5.9). The limit of 4 banks per cycle applies to sram, too (B5.2).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import partial
from itertools import pairwise
from types import ModuleType
from typing import Any

from rfview.engine import plugin as designs
from rfview.engine.papers import Direction, Number, value
from rfview.engine.papers.baselines import baseline_of
from rfview.engine.batch import Result
from rfview.engine.papers.table_1 import (ROWS_TABLE_1, as_table_1, left_out, occupancy, resident, row_of, row_of_table_1,
                                          rows_of)
from rfview.engine.papers.lab import Each, Lab, average, count, mean, over, speed
from rfview.engine.tools import mapping

FIG_7 = (0, 3, 1, 4, 1, 2)
PLAIN = "racetrack[preshift=0]"
LAYOUT = "spread-16"     # of plain tapes: registers over the ports first, by Fig. 6 (B5.13)
READS_PER_WRITE = 1.79   # assumed: what RFC's 58 % of section 5.4 mean; this paper says nothing of its programs
PORTS = 8                # per bank in section 4.3.3 (B5.1)
LEAST_CHANGE = 0.05      # relative to a ladder's first step: shares of a smaller change mean nothing,
LEAST_FASTER = 0.02      # of cycles, of which the total change is smaller in the paper, too
STEPS = ("plain", "TLP", "mapping", "preshift")


def table() -> ModuleType:
    """Return the design's module."""
    return designs.find("racetrack")


def fig_7(offsets: Callable[[Any], list[int]]) -> int:
    """Return the shift steps of Figure 7's accesses: 5 registers, one port."""
    moves = mapping.count_moves(FIG_7, 5)
    return mapping.shifts_of(moves, offsets(moves))


def offsets_per_port(ctas: int) -> int:
    """Return the offsets that CTAs of 256 threads with 32 registers take under each of the ports of section 4.3.3."""
    return ctas * 8 * 32 // table().NUM_BANKS // PORTS


EXACT: dict[str, Callable[[], Number]] = {
    "rm-occ-sram": lambda: Number(mean({claim: occupancy(*row) for claim, row in ROWS_TABLE_1.items()}),
                                  "mean of Table 1's five rows"),
    **{claim: partial(row_of_table_1, claim) for claim in ROWS_TABLE_1},
    "rm-mri-tlp": lambda: Number(resident(256, 40, rows_of("racetrack")), "256 threads of 40 registers in 256 KB"),
    "rm-share-framework": lambda: Number(sum(value(f"rm-share-{part}") for part in ("tlp", "map", "preshift")),
                                         "8 + 54 + 20"),
    "rm-energy-framework": lambda: Number(sum(value(f"rm-energy-{part}") for part in ("preshift", "tlp", "map")),
                                          "11 + 8 + 15, and 66 + 34 = 100: the text's 44 is a slip"),
    "rm-fig7-direct": lambda: Number(fig_7(lambda moves: list(range(5))), "R0 R3 R1 R4 R1 R2, one that fits the text; "
                                     "the figure's own trace is lost"),
    "rm-fig7-optimal": lambda: Number(fig_7(lambda moves: mapping.arrange(moves)), "the best of all orders of 5 registers"),
    "rm-maxdist": lambda: Number(offsets_per_port(4), f"4 CTAs of 256 threads with 32 registers; 2 CTAs take "
                                 f"{offsets_per_port(2)}"),
}


def each_kernel(lab: Lab, design: str, names: Iterable[str] | None = None, *, kind: str = "run",
                ctas: Mapping[str, int] | None = None, settings: Mapping[str, Any] | None = None) -> dict[str, Result]:
    """Run the paper's kernels with its registers per thread and a number of CTAs per SM."""
    jobs = {}
    for name in as_table_1(lab, names):
        changes: dict[str, Any] = {"kernel.aim_registers": row_of(name)[1], **(settings or {})}
        if design.startswith("racetrack"):
            changes["racetrack.mapping"] = LAYOUT
        if ctas:
            changes["sm.max_ctas"] = ctas[name]
        jobs[name] = lab.job(name, design, "lrr", kind=kind).having(changes)
    return lab.results(jobs)


def best_ctas(lab: Lab) -> dict[str, int]:
    """Return the TLP chosen by the search."""
    return {name: result["best_ctas"] for name, result in each_kernel(lab, "racetrack", kind="tlp").items()}


def steps(lab: Lab) -> list[dict[str, Result]]:
    """Return the paper's ladder: sram, plain racetrack, + TLP, + mapping, + preshift."""
    ctas = best_ctas(lab)
    return [each_kernel(lab, "sram"), each_kernel(lab, PLAIN), each_kernel(lab, PLAIN, ctas=ctas),
            each_kernel(lab, PLAIN, ctas=ctas, kind="mapped"), each_kernel(lab, "racetrack", ctas=ctas, kind="mapped")]


def chosen(lab: Lab) -> str:
    """Return a sentence about the TLP that the search chose for each kernel."""
    results = each_kernel(lab, "racetrack", kind="tlp")
    listed = ", ".join(f"{name} {result['best_ctas']} of {len(result['points'])}" for name, result in results.items())
    return f"CTAs per SM by the TLP search: {listed or 'none'}{left_out(lab)}"


def ladder_text(lab: Lab) -> str:
    """Return a sentence about the speed of each step relative to sram."""
    ladder = steps(lab)
    listed = ", ".join(f"+ {name} {mean(speed(ladder[0], results)):.2f}" for name, results in zip(STEPS, ladder[1:]))
    return f"IPC over sram at each step: {listed[2:]}; {chosen(lab)}"


def speedup(lab: Lab) -> Each:
    """Return the whole design's speedup over sram in percent."""
    ladder = steps(lab)
    return {name: 100 * (one - 1) for name, one in speed(ladder[0], ladder[-1]).items()}


def share(lab: Lab, step: int, quantity: Callable[[dict[str, Result]], Each], *, first: int = 0,
          least: float = LEAST_CHANGE) -> Number:
    """Return a step's share in the ladder's total change of a quantity, in percent; NaN if that got worse.

    Each kernel counts relative to itself before the first step, as in Fig. 11.
    """
    ladder = steps(lab)[first:]
    start = quantity(ladder[0])
    values = [mean(over(quantity(results), start)) for results in ladder]
    whole = values[0] - values[-1]
    listed = ", ".join(f"{name} {one:.2f}" for name, one in zip(("sram", *STEPS)[first:], values))
    if not whole >= least:
        return Number(math.nan, f"saves less than {least:.0%} in all, so that shares mean nothing: mean of our "
                      f"kernels at each step is {listed}")
    return Number(100 * (values[step - first - 1] - values[step - first]) / whole,
                  f"mean of our kernels at each step: {listed}; {chosen(lab)}", kernels=tuple(ladder[0]), acted=shifted(lab))


def cycles(results: dict[str, Result]) -> Each:
    """Return the cycles of runs."""
    return {name: float(result["cycles"]) for name, result in results.items()}


def shifts(results: dict[str, Result]) -> Each:
    """Return the runs' demand shifts: the paper's shift operations (B5.7)."""
    return count(results, "shifts")


def shifted(lab: Lab) -> tuple[float, str]:
    """Return the mean number of demand shifts of plain tapes in a run, and the unit."""
    return mean(shifts(steps(lab)[1])), "shifts"


def energy(lab: Lab, results: dict[str, Result]) -> Each:
    """Return the runs' energy; sram's with the paper's own SRAM."""
    base = baseline_of("racetrack", lab.changed.settings if lab.changed else {})
    totals = {}
    for name, result in results.items():
        if result["design"].startswith("sram"):
            totals[name] = base.energy_pj(result)["total"]
        else:
            totals[name] = result["energy_pj"]["total"]
    return totals


def busiest() -> float:
    """Return the largest share of accesses in SRAM's energy, in percent, with which the paper's saving is possible.

    By Table 3, over a run as much shorter as the paper says, and without any shift.
    """
    tapes, sram = table().leakage_mw("bank")
    leakage = tapes / sram / (1 + value("rm-perf") / 100)
    return 100 * (1 - value("rm-energy") / 100 - leakage) / (table().dynamic_bound(READS_PER_WRITE) - leakage)


def energy_saved(lab: Lab) -> Number:
    """Return the energy saved in percent, with the bound of the dynamic part."""
    ladder = steps(lab)
    each = {name: 100 * (1 - one) for name, one in over(energy(lab, ladder[-1]), energy(lab, ladder[0])).items()}
    pj = table().ENERGY_PJ
    parts = [mean({name: 100 * sum(r["counts"][event] * pj[event][0] for event in ("shifts", "preshifts"))
                   / r["energy_pj"]["total"] for name, r in ladder[step].items()}) for step in (1, -1)]
    base = baseline_of("racetrack", {})
    accesses = mean({name: 100 * one["dynamic"] / one["total"]
                     for name, one in ((name, base.energy_pj(result)) for name, result in ladder[0].items())})
    bound = table().dynamic_bound(READS_PER_WRITE)
    return average(each, f"without any shift dynamic energy would be {bound:.2f} of SRAM's at {READS_PER_WRITE} reads per "
                         f"write; shifts are {parts[0]:.0f} % of the energy of plain tapes, {parts[1]:.0f} % of the whole "
                         f"design's; accesses are {accesses:.0f} % of SRAM's energy, where the paper's "
                         f"{value('rm-energy'):.0f} % mean at most {busiest():.0f} % if no tape ever moved")


def highest_of(number: Number) -> Number:
    """Return the largest of a number's values by kernel."""
    return replace(number, value=max(number.each.values(), default=math.nan))


def racetrack_occupancy(lab: Lab) -> Number:
    """Return the occupancy at the chosen TLP."""
    ctas = best_ctas(lab)
    each = {name: 100 * ctas[name] * result["shape"]["threads_per_cta"][0] / 1536
            for name, result in each_kernel(lab, PLAIN).items()}
    return average(each, chosen(lab))


def monotonic(lab: Lab) -> Number:
    """Return 1 if hotspot's ideal IPC never decreases with more CTAs."""
    names = lab.called("hotspot")
    results = each_kernel(lab, "racetrack", names, kind="tlp")
    if not results:
        return Number(math.nan, lab.missing("hotspot") or "hotspot has not the CTAs of Table 1")
    ipc = [point[1] for point in results[names[0]]["points"]]
    return Number(float(all(after >= before for before, after in pairwise(ipc))), "IPC by CTAs: "
                  + ", ".join(f"{one:.3f}" for one in ipc), kernels=names)


def split_sort(lab: Lab) -> Number:
    """Return the number of CTAs per SM at which mri-gridding's sort is fastest if shifts cost nothing."""
    names = lab.called("mri-gridding")
    results = each_kernel(lab, "racetrack", names, kind="tlp")
    if not results:
        return Number(math.nan, lab.missing("mri-gridding") or "mri-gridding has not the CTAs of Table 1")
    points = next(iter(results.values()))["points"]
    ipc = ", ".join(f"{point[0]}: {point[1]:.3f}" for point in points)
    return Number(max(points, key=lambda point: point[1])[0], f"IPC by CTAs: {ipc}", kernels=tuple(results))


def near_ideal(lab: Lab) -> Number:
    """Return the speedup over tapes that move to any offset at once."""
    ctas = best_ctas(lab)
    ideal = each_kernel(lab, PLAIN, ctas=ctas, settings={"racetrack.shift_cycles": 0})
    return average(speed(ideal, steps(lab)[-1]), "over shift_cycles = 0 at the same TLP")


def shift_ratio(lab: Lab) -> Number:
    """Return demand shifts over those of plain racetrack in percent, with all steps in the note."""
    ladder = steps(lab)
    each = {name: 100 * one for name, one in over(shifts(ladder[-1]), shifts(ladder[1])).items()}
    both = over(count(ladder[-1], "shifts", "preshifts"), shifts(ladder[1]))
    return replace(average(each, f"demand shifts; with preshift steps it is {100 * mean(both):.0f} %"), acted=shifted(lab))


MEASURED: dict[str, Callable[[Lab], Number]] = {
    "rm-perf": lambda lab: average(speedup(lab), ladder_text(lab)),
    "rm-perf-max": lambda lab: Number(max(speedup(lab).values(), default=math.nan), ladder_text(lab), speedup(lab)),
    "rm-occ-rm": racetrack_occupancy,
    "rm-share-rm": lambda lab: share(lab, 1, cycles, least=LEAST_FASTER),
    "rm-share-tlp": lambda lab: share(lab, 2, cycles, least=LEAST_FASTER),
    "rm-share-map": lambda lab: share(lab, 3, cycles, least=LEAST_FASTER),
    "rm-share-preshift": lambda lab: share(lab, 4, cycles, least=LEAST_FASTER),
    "rm-shifts": shift_ratio,
    "rm-shift-tlp": lambda lab: share(lab, 2, shifts, first=1),
    "rm-shift-map": lambda lab: share(lab, 3, shifts, first=1),
    "rm-shift-preshift": lambda lab: share(lab, 4, shifts, first=1),
    "rm-energy": energy_saved,
    "rm-energy-max": lambda lab: highest_of(energy_saved(lab)),
    "rm-energy-rm": lambda lab: share(lab, 1, partial(energy, lab)),
    "rm-energy-tlp": lambda lab: share(lab, 2, partial(energy, lab)),
    "rm-energy-map": lambda lab: share(lab, 3, partial(energy, lab)),
    "rm-energy-preshift": lambda lab: share(lab, 4, partial(energy, lab)),
    "rm-calc-temp": monotonic,
    "rm-split-sort": split_sort,
    "rm-near-ideal": near_ideal,
}
UNTESTED = {
    "rm-area": "given in the text, and by no table: our 55 % is this number itself",
}


def directions(lab: Lab) -> list[Direction]:
    """Check the promises about racetrack on our kernels: preshift and mapping each reduce shifts.

    Means are arithmetic: section 5.1 and Fig. 11(b) reduce "the average number" of shifts, and a mapping may leave none.
    """
    plain = lab.many(PLAIN, "lrr")
    preshift, mapped = lab.many("racetrack", "lrr"), lab.many(PLAIN, "lrr", kind="mapped")
    directions = []
    for name, results in (("preshift", preshift), ("mapping", mapped)):
        each = over(shifts(results), shifts(plain))
        faster = mean(speed(plain, results))
        number = average(each, f"{faster:.2f} times as fast on average" + (
            f"; with preshift steps {mean(over(count(results, 'shifts', 'preshifts'), shifts(plain))):.2f} of all steps"
            if name == "preshift" else ""))
        text = f"demand shifts with {name} over without, lrr (mean)"
        directions.append(Direction(f"racetrack-{name}", "racetrack", text, "x", "below 1", number, number.value < 1, (1,)))
    return directions

