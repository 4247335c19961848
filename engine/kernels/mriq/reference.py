"""NumPy reference of mriq: the kernel's multiply-adds in its order, sines and cosines rounded from float64."""

from __future__ import annotations

import numpy as np

from rfview.engine.kernels.rounding import fma32

SAMPLES = 32


def inputs() -> dict[str, np.ndarray]:
    """Return the samples: a place in k-space times 2 pi, such that no angle leaves [-pi, pi], and a magnitude."""
    state = np.random.RandomState(27)
    place = state.uniform(-1 / 3, 1 / 3, (SAMPLES, 3)) * 2 * np.pi
    return {"samples": np.concatenate([place, state.uniform(0, 1, (SAMPLES, 1))], axis=1).astype(np.float32)}


def reference(buffers: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return the real and imaginary parts of Q."""
    real, imag = buffers["q_real"], buffers["q_imag"]
    for kx, ky, kz, magnitude in buffers["samples"]:
        angle = fma32(kz, buffers["z"], fma32(kx, buffers["x"], ky * buffers["y"])).astype(np.float64)
        real = fma32(magnitude, np.cos(angle).astype(np.float32), real)
        imag = fma32(magnitude, np.sin(angle).astype(np.float32), imag)
    return {"q_real": real, "q_imag": imag}
