"""Reference of nqueens: plain recursion, exact."""

from __future__ import annotations

import numpy as np

def below(n: int, rows: int, columns: int, left: int, right: int) -> int:
    """Return in how many ways queens can stand in the remaining rows."""
    if rows == 0:
        return 1
    free = ((1 << n) - 1) & ~(columns | left | right)
    total = 0
    while free:
        queen = free & -free
        free ^= queen
        total += below(n, rows - 1, columns | queen, (left | queen) << 1, (right | queen) >> 1)
    return total


def reference(buffers: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return the solutions below each pair of places in the first two rows."""
    found = np.zeros(len(buffers["solutions"]), np.int32)
    n = 6 if len(found) == 96 else 10
    for number in range(n * n):
        first, second = 1 << number // n, 1 << number % n
        if not second & (first | first << 1 | first >> 1):
            found[number] = below(n, n - 2, first | second, (first << 1 | second) << 1, (first >> 1 | second) >> 1)
    return {"solutions": found}
