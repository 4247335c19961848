"""The machine's instruction semantics against the reference's, bit for bit, for every form in the opcode table."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np
import pytest

from rfview.engine import isa
from rfview.engine.values import execute as machine
from rfview.engine.values.execute import unpack
from rfview.engine.compile.jit import key_dtype, record, lean_entry
from rfview.engine.program import INST
from rfview.engine.ptx import forms
from rfview.engine.state import ROW
from tests.ptx_forms import opcodes
from tests.reference.operations import Operation, operation

KEY = record(key_dtype())
execute = lean_entry(machine.execute)
FULL = 0xFFFFFFFF
WARPS, MOST = 4, 300
BASES = tuple(base for base in forms.BASES if base not in ("shfl", "vote", "match", "activemask", "redux"))
FLOATS = {
    32: (0, 1 << 31, 1, 0x007FFFFF, 0x00800000, 0x3F800000, 0xBF800000, 0x7F7FFFFF, 0x7F800000, 0xFF800000, 0x7FC00001,
         0xFFC12345, 0x4F000000, 0xCF000000, 0x5F000000, 0x3F000000, 0x40200000, 0xC0200000, 0x3EFFFFFF, 0x38000000),
    64: (0, 1 << 63, 1, 0x000FFFFFFFFFFFFF, 0x0010000000000000, 0x3FF0000000000000, 0xBFF0000000000000,
         0x7FEFFFFFFFFFFFFF, 0x7FF0000000000000, 0xFFF0000000000000, 0x7FF8000000000001, 0x41E0000000000000,
         0xC1E0000000000000, 0x43E0000000000000, 0x3FE0000000000000, 0x4004000000000000, 0x380FFFFFF0000000,
         0x36A0000000000000),
    16: (0, 0x8000, 1, 0x03FF, 0x0400, 0x3C00, 0xBC00, 0x7BFF, 0x7C00, 0xFC00, 0x7E01, 0x3F80, 0xBF80, 0x7F80, 0x0080),
}
WHOLE = (0, 1, 2, 7, 8, 15, 16, 31, 32, 33, 63, 64, 65, 127, 128, 255, 256, 0x7FFF, 0x8000, 0xFFFF, 0x7FFFFFFF,
         0x80000000, FULL, 0x7FFFFFFFFFFFFFFF, 0x8000000000000000, 0xFFFFFFFFFFFFFFFF)


@cache
def forms_of(base: str) -> dict[str, forms.OpInfo]:
    """Return a base's forms, one per meaning, at most MOST; not the approximations of the special-function unit."""
    found: dict[tuple[Any, ...], tuple[str, forms.OpInfo]] = {}
    for opcode in opcodes(base):
        info = forms.lookup(base, tuple(opcode.split(".")[1:]))
        if info.op != isa.OP_SFU:
            found.setdefault((info.op, info.flags, info.aux, info.src_types, info.dst_type), (opcode, info))
    return dict(list(found.values())[:: max(len(found) // MOST, 1)])


def operands(state: np.random.RandomState, kind: str) -> list[int]:
    """Return 32 bit patterns of a type, a mix of edge cases and random ones."""
    bits = isa.TYPE_BITS[kind]
    mask = (1 << bits) - 1
    edges: tuple[int, ...] = WHOLE
    if "f" in kind:
        edges = FLOATS[16] if "16" in kind else FLOATS[bits]
    values = []
    for _ in range(32):
        choice = state.randint(4)
        value = int(state.randint(0, 2**32, dtype="u8")) << 32 | int(state.randint(0, 2**32, dtype="u8"))
        if choice < 2:
            value = edges[state.randint(len(edges))]
            if "x2" in kind:
                value |= edges[state.randint(len(edges))] << 16
        elif choice == 2 and "f" in kind and "16" not in kind:   # numbers of similar size, so that sums cancel
            number = state.uniform(-4, 4)
            value = int(np.float32(number).view("u4")) if bits == 32 else int(np.float64(number).view("u8"))
        values.append(value & mask)
    return values


def sources(info: forms.OpInfo, state: np.random.RandomState) -> Iterator[tuple[int, str, list[int]]]:
    """Yield (slot, type, 32 values) of every source operand."""
    for slot, kind in zip((0, 2, 4, 5), info.src_types):
        yield slot, kind, operands(state, kind)


def check(form: str, info: forms.OpInfo, meaning: Operation, inst: Any, state: np.random.RandomState) -> list[str]:
    """Execute a form for one warp on both; return the differences as text."""
    rows = np.zeros(24, ROW).view(np.recarray)
    slots = [0] * 8
    lanes: list[list[int]] = [list(slots) for _ in range(32)]
    for slot, kind, values in sources(info, state):
        for lane, value in enumerate(values):
            rows[slot].u[lane] = lanes[lane][slot] = value & FULL
            if isa.TYPE_BITS[kind] == 64:
                rows[slot + 1].u[lane] = lanes[lane][slot + 1] = value >> 32
    p0, p1 = (int(state.randint(0, 2**32, dtype="u8")) for _ in range(2))
    q0, q1 = unpack(execute(KEY, inst, rows, 0, 16, np.uint32(FULL), np.uint32(p0), np.uint32(p1)))
    wrong = []
    for lane, mine in enumerate(lanes):
        predicates = [p0 >> lane & 1, p1 >> lane & 1][:meaning.psrc]
        given = [mine[slot] | (mine[slot + 1] << 32 if bits == 64 else 0) for slot, bits in meaning.operands]
        want = meaning.function(*predicates, *given)
        got: Any
        if meaning.result <= 0:
            got = (int(q0) >> lane & 1, int(q1) >> lane & 1) if meaning.result < 0 else int(q0) >> lane & 1
        else:
            got = int(rows[16].u[lane]) | (int(rows[17].u[lane]) << 32 if meaning.result == 64 else 0)
            if info.op == isa.OP_CARRY:
                carry = int(q0) >> lane & 1 if info.flags & isa.FLAG_CC_OUT else want[1]
                got = (got, carry)
            else:
                want &= (1 << meaning.result) - 1
        if got != want:
            wrong.append(f"{form} {[hex(x) for x in given]} {predicates}: machine {got!r}, reference {want!r}")
    return wrong


@pytest.mark.parametrize("base", BASES)
def test_every_form_gives_the_reference_interpreters_bits(base: str) -> None:
    wrong = []
    forms = forms_of(base)
    for form, info in forms.items():
        inst = record(INST)
        inst["op"], inst["flags"], inst["aux"] = info.op, info.flags, info.aux
        if info.op == isa.OP_LOP3:
            inst["aux"] = 0xE8
        meaning = operation(inst)
        assert meaning is not None, form
        state = np.random.RandomState(zlib.crc32(form.encode()))
        with np.errstate(all="ignore"):
            wrong += [line for _ in range(WARPS) for line in check(form, info, meaning, inst, state)][:3]
    assert not wrong, "\n".join(wrong[:20])
