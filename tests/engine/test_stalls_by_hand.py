"""One hand-made program per kind of stall: what every warp does in every cycle equals a table written by hand.

The tables follow from these rules. A CTA is placed in cycle 0, and its warps fetch from cycle 0 on, one per scheduler and
cycle, two instructions each; the first can issue in the next cycle. An instruction issued in cycle t reads its operands
from t + 1 on, one per bank and cycle, and is dispatched after the cycle of its last read, in t + 2 at the earliest. A
result with latency L dispatched in cycle d is written in cycle d + L and can be used by an issue in that cycle.
"""

from __future__ import annotations

from typing import Any

import pytest

from rfview.engine import isa
from rfview.engine.machine.schedulers import SCHEDULERS
from rfview.engine.state import EXECUTE
from tests.harness import Assembly, Machine


def tail(*runs: tuple[str, int]) -> list[tuple[str, int]]:
    """Prepend the cycle without an instruction to a warp's runs from its first issue on."""
    return [("no_instruction", 1), *runs]


def amiss(machine: Machine, warp: int, expected: list[tuple[str, int]]) -> str:
    """Compare a warp's state runs up to the end of its last issue; return the difference as text, "" if there is none."""
    runs = machine.runs(warp)
    if runs[: len(expected)] != expected:
        return f"w{warp}: {runs}, not {expected}"
    after = {name for name, _ in runs[len(expected) :]} - {"finished", "no_cta"}
    return f"w{warp}: {sorted(after)} after its end" if after else ""


def test_wait_for_a_fixed_latency_result() -> None:
    # mov issues in 1, is dispatched in 3, done in 3 + 4 = 7
    machine = Machine(Assembly().mov(1, 5).add(2, 1, imm=1).exit()).run()
    assert not amiss(machine, 0, tail(("issued", 1), ("wait", 5), ("issued", 2)))


def test_short_scoreboard_for_the_special_function_unit() -> None:
    # rcp issues in 1, reads in 2, is dispatched in 3, done in 3 + 8 = 11
    machine = Machine(Assembly().sfu(2, 1).add(3, 2, imm=1).exit()).run()
    assert not amiss(machine, 0, tail(("issued", 1), ("short_scoreboard", 9), ("issued", 2)))


def test_long_scoreboard_for_a_load_that_misses() -> None:
    # ld issues in 1, enters LD/ST in 3, its line is handled in 4: L2 120 + DRAM 100 cycles, back in 224
    machine = Machine(Assembly().ld(2).add(3, 2, imm=1).exit()).run()
    assert not amiss(machine, 0, tail(("issued", 1), ("long_scoreboard", 222), ("issued", 2)))


@pytest.mark.parametrize(("flags", "second"), [(0, 35), (isa.FLAG_PAST_L1, 120)])
def test_a_second_load_of_a_line_is_served_by_l1_or_by_l2_if_it_passes_l1(flags: int, second: int) -> None:
    # the first line is back in 224, when the add issues; the second load, issued in 225, is handled in 228
    program = Assembly().ld(2).add(3, 2, imm=1).ld(4, flags=flags).add(5, 4, imm=1).exit()
    machine = Machine(program).run()
    assert not amiss(machine, 0, tail(("issued", 1), ("long_scoreboard", 222), ("issued", 2),
                                      ("long_scoreboard", 2 + second), ("issued", 2)))
    assert machine.count("l1_hits") == (flags == 0) and machine.count("l2_hits") == (flags != 0)
    assert machine.count("dram_bytes") == 128


@pytest.mark.parametrize(("policy", "hits"), [("update", 1), ("evict", 0)])
def test_a_global_store_leaves_its_line_in_l1_or_evicts_it(policy: str, hits: int) -> None:
    program = Assembly().ld(2).add(3, 2, imm=1).st(3).ld(4).add(5, 4, imm=1).exit()
    machine = Machine(program, settings={"memory.l1_stores": policy}).run()
    assert (machine.count("l1_hits"), machine.count("l1_misses")) == (hits, 2 - hits)


@pytest.mark.parametrize("policy", ["update", "evict"])
def test_a_store_to_a_line_that_is_on_its_way_leaves_it(policy: str) -> None:
    program = Assembly().mov(3, 1).ld(2).st(3).add(5, 2, imm=1).ld(4).add(5, 4, imm=1).exit()
    machine = Machine(program, settings={"memory.l1_stores": policy}).run()
    assert (machine.count("l1_hits"), machine.count("l1_misses")) == (1, 1)


def test_a_load_past_l1_moves_sectors_and_leaves_l1_as_it_is() -> None:
    program = Assembly().ld(2, flags=isa.FLAG_PAST_L1).add(3, 2, imm=1).ld(4).add(5, 4, imm=1).exit()
    machine = Machine(program).run()
    # 32 lanes of 4 bytes make 4 sectors, here of one line that L1 has not seen when the second load asks for it
    assert (machine.count("l1_misses"), machine.count("l2_misses"), machine.count("l2_hits")) == (1, 1, 1)


