"""Instruction semantics against Python integers and exact fractions, bit for bit, for every opcode family."""

from __future__ import annotations

import inspect
import math
import re
import struct
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from rfview.engine import isa
from rfview.engine.values import execute as machine
from rfview.engine.values.execute import unpack
from rfview.engine.compile.jit import key_dtype, record, lean_entry
from rfview.engine.program import INST
from rfview.engine.ptx import forms
from rfview.engine.state import ROW

FULL = 0xFFFFFFFF
KEY = record(key_dtype())
execute = lean_entry(machine.execute)
ROUNDS = 3  # warps of random operands per form
MODES = {"rn": 0, "rz": 1, "rm": 2, "rp": 3}


class Result:
    """Destination rows and predicate masks of one executed instruction."""

    def __init__(self, rows: Any, packed: Any) -> None:
        self.u, (self.q0, self.q1) = rows.u[16:20].copy(), unpack(packed)

    def wide(self) -> list[int]:
        return [int(low) | int(high) << 32 for low, high in zip(self.u[0], self.u[1], strict=True)]

    def narrow(self) -> list[int]:
        return self.u[0].tolist()


def run(
    form: str,
    *operands: Any,
    mask: int = FULL,
    p0: int = 0,
    p1: int = 0,
    flags: int = 0,
    aux: int = 0,
    slots: tuple[int, ...] = (0, 2, 4, 5),
) -> Result:
    """Execute a form on 32-lane operands (lists of raw bit patterns)."""
    base, *modifiers = form.split(".")
    info = forms.lookup(base, tuple(modifiers))
    inst = record(INST)
    inst["op"], inst["flags"], inst["aux"] = info.op, info.flags | flags, info.aux | aux
    return run_inst(inst, info.src_types, operands, mask, p0, p1, slots)


def run_inst(
    inst: Any,
    kinds: tuple[str, ...],
    operands: Any,
    mask: int = FULL,
    p0: int = 0,
    p1: int = 0,
    slots: tuple[int, ...] = (0, 2, 4, 5),
) -> Result:
    rows = np.zeros(24, ROW).view(np.recarray)
    rows.u[:] = 0xDEADBEEF
    for kind, slot, operand in zip(kinds, slots[: len(kinds)], operands, strict=True):
        values = np.array([int(x) for x in operand], "u8")
        rows[slot].u[:] = values & np.uint64(FULL)
        if isa.TYPE_BITS[kind] == 64:
            rows[slot + 1].u[:] = values >> np.uint64(32)
    return Result(rows, execute(KEY, inst, rows, 0, 16, np.uint32(mask), np.uint32(p0), np.uint32(p1)))


# --- operands ------------------------------------------------------------------------------------------------------
def rng_for(name: str) -> np.random.RandomState:
    return np.random.RandomState(sum(name.encode()) % 1000)


SPECIAL32 = [
    0x00000000,
    0x80000000,
    0x3F800000,
    0xBF800000,
    0x7F800000,
    0xFF800000,
    0x7FC00000,
    0xFFC12345,
    0x7F800001,
    0x00000001,
    0x80000001,
    0x007FFFFF,
    0x00800000,
    0x7F7FFFFF,
    0xFF7FFFFF,
    0x4B000000,
    0x3F000000,
    0x3FC00000,
    0x34000000,
    0x33800000,
    0x4F000000,
    0xCF000000,
    0x4F800000,
    0x40490FDB,
]
SPECIAL64 = [
    0x0,
    0x8000000000000000,
    0x3FF0000000000000,
    0xBFF0000000000000,
    0x7FF0000000000000,
    0xFFF0000000000000,
    0x7FF8000000000000,
    0xFFF8000000012345,
    0x7FF0000000000001,
    1,
    0x8000000000000001,
    0x000FFFFFFFFFFFFF,
    0x0010000000000000,
    0x7FEFFFFFFFFFFFFF,
    0xFFEFFFFFFFFFFFFF,
    0x4330000000000000,
    0x3FE0000000000000,
    0x43E0000000000000,
    0xC3E0000000000000,
    0x43F0000000000000,
    0x3CA0000000000000,
    0x3690000000000000,
    0x47EFFFFFF0000000,
    0x36A8000000000000,
]
SPECIAL16 = [
    0x0000,
    0x8000,
    0x3C00,
    0xBC00,
    0x7C00,
    0xFC00,
    0x7E00,
    0xFE01,
    0x0001,
    0x8001,
    0x03FF,
    0x0400,
    0x7BFF,
    0xFBFF,
    0x3800,
    0x3E00,
]


def floats(rng: np.random.RandomState, bits: int) -> list[int]:
    """32 patterns: special values, close exponents and arbitrary bits."""
    special = {16: SPECIAL16, 32: SPECIAL32, 64: SPECIAL64}[bits]
    choice = rng.randint(0, 4)
    out = []
    for _ in range(32):
        kind = choice if choice < 3 else rng.randint(0, 3)
        if kind == 0:
            out.append(special[rng.randint(len(special))])
        elif kind == 1:
            x = rng.randn() * 2.0 ** rng.randint(-3, 4)
            out.append(
                {
                    16: lambda v: int(np.float16(v).view("u2")),
                    32: lambda v: int(np.float32(v).view("u4")),
                    64: lambda v: int(np.float64(v).view("u8")),
                }[bits](x)
            )
        else:
            out.append(int(rng.randint(0, 2**32)) << 32 & (2**bits - 1) | int(rng.randint(0, 2**32)) & (2**bits - 1))
    return out


