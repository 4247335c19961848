"""The findings of `rfview reproduce` as text: paper by paper and claim by claim, and the counts by two rules.

      direction          hrf-rf-power   rf power reduction, hrf over sram
                         paper 66 %, ours 41.5 % over 9 of its 18 kernels (35.1 nw .. 48.3 vectoradd)
                         sram reads and writes 0.51 rows per cycle here, ...
                         cause: with 18 cycles between dependent instructions it is 59.6 %
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rfview.engine import papers

if TYPE_CHECKING:
    from rfview.engine.papers import Claim, Direction, Number
    from rfview.engine.papers.verdicts import Finding

TITLES = {
    "hrf": "HRF, STT-RAM behind two write buffers (Li et al., DAC 2015)",
    "rfc": "RFC, a register file cache (Gebhart et al., ISCA 2011)",
    "hcrf": "HC-RF, cells of SRAM and STT-RAM",
    "edram": "eDRAM, approximate refresh (Jeong et al., IEEE Design & Test 2016)",
    "racetrack": "racetrack memory (Liang and Wang, JCST 2016)",
}
INDENT, WIDTH = " " * 21, 118
NO_KERNELS = "none of the paper's kernels was chosen"
BY_ENDS = ("bound", "range", "words")      # sorts that are judged by being on one side of what the paper prints
# column -> (name in counts(), for simulated claims)
COLUMNS = {"judged": "judged", "direction": "direction or better", "within": "within or better",
           "cancelling": "by cancelling", "words": "words only",
           "own judged": "own judged", "own dir.": "own direction or better", "own within": "own within or better",
           "not deriv.": "not derivable", "contrad.": "contradicts itself", "not tested": "not tested"}


def text_of(directions: Sequence[Direction], findings: Sequence[Finding], num_runs: int) -> str:
    """Return everything as text."""
    from rfview.engine.papers import verdicts      # start-up: the command line lists commands without it

    lines: list[str] = []
    if directions:
        lines.append("Directions promised of our kernels")
        for direction in directions:
            lines += direction_lines(direction)
        lines.append("")
    for paper, own in by_paper(findings).items():
        lines.append(f"{TITLES[paper]}: {len(own)} claims, preset {preset_of(paper)}")
        for finding in own:
            lines += finding_lines(finding)
        lines.append("")
    if findings:
        lines += [*count_lines(findings), *textwrap.wrap(f"Rule: {verdicts.RULE}.", WIDTH)]
    lines.append(f"{num_runs} runs of kernels; nothing is tuned for a claim.")
    return "\n".join(lines)


def preset_of(paper: str) -> str:
    """Return the preset with the machine of a paper, given by its design."""
    from rfview.engine import plugin as designs     # start-up, as above

    return str(designs.design(paper).paper_preset)


def by_paper(findings: Sequence[Finding]) -> dict[str, list[Finding]]:
    """Return the findings by the design of their paper, in the order of the papers."""
    grouped = {paper: [one for one in findings if one.claim.paper_design == paper] for paper in papers.PAPERS.values()}
    return {paper: own for paper, own in grouped.items() if own}


def tallies(findings: Sequence[Finding]) -> dict[str, dict[str, dict[str, int]]]:
    """Return the counts of exact and of simulated claims by paper, over "all", and with each "measurement" once."""
    from rfview.engine.papers import verdicts      # start-up, as above

    counted: dict[str, dict[str, dict[str, int]]] = {}
    for kind in (papers.EXACT, papers.SIMULATED):
        of_kind = [one for one in findings if one.claim.kind == kind]
        if of_kind:
            counted[kind] = {paper: verdicts.counts(own) for paper, own in by_paper(of_kind).items()}
            counted[kind]["all"] = verdicts.counts(of_kind)
            counted[kind]["measurements"] = verdicts.counts(verdicts.by_measurement(of_kind))
    return counted


def count_lines(findings: Sequence[Finding]) -> list[str]:
    """Return the tables of counts as lines."""
    lines = []
    for kind, rows in tallies(findings).items():
        if kind == papers.EXACT:
            for name, row in rows.items():
                if name != "measurements":
                    lines.append(f"exact, {name}: {row['judged']} judged, {row['within or better']} as printed, "
                                 f"{row['not derivable']} not derivable, {row['contradicts itself']} contradict themselves, "
                                 f"{row['not tested']} not tested")
            lines.append("")
            continue
        lines.append("simulated    " + " ".join(f"{name:>10}" for name in COLUMNS))
        for name, row in rows.items():
            label = "each once" if name == "measurements" else name
            lines.append(f"{label:<13}" + " ".join(f"{row[key]:>10}" for key in COLUMNS.values()))
        lines += ["direction is part of judged, within and words of direction, cancelling of within; own: at least half",
                  "of the kernels that the paper names; each once: claims that share a measurement count once,",
                  "by the worst", ""]
    return lines


def direction_lines(direction: Direction) -> list[str]:
    """Return a direction as lines: verdict and mean with spread, each kernel, and the note."""
    head = f"  {'holds' if direction.holds else 'does not hold':<18} {direction.id:<20} {direction.text}: "
    value = beside(direction.number.value, *direction.ends)
    head += f"{value} {direction.unit} {spread(direction.number)}, wanted {direction.wanted}"
    lines = [head, *wrapped(", ".join(f"{name} {number_text(one)}" for name, one in direction.number.each.items()))]
    return [*lines, *wrapped(direction.number.note)]


def finding_lines(finding: Finding) -> list[str]:
    """Return a claim as lines: verdict and subject; the paper's value and ours, kernels, spread; reason; cause."""
    claim = finding.claim
    lines = [f"  {finding.verdict:<18} {claim.id:<24} {subject(claim)}", INDENT + values(finding)]
    cause = f"cause: {claim.cause}" if claim.cause and is_off(finding) else ""
    return [*lines, *wrapped(cancelling_text(finding)), *wrapped(finding.note), *wrapped(cause)]


