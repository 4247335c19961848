"""Konata's pipeline format, version 4: a row per warp instruction, its stages, what it waited for, and when it ended.

Lines are tab-separated: I id number thread (begin), L id type text, S id lane stage, E id lane stage, W consumer producer
type (an arrow to the instruction that wrote a register it reads), R id number 0 (retired), and C n, which advances the
clock by n cycles. The thread is the warp. The clock begins at 0 and is advanced to a stretch's first cycle, since Konata
takes no other beginning.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import IO, TYPE_CHECKING

from rfview.sessions.export.instructions import NO_STAGE, Event, constants, events
from rfview.sessions.timeline.base import Timeline

if TYPE_CHECKING:
    from rfview.engine.info import Instruction

SHORT = {"issue": "Is", "collect": "Co", "execute": "Ex", "memory": "Me", "write_back": "Wb", "written": "Rt"}


def write(timeline: Timeline, first: int, last: int, out: IO[str]) -> None:
    """Write the instructions of cycles first..last - 1."""
    info = constants(timeline, "program")
    out.write("Kanata\t0004\nC=\t0\n")
    clock = 0
    current: dict[int, str] = {}
    writers: dict[tuple[int, int], int] = {}        # by warp and register: the instruction that wrote it last
    retired = 0
    for event in _in_time(events(timeline, first, last)):
        if event.cycle > clock:
            out.write(f"C\t{event.cycle - clock}\n")
            clock = event.cycle
        if event.kind == "begin":
            entry = info.instruction(event.pc)
            out.write(f"I\t{event.seq}\t{event.seq}\t{event.warp}\n"
                      f"L\t{event.seq}\t0\tw{event.warp} {event.pc}: {entry.text if entry else '?'}\n"
                      f"L\t{event.seq}\t1\tPTX line {entry.line if entry else 0}\n")
            for producer in _producers(writers, event, entry) if entry else ():
                out.write(f"W\t{event.seq}\t{producer}\t0\n")
        else:
            out.write(f"E\t{event.seq}\t0\t{current.pop(event.seq)}\n")
        if event.kind == "end":
            out.write(f"R\t{event.seq}\t{retired}\t0\n")
            retired += 1
        else:
            current[event.seq] = SHORT[event.stage]
            out.write(f"S\t{event.seq}\t0\t{SHORT[event.stage]}\n")


def _producers(writers: dict[tuple[int, int], int], event: Event, entry: Instruction) -> list[int]:
    """Return the instructions whose results an instruction reads, and note what it writes itself."""
    producers = {writers[event.warp, reg] for reg in entry.src if (event.warp, reg) in writers}
    writers.update({(event.warp, reg): event.seq for reg in entry.dst})
    return sorted(producers)


def _in_time(given: Iterator[Event]) -> Iterator[Event]:
    """Have instructions that are done when they issue end a cycle later, so that they take a cycle's width."""
    late: list[Event] = []
    for event in given:
        if late and event.cycle > late[0].cycle - 1:
            yield from late
            late = []
        if event.kind == "end" and event.stage == NO_STAGE:
            late.append(event._replace(cycle=event.cycle + 1))
        else:
            yield event
    yield from late
