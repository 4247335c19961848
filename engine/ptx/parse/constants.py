"""Constant expressions: C's operators, with C's precedence, on 64-bit integers that are .s64, or .u64 once one is."""

from __future__ import annotations

import operator
from collections.abc import Callable

from rfview.engine.ptx.parse.syntax import Number

_LEVELS = ("||", "&&", "|", "^", "&", "== !=", "< > <= >=", "<< >>", "+ -", "* / %")
PRECEDENCE = {sign: level for level, signs in enumerate(_LEVELS, 1) for sign in signs.split()}
SHIFTS, DIVISIONS = ("<<", ">>"), ("/", "%")


def _divided(left: int, right: int) -> int:
    """Return the quotient, cut off towards zero as in C."""
    return abs(left) // abs(right) * (1 if (left < 0) == (right < 0) else -1)


_TRUTH: dict[str, Callable[[int, int], bool]] = {
    "||": lambda left, right: bool(left or right), "&&": lambda left, right: bool(left and right),
    "==": operator.eq, "!=": operator.ne, "<": operator.lt, ">": operator.gt, "<=": operator.le, ">=": operator.ge,
}
_ARITHMETIC: dict[str, Callable[[int, int], int]] = {
    "|": operator.or_, "^": operator.xor, "&": operator.and_, "<<": operator.lshift, ">>": operator.rshift,
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": _divided, "%": operator.mod,
}


def wrapped(value: int, unsigned: bool) -> int:
    """Return the lowest 64 bits of a number, as .u64 or .s64."""
    return value % (1 << 64) if unsigned else (value + (1 << 63)) % (1 << 64) - (1 << 63)


def combined(sign: str, left: Number, right: Number) -> Number:
    """Return `left sign right` of two integers; shifts are by 0 to 63 bits, divisors not 0.

    A shift has the type of its left operand; `%` is always .u64, as in ptxas; truth values are .s64.
    """
    unsigned = left.unsigned or (right.unsigned and sign not in SHIFTS) or sign == "%"
    values = wrapped(left.value, unsigned), right.value if sign in SHIFTS else wrapped(right.value, unsigned)
    if sign in _TRUTH:
        return Number("int", int(_TRUTH[sign](*values)))
    return Number("int", wrapped(_ARITHMETIC[sign](*values), unsigned), unsigned)


def signed(sign: str, number: Number) -> Number:
    """Return `sign number` of an integer, for the signs - + ~ !; ~ makes it .u64, ! is a truth value."""
    if sign == "!":
        return Number("int", int(not number.value))
    value = {"-": -number.value, "+": number.value, "~": ~number.value}[sign]
    return Number("int", value, number.unsigned or sign == "~")
