"""The help: keys by intent, the table of states, and how to read the screen; all generated from tables, all searchable."""

from __future__ import annotations

from collections.abc import Sequence

from rfview.actions import ACTIONS, BY_NAME, CATEGORIES, MAIN
from rfview.keys import Keys
from rfview.render.panels import FIRST, PANELS
from rfview.render.scene import DEFAULT_KEYS, Look, Scene
from rfview.render.text import Line, Row, blank, closes, cut, hint_row, wrap

READING: tuple[tuple[str, str, str], ...] = (
    ("13", "changed", "changed in this cycle"),
    ("▸31", "bold", "focus, keys act on it"),
    ("L──", "hi:long_scoreboard", "a run: glyph, then a line"),
    ("↓━━", "fg:wb_drain", "register file stalls it"),
    ("▲ ▼", "p:fast", "a bank read, written now"),
    ("■ □", "fg:bank_conflict", "operand wanted; result due"),
    ("Σ 48 ✓", "text", "every warp has one state"),
    ("◄ PAST", "text", "G leads to the end"),
)


def help_rows(needle: str = "", keys: Keys = DEFAULT_KEYS) -> list[tuple[str, str, str]]:
    """Return (category, keys, sentence) of the main screen's actions, one row per pair; only rows that contain `needle`."""
    reversing = {action.reverse for action in ACTIONS}
    out = []
    for action in map(BY_NAME.__getitem__, MAIN):
        if action.name in reversing:
            continue
        shown = keys.label(action.name)
        if action.name == "panel":
            shown = "Alt+0–9"
        elif action.name == "focus_next":
            shown = "Tab"
        extra = [key for name in (action.name, action.reverse) if name for key in keys.keys_of(name)[1:2] if key != "="]
        if action.name != "panel" and extra and all(len(key) == 1 for key in extra):
            shown += "  " + " ".join(extra)
        if needle.lower() in f"{shown} {action.sentence} {action.command} {action.name}".lower():
            out.append((action.category, shown, action.sentence))
    return out


def _head(width: int, text: str) -> Line:
    return Row(width, "band").add(f" {text}", "title").line()


def panel_lines(scene: Scene, width: int, needle: str, keys: Keys = DEFAULT_KEYS, reading: Sequence[str] = ()) -> list[Line]:
    """Return the help of the panel in focus: its keys, how to read it, its columns; [] if a search finds nothing in it."""
    panel = PANELS.get(scene.panel, PANELS[FIRST])
    own = [name for name in panel.hints if name not in ("close", "help", "command", "step", "continue")]
    does = {"down": "choose in it", "open": BY_NAME[panel.enter].sentence}
    rows = [(keys.label(name), does.get(name) or BY_NAME[name].sentence)
            for name in dict.fromkeys(("down", "open", *own)) if keys.label(name)]
    columns = [(name, text) for name, text, _ in panel.columns]
    whole = " ".join((panel.title, *reading, *(f"{name} {text}" for name, text in (*rows, *columns)))).lower()
    if needle.lower() not in whole:
        return []
    lines = [_head(width, f"{panel.title}, the panel in focus")]
    for name, text in [*rows, *columns]:
        first, *rest = wrap(text, max(8, width - 15)) or [""]
        lines.append(Row(width).add(" ").add(cut(name, 13), "bold").to(15).add(first, "dim").line())
        lines += [Row(width).to(15).add(part, "dim").line() for part in rest]
    for paragraph in reading:
        lines += [Row(width).add(" ").add(part, "dim").line() for part in wrap(paragraph, max(8, width - 2))]
    return [*lines, blank(width)]


def key_lines(width: int, category: str, needle: str, keys: Keys = DEFAULT_KEYS) -> list[Line]:
    """Return one category of keys, [] if none of its rows match."""
    rows = [row[1:] for row in help_rows(needle, keys) if row[0] == category]
    if not rows:
        return []
    lines = [_head(width, category)]
    column = 11
    for shown, sentence in rows:
        row = Row(width).add(" ").add(shown, "bold")
        row.to(column)
        if row.x > column:
            row.add(" ")
        first, *rest = wrap(sentence, max(8, width - row.x)) or [""]
        if rest:
            first, *rest = wrap(sentence, max(8, width - max(row.x, column)))
        lines.append(row.add(first, "dim").line())
        lines += [Row(width).to(column).add(part, "dim").line() for part in rest]
    return [*lines, blank(width)]


def state_lines(scene: Scene, width: int, needle: str) -> list[Line]:
    """Return the table of states, starting with those of the register file that this run has."""
    used = set(scene.common)

    def order(look: Look) -> tuple[bool, int]:
        return (not (look.is_register_file and look.code in used), look.code)

    rows = [look for look in sorted(scene.looks.values(), key=order)
            if needle.lower() in f"{look.name} {look.short} {look.sentence} state stall".lower()]
    if not rows:
        return []
    lines = [_head(width, "EACH WARP, EACH CYCLE")]
    for look in rows:
        row = Row(width).add(" ").add(look.glyph, "st:" + look.role).add(" ").add(f"{look.short:<9}", "bold")
        room = width - row.x
        lines.append(row.add(cut(look.meaning, room), "dim").line())
    return [*lines, blank(width)]


