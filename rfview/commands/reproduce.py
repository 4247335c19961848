"""`rfview reproduce`: the five papers' claims next to what this machine computes and measures on the bundled kernels.

Directions are promises about our kernels; claims are the papers' numbers for theirs, all judged by the same rules
(engine/papers/verdicts.py). The findings are printed paper by paper and claim by claim, or written as one page.
"""

from __future__ import annotations

import argparse
import functools
import json
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from rfview.engine import files, papers
from rfview.engine.errors import InputError
from rfview import __version__
from rfview.commands import options, progress
from rfview.commands.reproduce_text import NO_KERNELS

if TYPE_CHECKING:
    from rfview.engine.papers import Direction
    from rfview.engine.papers.verdicts import Finding
    from rfview.engine.papers.lab import Lab

PAPERS = tuple(papers.PAPERS.values())
DESIGNS = ", ".join((*PAPERS, *papers.COMPARED_WITH))
EPILOG = "exit codes: 0 finished, whether or not the claims hold; 2 bad input"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    parser.add_argument("--design", metavar="D", help=f"only this design's paper: {DESIGNS}")
    parser.add_argument("--exact", action="store_true", help="only claims that follow from tables, without running kernels")
    parser.add_argument("--directions", action="store_true", help="only the directions expected of the bundled kernels")
    parser.add_argument("--kernels", metavar="LIST", help="only these kernels (default: all workloads of the paper)")
    parser.add_argument("--size", choices=("full", "small"), default="full", help="for kernels with two sizes: full "
                        "fills the SM for several waves (default), small is a quick look; directions always use small")
    parser.add_argument("--workers", type=options.positive, default=2, metavar="N", help="worker processes (default 2)")
    options.add_json(parser)
    parser.add_argument("--html", metavar="F", help="write one page with every claim and its figure to this file")
    parser.add_argument("--figure", metavar="ID", help="draw one claim or direction kernel by kernel, with the paper's "
                        "value; 'list' says what can be drawn")
    parser.add_argument("--why", metavar="ID", help="run the experiments that show why a claim's number differs from the "
                        "paper's, and print it before and after, or with --html write it there; 'all' runs every one")
    parser.add_argument("-o", "--output", metavar="FILE.svg", help="with --figure: also write it as SVG")


def run(args: argparse.Namespace) -> int:
    """Check directions and claims, and print them."""
    if args.design is not None and args.design not in (*PAPERS, *papers.COMPARED_WITH):
        raise InputError(f"--design {args.design}: no paper has this design; expected one of {DESIGNS}")
    if args.exact and args.directions:
        raise InputError("--exact and --directions: directions need runs; give one of them")
    if args.figure is not None or args.output is not None:
        from rfview.commands import reproduce_figure

        return reproduce_figure.run(args)
    from rfview.commands import reproduce_why

    if args.why is not None and args.html is None:
        return reproduce_why.run(args)
    chosen = reproduce_why.chosen_claims(args.why, args.design) if args.why is not None else []
    if args.html is not None:
        if args.directions:
            raise InputError("--html: the page has claims; leave out --directions")
        files.check_target(args.html)
    from rfview.commands import reproduce_page, reproduce_text
    from rfview.engine.papers import verdicts
    from rfview.engine.batch import Runs
    from rfview.engine.papers.lab import Lab

    kernels = options.bundled(args.kernels) if args.kernels else None
    with progress.bar() as report, Runs(report, args.workers) as runs:
        labs = {paper: Lab(runs, kernels, paper=paper, size=args.size) for paper in PAPERS}
        directions = [] if args.exact else directions_of(Lab(runs, kernels), args.design)
        findings = [] if args.directions else list(findings_of(labs, args.design, with_runs=not args.exact))
        shown = {claim.id: reproduce_why.outcome(claim, labs[claim.paper_design]) for claim in chosen}
        num_runs = len(runs)
    if args.html is not None:
        files.write(args.html, reproduce_page.page(findings, num_runs, __version__, shown))
    if args.json:
        print(json.dumps(reproduce_text.plain({
            "version": __version__, "rule": verdicts.RULE, "runs": num_runs,
            "counts": reproduce_text.tallies(findings),
            "directions": [reproduce_text.direction_dict(direction) for direction in directions],
            "claims": [reproduce_text.finding_dict(finding) for finding in findings],
        })))
    else:
        print(reproduce_text.text_of(directions, findings, num_runs))
    return 0


def directions_of(lab: Lab, design: str | None) -> list[Direction]:
    """Return the directions of one design or of all."""
    chosen = [papers.COMPARED_WITH.get(design, design)] if design else PAPERS
    directions = [direction for paper in chosen for direction in papers.module(paper).directions(lab)]
    return [direction for direction in directions if design in (None, direction.design)]


def findings_of(labs: Mapping[str, Lab], design: str | None, *, with_runs: bool) -> Iterable[Finding]:
    """Yield the findings for the claims of one design or of all, in the order of the file. labs: by the paper's design."""
    from rfview.engine import papers as claims
    from rfview.engine.papers import verdicts, workloads

    for claim in claims.load().values():
        wanted = claim.paper_design if design in (None, *PAPERS) else claim.design.split("(")[0].split(",")[0]
        if design not in (None, wanted):
            continue
        module = papers.module(claim.paper_design)
        exact, measured = module.EXACT.get(claim.id), module.MEASURED.get(claim.id)
        if exact is None and not with_runs and claim.kind != claims.EXACT:
            continue
        own = workloads.own(claim.paper_design)
        if exact is not None:
            yield verdicts.check(claim, exact, "")
        elif measured is not None and with_runs and not labs[claim.paper_design].kernels:
            yield verdicts.check(claim, None, NO_KERNELS)
        elif measured is not None and with_runs:
            yield verdicts.check(claim, functools.partial(measured, labs[claim.paper_design]), "", own)
        else:
            yield verdicts.check(claim, None, module.UNTESTED.get(claim.id, "needs runs: leave out --exact"))
