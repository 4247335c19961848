"""NumPy reference of bfs, and the seeded random graph it searches."""

from __future__ import annotations

import numpy as np

NODES = 3072
SOURCE = 0


def inputs() -> dict[str, np.ndarray]:
    """Return the graph: first edge and number of edges (0..7) of each node, and where each edge leads."""
    state = np.random.RandomState(11)
    num_edges = state.randint(0, 8, size=NODES, dtype=np.int64).astype(np.int32)
    num_edges[SOURCE] = 7
    first_edge = np.concatenate([[0], np.cumsum(num_edges)[:-1]]).astype(np.int32)
    edges = state.randint(0, NODES, size=int(num_edges.sum()), dtype=np.int64).astype(np.int32)
    start = np.zeros(NODES, np.uint8)
    start[SOURCE] = 1
    cost = np.full(NODES, -1, np.int32)
    cost[SOURCE] = 0
    return {"first_edge": first_edge, "num_edges": num_edges, "edges": edges, "start": start,
            "cost_start": cost}


def reference(buffers: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return the level of every node that can be reached (others as before), which were visited, and the last level."""
    first_edge, num_edges, edges = buffers["first_edge"], buffers["num_edges"], buffers["edges"]
    cost, level = buffers["cost"].copy(), 0
    visited = np.zeros(len(cost), np.uint8)
    visited[SOURCE], frontier = 1, [SOURCE]
    while frontier:
        reached = sorted({int(to) for node in frontier
                          for to in edges[first_edge[node]:first_edge[node] + num_edges[node]] if not visited[to]})
        if reached:
            level += 1
            cost[reached], visited[reached] = level, 1
        frontier = reached
    return {"cost": cost, "visited": visited, "levels": np.array([level], np.int32)}
