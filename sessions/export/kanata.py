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
from rfview.sessions.reports.pipeline import reads, writes
from rfview.sessions.timeline.base import Timeline

if TYPE_CHECKING:
    from rfview.engine.info import Instruction

SHORT = {"issue": "Is", "collect": "Co", "execute": "Ex", "memory": "Me", "write_back": "Wb", "written": "Rt"}
OF_SUBCORE = {**SHORT, "collect": "Ca"}     # Control and Allocate, or it waits for its unit or the memory pipeline


def write(timeline: Timeline, first: int, last: int, out: IO[str]) -> None:
    """Write the instructions of cycles first..last - 1."""
    info = constants(timeline, "program")
    out.write("Kanata\t0004\nC=\t0\n")
    clock = 0
    current: dict[int, str] = {}
    writers: dict[tuple[int, str], int] = {}        # by warp and register: the instruction that wrote it last
    short = OF_SUBCORE if info.is_machine_code else SHORT
    retired = 0
    for event in _in_time(events(timeline, first, last)):
        if event.cycle > clock:
            out.write(f"C\t{event.cycle - clock}\n")
            clock = event.cycle
        if event.kind == "begin":
            entry = info.instruction(event.pc)
            out.write(f"I\t{event.seq}\t{event.seq}\t{event.warp}\n"
                      f"L\t{event.seq}\t0\tw{event.warp} {event.pc}: {entry.text if entry else '?'}\n"
                      f"L\t{event.seq}\t1\t{entry.where if entry else '?'}\n")
            for producer in _producers(writers, event, entry) if entry else ():
                out.write(f"W\t{event.seq}\t{producer}\t0\n")
        else:
            out.write(f"E\t{event.seq}\t0\t{current.pop(event.seq)}\n")
        if event.kind == "end":
            out.write(f"R\t{event.seq}\t{retired}\t0\n")
            retired += 1
        else:
            current[event.seq] = short[event.stage]
            out.write(f"S\t{event.seq}\t0\t{short[event.stage]}\n")


def _producers(writers: dict[tuple[int, str], int], event: Event, entry: Instruction) -> list[int]:
    """Return the instructions whose results an instruction reads, and note what it writes itself."""
    producers = {writers[event.warp, name] for name in reads(entry) if (event.warp, name) in writers}
    writers.update({(event.warp, name): event.seq for name in writes(entry)})
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
