"""The papers' claims, and what this machine computes or measures for them; nothing here is compiled into it.

claims.toml holds the facts, experiments.toml what is changed to show why a number differs. Each paper has a module (hrf,
rfc, hcrf, edram, racetrack) with four tables by claim: EXACT, a formula over the project's technology tables and machine
presets; MEASURED, how the number follows from runs of the bundled kernels; UNTESTED, the reason; and DIRECTIONS, effects
that the project promises for its own kernels. Nothing is tuned to a claim.

    verdicts            the rule that judges all claims
    baselines  places   each paper's own baseline; where a design keeps values, and which events read and write there
    workloads           the origin of the bundled kernels, from their workload.toml
    lab                 bundled kernels on any machine, and means over their numbers
    rfc_values  edram_errors  table_1    parts of rfc, edram and racetrack: reads of values, errors of outputs, Table 1
    figures             measured figures that explain a difference from a paper
"""

from __future__ import annotations

import importlib
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from types import ModuleType
from typing import Any

FILE = Path(__file__).parent / "claims.toml"
EXPERIMENTS = Path(__file__).parent / "experiments.toml"
PAPERS = {
    "hrf_dac15": "hrf", "rfc_isca11": "rfc", "hcrf": "hcrf", "edram_mdat16": "edram", "racetrack_jcst16": "racetrack",
}
COMPARED_WITH = {"stt": "hrf", "single_buffer": "hrf"}     # designs that another design's paper compares with
EXACT, SIMULATED = "exact", "simulated"
SORTS = ("effect", "small loss", "bound", "range", "maximum", "scale", "count", "parameter", "set", "pass", "words", "exact")


@dataclass(frozen=True)
class Experiment:
    """What is changed to show why a claim's number differs, or how an open point of its paper, read otherwise, moves it.

    what: in words. reading: the rule of RULES.md whose other reading it is, "" if it shows a cause. settings:
    {"section.key": value} of the machine or of a design; preset, scheduler: others than the paper's; kernels, without:
    these kernels alone, or all but these.
    """

    what: str
    reading: str = ""
    settings: Mapping[str, Any] = field(default_factory=dict)
    preset: str = ""
    scheduler: str = ""
    kernels: tuple[str, ...] = ()
    without: tuple[str, ...] = ()


@dataclass(frozen=True)
class Claim:
    """One statement of a paper. value: in `unit`; low, high: its range, if it gives one, else None.

    sort, null, bound, digits: how it is judged (verdicts); named: how many kernels the paper names for it; measurement:
    claims with the same one are a single measurement; not_derivable, contradicts: why it is not judged; cause: why the
    result differs, which the experiments show.
    """

    id: str
    paper: str
    section: str
    design: str
    baseline: str
    quantity: str
    value: float
    unit: str
    kind: str
    sort: str
    how: str
    conditions: str = ""
    workloads: str = ""
    over: str = ""
    low: float | None = None
    high: float | None = None
    null: float = 0.0
    bound: str = ""
    digits: int | None = None
    named: int = 0
    measurement: str = ""
    not_derivable: str = ""
    contradicts: str = ""
    cause: str = ""
    experiments: tuple[Experiment, ...] = ()
    more: Mapping[str, Any] = field(default_factory=dict)

    @property
    def paper_design(self) -> str:
        """Return the design that the claim's paper is about."""
        return PAPERS[self.paper]


@dataclass(frozen=True)
class Number:
    """A computed or measured number: the value in the claim's unit, per kernel if it is from kernels, and a sentence.

    kernels: those that ran, if `each` is not by kernel. acted: how often the mechanism acted per run, and what it did
    ((12.0, "bits lost")); None if not applicable.
    """

    value: float
    note: str = ""
    each: Mapping[str, float] = field(default_factory=dict)
    kernels: tuple[str, ...] = ()
    acted: tuple[float, str] | None = None

    @property
    def ran(self) -> tuple[str, ...]:
        """Return the kernels that the number is from."""
        return self.kernels or tuple(self.each)


@dataclass(frozen=True)
class Direction:
    """A promise about the project's own kernels. number: over all of them; wanted: as a phrase; holds: whether it is met.

    ends: the bounds in `wanted`; a number close to one of them is printed with the digits that show on which side it is.
    """

    id: str
    design: str
    text: str
    unit: str
    wanted: str
    number: Number
    holds: bool
    ends: tuple[float, ...] = ()


@lru_cache
def experiments() -> dict[str, Experiment]:
    """Return all experiments by name, in file order."""
    by_name = {}
    for name, entry in tomllib.loads(EXPERIMENTS.read_text(encoding="utf-8")).items():
        kernels, without = (tuple(entry.pop(key, ())) for key in ("kernels", "without"))
        by_name[name] = Experiment(**entry, kernels=kernels, without=without)
    return by_name


@lru_cache
def load() -> dict[str, Claim]:
    """Return all claims by id, in file order."""
    known_experiments = experiments()
    claims: dict[str, Claim] = {}
    for entry in tomllib.loads(FILE.read_text(encoding="utf-8"))["claim"]:
        known = {key: entry.pop(key) for key in list(entry) if key in Claim.__dataclass_fields__}
        shown = tuple(known_experiments[name] for name in entry.pop("experiment", ()))
        claim = Claim(**known, low=entry.pop("lo", None), high=entry.pop("hi", None), experiments=shown, more=entry)
        assert claim.id not in claims and claim.kind in (EXACT, SIMULATED) and claim.sort in SORTS, claim.id
        claims[claim.id] = claim
    return claims


def module(design: str) -> ModuleType:
    """Return the module that checks the claims of a design's paper."""
    return importlib.import_module(f"rfview.engine.papers.{design}")


def value(claim: str) -> float:
    """Return the paper's value of a claim."""
    return float(load()[claim].value)
