"""The map of undefined memory, compared with a plain array of one flag per byte."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from rfview.engine.check import undefined_map
from rfview.engine.check.undefined_map import copy_bits, set_bits, words_for

SIZE = 300
RANGES = st.tuples(st.integers(0, SIZE), st.integers(0, SIZE)).map(lambda ends: (min(ends), max(ends) - min(ends)))
STEPS = st.lists(st.one_of(st.tuples(st.just("set"), RANGES, st.booleans()), st.tuples(st.just("copy"), RANGES, RANGES)),
                 max_size=12)


@settings(deadline=None)
@given(STEPS, st.sampled_from([7, 64, 1 << 20]))
def test_any_order_of_writes_and_copies_gives_the_same_as_a_flag_per_byte(steps: list, chunk: int) -> None:
    words, flags = np.zeros(words_for(SIZE), np.uint32), np.zeros(SIZE, bool)
    undefined_map.CHUNK, kept = chunk, undefined_map.CHUNK
    try:
        for what, (first, size), more in steps:
            if what == "set":
                set_bits(words, first, size, more)
                flags[first : first + size] = more
            else:
                to, count = more[0], min(size, SIZE - more[0])
                if to + count <= first or first + count <= to:
                    copy_bits(words, to, first, count)
                    flags[to : to + count] = flags[first : first + count]
    finally:
        undefined_map.CHUNK = kept
    bits = np.unpackbits(words.view(np.uint8), bitorder="little")
    assert np.array_equal(bits[:SIZE] != 0, flags) and not bits[SIZE:].any()
