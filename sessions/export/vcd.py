"""Value change dump (IEEE 1364): waveforms of warp states, program counters, bank queues; one time unit is one cycle."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import IO, NamedTuple

import numpy as np

from rfview.sessions.export.instructions import constants
from rfview.sessions.timeline.base import Timeline


class Signals(NamedTuple):
    """An array of similar signals: scope and name of each, width in bits (0: a text), a path, and the values' format."""

    scope: str
    name: str
    bits: int
    path: str
    size: int
    text: Callable[[int], str] | None = None


def write(timeline: Timeline, first: int, last: int, out: IO[str]) -> None:
    """Write the signals in cycles first..last - 1; what happens in cycle c changes at time c."""
    info = constants(timeline, "stalls", "kernel", "design", "scheduler", "preset")
    names = {code: "_".join(name.split()) for code, name in info.stall_names.items()}     # no blanks
    warps, banks = info.num_warps, info.num_banks
    groups = (
        Signals("warp", "state", 0, "sm.warp[*].state", warps, lambda code: names.get(code, f"state_{code}")),
        Signals("warp", "pc", 32, "sm.warp[*].pc", warps),
        Signals("warp", "mask", 32, "sm.warp[*].mask", warps),
        Signals("bank", "queue", 8, "sm.bank[*].queue", banks),
        Signals("bank", "activity", 2, "sm.bank[*].activity", banks),
    )
    out.write(f"$comment rfview: {info.kernel} {info.design} {info.scheduler} {info.preset}, "
              "one time unit is one cycle $end\n$timescale 1 ns $end\n$scope module sm $end\n")
    codes = _codes()
    ids = [[next(codes) for _ in range(group.size)] for group in groups]
    for scope in dict.fromkeys(group.scope for group in groups):
        members = [(group, idents) for group, idents in zip(groups, ids) if group.scope == scope]
        for number in range(members[0][0].size):
            out.write(f"$scope module {scope}{number} $end\n")
            for group, idents in members:
                kind = "string 1" if group.text else f"wire {group.bits}"
                out.write(f"$var {kind} {idents[number]} {group.name} $end\n")
            out.write("$upscope $end\n")
    out.write("$upscope $end\n$enddefinitions $end\n")
    _changes(timeline, first, last, out, groups, ids)


def _changes(timeline: Timeline, first: int, last: int, out: IO[str], groups: tuple[Signals, ...],
             ids: list[list[str]]) -> None:
    """Write every change, cycle by cycle."""
    before: list[np.ndarray | None] = [None] * len(groups)
    for start, stop, _ in timeline.stretches(first + 1, last + 1):
        columns = [timeline.column(group.path, start, stop)[:, : group.size] for group in groups]
        for row in range(stop - start):
            lines = []
            for index, group in enumerate(groups):
                values, old = columns[index][row], before[index]
                changed = range(group.size) if old is None else np.flatnonzero(values != old).tolist()
                for number in changed:
                    value = int(values[number])
                    shown = f"s{group.text(value)}" if group.text else f"b{value:b}"
                    lines.append(f"{shown} {ids[index][number]}\n")
                before[index] = values
            if lines:
                out.write(f"#{start + row - 1}\n" + "".join(lines))
    out.write(f"#{last}\n")


def _codes() -> Iterator[str]:
    """Yield short identifiers of printable characters."""
    digits = [chr(code) for code in range(33, 127)]
    number = 0
    while True:
        text, rest = "", number
        while True:
            text += digits[rest % len(digits)]
            rest = rest // len(digits) - 1
            if rest < 0:
                break
        yield text
        number += 1
