"""Runs the bundled kernels on any machine, and takes means over their numbers."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from rfview.engine import defaults, kernels, plugin as designs
from rfview.engine.papers import Experiment, Number, load, workloads
from rfview.engine.batch import Job, Result, Runs

Each = dict[str, float]
# a paper's settings in addition to its preset: its simulator ran native code, or this many threads (RULES B6.6, B2.12)
NATIVE = {"kernel.schedule": "on", "kernel.addresses": "32"}
OF_PAPER: dict[str, dict[str, Any]] = {
    "hrf": NATIVE, "edram": NATIVE, "rfc": {**NATIVE, "kernel.max_registers": 32, "sm.max_ctas": 16},
}


class Lab:
    """Runs sets of kernels and keeps the results: a paper's kernels on its machine, or without one the core kernels.

    only: restricts the kernels to these; size: for kernels that have several; changed: what an experiment changes.
    """

    def __init__(self, runs: Runs, only: Sequence[str] | None = None, *, paper: str = "", size: str = "small",
                 changed: Experiment | None = None) -> None:
        self.runs, self.only, self.paper, self.size, self.changed = runs, only, paper, size, changed
        self.preset = designs.design(paper).paper_preset if paper else defaults.PRESET
        every = workloads.own(paper) if paper else tuple(only or kernels.CORE)
        self.kernels = tuple(name for name in every if (only is None or name in only)
                             and not (changed and name in changed.without))

    def having(self, changed: Experiment) -> Lab:
        """Return a lab of the same paper with something changed, over the same runs."""
        return Lab(self.runs, changed.kernels or self.only, paper=self.paper, size=self.size, changed=changed)

    def for_paper(self, paper: str) -> Lab:
        """Return a lab of another paper's kernels, over the same runs."""
        return Lab(self.runs, self.only, paper=paper, size=self.size, changed=self.changed)

    @property
    def single(self) -> tuple[str, ...]:
        """Return the kernels that are not double-precision versions of others."""
        return tuple(name for name in self.kernels if not workloads.is_double(name))

    @property
    def double(self) -> tuple[str, ...]:
        """Return the double-precision versions of kernels."""
        return tuple(name for name in self.kernels if workloads.is_double(name))

    def called(self, name: str) -> tuple[str, ...]:
        """Return the available kernels with these names in the paper."""
        return workloads.called(self.paper, name, self.kernels)

    def missing(self, *names: str) -> str:
        """Return a sentence naming those of the paper's kernels that are missing."""
        absent = [name for name in names if not self.called(name)]
        return f"{' and '.join(absent)} {'is' if len(absent) == 1 else 'are'} not among the kernels" if absent else ""

    def by_category(self, each: Mapping[str, float]) -> Each:
        """Return the means over the paper's categories; the values themselves if kernels have none."""
        grouped: dict[str, list[float]] = {}
        for name, value in each.items():
            grouped.setdefault(workloads.category(self.paper, name), []).append(value)
        if "" in grouped:
            return dict(each)
        return {name: sum(values) / len(values) for name, values in grouped.items()}

    def of(self, names: Iterable[str]) -> tuple[str, ...]:
        """Return those of the named kernels that are available."""
        return tuple(name for name in names if name in self.kernels)

    def threads(self, kernel: str) -> int:
        """Return the threads of a CTA of a kernel's first launch."""
        launch = tomllib.loads(kernels.path(kernel, self.size).read_text(encoding="utf-8"))["launch"][0]
        return math.prod(launch["block"])

    def job(self, kernel: str, design: str, scheduler: str, preset: str = "", **changes: Any) -> Job:
        """Return the job of one kernel, compiled like the paper's; changes: kind, outputs. preset: default the paper's."""
        job = Job(str(kernels.path(kernel, self.size)), design, scheduler, preset or self.preset, **changes)
        return job.having(OF_PAPER.get(self.paper))

    def many(self, design: str, scheduler: str, *, names: Iterable[str] | None = None, preset: str = "",
             settings: Mapping[str, Any] | None = None, kind: str = "run", outputs: bool = False) -> dict[str, Result]:
        """Run kernels (default: all) on one machine and return their results by name."""
        chosen = self.kernels if names is None else self.of(names)
        jobs = {name: self.job(name, design, scheduler, preset, kind=kind, outputs=outputs).having(settings)
                for name in chosen}
        return self.results(jobs)

    def results(self, jobs: Mapping[str, Job]) -> dict[str, Result]:
        """Run jobs, with what the experiment changes, and return their results by name."""
        return dict(zip(jobs, self.runs.all([self._changed(job) for job in jobs.values()])))

    def _changed(self, job: Job) -> Job:
        """Return a job with the experiment's changes: of the machine, and of the job's own design."""
        if self.changed is None:
            return job
        job = replace(job, preset=self.changed.preset or job.preset, scheduler=self.changed.scheduler or job.scheduler)
        others = {name for name in designs.BUILT_IN if name != designs.parse_variant(job.design)[0]}
        return job.having({key: value for key, value in self.changed.settings.items() if key.split(".")[0] not in others})


