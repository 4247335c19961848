"""The meaning of each arithmetic opcode for one thread, on Python integers, written from the PTX manual.

`operation(inst)` returns an `Operation`: its operands (row slot, bits), the width of its result, and the function
on bit patterns. `psrc` predicate sources come first in the function's arguments.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

from rfview.engine import isa
from tests.reference import floats
from tests.reference.floats import BF16, F16, F32, F64, RN, Format

M16, M32, M64 = (1 << 16) - 1, (1 << 32) - 1, (1 << 64) - 1
TURN = floats.from_float(F32, 1 / (2 * math.pi))
SHARED_WINDOW, LOCAL_WINDOW, PARAM_WINDOW, WINDOW_BYTES = 0x0100_0000_0000, 0x0200_0000_0000, 0x0300_0000_0000, 1 << 24

NAME_OF_TYPE = {code: name for name, code in isa.TYPE_CODES.items() if name[0] != "b" or name.startswith("bf")}
FORMATS = {"f16": F16, "bf16": BF16, "f32": F32, "f64": F64}


class Operation(NamedTuple):
    """operands: (first slot, bits) each; psrc: number of predicates before them; result: bits, 0 = a predicate, -1 = two."""

    operands: tuple[tuple[int, int], ...]
    result: int
    function: Callable[..., Any]
    psrc: int = 0


def signed(value: int, bits: int) -> int:
    """Read the low `bits` of a pattern as a two's-complement number."""
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> (bits - 1) else value


def type_of(code: int) -> tuple[int, bool]:
    """Return (bits, is signed) of an integer type code."""
    name = NAME_OF_TYPE[code]
    return int(name[1:]), name[0] == "s"


def reader(bits: int, is_signed: bool) -> Callable[[int], int]:
    """Return the function that decodes a pattern as an integer."""
    if is_signed:
        return lambda x: signed(x, bits)
    mask = (1 << bits) - 1
    return lambda x: x & mask


# --- simple integer operations --------------------------------------------------------------------------------------

A32, B32, C32 = (0, 32), (2, 32), (4, 32)
A64, B64, C64 = (0, 64), (2, 64), (4, 64)
S = signed


def shift_left(x: int, n: int, bits: int) -> int:
    """Shift left; amounts of at least the width give 0."""
    return x << n if n < bits else 0


