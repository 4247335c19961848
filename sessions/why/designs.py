"""A register-file design explains its own refusals, in its own module.

A design needs nothing for it: its stalls end at their bank, else at the register file with the sentence of its stall row.
To say more, its module may have a function

    def why(trail, moment, rf, refusal): ...

that runs on the host, never compiled. It looks at the recorded state (`moment.sm`, and `rf`, the design's own record),
adds links (`trail.add(sentence, evidence, since=..., until=..., bank=...)`), names the resource (`trail.end("lock",
"the lock of bank 3", {"mydesign.lock_cycles": 1})`) and returns True; False leaves the refusal to the default.
rfview.engine.plugin.explaining says what all four offer. Replaying a recording where the design is not installed falls
back on the default.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from rfview.engine import plugin as registry
from rfview.engine.plugin import explaining
from rfview.engine.errors import InputError
from rfview.engine.plugin.explaining import Refusal
from rfview.sessions.why.moment import Moment
from rfview.sessions.why.trail import Trail

Explainer = Callable[[explaining.Trail, explaining.Moment, Any, Refusal], bool]


def explain(trail: Trail, moment: Moment, refusal: Refusal) -> bool:
    """Let each design of the run's chain, outermost first, explain a refusal; say whether the chain has ended."""
    rf = moment.rf
    for name in moment.info.get("design_spec", {}).get("chain", ()):
        explainer = _explainer(name)
        if explainer is not None and explainer(trail, moment, rf, refusal) and trail.ended:
            _check_relief(trail, name)
            return True
        names = rf.dtype.names or ()
        rf = rf["mrf"] if "mrf" in names else rf
    return False


def _check_relief(trail: Trail, name: str) -> None:
    """Raise InputError where a design's relief names a parameter that the run does not have."""
    resource = trail.links[-1].resource
    wrong = [key for key in resource.relief if key not in trail.values] if resource is not None else []
    if wrong:
        raise InputError(f"{name}: its why() names the relief {wrong[0]}, which is not a parameter of this run")


def _explainer(name: str) -> Explainer | None:
    """Return the `why` function of a design, None where it has none or is not installed."""
    try:
        found = registry.find(name)
    except InputError:
        return None
    return partial(registry.host_functions.call, found, "why") if hasattr(found, "why") else None
