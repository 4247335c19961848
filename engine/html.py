"""HTML for notebooks: a title with a table or lines of text; all text is escaped.

Objects return it from `_repr_html_`, which Jupyter, marimo and VS Code call. No scripts, no external styles.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from rfview.engine.escapes import visible

_LEFT = ' style="text-align:left"'


def text(value: object) -> str:
    """Return a value as text, with markup and control characters escaped."""
    return escape(visible(str(value)))


def table(title: str, head: Sequence[str], rows: Iterable[Sequence[object]], below: str = "") -> str:
    """Return a table under a title; head may be empty. below: a sentence under the table."""
    top = "".join(f"<th{_LEFT}>{text(name)}</th>" for name in head)
    body = "".join("<tr>" + "".join(f"<td{_LEFT}>{text(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    after = f"<div>{text(below)}</div>" if below else ""
    return f"<div><b>{text(title)}</b><table>{f'<tr>{top}</tr>' if head else ''}{body}</table>{after}</div>"


def lines(title: str, content: str) -> str:
    """Return text with its line breaks and columns under a title."""
    shown = "\n".join(map(text, content.split("\n")))
    return f"<div><b>{text(title)}</b><pre>{shown}</pre></div>"
