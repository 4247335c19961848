"""The exact arithmetic of the reference interpreter, against NumPy and the host's rounding."""

from __future__ import annotations

import math
import struct
from fractions import Fraction

import numpy as np
import pytest

from tests.reference import floats
from tests.reference.floats import BF16, F16, F32, F64, RM, RN, RP, RZ

pytestmark = pytest.mark.nojit
SPECIAL32 = [0, 0x80000000, 1, 0x80000001, 0x007FFFFF, 0x00800000, 0x3F800000, 0xBF800000, 0x7F7FFFFF, 0xFF7FFFFF,
             0x7F800000, 0xFF800000, 0x7FC00000, 0x7FFFFFFF, 0x3F800001, 0x34000000, 0x00000003, 0x40490FDB]


def patterns(count: int = 3000) -> np.ndarray:
    state = np.random.RandomState(5)
    random = state.randint(0, 2**32, count, dtype="u8").astype("u4")
    return np.concatenate([np.array(SPECIAL32, "u4").repeat(len(SPECIAL32)), random])


def canonical(values: np.ndarray) -> np.ndarray:
    return np.where(np.isnan(values), np.uint32(F32.nan), values.view("u4"))


@pytest.mark.parametrize("name", ["add", "subtract", "multiply", "divide"])
def test_single_precision_rounds_as_numpy_does(name: str) -> None:
    a = patterns()
    b = np.concatenate([np.tile(np.array(SPECIAL32, "u4"), len(SPECIAL32)), patterns()[-3000:][::-1]])
    with np.errstate(all="ignore"):
        want = canonical(getattr(np, name)(a.view("f4"), b.view("f4")))
    got = [getattr(floats, name)(F32, int(x), int(y)) for x, y in zip(a, b)]
    np.testing.assert_array_equal(np.array(got, "u4"), want)


def test_double_precision_rounds_as_the_host_does() -> None:
    state = np.random.RandomState(6)
    bits = state.randint(0, 2**63, (2000, 2), dtype="u8") * 2 + state.randint(0, 2, (2000, 2), dtype="u8")
    with np.errstate(all="ignore"):
        for name in ("add", "subtract", "multiply", "divide"):
            want = getattr(np, name)(bits[:, 0].view("f8"), bits[:, 1].view("f8"))
            want = np.where(np.isnan(want), np.uint64(F64.nan), want.view("u8"))
            got = [getattr(floats, name)(F64, int(x), int(y)) for x, y in bits]
            np.testing.assert_array_equal(np.array(got, "u8"), want)


def test_square_root_rounds_as_numpy_does() -> None:
    a = patterns()
    with np.errstate(all="ignore"):
        want = canonical(np.sqrt(a.view("f4")))
    np.testing.assert_array_equal(np.array([floats.square_root(F32, int(x)) for x in a], "u4"), want)


def test_fused_multiply_add_rounds_once() -> None:
    state = np.random.RandomState(7)
    for x, y, z in state.uniform(-2, 2, (500, 3)).astype("f4"):
        exact = Fraction(float(x)) * Fraction(float(y)) + Fraction(float(z))
        got = floats.fma(F32, *(int(v.view("u4")) for v in (x, y, z)))
        value = Fraction(floats.to_float(F32, got))
        below, above = (Fraction(floats.to_float(F32, got + step)) for step in (-1, 1))
        assert abs(value - exact) <= min(abs(below - exact), abs(above - exact))
    assert floats.fma(F32, F32.one, F32.one, F32.one | F32.sign) == 0
    assert floats.fma(F32, F32.one, F32.one, F32.one | F32.sign, RM) == F32.sign


@pytest.mark.parametrize("mode", [RZ, RM, RP])
def test_directed_rounding_brackets_the_exact_value(mode: int) -> None:
    state = np.random.RandomState(8)
    for x, y in state.uniform(-8, 8, (300, 2)).astype("f4"):
        exact = Fraction(float(x)) / Fraction(float(y))
        got = Fraction(floats.to_float(F32, floats.divide(F32, int(x.view("u4")), int(y.view("u4")), mode)))
        if mode == RM or (mode == RZ and exact > 0):
            assert got <= exact
        else:
            assert got >= exact
        assert abs(got - exact) < abs(exact) * Fraction(1, 2**23)


def test_every_half_survives_the_way_to_single_and_back() -> None:
    for x in range(0, 1 << 16, 7):
        wide = floats.to_format(F16, F32, x)
        want = np.array([x], "u2").view("f2").astype("f4")[0]
        assert (math.isnan(want) and wide == F32.nan) or wide == int(want.view("u4"))
        assert floats.is_nan(F16, x) or floats.to_format(F32, F16, wide) == x


def test_narrowing_rounds_as_numpy_does() -> None:
    a = patterns()
    with np.errstate(all="ignore"):
        want = a.view("f4").astype("f2")
    for x, half in zip(a, want):
        got = floats.to_format(F32, F16, int(x))
        assert (np.isnan(half) and got == F16.nan) or got == int(half.view("u2"))
    assert floats.to_format(F32, BF16, 0x3F808000) == 0x3F80 and floats.to_format(F32, BF16, 0x3F818000) == 0x3F82


@pytest.mark.parametrize(("value", "expected"), [
    (2.5, (2, 2, 2, 3)), (-2.5, (-2, -2, -3, -2)), (3.5, (4, 3, 3, 4)), (-0.25, (0, 0, -1, 0)),
])
def test_rounding_to_whole_numbers(value: float, expected: tuple[int, ...]) -> None:
    bits = struct.unpack("<I", struct.pack("<f", value))[0]
    assert tuple(floats.to_integer(F32, bits, mode) for mode in (RN, RZ, RM, RP)) == expected


def test_minimum_and_maximum_prefer_numbers_and_know_signed_zeros() -> None:
    minus, plus = F32.sign, 0
    assert floats.smallest(F32, plus, minus) == minus and floats.largest(F32, minus, plus) == plus
    assert floats.smallest(F32, F32.nan, F32.one) == F32.one
    assert floats.smallest(F32, F32.nan, F32.one, propagate_nan=True) == F32.nan


def test_conversion_of_whole_numbers_rounds_as_numpy_does() -> None:
    state = np.random.RandomState(9)
    values = state.randint(-(2**62), 2**62, 500)
    want = values.astype("f4")
    assert [floats.from_integer(F32, int(v)) for v in values] == [int(w.view("u4")) for w in want]
