"""The answer of `why`: links from a stalled warp back to a physical resource, as data, text and JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from rfview.engine import html
from rfview.engine.wording import plural

NOWHERE = -1


@dataclass(frozen=True)
class Target:
    """The destination of a jump to a link: the cycle whose state shows it, and what to show there; -1 if not applicable.

    buffer, slot: a write buffer (or register file cache of a warp) and the entry in it, as the design numbers them.
    """

    cycle: int
    warp: int = NOWHERE
    pc: int = NOWHERE
    bank: int = NOWHERE
    buffer: int = NOWHERE
    slot: int = NOWHERE

    def data(self) -> dict[str, int]:
        """Return the applicable fields, for JSON."""
        return {name: value for name, value in vars(self).items() if value != NOWHERE}


@dataclass(frozen=True)
class Resource:
    """The piece of hardware at which a chain ends.

    kind: the sort of resource ("bank", "MSHRs", "issue slot"); name: which one, as a phrase. relief: parameter settings,
    as for `--set`, that remove its delay or enlarge it; empty if no parameter of the machine does.
    """

    kind: str
    name: str
    relief: Mapping[str, Any] = field(default_factory=dict)

    def data(self) -> dict[str, Any]:
        """Return the resource for JSON."""
        return {"kind": self.kind, "name": self.name, "relief": dict(self.relief)}


@dataclass(frozen=True)
class Link:
    """One step of the answer: a short sentence that is the cause of the one before.

    evidence: what proves it. code: its stall code, -1 for none. warp: the warp that it is about. since, until: the first
    cycle in which it is true, and the first in which it no longer is; -1 if unknown. target: where it can be seen.
    resource: on the last link only.
    """

    sentence: str
    evidence: str = ""
    code: int = NOWHERE
    warp: int = NOWHERE
    since: int = NOWHERE
    until: int = NOWHERE
    target: Target | None = None
    resource: Resource | None = None

    def data(self) -> dict[str, Any]:
        """Return the link for JSON."""
        return {
            "sentence": self.sentence,
            "evidence": self.evidence,
            "code": self.code,
            "warp": self.warp,
            "since": self.since,
            "until": self.until,
            "target": self.target.data() if self.target else None,
            "resource": self.resource.data() if self.resource else None,
        }


@dataclass(frozen=True)
class Chain:
    """Why one warp did not issue: links from the warp to a resource.

    cycle: that of the explained state, which shows what the warp did in the cycle before. state: the name of what it did.
    losers: names of other conditions that would also have blocked it. A warp that issued has links but no resource.
    error: what went wrong in the design's own `why`, "" if nothing did.
    """

    warp: int
    cycle: int
    state: str
    since: int
    links: tuple[Link, ...]
    losers: tuple[str, ...] = ()
    error: str = ""

    @property
    def resource(self) -> Resource | None:
        """Return the resource that the chain ends at."""
        return self.links[-1].resource if self.links else None

    @property
    def until(self) -> int:
        """Return the end of the innermost cause whose end is known; -1 if none is."""
        return next((link.until for link in reversed(self.links) if link.until > self.cycle), NOWHERE)

    def _repr_html_(self) -> str:
        """Return the result of `text`, for notebooks."""
        head, _, rest = self.text().partition("\n")
        return html.lines(head, rest)

    def text(self) -> str:
        """Return the chain as text: one link per line, its evidence below, the resource last."""
        so_far = self.cycle - self.since
        verb = {"issued": "issues", "finished": "has ended", "no_cta": "is empty"}.get(self.state, "does not issue")
        lines = [
            f"w{self.warp} {verb} at {self.cycle:,}: {self.state}"
            + (f", {plural(so_far, 'cycle')} so far" if so_far > 0 else "")
        ]
        for number, link in enumerate(self.links, 1):
            lines.append(f"{number:>2} {'← ' if number > 1 else ''}{link.sentence}")
            if link.evidence:
                lines.append(f"     {link.evidence}")
        if self.resource is not None:
            lines.append(f"resource: {self.resource.name}")
            if self.resource.relief:
                settings = " ".join(f"--set {key}={value}" for key, value in self.resource.relief.items())
                lines.append(f"without it: {settings}")
        if self.until > self.cycle:
            lines.append(f"known end: cycle {self.until:,}, in {plural(self.until - self.cycle, 'cycle')}")
        if self.losers:
            lines.append(f"also true: {', '.join(self.losers)}")
        return "\n".join(lines)

    def data(self) -> dict[str, Any]:
        """Return the chain for JSON."""
        return {
            "warp": self.warp,
            "cycle": self.cycle,
            "state": self.state,
            "since": self.since,
            "links": [link.data() for link in self.links],
            "losers": list(self.losers),
            "until": self.until,
            "resource": self.resource.data() if self.resource else None,
        }
