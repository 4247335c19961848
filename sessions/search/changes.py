"""The message for a stop at a change: an item's old and new value, in its type, and which instruction wrote it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rfview.sessions.expressions import Expression
from rfview.sessions.expressions.types import kind_of, looks_like_float, word_text
from rfview.sessions.expressions.values import value_text
from rfview.sessions.timeline.stores import NOBODY, store_at
from rfview.sessions.search import hits

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


def written(session: Session, item: str, expression: Expression, cycle: int) -> str:
    """Return what changed an expression, and a register's values: "w3.R5 written by `add.s32 ...` (pc 7): 0 → 3"."""
    by = _writer(session, expression, cycle)
    if expression.register is None:
        return f"{item} changed" + (f", written by {by[1]}" if by else "")
    assert by is not None
    return f"{item} written by {by[1]}: {old_and_new(session, item, cycle, by[0])}"


def watched(session: Session, item: str, cycle: int) -> str:
    """Return what a watchpoint's item was and is, and who wrote it: "lane 0: 0.5 → 0.25, written by `mul...` (pc 7)"."""
    expression = session.expression(item)
    by = _writer(session, expression, cycle)
    if by is None:
        return old_and_new(session, item, cycle)
    return f"{old_and_new(session, item, cycle, by[0] if expression.register else '')}, written by {by[1]}"


def warp_of(expression: Expression, cycle: int) -> int | None:
    """Return the warp that an expression names, or that stored what it reads, when it changes at a cycle; None if none."""
    named = hits.warp_of(expression, cycle)
    stored = _store(expression, cycle) if named is None else None
    return named if stored is None else stored[1]


def _writer(session: Session, expression: Expression, cycle: int) -> tuple[str, str] | None:
    """Return the instruction that wrote a register or a word of memory at a cycle, and it with its place; else None.

    The place is "`add.s32 ...` (pc 7, 12 lanes)", for memory with its warp and lane.
    """
    if expression.register is not None:
        log, lanes = expression.register
        write = log.write_at(cycle, lanes)
        if write is None:
            return None
        pc, mask = write
        where = "" if mask.all() else f", {int(mask.sum())} lanes"
    else:
        stored = _store(expression, cycle)
        if stored is None:
            return None
        pc, warp, lane = stored
        where = f", w{warp}" + (f" lane {lane}" if lane != NOBODY else "")
    text = next((entry.text for entry in session.info.program if entry.pc == pc), "")
    return text, f"`{text}` (pc {pc}{where})"


def _store(expression: Expression, cycle: int) -> tuple[int, int, int] | None:
    """Return (pc, warp, lane) of the store that changed one of the words of memory that an expression reads, if known."""
    timeline = expression.timeline
    for word in expression.memory if cycle > timeline.first else ():
        old, new = timeline.memory_column(word, cycle - 1, cycle + 1)
        if old != new:
            store = store_at(timeline, cycle, word)
            return store if store[1] != NOBODY else None
    return None
