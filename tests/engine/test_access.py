"""Memory accesses of a warp against a plain Python model: values, lines, shared-memory passes, faults, the journal."""

from __future__ import annotations

import numpy as np
import pytest

from rfview.engine.values import access as memory
from rfview.engine import isa, program
from rfview.engine.fault_codes import (LOCAL_RANGE, MISALIGNED, NO_FAULT, PARAM_RANGE, READ_ONLY, SHARED_RANGE,
                                       UNMAPPED)
from rfview.engine.machine.journal.log import LOG
from rfview.engine.values.access import (ADDR, FAULT_ADDRESS, FAULT_LANE, LINES, LOCAL_WINDOW, NUM_LINES, PASSES, REGION,
                                         SHARED_WINDOW, SPACES, UNIT)
from rfview.engine.compile.jit import key_dtype, record, lean_entry
from rfview.engine.program import (GLOBAL_BASE, INST, MEM_ATOMIC, MEM_LOAD, MEM_REDUCTION, MEM_STORE, SPACE_CONST, SPACE_GENERIC,
                                   SPACE_GLOBAL, SPACE_LOCAL, SPACE_PARAM, SPACE_SHARED)
from rfview.engine.state import ROW, SM

FULL = 0xFFFFFFFF
access = lean_entry(memory.access)
A, B = GLOBAL_BASE, GLOBAL_BASE + 8192
LOAD, STORE, ATOM, RED = MEM_LOAD, MEM_STORE, MEM_ATOMIC, MEM_REDUCTION


