"""The register-file-cache lens over real states of small programs: entries in order, marks, evictions, totals."""

from __future__ import annotations

from functools import lru_cache

import pytest

from rfview.engine import isa
from rfview.engine.state import LEAVING
from rfview.render import lens
from rfview.render.lenses import rfc
from rfview.sessions.machine import Machine
from tests.harness import Assembly
from tests.harness import Machine as Engine
from tests.rfview.scenes import scene_of


@lru_cache(maxsize=4)
def engine(name: str) -> Engine:
    """Return a finished small run with all its snapshots."""
    more = {"scheduler": "two_level", "preset": "gebhart", "settings": {"memory.fixed_memory_cycles": 70}}
    if name == "gto":
        program = Assembly().mov(1, 1).add(2, 1, 1).add(3, 1, 2).sfu(4, 3).add(5, 4, 4).exit()
        return Engine(program, warps=12, design="rfc", scheduler="gto", preset="gebhart").run()
    if name == "evict":
        program = Assembly()
        for reg in range(1, 8):
            program.mov(reg, reg)
        return Engine(program.copy(8, 7).copy(9, 1).exit(), design="rfc", **more).run()
    program = Assembly().ld(4).mov(1, 1).mov(2, 2).mov(3, 3).add(5, 2, imm=0, last_use=1).sreg(6, isa.SREG_LANEID)
    program.setp_lt(0, 6, 16, last_use=1).mov(7, 9, guard=0).add(8, 4, 5).add(9, 8, 1).bar().st(9).exit()
    more["settings"] = {"memory.fixed_memory_cycles": 70, "scheduler.active_set": 2}
    return Engine(program, warps=4, design="rfc[main=stt]" if name == "stt" else "rfc", **more).run()


def text(run: Engine, cycle: int, width: int = 58, height: int = 17, **more: object) -> list[str]:
    """Return the lens after a cycle as plain lines."""
    return [line.plain.rstrip() for line in rfc.render(scene_of(run, cycle, **more), width, height)]


def test_entries_stand_in_the_order_of_eviction() -> None:
    run = engine("evict")
    full = next(at for at, shot in enumerate(run.snapshots[1:]) if shot.rf["write_reg"] == 6)
    lines = text(run, full)
    assert lines[0].split() == ["slot", "warp", "oldest,", "next", "to", "evict", "newest", "hits"]
    assert lines[1] == "   0  w0   ▸R1 *  R2 *  R3 *  R4 *  R5 *  R6 *" + " " * 10 + "–"
    assert lines[2].startswith(" * dirty   † dead, dropped without write   ↧ flushing now")
    after = next(at for at, shot in enumerate(run.snapshots[1:]) if shot.rf["write_reg"] == 7)
    lines = text(run, after)
    assert lines[1].startswith("   0  w0   ▸R2 *  R3 *  R4 *  R5 *  R6 *  R7 *")
    assert lines[7] == "   write R7 w0  e0         out R1 w0 written back"
    assert lines[5].startswith(" MRF     ·w··"), "R1 is in bank 1"


def test_a_tag_check_names_hits_and_misses() -> None:
    run = engine("evict")
    issued = {words: cycle for cycle, words in run.issues()}
    assert text(run, issued["mov.u32 R8, R7"])[6] == "   read  w0  R7 hit"
    assert text(run, issued["mov.u32 R9, R1"])[6] == "   read  w0  R1 miss MRF"
    assert text(run, issued["mov.u32 R9, R1"])[1].endswith("50 %")
    assert text(run, issued["mov.u32 R9, R1"] + 1)[6] == "   read  ·"


