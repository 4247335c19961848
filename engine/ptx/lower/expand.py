"""Lowering of forms that expand to a short sequence of other instructions.

Sums of halves in 32 bits; min and max of three floats, of a warp's floats, or with the signs multiplied; conversions to
tf32 and finite halves; packing of saturated integers; lop3 with a predicate.
"""

from __future__ import annotations

from rfview.engine.isa import TYPE_BITS
from rfview.engine.ptx.lower.context import is_discarded
from rfview.engine.ptx.lower.steps import Steps
from rfview.engine.ptx.parse.syntax import Name, Operand, Pair, Vector

_SIGNS = {"f32": 1 << 31, "f16": 1 << 15, "bf16": 1 << 15, "f16x2": 0x80008000, "bf16x2": 0x80008000}

_LARGEST_TF32 = 0x7F7FE000
_LARGEST = {kind + pair: size for kind, size in (("f16", 0x477FE000), ("bf16", 0x7F7F0000)) for pair in ("", "x2")}


def least_of_three(steps: Steps) -> None:
    """Take the minimum or maximum of two, then of that and the third; .abs takes all magnitudes first."""
    result, *sources = steps.whole.operands
    opcode = steps.whole.opcode
    if ".abs." in opcode:
        opcode = opcode.replace(".abs.", ".")
        sources = [steps.value("abs.f32", source) for source in sources]
    steps.emit(opcode, result, steps.value(opcode, *sources[:2]), sources[2])


def sum_of_halves(steps: Steps) -> None:
    """Convert the halves, which is exact, then compute."""
    base, *parts = steps.whole.opcode.split(".")
    result, *halves, addend = steps.whole.operands
    wide: list[Operand] = [steps.value(f"cvt.f32.{parts[-1]}", half) for half in halves]
    steps.emit(".".join([base, *parts[:-1]]), result, *wide, addend)


def clear_out_of_bounds(steps: Steps) -> None:
    """Lower fma.rn.oob: a result is 0 where an operand is the NaN 0xFFFF, which tensor copies put outside of a tensor."""
    opcode = steps.whole.opcode.replace(".oob", "")
    result, *sources = steps.whole.operands
    count = 2 if opcode.endswith("x2") else 1
    value = steps.value(opcode, *sources, bits=16 * count)
    columns = [halves_of(steps, operand, count) for operand in (value, *sources)]
    cleared: list[Operand] = []
    for half, *given in zip(*columns, strict=True):
        is_outside = steps.value("setp.eq.b16", given[0], 0xFFFF, bits=1)
        for one in given[1:]:
            is_outside = steps.value("setp.eq.or.b16", one, 0xFFFF, is_outside, bits=1)
        cleared.append(steps.value("selp.b16", 0, half, is_outside, bits=16))
    steps.emit("mov.b32", result, Vector(cleared)) if count == 2 else steps.emit("mov.b16", result, cleared[0])  # type: ignore


def halves_of(steps: Steps, operand: Operand, count: int) -> list[Operand]:
    """Return the halves of an operand, or the one that it is."""
    if count == 1:
        return [operand]
    halves: list[Operand] = [steps.new(16), steps.new(16)]
    steps.emit("mov.b32", Vector([*halves]), operand)
    return halves


def to_tf32(steps: Steps) -> None:
    """Round a float to 10 bits of mantissa: to the nearest, ties away from zero or to even, or towards zero."""
    mode, *others = steps.whole.opcode.split(".")[1:-2]
    result, source = steps.whole.operands
    if "relu" in others:
        source = steps.value("max.NaN.f32", source, steps.value("mov.b32", 0))
    if "satfinite" in others:
        below = steps.value("min.NaN.f32", source, steps.value("mov.b32", _LARGEST_TF32))
        source = steps.value("max.NaN.f32", below, steps.value("mov.b32", _LARGEST_TF32 | 0x80000000))
    half: Operand | int = 0x1000 if mode == "rna" else 0
    if mode == "rn":
        half = steps.value("add.u32", steps.value("bfe.u32", source, 13, 1), 0xFFF)
    rounded = steps.value("and.b32", steps.value("add.u32", source, half), 0xFFFFE000)
    is_nan = steps.value("testp.notanumber.f32", source, bits=1)
    steps.emit("selp.b32", result, 0x7FFFFFFF, rounded, is_nan)


