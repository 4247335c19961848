"""What tensor cores compute, against products of whole matrices; matrices in lanes; integers packed in words."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from rfview.engine import isa
from rfview.engine.state import ROW
from rfview.engine.values.matrix import gather_rows, movm_rows, spread_rows
from rfview.engine.values.packed import packed_rows
from rfview.engine.values.product import NARROW, multiply, product_rows
from tests.engine.machine_programs import plain_only

pytestmark = [pytest.mark.nojit, plain_only]

A_SLOTS, B_SLOTS, C_SLOTS, RESULT = (0, 1, 6, 7), (2, 3), (4, 5, 8, 9), 10
BITS = {isa.PRODUCT_F16: 16, isa.PRODUCT_BF16: 16, isa.PRODUCT_TF32: 32, isa.PRODUCT_F64: 64, isa.PRODUCT_INT8: 8,
        isa.PRODUCT_INT4: 4, isa.PRODUCT_BITS: 1}
TALL_DEEP, TALL = isa.PRODUCT_TALL | isa.PRODUCT_DEEP, isa.PRODUCT_TALL


def patterns(kind: int, values: np.ndarray) -> np.ndarray:
    """Return elements of A or B as bits, one number each."""
    if kind == isa.PRODUCT_F16:
        return values.astype(np.float16).view(np.uint16).astype(np.uint64)
    if kind == isa.PRODUCT_BF16:
        return values.astype(np.float32).view(np.uint32).astype(np.uint64) >> np.uint64(16)
    if kind == isa.PRODUCT_TF32:
        return values.astype(np.float32).view(np.uint32).astype(np.uint64) | np.uint64(0x1FFF)      # bits that do not count
    if kind == isa.PRODUCT_F64:
        return values.astype(np.float64).view(np.uint64)
    return values.astype(np.int64).view(np.uint64) & np.uint64((1 << BITS[kind]) - 1)


def words(kind: int, lines: np.ndarray) -> np.ndarray:
    """Return the registers of lines (rows of A, columns of B) as the PTX manual lays them out: [block, chunk, lane], 64 bits."""
    bits = BITS[kind]
    packed = max(1, 32 // bits)
    of_lane = patterns(kind, lines).reshape(len(lines) // 8, 8, -1, 4, packed)      # block, g, chunk, t, element
    places = np.arange(packed, dtype=np.uint64) * np.uint64(bits if packed > 1 else 0)
    return (of_lane << places).sum(-1, dtype=np.uint64).transpose(0, 2, 1, 3).reshape(len(lines) // 8, -1, 32)


def multiplied(aux: int, a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
    """Return D as PRODUCT computes it; c: the bits of C, of 32 or 64 bits."""
    kind = aux & 7
    rows = np.zeros(20, ROW).view(np.recarray)
    double = kind == isa.PRODUCT_F64
    for slots, lines in ((A_SLOTS, a), (B_SLOTS, b.T)):
        registers = words(kind, lines).transpose(1, 0, 2).reshape(-1, 32)           # chunk by chunk, block by block
        for slot, register in zip(slots, registers):
            rows[slot].u[:] = register & np.uint64(0xFFFFFFFF)
            if double:
                rows[slot + 1].u[:] = register >> np.uint64(32)
    blocks = c.reshape(len(c) // 8, 8, 4, 2).transpose(0, 3, 1, 2).reshape(-1, 32).astype(np.uint64)     # block and side
    halves = kind == isa.PRODUCT_F16 and aux & isa.PRODUCT_HALVES
    if halves:
        blocks = blocks[::2] | blocks[1::2] << np.uint64(16)
    if double:
        blocks = np.stack([blocks & np.uint64(0xFFFFFFFF), blocks >> np.uint64(32)], 1).reshape(-1, 32)
    for slot, block in zip(C_SLOTS, blocks):
        rows[slot].u[:] = block
    product_rows(rows, np.int64(0), np.int64(RESULT), np.uint32(aux))
    got = np.array([rows[RESULT + number].u for number in range(len(blocks))]).astype(np.uint64)
    if halves:
        got = np.stack([got & np.uint64(0xFFFF), got >> np.uint64(16)], 1).reshape(-1, 32)
    if double:
        got = got[::2] | got[1::2] << np.uint64(32)
    return got.reshape(len(c) // 8, 2, 8, 4).transpose(0, 2, 3, 1).reshape(c.shape)


@pytest.mark.parametrize("aux, rows, depth", [
    (isa.PRODUCT_F16 | TALL_DEEP, 16, 16), (isa.PRODUCT_F16 | TALL, 16, 8), (isa.PRODUCT_F16 | TALL_DEEP | isa.PRODUCT_HALVES, 16, 16),
    (isa.PRODUCT_BF16 | TALL_DEEP, 16, 16), (isa.PRODUCT_TF32 | TALL_DEEP, 16, 8), (isa.PRODUCT_TF32 | TALL, 16, 4),
    (isa.PRODUCT_F64, 8, 4),
])
def test_a_product_of_floats_is_that_of_the_matrices_that_the_lanes_hold(aux: int, rows: int, depth: int) -> None:
    random = np.random.default_rng(1)
    a, b, c = (random.integers(-8, 8, shape).astype(np.float64) for shape in ((rows, depth), (depth, 8), (rows, 8)))
    of_sums: Any = np.float64 if aux & 7 == isa.PRODUCT_F64 else np.float16 if aux & isa.PRODUCT_HALVES else np.float32
    bits = {8: np.uint64, 4: np.uint32, 2: np.uint16}[np.dtype(of_sums).itemsize]
    got = multiplied(aux, a, b, c.astype(of_sums).view(bits))
    assert np.array_equal(got.astype(bits).view(of_sums), a @ b + c)


@pytest.mark.parametrize("aux, rows, depth", [
    (isa.PRODUCT_INT8 | TALL_DEEP | isa.PRODUCT_SIGNED_A | isa.PRODUCT_SIGNED_B, 16, 32), (isa.PRODUCT_INT8 | isa.PRODUCT_SIGNED_B, 8, 16),
    (isa.PRODUCT_INT4 | TALL_DEEP | isa.PRODUCT_SIGNED_A, 16, 64), (isa.PRODUCT_INT8 | isa.PRODUCT_SIGNED_A | isa.PRODUCT_SIGNED_B
                                                                    | isa.PRODUCT_SATURATES, 8, 16),
    (isa.PRODUCT_BITS | TALL_DEEP, 16, 256), (isa.PRODUCT_BITS | isa.PRODUCT_AND, 8, 128),
])
def test_a_product_of_integers_wraps_or_saturates(aux: int, rows: int, depth: int) -> None:
    random, kind = np.random.default_rng(2), aux & 7
    span = 1 << BITS[kind]

    def numbers(signed: int, *shape: int) -> np.ndarray:
        return random.integers(-span // 2 if signed else 0, span // 2 if signed else span, shape)

    of_bits = kind == isa.PRODUCT_BITS
    a = numbers(0 if of_bits else aux & isa.PRODUCT_SIGNED_A, rows, depth)
    b = numbers(0 if of_bits else aux & isa.PRODUCT_SIGNED_B, depth, 8)
    c = random.integers(-(1 << 31), 1 << 31, (rows, 8))
    c[0] = (1 << 31) - 1, -(1 << 31), (1 << 31) - 5, 5 - (1 << 31), 0, 1, -1, 7
    product = a @ b if not of_bits or aux & isa.PRODUCT_AND else (a[:, :, None] != b[None]).sum(1)
    wanted = product + c
    wanted = np.clip(wanted, -(1 << 31), (1 << 31) - 1) if not of_bits and aux & isa.PRODUCT_SATURATES else wanted
    got = multiplied(aux, a, b, c & 0xFFFFFFFF)
    assert np.array_equal(got, wanted.astype(np.int64).view(np.uint64) & np.uint64(0xFFFFFFFF))


def test_sums_are_rounded_after_every_product_in_the_order_of_k() -> None:
    a, b, c = np.zeros((16, 16)), np.ones((16, 8)), np.full((16, 8), 2.0**24, np.float32)
    a[0], a[1, 0], a[1, 15], a[2, 0], a[2, 15] = 1, 1, 2, 2, 1
    got = multiplied(isa.PRODUCT_F16 | TALL_DEEP, a, b, c.view(np.uint32)).astype(np.uint32).view(np.float32)
    # each 1 is lost, but 2 is not; 2 first makes no difference to the 1 behind it, a tie that goes to the even number
    assert (got[:4, 0] - np.float32(2.0**24)).tolist() == [0, 2, 4, 0]


def test_sums_of_halves_are_rounded_once_per_instruction_so_twice_by_two_of_half_the_depth() -> None:
    """sm_75 needs two HMMA.1688 for what is one instruction in PTX and on sm_80 (B10.11)."""
    random = np.random.default_rng(3)
    a, b = (random.standard_normal(shape).astype(np.float16) for shape in ((16, 16), (16, 8)))
    c = random.standard_normal((16, 8)).astype(np.float16)

    def in_steps(depth: int) -> np.ndarray:
        total = c
        for first in range(0, 16, depth):
            wide = total.astype(np.float32)
            for k in range(first, first + depth):       # a product of halves is exact as a float
                wide = (a[:, k : k + 1].astype(np.float64) * b[k] + wide).astype(np.float32)
            total = wide.astype(np.float16)
        return total

    flags = isa.PRODUCT_F16 | isa.PRODUCT_HALVES
    one = multiplied(flags | TALL_DEEP, a, b, c.view(np.uint16))
    half = multiplied(flags | TALL, a[:, :8], b[:8], c.view(np.uint16))
    two = multiplied(flags | TALL, a[:, 8:], b[8:], half)
    assert np.array_equal(one, in_steps(16).view(np.uint16)) and np.array_equal(two, in_steps(8).view(np.uint16))
    assert 0 < np.count_nonzero(one != two) < one.size / 2


def test_halves_of_every_kind_are_multiplied() -> None:
    specials = np.array([0.0, -0.0, 6e-8, -6.1e-5, 65504, np.inf, -np.inf, np.nan], np.float16)
    a = np.zeros((16, 8), np.float16)
    a[:8, 0] = specials
    b = np.zeros((8, 8), np.float16)
    b[0] = 1
    got = multiplied(isa.PRODUCT_F16 | TALL, a, b, np.zeros((16, 8), np.uint32)).astype(np.uint32)
    assert np.array_equal(got.view(np.float32)[:7, 0], specials[:7].astype(np.float32))
    assert got[7, 0] == 0x7FFFFFFF


def test_sums_of_halves_are_rounded_to_halves() -> None:
    sums = np.array([65519.9, 65520, -65520, 2048.5, 2049, 2051, 6e-8, 2.98e-8, 2.99e-8, -8.9e-8, 6.103e-5, np.nan, np.inf, 1e-30, -0.0,
                     0.1], np.float32)
    rows = np.zeros(4, ROW).view(np.recarray)
    rows[0].u[:], rows[1].u[:] = np.tile(sums, 2).view(np.uint32), np.tile(sums[::-1], 2).view(np.uint32)
    multiply(rows, 0, 1, 2, 0, NARROW)
    got = rows[2].u.copy().view(np.float16).reshape(2, 16, 2)[0]
    with np.errstate(over="ignore"):
        wanted = sums.astype(np.float16)
    assert np.array_equal(got[:, 0], wanted, equal_nan=True) and np.array_equal(got[:, 1], wanted[::-1], equal_nan=True)
    assert np.signbit(got[14, 0]) and int(rows[2].u[11]) & 0xFFFF == 0x7FFF


def matrix_of(rows: np.recarray, row: int) -> np.ndarray:
    """Return the matrix of halves in a row: lane n has halves 2 (n % 4) and the next of row n / 4."""
    return rows[row].u.copy().view(np.uint16).reshape(8, 8)


@pytest.mark.parametrize("count", [1, 2, 4])
def test_matrices_go_from_the_lanes_of_their_rows_to_all_lanes_and_back(count: int) -> None:
    rows = np.zeros(16, ROW).view(np.recarray)
    held = np.random.default_rng(3).integers(0, 1 << 16, (count, 8, 8)).astype(np.uint16)
    for word in range(4):
        rows[word].u[: 8 * count] = held.reshape(8 * count, 8).view(np.uint32)[:, word]
    for transposed in (0, isa.MATRIX_TRANSPOSED):
        spread_rows(rows, np.int64(0), np.int64(4), np.uint32(count | transposed))
        for number in range(count):
            assert np.array_equal(matrix_of(rows, 4 + number), held[number].T if transposed else held[number])
        gather_rows(rows, np.int64(4), np.int64(8), np.uint32(count | transposed))
        for word in range(4):
            assert np.array_equal(rows[8 + word].u[: 8 * count], rows[word].u[: 8 * count])
    movm_rows(rows, np.int64(4), np.int64(12))
    assert np.array_equal(matrix_of(rows, 12), held[0])


@pytest.mark.parametrize("size", [8, 16, 32])
@pytest.mark.parametrize("signed", [0, isa.PACKED_SIGNED])
def test_packed_integers_are_combined_element_by_element(size: int, signed: int) -> None:
    random = np.random.default_rng(4)
    kind = np.dtype(f"{'i' if signed else 'u'}{size // 8}")
    a, b, c = (random.integers(0, 256, 128, np.uint8) for _ in range(3))
    b[::3] = a[::3]
    x, y, z = (one.view(kind).astype(np.int64) for one in (a, b, c))

    def combined(first: int, second: int = isa.PACKED_FIRST, flags: int = 0) -> tuple[np.ndarray, int]:
        rows = np.zeros(8, ROW).view(np.recarray)
        for row, one in ((0, a), (2, b), (4, c)):
            rows[row].u[:] = one.view(np.uint32)
        aux = size | first << isa.PACKED_SHIFT | second << isa.PACKED_SHIFT_C | signed | flags
        chosen = int(packed_rows(rows, np.int64(0), np.int64(6), np.uint32(aux)))
        return rows[6].u.copy(), chosen

    def packed(values: np.ndarray) -> np.ndarray:
        return values.astype(kind).view(np.uint32)

    assert np.array_equal(combined(isa.PACKED_SUB)[0], packed(x - y))
    assert np.array_equal(combined(isa.PACKED_DISTANCE)[0], packed(abs(x - y)))
    total = abs(x - y).reshape(32, -1).sum(1) + c.view(np.uint32)
    assert np.array_equal(combined(isa.PACKED_DISTANCE, flags=isa.PACKED_SUM)[0], total.astype(np.uint32))
    wrapped = (x + y).astype(kind).astype(np.int64)
    assert np.array_equal(combined(isa.PACKED_ADD, isa.PACKED_MAX)[0], packed(np.maximum(wrapped, z)))
    least, chosen = combined(isa.PACKED_MIN)
    assert np.array_equal(least, packed(np.minimum(x, y)))
    takes = (x <= y).reshape(32, -1)
    wanted = sum(int(takes[lane, 0]) << lane | int(takes[lane, -1]) << 32 + lane for lane in range(32))
    assert chosen == wanted
    if signed:
        largest = combined(isa.PACKED_MAX, isa.PACKED_MAX, isa.PACKED_RELU)[0]
        assert np.array_equal(largest, packed(np.maximum(np.maximum(np.maximum(x, y), z), 0)))