class Machine:
    """A small arena: buffer A (4 KB), read-only B (1 KB), shared, local and parameter memory."""

    def __init__(self) -> None:
        self.memory = np.random.RandomState(1).randint(0, 2**32, 65536, dtype=np.uint64).astype("u4")
        self.regions = np.zeros(4, REGION).view(np.recarray)
        self.regions[0] = (A, A + 4096, 128, 1, 0)
        self.regions[1] = (B, B + 1000, 2048, 0, 1)
        self.shared = (4096, 2048)  # word, bytes
        self.local = (8192, 20, 3)  # word, words per thread, warp slot
        self.param = (60000, 64)
        self.rows = np.zeros(32, ROW).view(np.recarray)
        self.rows.u[:] = np.random.RandomState(2).randint(0, 2**32, (32, 32), dtype=np.uint64)
        self.scratch = np.zeros(SM["scratch"].shape, "i8")
        self.log = record(LOG)
        self.log.on = 1
        self.mem_index = np.zeros(4096, "u4")
        self.key = record(key_dtype())

    def run(
        self,
        addresses: np.ndarray,
        kind: int = LOAD,
        space: int = SPACE_GLOBAL,
        width: int = 4,
        count: int = 1,
        mask: int = FULL,
        reg_bits: int = 32,
        signed: int = 0,
        offset: int = 0,
        aux: int = 0,
    ) -> int:
        inst = record(INST)
        inst.memory_kind, inst.space, inst.width, inst.count, inst.offset = kind, space, width, count, offset
        inst.reg_bits, inst.signed, inst.aux = reg_bits, signed, aux
        addresses = np.asarray(addresses, "u8")
        self.rows[0].u[:] = addresses & np.uint64(FULL)
        self.rows[1].u[:] = addresses >> np.uint64(32)
        self.log.mem_count = 0
        with np.errstate(all="ignore"):
            return int(
                access(self.key, inst, self.rows, 0, 8, np.uint32(mask), self.memory, self.regions[:2],
                       memory.WarpMemory(*self.shared, *self.local, *self.param), self.scratch, self.log, self.mem_index)
            )

    def lines(self) -> list[int]:
        return self.scratch[LINES : LINES + self.scratch[NUM_LINES]].tolist()

    def byte(self, address: int, space: int, lane: int) -> int:
        """Return the byte offset in the arena of an address in a space."""
        if space == SPACE_GENERIC:
            if SHARED_WINDOW <= address < SHARED_WINDOW + (1 << 24):
                space, address = SPACE_SHARED, address - SHARED_WINDOW
            elif LOCAL_WINDOW <= address < LOCAL_WINDOW + (1 << 24):
                space, address = SPACE_LOCAL, address - LOCAL_WINDOW
        if space == SPACE_SHARED:
            return self.shared[0] * 4 + address
        if space == SPACE_LOCAL:
            word, words, slot = self.local
            return (word + (slot * words + address // 4) * 32 + lane) * 4 + address % 4
        if space == SPACE_PARAM:
            return self.param[0] * 4 + address
        return 128 * 4 + address - A if address < B else 2048 * 4 + address - B


@pytest.fixture
def machine() -> Machine:
    return Machine()


def lanes_of(mask: int) -> list[int]:
    return [lane for lane in range(32) if mask >> lane & 1]


def passes(offsets: list[int | None], size: int) -> int:
    """Return the number of shared-memory passes, from their definition."""
    group = min(32, 128 // size)
    total = 0
    for first in range(0, 32, group):
        banks: dict[int, set[int]] = {}
        for offset in offsets[first : first + group]:
            for k in range(max(size // 4, 1)):
                if offset is not None:
                    banks.setdefault((offset // 4 + k) % 32, set()).add(offset // 4 + k)
        total += max((len(words) for words in banks.values()), default=0)
    return total


PATTERNS = {
    "unit": lambda rng, size: np.arange(32) * size,
    "reversed": lambda rng, size: np.arange(31, -1, -1) * size,
    "strided": lambda rng, size: np.arange(32) * 2 * size if size < 16 else np.arange(32) * size,
    "random": lambda rng, size: rng.randint(0, 512 // size, 32) * size,
    "broadcast": lambda rng, size: np.full(32, 3 * size),
}
SHAPES = [(1, 1), (2, 1), (4, 1), (8, 1), (1, 4), (2, 2), (2, 4), (4, 2), (4, 4), (8, 2)]


@pytest.mark.parametrize("pattern", PATTERNS)
@pytest.mark.parametrize("width,count", SHAPES)
def test_loads_and_stores_move_the_right_bytes(machine: Machine, pattern: str, width: int, count: int) -> None:
    rng = np.random.RandomState(width * 10 + count)
    size = width * count
    for space, origin, mask in (
        (SPACE_GLOBAL, A, FULL),
        (SPACE_GLOBAL, A + 64, 0x0FF0F00F),
        (SPACE_SHARED, 0, FULL),
        (SPACE_SHARED, 128, 0x7FFFFFFE),
        (SPACE_GENERIC, SHARED_WINDOW, FULL),
        (SPACE_GENERIC, A, 1 << 31),
        (SPACE_LOCAL, 0, FULL),
        (SPACE_GENERIC, LOCAL_WINDOW, 0xF0F0F0F0),
    ):
        offsets = PATTERNS[pattern](rng, size).astype(np.int64)
        if space == SPACE_LOCAL or origin == LOCAL_WINDOW:
            offsets %= 64
        addresses = offsets + origin
        real = machine.rows.u.copy()
        for kind in (LOAD, STORE):
            per = 2 if width == 8 else 1
            before = machine.memory.copy()
            code = machine.run(addresses, kind, space, width, count, mask, 64 if width == 8 else 32)
            assert code == NO_FAULT
            image = before.view("u1")
            expected_rows, image_after, words = real[8:12].copy(), image.copy(), set()
            for lane in lanes_of(mask):
                start = [machine.byte(int(addresses[lane]) + k, space, lane) for k in range(size)]
                assert machine.scratch[ADDR + lane] == start[0]
                if kind == LOAD:
                    for j in range(count):
                        value = sum(int(image[start[j * width + k]]) << 8 * k for k in range(width))
                        for part in range(per):
                            expected_rows[j * per + part][lane] = value >> 32 * part & FULL
                else:
                    for j in range(count):
                        for k in range(width):
                            row = 2 + j * per + k // 4
                            image_after[start[j * width + k]] = int(real[row][lane]) >> 8 * (k % 4) & 255
                            words.add(start[j * width + k] // 4)
            if kind == LOAD:
                assert (machine.rows.u[8:12] == expected_rows).all()
                assert (machine.memory == before).all() and machine.log.mem_count == 0
            else:
                assert (machine.memory.view("u1") == image_after).all()
                assert set(machine.mem_index[: machine.log.mem_count].tolist()) == words
            if origin >= A:
                want = list(dict.fromkeys(int(addresses[lane]) >> 7 for lane in lanes_of(mask)))
                assert machine.lines() == want and machine.scratch[PASSES] == 0
            elif space == SPACE_SHARED or origin == SHARED_WINDOW:
                at = [int(offsets[lane]) + (origin & 0xFFFF) if mask >> lane & 1 else None for lane in range(32)]
                assert machine.scratch[PASSES] == passes(at, size) and machine.lines() == []
            else:
                touched = {
                    machine.byte(int(addresses[lane]) + k, space, lane) >> 7
                    for lane in lanes_of(mask)
                    for k in range(size)
                }
                assert set(machine.lines()) == touched and len(machine.lines()) == len(touched)
            machine.rows.u[:] = real


def test_narrow_loads_extend_to_the_register(machine: Machine) -> None:
    machine.memory[128:160] = 0x80FF7F81
    address = A + np.arange(32) * 4
    for width, byte, reg_bits, signed, want in (
        (1, 0, 32, 1, 0xFFFFFF81),
        (1, 0, 16, 1, 0xFF81),
        (1, 0, 32, 0, 0x81),
        (1, 1, 32, 1, 0x7F),
        (2, 2, 32, 1, 0xFFFF80FF),
        (2, 2, 16, 0, 0x80FF),
        (4, 0, 64, 1, 0xFFFFFFFF80FF7F81),
        (4, 0, 64, 0, 0x80FF7F81),
        (1, 0, 64, 1, 0xFFFFFFFFFFFFFF81),
    ):
        assert machine.run(address, LOAD, SPACE_GLOBAL, width, 1, FULL, reg_bits, signed, byte) == NO_FAULT
        low, high = machine.rows[8].u, machine.rows[9].u
        assert (low == want & FULL).all()
        assert reg_bits != 64 or (high == want >> 32).all()


def test_of_colliding_stores_the_highest_lane_wins(machine: Machine) -> None:
    machine.rows[2].u[:] = np.arange(32)
    machine.run(np.full(32, A + 8), STORE, mask=0x00FF0000)
    assert machine.memory[130] == 23


def test_faults_name_the_first_lane_and_its_address(machine: Machine) -> None:
    lanes = np.arange(32)
    cases = [
        (UNMAPPED, A + 4096 - 64 + lanes * 4, LOAD, SPACE_GLOBAL, 16),
        (UNMAPPED, np.where(lanes == 5, 0, A), LOAD, SPACE_GLOBAL, 5),
        (UNMAPPED, B + 1000 - 16 + lanes * 4, LOAD, SPACE_CONST, 4),
        (UNMAPPED, np.where(lanes == 31, np.uint64(2**64 - 4), np.uint64(A)), LOAD, SPACE_GENERIC, 31),
        (MISALIGNED, A + 2 + lanes * 4, LOAD, SPACE_GLOBAL, 0),
        (READ_ONLY, B + lanes * 4, STORE, SPACE_GLOBAL, 0),
        (SHARED_RANGE, 2048 - 64 + lanes * 4, LOAD, SPACE_SHARED, 16),
        (SHARED_RANGE, SHARED_WINDOW + 2048 - 64 + lanes * 4, STORE, SPACE_GENERIC, 16),
        (LOCAL_RANGE, np.full(32, 80), STORE, SPACE_LOCAL, 0),
        (PARAM_RANGE, lanes * 4, LOAD, SPACE_PARAM, 16),
    ]
    for code, addresses, kind, space, lane in cases:
        before = machine.memory.copy()
        assert machine.run(addresses, kind, space) == code
        assert machine.scratch[FAULT_LANE] == lane
        offset = int(np.asarray(addresses, "u8")[lane]) - (
            SHARED_WINDOW if space == SPACE_GENERIC and kind == STORE else 0
        )
        assert int(machine.scratch[FAULT_ADDRESS]) & (2**64 - 1) == offset
        assert (machine.memory == before).all()
    assert machine.run(np.zeros(32), LOAD, mask=0) == NO_FAULT


def test_an_access_just_inside_the_bounds_is_fine(machine: Machine) -> None:
    assert machine.run(A + 4096 - 128 + np.arange(32) * 4) == NO_FAULT
    assert machine.scratch[UNIT] == 1 and machine.scratch[NUM_LINES] == 1
    assert machine.run(np.full(32, B + 996), LOAD, SPACE_CONST) == NO_FAULT
    assert machine.run(np.full(32, 76), STORE, SPACE_LOCAL) == NO_FAULT
    assert machine.run(np.full(32, 60), LOAD, SPACE_PARAM) == NO_FAULT
    assert machine.run(np.full(32, 0xFFFFFFFC), LOAD, SPACE_SHARED, offset=8) == NO_FAULT  # 32-bit addresses wrap


def test_lanes_of_one_generic_access_may_lie_in_different_windows(machine: Machine) -> None:
    lanes = np.arange(32)
    addresses = np.choose(lanes % 3, [A + lanes * 4, SHARED_WINDOW + lanes * 4, np.full(32, LOCAL_WINDOW + 8)])
    machine.rows[2].u[:] = lanes + 1000
    assert machine.run(addresses, STORE, SPACE_GENERIC) == NO_FAULT
    for lane in range(32):
        assert machine.memory[machine.byte(int(addresses[lane]), SPACE_GENERIC, lane) // 4] == lane + 1000
    assert machine.scratch[SPACES : SPACES + 3].tolist() == [SPACE_GLOBAL, SPACE_SHARED, SPACE_LOCAL]
    assert machine.scratch[PASSES] == 1


def model_atomic(op: str, kind: str, old: int, b: int, c: int) -> int:
    bits = 64 if "64" in kind else 32
    top = 1 << bits

    def signed(x: int) -> int:
        return x - top if kind[0] == "s" and x >> (bits - 1) else x

    if kind in ("f32", "f64"):
        code = {"f32": ("u4", "f4"), "f64": ("u8", "f8")}[kind]
        total = np.array([old], code[0]).view(code[1]) + np.array([b], code[0]).view(code[1])
        return int(total.view(code[0])[0])
    return {
        "add": (old + b) % top,
        "and": old & b,
        "or": old | b,
        "xor": old ^ b,
        "exch": b,
        "min": old if signed(old) <= signed(b) else b,
        "max": old if signed(old) >= signed(b) else b,
        "inc": 0 if old >= b else old + 1,
        "dec": b if old == 0 or old > b else old - 1,
        "cas": c if old == b else old,
    }[op]


@pytest.mark.parametrize(
    "op,kind",
    [
        *[(op, kind) for op in ("add", "min", "max") for kind in ("u32", "s32", "u64", "s64")],
        *[(op, kind) for op in ("and", "or", "xor", "exch", "cas") for kind in ("b32", "b64")],
        ("inc", "u32"),
        ("dec", "u32"),
        ("add", "f32"),
        ("add", "f64"),
    ],
)
def test_atomics_follow_the_lanes_in_order(machine: Machine, op: str, kind: str) -> None:
    rng = np.random.RandomState(7)
    width = 8 if "64" in kind else 4
    aux = isa.ATOM_OPS[op] | isa.TYPE_CODES[kind] << 8
    for space, origin in ((SPACE_GLOBAL, A), (SPACE_SHARED, 0)):
        offsets = rng.randint(0, 4, 32) * width
        mask = int(rng.randint(0, 2**31))
        if kind[0] == "f":
            code = "f4" if width == 4 else "f8"
            image = machine.memory.view(code)
            image[: len(image) // 8] = rng.randn(len(image) // 8)
            values = rng.randn(32).astype(code).view(f"u{width}").astype("u8")
            start = machine.shared[0] * 4 // width
            image[start : start + 8] = rng.randn(8)
        else:
            machine.memory[128:160] = rng.randint(0, 6, 32)
            machine.memory[4096:4110] = rng.randint(0, 6, 14)
            values = rng.randint(0, 8, 32).astype("u8") - np.uint64(3) * (rng.randint(0, 2, 32).astype("u8"))
        new = rng.randint(0, 6, 32).astype("u8")
        for slot, operand in ((2, values), (4, new)):
            machine.rows[slot].u[:] = operand & np.uint64(FULL)
            machine.rows[slot + 1].u[:] = operand >> np.uint64(32)
        expected, image = {}, machine.memory.view(f"u{width}").copy()
        for lane in lanes_of(mask):
            at = machine.byte(int(offsets[lane]) + origin, space, lane) // width
            old = int(image[at])
            limit = (1 << 8 * width) - 1
            image[at] = model_atomic(op, kind, old, int(values[lane]) & limit, int(new[lane]) & limit)
            expected[lane] = old
        assert machine.run(offsets + origin, ATOM, space, width, 1, mask, 8 * width, aux=aux) == NO_FAULT
        assert (machine.memory.view(f"u{width}") == image).all()
        for lane, old in expected.items():
            got = int(machine.rows[8].u[lane]) | (int(machine.rows[9].u[lane]) << 32 if width == 8 else 0)
            assert got == old


def test_a_reduction_writes_no_register_and_half_atomics_keep_the_other_half(machine: Machine) -> None:
    machine.memory[128] = 0x3C003C00
    machine.rows[2].u[:] = 0x4000
    before = machine.rows[8].u.copy()
    assert machine.run(np.full(32, A + 2), RED, width=2, mask=1, aux=isa.ATOM_ADD | isa.T_F16 << 8) == NO_FAULT
    assert machine.memory[128] == 0x42003C00 and (machine.rows[8].u == before).all()
    machine.rows[2].u[:] = 0x40004000
    assert machine.run(np.full(32, A), RED, mask=1, aux=isa.ATOM_ADD | isa.T_F16X2 << 8) == NO_FAULT
    assert machine.memory[128] == 0x45004200


def test_the_journal_counts_past_its_size_but_writes_inside(machine: Machine) -> None:
    machine.mem_index = np.zeros(16, "u4")
    machine.run(A + np.arange(32) * 8, STORE)
    assert machine.log.mem_count == 32 and machine.mem_index.tolist() == [128 + 2 * k for k in range(16)]
    machine.log.on = 0
    machine.run(A + np.arange(32) * 4, STORE)
    assert machine.log.mem_count == 0


def test_space_constants_match_the_program_contract() -> None:
    assert (program.SPACE_GLOBAL, program.SPACE_SHARED, program.SPACE_LOCAL) == (2, 3, 4)