def cancelling_text(finding: Finding) -> str:
    """Return "within by cancelling: sgemm -30 %, sad +12 %" for a claim whose items have opposite errors, else ""."""
    if not finding.cancelling or finding.number is None:
        return ""
    items = (f"{name} {finding.number.each[name]:+.3g} {finding.claim.unit}" for name in finding.cancelling)
    return f"within by cancelling: {', '.join(items)}"


def is_off(finding: Finding) -> bool:
    """Return whether a claim's result differs from the paper's, so that its cause is of interest."""
    from rfview.engine.papers import verdicts      # start-up, as above

    return finding.verdict in (verdicts.DIRECTION, verdicts.FAILS)


def subject(claim: Claim) -> str:
    """Return what a claim is about."""
    return f"{claim.quantity}, {claim.design}" + (f" over {claim.baseline}" if claim.baseline not in ("-", "") else "")


def values(finding: Finding) -> str:
    """Return the paper's value and ours, with kernels and spread."""
    from rfview.engine.papers import verdicts      # start-up, as above

    claim, number = finding.claim, finding.number
    text = f"paper ({claim.section}) {range_text(claim)} {claim.unit}"
    if number is None:
        return text
    ours = beside(number.value, *verdicts.ends(claim)) if claim.sort in BY_ENDS else number_text(number.value)
    text += f", {'computed' if claim.kind == papers.EXACT else 'measured'} {ours} {claim.unit}"
    return " ".join(part for part in (text, kernels_text(finding), spread(number)) if part)


def kernels_text(finding: Finding) -> str:
    """Return how many kernels a number covers, and whether they are the paper's."""
    number = finding.number
    if number is None or not number.ran:
        return ""
    named = f"the paper names {finding.claim.named}" if finding.claim.named else "the paper names none"
    plural = "" if len(number.ran) == 1 else "s"
    return f"over {len(number.ran)} kernel{plural}, {named}" + (" (other kernels)" if finding.other_kernels else "")


def range_text(claim: Claim) -> str:
    """Return the paper's value, with its range if it gives one."""
    text = number_text(claim.value, digits=6)
    return text if claim.low is None else f"{text} ({number_text(claim.low)} to {number_text(claim.high or 0.0)})"


def spread(number: Number) -> str:
    """Return the smallest and largest item of a number."""
    if len(number.each) < 2:
        return f"({next(iter(number.each))})" if number.each else ""
    low, high = min(number.each, key=number.each.__getitem__), max(number.each, key=number.each.__getitem__)
    return f"({number_text(number.each[low])} {low} .. {number_text(number.each[high])} {high}; {len(number.each)} values)"


def number_text(value: float, digits: int = 3) -> str:
    """Return a number with three digits, integers without decimals."""
    if math.isfinite(value) and (value == int(value) or abs(value) >= 1000):
        return f"{value:,.0f}"
    return f"{value:.{digits}g}"


def beside(value: float, *ends: float) -> str:
    """Return a number with the digits, three or more, that put it on the same side of each end as it is unrounded."""
    for digits in range(3, 12):
        text = number_text(value, digits)
        shown = float(text.replace(",", ""))
        if all((shown > end, shown < end) == (value > end, value < end) for end in ends):
            break
    return text


def wrapped(text: str) -> list[str]:
    """Return a sentence as indented lines."""
    return textwrap.wrap(text, WIDTH, initial_indent=INDENT, subsequent_indent=INDENT)


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
        "quantity": claim.quantity, "unit": claim.unit, "kind": claim.kind, "sort": claim.sort, "null": claim.null,
        "paper_value": claim.value, "low": claim.low, "high": claim.high, "value": number.value if number else None,
        "kernels": dict(number.each) if number else {}, "ran": list(number.ran) if number else [], "named": claim.named,
        "other_kernels": finding.other_kernels, "verdict": finding.verdict, "words_only": finding.words_only,
        "cancelling": list(finding.cancelling), "measurement": claim.measurement, "note": finding.note, "cause": claim.cause,
        "conditions": claim.conditions,
    }


def plain(data: Any) -> Any:
    """Return JSON-compatible data: numbers that are not finite become text."""
    if isinstance(data, float) and not math.isfinite(data):
        return str(data)
    if isinstance(data, Mapping):
        return {key: plain(item) for key, item in data.items()}
    return [plain(item) for item in data] if isinstance(data, list | tuple) else data
