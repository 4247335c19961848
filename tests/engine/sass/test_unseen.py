"""Programs of machine code for what strangers' programs had first: lanes that wait in groups, and kinds of atomics."""

from __future__ import annotations

import struct

import numpy as np
import pytest

from rfview.engine.functional.machine import FunctionalSimulator
from rfview.engine.machine.stages import convergence
from rfview.engine.sass.cubin import GENERIC64, OBJECT, Cubin, Relocation, Section, Symbol
from rfview.engine.sass.disassemble import _variables
from rfview.engine.launch import load_launch_file
from rfview.engine.sass.module import STACK_BYTES, module_of_listing
from rfview.engine.sass.operands import operand_of, split
from rfview.engine.simulator import Simulator
from rfview.engine.state import NONE8, SPLIT_BSYNC, SPLIT_FREE, SPLIT_READY
from tests.engine.machine_programs import plain_only
from tests.engine.one_warp import LAUNCH
from tests.engine.sass.test_driver import BEGIN, END, WAYS, listing, run

LANES = np.arange(32)


def out_of(kind, tmp_path, more, *lines: str) -> np.ndarray:
    """Return what the lanes leave in R4 and R5, as (32, 2) u4."""
    text = listing("\n".join((BEGIN, *lines, END))).replace(".registers", ".shared 64\n.registers")
    return run(kind, tmp_path, text, **more).buffers()["out"].astype(np.uint32)


@plain_only
@pytest.mark.nojit
@pytest.mark.parametrize("kind, more", WAYS)
def test_a_warpsync_leaves_lanes_of_one_place_together_and_an_exclusive_one_each_group_alone(kind, more, tmp_path):
    got = out_of(kind, tmp_path, more, "LOP3.LUT R3, R2, 0x18, RZ, 0xc0, !PT", "MOV R6, 0xff", "SHF.L.U32 R6, R6, R3, RZ",
                 "WARPSYNC R6", "VOTE.ANY R5, PT, PT", "WARPSYNC.EXCLUSIVE R6", "VOTE.ANY R4, PT, PT")
    assert got[:, 1].tolist() == [0xFFFFFFFF] * 32
    assert got[:, 0].tolist() == [0xFF << (lane & 24) for lane in range(32)]


@plain_only
@pytest.mark.nojit
@pytest.mark.parametrize("kind, more", WAYS)
def test_what_ptxas_makes_of_an_atomic_addition_of_one_finds_its_first_lane(kind, more, tmp_path):
    got = out_of(kind, tmp_path, more, "ISETP.LT.AND P0, PT, R2, 0x7, PT", "@P0 BRA 0x90", "MOV R5, RZ",
                 "B------:R-:W-:-:S01 VOTEU.ANY UR4, UPT, PT", "B------:R-:W-:-:S01 MOV R6, RZ",     # ptxas's own stall counts
                 "B------:R-:W-:-:S15 UFLO.U32 UR4, UR4", "MOV R4, UR4")
    assert got[8:, 0].tolist() == [31] * 24


@plain_only
@pytest.mark.nojit
@pytest.mark.parametrize("kind, more", [*WAYS[:1], (Simulator, {"preset": "hopper"})])
def test_the_upper_word_that_imad_hi_of_sm_90_adds_is_read_late_and_r2ur_without_a_counter_ends_in_time(kind, more, tmp_path):
    lines = ("MOV R6, 0x5", "MOV R7, 0x0", "MOV R8, 0x10000", "MOV R9, 0x70000",
             "B------:R-:W-:-:S02 IMAD.MOV.U32 R7, RZ, RZ, R2", "B------:R-:W-:-:S05 IMAD.HI.U32 R4, R8, R9, R6",     # ptxas's own stall counts
             "B------:R-:W-:-:S13 R2UR UR4, R9", "B------:R-:W-:-:S02 UIADD3 UR5, UR4, 0x1, URZ", "MOV R5, UR5")
    text = listing("\n".join((BEGIN, *lines, END)), sm=90)
    got = run(kind, tmp_path, text, **more).buffers()["out"].astype(np.uint32)
    assert got[:, 0].tolist() == [7 + lane for lane in range(32)], "the upper word of 0x10000 * 0x70000 + (lane << 32 | 5)"
    assert got[:, 1].tolist() == [0x70001] * 32


