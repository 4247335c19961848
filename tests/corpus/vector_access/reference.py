"""NumPy reference of vector_access."""

from __future__ import annotations

import numpy as np


def reference(buffers: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return the rearranged vectors; integers wrap."""
    f = buffers["f4"].reshape(2, 64, 4)[:, ::-1].reshape(-1, 4)
    d, c, s, v = (buffers[name] for name in ("d2", "c4", "s2", "i4"))
    return {
        "f4_out": np.stack([f[:, 3], f[:, 2] * np.float32(2), f[:, 1], f[:, 0] + np.float32(1)], axis=1),
        "f2_out": np.stack([f[:, 0] - f[:, 1], f[:, 2]], axis=1),
        "d2_out": np.stack([d[:, 1], d[:, 0] * 0.5], axis=1),
        "c4_out": np.stack([c[:, 3], c[:, 0] + np.uint8(1), c[:, 1] ^ c[:, 2], c[:, 2]], axis=1),
        "s2_out": np.stack([s[:, 1], s[:, 0] * np.uint16(3)], axis=1),
        "i4_out": np.stack([v[:, 0] + v[:, 1], v[:, 1] - v[:, 2], v[:, 2] & v[:, 3], -v[:, 3]], axis=1)}
