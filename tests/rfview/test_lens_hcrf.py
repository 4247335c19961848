"""The hybrid-cell lens over real states of small programs: pairs, transfers, accesses and totals."""

from __future__ import annotations

import random
from functools import lru_cache
from typing import Any

import numpy as np

from rfview.engine import isa
from rfview.render.lenses import hcrf
from rfview.sessions.machine import Machine
from tests.engine.designs.test_hcrf import random_program, transfers
from tests.harness import Assembly
from tests.harness import Machine as Engine
from tests.rfview.scenes import fits, scene_of


@lru_cache(maxsize=4)
def engine(name: str) -> Engine:
    """Return a finished small run with all its snapshots."""
    if name == "early":
        return Engine(Assembly().mov(16, 5).add(1, 0, imm=3).add(2, 16, imm=1).add(3, 0, 2).exit(), design="hcrf").run()
    if name == "late":
        return Engine(Assembly().mov(16, 5).add(2, 16, imm=1).exit(), design="hcrf[early_remap=off]").run()
    if name == "masked":
        program = Assembly().sreg(19, isa.SREG_LANEID).setp_lt(0, 19, 16).mov(16, 9, guard=0)
        return Engine(program.add(2, 16, imm=1).exit(), design="hcrf").run()
    more: dict[str, Any] = {"settings": {"memory.l2_hit_cycles": 12, "memory.dram_cycles": 9}, "data": list(range(128))}
    return Engine(random_program(random.Random(3), 12), registers=20, warps=3, design="hcrf", **more).run()


def text(run: Engine, cycle: int, width: int = 58, height: int = 17, **more: Any) -> list[str]:
    """Return the lens after a cycle as plain lines."""
    return [line.plain.rstrip() for line in hcrf.render(scene_of(run, cycle, **more), width, height)]


def test_an_early_transfer_is_one_moving_cell_with_the_register_it_serves() -> None:
    run = engine("early")
    t = transfers(run)[0][0]
    lines = text(run, t)
    assert len(lines) == 17
    assert lines[0] == "  0 ⇄" + " " * 32 + "R16 w0  transfer 1/4", lines[0]
    assert lines[1] == "  1 ·" and lines[15] == " 15 ·"       # 20 registers: one pair per bank
    assert text(run, t + 3)[0].endswith("transfer 4/4")
    assert text(run, t + 4)[0].startswith("  0 ◆")
    assert lines[16].startswith(" · as built ◆ swapped ⇄ moving  hits SRAM") and "⇄ 1" in lines[16]


def test_the_small_lens_has_an_exchanged_pair_in_its_bank() -> None:
    run = engine("early")
    t = transfers(run)[0][0]
    assert [line.plain for line in hcrf.small(scene_of(run, t), 27)] == ["⇄" + " " * 26, *["·" + " " * 26] * 3]
    assert hcrf.small(scene_of(run, t + 4), 27)[0].plain.rstrip() == "▀"


def test_accesses_are_named_by_the_cells_they_use() -> None:
    run = engine("early")
    t = transfers(run)[0][0]
    assert text(run, t + 2, width=99)[0].split() == ["0", "⇄", "R0", "w0", "read", "SRAM", "R16", "w0", "transfer", "3/4"]
    assert text(run, t + 6)[0].endswith("R16 w0  write SRAM")
    last = [text(run, cycle)[0] for cycle in range(t + 7, len(run.snapshots) - 1)]
    assert any(line.endswith("R0  w0  read STT") for line in last)


def test_a_late_transfer_is_told_apart_by_word_and_colour() -> None:
    run = engine("late")
    t = transfers(run)[0][0]
    line = hcrf.render(scene_of(run, t + 1), 58, 17)[0]
    assert "R16 w0  late 2/4" in line.plain
    assert {role for part, role in line.spans if "late" in part} == {"st:x_transfer"}
    assert "late 1" in text(run, t + 1)[16]


def test_a_slow_write_says_how_long_it_still_takes() -> None:
    run = engine("masked")
    t = next(at for at, shot in enumerate(run.snapshots[1:]) if shot.rf.bank[0].write_kind == hcrf.T_ACCESS)
    assert [text(run, t + k)[0].split("write STT")[1] for k in range(4)] == [" 1/4", " 2/4", " 3/4", " 4/4"]


def test_sums_are_those_of_the_counts() -> None:
    run = engine("random")
    last = text(run, len(run.snapshots) - 2, width=99)[-1]
    reads = run.count("s_reads"), run.count("t_reads")
    assert f"hits SRAM {100 * reads[0] / sum(reads):.1f} %" in last
    assert f"⇄ {run.count('x_transfers'):,}" in last and last.endswith(f"late {run.count('late_transfers'):,}")


def test_cells_are_the_exchange_flags_of_allocated_pairs() -> None:
    run = engine("random")
    for cycle in range(0, len(run.snapshots) - 2, 5):
        machine = Machine.of(run.snapshots[cycle + 1])
        grid = hcrf.pairs_of(machine)
        assert grid.shape == (16, 32)
        warps = machine.resident_warps
        owned = {(slot // 32 * 16 + slot % 16) for warp in warps for slot in range(warp * 20, warp * 20 + 20)}
        flat = grid.T.reshape(-1)
        assert set(np.flatnonzero(flat).tolist()) >= owned
        rf = run.snapshots[cycle + 1].rf
        for pair in owned:
            word, bit = divmod(pair, 64)
            moving, exchanged = (int(words[word]) >> bit & 1 for words in (rf.moving, rf.exchanged))
            assert flat[pair] == (hcrf.MOVING if moving else hcrf.EXCHANGED if exchanged else hcrf.BUILT)


def test_narrow_shows_two_banks_per_row_by_half_blocks() -> None:
    run = engine("early")
    t = transfers(run)[0][0]
    lines = text(run, t, 40, 9)
    assert lines[0] == "  0 ⇄" + " " * 32 + "⇄1" and lines[1] == "  2 ·" and len(lines) == 9
    assert text(run, t + 4, 40, 9)[0].rstrip() == "  0 ▀"
    assert lines[8].startswith(" ▀▄ swapped  hits in SRAM")


def test_changed_cells_are_underlined() -> None:
    run = engine("early")
    end = transfers(run)[0][1]
    assert any("◆" in part and "+u" in role for part, role in hcrf.render(scene_of(run, end), 58, 17)[0].spans)
    assert not any("◆" in part and "+u" in role for part, role in hcrf.render(scene_of(run, end + 1), 58, 17)[0].spans)


def test_many_pairs_per_bank_are_pooled_or_take_more_rows() -> None:
    grid = np.zeros((4, 128), np.uint8)
    grid[1, 70], grid[2, 5] = hcrf.MOVING, hcrf.EXCHANGED
    assert hcrf.pooled(grid, 32)[1].tolist().index(hcrf.MOVING) == 17
    assert hcrf.pooled(grid, 128).shape == (4, 128) and hcrf.pooled(grid, 64)[2, 2] == hcrf.EXCHANGED
    run = Engine(Assembly().mov(4, 5).exit(), design="hcrf", preset="gebhart").run()
    lines = text(run, 5, 58, 17)
    assert len(lines) == 17 and lines[0].startswith("  0") and lines[4].startswith("  1")


def test_every_cycle_fits_its_panel() -> None:
    run = engine("random")
    fits(scene_of(run, cycle, panel="lens", bank=cycle % 16) for cycle in range(0, len(run.snapshots) - 1, 7))
