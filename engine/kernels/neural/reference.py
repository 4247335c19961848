"""NumPy reference of neural: sums as chains of fused multiply-adds; the exponential rounded from float64."""

from __future__ import annotations

import numpy as np

from rfview.engine.kernels.rounding import fma32


def activated(x: np.ndarray) -> np.ndarray:
    """Return 1.7159 tanh(2/3 x), by the kernel's operations."""
    exponent = np.float32(1.33333337) * x * np.float32(np.log2(np.e))
    grown = np.exp2(exponent.astype(np.float64)).astype(np.float32)
    return fma32(np.float32(-3.4318), np.float32(1) / (grown + np.float32(1)), np.float32(1.7159))


def convolved(below: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return the maps above, [digit, map, y, x]."""
    digits, maps, side, _ = below.shape
    reach = (side - 3) // 2
    total = np.broadcast_to(weights[:, 0, None, None], (digits, len(weights), reach, reach))
    for column in range(weights.shape[1] - 1):
        source, i, j = column // 25, column % 25 // 5, column % 5
        part = below[:, source, i:i + 2 * reach:2, j:j + 2 * reach:2]
        total = fma32(weights[:, column + 1, None, None], part[:, None], total)
    return activated(total)


def connected(below: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return the neurons above, [digit, neuron]."""
    total = np.broadcast_to(weights[:, 0], (len(below), len(weights)))
    for column, values in enumerate(below.T):
        total = fma32(weights[:, column + 1], values[:, None], total)
    return activated(total)


def reference(memory: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return the second and the last layer."""
    maps = convolved(convolved(memory["digits"], memory["weights_1"]), memory["weights_2"])
    third = connected(maps.reshape(len(maps), -1), memory["weights_3"])
    return {"layer_2": maps, "layer_4": connected(third, memory["weights_4"])}
