"""The claims of the eDRAM paper (approximate refresh), under gto, in single and in double precision."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from types import ModuleType
from typing import Any

from rfview.engine import plugin as designs
from rfview.engine.papers import Direction, Number, value
from rfview.engine.papers.edram_errors import TABLE_2, best_m, double_over_single, rmse, run
from rfview.engine.papers.lab import Lab, loss, mean, of_claim, over

SHARE = "refresh saved is half the share of approximate rows in 7 of 8 periods, and our kernels hold "
HIGH_WORDS = ("bits 15..0 of a double's high word are mantissa bits 47..32: a lost one weighs up to 2^-4, so the paper's "
              "hundredfold better error cannot be expected; few bits are lost in short runs")
OLD_VALUES = ("all 16 low bits inverted change a float by up to 2^-7, at most once per T0, and only where a value rests "
              "longer than T0")
NONE = "no kernels of the paper in this precision"


def tables() -> ModuleType:
    """Return the design's module."""
    return designs.find("edram")


def worst_saving() -> Number:
    """Return what never refreshing saves in addition, from the paper's own savings."""
    single, double = (value(f"edram-refresh-{kind}") / tables().refresh_saving(3, 1) for kind in ("single", "double"))
    return Number(single / 16, "0.0625 x the share of approximate rows that the paper's 16 % in single precision means, "
                               f"whose 29 % of RMSE are in the same sentence; double would add {double / 16:.1f}")


EXACT: dict[str, Callable[[], Number]] = {
    "edram-refresh-max": lambda: Number(100 * tables().refresh_saving(3, value("edram-fp-double") / 100),
                                        "0.4375 x the paper's highest share, 72 %"),
    "edram-transistors": lambda: Number(100 * tables().TRANSISTOR_OVERHEAD, "20 transistors per row and 36 per bank"),
    "edram-flags": lambda: Number(tables().FLAG_BYTES, "16 banks x 64 rows, a bit each"),
    "edram-worst-saving": worst_saving,
}


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
    """Return total energy over that with precise refresh."""
    return over(part(run(lab, names, **options), "total"), part(run(lab, names, precise_only=1, **options), "total"))


def shares(lab: Lab, names: Iterable[str] | None = None, **options: Any) -> dict[str, float]:
    """Return the time-averaged share of approximate rows among all refreshed rows, per kernel."""
    shares = {}
    for name, result in run(lab, names, **options).items():
        counts = result["counts"]
        shares[name] = counts["approximate_turns"] / max(counts["row_refreshes"], 1)
    return shares


def about_shares(lab: Lab, names: Iterable[str] | None = None) -> str:
    """Return a sentence about our kernels' share of approximate rows."""
    used = mean(shares(lab, names, power_gate_unallocated=1))
    return SHARE + (f"{100 * mean(shares(lab, names)):.0f} % of all rows approximate, {100 * used:.0f} % of those in use: "
                    "addresses, counters and loaded values are precise, and what no warp holds is, too")


def node_spread(lab: Lab) -> Number:
    """Return how far apart the mean savings of the three technology nodes are, in percentage points."""
    each = {f"{node} nm": 100 * (1 - mean(refresh_saved(lab, lab.single, node=node))) for node in tables().NODES}
    return Number(max(each.values()) - min(each.values()), "by node; the formula has no T0 in it, but lower halves are "
                  "refreshed in the first of 8 periods, and our runs are only a few periods long at 22 nm", each,
                  lab.single)


def flagged(lab: Lab, claim: str, name: str, *, double: bool) -> Number:
    """Return the time-averaged share of the allocated rows that a kernel holds approximate, in percent."""
    names = tuple(one for one in lab.called(name) if one in (lab.double if double else lab.single))
    if not names:
        return Number(math.nan, f"{name} in {'double' if double else 'single'} precision is not among the kernels")
    each = {kernel: 100 * one for kernel, one in shares(lab, names, power_gate_unallocated=1).items()}
    return of_claim(claim, each, "of rows that belong to a warp; addresses, counters and loaded values are precise")


def refresh(lab: Lab, claim: str, names: tuple[str, ...]) -> Number:
    """Return the refresh energy saved over precise refresh."""
    if not names:
        return Number(math.nan, NONE)
    return loss(claim, refresh_saved(lab, names), about_shares(lab, names))


def total(lab: Lab, claim: str, names: tuple[str, ...], **options: Any) -> Number:
    """Return the total energy saved over precise refresh."""
    if not names:
        return Number(math.nan, NONE)
    return of_claim(claim, percent(total_saved(lab, names, **options)), about_shares(lab, names))


def percent(each: Mapping[str, float]) -> dict[str, float]:
    """Return the saving in percent."""
    return {name: 100 * (1 - one) for name, one in each.items()}


MEASURED: dict[str, Callable[[Lab], Number]] = {
    "edram-refresh-single": lambda lab: refresh(lab, "edram-refresh-single", lab.single),
    "edram-refresh-double": lambda lab: refresh(lab, "edram-refresh-double", lab.double),
    "edram-rmse-single": lambda lab: rmse(lab, lab.single),
    "edram-rmse-double": lambda lab: rmse(lab, lab.double, HIGH_WORDS),
    "edram-double-error": double_over_single,
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
    **TABLE_2,
}
UNTESTED: dict[str, str] = {}


def directions(lab: Lab) -> list[Direction]:
    """Check the promises about edram on our kernels."""
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
