"""The hybrid register file: micro-programs, the figures of Li et al. (DAC'15) and random programs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rfview.engine import isa
from rfview.engine.plugin import Run
from rfview.engine.designs import hrf, sram
from rfview.engine.designs.hrf import WB_DRAIN
from rfview.engine.errors import InputError
from rfview.engine.simulator import Simulator
from rfview.engine.stalls import BANK_CONFLICT, STT_WRITE
from rfview.engine.state import NONE8
from rfview.sessions.file.writer import record
from rfview.sessions.timeline.opening import open_recording
from tests.conftest import WITHOUT_JIT
from tests.harness import Assembly, Machine, counted, issue_cycle, spaces

LOW = 0x0000FFFF
QUICK = {"latency.int_add": 1}          # a result 3 cycles after its issue


def machine(program: Assembly, starts: Mapping[int, int] | None = None, memory: int = 60, **more: Any) -> Machine:
    """Return a machine under the paper's scheduler, with a short fixed memory latency.

    starts: the instruction at which each warp begins, so that warps do different things.
    """
    more.setdefault("design", "hrf")
    more.setdefault("scheduler", "switch_on_stall")
    more["settings"] = {"memory.fixed_memory_cycles": memory} | more.get("settings", {})
    made = Machine(program, **more)
    if starts:
        made.step()
        for warp, pc in starts.items():
            made.simulator.sm.warp[warp].pc = pc
    return made


def suspend(program: Assembly, address: int = 0) -> Assembly:
    """Append a load and its use: the warp is suspended while it waits. R18 and R19 are written."""
    return program.ld(19, offset=address).add(18, 19, imm=1)


def waits(m: Machine, code: int, first: int = 0, stop: int | None = None) -> int:
    """Return how often accesses were refused for a reason in cycles [first, stop)."""
    end = len(m.snapshots) - 1 if stop is None else stop
    return int(m.snapshots[end].sm["access_wait"][code]) - int(m.snapshots[first].sm["access_wait"][code])


def array_writes(m: Machine, bank: int) -> list[tuple[int, int, int, int]]:
    """Return (first cycle, end, warp, register) of every write to an STT bank."""
    found: list[tuple[int, int, int, int]] = []
    for snapshot in m.snapshots:
        port = snapshot.sm["bank"][bank]
        write = (int(port["since_cycle"]), int(port["until_cycle"]), int(port["owner_warp"]), int(port["owner_reg"]))
        if snapshot.rf["bank_writes"][bank] != hrf.NOTHING and write not in found:
            found.append(write)
    return found


def states(m: Machine, index: int) -> list[int]:
    """Return the state of a buffer after every cycle."""
    return [int(snapshot.rf["buffer"][index]["state"]) for snapshot in m.snapshots[1:]]


def begin_of(m: Machine, index: int, state: int, after: int = 0) -> int:
    """Return the first cycle from `after` on after which a buffer is in a state."""
    return after + states(m, index)[after:].index(state)


def registers_in(snapshot: Any, index: int) -> list[int]:
    """Return the registers in a buffer, by entry."""
    buffer = snapshot.rf["buffer"][index]
    return [int(reg) for reg in buffer["reg"][: int(buffer["used"])]]


def array_value(m: Machine, reg: int, warp: int = 0, at: int = -1) -> np.ndarray:
    """Return a register's value in STT-RAM."""
    snapshot = m.snapshots[at if at < 0 else at + 1]
    return snapshot.rows[int(snapshot.sm["warp"][warp]["reg_base"]) + reg]


# the micro-programs of the design decisions


def test_h1_rewrites_of_a_register_reach_the_array_once() -> None:
    program = Assembly().mov(1, 1).add(1, 1, 1).add(1, 1, 1)
    m = machine(suspend(spaces(program, 8)).exit()).run()
    t0 = begin_of(m, 0, hrf.DRAINING)
    before = m.snapshots[t0 + 1]
    assert registers_in(before, 0) == [1]
    assert [name for name in ("wb_writes", "wb_overwrites") for c in counted(m, name) if c <= t0] == \
        ["wb_writes"] * 3 + ["wb_overwrites"] * 2
    assert len([c for c in counted(m, "wb_reads") if c <= t0]) == 2, "each addition names R1 twice, and fetches it once"
    assert [write[2:] for write in array_writes(m, 0)] == [(0, 1), (0, 19)], "the drain, and the late load from the queue"
    assert (array_value(m, 1, at=t0 + 3) == 0).all() and (array_value(m, 1, at=t0 + 4) == 4).all()


def test_h1_results_in_flight_at_a_suspension_do_not_wait_for_it() -> None:
    """Without the gap, the third result comes 4 cycles after the suspension, when its buffer is empty: the queue."""
    m = machine(suspend(Assembly().mov(1, 1).add(1, 1, 1).add(1, 1, 1)).exit()).run()
    assert [write[2:] for write in array_writes(m, 0)] == [(0, 1), (0, 1), (0, 19)]
    assert m.count("wb_writes") == 2 and m.count("stt_queued") == 2