@plain_only
@pytest.mark.nojit
@pytest.mark.parametrize("kind, more", WAYS[:1])
def test_a_collective_is_one_of_the_lanes_of_its_mask_alone_from_wherever_they_come(kind, more, tmp_path):
    got = out_of(kind, tmp_path, more, "LOP3.LUT R3, R2, 0x18, RZ, 0xc0, !PT", "MOV R6, 0xff", "SHF.L.U32 R6, R6, R3, RZ",
                 "LOP3.LUT P0, RZ, R2, 0x1, RZ, 0xc0, !PT", "@P0 BRA 0xd0", "WARPSYNC.COLLECTIVE R6, 0x110",
                 "VOTE.ANY R4, PT, PT", "ENDCOLLECTIVE", "NOP", "WARPSYNC.COLLECTIVE R6, 0x110", "VOTE.ANY R4, PT, PT",
                 "ENDCOLLECTIVE", "NOP", "MOV R5, RZ")
    assert got[:, 0].tolist() == [0xFF << (lane & 24) for lane in range(32)]


@plain_only
@pytest.mark.nojit
@pytest.mark.parametrize("kind, more", WAYS[:1])
def test_a_swap_of_64_bits_in_shared_memory_says_1_in_both_words(kind, more, tmp_path):
    got = out_of(kind, tmp_path, more, "B------:R-:W0:-:S15 LDS.64 R4, [0x8]",
                 "B0-----:R-:W-:-:S15 IADD3 R6, R4, 0x1, RZ", "IADD3 R7, R5, 0x3, RZ",
                 "B------:R-:W0:-:S15 ATOMS.CAST.SPIN.64 R8, [0x8], R4, R6",
                 "B0-----:R-:W-:-:S15 ISETP.EQ.U32.AND P0, PT, R8, 0x1, PT",
                 "ISETP.EQ.U32.AND.EX P0, PT, R9, RZ, PT, P0", "@!P0 BRA 0x40")
    assert sorted(map(tuple, got.tolist())) == [(turn, 3 * turn) for turn in range(32)]


@plain_only
@pytest.mark.nojit
@pytest.mark.parametrize("kind, more", WAYS)
def test_a_swap_says_in_its_predicate_whether_it_was_done(kind, more, tmp_path):
    got = out_of(kind, tmp_path, more, "MOV R6, RZ", "IADD3 R7, R2, 0x1, RZ",
                 "B------:R-:W0:-:S15 ATOMS.CAST.SPIN P0, R4, [0x8], R6, R7", "B0-----:R-:W-:-:S15 SEL R5, RZ, 0x1, !P0")
    assert got.tolist() == [[1, 1]] + [[0, 0]] * 31, "the first lane finds 0"


@plain_only
@pytest.mark.nojit
@pytest.mark.parametrize("kind, more", WAYS)
def test_arrivals_at_a_barrier_object_turn_its_phase_and_begin_the_next_one(kind, more, tmp_path):
    got = out_of(kind, tmp_path, more, "MOV R4, 0x3fffffe0", "MOV R5, 0x7fffffe0",
                 "B------:R0:W-:-:S15 STS.64 [0x10], R4", "B0-----:R-:W-:-:S15 BAR.SYNC 0x0",
                 "B------:R-:W1:-:S15 ATOMS.ARRIVE.64 R6, [0x10]", "B------:R-:W0:-:S15 ATOMS.ARRIVE.64 R4, [0x10]",
                 "B01----:R-:W-:-:S15 MOV R4, R7")
    assert got[:, 0].tolist() == (0x7FFFFFE0 + LANES).tolist(), "bits 32..63 of the object, of 32 arrivals per phase"
    assert got[:, 1].tolist() == (0xFFFFFFE0 + LANES).tolist()