def test_barrier_until_the_last_warp_arrives() -> None:
    # warps 0 and 2 share scheduler 0, which fetches warp 0 in cycle 0 and warp 2 in cycle 1
    machine = Machine(Assembly().bar().exit(), warps=3).run()
    assert not amiss(machine, 0, tail(("issued", 1), ("barrier", 1), ("not_selected", 1), ("issued", 1)))
    assert not amiss(machine, 1, tail(("issued", 1), ("barrier", 1), ("issued", 1)))
    assert not amiss(machine, 2, [("no_instruction", 2), ("issued", 2)])


def test_not_selected_while_the_greedy_warp_runs() -> None:
    # warp 1 is fetched in cycle 1; warp 0, greedy, is fetched again in cycle 2 and ends in cycle 4
    machine = Machine(
        Assembly().mov(1, 5).mov(2, 5).mov(3, 5).exit(), warps=2, settings={"sm.num_schedulers": 1}, scheduler="gto"
    ).run()
    assert not amiss(machine, 0, tail(("issued", 4)))
    assert not amiss(machine, 1, [("no_instruction", 2), ("not_selected", 3), ("issued", 4)])


def test_pipe_throttle_when_the_units_queue_is_full() -> None:
    # a queue of one: rcp a issues in 1, leaves its collector in 3; b issues in 3, the unit takes it in 3 + 8 = 11; c in 11
    machine = Machine(Assembly().sfu(2, 1).sfu(3, 1).sfu(4, 1).exit(), settings={"sm.sfu_queue": 1}).run()
    assert not amiss(machine, 0, tail(("issued", 1), ("pipe_throttle", 1), ("issued", 1),
                                      ("pipe_throttle", 7), ("issued", 2)))


def dispatches(machine: Machine, num: int) -> list[int]:
    """Return the cycles in which the first `num` instructions are dispatched to their pipes."""
    found: dict[int, int] = {}
    for shot in machine.snapshots:
        for flight in shot.sm.inflight:
            if int(flight.stage) == EXECUTE:
                found.setdefault(int(flight.seq), int(flight.since_cycle))
    return [found[seq] for seq in sorted(found)][:num]


@pytest.mark.parametrize("settings, expected", [
    ({}, [3, 4, 5]),                                             # fma ends in 8, the adds, a cycle shorter, in 8 and 9
    ({"sm.reserve_results": 1, "sm.num_sp": 1}, [3, 5, 6]),      # 8 is taken by the fma: the add ends in 9, the next in 10
    ({"sm.reserve_results": 1}, [3, 4, 5]),                      # the other SP takes the add, and there are two buses
    ({"sm.reserve_results": 1, "sm.result_buses": 1}, [3, 5, 6]),     # with one bus that does not help
])
def test_a_pipe_takes_only_what_can_be_written_at_its_end(settings: dict[str, int], expected: list[int]) -> None:
    program = Assembly().fma(1, 2, 3, 4).add(5, 6, imm=1).add(7, 8, imm=1).exit()
    assert dispatches(Machine(program, settings=settings).run(), 3) == expected


@pytest.mark.parametrize("settings, expected", [
    ({}, [1, 2, 3, 4, 5, 6]),
    ({"sm.refill_cycles": 1}, [1, 2, 4, 5, 6, 7]),      # one more cycle after every second instruction, none after a branch
    ({"sm.refill_cycles": 1, "sm.branch_cycles": 2}, [2, 3, 5, 6, 9, 10]),      # paid for instruction 0, too
])
def test_what_is_fetched_is_decoded_before_it_issues(settings: dict[str, int], expected: list[int]) -> None:
    program = Assembly().mov(1, 5).mov(2, 5).mov(3, 5).bra(5).mov(6, 1).mov(4, 5).exit()
    assert [cycle for cycle, _ in Machine(program, settings=settings).run().issues()] == expected


def test_collector_full_when_the_only_one_still_gathers() -> None:
    # add issues in 1 and holds the collector until it is dispatched in 3
    machine = Machine(Assembly().add(2, 1, imm=1).add(3, 1, imm=1).exit(), settings={"sm.num_collectors": 1}).run()
    assert not amiss(machine, 0, tail(("issued", 1), ("collector_full", 1), ("issued", 2)))


def test_bank_conflict_of_two_operands() -> None:
    # R1 and R17 are in bank 1: R1 is read in 2, R17 refused in 2 and read in 3; dispatch in 4, done in 8
    machine = Machine(Assembly().add(2, 1, 17).add(3, 2, imm=1).exit()).run()
    assert not amiss(machine, 0, tail(("issued", 1), ("bank_conflict", 1), ("wait", 5), ("issued", 2)))


