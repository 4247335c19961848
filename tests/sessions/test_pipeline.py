"""The rows of one warp's pipeline against the exported events, the warp's counters and its states."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from rfview.sessions import Session, open_session
from rfview.sessions.export.instructions import NO_STAGE, events
from rfview.sessions.reports.pipeline import DECODED, EMPTY, FETCHED, ISSUED, REFUSED, STAGES, lives, reads, writes

FIRST = Path(__file__).resolve().parents[2] / "sessions" / "recorded" / "first.rfs"
NAMES = {"collect": 1, "execute": 2, "memory": 3, "write_back": 4, "written": 5}


@pytest.fixture(scope="module")
def session() -> Iterator[Session]:
    with open_session(FIRST) as opened:
        yield opened


@pytest.mark.parametrize("warp", [0, 3, 1])
def test_stages_and_issues_are_those_of_the_exported_events(session: Session, warp: int) -> None:
    stop = 1400
    rows = [life for life in lives(session.timeline, warp, 0, stop) if life.issue is not None]
    expected: dict[int, list[tuple[int, int]]] = {}      # column of the issue -> (column, stage) of every change
    begun: dict[int, int] = {}
    for event in events(session.timeline, 0, stop - 1):
        if event.warp != warp:
            continue
        if event.kind == "begin":
            begun[event.seq] = event.cycle + 1
            expected[event.cycle + 1] = []
        if event.stage != NO_STAGE and event.kind != "end":
            expected[begun[event.seq]].append((event.cycle + 1, NAMES[event.stage]))
    assert [life.issue for life in rows] == sorted(expected)
    assert len(rows) > 15
    for life in rows:
        seen = [(column, int(life.cells[column])) for column in range(life.issue, stop) if life.cells[column] != EMPTY]
        kinds = [(column, kind if kind != REFUSED else STAGES[1]) for column, kind in seen if kind != ISSUED]
        changes = [pair for before, pair in zip([(0, 0), *kinds], kinds) if pair[1] != before[1]]
        # the issue takes its own column; the stage that begins there shows from the next column on
        wanted = [(max(column, life.issue + 1), STAGES[stage]) for column, stage in expected[life.issue]]
        assert changes == [pair for pair in wanted if pair[0] < stop]


def test_rows_are_counted_as_the_warp_counts_and_wait_in_its_states(session: Session) -> None:
    timeline = session.timeline
    rows = lives(timeline, 3, 0, 1400)
    states = timeline.states(0, 1400)[:, 3]
    counts = np.concatenate([timeline.column("sm.warp[3].num_issued", *pair) for pair in ((0, 1024), (1024, 1400))])
    assert [life.n for life in rows] == [*range(1, 20), *range(1, 1 + len(rows) - 19)]     # two warps, one after the other
    for life in rows:
        if life.issue is not None:
            assert counts[life.issue] == life.n and states[life.issue] == 0
            wait = life.cells[life.turn : life.issue]
            own = wait < FETCHED
            assert (wait[own] == states[life.turn : life.issue][own]).all()
            assert set(wait[~own].tolist()) <= {FETCHED}    # the fetch itself is shown over `no instruction`
        assert (life.cells[: life.turn] != ISSUED).all()
        assert set(life.cells[: life.turn].tolist()) <= {EMPTY, FETCHED, DECODED}


def test_producers_wrote_what_is_read_last(session: Session) -> None:
    program = session.info.program
    rows = lives(session.timeline, 3, 0, 700)
    linked = 0
    for place, life in enumerate(rows):
        for producer, name in life.producers:
            assert producer < place and name in reads(program[life.pc]) and name in writes(program[rows[producer].pc])
            assert not any(name in writes(program[between.pc]) for between in rows[producer + 1 : place])
            linked += 1
    assert linked > 10
    branch = next(place for place, life in enumerate(rows) if program[life.pc].text.startswith("@P0"))
    setter = next(place for place, life in enumerate(rows) if program[life.pc].mnemonic == "setp")
    assert (setter, "P0") in rows[branch].producers


def test_a_part_shows_the_same_as_the_whole(session: Session) -> None:
    whole = {(life.issue, life.pc): life for life in lives(session.timeline, 7, 0, 900)}
    for part in lives(session.timeline, 7, 350, 900):
        if part.issue is not None:
            same = whole[part.issue, part.pc]
            assert part.n == same.n and (part.cells[part.issue - 350 :] == same.cells[part.issue :]).all()


def test_an_empty_slot_has_no_rows(session: Session) -> None:
    assert lives(session.timeline, 3, 0, 1) == []