def test_a_leaving_warp_shows_what_is_flushed_and_why() -> None:
    run = engine("leave")
    left = next(at for at, shot in enumerate(run.snapshots[1:]) if shot.rf["left_cycle"] and shot.rf["left_warp"] == 0)
    lines = text(run, left)
    assert lines[1].startswith("   0  w0   ▸R1 ↧  R3 ↧  R5 ↧  R7 ↧  ·") and lines[1].endswith("leaving")
    row = next(line for line in lines if line.startswith(" leaves"))
    assert row.split()[:8] == ["leaves", "w0", "for", "R4", "flush", "4", "live", "drop"] and "2 dead" in row
    assert " enters  w1   then w2 w3" in lines
    out = next(at for at, shot in enumerate(run.snapshots[1:]) if at > left and shot.sm["warp"][0]["membership"] == 0)
    assert not any(line[6:8] == "w0" for line in text(run, out)[1:3])
    assert any(line.startswith(" leaves") and line[9:].split()[1] == "gone" for line in text(run, len(run.snapshots) - 2))


def test_a_warp_at_a_barrier_leaves_for_it() -> None:
    run = engine("leave")
    at = next(at for at, shot in enumerate(run.snapshots[1:]) if rfc.reason(Machine.of(shot), int(shot.rf["left_warp"]))
              == "at a barrier" and shot.sm["warp"][int(shot.rf["left_warp"])]["membership"] == LEAVING)
    assert "at a barrier" in "\n".join(text(run, at))


def test_partial_entries_are_grey_and_own_ones_bold() -> None:
    run = engine("leave")
    at = next(at for at, shot in enumerate(run.snapshots[1:]) if shot.rf["write_reg"] == 7 and shot.rf["write_warp"] == 0)
    spans = dict(rfc.render(scene_of(run, at, warp=0), 58, 17)[1].spans)
    assert spans["R7 "] == "faint+u" and spans["R1 "] == "bold" and spans["↧"] == "st:rfc_flush"
    at = next(at for at, shot in enumerate(run.snapshots[1:]) if shot.rf["write_reg"] == 6 and shot.rf["write_warp"] == 0)
    spans = dict(rfc.render(scene_of(run, at, warp=1), 58, 17)[1].spans)
    assert spans["R2 "] == "dim" and spans["†"] == "dim" and spans["R1 "] == "text"


def test_sums_are_those_of_the_counts() -> None:
    run = engine("leave")
    lines = text(run, len(run.snapshots) - 2)
    reads, operands = run.count("rf_reads"), run.count("rfc_lookups")
    writes, results = run.count("rf_writes"), run.count("rfc_writes") + run.count("rfc_bypasses")
    total = next(line for line in lines if line.startswith(" so far"))
    assert f"MRF reads −{100 * (1 - reads / operands):.1f} %   writes −{100 * (1 - writes / results):.1f} %" in total
    energy, cycles = run.simulator.energy()["dynamic"], run.simulator.cycle
    power = next(line for line in lines if line.startswith(" power")).split()
    assert power[1:3] + power[4:6] == ["mean", "RFC", "+", "MRF"]
    assert float(power[8]) == pytest.approx(energy / cycles, abs=0.11), "1 pJ per cycle = 1 mW at 1 GHz"


def test_over_another_main_file_its_power_is_left_out() -> None:
    run = engine("stt")
    lines = lens.render(scene_of(run, 40), 80, 18)
    assert "rfc+stt" in lines[0].plain and "slot warp" in lines[1].plain
    power = next(line.plain for line in lines if line.plain.startswith(" power"))
    assert "RFC" in power and "MRF" not in power


def test_without_an_active_set_warps_with_entries_are_shown_around_the_focus() -> None:
    run = engine("gto")
    at = next(at for at, shot in enumerate(run.snapshots[1:]) if bin(int(shot.rf["holding"])).count("1") > 9)
    lines = text(run, at, height=14, warp=9)
    shown = [line.split()[1] for line in lines[1:] if line[6:7] == "w"]
    assert len(shown) == 5 and "w9" in shown
    assert " enters  every warp is active" in lines


def test_narrow_has_a_row_per_warp_and_one_for_the_rest() -> None:
    run = engine("leave")
    left = next(at for at, shot in enumerate(run.snapshots[1:]) if shot.rf["left_cycle"] and shot.rf["left_warp"] == 0)
    lines = text(run, left, 40, 9)
    assert lines[0].startswith(" w0   1↧  3↧  5↧  7↧  ·   ·")
    assert lines[-1].startswith(" out w0 4 live  in w1") and "MRF rd" in lines[-1]
