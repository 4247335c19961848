"""Zone maps are sound: what they rule out did not happen; searches decode only the chunks that they leave."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rfview.engine import stalls
from rfview.sessions.file import framing
from rfview.sessions.expressions import compile_expression
from rfview.sessions.file.writer import record
from rfview.sessions.timeline.opening import open_recording
from rfview.sessions.timeline.replay import RecordedTimeline
from rfview.sessions.search.search import FIRST, INSIDE
from rfview.sessions.session import Session
from tests.sessions.conftest import CYCLES
from tests.sessions.double import NUM_WARPS, Double
from tests.sessions.test_expressions import grow, reduced, scalars

EXPRESSIONS = st.recursive(st.one_of(scalars(), reduced()), grow, max_leaves=6)
CHUNK = 5


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the path of a recording in 140 chunks with three zone maps."""
    path = tmp_path_factory.mktemp("zone_maps") / "fine.rfs"
    record(Double(CYCLES), path, chunk_cycles=CHUNK)
    return path


@pytest.fixture(scope="module")
def fine(path: Path) -> RecordedTimeline:
    """Return that recording, opened."""
    return open_recording(path)


def per_chunk(flags: list[bool]) -> np.ndarray:
    """Return for each chunk whether a flag is set in its cycles or in the one after its last."""
    return np.array([any(flags[first : first + CHUNK + 1]) for first in range(0, CYCLES, CHUNK)])


@settings(max_examples=80, deadline=None, suppress_health_check=list(HealthCheck))
@given(EXPRESSIONS, st.integers(0, 139), st.integers(1, 140))
def test_what_is_ruled_out_did_not_happen(
    fine: RecordedTimeline, truth: list, expression: Any, low: int, length: int
) -> None:
    text, look = expression
    values = [look(truth, cycle) for cycle in range(CYCLES + 1)]
    high = min(low + length, 140)
    holds = per_chunk([bool(value) for value in values])[low:high]
    compiled = compile_expression(text, fine)
    assert (compiled.may_hold(low, high) >= holds).all(), text
    changes = [False, *(values[cycle] != values[cycle - 1] for cycle in range(1, CYCLES + 1))]
    turns = [False, *(bool(values[cycle]) != bool(values[cycle - 1]) for cycle in range(1, CYCLES + 1))]
    for may, flags in ((compiled.may_change, changes), (compiled.may_turn, turns)):
        # a change shows in the next cycle, so the first cycle of a chunk counts for the chunk before
        shown = np.array([any(flags[first + 1 : first + CHUNK + 1]) for first in range(0, CYCLES, CHUNK)])[low:high]
        assert (may(low, high) >= shown).all(), text


FIELDS = st.sampled_from(["w3.pc", "w4.pc", "w3.num_issued", "w1.state", "rf.writes", "stall.barrier"])


@settings(max_examples=30, deadline=None, suppress_health_check=list(HealthCheck))
@given(FIELDS, FIELDS, st.floats(-9, 9), st.sampled_from(["/", "*", "+", "//", "%"]),
       st.sampled_from(["==", "<", ">=", "!="]))
def test_what_is_ruled_out_of_fractions_did_not_happen(
    fine: RecordedTimeline, recorded: RecordedTimeline, a: str, b: str, number: float, operator: str, compare: str
) -> None:
    condition = f"({a} / ({b} + 3)) {operator} {number!r}"
    for text in (f"{condition} {compare} 0.25", f"any(w.pc * {condition} {compare} w.num_issued)"):
        compiled = compile_expression(text, fine)
        truth = compile_expression(text, recorded).truth(0, CYCLES + 1)
        holds, fails = per_chunk(truth.tolist()), per_chunk((~truth).tolist())
        assert (compiled.may_hold(0, 140) >= holds).all(), text
        assert (compiled.may_turn(0, 140) >= (holds & fails)).all(), text


