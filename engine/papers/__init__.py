"""What the papers claim, beside what this machine computes or measures; nothing here is compiled into it.

claims.toml holds the facts. Each paper has a module (hrf, rfc, hcrf, edram, racetrack) with four tables by claim: EXACT, a
formula over the project's own technology tables and machine presets; MEASURED, how runs of the bundled kernels give the
number; UNTESTED, why not; and DIRECTIONS, what the project promises of its own kernels. One rule judges all claims, below;
nothing is tuned for one of them.

    baselines  places   each paper's own baseline; where a design keeps values, and which events read and write there
    lab                 bundled kernels under any machine, and how their numbers are put together
    samples             what only stepping through a run shows
    figures             measured figures that explain a difference from a paper
"""

from __future__ import annotations

import importlib
import math
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

FILE = Path(__file__).parent / "claims.toml"
PAPERS = {
    "hrf_dac15": "hrf", "rfc_isca11": "rfc", "hcrf": "hcrf", "edram_mdat16": "edram", "racetrack_jcst16": "racetrack",
}
COMPARED_WITH = {"stt": "hrf", "single_buffer": "hrf"}     # designs that another one's paper compares with
HOLDS, FAILS, UNTESTED = "holds", "does not hold", "not tested here"
EXACT, SIMULATED = "exact", "simulated"
NEAR = 0.25          # of the paper's value: as near as other kernels on another machine may come and still agree
NEAR_POINTS = 2.0    # for percentages, if that is more
RULE = ("exact: the number computed is the paper's at the digits it prints, or in the range it gives; "
        "simulated: in the range the paper gives, else within a quarter of its value (percentages: or 2 points)")


@dataclass(frozen=True)
class Claim:
    """One statement of a paper. value in `unit`; low, high: the range it gives, else None."""

    id: str
    paper: str
    section: str
    design: str
    baseline: str
    quantity: str
    value: float
    unit: str
    kind: str
    how: str
    conditions: str = ""
    workloads: str = ""
    over: str = ""
    low: float | None = None
    high: float | None = None
    more: Mapping[str, Any] = field(default_factory=dict)

    @property
    def paper_design(self) -> str:
        """Return the design that the claim's paper is about."""
        return PAPERS[self.paper]


@dataclass(frozen=True)
class Number:
    """A number computed or measured: the value in the claim's unit, per kernel where it has kernels, and a sentence."""

    value: float
    note: str = ""
    each: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Finding:
    """A claim with what came out: verdict HOLDS, FAILS or UNTESTED, the number if any, and a sentence."""

    claim: Claim
    verdict: str
    number: Number | None
    note: str


@dataclass(frozen=True)
class Direction:
    """A promise about the project's own kernels. number: over all of them; wanted: in words; holds: whether it is kept."""

    id: str
    design: str
    text: str
    unit: str
    wanted: str
    number: Number
    holds: bool


@lru_cache
def load() -> dict[str, Claim]:
    """Return all claims by id, in the order of the file."""
    found: dict[str, Claim] = {}
    for entry in tomllib.loads(FILE.read_text(encoding="utf-8"))["claim"]:
        known = {key: entry.pop(key) for key in list(entry) if key in Claim.__dataclass_fields__}
        claim = Claim(**known, low=entry.pop("lo", None), high=entry.pop("hi", None), more=entry)
        assert claim.id not in found and claim.kind in (EXACT, SIMULATED), claim.id
        found[claim.id] = claim
    return found


def module(design: str) -> Any:
    """Return the module that checks the claims of a design's paper."""
    return importlib.import_module(f"rfview.engine.papers.{design}")


def value(claim: str) -> float:
    """Return the paper's value of a claim."""
    return float(load()[claim].value)


def judge(claim: Claim, number: Number) -> bool:
    """Say whether a number agrees with a claim, by RULE."""
    got = number.value
    if claim.low is not None and claim.high is not None:
        return claim.low <= got <= claim.high
    if not math.isfinite(claim.value) or not math.isfinite(got):
        return claim.value == got
    if claim.kind == EXACT:
        return agrees_as_printed(got, claim.value)
    near = NEAR * abs(claim.value)
    return abs(got - claim.value) <= max(near, NEAR_POINTS if claim.unit in ("%", "points") else 0.0)


def agrees_as_printed(got: float, printed: float) -> bool:
    """Say whether a number rounded to the digits of the printed one, or cut off after its decimals, is the printed one."""
    digits = len(repr(float(printed)).partition(".")[2].rstrip("0"))
    scale = 10.0**digits
    wanted = round(printed * scale)
    rounded = math.floor(got * scale + 0.5 + 1e-9)
    return wanted == rounded or (digits > 0 and wanted == math.floor(got * scale + 1e-9))


def check(claim: Claim, compute: Callable[[], Number] | None, reason: str) -> Finding:
    """Return the finding of a claim; compute is None where it is not tested, for that reason."""
    if compute is None:
        return Finding(claim, UNTESTED, None, reason)
    number = compute()
    if math.isnan(number.value):
        return Finding(claim, UNTESTED, None, number.note)
    return Finding(claim, HOLDS if judge(claim, number) else FAILS, number, number.note)
