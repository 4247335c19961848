"""The register file cache: micro-programs, the paper's figures (Gebhart et al., ISCA'11) and random programs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rfview.engine import isa
from rfview.engine.plugin import Run
from rfview.engine.designs import rfc
from rfview.engine.errors import InputError
from rfview.engine.program import NO_PRED, NO_REG
from rfview.engine.simulator import Simulator
from rfview.engine.stalls import BANK_CONFLICT
from rfview.engine.state import ACTIVE, OUTSIDE
from tests.conftest import WITHOUT_JIT
from tests.harness import Assembly, Machine, counted, issue_cycle

FAST_MEMORY = {"memory.fixed_memory_cycles": 30}


def machine(program: Assembly, **more: Any) -> Machine:
    """Return a machine with the paper's scheduler and preset, and a short memory latency to keep runs short."""
    more.setdefault("design", "rfc")
    more.setdefault("scheduler", "two_level")
    more.setdefault("preset", "gebhart")
    more["settings"] = FAST_MEMORY | more.get("settings", {})
    return Machine(program, **more)


def entries(snapshot: Any, warp: int = 0) -> list[int]:
    """Return the registers in a warp's cache, in eviction order."""
    found = [entry for entry in snapshot.rf["entry"][warp] if entry["valid"]]
    return [int(entry["reg"]) for entry in sorted(found, key=lambda entry: int(entry["order"]))]


def entry(snapshot: Any, reg: int, warp: int = 0) -> Any:
    """Return the entry of a register; None if there is none."""
    return next((e for e in snapshot.rf["entry"][warp] if e["valid"] and e["reg"] == reg), None)


def main_value(m: Machine, reg: int, warp: int = 0, at: int = -1) -> np.ndarray:
    """Return a register's value in the main register file, at the end or after cycle `at`."""
    snapshot = m.snapshots[at if at < 0 else at + 1]
    return snapshot.rows[int(snapshot.sm["warp"][warp]["reg_base"]) + reg]


def cycles_of(m: Machine, state: str, warp: int = 0) -> list[int]:
    """Return the cycles in which a warp was in a state."""
    return [cycle for cycle, name in enumerate(m.states(warp)) if name == state]


# the micro-programs of the design decisions


def test_r1_first_in_first_out() -> None:
    program = Assembly()
    for reg in range(1, 8):
        program.mov(reg, reg)
    m = machine(program.copy(8, 7).copy(9, 1).exit()).run()
    written = counted(m, "rfc_writes")
    assert entries(m.snapshots[written[5] + 1]) == [1, 2, 3, 4, 5, 6]
    assert entries(m.snapshots[written[6] + 1]) == [2, 3, 4, 5, 6, 7]
    assert counted(m, "rfc_evictions") == [written[6]] + counted(m, "rfc_evictions")[1:]
    assert counted(m, "rf_writes")[0] == written[6], "the result of R7 writes R1 back"
    assert (main_value(m, 1, at=written[6]) == 1).all() and (main_value(m, 7, at=written[6]) == 0).all()
    assert counted(m, "rfc_reads") == [issue_cycle(m, "mov.u32 R8")], "R7 is read from the cache"
    assert counted(m, "rf_reads") == [issue_cycle(m, "mov.u32 R9") + 1], "R1 is read from the main file"
    assert entries(m.snapshots[issue_cycle(m, "mov.u32 R9") + 2])[0] == 2, "and is not allocated"


def test_r2_dead_values_are_not_written_back() -> None:
    program = Assembly().mov(1, 3).add(2, 1, 1, last_use=0b101)
    for reg in range(3, 8):
        program.mov(reg, reg)
    m = machine(program.st(2, offset=4).exit()).run()
    assert m.count("rfc_dead") == 1 and m.count("rfc_evictions") == 0
    assert (main_value(m, 1) == 0).all(), "R1 was never in the main file"
    assert m.simulator.buffers()["data"][1] == 6


def test_r3_a_rewritten_entry_keeps_its_place() -> None:
    program = Assembly()
    for reg in range(1, 7):
        program.mov(reg, reg)
    m = machine(program.mov(1, 99).mov(7, 7).copy(9, 7).exit()).run()
    written = counted(m, "rfc_writes")
    assert entries(m.snapshots[written[6] + 1]) == [1, 2, 3, 4, 5, 6] and m.count("rfc_overwrites") == 1
    assert entries(m.snapshots[written[7] + 1]) == [2, 3, 4, 5, 6, 7]
    assert (main_value(m, 1) == 99).all(), "the second value"
    assert counted(m, "rfc_evictions") == [written[7]]


def test_r4_a_last_use_in_a_divergent_path_does_not_kill() -> None:
    # lanes 0..15 run first and read R1 for the last time on their path; lanes 16..31 read it later
    program = Assembly().sreg(9, isa.SREG_LANEID).setp_lt(0, 9, 16, last_use=1).mov(1, 5)
    program.bra(6, guard=0, reconv=13)
    program.add(2, 1, imm=2, last_use=1).bra(13)
    program.add(2, 1, imm=1, last_use=1)
    for reg in range(3, 9):
        program.mov(reg, reg)
    m = machine(program.st(2).exit()).run()
    assert [text for _, text in m.issues()][4] == "add.u32 R2, R1, 1"
    assert m.register(0, 2, at=issue_cycle(m, "st.")).tolist() == [6] * 16 + [7] * 16
    (evicted,) = [snapshot for snapshot in m.snapshots if snapshot.rf["out_cycle"] == snapshot.cycle - 1
                  and snapshot.rf["out_reg"] == 1]
    assert int(evicted.rf["out_kind"]) == rfc.GONE_WRITTEN and int(evicted.rf["write_reg"]) == 7
    assert (main_value(m, 1) == 5).all() and m.count("rfc_dead") == 1, "only R9, read by all lanes, was dead"
    assert counted(m, "rfc_evictions")[0] == evicted.cycle - 1


