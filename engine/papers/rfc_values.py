"""How often and how soon register values are read, counted as in the RFC paper's section 2.2, and its categories."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

from rfview.engine.papers import Number, workloads
from rfview.engine.papers.lab import Lab, mean, of_claim

PRESET = "gebhart"


def values(lab: Lab, claim: str, *, over_reads: int | None = None, short: bool = False, category: str = "") -> Number:
    """Return the percentage of values read once, more than `over_reads` times, or once within three instructions.

    Maxima are over the paper's categories. category: only its kernels; NaN if there are none.
    """
    each = {}
    for name, result in lab.many("sram", "gto", preset=PRESET, kind="sampled").items():
        reads = result["values_by_reads"]
        wanted = result["values_short"] if short else reads[1] if over_reads is None else sum(reads[over_reads + 1:])
        if category in ("", workloads.category("rfc", name)):
            each[name] = 100 * wanted / max(sum(reads), 1)
    if category and not each:
        return Number(math.nan, f"no kernels of the category {category}")
    number = of_claim(claim, lab.by_category(each) if over_reads is None else each)
    return replace(number, kernels=tuple(each))


def lifetimes(lab: Lab) -> str:
    """Return a sentence on how soon values are read, over the kernels that were stepped through."""
    short = [f"{name} {one:.0f}" for name, one in values(lab, "rfc-read-more2", short=True).each.items()]
    return f"values read once and within 3 instructions, in % (the paper: at most 40): {', '.join(short)}" if short else ""


def by_category(lab: Lab, each: Mapping[str, float]) -> Number:
    """Return a mean over kernels, with the means of the paper's categories."""
    note = "mean of kernels and means of categories in the range of the paper's"
    return Number(mean(each), note, lab.by_category(each), tuple(each))
