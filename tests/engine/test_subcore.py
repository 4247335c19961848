"""The engine's sub-core: golden programs issue in their cycles."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from hypothesis import given, settings, strategies as st

from rfview.engine import kernels
from rfview.engine.launch import Arg, Buffer, Launch, LaunchSpec, load_launch_file
from rfview.engine.machine.cores.subcore.stalls import IMC_MISS
from rfview.engine.machine.cores.subcore.state import CLASSES
from rfview.engine.machine.stages.convergence import state_row
from rfview.engine.machine.stages.units import inflight_full
from rfview.engine.modules import load_module
from rfview.engine.simulator import Simulator
from rfview.engine.state import SM
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


# what features are worth, in sign (M Tables 5 and 6): settings, program, and whether its last issue is later than without them
FEATURES = (({"core.reuse_cache": 0}, "FFMA R20 R2.reuse R4.reuse R6 *5", True),
            ({"core.read_ports": 2}, "FFMA R20 R2 R4 R6 *5", False),
            ({"core.fetch_stages": 2, "memory.icache_sets": 4}, "FFMA R20 R2 R5 R7 *5", True))


@pytest.mark.parametrize("changed, program, is_later", FEATURES, ids=("no reuse cache", "two read ports", "an instruction cache that misses"))
def test_what_features_are_worth(changed: dict[str, int], program: str, is_later: bool) -> None:
    usual = {key: value for key, value in changed.items() if key == "core.fetch_stages"}      # without it nothing is fetched
    before, after = (SubcoreMachine([parse(program)], settings=each).simulator.cycle for each in (usual, changed))
    assert after > before if is_later else after < before


def test_a_warp_waits_for_each_counter_that_depbar_lists() -> None:
    program = "LDG R4 R2 w0; LDG R6 R2 w1; LDG R8 R2 w2 s2; DEPBAR.LE SB0,1 s4; MOV R20 R9"
    machine = SubcoreMachine([parse(program)])
    listed = SubcoreMachine([parse(program.replace("SB0,1", "SB0,1,2"))])
    assert machine.issues[0][-1] == machine.issues[0][-2] + 4           # SB0 is at most 1: nothing to wait for
    assert listed.issues[0][-1] == 41                                   # until the third load, which leaves in 21, is written


def test_the_last_entry_in_flight_is_never_taken() -> None:
    sm = np.zeros(1, SM).view(np.recarray)[0]
    sm.inflight_used[:] = ~np.uint64(0)
    sm.inflight_used[-1] ^= np.uint64(1 << 63)      # its number, 255, is "none"
    assert inflight_full(sm)
    sm.inflight_used[-1] ^= np.uint64(1 << 62)
    assert not inflight_full(sm)


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


@pytest.mark.parametrize("preset", ["turing", "a100", "hopper"])
def test_fp64_goes_on_by_counters_or_stall_counts_as_its_architecture_has_it(preset: str) -> None:
    simulator = Simulator(load_launch_file(kernels.path("corr_double")), preset=preset)
    simulator.step(900)     # without its counters falling, the first loop stops at about 550: a fault
    waits = {int(simulator.sm.warp[warp].pc) for warp in range(8)}
    assert any(inst["latency_class"] == CLASSES.index("double") for inst in simulator.insts[: max(waits)])


def test_a_barrier_register_is_taken_before_the_next_instruction_sets_it_again() -> None:
    machine = SubcoreMachine([parse("BSSY; BMOV R1; BSSY; NOP *8")])
    b0 = machine.simulator.rows.u[int(state_row(machine.simulator.sm, machine.slots[0], 0))]
    assert b0.all() and machine.register(0, 1).view("u4").all(), "as sm_75 saves one barrier and begins another"


def test_constants_are_missed_once_per_sub_core_and_line() -> None:
    def run(cycles: int) -> Simulator:
        simulator = Simulator(load_launch_file(kernels.path("vectoradd")), preset="ampere", settings={"core.constant_cycles": cycles})
        simulator.step(100)
        return simulator

    misses, hits = (run(cycles) for cycles in (79, 0))
    assert misses.counts()["const_misses"] == 4, "all warps begin with a word of the line of c[0x0][0x28]"
    assert misses.counts()["instructions"] > 0 and int(misses.sm.stall_total[IMC_MISS]) > 4 * 79 > int(hits.sm.stall_total[IMC_MISS]) == 0
    assert misses.counts()["instructions"] < hits.counts()["instructions"]


def test_narrow_constants_are_extended(tmp_path: Path) -> None:
    listing = tmp_path / "narrow.sass"
    code = ["B------:R-:W0:-:S02 S2R R0, SR_TID.X", "B------:R-:W-:-:S05 MOV R3, 0x4", "B------:R-:W-:-:S05 ULDC.64 UR4, c[0x0][0x118]",
            "B0-----:R-:W-:-:S05 IMAD.WIDE R4, R0, R3, c[0x0][0x160]"]
    for place, load in enumerate(("ULDC.U16 UR6, c[0x0][0x16a]", "ULDC.S8 UR6, c[0x0][0x16b]", "ULDC.U8 UR6, c[0x0][0x168]")):
        code += [f"B------:R-:W-:-:S12 {load}", "B------:R-:W-:-:S05 MOV R6, UR6", f"B------:R-:W-:-:S12 STG.E [R4.64+{hex(128 * place)}], R6"]
    code.append("B------:R-:W-:-:S05 EXIT")
    listing.write_text("// rfview machine code 1\n.target sm_80\n.address_size 64\n\n.entry narrow\n.registers 16\n.params 0x160\n"
                       ".param 0x0 8 u64 out\n.param 0x8 4 u32 value\n" + "\n".join(f"{16 * pc:04x} {line}" for pc, line in enumerate(code)))
    launch = Launch("narrow", (1, 1, 1), (32, 1, 1), 0, (Arg("buffer", name="out"), Arg("value", 0x87654321)))
    spec = LaunchSpec(Path("narrow.toml"), "narrow", listing, (launch,), {"out": Buffer("out", np.zeros((3, 32), np.uint32))}, {}, {},
                      False, "exact", "", None)
    simulator = Simulator(spec, module=load_module(listing), preset="ampere", settings={"core.constant_cycles": 0})
    simulator.run()
    assert [hex(int(row[5])) for row in simulator.buffers()["out"]] == ["0x8765", "0xffffff87", "0x21"]
