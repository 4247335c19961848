"""Rounding of one lane's floats: directed modes, halves, and every conversion between number types.

A result is first computed in f64 so that one more rounding to a narrower type is exact: products of f32 and quotients
or roots of f32 are (53 bits are more than twice 24 plus two), sums and fused sums are made so by *rounding to odd*
(the last bit set when inexact). Directed f64 results come from the nearest one and the sign of its exact residual.
"""

from __future__ import annotations


from rfview.engine import isa
from rfview.engine.isa import (CVT_FINITE, FLAG_FTZ, FLAG_INT_ROUND, FLAG_NAN, FLAG_RELU, FLAG_SAT, FLAG_WIDE_DST,
                               FP_ADD, FP_DIV, FP_FMA, FP_MAX, FP_MIN, FP_MUL, FP_NEG, FP_RCP, FP_SQRT, FP_SUB, T_BF16,
                               T_BF16X2, T_F16, T_F32, T_F64, T_S64)
from rfview.engine.values.arithmetic import (F32, F64, I64, M32, ONE64, SIGN64, U32, U64, Z64, bits_f32, bits_f64,
                                             clz, extend, f32_bits, f64_bits, fma64, is_negative, is_signed, less,
                                             low_bits, sqrt64, type_bits)
from rfview.engine.compile.device import device

RN, RZ, RM, RP = isa.ROUND_RN, isa.ROUND_RZ, isa.ROUND_RM, isa.ROUND_RP

INFINITY64 = U64(0x7FF0000000000000)
MAGNITUDE64 = U64(0x7FFFFFFFFFFFFFFF)
NAN64 = U64(0xFFF8000000000000)     # as in math_constants.h and in what ptxas makes of sqrt, rsqrt and div
NAN32 = U64(0x7FFFFFFF)
ZERO, ONE = F64(0.0), F64(1.0)


@device
def has(flags, bit):
    """True if flag `bit` is set."""
    return U64(flags) & U64(bit) != Z64


@device
def round_mode(flags):
    """ROUND_* of an instruction's flags."""
    return I64((U64(flags) >> U64(2)) & U64(3))


@device
def sign_of(x):
    """Sign bit of an f64 (of zeros and NaN too)."""
    return f64_bits(x) >= SIGN64


@device
def is_finite(x):
    """Neither infinite nor NaN."""
    return f64_bits(x) & MAGNITUDE64 < INFINITY64


@device
def power_of_two(exponent):
    """2.0 ** exponent, -1022..1023."""
    return bits_f64(U64(exponent + I64(1023)) << U64(52))


@device
def scale(x, exponent):
    """x * 2 ** exponent for |exponent| <= 3000, exact unless the result leaves the normal range."""
    while exponent > I64(1000):
        x = x * power_of_two(I64(1000))
        exponent = exponent - I64(1000)
    while exponent < I64(-1000):
        x = x * power_of_two(I64(-1000))
        exponent = exponent + I64(1000)
    return x * power_of_two(exponent)


@device
def exponent_of(x):
    """Floor of log2 |x| for a finite x other than 0."""
    pattern = f64_bits(x) & MAGNITUDE64
    biased = I64(pattern >> U64(52))
    if biased == I64(0):
        return I64(-1011) - I64(clz(pattern))
    return biased - I64(1023)


@device
def next_up(x):
    """The next larger f64."""
    pattern = f64_bits(x)
    if pattern == SIGN64 or pattern == Z64:
        return bits_f64(ONE64)
    return bits_f64(pattern - ONE64 if pattern >= SIGN64 else pattern + ONE64)


@device
def next_down(x):
    """The next smaller f64."""
    pattern = f64_bits(x)
    if pattern == SIGN64 or pattern == Z64:
        return bits_f64(SIGN64 | ONE64)
    return bits_f64(pattern + ONE64 if pattern >= SIGN64 else pattern - ONE64)


