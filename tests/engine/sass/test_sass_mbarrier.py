"""Barrier objects of sm_90: arrivals, transactions and phases, as ptxas's code for mbarrier has them; BRXU."""

from __future__ import annotations

import numpy as np
import pytest

from rfview.engine import isa
from rfview.engine.hazards.flow import hazards_of
from rfview.engine.sass.module import module_of_listing
from rfview.engine.simulator import Simulator
from tests.engine.machine_programs import plain_only
from tests.engine.sass.test_driver import BEGIN, END, WAYS, listing, run
from tests.engine.sass.test_sass_lowering import one

WAYS_90 = [WAYS[0], (Simulator, {"preset": "hopper"})]
COUNT = 1 << 20


def out_of(kind, more, tmp_path, *lines: str) -> np.ndarray:
    """Return what the lanes leave in R4 and R5, as (32, 2) u4."""
    text = listing("\n".join((BEGIN, *lines, END)), "", 90).replace("0x160", "0x210").replace(".registers", ".shared 2048\n.registers")
    text = text.replace("c[0x0][0x168]", "c[0x0][0x218]")
    return run(kind, tmp_path, text, **more).buffers()["out"].astype(np.uint32)


def begun(arrivals: int) -> tuple[str, ...]:
    """Return the code that initialises an object at 0x410 for a number of arrivals, as ptxas does."""
    missing = COUNT - arrivals
    return (f"UMOV UR8, {missing << 1:#x}", f"UMOV UR9, {missing << 11 & 0xFFFFFFFF:#x}", "ISETP.NE.AND P0, PT, R2, RZ, PT",
            "B------:R0:W1:-:S15 @!P0 SYNCS.EXCH.64 URZ, [0x410], UR8", "B01----:R-:W-:-:S15 BAR.SYNC 0x0")


ARRIVE = "B------:R-:W1:-:S15 SYNCS.ARRIVE.TRANS64{0} {1}, [0x410], {2}"
ASK = ("B-1----:R-:W2:-:S15 SYNCS.PHASECHK.TRANS64.TRYWAIT P1, [0x410], {0}", "B--2---:R-:W-:-:S15 SEL {1}, RZ, 0x1, !P1")


def ask(phase: str, register: str) -> tuple[str, ...]:
    """Return the code that leaves in a register whether the phase of a word's bit 31 is over."""
    return tuple(line.format(phase, register) for line in ASK)


@plain_only
@pytest.mark.nojit
@pytest.mark.parametrize("kind, more", WAYS_90)
def test_arrivals_end_a_phase_and_find_what_the_object_was(kind, more, tmp_path):
    got = out_of(kind, more, tmp_path, *begun(32), ARRIVE.format(".A1T0", "R6", "RZ"), *ask("R7", "R4"), *ask("RZ", "R9"),
                 "SHF.R.U32.HI R5, RZ, 0xb, R7", "IMAD R4, R9, 0x2, R4")
    assert got[:, 1].tolist() == [COUNT - 32 + lane for lane in range(32)], "before each arrival"
    assert got[:, 0].tolist() == [3] * 32, "all have arrived: phase 0 is over, which is also the parity that RZ asks for"


@plain_only
@pytest.mark.nojit
@pytest.mark.parametrize("kind, more", WAYS_90)
@pytest.mark.parametrize("arrivals, over", [(31, [1] * 32), (33, [0] * 32), (64, [0] * 32)])
def test_a_phase_is_over_when_as_many_have_arrived_as_it_was_made_for(kind, more, arrivals, over, tmp_path):
    got = out_of(kind, more, tmp_path, *begun(arrivals), ARRIVE.format(".A1T0", "R6", "RZ"), *ask("RZ", "R4"), "MOV R5, RZ")
    assert got[:, 0].tolist() == over


@plain_only
@pytest.mark.nojit
@pytest.mark.parametrize("kind, more", WAYS_90)
def test_a_phase_waits_for_its_transactions_whichever_come_first(kind, more, tmp_path):
    got = out_of(kind, more, tmp_path, *begun(32), "MOV R8, 0x10", "MOV R9, 0x14", "MOV R12, 0x80",
                 "B------:R-:W1:-:S15 @!P0 SYNCS.ARRIVE.TRANS64.RED.A0TX RZ, [0x410], R12",      # sooner than they are expected
                 ARRIVE.format("", "R6", "R8"), *ask("RZ", "R4"),
                 "MOV R12, 0x180", "B------:R-:W1:-:S15 @!P0 SYNCS.ARRIVE.TRANS64.RED.A0TX RZ, [0x410], R12", *ask("RZ", "R5"))
    assert got.tolist() == [[0, 1]] * 32, "32 lanes expect 16 each: 128 and 384 come"


