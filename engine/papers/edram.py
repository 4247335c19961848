"""The claims of the eDRAM paper (approximate refresh), under gto, in single and in double precision."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from rfview.engine import kernels, plugin as designs
from rfview.engine.papers import Direction, Number, value
from rfview.engine.papers.lab import Lab, average, loss, mean, of_claim, over
from rfview.engine.launch import quality

SEEDS = (0, 1, 2)          # worst of three, as the paper
SHARE = "refresh saved is half the share of approximate rows in 7 of 8 periods, and our kernels hold "
ERRORS = "the paper's bit error model is not public: ours is a lognormal retention with 2e-5 at 8 T0 (B4.7)"
HIGH_WORDS = ("bits 15..0 of a double's high word are mantissa bits 47..32: a lost one weighs up to 2^-4, so the paper's "
              "hundredfold better error cannot be expected; few bits are lost in short runs")
OLD_VALUES = ("all 16 low bits inverted change a float by up to 2^-7, at most once per T0, and only where a value rests "
              "longer than T0")
POLYBENCH = ("2dconv", "2mm", "3dconv", "3mm", "atax", "bicg", "corr", "covar", "fdtd-2d", "gemm", "gesummv", "gramschmidt",
             "syrk", "syr2k")          # the rows of Table 2 that have an RMSE, and hotspot
NONE = "no kernels of the paper in this precision"
PASS_OR_FAIL = ("cutcp", "mri-q", "sgemm", "spmv")


def tables() -> Any:
    """Return the design's module."""
    return designs.find("edram")


def worst_saving() -> Number:
    """Return what never refreshing adds, by the paper's own savings."""
    single, double = (value(f"edram-refresh-{kind}") / tables().refresh_saving(3, 1) for kind in ("single", "double"))
    return Number(single / 16, "0.0625 x the share of approximate rows that the paper's 16 % in single precision means, "
                               f"whose 29 % of RMSE stand in the same sentence; double would add {double / 16:.1f}")


EXACT: dict[str, Callable[[], Number]] = {
    "edram-refresh-max": lambda: Number(100 * tables().refresh_saving(3, value("edram-fp-double") / 100),
                                        "0.4375 x the paper's highest share, 72 %"),
    "edram-transistors": lambda: Number(100 * tables().TRANSISTOR_OVERHEAD, "20 transistors per row and 36 per bank"),
    "edram-flags": lambda: Number(tables().FLAG_BYTES, "16 banks x 64 rows, a bit each"),
    "edram-worst-saving": worst_saving,
}


def run(lab: Lab, names: Iterable[str] | None = None, *, outputs: bool = False, **options: Any) -> dict[str, Any]:
    """Run edram with options."""
    text = ",".join(f"{key}={option}" for key, option in options.items())
    return lab.many(f"edram[{text}]" if text else "edram", "gto", names=names, outputs=outputs)


def part(results: Mapping[str, Any], name: str) -> dict[str, float]:
    """Return a part of the energy."""
    return {kernel: result["energy_pj"][name] for kernel, result in results.items()}


def refresh_saved(lab: Lab, names: Iterable[str] | None = None, **options: Any) -> dict[str, float]:
    """Return refresh energy over that of precise refresh, per kernel and cycle."""
    precise = {key: option for key, option in options.items() if key in ("node", "power_gate_unallocated")}
    first, second = run(lab, names, **options), run(lab, names, precise_only=1, **precise)
    return over({k: v / first[k]["cycles"] for k, v in part(first, "refresh").items()},
                {k: v / second[k]["cycles"] for k, v in part(second, "refresh").items()})


def total_saved(lab: Lab, names: Iterable[str] | None = None, **options: Any) -> dict[str, float]:
    """Return all energy over that with precise refresh."""
    return over(part(run(lab, names, **options), "total"), part(run(lab, names, precise_only=1, **options), "total"))


def shares(lab: Lab, names: Iterable[str] | None = None, **options: Any) -> dict[str, float]:
    """Return the time-averaged share of rows that are approximate, of all refreshed rows, per kernel."""
    found = {}
    for name, result in run(lab, names, **options).items():
        counts = result["counts"]
        found[name] = counts["approximate_turns"] / max(counts["row_refreshes"], 1)
    return found


def about_shares(lab: Lab, names: Iterable[str] | None = None) -> str:
    """Say what share of rows our kernels hold approximate."""
    used = mean(shares(lab, names, power_gate_unallocated=1))
    return SHARE + (f"{100 * mean(shares(lab, names)):.0f} % of all rows approximate, {100 * used:.0f} % of those in use: "
                    "64-bit addresses, counters and loaded values are precise, and small grids leave rows unused")


