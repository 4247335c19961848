"""Lowering of mma.sync and wmma, which run on tensor cores on GPUs, to shuffles and multiply-adds of the 32 lanes.

A tile is divided into blocks of 8 x 8 results: lane 4 g + t holds columns 2 t and 2 t + 1 of row g of each. A register of
A holds part of row g of one block's rows, one of B part of column g: the elements t P to t P + P - 1 of a chunk of 4 P
along k, where P elements fit into a word. wmma leaves the layout to the implementation; this is mma's. Sums are rounded
after every product, in the order of k; tensor cores add several products at once, so the last bits may differ.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from rfview.engine.ptx.lower.context import Lowering
from rfview.engine.ptx.lower.memory import elements
from rfview.engine.ptx.lower.names import Register
from rfview.engine.ptx.lower.small_floats import widen
from rfview.engine.ptx.lower.steps import Steps
from rfview.engine.ptx.parse.syntax import Address, Instruction, Name, Operand, Vector

_SHAPE = re.compile(r"m(\d+)n(\d+)k(\d+)\Z")
_BITS = {"f16": 16, "bf16": 16, "tf32": 32, "f64": 64, "s8": 8, "u8": 8, "s4": 4, "u4": 4, "b1": 1,
         "e4m3": 8, "e5m2": 8}
_TYPES = {*_BITS, "f32", "s32"}
SEGMENTS_OF_4 = 0x1C1F  # shfl's clamp and mask operand: lane numbers within groups of four
_ROUNDS = ("rn", "rz", "rm", "rp")


@dataclass
class Tile:
    """The shape of one multiplication and the types of A, B and the sums."""

    rows: int
    columns: int
    depth: int
    result: str
    a: str
    b: str
    addend: str

    @property
    def packed(self) -> int:
        """Elements of A or B per register."""
        return max(32 // _BITS[self.a], 1)

    @property
    def chunks(self) -> int:
        """Registers along k for one row of blocks."""
        return self.depth // (4 * self.packed)


def lower_tensor(low: Lowering, statement: Instruction) -> None:
    """Lower mma.sync.aligned and wmma.{load,store,mma}.sync.aligned."""
    base, *parts = statement.opcode.split(".")
    tile = tile_of(statement.opcode)
    if base == "mma" or parts[0] == "mma":
        return _Product(low, statement, tile).run()
    space = next((f".{part.split('::')[0]}" for part in parts if part in ("global", "shared", "shared::cta")), "")
    _Transfer(low, statement, tile, space).run(parts[0] == "load", parts[1], "row" in parts)


def tile_of(opcode: str) -> Tile:
    """Read shape and types: result, A, B and addend; wmma of halves names the first and the last, transfers have one."""
    parts = opcode.split(".")
    rows, columns, depth = next(map(int, shape.groups()) for part in parts if (shape := _SHAPE.match(part)))
    types = [part for part in parts if part in _TYPES]
    types = [types[0], "f16", "f16", types[1]] if len(types) == 2 else types * (4 // len(types))
    return Tile(rows, columns, depth, *types)


class _Lanes(Steps):
    """Steps with each lane's position: its row or column g in a block, and its number t among four lanes."""

    def __init__(self, low: Lowering, whole: Instruction) -> None:
        super().__init__(low, whole)
        self.lane = self.value("mov.u32", Name("%laneid"))
        self.group = self.value("shr.u32", self.lane, 2)
        self.four = self.value("and.b32", self.lane, 3)


