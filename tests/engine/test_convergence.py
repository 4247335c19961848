"""Divergence of machine code: convergence barriers, WARPSYNC, giving way, CTA barriers and jumps, by small programs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from rfview.engine import isa
from rfview.engine.errors import KernelFault
from rfview.engine.machine_code import CODE_BASE
from rfview.engine.program import SPACE_SHARED
from tests.engine.machine_programs import PT, begin, c, exit_, inst, keep, operands, place, plain_only, r, run, to, wide

pytestmark = [pytest.mark.nojit, plain_only]
LANES = np.arange(32)


def compare(kind: int, a: Any, b: Any, pred: int = 0) -> np.ndarray:
    """Return ISETP.U32 of a predicate."""
    return inst(isa.OP_SETP_U32, (), operands(a, b), aux=kind, pdst=(pred,), psrc=(PT,), flags=isa.FLAG_BOOL_AND)


def active(reg: int) -> np.ndarray:
    """Return an instruction that gives the lanes that execute it."""
    return inst(isa.OP_VOTE_BOTH, reg, psrc=(PT,), aux=isa.VOTE_ANY, flags=isa.FLAG_NO_SYNC)


def bssy(barrier: int) -> np.ndarray:
    return inst(isa.OP_BSSY, aux=barrier)


def bsync(barrier: int) -> np.ndarray:
    return inst(isa.OP_BSYNC, aux=barrier)


def bra(label: str, **fields: Any) -> Any:
    return to(label, isa.OP_BRA, **fields)


def warpsync(mask: Any, **fields: Any) -> np.ndarray:
    return inst(isa.OP_WARPSYNC, (), (mask,), **fields)


def add(reg: int, value: int) -> np.ndarray:
    return inst(isa.OP_ADD32, reg, operands(r(reg), value))


def go(program: list[Any], columns: int = 1, **options: Any) -> np.ndarray:
    """Run a program after `begin`, on zeros."""
    block = options.get("block", 32) * options.get("grid", 1)
    return run([*begin(columns), *program, exit_()], np.zeros((block, columns)), columns, **options)


def test_lanes_of_both_sides_of_a_branch_meet_at_the_convergence_barrier() -> None:
    out = go([compare(isa.CMP_LT, r(0), 10), bssy(0), bra("else", guard=(0, 1)), active(6), bra("end"), "else", active(6), "end",
              bsync(0), active(7), keep(6, 0), keep(7, 1)], 2)
    assert out[:, 0].tolist() == [0x3FF] * 10 + [0xFFFFFC00] * 22 and set(out[:, 1]) == {0xFFFFFFFF}


def test_lanes_that_leave_a_barrier_or_exit_are_not_waited_for() -> None:
    # lanes 0-3 BREAK, lanes 4-7 exit, the others meet without them
    out = go([bssy(3), compare(isa.CMP_LT, r(0), 8), bra("rest", guard=(0, 1)), compare(isa.CMP_LT, r(0), 4, 1),
              inst(isa.OP_EXIT, guard=(1, 1)), inst(isa.OP_BREAK, aux=3), bra("after"), "rest", bsync(3), active(6), keep(6, 0),
              exit_(), "after", active(6), keep(6, 0)])
    assert out[:, 0].tolist() == [15] * 4 + [0] * 4 + [0xFFFFFF00] * 24


def test_lanes_leave_a_loop_one_by_one_and_meet_behind_it() -> None:
    out = go([inst(isa.OP_MOV32, 6, (0,)), bssy(1), "loop", add(6, 1), compare(isa.CMP_GE, r(0), r(6)), bra("loop", guard=(0, 0)),
              bsync(1), active(7), keep(6, 0), keep(7, 1)], 2)
    assert out[:, 0].tolist() == [lane + 1 for lane in range(32)] and set(out[:, 1]) == {0xFFFFFFFF}


def test_a_condition_of_a_branch_and_its_guard_both_choose_lanes() -> None:
    out = go([compare(isa.CMP_LT, r(0), 8, 0), compare(isa.CMP_GE, r(0), 4, 1), inst(isa.OP_MOV32, 6, (1,)),
              bra("there", guard=(0, 0), psrc=((1, 0),), aux=isa.BRA_IF), inst(isa.OP_MOV32, 6, (2,)), "there", keep(6, 0)])
    assert out[:, 0].tolist() == [2] * 4 + [1] * 4 + [2] * 24


def call(label: str, back: str, registers: tuple[int, int]) -> list[Any]:
    """Return a call of a function whose return address is in a pair of registers, relative to the program's beginning."""
    return [to(back, isa.OP_MOV32, registers[0], (0,)), inst(isa.OP_MOV32, registers[1], (0,)), bra(label)]


