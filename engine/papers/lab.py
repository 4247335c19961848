"""The bundled kernels under any machine, and how their numbers are put together."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rfview.engine import kernels
from rfview.engine.papers import Number, load
from rfview.engine.papers.batch import Job, Result, Runs

Each = dict[str, float]
# the kernels of ours that a paper used too
HRF_KERNELS = ("vectoradd", "scalarprod", "fwt", "reduction", "histogram", "montecarlo", "binomial", "bfs", "nw")
EDRAM_KERNELS = ("2dconv", "atax", "gemm", "hotspot", "mriq")
RACETRACK_KERNELS = ("hotspot", "btree", "histogram")
DOUBLE_KERNELS = ("gemm_double",)
HCRF_KERNELS = ("bfs",)
OF_PAPER = {"hrf": HRF_KERNELS, "rfc": (), "hcrf": HCRF_KERNELS, "edram": EDRAM_KERNELS + DOUBLE_KERNELS,
            "racetrack": RACETRACK_KERNELS}


class Lab:
    """Runs sets of kernels and remembers them. only: the kernels there are (default: all that are bundled)."""

    def __init__(self, runs: Runs, only: Sequence[str] | None = None) -> None:
        self.runs = runs
        self.kernels = tuple(only or kernels.CORE)

    def of(self, names: Iterable[str]) -> tuple[str, ...]:
        """Return those of the named kernels that are there."""
        return tuple(name for name in names if name in self.kernels)

    def threads(self, kernel: str) -> int:
        """Return the threads of a CTA of a kernel's first launch."""
        launch = tomllib.loads(kernels.path(kernel).read_text(encoding="utf-8"))["launch"][0]
        return math.prod(launch["block"])

    def job(self, kernel: str, design: str, scheduler: str, preset: str = "fermi", **changes: Any) -> Job:
        """Return the job of one kernel; changes: kind, outputs."""
        return Job(str(kernels.path(kernel)), design, scheduler, preset, **changes)

    def many(self, design: str, scheduler: str, *, names: Iterable[str] | None = None, preset: str = "fermi",
             settings: Mapping[str, Any] | None = None, kind: str = "run", outputs: bool = False) -> dict[str, Result]:
        """Run kernels (default: all) on one machine and return their results by name."""
        chosen = self.kernels if names is None else self.of(names)
        jobs = [self.job(name, design, scheduler, preset, kind=kind, outputs=outputs).having(settings) for name in chosen]
        return dict(zip(chosen, self.runs.all(jobs)))


def speed(base: Mapping[str, Result], other: Mapping[str, Result]) -> Each:
    """Return IPC over the base's, per kernel: the same instructions in other cycles."""
    return {name: base[name]["cycles"] / other[name]["cycles"] for name in base}


def geomean(each: Mapping[str, float]) -> float:
    """Return the geometric mean; NaN for nothing and where a value is not above 0, since there is none then."""
    values = list(each.values())
    return math.exp(sum(map(math.log, values)) / len(values)) if values and min(values) > 0 else math.nan


def mean(each: Mapping[str, float]) -> float:
    """Return the arithmetic mean, NaN for nothing."""
    return sum(each.values()) / len(each) if each else math.nan


def highest(each: Mapping[str, float]) -> float:
    """Return the highest value, NaN for nothing."""
    return max(each.values(), default=math.nan)


def whole(claim: str, each: Mapping[str, float]) -> float:
    """Return what kernels give together, put together as the paper does by claims.toml's `over` of a claim."""
    return {"geomean": geomean, "max": highest}.get(load()[claim].over, mean)(each)


def loss(claim: str, ratios: Mapping[str, float], note: str = "") -> Number:
    """Return what is lost or saved in percent, 100 x (1 - ratio): of all kernels as the claim wants it, and of each.

    A geometric mean is that of the ratios; there is none where one is 0, and the note says whose.
    """
    each = {name: 100 * (1 - ratio) for name, ratio in ratios.items()}
    if load()[claim].over != "geomean":
        return Number(whole(claim, each), note, each)
    none = [name for name, ratio in ratios.items() if ratio <= 0]
    why = f"no geometric mean, as nothing is left of {' and '.join(none)}; " if none else ""
    return Number(100 * (1 - geomean(ratios)), why + note, each)


def gain(claim: str, ratios: Mapping[str, float], note: str = "") -> Number:
    """Return what is gained in percent, 100 x (ratio - 1), as loss() does."""
    found = loss(claim, ratios, note)
    return Number(-found.value, found.note, {name: -one for name, one in found.each.items()})


def of_claim(claim: str, each: Mapping[str, float], note: str = "") -> Number:
    """Return values put together as the claim wants it."""
    return Number(whole(claim, each), note, dict(each))


def ratio(ratios: Mapping[str, float], note: str = "") -> Number:
    """Return the geometric mean of ratios, as directions have it."""
    return Number(geomean(ratios), note, dict(ratios))


def average(each: Mapping[str, float], note: str = "") -> Number:
    """Return the arithmetic mean of values."""
    return Number(mean(each), note, dict(each))


def power(results: Mapping[str, Result]) -> Each:
    """Return register-file energy per cycle in pJ, per kernel."""
    return {name: result["energy_pj"]["total"] / result["cycles"] for name, result in results.items()}


def over(top: Mapping[str, float], bottom: Mapping[str, float]) -> Each:
    """Return the ratio of two values per kernel; kernels with nothing below are left out."""
    return {name: top[name] / bottom[name] for name in top if bottom[name]}


def count(results: Mapping[str, Result], *events: str) -> Each:
    """Return the sum of some event counts, per kernel."""
    return {name: float(sum(result["counts"].get(event, 0) for event in events)) for name, result in results.items()}
