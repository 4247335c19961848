"""What would lift a wait: by its state, by how many more warps could run, and by what a design's file says of its own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rfview.engine import plugin
from rfview.engine.errors import InputError
from rfview.sessions.summary.facts import Facts

SPARE = 1.0         # ready warps that each active set keeps out, on average: with so many, a further warp would be one more
COMPARE, TRY = "`rfview compare` sets it beside other designs", "`rfview relief` tries what would end the run earlier"

# what shortens waits, by state, after the advice of Nsight Compute's guide for its stall reasons
LIFTS: dict[str, str] = {
    "not_selected": "enough warps are ready: fewer instructions, not more warps, would help",
    "wait": "more independent instructions between a result and its use, or more warps",
    "short_scoreboard": "fewer accesses to shared memory or special functions, or more work between them and their use",
    "long_scoreboard": "use data again from registers or shared memory, load it earlier, or more warps",
    "pipe_throttle": "fewer instructions for that unit, or other work between them",
    "math_pipe_throttle": "fewer instructions for that pipe, or other work between them",
    "lg_throttle": "fewer and wider accesses to global and local memory, as of a float4 in place of four floats",
    "mio_throttle": "fewer and wider accesses to shared memory, and fewer special functions",
    "no_instruction": "fewer branches, shorter loops, or more warps",
}


def of_state(facts: Facts, state: str) -> str:
    """Return what shortens the waits of a state; "" if unknown."""
    return LIFTS.get(state, "").replace("more warps", more_warps(facts))


def keeps_warps_out(facts: Facts) -> bool:
    """Say whether further warps would only wait beside the ready ones that an active set keeps out."""
    return facts.kept_out >= SPARE


def more_warps(facts: Facts) -> str:
    """Return what lets more warps hide a wait: "more warps", unless an active set keeps ready ones out."""
    if not keeps_warps_out(facts):
        return "more warps"
    return "a larger active set" if has_size(facts) else "another scheduler"


def has_size(facts: Facts) -> bool:
    """Say whether the size of the scheduler's active sets is a setting."""
    from rfview.engine.machine.schedulers import SCHEDULERS     # start-up: only a run with active sets needs it
    from rfview.engine.machine.schedulers.scheduler import SHARE

    return facts.info.scheduler in SCHEDULERS and SCHEDULERS[facts.info.scheduler].active == SHARE


def larger_set(facts: Facts) -> str:
    """Return what lets the warps issue that an active set keeps out."""
    if has_size(facts):
        return f"`--set scheduler.active_set={2 * facts.config['active_places'] * facts.config['num_schedulers']}`"
    is_own = own_scheduler(facts) == facts.info.scheduler
    cost = "; `rfview compare` shows at what cost, as the design's paper has this scheduler" if is_own else ""
    return f"`--scheduler gto` lets all of them issue{cost}"


def own_scheduler(facts: Facts) -> str:
    """Return the scheduler of the design's paper; "" for a design that is not installed here."""
    try:
        return str(plugin.find(facts.info.design_spec.chain[0]).DESIGN.paper_scheduler)
    except InputError:
        return ""


def paper_scheduler(facts: Facts) -> str:
    """Return advice to use the scheduler of the design's paper; "" if the run did, or if the core has its own."""
    from rfview.engine.machine.schedulers import SCHEDULERS     # start-up: only a design with waits of its own needs it

    own = own_scheduler(facts)
    if own in ("", facts.info.scheduler) or facts.info.is_machine_code:
        return ""
    if SCHEDULERS[own].active and not facts.config["active_places"]:
        return f"`--scheduler {own}`, of the design's paper, lets fewer warps issue, which may cost more than it saves; "
    return f"`--scheduler {own}` is the one of the design's paper; "


def of_banks(facts: Facts) -> str:
    """Return what lifts bank_conflict: what the design says, else ports and banks if it arbitrates as the machine does."""
    own = of_design(facts, "bank_conflict")
    if own:
        return own
    try:
        main = plugin.find(facts.info.design_spec.chain[-1])
    except InputError:
        return TRY
    if hasattr(main, "arbitrate"):
        return TRY
    return f"{'`--set sm.bank_ports=2`, ' if facts.config['bank_ports'] == 1 else ''}more banks, or other register numbers"


def of_design(facts: Facts, what: str) -> str:
    """Return what lifts a state, or a full unit, by the file of the design or of its main file; "" if neither says."""
    for name in facts.info.design_spec.chain:
        found = _said_by(name, facts.info.parameters, facts.config).get(what, "")
        if found:
            return found
    return ""


def check(facts: Facts) -> None:
    """Raise InputError if a design's lifts() answers wrongly, or names what is neither a stall of the run nor a unit."""
    known = {*facts.info.stall_codes, *(floor.unit for floor in facts.floors)}
    for name in facts.info.design_spec.chain:
        for what in _said_by(name, facts.info.parameters, facts.config).keys() - known:
            raise InputError(f"{name}: its lifts() names {what!r}, which is no stall of the run, and no unit of floors()")


def _said_by(name: str, values: Mapping[str, Any], config: Mapping[str, int]) -> dict[str, str]:
    """Return what a design's file says lifts its states and units: its lifts(values, config).

    Raises InputError for a wrong answer.
    """
    try:
        design = plugin.find(name)
    except InputError:
        return {}
    if not hasattr(design, "lifts"):
        return {}
    found = plugin.host_functions.call(design, "lifts", values, config)
    if not isinstance(found, Mapping) or not all(isinstance(text, str) for pair in found.items() for text in pair):
        raise InputError(f"{name}: its lifts() returns {found!r}, expected {{\"state\": \"what would lift it\"}}")
    return dict(found)
