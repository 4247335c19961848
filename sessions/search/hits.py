"""Which warp an expression refers to, when a breakpoint has stopped."""

from __future__ import annotations

import ast
import re

import numpy as np

from rfview.sessions.expressions import Expression, compile_part

WARP = re.compile(r"w(\d+)\Z")


def warp_of(expression: Expression, cycle: int) -> int | None:
    """Return the warp of an expression that has become true or changed at a cycle; None if it names none."""
    return _warp_of(expression, expression.tree, cycle)


def _warp_of(whole: Expression, tree: ast.expr, cycle: int) -> int | None:
    """Return the warp of a part of an expression; None if it names none.

    For `a and b` and `a or b` it is that of a part that has just become true, else of one that holds; for any(...) over
    warps the first for which it has just become true; for everything else the first warp named.
    """
    if isinstance(tree, ast.BoolOp):
        parts = sorted(tree.values, key=lambda part: _rank(_truth(whole, part, cycle)[0]))
        return next((warp for part in parts if (warp := _warp_of(whole, part, cycle)) is not None), None)
    if isinstance(tree, ast.Call) and isinstance(tree.func, ast.Name) and tree.func.id == "any":
        truth, over = _truth(whole, tree.args[0], cycle)
        if over == "warps":
            new = truth[-1] & ~truth[0] if len(truth) > 1 else truth[-1]
            return first_of(new if new.any() else truth[-1])
    nodes = sorted((node for node in ast.walk(tree) if isinstance(node, ast.expr)), key=lambda node: node.col_offset)
    return next((warp for node in nodes if (warp := _named(node)) is not None), None)


def _named(node: ast.expr) -> int | None:
    """Return N for wN and warp[N]."""
    if isinstance(node, ast.Name):
        match = WARP.match(node.id)
        return None if match is None else int(match[1])
    if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name) and node.value.id == "warp":
        return node.slice.value if isinstance(node.slice, ast.Constant) and isinstance(node.slice.value, int) else None
    return None


def _truth(whole: Expression, tree: ast.expr, cycle: int) -> tuple[np.ndarray, str]:
    """Return (1 or 2, ...) bool: whether a part holds in the previous cycle, if there is one, and at `cycle`; over what."""
    part = compile_part(whole, tree)
    return part.column(max(whole.timeline.first, cycle - 1), cycle + 1) != 0, part.over


def _rank(truth: np.ndarray) -> int:
    """Return 0 for what has just become true, 1 for what holds, 2 for what does not."""
    return 2 if not truth[-1].any() else 1 if len(truth) > 1 and truth[0].any() else 0


def first_of(hit: np.ndarray) -> int | None:
    """Return the number of the first warp hit. hit: (warps,) bool."""
    indices = np.flatnonzero(hit)
    return int(indices[0]) if len(indices) else None