def speed(base: Mapping[str, Result], other: Mapping[str, Result]) -> Each:
    """Return IPC over the base's, per kernel: the same instructions in other cycles."""
    return {name: base[name]["cycles"] / other[name]["cycles"] for name in base}


def geomean(each: Mapping[str, float]) -> float:
    """Return the geometric mean; NaN if there are no values or one is not above 0."""
    values = list(each.values())
    return math.exp(sum(map(math.log, values)) / len(values)) if values and min(values) > 0 else math.nan


def mean(each: Mapping[str, float]) -> float:
    """Return the arithmetic mean; NaN if there are no values."""
    return sum(each.values()) / len(each) if each else math.nan


def highest(each: Mapping[str, float]) -> float:
    """Return the highest value; NaN if there are no values."""
    return max(each.values(), default=math.nan)


def whole(claim: str, each: Mapping[str, float]) -> float:
    """Return a mean, maximum etc. over kernels, as `over` in claims.toml says for a claim."""
    how = load()[claim].over.partition(" ")[0]      # "max over categories", or the name of a single kernel
    return {"geomean": geomean, "max": highest}.get(how, mean)(each)


def loss(claim: str, ratios: Mapping[str, float], note: str = "") -> Number:
    """Return a loss or saving in percent, 100 x (1 - ratio): over all kernels as the claim says, and of each kernel.

    A geometric mean is that of the ratios; if one of them is 0 there is none, and the note names it.
    """
    each = {name: 100 * (1 - ratio) for name, ratio in ratios.items()}
    if load()[claim].over != "geomean":
        return Number(whole(claim, each), note, each)
    none = [name for name, ratio in ratios.items() if ratio <= 0]
    why = f"no geometric mean, as nothing is left of {' and '.join(none)}; " if none else ""
    return Number(100 * (1 - geomean(ratios)), why + note, each)


def gain(claim: str, ratios: Mapping[str, float], note: str = "") -> Number:
    """Return a gain in percent, 100 x (ratio - 1), like loss()."""
    lost = loss(claim, ratios, note)
    return Number(-lost.value, lost.note, {name: -one for name, one in lost.each.items()})


def of_claim(claim: str, each: Mapping[str, float], note: str = "") -> Number:
    """Return the mean of values that the claim asks for."""
    return Number(whole(claim, each), note, dict(each))


def ratio(ratios: Mapping[str, float], note: str = "") -> Number:
    """Return the geometric mean of ratios, for directions."""
    return Number(geomean(ratios), note, dict(ratios))


def average(each: Mapping[str, float], note: str = "") -> Number:
    """Return the arithmetic mean of values."""
    return Number(mean(each), note, dict(each))


def power(results: Mapping[str, Result]) -> Each:
    """Return register-file energy per cycle in pJ, per kernel."""
    return {name: result["energy_pj"]["total"] / result["cycles"] for name, result in results.items()}


def over(top: Mapping[str, float], bottom: Mapping[str, float]) -> Each:
    """Return the ratio of two values per kernel; kernels with a denominator of 0 are omitted."""
    return {name: top[name] / bottom[name] for name in top if bottom[name]}


def count(results: Mapping[str, Result], *events: str) -> Each:
    """Return the sum of some event counts, per kernel."""
    return {name: float(sum(result["counts"].get(event, 0) for event in events)) for name, result in results.items()}
