"""Reads of registers as places to stop; values and commands at stops; files of commands."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from rfview.engine.errors import InputError
from rfview.sessions import open_session
from rfview.sessions.commands.table import execute
from rfview.sessions.session import Session

RECORDED = Path(__file__).parents[2] / "sessions" / "recorded"


@pytest.fixture
def session() -> Iterator[Session]:
    """Return a session over the smallest bundled recording."""
    with open_session(str(min(RECORDED.glob("*.rfs"), key=lambda file: file.stat().st_size))) as session:
        yield session


def reads_of(session: Session, warp: int, reg: int) -> list[int]:
    """Return the cycles that are the first to show an issue that reads a register, from every cycle of the run."""
    timeline = session.timeline
    span = timeline.first + 1, timeline.last + 1
    issued = np.concatenate([timeline.column(f"sm.warp[{warp}].state", start, stop) == timeline.issued
                             for start, stop, _ in timeline.stretches(*span)])
    last = np.concatenate([timeline.column(f"sm.warp[{warp}].last_pc", start, stop)
                           for start, stop, _ in timeline.stretches(*span)])
    return [cycle for cycle, is_issue, pc in zip(range(*span), issued.tolist(), last.tolist(), strict=True)
            if is_issue and reg in session.info.program[pc].src]


def a_register(session: Session) -> tuple[int, int]:
    """Return a warp and a register that it reads several times, but not too often."""
    for reg in range(session.info.registers_per_thread):
        if 3 <= len(reads_of(session, 1, reg)) <= 200:
            return 1, reg
    raise AssertionError("no such register")


def test_a_watch_on_reads_stops_at_each_read_in_both_directions(session: Session) -> None:
    warp, reg = a_register(session)
    cycles = reads_of(session, warp, reg)
    item = f"w{warp}.R{reg}"
    assert execute(session, f"rwatch {item}").text.endswith(f"rwatch {item}")
    session.goto("start")
    forward = [session.continue_() for _ in cycles]
    assert [stop.cycle for stop in forward] == cycles and {stop.warp for stop in forward} == {warp}
    session.goto("end")
    assert [session.reverse_continue().cycle for _ in cycles] == cycles[::-1]


def test_going_to_the_next_and_the_last_read_names_the_instruction(session: Session) -> None:
    warp, reg = a_register(session)
    cycles, item = reads_of(session, warp, reg), f"w{warp}.R{reg}"
    session.goto("start")
    stops = [execute(session, f"next-read {item}").stop for _ in cycles]
    assert [stop.cycle for stop in stops if stop is not None] == cycles
    assert all(stop is not None and f"reads {item}" in stop.text for stop in stops)
    assert execute(session, f"nr {item}").data["reason"] == "not found"
    assert execute(session, f"pr {item}").data["cycle"] == cycles[-2]


def test_a_watch_on_accesses_stops_at_reads_and_changes(session: Session) -> None:
    warp, reg = a_register(session)
    item, timeline = f"w{warp}.R{reg}", session.timeline
    changed = session.expression(item)
    written = [start + int(at) for start, stop, _ in timeline.stretches(timeline.first + 1, timeline.last + 1)
               for at in np.flatnonzero(changed.changes(start, stop))]
    expected = sorted({*reads_of(session, warp, reg), *written})
    session.add_breakpoint("access", item=item)
    session.goto("start")
    assert [session.continue_().cycle for _ in expected] == expected


@pytest.mark.parametrize("wrong", ["w0.pc", "w0.R1[3]", "R1", "w99.R1", "w0.R254", ""])
def test_what_cannot_be_read_is_one_sentence(session: Session, wrong: str) -> None:
    with pytest.raises(InputError):
        execute(session, f"rwatch {wrong}")


def test_displays_and_commands_follow_each_stop(session: Session) -> None:
    execute(session, "goto 10")
    execute(session, "display w1.pc")
    assert execute(session, "display").text == "1: w1.pc"
    answer = execute(session, "step 5")
    assert answer.text.splitlines()[-1] == f"1: w1.pc = {session.value('w1.pc')}"
    assert answer.data["display"] == [{"display": 1, "expression": "w1.pc", "value": session.value("w1.pc")}]
    execute(session, "undisplay 1")
    execute(session, "break 30")
    assert "then runs print cycle, when" in execute(session, "commands 1 print cycle then when").text
    stop = execute(session, "continue")
    assert stop.stop is not None and stop.stop.cycle == 30 and "cycle = 30" in stop.text and len(stop.data["commands"]) == 2
    assert execute(session, "commands 1").data["commands"] == []
    for wrong, said in (("commands 1 step", "may move the cursor"), ("commands 1 nothing", "no command 'nothing'"),
                        ("commands 9 when", "no breakpoint 9"), ("undisplay 4", "no value of this number")):
        with pytest.raises(InputError, match=said):
            execute(session, wrong)


def test_a_file_of_commands_runs_and_names_its_wrong_line(session: Session, tmp_path: Path) -> None:
    file = tmp_path / "look.txt"
    file.write_text("goto 20; step 2\nprint cycle   # comment\n")
    answer = execute(session, f"source {file}")
    assert session.cycle == 22 and answer.text.endswith("cycle = 22 (0x16)") and len(answer.data["answers"]) == 3
    file.write_text("when\nprint w99.pc\n")
    with pytest.raises(InputError, match=r"look\.txt: line 2, `print w99\.pc`"):
        execute(session, f"source {file}")
    file.write_text(f"source {file}\n")
    with pytest.raises(InputError, match="8 deep"):
        execute(session, f"source {file}")
    assert session.memo["source"] == 0