SIMPLE: dict[int, Operation] = {
    isa.OP_MOV32: Operation((A32,), 32, lambda a: a),
    isa.OP_MOV64: Operation((A64,), 64, lambda a: a),
    isa.OP_ADD32: Operation((A32, B32), 32, lambda a, b: a + b),
    isa.OP_SUB32: Operation((A32, B32), 32, lambda a, b: a - b),
    isa.OP_MUL_LO32: Operation((A32, B32), 32, lambda a, b: a * b),
    isa.OP_MUL_HI_U32: Operation((A32, B32), 32, lambda a, b: a * b >> 32),
    isa.OP_MUL_HI_S32: Operation((A32, B32), 32, lambda a, b: S(a, 32) * S(b, 32) >> 32),
    isa.OP_MAD_LO32: Operation((A32, B32, C32), 32, lambda a, b, c: a * b + c),
    isa.OP_AND32: Operation((A32, B32), 32, lambda a, b: a & b),
    isa.OP_OR32: Operation((A32, B32), 32, lambda a, b: a | b),
    isa.OP_XOR32: Operation((A32, B32), 32, lambda a, b: a ^ b),
    isa.OP_NOT32: Operation((A32,), 32, lambda a: ~a),
    isa.OP_SHL32: Operation((A32, B32), 32, lambda a, b: shift_left(a, b, 32)),
    isa.OP_SHR_U32: Operation((A32, B32), 32, lambda a, b: a >> b),
    isa.OP_SHR_S32: Operation((A32, B32), 32, lambda a, b: S(a, 32) >> b),
    isa.OP_MIN_S32: Operation((A32, B32), 32, lambda a, b: min(S(a, 32), S(b, 32))),
    isa.OP_MAX_S32: Operation((A32, B32), 32, lambda a, b: max(S(a, 32), S(b, 32))),
    isa.OP_MIN_U32: Operation((A32, B32), 32, min),
    isa.OP_MAX_U32: Operation((A32, B32), 32, max),
    isa.OP_NEG32: Operation((A32,), 32, lambda a: -a),
    isa.OP_ABS32: Operation((A32,), 32, lambda a: abs(S(a, 32))),
    isa.OP_ADD64: Operation((A64, B64), 64, lambda a, b: a + b),
    isa.OP_SUB64: Operation((A64, B64), 64, lambda a, b: a - b),
    isa.OP_MUL_LO64: Operation((A64, B64), 64, lambda a, b: a * b),
    isa.OP_AND64: Operation((A64, B64), 64, lambda a, b: a & b),
    isa.OP_OR64: Operation((A64, B64), 64, lambda a, b: a | b),
    isa.OP_XOR64: Operation((A64, B64), 64, lambda a, b: a ^ b),
    isa.OP_NOT64: Operation((A64,), 64, lambda a: ~a),
    isa.OP_SHL64: Operation((A64, B32), 64, lambda a, b: shift_left(a, b, 64)),
    isa.OP_SHR_U64: Operation((A64, B32), 64, lambda a, b: a >> b),
    isa.OP_SHR_S64: Operation((A64, B32), 64, lambda a, b: S(a, 64) >> b),
    isa.OP_NEG64: Operation((A64,), 64, lambda a: -a),
    isa.OP_MUL_WIDE_U32: Operation((A32, B32), 64, lambda a, b: a * b),
    isa.OP_MUL_WIDE_S32: Operation((A32, B32), 64, lambda a, b: S(a, 32) * S(b, 32)),
    isa.OP_MAD_WIDE_U32: Operation((A32, B32, C64), 64, lambda a, b, c: a * b + c),
    isa.OP_MAD_WIDE_S32: Operation((A32, B32, C64), 64, lambda a, b, c: S(a, 32) * S(b, 32) + c),
    isa.OP_SELP32: Operation((A32, B32), 32, lambda p, a, b: a if p else b, psrc=1),
    isa.OP_SELP64: Operation((A64, B64), 64, lambda p, a, b: a if p else b, psrc=1),
    isa.OP_ZEXT8: Operation((A32,), 32, lambda a: a & 255),
    isa.OP_SEXT8: Operation((A32,), 32, lambda a: S(a, 8)),
    isa.OP_ZEXT16: Operation((A32,), 32, lambda a: a & M16),
    isa.OP_SEXT16: Operation((A32,), 32, lambda a: S(a, 16)),
    isa.OP_ZEXT64: Operation((A32,), 64, lambda a: a),
    isa.OP_SEXT64: Operation((A32,), 64, lambda a: S(a, 32)),
    isa.OP_CVT_F32_S32: Operation((A32,), 32, lambda a: floats.from_integer(F32, S(a, 32))),
    isa.OP_CVT_F32_U32: Operation((A32,), 32, lambda a: floats.from_integer(F32, a)),
    isa.OP_CVT_S32_F32: Operation((A32,), 32, lambda a: float_to_int(F32, a, 32, True, floats.RZ)),
    isa.OP_CVT_U32_F32: Operation((A32,), 32, lambda a: float_to_int(F32, a, 32, False, floats.RZ)),
    isa.OP_CVT_F64_F32: Operation((A32,), 64, floats.f32_to_f64),
    isa.OP_CVT_F32_F64: Operation((A64,), 32, lambda a: floats.to_format(F64, F32, a)),
    isa.OP_CVT_F64_S32: Operation((A32,), 64, lambda a: floats.from_integer(F64, S(a, 32))),
    isa.OP_CVT_F64_U32: Operation((A32,), 64, lambda a: floats.from_integer(F64, a)),
    isa.OP_COPYSIGN32: Operation((A32, B32), 32, lambda a, b: (a & F32.sign) | (b & ~F32.sign)),
    isa.OP_COPYSIGN64: Operation((A64, B64), 64, lambda a, b: (a & F64.sign) | (b & ~F64.sign)),
    isa.OP_PACK16: Operation((A32, B32), 32, lambda a, b: (a & M16) | (b & M16) << 16),
    isa.OP_PACK16X4: Operation((A32, B32, C32, (5, 32)), 64, lambda a, b, c, d: sum(
        (x & M16) << (16 * k) for k, x in enumerate((a, b, c, d)))),
    isa.OP_PACK8X4: Operation((A32, B32, C32, (5, 32)), 32, lambda a, b, c, d: sum(
        (x & 255) << (8 * k) for k, x in enumerate((a, b, c, d)))),
}


# --- integer operations by type -------------------------------------------------------------------------------------

def clamp(value: int, bits: int, is_signed: bool) -> int:
    """Clamp a number to the range of an integer type."""
    low = -(1 << (bits - 1)) if is_signed else 0
    return max(low, min(value, low + (1 << bits) - 1))


def divide(a: int, b: int, bits: int) -> int:
    """Return the quotient towards zero; all ones for a division by zero."""
    if b == 0:
        return (1 << bits) - 1
    quotient = abs(a) // abs(b)
    return -quotient if (a < 0) != (b < 0) else quotient


def remainder(a: int, b: int) -> int:
    """Return the remainder, with the sign of a; all ones for a division by zero."""
    if b == 0:
        return -1
    rest = abs(a) % abs(b)
    return -rest if a < 0 else rest


def extract(a: int, position: int, length: int, bits: int, is_signed: bool) -> int:
    """bfe, as in the PTX manual's pseudo-code."""
    position, length, msb = position & 255, length & 255, bits - 1
    sign = 0 if not is_signed or length == 0 else (a >> min(position + length - 1, msb)) & 1
    result = 0
    for k in range(bits):
        bit = (a >> (position + k)) & 1 if k < length and position + k <= msb else sign
        result |= bit << k
    return result


def insert(a: int, b: int, position: int, length: int, bits: int) -> int:
    """bfi, as in the PTX manual's pseudo-code."""
    position, length, result = position & 255, length & 255, b
    for k in range(length):
        if position + k < bits:
            at = 1 << (position + k)
            result = result | at if (a >> k) & 1 else result & ~at
    return result


def find_leading(a: int, bits: int, is_signed: bool, as_shift: bool) -> int:
    """bfind: the position of the highest bit that differs from the sign; all ones if there is none."""
    if is_signed and a < 0:
        a = ~a
    if a == 0:
        return M32
    place = a.bit_length() - 1
    return bits - 1 - place if as_shift else place


