"""Small programs of machine code, written as Python calls, and one warp or more that executes them in the functional mode."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rfview.engine import isa
from rfview.engine.functional.machine import FunctionalSimulator
from rfview.engine.launch import load_launch_file
from rfview.engine.machine_code import MACHINE_INST
from rfview.engine.program import (MEM_ATOMIC, MEM_LOAD, MEM_REDUCTION, MEM_STORE, NO_PRED, NO_REG, SPACE_GLOBAL, UNIT_CTRL,
                                   UNIT_LDST, UNIT_SP, Kernel, Module, Param)

CONTROL = {isa.OP_BRA, isa.OP_JUMP, isa.OP_EXIT, isa.OP_BAR, isa.OP_BSSY, isa.OP_BSYNC, isa.OP_BREAK, isa.OP_WARPSYNC,
           isa.OP_ENDCOLLECTIVE, isa.OP_YIELD, isa.OP_MEMBAR, isa.OP_NOP, isa.OP_NANOSLEEP, isa.OP_TRAP}
MEMORY = {isa.OP_LD: MEM_LOAD, isa.OP_ST: MEM_STORE, isa.OP_ATOM: MEM_ATOMIC, isa.OP_RED: MEM_REDUCTION}
# the compiled loop runs the bundled kernels' machine code
plain_only = pytest.mark.skipif(os.environ.get("NUMBA_DISABLE_JIT") != "1", reason="runs as plain Python")
PT, NOT_PT = (NO_PRED, 1), (NO_PRED, 0)      # predicate sources; others are (number, negated)


def r(number: int) -> tuple[str, int]:
    """A register as a source."""
    return "src_mask", number


def ur(number: int) -> tuple[str, int]:
    """A uniform register as a source."""
    return "uniform_mask", number


def c(byte: int) -> tuple[str, int]:
    """A word of the constant image as a source."""
    return "const_mask", byte


def inst(op: int, dst: Any = (), slots: Any = (), **fields: Any) -> np.ndarray:
    """Return one instruction. slots: sources by row slot, a number being an immediate; fields: of MACHINE_INST by name.

    guard: (predicate, negated); psrc: such pairs; pdst: predicates.
    """
    made = np.zeros((), MACHINE_INST)
    made["op"] = op
    made["src"], made["dst"], made["pdst"], made["psrc"] = NO_REG, NO_REG, NO_PRED, NO_PRED
    made["unit"] = UNIT_CTRL if op in CONTROL else UNIT_LDST if op in MEMORY else UNIT_SP
    dst = [dst] if isinstance(dst, int) else list(dst)
    made["dst"][: len(dst)], made["num_dst"] = dst, len(dst)
    for slot, source in (slots.items() if isinstance(slots, dict) else enumerate(slots)):
        kind, number = source if isinstance(source, tuple) else ("imm_mask", source)
        made[kind] |= 1 << slot
        made["src" if kind == "src_mask" else "imm"][slot] = number & 0xFFFFFFFF
    made["guard"], made["guard_negate"] = fields.pop("guard", (NO_PRED, 0))
    for k, (number, negated) in enumerate(fields.pop("psrc", ())):
        made["psrc"][k], made["psrc_negate"][k] = number, negated
    for k, number in enumerate(fields.pop("pdst", ())):
        made["pdst"][k] = number
    if op in MEMORY:
        fields = {"space": SPACE_GLOBAL, "width": 4, "count": 1, "reg_bits": 32, **fields}
        made["memory_kind"] = MEMORY[op]
        made["polls"] = op == isa.OP_ATOM
    for name, value in fields.items():
        made[name] = value
    return made


def operands(*values: Any) -> dict[int, Any]:
    """Return row slots for 32-bit operands a, b, c."""
    return {2 * k: value for k, value in enumerate(values)}


def wide(*values: tuple[Any, Any]) -> dict[int, Any]:
    """Return row slots for 64-bit operands, given as (low, high)."""
    return {2 * k + half: value for k, pair in enumerate(values) for half, value in enumerate(pair)}


def to(label: str, op: int, *rest: Any, **fields: Any) -> tuple[np.ndarray, str]:
    """Return an instruction whose target is a label of its program."""
    return inst(op, *rest, **fields), label


def place(program: list[Any]) -> np.ndarray:
    """Return a program as an array. Its parts are instructions, those of `to`, and labels."""
    labels: dict[str, int] = {}
    parts: list[Any] = []
    for part in program:
        if isinstance(part, str):
            labels[part] = len(parts)
        else:
            parts.append(part)
    insts = np.array([part[0] if isinstance(part, tuple) else part for part in parts], MACHINE_INST)
    for pc, part in enumerate(parts):
        if isinstance(part, tuple):
            insts[pc]["target"] = labels[part[1]]
    return insts


def run(program: list[Any], given: np.ndarray, columns: int, *, block: int = 32, grid: int = 1, registers: int = 64,
        shared: int = 0, local: int = 0, settings: dict[str, Any] | None = None, max_cycles: int = 20_000) -> np.ndarray:
    """Run a program on words `given` and return the (block * grid, columns) words of `out`.

    The constant image begins with the addresses of `given` (byte 0) and `out` (byte 8).
    """
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        np.save(folder / "in.npy", np.ascontiguousarray(given, np.uint32))
        (folder / "k.ptx").write_text("")
        (folder / "k.toml").write_text(
            f'[[launch]]\ngrid = [{grid}]\nblock = [{block}]\nargs = [{{buffer = "in"}}, {{buffer = "out"}}]\n[buffers.in]\n'
            f'file = "in.npy"\n[buffers.out]\nshape = [{block * grid}, {columns}]\ndtype = "uint32"\nzeros = true\n')
        spec = load_launch_file(folder / "k.toml")
        insts = place(program)
        texts = tuple(isa.mnemonic(int(op)) for op in insts["op"])
        params = (Param("in", "u64", 8, 8, 0), Param("out", "u64", 8, 8, 8))
        kernel = Kernel("k", insts, texts, params, registers, 0, shared, local, ())
        module = Module(path="k.sass", text=".address_size 64\n", kernels={"k": kernel})
        simulator = FunctionalSimulator(spec, module=module, settings=settings, max_cycles=max_cycles)
        simulator.run()
        return simulator.buffers()["out"]


def begin(columns: int) -> list[np.ndarray]:
    """Return instructions that put the thread's index in R0, and addresses in (R2, R3): its words of `in`, (R4, R5): of `out`."""
    tid, block, cta = isa.SREG_TID_X, isa.SREG_NTID_X, isa.SREG_CTAID_X
    return [inst(isa.OP_SREG, 0, aux=tid), inst(isa.OP_SREG, 1, aux=block), inst(isa.OP_SREG, 2, aux=cta),
            inst(isa.OP_MAD_LO32, 0, operands(r(1), r(2), r(0))),
            inst(isa.OP_MAD_WIDE_U32, (2, 3), wide((r(0), 0), (4 * columns, 0), (c(0), c(4)))),
            inst(isa.OP_MAD_WIDE_U32, (4, 5), wide((r(0), 0), (4 * columns, 0), (c(8), c(12))))]