def reading_lines(width: int, needle: str) -> list[Line]:
    """Return how to read the screen."""
    rows = [entry for entry in READING if needle.lower() in f"{entry[0]} {entry[2]} reading".lower()]
    if not rows:
        return []
    lines = [_head(width, "READING THE SCREEN")]
    for sample, role, text in rows:
        lines.append(Row(width).add(" ").add(sample, role).to(10).add(cut(text, width - 10), "dim").line())
    return lines


def verb_lines(width: int, verbs: list[tuple[str, str]], needle: str) -> list[Line]:
    """Return the commands of the `:` prompt."""
    rows = [(name, text) for name, text in verbs if needle.lower() in f"{name} {text} command".lower()]
    if not rows:
        return []
    lines = [_head(width, "COMMANDS AFTER :")]
    for name, text in rows:
        lines.append(Row(width).add(" ").add(name if len(name) < width else name[: width - 2] + "…", "bold").line())
        lines += [Row(width).to(4).add(part, "dim").line() for part in wrap(text, width - 4)]
    return [*lines, blank(width)]


def term_lines(width: int, terms: Sequence[tuple[str, str]]) -> list[Line]:
    """Return the terms found by a search, each with its explanation and source."""
    lines = [blank(width), _head(width, "WHAT IS  K explains the thing in focus")] if terms else []
    for name, text in terms:
        lines.append(Row(width).add(" ").add(name[: width - 1], "bold").line())
        lines += [Row(width).to(4).add(part, "dim").line() for part in wrap(text, width - 4)]
    return lines


NARROWEST = 16      # in narrower windows the lines are cut off


def columns_for(width: int) -> int:
    """Return how many columns the help has."""
    return 3 if width >= 118 else 2 if width >= 96 else 1


def body(scene: Scene, width: int, needle: str, verbs: list[tuple[str, str]], keys: Keys = DEFAULT_KEYS,
         terms: Sequence[tuple[str, str]] = (), reading: Sequence[str] = ()) -> list[Line]:
    """Return the help's rows: the panel in focus, then all in three columns if there is room, else in two or one.

     MOVE IN TIME                        ASK                             EACH WARP, EACH CYCLE
     s S  → ←      one cycle on / back   e      why the focused warp ..  █ issued   issued an instruction
     ) (           10 cycles on / back   . ,    next / last change       ○ not_sel  was ready; another was chosen

    reading: paragraphs on how to read the panel. A search keeps the rows that contain the text: keys, words, states and
    commands; below them are the terms it finds, each with its source.
    """
    width = max(width, NARROWEST)
    count = columns_for(width)
    cell = (width - 2 * (count - 1)) // count
    groups: list[list[Line]] = [[] for _ in range(count)]
    parts = [key_lines(cell, name, needle, keys) for name in CATEGORIES]
    states, how = state_lines(scene, cell, needle), reading_lines(cell, needle)
    commands = verb_lines(cell, verbs, needle)
    about = panel_lines(scene, width, needle, keys, reading)
    if not (about or any(parts) or states or how or commands or terms):
        return [Row(width).add(f" nothing contains {needle!r}", "dim").line()]
    if count == 3:
        groups[0] = [*parts[0], *parts[1]]
        groups[1] = [*parts[2], *parts[3]]
        groups[2] = [*states, *how, blank(cell)]
        groups[2] += commands
    elif count == 2:
        groups[0] = [*parts[0], *parts[1], *parts[2], *parts[3]]
        groups[1] = [*states, *how, *commands]
    else:
        groups[0] = [*parts[0], *parts[1], *parts[2], *parts[3], *states, *how, *commands]
    height = max(len(group) for group in groups)
    lines = about
    for index in range(height):
        row = Row(width)
        for place, group in enumerate(groups):
            if index < len(group):
                line = group[index]
                row.to(place * (cell + 2))
                for text, role in line.spans:
                    row.add(text, f"{role}~{line.ground}" if line.ground else role)
        lines.append(row.line())
    lines += term_lines(width, terms)
    return lines


def head(width: int, typed: str, keys: Keys) -> Line:
    """Return the title row with the search."""
    row = Row(width, "band").add(" rfview", "title").add("  help       ", "text")
    if typed:
        row.add(typed, "bold")
    else:
        row.add(keys.first("search"), "key").add(" searches keys, words and stalls", "tinfo")
    return row.right(width - 1, closes(keys.first("close")), "tinfo").line()


def foot(width: int, keys: Keys, more: bool) -> Line:
    """Return the last row."""
    hints = keys.hints(("search", "search"), ("down up next_page previous_page", "scroll"), ("copy", "copy key table"),
                       "close")
    return hint_row(width, hints, "band", "more below" if more else "")
