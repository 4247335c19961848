"""The single coalescing buffer over STT-RAM: characteristic situations, arithmetic and random programs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rfview.engine import isa
from rfview.engine.designs import single_buffer
from rfview.engine.stalls import WB_FULL
from rfview.sessions.file.writer import record
from rfview.sessions.timeline.opening import open_recording
from tests.conftest import WITHOUT_JIT
from tests.harness import Assembly, Machine, counted, spaces

QUICK = {"latency.int_add": 1}          # a result 3 cycles after its issue


def machine(program: Assembly, memory: int = 30, **more: Any) -> Machine:
    """Return a machine with a short fixed memory latency."""
    more.setdefault("design", "single_buffer")
    more["settings"] = {"memory.fixed_memory_cycles": memory} | more.get("settings", {})
    return Machine(program, **more)


def queue(snapshot: Any) -> list[tuple[int, int, int]]:
    """Return (warp, register, state) of the buffer's entries, oldest first."""
    head, count = int(snapshot.rf["head"]), int(snapshot.rf["count"])
    found = [snapshot.rf["entry"][(head + place) % single_buffer.ENTRIES] for place in range(count)]
    return [(int(entry["warp"]), int(entry["reg"]), int(entry["state"])) for entry in found]


def array_value(m: Machine, reg: int, at: int, warp: int = 0) -> np.ndarray:
    """Return a register's value in STT-RAM after cycle `at`."""
    snapshot = m.snapshots[at + 1]
    return snapshot.rows[int(snapshot.sm["warp"][warp]["reg_base"]) + reg]


def test_an_entry_drains_when_its_bank_is_idle() -> None:
    m = machine(spaces(Assembly().mov(3, 7), 12).exit()).run()
    taken, begun = counted(m, "buffer_writes")[0], counted(m, "stt_writes")[0]
    assert begun == taken and queue(m.snapshots[taken + 1]) == [(0, 3, single_buffer.WRITING)]
    port = m.snapshots[taken + 1].sm["bank"][3]
    assert (int(port["since_cycle"]), int(port["until_cycle"])) == (taken, taken + 4)
    assert (array_value(m, 3, taken + 3) == 0).all() and (array_value(m, 3, taken + 4) == 7).all()
    assert queue(m.snapshots[taken + 4]) != [] and queue(m.snapshots[taken + 5]) == []


def test_results_for_a_waiting_register_are_merged() -> None:
    """R16 and R0 share bank 0: R16 waits for R0's write and meanwhile coalesces its second result."""
    program = Assembly().mov(0, 1).mov(16, 2).mov(17, 3).mov(16, 4)
    m = machine(spaces(program, 12).exit(), settings=QUICK).run()
    assert m.count("buffer_merges") == 1 and m.count("stt_writes") == 3 and m.count("rf_writes") == 4
    assert (array_value(m, 16, counted(m, "stt_writes")[-1] + 4) == 4).all()


def test_a_result_behind_its_own_write_is_a_new_entry() -> None:
    program = Assembly().mov(0, 1).mov(0, 2)
    m = machine(spaces(program, 14).exit(), settings=QUICK).run()
    assert m.count("buffer_merges") == 0 and counted(m, "stt_writes") == [4, 8]
    assert queue(m.snapshots[counted(m, "buffer_writes")[1] + 1]) == [(0, 0, 1), (0, 0, 0)]
    assert (m.register(0, 0, at=counted(m, "buffer_writes")[1]) == 2).all()


def test_reads_are_forwarded_from_the_buffer() -> None:
    """R0's bank is writing while the read is served, and STT-RAM is not read."""
    m = machine(spaces(Assembly().mov(0, 5).copy(1, 0), 8).exit(), settings=QUICK).run()
    read = counted(m, "rf_reads")[0]
    assert int(m.snapshots[read + 1].sm["bank"][0]["until_cycle"]) > read
    assert m.count("buffer_reads") == 1 and m.count("stt_reads") == 0 and m.count("read_conflicts") == 0
    assert (m.register(0, 1, at=counted(m, "buffer_writes")[1]) == 5).all()


