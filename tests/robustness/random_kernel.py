"""A random kernel in PTX: a list of events that all its threads go through, at places that differ from thread to thread."""

from __future__ import annotations

import random

import numpy as np

from tests.robustness.random_events import Event, Plan

MAX_THREADS, ROWS = 64, 8
READ_WORDS = MAX_THREADS * ROWS     # per kernel, in `in`
WORDS, OWN, FLAGS, LOCKS = 256, 64, 128, 160    # per kernel, in `out`: a word per thread, one for its atomics, flags, locks
DEPTH = 3               # of branches in branches
BRANCHING_CONDITIONS = 120      # afterwards code branches only where an event needs it; of 6,000 kernels, the largest had 198

BARRIERS = ("barrier.sync 0;", "bar.sync 0;", "barrier.sync.aligned 0;", "barrier.cta.sync 0;")
POLLS = ("ld.volatile.global.u32 %r1, [%flag+{at}];", "atom.global.or.b32 %r1, [%flag+{at}], 0;",
         "ld.relaxed.gpu.global.u32 %r1, [%flag+{at}];", "nanosleep.u32 20; ld.acquire.gpu.global.u32 %r1, [%flag+{at}];",
         "membar.gl; ld.global.u32 %r1, [%flag+{at}];")
VOTES = ("ballot", "any", "all", "uni")
REDUCTIONS = ("add.u32", "min.u32", "max.s32", "min.s32", "and.b32", "or.b32", "xor.b32")