# --- rounding to odd -----------------------------------------------------------------------------------------------
@device
def make_odd(total, error):
    """Round the exact sum total + error to odd; |error| is at most half a unit of total."""
    if not is_finite(total) or error == ZERO or error != error:
        return total
    pattern = f64_bits(total)
    if pattern & ONE64 != Z64:
        return total
    if (error > ZERO) == (total > ZERO):
        return bits_f64(pattern + ONE64)
    return bits_f64(pattern - ONE64)


@device
def two_sum_error(a, b, total):
    """Exact error of the rounded sum `total` of a and b."""
    part = total - a
    return (a - (total - part)) + (b - part)


@device
def odd_add(a, b):
    """a + b rounded to odd."""
    total = a + b
    return make_odd(total, two_sum_error(a, b, total))


@device
def zero_sum(a, b, mode):
    """The zero that a + b = 0 gives: -0 when rounding down, unless both are +0."""
    if mode == RM and (sign_of(a) or sign_of(b)):
        return -ZERO
    return a + b


# --- rounding to f32 -----------------------------------------------------------------------------------------------
@device
def round_f32(x, mode):
    """Round an f64 to f32 in the given mode; gives the f32 bits as u64, NaN canonical."""
    if x != x:
        return NAN32
    nearest = F32(x)
    back = F64(nearest)
    pattern = U64(f32_bits(nearest))
    if mode == RN or back == x:
        return pattern
    negative = sign_of(x)
    above = back > x
    if mode == RZ:
        wrong = above != negative
    elif mode == RM:
        wrong = above
    else:
        wrong = not above
    if not wrong:
        return pattern
    # one step in the direction asked for; away from zero if that direction is the sign of x
    outwards = (mode == RM and negative) or (mode == RP and not negative)
    return pattern + ONE64 if outwards else pattern - ONE64


@device
def flush32(pattern):
    """Subnormal f32 bits become zero of the same sign."""
    if pattern & U64(0x7F800000) == Z64:
        return pattern & U64(0x80000000)
    return pattern


@device
def load32(pattern, flags):
    """f32 bits as f64, flushed if asked."""
    if has(flags, FLAG_FTZ):
        pattern = flush32(pattern)
    return F64(bits_f32(U32(pattern)))


@device
def saturate32(pattern):
    """Clamp f32 bits to [+0, 1], NaN to +0."""
    if pattern >= U64(0x80000000) or pattern > U64(0x7F800000):
        return Z64
    return min(pattern, U64(0x3F800000))


@device
def finish32(x, flags):
    """Round to f32, flush and saturate as the flags say."""
    pattern = round_f32(x, round_mode(flags))
    if has(flags, FLAG_FTZ):
        pattern = flush32(pattern)
    if has(flags, FLAG_SAT):
        pattern = saturate32(pattern)
    return pattern


@device
def choose(a, b, smallest, want_nan):
    """min / max: a number wins over NaN unless `want_nan`; -0 is below +0."""
    if a != a or b != b:
        if want_nan or (a != a and b != b):
            return bits_f64(NAN64)
        return b if a != a else a
    if a == b:
        return a if sign_of(a) == smallest else b
    return a if (a < b) == smallest else b


@device
def wide_result(sub, a, b, c, mode):
    """The operation on f64 values that hold narrower floats, rounded to odd where it is inexact."""
    if sub == FP_ADD or sub == FP_SUB:
        if sub == FP_SUB:
            b = -b
        return zero_sum(a, b, mode) if a + b == ZERO else odd_add(a, b)
    if sub == FP_MUL:
        return a * b
    if sub == FP_FMA:
        product = a * b
        return zero_sum(product, c, mode) if product + c == ZERO else odd_add(product, c)
    if sub == FP_DIV:
        return a / b
    if sub == FP_RCP:
        return ONE / a
    if sub == FP_SQRT:
        return sqrt64(a)
    if sub == FP_NEG:
        return -a
    return bits_f64(f64_bits(a) & MAGNITUDE64)


@device
def float32(sub, flags, a, b, c):
    """One OP_FLOAT operation on f32 bits (as u64)."""
    x, y, z = load32(a, flags), load32(b, flags), load32(c, flags)
    if sub == FP_MIN or sub == FP_MAX:
        return finish32(choose(x, y, sub == FP_MIN, has(flags, FLAG_NAN)), flags)
    return finish32(wide_result(sub, x, y, z, round_mode(flags)), flags)


