"""Values through time: every cell is what the machine held, its writer is named, and the text fits on one page."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from rfview.engine.errors import InputError
from rfview.sessions import Session, open_session
from rfview.sessions.commands.table import execute
from rfview.sessions.heat import LOST, UNWRITTEN, MemoryHeat, RegisterHeat, around, heat
from rfview.sessions.heat.glyphs import characters, levels
from rfview.sessions.heat.kinds import typed
from rfview.sessions.heat.strip import around_writes, next_write

LESSONS = Path(__file__).resolve().parents[2] / "rfview" / "learn" / "recorded"
RECORDINGS = ("drain", "shift", "refresh", "dead", "first")     # hrf, racetrack, edram, rfc, sram
# (warp slot, register): written often, seldom and never
REGISTERS = ((0, 3), (5, 2), (12, 8), (47, 9))


def columns(session: Session, per: int, count: int = 24) -> np.ndarray:
    timeline = session.timeline
    return around(timeline.last // 2, count, per, timeline.first, timeline.last)


def busiest(session: Session) -> RegisterHeat:
    """Return the heat of warp 0's most often written register."""
    found = [RegisterHeat(session.timeline, 0, register) for register in range(12)]
    return max(found, key=lambda one: len(one.write_cycles(0, session.timeline.last)))


@pytest.mark.parametrize("name", RECORDINGS)
@pytest.mark.parametrize("per", [1, 20, 500])
def test_every_cell_of_a_register_is_what_the_log_says_at_the_end_of_its_column(name: str, per: int) -> None:
    with open_session(LESSONS / f"{name}.rfs") as session:
        edges = columns(session, per)
        for warp, register in REGISTERS:
            found = RegisterHeat(session.timeline, warp, register)
            strip = found.strip(edges)
            ends = np.minimum(edges[1:] - 1, session.timeline.last)
            for column, cycle in enumerate(ends.tolist()):
                words = found.log.column(cycle, cycle + 1)[0]
                right = typed(words, strip.kind)
                np.testing.assert_array_equal(strip.values[column], np.where(strip.state[column] == UNWRITTEN, 0.0, right))


@pytest.mark.parametrize("name", RECORDINGS)
def test_writers_are_those_that_the_log_names(name: str) -> None:
    with open_session(LESSONS / f"{name}.rfs") as session:
        edges = columns(session, 10, 40)
        found = RegisterHeat(session.timeline, 0, 3)
        strip = found.strip(edges)
        assert (strip.writes > 0).tolist() == (strip.writer >= 0).tolist() == (strip.touched > 0).tolist()
        for column in range(len(edges) - 1):
            last = min(int(edges[column + 1]), session.timeline.last + 1)
            cycles = [cycle for cycle in range(int(edges[column]), last) if found.log.writes_at(cycle, cycle + 1)[0]]
            assert bool(cycles) == bool(strip.writes[column])
            if cycles:
                assert found.log.write_at(cycles[-1])[0] in (strip.writer[column], found.log.write_at(cycles[0])[0])


def test_a_moment_tells_value_writer_and_neighbours() -> None:
    with open_session(LESSONS / "drain.rfs") as session:
        assert heat(session, "w0.R3") is heat(session, "w0.R3"), "what was read is kept"
        found = busiest(session)
        writes = found.write_cycles(0, session.timeline.last)
        assert len(writes) > 2
        for before, cycle, after in zip(writes[:-1], writes[1:], [*writes[2:], -1], strict=True):
            moment = found.moment(int(cycle), 4)
            assert moment.since == cycle and moment.pc == found.log.write_at(int(cycle))[0]
            assert moment.was == found.moment(int(before), 4).value and moment.following in (after, -1)
            assert next_write(found, int(cycle), 4, False) == before
        assert next_write(found, int(writes[-1]), 4, True) is None
        assert not found.moment(0, 4).is_written


