"""`hcrf`: the paper's micro-programs cycle by cycle, its tables, and random programs against `sram`."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from rfview.engine import plugin as designs, isa
from rfview.engine.designs import hcrf
from rfview.engine.state import BANK_BUSY, BANK_IDLE, BANK_WRITE, NONE8
from tests.conftest import WITHOUT_JIT
from tests.harness import Assembly, Machine, check_skipping, issue_cycle

BANKS = 16
BITS = 1024


def run(program: Assembly, variant: str = "", **more: Any) -> Machine:
    """Run a program on hcrf with 20 registers per thread, as in the paper's example."""
    return Machine(program, design=f"hcrf[{variant}]" if variant else "hcrf", **more).run()


def value_in(snapshot: Any, warp: int, reg: int) -> np.ndarray:
    """Return a register's value in a snapshot, from the row that its pair's exchange flag selects."""
    if "exchanged" not in snapshot.rf.dtype.names:
        return snapshot.rows[int(snapshot.sm.warp[warp].reg_base) + reg]
    return snapshot.rows[hcrf.device_row(snapshot.sm, snapshot.rf, warp, reg)]


def value(machine: Machine, warp: int, reg: int, at: int = -1) -> np.ndarray:
    """Return a register's value in snapshot `at`, by default the last, in which all results have been written."""
    return value_in(machine.snapshots[at], warp, reg)


