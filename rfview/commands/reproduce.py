"""`rfview reproduce`: what the five papers claim, beside what this machine computes and measures on the bundled kernels.

    Directions
      holds          hcrf-lrr  IPC of hcrf over sram, lrr: 0.998 (0.981 nw .. 1.004 gemm; 16 values), wanted 0.97 to 1.03
    Claims of hrf: exact 4 hold, 1 does not; simulated ...
      does not hold  hrf-area-pg  rf area ratio, hrf(pg) over sram: paper 28.3 %, computed 36.8 %
                     Table 1 by bits with both buffers; with one it is 28.2 %: the paper's area counts one buffer

The directions are promises about our kernels; claims are the papers' numbers for theirs, judged by one rule for all.
"""

from __future__ import annotations

import argparse
import functools
import json
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rfview.engine import papers
from rfview.engine.errors import InputError
from rfview import __version__
from rfview.commands import options

if TYPE_CHECKING:
    from rfview.engine.papers import Direction, Number
    from rfview.engine.papers.verdicts import Finding
    from rfview.engine.papers.lab import Lab

PAPERS = tuple(papers.PAPERS.values())
DESIGNS = ", ".join((*PAPERS, *papers.COMPARED_WITH))
EPILOG = "exit codes: 0 done, whatever holds or does not; 2 bad input"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    parser.add_argument("--design", metavar="D", help=f"only this design's paper: {DESIGNS}")
    parser.add_argument("--exact", action="store_true", help="only what follows from tables, without running kernels")
    parser.add_argument("--directions", action="store_true", help="only the directions promised of our kernels")
    parser.add_argument("--kernels", metavar="LIST", help="only these bundled kernels (default: all)")
    parser.add_argument("--workers", type=options.positive, default=2, metavar="N", help="processes that run (default 2)")
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of text")
    parser.add_argument("--figure", metavar="ID", help="draw the numbers per kernel of one claim or direction, with the "
                        "paper's value; list: what can be drawn")
    parser.add_argument("-o", "--output", metavar="FILE.svg", help="with --figure: write it as SVG too")


def run(args: argparse.Namespace) -> int:
    """Check directions and claims, and print them."""
    if args.design is not None and args.design not in (*PAPERS, *papers.COMPARED_WITH):
        raise InputError(f"--design {args.design}: no paper's design; there are {DESIGNS}")
    if args.exact and args.directions:
        raise InputError("--exact and --directions: directions need runs; give one of them")
    if args.figure is not None or args.output is not None:
        from rfview.commands import reproduce_figure

        return reproduce_figure.run(args)
    from rfview.engine.papers.batch import Runs
    from rfview.engine.papers.lab import Lab

    kernels = options.bundled(args.kernels) if args.kernels else None
    with options.progress() as report, Runs(report, args.workers) as runs:
        lab = Lab(runs, kernels)
        directions = [] if args.exact else directions_of(lab, args.design)
        findings = [] if args.directions else list(findings_of(lab, args.design, with_runs=not args.exact))
        num_runs = len(runs)
    if args.json:
        print(json.dumps(plain({
            "version": __version__, "rule": rule(), "runs": num_runs, "directions": [direction_dict(d) for d in directions],
            "claims": [finding_dict(finding) for finding in findings],
        })))
    else:
        print(text_of(directions, findings, num_runs))
    return 0


def rule() -> str:
    """Return the rule by which claims are judged, in words."""
    from rfview.engine.papers import verdicts

    return verdicts.RULE


def directions_of(lab: Lab, design: str | None) -> list[Direction]:
    """Return the directions of one design, or of all."""
    chosen = [papers.COMPARED_WITH.get(design, design)] if design else PAPERS
    found = [direction for paper in chosen for direction in papers.module(paper).directions(lab)]
    return [direction for direction in found if design in (None, direction.design)]


def findings_of(lab: Lab, design: str | None, *, with_runs: bool) -> Iterable[Finding]:
    """Yield the findings of the claims of one design, or of all, in the order of the file."""
    from rfview.engine import papers as claims
    from rfview.engine.papers import lab as kernels, verdicts

    for claim in claims.load().values():
        wanted = claim.paper_design if design in (None, *PAPERS) else claim.design.split("(")[0].split(",")[0]
        if design not in (None, wanted):
            continue
        module = papers.module(claim.paper_design)
        exact, measured = module.EXACT.get(claim.id), module.MEASURED.get(claim.id)
        if exact is None and not with_runs and claim.kind != claims.EXACT:
            continue
        own = kernels.OF_PAPER[claim.paper_design]
        if exact is not None:
            yield verdicts.check(claim, exact, "")
        elif measured is not None and with_runs:
            yield verdicts.check(claim, functools.partial(measured, lab), "", own)
        else:
            yield verdicts.check(claim, None, module.UNTESTED.get(claim.id, "needs runs: leave out --exact"))


