"""The WHY panel: the first links of the focused warp's chain of reasons."""

from __future__ import annotations

from rfview.widgets.panel import PanelView


class WhyView(PanelView):
    """Why the focused warp does not issue; painted by render/why.py."""

    DEFAULT_CSS = """
    WhyView { layer: base; }
    """
    panel = "why"
    help = "e or Enter opens the whole chain with evidence and times."