class RandomKernel:
    """A kernel, as text and as the data that it reads; the same for the same state of `rng`."""

    def __init__(self, name: str, rng: random.Random) -> None:
        self.name, self.rng = name, rng
        self._conditions: list[frozenset[int]] = []     # bit b of the words that a thread reads: whether it is in set b
        self._labels = 0
        self._lines: list[str] = []
        plan = Plan(rng)
        self.threads, self.ends, self.events, self._subset = plan.threads, plan.ends, plan.events, plan.subset
        everyone = frozenset(range(self.threads))
        self._block(everyone, 0, len(self.events), 0)
        self._functions = self._make_functions()

    # --- the text ---

    def _say(self, text: str) -> None:
        self._lines.append(text)

    def _label(self) -> str:
        self._labels += 1
        return f"L{self._labels}"

    def _condition(self, threads: frozenset[int], predicate: str = "%p0") -> str:
        """Set a predicate to whether the thread is one of a set; return its name."""
        self._conditions.append(threads)
        word, bit = divmod(len(self._conditions) - 1, 32)
        self._say(f"and.b32 %r0, %bits{word}, {1 << bit:#x}; setp.ne.u32 {predicate}, %r0, 0;")
        return predicate

    def _has_conditions(self) -> bool:
        return len(self._conditions) < BRANCHING_CONDITIONS

    def _block(self, threads: frozenset[int], first: int, last: int, depth: int) -> None:
        """Write code that takes `threads` through events first .. last - 1."""
        rng = self.rng
        if first == last or not threads:
            return
        self._work()
        if depth < DEPTH and len(threads) > 1 and self._has_conditions() and rng.random() < 0.6:
            rng.choice((self._if_else, self._if_else, self._in_and_behind, self._switch))(threads, first, last, depth)
        elif last - first > 1:
            middle = rng.randint(first + 1, last - 1)
            self._block(threads, first, middle, depth)
            self._block(threads, middle, last, depth)
        else:
            self._end_some(threads, first)
            self._meet(frozenset(t for t in threads if self.ends[t] > first), first)

    def _if_else(self, threads: frozenset[int], first: int, last: int, depth: int) -> None:
        some, other, join = self._subset(threads), self._label(), self._label()
        self._say(f"@!{self._condition(some)} bra {other};")
        self._block(some, first, last, depth + 1)
        self._say(f"bra{self.rng.choice(('', '.uni'))} {join}; {other}:")
        self._block(threads - some, first, last, depth + 1)
        self._say(f"{join}:")

    def _in_and_behind(self, threads: frozenset[int], first: int, last: int, depth: int) -> None:
        some = self._subset(threads)
        for part in (some, threads - some):
            join = self._label()
            self._say(f"@!{self._condition(part)} bra {join};")
            self._block(part, first, last, depth + 1)
            self._say(f"{join}:")

    def _switch(self, threads: frozenset[int], first: int, last: int, depth: int) -> None:
        arms = [self._label() for _ in range(self.rng.randint(2, 4))]
        chosen = {t: self.rng.randrange(len(arms)) for t in threads}
        table, join = self._label(), self._label()
        self._condition(frozenset(t for t in threads if chosen[t] & 1))
        self._say("selp.u32 %r2, 1, 0, %p0;")
        self._condition(frozenset(t for t in threads if chosen[t] & 2))
        self._say(f"selp.u32 %r3, 2, 0, %p0; add.u32 %r2, %r2, %r3; {table}: .branchtargets {', '.join(arms)};")
        self._say(f"brx.idx %r2, {table};")
        for number, arm in enumerate(arms):
            self._say(f"{arm}:")
            self._block(frozenset(t for t in threads if chosen[t] == number), first, last, depth + 1)
            self._say(f"bra {join};")
        self._say(f"{join}:")

    def _work(self) -> None:
        """Write something of one's own: arithmetic, a loop with trips of one's own, an atomic on one's own word, or nothing."""
        kind = self.rng.randrange(6)
        if kind == 0:
            again = self._label()
            self._say(f"and.b32 %r4, %x, 3; {again}: mad.lo.u32 %x, %x, 5, %r4; sub.u32 %r4, %r4, 1; "
                      f"setp.ge.s32 %p3, %r4, 0; @%p3 bra {again};")
        elif kind == 1:
            self._say("atom.global.add.u32 %r4, [%own], %x; mad.lo.u32 %x, %x, 3, %r4;")
        elif kind == 2:
            past = self._label()
            self._say(f"and.b32 %r4, %x, 4; setp.eq.u32 %p3, %r4, 0; @%p3 bra {past}; xor.b32 %x, %x, 0x5bd1e995; {past}:")

    def _end_some(self, threads: frozenset[int], place: int) -> None:
        """End the threads whose end is here: at once, or at the common end of the kernel, behind all joins."""
        leaving = frozenset(t for t in threads if self.ends[t] == place)
        if leaving:
            condition = self._condition(leaving)
            self._say(self.rng.choice((f"@{condition} bra END;", f"@{condition} st.global.u32 [%out], %x; @{condition} exit;")))

    def _mix(self, value: str) -> str:
        return f"mad.lo.u32 %x, %x, 1664525, {value}; xor.b32 %x, %x, {self.rng.randrange(1 << 16)};"

    def _meet(self, threads: frozenset[int], place: int) -> None:
        """Write an event, for those of `threads` that take part."""
        event = self.events[place]
        if event.kind == "flag":
            return self._flag(threads, event, place)
        members = threads & event.members
        if not members:
            return None
        if event.kind == "loop":
            return self._loop(members, event)
        if event.kind == "counted":
            self._part(threads & event.arrivers, threads, f"barrier.arrive {place + 1}, {len(event.members)};")
            members -= event.arrivers
            return self._part(members, threads, f"barrier.sync {place + 1}, {len(event.members)};") if members else None
        if event.kind == "lock":
            again, at = self._label(), place * 8
            return self._part(members, threads, (
                f"{again}: atom.global.cas.b32 %r1, [%lock+{at}], 0, 1; setp.ne.u32 %p3, %r1, 0; @%p3 bra {again}; "
                f"ld.volatile.global.u32 %r1, [%lock+{at + 4}]; mad.lo.u32 %r1, %tid, 3, %r1; "
                f"st.volatile.global.u32 [%lock+{at + 4}], %r1; membar.gl; atom.global.exch.b32 %r1, [%lock+{at}], 0;"),
                branch=True)
        if event.named:
            self._name_masks(event)
        call = event.in_function and event.kind not in ("barrier", "warp")
        before, act, after = ("mov.u32 %r1, 0;", f"call (%r1), {self.name}_{place}, (%x, %lane, %m, %alive);", "") if call \
            else self._act(event, place)
        self._say(before)
        self._part(members, threads, act, branch=call)
        self._say(after + self._mix("%r1"))
        return None

    def _part(self, members: frozenset[int], threads: frozenset[int], act: str, *, branch: bool = False) -> None:
        """Write code for some of the threads that come here: as it is, under a guard, or behind a branch."""
        if not members:
            return
        if members == threads and self.rng.random() < 0.8:
            self._say(act)
        elif branch or self.rng.random() < 0.5:
            join = self._label()
            self._say(f"@!{self._condition(members)} bra {join}; {act} {join}:")
        else:
            self._say(f"@{self._condition(members)} {act}")

    def _name_masks(self, event: Event) -> None:
        """Write code for the mask that a thread names, and for the lanes of it that have not ended."""
        live = self._live_masks(event)
        if len(live) < self.threads:
            live |= {t: 0 for t in range(self.threads) if t not in live}    # who takes no part reads nobody's values
        for name, masks in (("%m", event.named), ("%alive", live)):
            values = sorted(set(masks.values()))
            self._say(f"mov.u32 {name}, {values[0]:#x};")
            for value in values[1:]:
                self._condition(frozenset(t for t in masks if masks[t] == value))
                self._say(f"selp.u32 {name}, {value:#x}, {name}, %p0;")

    def _live_masks(self, event: Event) -> dict[int, int]:
        """Return the lanes that take part in a collective, by thread."""
        return {t: sum(1 << u % 32 for u in event.members if u // 32 == t // 32 and event.named[t] >> u % 32 & 1)
                for t in event.members}

    def _act(self, event: Event, place: int) -> tuple[str, str, str]:
        """Return an event's code: before, the one instruction where threads meet, and after it; the result is in %r1."""
        rng, salt = random.Random(f"{self.name} {place} {event.salt}"), event.salt
        source = (f"mad.lo.u32 %r2, %lane, {salt & 7}, {salt >> 3 & 31}; and.b32 %r2, %r2, 31; shr.u32 %r3, %alive, %r2; "
                  "and.b32 %r3, %r3, 1; setp.ne.u32 %p3, %r3, 0; selp.u32 %r2, %r2, %lane, %p3;")
        vote = f"and.b32 %r2, %x, {1 << salt % 5}; setp.ne.u32 %p2, %r2, 0; mov.u32 %r1, 0; setp.ne.u32 %p1, %r1, %r1;"
        is_true = "selp.u32 %r1, 77, 5, %p1;"
        if event.kind == "barrier":
            base = place * MAX_THREADS * 4
            return (f"st.shared.u32 [%mine+{base}], %x;", self.rng.choice(BARRIERS),
                    f"mad.lo.u32 %r2, %tid, {salt & 15 | 1}, {salt >> 4 & 63}; rem.u32 %r2, %r2, {self.threads}; "
                    f"shl.b32 %r2, %r2, 2; mov.u32 %r1, {self.name}_shared; add.u32 %r2, %r2, %r1; "
                    f"ld.shared.u32 %r1, [%r2+{base}];")
        if event.kind == "red":
            form = rng.choice(("popc.u32", "and.pred", "or.pred"))
            name = self.rng.choice(("barrier.red", "bar.red", "barrier.cta.red"))
            result = "%r1" if form[0] == "p" else "%p1"
            return vote, f"{name}.{form} {result}, 0, %p2;", "" if form[0] == "p" else is_true
        if event.kind == "shfl":
            whole = set(self._live_masks(event).values()) == {0xFFFFFFFF}
            mode = rng.choice(("idx", "up", "down", "bfly")) if whole else "idx"
            lane = "%r2" if mode == "idx" else str(salt & 31)
            limit = 0 if mode == "up" else 31
            return source + "mov.u32 %r1, 0;", f"shfl.sync.{mode}.b32 %r1, %x, {lane}, {limit}, %m;", ""
        if event.kind == "vote":
            form = rng.choice(VOTES)
            result = "b32 %r1" if form == "ballot" else "pred %p1"
            return vote, f"vote.sync.{form}.{result}, %p2, %m;", "" if form == "ballot" else is_true
        if event.kind == "match":
            form = rng.choice(("any.sync.b32 %r1", "all.sync.b32 %r1|%p1"))
            return "and.b32 %r2, %x, 3; mov.u32 %r1, 0;", f"match.{form}, %r2, %m;", ""
        if event.kind == "redux":
            return "mov.u32 %r1, 0;", f"redux.sync.{rng.choice(REDUCTIONS)} %r1, %x, %m;", ""
        if event.kind == "elect":
            return "mov.u32 %r1, 0; setp.ne.u32 %p1, %r1, %r1;", "elect.sync %r1|%p1, %m;", is_true
        base = place * MAX_THREADS * 4
        return (f"st.shared.u32 [%mine+{base}], %x; mov.u32 %r1, 0;", "bar.warp.sync %m;",
                source + f"sub.u32 %r2, %r2, %lane; shl.b32 %r2, %r2, 2; add.u32 %r2, %mine, %r2; "
                f"ld.shared.u32 %r1, [%r2+{base}];")

    def _flag(self, threads: frozenset[int], event: Event, place: int) -> None:
        """One thread sets a flag, for which others poll."""
        setter, at = event.salt & 63, place * 4
        if setter in threads:
            self._part(frozenset({setter}), threads, f"st.volatile.global.u32 [%flag+{at}], 1;")
        waiting = (threads & event.members) - {setter}
        if waiting and setter < self.threads and self.ends[setter] > place:
            again = self._label()
            self._part(waiting, threads, f"{again}: {self.rng.choice(POLLS).format(at=at)} setp.eq.u32 %p3, %r1, 0; "
                                         f"@%p3 bra {again};", branch=True)

    def _loop(self, members: frozenset[int], event: Event) -> None:
        """Write a loop of as many rounds as a thread has trips, and another for the rest of its rounds."""
        kind = random.Random(event.salt).choice(("barrier.sync 0;", "barrier.red.popc.u32 %r1, 0, %p2;",
                                                 "vote.sync.ballot.b32 %r1, %p2, 0xffffffff;",
                                                 "bar.warp.sync 0xffffffff; mov.u32 %r1, 1;", "bar.sync 0;"))
        self._say("mov.u32 %r6, 0; mov.u32 %r1, 0;")
        for bit in (1, 2, 4):
            self._condition(frozenset(t for t in members if event.trips[t] & bit))
            self._say(f"selp.u32 %r7, {bit}, 0, %p0; add.u32 %r6, %r6, %r7;")
        self._say(f"sub.u32 %r8, {event.rounds}, %r6;")
        for trips in ("%r6", "%r8"):
            again, past = self._label(), self._label()
            self._say(f"setp.eq.u32 %p3, {trips}, 0; @%p3 bra {past}; {again}: and.b32 %r2, %x, 16; "
                      f"setp.ne.u32 %p2, %r2, 0; {kind} {self._mix('%r1')} sub.u32 {trips}, {trips}, 1; "
                      f"setp.ne.u32 %p3, {trips}, 0; @%p3 bra {again}; {past}:")

    def _make_functions(self) -> str:
        """Return a function for each event that is called: it is inlined wherever threads call it."""
        text = ""
        for place, event in enumerate(self.events):
            if event.in_function and event.kind not in ("barrier", "warp"):
                before, act, after = self._act(event, place)
                text += (f".func (.reg .b32 %r1) {self.name}_{place}(.reg .b32 %x, .reg .b32 %lane, .reg .b32 %m, "
                         f".reg .b32 %alive)\n{{ .reg .b32 %r2; .reg .b32 %r3; .reg .pred %p<4>;\n{before} {act} {after} "
                         "ret; }\n")
        return text

    def ptx(self, row: int) -> str:
        """Return the kernel's text; row: of `in` and `out`."""
        loads = " ".join(f"ld.global.u32 %bits{word}, [%in+{word * MAX_THREADS * 4}];" for word in range(ROWS))
        body = "\n  ".join(line for line in self._lines if line)
        return f"""{self._functions}.visible .entry {self.name}(.param .u64 in, .param .u64 out)
{{
  .reg .b32 %x; .reg .b32 %tid; .reg .b32 %lane; .reg .b32 %m; .reg .b32 %alive; .reg .b32 %mine; .reg .b32 %r<9>;
  .reg .b32 %bits<{ROWS}>; .reg .pred %p<4>; .reg .b64 %in; .reg .b64 %out; .reg .b64 %own; .reg .b64 %flag; .reg .b64 %lock;
  .reg .b64 %at;
  .shared .align 4 .b8 {self.name}_shared[{MAX_THREADS * 4 * 6}];
  ld.param.u64 %in, [in]; ld.param.u64 %out, [out]; add.u64 %in, %in, {row * READ_WORDS * 4}; add.u64 %out, %out, {row * WORDS * 4};
  mov.u32 %tid, %tid.x; mov.u32 %lane, %laneid; add.u64 %flag, %out, {FLAGS * 4}; add.u64 %lock, %out, {LOCKS * 4};
  mul.wide.u32 %at, %tid, 4; add.u64 %in, %in, %at; add.u64 %out, %out, %at; add.u64 %own, %out, {OWN * 4};
  mov.u32 %mine, {self.name}_shared; mad.lo.u32 %mine, %tid, 4, %mine; mad.lo.u32 %x, %tid, 2654435761, 12345;
  mov.u32 %m, 0xffffffff; mov.u32 %alive, 0xffffffff;
  {loads}
  {body}
END:
  st.global.u32 [%out], %x;
  ret;
}}
"""

    def data(self) -> np.ndarray:
        """Return the words that the kernel reads: bit b of word w of a thread is whether it is in set 32 w + b."""
        words = np.zeros((ROWS, MAX_THREADS), np.uint32)
        for number, threads in enumerate(self._conditions):
            for thread in threads:
                words[number // 32, thread] |= np.uint32(1 << number % 32)
        return words.reshape(-1)
