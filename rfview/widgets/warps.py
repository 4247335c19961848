"""The WARPS panel: a row per warp, a click chooses it."""

from __future__ import annotations

from rfview.widgets.panel import PanelView


class WarpsView(PanelView):
    """Warps by id, even left and odd right; painted by render/warps.py."""

    DEFAULT_CSS = """
    WarpsView { layer: base; }
    """
    panel = "warps"
    help = "j k o or a click choose a warp; r or Enter shows its registers; e says why it does not issue."
