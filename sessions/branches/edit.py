"""Runs a session's program again after an edit, on the same machine, as a branch that is compared with the run before it.

A branch made so parts from its baseline at cycle 0. The baseline is the session's first run until another one is pinned.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from rfview.engine.errors import InputError
from rfview.engine.wording import plural
from rfview.sessions.branch import Branch, Change
from rfview.sessions.branches.fork import MAIN, check_room, join, name_of
from rfview.sessions.branches.swap import chosen_settings, design_text
from rfview.sessions.compare.edits import NOTHING, align
from rfview.sessions.session import Session
from rfview.sessions.timeline.live import LiveTimeline, launch_path

if TYPE_CHECKING:
    from rfview.engine.info import RunInfo
    from rfview.engine.launch import LaunchSpec
    from rfview.engine.progress import Progress
    from rfview.engine.simulator import Simulator

EDIT = "edit"
BASELINE = "baseline"       # in the memo of a family's first session
MAX_NAMED = 4


class Origin(Protocol):
    """How the program of a live session is made from files. file: what its user edits."""

    file: Path

    def saved(self, sources: Iterable[str]) -> str:
        """Return what to say if the file, or a source of the program, was written since it was last asked, else ""."""

    def launch_file(self, target: str = "", report: Progress | None = None) -> Path:
        """Make a target (default: the session's own) anew, and return its launch file; raises InputError.

        report: told of what takes long; what it raises ends that.
        """


def spec_of(session: Session, target: str = "") -> LaunchSpec:
    """Return the launch that a target names (default: the session's own, as its files are now). Raises InputError."""
    from rfview.engine.launch import load_launch_file

    if session.origin is not None:
        return load_launch_file(session.origin.launch_file(target, session.compiling))
    if not target:
        return load_launch_file(simulator_of(session, "reload").spec.path)
    return load_launch_file(launch_path(Path(os.path.expanduser(target)) if target.endswith(".toml") else target))


def simulator_of(session: Session, what: str) -> Simulator:
    """Return the simulator of a live session; raises InputError for a recording, which holds one run."""
    if not isinstance(session.timeline, LiveTimeline):
        raise InputError(f"{what}: a recording holds one run; `rfview debug` runs a program live")
    return session.timeline.simulator


def machine_of(session: Session, spec: LaunchSpec) -> Simulator:
    """Return a simulator of another launch on a live session's machine, at cycle 0."""
    from rfview.engine.simulator import Simulator       # imports numba

    base = simulator_of(session, "reload")
    return Simulator(spec, design=design_text(base.info), scheduler=base.scheduler, preset=base.config.preset,
                     settings=chosen_settings(base, base.built.chain), max_cycles=base.max_cycles, seed=base.seed,
                     progress=session.compiling)


def load(session: Session, target: str) -> Session:
    """Return a new live session of another kernel on this session's machine, at cycle 0, in a new family.

    target: a bundled kernel's name, a launch file or, where the session's origin can compile it, FILE::KERNEL. Raises
    InputError for one that cannot be used, and on a recording.
    """
    if not isinstance(session.timeline, LiveTimeline):
        raise InputError(f"kernel {target}: a recording holds one run; `rfview debug {target}` runs another kernel live")
    made = Session(LiveTimeline(machine_of(session, spec_of(session, target))))
    made.progress, made.compiling, made.origin = session.progress, session.compiling, session.origin
    return made


def reload(session: Session) -> Session:
    """Return a new branch that runs the session's program as its files are now, at cycle 0.

    It replaces the branch of the edit before, unless that is the baseline or others were forked from it. Raises InputError
    for a program that cannot be compiled or placed, and on a recording.
    """
    base = session.family[baseline_of(session)]
    machine = machine_of(session, spec_of(session))
    _drop_last_edit(session, name_of(base))
    check_room(session, "reload")
    names = [EDIT, *(f"{EDIT}{number}" for number in range(2, 100))]
    name = next(one for one in names if one not in session.family)
    made = session.sibling(LiveTimeline(machine))
    made.branch = Branch(name, name_of(base), 0, _changes(base.info, machine.info), "")
    join(session, name, made)
    return made


def _drop_last_edit(session: Session, baseline: str) -> None:
    """Forget the latest edit, which the next one replaces: it would keep a machine."""
    parents = {member.branch.parent for member in session.family.values() if member.branch is not None}
    for name, member in list(session.family.items()):
        if member.branch is not None and not member.branch.command and name != baseline and name not in parents:
            del session.family[name]


def baseline_of(session: Session) -> str:
    """Return the name of the branch that edits are compared with."""
    name = str(session.family[MAIN].memo.get(BASELINE, MAIN))
    return name if name in session.family else MAIN


def pin(session: Session, name: str) -> None:
    """Make a branch the baseline of later edits."""
    session.family[MAIN].memo[BASELINE] = name


def _changes(old: RunInfo, new: RunInfo) -> tuple[Change, ...]:
    """Return which lines an edit changed."""
    made = align(old, new)
    names = [made.names[1][pair.b.place] if pair.b.place != NOTHING else f"{pair.b.file.rpartition('/')[2]}:{pair.b.line}"
             for pair in made.pairs if pair.a is None and pair.b is not None]
    if not names:
        return (Change("program", plural(len(old.program), "instruction"), plural(len(new.program), "instruction")),) * (
            [one.text for one in old.program] != [one.text for one in new.program])
    more = f" and {len(names) - MAX_NAMED} more" if len(names) > MAX_NAMED else ""
    return (Change(", ".join(names[:MAX_NAMED]) + more, "before", "edited"),)
