"""The STALLS panel: how many warps are in each state, now and over the last cycles."""

from __future__ import annotations

from rfview.widgets.panel import PanelView


class StallsView(PanelView):
    """Counts and shares of states, or the short census; painted by render/stalls.py."""

    DEFAULT_CSS = """
    StallsView { layer: base; }
    """
    panel = "stalls"
    help = "First number: warps now. Bar and share: the last 1,024 cycles."
