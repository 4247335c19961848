"""Branches off at the cursor: the same run from here on, with a parameter or a register value changed.

A live run branches from its checkpoint. A recording is simulated again from what it embeds (PTX, launch file, memory,
parameters) up to the cursor, and must reach the recorded state bit for bit before anything is changed. A branch is a new
session that begins at the cycle of the fork; `family` contains all sessions that descend from one another, by name.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from rfview.engine import plugin as designs
from rfview.engine.plugin import origin
from rfview.engine.errors import InputError, RfviewError
from rfview.engine.progress import Progress
from rfview.engine.wording import suggest
from rfview.sessions.timeline.live import LiveTimeline
from rfview.sessions.timeline.replay import RecordedTimeline
from rfview.sessions.timeline.simulate import simulator_of
from rfview.sessions.branch import REGISTER, Branch, Change
from rfview.sessions.session import Session
from rfview.sessions.timeline.base import CycleProgress, Timeline

if TYPE_CHECKING:
    from rfview.engine.simulator import Simulator
    from rfview.engine.info import RunInfo

MAIN = "main"
NAME = re.compile(r"[A-Za-z_][\w.-]*\Z")
STEP_CYCLES = 4096
MAX_BRANCHES = 32      # a branch of a small machine takes about 5 MB, of a large one up to 130
ENTRY_CYCLES = ("latency", "initiation", "result", "interval", "access_read", "access_use")
# Parameters that the machine reads each time; all others determine the layout of state, rows or memory.
MACHINE = {
    "sm": ("num_collectors", "result_buses", "sp_queue", "sfu_queue", "ldst_queue", "ibuffer_entries", "fetch_width",
           "branch_cycles", "max_banks_per_cycle", "spin_limit", "poll_limit"),
    "memory": ("l1_hit_cycles", "l2_hit_cycles", "dram_cycles", "fixed_memory_cycles", "bytes_per_cycle", "queue_cycles",
               "shared_cycles", "const_cycles", "param_cycles", "mshrs", "const_mshrs", "flit_bytes", "store_acks"),
    "scheduler": ("active_set", "outer", "inner", "suspend", "parity"),
    "core": ("credits", "grant_cycles", "hold_counters", "branch_cycles", "reuse_cache", "read_ports", "constant_cycles",
             "full_fp32"),
}


def changeable(info: RunInfo) -> list[str]:
    """Return the parameters of a run that can be changed in mid-run."""
    tables = MACHINE | {design: _live(design) for design in info.design_spec.chain}
    names = [(name, *name.split(".", 1)) for name in info.parameters]
    return [name for name, section, key in names if section in ENTRY_CYCLES or key in tables.get(section, ())]


def _live(name: str) -> tuple[str, ...]:
    """Return the parameters that a design allows to be changed in mid-run; none if the design is not installed."""
    try:
        return tuple(entry.name for entry in designs.design(name).parameters if entry.is_live)
    except InputError:
        return ()


def fork(session: Session, name: str, changes: Mapping[str, Any] | None = None) -> Session:
    """Return a new session that continues from the cursor with `changes`, at the same cycle; it joins the family.

    changes: parameters ("stt.write_cycles": 8) and registers ("w3.R5[7]": 0x10, "w3.R5": 1.0 for all 32 lanes; whole
    numbers are bit patterns, floats are stored as f32). session.progress is called during a re-simulation and can stop
    it. Raises InputError for a name in use, for what does not exist or cannot be changed in mid-run, if the run has
    ended, and if a recording cannot be simulated again.
    """
    if not NAME.match(name):
        raise InputError(f"fork {name}: expected a name of letters, digits, _ . -")
    if name in session.family:
        raise InputError(f"fork {name}: a branch of this name already exists; there are {', '.join(session.family)}")
    check_room(session, f"fork {name}")
    timeline, cycle = session.timeline, session.cycle
    settings, pokes = sorted_changes(timeline.info, changes or {})
    if cycle == timeline.last and timeline.closed:
        raise InputError(f"fork {name}: the run ends here, at cycle {cycle:,}; go back first")
    simulator, done = machine_at(timeline, cycle, settings, session.progress, session.compiling)
    for warp, reg, lanes, value in pokes:
        for lane in lanes:
            old = simulator.poke(warp, reg, lane, value)
            done.append(Change(f"w{warp}.R{reg}[{lane}]", old, value))
    branch = session.sibling(LiveTimeline(simulator))
    given = "".join(f" {key}={value}" for key, value in (changes or {}).items())
    branch.branch = Branch(name, name_of(session), cycle, tuple(done), f"fork {name}{' set' if given else ''}{given}")
    join(session, name, branch)
    return branch


def check_room(session: Session, what: str) -> None:
    """Raise InputError if a family has the maximum number of branches: each keeps a machine."""
    if len(session.family) >= MAX_BRANCHES:
        raise InputError(f"{what}: there are already {len(session.family)} branches, the maximum; `drop NAME` removes one")


def free_name(session: Session, stem: str) -> str:
    """Return a name for a branch that no session of the family has: stem1, stem2 .."""
    return next(name for number in range(1, 1000) if (name := f"{stem}{number}") not in session.family)


def join(session: Session, name: str, made: Session) -> None:
    """Add a new session to the family of the one that it was made from."""
    made.family = session.family
    session.family[name] = made


def drop(session: Session, name: str) -> None:
    """Remove a branch; raises InputError for an unknown one, the current one, and one from which others branch off."""
    if name not in session.family or name == MAIN:
        names = [one for one in session.family if one != MAIN]
        raise InputError(f"drop {name}: no branch has this name; there are {', '.join(names) or 'none'}")
    if session.family[name] is session:
        raise InputError(f"drop {name}: this is the branch you are on; go to another one first with `branch NAME`")
    young = [one for one, member in session.family.items() if member.branch is not None and member.branch.parent == name]
    if young:
        raise InputError(f"drop {name}: other branches were forked from it ({', '.join(young)}); drop these first")
    del session.family[name]


def way_to(session: Session) -> list[str]:
    """Return the commands that lead from the family's first session to this one; none for the first one."""
    made = session.branch
    if made is None or not made.command:        # an edited program is what its files now hold
        return []
    return [*way_to(session.family[made.parent]), f"goto {made.cycle}", made.command]