def find_nth(mask: int, base: int, offset: int) -> int:
    """fns: the position of the n-th set bit from `base` on, counting up or down; all ones if there is none."""
    if base > 31:
        return M32
    if offset == 0:
        return base if (mask >> base) & 1 else M32
    step, places = (1, range(base, 32)) if offset > 0 else (-1, range(base, -1, -1))
    found = [place for place in places if (mask >> place) & 1]
    count = offset * step
    return found[count - 1] if count <= len(found) else M32


def bit_mask(a: int, b: int, wrap: bool) -> int:
    """bmsk: b ones from bit a on."""
    if wrap:
        a, b = a & 31, b & 31
    return ((1 << b) - 1) << a if a < 32 else 0


def extend_low(a: int, width: int, is_signed: bool, wrap: bool) -> int:
    """szext: the low `width` bits of a, extended to 32."""
    width = width & 31 if wrap else min(width, 32)
    if width == 0:
        return 0
    return signed(a, width) if is_signed else a & ((1 << width) - 1)


def integer(inst: Any) -> Operation:
    """OP_INT: the operation in the low byte of aux, the type above."""
    sub, (bits, is_signed) = int(inst["aux"]) & 255, type_of(int(inst["aux"]) >> 8)
    n, slot = reader(bits, is_signed), max(bits, 32)
    a, b, c = (0, slot), (2, slot), (4, slot)
    is_sat = bool(int(inst["flags"]) & isa.FLAG_SAT)

    def fit(x: int) -> int:
        return clamp(x, bits, is_signed) if is_sat else x

    def low24(x: int) -> int:
        return signed(x, 24) if is_signed else x & 0xFFFFFF

    wide = (4, max(2 * bits, 32))
    table: dict[int, Operation] = {
        isa.INT_ADD: Operation((a, b), bits, lambda x, y: fit(n(x) + n(y))),
        isa.INT_SUB: Operation((a, b), bits, lambda x, y: fit(n(x) - n(y))),
        isa.INT_MUL_LO: Operation((a, b), bits, lambda x, y: n(x) * n(y)),
        isa.INT_MUL_HI: Operation((a, b), bits, lambda x, y: n(x) * n(y) >> bits),
        isa.INT_MUL_WIDE: Operation((a, b), 2 * bits, lambda x, y: n(x) * n(y)),
        isa.INT_MAD_LO: Operation((a, b, c), bits, lambda x, y, z: n(x) * n(y) + n(z)),
        isa.INT_MAD_HI: Operation((a, b, c), bits, lambda x, y, z: fit((n(x) * n(y) >> bits) + n(z))),
        isa.INT_MAD_WIDE: Operation((a, b, wide), 2 * bits, lambda x, y, z: n(x) * n(y) + z),
        isa.INT_MUL24_LO: Operation((a, b), bits, lambda x, y: low24(x) * low24(y)),
        isa.INT_MUL24_HI: Operation((a, b), bits, lambda x, y: low24(x) * low24(y) >> 16),
        isa.INT_MAD24_LO: Operation((a, b, c), bits, lambda x, y, z: low24(x) * low24(y) + n(z)),
        isa.INT_MAD24_HI: Operation((a, b, c), bits, lambda x, y, z: fit((low24(x) * low24(y) >> 16) + n(z))),
        isa.INT_DIV: Operation((a, b), bits, lambda x, y: divide(n(x), n(y), bits)),
        isa.INT_REM: Operation((a, b), bits, lambda x, y: remainder(n(x), n(y))),
        isa.INT_ABS: Operation((a,), bits, lambda x: abs(n(x))),
        isa.INT_NEG: Operation((a,), bits, lambda x: -n(x)),
        isa.INT_MIN: Operation((a, b), bits, lambda x, y: min(n(x), n(y))),
        isa.INT_MAX: Operation((a, b), bits, lambda x, y: max(n(x), n(y))),
        isa.INT_SAD: Operation((a, b, c), bits, lambda x, y, z: n(z) + abs(n(x) - n(y))),
        isa.INT_NOT: Operation((a,), bits, lambda x: ~x),
        isa.INT_CNOT: Operation((a,), bits, lambda x: int(n(x) == 0)),
        isa.INT_SHL: Operation((a, B32), bits, lambda x, y: shift_left(x, y, bits)),
        isa.INT_SHR: Operation((a, B32), bits, lambda x, y: n(x) >> y),
        isa.INT_BFE: Operation((a, B32, C32), bits, lambda x, y, z: extract(x, y, z, bits, is_signed)),
        isa.INT_BFI: Operation((a, b, C32, (5, 32)), bits, lambda x, y, z, w: insert(x, y, z, w, bits)),
        isa.INT_BFIND: Operation((a,), 32, lambda x: find_leading(n(x), bits, is_signed, False)),
        isa.INT_BFIND_SHIFT: Operation((a,), 32, lambda x: find_leading(n(x), bits, is_signed, True)),
        isa.INT_BREV: Operation((a,), bits, lambda x: int(f"{x:0{bits}b}"[::-1], 2)),
        isa.INT_CLZ: Operation((a,), 32, lambda x: bits - x.bit_length()),
        isa.INT_POPC: Operation((a,), 32, lambda x: x.bit_count()),
        isa.INT_FNS: Operation((A32, B32, C32), 32, lambda x, y, z: find_nth(x, y, signed(z, 32))),
        isa.INT_BMSK_CLAMP: Operation((A32, B32), 32, lambda x, y: bit_mask(x, min(y, 32), False)),
        isa.INT_BMSK_WRAP: Operation((A32, B32), 32, lambda x, y: bit_mask(x, y, True)),
        isa.INT_SZEXT_CLAMP: Operation((A32, B32), 32, lambda x, y: extend_low(x, y, is_signed, False)),
        isa.INT_SZEXT_WRAP: Operation((A32, B32), 32, lambda x, y: extend_low(x, y, is_signed, True)),
    }
    return table[sub]


