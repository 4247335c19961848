"""Lists of the command line: names, facts and a sentence, which wraps within its column on narrow terminals."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Sequence
from textwrap import wrap

from rich.cells import cell_len

LEAST = 24      # least width of the sentence's column; in narrower terminals lines simply wrap


def columns(rows: Sequence[Sequence[str]], width: int | None = None, indent: str = "") -> str:
    """Return aligned rows, the last column wrapped to `width` cells; None: the terminal's, and in pipes a row is a line."""
    if not rows:
        return ""
    if width is None:
        width = shutil.get_terminal_size().columns if sys.stdout.isatty() else 0
    widths = [max(cell_len(row[place]) for row in rows) for place in range(len(rows[0]) - 1)]
    room = width - len(indent) - sum(wide + 2 for wide in widths)
    lines = []
    for *cells, text in rows:
        head = indent + "".join(f"{cell}{' ' * (wide - cell_len(cell))}  " for cell, wide in zip(cells, widths, strict=True))
        parts = (wrap(text, room) if width and room >= LEAST else [text]) or [""]
        lines += [(head + parts[0]).rstrip(), *(" " * cell_len(head) + part for part in parts[1:])]
    return "\n".join(lines)
