"""NumPy reference of bfs_levels: the level of every node that node 0 reaches, -1 for the others, and the last level."""

from __future__ import annotations

import numpy as np

SOURCE = 0


def reference(buffers: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return the level of every node and the last level, from a graph's first edge and number of edges of each node."""
    first_edge, num_edges, edges = buffers["first_edge"], buffers["num_edges"], buffers["edges"]
    cost, level = buffers["cost"].copy(), 0
    cost[SOURCE] = 0
    while (frontier := np.flatnonzero(cost == level)).size:
        ahead = np.unique(np.concatenate([edges[first_edge[node]:first_edge[node] + num_edges[node]] for node in frontier]))
        cost[ahead[cost[ahead] < 0]] = level + 1
        level += 1
    return {"cost": cost, "levels": np.array([level - 1], np.int32)}
