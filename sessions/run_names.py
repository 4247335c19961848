"""Names by code, from a run's constants: what a warp's state, or an event counter, is called."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rfview.engine.events import FIRST_DESIGN_EVENT


def stall_names(info: Mapping[str, Any]) -> dict[int, str]:
    """Return the name of each state's code; those of a design's own reasons come after a gap."""
    return {int(entry["code"]): str(entry["name"]) for entry in info.get("stalls", ())}


def event_names(info: Mapping[str, Any]) -> dict[int, str]:
    """Return the name of each counter in sm.events: the machine's own, then the design's."""
    names = dict(enumerate(info.get("events", ())))
    return names | {FIRST_DESIGN_EVENT + index: name for index, name in enumerate(info.get("design_events", ()))}