def h2_program() -> tuple[Assembly, dict[int, int]]:
    """W0 suspends with R0..R2 in its buffer, W1 with two registers 5 cycles later, W2 writes 4 cycles after that."""
    program = Assembly().ld(5).mov(0, 1).mov(1, 2).mov(2, 3)
    spaces(program, 6).add(6, 5, imm=1).exit()
    first = len(program.insts)
    spaces(program.mov(0, 1).mov(1, 2).ld(5), 2).add(6, 5, imm=1).exit()
    second = len(program.insts)
    spaces(program, 1).mov(0, 7).copy(1, 0).copy(2, 0).exit()
    return program, {0: 0, 1: first, 2: second}


def test_h2_a_suspended_warp_drains_one_entry_in_four_cycles() -> None:
    program, starts = h2_program()
    m = machine(program, starts, warps=3, settings=QUICK).run()
    t0 = begin_of(m, 0, hrf.DRAINING)
    assert [w[:2] + w[3:] for w in array_writes(m, 0)][:3] == [(t0, t0 + 4, 0), (t0 + 4, t0 + 8, 1), (t0 + 8, t0 + 12, 2)]
    assert m.issues(1)[0][0] == t0, "the next warp takes over in the same cycle"
    assert states(m, 0)[t0 + 11] == hrf.DRAINING and states(m, 0)[t0 + 12] != hrf.DRAINING
    values = [int(array_value(m, reg, at=t0 + 12)[0]) for reg in range(3)]
    assert values == [1, 2, 3]


def test_h2_reads_of_the_next_warp_do_not_meet_the_drain() -> None:
    program = Assembly().ld(5).mov(0, 1).mov(1, 2).mov(2, 3)
    spaces(program, 6).add(6, 5, imm=1).exit()
    first = len(program.insts)
    for reg in range(1, 6):
        program.add(reg, reg - 1, reg)
    m = machine(program.exit(), {1: first}, warps=2).run()
    t0 = begin_of(m, 0, hrf.DRAINING)
    assert waits(m, BANK_CONFLICT, t0, t0 + 12) == 0 and waits(m, WB_DRAIN, t0, t0 + 12) == 0
    assert len([c for c in counted(m, "rf_reads") if t0 <= c < t0 + 12]) >= 4


def test_h3_a_second_switch_waits_for_the_first_drain() -> None:
    program, starts = h2_program()
    m = machine(program, starts, warps=3, settings=QUICK).run()
    t0 = begin_of(m, 0, hrf.DRAINING)
    assert begin_of(m, 1, hrf.DRAINING) == t0 + 5
    assert registers_in(m.snapshots[t0 + 6], 1) == [0, 1]
    assert [w[:2] for w in array_writes(m, 1)][:2] == [(t0 + 5, t0 + 9), (t0 + 9, t0 + 13)]
    assert issue_cycle(m, "mov.u32 R0, 7", 2) + 3 == t0 + 9
    assert [waits(m, WB_DRAIN, cycle, cycle + 1) for cycle in range(t0 + 8, t0 + 13)] == [0, 1, 1, 1, 0]
    assert [int(s.sm["freeze_code"]) for s in m.snapshots[t0 + 9 : t0 + 14]] == [0, WB_DRAIN, WB_DRAIN, WB_DRAIN, 0]
    taken = m.snapshots[t0 + 13].rf["buffer"][0]
    assert taken["state"] == hrf.FILLING and taken["owner"] == 2 and registers_in(m.snapshots[t0 + 13], 0) == [0]
    assert m.states(2)[t0 + 9 : t0 + 12] == ["wb_drain"] * 3
    assert m.states(0)[t0 + 9 : t0 + 12] == ["long_scoreboard"] * 3, "others keep their own reason"


def test_h4_a_warp_that_comes_back_reads_what_has_drained() -> None:
    """The load returns a cycle after the suspension, into its own entry; R1 is then in the draining buffer."""
    program = spaces(Assembly().mov(0, 5).mov(1, 6), 8).ld(1, offset=4)
    m = machine(spaces(spaces(program, 5).add(2, 1, imm=1), 14).exit(), memory=4, data=[0, 77]).run()
    t0 = begin_of(m, 0, hrf.DRAINING)
    assert counted(m, "wb_late") == [t0 + 1]
    assert issue_cycle(m, "add") == t0 + 1, "asks for R1 in t0 + 2"
    assert counted(m, "rf_reads") == [t0 + 8]
    assert [w[:2] + w[3:] for w in array_writes(m, 0)][:2] == [(t0, t0 + 4, 0), (t0 + 4, t0 + 8, 1)]
    assert waits(m, WB_DRAIN) == 6
    assert begin_of(m, 1, hrf.FILLING) == t0 + 8 + 1 + 4, "the next result goes into the other buffer"
    assert (m.register(0, 2, at=t0 + 14) == 78).all()