# --- directed f64 --------------------------------------------------------------------------------------------------
@device
def adjust64(nearest, residual, mode, exact_sign):
    """Turn the nearest result into the directed one; residual: sign of (exact - nearest); exact_sign: exact < 0."""
    if mode == RN or residual == 0:
        return nearest
    if mode == RP:
        upwards, downwards = residual > 0, False
    elif mode == RM:
        upwards, downwards = False, residual < 0
    else:
        upwards, downwards = exact_sign and residual > 0, not exact_sign and residual < 0
    if upwards:
        moved = next_up(nearest)
        return -ZERO if moved == ZERO and exact_sign else moved
    if downwards:
        return next_down(nearest)
    return nearest


@device
def sign_number(x):
    """-1, 0 or 1."""
    if x > ZERO:
        return 1
    if x < ZERO:
        return -1
    return 0


@device
def fma_residual(a, b, c, nearest):
    """Sign of a * b + c - nearest, exactly, for operands whose exponents leave room for the errors."""
    product = a * b
    product_error = fma64(a, b, -product)
    low = c + product_error
    low_error = two_sum_error(c, product_error, low)
    high = product + low
    high_error = two_sum_error(product, low, high)
    # exact value = high + high_error + low_error; nearest is within one unit of it
    first = high - nearest
    rest = first + high_error
    rest_error = two_sum_error(first, high_error, rest)
    total = rest + low_error
    if total == ZERO:
        return sign_number(rest_error)
    if rest_error == ZERO:
        return sign_number(total)
    total_error = two_sum_error(rest, low_error, total)
    return sign_number(total + (total_error + rest_error))


@device
def fma_directed(a, b, c, mode):
    """a * b + c of f64 in a directed mode."""
    nearest = fma64(a, b, c)
    if not (is_finite(a) and is_finite(b) and is_finite(c)) or a == ZERO or b == ZERO:
        return zero_sum(a * b, c, mode) if nearest == ZERO else nearest
    ea, eb = exponent_of(a), exponent_of(b)
    if not is_finite(nearest):
        return adjust64(nearest, -sign_number(nearest), mode, nearest < ZERO)
    # bring the larger of product and addend near 1; what then falls below 2**-1000 only matters by its sign
    top = ea + eb
    if c != ZERO:
        top = max(top, exponent_of(c))
    x, y = scale(a, -ea), scale(b, -eb)
    moved_c = ZERO
    if c != ZERO:
        moved_c = scale(c, max(-top, I64(-900) - exponent_of(c)))
    x = scale(x, max(ea + eb - top, I64(-400)))
    if nearest != ZERO and exponent_of(nearest) - top < I64(-900):
        top_nearest = ZERO
    else:
        top_nearest = scale(nearest, -top)
    residual = fma_residual(x, y, moved_c, top_nearest)
    if nearest == ZERO and residual == 0:
        return -ZERO if mode == RM else ZERO
    exact_negative = residual < 0 if nearest == ZERO else nearest < ZERO
    return adjust64(nearest, residual, mode, exact_negative)


@device
def divide_directed(a, b, mode):
    """a / b of f64 in a directed mode."""
    nearest = a / b
    if not (is_finite(a) and is_finite(b)) or a == ZERO or b == ZERO:
        return nearest
    negative = sign_of(a) != sign_of(b)
    if not is_finite(nearest):
        return adjust64(nearest, 1 if negative else -1, mode, negative)
    ea, eb = exponent_of(a), exponent_of(b)
    x, y = scale(a, -ea), scale(b, -eb)
    residual = sign_number(fma64(-scale(nearest, eb - ea), y, x))
    if sign_of(b):
        residual = -residual
    return adjust64(nearest, residual, mode, negative)


@device
def sqrt_directed(a, mode):
    """Square root of f64 in a directed mode."""
    nearest = sqrt64(a)
    if not is_finite(nearest) or a == ZERO:
        return nearest
    half = exponent_of(a) >> I64(1)
    root = scale(nearest, -half)
    return adjust64(nearest, sign_number(fma64(-root, root, scale(a, -I64(2) * half))), mode, False)


