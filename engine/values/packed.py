"""Integers packed in words: sums, extremes and distances of 8, 16 or 32 bits, and of three operands."""

from __future__ import annotations

from rfview.engine.compile.device import device
from rfview.engine.isa import (PACKED_ADD, PACKED_DISTANCE, PACKED_FIRST, PACKED_MIN, PACKED_RELU, PACKED_SHIFT,
                               PACKED_SHIFT_C, PACKED_SIGNED, PACKED_SUB, PACKED_SUM)
from rfview.engine.values.arithmetic import I64, M32, ONE64, U32, U64, Z64, extend, less
from rfview.engine.values.rounding import has
from rfview.engine.values.words import load, store


@device
def combined(operation, a, b, size, signed):
    """One operation on two elements, extended to 64 bits, as is the result."""
    if operation == PACKED_FIRST:
        return a
    if operation == PACKED_ADD:
        return extend(a + b, size, signed)
    if operation == PACKED_SUB:
        return extend(a - b, size, signed)
    is_less = less(a, b, signed)
    if operation == PACKED_DISTANCE:
        return b - a if is_less else a - b
    return a if is_less == (operation == PACKED_MIN) else b


@device
def packed_rows(rows, src, dst, aux):
    """OP_PACKED; of minima and maxima of two it gives where a is chosen: in the lowest element, and in the highest one."""
    size, signed = U64(aux) & U64(255), has(aux, PACKED_SIGNED)
    first, second = I64(aux) >> I64(PACKED_SHIFT) & I64(7), I64(aux) >> I64(PACKED_SHIFT_C) & I64(7)
    chosen = Z64
    for lane in range(32):
        a, b, c = U64(load(rows, src, lane)), U64(load(rows, src + 2, lane)), U64(load(rows, src + 4, lane))
        word, total = Z64, c
        for element in range(32 // I64(size)):
            at = U64(element) * size
            x, y = extend(a >> at, size, signed), extend(b >> at, size, signed)
            value = combined(second, combined(first, x, y, size, signed), extend(c >> at, size, signed), size, signed)
            if has(aux, PACKED_RELU) and less(value, Z64, True):
                value = Z64
            word |= (value & ((ONE64 << size) - ONE64)) << at
            total += value
            takes_a = x == y or less(x, y, signed) == (first == PACKED_MIN)
            chosen |= U64(takes_a and at == Z64) << U64(lane) | U64(takes_a and at + size == U64(32)) << U64(32 + lane)
        store(rows, dst, lane, U32((total if has(aux, PACKED_SUM) else word) & M32))
    return chosen