def name_of(session: Session) -> str:
    """Return a session's name in its family."""
    return session.branch.name if session.branch is not None else MAIN


Poke = tuple[int, int, range, int]


def sorted_changes(info: RunInfo, changes: Mapping[str, Any]) -> tuple[dict[str, Any], list[Poke]]:
    """Return the settings and the register lanes among the changes; raises InputError for anything else."""
    settings: dict[str, Any] = {}
    pokes: list[Poke] = []
    allowed = changeable(info)
    for key, value in changes.items():
        if match := REGISTER.match(key):
            warp, reg, lane = (int(part) if part is not None else None for part in match.groups())
            if lane is not None and lane > 31:
                raise InputError(f"{key}: a warp has lanes 0..31")
            assert warp is not None and reg is not None
            pokes.append((warp, reg, range(32) if lane is None else range(lane, lane + 1), _bits(key, value)))
        elif key in allowed:
            settings[key] = value
        elif key in info.parameters:
            owner = key.split(".")[0]
            origin.require(info.design_spec, f"fork: changing {key}")
            if owner in info.design_spec.chain and owner not in designs.BUILT_IN:
                raise InputError(f"fork: {key} cannot change during a run (its Parameter has no is_live=True); "
                                 f"run again with --set {key}={value}")
            raise InputError(f"fork: {key} determines the machine's layout and cannot change during a run; run again "
                             f"with --set {key}={value}. What can change: {', '.join(_grouped(allowed))}")
        else:
            hint = suggest(key, allowed) or "."
            raise InputError(f"fork: no parameter or register {key}{hint} What can change during a run: registers as "
                             f"w3.R5[7], {', '.join(_grouped(allowed))}")
    return settings, pokes