def test_r5_a_load_removes_the_entry_of_its_destination() -> None:
    m = machine(Assembly().mov(5, 1).add(6, 5, imm=0).ld(5).add(7, 5, imm=1).st(7, offset=4).exit(), data=[41, 0]).run()
    issued = issue_cycle(m, "ld.")
    assert entry(m.snapshots[issued], 5) is not None and entry(m.snapshots[issued + 1], 5) is None
    assert m.count("rfc_overtaken") == 1 and m.count("rfc_removals") == 0 and m.count("rfc_bypasses") >= 1
    values = [int(main_value(m, 5, at=cycle)[0]) for cycle in range(m.simulator.cycle)]
    assert set(values) == {0, 41}, "the only write of R5 is the load's"
    consumer = issue_cycle(m, "add.u32 R7")
    assert consumer + 1 in counted(m, "rf_reads") and consumer not in counted(m, "rfc_reads")
    assert m.simulator.buffers()["data"][1] == 42


def test_r6_a_partial_load_writes_the_other_lanes_back_first() -> None:
    program = Assembly().mov(5, 1).sreg(1, isa.SREG_LANEID)
    program.emit(isa.OP_AND32, "and.b32 R2, R1, 1", dst=(2,), src={0: 1}, imm={2: 1}).setp_lt(0, 2, 1)
    program.ld(5, guard=0).add(7, 5, imm=0).exit()
    m = machine(program, data=[77]).run()
    removed, issued = counted(m, "rfc_removals"), issue_cycle(m, "ld.")
    assert len(removed) == 1 and removed[0] < issued + 1 and "rfc_flush" in m.states()[: issued + 1]
    assert (main_value(m, 5, at=removed[0]) == 1).all() and entry(m.snapshots[issued + 1], 5) is None
    assert m.register(0, 5, at=issue_cycle(m, "add.u32 R7")).tolist() == [77, 1] * 16


def test_r7_leaving_flushes_live_entries_one_per_cycle() -> None:
    program = Assembly().ld(4).mov(1, 1).mov(2, 2).mov(3, 3).add(5, 2, imm=0, last_use=1).add(6, 4, 5, last_use=4)
    m = machine(program.exit(), warps=1, settings={"memory.fixed_memory_cycles": 60}).run()
    flushed = counted(m, "rfc_flushes")
    stalls = cycles_of(m, "rfc_flush")
    assert len(flushed) == 3 and m.count("rfc_dead") == 1, "R1, R3 and R5 are live, R2 is dead"
    assert flushed == [flushed[0], flushed[0] + 1, flushed[0] + 2]
    assert stalls == [flushed[0] - 1, flushed[0], flushed[0] + 1], "as many cycles as entries"
    assert m.states()[stalls[-1] + 1] == "long_scoreboard"
    assert int(m.snapshots[flushed[0]].rf["left_live"]) == 3 and int(m.snapshots[flushed[0]].rf["left_dead"]) == 1
    assert (main_value(m, 2) == 0).all() and (main_value(m, 1) == 1).all() and (main_value(m, 3) == 3).all()


def test_r7_two_dirty_entries_take_two_cycles_and_the_next_warp_begins_empty() -> None:
    # an active set of one: warp 1 may join only after warp 0 has left
    program = Assembly().ld(4).mov(1, 1).mov(2, 2).mov(3, 3).st(2, last_use=4).add(6, 4, imm=0).exit()
    m = machine(program, warps=2, settings={"scheduler.active_set": 1, "memory.fixed_memory_cycles": 90}).run()
    stalls = cycles_of(m, "rfc_flush")
    flushed = counted(m, "rfc_flushes")[:2]
    assert stalls == [flushed[0] - 1, flushed[0]] and flushed[1] == flushed[0] + 1
    joined = next(cycle for cycle, snapshot in enumerate(m.snapshots[1:]) if snapshot.sm["warp"][1]["membership"] == 1)
    assert joined == flushed[1], "the place is free after the last write"
    assert entries(m.snapshots[joined + 1], 0) == [] and entries(m.snapshots[joined + 1], 1) == []


def test_r8_a_partial_hit_is_merged() -> None:
    program = Assembly().ld(1).add(2, 1, imm=0).sreg(3, isa.SREG_LANEID).setp_lt(0, 3, 16)
    program.mov(1, 9, guard=0).copy(4, 1).st(4).exit()
    m = machine(program, data=[100]).run()
    assert m.register(0, 4, at=issue_cycle(m, "st.")).tolist() == [9] * 16 + [100] * 16
    read = issue_cycle(m, "mov.u32 R4, R1") + 1
    assert counted(m, "rfc_partial_reads") == [read]
    assert read in counted(m, "rf_reads") and counted(m, "rfc_reads").count(read) == 1
    assert int(entry(m.snapshots[read], 1)["valid"]) == 0xFFFF


