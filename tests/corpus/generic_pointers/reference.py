"""Reference of generic_pointers, thread by thread."""

from __future__ import annotations

import numpy as np


def reference(buffers: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return the sums over four words and which address space each thread read (1 global, 2 shared, 4 local)."""
    values = buffers["in"].tolist()
    out, spaces = [], []
    for i, value in enumerate(values):
        begin, t = i // 64 * 64, i % 64
        tile = values[begin:begin + 64] + [0, 1, 2, 3]
        mine = [value * (k + 2) for k in range(4)]
        four = (values[begin + (t & 31):][:4], tile[t:t + 4], mine)[t % 3]
        out.append(sum(word * (k + 1) for k, word in enumerate(four)) + 7 * t + 1000)
        spaces.append(1 << t % 3)
    return {"out": np.array(out, "i4"), "spaces": np.array(spaces, "i4")}
