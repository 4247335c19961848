"""Data panels: what a design says about its own state, as grids, tables and values, without code of its own."""

from __future__ import annotations

from typing import Any

import numpy as np

from rfview.render.scene import Scene
from rfview.render.text import Line, Row, number

DENSITY = "·░▒▓█"


def field_of(record: Any, path: str) -> np.ndarray | None:
    """Return a field of the design's record by a dotted path, None when there is no such field."""
    value = record
    for name in path.split("."):
        names = getattr(getattr(value, "dtype", None), "names", None)
        if names is None or name not in names:
            return None
        value = value[name]
    return np.asarray(value)


def _grid(panel: dict[str, Any], now: np.ndarray, before: np.ndarray | None, width: int) -> list[Line]:
    """Return a 2-D field as a density map, one cell per value; changed cells are underlined."""
    data = now.reshape(now.shape[0], -1) if now.ndim > 1 else now.reshape(1, -1)
    old = before.reshape(data.shape) if before is not None and before.size == data.size else data
    top = float(panel.get("max", 0) or data.max(initial=0) or 1)
    lines = []
    for index, (values, was) in enumerate(zip(data.tolist(), old.tolist(), strict=True)):
        row = Row(width).add(f"{index:>3} ", "faint")
        cells = []
        for value, other in zip(values, was, strict=True):
            level = max(0, min(4, -(-int(4 * float(value)) // max(1, int(top))))) if top >= 1 else 0
            cells.append((DENSITY[level], ("p:fast" if level else "off") + ("+u" if value != other else "")))
        lines.append(row.cells(cells).line())
    return lines


def _table(panel: dict[str, Any], now: np.ndarray, before: np.ndarray | None, width: int) -> list[Line]:
    """Return records, or the entries of an array, one per row below the names of their fields."""
    flat = now.reshape(-1)
    old = before.reshape(-1) if before is not None and before.size == now.size else flat
    names = flat.dtype.names or ("",)
    columns = [(name, flat[name], old[name]) if name else (name, flat, old) for name in names]
    heading, rows = Row(width).add("    ", "faint"), [Row(width).add(f"{index:>3} ", "faint") for index in range(flat.size)]
    for name, values, was in columns:
        texts = _column(values)
        room = max(map(len, (name, *texts)))
        heading.add(f"{name:>{room}}  ", "faint")
        for row, text, value, other in zip(rows, texts, values, was, strict=True):
            row.add(" " * (room - len(text))).add(text, "changed" if np.any(value != other) else "text").add("  ")
    return [row.line() for row in (([heading] if flat.dtype.names else []) + rows)]


def _column(values: np.ndarray) -> list[str]:
    """Return a field of all records as text; words that are masks of lanes in hexadecimal."""
    if values.ndim == 1 and values.dtype == np.uint32 and (values >= 1 << 24).any():
        return [f"{value:08x}" for value in values.tolist()]
    return [_text(value) for value in values]


def _values(panel: dict[str, Any], now: np.ndarray, before: np.ndarray | None, width: int) -> list[Line]:
    """Return a scalar or short array after the panel's title."""
    same = before is None or bool(np.array_equal(now, before))
    row = Row(width).add(f" {panel.get('title', panel.get('field', ''))} ", "dim")
    return [row.add(_text(now), "text" if same else "changed").add(f" {panel.get('unit', '')}", "dim").line()]


def _text(value: Any) -> str:
    data = np.asarray(value)
    if data.ndim == 0:
        plain = data.item()
        return f"{plain:.3g}" if isinstance(plain, float) else number(plain)
    return " ".join(_text(item) for item in data.reshape(-1)[:32])


KINDS = {"grid": _grid, "table": _table, "values": _values}


def render(scene: Scene, width: int, height: int) -> list[Line]:
    """Return the design's panels, in its order, as many as fit.

     Buffer entries  rf.heat
       0 ··░░▒▓█·
       1 ·░░▒▓█··
     writes 38,008

    grid: a cell per value, density by the largest. table: a row per entry. values: one line. An unknown kind or field is
    named, not skipped.
    """
    machine = scene.now
    if machine is None:
        return []
    lines: list[Line] = []
    for panel in scene.info.get("panels", ()):
        kind, path = str(panel.get("kind", "")), str(panel.get("field", ""))
        now = field_of(machine.snapshot.rf, path)
        before = field_of(scene.before.snapshot.rf, path) if scene.before else None
        painter = KINDS.get(kind)
        if now is None or painter is None:
            what = f"no field {path!r}" if now is None else f"unknown kind {kind!r}"
            lines.append(Row(width).add(f" {panel.get('title', 'panel')}: {what}", "dim").line())
            continue
        if kind != "values":
            lines.append(Row(width).add(f" {panel.get('title', path)}", "bold").add(f"  rf.{path}", "faint").line())
        lines += painter(panel, now, before, width)
    return lines[:height]