def test_h5_a_late_load_overwrites_its_entry_in_the_draining_buffer() -> None:
    program = Assembly()
    for reg in range(5):
        program.mov(reg, reg + 1)
    m = machine(program.mov(5, 1).ld(5, offset=8).add(6, 5, imm=1).exit(), memory=4, data=[0, 0, 4711]).run()
    t0 = begin_of(m, 0, hrf.DRAINING)
    assert registers_in(m.snapshots[t0 + 1], 0) == [0, 1, 2, 3, 4, 5]
    assert counted(m, "wb_late") == [t0 + 6] and m.count("stt_queued") == 0
    assert [w[:2] for w in array_writes(m, 0) if w[3] == 5] == [(t0 + 20, t0 + 24)]
    assert (array_value(m, 5, at=t0 + 24) == 4711).all()
    assert (m.register(0, 5, at=t0 + 6) == 4711).all(), "the newest value is the entry's"
    assert counted(m, "rf_reads") == [t0 + 24], "the reader waits until the entry is in STT-RAM"


def test_h6_a_late_load_without_entry_goes_through_the_queue() -> None:
    program = Assembly()
    for reg in range(5):
        program.mov(reg, reg + 1)
    program = spaces(program, 8).ld(5, offset=8).add(6, 5, imm=1).exit()
    m = machine(program, memory=60, data=[0, 0, 4711]).run()
    t0 = begin_of(m, 0, hrf.DRAINING)
    arrived = counted(m, "stt_queued")[0]
    assert arrived > t0 + 20 and states(m, 0)[arrived] == hrf.EMPTY
    assert array_writes(m, 0)[-1] == (arrived, arrived + 4, 0, 5)
    held = [int(s.sm["warp"][0]["sb_write"]) >> 5 & 1 for s in m.snapshots[1:]]
    assert held[arrived + 3] == 1 and held[arrived + 4] == 0
    assert issue_cycle(m, "add") == arrived + 4
    assert len([c for c in counted(m, "wb_switches") if c < arrived + 4]) == 1
    assert (m.register(0, 5, at=arrived) == 4711).all() and (array_value(m, 5, at=arrived + 3) == 0).all()


def test_h7_lanes_are_merged_and_drained_by_mask() -> None:
    program = Assembly().sreg(8, isa.SREG_LANEID).add(3, 8, imm=100).setp_lt(0, 8, 16)
    suspend(program).mov(3, 7, guard=0).copy(4, 3)
    m = machine(suspend(program, 4).exit()).run()
    merged = counted(m, "wb_merged_reads")
    assert len(merged) == 1
    assert counted(m, "wb_reads").count(merged[0]) == 1 and counted(m, "stt_reads").count(merged[0]) == 1
    lanes = np.arange(32)
    expected = np.where(lanes < 16, 7, 100 + lanes)
    end = issue_cycle(m, "exit")
    assert (m.register(0, 4, at=end) == expected).all() and (m.register(0, 3, at=end) == expected).all()
    assert (array_value(m, 3, at=merged[0]) == 100 + lanes).all(), "the stale copy"
    last = [w for w in array_writes(m, 0) if w[3] == 3][-1]
    assert (array_value(m, 3, at=last[1]) == expected).all()
    written = m.snapshots[last[0] + 1].rf["buffer"]
    assert LOW in [int(b["lanes"][e]) for b in written for e in range(int(b["used"])) if b["reg"][e] == 3]


def test_h8_under_round_robin_a_write_takes_four_cycles() -> None:
    program = Assembly()
    for reg in range(4):
        program.mov(reg, reg)
    m = machine(spaces(program, 4).exit(), warps=4, scheduler="lrr").run()
    taken = counted(m, "wb_writes")
    t = taken[0]
    assert taken[:5] == [t, t + 1, t + 5, t + 9, t + 13]
    assert array_writes(m, 0)[0][:3] == (t + 1, t + 5, 0) and array_writes(m, 1)[0][:3] == (t + 5, t + 9, 1)
    taken = [cycle for cycle in taken if cycle <= issue_cycle(m, "exit")]
    assert len(taken) > 6 and all(b - a >= 4 for a, b in zip(taken[1:], taken[2:], strict=False))
    frozen = [m.states(warp)[t + 2] for warp in range(4)]
    assert frozen == ["wb_drain"] * 4, "a pipeline that stalls books the reason for every warp"


@pytest.mark.parametrize(
    ("second", "order"),
    [("runs", [0, 1, 2, 1, 0, 1, 2]), ("ends", [0, 1, 0, 2, 0, 2]), ("barrier", [0, 1, 0, 2, 0, 2])],
)
def test_h9_active_warps_alternate_in_parity(second: str, order: list[int]) -> None:
    program = Assembly()
    for _ in range(6):
        program.ld(5).add(6, 5, imm=1)
    program.exit()
    first = len(program.insts)
    (program.bar() if second == "barrier" else program).exit()
    m = machine(program, {1: first} if second != "runs" else None, memory=4, warps=3).run()
    active: list[int] = []
    for snapshot in m.snapshots:
        mask = int(snapshot.sm["scheduler"][0]["active"])
        if mask and (not active or mask != 1 << active[-1]):
            active.append(mask.bit_length() - 1)
    if second == "runs":
        assert active[:7] == order
        assert (2, 0) not in zip(active[:14], active[1:15], strict=True), "as long as warp 1 runs"
    else:
        while active[:2] == [0, 1]:
            active = active[2:]
        assert active[:4] in ([0, 2, 0, 2], [2, 0, 2, 0])


