"""NumPy reference of hotspot: the plain stencil, whose cells see the same operations as the kernel's tiles."""

from __future__ import annotations

import numpy as np

from rfview.engine.kernels.rounding import fma32

STEPS_PER_LAUNCH = 2
AMBIENT = np.float32(80.0)
RX_INV, RY_INV, RZ_INV, STEP_DIV_CAP = (np.float32(value) for value in (0.1, 0.1, 0.0125, 0.34))


def step(temp: np.ndarray, power: np.ndarray) -> np.ndarray:
    """Return the temperature one step later; beyond the edge lies the edge cell itself."""
    wide = np.pad(temp, 1, mode="edge")
    twice = temp + temp
    heat = fma32((wide[2:, 1:-1] + wide[:-2, 1:-1]) - twice, RY_INV, power)
    heat = fma32((wide[1:-1, 2:] + wide[1:-1, :-2]) - twice, RX_INV, heat)
    heat = fma32(AMBIENT - temp, RZ_INV, heat)
    return fma32(heat, STEP_DIV_CAP, temp)


def reference(buffers: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return both temperature buffers after two launches: a -> b, then b -> a."""
    temp, result = buffers["temp_a"], {}
    for name in ("temp_b", "temp_a"):
        for _ in range(STEPS_PER_LAUNCH):
            temp = step(temp, buffers["power"])
        result[name] = temp
    return result
