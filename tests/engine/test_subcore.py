"""The engine's sub-core: golden programs issue in their cycles."""

from __future__ import annotations

import pytest

from hypothesis import given, settings, strategies as st

from tests.reference.subcore import Sm
from tests.reference.subcore_compiler import PROGRAM, Operation, covered
from tests.subcore_machine import SubcoreMachine
from tests.subcore_programs import GOLDENS, REUSE, Golden, parse

MACHINES: dict[str, dict[str, int]] = {"ga10x": {}, "tu10x": {"core.full_fp32": 0}, "figure2": {"access_read.load_global_4": 10, "access_use.load_global_4": 31}}

EXAMPLES = 6        # as plain Python

pytestmark = pytest.mark.nojit


@pytest.mark.parametrize("golden", GOLDENS, ids=lambda golden: golden.name)
def test_golden_programs_issue_in_their_cycles(golden: Golden) -> None:
    machine = SubcoreMachine([parse(program) for program in golden.programs], golden.subcores, MACHINES[golden.machine])
    assert tuple(map(tuple, machine.issues)) == golden.issues


@pytest.mark.parametrize("stall, difference, value", [(1, 5, 2.0), (4, 8, 6.0)])
def test_a_stall_count_too_short_reads_the_old_value(stall: int, difference: int, value: float) -> None:
    program = parse(f"CS2R R40; NOP; FADD R1 R2 R3 s{stall}; FFMA R5 R1 R1 R1; NOP; CS2R R42")
    machine = SubcoreMachine([program], values={1: 1.0, 2: 1.0, 3: 1.0})
    clocks = [int(machine.register(0, reg).view("u4")[0]) for reg in (40, 42)]
    assert clocks[1] - clocks[0] == difference
    assert machine.register(0, 5)[0] == value


@pytest.mark.parametrize("programs, hits", REUSE)
def test_the_reuse_cache_holds_an_operand_until_its_place_is_read(programs: tuple[str, ...], hits: tuple[bool, ...]) -> None:
    machine = SubcoreMachine([parse(program) for program in programs])
    last = len(programs) - 1
    assert tuple(bool(operands & 1) for warp, operands in machine.hits if warp == last)[: len(hits)] == hits


def test_two_results_of_one_bank_and_cycle_are_written_one_after_the_other_and_delay_no_reader() -> None:
    program = parse("HADD2 R10 R2 R5; FFMA R12 R6 R9 R3 s4; HADD2 R20 R10 R3; FFMA R22 R12 R3 R4")
    machine = SubcoreMachine([program])
    assert machine.issues == [[1, 2, 6, 7]]
    assert machine.writes[:2] == [(12, 0), (13, 0)]


@settings(max_examples=EXAMPLES, deadline=None)
@given(st.lists(PROGRAM, min_size=1, max_size=4), st.sampled_from(sorted(MACHINES)))
def test_random_programs_issue_as_in_the_plain_model(programs: list[list[Operation]], machine: str) -> None:
    made = [covered(program, machine) for program in programs]
    plain = Sm(made, machine=machine).run(3000)
    assert SubcoreMachine(made, settings=MACHINES[machine]).issues == [warp.issues for warp in plain.warps]


@settings(max_examples=EXAMPLES, deadline=None)
@given(st.lists(PROGRAM, min_size=4, max_size=8), st.sampled_from(sorted(MACHINES)))
def test_random_programs_on_four_subcores_issue_as_in_the_plain_model(programs: list[list[Operation]], machine: str) -> None:
    made = [covered(program, machine) for program in programs]
    subcores = [number % 4 for number in range(len(made))]
    plain = Sm(made, subcores, machine=machine).run(3000)
    assert SubcoreMachine(made, subcores, MACHINES[machine]).issues == [warp.issues for warp in plain.warps]


@pytest.mark.parametrize("program, value", [
    ("FADD R4 R2.reuse R3 s5; MOV R2 R9 s5; FADD R5 R2 R7", 2.0),                   # hit: what R2 was
    ("FADD R4 R2.reuse R3 s5; MOV R2 R9 s5; FADD R6 R2.reuse R7; FADD R5 R2 R7", 2.0),
    ("FADD R4 R2.reuse R3 s5; MOV R2 R9 s5; FADD R6 R8 R7; FADD R5 R2 R7", 10.0),    # R8 has emptied its place
    ("FADD R4 R2 R3 s5; MOV R2 R9 s5; FADD R5 R2 R7", 10.0),
])
def test_the_reuse_cache_gives_what_the_register_was_when_it_was_read(program: str, value: float) -> None:
    machine = SubcoreMachine([parse(program)], values={2: 1.0, 3: 1.0, 7: 1.0, 8: 5.0, 9: 9.0})
    assert machine.register(0, 5)[0] == value
