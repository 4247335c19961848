"""Packed integers, reserved shared memory and cluster barriers: forms of newer targets, run on the machine."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from rfview.engine import isa
from rfview.engine.errors import PtxError
from rfview.engine.launch import load_launch_file
from rfview.engine.ptx import decode_module
from rfview.engine.simulator import Simulator
from tests.reference.interpreter import run_launches

HEAD = ".version 8.7\n.target sm_100\n.address_size 64\n.visible .entry k(.param .u64 out) {\n"
REGISTERS = ".reg .pred %p<3>; .reg .b32 %r<9>; .reg .b64 %rd<3>;\n"
A, B, C = 0x80FF0102, 0x7F01FF03, 5


def result_of(tmp_path: Path, body: str) -> int:
    """Run `body`, whose result is %r4, in one thread on the machine, and compare it with the reference interpreter's."""
    text = (f"{HEAD}{REGISTERS} ld.param.u64 %rd1, [out]; ld.global.u32 %r1, [%rd1]; ld.global.u32 %r2, [%rd1+4];\n"
            f"ld.global.u32 %r3, [%rd1+8];\n{body}\nst.global.u32 [%rd1+12], %r4; ret; }}\n")
    (tmp_path / "k.ptx").write_text(text)
    np.save(tmp_path / "d.npy", np.array([A, B, C, 0], np.uint32))
    (tmp_path / "k.toml").write_text('[[launch]]\ngrid = [1]\nblock = [1]\nargs = [{buffer = "d"}]\n'
                                     '[buffers.d]\nfile = "d.npy"\n')
    run = Simulator(load_launch_file(tmp_path / "k.toml"))
    run.run()
    got = int(run.buffers()["d"][3])
    assert got == int(run_launches(run.spec, run.module)["d"].reshape(-1)[3])
    return got


def elements(word: int, bits: int, signed: bool) -> list[int]:
    """Split a word into elements, the lowest first."""
    found = [word >> first & (1 << bits) - 1 for first in range(0, 32, bits)]
    return [value - (signed and value >> bits - 1) * (1 << bits) for value in found]


def packed(values: list[int], bits: int) -> int:
    """Pack elements into a word, the lowest first."""
    return sum((value & (1 << bits) - 1) << bits * place for place, value in enumerate(values))


@pytest.mark.parametrize("operation", ["min", "max", "add"])
@pytest.mark.parametrize("sign", ["s", "u"])
def test_halves_are_taken_one_by_one(tmp_path: Path, operation: str, sign: str) -> None:
    step = {"min": min, "max": max, "add": lambda a, b: a + b}[operation]
    pairs = zip(elements(A, 16, sign == "s"), elements(B, 16, sign == "s"), strict=True)
    want = packed([step(a, b) for a, b in pairs], 16)
    assert result_of(tmp_path, f"{operation}.{sign}16x2 %r4, %r1, %r2;") == want


@pytest.mark.parametrize("sign", ["s", "u"])
def test_absolute_differences_of_bytes(tmp_path: Path, sign: str) -> None:
    kind = f"{sign}32"
    pairs = zip(elements(A, 8, sign == "s"), elements(B, 8, sign == "s"), strict=True)
    gaps = [abs(a - b) for a, b in pairs]
    plain = result_of(tmp_path, f"mov.b32 %r4, %r1; vabsdiff4.u32.{kind}.{kind} %r4, %r4, %r2, %r3;")
    assert plain == packed(gaps, 8)
    assert result_of(tmp_path, f"vabsdiff4.u32.{kind}.{kind}.add %r4, %r1, %r2, %r3;") == sum(gaps) + C


def test_a_guard_holds_for_the_whole_packed_instruction(tmp_path: Path) -> None:
    body = "mov.b32 %r4, 9; setp.eq.u32 %p1, %r3, 5; @!%p1 max.u16x2 %r4, %r1, %r2;"
    assert result_of(tmp_path, body) == 9
    assert result_of(tmp_path, body.replace("@!", "@")) == 0x80FFFF03


def test_the_reserved_shared_memory_lies_before_the_dynamic_one() -> None:
    text = (f".version 8.7\n.target sm_100\n.address_size 64\n.extern .shared .align 16 .b8 d[];\n"
            f".visible .entry k() {{ {REGISTERS} .shared .align 4 .b8 s[40];\n mov.u32 %r1, %reserved_smem_offset_1;\n"
            "mov.u32 %r2, d; st.shared.u32 [%r1], %r2; st.shared.u32 [s], %r1; ret; }\n")
    kernel = decode_module(text, "m.ptx").kernels["k"]
    stores = kernel.insts[kernel.insts["op"] == isa.OP_ST]
    assert kernel.shared_bytes == 48 + 1024
    assert stores["imm"][0][0] == 48 + 512 and stores["imm"][0][2] == 48 + 1024


def test_a_cluster_of_one_cta_waits_like_a_cta() -> None:
    text = f"{HEAD} barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned; ret; }}\n"
    insts = decode_module(text, "m.ptx").kernels["k"].insts
    assert insts["op"].tolist() == [isa.OP_BAR, isa.OP_EXIT] and insts["aux"][0] == isa.BAR_SYNC


@pytest.mark.parametrize("body", ["vabsdiff4.u32.u32.u32 %r1, %r2, %r3;", "max.s16x2 %r1, %r2;", "barrier.cluster.flip;"])
def test_other_forms_are_refused(body: str) -> None:
    with pytest.raises(PtxError, match="m.ptx:6"):
        decode_module(f"{HEAD}{REGISTERS}{body} ret; }}\n", "m.ptx").kernels["k"]