def test_h10_the_seventeenth_entry_switches_the_gated_ones_on() -> None:
    def run(number: int) -> Machine:
        program = Assembly()
        for reg in range(number):
            program.mov(reg, reg)
        return machine(suspend(spaces(program, 8)).exit(), design="hrf[power_gating=on]", memory=90).run()

    m = run(17)
    on = [int(s.rf["buffer"][0]["gate_on"]) for s in m.snapshots[1:]]
    seventeenth = counted(m, "wb_writes")[16]
    drained = begin_of(m, 0, hrf.EMPTY, seventeenth)
    assert on.index(1) == seventeenth and on[seventeenth : drained + 1] == [1] * (drained - seventeenth) + [0]
    assert m.count("gate_ons") == 1 and m.count("gate_on_cycles") == drained - seventeenth
    m = run(16)
    assert m.count("gate_ons") == 0 and m.count("gate_on_cycles") == 0
    assert not any(int(s.rf["buffer"][index]["gate_on"]) for s in m.snapshots for index in range(2))


def test_b3_a_guarded_write_leaves_the_other_lanes_alone() -> None:
    program = Assembly().sreg(8, isa.SREG_LANEID).add(8, 8, 8).add(8, 8, 8).ld(2, 8).setp_lt(0, 2, 1)
    spaces(program.mov(1, 7).mov(1, 9, guard=0), 8).exit()
    m = machine(program, data=np.arange(32) % 2, memory=4).run()
    last = counted(m, "wb_overwrites")[-1]
    assert m.register(0, 1, at=last).tolist() == [9, 7] * 16


# other situations


def test_an_active_warp_that_resumes_goes_on_filling_its_buffer() -> None:
    m = machine(spaces(Assembly().mov(1, 1).add(2, 1, 1).add(1, 2, 2), 8).exit()).run()
    assert registers_in(m.snapshots[counted(m, "wb_writes")[-1] + 1], 0) == [1, 2]
    assert m.count("wb_switches") == 1 and m.count("wb_overwrites") == 1 and m.count("stt_writes") == 0


def test_the_register_control_module_belongs_to_the_filling_buffer() -> None:
    program = spaces(Assembly().mov(1, 1).mov(3, 2), 8)
    m = machine(spaces(suspend(program).mov(1, 5), 8).exit()).run()
    first, *_, last = counted(m, "wb_writes")
    assert m.snapshots[first + 1].rf["rcm_valid"] == 1 << 1
    assert m.snapshots[begin_of(m, 0, hrf.DRAINING) + 1].rf["rcm_valid"] == 0
    assert m.snapshots[last + 1].rf["rcm_valid"] == (1 << 18) | (1 << 1)
    assert registers_in(m.snapshots[last + 1], 1) == [18, 1]


def test_a_late_result_is_appended_while_its_buffer_drains() -> None:
    program = spaces(Assembly().mov(0, 1).mov(1, 2).mov(2, 3), 8).ld(5).add(6, 5, imm=1).exit()
    m = machine(program, memory=4, data=[9]).run()
    t0 = begin_of(m, 0, hrf.DRAINING)
    assert counted(m, "wb_late") == [t0 + 6] and m.count("stt_queued") == 0
    assert registers_in(m.snapshots[t0 + 7], 0) == [0, 1, 2, 5]
    assert array_writes(m, 0)[3] == (t0 + 12, t0 + 16, 0, 5)
    assert (array_value(m, 5, at=t0 + 16) == 9).all()


def test_a_full_queue_holds_late_results_at_write_back() -> None:
    """Six loads return, one per cycle; the bank takes four cycles for a write."""
    program = Assembly()
    for reg in range(8):
        program.ld(reg, offset=4 * reg)
    program.add(9, 7, imm=1).exit()
    m = machine(program, memory=40, settings={"memory.bytes_per_cycle": 128}).run()
    assert max(int(s.rf["queue_count"][bank]) for s in m.snapshots for bank in range(2)) == hrf.QUEUE_ENTRIES
    assert waits(m, STT_WRITE) > 0
    assert m.count("rf_writes") == m.count("wb_writes") + m.count("stt_queued") + len(dropped_results(m))


def dropped_results(m: Machine) -> list[int]:
    """Return the cycles in which a result of an exited warp was dropped at write-back."""
    return [s.cycle - 1 for s in m.snapshots for seen in s.rf["seen"][: int(s.rf["num_seen"])]
            if s.rf["seen_cycle"] == s.cycle - 1 and seen["kind"] == hrf.DROPPED]


@pytest.mark.parametrize(("ports", "cycles"), [(3, 1), (2, 2), (1, 3)])
def test_read_ports_of_a_bank(ports: int, cycles: int) -> None:
    m = machine(Assembly().fma(3, 0, 1, 2).exit(), design=f"hrf[read_ports={ports}]").run()
    read = counted(m, "rf_reads")
    assert len(read) == 3 and len(set(read)) == cycles and read[-1] - read[0] == cycles - 1
    assert m.count("read_conflicts") == {1: 0, 2: 1, 3: 3}[cycles]


