"""Kinds of events to go to: a word, and the condition that holds in the cycles that show such an event."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rfview.engine.errors import InputError
from rfview.engine.stalls import NOT_WAITING
from rfview.engine.wording import suggest

if TYPE_CHECKING:
    from rfview.engine.info import RunInfo

WARP_KINDS = ("issue", "stall")
KINDS = (*WARP_KINDS, "conflict", "rf", "activity")


def condition(info: RunInfo, kind: str, warp: int | None = None) -> tuple[str, str]:
    """Return (expression, words for users) for a kind of event.

    kind: issue or stall (of `warp`, or of any); conflict: a bank conflict; rf: any stall by the register file; activity:
    what the design does by itself (Design.event), which may also be named, such as refresh; the name of a stall or of an
    event counter; or a part of the names of the design's own counters. Raises InputError for a kind that this run does not
    have, which lists those it has.
    """
    activities = info.activities
    if kind == "activity" and activities:
        kind = activities[0]
    own = [name for name in info.design_events if kind in name]
    stalls = {entry.name: entry for entry in info.stalls}
    counters = set(info.event_names.values())
    named = kind if kind in counters else f"a {kind}"
    if kind == "issue":
        if warp is None:
            return "stall.issued > 0", "an issue"
        return f"w{warp}.state == issued", f"an issue of w{warp}"
    if kind == "stall":
        if warp is None:
            quiet = " and ".join(f"w.state != {name}" for name in NOT_WAITING)
            return f"any({quiet} and changed(w.state))", "a warp that begins to wait"
        state = f"w{warp}.state"
        quiet = " and ".join(f"{state} != {name}" for name in NOT_WAITING)
        return f"{quiet} and changed({state})", f"a stall of w{warp}"
    if kind == "conflict":
        return "stall.bank_conflict > 0", "a bank conflict"
    if kind == "rf":
        names = [name for name, entry in stalls.items() if entry.family == "register_file"]
        return _any(f"stall.{name} > 0" for name in names), "a stall by the register file"
    if kind in activities and own:
        return _any(f"changed(event.{name})" for name in own), named
    if kind in stalls:
        if warp is not None:
            return f"w{warp}.state == {kind} and changed(w{warp}.state)", f"{kind} of w{warp}"
        return f"stall.{kind} > 0", kind
    if kind in counters:
        return f"changed(event.{kind})", kind
    if own:
        return _any(f"changed(event.{name})" for name in own), named
    words = known(info)
    if kind == "activity":
        raise InputError(f"{info.design} does nothing by itself that this could go to; there are "
                         f"{', '.join(words)}, the names of stalls and of event counters")
    raise InputError(f"no such event {kind!r}{suggest(kind, [*words, *stalls, *counters])}; there are "
                     f"{', '.join(words)}, the names of stalls and of event counters")


def states(info: RunInfo, kind: str) -> list[int]:
    """Return the codes of the states that warps show at an event of a kind; none if it concerns no state."""
    return [entry.code for entry in info.stalls
            if kind == entry.name or (kind == "rf" and entry.family == "register_file")
            or (kind == "conflict" and entry.name == "bank_conflict")]


def known(info: RunInfo) -> list[str]:
    """Return the kinds that this run has."""
    activities = list(info.activities)
    return [kind for kind in KINDS if kind != "activity" or activities] + activities


def _any(parts: Any) -> str:
    return " or ".join(parts)
