"""NumPy reference of btree, and the seeded tree it searches."""

from __future__ import annotations

import numpy as np

ORDER, HEIGHT, FEWEST, WIDTH = 8, 4, 4, 40
KEYS, LARGEST_KEY, QUERIES = 1000, 4000, 1024
UNUSED = np.iinfo(np.int32).max


def inputs() -> dict[str, np.ndarray]:
    """Return the tree, root first and level by level with leaves last, and the keys to look for.

    Leaves are filled from left to right with FEWEST..ORDER keys, then level by level inner nodes with as many children.
    """
    state = np.random.RandomState(28)
    keys = np.sort(state.permutation(LARGEST_KEY)[:KEYS])
    slots = list(zip(keys.tolist(), state.randint(0, 1000, KEYS).tolist()))
    levels: list[list[list[tuple[int, int]]]] = []
    while not levels or len(levels[0]) > 1:
        level = []
        while slots:
            size = ORDER if len(slots) <= ORDER else min(int(state.randint(FEWEST, ORDER + 1)), len(slots) - 2)
            level.append(slots[:size])
            slots = slots[size:]
        levels.insert(0, level)
        slots = [(node[-1][0], number) for number, node in enumerate(level)]
    assert len(levels) == HEIGHT
    nodes, first = sum(len(level) for level in levels), 0
    tree = {"keys": np.full((nodes, ORDER), UNUSED), "links": np.zeros((nodes, ORDER)), "used": np.zeros(nodes),
            "next": np.full(nodes, -1)}
    for level in levels:
        is_leaf = level is levels[-1]
        for number, node in enumerate(level, first):
            tree["used"][number] = len(node)
            for slot, (key, link) in enumerate(node):
                tree["keys"][number, slot] = key
                tree["links"][number, slot] = link if is_leaf else first + len(level) + link
            if is_leaf and number < nodes - 1:
                tree["next"][number] = number + 1
        first += len(level)
    queries = np.where(state.randint(0, 4, QUERIES) > 0, keys[state.randint(0, KEYS, QUERIES)],
                       state.randint(0, LARGEST_KEY, QUERIES))
    return {name: array.astype(np.int32) for name, array in {**tree, "queries": queries}.items()}


def reference(buffers: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return the value of each key (-1 where there is none), and the sum of values of WIDTH keys from each on."""
    leaf = buffers["next"] >= 0
    leaf[-1] = True
    keys, values = (buffers[name][leaf].reshape(-1) for name in ("keys", "links"))
    values = values[keys != UNUSED]
    keys = keys[keys != UNUSED]
    table = dict(zip(keys.tolist(), values.tolist()))
    found = np.array([table.get(key, -1) for key in buffers["queries"].tolist()], np.int32)
    sums = np.concatenate([[0], np.cumsum(values)])
    low = buffers["queries"][:len(buffers["total"])]
    total = sums[np.searchsorted(keys, low + WIDTH)] - sums[np.searchsorted(keys, low)]
    return {"found": found, "total": total.astype(np.int32)}
