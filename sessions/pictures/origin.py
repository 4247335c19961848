"""Traces a pixel to the store that wrote it, and a wrong pixel back through registers to the bits that were lost.

Two runs are compared, with the error and without: an instruction with a wrong result has a wrong source, which is
followed, lane by lane, back to where the register file lost bits of it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from rfview.engine.errors import InputError
from rfview.engine.info import Variable
from rfview.engine.wording import plural
from rfview.engine.program import NO_REG
from rfview.sessions.heat.memory import MemoryHeat
from rfview.sessions.timeline.stores import STORES, store_at, words_of
from rfview.sessions.heat.registers import RegisterHeat
from rfview.sessions.pictures.picture import variable_of
from rfview.sessions.pictures.right import loses_bits, right_run
from rfview.sessions.compare.values import elements, place_of
from rfview.sessions.session import Session
from rfview.sessions.timeline.base import Timeline

MAX_LINKS = 64
LOADS = ("ld", "ldu")
DATA = re.compile(r"R(\d+)")


@dataclass(frozen=True)
class Link:
    """One step back. kind: 'store', 'wrote', 'lost', 'host', 'loaded' or 'unknown'. cycle: the first that shows it, or -1.

    sentence: "stored by w9 lane 14", evidence: the instruction with its line. warp, lane, register: what it is about, -1
    if not applicable. lost_bits: a u4 mask of the value's lost bits.
    """

    kind: str
    cycle: int
    sentence: str
    evidence: str = ""
    warp: int = -1
    lane: int = -1
    register: int = -1
    lost_bits: int = 0

    def data(self) -> dict[str, Any]:
        """Return the link as JSON data."""
        return dict(vars(self))


def origin(session: Session, buffer: str, element: int) -> list[Link]:
    """Return how a buffer's element got its value at the cursor: its store and, if it is wrong, on to the lost bits.

    Raises InputError for a buffer or element that does not exist and, on a design that loses bits, like right.right_run.
    """
    variable = variable_of(session, buffer)
    total = variable.count
    if not 0 <= element < total:
        raise InputError(f"origin {buffer}[{element}]: {buffer} has elements 0..{total - 1:,}")
    right = right_run(session) if loses_bits(session) else None
    return _Trail(session, right).of_element(variable, element)


class _Trail:
    """Follows one value back in time."""

    def __init__(self, session: Session, right: Timeline | None):
        self.session, self.timeline, self.right = session, session.timeline, right
        self.program = session.info.program
        self.links: list[Link] = []

    def of_element(self, variable: Variable, element: int) -> list[Link]:
        """Return the links of an element of a buffer."""
        moment = MemoryHeat(self.timeline, variable, element, 1).moment(self.session.cycle, 0)
        name = f"{variable.name}[{element}]"
        if moment.since < 0:
            return [Link("host", -1, f"{name} is from the host: nothing has stored it up to here")]
        wrong = False
        if self.right is not None:
            runs = ((self.timeline, moment.since), (self.right, self.right.last))
            held = [elements(run.at(cycle).memory, variable, element + 1)[element:].tobytes() for run, cycle in runs]
            wrong = held[0] != held[1]
        self._store(moment.since, moment.warp, moment.lane, moment.pc, wrong)
        return self.links

    def _text(self, pc: int) -> str:
        return f"{self.program[pc].text}, {self.program[pc].where}" if 0 <= pc < len(self.program) else ""

    def _store(self, cycle: int, warp: int, lane: int, pc: int, wrong: bool) -> None:
        """Add the store that wrote a word and, if it stored a wrong value, follow that."""
        by = f"w{warp}" + (f" lane {lane}" if lane >= 0 else "") if warp >= 0 else "a store that cannot be determined"
        self.links.append(Link("store", cycle, f"stored by {by}", self._text(pc), warp, lane))
        if not wrong or warp < 0 or lane < 0:
            return
        data = [int(number) for number in DATA.findall(self.program[pc].text.partition("]")[2])]
        for when in (cycle, self._issued(warp, pc, cycle)):
            for register in data:
                if when >= 0 and self._wrong(warp, register, lane, when):
                    self._register(warp, register, lane, when)
                    return
        self._end(cycle, "its operands are now the same as without the error: they were overwritten")

    def _end(self, cycle: int, text: str) -> None:
        self.links.append(Link("unknown", cycle, text))

    def _wrong(self, warp: int, register: int, lane: int, cycle: int) -> bool:
        """Say whether a lane differs from the run without losses at a cycle; False once the runs have diverged."""
        assert self.right is not None
        if cycle > min(self.timeline.last, self.right.last) or not self._together(warp, cycle):
            return False
        try:
            values = [int(timeline.at(cycle).register(warp, register)[lane]) for timeline in (self.timeline, self.right)]
        except IndexError:
            return False
        return values[0] != values[1]

    def _together(self, warp: int, cycle: int) -> bool:
        """Say whether a warp is at the same place in both runs."""
        assert self.right is not None
        path = f"sm.warp[{warp}].num_issued"
        return bool(self.timeline.column(path, cycle, cycle + 1)[0] == self.right.column(path, cycle, cycle + 1)[0])

    def _register(self, warp: int, register: int, lane: int, cycle: int) -> None:
        """Follow a wrong value in a register at a cycle back to where its bits were lost."""
        while len(self.links) < MAX_LINKS:
            history = RegisterHeat(self.timeline, warp, register)
            moment = history.moment(cycle, lane)
            name = f"R{register} of w{warp}"
            if moment.is_lost:
                self._lost(history, warp, register, lane, moment.since)
                return
            if moment.pc < 0:
                self._end(cycle, f"{name} is not known to have been written")
                return
            text = self._text(moment.pc)
            self.links.append(Link("wrote", moment.since, f"{name} was written", text, warp, lane, register))
            before = moment.since - 1
            sources = list(dict.fromkeys(int(reg) for reg in self.program[moment.pc].src if int(reg) != NO_REG))
            source = next((reg for when in (before, self._issued(warp, moment.pc, before)) for reg in sources
                          if when >= 0 and self._wrong(warp, reg, lane, when)), None)
            if source is None:
                self._loaded(warp, lane, moment.pc, before)
                return
            register, cycle = source, before
        self._end(cycle, f"and so on: more than {MAX_LINKS} steps")

    def _issued(self, warp: int, pc: int, cycle: int) -> int:
        """Return the cycle in which an instruction in flight issued; -1 if it is not in flight."""
        if cycle < self.timeline.first:
            return -1
        stage, owner, pcs, issue = (self.timeline.column(f"sm.inflight[*].{name}", cycle, cycle + 1)[0]
                                    for name in ("stage", "warp", "pc", "issue_cycle"))
        mine = [int(when) for free, one, at, when in zip(stage, owner, pcs, issue, strict=True)
                if free and int(one) == warp and int(at) == pc]
        return max(mine, default=-1)

    def _lost(self, history: RegisterHeat, warp: int, register: int, lane: int, cycle: int) -> None:
        """Add the loss, and the instruction that wrote the value that lost bits."""
        values = [int(history.log.column(at, at + 1)[0, lane]) for at in (cycle - 1, cycle)]
        bits = values[0] ^ values[1]
        which = " ".join(str(bit) for bit in range(31, -1, -1) if bits >> bit & 1)
        text = f"R{register} of w{warp} lost bits {which}"
        became = f"{values[0]:#010x} became {values[1]:#010x}"
        self.links.append(Link("lost", cycle, text, became, warp, lane, register, bits))
        before = history.moment(cycle - 1, lane)
        if before.since >= 0 and before.pc >= 0:
            age = cycle - before.since
            self.links.append(Link("wrote", before.since, f"it was written {plural(age, 'cycle')} before",
                                   self._text(before.pc), warp, lane, register))

    def _loaded(self, warp: int, lane: int, pc: int, cycle: int) -> None:
        """Follow a loaded wrong value through memory; say so if its origin cannot be determined."""
        entry = self.program[pc]
        when = max(self.timeline.first, self._issued(warp, pc, cycle) + 1)
        word = words_of(self.timeline, when, warp, entry)[lane] if entry.mnemonic in LOADS else -1
        if word < 0:
            self._end(cycle, "its sources in this lane are now correct; the error came another way, as from another lane")
            return
        info, begin = self.session.info, self.session.info.global_word
        name = f"shared word {word}" if word < begin else place_of(info, word - begin)[0]
        variable = Variable(name=name, address=0, word=word, bytes=4, dtype="<u4", shape=[1])
        moment = MemoryHeat(self.timeline, variable, 0, 1).moment(cycle, 0)
        if moment.since < 0 or len(self.links) >= MAX_LINKS:
            self._end(cycle, f"{name}, which it loaded, is from the host")
            return
        self.links.append(Link("loaded", when, f"loaded from {name}"))
        pc, owner, by = store_at(self.timeline, moment.since, word)
        is_store = 0 <= pc < len(self.program) and self.program[pc].mnemonic in STORES
        self._store(moment.since, owner, by, pc, is_store)
