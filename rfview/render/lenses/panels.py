"""Data panels: what a design declares of its own state, as grids, tables and values, without its own code."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from rfview.render.scene import Scene
from rfview.render.text import Line, Row, number

DENSITY = "·░▒▓█"
WRAP = 32           # cells of a one-dimensional field in a row
LEAST = 2           # rows below its titles that a panel keeps if there is no room for all: one, and how many are left out


def field_of(record: Any, path: str) -> np.ndarray | None:
    """Return a field of the design's record by a dotted path, None if there is no such field."""
    value = record
    for name in path.split("."):
        names = getattr(getattr(value, "dtype", None), "names", None)
        if names is None or name not in names:
            return None
        value = value[name]
    return np.asarray(value)


def _grid(panel: dict[str, Any], now: np.ndarray, before: np.ndarray, width: int) -> list[Line]:
    """Return a field as a map, one cell per value, by density or by the panel's glyphs; changed cells are underlined."""
    data, old = _in_rows(now), _in_rows(before)
    glyphs = str(panel.get("glyphs", ""))
    top = float(panel.get("max", 0) or data.max(initial=0) or 1)
    label = WRAP if now.ndim == 1 else 1
    lines = []
    for index, (values, was) in enumerate(zip(data.tolist(), old.tolist(), strict=True)):
        row = Row(width).add(f"{_name_of(panel, index * label)} ", "faint")
        cells = []
        for at, (value, other) in enumerate(zip(values, was, strict=True)):
            if now.ndim == 1 and index * WRAP + at >= now.size:
                break
            level = max(0, min(4, -(-int(4 * float(value)) // max(1, int(top))))) if top >= 1 else 0
            glyph = glyphs[max(0, min(len(glyphs) - 1, int(value)))] if glyphs else DENSITY[level]
            cells.append((glyph, ("p:fast" if value else "off") + ("+u" if value != other else "")))
        lines.append(row.cells(cells).line())
    return lines


def _in_rows(data: np.ndarray) -> np.ndarray:
    """Return an array of any shape as rows of cells; a one-dimensional one is wrapped after WRAP, padded with zeros."""
    if data.ndim > 1:
        return data.reshape(data.shape[0], -1)
    flat = data.reshape(-1)
    rows = max(1, -(-flat.size // WRAP))
    if rows == 1:
        return flat.reshape(1, -1)
    return np.concatenate([flat, np.zeros(rows * WRAP - flat.size, flat.dtype)]).reshape(rows, WRAP)


def _name_of(panel: dict[str, Any], index: int) -> str:
    """Return the label of an entry: w3 for a field per warp, else its number."""
    return f"{f'w{index}' if panel.get('per') == 'warp' else index:>3}"


def _table(panel: dict[str, Any], now: np.ndarray, before: np.ndarray, width: int) -> list[Line]:
    """Return a field as a table.

    Records have a row each, below the names of their fields, labelled w3.0, w3.1 .. if there are several per first index; a
    two-dimensional field has a row per first index; plain entries are side by side, as many in a row as there is room for.
    """
    flat, old = now.reshape(-1), before.reshape(-1)
    names = flat.dtype.names
    if not names and now.ndim > 1:
        return _lists(panel, now.reshape(now.shape[0], -1), before.reshape(now.shape[0], -1), width)
    if not names:
        texts = _column(flat, str(panel.get("show", "")))
        return _side_by_side(panel, texts, [bool(np.any(new != was)) for new, was in zip(flat, old, strict=True)], width)
    each = _rows_each(now)
    labels = [_name_of(panel, index // each) + (f".{index % each}" if each > 1 else "") for index in range(flat.size)]
    front = max(map(len, labels), default=3) + 1
    heading = Row(width).to(front)
    rows = [Row(width).add(f"{label:<{front}}", "faint") for label in labels]
    for name in names:
        if name.startswith("pad"):
            continue                # padding without meaning
        texts = _column(flat[name])
        room = max(map(len, (name, *texts)))
        heading.add(f"{name:>{room}}  ", "faint")
        for row, text, value, other in zip(rows, texts, flat[name], old[name], strict=True):
            row.add(" " * (room - len(text))).add(text, "changed" if np.any(value != other) else "text").add("  ")
    return [row.line() for row in (heading, *rows)]


def _rows_each(data: np.ndarray) -> int:
    """Return how many rows of a table belong to one first index of a field."""
    return data.size // data.shape[0] if data.dtype.names and data.ndim > 1 and data.size else 1


def _lists(panel: dict[str, Any], now: np.ndarray, before: np.ndarray, width: int) -> list[Line]:
    """Return a row per first index with its values in columns, cut at the end of the row."""
    texts = _column(now.reshape(-1), str(panel.get("show", "")))
    columns = now.shape[1]
    room = [max((len(text) for text in texts[at::columns]), default=0) for at in range(columns)]
    lines = []
    for index in range(now.shape[0]):
        row = Row(width).add(f"{_name_of(panel, index)} ", "faint")
        for at, text in enumerate(texts[index * columns : (index + 1) * columns]):
            row.add(f"{text:>{room[at]}}", "changed" if now[index, at] != before[index, at] else "text").add("  ")
        lines.append(row.line())
    return lines


def _side_by_side(panel: dict[str, Any], texts: list[str], changed: list[bool], width: int) -> list[Line]:
    """Return entries in as many columns as fit, numbered downwards."""
    room = max(map(len, texts), default=0) + max(len(_name_of(panel, len(texts) - 1)), 3) + 3
    columns = max(1, min(len(texts), (width + 2) // room))
    height = -(-len(texts) // columns)
    rows = [Row(width) for _ in range(height)]
    for index, (text, differs) in enumerate(zip(texts, changed, strict=True)):
        row = rows[index % height]
        row.to(index // height * room).add(f"{_name_of(panel, index)} ", "faint").add(text, "changed" if differs else "text")
    return [row.line() for row in rows]


def _column(values: np.ndarray, show: str = "") -> list[str]:
    """Return values as text. show: "registers" for masks of registers, "hex"; lane masks are hexadecimal in any case."""
    if show == "registers":
        return [registers_of(int(value)) for value in values]
    if show == "hex" or (values.ndim == 1 and values.dtype == np.uint32 and (values >= 1 << 24).any()):
        return [f"{int(value):0{2 * values.dtype.itemsize}x}" for value in values]
    return [_text(value) for value in values]


def registers_of(mask: int) -> str:
    """Return a mask as a list of its bits with ranges: "0-2 7"; "-" for none."""
    bits = [bit for bit in range(mask.bit_length()) if mask >> bit & 1]
    runs: list[list[int]] = []
    for bit in bits:
        if runs and runs[-1][1] == bit - 1:
            runs[-1][1] = bit
        else:
            runs.append([bit, bit])
    return " ".join(f"{first}-{last}" if last > first else str(first) for first, last in runs) or "-"


def _values(panel: dict[str, Any], now: np.ndarray, before: np.ndarray, width: int) -> list[Line]:
    """Return a scalar or short array after the panel's title."""
    text = " ".join(_column(now.reshape(-1)[:32], str(panel.get("show", ""))))
    row = Row(width).add(f" {panel.get('title', panel.get('field', ''))} ", "dim")
    role = "text" if np.array_equal(now, before) else "changed"
    return [row.add(text, role).add(f" {panel.get('unit', '')}", "dim").line()]


def _text(value: Any) -> str:
    data = np.asarray(value)
    if data.ndim == 0:
        plain = data.item()
        return f"{plain:.3g}" if isinstance(plain, float) else number(plain)
    return " ".join(_text(item) for item in data.reshape(-1)[:32])


KINDS = {"grid": _grid, "table": _table, "values": _values}


@dataclass(frozen=True)
class Shown:
    """A panel's lines. titles: how many of them are above its rows. focus: the row that stays visible if it is cut."""

    lines: list[Line]
    titles: int = 0
    focus: int = 0

    def cut(self, rows: int, width: int) -> list[Line]:
        """Return `rows` of its lines; the last says how many are left out."""
        if rows >= len(self.lines):
            return self.lines
        lines_left = max(0, rows - self.titles - 1)
        first = max(0, min(self.focus, len(self.lines) - self.titles - lines_left)) if self.focus >= lines_left else 0
        body = self.lines[self.titles + first : self.titles + first + lines_left]
        more = Row(width).add(f"    {len(self.lines) - self.titles - lines_left} more rows", "faint").line()
        return [*self.lines[: self.titles], *body, more]


def render(scene: Scene, width: int, height: int) -> list[Line]:
    """Return the design's panels, in its order; if there is no room for all of them, the longest are cut.

    A cut panel per warp or bank still shows the selected one. Panels for which there is no room at all are counted.

     Buffer entries  rf.heat
       0 ··░░▒▓█·
       1 ·░░▒▓█··
     writes 38,008

    grid: a cell per value, as a density relative to the largest, or by the panel's glyphs. table: a row per record or first
    index, or numbered entries. values: one line. An unknown kind or field is named, not skipped.
    """
    machine = scene.now
    if machine is None:
        return []
    used = {"bank": machine.num_banks, "warp": machine.num_warps}
    shown: list[Shown] = []
    for panel in scene.info.panels:
        kind, path = str(panel.get("kind", "")), str(panel.get("field", ""))
        now = field_of(machine.snapshot.rf, path)
        before = field_of(scene.before.snapshot.rf, path) if scene.before else None
        painter = KINDS.get(kind)
        if now is None or painter is None:
            what = f"no field {path!r}" if now is None else f"unknown kind {kind!r}"
            shown.append(Shown([Row(width).add(f" {panel.get('title', 'panel')}: {what}", "dim").line()]))
            continue
        before = now if before is None or before.shape != now.shape else before
        if now.ndim and panel.get("per") in used:
            now, before = now[: used[panel["per"]]], before[: used[panel["per"]]]
        lines = painter(panel, now, before, width)
        if kind != "values":
            lines.insert(0, Row(width).add(f" {panel.get('title', path)}", "bold").add(f"  rf.{path}", "faint").line())
        is_listed = kind == "table" and now.dtype.names is None and now.ndim < 2
        chosen = {"warp": scene.warp, "bank": scene.bank}.get(str(panel.get("per")), 0)
        # a list is numbered downwards in columns
        focus = chosen % (len(lines) - 1) if is_listed and len(lines) > 1 else chosen * _rows_each(now) if now.ndim else 0
        shown.append(Shown(lines, 0 if kind == "values" else 2 if kind == "table" and now.dtype.names else 1, focus))
    fitted = _fitted(shown, width, height)
    while len(fitted) > 1 and sum(map(len, fitted)) > height - (len(fitted) < len(shown)):
        fitted.pop()
    left = len(shown) - len(fitted)
    lines = [line for lines in fitted for line in lines][:height]
    key = scene.key("zoom")
    more = f" {left} more panels" + (f": {key} in this part shows all" if key else "")
    return [*lines, Row(width).add(more, "faint").line()] if left else lines


def _fitted(shown: list[Shown], width: int, height: int) -> list[list[Line]]:
    """Return the panels cut to fit, the longest first, but with at least LEAST rows each."""
    room = [len(panel.lines) for panel in shown]
    least = [panel.titles + LEAST for panel in shown]
    while sum(room) > height and any(rows > few for rows, few in zip(room, least, strict=True)):
        room[max(range(len(room)), key=lambda index: room[index] - least[index])] -= 1
    return [panel.cut(rows, width) for panel, rows in zip(shown, room, strict=True)]