@device
def float64(sub, flags, x, y, z):
    """One OP_DOUBLE operation: f64 bits in any rounding mode, NaN canonical."""
    mode = round_mode(flags)
    a, b, c = bits_f64(x), bits_f64(y), bits_f64(z)
    if sub == FP_ADD:
        result = fma_directed(a, ONE, b, mode) if a != ZERO else zero_or(b, a, mode)
    elif sub == FP_SUB:
        result = fma_directed(a, ONE, -b, mode) if a != ZERO else zero_or(-b, a, mode)
    elif sub == FP_MUL:
        result = fma_directed(a, b, -ZERO if sign_of(a) != sign_of(b) else ZERO, mode)
    elif sub == FP_FMA:
        result = fma_directed(a, b, c, mode)
    elif sub == FP_DIV:
        result = divide_directed(a, b, mode)
    elif sub == FP_RCP:
        result = divide_directed(ONE, a, mode)
    elif sub == FP_SQRT:
        result = sqrt_directed(a, mode)
    elif sub == FP_MIN or sub == FP_MAX:
        result = choose(a, b, sub == FP_MIN, False)
    elif sub == FP_NEG:
        result = -a
    else:
        result = bits_f64(x & MAGNITUDE64)
    return NAN64 if result != result else f64_bits(result)


@device
def zero_or(value, zero, mode):
    """value + zero, exactly, where `zero` is a zero of either sign."""
    return zero_sum(value, zero, mode) if value == ZERO else value


# --- halves --------------------------------------------------------------------------------------------------------
@device
def half_to_float(pattern, brain):
    """f16 (or bf16) bits as f64."""
    if brain:
        return F64(bits_f32(U32((pattern & U64(0xFFFF)) << U64(16))))
    magnitude = pattern & U64(0x7FFF)
    negative = pattern & U64(0x8000) != Z64
    if magnitude >= U64(0x7C00):
        wide = INFINITY64 | ((magnitude & U64(0x3FF)) << U64(42))
        return bits_f64(wide | SIGN64 if negative else wide)
    if magnitude < U64(0x400):
        value = F64(I64(magnitude)) * F64(2.0**-24)
    else:
        value = bits_f64((magnitude << U64(42)) + (U64(1008) << U64(52)))
    return -value if negative else value


@device
def round_integral(x, mode):
    """Round an f64 to an integral value, keeping the sign of zero."""
    if not is_finite(x) or exponent_of_or_zero(x) >= I64(52):
        return x
    magnitude = bits_f64(f64_bits(x) & MAGNITUDE64)
    whole = (magnitude + F64(4503599627370496.0)) - F64(4503599627370496.0)
    negative = sign_of(x)
    if mode == RZ or (mode == RM and not negative) or (mode == RP and negative):
        if whole > magnitude:
            whole = whole - ONE
    elif mode != RN and whole < magnitude:
        whole = whole + ONE
    return -whole if negative else whole


@device
def exponent_of_or_zero(x):
    """exponent_of, 0 for zero."""
    return I64(0) if x == ZERO else exponent_of(x)


@device
def round_half(x, mode, brain):
    """Round an f64 to f16 (or bf16) bits; NaN canonical."""
    if x != x:
        return U64(0x7FFF)
    digits, least, most = (I64(7), I64(-126), U64(0x7F80)) if brain else (I64(10), I64(-14), U64(0x7C00))
    sign = U64(0x8000) if sign_of(x) else Z64
    if x == ZERO:
        return sign
    if not is_finite(x):
        return sign | most
    quantum = max(exponent_of(x), least) - digits
    count = round_integral(scale(x, -quantum), mode)
    count = bits_f64(f64_bits(count) & MAGNITUDE64)
    # the integer count of quanta plus the exponent field: a carry out of the significand is right by itself
    pattern = U64(I64(count)) + (U64(quantum + digits - least) << U64(digits))
    if pattern >= most:
        inwards = mode == RZ or (mode == RM and sign == Z64) or (mode == RP and sign != Z64)
        pattern = most - ONE64 if inwards else most
    return sign | pattern