def errors(lab: Lab, names: Iterable[str] | None = None, metric: str = "rmse", **options: Any) -> dict[str, float]:
    """Return the worst error of three seeds against the exact run, per kernel, in percent; inf where a run misbehaved."""
    chosen = lab.kernels if names is None else lab.of(names)
    exact = lab.many("sram", "gto", names=chosen, outputs=True)
    found = dict.fromkeys(chosen, 0.0)
    for seed in SEEDS:
        for name, result in run(lab, chosen, outputs=True, seed=seed, **options).items():
            if result["misbehaved"]:
                found[name] = math.inf
                continue
            wanted = exact[name]["outputs"]
            worst = max(quality("rmse", array, result["outputs"][key])[metric] for key, array in wanted.items())
            found[name] = max(found[name], 100 * worst)
    return found


def rmse(lab: Lab, names: Iterable[str] | None, note: str = ERRORS, **options: Any) -> Number:
    """Return the mean error."""
    return replace(average(errors(lab, names, **options), note), acted=bits_lost(lab, names, **options))


def bits_lost(lab: Lab, names: Iterable[str] | None, **options: Any) -> tuple[float, str]:
    """Return how many bits a run loses, on average over kernels and seeds, and the unit."""
    lost = [float(result["counts"]["bits_lost"]) for seed in SEEDS
            for result in run(lab, lab.kernels if names is None else names, outputs=True, seed=seed, **options).values()]
    return sum(lost) / max(len(lost), 1), "bits lost"


def node_spread(lab: Lab) -> Number:
    """Return how far apart the mean savings of the three nodes are, in points."""
    each = {f"{node} nm": 100 * (1 - mean(refresh_saved(lab, lab.single, node=node))) for node in tables().NODES}
    return Number(max(each.values()) - min(each.values()), "by node; the formula has no T0 in it, but lower halves are "
                  "refreshed in the first of 8 periods, and our runs are only a few periods long at 22 nm", each,
                  lab.single)


def best_m(lab: Lab) -> Number:
    """Return the largest counter width whose worst kernel stays below 1 %."""
    worst = {m: max(errors(lab, m=m).values(), default=math.nan) for m in (1, 2, 3, 4)}
    good = [m for m, error in worst.items() if error < 1]
    listed = ", ".join(f"{m}: {error:.2g}" for m, error in worst.items())
    ran = lab.kernels
    return Number(max(good, default=0) if ran else math.nan, f"worst kernel's RMSE in % by m: {listed}; {ERRORS}",
                  kernels=ran, acted=bits_lost(lab, ran, m=max(worst)))


def single_called(lab: Lab, name: str) -> tuple[str, ...]:
    """Return the kernel that Table 2 calls so, in single precision, or none."""
    return tuple(one for one in lab.called(name) if one in lab.single)


def row_of_table_2(lab: Lab, name: str) -> Number:
    """Return the error of a kernel of Table 2."""
    names = single_called(lab, name)
    return rmse(lab, names) if names else Number(math.nan, lab.missing(name))


def flagged(lab: Lab, claim: str, name: str, *, double: bool) -> Number:
    """Return the time-averaged share of the allocated rows that a kernel holds approximate, in percent."""
    names = tuple(one for one in lab.called(name) if one in (lab.double if double else lab.single))
    if not names:
        return Number(math.nan, f"{name} in {'double' if double else 'single'} precision is not among the kernels")
    each = {kernel: 100 * one for kernel, one in shares(lab, names, power_gate_unallocated=1).items()}
    return of_claim(claim, each, "of rows that belong to a warp; addresses, counters and loaded values are precise")


def outputs(lab: Lab, names: tuple[str, ...]) -> Iterable[tuple[np.ndarray, np.ndarray, bool]]:
    """Yield each array of the exact run, that of an approximate run with each seed, and whether that run misbehaved."""
    exact = lab.many("sram", "gto", names=names, outputs=True)
    for seed in SEEDS:
        for name, result in run(lab, names, outputs=True, seed=seed).items():
            for key, wanted in exact[name]["outputs"].items():
                yield wanted, result["outputs"][key], bool(result["misbehaved"])


def same(lab: Lab, name: str) -> Number:
    """Return 1 where a kernel's own test passes for all seeds: the tolerance of its launch file, of any of its sizes."""
    names = single_called(lab, name)
    if not names:
        return Number(math.nan, lab.missing(name))
    rtol, atol = tolerance(names[0])
    fine = all(not broken and np.allclose(got, wanted, rtol=rtol, atol=atol, equal_nan=True)
               for wanted, got, broken in outputs(lab, names))
    return Number(float(fine), f"within {rtol:g} of each value or {atol:g} of the exact run's, its launch file's tolerance, "
                  "three seeds", kernels=names, acted=bits_lost(lab, names))


def tolerance(kernel: str) -> tuple[float, float]:
    """Return the greatest relative and absolute tolerance of a kernel's launch file."""
    expect = tomllib.loads(kernels.path(kernel).read_text(encoding="utf-8")).get("expect", {}).values()
    return tuple(max((float(one.get(key, 0.0)) for one in expect), default=0.0)
                 for key in ("rtol", "atol"))  # type: ignore[return-value]


