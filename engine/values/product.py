"""What tensor cores compute.

A product's sums are rounded after every product, in the order of k, as the PTX of it is (ptx/lower/tensor.py): lane 4 g + t
has columns 2 t and 2 t + 1 of row g of a block of 8 x 8 results. A register of A holds part of row g, one of B part of
column g: the elements t P to t P + P - 1 of 4 P along k, where P elements fit into a word.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

from rfview.engine.compile.device import device
from rfview.engine.compile.jit import OFF
from rfview.engine.isa import (PRODUCT_AND, PRODUCT_BF16, PRODUCT_DEEP, PRODUCT_F16,
                               PRODUCT_F64, PRODUCT_HALVES, PRODUCT_INT4, PRODUCT_INT8, PRODUCT_KINDS, PRODUCT_SATURATES,
                               PRODUCT_SIGNED_A, PRODUCT_SIGNED_B, PRODUCT_TALL, PRODUCT_TF32)
from rfview.engine.values.arithmetic import (I64, M32, S32, U32, U64, bits_f64, clamp, extend, f64_bits, fma64, popcount)
from rfview.engine.values.lane_by_lane import pair, put
from rfview.engine.values.rounding import NAN64, has
from rfview.engine.values.vectors import I32, IrFrame, NumpyFrame, Vector, bits, canonical, fma, where
from rfview.engine.values.words import load, store

# as kinds of `multiply`: no product, but both halves of a as floats; the floats a and b as halves, rounded to nearest
WIDEN, NARROW = 64, 65
NIBBLES, UPPER = 1 << 8, 1 << 9      # in aux of `multiply`: elements are the lower, or upper, four bits of each byte
TWO_TO_112 = 2.0**112   # from a half's exponent to that of a float


def _lanes(x: Any, lanes: list[int]) -> Any:
    """Return the values of other lanes: element k is lane lanes[k]'s."""
    if not isinstance(x, Vector):
        return x[lanes]
    mask = ir.Constant(ir.VectorType(I32, 32), [ir.Constant(I32, lane) for lane in lanes])
    return Vector(x.builder, x.builder.shuffle_vector(x.value, ir.Constant(x.value.type, ir.Undefined), mask), x.kind)


def _float_of_half(x: Any) -> Any:
    """Return the halves in the low bits of words as floats, exactly."""
    shifted = (x & 0x7FFF) << 13
    number = bits(bits(shifted, "f4") * TWO_TO_112, "u4")
    return bits(where((x & 0x7C00) == 0x7C00, shifted | 0x7F800000, number) | (x & 0x8000) << 16, "f4")


def _half_of_float(x: Any) -> Any:
    """Return floats, given as words, as halves, rounded to nearest; NaN canonical."""
    sign, rest = (x >> 16) & 0x8000, x & 0x7FFFFFFF
    normal = (rest + 0xFFF + ((rest >> 13) & 1) >> 13) - (112 << 10)
    # 1/2 has the units of a half's subnormals as its last bits
    tiny = bits(bits(rest, "f4") + 0.5, "u4") - 0x3F000000
    value = where(rest < 0x38800000, tiny, where(rest < 0x477FF000, normal, 0x7C00))
    return where(rest > 0x7F800000, 0x7FFF, value | sign)


def _elements(kind: int, word: Any, negative: Any) -> list[Any]:
    """Return the elements in words, in the order of k. negative: ones where integers have a sign."""
    if kind == PRODUCT_F16:
        return [_float_of_half(word & 0xFFFF), _float_of_half(word >> 16)]
    if kind == PRODUCT_BF16:
        return [bits(word << 16, "f4"), bits(word & 0xFFFF0000, "f4")]
    if kind == PRODUCT_TF32:
        return [bits(word & 0xFFFFE000, "f4")]
    parts = [(word >> at) & 0xFF for at in range(0, 32, 8)]
    return [part - ((part & 0x80) << 1 & negative) for part in parts]


