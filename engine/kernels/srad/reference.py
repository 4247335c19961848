"""NumPy reference of srad: the kernel's operations in its order; exponentials and logarithms rounded from float64."""

from __future__ import annotations

import numpy as np

from rfview.engine.kernels.rounding import fma32

THREADS, STEPS, RATE = 512, {False: 1, True: 2}, np.float32(0.5)     # steps of the small size, of the full one
LOG2E, LN2 = np.float32(np.log2(np.e)), np.float32(np.log(2))


def approximate(function: np.ufunc, x: np.ndarray) -> np.ndarray:
    """Return function(x) of float32 values, computed in float64 and rounded once."""
    return function(x.astype(np.float64)).astype(np.float32)


def total(values: np.ndarray) -> np.ndarray:
    """Return a sum of float32 values: trees over 512, then one over their sums."""
    while len(values) > 1:
        rows = np.zeros((-(-len(values) // THREADS), THREADS), np.float32)
        rows.reshape(-1)[:len(values)] = values
        width = THREADS
        while width > 1:
            width //= 2
            rows = rows[:, :width] + rows[:, width:]
        values = rows[:, 0]
    return values[0]


def step(image: np.ndarray) -> np.ndarray:
    """Return the image after one step of diffusion."""
    count = np.float32(image.size)
    mean = total(image.ravel()) / count
    variance = (total((image * image).ravel()) / count - mean * mean) / (mean * mean)
    edged = np.pad(image, 1, mode="edge")
    around = edged[:-2, 1:-1], edged[2:, 1:-1], edged[1:-1, :-2], edged[1:-1, 2:]
    north, south, west, east = (part - image for part in around)
    gradient = fma32(north, north, fma32(south, south, fma32(west, west, east * east))) / (image * image)
    laplacian = (north + south + west + east) / image
    above = fma32(np.float32(0.5), gradient, np.float32(-0.0625) * laplacian * laplacian)
    below = fma32(np.float32(0.25), laplacian, np.float32(1))
    excess = (above / (below * below) - variance) / fma32(variance, variance, variance)
    c = np.clip(np.float32(1) / (np.float32(1) + excess), np.float32(0), np.float32(1))
    lower, right = np.pad(c, ((0, 1), (0, 0)), mode="edge")[1:], np.pad(c, ((0, 0), (0, 1)), mode="edge")[:, 1:]
    change = fma32(right, east, fma32(c, west, fma32(c, north, lower * south)))
    return fma32(np.float32(0.25) * RATE, change, image)


def reference(memory: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return the image after all steps."""
    image = approximate(np.exp2, memory["image"] / np.float32(255) * LOG2E)
    for _ in range(STEPS[image.size > 1024]):
        image = step(image)
    return {"image": approximate(np.log2, image) * LN2 * np.float32(255)}
