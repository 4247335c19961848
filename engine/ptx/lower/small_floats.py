"""Lowering of conversions to and from pairs of 8-, 6- and 4-bit floats, as on sm_89 and sm_100."""

from __future__ import annotations

from typing import NamedTuple

from rfview.engine.ptx.lower.steps import Steps
from rfview.engine.ptx.parse.syntax import Operand, Vector


class _Format(NamedTuple):
    """One format: total and mantissa bits, exponent bias, the largest finite and the smallest normal value as f32 bits,
    the code that a NaN becomes, and the lowest code that is a NaN."""

    bits: int
    mantissa: int
    bias: int
    largest: int
    least_normal: int
    nan: int
    first_nan: int | None = None

    @property
    def apart(self) -> int:
        """Distance between the two of a pair, in bits."""
        return 4 if self.bits == 4 else 8


_FORMATS = {
    "e4m3x2": _Format(8, 3, 7, 0x43E00000, 0x3C800000, 0x7F, 0x7F),   # 448 and 2**-6; no infinities
    "e5m2x2": _Format(8, 2, 15, 0x47600000, 0x38800000, 0x7F, 0x7D),  # 57344 and 2**-14
    "e3m2x2": _Format(6, 2, 3, 0x41E00000, 0x3E800000, 0x1F),         # 28 and 2**-2; a NaN becomes the largest
    "e2m3x2": _Format(6, 3, 1, 0x40F00000, 0x3F800000, 0x1F),         # 7.5 and 1
    "e2m1x2": _Format(4, 1, 1, 0x40C00000, 0x3F800000, 0x07),         # 6 and 1
}
_HALF_NAN = 0x7FFF


def narrow(steps: Steps) -> None:
    """Lower cvt.rn.satfinite{.relu}.TYPE.{f32,f16x2}.

    The first operand, or the upper half, becomes the upper byte (upper 4 bits for 4-bit ones).
    """
    *modifiers, to, source = steps.whole.opcode.split(".")
    operands, form, is_relu = steps.whole.operands, _FORMATS[to], "relu" in modifiers
    if source == "f32":
        values: list[Operand] = [operands[2], operands[1]]
    else:
        halves = [steps.new(16), steps.new(16)]
        steps.emit("mov.b32", Vector([*halves]), operands[1])
        values = [steps.value("cvt.f32.f16", half) for half in halves]
    lower, upper = (narrowed(steps, form, steps.value("mov.b32", value), is_relu) for value in values)
    steps.emit("cvt.u16.u32", operands[0], steps.value("bfi.b32", upper, lower, form.apart, form.apart))


def narrowed(steps: Steps, form: _Format, value: Operand, is_relu: bool) -> Operand:
    """Round a float to the format's nearest value, ties to even, saturating at the largest.

    Subnormal results are rounded by adding a power of two whose unit in the last place is the format's smallest step.
    """
    size = steps.value("and.b32", value, 0x7FFFFFFF)
    shortened = steps.value("min.u32", size, form.largest)
    shift = 23 - form.mantissa
    is_odd = steps.value("bfe.u32", shortened, shift, 1)
    rounded = steps.value("add.u32", steps.value("add.u32", shortened, is_odd), (1 << shift - 1) - 1)
    normal = steps.value("sub.u32", steps.value("shr.u32", rounded, shift), 127 - form.bias << form.mantissa)
    magic = 127 + 23 - (form.bias - 1 + form.mantissa) << 23
    tiny = steps.value("sub.u32", steps.value("add.rn.f32", shortened, steps.value("mov.b32", magic)), magic)
    is_tiny = steps.value("setp.lt.u32", shortened, form.least_normal, bits=1)
    code = steps.value("selp.b32", tiny, normal, is_tiny)
    sign = steps.value("shr.u32", steps.value("and.b32", value, 0x80000000), 32 - form.bits)
    if is_relu:
        code = steps.value("selp.b32", 0, code, steps.value("setp.ne.u32", sign, 0, bits=1))
    else:
        code = steps.value("or.b32", code, sign)
    return steps.value("selp.b32", form.nan, code, steps.value("setp.gt.u32", size, 0x7F800000, bits=1))


