"""Thirty-two lanes at once: each common opcode defined once, for vector LLVM code under JIT and for NumPy without it.

A body takes a frame (engine/values/vectors.py: where operands come from and results go) and works on 32-lane values.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

from rfview.engine import isa
from rfview.engine.compile.jit import OFF
from rfview.engine.values.vectors import (I32, IrFrame, NumpyFrame, Scalar, bits, canonical, cast, flush, fma, sqrt,
                                          where)

UNIT_STRIDE_4, UNIT_STRIDE_8, UNIT_STRIDE_16 = 1004, 1008, 1016


def _compare(frame: Any, kind: str) -> Any:
    """setp: aux is a truth table over (less, equal, greater, unordered), bits 0 to 3."""
    a, b = frame.get(0, kind), frame.get(1, kind)
    return _compared(frame, a, b, kind)


def _compared(frame: Any, a: Any, b: Any, kind: str) -> Any:
    less, equal = frame.mask(a < b), frame.mask(a == b)
    greater = frame.mask(a > b)
    result = frame.aux_bit(less, 0) | frame.aux_bit(equal, 1) | frame.aux_bit(greater, 2)
    if kind[0] == "f":
        result = result | frame.aux_bit(~(less | equal | greater), 3)
    return result


def _shift_left(frame: Any, kind: str) -> None:
    a, amount = frame.get(0, kind), frame.get(1, "u4")
    width = 8 * int(kind[1])
    wide = cast(amount, kind)
    frame.put(where(amount < width, a << (wide & (width - 1)), 0))


def _shift_right(frame: Any, kind: str) -> None:
    a, amount = frame.get(0, kind), frame.get(1, "u4")
    width = 8 * int(kind[1])
    if kind[0] == "u":
        frame.put(where(amount < width, a >> (cast(amount, kind) & (width - 1)), 0))
    else:
        frame.put(a >> cast(where(amount < width, amount, width - 1), kind))


def _float_binary(frame: Any, kind: str, operation: Callable[[Any, Any], Any], flushed: bool = False) -> None:
    a, b = frame.get(0, kind), frame.get(1, kind)
    if flushed:
        a, b = flush(a), flush(b)
    _put_float(frame, operation(a, b), flushed)


def _put_float(frame: Any, result: Any, flushed: bool) -> None:
    frame.put(canonical(flush(result) if flushed else result))


def _float_fma(frame: Any, kind: str, flushed: bool = False) -> None:
    operands = [frame.get(k, kind) for k in range(3)]
    if flushed:
        operands = [flush(operand) for operand in operands]
    _put_float(frame, fma(*operands), flushed)


def _float_choose(frame: Any, smallest: bool) -> None:
    """min / max: the number if one is NaN, -0 below +0."""
    a, b = frame.get(0, "f4"), frame.get(1, "f4")
    pattern_a, pattern_b = bits(a, "u4"), bits(b, "u4")
    first = (a < b) if smallest else (a > b)
    zeros = pattern_a | pattern_b if smallest else pattern_a & pattern_b
    chosen = where(first, pattern_a, where(a == b, zeros, pattern_b))
    chosen = where(a == a, where(b == b, chosen, pattern_a), pattern_b)
    frame.put(canonical(bits(chosen, "f4")))


def _to_int(frame: Any, kind: str) -> None:
    """cvt.rzi from f32: saturates, NaN becomes 0."""
    a = frame.get(0, "f4")
    low, high = (-2147483648.0, 2147483648.0) if kind == "i4" else (0.0, 4294967296.0)
    inside = (a >= low) & (a < high)
    value = cast(cast(where(inside, a, 0.0), "i8"), "u4")
    top, bottom = (0x7FFFFFFF, 0x80000000) if kind == "i4" else (0xFFFFFFFF, 0)
    value = where(a < low, bottom, value)
    frame.put(where(a >= high, top, value))


def _lop3(frame: Any) -> None:
    a, b, c = (frame.get(k, "u4") for k in range(3))
    result = None
    for entry in range(8):
        term = (a if entry & 4 else ~a) & (b if entry & 2 else ~b) & (c if entry & 1 else ~c)
        term = term & frame.splat_aux_bit(entry)
        result = term if result is None else result | term
    frame.put(result)


def _funnel_shift(frame: Any) -> None:
    """shf: aux bit 0 wrap (else clamp), bit 1 right (else left)."""
    a, b, c = (frame.get(k, "u4") for k in range(3))
    wrap, right = frame.splat_aux_bit(0), frame.splat_aux_bit(1)
    amount = ((c & 31) & wrap) | (where(c < 32, c, 32) & ~wrap)
    amount = (amount & right) | ((~amount + 33) & ~right)
    frame.put(cast((cast(a, "u8") | cast(b, "u8") << 32) >> cast(amount, "u8"), "u4"))


def _high_product(frame: Any, kind: str) -> None:
    wide = kind[0] + "8"
    product = bits(cast(frame.get(0, kind), wide) * cast(frame.get(1, kind), wide), "u8")
    frame.put(cast(product >> 32, "u4"))


def _wide(frame: Any, kind: str, with_add: bool) -> None:
    wide = kind[0] + "8"
    product = cast(frame.get(0, kind), wide) * cast(frame.get(1, kind), wide)
    frame.put(product + frame.get(2, wide) if with_add else product)


def _reciprocal(frame: Any, kind: str) -> None:
    a = frame.get(0, kind)
    one = cast(bits(a, "u" + kind[1]) & 0, kind) + 1.0
    frame.put(canonical(one / a))


def _sign(frame: Any, kind: str, clear: bool) -> None:
    """neg and abs of floats."""
    a = frame.get(0, kind)
    size = kind[1]
    sign = 0x80000000 if size == "4" else 0x8000000000000000
    pattern = bits(a, "u" + size)
    changed = pattern & (sign - 1) if clear else pattern ^ sign
    frame.put(canonical(bits(changed, kind)))


# write the result's rows
BODIES: dict[int, Callable[[Any], Any]] = {
    isa.OP_MOV32: lambda x: x.put(x.get(0, "u4")),
    isa.OP_MOV64: lambda x: x.put(x.get(0, "u8")),
    isa.OP_ADD32: lambda x: x.put(x.get(0, "u4") + x.get(1, "u4")),
    isa.OP_SUB32: lambda x: x.put(x.get(0, "u4") - x.get(1, "u4")),
    isa.OP_MUL_LO32: lambda x: x.put(x.get(0, "u4") * x.get(1, "u4")),
    isa.OP_MAD_LO32: lambda x: x.put(x.get(0, "u4") * x.get(1, "u4") + x.get(2, "u4")),
    isa.OP_AND32: lambda x: x.put(x.get(0, "u4") & x.get(1, "u4")),
    isa.OP_OR32: lambda x: x.put(x.get(0, "u4") | x.get(1, "u4")),
    isa.OP_XOR32: lambda x: x.put(x.get(0, "u4") ^ x.get(1, "u4")),
    isa.OP_NOT32: lambda x: x.put(~x.get(0, "u4")),
    isa.OP_SHL32: lambda x: _shift_left(x, "u4"),
    isa.OP_SHR_U32: lambda x: _shift_right(x, "u4"),
    isa.OP_SHR_S32: lambda x: _shift_right(x, "i4"),
    isa.OP_MIN_S32: lambda x: x.put(where(x.get(0, "i4") < x.get(1, "i4"), x.get(0, "i4"), x.get(1, "i4"))),
    isa.OP_MAX_S32: lambda x: x.put(where(x.get(0, "i4") > x.get(1, "i4"), x.get(0, "i4"), x.get(1, "i4"))),
    isa.OP_MIN_U32: lambda x: x.put(where(x.get(0, "u4") < x.get(1, "u4"), x.get(0, "u4"), x.get(1, "u4"))),
    isa.OP_MAX_U32: lambda x: x.put(where(x.get(0, "u4") > x.get(1, "u4"), x.get(0, "u4"), x.get(1, "u4"))),
    isa.OP_NEG32: lambda x: x.put(~x.get(0, "u4") + 1),
    isa.OP_ABS32: lambda x: x.put(where(x.get(0, "i4") < 0, ~x.get(0, "u4") + 1, x.get(0, "u4"))),
    isa.OP_ADD64: lambda x: x.put(x.get(0, "u8") + x.get(1, "u8")),
    isa.OP_SUB64: lambda x: x.put(x.get(0, "u8") - x.get(1, "u8")),
    isa.OP_MUL_LO64: lambda x: x.put(x.get(0, "u8") * x.get(1, "u8")),
    isa.OP_AND64: lambda x: x.put(x.get(0, "u8") & x.get(1, "u8")),
    isa.OP_OR64: lambda x: x.put(x.get(0, "u8") | x.get(1, "u8")),
    isa.OP_XOR64: lambda x: x.put(x.get(0, "u8") ^ x.get(1, "u8")),
    isa.OP_NOT64: lambda x: x.put(~x.get(0, "u8")),
    isa.OP_SHL64: lambda x: _shift_left(x, "u8"),
    isa.OP_SHR_U64: lambda x: _shift_right(x, "u8"),
    isa.OP_SHR_S64: lambda x: _shift_right(x, "i8"),
    isa.OP_NEG64: lambda x: x.put(~x.get(0, "u8") + 1),
    isa.OP_MUL_WIDE_U32: lambda x: _wide(x, "u4", False),
    isa.OP_MUL_WIDE_S32: lambda x: _wide(x, "i4", False),
    isa.OP_MAD_WIDE_U32: lambda x: _wide(x, "u4", True),
    isa.OP_MAD_WIDE_S32: lambda x: _wide(x, "i4", True),
    isa.OP_FADD: lambda x: _float_binary(x, "f4", lambda a, b: a + b),
    isa.OP_FSUB: lambda x: _float_binary(x, "f4", lambda a, b: a - b),
    isa.OP_FMUL: lambda x: _float_binary(x, "f4", lambda a, b: a * b),
    isa.OP_FDIV: lambda x: _float_binary(x, "f4", lambda a, b: a / b),
    isa.OP_FADD_FTZ: lambda x: _float_binary(x, "f4", lambda a, b: a + b, True),
    isa.OP_FSUB_FTZ: lambda x: _float_binary(x, "f4", lambda a, b: a - b, True),
    isa.OP_FMUL_FTZ: lambda x: _float_binary(x, "f4", lambda a, b: a * b, True),
    isa.OP_FFMA: lambda x: _float_fma(x, "f4"),
    isa.OP_FFMA_FTZ: lambda x: _float_fma(x, "f4", True),
    isa.OP_FNEG: lambda x: _sign(x, "f4", False),
    isa.OP_FABS: lambda x: _sign(x, "f4", True),
    isa.OP_FMIN: lambda x: _float_choose(x, True),
    isa.OP_FMAX: lambda x: _float_choose(x, False),
    isa.OP_FSQRT: lambda x: x.put(canonical(sqrt(x.get(0, "f4")))),
    isa.OP_FRCP: lambda x: _reciprocal(x, "f4"),
    isa.OP_DADD: lambda x: _float_binary(x, "f8", lambda a, b: a + b),
    isa.OP_DSUB: lambda x: _float_binary(x, "f8", lambda a, b: a - b),
    isa.OP_DMUL: lambda x: _float_binary(x, "f8", lambda a, b: a * b),
    isa.OP_DDIV: lambda x: _float_binary(x, "f8", lambda a, b: a / b),
    isa.OP_DFMA: lambda x: _float_fma(x, "f8"),
    isa.OP_DNEG: lambda x: _sign(x, "f8", False),
    isa.OP_DABS: lambda x: _sign(x, "f8", True),
    isa.OP_DSQRT: lambda x: x.put(canonical(sqrt(x.get(0, "f8")))),
    isa.OP_DRCP: lambda x: _reciprocal(x, "f8"),
    isa.OP_SELP32: lambda x: x.put(where(x.condition(), x.get(0, "u4"), x.get(1, "u4"))),
    isa.OP_SELP64: lambda x: x.put(where(x.condition(), x.get(0, "u8"), x.get(1, "u8"))),
    isa.OP_ZEXT8: lambda x: x.put(x.get(0, "u4") & 0xFF),
    isa.OP_SEXT8: lambda x: x.put(bits(x.get(0, "u4") << 24, "i4") >> 24),
    isa.OP_ZEXT16: lambda x: x.put(x.get(0, "u4") & 0xFFFF),
    isa.OP_SEXT16: lambda x: x.put(bits(x.get(0, "u4") << 16, "i4") >> 16),
    isa.OP_ZEXT64: lambda x: x.put(cast(x.get(0, "u4"), "u8")),
    isa.OP_SEXT64: lambda x: x.put(cast(x.get(0, "i4"), "i8")),
    isa.OP_CVT_F32_S32: lambda x: x.put(cast(x.get(0, "i4"), "f4")),
    isa.OP_CVT_F32_U32: lambda x: x.put(cast(x.get(0, "u4"), "f4")),
    isa.OP_CVT_S32_F32: lambda x: _to_int(x, "i4"),
    isa.OP_CVT_U32_F32: lambda x: _to_int(x, "u4"),
    isa.OP_CVT_F64_F32: lambda x: x.put(cast(x.get(0, "f4"), "f8")),       # a NaN keeps its sign and bits
    isa.OP_CVT_F32_F64: lambda x: x.put(canonical(cast(x.get(0, "f8"), "f4"))),
    isa.OP_CVT_F64_S32: lambda x: x.put(cast(x.get(0, "i4"), "f8")),
    isa.OP_CVT_F64_U32: lambda x: x.put(cast(x.get(0, "u4"), "f8")),
    isa.OP_LOP3: _lop3,
    isa.OP_SHF: _funnel_shift,
    isa.OP_MUL_HI_U32: lambda x: _high_product(x, "u4"),
    isa.OP_MUL_HI_S32: lambda x: _high_product(x, "i4"),
}

# give the mask of lanes in which a comparison holds
COMPARISONS: dict[int, Callable[[Any], Any]] = {
    isa.OP_SETP_S32: lambda x: _compare(x, "i4"),
    isa.OP_SETP_U32: lambda x: _compare(x, "u4"),
    isa.OP_SETP_S64: lambda x: _compare(x, "i8"),
    isa.OP_SETP_U64: lambda x: _compare(x, "u8"),
    isa.OP_SETP_F32: lambda x: _compare(x, "f4"),
    isa.OP_SETP_F64: lambda x: _compare(x, "f8"),
    isa.OP_SETP_F32_FTZ: lambda x: _compared(x, flush(x.get(0, "f4")), flush(x.get(1, "f4")), "f4"),
    isa.OP_SETP_S16: lambda x: _compared(x, bits(x.get(0, "u4") << 16, "i4"), bits(x.get(1, "u4") << 16, "i4"), "i4"),
}

# not opcodes: the lanes whose address (operand 0) continues that of lane `pred` at a unit stride of this many bytes
UNIT_STRIDES: dict[int, Callable[[Any], Any]] = {
    UNIT_STRIDE_4: lambda x: x.mask(x.get(0, "u8") == x.lane(x.get(0, "u8"), 4)),
    UNIT_STRIDE_8: lambda x: x.mask(x.get(0, "u8") == x.lane(x.get(0, "u8"), 8)),
    UNIT_STRIDE_16: lambda x: x.mask(x.get(0, "u8") == x.lane(x.get(0, "u8"), 16)),
}

# of machine code: write the result's row
MACHINE_BODIES: dict[int, Callable[[Any], Any]] = {
    isa.OP_ADD3: lambda x: x.put(x.get(0, "u4") + x.get(1, "u4") + x.get(2, "u4")),
}

RUNS = {**BODIES, **COMPARISONS, **UNIT_STRIDES, **MACHINE_BODIES}


@intrinsic(prefer_literal=True)
def _compiled(typing_context: Any, rows: Any, src: Any, dst: Any, pred: Any, aux: Any, op: Any) -> Any:
    """Typing and code of `run` under JIT; `op` must be a constant."""
    body = RUNS[op.literal_value]

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        result = body(IrFrame(context, builder, signature, args))
        return result.value if isinstance(result, Scalar) else ir.Constant(I32, 0)

    return types.uint32(types.voidptr, types.int64, types.int64, types.uint32, types.uint32, op), code


def _interpreted(rows: Any, src: int, dst: int, pred: int, aux: int, op: int) -> np.uint32:
    """`run` without JIT."""
    with np.errstate(all="ignore"):
        result = RUNS[op](NumpyFrame(rows, src, dst, pred, aux))
    return np.uint32(result or 0)


# run(rows, src, dst, pred, aux, op) -> u4: do opcode `op` (a constant with a body) on all 32 lanes of the rows from
#   `src` on, results in the rows from `dst` on; rows: as words.handle gives them; pred: mask for selp; gives the predicate
#   mask of comparisons, else 0
run = _interpreted if OFF else _compiled
