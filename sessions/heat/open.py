"""Opens the history that a text names: a register as `w5.R3`, elements of a buffer as `C[0..127]`, `C[17]` or `C`."""

from __future__ import annotations

import re

from rfview.engine.errors import InputError
from rfview.engine.wording import suggest
from rfview.sessions.expressions import compile_expression
from rfview.sessions.heat.memory import MAX_ELEMENTS, MemoryHeat
from rfview.sessions.heat.registers import RegisterHeat
from rfview.sessions.session import Session

Heat = RegisterHeat | MemoryHeat
RANGE = re.compile(r"(?P<name>[A-Za-z_$][\w$.]*)(?:\[(?P<first>\d{1,12})(?:\.\.(?P<last>\d{1,12}))?\])?\Z")
MAX_KEPT = 4


def heat(session: Session, text: str) -> Heat:
    """Return the history that a text names; the last few are kept with the session, with what they have read.

    Raises InputError for what is neither a register nor a buffer, and for elements that do not exist.
    """
    text = text.strip()
    heats = session.memo.setdefault("heat", {})
    shown = heats.pop(text, None)
    if shown is None:
        shown = _memory(session, text) or _register(session, text)
    heats[text] = shown
    while len(heats) > MAX_KEPT:
        del heats[next(iter(heats))]
    return shown


def _memory(session: Session, text: str) -> MemoryHeat | None:
    """Return the history of a buffer's elements, None if no buffer or symbol is named."""
    match = RANGE.match(text)
    variables = {one.name: one for one in session.info.variables}
    if match is None or match["name"] not in variables:
        return None
    variable = variables[match["name"]]
    total = variable.count
    first = int(match["first"] or 0)
    last = int(match["last"] or match["first"] or min(total, MAX_ELEMENTS) - 1)
    if not 0 <= first <= last < total:
        raise InputError(f"{text}: {match['name']} has elements 0..{total - 1:,}")
    if last - first >= MAX_ELEMENTS:
        raise InputError(f"{text}: {last - first + 1:,} elements; at most {MAX_ELEMENTS:,} at once")
    return MemoryHeat(session.timeline, variable, first, last - first + 1)


def _register(session: Session, text: str) -> RegisterHeat:
    """Return the history of a register."""
    names = [one.name for one in session.info.variables]
    try:
        register = compile_expression(text, session.timeline).register
    except InputError as error:
        known = ", ".join(names[:6]) or "none"
        raise InputError(f"heat {text}: expected a register as w5.R3, or elements of a buffer as C[0..127]; buffers: "
                         f"{known}{suggest(text.partition('[')[0], names)} ({error})") from None
    if register is None:
        raise InputError(f"heat {text}: not a register; w5.R3 is one, and a buffer's elements are C[0..127]")
    log, _ = register
    return RegisterHeat(session.timeline, log.warp, log.register)
