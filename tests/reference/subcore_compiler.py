"""Random programs for the sub-core, and a small compiler that gives them control codes which cover every dependence."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import strategies as st

from tests.reference.subcore import CLASSES, LATENCY, RESULT
from tests.subcore_programs import Line

Operation = tuple[str, int, tuple[int, ...]]        # op, destination, three sources, of which it takes as many as it has

FIXED = ("FFMA", "FADD", "IADD3", "IMAD", "HADD2")
VARIABLE = ("LDG", "LDS", "MUFU", "STG")
NUM_SOURCES = {"FFMA": 3, "IADD3": 3, "IMAD": 3, "FADD": 2, "HADD2": 2, "LDG": 1, "LDS": 1, "MUFU": 1, "STG": 2}
OPERATION = st.tuples(st.sampled_from(FIXED + VARIABLE), st.integers(0, 15), st.tuples(*[st.integers(0, 15)] * 3))
PROGRAM = st.lists(OPERATION, min_size=2, max_size=14)


def covered(operations: list[Operation], machine: str) -> list[Line]:
    """Return a program whose control codes cover every dependence: a small compiler, one pass, in order.

    Each instruction of variable latency has a write and a read counter in turn; fixed latencies are covered by stall counts.
    """
    program: list[Line] = []
    start = 0                                              # of the current instruction, if nothing but stalls delays it
    ready: dict[int, tuple[int, str]] = {}                 # fixed writers: register -> start, class
    writes: dict[int, int] = {}                            # register -> counter of the pending write
    reads: dict[int, set[int]] = {}                        # register -> counters of pending reads
    for number, (op, dst, src) in enumerate(operations):
        regs = src[: NUM_SOURCES[op]]
        consumer = "SFU" if op == "MUFU" else "memory" if op in VARIABLE else CLASSES[op]
        target = None if op == "STG" else dst
        earliest = start
        for reg in regs:
            if reg in ready:
                begun, producer = ready[reg]
                earliest = max(earliest, begun + LATENCY[machine][producer][consumer])
        if target in ready:
            begun, producer = ready[target]
            latency = RESULT[CLASSES[op]] if op in CLASSES else 1
            earliest = max(earliest, begun + RESULT[producer] - latency + 1)
        wait = {writes[reg] for reg in (*regs, target) if reg in writes} | (reads.get(target, set()) if target is not None else set())
        write = read = None
        if op in VARIABLE:
            write, read = (None if op == "STG" else number % 3), 3 + number % 3
            wait |= {counter for counter in (write, read) if counter is not None}        # one user at a time
        if program:
            last = program[-1]
            gap = max(1, earliest - start + last.stall, 2 if wait else 1)
            program[-1] = Line(**{**vars(last), "stall": gap})
            start += gap - last.stall
        for counter in wait:
            writes = {reg: other for reg, other in writes.items() if other != counter}
            reads = {reg: others - {counter} for reg, others in reads.items()}
        program.append(Line(op, target, regs, write=write, read=read, wait=tuple(sorted(wait)),
                            reuse=tuple(k for k in range(len(regs)) if op in CLASSES and (number + k) % 3 == 0)))
        if target is not None:
            ready.pop(target, None)
            if write is not None:
                writes[target] = write
            else:
                ready[target] = start, CLASSES[op]
        if read is not None:
            for reg in regs:
                reads.setdefault(reg, set()).add(read)
        start += 1
    return [replace(line, reuse=tuple(k for k in line.reuse if not is_stale(program[place:], k)))
            for place, line in enumerate(program)]


def is_stale(following: list[Line], operand: int) -> bool:
    """Return whether the first line's operand would be taken from the reuse cache after its register has been written."""
    reg = following[0].src[operand]
    written = following[0].dst == reg
    for line in following[1:]:
        if line.op in CLASSES and len(line.src) > operand and line.src[operand] & 1 == reg & 1:
            return written and line.src[operand] == reg
        written = written or line.dst == reg
    return False
