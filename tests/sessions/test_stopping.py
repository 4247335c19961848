"""Stops and backward searches agree with a brute-force forward scan over every snapshot, on random expressions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from rfview.sessions.reports import tracing
from rfview.sessions.reports.tracing import trace
from rfview.sessions.reports.statistics import stats
from rfview.engine import plugin as designs, stalls
from rfview.engine.errors import InputError
from rfview.sessions.timeline import invariants as accounts
from rfview.sessions.timeline.live import LiveTimeline
from rfview.sessions.file.writer import record
from rfview.sessions.timeline.opening import open_recording
from rfview.learn.tours import TOURS
from rfview.sessions import open_session
from rfview.sessions.expressions import compile_expression
from rfview.sessions.session import Session, Stop
from rfview.sessions.timeline.base import Timeline
from tests.sessions.conftest import CHUNK, CYCLES
from tests.sessions.double import NUM_WARPS, Double
from tests.sessions.test_expressions import grow, reduced, scalars

EXPRESSIONS = st.recursive(st.one_of(scalars(), reduced()), grow, max_leaves=5)
CALM = ("issued", "finished", "no_cta")


@pytest.fixture(scope="module")
def timelines(file, tmp_path_factory: pytest.TempPathFactory) -> list[Timeline]:
    """Return timelines that stay open: recorded, live, and recorded in 140 chunks with three zone maps and with none."""
    live = LiveTimeline(Double(CYCLES), chunk_cycles=CHUNK)
    live.extend(CYCLES)
    path = tmp_path_factory.mktemp("stopping") / "fine.rfs"
    record(Double(CYCLES), path, chunk_cycles=5)
    fine, plain = open_recording(path), open_recording(path)
    plain.zone_maps = None
    return [open_recording(file), live, fine, plain]


@pytest.fixture
def session(recorded: Timeline) -> Session:
    """Return a session over the recording."""
    return Session(recorded)


def scan(look: Any, truth: list) -> tuple[list[int], list[int]]:
    """Return the cycles at which the expression becomes true, and those at which its value changes, by brute force."""
    values = [look(truth, cycle) for cycle in range(CYCLES + 1)]
    rises = [cycle for cycle in range(CYCLES + 1) if values[cycle] and (cycle == 0 or not values[cycle - 1])]
    changes = [cycle for cycle in range(1, CYCLES + 1) if values[cycle] != values[cycle - 1]]
    return rises, changes


def assume_changing(timeline: Timeline, *texts: str) -> None:
    """Leave out expressions that are the same in every cycle: nothing stops at them, and they are refused."""
    for text in texts:
        try:
            compile_expression(text, timeline).check_change()
        except InputError:
            assume(False)


def walk(session: Session, forward: bool) -> list[int]:
    """Continue until there are no more stops; return their cycles."""
    found = []
    while (stop := session.continue_() if forward else session.reverse_continue()).reason == "breakpoint":
        found.append(stop.cycle)
        assert len(found) <= CYCLES + 1
    assert session.cycle == (CYCLES if forward else 0)
    return found


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(EXPRESSIONS, st.sampled_from(["if", "watch"]), st.integers(0, CYCLES))
def test_stops_agree_with_a_brute_force_scan_in_both_directions(
    timelines: list, truth: list, expression: Any, kind: str, start: int
) -> None:
    text, look = expression
    assume_changing(timelines[0], text)
    rises, changes = scan(look, truth)
    hits = rises if kind == "if" else changes
    for timeline in timelines:
        session = Session(timeline)
        if kind == "if":
            session.add_breakpoint("if", condition=text)
        else:
            session.watch(text)
        session.cycle = start
        assert walk(session, True) == [cycle for cycle in hits if cycle > start], text
        session.cycle = start
        assert walk(session, False) == [cycle for cycle in reversed(hits) if cycle < start], text


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(EXPRESSIONS, EXPRESSIONS, st.lists(st.sampled_from("cCsS"), max_size=12), st.integers(0, CYCLES))
def test_a_watch_with_a_condition_agrees_whatever_way_one_walks(
    timelines: list, truth: list, item: Any, condition: Any, moves: list, start: int
) -> None:
    assume_changing(timelines[0], item[0], condition[0])
    hits = [cycle for cycle in scan(item[1], truth)[1] if condition[1](truth, cycle)]
    session = Session(timelines[0])
    session.watch(item[0], condition[0])
    session.cycle = cycle = start
    for move in moves:
        if move in "sS":
            cycle = max(0, min(CYCLES, cycle + (1 if move == "s" else -1)))
            stop = session.step() if move == "s" else session.back()
        elif move == "c":
            cycle = next((hit for hit in hits if hit > cycle), CYCLES)
            stop = session.continue_()
        else:
            cycle = next((hit for hit in reversed(hits) if hit < cycle), 0)
            stop = session.reverse_continue()
        assert stop.cycle == session.cycle == cycle, (item[0], condition[0], move)


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(EXPRESSIONS, EXPRESSIONS, st.integers(0, CYCLES), st.integers(0, CYCLES))
def test_tracepoints_list_every_past_hit_with_its_value(
    timelines: list, truth: list, value: Any, condition: Any, first: int, last: int
) -> None:
    assume_changing(timelines[0], value[0], condition[0])
    low, high = sorted((first, last))
    for timeline in timelines:
        session = Session(timeline)
        session.cycle = 77
        found = trace(session, value[0], condition[0], first, last)
        hits = [cycle for cycle in scan(condition[1], truth)[0] if low <= cycle <= high]
        assert list(found.cycles) == hits and session.cycle == 77
        assert [int(row[0]) for row in found.rows] == [int(value[1](truth, cycle)) for cycle in hits]
        changes = [cycle for cycle in scan(value[1], truth)[1] if low <= cycle <= high]
        assert list(trace(session, value[0], "", first, last).cycles) == changes


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(EXPRESSIONS, st.integers(0, CYCLES), st.integers(1, 4), st.booleans())
def test_find_counts_hits_and_stays_where_there_are_too_few(
    timelines: list, truth: list, condition: Any, start: int, count: int, forward: bool
) -> None:
    assume_changing(timelines[0], condition[0])
    holds = [bool(condition[1](truth, cycle)) for cycle in range(CYCLES + 1)]
    way = range(start + 1, CYCLES + 1) if forward else range(start - 1, -1, -1)
    hits = [cycle for cycle in way if holds[cycle]]
    session = Session(timelines[0])
    session.cycle = start
    stop = session.find(condition[0], forward, count)
    assert (stop.cycle, stop.reason) == ((hits[count - 1], "condition") if len(hits) >= count else (start, "not found"))
    assert session.cycle == stop.cycle


def waits(truth: list, length: int, name: str, warp: int | None) -> list[int]:
    """Return the cycles at which a warp has waited for length + 1 cycles, counted state by state."""
    found = []
    for slot in range(NUM_WARPS) if warp is None else [warp]:
        run, since = None, 0
        for cycle in range(1, CYCLES + 1):
            record = truth[cycle].sm["warp"][slot]
            key = (int(record["state"]), int(record["state_since_cycle"]))
            if key != run:
                run, since = key, key[1]
            state = stalls.STALLS[[s.code for s in stalls.STALLS].index(key[0])].name
            if (state == name if name else state not in CALM) and cycle - since == length + 1:
                found.append(cycle)
    return sorted(set(found))


@pytest.mark.parametrize(("length", "name", "warp"), [(3, "", None), (8, "barrier", None), (2, "wait", 3), (500, "", None)])
def test_long_stalls_are_found_both_ways(session: Session, truth: list, length: int, name: str, warp: int | None) -> None:
    session.break_on_stall(length, name, warp)
    expected = waits(truth, length, name, warp)
    assert walk(session, True) == [cycle for cycle in expected if cycle > 0]
    assert walk(session, False) == [cycle for cycle in reversed(expected) if cycle < CYCLES]


class Cooked(Double):
    """A machine whose accounts do not balance from cycle 250 to 260: one warp slot is counted twice."""

    def _cycle(self, log: dict) -> None:
        sm = self._sm[0]
        if self.cycle == 250:
            sm["state_count"][stalls.WAIT] += 1
        super()._cycle(log)


def test_an_unbalanced_account_is_found_and_told(truth: list) -> None:
    for snapshot in truth[::37]:
        assert accounts.problems(snapshot) == ()
    session = Session(LiveTimeline(Cooked(CYCLES), chunk_cycles=CHUNK))
    session.break_on_unbalanced()
    stop = session.continue_()
    assert (stop.reason, stop.cycle) == ("breakpoint", 251) and "unbalanced" in stop.text
    slots, totals = accounts.problems(session.snapshot())
    assert slots == "9 of 8 warp slots are in a state" and "warp-cycles, not 8 x 251" in totals
    session.step(100)
    assert session.reverse_continue().cycle == 251
    session.back()
    assert accounts.problems(session.snapshot()) == () and stats(session).is_balanced
    assert not stats(session, 240, 300).is_balanced


def test_energy_that_does_not_add_up_is_found(recorded: Timeline, monkeypatch: pytest.MonkeyPatch) -> None:
    parts = {"dynamic": 3.0, "leakage": 2.0, "refresh": 0.0, "total": 5.0}
    for name, value, good in (("total", 5.0, True), ("total", 6.0, False), ("leakage", -1.0, False),
                              ("dynamic", float("nan"), False)):
        monkeypatch.setattr(designs, "energy", lambda chain, run, n=name, v=value: parts | {n: v})
        assert (not accounts.problems(recorded.at(5))) == good
        assert accounts.unbalanced(recorded, 3, 60).any() == (not good)

    def branches(chain: Any, run: Any) -> dict:
        return parts if run.counts["instructions"] >= 0 else {}

    monkeypatch.setattr(designs, "energy", branches)
    assert not accounts.unbalanced(recorded, 3, 60).any()


def test_temporary_ignored_and_switched_off_watchpoints(session: Session) -> None:
    point = session.watch("w3.pc")
    hits = walk(session, True)
    assert point.hits == len(hits) > 5
    session.goto(0)
    point.ignore = 4
    assert session.continue_().cycle == hits[4]
    session.enable_breakpoint(point.number, False)
    assert session.continue_().reason == "end"
    session.goto(0)
    session.watch("w3.pc", temporary=True)
    assert session.continue_().cycle == hits[0] and len(session.breakpoints) == 1
    with pytest.raises(InputError, match="name an item"):
        session.watch("")
    session.set_condition(point.number, "w3.pc == 7")
    session.enable_breakpoint(point.number)
    session.goto(0)
    assert session.continue_().reason == "breakpoint" and session.value("w3.pc") == 7
    assert session.watch("0x70000000000c").watched.text == "mem[0x70000000000c]"


@pytest.mark.parametrize("text", ["A", "5", "A + 4", "barrier", "-2.5", "changed(A)", "min(3, A)", "1 < 2"])
def test_what_cannot_change_is_neither_watched_nor_traced_nor_searched(session: Session, text: str) -> None:
    for ask in (session.watch, session.next_change, session.last_change, lambda item: trace(session, item),
                lambda item: trace(session, "cycle", at=item), lambda item: trace(session, [item, "cycle"])):
        with pytest.raises(InputError, match="is a constant" + (".*A is an address, A.0." if text == "A" and
                                                              ask == session.watch else "")):
            ask(text)
    assert not session.breakpoints and session.cycle == 0
    assert trace(session, text, at="cycle == 3").rows, "where another condition holds, it may be listed"


def test_all_breakpoints_that_held_stop_together_in_both_directions(session: Session) -> None:
    numbers = [session.add_breakpoint("cycle", cycle, condition=condition).number
               for cycle, condition in ((40, ""), (50, ""), (40, "cycle > 3"), (40, "cycle < 3"), (40, ""))]
    session.enable_breakpoint(numbers[-1], False)
    for move in (session.continue_, lambda: (session.goto(45), session.reverse_continue())[1]):
        stop = move()
        assert (stop.cycle, stop.breakpoints) == (40, (numbers[0], numbers[2]))
        assert stop.text == "cycle 40: breakpoint 1, cycle 40; breakpoint 3, cycle 40 if cycle > 3"


def test_playing_stops_at_breakpoints_and_goes_no_further(session: Session) -> None:
    session.add_breakpoint("cycle", 55)
    assert [session.play(30).cycle for _ in range(4)] == [30, 55, 85, 115]
    assert session.came_from == 30 and session.play(10**6).reason == "end"


def found(session: Session, kind: str) -> Stop:
    """Return the next event of a kind after cycle 100."""
    session.goto(100)
    return session.next_event(kind)


def test_events_of_a_kind(session: Session, truth: list) -> None:
    session.goto(100)
    state = [int(truth[cycle].sm["warp"][3]["state"]) for cycle in range(CYCLES + 1)]
    issues = [cycle for cycle in range(101, CYCLES + 1) if state[cycle] == 0]
    assert session.next_event("issue", 3, 2).cycle == issues[1]
    session.goto(100)
    waiting = [cycle for cycle in range(1, 100) if state[cycle] not in (0, 18, 19, state[cycle - 1])]
    assert session.previous_event("stall", 3).cycle == waiting[-1]
    counts = [int(truth[cycle].sm["events"][0]) for cycle in range(CYCLES + 1)]
    session.goto(100)
    assert session.next_event("instructions").cycle == next(c for c in range(101, CYCLES) if counts[c] != counts[c - 1])
    for kind in ("barrier", "conflict", "stall", "issue"):
        assert session.next_event(kind).reason == "condition"
    session.goto(0)
    stop = session.next_event("barrier")
    codes = truth[stop.cycle].sm["warp"]["state"][: session.info.num_warps]
    first = next(warp for warp, code in enumerate(codes) if code == stalls.BY_NAME["barrier"].code)
    assert stop.text.startswith(f"cycle {stop.cycle:,}: barrier: w{first}")
    with pytest.raises(InputError, match="no such event 'fly'"):
        session.next_event("fly")


@pytest.mark.parametrize(("tour", "activity", "counters"), [
    ("refresh", "refresh", ["row_refreshes", "low_refreshes", "forced_refreshes"]), ("shift", "shift", ["shifts", "preshifts"]),
])
def test_a_designs_own_activity_may_be_named_or_not(tour: str, activity: str, counters: list[str]) -> None:
    over = open_session(TOURS[tour].recording)
    first = min(stop.cycle for stop in (found(over, name) for name in counters) if stop.reason == "condition")
    assert found(over, "activity").cycle == found(over, activity).cycle == first
    with pytest.raises(InputError, match=f"there are issue, stall, conflict, rf, activity, {activity}, the names"):
        over.next_event("fly")


def test_without_an_activity_there_is_nothing_to_go_to(session: Session) -> None:
    with pytest.raises(InputError, match="does nothing by itself"):
        session.next_event("activity")


def test_run_to_an_instruction_later_else_earlier(session: Session, truth: list) -> None:
    pcs = [int(truth[cycle].sm["warp"][3]["pc"]) for cycle in range(CYCLES + 1)]
    arrived = [cycle for cycle in range(1, CYCLES + 1) if pcs[cycle] == 5 and pcs[cycle - 1] != 5]
    session.goto(100)
    assert session.run_to(5, 3).cycle == min(cycle for cycle in arrived if cycle > 100)
    session.goto("end")
    assert session.run_to(5, 3).cycle == max(cycle for cycle in arrived if cycle < CYCLES)
    here = session.cycle
    assert session.run_to(5, 3, forward=True).cycle == here
    assert session.previous_stop().cycle == CYCLES and session.previous_stop().cycle == here


def test_statistics_between_marks_add_up(session: Session, truth: list) -> None:
    for name, cycle in (("a", 100), ("b", 350)):
        session.goto(cycle)
        session.mark(name)
    found = stats(session, "a", "@b")
    assert (found.first, found.last, found.warp_cycles, found.is_balanced) == (100, 350, 250 * NUM_WARPS, True)
    totals = truth[350].sm["stall_total"].astype(int) - truth[100].sm["stall_total"].astype(int)
    assert found.states == {stall.name: int(totals[stall.code]) for stall in stalls.STALLS if totals[stall.code]}
    assert found.instructions == totals[0] and found.ipc == totals[0] / 250
    assert found.counts["instructions"] == int(truth[350].sm["events"][0]) - int(truth[100].sm["events"][0])
    halves = [stats(session, 100, 200), stats(session, 200, 350)]
    assert found.states == {name: sum(half.states.get(name, 0) for half in halves) for name in found.states}
    assert stats(session, "b", "a") == found and stats(session, "a").last == 350
    with pytest.raises(InputError):
        stats(session, "a", "c")


def test_statistics_say_the_energy_that_the_run_used(recorded: Timeline) -> None:
    session = Session(recorded)
    whole, parts = stats(session, 0, CYCLES), [stats(session, 0, 300), stats(session, 300, CYCLES)]
    assert whole.energy_pj["total"] > 0 and whole.is_balanced and whole.microseconds == CYCLES / 700
    for name, value in whole.energy_pj.items():
        assert np.isclose(sum(part.energy_pj[name] for part in parts), value)
    assert np.isclose(whole.power_mw, whole.energy_pj["total"] / whole.microseconds * 1e-3)


def test_a_watch_says_what_the_item_was_and_is(session: Session) -> None:
    session.watch("w3.pc")
    stop = session.continue_()
    before, now = (session.value("w3.pc", cycle) for cycle in (stop.cycle - 1, stop.cycle))
    assert before != now and f"watch w3.pc: {before} → {now}" in stop.text
    session.remove_breakpoint(1)
    session.watch("w3.R1")
    stop = session.continue_()
    old, new = (session.value("w3.R1", cycle) for cycle in (stop.cycle - 1, stop.cycle))
    lane = int((old != new).argmax())
    assert f": lane {lane}: {old[lane]}" in stop.text and "→" in stop.text


def test_a_trace_is_bounded_by_its_values_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tracing, "MAX_VALUES", 320)
    session = open_session("vectoradd")
    session.goto(3000)
    found = tracing.trace(session, "w0.R1", "cycle >= 0 and cycle % 2 == 0")
    assert len(found.cycles) == 10 and found.more and found.reached < session.timeline.last


def test_a_breakpoint_says_for_which_warp_it_stopped(session: Session) -> None:
    """Against the columns: the first warp that reaches a pc, is named, or makes any(...) true."""
    pc = session.timeline.column("sm.warp[*].pc", 0, CYCLES).reshape(CYCLES, -1)
    point = session.add_breakpoint("pc", 3)
    hits = 0
    while (stop := session.continue_()).reason == "breakpoint":
        assert stop.warp is not None and pc[stop.cycle, stop.warp] == 3
        assert not any(pc[stop.cycle, warp] == 3 != pc[stop.cycle - 1, warp] for warp in range(stop.warp))
        hits += 1
    session.remove_breakpoint(point.number)
    assert hits > 2
    named = {"w2.pc == 3": 2, "warp[2].pc == 3": 2, "cycle == 9": None, "w2.pc == 99 or w1.pc == 3": 1}
    for text in ("any(w.pc == 3)", "w1.pc == 99 or any(w.pc == 3)", "any(w.pc == 3) and cycle > w1.pc", *named):
        session.goto(0)
        point = session.add_breakpoint("if", condition=text)
        stop = session.continue_()
        assert stop.reason == "breakpoint"
        if text not in named:
            assert stop.warp is not None and pc[stop.cycle, stop.warp] == 3 and pc[stop.cycle - 1, stop.warp] != 3
        else:
            assert stop.warp == named[text], text
        session.remove_breakpoint(point.number)
    session.goto(0)
    session.watch("w3.pc")
    assert session.continue_().warp == 3
    assert session.step().warp is None