def test_b2_a_barrier_of_32_warps_with_8_active() -> None:
    m = machine(Assembly().mov(1, 1).bar().add(2, 1, imm=1).exit(), warps=32).run(limit=1200)
    assert m.simulator.finished and m.count("barriers") == 32
    assert max(bin(int(s.sm["scheduler"][0]["active"])).count("1") for s in m.snapshots) == 8


@pytest.mark.parametrize("scheduler", ["two_level", "switch_on_stall"])
def test_a_warp_at_a_barrier_is_flushed_while_everybody_else_waits(scheduler: str) -> None:
    # an active set of one: two warps leave it for the barrier, which the third opens; nothing else moves while they flush
    program = Assembly().mov(1, 5).mov(2, 6).add(3, 1, 2).bar().add(4, 3, imm=1).st(4).exit()
    m = machine(program, warps=3, scheduler=scheduler, settings={"scheduler.active_set": 1}).run()
    assert m.count("rfc_flushes") == 6 and m.simulator.buffers()["data"][0] == 12


def test_b3_guarded_write_keeps_other_lanes() -> None:
    program = Assembly().mov(1, 7).sreg(2, isa.SREG_LANEID)
    program.emit(isa.OP_AND32, "and.b32 R3, R2, 1", dst=(3,), src={0: 2}, imm={2: 1}).setp_lt(0, 3, 1)
    m = machine(program.mov(1, 9, guard=0).copy(4, 1).exit()).run()
    assert m.register(0, 1, at=issue_cycle(m, "mov.u32 R4, R1")).tolist() == [9, 7] * 16


# other characteristic situations


def test_an_instruction_whose_operands_all_hit_needs_no_bank() -> None:
    m = machine(Assembly().mov(1, 1).mov(2, 2).add(3, 1, 2).add(4, 3, 3).exit()).run()
    assert m.count("rf_reads") == 0 and m.count("rfc_reads") == 3 and m.count("rfc_lookups") == 3, "R3, named twice, once"


def test_back_to_back_latency_is_that_of_the_main_file() -> None:
    program = Assembly().mov(1, 1).add(2, 1, imm=1).add(3, 2, imm=1).exit()
    plain = machine(program, design="sram").run()
    assert machine(program).run().issues() == plain.issues()


def test_a_branch_costs_one_more_cycle() -> None:
    program = Assembly().bra(2).mov(1, 1).mov(2, 2).exit()
    plain, cached = machine(program, design="sram").run(), machine(program).run()
    assert issue_cycle(cached, "mov.u32 R2") == issue_cycle(plain, "mov.u32 R2") + 1


def test_the_second_result_of_a_cycle_waits_one() -> None:
    # the reciprocal takes 20 cycles, the moves 8: a move issued 12 cycles later ends together with it
    program = Assembly().sfu(1, 9)
    for index in range(20):
        program.mov(2 + index % 12, 1)
    program.copy(15, 9).sfu(16, 15).exit()
    m = machine(program).run()
    written = counted(m, "rfc_writes")
    assert len(written) == len(set(written)) and m.count("bank_conflict_wait_cycles") > 0, "one result per cycle"
    two = machine(program, design="rfc[write_ports=2]").run()
    assert len(set(counted(two, "rfc_writes"))) == two.count("rfc_writes") - 1
    assert two.count("bank_conflict_wait_cycles") == 0


def test_leaving_waits_for_results_under_way() -> None:
    m = machine(Assembly().ld(1).mov(2, 5).add(3, 1, imm=0).exit(), settings={"memory.fixed_memory_cycles": 60}).run()
    written, flushed = counted(m, "rfc_writes")[0], counted(m, "rfc_flushes")
    assert m.states()[written - 1] == "wait" and flushed == [written + 1]
    assert (main_value(m, 2, at=flushed[0]) == 5).all()


def test_a_result_after_the_exit_goes_past_the_cache() -> None:
    m = machine(Assembly().mov(1, 1).exit()).run()
    assert m.count("rfc_writes") == 0 and m.count("rfc_bypasses") == 1


def test_entries_of_an_ended_warp_are_dropped_unwritten() -> None:
    m = machine(Assembly().mov(1, 1).add(2, 1, imm=0).exit()).run()
    ended = issue_cycle(m, "exit")
    assert entries(m.snapshots[ended + 1]) == [1] and entries(m.snapshots[ended + 2]) == []
    assert m.count("rfc_exits") == 1 and m.count("rfc_evictions") == 0


def test_entries_of_an_ended_warp_stay_until_its_last_operand_is_merged() -> None:
    # the store's partial hit waits for the main file, whose bank is kept busy past the exit
    program = Assembly().sreg(3, isa.SREG_LANEID).setp_lt(0, 3, 16).mov(1, 9, guard=0).copy(4, 1).add(5, 3, 3).add(5, 5, 5)
    m = machine(program.st(1, 5).exit())
    while "st." not in "".join(text for _, text in m.issues()[-1:]):
        m.step()
    bank = m.simulator.sm.bank[1]
    bank.until_cycle, bank.busy_code = m.simulator.cycle + 9, BANK_CONFLICT
    m.run()
    assert m.simulator.buffers()["data"][:32].tolist() == [9] * 16 + [0] * 16
    assert m.count("rfc_exits") > 0 and not int(m.snapshots[-1].rf["holding"])


