"""Timelines: every cycle's state, columns and totals equal the machine's, live and recorded alike."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rfview.engine.errors import InputError
from rfview.sessions.timeline.live import LiveTimeline
from rfview.sessions.timeline.opening import open_recording
from rfview.sessions.timeline.base import Timeline
from rfview.sessions.timeline.register_log import RegisterLog
from tests.sessions.conftest import CHUNK, CYCLES
from tests.sessions.double import Double

PATHS = ["sm.warp[3].state", "sm.warp[*].pc", "sm.warp[2].state_since_cycle", "sm.bank[2].queue", "rf.writes",
         "rf.level", "rf.level[2]", "rf.entry[*].valid", "rf.clock", "sm.stall_total[4]", "sm.stall_total",
         "sm.state_count", "sm.cycle", "sm.warp_cold[*].pred[2]", "sm.resident", "sm.warp_cold[3].split.pc",
         "sm.launch.grid"]


def test_every_cycle_equals_the_machines_own_snapshot(timeline: Timeline, truth: list) -> None:
    assert (timeline.first, timeline.last, timeline.closed) == (0, CYCLES, True)
    for cycle in range(CYCLES + 1):
        assert timeline.at(cycle).same_as(truth[cycle]), cycle


def test_cycles_in_any_order_equal_the_machines_own_snapshots(timeline: Timeline, truth: list) -> None:
    order = random.Random(3)
    for cycle in [order.randint(0, CYCLES) for _ in range(400)] + list(range(CYCLES, CYCLES - 90, -1)):
        assert timeline.at(cycle).same_as(truth[cycle]), cycle


def test_small_caches_change_nothing(recorded, truth: list) -> None:
    for cache in (recorded._decoded, recorded._frames, recorded._bases):
        cache.limit_bytes = 1
    order = random.Random(5)
    for _ in range(60):
        cycle = order.randint(0, CYCLES)
        assert recorded.at(cycle).same_as(truth[cycle]), cycle


@pytest.fixture(scope="module")
def states(truth: list) -> np.ndarray:
    """Return the bytes of all snapshots, (cycles, bytes) u1."""
    return np.array([np.frombuffer(snapshot.sm.tobytes() + snapshot.rf.tobytes(), np.uint8) for snapshot in truth])


@pytest.mark.parametrize("path", PATHS)
def test_columns_equal_fields_of_snapshots(timeline: Timeline, states: np.ndarray, path: str) -> None:
    field = timeline.layout.field(path)
    for start, stop in ((0, CYCLES + 1), (CHUNK - 1, CHUNK + 2), (CYCLES, CYCLES + 1), (33, 33), (65, 230)):
        column = timeline.column(path, start, stop)
        assert column.shape == (stop - start, *field.shape)
        expected = states[start:stop].take(field.offsets[:, None] + np.arange(field.dtype.itemsize), axis=1).view(field.dtype)
        assert (column.ravel() == expected.ravel()).all(), (path, start, stop)


def test_row_and_memory_columns_equal_snapshots(timeline: Timeline, truth: list) -> None:
    for row in (0, 5, 39):
        column = timeline.row_column(row, 10, 300)
        assert (column == [truth[cycle].rows[row] for cycle in range(10, 300)]).all()
    for word in (0, 130, 200):
        column = timeline.memory_column(word, 10, 300)
        assert (column == [truth[cycle].memory[word] for cycle in range(10, 300)]).all()


def test_states_are_those_of_the_machines_warps(timeline: Timeline, truth: list) -> None:
    states = timeline.states(100, 200)
    assert states.shape == (100, 8)
    assert states.dtype == np.uint8
    assert (states == [truth[cycle].sm["warp"]["state"][:8] for cycle in range(100, 200)]).all()


def test_overview_adds_up_to_the_runs_totals(timeline: Timeline, truth: list) -> None:
    whole = truth[CYCLES].sm["stall_total"]
    for buckets in (1, 7, 100, 900):
        overview = timeline.overview(buckets)
        assert overview.edges[0] == 0 and overview.edges[-1] == CYCLES
        assert np.allclose(overview.states.sum(axis=0), whole)
        lengths = np.diff(overview.edges)
        assert np.allclose((overview.issue_rate * lengths).sum(), whole[0])


def test_short_ranges_of_the_overview_are_exact(timeline: Timeline, truth: list) -> None:
    overview = timeline.overview(10, 130, 270)
    for bucket in range(10):
        low, high = overview.edges[bucket], overview.edges[bucket + 1]
        expected = truth[high].sm["stall_total"] - truth[low].sm["stall_total"]
        assert (overview.states[bucket] == expected).all()


def test_printed_lines_come_up_to_a_cycle(timeline: Timeline) -> None:
    assert timeline.printed(99) == []
    assert timeline.printed(100) == [(99, "hello 99")]


def test_unknown_fields_and_cycles_are_named(timeline: Timeline) -> None:
    with pytest.raises(InputError, match="warp"):
        timeline.column("sm.wrap[3].state", 0, 1)
    with pytest.raises(InputError, match=r"0\.\.63"):
        timeline.column("sm.warp[64].state", 0, 1)
    with pytest.raises(InputError, match="outside"):
        timeline.at(CYCLES + 1)
    with pytest.raises(InputError, match="outside"):
        timeline.states(-1, 5)


def test_a_live_timeline_grows_by_whole_chunks_and_closes_at_the_end(truth: list) -> None:
    timeline = LiveTimeline(Double(CYCLES), chunk_cycles=CHUNK)
    assert (timeline.last, timeline.closed) == (CHUNK, False)
    assert timeline.extend(1) == CHUNK
    assert timeline.at(3).same_as(truth[3])
    assert timeline.extend(CHUNK + 1) == 2 * CHUNK
    assert timeline.at(timeline.last).same_as(truth[4 * CHUNK])
    timeline.extend(1 << 40)
    assert (timeline.last, timeline.closed, timeline.extend(1)) == (CYCLES, True, 0)


@pytest.mark.parametrize("ahead", [CHUNK, 7 * CHUNK, CYCLES])
def test_thinned_keyframes_reach_every_cycle(truth: list, ahead: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rfview.sessions.timeline.live.KEYFRAME_REST", 0)
    monkeypatch.setattr("rfview.sessions.timeline.live.KEYFRAME_RATE", 1e30)  # one at each return to the furthest cycle
    timeline = LiveTimeline(Double(CYCLES), chunk_cycles=CHUNK, budget_bytes=1_000_000)
    timeline._decoded.limit_bytes = timeline._checkpoints.limit_bytes = 1
    order = random.Random(9)
    while not timeline.closed:
        timeline.extend(ahead)
        assert timeline._keyframes.nbytes <= 1_000_000
        cycle = order.randint(0, timeline.last)
        assert timeline.at(cycle).same_as(truth[cycle]), cycle
    for _ in range(30):
        cycle = order.randint(0, CYCLES)
        assert timeline.at(cycle).same_as(truth[cycle]), cycle


def test_far_moves_give_the_same_chunks_totals_and_lines_as_short_ones() -> None:
    far, near = LiveTimeline(Double(CYCLES), chunk_cycles=CHUNK), LiveTimeline(Double(CYCLES), chunk_cycles=CHUNK)
    far.extend(1 << 40)
    while near.extend(1):
        pass
    assert far.chunk_starts() == near.chunk_starts() and far.printed(CYCLES) == near.printed(CYCLES)
    for number in range(len(far.chunk_starts()) + 1):
        assert (far.totals(number) == near.totals(number)).all(), number


def test_an_overview_gets_as_fine_as_its_buckets_with_few_cycles_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rfview.sessions.timeline.live.REFINE_CYCLES", 4 * CHUNK)
    monkeypatch.setattr("rfview.sessions.timeline.base.EXACT_CHUNKS", 1)
    far, near = LiveTimeline(Double(CYCLES), chunk_cycles=CHUNK), LiveTimeline(Double(CYCLES), chunk_cycles=CHUNK)
    far.extend(1 << 40)
    while near.extend(1):
        pass
    buckets = len(far.chunk_starts())
    assert len(far._known) < buckets // 2
    for _ in range(buckets // 4 + 1):
        coarse = far.overview(3)
        fine = far.overview(buckets)
    assert len(far._known) == len(near._known) == buckets + 1
    assert (fine.states == near.overview(buckets).states).all()
    assert np.allclose(coarse.states.sum(axis=0), fine.states.sum(axis=0))
    assert far.extend(1) == 0 and far.at(70).same_as(near.at(70))


def test_a_chunk_that_the_journal_cuts_is_whole_after_a_rewind(truth: list) -> None:
    class Cut(Double):
        def record_chunk(self, cycles: int = 1024, **what: Any) -> Any:
            return super().record_chunk(min(cycles, 13), **what)

    timeline = LiveTimeline(Cut(CYCLES), chunk_cycles=CHUNK)
    timeline.extend(1 << 40)
    for cycle in range(0, CYCLES + 1, 5):
        assert timeline.at(cycle).same_as(truth[cycle]), cycle
    assert (timeline.row_column(5, 10, 300) == [truth[cycle].rows[5] for cycle in range(10, 300)]).all()


def test_a_sweep_gives_the_columns_of_whole_chunks(live: LiveTimeline) -> None:
    whole, logs = LiveTimeline(Double(CYCLES), chunk_cycles=CHUNK), []
    whole._sweep.expects = lambda number, words: False      # type: ignore[method-assign]
    for timeline in (live, whole):
        timeline.extend(1 << 40)
        logs.append(RegisterLog(timeline, 1, 2))
    live.drop_caches()
    made = []
    live._again = lambda number, again=live._again, **what: made.append(what) or again(number, **what)  # type: ignore
    for low in range(0, CYCLES, CHUNK):
        high = min(low + CHUNK, CYCLES)
        for path in ("sm.warp[3].state", "rf.writes", "sm.stall_total[4]", "sm.cycle", "sm.warp[*].pc"):
            if path != "sm.warp[*].pc" or low > CYCLES // 2:      # another word, once the sweep has settled
                assert (live.column(path, low, high) == whole.column(path, low, high)).all(), (path, low)
        assert (logs[0].writes_at(low, high) == logs[1].writes_at(low, high)).all(), low
        assert (logs[0].column(low, high) == logs[1].column(low, high)).all(), low
    some = [what for what in made if what]
    assert len(some) > len(made) // 2 and all(len(what["only"]) < 100 for what in some)
    assert live.at(CYCLES // 2).same_as(whole.at(CYCLES // 2))


def test_a_fault_closes_the_timeline_after_its_cycle(truth: list) -> None:
    timeline = LiveTimeline(Double(CYCLES, fault_at=333), chunk_cycles=CHUNK)
    timeline.extend(1 << 40)
    assert (timeline.last, timeline.closed, timeline.extend(1)) == (333, True, 0)
    assert "line 12" in (timeline.fault or "")
    assert timeline.at(20).same_as(truth[20])
    assert timeline.at(333).same_as(truth[333])


@pytest.mark.parametrize("path", [
    "sm.cycle", "sm.stall_total", "sm.stall_total[4]", "sm.state_count", "sm.warp[*].state", "sm.warp[3].pc", "sm.events",
    "sm.bank[*].queue", "sm.resident", "rf.writes", "rf.level",
])
def test_a_value_at_one_cycle_is_that_of_the_column(file: Path, live: LiveTimeline, path: str) -> None:
    live.extend(CYCLES)
    for timeline in (open_recording(file), live):
        cycles = list(range(0, CYCLES + 1, 37))
        single = [timeline.column(path, cycle, cycle + 1)[0] for cycle in cycles]      # before the column is cached
        column = timeline.column(path, 0, CYCLES + 1)
        assert column.dtype == single[0].dtype and (column[cycles] == np.array(single)).all()
        assert all((timeline.column(path, cycle, cycle + 1)[0] == column[cycle]).all() for cycle in range(90))


def test_the_overview_of_a_long_run_needs_only_totals_next_to_its_edges(file: Path) -> None:
    timeline = open_recording(file)
    starts = [*timeline.chunk_starts(), timeline.last]
    known = np.array([timeline.totals(number) for number in range(len(starts))], np.float64)
    for first, last, buckets in ((0, CYCLES, 7), (3, CYCLES - 1, 50), (0, CYCLES, CYCLES)):
        found = timeline.overview(buckets, first, last)
        whole = np.stack([np.interp(found.edges, starts, column) for column in known.T], axis=1)
        assert len(starts) > 17 and (found.states == np.diff(whole, axis=0)).all()