def test_read_ports_are_checked() -> None:
    with pytest.raises(InputError, match="read_ports"):
        machine(Assembly().exit(), design="hrf[read_ports=4]")


def test_a_bank_that_writes_serves_no_read() -> None:
    """Warp 2 is in warp 0's bank: under `prefer` it may follow warp 0, and reads between two drain writes."""
    program = spaces(Assembly().mov(0, 1).mov(1, 2), 8)
    suspend(program).exit()
    first = len(program.insts)
    program.copy(2, 0).copy(3, 0).exit()
    m = machine(program, {1: len(program.insts) - 1, 2: first}, warps=3, settings={"scheduler.parity": "prefer"}).run()
    t0 = begin_of(m, 0, hrf.DRAINING)
    write = array_writes(m, 0)
    assert write[0][:2] == (t0, t0 + 4)
    read = [c for c in counted(m, "rf_reads") if c > t0]
    assert read[0] == t0 + 4, "the waiting reads go before the next write"
    assert write[1][0] > t0 + 4
    assert waits(m, BANK_CONFLICT, t0, t0 + 4) > 0


def test_a_buffer_takes_as_many_results_as_it_has_ports() -> None:
    """A shared load and a move end in the same cycle."""
    program = spaces(Assembly().ld(1, shared=True).mov(2, 1), 9).exit()
    for ports in (1, 2):
        m = machine(program, design=f"hrf[wb_write_ports={ports}]", settings={"memory.shared_cycles": 4}).run()
        taken = counted(m, "wb_writes")
        assert taken[1] - taken[0] == 2 - ports
        assert m.count("write_conflicts") == 2 - ports


def test_no_program_overflows_a_buffer() -> None:
    """63 registers are the most that an instruction can name: 64 entries suffice (section 4.4)."""
    program = Assembly()
    for reg in range(63):
        program.mov(reg, reg)
    m = machine(spaces(program.mov(7, 1), 8).exit(), registers=63).run()
    last = m.snapshots[counted(m, "wb_writes")[-1] + 1]
    assert int(last.rf["buffer"][0]["used"]) == 63 and registers_in(last, 0) == list(range(63))
    assert m.count("wb_overwrites") == 1 and last.rf["used_histogram"].sum() == 0
    assert m.snapshots[-1].rf["used_histogram"].tolist() == [0] * 15 + [1]


def test_values_of_an_ended_warp_are_dropped() -> None:
    program = Assembly().mov(1, 1).mov(2, 2)
    m = machine(spaces(program, 8).exit()).run()
    assert m.count("stt_writes") == 0 and m.count("wb_dropped") == 2
    assert states(m, 0)[issue_cycle(m, "exit") + 1] == hrf.EMPTY
    m = machine(program, design="hrf[drain_on_exit=true]").run()
    assert m.count("stt_writes") == 2 and m.count("wb_dropped") == 0


def test_a_store_reads_its_operands_before_its_warp_is_forgotten() -> None:
    program = Assembly().mov(1, 5)
    m = machine(spaces(program, 8).st(1, offset=12).exit()).run()
    assert m.simulator.buffers()["data"][3] == 5


def test_a_dropped_write_does_not_touch_the_next_cta() -> None:
    program = spaces(Assembly().mov(1, 5).mov(2, 6), 8).ld(3).exit()
    m = machine(program, ctas=20, settings={"sm.max_ctas": 1}).run()
    begun = [snapshot for snapshot in m.snapshots
             if int(snapshot.sm["resident"]) & 1 and int(snapshot.sm["warp"][0]["num_issued"]) == 0]
    assert m.count("wb_dropped") and len(begun) >= 20
    assert all((snapshot.register(0, reg) == 0).all() for snapshot in begun for reg in range(4))


@pytest.mark.parametrize("scheduler", ["gto", "lrr", "two_level", "switch_on_stall"])
def test_every_scheduler_ends_with_the_same_registers(scheduler: str) -> None:
    program = Assembly().sreg(8, isa.SREG_TID_X).add(8, 8, 8).add(8, 8, 8)
    program.ld(1, 8).add(2, 1, 8).add(1, 2, 1).bar().add(3, 1, 2).st(3, 8, offset=512).exit()
    data = np.arange(1024)
    m = machine(program, warps=4, scheduler=scheduler, data=data, memory=20).run()
    expected = data.copy()
    tid = np.arange(128)
    expected[128:256] = (2 * tid + 4 * tid) + (tid + 4 * tid)
    assert (m.simulator.buffers()["data"] == expected).all()


def test_banks_follow_the_parity_of_warps() -> None:
    m = machine(Assembly().add(1, 2, 3).add(4, 5, 6).exit(), warps=4).run()
    pairs = {(int(s.sm["bank"][b]["owner_warp"]) % 2, b) for s in m.snapshots for b in range(2)
             if int(s.sm["bank"][b]["read"])}
    assert pairs == {(0, 0), (1, 1)}


