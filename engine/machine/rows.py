"""Registers and the rows that hold their values: a register's row, copies of rows, accepted results, lost bits."""

from __future__ import annotations

import numpy as np

from rfview.engine.chunk import REGISTERS_OF_WARP
from rfview.engine.compile.bits import bit64, blend32, copy32, ctz64
from rfview.engine.compile.device import device, inlined
from rfview.engine.machine.marks import touch_row
from rfview.engine.state import GPGPUSIM


@device
def main_row(sm, warp, reg):
    """Return the physical slot of a register: warp w with n registers starts at slot w * n (HC-RF section IV-A)."""
    return np.int64(sm.warp[warp].reg_base) + np.int64(reg)


@device
def default_bank(sm, warp, reg):
    """Return the bank of (warp, reg) under the configured mapping policy."""
    slot = interleaved(sm.config.mapping, main_row(sm, warp, reg), np.int64(warp), np.int64(reg))
    return slot - line_of(sm, slot) * np.int64(sm.config.num_banks)


@inlined
def interleaved(mapping, slot, warp, reg):
    """Return a number whose remainder by the number of banks is the register's bank; on the host also for arrays."""
    return warp + reg if mapping == GPGPUSIM else slot


@inlined
def line_of(sm, slot):
    """Return a physical slot's place within its bank: slot // num_banks, as a shift if that is a power of two."""
    banks = np.uint32(sm.config.num_banks)
    if banks & (banks - np.uint32(1)) == 0:
        return np.int64(np.uint32(slot) >> np.uint32(ctz64(banks)))
    return np.int64(np.uint32(slot) // banks)


@device
def copy_row(rows, source, target):
    """Copy all 32 lanes of one row."""
    return copy32(rows[source].u, rows[target].u)


@device
def copy_lanes(rows, source, target, lanes):
    """Copy the lanes of a mask from one row to another."""
    return blend32(rows[source].u, rows[target].u, lanes)


@device
def write_row(sm, rows, row, value_row, mask):
    """Merge the lanes `mask` of latch row `value_row` into a recorded row, leaving the other lanes alone (B0.2)."""
    blend32(rows[value_row].u, rows[row].u, mask)
    return touch_row(sm, row)


@device
def clear_warp(sm, rows, warp):
    """Zero every register row of a warp: unwritten registers start as 0."""
    base = np.int64(sm.warp[warp].reg_base)
    for reg in range(sm.launch.registers):
        values = rows[base + reg].u
        for lane in range(32):
            values[lane] = 0
        touch_row(sm, base + reg)
    return 0


@device
def note_write(sm, warp, reg, lanes, pc, value_row):
    """Log that the register file accepted a result; `value_row` holds the value until the cycle's end."""
    noted = sm.accepted[sm.num_accepted]
    noted.row = value_row
    noted.register = np.int64(warp) * REGISTERS_OF_WARP + reg
    noted.lanes = lanes
    noted.pc = pc
    sm.num_accepted += 1
    return 0


@device
def note_loss(sm, row):
    """Log that a register's value, in the recorded row `row`, lost bits in this cycle without being written."""
    word = np.int64(row) >> 6
    sm.lost_rows[word] = np.uint64(sm.lost_rows[word]) | bit64(row & 63)
    sm.lost_touched = np.uint64(sm.lost_touched) | bit64(word)
    return touch_row(sm, row)
