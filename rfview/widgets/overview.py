"""The overview: the whole run at a glance; a click goes to that cycle, a drag selects a stretch."""

from __future__ import annotations

from textual import events

from rfview.messages import Brushed
from rfview.widgets.panel import PanelView, StripCache


class OverviewView(PanelView):
    """Issue rate, most common reasons, breakpoint hits and marks; painted by render/overview.py."""

    def __init__(self, strips: StripCache):
        super().__init__(strips, "overview")
        self.pressed_at: int | None = None
        self.was_dragged = False

    def on_mouse_down(self, event: events.MouseDown) -> None:
        self.capture_mouse()
        self.pressed_at, self.was_dragged = event.x, False
        event.stop()

    def on_mouse_up(self, event: events.MouseUp) -> None:
        self.release_mouse()
        self.pressed_at = None
        event.stop()

    def on_mouse_move(self, event: events.MouseMove) -> None:
        if event.button and self.pressed_at is not None and event.x != self.pressed_at:
            event.stop()
            self.was_dragged = True
            self.post_message(Brushed(self.pressed_at, event.x))

    def on_click(self, event: events.Click) -> None:
        """Go there, unless the click ends a drag: it would remove the numbers of the stretch."""
        if self.was_dragged:
            event.stop()
        else:
            super().on_click(event)