def test_an_entry_about_to_be_overwritten_is_not_evicted() -> None:
    # R1 is being rewritten (20 cycles) when R7's result needs an entry: R2 is evicted, and R1 is overwritten in place
    program = Assembly()
    for reg in range(1, 7):
        program.mov(reg, reg)
    program.copy(9, 6).sfu(1, 6).mov(7, 7).add(8, 1, imm=0).st(8).exit()
    m, plain = machine(program, design="rfc").run(), machine(program, design="sram").run()
    gone = [int(s.rf["out_reg"]) for s in m.snapshots[2:] if s.rf["out_cycle"] == s.cycle - 1]
    assert gone[0] == 2 and m.count("rfc_overwrites") == 1
    assert m.simulator.buffers()["data"][0] == plain.simulator.buffers()["data"][0]
    assert issue_cycle(m, "add.u32 R8") == issue_cycle(plain, "add.u32 R8")
    one = machine(Assembly().mov(1, 1).copy(3, 1).sfu(1, 1).mov(2, 2).copy(4, 1).exit(), design="rfc[entries=1]").run()
    assert one.count("rfc_bypasses") >= 1, "with nothing to evict, R2 goes to the main file"


def test_lru_keeps_what_is_read() -> None:
    program = Assembly()
    for reg in range(1, 7):
        program.mov(reg, reg)
    program.copy(8, 6).copy(9, 1).exit()
    order = machine(program, design="rfc[replacement=lru]").run()
    last = issue_cycle(order, "mov.u32 R9") + 1
    assert entries(order.snapshots[last])[-1] == 1 and entries(machine(program).run().snapshots[last])[0] == 1


def test_read_allocate_makes_the_second_read_a_hit() -> None:
    program = Assembly().copy(1, 7).copy(2, 7).copy(3, 1).copy(4, 7).exit()
    plain, filled = machine(program).run(), machine(program, design="rfc[read_allocate=1]").run()
    assert filled.count("rfc_fills") == 1 and filled.count("rf_reads") < plain.count("rf_reads")
    assert not entry(filled.snapshots[-6], 7) or int(entry(filled.snapshots[-6], 7)["dirty"]) == 0


def test_an_operand_that_comes_when_its_warp_has_left_is_not_allocated() -> None:
    """R1 and R9 share bank 1, whose port gives the second store's R9 in cycle 5; at the end of 4 the warp leaves, as it waits for R19.

    Section 3.3 allocates entries to active warps only.
    """
    program = Assembly().ld(19).st(5, a=1).st(9, a=1).add(18, 19, imm=1).exit()
    m = machine(program, warps=2, design="rfc[read_allocate=1]", settings={"scheduler.active_set": 1}).run()
    assert [int(s.sm.warp[0].membership) for s in m.snapshots[4:6]] == [ACTIVE, OUTSIDE], "after cycles 3 and 4"
    assert counted(m, "rf_reads")[:3] == [3, 4, 5] and [c for c in counted(m, "rfc_fills") if c <= 5] == [3, 4]
    assert all(not entries(s, warp) for s in m.snapshots for warp in range(2) if s.sm.warp[warp].membership == OUTSIDE)


def test_an_operand_that_comes_after_the_exit_is_not_allocated() -> None:
    m = machine(Assembly().st(5, a=1).st(9, a=1).exit(), design="rfc[read_allocate=1]").run()
    ended = issue_cycle(m, "exit")
    assert counted(m, "rf_reads")[-1] == ended + 1 and counted(m, "rfc_fills") == [ended - 1, ended]


def test_without_last_use_bits_every_operand_is_allocated() -> None:
    """The cache cannot know that R7 is read for the last time if the instructions do not say so (section 3.1)."""
    program = Assembly().copy(1, 7, last_use=1).copy(2, 1).exit()
    fills = [machine(program, design=f"rfc[read_allocate=1,liveness={on}]").run().count("rfc_fills") for on in (1, 0)]
    assert fills == [0, 1]


def test_bypass_sends_values_that_wait_past_the_cache() -> None:
    # R1 is read only after the load's value is used: the warp will have left
    program = Assembly().ld(4).mov(1, 1).mov(2, 2).add(3, 2, imm=0).add(5, 4, imm=0, long_source=1).add(6, 1, 3).st(6)
    program.exit()
    plain, past = machine(program).run(), machine(program, design="rfc[bypass=1]").run()
    assert plain.count("rfc_flushes") == 3 and past.count("rfc_flushes") == 1, "R2 is read soon: only it stays"
    assert past.simulator.buffers()["data"][0] == 3


def test_evict_first_prefers_values_that_wait() -> None:
    program = Assembly().ld(8).mov(1, 1).mov(2, 2).mov(3, 3).copy(10, 1).add(4, 1, 3)
    program.add(5, 8, 2, long_source=1).st(5).exit()
    m = machine(program, design="rfc[evict_first=1,entries=2]").run()
    gone = [int(s.rf["out_reg"]) for s in m.snapshots[2:] if s.rf["out_cycle"] == s.cycle - 1]
    assert gone[0] == 2, "R1 is older, but R2 is not read before the warp leaves"
    first = machine(program, design="rfc[entries=2]").run()
    assert int(next(s.rf["out_reg"] for s in first.snapshots[2:] if s.rf["out_cycle"] == s.cycle - 1)) == 1


