"""NumPy reference of fft8: the kernel's operations on all threads' numbers; sines and cosines rounded from float64."""

from __future__ import annotations

import numpy as np

from rfview.engine.kernels.rounding import fma32

C8 = np.float32(0.707106769)
Complex = tuple[np.ndarray, np.ndarray]


def plus(a: Complex, b: Complex) -> Complex:
    """Return a + b."""
    return a[0] + b[0], a[1] + b[1]


def minus(a: Complex, b: Complex) -> Complex:
    """Return a - b."""
    return a[0] - b[0], a[1] - b[1]


def turned(a: Complex) -> Complex:
    """Return -i a."""
    return a[1], -a[0]


def four(a: Complex, b: Complex, c: Complex, d: Complex) -> list[Complex]:
    """Return the transform of four numbers."""
    ac, bd, a_c, b_d = plus(a, c), plus(b, d), minus(a, c), turned(minus(b, d))
    return [plus(ac, bd), plus(a_c, b_d), minus(ac, bd), minus(a_c, b_d)]


def eight(v: list[Complex]) -> list[Complex]:
    """Return the transform of eight numbers."""
    e, f, g, h = (minus(v[k], v[k + 4]) for k in range(4))
    f = C8 * (f[0] + f[1]), C8 * (f[1] - f[0])
    h = C8 * (h[1] - h[0]), -C8 * (h[0] + h[1])
    even, odd = four(*(plus(v[k], v[k + 4]) for k in range(4))), four(e, f, turned(g), h)
    return [number for pair in zip(even, odd) for number in pair]


def twiddled(v: list[Complex], angle: np.ndarray) -> list[Complex]:
    """Return the numbers, the k-th turned by k times an angle."""
    turned_by = [v[0]]
    for k in range(1, 8):
        wide = (angle * np.float32(k)).astype(np.float64)
        c, s = np.cos(wide).astype(np.float32), np.sin(wide).astype(np.float32)
        x, y = v[k]
        turned_by.append((fma32(x, c, -(y * s)), fma32(x, s, y * c)))
    return turned_by


def reference(memory: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return the transforms; arrays within are [transform, t >> 3, t & 7]."""
    data = memory["input"].reshape(-1, 8, 8, 8, 2)
    thread = np.arange(64).reshape(8, 8)
    v = eight([(data[:, k, ..., 0], data[:, k, ..., 1]) for k in range(8)])
    v = twiddled(v, np.float32(-0.0122718466) * thread.astype(np.float32))
    # [k, n, high, low] -> registers: high, threads: (k, low)
    parts = [np.stack([number[part] for number in v]).transpose(2, 1, 0, 3) for part in (0, 1)]
    v = twiddled(eight(list(zip(*parts))), np.float32(-0.0981747732) * np.arange(8).astype(np.float32))
    # [k1, n, k0, low] -> registers: low, threads: (k1, k0)
    parts = [np.stack([number[part] for number in v]).transpose(3, 1, 0, 2) for part in (0, 1)]
    v = eight(list(zip(*parts)))
    output = [np.stack([number[part] for number in v], axis=1).reshape(-1, 512) for part in (0, 1)]
    return {"output": np.stack(output, axis=-1)}
