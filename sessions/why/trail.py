"""Follows causes: from a warp's state to the instruction that it waits for, and to the unit, bank or queue in its way.

Every step adds a link and continues with its cause, at the same moment or an earlier one, until `end` names a resource.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from rfview.engine import state as layout
from rfview.engine.plugin import explaining, origin
from rfview.engine.plugin.explaining import Refusal
from rfview.engine.errors import InputError
from rfview.engine.stalls import BY_NAME
from rfview.engine.wording import plural, suggest
from rfview.sessions.why.links import NOWHERE, Chain, Link, Resource, Target
from rfview.sessions.machine import Flight, Machine
from rfview.sessions.why.past import Past

MAX_LINKS = 14
VERBS = {layout.BANK_READ: "is read for", layout.BANK_WRITE: "is written for", layout.BANK_BUSY: "is busy for"}
COLLECT_CYCLES = 2  # the fewest cycles that an instruction spends in its operand collector


@dataclass(frozen=True)
class Explainers:
    """The functions that extend a chain. Each adds links to the trail for what it is given, at a moment.

    warp: for what a warp did. instruction: for an instruction in flight. design: for a refusal by the register file, as
    its design explains it; says whether the chain has ended. bank: for a refusal, by bank and port.
    """

    warp: Callable[[Trail, Machine, int], None]
    instruction: Callable[[Trail, Machine, Flight], None]
    design: Callable[[Trail, Machine, Refusal], bool]
    bank: Callable[[Trail, Machine, Refusal], None]


class Trail:
    """The links found so far, and the steps that add more.

    past: earlier moments. moment: the one that is explained. values: the run's parameters by name.
    """

    def __init__(self, past: Past, moment: Machine, explainers: Explainers):
        self.past, self.moment, self._explainers = past, moment, explainers
        self.values: dict[str, Any] = moment.info.parameters
        self.links: list[Link] = []
        self.error = ""         # what went wrong in a design's own `why`
        self.warps: set[int] = set()
        self._flights: set[tuple[int, int]] = set()

    # building

    @property
    def ended(self) -> bool:
        """Say whether the chain has reached a resource."""
        return bool(self.links) and self.links[-1].resource is not None

    def add(
        self,
        sentence: str,
        evidence: str = "",
        *,
        code: int = NOWHERE,
        warp: int = NOWHERE,
        since: int = NOWHERE,
        until: int = NOWHERE,
        pc: int = NOWHERE,
        bank: int = NOWHERE,
        buffer: int = NOWHERE,
        slot: int = NOWHERE,
        at: int = NOWHERE,
    ) -> None:
        """Append a link. at: the cycle that the link leads to, by default the one after `since`, which first shows it."""
        cycle = at if at >= 0 else since + 1 if since >= 0 else self.moment.cycle
        target = Target(min(cycle, self.moment.cycle), warp, pc, bank, buffer, slot)
        self.links.append(Link(sentence, evidence, code, warp, since, until, target))

    def about(self, flight: Flight, sentence: str, evidence: str = "", **more: int) -> None:
        """Append a link about an instruction in flight, from the beginning of its stage on; more: as in `add`."""
        self.add(sentence, evidence, **{"warp": flight.warp, "since": flight.since_cycle, "pc": flight.pc, **more})

    def issued(self, flight: Flight, sentence: str, evidence: str = "", code: int = NOWHERE) -> None:
        """Append a link about an instruction in flight, from its issue on. evidence: by default its text."""
        self.about(flight, sentence, evidence or flight.text, code=code, since=flight.issue_cycle)

    def bank_link(self, moment: explaining.Moment, bank: int, code: int, what: str = "") -> None:
        """Append which access occupies a bank, and until when. what: the name of a slow access, such as "STT write"."""
        until, since = moment.bank(bank, "until_cycle"), moment.bank(bank, "since_cycle")
        whose, waiting = moment.owner(bank), f"queue {moment.bank(bank, 'queue')}"
        left = until - moment.ran
        warp = moment.bank(bank, "owner_warp")
        if left > 0:
            sentence = f"bank {bank} busy: {what or 'slow access'}{f' of {whose}' if whose else ''}"
            evidence = f"{left} of {until - since} cycles left; {waiting}"
            self.add(sentence, evidence, code=code, warp=warp, since=since, until=until, bank=bank)
            return
        verb = VERBS.get(moment.bank(bank, "activity"))
        sentence = f"bank {bank} {verb} {whose}" if verb and whose else f"bank {bank} had no port left for it"
        self.add(sentence, f"in cycle {moment.ran:,}; {waiting}", code=code, warp=warp, since=moment.ran, bank=bank)

    def end(self, kind: str, name: str, relief: Mapping[str, Any] | None = None) -> None:
        """Name the last link's resource. relief: settings with which it would cause no delay, {"sm.num_banks": 32}."""
        if self.links and not self.ended:
            self.links[-1] = replace(self.links[-1], resource=Resource(kind, name, dict(relief or {})))

    def reopen(self) -> None:
        """Remove the resource again, so that the chain continues after the last link."""
        self.links[-1] = replace(self.links[-1], resource=None)

    def chain(self, warp: int) -> Chain:
        """Return the finished chain of a warp."""
        moment = self.moment
        bits, state = moment.warp(warp, "losers"), moment.state[warp]
        losers = tuple(moment.name(code) for code in range(32) if (bits >> code) & 1 and code != state)
        return Chain(warp, moment.cycle, moment.state_name(warp), moment.warp(warp, "state_since_cycle"), tuple(self.links),
                     losers, self.error)

    def value(self, name: str, default: int | None = None) -> int:
        """Return a whole-number parameter of the run; raises InputError for one that it does not have, without a default."""
        if name not in self.values and default is None:
            raise InputError(f"trail.value({name!r}): not a parameter of this run{suggest(name, self.values)}")
        return int(self.values.get(name, default or 0))

    # following

    def follow(self, moment: Machine, warp: int) -> None:
        """Explain what a warp did at a moment."""
        if len(self.links) >= MAX_LINKS or warp in self.warps:
            self._close(moment, warp)
            return
        self.warps.add(warp)
        self._explainers.warp(self, moment, warp)
        if not self.ended and (len(self.links) > 1 or moment.state_name(warp) != "issued"):
            self._close(moment, warp)

    def _close(self, moment: Machine, warp: int) -> None:
        """End a chain whose cause is something that it has named already."""
        scheduler = moment.scheduler_of(warp)
        self.end("issue slot", f"issue slot of scheduler {scheduler}", {"sm.num_schedulers": 4})

    def instruction(self, moment: Machine, flight: Flight) -> None:
        """Explain how far an instruction in flight has got, and why no further."""
        key = (flight.seq, moment.cycle)
        if key in self._flights or len(self.links) >= MAX_LINKS:
            self._close(moment, flight.warp)
            return
        self._flights.add(key)
        self._explainers.instruction(self, moment, flight)

    def collected_late(self, flight: Flight, late: int) -> None:
        """Go back to the last cycle in which an instruction that left its collector `late` cycles late was still in it."""
        earlier, other = self.past.at(flight.since_cycle - 1), flight.before(self.past, flight.since_cycle - 1)
        if earlier is None or other is None or other.stage != layout.COLLECT:
            return
        self.about(flight, f"it waited {plural(late, 'cycle')} in its collector", f"issued {flight.issue_cycle:,}",
                   since=flight.issue_cycle, until=flight.since_cycle)
        self.instruction(earlier, other)

    def refused(self, moment: Machine, refusal: Refusal) -> None:
        """Explain a refusal by the register file: as its design does, otherwise by bank and port."""
        known, note = list(self.links), ""
        try:
            if self._explainers.design(self, moment, refusal):
                return
        except InputError as error:         # an error in a design file's own `why`; the chain so far is still valid
            self.links[:] = known
            self.error = note = str(error)
        self._explainers.bank(self, moment, refusal)
        if not note and moment.name(refusal.code) not in BY_NAME:
            note = origin.missing(moment.info.design_spec, "more than this")
        if note:
            last = self.links[-1]
            self.links[-1] = replace(last, evidence="; ".join(filter(None, (last.evidence, note))))

    def waited(self, moment: Machine, warp: int) -> str:
        """Return how long a warp has been in its present state, as "14 cycles, since 1,204"."""
        since = moment.warp(warp, "state_since_cycle")
        return f"{plural(max(1, moment.cycle - since), 'cycle')}, since {since:,}"


def first_link(trail: Trail, moment: Machine, warp: int, sentence: str, evidence: str = "") -> None:
    """Append the link that says what the warp does, for how long, and about which instruction."""
    waited = trail.waited(moment, warp)
    trail.add(
        sentence,
        f"{waited}; {evidence}" if evidence else waited,
        code=moment.state[warp],
        warp=warp,
        since=moment.warp(warp, "state_since_cycle"),
        pc=moment.warp(warp, "pc"),
    )


def next_text(moment: Machine, warp: int) -> str:
    """Return the instruction that a warp would issue next."""
    return moment.text(moment.warp(warp, "pc"))