@plain_only
@pytest.mark.nojit
@pytest.mark.parametrize("kind, more", WAYS)
def test_an_atomic_with_a_predicate_is_done_in_global_memory_only_and_says_where(kind, more, tmp_path):
    got = out_of(kind, tmp_path, more, "LOP3.LUT P2, RZ, R2, 0x1, RZ, 0xc0, !PT", "MOV R6, R22", "MOV R7, R23",
                 "@P2 MOV R6, c[0x0][0x18]", "@P2 MOV R7, c[0x0][0x1c]", "MOV R4, 0x7", "MOV R8, 0x5",
                 "B------:R-:W0:-:S15 ATOM.E.ADD.STRONG.GPU P0, R4, [R6.64], R8",
                 "B------:R-:W1:-:S15 QSPC.E.S P1, RZ, [R6+0x4]", "B01----:R-:W0:-:S15 LD.E R9, [R6.64]",
                 "SEL R5, RZ, 0x1, !P0", "B0-----:R-:W-:-:S15 SEL R10, RZ, 0x10, !P1", "IADD3 R5, R5, R10, R9")
    odd = LANES % 2
    assert got[:, 0].tolist() == [0] * 32, "what was there, and 0 where nothing was done"
    assert got[:, 1].tolist() == np.where(odd, 0x10, 1 + 5).tolist()


@plain_only
@pytest.mark.nojit
def test_code_reads_the_size_of_dynamic_shared_memory_and_the_address_of_the_grids_barrier(tmp_path):
    text = listing("\n".join((BEGIN, "MOV R4, c[0x0][0x90]", "MOV R5, c[0x0][0x8c]", END)))
    simulator = run(FunctionalSimulator, tmp_path, text)
    workspace = next(variable for variable in simulator.placement.variables if variable.name == "%grid_workspace")
    assert simulator.buffers()["out"][7].tolist() == [workspace.address & 0xFFFFFFFF, workspace.address >> 32]
    assert module_of_listing(text, "k.sass").kernels["k"].meets_grid
    assert not module_of_listing(listing(BEGIN + "\nEXIT"), "k.sass").kernels["k"].meets_grid


@plain_only
@pytest.mark.nojit
@pytest.mark.parametrize("kind, more", WAYS)
def test_a_match_reads_what_an_alu_has_written_four_cycles_before(kind, more, tmp_path):
    got = out_of(kind, tmp_path, more, "MOV R8, RZ", "MOV R9, RZ", "B------:R-:W-:-:S04 IADD3 R8, R2, 0x1, RZ",      # ptxas's own stall counts
                 "B------:R-:W0:-:S15 MATCH.ANY R4, R8", "B------:R-:W-:-:S04 SHF.R.U32.HI R9, RZ, 0x4, R2",
                 "B------:R-:W1:-:S15 MATCH.ANY.U64 R5, R8", "B01----:R-:W-:-:S15 NOP")
    assert got.tolist() == [[1 << lane, 1 << lane] for lane in range(32)]


@plain_only
@pytest.mark.nojit
def test_code_reads_the_number_of_sms_from_a_constant(tmp_path):
    text = listing("\n".join((BEGIN, "MOV R4, c[0x0][0x10c]", "MOV R5, RZ", END)))
    assert run(FunctionalSimulator, tmp_path, text).buffers()["out"][7].tolist() == [1, 0]


@pytest.mark.parametrize("line, has_stack", [
    ("IMAD.IADD R1, R1, 0x1, -R6", True), ("IADD3 R1, PT, PT, R1, -R0.reuse, RZ", True), ("MOV R1, R17", True),
    ("IADD3 R1, R1, -0x10, RZ", False), ("LOP3.LUT R1, R1.reuse, 0xfffffff0, RZ, 0xc0, !PT", False), ("IADD3 R17, R1, R6, RZ", False)])
def test_code_that_takes_a_computed_number_of_bytes_has_a_stack(line, has_stack):
    kernel = module_of_listing(listing(f"{BEGIN}\n{line}\nEXIT"), "k.sass").kernels["k"]
    assert kernel.local_bytes == 16 + (STACK_BYTES if has_stack else 0)


@plain_only
@pytest.mark.nojit
def test_lanes_of_one_split_that_wait_in_different_calls_all_go_on(tmp_path):
    simulator = run(FunctionalSimulator, tmp_path, listing(BEGIN + "\nEXIT"))
    sm, rows, warp = simulator.sm, simulator.rows, 0
    table = sm.warp_cold[warp].split
    for index in range(len(table)):
        table[index].state = SPLIT_FREE
    table[3].state, table[3].pending, table[3].pc, table[3].mask = SPLIT_BSYNC, 2, 5, 0xFF
    sm.warp[warp].split, sm.warp[warp].exited, sm.warp[warp].num_splits = NONE8, 0xFFFFFF00, 1
    seen = rows[convergence.state_row(sm, warp, 2)].u
    seen[:4], seen[4:8] = 0x0F, 0xF0
    convergence.release(sm, rows, warp)
    assert [(int(one.state), int(one.pc), int(one.mask)) for one in table if one.state != SPLIT_FREE] == [(SPLIT_READY, 6, 0xFF)]


