"""The bars of a figure as a table for a paper or a spreadsheet: Markdown, LaTeX (booktabs) or CSV."""

from __future__ import annotations

import csv
import io
import math

from rfview.sweep.grouping import Cell, Groups

FORMATS = ("md", "latex", "csv")
MEAN = "geometric mean"
LATEX = {"\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}",
         "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "÷": r"$\div$", "µ": r"$\mu$", "×": r"$\times$"}


def number(value: float) -> str:
    """Return a value with the digits that matter: 73,241, 0.35, 12.4."""
    if not math.isfinite(value):
        return "–"
    if abs(value) >= 1000 or value == int(value) and abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.2f}" if abs(value) < 10 else f"{value:.1f}"


def ranged(cell: Cell) -> str:
    """Return a bar's value and, if it shows in these digits, its range: "1.03 [1.03, 1.07]"."""
    low, high = number(cell.low), number(cell.high)
    return number(cell.value) if low == high else f"{number(cell.value)} [{low}, {high}]"


def rows_of(groups: Groups) -> tuple[list[str], list[list[str]]]:
    """Return the heads and the rows as texts; the base's absolute values first if the others are relative to them."""
    request = groups.request
    names = [f"{name} (energy assumed)" if name in groups.hatched else name for name in groups.series]
    absolute = [f"{request.base} {'cycles' if request.y == 'speed' else request.y}"] if groups.base else []
    rows = []
    for place in groups.places:
        values = [groups.cells.get((place, name)) for name in groups.series]
        base = [number(groups.base[place]) if place in groups.base else ""] if absolute else []
        rows.append([place, *base, *("" if cell is None else ranged(cell) for cell in values)])
    if groups.means:
        rows.append([MEAN, *([""] if absolute else []), *(number(groups.means[name]) for name in groups.series)])
    return [" and ".join(request.x), *absolute, *(name or request.y for name in names)], rows


def caption(groups: Groups) -> str:
    """Return what the table shows, and how it was made."""
    notes = "; ".join(note for note in groups.notes if note)
    return f"{groups.in_words} ({notes.replace('whiskers:', 'in brackets:')})"      # what a figure draws


def table(groups: Groups, form: str) -> str:
    """Return the table. form: one of FORMATS."""
    heads, rows = rows_of(groups)
    return {"md": _markdown, "latex": _latex, "csv": _csv}[form](groups, heads, rows)


def _markdown(groups: Groups, heads: list[str], rows: list[list[str]]) -> str:
    lines = [caption(groups), "", f"| {' | '.join(heads)} |", f"|---|{'--:|' * (len(heads) - 1)}"]
    for row in rows:
        cells = [f"**{cell}**" if cell and row[0] == MEAN else cell for cell in row]
        lines.append(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |")
    return "\n".join(lines) + "\n"


def _latex(groups: Groups, heads: list[str], rows: list[list[str]]) -> str:
    def line(cells: list[str]) -> str:
        return " & ".join(latex(cell) for cell in cells) + r" \\"

    lines = [r"% \usepackage{booktabs}", r"\begin{table}", r"\centering", rf"\caption{{{latex(caption(groups))}}}",
             rf"\begin{{tabular}}{{l{'r' * (len(heads) - 1)}}}", r"\toprule", line(heads), r"\midrule"]
    for row in rows:
        lines += [r"\midrule"] * (row[0] == MEAN) + [line(row)]
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}", r"\end{table}"]) + "\n"


def latex(text: str) -> str:
    """Return a text with LaTeX's special characters written as commands."""
    return "".join(LATEX.get(char, char) for char in text)


def _csv(groups: Groups, heads: list[str], rows: list[list[str]]) -> str:
    """Return full numbers, without a caption, for other programs."""
    out = io.StringIO()
    lines = csv.writer(out, lineterminator="\n")
    lines.writerow(heads)
    for row, place in zip(rows, groups.places):
        base = [groups.base.get(place, "")] if groups.base else []
        cells = (groups.cells.get((place, name)) for name in groups.series)
        lines.writerow([row[0], *base, *("" if cell is None else cell.value for cell in cells)])
    if groups.means:
        lines.writerow([MEAN, *([""] if groups.base else []), *(groups.means[name] for name in groups.series)])
    return out.getvalue()
