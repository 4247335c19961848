"""NumPy reference of cutcp: each cube of points by itself, its atoms in the kernel's order."""

from __future__ import annotations

import numpy as np

from rfview.engine.kernels.rounding import fma32

SPACING, SIDE, CUBE = np.float32(0.5), np.float32(4), 8


def cube(bins: np.ndarray) -> np.ndarray:
    """Return the potential of 8 x 8 x 8 points from 3 x 3 x 3 bins of atoms."""
    index = np.arange(CUBE)
    along = index.astype(np.float32) * SPACING
    total = np.zeros((CUBE,) * 3, np.float32)
    for bz, by, bx in np.ndindex(3, 3, 3):
        for atom in bins[bz, by, bx]:
            dx, dz = (atom[0] + np.float32(bx - 1)) * SIDE - along, (atom[2] + np.float32(bz - 1)) * SIDE - along
            dy = (atom[1] + np.float32(by - 1)) * SIDE - along[index // 4 * 4]
            for p in range(1, 4):
                dy = np.where(index % 4 >= p, dy - SPACING, dy)
            flat = fma32(dx, dx, (dz * dz)[:, None])
            square = fma32(dy[:, None], dy[:, None], flat[:, None, :])
            part = fma32(square, np.float32(-0.0625), np.float32(1))
            root = (1 / np.sqrt(square.astype(np.float64))).astype(np.float32)
            total = np.where(square < SIDE * SIDE, fma32(atom[3] * root * part, part, total), total)
    return total


def reference(memory: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return the potential at every point."""
    potential = np.zeros(memory["potential"].shape, np.float32)
    for z, y, x in np.ndindex(*(size // CUBE for size in potential.shape)):
        place = tuple(slice(CUBE * at, CUBE * at + CUBE) for at in (z, y, x))
        potential[place] = cube(memory["bins"][z:z + 3, y:y + 3, x:x + 3])
    return {"potential": potential}