def integers(rng: np.random.RandomState, bits: int) -> list[int]:
    edges = [0, 1, 2, 2**bits - 1, 2 ** (bits - 1), 2 ** (bits - 1) - 1, 2 ** (bits // 2), 255, 2**bits - 2]
    out = []
    for _ in range(32):
        pick = rng.randint(0, 4)
        if pick == 0:
            out.append(edges[rng.randint(len(edges))])
        else:
            wide = int(rng.randint(0, 2**32)) << 32 | int(rng.randint(0, 2**32))
            out.append(wide >> rng.randint(0, 64) & (2**bits - 1) if pick == 1 else wide & (2**bits - 1))
    return out


def signed(x: int, bits: int) -> int:
    x &= 2**bits - 1
    return x - 2**bits if x >> (bits - 1) else x


# --- exact float model ---------------------------------------------------------------------------------------------
FORMATS = {
    "f16": (11, -14, 15, 16),
    "bf16": (8, -126, 127, 16),
    "f32": (24, -126, 127, 32),
    "f64": (53, -1022, 1023, 64),
}


def decode(pattern: int, kind: str) -> Fraction | str | None:
    """Return the exact value; "inf" or "-inf"; None for NaN. Zeros lose their sign: use sign_of."""
    digits, least, _, bits = FORMATS[kind]
    field = pattern >> (digits - 1) & (2 ** (bits - digits) - 1)
    low = pattern & (2 ** (digits - 1) - 1)
    negative = pattern >> (bits - 1) & 1
    if field == 2 ** (bits - digits) - 1:
        return None if low else ("-inf" if negative else "inf")
    value = Fraction(low + (2 ** (digits - 1) if field else 0)) * Fraction(2) ** (max(field, 1) + least - digits)
    return -value if negative else value


def sign_of(pattern: int, kind: str) -> int:
    return pattern >> (FORMATS[kind][3] - 1) & 1


def encode(value: Fraction, kind: str, mode: int = 0, zero_sign: int = 0) -> int:
    """Round an exact value once."""
    digits, least, most, bits = FORMATS[kind]
    top = 1 << (bits - 1)
    if value == 0:
        return top * zero_sign
    negative = value < 0
    magnitude = -value if negative else value
    exponent = magnitude.numerator.bit_length() - magnitude.denominator.bit_length()
    if Fraction(2) ** exponent > magnitude:
        exponent -= 1
    quantum = max(exponent, least) - (digits - 1)
    scaled = magnitude / Fraction(2) ** quantum
    count = math.floor(scaled)
    rest = scaled - count
    up = {
        0: rest > Fraction(1, 2) or (rest == Fraction(1, 2) and count & 1),
        1: False,
        2: negative and rest > 0,
        3: not negative and rest > 0,
    }[mode]
    count += bool(up)
    pattern = count + ((quantum + digits - 1 - least) << (digits - 1)) if count else 0
    infinity = (2 ** (bits - digits) - 1) << (digits - 1)
    if pattern >= infinity:
        away = mode == 0 or (mode == 2 and negative) or (mode == 3 and not negative)
        pattern = infinity if away else infinity - 1
    return pattern | top * negative


NANS = {"f16": 0x7FFF, "bf16": 0x7FFF, "f32": 0x7FFFFFFF, "f64": 0xFFF8000000000000}


def infinity(kind: str, negative: int = 0) -> int:
    digits, _, _, bits = FORMATS[kind]
    return (2 ** (bits - digits) - 1) << (digits - 1) | negative << (bits - 1)


def flushed(pattern: int, kind: str) -> int:
    """Flush subnormals to zero."""
    digits, _, _, bits = FORMATS[kind]
    return pattern & 1 << (bits - 1) if not pattern >> (digits - 1) & (2 ** (bits - digits) - 1) else pattern


def model_fma(a: int, b: int, c: int, kind: str, mode: int) -> int:
    """Return a * b + c, rounded once."""
    x, y, z = decode(a, kind), decode(b, kind), decode(c, kind)
    if x is None or y is None or z is None:
        return NANS[kind]
    sign = sign_of(a, kind) ^ sign_of(b, kind)
    if isinstance(x, str) or isinstance(y, str):
        if x == 0 or y == 0 or (isinstance(z, str) and sign_of(c, kind) != sign):
            return NANS[kind]
        return infinity(kind, sign)
    if isinstance(z, str):
        return c
    total = x * y + z
    zero = sign if x * y == 0 and z == 0 and sign == sign_of(c, kind) else int(mode == 2)
    return encode(total, kind, mode, zero)


def model_mul(a: int, b: int, kind: str, mode: int) -> int:
    sign = sign_of(a, kind) ^ sign_of(b, kind)
    return model_fma(a, b, sign << (FORMATS[kind][3] - 1), kind, mode)


def model_add(a: int, b: int, kind: str, mode: int) -> int:
    return model_fma(a, encode(Fraction(1), kind), b, kind, mode)


def negate(pattern: int, kind: str) -> int:
    return pattern ^ 1 << (FORMATS[kind][3] - 1)


def model_div(a: int, b: int, kind: str, mode: int) -> int:
    x, y, sign = decode(a, kind), decode(b, kind), sign_of(a, kind) ^ sign_of(b, kind)
    if x is None or y is None or (isinstance(x, str) and isinstance(y, str)) or (x == 0 and y == 0):
        return NANS[kind]
    if isinstance(x, str) or y == 0:
        return infinity(kind, sign)
    if isinstance(y, str):
        return sign << (FORMATS[kind][3] - 1)
    return encode(x / y, kind, mode, sign)


def model_sqrt(a: int, kind: str, mode: int) -> int:
    x = decode(a, kind)
    if x is None or x == "-inf" or (not isinstance(x, str) and x < 0):
        return NANS[kind]
    if isinstance(x, str) or x == 0:
        return a
    shift = 400 if kind != "f64" else 2400
    root = Fraction(math.isqrt(int(x * 4**shift)), 2**shift)
    if root * root != x:
        root += Fraction(1, 2 ** (shift + 10))
    return encode(root, kind, mode)


def model_choose(a: int, b: int, kind: str, smallest: bool, want_nan: bool) -> int:
    x, y = decode(a, kind), decode(b, kind)
    if x is None or y is None:
        if want_nan or (x is None and y is None):
            return NANS[kind]
        return b if x is None else a
    order = [
        (math.inf if v == "inf" else -math.inf if v == "-inf" else v, -sign_of(p, kind), p) for v, p in ((x, a), (y, b))
    ]
    return (min if smallest else max)(order, key=lambda item: item[:2])[2]


def saturated(pattern: int, kind: str) -> int:
    value = decode(pattern, kind)
    if value is None or value == "-inf" or (not isinstance(value, str) and value <= 0):
        return 0
    one = encode(Fraction(1), kind)
    return one if isinstance(value, str) or value >= 1 else pattern


def float_model(name: str, kind: str, mode: int, smallest_nan: bool) -> Callable[..., int]:
    return {
        "add": lambda a, b: model_add(a, b, kind, mode),
        "sub": lambda a, b: model_add(a, negate(b, kind), kind, mode),
        "mul": lambda a, b: model_mul(a, b, kind, mode),
        "fma": lambda a, b, c: model_fma(a, b, c, kind, mode),
        "mad": lambda a, b, c: model_fma(a, b, c, kind, mode),
        "div": lambda a, b: model_div(a, b, kind, mode),
        "rcp": lambda a: model_div(encode(Fraction(1), kind), a, kind, mode),
        "sqrt": lambda a: model_sqrt(a, kind, mode),
        "min": lambda a, b: model_choose(a, b, kind, True, smallest_nan),
        "max": lambda a, b: model_choose(a, b, kind, False, smallest_nan),
        "neg": lambda a: NANS[kind] if decode(a, kind) is None else negate(a, kind),
        "abs": lambda a: NANS[kind] if decode(a, kind) is None else a & ~(1 << (FORMATS[kind][3] - 1)),
    }[name]


def float_forms() -> list[str]:
    forms = []
    for name in ("add", "sub", "mul", "fma", "div", "rcp", "sqrt"):
        for mode in MODES:
            forms += [f"{name}.{mode}.f32", f"{name}.{mode}.f64", f"{name}.{mode}.ftz.f32"]
    forms += [
        "add.f32",
        "mul.ftz.f32",
        "fma.rn.sat.f32",
        "add.rz.ftz.sat.f32",
        "sub.sat.f32",
        "mul.sat.f32",
        "mad.rn.f32",
    ]
    for name in ("min", "max"):
        forms += [f"{name}.f32", f"{name}.f64", f"{name}.ftz.f32", f"{name}.NaN.f32", f"{name}.f16", f"{name}.NaN.bf16"]
    for name in ("neg", "abs"):
        forms += [f"{name}.f32", f"{name}.f64", f"{name}.ftz.f32", f"{name}.f16", f"{name}.bf16"]
    for name in ("add", "sub", "mul", "fma"):
        dot = ".rn" if name == "fma" else ""
        forms += [f"{name}{dot}.f16", f"{name}{dot}.bf16", f"{name}{dot}.ftz.f16", f"{name}{dot}.sat.f16"]
    return forms


@pytest.mark.parametrize("form", float_forms())
def test_float_arithmetic_is_exactly_rounded(form: str) -> None:
    name, *modifiers = form.split(".")
    kind = modifiers[-1]
    mode = next((MODES[m] for m in modifiers if m in MODES), 0)
    model = float_model(name, kind, mode, "NaN" in modifiers)
    count = len(forms.lookup(name, tuple(modifiers)).src_types)
    rng, bits = rng_for(form), FORMATS[kind][3]
    for _ in range(ROUNDS + 3):
        operands = [floats(rng, bits) for _ in range(count)]
        if count > 1 and rng.randint(2):
            operands[1] = [x ^ rng.randint(0, 4) ^ (rng.randint(2) << (bits - 1)) for x in operands[0]]
        got = run(form, *operands)
        values = got.wide() if bits == 64 else got.narrow()
        for lane in range(32):
            args = [operand[lane] for operand in operands]
            if "ftz" in modifiers:
                args = [flushed(x, kind) for x in args]
            want = model(*args)
            if "ftz" in modifiers:
                want = flushed(want, kind)
            if "sat" in modifiers:
                want = saturated(want, kind)
            assert values[lane] == want, (form, lane, [hex(x) for x in args], hex(values[lane]), hex(want))


@pytest.mark.parametrize("kind", ["f32", "f64", "f16", "bf16"])
@pytest.mark.parametrize("mode", MODES)
def test_fused_multiply_add_survives_cancellation(kind: str, mode: str) -> None:
    if kind in ("f16", "bf16") and mode != "rn":
        return
    rng, bits = rng_for(kind + mode), FORMATS[kind][3]
    digits = FORMATS[kind][0]
    for _ in range(ROUNDS):
        a, b, c = floats(rng, bits), floats(rng, bits), []
        for x, y in zip(a, b, strict=True):
            near = negate(model_mul(x, y, kind, 0), kind)
            pick = rng.randint(0, 4)
            c.append(
                near ^ rng.randint(0, 4)
                if pick < 2
                else max(near - (rng.randint(0, 3 * digits) << (digits - 1)), 1)
                if pick == 2
                else floats(rng, bits)[0]
            )
        form = f"fma.{mode}.{kind}"
        got = run(form, a, b, c)
        values = got.wide() if bits == 64 else got.narrow()
        for lane in range(32):
            want = model_fma(a[lane], b[lane], c[lane], kind, MODES[mode])
            assert values[lane] == want, (form, hex(a[lane]), hex(b[lane]), hex(c[lane]), hex(values[lane]), hex(want))


def test_packed_halves_work_on_both_parts() -> None:
    rng = rng_for("f16x2")
    for kind in ("f16", "bf16"):
        a, b, c = ([x | y << 16 for x, y in zip(floats(rng, 16), floats(rng, 16), strict=True)] for _ in range(3))
        got = run(f"fma.rn.{kind}x2", a, b, c).narrow()
        for lane in range(32):
            want = 0
            for shift in (0, 16):
                want |= (
                    model_fma(a[lane] >> shift & 0xFFFF, b[lane] >> shift & 0xFFFF, c[lane] >> shift & 0xFFFF, kind, 0)
                    << shift
                )
            assert got[lane] == want


# --- integers ------------------------------------------------------------------------------------------------------
def trunc_div(a: int, b: int) -> int:
    quotient = abs(a) // abs(b)
    return -quotient if (a < 0) != (b < 0) else quotient


def clamp(x: int, bits: int) -> int:
    return max(-(2 ** (bits - 1)), min(2 ** (bits - 1) - 1, x))


def model_bfe(a: int, position: int, length: int, bits: int, is_signed: bool) -> int:
    position, length, msb, out = position & 255, length & 255, bits - 1, 0
    sign = 0 if not is_signed or length == 0 else a >> min(position + length - 1, msb) & 1
    for i in range(bits):
        out |= (a >> (position + i) & 1 if i < length and position + i <= msb else sign) << i
    return out


def model_bfi(a: int, b: int, position: int, length: int, bits: int) -> int:
    position, length = position & 255, length & 255
    for i in range(length):
        if position + i < bits:
            b = b & ~(1 << (position + i)) | (a >> i & 1) << (position + i)
    return b


def model_bfind(a: int, bits: int, is_signed: bool, shift: bool) -> int:
    if is_signed and a >> (bits - 1):
        a = ~a & (2**bits - 1)
    if a == 0:
        return FULL
    return bits - a.bit_length() if shift else a.bit_length() - 1


def int_model(name: str, form: str, bits: int, is_signed: bool) -> Callable[..., int]:
    def s(x: int) -> int:
        return signed(x, bits) if is_signed else x

    def sat(x: int) -> int:
        return clamp(x, bits) if ".sat" in form else x

    high = ".hi" in form

    def mul24(a: int, b: int) -> int:
        x, y = (signed(v, 24) if is_signed else v & 0xFFFFFF for v in (a, b))
        return signed(x * y >> 16, 32) if high and is_signed else (x * y >> 16) & FULL if high else x * y

    return {
        "add": lambda a, b: sat(s(a) + s(b)),
        "sub": lambda a, b: sat(s(a) - s(b)),
        "mul": lambda a, b: s(a) * s(b) >> (bits if high else 0),
        "mad": lambda a, b, c: sat(
            (s(a) * s(b) >> (bits if high else 0))
            + (signed(c, 2 * bits) if ".wide" in form and is_signed else c if ".wide" in form else s(c))
        ),
        "mul24": mul24,
        "mad24": lambda a, b, c: sat((mul24(a, b) if high else signed(mul24(a, b), 32)) + s(c)),
        "div": lambda a, b: trunc_div(s(a), s(b)) if b else -1,
        "rem": lambda a, b: s(a) - s(b) * trunc_div(s(a), s(b)) if b else -1,
        "min": lambda a, b: min(s(a), s(b)),
        "max": lambda a, b: max(s(a), s(b)),
        "abs": lambda a: abs(s(a)),
        "neg": lambda a: -a,
        "sad": lambda a, b, c: abs(s(a) - s(b)) + c,
        "and": lambda a, b: a & b,
        "or": lambda a, b: a | b,
        "xor": lambda a, b: a ^ b,
        "not": lambda a: ~a,
        "cnot": lambda a: int(a == 0),
        "shl": lambda a, b: a << b if b < bits else 0,
        "shr": lambda a, b: s(a) >> min(b, bits),
        "mov": lambda a: a,
        "bfe": lambda a, b, c: model_bfe(a, b, c, bits, is_signed),
        "bfi": lambda a, b, c, d: model_bfi(a, b, c, d, bits),
        "bfind": lambda a: model_bfind(a, bits, is_signed, ".shiftamt" in form),
        "brev": lambda a: int(f"{a:0{bits}b}"[::-1], 2),
        "clz": lambda a: bits - a.bit_length(),
        "popc": lambda a: a.bit_count(),
    }[name]


INT_FORMS = [
    f"{name}.{kind}"
    for name in ("add", "sub", "div", "rem", "min", "max", "sad")
    for kind in ("u16", "s16", "u32", "s32", "u64", "s64")
]
INT_FORMS += [
    f"{name}.{half}.{kind}"
    for name in ("mul", "mad")
    for half in ("lo", "hi")
    for kind in ("u16", "s16", "u32", "s32", "u64", "s64")
]
INT_FORMS += [f"{name}.wide.{kind}" for name in ("mul", "mad") for kind in ("u16", "s16", "u32", "s32")]
INT_FORMS += [
    f"{name}.{half}.{kind}" for name in ("mul24", "mad24") for half in ("lo", "hi") for kind in ("u32", "s32")
]
INT_FORMS += [
    f"{name}.{kind}" for name in ("and", "or", "xor", "not", "cnot", "shl", "mov") for kind in ("b16", "b32", "b64")
]
INT_FORMS += [f"shr.{kind}" for kind in ("b16", "u16", "s16", "b32", "u32", "s32", "b64", "u64", "s64")]
INT_FORMS += [f"{name}.{kind}" for name in ("neg", "abs") for kind in ("s16", "s32", "s64")]
INT_FORMS += [f"{name}.{kind}" for name in ("bfe", "bfind", "bfind.shiftamt") for kind in ("u32", "s32", "u64", "s64")]
INT_FORMS += [f"{name}.{kind}" for name in ("bfi", "brev", "clz", "popc") for kind in ("b32", "b64")]
INT_FORMS += ["add.sat.s32", "sub.sat.s32", "mad.hi.sat.s32", "mad24.hi.sat.s32"]


@pytest.mark.parametrize("form", INT_FORMS)
def test_integer_operations(form: str) -> None:
    name, *modifiers = form.split(".")
    info = forms.lookup(name, tuple(modifiers))
    bits = isa.TYPE_BITS[modifiers[-1]]
    model = int_model(name, form, bits, modifiers[-1][0] == "s")
    rng, out_bits = rng_for(form), isa.TYPE_BITS[info.dst_type]
    for _ in range(ROUNDS):
        operands = [integers(rng, isa.TYPE_BITS[kind]) for kind in info.src_types]
        if name in ("shl", "shr"):
            operands[1] = [x if rng.randint(3) == 0 else x % 70 for x in operands[1]]
        if name in ("bfe", "bfi"):
            operands[-1] = [x if rng.randint(3) == 0 else x % 70 for x in operands[-1]]
            operands[-2] = [x if rng.randint(3) == 0 else x % 70 for x in operands[-2]]
        got = run(form, *operands)
        values = got.wide() if out_bits == 64 else got.narrow()
        for lane in range(32):
            args = [operand[lane] for operand in operands]
            want = model(*args) & (2**out_bits - 1)
            assert values[lane] == want, (form, [hex(x) for x in args], hex(values[lane]), hex(want))


@pytest.mark.parametrize("kind", ["u32", "s32", "u64"])
def test_extended_precision_chains_carry(kind: str) -> None:
    rng, bits = rng_for(kind), isa.TYPE_BITS[kind]
    top = 2**bits
    s = (lambda x: signed(x, bits)) if kind[0] == "s" else (lambda x: x)
    models = {
        "add.cc": lambda a, b, c, k: a + b,
        "addc.cc": lambda a, b, c, k: a + b + k,
        "addc": lambda a, b, c, k: a + b + k,
        "sub.cc": lambda a, b, c, k: a - b,
        "subc.cc": lambda a, b, c, k: a - b - (1 - k),
        "mad.lo.cc": lambda a, b, c, k: a * b % top + c,
        "madc.lo.cc": lambda a, b, c, k: a * b % top + c + k,
        "madc.hi.cc": lambda a, b, c, k: (s(a) * s(b) >> bits) % top + c + k,
        "madc.hi": lambda a, b, c, k: (s(a) * s(b) >> bits) % top + c + k,
    }
    for name, model in models.items():
        form = f"{name}.{kind}"
        base, *modifiers = form.split(".")
        info = forms.lookup(base, tuple(modifiers))
        for _ in range(ROUNDS):
            a, b, c = (integers(rng, bits) for _ in range(3))
            carry = int(rng.randint(0, 2**32))
            got = run(form, *(a, b, c)[: len(info.src_types)], p0=carry)
            values = got.wide() if bits == 64 else got.narrow()
            for lane in range(32):
                want = model(a[lane], b[lane], c[lane], carry >> lane & 1)
                assert values[lane] == want % top, form
                if info.num_pdst:
                    assert got.q0 >> lane & 1 == int(want >= 0 if name[:3] == "sub" else want >= top), form


def test_byte_permute_funnel_shift_logic_and_dot_products() -> None:
    rng = rng_for("misc")
    a, b, c = (integers(rng, 32) for _ in range(3))
    pool = [list((x | y << 32).to_bytes(8, "little")) for x, y in zip(a, b, strict=True)]
    tables = {
        "f4e": lambda k: [k, k + 1, k + 2, k + 3],
        "b4e": lambda k: [k % 8, (k + 7) % 8, (k + 6) % 8, (k + 5) % 8],
        "rc8": lambda k: [k] * 4,
        "ecl": lambda k: [max(k, i) for i in range(4)],
        "ecr": lambda k: [min(k, i) for i in range(4)],
        "rc16": lambda k: [0, 1, 0, 1] if k % 2 == 0 else [2, 3, 2, 3],
    }
    generic = run("prmt.b32", a, b, c).narrow()
    for lane in range(32):
        want = 0
        for i in range(4):
            pick = c[lane] >> 4 * i & 15
            byte = pool[lane][pick & 7]
            want |= (255 * (byte >> 7) if pick & 8 else byte) << 8 * i
        assert generic[lane] == want
    for mode, table in tables.items():
        got = run(f"prmt.b32.{mode}", a, b, c).narrow()
        for lane in range(32):
            assert got[lane] == sum(pool[lane][k] << 8 * i for i, k in enumerate(table(c[lane] & 3))), mode
    amounts = [x % 40 for x in c]
    for direction in "lr":
        for wrap in ("wrap", "clamp"):
            got = run(f"shf.{direction}.{wrap}.b32", a, b, amounts).narrow()
            for lane in range(32):
                n = amounts[lane] % 32 if wrap == "wrap" else min(amounts[lane], 32)
                both = b[lane] << 32 | a[lane]
                assert got[lane] == ((both << n >> 32) if direction == "l" else both >> n) & FULL
    for lut in (0x80, 0xFE, 0x96, 0xCA, 0x1D, 0, 0xFF):
        got = run("lop3.b32", a, b, c, aux=lut).narrow()
        for lane in range(32):
            want = sum(
                (lut >> ((a[lane] >> i & 1) * 4 + (b[lane] >> i & 1) * 2 + (c[lane] >> i & 1)) & 1) << i
                for i in range(32)
            )
            assert got[lane] == want
    for ka in "us":
        for kb in "us":
            got = run(f"dp4a.{ka}32.{kb}32", a, b, c).narrow()
            low = run(f"dp2a.lo.{ka}32.{kb}32", a, b, c).narrow()
            high = run(f"dp2a.hi.{ka}32.{kb}32", a, b, c).narrow()
            for lane in range(32):

                def part(x: int, i: int, bits: int, kind: str) -> int:
                    field = x >> bits * i & (2**bits - 1)
                    return signed(field, bits) if kind == "s" else field

                x, y = a[lane], b[lane]
                assert got[lane] == (c[lane] + sum(part(x, i, 8, ka) * part(y, i, 8, kb) for i in range(4))) & FULL
                assert low[lane] == (c[lane] + sum(part(x, i, 16, ka) * part(y, i, 8, kb) for i in range(2))) & FULL
                assert (
                    high[lane] == (c[lane] + sum(part(x, i, 16, ka) * part(y, i + 2, 8, kb) for i in range(2))) & FULL
                )


def test_rare_bit_operations() -> None:
    rng = rng_for("fns")
    a, base = integers(rng, 32), [int(x) for x in rng.randint(0, 32, 32)]
    offsets = [int(x) & FULL for x in rng.randint(-4, 5, 32)]
    got = run("fns.b32", a, base, offsets).narrow()
    for lane in range(32):
        n, step = signed(offsets[lane], 32), 1
        want = FULL
        if n == 0:
            want = base[lane] if a[lane] >> base[lane] & 1 else FULL
        else:
            step = 1 if n > 0 else -1
            hits = [p for p in range(base[lane], 32 if n > 0 else -1, step) if a[lane] >> p & 1]
            want = hits[abs(n) - 1] if len(hits) >= abs(n) else FULL
        assert got[lane] == want
    start, length = [int(x) for x in rng.randint(0, 40, 32)], [int(x) for x in rng.randint(0, 40, 32)]
    got = run("bmsk.clamp.b32", start, length).narrow()
    wrapped = run("szext.wrap.s32", a, length).narrow()
    for lane in range(32):
        assert got[lane] == (((1 << length[lane]) - 1) << start[lane]) & FULL
        width = length[lane] & 31
        assert wrapped[lane] == (signed(a[lane], width) & FULL if width else 0)


# --- comparisons, selection, predicates ----------------------------------------------------------------------------
COMPARE = {
    "eq": lambda o: o == 0,
    "ne": lambda o: o in (-1, 1),
    "lt": lambda o: o == -1,
    "le": lambda o: o in (-1, 0),
    "gt": lambda o: o == 1,
    "ge": lambda o: o in (0, 1),
    "equ": lambda o: o in (0, None),
    "neu": lambda o: o != 0,
    "ltu": lambda o: o in (-1, None),
    "leu": lambda o: o in (-1, 0, None),
    "gtu": lambda o: o in (1, None),
    "geu": lambda o: o in (0, 1, None),
    "num": lambda o: o is not None,
    "nan": lambda o: o is None,
}


def order(a: int, b: int, kind: str) -> int | None:
    if kind in FORMATS:
        x, y = (
            {"inf": math.inf, "-inf": -math.inf}.get(v, v) if isinstance(v, str) else v
            for v in (decode(a, kind), decode(b, kind))
        )
        if x is None or y is None:
            return None
    else:
        bits = isa.TYPE_BITS[kind]
        x, y = (signed(a, bits), signed(b, bits)) if kind[0] == "s" else (a, b)
    return (x > y) - (x < y)


@pytest.mark.parametrize(
    "kind", ["s16", "u16", "b16", "s32", "u32", "b32", "s64", "u64", "b64", "f32", "f64", "f16", "bf16"]
)
def test_comparisons(kind: str) -> None:
    rng, bits = rng_for(kind), isa.TYPE_BITS[kind]
    names = (
        list(COMPARE) if kind in FORMATS else ["eq", "ne"] if kind[0] == "b" else ["eq", "ne", "lt", "le", "gt", "ge"]
    )
    for name in names:
        make = floats if kind in FORMATS else integers
        a = make(rng, bits)
        b = [x if rng.randint(3) == 0 else y for x, y in zip(a, make(rng, bits), strict=True)]
        want = sum(COMPARE[name](order(x, y, kind)) << lane for lane, (x, y) in enumerate(zip(a, b, strict=True)))
        other = int(rng.randint(0, 2**32))
        got = run(f"setp.{name}.{kind}", a, b)
        assert (got.q0, got.q1) == (want, ~want & FULL), name
        for boolean, model in (("and", lambda p: p & other), ("or", lambda p: p | other), ("xor", lambda p: p ^ other)):
            got = run(f"setp.{name}.{boolean}.{kind}", a, b, p0=other)
            assert (got.q0, got.q1) == (model(want), model(~want & FULL))
        if kind in ("f16", "bf16"):
            continue
        assert run(f"set.{name}.u32.{kind}", a, b).narrow() == [FULL * (want >> lane & 1) for lane in range(32)]
        assert run(f"set.{name}.and.f32.{kind}", a, b, p0=other).narrow() == [
            0x3F800000 * ((want & other) >> lane & 1) for lane in range(32)
        ]


def test_flushed_and_packed_comparisons() -> None:
    tiny, zero = [1] * 32, [0x80000000] * 32
    assert run("setp.eq.ftz.f32", tiny, zero).q0 == FULL and run("setp.eq.f32", tiny, zero).q0 == 0
    a, b = [0x3C004000] * 32, [0x40003C00] * 32
    got = run("setp.lt.f16x2", a, b)
    assert (got.q0, got.q1) == (0, FULL)


def test_selection_and_predicate_logic() -> None:
    rng = rng_for("sel")
    p, q = int(rng.randint(0, 2**32)), int(rng.randint(0, 2**32))
    a, b = integers(rng, 64), integers(rng, 64)
    assert run("selp.b64", a, b, p0=p).wide() == [
        x if p >> k & 1 else y for k, (x, y) in enumerate(zip(a, b, strict=True))
    ]
    a32, b32 = integers(rng, 32), integers(rng, 32)
    assert run("selp.f32", a32, b32, p0=p).narrow() == [
        x if p >> k & 1 else y for k, (x, y) in enumerate(zip(a32, b32, strict=True))
    ]
    c = floats(rng, 32)
    for form, test in (
        ("slct.b32.s32", lambda x: signed(x, 32) >= 0),
        ("slct.b32.f32", lambda x: decode(x, "f32") is not None and order(x, 0, "f32") >= 0),
    ):
        assert run(form, a32, b32, c).narrow() == [x if test(z) else y for x, y, z in zip(a32, b32, c, strict=True)]
    assert run("slct.f64.s32", a, b, c).wide() == [
        x if signed(z, 32) >= 0 else y for x, y, z in zip(a, b, c, strict=True)
    ]
    for form, want in (
        ("and.pred", p & q),
        ("or.pred", p | q),
        ("xor.pred", p ^ q),
        ("not.pred", ~p & FULL),
        ("mov.pred", p),
    ):
        assert run(form, p0=p, p1=q).q0 == want


# --- conversions ---------------------------------------------------------------------------------------------------
def exists(form: str) -> bool:
    """Return whether PTX has a form: not every conversion may round or saturate."""
    base, *modifiers = form.split(".")
    try:
        forms.lookup(base, tuple(modifiers))
    except forms.UnsupportedOpcode:
        return False
    return True


INT_KINDS = ["u8", "s8", "u16", "s16", "u32", "s32", "u64", "s64"]


def register(value: int, kind: str) -> int:
    bits = isa.TYPE_BITS[kind]
    return (signed(value, bits) if kind[0] == "s" else value & (2**bits - 1)) & (0xFFFF if bits < 32 else 2**bits - 1)


@pytest.mark.parametrize("dst", INT_KINDS)
def test_integer_conversions(dst: str) -> None:
    rng = rng_for(dst)
    for src in INT_KINDS:
        values = integers(rng, isa.TYPE_BITS[src])
        numbers = [signed(x, isa.TYPE_BITS[src]) if src[0] == "s" else x for x in values]
        bits = isa.TYPE_BITS[dst]
        low, high = (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) if dst[0] == "s" else (0, 2**bits - 1)
        for form, model in (
            (f"cvt.{dst}.{src}", lambda x: x),
            (f"cvt.sat.{dst}.{src}", lambda x: max(low, min(high, x))),
        ):
            if not exists(form):
                continue
            got = run(form, values)
            out = got.wide() if bits == 64 else got.narrow()
            assert out == [register(model(x), dst) for x in numbers], form
    if dst in ("s32", "s64"):       # nothing to saturate
        return
    wide = run(f"cvt.sat.{'s8' if dst == 'u8' else dst}.s32", [0xFFFFFF85] * 32, flags=isa.FLAG_WIDE_DST).narrow()[0]
    assert wide == {"u8": 0xFFFFFF85, "s8": 0xFFFFFF85, "s16": 0xFFFFFF85}.get(dst, 0)


@pytest.mark.parametrize("src", ["f16", "bf16", "f32", "f64"])
def test_float_to_integer_rounds_and_saturates(src: str) -> None:
    rng, bits = rng_for(src), FORMATS[src][3]
    for dst in [kind for kind in INT_KINDS if src != "bf16" or kind[1:] != "8"]:
        out = isa.TYPE_BITS[dst]
        low, high = (-(2 ** (out - 1)), 2 ** (out - 1) - 1) if dst[0] == "s" else (0, 2**out - 1)
        for mode, to_whole in (("rni", round), ("rzi", math.trunc), ("rmi", math.floor), ("rpi", math.ceil)):
            values = floats(rng, bits)[:20] + [
                encode(Fraction(int(rng.randint(-1000, 1000)), 2), src) for _ in range(12)
            ]
            got = run(f"cvt.{mode}.{dst}.{src}", values)
            results = got.wide() if out == 64 else got.narrow()
            for lane in range(32):
                x = decode(values[lane], src)
                odd = 1 << (out - 1) if src == "f64" or out == 64 else 0  # NaN, as the PTX manual's table says
                want = (
                    odd
                    if x is None
                    else high
                    if x == "inf"
                    else low
                    if x == "-inf"
                    else max(low, min(high, to_whole(x)))
                )
                assert results[lane] == register(want, dst), (mode, dst, src, hex(values[lane]))


@pytest.mark.parametrize("dst", ["f16", "bf16", "f32", "f64"])
def test_integer_to_float_is_rounded_once(dst: str) -> None:
    rng = rng_for(dst)
    for src in [kind for kind in INT_KINDS if dst != "bf16" or kind[1:] != "8"]:
        for mode, code in MODES.items():
            values = integers(rng, isa.TYPE_BITS[src])
            got = run(f"cvt.{mode}.{dst}.{src}", values)
            results = got.wide() if dst == "f64" else got.narrow()
            for lane in range(32):
                number = signed(values[lane], isa.TYPE_BITS[src]) if src[0] == "s" else values[lane]
                assert results[lane] == encode(Fraction(number), dst, code), (mode, dst, src, hex(values[lane]))


@pytest.mark.parametrize("src", ["f16", "bf16", "f32", "f64"])
@pytest.mark.parametrize("dst", ["f16", "bf16", "f32", "f64"])
def test_float_to_float(dst: str, src: str) -> None:
    rng, bits = rng_for(dst + src), FORMATS[src][3]

    def to(x: Fraction | str | None, mode: int, negative: int) -> int:
        if x is None:
            return NANS[dst]
        return infinity(dst, negative) if isinstance(x, str) else encode(x, dst, mode, negative)

    for mode, code in MODES.items():
        for suffix in ("", ".sat"):
            if not exists(f"cvt.{mode}{suffix}.{dst}.{src}"):
                continue
            values = floats(rng, bits)
            got = run(f"cvt.{mode}{suffix}.{dst}.{src}", values)
            results = got.wide() if dst == "f64" else got.narrow()
            for lane in range(32):
                want = to(decode(values[lane], src), code, sign_of(values[lane], src))
                want = saturated(want, dst) if suffix else want
                assert results[lane] == want, (mode, suffix, dst, src, hex(values[lane]))
    for mode, to_whole in (("rni", round), ("rzi", math.trunc), ("rmi", math.floor), ("rpi", math.ceil)):
        if dst != src:  # PTX rounds to an integral value only if the size does not change
            with pytest.raises(forms.UnsupportedOpcode):
                forms.lookup("cvt", (mode, dst, src))
            continue
        values = floats(rng, bits)
        got = run(f"cvt.{mode}.{dst}.{src}", values)
        results = got.wide() if dst == "f64" else got.narrow()
        for lane in range(32):
            x = decode(values[lane], src)
            whole = x if x is None or isinstance(x, str) else Fraction(to_whole(x))
            if whole is not None and not isinstance(whole, str) and abs(whole) > 2**1020:
                continue
            if (
                dst == src
                or whole is None
                or isinstance(whole, str)
                or encode(whole, dst) == encode(whole, dst, {"rni": 0, "rzi": 1, "rmi": 2, "rpi": 3}[mode])
            ):
                assert results[lane] == to(whole, 0, sign_of(values[lane], src)), (mode, dst, src, hex(values[lane]))


def test_flushing_pairs_and_fast_conversions() -> None:
    assert run("cvt.ftz.f32.f32", [0x80000001] * 32).narrow()[0] == 0x80000000
    assert run("cvt.rn.ftz.f32.f64", [0x3690000000000000] * 32).narrow()[0] == 0
    assert run("cvt.rpi.ftz.s32.f32", [1] * 32).narrow()[0] == 0
    assert run("cvt.rpi.s32.f32", [1] * 32).narrow()[0] == 1
    rng = rng_for("pair")
    a, b = floats(rng, 32), floats(rng, 32)
    got = run("cvt.rn.f16x2.f32", a, b).narrow()
    high, low = run("cvt.rn.f16.f32", a).narrow(), run("cvt.rn.f16.f32", b).narrow()
    assert got == [x << 16 | y for x, y in zip(high, low, strict=True)]


# --- approximations ------------------------------------------------------------------------------------------------
def f32(x: float) -> int:
    return int(np.float32(x).view("u4"))


def value(pattern: int) -> float:
    return struct.unpack("<f", struct.pack("<I", pattern))[0]


SFU_CASES = {  # form: (true function, ulp allowed, domain)
    "rcp.approx.f32": (lambda x: 1 / x, 1, (-100, 100)),
    "sqrt.approx.f32": (math.sqrt, 1, (0, 1e6)),
    "rsqrt.approx.f32": (lambda x: 1 / math.sqrt(x), 1, (1e-6, 1e6)),
    "ex2.approx.f32": (lambda x: 2.0**x, 1, (-100, 100)),
    "lg2.approx.f32": (math.log2, 1, (1e-5, 1e5)),
    "tanh.approx.f32": (math.tanh, 1, (-9, 9)),
}


@pytest.mark.parametrize("form", SFU_CASES)
def test_approximations_are_within_an_ulp(form: str) -> None:
    function, allowed, (low, high) = SFU_CASES[form]
    rng = rng_for(form)
    for _ in range(ROUNDS * 4):
        xs = [float(np.float32(x)) for x in rng.uniform(low, high, 32)]
        for x, got in zip(xs, run(form, [f32(x) for x in xs]).narrow(), strict=True):
            true = np.float32(function(x))
            assert abs(float(value(got)) - function(x)) <= allowed * float(np.spacing(abs(true))), (form, x)


def turns(pattern: int) -> Fraction:
    """Return 1 / 2 pi times an f32, rounded towards zero to a normal f32, as FMUL.RZ and MUFU of machine code take it."""
    exact = Fraction(value(pattern)) * Fraction(value(0x3E22F983))
    number = np.float32(float(exact))       # a product of two f32 is exact as a double
    if abs(Fraction(float(number))) > abs(exact):
        number = np.nextafter(number, np.float32(0))
    return Fraction(float(number)) if abs(number) >= 2.0**-126 else Fraction(0)


@pytest.mark.parametrize("form, function", [("sin", math.sin), ("cos", math.cos)])
def test_sines_and_cosines_are_those_of_a_rounded_number_of_turns(form: str, function: Callable[[float], float]) -> None:
    rng = rng_for(form)
    angles = [*rng.uniform(-7, 7, 64), *rng.uniform(-315, 315, 64),
              *(rng.uniform(1, 2) * 2.0 ** rng.randint(-126, 127) * (-1) ** rng.randint(2) for _ in range(64))]
    patterns = [f32(float(angle)) for angle in angles]
    results = [got for at in range(0, len(patterns), 32) for got in run(f"{form}.approx.f32", patterns[at : at + 32]).narrow()]
    for pattern, got in zip(patterns, results, strict=True):
        angle, whole = value(pattern), turns(pattern)
        want = function(2 * math.pi * float(whole - round(whole)))
        assert abs(value(got) - want) <= 1e-7, (form, angle)
        if abs(angle) <= 100 * math.pi:         # the bounds of the PTX manual
            assert abs(value(got) - function(angle)) <= 2.0 ** (-20.5 if abs(angle) <= 2 * math.pi else -14.7), (form, angle)


def test_approximations_are_exact_on_powers_of_two() -> None:
    exponents = list(range(-16, 16))
    powers = [f32(2.0**e) for e in exponents]
    assert run("ex2.approx.f32", [f32(float(e * 8)) for e in exponents]).narrow() == [
        f32(2.0 ** (e * 8)) for e in exponents
    ]
    assert run("ex2.approx.f32", [f32(-140.0)] * 32).narrow()[0] == 1 << 9
    assert run("ex2.approx.ftz.f32", [f32(-140.0)] * 32).narrow()[0] == 0
    assert run("lg2.approx.f32", powers).narrow() == [f32(float(e)) for e in exponents]
    assert run("rcp.approx.f32", powers).narrow() == [f32(2.0**-e) for e in exponents]
    assert run("rsqrt.approx.f32", [f32(4.0**e) for e in exponents]).narrow() == [f32(2.0**-e) for e in exponents]
    assert run("sqrt.approx.f32", [f32(4.0**e) for e in exponents]).narrow() == powers
    assert run("div.approx.f32", powers, [f32(8.0)] * 32).narrow() == [f32(2.0 ** (e - 3)) for e in exponents]


NAN, INF, NINF, NZERO, ONE = 0x7FFFFFFF, 0x7F800000, 0xFF800000, 0x80000000, 0x3F800000
SPECIAL_RESULTS = {
    "rcp.approx.f32": {0: INF, NZERO: NINF, INF: 0, NINF: NZERO, 0x7FC00001: NAN, 1: INF},
    "rcp.approx.ftz.f32": {1: INF, 0x80000001: NINF, 0x7F000000: 0, 0xFF000000: NZERO},
    "sqrt.approx.f32": {0: 0, NZERO: NZERO, INF: INF, 0xBF800000: NAN, NINF: NAN},
    "rsqrt.approx.f32": {0: INF, NZERO: NINF, INF: 0, 0xBF800000: NAN, NINF: NAN},
    "rsqrt.approx.ftz.f32": {1: INF, 0x80000001: NINF},
    "ex2.approx.f32": {0: ONE, NZERO: ONE, INF: INF, NINF: 0, 1: ONE, 0x43000000: INF, 0xC3800000: 0, 0x7FC00000: NAN},
    "lg2.approx.f32": {0: NINF, NZERO: NINF, INF: INF, NINF: NAN, 0xBF800000: NAN, ONE: 0, 1: 0xC3150000},
    "lg2.approx.ftz.f32": {1: NINF, 0x80000001: NINF},
    "sin.approx.f32": {0: 0, NZERO: NZERO, INF: NAN, NINF: NAN, 1: 0, 0x80000001: NZERO, 0x80800000: NZERO},
    "sin.approx.ftz.f32": {1: 0, 0x80000001: NZERO},
    "cos.approx.f32": {0: ONE, NZERO: ONE, INF: NAN, NINF: NAN, 1: ONE},
    "tanh.approx.f32": {0: 0, NZERO: NZERO, INF: ONE, NINF: 0xBF800000, 0x7FC00000: NAN},
}


@pytest.mark.parametrize("form", SPECIAL_RESULTS)
def test_special_values_of_approximations(form: str) -> None:
    for pattern, want in SPECIAL_RESULTS[form].items():
        assert run(form, [pattern] * 32).narrow()[0] == want, (form, hex(pattern))


def test_division_and_double_approximations() -> None:
    big = f32(2.0**126 * 1.5)
    assert run("div.approx.f32", [ONE] * 32, [big] * 32).narrow()[0] == 0
    assert run("div.approx.f32", [INF] * 32, [big] * 32).narrow()[0] == NAN
    assert run("div.full.f32", [ONE] * 32, [big] * 32).narrow()[0] == f32(2.0**-126 / 1.5) + 1       # manual: 2 ulp
    assert run("div.full.f32", [1] * 32, [3] * 32).narrow()[0] == f32(1 / 3)
    assert run("div.approx.ftz.f32", [ONE] * 32, [1] * 32).narrow()[0] == INF
    one, two = 0x3FF0000000000000, 0x4000000000000000
    assert run("rcp.approx.ftz.f64", [two] * 32).wide()[0] == 0x3FE0000000000000
    assert run("rcp.approx.ftz.f64", [1] * 32).wide()[0] == 0x7FF0000000000000
    assert run("rcp.approx.ftz.f64", [0x7FEFFFFFFFFFFFFF] * 32).wide()[0] == 0
    third = run("rcp.approx.ftz.f64", [0x4008000000000000] * 32).wide()[0]
    assert third & FULL == 0 and abs(struct.unpack("<d", struct.pack("<Q", third))[0] * 3 - 1) < 2**-20
    assert run("rsqrt.approx.f64", [0x4010000000000000] * 32).wide()[0] == 0x3FE0000000000000
    assert run("rsqrt.approx.f64", [one | 1 << 63] * 32).wide()[0] == NANS["f64"]
    assert run("ex2.approx.f16", [0x4000] * 32).narrow()[0] == 0x4400
    assert run("ex2.approx.f16x2", [0x3C004000] * 32).narrow()[0] == 0x40004400
    assert run("tanh.approx.bf16", [0x7F80] * 32).narrow()[0] == 0x3F80


def test_number_tests_and_copysign() -> None:
    for kind, special in (("f32", SPECIAL32), ("f64", SPECIAL64)):
        patterns = (special * 2)[:32]
        digits, _, _, bits = FORMATS[kind]
        for name, test in {
            "finite": lambda x, p: isinstance(x, Fraction),
            "infinite": lambda x, p: isinstance(x, str),
            "number": lambda x, p: x is not None,
            "notanumber": lambda x, p: x is None,
            "normal": lambda x, p: isinstance(x, Fraction) and flushed(p, kind) == p,
            "subnormal": lambda x, p: flushed(p, kind) != p,
        }.items():
            want = sum(test(decode(p, kind), p) << lane for lane, p in enumerate(patterns))
            assert run(f"testp.{name}.{kind}", patterns).q0 == want, (name, kind)
        other = patterns[::-1]
        got = run(f"copysign.{kind}", other, patterns)
        sign = 1 << (bits - 1)
        assert (got.wide() if bits == 64 else got.narrow()) == [
            p & ~sign | o & sign for p, o in zip(patterns, other, strict=True)
        ]


# --- moves, packing, addresses, lanes ------------------------------------------------------------------------------
def raw(op: int, kinds: tuple[str, ...], *operands: Any, slots: tuple[int, ...] = (0, 2, 4, 5), aux: int = 0) -> Result:
    inst = record(INST)
    inst["op"], inst["aux"] = op, aux
    return run_inst(inst, kinds, operands, slots=slots)


def test_vector_moves() -> None:
    rng = rng_for("pack")
    h = [integers(rng, 16) for _ in range(4)]
    assert raw(isa.OP_PACK16, ("b16",) * 2, *h[:2]).narrow() == [x | y << 16 for x, y in zip(h[0], h[1], strict=True)]
    packed = raw(isa.OP_PACK16X4, ("b16",) * 4, *h).wide()
    assert packed == [a | b << 16 | c << 32 | d << 48 for a, b, c, d in zip(*h, strict=True)]
    assert raw(isa.OP_UNPACK16X4, ("b64",), packed).u.tolist() == h
    assert raw(isa.OP_UNPACK16, ("b32",), [x & FULL for x in packed]).u[:2].tolist() == h[:2]
    quarters = [[x & 255 for x in row] for row in h]
    word = raw(isa.OP_PACK8X4, ("b16",) * 4, *quarters).narrow()
    assert raw(isa.OP_UNPACK8X4, ("b32",), word).u.tolist() == quarters


def test_generic_windows() -> None:
    offset = [16 * k for k in range(32)]
    shared = run("cvta.shared.u64", offset).wide()
    assert shared[3] == 0x0100_0000_0030 and run("cvta.to.shared.u64", shared).wide() == offset
    local = run("cvta.local.u64", offset).wide()
    assert run("cvta.to.local.u64", local).wide() == offset
    assert run("cvta.to.global.u64", [0x7000_0000_0000] * 32).wide()[0] == 0x7000_0000_0000
    mixed = [shared[0], local[0], 0x7000_0000_0000, 0] * 8
    for space, want in (("shared", 0x11111111), ("local", 0x22222222), ("global", 0xCCCCCCCC)):
        assert run(f"isspacep.{space}", mixed).q0 == want


def model_shfl(mode: str, lane: int, b: int, c: int) -> tuple[int, bool]:
    b, clamp_to, segment = b & 31, c & 31, c >> 8 & 31
    bound = (lane & segment) | (clamp_to & ~segment & 31)
    first = lane & segment
    source = {"up": lane - b, "down": lane + b, "bfly": lane ^ b, "idx": first | (b & ~segment & 31)}[mode]
    fits = source >= bound if mode == "up" else source <= bound
    return (source if fits else lane), fits


@pytest.mark.parametrize("mode", ["up", "down", "bfly", "idx"])
def test_shuffles(mode: str) -> None:
    rng = rng_for(mode)
    a = integers(rng, 32)
    for width in (32, 16, 8, 4):
        c = (32 - width) << 8 | (0 if mode == "up" else 31)
        b = [int(x) for x in rng.randint(0, 32, 32)] if width != 32 else [int(rng.randint(0, 32))] * 32
        got = run(f"shfl.sync.{mode}.b32", a, b, [c] * 32, [FULL] * 32)
        for lane in range(32):
            source, fits = model_shfl(mode, lane, b[lane], c)
            assert got.narrow()[lane] == a[source] and got.q0 >> lane & 1 == fits


def test_votes_matches_and_reductions() -> None:
    p, mask = 0x0F0F00FF, 0xFFFF0FFF
    members = 0x00FFFFFF
    active = mask & members

    def vote(mode: str, predicate: int) -> Result:
        kind = "b32" if mode == "ballot" else "pred"
        return run(f"vote.sync.{mode}.{kind}", [members] * 32, p0=predicate, mask=mask)

    def at_active(rows: list[int]) -> list[int]:
        return [rows[lane] for lane in range(32) if mask >> lane & 1]

    each = [1] * mask.bit_count()
    assert at_active(vote("ballot", p).narrow()) == [x * (p & active) for x in each]
    assert vote("all", p).q0 == 0 and vote("all", FULL).q0 == mask and vote("any", p).q0 == mask
    assert vote("any", 0xFF000000).q0 == 0 and vote("uni", p).q0 == 0 and vote("uni", 0).q0 == mask
    below = [(1 << k) - 1 for k in range(32)]       # no lane names itself: undefined in PTX; GPUs vote over the active ones named
    assert run("vote.sync.ballot.b32", below, p0=p, mask=mask).narrow()[20] == p & mask & below[20]
    assert run("activemask.b32", mask=mask).narrow()[0] == mask
    values = [k % 5 for k in range(32)]
    got = run("match.any.sync.b32", values, [members] * 32, mask=mask).narrow()
    for lane in range(32):
        if active >> lane & 1:
            assert got[lane] == sum(1 << k for k in range(32) if active >> k & 1 and values[k] == values[lane])
    wide = [x << 40 for x in values]
    assert run("match.any.sync.b64", wide, [members] * 32, mask=mask).narrow()[0] == got[0]
    assert run("match.all.sync.b32", values, [members] * 32, mask=mask).q0 == 0
    same = run("match.all.sync.b64", [7 << 33] * 32, [members] * 32, mask=mask)
    assert (same.q0, same.narrow()[0]) == (mask, active)
    numbers = integers(rng_for("redux"), 32)
    inside = [x for k, x in enumerate(numbers) if active >> k & 1]
    for form, want in {
        "add.s32": sum(inside) & FULL,
        "min.u32": min(inside),
        "max.u32": max(inside),
        "min.s32": min(signed(x, 32) for x in inside) & FULL,
        "max.s32": max(signed(x, 32) for x in inside) & FULL,
        "and.b32": math.prod([1]) and int(np.bitwise_and.reduce(np.array(inside, "u4"))),
        "or.b32": int(np.bitwise_or.reduce(np.array(inside, "u4"))),
        "xor.b32": int(np.bitwise_xor.reduce(np.array(inside, "u4"))),
    }.items():
        got = run(f"redux.sync.{form}", numbers, [members] * 32, mask=mask).narrow()
        assert at_active(got) == [x * want for x in each], form


def test_machine_opcodes_change_nothing() -> None:
    for op in (isa.OP_NOP, isa.OP_LD, isa.OP_BRA, isa.OP_EXIT, isa.OP_SREG, isa.OP_TEX):
        assert (raw(op, ("b32",), [1] * 32).u == 0xDEADBEEF).all()


def test_lanes_outside_the_mask_neither_trap_nor_touch_the_others() -> None:
    one = {"s32": 7, "u64": 7, "f32": 0x40E00000, "f64": 0x401C000000000000}
    for form in ("div.s32", "rem.u64", "div.rn.f32", "cvt.rzi.s32.f32", "sqrt.rn.f64", "div.rz.f64"):
        base, *modifiers = form.split(".")
        operands = [one[kind] for kind in forms.lookup(base, tuple(modifiers)).src_types]
        everywhere = run(form, *[[value] * 32 for value in operands])
        alone = run(form, *[[value] + [0] * 31 for value in operands], mask=1)
        assert (alone.u[:, 0] == everywhere.u[:, 0]).all(), form
        nobody = run(form, *[[0] * 32 for _ in operands], mask=0)
        assert (nobody.q0, nobody.q1) == (0, 0), form


@pytest.mark.nojit
def test_the_dispatch_has_every_opcode_once() -> None:
    """Computing opcodes are in the table, each is once in the generated chain, and the chain's source can be listed."""
    computed = set(range(isa.OP_NOP + 1, isa.OP_LD))
    assert set(machine.TABLE) == computed
    text = inspect.getsource(machine.compute)
    assert sorted(map(int, re.findall(r"op == (\d+)", text))) == sorted(computed)
    assert text == machine.chain_of(machine.TABLE)


@pytest.mark.nojit
def test_a_function_of_the_table_asks_for_what_there_is() -> None:
    def by_colour(rows: Any, colour: Any) -> None:
        """Do nothing."""

    with pytest.raises(TypeError, match="by_colour asks for rows, colour: there are op, rows, src"):
        machine.call_of(isa.OP_SET, machine.Way(by_colour))
