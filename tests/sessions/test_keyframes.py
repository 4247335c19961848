"""Keyframes: they are returned as they were kept, stay within the budget, are spread evenly, and keep the first."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from rfview.sessions.timeline.keyframes import PAGE, Keyframes


@dataclass(frozen=True)
class Copy:
    cycle: int
    state: np.ndarray
    arena: np.ndarray
    finished: bool


def copies(count: int, words: int, seed: int = 1) -> tuple[np.ndarray, list[Copy]]:
    """Return the initial memory and `count` copies that each change a few words; the last page is incomplete."""
    order = np.random.RandomState(seed)
    state, memory = np.zeros(5 * PAGE // 4 + 3, np.uint32), order.randint(0, 1 << 31, words).astype(np.uint32)
    base, made = memory.copy(), []
    for number in range(count):
        state[order.randint(len(state), size=2)] += 1
        memory[order.randint(len(memory), size=3)] += 1
        memory[-1] = number
        made.append(Copy(number * 10, state.copy(), memory.copy(), number == count - 1))
    return base, made


@pytest.mark.parametrize(("words", "budget"), [(20_000, 1 << 20), (20_001, 300_000), (20_003, 1)])
def test_what_is_kept_comes_back_and_the_budget_holds(words: int, budget: int) -> None:
    base, made = copies(120, words)
    untouched = base.copy()
    kept = Keyframes({"arena": base}, budget)
    whole = made[0].state.nbytes + made[0].arena.nbytes
    for copy in made:
        kept.add(copy)
        assert kept.nbytes <= max(budget, 2.1 * whole)
        assert kept.cycles[0] == 0 and kept.cycles[-1] == copy.cycle
        for cycle in kept.cycles[:: max(1, len(kept.cycles) // 4)]:
            back, truth = kept.get(cycle, copy), made[cycle // 10]
            assert (back.cycle, back.finished) == (cycle, truth.finished)
            assert (back.state == truth.state).all() and (back.arena == truth.arena).all()
    assert (base == untouched).all()


def test_only_pages_that_change_take_room() -> None:
    base, made = copies(50, 1 << 20)
    kept = Keyframes({"arena": base}, 1 << 30)
    for copy in made:
        kept.add(copy)
    each = made[0].arena.nbytes / PAGE * 4
    assert kept.nbytes < 50 * (6 * PAGE + 1.1 * each) + 6 * PAGE   # a page number per page, and the few pages that differ


def test_what_stays_is_spread_evenly() -> None:
    base, made = copies(400, 5000)
    kept = Keyframes({"arena": base}, 400_000)
    for copy in made:
        kept.add(copy)
    gaps = np.diff(kept.cycles)
    assert 8 < len(kept.cycles) < 200 and gaps.max() <= 4 * gaps.mean()
    assert [kept.before(cycle) for cycle in (0, kept.cycles[3] - 1, kept.cycles[3], 1 << 40)] == [
        0, kept.cycles[2], kept.cycles[3], kept.cycles[-1]]
    assert kept.before(-1) is None
