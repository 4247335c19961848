"""Lowering of mma.sp: expands the stored half of A with zeros, then lowers the product as a dense one.

The metadata selects two of every four places; a place has 16 bits if A holds halves (a tf32 takes two places), else 8
(which hold two 4-bit numbers). The operand's words are laid out as in a dense A of half the depth, so the two elements of
a group lie in one word of one of four lanes. PTX manual, "Matrix fragments for multiply-accumulate operation with sparse
matrix A".
"""

from __future__ import annotations

from rfview.engine.ptx.lower.context import Lowering
from rfview.engine.ptx.lower.steps import Steps
from rfview.engine.ptx.lower.tensor import SEGMENTS_OF_4, lower_tensor, tile_of
from rfview.engine.ptx.parse.syntax import Instruction, Name, Number, Operand, Vector


def lower_sparse(low: Lowering, statement: Instruction) -> None:
    """Lower mma.sp{::ordered_metadata}.sync.aligned.m16n8kK.row.col: D, A, B, C, metadata, selector."""
    opcode = "mma." + statement.opcode.split(".", 2)[2]
    dense = Instruction(statement.line, opcode, statement.operands[:4], statement.guard, statement.guard_negate)
    tile = tile_of(opcode)
    stored, metadata, selector = statement.operands[1], statement.operands[4], statement.operands[5]
    assert isinstance(stored, Vector) and isinstance(selector, Number)
    has_bytes = tile.a not in ("f16", "bf16", "tf32")
    # number of lanes, of four, that hold the metadata of one column of groups: twice as many for bytes, and for four words
    sharers = (2 if has_bytes else 1) * tile.chunks // 2
    spread = _Spread(low, dense, has_bytes, metadata, selector.value * sharers)
    words: list[Operand] = [spread.word(stored.items, row, chunk) for chunk in range(tile.chunks) for row in (0, 1)]
    dense.operands[1] = Vector(words)
    lower_tensor(low, dense)


class _Spread(Steps):
    """Steps that build the words of a dense A from the stored ones."""

    def __init__(self, low: Lowering, whole: Instruction, has_bytes: bool, metadata: Operand, first: int) -> None:
        super().__init__(low, whole)
        self.has_bytes, self.metadata, self.first = has_bytes, metadata, first
        lane = self.value("mov.u32", Name("%laneid"))
        self.half = self.value("and.b32", lane, 1)
        self.source = self.value("bfe.u32", lane, 1, 1)     # which of two lanes holds what this one and its neighbour need

    def word(self, stored: list[Operand], row: int, chunk: int) -> Name:
        """Return the dense A's register for row g (row 0) or g + 8 (row 1) of a chunk."""
        lane = self.value("add.u32", self.source, 2 * (chunk & 1))
        held = self.value("shfl.sync.idx.b32", stored[chunk // 2 * 2 + row], lane, SEGMENTS_OF_4, -1)
        if self.has_bytes:      # a stored word holds two groups, the lane's own and its neighbour's
            held = self.value("shr.u32", held, self.value("shl.b32", self.half, 4))
            places = self.metadata_of(self.first + 2 * (chunk // 2) + row)
            group = self.value("mad.lo.u32", self.source, 2, self.half)
            first = self.value("shl.b32", self.value("add.u32", group, 4 * (chunk & 1)), 2)
            bits, skipped = 8, None
        else:                   # a group fills two dense words, the lane's own and its neighbour's
            places = self.metadata_of(self.first + chunk // 2)
            first = self.value("shl.b32", lane, 2)
            if row:
                first = self.value("add.u32", first, 16)
            bits, skipped = 16, self.value("shl.b32", self.half, 1)
        word: Name | None = None
        for number in (0, 1):
            value = self.value("bfe.u32", held, number * bits, bits)
            at = self.value("add.u32", first, 2 * number)
            place = self.value("bfe.u32", places, at, 2)
            if skipped is not None:
                place = self.value("sub.u32", place, skipped)
            # for a place in the neighbour's word, the shift is 32 bits or more, which yields 0
            moved = self.value("shl.b32", value, self.value("mul.lo.u32", place, bits))
            word = moved if word is None else self.value("or.b32", word, moved)
        assert word is not None
        return word

    def metadata_of(self, lane: int) -> Name:
        """Read the metadata of one lane of four."""
        return self.value("shfl.sync.idx.b32", self.metadata, lane, SEGMENTS_OF_4, -1)