def carry(inst: Any) -> Operation:
    """OP_CARRY: the function returns (value, carry out); the carry in is the predicate source; a borrow is no carry."""
    sub, (bits, is_signed) = int(inst["aux"]) & 255, type_of(int(inst["aux"]) >> 8)
    reads = bool(int(inst["flags"]) & isa.FLAG_CC_IN)
    n, mask = reader(bits, is_signed), (1 << bits) - 1

    def run(*values: int) -> tuple[int, int]:
        carried = values[0] if reads else 0
        a, b, *rest = values[1:] if reads else values
        if sub == isa.CARRY_SUB:
            total = a - b - (1 - carried if reads else 0)
            return total & mask, int(total >= 0)
        if sub == isa.CARRY_ADD:
            total = a + b + carried
        else:
            product = n(a) * n(b)
            half = product >> bits if sub == isa.CARRY_MAD_HI else product
            total = (half & mask) + rest[0] + carried
        return total & mask, total >> bits

    count = 2 if sub in (isa.CARRY_ADD, isa.CARRY_SUB) else 3
    return Operation(tuple((2 * k, bits) for k in range(count)), bits, run, int(reads))


def funnel_shift(mode: int) -> Operation:
    """shf: 32 bits of the shifted b:a, its upper half for a left shift, its lower half for a right shift."""
    wraps = mode in (isa.SHF_L_WRAP, isa.SHF_R_WRAP)

    def run(a: int, b: int, c: int) -> int:
        n, both = c & 31 if wraps else min(c, 32), b << 32 | a
        if mode in (isa.SHF_L_CLAMP, isa.SHF_L_WRAP):
            return both << n >> 32
        return both >> n

    return Operation((A32, B32, C32), 32, run)


def permute(mode: int) -> Operation:
    """prmt: four bytes selected from b:a."""
    name = next(name for name, code in isa.PRMT_MODES.items() if code == mode)
    fixed = {
        "f4e": ((0, 1, 2, 3), (1, 2, 3, 4), (2, 3, 4, 5), (3, 4, 5, 6)),
        "b4e": ((0, 7, 6, 5), (1, 0, 7, 6), (2, 1, 0, 7), (3, 2, 1, 0)),
        "rc8": ((0,) * 4, (1,) * 4, (2,) * 4, (3,) * 4),
        "ecl": ((0, 1, 2, 3), (1, 1, 2, 3), (2, 2, 2, 3), (3, 3, 3, 3)),
        "ecr": ((0, 0, 0, 0), (0, 1, 1, 1), (0, 1, 2, 2), (0, 1, 2, 3)),
        "rc16": ((0, 1, 0, 1), (2, 3, 2, 3), (0, 1, 0, 1), (2, 3, 2, 3)),
    }

    def run(a: int, b: int, c: int) -> int:
        pool = (b << 32 | a).to_bytes(8, "little")
        if name:
            return int.from_bytes(bytes(pool[k] for k in fixed[name][c & 3]), "little")
        picked = []
        for k in range(4):
            choice = c >> (4 * k) & 15
            byte = pool[choice & 7]
            picked.append((255 if byte & 128 else 0) if choice & 8 else byte)
        return int.from_bytes(bytes(picked), "little")

    return Operation((A32, B32, C32), 32, run)


def dot(inst: Any) -> Operation:
    """dp4a and dp2a."""
    aux, pairs = int(inst["aux"]), int(inst["op"]) == isa.OP_DP2A
    left, right = reader(16 if pairs else 8, bool(aux & 1)), reader(8, bool(aux & 2))
    first = 2 if aux & 4 else 0

    def run(a: int, b: int, c: int) -> int:
        if pairs:
            return c + sum(left(a >> 16 * k) * right(b >> 8 * (k + first)) for k in range(2))
        return c + sum(left(a >> 8 * k) * right(b >> 8 * k) for k in range(4))

    return Operation((A32, B32, C32), 32, run)


# --- floating point -------------------------------------------------------------------------------------------------

