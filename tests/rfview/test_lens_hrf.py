"""The hrf lens over real states of small programs: buffers, banks, accesses and totals."""

from __future__ import annotations

from functools import lru_cache
from typing import Any


from rfview.engine.designs import hrf as design
from rfview.render.lenses import hrf
from tests.engine.designs.test_hrf import assemble, begin_of, h2_program, machine, suspend
from tests.harness import Assembly, counted, spaces
from tests.harness import Machine as Engine
from tests.rfview.scenes import scene_of

GATED = "hrf[power_gating=1]"


@lru_cache(maxsize=4)
def engine(name: str) -> Engine:
    """Return a finished small run with all its snapshots."""
    if name == "drain":
        program, starts = h2_program()
        return machine(program, starts, warps=3, design=GATED, settings={"latency.int_add": 1}).run()
    if name == "gate":
        program = Assembly()
        for reg in range(18):
            program.mov(reg, reg)
        return machine(suspend(spaces(program, 8)).exit(), design=GATED, memory=90).run()
    if name == "queue":
        program = Assembly()
        for reg in range(8):
            program.ld(reg, offset=4 * reg)
        return machine(program.add(9, 7, imm=1).exit(), memory=40, settings={"memory.bytes_per_cycle": 128}).run()
    body = [("add", 1, 2, 3, 1), ("mov", 2, 0, 0, 0), ("ld", 3, 0, 0, 2), ("add", 4, 3, 2, 0), ("add3", 0, 1, 4, 0)]
    return machine(assemble(body, 3), warps=3, memory=6).run()


def text(run: Engine, cycle: int, width: int = 58, height: int = 17, **more: Any) -> list[str]:
    """Return the characters of each line, without trailing blanks."""
    return [line.plain.rstrip() for line in hrf.render(scene_of(run, cycle, **more), width, height)]


def roles_of(run: Engine, cycle: int, row: int, part: str, **more: Any) -> set[str]:
    """Return the roles of a row's spans that contain `part`."""
    return {role for span, role in hrf.render(scene_of(run, cycle, **more), 58, 17)[row].spans if part in span}


def test_two_buffers_and_two_banks_in_the_middle_of_a_drain() -> None:
    run = engine("drain")
    t0 = begin_of(run, 0, design.DRAINING)
    lines = text(run, t0 + 6, warp=1)
    assert len(lines) == 17
    assert lines[0] == f" A drains  w0   1/3 written     free {t0 + 12}          48 gated"
    assert lines[1] == "  0  ✓  1↓ 2  ·  ·  ·  ·  ·  ·  ·  ·  ·  ·  ·  ·  ·  on"
    assert lines[2:5] == [f" {first}" + " " * 50 + "off" for first in (16, 32, 48)]
    assert lines[5] == f" B drains  w1   0/2 written     free {t0 + 13}          48 gated"
    assert lines[6] == "  0  0↓ 1  ·  ·  ·  ·  ·  ·  ·  ·  ·  ·  ·  ·  ·  ·  on"
    assert lines[10] == " STT 0 even  ▼ write  R1 w0    ━━━╌ 3 of 4  queue 0"
    assert lines[11] == " STT 1 odd   ▼ write  R0 w1    ━━╌╌ 2 of 4  queue 0"
    assert lines[12:14] == [" read    none", " write   none"]
    assert lines[16].endswith("at a switch: < 16 in 100 %")


def test_a_filling_buffer_and_the_write_that_fills_it() -> None:
    run = engine("drain")
    taken = counted(run, "wb_writes")
    lines = text(run, taken[1])
    assert lines[0].startswith(f" A fills   w0   2/64 entries    since {taken[0]}")
    assert lines[1].startswith("  0  0  1  ·") and lines[13] == " write   R1  w0  new A 1"
    assert roles_of(run, taken[1], 1, "1", warp=0) == {"bold+u"}
    assert roles_of(run, taken[1], 1, "1", warp=2) == {"p:fast+u"}
    assert roles_of(run, taken[1] + 1, 1, "1", warp=2) == {"p:fast"}, "marked in its own cycle only"


def test_gated_rows_appear_with_the_seventeenth_entry() -> None:
    run = engine("gate")
    on = counted(run, "gate_ons")[0]
    assert "48 gated" in text(run, on - 1)[0] and text(run, on - 1)[2].endswith("off")
    lines = text(run, on)
    assert "all 64 on" in lines[0] and lines[2].startswith(" 16 16  ·") and lines[2].endswith("on")
    assert "gated −" in lines[15]
    free = int(next(word for word in text(run, begin_of(run, 0, design.DRAINING))[0].split() if word.isdigit()))
    assert begin_of(run, 0, design.EMPTY, on) == free, "the cycle that the heading promises"


def test_hits_misses_and_both() -> None:
    run = engine("random")
    seen = set()
    for cycle in counted(run, "rf_reads"):
        line = text(run, cycle)[12]
        assert line.startswith(" read    R") and ("hit" in line or "miss STT" in line or "both" in line)
        seen |= set(line.split())
    assert {"hit", "miss"} <= seen
    writes = " ".join(text(run, cycle)[13] for cycle in sorted(set(counted(run, "rf_writes"))))
    assert "new A" in writes and "over" in writes


def test_a_full_queue_names_its_warps() -> None:
    run = engine("queue")
    full = next(s.cycle - 1 for s in run.snapshots if int(s.rf["queue_count"][0]) == 4)
    lines = text(run, full)
    assert lines[10].endswith("queue 4 w0 w0")
    assert "queue" in lines[13]
    assert text(run, full, 40, 9)[6].endswith("queue 4")


def test_the_stale_copy_is_shown_where_the_keys_are() -> None:
    run = engine("drain")
    t0 = begin_of(run, 0, design.DRAINING)
    lines = text(run, t0 + 6, warp=1, reg=0, panel="lens")
    assert lines[16] == " R0 w1 lane 0  B 0 00000001  STT 00000000  stale"
    lines = text(run, t0 + 6, 58, 18, warp=0, reg=0)
    assert lines[17] == " R0 w0 lane 0  STT 00000001", "drained"
    assert text(run, t0 + 6, warp=40, panel="lens")[16].endswith("no such register")


def test_sums_are_those_of_the_counts() -> None:
    run = engine("random")
    last = len(run.snapshots) - 2
    lines = text(run, last)
    assert f"{run.count('stt_writes'):,}" in lines[14]
    avoided = 1 - run.count("stt_writes") / run.count("rf_writes")
    assert f"avoided {100 * avoided:.1f} %" in lines[14]
    assert f"hits {100 * run.count('wb_reads') / run.count('rf_reads'):.1f} %" in lines[14]
    energy = run.simulator.energy()
    scale = 700 / run.simulator.cycle / 1e3
    dynamic, leakage = energy["dynamic"] * scale, energy["leakage"] * scale
    assert lines[15].endswith(f"dynamic {dynamic:.1f} + leakage {leakage:.1f} = {dynamic + leakage:.1f} mW")


def test_narrow() -> None:
    run = engine("drain")
    t0 = begin_of(run, 0, design.DRAINING)
    assert text(run, t0 + 6, 40, 9) == [
        f" A drains w0 1/3 free {t0 + 12}       48 gated", "    ✓↓■·············", "",
        f" B drains w1 0/2 free {t0 + 13}       48 gated", "    ↓■··············", "",
        " STT 0 ▼ write R1 w0 ━━━╌   queue 0", " STT 1 ▼ write R0 w1 ━━╌╌   queue 0", "",
    ]
    taken = counted(run, "wb_writes")[0]
    assert text(run, taken, 40, 9)[8] == " write R0 new"
