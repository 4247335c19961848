"""The single-buffer lens over real states of a small program: entries, banks, the refused result, totals."""

from __future__ import annotations

from functools import lru_cache

import pytest

from rfview.engine.designs import single_buffer as design
from rfview.engine.stalls import WB_FULL
from rfview.engine.state import WRITE_BACK
from rfview.render.lenses import single_buffer
from rfview.sessions.energy import counts_of, energy_of
from tests.harness import Assembly
from tests.harness import Machine as Engine
from tests.rfview.scenes import fits, scene_of

BANK = 3        # of R3, R19 and R35 of warp 0


@lru_cache(maxsize=1)
def engine() -> Engine:
    """Return a run of eight warps whose results go to one bank each, so that the buffer fills up."""
    program = Assembly()
    for index in range(60):
        program.mov(BANK + 16 * (index % 3), index)
    return Engine(program.exit(), registers=60, warps=8, design="single_buffer").run()


def text(run: Engine, cycle: int, width: int = 58, height: int = 17) -> list[str]:
    """Return the lens after a cycle as plain lines."""
    return [line.plain.rstrip() for line in single_buffer.render(scene_of(run, cycle), width, height)]


def full(run: Engine) -> int:
    """Return the first cycle in which a result finds no entry."""
    for at, shot in enumerate(run.snapshots[1:]):
        flights = shot.sm.inflight
        if ((flights["stage"] == WRITE_BACK) & (flights["code"] == WB_FULL)).any():
            return at
    raise AssertionError("no result was refused")


def test_entries_stand_in_the_order_in_which_they_leave() -> None:
    run = engine()
    at = full(run)
    machine = scene_of(run, at).now
    assert machine is not None
    entries = single_buffer.entries_of(machine)
    assert len(entries) == design.ENTRIES == int(run.snapshots[at + 1].rf.count)
    lines = text(run, at)
    assert lines[0].startswith(" buffer 16 of 16 entries  full") and lines[0].endswith("leaving")
    names = (lines[1] + " " + lines[4]).split()
    assert [name.strip("↓✓") for name in names] == [f"R{entry['reg']}" for entry in entries]
    assert (lines[2] + " " + lines[5]).split() == [f"w{entry['warp']}" for entry in entries]
    leaving = [entry["state"] != design.WAITING for entry in entries]
    assert [name[-1] in "↓✓" for name in names] == leaving and f"↓ {sum(leaving)} leaving" in lines[0]


def test_a_refused_result_is_named_with_the_cycle_in_which_the_oldest_entry_leaves() -> None:
    run = engine()
    at = full(run)
    shot = run.snapshots[at + 1]
    flights = shot.sm.inflight
    refused = flights[(flights["stage"] == WRITE_BACK) & (flights["code"] == WB_FULL)]
    first = refused[refused["seq"].argmin()]
    line = next(line for line in text(run, at) if line.startswith(" write "))
    assert f"w{int(first['warp'])} finds no entry" in line
    oldest = shot.rf.entry[int(shot.rf.head)]
    if int(oldest.state) == design.WRITING:
        assert line.endswith(f"oldest leaves {int(shot.sm.bank[int(oldest.bank)].until_cycle)}")
    narrow = next(line for line in text(run, at, 39, 12) if line.startswith(" write "))
    assert f"w{int(first['warp'])} waits; oldest " in narrow and narrow.split()[-1] == line.split()[-1]


def test_a_banks_write_is_counted_in_cycles() -> None:
    run = engine()
    seen = set()
    for at in range(full(run), full(run) + 12):
        shot = run.snapshots[at + 1]
        line = next(line for line in text(run, at) if line.startswith(" writes"))
        for bank in range(16):
            cell = line.ljust(58)[8 + 3 * bank : 11 + 3 * bank].strip()
            port = shot.sm.bank[bank]
            if int(port.until_cycle) > int(shot.sm.cycle):
                done = int(shot.sm.cycle) - int(port.since_cycle)
                assert cell == f"{done}/4"
                seen.add(done)
            else:
                assert cell == "·"
    assert {1, 2, 3} <= seen


def test_sums_are_those_of_the_counts_and_power_is_a_sum() -> None:
    run = engine()
    cycle = len(run.snapshots) - 2
    shot = run.snapshots[-1]
    info = run.simulator.info
    counts = counts_of(info, shot.sm.events.tolist(), shot.sm.access_wait.tolist())
    lines = text(run, cycle)
    so_far = next(line for line in lines if line.startswith(" so far"))
    assert f"STT writes {counts['stt_writes']:,} " in so_far
    assert f"merged {100 * counts['buffer_merges'] / counts['buffer_writes']:.1f} %" in so_far
    energy = energy_of(info, counts, int(shot.sm.cycle))
    assert energy is not None
    words = next(line for line in lines if line.startswith(" power")).split()
    scale = info.clock_mhz / int(shot.sm.cycle) / 1e3
    assert float(words[7]) == pytest.approx(energy["total"] * scale, abs=0.06)
    assert float(words[2]) + float(words[5]) == pytest.approx(float(words[7]), abs=0.11)


def test_the_small_lens_has_a_cell_per_entry_oldest_first() -> None:
    run = engine()
    lines = single_buffer.small(scene_of(run, full(run)), 27)
    assert lines[0].plain.startswith("↓") and lines[0].plain.rstrip().endswith(" 16/16") and len(lines) == 4


def test_every_cycle_fits_its_panel() -> None:
    run = engine()
    fits(scene_of(run, cycle, panel="lens") for cycle in range(0, len(run.snapshots) - 1, 29))
