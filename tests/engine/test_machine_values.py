"""What only machine code computes, against Python's integers and fractions: sums with carries, shifted sums, operand modifiers."""

from __future__ import annotations

import math
import struct
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rfview.engine import isa
from tests.engine.machine_programs import NOT_PT, PT, apply, plain_only, r

M32, M64 = 0xFFFFFFFF, 0xFFFFFFFFFFFFFFFF
EDGES = [0, 1, 2, 31, 32, 33, 63, 64, 0x7FFFFFFF, 0x80000000, 0x80000001, 0xFFFFFFFE, M32, 0x0000FFFF, 0xFFFF0000, 0x3F800000]
words = st.lists(st.one_of(st.sampled_from(EDGES), st.integers(0, M32)), min_size=32, max_size=32)
longs = st.lists(st.one_of(st.sampled_from([0, 1, M32, 1 << 32, 1 << 63, (1 << 63) - 1, M64, M64 - 1]), st.integers(0, M64)),
                 min_size=32, max_size=32)
truths = st.lists(st.booleans(), min_size=32, max_size=32)
few = settings(max_examples=4, deadline=None)
pytestmark = [pytest.mark.nojit, plain_only]


def signed(value: int, width: int = 32) -> int:
    """Return a word as a signed number."""
    return value - (1 << width) if value >> (width - 1) & 1 else value


def floats(values: Any) -> list[int]:
    """Return the bits of f32 numbers."""
    return np.array(values, np.float32).view(np.uint32).tolist()


@few
@given(words, words, words, truths, truths, st.integers(0, 3))
def test_a_sum_of_three_gives_both_carries(a, b, c, first, second, ones) -> None:
    low, _, p, q = apply(isa.OP_ADD3_CC, a, b, c, preds=(first, second), aux=ones, dst=12)
    for lane in range(32):
        total = a[lane] + b[lane] + c[lane] + ones + first[lane] + second[lane]
        assert (int(low[lane]), bool(p[lane]), bool(q[lane])) == (total & M32, total >> 32 > 0, total >> 32 > 1)


@few
@given(longs, longs, longs, truths, st.integers(0, 3))
def test_a_sum_of_three_64_bit_numbers_gives_both_carries(a, b, c, carry, ones) -> None:
    low, high, p, q = apply(isa.OP_ADD3_CC, a, b, c, is_wide=True, preds=(carry,), aux=ones | isa.ADD3_WIDE)
    for lane in range(32):
        total = a[lane] + b[lane] + c[lane] + ones + carry[lane]
        assert int(low[lane]) | int(high[lane]) << 32 == total & M64
        assert (bool(p[lane]), bool(q[lane])) == (total >> 64 > 0, total >> 64 > 1)


def test_a_negated_zero_carries_because_it_is_the_complement_and_one() -> None:
    # IADD3 R, P0, R, -RZ, RZ: x + ~0 + 1 carries for every x
    low, _, p, _ = apply(isa.OP_ADD3_CC, [5] * 32, [0] * 32, [0] * 32, aux=1, dst=12, modify=(0, isa.MODIFY_NOT, 0))
    assert low.tolist() == [5] * 32 and p.all()


@few
@given(words, words, words)
def test_a_plain_sum_of_three_wraps(a, b, c) -> None:
    low, *_ = apply(isa.OP_ADD3, a, b, c, dst=12, modify=(0, isa.MODIFY_NEG, 0))
    assert low.tolist() == [(x - y + z) & M32 for x, y, z in zip(a, b, c, strict=True)]


@few
@given(words, words, words, truths)
def test_a_product_with_a_carry_adds_it_and_gives_one(a, b, c, carry) -> None:
    low, _, p, _ = apply(isa.OP_MAD_CC, a, b, c, preds=(carry,), dst=12)
    for lane in range(32):
        total = (a[lane] * b[lane] & M32) + c[lane] + carry[lane]
        assert (int(low[lane]), bool(p[lane])) == (total & M32, total > M32)