@plain_only
@pytest.mark.nojit
@pytest.mark.parametrize("kind, more", WAYS_90)
def test_who_drops_out_is_not_missed_in_the_next_phase(kind, more, tmp_path):
    got = out_of(kind, more, tmp_path, *begun(32), "MOV R8, 0x1", "ISETP.LT.AND P2, PT, R2, 0x8, PT",
                 "B------:R-:W1:-:S15 @P2 SYNCS.ARRIVE.TRANS64.OPTOUT.ART0 R6, [0x410], R8", "MOV R9, RZ",
                 "B------:R-:W1:-:S15 @!P2 SYNCS.ARRIVE.TRANS64.A1T0 R6, [0x410], RZ", *ask("RZ", "R4"),
                 "B------:R-:W1:-:S15 @!P2 SYNCS.ARRIVE.TRANS64.A1T0 R6, [0x410], RZ", "MOV R9, 0x80000000", *ask("R9", "R5"))
    assert got.tolist() == [[1, 1]] * 32


@plain_only
@pytest.mark.nojit
@pytest.mark.parametrize("kind, more", WAYS_90)
def test_an_arrival_behind_copies_is_one_or_takes_its_transaction_back(kind, more, tmp_path):
    got = out_of(kind, more, tmp_path, *begun(32), "B------:R-:W1:-:S15 SYNCS.ARRIVE.TRANS64.RED.A0T1 RZ, [0x410], RZ",
                 "ARRIVES.LDGSTSBAR.64.ARVCNT [0x410]", *ask("RZ", "R4"), "ARRIVES.LDGSTSBAR.64.TRANSCNT [0x410]", *ask("RZ", "R5"))
    assert got.tolist() == [[0, 1]] * 32


@plain_only
@pytest.mark.nojit
@pytest.mark.parametrize("kind, more", WAYS_90)
def test_brxu_jumps_to_the_next_instruction_and_its_uniform_register(kind, more, tmp_path):
    got = out_of(kind, more, tmp_path, "MOV R5, RZ", "UMOV UR6, 0x30", "UMOV UR7, URZ", "MOV R4, 0x1", "BRXU UR6, -0x10",
                 "MOV R4, 0x2", "MOV R5, 0x3", "IADD3 R4, R4, 0x10, RZ")
    assert got.tolist() == [[0x11, 0]] * 32


def test_an_arrival_says_what_becomes_of_its_numbers():
    inst = one("SYNCS.ARRIVE.TRANS64.OPTOUT R2, [R9+URZ+0x8], R7")
    assert int(inst["aux"]) == isa.ATOM_SYNC | isa.T_U64 << 8 and int(inst["offset"]) == 8
    assert inst["src"][[0, 3]].tolist() == [9, 7] and inst["imm"][[2, 4]].tolist() == [1, isa.SYNC_DROPS]
    inst = one("SYNCS.ARRIVE.TRANS64.RED.A0TX RZ, [UR4], R7")
    assert int(inst["op"]) == isa.OP_RED and inst["imm"][[2, 4, 6]].tolist() == [0, isa.SYNC_COMPLETES, 4]


@pytest.mark.parametrize("stall, expected", [(4, []), (3, [("R5", "RAW", "stall count", 1)])])
def test_the_word_of_a_phase_may_be_written_four_cycles_before(stall, expected):
    body = f"B------:R-:W-:Y:S{stall:02} SHF.L.U32 R5, R6, 0x1f, RZ\nB------:R-:W0:-:S02 SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [UR4], R5\n" \
           "B0-----:R-:W-:-:S13 NOP\nEXIT"
    kernel = module_of_listing(listing(body, "", 90).replace("0x160", "0x210"), "k.sass").kernels["k"]
    assert [(one.register, one.kind, one.cover, one.short) for one in hazards_of(kernel)] == expected


@plain_only
@pytest.mark.nojit
@pytest.mark.parametrize("kind, more", WAYS_90)
@pytest.mark.parametrize("stall", [4, 5])
def test_registers_are_read_four_cycles_behind_the_alu(kind, more, stall, tmp_path):
    """Address and word of an arrival: ptxas leaves no more than four cycles (cuda::pipeline on sm_90)."""
    got = out_of(kind, more, tmp_path, *begun(32), "MOV R10, 0x600", "MOV R8, 0x1", "B------:R-:W-:-:S15 MOV R9, RZ",
                 "B------:R-:W-:-:S01 IMAD.MOV.U32 R9, RZ, RZ, 0x0",
                 f"B------:R-:W-:-:S{stall:02} IMAD.MOV.U32 R10, RZ, RZ, 0x410",
                 "B------:R-:W1:-:S15 SYNCS.ARRIVE.TRANS64.A1T0 R6, [R10], RZ", *ask("RZ", "R4"), "MOV R5, RZ")
    assert got[:, 0].tolist() == [1] * 32, "all have arrived at the object"
