"""Values of 32 lanes, and the frame that gives an opcode its operands: vector LLVM code under JIT, NumPy without it.

A value is a NumPy array of 32 elements or, while compiling, a `Vector`: both have the same operators, and the functions
here take either, so that one definition of an opcode (lanes.py) serves both. Kinds: u4 i4 f4 (one row), u8 i8 f8
(two rows: low, high), b1 (condition). `NumpyFrame` and `IrFrame` have the same methods.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import cgutils

from rfview.engine.values.arithmetic import fma32, fma64

NAN32 = 0x7FFFFFFF
NAN64 = 0xFFF8000000000000
I32, I64 = ir.IntType(32), ir.IntType(64)
ELEMENTS = {"u4": I32, "i4": I32, "f4": ir.FloatType(), "u8": I64, "i8": I64, "f8": ir.DoubleType(), "b1": ir.IntType(1)}


class Vector:
    """A 32-lane LLVM value with the operators of a NumPy array."""

    def __init__(self, builder: Any, value: Any, kind: str) -> None:
        self.builder, self.value, self.kind = builder, value, kind

    def like(self, other: Any) -> Any:
        """The LLVM value of `other`: a Vector of the same kind or a number for every lane."""
        if isinstance(other, Vector):
            return other.value
        element = ELEMENTS[self.kind]
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
        value = x.builder.bitcast(value, ir.VectorType(ELEMENTS[kind], 32))
    return Vector(x.builder, value, kind)


def cast(x: Any, kind: str) -> Any:
    """The same number as another kind; integers wrap, int to float and f8 to f4 round to nearest even."""
    if not isinstance(x, Vector):
        return x.astype(kind)
    source, builder, target = x.kind, x.builder, ir.VectorType(ELEMENTS[kind], 32)
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
        """The value of each lane if a 64-bit value grew by `step` per lane from lane `pred` on."""
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
        row = self.builder.add(first, ir.Constant(I64, offset))
        rows = self.builder.bitcast(self.base, ir.ArrayType(I32, 32).as_pointer())
        return self.builder.bitcast(self.builder.gep(rows, [row]), ir.VectorType(I32, 32).as_pointer())

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
        """The value of each lane if a 64-bit value grew by `step` per lane from lane `pred` on."""
        builder = self.builder
        index = builder.and_(self.pred, ir.Constant(I32, 31))
        back = builder.mul(builder.zext(index, I64), ir.Constant(I64, step))
        start = builder.sub(builder.extract_element(value.value, index), back)
        kind = ir.VectorType(I64, 32)
        empty = ir.Constant(kind, ir.Undefined)
        zeros = ir.Constant(ir.VectorType(I32, 32), [ir.Constant(I32, 0)] * 32)
        splat = builder.shuffle_vector(builder.insert_element(empty, start, ir.Constant(I32, 0)), empty, zeros)
        return Vector(builder, builder.add(splat, ir.Constant(kind, [ir.Constant(I64, step * k) for k in range(32)])),
                      "u8")

    def mask(self, condition: Vector) -> Any:
        """32 conditions as a lane mask."""
        return Scalar(self.builder, self.builder.bitcast(condition.value, I32))

    def _aux_ones(self, bit: int) -> Any:
        shifted = self.builder.lshr(self.aux, ir.Constant(I32, bit))
        return self.builder.neg(self.builder.and_(shifted, ir.Constant(I32, 1)))

    def aux_bit(self, mask: Scalar, bit: int) -> Scalar:
        """`mask` if bit `bit` of aux is set, else 0."""
        return mask & Scalar(self.builder, self._aux_ones(bit))

    def splat_aux_bit(self, bit: int) -> Vector:
        """All ones if bit `bit` of aux is set, else 0, for `&` with a u4 value."""
        empty = ir.Constant(ir.VectorType(I32, 32), ir.Undefined)
        one = self.builder.insert_element(empty, self._aux_ones(bit), ir.Constant(I32, 0))
        zeros = ir.Constant(ir.VectorType(I32, 32), [ir.Constant(I32, 0)] * 32)
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