@device
def flush_half(pattern, brain):
    """Subnormal halves become zero of the same sign."""
    exponent = U64(0x7F80) if brain else U64(0x7C00)
    return pattern & U64(0x8000) if pattern & exponent == Z64 else pattern


@device
def half_operation(sub, flags, a, b, c, brain):
    """One f16 / bf16 operation on 16-bit patterns."""
    a, b, c = a & U64(0xFFFF), b & U64(0xFFFF), c & U64(0xFFFF)
    if has(flags, FLAG_FTZ):
        a, b, c = flush_half(a, brain), flush_half(b, brain), flush_half(c, brain)
    x, y, z = half_to_float(a, brain), half_to_float(b, brain), half_to_float(c, brain)
    if sub == FP_MIN or sub == FP_MAX:
        wide = choose(x, y, sub == FP_MIN, has(flags, FLAG_NAN))
    else:
        wide = wide_result(sub, x, y, z, RN)
    result = round_half(wide, RN, brain)
    if has(flags, FLAG_FTZ):
        result = flush_half(result, brain)
    top = U64(0x3F80) if brain else U64(0x3C00)
    if has(flags, FLAG_SAT):
        if result >= U64(0x8000) or result == U64(0x7FFF):
            return Z64
        return min(result, top)
    if has(flags, FLAG_RELU) and result >= U64(0x8000):
        return Z64
    return result


@device
def half_lane(sub, kind, flags, a, b, c):
    """One OP_HALF operation on a row element: one half or a pair."""
    brain = kind == T_BF16 or kind == T_BF16X2
    low = half_operation(sub, flags, a, b, c, brain)
    if kind == T_F16 or kind == T_BF16:
        return low
    shift = U64(16)
    return low | (half_operation(sub, flags, a >> shift, b >> shift, c >> shift, brain) << shift)


# --- conversions ---------------------------------------------------------------------------------------------------
@device
def float_to_int(x, kind, mode, source):
    """Round an f64 to an integer type, saturating; NaN gives 0, or the top bit for f64 sources and 64-bit results."""
    width, signed = type_bits(kind), is_signed(kind)
    if x != x:
        return ONE64 << (width - ONE64) if source == T_F64 or width == U64(64) else Z64
    whole = round_integral(x, mode)
    if signed:
        limit = power_of_two(I64(width) - I64(1))
        if whole >= limit:
            return (ONE64 << (width - ONE64)) - ONE64
        if whole < -limit:
            return ~((ONE64 << (width - ONE64)) - ONE64)
        return U64(I64(whole))
    if whole <= ZERO:
        return Z64
    if whole >= power_of_two(I64(width)):
        return low_bits(~Z64, width)
    if whole >= F64(9223372036854775808.0):
        return U64(I64(whole - F64(9223372036854775808.0))) + SIGN64
    return U64(I64(whole))


@device
def int_to_float(value, signed, mode, odd):
    """A 64-bit integer as f64, rounded in `mode`, or to odd."""
    negative = signed and is_negative(value)
    magnitude = Z64 - value if negative else value
    if magnitude == Z64:
        return ZERO
    shift = I64(11) - I64(clz(magnitude))
    if shift <= I64(0):
        result = F64(I64(magnitude))
        return -result if negative else result
    kept = magnitude >> U64(shift)
    rest = low_bits(magnitude, U64(shift))
    half = ONE64 << U64(shift - I64(1))
    if odd:
        kept = kept | ONE64 if rest != Z64 else kept
    elif mode == RN:
        if rest > half or (rest == half and kept & ONE64 != Z64):
            kept = kept + ONE64
    elif rest != Z64 and ((mode == RP and not negative) or (mode == RM and negative)):
        kept = kept + ONE64
    result = scale(F64(I64(kept)), shift)
    return -result if negative else result


@device
def clamp_int(value, source_signed, kind):
    """cvt.sat between integers."""
    width = type_bits(kind)
    if is_signed(kind):
        top = (ONE64 << (width - ONE64)) - ONE64
        if not source_signed:
            return min(value, top)
        if less(top, value, True):
            return top
        return ~top if less(value, ~top, True) else value
    if source_signed and is_negative(value):
        return Z64
    return min(value, low_bits(~Z64, width))


