"""Lowering of surface accesses (suld.b, sust.b) to address arithmetic and a global load or store.

A surface is a texture's memory (engine/textures.py), addressed by bytes in x and by texels in y and z. Its extents are
read from the header at each access, as in code for early GPUs; later ones have a single instruction for all this.
"""

from __future__ import annotations

from rfview.engine import isa
from rfview.engine.ptx.lower.context import Lowering
from rfview.engine.ptx.lower.control import control_inst
from rfview.engine.ptx.lower.memory import elements
from rfview.engine.ptx.lower.steps import Steps
from rfview.engine.ptx.lower.texture import GEOMETRIES, texture_operand
from rfview.engine.ptx.parse.syntax import TYPE_BYTES, Address, Instruction, Name, Negated, Operand, Vector
from rfview.engine.textures import H_BASE_LOW, H_WIDTH


def lower_surface(low: Lowering, statement: Instruction) -> None:
    """Lower suld.b and sust.b of 1D to 3D and layered surfaces; .trap, .clamp or .zero handle out-of-range accesses."""
    is_load = statement.opcode.startswith("suld")
    data, where = statement.operands if is_load else statement.operands[::-1]
    _Access(low, statement).run(is_load, data, where)


class _Access(Steps):
    """The statements of one surface access; those that compute are executed by all lanes."""

    def __init__(self, low: Lowering, statement: Instruction) -> None:
        super().__init__(low, Instruction(statement.line, statement.opcode, []))
        self.statement = statement
        *parts, self.kind, self.mode = statement.opcode.split(".")
        self.dims, self.is_layered = GEOMETRIES[parts[2]]

    def run(self, is_load: bool, data: Operand, where: Operand) -> None:
        """Read the header, compute the address and whether it is within bounds, then load or store."""
        surface, given = texture_operand(where)
        one = elements(data)
        assert isinstance(surface, Name)
        width, height, depth, texel = extents = [self.new() for _ in range(4)]
        allowed = self.allowed()
        self.guarded(allowed, "ld.global.v4.u32", Vector([*extents]), Address(surface, 4 * H_WIDTH))
        low_word, high_word, pitch, word = base_words = [self.new() for _ in range(4)]
        self.guarded(allowed, "ld.global.v4.u32", Vector([*base_words]), Address(surface, 4 * H_BASE_LOW))
        last = self.new()
        self.emit("mul.lo.u32", last, width, texel)
        self.emit("sub.u32", last, last, TYPE_BYTES[self.kind] * len(one))
        (x, y, z), inside = self.coordinates(given, [last, height, depth], allowed)
        address, base = self.new(64), self.new(64)
        assert x is not None
        if y is None and z is None:
            self.emit("cvt.u64.u32", address, x)
        else:
            row = self.value("mad.lo.u32", z or 0, height, y or 0)
            self.emit("cvt.u64.u32", address, x)
            self.emit("mad.wide.u32", address, row, pitch, address)
        self.emit("mov.b64", base, Vector([low_word, high_word]))
        self.emit("add.u64", address, address, base)
        if is_load and self.mode == "zero":
            for item in one:
                self.guarded(allowed, f"mov.b{self.low.register(item).bits}", item, 0)
        vector = f".v{len(one)}" if len(one) > 1 else ""
        operands = [Vector(one) if len(one) > 1 else one[0], Address(address, 0)]
        self.guarded(inside, f"{'ld' if is_load else 'st'}.global{vector}.{self.kind.replace('b', 'u')}",
                     *(operands if is_load else operands[::-1]))

    def guarded(self, guard: Name | None, opcode: str, *operands: Operand | int) -> None:
        """Lower one statement under a predicate."""
        Steps(self.low, Instruction(self.whole.line, opcode, [], guard.text if guard else "")).emit(opcode, *operands)

    def allowed(self) -> Name | None:
        """Return a predicate that equals the statement's guard, negation applied; None if it has none."""
        guard, is_negated = self.statement.guard, self.statement.guard_negate
        return self.value("not.pred" if is_negated else "mov.pred", Name(guard), bits=1) if guard else None

    def coordinates(self, given: list[Operand], last: list[Name],
                    allowed: Name | None) -> tuple[list[Name | None], Name | None]:
        """Return x, y, z (None for absent ones), clamped to the bounds, and the predicate of the access."""
        values: list[Name | None] = [None, None, None]
        axes = [2, *range(self.dims)] if self.is_layered else list(range(self.dims))
        is_in = self.new(1)
        for number, axis in enumerate(axes):
            value = self.value("mov.u32", given[number])
            limit = self.value("sub.u32", last[axis], 1) if axis else last[axis]
            if self.mode == "clamp":
                self.emit("max.s32", value, value, 0)
                self.emit("min.s32", value, value, limit)
            elif number == 0:
                self.emit("setp.le.u32", is_in, value, limit)
            else:
                self.emit("setp.le.and.u32", is_in, value, limit, is_in)
            values[axis] = value
        if self.mode == "clamp":
            return values, allowed
        if allowed:
            self.emit("and.pred", is_in, is_in, allowed)
        if self.mode == "trap":
            self.trap_outside(is_in, allowed)
        return values, is_in

    def trap_outside(self, is_in: Name, allowed: Name | None) -> None:
        """Stop the kernel if an active lane is out of bounds."""
        out = self.value("and.pred", Negated(is_in), allowed, bits=1) if allowed else self.value("not.pred", is_in, bits=1)
        trap = control_inst(self.low, isa.OP_TRAP, Instruction(self.whole.line, "trap", []))
        trap.aux = isa.TRAP_SURFACE
        self.low.emit(trap.set_guard(self.low.predicate(out)[0], False))
