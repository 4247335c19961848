"""The papers' register files on the sub-core: when instructions issue, and what is read and written where (RULES.md, B12)."""

from __future__ import annotations

import os

import pytest
from hypothesis import given, settings, strategies as st

from rfview.engine.errors import InputError
from rfview.engine.plugin import BUILT_IN, on_subcore
from tests.reference.subcore_compiler import PROGRAM, Operation, covered
from tests.subcore_machine import SubcoreMachine
from tests.subcore_programs import parse

pytestmark = [pytest.mark.nojit, pytest.mark.skipif(os.environ.get("NUMBA_DISABLE_JIT") != "1", reason=(
    "compiling the sub-core for each design takes minutes; the pass without JIT runs them"))]

EXAMPLES = 4
CHAIN = "FADD R4 R3 R5 s4; FADD R6 R4 R3 s4; FADD R8 R6 R3 s4; FADD R10 R8 R3"
# Each FADD passes Allocate 2 cycles after its issue and is written 8 after that, all into bank 0; it reads bank 0 once, R3 from 1.
ISSUES: dict[str, tuple[list[int], list[int]]] = {
    "sram": ([1, 5, 9, 13], [11, 15, 19, 23]),
    "stt[stall=bank]": ([1, 5, 9, 18], [11, 15, 24, 28]),   # writes of 11..14 and 15..18: R8's instruction, in Allocate since 11,
    "stt": ([1, 5, 9, 18], [11, 15, 24, 28]),               # .. reads in 19, for which it passes in 16, 5 cycles late
    "single_buffer": ([1, 5, 9, 13], []),                   # every result is read from the buffer, or after its drain
    "hrf": ([1, 5, 9, 13], []),                             # one warp: nothing drains
    "hcrf": ([1, 5, 13, 17], [11, 19, 23, 31]),             # R6's pair is R4's, written in 11: not exchanged before
    "hcrf[remap=off]": ([1, 5, 9, 13], [11, 15, 19, 24]),   # R6 by a T-Write, 15..18: R10's instruction reads in 19
    "edram[error_mode=none]": ([1, 5, 9, 13], [11, 15, 19, 23]),
    "racetrack": ([1, 6, 10, 14], []),                      # R3 and R5: a step and a read each, one more than the window
    "rfc": ([1, 5, 9, 13], []),                             # six entries: nothing is evicted
}


def counts(ran: SubcoreMachine) -> dict[str, int]:
    """Return the design's own events."""
    first = int(ran.simulator.spec_record.first_event)
    return {name: int(ran.simulator.sm.events[first + k]) for k, (name, _) in enumerate(ran.simulator.built.events)}


@pytest.mark.parametrize("design", ISSUES)
def test_a_chain_of_results_in_one_bank(design: str) -> None:
    ran = SubcoreMachine([parse(CHAIN)], design=design)
    assert (ran.issues[0], [cycle for cycle, bank in ran.writes if bank == 0]) == ISSUES[design]


def test_two_warps_of_hrf_switch_buffers_with_every_result_and_wait_for_their_drain() -> None:
    ran = SubcoreMachine([parse(CHAIN)] * 2, design="hrf")
    seen = counts(ran)
    assert seen["wb_switches"] == seen["wb_writes"] == 8
    assert seen["stt_writes"] == seen["wb_drain_reads"] == 7        # the last is dropped with its warp
    assert ran.issues == [[2, 6, 13, 23], [1, 5, 9, 18]]


def test_a_third_warp_makes_the_one_that_wrote_first_leave_the_cache_of_rfc() -> None:
    seen = counts(SubcoreMachine([parse("FADD R4 R3 R5 s4; FADD R6 R4 R3")] * 3, design="rfc"))
    assert seen["rfc_writes"] == 6 and seen["rfc_departures"] >= 1 and seen["rfc_flushes"] >= 1


def test_rows_are_refreshed_once_in_each_retention_time() -> None:
    ran = SubcoreMachine([parse("LDG R4 R2 w0 s2; FADD R6 R4 R3 q0")], design="edram[error_mode=none]")
    due = ran.simulator.cycle * 2048 // (512 * 1800 // 700)         # 2,048 rows in T0, which is 512 cycles of 700 MHz
    assert abs(counts(ran)["row_refreshes"] - due) <= 8             # a turn of each bank


@settings(max_examples=EXAMPLES, deadline=None)
@given(st.lists(PROGRAM, min_size=4, max_size=6), st.sampled_from(sorted(ISSUES)))
def test_programs_whose_control_codes_cover_all_dependences_end_with_the_values_of_sram(
        programs: list[list[Operation]], design: str) -> None:
    made = [covered(program, "ga10x") for program in programs]
    subcores = [number % 2 for number in range(len(made))]
    values = {reg: 1.0 + reg / 16 for reg in range(16)}
    ran, plain = (SubcoreMachine(made, subcores, values=values, design=each) for each in (design, "sram"))
    for number in range(len(made)):
        for reg in range(16):
            assert ran.register(number, reg).tobytes() == plain.register(number, reg).tobytes()


@pytest.mark.parametrize(("design", "words"), [
    ("racetrack[mapping=spread-16]", "mapping"), ("rfc[bypass=1]", "bypass must be 0"), ("edram[postpone=8]", "postpone must be 0"),
    ("stt[write_cycles=6]", "at most 5")])
def test_what_has_no_meaning_on_the_subcore_is_refused_in_a_sentence(design: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        SubcoreMachine([parse(CHAIN)], design=design)


def test_every_bundled_design_says_what_it_is_on_the_subcore() -> None:
    assert all(on_subcore.meaning(name) for name in BUILT_IN)
