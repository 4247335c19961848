"""Reference of carry_chain in Python's integers."""

from __future__ import annotations

import numpy as np


def reference(buffers: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return sums, differences and products of 128 bits as four words each, low word first."""
    m64, m128 = 2**64 - 1, 2**128 - 1
    rows: dict[str, list] = {"sum": [], "difference": [], "product": [], "wide": []}

    def words(value: int) -> list[int]:
        return [value >> 32 * k & 0xFFFFFFFF for k in range(4)]

    for x, y in zip(buffers["a"].tolist(), buffers["b"].tolist()):
        a, b = (sum(word << 32 * k for k, word in enumerate(four)) for four in (x, y))
        rows["sum"].append(words(a + b))
        rows["difference"].append(words(a - b))
        rows["product"].append(words((a & m64) * (b & m64)))
        p, q = x[0] << 96 | x[1] << 64 | x[2], y[0] << 64 | y[3]
        p = (p * 3 + q * q - (p >> 5)) & m128
        rows["wide"].append([p & m64, p >> 64])
    return {name: np.array(rows[name], "u4") for name in ("sum", "difference", "product")} | {
        "wide": np.array(rows["wide"], "u8").T.copy()}
