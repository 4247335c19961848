"""Lets a register-file design explain its own refusals.

This is optional: by default a design's stalls end at their bank or, if none is known, at the register file with the
sentence of the stall's row. To say more, its module may define a function

    def why(trail, moment, rf, refusal): ...

that runs on the host and is never compiled. It reads the recorded state (`moment.sm`, and `rf`, the design's own record),
adds links (`trail.add(sentence, evidence, since=..., until=..., bank=...)`), names the resource (`trail.end("lock",
"the lock of bank 3", {"mydesign.lock_cycles": 1})`) and returns True; False leaves the refusal to the default.
rfview.engine.plugin.explaining documents the four arguments. If a replayed recording's design is not installed, the
default applies.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from rfview.engine import plugin as registry
from rfview.engine.plugin import explaining
from rfview.engine.errors import InputError
from rfview.engine.plugin.explaining import Refusal
from rfview.sessions.machine import Machine
from rfview.sessions.why.trail import Trail

Explainer = Callable[[explaining.Trail, explaining.Moment, Any, Refusal], bool]


def explain(trail: Trail, moment: Machine, refusal: Refusal) -> bool:
    """Let each of the run's nested designs, outermost first, explain a refusal; say whether the chain has ended."""
    rf = moment.rf
    for name in moment.info.design_spec.chain:
        explainer = _explainer(name)
        if explainer is not None and explainer(trail, moment, rf, refusal) and trail.ended:
            _check_relief(trail, name)
            return True
        names = rf.dtype.names or ()
        rf = rf["mrf"] if "mrf" in names else rf
    return False


def _check_relief(trail: Trail, name: str) -> None:
    """Raise InputError if a design's relief names a parameter that the run does not have."""
    resource = trail.links[-1].resource
    wrong = [key for key in resource.relief if key not in trail.values] if resource is not None else []
    if wrong:
        raise InputError(f"{name}: its why() names the relief {wrong[0]}, which is not a parameter of this run")


def _explainer(name: str) -> Explainer | None:
    """Return a design's `why` function; None if it has none or is not installed."""
    try:
        design = registry.find(name)
    except InputError:
        return None
    return partial(registry.host_functions.call, design, "why") if hasattr(design, "why") else None
