"""Lowering of ldmatrix, stmatrix and movmatrix, which exchange data within a warp, to shuffles and accesses.

Lanes 8 i to 8 i + 7 hold the addresses of matrix i's rows of 16 bytes; lane n moves word n % 4 of row n / 4, or, with
.trans, column n / 4 of row 2 (n % 4) and the next. GPUs have a single instruction for all this.
"""

from __future__ import annotations

from rfview.engine.ptx.lower.context import Lowering
from rfview.engine.ptx.lower.memory import elements
from rfview.engine.ptx.lower.names import Register
from rfview.engine.ptx.lower.steps import Steps
from rfview.engine.ptx.parse.syntax import Address, Instruction, Name, Operand, Vector


def lower_matrix(low: Lowering, statement: Instruction) -> None:
    """Lower {ld,st}matrix.sync.aligned.m8n8.{x1,x2,x4}{.trans}.shared.b16."""
    base, *parts = statement.opcode.split(".")
    is_transposed = "trans" in parts
    is_load = base == "ldmatrix"
    data, address = statement.operands if is_load else statement.operands[::-1]
    items = elements(data)
    assert isinstance(address, Address)
    _Matrices(low, statement).run(is_load, is_transposed, items, address)


def lower_transposition(low: Lowering, statement: Instruction) -> None:
    """Lower movmatrix.sync.aligned.m8n8.trans.b16: a lane's halves come from two rows of the source's column."""
    result, source = statement.operands
    steps = Steps(low, statement)
    lane = steps.value("mov.u32", Name("%laneid"))
    held_by = steps.value("bfi.b32", lane, steps.value("shr.u32", lane, 3), 3, 2)  # 8 (lane % 4) + lane / 8
    upper = steps.value("shfl.sync.idx.b32", source, held_by, 31, -1)
    lower = steps.value("shfl.sync.idx.b32", source, steps.value("add.u32", held_by, 4), 31, -1)
    is_odd = steps.value("setp.ne.u32", steps.value("and.b32", lane, 4), 0, bits=1)
    halves = steps.value("selp.b32", 0x7632, 0x5410, is_odd)
    steps.emit("prmt.b32", result, upper, lower, halves)


class _Matrices(Steps):
    """The scalar statements of one ldmatrix or stmatrix."""

    def run(self, is_load: bool, is_transposed: bool, items: list[Operand], address: Address) -> None:
        """Find each lane's row address, then exchange the addresses and access memory, matrix by matrix."""
        own, lane, quad, column = self.new(), self.new(), self.new(), self.new()
        assert address.base is not None
        base = self.low.resolve(address.base)
        is_wide = isinstance(base, Register) and base.bits == 64
        self.emit("cvt.u32.u64" if is_wide else "mov.u32", own, address.base)
        self.emit("mov.u32", lane, Name("%laneid"))
        self.emit("shr.u32", quad, lane, 2)
        self.emit("and.b32", column, lane, 3)
        loaded: list[Name] = []
        for number, item in enumerate(items):
            value = self.new()
            if not is_load:
                self.emit("mov.b32", value, item)
            if is_transposed:
                self.halves(is_load, number, value, own, quad, column, address.offset)
            else:
                place = self.row(own, quad, number, 0, column, 4)
                operands: list[Operand] = [value, Address(place, address.offset)]
                self.emit("ld.shared.b32" if is_load else "st.shared.b32", *(operands if is_load else operands[::-1]))
            loaded.append(value)
        if is_load:  # only now, since a result may be the address register
            for item, value in zip(items, loaded, strict=True):
                self.emit("mov.b32", item, value)

    def row(self, own: Name, row: Name, number: int, more: int, column: Name, scale: int) -> Name:
        """Return the address of an element: row `row` + `more` of matrix `number`, `column` * `scale` bytes in."""
        source, place = self.new(), self.new()
        self.emit("add.u32", source, row, 8 * number + more)
        self.emit("shfl.sync.idx.b32", place, own, source, 31, -1)
        self.emit("mad.lo.u32", place, column, scale, place)
        return place

    def halves(self, is_load: bool, number: int, value: Name, own: Name, quad: Name, column: Name, offset: int) -> None:
        """Load or store the two elements of one column that share a register in a transposed access."""
        twice, low_half, high_half = self.new(), self.new(16), self.new(16)
        self.emit("shl.b32", twice, column, 1)
        if not is_load:
            self.emit("mov.b32", Vector([low_half, high_half]), value)
        for more, half in enumerate((low_half, high_half)):
            place = Address(self.row(own, twice, number, more, quad, 2), offset)
            operands: list[Operand] = [half, place] if is_load else [place, half]
            self.emit("ld.shared.b16" if is_load else "st.shared.b16", *operands)
        if is_load:
            self.emit("mov.b32", value, Vector([low_half, high_half]))
