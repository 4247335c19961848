"""Thirty-two lanes at once: each common opcode defined once, as vector LLVM for the JIT and as NumPy without it.

`BODIES[op]` takes a `Frame` (where operands come from and results go) and works on 32-lane values. A value is a NumPy
array of 32 elements or, while compiling, a `Vector`: the two have the same operators, so the definition is the same.
Kinds: u4 i4 f4 (one row), u8 i8 f8 (two rows: low, high), b1 (condition).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

from engine import isa
from engine.arithmetic import fma32, fma64
from engine.jit import OFF

UNIT_STRIDE_4, UNIT_STRIDE_8, UNIT_STRIDE_16 = 1004, 1008, 1016     # bodies that are no opcodes
NAN32 = 0x7FFFFFFF
NAN64 = 0x7FF8000000000000
_I32, _I64 = ir.IntType(32), ir.IntType(64)
_ELEMENTS = {"u4": _I32, "i4": _I32, "f4": ir.FloatType(), "u8": _I64, "i8": _I64, "f8": ir.DoubleType(),
             "b1": ir.IntType(1)}


class Vector:
    """A 32-lane LLVM value with the operators of a NumPy array."""

    def __init__(self, builder: Any, value: Any, kind: str) -> None:
        self.builder, self.value, self.kind = builder, value, kind

    def like(self, other: Any) -> Any:
        """The LLVM value of `other`: a Vector of the same kind or a number for every lane."""
        if isinstance(other, Vector):
            return other.value
        element = _ELEMENTS[self.kind]
        return ir.Constant(ir.VectorType(element, 32), [ir.Constant(element, other)] * 32)

    def _binary(self, other: Any, for_int: str, for_float: str = "") -> Vector:
        name = for_float if self.kind[0] == "f" else for_int
        return Vector(self.builder, getattr(self.builder, name)(self.value, self.like(other)), self.kind)

    def _compare(self, other: Any, sign: str) -> Vector:
        method = {"f": "fcmp_ordered", "i": "icmp_signed", "u": "icmp_unsigned"}[self.kind[0]]
        if sign == "!=" and self.kind[0] == "f":
            method = "fcmp_unordered"
        return Vector(self.builder, getattr(self.builder, method)(sign, self.value, self.like(other)), "b1")

    def __add__(self, other: Any) -> Vector:
        return self._binary(other, "add", "fadd")

    def __sub__(self, other: Any) -> Vector:
        return self._binary(other, "sub", "fsub")

    def __mul__(self, other: Any) -> Vector:
        return self._binary(other, "mul", "fmul")

    def __truediv__(self, other: Any) -> Vector:
        return self._binary(other, "", "fdiv")

    def __and__(self, other: Any) -> Vector:
        return self._binary(other, "and_")

    def __or__(self, other: Any) -> Vector:
        return self._binary(other, "or_")

    def __xor__(self, other: Any) -> Vector:
        return self._binary(other, "xor")

    def __lshift__(self, other: Any) -> Vector:
        return self._binary(other, "shl")

    def __rshift__(self, other: Any) -> Vector:
        return self._binary(other, "ashr" if self.kind[0] == "i" else "lshr")

    def __invert__(self) -> Vector:
        return Vector(self.builder, self.builder.not_(self.value), self.kind)

    def __lt__(self, other: Any) -> Vector:
        return self._compare(other, "<")

    def __le__(self, other: Any) -> Vector:
        return self._compare(other, "<=")

    def __gt__(self, other: Any) -> Vector:
        return self._compare(other, ">")

    def __ge__(self, other: Any) -> Vector:
        return self._compare(other, ">=")

    def __eq__(self, other: Any) -> Vector:  # type: ignore[override]
        return self._compare(other, "==")

    def __ne__(self, other: Any) -> Vector:  # type: ignore[override]
        return self._compare(other, "!=")


def where(condition: Any, yes: Any, no: Any) -> Any:
    """Lane-wise choice; one of `yes`, `no` may be a number."""
    if not isinstance(condition, Vector):
        model = yes if isinstance(yes, np.ndarray) else no
        return np.where(condition, yes, no).astype(model.dtype)
    model = yes if isinstance(yes, Vector) else no
    chosen = condition.builder.select(condition.value, model.like(yes), model.like(no))
    return Vector(condition.builder, chosen, model.kind)


def bits(x: Any, kind: str) -> Any:
    """The same bits as another kind of the same size."""
    if not isinstance(x, Vector):
        return x.view(kind)
    value = x.value
    if (x.kind[0] == "f") != (kind[0] == "f"):
        value = x.builder.bitcast(value, ir.VectorType(_ELEMENTS[kind], 32))
    return Vector(x.builder, value, kind)


def cast(x: Any, kind: str) -> Any:
    """The same number as another kind; integers wrap, int to float and f8 to f4 round to nearest even."""
    if not isinstance(x, Vector):
        return x.astype(kind)
    source, builder, target = x.kind, x.builder, ir.VectorType(_ELEMENTS[kind], 32)
    if source[0] == "f" and kind[0] == "f":
        method = builder.fpext if kind == "f8" else builder.fptrunc
    elif kind[0] == "f":
        method = builder.sitofp if source[0] == "i" else builder.uitofp
    elif source[0] == "f":
        method = builder.fptosi if kind[0] == "i" else builder.fptoui
    elif source[1] == kind[1]:
        return Vector(builder, x.value, kind)
    elif source[1] == "8":
        method = builder.trunc
    else:
        method = builder.sext if source[0] == "i" else builder.zext
    return Vector(builder, method(x.value, target), kind)


def _llvm(name: str, *operands: Vector) -> Vector:
    first = operands[0]
    element = "f32" if first.kind == "f4" else "f64"
    kind = first.value.type
    function = cgutils.get_or_insert_function(
        first.builder.module, ir.FunctionType(kind, [kind] * len(operands)), f"llvm.{name}.v32{element}")
    return Vector(first.builder, first.builder.call(function, [operand.value for operand in operands]), first.kind)


def fma(a: Any, b: Any, c: Any) -> Any:
    """a * b + c rounded once."""
    if isinstance(a, Vector):
        return _llvm("fma", a, b, c)
    scalar = fma32 if a.dtype == np.float32 else fma64
    return np.array([scalar(x, y, z) for x, y, z in zip(a, b, c, strict=True)], a.dtype)


def sqrt(x: Any) -> Any:
    """Correctly rounded square root."""
    return _llvm("sqrt", x) if isinstance(x, Vector) else np.sqrt(x)


def canonical(x: Any) -> Any:
    """The bits of a float result, every NaN being the canonical one."""
    if isinstance(x, Vector):
        size = x.kind[1]
    else:
        size = str(x.dtype.itemsize)
    return where(x == x, bits(x, f"u{size}"), NAN32 if size == "4" else NAN64)


def flush(x: Any) -> Any:
    """Subnormal f4 values become zero of the same sign."""
    pattern = bits(x, "u4")
    return bits(where((pattern & 0x7F800000) == 0, pattern & 0x80000000, pattern), "f4")


class NumpyFrame:
    """Operands and results of one instruction in the row array, without JIT."""

    def __init__(self, rows: Any, src: int, dst: int, pred: int, aux: int) -> None:
        self.rows, self.src, self.dst, self.pred, self.aux = rows, int(src), int(dst), int(pred), int(aux)

    def get(self, operand: int, kind: str) -> Any:
        """Operand k as 32 lanes of `kind`."""
        low = self.rows[self.src + 2 * operand].u
        if kind[1] == "4":
            return low.copy().view(kind)
        high = self.rows[self.src + 2 * operand + 1].u
        return (low.astype("u8") | high.astype("u8") << np.uint64(32)).view(kind)

    def put(self, value: Any) -> None:
        """Write the result row, or both rows of a 64-bit result."""
        if value.dtype.itemsize == 4:
            self.rows[self.dst].u[:] = value.view("u4")
        else:
            self.rows[self.dst].u[:] = value.view("u8") & np.uint64(0xFFFFFFFF)
            self.rows[self.dst + 1].u[:] = value.view("u8") >> np.uint64(32)

    def condition(self) -> Any:
        """The predicate mask as 32 conditions."""
        return (np.uint32(self.pred) >> np.arange(32, dtype="u4") & 1).astype(bool)

    def lane(self, value: Any, step: int) -> Any:
        """What a 64-bit value would be in each lane if it grew by `step` per lane from lane `pred` on."""
        first = int(value[self.pred & 31])
        return np.array([(first + step * (k - (self.pred & 31))) & 0xFFFFFFFFFFFFFFFF for k in range(32)], "u8")

    def mask(self, condition: Any) -> np.uint32:
        """32 conditions as a lane mask."""
        return np.packbits(condition, bitorder="little").view("u4")[0]

    def aux_bit(self, mask: np.uint32, bit: int) -> np.uint32:
        """`mask` if bit `bit` of aux is set, else 0."""
        return mask if self.aux >> bit & 1 else np.uint32(0)

    def splat_aux_bit(self, bit: int) -> np.uint32:
        """All ones if bit `bit` of aux is set, else 0, for `&` with a u4 value."""
        return np.uint32(0xFFFFFFFF if self.aux >> bit & 1 else 0)


class IrFrame:
    """The same for the code being compiled; aux and the predicate mask are run-time values."""

    def __init__(self, context: Any, builder: Any, signature: Any, args: Any) -> None:
        self.builder, self.base = builder, args[0]
        self.src, self.dst = args[1], args[2]
        self.pred, self.aux = args[3], args[4]

    def _row(self, first: Any, offset: int) -> Any:
        row = self.builder.add(first, ir.Constant(_I64, offset))
        address = self.builder.add(self.base, self.builder.shl(row, ir.Constant(_I64, 7)))
        return self.builder.inttoptr(address, ir.VectorType(_I32, 32).as_pointer())

    def _load(self, slot: int) -> Vector:
        loaded = self.builder.load(self._row(self.src, slot))
        loaded.align = 4
        return Vector(self.builder, loaded, "u4")

    def get(self, operand: int, kind: str) -> Vector:
        """Operand k as 32 lanes of `kind`."""
        low = self._load(2 * operand)
        if kind[1] == "4":
            return bits(low, kind)
        high = cast(self._load(2 * operand + 1), "u8")
        return bits(cast(low, "u8") | high << 32, kind)

    def put(self, value: Vector) -> None:
        """Write the result row, or both rows of a 64-bit result."""
        if value.kind[1] == "4":
            parts = [bits(value, "u4")]
        else:
            whole = bits(value, "u8")
            parts = [cast(whole, "u4"), cast(whole >> 32, "u4")]
        for offset, part in enumerate(parts):
            stored = self.builder.store(part.value, self._row(self.dst, offset))
            stored.align = 4

    def condition(self) -> Vector:
        """The predicate mask as 32 conditions."""
        return Vector(self.builder, self.builder.bitcast(self.pred, ir.VectorType(ir.IntType(1), 32)), "b1")

    def lane(self, value: Vector, step: int) -> Vector:
        """What a 64-bit value would be in each lane if it grew by `step` per lane from lane `pred` on."""
        builder = self.builder
        index = builder.and_(self.pred, ir.Constant(_I32, 31))
        back = builder.mul(builder.zext(index, _I64), ir.Constant(_I64, step))
        start = builder.sub(builder.extract_element(value.value, index), back)
        kind = ir.VectorType(_I64, 32)
        empty = ir.Constant(kind, ir.Undefined)
        zeros = ir.Constant(ir.VectorType(_I32, 32), [ir.Constant(_I32, 0)] * 32)
        splat = builder.shuffle_vector(builder.insert_element(empty, start, ir.Constant(_I32, 0)), empty, zeros)
        return Vector(builder, builder.add(splat, ir.Constant(kind, [ir.Constant(_I64, step * k) for k in range(32)])),
                      "u8")

    def mask(self, condition: Vector) -> Any:
        """32 conditions as a lane mask."""
        return Scalar(self.builder, self.builder.bitcast(condition.value, _I32))

    def _aux_ones(self, bit: int) -> Any:
        shifted = self.builder.lshr(self.aux, ir.Constant(_I32, bit))
        return self.builder.neg(self.builder.and_(shifted, ir.Constant(_I32, 1)))

    def aux_bit(self, mask: Scalar, bit: int) -> Scalar:
        """`mask` if bit `bit` of aux is set, else 0."""
        return mask & Scalar(self.builder, self._aux_ones(bit))

    def splat_aux_bit(self, bit: int) -> Vector:
        """All ones if bit `bit` of aux is set, else 0, for `&` with a u4 value."""
        empty = ir.Constant(ir.VectorType(_I32, 32), ir.Undefined)
        one = self.builder.insert_element(empty, self._aux_ones(bit), ir.Constant(_I32, 0))
        zeros = ir.Constant(ir.VectorType(_I32, 32), [ir.Constant(_I32, 0)] * 32)
        return Vector(self.builder, self.builder.shuffle_vector(one, empty, zeros), "u4")


class Scalar:
    """A lane mask while compiling: `&`, `|`, `~` as on Python integers."""

    def __init__(self, builder: Any, value: Any) -> None:
        self.builder, self.value = builder, value

    def __and__(self, other: Scalar) -> Scalar:
        return Scalar(self.builder, self.builder.and_(self.value, other.value))

    def __or__(self, other: Scalar) -> Scalar:
        return Scalar(self.builder, self.builder.or_(self.value, other.value))

    def __invert__(self) -> Scalar:
        return Scalar(self.builder, self.builder.not_(self.value))


# --- the opcodes ---------------------------------------------------------------------------------------------------
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
    isa.OP_SETP_S32: lambda x: _compare(x, "i4"),
    isa.OP_SETP_U32: lambda x: _compare(x, "u4"),
    isa.OP_SETP_S64: lambda x: _compare(x, "i8"),
    isa.OP_SETP_U64: lambda x: _compare(x, "u8"),
    isa.OP_SETP_F32: lambda x: _compare(x, "f4"),
    isa.OP_SETP_F64: lambda x: _compare(x, "f8"),
    isa.OP_SETP_F32_FTZ: lambda x: _compared(x, flush(x.get(0, "f4")), flush(x.get(1, "f4")), "f4"),
    isa.OP_SETP_S16: lambda x: _compared(x, bits(x.get(0, "u4") << 16, "i4"), bits(x.get(1, "u4") << 16, "i4"), "i4"),
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
    isa.OP_CVT_F64_F32: lambda x: x.put(canonical(cast(x.get(0, "f4"), "f8"))),
    isa.OP_CVT_F32_F64: lambda x: x.put(canonical(cast(x.get(0, "f8"), "f4"))),
    isa.OP_CVT_F64_S32: lambda x: x.put(cast(x.get(0, "i4"), "f8")),
    isa.OP_CVT_F64_U32: lambda x: x.put(cast(x.get(0, "u4"), "f8")),
    isa.OP_LOP3: _lop3,
    isa.OP_SHF: _funnel_shift,
    isa.OP_MUL_HI_U32: lambda x: _high_product(x, "u4"),
    isa.OP_MUL_HI_S32: lambda x: _high_product(x, "i4"),
    # addresses (operand 0): lanes whose address follows that of lane `pred` at unit stride, for 4, 8, 16 bytes each
    UNIT_STRIDE_4: lambda x: x.mask(x.get(0, "u8") == x.lane(x.get(0, "u8"), 4)),
    UNIT_STRIDE_8: lambda x: x.mask(x.get(0, "u8") == x.lane(x.get(0, "u8"), 8)),
    UNIT_STRIDE_16: lambda x: x.mask(x.get(0, "u8") == x.lane(x.get(0, "u8"), 16)),
}


@intrinsic(prefer_literal=True)
def _compiled(typing_context: Any, rows: Any, src: Any, dst: Any, pred: Any, aux: Any, op: Any) -> Any:
    """Typing and code of `run` under JIT; `op` must be a constant."""
    body = BODIES[op.literal_value]

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        result = body(IrFrame(context, builder, signature, args))
        return result.value if isinstance(result, Scalar) else ir.Constant(_I32, 0)

    return types.uint32(types.int64, types.int64, types.int64, types.uint32, types.uint32, op), code


def _interpreted(rows: Any, src: int, dst: int, pred: int, aux: int, op: int) -> np.uint32:
    """`run` without JIT."""
    with np.errstate(all="ignore"):
        result = BODIES[op](NumpyFrame(rows, src, dst, pred, aux))
    return np.uint32(result or 0)


@intrinsic
def _address(typing_context: Any, rows: Any) -> Any:
    """Typing and code of `handle` under JIT."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        array = context.make_array(signature.args[0])(context, builder, args[0])
        return builder.ptrtoint(array.data, _I64)

    return types.int64(rows), code