def test_skipped_cycles_change_nothing() -> None:
    program = suspend(spaces(Assembly().mov(1, 1).mov(2, 2).mov(3, 3), 8))
    whole = machine(suspend(program.add(1, 2, 3)).exit(), warps=2, memory=200)
    slow = machine(program, warps=2, memory=200)
    while not slow.simulator.finished:
        slow.simulator.sm.was_idle = 0           # so that no cycle is skipped
        slow.step()
    for cycle in range(0, slow.simulator.cycle, 7):
        whole.simulator.step(cycle - whole.simulator.cycle)
        assert whole.simulator.snapshot().same_as(slow.snapshots[cycle])


def test_a_recording_shows_what_ran(tmp_path: Any) -> None:
    program = suspend(spaces(Assembly().mov(1, 1).mov(2, 2).add(3, 1, 2), 8))
    live = machine(suspend(program.add(1, 2, 3)).exit(), warps=3).run()
    record(machine(program, warps=3).simulator, tmp_path / "hrf.rfs")
    replay = open_recording(tmp_path / "hrf.rfs")
    for cycle in range(0, live.simulator.cycle, 11):
        assert replay.at(cycle).same_as(live.snapshots[cycle])
    replay.close()


# figures of the paper


def test_buffers_have_155648_bits_and_leak_37_mw() -> None:
    """Section 4.4 and Table 1: 2 x 64 entries x 38 bits x 32 lanes; leakage by bits of the 128 KB SRAM."""
    assert hrf.WB_BITS == 2 * 64 * 38 * 32 == 155_648
    assert hrf.TECHNOLOGY["wb_leakage_mw"][0] == pytest.approx(36.9, abs=0.05)
    assert hrf.TECHNOLOGY["leakage_mw"][0] == pytest.approx(53.1, abs=0.05)
    assert hrf.TECHNOLOGY["leakage_mw"][0] / sram.TECHNOLOGY["leakage_mw"][0] == pytest.approx(0.21, abs=0.005)


def test_area_counts_both_buffers() -> None:
    """Section 6.5: 28.3 % is the area with one buffer; with the two that leak it is 36.8 %. Bare STT-RAM: 19.6 %."""
    sram_mm2 = sram.TECHNOLOGY["area_mm2"][0]
    assert hrf.area_mm2({"hrf.power_gating": 1}) / sram_mm2 == pytest.approx(0.368, abs=0.0005)
    one = hrf.STT_AREA_MM2 + hrf.GATING_AREA * hrf.WB_AREA_MM2 / 2
    assert one / sram_mm2 == pytest.approx(0.282, abs=0.0005)
    assert hrf.STT_AREA_MM2 / sram_mm2 == pytest.approx(0.196, abs=0.0005)
    assert hrf.area_mm2({"hrf.power_gating": 0}) < hrf.area_mm2({"hrf.power_gating": 1})


def energy_of(cycles: int, gating: int, **counts: int) -> dict[str, float]:
    """Return the energy of made-up counts at 700 MHz."""
    return hrf.energy(Run(counts, cycles, 700.0, {"hrf.power_gating": gating}))


def test_power_gating_leaks_27_mw_while_both_buffers_are_small() -> None:
    """Table 2: a gated buffer leaks 0.30 of itself, x1.00 while on; 700 cycles at 700 MHz are 1 us."""
    assert energy_of(700, 0)["leakage"] == pytest.approx(53.1e3, rel=1e-3)
    assert energy_of(700, 1)["leakage"] == pytest.approx(27.3e3, rel=2e-3)
    assert energy_of(700, 1, gate_on_cycles=1400)["leakage"] == pytest.approx(energy_of(700, 0)["leakage"])
    half = (energy_of(700, 1)["leakage"] + energy_of(700, 0)["leakage"]) / 2
    assert energy_of(700, 1, gate_on_cycles=700)["leakage"] == pytest.approx(half)


def test_energy_per_access() -> None:
    """Table 1: pJ per bit of SRAM and STT-RAM; Table 2: a gated buffer's accesses cost x1.04."""
    assert energy_of(0, 0, stt_reads=1)["dynamic"] == pytest.approx(0.239 * 1024)
    assert energy_of(0, 0, stt_writes=1)["dynamic"] == pytest.approx(0.300 * 1024)
    assert energy_of(0, 0, wb_reads=1)["dynamic"] == pytest.approx(0.203 * 1024)
    assert energy_of(0, 0, wb_writes=1)["dynamic"] == pytest.approx(0.191 * 1216)
    assert energy_of(0, 1, wb_writes=1)["dynamic"] == pytest.approx(1.04 * 0.191 * 1216)
    assert energy_of(0, 1, stt_writes=1)["dynamic"] == pytest.approx(0.300 * 1024)


