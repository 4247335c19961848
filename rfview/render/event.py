"""The event row: what happened last, above the keys; the prompt takes its place."""

from __future__ import annotations

from rfview.render.overlay import text_of
from rfview.render.panel import Hit, Panel
from rfview.render.scene import Scene
from rfview.render.text import Line, Row, cut, number

MESSAGE_ROLES = {"info": "dim", "error": "bad", "good": "p:good"}


def prompt_text(scene: Scene) -> str:
    """Return the prompt of the command line: share of the run, cycle, focused warp."""
    span = scene.last - scene.first
    share = f"{100 * (scene.cycle - scene.first) // span}%" if span else "0%"
    return f"(rfv) {share} {number(scene.cycle)} w{scene.warp}> "


def render(scene: Scene, width: int, height: int = 1) -> list[Line]:
    """Return the last event: where a jump came from, why a move stopped, or what went wrong; on the right a note.

    If a stretch of the run is selected: its statistics. What does not fit is cut, and the key that shows it is named.

     cycle 8,802: issued by w31, instruction 190                                  B overlaid: hrf gto, +42 cycles
    """
    row = Row(width).add(" ")
    note = text_of(scene.over) if scene.over is not None else scene.note
    room = width - 2 - (len(note) + 2 if note else 0)
    text, role = event_of(scene)
    key = scene.key("message")
    more = f"  {key} shows all" if key else ""
    if len(text) <= room or room < 3 * len(more):
        row.add(cut(text, room), role)
    else:
        row.add(cut(text, room - len(more)), role).add(more, "faint")
    return [row.right(width - 1, note, "bold" if scene.over is not None else "faint").line()]


def event_of(scene: Scene) -> tuple[str, str]:
    """Return the event row's whole text and its colour."""
    if scene.fault and scene.cycle == scene.last and scene.message_kind != "error":
        return f"kernel stopped: {scene.fault}", "bad"
    if scene.brush is not None and scene.message_kind != "error" and (scene.brush.is_open or not scene.message):
        return scene.brush.text, "text"
    return scene.message, MESSAGE_ROLES.get(scene.message_kind, "dim")


PANEL = Panel(name="event", paint=render,
              at=lambda scene, place, x, y: Hit(single=("message", ""), double=("message", ""), takes_focus=False))