def test_a_partial_hit_is_merged_with_the_array() -> None:
    """R19 keeps the bank busy; the read of R3 waits for it and goes before R3's own write."""
    program = spaces(Assembly().sreg(8, isa.SREG_LANEID).add(3, 8, imm=100).setp_lt(0, 8, 16), 12)
    m = machine(spaces(program.mov(19, 1).mov(3, 7, guard=0).copy(4, 3), 12).exit()).run()
    lanes = np.arange(32)
    expected = np.where(lanes < 16, 7, 100 + lanes)
    assert (m.register(0, 4, at=counted(m, "buffer_writes")[-1]) == expected).all()
    last_read = counted(m, "rf_reads")[-1]
    assert last_read in counted(m, "buffer_reads") and last_read in counted(m, "stt_reads")


def test_b3_a_guarded_write_leaves_the_other_lanes_alone() -> None:
    program = Assembly().sreg(8, isa.SREG_LANEID).add(8, 8, 8).add(8, 8, 8).ld(2, 8).setp_lt(0, 2, 1)
    spaces(program.mov(1, 7).mov(1, 9, guard=0), 8).exit()
    m = machine(program, data=np.arange(32) % 2).run()
    assert m.register(0, 1, at=counted(m, "buffer_writes")[-1]).tolist() == [9, 7] * 16


def test_a_full_buffer_refuses_results() -> None:
    """With one bank an entry drains in four cycles, while one result arrives per cycle."""
    program = Assembly()
    for reg in range(40):
        program.mov(reg, reg)
    one_bank = {"sm.num_banks": 1, "sm.rows_per_bank": 1024}
    m = machine(spaces(program, 30).exit(), registers=40, settings=QUICK | one_bank).run()
    assert max(int(s.rf["count"]) for s in m.snapshots) == single_buffer.ENTRIES
    assert m.count("wb_full_wait_cycles") == int(m.snapshots[-1].sm["access_wait"][WB_FULL]) > 0
    writes = counted(m, "stt_writes")
    assert all(b - a == 4 for a, b in zip(writes, writes[1:], strict=False))


def test_values_of_an_ended_warp_are_dropped() -> None:
    m = machine(Assembly().mov(0, 1).mov(16, 2).exit(), settings=QUICK).run()
    assert m.count("buffer_dropped") == 1 and m.count("stt_writes") == 1
    assert queue(m.snapshots[-1]) == []


def test_a_dropped_write_does_not_touch_the_next_cta() -> None:
    m = machine(Assembly().mov(0, 1).mov(16, 2).exit(), ctas=20, settings=QUICK | {"sm.max_ctas": 1}).run()
    begun = [snapshot for snapshot in m.snapshots
             if int(snapshot.sm["resident"]) & 1 and int(snapshot.sm["warp"][0]["num_issued"]) == 0]
    assert m.count("buffer_dropped") and len(begun) >= 20
    assert all((snapshot.register(0, reg) == 0).all() for snapshot in begun for reg in (0, 16))


def test_skipped_cycles_change_nothing_and_a_recording_shows_what_ran(tmp_path: Any) -> None:
    program = Assembly().mov(0, 1).mov(16, 2).ld(1).add(2, 1, 16).st(2, offset=4).exit()
    slow = machine(program, warps=2, memory=100)
    while not slow.simulator.finished:
        slow.simulator.sm.was_idle = 0           # so that no cycle is skipped
        slow.step()
    whole = machine(program, warps=2, memory=100).simulator
    record(machine(program, warps=2, memory=100).simulator, tmp_path / "single_buffer.rfs")
    replay = open_recording(tmp_path / "single_buffer.rfs")
    for cycle in range(0, slow.simulator.cycle, 7):
        whole.step(cycle - whole.cycle)
        assert whole.snapshot().same_as(slow.snapshots[cycle])
        assert replay.at(cycle).same_as(slow.snapshots[cycle])
    replay.close()


def test_leakage_is_that_of_stt_ram_and_sixteen_rows_of_sram() -> None:
    """HRF Table 1 by bits: 16.2 mW + 248.7 mW x 16 x 1036 / 2^20."""
    assert single_buffer.LEAKAGE_MW == pytest.approx(16.2 + 3.93, abs=0.01)
    assert single_buffer.TECHNOLOGY["area_mm2"][0] == pytest.approx(0.0411, abs=0.0001)


