"""What a run's constants say: the names of a warp's states and of event counters, and the warps of a CTA."""

from __future__ import annotations

import math
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


def warps_per_cta(launch: Mapping[str, Any]) -> int:
    """Return how many warps a CTA has in one of a run's `launches`."""
    return -(-math.prod(map(int, launch["block"])) // 32)
