"""The plain model of the sub-core: golden programs, and random programs in which its control codes cover every dependence."""

from __future__ import annotations

import pytest
from hypothesis import given, settings, strategies as st

from tests.reference.subcore import LATENCY, Sm
from tests.reference.subcore_compiler import PROGRAM, Operation, covered
from tests.subcore_programs import GOLDENS, REUSE, Golden, parse

CYCLES = 140


@pytest.mark.parametrize("golden", GOLDENS, ids=lambda golden: golden.name)
def test_golden_programs_issue_in_their_cycles(golden: Golden) -> None:
    sm = Sm([parse(program) for program in golden.programs], golden.subcores, golden.machine).run(CYCLES)
    assert tuple(tuple(warp.issues) for warp in sm.warps) == golden.issues
    assert tuple((hazard.op, hazard.short) for hazard in sm.hazards) == golden.short


@pytest.mark.parametrize("stall, difference, value", [(1, 5, 2.0), (4, 8, 6.0)])
def test_a_stall_count_too_short_reads_the_old_value(stall: int, difference: int, value: float) -> None:
    sm = Sm([parse(f"CLK; NOP; FADD R1 R2 R3 s{stall}; FFMA R5 R1 R1 R1; NOP; CLK")]).run(40)
    warp = sm.warps[0]
    assert warp.clocks[1] - warp.clocks[0] == difference
    assert warp.values[5][-1][1] == value       # all registers begin as 1: 1 * 1 + 1, or 2 * 2 + 2


@pytest.mark.parametrize("programs, hits", REUSE)
def test_the_reuse_cache_holds_an_operand_until_its_place_is_read(programs: tuple[str, ...], hits: tuple[bool, ...]) -> None:
    sm = Sm([parse(program) for program in programs]).run(40)
    last = len(programs) - 1
    assert tuple(0 in operands for warp, _, operands in sm.subcores[0].hits if warp == last) == hits


def test_two_results_of_one_bank_and_cycle_are_written_one_after_the_other_and_delay_no_reader() -> None:
    program = parse("HADD2 R10 R2 R5; FFMA R12 R6 R9 R3 s4; HADD2 R20 R10 R3; FFMA R22 R12 R3 R4")
    sm = Sm([program]).run(40)
    assert sm.warps[0].issues == [1, 2, 6, 7] and not sm.hazards
    assert [cycle for (cycle, bank), flight in sorted(sm.subcores[0].writes.items()) if flight.line.dst in (10, 12)] == [12, 13]


@settings(max_examples=80, deadline=None)
@given(st.lists(PROGRAM, min_size=1, max_size=3), st.sampled_from(sorted(LATENCY)))
def test_random_programs_have_no_hazards(programs: list[list[Operation]], machine: str) -> None:
    sm = Sm([covered(program, machine) for program in programs], machine=machine).run(2000)
    assert sm.ended() and not sm.hazards


def test_without_the_rule_for_allocate_a_conflict_makes_a_reader_too_early() -> None:
    program = parse("FFMA R20 R2 R4 R6; FFMA R1 R8 R10 R12 s4; FADD R5 R1 R3")
    assert not Sm([program]).run(40).hazards
    without = Sm([program], holds_counters=False).run(40)
    assert without.warps[0].issues == [1, 2, 6] and [hazard.short for hazard in without.hazards] == [2]