def with_returns(program: list[Any]) -> np.ndarray:
    """Return a program in which moves with a target get its byte offset as their immediate."""
    insts = place(program)
    moves = (insts["op"] == isa.OP_MOV32) & (insts["target"] != 0)
    insts["imm"][moves, 0] = insts["target"][moves] * 16
    insts["target"][moves] = 0
    return insts


def test_a_function_saves_the_barrier_at_which_lanes_of_its_caller_wait() -> None:
    # odd lanes call; even ones wait at B0. The function diverges and meets at its own B0, saved in R20, then lanes return.
    program = [*begin(2), compare(isa.CMP_EQ, r(30), 1), bssy(0),
               inst(isa.OP_AND32, 30, operands(r(0), 1)), compare(isa.CMP_EQ, r(30), 1), bra("end", guard=(0, 1)),
               *call("f", "end", (22, 23)), "end", bsync(0), active(7), keep(6, 0), keep(7, 1), exit_(),
               "f", inst(isa.OP_BMOV, 20, aux=isa.BMOV_CLEAR), compare(isa.CMP_LT, r(0), 16, 1), bssy(0), bra("inner", guard=(1, 0)),
               inst(isa.OP_MOV32, 8, (1,)), "inner", bsync(0), active(6),
               inst(isa.OP_BMOV, (), (r(20),), aux=isa.BMOV_TO_BARRIER), inst(isa.OP_JUMP, (), (r(22), r(23)))]
    out = run(list(with_returns(program)), np.zeros((32, 2)), 2)
    assert out[:, 0].tolist() == [0, 0xAAAAAAAA] * 16 and set(out[:, 1]) == {0xFFFFFFFF}


def test_lanes_name_each_other_at_different_places_and_go_on_where_they_are() -> None:
    out = go([compare(isa.CMP_LT, r(0), 16), bra("second", guard=(0, 1)), warpsync(0xFFFFFFFF), active(6), bra("end"),
              "second", warpsync(0xFFFFFFFF), active(6), "end", keep(6, 0)])
    assert out[:, 0].tolist() == [0xFFFF] * 16 + [0xFFFF0000] * 16


def test_a_collective_lets_all_go_on_at_one_place_and_then_apart() -> None:
    shuffle = inst(isa.OP_SHFL, 6, {0: r(0), 2: 16, 4: 31}, aux=isa.SHFL_BFLY, flags=isa.FLAG_NO_SYNC)
    out = go([compare(isa.CMP_LT, r(0), 5), bra("second", guard=(0, 1)),
              (warpsync(0xFFFFFFFF, aux=isa.WARPSYNC_COLLECTIVE), "first_end"), shuffle, inst(isa.OP_ENDCOLLECTIVE), "first_end",
              inst(isa.OP_MOV32, 7, (1,)), bra("end"), "second", (warpsync(0xFFFFFFFF, aux=isa.WARPSYNC_COLLECTIVE), "second_end"),
              shuffle, inst(isa.OP_ENDCOLLECTIVE), "second_end", inst(isa.OP_MOV32, 7, (2,)), "end", keep(6, 0), keep(7, 1)], 2)
    assert out[:, 0].tolist() == (LANES ^ 16).tolist() and out[:, 1].tolist() == [1] * 5 + [2] * 27


@pytest.mark.parametrize("aux, together", [(0, 0xFFFFFFF7), (isa.WARPSYNC_EXCLUSIVE, 0)])
def test_lanes_of_one_place_that_name_different_members_wait_apart(aux: int, together: int) -> None:
    out = go([inst(isa.OP_SHR_U32, 8, operands(r(0), 4)), inst(isa.OP_SHL32, 8, operands(r(8), 4)),
              inst(isa.OP_SHL32, 9, operands(0xFFFF, r(8))), compare(isa.CMP_EQ, r(0), 3), bra("late", guard=(0, 0)),
              warpsync(r(9), aux=aux), active(6), bra("end"), "late", warpsync(r(9), aux=aux), active(6), "end", keep(6, 0)])
    assert out[:, 0].tolist() == [(together or 0xFFF7) if lane != 3 else 8 for lane in range(16)] + [together or 0xFFFF0000] * 16


