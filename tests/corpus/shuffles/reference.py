"""NumPy reference of shuffles."""

from __future__ import annotations

import numpy as np


def reference(buffers: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return each kind of shuffle; a lane whose source lies outside its segment keeps its own value."""
    warps = buffers["in"].reshape(-1, 32)
    lane = np.arange(32)
    rows = [warps[:, (lane * 7 + 3) & 31],
            warps[:, np.where(lane >= 3, lane - 3, lane)],
            warps[:, np.where((lane & 15) + 5 <= 15, lane + 5, lane)],
            warps[:, lane ^ 9],
            warps[:, (lane & ~7) | ((lane + 1) & 7)],
            np.where(lane + 11 <= 31, warps[:, np.minimum(lane + 11, 31)], -1),
            np.where(lane < 12, warps[:, lane ^ 1], 0)]
    return {"out": np.stack([row.ravel() for row in rows]).astype("i4"),
            "wide_out": buffers["wide"].reshape(-1, 32)[:, lane ^ 31].ravel(),
            "sums": warps.sum(axis=1).astype("f4")}
