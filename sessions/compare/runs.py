"""Two runs compared as their programs allow: instruction by instruction if these are the same, else line by line."""

from __future__ import annotations

from typing import Any

from rfview.engine.progress import Progress
from rfview.sessions.compare import report, report_text
from rfview.sessions.compare.comparison import Comparison, program_difference
from rfview.sessions.compare.programs import Programs, data_of
from rfview.sessions.compare.programs_text import programs_text
from rfview.sessions.timeline.base import Timeline


def compared(a: Timeline, b: Timeline, targets: tuple[str, str], points: int = 10,
             progress: Progress | None = None) -> tuple[str, dict[str, Any]]:
    """Return the comparison of two runs as text and as data; progress may raise to stop it."""
    if program_difference(a.info, b.info):
        programs = Programs(a, b, progress)
        data = data_of(programs, targets, points)
        return programs_text(programs, data), data
    data = report.compare_data(Comparison(a, b, progress), targets, points)
    return report_text.compare_text(data, a.info), data