def widen(steps: Steps) -> None:
    """Lower cvt.rn{.relu}.f16x2.TYPE, which is exact: shift the bits to a half's position, then rescale for the bias."""
    result, source = steps.whole.operands
    *modifiers, kind = steps.whole.opcode.split(".")
    form, is_relu = _FORMATS[kind], "relu" in modifiers
    both = steps.value("cvt.u32.u16", source)
    halves = []
    scale = steps.value("mov.b16", 15 - form.bias + 15 << 10, bits=16)
    for first in (0, form.apart):
        size = steps.value("bfe.u32", both, first, form.bits - 1)
        bits = steps.value("cvt.u16.u32", steps.value("shl.b32", size, 10 - form.mantissa), bits=16)
        scaled = steps.value("mul.rn.f16", bits, scale, bits=16)
        above = steps.value("shl.b32", steps.value("bfe.u32", both, first + form.bits - 1, 1), 15)
        sign = steps.value("cvt.u16.u32", above, bits=16)
        is_negative = steps.value("setp.ne.u16", sign, 0, bits=1)
        value = steps.value("selp.b16", 0, scaled, is_negative, bits=16) if is_relu else \
            steps.value("or.b16", scaled, sign, bits=16)
        if form.first_nan is not None:
            is_nan = steps.value("setp.ge.u32", size, form.first_nan, bits=1)
            value = steps.value("selp.b16", _HALF_NAN, value, is_nan, bits=16)
        halves.append(value)
    steps.emit("mov.b32", result, Vector([*halves]))


def narrow_scales(steps: Steps) -> None:
    """Lower cvt.{rz,rp}{.satfinite}.ue8m0x2: exponents only, 2**(code - 127); 255 is a NaN.

    Rounds the magnitudes to powers of two, towards zero or up. A bfloat16 is the upper half of a float; everything below
    2**-127 becomes code 0; with .satfinite, infinity becomes 254.
    """
    operands, parts = steps.whole.operands, steps.whole.opcode.split(".")
    if parts[-1] == "f32":
        values: list[Operand] = [operands[2], operands[1]]
    else:
        values = [steps.value("shl.b32", operands[1], 16), steps.value("and.b32", operands[1], 0xFFFF0000)]
    codes = []
    for value in values:
        size = steps.value("and.b32", steps.value("mov.b32", value), 0x7FFFFFFF)
        raised = size
        if parts[1] == "rp":
            # adding an all-ones mantissa carries into the exponent; up to 2**-127 (0x00400000) the code is 0
            is_tiny = steps.value("setp.le.u32", size, 0x00400000, bits=1)
            is_infinite = steps.value("setp.ge.u32", size, 0x7F800000, bits=1)
            more = steps.value("selp.b32", 0, 0x007FFFFF, steps.value("or.pred", is_tiny, is_infinite, bits=1))
            raised = steps.value("add.u32", size, more)
        code = steps.value("shr.u32", raised, 23)
        if "satfinite" in parts:
            code = steps.value("min.u32", code, 0xFE)
        codes.append(steps.value("selp.b32", 0xFF, code, steps.value("setp.gt.u32", size, 0x7F800000, bits=1)))
    lower, upper = codes
    steps.emit("cvt.u16.u32", operands[0], steps.value("bfi.b32", upper, lower, 8, 8))


def widen_scales(steps: Steps) -> None:
    """Make two bfloat16 values from their exponents; 2**-127 is subnormal."""
    result, source = steps.whole.operands
    both = steps.value("cvt.u32.u16", source)
    halves = []
    for first in (0, 8):
        code = steps.value("bfe.u32", both, first, 8)
        bits = steps.value("shl.b32", code, 7)
        bits = steps.value("selp.b32", 0x0040, bits, steps.value("setp.eq.u32", code, 0, bits=1))
        bits = steps.value("selp.b32", 0x7FFF, bits, steps.value("setp.eq.u32", code, 0xFF, bits=1))
        halves.append(steps.value("cvt.u16.u32", bits, bits=16))
    steps.emit("mov.b32", result, Vector([*halves]))
