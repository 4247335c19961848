"""Floats of 8 bits in machine code, against a table of all of them: every half, and f32 around every boundary."""

from __future__ import annotations

import numpy as np
import pytest

from rfview.engine import isa
from rfview.engine.values.small_floats import f32_of_half, half_of, small_of
from tests.engine.machine_programs import apply, plain_only

pytestmark = [pytest.mark.nojit, plain_only]
FORMATS = {"e4m3": (False, 3, 7, 126), "e5m2": (True, 2, 15, 123)}       # wide exponent, fraction, bias, the largest number's code


def table(name: str) -> np.ndarray:
    """Return the numbers of the codes from 0 on, up to the largest one."""
    _, fraction, bias, largest = FORMATS[name]
    codes = np.arange(largest + 1)
    exponent, rest = codes >> fraction, codes & (1 << fraction) - 1
    return np.where(exponent == 0, rest * 2.0 ** (1 - bias - fraction),
                    (rest + 2.0**fraction) * 2.0 ** (exponent - bias - fraction))


def nearest(name: str, numbers: np.ndarray, relu: bool = False) -> list[int]:
    """Return the codes of numbers: of two that are as near, the even one; beyond the largest number, its code."""
    known = table(name)
    middles, sizes = (known[1:] + known[:-1]) / 2, np.abs(numbers)
    below, up_to = np.searchsorted(middles, sizes, "left"), np.searchsorted(middles, sizes, "right")
    codes = np.where(below % 2 == 0, below, up_to)      # they differ in the middle of two codes
    codes = codes | np.signbit(numbers) * 128
    codes = np.where(relu & np.signbit(numbers), 0, codes)
    return np.where(np.isnan(numbers), 127, codes).tolist()


def boundaries(name: str) -> np.ndarray:
    """Return f32 at every number, in the middle of two, and next to both, and beyond the largest."""
    known = table(name)
    edges = np.concatenate([known, (known[1:] + known[:-1]) / 2, [known[-1] * 1.0625, known[-1] * 4, 1e-45, 1e-30, 3e38, np.inf]])
    edges = edges.astype(np.float32)
    around = np.concatenate([edges, np.nextafter(edges, np.float32(np.inf)), np.nextafter(edges, np.float32(0))])
    return np.concatenate([around, -around, np.array([np.nan], np.float32)])


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("relu", [False, True])
def test_f32_become_the_nearest_number(name: str, relu: bool) -> None:
    given = boundaries(name)
    got = [int(small_of(np.uint64(bits), FORMATS[name][0], relu)) for bits in given.view(np.uint32).tolist()]
    assert got == nearest(name, given.astype(float), relu)


@pytest.mark.parametrize("name", FORMATS)
def test_every_code_is_its_half_and_becomes_itself_again(name: str) -> None:
    wide, _, _, largest = FORMATS[name]
    known = table(name)
    for code in range(256):
        half = np.uint16(half_of(np.uint64(code), wide, False)).view(np.float16)
        size = code & 127
        if size <= largest:
            assert float(half) == (-1 if code > 127 else 1) * known[size] and np.signbit(half) == (code > 127)
            assert int(small_of(f32_of_half(np.uint64(half.view(np.uint16))), wide, False)) == code
            assert int(half_of(np.uint64(code), wide, True)) == (0 if code > 127 else half.view(np.uint16))
        elif wide and size == 124:
            assert np.isinf(half) and np.signbit(half) == (code > 127)
        else:
            assert half.view(np.uint16) == 0x7FFF == int(half_of(np.uint64(code), wide, True))


@pytest.mark.slow
@pytest.mark.parametrize("name", FORMATS)
def test_every_half_becomes_the_nearest_number(name: str) -> None:
    given = np.arange(1 << 16, dtype=np.uint16)
    got = [int(small_of(f32_of_half(np.uint64(bits)), FORMATS[name][0], False)) for bits in given.tolist()]
    assert got == nearest(name, given.view(np.float16).astype(float))


@pytest.mark.parametrize("name", FORMATS)
def test_a_pair_has_its_place_in_the_word(name: str) -> None:
    kind = isa.SMALL_E5M2 * FORMATS[name][0]
    upper, lower = (np.array([(lane - 15) * step for lane in range(32)], np.float32) for step in (0.75, 100))
    above = [0xABCD0000 | lane for lane in range(32)]
    wanted = [first << 8 | second | third << 16 & 0xFFFFFFFF for first, second, third in
              zip(nearest(name, upper.astype(float)), nearest(name, lower.astype(float)), above, strict=True)]
    low, *_ = apply(isa.OP_SMALL_FLOATS, upper.view(np.uint32), lower.view(np.uint32), above, aux=kind, dst=12)
    assert low.tolist() == wanted
    halves = upper.astype(np.float16).view(np.uint16).astype(np.uint32) << 16 | lower.astype(np.float16).view(np.uint16)
    low, *_ = apply(isa.OP_SMALL_FLOATS, halves, [0] * 32, above, aux=kind | isa.SMALL_HALVES, dst=12)
    assert low.tolist() == wanted
    low, *_ = apply(isa.OP_SMALL_FLOATS, [code << 16 | 0x5555 for code in (word & 0xFFFF for word in wanted)], aux=kind | isa.SMALL_WIDEN,
                    modify=(isa.PART_H1 << isa.PART_SHIFT, 0, 0), dst=12)
    back = np.array(low, np.uint32).view(np.float16).reshape(32, 2)
    known = table(name)
    signs = np.where(np.array(wanted)[:, None] >> np.array([0, 8]) & 128, -1, 1)
    assert (back == known[np.array(wanted)[:, None] >> np.array([0, 8]) & 127] * signs).all()