def test_stt_write_keeps_a_bank_busy() -> None:
    # mov is written in 7, its bank is busy in [7, 11); add issues in 7, is refused in 8..10, reads in 11; dispatch 12, done 16
    machine = Machine(Assembly().mov(1, 5).add(2, 1, imm=1).add(3, 2, imm=1).exit(), design="stt[stall=bank]").run()
    assert not amiss(machine, 0, tail(("issued", 1), ("wait", 5), ("issued", 1), ("stt_write", 3),
                                      ("wait", 5), ("issued", 2)))


def test_stt_write_freezes_the_pipeline() -> None:
    # the movs issue in 1 and 2 and are done in 7 and 8; the write in 7 freezes 8..10, so the second is written in 11
    # and freezes 12..14; the add on R1 issues in 7, the add on R2 in 11, exit in the first cycle that is not frozen
    program = Assembly().mov(1, 5).mov(2, 6).add(3, 1, imm=1).add(4, 2, imm=1).exit()
    machine = Machine(program, design="stt[stall=pipeline]").run()
    assert not amiss(machine, 0, tail(("issued", 2), ("wait", 4), ("issued", 1), ("stt_write", 3), ("issued", 1),
                           ("stt_write", 3), ("issued", 1)))
    assert [cycle for cycle, _ in machine.issues(0)] == [1, 2, 7, 11, 15]


def test_suspended_outside_the_active_set() -> None:
    # an active set of one: warp 1 joins in 3, when warp 0 waits for its load; the line is back in 225 for both, and warp 0's
    # value is written first; warp 1's arrives in 226, but warp 0 is in the set until it has ended with its exit of 226
    machine = Machine(
        Assembly().mov(1, 5).ld(2).add(3, 2, imm=1).exit(), warps=2, scheduler="switch_on_stall",
        settings={"sm.num_schedulers": 1},
    ).run()
    assert not amiss(machine, 1, [("no_instruction", 1), ("suspended", 2), ("issued", 2), ("long_scoreboard", 221),
                       ("suspended", 1), ("issued", 2)])


@pytest.mark.parametrize("outer, active", [("ready", [None] * 6), ("next", [0, 1, 2, 0, 1, 2])])
def test_the_next_warp_takes_a_place_though_it_waits(outer: str, active: list[int | None]) -> None:
    """B0.20: one place for three warps, which have issued their loads in 2, 4 and 6 and wait for them."""
    machine = Machine(
        Assembly().mov(1, 5).ld(2).add(3, 2, imm=1).exit(), warps=3, scheduler="two_level",
        settings={"sm.num_schedulers": 1, "scheduler.active_set": 1, "scheduler.outer": outer},
    ).run()
    members = [[int(shot.sm.warp[warp].membership) for warp in range(3)] for shot in machine.snapshots[8:14]]
    assert [places.index(1) if 1 in places else None for places in members] == active
    assert [machine.issues(warp)[2][0] for warp in range(3)] == [225, 227, 229]


def test_war_is_booked_as_wait_and_counted() -> None:
    # B1: R17 is refused by bank 1 in cycle 2, so the mov that overwrites it cannot issue before its read in 3
    machine = Machine(Assembly().add(2, 1, 17).mov(17, 9).exit()).run()
    assert not amiss(machine, 0, tail(("issued", 1), ("bank_conflict", 1), ("issued", 2)))
    assert machine.count("war_stalls") == 1
    assert machine.register(0, 2)[0] == 0


@pytest.mark.parametrize("design", ["sram", "stt[stall=bank]", "stt[stall=pipeline]"])
def test_guarded_write_keeps_the_other_lanes(design: str) -> None:
    # B3: R1 = 7, then 9 on even lanes
    program = (
        Assembly().sreg(3, isa.SREG_LANEID).emit(isa.OP_AND32, "and.b32 R3, R3, 1", dst=(3,), src={0: 3}, imm={2: 1})
        .setp_lt(0, 3, 1).mov(1, 7).mov(1, 9, guard=0).st(1).exit()
    )
    assert Machine(program, design=design).run().register(0, 1).tolist() == [9, 7] * 16


@pytest.mark.parametrize("scheduler", SCHEDULERS)
def test_many_warps_at_a_barrier_end(scheduler: str) -> None:
    # B2: 8 active of 32 warps in one CTA must all reach the barrier
    settings: dict[str, Any] = {"sm.num_schedulers": 1, "scheduler.active_set": 8}
    machine = Machine(Assembly().mov(1, 5).bar().mov(2, 6).exit(), warps=32, scheduler=scheduler, settings=settings)
    machine.simulator.run()
    assert machine.simulator.finished
    totals = machine.simulator.sm.stall_total
    assert int(totals.sum()) == 48 * machine.simulator.cycle
