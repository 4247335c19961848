"""Runs the session's kernel on another register-file design or scheduler, up to the same place.

A swapped run is a branch that leaves its parent at cycle 0, so `branch` goes back and `compare` shows both side by side.
The user's settings of the machine (--set) are kept; those of the old design, or of its paper's machine, are not.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rfview.engine import plugin as designs
from rfview.engine.config import load_preset
from rfview.engine.defaults import OF_CORE, PAPER
from rfview.engine.errors import InputError
from rfview.engine.machine.schedulers import SCHEDULERS
from rfview.engine.plugin.variants import variant_of
from rfview.engine.wording import ordinal, plural
from rfview.sessions.branch import Branch, Change
from rfview.sessions.branches.fork import check_room, join, name_of
from rfview.sessions.compare.issues import IssueLog
from rfview.sessions.timeline.live import LiveTimeline
from rfview.sessions.timeline.replay import RecordedTimeline
from rfview.sessions.timeline.simulate import simulator_of
from rfview.sessions.session import Session

if TYPE_CHECKING:
    from rfview.engine.simulator import Simulator
    from rfview.engine.info import RunInfo


@dataclass(frozen=True)
class Swapped:
    """The new session. warp: the slot of the warp by whose instructions it was placed, None if by the cycle.

    text: one sentence on how its place was found.
    """

    session: Session
    warp: int | None
    text: str


def swap(session: Session, design: str = "", scheduler: str = "", warp: int | None = None) -> Swapped:
    """Run the session's kernel from cycle 0 with another design ("stt[stall=bank]") or scheduler ("" keeps either).

    warp: the slot of a warp: the new session is placed where this warp of the program has issued as many instructions;
    None: at the same cycle. Raises InputError for unknown names, if nothing would differ, if a recording cannot be
    simulated, and when session.progress asks to stop.
    """
    check_room(session, "swap")
    base = _base(session)
    machine = _machine(base, design, scheduler)
    changes = _changes(base.info, machine.info)
    if not changes:
        raise InputError(f"swap: the run is already on {base.info.design} with scheduler {base.scheduler}")
    made = session.sibling(LiveTimeline(machine))
    name = _free_name(session, machine.info.design.replace("+", "."), machine.scheduler)
    made.branch = Branch(name, name_of(session), 0, changes, f"swap {design or design_text(base.info)} {machine.scheduler}")
    slot, text = _follow(session, made, warp)
    join(session, name, made)
    return Swapped(made, slot, text)


def _base(session: Session) -> Simulator:
    """Return a simulator of the session's run, to read its parts."""
    timeline = session.timeline
    if isinstance(timeline, LiveTimeline):
        return timeline.simulator
    if not isinstance(timeline, RecordedTimeline):
        raise InputError("swap: this session has no machine to run again")
    try:
        if timeline.first:
            raise InputError(f"it begins at cycle {timeline.first:,}")
        return simulator_of(timeline, progress=session.compiling)
    except InputError as error:
        why = str(error).removeprefix("fork: ")
        raise InputError(f"swap: a recording holds one design, and this one cannot be run again with another: {why}; "
                         f"`rfview debug {timeline.info.name or 'KERNEL'} --design D` runs it again") from None


def design_text(info: RunInfo) -> str:
    """Return the design of a run as `--design` takes it, without its parameters."""
    return variant_of(info.design_spec.chain)


def _machine(base: Simulator, design: str, scheduler: str) -> Simulator:
    """Return a simulator at cycle 0 of the same launch and preset with the given design and scheduler."""
    from rfview.engine.simulator import Simulator       # imports numba

    variant = design or design_text(base.info)
    name, given = designs.parse_variant(variant)
    designs.find(name)
    if scheduler not in ("", PAPER, OF_CORE, *SCHEDULERS):
        raise InputError(f"swap: no scheduler {scheduler!r}; there are {', '.join((*SCHEDULERS, PAPER))}")
    chain = (name, given.get("main", "sram").partition("[")[0])
    settings = chosen_settings(base, tuple(part for part in base.built.chain if part in chain))
    settings = {key: value for key, value in settings.items() if key not in {f"{name}.{part}" for part in given}}
    return Simulator(base.spec, design=variant, scheduler=scheduler or base.scheduler, preset=base.config.preset,
                     settings=settings, max_cycles=base.max_cycles, seed=base.seed, progress=base._progress,
                     module=base.module)


