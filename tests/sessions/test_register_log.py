"""The log of register writes: values equal the machine's in every design, live and recorded; writers are named."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from rfview.engine import kernels
from rfview.engine.chunk import CLEARED, LOST, REGISTERS_OF_WARP
from rfview.engine.launch import load_launch_file
from rfview.engine.simulator import Simulator
from rfview.sessions import Session, open_session
from rfview.sessions.file.writer import record
from rfview.sessions.timeline.live import LiveTimeline
from rfview.sessions.timeline.register_log import RegisterLog

CYCLES = 1500
REGISTERS = ((0, 0), (3, 5), (3, 2), (7, 9), (11, 1), (47, 3))
# liveness=0: else rfc drops values that are never read again, while the log still has what was written
DESIGNS = ("sram", "stt", "hcrf", "hrf", "rfc[liveness=0]", "single_buffer", "racetrack", "rfc[liveness=0,main=stt]",
           "edram[error_mode=certain]")


def simulator(design: str, kernel: str = "reduction") -> Simulator:
    return Simulator(load_launch_file(kernels.path(kernel)), design=design, scheduler="gto")


@pytest.mark.slow
@pytest.mark.parametrize("design", DESIGNS)
def test_values_are_the_machines_own_at_every_cycle(design: str, tmp_path: Path) -> None:
    live = Session(LiveTimeline(simulator(design), chunk_cycles=256))
    live.goto(CYCLES)
    record(simulator(design), tmp_path / "run.rfs", max_cycles=CYCLES, chunk_cycles=256)
    with open_session(tmp_path / "run.rfs") as recorded:
        columns = {}
        for warp, register in REGISTERS:
            for session in (live, recorded):
                columns[session, warp, register] = RegisterLog(session.timeline, warp, register).column(0, CYCLES)
        for cycle in range(0, CYCLES, 13):
            snapshot = recorded.timeline.at(cycle)
            for warp, register in REGISTERS:
                try:
                    value = snapshot.register(warp, register)
                except IndexError:
                    value = np.zeros(32, np.uint32)
                if design == "hcrf" and int(snapshot.sm["warp"][warp]["sb_write"]) >> register & 1:
                    continue        # an exchange gave its cells to the pair's other row; its old value is dropped
                for session in (live, recorded):
                    assert np.array_equal(columns[session, warp, register][cycle], value), (cycle, warp, register)
        assert any(column.any() for column in columns.values())


@pytest.mark.slow
def test_bits_that_are_lost_are_entries_without_an_instruction() -> None:
    machine = simulator(DESIGNS[-1], "hotspot")
    lost = 0
    for _ in range(8):
        chunk = machine.record_chunk(512)
        writes = chunk.writes
        at = np.flatnonzero(writes.pc == LOST)
        lost += len(at)
        rows = (writes.register[at] // REGISTERS_OF_WARP * int(machine.sm["launch"]["registers"])
                + writes.register[at] % REGISTERS_OF_WARP)
        assert np.array_equal(chunk.row_index[writes.row[at]], rows)
    assert lost


def test_every_result_is_an_entry_and_a_cta_clears_its_slots() -> None:
    machine = simulator("sram", "vectoradd")
    chunk = machine.record_chunk(2000)
    writes, program = chunk.writes, {entry.pc: entry for entry in machine.info.program}
    results = writes.pc < CLEARED
    assert results.sum() > 100 and (writes.pc == CLEARED).sum() >= 48
    for register, pc in zip(writes.register[results].tolist(), writes.pc[results].tolist(), strict=True):
        assert register % REGISTERS_OF_WARP in program[pc].dst
    assert int(writes.end[-1]) == len(writes.register) and (np.diff(writes.end.astype(np.int64)) >= 0).all()


def test_who_wrote_is_said_with_the_value_before_and_since() -> None:
    with open_session("vectoradd") as session:
        session.goto(900)
        stop = session.last_change("w0.R0")
        assert stop.reason == "change" and "w0.R0 written by `" in stop.text and "→" in stop.text
        pc = int(stop.text.partition("(pc ")[2].partition(")")[0].partition(",")[0])
        entry = next(entry for entry in session.info.program if entry.pc == pc)
        assert 0 in entry.dst