@few
@given(words, words, longs, truths, st.booleans(), st.booleans())
def test_wide_products_add_a_pair_and_a_carry(a, b, c, carry, is_signed, upper) -> None:
    slots = {0: r(6), 2: r(8), 4: r(10), 5: r(11)}
    low, high, p, _ = apply(isa.OP_MAD_WIDE_CC, a, b, c, is_wide=True, preds=(carry,), slots=slots,
                            aux=isa.MAD_SIGNED * is_signed | isa.MAD_UPPER * upper, dst=12 if upper else (12, 13))
    for lane in range(32):
        x, y = (signed(value) if is_signed else value for value in (a[lane], b[lane]))
        total = (x * y & M64) + c[lane] + carry[lane]
        if upper:
            assert int(low[lane]) == total >> 32 & M32
        else:
            assert int(low[lane]) | int(high[lane]) << 32 == total & M64
        assert bool(p[lane]) == (total > M64)


@few
@given(words, words, words, truths, st.integers(0, 31), st.sampled_from([0, isa.LEA_HIGH, isa.LEA_HIGH | isa.LEA_SIGN_EXTEND]),
       st.booleans(), st.integers(0, 1))
def test_a_shifted_sum_takes_either_word_of_the_shifted_number(a, b, c, carry, shift, kind, complement, one) -> None:
    aux = shift | kind | isa.LEA_COMPLEMENT * complement | isa.LEA_PLUS_ONE * one
    low, _, p, _ = apply(isa.OP_LEA, a, b, c, preds=(carry,), aux=aux, dst=12)
    for lane in range(32):
        value = a[lane]
        if kind & isa.LEA_SIGN_EXTEND:
            value = signed(value) & M64
        elif kind:
            value |= c[lane] << 32
        value = value << shift >> 32 & M32 if kind else value << shift & M32
        total = (value ^ (M32 * complement)) + b[lane] + one + carry[lane]
        assert (int(low[lane]), bool(p[lane])) == (total & M32, total > M32)


@few
@given(words, words, words, truths, st.integers(0, 255), st.booleans())
def test_a_function_of_three_words_says_whether_its_result_is_zero(a, b, c, given_pred, table, is_and) -> None:
    a = [0 if k % 2 else value for k, value in enumerate(a)]
    low, _, p, _ = apply(isa.OP_LOP3_P, a, b, c, preds=(given_pred,), aux=table | isa.LOP3_AND * is_and, dst=12)
    for lane in range(32):
        value = sum(1 << k for k in range(32)
                    if table >> ((a[lane] >> k & 1) * 4 + (b[lane] >> k & 1) * 2 + (c[lane] >> k & 1)) & 1)
        assert int(low[lane]) == value
        assert bool(p[lane]) == ((value != 0 and given_pred[lane]) if is_and else (value != 0 or given_pred[lane]))


@settings(max_examples=16, deadline=None)
@given(words, words, words, st.booleans(), st.booleans(), st.booleans(), st.booleans(), st.booleans())
def test_a_funnel_shift_takes_a_word_of_both_shifted(a, amounts, c, left, wrap, high, is_wide, is_signed) -> None:
    amounts = [amount % 80 if k % 2 else amount for k, amount in enumerate(amounts)]
    aux = (isa.FUNNEL_LEFT * left | isa.FUNNEL_WRAP * wrap | isa.FUNNEL_HIGH * high | isa.FUNNEL_WIDE * is_wide
           | isa.FUNNEL_SIGNED * is_signed)
    low, *_ = apply(isa.OP_FUNNEL, a, amounts, c, aux=aux, dst=12)
    width = 64 if is_wide else 32
    for lane in range(32):
        amount = amounts[lane] % width if wrap else min(amounts[lane], width)
        value = a[lane] | c[lane] << 32
        value = value << amount & M64 if left else (signed(value, 64) if is_signed else value) >> amount & M64
        assert int(low[lane]) == (value >> 32 if high else value & M32)


