"""The footer: the keys that matter here. A click on a hint triggers it, on the second key of a pair the reverse."""

from __future__ import annotations

from collections.abc import Sequence

from textual import events

from rfview.actions import BY_NAME
from rfview.messages import Chosen
from rfview.render.footer import hints_that_fit, render_keys
from rfview.widgets.panel import PanelView, StripCache


class FooterView(PanelView):
    """Key hints made from actions.py; painted by render/footer.py."""

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
