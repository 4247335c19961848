"""All panels by name, in the order of Tab and of Alt with a digit; adding one is its file and its row here."""

from __future__ import annotations

from rfview.render import (code, collectors, event, lens, lines, overview, pipeline, registers, stalls, status, summary,
                           timeline,
                           warps, watches, why)
from rfview.render.panel import Panel

PANELS: dict[str, Panel] = {panel.name: panel for panel in (
    warps.PANEL,
    lens.PANEL,
    collectors.PANEL,
    why.PANEL,
    code.PANEL,
    stalls.PANEL,
    overview.PANEL,
    registers.PANEL,
    timeline.PANEL,
    pipeline.PANEL,
    lines.PANEL,
    watches.PANEL,
    summary.PANEL,
    status.PANEL,
    event.PANEL,
)}
FOCUSABLE = tuple(name for name, panel in PANELS.items() if panel.title)
ALONE = frozenset(name for name, panel in PANELS.items() if panel.is_alone)
FIRST, OVERVIEW = warps.PANEL.name, overview.PANEL.name
NONE = Panel(name="", paint=warps.render)       # for a scene in which no panel has the focus


def of(scene_panel: str) -> Panel:
    """Return the panel of a name, NONE for no name."""
    return PANELS.get(scene_panel, NONE)