def text_of(directions: Sequence[Direction], findings: Sequence[Finding], num_runs: int) -> str:
    """Return everything as text."""
    lines: list[str] = []
    if directions:
        kept = sum(direction.holds for direction in directions)
        lines += [f"Directions, on our kernels: {kept} of {len(directions)} hold", ""]
        for direction in directions:
            lines += direction_lines(direction)
        lines.append("")
    for paper in dict.fromkeys(finding.claim.paper_design for finding in findings):
        own = [finding for finding in findings if finding.claim.paper_design == paper]
        lines += [f"Claims of the {paper} paper: {tally(own)}", ""]
        for finding in own:
            lines += finding_lines(finding)
        lines.append("")
    if findings:
        lines += [f"All claims: {tally(findings)}", f"Rule: {rule()}."]
    lines.append(f"{num_runs} runs of kernels; nothing is tuned for a claim.")
    return "\n".join(lines)


def tally(findings: Sequence[Finding]) -> str:
    """Count the verdicts of exact and simulated claims, and under the rule before this one."""
    from rfview.engine.papers import verdicts

    parts = []
    for kind in ("exact", "simulated"):
        of_kind = [finding for finding in findings if finding.claim.kind == kind]
        counts = Counter(finding.verdict for finding in of_kind)
        if counts:
            parts.append(f"{counts.total()} {kind}: " + ", ".join(
                f"{counts[verdict]} {verdict}" for verdict in verdicts.VERDICTS if counts[verdict]))
    before = [finding.held_before for finding in findings if finding.held_before is not None]
    return "; ".join([*parts, f"under the rule before {sum(before)} of {len(before)} held"])


def direction_lines(direction: Direction) -> list[str]:
    """Return a direction as lines: verdict and mean with spread, each kernel, the note."""
    head = f"  {'holds' if direction.holds else 'does not hold':<14} {direction.id:<20} {direction.text}: "
    head += f"{number_text(direction.number.value)} {direction.unit} {spread(direction.number)}, wanted {direction.wanted}"
    lines = [head, *wrapped(", ".join(f"{name} {number_text(one)}" for name, one in direction.number.each.items()))]
    return [*lines, *wrapped(direction.number.note)]


def finding_lines(finding: Finding) -> list[str]:
    """Return a claim as lines: verdict, what, the paper's and our value, and why they differ."""
    claim, number = finding.claim, finding.number
    against = f" over {claim.baseline}" if claim.baseline not in ("-", "") else ""
    what = f"{claim.quantity}, {claim.design}{against}: paper {range_text(claim)} {claim.unit}"
    if number is not None:
        verb = "computed" if claim.kind == "exact" else "measured"
        what += f", {verb} {number_text(number.value)} {claim.unit} {spread(number)}".rstrip()
    lines = [f"  {finding.verdict:<17} {claim.id:<24} {what}{' [other kernels]' if finding.other_kernels else ''}"]
    return lines + wrapped(finding.note)


def range_text(claim: Any) -> str:
    """Return the paper's value, with its range where it gives one."""
    text = number_text(claim.value, digits=6)
    return text if claim.low is None else f"{text} ({number_text(claim.low)} to {number_text(claim.high)})"


def spread(number: Number) -> str:
    """Say over how many kernels a number goes, and between which values."""
    if len(number.each) < 2:
        return f"({next(iter(number.each))})" if number.each else ""
    low, high = min(number.each, key=number.each.__getitem__), max(number.each, key=number.each.__getitem__)
    return f"({number_text(number.each[low])} {low} .. {number_text(number.each[high])} {high}; {len(number.each)} values)"


def number_text(value: float, digits: int = 3) -> str:
    """Return a number with three digits, whole ones whole."""
    if math.isfinite(value) and (value == int(value) or abs(value) >= 1000):
        return f"{value:,.0f}"
    return f"{value:.{digits}g}"


def wrapped(text: str) -> list[str]:
    """Return a sentence as indented lines."""
    import textwrap

    return textwrap.wrap(text, 116, initial_indent=" " * 18, subsequent_indent=" " * 18)


def direction_dict(direction: Direction) -> dict[str, Any]:
    """Return a direction as plain data."""
    return {"id": direction.id, "design": direction.design, "text": direction.text, "unit": direction.unit,
            "wanted": direction.wanted, "holds": direction.holds, "value": direction.number.value,
            "kernels": dict(direction.number.each), "note": direction.number.note}


def finding_dict(finding: Finding) -> dict[str, Any]:
    """Return a finding as plain data."""
    claim, number = finding.claim, finding.number
    return {
        "id": claim.id, "paper": claim.paper, "section": claim.section, "design": claim.design, "baseline": claim.baseline,
        "quantity": claim.quantity, "unit": claim.unit, "kind": claim.kind, "paper_value": claim.value, "low": claim.low,
        "high": claim.high, "value": number.value if number else None, "kernels": dict(number.each) if number else {},
        "verdict": finding.verdict, "words_only": finding.words_only,
        "other_kernels": finding.other_kernels, "held_before": finding.held_before, "sort": claim.sort, "null": claim.null,
        "measurement": claim.measurement, "cause": claim.cause, "note": finding.note, "conditions": claim.conditions,
    }


def plain(data: Any) -> Any:
    """Return data as JSON can hold it: numbers that are not finite become text."""
    if isinstance(data, float) and not math.isfinite(data):
        return str(data)
    if isinstance(data, Mapping):
        return {key: plain(item) for key, item in data.items()}
    return [plain(item) for item in data] if isinstance(data, list | tuple) else data
