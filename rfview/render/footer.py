"""The last row: the keys that matter here."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rfview.actions import BY_NAME
from rfview.keys import Keys
from rfview.render.panels import of
from rfview.render.scene import DEFAULT_KEYS
from rfview.render.text import Line, Row

FOOTER = ("step", "step_10", "continue", "next_issue", "next_rf", "next_stall", "why", "break_here", "timeline", "command",
          "help", "play", "mark", "registers", "statistics", "watch_here", "zoom", "palette")
FOOTER_NARROW = ("step", "step_10", "continue", "next_issue", "why", "break_here", "command", "help")
KEPT = ("close", "help")        # the way out, and the key that names all others


def footer_hints(panel: str, width: int, has_register_file: bool = True,
                 keys: Keys = DEFAULT_KEYS, activity: str = "",
                 is_alone: bool = False) -> list[tuple[str, str, str]]:
    """Return (keys, word, action) in the order of use; the painter keeps those that fit.

    activity: what the design does by itself and a key goes to, "" if nothing. is_alone: the panel fills the screen, so the
    key that closes it is among them.
    """
    own = of(panel).hints
    names: Iterable[str] = own or (FOOTER if width >= 100 else FOOTER_NARROW)
    if is_alone and not own:
        names = (*tuple(names)[:2], "close", *tuple(names)[2:])
    words = {"step": "step" if width < 100 else "step ±1", "continue": "continue" if width < 100 else "continue ±",
             "next_issue": "issue" if width < 100 else "issue ±",
             "next_change": "change ±", "close": "close", "next_activity": f"{activity} ±"}
    out = []
    for name in names:
        if not own and name in ("next_rf", "next_stall"):
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
        reserved = sum(len(key) + len(name) + 3 for key, name, later in hints[place + 1 :] if later in KEPT)
        if x + size + reserved > width - 1:
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