@settings(max_examples=12, deadline=None)
@given(longs, longs, st.sampled_from(["eq", "ne", "lt", "le", "gt", "ge"]), st.booleans(), truths)
def test_comparing_high_words_after_low_ones_compares_64_bits(a, b, name, is_signed, other) -> None:
    b = [x if k % 3 == 0 else (x & ~M32) | (y & M32) if k % 3 == 1 else y for k, (x, y) in enumerate(zip(a, b, strict=True))]
    compare = {"eq": lambda x, y: x == y, "ne": lambda x, y: x != y, "lt": lambda x, y: x < y, "le": lambda x, y: x <= y,
               "gt": lambda x, y: x > y, "ge": lambda x, y: x >= y}[name]
    low = [compare(x & M32, y & M32) for x, y in zip(a, b, strict=True)]
    _, _, p, q = apply(isa.OP_SETP_EX, [x >> 32 for x in a], [y >> 32 for y in b], preds=(other, low), dst=(),
                       aux=isa.COMPARISONS[name] | isa.SETP_EX_SIGNED * is_signed, flags=isa.FLAG_BOOL_OR)
    for lane in range(32):
        x, y = (signed(value, 64) if is_signed else value for value in (a[lane], b[lane]))
        holds = compare(x, y)
        assert (bool(p[lane]), bool(q[lane])) == (holds or other[lane], not holds or other[lane])


@few
@given(words, words, words, st.booleans(), st.booleans(), st.booleans())
def test_extremes_of_three_and_of_a_sum(a, b, c, is_signed, largest, adds) -> None:
    aux = isa.MINMAX3_SIGNED * is_signed | isa.MINMAX3_MAX * largest | isa.MINMAX3_ADD * adds
    low, *_ = apply(isa.OP_MINMAX3, a, b, c, aux=aux, dst=12)
    choose = max if largest else min
    number = signed if is_signed else int
    for lane in range(32):
        first = [number(a[lane] + b[lane] & M32)] if adds else [number(a[lane]), number(b[lane])]
        assert int(low[lane]) == choose(*first, number(c[lane])) & M32


def test_extremes_of_three_floats_ignore_nan_unless_asked() -> None:
    a, b, c = floats([1.0, math.nan, -0.0, math.nan] * 8), floats([2.0, 3.0, 0.0, math.nan] * 8), floats([0.5, 5.0, 0.0, 7.0] * 8)
    low, *_ = apply(isa.OP_MINMAX3, a, b, c, aux=isa.MINMAX3_FLOAT, dst=12)
    assert low.tolist() == [*floats([0.5, 3.0]), 0x80000000, *floats([7.0])] * 8
    low, *_ = apply(isa.OP_MINMAX3, a, b, c, aux=isa.MINMAX3_FLOAT | isa.MINMAX3_MAX, flags=isa.FLAG_NAN, dst=12)
    assert low.tolist() == [*floats([2.0]), 0x7FFFFFFF, 0, 0x7FFFFFFF] * 8


def test_pairs_of_floats_are_computed_word_by_word_and_negated_as_a_whole() -> None:
    pair = [low | high << 32 for low, high in zip(floats([1.5, 2.0] * 16), floats([3.0, -4.0] * 16), strict=True)]
    low, high, *_ = apply(isa.OP_FLOAT_PAIR, pair, pair, pair, is_wide=True, aux=isa.FP_FMA, modify=(0, 0, isa.MODIFY_FNEG))
    assert low.tolist() == floats([1.5 * 1.5 - 1.5, 2.0] * 16) and high.tolist() == floats([6.0, 16.0 + 4.0] * 16)


def test_the_check_of_a_division_is_true_for_every_quotient_that_the_short_way_could_spoil() -> None:
    a = floats([1.0, 1e-40, 3e38, 1.0, math.inf, 0.0, 1.0, 1e38] * 4)
    b = floats([3.0, 1.0, 1e-3, 0.0, 1.0, 1.0, math.nan, 1e-38] * 4)
    _, _, p, _ = apply(isa.OP_FCHK, a, b, dst=())
    assert p.tolist() == [0, 1, 1, 1, 1, 1, 1, 1] * 4


def test_the_minimum_of_doubles_says_which_it_is_and_whether_it_is_a_nan() -> None:
    bits = lambda *values: [struct.unpack("<Q", struct.pack("<d", value))[0] for value in values] * 8      # noqa: E731
    a, b = bits(1.0, math.nan, 4.0, -0.0), bits(2.0, 3.0, math.nan, 0.0)
    _, _, p, q = apply(isa.OP_DMINMAX, a, b, is_wide=True, dst=())
    assert p.tolist() == [1, 0, 1, 1] * 8 and q.tolist() == [0, 0, 0, 0] * 8
    _, _, p, q = apply(isa.OP_DMINMAX, bits(math.nan, 1.0, 5.0, -0.0), bits(math.nan, 2.0, 4.0, 0.0), is_wide=True, dst=(), aux=1)
    assert p.tolist() == [0, 0, 1, 0] * 8 and q.tolist() == [1, 0, 0, 0] * 8


