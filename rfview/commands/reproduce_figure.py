"""`rfview reproduce --figure ID`: the numbers of one claim or direction, a bar per kernel and the paper's value.

    hcrf-ipc  IPC loss, hcrf over sram, %
      gemm        ████▏                0.9
      nw          ████████▍            1.9
      over all    ███████▎  │          1.6
                            │ paper, V-C, 1.9
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from rfview.engine import files, papers
from rfview.engine.errors import InputError
from rfview import charts
from rfview.commands import options, progress
from rfview.engine.wording import suggest

if TYPE_CHECKING:
    from rfview.engine.papers.lab import Lab

LIST = "list"


def run(args: argparse.Namespace) -> int:
    """Print the chosen figure as text, and write it as SVG; `list` lists all figures."""
    if args.figure is None:
        raise InputError(f"-o {args.output}: only with --figure ID; `rfview reproduce --figure list` lists them")
    if args.exact or args.directions:
        raise InputError("--figure: one figure is chosen by its name; leave out --exact and --directions")
    if args.output is not None:
        files.check_target(args.output)
    known = drawable(args.design)
    if args.figure == LIST:
        rows = [f"{name:<26} {text}" for name, (text, _) in known.items()]
        print(json.dumps(list(known)) if args.json else "\n".join(rows))
        return 0
    if args.figure not in known:
        hint = suggest(args.figure, known) or "; `rfview reproduce --figure list` lists them"
        raise InputError(f"--figure {args.figure}: no such figure{hint}")
    from rfview.engine.batch import Runs
    from rfview.engine.papers.lab import Lab

    with progress.bar() as report, Runs(report, args.workers) as runs:
        paper = papers.load()[args.figure].paper_design
        kernels = options.bundled(args.kernels) if args.kernels else None
        chart, data = known[args.figure][1](Lab(runs, kernels, paper=paper, size=args.size))
    print(json.dumps(data) if args.json else charts.text(chart))
    if args.output is not None:
        files.write(args.output, charts.svg(chart))
    return 0


Figure = Callable[["Lab"], tuple[charts.Chart, dict[str, Any]]]


def drawable(design: str | None) -> dict[str, tuple[str, Figure]]:
    """Return id -> (title, function that draws it) for every claim measured on kernels, of one paper's design or of all."""
    from rfview.engine import papers as claims

    figures: dict[str, tuple[str, Figure]] = {}
    for claim in claims.load().values():
        measured = claims.module(claim.paper_design).MEASURED.get(claim.id)
        if measured is not None and claims.COMPARED_WITH.get(design or "", design) in (None, claim.paper_design):
            against = f" over {claim.baseline}" if claim.baseline not in ("-", "") else ""
            figures[claim.id] = (f"{claim.quantity}, {claim.design}{against} ({claim.unit})", _drawer(claim, measured))
    return figures


def _drawer(claim: Any, measured: Callable[[Any], Any]) -> Figure:
    """Return a function that measures and draws a claim."""

    def draw(lab: Lab) -> tuple[charts.Chart, dict[str, Any]]:
        number = measured(lab)
        each = {name: float(value) for name, value in number.each.items()}
        if not each and not math.isfinite(number.value):
            raise InputError(f"--figure {claim.id}: these kernels give no number for it")
        against = f" over {claim.baseline}" if claim.baseline not in ("-", "") else ""
        title = f"{claim.id}  {claim.quantity}, {claim.design}{against}"
        bars = [charts.Bar(name, value) for name, value in each.items()] + [charts.Bar("over all", float(number.value))]
        chart = charts.Chart(title, tuple(bars), claim.unit, ".3g", (float(claim.value), f"paper, {claim.section}"))
        data = {"id": claim.id, "quantity": claim.quantity, "unit": claim.unit, "paper_value": claim.value,
                "value": number.value if math.isfinite(number.value) else None, "kernels": each, "note": number.note}
        return chart, data

    return draw
