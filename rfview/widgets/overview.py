"""The overview: the whole run at a glance; a click or a drag on it goes there in time."""

from __future__ import annotations

from textual import events

from rfview.messages import Clicked
from rfview.widgets.panel import PanelView


class OverviewView(PanelView):
    """Issue rate, commonest reasons, breakpoint hits and marks; painted by render/overview.py."""

    DEFAULT_CSS = """
    OverviewView { layer: base; }
    """
    panel = "overview"
    help = "Click or drag to go there; + and - zoom in and out; the wheel steps in time."

    def on_mouse_down(self, event: events.MouseDown) -> None:
        self.capture_mouse()
        event.stop()

    def on_mouse_up(self, event: events.MouseUp) -> None:
        self.release_mouse()
        event.stop()

    def on_mouse_move(self, event: events.MouseMove) -> None:
        if event.button:
            event.stop()
            self.post_message(Clicked(self.panel, event.x, event.y))
