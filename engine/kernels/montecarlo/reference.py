"""NumPy reference of montecarlo: the kernel's float32 operations in its order; special functions from float64."""

from __future__ import annotations

import numpy as np

from rfview.engine.kernels.rounding import fma32

OPTIONS, PAIRS_PER_THREAD = 24, 8
LN2, LOG2E, PI = np.float32(np.log(2)), np.float32(np.log2(np.e)), np.float32(np.pi)


def inputs() -> dict[str, np.ndarray]:
    """Return spot, strike, drift and volatility over its life of each option."""
    state = np.random.RandomState(15)
    spot, strike = state.uniform(20, 30, OPTIONS), state.uniform(18, 26, OPTIONS)
    years, rate, volatility = state.uniform(0.5, 2, OPTIONS), 0.05, state.uniform(0.1, 0.3, OPTIONS)
    drift = (rate - volatility**2 / 2) * years
    return {"options": np.stack([spot, strike, drift, volatility * np.sqrt(years)], axis=1).astype(np.float32)}


def approximate(function: np.ufunc, x: np.ndarray) -> np.ndarray:
    """Return function(x) of float32 values, computed in float64 and rounded once."""
    return function(x.astype(np.float64)).astype(np.float32)


def random_bits(counter: np.ndarray, key: np.ndarray) -> np.ndarray:
    """Return the kernel's random word of each counter."""
    x = counter * np.uint32(0x9E3779B9) + key
    x = (x ^ (x >> np.uint32(16))) * np.uint32(0x85EBCA6B)
    x = (x ^ (x >> np.uint32(13))) * np.uint32(0xC2B2AE35)
    return x ^ (x >> np.uint32(16))


def tree(sums: np.ndarray) -> np.ndarray:
    """Return the sum of each row, halves added to halves."""
    width = sums.shape[1] // 2
    while width:
        sums = sums[:, :width] + sums[:, width:2 * width]
        width //= 2
    return sums[:, 0]


def reference(buffers: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return the mean gain and the mean of its square of every option."""
    spot, strike, drift, volatility = np.moveaxis(buffers["options"][:, :, None], 1, 0)
    threads = 128 if len(spot) == OPTIONS else 256     # of the small size, of the full one
    key = np.arange(len(spot), dtype=np.uint32)[:, None]
    sums = squares = np.zeros((len(spot), threads), np.float32)
    for pair in range(PAIRS_PER_THREAD):
        counter = (np.uint32(pair * threads) + np.arange(threads, dtype=np.uint32)) * np.uint32(2)
        bits = random_bits(counter, key)
        u = ((bits >> np.uint32(8)) + np.uint32(1)).astype(np.float32) * np.float32(2.0**-24)
        bits = random_bits(counter + np.uint32(1), key)
        v = (bits.view(np.int32) >> np.int32(8)).astype(np.float32) * np.float32(2.0**-23)
        radius = np.sqrt(approximate(np.log2, u) * LN2 * np.float32(-2))
        angle = v * PI
        for function in (np.cos, np.sin):
            exponent = fma32(volatility, radius * approximate(function, angle), drift)
            gain = np.maximum(fma32(spot, approximate(np.exp2, exponent * LOG2E), -strike), np.float32(0))
            sums, squares = sums + gain, fma32(gain, gain, squares)
    inverse = np.float32(1 / (2 * threads * PAIRS_PER_THREAD))
    return {"mean": tree(sums) * inverse, "mean_square": tree(squares) * inverse}
