"""The real engine in recordings and live timelines: every 97th cycle and the end, bit for bit, for each kernel."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rfview.engine import kernels
from rfview.sessions import Session, open_session
from rfview.sessions.timeline.live import LiveTimeline, open_live
from rfview.sessions.file.writer import record
from rfview.sessions.timeline.opening import open_recording

pytestmark = pytest.mark.slow
CASES = [(name, "sram") for name in kernels.CORE] + [("histogram", "stt[stall=bank]"), ("vectoradd", "stt")]


def simulator(name: str, design: str) -> Any:
    """Return a fresh simulator of a bundled kernel."""
    from rfview.engine.launch import load_launch_file
    from rfview.engine.simulator import Simulator

    return Simulator(load_launch_file(kernels.path(name)), design=design)


@pytest.mark.parametrize(("name", "design"), CASES)
def test_recorded_and_rewound_states_are_those_of_the_run(name: str, design: str, tmp_path: Path) -> None:
    path = tmp_path / "run.rfs"
    result = record(simulator(name, design), path)
    recorded = open_recording(path)
    live = LiveTimeline(simulator(name, design), budget_bytes=8 << 20)
    live._decoded.limit_bytes = 1
    assert result.finished and recorded.end.verified and not recorded.warnings
    plain = simulator(name, design)
    kept = {}
    while not plain.finished:
        snapshot = plain.snapshot()
        assert recorded.at(snapshot.cycle).same_as(snapshot), snapshot.cycle
        if len(kept) < 40:
            kept[snapshot.cycle] = snapshot
        plain.step(211)     # a wrong state stays wrong to the end of its chunk
    end = plain.snapshot()
    live.extend(1 << 40)
    assert recorded.last == live.last == end.cycle
    assert recorded.at(end.cycle).same_as(end) and live.at(end.cycle).same_as(end)
    for cycle, snapshot in reversed(kept.items()):
        assert live.at(cycle).same_as(snapshot), cycle
    assert (recorded.states(0, 3000) == live.states(0, 3000)).all()
    totals = recorded.totals(len(recorded.chunk_starts()))
    assert totals.sum() == recorded.info.num_warps * end.cycle


def walk(session: Session, moves: list[tuple[str, int]]) -> None:
    for verb, n in moves:
        getattr(session, verb)(n)


def test_n_forward_and_m_back_is_n_minus_m(tmp_path: Path) -> None:
    path = tmp_path / "run.rfs"
    record(simulator("reduction", "sram"), path, max_cycles=6000)
    openers: list[Callable[[], Session]] = [lambda: open_session(path), lambda: Session(open_live("reduction"))]
    for opener in openers:
        session = opener()
        for n, m in ((5000, 1), (1023, 1023), (1024, 1), (1025, 2), (3000, 2999), (2048, 1500)):
            session.goto(0)
            walk(session, [("step", n), ("back", m)])
            there = session.snapshot()
            fresh = simulator("reduction", "sram")
            fresh.step(n - m)
            assert session.cycle == n - m and there.same_as(fresh.snapshot())


def test_conditions_hold_where_a_live_session_stops(tmp_path: Path) -> None:
    with Session(open_live("vectoradd")) as session:
        stop = session.run_until("count(w.state == long_scoreboard) >= 8")
        assert stop.reason == "condition"
        assert (session.snapshot().sm["warp"]["state"][: session.info.num_warps] == 4).sum() >= 8
        session.add_breakpoint("pc", int(session.value("w0.pc")), warp=0)
        assert session.continue_().reason in ("breakpoint", "end")
        assert session.last_change("w0.pc").reason == "change"