@device
def narrow(value, kind, flags):
    """An integer result as register bits: 8- and 16-bit types fill 16 bits, or 32 with FLAG_WIDE_DST."""
    width = type_bits(kind)
    value = extend(value, width, is_signed(kind))
    if width < U64(32):
        return value & (M32 if has(flags, FLAG_WIDE_DST) else U64(0xFFFF))
    return low_bits(value, width)


@device
def convert(aux, flags, value):
    """One OP_CVT conversion of a raw slot pair; aux: destination type | source type << 8."""
    target, source = I64(aux) & I64(255), (I64(aux) >> I64(8)) & I64(255)
    mode = round_mode(flags)
    if source <= T_S64:
        signed = is_signed(source)
        value = extend(value, type_bits(source), signed)
        if target <= T_S64:
            return narrow(clamp_int(value, signed, target) if has(flags, FLAG_SAT) else value, target, flags)
        return float_result(int_to_float(value, signed, mode, target != T_F64), target, flags)
    if source == T_F64:
        x = bits_f64(value)
    elif source == T_F32:
        x = load32(value & M32, flags)
    elif source == T_BF16 and target == T_F32 and U64(flags) == Z64:
        return (value & U64(0xFFFF)) << U64(16)         # a NaN keeps its bits, as in the shift that ptxas makes of this
    else:
        x = half_to_float(value, source == T_BF16)
    if target <= T_S64:
        return narrow(float_to_int(x, target, mode, source), target, flags)
    if has(flags, FLAG_INT_ROUND):
        x = round_integral(x, mode)
    if source == T_F32 and target == T_F64 and x != x and not has(flags, FLAG_SAT):
        return f64_bits(x)          # as OP_CVT_F64_F32
    return float_result(x, target, flags)


@device
def float_result(x, target, flags):
    """Round an f64 to the destination float type."""
    if target == T_F64:
        if has(flags, FLAG_SAT):
            x = ZERO if not x > ZERO else min(x, ONE)
        return NAN64 if x != x else f64_bits(x)
    if target == T_F32:
        return finish32(x, flags)
    brain = target == T_BF16
    pattern = round_half(x, round_mode(flags), brain)
    if has(flags, FLAG_SAT):
        if pattern >= U64(0x8000) or pattern == U64(0x7FFF):
            return Z64
        return min(pattern, U64(0x3F80) if brain else U64(0x3C00))
    if has(flags, FLAG_RELU) and pattern >= U64(0x8000):
        return Z64
    return pattern


@device
def convert_pair(aux, flags, upper, lower):
    """cvt.rn.f16x2.f32: two f32 patterns to one packed word."""
    brain = (I64(aux) & I64(255)) == T_BF16X2
    kind = T_BF16 if brain else T_F16
    high = float_result(load32(upper & M32, flags), kind, flags)
    low = float_result(load32(lower & M32, flags), kind, flags)
    if has(aux, CVT_FINITE):
        high, low = largest_for_infinity(high, brain), largest_for_infinity(low, brain)
    return low | (high << U64(16))


@device
def largest_for_infinity(pattern, brain):
    """Bits of a half, infinity replaced by the largest number."""
    infinity = U64(0x7F80) if brain else U64(0x7C00)
    return pattern - ONE64 if pattern & U64(0x7FFF) == infinity else pattern


@device
def test_property(kind, pattern):
    """testp on f64 bits: kind 0..5 of TESTP_KINDS."""
    magnitude = pattern & MAGNITUDE64
    if kind == 0:
        return magnitude < INFINITY64
    if kind == 1:
        return magnitude == INFINITY64
    if kind == 2:
        return magnitude <= INFINITY64
    if kind == 3:
        return magnitude > INFINITY64
    subnormal = magnitude > Z64 and magnitude < U64(1 << 52)
    if kind == 4:       # zeros are normal (PTX manual)
        return magnitude < INFINITY64 and not subnormal
    return subnormal
