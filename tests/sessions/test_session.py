"""Sessions: moves, searches, breakpoints, marks and history are the same live, recorded and by brute force."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rfview.engine.chunk import CLEARED, REGISTERS_OF_WARP
from rfview.engine.errors import InputError
from rfview.sessions import Session, open_session
from rfview.sessions.timeline.live import LiveTimeline
from rfview.sessions.search.marks import Marks
from rfview.sessions.timeline.base import Timeline
from tests.sessions.conftest import CHUNK, CYCLES
from tests.sessions.double import NUM_WARPS, Double

CONDITIONS = {
    "any(w.state == barrier)": lambda t, c: (t[c].sm["warp"]["state"][:NUM_WARPS] == 5).any(),
    "w3.pc == 7": lambda t, c: t[c].sm["warp"][3]["pc"] == 7,
    "bank[1].queue == 3 and w2.state == issued": lambda t, c: t[c].sm["bank"][1]["queue"] == 3
    and t[c].sm["warp"][2]["state"] == 0,
    "sm.launch.index == 1": lambda t, c: t[c].sm["launch"]["index"] == 1,
    "sm.launch.index == 0": lambda t, c: t[c].sm["launch"]["index"] == 0,
    "cycle % 97 == 5": lambda t, c: c % 97 == 5,
    "cycle > 100000": lambda t, c: False,
    "rf.level[1] < -200": lambda t, c: t[c].rf["level"][1] < -200,
}


@pytest.fixture
def session(timeline: Timeline) -> Session:
    """Return a session over each kind of timeline."""
    return Session(timeline)


@pytest.fixture
def growing() -> Session:
    """Return a live session that has run one chunk."""
    return Session(LiveTimeline(Double(CYCLES), chunk_cycles=CHUNK))


@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(st.tuples(st.sampled_from(["step", "back", "goto"]), st.integers(0, 400)), max_size=12))
def test_steps_and_backs_add_up_and_show_the_machines_state(file: Path, truth: list, moves: list) -> None:
    live = Session(LiveTimeline(Double(CYCLES), chunk_cycles=CHUNK))
    with open_session(file) as recorded:
        cycle = 0
        for verb, n in moves:
            target = cycle + n if verb == "step" else cycle - n if verb == "back" else n * 2
            cycle = max(0, min(CYCLES, target))
            for session in (live, recorded):
                stop = getattr(session, verb)(n if verb != "goto" else n * 2)
                assert stop.cycle == session.cycle == cycle
                assert stop.reason == ("start" if target < 0 else "end" if target > CYCLES else stop.reason)
                assert session.snapshot().same_as(truth[cycle])


def test_moves_clamp_with_a_reason(session: Session) -> None:
    assert session.back().reason == "start"
    assert session.step(5).cycle == 5
    stop = session.goto("end")
    assert (stop.cycle, stop.reason) == (CYCLES, "goto")
    stop = session.step()
    assert (stop.cycle, stop.reason) == (CYCLES, "end")
    assert "end of the session" in stop.text
    assert session.goto(10**12).reason == "end"


def test_a_fraction_of_a_cycle_is_refused(session: Session) -> None:
    for move in (session.step, session.back, session.goto):
        with pytest.raises(InputError, match="2.5: expected"):
            move(2.5)
    assert session.step(np.int16(3)).cycle == 3


def test_places_are_cycles_shares_marks_and_words(session: Session) -> None:
    session.goto("50%")
    assert session.cycle == CYCLES // 2
    session.mark("middle")
    assert [session.goto(place).cycle for place in ("start", "+20", "-5", "1_0", "0,600", "100%", "@middle")] == [
        0, 20, 15, 10, 600, CYCLES, CYCLES // 2]
    for place in ("fast", "@midle", "5%%", "", "1.5"):
        with pytest.raises(InputError):
            session.goto(place)
    with pytest.raises(InputError, match="middle"):
        session.goto("@midle")
    assert session.cycle == CYCLES // 2


@pytest.mark.parametrize("condition", CONDITIONS)
def test_searches_land_on_the_nearest_cycle_that_holds(session: Session, truth: list, condition: str) -> None:
    holds = [bool(CONDITIONS[condition](truth, cycle)) for cycle in range(CYCLES + 1)]
    order = random.Random(7)
    for start in [0, CYCLES, CHUNK, CHUNK - 1, *(order.randint(0, CYCLES) for _ in range(12))]:
        session.goto(start)
        stop = session.run_until(condition)
        later = [cycle for cycle in range(start + 1, CYCLES + 1) if holds[cycle]]
        assert (stop.cycle, stop.reason) == ((later[0], "condition") if later else (CYCLES, "end"))
        session.goto(start)
        stop = session.reverse_until(condition)
        earlier = [cycle for cycle in range(start) if holds[cycle]]
        assert (stop.cycle, stop.reason) == ((earlier[-1], "condition") if earlier else (0, "start"))


ITEMS = ["w3.pc", "w3.R1", "sm.launch.grid", "rf.level", "mem[A + 40]", "stall.barrier", "w.state"]


@pytest.mark.parametrize("item", ITEMS)
def test_changes_are_found_both_ways(session: Session, item: str) -> None:
    column = session.expression(item).column(0, CYCLES + 1).reshape(CYCLES + 1, -1)
    changes = [cycle for cycle in range(1, CYCLES + 1) if (column[cycle] != column[cycle - 1]).any()]
    if item == "w3.R1":     # for a register, writes count, not changes of its value
        writes = Double(CYCLES).record_chunk(CYCLES).writes
        is_write = (writes.register == 3 * REGISTERS_OF_WARP + 1) & (writes.pc < CLEARED)
        offsets = np.searchsorted(writes.end, np.flatnonzero(is_write), "right")
        changes = sorted({1 + int(offset) for offset in offsets})
        assert changes
    order = random.Random(8)
    for start in [0, CYCLES, CHUNK, CHUNK + 1, *(order.randint(0, CYCLES) for _ in range(10))]:
        session.goto(start)
        stop, later = session.next_change(item), [cycle for cycle in changes if cycle > start]
        assert (stop.cycle, stop.reason) == ((later[0], "change") if later else (start, "not found"))
        assert "None" not in stop.text
        session.goto(start)
        stop, earlier = session.last_change(item), [cycle for cycle in changes if cycle < start]
        assert (stop.cycle, stop.reason) == ((earlier[-1], "change") if earlier else (start, "not found"))


def hits(truth: list, kind: str) -> list[int]:
    """Return the cycles at which the breakpoints of the next test stop, found by brute force."""
    found = []
    for cycle in range(CYCLES + 1):
        now, before = truth[cycle].sm["warp"], truth[max(0, cycle - 1)].sm["warp"]
        arrived = [now[w]["pc"] == 5 and (cycle == 0 or now[w]["pc"] != before[w]["pc"]
                   or now[w]["num_issued"] != before[w]["num_issued"]) for w in range(1, NUM_WARPS)]
        barrier = (now["state"][:NUM_WARPS] == 5).any()
        rising = barrier and (cycle == 0 or not (before["state"][:NUM_WARPS] == 5).any())
        if {"cycle": cycle == 123, "pc": any(arrived), "pc warp": arrived[2], "warp": now[3]["state"] == 0,
                "if": rising, "pc if": any(arrived) and cycle > 300}[kind]:
            found.append(cycle)
    return found


@pytest.mark.parametrize(
    ("kind", "arguments"),
    [("cycle", ("cycle", 123)), ("pc", ("pc", 5)), ("pc warp", ("pc", 5, 3)), ("warp", ("warp", 3)),
     ("if", ("if", 0, None, "any(w.state == barrier)")), ("pc if", ("pc", 5, None, "cycle > 300"))],
)
def test_breakpoints_stop_at_the_same_cycles_forwards_and_backwards(
    session: Session, truth: list, kind: str, arguments: tuple
) -> None:
    name, number, warp, condition = (*arguments, None, "")[:4] if len(arguments) < 4 else arguments
    point = session.add_breakpoint(name, number, warp=warp, condition=condition or "")
    expected = [cycle for cycle in hits(truth, kind) if cycle > 0]
    found = []
    while (stop := session.continue_()).reason == "breakpoint":
        assert stop.breakpoints == (point.number,)
        found.append(stop.cycle)
    assert found == expected and session.cycle == CYCLES
    back = []
    while (stop := session.reverse_continue()).reason == "breakpoint":
        back.append(stop.cycle)
    assert back == [cycle for cycle in reversed(hits(truth, kind)) if cycle < CYCLES]
    assert point.hits == len(found) + len(back)


def test_lines_break_at_their_first_instruction(session: Session) -> None:
    point = session.add_breakpoint("line", 12)
    assert point.pcs == (4,)
    assert session.add_breakpoint("line", 3).note
    stop = session.continue_()
    assert stop.reason == "breakpoint"


def test_temporary_ignored_and_disabled_breakpoints(session: Session) -> None:
    session.add_breakpoint("cycle", 50, temporary=True)
    point = session.add_breakpoint("warp", 3)
    all_hits = []
    session.enable_breakpoint(point.number, False)
    assert session.continue_().cycle == 50 and len(session.breakpoints) == 1
    assert session.continue_().reason == "end"
    session.goto(0)
    session.enable_breakpoint(point.number)
    for _ in range(4):
        all_hits.append(session.continue_().cycle)
    session.goto(0)
    point.ignore = 3
    assert session.continue_().cycle == all_hits[3]
    session.remove_breakpoint(point.number)
    assert session.continue_().reason == "end"
    with pytest.raises(InputError, match="none is set"):
        session.remove_breakpoint(point.number)


def test_breakpoints_on_what_does_not_exist_are_refused(session: Session) -> None:
    for kind, number, options in (("cycle", -1, {}), ("pc", 99, {}), ("line", 999, {}), ("warp", 8, {}), ("if", 0, {}),
                                  ("pc", 5, {"warp": 9}), ("if", 0, {"condition": "none > 5"}), ("bank", 1, {})):
        with pytest.raises(InputError):
            session.add_breakpoint(kind, number, **options)
    assert not session.breakpoints


def test_live_sessions_run_on_when_they_move_past_the_end(growing: Session, truth: list) -> None:
    assert growing.timeline.last == CHUNK
    growing.goto(130)
    assert growing.snapshot().same_as(truth[130]) and not growing.timeline.closed
    growing.run_until("cycle == 333")
    assert growing.cycle == 333
    growing.back(300)
    assert growing.snapshot().same_as(truth[33])
    assert growing.goto("end").cycle == CYCLES and growing.timeline.closed
    assert growing.snapshot().same_as(truth[CYCLES])


def test_a_fault_is_shown_where_it_happened(truth: list) -> None:
    session = Session(LiveTimeline(Double(CYCLES, fault_at=333), chunk_cycles=CHUNK))
    stop = session.continue_()
    assert (stop.reason, stop.cycle) == ("fault", 333) and "line 12" in stop.text
    assert session.back(10).reason == "step"
    assert session.snapshot().same_as(truth[323])


def test_long_moves_can_be_interrupted(growing: Session) -> None:
    seen: list[int] = []
    growing.progress = lambda cycle: seen.append(cycle) or len(seen) >= 3
    stop = growing.run_until("cycle < 0")
    assert stop.reason == "interrupted" and stop.cycle < CYCLES and len(seen) == 3
    growing.progress = lambda cycle: True
    assert growing.goto("end").reason == "interrupted"
    growing.progress = None
    assert growing.goto("end").cycle == CYCLES


def test_history_goes_back_to_earlier_stops(session: Session) -> None:
    for place in (100, 300, 200):
        session.goto(place)
    session.step(5)
    session.step(5)
    assert [session.history_back().cycle for _ in range(4)] == [200, 300, 100, 0]
    assert session.history_back().reason == "not found"
    assert [session.history_forward().cycle for _ in range(2)] == [100, 300]
    session.goto(400)
    assert session.history_forward().reason == "not found"
    assert session.history_back().cycle == 300


def test_marks_outlive_the_session(file: Path, tmp_path: Path) -> None:
    path = tmp_path / "run.rfs"
    path.write_bytes(file.read_bytes())
    with open_session(path) as session:
        session.goto(123)
        session.mark("here", "before the store")
        session.goto(5)
        session.mark("there")
        with pytest.raises(InputError):
            session.mark("two words")
    assert (tmp_path / "run.rfs.marks.json").exists()
    with open_session(path) as session:
        assert [(mark.name, mark.cycle, mark.note) for mark in session.marks] == [
            ("there", 5, ""), ("here", 123, "before the store")]
        assert session.goto("@here").cycle == 123
        session.marks.remove("here")
    assert len(Marks(tmp_path / "run.rfs.marks.json")) == 1


def test_damaged_marks_are_kept_aside_with_a_warning(file: Path, tmp_path: Path) -> None:
    path = tmp_path / "run.rfs"
    path.write_bytes(file.read_bytes())
    side = tmp_path / "run.rfs.marks.json"
    for number, content in enumerate(("{", '{"format": 99, "marks": []}', '{"format": 1, "marks": [{"name": "x"}]}', "[]")):
        side.write_text(content)
        with open_session(path) as session:
            assert session.warnings and not len(session.marks)
            session.mark("new")
        assert (tmp_path / f"run.rfs.marks.json.bad{number or ''}").read_text() == content


def test_values_are_numbers_and_arrays(session: Session, truth: list) -> None:
    session.goto(60)
    assert session.value("w3.pc") == int(truth[60].sm["warp"][3]["pc"])
    assert isinstance(session.value("w3.pc"), int) and session.value("cycle == 60") is True
    assert session.value("w.state").tolist() == truth[60].sm["warp"]["state"][:NUM_WARPS].tolist()
    assert session.value("cycle", 5) == 5
    with pytest.raises(InputError):
        session.value("cycle", CYCLES + 1)


def test_targets_that_are_nothing_are_one_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"missing\.rfs"):
        open_session(tmp_path / "missing.rfs")
    with pytest.raises(InputError):
        open_session("no_such_kernel")


def test_a_recording_keeps_its_machine(file: Path) -> None:
    with pytest.raises(InputError, match="the recording fixes its machine; leave out design"):
        open_session(file, design="hrf")


def test_a_session_says_at_the_python_prompt_where_it_stands() -> None:
    with open_session(Path(__file__).parents[2] / "sessions" / "recorded" / "first.rfs") as session:
        session.goto(1200)
        assert repr(session) == "<Session vectoradd on hrf gto, cycle 1,200 of 0..16,384>"
