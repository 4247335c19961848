"""The TIMELINE panel: a click chooses warp and cycle, the wheel steps in time."""

from __future__ import annotations

from rfview.widgets.panel import PanelView


class TimelineView(PanelView):
    """All warps over time; painted by render/timeline.py."""

    DEFAULT_CSS = """
    TimelineView { layer: base; }
    """
    panel = "timeline"
    help = "j k choose a warp, + - zoom, a click goes to that warp and cycle, the wheel steps in time."