def chosen_settings(base: Any, chain: tuple[str, ...]) -> dict[str, Any]:
    """Return the user's settings, without the parameters of the designs in `chain`."""
    usual = {**load_preset(base.config.preset).values(), **base.spec.compile, **base.built.settings}
    chosen = {key: value for key, value in base.config.values().items() if value != usual.get(key)}
    if "sm.num_banks" in chosen:    # rows that follow from the banks do so anew in another design; others were chosen
        rows = int(base.config["sm.rows_per_bank"])
        follow = int(usual["sm.num_banks"]) * int(usual["sm.rows_per_bank"]) // int(chosen["sm.num_banks"])
        chosen = {key: value for key, value in chosen.items() if key != "sm.rows_per_bank"}
        chosen |= {} if rows == follow else {"sm.rows_per_bank": rows}
    for key, value in base.built.values.items():
        owner, _, name = key.partition(".")
        if owner in chain:
            default = next(part.default for part in designs.design(owner).parameters if part.name == name)
            if value != default:
                chosen[key] = value
    return chosen


def _changes(old: RunInfo, new: RunInfo) -> tuple[Change, ...]:
    """Return what differs: design, scheduler, a design file's code, parameters of the machine or of the same design."""
    changes = [Change(key, getattr(old, key), getattr(new, key)) for key in ("design", "scheduler")
             if getattr(old, key) != getattr(new, key)]
    was, files = old.design_spec.files, new.design_spec.files
    changes += [Change(f"{name}'s code", was[name].code, files[name].code) for name in files
              if name in was and was[name].code != files[name].code]
    before, after = old.parameters, new.parameters
    return (*changes, *(Change(key, before[key], value) for key, value in after.items()
                      if key in before and before[key] != value))


def _free_name(session: Session, design: str, scheduler: str) -> str:
    """Return a name for the branch: the design, with the scheduler or a number if the name is taken."""
    names = [design, f"{design}.{scheduler}", *(f"{design}.{scheduler}.{number}" for number in range(2, 100))]
    return next(name for name in names if name not in session.family)


def _follow(session: Session, made: Session, warp: int | None) -> tuple[int | None, str]:
    """Move the new session to where the old one is; return the warp's slot there, and how the place was found."""
    log = IssueLog(session.timeline)
    name = log.name(warp, session.cycle) if warp is not None else None
    count = (log.issued(name, session.cycle) or 0) if name is not None else 0
    if name is None or count == 0:
        _reach(made, session.cycle)
        stop = made._go(session.cycle, "goto")
        same = f"cycle {stop.cycle:,}, the same as on {name_of(session)}"
        return None, same if stop.cycle == session.cycle else stop.text
    there = IssueLog(made.timeline)
    timeline = made.timeline
    issue = there.find(name, count)
    while issue is None and not timeline.closed and there.issued(name, timeline.last) is not None:
        _reach(made, timeline.last + 1)
        issue = there.find(name, count)
    if issue is None:
        stop = made._go(min(session.cycle, timeline.last), "goto")
        return None, f"w{warp} never issues its instruction {count:,} here: cycle {stop.cycle:,}"
    cycle = min(issue.cycle + 1, timeline.last)
    made._land(cycle, "goto", "")
    lag = cycle - session.cycle
    way = f"{plural(abs(lag), 'cycle')} {'later' if lag > 0 else 'earlier'} than" if lag else "as"
    text = f"cycle {cycle:,}, right after w{warp}'s {ordinal(count)} instruction, {way} on {name_of(session)}"
    return issue.slot, text


def _reach(session: Session, cycle: int) -> None:
    """Simulate until a cycle exists; raises InputError when the user stops it."""
    if not session.reach(cycle):
        raise InputError(f"swap: stopped at cycle {session.timeline.last:,}")
