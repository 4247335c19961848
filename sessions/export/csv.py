"""Comma-separated values: one row per cycle, with the warps in each state, or with given expressions."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from typing import IO

import numpy as np

from rfview.sessions.export.instructions import constants
from rfview.sessions.expressions import compile_expression
from rfview.sessions.timeline.base import Timeline


def write(timeline: Timeline, first: int, last: int, out: IO[str]) -> None:
    """Write cycle c and the number of warps in each state, for c = first..last - 1; states that never occur are omitted."""
    totals = timeline.stall_totals(last) - timeline.stall_totals(first)
    states = [entry for entry in constants(timeline, "stalls").stalls if totals[entry.code]]
    rows = csv.writer(out, lineterminator="\n")
    rows.writerow(["cycle", *(entry.name for entry in states)])
    codes = np.array([entry.code for entry in states])
    for start, stop, _ in timeline.stretches(first + 1, last + 1):
        counts = (timeline.states(start, stop)[:, :, None] == codes).sum(axis=1)
        rows.writerows([start + row - 1, *values] for row, values in enumerate(counts.tolist()))


def write_columns(timeline: Timeline, first: int, last: int, out: IO[str], columns: Sequence[str]) -> None:
    """Write the values of expressions at cycles first..last, as `print` shows them; a list takes a column per element.

    What happens in cycle c shows at c + 1, so the heading of the cycles is at_cycle, not cycle as in `write`.
    """
    compiled = [compile_expression(text, timeline) for text in columns]
    rows = csv.writer(out, lineterminator="\n")
    head = ["at_cycle"]
    for expression in compiled:
        names = [f"{expression.text}[{index}]" for index in range(expression.width)]
        head += names or [expression.text]
    rows.writerow(head)
    for start, stop, _ in timeline.stretches(first, last + 1):
        parts = [expression.column(start, stop).reshape(stop - start, -1) for expression in compiled]
        for row in range(stop - start):
            values = [value for part in parts for value in part[row].tolist()]
            rows.writerow([start + row, *(int(value) if isinstance(value, bool) else value for value in values)])