def test_two_floats_become_bytes_below_a_word_that_is_kept() -> None:
    upper, lower = floats([1.9, -3.0, 300.0, math.nan] * 8), floats([254.5, 255.0, 0.0, 7.0] * 8)
    low, *_ = apply(isa.OP_F2IP, upper, lower, [0xABCD] * 32, dst=12, flags=isa.FLAG_RZ)
    nearest, *_ = apply(isa.OP_F2IP, upper, lower, [0xABCD] * 32, dst=12)
    assert nearest[0] == 0xABCD0000 | 2 << 8 | 254
    assert low.tolist() == [0xABCD0000 | 1 << 8 | 254, 0xABCD0000 | 255, 0xABCD0000 | 255 << 8, 0xABCD0000 | 7] * 8


@settings(max_examples=8, deadline=None)
@given(words, words, words, st.sampled_from([2, 4, 8, 16]), st.booleans())
def test_integers_are_limited_and_packed_below_a_word(upper, lower, above, bits, is_signed) -> None:
    low, *_ = apply(isa.OP_I2IP, upper, lower, above, dst=12, aux=bits | isa.I2IP_SIGNED * is_signed)
    least, most = (-1 << bits - 1, (1 << bits - 1) - 1) if is_signed else (0, (1 << bits) - 1)
    for lane in range(32):
        parts = [min(max(signed(word[lane]), least), most) & (1 << bits) - 1 for word in (upper, lower)]
        assert int(low[lane]) == (above[lane] << 2 * bits | parts[0] << bits | parts[1]) & M32


@few
@given(words, words, words, st.integers(0, 255))
def test_logic_of_signs_asks_for_the_sign_bit_alone(a, b, c, table) -> None:
    _, _, p, _ = apply(isa.OP_LOP3_P, a, b, c, preds=([False] * 32,), aux=table | isa.LOP3_SIGN, dst=12)
    assert p.tolist() == [table >> (x >> 31) * 4 + (y >> 31) * 2 + (z >> 31) & 1 for x, y, z in zip(a, b, c, strict=True)]


def test_floats_beyond_the_largest_half_become_it_with_satfinite() -> None:
    upper, lower = floats([1e6, -math.inf, math.nan, 1.5] * 8), floats([-1e6, 65519.0, 65520.0, 0.0] * 8)
    aux = isa.T_F16X2 | isa.T_F32 << 8 | isa.CVT_PAIR | isa.CVT_FINITE
    low, *_ = apply(isa.OP_CVT, upper, lower, aux=aux, dst=12)
    assert low.tolist() == [0x7BFFFBFF, 0xFBFF7BFF, 0x7FFF7BFF, 0x3E000000] * 8
    limited, *_ = apply(isa.OP_CVT, upper, lower, aux=aux, flags=isa.FLAG_RELU, dst=12)
    assert limited.tolist() == [0x7BFF0000, 0x7BFF, 0x7FFF7BFF, 0x3E000000] * 8


def test_a_vote_gives_the_ballot_and_an_answer() -> None:
    odd = [bool(lane % 2) for lane in range(32)]
    for vote, holds in ((isa.VOTE_ANY, 1), (isa.VOTE_ALL, 0), (isa.VOTE_UNI, 0)):
        low, _, p, _ = apply(isa.OP_VOTE_BOTH, preds=(odd,), aux=vote, dst=12, flags=isa.FLAG_NO_SYNC)
        assert low.tolist() == [0xAAAAAAAA] * 32 and p.tolist() == [holds] * 32


