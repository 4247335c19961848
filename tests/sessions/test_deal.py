"""Values come into their columns in the same way by Python, word by word and in vectors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from rfview.sessions.codec.deal import deal, deal_cycles
from rfview.sessions.codec.workspace import CYCLE_SHIFT, SIDE, VALUE_SHIFT, WIDTH, Touched
from tests.processors import compares, each_processor, needs_jit

# the words that a block's events change: few, all in one half of the block, more than are turned at once, all
TOUCHED = (0x1, 0x8000_0000, 0x0000_FFFF, 0x00FF_FF00, 0x8421_1248, 0xFFFF_FFFF)
# events of a block: those that are dealt word by word, a whole turn, and what is left of one
COUNTS = (1, 3, 4, 15, 16, 17, 32, 35, 100)
COLUMN = WIDTH      # of the first one: there are others before


def dealt(value: Any, ordered: Any, touched: Any, columns: Any, into: Any, next_of: Any, cycles: Any, begin: Any) -> Any:
    """Deal events 2.. of the block, and the cycles of each of its words."""
    end = len(ordered) - SIDE
    for word in range(WIDTH):
        deal_cycles(ordered, np.uint64(2), np.uint64(end), np.uint64(word), cycles, begin[word])
    return deal(value, ordered, np.uint64(2), np.uint64(end), np.uint64(touched), columns, into, next_of, np.uint64(COLUMN))


def block(random: np.random.RandomState, touched: int, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Return values and events, behind two that belong to another block, with other events behind."""
    ordered, values = np.zeros(count + 2 + SIDE, np.uint64), 0
    for event in range(len(ordered)):
        mask = int(random.randint(0, 1 << 32, dtype=np.uint32)) & touched
        mask = mask & int(random.randint(0, 1 << 32, dtype=np.uint32)) or touched & -touched
        # blocks take turns: what is not this one's lies between its events
        ordered[event] = mask | (3 * event) << CYCLE_SHIFT | values << VALUE_SHIFT
        values += mask.bit_count() + int(random.randint(0, 4))
    return random.randint(0, 1 << 32, values, np.uint32), ordered


def columns_of(touched: int) -> Touched:
    """Return the columns of the words that change."""
    columns, words = Touched.room(), [word for word in range(WIDTH) if touched >> word & 1]
    columns.place[:] = COLUMN
    columns.place[: len(words)] = [COLUMN + word for word in words]
    columns.bit[: len(words)] = [1 << word for word in words]
    return columns


def results(compiled: bool) -> list[list[int]]:
    """Return what comes into the columns of random blocks, and how much, with the cycles."""
    random, found, function = np.random.RandomState(11), [], dealt
    if compiled:
        from rfview.engine.compile import jit      # gives the helpers their compiled versions

        function = jit.numba.njit(error_model="numpy", _nrt=False)(dealt)
    for touched in TOUCHED:
        for count in COUNTS:
            value, ordered = block(random, touched, count)
            room = count + SIDE
            begin = np.arange(WIDTH, dtype=np.uint32) * room
            into, cycles = np.zeros(WIDTH * room, np.uint32), np.zeros(WIDTH * room, np.uint16)
            next_of = np.concatenate((np.zeros(COLUMN, np.uint32), begin))
            function(value, ordered, touched, columns_of(touched), into, next_of, cycles, begin)
            for word, first in enumerate(begin.tolist()):
                behind = int(next_of[COLUMN + word])
                found.append([behind - first, *into[first:behind].tolist(), *cycles[first:behind].tolist()])
    return found


@pytest.mark.nojit
def test_values_and_cycles_are_those_of_the_events_that_change_a_word() -> None:
    random = np.random.RandomState(5)
    value, ordered = block(random, 0x8421_1248, 40)
    begin = np.arange(WIDTH, dtype=np.uint32) * 60
    into, cycles = np.zeros(WIDTH * 60, np.uint32), np.zeros(WIDTH * 60, np.uint16)
    next_of = np.concatenate((np.zeros(COLUMN, np.uint32), begin))
    dealt(value, ordered, 0x8421_1248, columns_of(0x8421_1248), into, next_of, cycles, begin)
    wanted: list[list[tuple[int, int]]] = [[] for _ in range(WIDTH)]
    for event in ordered[2:-SIDE].tolist():
        at = event >> VALUE_SHIFT
        for word in range(WIDTH):
            if event >> word & 1:
                wanted[word].append((int(value[at]), event >> CYCLE_SHIFT & 0x7FF))
                at += 1
    for word, first in enumerate(begin.tolist()):
        behind = int(next_of[COLUMN + word])
        assert list(zip(into[first:behind].tolist(), cycles[first:behind].tolist())) == wanted[word]


@needs_jit
@each_processor
def test_compiled_ones_do_as_the_plain_ones(features: str | None) -> None:
    assert compares("tests.sessions.test_deal", features) == "True"