def float_function(f: Format, sub: int, flags: int) -> Callable[..., int]:
    """Return the function of a float operation, with its rounding, flushing and clamping."""
    mode = (flags & isa.FLAG_ROUND_MASK) >> isa.ROUND_SHIFT
    prefer_nan = bool(flags & isa.FLAG_NAN)
    exact: dict[int, Callable[..., int]] = {
        isa.FP_ADD: lambda a, b: floats.add(f, a, b, mode),
        isa.FP_SUB: lambda a, b: floats.subtract(f, a, b, mode),
        isa.FP_MUL: lambda a, b: floats.multiply(f, a, b, mode),
        isa.FP_FMA: lambda a, b, c: floats.fma(f, a, b, c, mode),
        isa.FP_DIV: lambda a, b: floats.divide(f, a, b, mode),
        isa.FP_RCP: lambda a: floats.divide(f, f.one, a, mode),
        isa.FP_SQRT: lambda a: floats.square_root(f, a, mode),
        isa.FP_MIN: lambda a, b: floats.smallest(f, a, b, prefer_nan),
        isa.FP_MAX: lambda a, b: floats.largest(f, a, b, prefer_nan),
        isa.FP_NEG: lambda a: a ^ f.sign,
        isa.FP_ABS: lambda a: a & ~f.sign,
    }
    base = exact[sub]

    def run(*values: int) -> int:
        if flags & isa.FLAG_FTZ:
            values = tuple(floats.flush(f, x) for x in values)
        result = base(*values)
        if floats.is_nan(f, result):
            result = f.nan
        if flags & isa.FLAG_FTZ:
            result = floats.flush(f, result)
        if flags & isa.FLAG_RELU and result & f.sign and not floats.is_nan(f, result):
            result = 0
        return floats.saturate(f, result) if flags & isa.FLAG_SAT else result

    return run


_ARITY = {isa.FP_FMA: 3, isa.FP_RCP: 1, isa.FP_SQRT: 1, isa.FP_NEG: 1, isa.FP_ABS: 1}
_PLAIN = {
    isa.OP_FADD: isa.FP_ADD, isa.OP_FSUB: isa.FP_SUB, isa.OP_FMUL: isa.FP_MUL, isa.OP_FFMA: isa.FP_FMA,
    isa.OP_FNEG: isa.FP_NEG, isa.OP_FABS: isa.FP_ABS, isa.OP_FMIN: isa.FP_MIN, isa.OP_FMAX: isa.FP_MAX,
    isa.OP_FDIV: isa.FP_DIV, isa.OP_FSQRT: isa.FP_SQRT, isa.OP_FRCP: isa.FP_RCP, isa.OP_FADD_FTZ: isa.FP_ADD,
    isa.OP_FSUB_FTZ: isa.FP_SUB, isa.OP_FMUL_FTZ: isa.FP_MUL, isa.OP_FFMA_FTZ: isa.FP_FMA,
}
_PLAIN64 = {
    isa.OP_DADD: isa.FP_ADD, isa.OP_DSUB: isa.FP_SUB, isa.OP_DMUL: isa.FP_MUL, isa.OP_DFMA: isa.FP_FMA,
    isa.OP_DNEG: isa.FP_NEG, isa.OP_DABS: isa.FP_ABS, isa.OP_DDIV: isa.FP_DIV, isa.OP_DSQRT: isa.FP_SQRT,
    isa.OP_DRCP: isa.FP_RCP,
}


def floating(f: Format, sub: int, flags: int) -> Operation:
    """Return a float operation in one format."""
    slots = tuple((2 * k, max(f.bits, 32)) for k in range(_ARITY.get(sub, 2)))
    return Operation(slots, f.bits, float_function(f, sub, flags))


def half(inst: Any) -> Operation:
    """OP_HALF: f16, bf16 and their pairs."""
    sub, name = int(inst["aux"]) & 255, NAME_OF_TYPE[int(inst["aux"]) >> 8]
    f = FORMATS[name.removesuffix("x2")]
    run = float_function(f, sub, int(inst["flags"]))
    slots = tuple((2 * k, 32) for k in range(_ARITY.get(sub, 2)))
    if not name.endswith("x2"):
        return Operation(slots, 16, lambda *values: run(*(x & M16 for x in values)))
    return Operation(slots, 32, lambda *values: run(*(x & M16 for x in values)) | run(*(x >> 16 for x in values)) << 16)


def approximate(sub: int, *x: float) -> float:
    """Compute an approximate function in double precision, with IEEE's results for special values."""
    if any(math.isnan(value) for value in x):
        return math.nan
    a = x[0]
    if sub in (isa.SFU_RCP, isa.SFU_RCP64):
        return host_divide(1.0, a)
    if sub == isa.SFU_SQRT:
        return math.sqrt(a) if a >= 0 else math.nan
    if sub in (isa.SFU_RSQRT, isa.SFU_RSQRT64):
        return host_divide(1.0, math.sqrt(a) if a > 0 else a) if a >= 0 else math.nan
    if sub == isa.SFU_EX2:
        return math.inf if a > 1025 else 0.0 if a < -1080 else 2.0**a
    if sub == isa.SFU_LG2:
        return math.nan if a < 0 else -math.inf if a == 0 else a if math.isinf(a) else math.log2(a)
    if sub == isa.SFU_TANH:
        return math.tanh(a)
    if math.isinf(a):
        return math.nan
    turns = floats.to_float(F32, floats.flush(F32, floats.multiply(F32, floats.from_float(F32, a), TURN, isa.ROUND_RZ)))
    if turns == 0 and sub == isa.SFU_SIN:
        return turns
    angle = 2 * math.pi * (turns - round(turns))
    return math.sin(angle) if sub == isa.SFU_SIN else math.cos(angle)


