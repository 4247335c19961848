"""A panel of the main screen: shows lines, repaints only the rows that changed, passes mouse clicks on."""

from __future__ import annotations

from collections.abc import Sequence

from rich.cells import cell_len
from rich.segment import Segment
from textual import events
from textual.geometry import Region
from textual.strip import Strip
from textual.widget import Widget

from rfview.messages import Clicked, Wheeled
from rfview.palette import Palette
from rfview.render.text import Line
from rfview.widgets.guarded import Guarded

MAX_STRIPS = 6_000


class StripCache:
    """Strips made from lines, each made once; shared by all panels of an app."""

    def __init__(self, palette: Palette):
        self.palette = palette
        self._strips: dict[tuple[Line, int], Strip] = {}

    def strip(self, line: Line, width: int) -> Strip:
        """Return the strip for a line at a width."""
        key = (line, width)
        strip = self._strips.get(key)
        if strip is None:
            if len(self._strips) > MAX_STRIPS:
                self._strips.clear()
            palette = self.palette
            segments = [Segment(palette.text(text), palette.style(line.ground, role)) for text, role in line.spans]
            length = sum(cell_len(text) for text, _ in line.spans)
            if length < width:
                segments.append(Segment(" " * (width - length), palette.style(line.ground, "text")))
            strip = Strip(segments, max(length, width)).crop(0, width)
            self._strips[key] = strip
        return strip


class PanelView(Guarded, Widget):
    """Shows the lines that a painter of render/ returns. panel: its name in render/layout.py and render/frame.py."""

    DEFAULT_CSS = """
    PanelView { layer: base; position: absolute; width: 1; height: 1; }
    """

    def __init__(self, strips: StripCache, panel: str):
        super().__init__(id=f"panel-{panel}")
        self.strips, self.panel = strips, panel
        self.lines: Sequence[Line] = ()

    def place(self, x: int, y: int, width: int, height: int) -> None:
        """Move the panel to a rectangle of the screen."""
        self.styles.offset = (x, y)
        self.styles.width = width
        self.styles.height = height
        self.display = True

    def show(self, lines: Sequence[Line]) -> None:
        """Show lines; only the rows that differ are repainted."""
        old = self.lines
        self.lines = lines
        if len(old) != len(lines):
            self.refresh()
            return
        changed = [y for y, (before, now) in enumerate(zip(old, lines, strict=True)) if before != now]
        if changed:
            width = max(1, self.size.width)
            self.refresh(*(Region(0, y, width, 1) for y in changed))

    def render_line(self, y: int) -> Strip:
        width = self.size.width
        if y < len(self.lines):
            return self.strips.strip(self.lines[y], width)
        return self.strips.strip(Line(()), width)

    def on_click(self, event: events.Click) -> None:
        event.stop()
        self.post_message(Clicked(self.panel, event.x - self.gutter.left, event.y, event.chain > 1))

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        event.stop()
        self.post_message(Wheeled(self.panel, 1))

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        event.stop()
        self.post_message(Wheeled(self.panel, -1))
