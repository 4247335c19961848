"""Cube maps: a direction becomes a face and a position on it, fetched from a layered texture with 6 layers per cube.

CUDA C++ Programming Guide, "Cubemap Textures": the component of the largest magnitude m chooses the face, in the order
+x, -x, +y, -y, +z, -z; the other two, s and t, give the position (s / m + 1) / 2, (t / m + 1) / 2. Of equal magnitudes, x
comes before y and y before z here; the guide leaves this open. Linear fetches stay within their face, as without
seamlessCubemap.
"""

from __future__ import annotations

from rfview.engine.ptx.lower.context import Lowering
from rfview.engine.ptx.lower.memory import elements
from rfview.engine.ptx.lower.steps import Steps
from rfview.engine.ptx.parse.syntax import Group, Instruction, Name, Number, Operand, Vector

CUBES = {"cube": 0, "acube": 1}     # geometry: index of x among the coordinates
_ZERO, _HALF = Number("f32", 0), Number("f32", 0x3F000000)


def as_layers(low: Lowering, statement: Instruction, geometry: str) -> Instruction:
    """Turn a fetch from a cube map into one from a layered texture; the code that finds the face is emitted first."""
    where = statement.operands[1]
    assert isinstance(where, Group)
    first = CUBES[geometry]
    given: list[Operand] = [Number("int", 0)] * (1 - first)
    layer, x, y, z = given + elements(where.items[-1])[: first + 3]
    steps = Steps(low, statement)
    face, u, v = _place(steps, x, y, z)
    if first:
        steps.emit("mad.lo.u32", face, layer, 6, face)
    moved = Group([*where.items[:-1], Vector([face, u, v, v])])
    opcode = statement.opcode.replace(f".{geometry}.", ".a2d.")
    return Instruction(statement.line, opcode, [statement.operands[0], moved, *statement.operands[2:]], statement.guard,
                       statement.guard_negate)


def _place(steps: Steps, x: Operand, y: Operand, z: Operand) -> tuple[Name, Name, Name]:
    """Emit the computation of a direction's face and position; return the names of the face and both coordinates."""
    ax, ay, az = (steps.value("abs.f32", one) for one in (x, y, z))
    not_x, not_y, not_z = (steps.value("neg.f32", one) for one in (x, y, z))
    is_x, is_y, is_below = (steps.new(1) for _ in range(3))
    steps.emit("setp.ge.f32", is_y, ay, az)
    rest = steps.value("max.f32", ay, az)
    steps.emit("setp.ge.f32", is_x, ax, rest)
    size = steps.value("max.f32", ax, rest)

    def choose(of_x: Operand | int, of_y: Operand | int, of_z: Operand | int) -> Name:
        return steps.value("selp.b32", of_x, steps.value("selp.b32", of_y, of_z, is_y), is_x)

    def signed(below: Operand, above: Operand) -> Name:
        return steps.value("selp.b32", below, above, is_below)

    steps.emit("setp.lt.f32", is_below, choose(x, y, z), _ZERO)
    s = choose(signed(z, not_z), x, signed(not_x, x))
    t = choose(not_y, signed(not_z, z), not_y)
    face = steps.value("add.u32", choose(0, 2, 4), steps.value("selp.b32", 1, 0, is_below))
    u, v = (steps.value("fma.rn.f32", steps.value("div.rn.f32", one, size), _HALF, _HALF) for one in (s, t))
    return face, u, v