def load(reg: int, column: int, **fields: Any) -> np.ndarray:
    """Return a load of the thread's word in a column of `in`."""
    return inst(isa.OP_LD, reg, (r(2), r(3)), offset=4 * column, **fields)


def keep(reg: int, column: int, **fields: Any) -> np.ndarray:
    """Return a store of a register to the thread's word in a column of `out`."""
    return inst(isa.OP_ST, (), (r(4), r(5), r(reg)), offset=4 * column, **fields)


def exit_() -> np.ndarray:
    """Return EXIT."""
    return inst(isa.OP_EXIT)


def apply(op: int, *values: Any, is_wide: bool = False, preds: tuple[Any, ...] = (), **fields: Any) -> tuple[np.ndarray, ...]:
    """Execute one opcode on a warp of operands; return (low words, high words, predicate 0, predicate 1), 32 each.

    values: 32 numbers per operand, of 64 bits if is_wide; preds: 32 truth values per predicate source.
    """
    given = np.zeros((32, 9), np.uint64)
    for k, operand in enumerate(values):
        numbers = np.array([int(value) & 0xFFFFFFFFFFFFFFFF for value in operand], np.uint64)
        given[:, 2 * k], given[:, 2 * k + 1] = numbers & np.uint64(0xFFFFFFFF), numbers >> np.uint64(32)
    for k, truths in enumerate(preds):
        given[:, 6 + k] = truths
    program = [*begin(9), *(load(6 + k, k) for k in range(6)), inst(isa.OP_MOV32, 12, (7,)), inst(isa.OP_MOV32, 13, (7,))]
    for k in range(len(preds)):
        program += [load(14, 6 + k), inst(isa.OP_SETP_U32, (), operands(r(14), 0), aux=isa.CMP_NE, pdst=(k,), psrc=(PT,),
                                          flags=isa.FLAG_BOOL_AND)]
    used = {2 * k + half: r(6 + 2 * k + half) for k in range(len(values)) for half in range(1 + is_wide)}
    fields = {"psrc": tuple((k, 0) for k in range(len(preds))), "pdst": (3, 4), **fields}
    program += [inst(op, fields.pop("dst", (12, 13)), fields.pop("slots", used), **fields),
                inst(isa.OP_P2R, 15, operands(0x18, 0)), keep(12, 0), keep(13, 1), keep(15, 2), exit_()]
    out = run(program, given.astype(np.uint32), 9)
    return out[:, 0], out[:, 1], out[:, 2] >> 3 & 1, out[:, 2] >> 4 & 1