def reduce_floats(steps: Steps) -> None:
    """Reduce as integers that sort like the floats, -0 below 0; a NaN sorts at one end; a NaN result is canonical."""
    parts = steps.whole.opcode.split(".")[1:-1]
    result, source, mask = steps.whole.operands
    value = steps.value("mov.f32", source)
    is_nan = steps.value("testp.notanumber.f32", value, bits=1)
    if "abs" in parts:
        value = steps.value("and.b32", value, 0x7FFFFFFF)
    stand_in = 0x80000000 if ("min" in parts) == ("NaN" in parts) else 0x7FFFFFFF
    key = steps.value("selp.b32", stand_in, in_order(steps, value), is_nan)
    least = steps.value(f"redux.sync.{parts[1]}.s32", key, mask)
    was_nan = steps.value("setp.eq.b32", least, stand_in, bits=1)
    steps.emit("selp.b32", result, 0x7FFFFFFF, in_order(steps, least), was_nan)


def in_order(steps: Steps, bits: Operand) -> Operand:
    """Turn a float's bits into an integer that sorts the same way, or back."""
    flips = steps.value("shr.u32", steps.value("shr.s32", bits, 31), 1)
    return steps.value("xor.b32", bits, flips)


def multiply_signs(steps: Steps) -> None:
    """Combine the magnitude that min or max returns with the product of the signs; a NaN is returned as it is."""
    base, *parts = steps.whole.opcode.split(".")
    kind = parts[-1]
    result, *sources = steps.whole.operands
    bits = TYPE_BITS[kind]
    held = [steps.value("mov.f32" if kind == "f32" else f"mov.b{bits}", source, bits=bits) for source in sources]
    sizes = [steps.value(f"abs.{kind}", value, bits=bits) for value in held]
    size = steps.value(".".join([base, *parts[:-3], kind]), *sizes, bits=bits)
    sign = steps.value(f"and.b{bits}", steps.value(f"xor.b{bits}", *held, bits=bits), _SIGNS[kind], bits=bits)
    numbers = steps.value(f"set.num.u{bits}.{kind}", size, size, bits=bits)
    sign = steps.value(f"and.b{bits}", sign, numbers, bits=bits)
    steps.emit(f"or.b{bits}", result, size, sign)


def to_finite_halves(steps: Steps) -> None:
    """Clamp floats to the largest finite halves of a type, then convert; a NaN stays a NaN."""
    parts = steps.whole.opcode.split(".")
    result, *sources = steps.whole.operands
    largest = _LARGEST[parts[-2]]
    clamped: list[Operand] = []
    for source in sources:
        below = steps.value("min.NaN.f32", source, steps.value("mov.b32", largest))
        clamped.append(steps.value("max.NaN.f32", below, steps.value("mov.b32", largest | 0x80000000)))
    steps.emit(".".join(part for part in parts if part != "satfinite"), result, *clamped)


def pack_integers(steps: Steps) -> None:
    """Clamp two integers to a narrow type and pack them, a above b, into the lowest bits; the bits of c go above them."""
    kind = steps.whole.opcode.split(".")[3]
    sign, bits = kind[0], int(kind[1:])
    result, first, second, *rest = steps.whole.operands
    least, most = (-(1 << bits - 1), (1 << bits - 1) - 1) if sign == "s" else (0, (1 << bits) - 1)
    first, second = (low_word(steps, item) for item in (first, second))
    upper, lower = (steps.value("min.s32", steps.value("max.s32", item, least), most) for item in (first, second))
    above: Operand | int = steps.value("shl.b32", rest[0], 2 * bits) if rest else 0
    packed = steps.value("bfi.b32", upper, steps.value("bfi.b32", lower, above, 0, bits), bits, bits)
    steps.emit("mov.b32", result, packed)


def low_word(steps: Steps, operand: Operand) -> Operand:
    """Return an operand of 32 bits, the lower half of a register of 64."""
    if not isinstance(operand, Name) or steps.low.register(operand).bits < 64:
        return operand
    word = steps.new()
    steps.emit("mov.b64", Vector([word, Name("_")]), operand)
    return word


def logic_and_predicate(steps: Steps) -> None:
    """Lower lop3.{and,or}.b32 d|p, a, b, c, table, q: p combines q with whether d is nonzero."""
    operands = steps.whole.operands
    value = steps.value("lop3.b32", *operands[1:5])
    pair = operands[0]
    assert isinstance(pair, Pair)
    steps.emit(f"setp.ne.{steps.whole.opcode.split('.')[1]}.b32", pair.second, value, 0, operands[5])
    if not is_discarded(pair.first):
        steps.emit("mov.b32", pair.first, value)
