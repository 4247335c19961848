"""The whole screen as lines: every panel painted into its place; also the screen as plain text."""

from __future__ import annotations

from collections.abc import Sequence

from rfview.render import footer, lens, overlay, slots, watches
from rfview.render.layout import is_tiny, layout
from rfview.render.panel import Content, Place
from rfview.render.panels import PANELS
from rfview.render.scene import Scene
from rfview.render.text import Line, cells_of, clip


def paint(scene: Scene, place: Place) -> list[Line]:
    """Return one panel's lines."""
    panel = PANELS[place.panel]
    if scene.over is not None and panel.overlaid:
        return overlay.lay_over(scene, panel.overlaid, lambda one: panel.paint(one, place.width, place.height))
    return panel.paint(scene, place.width, place.height)


def size_note(width: int, height: int) -> str:
    """Return the note shown in a terminal that is too small, "" if it is large enough."""
    return "80×24 shows more" if is_tiny(width, height) else ""


def places_of(scene: Scene, width: int, height: int, zoomed: bool = False) -> list[Place]:
    """Return the places of the panels that show a scene."""
    columns = lens.columns_of(lens.lens_design(scene.info))
    content = Content(slots.used(scene.info), columns, len(watches.watches(scene)))
    return layout(width, height, scene.panel, zoomed, content)


def as_text(scene: Scene, width: int, height: int, hints: Sequence[tuple[str, str, str]] = ()) -> str:
    """Return the main screen as plain text, `height` rows without trailing blanks."""
    scene = scene.at(note=size_note(width, height))
    panels = [(place, footer.render_keys(hints, place.width) if place.panel == "footer" else paint(scene, place))
              for place in places_of(scene, width, height)]
    return "\n".join(drawn(panels, width, height)) + "\n"


def drawn(panels: Sequence[tuple[Place, Sequence[Line]]], width: int, height: int) -> list[str]:
    """Return the rows of a screen with each panel's lines in its place, without trailing blanks.

    Places may extend beyond the edge, as they do between a resize and the new layout.
    """
    grid = [[" "] * width for _ in range(height)]
    for place, painted in panels:
        for offset, line in enumerate(painted[: min(place.height, max(0, height - place.y))]):
            cells = cells_of(clip(line.plain, max(0, min(place.width, width - place.x))))
            grid[place.y + offset][place.x : place.x + len(cells)] = cells
    return ["".join(row).rstrip() for row in grid]