def divide_in_steps(sub: int, ftz: bool, a: int, b: int) -> int:
    """div.approx and div.full: a times the rounded reciprocal of b, both scaled first where that would be lost."""
    def times(x: int, y: float) -> int:
        return flushed(floats.multiply(F32, flushed(x), floats.from_float(F32, y)))

    def flushed(x: int) -> int:
        return floats.flush(F32, x) if ftz else x

    magnitude = abs(floats.to_float(F32, b))
    if sub == isa.SFU_DIV_FULL and magnitude > 2.0**126:
        a, b = times(a, 0.25), times(b, 0.25)
    elif magnitude < 2.0**-126 and not ftz:
        a, b = times(a, 2.0**24), times(b, 2.0**24)
    inverse = floats.flush(F32, floats.divide(F32, floats.from_float(F32, 1.0), floats.flush(F32, b)))
    return flushed(floats.multiply(F32, flushed(a), inverse))


def host_divide(a: float, b: float) -> float:
    """Divide Python floats as IEEE does, zeros and infinities included."""
    return floats.to_float(F64, floats.divide(F64, floats.from_float(F64, a), floats.from_float(F64, b)))


def special(inst: Any) -> Operation:
    """OP_SFU: correctly rounded here, so results differ from the machine's by its documented error."""
    aux, flags = int(inst["aux"]), int(inst["flags"])
    sub, f = aux & 255, F32
    if sub in (isa.SFU_RCP64, isa.SFU_RSQRT64):
        f = F64
    elif aux & (isa.SFU_HALF | isa.SFU_HALF2):
        f = BF16 if aux & isa.SFU_BF16 else F16
    ftz = bool(flags & isa.FLAG_FTZ)

    def one(*values: int) -> int:
        if ftz:
            values = tuple(floats.flush(f, x) for x in values)
        if sub in (isa.SFU_DIV, isa.SFU_DIV_FULL):
            return divide_in_steps(sub, ftz, *values)
        result = floats.from_float(f, approximate(sub, *(floats.to_float(f, x) for x in values)))
        return floats.flush(f, result) if ftz else result

    slots: tuple[tuple[int, int], ...] = ((0, max(f.bits, 32)),)
    if sub in (isa.SFU_DIV, isa.SFU_DIV_FULL):
        slots = (A32, B32)
    if aux & isa.SFU_HALF2:
        return Operation(slots, 32, lambda x: one(x & M16) | one(x >> 16) << 16)
    if aux & isa.SFU_HALF:
        return Operation(slots, 16, lambda x: one(x & M16))
    return Operation(slots, f.bits, one)


# --- conversion -----------------------------------------------------------------------------------------------------

def float_to_int(f: Format, x: int, bits: int, is_signed: bool, mode: int) -> int:
    """Convert with clamping; NaN gives 0, or the lowest number if either side has 64 bits (PTX manual, cvt)."""
    if floats.is_nan(f, x):
        return 0 if f is not F64 and bits < 64 else 1 << (bits - 1)
    if floats.is_infinite(f, x):
        return clamp(-(1 << 70) if x & f.sign else 1 << 70, bits, is_signed)
    return clamp(floats.to_integer(f, x, mode), bits, is_signed)


def convert(inst: Any) -> Operation:
    """OP_CVT: any type to any type."""
    aux, flags = int(inst["aux"]), int(inst["flags"])
    target, source = NAME_OF_TYPE[aux & 255], NAME_OF_TYPE[aux >> 8 & 255]
    mode = (flags & isa.FLAG_ROUND_MASK) >> isa.ROUND_SHIFT
    if aux & isa.CVT_PAIR:
        f = FORMATS[target.removesuffix("x2")]

        def pair(a: int, b: int) -> int:
            high, low = (_relu(f, floats.to_format(F32, f, x, mode), flags) for x in (a, b))
            return high << 16 | low

        return Operation((A32, B32), 32, pair)
    slot = (0, 64 if source.endswith("64") else 32)
    if target in FORMATS:
        return Operation((slot,), FORMATS[target].bits, _to_float(source, FORMATS[target], flags, mode))
    bits, is_signed = int(target[1:]), target[0] == "s"
    whole = _to_whole(source, bits, is_signed, flags, mode)
    if bits >= 32:
        return Operation((slot,), bits, whole)
    result = 32 if flags & isa.FLAG_WIDE_DST else 16
    extend = reader(bits, is_signed)
    return Operation((slot,), result, lambda x: extend(whole(x)))


def _relu(f: Format, x: int, flags: int) -> int:
    """Apply .relu: negative numbers become +0."""
    return 0 if flags & isa.FLAG_RELU and x & f.sign and not floats.is_nan(f, x) else x


def _to_float(source: str, f: Format, flags: int, mode: int) -> Callable[[int], int]:
    """Return the conversion to a float format."""
    ftz = bool(flags & isa.FLAG_FTZ)
    if source not in FORMATS:
        bits, is_signed = int(source[1:]), source[0] == "s"
        n = reader(bits, is_signed)

        def from_whole(x: int) -> int:
            result = floats.from_integer(f, n(x), mode)
            return floats.saturate(f, result) if flags & isa.FLAG_SAT else result

        return from_whole
    g = FORMATS[source]

    def between(x: int) -> int:
        x &= (1 << g.bits) - 1
        if ftz and g is F32:
            x = floats.flush(g, x)
        if flags & isa.FLAG_INT_ROUND:
            x = floats.round_whole(g, x, mode)
        if (g, f) == (F32, F64):
            result = floats.f32_to_f64(x)
        else:
            result = floats.to_format(g, f, x, RN if flags & isa.FLAG_INT_ROUND else mode)
        if ftz and f is F32:
            result = floats.flush(f, result)
        result = _relu(f, result, flags)
        return floats.saturate(f, result) if flags & isa.FLAG_SAT else result

    return between


