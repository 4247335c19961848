"""Lowering of surface accesses (suld.b, sust.b) to address arithmetic and a global load or store.

A surface is a texture's memory (engine/textures.py), addressed by bytes in x and by texels in y and z. Its extents are
read from the header at each access, as in code for early GPUs; later ones have a single instruction for all this.
"""

from __future__ import annotations

from rfview.engine import isa
from rfview.engine.ptx.lower.arithmetic import lower_mov, lower_table
from rfview.engine.ptx.lower.async_copy import fresh
from rfview.engine.ptx.lower.context import Lowering
from rfview.engine.ptx.lower.control import control_inst
from rfview.engine.ptx.lower.memory import elements, lower_load, lower_store
from rfview.engine.ptx.lower.names import Register
from rfview.engine.ptx.parse.syntax import TYPE_BYTES, Address, Instruction, Name, Negated, Number, Operand, Vector
from rfview.engine.ptx.lower.texture import GEOMETRIES, texture_operand
from rfview.engine.textures import H_BASE_LOW, H_WIDTH

_CACHED = {"ca", "cg", "cs", "cv", "wb", "wt"}     # hints that change no value
_MODES = ("trap", "clamp", "zero")


def lower_surface(low: Lowering, statement: Instruction) -> None:
    """Lower suld.b and sust.b of 1D to 3D and layered surfaces; .trap, .clamp or .zero handle out-of-range accesses."""
    base, *parts = [part for part in statement.opcode.split(".") if part not in _CACHED]
    count = int(parts[2][1:]) if len(parts) == 5 and parts[2] in ("v2", "v4") else 1
    shape = parts[:2] + parts[-2:]
    is_load = base == "suld"
    data, where = statement.operands if is_load else statement.operands[::-1]
    _Access(low, statement, shape[1], f"{shape[2]}", count, shape[3]).run(is_load, data, where)


class _Access:
    """The scalar statements of one surface access."""

    def __init__(self, low: Lowering, statement: Instruction, geometry: str, kind: str, count: int, mode: str) -> None:
        self.low, self.statement, self.kind, self.count, self.mode = low, statement, kind, count, mode
        self.dims, self.is_layered = GEOMETRIES[geometry]

    def step(self, opcode: str, *operands: Operand, guard: str = "") -> None:
        """Lower one scalar statement."""
        whole = Instruction(self.statement.line, opcode, list(operands), guard)
        (lower_mov if opcode.startswith("mov.") else lower_table)(self.low, whole)

    def new(self, part: str, bits: int = 32) -> Name:
        return fresh(self.low, f"%surface.{part}", bits)

    def run(self, is_load: bool, data: object, where: object) -> None:
        """Read the header, compute the address and whether it is within bounds, then load or store."""
        surface, given = texture_operand(self.low, where)
        if not isinstance(surface, Name) or len(given) < self.dims + self.is_layered:
            raise self.low.fail(f"'{self.statement.opcode}' needs {self.dims + self.is_layered} coordinates")
        one = elements(data)
        if len(one) != self.count:
            raise self.low.fail(f"'{self.statement.opcode}' moves {self.count} elements, found {len(one)}")
        width, height, depth, texel = extents = [self.new(part) for part in ("width", "height", "depth", "texel")]
        place = Address(Name(surface.text), 4 * H_WIDTH)
        self.memory(True, "ld.global.v4.u32", Vector(list(extents)), place)
        low_word, high_word, pitch, word = (self.new(part) for part in ("low", "high", "pitch", "word"))
        self.memory(True, "ld.global.v4.u32", Vector([low_word, high_word, pitch, word]),
                    Address(Name(surface.text), 4 * H_BASE_LOW))
        last = self.new("last")
        self.step("mul.lo.u32", last, width, texel)
        self.step("sub.u32", last, last, Number("int", TYPE_BYTES[self.kind] * self.count))
        coordinates = self.inside(given, [last, height, depth])
        address, base = self.new("address", 64), self.new("base", 64)
        x, y, z = coordinates
        assert x is not None
        if y is not None or z is not None:
            row = self.new("row")
            self.step("mad.lo.u32", row, z or Number("int", 0), height, y or Number("int", 0))
            self.step("cvt.u64.u32", address, x)
            self.step("mad.wide.u32", address, row, pitch, address)
        else:
            self.step("cvt.u64.u32", address, x)
        self.step("mov.b64", base, Vector([low_word, high_word]))
        self.step("add.u64", address, address, base)
        if is_load and self.mode == "zero":
            for item in one:
                register = self.low.register(item)
                self.step(f"mov.b{register.bits}", item, Number("int", 0), guard=self.all_lanes())  # type: ignore[arg-type]
        vector = f".v{self.count}" if self.count > 1 else ""
        self.memory(is_load, f"{'ld' if is_load else 'st'}.global{vector}.{self.kind.replace('b', 'u')}",
                    Vector(one) if self.count > 1 else one[0], Address(address, 0), guard=self.guard)  # type: ignore

    def memory(self, is_load: bool, opcode: str, data: Operand, address: Address, guard: str = "") -> None:
        """Lower a load or store."""
        operands: list[Operand] = [data, address] if is_load else [address, data]
        (lower_load if is_load else lower_store)(
            self.low, Instruction(self.statement.line, opcode, operands, guard or self.all_lanes()))

    def all_lanes(self) -> str:
        """Return the name of a predicate that equals the statement's guard, negation applied; '' if it has none."""
        if not self.statement.guard:
            return ""
        register = self.low.names.find("%surface.guard")
        if not isinstance(register, Register) or self.guard_of is not self.statement:
            allowed = self.new("guard", 1)
            source = Name(self.statement.guard)
            self.guard_of = self.statement
            self.step("mov.pred" if not self.statement.guard_negate else "not.pred", allowed, source)
        return "%surface.guard"

    guard_of: Instruction | None = None
    guard = ""

    def inside(self, given: list[object], last: list[Name]) -> list[Operand | None]:
        """Return x, y, z (None for absent ones), clamped to the bounds or checked by a guard, depending on the mode."""
        found: list[Operand | None] = [None, None, None]
        axes = [2, *range(self.dims)] if self.is_layered else list(range(self.dims))
        is_in = self.new("in", 1)
        for number, axis in enumerate(axes):
            value = self.new("xyz"[axis])
            self.step("mov.u32", value, given[number])  # type: ignore[arg-type]
            limit = last[axis]
            if axis:
                limit = self.new(f"last{axis}")
                self.step("sub.u32", limit, last[axis], Number("int", 1))
            if self.mode == "clamp":
                self.step("max.s32", value, value, Number("int", 0))
                self.step("min.s32", value, value, limit)
            elif number == 0:
                self.step("setp.le.u32", is_in, value, limit)
            else:
                self.step("setp.le.and.u32", is_in, value, limit, is_in)
            found[axis] = value
        self.guard = self.all_lanes()
        if self.mode == "clamp":
            return found
        if self.guard:
            self.step("and.pred", is_in, is_in, Name(self.guard))
        if self.mode == "trap":
            self.trap_outside(is_in)
        self.guard = is_in.text
        return found

    def trap_outside(self, is_in: Name) -> None:
        """Stop the kernel if an active lane is out of bounds."""
        out = self.new("out", 1)
        if self.guard:
            self.step("and.pred", out, Negated(is_in), Name(self.guard))
        else:
            self.step("not.pred", out, is_in)
        trap = control_inst(self.low, isa.OP_TRAP, Instruction(self.statement.line, "trap", []))
        trap.aux = isa.TRAP_SURFACE
        self.low.emit(trap.set_guard(self.low.predicate(out)[0], False))
