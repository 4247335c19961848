"""The last two rows: what happened last (or the prompt), and the keys that matter here."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rfview.actions import BY_NAME
from rfview.keys import Keys
from rfview.render.overlay import text_of
from rfview.render.scene import DEFAULT_KEYS, Scene
from rfview.render.text import Line, Row, cut, number

FOOTER = ("step", "step_10", "continue", "next_issue", "next_rf", "next_stall", "why", "break_here", "timeline", "command",
          "help", "play", "mark", "registers", "statistics", "watch_here", "zoom", "palette")
FOOTER_NARROW = ("step", "step_10", "continue", "next_issue", "why", "break_here", "command", "help")
FOOTER_TIMELINE = ("step", "step_10", "zoom_in", "close", "next_issue", "next_stall", "continue", "mark", "why", "help")
FOOTER_LINES = ("next_line", "run_to_cursor", "break_here", "down", "close", "step", "continue", "why", "help")
FOOTER_REGISTERS = ("step", "lanes_right", "number_format", "next_change", "close", "command", "help")
KEPT = ("close", "help")        # the way out, and the key that names all others
MESSAGE_ROLES = {"info": "dim", "error": "bad", "good": "p:good"}


def prompt_text(scene: Scene) -> str:
    """Return the prompt of the command line: share of the run, cycle, focused warp."""
    span = scene.last - scene.first
    share = f"{100 * (scene.cycle - scene.first) // span}%" if span else "0%"
    return f"(rfv) {share} {number(scene.cycle)} w{scene.warp}> "


def render_event(scene: Scene, width: int, height: int = 1) -> list[Line]:
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


def footer_hints(panel: str, width: int, has_register_file: bool = True,
                 keys: Keys = DEFAULT_KEYS, activity: str = "",
                 is_alone: bool = False) -> list[tuple[str, str, str]]:
    """Return (keys, word, action) in the order of use; the painter keeps those that fit.

    activity: what the design does by itself and a key goes to, "" if nothing. is_alone: the panel fills the screen, so the
    key that closes it is among them.
    """
    names: Iterable[str] = FOOTER if width >= 100 else FOOTER_NARROW
    if panel == "registers":
        names = FOOTER_REGISTERS
    elif panel in ("timeline", "pipeline"):
        names = FOOTER_TIMELINE
    elif panel == "lines":
        names = FOOTER_LINES
    elif is_alone:
        names = (*tuple(names)[:2], "close", *tuple(names)[2:])
    words = {"step": "step" if width < 100 else "step ±1", "continue": "continue" if width < 100 else "continue ±",
             "next_issue": "issue" if width < 100 else "issue ±",
             "next_change": "change ±", "close": "close", "next_activity": f"{activity} ±"}
    out = []
    for name in names:
        if panel not in ("timeline", "pipeline") and name in ("next_rf", "next_stall"):
            if (name == "next_rf") != has_register_file:
                continue
            name = "next_activity" if activity else name
        label = keys.first(name) if name in ("break_here", "mark") else keys.label(name)
        if label:
            out.append((label.replace(" a", ""), words.get(name, BY_NAME[name].hint), name))
    return out


def hints_that_fit(hints: Sequence[tuple[str, str, str]], width: int) -> list[tuple[int, int, str, str, str]]:
    """Return (start, end, keys, word, action) for the hints that fit completely; those in KEPT always stay."""
    out = []
    x = 1
    for place, (keys, word, action) in enumerate(hints):
        size = len(keys) + 1 + len(word)
        kept = sum(len(key) + len(name) + 3 for key, name, later in hints[place + 1 :] if later in KEPT)
        if x + size + kept > width - 1:
            continue
        out.append((x, x + size, keys, word, action))
        x += size + 2
    return out


def render_keys(hints: Sequence[tuple[str, str, str]], width: int) -> list[Line]:
    """Return the footer.

     s S step ±1  ) ( ±10  c C continue ±  i I issue ±  e why  b break  a timeline  : command  ? help
    """
    row = Row(width, "band")
    for start, _, keys, word, _ in hints_that_fit(hints, width):
        row.to(start).add(keys, "key").add(f" {word}", "tinfo")
    return [row.line()]