def _element(builder: Any, args: Any) -> Any:
    base, row, lane = args[:3]
    offset = builder.add(builder.shl(row, ir.Constant(_I64, 7)), builder.shl(lane, ir.Constant(_I64, 2)))
    return builder.inttoptr(builder.add(base, offset), _I32.as_pointer())


@intrinsic
def _load(typing_context: Any, rows: Any, row: Any, lane: Any) -> Any:
    """Typing and code of `load` under JIT."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.load(_element(builder, args))

    return types.uint32(types.int64, types.int64, types.int64), code


@intrinsic
def _store(typing_context: Any, rows: Any, row: Any, lane: Any, value: Any) -> Any:
    """Typing and code of `store` under JIT."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        builder.store(args[3], _element(builder, args))
        return context.get_dummy_value()

    return types.void(types.int64, types.int64, types.int64, types.uint32), code


@intrinsic
def _load_word(typing_context: Any, memory: Any, index: Any) -> Any:
    """Typing and code of `load_word` under JIT."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.load(_element(builder, (args[0], ir.Constant(_I64, 0), args[1])))

    return types.uint32(types.int64, types.int64), code


@intrinsic
def _store_word(typing_context: Any, memory: Any, index: Any, value: Any) -> Any:
    """Typing and code of `store_word` under JIT."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        builder.store(args[2], _element(builder, (args[0], ir.Constant(_I64, 0), args[1])))
        return context.get_dummy_value()

    return types.void(types.int64, types.int64, types.uint32), code


