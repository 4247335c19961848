"""NumPy reference of findk, and the inner nodes of its tree."""

from __future__ import annotations

import numpy as np

ORDER, CHILDREN, LEAVES, WIDTH = 256, 4, 16, 600     # of the root, of each node below it; keys in a range
UNUSED = np.iinfo(np.int32).max


def inputs() -> dict[str, np.ndarray]:
    """Return keys and links of the root and of the nodes below it, over leaves of the keys 0, 1, 2, ..."""
    keys, links = np.full((1 + CHILDREN, ORDER), UNUSED, np.int32), np.zeros((1 + CHILDREN, ORDER), np.int32)
    keys[0, :CHILDREN] = np.arange(CHILDREN) * LEAVES * ORDER
    links[0, :CHILDREN] = 1 + np.arange(CHILDREN)
    leaves = np.arange(CHILDREN * LEAVES).reshape(CHILDREN, LEAVES)
    keys[1:, :LEAVES], links[1:, :LEAVES] = leaves * ORDER, leaves
    return {"inner_keys": keys, "inner_links": links}


def reference(memory: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return each key's value (-1: none), each range's first place (-1: none) and its length (0: an end is missing)."""
    keys, values = memory["leaf_keys"].ravel().tolist(), memory["values"].ravel().tolist()
    value_of, place_of = dict(zip(keys, values)), {key: place for place, key in enumerate(keys)}
    found = [value_of.get(key, -1) for key in memory["queries"].tolist()]
    lows = memory["lows"].tolist()
    first = [place_of.get(low, -1) for low in lows]
    last = [place_of.get(low + WIDTH, -1) for low in lows]
    length = [high - low + 1 if low >= 0 and high >= 0 else 0 for low, high in zip(first, last)]
    results = {"found": found, "first": first, "length": length}
    return {name: np.array(numbers, np.int32) for name, numbers in results.items()}
