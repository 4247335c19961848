"""Calls of the driver in machine code: printf, assert, malloc and free, by values and cycle by cycle."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rfview.engine.errors import AssertionFault, KernelFault, SassError
from rfview.engine.functional.machine import FunctionalSimulator
from rfview.engine.launch import load_launch_file
from rfview.engine.program import HEAP_BYTES
from rfview.engine.sass.module import module_of_listing
from rfview.engine.simulator import Simulator
from tests.engine.machine_programs import plain_only
from tests.engine.one_warp import LAUNCH

pytestmark = [plain_only, pytest.mark.nojit]

# what ptxas makes of a call: the function's address from constant bank 4, the return address in R20 and R21
CALL = """B------:R-:W0:-:S15 LDC.64 R8, c[0x4][{offset}]
LEPC R20, {after}
B0-----:R-:W-:-:S15 CALL.ABS.NOINC R8"""
TEXTS = """.global 9 256 format
.bytes 0x0 2564206f662025640a
.global 8 256 claim
.bytes 0x0 6e203c203430{rest}
.bank 4 64
.address 0x0 vprintf 0x0
.address 0x8 malloc 0x0
.address 0x10 free 0x0
.address 0x18 __assertfail 0x0
.address 0x20 format 0x0
.address 0x28 claim 0x0
"""
BEGIN = """B------:R-:W1:-:S15 S2R R2, SR_TID.X
B-1----:R-:W-:-:S15 MOV R1, c[0x0][0x28]
B------:R-:W0:-:S15 LDC.64 R22, c[0x0][0x168]
B0-----:R-:W-:-:S15 IMAD.WIDE.U32 R22, R2, 0x8, R22"""
END = "B0-----:R0:W-:-:S15 STG.E.64 [R22.64], R4\nEXIT"


def listing(body: str, texts: str = TEXTS, sm: int = 80) -> str:
    """Return a listing of a kernel `k`, whose BEGIN leaves the thread in R2, its place in out in R22."""
    lines = [line if line[0] == "B" and line[7] == ":" else f"B------:R-:W-:-:S15 {line}" for line in body.splitlines()]
    code = "\n".join(f"{16 * at:04x} {line.format(after=hex(16 * at + 32))}" for at, line in enumerate(lines))
    return (f"// rfview machine code 1\n.target sm_{sm}\n.address_size 64\n{texts.format(rest='00' * 2)}\n.entry k\n.registers 24\n"
            f".local 16\n.params 0x160\n.param 0x0 8 u64 in\n.param 0x8 8 u64 out\n{code}\n")


def call(offset: int) -> str:
    """Return the call of the function at an offset of bank 4."""
    return CALL.replace("{offset}", hex(offset))


def run(kind: type, tmp_path: Path, text: str, **more: Any) -> Any:
    """Run a listing in one warp; return the simulator."""
    (tmp_path / "k.toml").write_text(LAUNCH.format(columns=2))
    (tmp_path / "k.ptx").write_text("")
    np.save(tmp_path / "in.npy", np.zeros((32, 2), np.uint32))
    simulator = kind(load_launch_file(tmp_path / "k.toml"), module=module_of_listing(text, "k.sass"), **more)
    simulator.run()
    return simulator


WAYS = [(FunctionalSimulator, {}), (Simulator, {"preset": "a100"})]


@pytest.mark.parametrize("kind, more", WAYS)
def test_printf_prints_a_line_per_lane_and_returns_how_many_arguments_it_had(kind, more, tmp_path):
    body = "\n".join((BEGIN, "MOV R3, 0x20", "IADD3 R1, R1, -0x10, RZ", "B------:R0:W-:-:S15 STL.64 [R1], R2",
                      "IADD3 R6, P1, R1, c[0x0][0x20], RZ", "IMAD.X R7, RZ, RZ, c[0x0][0x24], P1",
                      "MOV R4, c[0x4][0x20]", "MOV R5, c[0x4][0x24]", "ISETP.GT.U32.AND P0, PT, R2, 0x2, PT",
                      "@P0 BRA 0x100", call(0), "MOV R5, R2", END))
    simulator = run(kind, tmp_path, listing(body), **more)
    assert [text for _, text in simulator.printed] == ["0 of 32\n", "1 of 32\n", "2 of 32\n"]
    got = simulator.buffers()["out"]
    assert got[:3].tolist() == [[2, 0], [2, 1], [2, 2]] and got[3:, 1].tolist() == list(range(3, 32))


@pytest.mark.parametrize("kind, more", WAYS)
def test_malloc_gives_what_the_heap_has_and_keeps_predicates(kind, more, tmp_path):
    sizes = np.array([HEAP_BYTES + 1, 0xFFFFFFFF] + [50] * 28 + [HEAP_BYTES // 2, HEAP_BYTES // 2])
    simulator = run(kind, tmp_path, listing("\n".join((
        BEGIN, "MOV R4, 0x32", "ISETP.EQ.AND P1, PT, R2, RZ, PT", "ISETP.EQ.AND P2, PT, R2, 0x1, PT",
        "ISETP.GT.AND P3, PT, R2, 0x1d, PT", f"@P1 MOV R4, {HEAP_BYTES + 1:#x}", "@P2 MOV R4, 0xffffffff",
        f"@P3 MOV R4, {HEAP_BYTES // 2:#x}", "MOV R5, RZ", call(8), "@P3 IADD3 R4, R4, 0x1, RZ", END))), **more)
    got = simulator.buffers()["out"].astype(np.uint64)
    heap = next(variable.address for variable in simulator.placement.variables if variable.name == "%heap")
    starts = [int(low) | int(high) << 32 for low, high in got]
    assert starts[:2] == [0, 0] and starts[2:30] == [heap + 64 * number for number in range(28)]
    assert starts[30] == heap + 64 * 28 + 1 and starts[31] == 1, "the second half is more than is left; P3 is as it was"
    assert len(sizes) == len(starts)


@pytest.mark.parametrize("kind, more", WAYS)
def test_a_failed_assertion_ends_the_run_with_its_text(kind, more, tmp_path):
    body = "\n".join((BEGIN, "MOV R4, c[0x4][0x28]", "MOV R5, c[0x4][0x2c]", "MOV R6, c[0x4][0x20]", "MOV R7, c[0x4][0x24]",
                      "MOV R8, 0x7", "MOV R10, RZ", "MOV R11, RZ", "B------:R-:W0:-:S15 LDC.64 R14, c[0x4][0x18]",
                      "LEPC R20, {after}", "B0-----:R-:W-:-:S15 CALL.ABS.NOINC R14", END))
    with pytest.raises(AssertionFault, match=r"assertion failed: n < 40 \(%d of %d\n:7\)"):
        run(kind, tmp_path, listing(body), **more)


def test_free_returns_and_a_call_that_is_not_known_is_refused_by_name(tmp_path):
    assert run(FunctionalSimulator, tmp_path, listing("\n".join((BEGIN, "MOV R4, R2", "MOV R5, RZ", call(0x10), END)))).cycle
    module = module_of_listing(listing("\n".join((BEGIN, call(0), END)), TEXTS.replace("free", "cudaLaunchDevice")), "k.sass")
    with pytest.raises(SassError, match=re.escape("calls of cudaLaunchDevice are not executed: of the driver's functions, vprintf")):
        module.kernels["k"]


def test_a_run_without_an_end_names_the_line_of_the_code(tmp_path):
    with pytest.raises(KernelFault, match=r"the hottest line is k.ptx:26: BRA 0x40;"):
        run(Simulator, tmp_path, listing(f"{BEGIN}\nBRA 0x40"), preset="a100", max_cycles=400)


def test_code_that_is_not_optimised_calls_malloc_by_name():
    text = "\n".join(line for line in listing(BEGIN + "\nCALL.ABS.NOINC malloc\nEXIT").splitlines() if ".address" not in line)
    module = module_of_listing(text, "k.sass")
    functions = dict(module.kernels["k"].functions)
    assert functions["malloc"] == 6 and "%heap" in module.symbols
    assert int(module.kernels["k"].insts["target"][4]) == 6
