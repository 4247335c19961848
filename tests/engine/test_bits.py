"""The compiled versions of bits.py do the same as the plain ones, on processors with and without wide vectors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from rfview.engine.compile import bits
from tests.processors import compares, each_processor, needs_jit

WORDS, ROUNDS = 96, 50


def changed(words: Any, other: Any, out: Any, mask: Any) -> Any:
    """Compare 32 words at an unaligned offset."""
    return bits.changed32(words, other, np.uint64(33))


def taken(words: Any, other: Any, out: Any, mask: Any) -> Any:
    """Take words twice, the second time after those taken first."""
    bits.take32(words, other, np.uint64(5), mask, out, np.uint64(7))
    return bits.take32(words, other, 40, mask, out, 7 + bits.popcount(mask))


def copied(words: Any, other: Any, out: Any, mask: Any) -> Any:
    """Copy a row over another, and the words in a mask over a third."""
    bits.copy32(words[:32], other[32:64])
    return bits.blend32(words[32:64], other[:32], mask)


def counted(words: Any, other: Any, out: Any, mask: Any) -> Any:
    """Count the bits of a nonzero mask."""
    return bits.ctz64(mask) + 64 * bits.highest64(mask) + 4096 * bits.popcount(mask)


def listed(words: Any, other: Any, out: Any, mask: Any) -> Any:
    """Write down the indices of a mask's set bits, in their order."""
    count = 0
    for index in bits.set_bits(mask):
        out[count] = index
        count += 1
    return count


def kept(words: Any, other: Any, out: Any, mask: Any) -> Any:
    """Keep the blocks with a nonzero mask, of none, a few, or more blocks than a vector holds."""
    return bits.keep_changed(words, other, 40, bits.popcount(mask) % 21, 7, 32)


EACH: tuple[Callable[..., Any], ...] = (changed, taken, copied, counted, listed, kept)


def results(compiled: bool) -> list[list[int]]:
    """Return the result and the arrays of each function, round after round, on the same random words."""
    random = np.random.RandomState(7)
    if compiled:
        from rfview.engine.compile import jit      # registers the helpers' compiled versions

        functions = [jit.numba.njit(error_model="numpy", _nrt=function is copied)(function) for function in EACH]
    else:
        functions = list(EACH)
    found = []
    for _ in range(ROUNDS):
        mask = np.uint64(random.randint(1, 1 << 32))
        words, other = random.randint(0, 1 << 32, (2, WORDS), np.uint32)
        other[random.randint(0, WORDS, 40)] = words[random.randint(0, WORDS, 40)]
        other[random.randint(0, WORDS, 30)] = 0
        for plain, function in zip(EACH, functions):
            rows = words.copy(), other.copy(), np.zeros(WORDS, np.uint32)
            value = int(function(*rows, mask))
            # contents after the words taken and the blocks kept are undefined
            known, most = 7 + 2 * int(mask).bit_count(), value if plain is kept else WORDS
            found.append([value, *rows[0][:most].tolist(), *rows[1][:most].tolist(), *rows[2][:known].tolist()])
    return found


@needs_jit
@each_processor
def test_compiled_helpers_do_as_the_plain_ones(features: str | None) -> None:
    assert compares("tests.engine.test_bits", features) == "True"
