"""The operators and functions of the condition language, on columns of values and on bounds per chunk."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from rfview.sessions.expressions import bounds
from rfview.sessions.file.bounds import Known


def unknown(*parts: Known) -> Known:
    """Return unknown bounds."""
    return None


@dataclass(frozen=True)
class Operation:
    """run: from columns (n,) or (n, width), one per operand, to a column. estimate: the same for bounds, else None."""

    run: Callable[..., np.ndarray]
    estimate: Callable[..., Known] = unknown

    def bounds(self, *parts: Known) -> Known:
        """Return the result's bounds from those of the operands."""
        return self.estimate(*parts)


def _known(transfer: Callable[..., Known]) -> Callable[..., Known]:
    """Return a function whose result is unknown if any operand is unknown."""
    return lambda *parts: None if any(part is None for part in parts) else transfer(*parts)


def integers(values: np.ndarray) -> np.ndarray:
    """Return values as i8; u8 values keep their bits."""
    return values.astype(np.int64)


def numbers(values: np.ndarray) -> np.ndarray:
    """Return truth values as 0 and 1, numbers as they are."""
    return values.astype(np.int64) if values.dtype.kind == "b" else values


def align(a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Give a per-cycle column a second axis if its partner has one."""
    if a.ndim == 1 and b.ndim == 2:
        a = a[:, None]
    elif b.ndim == 1 and a.ndim == 2:
        b = b[:, None]
    return a, b


def _shift_left(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.where((b >= 0) & (b < 64), np.left_shift(a, np.clip(b, 0, 63)), 0)


def _shift_right(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.where(b >= 0, np.right_shift(a, np.clip(b, 0, 63)), 0)


def _join(low: np.ndarray, high: np.ndarray) -> np.ndarray:
    return (integers(low) & 0xFFFFFFFF) | np.left_shift(integers(high), 32)


AND = Operation(np.logical_and, bounds.both)
OR = Operation(np.logical_or, bounds.either)
NOT = Operation(np.logical_not, bounds.negate)
EQUAL = Operation(np.equal, _known(bounds.equal))
INVERT = Operation(lambda values: np.invert(integers(values)))
PLUS = Operation(lambda values: np.positive(numbers(values)), _known(lambda part: part))
MINUS = Operation(lambda values: np.negative(numbers(values)), _known(bounds.minus))
LEAST = Operation(np.minimum, _known(bounds.smaller))
MOST = Operation(np.maximum, _known(bounds.larger))

ARITHMETIC: dict[type, Operation] = {
    ast.Add: Operation(np.add, _known(bounds.add)), ast.Sub: Operation(np.subtract, _known(bounds.subtract)),
    ast.Mult: Operation(np.multiply, _known(bounds.multiply)), ast.Div: Operation(np.true_divide, _known(bounds.divide)),
    ast.FloorDiv: Operation(np.floor_divide, _known(bounds.quotient)),
    ast.Mod: Operation(np.mod, _known(bounds.remainder)),
}
BITWISE: dict[type, Operation] = {
    ast.BitAnd: Operation(np.bitwise_and, _known(bounds.intersect)),
    ast.BitOr: Operation(np.bitwise_or, _known(bounds.unite)),
    ast.BitXor: Operation(np.bitwise_xor, _known(bounds.unite)),
    ast.LShift: Operation(_shift_left, _known(bounds.shift_left)),
    ast.RShift: Operation(_shift_right, _known(bounds.shift_right)),
}
COMPARE: dict[type, Operation] = {
    ast.Eq: EQUAL, ast.NotEq: Operation(np.not_equal, _known(lambda a, b: bounds.negate(bounds.equal(a, b)))),
    ast.Lt: Operation(np.less, _known(bounds.less)),
    ast.LtE: Operation(np.less_equal, _known(lambda a, b: bounds.less(a, b, True))),
    ast.Gt: Operation(np.greater, _known(lambda a, b: bounds.less(b, a))),
    ast.GtE: Operation(np.greater_equal, _known(lambda a, b: bounds.less(b, a, True))),
}
REDUCE: dict[str, Operation] = {
    "any": Operation(lambda v: (v != 0).any(axis=1), _known(bounds.any_of)),
    "all": Operation(lambda v: (v != 0).all(axis=1), _known(bounds.all_of)),
    "count": Operation(lambda v: np.count_nonzero(v, axis=1).astype(np.int64), _known(bounds.count_of)),
    "min": Operation(lambda v: numbers(v).min(axis=1), _known(bounds.least_of)),
    "max": Operation(lambda v: numbers(v).max(axis=1), _known(bounds.most_of)),
    "sum": Operation(lambda v: numbers(v).sum(axis=1), _known(bounds.sum_of)),
}
ABS = Operation(lambda values: np.abs(numbers(values)), _known(bounds.magnitude))
CONVERT: dict[str, tuple[str, Operation]] = {
    "popcount": ("i", Operation(lambda v: np.bitwise_count(integers(v).astype(np.uint64)).astype(np.int64), bounds.bits)),
    "f32": ("f", Operation(lambda v: integers(v).astype(np.uint32).view(np.float32).astype(np.float64))),
    "s32": ("i", Operation(lambda v: integers(v).astype(np.uint32).view(np.int32).astype(np.int64), _known(bounds.signed))),
}
JOIN: dict[str, tuple[str, Operation]] = {
    "u64": ("i", Operation(_join)),
    "f64": ("f", Operation(lambda low, high: np.asarray(_join(low, high)).view(np.float64))),
}
LOGICAL = frozenset({AND, OR})


def lookup(table: np.ndarray) -> Operation:
    """Return the operation that looks up a table; indices past its end give the last entry."""
    return Operation(lambda values: table[np.minimum(values, len(table) - 1)],
                     _known(lambda part: bounds.looked_up(part, table)))


def lane_bit(lane: int) -> Operation:
    """Return the operation that extracts one bit."""
    return Operation(lambda values: (values >> lane) & 1)