@pytest.mark.parametrize(("program", "is_soon"), [
    (Assembly().copy(2, 1), 1),
    (Assembly().mov(2, 7).copy(2, 2), 0),
    (Assembly().mov(1, 7).copy(2, 1), 0),                                                     # written first
    (Assembly().mov(1, 7, guard=0).copy(2, 1), 1),                                            # only in some lanes
    (Assembly().copy(2, 2, long_source=1).copy(2, 1), 0),
    (Assembly().copy(2, 1, long_source=1), 0),                                                     # read after it has left
    (Assembly().bar().copy(2, 1), 0),
    (Assembly().exit(guard=0).copy(2, 1), 1),
    (Assembly().bra(2).mov(1, 7).copy(2, 1), 1),                                              # jumps over the write
    (Assembly().bra(2).copy(2, 1).mov(2, 7), 0),                                              # jumps over the read
    (Assembly().bra(3, guard=0).mov(2, 7).exit().copy(2, 1), 1),                              # read where it jumps to
    (Assembly().bra(3, guard=0).copy(2, 1).exit().mov(2, 7), 1),                              # read where it does not
    (Assembly().bra(3, guard=0).mov(1, 7).exit().mov(1, 7), 0),                               # written on both ways
    (Assembly().bra(4, guard=0).bra(4, guard=0).bra(4, guard=0).exit().mov(1, 7), 0),         # three ways to follow ..
    (Assembly().bra(5, guard=0).bra(5, guard=0).bra(5, guard=0).bra(5, guard=0).exit().mov(1, 7), 1),   # .. not four
    (Assembly().bra(0), 1),                                                                   # a loop: not known
])
def test_a_register_is_read_soon_if_it_may_be_before_the_warp_leaves(program: Assembly, is_soon: int) -> None:
    insts = np.array(program.exit().insts).view(np.recarray)
    assert rfc.read_soon(insts, 0, 1) == is_soon


def test_suspend_marked_leaves_although_the_value_is_there() -> None:
    program = Assembly().ld(1).mov(2, 1)
    for _ in range(30):
        program.add(2, 2, imm=1)
    program.add(3, 1, imm=0, long_source=1).exit()
    pending = machine(program).run()
    marked = machine(program, settings={"scheduler.suspend": "marked"}).run()
    assert pending.count("rfc_departures") == 0 and marked.count("rfc_departures") == 1


def test_over_stt_every_eviction_freezes_the_pipeline() -> None:
    program = Assembly()
    for reg in range(1, 9):
        program.mov(reg, reg)
    m = machine(program.copy(9, 8).exit(), design="rfc[main=stt]").run()
    evicted = counted(m, "rfc_evictions")
    assert len(evicted) >= 2 and evicted[1] == evicted[0] + 4, "the next result is written when the pipeline thaws"
    assert m.simulator.info.design == "rfc+stt"


# the paper's figures


def test_gb_capacity_section_3_1_and_5_4() -> None:
    assert rfc.capacity_bytes(6, 32) == 24 * 1024                      # RFC section 3.1: 24 KB for 32 warps
    assert rfc.capacity_bytes(6, 8) == 6144                            # section 5.4: 6,144 B
    assert rfc.capacity_bytes(6, 8) / 32 == 192                        # 192 B per lane
    assert round(128 * 1024 / rfc.capacity_bytes(6, 8), 1) == 21.3     # 21x smaller than the MRF
    assert round(128 * 1024 / rfc.capacity_bytes(6, 32), 2) == 5.33
    assert rfc.capacity_bytes(6, 32) / rfc.capacity_bytes(6, 8) == 4   # section 5.3: 4 to 6 times


def test_gb_energy_of_a_warp_register_tables_2_and_3() -> None:
    assert rfc.ENERGY_PJ["rf_reads"][0] == 64 and rfc.ENERGY_PJ["rf_writes"][0] == 88
    assert rfc.ENERGY_PJ["rfc_reads"][0] == pytest.approx(17.6) and rfc.ENERGY_PJ["rfc_writes"][0] == pytest.approx(53.6)
    assert rfc.access_pj(8, 8) == (3.4, 10.9) and rfc.access_pj(4, 8) == (1.9, 6.1)


def ideal(reads_per_write: float, hit: float = 1.0) -> dict[str, float]:
    """Return the counts of a run with a share of hits."""
    reads, writes = 1000 * reads_per_write, 1000.0
    return {"rf_reads": reads * (1 - hit), "rf_writes": writes * (1 - hit), "rfc_reads": reads * hit,
            "rfc_writes": writes * hit, "rfc_bypasses": writes * (1 - hit), "rfc_partial_reads": 0, "rfc_evictions": 0,
            "rfc_flushes": 0, "rfc_removals": 0, "rfc_shared_unit_reads": 0, "rfc_shared_unit_writes": 0}


