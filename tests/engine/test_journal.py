"""The journal is complete: its contents are, cycle by cycle, the state of an unrecorded run.

The journal compares only the in-flight entries and cold blocks that the cycle marked, so a forgotten mark silently loses
a change. Therefore every word of every cycle is compared, under all designs and schedulers.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from rfview.engine import state
from rfview.engine.chunk import Chunk
from rfview.engine.machine.journal.recorder import units_of
from rfview.engine.simulator import Simulator
from tests.engine.test_fast_paths import Case, each_case, needs_jit, program, simulator
from tests.harness import Machine

HOT_WORD = state.HOT_OFFSET // 4
CYCLES = 3000

FOREIGN = """from rfview.engine.plugin import Design

DESIGN = Design(name="meddler", title="writes in the warps", source="the project's tests", parameters=(), state=())


def end_cycle(sm, rf, spec, rows):
    \"\"\"Write the cycle into two warps that do nothing else.\"\"\"
    sm.warp[40].suspended_pc = sm.cycle
    other = sm.warp[sm.config.num_warps - 1]
    other.last_pc = sm.cycle
    return 0
"""


def states(chunk: Chunk) -> Iterator[np.ndarray]:
    """Yield the recorded words after each cycle of a chunk."""
    words, begin = chunk.key.copy(), 0
    for end in chunk.blocks.end:
        words[chunk.blocks.first[begin:end]] = chunk.blocks.value[begin:end]
        begin = end
        yield words


def check_recording(recorded: Simulator, plain: Simulator, cycles: int, size: int) -> None:
    """Record a run in chunks and compare every word of every cycle with those of a run that is only stepped."""
    while not recorded.finished and recorded.cycle < cycles:
        for words in states(recorded.record_chunk(size, values=False)):
            plain.step(1)
            now = np.concatenate([plain._sm_words[: state.RECORDED_BYTES // 4], plain._rf_words])
            different = np.flatnonzero(now[HOT_WORD:] != words[HOT_WORD:])
            assert not len(different), (plain.cycle, different + HOT_WORD)


def test_units_of_a_record_begin_with_its_parts() -> None:
    pair, long = np.dtype([("a", "u8"), ("b", "u4"), ("c", "u4")]), np.dtype([("d", "u4", (40,))])
    dtype = np.dtype([("head", "u4", (3,)), ("more", "u4", (31,)), ("pair", pair, (2,)), ("inner", long), ("long", long, (2,))])
    everything = (1 << 32) - 1
    assert units_of(dtype).tolist() == [
        [0, everything], [32, 3],                                   # 34 words of single fields
        [34, 15], [38, 15],                                         # a unit for each short record
        [42, everything], [74, 255],                                # fields of a record that is alone
        [82, everything], [114, 255], [122, everything], [154, 255]]


@needs_jit
@each_case
def test_every_word_of_every_cycle_is_recorded(case: Case) -> None:
    check_recording(simulator(case), simulator(case), CYCLES, 1000)


@pytest.mark.nojit
def test_every_word_of_a_small_program_is_recorded() -> None:
    recorded, plain = (Machine(program(), warps=2, ctas=2).simulator for _ in range(2))
    check_recording(recorded, plain, 1000, 1000)


@pytest.mark.nojit
def test_of_chosen_words_the_same_changes_are_logged_and_of_values_the_same_writes() -> None:
    whole, some, logs = (Machine(program(), warps=2, ctas=2).simulator for _ in range(3))
    chosen = np.append(np.arange(HOT_WORD, HOT_WORD + 1800, 3), state.RECORDED_BYTES // 4).astype(np.uint32)
    written = changed = 0
    for size in (40, 7, 60):      # what is not logged of a chunk is no change of the next
        parts = [whole.record_chunk(size), some.record_chunk(size, only=chosen, logs=False),
                 logs.record_chunk(size, only=chosen[:0])]
        for expected, found in zip(states(parts[0]), states(parts[1]), strict=True):
            assert np.array_equal(expected[chosen], found[chosen])
        assert not len(parts[1].row_index) and not len(parts[2].blocks.first)
        written, changed = written + len(parts[2].row_index), changed + len(parts[1].blocks.first)
        for name in ("end", "register", "lanes", "pc"):
            assert np.array_equal(getattr(parts[0].writes, name), getattr(parts[2].writes, name))
        assert np.array_equal(parts[0].row_value, parts[2].row_value)
        assert np.array_equal(parts[0].mem_value, parts[2].mem_value)
    assert written and changed and np.array_equal(whole.snapshot().sm, some.snapshot().sm)
    assert next(states(some.record_chunk(1)))[HOT_WORD:].tobytes() == next(states(whole.record_chunk(1)))[HOT_WORD:].tobytes()


def test_what_is_written_between_chunks_is_in_the_next() -> None:
    run = Machine(program(), warps=2, ctas=2).simulator
    for _ in range(2):
        run.record_chunk(20, values=False)
        for warp in (0, 40, 47):
            run.sm.warp[warp].suspended_pc ^= 7
        now = run._sm_words.copy()
        first = next(states(run.record_chunk(1, values=False)))
        again = run._sm_words[HOT_WORD : state.RECORDED_BYTES // 4]
        assert np.array_equal(first[HOT_WORD : state.RECORDED_BYTES // 4], again) and not np.array_equal(now, run._sm_words)


@pytest.mark.nojit
@pytest.mark.skipif(os.environ.get("NUMBA_DISABLE_JIT") != "1", reason="a compile of its own")
def test_a_foreign_design_may_write_to_warps(tmp_path: Path) -> None:
    (tmp_path / "meddler.py").write_text(FOREIGN)
    recorded, plain = (Machine(program(), warps=2, design=str(tmp_path / "meddler.py")).simulator for _ in range(2))
    check_recording(recorded, plain, 400, 30)
    assert recorded.sm.warp[40].suspended_pc > 50 and recorded.sm.warp[47].last_pc > 300
