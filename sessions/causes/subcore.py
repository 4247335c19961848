"""Who holds a warp-cycle that is lost on a sub-core: rules for its states."""

from __future__ import annotations

import numpy as np

from rfview.engine import state as layout
from rfview.engine.machine.cores.subcore.parameters import PIPES
from rfview.engine.machine.cores.subcore.state import NUM_SUBCORES, PIPE_ALU, PIPE_FMA
from rfview.engine.program import UNIT_LDST
from rfview.sessions.causes.flights import Waits, holding

NO_PIPE = 254


def last_issued(waits: Waits) -> np.ndarray:
    """Return the instruction that the warp issued last, whose control code makes it wait."""
    return waits.stretch.pc_of(waits.of("last_pc"))


def counted(waits: Waits) -> np.ndarray:
    """Return what holds up the instruction that holds the dependence counter; the waiting one if none is in flight."""
    return np.where(waits.entry < 0, waits.own, holding(waits.stretch, waits.rows, waits.entry))


def own(waits: Waits) -> np.ndarray:
    """Return the waiting instruction itself, whose constant is missing."""
    return waits.own


def pipe(waits: Waits) -> np.ndarray:
    """Return the instruction that the pipe took last."""
    stretch, rows = waits.stretch, waits.rows
    kinds = stretch.timeline.info.program
    of_pc = np.array([*(PIPES.get(entry.latency_class, NO_PIPE) for entry in kinds), NO_PIPE])
    wanted, taken = of_pc[waits.own], stretch.flights("pipe")[rows]
    match = _own_sub_core(waits) & ((taken == wanted[:, None])
                                    | ((wanted == PIPE_FMA)[:, None] & (taken == PIPE_ALU)))
    entry = stretch.last(rows, match)
    return np.where(entry < 0, waits.own, stretch.instruction(rows, entry))


def _own_sub_core(waits: Waits) -> np.ndarray:
    """Return (k, entries) bool: which entries hold an instruction of the warp's sub-core."""
    stretch, rows = waits.stretch, waits.rows
    same = stretch.flights("warp")[rows] % NUM_SUBCORES == (waits.warps % NUM_SUBCORES)[:, None]
    return same & (stretch.flights("stage")[rows] != layout.FREE)


def _of_sub_core(waits: Waits, field: str) -> np.ndarray:
    """Return (k, ...) i8 values of a field of the warps' sub-cores."""
    return waits.stretch.column(f"rf.core.sub[*].{field}")[waits.rows, waits.warps % NUM_SUBCORES].astype(np.int64)


def dispatch(waits: Waits) -> np.ndarray:
    """Return the instruction in Allocate, else the one in Control."""
    stretch, allocate = waits.stretch, _of_sub_core(waits, "allocate")
    entry = np.where(allocate != 0, allocate, _of_sub_core(waits, "control")) - 1
    return np.where(entry < 0, waits.own, stretch.instruction(waits.rows, entry))


def credits(waits: Waits) -> np.ndarray:
    """Return the access in the memory pipeline, else the oldest one of the sub-core, which holds a credit or an entry."""
    stretch, rows = waits.stretch, waits.rows
    mine = _own_sub_core(waits) & (stretch.flights("unit")[rows] == UNIT_LDST)
    head, oldest = stretch.head[rows], stretch.first(rows, mine)
    entry = np.where(head < 0, oldest, head)
    return np.where(entry < 0, waits.own, stretch.instruction(rows, entry))