def test_a_branch_on_divergence_asks_whether_the_split_is_all_live_lanes() -> None:
    out = go([compare(isa.CMP_GE, r(0), 20), inst(isa.OP_EXIT, guard=(0, 0)), inst(isa.OP_MOV32, 6, (0,)),
              to("a", isa.OP_BRA, (), (0xFFFFFFFF,), aux=isa.BRA_DIV), add(6, 1), "a",
              to("b", isa.OP_BRA, (), (0xFFFFFFFF,), aux=isa.BRA_CONV), add(6, 2), "b",
              compare(isa.CMP_LT, r(0), 7), bra("half", guard=(0, 1)), to("half", isa.OP_BRA, (), (0xFFFFFFFF,), aux=isa.BRA_DIV),
              add(6, 4), "half", keep(6, 0)])
    assert out[:, 0].tolist() == [1] * 20 + [0] * 12


def test_lanes_at_a_convergence_barrier_give_way_to_those_that_wait_for_them_elsewhere() -> None:
    # lanes 0-15 wait at B0 for the others, which wait at a WARPSYNC of all: the barrier is divided
    out = go([bssy(0), compare(isa.CMP_LT, r(0), 16), bra("meet", guard=(0, 0)), warpsync(0xFFFFFFFF), active(6), "meet", bsync(0),
              bra("first", guard=(0, 0)), active(7), keep(6, 0), keep(7, 1), exit_(), "first", warpsync(0xFFFFFFFF), active(6),
              keep(6, 0)], 2)
    assert out[:, 0].tolist() == [0xFFFF] * 16 + [0xFFFF0000] * 16 and out[16:, 1].tolist() == [0xFFFF0000] * 16


@pytest.mark.parametrize("spins", ["YIELD", "an atomic"])
def test_a_lane_that_waits_for_company_gives_way_to_those_that_wait_for_its_lock(spins: str) -> None:
    # R6 = the lock (word 0 of out's first row); the winner waits at B0 with the lock in its hand, and frees it behind
    take = inst(isa.OP_ATOM, 6, {0: c(0), 1: c(4), 2: 0, 4: 1}, aux=isa.ATOM_CAS | isa.T_U32 << 8)
    if spins == "YIELD":
        take["polls"] = 0
    count = inst(isa.OP_RED, (), {0: c(8), 1: c(12), 2: 1}, aux=isa.ATOM_ADD | isa.T_U32 << 8)
    free = inst(isa.OP_ST, (), {0: c(0), 1: c(4), 2: 0})
    out = go([bssy(0), "spin", take, compare(isa.CMP_EQ, r(6), 0), *([inst(isa.OP_YIELD)] if spins == "YIELD" else []),
              bra("spin", guard=(0, 1)), bsync(0), count, free])
    assert out[0, 0] == 32


def test_a_whole_split_waits_at_a_barrier_also_lanes_off_by_predicate() -> None:
    # two warps; in the first, half of the lanes are switched off at the barrier, and are counted all the same
    store = inst(isa.OP_ST, (), {0: 0, 1: 0, 2: 7}, space=SPACE_SHARED, guard=(1, 0))
    out = go([compare(isa.CMP_LT, r(0), 16), compare(isa.CMP_GE, r(0), 32, 1), store, bra("second", guard=(1, 0)),
              inst(isa.OP_BAR, (), operands(0, 0), guard=(0, 0)), bra("after"), "second", inst(isa.OP_BAR, (), operands(0, 0)), "after",
              inst(isa.OP_LD, 6, (0, 0), space=SPACE_SHARED), keep(6, 0)], block=64, shared=4)
    assert out[:, 0].tolist() == [7] * 64


@pytest.mark.parametrize(("kind", "wanted"), [(isa.BAR_RED_POPC, 20), (isa.BAR_RED_AND, 0), (isa.BAR_RED_OR, 1)])
def test_the_result_of_a_reducing_barrier_is_read_later(kind: int, wanted: int) -> None:
    out = go([compare(isa.CMP_LT, r(0), 20), inst(isa.OP_BAR, (), operands(2, 0), aux=kind, psrc=((0, 0),)),
              inst(isa.OP_B2R, 6, pdst=(1,)), keep(6, 0), inst(isa.OP_P2R, 7, operands(2, 0)), keep(7, 1)], 2, block=64)
    assert set(out[:, 0]) == {wanted} and set(out[:, 1]) == {2 * (wanted != 0)}