def test_gb_all_hits_save_58_percent_section_5_4() -> None:
    assert rfc.normalized_energy(ideal(1.79)) == pytest.approx(0.42, abs=0.005)


def test_gb_wires_table_5_row_1_1() -> None:
    # without wires 0.76 (Table 5, row 0/0): wires of equal length dilute it to 0.87, shaders 0.86 from 0.74
    access, wire = 8 * 1.79 + 11, 7.6 * 2.79
    assert (0.76 * access + wire) / (access + wire) == pytest.approx(0.87, abs=0.005)
    assert (0.74 * access + wire) / (access + wire) == pytest.approx(0.86, abs=0.005)
    mixed = ideal(1.79, hit=0.414)
    assert rfc.normalized_energy(mixed) == pytest.approx(0.76, abs=0.005)
    assert rfc.normalized_energy(mixed, mrf_mm=1, rfc_mm=1) == pytest.approx(0.87, abs=0.005)


def test_gb_main_file_of_table_4() -> None:
    from rfview.engine.config import load_preset

    config = load_preset("gebhart")
    assert config["sm.num_banks"] * config["sm.rows_per_bank"] * 128 == 128 * 1024     # Table 4: 128 KB
    assert config["sm.num_banks"] * config["sm.rows_per_bank"] / config["sm.num_warps"] == 32  # 32 registers per thread
    assert 128 * 1024 / 4 / 1536 == pytest.approx(21.3, abs=0.05)                      # section 2: Fermi's 21


def test_gb_table_4_counts_from_an_instruction_to_one_that_needs_its_result() -> None:
    """B2.8: 8 cycles for the ALU, hidden by 8 warps (section 5.2), 20 for special functions. Operands share no bank."""
    chain = Assembly().mov(0, 5).add(1, 0, imm=1).add(2, 1, imm=1).fma(3, 2, 1, 0).sfu(4, 3).add(5, 4, imm=1).exit()
    for design in ("sram", "rfc"):
        at = [cycle for cycle, _ in machine(chain, design=design).run().issues()]
        assert [after - before for before, after in zip(at, at[1:])][:5] == [8, 8, 8, 8, 20], design


def test_area_tables_2_and_3() -> None:
    values = {"rfc.entries": 6, "rfc.active_warps": 8}
    assert rfc.area_mm2(values) == pytest.approx((38000 * 32 + 14300 * 8) * 1e-6)
    assert rfc.cache_um2(6, 8) == 14300 and rfc.cache_um2(4, 4) == 5100
    assert rfc.cache_um2(6, 32) > rfc.cache_um2(8, 8) > rfc.cache_um2(5, 8) > rfc.cache_um2(4, 8)
    stt = rfc.area_mm2(values | {"stt.write_cycles": 4})
    assert stt == pytest.approx(0.038 + 14300 * 8e-6)


def test_energy_equals_counted_events() -> None:
    m = machine(Assembly().ld(4).mov(1, 1).mov(2, 2).mov(3, 3).add(5, 4, 2).add(6, 5, 1).st(6).exit()).run()
    counts, energy = m.simulator.counts(), m.simulator.energy()
    expected = sum(counts[name] * pj for name, (pj, _) in rfc.ENERGY_PJ.items())
    assert energy["dynamic"] == pytest.approx(expected) and energy["total"] == pytest.approx(expected)
    wired = rfc.energy(Run(counts, 1, 1000.0, m.simulator.built.values | {"rfc.mrf_mm": 1.0, "rfc.rfc_mm": 0.2}))
    shared = counts["rfc_shared_unit_reads"] + counts["rfc_shared_unit_writes"]
    assert shared == counts["rfc_shared_unit_reads"] == 1        # the store's R6; the load's result goes to the main file
    to_main = counts["rf_reads"] + counts["rfc_bypasses"] + shared
    to_cache = counts["rfc_reads"] + counts["rfc_writes"] - shared
    assert wired["dynamic"] == pytest.approx(expected + 60.8 * (to_main + 0.2 * to_cache))


def test_with_allocate_all_a_loads_result_is_allocated_too() -> None:
    """Sections 3.1 and 3.3: R4, a load's result, is read from the cache, or from the main file that it went to; R5 is a hit."""
    program = Assembly().ld(4).add(5, 4, imm=1).st(5).exit()
    for allocate, hits, past in (("all", 2, 0), ("short", 1, 1)):
        counts = machine(program, design=f"rfc[allocate={allocate}]", scheduler="gto").run().simulator.counts()
        assert (counts["rfc_reads"], counts["rfc_bypasses"]) == (hits, past), allocate


def test_with_allocate_all_a_load_overwrites_its_destinations_entry_in_place() -> None:
    """B2.1: R5 stays the oldest entry while the load is under way, and keeps the lanes that the load does not write."""
    program = Assembly().mov(5, 1).sreg(1, isa.SREG_LANEID)
    program.emit(isa.OP_AND32, "and.b32 R2, R1, 1", dst=(2,), src={0: 1}, imm={2: 1}).setp_lt(0, 2, 1)
    program.ld(5, guard=0).mov(3, 3).add(7, 5, imm=0).exit()
    m = machine(program, data=[77], design="rfc[allocate=all,liveness=0]", scheduler="gto").run()
    issued, added = issue_cycle(m, "ld."), issue_cycle(m, "add.u32 R7")
    assert "rfc_flush" not in m.states() and m.count("rfc_removals") == m.count("rfc_overtaken") == 0
    assert m.count("rf_writes") == 1, "R7, after the exit"
    assert entries(m.snapshots[issued + 1]) == [5, 1, 2] and entries(m.snapshots[added]) == [5, 1, 2, 3]
    assert m.count("rfc_overwrites") == 1 and m.register(0, 5, at=added).tolist() == [77, 1] * 16


