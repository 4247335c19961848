"""One row of the table: a measurement and its goal."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from typing import Any


def row(what: str, values: Sequence[float] | float, unit: str, at_most: float | None = None, at_least: float | None = None,
        note: str = "", cpu: Sequence[float] = ()) -> dict[str, Any]:
    """Return a row: the median of the values, their spread, the goal as text, and whether the median meets it.

    cpu: the same measurements as CPU time, on which other activity has less effect.
    """
    several = list(values) if isinstance(values, Sequence) else [values]
    value = statistics.median(several)
    found: dict[str, Any] = {"what": what, "value": short(value), "unit": unit}
    if len(several) > 1:
        found |= {"spread": [short(min(several)), short(max(several))], "runs": len(several)}
    if cpu:
        found["cpu"] = short(statistics.median(cpu))
    if at_most is not None:
        found |= {"goal": f"<= {at_most:g} {unit}", "met": value <= at_most}
    if at_least is not None:
        found |= {"goal": f">= {at_least:g} {unit}", "met": value >= at_least}
    return found | ({"note": note} if note else {})


def short(value: float) -> float:
    """Return a number with four significant digits."""
    return float(f"{value:.4g}")