def test_a_variable_that_holds_an_address_is_relocated():
    names = (Section("", 0, 0, 0, 0, b""), Section(".nv.global.init", 1, 16, 0, 0, struct.pack("<QQ", 4, 0)))
    table, pointer = (Symbol(name, OBJECT, 1, at, 8, False) for name, at in (("table", 8), ("pointer", 0)))
    cubin = Cubin("k.cubin", 80, names, (table, pointer), {".nv.global.init": (Relocation(0, GENERIC64, table, 0),)})
    found = {variable.name: variable.relocs for variable in _variables(cubin)}
    assert found == {"table": (), "pointer": ((0, "table", 4),)}


@plain_only
@pytest.mark.nojit
@pytest.mark.parametrize("kind, more", WAYS)
def test_lanes_that_poll_in_a_loop_with_a_barrier_of_its_own_make_those_behind_it_give_way(kind, more, tmp_path):
    got = out_of(kind, tmp_path, more, "MOV R6, 0x1", "BSSY B0, 0xd0", "BSSY B1, 0xa0",
                 "B------:R-:W0:-:S15 ATOMS.EXCH R4, [0x8], R6", "B0-----:R-:W-:-:S15 ISETP.NE.AND P0, PT, R4, RZ, PT",
                 "@!P0 BRA 0xa0", "BSYNC B1", "@P0 BRA 0x60", "NOP", "BSYNC B0", "B------:R-:W0:-:S15 LDS R4, [0xc]",
                 "B0-----:R-:W-:-:S15 IADD3 R7, R4, 0x1, RZ", "B------:R0:W-:-:S15 STS [0xc], R7",
                 "B0-----:R-:W0:-:S15 ATOMS.EXCH R5, [0x8], RZ", "B0-----:R-:W-:-:S15 NOP")
    assert sorted(got[:, 0].tolist()) == list(range(32)) and got[:, 1].tolist() == [1] * 32


@plain_only
@pytest.mark.nojit
@pytest.mark.parametrize("kind, more", [*WAYS[:1], (Simulator, {"preset": "hopper"})])
def test_atomics_of_several_floats_update_each_of_them(kind, more, tmp_path):
    lines = ("MOV R8, c[0x0][0x168]", "MOV R9, c[0x0][0x16c]", "MOV R12, 0x3f800000", "I2F.U32 R13, R2".replace("I2F", "I2FP.F32"),
             "MOV R14, 0x40000000", "MOV R15, 0xbf800000", "B------:R0:W-:-:S15 STG.E.64 [R22.64], RZ",
             "B0-----:R-:W-:-:S15 BAR.SYNC 0x0", "B------:R0:W-:-:S15 REDG.E.ADD.F32x4.FTZ.RN.STRONG.GPU [R8.64], R12",
             "MOV R16, 0x3c00bc00", "MOV R17, 0x4000c200", "ISETP.EQ.AND P0, PT, R2, 0x5, PT", "@P0 MOV R16, 0xb8007e00",
             "B0-----:R0:W1:-:S15 ATOMG.E.MIN.F16x4.RN.STRONG.GPU PT, R4, [R8.64+0x10], R16", "B01----:R-:W-:-:S15 BAR.SYNC 0x0")
    text = listing("\n".join((BEGIN, *lines, "EXIT")), sm=90)
    got = run(kind, tmp_path, text, **more).buffers()["out"].astype(np.uint32).reshape(-1)
    assert got[:4].view(np.float32).tolist() == [32, 496, 64, -32]
    assert got[4:8].tolist() == [0xB800BC00, 0x0000C200, 0, 0], "of -0.5, a NaN and 1.0, -1.0; of 2.0, -3.0; each with 0"


