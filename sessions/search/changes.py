"""The message for a stop at a change: an item's old and new value, in its type, and which instruction wrote it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rfview.sessions.expressions.types import kind_of, looks_like_float, word_text
from rfview.sessions.expressions.values import value_text

if TYPE_CHECKING:
    from rfview.sessions.session import Session


def old_and_new(session: Session, item: str, cycle: int, writer: str = "") -> str:
    """Return an item's value before a cycle and at it: "0 → 3"; for several lanes, of the first that differs.

    writer: the instruction that wrote it, "" if none did; a register's values are shown in its type.
    """
    old, new = (np.atleast_1d(np.asarray(session.value(item, at))) for at in (cycle - 1, cycle))
    if old.shape != new.shape:
        return ""
    lanes = np.flatnonzero(old != new)
    if not lanes.size:
        return "the same value"
    was, now = (value_text(part[lanes[0]].item()) for part in (old, new))
    if writer:
        kind = kind_of(writer, np.ascontiguousarray(new.astype(np.uint32)))
        first = np.array([old[lanes[0]]]).astype(np.uint32)
        was_float = not first[0] or looks_like_float(first)     # the old value may have had another type
        was = word_text(int(first[0]), kind if kind != "f32" or was_float else "u32")
        now = word_text(int(new[lanes[0]]), kind)
    place = f"lane {lanes[0]}: " if old.size > 1 else ""
    more = f", and {lanes.size - 1} more lanes" if lanes.size > 1 else ""
    return f"{place}{was} → {now}{more}"


def written(session: Session, item: str, register: Any, cycle: int) -> str:
    """Return who wrote a register and what it held before and since: "w3.R5 written by `add.s32 ...` (pc 7): 0 → 3".

    register: (its log, lanes), as in a compiled expression; an instruction must have written it at the cycle.
    """
    found = _writer(session, register, cycle)
    assert found is not None
    text, where = found
    return f"{item} written by `{text}` ({where}): {old_and_new(session, item, cycle, text)}"


def watched(session: Session, item: str, cycle: int) -> str:
    """Return what a watchpoint's item was and is, and, of a register, who wrote it: "lane 0: 0.5 → 0.25, by `mul...`"."""
    register = session.expression(item).register
    found = None if register is None else _writer(session, register, cycle)
    text, where = found or ("", "")
    change = old_and_new(session, item, cycle, text)
    return f"{change}, written by `{text}` ({where})" if text else change


def _writer(session: Session, register: Any, cycle: int) -> tuple[str, str] | None:
    """Return (the instruction that wrote a register at a cycle, "pc 7, 12 lanes"), None if none did."""
    log, lanes = register
    write = log.write_at(cycle, lanes)
    if write is None:
        return None
    pc, mask = write
    text = next((str(entry["text"]) for entry in session.info.get("program", ()) if entry["pc"] == pc), "")
    return text, f"pc {pc}" + ("" if mask.all() else f", {int(mask.sum())} lanes")