def _to_whole(source: str, bits: int, is_signed: bool, flags: int, mode: int) -> Callable[[int], int]:
    """Return the conversion to an integer type, before extension to the register."""
    if source in FORMATS:
        g = FORMATS[source]

        def from_float(x: int) -> int:
            x &= (1 << g.bits) - 1
            if flags & isa.FLAG_FTZ:
                x = floats.flush(g, x)
            return float_to_int(g, x, bits, is_signed, mode)

        return from_float
    n = reader(int(source[1:]), source[0] == "s")
    if flags & isa.FLAG_SAT:
        return lambda x: clamp(n(x), bits, is_signed)
    return n


# --- comparison -----------------------------------------------------------------------------------------------------

_ORDERED = {
    isa.CMP_EQ: (0,), isa.CMP_NE: (-1, 1), isa.CMP_LT: (-1,), isa.CMP_LE: (-1, 0), isa.CMP_GT: (1,), isa.CMP_GE: (0, 1),
    isa.CMP_NUM: (-1, 0, 1), isa.CMP_NAN: (None,), isa.CMP_EQU: (0, None), isa.CMP_NEU: (-1, 1, None),
    isa.CMP_LTU: (-1, None), isa.CMP_LEU: (-1, 0, None), isa.CMP_GTU: (1, None), isa.CMP_GEU: (0, 1, None),
}


def comparison(name: str, code: int, flags: int) -> Callable[[int, int], int]:
    """Return the comparison of two patterns of a type, as 0 or 1."""
    true = _ORDERED[code]
    if name in FORMATS:
        f = FORMATS[name]
        mask = (1 << f.bits) - 1

        def compare_floats(a: int, b: int) -> int:
            a, b = a & mask, b & mask
            if flags & isa.FLAG_FTZ:
                a, b = floats.flush(f, a), floats.flush(f, b)
            return int(floats.compare(f, a, b) in true)

        return compare_floats
    n = reader(int(name[1:]), name[0] == "s")
    return lambda a, b: int((n(a) > n(b)) - (n(a) < n(b)) in true)


def combined(flags: int) -> Callable[[int, int], int]:
    """Return how a comparison is combined with the predicate source (0 or 1 each)."""
    how = flags & isa.FLAG_BOOL_MASK
    if how == isa.FLAG_BOOL_AND:
        return lambda x, p: x & p
    if how == isa.FLAG_BOOL_OR:
        return lambda x, p: x | p
    if how == isa.FLAG_BOOL_XOR:
        return lambda x, p: x ^ p
    return lambda x, p: x


_SETP_TYPES = {
    isa.OP_SETP_S32: "s32", isa.OP_SETP_U32: "u32", isa.OP_SETP_F32: "f32", isa.OP_SETP_F32_FTZ: "f32",
    isa.OP_SETP_S64: "s64", isa.OP_SETP_U64: "u64", isa.OP_SETP_F64: "f64", isa.OP_SETP_S16: "s16",
}


def set_predicate(inst: Any) -> Operation:
    """setp: the comparison and its complement, each combined with the predicate source; for pairs of halves, one each."""
    op, aux, flags = int(inst["op"]), int(inst["aux"]), int(inst["flags"])
    psrc = int(bool(flags & isa.FLAG_BOOL_MASK))
    join = combined(flags)
    if op == isa.OP_SETP_HALF:
        name = NAME_OF_TYPE[aux >> 8]
        test = comparison(name.removesuffix("x2"), aux & 255, flags)

        def run(*values: int) -> tuple[int, int]:
            p, (a, b) = values[0] if psrc else 0, values[psrc:]
            low = test(a & M16, b & M16)
            high = test(a >> 16, b >> 16) if name.endswith("x2") else 1 - low
            return join(low, p), join(high, p)

        return Operation((A32, B32), -1, run, psrc)
    name = _SETP_TYPES[op]
    test = comparison(name, aux & 255, flags)
    bits = max(int(name[1:]), 32)

    def plain(*values: int) -> tuple[int, int]:
        p, (a, b) = values[0] if psrc else 0, values[psrc:]
        result = test(a, b)
        return join(result, p), join(1 - result, p)

    return Operation(((0, bits), (2, bits)), -1, plain, psrc)


