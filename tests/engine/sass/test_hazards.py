"""Hazards of machine code: what control codes do not cover is found on every path, and ptxas's own code has none."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from rfview.engine import isa, kernels
from rfview.engine.hazards.flow import Hazard, hazards_of
from rfview.engine.machine_code import MACHINE_INST
from rfview.engine.program import Kernel
from rfview.engine.sass.module import module_of_listing
from tests.subcore_machine import encoded, end
from tests.subcore_programs import GOLDENS, Golden, parse

pytestmark = pytest.mark.nojit


def kernel_of(program: str, **changes: dict[int, int]) -> Kernel:
    """Return a program of subcore_programs as a kernel. changes: of a field, the value by instruction."""
    lines = parse(program)
    insts = np.array([*(encoded(line) for line in lines), end(isa.OP_EXIT)], MACHINE_INST)
    texts = [*(line.op for line in lines), "EXIT"]
    for name, values in changes.items():
        for pc, value in values.items():
            insts[name][pc] = value
            if name == "target":
                insts["op"][pc], texts[pc] = isa.OP_BRA, "BRA"
    return Kernel("test", insts, tuple(texts), (), 64, 8, 0, 0, (), architecture=80)


def listed(name: str, sm: int) -> dict[str, Kernel]:
    """Return the kernels of a bundled listing."""
    path = Path(kernels.path(name)).with_name(f"{name}.sm_{sm}.sass")
    module = module_of_listing(path.read_text(), str(path))
    return {name: module.kernels[name] for name in module.kernels}


@pytest.mark.parametrize("golden", GOLDENS, ids=lambda golden: golden.name)
def test_the_golden_programs_have_the_hazards_that_their_table_says(golden: Golden) -> None:
    found = [(hazard, program) for program in golden.programs for hazard in hazards_of(kernel_of(program))]
    short = {(parse(program)[hazard.pc].op, hazard.short) for hazard, program in found if hazard.cover == "stall count"}
    assert short == set(golden.short)


@pytest.mark.parametrize("program, hazard", [
    ("LDG R4 R2 w0 s2; FADD R6 R4 R5", Hazard(1, "R4", "RAW", 0, "counter", 0)),
    ("LDG R4 R2 w0 s1; FADD R6 R4 R5 q0", Hazard(1, "R4", "RAW", 0, "stall count", 1)),     # its counter is not seen yet
    ("LDG R4 R2 w0 s2; FADD R4 R6 R5", Hazard(1, "R4", "WAW", 0, "counter", 0)),
    ("STG R2 R4 r1 s2; MOV R4 R6", Hazard(1, "R4", "WAR", 0, "counter", 0)),
    ("IADD3 R4 R2 R2 R2 s4; FADD R6 R4 R5", Hazard(1, "R4", "RAW", 0, "stall count", 1)),   # between unlike units: 5
    ("FADD R4 R2.reuse R3 s5; MOV R2 R9 s5; FADD R5 R2 R7", Hazard(2, "R2", "reuse", 1, "reuse bit", 0)),
])
def test_a_dependence_that_is_not_covered_is_found(program: str, hazard: Hazard) -> None:
    assert hazards_of(kernel_of(program)) == [hazard]


@pytest.mark.parametrize("program", [
    "LDG R4 R2 w0 s2; FADD R6 R4 R5 q0",
    "LDS R4 R2 s2; LDS R8 R2 w0 s2; FADD R6 R4 R5 q0",      # a pipe finishes in order: one counter covers both
    "STG R2 R4 s2; STG R2 R5 r1 s2; MOV R4 R6 q1",          # .. and reads in order
    "LDG R4 R2 w0 r1 s2; MOV R2 R6 q0",                     # what has been written was read
    "FADD R4 R2.reuse R3 s5; FADD R5 R2 R7 s5; MOV R2 R8",
    "FADD R4 R2.reuse R3 s5; MOV R2 R9 s5; FADD R5 R6 R7 s5; FADD R5 R2 R7",    # another read of the place has emptied it
    "HADD2 R4 R2 R3 s4; HADD2 R6 R4 R2 s5; STG R2 R6",
    "LDG R4 R2 w0 s2; LDG R8 R2 w1 s1; DEPBAR SB0,0,1 s4; FADD R6 R4 R8",       # both counters, before the instruction behind
])
def test_a_dependence_that_is_covered_is_not_found(program: str) -> None:
    assert hazards_of(kernel_of(program)) == []


def test_a_hazard_around_a_loop_is_found() -> None:
    program = "FADD R4 R2 R2 s5; FADD R2 R4 R4 s1; NOP s1; FADD R9 R9 R9 s5"
    assert hazards_of(kernel_of(program)) == []
    assert hazards_of(kernel_of(program, target={2: 0}, guard={2: 0})) == [Hazard(0, "R2", "RAW", 1, "stall count", 2)]


def test_lanes_apart_have_no_hazard_until_their_predicate_is_written() -> None:
    program = "LDG R4 R2 w0 s2; FADD R4 R6 R5"
    assert hazards_of(kernel_of(program, guard={0: 1, 1: 1}, guard_negate={0: 1})) == []
    written = "LDG R4 R2 w0 s2; MOV R9 R8 s15; FADD R4 R6 R5"
    kernel = kernel_of(written, guard={0: 1, 2: 1}, guard_negate={0: 1}, pdst={1: 1})
    assert hazards_of(kernel) == [Hazard(2, "R4", "WAW", 0, "counter", 0)]


@pytest.mark.parametrize("sm", [75, 80, 90])
@pytest.mark.parametrize("name", ["gemm", "pathfinder"])
def test_ptxas_code_has_no_hazards(name: str, sm: int) -> None:
    assert [hazard for kernel in listed(name, sm).values() for hazard in hazards_of(kernel)] == []


def test_a_stall_count_cut_short_in_ptxas_code_is_found() -> None:
    kernel = listed("gemm", 80)["gemm"]
    pc = next(pc for pc, text in enumerate(kernel.texts) if text.startswith("FFMA") and int(kernel.insts["control"][pc]) & 15 == 4)
    insts = kernel.insts.copy()
    insts["control"][pc] -= 1
    found = hazards_of(replace(kernel, insts=insts))
    assert {(hazard.producer, hazard.kind, hazard.short) for hazard in found} == {(pc, "RAW", 1)}