class _Product(_Lanes):
    """D = A B + C."""

    def __init__(self, low: Lowering, whole: Instruction, tile: Tile) -> None:
        super().__init__(low, whole)
        self.tile = tile

    def run(self) -> None:
        """Fetch what each lane multiplies and accumulate, element by element along k."""
        tile, operands = self.tile, self.whole.operands
        high, wide = tile.rows // 8, tile.columns // 8
        a, b = elements(operands[1]), elements(operands[2])     # wmma of halves repeats them
        addends = self.unpack_sums(operands[3], tile.addend)
        is_saturated = "satfinite" in self.whole.opcode.split(".")
        # the products of bytes alone cannot overflow; the addend comes last
        sums = [self.value("mov.u32", 0) for _ in addends] if is_saturated else list(addends)
        source = self.value("shl.b32", self.four, 3)
        for chunk in range(tile.chunks):
            for four in range(4):
                rows = [self.split(self.fetch(a[chunk * high + row], four, SEGMENTS_OF_4), tile.a)
                        for row in range(high)]
                columns = [[self.split(self.fetch(b[column * tile.chunks + chunk], lane, 31), tile.b)
                            for column in range(wide)] for lane in self.pair_of_lanes(source, four)]
                for row in range(high):
                    for column in range(wide):
                        for side in (0, 1):
                            at = (row * wide + column) * 2 + side
                            sums[at] = self.add_products(rows[row], columns[side][column], sums[at])
        if is_saturated:
            sums = [self.value("add.sat.s32", *both) for both in zip(sums, addends, strict=True)]
        self.pack_sums(operands[0], sums)

    def pair_of_lanes(self, source: Name, four: int) -> tuple[Name, Name]:
        """Return the lanes that hold columns 2 t and 2 t + 1, at the k of the lanes numbered `four`."""
        return self.value("add.u32", source, four), self.value("add.u32", source, four + 4)

    def fetch(self, register: Operand, lane: Operand | int, mode: int) -> Name:
        """Read another lane's register."""
        if self.tile.a != "f64":
            return self.value("shfl.sync.idx.b32", register, lane, mode, -1)
        halves = [self.new(), self.new()]
        self.emit("mov.b64", Vector([*halves]), register)
        moved = [self.value("shfl.sync.idx.b32", half, lane, mode, -1) for half in halves]
        return self.value("mov.b64", Vector([*moved]), bits=64)

    def split(self, word: Name, kind: str) -> list[Name]:
        """Return a register's elements as f32; 4-bit ones as two words of bytes; f64, packed bytes and bits unchanged."""
        if kind == "f16":
            halves = [self.new(16), self.new(16)]
            self.emit("mov.b32", Vector([*halves]), word)
            return [self.value("cvt.f32.f16", half) for half in halves]
        if kind in ("e4m3", "e5m2"):  # exact as halves
            pairs, words = [self.new(16), self.new(16)], [self.new(), self.new()]
            self.emit("mov.b32", Vector([*pairs]), word)
            for pair, both in zip(pairs, words, strict=True):
                whole = self.whole
                widen(Steps(self.low, Instruction(whole.line, f"cvt.rn.f16x2.{kind}x2", [both, pair], whole.guard,
                                                  whole.guard_negate)))
            return [value for both in words for value in self.split(both, "f16")]
        if kind == "bf16":
            return [self.value("shl.b32", word, 16), self.value("and.b32", word, 0xFFFF0000)]
        if kind in ("s4", "u4"):
            parts = [self.value("and.b32", part, 0x0F0F0F0F) for part in (word, self.value("shr.u32", word, 4))]
            return parts if kind == "u4" else [self.signed(part) for part in parts]
        return [self.value("and.b32", word, 0xFFFFE000)] if kind == "tf32" else [word]

    def signed(self, word: Name) -> Name:
        """Sign-extend the four bits in each byte: subtract 16 from values of 8 or more, without borrows across bytes."""
        over = self.value("xor.b32", word, 0x88888888)
        return self.value("xor.b32", self.value("sub.u32", over, 0x08080808), 0x80808080)

    def add_products(self, a: Sequence[Name], b: Sequence[Name], total: Name) -> Name:
        """Add the products of two registers' elements to a sum."""
        tile = self.tile
        if tile.a == "b1":
            combine = "and" if "and" in self.whole.opcode.split(".") else "xor"
            return self.value("add.u32", total, self.value("popc.b32", self.value(f"{combine}.b32", a[0], b[0])))
        if tile.result == "s32":
            signs = ".".join(f"{kind[0]}32" for kind in (tile.a, tile.b))
            for left, right in zip(a, b, strict=True):
                total = self.value(f"dp4a.{signs}", left, right, total)
            return total
        is_double = tile.a == "f64"
        rounding = next((part for part in self.whole.opcode.split(".") if part in _ROUNDS), "rn")
        for left, right in zip(a, b, strict=True):
            opcode = f"fma.{rounding}.f64" if is_double else "fma.rn.f32"
            total = self.value(opcode, left, right, total, bits=64 if is_double else 32)
        return total

    def unpack_sums(self, operand: Operand, kind: str) -> list[Name]:
        """Return the lane's two elements of each block of C."""
        items = elements(operand)
        if kind == "f16":
            return [half for item in items for half in self.split(item, "f16")]  # type: ignore[arg-type]
        bits = 64 if kind == "f64" else 32
        return [self.value(f"mov.b{bits}", item, bits=bits) for item in items]

    def pack_sums(self, operand: Operand, sums: Sequence[Name]) -> None:
        """Write D, which must come last: its registers may be those of A, B or C."""
        kind = self.tile.result
        items = elements(operand)
        if kind == "f16":
            for item, low_half, high_half in zip(items, sums[::2], sums[1::2], strict=True):
                self.emit("cvt.rn.f16x2.f32", item, high_half, low_half)
            return
        for item, value in zip(items, sums, strict=True):
            self.emit("mov.b64" if kind == "f64" else "mov.b32", item, value)