def test_states_events_and_counts_are_known_to_the_value(fine: RecordedTimeline, truth: list) -> None:
    for warp in range(NUM_WARPS):
        states = [int(truth[cycle].sm["warp"][warp]["state"]) for cycle in range(CYCLES + 1)]
        for stall in stalls.STALLS:
            found = compile_expression(f"w{warp}.state == {stall.name}", fine).may_hold(0, 140)
            assert (found == per_chunk([state == stall.code for state in states])).all()
    counts = [int(truth[cycle].sm["events"][0]) for cycle in range(CYCLES + 1)]
    changes = [counts[first] != counts[first + CHUNK] for first in range(0, CYCLES, CHUNK)]
    assert (compile_expression("event.instructions", fine).may_change(0, 140) == changes).all()
    waiting = [int(truth[cycle].sm["state_count"][stalls.BARRIER]) for cycle in range(CYCLES + 1)]
    for limit in (0, 1, 2, 9):
        found = compile_expression(f"stall.barrier > {limit}", fine).may_hold(0, 140)
        assert (found == per_chunk([count > limit for count in waiting])).all()


class Counting:
    """Collects the numbers of the chunks that a timeline decodes."""

    def __init__(self, timeline: RecordedTimeline, monkeypatch: pytest.MonkeyPatch):
        self.numbers: set[int] = set()
        decode = timeline.decoded

        def decoded(number: int) -> Any:
            self.numbers.add(number)
            return decode(number)

        monkeypatch.setattr(timeline, "decoded", decoded)


