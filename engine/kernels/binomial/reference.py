"""NumPy reference of binomial: the induction's own operations; the exponential rounded once from float64."""

from __future__ import annotations

import numpy as np

from rfview.engine.kernels.rounding import fma32

OPTIONS, STEPS = 16, 95
LOG2E = np.float32(np.log2(np.e))


def inputs() -> dict[str, np.ndarray]:
    """Return spot, strike, log of one step up and the discounted probabilities up and down of each option."""
    state = np.random.RandomState(16)
    spot, strike = state.uniform(20, 30, OPTIONS), state.uniform(16, 28, OPTIONS)
    step = state.uniform(0.5, 4, OPTIONS) / STEPS  # in years
    rate, log_up = 0.02, 0.3 * np.sqrt(step)
    chance = (np.exp(rate * step) - np.exp(-log_up)) / (np.exp(log_up) - np.exp(-log_up))
    discount = np.exp(-rate * step)
    columns = [spot, strike, log_up, discount * chance, discount * (1 - chance)]
    return {"options": np.stack(columns, axis=1).astype(np.float32)}


def reference(buffers: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return the value of every option today."""
    if "options" in buffers:
        steps, (spot, strike, log_up, up, down) = STEPS, np.moveaxis(buffers["options"][:, :, None], 1, 0)
    else:       # the full size
        steps = 127
        spot, strike, log_up, up, down = (buffers[name][:, None] for name in ("spot", "strike", "log_up", "up", "down"))
    exponent = log_up * np.arange(-steps, steps + 1, 2).astype(np.float32) * LOG2E
    call = np.maximum(fma32(spot, np.exp2(exponent.astype(np.float64)).astype(np.float32), -strike), np.float32(0))
    for _ in range(steps):
        call = fma32(up, call[:, 1:], down * call[:, :-1])
    return {"value": call[:, 0].copy()}
