"""Which instruction in flight a register waits for: found from the in-flight table, as recordings keep it only there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from engine.state import FREE, NONE8


def writers(inflight: Any, program: Sequence[Any]) -> dict[tuple[int, int], int]:
    """Return the in-flight entry that will write each (warp, register), the youngest where there are several.

    inflight: the in-flight table, (entries,) records of state.INFLIGHT. program: the instructions as in a run's info. An
    instruction counts until it retires: whether a register is still held is in `warp.sb_write`.
    """
    held = np.flatnonzero(inflight["stage"] != FREE)
    held = held[np.argsort(inflight["seq"][held])]
    found = {}
    for entry, warp, pc in zip(held.tolist(), inflight["warp"][held].tolist(), inflight["pc"][held].tolist(), strict=True):
        for reg in program[pc]["dst"] if pc < len(program) else ():
            if reg != NONE8:
                found[warp, reg] = entry
    return found


def unread(flight: Any, program: Sequence[Any]) -> list[int]:
    """Return the registers that an instruction in flight still has to read, in the order of its operands.

    flight: a record of state.INFLIGHT, of an instruction that has a collector; any other reads nothing more.
    """
    slots, pc = int(flight["unread"]), int(flight["pc"])
    sources = program[pc]["src"] if pc < len(program) else ()
    return list(dict.fromkeys(reg for slot, reg in enumerate(sources) if (slots >> slot) & 1 and reg != NONE8))
