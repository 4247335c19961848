"""Chooses a width and height for a buffer as a picture if none is given."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rfview.engine.info import Variable


def shape_of(variable: Variable) -> tuple[int, int]:
    """Return a width and height for a buffer: its own two dimensions, or else the most nearly square rectangle."""
    shape, total = variable.shape, variable.count
    return (shape[-1], total // shape[-1]) if len(shape) >= 2 and shape[-1] else nearly_square(total)


def nearly_square(total: int) -> tuple[int, int]:
    """Return the sides, width first, of the most nearly square rectangle with this many elements."""
    height = next((side for side in range(math.isqrt(max(total, 1)), 0, -1) if total % side == 0), 1)
    return total // height, height