def _bytes(frame: Any, word: Any, negative: Any) -> Any:
    """Return words as they are, or the lower or upper four bits of their bytes as bytes. negative: as in `_elements`."""
    nibbles, upper = (frame.splat_aux_bit(flag.bit_length() - 1) for flag in (NIBBLES, UPPER))
    part = ((word >> 4) & upper | word & ~upper) & 0x0F0F0F0F
    return (part | (((part >> 3) & 0x01010101) * 0xF0) & negative) & nibbles | word & ~nibbles


def _multiply(kind: int, at: Any) -> None:
    """Add the products of a register of A and one of B to two sums. at(name, row): the frame at a row of a, b or sums."""
    if kind == WIDEN:
        for side, value in enumerate(_elements(PRODUCT_F16, at("a", 0).get(0, "u4"), None)):
            at("sums", side).put(canonical(value))
        return
    if kind == NARROW:
        low, high = (_half_of_float(at(name, 0).get(0, "u4")) for name in ("a", "b"))
        at("sums", 0).put(low | high << 16)
        return
    is_float = kind != PRODUCT_INT8
    a, b = at("a", 0).get(0, "u4"), at("b", 0).get(0, "u4")
    signs = [at("a", 0).splat_aux_bit(flag.bit_length() - 1) for flag in (PRODUCT_SIGNED_A, PRODUCT_SIGNED_B)]
    if not is_float:
        a, b = _bytes(at("a", 0), a, signs[0]), _bytes(at("b", 0), b, signs[1])
    sums = [at("sums", side).get(0, "f4" if is_float else "u4") for side in (0, 1)]
    for four in range(4):
        left = _elements(kind, _lanes(a, [lane & ~3 | four for lane in range(32)]), signs[0])
        for side in (0, 1):
            columns = [4 * (2 * (lane & 3) + side) + four for lane in range(32)]
            for x, y in zip(left, _elements(kind, _lanes(b, columns), signs[1]), strict=True):
                sums[side] = fma(x, y, sums[side]) if is_float else sums[side] + x * y
    for side, total in enumerate(sums):
        at("sums", side).put(canonical(total) if is_float else total)


