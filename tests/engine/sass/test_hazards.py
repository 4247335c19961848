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
from tests.engine.sass.test_driver import listing
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


# architecture, lines of control words and instructions with what ptxas counts on, the same with less, the hazard then
OF_PTXAS = [
    (80, "B------:R-:W-:-:S04 IMAD.WIDE.U32 R4, P0, R2, R3, R4; IMAD.X R6, RZ, RZ, R7, P0", "S04", "S03", (1, "P0", "RAW", 0)),
    (80, "B------:R-:W-:-:S04 IADD3 R4, P0, R2, R3, RZ; IADD3.X R6, R5, R7, RZ, P0, !PT", "S04", "S03", (1, "P0", "RAW", 0)),
    (90, "B------:R-:W-:-:S02 IMAD.MOV.U32 R5, RZ, RZ, R3; IMAD.HI.U32 R6, R2, R3, R4", "S02", "S01", (1, "R5", "RAW", 0)),
    (90, "B------:R-:W-:-:S04 IMAD.MOV.U32 R4, RZ, RZ, R3; IMAD.HI.U32 R6, R2, R3, R4", "S04", "S02", (1, "R4", "RAW", 0)),
    (90, "B------:R-:W-:-:S13 R2UR UR4, R2; UMOV UR5, UR4", "S13", "S12", (1, "UR4", "RAW", 0)),
    (80, "B------:R-:W0:-:S02 R2UR UR4, R2; B0-----:R-:W-:-:S02 UMOV UR5, UR4", "B0-", "B--", (1, "UR4", "RAW", 0)),
    (80, "B------:R-:W-:-:S02 LDS R4, [R2]; B------:R-:W0:-:S02 SHFL.UP PT, R5, R3, 0x1, RZ; B0-----:R-:W-:-:S05 MOV R6, R4", "W0",
     "W1", (2, "R4", "RAW", 0)),
    (80, "B------:R0:W-:-:S02 ATOM.E.ADD.F16x2.RN.STRONG.GPU P0, RZ, [R2.64], R5; B0-----:R-:W-:-:S05 @P0 EXIT", "R0", "R1",
     (1, "P0", "RAW", 0)),
    (120, "B------:R-:W-:-:S05 CS2R.32 R2, SR_CLOCKLO; IMAD R3, R2, 0x3, RZ", "S05", "S04", (1, "R2", "RAW", 0)),
    (90, "B------:R-:W-:-:S06 CS2R.32 R2, SR_CLOCKLO; IMAD R3, R2, 0x3, RZ", "S06", "S05", (1, "R2", "RAW", 0)),
    (120, "B------:R-:W-:-:S04 I2I.S8.S32.SAT R2, R3; PRMT R4, R2, 0x8880, RZ", "S04", "S03", (1, "R2", "RAW", 0)),
    (80, "B------:R-:W-:-:S04 I2I.S16.S32.SAT R2, R3; PRMT R4, R2, 0x9910, RZ", "S04", "S03", (1, "R2", "RAW", 0)),
    (80, "B------:R-:W-:-:S05 CS2R R4, SRZ; STL.64 [R1], R4", "S05", "S04", (1, "R4", "RAW", 0)),
    (90, "B------:R-:W-:-:S06 CS2R R4, SRZ; IADD3 R6, R4, R7, RZ", "S06", "S05", (1, "R4", "RAW", 0)),
    (80, "B------:R-:W-:-:S02 CS2R R4, SRZ; @P1 SEL R4, RZ, 0x1, !P4", "S02", "S01", (1, "R4", "WAW", 0)),
    (120, "; ".join(["B------:R-:W-:-:S04 DFMA R2, R4, R6, R2", *["B------:R-:W-:-:S15 NOP"] * 4, "DADD R8, R2, R4"]), "S04", "S03",
     (5, "R2", "RAW", 0)),
    (80, "B------:R0:W1:-:S02 FCHK P0, R2, R3; B-1----:R-:W-:-:S05 @P0 EXIT", "B-1", "B0-", (1, "P0", "RAW", 0)),
    (75, "B------:R-:W-:-:S02 VOTEU.ANY UP0, P3; USEL UR7, UR7, 0x8, !UP0", "S02", "S01", (1, "UP0", "RAW", 0)),
    (90, "B------:R-:W-:-:S01 VOTEU.ANY UP0, P3; USEL UR7, UR7, 0x8, !UP0", "VOTEU.ANY UP0, P3", "UISETP.NE.AND UP0, UPT, UR4, UR5, UPT",
     (1, "UP0", "RAW", 0)),
    (80, "B------:R-:W-:-:S05 IADD3 R4, R5, R6, RZ; SHFL.BFLY PT, R8, R4, 0x1, 0x1f", "S05", "S04", (1, "R4", "RAW", 0)),
    (90, "B------:R-:W-:-:S04 IMAD.MOV.U32 R4, RZ, RZ, R6; MATCH.ANY R8, R4", "S04", "S03", (1, "R4", "RAW", 0)),
    (80, "B------:R-:W-:-:S06 HFMA2.MMA R4, R5, R6, R7; HFMA2.MMA R8, R5, R6, R4", "S06", "S05", (1, "R4", "RAW", 0)),
    (80, "B------:R-:W-:-:S10 HFMA2.MMA R4, R5, R6, R7; HFMA2 R8, R5, R6, R4", "S10", "S09", (1, "R4", "RAW", 0)),
    (120, "B------:R-:W-:-:S04 HFMA2 R5, -RZ, RZ, 0/0:00000000; RET.REL.NODEC R4, k", "S04", "S03", (1, "R5", "RAW", 0)),
    (120, "B------:R-:W-:-:S04 IMAD.WIDE.U32 R2, R9, R8, R6; LEA R8, P0, R2, UR4, 0x3", "S04", "S02", (1, "R2", "RAW", 0)),
    (120, "B------:R-:W-:-:S04 CS2UR UR6, SR_GLOBALTIMERLO; UMOV UR6, UR7", "S04", "S01", (1, "UR7", "RAW", 0)),
    (80, "B------:R-:W0:-:S02 QSPC.E.S P0, RZ, [R2]; B0-----:R-:W-:-:S05 @P0 EXIT", "W0", "W1", (1, "P0", "RAW", 0)),
]


@pytest.mark.parametrize(("sm", "lines", "whole", "less", "hazard"), OF_PTXAS)
def test_what_ptxas_counts_on_is_no_hazard_and_less_is_one(sm: int, lines: str, whole: str, less: str,
                                                           hazard: tuple[int, str, str, int]) -> None:
    def found(text: str) -> list[tuple[int, str, str, int]]:
        body = "\n".join([*text.split("; "), "EXIT"])
        kernel = module_of_listing(listing(body, sm=sm), "k.sass").kernels["k"]
        return [(one.pc, one.register, one.kind, one.producer) for one in hazards_of(kernel)]

    assert found(lines) == []
    assert hazard in found(lines.replace(whole, less, 1))


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
