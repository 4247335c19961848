"""The chain of reasons for the focused warp, as drawn by the WHY panel and its popup; sessions/why finds it."""

from __future__ import annotations

from dataclasses import dataclass
from weakref import WeakKeyDictionary

from rfview.render.operation import with_lines
from rfview.sessions.machine import Machine
from rfview.render.scene import Scene
from rfview.render.text import number
from rfview.sessions.why import Chain, Past, Target, explain

_chains: WeakKeyDictionary[Machine, dict[tuple[int, bool], Chain]] = WeakKeyDictionary()


@dataclass(frozen=True)
class Link:
    """One step of the answer. text: the sentence. evidence: what proves it. code: its warp state, -1 for none.

    since, until: from when to when it applies, -1 if unknown. warp: the one it is about. target: where Enter goes.
    conclusion: it is the last line, in green: the resource. brief: a shorter sentence for when there is little room, or "".
    """

    text: str
    evidence: str = ""
    code: int = -1
    since: int = -1
    until: int = -1
    warp: int = -1
    conclusion: bool = False
    target: Target | None = None
    brief: str = ""


def chain_of(scene: Scene, warp: int) -> Chain | None:
    """Return the chain of a warp in a scene, computed once per machine state; None if there is no such warp."""
    machine = scene.now
    if machine is None or not 0 <= warp < machine.num_warps:
        return None
    key = (warp, scene.past is not None)
    known = _chains.setdefault(machine, {})
    if key not in known:
        past = scene.past or Past(scene.info)
        known[key] = explain(past, past.at(machine.cycle) or past.know(machine.snapshot), warp)
    return known[key]


def _with_source(scene: Scene, text: str, target: Target | None, *names: str) -> str:
    """Return a text with places as in CODE; one that `names` an instruction with its source line, too, if that is known."""
    where = scene.lines.at(target.pc) if scene.lines and target is not None and target.pc >= 0 else None
    is_named = where is not None and any(name in text for name in names)
    return with_lines(text, scene.info.program) + (f", {where.text}" if where is not None and is_named else "")


def links_of(scene: Scene, warp: int) -> tuple[list[Link], list[int]]:
    """Return (one warp's chain with its resource last, the codes of the other conditions that are true)."""
    chain = chain_of(scene, warp)
    if chain is None:
        return [], []
    links = [Link(_with_source(scene, link.sentence, link.target, " works for w"),
                  _with_source(scene, link.evidence, link.target, "PTX line", "listing line"),
                  link.code, link.since, link.until, link.warp, False, link.target)
             for link in chain.links]
    resource = chain.resource
    if resource is not None:
        left = chain.until - chain.cycle
        when = f"back at {number(chain.until)} (in {number(left)}): " if left > 0 else ""
        relief = " ".join(f"--set {key}={value}" for key, value in resource.relief.items())
        links.append(Link(when + resource.name, f"without it: {relief}" if relief else "", until=chain.until,
                          conclusion=True, brief=resource.name))
    codes = [code for code in sorted(scene.looks) if scene.look(code).name in chain.losers]
    return links, codes