def test_the_papers_shares_are_those_of_two_buffers() -> None:
    """Section 5.1 and Figure 10: buffers' leakage is 39 % of HRF, HRF 34 %, gated 25 % of SRAM's power."""
    whole_mw = hrf.WB_LEAKAGE_MW / 0.39
    assert whole_mw == pytest.approx(94.7, abs=0.1)
    sram_mw = whole_mw / 0.34
    assert sram_mw == pytest.approx(278, abs=1)
    gated_mw = whole_mw - 0.7 * hrf.WB_LEAKAGE_MW + (hrf.GATING_DYNAMIC - 1) * (whole_mw - 53.1) / 2
    assert gated_mw / sram_mw == pytest.approx(0.253, abs=0.006)


def test_table_1_ratios_and_the_active_period() -> None:
    """Table 1: an STT-RAM write takes 4 cycles; section 4.1: 11000 cycles away over 47 other warps is 234 cycles active;
    section 5.1: 48 of 64 entries are gated."""
    assert next(p.default for p in hrf.PARAMETERS if p.name == "write_cycles") == 4
    assert 11000 // 47 == 234
    assert (hrf.ENTRIES - hrf.ALWAYS_ON) / hrf.ENTRIES == 0.75


def test_energy_equals_the_counted_events() -> None:
    m = machine(suspend(spaces(Assembly().mov(1, 1).add(2, 1, 1), 8)).exit(), warps=2).run()
    counts = m.simulator.counts()
    energy = m.simulator.energy()
    assert energy["dynamic"] == pytest.approx(sum(counts[name] * pj for name, (pj, _) in hrf.ENERGY_PJ.items()))
    assert energy["leakage"] == pytest.approx(hrf.TECHNOLOGY["leakage_mw"][0] * 1e3 * m.simulator.cycle / 700)
    assert counts["stt_reads"] == counts["rf_reads"]


# random programs


REGS = 6
ADDRESS, THREADS_MOST = 8, 128
LOADS = REGS * THREADS_MOST
Op = tuple[str, int, int, int, int]      # kind, destination, two sources, guard: 0 none, 1 on P0, 2 on not P0


def op_lists(most: int) -> Any:
    """Return a strategy for the bodies of random programs."""
    reg = st.integers(0, REGS - 1)
    kind = st.sampled_from(["mov", "add", "add", "add3", "ld", "space", "use", "bar"])
    return st.lists(st.tuples(kind, reg, reg, reg, st.sampled_from([0, 0, 0, 1, 2])), min_size=1, max_size=most)


def assemble(body: list[Op], warps: int) -> Assembly:
    """Return a program: P0 holds in the lower half of the lanes; at the end every register is stored."""
    program = Assembly().sreg(9, isa.SREG_LANEID).setp_lt(0, 9, 16)
    program.sreg(ADDRESS, isa.SREG_TID_X).add(ADDRESS, ADDRESS, ADDRESS).add(ADDRESS, ADDRESS, ADDRESS)
    for number, (kind, dst, a, b, guard) in enumerate(body):
        more = {"guard": 0, "negate": guard == 2} if guard else {}
        if kind == "mov":
            program.mov(dst, 1000 + number, **more)
        elif kind == "add":
            program.add(dst, a, b, **more)
        elif kind == "add3":
            program.fma(dst, a, b, dst, **more)
        elif kind == "ld":
            program.ld(dst, ADDRESS, offset=4 * (LOADS + number), **more)
        elif kind == "use":
            program.add(a, dst, imm=1)
        elif kind == "bar":
            program.bar()
        else:
            spaces(program, 1)
    for reg in range(REGS):
        program.st(reg, ADDRESS, offset=4 * reg * 32 * warps)
    return program.exit()


def expected_memory(body: list[Op], warps: int, data: np.ndarray) -> np.ndarray:
    """Return the memory that the program must leave, computed for all threads at once."""
    threads = 32 * warps
    regs = np.zeros((REGS, threads), np.uint32)
    low = np.arange(threads) % 32 < 16
    with np.errstate(all="ignore"):
        for number, (kind, dst, a, b, guard) in enumerate(body):
            lanes = np.ones(threads, bool) if guard == 0 or kind in ("use", "bar") else low if guard == 1 else ~low
            if kind == "mov":
                value = np.full(threads, 1000 + number, np.uint32)
            elif kind == "add":
                value = regs[a] + regs[b]
            elif kind == "add3":
                f = regs.view(np.float32).astype(np.float64)
                value = (f[a] * f[b] + f[dst]).astype(np.float32).view(np.uint32)
            elif kind == "ld":
                value = data[LOADS + number : LOADS + number + threads]
            elif kind == "use":
                dst, value = a, regs[dst] + np.uint32(1)
            else:
                continue
            regs[dst] = np.where(lanes, value, regs[dst])
    after = data.copy()
    after[: REGS * threads] = regs.reshape(-1)
    return after