def test_sines_and_cosines_of_turns_are_exact_at_quarters() -> None:
    turns = [0.0, 0.25, 0.5, 0.75, 1.0, -0.25, 1e30, 0.125] * 4
    for sub, wanted in ((isa.SFU_SIN_TURNS, [0, 1, 0, -1, 0, -1, 0, math.sqrt(0.5)]),
                        (isa.SFU_COS_TURNS, [1, 0, -1, 0, 1, 0, 1, math.sqrt(0.5)])):
        low, *_ = apply(isa.OP_SFU, floats(turns), aux=sub, dst=12, flags=isa.FLAG_FTZ)
        assert (np.abs(low.view(np.float32)) == np.float32(np.abs(wanted * 4))).all()
        assert [value for value in low.view(np.float32) if value] == [np.float32(value) for value in wanted * 4 if value]
    low, *_ = apply(isa.OP_SFU, floats([math.inf, math.nan] * 16), aux=isa.SFU_SIN_TURNS, dst=12)
    assert low.tolist() == [0x7FFFFFFF] * 32


@settings(max_examples=12, deadline=None)
@given(st.lists(st.one_of(st.sampled_from([0, 1, 0x80000000, 0x80000001, 0x00800000, 0x83FFFFFF, 0x40490FDB, 0x7F7FFFFF, 0x7F800000,
                                           0xFF800000, 0x7FC00001]), st.integers(0x30000000, 0x44000000), st.integers(0, M32)),
                min_size=32, max_size=32))
def test_sin_and_cos_of_ptx_are_the_two_instructions_that_ptxas_makes_of_them(angles) -> None:
    turns, *_ = apply(isa.OP_FLOAT, angles, floats([1 / (2 * math.pi)] * 32), aux=isa.FP_MUL, flags=isa.FLAG_RZ, dst=12)
    for of_ptx, of_machine in ((isa.SFU_SIN, isa.SFU_SIN_TURNS), (isa.SFU_COS, isa.SFU_COS_TURNS)):
        wanted, *_ = apply(isa.OP_SFU, turns.tolist(), aux=of_machine, flags=isa.FLAG_FTZ, dst=12)
        for flags in (0, isa.FLAG_FTZ):
            got, *_ = apply(isa.OP_SFU, angles, aux=of_ptx, flags=flags, dst=12)
            assert [hex(x) for x in got] == [hex(x) for x in wanted]


def test_a_nan_keeps_its_sign_and_bits_as_a_double() -> None:
    given_bits = ([0x7FFFFFFF, 0x7FC00000, 0xFFC00001, 0x7F800001, 0xFF812345, 0x7F800000, 0xBF800000, 0x00000001] * 4)[:32]
    wanted = [struct.unpack("<Q", struct.pack("<d", struct.unpack("<f", struct.pack("<I", bits))[0]))[0] for bits in given_bits]
    wanted[3::8], wanted[4::8] = [0x7FF8000020000000] * 4, [0xFFF82468A0000000] * 4      # signalling ones become quiet
    for op, aux, flags in ((isa.OP_CVT_F64_F32, 0, 0), (isa.OP_CVT, isa.T_F64 | isa.T_F32 << 8, isa.FLAG_FTZ)):
        low, high, *_ = apply(op, given_bits, aux=aux, flags=flags)
        got = [int(upper) << 32 | int(lower) for upper, lower in zip(high, low, strict=True)]
        flushed = [0 if flags and bits == 1 else value for bits, value in zip(given_bits, wanted, strict=True)]
        assert [hex(value) for value in got] == [hex(value) for value in flushed]