@pytest.mark.parametrize("condition", [
    "event.instructions == 200", "w3.num_issued == 30", "warp[5].num_issued == 11 and w3.state != barrier",
    "rf.writes == 700", "cycle == 333", "stall.barrier > 6", "any(w.num_issued > 1000)", "w2.line == 99",
    "w3.state == wb_drain", "(w3.pc ^ w4.pc) == 77", "w3.pc // 4 == 5", "(w3.num_issued % 1000) == 12",
    "s32(w2.pc) < 0", "(w1.pc | w2.pc) << 3 == 1024", "bank[1].queue >> 1 == 3", "w3.pc / (w4.pc + 1) == 0.12345",
    "any(w.num_issued / 7 == 0.12345)", "popcount(w3.pc) > 7", "w1.pc * w2.pc % 7 == 9", "0.3 * w3.num_issued < -0.1",
])
def test_chunks_in_which_nothing_can_be_are_not_decoded(
    path: Path, truth: list, condition: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = open_recording(path)
    plain.zone_maps = None
    expected = Session(plain)
    expected.goto("end")
    session = Session(open_recording(path))
    session.goto("end")
    counting = Counting(session.timeline, monkeypatch)
    for one in (session, expected):
        one.add_breakpoint("if", condition=condition)
    stops = [session.reverse_continue().cycle for _ in range(3)]
    assert stops == [expected.reverse_continue().cycle for _ in range(3)]
    # chunks with a hit, their neighbours if a hit is at a border, and the first
    assert len(counting.numbers) <= 3 * len(set(stops)) + 1, sorted(counting.numbers)


def test_last_change_decodes_only_where_the_item_changed(path: Path, truth: list, monkeypatch: pytest.MonkeyPatch) -> None:
    session = Session(open_recording(path))
    session.goto("end")
    counting = Counting(session.timeline, monkeypatch)
    index = [int(snapshot.sm["launch"]["index"]) for snapshot in truth]
    assert session.last_change("launch").cycle == max(c for c in range(1, CYCLES) if index[c] != index[c - 1])
    assert len(counting.numbers) == 1
    counting.numbers.clear()
    written = [[int(word) for word in snapshot.memory[128:256]] for snapshot in truth]
    word = next(word for word in range(128) if written[0][word] != written[-1][word])
    session.goto("end")
    changes = [c for c in range(1, CYCLES) if written[c][word] != written[c - 1][word]]
    assert session.last_change(f"mem[A + {4 * word}]").cycle == changes[-1]


def test_breakpoints_say_where_they_may_stop(fine: RecordedTimeline) -> None:
    session = Session(fine)
    points = [session.add_breakpoint("cycle", 333), session.add_breakpoint("pc", 7, warp=3), session.break_on_stall(500),
              session.add_breakpoint("warp", 4), session.watch("launch"), session.break_on_unbalanced()]
    for point in points:
        may_hit = point.may_hit(fine, 0, 140)
        hits = np.flatnonzero(point.hits_in(fine, 0, CYCLES + 1))
        chunks = np.minimum(hits // CHUNK, 139)
        assert (may_hit[chunks] & np.where(hits % CHUNK == 0, FIRST, INSIDE)).all(), point.text
        assert point.kind == "unbalanced" or (may_hit == 0).any(), point.text


def test_a_summary_takes_every_width_of_field(fine: RecordedTimeline, truth: list) -> None:
    layout = fine.layout
    assert 0 < np.count_nonzero(layout.packed) < layout.num_words
    assert fine.zone_maps is not None
    for path in ("sm.warp[*].pc", "sm.warp[*].state_since_cycle", "sm.warp[*].reg_base", "sm.bank[*].queue", "sm.resident",
                 "rf.level[*]", "rf.clock", "sm.events[*]", "sm.state_count[*]", "sm.stall_total[*]",
                 "sm.warp[*].cta"):
        field = layout.field(path)
        known = fine.zone_maps.bounds(field, 3, 130)
        assert known is not None, path
        for number in range(3, 130):
            values = fine.column(path, number * CHUNK, number * CHUNK + CHUNK + 1).astype(np.int64)
            assert (known.low[number - 3] <= values).all() and (values <= known.high[number - 3]).all(), path
            if field.dtype.itemsize != 2 and path not in ("rf.clock", "sm.warp[*].state_since_cycle"):
                assert (known.low[number - 3] == values.min(axis=0)).all() or path == "rf.level[*]", path
    assert fine.zone_maps.bounds(layout.field("sm.l1[*].line"), 0, 5) is None


@pytest.mark.parametrize("low, high", ((2, 3), (3, 11), (64, 128), (130, 140)))
def test_the_rows_that_chunks_write_are_known(fine: RecordedTimeline, low: int, high: int) -> None:
    assert fine.zone_maps is not None
    chunks = [fine.decoded(number).chunk for number in range(low, high)]
    rows = fine.zone_maps.rows_written(low, high)
    assert rows is not None and rows.any() and rows.shape[1] == len(chunks)
    for chunk, written in zip(chunks, rows.T, strict=True):
        assert np.flatnonzero(written).tolist() == np.unique(chunk.row_index).tolist()


def test_a_recording_without_zone_maps_is_searched_all_the_same(path: Path, tmp_path: Path, truth: list) -> None:
    data = path.read_bytes()
    cut = tmp_path / "cut.rfs"
    last = data.rindex(framing.ZONE)
    cut.write_bytes(data[: last - 1])
    timeline = open_recording(cut)
    assert timeline.warnings and timeline.zone_maps is not None
    session = Session(timeline)
    session.goto("end")
    pcs = [int(truth[cycle].sm["warp"][3]["pc"]) for cycle in range(timeline.last + 1)]
    session.add_breakpoint("if", condition="w3.pc == 5")
    rises = [c for c in range(1, timeline.last) if pcs[c] == 5 != pcs[c - 1]]
    assert [session.reverse_continue().cycle for _ in rises] == rises[::-1]
    broken = bytearray(data)
    broken[data.index(framing.ZONE) + 40] ^= 4
    cut.write_bytes(broken)
    for check in (True, False):
        session = Session(open_recording(cut, check=check))
        session.add_breakpoint("if", condition="w3.pc == 5")
        assert session.continue_().cycle == rises[0] and "zone map of chunks 0" in session.warnings[0]


def test_registers_and_memory_of_700_chunks_come_back_at_any_cycle(tmp_path: Path, truth: list) -> None:
    path = tmp_path / "single.rfs"
    record(Double(CYCLES), path, chunk_cycles=1)
    order = np.random.RandomState(3)
    kept: dict[int, Any] = {}
    for summed in (True, False):
        timeline = open_recording(path)
        if not summed:
            timeline.zone_maps = None
        for cycle in [CYCLES, 512, 511, 513, 64, *order.randint(0, CYCLES + 1, 60).tolist()]:
            kept[cycle] = timeline.at(cycle)
            assert (kept[cycle].rows == truth[cycle].rows).all(), cycle
        for cycle, snapshot in kept.items():    # memory is read on first use, wherever the timeline is then
            assert snapshot.same_as(truth[cycle]), cycle
        with pytest.raises(AttributeError, match="nothing"):
            _ = snapshot.nothing