def test_energy_over_stt_takes_its_table() -> None:
    m = machine(Assembly().mov(1, 1).add(2, 1, 3).exit(), design="rfc[main=stt]").run()
    counts, energy = m.simulator.counts(), m.simulator.energy()
    main = 0.239 * 1024 * counts["rf_reads"] + 0.300 * 1024 * counts["rf_writes"]
    cache = 17.6 * counts["rfc_reads"] + 53.6 * counts["rfc_writes"]
    assert energy["dynamic"] == pytest.approx(main + cache) and energy["leakage"] > 0


# random programs

REGS = 9           # R0..R8 hold values; R9 is the byte offset of the thread
LOADED = 2048


@st.composite
def programs(draw: Any) -> list[tuple[Any, ...]]:
    """Draw straight-line pieces and divergent two-sided branches, with loads, guards and special functions."""
    reg = st.integers(0, REGS - 1)
    plain = st.one_of(
        st.tuples(st.just("mov"), reg, st.integers(0, 99)),
        st.tuples(st.just("add"), reg, reg, reg),
        st.tuples(st.just("fma"), reg, reg, reg, reg),
        st.tuples(st.just("guarded"), reg, reg, reg),
        st.tuples(st.just("ld"), reg),
        st.tuples(st.just("guarded_ld"), reg),
        st.tuples(st.just("sfu"), reg, reg),
        st.tuples(st.just("setp"), reg, st.integers(0, 99)),
        st.tuples(st.just("st"), reg),
    )
    pieces = st.one_of(plain, plain, plain, st.tuples(st.just("bar")),
                       st.tuples(st.just("if"), st.lists(plain, min_size=1, max_size=4),
                                 st.lists(plain, min_size=1, max_size=4)))
    return draw(st.lists(pieces, min_size=3, max_size=14))


def assemble(pieces: list[tuple[Any, ...]]) -> Assembly:
    """Turn pieces into a program with last-use bits that ends by storing every register."""
    program = Assembly().sreg(9, isa.SREG_TID_X).add(9, 9, 9).add(9, 9, 9).setp_lt(0, 9, 64)
    for index in range(3):
        program.add(index, 9, imm=index)

    def plain(piece: tuple[Any, ...]) -> None:
        kind, *args = piece
        if kind == "mov":
            program.mov(*args)
        elif kind == "add":
            program.add(*args)
        elif kind == "fma":
            program.fma(*args)
        elif kind == "guarded":
            program.add(*args, guard=0)
        elif kind == "ld":
            program.ld(args[0], 9, offset=LOADED)
        elif kind == "guarded_ld":
            program.ld(args[0], 9, offset=LOADED, guard=0)
        elif kind == "sfu":
            program.sfu(*args)
        elif kind == "setp":
            program.setp_lt(0, *args)
        else:
            program.st(args[0], 9, offset=LOADED + 1024)

    for piece in pieces:
        if piece[0] == "bar":
            program.bar()
            continue
        if piece[0] != "if":
            plain(piece)
            continue
        at = len(program.insts)
        program.bra(0, guard=0)
        for inner in piece[1]:
            plain(inner)
        jump = len(program.insts)
        program.bra(0)
        program.insts[at]["target"] = jump + 1
        for inner in piece[2]:
            plain(inner)
        join = len(program.insts)
        program.insts[jump]["target"] = join
        program.insts[at]["reconv"] = join
    for reg in range(REGS):
        program.st(reg, 9, offset=256 * (reg % 8) + (reg == 8) * 3500)
    program.exit()
    mark_last_uses(program)
    return program


def mark_last_uses(program: Assembly) -> None:
    """Set the last-use bits: a register is dead after a read if no path reads it before an unguarded write."""
    insts = program.insts
    live = [0] * (len(insts) + 1)
    for _ in range(len(insts)):
        before = list(live)
        for pc in range(len(insts) - 1, -1, -1):
            inst = insts[pc]
            after = live[pc + 1] if inst["op"] not in (isa.OP_EXIT,) else 0
            if inst["op"] == isa.OP_BRA:
                taken = live[int(inst["target"])]
                after = taken if inst["guard"] == NO_PRED else after | taken
            after &= ~(int(inst["dst_regs"]) if inst["guard"] == NO_PRED else 0)
            slots = [slot for slot in range(6) if inst["src"][slot] != NO_REG]
            inst["last_use"] = sum(1 << slot for slot in slots if not after >> int(inst["src"][slot]) & 1)
            live[pc] = after | sum({1 << int(inst["src"][slot]) for slot in slots})
        if live == before:
            return


def outcome(program: Assembly, **more: Any) -> Simulator:
    """Run a program of two warps (48 threads) and return its simulator."""
    data = np.arange(1024, dtype=np.uint32) * 7
    simulator = machine(program, warps=2, threads=48, data=data, **more).simulator
    simulator.run()
    return simulator