HALVES = 0x3C00C000       # 1.0 above -2.0
MODIFIED = {     # modifier: (operand, what a move of 64 bits gives)
    (isa.MODIFY_NEG, 0): (5, M32 - 4), (isa.MODIFY_NOT, 0): (5, M64 - 5), (isa.MODIFY_NEG64, 0): (1 << 32, M64 - M32),
    (isa.MODIFY_FNEG, 0): (0x3F800000, 0x80000000_BF800000), (isa.MODIFY_FABS, 0): (0xBF800000, 0x3F800000),
    (isa.MODIFY_FNABS, 0): (0x3F800000, 0x80000000_BF800000), (isa.MODIFY_DNEG, 0): (1, 1 << 63 | 1),
    (isa.MODIFY_DABS, 0): (M64, M64 >> 1), (isa.MODIFY_DNABS, 0): (1, 1 << 63 | 1),
    (isa.MODIFY_HNEG, 0): (HALVES, 0xBC004000), (isa.MODIFY_HABS, 0): (HALVES, 0x3C004000), (isa.MODIFY_HNABS, 0): (HALVES, 0xBC00C000),
    (0, isa.PART_B0): (0x89ABCDEF, 0xEF), (0, isa.PART_B1): (0x89ABCDEF, 0xCD), (0, isa.PART_B2): (0x89ABCDEF, 0xAB),
    (0, isa.PART_B3): (0x89ABCDEF, 0x89), (0, isa.PART_H0): (0x89ABCDEF, 0xCDEF), (0, isa.PART_H1): (0x89ABCDEF, 0x89AB),
    (0, isa.PART_H0_H0): (HALVES, 0xC000C000), (0, isa.PART_H1_H1): (HALVES, 0x3C003C00),
    (0, isa.PART_F32): (0x3F801FFF, 0x3C003C00), (0, isa.PART_FTZ): (0x80000001, 0x80000000),
    (isa.MODIFY_HNEG, isa.PART_H1_H1): (HALVES, 0xBC00BC00), (isa.MODIFY_NEG, isa.PART_B1): (0x0000FF00, M32 - 254),
}


@pytest.mark.parametrize("modifier", MODIFIED)
def test_an_operand_is_cut_first_and_then_gets_its_sign(modifier) -> None:
    sign, part = modifier
    given_bits, wanted = MODIFIED[modifier]
    low, high, *_ = apply(isa.OP_MOV64, [given_bits] * 32, is_wide=True, modify=(sign | part << isa.PART_SHIFT, 0, 0))
    assert set(low.tolist()) == {wanted & M32} and set(high.tolist()) == {wanted >> 32}


@few
@given(truths, truths, truths, st.integers(0, 255), st.integers(0, 255))
def test_functions_of_three_predicates_follow_both_tables(a, b, c, first, second) -> None:
    _, _, p, q = apply(isa.OP_PLOP3, preds=(a, b, c), dst=(), aux=first | second << 8)
    entries = [x * 4 + y * 2 + z for x, y, z in zip(a, b, c, strict=True)]
    assert p.tolist() == [first >> entry & 1 for entry in entries] and q.tolist() == [second >> entry & 1 for entry in entries]


def test_constant_predicates_are_true_and_false() -> None:
    _, _, p, q = apply(isa.OP_PLOP3, psrc=(PT, NOT_PT, PT), dst=(), aux=1 << 5 | (255 - (1 << 5)) << 8)
    assert p.all() and not q.any()


def test_predicates_go_to_a_byte_of_a_register_and_back() -> None:
    odd, third = [bool(lane % 2) for lane in range(32)], [lane % 3 == 0 for lane in range(32)]
    low, *_ = apply(isa.OP_P2R, [3] * 32, [0xABCDEF01] * 32, preds=(odd, third), pdst=(), psrc=(), dst=12, aux=2)
    assert low.tolist() == [0xABCCEF01 | (x | y << 1) << 16 | 0xCC << 16 for x, y in zip(odd, third, strict=True)]
    _, _, p, q = apply(isa.OP_R2P, [0x0800 if x else 0x1000 for x in odd], dst=(), pdst=(), aux=0x18 | 1 << isa.R2P_BYTE_SHIFT)
    assert p.tolist() == odd and q.tolist() == [not x for x in odd]


def test_a_move_to_a_uniform_register_says_which_lanes_have_another_value() -> None:
    low, _, p, _ = apply(isa.OP_R2UR, [7, 7, 8, 7] * 8, dst=12)
    assert low.tolist() == [7] * 32 and p.tolist() == [0, 0, 1, 0] * 8


def test_the_first_lane_for_which_a_predicate_holds_is_elected() -> None:
    low, _, p, _ = apply(isa.OP_ELECT, preds=([lane > 4 for lane in range(32)],), dst=12)
    assert low.tolist() == [5] * 32 and p.tolist() == [int(lane == 5) for lane in range(32)]
    _, _, p, _ = apply(isa.OP_ELECT, preds=([False] * 32,), dst=12)
    assert not p.any()
