"""Konata's pipeline format, version 4: a row per warp instruction, its stages, and when it left.

Lines are tab-separated: I id number thread (begin), L id type text, S id lane stage, E id lane stage, R id number 0
(retired), and C n, which advances the clock by n cycles. The thread is the warp.
"""

from __future__ import annotations

from typing import IO

from rfview.sessions.export.instructions import constants, events
from rfview.sessions.timeline.base import Timeline

SHORT = {"issue": "Is", "collect": "Co", "execute": "Ex", "memory": "Me", "write_back": "Wb", "written": "Rt"}


def write(timeline: Timeline, first: int, last: int, out: IO[str]) -> None:
    """Write the instructions of cycles first..last - 1."""
    program = constants(timeline, "program")["program"] or []
    out.write(f"Kanata\t0004\nC=\t{first}\n")
    clock = first
    current: dict[int, str] = {}
    retired = 0
    for event in events(timeline, first, last):
        if event.cycle > clock:
            out.write(f"C\t{event.cycle - clock}\n")
            clock = event.cycle
        if event.kind == "begin":
            text = program[event.pc]["text"] if event.pc < len(program) else "?"
            line = program[event.pc]["line"] if event.pc < len(program) else 0
            out.write(f"I\t{event.seq}\t{event.seq}\t{event.warp}\nL\t{event.seq}\t0\tw{event.warp} {event.pc}: {text}\n"
                      f"L\t{event.seq}\t1\tPTX line {line}\n")
        if event.kind != "begin":
            out.write(f"E\t{event.seq}\t0\t{current.pop(event.seq)}\n")
        if event.kind == "end":
            out.write(f"R\t{event.seq}\t{retired}\t0\n")
            retired += 1
        else:
            current[event.seq] = SHORT[event.stage]
            out.write(f"S\t{event.seq}\t0\t{SHORT[event.stage]}\n")
