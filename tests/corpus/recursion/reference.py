"""Reference of recursion: the same functions in Python; all numbers are small enough to be exact."""

from __future__ import annotations

import numpy as np

THREADS = 64


def ackermann(m: int, n: int) -> int:
    """Return the Ackermann-Péter function."""
    return n + 1 if m == 0 else ackermann(m - 1, 1) if n == 0 else ackermann(m - 1, ackermann(m, n - 1))


def fall(n: int, x: float) -> float:
    """Return twice `climb` one level down, plus n."""
    return x if n <= 0 else climb(n - 1, x - 0.5) * 2.0 + n


def climb(n: int, x: float) -> float:
    """Return the difference of two calls of `fall`."""
    return -x if n <= 0 else fall(n - 2, x + n) - fall(n - 3, x)


def stir(above: list[int], depth: int) -> int:
    """Change the caller's list; return a weighted sum of a local one."""
    own = [value * 3 + k for k, value in enumerate(above)]
    if depth > 0:
        first = stir(own, depth - 1)
        own[depth & 3] += first + stir(above, depth - 2)
    above[(depth + 1) & 3] ^= own[1]
    return own[0] + own[1] * 3 + own[2] * 5 + own[3] * 7


def count(n: int, x: int) -> int:
    """Return a sum of a recursive call and a call through the table."""
    own = x * 3 + n
    return x if n <= 0 else count(n - 3, x + 1) * 5 + (halve, count)[(n + x + 1) & 1](n - 1, own) * 3 + own


def halve(n: int, x: int) -> int:
    """Return a difference of a recursive call and a call through the table."""
    own = n * x
    return 5 - x if n <= 0 else halve(n - 2, x + 2) - (halve, count)[x & 1](n - 3, own & 31) * 2 + own


def reference(buffers: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return what the recursive functions store."""
    threads = range(THREADS)
    stirred = []
    for i in threads:
        start = [i, i * 2, i * 3, i * 5]
        last = stir(start, i % 4)
        stirred.append(last + start[0] + start[1] * 11 + start[2] * 13 + start[3] * 17)
    return {"tower": np.array([ackermann(i % 3, i % 5) for i in threads], "u4"),
            "turns": np.array([climb(i % 9, i * 0.25) + fall(i % 4, 1.0) for i in threads]),
            "stirred": np.array(stirred, "i4"),
            "sums": np.array([(1 + 2 + 2 * (1 + 2 + 2)) * i if i & 1 else (1 + 2 + 2) * i for i in threads], "f4"),
            "mixed": np.array([count(i % 7, i) + halve(i % 5, i) for i in threads], "i4")}
