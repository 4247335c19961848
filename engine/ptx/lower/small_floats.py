"""Lowering of conversions to and from pairs of 8-bit floats: .e4m3x2 and .e5m2x2 with .f32 and .f16x2, as sm_89 has them."""

from __future__ import annotations

from typing import NamedTuple

from rfview.engine.ptx.lower.context import Lowering
from rfview.engine.ptx.lower.steps import Steps
from rfview.engine.ptx.parse.syntax import Instruction, Operand, Vector


class _Format(NamedTuple):
    """One 8-bit format: bits of mantissa, exponent bias, the largest finite value and the least normal one as f32 bits."""

    mantissa: int
    bias: int
    largest: int
    least_normal: int


_FORMATS = {
    "e4m3x2": _Format(3, 7, 0x43E00000, 0x3C800000),  # 448 and 2**-6; no infinities
    "e5m2x2": _Format(2, 15, 0x47600000, 0x38800000),  # 57344 and 2**-14
}
_NAN = 0x7F
_HALF_NAN = 0x7FFF


def is_small_float(opcode: str) -> bool:
    """Say whether an opcode is lowered here."""
    parts = opcode.split(".")
    return parts[0] == "cvt" and any(part in _FORMATS for part in parts[-2:])


def lower_small_float(low: Lowering, statement: Instruction) -> None:
    """Lower cvt.rn.satfinite{.relu}.TYPE.{f32,f16x2} and cvt.rn{.relu}.f16x2.TYPE."""
    parts = statement.opcode.split(".")
    to, source, modifiers = parts[-2], parts[-1], parts[1:-2]
    is_relu = modifiers[-1:] == ["relu"]
    steps, operands = Steps(low, statement), statement.operands
    plain = modifiers[:-1] if is_relu else modifiers
    if to in _FORMATS and source in ("f32", "f16x2") and plain == ["rn", "satfinite"]:
        if len(operands) == (3 if source == "f32" else 2):
            return narrow(steps, _FORMATS[to], source, is_relu)
    elif source in _FORMATS and to == "f16x2" and plain == ["rn"] and len(operands) == 2:
        return widen(steps, _FORMATS[source], is_relu)
    raise low.fail(f"unsupported instruction '{statement.opcode}'; nearest supported form: 'cvt.rn.satfinite.e4m3x2.f32'")


def narrow(steps: Steps, form: _Format, source: str, is_relu: bool) -> None:
    """Convert both floats; the first operand, or the upper half, becomes the upper byte."""
    operands = steps.whole.operands
    if source == "f32":
        values: list[Operand] = [operands[2], operands[1]]
    else:
        halves = [steps.new(16), steps.new(16)]
        steps.emit("mov.b32", Vector([*halves]), operands[1])
        values = [steps.value("cvt.f32.f16", half) for half in halves]
    lower, upper = (narrowed(steps, form, steps.value("mov.b32", value), is_relu) for value in values)
    steps.emit("cvt.u16.u32", operands[0], steps.value("bfi.b32", upper, lower, 8, 8))


def narrowed(steps: Steps, form: _Format, value: Operand, is_relu: bool) -> Operand:
    """Round a float to the nearest of the format, ties to even; what is too large becomes the largest.

    Below the least normal value, adding a power of two whose last place is the format's least step does the rounding.
    """
    size = steps.value("and.b32", value, 0x7FFFFFFF)
    kept = steps.value("min.u32", size, form.largest)
    shift = 23 - form.mantissa
    is_odd = steps.value("bfe.u32", kept, shift, 1)
    rounded = steps.value("add.u32", steps.value("add.u32", kept, is_odd), (1 << shift - 1) - 1)
    normal = steps.value("sub.u32", steps.value("shr.u32", rounded, shift), 127 - form.bias << form.mantissa)
    magic = 127 + 23 - (form.bias - 1 + form.mantissa) << 23
    tiny = steps.value("sub.u32", steps.value("add.rn.f32", kept, steps.value("mov.b32", magic)), magic)
    is_tiny = steps.value("setp.lt.u32", kept, form.least_normal, bits=1)
    code = steps.value("selp.b32", tiny, normal, is_tiny)
    sign = steps.value("shr.u32", steps.value("and.b32", value, 0x80000000), 24)
    if is_relu:
        code = steps.value("selp.b32", 0, code, steps.value("setp.ne.u32", sign, 0, bits=1))
    else:
        code = steps.value("or.b32", code, sign)
    return steps.value("selp.b32", _NAN, code, steps.value("setp.gt.u32", size, 0x7F800000, bits=1))


def widen(steps: Steps, form: _Format, is_relu: bool) -> None:
    """Convert both bytes to halves, which is exact: the format's bits stand where a half's do, but for its bias."""
    result, source = steps.whole.operands
    both = steps.value("cvt.u32.u16", source)
    halves = []
    for first in (0, 8):
        size = steps.value("bfe.u32", both, first, 7)
        bits = steps.value("cvt.u16.u32", steps.value("shl.b32", size, 10 - form.mantissa), bits=16)
        scaled = steps.value("mul.rn.f16", bits, 15 - form.bias + 15 << 10, bits=16)
        sign = steps.value("cvt.u16.u32", steps.value("shl.b32", steps.value("bfe.u32", both, first + 7, 1), 15), bits=16)
        is_negative = steps.value("setp.ne.u16", sign, 0, bits=1)
        value = steps.value("selp.b16", 0, scaled, is_negative, bits=16) if is_relu else \
            steps.value("or.b16", scaled, sign, bits=16)
        is_nan = steps.value("setp.gt.u32", size, _NAN - 1 if form.mantissa == 3 else 0x7C, bits=1)
        halves.append(steps.value("selp.b16", _HALF_NAN, value, is_nan, bits=16))
    steps.emit("mov.b32", result, Vector([*halves]))