def _long(builder: Any, base: Any, index: Any) -> Any:
    address = builder.add(base, builder.shl(index, ir.Constant(_I64, 3)))
    return builder.inttoptr(address, _I64.as_pointer())


@intrinsic
def _load_long(typing_context: Any, longs: Any, index: Any) -> Any:
    """Typing and code of `load_long` under JIT."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.load(_long(builder, args[0], args[1]))

    return types.int64(types.int64, types.int64), code


@intrinsic
def _store_long(typing_context: Any, longs: Any, index: Any, value: Any) -> Any:
    """Typing and code of `store_long` under JIT."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        builder.store(args[2], _long(builder, args[0], args[1]))
        return context.get_dummy_value()

    return types.void(types.int64, types.int64, types.int64), code


@intrinsic
def _fill_series(typing_context: Any, longs: Any, index: Any, start: Any, step: Any) -> Any:
    """Typing and code of `fill_series` under JIT."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        kind = ir.VectorType(_I64, 32)
        empty, first = ir.Constant(kind, ir.Undefined), ir.Constant(_I32, 0)
        zeros = ir.Constant(ir.VectorType(_I32, 32), [first] * 32)
        begin, by = (builder.shuffle_vector(builder.insert_element(empty, x, first), empty, zeros) for x in args[2:])
        ramp = ir.Constant(kind, [ir.Constant(_I64, k) for k in range(32)])
        place = builder.bitcast(_long(builder, args[0], args[1]), kind.as_pointer())
        stored = builder.store(builder.add(begin, builder.mul(by, ramp)), place)
        stored.align = 8
        return context.get_dummy_value()

    return types.void(types.int64, types.int64, types.int64, types.int64), code


@intrinsic
def _copy_words(typing_context: Any, to: Any, to_index: Any, source: Any, source_index: Any) -> Any:
    """Typing and code of `copy_words` under JIT."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        places = []
        for base, index in (args[:2], args[2:]):
            address = builder.add(base, builder.shl(index, ir.Constant(_I64, 2)))
            places.append(builder.inttoptr(address, ir.VectorType(_I32, 32).as_pointer()))
        loaded = builder.load(places[1])
        loaded.align = 4
        stored = builder.store(loaded, places[0])
        stored.align = 4
        return context.get_dummy_value()

    return types.void(types.int64, types.int64, types.int64, types.int64), code