@plain_only
@pytest.mark.nojit
@pytest.mark.parametrize("kind, more", WAYS)
def test_the_number_of_a_warp_and_of_all_are_where_ptxas_takes_them(kind, more, tmp_path):
    body = "\n".join((BEGIN, "B------:R-:W0:-:S15 S2R R4, SR_VIRTID", "B0-----:R-:W-:-:S15 SHF.R.U32.HI R4, RZ, 0x8, R4", "SGXT.U32 R4, R4, 0x7",
                      "B------:R-:W0:-:S15 S2R R5, SR_VIRTCFG", "B0-----:R-:W-:-:S15 SHF.R.U32.HI R5, RZ, 0x8, R5", "SGXT.U32 R5, R5, 0x8", END))
    (tmp_path / "k.toml").write_text(LAUNCH.format(columns=2).replace("[32]", "[96]").replace("[32, 2]", "[96, 2]"))
    (tmp_path / "k.ptx").write_text("")
    np.save(tmp_path / "in.npy", np.zeros((96, 2), np.uint32))
    simulator = kind(load_launch_file(tmp_path / "k.toml"), module=module_of_listing(listing(body), "k.sass"), **more)
    simulator.run()
    warps = {"fermi": 48, "a100": 64}[more.get("preset", "fermi")]
    assert simulator.buffers()["out"].tolist() == [[thread // 32, warps] for thread in range(96)]


@pytest.mark.parametrize("text, operands", [
    ("R9desc,[UR4][R2.64]", ["R9", "desc[UR4][R2.64]"]), ("PT,R17desc,[UR4][R2.64+0x54],R17", ["PT", "R17", "desc[UR4][R2.64+0x54]", "R17"]),
    ("[RZ]desc[UR4][R2.64+0x40]", ["[RZ]", "desc[UR4][R2.64+0x40]"]), ("desc[UR4][R2.64+0x4],R9", ["desc[UR4][R2.64+0x4]", "R9"]),
    ("R4, desc[UR4][R2.64+0x10]", ["R4", "desc[UR4][R2.64+0x10]"]), ("[R7+UR4+0x40][R2.64+0x4]", ["[R7+UR4+0x40]", "[R2.64+0x4]"])])
def test_a_caching_policy_belongs_to_the_address_wherever_nvdisasm_puts_the_comma(text, operands):
    assert split(text) == operands
    assert [operand_of(operand).kind for operand in operands if "[" in operand] == ["m"] * sum("[" in operand for operand in operands)


@plain_only
@pytest.mark.nojit
@pytest.mark.parametrize("sm, constants, first", [(75, 0x50, 0x40), (80, 0x50, 0x40), (90, 0xD0, 0x198), (100, 0x120, 0x348), (120, 0x120, 0x348)])
def test_constants_and_parameters_have_generic_addresses(sm, constants, first, tmp_path):
    past = 0x160 if first == 0x40 else 0      # from the bank, or from the first parameter
    body = "\n".join((BEGIN, f"MOV R6, c[0x0][{constants:#x}]", f"MOV R7, c[0x0][{constants + 4:#x}]", "B------:R-:W0:-:S15 LD.E R4, [R6.64+0x4]",
                      f"MOV R8, c[0x0][{first:#x}]", f"MOV R9, c[0x0][{first + 4:#x}]", f"B------:R-:W1:-:S15 LD.E R5, [R8.64+{past + 8:#x}]",
                      "B01----:R-:W-:-:S15 IADD3 R5, R5, -R22, RZ", "LEA R5, R2, R5, 0x3", END))
    text = listing(body, ".bank 3 8\n.bytes 0x0 11223344efbeadde\n", sm)
    got = run(FunctionalSimulator, tmp_path, text).buffers()["out"].astype(np.uint32)
    assert got.tolist() == [[0xDEADBEEF, 0]] * 32, "the second word of the bank; the second parameter is what R22 began with"


def test_a_constant_variable_may_hold_addresses_of_functions():
    texts = ".const 16 8 jumps 0x8\n.bank 3 24\n.address 0x10 k 0x20\n.address 0x0 k 0x0\n"
    module = module_of_listing(listing(BEGIN + "\nEXIT", texts), "k.sass")
    assert module.symbols["jumps"].relocs == ((8, "k", 0x20),)
