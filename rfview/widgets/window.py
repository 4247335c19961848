"""The content of a popup: lines on the popup's ground, in a size that its screen chooses."""

from __future__ import annotations

from rfview.widgets.panel import PanelView, StripCache


class WindowView(PanelView):
    """Shows whole lines; what is behind it stays visible around it."""

    DEFAULT_CSS = """
    WindowView { position: relative; width: 96; height: 22; }
    """

    def __init__(self, strips: StripCache):
        super().__init__(strips, "window")
