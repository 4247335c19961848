"""Debugger commands for branches: fork with something changed, switch between branches, compare two of them."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from rfview.engine.errors import InputError
from rfview.sessions.compare.runs import compared
from rfview.sessions.branches import edit
from rfview.sessions.branches.fork import MAIN, changeable, drop, fork, name_of
from rfview.sessions.session import Session
from rfview.sessions.branches.swap import design_text, swap
from rfview.sessions.commands import arguments
from rfview.sessions.commands.arguments import needed, settings
from rfview.sessions.commands.verb import Answer, verb


@verb("fork", signature="NAME [set KEY=VALUE ...]",
      help="continue as a branch with a parameter (stt.write_cycles=8) or register (w3.R5[7]=1) changed")
def _fork(session: Session, text: str) -> Answer:
    words = text.split()
    if not words:
        names = changeable(session.info)
        raise InputError(f"fork: expected `fork NAME set KEY=VALUE`; KEY is a register such as w3.R5[7] or one of "
                         f"{len(names)} parameters such as {', '.join(list(names)[:3])}; `rfview designs "
                         f"{session.info.design.partition('[')[0]}` lists those of the design")
    if len(words) == 2 or (len(words) > 2 and words[1] != "set"):
        raise InputError(f"fork {text}: expected `fork NAME` or `fork NAME set KEY=VALUE ...`")
    branch = fork(session, words[0], settings(words[2:], f"fork {text}"))
    made = branch.branch
    assert made is not None
    return Answer(f"on branch {made.text}; `branch {made.parent}` goes back, `compare` shows the difference",
                  branch_data(branch), session=branch)


def branch_data(session: Session) -> dict[str, Any]:
    """Return where a branch comes from, what it changes, and where its cursor is, as data."""
    made = session.branch
    assert made is not None
    return {"branch": made.name, "parent": made.parent, "cycle": session.cycle,
            "changes": [asdict(change) for change in made.changes]}


@verb("swap", signature="DESIGN|- [SCHEDULER] [warp N]",
      help="run the kernel again on another design or scheduler, to this cycle or a warp's same instruction")
def _swap(session: Session, text: str) -> Answer:
    words = text.split()
    warp = None
    if words[-2:-1] == ["warp"]:
        warp = arguments.warp(session, words[-1], "swap")
        words = words[:-2]
    if not 1 <= len(words) <= 2 or "warp" in words:
        raise InputError(f"swap {text}: expected `swap DESIGN [SCHEDULER] [warp N]`, as in `swap hrf` or "
                         "`swap stt[stall=bank] lrr warp 3`; - keeps the design")
    made = swap(session, "" if words[0] == "-" else words[0], "".join(words[1:]), warp)
    return Answer(f"on branch {name_of(made.session)}, {made.text}; `compare` shows the difference",
                  {**branch_data(made.session), "warp": made.warp}, session=made.session)


@verb("kernel", "load", signature="NAME|FILE", help="run another kernel on this machine, from cycle 0; live sessions only")
def _kernel(session: Session, text: str) -> Answer:
    if not text:
        raise InputError("kernel: expected a bundled kernel's name (`rfview kernels` lists them), a launch file or "
                         "FILE.cu::KERNEL")
    made = edit.load(session, text)
    info = made.info
    data = {"kernel": info.kernel, "name": info.name, "target": text, "design": design_text(info),
            "scheduler": info.scheduler}
    return Answer(f"{info.name} on {info.design}, cycle 0", data, session=made)


@verb("reload", help="run the program again as its files are now, from cycle 0, as a branch of the baseline")
def _reload(session: Session, text: str) -> Answer:
    made = edit.reload(session)
    assert made.branch is not None
    return Answer(f"on branch {made.branch.text}; `compare` shows the difference", branch_data(made), session=made)


@verb("baseline", signature="[NAME]", help="compare edits with this branch (or NAME) from now on, not with the first run")
def _baseline(session: Session, text: str) -> Answer:
    name = name_of(relative(session, text) if text else session)
    edit.pin(session, name)
    return Answer(f"the baseline is {name}", {"baseline": name})


@verb("branch", "branches", signature="[NAME]", help="list the branches, or go to one of them, where its cursor is")
def _branch(session: Session, text: str) -> Answer:
    here = name_of(session)
    if text:
        other = relative(session, text)
        data = {"branch": text, "cycle": other.cycle}
        return Answer(f"on branch {text}, cycle {other.cycle:,}", data, session=other)
    lines, listed = [], []
    for name, member in session.family.items():
        branch = member.branch.text if member.branch else f"{MAIN}: the run itself"
        lines.append(f"{'*' if name == here else ' '} {branch}; its cursor is at cycle {member.cycle:,}")
        listed.append({"branch": name, "parent": member.branch.parent if member.branch else None, "cycle": member.cycle})
    return Answer("\n".join(lines), {"branches": listed, "here": here})


@verb("drop", signature="NAME", help="discard a branch that no other one came from")
def _drop(session: Session, text: str) -> Answer:
    drop(session, needed(text, "drop"))
    return Answer(f"branch {text} is dropped; {len(session.family)} left", {"dropped": text, "left": list(session.family)})


@verb("compare", signature="[NAME]", help="run this branch and another (default: its parent) to the end and compare them")
def _compare(session: Session, text: str) -> Answer:
    a, b = ended_partners(session, text)
    return Answer(*compared(a.timeline, b.timeline, (name_of(a), name_of(b))))


def relative(session: Session, name: str) -> Session:
    """Return another session of the family; raises InputError, naming the existing ones, for an unknown name."""
    if name not in session.family:
        raise InputError(f"no branch {name!r}; there are {', '.join(session.family)}")
    return session.family[name]


def ended_partners(session: Session, name: str) -> tuple[Session, Session]:
    """Return `partners`, both simulated to their ends; raises InputError also when session.progress asks to stop."""
    pair = partners(session, name)
    for member in pair:
        member.timeline.run_to_end(member.progress, "compare")
    return pair


def partners(session: Session, name: str = "") -> tuple[Session, Session]:
    """Return (A, B) to compare: the branch's parent, or the one named, and this one; raises InputError without a branch.

    On a session that was not forked, B is the only branch, or the named one.
    """
    here = name_of(session)
    if name:
        other = relative(session, name)
        if other is session:
            raise InputError(f"compare {name}: this is the branch you are on")
        return (session, other) if here == MAIN else (other, session)
    if session.branch is not None:
        return relative(session, session.branch.parent), session
    others = [member for member in session.family.values() if member is not session]
    if len(others) != 1:
        known = f"name one of {', '.join(key for key in session.family if key != here)}" if others else (
            "there is no branch yet: `fork NAME set KEY=VALUE` makes one")
        raise InputError(f"compare: {known}")
    return session, others[0]
