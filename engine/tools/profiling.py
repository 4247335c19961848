"""Runs a kernel on racetrack[profile=1] for its trace of register accesses, from which mapping.py derives a table."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rfview.engine.designs import racetrack

if TYPE_CHECKING:
    from rfview.engine.simulator import Simulator

STEP_CYCLES = 16        # cycles between two reads of the trace ring: at most 32 requests per cycle, 512 places


def moves(simulator: Simulator) -> np.ndarray:
    """Run a simulator of racetrack[profile=1] to its end and return the moves: (banks, rows, rows) i8.

    A move goes from one request to a bank to the bank's next one, with reads ordered by issue and results by entering the
    write buffer (rule B5.5); none goes from one launch to the next. Raises KernelFault.
    """
    header = int(simulator.spec_record.first_row) + racetrack.TRACE_ROW
    ring = simulator.rows.u[header + 1 : header + 1 + racetrack.TRACE_ROWS].reshape(-1)
    parts: list[np.ndarray] = []
    seen = 0
    while not simulator.finished:
        simulator.step(STEP_CYCLES)
        now = int(simulator.rows.u[header, 0])
        parts.append(ring[np.arange(seen, now) % racetrack.TRACE_ENTRIES])
        seen = now
    requests = np.concatenate(parts).astype(np.int64)
    slots = requests & (racetrack.TRACE_IS_WRITE - 1)
    banks, rows = int(simulator.config["sm.num_banks"]), int(simulator.config["sm.rows_per_bank"])
    counts = np.zeros((banks, rows, rows), np.int64)
    for bank in range(banks):
        of_bank = slots % banks == bank
        order, launch = slots[of_bank] // banks, requests[of_bank] >> 16
        same = launch[1:] == launch[:-1]
        np.add.at(counts[bank], (order[:-1][same], order[1:][same]), 1)
    return counts