def check_balance(simulator: Simulator) -> None:
    """Check that all warp-cycles, operands and results of a run are accounted for."""
    counts = simulator.counts()
    totals = simulator.sm.stall_total
    assert sum(int(totals[stall.code]) for stall in simulator.built.stalls) == simulator.cycle * int(simulator.config["sm.num_warps"])
    assert counts["rf_reads"] == counts["rfc_lookups"] - counts["rfc_reads"] + counts["rfc_partial_reads"]
    back = counts["rfc_evictions"] + counts["rfc_flushes"] + counts["rfc_removals"]
    assert counts["rf_writes"] == counts["rfc_bypasses"] + back
    gone = back + counts["rfc_dead"] + counts["rfc_overtaken"] + counts["rfc_exits"]
    if not simulator.built.values["rfc.bypass"] and not simulator.built.values["rfc.read_allocate"]:
        assert counts["rfc_writes"] - counts["rfc_overwrites"] == gone, "every allocated value ends in exactly one way"
    assert int(simulator.rf.holding) == 0 and int(simulator.rf.flushing) == 0 and int(simulator.rf.merging) == 0


VARIANTS = ("rfc", "rfc[entries=1]", "rfc[entries=2,replacement=lru]", "rfc[main=stt]", "rfc[main=stt,entries=3]",
            "rfc[read_allocate=1,entries=3]", "rfc[bypass=1,evict_first=1,entries=4]", "rfc[liveness=0,entries=8]")
SOME = settings(max_examples=4 if WITHOUT_JIT else 14, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))


@SOME
@given(pieces=programs(), variant=st.sampled_from(VARIANTS), scheduler=st.sampled_from(("two_level", "gto", "lrr")),
       preset=st.sampled_from(("gebhart", "fermi")), active=st.integers(1, 2))
def test_random_programs_end_as_over_sram(pieces: Any, variant: str, scheduler: str, preset: str, active: int) -> None:
    program = assemble(pieces)
    fast = {"memory.fixed_memory_cycles": 30, "scheduler.active_set": active}
    want = outcome(program, design="sram", scheduler="gto", preset=preset, settings=fast)
    got = outcome(program, design=variant, scheduler=scheduler, preset=preset, settings=fast)
    np.testing.assert_array_equal(got.buffers()["data"], want.buffers()["data"])
    check_balance(got)


@settings(SOME, max_examples=2 if WITHOUT_JIT else 6)
@given(pieces=programs(), variant=st.sampled_from(VARIANTS))
def test_a_warp_holds_a_register_once_and_never_too_many(pieces: Any, variant: str) -> None:
    m = machine(assemble(pieces), warps=2, threads=48, design=variant, settings={"scheduler.active_set": 1})
    limit = m.simulator.built.values["rfc.entries"]
    while not m.simulator.finished:
        snapshot = m.step()
        for warp in range(2):
            held = snapshot.rf["entry"][warp]
            held = held[held["valid"] != 0]
            assert len(held) <= limit and len(set(held["reg"].tolist())) == len(held)
            assert not (held["dirty"] & ~held["valid"]).any() and len(set(held["order"].tolist())) == len(held)
            assert bool((int(snapshot.rf["holding"]) >> warp) & 1) == bool(len(held))
            if snapshot.sm["warp"][warp]["membership"] == 0:
                assert not len(held), "only active warps have entries"


@pytest.mark.parametrize("text", ["0", "9", "six"])
def test_a_number_of_entries_out_of_range_is_refused(text: str) -> None:
    with pytest.raises(InputError, match=f"rfc.entries={text}"):
        machine(Assembly().exit(), design=f"rfc[entries={text}]")
    with pytest.raises(InputError, match="rfc.write_ports=0: expected 1 or more"):
        machine(Assembly().exit(), design="rfc[write_ports=0]")


def test_without_liveness_final_registers_equal_those_over_sram() -> None:
    pieces = [("mov", 3, 5), ("if", [("add", 4, 3, 1), ("mov", 1, 8)], [("fma", 5, 3, 1, 2)]), ("guarded", 6, 4, 5),
              ("ld", 7), ("add", 8, 7, 6), ("guarded_ld", 2), ("add", 0, 2, 2)]
    program = assemble(pieces)
    found = []
    for design in ("sram", "rfc[liveness=0]", "rfc[liveness=0,main=stt]"):
        m = machine(program, design=design)
        while "exit" not in [text for _, text in m.issues()][-1:]:
            m.step()
        found.append([m.register(0, reg).tolist() for reg in range(10)])
    assert found[0] == found[1] == found[2]


def test_skipping_idle_cycles_changes_nothing() -> None:
    program = assemble([("ld", 3), ("add", 4, 3, 3), ("ld", 5), ("fma", 6, 5, 4, 3), ("st", 6)])
    stepped = machine(program, warps=2, threads=48, settings={"memory.fixed_memory_cycles": 120})
    whole = machine(program, warps=2, threads=48, settings={"memory.fixed_memory_cycles": 120}).simulator
    stepped.run()
    for snapshot in stepped.snapshots[1::37]:
        whole.step(snapshot.cycle - whole.cycle)
        assert whole.snapshot().same_as(snapshot)
