"""What happens to operands of machine code before they are computed with: negation, absolute values, bytes and halves."""

from __future__ import annotations

import numpy as np

from rfview.engine.compile.device import device
from rfview.engine.isa import (FLAG_RZ, MODIFY_NEG, MODIFY_NEG64, PART_F32, PART_FTZ, PART_SHIFT, T_F16, T_F32)
from rfview.engine.values.arithmetic import I64, M32, U32, U64
from rfview.engine.values.rounding import convert, flush32
from rfview.engine.values.words import load, store

ALL, SIGN, REST, SIGNS, RESTS = 0xFFFFFFFF, 0x80000000, 0x7FFFFFFF, 0x80008000, 0x7FFF7FFF
# per MODIFY_*: of the low and the high row, the bits kept and then the bits inverted; f32 includes pairs of f32
KEPT = np.array([(ALL, ALL)] * 4 + [(ALL, ALL), (REST, REST), (REST, REST), (ALL, ALL), (ALL, REST), (ALL, REST),
                                    (ALL, ALL), (RESTS, ALL), (RESTS, ALL)], np.uint32)
INVERTED = np.array([(0, 0), (ALL, 0), (ALL, ALL), (ALL, ALL), (SIGN, SIGN), (0, 0), (SIGN, SIGN), (0, SIGN), (0, 0),
                     (0, SIGN), (SIGNS, 0), (0, 0), (SIGNS, 0)], np.uint32)
# per PART_*: shift right, keep these bits, multiply
SHIFT = np.array([0, 0, 8, 16, 24, 0, 16, 0, 16, 0, 0], np.uint32)
FIELD = np.array([ALL, 255, 255, 255, 255, 0xFFFF, 0xFFFF, 0xFFFF, 0xFFFF, ALL, ALL], np.uint32)
TIMES = np.array([1, 1, 1, 1, 1, 1, 1, 0x10001, 0x10001, 1, 1], np.uint32)


@device
def modify(rows, row, code):
    """Modify the operand in the rows `row` (low word) and row + 1 (high word). code: MODIFY_* | PART_* << PART_SHIFT."""
    part, sign = I64(code) >> I64(PART_SHIFT), I64(code) & I64(15)
    if part != 0:
        take_part(rows, row, part)
    if sign == 0:
        return
    for half in range(2):
        kept, inverted = KEPT[sign, half], INVERTED[sign, half]
        if kept != U32(ALL) or inverted != U32(0):
            for lane in range(32):
                store(rows, row + half, lane, (load(rows, row + half, lane) & kept) ^ inverted)
    if sign == MODIFY_NEG or sign == MODIFY_NEG64:
        add_one(rows, row, sign == MODIFY_NEG64)


@device
def add_one(rows, row, wide):
    """Add 1 to an operand, of 64 bits if `wide`: a negative number is the complement and one more."""
    for lane in range(32):
        low = load(rows, row, lane) + U32(1)
        store(rows, row, lane, low)
        if wide and low == U32(0):
            store(rows, row + 1, lane, load(rows, row + 1, lane) + U32(1))


@device
def take_part(rows, row, part):
    """Replace an operand by a byte or half of it, or by an f32 made a half or flushed."""
    if part == PART_F32 or part == PART_FTZ:
        for lane in range(32):
            value = U64(load(rows, row, lane))
            if part == PART_FTZ:
                value = flush32(value)
            else:           # cut off toward zero, for both halves
                value = (convert(U32(T_F16 | T_F32 << 8), U32(FLAG_RZ), value) & U64(0xFFFF)) * U64(0x10001)
            store(rows, row, lane, U32(value & M32))
        return
    shift, field, times = SHIFT[part], FIELD[part], TIMES[part]
    for lane in range(32):
        store(rows, row, lane, ((load(rows, row, lane) >> shift) & field) * times)
