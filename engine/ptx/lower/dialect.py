"""Refuses forms that only older PTX has: arithmetic without a rounding modifier, warp-wide operations without .sync."""

from __future__ import annotations

import re

from rfview.engine.ptx.lower.context import Lowering
from rfview.engine.ptx.parse.syntax import Instruction

# form, the last version without the rule, the last target without it, what to write instead
_WITHDRAWN = (
    (re.compile(r"(div|rcp|sqrt)\.f(32|64)"), (1, 3), 0, "a rounding modifier such as .rn, or .approx for .f32"),
    (re.compile(r"(rsqrt|ex2|lg2|sin|cos)\.f(32|64)"), (1, 3), 0, "the modifier .approx"),
    (re.compile(r"mad(\.ftz)?(\.sat)?\.f(32|64)"), (2, 3), 13, "a rounding modifier such as .rn"),
    (re.compile(r"(shfl|vote)\.(?!(.*\.)?sync\.).*"), (6, 3), 69, "the modifier .sync and a mask of the lanes"),
)


def check_dialect(low: Lowering, statement: Instruction) -> None:
    """Refuse a form that the module's version and target no longer have; say what to write instead."""
    for form, version, target, instead in _WITHDRAWN:
        if form.fullmatch(statement.opcode) and low.version > version and low.architecture > target:
            raise low.fail(f"'{statement.opcode}' needs {instead} in PTX {low.module.version} for {low.module.target}")