def check_state(snapshot: Any) -> None:
    """Check the invariants of buffers and queues after every cycle."""
    rf = snapshot.rf
    filling = [b for b in rf["buffer"] if b["state"] == hrf.FILLING]
    assert len(filling) <= 1
    for index, buffer in enumerate(rf["buffer"]):
        used, position = int(buffer["used"]), int(buffer["position"])
        assert used <= hrf.ENTRIES and (buffer["state"] == hrf.EMPTY) == (used == 0)
        assert position < used or used == 0
        if buffer["state"] == hrf.FILLING:
            regs = registers_in(snapshot, index)
            assert len(set(regs)) == len(regs) and position == 0
            assert int(rf["rcm_valid"]) == sum(1 << reg for reg in regs)
            assert [int(rf["rcm_index"][reg]) for reg in regs] == list(range(used))
    if not filling:
        assert rf["rcm_valid"] == 0
    for bank in range(2):
        assert int(rf["queue_count"][bank]) <= hrf.QUEUE_ENTRIES
        if rf["bank_writes"][bank] != hrf.NOTHING:
            assert int(snapshot.sm["bank"][bank]["until_cycle"]) >= snapshot.cycle
        assert int(snapshot.sm["bank"][bank]["read"]) <= 1
    held = [(int(w["warp"]), int(w["reg"])) for q in rf["queue"] for w in q if w["warp"] != NONE8]
    assert len(held) == len(set(held)) or int(rf["queue_count"].sum()) < len(held)


OPTIONS = ["", "[power_gating=1]", "[drain_on_exit=1]", "[read_ports=1,wb_write_ports=1]", "[write_cycles=9]"]


@settings(max_examples=5 if WITHOUT_JIT else 25, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    body=op_lists(9),
    warps=st.integers(1, 4),
    scheduler=st.sampled_from(["switch_on_stall", "switch_on_stall", "lrr", "gto", "two_level"]),
    option=st.sampled_from(OPTIONS),
    parity=st.sampled_from(["strict", "prefer", "off"]),
    memory=st.sampled_from([1, 6, 30]),
)
def test_random_programs_leave_the_right_memory(
    body: list[Op], warps: int, scheduler: str, option: str, parity: str, memory: int
) -> None:
    data = (np.random.RandomState(len(body)).randint(0, 1 << 20, 1024)).astype(np.uint32)
    m = machine(assemble(body, warps), warps=warps, scheduler=scheduler, design="hrf" + option, data=data, memory=memory,
                settings={"scheduler.parity": parity} | QUICK).run(6000)
    assert (m.simulator.buffers()["data"] == expected_memory(body, warps, data)).all()
    for snapshot in m.snapshots:
        check_state(snapshot)
    check_totals(m)


def check_totals(m: Machine) -> None:
    """Check that all warp-cycles, results and array writes are accounted for."""
    counts = m.simulator.counts()
    summary = m.simulator.summary()
    assert summary["issued"] + sum(summary["stalls"].values()) == summary["warp_cycles"]
    taken = counts["wb_writes"] + counts["stt_queued"] + len(dropped_results(m))
    assert counts["rf_writes"] == taken
    assert counts["stt_reads"] == counts["rf_reads"] >= counts["wb_reads"] >= counts["wb_merged_reads"]
    assert counts["wb_periods"] == counts["wb_switches"], "every buffer that was taken has been given up"
    assert counts["stt_writes"] <= counts["wb_drain_reads"] + counts["stt_queued"]
    entries = counts["wb_writes"] - counts["wb_overwrites"]
    assert counts["wb_drain_reads"] <= entries
    if not any(s.rf["bank_writes"].any() and (s.rf["bank_writes"] == hrf.ABANDONED).any() for s in m.snapshots):
        dropped = counts["wb_dropped"] - len(dropped_results(m))
        assert entries + counts["stt_queued"] == counts["stt_writes"] + dropped
    table = sum(counts[name] * pj * (1.04 if name.startswith("wb") and m.simulator.built.values["hrf.power_gating"] else 1)
                for name, (pj, _) in hrf.ENERGY_PJ.items())
    assert m.simulator.energy()["dynamic"] == pytest.approx(table)


@settings(max_examples=2 if WITHOUT_JIT else 6, deadline=None, suppress_health_check=list(HealthCheck))
@given(body=op_lists(8), warps=st.integers(1, 3))
def test_random_programs_end_as_under_sram(body: list[Op], warps: int) -> None:
    data = np.arange(1024, dtype=np.uint32)
    ends = []
    for design in ("sram", "hrf"):
        m = machine(assemble(body, warps), warps=warps, design=design, data=data, memory=6, settings=QUICK)
        m.simulator.run()
        ends.append(m.simulator.snapshot().memory)
    assert np.array_equal(*ends)


def test_the_machine_is_the_papers() -> None:
    m = machine(Assembly().exit())
    values: dict[str, Any] = m.simulator.info.parameters
    assert values["sm.num_schedulers"] == 1 and values["scheduler.parity"] == "strict"
    assert values["sm.num_banks"] * values["sm.rows_per_bank"] * 32 * 4 == 128 * 1024
    assert isinstance(m.simulator, Simulator) and m.simulator.design.paper_scheduler == "switch_on_stall"
    assert m.simulator.built.extra_rows == 2 * 64 + 2 * 4
    assert {stall.family for stall in hrf.DESIGN.stalls} == {"register_file"}
