"""The event row: the last event, or what went wrong."""

from __future__ import annotations

from rfview.widgets.panel import PanelView


class EventView(PanelView):
    """One sentence; painted by render/footer.py."""

    DEFAULT_CSS = """
    EventView { layer: base; }
    """
    panel = "event"
    help = "What happened last."
