"""Values of expressions as text."""

from __future__ import annotations

from typing import Any

import numpy as np


def value_text(value: Any) -> str:
    """Return an expression's value as text: numbers also in hexadecimal, arrays as short as possible."""
    value = np.asarray(value) if isinstance(value, (list, tuple)) else value
    if isinstance(value, np.ndarray):
        if value.size and (value == value.flat[0]).all():
            return f"{value_text(value.flat[0].item())} in all {value.size}"
        return "[" + " ".join(str(part) for part in value.tolist()) + "]"
    if isinstance(value, bool) or not isinstance(value, int) or abs(value) < 10:
        return str(value)
    return f"{value} ({value:#x})"
