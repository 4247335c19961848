"""The events of a random kernel: what its threads do together, who takes part, and who has ended by then."""

from __future__ import annotations

import random
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field

KINDS = ("barrier", "barrier", "barrier", "red", "red", "shfl", "shfl", "vote", "vote", "match", "redux", "warp", "elect",
         "counted", "counted", "flag", "lock", "loop", "loop")


@dataclass
class Event:
    """What threads do together.

    members: those that take part, of those alive. named: the masks of a collective by thread. arrivers: members that do not
    wait. trips: rounds in the first loop by thread, of `rounds` in all. salt: chooses details, the same for all threads.
    """

    kind: str
    members: frozenset[int]
    named: dict[int, int] = field(default_factory=dict)
    salt: int = 0
    arrivers: frozenset[int] = frozenset()
    trips: dict[int, int] = field(default_factory=dict)
    rounds: int = 0
    in_function: bool = False


class Plan:
    """A kernel's threads and events, the same for the same state of `rng`."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.threads = rng.choice((32, 32, 64, 64, 64, 40))
        everyone = frozenset(range(self.threads))
        self.ends = self._choose_ends(everyone)
        self.events: list[Event] = []
        for place in range(rng.randint(2, 6)):
            self.events.append(self._event(place, frozenset(t for t in everyone if self.ends[t] > place)))

    def _choose_ends(self, everyone: Collection[int]) -> dict[int, int]:
        """Return for each thread the event before which it ends, a large number for most."""
        leaving = self.subset(everyone) if self.rng.random() < 0.6 else frozenset()
        when = [self.rng.randint(0, 5) for _ in range(2)]
        return {t: self.rng.choice(when) if t in leaving else 99 for t in everyone}

    def subset(self, threads: Iterable[int]) -> frozenset[int]:
        """Return some of the threads, chosen in the manner of kernels: a range, a parity, one thread, or at random."""
        rng = self.rng
        some = sorted(threads)
        if not some:
            return frozenset()
        kind, at = rng.randrange(5), rng.choice(some)
        tests: tuple[Callable[[int], bool], ...] = (
            lambda t: t < at, lambda t: t & 1 == at & 1, lambda t: t == at, lambda t: t & 3 == at & 3,
            lambda t: rng.random() < 0.5)
        return frozenset(t for t in some if tests[kind](t))

    def _event(self, place: int, alive: frozenset[int]) -> Event:
        rng = self.rng
        kind = rng.choice(KINDS)
        event = Event(kind, alive, salt=rng.randrange(1 << 16), in_function=rng.random() < 0.2)
        if kind == "counted" and len(alive) < 32:
            event.kind = kind = "barrier"
        if kind in ("shfl", "vote", "match", "redux", "warp", "elect"):
            self._name_members(event, alive)
        elif kind == "counted":
            event.members = frozenset(rng.sample(sorted(alive), 32 * rng.randint(1, len(alive) // 32)))
            event.arrivers = frozenset(rng.sample(sorted(event.members), rng.randrange(len(event.members))))
            event.in_function = False
        elif kind in ("flag", "lock"):
            event.members = self.subset(alive)
            event.salt = rng.choice(sorted(alive)) if alive else 0
            event.in_function = False
        elif kind == "loop":
            event.rounds = rng.randint(1, 4)
            event.trips = {t: rng.randint(0, event.rounds) for t in alive}
            event.in_function = False
        return event

    def _name_members(self, event: Event, alive: frozenset[int]) -> None:
        """Choose the masks of a collective: all lanes, some lanes, or two tiles of the warp with a mask each."""
        form = self.rng.randrange(5)
        if form == 0:
            event.members = self.subset(alive)
            lanes = [sum(1 << t % 32 for t in event.members if t // 32 == warp) for warp in range(2)]
            event.named = {t: lanes[t // 32] for t in event.members}
        elif form == 1:
            tile = self.rng.randrange(1, 1 << 32)
            event.named = {t: tile if tile >> t % 32 & 1 else ~tile & 0xFFFFFFFF for t in alive}
        else:
            event.named = dict.fromkeys(alive, 4294967295)