def set_value(inst: Any) -> Operation:
    """set: all ones or 1.0 if the comparison is true, else 0."""
    aux, flags = int(inst["aux"]), int(inst["flags"])
    name, target = NAME_OF_TYPE[aux >> 8 & 255], NAME_OF_TYPE[aux >> 16]
    join, psrc = combined(flags), int(bool(flags & isa.FLAG_BOOL_MASK))
    test = comparison(name.removesuffix("x2"), aux & 255, flags)
    single = target.removesuffix("x2")
    if name.endswith("x2"):
        one = FORMATS[single].one if single in FORMATS else M16

        def pair(*values: int) -> int:
            p, (a, b) = values[0] if psrc else 0, values[psrc:]
            return sum(one << at for at in (0, 16) if join(test(a >> at & M16, b >> at & M16), p))

        return Operation((A32, B32), 32, pair, psrc)
    yes = FORMATS[single].one if single in FORMATS else M16 if single[1:] == "16" else M32
    bits = max(int(name.lstrip("bfsu")), 32)
    return Operation(((0, bits), (2, bits)), 32,
                     lambda *v: yes if join(test(*v[psrc:]), v[0] if psrc else 0) else 0, psrc)


def select_by_sign(inst: Any) -> Operation:
    """slct: a if c >= 0 (-0 included), else b."""
    aux, flags = int(inst["aux"]), int(inst["flags"])
    selector, kind = NAME_OF_TYPE[aux >> 8 & 255], NAME_OF_TYPE[aux >> 16]
    bits = int(kind[-2:])
    slots = ((0, max(bits, 32)), (2, max(bits, 32)), C32)

    def is_first(c: int) -> bool:
        if selector == "s32":
            return signed(c, 32) >= 0
        if flags & isa.FLAG_FTZ:
            c = floats.flush(F32, c)
        return floats.compare(F32, c, 0) in (0, 1)

    return Operation(slots, bits, lambda a, b, c: a if is_first(c) else b)


def number_property(inst: Any) -> Operation:
    """testp: whether a number is of a class."""
    aux = int(inst["aux"])
    f = F64 if aux & isa.TESTP_F64 else F32
    kind = next(name for name, code in isa.TESTP_KINDS.items() if code == aux & 7)

    def run(x: int) -> int:
        nan, inf = floats.is_nan(f, x), floats.is_infinite(f, x)
        small = floats.is_subnormal(f, x)
        return int({"finite": not nan and not inf, "infinite": inf, "number": not nan, "notanumber": nan,
                    "normal": not (nan or inf or small), "subnormal": small}[kind])

    return Operation(((0, f.bits),), 0, run)


def in_space(kind: int) -> Operation:
    """isspacep: whether a generic address is in the window of a space."""

    def inside(window: int) -> Callable[[int], int]:
        return lambda a: int(window <= a < window + WINDOW_BYTES)

    windows = {1: inside(SHARED_WINDOW), 2: inside(LOCAL_WINDOW), 4: inside(PARAM_WINDOW)}
    if kind in windows:
        return Operation((A64,), 0, windows[kind])
    return Operation((A64,), 0, lambda a: int(kind == 0 and not any(test(a) for test in windows.values())))


def convert_address(kind: int) -> Operation:
    """cvta: convert between offsets in a window and generic addresses."""
    step = {isa.CVTA_IDENTITY: 0, isa.CVTA_FROM_SHARED: SHARED_WINDOW, isa.CVTA_FROM_LOCAL: LOCAL_WINDOW,
            isa.CVTA_FROM_PARAM: PARAM_WINDOW, isa.CVTA_TO_SHARED: -SHARED_WINDOW, isa.CVTA_TO_LOCAL: -LOCAL_WINDOW,
            isa.CVTA_TO_PARAM: -PARAM_WINDOW}[kind]
    return Operation((A64,), 64, lambda a: a + step)


def operation(inst: Any) -> Operation | None:
    """Return a decoded instruction's operation; None for those of the interpreter (memory, control, between lanes)."""
    op, aux, flags = int(inst["op"]), int(inst["aux"]), int(inst["flags"])
    if op in SIMPLE:
        return SIMPLE[op]
    if op in _PLAIN:
        return floating(F32, _PLAIN[op], flags)
    if op in _PLAIN64:
        return floating(F64, _PLAIN64[op], flags)
    if op in _SETP_TYPES or op == isa.OP_SETP_HALF:
        return set_predicate(inst)
    builders: dict[int, Callable[[], Operation]] = {
        isa.OP_INT: lambda: integer(inst), isa.OP_CARRY: lambda: carry(inst), isa.OP_SHF: lambda: funnel_shift(aux),
        isa.OP_PRMT: lambda: permute(aux), isa.OP_DP4A: lambda: dot(inst), isa.OP_DP2A: lambda: dot(inst),
        isa.OP_FLOAT: lambda: floating(F32, aux, flags), isa.OP_DOUBLE: lambda: floating(F64, aux, flags),
        isa.OP_HALF: lambda: half(inst), isa.OP_SFU: lambda: special(inst), isa.OP_CVT: lambda: convert(inst),
        isa.OP_SET: lambda: set_value(inst), isa.OP_SLCT: lambda: select_by_sign(inst),
        isa.OP_TESTP: lambda: number_property(inst), isa.OP_ISSPACEP: lambda: in_space(aux),
        isa.OP_CVTA: lambda: convert_address(aux),
        isa.OP_LOP3: lambda: Operation((A32, B32, C32), 32, lambda a, b, c: sum(
            ((a if k & 4 else ~a) & (b if k & 2 else ~b) & (c if k & 1 else ~c) & M32) * (aux >> k & 1)
            for k in range(8))),
        isa.OP_PRED: lambda: Operation((), 0, lambda p, q: aux >> (p + 2 * q) & 1, psrc=2),
    }
    return builders[op]() if op in builders else None
