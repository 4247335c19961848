"""Control flow: reachability, dominators, immediate post-dominators and loop depth of a graph of basic blocks."""

from __future__ import annotations

from collections.abc import Sequence

Graph = Sequence[Sequence[int]]


def predecessors(successors: Graph) -> list[list[int]]:
    """Return the graph with its edges reversed."""
    before: list[list[int]] = [[] for _ in successors]
    for node, targets in enumerate(successors):
        for target in targets:
            before[target].append(node)
    return before


def reverse_post_order(successors: Graph, root: int) -> list[int]:
    """List the nodes reachable from root, each before its successors except along back edges."""
    order: list[int] = []
    seen = {root}
    stack = [(root, iter(successors[root]))]
    while stack:
        node, targets = stack[-1]
        for target in targets:
            if target not in seen:
                seen.add(target)
                stack.append((target, iter(successors[target])))
                break
        else:
            stack.pop()
            order.append(node)
    order.reverse()
    return order


def immediate_dominators(successors: Graph, root: int) -> list[int]:
    """Return each node's immediate dominator; the root's is itself, an unreachable node's is -1.

    Source: Cooper, Harvey, Kennedy, "A Simple, Fast Dominance Algorithm" (2001).
    """
    order = reverse_post_order(successors, root)
    number = {node: place for place, node in enumerate(order)}
    before = predecessors(successors)
    idom = [-1] * len(successors)
    idom[root] = root
    changed = True
    while changed:
        changed = False
        for node in order[1:]:
            best = -1
            for pred in before[node]:
                if idom[pred] < 0:
                    continue
                best = pred if best < 0 else _meet(best, pred, idom, number)
            if idom[node] != best:
                idom[node] = best
                changed = True
    return idom


def _meet(a: int, b: int, idom: list[int], number: dict[int, int]) -> int:
    while a != b:
        while number[a] > number[b]:
            a = idom[a]
        while number[b] > number[a]:
            b = idom[b]
    return a


def immediate_post_dominators(successors: Graph, traps: frozenset[int] = frozenset(),
                              bare_exits: frozenset[int] = frozenset()) -> list[int]:
    """Return each node's immediate post-dominator, -1 if its paths meet only at the exit.

    A node without successors leaves the program. `traps` are those that end it for all threads: a path into a trap is
    ignored if there is another path. `bare_exits` do nothing but end the thread: a branch into one counts only its
    other direction, so that lanes that return early leave and no one waits for them, least of all at a barrier.
    Nodes that can only run forever are given an exit at their last block.
    """
    onward = [[t for t in targets if t not in bare_exits] or targets for targets in successors]
    ends = [node for node, targets in enumerate(successors) if not targets]
    leaving = [node for node, targets in enumerate(successors) if len(onward[node]) < len(targets)]
    result = [-1] * len(successors)
    left = set(range(len(successors)))
    for exits in ([e for e in ends if e not in traps], leaving, [e for e in ends if e in traps]):
        left -= _post_dominate(onward, exits, left, result)
    while left:
        left -= _post_dominate(onward, [max(left)], left, result)
    return result


def _post_dominate(successors: Graph, exits: list[int], within: set[int], result: list[int]) -> set[int]:
    """Fill in `result` for the nodes of `within` that reach one of `exits`; return those nodes."""
    exits = [node for node in exits if node in within]
    if not exits:
        return set()
    root = len(successors)
    backward: list[list[int]] = [[] for _ in range(root + 1)]
    backward[root] = exits
    for node in within:
        for target in successors[node]:
            if target in within:
                backward[target].append(node)
    idom = immediate_dominators(backward, root)
    reached = {node for node in within if idom[node] >= 0}
    for node in reached:
        result[node] = idom[node] if idom[node] != root else -1
    return reached


def dominates(idom: list[int], depth: list[int], a: int, b: int) -> bool:
    """Return whether node a dominates node b, using the dominator tree and its depths."""
    while depth[b] > depth[a]:
        b = idom[b]
    return a == b


def tree_depths(idom: list[int]) -> list[int]:
    """Return each node's depth in the dominator tree, whose root is node 0, -1 if unreachable."""
    depth = [0] + [-1] * (len(idom) - 1)
    for node in range(len(idom)):
        path = []
        while idom[node] >= 0 and depth[node] < 0:
            path.append(node)
            node = idom[node]
        for child in reversed(path):
            depth[child] = depth[idom[child]] + 1
    return depth


def loop_depths(successors: Graph, idom: list[int], depth: list[int]) -> list[int]:
    """Return the number of natural loops that contain each node (one per loop header)."""
    before = predecessors(successors)
    loops: dict[int, set[int]] = {}
    for node, targets in enumerate(successors):
        if depth[node] < 0:
            continue
        for head in targets:
            if dominates(idom, depth, head, node):
                body = loops.setdefault(head, {head})
                work = [node]
                while work:
                    member = work.pop()
                    if member not in body and depth[member] >= 0:
                        body.add(member)
                        work += before[member]
    count = [0] * len(successors)
    for body in loops.values():
        for member in body:
            count[member] += 1
    return count
