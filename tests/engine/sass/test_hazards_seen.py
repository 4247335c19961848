"""Hazards seen while programs run on the sub-core: what was read too early, and what it should have been."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from rfview.engine.check.findings import _hazards
from rfview.engine.hazards.watch import Sighting, Watch
from tests import subcore_machine
from tests.subcore_machine import SubcoreMachine, encoded
from tests.subcore_programs import Line, parse

pytestmark = pytest.mark.nojit


class Watched(SubcoreMachine):
    """A program on the sub-core with somebody who looks after each cycle."""

    watch: Watch | None = None

    def _note(self) -> None:
        super()._note()
        self.watch = self.watch or Watch(self.simulator)
        self.watch.look()


def seen(program: str) -> list[Sighting]:
    """Return what was seen; Rn is n at first."""
    machine = Watched([parse(program)], values={reg: float(reg) for reg in range(1, 10)})
    assert machine.watch is not None
    return list(machine.watch.seen.values())


def bits(value: float) -> int:
    return int(np.float32(value).view(np.uint32))


@pytest.mark.parametrize("program, pc, register, read, right", [
    ("FADD R1 R2 R3 s1; FFMA R5 R1 R6 R7", 1, "R1", 1.0, 5.0),
    ("MUFU R1 R2 w0 s2; FADD R5 R1 R6", 1, "R1", 1.0, 0.5),
    ("FADD R4 R2.reuse R3 s5; MOV R2 R9 s5; FADD R5 R2 R7", 2, "R2", 2.0, 9.0),
    # overwritten before hardware has read it: the right value is the old one
    ("LDG R4 R2 w0 r1 s2; MOV R2 R9; NOP *20", 1, "R2", 9.0, 2.0),
    ("MUFU R4 R3 w0; MUFU R6 R2 w0; MOV R2 R9; NOP *20", 2, "R2", 9.0, 2.0),
])
def test_a_hazard_is_seen_with_the_value_read_and_the_right_one(program: str, pc: int, register: str, read: float,
                                                                right: float) -> None:
    (found,) = seen(program)
    assert (found.pc, found.register, found.read, found.right) == (pc, register, bits(read), bits(right))


def test_a_stale_operand_is_seen_where_the_encoding_has_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """What FADD adds is operand 1 of the engine, but in the third place of the encoding and of the reuse cache."""
    def as_encoded(line: Line) -> np.ndarray:
        inst = encoded(line)
        inst["moved"][1] = line.op == "FADD"
        return inst

    monkeypatch.setattr(subcore_machine, "encoded", as_encoded)
    (found,) = seen("FFMA R4 R6 R7 R2.reuse s5; MOV R2 R9 s5; FADD R5 R3 R2")
    assert (found.pc, found.register, found.read, found.right) == (2, "R2", bits(2.0), bits(9.0))


@pytest.mark.parametrize("program", ["FADD R1 R2 R3 s4; FFMA R5 R1 R6 R7", "MUFU R1 R2 w0 s2; FADD R5 R1 R6 q0",
                                     "FADD R4 R2.reuse R3 s5; FADD R5 R2 R7 s5; MOV R2 R9",
                                     # counters of a fixed latency, as FP64 of sm_80 has them
                                     "FADD R1 R2 R3 w0 r1 s2; FFMA R5 R1 R6 R7 q0; MOV R2 R9 q1",
                                     # the second load's counter covers the first, whose port is taken when it comes
                                     "LDS R1 R3; LDS R4 R3 w0; FADD R11 R6 R7 *30; FADD R5 R1 R4 q0",
                                     "LDG R4 R2 w0 r1 s2; MOV R2 R9 q1",
                                     "HADD2 R4 R2 R3 s4; HADD2 R6 R4 R2 s5; STG R2 R6"])      # as ptxas has it
def test_covered_code_shows_no_hazard(program: str) -> None:
    assert seen(program) == []


def test_a_wrong_value_that_no_path_explains_is_a_finding() -> None:
    line = SimpleNamespace(kernel="k", line=7, text="FADD R5, R1, R6")
    sighting = Sighting(1, 0, "R1", "RAW", 40, 2, 3, 0, lane=4, read=0x10, right=0x17, count=2)
    checked: Any = SimpleNamespace(info=SimpleNamespace(program=[SimpleNamespace(text="LDS R1, [R3]", line=6), line]),
                                   placement=SimpleNamespace(kernels=()), watch=SimpleNamespace(seen={0: sighting}))
    (found,) = _hazards(checked)
    assert "reads R1 before LDS R1, [R3] has written it" in found.sentence and "it was 0x10 instead of 0x17" in found.sentence
    assert (found.place, found.cycle, found.lane, found.count, found.other_line) == ("R1", 40, 4, 2, 6)
