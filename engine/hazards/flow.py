"""What is outstanding at each instruction, over all paths, and the hazards: one fixpoint, no enumeration of paths.

What is outstanding is kept by the instruction that caused it, with the least distance in cycles (by stall counts; whatever
else delays a warp only adds to it) and the counters of which each covers it. Of two paths the nearer distance counts, and
only counters that cover both.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from rfview.engine.hazards.effects import (OWN_DOUBLE, PREDICATE, TEXTURE_PIPE, TIMED_DOUBLE, UNIFORM, Effects, Guard,
                                           effects_of, name_of)
from rfview.engine.hazards.latencies import needed, result_cycles
from rfview.engine.hazards.paths import Paths, Place
from rfview.engine.program import Kernel
from rfview.engine.wording import plural

FIXED, WRITE, READ, REUSE = "fixed", "write", "read", "reuse"
FAR = 64                # cycles beyond which distances do not matter
VISIBLE_CYCLES = 2      # from issue until the counter of an instruction is seen by those that wait for it


class Key(NamedTuple):
    """What is outstanding: a result of fixed latency, a result or a read of variable latency, a reuse cache's operand.

    place: of the reuse cache, operand position; otherwise -1.
    """

    what: str
    register: int
    pc: int
    place: int = -1


class Item(NamedTuple):
    """distance: least cycles since it was issued. covers: bits of counters. guard: under which it was executed, if known.

    stale: of a reuse cache's operand, the pc that has written the register since, -1 if none has. Of the texture unit, whose
    accesses end in order, behind: how many have come since that count with the same counter, the bit `counted`.
    """

    distance: int
    covers: int = 0
    guard: Guard | None = None
    stale: int = -1
    counted: int = 0
    behind: int = 0


State = dict[Key, Item]


@dataclass(frozen=True, order=True)
class Hazard:
    """A dependence that is not covered.

    pc: the instruction that comes too early. kind: RAW, WAR, WAW, or reuse. producer: the other instruction. cover: what
    should have covered it: stall count, counter, reuse bit. short: cycles, 0 where a counter decides.
    """

    pc: int
    register: str
    kind: str
    producer: int
    cover: str
    short: int

    def sentence(self, kernel: Kernel) -> str:
        """Return it in words."""
        other = f"{16 * self.producer:04x} {kernel.texts[self.producer]}"
        if self.kind == "reuse":
            return f"takes {self.register} from the reuse cache, where it is older than what {other} wrote"
        does = {"RAW": "reads", "WAW": "writes", "WAR": "overwrites"}[self.kind]
        then = {"RAW": "has written", "WAW": "has written", "WAR": "has read"}[self.kind]
        if self.cover == "counter":
            return f"{does} {self.register} without waiting until {other} {then} it"
        return f"{does} {self.register} {plural(self.short, 'cycle')} before {other} {then} it"


def hazards_of(kernel: Kernel) -> list[Hazard]:
    """Return the hazards of a kernel of machine code, by pc."""
    return Flow(kernel).hazards()


class Flow:
    """The states of a kernel's places, grown to a fixpoint."""

    def __init__(self, kernel: Kernel) -> None:
        self.sm, self.paths = kernel.architecture, Paths(kernel)
        self.effects = effects_of(kernel, self.sm)
        self.before: dict[Place, State] = {(0, ()): {}}
        waiting: list[Place] = [(0, ())]
        while waiting:
            place = waiting.pop()
            after = self.step(place[0], self.before[place])
            for following in self.paths.after(place):
                if self._join(following, after):
                    waiting.append(following)

    def _join(self, place: Place, state: State) -> bool:
        """Join a state into that of a place; return whether that has changed."""
        if place not in self.before:
            self.before[place] = dict(state)
            return True
        known, changed = self.before[place], False
        for key, item in state.items():
            old = known.get(key)
            new = item if old is None else Item(
                min(old.distance, item.distance), old.covers & item.covers,
                old.guard if old.guard == item.guard else None, max(old.stale, item.stale),
                old.counted & item.counted, min(old.behind, item.behind))
            if new != old:
                known[key], changed = new, True
        return changed

    def hazards(self) -> list[Hazard]:
        """Return the hazards of all places, each once, the worst of its kind."""
        worst: dict[tuple[int, str, str, int], Hazard] = {}
        for (pc, _), state in self.before.items():
            for one in self.found(pc, seen(self.effects[pc], state)):
                key = one.pc, one.register, one.kind, one.producer
                if key not in worst or worst[key].short < one.short:
                    worst[key] = one
        return sorted(worst.values())

    def found(self, pc: int, state: State) -> list[Hazard]:
        """Return the hazards of an instruction with what is outstanding when it issues."""
        own, found = self.effects[pc], []
        for key, item in state.items():
            if key.what == REUSE:
                if item.stale >= 0 and any((operand, reg) == (key.place, key.register) for operand, reg, _ in own.reuse):
                    found.append(Hazard(pc, name_of(key.register), "reuse", item.stale, "reuse bit", 0))
                continue
            if apart(item.guard, own.guard):
                continue
            other = self.effects[key.pc]
            short = 0
            for register, role in own.reads:
                if register == key.register and key.what == FIXED:
                    short = max(short, needed(other, register, own, role, self.sm) - item.distance)
                elif register == key.register and key.what == WRITE:
                    found.append(uncovered(pc, own, key, item, "RAW"))
                    break
            if short > 0:
                found.append(Hazard(pc, name_of(key.register), "RAW", key.pc, "stall count", short))
            if key.register in own.writes:
                found += self._overwritten(pc, own, key, item, other)
        return found

    def _overwritten(self, pc: int, own: Effects, key: Key, item: Item, other: Effects) -> list[Hazard]:
        """Return the hazard of writing a register that is still to be written or read."""
        if key.what == FIXED:
            early = 0 if own.is_variable else (result_cycles(other, key.register, self.sm)
                                               - result_cycles(own, key.register, self.sm) + 1 - item.distance)
            return [Hazard(pc, name_of(key.register), "WAW", key.pc, "stall count", early)] if early > 0 else []
        if key.what == WRITE:
            return [] if own.pipe == other.pipe else [uncovered(pc, own, key, item, "WAW")]
        if own.queue == other.queue or own.is_variable and other.kind == "double":
            return []
        return [uncovered(pc, own, key, item, "WAR")]

    def step(self, pc: int, before: State) -> State:
        """Return what is outstanding when the next instruction issues."""
        own = self.effects[pc]
        state = seen(own, before)
        written = set(own.writes)
        for key, item in list(state.items()):
            if key.what == REUSE:
                if (key.place, key.register & 1) in {(operand, reg & 1) for operand, reg, _ in own.reuse}:
                    del state[key]
                elif key.register in written:
                    state[key] = item._replace(stale=pc)
                continue
            if own.pipe == TEXTURE_PIPE == self.effects[key.pc].pipe and own.write:
                state[key] = item = item._replace(counted=item.counted or own.write,
                                                  behind=min(FAR, item.behind + (own.write == item.counted)))
            if key.register in written and key.what != READ and own.guard in (None, item.guard):
                del state[key]
            elif item.guard is not None and item.guard[0] in written:
                state[key] = item._replace(guard=None)
            elif key.what == READ or key.what == WRITE and not self.effects[key.pc].write:
                state[key] = item._replace(covers=item.covers | self._rides(own, key))
        if own.is_variable:
            early = own.read if own.kind == "atomic_global" else 0      # its predicate is known from its address
            counted = own.write if own.pipe == TEXTURE_PIPE else 0
            state |= {Key(WRITE, register, pc): Item(0, own.write | early * (register >= PREDICATE), own.guard, -1, counted)
                      for register in own.writes}
            if not (own.kind == "double" and self.sm in OWN_DOUBLE):
                state |= {Key(READ, register, pc): Item(0, own.write | own.read, own.guard, -1, counted)
                          for register, _ in own.reads if register < UNIFORM}
        else:
            state |= {Key(FIXED, register, pc): Item(0, 0, own.guard) for register in own.writes}
            state |= {Key(REUSE, register, pc, operand): Item(0, stale=pc if register in written else -1)
                      for operand, register, stays in own.reuse if stays}
        return {key: item._replace(distance=min(FAR, item.distance + own.gap)) for key, item in state.items()
                if not (self._is_timed(key) and item.distance + own.gap >= FAR)}

    def _is_timed(self, key: Key) -> bool:
        """Return whether enough cycles cover something, without a counter."""
        other = self.effects[key.pc]
        return key.what == FIXED or other.kind == "double" and self.sm in TIMED_DOUBLE and not other.write

    def _rides(self, own: Effects, key: Key) -> int:
        """Return the counters of an instruction that also cover an earlier one without: queues and pipes are in order."""
        other = self.effects[key.pc]
        if key.what == WRITE:
            return own.write if own.pipe == other.pipe else 0
        return own.write | own.read if own.queue == other.queue else 0


