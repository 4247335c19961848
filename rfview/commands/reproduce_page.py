"""`rfview reproduce --html F`: one page with every claim and a figure with a bar per kernel and the paper's value.

The page is self-contained: it includes its drawings, and its policy forbids any request. All text is escaped.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

from rfview.commands import reproduce_text as text

if TYPE_CHECKING:
    from rfview.engine.papers.verdicts import Finding

ROW, LEFT, WIDE, RIGHT = 16, 150, 420, 80      # dimensions of a figure, in pixels
STYLE = """
body { font: 15px/1.45 system-ui, sans-serif; max-width: 1000px; margin: 2em auto; padding: 0 1em; color: #1a202c }
h3 { margin: 1.6em 0 .2em; font-size: 1em } p { margin: .2em 0 } small, .note { color: #4a5568 }
table { border-collapse: collapse; margin: .8em 0 } th, td { padding: .15em .6em; text-align: right; border-bottom: 1px solid #ddd }
th:first-child, td:first-child { text-align: left } svg text { font: 11px system-ui, sans-serif; paint-order: stroke; stroke: #fff; stroke-width: 3px }
.verdict { display: inline-block; padding: 0 .5em; border-radius: .3em; color: #fff; background: #718096 }
.exact, .within { background: #2f855a } .direction { background: #2b6cb0 } .does { background: #c53030 }
rect.one { fill: #2b6cb0 } rect.all { fill: #1a365d } rect.band { fill: #dd6b20; opacity: .25 } line.paper { stroke: #dd6b20; stroke-width: 2 }
line.none { stroke: #4a5568 }
"""  # noqa: E501 - a style sheet


def page(findings: Sequence[Finding], num_runs: int, version: str,
         shown: Mapping[str, Mapping[str, Any]] | None = None) -> str:
    """Return the page as HTML. shown: by claim, what its experiments gave (reproduce_why.outcome)."""
    from rfview.engine.papers import verdicts      # start-up: listing commands does not need it

    parts = ['<!DOCTYPE html><html lang="en"><head><meta charset="utf-8">',
             "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">",
             f"<title>rfview reproduce</title><style>{STYLE}</style></head><body>",
             "<h1>What five papers claim, measured again</h1>",
             f"<p>rfview {escape(version)}, {num_runs} runs of kernels; nothing is tuned for a claim.</p>",
             f"<p><small>{escape(verdicts.RULE)}.</small></p>", *count_tables(findings)]
    for paper, own in text.by_paper(findings).items():
        parts.append(f'<h2 id="{escape(paper)}">{escape(text.TITLES[paper])}</h2>'
                     f"<p>Machine: preset {escape(text.preset_of(paper))}.</p>")
        parts += [section(finding, (shown or {}).get(finding.claim.id)) for finding in own]
    parts += choices(findings)
    return "\n".join([*parts, "</body></html>"]) + "\n"


def count_tables(findings: Sequence[Finding]) -> list[str]:
    """Return one table of counts for exact claims and one for simulated claims."""
    parts = []
    for kind, rows in text.tallies(findings).items():
        parts.append(f"<h2>{escape(kind.capitalize())} claims, by paper</h2><table><tr><th></th>"
                     + "".join(f"<th>{escape(name)}</th>" for name in text.COLUMNS) + "</tr>")
        parts += [f"<tr><td>{escape('each once' if name == 'measurements' else name)}</td>"
                  + "".join(f"<td>{row[key]}</td>" for key in text.COLUMNS.values()) + "</tr>" for name, row in rows.items()]
        parts.append("</table>")
    return parts


def section(finding: Finding, shown: Mapping[str, Any] | None = None) -> str:
    """Return the section of a claim: verdict, values, how it is measured, figure, note, cause and experiments."""
    claim = finding.claim
    verdict = finding.verdict + (", by cancelling" if finding.cancelling else "")
    verdict += ", other kernels" if finding.other_kernels else ""
    note = "; ".join(part for part in (text.cancelling_text(finding), finding.note) if part)
    style = f"verdict {finding.verdict.split()[0]}"
    parts = [f'<h3 id="{escape(claim.id)}"><span class="{escape(style)}">{escape(verdict)}</span> '
             f"{escape(claim.id)}: {escape(text.subject(claim))}</h3><p>{escape(text.values(finding))}</p>",
             f'<p class="note">Measured as: {escape(claim.how)}</p>', figure(finding),
             f'<p class="note">{escape(note)}</p>']
    if claim.cause and text.is_off(finding):
        parts.append(f'<p class="note"><b>Cause</b> {escape(claim.cause)}</p>')
    if shown:
        parts.append(experiments(shown))
    elif readings := [one for one in claim.experiments if one.reading]:
        listed = ", ".join(f"{escape(one.what)} ({link(one.reading)})" for one in readings)
        parts.append(f'<p class="note">Other readings, which --why {escape(claim.id)} measures: {listed}</p>')
    return "\n".join(part for part in parts if part)


def link(rule: str) -> str:
    """Return a rule's number as a link to its text."""
    return f'<a href="#{escape(rule)}">{escape(rule)}</a>'


def choices(findings: Sequence[Finding]) -> list[str]:
    """Return our choices at the open points that other readings of these claims are about: the rules, each once."""
    from rfview.glossary import topics      # start-up, as above

    numbers = {one.reading for finding in findings for one in finding.claim.experiments if one.reading}
    parts = ["<h2>Our choices where a paper is open</h2>"] if numbers else []
    for number in sorted(numbers, key=lambda name: [int(part) for part in name[1:].split(".")]):
        words = topics.rule(number).partition("** ")[2]
        parts.append(f'<p id="{number}"><b>{number}</b> {escape(words)}</p>')
    return parts


def experiments(shown: Mapping[str, Any]) -> str:
    """Return a table of what a claim's number becomes when its causes, or our readings of its paper, are changed."""
    rows = [("as judged", "", shown["value"], "")]
    for one in shown["experiments"]:
        reading = f"other reading of {link(one['reading'])}: " if one["reading"] else ""
        rows.append((one["what"], reading + escape(one["with"]), one["value"], one["moved"]))
    cells = "".join(f"<tr><td>{escape(what)}<br><small>{options}</small></td><td>{escape(text.number_text(value))} "
                    f"{escape(shown['unit'])}</td><td>{escape(moved)}</td></tr>" for what, options, value, moved in rows)
    return f"<table><tr><th>changed</th><th>value</th><th></th></tr>{cells}</table>"


def figure(finding: Finding) -> str:
    """Return bars per kernel and over all as SVG, starting at the value of no effect, with the paper's value as a line.

    "" for claims without a finite number, and for those not about kernels.
    """
    claim, number = finding.claim, finding.number
    if number is None or not number.each or not math.isfinite(number.value) or not math.isfinite(claim.value):
        return ""
    bars = [(name, value) for name, value in number.each.items() if math.isfinite(value)]
    bars.append(("over all", number.value))
    ends = (claim.value if claim.low is None else claim.low), (claim.value if claim.high is None else claim.high)
    every = [claim.null, *ends, *(value for _, value in bars)]
    low, high = min(every), max(every)
    scale = WIDE / ((high - low) or 1.0)

    def at(value: float) -> float:
        return LEFT + (value - low) * scale

    height = ROW * (len(bars) + 1)
    parts = [f'<svg viewBox="0 0 {LEFT + WIDE + RIGHT} {height + 4}" width="{LEFT + WIDE + RIGHT}" height="{height + 4}" '
             f'role="img" aria-label="{escape(claim.id)}">']
    if ends[0] != ends[1]:
        parts.append(f'<rect class="band" x="{at(ends[0]):.1f}" y="0" width="{(ends[1] - ends[0]) * scale:.1f}" '
                     f'height="{height - ROW}"/>')
    labels = []     # after the lines, which they may cover
    for index, (name, value) in enumerate(bars):
        left, right = sorted((at(claim.null), at(value)))
        y = ROW * index
        parts.append(f'<text x="{LEFT - 6}" y="{y + 12}" text-anchor="end">{escape(name)}</text>'
                     f'<rect class="{"all" if index == len(bars) - 1 else "one"}" x="{left:.1f}" y="{y + 3}" '
                     f'width="{right - left:.1f}" height="{ROW - 5}"/>')
        labels.append(f'<text x="{right + 4:.1f}" y="{y + 12}">{escape(text.number_text(value))}</text>')
    parts += [f'<line class="none" x1="{at(claim.null):.1f}" y1="0" x2="{at(claim.null):.1f}" y2="{height - ROW}"/>',
              f'<line class="paper" x1="{at(claim.value):.1f}" y1="0" x2="{at(claim.value):.1f}" y2="{height - ROW}"/>',
              *labels, f'<text x="{at(claim.value):.1f}" y="{height - 2}" text-anchor="middle">paper '
              f"{escape(text.number_text(claim.value))} {escape(claim.unit)}</text></svg>"]
    return "".join(parts)
