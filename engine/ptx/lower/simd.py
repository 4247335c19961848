"""Lowering of packed operations to scalar steps per element: .s16x2, .u16x2, .f32x2, and min / max .relu."""

from __future__ import annotations

from rfview.engine.ptx.lower.steps import Steps
from rfview.engine.ptx.parse.syntax import Number, Operand, Vector


def pair_of_floats(steps: Steps) -> None:
    """Compute both floats of .f32x2 operands."""
    opcode = steps.whole.opcode.replace(".f32x2", ".f32")
    result, *sources = steps.whole.operands
    halves = []
    for source in sources:
        halves.append((steps.new(), steps.new()))
        steps.emit("mov.b64", Vector([*halves[-1]]), source)
    results = [steps.value(opcode, *[pair[half] for pair in halves]) for half in (0, 1)]
    steps.emit("mov.b64", result, Vector([*results]))


def packed_integers(steps: Steps) -> None:
    """Extract the elements, compute, and pack the results; .relu replaces negative results by 0."""
    base, *parts = steps.whole.opcode.split(".")
    result, *sources = steps.whole.operands
    sign, bits = parts[-1][0], 32 if parts[-1] == "s32" else 16
    total: Operand = Number("int", 0)
    for first in range(0, 32, bits):
        elements = [steps.value(f"bfe.{sign}32", source, first, bits) for source in sources]
        value = steps.value(f"{base}.{sign}32", *elements)
        if "relu" in parts:
            value = steps.value("max.s32", value, 0)
        total = steps.value("bfi.b32", value, total, first, bits)
    steps.emit("mov.b32", result, total)