def test_barriers_in_registers_have_number_and_threads_in_their_own_bits() -> None:
    # warp 1 arrives at barrier 3 of 64 threads without waiting; the register holds both: threads in bits 16 to 27
    both = 64 << 16 | 3
    out = go([inst(isa.OP_MOV32, 6, (both,)), compare(isa.CMP_GE, r(0), 32), bra("arrive", guard=(0, 0)),
              inst(isa.OP_BAR, (), operands(r(6), r(6)), aux=isa.BAR_SYNC), inst(isa.OP_LD, 7, (0, 0), space=SPACE_SHARED), keep(7, 0),
              exit_(), "arrive", inst(isa.OP_ST, (), {0: 0, 1: 0, 2: 9}, space=SPACE_SHARED),
              inst(isa.OP_BAR, (), operands(r(6), r(6)), aux=isa.BAR_ARRIVE)], block=64, shared=4)
    assert out[:, 0].tolist() == [9] * 32 + [0] * 32


def test_a_jump_takes_every_lane_where_its_own_address_says() -> None:
    # code addresses; lane k % 3 chooses one of three places
    program = [*begin(1), inst(isa.OP_INT, 6, operands(r(0), 3), aux=isa.INT_REM | isa.T_U32 << 8),
               inst(isa.OP_SHL32, 6, operands(r(6), 5)), inst(isa.OP_MOV32, 7, (CODE_BASE >> 32,)), "jump",
               inst(isa.OP_JUMP, (), (r(6), r(7))), "table", inst(isa.OP_MOV32, 8, (100,)), bra("end"),
               inst(isa.OP_MOV32, 8, (101,)), bra("end"), inst(isa.OP_MOV32, 8, (102,)), "end", keep(8, 0), exit_()]
    insts = place(program)
    at = next(pc for pc in range(len(insts)) if insts[pc]["op"] == isa.OP_JUMP)
    insts[at]["offset"] = 16 * (at + 1)
    assert run(list(insts), np.zeros((32, 1)), 1)[:, 0].tolist() == [100 + lane % 3 for lane in range(32)]


def test_a_relative_jump_adds_a_signed_word_to_its_target() -> None:
    # as BRX: lane k goes 2 * (k % 3) instructions back from the one behind "before"
    program = [*begin(1), inst(isa.OP_INT, 6, operands(r(0), 3), aux=isa.INT_REM | isa.T_U32 << 8),
               inst(isa.OP_MUL_LO32, 6, operands(r(6), -32)), to("before", isa.OP_JUMP, (), (r(6), 0), offset=16),
               inst(isa.OP_MOV32, 8, (102,)), bra("end"), inst(isa.OP_MOV32, 8, (101,)), "before", bra("end"),
               inst(isa.OP_MOV32, 8, (100,)), "end", keep(8, 0), exit_()]
    assert run(program, np.zeros((32, 1)), 1)[:, 0].tolist() == [100 + lane % 3 for lane in range(32)]


def test_a_jump_outside_of_the_code_is_a_fault_that_names_the_lane() -> None:
    with pytest.raises(KernelFault, match=r"calls through a pointer that holds no function.*warp 0, lane 5"):
        go([compare(isa.CMP_EQ, r(0), 5), inst(isa.OP_MOV32, 6, (0,)), inst(isa.OP_MOV32, 7, (CODE_BASE >> 32,)),
            inst(isa.OP_MOV32, 6, (0x7FFFFFF0,), guard=(0, 0)), inst(isa.OP_JUMP, (), (r(6), r(7)), guard=(0, 0))])


def test_code_without_an_end_is_a_fault() -> None:
    with pytest.raises(KernelFault, match="calls through a pointer"):
        run([*begin(1), add(6, 1)], np.zeros((32, 1)), 1)


def test_a_warp_that_can_never_go_on_is_a_fault() -> None:
    # all lanes wait at a barrier of 64 threads, of which there are 32
    with pytest.raises(KernelFault, match="waits at a barrier that can never complete.*lane 0"):
        go([inst(isa.OP_BAR, (), operands(1, 64))])


def test_a_guard_of_true_negated_lets_no_lane_execute() -> None:
    out = go([inst(isa.OP_MOV32, 6, (1,)), inst(isa.OP_MOV32, 6, (2,), guard=(255, 1)), inst(isa.OP_EXIT, guard=(255, 1)), keep(6, 0)])
    assert set(out[:, 0]) == {1}


