"""Reference of divergence, thread by thread."""

from __future__ import annotations

import numpy as np


def classify(v: int) -> int:
    """Return the value of the kernel's switch."""
    kind = v & 7
    if kind == 2:
        return v + 7
    return {0: 100, 1: v * 3, 3: v - 4, 5: v // 5, 6: v % 6}.get(kind, -1)


def alone(value: int) -> int:
    """Return a thread's result before it is combined with other lanes'."""
    result = 0
    for k in range(min(40, (value & 31) + 1)):
        if (value ^ k) & 1:
            continue
        if value & 2:
            result += k if k & 4 else -2 * k
        else:
            j = k
            while True:
                result += j & 3
                j >>= 1
                if not j:
                    break
    return result + classify(value)


def reference(buffers: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return results of all lanes, the sum under the lock and the count of odd lanes below 24."""
    values = buffers["in"].tolist()
    out = [alone(value) for value in values]
    for begin in range(0, len(values), 32):
        low = [out[begin + lane] + values[begin + (lane ^ 8)] for lane in range(16)]
        high = [out[begin + lane] - values[begin + (lane ^ 4)] for lane in range(16, 32)]
        out[begin:begin + 32] = [low[lane] ^ -low[lane ^ 1] for lane in range(16)] + high
    counters = [sum(values[:24]), len(values) // 32 * 12]
    return {"out": np.array(out, "i4"), "counters": np.array(counters, "i4"), "lock": np.zeros(1, "i4")}