def test_energy_equals_the_counted_events() -> None:
    m = machine(spaces(Assembly().mov(0, 1).mov(16, 2).add(1, 0, 16), 9).exit()).run()
    counts = m.simulator.counts()
    energy = m.simulator.energy()
    assert energy["dynamic"] == pytest.approx(sum(counts[k] * pj for k, (pj, _) in single_buffer.ENERGY_PJ.items()))
    assert energy["leakage"] == pytest.approx(single_buffer.LEAKAGE_MW * 1e3 * m.simulator.cycle / 700)


REGS = 6
Op = tuple[str, int, int, int, int]      # kind, destination, two sources, guard: 0 none, 1 on P0, 2 on not P0


def assemble(body: list[Op], warps: int, far: int) -> Assembly:
    """Return a program: P0 holds in the lower half of the lanes; at the end every register is stored.

    far: distance between the registers used; 16 puts them all into one bank.
    """
    address, lane = 1, 2
    program = Assembly().sreg(lane, isa.SREG_LANEID).setp_lt(0, lane, 16)
    program.sreg(address, isa.SREG_TID_X).add(address, address, address).add(address, address, address)
    for number, (kind, dst, a, b, guard) in enumerate(body):
        more = {"guard": 0, "negate": guard == 2} if guard else {}
        d, x, y = 3 + far * dst, 3 + far * a, 3 + far * b
        if kind == "mov":
            program.mov(d, 1000 + number, **more)
        elif kind == "add":
            program.add(d, x, y, **more)
        elif kind == "ld":
            program.ld(d, address, offset=4 * (600 + number), **more)
        else:
            spaces(program, 3)
    for reg in range(REGS):
        program.st(3 + far * reg, address, offset=4 * reg * 32 * warps)
    return program.exit()


@settings(max_examples=4 if WITHOUT_JIT else 20, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    body=st.lists(
        st.tuples(st.sampled_from(["mov", "add", "add", "ld", "space"]), *[st.integers(0, REGS - 1)] * 3,
                  st.sampled_from([0, 0, 0, 1, 2])),
        min_size=1, max_size=10,
    ),
    warps=st.integers(1, 3),
    scheduler=st.sampled_from(["gto", "lrr", "two_level", "switch_on_stall"]),
    far=st.sampled_from([1, 10]),
    banks=st.sampled_from([16, 2, 1]),
)
def test_random_programs_end_as_under_sram(body: list[Op], warps: int, scheduler: str, far: int, banks: int) -> None:
    data = np.arange(1024, dtype=np.uint32)
    more = {"warps": warps, "registers": 60, "data": data, "scheduler": scheduler, "memory": 6}
    shape = QUICK | {"sm.num_banks": banks, "sm.rows_per_bank": 1024 // banks}
    reference = machine(assemble(body, warps, far), design="sram", settings=shape, **more)
    reference.simulator.run()
    m = machine(assemble(body, warps, far), settings=shape, **more).run()
    assert (m.simulator.buffers()["data"] == reference.simulator.buffers()["data"]).all()
    counts, summary = m.simulator.counts(), m.simulator.summary()
    assert summary["issued"] + sum(summary["stalls"].values()) == summary["warp_cycles"]
    entries = counts["buffer_writes"] - counts["buffer_merges"]
    assert counts["buffer_writes"] == counts["rf_writes"] and counts["stt_writes"] == counts["buffer_drains"]
    assert entries == counts["stt_writes"] + counts["buffer_dropped"]
    assert counts["stt_reads"] <= counts["rf_reads"] <= counts["stt_reads"] + counts["buffer_reads"]
    for snapshot in m.snapshots:
        check_state(snapshot)


def check_state(snapshot: Any) -> None:
    """Check the invariants of the buffer after every cycle."""
    found = queue(snapshot)
    begun = int(snapshot.rf["begun"])
    assert len(found) <= single_buffer.ENTRIES and begun <= len(found)
    assert all(state != single_buffer.WAITING for _, _, state in found[:begun])
    assert all(state != single_buffer.WRITING for _, _, state in found[begun:])
    waiting = [entry[:2] for entry in found[begun:] if entry[2] == single_buffer.WAITING]
    assert len(waiting) == len(set(waiting)), "one waiting entry per register"
