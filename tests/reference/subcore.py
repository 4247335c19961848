"""A plain model of the SM of Volta and later GPUs: control codes, Allocate, the reuse cache, credits, dependence counters.

The twin of the engine's sub-core, written from published rules (engine/RULES.md, B11) without a line in common: no caches, no
memory, no fetch, and values only of a few operations. t is the cycle in which an instruction issues: Control t + 1,
Allocate t + 2 (waits for read ports of the next three cycles), result written at t + 6 + latency.

Order within a cycle: memory and results, Allocate, Control, issue. A stage takes what the one before it held a cycle ago.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

from tests.subcore_programs import Line

# class of an operation; of the rest the result has no fixed latency
CLASSES = {"FFMA": "FMA", "FADD": "FMA", "FMUL": "FMA", "IMAD": "FMA", "IADD3": "ALU", "MOV": "ALU", "LOP3": "ALU",
           "HADD2": "FP16", "NOP": "NONE", "CLK": "NONE", "DEPBAR": "NONE"}
# cycles from issue to issue of a dependent instruction, by consumer; ptxas's own code shows the same distances
LATENCY = {
    "ga10x": {"ALU": {"ALU": 4, "FMA": 5, "FP16": 5, "memory": 5, "SFU": 4},
              "FMA": {"ALU": 5, "FMA": 4, "FP16": 5, "memory": 5, "SFU": 4},
              "FP16": {"ALU": 5, "FMA": 5, "FP16": 5, "memory": 5, "SFU": 4}},
    "tu10x": {"ALU": {"ALU": 4, "FMA": 5, "FP16": 5, "memory": 6, "SFU": 6},
              "FMA": {"ALU": 5, "FMA": 4, "FP16": 5, "memory": 8, "SFU": 6},
              "FP16": {"ALU": 8, "FMA": 8, "FP16": 8, "memory": 8, "SFU": 8}},
}
LATENCY["figure2"] = LATENCY["ga10x"]
RESULT = {"ALU": 4, "FMA": 4, "FP16": 5, "NONE": 0}     # cycles after which a result can be bypassed
# (cycles until the operands are read, cycles until a dependent instruction issues, cycles of the address unit)
ACCESS = {("LDG", 4): (11, 32, 4), ("LDG", 8): (11, 34, 4), ("LDG", 16): (11, 38, 4), ("LDS", 4): (9, 24, 2),
          ("LDS", 8): (9, 24, 2), ("LDS", 16): (9, 26, 2), ("STG", 4): (14, 0, 4), ("STS", 4): (12, 0, 2)}
CREDITS, GRANT_CYCLES, SFU_LATENCY, SFU_INTERVAL = 5, 2, 18, 8
WINDOW = (1, 2, 3)      # the cycles after Allocate in which operands are read


@dataclass
class Flight:
    """An issued instruction."""

    warp: Warp
    line: Line
    issued: int
    stage: int = 0              # the cycle in which it took its stage
    pipe: str = ""
    counted: bool = False       # its counters were incremented, in Control
    due: int = -1               # access: can leave from then on; result: is written from then on


@dataclass
class Warp:
    """A warp: where it is, its control state, and what the checker remembers."""

    number: int
    program: Sequence[Line]
    pc: int = 0
    until: int = 0              # its stall counter: it may issue from this cycle on
    counters: list[int] = field(default_factory=lambda: [0] * 6)
    limit: tuple[int, ...] | None = None
    issues: list[int] = field(default_factory=list)
    clocks: list[int] = field(default_factory=list)
    writer: dict[int, tuple[int, str]] = field(default_factory=dict)     # of a register: its Allocate cycle, class
    values: dict[int, list[tuple[int, float]]] = field(default_factory=lambda: defaultdict(list))    # (visible from, value)


@dataclass(frozen=True)
class Hazard:
    """A dependence that the control codes do not cover. short: cycles, at least."""

    kind: str
    warp: int
    op: str
    register: int
    short: int


class SubCore:
    """One of the SM's four sub-cores: at most one instruction per cycle."""

    def __init__(self, sm: Sm, number: int) -> None:
        self.sm, self.number = sm, number
        self.warps: list[Warp] = []
        self.last: Warp | None = None
        self.control: Flight | None = None
        self.allocate: Flight | None = None
        self.reads: set[tuple[int, int]] = set()        # (cycle, bank) of booked read ports
        self.writes: dict[tuple[int, int], Flight] = {}
        self.reuse: dict[tuple[int, int], tuple[int, int]] = {}      # (operand, bank) -> warp, register
        self.pipes: dict[str, int] = defaultdict(int)   # free from
        self.queue: list[Flight] = []
        self.sfu: Flight | None = None
        self.sfu_free = self.stalls = 0
        self.left = -99                                 # the last cycle in which an access left
        self.credits = CREDITS
        self.results: list[Flight] = []                 # of variable latency
        self.hits: list[tuple[int, str, tuple[int, ...]]] = []

    def note_hazard(self, kind: str, flight: Flight, register: int, short: int) -> None:
        """Note a dependence that is not covered."""
        self.sm.hazards.append(Hazard(kind, flight.warp.number, flight.line.op, register, short))

    def write_results(self, now: int) -> None:
        """Write loads and SFU results whose bank's port no fixed-latency result has booked, not before an older one."""
        for flight in sorted((one for one in self.results if one.due <= now), key=lambda one: one.issued):
            bank = (flight.line.dst or 0) & 1
            older = [one for one in self.queue + self.results if one.warp is flight.warp and one.issued < flight.issued
                     and one.line.op == flight.line.op and (one.line.op == "LDS" or one in self.results and one.due <= now)]
            if (now, bank) not in self.writes and not older:
                self.writes[now, bank] = flight
                self.results.remove(flight)
                if flight.line.write is not None:
                    self.sm.later.append((now + 1, flight.warp, flight.line.write))
                self.sm.outstanding.append((now + 1, flight, "write"))

    def start_access(self, now: int) -> None:
        """Let the oldest access compute its addresses; the SFU takes its next."""
        if self.queue and self.queue[0].due < 0:
            before, _, interval = self.sm.access(self.queue[0].line)
            self.queue[0].due = max(self.queue[0].issued + before, self.left + interval)
        if self.sfu is not None and self.sfu_free <= now and self.sfu.issued + 2 <= now:
            self.sfu_free = now + SFU_INTERVAL
            self.release_sources(self.sfu, now)
            self.sfu.due = now + SFU_LATENCY - 2 - 1
            self.results.append(self.sfu)
            self.sfu = None

    def leave(self, now: int) -> None:
        """Send the oldest access to the SM's memory pipeline: its sources are read, its credit is free."""
        flight = self.queue.pop(0)
        before, after, _ = self.sm.access(flight.line)
        self.left = now
        self.credits += 1
        self.release_sources(flight, now)
        if flight.line.dst is not None:
            flight.due = now + after - before - 1
            self.results.append(flight)

    def release_sources(self, flight: Flight, now: int) -> None:
        """Note that an instruction of variable latency has read its sources: seen by issue in this cycle."""
        if flight.line.read is not None:
            flight.warp.counters[flight.line.read] -= 1
        self.sm.outstanding.append((now, flight, "read"))

    def step_allocate(self, now: int) -> None:
        """Book read ports for the instruction in Allocate, or hold it."""
        flight = self.allocate
        if flight is None or flight.stage >= now:
            return
        warp, line = flight.warp, flight.line
        hits = tuple(k for k, reg in enumerate(line.src) if self.reuse.get((k, reg & 1)) == (warp.number, reg))
        missed = {reg for k, reg in enumerate(line.src) if k not in hits}
        booked = []
        for bank in (0, 1):
            free = [(now + k, bank) for k in WINDOW if (now + k, bank) not in self.reads]
            wanted = sum(reg & 1 == bank for reg in missed)
            if wanted > len(free):
                return self.hold(flight, now)
            booked += free[:wanted]
        self.reads.update(booked)
        for k, reg in enumerate(line.src):
            self.reuse.pop((k, reg & 1), None)
            if k in line.reuse:
                self.reuse[k, reg & 1] = warp.number, reg
        self.hits.append((warp.number, line.op, hits))
        self.read_and_write(flight, now)
        self.allocate = None

    def hold(self, flight: Flight, now: int) -> None:
        """Keep an instruction in Allocate: its pipe's latch, and the stall counters of the warps behind it, stand still."""
        self.stalls += 1
        if self.pipes[flight.pipe] > now:
            self.pipes[flight.pipe] += 1
        if self.sm.holds_counters:
            for warp in {flight.warp.number: flight.warp, **({self.control.warp.number: self.control.warp}
                                                             if self.control else {})}.values():
                warp.until += 1 if warp.until >= now else 0

    def read_and_write(self, flight: Flight, now: int) -> None:
        """Check the distances to fixed-latency producers, compute, and book the write port; `now` is Allocate's cycle."""
        warp, line = flight.warp, flight.line
        kind = CLASSES[line.op]
        for reg in dict.fromkeys(line.src):
            self.check_distance(flight, reg, kind, now)
        if line.dst is None:
            return
        written = warp.writer.get(line.dst, (-99, "NONE"))
        early = written[0] + RESULT[written[1]] - now - RESULT[kind] + 1
        if early > 0:
            self.note_hazard("WAW", flight, line.dst, early)
        warp.writer[line.dst] = now, kind
        warp.values[line.dst].append((now + RESULT[kind], compute(line, [self.value(warp, reg, now) for reg in line.src])))
        due = now + 4 + RESULT[kind]
        while (due, line.dst & 1) in self.writes:      # the result queue
            due += 1
        self.writes[due, line.dst & 1] = flight

    def value(self, warp: Warp, reg: int, now: int) -> float:
        """Return what an instruction that passes Allocate now reads."""
        return next((value for cycle, value in reversed(warp.values[reg]) if cycle <= now), 1.0)

    def check_distance(self, flight: Flight, reg: int, consumer: str, allocate: int) -> None:
        """Note a hazard if `reg` is read before a fixed-latency result can be bypassed or read."""
        producer = flight.warp.writer.get(reg)
        held = self.allocate
        if held is not None and held is not flight and held.warp is flight.warp and held.line.dst == reg:
            producer = allocate, CLASSES[held.line.op]      # not even there
        if producer is None:
            return
        latency = self.sm.latency[producer[1]].get(consumer, RESULT[producer[1]])
        distance = allocate - producer[0]
        if distance < latency:
            self.note_hazard("RAW", flight, reg, latency - distance)

    def step_control(self, now: int) -> None:
        """Count up, and send the instruction on."""
        flight = self.control
        if flight is None or flight.stage >= now:
            return
        line = flight.line
        if not flight.counted:
            flight.counted = True
            for counter in (line.write, line.read):
                if counter is not None:
                    self.sm.later.append((now + 1, flight.warp, -1 - counter))
            if line.op == "CLK":
                flight.warp.clocks.append(now)
        if line.op in CLASSES:
            if self.allocate is None:
                self.allocate, self.control = flight, None
        elif self.allocate is not None and self.allocate.warp is flight.warp:
            return                                      # held there: nothing of its warp overtakes it
        elif line.op != "MUFU" or self.sfu is None:
            for reg in dict.fromkeys(line.src):
                self.check_distance(flight, reg, "SFU" if line.op == "MUFU" else "memory", now + 1)
            if line.op == "MUFU":
                self.sfu = flight
            else:
                self.queue.append(flight)
            self.control = None
        if self.control is None:
            flight.stage = now

    def can_issue(self, warp: Warp, now: int) -> bool:
        """Return whether a warp may issue: its control code says so, and what its instruction enters has room."""
        if warp.pc >= len(warp.program) or warp.until > now:
            return False
        line = warp.program[warp.pc]
        if any(warp.counters[counter] for counter in line.wait):
            return False
        if warp.limit and (warp.counters[warp.limit[0]] > warp.limit[1] or any(warp.counters[one] for one in warp.limit[2:])):
            return False
        if line.op in CLASSES:
            return self.pipe_of(line, now) is not None
        return line.op == "MUFU" or self.credits > 0

    def pipe_of(self, line: Line, now: int) -> str | None:
        """Return the pipe whose input latch can take an instruction, or None."""
        kind = CLASSES[line.op]
        pipes = [kind]
        if kind == "FMA" and line.op != "IMAD" and self.sm.full_fp32:
            pipes.append("ALU")
        return next((pipe for pipe in pipes if self.pipes[pipe] <= now), None)

    def step_issue(self, now: int) -> None:
        """Issue from the warp that issued last, if it can, else from the youngest that can."""
        if self.control is not None:
            return
        youngest = sorted(self.warps, key=lambda warp: -warp.number)
        order = [warp for warp in youngest if warp is self.last] + [warp for warp in youngest if warp is not self.last]
        warp = next((warp for warp in order if self.can_issue(warp, now)), None)
        if warp is None:
            return
        line = warp.program[warp.pc]
        flight = Flight(warp, line, now, now)
        warp.pc += 1
        self.last = warp
        warp.until = now + line.stall if line.stall > 1 else now + 2 if line.yields else 0
        warp.limit = line.limit
        warp.issues.append(now)
        self.check_pending(flight)
        self.control = flight
        if line.op in CLASSES:
            kind = CLASSES[line.op]
            flight.pipe = self.pipe_of(line, now) or kind
            if kind != "NONE":
                self.pipes[flight.pipe] = now + 2
        else:
            self.sm.pending += [flight] if line.dst is not None else []
            self.sm.unread.append(flight)
            self.credits -= 1 if line.op != "MUFU" else 0

    def check_pending(self, flight: Flight) -> None:
        """Note hazards with instructions of variable latency that are still to write, or to read."""
        line = flight.line
        for other in self.sm.pending:
            if other.warp is flight.warp:
                result = set(range(other.line.dst or 0, (other.line.dst or 0) + other.line.width // 4))
                for reg in result & ({*line.src} | {line.dst}):
                    self.note_hazard("RAW" if reg in line.src else "WAW", flight, int(reg or 0), 1)
        for other in self.sm.unread:
            if other.warp is flight.warp and line.dst in other.line.src and line.dst is not None:
                self.note_hazard("WAR", flight, line.dst, 1)


class Sm:
    """An SM with sub-cores and the arbiter of its memory pipeline.

    programs: of warps 0, 1, ..; subcores: of each warp, () = all on sub-core 0. holds_counters: the rule that a stall in
    Allocate holds stall counters.
    """

    def __init__(self, programs: Sequence[Sequence[Line]], subcores: Sequence[int] = (), machine: str = "ga10x",
                 holds_counters: bool = True) -> None:
        self.latency, self.machine, self.holds_counters = LATENCY[machine], machine, holds_counters
        self.full_fp32 = machine != "tu10x"
        self.subcores = [SubCore(self, number) for number in range(4)]
        self.warps = [Warp(number, program) for number, program in enumerate(programs)]
        for warp in self.warps:
            self.subcores[subcores[warp.number] if subcores else 0].warps.append(warp)
        self.now, self.free, self.turn = 0, 0, 0
        self.later: list[tuple[int, Warp, int]] = []                # counter changes: cycle, warp, counter, or -1 - counter
        self.outstanding: list[tuple[int, Flight, str]] = []        # ends of variable reads and writes
        self.pending: list[Flight] = []
        self.unread: list[Flight] = []
        self.hazards: list[Hazard] = []

    def access(self, line: Line) -> tuple[int, int, int]:
        """Return an access's cycles: until it has left, until its result can be used, and of the address unit."""
        before, after, interval = ACCESS[line.op, line.width]
        figure2 = self.machine == "figure2" and line.op == "LDG"
        return (before - 1, after - 1, interval) if figure2 else (before, after, interval)

    def run(self, cycles: int) -> Sm:
        """Run cycles 1, 2, .. up to `cycles`, or until every warp has issued its last instruction and nothing is pending."""
        while self.now < cycles and not self.ended():
            self.now += 1
            self.step(self.now)
        return self

    def ended(self) -> bool:
        """Return whether nothing is left to do."""
        return not (any(warp.pc < len(warp.program) for warp in self.warps) or self.pending or self.unread
                    or any(core.control or core.allocate for core in self.subcores))

    def step(self, now: int) -> None:
        """Run one cycle."""
        for cycle, warp, counter in [one for one in self.later if one[0] <= now]:
            self.later.remove((cycle, warp, counter))
            warp.counters[counter if counter >= 0 else -1 - counter] += 1 if counter < 0 else -1
        for core in self.subcores:
            core.start_access(now)
        self.grant(now)
        for core in self.subcores:
            core.write_results(now)
        for one in [one for one in self.outstanding if one[0] <= now]:
            self.outstanding.remove(one)
            (self.unread if one[2] == "read" else self.pending).remove(one[1])
        for core in self.subcores:
            if not core.warps:
                continue
            core.step_allocate(now)
            core.step_control(now)
            core.step_issue(now)

    def grant(self, now: int) -> None:
        """Let one sub-core's access into the memory pipeline, in turn, every second cycle."""
        if self.free > now:
            return
        for turn in range(4):
            core = self.subcores[(self.turn + turn) % 4]
            if core.queue and 0 <= core.queue[0].due <= now:
                core.leave(now)
                self.free = now + GRANT_CYCLES
                self.turn = core.number + 1
                return


def compute(line: Line, values: Sequence[float]) -> float:
    """Return the result of an operation; of those that no test looks at, 0."""
    if line.op == "FFMA":
        return values[0] * values[1] + values[2]
    return sum(values) if line.op in ("FADD", "IADD3", "MOV") else 0.0