def picture(lab: Lab, name: str) -> Number:
    """Return the worst PSNR of a kernel's outputs in dB."""
    names = single_called(lab, name)
    if not names:
        return Number(math.nan, lab.missing(name))
    worst = min(-math.inf if broken else quality("psnr", wanted, got)["psnr"] for wanted, got, broken in outputs(lab, names))
    return Number(worst, "worst of three seeds", kernels=names, acted=bits_lost(lab, names))


def mismatches(lab: Lab, name: str) -> Number:
    """Return how many values of a kernel's outputs of whole numbers differ, in the worst of three seeds."""
    names = single_called(lab, name)
    if not names:
        return Number(math.nan, lab.missing(name))
    whole = [(wanted, got, broken) for wanted, got, broken in outputs(lab, names) if wanted.dtype.kind in "iu"]
    worst = max((wanted.size if broken else int((wanted != got).sum()) for wanted, got, broken in whole), default=math.nan)
    return Number(worst, "assignments, worst of three seeds", kernels=names, acted=bits_lost(lab, names))


def refresh(lab: Lab, claim: str, names: tuple[str, ...]) -> Number:
    """Return the refresh energy saved over precise refresh."""
    if not names:
        return Number(math.nan, NONE)
    return loss(claim, refresh_saved(lab, names), about_shares(lab, names))


def total(lab: Lab, claim: str, names: tuple[str, ...], **options: Any) -> Number:
    """Return all energy saved over precise refresh."""
    if not names:
        return Number(math.nan, NONE)
    return of_claim(claim, percent(total_saved(lab, names, **options)), about_shares(lab, names))


def percent(each: Mapping[str, float]) -> dict[str, float]:
    """Return what is saved in percent."""
    return {name: 100 * (1 - one) for name, one in each.items()}


MEASURED: dict[str, Callable[[Lab], Number]] = {
    "edram-refresh-single": lambda lab: refresh(lab, "edram-refresh-single", lab.single),
    "edram-refresh-double": lambda lab: refresh(lab, "edram-refresh-double", lab.double),
    "edram-rmse-single": lambda lab: rmse(lab, lab.single),
    "edram-rmse-double": lambda lab: rmse(lab, lab.double, HIGH_WORDS),
    "edram-best-m": best_m,
    "edram-node-independent": node_spread,
    "edram-worst-rmse": lambda lab: rmse(lab, lab.single, OLD_VALUES, never_refresh_low=1),
    "edram-total-single-11": lambda lab: total(lab, "edram-total-single-11", lab.single),
    "edram-total-double-11": lambda lab: total(lab, "edram-total-double-11", lab.double),
    "edram-total-single-22": lambda lab: total(lab, "edram-total-single-22", lab.single, node=22),
    "edram-total-double-22": lambda lab: total(lab, "edram-total-double-22", lab.double, node=22),
    "edram-total-max-11": lambda lab: total(lab, "edram-total-max-11", lab.kernels),
    "edram-gated": lambda lab: total(lab, "edram-gated", lab.kernels, power_gate_unallocated=1),
    "edram-fp-single": lambda lab: flagged(lab, "edram-fp-single", "3DCONV", double=False),
    "edram-fp-double": lambda lab: flagged(lab, "edram-fp-double", "2DCONV", double=True),
    **{f"edram-t2-{name}": partial(row_of_table_2, name=name) for name in (*POLYBENCH, "hotspot")},
    **{f"edram-t2-{name}": partial(same, name=name) for name in PASS_OR_FAIL},
    "edram-t2-srad": lambda lab: picture(lab, "srad"),
    "edram-t2-streamcluster": lambda lab: mismatches(lab, "streamcluster"),
}
UNTESTED: dict[str, str] = {}


def directions(lab: Lab) -> list[Direction]:
    """Check what is promised of edram on our kernels."""
    share = shares(lab)
    ratios = refresh_saved(lab)
    gap = {name: 100 * (1 - ratios[name] - tables().refresh_saving(3, share[name])) for name in share}
    saved = ", ".join(f"{name} {100 * (1 - one):.1f}" for name, one in ratios.items())
    number = Number(mean(gap), f"refresh energy saved in %: {saved}; mean {100 * (1 - mean(ratios)):.1f} %, 0.4375 x share "
                               f"is {100 * tables().refresh_saving(3, mean(share)):.1f} %; {about_shares(lab)}", gap)
    return [Direction("edram-refresh", "edram", "refresh energy saved less 0.4375 x the share of approximate rows (mean)",
                      "points", "within 2 points for every kernel, above 0 saved where the share is",
                      number, all(abs(one) <= 2 for one in gap.values())
                      and all(ratios[name] < 1 for name in share if share[name]))]