def test_columns_of_writes_leave_idle_time_out() -> None:
    with open_session(LESSONS / "drain.rfs") as session:
        found = busiest(session)
        writes = found.write_cycles(0, session.timeline.last)
        cycle = int(writes[len(writes) // 2]) + 1
        edges = around_writes(found, cycle, 8, 0, session.timeline.last)
        strip = found.strip(edges)
        assert len(edges) <= 9 and set(edges[:-1].tolist()) <= {0, *writes.tolist()}
        assert strip.column_of(cycle) >= 0 and (strip.writes[1:] == 1).all()


def test_elements_of_a_buffer_and_the_store_that_wrote_them() -> None:
    with open_session(LESSONS / "first.rfs") as session:
        timeline = session.timeline
        stored = [variable for variable in session.info.buffers
                  if not np.array_equal(*(part.memory[variable.word : variable.word + variable.bytes // 4]
                                          for part in (timeline.at(timeline.first), timeline.at(timeline.last))))]
        assert stored, "the kernel stores something"
        name, word = stored[0].name, int(stored[0].word)
        found = heat(session, f"{name}[0..63]")
        assert isinstance(found, MemoryHeat)
        edges = around(timeline.last, 20, 200, timeline.first, timeline.last)
        strip = found.strip(edges, 64)
        for column, cycle in enumerate(np.minimum(edges[1:] - 1, timeline.last).tolist()):
            held = timeline.at(cycle).memory[word : word + 64].copy().view(found.dtype)
            np.testing.assert_array_equal(strip.values[column], held.astype(float))
        means = found.strip(edges, 16)
        assert means.each == 4 and means.values[-1, 3] == pytest.approx(strip.values[-1, 12:16].mean())
        changed = next(row for row in range(64) if found.moment(timeline.last, row).since >= 0)
        moment = found.moment(timeline.last, changed)
        entry = session.info.program[moment.pc]
        assert entry.mnemonic == "st" and 0 <= moment.lane < 32 and 0 <= moment.warp < 48
        before, after = (timeline.at(cycle).memory[word + changed] for cycle in (moment.since - 1, moment.since))
        assert before != after
        data = timeline.at(moment.since).register(moment.warp, [reg for reg in entry.src if reg != 255][-1])
        assert data[moment.lane] == after, "the lane's register holds what memory then holds"


@pytest.mark.parametrize("name", RECORDINGS)
def test_every_store_is_known_by_instruction_warp_and_lane(name: str) -> None:
    with open_session(LESSONS / f"{name}.rfs") as session:
        timeline, told = session.timeline, 0
        for variable in session.info.buffers:
            ends = [timeline.at(cycle).memory[variable.word : variable.word + variable.bytes // 4]
                    for cycle in (timeline.first, timeline.last)]
            for row in np.flatnonzero(ends[0] != ends[1])[::37].tolist():
                moment = MemoryHeat(timeline, variable, row, 1).moment(timeline.last, 0)
                source = [reg for reg in session.info.program[moment.pc].src if reg != 255][-1]
                if name != "dead":      # the rfc run drops values after their last read
                    assert timeline.at(moment.since).register(moment.warp, source)[moment.lane] == ends[1][row]
                assert moment.lane == row % 32, "these kernels' threads store the element of their number"
                told += 1
        assert told


def test_lost_bits_and_empty_slots_have_states_of_their_own() -> None:
    with open_session(LESSONS / "refresh.rfs") as session:
        found = RegisterHeat(session.timeline, 0, 3)
        part = found.log.entries(0)
        assert found.strip(np.array([0, 1]), 32).state.max() == UNWRITTEN
        assert LOST not in found.strip(columns(session, 20)).state      # no bit is lost in the lesson
        assert len(part.pc) == len(part.cycle)


def test_levels_and_characters_tell_sign_and_size() -> None:
    values = np.array([[-10.0, -5.0, -0.1, 0.0, 0.1, 5.0, 10.0, 50.0, np.nan, np.inf, 3.0, 3.0]])
    state = np.array([[1] * 10 + [UNWRITTEN, LOST]], np.uint8)
    assert levels(values, 10.0)[0, :8].tolist() == [-12, -7, -1, 0, 1, 7, 12, 12]
    assert "".join(characters(values, state, 10.0)[0]) == "#≡··" + "·▓██" + "?! ✕"
    assert "".join(characters(values, state, 10.0, ascii_only=True)[0]) == "#%,," + ",+@@" + "?! x"
    assert levels(values, 10.0, log=True)[0, 2] < -3


@pytest.mark.parametrize(("text", "said"), [
    ("heat", "expected `heat REGISTER"), ("heat w5.pc", "not a register"), ("heat Q[0..3]", "expected a register"),
    ("heat w0.R3 by 0", "at least one cycle"), ("heat w99.R3", "w99"),
])
def test_bad_input_is_one_sentence(text: str, said: str) -> None:
    with open_session(LESSONS / "first.rfs") as session, pytest.raises(InputError, match=said):
        execute(session, text)


def test_the_command_prints_a_page_and_gives_json() -> None:
    with open_session(LESSONS / "first.rfs") as session:
        session.goto("50%")
        answer = execute(session, "heat w0.R3 by 5")
        lines = answer.text.splitlines()
        assert lines[0].startswith("w0.R3  ") and "a column is 5 cycles" in lines[0] and len(lines) > 34
        assert any(line.startswith(" wrote ") for line in lines)
        data = json.loads(json.dumps(answer.data, allow_nan=False))["heat"]
        assert len(data["values"]) == len(data["edges"]) - 1 == len(data["writes"])
        buffer = session.info.buffers[0].name
        assert execute(session, f"heat {buffer}[0..7]").data["heat"]["rows"] == list(range(8))
        with pytest.raises(InputError, match="has elements 0"):
            execute(session, f"heat {buffer}[0..999999999]")
