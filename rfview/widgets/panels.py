"""The panels that handle the mouse in their own way: the overview with its drags, the footer with its hints."""

from __future__ import annotations

from collections.abc import Sequence

from textual import events

from rfview.actions import BY_NAME
from rfview.messages import Brushed, Chosen
from rfview.render.footer import hints_that_fit, render_keys
from rfview.widgets.panel import PanelView, StripCache


class OverviewView(PanelView):
    """The whole run at a glance, painted by render/overview.py; a click goes to that cycle, a drag selects a stretch."""

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


class FooterView(PanelView):
    """The keys that matter here; a click on a hint triggers it, on the second key of a pair the reverse."""

    def __init__(self, strips: StripCache):
        super().__init__(strips, "footer")
        self.hints: Sequence[tuple[str, str, str]] = ()

    def show_hints(self, hints: Sequence[tuple[str, str, str]], width: int) -> None:
        """Show the hints that fit completely."""
        self.hints = hints
        self.show(render_keys(hints, width))

    def on_click(self, event: events.Click) -> None:
        event.stop()
        for start, end, keys, _, name in hints_that_fit(self.hints, self.size.width):
            if start <= event.x < end:
                first = len(keys.split(" ")[0])
                reverse = BY_NAME[name].reverse
                second = reverse and " " in keys and start + first < event.x < start + len(keys)
                self.post_message(Chosen(reverse if second else name))
                return
