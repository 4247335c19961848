"""NumPy reference of tensor_tiles."""

from __future__ import annotations

import numpy as np


def inputs() -> dict[str, np.ndarray]:
    """Return small multiples of powers of two, whose products and sums are exact in every type."""
    state = np.random.RandomState(73)
    whole = {key: state.randint(-4, 5, (32, 32)) for key in ("a", "b", "fa", "fb", "da", "db")}
    kinds = {"a": "f2", "b": "f2", "fa": "f4", "fb": "f4", "da": "f8", "db": "f8"}
    scaled = {key: (array / (4 if key[-1] == "a" else 2)).astype(kinds[key]) for key, array in whole.items()}
    return scaled | {key: state.randint(-128, 128, (32, 32)).astype("i1") for key in ("ia", "ib")}


def reference(buffers: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return every product in the order in which the kernels write them."""
    a, b = buffers["a"].astype("f8"), buffers["b"].astype("f8")
    fa, fb = buffers["fa"].astype("f8"), buffers["fb"].astype("f8")
    ia, ib = buffers["ia"].astype("i8"), buffers["ib"].astype("i8")
    square = a[:16, :16] @ b[:16, :16]
    c = [square + 1, (a[:16, :16] @ b[:16, :16].T + 1).T, a[:16, :16].T @ b[:16, :16] + 1,
         a[:32, :16] @ b[:16, :8], a[:8, :16] @ b[:16, :32]]
    ic = [ia[:16, :16] @ ib[:16, :16] + 5, (ia[:16, :16] & 255) @ (ib[:16, :16] & 255).T]
    fc = [fa[:16, :16] @ fb[:16, :16], fa[:16, :8] @ fb[:8, :16]]
    return {"c": flat(c, "f4"), "narrow": flat([square.T], "f2"), "ic": flat(ic, "i4"), "fc": flat(fc, "f4"),
            "dc": flat([buffers["da"][:8, :4] @ buffers["db"][:8, :4].T], "f8")}


def flat(parts: list[np.ndarray], kind: str) -> np.ndarray:
    """Concatenate matrices, each flattened."""
    return np.concatenate([part.ravel() for part in parts]).astype(kind)