class _Transfer(_Lanes):
    """wmma.load and wmma.store: a tile in memory, its rows or columns `stride` elements apart."""

    def __init__(self, low: Lowering, whole: Instruction, tile: Tile, space: str) -> None:
        super().__init__(low, whole)
        self.tile, self.space, self.bits = tile, space, _BITS.get(tile.a, 32)

    def run(self, is_load: bool, part: str, is_by_row: bool) -> None:
        """Load or store matrix `part` (a, b, c or d), in row-major or column-major order."""
        operands = self.whole.operands
        data, place = operands[:2] if is_load else operands[1::-1]
        assert isinstance(place, Address) and place.base is not None
        along, across = self.places(part)
        is_sum = part in ("c", "d")
        # whether neighbours in a register are also neighbours in memory
        is_dense = is_by_row == (part != "b")
        count = 2 if is_sum else max(32 // self.bits, 1)
        default = self.tile.columns if is_sum else self.tile.depth
        if not is_dense:
            default = self.tile.columns if part == "b" else self.tile.rows
        stride: Operand = operands[2] if len(operands) == 3 else self.value("mov.u32", default)
        groups = [(block, chunk) for chunk in range(across) for block in range(along)]
        if part != "a":
            groups = [(block, chunk) for block in range(along) for chunk in range(across)]
        words = 1 if not is_sum or self.bits == 16 else 2
        items = elements(data)
        base = self.low.resolve(place.base)
        if is_load or not isinstance(base, Register):  # the results may overwrite the address
            bits = base.bits if isinstance(base, Register) else 32 if self.space.startswith(".shared") else 64
            place = Address(self.value(f"mov.b{bits}", place.base, bits=bits), place.offset)
        for number in range(len(items) // words if is_load else len(groups)):
            block, chunk = groups[number % len(groups)]
            line = self.value("add.u32", self.group, 8 * block)
            first = self.value("mad.lo.u32", self.four, count, 4 * count * chunk)
            held = items[number * words : (number + 1) * words]
            self.move(is_load, held, [self.spot(place, line, first, item, stride, is_dense) for item in range(count)],
                      is_dense)

    def places(self, part: str) -> tuple[int, int]:
        """Return the number of blocks of rows (for B, of columns) and of registers along the other dimension."""
        tile = self.tile
        if part in ("c", "d"):
            return tile.rows // 8, tile.columns // 8
        return (tile.rows if part == "a" else tile.columns) // 8, tile.depth * self.bits // max(128, 4 * self.bits)

    def spot(self, place: Address, line: Name, first: Name, item: int, stride: Operand, is_dense: bool) -> Address:
        """Return the address of element first + item of a line; lines (or, unless dense, elements) are `stride` apart."""
        inner = self.value("add.u32", first, item)
        slow, fast = (line, inner) if is_dense else (inner, line)
        index = self.value("mad.lo.u32", slow, stride, fast)
        assert place.base is not None
        size = max(self.bits // 8, 1)
        if self.bits < 8:       # tiles of 4-bit numbers and bits consist of whole words along k, as do their strides
            index = self.value("shr.u32", index, 1 if self.bits == 4 else 3)
        if self.low.register(place.base).bits == 64:
            return Address(self.value("mad.wide.u32", index, size, place.base, bits=64), place.offset)
        return Address(self.value("mad.lo.u32", index, size, place.base), place.offset)

    def move(self, is_load: bool, items: Sequence[Operand], spots: Sequence[Address], is_dense: bool) -> None:
        """Load or store the elements of one register, or of the two registers of wide sums."""
        if len(items) == len(spots):
            for item, spot in zip(items, spots, strict=True):
                operands = (item, spot) if is_load else (spot, item)
                self.emit(f"{'ld' if is_load else 'st'}{self.space}.b{self.bits}", *operands)
        elif is_dense:
            operands = (items[0], spots[0]) if is_load else (spots[0], items[0])
            self.emit(f"{'ld' if is_load else 'st'}{self.space}.b32", *operands)
        elif is_load:
            word = self.value("mov.u32", 0)
            for place, spot in enumerate(spots):
                element = self.value(f"ld{self.space}.u{self.bits}", spot)
                word, old = self.new(), word
                self.emit("bfi.b32", word, element, old, place * self.bits, self.bits)
            self.emit("mov.b32", items[0], word)
        else:
            for place, spot in enumerate(spots):
                element = self.value("shr.u32", items[0], place * self.bits)
                self.emit(f"st{self.space}.b{self.bits}", spot, element)
