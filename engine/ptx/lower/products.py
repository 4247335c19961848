"""Lowering of Volta's mma, which computes four products of 8 x 8 x 4 halves at once.

The lanes 4 q to 4 q + 3 and 16 + 4 q to 16 + 4 q + 3 compute product q: PTX manual, "Matrix fragments for
mma.m8n8k4 with .f16 floating point type".
"""

from __future__ import annotations

from rfview.engine.ptx.lower.context import Lowering
from rfview.engine.ptx.lower.memory import elements
from rfview.engine.ptx.lower.steps import Steps
from rfview.engine.ptx.parse.syntax import Instruction, Name, Operand, Vector

_SIZE, _DEPTH = 8, 4


def four_products(steps: Steps) -> None:
    """Lower mma.sync.aligned.m8n8k4 of halves."""
    _Quads(steps.low, steps.whole).run()


class _Quads(Steps):
    """mma.sync.aligned.m8n8k4.{row,col}.{row,col}.{f16,f32}.f16.f16.{f16,f32}: D = A B + C; D and C have one type."""

    def __init__(self, low: Lowering, whole: Instruction) -> None:
        super().__init__(low, whole)
        parts = whole.opcode.split(".")
        self.a_by_row, self.b_by_row, self.kind = parts[4] == "row", parts[5] == "row", parts[6]
        lane = self.value("mov.u32", Name("%laneid"))
        self.first = self.value("and.b32", lane, 12)
        self.in_quad = self.value("and.b32", lane, 3)
        self.upper = self.value("bfe.u32", lane, 4, 1)

    def run(self) -> None:
        """Accumulate the products of every element of D that the lane holds, in the order of k."""
        to, a, b, c = self.whole.operands
        sums = self.addends(c)
        if self.kind == "f16":      # eight elements of one row
            rows, columns = [self.in_quad] * _SIZE, [self.value("mov.u32", at) for at in range(_SIZE)]
        else:                       # two elements of each of two rows, and the same four columns further on
            pair = [self.value("add.u32", self.value("and.b32", self.in_quad, 1), at) for at in (0, 2)]
            four = {at: self.value("add.u32", self.value("and.b32", self.in_quad, 2), at) for at in (0, 1, 4, 5)}
            rows, columns = [pair[at >> 1 & 1] for at in range(_SIZE)], [four[at & 5] for at in range(_SIZE)]
        for k in range(_DEPTH):
            left = {row.text: self.element(a, row, self.upper, k, self.a_by_row)
                    for row in {row.text: row for row in rows}.values()}
            right = {column.text: self.element(b, column, self.value("bfe.u32", column, 2, 1), k, not self.b_by_row)
                     for column in {column.text: column for column in columns}.values()}
            for at, (row, column) in enumerate(zip(rows, columns, strict=True)):
                sums[at] = self.value("fma.rn.f32", left[row.text], right[column.text], sums[at])
        items = elements(to)
        if self.kind == "f32":
            for item, total in zip(items, sums, strict=True):
                self.emit("mov.b32", item, total)
            return
        for item, lower, upper in zip(items, sums[::2], sums[1::2], strict=True):
            self.emit("cvt.rn.f16x2.f32", item, upper, lower)

    def addends(self, operand: Operand) -> list[Name]:
        """Return the lane's eight elements of C as f32."""
        if self.kind == "f32":
            return [self.value("mov.b32", item) for item in elements(operand)]
        halves = [self.new(16) for _ in range(_SIZE)]
        for at, item in enumerate(elements(operand)):
            self.emit("mov.b32", Vector([*halves[2 * at : 2 * at + 2]]), item)
        return [self.value("cvt.f32.f16", half) for half in halves]

    def element(self, operand: Operand, line: Name, upper: Name, k: int, is_along: bool) -> Name:
        """Return element k of a row of A or a column of B (`line`) as f32; upper: whether it is one of the last four.

        is_along: a lane holds all k of one line, else one k of four lines.
        """
        inside = self.value("mov.u32", k) if is_along else line
        lane = self.value("add.u32", self.first, self.value("and.b32", line, 3) if is_along else k)
        lane = self.value("mad.lo.u32", upper, 16, lane)
        words = [self.value("shfl.sync.idx.b32", item, lane, 31, -1) for item in elements(operand)]
        is_later = self.value("setp.ne.b32", self.value("and.b32", inside, 2), 0, bits=1)
        word = self.value("selp.b32", words[1], words[0], is_later)
        shift = self.value("shl.b32", self.value("and.b32", inside, 1), 4)
        half = self.value("cvt.u16.u32", self.value("shr.u32", word, shift), bits=16)
        return self.value("cvt.f32.f16", half)
