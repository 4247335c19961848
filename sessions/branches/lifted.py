"""Runs in which one delay alone is lifted, or a little longer: the end of an instruction moved, or a setting for a moment.

What an instruction in its unit or in memory delays ends with it. What waits for a result in the register file waits for work
of the design, such as a write that keeps a bank busy: there the setting that `why` names holds as long as the wait.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rfview.engine import state as layout
from rfview.engine.errors import InputError
from rfview.engine.sass.listing import Control
from rfview.sessions.branch import Change
from rfview.sessions.branches.fork import changeable, machine_at
from rfview.sessions.branches.relief import cause_begins, settings_of
from rfview.sessions.causes.after import After, Flying
from rfview.sessions.session import Session
from rfview.sessions.timeline.base import Timeline
from rfview.sessions.timeline.live import LiveTimeline
from rfview.sessions.why import why

if TYPE_CHECKING:
    from rfview.engine.simulator import Simulator
    from rfview.sessions.why import Chain

NO_COUNTER = 7          # in a control code


@dataclass(frozen=True)
class Lifted:
    """Two runs beside the one that is asked about, each as the timelines that follow one another in it.

    begin: the cycle at which they leave. quick: without the delay. slow: with a longer one; longer says how. what: the
    setting that lifts it, "" for the end of an instruction. sooner: the cycles by which the instruction ended earlier, and
    the lines that it did not send; 0 for a setting. changes: what `quick` changed.
    """

    begin: int
    quick: tuple[LiveTimeline, ...]
    slow: tuple[LiveTimeline, ...]
    what: str
    longer: str
    sooner: int
    changes: tuple[Change, ...]


def lifted(session: Session, charged: After) -> Lifted:
    """Prepare the runs without what is charged. Raises InputError if it cannot be lifted, or the run cannot be simulated."""
    return _with_setting(session, charged) if _is_in_register_file(session, charged) else _with_end(session, charged.subject)


def refusal(session: Session, charged: After) -> str:
    """Return why what is charged cannot be lifted, as far as is known before anything is simulated; "" if nothing is."""
    try:
        if _is_in_register_file(session, charged):
            _settings(session, charged)
        else:
            _check_end(session.timeline, charged.subject)
    except InputError as error:
        return str(error)
    return ""


def _is_in_register_file(session: Session, charged: After) -> bool:
    """Return whether the question is about work of the register file, which does not end with the instruction."""
    warp, cycle = charged.asked
    code = int(session.timeline.states(cycle, cycle + 1)[0, warp])
    waits = [row.since for row in charged.rows if row.hop == 1]
    return any(stall.code == code and stall.family == "register_file" for stall in session.info.stalls) or (
        bool(waits) and min(waits) > charged.subject.left + 1)


def name_of(timeline: Timeline, one: Flying) -> str:
    """Return whose instruction it is, and its text."""
    return f"w{one.warp}'s {timeline.info.program[one.pc].text}"


# the end of an instruction


def _check_end(timeline: Timeline, one: Flying) -> int:
    """Return the cycle at which an instruction enters its unit; raises InputError if its end is not what others wait for."""
    entry = timeline.info.program[one.pc]
    if entry.control is not None and Control.of_bits(entry.control).write == NO_COUNTER and not entry.space:
        raise InputError(f"after: {name_of(timeline, one)} has a fixed latency, which the compiler counted on: others wait "
                         "for the stall count in the code or for its pipe, not for its end")
    return _entered(timeline, one)


def _with_end(session: Session, one: Flying) -> Lifted:
    timeline = session.timeline
    name, begin = name_of(timeline, one), _check_end(session.timeline, one)
    machine, _ = machine_at(timeline, begin, {}, session.progress, session.compiling)
    start = machine.checkpoint()
    slow = machine.twin()
    slow.restore(start)
    ends = _moved(machine, one, lambda cycle, end: cycle, drops_lines=True)
    if ends is None or _moved(slow, one, lambda cycle, end: end + 1, drops_lines=False) is None:
        raise InputError(f"after: the end of {name} is not set in cycles here, so it cannot be moved")
    end, moved, dropped = ends
    return Lifted(begin, (LiveTimeline(machine),), (LiveTimeline(slow),), "", "if it takes one cycle longer",
                  end - moved + dropped, (Change(f"{name}, end", end, moved),))


def _entered(timeline: Timeline, one: Flying) -> int:
    """Return the first cycle at which an instruction is in its unit or in memory."""
    first = max(timeline.first, one.issued + 1)
    stage = timeline.column(f"sm.inflight[{one.entry}].stage", first, one.left + 1)
    found = np.flatnonzero((stage == layout.EXECUTE) | (stage == layout.MEMORY))
    if not len(found):
        raise InputError(f"after: {name_of(timeline, one)} has not entered its unit in this session")
    return first + int(found[0])


def _moved(machine: Simulator, one: Flying, when: Callable[[int, int], int], *,
           drops_lines: bool) -> tuple[int, int, int] | None:
    """Step until the end of an instruction is set, and move it to when(cycle, end).

    drops_lines: of those it has left, it sends one. Returns its end, where that was moved, and the lines dropped; None if it
    leaves its unit otherwise.
    """
    sm, dropped = machine.sm, 0
    flight = sm["inflight"][one.entry]
    while not machine.finished and int(flight["seq"]) == one.seq and int(flight["stage"]) in (layout.EXECUTE, layout.MEMORY):
        if int(sm["ldst_head"]) == one.entry:
            if drops_lines:
                dropped += max(0, int(sm["num_lines"]) - int(sm["next_line"]) - 1)
                sm["num_lines"] = min(int(sm["num_lines"]), int(sm["next_line"]) + 1)
        else:
            moved = when(machine.cycle, int(flight["done_cycle"]))
            end = machine.move_end(one.entry, moved)
            if end >= 0:
                return end, moved, dropped
        machine.step(1)
    return None


# a setting, for as long as the wait


def _settings(session: Session, charged: After) -> tuple[Chain, dict[str, int], dict[str, int]]:
    """Return why the warp waits, the settings that lift it and their present values; raises InputError without any."""
    warp, cycle = charged.asked
    chain = why(session, warp, cycle)
    settings = settings_of(session, chain)
    present = {key: old for key, old in session.info.parameters.items() if isinstance(old, int)}
    what = chain.resource.name if chain.resource is not None else chain.state
    if not settings:
        raise InputError(f"after: w{warp} waits for {what}, and no setting that `why` knows of removes that wait")
    if fixed := [key for key in settings if key not in present or key not in changeable(session.info)]:
        raise InputError(f"after: w{warp} waits for {what}, and {fixed[0]} cannot change for one wait alone; "
                         f"`relief {warp}` tries it for the whole run")
    return chain, settings, present


def _with_setting(session: Session, charged: After) -> Lifted:
    chain, settings, present = _settings(session, charged)
    longer = {key: present[key] + (1 if present[key] > value else -1) for key, value in settings.items()}
    begin = min(cause_begins(session, chain), *(row.since - 1 for row in charged.rows if row.hop == 1))
    end = max(row.until for row in charged.rows if row.hop == 1)
    machine, _ = machine_at(session.timeline, begin, {}, session.progress, session.compiling)
    words = ", ".join(f"{key} {value}, not {present[key]}," for key, value in settings.items())
    return Lifted(begin, _for_a_while(machine, settings, end), _for_a_while(machine, longer, end),
                  f"{words} in the cycles {begin:,} to {end - 1:,}",
                  "with " + ", ".join(f"{key} {value}" for key, value in longer.items()) + " there", 0,
                  tuple(Change(f"{key} until {end:,}", present[key], value) for key, value in settings.items()))


def _for_a_while(machine: Simulator, settings: dict[str, Any], end: int) -> tuple[LiveTimeline, ...]:
    """Return the run from a machine's present cycle on, up to cycle `end` with other settings."""
    there = machine.twin(settings)
    there.adopt(machine.checkpoint())
    there.printed[:] = machine.printed
    changed = LiveTimeline(there)
    changed.extend(end - changed.first)
    back = machine.twin()
    back.adopt(changed.checkpoint_at(min(end, changed.last)))
    back.printed[:] = there.printed
    return changed, LiveTimeline(back)