def test_a_uniform_predicate_and_register_take_the_first_executing_lane() -> None:
    out = go([compare(isa.CMP_GE, r(0), 9), inst(isa.OP_MOV32, 3, (r(0),), dst_uniform=1, guard=(0, 0)),
              inst(isa.OP_MOV32, 6, (("uniform_mask", 3),)), compare(isa.CMP_GE, r(0), 9, 8), inst(isa.OP_MOV32, 7, (5,)),
              inst(isa.OP_MOV32, 7, (4,), guard=(8, 0)), keep(6, 0), keep(7, 1)], 2)
    assert set(out[:, 0]) == {9} and set(out[:, 1]) == {5}


def test_addresses_add_a_uniform_part_and_scale_the_register() -> None:
    given = np.arange(64).reshape(32, 2)
    program = [*begin(2), inst(isa.OP_MOV64, (4, 5), wide((c(0), c(4))), dst_uniform=1),
               inst(isa.OP_LD, 6, {0: r(0), 1: 0, 6: ("uniform_mask", 4), 7: ("uniform_mask", 5)}, scale=2, offset=4),
               inst(isa.OP_ST, (), {0: r(0), 1: 0, 2: r(6), 6: 64, 7: 0}, scale=2, offset=-64, space=SPACE_SHARED),
               inst(isa.OP_SUB32, 7, operands(r(0), 16)),
               inst(isa.OP_LD, 8, {0: r(7), 1: 0, 6: 64, 7: 0}, scale=2, space=SPACE_SHARED), keep(6, 0), keep(8, 1), exit_()]
    out = run(program, given, 2, shared=128)
    assert out[:, 0].tolist() == (LANES + 1).tolist() and out[:, 1].tolist() == (LANES + 1).tolist()


def test_a_compare_and_swap_can_say_whether_it_swapped() -> None:
    swap = inst(isa.OP_ATOM, 6, {0: 0, 1: 0, 2: r(0), 4: 8}, space=SPACE_SHARED, aux=isa.ATOM_CAS | isa.T_U32 << 8,
                flags=isa.FLAG_ATOM_SUCCESS, pdst=(0,))
    out = go([swap, inst(isa.OP_P2R, 7, operands(1, 0)), keep(6, 0), keep(7, 1)], 2, shared=4)
    assert out[:, 0].tolist() == [1] + [0] * 7 + [1] + [0] * 23 and (out[:, 0] == out[:, 1]).all()


def test_a_kernel_may_have_255_registers_and_all_shared_memory_of_today() -> None:
    high = 254
    out = go([inst(isa.OP_ADD32, high, operands(r(0), 1)), inst(isa.OP_ST, (), {0: 0, 1: 0, 2: r(high)}, space=SPACE_SHARED,
              offset=(228 << 10) - 4), inst(isa.OP_LD, 6, (0, 0), space=SPACE_SHARED, offset=(228 << 10) - 4), keep(6, 0)],
             block=256, registers=255, shared=228 << 10)
    assert set(out[:, 0]) == {32, 64, 96, 128, 160, 192, 224, 256}


def test_loops_that_poll_give_way_together_to_the_lane_that_waits_for_both() -> None:
    # lanes 0 and 1 poll a word each; lane 2 waits at B0 for both, and stores what they wait for behind it
    polls = {lane: [f"poll{lane}", inst(isa.OP_LD, 6, {0: c(8), 1: c(12)}, offset=4 * lane, polls=1), compare(isa.CMP_EQ, r(6), 0),
                    bra(f"poll{lane}", guard=(0, 0)), bra("meet")] for lane in (0, 1)}
    stores = [inst(isa.OP_ST, (), {0: c(8), 1: c(12), 2: 7 + lane}, offset=4 * lane, guard=(2, 0)) for lane in (0, 1)]
    out = go([bssy(0), compare(isa.CMP_GE, r(0), 2, 2), compare(isa.CMP_EQ, r(0), 1, 1), bra("meet", guard=(2, 0)),
              bra("poll1", guard=(1, 0)), *polls[0], *polls[1], "meet", bsync(0), *stores])
    assert out[:2, 0].tolist() == [7, 8]


def test_a_branch_on_divergence_takes_all_lanes_and_compares_those_of_its_guard() -> None:
    # with a guard that excludes lane 5, the lanes are not all of the mask: all of them branch, lane 5 too
    out = go([compare(isa.CMP_EQ, r(0), 5), inst(isa.OP_MOV32, 6, (0,)),
              to("there", isa.OP_BRA, (), (0xFFFFFFFF,), aux=isa.BRA_DIV, guard=(0, 1)), add(6, 1), "there", keep(6, 0)])
    assert set(out[:, 0]) == {0}
