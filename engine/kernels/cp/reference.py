"""NumPy reference of cp: one rounded root and division per atom and point, atoms ascending."""

from __future__ import annotations

import numpy as np

from rfview.engine.kernels.rounding import fma32


SPACING, ATOMS = np.float32(0.1), {False: 16, True: 48}     # how many charges: of the small size, of the full one
PLACES = np.array([[(i * 37 % 101) / 10, (i * 53 % 103) / 10, (i * 29 % 107) / 20 + 0.25, i * 17 % 7 - 3]
                   for i in range(64)], np.float64).round(3).astype(np.float32)


def reference(buffers: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return the potential at every point."""
    total = buffers["potential"].copy()
    height, width = total.shape
    px, py = (SPACING * np.arange(size, dtype=np.float32) for size in (width, height))
    for x, y, z, charge in PLACES[:ATOMS[height > 32]]:
        away = fma32(py - y, py - y, z)[:, None]
        total += charge / np.sqrt(fma32(px - x, px - x, away))
    return {"potential": total}