def _words(memory: Any) -> Any:
    return memory.view(np.ndarray).view("u4") if memory.dtype.fields else memory


def _load_word_python(memory: Any, index: int) -> np.uint32:
    return _words(memory)[index]


def _store_word_python(memory: Any, index: int, value: Any) -> None:
    _words(memory)[index] = value


def _load_long_python(longs: Any, index: int) -> Any:
    return longs.view(np.ndarray).view("i8")[index] if longs.dtype.fields else longs[index]


def _store_long_python(longs: Any, index: int, value: Any) -> None:
    longs[index] = value


def _fill_series_python(longs: Any, index: int, start: Any, step: Any) -> None:
    longs[index : index + 32] = int(start) + int(step) * np.arange(32)


def _copy_words_python(to: Any, to_index: int, source: Any, source_index: int) -> None:
    _words(to)[to_index : to_index + 32] = _words(source)[source_index : source_index + 32]


def _load_python(rows: Any, row: int, lane: int) -> np.uint32:
    return rows[row].u[lane]


def _store_python(rows: Any, row: int, lane: int, value: Any) -> None:
    rows[row].u[lane] = value


def _same(rows: Any) -> Any:
    return rows


# handle(rows): what the functions below take as rows or memory: under JIT the address of the array, so that no
#   reference count is touched; the caller keeps the array alive
# run(rows, src, dst, pred, aux, op) -> u4: do opcode `op` (a constant with a body) on all 32 lanes of the rows from
#   `src` on, results in the rows from `dst` on; pred: mask for selp; gives the predicate mask of comparisons, else 0
# load_word(memory, index) -> u4 and store_word(memory, index, value): one word of a handle's array, rows or plain u4
# copy_words(to, to_index, source, source_index): 32 words from one handle's array to another's
# load_long(longs, index), store_long(longs, index, value), fill_series(longs, index, start, step): the same for i8
#   arrays, the last for 32 elements at once
# load(rows, row, lane) -> u4 and store(rows, row, lane, value): one lane of one row
if OFF:
    handle, run, load, store = _same, _interpreted, _load_python, _store_python
    load_word, store_word, copy_words = _load_word_python, _store_word_python, _copy_words_python
    load_long, store_long, fill_series = _load_long_python, _store_long_python, _fill_series_python
else:
    handle, run, load, store = _address, _compiled, _load, _store
    load_word, store_word, copy_words = _load_word, _store_word, _copy_words
    load_long, store_long, fill_series = _load_long, _store_long, _fill_series
