"""`racetrack` on the sub-core: reads take their shifts as cycles of the port, results go through write buffers (B12.7)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from rfview.engine.compile.device import device
from rfview.engine.designs.racetrack import (FORWARDS, MAX_ENTRIES, RM_READS, RM_WRITES, SHIFT, SHIFTS, WB_READS, WB_WRITES,
                                             num_offsets)
from rfview.engine.errors import InputError
from rfview.engine.events import RF_WRITES
from rfview.engine.stalls import WB_FULL
from rfview.engine.state import FOREVER, MAX_BANKS

MEANING = ("Allocate waits while a bank's tapes shift to an operand; results go into the bank's write buffer, which also "
           "serves reads of them, as the result queue does")
ROWS_PER_BANK = 256     # of every preset: 64 K registers in eight banks
MOST_SHIFTS = 80        # cycles for which Allocate may wait for a read
TAPE = np.dtype([("warp", "u1", (MAX_ENTRIES,)), ("reg", "u1", (MAX_ENTRIES,)), ("current", "u2"), ("count", "u2")])
STATE = (("tape", TAPE, (MAX_BANKS,)),)     # per bank: offset under its ports, and its write buffer, the oldest entry first
PANELS = (
    {"kind": "table", "title": "offsets under the ports", "field": "tape.current", "per": "bank"},
    {"kind": "table", "title": "results in the write buffers", "field": "tape.count", "per": "bank"},
)


def check(text: str, values: Mapping[str, Any]) -> None:
    """Raise InputError for parameters without meaning on the sub-core."""
    ports, steps = int(values["racetrack.ports"]), int(values["racetrack.shift_steps"])
    if values["racetrack.mapping"] != "identity" or values["racetrack.profile"]:
        raise InputError(f"--design {text}: a register mapping is of Fermi's banks; the sub-core has mapping = identity")
    cycles = (-(-ROWS_PER_BANK // ports) + steps - 1) // steps * int(values["racetrack.shift_cycles"])
    if cycles >= MOST_SHIFTS:
        raise InputError(f"--design {text}: a shift over a whole tape takes {cycles} cycles; the sub-core waits for "
                         f"{MOST_SHIFTS - 1} at most: give it more ports, or more shift_steps")


def read_cycles(sm, rf, spec, warp, reg, is_float):
    """Shift the tapes to the register, and read it; one in the write buffer is read there."""
    tape = rf.tape[np.int64(warp) % 4 * 2 + (np.int64(reg) & 1)]
    for entry in range(np.int64(tape.count)):
        if tape.warp[entry] == warp and tape.reg[entry] == reg:
            sm.events[spec.first_event + FORWARDS] += 1
            return 0
    sm.bank[np.int64(warp) % 4 * 2 + (np.int64(reg) & 1)].busy_code = SHIFT
    sm.events[spec.first_event + RM_READS] += 1
    return 1 + shift_to(sm, spec, tape, warp, reg)


def write_cycles(sm, rf, spec, warp, reg, lanes, is_late, is_float):
    """Put a result into its bank's write buffer (B5.4)."""
    tape = rf.tape[np.int64(warp) % 4 * 2 + (np.int64(reg) & 1)]
    if tape.count >= spec.wb_entries:
        return -WB_FULL
    tape.warp[tape.count] = warp
    tape.reg[tape.count] = reg
    tape.count += 1
    sm.events[RF_WRITES] += 1
    sm.events[spec.first_event + WB_WRITES] += 1
    return 0


def bank_cycles(sm, rf, spec, rows, bank):
    """Shift the tapes to the oldest buffered result, and write it."""
    tape = rf.tape[bank]
    if tape.count == 0:
        return 0
    warp, reg = np.int64(tape.warp[0]), np.int64(tape.reg[0])
    remove(tape, 0)
    sm.bank[bank].busy_code = SHIFT
    sm.bank[bank].owner_warp = warp
    sm.bank[bank].owner_reg = reg
    sm.events[spec.first_event + WB_READS] += 1
    sm.events[spec.first_event + RM_WRITES] += 1
    return 1 + shift_to(sm, spec, tape, warp, reg)


def on_exit(sm, rf, spec, rows, warp):
    """Drop the buffered results of a warp that has ended (B0.7)."""
    for parity in range(2):
        tape = rf.tape[np.int64(warp) % 4 * 2 + parity]
        for entry in range(np.int64(tape.count) - 1, -1, -1):
            if tape.warp[entry] == warp:
                remove(tape, entry)
    return 0


def next_event(sm, rf, spec):
    """Return the current cycle while a write buffer has entries."""
    for bank in range(sm.config.num_banks):
        if rf.tape[bank].count != 0:
            return np.int64(sm.cycle)
    return np.int64(FOREVER)


@device
def shift_to(sm, spec, tape, warp, reg):
    """Shift a bank's tapes to a register; return the cycles that this takes (none if shift_cycles = 0)."""
    line = np.int64(warp) // 4 * (np.int64(sm.launch.registers) // 2) + np.int64(reg) // 2
    target = line % np.int64(num_offsets(sm, spec))
    steps = abs(target - np.int64(tape.current))
    tape.current = target
    sm.events[spec.first_event + SHIFTS] += steps
    return (steps + np.int64(spec.shift_steps) - 1) // np.int64(spec.shift_steps) * np.int64(spec.shift_cycles)


@device
def remove(tape, entry):
    """Remove an entry of a write buffer; younger ones move up."""
    tape.count -= 1
    for place in range(entry, np.int64(tape.count)):
        tape.warp[place] = tape.warp[place + 1]
        tape.reg[place] = tape.reg[place + 1]