def seen(own: Effects, state: State) -> State:
    """Return what is outstanding after an instruction's waits; a counter that is not seen yet covers nothing.

    A barrier of the CTA also waits until the warp's accesses have read their operands. A counter above 0 says nothing of an
    access, unless it is one of the texture unit and at least as many of its counter are behind it.
    """
    counter, most = own.at_most
    wait = own.wait | (counter if most == 0 else 0)
    if not wait and not counter and not own.is_barrier:
        return dict(state)
    later = own.gap if own.holds_next else 0
    return {key: item for key, item in state.items()
            if not (item.covers & wait and item.distance + later >= VISIBLE_CYCLES
                    or item.counted & counter and item.behind >= most > 0
                    or own.is_barrier and key.what == READ)}


def uncovered(pc: int, own: Effects, key: Key, item: Item, kind: str) -> Hazard:
    """Return the hazard of not waiting for a counter, or of waiting for one before it can be seen."""
    early = VISIBLE_CYCLES - item.distance if item.covers & own.wait else 0
    cover = "stall count" if early > 0 else "counter"
    return Hazard(pc, name_of(key.register), kind, key.pc, cover, max(0, early))


def apart(first: Guard | None, second: Guard | None) -> bool:
    """Return whether two guards exclude each other: no lane executes both instructions."""
    return first is not None and second is not None and first[0] == second[0] and first[1] != second[1]
