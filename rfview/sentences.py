"""What has changed between two cycles, and what every warp does, in sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rfview.engine.stalls import NO_STALL, NO_WARP
from rfview.engine.wording import plural
from rfview.render.operation import waits_for
from rfview.render.scene import Scene
from rfview.sessions.machine import Machine

if TYPE_CHECKING:
    from rfview.sessions.session import Session


def listed(warps: list[int]) -> str:
    """Return warps as text: w1, w3 to w6 and w9."""
    runs: list[list[int]] = []
    for warp in warps:
        if runs and warp == runs[-1][-1] + 1:
            runs[-1].append(warp)
        else:
            runs.append([warp])
    words = []
    for run in runs:
        words += [f"w{run[0]} to w{run[-1]}"] if len(run) > 2 else [f"w{warp}" for warp in run]
    return words[0] if len(words) == 1 else ", ".join(words[:-1]) + f" and {words[-1]}"


def view(session: Session, cycle: int) -> Scene:
    """Return the machine at a cycle, as the painters' helpers take it."""
    return Scene(now=Machine.of(session.timeline.at(cycle)), info=session.info)


def sentences(session: Session, before: int, after: int) -> list[str]:
    """Return the differences between two cycles of the session, one sentence each."""
    new, old = view(session, after), view(session, before)
    assert new.now is not None and old.now is not None
    out = [f"Cycle {after:,}."]
    moved = after - before
    if moved not in (0, 1):
        way = "on" if moved > 0 else "back"
        first, last = sorted((before, after))
        totals = session.timeline.stall_totals(last) - session.timeline.stall_totals(first)
        blocking = [(int(totals[code]), look.name) for code, look in new.looks.items()
                    if look.name not in NO_STALL]
        count, name = max(blocking)
        most = f", mostly {name} ({count:,} warp-cycles)" if count else ""
        cycles = plural(abs(moved), "cycle")
        out.append(f"{cycles} {way}: {plural(int(totals[session.timeline.issued]), 'instruction')} issued in them{most}.")
    groups: dict[tuple[str, str], list[int]] = {}
    same = 0
    for warp in range(new.now.num_warps):
        now, then = new.now.state[warp], old.now.state[warp]
        name = new.look(now).name
        if name == "issued" and (moved != 0):
            entry = new.now.instruction(new.now.last_pc[warp])
            groups.setdefault(("issued", entry.text if entry else "?"), []).append(warp)
        elif now != then:
            groups.setdefault((name, waits_for(new, warp)), []).append(warp)
        elif name not in NO_WARP:
            same += 1
    out += [_sentence(name, detail, warps) for (name, detail), warps in groups.items()]
    if same:
        out.append(f"{plural(same, 'warp')} continue{'s' if same == 1 else ''} as before.")
    if abs(moved) == 1:
        out += _counted(session, old.now, new.now)
    if session.timeline.closed and after == session.timeline.last:
        out.append("This is the end of the session.")
    return out


def _sentence(name: str, detail: str, warps: list[int]) -> str:
    who = listed(warps)
    several = len(warps) > 1
    if name == "issued":
        return f"{who} issued {detail}."
    if name == "finished":
        return f"{who} {'have' if several else 'has'} finished."
    if name == "no_cta":
        return f"The slot{'s' if several else ''} of {who} {'are' if several else 'is'} empty now."
    if name == "not_selected":
        return f"{who} {'are' if several else 'is'} ready, another warp was chosen."
    return f"{who} began to wait: {name}{f', {detail}' if detail else ''}."


def _counted(session: Session, old: Machine, new: Machine) -> list[str]:
    """Return what the design did in one cycle, from its event counters."""
    grown = {name: new.counts[name] - old.counts[name] for name in session.info.design_events}
    words = [f"{name} {count:+d}" for name, count in grown.items() if count]
    return [f"The register file counts {', '.join(words)}."] if words else []


def census(session: Session) -> list[str]:
    """Return what every warp does at the cursor, a sentence per group of warps."""
    scene = view(session, session.cycle)
    groups: dict[tuple[str, str], list[int]] = {}
    for warp in range(scene.machine.num_warps):
        name = scene.look(scene.machine.state[warp]).name
        groups.setdefault((name, waits_for(scene, warp) if name != "issued" else ""), []).append(warp)
    return [f"{listed(warps)}: {name}{f', {detail}' if detail else ''}." for (name, detail), warps in groups.items()]