@intrinsic(prefer_literal=True)
def _compiled(typing_context: Any, rows: Any, a: Any, b: Any, sums: Any, aux: Any, kind: Any) -> Any:
    """Typing and code of `multiply` under JIT; `kind` must be a constant."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        base = dict(zip(("a", "b", "sums"), args[1:4], strict=True))

        def at(name: str, row: int) -> IrFrame:
            first = builder.add(base[name], ir.Constant(base[name].type, row))
            return IrFrame(context, builder, signature, (args[0], first, first, args[4], args[4]))

        _multiply(kind.literal_value, at)
        return context.get_dummy_value()

    return types.void(types.voidptr, types.int64, types.int64, types.int64, types.uint32, kind), code


def _interpreted(rows: Any, a: int, b: int, sums: int, aux: int, kind: int) -> None:
    """`multiply` without JIT."""
    base = {"a": int(a), "b": int(b), "sums": int(sums)}
    with np.errstate(all="ignore"):
        _multiply(kind, lambda name, row: NumpyFrame(rows, base[name] + row, base[name] + row, aux, aux))


# multiply(rows, a, b, sums, aux, kind): add the products of the registers in the rows `a` and `b` to the two sums in the
#   rows from `sums` on; kind: PRODUCT_F16, _BF16, _TF32 or _INT8, or WIDEN or NARROW, a constant
multiply: Any = _interpreted if OFF else _compiled


@device
def product_rows(rows, src, dst, aux):
    """OP_PRODUCT: A B + C, with A in the slots 0, 1, 6, 7, B in 2, 3, and C in 4, 5, 8, 9."""
    kind = I64(aux) & I64(PRODUCT_KINDS)
    tall = I64(2) if has(aux, PRODUCT_TALL) else I64(1)
    begin_sums(rows, src, dst, aux, kind)
    chunks = I64(2) if has(aux, PRODUCT_DEEP) else I64(1)
    for number in range(tall * chunks):
        a, b = src + number + (I64(4) if number > 1 else I64(0)), src + I64(2) + number // tall
        multiply_kind(rows, a, b, dst + I64(2) * (number % tall), aux, kind)
    end_sums(rows, src, dst, aux, kind, tall)


@device
def multiply_kind(rows, a, b, sums, aux, kind):
    """Do `multiply` for any kind."""
    if kind == PRODUCT_F16:
        multiply(rows, a, b, sums, U32(aux), PRODUCT_F16)
    elif kind == PRODUCT_BF16:
        multiply(rows, a, b, sums, U32(aux), PRODUCT_BF16)
    elif kind == PRODUCT_TF32:
        multiply(rows, a, b, sums, U32(aux), PRODUCT_TF32)
    elif kind == PRODUCT_INT8 or kind == PRODUCT_INT4:
        flags = U32(aux) & U32(PRODUCT_SIGNED_A | PRODUCT_SIGNED_B)
        for half in range(I64(1) if kind == PRODUCT_INT8 else I64(2)):
            if kind == PRODUCT_INT4:
                flags |= U32(UPPER | NIBBLES) if half == 1 else U32(NIBBLES)
            multiply(rows, a, b, sums, flags, PRODUCT_INT8)
    else:
        multiply_rarer(rows, a, b, sums, U32(aux), kind)


@device
def multiply_rarer(rows, a, b, sums, aux, kind):
    """Do what `multiply` does for f64, of which each number has two rows, and for bits."""
    for lane in range(32):
        for side in range(2):
            row = sums + 2 * side if kind == PRODUCT_F64 else sums + side
            total = pair(rows, row, lane) if kind == PRODUCT_F64 else U64(load(rows, row, lane))
            for four in range(4):
                left, right = I64(lane & ~3 | four), I64(4 * (2 * (lane & 3) + side) + four)
                if kind == PRODUCT_F64:
                    number = fma64(bits_f64(pair(rows, a, left)), bits_f64(pair(rows, b, right)), bits_f64(total))
                    total = f64_bits(number) if number == number else NAN64
                else:
                    x, y = load(rows, a, left), load(rows, b, right)
                    total += U64(popcount(U64(x & y if has(aux, PRODUCT_AND) else x ^ y)))
            put(rows, row, lane, total, kind == PRODUCT_F64)


@device
def addend_row(src, number):
    """Row of a register of C."""
    return src + I64(number) + (I64(4) if number < 2 else I64(6))


@device
def is_of_halves(aux, kind):
    """Whether C and D are halves, two in a register, of which the sums are floats."""
    return kind == PRODUCT_F16 and has(aux, PRODUCT_HALVES)


@device
def saturates(aux, kind):
    """Whether sums of integers are limited to 32 bits."""
    return (kind == PRODUCT_INT8 or kind == PRODUCT_INT4) and has(aux, PRODUCT_SATURATES)


@device
def begin_sums(rows, src, dst, aux, kind):
    """Let the sums begin with C; with 0 where they saturate: the products alone cannot overflow, the addend comes last."""
    if is_of_halves(aux, kind):
        for number in range(2):
            row = addend_row(src, number)
            multiply(rows, row, row, dst + 2 * number, U32(0), WIDEN)
        return
    from_zero = saturates(aux, kind)
    for number in range(4):
        for lane in range(32):
            store(rows, dst + number, lane, U32(0) if from_zero else load(rows, addend_row(src, number), lane))


@device
def end_sums(rows, src, dst, aux, kind, blocks):
    """Round sums to halves, two in a register, or add C where they saturate."""
    if is_of_halves(aux, kind):
        for block in range(blocks):
            multiply(rows, dst + 2 * block, dst + 2 * block + 1, dst + block, U32(0), NARROW)
    elif saturates(aux, kind):
        for number in range(2 * blocks):
            addend = addend_row(src, number)
            for lane in range(32):
                total = extend(U64(load(rows, dst + number, lane)), S32, True)
                total += extend(U64(load(rows, addend, lane)), S32, True)
                store(rows, dst + number, lane, U32(clamp(total, S32) & M32))