def _grouped(names: list[str]) -> list[str]:
    """Return parameter names, with complete sections as one word."""
    single = [name for name in names if name.split(".")[0] not in ENTRY_CYCLES]
    return [*single, *(f"{section}.*" for section in ENTRY_CYCLES if any(name.startswith(f"{section}.") for name in names))]


def _bits(key: str, value: Any) -> int:
    """Return the u4 of a register value: a whole number in -2**31..2**32-1, or a float as f32."""
    text = str(value).strip()
    try:
        number = int(text, 0)
    except ValueError:
        try:
            with np.errstate(over="ignore"):
                return int(np.array(float(text), np.float32).view(np.uint32))
        except ValueError:
            raise InputError(f"{key}={value}: expected a whole number such as 0x10, or a float such as 1.5") from None
    if not -(1 << 31) <= number < 1 << 32:
        raise InputError(f"{key}={value}: expected 32 bits, -2147483648..4294967295")
    return number & 0xFFFFFFFF


def machine_at(timeline: Timeline, cycle: int, settings: dict[str, Any],
                progress: CycleProgress | None, compiling: Progress | None = None) -> tuple[Simulator, list[Change]]:
    """Return a separate simulator at a cycle of the timeline with the settings applied, and what they changed."""
    if isinstance(timeline, LiveTimeline):
        base = timeline.simulator
        checkpoint = timeline.checkpoint_at(cycle)
    elif isinstance(timeline, RecordedTimeline) and timeline.is_simulated:
        base, checkpoint = timeline.again().simulator, timeline.again().checkpoint_at(cycle)
    elif isinstance(timeline, RecordedTimeline):
        base = simulate_again(timeline, cycle, progress, compiling)
        checkpoint = base.checkpoint()
    else:
        raise InputError("fork: this session has no machine to continue on")
    printed = timeline.printed(cycle)
    machine = base.twin(settings)
    if settings:
        machine.adopt(checkpoint)
    else:
        machine.restore(checkpoint)
    machine.printed[:] = printed
    before, after = timeline.info.parameters, machine.info.parameters
    return machine, [Change(key, before[key], after[key]) for key in settings]


def simulate_again(timeline: RecordedTimeline, cycle: int, progress: CycleProgress | None = None,
                   compiling: Progress | None = None) -> Simulator:
    """Return a simulator that has run a recording's launches up to `cycle`, equal to the recorded state bit for bit.

    compiling: called with the progress of compiling the machine, if that is needed. Raises InputError if the recording
    lacks what is needed, if this version's machine runs differently, or when `progress` asks to stop.
    """
    if timeline.first != 0:
        raise InputError(f"fork: this recording begins at cycle {timeline.first:,}; only one that begins at 0 can be "
                         "simulated again")
    try:
        machine = simulator_of(timeline, progress=compiling)
        while machine.cycle < cycle and not machine.finished:
            machine.step(min(STEP_CYCLES, cycle - machine.cycle))
            if progress is not None and progress(machine.cycle):
                raise InputError(f"fork: stopped at cycle {machine.cycle:,} of {cycle:,}")
        same = machine.cycle == cycle and _same_state(machine, timeline, cycle)
    except InputError:
        raise
    except RfviewError as error:
        raise InputError(f"fork: simulating the recording again stopped: {error}") from None
    if not same and (other := origin.edited(timeline.info.design_spec)):
        raise InputError(f"fork: simulated again, the recording's cycle {cycle:,} is not what was recorded: {other}")
    if not same:
        mine, theirs = machine.info, timeline.info
        raise InputError(
            f"fork: simulated again, the recording's cycle {cycle:,} is not what was recorded: it is from rfview "
            f"{theirs.engine_version} ({theirs.source_hash}), this is {mine.engine_version} "
            f"({mine.source_hash}); record it again with this version")
    return machine


def _same_state(machine: Simulator, timeline: RecordedTimeline, cycle: int) -> bool:
    """Say whether state, rows and memory equal the recorded ones."""
    layout = timeline.layout
    if (machine.sm_dtype, machine.rf_dtype) != (layout.sm_dtype, layout.rf_dtype):
        return False
    return bool(machine.snapshot().same_as(timeline.at(cycle)))
