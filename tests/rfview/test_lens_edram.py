"""The eDRAM lens over real states of small programs: ages, flags, refresh positions, lost bits and totals."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
import pytest

from rfview.engine.designs import edram as design
from rfview.engine.state import BANK_BUSY, BANK_READ
from rfview.render.lenses import edram
from rfview.sessions.machine import Machine
from rfview.render.scene import Scene
from tests.engine.designs.test_edram import ONES, T0, Program
from tests.harness import Machine as Engine


def program() -> Program:
    """Return a program that makes R0..R11 approximate, R3 precise again, lets R2, all ones, age, and waits."""
    built = Program()
    for reg in range(12):
        built.fadd(reg, (reg + 3) % 12, (reg + 5) % 12)
    return built.mov(2, ONES).setp_f32(0, 2, 2).mov(3, 7).sleep(3 * T0).exit()


@lru_cache(maxsize=8)
def states(variant: str, *cycles: int) -> dict[int, tuple[Any, Any, dict[str, Any]]]:
    """Return cycle -> (state after it, state before it, info) of a run with four warps of 20 registers."""
    simulator = Engine(program(), design=f"edram[{variant}]", warps=4, registers=20).simulator
    found = {}
    for cycle in cycles:
        simulator.step(cycle - simulator.cycle)
        before = simulator.snapshot()
        simulator.step(1)
        found[cycle] = (simulator.snapshot(), before, simulator.info)
    return found


CYCLES = (0, 5, 40, 103, 300, 512, 700, 1024, 1025)


def scene_of(cycle: int, variant: str = "error_mode=certain", **more: Any) -> Scene:
    """Return the scene after a cycle, with the one before it for comparison."""
    now, before, info = states(variant, *CYCLES)[cycle]
    return Scene(now=Machine.of(now), before=Machine.of(before), info=info, **more)


def text(cycle: int, width: int = 58, height: int = 17, variant: str = "error_mode=certain", **more: Any) -> list[str]:
    """Return the lens after a cycle as plain lines."""
    return [line.plain.rstrip() for line in edram.render(scene_of(cycle, variant, **more), width, height)]


def test_a_row_per_bank_with_its_cells_counter_and_refresh() -> None:
    lines = text(300)
    assert len(lines) == 17
    assert lines[0] == "  0 ░░░" + " " * 15 + "↻" + " " * 14 + "0/8"
    assert lines[6] == "  6 ░·░" + " " * 15 + "↻" + " " * 14 + "0/8"
    assert lines[8] == "  8 ░░·" + " " * 15 + "↻" + " " * 14 + "0/8 refresh row 37"
    assert lines[16] == " · precise ░▒▓█ age 2 4 6 8 T0 ↻ ✕ lost 0 saved 0.0 %"


def test_the_counter_steps_with_each_period_of_its_bank() -> None:
    counters = [line[edram.COUNTER_COLUMN] for line in text(1024)[:16]]
    assert counters == ["2", "2"] + ["1"] * 14                 # banks 2 .. 15 begin their period 1 to 7 cycles later
    assert [line[edram.COUNTER_COLUMN] for line in text(700)[:16]] == ["1"] * 16
    assert [line[edram.COUNTER_COLUMN] for line in text(700, variant="m=0")[:16]] == ["0"] * 16


def test_lost_bits_are_shown_in_their_cycle_and_in_no_other() -> None:
    lines = text(1024)
    assert lines[2].startswith("  2 ✕") and lines[2].endswith("bit lost R2 w0")
    assert lines[14].endswith("bit lost R2 w3")                # slot 62: row 3 of bank 14
    assert "lost 2,048" in lines[16]
    assert not any("✕" in line for line in text(1025)[:16]) and "lost 2,048" in text(1025)[16]
    assert not any("✕" in line for line in text(512)[:16])     # a tick, but nothing is older than T0
    cell = next((part, role) for part, role in edram.render(scene_of(1024), 58, 17)[2].spans if "✕" in part)
    assert cell == ("✕", "bad")
    narrow = text(1024, 40, 9)
    assert narrow[1].startswith("  2 ✕") and narrow[1].endswith("-1")


@pytest.mark.parametrize("variant", ("m=1", "never_refresh_low=1", "postpone=3"))
def test_ages_and_flags_are_those_of_the_design(variant: str) -> None:
    for cycle in (40, 700, 1024):
        now, _, info = states(variant, *CYCLES)[cycle]
        rows = edram.Rows(Machine.of(now))
        simulator = Engine(program(), design=f"edram[{variant}]", warps=4, registers=20).simulator
        now.sm["cycle"] = cycle                                # the design computes ages during the cycle
        flags = rows.flags("approximate")
        assert flags.sum() == 4 * 11
        for place in np.flatnonzero(flags)[::7]:
            assert rows.ages()[place] == design.low_age(now.sm, now.rf, simulator.spec_record, np.int64(place))
        now.sm["cycle"] = cycle + 1


def test_density_is_the_quarter_of_the_longest_age() -> None:
    def cells(variant: str, cycle: int) -> str:
        return text(cycle, variant=variant)[2][4:8]

    assert cells("m=1", 40)[0] == "░" and cells("m=1", 700)[0] == "▓"         # R2, age about 660 of 1024
    assert cells("never_refresh_low=1,m=0", 1024)[:1] == "✕"
    assert text(1025, variant="never_refresh_low=1,m=0")[8].startswith("  8 ██")
    assert "age 0.5 1 1.5 2 T0" in text(40, variant="m=1")[16]
    spans = edram.render(scene_of(1025, "never_refresh_low=1,m=0"), 58, 17)[8].spans
    assert {role for part, role in spans if "█" in part} == {"p:approx", "bold"}       # warp 0 has the focus


def test_the_refresh_position_is_solid_while_its_bank_refreshes() -> None:
    drawn = edram.render(scene_of(300), 58, 17)
    now = scene_of(300).now
    assert now is not None
    for bank in range(16):
        role = next(role for part, role in drawn[bank].spans if "↻" in part)
        assert role == ("ps:moving" if now.banks[bank]["activity"] == BANK_BUSY else "pq:moving")
    assert sum(bank["activity"] == BANK_BUSY for bank in now.banks) == 2


def test_room_for_the_next_refresh() -> None:
    line = text(300, 100)[8]
    assert line.endswith("0/8 refresh row 37         next row 38 in 8")
    assert text(300, 100)[0].endswith("next row 38 in 4")
    wide = text(300, 100)[16]
    assert wide.startswith(" · precise ░≤2 ▒≤4 ▓≤6 █≤8 T0=512  ↻ refresh  ✕ lost 0  saved") and wide.endswith("approx 4.3 %")
    assert text(300, 84)[16].endswith("T0 512 cycles  approx 4.3 %")
    assert text(300, 100, variant="postpone=3")[8].endswith("next row 38 in 8")


def test_accesses_are_named_and_underlined() -> None:
    found = False
    for cycle in (5, 40):
        drawn = scene_of(cycle).now
        assert drawn is not None
        for bank, port in enumerate(drawn.banks):
            if port["activity"] == BANK_READ:
                line = edram.render(scene_of(cycle), 58, 17)[bank]
                assert f"read  R{port['owner_reg']:<2} w{port['owner_warp']}" in line.plain
                assert any("+u" in role for _, role in line.spans)
                found = True
    assert found


def test_the_focused_warps_rows_stand_out() -> None:
    spans = edram.render(scene_of(300, warp=1), 58, 17)[4].spans       # slot 20: row 1 of bank 4
    assert any(role == "text" and "░" in part for part, role in spans)
    assert any(role == "pq:approx" for part, role in spans)


def test_sums_are_those_of_the_counts() -> None:
    now, _, info = states("error_mode=certain", *CYCLES)[1025]
    counts = Machine.of(now).counts
    share = 100 * (counts["row_refreshes"] - counts["low_refreshes"]) / counts["row_refreshes"] / 2
    assert share > 0 and f"saved {share:.1f} %" in text(1025)[16]
    assert text(1025, 40, 9)[8] == f" approx 4.3 %  lost 2,048  saved {share:.1f} %"


def test_before_the_first_cycle_nothing_is_refreshed() -> None:
    engine = Engine(program(), design="edram")
    first = Machine.of(engine.snapshots[0])
    lines = edram.render(Scene(now=first, info=engine.simulator.info), 58, 17)
    assert len(lines) == 17 and not any("↻" in line.plain for line in lines[:16])