def has(words: Any, index: int) -> bool:
    """Return a bit of an array of 64-bit words."""
    return bool(int(words[index // 64]) >> (index % 64) & 1)


def flags(machine: Machine, pair: int = 0) -> list[bool]:
    """Return a pair's exchange flag after cycles 0, 1, ..."""
    return [has(snapshot.rf.exchanged, pair) for snapshot in machine.snapshots[1:]]


def transfers(machine: Machine) -> list[tuple[int, int, int, bool]]:
    """Return (first cycle, end, pair, is late) of every transfer, in order."""
    found = set()
    for snapshot in machine.snapshots[1:]:
        for entry in range(64):
            if int(snapshot.rf.used) >> entry & 1:
                one = snapshot.rf.transfer[entry]
                found.add((int(one.since_cycle), int(one.until_cycle), int(one.pair), bool(one.is_late)))
    return sorted(found)


def accesses(machine: Machine, bank: int, kind: str) -> list[tuple[int, str]]:
    """Return (cycle, "S" or "T") of a bank's reads or writes; a T-Write appears once, in its first cycle."""
    found: list[tuple[int, str]] = []
    until = -1
    for cycle, snapshot in enumerate(machine.snapshots[1:]):
        code = int(snapshot.rf.bank[bank][f"{kind}_kind"])
        if code and cycle >= until:
            found.append((cycle, " ST"[code]))
            if kind == "write" and code == hcrf.T_ACCESS:
                until = int(snapshot.sm.bank[bank].until_cycle)
    return found


def write_cycles(machine: Machine, bank: int) -> list[int]:
    """Return the cycles in which a bank accepted a write."""
    return [cycle for cycle, _ in accesses(machine, bank, "write")]


def lane_half(program: Assembly, number: int = 16) -> Assembly:
    """Set predicate 0 in the lanes below `number`; uses R19."""
    return program.sreg(19, isa.SREG_LANEID).setp_lt(0, 19, number)


def fillers(program: Assembly, count: int, first: int = 3) -> Assembly:
    """Append `count` moves to registers in banks that the tests do not check."""
    for index in range(count):
        program.mov(first + index % 5, index)
    return program


def wait_counts(machine: Machine) -> tuple[int, int]:
    """Return how many cycles accesses waited for transfers and for slow writes."""
    return machine.count("x_transfer_wait_cycles"), machine.count("stt_write_wait_cycles")


# --- the micro-programs (n = 20, transfer of 4 cycles) --------------------------------------------------------------


def test_x1_an_early_transfer_is_over_before_the_result_arrives() -> None:
    machine = run(Assembly().mov(16, 5).add(1, 0, imm=3).add(2, 16, imm=1).exit())
    t = issue_cycle(machine, "mov")
    assert transfers(machine) == [(t, t + 4, 0, False)]
    assert flags(machine)[: t + 5] == [False] * (t + 4) + [True]
    assert accesses(machine, 0, "read")[0] == (t + 2, "S")
    assert issue_cycle(machine, "add.u32 R1") == t + 1 and wait_counts(machine) == (0, 0)
    first_write = accesses(machine, 0, "write")[0]
    assert first_write == (t + 6, "S")
    assert machine.count("t_writes") == 0
    assert value(machine, 0, 16).tolist() == [5] * 32 and not value(machine, 0, 0).any()
    assert value(machine, 0, 1).tolist() == [3] * 32 and value(machine, 0, 2).tolist() == [6] * 32


def test_x1_the_displaced_register_is_read_from_stt_afterwards() -> None:
    machine = run(Assembly().mov(0, 7).add(1, 0, imm=0).mov(16, 5).add(2, 16, imm=0).add(3, 0, imm=1).exit())
    last = machine.snapshots[-1]
    assert last.rows[0].tolist() == [5] * 32 and last.rows[16].tolist() == [7] * 32
    assert accesses(machine, 0, "read")[-1][1] == "T"
    assert value(machine, 0, 0).tolist() == [7] * 32 and value(machine, 0, 3).tolist() == [8] * 32
    assert all(np.array_equal(machine.register(0, reg), value_in(machine.snapshots[-2], 0, reg)) for reg in range(20))


def test_x2_an_accumulator_is_transferred_in_the_cycle_after_its_own_read() -> None:
    machine = run(Assembly().add(16, 16, imm=1).exit())
    granted = accesses(machine, 0, "read")
    assert [kind for _, kind in granted] == ["T"]
    g = granted[0][0]
    assert g == issue_cycle(machine, "add") + 1
    assert transfers(machine) == [(g + 1, g + 5, 0, False)]
    assert value(machine, 0, 16).tolist() == [1] * 32 and not value(machine, 0, 0).any()


def test_x2_the_strict_reading_looks_only_at_issue() -> None:
    machine = run(Assembly().add(16, 16, imm=1).mov(17, 2).exit(), "early_remap=issue_only")
    result = issue_cycle(machine, "add") + 6
    assert (result, result + 4, 0, True) in transfers(machine)
    assert [late for _, _, pair, late in transfers(machine) if pair == 1] == [False]
    assert value(machine, 0, 16).tolist() == [1] * 32


def test_x3_without_early_remapping_the_result_waits_and_other_rows_of_the_bank_do_not() -> None:
    program = Assembly().mov(32, 9).mov(16, 5)
    for reg in range(1, 6):
        program.mov(reg, reg)
    program.add(6, 32, imm=1).add(7, 0, imm=1).add(8, 32, imm=2).exit()
    machine = run(program, "early_remap=off", registers=60)
    t = issue_cycle(machine, "mov.u32 R16") + 6
    assert transfers(machine) == [(t, t + 4, 0, True)]
    assert (t + 4, "S") in accesses(machine, 0, "write") and wait_counts(machine) == (4, 0)
    served = [cycle for cycle, _ in accesses(machine, 0, "read")]
    assert served == [issue_cycle(machine, text) + 1 for text in ("add.u32 R6", "add.u32 R7", "add.u32 R8")]
    assert sum(t <= cycle < t + 4 for cycle in served) >= 2
    assert value(machine, 0, 6).tolist() == [10] * 32 and value(machine, 0, 7).tolist() == [1] * 32


def test_x4_without_remapping_a_t_write_keeps_its_bank_for_4_cycles() -> None:
    program = fillers(Assembly().mov(16, 5), 5).add(1, 0, imm=1).exit()
    machine = run(program, "remap=off")
    t = issue_cycle(machine, "mov.u32 R16") + 6
    assert issue_cycle(machine, "add") == t
    assert accesses(machine, 0, "write") == [(t, "T")]
    assert accesses(machine, 0, "read") == [(t + 4, "S")]
    assert wait_counts(machine) == (0, 3) and transfers(machine) == []
    assert machine.snapshots[-1].rows[16].tolist() == [5] * 32


def test_x5_two_registers_of_a_pair_written_in_turn_change_places_each_time() -> None:
    program = Assembly().mov(16, 1).add(1, 16, imm=0).mov(0, 2).add(2, 0, imm=0).mov(16, 3).add(3, 16, imm=0).exit()
    machine = run(program)
    assert [late for *_, late in transfers(machine)] == [False] * 3
    ends = [end for _, end, _, _ in transfers(machine)]
    assert [flags(machine)[end] for end in ends] == [True, False, True]
    assert [kind for _, kind in accesses(machine, 0, "write")] == ["S"] * 3 and wait_counts(machine) == (0, 0)
    assert [int(value(machine, 0, reg)[0]) for reg in (16, 0, 1, 2, 3)] == [3, 2, 1, 2, 3]


def test_x6_a_partial_result_is_written_masked_and_never_remaps() -> None:
    machine = run(lane_half(Assembly().mov(16, 4)).mov(16, 9, guard=0).exit(), "early_remap=on,remap=on")
    assert value(machine, 0, 16).tolist() == [9] * 16 + [4] * 16      # R16 was already in SRAM
    assert machine.count("t_writes") == 0
    machine = run(lane_half(Assembly()).mov(16, 9, guard=0).add(5, 19, imm=1).add(6, 5, imm=1).exit())
    t = issue_cycle(machine, "mov.u32 R16") + 6
    assert accesses(machine, 0, "write") == [(t, "T")] and not any(flags(machine))
    assert 0 not in [pair for _, _, pair, _ in transfers(machine)]
    busy = [int(snapshot.sm.bank[0].activity) for snapshot in machine.snapshots[1:]][t : t + 5]
    assert busy == [BANK_WRITE, BANK_BUSY, BANK_BUSY, BANK_BUSY, BANK_IDLE]
    assert int(machine.snapshots[t + 1].sm.bank[0].until_cycle) == t + 4
    assert value(machine, 0, 16).tolist() == [9] * 16 + [0] * 16


def test_x7_a_write_to_the_other_row_of_another_warp_holds_the_transfer_up_for_a_cycle() -> None:
    pair = 16    # slot 32 = warp 1 R12, slot 48 = warp 2 R8
    hits = 0
    for before, count in itertools.product(range(3), range(1, 5)):
        program = fillers(fillers(Assembly(), before, 16).mov(12, 1), count).mov(8, 2).exit()
        machine = run(program, warps=3, scheduler="lrr")
        issue = issue_cycle(machine, "mov.u32 R8", warp=2)
        written = [cycle for cycle, snapshot in enumerate(machine.snapshots[1:])
                   if snapshot.rf.bank[0].write_kind == hcrf.S_ACCESS and snapshot.rf.bank[0].write_pair == pair]
        started = [since for since, _, which, _ in transfers(machine) if which == pair]
        if written[0] == issue:
            hits += 1
            assert started == [issue + 1]
        elif written[0] < issue:
            assert started == [issue]
        assert value(machine, 1, 12).tolist() == [1] * 32 and value(machine, 2, 8).tolist() == [2] * 32
    assert hits


def test_x8_a_write_to_an_sram_row_is_one_s_write() -> None:
    machine = run(Assembly().mov(3, 1).exit())
    assert accesses(machine, 3, "write") == [(issue_cycle(machine, "mov") + 6, "S")]
    assert transfers(machine) == [] and machine.count("t_writes") == 0 and wait_counts(machine) == (0, 0)


@pytest.mark.parametrize("variant", ["", "remap=off", "early_remap=off", "partial=rmw"])
@pytest.mark.parametrize("reg", [1, 17])
def test_b3_a_guarded_move_leaves_the_other_lanes(variant: str, reg: int) -> None:
    program = Assembly().mov(reg, 7).sreg(3, isa.SREG_LANEID)
    program.emit(isa.OP_AND32, "and.b32 R3, R3, 1", dst=(3,), src={0: 3}, imm={2: 1}).setp_lt(0, 3, 1)
    machine = run(program.mov(reg, 9, guard=0).exit(), variant)
    assert value(machine, 0, reg).tolist() == [9, 7] * 16


# --- other characteristic situations --------------------------------------------------------------------------------


def test_registers_lie_where_the_paper_says_and_pairs_are_rows_2i_and_2i_plus_1() -> None:
    """HC-RF section IV-A: R0 and R16 of warp 0 share a row of hybrid cells, as do R1 and R17."""
    machine = run(Assembly().exit(), warps=2)
    sm = machine.simulator.sm
    assert hcrf.pair_of(sm, 0) == hcrf.pair_of(sm, 16) == 0 and hcrf.pair_of(sm, 1) == hcrf.pair_of(sm, 17) == 1
    assert hcrf.partner_of(sm, 0) == 16 and hcrf.partner_of(sm, 17) == 1
    rf = machine.simulator.rf
    assert [hcrf.place_of(sm, rf, 0, reg) for reg in (0, 15, 16, 19)] == [0, 0, 1, 1]
    assert [hcrf.place_of(sm, rf, 1, reg) for reg in (0, 11, 12, 19)] == [1, 1, 0, 0]
    pairs = [hcrf.pair_of(sm, slot) for slot in range(1024)]
    assert sorted(pairs) == sorted(list(range(512)) * 2)
    assert all(hcrf.pair_of(sm, hcrf.partner_of(sm, slot)) == pairs[slot] for slot in range(1024))
    assert all(hcrf.partner_of(sm, slot) % BANKS == slot % BANKS for slot in range(1024))


def test_a_write_to_a_pair_in_transfer_waits_and_is_remapped_late_where_it_was_displaced() -> None:
    """B3.4, B3.2: R0's result arrives while R0 is being moved to STT, and then R16's, which was moved back."""
    program = Assembly().mov(0, 1).mov(3, 3).mov(4, 4).mov(16, 2).add(5, 16, 0).exit()
    machine = run(program, "pending_writes=collector")
    t = issue_cycle(machine, "mov.u32 R16")
    arrival = issue_cycle(machine, "mov.u32 R0") + 6
    assert t <= arrival < t + 4
    assert transfers(machine) == [(t, t + 4, 0, False), (t + 4, t + 8, 0, True), (t + 9, t + 13, 0, True)]
    assert accesses(machine, 0, "write") == [(t + 8, "S"), (t + 13, "S")]
    assert wait_counts(machine)[0] == (t + 8 - arrival) + (t + 13 - (t + 6))
    assert value(machine, 0, 5).tolist() == [3] * 32 and value(machine, 0, 0).tolist() == [1] * 32
    states = machine.states()
    assert "x_transfer" in states[t + 6 : t + 13]


def test_with_pending_writes_in_flight_respected_there_is_no_such_ping_pong() -> None:
    program = Assembly().mov(0, 1).mov(3, 3).mov(4, 4).mov(16, 2).add(5, 16, 0).exit()
    machine = run(program)
    arrival = issue_cycle(machine, "mov.u32 R0") + 6
    assert transfers(machine) == [(arrival + 1, arrival + 5, 0, False)]
    assert value(machine, 0, 5).tolist() == [3] * 32


def test_a_result_still_in_a_collector_holds_its_partners_transfer_up() -> None:
    machine = run(Assembly().mov(0, 1).mov(16, 2).exit(), "pending_writes=collector")
    collected = issue_cycle(machine, "mov.u32 R0") + 2
    assert transfers(machine)[0] == (collected, collected + 4, 0, False)


def test_a_read_of_the_partner_waiting_in_a_collector_holds_a_transfer_up() -> None:
    program = Assembly().add(1, 0, 32).mov(16, 5).exit()     # R0 and R32 are in one bank, so the second is read a cycle later
    machine = run(program, registers=60)
    reads = [cycle for cycle, _ in accesses(machine, 0, "read")]
    issue = issue_cycle(machine, "mov")
    started = transfers(machine)[0][0]
    assert reads[0] == issue and started == issue + 1


def test_a_load_whose_pair_was_flipped_back_meanwhile_is_remapped_late() -> None:
    """B3.2: a register's place is looked up again when the value arrives."""
    program = Assembly().ld(16, offset=8).add(1, 2, imm=0).mov(0, 5).add(3, 0, imm=1).add(4, 16, 0).exit()
    machine = run(program, "pending_writes=collector", data=[0, 0, 77])
    assert [late for *_, late in transfers(machine)] == [False, False, True]
    assert value(machine, 0, 16).tolist() == [77] * 32 and value(machine, 0, 0).tolist() == [5] * 32
    assert value(machine, 0, 4).tolist() == [82] * 32 and machine.count("late_transfers") == 1


def test_one_transfer_starts_per_bank_and_cycle_and_the_older_instruction_goes_first() -> None:
    machine = run(Assembly().mov(16, 5).exit(), warps=2, registers=32, scheduler="lrr")
    issues = [issue_cycle(machine, "mov", warp) for warp in (0, 1)]
    found = transfers(machine)
    assert issues[0] == issues[1] and {pair for _, _, pair, _ in found} == {0, 16}
    assert [since for since, *_ in found] == [issues[0], issues[0] + 1]
    owners = {int(snapshot.rf.transfer[0].warp) for snapshot in machine.snapshots[1:] if int(snapshot.rf.used) & 1}
    first = next(iter(owners))
    assert found[0][2] == 16 * first


def test_transfers_of_different_pairs_of_a_bank_overlap() -> None:
    machine = run(Assembly().mov(16, 1).mov(48, 2).exit(), registers=60)
    (first, end, *_), (second, *_) = transfers(machine)
    assert first < second < end
    assert max(int(snapshot.rf.num_moving) for snapshot in machine.snapshots) == 2
    assert max(int(snapshot.rf.bank[0].moving) for snapshot in machine.snapshots) == 2


def test_a_write_to_a_bank_with_a_slow_write_waits_for_it() -> None:
    program = lane_half(Assembly()).mov(16, 9, guard=0).mov(32, 3).exit()
    machine = run(program, registers=60)
    t = issue_cycle(machine, "mov.u32 R16") + 6
    assert accesses(machine, 0, "write") == [(t, "T"), (t + 4, "S")]
    assert wait_counts(machine) == (0, t + 4 - (issue_cycle(machine, "mov.u32 R32") + 6))


def test_reads_during_a_slow_write_are_booked_as_stt_write() -> None:
    program = lane_half(Assembly()).mov(16, 9, guard=0).add(1, 16, imm=0).exit()
    machine = run(program)
    t = issue_cycle(machine, "mov.u32 R16") + 6
    assert accesses(machine, 0, "read") == [(t + 4, "T")]
    assert value(machine, 0, 1).tolist() == [9] * 16 + [0] * 16


def test_read_modify_write_merges_a_partial_result_and_remaps() -> None:
    """B3.3, option partial = rmw: T-Read in t, transfer [t+1, t+5), S-Write of all lanes in t+5."""
    program = Assembly().mov(0, 3).mov(16, 4).add(1, 16, imm=0).mov(0, 6).add(1, 0, imm=0)
    machine = run(lane_half(program).mov(16, 9, guard=0).add(2, 16, 0).exit(), "partial=rmw")
    t = issue_cycle(machine, "mov.u32 R16", nth=1) + 6
    assert (t, "T") in accesses(machine, 0, "read") and transfers(machine)[-1] == (t + 1, t + 5, 0, True)
    assert accesses(machine, 0, "write")[-1] == (t + 5, "S")
    assert machine.count("t_writes") == 0 and machine.count("merge_reads") == 1
    assert value(machine, 0, 16).tolist() == [9] * 16 + [4] * 16
    assert value(machine, 0, 2).tolist() == [15] * 16 + [10] * 16 and value(machine, 0, 0).tolist() == [6] * 32


def test_all_live_lanes_are_a_whole_row_where_others_have_exited() -> None:
    """B0.2: full = all lanes of the warp that have not exited."""
    program = lane_half(Assembly()).exit(guard=0).mov(16, 5).add(1, 16, imm=1).exit()
    machine = run(program)
    assert [late for _, _, pair, late in transfers(machine) if pair == 0] == [False] and machine.count("t_writes") == 0
    assert value(machine, 0, 16, at=-6)[16:].tolist() == [5] * 16


def test_a_divergent_write_of_half_the_lanes_is_partial() -> None:
    program = lane_half(Assembly().mov(16, 1)).mov(0, 2).add(1, 0, imm=0)
    at = len(program.insts)
    program.bra(at + 2, guard=0, reconv=at + 2).mov(16, 8).add(2, 16, 0).exit()
    machine = run(program)
    assert machine.count("t_writes") == 1
    assert value(machine, 0, 16).tolist() == [1] * 16 + [8] * 16
    assert value(machine, 0, 2).tolist() == [3] * 16 + [10] * 16


def test_a_new_warp_reads_zero_whatever_lies_exchanged_in_its_cells() -> None:
    program = Assembly().add(1, 16, 0).mov(16, 5).mov(0, 6).st(1, offset=0).add(2, 16, 0).exit()
    machine = run(program, ctas=10, warps=1)
    assert not machine.simulator.buffers()["data"][0]
    for snapshot in machine.snapshots:
        for warp in range(8):
            if int(snapshot.sm.resident) >> warp & 1 and int(snapshot.sm.warp[warp].num_issued) == 0:
                assert not any(value_in(snapshot, warp, reg).any() for reg in range(20))


def test_a_new_warp_leaves_the_partners_of_its_neighbours_alone() -> None:
    """Pairs span warps (B3.4): warp 1's R12 and warp 2's R8 share a pair; warps of other CTAs come and go around it."""
    program = lane_half(Assembly().mov(12, 3)).mov(8, 4)
    for _ in range(6):
        program.add(8, 8, 12)
    machine = run(program.st(8, offset=4).exit(), ctas=12, warps=1, scheduler="lrr")
    assert int(machine.simulator.buffers()["data"][1]) == 4 + 6 * 3


@pytest.mark.parametrize(("setting", "t_write", "transfer"), [
    ("latency=paper", 4, 4), ("latency=table", 2, 2), ("t_write_cycles=7", 7, 4), ("x_transfer_cycles=3", 4, 3),
])
def test_slow_cycles_come_from_the_text_the_table_or_the_settings(setting: str, t_write: int, transfer: int) -> None:
    """HC-RF section III-B, T-Write 4x; Table II: 2.8 ns at 700 MHz = 2 cycles, the 1T1J cell's 3.37 ns would be 3."""
    machine = run(lane_half(Assembly().mov(17, 1)).mov(16, 9, guard=0).exit(), setting)
    written = next(cycle for cycle, kind in accesses(machine, 0, "write") if kind == "T")
    assert int(machine.snapshots[written + 1].sm.bank[0].until_cycle) - written == t_write
    assert {end - since for since, end, *_ in transfers(machine)} == {transfer}
    assert -(-337 * 7 // 1000) == 3


def test_another_mapping_names_other_ports_but_keeps_the_pairs() -> None:
    more = {"settings": {"sm.mapping": "gpgpusim"}, "warps": 3}
    program = Assembly().mov(16, 5).add(1, 16, 0).mov(0, 7).add(2, 16, 0).exit()
    machine = run(program, **more)
    for warp in range(3):
        assert [int(value(machine, warp, reg)[5]) for reg in (16, 0, 1, 2)] == [5, 7, 5, 12]


def test_the_gebhart_machine_with_two_ports_runs_it_too() -> None:
    machine = run(Assembly().mov(4, 5).add(1, 4, 0).mov(0, 7).add(2, 4, 0).exit(), preset="gebhart")
    assert [int(value(machine, 0, reg)[5]) for reg in (4, 0, 1, 2)] == [5, 7, 5, 12]
    assert machine.count("x_transfers") >= 2


def test_64_transfers_at_once_are_enough_for_the_paper() -> None:
    assert hcrf.MAX_TRANSFERS >= BANKS * hcrf.PAPER_CYCLES


def test_an_odd_number_of_rows_leaves_single_sram_rows() -> None:
    settings_ = {"settings": {"sm.rows_per_bank": 63}}
    machine = run(Assembly().mov(16, 5).add(1, 16, 0).exit(), warps=2, **settings_)
    sm, rf = machine.simulator.sm, machine.simulator.rf
    assert hcrf.pair_of(sm, 62 * 16) == 31 * 16
    assert value(machine, 1, 1).tolist() == [5] * 32 and int(rf.num_moving) == 0


# --- the paper's tables ---------------------------------------------------------------------------------------------


def technology(name: str) -> float:
    """Return a technology number."""
    return hcrf.TECHNOLOGY[name][0]


def test_energies_are_those_of_table_2() -> None:
    """HC-RF Table II: write 0.267 (STT) and 0.186 (SRAM) pJ/bit, read 0.225 and 0.175; X-Transfer as a T-Write."""
    per_bit = {name: pj / BITS for name, (pj, _) in hcrf.ENERGY_PJ.items()}
    assert per_bit == pytest.approx({"s_reads": 0.175, "t_reads": 0.225, "s_writes": 0.186, "t_writes": 0.267,
                                     "x_transfers": 0.267})
    assert technology("leakage_mw") == 34.4 and technology("sram_leakage_mw") == 187.5
    assert technology("stt_leakage_mw") == 21.1


def test_energy_is_the_sum_of_counted_events_and_leakage() -> None:
    """HC-RF Table II: 34.4 mW for the cycles at 700 MHz."""
    machine = run(Assembly().mov(16, 5).add(1, 16, 0).exit())
    energy = machine.simulator.energy()
    counts = machine.simulator.counts()
    dynamic = sum(counts[name] * pj for name, (pj, _) in hcrf.ENERGY_PJ.items())
    assert energy["dynamic"] == pytest.approx(dynamic) and energy["refresh"] == 0
    assert energy["leakage"] == pytest.approx(34.4e-3 * machine.simulator.cycle / 700e6 * 1e12)
    assert energy["total"] == pytest.approx(energy["dynamic"] + energy["leakage"])


def test_cell_areas_for_two_bits() -> None:
    """HC-RF section III-D, Table II: 196 F2 against 292 (SRAM, -33 %) and 115 (STT, +70 %)."""
    hc, sram, stt = technology("cell_f2"), 2 * technology("sram_cell_f2"), 2 * technology("stt_cell_f2")
    assert (hc, sram, stt) == (196, 292, 115)
    assert hc / sram == pytest.approx(0.67, abs=0.005) and hc / stt == pytest.approx(1.70, abs=0.01)
    assert technology("stt_cell_f2") / technology("sram_cell_f2") == pytest.approx(0.39, abs=0.005)    # not "33 %"


def test_areas() -> None:
    """HC-RF Table II: the arrays alone are 72 % of SRAM's; section V-B: 88 % with crossbar and periphery."""
    assert hcrf.area_mm2({}) / technology("sram_area_mm2") == pytest.approx(0.722, abs=0.001)
    assert technology("area_of_sram") == 0.88 and 1 / technology("area_of_sram") == pytest.approx(1.13, abs=0.01)


def test_design_efficiency() -> None:
    """HC-RF Table IV: EDA = E x D x A, of STT 1.389 and of HC 2.565, printed as 1.39 and 2.56."""
    assert 1.47 * 0.75 * 1.26 == pytest.approx(1.389, abs=0.001)
    eda = 2.27 * 1 * 1.13
    assert abs(eda - 2.56) < 0.01 and eda == pytest.approx(2.565, abs=0.001)
    assert 2.56 / 1.39 == pytest.approx(1.84, abs=0.005)


def test_ratios_in_the_text() -> None:
    """HC-RF section III-B (T-Write about 4x S-Write), section V-D (writing STT 1.6x SRAM), both from Table II."""
    assert technology("t_write_ns") / technology("s_access_ns") == pytest.approx(3.64, abs=0.01)
    assert technology("stt_write_ns") / technology("s_access_ns") == pytest.approx(4.38, abs=0.01)
    assert technology("stt_write_pj") / technology("sram_write_pj") == pytest.approx(1.6, abs=0.03)
    assert 100 / 2.27 == pytest.approx(44, abs=0.1)


def test_flags_take_4_bytes_per_bank() -> None:
    """HC-RF section V-B says 8 B: 64 rows are 32 pairs, so 32 flags."""
    assert 64 // 2 / 8 == 4
    assert len(np.zeros((), np.dtype(list(hcrf.STATE), align=True))["exchanged"]) * 64 >= 2048


def test_the_papers_own_scheduler_is_lrr() -> None:
    assert designs.design("hcrf").paper_scheduler == "lrr" and designs.design("hcrf").paper_preset == "hcrf"


# --- random programs ------------------------------------------------------------------------------------------------

VARIANTS = ("", "early_remap=issue_only", "early_remap=off", "remap=off", "partial=rmw", "latency=table",
            "x_transfer_cycles=9,t_write_cycles=6", "pending_writes=collector", "partial=rmw,early_remap=off")
PHASES = (Phase.explicit, Phase.reuse, Phase.generate)      # no shrinking: a smaller seed is no simpler case
REGS = (0, 1, 2, 12, 16, 17, 18, 8)      # pairs (0, 16), (1, 17), (2, 18), and across warps with 20 registers; R3: address


def random_program(rng: random.Random, length: int) -> Assembly:
    """Return a program that reads and writes few registers, so that pairs keep swapping places."""
    program = lane_half(Assembly(), rng.choice((1, 16, 31)))
    if rng.random() < 0.2:
        program.exit(guard=0)
    for _ in range(length):
        d, a, b = (rng.choice(REGS) for _ in range(3))
        guard = {"guard": 0, "negate": rng.random() < 0.5} if rng.random() < 0.25 else {}
        kind = rng.random()
        if kind < 0.3:
            program.mov(d, rng.randrange(1000), **guard)
        elif kind < 0.7:
            program.add(d, a, b, **guard)
        elif kind < 0.78:
            program.sfu(d, a, **guard)
        elif kind < 0.88:
            program.ld(d, offset=4 * rng.randrange(16), **guard)
        elif kind < 0.94:
            program.add(d, d, imm=rng.randrange(9), **guard)
        else:
            at = len(program.insts)
            program.bra(at + 2, guard=0, reconv=at + 2).add(d, a, imm=1)
    for reg, other in zip(REGS[::2], REGS[1::2], strict=True):
        program.add(4, reg, other)      # every result is written before the warp ends
    program.sreg(3, isa.SREG_TID_X).add(3, 3, 3).add(3, 3, 3)
    return program.st(rng.choice(REGS), 3, offset=64).exit()


def final_registers(machine: Machine) -> dict[tuple[int, int], np.ndarray]:
    """Return every register's value at the end of each warp."""
    found = {}
    for before, after in zip(machine.snapshots, machine.snapshots[1:], strict=False):
        left = int(before.sm.resident) & ~int(after.sm.resident)
        for warp in range(8):
            if left >> warp & 1:
                for reg in REGS:
                    found[warp, reg] = value_in(before, warp, reg)
    return found


def exited_early(machine: Machine) -> int:
    """Return the lanes that exited before the others, in any warp, as a mask."""
    lanes = 0
    for snapshot in machine.snapshots:
        for warp in range(8):
            if int(snapshot.sm.unfinished) >> warp & 1 and snapshot.sm.warp[warp].cta != NONE8:
                lanes |= int(snapshot.sm.warp[warp].exited)
    return lanes


def check_state(machine: Machine) -> None:
    """Check every cycle: counts, one started transfer per bank, and that values do not change unless written."""
    before = None
    for snapshot in machine.snapshots:
        rf, sm = np.asarray(snapshot.rf), np.asarray(snapshot.sm)
        used = [entry for entry in range(64) if int(rf["used"]) >> entry & 1]
        moving = int(np.bitwise_count(rf["moving"]).sum())
        assert moving == int(rf["num_moving"]) == len(used) == int(rf["bank"]["moving"].sum())
        assert int(rf["num_exchanged"]) == int(np.bitwise_count(rf["exchanged"]).sum())
        one = rf["transfer"][used]
        starts = (one["pair"][one["since_cycle"] == snapshot.cycle - 1] % BANKS).tolist()
        assert len(starts) == len(set(starts))
        assert int(sm["state_count"].sum()) == 48
        for warp in range(8) if before is not None else ():
            if int(sm["resident"]) & int(before.sm.resident) >> warp & 1:
                check_warp(before, snapshot, warp)
        before = snapshot


def check_warp(before: Any, after: Any, warp: int) -> None:
    """Check that a warp's registers are in different places, and keep their values if no result is due."""
    now, old = after.sm.warp[warp], before.sm.warp[warp]
    held, live = int(now.sb_write) | int(old.sb_write), ~int(now.exited)
    rows = [hcrf.device_row(after.sm, after.rf, warp, reg) for reg in REGS]
    assert len(set(rows)) == len(REGS)
    lanes = [lane for lane in range(32) if live >> lane & 1]
    for reg, row in zip(REGS, rows, strict=True):
        if not held >> reg & 1:
            assert np.array_equal(value_in(before, warp, reg)[lanes], after.rows[row][lanes]), (after.cycle, warp, reg)


def check_counts(machine: Machine, variant: str) -> None:
    """Check that events add up and every warp-cycle has one state."""
    summary = machine.simulator.summary()
    counts = summary["counts"]
    assert counts["s_writes"] + counts["t_writes"] == counts["rf_writes"]
    assert counts["s_reads"] + counts["t_reads"] - counts["merge_reads"] == counts["rf_reads"]
    assert counts["x_transfers"] == counts["early_transfers"] + counts["late_transfers"]
    assert summary["issued"] + sum(summary["stalls"].values()) == summary["warp_cycles"]
    if "remap=off" in variant.split(","):
        assert counts["x_transfers"] == 0
    if "partial=rmw" in variant:
        assert counts["t_writes"] == 0
    if "early_remap=off" in variant:
        assert counts["early_transfers"] == 0
    energy = sum(counts[name] * pj for name, (pj, _) in hcrf.ENERGY_PJ.items())
    assert summary["energy_pj"]["dynamic"] == pytest.approx(energy)


def setting(rng: random.Random) -> dict[str, Any]:
    """Return a random machine: warps, CTAs, scheduler."""
    warps = rng.choice((1, 2, 3))
    return {"warps": warps, "ctas": rng.choice((1, 2)), "scheduler": rng.choice(("lrr", "gto", "two_level")),
            "data": list(range(100, 228)), "registers": 20,
            "settings": {"memory.l2_hit_cycles": 12, "memory.dram_cycles": 9, "memory.l1_hit_cycles": 8}}


@given(st.integers(0, 2**32))
@settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck), phases=PHASES)
def test_random_programs_end_as_with_sram_and_lose_nothing_on_the_way(seed: int) -> None:
    rng = random.Random(seed)
    program, more, variant = random_program(rng, 12), setting(rng), rng.choice(VARIANTS)
    plain = Machine(program, design="sram", **more).run()
    machine = run(program, variant, **more)
    assert np.array_equal(plain.simulator.buffers()["data"], machine.simulator.buffers()["data"])
    lanes = [lane for lane in range(32) if not exited_early(machine) >> lane & 1]
    want, got = final_registers(plain), final_registers(machine)
    assert want.keys() == got.keys()
    for key, value in want.items():
        assert np.array_equal(value[lanes], got[key][lanes]), key
    check_state(machine)
    check_counts(machine, variant)


@pytest.mark.skipif(not WITHOUT_JIT, reason="skipping is switched off in the Python functions")
@given(st.integers(0, 2**32))
@settings(max_examples=6, deadline=None, suppress_health_check=list(HealthCheck), phases=PHASES)
def test_skipping_idle_cycles_changes_nothing(seed: int) -> None:
    rng = random.Random(seed)
    program, more, variant = random_program(rng, 10), setting(rng), rng.choice(VARIANTS)
    check_skipping(lambda: run(program, variant, **more))


def program_pairs() -> Iterator[tuple[str, Assembly]]:
    """Yield programs that end in an idle machine while transfers and slow writes are in progress."""
    yield "load", Assembly().ld(16, offset=0).ld(17, offset=4).add(1, 16, 17).exit()
    yield "partial", lane_half(Assembly()).mov(16, 1, guard=0).ld(1, offset=0).add(2, 1, 16).exit()
    yield "one bank", Assembly().ld(16, offset=0).ld(48, offset=512).add(1, 16, 48).exit()


@pytest.mark.parametrize(("name", "program"), list(program_pairs()),
                         ids=lambda value: value if isinstance(value, str) else "")
@pytest.mark.skipif(not WITHOUT_JIT, reason="skipping is switched off in the Python functions")
def test_transfers_and_slow_writes_end_in_time_in_an_idle_machine(name: str, program: Assembly) -> None:
    check_skipping(lambda: run(program, registers=60, warps=2))
